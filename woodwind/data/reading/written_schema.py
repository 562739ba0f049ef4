"""A schema to read and to edit: which columns a table has, what each is, and what it is for."""

import datetime as dt
import json
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from woodwind.base.atomic import write_file
from woodwind.base.did_you_mean import nearest
from woodwind.base.errors import DataError
from woodwind.data.tables.convert import CATEGORY, CLOCK, MOMENT, NUMBER, SPAN, plain
from woodwind.data.tables.dates import is_moment
from woodwind.data.tables.table_errors import listed, repeated_names, table_error
from woodwind.data.tables.text_dates import DAY_FIRST, MONTH_FIRST, ORDERS, as_moments, order_in
from woodwind.data.tables.text_types import marks

# ----------------------------------------------------------------------------------------------------
# Columns as a written schema says that they are, whatever they were read as.


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
    categories = coded.chunk(0).dictionary if coded.num_chunks else pa.array([], pa.string())
    absent = pc.is_in(categories, value_set=pa.array(list(missing), pa.string()))
    if wanted != CATEGORY:
        categories = pc.utf8_trim_whitespace(categories)
        absent = pc.or_(absent, pc.is_in(categories, value_set=marks()))
    categories = pc.if_else(absent, pa.scalar(None, pa.string()), categories)
    found = _MAKERS[wanted](categories, layout)
    wrong = np.flatnonzero(pc.and_(pc.is_null(found), pc.is_valid(categories)).to_numpy(zero_copy_only=False))
    if wrong.size:
        raise _unfit(name, wanted, categories, wrong, coded, layout)
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
        raise table_error("F013", what, "The schema says that it is one.", 'say "ignore" there, or leave the type out.') from error


def _number(categories: pa.Array, _: str | None) -> pa.Array:
    """Numbers; whole ones if all are. None for what is no number."""
    fits = pc.match_substring_regex(categories, r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI]nf(inity)?)$")
    kept = pc.if_else(fits, categories, pa.scalar(None, pa.string()))
    whole = pc.all(pc.match_substring_regex(kept, r"^[+-]?\d{1,18}$")).as_py()
    return pc.utf8_ltrim(kept, characters="+").cast(pa.int64() if whole else pa.float64())


def _boolean(categories: pa.Array, _: str | None) -> pa.Array:
    low = pc.utf8_lower(categories)
    known = pc.is_in(low, value_set=pa.array([*_TRUE, *_FALSE]))
    return pc.if_else(known, pc.is_in(low, value_set=pa.array(list(_TRUE))), pa.scalar(None, pa.bool_()))


def _category(categories: pa.Array, _: str | None) -> pa.Array:
    return categories


def _moment(categories: pa.Array, layout: str | None) -> pa.Array:
    if layout is None or layout in ORDERS:
        found, _ = as_moments(categories, layout)
        if found is not None and is_moment(found.type):
            return found
        singly = [_alone(category, layout) for category in categories.to_pylist()]
        return pa.array(singly, pa.timestamp("us"))
    parsed = [_strptime(category, layout) for category in categories.to_pylist()]
    zoned = any(moment is not None and moment.tzinfo is not None for moment in parsed)
    return pa.array(parsed, pa.timestamp("us", "UTC" if zoned else None))


def _alone(category: str | None, order: str | None) -> Any:
    """One date by itself, to find those that are none."""
    found = as_moments(pa.array([category], pa.string()), order)[0] if category is not None else None
    return None if found is None or not is_moment(found.type) else found.cast(pa.timestamp("us"))[0].as_py()


def _clock(categories: pa.Array, layout: str | None) -> pa.Array:
    if layout is not None:
        parsed = [_strptime(category, layout) for category in categories.to_pylist()]
        return pa.array([None if moment is None else moment.time() for moment in parsed], pa.time64("us"))
    found = [as_moments(pa.array([category], pa.string()))[0] if category is not None else None for category in categories.to_pylist()]
    return pa.array([None if one is None or not pa.types.is_time(one.type) else one[0].as_py() for one in found], pa.time64("us"))


def _strptime(category: str | None, layout: str) -> dt.datetime | None:
    try:
        return None if category is None else dt.datetime.strptime(category, layout)  # noqa: DTZ007, the layout says whether there is a zone
    except ValueError:
        return None


