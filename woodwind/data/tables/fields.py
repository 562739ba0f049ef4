"""Fields: what training learned about each input column, and the features that are made of it."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.city_hash import city_hash
from woodwind.base.validate import require
from woodwind.data.tables.categories import AllCategories, Categories, CodeReader, text_values
from woodwind.data.tables.convert import (
    CATEGORY,
    CLOCK,
    EMPTY,
    MOMENT,
    NUMBER,
    SPAN,
    MissingReader,
    coded_column,
    kind_of,
    moments,
    number_reader,
)
from woodwind.data.tables.dates import PARTS, PartReader, SecondsReader, is_zone, varying_parts
from woodwind.data.tables.raw import Coded, RawColumn
from woodwind.data.tables.table import MISSING, UNSEEN, Column, Reader
from woodwind.data.tables.table_errors import listed
from woodwind.data.tables.target_statistics import StatisticsReader, TargetStatistics


class Features(NamedTuple):
    """The features made of one column, and what the user should be told about it."""

    columns: tuple[Column, ...]
    note: str = ""


@dataclass(frozen=True, eq=False)
class Field:
    """What training learned about one input column."""

    name: str
    kind: ClassVar[str]

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that are made of the column."""
        return (self.name,)

    def read(self, raw: RawColumn) -> Features:
        """The features of such a column of any table."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold."""
        return {"name": self.name, "kind": self.kind}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Field":
        """The inverse of `to_dict`."""
        return cls(given["name"])


class NumberField(Field):
    """Numbers and truth values."""

    kind = NUMBER

    def read(self, raw: RawColumn) -> Features:
        """The numbers."""
        return Features((Column(self.name, number_reader(raw)),))


class EmptyField(Field):
    """A column that held nothing at all: whatever comes later, nothing is known about it."""

    kind = EMPTY

    def read(self, raw: RawColumn) -> Features:
        """Nothing, whatever the column holds."""
        del raw
        return Features((Column(self.name, MissingReader()),))


@dataclass(frozen=True, eq=False)
class CategoryField(Field):
    """Text, and whatever else has categories."""

    categories: Categories
    kind = CATEGORY

    @property
    def code_names(self) -> tuple[Any, ...]:
        """What each code stands for."""
        return self.categories.names

    def read(self, raw: RawColumn) -> Features:
        """The codes of the categories."""
        coded = coded_column(raw, self.categories.is_text)
        codes, numbers, found = self.categories.readers(coded)
        return Features((Column(self.name, codes, self.categories.names, numbers),), _unseen(raw, coded, found))

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold."""
        return {**super().to_dict(), "levels": self.categories.to_dict()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Field":
        """The inverse of `to_dict`."""
        return cls(given["name"], Categories.from_dict(given["levels"]))


# What stands in the list of categories for all that training never saw, where those have a code.
OTHERS = "(other categories)"


@dataclass(frozen=True, eq=False)
class OpenCategoryField(CategoryField):
    """Categories of a model of another library, which says at each split where categories go that its training never saw.

    All of those share one code, the last; so each split has them in one of its sets.
    """

    hashed: bool = False  # categories are known by hashes of their text alone
    kind = "open category"

    def check(self) -> "OpenCategoryField":
        """Hashes are numbers; returns self, or raises DataError."""
        require(not (self.hashed and self.categories.is_text), "hashes of categories are no numbers")
        require(isinstance(self.categories, AllCategories), "categories of another library share codes")
        return self

    @property
    def code_names(self) -> tuple[Any, ...]:
        """The categories, then all others together."""
        return (*(f"hash {name}" if self.hashed else name for name in self.categories.names), OTHERS)

    def read(self, raw: RawColumn) -> Features:
        """The codes of the categories. Whole numbers are meant where categories are such: what is behind the point is cut off."""
        coded = coded_column(raw, self.hashed or self.categories.is_text)
        entries: Any = coded.dictionary
        if self.hashed:
            entries = np.array([city_hash(text) for text in entries.to_pylist()], np.float64)
        elif isinstance(entries, np.ndarray) and self._is_whole:
            entries = np.trunc(entries)
        found = self.categories.find(entries)
        codes = np.append(np.where(found == UNSEEN, len(self.categories.values), found), MISSING).astype(np.int32)
        reader = CodeReader(coded.positions, codes)
        return Features((Column(self.name, reader, self.code_names, reader),))

    @property
    def _is_whole(self) -> bool:
        values = self.categories.values
        return bool((values == np.trunc(values)).all())

    def number_of(self, value: Any) -> float:
        """The code of one value that is not missing."""
        if self.hashed or self.categories.is_text:
            if self.categories.is_text and not isinstance(value, str):
                raise TypeError("its categories are text")
            text = str(value)
            found = self.categories.find(np.array([city_hash(text)], np.float64) if self.hashed else text_values([text]))
        else:
            number = np.array([float(value)])
            found = self.categories.find(np.trunc(number) if self._is_whole else number)
        return len(self.categories.values) if found[0] == UNSEEN else int(found[0])

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold."""
        return {**super().to_dict(), "hashed": self.hashed}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Field":
        """The inverse of `to_dict`."""
        return cls(given["name"], AllCategories.of(given["levels"]["values"]), given["hashed"])


