"""A schema to read and to edit: which columns a table has, what each is, and what it is for."""

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from woodwind.base.atomic import write_file
from woodwind.base.errors import DataError
from woodwind.base.nearest import nearest
from woodwind.data.convert import CATEGORY, CLOCK, MOMENT, NUMBER, SPAN, plain
from woodwind.data.csv_dates import ORDERS, order_in
from woodwind.data.faults import fault, listed, repeated_names
from woodwind.data.written_types import BOOLEAN, IGNORE, TYPES, converted, type_of

VERSION = 1
FEATURE, TARGET, GROUP, TIME, WEIGHT = "feature", "target", "group", "time", "weight"
ROLES = (FEATURE, TARGET, GROUP, TIME, WEIGHT, IGNORE)
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
        time: str | None = None,
        weight: str | None = None,
        ignore: Collection[str] = (),
    ) -> "WrittenSchema":
        """The schema of a table that was read, with what its columns are for."""
        roles = {name: role for role, name in ((GROUP, group), (TIME, time), (WEIGHT, weight), (TARGET, target)) if name is not None}
        roles |= dict.fromkeys(ignore, IGNORE)
        there = set(table.column_names)
        unknown = [name for name in roles if name not in there]
        if unknown:
            raise fault(
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
            raise fault("F020", what, "The schema is not on disk.", "look at the folder and at the space on the disk.") from error

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "WrittenSchema":
        """Read a schema that was written, and maybe edited."""
        where = repr(os.fspath(path))
        try:
            with open(path, "rb") as file:
                given = json.loads(file.read().decode("utf-8-sig"))
        except OSError as error:
            what = f"{where} cannot be opened: {error.strerror or error}."
            raise fault("F002", what, "The schema cannot be read.", "check the path.") from error
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
        columns = tuple(_column(item, place, where) for place, item in enumerate(given["columns"]))
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
            said = known.get(field.name)
            if said is not None and said.is_ignored:
                continue
            out.append(values if said is None else converted(values, said.type, field.name, said.format, said.missing))
            fields.append(field if said is None else pa.field(field.name, out[-1].type))
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


def _column(item: Any, place: int, where: str) -> WrittenColumn:
    """One column as it is written."""
    if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
        raise _wrong(where, f'column {place + 1} has no "name"', 'write {"name": "age", "type": "number"}')
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
    for role in (TARGET, GROUP, TIME, WEIGHT):
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
    return fault("F012", f"the schema {where} cannot be used: {what}.", "A table is read as its schema says.", fix + ending)
