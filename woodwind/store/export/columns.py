"""From columns of a table to the features of a model and to the matrix of numbers that linear members read, as operations of a graph.

The same is done to arrays by `data/tables/fields.py` and `data/tables/matrix_form.py`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import NotExportableError
from woodwind.data.tables.convert import coded_column, number_reader
from woodwind.data.tables.fields import (
    CategoryField,
    EmptyField,
    Field,
    NumberField,
    OpenCategoryField,
    SentinelField,
    StatisticsField,
    TimeField,
)
from woodwind.data.tables.frames import open_table
from woodwind.data.tables.matrix_form import CategoryPart, MatrixForm, NumberPart
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import MISSING, UNSEEN
from woodwind.store.export.graph import TEXT, Column, Graph, Input, InputColumns, Operation, concat, constant, each, take

# What stands for a missing text: other libraries have no missing strings.
NO_TEXT = ""


def features_of(schema: Schema, columns: Sequence[Column], given: InputColumns) -> list[Operation]:
    """The features that a schema makes of columns, one operation of one column each."""
    return [feature for one, column in zip(schema.fields, columns, strict=True) for feature in _features(one, column, given)]


def _features(one: Field, column: Column, given: InputColumns) -> list[Operation]:
    if isinstance(one, OpenCategoryField | SentinelField):
        raise NotExportableError(
            f"column {one.name!r} is read as another library reads it (categories that it never saw, or numbers that stand for missing "
            "values), which no export has yet. Export the model from the library that trained it."
        )
    if isinstance(one, EmptyField):
        return [constant(np.nan)]
    if isinstance(one, NumberField):
        return [column if isinstance(column, Operation) else given.number(column)]
    if isinstance(column, Operation):
        raise NotExportableError(f"{given.owner}: the column {one.name!r} of a later layer is no number. Stack probabilities or numbers.")
    if isinstance(one, TimeField):
        return [given.number(column, one, part) for part in range(len(one.features))]
    if isinstance(one, StatisticsField):
        table = given.category(column, one.categories.values.tolist(), one.statistics.means.T, one.categories.is_text)
        return [take(table, [position]) for position in range(table.width)]
    assert isinstance(one, CategoryField)
    return [category_feature(one, column, given, np.concatenate([one.categories.codes, [UNSEEN, MISSING]]))]


def category_feature(one: CategoryField, column: Column, given: InputColumns, rows: Any) -> Operation:
    """A row of numbers for each category of a field, then for those never seen and for missing ones."""
    assert not isinstance(column, Operation)
    return given.category(column, one.categories.values.tolist(), rows, one.categories.is_text)


def matrix_of(form: MatrixForm, columns: Sequence[Column], given: InputColumns) -> Operation:
    """The matrix of numbers without gaps that `MatrixForm.of` makes."""
    schema = form.schema
    features = features_of(schema, columns, given)
    parts: list[Operation] = []
    for position, part in enumerate(form.parts):
        source = int(schema.source[position])
        if isinstance(part, NumberPart):
            parts += _number_part(part, features[position])
            continue
        assert isinstance(part, CategoryPart)
        one = schema.fields[source]
        assert isinstance(one, CategoryField)
        indicators = np.zeros((len(one.categories.codes) + 2, len(part.names)))
        place = np.concatenate([part.position[one.categories.codes], [-1], part.position[-1:]])
        there = np.flatnonzero(place >= 0)
        indicators[there, place[there]] = 1.0
        if part.names:
            parts.append(category_feature(one, columns[source], given, indicators))
    return concat(parts)


def _number_part(part: NumberPart, values: Operation) -> list[Operation]:
    missing = each("is_missing", values)
    filled = each("where", missing, part.centre, values)
    filled = each("where", each("greater", filled, np.finfo(np.float64).max), part.high, filled)
    filled = each("where", each("greater", -np.finfo(np.float64).max, filled), part.low, filled)
    scaled = each("div", each("sub", filled, part.shift), part.scale)
    return [scaled, missing] if part.marks else [scaled]


def table_inputs(graph: Graph, X: Any, dtype: Any) -> dict[str, NDArray[Any]]:
    """A table as the exported model reads it: one matrix called X, or one column (n, 1) for each input, text as text."""
    raw = open_table(X)
    positions = graph.columns.header.positions(raw, graph.columns.owner)

    def values(one: Input) -> NDArray[Any]:
        column = raw.column(positions[one.position])
        if one.moment is not None:
            return np.asarray(one.moment.read(column).columns[one.part].block(0, raw.n_rows)).astype(dtype)
        if graph.columns.kind(one.position) == TEXT:
            coded = coded_column(column, True)
            known = np.array([*coded.dictionary.tolist(), NO_TEXT], object)
            return np.asarray(known[coded.positions])
        return np.asarray(number_reader(column)(0, raw.n_rows)).astype(dtype)

    found = {one.name: values(one).reshape(-1, 1) for one in graph.inputs}
    return {"X": np.hstack(list(found.values()))} if graph.is_matrix else found