@dataclass(frozen=True, eq=False)
class SentinelField(Field):
    """Numbers of which some stand for a missing value: those of a small range, such as all that another library rounds to zero."""

    low: float
    high: float
    kind = "sentinel"

    def check(self) -> "SentinelField":
        """The range is one; returns self, or raises DataError."""
        require(bool(-np.inf < self.low <= self.high < np.inf), "what stands for a missing value is no number")
        return self

    def read(self, raw: RawColumn) -> Features:
        """The numbers, NaN in place of those that stand for a missing value."""
        return Features((Column(self.name, SentinelReader(number_reader(raw), self.low, self.high)),))

    def number_of(self, value: Any) -> float:
        """One value that is not missing as a number, NaN if it stands for a missing one."""
        number = float(value)
        return float("nan") if self.low <= number <= self.high else number

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold."""
        return {**super().to_dict(), "low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Field":
        """The inverse of `to_dict`."""
        return cls(given["name"], float(given["low"]), float(given["high"]))


@dataclass(frozen=True, eq=False)
class SentinelReader:
    """Reads numbers, NaN in place of those from low to high."""

    numbers: Reader
    low: float
    high: float

    def __call__(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end."""
        block = self.numbers(begin, end)
        return np.where((block >= self.low) & (block <= self.high), np.asarray(np.nan, block.dtype), block)


