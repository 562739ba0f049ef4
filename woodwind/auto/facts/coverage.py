"""How often intervals of a model, or its sets of labels, hold the truth: of rows that did not help to find them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.calibration import IntervalEvidence, held_out_by, nested_intervals
from woodwind.auto.facts.json_values import brief
from woodwind.auto.facts.scored_rows import ScoredRows, wilson
from woodwind.auto.intervals import PROMISES, answers, measured_coverage
from woodwind.auto.outcome import Outcome

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
# The level whose coverage is shown by parts of the rows; the parts, and rows that a part needs at the least.
SHOWN, PARTS, LEAST_ROWS = 0.9, 10, 20
MOST_CLASSES = 30


def coverage_facts(outcome: Outcome, scored: ScoredRows) -> dict[str, Any] | None:
    """Coverage and size by level; of one level by size of the prediction or by class, and by group where rows have groups."""
    if outcome.fold is None or outcome.model.intervals is None or not len(scored.rows):
        return None
    classifies, held_out = scored.classifies, held_out_by(outcome.ordered, outcome.groups is not None)
    weight = None if outcome.weight is None else scored.weight
    seen = IntervalEvidence(scored.y, scored.scores, weight, outcome.fold[scored.rows], classifies, held_out)
    nested = nested_intervals(seen)
    if not nested:
        return None
    rows = np.concatenate([part for part, _ in nested])
    clusters = None if outcome.clusters is None else outcome.clusters[scored.rows][rows]
    heavy = None if weight is None else weight[rows]
    levels, found = [], {}
    for level in LEVELS:
        # For a level that needs more rows than there are everything is inside, which is no news.
        if not all(np.isfinite(known.known.needed(level)) for _, known in nested):
            continue
        parts = [answers(known, seen.y[part], seen.scores[part], classifies, level, _decided(scored, part)) for part, known in nested]
        inside, sizes = (np.concatenate(one) for one in zip(*parts, strict=True))
        found[level] = inside, sizes
        one = measured_coverage(level, inside, sizes, heavy, clusters)
        levels.append({
            "level": level, "coverage": one.coverage, "standard_error": one.standard_error, "size": one.size, "size_error": one.size_error,
            "median": one.median, **({"single": float(np.average(sizes == 1.0, weights=heavy))} if classifies else {}),
        })  # fmt: skip
    if not levels:
        return None
    at = SHOWN if SHOWN in found else levels[-1]["level"]
    inside, sizes = found[at]
    out = {"rows": len(rows), "held_out": held_out, "promise": PROMISES[held_out], "levels": levels, "shown": at}
    if classifies:
        out["classes"] = _by_class(scored.y[rows].astype(np.int64), inside, sizes, outcome.model.classes)
    else:
        out["sizes"] = np.quantile(sizes, np.linspace(0.0, 1.0, 41))
        out["deciles"] = _by_prediction(scored.scores[rows, 0], inside, sizes)
    if outcome.groups is not None:
        out["groups"] = _by_group(outcome.groups[scored.rows][rows], inside)
    return out


def _decided(scored: ScoredRows, part: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The classes that are predicted for some of the rows; None for numbers."""
    return None if not scored.classifies else np.asarray(scored.predicted[part], np.int64)


def _by_prediction(predicted: NDArray[np.float64], inside: NDArray[np.bool_], sizes: NDArray[np.float64]) -> list[dict[str, Any]]:
    """By size of the prediction, in parts of as many rows each."""
    order = np.argsort(predicted, kind="stable")
    out = []
    for rows in np.array_split(order, max(1, min(PARTS, len(order) // LEAST_ROWS))):
        low, high = wilson(float(inside[rows].sum()), float(len(rows)))
        ends = float(predicted[rows[0]]), float(predicted[rows[-1]])
        mean = {"coverage": float(inside[rows].mean()), "size": float(sizes[rows].mean()), "predicted": float(np.median(predicted[rows]))}
        out.append({"from": ends[0], "to": ends[1], "count": len(rows), **mean, "low": low, "high": high})
    return out


def _by_class(truth: NDArray[np.int64], inside: NDArray[np.bool_], sizes: NDArray[np.float64], classes: Any) -> list[dict[str, Any]]:
    """By the class that is true; of many classes the commonest."""
    counts = np.bincount(truth, minlength=len(classes))
    out = []
    for position in np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES]).tolist():
        rows = truth == position
        if rows.any():
            low, high = wilson(float(inside[rows].sum()), float(rows.sum()))
            mean = {"coverage": float(inside[rows].mean()), "size": float(sizes[rows].mean())}
            out.append({"name": brief(classes[position]), "count": int(rows.sum()), **mean, "low": low, "high": high})
    return out


def _by_group(groups: NDArray[np.int64], inside: NDArray[np.bool_]) -> dict[str, Any] | None:
    """How the coverage differs between groups, of those with enough rows."""
    number = np.unique(groups, return_inverse=True)[1]
    counts = np.bincount(number)
    shares = (np.bincount(number, inside) / counts)[counts >= LEAST_ROWS]
    if not len(shares):
        return {"count": len(counts), "large": 0}
    least, tenth, middle, most = np.quantile(shares, [0.0, 0.1, 0.5, 1.0]).tolist()
    return {"count": len(counts), "large": len(shares), "least": least, "tenth": tenth, "median": middle, "most": most}
