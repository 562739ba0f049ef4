"""Rows of the table that are read once and asked about again and again, with some of their columns changed."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.countdown import Countdown, OutOfTimeError
from woodwind.auto.outcome import Outcome
from woodwind.auto.view import View
from woodwind.data.table import Table

Integers = NDArray[np.int64]

TIMED_ROWS = 64
# To ask the model three times, and once more to be of use, takes so many times as long as to read a few rows of a wide table.
AS_LONG = 4.0


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, as the model reads them."""

    outcome: Outcome
    table: Table  # in memory: it is asked again and again

    @classmethod
    def of(cls, outcome: Outcome, rows: Integers) -> "Rows":
        """Rows at these places of the table."""
        table = outcome.model.view(outcome.X.take(rows)).table
        return cls(outcome, table.take(np.arange(table.n_rows)))

    def scores(self, places: Integers, changed: Mapping[int, Integers], threads: int = 1) -> NDArray[np.float64]:
        """What the model says of the rows at these places (among those held), if some input columns come from other places instead."""
        model, held = self.outcome.model, self.table
        sources = zip(model.schema.source.tolist(), held.columns, strict=True)
        columns = tuple(column.take(changed.get(source, places), held.n_rows) for source, column in sources)
        return model.blend(View(replace(held, columns=columns, n_rows=len(places)), model.form), threads)


@dataclass(frozen=True)
class Pace:
    """How long the model takes: for a call, and for each row of it."""

    call: float
    row: float

    @classmethod
    def of(cls, held: Rows, threads: int = 1) -> "Pace":
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
    def measured(cls, outcome: Outcome, rows: Integers, clock: Countdown, threads: int = 1) -> "Pace":
        """The pace by rows at these places; OutOfTimeError where to read them says that there is no time to find it out."""
        began = time.perf_counter()
        held = Rows.of(outcome, rows)
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
        return [(place, place) for place in range(schema.n_inputs)]
    where = schema.place_of
    return [(place, where[str(name)]) for place, name in enumerate(outcome.X.column_names) if str(name) in where]
