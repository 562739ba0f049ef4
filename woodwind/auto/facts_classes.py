"""How good an ensemble of classes is, from rows that it had not learnt: ranking, calibration, confusion."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.facts_judged import Judged, wilson
from woodwind.auto.facts_plain import brief
from woodwind.auto.outcome import Outcome
from woodwind.base.streams import choose, key

Floats = NDArray[np.float64]

CURVE_POINTS = 160
CALIBRATION_BINS = 12
SMALLEST_BIN = 20  # rows of a bin of the calibration, at the least
MOST_CLASSES = 12  # of a confusion matrix
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
STRIP = 140  # points of a class


def class_facts(outcome: Outcome, judged: Judged) -> dict[str, Any]:
    """Everything about classes; two classes have curves of ranking as well."""
    names = [brief(label) for label in outcome.model.classes]
    out = {
        "accuracy": float(np.average(judged.said == judged.y, weights=judged.weight)),
        "calibration": calibration(judged, names),
        "confusion": confusion(judged, names),
        "mixups": mixups(judged, names) if len(names) > 2 else [],
        "classes": by_class(judged, names),
        "chances": chances(judged, names, outcome.seed),
    }
    if judged.task == "binary" and 0 < int((judged.y == 1).sum()) < len(judged.y):
        out["ranking"] = ranking(judged, names[judged.positive])
        out["separation"] = separation(judged, names)
        out["thresholds"] = thresholds(judged, names[judged.positive])
    return out


def ranking(judged: Judged, positive: str) -> dict[str, Any]:
    """The curves of Peterson, Birdsall & Fox (1954) and of precision over recall, with the areas below them; weights are honoured."""
    chance, truth, weight = judged.proba[:, judged.positive], judged.y == judged.positive, judged.weight
    order = np.argsort(-chance, kind="stable")
    hits = np.cumsum(weight[order] * truth[order])
    misses = np.cumsum(weight[order] * ~truth[order])
    last = np.append(np.flatnonzero(np.diff(chance[order])), len(order) - 1)  # rows of equal chance come together
    recall, false = hits[last] / hits[-1], misses[last] / misses[-1]
    precision = hits[last] / (hits[last] + misses[last])
    area = float(np.trapezoid(np.append(0.0, recall), np.append(0.0, false)))
    average = float(np.sum(np.diff(np.append(0.0, recall)) * precision))
    roc = thinned(np.append(0.0, false), np.append(0.0, recall))
    found = thinned(recall, precision)
    return {
        "positive": positive,
        "share": float(hits[-1] / (hits[-1] + misses[-1])),
        "roc": {"false": roc[0], "true": roc[1], "area": area, "standard_error": area_error(area, int(truth.sum()), int((~truth).sum()))},
        "precision_recall": {"recall": found[0], "precision": found[1], "average": average},
    }


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
    places = np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], most)).clip(0, len(x) - 1))
    places[0], places[-1] = 0, len(x) - 1
    return x[places], y[places]


def calibration(judged: Judged, names: list[str]) -> dict[str, Any]:
    """Whether what was said to have a chance of 30 % happens in 30 % of the cases: bins of as many rows each, with intervals.

    Of two classes the chance is that of the positive one; of more it is that of the class that was said.
    """
    if judged.task == "binary":
        chance, happened, what = judged.proba[:, judged.positive], judged.y == judged.positive, names[judged.positive]
    else:
        chance, happened, what = judged.proba.max(axis=1), judged.said == judged.y, ""
    n = len(chance)
    bins = max(1, min(CALIBRATION_BINS, n // SMALLEST_BIN))
    order = np.argsort(chance, kind="stable")
    parts, away = [], 0.0
    for rows in np.array_split(order, bins):
        share, mean = float(happened[rows].mean()), float(chance[rows].mean())
        low, high = wilson(float(happened[rows].sum()), float(len(rows)))
        parts.append({"said": mean, "happened": share, "low": low, "high": high, "count": len(rows)})
        away += abs(share - mean) * len(rows) / n
    return {"of": what, "bins": parts, "error": away}


def confusion(judged: Judged, names: list[str]) -> dict[str, Any]:
    """Rows by what is true and by what was said; of many classes the commonest, and the rest together."""
    truth, said = judged.y.astype(np.int64), judged.said
    kept, called = np.arange(len(names)), list(names)
    if len(names) > MOST_CLASSES:
        common = np.argsort(-np.bincount(truth, minlength=len(names)), kind="stable")[: MOST_CLASSES - 1]
        place = np.full(len(names), MOST_CLASSES - 1)
        place[np.sort(common)] = np.arange(len(common))
        truth, said, kept = place[truth], place[said], np.arange(MOST_CLASSES)
        called = [names[one] for one in np.sort(common)] + [f"{len(names) - len(common)} others"]
    counts = np.bincount(truth * len(kept) + said, minlength=len(kept) ** 2).reshape(len(kept), len(kept))
    return {"names": called, "counts": counts, "merged": len(names) > MOST_CLASSES}


def mixups(judged: Judged, names: list[str], most: int = 8) -> list[dict[str, Any]]:
    """The pairs of classes that are mixed up most often: one that is true, and another that was said."""
    truth, said = judged.y.astype(np.int64), judged.said
    wrong = truth != said
    pairs, counts = np.unique(truth[wrong] * len(names) + said[wrong], return_counts=True)
    rows = np.bincount(truth, minlength=len(names))
    out = []
    for place in np.argsort(-counts, kind="stable")[:most]:
        one, other = divmod(int(pairs[place]), len(names))
        out.append({"truth": names[one], "said": names[other], "count": counts[place], "of": rows[one]})
    return out


def by_class(judged: Judged, names: list[str]) -> list[dict[str, Any]]:
    """Of each class: rows, the share that is found (recall, with an interval), and the share that is right where it was said."""
    truth, said = judged.y.astype(np.int64), judged.said
    rows, told = np.bincount(truth, minlength=len(names)), np.bincount(said, minlength=len(names))
    right = np.bincount(truth[truth == said], minlength=len(names))
    out = []
    for place, name in enumerate(names):
        low, high = wilson(float(right[place]), float(rows[place]))
        recall = right[place] / rows[place] if rows[place] else None
        precision = right[place] / told[place] if told[place] else None
        out.append({"name": name, "count": rows[place], "recall": recall, "low": low, "high": high, "precision": precision})
    return out


def chances(judged: Judged, names: list[str], seed: int) -> list[dict[str, Any]]:
    """The chance that was given to the true class, of some rows of each of the commonest classes."""
    truth = judged.y.astype(np.int64)
    given = judged.proba[np.arange(len(truth)), truth]
    counts = np.bincount(truth, minlength=len(names))
    out = []
    for place in np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES]):
        rows = np.flatnonzero(truth == place)
        if len(rows) == 0:
            continue
        some = rows[choose(key(seed, "facts", "chances", int(place)), len(rows), min(STRIP, len(rows)))]
        out.append({"name": names[place], "count": len(rows), "median": float(np.median(given[rows])), "values": np.round(given[some], 4)})
    return out


def separation(judged: Judged, names: list[str]) -> dict[str, Any]:
    """Histograms of the chance of the positive class, of the rows of each class: the other one first."""
    edges, order = np.linspace(0.0, 1.0, 26), (1 - judged.positive, judged.positive)
    counts = [np.histogram(judged.proba[judged.y == place, judged.positive], edges)[0] for place in order]
    return {"edges": edges, "counts": counts, "names": [names[place] for place in order]}


def thresholds(judged: Judged, positive: str) -> dict[str, Any]:
    """Precision, recall and F1 of the positive class by the probability from which on it is predicted; weights are honoured."""
    chance, truth, weight = judged.proba[:, judged.positive], judged.y == judged.positive, judged.weight
    used = 0.5 if judged.threshold is None else judged.threshold
    rows = []
    for one in sorted({*THRESHOLDS, used}):
        # Where there is no threshold, the likelier class is predicted, and of two that are equally likely the first.
        said = judged.said == judged.positive if one == used else chance >= one
        hits, alarms, there = (float(weight[some].sum()) for some in (said & truth, said, truth))
        rows.append({
            "threshold": one, "used": one == used, "predicted": alarms / float(weight.sum()), "recall": hits / there,
            "precision": hits / alarms if alarms > 0.0 else None, "f1": 2.0 * hits / (alarms + there),
        })  # fmt: skip
    return {"positive": positive, "used": used, "rows": rows}
