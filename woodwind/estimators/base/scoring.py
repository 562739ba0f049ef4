"""What is watched in every round: the loss, or one of scikit-learn's scorers."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import _safe_indexing

from woodwind.base.errors import ParameterError
from woodwind.ensemble.boosting.early_stopping import Evaluator
from woodwind.losses.base import Loss
from woodwind.metrics.metric import Metric
from woodwind.metrics.named import find_metric, names_for, nearest_metric

Floats = NDArray[np.float64]


def loss_evaluator(loss: Loss, y: NDArray[Any], weight: Floats | None, threads: int) -> Evaluator:
    """Mean loss of some rows."""
    return lambda raw: loss.value(y, raw, weight, threads)


def scorer_evaluator(scorer: Any, model: Any, X: Any, y: NDArray[Any], weight: Floats | None) -> Evaluator:
    """Minus the score of some rows, so that less is better. `model` turns scores into predictions, `y` are labels or numbers."""
    stand_in = (FixedScoreClassifier if hasattr(model, "classes_") else FixedScoreRegressor)(model)
    more = {"sample_weight": weight} if weight is not None and _takes_weight(scorer) else {}

    def evaluate(raw: Floats) -> float:
        stand_in.raw = raw
        try:
            score = scorer(stand_in, X, y, **more)
        except (ValueError, TypeError) as error:
            if np.ndim(y) < 2:
                raise
            raise ParameterError(
                f"scoring cannot score several targets: {error}. Set scoring=None, or name a metric of Woodwind."
            ) from error
        if not isinstance(score, int | float | np.number) or isinstance(score, bool | np.bool_):
            raise ParameterError(f"scoring must return a number, but it returned {score!r}.")
        return -float(score)

    return evaluate


@dataclass(frozen=True, eq=False)
class WatchedMetric:
    """What rounds are scored by: a scorer, or the loss where there is none."""

    name: str
    scorer: Any

    @property
    def sign(self) -> float:
        """What turns a loss, of which less is better, into the value of the metric by its name."""
        if self.scorer is None or (isinstance(self.scorer, MetricScorer) and not self.scorer.metric.larger_is_better):
            return 1.0
        return -1.0


def read_metrics(scoring: Any, model: Any, loss: Loss, owner: str) -> list[WatchedMetric]:
    """One metric, or several in a list, the first of which decides. None is the loss."""
    given = list(scoring) if isinstance(scoring, list | tuple) else [scoring]
    if not given:
        raise ParameterError(f"{owner}: scoring is an empty list. Give a metric, several in a list, or None for the loss.")
    read = [
        WatchedMetric(loss.name, None) if one is None else WatchedMetric(_name_of(one), read_scorer(one, model, owner)) for one in given
    ]
    names = [metric.name for metric in read]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"{owner}: scoring has {twice!r} twice. Name each metric once.")
    return read


def _name_of(scoring: Any) -> str:
    """A metric by its name, a function by its own, and a scorer of scikit-learn's `make_scorer` by that of the function inside."""
    if isinstance(scoring, str):
        return scoring
    return str(getattr(getattr(scoring, "_score_func", scoring), "__name__", type(scoring).__name__))


@dataclass(frozen=True, eq=False)
class EvaluationCurves:
    """The value of every metric for every table that is watched, before the first round and after each."""

    metrics: list[WatchedMetric]
    found: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # by table, then by metric

    def evaluator(self, table: str, evaluators: list[Evaluator]) -> Evaluator:
        """An evaluator that remembers the values of all metrics of a table, and answers by the first."""
        curves: dict[str, list[float]] = {metric.name: [] for metric in self.metrics}
        self.found[table] = curves

        def evaluate(raw: Floats) -> float:
            losses = [one(raw) for one in evaluators]
            for metric, loss in zip(self.metrics, losses, strict=True):
                curves[metric.name].append(metric.sign * loss)
            return losses[0]

        return evaluate

    def result(self, earlier: dict[str, dict[str, Floats]], rounds: int) -> dict[str, dict[str, Floats]]:
        """The values after each round: those of so many earlier rounds, where they are known, and those of this training."""
        made: dict[str, dict[str, Floats]] = {}
        for table, curves in self.found.items():
            before = earlier.get(table, {})
            made[table] = {name: np.concatenate([before.get(name, np.zeros(0))[:rounds], curve[1:]]) for name, curve in curves.items()}
        return made


