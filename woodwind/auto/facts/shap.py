"""What columns bring to single predictions: SHAP values of some rows, for a picture of all of them."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import Countdown, OutOfTimeError
from woodwind.auto.facts.data import centred_ranks, kind_of
from woodwind.auto.facts.importance import inputs
from woodwind.auto.facts.json_values import brief
from woodwind.auto.outcome import Outcome
from woodwind.auto.shap import explain_model, is_explainable
from woodwind.base.random_streams import choose, key

Floats = NDArray[np.float64]

ROWS = 150
LEAST_ROWS = 30  # fewer make no picture
FIRST_ROWS = 5  # by which the pace is measured
MOST_COLUMNS = 12


def shap_facts(outcome: Outcome, clock: Countdown, threads: int = 1) -> dict[str, Any] | None:
    """SHAP values of the columns that move predictions most, of rows drawn by key, with the rank of each value among those of its column.

    None where a member is of no kind that can be explained.
    Of two classes they are of the log-odds of the positive one, of more of the score of the class that is predicted for the row.
    """
    if not is_explainable(outcome.model):
        return None
    n = len(outcome.y)
    rows = choose(key(outcome.seed, "facts", "shap"), n, min(n, ROWS))
    explained(outcome, rows[:FIRST_ROWS], threads)
    began = time.perf_counter()
    explained(outcome, rows[:FIRST_ROWS], threads)  # once more: the first call has loaded kernels
    pace = (time.perf_counter() - began) / FIRST_ROWS
    most = int(0.8 * clock.left / max(pace, 1e-9))
    if most < min(LEAST_ROWS, n):
        raise OutOfTimeError
    rows = rows[:most]
    values, share = explained(outcome, rows, threads)
    mean = np.abs(values).mean(axis=0)
    columns = sorted(((float(mean[source]), position, source) for position, source in inputs(outcome)), key=lambda one: (-one[0], one[1]))
    table = outcome.X
    return {
        "rows": len(rows),
        "exact": share,
        "columns": [
            {
                "name": brief(table.column_names[position]),
                "mean": size,
                "values": np.round(values[:, source], 6),
                "ranks": column_ranks(table.column(position).take(rows)),
            }
            for size, position, source in columns[:MOST_COLUMNS]
            if size > 0.0
        ],
    }


def explained(outcome: Outcome, rows: NDArray[np.int64], threads: int) -> tuple[Floats, float]:
    """SHAP values (n, C) of what is predicted, and the share of them that is exact."""
    model = outcome.model
    found = explain_model(model, outcome.X.take(rows), threads, outcome.seed)
    if model.task == "binary":
        return found.values[:, :, 0] * (1.0 if model.positive == 1 else -1.0), found.exact_share
    predicted = found.scores.argmax(axis=1) if model.classifies else np.zeros(len(rows), np.int64)
    return found.values[np.arange(len(rows)), :, predicted], found.exact_share


def column_ranks(column: Any) -> list[float | None] | None:
    """From 0 for the smallest value of the rows to 1 for the largest; None for what is missing, and for columns without an order."""
    if kind_of(str(column.type)) not in ("number", "date"):
        return None
    ranks = centred_ranks(column)
    reach = np.nanmax(np.abs(ranks)) if np.isfinite(ranks).any() else 0.0
    scaled = 0.5 + (0.5 * ranks / reach if reach > 0.0 else 0.0 * ranks)
    return [None if np.isnan(one) else round(float(one), 3) for one in scaled]
