"""Categories and their codes."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from woodwind.base.errors import DataError
from woodwind.data.tables.categories import MOST_CODES, RARE, Categories, code_numbers, code_text, coded_by_dictionary
from woodwind.data.tables.raw import Coded
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import MISSING, UNSEEN

text = st.one_of(st.none(), st.sampled_from(["", "a", "b", "ä", "Z", "z"]), st.text(st.characters(exclude_categories=["Cs"]), max_size=3))


def learn(values, weight=None):
    return Categories.learn(code_text(pa.chunked_array([pa.array(values, pa.large_string())])), weight)


def block_of(X, **more):
    (column,) = Schema.learn(X, **more)[1].columns
    return column.block(0, len(X)).tolist(), column.categories


@given(st.lists(text, min_size=1, max_size=40), st.randoms())
def test_codes_are_places_among_the_sorted_levels_whatever_the_order_of_rows(values, random):
    categories = learn(values)
    expected = sorted({value for value in values if value is not None})
    assert list(categories.names) == expected
    shuffled = random.sample(values, len(values))
    assert learn(shuffled).names == categories.names
    codes, _, _ = categories.readers(code_text(pa.chunked_array([pa.array(shuffled, pa.large_string())])))
    assert codes(0, len(values)).tolist() == [MISSING if v is None else expected.index(v) for v in shuffled]


def test_a_categorical_of_pandas_keeps_its_order_and_unused_levels_are_left_out():
    column = pd.Categorical(["low", "high", None, "low"], ["low", "middle", "high"])
    assert block_of(pd.DataFrame({"c": column})) == ([0, 1, MISSING, 0], ("low", "high"))


@pytest.mark.parametrize("ordered", [False, True])
def test_an_enum_of_polars_keeps_its_order_and_a_categorical_is_sorted(ordered):
    kind = pl.Enum(["z", "a", "unused"]) if ordered else pl.Categorical
    frame = pl.DataFrame({"c": pl.Series(["z", None, "a"], dtype=kind)})
    expected = ([0, MISSING, 1], ("z", "a")) if ordered else ([1, MISSING, 0], ("a", "z"))
    assert block_of(frame) == expected


def test_levels_may_be_numbers_intervals_or_a_mixture_that_pandas_holds():
    assert block_of(pd.DataFrame({"c": pd.Categorical([3, 1, None, 3])})) == ([1, 0, MISSING, 1], (1, 3))
    assert block_of(pd.DataFrame({"c": pd.cut([1.0, 5.0, 9.0], [0, 4, 10])})) == ([0, 1, 1], ("(0, 4]", "(4, 10]"))
    assert block_of(pd.DataFrame({"c": pd.Categorical(["1", 1, "a"], ["1", 1, "a"])})) == ([0, 0, 1], ("1", "a"))


def test_text_in_several_chunks_with_dictionaries_of_their_own_is_one_column():
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", None, "a"]).dictionary_encode()]
    assert block_of(pa.table({"c": pa.chunked_array(chunks)})) == ([1, 0, 2, MISSING, 0], ("a", "b", "c"))


def test_a_dictionary_with_missing_and_repeated_entries_is_cleaned():
    entries = pa.array(["x", None, "y", "x"])
    coded = coded_by_dictionary(np.array([0, 1, 2, 3, -1]), entries, ordered=True)
    assert coded.positions.tolist() == [0, -1, 1, 0, -1]
    assert coded.dictionary.to_pylist() == ["x", "y"]


@given(st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(), st.just(np.nan)), min_size=1, max_size=30))
def test_numbers_are_places_among_their_sorted_distinct_values(values):
    coded = code_numbers(np.array(values))
    back = np.append(coded.dictionary, np.nan)[coded.positions]
    assert np.array_equal(back, np.array(values), equal_nan=True)
    assert (np.diff(coded.dictionary) > 0).all()


def test_253_levels_all_have_codes_and_one_more_makes_the_rare_ones_share():
    names = [f"{i:04d}" for i in range(MOST_CODES)]
    assert learn(names).names == tuple(names)
    assert learn([*names, "9999"]).n_codes == MOST_CODES
    assert learn([*names, "9999"]).names[-1] == RARE


def test_the_most_frequent_levels_keep_codes_of_their_own_in_the_order_of_the_levels():
    names = [f"{i:04d}" for i in range(400)]
    common = names[50:301]  # 251 categories that occur twice
    categories = learn([*names, *common])
    # One place is left among those that occur once: the first of them has it.
    assert categories.names == (*sorted([*common, names[0]]), RARE)
    assert sum(categories.codes == MOST_CODES - 1) == 400 - 252
    codes, numbers, _ = categories.readers(code_text(pa.chunked_array([["0001", "0000", "0060", "new", None]])))
    assert codes(0, 5).tolist() == [MOST_CODES - 1, 0, 11, UNSEEN, MISSING]
    assert numbers(0, 5).tolist() == [1, 0, 60, UNSEEN, MISSING]


def test_frequency_goes_by_weight_and_levels_of_weight_zero_do_not_occur():
    names = [f"{i:04d}" for i in range(300)]
    weight = np.ones(300, np.int64)
    weight[7], weight[290:] = 0, 5
    categories = learn(names, weight)
    assert "0007" not in categories.values.to_pylist()
    assert set(names[290:]) <= set(categories.names)


def test_a_million_levels_are_learned_in_little_time():
    names = pa.array(np.arange(1_000_000)).cast(pa.large_string())
    categories = Categories.learn(code_text(pa.chunked_array([names])))
    assert len(categories.codes) == 1_000_000
    assert categories.n_codes == MOST_CODES


@pytest.mark.parametrize(
    "categories",
    [
        learn(["b", "a", None]),
        learn([f"{i}" for i in range(300)]),
        learn([]),
        Categories.learn(code_numbers(np.array([2.5, np.inf, -1.0, np.nan]))),
        Categories.learn(Coded(np.array([1, 0]), np.array([9.0, 4.0]), ordered=True)),
    ],
    ids=["text", "many", "none", "numbers", "given order"],
)
def test_a_description_gives_the_levels_back(categories):
    again = Categories.from_dict(json.loads(json.dumps(categories.to_dict(), allow_nan=False)))
    assert again.names == categories.names
    assert again.codes.tolist() == categories.codes.tolist()
    assert again.is_text == categories.is_text


@pytest.mark.parametrize("codes", [[0], [0, -1], [0, 253], [[0, 1]], [0, 1, 2], None])
def test_codes_that_do_not_fit_the_levels_are_refused(codes):
    values = ["a", "b"] if codes else [str(i) for i in range(MOST_CODES + 1)]
    with pytest.raises(DataError, match="codes"):
        Categories.from_dict({"values": values, "text": True, "codes": codes})


def test_numbers_in_a_given_order_are_found():
    categories = Categories.learn(Coded(np.array([0, 1, 2]), np.array([9.0, 4.0, 7.0]), ordered=True))
    assert categories.names == (9, 4, 7)
    assert categories.find(np.array([4.0, 5.0, 9.0, 7.0, 100.0])).tolist() == [1, UNSEEN, 0, 2, UNSEEN]
