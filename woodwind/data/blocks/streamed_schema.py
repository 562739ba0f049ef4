"""Schema and cuts of a table that is read a batch at a time.

What a column is, its type says. Of categories the different ones are gathered with how often they come, of dates which of their parts vary;
of numbers a `Sketch` is made, whose cells depend on all values and not on how they are divided. So schema and cuts are those that a table
in memory would have, for any size of batches: the sketches of batches are merged, and the merged one is the sketch of all rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.base.pool import side_by_side
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.sketch import Sketch
from woodwind.data.tables.categories import Categories
from woodwind.data.tables.convert import CATEGORY, MOMENT, coded_column, kind_of, moments
from woodwind.data.tables.dates import PARTS, part
from woodwind.data.tables.fields import CategoryField, Field, TimeField, learn_field
from woodwind.data.tables.raw import Coded, RawColumn, label_of
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table

# Different categories of one column that are gathered.
MOST_CATEGORIES = 1_000_000
# Rows that are sorted at a time: that stays inside the second cache.
SKETCH_ROWS = 1 << 16


class SeenCategories:
    """Categories of one column with their weight, from batches."""

    def __init__(self, name: str) -> None:
        self._name, self._weight, self._ordered, self._is_text = name, dict[Any, int](), False, True

    def add(self, coded: Coded, weight: NDArray[np.int64] | None) -> None:
        """The next batch."""
        is_text = not isinstance(coded.dictionary, np.ndarray)
        if self._weight and is_text != self._is_text:
            raise DataError(f"BlockTable: column {self._name!r} holds text in some batches and numbers in others. Convert it to one type.")
        self._is_text, self._ordered = is_text, self._ordered or coded.ordered
        present = coded.positions >= 0
        weights = None if weight is None else weight[present].astype(np.float64)
        counts = np.bincount(coded.positions[present], weights, minlength=len(coded.dictionary))
        # Of an order that the user gave, also what does not come in this batch has its place.
        for value, count in zip(coded.dictionary.tolist(), counts.tolist(), strict=False):
            if count or coded.ordered:
                self._weight[value] = self._weight.get(value, 0) + int(count)
        if len(self._weight) > MOST_CATEGORIES:
            raise DataError(
                f"BlockTable: column {self._name!r} has more than {MOST_CATEGORIES:,} categories. Identifiers and free text teach trees "
                f"nothing: leave it out with ignore=[{self._name!r}]."
            )

    def field(self) -> Field:
        """What was learned."""
        values = list(self._weight)
        dictionary: Any = pa.array(values, pa.large_string()) if self._is_text else np.array(values, np.float64)
        coded = Coded(np.arange(len(values)), dictionary, self._ordered)
        return CategoryField(self._name, Categories.learn(coded, np.array(list(self._weight.values()), np.int64)))


class SeenMoments:
    """Dates of one column, from batches: which of their parts vary."""

    def __init__(self, name: str, zone: str | None) -> None:
        self._name, self._zone = name, zone
        self._low, self._high = dict.fromkeys(PARTS, np.inf), dict.fromkeys(PARTS, -np.inf)

    def add(self, raw: RawColumn) -> None:
        """The next batch."""
        values = moments(raw, MOMENT, self._zone)
        for name in PARTS:
            block = part(values, name)
            block = block[~np.isnan(block)]
            self._low[name] = min(self._low[name], float(block.min(initial=np.inf)))
            self._high[name] = max(self._high[name], float(block.max(initial=-np.inf)))

    def field(self) -> Field:
        """What was learned."""
        varies = {name: self._low[name] < self._high[name] for name in PARTS}
        parts = tuple(name for name in PARTS if varies[name] and (name != "day_of_year" or varies["month"]))
        return TimeField(self._name, MOMENT, parts, self._zone)


class SeenSchema:
    """The schema of some columns, from batches."""

    def __init__(self, schema: pa.Schema, names: Sequence[str], marked: Sequence[str]) -> None:
        self._names = list(names)
        self._fields: dict[str, Field] = {}
        self._seen: dict[str, SeenCategories | SeenMoments] = {}
        for name in names:
            kind = schema.field(name).type
            raw = RawColumn(label_of(0, name), pa.chunked_array([], kind))
            is_a = CATEGORY if name in marked else kind_of(raw)
            if is_a == CATEGORY:
                self._seen[name] = SeenCategories(name)
            elif is_a == MOMENT:
                self._seen[name] = SeenMoments(name, getattr(kind, "tz", None))
            else:
                self._fields[name] = learn_field(name, raw)

    @property
    def looked_at(self) -> list[str]:
        """The columns whose cells have to be seen; of the others the type is enough."""
        return list(self._seen)

    def add(self, batch: pa.Table, weight: NDArray[np.int64] | None) -> None:
        """The next batch, which has the columns that are looked at."""
        for name, seen in self._seen.items():
            raw = RawColumn(label_of(0, name), batch.column(name))
            if isinstance(seen, SeenCategories):
                seen.add(coded_column(raw), weight)
            else:
                seen.add(raw)

    def schema(self) -> Schema:
        """What was learned."""
        fields = {**self._fields, **{name: seen.field() for name, seen in self._seen.items()}}
        return Schema(tuple(self._names), tuple(fields[name] for name in self._names))


class SeenNumbers:
    """Sketches of the number columns of a table, from batches."""

    def __init__(self, table: Table, threads: int) -> None:
        self._features = [position for position, column in enumerate(table.columns) if not column.category]
        self._sketches = {feature: Sketch.empty() for feature in self._features}
        self._threads = threads

    def add(self, table: Table, weight: NDArray[np.int64] | None) -> None:
        """The next batch."""

        def column(_side: int, feature: int) -> None:
            for begin in range(0, table.n_rows, SKETCH_ROWS):
                end = min(begin + SKETCH_ROWS, table.n_rows)
                values, own = table.columns[feature].block(begin, end), self._sketches[feature]
                some = Sketch.of(values, None if weight is None else weight[begin:end], own.shift)
                self._sketches[feature] = own.merge(some)

        side_by_side(column, self._features, self._threads)

    def cuts(self, table: Table, max_bins: int) -> Cuts:
        """The cuts of all batches; `table` is any of them."""
        none = np.empty(0, np.float64)
        edges = [self._sketches[f].edges(max_bins) if f in self._sketches else none for f in range(len(table.columns))]
        return Cuts.of(edges, table.columns)


def marked_columns(given: Any, names: Sequence[str]) -> list[str]:
    """The columns that are categories because the caller says so: by name."""
    if given is None:
        return []
    chosen: Iterable[Any] = [given] if isinstance(given, str) else given
    found = list(chosen)
    for name in found:
        if name not in names:
            raise DataError(f"BlockTable: categorical_features names {name!r}, and there is no such column. Give names of columns.")
    return [str(name) for name in found]
