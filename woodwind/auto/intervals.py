"""Prediction intervals of a blend, and sets of labels: what a model has stored of its errors, and how often it is right.

`calibration.py` says where the scores come from, docs/algorithms/conformal-prediction.md what is done with them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.link import probabilities
from woodwind.base.errors import DataError
from woodwind.base.validate import require, require_finite, require_shapes
from woodwind.ensemble.conformal import ConformityScores, checked_coverage, interval, label_sets, least_ambiguous
from woodwind.metrics.metric import ROUNDING, from_shares, mean

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# How rows were held out, and with it what is promised.
RANDOM, GROUPS, TIME = "random", "groups", "time"
PROMISES = {
    RANDOM: "Such a share of new rows is inside on average if they come from where the rows of the training come from: so it was with rows "
    "held out. A part of the rows may have another share.",
    GROUPS: "Rows of one group are alike: such a share of rows is inside on average over new groups that come from where those of the "
    "training come from, and within one group it may be any.",
    TIME: "Rows were held out in the order of time: such a share of later rows was inside. Nothing is promised where times change.",
}


@dataclass(frozen=True, eq=False)
class PredictionIntervals:
    """What a model knows of its errors."""

    known: ConformityScores  # of one fold
    knots: Floats  # (k,) predicted numbers, ascending; none for classes, or where the spread is the same everywhere
    spreads: Floats  # (k,) the unit of the scores at each
    held_out: str  # one of PROMISES

    @property
    def n_rows(self) -> float:
        """Rows held out that the scores are of, by their weights."""
        return float(self.known.weights.sum())

    @property
    def promise(self) -> str:
        """What is promised, and what is not, in words."""
        return PROMISES[self.held_out]

    def coverage(self, asked: Any, owner: str) -> float:
        """The share that is asked for, checked."""
        return checked_coverage(asked, self.known, owner)

    def bounds(self, predicted: Floats, coverage: float) -> tuple[Floats, Floats]:
        """Lower and upper bounds, (n,) each, around predicted numbers (n,)."""
        center, scale = predicted[None], spread_at(predicted, self.knots, self.spreads)[None]
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = interval(center, center, scale, self.known, coverage)
        if np.isfinite(self.known.needed(coverage)):  # else everything is inside
            require_finite(np.stack([low, high], axis=1), "Intervals of the model")
        return low, high

    def sets(self, proba: Floats, coverage: float, decided: Integers) -> NDArray[np.bool_]:
        """Which labels are in the set of each row, (n, K), from the probabilities (n, K); the one that was decided for (n,) always is."""
        found = label_sets(least_ambiguous(proba)[None], self.known, coverage)
        found[np.arange(len(found)), decided] = True
        return found

    def check(self) -> "PredictionIntervals":
        """The parts fit together; returns self, or raises DataError."""
        require(self.known.n_folds == 1 and len(self.known.scores) > 0, "intervals have no scores, or those of several folds")
        require(self.known.scores >= 0.0, "a conformity score of intervals is below zero")
        require_shapes("intervals", {"knots": (self.knots, "k"), "spreads": (self.spreads, "k")})
        require(np.diff(self.knots) > 0.0, "knots of intervals are not in order")
        require(self.spreads > 0.0, "a spread of intervals is not above zero")
        require(self.held_out in PROMISES, "intervals do not say how rows were held out")
        return self


def spread_at(predicted: Floats, knots: Floats, spreads: Floats) -> Floats:
    """The unit of scores at predicted numbers: between knots on a line, beyond them as at the last."""
    return np.interp(predicted, knots, spreads) if len(knots) else np.ones(len(predicted))


# ----------------------------------------------------------------------------------------------------
# How often intervals are right, and how wide they are.


@dataclass(frozen=True)
class MeasuredCoverage:
    """Intervals, or sets of labels, of rows whose truth is known."""

    level: float  # the coverage that was asked for
    coverage: float
    standard_error: float  # of the coverage; NaN for fewer than two rows
    size: float  # the mean width of intervals, or the mean number of labels of sets
    size_error: float
    median: float  # the median width or number


def measured_coverage(
    level: float, inside: NDArray[np.bool_], sizes: Floats, weight: Floats | None, clusters: Integers | None = None
) -> MeasuredCoverage:
    """Coverage and size with their standard errors; rows of one cluster are not independent of each other."""
    infinite = not np.isfinite(sizes).all()
    size = (np.inf, np.nan) if infinite else _mean_and_error(sizes, weight, clusters)
    return MeasuredCoverage(level, *_mean_and_error(inside.astype(np.float64), weight, clusters), *size, float(np.median(sizes)))


def _mean_and_error(values: Floats, weight: Floats | None, clusters: Integers | None) -> tuple[float, float]:
    """A mean by weight and its standard error, where rows of one cluster are not independent of each other."""
    share = np.full(len(values), 1.0 / len(values)) if weight is None else weight / weight.sum()
    center = mean(values, weight)
    shares = (values - center) * share
    if clusters is not None and (clusters != clusters[0]).any():
        shares = np.bincount(np.unique(clusters, return_inverse=True)[1], shares)
    error = from_shares(shares) if len(shares) > 1 else float("nan")
    return center, 0.0 if error < ROUNDING * float(np.abs(values).max()) else error


def answers(
    known: PredictionIntervals, y: NDArray[Any], scores: Floats, classifies: bool, level: float, decided: Integers | None = None
) -> tuple[NDArray[np.bool_], Floats]:
    """Which rows lie inside, and how wide their intervals or how large their sets are: (n,) each."""
    if not classifies:
        low, high = known.bounds(scores[:, 0], level)
        return (low <= y) & (y <= high), high - low
    proba = probabilities(scores)
    sets = known.sets(proba, level, proba.argmax(axis=1) if decided is None else decided)
    return sets[np.arange(len(y)), y.astype(np.int64)], sets.sum(axis=1).astype(np.float64)


def no_intervals() -> DataError:
    """What is to be said where a model knows nothing of its errors."""
    return DataError(
        "The model has no conformity scores for intervals: it was made by an earlier version, or by hand, or its numbers are too large. "
        "Train it once more with `woodwind fit`."
    )
