"""Dynamic selection of members for each row, for classification and regression."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from woodwind.base.errors import ParameterError
from woodwind.estimators.base.model import LogProbabilityMixin
from woodwind.estimators.base.target import Target, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.weights import Weighing, weighed_classes
from woodwind.estimators.dynamic.dynamic_base import BaseDynamicSelection, Values
from woodwind.estimators.dynamic.dynamic_model import DynamicModel, QueryBlock, Selector, fair, unanimous
from woodwind.params.dynamic import DynamicClassifierParams, DynamicParams, DynamicRegressorParams, RegionParams, SelectionRowsParams
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.pools import PoolParams
from woodwind.selection.explanation import EASY, SELECTED, UNANIMOUS
from woodwind.selection.facts import Queries
from woodwind.selection.methods import METHODS, REGRESSION_METHODS, Method

Floats = NDArray[np.float64]


@knobs
class DynamicSelectionClassifier(
    PoolParams,
    DynamicClassifierParams,
    DynamicParams,
    RegionParams,
    SelectionRowsParams,
    WorkParams,
    BaseDynamicSelection,
    LogProbabilityMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Dynamic selection of classifiers: whoever is good near a row is asked about it.

    {about}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_classes_ : int
        How many there are.
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from woodwind import DynamicSelectionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    >>> model = DynamicSelectionClassifier(method="knora_e", estimators=members, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.94)
    True
    >>> print(model.explain_selection(X[:1]))
    query 0: 0, because all 2 members say so
      scored by rows 0 (at 0), 17 (at 0.132), 27 (at 0.134), 40 (at 0.188), 39 (at 0.237), 4 (at 0.26), 28 (at 0.26)
    """

    _methods: ClassVar[dict[str, Method]] = METHODS
    _classifies = True

    def _read_target(self, y: Any) -> Target:
        return read_labels(y, self._owner)

    def _weighed(self, target: Target, weight: Floats | None) -> tuple[Target, Weighing]:
        return weighed_classes(target, weight, None, self._owner)

    def _check_method(self, values: Values, method: Method) -> None:
        what, k = f"method={values['method']!r}", method.k if values["k"] == "auto" else values["k"]
        if method.clusters is not None and (values["dfp"] or values["with_ih"] or values["knne"]):
            which = f"{self._owner}: regions of {what} are clusters"
            raise ParameterError(f"{which}, and dfp, with_ih and knne go by neighbours. Switch them off, or take another method.")
        if values["with_ih"] and (k is None or not method.local):
            raise ParameterError(f"{self._owner}: with_ih=True goes by the nearest rows, and {what} has none. Give k, or another method.")
        safe_k = values["safe_k"]
        if safe_k is not None and k is not None and safe_k > k:
            raise ParameterError(f"{self._owner}: safe_k={safe_k} is more than the k={k} rows of a region. Lower it, or raise k.")

    def _selector(self, values: Values, method: Method, options: Values, n_rows: int) -> Selector:
        selector = replace(super()._selector(values, method, options, n_rows), prune=values["dfp"])
        if not values["with_ih"] or selector.k is None:
            return selector
        safe_k = selector.k if values["safe_k"] is None else min(values["safe_k"], selector.k)
        return replace(selector, safe_k=safe_k, ih_rate=values["ih_rate"])

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        super()._fit(values, X, y, sample_weight, groups)
        self.classes_: NDArray[Any] = np.asarray(self._model.pool.classes)
        self.n_classes_ = len(self.classes_)

    # Prediction.

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that those who are asked vote for, or give the largest mean probability to; of equals the first.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        self._check_is_fitted()
        parts = self._model.class_probabilities(X, self.voting == "soft", self._owner, self._threads)
        labels: NDArray[Any] = self.classes_[np.concatenate([probabilities.argmax(axis=1) for _, probabilities in parts])]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Shares of the votes of those who are asked, or their mean probabilities, (n_rows, n_classes), in the order of `classes_`.

        Where a method asks one member alone, these are its probabilities, also if it votes.
        """
        self._check_is_fitted()
        model = self._model
        gives = all(hasattr(member, "predict_proba") for member in model.pool.members)
        soft = self.voting == "soft" or (model.selector.method.chooses_one and gives)
        return np.concatenate([probabilities for _, probabilities in model.class_probabilities(X, soft, self._owner, self._threads)])

    def oracle_score(self, X: Any, y: Any) -> float:
        """The share of rows about which at least one member is right: no selection among these members does better."""
        self._check_is_fitted()
        truth = read_labels(y, self._owner, self.classes_).y
        right = [
            (part.votes == truth[part.begin : part.begin + len(part.votes), None]).any(axis=1)
            for part in self._model.parts(X, False, self._owner, self._threads)
        ]
        return float(np.concatenate(right).mean())

    def _explanations(self, X: Any) -> list[dict[str, Any]]:
        soft = self.voting == "soft"
        return [self._explained(*both) for both in self._model.class_probabilities(X, soft, self._owner, self._threads)]

    def _explained(self, part: QueryBlock, probabilities: Floats) -> dict[str, Any]:
        model = self._model
        queries = model.queries(part.points, part.votes, part.probabilities)
        weighed = model.competence_weights(queries)
        weights = weighed.weights / np.abs(weighed.weights).sum(axis=1, keepdims=True)
        easy, _ = model.easy(queries.region)
        agreed = unanimous(part.votes)
        weights[agreed], weights[easy & ~agreed] = 1.0 / len(model.pool), 0.0
        return {
            "prediction": self.classes_[probabilities.argmax(axis=1)],
            "reason": np.where(agreed, UNANIMOUS, np.where(easy, EASY, SELECTED)),
            "weights": weights,
            "competence": weighed.scores,
            "predicted": self.classes_[part.votes],
        } | where_scored(model, queries)


@knobs
class DynamicSelectionRegressor(
    PoolParams,
    DynamicRegressorParams,
    DynamicParams,
    RegionParams,
    SelectionRowsParams,
    WorkParams,
    BaseDynamicSelection,
    RegressorMixin,
    BaseEstimator,
):
    """Dynamic selection of regressors: whoever has small errors near a row is asked about it.

    {about}

    {parameters}

    Attributes
    ----------
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from woodwind import DynamicSelectionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("ridge", Ridge(0.1)), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
    >>> model = DynamicSelectionRegressor(estimators=members, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    _methods: ClassVar[dict[str, Method]] = REGRESSION_METHODS
    _classifies = False

    def _read_target(self, y: Any) -> Target:
        return read_regression_target(y, self._owner)

    def _weighed(self, target: Target, weight: Floats | None) -> tuple[Target, Weighing]:
        weighing = Weighing.of(weight)
        warn_constant(weighing.at(target.y), self._owner)
        return target, weighing

    def predict(self, X: Any) -> Floats:
        """The mean of what those who are asked predict, by their weights.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        self._check_is_fitted()
        return self._model.numbers(X, self._owner, self._threads)

    def _explanations(self, X: Any) -> list[dict[str, Any]]:
        return [self._explained(part) for part in self._model.parts(X, False, self._owner, self._threads)]

    def _explained(self, part: QueryBlock) -> dict[str, Any]:
        queries = self._model.queries(part.points, part.votes, None)
        weighed = self._model.competence_weights(queries)
        weights = fair(weighed.weights)
        weights = weights / weights.sum(axis=1, keepdims=True)
        return {
            "prediction": np.einsum("qm,qm->q", part.votes, weights),
            "reason": np.full(len(weights), SELECTED),
            "weights": weights,
            "competence": weighed.scores,
            "predicted": part.votes,
        } | where_scored(self._model, queries)


def where_scored(model: DynamicModel, queries: Queries) -> dict[str, Any]:
    """The rows of regions by their numbers in the training table, and their distances; or what stands in their place."""
    method = model.selector.method
    region = queries.similar if method.similar == 0 and queries.similar is not None else queries.region
    whole = f"all {model.facts.n_rows} selection rows"
    scored_by = whole if not method.local else "the selection rows of its cluster" if method.clusters else f"{whole}, by their distance"
    bare = region.neighbours is None or method.clusters is not None or not method.local
    rows = None if bare or region.neighbours is None else model.rows[region.neighbours]
    return {"rows": rows, "distances": region.distances, "scored_by": scored_by}
