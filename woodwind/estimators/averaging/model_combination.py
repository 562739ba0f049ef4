"""Bayesian combination of models of any kind, for classification and regression."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from woodwind.base.errors import WoodwindWarning
from woodwind.base.notice import notice
from woodwind.base.random_streams import key
from woodwind.base.validate import require_finite
from woodwind.ensemble.bayesian_averaging import (
    Combinations,
    Likelihood,
    categorical_likelihood,
    combined,
    gaussian_likelihood,
    probabilities_of_truth,
)
from woodwind.estimators.averaging.averaging_base import BaseWeightedPool, Values, WeightedClassifierPool, WeightedRegressorPool
from woodwind.estimators.base.target import Target
from woodwind.params.averaging import CombinationParams
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.pools import PoolParams, PrefitParams

Floats = NDArray[np.float64]

# With fewer combinations that count, their mean is a matter of luck.
FEW_DRAWS = 30

# For the docstrings of the estimators.
ABOUT = """
Averaging asks which member is the truth, and with many rows finds one. Here every weighted combination of members is a model that may be
the truth: combinations are drawn from a Dirichlet distribution, and count by how likely the rows are under them, which members have not
learned (folds hold them out; with `prefit` they are the rows that are given). So weights stay spread where members are right in different
positions.
"""
MODEL = """
estimators_ : list
    The members, each trained; those that were dropped are not there.
named_estimators_ : Bunch
    The same by name.
weights_ : array of shape (n_members,)
    The mean weight of each member over all combinations.
weights_covariance_ : array of shape (n_members, n_members)
    How weights vary over combinations, given the rows.
combinations_ : array of shape (n_combinations, n_members)
    The combinations.
probabilities_ : array of shape (n_combinations,)
    What each of them counts.
log_likelihood_ : array of shape (n_combinations,)
    Of the rows, under each.
effective_combinations_ : float
    As many combinations of equal probability would tell as much.
"""


class BaseModelCombination(BaseWeightedPool):
    """What both kinds of combination share."""

    _state: ClassVar[dict[str, Any]] = {
        "combinations_": Floats,
        "probabilities_": Floats,
        "effective_combinations_": float,
        "weights_covariance_": Floats,
    }

    def _combine(self, likelihood: Likelihood, values: Values) -> Combinations:
        """Keep the combinations and their mean."""
        draws, rounds = values["n_combinations"], values["n_rounds"]
        found = combined(likelihood, len(self._pool), draws, rounds, values["concentration"], key(self._seed, "combinations"))
        self.combinations_, self.log_likelihood_, self.probabilities_ = found
        self.weights_ = found.mean
        apart = self.combinations_ - self.weights_
        self.weights_covariance_: Floats = (apart * self.probabilities_[:, None]).T @ apart
        self.effective_combinations_ = found.effective_draws
        if len(self._pool) > 1 and found.effective_draws < FEW_DRAWS:
            notice(
                f"{self._owner}: only about {found.effective_draws:.0f} of {len(self.probabilities_):,} combinations count, the others are "
                "far less likely. Raise n_combinations, and n_rounds with it.",
                WoodwindWarning,
            )
        return found


@knobs
class BayesianModelCombinationClassifier(
    PoolParams, CombinationParams, PrefitParams, WorkParams, WeightedClassifierPool, BaseModelCombination, ClassifierMixin, BaseEstimator
):
    """Bayesian combination of classifiers of any kind.

    {combination}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from woodwind import BayesianModelCombinationClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    >>> model = BayesianModelCombinationClassifier(estimators=members, random_state=0).fit(X, y)
    >>> model.weights_.round(1).tolist()
    [0.5, 0.5]
    """

    _docstring_parts = WeightedClassifierPool._docstring_parts | {"combination": ABOUT, "model": MODEL}

    def _evaluate(self, predicted: Floats, target: Target, weight: Floats | None, values: Values) -> None:
        self._combine(categorical_likelihood(probabilities_of_truth(target.y, predicted), weight), values)


@knobs
class BayesianModelCombinationRegressor(
    PoolParams, CombinationParams, PrefitParams, WorkParams, WeightedRegressorPool, BaseModelCombination, RegressorMixin, BaseEstimator
):
    """Bayesian combination of regressors of any kind.

    {combination}

    Errors of a combination are taken for normal, with the variance that they have on the rows.

    {parameters}

    Attributes
    ----------
    {model}
    error_variance_ : float
        The mean error variance of the combinations.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from woodwind import BayesianModelCombinationRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("linear", LinearRegression()), ("neighbours", KNeighborsRegressor(20))]
    >>> model = BayesianModelCombinationRegressor(estimators=members, random_state=0).fit(X, y)
    >>> model.weights_.round(1).tolist()
    [0.7, 0.3]
    """

    _optional_state: ClassVar[dict[str, Any]] = {"error_variance_": float}

    _docstring_parts = WeightedRegressorPool._docstring_parts | {"combination": ABOUT, "model": MODEL}

    def _evaluate(self, predicted: Floats, target: Target, weight: Floats | None, values: Values) -> None:
        likelihood, variance = gaussian_likelihood(target.y, predicted[:, :, 0], weight)
        found = self._combine(likelihood, values)
        self.error_variance_ = float(found.probability @ variance(found.weights))

    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """The mean over combinations, and if asked for the standard deviation of a new target.

        Parameters
        ----------
        X : table
            Rows of the columns that the members were trained with; columns are matched by name.
        return_std : bool, default=False
            Give a second array: the standard deviation from the errors of combinations and from how far apart they are.
        """
        numbers = self._predicted(X)[:, :, 0]
        mean = require_finite(numbers @ self.weights_, self._owner)
        if not return_std:
            return mean
        between = np.einsum("nm,mk,nk->n", numbers, self.weights_covariance_, numbers)
        return mean, require_finite(np.sqrt(np.maximum(between, 0.0) + self.error_variance_), self._owner)
