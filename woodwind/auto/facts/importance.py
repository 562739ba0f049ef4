"""Importance of columns for the whole ensemble: how much worse it gets when a column is shuffled among rows.

Breiman (2001) for forests; Fisher, Rudin & Dominici (2019) for any model. The final model is asked, on rows of the training table: the
members that had not been trained on these rows are gone. Its loss there is smaller than on new rows, but it is the change that counts.

Work goes in repeats, each on rows of its own and for all columns, so that what is reported does not depend on the clock as long as there
is time for all repeats. Tables of many columns are shuffled in groups first, and only groups that matter column by column.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.blend import some_queries
from woodwind.auto.clock import Countdown, OutOfTimeError
from woodwind.auto.facts.json_values import brief
from woodwind.auto.facts.scored_rows import LossUnit, ScoredRows, mean_and_error, query_losses, row_losses
from woodwind.auto.members.view import View
from woodwind.auto.outcome import Outcome
from woodwind.base.random_streams import choose, key, permutation
from woodwind.data.tables.table import Table

# ----------------------------------------------------------------------------------------------------
# Rows of the table that are read once and asked about again and again, with some of their columns changed.


Integers = NDArray[np.int64]

TIMED_ROWS = 64
# To ask the model three times, and once more to be of use, takes so many times as long as to read a few rows of a wide table.
AS_LONG = 4.0


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Some rows, as the model reads them."""

    outcome: Outcome
    table: Table  # in memory: it is asked again and again

    @classmethod
    def of(cls, outcome: Outcome, rows: Integers) -> "SampledRows":
        """Rows at these positions of the table."""
        table = outcome.model.view(outcome.X.take(rows)).table
        return cls(outcome, table.take(np.arange(table.n_rows)))

    def scores(self, positions: Integers, changed: Mapping[int, Integers], threads: int = 1) -> NDArray[np.float64]:
        """What the model predicts for the rows at these positions (among those held), if some input columns come from other places
        instead."""
        model, held = self.outcome.model, self.table
        sources = zip(model.schema.source.tolist(), held.columns, strict=True)
        columns = tuple(column.take(changed.get(source, positions), held.n_rows) for source, column in sources)
        return model.blend(View(replace(held, columns=columns, n_rows=len(positions)), model.form), threads)


