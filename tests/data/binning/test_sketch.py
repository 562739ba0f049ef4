"""The summary from which cuts are taken: it adds, and the split into parts has no influence."""
# ruff: noqa: PLR0124  a number that differs from itself is missing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import naive_encode as slow
from woodwind.base.fixed import integer_weights
from woodwind.data.binning import sketch as room
from woodwind.data.binning.sketch import Sketch, midpoints

numbers = st.one_of(st.floats(width=64), st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0, np.inf, -np.inf]), st.integers(-3, 3).map(float))


def same(a, b):
    return a.shift == b.shift and a.keys.tolist() == b.keys.tolist() and a.counts.tolist() == b.counts.tolist()


def of_parts(values, weight, bounds):
    """The summary of values that arrive in the parts between the bounds."""
    total = Sketch.empty()
    for begin, end in zip([0, *bounds], [*bounds, len(values)], strict=True):
        total = total.merge(Sketch.of(values[begin:end], None if weight is None else weight[begin:end]))
    return total


@given(st.lists(numbers, max_size=120), st.lists(st.integers(0, 120), max_size=6), st.booleans(), st.randoms())
def test_any_split_into_parts_gives_the_same_summary(values, cuts, weighted, random):
    array = np.array(values, np.float64)
    weight = np.array([random.randint(0, 3) for _ in values], np.int64) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "MOST_CELLS", 8)
        whole = Sketch.of(array, weight)
        bounds = sorted(min(cut, len(values)) for cut in cuts)
        assert same(of_parts(array, weight, bounds), whole)
        order = np.array(random.sample(range(len(values)), len(values)), np.int64)
        assert same(of_parts(array[order], None if weight is None else weight[order], bounds), whole)


@given(st.lists(numbers, min_size=1, max_size=120))
def test_the_shift_is_the_smallest_that_leaves_few_enough_cells(values):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "MOST_CELLS", 8)
        found = Sketch.of(np.array(values, np.float64))
    keys = [slow.key_of(value) for value in values if value == value]
    assert found.keys.size <= 8
    assert found.shift == 0 or slow.count_distinct(keys, found.shift - 1) > 8
    expected = slow.summarise([value for value in values if value == value], found.shift)
    assert dict(zip(found.keys.tolist(), found.counts.tolist(), strict=True)) == expected


def test_a_large_column_in_blocks_equals_the_whole():
    values = np.random.default_rng(0).normal(size=300_000)
    whole = Sketch.of(values)
    assert whole.shift > 0
    assert same(of_parts(values, None, [10, 70_000, 70_001, 200_000]), whole)
    assert same(Sketch.of(values[:100_000]).merge(Sketch.of(values[100_000:], None, 12)), whole)


@given(st.lists(st.floats(width=32), max_size=60))
def test_singles_and_doubles_of_the_same_numbers_have_the_same_summary(values):
    assert same(Sketch.of(np.array(values, np.float32)), Sketch.of(np.array(values, np.float64)))


@given(st.lists(st.tuples(numbers, st.integers(0, 4)), min_size=1, max_size=80), st.integers(2, 12))
def test_a_weight_of_two_equals_a_row_given_twice(pairs, max_bins):
    values = np.array([value for value, _ in pairs], np.float64)
    weight = np.array([count for _, count in pairs], np.float64)
    repeated = np.repeat(values, weight.astype(int))
    by_weight = Sketch.of(values, integer_weights(weight)).edges(max_bins)
    assert by_weight.tolist() == Sketch.of(repeated).edges(max_bins).tolist()


@given(st.lists(numbers, min_size=1, max_size=80), st.integers(2, 12))
def test_edges_divide_the_values_into_no_more_bins_than_asked(values, max_bins):
    array = np.array(values, np.float64)
    edges = Sketch.of(array).edges(max_bins)
    assert (np.diff(edges) > 0).all()
    codes = np.searchsorted(edges, array[~np.isnan(array)], "left")
    distinct = np.unique(array[~np.isnan(array)] + 0.0).size
    # Every bin holds something: no edge is wasted.
    assert set(codes.tolist()) == set(range(len(edges) + 1)) or distinct == 0
    assert len(edges) <= max_bins - 1
    if distinct <= max_bins:
        assert len(edges) == max(distinct - 1, 0)


def test_edges_are_midway_between_neighbouring_values():
    assert Sketch.of(np.array([3.0, 1.0, 1.0, 2.0, np.nan])).edges(255).tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (-np.inf, 0.0),
        (0.0, np.inf),
        (-np.inf, np.inf),
        (1.7e308, np.inf),
        (-np.inf, -1.7e308),
        (1.0, np.nextafter(1.0, 2.0)),
        (np.nextafter(1.0, 0.0), 1.0),
        (0.0, 5e-324),
        (-5e-324, 0.0),
        (-1.7e308, 1.7e308),
        (1.6e308, 1.7e308),
        (np.finfo(float).max, np.inf),
        (-np.inf, -np.finfo(float).max),
    ],
)
def test_a_midpoint_separates_its_neighbours(lower, upper):
    (middle,) = midpoints(np.array([lower]), np.array([upper]))
    assert lower <= middle < upper
    assert np.isfinite(middle) or upper == -np.finfo(float).max


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_a_midpoint_separates_any_two_numbers(a, b):
    if a != b:
        (middle,) = midpoints(np.array([min(a, b)]), np.array([max(a, b)]))
        assert min(a, b) <= middle < max(a, b)


def test_bins_of_a_continuous_column_hold_about_as_many_rows():
    values = np.random.default_rng(1).lognormal(size=400_000)
    edges = Sketch.of(values).edges(255)
    counts = np.bincount(np.searchsorted(edges, values, "left"))
    assert len(counts) == 255
    assert counts.max() < 1.1 * 400_000 / 255
    assert counts.min() > 0.9 * 400_000 / 255


def test_a_value_that_fills_most_rows_has_a_bin_of_its_own():
    random = np.random.default_rng(2)
    values = np.where(random.random(50_000) < 0.8, 0.0, random.normal(size=50_000))
    edges = Sketch.of(values).edges(64)
    codes = np.searchsorted(edges, values, "left")
    zero = np.searchsorted(edges, 0.0, "left")
    assert set(values[codes == zero]) == {0.0}
    assert len(edges) == 63


def test_real_weights_become_integers_that_keep_their_ratios():
    weight = np.array([0.0, 0.25, 0.5, 3.0, 1e-300])
    found = integer_weights(weight)
    assert found[0] == 0
    assert found[4] == 1  # light, but there
    assert found[2] == 2 * found[1]
    assert found[3] == 12 * found[1]
    assert found.sum() < 2**52


def test_no_weights_at_all_give_an_empty_summary():
    found = Sketch.of(np.arange(5.0), integer_weights(np.zeros(5)))
    assert found.keys.size == 0
    assert found.edges(255).size == 0
