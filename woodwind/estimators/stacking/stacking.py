"""Stacking of any estimators, for classification and regression."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if

from woodwind.base.validate import require_finite
from woodwind.estimators.base.model_checks import ask_model
from woodwind.estimators.base.target import Target, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.weights import weighed_classes
from woodwind.estimators.pools.voting import VotingClassifier, VotingRegressor
from woodwind.estimators.stacking.blenders import LogisticBlender, NonNegativeBlender
from woodwind.estimators.stacking.stacking_base import BaseStacking, final_classes, final_has
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.pools import PoolParams
from woodwind.params.stacking import StackClassifierParams, StackParams

Floats = NDArray[np.float64]


@knobs
class StackingClassifier(
    PoolParams, StackParams, StackClassifierParams, WorkParams, BaseStacking, ClassifierMixin, TransformerMixin, BaseEstimator
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
        self.classes_ = np.asarray(target.classes)
        return target

    def _final_probabilities(self, final: Any, X: Any) -> Floats:
        classes = np.asarray(self._labels)
        positions = final_classes(final, classes)
        if not hasattr(final, "predict_proba"):
            predicted = np.asarray(final.predict(X))
            return np.asarray(predicted[:, None] == classes[None, :], np.float64)
        out = np.zeros((X.shape[0], len(classes)))
        out[:, positions] = ask_model(final, lambda: final.predict_proba(X))
        return require_finite(out, self._owner)

    @available_if(final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The blender's probabilities (n_rows, n_classes), in the order of `classes_`; of several targets a list of these."""
        if self._has_several:
            return self._each("predict_proba", X)
        columns = self.transform(X)
        return self._final_probabilities(self.final_estimator_, columns)

    @available_if(final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of these; minus infinity for a class that has none."""
        if self._has_several:
            return self._each("predict_log_proba", X)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @available_if(final_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """What the decision function of the blender says."""
        columns = self.transform(X)
        return require_finite(
            ask_model(self.final_estimator_, lambda: np.asarray(self.final_estimator_.decision_function(columns))), self._owner
        )

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The mean probabilities of the members of each layer, from the first up, and last the blender's."""
        yield from self._staged_probabilities(X)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The labels that follow from the mean of the members of each layer, and last the blender's."""
        *layers, _ = self._staged_probabilities(X)
        for probabilities in layers:
            yield self.classes_[probabilities.argmax(axis=1)]
        yield self.predict(X)


@knobs
class StackingRegressor(PoolParams, StackParams, WorkParams, BaseStacking, RegressorMixin, TransformerMixin, BaseEstimator):
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
        target = read_regression_target(y, self._owner)
        warn_constant(target.y, self._owner)
        return target

    def _final_probabilities(self, final: Any, X: Any) -> Floats:
        return require_finite(ask_model(final, lambda: np.asarray(final.predict(X), np.float64).reshape(-1, 1)), self._owner)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """The mean of what the members of each layer predict, from the first up, and last what the blender predicts."""
        for predicted in self._staged_probabilities(X):
            yield predicted[:, 0]
