"""How good a classification ensemble is, from rows that it had not been trained on: ranking, calibration, confusion."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.facts.data import histogram
from woodwind.auto.facts.json_values import brief
from woodwind.auto.facts.scored_rows import ScoredRows, wilson
from woodwind.auto.outcome import Outcome
from woodwind.base.random_streams import choose, key

Floats = NDArray[np.float64]

CURVE_POINTS = 160
CALIBRATION_BINS = 12
SMALLEST_BIN = 20  # rows of a bin of the calibration, at the least
MOST_CLASSES = 12  # of a confusion matrix
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
STRIP = 140  # points of a class
MOST_CURVES = 4  # of classes, each against all others
MOST_AREAS = 60  # of classes that have areas below their curves: a sorting of all rows each
LIFT_AT = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5)  # shares of the rows, those of the highest probability first
AVERAGED = ("recall", "precision", "f1", "area", "average")


def classification_facts(outcome: Outcome, scored: ScoredRows) -> dict[str, Any]:
    """Everything about classes; two classes have curves of ranking as well."""
    names = [brief(label) for label in outcome.model.classes]
    curves = class_curves(scored, names)
    rows = by_class(scored, curves)
    out = {
        "accuracy": float(np.average(scored.predicted == scored.y, weights=scored.weight)),
        "calibration": calibration(scored, names),
        "confusion": confusion(scored, names),
        "mixups": mixups(scored, names) if len(names) > 2 else [],
        "classes": rows,
        "averages": averages(rows),
        "chances": probabilities(scored, names, outcome.seed),
    }
    if scored.task == "binary" and 0 < int((scored.y == 1).sum()) < len(scored.y):
        out["ranking"] = ranking(scored, names[scored.positive])
        out["separation"] = separation(scored, names)
        out["thresholds"] = thresholds(scored, names[scored.positive])
    if scored.task == "multiclass":
        out["class_curves"] = [one for one in curves if "false" in one]
    return out


def ranking(scored: ScoredRows, positive: str) -> dict[str, Any]:
    """ROC curve, precision-recall curve, cumulative gains and lift of the positive class; weights are honoured."""
    truth = scored.y == scored.positive
    curves = Curves.of(scored.proba[:, scored.positive], truth, scored.weight)
    roc, gains = thinned(curves.false, curves.recall), thinned(curves.rows, curves.recall)
    found = thinned(curves.recall[1:], curves.precision)
    error = area_error(curves.area, int(truth.sum()), int((~truth).sum()))
    return {
        "positive": positive,
        "share": curves.share,
        "roc": {"false": roc[0], "true": roc[1], "area": curves.area, "standard_error": error},
        "precision_recall": {"recall": found[0], "precision": found[1], "average": curves.average},
        "gains": {"rows": gains[0], "found": gains[1], "lift": curves.lift()},
    }


@dataclass(frozen=True)
class Curves:
    """Curves of one class against all others, by falling probability; rows of equal probability come together."""

    false: Floats  # false positive rate, from 0 on
    recall: Floats  # from 0 on
    rows: Floats  # share of all rows, from 0 on
    precision: Floats  # one shorter: of no rows there is none
    share: float  # of the rows of the class

    @classmethod
    def of(cls, probability: Floats, truth: NDArray[np.bool_], weight: Floats) -> "Curves":
        """The curves of Peterson, Birdsall & Fox (1954) and of precision over recall; some rows are of the class, and some are not."""
        order = np.argsort(-probability, kind="stable")
        hits = np.cumsum(weight[order] * truth[order])
        misses = np.cumsum(weight[order] * ~truth[order])
        last = np.append(np.flatnonzero(np.diff(probability[order])), len(order) - 1)
        seen, total = hits[last] + misses[last], float(hits[-1] + misses[-1])
        false, recall, rows = (np.append(0.0, one) for one in (misses[last] / misses[-1], hits[last] / hits[-1], seen / total))
        return cls(false, recall, rows, hits[last] / seen, float(hits[-1]) / total)

    @property
    def area(self) -> float:
        """Area under the ROC curve."""
        return float(np.trapezoid(self.recall, self.false))

    @property
    def average(self) -> float:
        """Average precision, by steps."""
        return float(np.sum(np.diff(self.recall) * self.precision))

    def lift(self) -> list[dict[str, float]]:
        """Recall, and how many times that of rows at random it is, of the rows of the highest probability."""
        found = np.interp(LIFT_AT, self.rows, self.recall)
        return [{"rows": at, "recall": float(one), "lift": float(one) / at} for at, one in zip(LIFT_AT, found, strict=True)]


def class_curves(scored: ScoredRows, names: list[str]) -> list[dict[str, Any]]:
    """Of each of several classes, against all others: area under the ROC curve and average precision; of the commonest, the ROC curve."""
    truth, counts = scored.y.astype(np.int64), np.bincount(scored.y.astype(np.int64), minlength=len(names))
    common = np.argsort(-counts, kind="stable").tolist()
    drawn, measured = set(common[:MOST_CURVES]), set(common[:MOST_AREAS])
    out: list[dict[str, Any]] = []
    for position, name in enumerate(names):
        if position not in measured or not 0 < counts[position] < len(truth):
            out.append({"name": name, "area": None, "average": None})
            continue
        curves = Curves.of(scored.proba[:, position], truth == position, scored.weight)
        out.append({"name": name, "area": curves.area, "average": curves.average})
        if position in drawn:
            false, recall = thinned(curves.false, curves.recall, CURVE_POINTS // 2)
            out[-1].update({"false": false, "true": recall})
    return out


def area_error(area: float, positive: int, negative: int) -> float:
    """Standard error of the area under the curve: Hanley & McNeil (1982)."""
    one, two = area / (2.0 - area), 2.0 * area * area / (1.0 + area)
    spread = area * (1.0 - area) + (positive - 1) * (one - area * area) + (negative - 1) * (two - area * area)
    return float(np.sqrt(max(spread, 0.0) / (positive * negative)))


def thinned(x: Floats, y: Floats, most: int = CURVE_POINTS) -> tuple[Floats, Floats]:
    """Points of a curve from its first to its last, at even distances along x and y together."""
    if len(x) <= most:
        return x, y
    way = np.append(0.0, np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y))))
    positions = np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], most)).clip(0, len(x) - 1))
    positions[0], positions[-1] = 0, len(x) - 1
    return x[positions], y[positions]


def calibration(scored: ScoredRows, names: list[str]) -> dict[str, Any]:
    """Whether what is predicted with a probability of 30 % happens in 30 % of the cases: bins of as many rows each, with intervals.

    Of two classes the probability is that of the positive one; of more it is that of the predicted class.
    """
    if scored.task == "binary":
        probability, happened, what = scored.proba[:, scored.positive], scored.y == scored.positive, names[scored.positive]
    else:
        probability, happened, what = scored.proba.max(axis=1), scored.predicted == scored.y, ""
    n = len(probability)
    bins = max(1, min(CALIBRATION_BINS, n // SMALLEST_BIN))
    order = np.argsort(probability, kind="stable")
    parts, away = [], 0.0
    for rows in np.array_split(order, bins):
        share, mean = float(happened[rows].mean()), float(probability[rows].mean())
        low, high = wilson(float(happened[rows].sum()), float(len(rows)))
        parts.append({"predicted": mean, "happened": share, "low": low, "high": high, "count": len(rows)})
        away += abs(share - mean) * len(rows) / n
    return {"of": what, "bins": parts, "error": away}


def confusion(scored: ScoredRows, names: list[str]) -> dict[str, Any]:
    """Rows by true and by predicted class; of many classes the commonest, and the rest together."""
    truth, predicted = scored.y.astype(np.int64), scored.predicted
    kept, called = np.arange(len(names)), list(names)
    if len(names) > MOST_CLASSES:
        common = np.argsort(-np.bincount(truth, minlength=len(names)), kind="stable")[: MOST_CLASSES - 1]
        position = np.full(len(names), MOST_CLASSES - 1)
        position[np.sort(common)] = np.arange(len(common))
        truth, predicted, kept = position[truth], position[predicted], np.arange(MOST_CLASSES)
        called = [names[one] for one in np.sort(common)] + [f"{len(names) - len(common)} others"]
    counts = np.bincount(truth * len(kept) + predicted, minlength=len(kept) ** 2).reshape(len(kept), len(kept))
    return {"names": called, "counts": counts, "merged": len(names) > MOST_CLASSES}


def mixups(scored: ScoredRows, names: list[str], most: int = 8) -> list[dict[str, Any]]:
    """The pairs of classes that are mixed up most often: the true one, and the predicted one."""
    truth, predicted = scored.y.astype(np.int64), scored.predicted
    wrong = truth != predicted
    pairs, counts = np.unique(truth[wrong] * len(names) + predicted[wrong], return_counts=True)
    rows = np.bincount(truth, minlength=len(names))
    out = []
    for position in np.argsort(-counts, kind="stable")[:most]:
        one, other = divmod(int(pairs[position]), len(names))
        out.append({"truth": names[one], "predicted": names[other], "count": counts[position], "of": rows[one]})
    return out


def by_class(scored: ScoredRows, curves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each class: rows, recall with an interval, precision, F1, and what its curves have below them; None where there is none."""
    truth, predicted = scored.y.astype(np.int64), scored.predicted
    rows, told = np.bincount(truth, minlength=len(curves)), np.bincount(predicted, minlength=len(curves))
    right = np.bincount(truth[truth == predicted], minlength=len(curves))
    out = []
    for position, found in enumerate(curves):
        low, high = wilson(float(right[position]), float(rows[position]))
        out.append({
            "name": found["name"], "count": rows[position], "low": low, "high": high, "area": found["area"], "average": found["average"],
            "recall": right[position] / rows[position] if rows[position] else None,
            "precision": right[position] / told[position] if told[position] else None,
            "f1": 2.0 * right[position] / (rows[position] + told[position]) if rows[position] else None,
        })  # fmt: skip
    return out