def _span(categories: pa.Array, _: str | None) -> pa.Array:
    """Durations: seconds, or hours:minutes:seconds, with days before them or not."""
    return pa.array([None if category is None else _one_span(category) for category in categories.to_pylist()], pa.duration("us"))


def _one_span(category: str) -> dt.timedelta | None:
    try:
        if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", category):
            return dt.timedelta(seconds=float(category))
        found = _SPAN.fullmatch(category)
        if found is None or not category:
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


def _unfit(name: str, wanted: str, categories: pa.Array, wrong: Any, coded: pa.ChunkedArray, layout: str | None) -> DataError:
    """The error for cells that are not what the schema says."""
    codes = np.concatenate([chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False) for chunk in coded.chunks])
    rows = np.flatnonzero(np.isin(codes, wrong))
    shown = categories.take(pa.array(wrong[:4])).to_pylist()
    how = f" written as {layout!r}" if layout and layout not in ORDERS else f" with the {layout}" if layout else ""
    fix = {
        NUMBER: f'if they stand for a missing value, say "missing": {list(shown[:2])!r} there; else say "category"'.replace("'", '"'),
        MOMENT: f'say how they are written, for example "format": "{DAY_FIRST}", "{MONTH_FIRST}" or "%d/%m/%y"'
        if layout is None
        else 'mend the "format", or the cells',
    }.get(wanted, 'say "category" there, or mend the cells')
    return table_error(
        "F013",
        f"column {name!r} holds {rows.size:,} cells that cannot be read as a {wanted}{how}: {listed(shown)} (rows {listed(rows + 1)}).",
        f"The schema says that the column is a {wanted}.",
        fix + ".",
    )


VERSION = 1
FEATURE, TARGET, GROUP, QUERY, TIME, WEIGHT = "feature", "target", "group", "query", "time", "weight"
ROLES = (FEATURE, TARGET, GROUP, QUERY, TIME, WEIGHT, IGNORE)
_KEYS = ("name", "type", "role", "format", "missing", "examples")
_TOP_KEYS = ("woodwind_schema", "columns")

# What people call our types.
_ALIASES = {
    **dict.fromkeys(("text", "string", "str", "object", "enum", "factor"), CATEGORY),
    **dict.fromkeys(("int", "integer", "float", "double", "numeric", "real"), NUMBER),
    **dict.fromkeys(("datetime", "timestamp"), MOMENT),
    **dict.fromkeys(("drop", "skip"), IGNORE),
    "bool": BOOLEAN,
    "time": CLOCK,
    "timedelta": SPAN,
    "label": TARGET,
}


@dataclass(frozen=True)
class WrittenColumn:
    """One column of a written schema."""

    name: str
    type: str  # one of TYPES
    role: str = FEATURE  # one of ROLES
    format: str | None = None  # how dates and times of day are written: in the signs of `datetime.strptime`, or what comes first
    missing: tuple[str, ...] = ()  # what stands for a missing value, besides the usual marks
    examples: tuple[str, ...] = ()  # for the reader only

    @property
    def is_ignored(self) -> bool:
        """Whether the column is not to be read."""
        return IGNORE in (self.type, self.role)


