"""Schema: the columns that a model was trained on, and how any later table is read as those."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.did_you_mean import nearest
from woodwind.base.errors import ExtraColumnWarning, ManyCategoriesWarning, NamelessTableWarning, UnseenCategoryWarning
from woodwind.base.fixed import integer_weights
from woodwind.base.notice import notice
from woodwind.base.validate import require
from woodwind.data.tables.categories import MOST_CODES
from woodwind.data.tables.convert import MOMENT, open_columns, unwrapped
from woodwind.data.tables.fields import (
    CategoryField,
    Field,
    NumberField,
    StatisticsField,
    TimeField,
    coded_if_category,
    field_from_dict,
    learn_field,
)
from woodwind.data.tables.frames import open_table
from woodwind.data.tables.raw import RawTable, are_beyond_doubles, warn_of_precision
from woodwind.data.tables.table import SparseColumns, Table
from woodwind.data.tables.table_errors import listed, table_error

# ----------------------------------------------------------------------------------------------------
# Header: what the columns of a training table are called, and where they are in another table.

# Columns of a table that a model file speaks of: where they have no names, nothing else in the file says how many there are.
MOST_COLUMNS = 1 << 23


@dataclass(frozen=True)
class Header:
    """The columns of a table, in its order."""

    names: tuple[str, ...] | None  # None when they have none
    n_columns: int

    def check(self) -> "Header":
        """There is a name for each column, or for none; returns self, or raises DataError."""
        require(1 <= self.n_columns <= MOST_COLUMNS, "there are no columns, or too many")
        require(self.names is None or len(set(self.names)) == len(self.names) == self.n_columns, "columns have not one name each")
        return self

    def positions(self, raw: RawTable, owner: str, beside: Collection[str] = ()) -> list[int]:
        """Where in the input each column of the training table is. Nothing need be said of columns `beside` them, such as the target."""
        if raw.names is None or self.names is None:
            self._check_count(raw, owner)
            return list(range(self.n_columns))
        where = {name: position for position, name in enumerate(raw.names)}
        missing = [name for name in self.names if name not in where]
        known = {*self.names, *beside}
        extra = [name for name in raw.names if name not in known]
        if missing:
            raise _missing_columns(missing, extra, owner)
        if extra:
            notice(
                f"{owner} ignores {len(extra)} {'column' if len(extra) == 1 else 'columns'} that training never saw: {listed(extra)}.",
                ExtraColumnWarning,
            )
        return [where[name] for name in self.names]

    def _check_count(self, raw: RawTable, owner: str) -> None:
        """Columns without names go by their positions: there must be as many as in training."""
        if raw.n_columns != self.n_columns:
            raise table_error(
                "D013",
                f"X has {raw.n_columns} features, but {owner} is expecting {self.n_columns} features as input.",
                "Columns without names are matched by their positions.",
                "give the columns of the training table, in its order.",
            )
        if self.names is not None:
            notice(
                f"X does not have valid feature names, but {owner} was fitted with feature names: "
                "columns are taken in the order of the training table.",
                NamelessTableWarning,
            )


def _missing_columns(missing: list[str], extra: list[str], owner: str) -> Exception:
    """The error for a table that lacks columns of the training table; it points at names that are nearly right."""
    hints = [f"{near!r} may be {name!r}" for name in missing[:3] if (near := _near(name, extra))]
    one = len(missing) == 1
    meant = f" Did you mean {_near(missing[0], extra)!r}?" if one and hints else ""
    also = f" Columns that training never saw: {listed(extra, 10)}." if extra else ""
    whose = owner[:1].lower() + owner[1:] if owner.startswith("The ") else owner
    fix = f"give {'it' if one else 'them'}, filled with missing values if {'it is' if one else 'they are'} unknown"
    return table_error(
        "D012",
        f"the {'column' if one else 'columns'} {listed(missing, 10)}, which {whose} was trained with, {'is' if one else 'are'} missing."
        f"{meant}{also}",
        "The feature names should match those that were passed during fit: the model splits on these columns.",
        fix + (f"; {', '.join(hints)}." if hints else "."),
    )


def _near(name: str, others: list[str]) -> str | None:
    """The name that differs by its case alone, else one that differs by a few letters."""
    alike = [other for other in others if other.strip().casefold() == name.strip().casefold()]
    return next(iter(alike or nearest(name, others, alike=0.6)), None) or _one_letter_off(name, others)


def _one_letter_off(name: str, others: list[str]) -> str | None:
    """A name with one letter more, less or changed: of short names, too few letters agree for the usual measure."""
    for other in others:
        if len(name) == len(other) > 1 and sum(one != two for one, two in zip(name, other, strict=True)) == 1:
            return other
        short, long = sorted((name, other), key=len)
        if short and len(long) == len(short) + 1 and any(long[:position] + long[position + 1 :] == short for position in range(len(long))):
            return other
    return None


# What trees do with categories that training never saw.
STOPS = "Each such row stops at the split and takes the mean of that node."
# And where categories are read as means of the target.
PRIOR = "Nothing is known of them, and each such row counts as one of all."
# What a cell may be that a sparse matrix does not store, and the number that it is read as.
ABSENT = {"zero": 0.0, "missing": float("nan")}


@dataclass(frozen=True, eq=False)
class Schema:
    """The columns of the training table, in its order."""

    YOUNGER: ClassVar[tuple[str, ...]] = ("sparse_absent",)  # files of earlier versions have none

    names: tuple[str, ...] | None  # of the input columns; None when they had none
    fields: tuple[Field, ...]  # one for each input column
    sparse_absent: str = "zero"  # what a cell is that a sparse matrix does not store: zero or missing

    @classmethod
    def learn(
        cls,
        X: Any,
        categorical_features: Sequence[Any] | str | None = None,
        *,
        weight: NDArray[np.float64] | None = None,
        owner: str = "Woodwind",
        sparse_absent: str = "zero",
        watch: Callable[[], None] = lambda: None,
    ) -> "tuple[Schema, Table]":
        """Look at a training table of any type, and read it.

        `categorical_features` names further columns that are to be taken as categories: by name, by position, or as
        one truth value for each column. `weight` matters only to columns of more categories than there are codes for. `sparse_absent` is
        what a cell is that a sparse matrix does not store. `watch` is called after every column: whoever has no time left raises an
        exception there.
        """
        raw = open_table(X, ABSENT[sparse_absent])
        marked = _marked(raw, categorical_features, owner)
        integers = None if weight is None else integer_weights(weight)
        names = raw.names or tuple(f"x{position}" for position in range(raw.n_columns))
        if raw.sparse is not None and not marked.any():  # of ten thousand columns, nothing need be asked one by one
            schema = cls(raw.names, tuple(NumberField(name) for name in names), sparse_absent)
            if raw.sparse.given.dtype.kind != "f":
                _warn_of_precision(raw, schema.fields)
            return schema, schema._table(raw, list(range(raw.n_columns)))[0]
        fields: list[Field] = []
        open_columns(raw)
        for position, name in enumerate(names):
            column = coded_if_category(raw.column(position), bool(marked[position]))
            raw.opened[position] = column  # text is turned into positions once, not again when it is read
            fields.append(learn_field(name, column, integers))
            watch()
        schema = cls(raw.names, tuple(fields), sparse_absent)
        _warn_of_precision(raw, fields)
        return schema, schema._table(raw, list(range(len(fields))))[0]

    def read(self, X: Any, *, owner: str = "Woodwind", unseen: str = STOPS, beside: Collection[str] = ()) -> Table:
        """Read another table as features of this model: columns are found by name where both have names.

        `unseen` is what the user is told becomes of categories that training never saw. Columns `beside` those of the model are expected.
        """
        raw = open_table(X, ABSENT[self.sparse_absent])
        table, notes = self._table(raw, self.header.positions(raw, owner, beside))
        read_as_means = [isinstance(field, StatisticsField) for field in self.fields]
        for words, of_means in ((unseen, False), (PRIOR, True)):
            own = [note for note, means in zip(notes, read_as_means, strict=True) if note and means == of_means]
            if own:
                notice(f"{'; '.join(own)}. {words}", UnseenCategoryWarning)
        return table

    def _table(self, raw: RawTable, positions: list[int]) -> tuple[Table, list[str]]:
        """The features of the columns at these positions of the input, and what the user should be told of each column."""
        if raw.sparse is not None and all(isinstance(field, NumberField) for field in self.fields):
            thin = SparseColumns(self.feature_names, raw.sparse)  # it has no names, and so positions are its own
            return Table(thin, raw.n_rows, None, np.full(len(thin), -1, np.int64), raw.sparse), [""] * len(thin)
        made = [field.read(raw.column(position)) for field, position in zip(self.fields, positions, strict=True)]
        columns = tuple(column for features in made for column in features.columns)
        inside = [
            position if raw.matrix is not None and isinstance(field, NumberField) else -1
            for field, position, features in zip(self.fields, positions, made, strict=True)
            for _ in features.columns
        ]
        table = Table(columns, raw.n_rows, raw.matrix, np.array(inside, np.int64))
        return table, [features.note for features in made]

    def warn_merged(self, owner: str) -> None:
        """Warn of columns whose rarer categories trees take as one: codes have room for so many."""
        for field in self.fields:
            size = len(field.categories.values) if isinstance(field, CategoryField) else 0
            if size > MOST_CODES:
                notice(
                    f"{owner}: column {field.name!r} has {size:,} categories, and trees tell at most {MOST_CODES} apart: the "
                    f"{MOST_CODES - 1} most frequent are kept, and the other {size - MOST_CODES + 1:,} are taken as one. Give means of the "
                    "target instead, as woodwind.OrderedTargetEncoder makes them, or numbers that say what the categories are like; "
                    "gradient boosting, forests and decision trees take such means by themselves with categorical_encoding='auto'.",
                    ManyCategoriesWarning,
                )

    def check(self) -> "Schema":
        """There is a field for each column, of its name; returns self, or raises DataError."""
        self.header.check()
        require(self.sparse_absent in ABSENT, "cells that are not stored are neither zero nor missing")
        # A table whose columns are found already may have been stripped of their names; fields keep theirs.
        names = tuple(field.name for field in self.fields)
        require(self.names is None or names == self.names, "fields have other names than their columns")
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
    def position_of(self) -> dict[str, int]:
        """The position of each input column by its name; of none where they have no names."""
        return {name: position for position, name in enumerate(self.names or ())}

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
    def categories(self) -> tuple[tuple[Any, ...] | None, ...]:
        """What the codes of each feature stand for; None for numbers."""
        named = [field.code_names if isinstance(field, CategoryField) else None for field in self.fields]
        return tuple(names for field, names in zip(self.fields, named, strict=True) for _ in field.features)

    @cached_property
    def category_counts(self) -> NDArray[np.int64]:
        """Categories of each feature, rare ones too; 0 for numbers."""
        sizes = [len(field.categories.values) if isinstance(field, CategoryField) else 0 for field in self.fields]
        counts = [size for field, size in zip(self.fields, sizes, strict=True) for _ in field.features]
        return np.array(counts, np.int64)

    @cached_property
    def code_counts(self) -> NDArray[np.int64]:
        """Codes of the categories of each feature, one at least; 0 for numbers."""
        return np.array([0 if categories is None else max(len(categories), 1) for categories in self.categories], np.int64)

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
        absent = {} if self.sparse_absent == "zero" else {"sparse_absent": self.sparse_absent}
        return {"names": names, "fields": [field.to_dict() for field in self.fields], **absent}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Schema":
        """The inverse of `to_dict`."""
        names = None if given["names"] is None else tuple(given["names"])
        return cls(names, tuple(field_from_dict(field) for field in given["fields"]), given.get("sparse_absent", "zero"))


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
    where = {name: position for position, name in enumerate(raw.names or ())}
    for item in chosen:
        if isinstance(item, str):
            if item not in where:
                raise _bad_choice(owner, f"there is no column {item!r}", raw)
            marked[where[item]] = True
        elif isinstance(item, (int, np.integer)) and 0 <= item < marked.size:
            marked[item] = True
        else:
            raise _bad_choice(owner, f"{item!r} is neither a name nor a position from 0 to {marked.size - 1}", raw)
    return marked


def _bad_choice(owner: str, what: str, raw: RawTable) -> Exception:
    """The error for categorical_features that do not fit the table."""
    names = "the columns have no names" if raw.names is None else f"the columns are {listed(raw.names, 10)}"
    return table_error(
        "D016",
        f"categorical_features of {owner} does not fit the table: {what}.",
        f"It says which columns are categories; {names}.",
        "give names or positions of columns, or one truth value for each; text needs no mention.",
    )


def _warn_of_precision(raw: RawTable, fields: Sequence[Field]) -> None:
    """Warn of whole numbers that no double can tell apart."""
    columns = [raw.column(position) for position, field in enumerate(fields) if isinstance(field, NumberField)]
    large = [column.label for column in columns if are_beyond_doubles(unwrapped(column))]
    if large:
        warn_of_precision(large)
