"""Columns as a written schema says that they are, whatever they were read as."""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from woodwind.base.errors import DataError
from woodwind.data.convert import CATEGORY, CLOCK, MOMENT, NUMBER, SPAN, plain
from woodwind.data.csv_dates import DAY_FIRST, MONTH_FIRST, ORDERS, as_moments
from woodwind.data.csv_types import marks
from woodwind.data.dates import is_moment
from woodwind.data.faults import fault, listed

BOOLEAN, IGNORE = "boolean", "ignore"
TYPES = (NUMBER, BOOLEAN, CATEGORY, MOMENT, CLOCK, SPAN, IGNORE)

_EMPTY = {  # the types of columns without a single value
    NUMBER: pa.float64(),
    BOOLEAN: pa.bool_(),
    CATEGORY: pa.string(),
    MOMENT: pa.timestamp("us"),
    CLOCK: pa.time64("us"),
    SPAN: pa.duration("us"),
}
_TRUE = ("true", "t", "yes", "y", "1", "on")
_FALSE = ("false", "f", "no", "n", "0", "off")
_SPAN = re.compile(r"(?P<sign>-?)(?:(?P<days>\d+) days?,? ?)?(?:(?P<h>\d+):(?P<m>\d{1,2})(?::(?P<s>\d{1,2}(?:\.\d+)?))?)?")


def type_of(kind: pa.DataType) -> str:
    """What a column of this type is called in a written schema; to be ignored if no feature can be made of it."""
    types = pa.types
    if types.is_dictionary(kind):
        return CATEGORY
    tests: tuple[tuple[str, Callable[[pa.DataType], bool]], ...] = (
        (BOOLEAN, types.is_boolean),
        (NUMBER, lambda one: types.is_integer(one) or types.is_floating(one) or types.is_decimal(one) or types.is_null(one)),
        (CATEGORY, lambda one: types.is_string(one) or types.is_large_string(one) or types.is_string_view(one)),
        (MOMENT, is_moment),
        (CLOCK, types.is_time),
        (SPAN, types.is_duration),
    )
    return next((name for name, is_such in tests if is_such(kind)), IGNORE)


def converted(column: pa.ChunkedArray, wanted: str, name: str, layout: str | None = None, missing: Sequence[str] = ()) -> pa.ChunkedArray:
    """The column as the type that is wanted; an error names the first cells that cannot be that.

    `layout` is how dates and times of day are written, in the signs of `datetime.strptime`, or which of day and month comes first in
    dates; `missing` are further marks of absence.
    """
    column = plain(column)
    if pa.types.is_null(column.type):
        return column.cast(_EMPTY[wanted])
    if type_of(column.type) == wanted and wanted != CATEGORY and not missing:
        return column
    if wanted == CATEGORY and pa.types.is_dictionary(column.type) and not missing:
        return column
    if wanted == NUMBER and pa.types.is_boolean(column.type):
        return column.cast(pa.int64())
    coded = pc.dictionary_encode(_as_text(column, name, wanted)).unify_dictionaries()
    levels = coded.chunk(0).dictionary if coded.num_chunks else pa.array([], pa.string())
    absent = pc.is_in(levels, value_set=pa.array(list(missing), pa.string()))
    if wanted != CATEGORY:
        levels = pc.utf8_trim_whitespace(levels)
        absent = pc.or_(absent, pc.is_in(levels, value_set=marks()))
    levels = pc.if_else(absent, pa.scalar(None, pa.string()), levels)
    found = _MAKERS[wanted](levels, layout)
    wrong = np.flatnonzero(pc.and_(pc.is_null(found), pc.is_valid(levels)).to_numpy(zero_copy_only=False))
    if wrong.size:
        raise _unfit(name, wanted, levels, wrong, coded, layout)
    return pa.chunked_array([found.take(chunk.indices) for chunk in coded.chunks], found.type)


