"""NumPy arrays, nested lists and SciPy's sparse matrices as raw columns."""

import datetime as dt
import decimal
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from woodwind.data.tables.raw import EXACT, RawTable, SparseColumn, Values, are_beyond_doubles, warn_of_precision
from woodwind.data.tables.table import SparseMatrix
from woodwind.data.tables.table_errors import LEAVE_OUT, NO_FEATURE, listed, table_error

# ----------------------------------------------------------------------------------------------------
# Columns of Python objects: what do they really hold?


_KINDS = ("missing", "number", "text", "date", "time of day", "duration", "other")
_MISSING, _NUMBER, _TEXT, _DATE, _CLOCK, _SPAN, _OTHER = range(7)


def column_of_objects(values: NDArray[np.object_], label: str) -> NDArray[np.float64] | pa.ChunkedArray:
    """Numbers as float64 or Arrow, anything else as Arrow; a mixture is an error that names the first rows that differ."""
    quick = _as_arrow(values)
    if quick is not None:
        return quick
    kinds = _kinds_of(values)
    present = np.unique(kinds[kinds != _MISSING])
    if present.size > 1 or (present.size == 1 and present[0] == _OTHER):
        raise _mixture(values, kinds, label)
    if present.size == 0:
        return pa.chunked_array([pa.nulls(values.size)])
    if present[0] == _NUMBER:
        out = np.full(values.size, np.nan)
        some = np.flatnonzero(kinds == _NUMBER)
        if any(isinstance(value, int) and abs(value) > EXACT for value in values[some]):
            whole = _as_decimals(values, kinds)
            if whole is not None:
                return whole
            warn_of_precision([label])
        out[some] = [_as_float(value) for value in values[some]]
        return out
    cleaned = values.copy()
    cleaned[kinds == _MISSING] = None
    try:
        array = pa.array(cleaned, from_pandas=True, type=pa.large_string() if present[0] == _TEXT else None)
    except (pa.ArrowException, UnicodeError, ValueError, TypeError, OverflowError) as error:
        raise table_error(
            "D017",
            f"{label} could not be read as {_KINDS[present[0]]}: {error}",
            "A feature needs values that can be compared.",
            "convert the column to one type, for example with .astype(...).",
        ) from error
    return pa.chunked_array([array])


def _as_decimals(values: NDArray[np.object_], kinds: NDArray[np.int8]) -> pa.ChunkedArray | None:
    """Whole numbers of more than 64 bits as they are; None where some are not whole, or have more than 76 digits."""
    there = [None if kind == _MISSING else value for kind, value in zip(kinds.tolist(), values, strict=True)]
    if not all(value is None or isinstance(value, numbers.Integral) for value in there):
        return None
    try:
        return pa.chunked_array([pa.array([None if value is None else int(value) for value in there], pa.decimal256(76, 0))])
    except (pa.ArrowException, OverflowError, ValueError):
        return None


def _as_arrow(values: NDArray[np.object_]) -> pa.ChunkedArray | None:
    """What Arrow makes of the objects, at a tenth of the cost of looking at each, or None where it is not sure."""
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, UnicodeError, ValueError, TypeError, OverflowError):
        return None
    # Not for times: Arrow takes a bare number among them for a number of microseconds.
    sure = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null, pa.types.is_string)
    return pa.chunked_array([array]) if any(is_such(array.type) for is_such in sure) else None


def _kinds_of(values: NDArray[np.object_]) -> NDArray[np.int8]:
    """The kind of every value; the type decides, except for the markers of missing values."""
    known: dict[type, int] = {}
    kinds = np.empty(values.size, np.int8)
    for position, value in enumerate(values):
        kind = known.get(type(value))
        if kind is None:
            kind = known[type(value)] = _kind_of_type(type(value))
        # NaN, NaT and decimal's NaN are of the types of numbers and dates, and differ from themselves.
        kinds[position] = _MISSING if kind in (_NUMBER, _DATE, _SPAN) and _differs_from_itself(value) else kind
    return kinds


_TYPES: tuple[tuple[int, tuple[type, ...]], ...] = (
    (_TEXT, (str,)),
    (_SPAN, (dt.timedelta, np.timedelta64)),  # before numbers: NumPy's durations count as whole numbers
    (_NUMBER, (numbers.Real, decimal.Decimal, np.bool_)),
    (_DATE, (dt.date, np.datetime64)),
    (_CLOCK, (dt.time,)),
)