@dataclass(frozen=True, eq=False)
class StatisticsField(Field):
    """Categories of any number, read as what is known of the target at each."""

    categories: Categories
    statistics: TargetStatistics
    labels: tuple[str, ...]  # what the statistics are called: classes, or the mean of numbers
    kind = "statistics"

    def check(self) -> "StatisticsField":
        """There are statistics of each category, by name; returns self, or raises DataError."""
        shape = (len(self.labels), len(self.categories.values) + 2)
        require(self.statistics.means.shape == shape, "statistics are of other categories than the column has")
        require(len(set(self.labels)) == len(self.labels), "two statistics of a column have one name")
        return self

    @property
    def features(self) -> tuple[str, ...]:
        """The statistics."""
        return tuple(f"{self.name}:{label}" for label in self.labels)

    def read(self, raw: RawColumn) -> Features:
        """What all training rows say of the category of each row."""
        coded = coded_column(raw, self.categories.is_text)
        _, numbers, found = self.categories.readers(coded)
        means = self.statistics.means
        columns = [Column(name, StatisticsReader(numbers, own), None, numbers) for name, own in zip(self.features, means, strict=True)]
        return Features(tuple(columns), _unseen(raw, coded, found))

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold."""
        known = {name: values.tolist() for name, values in vars(self.statistics).items() if name in ("sums", "counts", "prior", "strength")}
        return {**super().to_dict(), "levels": self.categories.to_dict(), "statistics": known, "labels": list(self.labels)}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Field":
        """The inverse of `to_dict`."""
        known = TargetStatistics(**{name: np.array(values, np.float64) for name, values in given["statistics"].items()})
        return cls(given["name"], Categories.from_dict(given["levels"]), known, tuple(given["labels"]))


@dataclass(frozen=True, eq=False)
class TimeField(Field):
    """Dates with their parts, times of day, durations."""

    sort: str  # which of the three
    parts: tuple[str, ...] = ()
    zone: str | None = None
    kind = "time"

    def check(self) -> "TimeField":
        """The parts and the zone are known; returns self, or raises DataError."""
        require(self.sort in (MOMENT, CLOCK, SPAN), "a time is of no known sort")
        require(self.parts == tuple(part for part in PARTS if part in self.parts), "a date has parts that are not known")
        require(self.zone is None or is_zone(self.zone), "a time zone is not known")
        return self

    @property
    def features(self) -> tuple[str, ...]:
        """The column itself, then its parts."""
        return (self.name, *(f"{self.name}:{part}" for part in self.parts))

    def read(self, raw: RawColumn) -> Features:
        """Seconds, and the parts that varied in training."""
        values = moments(raw, self.sort, self.zone)
        parts = [Column(f"{self.name}:{part}", PartReader(values, part)) for part in self.parts]
        return Features((Column(self.name, SecondsReader(values)), *parts))

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold."""
        return {**super().to_dict(), "sort": self.sort, "parts": list(self.parts), "zone": self.zone}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Field":
        """The inverse of `to_dict`."""
        parts = tuple(part for part in given["parts"] if part in PARTS)
        return cls(given["name"], given["sort"], parts, given["zone"])


def _unseen(raw: RawColumn, coded: Coded, found: NDArray[np.int32]) -> str:
    """How many rows hold categories that training never saw, and some of those categories; nothing when there are none."""
    if not (found == UNSEEN).any():
        return ""
    counts = np.bincount(coded.positions[coded.positions >= 0], minlength=found.size)
    new = np.flatnonzero((found == UNSEEN) & (counts[: found.size] > 0))
    if new.size == 0:
        return ""
    some = [str(coded.dictionary[int(position)]) for position in new]
    rows = int(counts[new].sum())
    what = f"{rows:,} {'row' if rows == 1 else 'rows'} of {new.size:,} {'category' if new.size == 1 else 'categories'}"
    return f"{raw.label} has {what} that training never saw ({listed(some)})"


_KINDS: dict[str, type[Field]] = {
    kind.kind: kind for kind in (NumberField, EmptyField, CategoryField, OpenCategoryField, SentinelField, StatisticsField, TimeField)
}


def coded_if_category(raw: RawColumn, marked: bool) -> RawColumn:
    """The column as positions in a list of categories, if it has categories or the user has marked it as a category."""
    return RawColumn(raw.label, coded_column(raw)) if marked or kind_of(raw) == CATEGORY else raw


def learn_field(name: str, raw: RawColumn, weight: NDArray[np.int64] | None = None) -> Field:
    """What a column of the training table is."""
    kind = kind_of(raw)
    if kind == CATEGORY:
        return CategoryField(name, Categories.learn(coded_column(raw), weight))
    if kind == NUMBER:
        return NumberField(name)
    if kind == EMPTY:
        return EmptyField(name)
    values = raw.values
    zone = getattr(getattr(values, "type", None), "tz", None)
    parts = varying_parts(moments(raw, kind, zone)) if kind == MOMENT else ()
    return TimeField(name, kind, parts, zone)


def field_from_dict(given: dict[str, Any]) -> Field:
    """A field from its description."""
    return _KINDS[given["kind"]].from_dict(given)
