"""What is watched in every round: the loss, or one of scikit-learn's scorers."""

import inspect
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import _safe_indexing

from woodwind.base.errors import ParameterError
from woodwind.ensemble.watching import Judge
from woodwind.losses.base import Loss

Floats = NDArray[np.float64]


def loss_judge(loss: Loss, y: NDArray[Any], weight: Floats | None, threads: int) -> Judge:
    """Mean loss of some rows."""
    return lambda raw: loss.value(y, raw, weight, threads)


def scorer_judge(scorer: Any, model: Any, X: Any, y: NDArray[Any], weight: Floats | None) -> Judge:
    """Minus the score of some rows, so that less is better. `model` turns scores into predictions, `y` are labels or numbers."""
    stand_in = (ClassifierStandIn if hasattr(model, "classes_") else RegressorStandIn)(model)
    more = {"sample_weight": weight} if weight is not None and _takes_weight(scorer) else {}

    def judge(raw: Floats) -> float:
        stand_in.raw = raw
        score = scorer(stand_in, X, y, **more)
        if not isinstance(score, int | float | np.number) or isinstance(score, bool | np.bool_):
            raise ParameterError(f"scoring must return a number, but it returned {score!r}.")
        return -float(score)

    return judge


def read_scorer(scoring: Any, model: Any, owner: str) -> Any:
    """The scorer of a name or of a function."""
    stand_in = (ClassifierStandIn if hasattr(model, "classes_") else RegressorStandIn)(model)
    try:
        return sklearn.metrics.check_scoring(stand_in, scoring=scoring)
    except (ValueError, TypeError) as error:
        text = str(error).splitlines()[0][:300]
        raise ParameterError(
            f"{owner}: scoring={scoring!r} is no scorer: {text} Give a name of sklearn.metrics.get_scorer_names(), a function "
            "(estimator, X, y) -> float, or None for the loss."
        ) from error


def rows_of_table(X: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a table of any type."""
    try:
        return _safe_indexing(X, rows)
    except (TypeError, ValueError, AttributeError, IndexError):
        # A table of a type that scikit-learn does not know: scorers by name never look at it.
        return rows.reshape(-1, 1)


def _takes_weight(scorer: Any) -> bool:
    """Whether a score may be weighted: asked of the metric, for scorers that hand everything on to one."""
    try:
        names = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    except (ValueError, TypeError):
        return False
    return "sample_weight" in names


class StandIn(BaseEstimator):
    """Answers a scorer with the scores that rows have in the present round, whatever table it is asked about."""

    def __init__(self, model: Any = None) -> None:
        self.model = model

    raw: Floats

    def fit(self, X: Any, y: Any = None) -> "StandIn":
        """Do nothing: there is a method of this name because scikit-learn asks for one."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions from the scores."""
        return np.asarray(self.model._predicted(self.raw))

    def __sklearn_is_fitted__(self) -> bool:
        return True


class RegressorStandIn(RegressorMixin, StandIn):
    """For numbers."""


class ClassifierStandIn(ClassifierMixin, StandIn):
    """For classes."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return np.asarray(self.model.classes_)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities from the scores."""
        return np.asarray(self.model._probabilities(self.raw))

    def decision_function(self, X: Any) -> Floats:
        """The scores."""
        return self.raw
