"""Schemas: what training saw, and how later tables are matched with it."""

import copy
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from woodwind.base.errors import (
    ColumnTypeError,
    ExtraColumnWarning,
    NamelessTableWarning,
    PrecisionWarning,
    TableError,
    UnseenCategoryWarning,
)
from woodwind.data.tables.frames import as_arrow
from woodwind.data.tables.schema import Schema

FRAME = pd.DataFrame(
    {
        "price": [1.5, 2.5, None],
        "colour": ["red", None, "blue"],
        "sold": pd.to_datetime(["2024-01-31", "2024-02-01", None]),
        "new": [True, False, True],
    }
)


def blocks(table):
    return [np.asarray(column.block(0, table.n_rows), float).tolist() for column in table.columns]


def same(a, b):
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(blocks(a), blocks(b), strict=True))


def test_a_schema_says_what_each_feature_is():
    schema, table = Schema.learn(FRAME)
    assert schema.names == ("price", "colour", "sold", "new")
    assert schema.n_inputs == 4
    assert schema.feature_names == ("price", "colour", "sold", "sold:month", "sold:weekday", "sold:day", "sold:day_of_year", "new")
    assert schema.source.tolist() == [0, 1, 2, 2, 2, 2, 2, 3]
    assert schema.categories == (None, ("blue", "red"), None, None, None, None, None, None)
    assert tuple(column.name for column in table.columns) == schema.feature_names
    assert table.n_rows == 3


def test_columns_are_matched_by_name():
    schema, table = Schema.learn(FRAME)
    assert same(schema.read(FRAME[["new", "sold", "colour", "price"]]), table)
    assert same(schema.read(pl.from_pandas(FRAME).select("sold", "price", "new", "colour")), table)


def test_further_columns_are_ignored_with_one_warning():
    schema, table = Schema.learn(FRAME)
    with pytest.warns(ExtraColumnWarning, match="Booster ignores 2 columns that training never saw: 'y', 'x'") as caught:
        again = schema.read(FRAME.assign(x=1, y=[[1], [2], [3]]).iloc[:, ::-1].rename(columns=str), owner="Booster")
    assert len(caught) == 1
    assert same(again, table)


def test_missing_columns_are_named_with_what_may_be_meant():
    schema, _ = Schema.learn(FRAME)
    with pytest.raises(TableError, match="WW-D012") as error:
        schema.read(FRAME.rename(columns={"price": "Price", "new": "other"}), owner="Booster")
    message = str(error.value)
    for word in ["'price', 'new'", "Booster", "'Price', 'other'", "'Price' may be 'price'", "Fix:"]:
        assert word in message


def test_the_number_of_columns_without_names_must_be_the_same():
    schema, _ = Schema.learn(np.ones((3, 2)))
    for X in [np.ones((2, 1)), sp.csr_array(np.ones((2, 3))), [[1]], pd.DataFrame([[1, 2, 3]])]:
        with pytest.raises(ValueError, match=r"X has \d features, but Booster is expecting 2 features as input"):
            schema.read(X, owner="Booster")


def test_an_array_is_read_by_place_with_a_warning_when_training_had_names():
    schema, table = Schema.learn(FRAME[["price", "new"]])
    with pytest.warns(NamelessTableWarning, match="X does not have valid feature names, but Booster was fitted with feature names"):
        again = schema.read(FRAME[["price", "new"]].to_numpy(float), owner="Booster")
    assert same(again, table)


def test_a_frame_is_read_by_place_when_training_had_no_names():
    schema, table = Schema.learn(np.array([[1.0, 2.0]]))
    assert same(schema.read(pd.DataFrame({"b": [1.0], "a": [2.0]})), table)


def test_an_array_with_the_same_type_is_read_without_a_word():
    schema, _ = Schema.learn(FRAME)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema.read(FRAME)
        schema.read(FRAME.iloc[:1])


def test_unseen_levels_give_one_warning_with_columns_and_counts():
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]})
    schema, _ = Schema.learn(frame)
    later = pd.DataFrame({"a": ["new"] * 1200 + ["x"], "b": [None] * 1200 + ["other"]})
    with pytest.warns(UnseenCategoryWarning) as caught:
        table = schema.read(later)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "column 'a' has 1,200 rows of 1 category that training never saw ('new')" in message
    assert "column 'b' has 1 row of" in message
    assert [column.block(1199, 1201).tolist() for column in table.columns] == [[-2, 0], [-1, -2]]


def test_levels_that_a_later_frame_declares_but_does_not_use_are_no_matter():
    schema, _ = Schema.learn(pd.DataFrame({"a": ["x", "y"]}))
    later = pd.DataFrame({"a": pd.Categorical(["y"], ["new", "y"])})
    assert blocks(schema.read(later)) == [[1.0]]


