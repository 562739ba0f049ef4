"""Values of JSON as columns of a schema: each is what its column was in training, or is refused with a sentence that names the column."""

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from woodwind.base.errors import DataError
from woodwind.base.formatting import printable
from woodwind.data.tables.convert import CATEGORY, CLOCK, EMPTY, MOMENT, NUMBER, SPAN
from woodwind.data.tables.fields import CategoryField, EmptyField, Field, StatisticsField, TimeField
from woodwind.data.tables.schema import Schema

# A column of which nothing is known but its name: numbers and text are taken as they come.
ANY = "any"
# Letters of a value, or of a name, that a sentence repeats at most.
MOST_LETTERS = 40
# Microseconds of it are an integer of 64 bits.
MOST_SECONDS = 9e12


@dataclass(frozen=True, eq=False)
class JsonColumn:
    """A column of a model, and what a value of it looks like in JSON."""

    name: str
    kind: str  # number, category, date, time of day, duration, empty or any
    categories: tuple[Any, ...] = ()  # text, or numbers; those of a category column
    is_text: bool = False  # whether categories are text
    zone: str | None = None  # of a date

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", frozenset(self.categories))

    @property
    def datatype(self) -> str:
        """The type of its values in the Open Inference Protocol."""
        return "FP64" if self.kind in (NUMBER, SPAN, EMPTY) or (self.kind == CATEGORY and not self.is_text) else "BYTES"

    def value(self, given: Any) -> Any:
        """A value of JSON as the column holds it, None where it is missing. Raises DataError that says what was expected."""
        if given is None:
            return None
        if isinstance(given, dict | list):
            raise self.unfit(given, "one value")
        if self.kind == EMPTY:
            return None
        if self.kind == ANY:
            return text_of(given, self) if isinstance(given, str) else number_of(given, self)
        if self.kind == NUMBER or (self.kind == CATEGORY and not self.is_text):
            if isinstance(given, str):
                raise self.unfit(given, "a number without quotes")
            return number_of(given, self)
        if self.kind == SPAN:
            return _span(given, self)
        if not isinstance(given, str):
            raise self.unfit(given, "text in quotes" if self.kind == CATEGORY else f"a {self.kind} as text in quotes")
        return text_of(given, self) if self.kind == CATEGORY else _moment(given, self)

    def is_unseen(self, value: Any) -> bool:
        """Whether a value that `value` has let in is a category that training never saw."""
        return self.kind == CATEGORY and value is not None and value not in self._known  # type: ignore[attr-defined]

    def unfit(self, given: Any, wanted: str) -> DataError:
        """The error for a value that the column cannot hold."""
        return DataError(f"column {short(self.name)} takes {wanted}, or null where it is missing, but it has {described(given)}.")


def json_columns(schema: Schema) -> tuple[JsonColumn, ...]:
    """The columns of a schema, in its order."""
    return tuple(_column(field) for field in schema.fields)


def unknown_columns(names: Sequence[str]) -> tuple[JsonColumn, ...]:
    """Columns of which names alone are known."""
    return tuple(JsonColumn(str(name), ANY) for name in names)


def table_of_values(columns: Sequence[JsonColumn], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Rows of values that `JsonColumn.value` has let in, as a table. Raises DataError where a column holds text and numbers."""
    made = {}
    for position, column in enumerate(columns):
        try:
            made[column.name] = pa.array([row[position] for row in rows], _arrow_type(column))
        except (pa.ArrowException, OverflowError, ValueError) as error:
            raise DataError(f"column {short(column.name)} cannot hold all of these values: {error}") from error
    return pa.table(made)


def number_of(given: Any, column: JsonColumn) -> float:
    """A number of JSON as a double; true and false are 1 and 0."""
    if not isinstance(given, int | float):
        raise column.unfit(given, "a number")
    try:
        value = float(given)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise column.unfit(given, "a number that is finite")
    return value


def text_of(given: str, column: JsonColumn) -> str:
    """Text that can be written as UTF-8."""
    try:
        given.encode()
    except UnicodeEncodeError:
        raise column.unfit(given, "text of whole characters") from None
    return given


def short(text: Any) -> str:
    """A name or a text in quotes, its beginning if it is long, without characters that steer a terminal."""
    words = str(text)
    return repr(printable(words if len(words) <= MOST_LETTERS else words[: MOST_LETTERS - 3] + "..."))


def described(given: Any) -> str:
    """What a value of JSON is, in words."""
    if given is None or isinstance(given, bool):
        return {None: "null", True: "true", False: "false"}[given]
    if isinstance(given, str):
        return f"the text {short(given)}"
    if isinstance(given, dict | list):
        return "an object" if isinstance(given, dict) else "a list"
    if isinstance(given, int) and given.bit_length() > 1024:
        return "a whole number of more than 300 digits"
    return f"the number {given!r}" if not isinstance(given, float) or math.isfinite(given) else "a number beyond all doubles"


def _column(field: Field) -> JsonColumn:
    if isinstance(field, CategoryField | StatisticsField):
        values = field.categories.values.tolist()
        return JsonColumn(field.name, CATEGORY, tuple(values), field.categories.is_text)
    if isinstance(field, TimeField):
        return JsonColumn(field.name, field.sort, zone=field.zone)
    return JsonColumn(field.name, EMPTY if isinstance(field, EmptyField) else NUMBER)


def _arrow_type(column: JsonColumn) -> pa.DataType | None:
    """What Arrow is to take values for; None where they say it themselves."""
    if column.kind == CATEGORY:
        return pa.large_string() if column.is_text else pa.float64()
    types = {MOMENT: pa.timestamp("us", column.zone), CLOCK: pa.time64("us"), SPAN: pa.duration("us"), ANY: None, EMPTY: pa.float64()}
    return types.get(column.kind, pa.float64())


def _moment(given: str, column: JsonColumn) -> dt.datetime | dt.time:
    """A date or a time of day of ISO 8601."""
    try:
        value = dt.time.fromisoformat(given) if column.kind == CLOCK else dt.datetime.fromisoformat(given)
    except ValueError:
        example = "10:30:00" if column.kind == CLOCK else "2026-01-31T10:30:00"
        raise column.unfit(given, f"a {column.kind} such as {example}") from None
    wants_zone = column.kind == MOMENT and column.zone is not None
    if wants_zone != (value.tzinfo is not None):
        raise column.unfit(given, f"a {column.kind} {'with' if wants_zone else 'without'} an offset such as +01:00")
    return value


def _span(given: Any, column: JsonColumn) -> dt.timedelta:
    """Seconds."""
    if isinstance(given, str | bool):
        raise column.unfit(given, "a number of seconds without quotes")
    seconds = number_of(given, column)
    if abs(seconds) > MOST_SECONDS:
        raise column.unfit(given, "a number of seconds below 9e12")
    return dt.timedelta(seconds=seconds)
