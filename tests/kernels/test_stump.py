"""The kernels of stumps against their slow twins."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference import naive_stump
from reference.coded import random_codes
from woodwind.kernels.histogram.stump import Vote, best_stump, class_sums, reweigh

# Positions are unsigned. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")


def case(seed, n=60, n_classes=3, missing=0.2):
    rng = np.random.default_rng(seed)
    codes = random_codes(seed, n, (0,) * 10, missing=missing)
    label = rng.integers(0, n_classes, n).astype(np.int32)
    weight = rng.integers(0, 1 << 40, n)
    return codes, label, weight


@pytest.mark.parametrize("seed", range(3))
def test_sums_are_those_of_the_twin_in_any_split_into_parts(seed):
    codes, label, weight = case(seed)
    words = np.ascontiguousarray(codes.by_row.view(np.uint64).T)
    out = np.zeros(words.shape[0] * 8 * 3 * codes.width, np.int64)
    for begin, end in ((0, 25), (25, 26), (26, 60)):
        class_sums(words, weight, label, codes.width, begin, end, out)
    sums = out.reshape(-1, 3, codes.width)
    assert_array_equal(sums[codes.places], naive_stump.class_sums(codes.by_column, weight, label, 3, codes.width))


@pytest.mark.parametrize("missing", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_cut_is_that_of_the_twin(seed, missing):
    codes, label, weight = case(seed, missing=missing)
    sums = naive_stump.class_sums(codes.by_column, weight, label, 3, codes.width)
    found, left = np.zeros(3, np.int64), np.zeros(3, np.int64)
    score = best_stump(sums, codes.n_bins, found, left)
    expected, where, weights = naive_stump.best_stump(sums, codes.n_bins)
    assert score == pytest.approx(expected, rel=1e-14)
    if where[0] >= 0:
        assert (tuple(found), left.tolist()) == (where, weights)
    else:
        assert found[0] == -1


def test_of_equal_cuts_the_lowest_feature_and_bin_is_taken():
    sums = np.zeros((2, 2, 4), np.int64)
    sums[:, 0, 0] = sums[:, 1, 1] = 5  # both features part the classes
    found, left = np.zeros(3, np.int64), np.zeros(2, np.int64)
    assert best_stump(sums, np.array([3, 3], np.int32), found, left) == 10.0
    assert (found.tolist(), left.tolist()) == ([0, 0, 2], [5, 0])


@pytest.mark.parametrize("counted", [False, True])
def test_weights_are_those_of_the_twin(counted):
    codes, label, _ = case(0)
    rng = np.random.default_rng(1)
    weight = rng.random(60) / 60
    count = rng.integers(0, 3, 60) if counted else None
    word, place = divmod(int(codes.places[3]), 8)
    vote = Vote(place, 1, codes.missing, 1, 0, 2, 0.7, 1.9, 1e-4, 2.0**61)
    expected = naive_stump.reweigh(codes.by_column[3], label, count, vote, weight)
    out = np.zeros(60, np.int64)
    words = np.ascontiguousarray(codes.by_row.view(np.uint64)[:, word])
    reweigh(words, label, count, vote, 0, 31, weight, out)
    reweigh(words, label, count, vote, 31, 60, weight, out)
    assert (weight.tolist(), out.tolist()) == expected
