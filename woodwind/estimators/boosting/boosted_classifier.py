"""What the classifiers of gradient boosting share: labels that are read, weights of classes, probabilities that are predicted."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from woodwind.estimators.base.target import Target, read_labels
from woodwind.estimators.base.weights import Weighing, weighed_classes
from woodwind.estimators.boosting.boosted_model import Floats
from woodwind.estimators.boosting.gradient_boosting_base import BaseGradientBoosting
from woodwind.estimators.boosting.plan import Values
from woodwind.losses.links import log_of


class BaseBoostedClassifier(BaseGradientBoosting, ClassifierMixin):
    """Labels in, probabilities out."""

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        return read_labels(y, self._owner, known)

    def _weighed(self, target: Target, weight: Floats | None, values: Values) -> tuple[Target, Weighing]:
        target, weighing = weighed_classes(target, weight, values["class_weight"], self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        return target, weighing

    @abstractmethod
    def _probabilities(self, raw: Floats) -> Floats:
        """Probabilities of the classes, (n_rows, n_classes), from raw scores."""

    def _decision(self, raw: Floats) -> Floats:
        """The decision function, from raw scores."""
        return raw

    def predict_proba(self, X: Any, init: Any = None, n_rounds: int | None = None) -> Floats:
        """Probabilities of the classes, (n_rows, n_classes), in the order of `classes_`; by the first `n_rounds`, or by all."""
        return self._probabilities(self._raw(X, init, n_rounds))

    def predict_log_proba(self, X: Any, init: Any = None, n_rounds: int | None = None) -> Floats:
        """Logarithms of the probabilities; that of a probability of zero is finite."""
        return log_of(self.predict_proba(X, init, n_rounds))

    def decision_function(self, X: Any, init: Any = None, n_rounds: int | None = None) -> Floats:
        """Raw scores: (n_rows,) for two classes, where positive means the second, and (n_rows, n_classes) for more."""
        return self._decision(self._raw(X, init, n_rounds))

    def staged_predict_proba(self, X: Any, init: Any = None) -> Iterator[Floats]:
        """The probabilities after every round."""
        for raw in self._staged(X, init):
            yield self._probabilities(raw)

    def staged_decision_function(self, X: Any, init: Any = None) -> Iterator[Floats]:
        """The raw scores after every round."""
        for raw in self._staged(X, init):
            yield self._decision(raw)
