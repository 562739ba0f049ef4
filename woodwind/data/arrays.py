"""NumPy arrays, nested lists and SciPy's sparse matrices as raw columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from woodwind.data.faults import fault
from woodwind.data.objects import column_of_objects
from woodwind.data.raw import RawTable, SparseColumn, Values
from woodwind.data.whole_numbers import EXACT, are_beyond_doubles

_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample."
)

_TABLES = "give a NumPy array, a SciPy sparse matrix, a frame of pandas or polars, an Arrow table, or a list of rows."


def open_array(X: Any) -> RawTable:
    """An array, or anything that NumPy can make one of, as columns; numbers are not copied."""
    array = _as_array(X)
    if array.dtype.names is not None:
        raise fault(
            "D008",
            f"a structured array with the fields {', '.join(array.dtype.names)} was given.",
            "Its rows are records, which have no second dimension.",
            "give pandas.DataFrame(array), or numpy.lib.recfunctions.structured_to_unstructured(array).",
        )
    check_dimensions(array)
    if array.dtype.kind == "c":
        raise fault(
            "D007",
            f"Complex data not supported: the array is of type {array.dtype}.",
            "Complex numbers have no order to split by.",
            "give the real and the imaginary part, or size and angle, as columns of their own.",
        )
    matrix = array if array.dtype.kind in "biuf" else None
    n_rows, n_columns = array.shape
    return RawTable(n_rows, n_columns, lambda place, label: column_of_array(array[:, place], label), matrix=matrix)


def column_of_array(values: NDArray[Any], label: str) -> Values:
    """One column of any type that NumPy has."""
    kind = values.dtype.kind
    if kind in "biuf":
        return values
    if kind == "O":
        return column_of_objects(values, label)
    if kind == "c":
        raise fault(
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
    raise fault(
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
        raise fault("D002", f"Expected 2D array, got 1D array instead: array={_shown(array)}.", "A table has rows and columns.", _RESHAPE)
    if array.ndim == 0:
        raise fault("D003", f"Expected 2D array, got scalar array instead: {_shown(array)}.", "A table has rows and columns.", _RESHAPE)
    raise fault(
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
    odd = next((place for place, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is None:
        return fault("D009", f"the nested list is no table: {error}", "All rows must have as many values.", "give rows of numbers or text.")
    return fault(
        "D009",
        f"row 0 of the nested list has {lengths[0]} values, row {odd} has {max(lengths[odd], 0)}.",
        "All rows of a table have as many values.",
        "fill the gaps with None or float('nan').",
    )


def not_a_table(X: Any) -> Exception:
    """The error for something that is no table at all."""
    hint = "give pandas.DataFrame(X) or pyarrow.table(X)." if isinstance(X, dict) else _TABLES
    return fault(
        "D001",
        f"a value of type {type(X).__module__}.{type(X).__qualname__} was given as the table.",
        "Rows and columns cannot be told from it.",
        hint,
    )


def is_sparse(X: Any) -> bool:
    """Whether X is one of SciPy's sparse matrices or arrays; SciPy need not be imported to ask."""
    return hasattr(X, "tocsc") and hasattr(X, "nnz") and hasattr(X, "shape")


def open_sparse(X: Any) -> RawTable:
    """A sparse matrix as columns; what is not stored is zero, as everywhere in SciPy."""
    if len(X.shape) != 2:
        what = f"Expected 2D array, got 1D array instead: a sparse array of shape {X.shape}."
        raise fault("D002", what, "A table has rows and columns.", _RESHAPE)
    if X.dtype.kind not in "biuf":
        code, word = ("D007", "Complex data not supported") if X.dtype.kind == "c" else ("D011", "not numbers")
        what = f"{word}: the sparse matrix is of type {X.dtype}."
        raise fault(code, what, "A sparse matrix must hold real numbers.", "convert it with .astype(float).")
    by_column = X.tocsc()
    if not by_column.has_canonical_format:
        by_column = by_column.copy() if by_column is X else by_column
        by_column.sum_duplicates()
    n_rows, n_columns = X.shape

    def open_column(place: int, _: str) -> SparseColumn:
        stored = slice(by_column.indptr[place], by_column.indptr[place + 1])
        return SparseColumn(by_column.indices[stored], by_column.data[stored], n_rows)

    return RawTable(n_rows, n_columns, open_column)