@dataclass(frozen=True)
class WrittenSchema:
    """The columns of a table, what each is and what it is for, as a file that can be edited and given back.

    A column that the file does not mention is read as if there were no schema.
    """

    columns: tuple[WrittenColumn, ...]

    @classmethod
    def of(
        cls,
        table: pa.Table,
        target: str | None = None,
        *,
        group: str | None = None,
        query: str | None = None,
        time: str | None = None,
        weight: str | None = None,
        ignore: Collection[str] = (),
    ) -> "WrittenSchema":
        """The schema of a table that was read, with what its columns are for."""
        given = ((GROUP, group), (QUERY, query), (TIME, time), (WEIGHT, weight), (TARGET, target))
        roles = {name: role for role, name in given if name is not None}
        roles |= dict.fromkeys(ignore, IGNORE)
        there = set(table.column_names)
        unknown = [name for name in roles if name not in there]
        if unknown:
            raise table_error(
                "F011",
                f"the table has no column {listed(unknown)}; its columns are {listed(table.column_names, 10)}.",
                "Columns go by their names, capitals and all.",
                _near(unknown[0], table.column_names) or "look at the first line of the file.",
            )
        columns = zip(table.schema, table.columns, strict=True)
        made = (
            WrittenColumn(field.name, type_of(plain(one).type), roles.get(field.name, FEATURE), order_in(field), examples=_examples(one))
            for field, one in columns
        )
        return cls(tuple(made))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the schema as JSON, a line for each column; the file is whole or as it was."""
        lines = ",\n".join("    " + json.dumps(_as_dict(column), ensure_ascii=False) for column in self.columns)
        text = f'{{\n  "woodwind_schema": {VERSION},\n  "columns": [\n{lines}\n  ]\n}}\n'
        try:
            write_file(path, [text.encode()])
        except OSError as error:
            what = f"{os.fspath(path)!r} could not be written: {error.strerror or error}."
            raise table_error("F020", what, "The schema is not on disk.", "look at the folder and at the space on the disk.") from error

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "WrittenSchema":
        """Read a schema that was written, and maybe edited."""
        where = repr(os.fspath(path))
        try:
            with open(path, "rb") as file:
                given = json.loads(file.read().decode("utf-8-sig"))
        except OSError as error:
            what = f"{where} cannot be opened: {error.strerror or error}."
            raise table_error("F002", what, "The schema cannot be read.", "check the path.") from error
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            raise _wrong(where, f"it is no JSON: {error}", "look for a comma or a quote that is missing there") from error
        return cls.from_dict(given, where)

    @classmethod
    def from_dict(cls, given: Any, where: str = "given") -> "WrittenSchema":
        """The inverse of `to_dict`; every key, type and role is checked."""
        if not isinstance(given, Mapping) or not isinstance(given.get("columns"), list):
            raise _wrong(where, 'it has no "columns"', 'write {"columns": [{"name": "age", "type": "number"}]}')
        _check_keys(given, _TOP_KEYS, where, "the schema")
        version = given.get("woodwind_schema", VERSION)
        if version != VERSION:
            what = f"it is of version {version!r}, and this Woodwind reads version {VERSION}"
            raise _wrong(where, what, "update Woodwind, or write the schema again")
        columns = tuple(_column(item, position, where) for position, item in enumerate(given["columns"]))
        _check_together(columns, where)
        return cls(columns)

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold."""
        return {"woodwind_schema": VERSION, "columns": [_as_dict(column) for column in self.columns]}

    def with_orders(self, orders: Mapping[str, str]) -> "WrittenSchema":
        """The same, and for columns of dates that it does not mention what comes first in them."""
        mentioned = {column.name for column in self.columns}
        more = (WrittenColumn(name, MOMENT, format=order) for name, order in orders.items() if name not in mentioned)
        return WrittenSchema((*self.columns, *more))

    def role(self, wanted: str) -> str | None:
        """The name of the column with this role: target, group, time or weight; None where there is none."""
        return next((column.name for column in self.columns if column.role == wanted), None)

    @property
    def target(self) -> str | None:
        """The name of the target column."""
        return self.role(TARGET)

    @property
    def ignored(self) -> tuple[str, ...]:
        """The columns that are not to be read."""
        return tuple(column.name for column in self.columns if column.is_ignored)

    @property
    def as_text(self) -> tuple[str, ...]:
        """The columns that a text file must give as they are written."""
        return tuple(column.name for column in self.columns if column.type != NUMBER or column.missing)

    def apply(self, table: pa.Table) -> pa.Table:
        """The table with every column of the type that is written, and without those to be ignored."""
        known = {column.name: column for column in self.columns}
        fields, out = [], []
        for field, values in zip(table.schema, table.columns, strict=True):
            predicted = known.get(field.name)
            if predicted is not None and predicted.is_ignored:
                continue
            out.append(values if predicted is None else converted(values, predicted.type, field.name, predicted.format, predicted.missing))
            fields.append(field if predicted is None else pa.field(field.name, out[-1].type))
        return pa.table(out, schema=pa.schema(fields))


