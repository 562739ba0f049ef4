"""Raw columns as what a field wants: numbers, categories, or points in time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from woodwind.base.errors import ColumnTypeError
from woodwind.data.tables.categories import code_numbers, code_text, take
from woodwind.data.tables.dates import is_moment
from woodwind.data.tables.raw import Coded, LazyColumn, RawColumn, RawTable, SparseColumn, Values, are_beyond_doubles, label_of
from woodwind.data.tables.table import ArrayReader, Reader, SparseReader, as_numbers
from woodwind.data.tables.table_errors import LEAVE_OUT, NO_FEATURE, listed, table_error
from woodwind.data.tables.text_types import written_moments

# Rows among which cells are looked for that an error names.
SEARCHED = 1000
# Columns that one error names.
MOST_NAMED = 10

NUMBER, CATEGORY, MOMENT, CLOCK, SPAN, EMPTY = "number", "category", "date", "time of day", "duration", "empty"


def kind_of(column: RawColumn) -> str:
    """Which kind of feature a column makes; an error for one that makes none."""
    values = column.values
    if isinstance(values, Coded):
        return CATEGORY
    if not isinstance(values, pa.ChunkedArray):
        return NUMBER
    kind = plain(values).type
    tests = {
        EMPTY: pa.types.is_null,
        NUMBER: _is_numeric,
        CATEGORY: _has_categories,
        MOMENT: is_moment,
        CLOCK: pa.types.is_time,
        SPAN: pa.types.is_duration,
    }
    for answer, is_such in tests.items():
        if is_such(kind):
            return answer
    raise table_error(
        "D011",
        f"{column.label} is of type {kind}.",
        NO_FEATURE,
        LEAVE_OUT,
    )


def open_columns(raw: RawTable, check: bool = True) -> list[RawColumn]:
    """All columns of a table; those that no feature can be made of, or that cannot be opened as such, are named together in one error."""
    opened, refused, first = [], [], None
    for position in range(raw.n_columns):
        try:
            opened.append(raw.column(position))
            if check:
                kind_of(opened[-1])
        except ColumnTypeError as error:
            refused.append(label_of(position, None if raw.names is None else raw.names[position]))
            first = first or error
    if first is not None and len(refused) > 1:
        more = ", ".join(refused[1:MOST_NAMED]) + (f" and {len(refused) - MOST_NAMED:,} more" if len(refused) > MOST_NAMED else "")
        what, *rest = str(first).split("\n")
        raise ColumnTypeError("\n".join([f"{what} The same goes for {more}.", *rest])) from first
    if first is not None:
        raise first
    return opened


def _is_numeric(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _has_categories(kind: pa.DataType) -> bool:
    if not pa.types.is_dictionary(kind):
        return _is_text(kind)
    category = kind.value_type
    return _is_text(category) or _is_numeric(category) or is_moment(category) or bool(pa.types.is_null(category))


def unwrapped(column: RawColumn) -> Values:
    """The values of a column, without the types of Arrow that only say how they are stored."""
    return plain(column.values) if isinstance(column.values, pa.ChunkedArray) else column.values


def plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same without the types that only say how values are stored."""
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(pa.chunked_array([chunk.storage for chunk in values.chunks], kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        return plain(pa.chunked_array([pa.compute.run_end_decode(chunk) for chunk in values.chunks], kind.value_type))
    if pa.types.is_string_view(kind):
        return values.cast(pa.large_string())
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        wanted = pa.dictionary(kind.index_type, pa.large_string(), kind.ordered)
        categories = [chunk.dictionary.cast(pa.large_string()) for chunk in values.chunks]
        pairs = zip(values.chunks, categories, strict=True)
        return pa.chunked_array([pa.DictionaryArray.from_arrays(one.indices, own, ordered=kind.ordered) for one, own in pairs], wanted)
    return values


@dataclass(frozen=True, eq=False)
class ArrowReader:
    """Numbers, decimals and truth values of Arrow; the size of float is that of the type, whatever block is read."""

    values: pa.ChunkedArray

    def __call__(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end."""
        kind = self.values.type
        block = self.values.slice(begin, end - begin)
        if pa.types.is_boolean(kind):
            block = block.cast(pa.uint8())
        elif pa.types.is_decimal(kind):
            block = block.cast(pa.float64())
        small = kind.bit_width <= (32 if pa.types.is_floating(kind) else 16)
        array = block.chunk(0) if block.num_chunks == 1 else block
        read = array.to_numpy(zero_copy_only=False) if isinstance(array, pa.Array) else array.to_numpy()
        return np.asarray(read.astype(np.float32 if small else np.float64, copy=False))


@dataclass(frozen=True, eq=False)
class LazyReader:
    """A column of a frame that becomes an array as it is read."""

    column: LazyColumn

    def __call__(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end."""
        return as_numbers(np.asarray(self.column.native.iloc[begin:end]))


@dataclass(frozen=True, eq=False)
class IndexReader:
    """Numbers that came as positions in a list of numbers; a missing position finds the NaN at its end."""

    coded: Coded

    def __call__(self, begin: int, end: int) -> NDArray[np.float64]:
        """Rows begin to end."""
        return np.asarray(np.append(self.coded.dictionary, np.nan)[self.coded.positions[begin:end]])


@dataclass(frozen=True, eq=False)
class MissingReader:
    """A column of missing values only."""

    def __call__(self, begin: int, end: int) -> NDArray[np.float32]:
        """Rows begin to end."""
        return np.full(end - begin, np.nan, np.float32)


def number_reader(column: RawColumn) -> Reader:
    """A reader of the column's numbers; text is converted when all of it says numbers."""
    values = column.values
    if isinstance(values, np.ndarray):
        return ArrayReader(values)
    if isinstance(values, SparseColumn):
        return SparseReader(values.matrix, values.position)
    if isinstance(values, LazyColumn):
        return LazyReader(values)
    if isinstance(values, pa.ChunkedArray):
        values = plain(values)
        if pa.types.is_null(values.type):
            return MissingReader()
        if _is_numeric(values.type):
            return ArrowReader(values)
        if kind_of(column) != CATEGORY:
            raise changed(column, NUMBER)
        values = code_text(values)
    return IndexReader(_as_number_categories(values, column))


def coded_column(column: RawColumn, text: bool | None = None) -> Coded:
    """The column as positions in a list of categories: of text or of numbers as asked, or as they are."""
    values = column.values
    if isinstance(values, pa.ChunkedArray):
        values = plain(values)
        kind = kind_of(column)
        if kind == EMPTY:
            coded = code_text(values.cast(pa.large_string()))
        elif kind == NUMBER and not are_beyond_doubles(values):
            coded = code_numbers(number_reader(column)(0, len(values)))
        else:
            coded = code_text(values if kind in (CATEGORY, NUMBER) else values.cast(pa.large_string()))
    elif isinstance(values, Coded):
        coded = values
    elif are_beyond_doubles(values):
        dense = values if isinstance(values, np.ndarray) else values.dense()
        coded = code_text(pa.chunked_array([pa.array(dense.astype(dense.dtype.newbyteorder("=")))]))
    else:
        n = values.n_rows if isinstance(values, SparseColumn) else len(values)
        coded = code_numbers(number_reader(column)(0, n))
    if text is None or text == (not isinstance(coded.dictionary, np.ndarray)):
        return coded
    return _as_text_categories(coded) if text else _as_number_categories(coded, column)


def _as_text_categories(coded: Coded) -> Coded:
    """Categories that are numbers as text, whole ones without a point: 7, not 7.0."""
    names = [str(int(value)) if float(value).is_integer() else repr(float(value)) for value in coded.dictionary]
    return Coded(coded.positions, pa.array(names, pa.large_string()), coded.ordered)


def _as_number_categories(coded: Coded, column: RawColumn) -> Coded:
    """Categories that are text as numbers; an error names those that are none."""
    if isinstance(coded.dictionary, np.ndarray):
        return coded
    numbers = np.empty(len(coded.dictionary), np.float64)
    bad = []
    used = np.zeros(len(coded.dictionary) + 1, np.bool_)
    used[coded.positions] = True
    for position, value in enumerate(coded.dictionary.to_pylist()):
        try:
            numbers[position] = float(value)
        except ValueError:
            numbers[position] = np.nan
            bad += [position] if used[position] else []
    if bad:
        row = int(np.flatnonzero(np.isin(coded.positions, bad))[0])
        raise changed(column, NUMBER, f" ({listed(take(coded.dictionary, np.array(bad)).to_pylist())}, first in row {row + 1:,})")
    return Coded(coded.positions, numbers, ordered=False)


def moments(column: RawColumn, kind: str, zone: str | None = None) -> pa.ChunkedArray:
    """The column as dates, times of day or durations, as asked; text is converted by the rules by which text files are read."""
    values = column.values
    found = kind_of(column)
    if isinstance(values, pa.ChunkedArray):
        values = plain(values)
        if found == EMPTY:
            return values.cast({MOMENT: pa.timestamp("us"), CLOCK: pa.time64("us"), SPAN: pa.duration("us")}[kind])
        if kind in (MOMENT, CLOCK) and found == CATEGORY and _is_text(values.type):
            values, found = _parsed(values, column, kind), kind
        if found == kind:
            moved = pa.types.is_timestamp(values.type) and values.type.tz != zone
            return values.cast(pa.timestamp(values.type.unit, zone)) if moved else values
    raise changed(column, kind)


def _parsed(values: pa.ChunkedArray, column: RawColumn, kind: str) -> pa.ChunkedArray:
    """Dates or times of day written as text, as they may be written in a file."""
    found, doubt = written_moments(values)
    if found is None or pa.types.is_time(found.type) != (kind == CLOCK):
        why = ", where day and month cannot be told apart" if doubt else ""
        raise changed(column, kind, f", such as {listed(_odd_cells(values))}{why}")
    return found


def _odd_cells(values: pa.ChunkedArray) -> list[str]:
    """Cells among the first that are no dates even alone; if there are none, any."""
    some = [cell for cell in values.slice(0, SEARCHED).drop_null().unique().to_pylist() if cell.strip()]
    return [cell for cell in some if written_moments(pa.chunked_array([[cell]], pa.string())) == (None, "")] or some


def changed(column: RawColumn, wanted: str, detail: str = "") -> Exception:
    """The error for a column that is of another kind than in training."""
    article = "a category of text" if kind_of(column) == CATEGORY else f"a {kind_of(column)}"
    return table_error(
        "D014",
        f"{column.label} was a {wanted} in training and is {article} now{detail}.",
        "The splits of the model compare it with what training saw.",
        "convert the column to the type it had in training" + ("; 2026-01-31 is read everywhere." if wanted == MOMENT else "."),
    )
