"""Rows as lists: the same histograms and the same trees as from whole rows."""

from typing import Any

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_array_equal

from reference.coded import SCALES, assert_same_tree, random_codes, random_stats
from reference.naive_growth import Growth
from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram import sparse_rows as sparse
from woodwind.kernels.histogram.build_histograms import count_rows, fill_rows
from woodwind.kernels.histogram.sparse_rows import LENGTH_BITS
from woodwind.kernels.runtime.jit import kernel
from woodwind.tree import code_layouts as listing
from woodwind.tree.code_layouts import row_lists
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")


@pytest.fixture
def always_lists(monkeypatch):
    monkeypatch.setattr(listing, "LEAST_LISTED", 0)


def rare(seed, n, levels, missing=0.1, bins=8):
    """Codes of which most are the commonest of their column; in the last column that is the missing code."""
    codes = random_codes(seed, n, levels, bins, missing=missing, common=0.8)
    last = np.random.default_rng(seed).random(n) < 0.8
    codes.column(len(levels) - 1)[last] = codes.missing
    return codes


def test_a_list_has_the_cells_that_are_not_the_commonest(always_lists):
    codes = rare(0, 50, (0, 4, 0))
    lists = row_lists(codes)
    common = [int(np.bincount(column).argmax()) for column in codes.by_column]
    assert common[-1] == codes.missing
    assert lists.starts.tolist() == [0, *np.cumsum(codes.n_bins + 1)]
    cell = [{code: lists.starts[f] + min(code, codes.n_bins[f]) for code in range(codes.width)} for f in range(3)]
    assert lists.commonest.tolist() == [cell[f][common[f]] for f in range(3)]
    for place, row in enumerate(lists.order):
        cells = [cell[f][int(codes.by_column[f, row])] for f in range(3) if codes.by_column[f, row] != common[f]]
        cells += [lists.starts[-1]] * (-len(cells) % 4)
        begin, fours = divmod(int(lists.at[place]), 1 << LENGTH_BITS)
        assert lists.cells[begin : begin + 4 * fours].tolist() == cells
    assert_array_equal(lists.by_column, codes.by_column[:, lists.order])


def test_a_sample_that_misleads_is_found_out(always_lists, monkeypatch):
    monkeypatch.setattr(listing, "SAMPLE", 50)
    codes = random_codes(0, 100, (0,) * 6, bins=8, missing=0.0)
    codes.by_row[::2] = 0  # every second row, which is all that a sample of 50 sees
    assert row_lists(codes) is None
    codes.by_row[1::4] = 0
    monkeypatch.setattr(listing, "_made", {})
    assert row_lists(codes) is not None


def test_rows_with_lists_of_one_length_stand_together_and_no_row_moves_far(always_lists, monkeypatch):
    monkeypatch.setattr(listing, "STRETCH", 20)
    lists = row_lists(rare(0, 50, (0,) * 12))
    fours = lists.at & ((1 << LENGTH_BITS) - 1)
    assert len(set(fours.tolist())) > 1
    for begin in (0, 20, 40):
        stretch = slice(begin, begin + 20)
        assert sorted(lists.order[stretch].tolist()) == list(range(50))[stretch]
        assert (np.diff(fours[stretch]) >= 0).all()
    assert lists.at[np.argsort(lists.at)].tolist() == lists.at.tolist()


def test_given_rows_are_brought_into_the_order_of_the_lists(always_lists):
    lists = row_lists(rare(0, 50, (0,) * 12))
    rows = np.array([7, 3, 3, 49, 0, 3, 20, 7], np.int32)
    places = lists.positions(rows)
    assert sorted(lists.order[places].tolist()) == sorted(rows.tolist())
    assert (np.diff(places) >= 0).all()


def test_cells_have_sixteen_bits_where_there_are_few_enough(always_lists, monkeypatch):
    assert row_lists(rare(0, 50, (0, 0))).cells.dtype == np.uint16
    monkeypatch.setattr(listing, "SHORT_CELLS", 3)
    assert row_lists(rare(0, 50, (0, 0))).cells.dtype == np.int32


def test_whole_rows_are_kept_where_lists_would_be_long_or_rows_are_few(always_lists, monkeypatch):
    assert row_lists(random_codes(0, 50)) is None
    assert row_lists(rare(0, 50, (0, 0))) is not None
    monkeypatch.setattr(listing, "LEAST_LISTED", 20_000)
    monkeypatch.setattr(listing, "_made", {})
    assert row_lists(rare(0, 50, (0, 0))) is None


@kernel
def count(growing: Any, rule: Any, begin: Any, end: Any, out: Any) -> None:
    """Count rows of the first buffer."""
    count_rows(growing, rule, begin, end, memory.rows(growing), out)


