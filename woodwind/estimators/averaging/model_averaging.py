"""Bayesian averaging of models of any kind, for classification and regression."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from woodwind.base.errors import ParameterError, WoodwindWarning
from woodwind.base.notice import notice
from woodwind.base.validate import require_finite
from woodwind.ensemble.bayesian_averaging import (
    blended,
    categorical_log_likelihood,
    gaussian_log_likelihood,
    information_criterion,
    least_variance,
    posterior,
)
from woodwind.estimators.averaging.averaging_base import BaseWeightedPool, Values, WeightedClassifierPool, WeightedRegressorPool
from woodwind.estimators.averaging.free_parameters import free_parameters
from woodwind.estimators.base.target import Target
from woodwind.params.averaging import AveragingParams
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.pools import PoolParams, PrefitParams

Floats = NDArray[np.float64]

# For the docstrings of the estimators.
ABOUT = """
Each member is taken for a model that may be the truth, and counts by how probable that is, given the rows: prior x likelihood, over the sum
of these. Likelihoods of many rows differ by large factors, so that with many rows one member has nearly all of the weight: the one that is
closest to the truth. Where the truth is rather a mixture of members, see {combination}.
"""
MODEL = """
estimators_ : list
    The members, each trained; those that were dropped are not there.
named_estimators_ : Bunch
    The same by name.
weights_ : array of shape (n_members,)
    How probable each member is, given the rows.
log_likelihood_ : array of shape (n_members,)
    Of the rows, under each member: out of fold, or with a criterion of the rows it has learned.
criterion_ : array of shape (n_members,) or None
    The criterion of each member; None without one.
member_parameters_ : array of shape (n_members,) or None
    The free parameters that it was charged for, the error variance among them.
