"""The record of a suspicion, and the view of a table that the checks look at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from woodwind.base.random_streams import hashes, key
from woodwind.data.quality.text_contents import NUMBERS, TextContents, held
from woodwind.data.tables.convert import plain
from woodwind.data.tables.dates import is_moment, seconds

NUMBER, TEXT, DATE, TRUTH = "number", "text", "date", "boolean"
SEVERITIES = ("serious", "warning", "info")
# Columns that are looked at between two looks at the clock.
STRIDE = 32


@dataclass(frozen=True)
class Suspicion:
    """Something about the data that its owner should look at."""

    kind: str  # one word or two, always the same for the same thing
    columns: tuple[str, ...]  # which columns it is about; none for rows and for the target
    words: str  # a sentence or two: what was seen, why it matters, what to do
    severity: str  # "serious", "warning" or "info"


@dataclass(frozen=True, eq=False)
class ColumnView:
    """A column as codes: positions in the list of its values, in the order of their first appearance."""

    name: str
    kind: str
    codes: NDArray[np.int64]  # -1 where missing
    categories: pa.Array  # the value of each code

    @property
    def n_categories(self) -> int:
        """Number of different values."""
        return len(self.categories)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many rows each value has."""
        return np.bincount(self.codes[self.codes >= 0], minlength=self.n_categories)

    @cached_property
    def n_missing(self) -> int:
        """Rows without a value."""
        return int((self.codes < 0).sum())

    @cached_property
    def category_numbers(self) -> NDArray[np.float64]:
        """The values as numbers; for text their positions."""
        if self.kind == TEXT:
            return np.arange(self.n_categories, dtype=np.float64)
        if self.kind == DATE:
            return seconds(pa.chunked_array([self.categories]))
        values = self.categories.cast(pa.uint8()) if self.kind == TRUTH else self.categories
        return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))

    @cached_property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.kind == NUMBER and bool((self.category_numbers == np.round(self.category_numbers)).all())

    @cached_property
    def held(self) -> TextContents | None:
        """What text really holds: numbers, numbers with units, or dates; None for words, and for what is no text."""
        return held(self.categories, self.counts) if self.kind == TEXT else None

    @cached_property
    def category_sizes(self) -> NDArray[np.float64] | None:
        """The values as the numbers that they are or that they are written as; None for all else."""
        if self.kind == TEXT and self.held is not None and self.held.what == NUMBERS:
            return np.asarray(pc.utf8_trim_whitespace(self.categories).cast(pa.float64()).to_numpy(zero_copy_only=False))
        return self.category_numbers if self.kind == NUMBER else None

    def shown(self, position: int) -> str:
        """One value, short enough for a sentence."""
        value = self.categories[position : position + 1]
        # Python has no dates of the year 5,881,580, and none of nanoseconds: Arrow can write all of them.
        text = str((value.cast(pa.string()) if self.kind == DATE else value)[0].as_py())
        text = repr(text) if self.kind == TEXT else text
        return text if len(text) <= 40 else text[:37] + "..."


@dataclass(eq=False)
class TableView:
    """A table and its target, or a sample of their rows, as those see them who look for suspicions."""

    table: pa.Table
    target: str | None  # the name of a column that is not looked at
    y: NDArray[Any]  # class numbers or numbers
    is_class: bool
    rows: NDArray[np.int64]  # the rows that are looked at
    is_grouped: bool  # whether groups are known already
    is_ordered: bool  # whether the order in time is
    is_time: Callable[[], bool]
    columns: list[ColumnView] = field(default_factory=list, init=False)  # those that somebody has looked at
    opened: int = field(default=0, init=False)  # columns of the table up to there
    left_out: int = field(default=0, init=False)  # columns that whoever looked last had no time for

    def each_column(self) -> Iterator[ColumnView]:
        """One column after another, as long as there is time."""
        self.left_out = position = 0
        while position < len(self.columns) or self._open():
            if position % STRIDE == 0 and not self.is_time():
                self.left_out = self.table.num_columns - self.opened + len(self.columns) - position
                return
            yield self.columns[position]
            position += 1

    def _open(self) -> bool:
        """Bring in the next column that something can be said about, if there is one."""
        while self.opened < self.table.num_columns:
            name, values = self.table.field(self.opened).name, self.table.column(self.opened)
            self.opened += 1
            found = None if name == self.target else _column(name, values if self.n == self.n_rows else values.take(pa.array(self.rows)))
            if found is not None:
                self.columns.append(found)
                return True
        return False

    @property
    def n_rows(self) -> int:
        """Rows of the whole table."""
        return int(self.table.num_rows)

    @property
    def n(self) -> int:
        """Rows that are looked at."""
        return int(self.rows.size)

    @property
    def sampled(self) -> str:
        """How to say that not all rows were looked at."""
        return "" if self.n == self.n_rows else f" (of {self.n:,} rows drawn from {self.n_rows:,})"

    @cached_property
    def fold(self) -> NDArray[np.bool_]:
        """Half of the rows, drawn by key."""
        drawn = hashes(key(0, "suspicions", "fold"), self.n_rows)[self.rows]
        return np.asarray(drawn >> np.uint64(63), np.bool_)

    @cached_property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1 if self.is_class and self.y.size else 0


def look(
    table: pa.Table,
    target: str | None,
    y: NDArray[Any],
    is_class: bool,
    most_rows: int,
    known: tuple[bool, bool],
    is_time: Callable[[], bool],
) -> TableView:
    """A table but its target, of all rows or of as many as are to be looked at, drawn by key.

    `known` says whether groups are known already, and the order in time.
    """
    n = table.num_rows
    rows = np.arange(n)
    if n > most_rows:
        drawn = hashes(key(0, "suspicions", "rows"), n)
        rows = np.sort(np.argpartition(drawn, most_rows)[:most_rows])
    return TableView(table, target, y[rows], is_class, rows, *known, is_time)


def _column(name: str, column: pa.ChunkedArray) -> ColumnView | None:
    """A column as codes; None for those that nothing is said about."""
    values = plain(column)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_string(values.type):  # text of one type, whatever wrote the table
        values = values.cast(pa.large_string())
    kind = _kind(values.type)
    if kind is None:
        return None
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    whole = values.combine_chunks()
    coded = (pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole).dictionary_encode()
    codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return ColumnView(name, kind, codes, coded.dictionary)


def _kind(kind: pa.DataType) -> str | None:
    """The kind of a column; None for those that nothing is said about."""
    if pa.types.is_boolean(kind):
        return TRUTH
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return NUMBER
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return TEXT
    return DATE if is_moment(kind) else None
