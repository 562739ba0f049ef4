"""Columns that are of another kind than in training."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from woodwind.base.errors import TableError, UnseenCategoryWarning
from woodwind.data.tables.schema import Schema


def read(trained, given):
    """What a model trained on one column makes of another."""
    schema, _ = Schema.learn(pd.DataFrame({"c": trained}))
    table = schema.read(pd.DataFrame({"c": given}))
    return [np.asarray(column.block(0, len(given)), float).tolist() for column in table.columns]


DATES = pd.to_datetime(["2024-01-31", "2024-01-31"])


@pytest.mark.parametrize(
    ("trained", "given", "expected"),
    [
        ([1.5, 2.5], ["1.5", " 2e3 "], [[1.5, 2000.0]]),
        ([1.5, 2.5], pd.Categorical(["7", "-1"]), [[7.0, -1.0]]),
        ([1.5, 2.5], pd.Categorical([7, 8]), [[7.0, 8.0]]),
        ([1.5, 2.5], [True, False], [[1.0, 0.0]]),
        ([True, False], [1, 0], [[1.0, 0.0]]),
        ([1, 2], pd.array([1.5, 2.5], "Float64"), [[1.5, 2.5]]),
        (["1", "2"], [2, 1], [[1, 0]]),
        (["1", "2.5"], [2.5, 1.0], [[1, 0]]),
        (pd.Categorical([1, 2]), [2, 1], [[1, 0]]),
        (pd.Categorical([1, 2]), ["2", "1"], [[1, 0]]),
        (pd.Categorical(["a", "b"]), ["b", "a"], [[1, 0]]),
        (["a", "b"], pd.Categorical(["b", "a"], ["b", "a"]), [[1, 0]]),
        (DATES, ["1970-01-01", "1970-01-01T00:00:01"], [[0.0, 1.0]]),
        (DATES, [pd.Timestamp(0), pd.Timestamp(0)], [[0.0, 0.0]]),
    ],
)
def test_a_column_is_converted_where_its_values_say_the_same(trained, given, expected):
    assert read(trained, given) == expected


NOTHING = [None, None]


@pytest.mark.parametrize(
    ("trained", "expected"),
    [([1.0, 2.0], np.nan), (["a", "b"], -1), (DATES, np.nan), (pd.to_timedelta([1, 2], "s"), np.nan), (pd.Categorical([1, 2]), -1)],
)
def test_a_column_of_nothing_is_missing_in_every_kind(trained, expected):
    assert np.array_equal(read(trained, NOTHING), [[expected, expected]], equal_nan=True)


@pytest.mark.parametrize("given", [[1.0, 2.0], ["a", "b"], DATES, NOTHING])
def test_nothing_is_known_about_a_column_that_was_empty_in_training(given):
    assert np.isnan(read(NOTHING, given)).all()


@pytest.mark.parametrize(
    ("trained", "given", "words"),
    [
        ([1.0, 2.0], ["1", "x"], ["was a number", "'x'", "first in row 2"]),
        ([1.0, 2.0], DATES, ["was a number", "date"]),
        ([1.0, 2.0], pd.to_timedelta([1, 2], "s"), ["was a number", "duration"]),
        (pd.Categorical([1, 2]), ["1", "x"], ["'x'"]),
        (DATES, [1, 2], ["was a date", "number"]),
        (DATES, ["2024-01-31", "yesterday"], ["was a date", "yesterday"]),
        (pd.to_timedelta([1, 2], "s"), DATES, ["was a duration", "date"]),
        (pd.to_timedelta([1, 2], "s"), ["1", "2"], ["was a duration", "category"]),
    ],
)
def test_what_cannot_be_converted_is_an_error_that_names_the_column(trained, given, words):
    with pytest.raises(TableError, match="WW-D014: column 'c'") as error:
        read(trained, given)
    for word in [*words, "Fix:"]:
        assert word in str(error.value)


def test_levels_that_are_not_used_need_no_conversion():
    given = pd.Categorical(["7", "8"], ["7", "8", "not a number"])
    assert read([1.0, 2.0], given) == [[7.0, 8.0]]


def test_numbers_given_for_text_are_unseen_when_no_level_says_them():
    with pytest.warns(UnseenCategoryWarning, match=r"2 rows of 2 categories that training never saw \('1', '2.5'\)"):
        assert read(["a", "b"], [1, 2.5]) == [[-2, -2]]


def test_dates_marked_as_categories_are_levels_by_their_text():
    frame = pd.DataFrame({"c": DATES})
    schema, table = Schema.learn(frame, ["c"])
    assert table.columns[0].block(0, 2).tolist() == [0, 0]
    assert schema.read(frame).columns[0].block(0, 2).tolist() == [0, 0]
    schema, _ = Schema.learn(frame.assign(c=pd.to_timedelta([1, 2], "s")), ["c"])
    assert schema.categories[0] is not None


def test_text_of_polars_is_converted_too():
    schema, _ = Schema.learn(pl.DataFrame({"c": [1.0, 2.0]}))
    assert schema.read(pl.DataFrame({"c": ["3", None]})).columns[0].block(0, 1).tolist() == [3.0]
