import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from woodwind.base.errors import TableError, UnseenCategoryWarning
from woodwind.data.tables.matrix_form import MatrixForm


def mixed():
    return pd.DataFrame(
        {
            "age": [1.0, 2.0, np.nan, 4.0, np.inf],
            "city": ["x", "y", "x", None, "z"],
            "day": pd.to_datetime(["2020-01-01", "2020-02-01", "2021-01-01", "2020-01-03", None]),
            "member": [True, False, True, True, False],
            "nothing": [None] * 5,
            "same": [3] * 5,
        }
    )


def test_numbers_are_standardised_and_constants_are_zero():
    X = np.random.default_rng(0).normal(5, 3, (200, 3))
    X[:, 2] = 7.1
    out = MatrixForm.learn(X).of(X)
    np.testing.assert_allclose(out[:, :2].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(out[:, :2].std(axis=0), 1)
    assert (out[:, 2] == 0).all()


def test_without_scaling_numbers_are_as_they_were():
    X = np.random.default_rng(0).normal(5, 3, (20, 3))
    np.testing.assert_array_equal(MatrixForm.learn(X, scale=False).of(X), X)
    X[3, 1] = np.nan
    out = MatrixForm.learn(X, scale=False).of(X)
    assert out[3, 1] == pytest.approx(np.nanmean(X[:, 1]))
    assert out[:, 2].tolist() == [float(row == 3) for row in range(20)]


def test_every_kind_of_column_becomes_numbers():
    form = MatrixForm.learn(mixed())
    days = ["day", "day:missing", "day:month", "day:weekday", "day:day", "day:day_of_year"]
    cities = ["city=x", "city=y", "city=z", "city:missing"]
    assert list(form.names) == ["age", "age:missing", *cities, *days, "member", "nothing", "same"]
    out = form.of(mixed())
    assert out.shape == (5, form.width)
    assert np.isfinite(out).all()
    at = {name: out[:, position].tolist() for position, name in enumerate(form.names)}
    assert at["age:missing"] == [0, 0, 1, 0, 0]
    assert at["age"][2] == 0.0  # the mean
    assert at["age"][4] == at["age"][3]  # infinity is the largest number that was seen
    assert at["city=x"] == [1, 0, 1, 0, 0]
    assert at["city:missing"] == [0, 0, 0, 1, 0]


def test_columns_are_found_by_name():
    form = MatrixForm.learn(mixed())
    other = mixed()[["same", "nothing", "member", "day", "city", "age"]]
    np.testing.assert_array_equal(form.of(other), form.of(mixed()))
    with pytest.raises(TableError, match="'city'"):
        form.of(mixed().drop(columns="city"), "Owner")


def test_a_level_that_training_never_saw_is_like_none_and_says_so():
    form = MatrixForm.learn(mixed())
    other = mixed().assign(city=["x", "new", None, "y", "z"])
    with pytest.warns(UnseenCategoryWarning, match="unlike every category"):
        out = form.of(other)
    assert out[1, 2:6].tolist() == [0, 0, 0, 0]
    assert out[2, 2:6].tolist() == [0, 0, 0, 1]


def test_a_gap_where_training_had_none_is_filled_without_a_mark():
    form = MatrixForm.learn(pd.DataFrame({"a": [1.0, 3.0], "b": ["u", "v"]}))
    out = form.of(pd.DataFrame({"a": [np.nan, 3.0], "b": [None, "v"]}))
    assert out.tolist() == [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]


def test_rare_levels_share_an_indicator():
    categories = ["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["d", "e"]
    form = MatrixForm.learn(pd.DataFrame({"s": categories}), max_categories=3)
    assert form.names == ("s=a", "s=b", "s=(rare categories)")
    assert form.of(pd.DataFrame({"s": ["a", "c", "e"]})).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]


def test_a_weight_of_two_is_a_row_given_twice_and_of_zero_none():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "s": rng.choice(list("pqrst"), 60)})
    frame.loc[3, "a"] = np.nan
    count = rng.integers(0, 3, 60)
    repeated = frame.loc[np.repeat(np.arange(60), count)].reset_index(drop=True)
    weighed = MatrixForm.learn(frame, weight=count.astype(float), max_categories=3)
    twice = MatrixForm.learn(repeated, max_categories=3)
    assert weighed.names == twice.names
    np.testing.assert_array_equal(weighed.of(repeated), twice.of(repeated))


def test_kinds_of_tables_agree_and_large_numbers_do_not_overflow():
    X = np.random.default_rng(0).normal(size=(30, 4)).round(1)
    form = MatrixForm.learn(X)
    expected = form.of(X)
    np.testing.assert_array_equal(form.of(sparse.csr_matrix(X)), expected)
    np.testing.assert_array_equal(form.of(np.asfortranarray(X)), expected)
    np.testing.assert_array_equal(form.of(X.tolist()), expected)
    np.testing.assert_array_equal(np.vstack([form.opened(X).block(0, 7), form.opened(X).block(7, 30)]), expected)
    gap = X.copy()
    gap[0, 0] = np.nan  # another way through the code
    np.testing.assert_array_equal(form.of(gap)[1:], expected[1:])
    large = np.array([[1e300], [-1e300], [3.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(MatrixForm.learn(large).of(large)[:, 0], [np.sqrt(1.5), -np.sqrt(1.5), 0], atol=1e-12)


def test_it_can_be_pickled():
    form = MatrixForm.learn(mixed())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(form)).of(mixed()), form.of(mixed()))
