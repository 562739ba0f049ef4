"""Trees of several outputs against their twin, and the integers that they are made of."""

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_allclose, assert_array_equal

from reference.coded import assert_same_tree, coded, random_codes
from reference.naive_growth import Growth, VectorGrowth
from woodwind.kernels.histogram.multi_output import fill_lanes, sum_leaves
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")

SEEDS = range(3) if config.DISABLE_JIT else range(8)
SMALL = {"min_rows": 3, "min_hessian": 0.0, "max_leaves": 8, "category_smooth": 1.0, "category_l2": 0.5}


def derivatives(seed, codes, outputs):
    """Gradients of a softmax and half the sum of its hessians, as integers: int32[n, K + 1]."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(size=(codes.n_features, codes.width, outputs))
    scores = np.sum([effects[f][codes.by_column[f]] for f in range(codes.n_features)], axis=0)
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    p = rng.dirichlet(np.ones(outputs), codes.n_rows)
    g = p - np.eye(outputs)[y]
    h = 0.5 * (p * (1.0 - p)).sum(axis=1)
    return np.concatenate([np.rint(g * 2**30), np.rint(h * 2**31)[:, None]], axis=1).astype(np.int32)


VECTOR_SCALES = np.array([2.0**30, 2.0**31])


def both(codes, settings, outputs, name=1, rows=None, threads=1, stats=None):
    """A tree of several outputs and its twin, compared."""
    stats = derivatives(name, codes, outputs) if stats is None else stats
    grower = HistogramGrower(codes, settings, threads, None if rows is None else len(rows), outputs)
    grower.fill(stats)
    tree = grower.grow(VECTOR_SCALES, name, rows)
    twin = VectorGrowth(codes, settings, VECTOR_SCALES, name, outputs, 0 if rows is None else len(rows))
    twin.take(stats.astype(np.int64))
    nodes = twin.grow(rows)
    assert_same_tree(tree, nodes)
    return tree, nodes


CASES = {
    "best first": ((0, 5, 0, 70), {}),
    "level by level": ((0, 5, 0), {"growth": "level", "max_leaves": 7}),
    "one leaf": ((0, 5), {"max_leaves": 1}),
    "depth 2": ((0, 5), {"max_depth": 2}),
    "one feature": ((0,), {"min_rows": 1}),
    "one category": ((9,), {"min_rows": 1}),
    "no penalty": ((0, 5), {"l2": 0.0, "category_l2": 0.0}),
    "a hessian of at least 1": ((0, 5), {"min_hessian": 1.0}),
    "a gain of at least 1": ((0, 5), {"min_gain": 1.0}),
    "features of all three": ((0,) * 9, {"features_per_tree": 7, "features_per_level": 5, "features_per_node": 2}),
    "groups": ((0, 0, 4, 0), {"groups": ((0, 1), (1, 2))}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_tree_equals_its_twin(case):
    levels, options = CASES[case]
    for seed in SEEDS:
        codes = random_codes(seed, 60, levels, bins=6, missing=(0.0, 0.2)[seed % 2])
        both(codes, TreeSettings(**{**SMALL, **options}), 2 + seed % 3, seed)


@pytest.mark.compiled
@pytest.mark.parametrize("outputs", [2, 3, 6, 7, 11])
@pytest.mark.parametrize("threads", [1, 3])
def test_many_rows_and_any_number_of_outputs_equal_the_twin(monkeypatch, outputs, threads):
    monkeypatch.setattr("woodwind.tree.histogram_grower.LEAST_WORK", 0)
    codes = random_codes(outputs, 9000, (0, 5, 0, *(0,) * 7))
    assert both(codes, TreeSettings(max_leaves=24), outputs, threads=threads)[0].n_nodes == 47


@pytest.mark.compiled
def test_rows_count_as_often_as_they_are_given_and_take_bits_from_the_statistics():
    codes = random_codes(3, 300, (0, 5, 0))
    rows = np.sort(np.random.default_rng(3).integers(0, 300, 80_000)).astype(np.int32)
    both(codes, TreeSettings(), 3, rows=rows)
    both(codes, TreeSettings(min_rows=2), 3, rows=rows[:200])


@pytest.mark.compiled
@pytest.mark.parametrize("n", [2**15 - 1, 2**15, 2**16, 2**17 - 1])
def test_no_sum_overflows(n):
    """All rows in one bin with the largest gradients there are, of one sign: the sum fits, whatever the number of rows."""
    column = np.zeros((1, n), np.uint8)
    column[0, : n // 100] = 1
    codes = coded(column, np.array([3], np.int32), np.array([False]))
    for sign in (1, -1):
        stats = np.full((n, 3), sign * 2**30, np.int32)
        stats[: n // 100, :2] *= -1
        stats[:, 2] = 2**30
        tree, nodes = both(codes, TreeSettings(min_rows=1, l2=0.0), 2, stats=stats)
        assert tree.n_nodes == 3
        bits = min(15, 31 - n.bit_length())
        assert (n << bits) < 2**31
        assert nodes[0].split.gain > 0


def test_statistics_are_rounded_to_the_nearest_step():
    stats = np.array([[2**30, -(2**30), 5], [2**14, -(2**14), 2**14 - 1], [0, 1, -1]], np.int32)
    out = np.full((3, 8), -1, np.int32)
    fill_lanes(stats, None, 15, 0, 3, out)
    assert_array_equal(out, [[32768, -32768, 0, 1, 0, 0, 0, 0], [1, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0]])


def test_sums_of_leaves_are_those_of_the_unrounded_statistics():
    rng = np.random.default_rng(0)
    leaf, rows = rng.integers(0, 4, 50).astype(np.int32), np.array([3, 3, 17, 49, 0], np.int32)
    g, h = rng.integers(-(2**30), 2**30, (50, 4)).astype(np.int32), rng.integers(0, 2**30, (50, 3)).astype(np.int32)
    for given, take in ((None, np.arange(50)), (rows, rows)):
        out = np.zeros((4, 6), np.int64)
        sum_leaves(leaf, g, h, given, out)
        for node in range(4):
            mine = take[leaf[take] == node]
            assert_array_equal(out[node], [*g[mine, :3].sum(axis=0, dtype=np.int64), *h[mine].sum(axis=0, dtype=np.int64)])


@pytest.mark.compiled
def test_two_outputs_that_mirror_each_other_split_as_one_does():
    """The second gradient is minus the first: the gain is twice that of one output, in the same positions."""
    codes = random_codes(2, 2000, (0, 0, 0), missing=0.1)
    rng = np.random.default_rng(2)
    g, h = np.rint(rng.normal(size=2000) * 2**28).astype(np.int64), rng.integers(2**28, 2**30, 2000)
    settings = TreeSettings(min_rows=5)
    stats = np.stack([g, -g, h], axis=1).astype(np.int32)
    tree, _nodes = both(codes, settings, 2, stats=stats)
    twin = Growth(codes, settings, VECTOR_SCALES, 1)
    twin.take((g << 32) + h)
    one = twin.grow()
    # A small node of one output keeps 12 bits of a hessian instead of 15: splits that are worth something are the same.
    same = min(len(one), 15)
    assert_array_equal(tree.feature[:same], [node.split.feature if node.child else -1 for node in one[:same]])
    gains = np.array([node.split.gain if node.child else 0.0 for node in one[:same]])
    assert_allclose(tree.gain[:same], 2.0 * gains, rtol=1e-3)
