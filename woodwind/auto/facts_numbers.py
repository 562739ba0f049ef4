"""How good an ensemble of numbers is, from rows that it had not learnt: what is left over, and where."""

from statistics import NormalDist
from typing import Any

import numpy as np

from woodwind.auto.facts_data import histogram
from woodwind.auto.facts_judged import Judged
from woodwind.auto.outcome import Outcome

POINTS = 500  # of a scatter plot
BINS = 10
QUANTILES = 61


def number_facts(outcome: Outcome, judged: Judged) -> dict[str, Any] | None:
    """Errors in the usual measures, residuals over predictions, their histogram, and their quantiles against those of a normal."""
    said, y, weight = judged.scores[:, 0], judged.y.astype(np.float64), judged.weight
    if len(y) < 3:
        return None
    left = y - said
    mean = float(np.average(y, weights=weight))
    squared, whole = float(weight @ left**2), float(weight @ (y - mean) ** 2)
    some = judged.part(POINTS, "residuals", outcome.seed)
    return {
        "rmse": float(np.sqrt(squared / weight.sum())),
        "mae": float(weight @ np.abs(left) / weight.sum()),
        "median": float(np.median(np.abs(left))),
        "r2": 1.0 - squared / whole if whole > 0.0 else None,
        "bias": float(np.average(left, weights=weight)),
        "points": {"said": said[some], "true": y[some]},
        "bands": bands(said, left),
        "histogram": histogram(left, 32),
        "quantiles": normal_quantiles(left),
    }


def bands(said: Any, left: Any) -> list[dict[str, float]]:
    """Where residuals lie, by size of the prediction: bins of as many rows each, with the 10, 50 and 90 % quantiles."""
    order = np.argsort(said, kind="stable")
    out = []
    for rows in np.array_split(order, max(1, min(BINS, len(order) // 10))):
        low, middle, high = np.quantile(left[rows], [0.1, 0.5, 0.9])
        out.append({"said": float(np.median(said[rows])), "low": low, "middle": middle, "high": high, "count": len(rows)})
    return out


def normal_quantiles(left: Any) -> dict[str, Any]:
    """Quantiles of the residuals, in standard deviations, against those that a normal distribution would have."""
    shares = (np.arange(min(QUANTILES, len(left))) + 0.5) / min(QUANTILES, len(left))
    spread = float(left.std())
    found = (np.quantile(left, shares) - left.mean()) / (spread if spread > 0.0 else 1.0)
    normal = NormalDist()
    return {"normal": [normal.inv_cdf(float(share)) for share in shares], "found": found}
