"""Whole trees against a twin that has lists of rows and sums every node anew: equal in every bit."""

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_array_equal

from reference.coded import EVEN_SCALES, SCALES, assert_same_sums, assert_same_tree, coded, packed, random_codes, random_stats
from reference.naive_growth import Growth, SymmetricGrowth
from woodwind.kernels.tree.memory import CONTROL
from woodwind.tree import workspace
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")

SEEDS = range(3) if config.DISABLE_JIT else range(12)
SMALL = {"min_rows": 3, "min_hessian": 0.0, "max_leaves": 8, "category_smooth": 1.0, "category_l2": 0.5}
NUMBERS, MIXED = (0, 0, 0), (0, 5, 0, 70)

# Name: kinds of features, what differs from SMALL.
CASES = {
    "best first": (MIXED, {}),
    "level by level": (MIXED, {"growth": "level", "max_leaves": 7}),
    "one leaf": (MIXED, {"max_leaves": 1}),
    "two leaves": (MIXED, {"max_leaves": 2}),
    "as many leaves as there are rows for": (NUMBERS, {"max_leaves": 100, "min_rows": 1}),
    "no depth": (NUMBERS, {"max_depth": 0}),
    "depth 2": (MIXED, {"max_depth": 2}),
    "one feature": ((0,), {"min_rows": 1}),
    "one category": ((6,), {"min_rows": 1}),
    "many categories": ((250, 3), {"min_rows": 1}),
    "no penalty": (MIXED, {"l2": 0.0, "category_l2": 0.0}),
    "a hessian of at least 1": (MIXED, {"min_hessian": 1.0}),
    "a gain of at least 1": (MIXED, {"min_gain": 1.0}),
    "l1": (MIXED, {"l1": 0.7}),
    "monotonic": (NUMBERS, {"monotonic": np.array([1, -1, 0]), "max_leaves": 15}),
    "monotonic, l1": (NUMBERS, {"monotonic": np.array([1, 1, 1]), "l1": 0.3}),
    "a largest step": (MIXED, {"max_step": 0.2}),
    "a largest step, monotonic, l1": (NUMBERS, {"max_step": 0.2, "monotonic": np.array([1, -1, 0]), "l1": 0.3}),
    "smoothed": (MIXED, {"path_smooth": 3.0, "max_leaves": 15}),
    "smoothed, monotonic, a largest step": (NUMBERS, {"path_smooth": 0.7, "monotonic": np.array([1, -1, 0]), "max_step": 0.3}),
    "ten rows to be split": (MIXED, {"min_split": 10, "min_rows": 1, "max_leaves": 40}),
    "features of the tree": ((0,) * 6, {"features_per_tree": 3}),
    "features of the level": ((0,) * 6, {"features_per_level": 2}),
    "features of the node": ((0,) * 6, {"features_per_node": 2}),
    "one feature of each node": ((0, 4, 0), {"features_per_node": 1}),
    "features of all three": ((0,) * 9, {"features_per_tree": 7, "features_per_level": 5, "features_per_node": 2}),
    "groups": ((0, 0, 4, 0), {"groups": ((0, 1), (1, 2))}),
    "groups and draws": ((0, 0, 4, 0), {"groups": ((0, 1), (1, 2)), "features_per_node": 1}),
    "no feature left by level and group": ((0,) * 5, {"groups": ((0, 1), (2, 3)), "features_per_level": 1, "growth": "level"}),
}  # fmt: skip


def both(codes, settings, name=1, rows=None, threads=1, stats=None, even=False):
    """A tree and its twin, compared; gives both and the grower."""
    scales = EVEN_SCALES if even else SCALES
    stats = random_stats(name, codes, even) if stats is None else stats
    grower = HistogramGrower(codes, settings, threads, None if rows is None else len(rows))
    grower.stats_to_fill()[:] = stats
    tree = grower.grow(scales, name, rows, even)
    symmetric = settings.growth == "symmetric"
    twin = (SymmetricGrowth if symmetric else Growth)(codes, settings, scales, name, even)
    twin.take(stats)
    nodes = twin.grow(rows)
    assert_same_tree(tree, nodes, 1e-12 if symmetric else 0.0)
    assert_same_sums(tree, nodes, stats, scales)
    return tree, nodes, grower


@pytest.mark.parametrize("case", CASES)
def test_a_tree_equals_its_twin(case):
    levels, options = CASES[case]
    sizes = []
    for seed in SEEDS:
        n, bins = (400, 60) if seed % 3 == 2 and not config.DISABLE_JIT else (60, 6)  # nodes of many rows are scanned otherwise
        codes = random_codes(seed, n, levels, bins=bins, missing=(0.0, 0.2)[seed % 2])
        sizes.append(len(both(codes, TreeSettings(**{**SMALL, **options}), seed)[1]))
    assert max(sizes) > 1 or case in ("one leaf", "no depth") or config.DISABLE_JIT


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_few_rows_equal_the_twin(n):
    for seed in SEEDS:
        both(random_codes(seed, n, (0, 3), bins=3), TreeSettings(**{**SMALL, "min_rows": 1}), seed)


