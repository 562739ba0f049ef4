"""Weighted quantiles of presorted columns: kernels and their twins, and how much may lie in a bin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import naive_candidates as slow
from woodwind.kernels.binning.candidates import bins_of_values, codes_of_ranks, weigh_values

weights = st.lists(st.one_of(st.integers(-1, 5), st.integers(0, 2**30)), max_size=60)
SHAPES = {
    "equal": lambda n: np.full(n, 1 << 29),
    "rising": lambda n: np.arange(n) ** 2,
    "one heavy value": lambda n: np.where(np.arange(n) == n // 3, 1 << 30, 1),
    "few rows have nearly all weight": lambda n: np.where(np.arange(n) % 97 == 5, 1 << 30, 3),
    "most are not there": lambda n: np.where(np.arange(n) % 7 == 0, 1 << 20, -1),
    "no weight at all": lambda n: np.zeros(n, np.int64),
}


def binned(weight, n_bins):
    """Bins of the values that are there, and the ends of each bin."""
    bins, ends = np.full(len(weight) + 1, 255, np.uint8), np.zeros((2, n_bins), np.int32)
    used = bins_of_values(np.asarray(weight, np.int64), n_bins, bins, ends)
    return bins, ends[:, :used]


@given(weights, st.integers(2, 20))
def test_bins_are_those_of_the_twin(weight, n_bins):
    bins, ends = binned(weight, n_bins)
    expected = slow.value_bins(weight, n_bins)
    there = [value for value, own in enumerate(weight) if own >= 0]
    assert [int(bins[value + 1]) for value in there] == [expected[value] for value in there]
    assert bins[0] == 255  # of missing values, which is another's business
    for number, (first, last) in enumerate(ends.T.tolist()):
        inside = [value for value in there if expected[value] == number]
        assert (first, last) == (inside[0], inside[-1])


def test_a_middle_on_a_border_belongs_to_the_part_behind_it():
    """49 times a 49th is less than 1 in floating point, and 49 over 49 is not."""
    weight = [48, 2, 48]
    assert slow.value_bins(weight, 2) == [0, 1, 1]
    assert binned(weight, 2)[0][1:].tolist() == [0, 1, 1]


@pytest.mark.parametrize("n_bins", [2, 10, 33, 255])
@pytest.mark.parametrize("shape", SHAPES)
def test_less_than_one_part_of_the_weight_lies_inside_a_bin(shape, n_bins):
    weight = SHAPES[shape](4000).astype(np.int64)
    there = np.maximum(weight, 0)
    whole, (_bins, ends) = int(there.sum()), binned(weight, n_bins)
    for first, last in ends.T.tolist():
        assert int(there[first + 1 : last].sum()) * n_bins < max(whole, 1)
        # The bin with its first and its last value has one part and half of both.
        assert 2 * n_bins * int(there[first : last + 1].sum()) <= 2 * whole + n_bins * int(there[first] + there[last])
    for value in np.flatnonzero(there * n_bins >= 2 * whole) if whole else []:
        assert [int(value), int(value)] in ends.T.tolist()
    assert 1 <= ends.shape[1] <= n_bins


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.randoms(), st.sampled_from([np.int32, np.int64]))
def test_weights_of_values_are_those_of_their_rows(values, random, kind):
    distinct, ranks = np.unique(values, return_inverse=True)
    order = np.argsort(ranks, kind="stable").astype(np.int32)
    starts = np.searchsorted(ranks[order], np.arange(len(distinct) + 1)).astype(np.int32)
    weight = np.array([random.randint(-1, 2**30) for _ in values], kind)
    out = np.empty(len(distinct), np.int64)
    weigh_values(order, starts, weight, out)
    assert out.tolist() == slow.value_weights(order.tolist(), starts.tolist(), weight.tolist())


def test_codes_of_rows_follow_from_their_ranks():
    ranks, bins = np.array([2, -1, 0, 1, 2], np.int32), np.array([15, 0, 0, 1], np.uint8)
    out = np.full(5, 99, np.uint8)
    codes_of_ranks(ranks, bins, 1, 5, out)
    assert out.tolist() == [99, 15, 0, 0, 1]
