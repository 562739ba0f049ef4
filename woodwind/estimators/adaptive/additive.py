"""Additive models for classification and regression: forward stagewise fitting with any regressor and any loss."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from woodwind.base.validate import require_finite
from woodwind.estimators.adaptive.adaboost_base import LEARNERS
from woodwind.estimators.adaptive.additive_base import ROUNDS, BaseAdditiveModel, Floats
from woodwind.estimators.base.model import COLUMNS
from woodwind.estimators.base.target import Target, read_labels, read_regression_target
from woodwind.estimators.base.weights import Weighing, weighed_classes
from woodwind.estimators.boosting.loss_choice import (
    ClassLoss,
    RegressionLoss,
    classification_loss_for,
    likeliest,
    probabilities,
    regression_loss_for,
)
from woodwind.losses.base import Loss
from woodwind.losses.links import log_of
from woodwind.losses.named import takes_several_classes
from woodwind.params.adaptive import AdditiveParams, AdditiveStopParams, OwnTreeParams
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs


@knobs
class AdditiveRegressor(AdditiveParams, OwnTreeParams, AdditiveStopParams, WorkParams, BaseAdditiveModel, RegressorMixin, BaseEstimator):
    """An additive model for regression, fitted stage by stage: any regressor as learner, any loss.

    {learners}

    {parameters}

    Attributes
    ----------
    {rounds}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from woodwind import AdditiveRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdditiveRegressor(estimator=Ridge(), loss="huber", n_estimators=50).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    _docstring_parts: ClassVar[dict[str, str]] = {"learners": LEARNERS, "columns": COLUMNS, "rounds": ROUNDS}

    loss: RegressionLoss = "squared_error"
    max_depth = 3

    def _read_target(self, y: Any, known: NDArray[Any] | None) -> Target:
        return read_regression_target(y, self._owner)

    def _make_loss(self, target: Target) -> Loss:
        return regression_loss_for(self.loss, target, self._owner)

    def predict(self, X: Any) -> Floats:
        """The predicted number of each row.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        raw = self._raw(X)
        return require_finite(self.loss_.predict(raw, self._threads), self._owner)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """The predictions after every round."""
        for raw in self._staged(X):
            yield require_finite(self.loss_.predict(raw, self._threads), self._owner)


@knobs
class AdditiveClassifier(AdditiveParams, OwnTreeParams, AdditiveStopParams, WorkParams, BaseAdditiveModel, ClassifierMixin, BaseEstimator):
    """An additive model for classification, fitted stage by stage: any regressor as learner, any loss.

    {learners}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    {rounds}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LinearRegression
    >>> from woodwind import AdditiveClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdditiveClassifier(estimator=LinearRegression(), residuals="newton", learning_rate=1.0, n_estimators=20).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    _docstring_parts: ClassVar[dict[str, str]] = {"learners": LEARNERS, "columns": COLUMNS, "rounds": ROUNDS}

    loss: ClassLoss = "log_loss"
    max_depth = 3

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = takes_several_classes(self.loss)
        return tags

    def _read_target(self, y: Any, known: NDArray[Any] | None) -> Target:
        return read_labels(y, self._owner, known)

    def _weighed(self, target: Target, weight: Floats | None) -> tuple[Target, Weighing]:
        target, weighing = weighed_classes(target, weight, None, self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        return target, weighing

    def _make_loss(self, target: Target) -> Loss:
        return classification_loss_for(self.loss, target.n_classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return self._labels(self._raw(X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n_rows, n_classes), in the order of `classes_`."""
        raw = self._raw(X)
        return probabilities(self.loss_, raw, self._threads)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities; that of a probability of zero is finite."""
        return log_of(self.predict_proba(X))

    def decision_function(self, X: Any) -> Floats:
        """Raw scores: (n_rows,) for two classes, where positive means the second, and (n_rows, n_classes) for more."""
        return self._raw(X)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The predictions after every round."""
        for raw in self._staged(X):
            yield self._labels(raw)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities after every round."""
        for raw in self._staged(X):
            yield probabilities(self.loss_, raw, self._threads)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The raw scores after every round."""
        yield from self._staged(X)

    def _labels(self, raw: Floats) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[likeliest(self.loss_, raw, self._threads)]
        return labels


# ----------------------------------------------------------------------------------------------------
# Additive models that have names of their own.


@knobs
class LogitBoostClassifier(AdditiveClassifier):
    """LogitBoost: an additive logistic model by Newton steps (Friedman, Hastie & Tibshirani 2000).

    In every round a regressor is fitted by least squares to (y - p) / (p (1 - p)), rows weighed by p (1 - p), and added to the log-odds. It
    is an `AdditiveClassifier` with other defaults: loss='log_loss', residuals='newton', step='fixed', learning_rate=1.0, init='zero'.

    {learners}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    {rounds}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import LogitBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> LogitBoostClassifier(n_estimators=10).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    loss: ClassLoss = "log_loss"
    learning_rate = 1.0
    residuals = "newton"
    step = "fixed"
    init = "zero"
    max_depth = 1


@knobs
class GentleAdaBoostClassifier(AdditiveClassifier):
    """Gentle AdaBoost for two classes: Newton steps of the exponential loss (Friedman, Hastie & Tibshirani 2000).

    In every round a regressor is fitted by least squares to -1 and 1, rows weighed by exp(-y f), and added to the score. Its steps are
    bounded, where those of AdaBoost are not. It is an `AdditiveClassifier` with other defaults: loss='exponential', residuals='newton',
    step='fixed', learning_rate=1.0, init='zero'.

    {learners}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    {rounds}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from woodwind import GentleAdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> GentleAdaBoostClassifier(n_estimators=10).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    loss: ClassLoss = "exponential"
    learning_rate = 1.0
    residuals = "newton"
    step = "fixed"
    init = "zero"
    max_depth = 1
