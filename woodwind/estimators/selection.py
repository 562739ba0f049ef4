"""Pruning: of a pool of members those are kept, with weights, that are best together. See docs/algorithms/ensemble-selection.md."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier, is_regressor

from woodwind.base.errors import ParameterError
from woodwind.estimators.log_shares import LogShares
from woodwind.estimators.pool import Saying
from woodwind.estimators.roster import pairs_of
from woodwind.estimators.selection_skin import Selection
from woodwind.estimators.target import Target, read_labels, read_numbers, tell_of_constant
from woodwind.estimators.weights import read_weight, weighed_classes
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.pools import PoolParams
from woodwind.params.pruning import ClassOrderParams, GreedyParams, NumberOrderParams, OtherSearchParams, SelectionParams
from woodwind.select.objectives import ballots_of

Floats = NDArray[np.float64]


@knobs
class EnsembleSelectionClassifier(
    PoolParams,
    SelectionParams,
    ClassOrderParams,
    GreedyParams,
    OtherSearchParams,
    WorkParams,
    Selection,
    LogShares,
    ClassifierMixin,
    BaseEstimator,
):
    """Selection of the members of an ensemble (pruning), for classification.

    {about}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    {model}
    {columns}

    Examples
    --------
    Of twenty trees, those that are best together on rows that they have not seen:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.model_selection import train_test_split
    >>> from woodwind import EnsembleSelectionClassifier
    >>> X, new, y, truth = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[:300], y[:300])
    >>> model = EnsembleSelectionClassifier(estimators=forest).fit(X[300:], y[300:])
    >>> len(model.selected_) < 20
    True
    >>> bool(model.best_score_ >= model.scores_.max())
    True
    >>> bool(model.score(new, truth) > 0.9)
    True
    """

    _classifies = True

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_labels(y, self._owner)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        target, _ = weighed_classes(target, weight, None, self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        return target, weight

    def _saying(self) -> Saying:
        return "votes" if self.voting == "hard" else "probabilities"

    def _matrix(self, said: Floats, n_classes: int) -> Floats:
        return ballots_of(said[:, :, 0].astype(np.int64), n_classes) if self.voting == "hard" else said

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest mean probability, or with the largest weight of votes; of equals the first.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        best = self._mean(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """The weighted mean of probabilities, or shares of votes, (n_rows, n_classes), in the order of `classes_`."""
        return self._mean(X)


@knobs
class EnsembleSelectionRegressor(
    PoolParams, SelectionParams, NumberOrderParams, GreedyParams, OtherSearchParams, WorkParams, Selection, RegressorMixin, BaseEstimator
):
    """Selection of the members of an ensemble (pruning), for regression.

    {about}

    {parameters}

    Attributes
    ----------
    {model}
    {columns}

    Examples
    --------
    Three models, weighted by how much each helps:

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from woodwind import EnsembleSelectionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> pool = [Ridge(0.1), KNeighborsRegressor(10), DecisionTreeRegressor(random_state=0)]
    >>> model = EnsembleSelectionRegressor(estimators=pool, random_state=0).fit(X, y)
    >>> [model.member_names_[member] for member in model.selected_[:2]]
    ['ridge', 'kneighborsregressor']
    >>> bool(model.best_score_ > model.scores_.max())
    True
    """

    _classifies = False

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_numbers(y, self._owner)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        tell_of_constant(target.y if weight is None else target.y[weight > 0.0], self._owner)
        return target, weight

    def _saying(self) -> Saying:
        return "numbers"

    def _matrix(self, said: Floats, n_classes: int) -> Floats:
        return said[:, :, 0]

    def predict(self, X: Any) -> Floats:
        """The weighted mean of what the members that are kept predict.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return self._mean(X)


def EnsembleSelection(estimators: Any, **parameters: Any) -> EnsembleSelectionClassifier | EnsembleSelectionRegressor:
    """The selection that fits the members: `EnsembleSelectionClassifier` or `EnsembleSelectionRegressor`.

    Parameters
    ----------
    estimators : list, dict or fitted ensemble
        The members, all classifiers or all regressors.
    **parameters : anything
        The other parameters of these estimators.

    Returns
    -------
    estimator
        Not fitted yet.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> from woodwind import EnsembleSelection
    >>> EnsembleSelection([LinearRegression(), Ridge()], method="ordering")
    EnsembleSelectionRegressor(estimators=[LinearRegression(), Ridge()],
                               method='ordering')
    """
    pairs = pairs_of(estimators) or [("", estimators)]
    given = [one for _, one in pairs if hasattr(one, "__sklearn_tags__") and not isinstance(one, type)]
    if any(map(is_regressor, given)) and any(map(is_classifier, given)):
        raise ParameterError("EnsembleSelection: estimators has classifiers and regressors, whose answers have no mean. Give one kind.")
    if any(map(is_regressor, given)):
        return EnsembleSelectionRegressor(estimators=estimators, **parameters)
    if any(map(is_classifier, given)):
        return EnsembleSelectionClassifier(estimators=estimators, **parameters)
    raise ParameterError(
        "EnsembleSelection: estimators has neither classifiers nor regressors. Give some, or a fitted ensemble; or say which selection is "
        "meant: EnsembleSelectionClassifier or EnsembleSelectionRegressor."
    )