def test_the_narrowest_table_equals_the_twin():
    codes = random_codes(1, 40, (0, 2, 0), bins=3)
    assert codes.width == 4
    both(codes, TreeSettings(**SMALL))


@pytest.mark.compiled
def test_hessians_that_are_all_equal_count_rows():
    for seed in SEEDS:
        both(random_codes(seed, 80, MIXED), TreeSettings(**{**SMALL, "min_rows": 7}), seed, even=True)
    for n in (6000, 70_000):
        tree = both(random_codes(n, n, NUMBERS), TreeSettings(min_rows=900), even=True)[0]
        assert tree.n_nodes > 5
        assert tree.count.min() >= 900


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [1, 4])
def test_large_nodes_equal_the_twin(monkeypatch, threads):
    """Above 4,095 rows no cell holds a count, above 65,535 cells are wide, and below both the layout changes on the way."""
    monkeypatch.setattr("woodwind.tree.histogram_grower.LEAST_WORK", 0)
    plain = [(4095, {}), (4096, {}), (9000, {}), (70_000, {})]
    held = [(140_000, {"l1": 0.5}), (9000, {"path_smooth": 50.0}), (70_000, {"path_smooth": 9.0, "max_step": 0.3})]
    for n, options in (*plain, *held, (9000, {"growth": "level"})):
        tree = both(random_codes(n, n, (0, 5, 0), bins=20), TreeSettings(max_leaves=24, **options), threads=threads)[0]
        assert tree.n_nodes == 47


def uneven(n):
    """Codes and statistics for which the best splits of large nodes leave few rows on one side: outliers in the first bins."""
    rng = np.random.default_rng(n)
    codes = random_codes(n, n, (0, 20, 0), bins=30, missing=0.02)
    outlier = (codes.by_column[0] == 0) | (codes.by_column[1] == 2) | (codes.by_column[2] == 29)
    gradient = np.where(outlier, rng.normal(0.5, 0.3, n), rng.normal(0.0, 0.05, n) + codes.by_column[0] / 200)
    return codes, packed(np.clip(gradient, -1, 1), rng.random(n) ** 6 * 0.25)


