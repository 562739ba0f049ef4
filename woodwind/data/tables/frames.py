"""Frames of pandas, polars and Arrow as raw columns, and the one door for every input."""

import hashlib
import io
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError
from narwhals.stable.v2.dependencies import is_into_series

from woodwind.base.errors import ParameterError
from woodwind.data.tables.arrays import column_of_array, column_of_objects, is_sparse, not_a_table, open_array, open_sparse
from woodwind.data.tables.categories import coded_by_dictionary
from woodwind.data.tables.convert import open_columns
from woodwind.data.tables.raw import Coded, LazyColumn, RawTable, SparseColumn, Values, are_beyond_doubles
from woodwind.data.tables.table_errors import listed, repeated_names, table_error

# Libraries whose frames are made of columns.
BACKENDS = ("pandas", "polars", "pyarrow")


def open_table(X: Any, absent: float = 0.0) -> RawTable:
    """Any input as columns. Raises when there are no rows or no columns, or when names are repeated.

    `absent` is what cells are that a sparse matrix does not store.
    """
    raw = open_sparse(X, absent) if is_sparse(X) else _open(X)
    if raw.n_rows == 0:
        raise table_error(
            "D004",
            f"Found array with 0 sample(s) (shape=(0, {raw.n_columns})) while a minimum of 1 is required.",
            "Nothing can be said about a table without rows.",
            "look at the step that made the table: a filter may have removed every row.",
        )
    if raw.n_columns == 0:
        raise table_error(
            "D005",
            f"Found array with 0 feature(s) (shape=({raw.n_rows}, 0)) while a minimum of 1 is required.",
            "There is nothing to learn from in a table without columns.",
            "look at the step that made the table: a selection may have removed every column.",
        )
    return raw


def _open(X: Any) -> RawTable:
    """Send the input to those who know its type."""
    if isinstance(X, (np.ndarray, list, tuple)):
        return open_array(X)
    if isinstance(X, pa.RecordBatch):
        X = pa.table(X)
    if is_into_series(X) or isinstance(X, (pa.Array, pa.ChunkedArray)):
        return open_array(np.asarray(X))  # one dimension: says so
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError:
        _names_of(X)
        raise
    if isinstance(frame, nw.LazyFrame):
        raise table_error(
            "D015",
            f"a lazy frame of type {type(X).__module__}.{type(X).__qualname__} was given.",
            "Its rows do not exist yet.",
            "call .collect() or .compute() on it first.",
        )
    if isinstance(frame, nw.DataFrame):
        return _open_frame(frame)
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        return _open_frame(nw.from_native(_arrow_table(X), eager_only=True))
    if hasattr(X, "__array__") or hasattr(X, "__len__"):
        return open_array(X)
    raise not_a_table(X)


def _arrow_table(X: Any) -> pa.Table:
    """A table from anything that speaks Arrow's C interface."""
    try:
        return pa.table(X) if hasattr(X, "__arrow_c_stream__") else pa.Table.from_batches([pa.record_batch(X)])
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise not_a_table(X) from error


def _open_frame(frame: "nw.DataFrame[Any]") -> RawTable:
    """The columns of an eager frame."""
    names = _names_of(frame.to_native())
    series = list(frame.iter_columns())
    return RawTable(len(frame), len(series), lambda position, label: _column_of(series[position], label), names)


def _names_of(native: Any) -> tuple[str, ...] | None:
    """The names of the columns as text; None when all of them are whole numbers, which are positions, not names."""
    given = list(native.columns) if not isinstance(native, pa.Table) else native.column_names
    names = tuple(name if isinstance(name, str) else str(name) for name in given)
    repeated = repeated_names(names)
    if repeated:
        raise table_error(
            "D006",
            f"column names are repeated: {listed(repeated)}.",
            "Columns are matched by name, so that each must have one of its own.",
            "rename or drop the columns that are given twice.",
        )
    if given and all(isinstance(name, (int, np.integer)) and not isinstance(name, bool) for name in given):
        return None
    return names


