"""Rows of the table that are read once and asked about again and again, with some of their columns changed."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.outcome import Outcome
from woodwind.auto.view import View
from woodwind.data.table import Column, Table

Integers = NDArray[np.int64]

TIMED_ROWS = 64


@dataclass(frozen=True)
class Held:
    """Reads values that are in memory, as they are."""

    values: NDArray[Any]

    def __call__(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end."""
        return self.values[begin:end]


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, as the model reads them."""

    outcome: Outcome
    columns: tuple[Column, ...]
    values: tuple[NDArray[Any], ...]  # of each feature

    @classmethod
    def of(cls, outcome: Outcome, rows: Integers) -> "Rows":
        """Rows at these places of the table."""
        table = outcome.model.view(outcome.X.take(rows)).table
        return cls(outcome, table.columns, tuple(np.array(column.block(0, table.n_rows)) for column in table.columns))

    def scores(self, places: Integers, changed: Mapping[int, Integers], threads: int = 1) -> NDArray[np.float64]:
        """What the model says of the rows at these places (among those held), if some input columns come from other places instead."""
        model = self.outcome.model
        source = model.schema.source.tolist()
        held = [values[changed.get(column, places)] for column, values in zip(source, self.values, strict=True)]
        columns = tuple(Column(one.name, Held(values), one.levels) for one, values in zip(self.columns, held, strict=True))
        table = Table(columns, len(places), None, np.full(len(columns), -1, np.int64))
        return model.blend(View(table, model.form), threads)


@dataclass(frozen=True)
class Pace:
    """How long the model takes: for a call, and for each row of it."""

    call: float
    row: float

    @classmethod
    def of(cls, held: Rows, threads: int = 1) -> "Pace":
        """Time a call of one row and one of some, after a first one for whatever is loaded then."""
        one, some = np.zeros(1, np.int64), np.arange(min(TIMED_ROWS, len(held.values[0])))
        held.scores(one, {}, threads)
        began = time.perf_counter()
        held.scores(one, {}, threads)
        call = time.perf_counter() - began
        began = time.perf_counter()
        held.scores(some, {}, threads)
        whole = time.perf_counter() - began
        return cls(call, max(whole - call, 0.1 * whole) / len(some))

    def seconds(self, rows: int, together: int) -> float:
        """A forecast for so many rows, so many of them in one call."""
        return rows * self.row + -(-rows // together) * self.call


def inputs(outcome: Outcome) -> list[tuple[int, int]]:
    """Columns of the table that the model reads: (place in the table, place among the model's columns)."""
    names, known = [str(name) for name in outcome.X.column_names], outcome.model.schema.names
    if known is None:
        return [(place, place) for place in range(outcome.model.schema.n_inputs)]
    return [(place, known.index(name)) for place, name in enumerate(names) if name in known]