@pytest.mark.compiled
@pytest.mark.parametrize("growth", ["best_first", "level"])
@pytest.mark.parametrize("threads", [1, 3])
def test_splits_that_leave_too_few_rows_are_found_out_and_looked_for_again(monkeypatch, growth, threads):
    monkeypatch.setattr("woodwind.tree.histogram_grower.LEAST_WORK", 0)
    for n in (5000, 20_000, 80_000):
        codes, stats = uneven(n)
        settings = TreeSettings(growth=growth, min_rows=n // 9, max_leaves=9, category_l2=0.0, category_smooth=0.1)
        tree, _nodes, grower = both(codes, settings, threads=threads, stats=stats)
        assert tree.n_nodes >= 5
        assert tree.count.min() >= n // 9
        twin = Growth(codes, settings, SCALES, 1)
        twin.take(stats)
        twin.grow()
        assert twin.recounted >= 3
        # Sets of categories are used again, so that they never outgrow their table.
        assert grower._space["control"][CONTROL.at["n_sets"]] <= 2 * grower._space["control"][CONTROL.at["n_nodes"]]


@pytest.mark.compiled
@pytest.mark.parametrize("growth", ["best_first", "level"])
def test_histograms_that_were_dropped_change_nothing(monkeypatch, growth):
    """A difference and a direct sum are equal, also where a node is on the border between two layouts."""
    monkeypatch.setattr("woodwind.tree.histogram_grower.LEAST_WORK", 0)
    rng = np.random.default_rng(0)
    n = 12_000
    codes = random_codes(1, n, (0,) * 6, bins=60, missing=0.0)
    column, effect = codes.by_column, rng.normal(size=(6, 64))
    quiet = column[0] < 30  # 6,000 rows that are split last of all
    loud = np.sum([effect[f][column[f]] * effect[f - 1][column[f - 1]] for f in range(6)], axis=0)
    gradient = np.clip(np.where(quiet, 0.4 + 0.001 * rng.normal(size=n), -0.4 + 0.15 * loud), -1, 1)
    stats = packed(gradient, np.where(quiet, 0.2 + 0.01 * rng.random(n), 0.25 * rng.random(n)))
    outcomes = []
    for most, threads in ((256 << 20, 1), (1, 1), (1, 2)):
        monkeypatch.setattr(workspace, "MOST_HISTOGRAM_BYTES", most)
        grower = HistogramGrower(codes, TreeSettings(growth=growth, max_leaves=3000, min_rows=2, l2=0.0), threads)
        grower.stats_to_fill()[:] = stats
        tree = grower.grow(SCALES, 3)
        outcomes.append((len(grower._space["tables"]), tree.feature.tolist(), tree.bin.tolist(), tree.gain.tolist(), tree.count.tolist()))
    assert outcomes[0][0] > 1500
    assert outcomes[1][0] < 200
    assert tree.feature[1] >= 0
    assert outcomes[0][1:] == outcomes[1][1:] == outcomes[2][1:]


@pytest.mark.compiled
def test_nodes_of_equal_gain_are_split_in_order_and_none_is_prepared_without_end(monkeypatch):
    """Four quarters that are copies of one another, with larger gains further down: all that is prepared has room."""
    monkeypatch.setattr("woodwind.tree.histogram_grower.LEAST_WORK", 0)
    bits = np.array([[row >> d & 1 for row in range(512)] for d in range(9)])
    # The effect of bit d is seen once all bits before it are known; all sums are short binary fractions, so that ties are exact.
    effect = sum(2.0 ** (d - 11) * np.prod(1 - 2 * bits[: d + 1], axis=0) for d in range(9))
    quarters = [np.concatenate([np.repeat([[q // 2], [q % 2]], 512, axis=1), bits]) for q in range(4)]
    nothing = np.repeat([[0], [1], *([0],) * 9], 300, axis=1)  # rows that weigh nothing: they make the second quarter the largest
    columns = np.concatenate([*quarters, nothing], axis=1).astype(np.uint8)
    codes = coded(columns, np.full(11, 2, np.int32), np.zeros(11, bool))
    gradient = np.concatenate([*(effect + shift for shift in (0.625, 0.375, -0.375, -0.625)), np.zeros(300)])
    stats = packed(gradient, np.repeat([0.25, 0.0], [2048, 300]))
    for threads in (1, 2, 4):
        for leaves in (5, 6, 9):
            settings = TreeSettings(max_leaves=leaves, min_rows=1, l2=0.0, min_hessian=0.0)
            _tree, nodes, grower = both(codes, settings, threads=threads, stats=stats)
            gains = [node.split.gain for node in nodes[3:7]]
            assert len(set(gains)) == 1
            assert grower._space["control"][CONTROL.at["n_nodes"]] <= 4 * leaves + 2


def test_rows_count_as_often_as_they_are_given():
    codes = random_codes(3, 30, MIXED)
    rows = np.sort(np.random.default_rng(3).integers(0, 30, 95)).astype(np.int32)
    tree = both(codes, TreeSettings(**SMALL), rows=rows)[0]
    assert tree.count[0] == 95
    both(codes, TreeSettings(**SMALL), rows=rows[:40])
    both(codes, TreeSettings(**{**SMALL, "min_rows": 1}), rows=rows[:2])


def test_more_interaction_groups_than_bits_in_a_word():
    codes = random_codes(4, 150, (0,) * 70, bins=3)
    pairs = tuple((f, (f + 1) % 70) for f in range(70))
    tree = both(codes, TreeSettings(**{**SMALL, "groups": pairs}))[0]
    assert tree.n_nodes > 5


SYMMETRIC = {
    "plain": (MIXED, {}),
    "depth 1": (MIXED, {"max_depth": 1}),
    "l1": (NUMBERS, {"l1": 0.5}),
    "a largest step": (MIXED, {"max_step": 0.2, "l1": 0.1}),
    "categories": ((5, 8), {}),
    "features": ((0,) * 6, {"features_per_tree": 4, "features_per_level": 2}),
    "groups": ((0,) * 4, {"groups": ((0, 1), (2, 3))}),
}


@pytest.mark.parametrize("case", SYMMETRIC)
def test_a_symmetric_tree_equals_its_twin(case):
    levels, options = SYMMETRIC[case]
    for seed in SEEDS[:4]:
        codes = random_codes(seed, 60, levels, bins=5, missing=(0.0, 0.2)[seed % 2])
        settings = TreeSettings(**{**SMALL, "growth": "symmetric", "max_depth": 3, **options})
        tree, nodes, _grower = both(codes, settings, seed)
        for depth in range(3):
            splits = {(node.split.feature, node.split.bin) for node in nodes if node.child and node.depth == depth}
            assert len(splits) <= 1
        assert tree.n_nodes in (1, 3, 7, 15)


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [1, 3])
def test_a_symmetric_tree_of_many_rows_equals_its_twin_and_never_lacks_a_histogram(monkeypatch, threads):
    monkeypatch.setattr("woodwind.tree.histogram_grower.LEAST_WORK", 0)
    monkeypatch.setattr(workspace, "MOST_HISTOGRAM_BYTES", 1)
    for n in (9000, 70_000):
        both(random_codes(n, n, (0, 4, 0)), TreeSettings(growth="symmetric", max_depth=4), threads=threads)
    deep = TreeSettings(growth="symmetric", max_depth=10)
    both(random_codes(1, 3000, (0,) * 5, bins=4), deep, threads=threads)


@pytest.mark.compiled
def test_the_same_memory_grows_one_tree_after_another():
    codes = random_codes(7, 400, MIXED)
    grower = HistogramGrower(codes, TreeSettings(min_rows=5))
    for seed in range(5):
        stats = random_stats(seed, codes)
        grower.stats_to_fill()[:] = stats
        twin = Growth(codes, grower.settings, SCALES, seed)
        twin.take(stats)
        assert_same_tree(grower.grow(SCALES, seed), twin.grow())
    gains = []
    for _ in range(2):
        grower.stats_to_fill()[:] = random_stats(4, codes)
        gains.append(grower.grow(SCALES, 4).gain)
    assert_array_equal(*gains)
