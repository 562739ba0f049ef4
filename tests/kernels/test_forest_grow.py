"""Trees of forests against a twin that is slow and obvious."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.naive_forest import NaiveForest
from reference.tables import table_of
from woodwind.data.binning.forest_codes import ForestCodes
from woodwind.kernels.forest.layout import CATEGORY_SHIFT, FEATURE_MASK, FEATURE_SHIFT, MISSING_SHIFT
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.compact_forest_grower import CompactForestGrower, CompactForestRows, CompactForestSettings

# Arithmetic modulo 2**64 is reported with the compiler off.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")

NUMBERS = [-2.0, -1.0, 0.0, 0.5, 1.0, 3.0, math.nan]
U = np.uint64


def rows_of(target, n_classes):
    n = len(target)
    return CompactForestRows(
        np.array(target, np.int64), np.ones(n, np.int64), np.stack([np.array(target, np.float64), np.ones(n)]), n_classes
    )


def nested(compact_forest, tree, rows, span):
    """A tree as the twin writes it."""
    left, right = compact_forest.children(tree)
    size = len(left)

    def node(number):
        if number >= size:
            return sorted(rows[span[number - size] : span[number - size + 1]].tolist())
        word, second = compact_forest.nodes[2 * number], compact_forest.nodes[2 * number + 1 : 2 * number + 2]
        missing = int((word >> U(MISSING_SHIFT)) & U(3))
        if (word >> U(CATEGORY_SHIFT)) & U(1):
            word_of = compact_forest.words[int(second[0])]
            what = frozenset(level for level in range(64) if (int(word_of) >> level) & 1)
        else:
            what = float(second.view(np.float64)[0])
        feature = int((word >> U(FEATURE_SHIFT)) & U(FEATURE_MASK))
        return feature, what, missing, node(int(left[number])), node(int(right[number]))

    return node(0)


@st.composite
def cases(draw):
    n = draw(st.integers(2, 24))
    is_category = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    columns = [
        draw(st.lists(st.integers(-1, 5) if category else st.sampled_from(NUMBERS), min_size=n, max_size=n)) for category in is_category
    ]
    n_classes = draw(st.sampled_from([0, 2, 3]))
    target = draw(st.lists(st.integers(0, n_classes - 1) if n_classes else st.integers(-50, 50), min_size=n, max_size=n))
    times = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    if not any(times):
        times[0] = 1
    return columns, is_category, target, times, n_classes


@given(cases(), st.booleans(), st.integers(1, 4), st.integers(1, 3), st.sampled_from([None, 2]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_tree_is_that_of_the_twin(case, random_cuts, n_candidates, min_rows, max_depth, entropy):
    columns, is_category, target, times, n_classes = case
    criterion = ("entropy" if entropy else "gini") if n_classes else "squared_error"
    n_candidates = min(n_candidates, len(columns))
    wanted = CompactForestSettings(criterion, random_cuts, max_depth=max_depth, min_rows=min_rows, n_candidates=n_candidates)
    forest_codes = ForestCodes.of(table_of(columns, is_category))
    tree = CompactForestGrower(forest_codes, rows_of(target, n_classes), wanted).grow(np.array(times, np.int32), 12345, keep_rows=True)
    compact_forest = CompactForest.of([tree], forest_codes.n_categories, n_classes)
    twin = NaiveForest(
        columns, is_category, target, times, n_classes, criterion, random_cuts, n_candidates, max_depth or math.inf, min_rows=min_rows
    )
    assert nested(compact_forest, 0, tree.rows, tree.span) == twin.grow(12345)


def other_rows(target, criterion):
    """Whole targets as the criterion wants them, one unit for each."""
    if criterion == "poisson":
        return rows_of(target, 0)
    distinct, rank = np.unique(np.array(target), return_inverse=True)
    return replace(rows_of(target, 0), target=rank.astype(np.int64), ranked=distinct.astype(np.int64))


@given(cases(), st.booleans(), st.integers(1, 4), st.integers(1, 3), st.sampled_from([None, 2]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_tree_by_absolute_error_or_deviance_is_that_of_the_twin(case, random_cuts, n_candidates, min_rows, max_depth, poisson):
    columns, is_category, target, times, _ = case
    criterion = "poisson" if poisson else "absolute_error"
    target = [abs(one) for one in target] if poisson else target
    n_candidates = min(n_candidates, len(columns))
    wanted = CompactForestSettings(criterion, random_cuts, max_depth=max_depth, min_rows=min_rows, n_candidates=n_candidates)
    forest_codes = ForestCodes.of(table_of(columns, is_category))
    tree = CompactForestGrower(forest_codes, other_rows(target, criterion), wanted).grow(np.array(times, np.int32), 12345, keep_rows=True)
    compact_forest = CompactForest.of([tree], forest_codes.n_categories, 0)
    twin = NaiveForest(
        columns, is_category, target, times, 0, criterion, random_cuts, n_candidates, max_depth or math.inf, min_rows=min_rows
    )
    assert nested(compact_forest, 0, tree.rows, tree.span) == twin.grow(12345)
    for leaf in range(len(tree.cover) if not poisson else 0):
        rows = np.repeat(
            tree.rows[tree.span[leaf] : tree.span[leaf + 1]], np.array(times)[tree.rows[tree.span[leaf] : tree.span[leaf + 1]]]
        )
        assert tree.value[leaf, 0] == np.median(np.array(target)[rows])


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_many_rows_by_absolute_error_or_deviance(criterion):
    rng = np.random.default_rng(3)
    columns = [rng.normal(size=300).round(1).tolist() for _ in range(3)]
    target, times = rng.integers(0, 40, 300).tolist(), rng.integers(0, 3, 300).tolist()
    forest_codes = ForestCodes.of(table_of(columns, [False] * 3))
    wanted = CompactForestSettings(criterion, n_candidates=2, max_depth=4, exact=True)
    tree = CompactForestGrower(forest_codes, other_rows(target, criterion), wanted).grow(np.array(times, np.int32), 99, keep_rows=True)
    twin = NaiveForest(columns, [False] * 3, target, times, 0, criterion, n_candidates=2, max_depth=4)
    assert nested(CompactForest.of([tree], forest_codes.n_categories, 0), 0, tree.rows, tree.span) == twin.grow(99)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("n", [40, 600])
def test_more_rows_than_an_insertion_sorts(n, n_classes):
    rng = np.random.default_rng(n + n_classes)
    columns = [rng.normal(size=n).round(1).tolist() for _ in range(3)]
    target = rng.integers(0, n_classes or 40, n).tolist()
    times = rng.integers(0, 3, n).tolist()
    criterion = "gini" if n_classes else "squared_error"
    forest_codes = ForestCodes.of(table_of(columns, [False] * 3))
    tree = CompactForestGrower(
        forest_codes, rows_of(target, n_classes), CompactForestSettings(criterion, n_candidates=2, max_depth=5, exact=True)
    ).grow(np.array(times, np.int32), 99, keep_rows=True)
    twin = NaiveForest(columns, [False] * 3, target, times, n_classes, criterion, n_candidates=2, max_depth=5)
    assert nested(CompactForest.of([tree], forest_codes.n_categories, n_classes), 0, tree.rows, tree.span) == twin.grow(99)


@pytest.mark.compiled
def test_bins_are_exact_where_there_is_one_for_each_value():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 200, 3000).astype(float).tolist() for _ in range(4)]
    y = rng.integers(0, 2, 3000)
    forest_codes, rows = ForestCodes.of(table_of(columns, [False] * 4)), rows_of(y, 2)
    times = np.ones(3000, np.int32)
    trees = [
        CompactForestGrower(forest_codes, rows, CompactForestSettings(n_candidates=4, exact=exact, max_depth=12)).grow(times, 5)
        for exact in (False, True)
    ]
    np.testing.assert_array_equal(trees[0].nodes, trees[1].nodes)
    np.testing.assert_array_equal(trees[0].value, trees[1].value)


@pytest.mark.compiled
def test_with_a_limit_of_leaves_the_best_splits_come_first():
    rng = np.random.default_rng(1)
    columns = [rng.normal(size=400).tolist() for _ in range(3)]
    forest_codes, rows = ForestCodes.of(table_of(columns, [False] * 3)), rows_of(rng.integers(0, 2, 400), 2)
    times = np.ones(400, np.int32)
    whole = CompactForestGrower(forest_codes, rows, CompactForestSettings(n_candidates=3, max_leaves=400)).grow(times, 5)
    few = CompactForestGrower(forest_codes, rows, CompactForestSettings(n_candidates=3, max_leaves=8)).grow(times, 5)
    free = CompactForestGrower(forest_codes, rows, CompactForestSettings(n_candidates=3, exact=True)).grow(times, 5)
    assert len(few.cover) == 8
    assert few.gain.sum() < whole.gain.sum()
    np.testing.assert_array_equal(whole.nodes, free.nodes)


@pytest.mark.compiled
@pytest.mark.parametrize("random_cuts", [False, True])
def test_rows_of_one_word_grow_the_tree_of_rows_of_two(random_cuts):
    rng = np.random.default_rng(4)
    columns = [rng.normal(size=3000).tolist() for _ in range(4)]
    columns[1][::9] = [math.nan] * len(columns[1][::9])
    forest_codes = ForestCodes.of(table_of(columns, [False] * 4))
    times = rng.integers(0, 3, 3000).astype(np.int32)
    single = rows_of(rng.integers(0, 2, 3000), 2)
    double = replace(single, weight=2 * single.weight, weight_unit=0.5)
    settings = CompactForestSettings(n_candidates=2, random_cuts=random_cuts)
    growers = [CompactForestGrower(forest_codes, rows, settings) for rows in (single, double)]
    assert [grower._packed for grower in growers] == [True, False]
    one, two = (grower.grow(times, 11) for grower in growers)
    np.testing.assert_array_equal(one.nodes, two.nodes)
    np.testing.assert_array_equal(one.value, two.value)
    np.testing.assert_allclose(one.gain, two.gain, rtol=1e-12)
