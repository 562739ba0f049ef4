"""Rows as lists: the same histograms and the same trees as from whole rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from woodwind.testing.coded import SCALES, assert_same_tree, random_codes, random_stats
from woodwind.testing.naive_growth import Growth
from woodwind.tree import workspace
from woodwind.tree.grow import Grower
from woodwind.tree.settings import TreeSettings

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")


@pytest.fixture
def always_lists(monkeypatch):
    monkeypatch.setattr(workspace, "LEAST_LISTED", 0)


def rare(seed, n, levels, missing=0.1):
    """Codes of which most are the commonest of their column; in the last column that is the missing code."""
    codes = random_codes(seed, n, levels, missing=missing, common=0.8)
    last = np.random.default_rng(seed).random(n) < 0.8
    codes.by_column[-1, last] = codes.missing
    codes.by_row[last, len(levels) - 1] = codes.missing
    return codes


def test_a_list_has_the_cells_that_are_not_the_commonest(always_lists):
    codes = rare(0, 50, (0, 4, 0))
    lists = workspace.row_lists(codes)
    common = [int(np.bincount(column).argmax()) for column in codes.by_column]
    assert common[-1] == codes.missing
    assert lists.starts.tolist() == [0, *np.cumsum(codes.n_bins + 1)]
    cell = [{code: lists.starts[f] + min(code, codes.n_bins[f]) for code in range(codes.width)} for f in range(3)]
    assert lists.commonest.tolist() == [cell[f][common[f]] for f in range(3)]
    for row in range(50):
        cells = [cell[f][int(codes.by_column[f, row])] for f in range(3) if codes.by_column[f, row] != common[f]]
        cells += [lists.starts[-1]] * (-len(cells) % 4)
        assert lists.cells[lists.at[row] : lists.at[row + 1]].tolist() == cells


def test_whole_rows_are_kept_where_lists_would_be_long_or_rows_are_few(always_lists, monkeypatch):
    assert workspace.row_lists(random_codes(0, 50)) is None
    assert workspace.row_lists(rare(0, 50, (0, 0))) is not None
    monkeypatch.setattr(workspace, "LEAST_LISTED", 20_000)
    assert workspace.row_lists(rare(0, 50, (0, 0))) is None


@pytest.mark.parametrize("seed", range(3))
def test_lists_grow_the_tree_of_the_twin(always_lists, seed):
    codes = rare(seed, 80, (0, 4, 0, 0))
    stats = random_stats(seed, codes)
    options = TreeSettings(min_rows=3, max_leaves=6, min_hessian=0.0, category_smooth=1.0, category_l2=0.0)
    grower = Grower(codes, options)
    assert len(grower._space["entries_at"]) > 1
    grower.stats[:] = stats
    twin = Growth(codes, options, SCALES, 1)
    twin.take(stats)
    nodes = twin.grow()
    assert len(nodes) > 3
    assert_same_tree(grower.grow(SCALES, 1), nodes)


@pytest.mark.compiled
@pytest.mark.parametrize(("n", "outputs"), [(3000, 1), (9000, 1), (70_000, 1), (3000, 3), (9000, 6)])
@pytest.mark.parametrize("threads", [1, 3])
def test_lists_and_whole_rows_grow_the_same_tree(monkeypatch, n, outputs, threads):
    monkeypatch.setattr("woodwind.tree.grow.LEAST_WORK", 0)
    codes = rare(n, n, (0, 4, 0, 0, 0, 0, 0))
    grown = []
    for most in (0.4, -1.0):
        monkeypatch.setattr(workspace, "MOST_LISTED", most)
        grower = Grower(codes, TreeSettings(min_rows=5), threads, outputs=outputs)
        assert (len(grower._space["entries_at"]) > 1) == (most > 0)
        if outputs == 1:
            grower.stats[:] = random_stats(1, codes)
        else:
            rng = np.random.default_rng(1)
            gradients, hessian = rng.integers(-(2**30), 2**30, (n, outputs)), rng.integers(0, 2**30, (n, 1))
            grower.fill(np.concatenate([gradients, hessian], axis=1).astype(np.int32))
        tree = grower.grow(SCALES, 2)
        grown.append([tree.feature, tree.bin, tree.child, tree.missing, tree.sets, tree.gain, tree.count, tree.leaf_of_row.copy()])
    assert len(grown[0][0]) > 20
    for lists, whole in zip(*grown, strict=True):
        assert_array_equal(lists, whole)
