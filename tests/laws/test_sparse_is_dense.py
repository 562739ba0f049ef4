"""Training and predicting from the stored cells of a sparse matrix: the same bits as from the whole table."""

import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import woodwind
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from woodwind.base import pool
from woodwind.data.binning import sparse_cuts
from woodwind.kernels.histogram import partition_rows
from woodwind.kernels.runtime.jit import kernel
from woodwind.tree import code_layouts, histogram_grower

SETTINGS = {
    "best first": {},
    "level": {"growth": "level", "max_depth": 4},
    "symmetric": {"growth": "symmetric", "max_depth": 3},
    "drawn rows": {"subsample": 0.6},
    "bootstrap": {"bootstrap": True, "subsample": 0.8},
    "goss": {"sampling": "goss"},
    "drawn columns": {"max_features": 0.3},
    "held out": {"early_stopping": True, "n_iter_no_change": 2},
    "in folds": {"early_stopping": "auto"},
    "constraints": {"monotonic_cst": [1, -1] + [0] * 28},
    "L1": {"l1_regularization": 0.5},
    "dropout": {"boosting": "dart"},
    "ordered": {"boosting": "ordered"},
    "linear leaves": {"linear_leaves": True},
    "parallel trees": {"n_parallel_trees": 3, "subsample": 0.6},
}


@pytest.fixture
def always_thin(monkeypatch):
    monkeypatch.setattr(sparse_cuts, "LEAST_CELLS", 0)
    monkeypatch.setattr(sparse_cuts, "MOST_STORED", 1.0)


