"""Codes of stored cells alone: the same cuts and the same codes as of the whole table."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from woodwind.data.binning import sketch, sparse_cuts
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.data.binning.sparse_cuts import column_groups, is_thin, sparse_edges
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import SparseMatrix

values = st.sampled_from([0.0, 0.0, 0.0, 0.0, -0.0, 1.0, -2.5, 0.125, 1e300, np.inf, -np.inf, np.nan])
tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 5)), elements=values)


@pytest.fixture(autouse=True)
def _always_thin(monkeypatch):
    monkeypatch.setattr(sparse_cuts, "LEAST_CELLS", 0)
    monkeypatch.setattr(sparse_cuts, "MOST_STORED", 1.0)


def both(dense, max_bins, weight=None, absent=0.0):
    """Cuts and codes of the whole table, and of its stored cells."""
    _, whole = Schema.learn(dense)
    matrix = SparseMatrix(sp.csr_array(np.nan_to_num(dense, nan=0.0) if np.isnan(absent) else dense), absent)
    cuts = Cuts.fit(whole, max_bins, weight)
    integers = None if weight is None else weight.astype(np.int64)
    edges = sparse_edges(matrix, max_bins, integers, 1)
    thin = sparse_cuts.encode_sparse(matrix, tuple(edges), cuts.n_bins, cuts.width, 1)
    return cuts, cuts.encode(whole), edges, thin


@given(tables, st.integers(2, 6), st.booleans(), st.randoms())
def test_cuts_and_codes_are_those_of_the_whole_table(dense, max_bins, weighted, random):
    weight = np.array([float(random.randint(0, 3)) for _ in dense]) if weighted else None
    if weight is not None and not weight.any():
        weight = None
    cuts, codes, edges, thin = both(dense, max_bins, weight)
    assert [edge.tolist() for edge in edges] == [edge.tolist() for edge in cuts.edges]
    for feature in range(dense.shape[1]):
        assert thin.column(feature).tolist() == codes.column(feature).tolist()


@given(tables.map(lambda dense: np.where(dense == 0.0, np.nan, dense)), st.integers(2, 6))
def test_absent_cells_may_be_missing_values(dense, max_bins):
    cuts, codes, edges, thin = both(dense, max_bins, absent=np.nan)
    assert [edge.tolist() for edge in edges] == [edge.tolist() for edge in cuts.edges]
    for feature in range(dense.shape[1]):
        assert thin.column(feature).tolist() == codes.column(feature).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int8, np.bool_])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_cells_of_any_type_are_coded(dtype, index):
    dense = np.random.default_rng(0).integers(0, 3, (200, 6)).astype(dtype)
    X = sp.csc_array(dense)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    _, whole = Schema.learn(dense)
    _, table = Schema.learn(X)
    cuts = Cuts.fit(table)
    thin = cuts.encode_stored(table)
    assert isinstance(thin, SparseCodes)
    assert [thin.column(feature).tolist() for feature in range(6)] == cuts.encode(whole).by_column.tolist()


def test_columns_of_more_numbers_than_a_summary_has_cells_are_cut_as_whole_ones_are(monkeypatch):
    monkeypatch.setattr(sketch, "MOST_CELLS", 64)
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((500, 4)) < [0.05, 0.5, 0.9, 1.0], rng.normal(size=(500, 4)), 0.0)
    for weight in (None, rng.integers(0, 4, 500).astype(float)):
        cuts, codes, edges, thin = both(dense, 20, weight)
        assert [edge.tolist() for edge in edges] == [edge.tolist() for edge in cuts.edges]
        assert [thin.column(feature).tolist() for feature in range(4)] == codes.by_column.tolist()


def test_many_columns_are_cut_and_coded_in_groups_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(sparse_cuts, "CALL_CELLS", 50)
    X = sp.random(300, 90, density=0.03, random_state=0, format="csr")
    X.data[:] = np.round(X.data, 1)
    _, table = Schema.learn(X)
    _, whole = Schema.learn(X.toarray())
    for threads in (1, 3):
        cuts = Cuts.fit(table, 7, None, threads)
        assert [edge.tolist() for edge in cuts.edges] == [edge.tolist() for edge in Cuts.fit(whole, 7).edges]
        thin = cuts.encode_stored(table, threads)
        assert [thin.column(feature).tolist() for feature in range(90)] == cuts.encode(whole).by_column.tolist()


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30), st.sets(st.integers(0, 29)))
def test_groups_have_every_column_once_but_for_those_that_stand_apart(sizes, apart):
    lone = np.array(sorted(column for column in apart if column < len(sizes)), np.int64)
    groups = column_groups(np.append(0, np.cumsum(sizes)).astype(np.int64), lone)
    inside = [column for first, past in groups for column in range(first, past)]
    assert inside == [column for column in range(len(sizes)) if column not in lone.tolist()]


def test_what_has_the_code_of_an_absent_cell_is_not_kept():
    dense = np.zeros((50, 2))
    dense[:40, 0] = 1.0
    X = sp.csc_array(dense)
    X.data[:3] = 0.0  # stored zeros
    _, table = Schema.learn(X)
    thin = Cuts.fit(table).encode_stored(table)
    assert np.diff(thin.by_column.starts).tolist() == [37, 0]
    assert thin.absent.tolist() == [0, 0]


def test_rows_are_taken_each_as_often_as_it_is_named():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((60, 5)) < 0.3, rng.integers(1, 4, (60, 5)), 0).astype(float)
    _, table = Schema.learn(sp.csr_array(dense))
    thin = Cuts.fit(table).encode_stored(table)
    rows = np.array([5, 5, -1, 0, 59, 31, 5])
    taken = thin.take(rows)
    assert taken.n_rows == 7
    for feature in range(5):
        assert taken.column(feature).tolist() == thin.column(feature)[rows].tolist()
    assert thin.take(rows[:0]).n_rows == 0
    for bad in (60, -61):
        with pytest.raises(IndexError, match="60 rows"):
            thin.take(np.array([bad]))


def test_a_table_that_stores_many_cells_or_has_few_is_coded_as_a_whole(monkeypatch):
    _, table = Schema.learn(sp.csr_array(np.eye(10)))
    assert is_thin(table)
    monkeypatch.setattr(sparse_cuts, "LEAST_CELLS", 101)
    assert not is_thin(table)
    assert isinstance(Cuts.fit(table).encode_stored(table), Codes)
    monkeypatch.setattr(sparse_cuts, "LEAST_CELLS", 100)
    monkeypatch.setattr(sparse_cuts, "MOST_STORED", 0.09)
    assert not is_thin(table)


def test_a_table_with_categories_is_coded_as_a_whole():
    X = sp.csr_array(np.eye(10))
    _, table = Schema.learn(X, categorical_features=[3])
    assert table.sparse is None
    assert isinstance(Cuts.fit(table).encode_stored(table), Codes)
