"""Identifiers of 64 bits: as numbers neighbours become equal, which is told by the name of the column; as categories each is itself."""

import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import scipy.sparse

import woodwind
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.base.errors import PrecisionWarning
from woodwind.data.tables.raw import warn_of_precision
from woodwind.data.tables.target_column import read_target

IDS = 2**60 + np.arange(80) % 4
Y = (IDS % 2).astype(float)
OBJECTS = IDS.astype(object)[:, None]
WIDE = np.array([2**70 + int(one) for one in IDS], object)
DECIMALS = pa.array([decimal.Decimal(int(one)) for one in IDS], pa.decimal128(38, 0))

NUMBERS = {
    "numpy int64": IDS[:, None],
    "numpy uint64": IDS.astype(np.uint64)[:, None],
    "numpy int64 of the other byte order": IDS.astype(">i8")[:, None],
    "numpy, all negative": -IDS[:, None],
    "objects": OBJECTS,
    "objects of more than 64 bits": WIDE[:, None],
    "masked": np.ma.masked_array(IDS[:, None], mask=False),
    "a list of rows with fractions": [[int(one), 0.5] for one in IDS],
    "sparse": scipy.sparse.csc_matrix(IDS[:, None]),
    "pandas": pd.DataFrame({"id": IDS}),
    "pandas with gaps": pd.DataFrame({"id": pd.array([*IDS[:-1].tolist(), None], "Int64")}),
    "pandas sparse": pd.DataFrame({"id": pd.arrays.SparseArray(IDS, fill_value=0)}),
    "polars": pl.DataFrame({"id": IDS}),
    "polars of 128 bits": pl.DataFrame({"id": pl.Series(IDS).cast(pl.Int128)}),
    "arrow decimals": pa.table({"id": DECIMALS}),
    "arrow run ends": pa.table({"id": pc.run_end_encode(pa.array(IDS))}),
}
LEVELS = {
    "pandas category": pd.DataFrame({"id": pd.Categorical(IDS)}),
    "arrow dictionary": pa.table({"id": pa.array(IDS).dictionary_encode()}),
    "arrow dictionary of decimals": pa.table({"id": DECIMALS.dictionary_encode()}),
}
MARKED = {name: X for name, X in NUMBERS.items() if not name.startswith(("a list", "pandas with"))}


@pytest.mark.parametrize("X", NUMBERS.values(), ids=NUMBERS)
def test_numbers_that_become_equal_are_told_by_their_column(X):
    with pytest.warns(PrecisionWarning, match=r"column ('id'|0) holds whole numbers above 2\*\*53") as told:
        model = GradientBoostingRegressor(n_estimators=1).fit(X, Y)
    assert len(told) == 1
    assert (model.predict(X) == model.predict(X)[0]).all()


@pytest.mark.parametrize("X", [*LEVELS.values(), *MARKED.values()], ids=[*LEVELS, *MARKED])
def test_levels_are_told_apart_and_stay_so_in_a_file(X, tmp_path):
    marked = None if any(X is one for one in LEVELS.values()) else [0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0, categorical_features=marked, l2_regularization=0.0).fit(X, Y)
        np.testing.assert_allclose(model.predict(X), Y, atol=1e-6)
        model.save(tmp_path / "model.ww")
        assert (woodwind.load(tmp_path / "model.ww").predict(X) == model.predict(X)).all()


def test_levels_are_found_whatever_the_table_is():
    X = pd.DataFrame({"id": IDS})
    model = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0, categorical_features=["id"], l2_regularization=0.0).fit(X, Y)
    for other in (pl.DataFrame({"id": IDS}), pa.table({"id": DECIMALS}), X.astype(str), X.astype("category"), X.astype(object)):
        assert (model.predict(other) == model.predict(X)).all()


def test_small_whole_numbers_are_numbers_as_ever():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for X in (np.array([[2**53], [0]] * 10), pd.DataFrame({"id": pd.Categorical([1, 2] * 10)}), np.array([[1e300], [0.0]] * 10)):
            GradientBoostingRegressor(n_estimators=1).fit(X, np.arange(20.0))


def test_a_target_is_told_too():
    X = np.arange(80.0)[:, None]
    large = 2**60 + 2**20 * np.arange(80)
    for y in (large, large.astype(np.uint64), large.astype(object), pd.Series(large, dtype="Int64")):
        with pytest.warns(PrecisionWarning, match=r"GradientBoostingRegressor: y holds whole numbers above 2\*\*53.*use a classifier"):
            GradientBoostingRegressor(n_estimators=1).fit(X, y)
    for column in (pa.array(large), pa.array([decimal.Decimal(int(one)) for one in large])):
        with pytest.warns(PrecisionWarning, match=r"the target column 'y' holds whole numbers above"):
            assert read_target(column, name="y").task == "regression"


def test_labels_of_a_target_are_told_apart():
    X = np.repeat(np.arange(4.0), 20)[:, None]
    y = 2**60 + X[:, 0].astype(np.int64)
    assert (GradientBoostingClassifier(n_estimators=5, min_samples_leaf=1).fit(X, y).predict(X) == y).all()
    for column in (pa.array(y), pa.array([decimal.Decimal(int(one)) for one in y], pa.decimal128(38, 0))):
        assert read_target(column, name="y").classes == tuple(range(2**60, 2**60 + 4))


def test_many_columns_are_one_warning():
    with pytest.warns(PrecisionWarning, match=r"a, b, c, d, e and 2 more hold whole numbers"):
        warn_of_precision(list("abcdefg"))
