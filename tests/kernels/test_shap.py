"""The kernels of Shapley values against all coalitions; small enough to run with the compiler off."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_shap as naive
from reference.forests import random_forest, random_rows
from woodwind.kernels.predict.shap import Desk, Paths, Points, explain_lanes, find_paths
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP

SEEDS = st.integers(0, 2**32)
LEVELS = st.sampled_from([(0,), (0, 5, 0), (70, 0, 3), (0, 0)])
OUTPUTS = st.sampled_from([(1, False), (2, False), (2, True)])


def paths_of(forest):
    n = forest.n_nodes
    paths = Paths(forest.feature.copy(), np.zeros(n, np.int32), np.zeros(n), np.zeros(n), np.zeros(forest.n_trees, np.int32))
    find_paths(forest.roots, forest.feature, forest.child, forest.cover, paths, np.zeros((n, 3), np.int64))
    return paths


def gauss(most):
    at, weight = np.zeros((most + 1, most)), np.zeros((most + 1, most))
    for m in range(1, most + 1):
        t, w = np.polynomial.legendre.leggauss(m)
        at[m, :m], weight[m, :m] = (t + 1.0) / 2.0, w / 2.0
    return at, weight


def explained(forest, rows, lanes, more_points=0):
    """Shapley values (n, F, n_outputs) of at most so many rows as there are lanes."""
    paths = paths_of(forest)
    count = np.array([max(1, (d + 1) // 2) + more_points for d in range(forest.n_features + 1)], np.int32)
    most = int(count.max())
    depth, width, n = int(forest.depth.max(initial=0)), forest.value.shape[1], len(rows)
    places = 2 * depth + 2
    desk = Desk(
        np.full(places * most * lanes, np.nan), np.full(places * width * most * lanes, np.nan), np.full(places * lanes, np.nan),
        np.full((depth + 1) * lanes, np.nan), np.full(2 * lanes, np.nan), np.zeros((depth + 1, 4), np.int64),
    )  # fmt: skip
    x = np.zeros((forest.n_features, lanes))
    x[:, :n] = rows.T
    gaps = np.isnan(x).any(axis=1).astype(np.uint8)
    out = np.zeros(forest.n_features * forest.n_outputs * lanes)
    sizes = (n, lanes, most, forest.n_outputs)
    points = Points(count, *gauss(most))
    for trees in ((0, forest.n_trees // 2), (forest.n_trees // 2, forest.n_trees)):
        explain_lanes((x.reshape(-1), gaps), sizes, trees, forest.batch_predictor.walk, paths, points, desk, out)
    return out.reshape(forest.n_features, forest.n_outputs, lanes)[:, :, :n].transpose(2, 0, 1)


@settings(max_examples=12)
@given(SEEDS, LEVELS, OUTPUTS)
def test_values_equal_those_of_all_coalitions(seed, levels, outputs):
    forest = random_forest(seed, levels, 2, 9, *outputs)
    rows = random_rows(seed, levels, 5)
    np.testing.assert_allclose(explained(forest, rows, 6), naive.explained(forest, rows), rtol=0.0, atol=1e-12)


@pytest.mark.compiled
@settings(max_examples=60)
@given(SEEDS, st.sampled_from([(0, 4, 0, 0), (0, 0), (3, 70, 0, 0, 0)]), OUTPUTS)
def test_values_of_larger_trees_equal_those_of_all_coalitions(seed, levels, outputs):
    forest = random_forest(seed, levels, 3, 25, *outputs)
    rows = random_rows(seed, levels, 6)
    np.testing.assert_allclose(explained(forest, rows, 8), naive.explained(forest, rows), rtol=0.0, atol=1e-12)


@settings(max_examples=10)
@given(SEEDS, LEVELS)
def test_a_row_gets_the_same_bits_alone_among_others_and_among_more_lanes(seed, levels):
    forest = random_forest(seed, levels, 2, 12)
    rows = random_rows(seed, levels, 5)
    together = explained(forest, rows, 5)
    for i in range(len(rows)):
        np.testing.assert_array_equal(explained(forest, rows[i : i + 1], 1)[0], together[i])
    np.testing.assert_array_equal(explained(forest, rows, 9), together)


@settings(max_examples=5)
@given(SEEDS)
def test_more_points_than_are_needed_change_nothing(seed):
    forest = random_forest(seed, (0, 0, 0), 2, 12)
    rows = random_rows(seed, (0, 0, 0), 4)
    np.testing.assert_allclose(explained(forest, rows, 4, more_points=2), explained(forest, rows, 4), rtol=0.0, atol=1e-13)


@settings(max_examples=15)
@given(SEEDS, LEVELS)
def test_facts_of_paths_equal_those_of_the_twin(seed, levels):
    forest = random_forest(seed, levels, 2, 12)
    paths = paths_of(forest)
    for tree, root in enumerate(forest.roots[:-1]):
        ways = naive.ways(forest, tree)
        features = {node: {int(forest.feature[root + above]) for above, _side in way} for node, way in ways.items()}
        assert paths.distinct[tree] == max(len(names) for names in features.values())
        for node in ways:
            if forest.feature[root + node] >= 0:
                before, share, reach = naive.path_facts(forest, tree, node)
                assert paths.before[root + node] == before
                assert paths.share[root + node] == pytest.approx(share, abs=1e-15)
                assert paths.reach[root + node] == pytest.approx(reach, abs=1e-15)


def test_a_single_leaf_brings_nothing():
    forest = random_forest(0, (0, 3), 3, 1)
    assert not explained(forest, random_rows(0, (0, 3), 4), 4).any()


def test_missing_values_bring_what_the_way_that_they_go_brings():
    forest = random_forest(5, (0,), 1, 2)
    while forest.n_nodes != 3:
        forest = random_forest(int(forest.value[0, 0] * 1e6) % 1000, (0,), 1, 2)
    for way in (LEFT, RIGHT, STOP):
        one = replace(forest, missing=np.array([way, STOP, STOP]))
        value = one.value[1 + way, 0] if way != STOP else one.value[0, 0]
        got = explained(one, np.array([[np.nan], [0.0]]), 2)
        assert got[0, 0, 0] == pytest.approx(value - one.value[0, 0], abs=1e-15)
        # The other row is there to go its own way.
        assert got[1, 0, 0] == pytest.approx(one.raw(np.zeros((1, 1)))[0, 0] - one.start[0] - one.value[0, 0], abs=1e-15)


def test_children_that_nothing_covers_count_the_same():
    forest = random_forest(3, (0, 0, 0), 2, 12)
    bare = replace(forest, cover=np.zeros(forest.n_nodes)).with_node_values()
    rows = random_rows(3, (0, 0, 0), 4)
    got = explained(bare, rows, 4)
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got, naive.explained(bare, rows), rtol=0.0, atol=1e-12)


def test_a_side_that_nothing_covers_gets_all_from_who_goes_there():
    forest = random_forest(11, (0, 0), 3, 12)
    cover = forest.cover.copy()
    cover[::3] = 0.0
    some = replace(forest, cover=cover).with_node_values()
    rows = random_rows(11, (0, 0), 6)
    np.testing.assert_allclose(explained(some, rows, 6), naive.explained(some, rows), rtol=0.0, atol=1e-12)