def _examples(column: pa.ChunkedArray, most: int = 3) -> tuple[str, ...]:
    """A few values, so that a reader sees what the column is about."""
    head = column.slice(0, 50)
    # Python has no dates of the year 5,881,580, and none of nanoseconds: Arrow can write all of them.
    values = [value for value in (head.cast(pa.string()) if pa.types.is_temporal(head.type) else head).to_pylist() if value is not None]
    texts = [value if isinstance(value, str) else str(value) for value in values]
    return tuple(text if len(text) <= 30 else text[:27] + "..." for text in list(dict.fromkeys(texts))[:most])


def _as_dict(column: WrittenColumn) -> dict[str, Any]:
    """What is to be said of a column; nothing about what goes without saying."""
    out: dict[str, Any] = {"name": column.name, "type": column.type}
    if column.role != FEATURE:
        out["role"] = column.role
    if column.format is not None:
        out["format"] = column.format
    if column.missing:
        out["missing"] = list(column.missing)
    if column.examples:
        out["examples"] = list(column.examples)
    return out


def _column(item: Any, position: int, where: str) -> WrittenColumn:
    """One column as it is written."""
    if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
        raise _wrong(where, f'column {position + 1} has no "name"', 'write {"name": "age", "type": "number"}')
    name = item["name"]
    _check_keys(item, _KEYS, where, f"column {name!r}")
    kind, role = item.get("type"), item.get("role", FEATURE)
    if kind not in TYPES:
        raise _wrong(where, f"the type of column {name!r} is {kind!r}; allowed are {listed(TYPES, 9)}", _near(kind, TYPES))
    if role not in ROLES:
        raise _wrong(where, f"the role of column {name!r} is {role!r}; allowed are {listed(ROLES, 9)}", _near(role, ROLES))
    layout, missing = item.get("format"), item.get("missing", [])
    is_format = isinstance(layout, str) and (("%" in layout and kind in (MOMENT, CLOCK)) or (layout in ORDERS and kind == MOMENT))
    if layout is not None and not is_format:
        fix = f'a date or time of day has one, such as "%d/%m/%Y" or "%H:%M"; a date may also have "{ORDERS[0]}" or "{ORDERS[1]}"'
        raise _wrong(where, f"the format of column {name!r} is {layout!r}", fix)
    if not isinstance(missing, list) or not all(isinstance(mark, str) for mark in missing):
        raise _wrong(where, f"what is missing in column {name!r} is {missing!r}", 'write a list of texts, such as ["unknown", "-999"]')
    examples = item.get("examples", [])
    return WrittenColumn(name, kind, role, layout, tuple(missing), tuple(map(str, examples)) if isinstance(examples, list) else ())


def _check_keys(given: Mapping[str, Any], allowed: tuple[str, ...], where: str, what: str) -> None:
    unknown = [key for key in given if key not in allowed]
    if unknown:
        raise _wrong(where, f"{what} has the key {unknown[0]!r}; allowed are {listed(allowed, 9)}", _near(unknown[0], allowed))


def _check_together(columns: tuple[WrittenColumn, ...], where: str) -> None:
    names = [column.name for column in columns]
    repeated = repeated_names(names)
    if repeated:
        raise _wrong(where, f"columns are there more than once: {listed(repeated)}", "keep one of each")
    for role in (TARGET, GROUP, QUERY, TIME, WEIGHT):
        having = [column.name for column in columns if column.role == role]
        if len(having) > 1:
            raise _wrong(where, f"{listed(having)} all have the role {role!r}", "give it to one of them")


def _near(given: Any, allowed: Collection[str]) -> str:
    """The name that was meant, if it can be guessed."""
    if not isinstance(given, str):
        return "choose one of these"
    near = [_ALIASES[given.lower()]] if _ALIASES.get(given.lower()) in allowed else nearest(given, allowed)
    return f"did you mean {near[0]!r}?" if near else "choose one of these"


def _wrong(where: str, what: str, fix: str) -> DataError:
    """The error for a schema that cannot be used."""
    ending = "" if fix.endswith("?") else "."
    return table_error("F012", f"the schema {where} cannot be used: {what}.", "A table is read as its schema says.", fix + ending)
