"""Columns of a table in blocks, read a block at a time: whoever reads rows of a `Table` reads those of a `BlockTable`.

The numbers themselves stand in the blocks where they were written with them. Otherwise there are codes: a number is then the upper edge of
its bin, and the last bin infinity. Trees whose thresholds are these edges find the same leaves by them.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, UnseenCategoryWarning
from woodwind.base.formatting import counted
from woodwind.base.notice import notice
from woodwind.data.blocks.block_files import StoredFile
from woodwind.data.blocks.block_table import BlockTable
from woodwind.data.tables.categories import MOST_CODES
from woodwind.data.tables.fields import CategoryField, Field, StatisticsField
from woodwind.data.tables.schema import PRIOR, STOPS, Schema
from woodwind.data.tables.table import MISSING, UNSEEN, CachedReader, Column, Reader, Table
from woodwind.data.tables.table_errors import listed
from woodwind.data.tables.target_statistics import StatisticsReader


class BlockCache:
    """The blocks of codes that were read last: threads that predict rows in their order read each block once."""

    def __init__(self, blocks: BlockTable, most: int) -> None:
        self._blocks, self._most = blocks, most
        self.ends = ends_of(blocks.blocks)
        self._lock, self._there = Lock(), OrderedDict[int, NDArray[np.uint8]]()

    def block(self, number: int) -> NDArray[np.uint8]:
        """A block; two threads that ask at once both read it."""
        with self._lock:
            if number in self._there:
                self._there.move_to_end(number)
                return self._there[number]
        found = self._blocks.codes(number)
        with self._lock:
            self._there[number] = found
            while len(self._there) > self._most:
                self._there.popitem(last=False)
        return found


def ends_of(files: Sequence[StoredFile]) -> NDArray[np.int64]:
    """Where the rows of each file end, from 0 on."""
    return np.array([0, *accumulate(one.rows for one in files)], np.int64)


@dataclass(frozen=True, eq=False)
class BlockColumnReader:
    """Reads a column: `cells` gives those of rows begin to end of a file."""

    ends: NDArray[np.int64]
    cells: Callable[[int, int, int], NDArray[Any]]

    def __call__(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end."""
        first = min(int(np.searchsorted(self.ends, begin, side="right")) - 1, len(self.ends) - 2)
        found: list[NDArray[Any]] = []
        number = first
        while not found or int(self.ends[number]) < end:
            low, high = int(self.ends[number]), int(self.ends[number + 1])
            found.append(self.cells(number, max(begin - low, 0), min(end, high) - low))
            number += 1
        return found[0] if len(found) == 1 else np.concatenate(found)


@dataclass(frozen=True, eq=False)
class MappedReader:
    """Reads what numbers of categories stand for: missing ones, -1, find the last entry."""

    numbers: Reader
    of: NDArray[np.int32]

    def __call__(self, begin: int, end: int) -> NDArray[np.int32]:
        """Rows begin to end."""
        return np.asarray(self.of[self.numbers(begin, end)])


# Rows that are looked at together where some of them are taken.
TAKEN_ROWS = 1 << 16