def _column_of(series: "nw.Series[Any]", label: str) -> Values:
    """One column of a frame: NumPy's own numbers as they are, categories with their order, the rest as Arrow."""
    native = series.to_native()
    try:
        if series.implementation.is_pandas_like():
            return _column_of_pandas(series, native, label)
        if series.dtype == nw.Object:
            return column_of_objects(np.asarray(native.to_list(), object), label)
        if series.dtype in (nw.Int128, nw.UInt128):
            return column_of_objects(np.asarray(native.to_list(), object), label)
        return _chunked(native if isinstance(native, pa.ChunkedArray) else series.to_arrow())
    except (pa.ArrowException, NotImplementedError) as error:
        raise table_error(
            "D017",
            f"{label}, of type {getattr(native, 'dtype', series.dtype)}, could not be read: {error}",
            "Its values are needed to make a feature of it.",
            "convert the column to numbers, text or dates, or drop it.",
        ) from error


def _column_of_pandas(series: "nw.Series[Any]", native: Any, label: str) -> Values:
    """One column of a frame of pandas, or of a library that does as pandas does."""
    dtype = native.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biufcO":
        return column_of_array(native.to_numpy(), label)
    kind = str(dtype)
    if kind == "category":
        return _coded_by_pandas(native)
    if kind.startswith("Sparse"):
        return LazyColumn(native)
    if kind.startswith("period"):
        return pa.chunked_array([pa.array(native.dt.to_timestamp())])
    return _chunked(series.to_arrow())


def _coded_by_pandas(native: Any) -> Coded:
    """A categorical column of pandas: its codes are already positions; categories that are neither text nor numbers go by their names."""
    categories = native.cat.categories
    as_array = categories.to_numpy()
    if as_array.dtype.kind in "biuf" and not are_beyond_doubles(as_array):
        return Coded(native.cat.codes.to_numpy(), as_array.astype(np.float64), ordered=True)
    dictionary = pa.array([str(category) for category in categories], pa.large_string())
    return coded_by_dictionary(native.cat.codes.to_numpy(), dictionary, ordered=True)


def _chunked(arrow: Any) -> pa.ChunkedArray:
    """The same as a chunked array."""
    return arrow if isinstance(arrow, pa.ChunkedArray) else pa.chunked_array([arrow])


# ----------------------------------------------------------------------------------------------------
# Any table as an Arrow table, for whoever looks at its columns one by one: what the report predicts for the data.


def as_arrow(X: Any) -> pa.Table:
    """The same table in Arrow; columns without names are called x0, x1 and so on."""
    if isinstance(X, pa.Table):
        return X
    raw = open_table(X)
    names = raw.names or tuple(f"x{position}" for position in range(raw.n_columns))
    return pa.table({name: _column(column.values) for name, column in zip(names, open_columns(raw, check=False), strict=True)})


def _column(values: Values) -> Any:
    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, Coded):
        dictionary = values.dictionary if isinstance(values.dictionary, pa.Array) else pa.array(values.dictionary)
        positions = pa.array(values.positions.astype(np.int32), mask=values.positions < 0)
        return pa.DictionaryArray.from_arrays(positions, dictionary)
    dense = values.dense() if isinstance(values, SparseColumn | LazyColumn) else values
    return pa.array(np.ascontiguousarray(dense))


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of Arrow one below another."""
    return pa.concat_tables(tables, promote_options="permissive")


def fingerprint(X: Any) -> str:
    """A digest of every value of a table, of its types and of its names: another one as soon as anything differs."""
    total = _Hashed()
    table = as_arrow(X).combine_chunks()
    with pa.ipc.new_stream(pa.PythonFile(total, mode="w"), table.schema) as stream:
        stream.write_table(table)
    return total.digest.hexdigest()


class _Hashed(io.RawIOBase):
    """A file that keeps nothing of what is written to it but a digest."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Take bytes in."""
        self.digest.update(data)
        return memoryview(data).nbytes


def frame_of(columns: dict[str, Any], backend: str, owner: str) -> Any:
    """Columns as a frame of another library: 'pandas', 'polars' or 'pyarrow'."""
    if backend not in BACKENDS:
        raise ParameterError(f"{owner}: backend must be one of {', '.join(map(repr, BACKENDS))}, but it is {backend!r}.")
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ModuleNotFoundError as error:
        raise ParameterError(
            f"{owner}: {backend} is not installed. Install it with: pip install {backend}, or give backend='pyarrow', which is there."
        ) from error
