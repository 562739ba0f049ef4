"""Schema: the columns that a model was trained on, and how any later table is read as those."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ManyCategoriesWarning, UnseenCategoryWarning
from woodwind.base.notice import notice
from woodwind.base.sound import sound
from woodwind.data.categories import MOST_CODES
from woodwind.data.convert import MOMENT, open_columns, unwrapped
from woodwind.data.faults import fault, listed
from woodwind.data.fields import CategoryField, Field, NumberField, TimeField, coded_if_category, field_from_dict, learn_field
from woodwind.data.frames import open_table
from woodwind.data.header import Header
from woodwind.data.raw import RawTable
from woodwind.data.sketch import integer_weights
from woodwind.data.table import Table
from woodwind.data.whole_numbers import are_beyond_doubles, warn_of_precision

# What trees do with levels that training never saw.
STOPS = "Each such row stops at the split and takes the mean of that node."


@dataclass(frozen=True, eq=False)
class Schema:
    """The columns of the training table, in its order."""

    names: tuple[str, ...] | None  # of the input columns; None when they had none
    fields: tuple[Field, ...]  # one for each input column

    @classmethod
    def learn(
        cls,
        X: Any,
        categorical_features: Sequence[Any] | str | None = None,
        *,
        weight: NDArray[np.float64] | None = None,
        owner: str = "Woodwind",
        watch: Callable[[], None] = lambda: None,
    ) -> "tuple[Schema, Table]":
        """Look at a training table of any type, and read it.

        `categorical_features` names further columns that are to be taken as categories: by name, by place, or as
        one truth value for each column. `weight` matters only to columns of more levels than there are codes for. `watch` is called
        after every column: whoever has no time left raises an exception there.
        """
        raw = open_table(X)
        marked = _marked(raw, categorical_features, owner)
        integers = None if weight is None else integer_weights(weight)
        names = raw.names or tuple(f"x{place}" for place in range(raw.n_columns))
        fields = []
        open_columns(raw)
        for place, name in enumerate(names):
            column = coded_if_category(raw.column(place), bool(marked[place]))
            raw.opened[place] = column  # text is turned into places once, not again when it is read
            fields.append(learn_field(name, column, integers))
            watch()
        schema = cls(raw.names, tuple(fields))
        _warn_of_precision(raw, fields)
        return schema, schema._table(raw, list(range(len(fields))))[0]

    def read(self, X: Any, *, owner: str = "Woodwind", unseen: str = STOPS, beside: Collection[str] = ()) -> Table:
        """Read another table as features of this model: columns are found by name where both have names.

        `unseen` is what the user is told becomes of levels that training never saw. Columns `beside` those of the model are expected.
        """
        raw = open_table(X)
        table, notes = self._table(raw, self.header.places(raw, owner, beside))
        if notes:
            notice(f"{'; '.join(notes)}. {unseen}", UnseenCategoryWarning)
        return table

    def _table(self, raw: RawTable, places: list[int]) -> tuple[Table, list[str]]:
        """The features of the columns at these places of the input, and what the user should be told of them."""
        made = [field.read(raw.column(place)) for field, place in zip(self.fields, places, strict=True)]
        columns = tuple(column for features in made for column in features.columns)
        inside = [
            place if raw.matrix is not None and isinstance(field, NumberField) else -1
            for field, place, features in zip(self.fields, places, made, strict=True)
            for _ in features.columns
        ]
        table = Table(columns, raw.n_rows, raw.matrix, np.array(inside, np.int64))
        return table, [features.note for features in made if features.note]

    def tell_of_merged(self, owner: str) -> None:
        """Warn of columns whose rarer levels trees take as one: codes have room for so many."""
        for field in self.fields:
            size = len(field.levels.values) if isinstance(field, CategoryField) else 0
            if size > MOST_CODES:
                notice(
                    f"{owner}: column {field.name!r} has {size:,} categories, and trees tell at most {MOST_CODES} apart: the "
                    f"{MOST_CODES - 1} most frequent are kept, and the other {size - MOST_CODES + 1:,} are taken as one. Give means of the "
                    "target instead, as TargetEncoder of sklearn.preprocessing makes them, or numbers that say what the categories are "
                    "like; woodwind.fit reads such columns as means of the target for some of its members.",
                    ManyCategoriesWarning,
                )

    def check(self) -> "Schema":
        """There is a field for each column, of its name; gives itself, or raises DataError."""
        self.header.check()
        # A table whose columns are found already may have been stripped of their names; fields keep theirs.
        names = tuple(field.name for field in self.fields)
        sound(self.names is None or names == self.names, "fields have other names than their columns")
        return self

    @property
    def header(self) -> Header:
        """What the columns are called."""
        return Header(self.names, len(self.fields))

    @property
    def n_inputs(self) -> int:
        """Number of columns of the training table."""
        return len(self.fields)

    @cached_property
    def place_of(self) -> dict[str, int]:
        """The place of each input column by its name; of none where they have no names."""
        return {name: place for place, name in enumerate(self.names or ())}

    def features_of(self, column: int) -> range:
        """The features that come from an input column."""
        begin, end = np.searchsorted(self.source, [column, column + 1]).tolist()
        return range(begin, end)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features; a date gives several."""
        return tuple(name for field in self.fields for name in field.features)

    @cached_property
    def source(self) -> NDArray[np.int64]:
        """The input column that each feature comes from."""
        return np.repeat(np.arange(len(self.fields)), [len(field.features) for field in self.fields])

    @cached_property
    def levels(self) -> tuple[tuple[Any, ...] | None, ...]:
        """What the codes of each feature stand for; None for numbers."""
        return tuple(field.levels.names if hasattr(field, "levels") else None for field in self.fields for _ in field.features)

    @cached_property
    def level_counts(self) -> NDArray[np.int64]:
        """Levels of each feature, rare ones too; 0 for numbers."""
        counts = [len(field.levels.values) if hasattr(field, "levels") else 0 for field in self.fields for _ in field.features]
        return np.array(counts, np.int64)

    @cached_property
    def code_counts(self) -> NDArray[np.int64]:
        """Codes of the levels of each feature, one at least; 0 for numbers."""
        return np.array([0 if levels is None else max(len(levels), 1) for levels in self.levels], np.int64)

    @cached_property
    def moments(self) -> tuple[str | None, ...]:
        """For each feature of seconds since 1970, what is to be written behind a date of it: Z (UTC) with a time zone; None for others."""
        out: list[str | None] = []
        for field in self.fields:
            of_field: list[str | None] = [None] * len(field.features)
            if isinstance(field, TimeField) and field.sort == MOMENT:
                of_field[0] = "" if field.zone is None else "Z"
            out += of_field
        return tuple(out)

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold."""
        names = None if self.names is None else list(self.names)
        return {"names": names, "fields": [field.to_dict() for field in self.fields]}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Schema":
        """The inverse of `to_dict`."""
        names = None if given["names"] is None else tuple(given["names"])
        return cls(names, tuple(field_from_dict(field) for field in given["fields"]))


def _marked(raw: RawTable, given: Sequence[Any] | str | None, owner: str) -> NDArray[np.bool_]:
    """Which columns the user says are categories."""
    marked = np.zeros(raw.n_columns, np.bool_)
    if given is None or (isinstance(given, str) and given == "from_dtype"):
        return marked
    chosen = np.asarray([given] if isinstance(given, (str, int)) else list(given), dtype=object)
    if chosen.size and all(isinstance(item, (bool, np.bool_)) for item in chosen):
        if chosen.size != marked.size:
            raise _bad_choice(owner, f"{chosen.size} truth values for {marked.size} columns", raw)
        return chosen.astype(np.bool_)
    where = {name: place for place, name in enumerate(raw.names or ())}
    for item in chosen:
        if isinstance(item, str):
            if item not in where:
                raise _bad_choice(owner, f"there is no column {item!r}", raw)
            marked[where[item]] = True
        elif isinstance(item, (int, np.integer)) and 0 <= item < marked.size:
            marked[item] = True
        else:
            raise _bad_choice(owner, f"{item!r} is neither a name nor a place from 0 to {marked.size - 1}", raw)
    return marked


def _bad_choice(owner: str, what: str, raw: RawTable) -> Exception:
    """The error for categorical_features that do not fit the table."""
    names = "the columns have no names" if raw.names is None else f"the columns are {listed(raw.names, 10)}"
    return fault(
        "D016",
        f"categorical_features of {owner} does not fit the table: {what}.",
        f"It says which columns are categories; {names}.",
        "give names or places of columns, or one truth value for each; text needs no mention.",
    )


def _warn_of_precision(raw: RawTable, fields: list[Field]) -> None:
    """Warn of whole numbers that no double can tell apart."""
    columns = [raw.column(place) for place, field in enumerate(fields) if isinstance(field, NumberField)]
    large = [column.label for column in columns if are_beyond_doubles(unwrapped(column))]
    if large:
        warn_of_precision(large)
