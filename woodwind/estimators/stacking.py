"""Stacking of any estimators, for classes and for numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if

from woodwind.base.sound import finite
from woodwind.estimators.blenders import LogisticBlender, NonNegativeBlender
from woodwind.estimators.model_checks import ask_model
from woodwind.estimators.stacking_parts import final_classes, final_has
from woodwind.estimators.stacking_skin import Stacking
from woodwind.estimators.target import Target, read_labels, read_numbers, tell_of_constant
from woodwind.estimators.voting import VotingClassifier, VotingRegressor
from woodwind.estimators.weights import weighed_classes
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.pools import PoolParams
from woodwind.params.stacking import StackClassifierParams, StackParams

Floats = NDArray[np.float64]


@knobs
class StackingClassifier(
    PoolParams, StackParams, StackClassifierParams, WorkParams, Stacking, ClassifierMixin, TransformerMixin, BaseEstimator
):
    """Stacking for classification.

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
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from woodwind import StackingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> stack = StackingClassifier(estimators=[("line", LogisticRegression(max_iter=1000)), ("bayes", GaussianNB())]).fit(X, y)
    >>> bool(stack.score(X, y) > 0.95)
    True
    >>> stack.transform(X).shape
    (150, 6)
    """

    _classifies = True

    def _default_blender(self) -> Any:
        return LogisticBlender()

    def _voting(self, blenders: list[tuple[str, Any]]) -> Any:
        return VotingClassifier(estimators=blenders, weights="optimal" if self.combine == "weights" else None)

    def _read_target(self, y: Any) -> Target:
        return read_labels(y, self._owner)

    def _present_classes(self, target: Target, weight: Floats | None) -> Target:
        target, _ = weighed_classes(target, weight, None, self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        return target

    def _final_shares(self, final: Any, X: Any) -> Floats:
        classes = np.asarray(self._labels)
        places = final_classes(final, classes)
        if not hasattr(final, "predict_proba"):
            said = np.asarray(final.predict(X))
            return np.asarray(said[:, None] == classes[None, :], np.float64)
        out = np.zeros((X.shape[0], len(classes)))
        out[:, places] = ask_model(final, lambda: final.predict_proba(X))
        return finite(out, self._owner)

    @available_if(final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The blender's probabilities (n_rows, n_classes), in the order of `classes_`."""
        columns = self.transform(X)
        return self._final_shares(self.final_estimator_, columns)

    @available_if(final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of these; minus infinity for a class that has none."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @available_if(final_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """What the decision function of the blender says."""
        columns = self.transform(X)
        return finite(ask_model(self.final_estimator_, lambda: np.asarray(self.final_estimator_.decision_function(columns))), self._owner)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The mean probabilities of the members of each layer, from the first up, and last the blender's."""
        yield from self._staged_shares(X)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The labels that follow from the mean of the members of each layer, and last the blender's."""
        *layers, _ = self._staged_shares(X)
        for shares in layers:
            yield self.classes_[shares.argmax(axis=1)]
        yield self.predict(X)


@knobs
class StackingRegressor(PoolParams, StackParams, WorkParams, Stacking, RegressorMixin, TransformerMixin, BaseEstimator):
    """Stacking for regression.

    {about}

    {parameters}

    Attributes
    ----------
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from woodwind import StackingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> stack = StackingRegressor(estimators={"line": RidgeCV(), "near": KNeighborsRegressor(20)}).fit(X, y)
    >>> bool((stack.weights_ >= 0.0).all())
    True
    """

    _classifies = False

    def _default_blender(self) -> Any:
        return NonNegativeBlender()

    def _voting(self, blenders: list[tuple[str, Any]]) -> Any:
        return VotingRegressor(estimators=blenders, weights="optimal" if self.combine == "weights" else None)

    def _read_target(self, y: Any) -> Target:
        target = read_numbers(y, self._owner)
        tell_of_constant(target.y, self._owner)
        return target

    def _final_shares(self, final: Any, X: Any) -> Floats:
        return finite(ask_model(final, lambda: np.asarray(final.predict(X), np.float64).reshape(-1, 1)), self._owner)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """The mean of what the members of each layer predict, from the first up, and last what the blender predicts."""
        for said in self._staged_shares(X):
            yield said[:, 0]
