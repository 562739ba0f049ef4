"""Trees that consider every threshold, against a twin that is slow and obvious."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.naive_tree import Limits, NaiveTree
from reference.tables import table_of
from woodwind.data.binning.ranks import Ranks
from woodwind.tree.exact_grower import ExactGrower, RowStats, SplitCriterion, thresholds
from woodwind.tree.settings import TreeSettings

NUMBERS = [-math.inf, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0, math.inf, math.nan]
FOREVER = 1 << 40


def grown(columns, is_category, stats, labels, limits, n_classes=0):
    """A tree by the kernels, with the same limits as the twin."""
    rows = np.array([[*stat, 0] for stat in stats], np.int64)
    rows[:, 3] = labels
    wanted = TreeSettings(
        growth="best_first" if limits.best_first else "level",
        max_leaves=FOREVER if math.isinf(limits.max_leaves) else limits.max_leaves,
        max_depth=None if math.isinf(limits.max_depth) else limits.max_depth,
        min_rows=limits.min_rows,
        min_hessian=limits.min_hessian,
        min_gain=limits.min_gain,
        l1=limits.l1,
        l2=limits.l2,
        category_l2=limits.category_l2,
        category_smooth=limits.category_smooth,
        max_step=None if math.isinf(limits.max_step) else limits.max_step,
        path_smooth=limits.path_smooth,
        monotonic=None if limits.monotonic is None else np.array(limits.monotonic, np.int64),
        groups=limits.groups,
        growing_gain=1e-9,
    )
    ranks = Ranks.of(table_of(columns, is_category))
    grower = ExactGrower(ranks, wanted, 1, SplitCriterion(limits.criterion, n_classes, limits.min_split, limits.thorough))
    return grower.grow_stats(RowStats(rows, 1.0, 1.0), 7), ranks


def assert_same(tree, ranks, nodes):
    """Node by node, from the root: questions, rows, gains. Numbers may differ where the order of growth is free."""
    assert tree.n_nodes == len(nodes)
    cut = thresholds(tree, ranks)
    waiting = [(0, 0)]
    while waiting:
        n, m = waiting.pop()
        node = nodes[m]
        rows = tree.rows[tree.begin[n] : tree.end[n]].tolist()
        assert sorted(rows) == node.rows
        if not node.child:
            assert rows == node.rows
            assert tree.feature[n] == -1
            assert (tree.leaf_of_row[node.rows] == n).all()
            continue
        assert tree.child[n] > n
        waiting += [(tree.child[n] + side, node.child + side) for side in range(2)]
        found = node.found
        assert tree.feature[n] == found.feature
        assert tree.missing[n] == found.missing
        assert tree.gain[n] == pytest.approx(max(found.gain, 0.0), abs=1e-9)
        if found.categories is None:
            above = math.inf if found.above is None else found.above
            assert found.below <= cut[n]
            assert cut[n] < above or found.above is None
        else:
            words = tree.sets[tree.set[n]]
            for side in range(2):
                bits = {level for level in range(64) if words[4 * side] >> np.uint64(level) & np.uint64(1)}
                assert bits == found.categories[side]


@st.composite
def tables(draw):
    n = draw(st.integers(1, 14))
    is_category = draw(st.lists(st.booleans(), min_size=1, max_size=3))
    columns = [
        draw(st.lists(st.integers(-1, 5) if category else st.sampled_from(NUMBERS), min_size=n, max_size=n)) for category in is_category
    ]
    return n, columns, is_category


@st.composite
def limits_for(draw, criteria):
    return Limits(
        criterion=draw(st.sampled_from(criteria)),
        best_first=draw(st.booleans()),
        max_leaves=draw(st.sampled_from([math.inf, 2, 3, 5])),
        max_depth=draw(st.sampled_from([math.inf, 1, 2, 3])),
        min_split=draw(st.sampled_from([2, 4])),
        min_rows=draw(st.sampled_from([1, 2, 3])),
        min_gain=draw(st.sampled_from([0.0, 0.3137])),
        thorough="newton" not in criteria or draw(st.booleans()),
        min_hessian=draw(st.sampled_from([0.0, 0.0, 3.0])),
    )


@given(tables(), limits_for(["newton"]), st.data())
@settings(max_examples=150)
def test_a_tree_of_gradients_equals_the_twin(table, limits, data):
    n, columns, is_category = table
    row = st.tuples(st.integers(-4, 4), st.integers(1, 3), st.sampled_from([1, 1, 2, 0]))
    stats = data.draw(st.lists(row, min_size=n, max_size=n))
    stats[0] = (*stats[0][:2], 1)  # a tree of no rows is refused further up
    by_level = {"category_l2": 2.0, "category_smooth": 1.0, "l2": 1.0}
    penalties = data.draw(st.sampled_from([{}, {"l2": 1.0}, {"l1": 1.0, "l2": 0.5}, by_level]))
    monotonic = data.draw(st.sampled_from([None, None, 1, -1]))
    if monotonic is not None:
        penalties["monotonic"] = [0 if category else monotonic for category in is_category]
    held = data.draw(st.sampled_from([{}, {}, {"max_step": 0.3}, {"path_smooth": 2.5}, {"max_step": 0.7, "path_smooth": 0.9}]))
    limits = Limits(**{**limits.__dict__, **penalties, **held})
    labels = [g / h for g, h, _ in stats]
    label_codes = [sorted(set(labels)).index(label) for label in labels]
    tree, ranks = grown(columns, is_category, stats, label_codes, limits)
    assert_same(tree, ranks, NaiveTree(columns, is_category, stats, labels, limits).grow())


@given(tables(), limits_for(["gini", "entropy", "gain_ratio"]), st.integers(2, 4), st.data())
@settings(max_examples=150)
def test_a_tree_of_classes_equals_the_twin(table, limits, n_classes, data):
    n, columns, is_category = table
    stats = [(k, w, w) for k, w in data.draw(st.lists(st.tuples(st.integers(0, n_classes - 1), st.integers(1, 3)), min_size=n, max_size=n))]
    stats[0] = (n_classes - 1, 1, 1)
    if n_classes == 2 and data.draw(st.booleans()):
        limits = Limits(**{**limits.__dict__, "monotonic": [0 if category else 1 for category in is_category]})
    labels = [k for k, _, _ in stats]
    tree, ranks = grown(columns, is_category, stats, labels, limits, n_classes)
    assert_same(tree, ranks, NaiveTree(columns, is_category, stats, labels, limits).grow())


@given(tables(), st.data())
def test_interaction_groups_are_kept(table, data):
    n, columns, is_category = table
    stats = data.draw(st.lists(st.tuples(st.integers(-4, 4), st.just(1), st.just(1)), min_size=n, max_size=n))
    limits = Limits(groups=((0, 1),) if len(columns) > 1 else ((0,),))
    labels = [g for g, _, _ in stats]
    tree, ranks = grown(columns, is_category, stats, labels, limits)
    assert_same(tree, ranks, NaiveTree(columns, is_category, stats, labels, limits).grow())