class BlockedColumns(Table):
    """A table whose columns are read from blocks."""

    def take(self, rows: NDArray[np.int64]) -> Table:
        """Some of the rows, in memory: each block is read once for all columns."""
        order = np.argsort(rows, kind="stable")
        ascending, back = rows[order], np.argsort(order, kind="stable")
        found: list[list[NDArray[Any]]] = [[] for _ in self.columns]
        numbers: list[list[NDArray[Any]]] = [[] for _ in self.columns]
        for stretch in np.unique(ascending // TAKEN_ROWS).tolist():
            begin, end = stretch * TAKEN_ROWS, min((stretch + 1) * TAKEN_ROWS, self.n_rows)
            some = ascending[np.searchsorted(ascending, begin) : np.searchsorted(ascending, end)] - begin
            for feature, column in enumerate(self.columns):
                found[feature].append(column.block(begin, end)[some])
                if column.category_numbers is not None:
                    numbers[feature].append(column.category_numbers(begin, end)[some])
        columns = []
        for column, own, of_categories in zip(self.columns, found, numbers, strict=True):
            known = CachedReader(np.concatenate(of_categories)[back]) if of_categories else None
            columns.append(Column(column.name, CachedReader(np.concatenate(own)[back]), column.categories, known))
        return Table(tuple(columns), len(rows), None, np.full(len(columns), -1, np.int64))


def table_of_blocks(blocks: BlockTable, threads: int = 1) -> Table:
    """All rows of a table in blocks, as columns that are read when they are asked for."""
    cache = BlockCache(blocks, threads + 1)
    columns: list[Column] = []
    for position, field in enumerate(blocks.schema.fields):
        for feature, name in zip(blocks.schema.features_of(position), field.features, strict=True):
            if not isinstance(field, CategoryField):
                columns.append(Column(name, _numbers_of(blocks, feature, cache)))
                continue
            codes = np.append(field.categories.codes, np.int32(MISSING)).astype(np.int32)
            numbers = _category_numbers(blocks, feature, cache)
            columns.append(Column(name, MappedReader(numbers, codes), field.categories.names, numbers))
    return BlockedColumns(tuple(columns), blocks.n_rows, None, np.full(len(columns), -1, np.int64))


def _numbers_of(blocks: BlockTable, feature: int, cache: BlockCache) -> Reader:
    """Reads numbers, or the upper edges of their bins."""
    if blocks.value_files:
        return BlockColumnReader(ends_of(blocks.value_files), lambda number, begin, end: blocks.cells(number, feature, begin, end))
    place, edges = int(blocks.layout.places[feature]), blocks.cuts.edges[feature]
    points = np.full(blocks.cuts.width, np.nan)
    points[: len(edges) + 1] = np.append(edges, np.inf)
    return BlockColumnReader(cache.ends, lambda number, begin, end: points[cache.block(number)[begin:end, place]])


def _category_numbers(blocks: BlockTable, feature: int, cache: BlockCache) -> Reader:
    """Reads the numbers of categories."""
    if blocks.value_files:
        ends = ends_of(blocks.value_files)
        return BlockColumnReader(ends, lambda number, begin, end: blocks.cells(number, feature, begin, end).astype(np.int32))
    numbers = blocks.category_numbers(feature)
    if numbers is not None:
        return CachedReader(numbers)
    if blocks.schema.category_counts[feature] > MOST_CODES:
        raise DataError(f"BlockTable: {str(blocks.path)!r} was written before columns of many categories were stored whole. Write it anew.")
    place, missing = int(blocks.layout.places[feature]), blocks.cuts.width - 1

    def cells(number: int, begin: int, end: int) -> NDArray[np.int32]:
        codes = cache.block(number)[begin:end, place].astype(np.int32)
        codes[codes == missing] = MISSING
        return codes

    return BlockColumnReader(cache.ends, cells)


def read_blocks(blocks: BlockTable, schema: Schema, owner: str, threads: int, thresholds: Sequence[NDArray[np.float64]] | None) -> Table:
    """The rows of a table in blocks as features of a model, columns by name.

    `thresholds` are those of each feature of the model, which have to be edges of bins where there are no numbers; None for a model that
    needs the numbers.
    """
    own = table_of_blocks(blocks, threads)
    where = {name: position for position, name in enumerate(blocks.schema.names or ())}
    absent = [field.name for field in schema.fields if field.name not in where]
    if absent:
        raise DataError(f"{owner}: the blocks have no column {absent[0]!r}, which the model was trained with. Write them with it.")
    if not blocks.value_files and thresholds is None:
        raise DataError(without_values(owner))
    columns: list[Column] = []
    for position, field in enumerate(schema.fields):
        other = blocks.schema.fields[where[field.name]]
        found = [own.columns[feature] for feature in blocks.schema.features_of(where[field.name])]
        made = _as_field(field, other, found)
        if made is None:
            raise DataError(
                f"{owner}: column {field.name!r} of the blocks is not what it was in training. Write them from a table like that one."
            )
        for feature, column in zip(schema.features_of(position), made, strict=True):
            if not blocks.value_files and not column.category and thresholds is not None and not isinstance(field, StatisticsField):
                edges = blocks.cuts.edges[blocks.schema.features_of(where[field.name])[feature - schema.features_of(position).start]]
                if not np.isin(thresholds[feature], np.append(edges, np.inf)).all():
                    raise DataError(
                        f"{owner}: the trees have thresholds of column {field.name!r} that are not edges of its bins in the blocks. "
                        "Predict blocks that the model was trained on, or write these with values=True."
                    )
            columns.append(column)
    return BlockedColumns(tuple(columns), blocks.n_rows, None, np.full(len(columns), -1, np.int64))


def without_values(owner: str) -> str:
    """What to say where numbers are needed, and there are codes alone."""
    return f"{owner}: the blocks have no numbers, only their bins. Write them with BlockTable.write(..., values=True)."


def _as_field(field: Field, other: Field, columns: Sequence[Column]) -> list[Column] | None:
    """Columns of a table in blocks as a field of a model reads them; None where they are something else."""
    if not isinstance(field, CategoryField | StatisticsField):
        return list(columns) if type(field) is type(other) and field.features == other.features else None
    if not isinstance(other, CategoryField) or field.categories.is_text != other.categories.is_text:
        return None
    found = field.categories.find(other.categories.values)
    if (found == UNSEEN).any():
        some = listed([other.categories.label(int(number)) for number in np.flatnonzero(found == UNSEEN)[:20]])
        words = PRIOR if isinstance(field, StatisticsField) else STOPS
        new = counted(int((found == UNSEEN).sum()), "category")
        notice(f"column {field.name!r} of the blocks has {new} that training never saw ({some}). {words}", UnseenCategoryWarning)
    numbers = MappedReader(columns[0].category_numbers, np.append(found, np.int32(MISSING)))  # type: ignore[arg-type]
    if isinstance(field, StatisticsField):
        known = zip(field.features, field.statistics.means, strict=True)
        return [Column(name, StatisticsReader(numbers, means), None, numbers) for name, means in known]
    # Of numbers, -1 is missing and -2 unseen: positions counted from the end.
    codes = np.append(field.categories.codes, [-2, MISSING]).astype(np.int32)
    return [Column(field.name, MappedReader(numbers, codes), field.categories.names, numbers)]
