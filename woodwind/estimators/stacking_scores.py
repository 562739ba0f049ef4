"""How members, layers and stacks are judged: by a scorer of scikit-learn, from what they have said already."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from woodwind.base.errors import ParameterError
from woodwind.estimators.scoring import by_metric, no_scorer
from woodwind.estimators.target import Target

Floats = NDArray[np.float64]
# From what was said, (n, K) probabilities or (n, 1) numbers, the truth and the weights of rows to a score: more is better.
Score = Callable[[Floats, Target, Floats | None], float]


def read_score(scoring: Any, target: Target, soft: bool, owner: str) -> Score:
    """What `scoring` means. `soft` says whether there are probabilities wherever something is judged."""
    if scoring is None:
        return (minus_log_loss if soft else accuracy) if target.classes is not None else minus_rmse
    stand_in = SaidNumbers() if target.classes is None else SaidClasses(target.classes)
    known = by_metric(scoring, target.classes is not None, owner)
    try:
        scorer = sklearn.metrics.check_scoring(stand_in, scoring=known)
    except (ValueError, TypeError) as error:
        raise no_scorer(error, scoring, owner, "a scorer, or None") from error

    def score(said: Floats, truth: Target, weight: Floats | None) -> float:
        judged = (SaidNumbers() if truth.classes is None else SaidClasses(truth.classes)).saying(said)
        more = {} if weight is None else {"sample_weight": weight}
        found = scorer(judged, np.zeros((len(said), 1)), truth.labels(), **more)
        if not isinstance(found, int | float | np.number) or isinstance(found, bool | np.bool_):
            raise ParameterError(f"{owner}: scoring must return a number, but it returned {found!r}.")
        return float(found)

    return score


def minus_log_loss(said: Floats, truth: Target, weight: Floats | None) -> float:
    """Minus the mean of -log p of the true class, p at least the smallest step from zero, as in scikit-learn."""
    own = said[np.arange(len(said)), truth.y]
    return float(np.average(np.log(np.maximum(own, np.finfo(np.float64).eps)), weights=weight))


def accuracy(said: Floats, truth: Target, weight: Floats | None) -> float:
    """The share of rows whose largest probability is that of the true class."""
    return float(np.average(said.argmax(axis=1) == truth.y, weights=weight))


def minus_rmse(said: Floats, truth: Target, weight: Floats | None) -> float:
    """Minus the root of the mean squared error."""
    return -float(np.sqrt(np.average((said[:, 0] - truth.y) ** 2, weights=weight)))


class Said(BaseEstimator):
    """Answers a scorer with what was said, whatever table it is asked about."""

    said: Floats

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: there is a method of this name because scikit-learn asks for one."""
        return self

    def saying(self, said: Floats) -> Self:
        """The same with these answers."""
        self.said = said
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class SaidNumbers(RegressorMixin, Said):
    """For numbers."""

    def predict(self, X: Any) -> Floats:
        """What was said."""
        return self.said[:, 0]


class SaidClasses(ClassifierMixin, Said):
    """For classes."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return np.asarray(self.classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels of the largest probabilities."""
        return np.asarray(self.classes_[self.said.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """What was said."""
        return self.said
