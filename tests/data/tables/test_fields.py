"""What training learns about each column, and its description."""

import json

import numpy as np
import pandas as pd
import pytest

from woodwind.data.tables.fields import coded_if_category, field_from_dict, learn_field
from woodwind.data.tables.frames import open_table

COLUMNS = {
    "number": [1.0, None],
    "text": ["b", None],
    "empty": [None, None],
    "date": pd.to_datetime(["2024-01-31", "2025-02-01"]).tz_localize("UTC"),
    "span": pd.to_timedelta([1, 2], "s"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_field_comes_back_from_json(name):
    raw = open_table(pd.DataFrame({name: COLUMNS[name]})).column(0)
    field = learn_field(name, raw)
    again = field_from_dict(json.loads(json.dumps(field.to_dict())))
    assert type(again) is type(field)
    assert again.features == field.features
    for a, b in zip(field.read(raw).columns, again.read(raw).columns, strict=True):
        assert (a.name, a.categories) == (b.name, b.categories)
        assert np.array_equal(a.block(0, 2), b.block(0, 2), equal_nan=True)


def test_features_are_named_as_their_columns():
    for name, values in COLUMNS.items():
        raw = open_table(pd.DataFrame({name: values})).column(0)
        field = learn_field(name, raw)
        assert tuple(column.name for column in field.read(raw).columns) == field.features


def test_a_marked_column_is_a_category_whatever_it_holds():
    for name, values in COLUMNS.items():
        raw = open_table(pd.DataFrame({name: values})).column(0)
        (column,) = learn_field(name, coded_if_category(raw, True)).read(raw).columns
        assert column.category
