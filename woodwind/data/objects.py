"""Columns of Python objects: what do they really hold?"""

import datetime as dt
import decimal
import numbers
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from woodwind.data.faults import LEAVE_OUT, NO_FEATURE, fault, listed
from woodwind.data.whole_numbers import EXACT, warn_of_precision

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
        raise fault(
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
    for place, value in enumerate(values):
        kind = known.get(type(value))
        if kind is None:
            kind = known[type(value)] = _kind_of_type(type(value))
        # NaN, NaT and decimal's NaN are of the types of numbers and dates, and differ from themselves.
        kinds[place] = _MISSING if kind in (_NUMBER, _DATE, _SPAN) and _differs_from_itself(value) else kind
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
        return fault(
            "D011",
            f"{label} holds values of type {listed(types)}, first in row {others[0] + 1:,}: {listed([values[others[0]]])}.",
            NO_FEATURE,
            LEAVE_OUT,
        )
    held, counts = np.unique(kinds[kinds != _MISSING], return_counts=True)
    common, rare = held[np.argmax(counts)], held[np.argmin(counts)] if counts.min() < counts.max() else held[-1]
    odd = np.flatnonzero(kinds == rare)
    return fault(
        "D010",
        f"{label} mixes kinds of values: {_KINDS[common]} in most rows, {_KINDS[rare]} in {odd.size:,} "
        f"(rows {listed(odd + 1)}: {listed(values[odd[:3]])}).",
        "Numbers are ordered and text is not, so that the two cannot be one feature.",
        "convert the column to one type: .astype(str) makes categories of it, pandas.to_numeric(..., errors='coerce') numbers.",
    )