def read_scorer(scoring: Any, model: Any, owner: str) -> Any:
    """The scorer of a name or of a function."""
    stand_in = (FixedScoreClassifier if hasattr(model, "classes_") else FixedScoreRegressor)(model)
    known = by_metric(scoring, hasattr(model, "classes_"), owner)
    try:
        return sklearn.metrics.check_scoring(stand_in, scoring=known)
    except (ValueError, TypeError) as error:
        raise no_scorer(error, scoring, owner, "a function (estimator, X, y) -> float, or None for the loss") from error


def no_scorer(error: Exception, scoring: Any, owner: str, otherwise: str, parameter: str = "scoring") -> ParameterError:
    """The error for what is no scorer, with what may have been meant."""
    text = str(error).splitlines()[0][:300]
    hint = f"{nearest_metric(scoring)} " if isinstance(scoring, str) else ""
    return ParameterError(
        f"{owner}: {parameter}={scoring!r} is no scorer: {text} {hint}Give the name of a metric, such as 'auc' or 'rmse', or a name of "
        f"sklearn.metrics.get_scorer_names(), {otherwise}."
    )


def by_metric(scoring: Any, classifies: bool, owner: str, parameter: str = "scoring") -> Any:
    """A scorer where one of our metrics is named, as other libraries may call it; names of scikit-learn's scorers and all else stay."""
    if not isinstance(scoring, str) or scoring in sklearn.metrics.get_scorer_names():
        return scoring
    metric = find_metric(scoring)
    if metric is None:
        return scoring
    if metric.needs == "rank" or classifies == (metric.needs == "number"):
        task, other = ("classes", "numbers") if classifies else ("numbers", "classes")
        other = "rankings" if metric.needs == "rank" else other
        allowed = ", ".join(names_for("multiclass" if classifies else "regression"))
        raise ParameterError(f"{owner}: {parameter}={scoring!r} is for {other}, and {owner} is for {task}. Choose one of {allowed}.")
    return MetricScorer(metric)


class MetricScorer:
    """A metric as a scorer: larger is better, so that errors and losses have a minus."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of some rows."""
        metric = self.metric
        if np.ndim(y) == 2:  # several targets: the mean over them
            value = float(np.mean([metric.value(*pair, sample_weight) for pair in self._of_targets(estimator, X, np.asarray(y))]))
        elif metric.needs == "number":
            value = metric.value(y, estimator.predict(X), sample_weight)
        else:
            predicted = estimator.predict_proba(X) if metric.needs == "proba" else estimator.predict(X)
            value = metric.value(*self._numbered(estimator.classes_, y, predicted), sample_weight)
        return value if metric.larger_is_better else -value

    def _of_targets(self, estimator: Any, X: Any, y: NDArray[Any]) -> Iterator[tuple[Any, Any]]:
        """Truth and prediction of each of several targets."""
        answers = estimator.predict_proba(X) if self.metric.needs == "proba" else estimator.predict(X).T
        for k, (truth, predicted) in enumerate(zip(y.T, answers, strict=True)):
            if self.metric.needs == "number":
                yield truth, np.ascontiguousarray(predicted)
            else:
                yield self._numbered(estimator.classes_[k], truth, predicted)

    def _numbered(self, classes: NDArray[Any], y: Any, predicted: Any) -> tuple[Any, Any]:
        """Labels as numbers of classes."""
        return np.searchsorted(classes, y), predicted if self.metric.needs == "proba" else np.searchsorted(classes, predicted)


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


class FixedScores(BaseEstimator):
    """Answers a scorer with the scores that rows have in the present round, whatever table it is asked about."""

    def __init__(self, model: Any = None) -> None:
        self.model = model

    raw: Floats

    def fit(self, X: Any, y: Any = None) -> "FixedScores":
        """Do nothing: there is a method of this name because scikit-learn asks for one."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions from the scores."""
        return np.asarray(self.model._predicted(self.raw))

    def __sklearn_is_fitted__(self) -> bool:
        return True


class FixedScoreRegressor(RegressorMixin, FixedScores):
    """For numbers."""


class FixedScoreClassifier(ClassifierMixin, FixedScores):
    """For classes."""

    @property
    def classes_(self) -> NDArray[Any] | list[NDArray[Any]]:
        """The labels; of several targets those of each."""
        classes: Any = self.model.classes_
        return classes if isinstance(classes, list) else np.asarray(classes)

    def predict_proba(self, X: Any) -> Floats | list[Floats]:
        """Probabilities from the scores; of several targets those of each."""
        found: Any = self.model._probabilities(self.raw)
        return found if isinstance(found, list) else np.asarray(found)

    def decision_function(self, X: Any) -> Floats:
        """The scores."""
        return self.raw
