"""What the classifiers of gradient boosting share: labels that are read, weights of classes, probabilities that are predicted."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from woodwind.estimators.base.several_targets import SeveralTargets, has_one_target
from woodwind.estimators.base.target import Target, read_labels
from woodwind.estimators.base.weights import Weighing, weighed_classes
from woodwind.estimators.boosting.boosted_model import Floats
from woodwind.estimators.boosting.gradient_boosting_base import BaseGradientBoosting
from woodwind.estimators.boosting.plan import Values
from woodwind.losses.links import log_of


class BaseBoostedClassifier(BaseGradientBoosting, ClassifierMixin):
    """Labels in, probabilities out."""

    classes_: Any  # labels, or a list of those of each target

    def _read_target(self, y: Any, known: Any = None) -> Target | SeveralTargets:
        return read_labels(y, self._owner, known)

    def _weighed(self, target: Any, weight: Floats | None, values: Values) -> tuple[Any, Weighing]:
        target, weighing = weighed_classes(target, weight, values["class_weight"], self._owner)
        self.classes_ = np.asarray(target.classes)
        return target, weighing

    @abstractmethod
    def _probabilities(self, raw: Floats) -> Any:
        """Probabilities of the classes, (n_rows, n_classes), from raw scores; of several targets a list of these."""

    def _decision(self, raw: Floats) -> Floats:
        """The decision function, from raw scores."""
        return raw

    def predict_proba(self, X: Any, init: Any = None, n_rounds: int | None = None) -> Any:
        """Probabilities of the classes, (n_rows, n_classes), in the order of `classes_`; by the first `n_rounds`, or by all.

        Of several targets a list of these.
        """
        return self._probabilities(self._raw(X, init, n_rounds))

    def predict_log_proba(self, X: Any, init: Any = None, n_rounds: int | None = None) -> Any:
        """Logarithms of the probabilities; that of a probability of zero is finite."""
        found = self.predict_proba(X, init, n_rounds)
        return [log_of(part) for part in found] if isinstance(found, list) else log_of(found)

    @available_if(has_one_target)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, init: Any = None, n_rounds: int | None = None) -> Floats:
        """Raw scores: (n_rows,) for two classes, where positive means the second, and (n_rows, n_classes) for more."""
        return self._decision(self._raw(X, init, n_rounds))

    def staged_predict_proba(self, X: Any, init: Any = None) -> Iterator[Any]:
        """The probabilities after every round."""
        for raw in self._staged(X, init):
            yield self._probabilities(raw)

    @available_if(has_one_target)  # type: ignore[untyped-decorator]
    def staged_decision_function(self, X: Any, init: Any = None) -> Iterator[Floats]:
        """The raw scores after every round."""
        for raw in self._staged(X, init):
            yield self._decision(raw)
