"""Columns in bundles: which share a byte, with which values, and what may be lost."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from reference import naive_bundles
from woodwind.data.binning import sparse_cuts
from woodwind.data.binning.bundles import BundledCodes, bundled, find_bundles
from woodwind.data.binning.cuts import Cuts
from woodwind.data.tables.schema import Schema
from woodwind.tree.code_layouts import bundled_rows


@pytest.fixture(autouse=True)
def _always_thin(monkeypatch):
    monkeypatch.setattr(sparse_cuts, "LEAST_CELLS", 0)
    monkeypatch.setattr(sparse_cuts, "MOST_STORED", 1.0)


def codes_of(dense, max_bins=255):
    _, table = Schema.learn(sp.csr_array(dense))
    return Cuts.fit(table, max_bins).encode_stored(table)


def one_hot(seed, n, sizes):
    """Columns of one row in each group: a one where the row has that category."""
    rng = np.random.default_rng(seed)
    return np.concatenate([np.eye(size)[rng.integers(0, size, n)] for size in sizes], axis=1)


def cells_of(codes):
    """{row: code} of each column."""
    starts, at, values = codes.by_column
    return [dict(zip(at[a:b].tolist(), values[a:b].tolist(), strict=True)) for a, b in pairwise(starts.tolist())]


def test_the_columns_of_each_group_share_a_byte_in_which_they_have_one_value_each():
    codes = codes_of(one_hot(0, 500, [10, 10, 10]))
    kept, bundles = find_bundles(codes)
    assert kept is codes  # nothing is lost
    assert bundles.n_bundles == 3
    groups = bundles.bundle.reshape(3, 10)
    assert (groups == groups[:, :1]).all()
    assert sorted(groups[:, 0].tolist()) == [0, 1, 2]
    assert np.sort(bundles.offset.reshape(3, 10), axis=1).tolist() == [list(range(1, 11))] * 3
    assert bundles.sizes.tolist() == [1] * 30


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 12), st.floats(0.0, 0.5), st.sampled_from([0.0, 0.05, 0.2, 1.0]))
def test_bundles_are_those_that_the_plain_rule_finds(seed, n, n_columns, share, rate):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, n_columns)) < share, rng.integers(1, 5, (n, n_columns)), 0).astype(float)
    codes = codes_of(dense)
    kept, bundles = find_bundles(codes, rate, most=n_columns)
    bundle, offset, lost = naive_bundles.find_bundles(cells_of(codes), int(rate * n))
    assert (bundles.bundle.tolist(), bundles.offset.tolist()) == (bundle, offset)
    expected = [{row: code for row, code in column.items() if row not in gone} for column, gone in zip(cells_of(codes), lost, strict=True)]
    assert cells_of(kept) == expected


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.01, 0.1, 0.3]))
def test_no_bundle_loses_more_cells_than_the_conflict_rate_allows(seed, rate):
    rng = np.random.default_rng(seed)
    dense = (rng.random((200, 20)) < 0.15).astype(float)
    codes = codes_of(dense)
    kept, bundles = find_bundles(codes, rate, most=20)
    gone = np.diff(codes.by_column.starts) - np.diff(kept.by_column.starts)
    assert (np.bincount(bundles.bundle, gone, 20) <= rate * 200).all()
    if rate == 0.0:
        assert gone.sum() == 0
    # What is left has no conflict, and what is lost reads as an absent cell, whose code differs from its own.
    marked = np.zeros((200, bundles.n_bundles))
    for feature in range(20):
        changed = kept.column(feature) != codes.column(feature)
        assert changed.sum() == gone[feature]
        assert (kept.column(feature)[changed] == codes.absent[feature]).all()
        marked[:, bundles.bundle[feature]] += kept.column(feature) != codes.absent[feature]
    assert marked.max(initial=0) <= 1


def test_more_conflicts_make_fewer_bundles():
    dense = (np.random.default_rng(0).random((300, 40)) < 0.05).astype(float)
    counts = [find_bundles(codes_of(dense), rate, most=40)[1].n_bundles for rate in (0.0, 0.05, 0.2)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def test_a_byte_has_255_values_beside_the_one_for_nothing():
    codes = codes_of(one_hot(1, 4000, [256]))
    _, bundles = find_bundles(codes, most=2)
    assert np.bincount(bundles.bundle).tolist() == [255, 1]
    assert bundles.offset.max() == 255


def test_bytes_say_which_column_is_stored_and_with_which_code():
    rng = np.random.default_rng(2)
    dense = one_hot(2, 300, [6, 5]) * rng.integers(1, 4, (300, 1))
    codes = bundled(codes_of(dense), 0.0)
    assert isinstance(codes, BundledCodes)
    rows, own = bundled_rows(codes), codes.bundles
    starts = rows.lists.starts
    assert (rows.by_row[:, own.n_bundles :] == 0).all()
    for row in range(300):
        found = {int(rows.cells[256 * b + int(rows.by_row[row, b])]) for b in range(own.n_bundles)} - {-1}
        assert found == {int(starts[f] + codes.column(f)[row]) for f in range(11) if codes.column(f)[row] != codes.absent[f]}


def test_too_many_bundles_are_none():
    dense = (np.random.default_rng(0).random((400, 30)) < 0.3).astype(float)
    codes = codes_of(dense)
    assert find_bundles(codes) is None
    assert bundled(codes, 0.0) is codes
    assert find_bundles(codes, most=30) is not None


def test_a_table_that_stores_nothing_has_one_bundle_of_nothing():
    codes = codes_of(np.zeros((50, 4)))
    _, bundles = find_bundles(codes)
    assert bundles.n_bundles == 1
    assert (bundled_rows(bundled(codes, 0.0)).by_row == 0).all()


def test_rows_that_are_taken_stay_in_their_bundles():
    codes = bundled(codes_of(one_hot(3, 200, [4, 7])), 0.0)
    taken = codes.take(np.array([3, 3, 150]))
    assert isinstance(taken, BundledCodes)
    assert np.array_equal(bundled_rows(taken).by_row, bundled_rows(codes).by_row[[3, 3, 150]])
