"""The best split of a node: in exact arithmetic, at ties, at limits, with missing values."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from reference import naive_histograms as naive
from reference.coded import EVEN_SCALES, SCALES, coded, packed, random_codes, random_stats
from woodwind.kernels.histogram.scan import argmax, occupied_bins, running_sums
from woodwind.kernels.runtime.jit import kernel
from woodwind.kernels.tree.category_sets import argsort
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP
from woodwind.kernels.tree.leaves import leaf_value, score_of
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")

FREE = {"min_rows": 1, "min_hessian": 0.0, "l2": 0.0, "max_leaves": 2}


@kernel
def first_largest(bits: Any, k: Any) -> int:
    return argmax(bits, k)


@kernel
def places_in_order(keys: Any, k: Any, places: Any) -> None:
    argsort(keys, k, places)


@kernel
def occupied(cells: Any, start: Any, n_bins: Any, out_cell: Any, out_code: Any, out_run: Any) -> Any:
    k = occupied_bins(cells, start, n_bins, out_cell, out_code, 0, 0)
    return k, running_sums(out_cell, k, out_run)


@kernel
def value_and_score(G: Any, H: Any, l1: Any, l2: Any, low: Any, high: Any) -> Any:
    value = leaf_value(G, H, l1, l2, low, high)
    return value, score_of(G, H, value, l1, l2)


def root_split(column, gradient, hessian=None, **options):
    """The tree of one split by one number column of codes 0 to 6, missing 7; hessians are 1 if none are given."""
    columns = np.atleast_2d(np.asarray(column, np.uint8))
    codes = coded(columns, np.full(len(columns), 7, np.int32), np.zeros(len(columns), bool))
    grower = HistogramGrower(codes, TreeSettings(**{**FREE, **options}))
    scales = EVEN_SCALES if hessian is None else SCALES
    hessian = np.ones(codes.n_rows) if hessian is None else np.asarray(hessian, float)
    grower.stats_to_fill()[:] = packed(np.asarray(gradient, float), hessian, scales)
    return grower.grow(scales, 0)


# ------------------------------------------------------------------------------------------------------------- small kernels


@given(st.lists(st.sampled_from([-1.0, 0.0, 1e-300, 0.5, 2.0, 2.0000000000000004, 1e300]), min_size=0, max_size=19))
def test_the_first_of_the_largest_scores_is_found(scores):
    found = first_largest(np.array(scores, np.float64).view(np.int64), len(scores))
    good = [score for score in scores if score >= 0.0]
    assert found == (scores.index(max(good)) if good else -1)


@given(st.lists(st.sampled_from([-2.5, -0.5, 0.0, 0.5, 3.0]), min_size=1, max_size=200))
def test_places_are_sorted_by_key_and_equal_keys_by_place(keys):
    places = np.empty(256, np.int64)
    places_in_order(np.array(keys), len(keys), places)
    assert_array_equal(places[: len(keys)], np.argsort(keys, kind="stable"))


@given(st.lists(st.sampled_from([0, 0, 1, -5, 1 << 40]), min_size=1, max_size=30), st.integers(0, 3))
def test_bins_that_are_not_empty_keep_their_order_and_sums(cells, start):
    cell, code, run = np.zeros((3, 40), np.int64)
    k, total = occupied(np.array([9] * start + cells), start, len(cells), cell, code, run)
    assert code[:k].tolist() == [b for b, c in enumerate(cells) if c != 0]
    assert cell[:k].tolist() == [c for c in cells if c != 0]
    assert run[:k].tolist() == np.cumsum([c for c in cells if c != 0]).tolist()
    assert total == sum(cells)


PENALTIES = st.sampled_from([(0.0, 0.0), (0.0, 1.0), (0.5, 0.0), (3.0, 1.0)])
BOUNDS = st.sampled_from([(-np.inf, np.inf), (-0.5, 0.25)])


@given(st.floats(-10, 10), st.floats(0, 10), PENALTIES, BOUNDS)
def test_the_value_of_a_leaf_is_the_best_within_its_bounds(G, H, penalties, bounds):
    l1, l2 = penalties
    value, score = value_and_score(G, H, l1, l2, *bounds)
    assert value == naive.leaf_value(G, H, l1, l2, *bounds)
    assert score == naive.score_of(G, H, value, l1, l2)
    assert bounds[0] <= value <= bounds[1]
    if H + l2 > 1e-3:
        for other in np.clip(value + np.array([-1e-3, 1e-3]), *bounds):
            assert naive.score_of(G, H, float(other), l1, l2) <= score + 1e-9


# ------------------------------------------------------------------------------------------------------------- exact arithmetic


def exact_gain(cells, codes, l2, least):
    """The gain of sending these codes left, as a fraction; None if a side has too few rows."""
    sides = [[cell for code, cell in cells.items() if (code in codes) == left] for left in (True, False)]
    if any(sum(cell[2] for cell in side) < least for side in sides):
        return None
    total = Fraction(0)
    for side, sign in ((sides[0], 1), (sides[1], 1), (sides[0] + sides[1], -1)):
        g, h = sum(cell[0] for cell in side), sum(cell[1] for cell in side)
        total += sign * g * g / (h + l2)
    return total


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([0, 1]), st.integers(1, 6))
def test_no_split_is_better_than_the_one_found(seed, l2, least):
    codes = random_codes(seed, 40, (0, 0), bins=7, missing=0.15)
    stats = random_stats(seed, codes)
    grower = HistogramGrower(codes, TreeSettings(**{**FREE, "l2": float(l2), "min_rows": least}))
    grower.stats_to_fill()[:] = stats
    tree = grower.grow(SCALES, 0)
    gradient, hessian = naive.coarse(stats)
    unit_g, unit_h = Fraction(1, 2**15), Fraction(1, 2**14)  # steps of the sums of a small node
    best, chosen = Fraction(0), None
    for f, column in enumerate(codes.by_column):
        cells = {}
        for code in set(column.tolist()):
            rows = column == code
            cells[code] = (int(gradient[rows].sum()) * unit_g, int(((hessian[rows] + 4) >> 3).sum()) * unit_h, int(rows.sum()))
        for b in range(7):
            for missing in ([], [codes.missing]):
                gain = exact_gain(cells, [*range(b + 1), *missing], l2, least)
                best = best if gain is None else max(best, gain)
                side = LEFT if missing else RIGHT
                if (tree.feature[0], tree.bin[0]) == (f, b) and tree.missing[0] in (side, STOP) and chosen is None:
                    chosen = gain
    if tree.n_nodes == 1:
        assert best < 1e-8
    else:
        assert tree.gain[0] == pytest.approx(float(best), rel=1e-12)
        assert float(best - chosen) <= 1e-12 * float(best)


# ----------------------------------------------------------------------------------------------------------------------- ties


def test_of_equal_features_the_first_is_taken():
    column = [0, 1, 2, 3] * 3
    tree = root_split([[0] * 12, column, column], [1, 1, -1, -1] * 3)
    assert tree.feature[0] == 1


def test_of_equal_thresholds_the_lowest_is_taken():
    assert root_split([0, 1, 2], [0.5, 0.0, -0.5]).bin[0] == 0
    assert root_split([0, 1, 2, 3], [0.5, -0.5, 0.5, -0.5]).bin[0] == 0


def test_missing_values_go_right_unless_left_is_better():
    column = [0, 0, 1, 1, 7, 7]
    even = root_split(column, [0.5, 0.5, -0.5, -0.5, 0.0, 0.0])
    assert (even.bin[0], even.missing[0]) == (0, RIGHT)
    left = root_split(column, [0.5, 0.5, -0.5, -0.5, 0.5, 0.5])
    assert (left.bin[0], left.missing[0], left.count.tolist()) == (0, LEFT, [6, 4, 2])
    right = root_split(column, [0.5, 0.5, -0.5, -0.5, -0.5, -0.5])
    assert (right.bin[0], right.missing[0], right.count.tolist()) == (0, RIGHT, [6, 2, 4])


def test_a_split_that_met_no_missing_value_says_so():
    assert root_split([0, 0, 1, 1], [0.5, 0.5, -0.5, -0.5]).missing[0] == STOP


def test_the_threshold_lies_halfway_between_the_numbers_it_parts():
    assert root_split([1, 1, 6, 6], [0.5, 0.5, -0.5, -0.5]).bin[0] == 3
    assert root_split([1, 1, 2, 2], [0.5, 0.5, -0.5, -0.5]).bin[0] == 1
    assert root_split([0, 0, 3, 3], [0.5, 0.5, -0.5, -0.5]).bin[0] == 1


def test_where_only_missing_values_part_all_numbers_go_left():
    tree = root_split([0, 3, 7, 7], [0.5, 0.5, -0.5, -0.5])
    assert (tree.bin[0], tree.missing[0], tree.count.tolist()) == (6, RIGHT, [4, 2, 2])


# --------------------------------------------------------------------------------------------------------------------- limits


def test_limits_allow_what_just_reaches_them():
    column, gradient = [0, 0, 1, 1, 1, 1], [0.5, 0.5, -0.25, -0.25, -0.25, -0.25]
    assert root_split(column, gradient, min_rows=2).n_nodes == 3
    assert root_split(column, gradient, min_rows=2.5).n_nodes == 1
    assert root_split(column, gradient, min_hessian=2.0).n_nodes == 3
    assert root_split(column, gradient, min_hessian=2.1).n_nodes == 1
    gain = 1.0 / 2 + 1.0 / 4
    assert root_split(column, gradient).gain[0] == gain
    assert root_split(column, gradient, min_gain=gain).n_nodes == 1
    assert root_split(column, gradient, min_gain=gain * (1 - 1e-12)).n_nodes == 3


def test_a_node_of_fewer_than_twice_the_least_rows_is_not_split():
    assert root_split([0, 0, 1, 1], [0.5, 0.5, -0.5, -0.5], min_rows=2).n_nodes == 3
    assert root_split([0, 0, 1], [0.5, 0.5, -0.5], min_rows=2).n_nodes == 1


def test_nothing_to_gain_is_no_split():
    assert root_split([0, 1, 2, 3], [0.0, 0.0, 0.0, 0.0]).n_nodes == 1
    assert root_split([0, 1, 2, 3], [0.5, 0.5, 0.5, 0.5]).n_nodes == 1
    assert root_split([2, 2, 2, 2], [0.5, -0.5, 0.5, -0.5]).n_nodes == 1
    assert root_split([7, 7, 7, 7], [0.5, -0.5, 0.5, -0.5]).n_nodes == 1


def test_a_side_without_curvature_is_no_side_unless_l2_gives_it_some():
    column, gradient, hessian = [0, 0, 1, 1], [0.5, 0.5, -0.5, -0.5], [0.0, 0.0, 0.25, 0.25]
    assert root_split(column, gradient, hessian).n_nodes == 1
    tree = root_split(column, gradient, hessian, l2=1.0)
    assert tree.gain[0] == pytest.approx(1.0 / 1.0 + 1.0 / 1.5, rel=1e-12)
    assert root_split(column, gradient, hessian, l2=1.0, min_hessian=1e-3).n_nodes == 1


def test_l1_takes_its_share_of_both_sides():
    column, gradient = [0, 0, 0, 1, 1, 1], [0.5, 0.5, 0.5, -0.5, -0.5, -0.5]
    assert root_split(column, gradient, l1=0.5).gain[0] == pytest.approx(2 * 1.0**2 / 3, rel=1e-12)
    assert root_split(column, gradient, l1=0.5, l2=1.0).gain[0] == pytest.approx(2 * 1.0**2 / 4, rel=1e-12)
    assert root_split(column, gradient, l1=1.5).n_nodes == 1
