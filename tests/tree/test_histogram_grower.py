"""What a grown tree promises: limits, constraints, sums, stops, and that neither order nor units of the rows matter."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference.coded import SCALES, categories_in, coded, packed, random_codes, random_stats
from reference.naive_histograms import leaf_value, score_of
from woodwind.kernels.tree.layout import STOP
from woodwind.tree.grown_tree import newton_values, pruned, within_bounds
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings, group_bits

PARTS = ("feature", "bin", "child", "missing", "set", "sets", "gain", "gradient", "hessian", "count", "low", "high")


def grow(codes, stats, name=1, rows=None, scales=SCALES, **options):
    """A tree, with arrays of its own."""
    grower = HistogramGrower(codes, TreeSettings(**options), 1, None if rows is None else len(rows))
    grower.stats_to_fill()[:] = stats
    tree = grower.grow(scales, name, rows)
    return replace(tree, rows=tree.rows.copy(), leaf_of_row=tree.leaf_of_row.copy())


def assert_equal_trees(one, other, parts=PARTS):
    for part in parts:
        assert_array_equal(getattr(one, part), getattr(other, part), err_msg=part)


def paths(tree):
    """Depth, and features on the way, of every node."""
    depth, used = np.zeros(tree.n_nodes, int), [set() for _ in range(tree.n_nodes)]
    for node in np.flatnonzero(tree.feature >= 0):
        for child in (tree.child[node], tree.child[node] + 1):
            depth[child] = depth[node] + 1
            used[child] = used[node] | {int(tree.feature[node])}
    return depth, used


# -------------------------------------------------------------------------------------------------------------- rows


@pytest.mark.parametrize("n", [300, 6000])
def test_a_row_given_twice_equals_two_rows(n):
    codes = random_codes(1, n, (0, 5, 0))
    stats = random_stats(1, codes)
    rows = np.repeat(np.arange(n), 1 + np.arange(n) % 3).astype(np.int32)
    twice = coded(codes.by_column[:, rows], codes.n_bins, codes.is_category)
    repeated, whole = grow(codes, stats, rows=rows), grow(twice, stats[rows])
    assert repeated.n_nodes > 20
    assert_equal_trees(repeated, whole)
    assert_array_equal(repeated.leaf_of_row[rows], whole.leaf_of_row)


@pytest.mark.parametrize("n", [300, 6000])
def test_the_order_of_rows_does_not_matter(n):
    codes = random_codes(2, n, (0, 5, 0))
    stats = random_stats(2, codes)
    mixed = np.random.default_rng(0).permutation(n)
    tree = grow(codes, stats)
    other = grow(coded(codes.by_column[:, mixed], codes.n_bins, codes.is_category), stats[mixed])
    assert_equal_trees(tree, other)
    assert_array_equal(tree.leaf_of_row[mixed], other.leaf_of_row)


def test_a_tree_of_some_rows_equals_a_tree_of_a_table_of_those():
    codes = random_codes(3, 500, (0, 5, 0))
    stats = random_stats(3, codes)
    rows = np.flatnonzero(np.random.default_rng(3).random(500) < 0.6).astype(np.int32)
    tree = grow(codes, stats, rows=rows)
    assert_equal_trees(tree, grow(coded(codes.by_column[:, rows], codes.n_bins, codes.is_category), stats[rows]))
    assert sorted(tree.rows.tolist()) == rows.tolist()


@pytest.mark.parametrize("options", [{}, {"min_rows": 300}, {"growth": "level"}, {"growth": "symmetric", "max_depth": 3}])
def test_a_tree_that_does_not_keep_its_rows_is_the_same_tree(options):
    codes = random_codes(4, 500, (0, 5, 0))
    grower = HistogramGrower(codes, TreeSettings(**options))
    grower.stats_to_fill()[:] = random_stats(4, codes)
    kept = grower.grow(SCALES, 1)
    leaf_of_row = kept.leaf_of_row.copy()
    assert sorted(kept.rows.tolist()) == list(range(500))
    kept.rows = kept.rows.copy()
    grower.stats_to_fill()[:] = random_stats(4, codes)
    tree = grower.grow(SCALES, 1, keep_rows=False)
    assert_equal_trees(tree, kept)
    assert_array_equal(tree.leaf_of_row, leaf_of_row)
    assert (tree.n_nodes == 1) == (options == {"min_rows": 300})
    assert len(tree.rows) == 0
    if tree.n_nodes > 1:
        with pytest.raises(ValueError, match="has kept its rows"):
            pruned(tree, np.inf)


def test_statistics_are_filled_anew_for_every_tree_and_kept_where_a_row_comes_twice():
    codes = random_codes(4, 500, (0, 5, 0))
    stats, rows = random_stats(4, codes), np.arange(0, 500, 2, dtype=np.int32)
    grower = HistogramGrower(codes, TreeSettings())
    trees = []
    for drawn in (None, rows):
        grower.stats_to_fill()[:] = stats
        assert_array_equal(grower.filled_stats, stats)
        trees.append(grower.grow(SCALES, 1, drawn))
        for ask in (lambda: grower.grow(SCALES, 1), lambda: grower.grow(SCALES, 1, rows), lambda: grower.filled_stats):
            with pytest.raises(ValueError, match="fill them again"):
                ask()
    grower.stats_to_fill()[:] = stats
    twice = grower.grow(SCALES, 1, np.sort(np.concatenate([rows, rows[:50]])))
    assert_array_equal(grower.filled_stats, stats)
    assert not np.array_equal(twice.count, trees[1].count)
    # Whether what rows lose of their statistics is kept beside them or not: the same sums.
    for drawn, tree in ((None, trees[0]), (rows, trees[1]), (rows[::-1].copy(), trees[1])):
        assert_equal_trees(tree, grower.grow(SCALES, 1, drawn))
        assert_array_equal(grower.filled_stats, stats)


def test_more_rows_than_announced_are_refused():
    grower = HistogramGrower(random_codes(0, 20), TreeSettings())
    grower.stats_to_fill()[:] = 0
    with pytest.raises(ValueError, match="room for 20 rows, not for 21"):
        grower.grow(SCALES, 0, np.zeros(21, np.int32))


@pytest.mark.parametrize(
    ("outputs", "options"),
    [
        (2, {"growth": "symmetric"}),
        (2, {"monotonic": np.array([1, 0, 0])}),
        (1, {"growth": "symmetric", "monotonic": np.array([1, 0, 0])}),
    ],
)
def test_what_cannot_be_grown_together_is_refused(outputs, options):
    with pytest.raises(ValueError, match=r"a tree of several outputs is not|a symmetric tree has neither"):
        HistogramGrower(random_codes(0, 20), TreeSettings(**options), outputs=outputs)
    HistogramGrower(random_codes(0, 20), TreeSettings(monotonic=np.zeros(3, np.int64)), outputs=2)


@pytest.mark.parametrize("shift", [-60, -20, 20, 60])
def test_units_of_the_target_do_not_matter(shift):
    """Gradients times a power of two: the same splits, and gains times its square."""
    codes = random_codes(4, 400, (0, 5, 0))
    stats = random_stats(4, codes)
    one = grow(codes, stats)
    other = grow(codes, stats, scales=SCALES * [2.0**-shift, 1.0])
    assert_equal_trees(one, other, ("feature", "bin", "child", "missing", "sets", "count"))
    assert_array_equal(other.gain, one.gain * 4.0**shift)
    assert_array_equal(other.gradient, one.gradient * 2.0**shift)


# -------------------------------------------------------------------------------------------------------------- sums


@pytest.mark.parametrize("options", [{}, {"l1": 0.5}, {"monotonic": np.array([1, -1, 0, 1])}, {"growth": "level"}], ids=str)
@pytest.mark.parametrize("n", [800, 9000])
def test_gains_add_up_to_what_the_leaves_have_gained(options, n):
    """Root and gains together are the leaves: no split claims more than it brings, also where bounds hold values back."""
    codes = random_codes(5, n, (0, 0, 0, 0), bins=12)
    stats = random_stats(5, codes)
    # Statistics on whole steps: what the histograms round is exact.
    g, h = (stats >> 32) + 2**14 >> 15 << 15, (stats & 0xFFFFFFFF) + 2**17 >> 18 << 18
    tree = grow(codes, (np.minimum(g, 32767 << 15) << 32) + h, min_rows=3, max_leaves=60, **options)
    assert tree.n_nodes > 40
    l1 = options.get("l1", 0.0)
    score = [
        score_of(G, H, leaf_value(G, H, l1, 1.0, low, high), l1, 1.0)
        for G, H, low, high in zip(tree.gradient, tree.hessian, tree.low, tree.high, strict=True)
    ]
    assert_allclose(score[0] + tree.gain.sum(), np.sum(np.array(score)[tree.leaves]), rtol=1e-12)
    for node in np.flatnonzero(tree.feature >= 0):
        left = tree.child[node]
        assert_allclose(tree.gain[node], score[left] + score[left + 1] - score[node], rtol=1e-9, atol=1e-12)
    assert (tree.gain[tree.feature >= 0] > 0).all()


def test_sums_of_a_node_are_those_of_its_children():
    codes = random_codes(6, 700, (0, 5, 0))
    tree = grow(codes, random_stats(6, codes), min_rows=5)
    for node in np.flatnonzero(tree.feature >= 0):
        left = tree.child[node]
        for sums in (tree.gradient, tree.hessian, tree.count):
            assert sums[node] == sums[left] + sums[left + 1]
        assert (tree.begin[node], tree.end[node]) == (tree.begin[left], tree.end[left + 1])


# ------------------------------------------------------------------------------------------------- limits and constraints


def test_limits_hold():
    codes = random_codes(7, 900, (0, 5, 0))
    stats = random_stats(7, codes)
    tree = grow(codes, stats, max_leaves=11, min_rows=30, max_depth=5, min_hessian=2.0, min_gain=0.05)
    assert len(tree.leaves) == 11
    assert tree.count.min() >= 30
    assert tree.hessian.min() >= 2.0
    assert tree.gain[tree.feature >= 0].min() > 0.05
    assert paths(tree)[0].max() <= 5


@pytest.mark.parametrize("seed", range(4))
def test_monotonic_constraints_hold_everywhere(seed):
    directions = np.array([1, -1, 0])
    codes = random_codes(seed, 1500, (0, 0, 0), bins=7, missing=0.1)
    stats = random_stats(seed, codes)
    tree = grow(codes, stats, monotonic=directions, min_rows=3, max_leaves=40)
    values = within_bounds(tree, newton_values(tree.gradient, tree.hessian, 0.0, 1.0))
    free = grow(codes, stats, min_rows=3, max_leaves=40)
    assert not np.array_equal(tree.feature, free.feature)  # the constraint binds

    def value(row):
        node = 0
        while tree.feature[node] >= 0:
            code = row[tree.feature[node]]
            right = tree.missing[node] == 1 if code == codes.missing else code > tree.bin[node]
            node = tree.child[node] + right
        return values[node]

    rng = np.random.default_rng(seed)
    for _try in range(60):
        row = rng.integers(0, 7, 3)
        for f in (0, 1):
            along = [value([*row[:f], code, *row[f + 1 :]]) for code in range(7)]
            assert (np.diff(along) * directions[f] >= 0).all()
    assert (values >= tree.low).all()
    assert (values <= tree.high).all()


def test_values_held_back_by_a_bound_offer_nothing_to_gain():
    """The right half may not fall below the left one, so both end at the same value: then no split of it changes anything."""
    rng = np.random.default_rng(0)
    column = np.repeat([0, 1], 400)
    codes = coded(np.stack([column, rng.integers(0, 6, 800)]).astype(np.uint8), np.array([2, 6], np.int32), np.zeros(2, bool))
    gradient = np.where(column == 0, -0.5 - 0.1 * (np.arange(800) % 2), 0.5) + 0.3 * (codes.by_column[1] == 3)
    tree = grow(codes, packed(np.clip(gradient, -1, 1), np.full(800, 0.25)), monotonic=np.array([1, 0]), max_leaves=30)
    assert tree.gain[tree.feature >= 0].min() > 0
    free = grow(codes, packed(np.clip(gradient, -1, 1), np.full(800, 0.25)), max_leaves=30)
    assert tree.gain.sum() <= free.gain.sum()


@pytest.mark.parametrize("groups", [((0, 1), (1, 2), (3,)), ((0,), (1,))])
def test_features_on_a_path_stand_together_in_a_group(groups):
    codes = random_codes(8, 1200, (0,) * 5)
    tree = grow(codes, random_stats(8, codes), groups=groups, min_rows=5)
    alone = {(f,) for f in range(5)} - {(f,) for group in groups for f in group}
    sets = [set(group) for group in (*groups, *alone)]
    used = paths(tree)[1]
    assert max(map(len, used)) == max(map(len, groups))
    assert all(any(path <= group for group in sets) for path in used)


def test_groups_as_bits():
    assert_array_equal(group_bits(None, 3), np.zeros((3, 1)))
    assert_array_equal(group_bits(((0, 1), (1, 2)), 4)[:, 0], [1, 3, 2, 4])
    wide = group_bits(tuple((f,) for f in range(70)), 70)
    assert wide.shape == (70, 2)
    assert (wide[3, 0], wide[69, 1], wide[69, 0]) == (8, 32, 0)


# ------------------------------------------------------------------------------------------------------------- draws


def test_names_matter_only_where_something_is_drawn():
    codes = random_codes(9, 600, (0,) * 8)
    stats = random_stats(9, codes)
    assert_equal_trees(grow(codes, stats, 1), grow(codes, stats, 2))
    for option in ("features_per_tree", "features_per_level", "features_per_node"):
        trees = [grow(codes, stats, name, **{option: 3}) for name in range(6)]
        assert len({tuple(tree.feature) for tree in trees}) > 1
        assert_equal_trees(trees[0], grow(codes, stats, 0, **{option: 3}))
        assert_equal_trees(grow(codes, stats, 0, **{option: 8}), grow(codes, stats, 1))


def test_draws_are_fair():
    """With one feature drawn by each node every feature is the root of about as many trees."""
    codes = random_codes(10, 200, (0,) * 5, missing=0.0)
    stats = random_stats(10, codes)
    for options in ({"features_per_node": 1}, {"features_per_level": 1}, {"features_per_tree": 1}):
        roots = np.zeros(5)
        grower = HistogramGrower(codes, TreeSettings(max_leaves=2, min_rows=1, **options))
        for name in range(1000):
            grower.stats_to_fill()[:] = stats
            roots[grower.grow(SCALES, name * 7919).feature[0]] += 1
        assert abs(roots - 200).max() < 4 * np.sqrt(1000 * 0.2 * 0.8)


def test_features_of_a_level_and_of_a_node_are_drawn_independently():
    """The feature that remains after both draws is any of those of the level, in the children of the root as well."""
    codes = random_codes(11, 300, (0,) * 6, missing=0.0)
    grower = HistogramGrower(
        codes, TreeSettings(max_leaves=4, max_depth=2, min_rows=1, growth="level", features_per_level=3, features_per_node=1)
    )
    stats = random_stats(11, codes)
    same = 0
    for name in range(900):
        grower.stats_to_fill()[:] = stats
        tree = grower.grow(SCALES, name * 104_729)
        same += tree.feature[1] == tree.feature[2]
    assert abs(same - 300) < 4 * np.sqrt(900 * (1 / 3) * (2 / 3))


# ------------------------------------------------------------------------------------------------------------- stops


def test_what_a_split_has_not_met_stops_there():
    codes = random_codes(12, 2000, (6, 0), missing=0.0)
    column = codes.column(0)
    column[column == 4] = 3  # a category that no row has
    column[np.flatnonzero(codes.column(1) > 4)[::3]] = codes.missing
    tree = grow(codes, random_stats(12, codes), min_rows=5, category_smooth=0.1, category_l2=0.0)
    assert (tree.set >= 0).sum() > 2
    for node in np.flatnonzero(tree.feature >= 0):
        met = set(codes.by_column[tree.feature[node]][tree.rows[tree.begin[node] : tree.end[node]]].tolist())
        assert (tree.missing[node] == STOP) == (codes.missing not in met)
        if tree.set[node] >= 0:
            left, right = (categories_in(words) for words in tree.sets[tree.set[node]].reshape(2, 4))
            assert left | right == met - {codes.missing}
            assert not left & right
            assert 4 not in left | right
    assert len(tree.sets) == (tree.set >= 0).sum()


def test_levels_left_of_a_split_have_the_lower_means():
    codes = random_codes(13, 3000, (40,), missing=0.0)
    stats = random_stats(13, codes)
    tree = grow(codes, stats, max_leaves=2, category_smooth=0.0, category_l2=0.0)
    left, right = (categories_in(words) for words in tree.sets[0].reshape(2, 4))
    rows = {level: stats[codes.by_column[0] == level] for level in left | right}
    means = {level: (mine >> 32).sum() / (mine & 0xFFFFFFFF).sum() for level, mine in rows.items()}
    assert max(means[level] for level in left) < min(means[level] for level in right) + 1e-3


# ----------------------------------------------------------------------------------------------------------- pruning


def test_pruning_removes_weak_splits_that_have_no_strong_one_below():
    codes = random_codes(14, 900, (0, 5, 0))
    tree = grow(codes, random_stats(14, codes), min_rows=5, max_leaves=64, growth="level", prune=True)
    least = float(np.median(tree.gain[tree.feature >= 0]))
    cut = pruned(tree, least)

    def kept(node):
        left = tree.child[node]
        return tree.feature[node] >= 0 and (tree.gain[node] >= least or kept(left) or kept(left + 1))

    expected, here = [], [0]
    while here:  # in the order of their numbers
        node = here.pop(0)
        expected.append(node)
        if kept(node):
            here += [tree.child[node], tree.child[node] + 1]
    assert 1 < cut.n_nodes < tree.n_nodes
    places = {(begin, end): node for node, (begin, end) in enumerate(zip(tree.begin, tree.end, strict=True))}
    assert expected == [places[begin, end] for begin, end in zip(cut.begin, cut.end, strict=True)]
    assert any(cut.gain[node] < least for node in np.flatnonzero(cut.feature >= 0))
    for leaf in cut.leaves:
        assert_array_equal(cut.leaf_of_row[cut.rows[cut.begin[leaf] : cut.end[leaf]]], leaf)
        assert cut.count[leaf] == cut.end[leaf] - cut.begin[leaf]
    for node in np.flatnonzero(cut.feature >= 0):
        assert cut.gradient[node] == cut.gradient[cut.child[node]] + cut.gradient[cut.child[node] + 1]
    assert not cut.gain[cut.leaves].any()
    assert pruned(tree, 0.0) is tree
    assert pruned(tree, np.inf).n_nodes == 1


def test_a_tree_to_be_pruned_is_grown_past_weak_splits():
    """Two features that matter only together: the first split gains next to nothing, those below it a lot."""
    rng = np.random.default_rng(15)
    columns = rng.integers(0, 2, (2, 1000)).astype(np.uint8)
    gradient = 0.5 * (1.0 - 2.0 * (columns[0] ^ columns[1]))
    codes = coded(columns, np.array([2, 2], np.int32), np.zeros(2, bool))
    stats = packed(gradient, np.full(1000, 0.25))
    assert grow(codes, stats, min_gain=50.0).n_nodes == 1
    tree = pruned(grow(codes, stats, min_gain=50.0, prune=True), 50.0)
    assert tree.n_nodes == 7
