"""Exact growth from Python: statistics, draws, threads, rows that are given several times, and agreement with histogram growth."""

from dataclasses import replace

import numpy as np
import pytest

from woodwind import ParameterError
from woodwind.base.errors import DataError
from woodwind.base.random_streams import key
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranks
from woodwind.data.tables.schema import Schema
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP
from woodwind.tree.assemble import assemble
from woodwind.tree.exact_grower import ExactGrower, RowStats, SplitCriterion, thresholds, walk_ranks
from woodwind.tree.grown_tree import ValuedTree, pruned
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

FREE = TreeSettings(max_leaves=1 << 40, growth="level", min_rows=1, min_hessian=0.0, l2=0.0)


def table_of(X, categories=None):
    return Schema.learn(X, categories)[1]


def data(seed=0, n=400, n_features=5, missing=0.1, digits=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)).round(digits)
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 1] = rng.integers(0, 9, n)
    y = np.nan_to_num(X[:, 0]) + (X[:, 1] % 3) + rng.normal(size=n)
    return X, y


def digest(tree):
    parts = (tree.feature, tree.bin, tree.child, tree.missing, tree.set, tree.sets, tree.gain, tree.gradient, tree.count, tree.leaf_of_row)
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


@pytest.mark.parametrize("settings", [
    TreeSettings(max_leaves=20, min_rows=3),
    TreeSettings(max_leaves=20, growth="level", max_depth=4, min_rows=1, l2=0.0),
    TreeSettings(max_leaves=16, min_rows=2, features_per_node=2),
    TreeSettings(max_leaves=16, min_rows=2, features_per_tree=3, features_per_level=2),
    TreeSettings(max_leaves=12, min_rows=2, monotonic=np.array([1, 0, -1, 0, 0])),
    TreeSettings(max_leaves=12, min_rows=2, l1=20.0, groups=((0, 1), (2, 3, 4))),
], ids=str)  # fmt: skip
def test_exact_growth_equals_histogram_growth_on_as_many_bins_as_values(settings):
    """Gradients are whole numbers of the units that histograms keep, so that nothing is rounded there."""
    X, _ = data()
    table = table_of(X, [1])
    rng = np.random.default_rng(1)
    packed = (rng.integers(-100, 100, len(X)) << 47) + (rng.integers(1, 60, len(X)) << 18)
    scales = np.array([2.0**15, 2.0**15])
    by_bins = HistogramGrower(Cuts.fit(table).encode(table), settings)
    by_ranks = ExactGrower(Ranks.of(table), settings)
    for grower in (by_bins, by_ranks):
        grower.stats_to_fill()[:] = packed
    left, right = by_bins.grow(scales, key(3)), by_ranks.grow(scales, key(3))
    for name in ("feature", "child", "missing", "count", "gradient", "hessian", "sets", "set"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    np.testing.assert_allclose(left.gain, right.gain, rtol=1e-12)
    np.testing.assert_array_equal(left.leaf_of_row, right.leaf_of_row)
    number = (left.feature >= 0) & (left.set < 0)
    below, above = right.bin & 0xFFFFFFFF, right.bin >> 32
    inside = number & (above < 0x7FFFFFFF)
    np.testing.assert_array_equal(left.bin[inside], ((below + above - 1) // 2)[inside])


def outputs(n, k, seed=1):
    """Gradients of several outputs and the hessian that they share, whole numbers of the units that histograms keep."""
    rng = np.random.default_rng(seed)
    return rng.integers(-100, 100, (n, k)) / 1.0, rng.integers(1, 30, (n, 1)) * np.full((1, k), 2.0 / k)


@pytest.mark.parametrize("n_outputs", [2, 3, 6])
@pytest.mark.parametrize("settings", [
    TreeSettings(max_leaves=20, min_rows=3),
    TreeSettings(max_leaves=20, growth="level", max_depth=4, min_rows=1, l2=0.0),
    TreeSettings(max_leaves=16, min_rows=2, features_per_node=2),
    TreeSettings(max_leaves=12, min_rows=2, groups=((0, 1), (2, 3, 4))),
], ids=str)  # fmt: skip
def test_a_tree_of_several_outputs_equals_that_of_histograms_on_as_many_bins_as_values(settings, n_outputs):
    X, _ = data()
    table = table_of(X, [1])
    gradient, hessian = outputs(len(X), n_outputs)
    by_bins = HistogramGrower(Cuts.fit(table).encode(table), settings, outputs=n_outputs)
    by_bins.fill((np.column_stack([gradient, 0.5 * hessian.sum(axis=1)]) * 2.0**20).astype(np.int32))
    by_ranks = ExactGrower(Ranks.of(table), settings, split_criterion=SplitCriterion("vector", n_outputs))
    left, right = by_bins.grow(np.full(2, 2.0**20), key(3)), by_ranks.grow_stats(RowStats.of_outputs(gradient, hessian), key(3))
    for name in ("feature", "child", "missing", "sets", "set", "leaf_of_row"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    np.testing.assert_allclose(left.gain, right.gain, rtol=1e-9)


def test_the_gain_of_several_outputs_is_the_sum_of_their_gains_with_the_hessian_that_they_share():
    X, _ = data(n=60)
    gradient, hessian = outputs(60, 3)
    grower = ExactGrower(Ranks.of(table_of(X)), replace(FREE, max_depth=1, l2=1.0), split_criterion=SplitCriterion("vector", 3))
    tree = grower.grow_stats(RowStats.of_outputs(gradient, hessian), key(3))
    shared = 0.5 * hessian.sum(axis=1)

    def score(rows):
        return (gradient[rows].sum(axis=0) ** 2).sum() / (shared[rows].sum() + 1.0)

    best = -np.inf
    for column in X.T:
        for value in np.unique(column[~np.isnan(column)]):
            for left in (column <= value, (column <= value) | np.isnan(column)):
                if 0 < left.sum() < 60:
                    best = max(best, score(left) + score(~left) - score(np.ones(60, bool)))
    assert tree.gain[0] == pytest.approx(best)


def test_a_tree_of_several_outputs_has_the_same_bits_for_any_number_of_threads_and_rows_given_twice():
    X, _ = data(2, 3000, 12)
    ranks = Ranks.of(table_of(X, [1]))
    gradient, hessian = outputs(len(X), 4)
    rows = np.random.default_rng(0).integers(0, 3, len(X))
    for candidates in (None, "local"):
        settings = replace(FREE, max_leaves=60, growth="best_first", candidates=candidates, candidate_bins=20)
        stats = RowStats.of_outputs(gradient, hessian, rows)
        made = [ExactGrower(ranks, settings, threads, SplitCriterion("vector", 4)).grow_stats(stats, 5) for threads in (1, 2, 4)]
        assert len({digest(tree) for tree in made}) == 1
        again = np.repeat(np.arange(len(X)), rows)
        copies = ExactGrower(ranks.take(again), settings, 1, SplitCriterion("vector", 4))
        repeated = copies.grow_stats(RowStats.of_outputs(gradient[again], hessian[again]), 5)
        np.testing.assert_array_equal(repeated.feature, made[0].feature)
        np.testing.assert_array_equal(repeated.leaf_of_row, made[0].leaf_of_row[again])


def test_the_same_bits_for_any_number_of_threads():
    X, y = data(2, 5000, 30)
    table = table_of(X, [1])
    for settings in (FREE, replace(FREE, max_leaves=100, growth="best_first", features_per_node=7)):
        digests = {digest(ExactGrower(Ranks.of(table), settings, threads).grow_from(-y, np.ones(len(y)), 5)) for threads in (1, 2, 3, 4, 8)}
        assert len(digests) == 1


def test_a_row_given_twice_has_twice_the_statistics():
    X, y = data(3)
    rows = np.random.default_rng(0).integers(0, len(X), 300).astype(np.int32)
    hessian = np.full(len(y), 0.25)
    by_number = ExactGrower(Ranks.of(table_of(X, [1])), FREE).grow_from(-y, hessian, 5, rows)
    by_copy = ExactGrower(Ranks.of(table_of(X[rows], [1])), FREE).grow_from(-y[rows], hessian[rows], 5)
    for name in ("feature", "child", "missing", "gain", "count"):
        np.testing.assert_array_equal(getattr(by_number, name), getattr(by_copy, name), err_msg=name)
    np.testing.assert_array_equal(by_number.leaf_of_row[rows], by_copy.leaf_of_row)
    assert by_number.count[0] == 300


def test_rows_outside_of_the_tree_find_their_leaves():
    X, y = data(4)
    grower = ExactGrower(Ranks.of(table_of(X, [1])), FREE)
    rows = np.arange(0, len(X), 3, dtype=np.int32)
    tree = grower.grow_from(-y, np.ones(len(y)), 5, rows)
    valued = ValuedTree.of(tree, np.arange(tree.n_nodes, dtype=np.float64), 0, 1.0, thresholds(tree, grower.ranks))
    found = np.empty(len(X), np.int32)
    walk_ranks(valued, grower.ranks, found)
    np.testing.assert_array_equal(found[rows], tree.leaf_of_row[rows])
    # The same by the forest, which walks on values.
    forest = assemble([valued], grower.ranks.ranking, np.zeros(1), 1)
    np.testing.assert_array_equal(forest.check().leaves(table_of(X, [1]))[:, 0], found)


def test_a_category_that_goes_left_and_right_is_refused_because_a_walk_would_go_back():
    X, y = data(4)
    grower = ExactGrower(Ranks.of(table_of(X, [1])), FREE)
    tree = grower.grow_from(-y, np.ones(len(y)), 5)
    valued = ValuedTree.of(tree, np.arange(tree.n_nodes, dtype=np.float64), 0, 1.0, thresholds(tree, grower.ranks))
    assert len(valued.check().sets) > 0
    both = valued.sets.copy()
    both[0, [0, 4]] |= np.uint64(1)
    with pytest.raises(DataError, match="goes left and right"):
        replace(valued, sets=both).check()


def test_numbers_of_nodes_go_level_by_level_without_a_limit_of_leaves():
    X, y = data(5)
    ranks = Ranks.of(table_of(X, [1]))
    free = ExactGrower(ranks, FREE).grow_from(-y, np.ones(len(y)), 5)
    limited = ExactGrower(ranks, replace(FREE, max_leaves=len(y) - 1)).grow_from(-y, np.ones(len(y)), 5)
    assert digest(free) == digest(limited)


def test_each_leaf_has_its_rows_and_its_sums():
    X, y = data(6)
    tree = ExactGrower(Ranks.of(table_of(X, [1])), replace(FREE, max_leaves=10)).grow_from(-y, np.ones(len(y)), 5)
    for node in range(tree.n_nodes):
        rows = tree.rows[tree.begin[node] : tree.end[node]]
        assert tree.count[node] == len(rows)
        assert tree.gradient[node] == pytest.approx(-y[rows].sum(), abs=1e-12)
        assert tree.hessian[node] == len(rows)
        if tree.feature[node] < 0:
            assert (np.diff(rows) > 0).all()


def test_pruning_after_full_growth_leaves_gains_that_are_enough():
    X, y = data(7)
    tree = ExactGrower(Ranks.of(table_of(X, [1])), replace(FREE, prune=True, min_gain=10.0)).grow_from(-y, np.ones(len(y)), 5)
    small = pruned(tree, 10.0)
    assert small.n_nodes < tree.n_nodes
    leaf_parents = [n for n in np.flatnonzero(small.feature >= 0) if (small.feature[small.child[n] : small.child[n] + 2] < 0).all()]
    assert small.gain[leaf_parents].min() >= 10.0


def test_missing_values_stop_where_training_met_none():
    X = np.array([[0.0, np.nan], [1.0, 0.0], [2.0, 0.0], [3.0, 5.0]])
    tree = ExactGrower(Ranks.of(table_of(X)), FREE).grow_from(np.array([0.0, 0.0, 9.0, 9.0]), np.ones(4), 5)
    assert tree.feature[0] == 0
    assert tree.missing[0] == STOP
    y = np.array([5.0, 0.0, 0.0, 5.0])
    tree = ExactGrower(Ranks.of(table_of(X[:, 1:])), FREE).grow_from(-y, np.ones(4), 5)
    assert tree.missing[0] == RIGHT
    tree = ExactGrower(Ranks.of(table_of(-X[:, 1:])), FREE).grow_from(-y, np.ones(4), 5)
    assert tree.missing[0] == LEFT


@pytest.mark.parametrize(("low", "high", "cut"), [
    (1.0, 3.0, 2.0),
    (1.0, np.nextafter(1.0, 2.0), 1.0),
    (-1.7e308, 1.7e308, 0.0),
    (-np.inf, np.inf, 0.0),
    (5e-324, 1e-323, 5e-324),
])  # fmt: skip
def test_a_threshold_parts_its_neighbours_and_is_finite(low, high, cut):
    ranks = Ranks.of(table_of(np.array([[low], [high]])))
    tree = ExactGrower(ranks, FREE).grow_from(np.array([-1.0, 1.0]), np.ones(2), 5)
    assert thresholds(tree, ranks)[0] == cut


def test_ties_go_to_the_lowest_feature_and_threshold():
    X = np.array([[0.0, 0.0, 3.0], [1.0, 0.0, 2.0], [2.0, 0.0, 1.0], [3.0, 0.0, 0.0]])
    tree = ExactGrower(Ranks.of(table_of(X)), replace(FREE, max_leaves=2)).grow_from(np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4), 5)
    assert tree.feature[0] == 0
    assert tree.bin[0] & 0xFFFFFFFF == 0


def test_symmetric_growth_is_refused():
    with pytest.raises(ParameterError, match="max_bins=255"):
        ExactGrower(Ranks.of(table_of(np.zeros((3, 1)))), replace(FREE, growth="symmetric"))


def test_noise_on_gradients_is_refused():
    with pytest.raises(ParameterError, match="gradient_noise needs bins"):
        ExactGrower(Ranks.of(table_of(np.zeros((3, 1)))), replace(FREE, gradient_noise=0.5))


def test_a_patient_draw_goes_on_until_a_feature_can_be_split():
    X = np.zeros((20, 8))
    X[:, 5] = np.arange(20)
    labels = np.arange(20) % 2
    rows = np.column_stack([labels, np.ones((20, 2), np.int64), labels]).astype(np.int64)
    grower = ExactGrower(Ranks.of(table_of(X)), replace(FREE, features_per_node=1), 1, SplitCriterion("gini", 2, thorough=True))
    tree = grower.grow_stats(RowStats(rows, 1.0, 1.0), 5)
    assert set(tree.feature) == {-1, 5}
    assert tree.n_nodes == 39


def test_wide_statistics_keep_at_least_forty_bits():
    y = np.random.default_rng(0).normal(size=100_000)
    stats = RowStats.of(y, np.ones(len(y)))
    assert stats.gradient_unit <= np.abs(y).max() * 2.0**-40
    np.testing.assert_allclose(stats.rows[:, 0] * stats.gradient_unit, y, rtol=0, atol=1e-12)
