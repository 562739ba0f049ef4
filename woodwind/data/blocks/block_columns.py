"""Columns of a table in blocks, read a block at a time: whoever reads rows of a `Table` reads those of a `BlockTable`.

The numbers themselves stand in the blocks where they were written with them. Otherwise there are codes: a number is then the upper edge of
its bin, and the last bin infinity. Trees whose thresholds are these edges find the same leaves by them.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.data.blocks.block_table import BlockTable
from woodwind.data.tables.categories import MOST_CODES
from woodwind.data.tables.fields import CategoryField, Field, StatisticsField
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import MISSING, CachedReader, Column, Reader, Table
from woodwind.data.tables.target_statistics import StatisticsReader


class BlockCache:
    """The blocks that were read last: threads that predict rows in their order read each block once."""

    def __init__(self, load: Callable[[int], NDArray[Any]], rows: Sequence[int], most: int) -> None:
        self._load, self._most = load, most
        self.ends = np.array([0, *accumulate(rows)], np.int64)
        self._lock, self._there = Lock(), OrderedDict[int, NDArray[Any]]()

    def block(self, number: int) -> NDArray[Any]:
        """A block; two threads that ask at once both read it."""
        with self._lock:
            if number in self._there:
                self._there.move_to_end(number)
                return self._there[number]
        found = self._load(number)
        with self._lock:
            self._there[number] = found
            while len(self._there) > self._most:
                self._there.popitem(last=False)
        return found

    def parts(self, begin: int, end: int) -> Iterator[tuple[NDArray[Any], int, int]]:
        """The blocks of rows begin to end, and which rows of each."""
        first = int(np.searchsorted(self.ends, begin, side="right")) - 1
        for number in range(first, len(self.ends) - 1):
            low, high = int(self.ends[number]), int(self.ends[number + 1])
            if low >= end:
                return
            yield self.block(number), max(begin - low, 0), min(end, high) - low


@dataclass(frozen=True, eq=False)
class BlockColumnReader:
    """Reads a column: `cells` takes those of some rows from a block."""

    cache: BlockCache
    cells: Callable[[NDArray[Any], int, int], NDArray[Any]]

    def __call__(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end."""
        found = [self.cells(*part) for part in self.cache.parts(begin, end)] or [self.cells(self.cache.block(0), 0, 0)]
        return found[0] if len(found) == 1 else np.concatenate(found)


@dataclass(frozen=True, eq=False)
class MappedReader:
    """Reads what numbers of categories stand for: missing ones, -1, find the last entry."""

    numbers: Reader
    of: NDArray[np.int32]

    def __call__(self, begin: int, end: int) -> NDArray[np.int32]:
        """Rows begin to end."""
        return np.asarray(self.of[self.numbers(begin, end)])


def table_of_blocks(blocks: BlockTable, threads: int = 1) -> Table:
    """All rows of a table in blocks, as columns that are read when they are asked for."""
    most = threads + 1
    stored = BlockCache(blocks.values, [one.rows for one in blocks.value_files], most) if blocks.value_files else None
    coded = BlockCache(blocks.codes, [one.rows for one in blocks.blocks], most) if stored is None else None
    columns: list[Column] = []
    for position, field in enumerate(blocks.schema.fields):
        for feature, name in zip(blocks.schema.features_of(position), field.features, strict=True):
            if not isinstance(field, CategoryField):
                columns.append(Column(name, _numbers_of(blocks, feature, stored, coded)))
                continue
            codes = np.append(field.categories.codes, np.int32(MISSING)).astype(np.int32)
            numbers = _category_numbers(blocks, feature, stored, coded)
            columns.append(Column(name, MappedReader(numbers, codes), field.categories.names, numbers))
    return Table(tuple(columns), blocks.n_rows, None, np.full(len(columns), -1, np.int64))


def _numbers_of(blocks: BlockTable, feature: int, stored: BlockCache | None, coded: BlockCache | None) -> Reader:
    """Reads numbers, or the upper edges of their bins."""
    if stored is not None:
        return BlockColumnReader(stored, lambda block, begin, end: block[feature, begin:end])
    assert coded is not None
    place, edges = int(blocks.layout.places[feature]), blocks.cuts.edges[feature]
    points = np.full(blocks.cuts.width, np.nan)
    points[: len(edges) + 1] = np.append(edges, np.inf)
    return BlockColumnReader(coded, lambda block, begin, end: points[block[begin:end, place]])


def _category_numbers(blocks: BlockTable, feature: int, stored: BlockCache | None, coded: BlockCache | None) -> Reader:
    """Reads the numbers of categories."""
    if stored is not None:
        return BlockColumnReader(stored, lambda block, begin, end: block[feature, begin:end].astype(np.int32))
    numbers = blocks.category_numbers(feature)
    if numbers is not None:
        return CachedReader(numbers)
    if blocks.schema.category_counts[feature] > MOST_CODES:
        raise DataError(f"BlockTable: {str(blocks.path)!r} was written before columns of many categories were stored whole. Write it anew.")
    assert coded is not None
    place, missing = int(blocks.layout.places[feature]), blocks.cuts.width - 1

    def cells(block: NDArray[Any], begin: int, end: int) -> NDArray[np.int32]:
        codes = block[begin:end, place].astype(np.int32)
        codes[codes == missing] = MISSING
        return codes

    return BlockColumnReader(coded, cells)


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
                        f"{owner}: the trees have thresholds of column {field.name!r} that are not edges of its bins in the blocks. Predict "
                        "blocks that the model was trained on, or write these with values=True."
                    )
            columns.append(column)
    return Table(tuple(columns), blocks.n_rows, None, np.full(len(columns), -1, np.int64))


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
    numbers = MappedReader(columns[0].category_numbers, np.append(found, np.int32(MISSING)))  # type: ignore[arg-type]
    if isinstance(field, StatisticsField):
        known = zip(field.features, field.statistics.means, strict=True)
        return [Column(name, StatisticsReader(numbers, means), None, numbers) for name, means in known]
    # Of numbers, -1 is missing and -2 unseen: positions counted from the end.
    codes = np.append(field.categories.codes, [-2, MISSING]).astype(np.int32)
    return [Column(field.name, MappedReader(numbers, codes), field.categories.names, numbers)]
