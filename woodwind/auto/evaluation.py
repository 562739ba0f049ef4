"""A model tried on rows whose target is known: metrics with their standard errors, and whether it keeps what it promised."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.averaging import ScoreEstimate
from woodwind.auto.intervals import MeasuredCoverage, answers, measured_coverage
from woodwind.auto.leaderboard import stored_entries
from woodwind.auto.members.link import probabilities
from woodwind.auto.model import AutoModel
from woodwind.auto.scorer import metric_of_rows
from woodwind.metrics.metric import Metric
from woodwind.metrics.named import METRICS, names_for

Floats = NDArray[np.float64]

# So many standard errors apart are no accident.
APART = 3.0


@dataclass(frozen=True)
class MeasuredMetric:
    """A metric of the rows."""

    metric: str
    value: float  # NaN where the rows say nothing about it
    standard_error: float
    why: str = ""  # why it is NaN
    claimed: float = nan  # the same of the model out of fold, where that is known
    claimed_error: float = nan


@dataclass(frozen=True)
class Evaluation:
    """What came of it."""

    rows: int
    measured: tuple[MeasuredMetric, ...]  # the metric of the model first, then the others of its task
    positive: Any = None  # the label of the positive one of two classes
    estimate: ScoreEstimate | None = None  # what the model claims where it is the mean of several
    intervals: tuple[MeasuredCoverage, ...] = ()  # how often its intervals or sets of labels hold the truth, and how large they are
    queries: int = 0  # where rows were ranked

    @property
    def claimed(self) -> float:
        """The score that the model claims: as a mean of several where that was estimated, else out of fold; NaN where it is not known."""
        return self.measured[0].claimed if self.estimate is None else self.estimate.score

    @property
    def claimed_error(self) -> float:
        """Its standard error."""
        return self.measured[0].claimed_error if self.estimate is None else self.estimate.standard_error

    @property
    def worse(self) -> float:
        """How many standard errors worse the rows are than what the model claimed; below zero where they are better."""
        here = self.measured[0]
        spread = hypot(here.standard_error, self.claimed_error)
        sign = -1.0 if METRICS[here.metric].larger_is_better else 1.0
        return sign * (here.value - self.claimed) / spread if spread > 0.0 else nan

    @property
    def verdict(self) -> str:
        """Whether the model keeps what it promised; nothing where that cannot be told."""
        if not np.isfinite(self.worse):
            return ""
        by = f"by {abs(self.worse):.1f} standard errors"
        if self.worse > APART:
            return f"Worse than the model claimed, {by}: these rows are of another kind than those it has learned, or those told too much."
        if self.worse < -APART:
            return f"Better than the model claimed, {by}: these rows are easier, or it has learned them; then they are no test."
        return "The model keeps what it claimed: the difference may be chance."


def evaluated(  # noqa: PLR0913  what may be known of rows
    model: AutoModel,
    X: Any,
    y: NDArray[Any],
    weight: Floats | None = None,
    threads: int = 1,
    positive: int | None = None,
    *,
    clusters: NDArray[np.int64] | None = None,
    levels: Sequence[float] = (),
    queries: NDArray[np.int64] | None = None,
    scores: Floats | None = None,
) -> Evaluation:
    """Ask a model about rows, and score it by what is known of them; another class than that of the model may be the positive one.

    Rows of one cluster are not independent of each other. `levels` are coverages of intervals, `queries` the numbers of the queries of
    rows where these are ranked, `scores` those of the model, where it was asked before.
    """
    scores = model.scores(X, threads) if scores is None else scores
    predicted = probabilities(scores) if model.classifies else scores[:, 0]
    names = (model.metric, *(name for name in names_for(model.task) if name != model.metric))
    position = model.positive if positive is None else positive
    label = model.classes[position] if model.task == "binary" else None
    claims = claims_of(model)
    if position != model.positive:  # what was measured of the other class says nothing of this one
        claims = {name: claim for name, claim in claims.items() if not METRICS[name].of_positive}
    n_rows = len(y)
    if weight is not None:
        there = weight > 0.0
        clusters, queries = (None if one is None else one[there] for one in (clusters, queries))
        y, scores, predicted, weight = y[there], scores[there], predicted[there], weight[there]
    labels = model.decide(predicted) if model.classifies else predicted
    measured = []
    for name in names:
        metric = metric_of_rows(name, y, position, queries)
        found = _measured(metric, y, labels if metric.needs == "label" else predicted, weight, max(len(model.classes), 2), clusters)
        measured.append(replace(found, claimed=claims.get(name, (nan, nan))[0], claimed_error=claims.get(name, (nan, nan))[1]))
    classifies = model.classifies
    intervals = []
    for level in levels:
        known = model.require_intervals()
        inside, sizes = answers(
            known, y, scores, classifies, known.coverage(level, "evaluate"), np.asarray(labels, np.int64) if classifies else None
        )
        intervals.append(measured_coverage(level, inside, sizes, weight, clusters))
    n_queries = 0 if queries is None else len(np.unique(queries))
    return Evaluation(n_rows, tuple(measured), label, ScoreEstimate.of(model.facts), tuple(intervals), n_queries)


def claimed_coverage(model: AutoModel) -> dict[float, MeasuredCoverage]:
    """Coverages out of fold by level, as far as the model has kept them."""
    kept = model.facts.get("intervals")
    rows = kept.get("levels") if isinstance(kept, dict) else None
    found = {}
    for one in rows if isinstance(rows, list | tuple) else ():
        names = ("level", "coverage", "standard_error", "size", "size_error", "median")
        values = [one.get(name) if isinstance(one, dict) else None for name in names]
        if isinstance(values[0], float) and isinstance(values[1], float):
            found[values[0]] = MeasuredCoverage(*(float(value) if isinstance(value, int | float) else nan for value in values))
    return found


def claims_of(model: AutoModel) -> dict[str, tuple[float, float]]:
    """Metrics of the ensemble out of fold with their standard errors, as far as they are stored with the model."""
    stored = model.facts.get("metrics")
    scores = stored.get("scores") if isinstance(stored, dict) else None
    found: dict[str, tuple[float, float]] = {}
    for name, one in scores.items() if isinstance(scores, dict) else ():
        pair = (one.get("score"), one.get("standard_error")) if isinstance(one, dict) else (None, None)
        if name in METRICS and isinstance(pair[0], int | float):
            found[name] = float(pair[0]), float(pair[1]) if isinstance(pair[1], int | float) else nan
    entries = stored_entries(model)
    # That of the leaderboard is of all rows, however many there are; but its labels are those of the likelier class.
    if entries and (model.threshold is None or METRICS[model.metric].needs != "label" or model.metric not in found):
        found[model.metric] = entries[0].score, entries[0].standard_error
    return found


def _measured(
    metric: Metric, y: NDArray[Any], predicted: NDArray[Any], weight: Floats | None, n_classes: int, clusters: NDArray[np.int64] | None
) -> MeasuredMetric:
    """A metric, or why these rows say nothing about it."""
    if why := metric.undefined(y, n_classes):
        return MeasuredMetric(metric.name, nan, nan, why)
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers near the largest double squares are infinite
        value, spread = metric.value(y, predicted, weight), metric.standard_error(y, predicted, weight, clusters)
    return (
        MeasuredMetric(metric.name, value, spread)
        if np.isfinite(value)
        else MeasuredMetric(metric.name, nan, nan, "the numbers are too large")
    )