@pytest.mark.parametrize("short_cells", [1 << 16, 3] if config.DISABLE_JIT else [1 << 16])  # compiled code has the number in it
def test_codes_of_listed_rows_are_counted_with_their_commonest_ones(always_lists, monkeypatch, short_cells):
    # Where a split turns out to leave too few rows on one side, the node is counted; of many columns, lists are far fewer codes.
    monkeypatch.setattr(listing, "SHORT_CELLS", short_cells)
    monkeypatch.setattr(sparse, "SHORT_CELLS", short_cells)
    codes = rare(1, 60, (0, 4, 0, 0, 0))
    grower = HistogramGrower(codes, TreeSettings())
    grower.stats_to_fill()[:] = random_stats(1, codes)
    lists = grower._table.lists
    fill_rows(grower._space.directory, None, lists.order, 0, 60)
    rule = grower._rule(SCALES, 0, False)
    out = np.zeros(rule.n_cells, np.int64)
    count(grower._space.directory, rule, 10, 50, out)
    rows = lists.order[10:50]
    for f in range(codes.n_features):
        expected = np.bincount(np.minimum(codes.by_column[f, rows], codes.n_bins[f]), minlength=codes.n_bins[f] + 1)
        assert_array_equal(out[lists.starts[f] : lists.starts[f + 1]], expected)


@pytest.mark.compiled
def test_lists_and_whole_rows_agree_where_splits_leave_too_few_rows(monkeypatch):
    codes = rare(4, 9000, (0, 4, *[0] * 5))
    stats = random_stats(1, codes)
    grown = []
    for most in (0.4, -1.0):
        monkeypatch.setattr(listing, "MOST_LISTED", most)
        monkeypatch.setattr(listing, "_made", {})
        grower = HistogramGrower(codes, TreeSettings(min_rows=700))
        assert (grower._table.lists is not None) == (most > 0)
        grower.stats_to_fill()[:] = stats
        grown.append(grower.grow(SCALES, 2))
    assert grown[0].n_nodes > 5
    for part in ("feature", "bin", "child", "missing", "sets", "gain", "gradient", "count", "leaf_of_row"):
        assert_array_equal(getattr(grown[0], part), getattr(grown[1], part))


@pytest.mark.parametrize("seed", range(3))
def test_lists_grow_the_tree_of_the_twin(always_lists, seed):
    codes = rare(seed, 80, (0, 4, 0, 0))
    stats = random_stats(seed, codes)
    options = TreeSettings(min_rows=3, max_leaves=6, min_hessian=0.0, category_smooth=1.0, category_l2=0.0)
    grower = HistogramGrower(codes, options)
    assert grower._table.lists is not None
    grower.stats_to_fill()[:] = stats
    twin = Growth(codes, options, SCALES, 1)
    twin.take(stats)
    nodes = twin.grow()
    assert len(nodes) > 3
    assert_same_tree(grower.grow(SCALES, 1), nodes)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("n", "outputs", "features"), [(3000, 1, 7), (9000, 1, 7), (70_000, 1, 7), (1000, 1, 270), (3000, 3, 7), (9000, 6, 7), (1000, 2, 270)]
)
@pytest.mark.parametrize("threads", [1, 3])
def test_lists_and_whole_rows_grow_the_same_tree(monkeypatch, n, outputs, features, threads):
    monkeypatch.setattr("woodwind.tree.histogram_grower.LEAST_WORK", 0)
    codes = rare(n, n, (0, 4, *[0] * (features - 2)), bins=250 if features > 256 else 8)
    given = np.random.default_rng(2).integers(0, n, n).astype(np.int32)
    grown = []
    for most in (0.4, -1.0):
        monkeypatch.setattr(listing, "MOST_LISTED", most)
        monkeypatch.setattr(listing, "_made", {})
        grower = HistogramGrower(codes, TreeSettings(min_rows=5), threads, outputs=outputs)
        lists = grower._table.lists
        assert (lists is not None) == (most > 0)
        assert lists is None or (lists.cells.dtype == np.uint16) == (features < 256)
        if outputs > 1:
            rng = np.random.default_rng(1)
            gradients, hessian = rng.integers(-(2**30), 2**30, (n, outputs)), rng.integers(0, 2**30, (n, 1))
            grower.fill(np.concatenate([gradients, hessian], axis=1).astype(np.int32))
        for rows in (None, np.sort(given)):
            grower.stats_to_fill()[:] = random_stats(1, codes) if outputs == 1 else 0
            tree = grower.grow(SCALES, 2, rows)
            leaf = tree.leaf_of_row[given]
            grown.append([tree.feature, tree.bin, tree.child, tree.missing, tree.sets, tree.gain, tree.gradient, tree.count, leaf])
            ends = tree.end[tree.leaves]
            assert_array_equal(tree.leaf_of_row[tree.rows[ends - 1]], tree.leaves)
    for lists, whole in ((grown[0], grown[2]), (grown[1], grown[3])):
        assert len(lists[0]) > 20
        for one, other in zip(lists, whole, strict=True):
            assert_array_equal(one, other)