@dataclass(frozen=True)
class PredictionPace:
    """How long the model takes: for a call, and for each row of it."""

    call: float
    row: float

    @classmethod
    def of(cls, held: SampledRows, threads: int = 1) -> "PredictionPace":
        """Time a call of one row and one of some, after a first one for whatever is loaded then."""
        one, some = np.zeros(1, np.int64), np.arange(min(TIMED_ROWS, held.table.n_rows))
        held.scores(one, {}, threads)
        began = time.perf_counter()
        held.scores(one, {}, threads)
        call = time.perf_counter() - began
        began = time.perf_counter()
        held.scores(some, {}, threads)
        whole = time.perf_counter() - began
        return cls(call, max(whole - call, 0.1 * whole) / len(some))

    @classmethod
    def measured(cls, outcome: Outcome, rows: Integers, clock: Countdown, threads: int = 1) -> "PredictionPace":
        """The pace by rows at these positions; OutOfTimeError where to read them says that there is no time to find it out."""
        began = time.perf_counter()
        held = SampledRows.of(outcome, rows)
        if AS_LONG * (time.perf_counter() - began) > clock.left:
            raise OutOfTimeError
        return cls.of(held, threads)

    def seconds(self, rows: int, together: int) -> float:
        """A forecast for so many rows, so many of them in one call."""
        return rows * self.row + -(-rows // together) * self.call


def inputs(outcome: Outcome) -> list[tuple[int, int]]:
    """Columns of the table that the model reads: (place in the table, place among the model's columns)."""
    schema = outcome.model.schema
    if schema.names is None:
        return [(position, position) for position in range(schema.n_inputs)]
    where = schema.position_of
    return [(position, where[str(name)]) for position, name in enumerate(outcome.X.column_names) if str(name) in where]


Floats = NDArray[np.float64]

SIZES = (250, 150, 100, 60, 40)  # rows of one repeat: the first, where there is time
REPEATS = 8
# What the first repeat may take of the time by its forecast: a machine that others use, too, takes longer than that, and partial dependence
# comes afterwards.
MOST_OF_THE_TIME = 0.5
TOGETHER = 4000  # rows that are scored in one call
MOST_ALONE = 64  # columns that are shuffled one by one
GROUPS = 32  # that columns are divided into where there are more of them
SHOWN = 30


@dataclass(frozen=True, eq=False)
class Shuffling:
    """The rows of one repeat, and how columns of them are shuffled."""

    outcome: Outcome
    rows: Integers  # positions in the table
    repeat: int
    threads: int

    def losses(self, groups: list[list[int]]) -> Floats:
        """The loss of each row, or of each query where rows are ranked, with the columns of each group shuffled: (groups, n).

        A group without columns is the rows as they are.
        """
        n = len(self.rows)
        held, y = SampledRows.of(self.outcome, self.rows), np.asarray(self.outcome.y)[self.rows]
        out = []
        step = max(1, TOGETHER // n)
        for begin in range(0, len(groups), step):
            some = groups[begin : begin + step]
            # The same rows once for each group; a shuffled column differs in its group's part alone.
            positions = np.tile(np.arange(n), len(some))
            changed: dict[int, Integers] = {}
            for part, group in enumerate(some):
                for column in group:
                    changed.setdefault(column, positions.copy())[part * n : (part + 1) * n] = self._shuffled(column)
            scores, truth = held.scores(positions, changed, self.threads), np.tile(y, len(some))
            out.append(self._losses(truth, scores, len(some)).reshape(len(some), -1))
        return np.concatenate(out)

    def _losses(self, truth: NDArray[Any], scores: Floats, times: int) -> Floats:
        """Of the same rows, so many times."""
        outcome = self.outcome
        if outcome.queries is None:
            return row_losses(outcome.model.task, truth, scores)
        number = np.unique(outcome.queries[self.rows], return_inverse=True)[1]
        number = (number + (number.max() + 1) * np.arange(times)[:, None]).reshape(-1)
        return query_losses(outcome.model.metric, truth, scores, number)

    def _shuffled(self, column: int) -> Integers:
        return permutation(key(self.outcome.seed, "facts", "shuffle", self.repeat, column), len(self.rows))


def importance_facts(outcome: Outcome, scored: ScoredRows, clock: Countdown, threads: int = 1) -> dict[str, Any]:
    """The change of the loss by each column with its standard error over rows, most important first."""
    n, positions = len(outcome.y), {inner: position for position, inner in inputs(outcome)}
    size = affordable(outcome, len(positions), clock, threads)
    unit = LossUnit.of(scored) if not scored.absolute else LossUnit("root mean squared error", True)
    blocks = _query_blocks(outcome, size) if outcome.queries is not None else _row_blocks(outcome, size)
    columns, screened = list(positions), False
    if len(columns) > MOST_ALONE:
        columns, screened = screened_columns(Shuffling(outcome, blocks[0], 0, threads), columns), True
    changes: list[Floats] = []
    bases: list[Floats] = []
    for repeat, rows in enumerate(blocks):
        if clock.over(repeat):
            break
        losses = Shuffling(outcome, rows, repeat, threads).losses([[], *([column] for column in columns)])
        bases.append(losses[0])
        changes.append(losses[1:] - losses[0])
    if not changes:
        raise OutOfTimeError
    facts = _as_facts(outcome, unit, [positions[column] for column in columns], (changes, bases), screened, n <= size)
    return facts if outcome.queries is None else {**facts, "of": "queries"}


def _row_blocks(outcome: Outcome, size: int) -> list[Integers]:
    """The rows of each repeat: so many, others each time as long as there are; else all of them."""
    n = len(outcome.y)
    order = choose(key(outcome.seed, "facts", "importance"), n, min(n, size * REPEATS))
    order = order[permutation(key(outcome.seed, "facts", "importance", "order"), len(order))]
    return [order[begin : begin + size] for begin in range(0, len(order), size)] if n > size else [order] * REPEATS


def _query_blocks(outcome: Outcome, size: int) -> list[Integers]:
    """The same in whole queries; of one that is longer the first documents."""
    assert outcome.queries is not None
    if len(outcome.y) <= size:
        return [np.arange(len(outcome.y))] * REPEATS
    seeds = [key(outcome.seed, "facts", "importance", repeat) for repeat in range(REPEATS)]
    return [np.flatnonzero(some_queries(outcome.queries, size, seed))[:size] for seed in seeds]


def affordable(outcome: Outcome, n_columns: int, clock: Countdown, threads: int) -> int:
    """Rows of a repeat: fewer than usual where the model is so slow that not even one repeat would be done in time."""
    some = choose(key(outcome.seed, "facts", "timed"), len(outcome.y), min(len(outcome.y), TIMED_ROWS))
    pace = PredictionPace.measured(outcome, some, clock, threads)
    asked, left = 1 + min(n_columns, MOST_ALONE), n_columns
    while left > MOST_ALONE:
        asked, left = asked + GROUPS + 1, left // 4
    for rows in SIZES:
        part = 1.0 if rows == SIZES[-1] else MOST_OF_THE_TIME
        if pace.seconds(asked * min(rows, len(outcome.y)), TOGETHER) < part * clock.left:
            return rows
    raise OutOfTimeError


def screened_columns(shuffling: Shuffling, columns: list[int]) -> list[int]:
    """Some columns that matter most: groups are shuffled together, and those that change the loss most are divided again."""
    while len(columns) > MOST_ALONE:
        groups = [list(group) for group in np.array_split(np.array(columns), min(GROUPS, len(columns)))]
        losses = shuffling.losses([[], *groups])
        change = (losses[1:] - losses[0]).mean(axis=1)
        # A quarter of the columns at the least, so that few that matter can hide behind a strong one.
        kept = max(GROUPS // 4, MOST_ALONE * len(groups) // len(columns))
        best = np.sort(np.argsort(-change, kind="stable")[:kept])
        columns = [int(column) for position in best for column in groups[position]]
    return columns


def _as_facts(
    outcome: Outcome, unit: LossUnit, columns: list[int], found: tuple[list[Floats], list[Floats]], screened: bool, same: bool
) -> dict[str, Any]:
    changes, bases = found
    # Where repeats are of the same rows, rows are averaged first: the error is over rows.
    change = np.mean(changes, axis=0) if same else np.concatenate(changes, axis=1)
    base = np.mean(bases, axis=0) if same else np.concatenate(bases)
    ones, level = np.ones(change.shape[1]), float(np.mean(base))
    names = outcome.X.column_names
    out: list[dict[str, Any]] = []
    for position, column in enumerate(columns):
        more, error = unit.change(level, *mean_and_error(change[position], ones))
        out.append({"name": brief(names[column]), "column": column, "more": more, "standard_error": error})
    out.sort(key=lambda one: -one["more"])
    return {
        "unit": unit.name,
        "loss": unit.value(level),
        "rows": len(base),
        "repeats": len(changes),
        "screened": screened,
        "n_columns": outcome.X.num_columns,
        "columns": out[:SHOWN],
    }
