"""Scored rows: a sample of those that were held out, with what the ensemble and its members predicted for them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.decision import cross_fitted, decided
from woodwind.auto.members.link import log_losses, probabilities
from woodwind.auto.outcome import Outcome
from woodwind.base.random_streams import choose, key
from woodwind.metrics.named import METRICS, names_for

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_ROWS = 100_000  # so many give every number of the report three digits


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows that were held out. All predictions are by members that had not been trained on the row."""

    task: str
    absolute: bool  # whether errors of numbers are scored by their size, not by its square
    rows: Integers  # their positions in the table
    y: NDArray[Any]
    weight: Floats
    scores: Floats  # (n, width) of the ensemble
    members: Floats  # (n, M, width)
    names: tuple[str, ...]
    positive: int = 1  # of two classes
    threshold: float | None = None

    @classmethod
    def of(cls, outcome: Outcome, most: int = MOST_ROWS) -> "ScoredRows":
        """A sample by key, with scores that are all there; rows without any are left out."""
        known = np.asarray(outcome.scored, np.bool_) & np.isfinite(outcome.blend_out_of_fold).all(axis=1)
        rows = np.flatnonzero(known)
        if len(rows) > most:
            rows = rows[choose(key(outcome.seed, "facts", "judged"), len(rows), most)]
        members = outcome.out_of_fold[rows]
        whole = np.asarray(np.isfinite(members).all(axis=(0, 2))) & (len(rows) > 0)
        weight = np.ones(len(rows)) if outcome.weight is None else np.asarray(outcome.weight, np.float64)[rows]
        return cls(
            outcome.model.task,
            METRICS[outcome.model.metric].absolute,
            rows,
            np.asarray(outcome.y)[rows],
            weight,
            outcome.blend_out_of_fold[rows],
            members[:, whole],
            tuple(name for name, there in zip(outcome.names, whole.tolist(), strict=True) if there),
            outcome.model.positive,
            outcome.model.threshold,
        )

    @cached_property
    def proba(self) -> Floats:
        """The probability that the ensemble gives to each class, (n, K)."""
        return probabilities(self.scores)

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """What the ensemble predicts: class numbers, or numbers."""
        return self.scores[:, 0] if self.task == "regression" else decided(self.proba, self.positive, self.threshold)

    def losses(self, scores: Floats) -> Floats:
        """The loss of each row (n,) under other scores for these rows."""
        return row_losses(self.task, self.y, scores, absolute=self.absolute)

    def part(self, most: int, what: str, seed: int) -> Integers:
        """Positions of at most so many of these rows, drawn by key."""
        n = len(self.rows)
        return choose(key(seed, "facts", what), n, min(most, n))


def row_losses(task: str, y: NDArray[Any], scores: Floats, *, absolute: bool = False) -> Floats:
    """Log loss of classes, squared or absolute error of numbers, for each row."""
    if task == "regression":
        away = scores[:, 0] - np.asarray(y, np.float64)
        return np.abs(away) if absolute else away * away
    return log_losses(scores, np.asarray(y, np.int64))


def mean_and_error(values: Floats, weight: Floats) -> tuple[float, float]:
    """A weighted mean and its standard error."""
    total = float(weight.sum())
    if total <= 0.0:
        return float("nan"), float("nan")
    mean = float(weight @ values) / total
    error = float(np.sqrt((weight**2) @ (values - mean) ** 2)) / total
    return mean, error


@dataclass(frozen=True)
class LossUnit:
    """What losses are told in: the log loss as it is; squared errors by their root, in units of the target."""

    name: str
    rooted: bool

    @classmethod
    def of(cls, scored: ScoredRows) -> "LossUnit":
        """The unit of the losses of these rows."""
        if scored.task != "regression":
            return cls("log loss", False)
        return cls("mean absolute error" if scored.absolute else "root mean squared error", not scored.absolute)

    def value(self, loss: float) -> float:
        """A mean loss in this unit."""
        return float(np.sqrt(loss)) if self.rooted else loss

    def change(self, base: float, more: float, error: float) -> tuple[float, float]:
        """A change of the mean loss from `base`, and the standard error of the change, in this unit."""
        if not self.rooted:
            return more, error
        root = float(np.sqrt(max(base, 1e-300)))
        after = float(np.sqrt(max(base + more, 0.0)))
        return after - root, error / max(after + root, 1e-300)


def wilson(hits: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """An interval for a share: Wilson (1927), which stays between 0 and 1."""
    if n <= 0.0:
        return 0.0, 1.0
    share = hits / n
    middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n)
    half = z / (1.0 + z * z / n) * float(np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n)))
    return max(middle - half, 0.0), min(middle + half, 1.0)


# ----------------------------------------------------------------------------------------------------
# The metric, as the report needs it.


def metric_facts(name: str) -> dict[str, Any]:
    """Name, a line of words, and which way is better."""
    metric = METRICS.get(name)
    if metric is None:
        return {"name": name, "words": "", "larger_is_better": False}
    return {"name": name, "words": metric.words, "larger_is_better": metric.larger_is_better}


def score_of(name: str, task: str, y: NDArray[Any], scores: NDArray[np.float64], weight: NDArray[np.float64], positive: int = 1) -> float:
    """The metric of some scores; not a number where it has none."""
    metric = METRICS.get(name)
    if metric is None or len(y) == 0:
        return float("nan")
    predicted = scores[:, 0] if task == "regression" else probabilities(scores)
    return metric.for_positive(positive).value(y, predicted, weight)


def all_metric_facts(outcome: Outcome, scored: ScoredRows) -> dict[str, Any] | None:
    """All metrics of the task, of rows out of fold: what the ensemble can be held to when it is tried on others.

    Labels are decided by a threshold that was found without the row.
    """
    model = outcome.model
    if len(scored.rows) == 0:
        return None
    predicted: NDArray[Any] = scored.scores[:, 0] if scored.task == "regression" else scored.proba
    labels = None
    if scored.task != "regression":
        labels = cross_fitted(outcome.rule, scored.y, scored.proba, scored.weight, scored.positive, outcome.seed)
    weight = None if outcome.weight is None else scored.weight
    clusters = None if outcome.clusters is None else outcome.clusters[scored.rows]
    out = {}
    for name in names_for(model.task):
        metric = METRICS[name].for_positive(scored.positive)
        if not metric.undefined(scored.y, len(model.classes)):
            prediction = labels if metric.needs == "label" and labels is not None else predicted
            error = metric.standard_error(scored.y, prediction, weight, clusters)
            out[name] = {"score": metric.value(scored.y, prediction, weight), "standard_error": error}
    return {"rows": len(scored.rows), "scores": out}