"""


class BaseModelAveraging(BaseWeightedPool):
    """What both kinds of averaging share."""

    _state: ClassVar[dict[str, Any]] = {"criterion_": Floats | None, "member_parameters_": Floats | None}

    def _check_more(self, values: Values, names: list[str]) -> None:
        self._by_name(values["prior"], "prior", names, 1.0)
        if not callable(values["n_parameters"]):
            self._by_name(values["n_parameters"], "n_parameters", names, np.nan)

    def _asks_out_of_fold(self, values: Values) -> bool:
        return bool(values["evidence"] == "out_of_fold")

    def _by_name(self, given: Any, parameter: str, names: list[str], other: float) -> Floats:
        """One number for each member that is not dropped; members that a dict does not name have the other one."""
        allowed = "one number for each member, or a dict from names of members to numbers"
        if given is None:
            return np.full(len(names), other)
        if isinstance(given, Mapping):
            unknown = [name for name in given if name not in names]
            if unknown:
                raise ParameterError(f"{self._owner}: {parameter} names the member {unknown[0]!r}, but members are {', '.join(names)}.")
            given = [given.get(name, other) for name in names]
        try:
            numbers = np.asarray(given, np.float64)
        except (TypeError, ValueError):
            numbers = np.zeros(0)
        if isinstance(given, str) or numbers.shape != (len(names),):
            raise ParameterError(f"{self._owner}: {parameter} must be {allowed}, of which there are {len(names)}, but it is {given!r}.")
        if (numbers < 0.0).any() or np.isinf(numbers).any() or (parameter == "prior" and not numbers.any()):
            raise ParameterError(f"{self._owner}: {parameter} must hold numbers of at least 0, a prior not only zeros, not {given!r}.")
        return numbers

    def _weigh(self, likelihood: Floats, n_rows: float, extra: int, values: Values) -> None:
        """Keep the weights of the members, of which each has so many parameters more than free_parameters knows."""
        names = list(self._pool.names)
        self.log_likelihood_ = likelihood
        self.criterion_: Floats | None = None
        self.member_parameters_: Floats | None = None
        evidence = likelihood
        if not (values["prefit"] or self._asks_out_of_fold(values)):
            self.member_parameters_ = self._parameters(values["n_parameters"], names) + extra
            self.criterion_ = information_criterion(likelihood, self.member_parameters_, n_rows, values["evidence"])
            evidence = -0.5 * self.criterion_
            if not np.isfinite(evidence).any():
                raise ParameterError(
                    f"{self._owner}: evidence={values['evidence']!r} needs more rows than parameters, and members have "
                    f"{', '.join(f'{count:g}' for count in self.member_parameters_)} for {n_rows:g} rows. Set evidence='out_of_fold'."
                )
        self.weights_ = posterior(evidence, self._by_name(values["prior"], "prior", names, 1.0))

    def _parameters(self, given: Any, names: list[str]) -> Floats:
        """The free parameters of members, as the user, the member or a rule says."""
        predicted = np.full(len(names), np.nan) if callable(given) else self._by_name(given, "n_parameters", names, np.nan)
        for position, member in enumerate(self._pool.members):
            if np.isnan(predicted[position]):
                found = given(member) if callable(given) else free_parameters(member)
                if found is None or not np.isfinite(found) or found < 0:
                    raise ParameterError(
                        f"{self._owner}: nobody knows how many free parameters member {names[position]!r} ({type(member).__name__}) has, "
                        f"which evidence={self.evidence!r} asks for. Say so by n_parameters={{{names[position]!r}: ...}}, or set "
                        "evidence='out_of_fold'."
                    )
                predicted[position] = found
        return predicted

    evidence: Any


@knobs
class BayesianModelAveragingClassifier(
    PoolParams, AveragingParams, PrefitParams, WorkParams, WeightedClassifierPool, BaseModelAveraging, ClassifierMixin, BaseEstimator
):
    """Bayesian averaging of classifiers of any kind.

    {averaging}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from woodwind import BayesianModelAveragingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("linear", LogisticRegression(max_iter=1000)), ("bayes", GaussianNB())]
    >>> model = BayesianModelAveragingClassifier(estimators=members, random_state=0).fit(X, y)
    >>> model.weights_.round(3).tolist()
    [0.441, 0.559]
    """

    _docstring_parts = WeightedClassifierPool._docstring_parts | {
        "averaging": ABOUT.replace("{combination}", "BayesianModelCombinationClassifier"),
        "model": MODEL,
    }

    def _evaluate(self, predicted: Floats, target: Target, weight: Floats | None, values: Values) -> None:
        n_rows = target.n_rows if weight is None else float(weight.sum())
        self._weigh(categorical_log_likelihood(target.y, predicted, weight), n_rows, 0, values)


@knobs
class BayesianModelAveragingRegressor(
    PoolParams, AveragingParams, PrefitParams, WorkParams, WeightedRegressorPool, BaseModelAveraging, RegressorMixin, BaseEstimator
):
    """Bayesian averaging of regressors of any kind.

    {averaging}

    Errors are taken for normal, with a variance for each member: that of its errors on the rows it is scored by. A new number varies by
    these errors and by how far apart members are.

    {parameters}

    Attributes
    ----------
    {model}
    error_variances_ : array of shape (n_members,)
        The variance of the errors of each member.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from woodwind import BayesianModelAveragingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = {"linear": LinearRegression(), "tree": DecisionTreeRegressor(max_depth=3, random_state=0)}
    >>> model = BayesianModelAveragingRegressor(estimators=members, random_state=0).fit(X, y)
    >>> mean, std = model.predict(X[:2], return_std=True)
    >>> std.round().tolist()
    [55.0, 55.0]
    """

    _optional_state: ClassVar[dict[str, Any]] = {"error_variances_": Floats}

    _docstring_parts = WeightedRegressorPool._docstring_parts | {
        "averaging": ABOUT.replace("{combination}", "BayesianModelCombinationRegressor"),
        "model": MODEL,
    }

    def _evaluate(self, predicted: Floats, target: Target, weight: Floats | None, values: Values) -> None:
        n_rows = target.n_rows if weight is None else float(weight.sum())
        likelihood, self.error_variances_ = gaussian_log_likelihood(target.y, predicted[:, :, 0], weight)
        exact = np.flatnonzero(self.error_variances_ <= 2.0 * least_variance(target.y, weight))
        self._weigh(likelihood, n_rows, 1, values)
        if self.criterion_ is not None and len(exact) and np.ptp(target.y) > 0.0:
            notice(
                f"{self._owner}: member {self._pool.names[exact[0]]!r} fits the rows that it has learned without error, which "
                f"evidence={values['evidence']!r} takes for the truth. Set evidence='out_of_fold'.",
                WoodwindWarning,
            )

    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """The mean over members, and if asked for the standard deviation of a new target.

        Parameters
        ----------
        X : table
            Rows of the columns that the members were trained with; columns are matched by name.
        return_std : bool, default=False
            Give a second array: the standard deviation from the errors of members and from how far apart they are.
        """
        found = blended(self._predicted(X)[:, :, 0], self.weights_, self.error_variances_)
        mean = require_finite(found.mean, self._owner)
        return (mean, require_finite(np.sqrt(found.variance), self._owner)) if return_std else mean
