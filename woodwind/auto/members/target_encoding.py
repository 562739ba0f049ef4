"""Target encoding: how large the target is, on average, in rows of the same category.

A column of thousands of categories, such as the number of an aircraft or a postcode, says little to a tree that parts sets of categories,
but much by what is known of the target at each. The danger is a row that finds its own target in its number. So the rows that are trained
on stand in a drawn order, and each is given the mean of those before it (ordered target statistics: Prokhorenkova et al. 2018, "CatBoost");
all other rows are given the mean of all that are learned, as rows to come will be.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.view import View
from woodwind.base.errors import DataError
from woodwind.base.random_streams import key, permutation
from woodwind.base.validate import require
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import CachedReader, Column, Reader, Table
from woodwind.tree.forest import Forest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rows of the mean of all that are added to those of each category.
SMOOTHING = 3.0


@dataclass(frozen=True, eq=False)
class Encoding:
    """The number of each category of one feature."""

    position: int  # of the feature
    values: Floats  # (categories + 1,) the last one is that of missing values

    def check(self) -> "Encoding":
        """Raise DataError where something does not fit."""
        require(self.position >= 0 and self.values.ndim == 1 and self.values.size > 0, "the numbers of categories have an impossible shape")
        require(np.isfinite(self.values), "the number of a category is not finite")
        return self


@dataclass(frozen=True)
class _EncodedReader:
    """Reads categories as their numbers. Those that training never saw have none: a walk stops where it meets one."""

    numbers: Reader
    values: Floats

    def __call__(self, begin: int, end: int) -> Floats:
        """Rows begin to end."""
        return as_numbers(self.numbers(begin, end), self.values)


def as_numbers(categories: NDArray[Any], values: Floats) -> Floats:
    """The value of each category; MISSING, -1, finds the last one, and what is UNSEEN is not a number."""
    return np.where(categories < -1, np.nan, values[np.maximum(categories, -1)])


@dataclass(frozen=True, eq=False)
class EncodedMember:
    """Boosted trees over a table some of whose categories are numbers."""

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
        positions = [one.position for one in self.encodings]
        require(len(set(positions)) == len(positions), "a feature has two encodings")
        require(max(positions, default=-1) < self.forest.n_features, "a feature that is encoded is not there")
        require(self.forest.set_words[positions] == 0, "categories that are numbers are parted as categories")
        self.forest.check()
        return self

    def check_for(self, schema: Schema, form: MatrixForm) -> None:
        """Raise DataError unless it reads tables of this schema."""
        del form
        counts = schema.code_counts.copy()
        require(self.forest.n_features == len(counts), "trees read another number of features than there are")
        positions = [one.position for one in self.encodings]
        counts[positions] = 0
        require(self.forest.set_words == -(-counts // 64), "trees part categories that are not those of the columns")
        categories = [one.values.size - 1 for one in self.encodings]
        require(schema.category_counts[positions] == categories, "categories have another number of values than the schema has categories")


def encodable(schema: Schema, least_categories: int) -> Integers:
    """Features of so many categories."""
    return np.flatnonzero(schema.category_counts >= max(least_categories, 1))


def encoded(table: Table, encodings: tuple[Encoding, ...]) -> Table:
    """The table with numbers for categories."""
    columns = list(table.columns)
    for one in encodings:
        columns[one.position] = Column(columns[one.position].name, _EncodedReader(_numbers(columns[one.position]), one.values))
    return replace(table, columns=tuple(columns))


def _numbers(column: Column) -> Reader:
    if column.category_numbers is None:
        raise DataError(f"the column {column.name!r} has no categories")
    return column.category_numbers


def learn_encodings(
    schema: Schema, table: Table, positions: Integers, y: Floats, weight: Floats | None, rows: Integers, seed: int
) -> tuple[tuple[Encoding, ...], Table]:
    """The numbers of the categories of some features from some rows, and the table for a training on these rows."""
    w = np.ones(len(rows)) if weight is None else weight[rows]
    gained = w * y[rows]
    middle = float(gained.sum() / max(w.sum(), np.finfo(np.float64).tiny))
    encodings, columns = [], list(table.columns)
    for position in positions.tolist():
        column = columns[position]
        categories = _numbers(column)(0, table.n_rows)
        count = int(schema.category_counts[position]) + 1
        # Missing values are a category of their own, the last.
        own = np.where(categories[rows] < 0, count - 1, categories[rows]).astype(np.int64)
        total, size = np.bincount(own, gained, count), np.bincount(own, w, count)
        values = (total + SMOOTHING * middle) / (size + SMOOTHING)
        numbers = as_numbers(categories, values)
        order = permutation(key(seed, "encoding", position), len(rows))
        before, many = before_it(own[order], np.stack([gained[order], w[order]]))
        numbers[rows[order]] = (before + SMOOTHING * middle) / (many + SMOOTHING)
        encodings.append(Encoding(position, values))
        columns[position] = Column(column.name, CachedReader(numbers))
    return tuple(encodings), replace(table, columns=tuple(columns))


def before_it(categories: Integers, amounts: Floats) -> Floats:
    """For each row the sums of the amounts (a, n) of earlier rows of its category."""
    order = np.argsort(categories, kind="stable")
    together = categories[order]
    first = np.flatnonzero(np.append(True, together[1:] != together[:-1])) if len(together) else np.zeros(0, np.int64)
    sizes = np.diff(np.append(first, len(together)))
    out = np.empty_like(amounts)
    for position, some in enumerate(amounts):
        sums = np.cumsum(some[order]) - some[order]
        out[position, order] = sums - np.repeat(sums[first], sizes)
    return out