def _kind_of_type(given: type) -> int:
    """Which kind of value a Python type is."""
    if given is type(None) or given.__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return _MISSING
    return next((kind for kind, types in _TYPES if issubclass(given, types)), _OTHER)


def _as_float(value: Any) -> float:
    """A number of any type as a float; a whole number beyond the largest float is infinite."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _differs_from_itself(value: Any) -> bool:
    """Whether a value is one of those that mark absence by being unequal to themselves."""
    return bool(value != value)  # noqa: PLR0124


def _mixture(values: NDArray[np.object_], kinds: NDArray[np.int8], label: str) -> Exception:
    """The error for a column whose values are of several kinds, or of one that is no feature."""
    others = np.flatnonzero(kinds == _OTHER)
    if others.size:
        types = sorted({type(values[row]).__name__ for row in others[:1000]})
        return table_error(
            "D011",
            f"{label} holds values of type {listed(types)}, first in row {others[0] + 1:,}: {listed([values[others[0]]])}.",
            NO_FEATURE,
            LEAVE_OUT,
        )
    held, counts = np.unique(kinds[kinds != _MISSING], return_counts=True)
    common, rare = held[np.argmax(counts)], held[np.argmin(counts)] if counts.min() < counts.max() else held[-1]
    odd = np.flatnonzero(kinds == rare)
    return table_error(
        "D010",
        f"{label} mixes kinds of values: {_KINDS[common]} in most rows, {_KINDS[rare]} in {odd.size:,} "
        f"(rows {listed(odd + 1)}: {listed(values[odd[:3]])}).",
        "Numbers are ordered and text is not, so that the two cannot be one feature.",
        "convert the column to one type: .astype(str) makes categories of it, pandas.to_numeric(..., errors='coerce') numbers.",
    )


_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample."
)

_TABLES = "give a NumPy array, a SciPy sparse matrix, a frame of pandas or polars, an Arrow table, or a list of rows."


def open_array(X: Any) -> RawTable:
    """An array, or anything that NumPy can make one of, as columns; numbers are not copied."""
    array = _as_array(X)
    if array.dtype.names is not None:
        raise table_error(
            "D008",
            f"a structured array with the fields {', '.join(array.dtype.names)} was given.",
            "Its rows are records, which have no second dimension.",
            "give pandas.DataFrame(array), or numpy.lib.recfunctions.structured_to_unstructured(array).",
        )
    check_dimensions(array)
    if array.dtype.kind == "c":
        raise table_error(
            "D007",
            f"Complex data not supported: the array is of type {array.dtype}.",
            "Complex numbers have no order to split by.",
            "give the real and the imaginary part, or size and angle, as columns of their own.",
        )
    matrix = array if array.dtype.kind in "biuf" else None
    n_rows, n_columns = array.shape
    return RawTable(n_rows, n_columns, lambda position, label: column_of_array(array[:, position], label), matrix=matrix)


def column_of_array(values: NDArray[Any], label: str) -> Values:
    """One column of any type that NumPy has."""
    kind = values.dtype.kind
    if kind in "biuf":
        return values
    if kind == "O":
        return column_of_objects(values, label)
    if kind == "c":
        raise table_error(
            "D007",
            f"Complex data not supported: {label} is of type {values.dtype}.",
            "Complex numbers have no order to split by.",
            "give the real and the imaginary part, or size and angle, as columns of their own.",
        )
    if kind in "UT":
        return column_of_objects(values.astype(object), label)
    if kind in "Mm" and np.datetime_data(values.dtype)[0] in ("D", "s", "ms", "us", "ns"):
        return pa.chunked_array([pa.array(np.ascontiguousarray(values))])
    if kind in "Mm" and np.datetime_data(values.dtype)[0] in ("Y", "M", "W", "h", "m", "generic"):
        return pa.chunked_array([pa.array(values.astype(f"{kind}8[s]"))])
    raise table_error(
        "D011",
        f"{label} is of type {values.dtype}.",
        "A feature is made of numbers, text, dates or truth values: each argument must be a string or a number.",
        "decode bytes with numpy.char.decode, or convert the column with .astype(...).",
    )


def check_dimensions(array: NDArray[Any]) -> None:
    """Raise unless the array has two dimensions."""
    if array.ndim == 2:
        return
    if array.ndim == 1:
        raise table_error(
            "D002", f"Expected 2D array, got 1D array instead: array={_shown(array)}.", "A table has rows and columns.", _RESHAPE
        )
    if array.ndim == 0:
        raise table_error(
            "D003", f"Expected 2D array, got scalar array instead: {_shown(array)}.", "A table has rows and columns.", _RESHAPE
        )
    raise table_error(
        "D003",
        f"Found array with dim {array.ndim} and shape {array.shape}, while dim <= 2 is required.",
        "A table has rows and columns.",
        "give array.reshape(len(array), -1), or make features of the further dimensions.",
    )


def _shown(array: NDArray[Any]) -> str:
    """The beginning of an array on one line."""
    return np.array2string(array, threshold=6, edgeitems=3).replace("\n", " ")[:80]


def _as_array(X: Any) -> NDArray[Any]:
    """X as an array; masked values become missing, and lists keep numbers and text apart."""
    if isinstance(X, np.ma.MaskedArray):
        return _filled(X)
    if isinstance(X, np.ndarray):
        return X.view(np.ndarray)  # np.matrix keeps two dimensions whatever is done to it
    if isinstance(X, (str, bytes, dict, set, frozenset)) or X is None:
        raise not_a_table(X)
    try:
        array = np.asarray(X)
    except (ValueError, TypeError) as error:
        if isinstance(X, Sequence):
            raise _ragged(X, error) from error
        raise not_a_table(X) from error
    if isinstance(X, (list, tuple)) and (array.dtype.kind in "US" or (array.dtype.kind == "f" and (np.abs(array) > EXACT).any())):
        array = np.array(X, dtype=object)  # NumPy has turned numbers among strings into strings, and whole ones among others into floats
    if array.ndim == 0 and array.dtype.kind == "O":
        raise not_a_table(X)
    return array


def _filled(X: Any) -> NDArray[Any]:
    """A masked array with missing values where it is masked."""
    if X.dtype.kind in "biu" and not are_beyond_doubles(X.compressed()):
        X = X.astype(np.float64)
    if X.dtype.kind == "f":
        return np.asarray(X.filled(np.nan))
    plain = np.asarray(X.data).astype(object)
    plain[np.ma.getmaskarray(X)] = None
    return plain


def _ragged(X: Sequence[Any], error: Exception) -> Exception:
    """The error for nested lists of different lengths."""
    lengths = [len(row) if hasattr(row, "__len__") else -1 for row in X]
    odd = next((position for position, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is None:
        return table_error(
            "D009", f"the nested list is no table: {error}", "All rows must have as many values.", "give rows of numbers or text."
        )
    return table_error(
        "D009",
        f"row 0 of the nested list has {lengths[0]} values, row {odd} has {max(lengths[odd], 0)}.",
        "All rows of a table have as many values.",
        "fill the gaps with None or float('nan').",
    )


def not_a_table(X: Any) -> Exception:
    """The error for something that is no table at all."""
    hint = "give pandas.DataFrame(X) or pyarrow.table(X)." if isinstance(X, dict) else _TABLES
    return table_error(
        "D001",
        f"a value of type {type(X).__module__}.{type(X).__qualname__} was given as the table.",
        "Rows and columns cannot be told from it.",
        hint,
    )


def is_sparse(X: Any) -> bool:
    """Whether X is one of SciPy's sparse matrices or arrays; SciPy need not be imported to ask."""
    return hasattr(X, "tocsc") and hasattr(X, "nnz") and hasattr(X, "shape")


def open_sparse(X: Any, absent: float = 0.0) -> RawTable:
    """A sparse matrix as columns; what is not stored is zero, as everywhere in SciPy, unless it is said to be missing (NaN)."""
    if len(X.shape) != 2:
        what = f"Expected 2D array, got 1D array instead: a sparse array of shape {X.shape}."
        raise table_error("D002", what, "A table has rows and columns.", _RESHAPE)
    if X.dtype.kind not in "biuf":
        code, word = ("D007", "Complex data not supported") if X.dtype.kind == "c" else ("D011", "not numbers")
        what = f"{word}: the sparse matrix is of type {X.dtype}."
        raise table_error(code, what, "A sparse matrix must hold real numbers.", "convert it with .astype(float).")
    matrix = SparseMatrix(X, absent)
    n_rows, n_columns = matrix.shape
    return RawTable(n_rows, n_columns, lambda position, _: SparseColumn(matrix, position), sparse=matrix)
