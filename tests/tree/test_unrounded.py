"""Trees from statistics of very different sizes: no row is rounded off beside a far larger one."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.coded import random_codes
from woodwind.base.random_streams import key
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranks
from woodwind.data.tables.schema import Schema
from woodwind.kernels.tree.leaves import leaf_sums, unrounded_leaf_sums
from woodwind.tree import code_layouts as listing
from woodwind.tree.exact_grower import ExactGrower
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")

ONES = np.ones(2)
SAME = ("feature", "child", "missing", "count", "gradient", "hessian", "set", "sets", "leaf_of_row")


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 1] = rng.integers(0, 9, n)
    return Schema.learn(X, [1])[1]


def long_tailed(n, seed=0):
    """Whole numbers from 1 to 2**40: a few are a million times as large as most."""
    rng = np.random.default_rng(seed)
    gradient = np.rint(rng.choice([-1.0, 1.0], n) * np.minimum(np.exp(rng.normal(3.0, 4.0, n)), 2.0**40)).astype(np.int64)
    hessian = np.rint(np.minimum(np.exp(rng.normal(3.0, 4.0, n)), 2.0**40)).astype(np.int64) + 1
    return gradient, hessian


def grown(codes, gradient, hessian, settings, rows=None, threads=1):
    grower = HistogramGrower(codes, settings, threads, None if rows is None else len(rows), unrounded=True)
    grower.stats_to_fill()[:] = np.concatenate([gradient, hessian])
    return grower.grow(ONES, key(3), rows)


@pytest.mark.parametrize("rows", [None, np.arange(0, 600, 2, dtype=np.int32), np.repeat(np.arange(300, dtype=np.int32), 2)], ids=str)
@pytest.mark.parametrize("settings", [
    TreeSettings(max_leaves=20, min_rows=3, min_hessian=0.0),
    TreeSettings(max_leaves=20, growth="level", max_depth=4, min_rows=1, min_hessian=0.0, l2=0.0),
    TreeSettings(max_leaves=16, min_rows=2, features_per_node=2),
    TreeSettings(max_leaves=12, min_rows=2, monotonic=np.array([1, 0, -1, 0, 0])),
    TreeSettings(max_leaves=12, min_rows=2, l1=20.0, groups=((0, 1), (2, 3, 4))),
], ids=str)  # fmt: skip
def test_the_tree_is_that_of_exact_growth(settings, rows):
    """The exact engine has always summed the widest integers there is room for, from ranks instead of bins."""
    both = table()
    gradient, hessian = long_tailed(both.n_rows)
    left = grown(Cuts.fit(both).encode(both), gradient, hessian, settings, rows)
    right = ExactGrower(Ranks.of(both), settings).grow_from(gradient.astype(float), hessian.astype(float), key(3), rows)
    for name in SAME[:3]:
        assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    seen = slice(None) if rows is None else np.unique(rows)
    assert_array_equal(left.leaf_of_row[seen], right.leaf_of_row[seen])
    np.testing.assert_allclose(left.gain, right.gain, rtol=1e-9)
    assert left.n_nodes > 5


def test_sums_of_leaves_are_exact():
    both = table()
    gradient, hessian = long_tailed(both.n_rows, 1)
    tree = grown(Cuts.fit(both).encode(both), gradient, hessian, TreeSettings(max_leaves=20, min_rows=3))
    for leaf in tree.leaves:
        rows = tree.leaf_of_row == leaf
        assert tree.gradient[leaf] == gradient[rows].sum()
        assert tree.hessian[leaf] == hessian[rows].sum()
        assert tree.count[leaf] == rows.sum()


@pytest.mark.parametrize("growth", ["best_first", "level", "symmetric"])
def test_the_same_tree_for_any_number_of_threads(growth):
    codes = random_codes(5, 20_000, (0, 0, 12, 0, 3, 0, 0, 2, 2, 2))
    gradient, hessian = long_tailed(20_000, 2)
    settings = TreeSettings(max_leaves=40, growth=growth, max_depth=5 if growth == "symmetric" else None)
    trees = [grown(codes, gradient, hessian, settings, None, threads) for threads in (1, 2, 3)]
    for name in SAME:
        for other in trees[1:]:
            assert_array_equal(getattr(trees[0], name), getattr(other, name), err_msg=name)
    assert trees[0].n_nodes > 9


@pytest.mark.parametrize("growth", ["best_first", "level"])
def test_few_histograms_at_a_time_make_the_same_tree(growth, monkeypatch):
    codes = random_codes(6, 3000, (0, 0, 5, 0))
    gradient, hessian = long_tailed(3000, 3)
    settings = TreeSettings(max_leaves=60, growth=growth, min_rows=5)
    plenty = grown(codes, gradient, hessian, settings)
    monkeypatch.setattr("woodwind.tree.workspace.MOST_HISTOGRAM_BYTES", 1)
    monkeypatch.setattr("woodwind.tree.workspace.LEVEL_BATCH", 2)
    few = grown(codes, gradient, hessian, settings)
    for name in SAME:
        assert_array_equal(getattr(plenty, name), getattr(few, name), err_msg=name)


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("rows", [None, np.arange(0, 400, 3, dtype=np.int32)], ids=["all", "some"])
def test_rows_as_lists_make_the_same_tree(noise, rows, monkeypatch):
    rng = np.random.default_rng(4)
    X = np.where(rng.random((400, 12)) < 0.9, 0.0, rng.integers(1, 5, (400, 12)))
    both = Schema.learn(X, None)[1]
    codes = Cuts.fit(both).encode(both)
    gradient, hessian = long_tailed(400, 4)
    settings = TreeSettings(max_leaves=15, min_rows=2, gradient_noise=noise)
    trees = []
    for never in (False, True):
        monkeypatch.setattr("woodwind.tree.histogram_grower.row_lists", (lambda _codes: None) if never else listing.row_lists)
        monkeypatch.setattr(listing, "LEAST_LISTED", 0)
        trees.append(grown(codes, gradient, hessian, settings, rows))
    assert listing.row_lists(codes) is not None
    for name in SAME[:-1]:
        assert_array_equal(getattr(trees[0], name), getattr(trees[1], name), err_msg=name)
    seen = slice(None) if rows is None else rows
    assert_array_equal(trees[0].leaf_of_row[seen], trees[1].leaf_of_row[seen])


def test_noise_changes_splits_and_not_sums():
    both = table()
    gradient, hessian = long_tailed(both.n_rows, 5)
    codes = Cuts.fit(both).encode(both)
    settings = TreeSettings(max_leaves=10, min_rows=3)
    plain, noisy = (grown(codes, gradient, hessian, replace(settings, gradient_noise=share)) for share in (0.0, 2.0))
    assert not np.array_equal(plain.feature, noisy.feature) or not np.array_equal(plain.bin, noisy.bin)
    for leaf in noisy.leaves:
        assert noisy.gradient[leaf] == gradient[noisy.leaf_of_row == leaf].sum()


def test_sums_by_leaf_are_those_of_packed_statistics():
    rng = np.random.default_rng(6)
    gradient, hessian, leaf = rng.integers(-(1 << 30), 1 << 30, 50), rng.integers(0, 1 << 30, 50), rng.integers(0, 4, 50).astype(np.int32)
    for rows in (None, rng.integers(0, 50, 70).astype(np.int32)):
        packed, apart = np.zeros((4, 3), np.int64), np.zeros((4, 3), np.int64)
        leaf_sums(leaf, (gradient << 32) + hessian, rows, packed)
        unrounded_leaf_sums(leaf, np.stack([gradient, hessian]), rows, apart)
        assert_array_equal(packed, apart)


def test_several_outputs_are_refused():
    with pytest.raises(ValueError, match="several outputs"):
        HistogramGrower(random_codes(0, 50, (0, 0)), TreeSettings(), outputs=3, unrounded=True)
