"""Calibration of intervals: conformity scores of a blend from what it predicted out of fold.

The conformity scores are those of rows out of fold, each predicted by members and weights that have not seen it; they are put around what
the model of all folds predicts. So the proof of split conformal prediction is one for the models of the folds, and the coverage of the
whole, which is as good or better as a rule, is what is measured: nested, with bounds of each row from the rows of other parts alone.

Errors of regression are counted in units of their mean size among rows with predictions as large, so that intervals are wider where
errors are. docs/algorithms/conformal-prediction.md has the arithmetic.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.blend import others_of, parts_of
from woodwind.auto.intervals import GROUPS, RANDOM, TIME, PredictionIntervals, spread_at
from woodwind.auto.members.link import probabilities
from woodwind.ensemble.conformal import ConformityScores, least_ambiguous

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Scores that a model stores: where there are more, each stands for some. With these a bound is that of a coverage at most 0.001 larger.
MOST_SCORES = 2_000
# Knots of the spread, and rows that each needs: with fewer than two knots the spread is the same everywhere.
MOST_KNOTS, ROWS_PER_KNOT = 10, 40
# The smallest spread that counts, as a share of the mean one.
LEAST_SPREAD = 0.02


@dataclass(frozen=True, eq=False)
class IntervalEvidence:
    """Rows out of fold that intervals are found from."""

    y: NDArray[Any]  # class numbers, or numbers
    scores: Floats  # (n, width) of the blend
    weight: Floats | None
    fold: Integers
    classifies: bool
    held_out: str  # one of PROMISES

    def at(self, rows: NDArray[Any]) -> "IntervalEvidence":
        """The same for some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return IntervalEvidence(self.y[rows], self.scores[rows], weight, self.fold[rows], self.classifies, self.held_out)

    @property
    def counts(self) -> Floats:
        """Rows that each stands for."""
        return np.ones(len(self.y)) if self.weight is None else self.weight


def held_out_by(ordered: bool, grouped: bool) -> str:
    """How rows were held out, as a name of PROMISES."""
    return TIME if ordered else GROUPS if grouped else RANDOM


def conformal_intervals(seen: IntervalEvidence) -> PredictionIntervals | None:
    """Intervals from rows out of fold; None where there are none, or their numbers are too large."""
    if not len(seen.y):
        return None
    none = np.empty(0)
    if seen.classifies:
        missing = least_ambiguous(probabilities(seen.scores))[np.arange(len(seen.y)), seen.y.astype(np.int64)]
        known = ConformityScores.of([(np.clip(missing, 0.0, 1.0), seen.counts)])
        return PredictionIntervals(known.thinned(MOST_SCORES), none, none, seen.held_out)
    predicted = seen.scores[:, 0]
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(seen.y.astype(np.float64) - predicted)
        if not np.isfinite(off).all() or not np.isfinite(off.sum()):
            return None
        knots, spreads = _spread(predicted, off, seen.counts)
        units = _units(predicted, off, seen) if len(knots) else None
        knots, spreads = (none, none) if units is None else (knots, spreads)
        scores = off if units is None else off / units
    if not np.isfinite(scores).all():
        return None
    return PredictionIntervals(ConformityScores.of([(scores, seen.counts)]).thinned(MOST_SCORES), knots, spreads, seen.held_out)


def _units(predicted: Floats, off: Floats, seen: IntervalEvidence) -> Floats | None:
    """The unit of each row, found without its part, as that of a new row is; None where that is not possible for all."""
    part, units = parts_of(seen.fold), np.empty(len(off))
    for number in np.unique(part).tolist():
        here, others = part == number, part != number
        knots, spreads = _spread(predicted[others], off[others], seen.counts[others])
        if not len(knots):
            return None
        units[here] = spread_at(predicted[here], knots, spreads)
    return units


def nested_intervals(seen: IntervalEvidence) -> list[tuple[NDArray[np.int64], PredictionIntervals]]:
    """Rows of each part with intervals that were found without them: in time order from earlier parts; parts without any are left out."""
    part = parts_of(seen.fold)
    out = []
    for number in np.unique(part).tolist():
        others = np.flatnonzero(others_of(seen.fold, seen.held_out == TIME, number))
        found = conformal_intervals(seen.at(others))
        if found is not None:
            out.append((np.flatnonzero(part == number), found))
    return out


def _spread(predicted: Floats, off: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Mean size of errors by size of the prediction: knots and spreads, (k,) each; none where rows are too few or errors all the same."""
    none = np.empty(0), np.empty(0)
    n_knots = min(MOST_KNOTS, len(off) // ROWS_PER_KNOT)
    mean = float((off * counts).sum() / counts.sum()) if len(off) else 0.0
    if n_knots < 2 or not 0.0 < mean < np.inf:
        return none
    parts = np.array_split(np.argsort(predicted, kind="stable"), n_knots)
    knots = np.array([(predicted[rows] * counts[rows]).sum() / counts[rows].sum() for rows in parts])
    spreads = np.array([(off[rows] * counts[rows]).sum() / counts[rows].sum() for rows in parts])
    there = np.append(True, np.diff(np.maximum.accumulate(knots)) > 0.0)
    knots, spreads = knots[there], np.maximum(spreads[there], LEAST_SPREAD * mean)
    return (knots, spreads) if len(knots) > 1 and np.isfinite(knots).all() and (spreads > 0.0).all() else none
