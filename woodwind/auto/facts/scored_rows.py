"""Scored rows: a sample of those that were held out, with what the ensemble and its members predicted for them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.blend import some_queries
from woodwind.auto.decision import cross_fitted, decided
from woodwind.auto.members.link import log_losses, probabilities
from woodwind.auto.outcome import Outcome
from woodwind.auto.scorer import metric_of_rows
from woodwind.base.random_streams import choose, key
from woodwind.data.tables.queries import QueryRows
from woodwind.metrics.metric import CLASSES
from woodwind.metrics.named import METRICS, names_for
from woodwind.metrics.queries import query_metric

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
    queries: Integers | None = None  # (n,) the number of the query of each, where rows are ranked: whole queries
    metric: str = ""  # of the job

    @classmethod
    def of(cls, outcome: Outcome, most: int = MOST_ROWS) -> "ScoredRows":
        """A sample by key, with scores that are all there; rows without any are left out."""
        known = np.asarray(outcome.scored, np.bool_) & np.isfinite(outcome.blend_out_of_fold).all(axis=1)
        rows = np.flatnonzero(known)
        if len(rows) > most and outcome.queries is not None:
            rows = rows[some_queries(outcome.queries[rows], most, key(outcome.seed, "facts", "judged"))]
        elif len(rows) > most:
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
            None if outcome.queries is None else outcome.queries[rows],
            outcome.model.metric,
        )

    @property
    def classifies(self) -> bool:
        """Whether classes are predicted."""
        return self.task in CLASSES

    @cached_property
    def loss_weight(self) -> Floats:
        """How much each of `losses` counts: the weights of rows, or of queries."""
        return self.weight if self.queries is None else QueryRows.of(self.queries).means(self.weight)

    @cached_property
    def proba(self) -> Floats:
        """The probability that the ensemble gives to each class, (n, K)."""
        return probabilities(self.scores)

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """What the ensemble predicts: class numbers, or numbers."""
        return decided(self.proba, self.positive, self.threshold) if self.classifies else self.scores[:, 0]

    def losses(self, scores: Floats) -> Floats:
        """The loss of each row (n,), or of each query where rows are ranked, under other scores for these rows."""
        if self.queries is not None:
            return query_losses(self.metric, self.y, scores, self.queries)
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


def query_losses(metric: str, y: NDArray[Any], scores: Floats, queries: Integers) -> Floats:
    """What the metric lacks to one, for each query: (n_queries,), in the order of their numbers."""
    return 1.0 - query_metric(metric).by_query(y, scores[:, 0], QueryRows.of(queries))


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
        if scored.queries is not None:
            return cls(f"distance of {METRICS[scored.metric].title} to 1", False)
        if scored.classifies:
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


def score_of(name: str, scored: ScoredRows, scores: NDArray[np.float64]) -> float:
    """The metric of other scores for these rows; not a number where it has none."""
    if name not in METRICS or len(scored.y) == 0:
        return float("nan")
    predicted = probabilities(scores) if scored.classifies else scores[:, 0]
    return metric_of_rows(name, scored.y, scored.positive, scored.queries).value(scored.y, predicted, scored.weight)


def all_metric_facts(outcome: Outcome, scored: ScoredRows) -> dict[str, Any] | None:
    """All metrics of the task, of rows out of fold: what the ensemble can be held to when it is tried on others.

    Labels are decided by a threshold that was found without the row.
    """
    model = outcome.model
    if len(scored.rows) == 0:
        return None
    predicted: NDArray[Any] = scored.proba if scored.classifies else scored.scores[:, 0]
    labels = None
    if scored.classifies:
        labels = cross_fitted(outcome.rule, scored.y, scored.proba, scored.weight, scored.positive, outcome.seed)
    weight = None if outcome.weight is None else scored.weight
    clusters = None if outcome.clusters is None else outcome.clusters[scored.rows]
    out = {}
    for name in names_for(model.task):
        metric = metric_of_rows(name, scored.y, scored.positive, scored.queries)
        if not metric.undefined(scored.y, len(model.classes)):
            prediction = labels if metric.needs == "label" and labels is not None else predicted
            error = metric.standard_error(scored.y, prediction, weight, clusters)
            out[name] = {"score": metric.value(scored.y, prediction, weight), "standard_error": error}
    return {"rows": len(scored.rows), "scores": out}