def thin_table(seed, n=1500, n_columns=30, share=0.1):
    """Columns of counts, of ones and of real numbers, one of which is dense, with missing values; and a target."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, n_columns)) < share, rng.integers(1, 5, (n, n_columns)), 0).astype(float)
    dense[:, ::3] = np.sign(dense[:, ::3])
    dense[:, 1::3] *= rng.normal(size=dense[:, 1::3].shape)
    dense[:, 2] = rng.normal(size=n)
    score = dense[:, :7].sum(axis=1) + 0.3 * rng.normal(size=n)
    dense[rng.random((n, n_columns)) < 0.01] = np.nan
    return dense, score


def assert_same_model(one, other, dense, X):
    assert one.forest_.digest() == other.forest_.digest()
    assert np.array_equal(one.predict(dense), other.predict(X))
    assert np.array_equal(one.apply(dense), other.apply(X))


@pytest.mark.parametrize("name", SETTINGS)
def test_a_sparse_matrix_makes_the_model_of_the_dense_array(always_thin, name):
    dense, score = thin_table(0)
    given = {"n_estimators": 6, "early_stopping": False, "random_state": 0, **SETTINGS[name]}
    for estimator, y in ((GradientBoostingClassifier, score > 0.3), (GradientBoostingRegressor, score)):
        whole = estimator(n_jobs=1, **given).fit(dense, y)
        for threads, X in ((1, sp.csc_matrix(dense)), (2, sp.csr_array(dense))):
            assert_same_model(whole, estimator(n_jobs=threads, **given).fit(X, y), dense, X)


@pytest.mark.parametrize("multiclass", ["vector", "one_per_class"])
def test_so_it_does_for_several_classes(always_thin, multiclass):
    dense, score = thin_table(1)
    y = np.digitize(score, [0.0, 0.8])
    given = {"n_estimators": 5, "early_stopping": False, "random_state": 0, "subsample": 0.7, "multiclass": multiclass}
    whole = GradientBoostingClassifier(**given).fit(dense, y)
    X = sp.csr_array(dense)
    assert_same_model(whole, GradientBoostingClassifier(**given).fit(X, y), dense, X)


def test_so_it_does_with_weights_and_another_table_to_stop_by(always_thin):
    dense, score = thin_table(2, 2500)
    weight = np.random.default_rng(0).integers(0, 3, 1500).astype(float)
    X, other = sp.csr_array(dense[:1500]), sp.csc_array(dense[1500:])
    given = {"n_estimators": 30, "random_state": 0, "n_iter_no_change": 3}
    whole = GradientBoostingRegressor(**given).fit(dense[:1500], score[:1500], weight, eval_set=(dense[1500:], score[1500:]))
    thin = GradientBoostingRegressor(**given).fit(X, score[:1500], weight, eval_set=(other, score[1500:]))
    assert np.array_equal(whole.validation_score_, thin.validation_score_)
    assert_same_model(whole, thin, dense, sp.csr_array(dense))


@given(st.integers(0, 2**32), st.integers(2, 300), st.integers(1, 25), st.floats(0.0, 0.6))
@settings(max_examples=25)
def test_any_sparse_table_trains_as_the_dense_one(seed, n, n_columns, share):
    dense, score = thin_table(seed, n, max(n_columns, 3), share)
    given = {"n_estimators": 3, "early_stopping": False, "min_samples_leaf": 1, "max_leaf_nodes": 12, "random_state": 0, "n_jobs": 1}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_cuts, "LEAST_CELLS", 0)
        patch.setattr(sparse_cuts, "MOST_STORED", 1.0)
        patch.setattr(code_layouts, "MANY_STORED", 1.0)  # no column stands in one piece
        X = sp.csc_array(dense)
        assert_same_model(GradientBoostingRegressor(**given).fit(dense, score), GradientBoostingRegressor(**given).fit(X, score), dense, X)


@kernel
def filled(rows, codes, source, out):
    """All rows of a node, absent cells 7."""
    partition_rows.fill_codes((rows, codes, 0, len(rows)), np.uint8(7), source, 0, len(source), out)


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(0, 60), st.booleans())
def test_codes_of_the_rows_of_a_node_are_filled_in(seed, n_rows, n_stored, descending):
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(60, min(n_stored, 60), replace=False)).astype(np.int32)
    codes = rng.integers(0, 9, len(rows)).astype(np.uint8)
    node = np.sort(rng.integers(0, 60, n_rows))
    node = node[::-1] if descending else node
    expected = np.full(60, 7, np.uint8)
    expected[rows] = codes
    source, found = node.astype(np.int64) << 32, np.zeros(60, np.uint8)
    filled(rows, codes, source, found)
    assert found[node].tolist() == expected[node].tolist()


def test_a_sparse_model_explains_as_a_dense_one(always_thin):
    dense, score = thin_table(3, 400)
    X = sp.csr_array(dense)
    model = GradientBoostingRegressor(n_estimators=5, early_stopping=False, random_state=0).fit(X, score)
    whole, thin = model.explain(dense[:40]), model.explain(X[:40])
    assert np.array_equal(whole.values, thin.values)
    assert np.array_equal(whole.scores, thin.scores)
    assert whole.to_text(3) == thin.to_text(3)


def test_training_and_predicting_take_memory_for_stored_cells_not_for_the_table():
    rng = np.random.default_rng(0)
    n, n_columns = 40_000, 3_000
    X = sp.csr_array((np.ones(2 * n), rng.integers(0, n_columns, 2 * n), np.arange(0, 2 * n + 1, 2)), (n, n_columns))
    y = np.asarray(X[:, :500].sum(axis=1)).ravel() + 0.1 * rng.normal(size=n)
    held = sp.csr_array(X[:1000])
    tracemalloc.start()
    model = GradientBoostingRegressor(n_estimators=3, early_stopping=False, n_jobs=1).fit(X, y, eval_set=(held, y[:1000]))
    model.predict(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.forest_.n_nodes > 3
    assert peak < n * n_columns / 4  # codes of one byte would take four times that, and numbers 32 times


def one_hot(seed, n, sizes):
    """Columns of one stored row in each group, with a number that says something; and a target."""
    rng = np.random.default_rng(seed)
    groups = [np.eye(size)[rng.integers(0, size, n)] * rng.integers(1, 4, (n, 1)) for size in sizes]
    dense = np.concatenate(groups, axis=1)
    return dense, dense @ rng.normal(size=dense.shape[1]) + 0.3 * rng.normal(size=n)


def trained_both_ways(estimator, X, y, **given):
    """Trained with columns in bundles, and without."""
    return [estimator(random_state=0, feature_bundling=on, **given).fit(X, y) for on in (True, False)]


@pytest.mark.parametrize("name", ["best first", "level", "symmetric", "drawn rows", "held out", "L1"])
def test_bundling_changes_no_bit_of_a_model_of_one_hot_columns(always_thin, name):
    dense, score = one_hot(0, 500, [10, 10, 10])
    X = sp.csr_array(dense)
    with spied_bundles() as found:
        for estimator, y in ((GradientBoostingClassifier, score > 0), (GradientBoostingRegressor, score)):
            given = {"n_estimators": 8, "early_stopping": False, **SETTINGS[name]}
            on, off = trained_both_ways(estimator, X, y, **given)
            assert_same_model(on, off, X, X)
            assert_same_model(on, estimator(random_state=0, **given).fit(dense, y), X, dense)
    assert {codes.bundles.n_bundles for codes in found} == {3}


@contextmanager
def spied_bundles():
    """The codes whose rows have been turned into bytes of bundles."""
    found, made = [], code_layouts.bundled_rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram_grower, "bundled_rows", lambda codes: found.append(codes) or made(codes))
        yield found


@given(st.integers(0, 2**32), st.integers(20, 300), st.lists(st.integers(1, 40), min_size=1, max_size=5), st.integers(1, 2))
@settings(max_examples=15)
def test_bundling_changes_nothing_whatever_the_groups_of_columns(seed, n, sizes, threads):
    dense, score = one_hot(seed, n, sizes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_cuts, "LEAST_CELLS", 0)
        patch.setattr(sparse_cuts, "MOST_STORED", 1.0)
        X = sp.csc_array(dense)
        given = {"n_estimators": 3, "early_stopping": False, "min_samples_leaf": 1, "max_leaf_nodes": 12, "n_jobs": threads}
        on, off = trained_both_ways(GradientBoostingRegressor, X, score, **given)
        assert_same_model(on, off, dense, X)


def test_bundles_of_nodes_of_many_rows_and_of_few_are_added_alike(always_thin):
    """More than 65,535 rows are summed in two words; 5,000 in one without counts, which are made again where a side has too few rows."""
    for n, least in ((70_000, 20), (9_000, 700)):
        dense, score = one_hot(1, n, [12, 9])
        X = sp.csr_array(dense)
        on, off = trained_both_ways(GradientBoostingClassifier, X, score > 0, n_estimators=2, early_stopping=False, min_samples_leaf=least)
        assert_same_model(on, off, X[:100], X[:100])


@pytest.mark.parametrize("name", ["best first", "level", "symmetric", "drawn rows"])
def test_neither_lists_nor_bundles_depend_on_the_number_of_threads(always_thin, monkeypatch, name):
    monkeypatch.setattr(pool, "LEAST_WORK", 1)
    monkeypatch.setattr(histogram_grower, "LEAST_WORK", 0)
    n = 70_000 if name == "best first" else 3_000  # nodes of more than 32,768 rows are partitioned in blocks
    dense, score = one_hot(3, n, [12, 9, 5])
    X = sp.csr_array(dense)
    given = {"n_estimators": 2, "early_stopping": False, "random_state": 0, **SETTINGS[name]}
    found = {GradientBoostingRegressor(n_jobs=1, **given).fit(dense, score).forest_.digest()}
    for threads in (1, 2, 3, 8):
        for on in (True, False):
            found.add(GradientBoostingRegressor(n_jobs=threads, feature_bundling=on, **given).fit(X, score).forest_.digest())
    assert len(found) == 1


def test_a_conflict_rate_above_zero_trains_on_a_table_that_has_lost_cells(always_thin):
    rng = np.random.default_rng(0)
    dense, score = one_hot(2, 1000, [3, 3])
    dense[rng.random(dense.shape) < 0.003] = 1.0  # a few rows have two cells of a group
    X = sp.csr_array(dense)
    given = {"n_estimators": 5, "early_stopping": False, "random_state": 0}
    strict = GradientBoostingRegressor(**given).fit(X, score)
    assert strict.forest_.digest() == GradientBoostingRegressor(**given).fit(dense, score).forest_.digest()
    with spied_bundles() as found:
        loose = GradientBoostingRegressor(max_conflict_rate=0.05, **given).fit(X, score)
    assert found[0].bundles.n_bundles == 2
    assert loose.forest_.digest() != strict.forest_.digest()
    assert np.corrcoef(loose.predict(X), strict.predict(X))[0, 1] > 0.99
    for rate in (-0.1, 1.1, "a"):
        with pytest.raises(ParameterError, match="max_conflict_rate"):
            GradientBoostingRegressor(max_conflict_rate=rate).fit(X, score)


def test_a_training_goes_on_from_stored_cells(always_thin):
    dense, score = one_hot(4, 600, [5, 4])
    dense[::50, 0] = 1.0
    X, y = sp.csr_array(dense), np.digitize(score, [-0.5, 0.5])
    given = {"early_stopping": False, "random_state": 0, "learning_rate": 0.1, "max_conflict_rate": 0.02}
    for estimator, target in ((GradientBoostingRegressor, score), (GradientBoostingClassifier, y)):
        model = estimator(n_estimators=3, warm_start=True, **given).fit(X, target)
        model.set_params(n_estimators=6).fit(X, target)
        assert model.forest_.digest() == estimator(n_estimators=6, **given).fit(X, target).forest_.digest()


@pytest.mark.parametrize("thin", [True, False])
def test_absent_cells_are_zeros_or_missing_values_as_asked(monkeypatch, thin, tmp_path):
    monkeypatch.setattr(sparse_cuts, "LEAST_CELLS", 0 if thin else 1 << 60)
    monkeypatch.setattr(sparse_cuts, "MOST_STORED", 1.0)
    rng = np.random.default_rng(0)
    stored = rng.random((800, 12)) < 0.2
    numbers = rng.normal(size=(800, 12))
    X = sp.csr_array((numbers[stored], np.nonzero(stored)), (800, 12))
    score = np.where(stored[:, 0], numbers[:, 0], 3.0) + 0.1 * rng.normal(size=800)
    given = {"n_estimators": 6, "early_stopping": False, "random_state": 0, "min_samples_leaf": 5}
    for absent, fill in (("zero", 0.0), ("missing", np.nan)):
        model = GradientBoostingRegressor(sparse_absent=absent, **given).fit(X, score)
        dense = np.where(stored, numbers, fill)
        whole = GradientBoostingRegressor(**given).fit(dense, score)
        assert_same_model(whole, model, dense, X)
        assert np.array_equal(whole.explain(dense[:20]).values, model.explain(X[:20]).values)
        model.save(tmp_path / "model.ww")
        again = woodwind.load(tmp_path / "model.ww")
        assert again.schema_.sparse_absent == absent
        assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(model.predict(dense), model.predict(X))  # an array has its own missing values
    with pytest.raises(ParameterError, match="sparse_absent"):
        GradientBoostingRegressor(sparse_absent="nan").fit(X, score)


def test_stored_zeros_are_zeros_even_where_absent_cells_are_missing(always_thin):
    dense = np.zeros((300, 4))
    dense[:150, 0] = 1.0
    X = sp.csr_array(np.ones((300, 4)))
    X.data[:] = dense.reshape(-1)
    given = {"n_estimators": 2, "early_stopping": False, "random_state": 0}
    y = dense[:, 0]
    model = GradientBoostingRegressor(sparse_absent="missing", **given).fit(X, y)
    assert model.forest_.digest() == GradientBoostingRegressor(**given).fit(dense, y).forest_.digest()