def averages(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over classes that have rows: all alike (macro), and by their rows (weighted). What is never predicted has precision 0."""
    there = [one for one in rows if one["count"] > 0]
    out = []
    for name, weights in (("macro", [1.0] * len(there)), ("weighted", [float(one["count"]) for one in there])):
        found = {measure: float(np.average([one[measure] or 0.0 for one in there], weights=weights)) for measure in AVERAGED}
        if any(one["area"] is None for one in there):
            found["area"] = found["average"] = None  # type: ignore[assignment]
        out.append({"name": name, **found})
    return out


def probabilities(scored: ScoredRows, names: list[str], seed: int) -> list[dict[str, Any]]:
    """The probability that was given to the true class, of some rows of each of the commonest classes."""
    truth = scored.y.astype(np.int64)
    given = scored.proba[np.arange(len(truth)), truth]
    counts = np.bincount(truth, minlength=len(names))
    out = []
    for position in np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES]):
        rows = np.flatnonzero(truth == position)
        if len(rows) == 0:
            continue
        some = rows[choose(key(seed, "facts", "chances", int(position)), len(rows), min(STRIP, len(rows)))]
        out.append(
            {"name": names[position], "count": len(rows), "median": float(np.median(given[rows])), "values": np.round(given[some], 4)}
        )
    return out


def separation(scored: ScoredRows, names: list[str]) -> dict[str, Any]:
    """Histograms of the probability of the positive class, of the rows of each class: the other one first."""
    edges, order = np.linspace(0.0, 1.0, 26), (1 - scored.positive, scored.positive)
    counts = [np.histogram(scored.proba[scored.y == position, scored.positive], edges)[0] for position in order]
    return {"edges": edges, "counts": counts, "names": [names[position] for position in order]}


def thresholds(scored: ScoredRows, positive: str) -> dict[str, Any]:
    """Precision, recall and F1 of the positive class by the probability from which on it is predicted; weights are honoured."""
    probability, truth, weight = scored.proba[:, scored.positive], scored.y == scored.positive, scored.weight
    used = 0.5 if scored.threshold is None else scored.threshold
    rows = []
    for one in sorted({*THRESHOLDS, used}):
        # Where there is no threshold, the likelier class is predicted, and of two that are equally likely the first.
        predicted = scored.predicted == scored.positive if one == used else probability >= one
        hits, alarms, there = (float(weight[some].sum()) for some in (predicted & truth, predicted, truth))
        rows.append({
            "threshold": one, "used": one == used, "predicted": alarms / float(weight.sum()), "recall": hits / there,
            "precision": hits / alarms if alarms > 0.0 else None, "f1": 2.0 * hits / (alarms + there),
        })  # fmt: skip
    return {"positive": positive, "used": used, "rows": rows}


# ----------------------------------------------------------------------------------------------------
# How good a regression ensemble is, from rows that it had not been trained on: what is left over, and where.


POINTS = 500  # of a scatter plot
BINS = 10
QUANTILES = 61


def regression_facts(outcome: Outcome, scored: ScoredRows) -> dict[str, Any] | None:
    """Errors in the usual measures, residuals over predictions, their histogram, and their quantiles against those of a normal."""
    predicted, y, weight = scored.scores[:, 0], scored.y.astype(np.float64), scored.weight
    if len(y) < 3:
        return None
    left = y - predicted
    mean = float(np.average(y, weights=weight))
    squared, whole = float(weight @ left**2), float(weight @ (y - mean) ** 2)
    some = scored.part(POINTS, "residuals", outcome.seed)
    return {
        "rmse": float(np.sqrt(squared / weight.sum())),
        "mae": float(weight @ np.abs(left) / weight.sum()),
        "median": float(np.median(np.abs(left))),
        "r2": 1.0 - squared / whole if whole > 0.0 else None,
        "bias": float(np.average(left, weights=weight)),
        "points": {"predicted": predicted[some], "true": y[some]},
        "bands": bands(predicted, left),
        "histogram": histogram(left, 32),
        "quantiles": normal_quantiles(left),
    }


def bands(predicted: Any, left: Any) -> list[dict[str, float]]:
    """Where residuals lie, by size of the prediction: bins of as many rows each, with the 10, 50 and 90 % quantiles."""
    order = np.argsort(predicted, kind="stable")
    out = []
    for rows in np.array_split(order, max(1, min(BINS, len(order) // 10))):
        low, middle, high = np.quantile(left[rows], [0.1, 0.5, 0.9])
        out.append({"predicted": float(np.median(predicted[rows])), "low": low, "middle": middle, "high": high, "count": len(rows)})
    return out


def normal_quantiles(left: Any) -> dict[str, Any]:
    """Quantiles of the residuals, in standard deviations, against those that a normal distribution would have."""
    shares = (np.arange(min(QUANTILES, len(left))) + 0.5) / min(QUANTILES, len(left))
    spread = float(left.std())
    found = (np.quantile(left, shares) - left.mean()) / (spread if spread > 0.0 else 1.0)
    normal = NormalDist()
    return {"normal": [normal.inv_cdf(float(share)) for share in shares], "found": found}