@pytest.mark.parametrize("given", [["b"], [1], (1,), np.array([1]), [False, True, False], np.array([False, True, False]), pd.Index(["b"])])
def test_columns_are_marked_as_categories_by_name_place_or_truth(given):
    schema, table = Schema.learn(pd.DataFrame({"a": [1, 2], "b": [7, 5], "c": ["x", "y"]}), given)
    assert schema.categories == (None, (5, 7), ("x", "y"))
    assert [column.category for column in table.columns] == [False, True, True]


@pytest.mark.parametrize("given", [None, "from_dtype", [], np.array([])])
def test_without_a_mark_the_types_decide(given):
    assert Schema.learn(FRAME, given)[0].categories[0] is None


@pytest.mark.parametrize("given", [["z"], "z", [3], [-1], [True], [True] * 4, [1.5], [None], ["a", 9]])
def test_marks_that_do_not_fit_are_an_error(given):
    with pytest.raises(TableError, match="WW-D016: categorical_features of Booster"):
        Schema.learn(pd.DataFrame({"a": [1], "b": [2], "c": [3]}), given, owner="Booster")


def test_names_cannot_be_marked_in_an_array():
    with pytest.raises(TableError, match="no names"):
        Schema.learn(np.ones((2, 2)), ["a"])


@pytest.mark.parametrize(
    "X",
    [
        np.array([[2**53 + 1]]),
        np.array([[-(2**60)]]),
        np.array([[2**64 - 1]], np.uint64),
        pd.DataFrame({"id": [2**60]}),
        pl.DataFrame({"id": [2**60, None]}),
        pa.table({"id": pa.array([None, -(2**60)])}),
        [[2**70]],
    ],
)
def test_whole_numbers_above_two_to_53_give_a_warning(X):
    with pytest.warns(PrecisionWarning, match="above 2\\*\\*53") as caught:
        Schema.learn(X)
    assert len(caught) == 1


def test_whole_numbers_up_to_two_to_53_are_exact_and_give_none():
    _, table = Schema.learn(np.array([[2**53], [2**53 - 1]]))
    assert blocks(table) == [[float(2**53), float(2**53 - 1)]]
    assert Schema.learn(np.array([[2**60]]), [0])[0].categories is not None


def test_a_schema_comes_back_from_json_and_from_a_pickle():
    schema, table = Schema.learn(FRAME)
    for again in [
        Schema.from_dict(json.loads(json.dumps(schema.to_dict()))),
        pickle.loads(pickle.dumps(schema)),
        copy.deepcopy(schema),
    ]:
        assert again.feature_names == schema.feature_names
        assert again.categories == schema.categories
        assert same(again.read(FRAME), table)


def test_weights_decide_which_of_too_many_levels_are_rare():
    names = [f"{i:03d}" for i in range(300)]
    weight = np.r_[np.ones(299), 2.0]
    twice = pd.DataFrame({"c": [*names, names[-1]]})
    by_weight, _ = Schema.learn(pd.DataFrame({"c": names}), weight=weight)
    repeated, _ = Schema.learn(twice)
    assert by_weight.categories == repeated.categories
    assert "299" in by_weight.categories[0]


def test_one_row_is_a_table():
    schema, table = Schema.learn([[1.0, "a"]])
    assert blocks(schema.read([[2.0, None]])) == [[2.0], [-1.0]]
    assert table.n_rows == 1


@pytest.mark.parametrize(("there", "meant"), [("X1", True), (" x1", True), ("x11", True), ("y1", True), ("height", False)])
def test_a_missing_column_is_one_and_the_name_that_was_meant_is_said(there, meant):
    schema, _ = Schema.learn(pd.DataFrame({"x1": [1.0, 2.0], "x2": [1.0, 2.0]}))
    with pytest.raises(TableError, match="the column 'x1', which the model was trained with, is missing") as error:
        schema.read(pd.DataFrame({there: [1.0], "x2": [1.0]}), owner="The model")
    assert (f"Did you mean {there!r}?" in str(error.value)) == meant


def test_all_columns_that_no_feature_can_be_made_of_are_named_at_once():
    frame = pd.DataFrame({"a": [[1], [2]], "x": [1.0, 2.0], "b": [{"c": 1}, {}]})
    for read in (Schema.learn, as_arrow):
        with pytest.raises(ColumnTypeError, match=r"WW-D011: column 'a' holds .* The same goes for column 'b'\.") as error:
            read(frame)
        assert "--ignore" in str(error.value)
