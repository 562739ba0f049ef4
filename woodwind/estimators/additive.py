"""Additive models for classes and for numbers: forward stagewise fitting with any regressor and any loss."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from woodwind.base.nearest import spelling
from woodwind.base.sound import finite
from woodwind.estimators.adaptive_skin import LEARNERS
from woodwind.estimators.additive_skin import ROUNDS, AdditiveSkin, Floats
from woodwind.estimators.loss_choice import class_loss, likeliest, number_loss, probabilities
from woodwind.estimators.skin import COLUMNS
from woodwind.estimators.target import Target, read_labels, read_numbers
from woodwind.estimators.weights import Weighing, weighed_classes
from woodwind.losses.base import Loss
from woodwind.losses.classification import Exponential
from woodwind.losses.links import log_of
from woodwind.params.adaptive import AdditiveParams, AdditiveStopParams, OwnTreeParams
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.losses import ClassLoss, NumberLoss


@knobs
class AdditiveRegressor(AdditiveParams, OwnTreeParams, AdditiveStopParams, WorkParams, AdditiveSkin, RegressorMixin, BaseEstimator):
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

    _told: ClassVar[dict[str, str]] = {"learners": LEARNERS, "columns": COLUMNS, "rounds": ROUNDS}

    loss: NumberLoss = "squared_error"
    max_depth = 3

    def _read_target(self, y: Any, known: NDArray[Any] | None) -> Target:
        return read_numbers(y, self._owner)

    def _make_loss(self, target: Target) -> Loss:
        return number_loss(self.loss, target, self._owner)

    def predict(self, X: Any) -> Floats:
        """The predicted number of each row.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        raw = self._raw(X)
        return finite(self.loss_.predict(raw, self._threads), self._owner)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """The predictions after every round."""
        for raw in self._staged(X):
            yield finite(self.loss_.predict(raw, self._threads), self._owner)


@knobs
class AdditiveClassifier(
    AdditiveParams, OwnTreeParams, AdditiveStopParams, WorkParams, AdditiveSkin, ClassifierMixin, BaseEstimator
):
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

    _told: ClassVar[dict[str, str]] = {"learners": LEARNERS, "columns": COLUMNS, "rounds": ROUNDS}

    loss: ClassLoss = "log_loss"
    max_depth = 3

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = spelling(self.loss) != Exponential.name
        return tags

    def _read_target(self, y: Any, known: NDArray[Any] | None) -> Target:
        return read_labels(y, self._owner, known)

    def _weighed(self, target: Target, weight: Floats | None) -> tuple[Target, Weighing]:
        target, weighing = weighed_classes(target, weight, None, self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        return target, weighing

    def _make_loss(self, target: Target) -> Loss:
        return class_loss(self.loss, target.n_classes)

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
