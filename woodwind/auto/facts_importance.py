"""Importance of columns for the whole ensemble: how much worse it gets when a column is shuffled among rows.

Breiman (2001) for forests; Fisher, Rudin & Dominici (2019) for any model. The final model is asked, on rows of the training table: the
members that had not learnt these rows are gone. Its loss there is smaller than on new rows, but it is the change that counts.

Work goes in repeats, each on rows of its own and for all columns, so that what is reported does not depend on the clock as long as there
is time for all repeats. Tables of many columns are shuffled in groups first, and only groups that matter column by column.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.countdown import Countdown, OutOfTimeError
from woodwind.auto.facts_judged import Judged, Unit, mean_and_error, row_losses
from woodwind.auto.facts_plain import brief
from woodwind.auto.facts_rows import TIMED_ROWS, Pace, Rows, inputs
from woodwind.auto.outcome import Outcome
from woodwind.base.streams import choose, key, permutation

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SIZES = (250, 150, 100, 60, 40)  # rows of one repeat: the first, where there is time
REPEATS = 8
TOGETHER = 4000  # rows that are scored in one call
MOST_ALONE = 64  # columns that are shuffled one by one
GROUPS = 32  # that columns are divided into where there are more of them
SHOWN = 30


@dataclass(frozen=True, eq=False)
class Shuffling:
    """The rows of one repeat, and how columns of them are shuffled."""

    outcome: Outcome
    rows: Integers  # places in the table
    repeat: int
    threads: int

    def losses(self, groups: list[list[int]]) -> Floats:
        """The loss of each row with the columns of each group shuffled: (groups, n). A group without columns is the rows as they are."""
        n, model = len(self.rows), self.outcome.model
        held, y = Rows.of(self.outcome, self.rows), np.asarray(self.outcome.y)[self.rows]
        out = np.empty((len(groups), n))
        step = max(1, TOGETHER // n)
        for begin in range(0, len(groups), step):
            some = groups[begin : begin + step]
            # The same rows once for each group; a shuffled column differs in its group's part alone.
            places = np.tile(np.arange(n), len(some))
            changed: dict[int, Integers] = {}
            for part, group in enumerate(some):
                for column in group:
                    changed.setdefault(column, places.copy())[part * n : (part + 1) * n] = self._shuffled(column)
            losses = row_losses(model.task, np.tile(y, len(some)), held.scores(places, changed, self.threads))
            out[begin : begin + len(some)] = losses.reshape(len(some), n)
        return out

    def _shuffled(self, column: int) -> Integers:
        return permutation(key(self.outcome.seed, "facts", "shuffle", self.repeat, column), len(self.rows))


def importance_facts(outcome: Outcome, judged: Judged, clock: Countdown, threads: int = 1) -> dict[str, Any]:
    """The change of the loss by each column with its standard error over rows, most important first."""
    n, places = len(outcome.y), {inner: place for place, inner in inputs(outcome)}
    size = affordable(outcome, len(places), clock, threads)
    unit = Unit.of(judged) if not judged.absolute else Unit("root mean squared error", True)
    order = choose(key(outcome.seed, "facts", "importance"), n, min(n, size * REPEATS))
    order = order[permutation(key(outcome.seed, "facts", "importance", "order"), len(order))]
    blocks = [order[begin : begin + size] for begin in range(0, len(order), size)] if n > size else [order] * REPEATS
    columns, screened = list(places), False
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
    return _told(outcome, unit, [places[column] for column in columns], (changes, bases), screened)


def affordable(outcome: Outcome, n_columns: int, clock: Countdown, threads: int) -> int:
    """Rows of a repeat: fewer than usual where the model is so slow that not even one repeat would be done in time."""
    some = choose(key(outcome.seed, "facts", "timed"), len(outcome.y), min(len(outcome.y), TIMED_ROWS))
    pace = Pace.measured(outcome, some, clock, threads)
    asked, left = 1 + min(n_columns, MOST_ALONE), n_columns
    while left > MOST_ALONE:
        asked, left = asked + GROUPS + 1, left // 4
    for rows in SIZES:
        if pace.seconds(asked * min(rows, len(outcome.y)), TOGETHER) < clock.left:
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
        columns = [int(column) for place in best for column in groups[place]]
    return columns


def _told(outcome: Outcome, unit: Unit, columns: list[int], found: tuple[list[Floats], list[Floats]], screened: bool) -> dict[str, Any]:
    changes, bases = found
    # Where repeats are of the same rows, rows are averaged first: the error is over rows.
    same = len(changes) > 1 and len(bases[0]) == len(outcome.y)
    change = np.mean(changes, axis=0) if same else np.concatenate(changes, axis=1)
    base = np.mean(bases, axis=0) if same else np.concatenate(bases)
    ones, level = np.ones(change.shape[1]), float(np.mean(base))
    names = outcome.X.column_names
    out: list[dict[str, Any]] = []
    for place, column in enumerate(columns):
        more, error = unit.change(level, *mean_and_error(change[place], ones))
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
