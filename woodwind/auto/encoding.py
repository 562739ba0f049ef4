"""Levels as numbers: how large the target is, on average, in rows of the same level.

A column of thousands of levels, such as the number of an aircraft or a postcode, says little to a tree that parts sets of levels, but much
by what is known of the target at each. The danger is a row that finds its own target in its number. So the rows that are learnt stand in a
drawn order, and each is given the mean of those before it (ordered target statistics: Prokhorenkova et al. 2018, "CatBoost"); all other
rows are given the mean of all that are learnt, as rows to come will be.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.view import View
from woodwind.base.errors import DataError
from woodwind.base.sound import sound
from woodwind.base.streams import key, permutation
from woodwind.data.matrix_form import MatrixForm
from woodwind.data.schema import Schema
from woodwind.data.table import Column, KeptReader, Reader, Table
from woodwind.tree.forest import Forest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rows of the mean of all that are added to those of each level.
SMOOTHING = 3.0


@dataclass(frozen=True, eq=False)
class Encoding:
    """The number of each level of one feature."""

    place: int  # of the feature
    values: Floats  # (levels + 1,) the last one is that of missing values

    def check(self) -> "Encoding":
        """Raise DataError where something does not fit."""
        sound(self.place >= 0 and self.values.ndim == 1 and self.values.size > 0, "the numbers of levels have an impossible shape")
        sound(np.isfinite(self.values), "the number of a level is not finite")
        return self


@dataclass(frozen=True)
class _EncodedReader:
    """Reads levels as their numbers. Those that training never saw have none: a walk stops where it meets one."""

    numbers: Reader
    values: Floats

    def __call__(self, begin: int, end: int) -> Floats:
        """Rows begin to end."""
        return as_numbers(self.numbers(begin, end), self.values)


def as_numbers(levels: NDArray[Any], values: Floats) -> Floats:
    """The value of each level; MISSING, -1, finds the last one, and what is UNSEEN is not a number."""
    return np.where(levels < -1, np.nan, values[np.maximum(levels, -1)])


@dataclass(frozen=True, eq=False)
class EncodedMember:
    """Boosted trees over a table some of whose levels are numbers."""

    forest: Forest
    encodings: tuple[Encoding, ...]

    @property
    def width(self) -> int:
        """Scores of a row."""
        return self.forest.n_outputs

    def table(self, view: View) -> Table:
        """The rows as its trees see them: the same features, in their order."""
        return encoded(view.table, self.encodings)

    def scores(self, view: View, threads: int = 1) -> Floats:
        """Start and trees, added up."""
        return self.forest.raw(self.table(view), threads)

    def check(self) -> "EncodedMember":
        """Raise DataError where something does not fit."""
        places = [one.place for one in self.encodings]
        sound(len(set(places)) == len(places), "a feature has two encodings")
        sound(max(places, default=-1) < self.forest.n_features, "a feature that is encoded is not there")
        sound(self.forest.set_words[places] == 0, "levels that are numbers are parted as levels")
        self.forest.check()
        return self

    def check_for(self, schema: Schema, form: MatrixForm) -> None:
        """Raise DataError unless it reads tables of this schema."""
        del form
        counts = schema.code_counts.copy()
        sound(self.forest.n_features == len(counts), "trees read another number of features than there are")
        places = [one.place for one in self.encodings]
        counts[places] = 0
        sound(self.forest.set_words == -(-counts // 64), "trees part levels that are not those of the columns")
        levels = [one.values.size - 1 for one in self.encodings]
        sound(schema.level_counts[places] == levels, "levels have another number of values than the schema has levels")


def encodable(schema: Schema, least_levels: int) -> Integers:
    """Features of so many levels."""
    return np.flatnonzero(schema.level_counts >= max(least_levels, 1))


def encoded(table: Table, encodings: tuple[Encoding, ...]) -> Table:
    """The table with numbers for levels."""
    columns = list(table.columns)
    for one in encodings:
        columns[one.place] = Column(columns[one.place].name, _EncodedReader(_numbers(columns[one.place]), one.values))
    return replace(table, columns=tuple(columns))


def _numbers(column: Column) -> Reader:
    if column.level_numbers is None:
        raise DataError(f"the column {column.name!r} has no levels")
    return column.level_numbers


def learn_encodings(
    schema: Schema, table: Table, places: Integers, y: Floats, weight: Floats | None, rows: Integers, seed: int
) -> tuple[tuple[Encoding, ...], Table]:
    """The numbers of the levels of some features from some rows, and the table for a training on these rows."""
    w = np.ones(len(rows)) if weight is None else weight[rows]
    gained = w * y[rows]
    middle = float(gained.sum() / max(w.sum(), np.finfo(np.float64).tiny))
    encodings, columns = [], list(table.columns)
    for place in places.tolist():
        column = columns[place]
        levels = _numbers(column)(0, table.n_rows)
        count = int(schema.level_counts[place]) + 1
        # Missing values are a level of their own, the last.
        own = np.where(levels[rows] < 0, count - 1, levels[rows]).astype(np.int64)
        total, size = np.bincount(own, gained, count), np.bincount(own, w, count)
        values = (total + SMOOTHING * middle) / (size + SMOOTHING)
        numbers = as_numbers(levels, values)
        order = permutation(key(seed, "encoding", place), len(rows))
        before, many = before_it(own[order], np.stack([gained[order], w[order]]))
        numbers[rows[order]] = (before + SMOOTHING * middle) / (many + SMOOTHING)
        encodings.append(Encoding(place, values))
        columns[place] = Column(column.name, KeptReader(numbers))
    return tuple(encodings), replace(table, columns=tuple(columns))


def before_it(levels: Integers, amounts: Floats) -> Floats:
    """For each row the sums of the amounts (a, n) of earlier rows of its level."""
    order = np.argsort(levels, kind="stable")
    together = levels[order]
    first = np.flatnonzero(np.append(True, together[1:] != together[:-1])) if len(together) else np.zeros(0, np.int64)
    sizes = np.diff(np.append(first, len(together)))
    out = np.empty_like(amounts)
    for place, some in enumerate(amounts):
        sums = np.cumsum(some[order]) - some[order]
        out[place, order] = sums - np.repeat(sums[first], sizes)
    return out
