"""Partial dependence: what the ensemble predicts on average if a column is set to one value in all rows; Friedman (2001).

Next to the mean stand the answers for some single rows (Goldstein, Kapelner, Bleich & Pitkin 2015): where they are not parallel, the
column's effect depends on other columns. Values that columns are set to are taken from the table itself, so they are of its type.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import Countdown, OutOfTimeError
from woodwind.auto.facts.data import kind_of
from woodwind.auto.facts.importance import PredictionPace, SampledRows, inputs
from woodwind.auto.facts.json_values import brief
from woodwind.auto.members.link import probabilities
from woodwind.auto.outcome import Outcome
from woodwind.base.random_streams import choose, key

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROWS = 150
LEAST_ROWS = 12  # where time is short
POINTS = 16
LEVELS = 8
SINGLE = 12  # rows that are shown one by one
MOST_COLUMNS = 6
MOST_CLASSES = 4
LOOKED_AT = 20_000  # rows that values are taken from


def dependence_facts(outcome: Outcome, importance: dict[str, Any], clock: Countdown, threads: int = 1) -> list[dict[str, Any]] | None:
    """The most important columns, one after another, as long as there is time; None where no column is clearly important."""
    clear = [one["column"] for one in importance["columns"] if one["more"] > one["standard_error"]]
    if not clear:
        return None
    n = len(outcome.y)
    rows = choose(key(outcome.seed, "facts", "dependence"), n, min(n, ROWS))
    # A model that is slow is asked about fewer rows, so that there is time for a first column at least.
    pace = PredictionPace.measured(outcome, rows, clock, threads)
    most = int((clock.left - pace.call) / max(pace.row * POINTS, 1e-9))
    if most < min(LEAST_ROWS, n):
        raise OutOfTimeError
    out: list[dict[str, Any]] = []
    for column in clear[:MOST_COLUMNS]:
        if clock.over(len(out)):
            if not out:
                raise OutOfTimeError
            break
        found = one_column(outcome, column, rows[:most], threads)
        if found is not None:
            out.append(found)
    return out or None


def one_column(outcome: Outcome, column: int, rows: Integers, threads: int = 1) -> dict[str, Any] | None:
    """Means and single rows over the values of one column."""
    table, model = outcome.X, outcome.model
    kind = kind_of(str(table.column(column).type))
    kind = "category" if kind == "other" else kind  # times of day and the like are told apart, and have no axis
    grid = category_grid(outcome, column) if kind in ("category", "truth value") else number_grid(outcome, column)
    if len(grid) < 2:
        return None
    held, n_held = SampledRows.of(outcome, np.concatenate([rows, grid])), len(rows)
    positions = np.tile(np.arange(n_held), len(grid))
    scores = held.scores(positions, {dict(inputs(outcome))[column]: np.repeat(np.arange(n_held, n_held + len(grid)), n_held)}, threads)
    predicted = probabilities(scores) if model.classifies else scores
    answers = predicted.reshape(len(grid), len(rows), -1)
    mean = answers.mean(axis=1)
    kept = _classes_to_show(outcome, mean)
    lines = [{"name": "" if not model.classes else brief(model.classes[position]), "mean": mean[:, position]} for position in kept]
    out = {"name": brief(table.column_names[column]), "kind": kind, "lines": lines, "rows": len(rows)}
    if len(kept) == 1:
        some = choose(key(outcome.seed, "facts", "single"), len(rows), min(SINGLE, len(rows)))
        out["single"] = answers[:, some, kept[0]].T
        out["deviation"] = answers[:, :, kept[0]].std(axis=1)
    values = table.column(column).take(grid).to_pylist()
    if kind in ("category", "truth value"):
        return {**out, "levels": ["missing" if value is None else brief(value) for value in values]}
    if kind == "date":
        numbers = [float(np.datetime64(value, "s").astype(np.int64)) for value in values]
        return {**out, "values": numbers, "written": [brief(value)[:10] for value in values]}
    return {**out, "values": [float(value) for value in values]}


def _classes_to_show(outcome: Outcome, mean: Floats) -> list[int]:
    """The positive one of two classes; of more those that the column moves most."""
    if not outcome.model.classifies:
        return [0]
    if outcome.model.task == "binary":
        return [outcome.model.positive]
    moved = np.ptp(mean, axis=0)
    return sorted(int(position) for position in np.argsort(-moved, kind="stable")[:MOST_CLASSES])


def _looked_at(outcome: Outcome) -> Integers:
    n = len(outcome.y)
    return choose(key(outcome.seed, "facts", "values"), n, min(n, LOOKED_AT))


def number_grid(outcome: Outcome, column: int) -> Integers:
    """Rows that hold quantiles of the column, from the 2 % to the 98 % one, each value once."""
    rows = _looked_at(outcome)
    held = outcome.X.column(column).take(rows)
    there = np.flatnonzero(~np.asarray(held.is_null().to_numpy(), np.bool_))
    values = np.asarray(held.take(there).to_numpy())
    numbers = values.astype("datetime64[s]").astype(np.float64) if values.dtype.kind == "M" else values.astype(np.float64)
    finite = np.isfinite(numbers)
    there, numbers = there[finite], numbers[finite]
    if len(numbers) == 0:
        return np.empty(0, np.int64)
    order = np.argsort(numbers, kind="stable")
    distinct, first = np.unique(numbers[order], return_index=True)
    if len(distinct) <= POINTS:
        positions = first
    else:
        positions = np.round(np.linspace(0.02, 0.98, POINTS) * (len(order) - 1)).astype(np.int64)
        positions = positions[np.unique(numbers[order][positions], return_index=True)[1]]
    return np.asarray(rows[there[order[positions]]])


def category_grid(outcome: Outcome, column: int) -> Integers:
    """Rows that hold the commonest categories, the commonest first; missing is a category where it is common."""
    rows = _looked_at(outcome)
    values = outcome.X.column(column).take(rows).to_pylist()
    first: dict[Any, int] = {}
    counts: dict[Any, int] = {}
    for position, value in enumerate(values):
        first.setdefault(value, position)
        counts[value] = counts.get(value, 0) + 1
    common = sorted(counts, key=lambda value: (-counts[value], str(value)))[:LEVELS]
    return np.array([rows[first[value]] for value in common], np.int64)
