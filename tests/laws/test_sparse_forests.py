"""Trees and forests from sparse matrices: the models of the whole table, coded from the cells that are stored, a column at a time."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import woodwind
from woodwind.data.binning.forest_codes import ForestCodes
from woodwind.data.binning.ranks import Ranks
from woodwind.data.tables.schema import Schema

FEW = {"n_estimators": 3, "random_state": 0}
MODELS = {
    "regression tree": woodwind.DecisionTreeRegressor(),
    "regression tree, bins": woodwind.DecisionTreeRegressor(max_bins=16),
    "regression tree, random cuts": woodwind.DecisionTreeRegressor(splitter="random", random_state=0),
    "classification tree": woodwind.DecisionTreeClassifier(),
    "random forest of numbers": woodwind.RandomForestRegressor(**FEW),
    "random forest of classes": woodwind.RandomForestClassifier(**FEW),
    "random forest, every threshold": woodwind.RandomForestClassifier(max_bins=None, **FEW),
    "random forest, out of bag": woodwind.RandomForestClassifier(oob_score=True, n_estimators=60, random_state=0),
    "extra-trees of numbers": woodwind.ExtraTreesRegressor(**FEW),
    "extra-trees of classes": woodwind.ExtraTreesClassifier(**FEW),
    "boosting, every threshold": woodwind.GradientBoostingRegressor(max_bins=None, **FEW),
    "boosting of classes, every threshold": woodwind.GradientBoostingClassifier(max_bins=None, **FEW),
    "boosting, candidates": woodwind.GradientBoostingRegressor(candidates="global", **FEW),
}


def thin(seed, n=300, n_columns=12, share=0.1):
    """Real numbers, counts, a column without a stored cell and one with all; negative zeros, stored zeros and missing values."""
    rng = np.random.default_rng(seed)
    there = rng.random((n, n_columns)) < share
    there[:, 0], there[:, 1] = True, False
    rows, columns = np.nonzero(there)
    cells = np.where(columns % 2 == 0, rng.normal(size=rows.size), rng.integers(-2, 3, rows.size))
    cells[rng.random(rows.size) < 0.05] = np.nan
    cells[rng.random(rows.size) < 0.05] = -0.0
    return sp.csr_array((cells, (rows, columns)), shape=(n, n_columns))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_sparse_matrix_makes_the_model_of_the_dense_array(name, form):
    X, model = thin(0), MODELS[name]
    dense = X.toarray()
    score = np.nan_to_num(dense[:, 0] + dense[:, 2] - dense[:, 4])
    y = score > 0 if hasattr(model, "class_weight") else score
    one = type(model)(**model.get_params()).fit(dense, y)
    other = type(model)(**model.get_params()).fit(X.asformat(form), y)
    for first, second in ((dense, X.asformat(form)), (X.asformat(form), dense)):
        assert_array_equal(one.predict(first), other.predict(second))
        assert_array_equal(one.apply(first), other.apply(second))
    assert_array_equal(one.feature_importances_, other.feature_importances_)
    if hasattr(one, "oob_score_"):
        assert one.oob_score_ == other.oob_score_


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32), n=st.integers(1, 60), share=st.floats(0.0, 1.0), kind=st.sampled_from([np.float32, np.float64]),
    absent=st.sampled_from(["zero", "missing"]),
)  # fmt: skip
def test_ranks_of_stored_cells_are_those_of_the_whole_column(seed, n, share, kind, absent):
    X = thin(seed % 1000, n, 4, share).astype(kind)
    dense = X.toarray()
    if absent == "missing":
        stored = sp.csr_array((np.ones(X.nnz, bool), X.indices, X.indptr), shape=X.shape).toarray()
        dense = np.where(stored, dense, np.nan)
    sparse = Schema.learn(X, sparse_absent=absent)[1]
    whole = Schema.learn(dense)[1]
    one, other = Ranks.of(sparse), Ranks.of(whole)
    assert_array_equal(one.by_column, other.by_column)
    assert_array_equal(one.order, other.order)
    assert_array_equal(one.n_codes, other.n_codes)
    for first, second in zip(one.values, other.values, strict=True):
        assert_array_equal(first, second)
    some, all_of = ForestCodes.of(sparse, 5), ForestCodes.of(whole, 5)
    for name in ("coarse", "fine", "span"):
        assert_array_equal(getattr(some, name), getattr(all_of, name))


def test_codes_of_a_forest_are_made_a_column_at_a_time():
    """Five bytes for a cell, four for its code and one for its bin, and a few columns beside; the dense array has eight."""
    n, n_columns = 4000, 400
    table = Schema.learn(sp.random_array((n, n_columns), density=0.01, format="csr", rng=np.random.default_rng(0)))[1]
    tracemalloc.start()
    try:
        ForestCodes.of(table)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 6.5 * n * n_columns