def _as_text(column: pa.ChunkedArray, name: str, wanted: str) -> pa.ChunkedArray:
    """Every value as it would be written in a text file; whole numbers without a point."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_floating(kind):
        values = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
        wholes = pc.fill_null(pc.and_(pc.equal(values, pc.round(values)), pc.less(pc.abs(values), 2.0**53)), False)
        as_whole = pc.if_else(wholes, values, pa.scalar(None, kind)).cast(pa.int64()).cast(pa.string())
        return pc.if_else(wholes, as_whole, values.cast(pa.string()))
    try:
        return column.cast(pa.string())
    except pa.ArrowException as error:
        what = f"column {name!r} is of type {kind} and cannot be a {wanted}."
        raise fault("F013", what, "The schema says that it is one.", 'say "ignore" there, or leave the type out.') from error


def _number(levels: pa.Array, _: str | None) -> pa.Array:
    """Numbers; whole ones if all are. None for what is no number."""
    fits = pc.match_substring_regex(levels, r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI]nf(inity)?)$")
    kept = pc.if_else(fits, levels, pa.scalar(None, pa.string()))
    whole = pc.all(pc.match_substring_regex(kept, r"^[+-]?\d{1,18}$")).as_py()
    return pc.utf8_ltrim(kept, characters="+").cast(pa.int64() if whole else pa.float64())


def _boolean(levels: pa.Array, _: str | None) -> pa.Array:
    low = pc.utf8_lower(levels)
    known = pc.is_in(low, value_set=pa.array([*_TRUE, *_FALSE]))
    return pc.if_else(known, pc.is_in(low, value_set=pa.array(list(_TRUE))), pa.scalar(None, pa.bool_()))


def _category(levels: pa.Array, _: str | None) -> pa.Array:
    return levels


def _moment(levels: pa.Array, layout: str | None) -> pa.Array:
    if layout is None or layout in ORDERS:
        found, _ = as_moments(levels, layout)
        if found is not None and is_moment(found.type):
            return found
        singly = [_alone(level, layout) for level in levels.to_pylist()]
        return pa.array(singly, pa.timestamp("us"))
    parsed = [_strptime(level, layout) for level in levels.to_pylist()]
    zoned = any(moment is not None and moment.tzinfo is not None for moment in parsed)
    return pa.array(parsed, pa.timestamp("us", "UTC" if zoned else None))


def _alone(level: str | None, order: str | None) -> Any:
    """One date by itself, to find those that are none."""
    found = as_moments(pa.array([level], pa.string()), order)[0] if level is not None else None
    return None if found is None or not is_moment(found.type) else found.cast(pa.timestamp("us"))[0].as_py()


def _clock(levels: pa.Array, layout: str | None) -> pa.Array:
    if layout is not None:
        parsed = [_strptime(level, layout) for level in levels.to_pylist()]
        return pa.array([None if moment is None else moment.time() for moment in parsed], pa.time64("us"))
    found = [as_moments(pa.array([level], pa.string()))[0] if level is not None else None for level in levels.to_pylist()]
    return pa.array([None if one is None or not pa.types.is_time(one.type) else one[0].as_py() for one in found], pa.time64("us"))


def _strptime(level: str | None, layout: str) -> dt.datetime | None:
    try:
        return None if level is None else dt.datetime.strptime(level, layout)  # noqa: DTZ007, the layout says whether there is a zone
    except ValueError:
        return None


def _span(levels: pa.Array, _: str | None) -> pa.Array:
    """Durations: seconds, or hours:minutes:seconds, with days before them or not."""
    return pa.array([None if level is None else _one_span(level) for level in levels.to_pylist()], pa.duration("us"))


def _one_span(level: str) -> dt.timedelta | None:
    try:
        if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", level):
            return dt.timedelta(seconds=float(level))
        found = _SPAN.fullmatch(level)
        if found is None or not level:
            return None
        part = {name: float(found[name] or 0) for name in ("days", "h", "m", "s")}
        span = dt.timedelta(days=part["days"], hours=part["h"], minutes=part["m"], seconds=part["s"])
    except OverflowError:
        return None
    return -span if found["sign"] else span


_MAKERS: dict[str, Callable[[pa.Array, str | None], pa.Array]] = {
    NUMBER: _number,
    BOOLEAN: _boolean,
    CATEGORY: _category,
    MOMENT: _moment,
    CLOCK: _clock,
    SPAN: _span,
}


def _unfit(name: str, wanted: str, levels: pa.Array, wrong: Any, coded: pa.ChunkedArray, layout: str | None) -> DataError:
    """The error for cells that are not what the schema says."""
    codes = np.concatenate([chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False) for chunk in coded.chunks])
    rows = np.flatnonzero(np.isin(codes, wrong))
    shown = levels.take(pa.array(wrong[:4])).to_pylist()
    how = f" written as {layout!r}" if layout and layout not in ORDERS else f" with the {layout}" if layout else ""
    fix = {
        NUMBER: f'if they stand for a missing value, say "missing": {list(shown[:2])!r} there; else say "category"'.replace("'", '"'),
        MOMENT: f'say how they are written, for example "format": "{DAY_FIRST}", "{MONTH_FIRST}" or "%d/%m/%y"'
        if layout is None
        else 'mend the "format", or the cells',
    }.get(wanted, 'say "category" there, or mend the cells')
    return fault(
        "F013",
        f"column {name!r} holds {rows.size:,} cells that cannot be read as a {wanted}{how}: {listed(shown)} (rows {listed(rows + 1)}).",
        f"The schema says that the column is a {wanted}.",
        fix + ".",
    )
