"""One answer from what members predict."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata, trim_mean

from woodwind import DataError, ParameterError
from woodwind.base.errors import WeightError
from woodwind.ensemble.combine import (
    borda_points,
    geometric_prediction,
    geometric_probabilities,
    majority,
    mean_prediction,
    mean_probabilities,
    median_prediction,
    median_probabilities,
    ranked_probabilities,
    trimmed_prediction,
    trimmed_probabilities,
    vote_fractions,
    weighted_median_prediction,
)

RNG = np.random.default_rng(0)
SHARES = RNG.dirichlet(np.ones(4), size=(50, 7))
NUMBERS = RNG.normal(size=(50, 7)).round(1)
WEIGHTS = np.array([1.0, 3.0, 0.0, 2.0, 0.5, 1.0, 1.0])
OF_SHARES = [mean_probabilities, median_probabilities, trimmed_probabilities, geometric_probabilities, ranked_probabilities]
OF_REGRESSION = [
    mean_prediction,
    trimmed_prediction,
    weighted_median_prediction,
    lambda predictions, weights: geometric_prediction(np.exp(predictions), weights),
]


def weighed(function, predicted, weights):
    return function(predicted, weights=weights)


# Votes.


def test_votes_are_counted_and_of_equals_the_first_class_wins():
    votes = np.array([[0, 1, 1], [2, 1, 0], [2, 2, 1], [1, 2, 0]])
    assert majority(votes, 3).tolist() == [1, 0, 2, 0]
    assert majority(votes, 3, [3, 1, 1]).tolist() == [0, 2, 2, 1]
    assert (vote_fractions(votes, 3) * 3).round(9).tolist() == [[1, 2, 0], [1, 1, 1], [0, 1, 2], [1, 1, 1]]
    by_row = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 5]])
    assert majority(votes, 3, by_row).tolist() == [0, 1, 1, 0]


@given(arrays(np.int64, (20, 5), elements=st.integers(0, 3)), arrays(np.float64, 5, elements=st.sampled_from([0.1, 0.2, 0.3, 0.5, 1.0])))
def test_the_majority_is_the_largest_bin_count(votes, weights):
    assert majority(votes, 4, weights).tolist() == [np.bincount(row, weights=weights).argmax() for row in votes]
    assert majority(votes, 4).tolist() == [np.bincount(row).argmax() for row in votes]


# Probabilities.


@pytest.mark.parametrize("function", [*OF_SHARES[:4], ranked_probabilities])
@pytest.mark.parametrize("weights", [None, WEIGHTS, np.tile(WEIGHTS, (50, 1))], ids=["equal", "members", "rows"])
def test_shares_sum_to_one_whatever_the_mean(function, weights):
    out = weighed(function, SHARES, weights)
    np.testing.assert_allclose(out.sum(axis=1), 1.0)
    assert (out >= 0).all()
    if weights is not None:
        np.testing.assert_allclose(out, weighed(function, SHARES, WEIGHTS), rtol=1e-12)


@pytest.mark.parametrize("function", OF_SHARES)
def test_weights_count_by_their_ratios_and_equal_ones_are_none(function):
    np.testing.assert_allclose(weighed(function, SHARES, WEIGHTS), weighed(function, SHARES, 3.7 * WEIGHTS), rtol=1e-12)
    if function is not trimmed_probabilities:  # of weights a share is cut, of members a whole number
        np.testing.assert_allclose(weighed(function, SHARES, np.full(7, 0.3)), weighed(function, SHARES, None), rtol=1e-12)
    alone = np.eye(7)[2]
    if function is not ranked_probabilities:
        np.testing.assert_allclose(weighed(function, SHARES, alone), SHARES[:, 2], rtol=1e-12)


@pytest.mark.parametrize("function", OF_SHARES[:4])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "members"])
def test_copies_of_one_member_say_what_it_says(function, weights):
    copies = np.repeat(SHARES[:, :1], 7, axis=1)
    np.testing.assert_allclose(weighed(function, copies, weights), SHARES[:, 0], rtol=1e-12)


def test_the_order_in_memory_changes_no_bit():
    turned = np.ascontiguousarray(SHARES.transpose(1, 0, 2)).transpose(1, 0, 2)
    for function in OF_SHARES:
        for weights in (None, WEIGHTS):
            assert weighed(function, SHARES, weights).tobytes() == weighed(function, turned, weights).tobytes()


def test_medians_of_probabilities_that_are_all_zero_leave_it_to_the_mean():
    probabilities = np.eye(3)[None]  # three members, each sure of another class
    assert median_probabilities(probabilities).tolist() == [[1 / 3] * 3]
    assert trimmed_probabilities(probabilities, 0.4).tolist() == [[1 / 3] * 3]


def test_the_geometric_mean_is_the_product_and_nobody_can_forbid_a_class():
    probabilities = np.array([[[0.5, 0.5], [0.9, 0.1]], [[0.0, 1.0], [1.0, 0.0]]])
    np.testing.assert_allclose(geometric_probabilities(probabilities), [[0.75, 0.25], [0.5, 0.5]], rtol=1e-12)


def test_borda_counts_the_classes_below_and_half_of_the_equals():
    probabilities = np.array([[[0.5, 0.3, 0.2], [0.1, 0.45, 0.45]]])
    assert borda_points(probabilities[:, 0]).tolist() == [[2.0, 1.0, 0.0]]
    assert borda_points(probabilities[:, 1]).tolist() == [[0.0, 1.5, 1.5]]
    np.testing.assert_allclose(ranked_probabilities(probabilities), [[2 / 6, 2.5 / 6, 1.5 / 6]])
    np.testing.assert_allclose(ranked_probabilities(probabilities, [1, 0]), [[2 / 3, 1 / 3, 0]])
    assert ranked_probabilities(np.ones((2, 3, 1))).tolist() == [[1.0], [1.0]]


@given(arrays(np.float64, (6, 5), elements=st.sampled_from([0.0, 0.1, 0.2, 0.3])))
def test_borda_points_are_mean_ranks(probabilities):
    np.testing.assert_array_equal(borda_points(probabilities), rankdata(probabilities, axis=1) - 1.0)


# Numbers.


def test_means_and_medians_are_those_of_numpy():
    np.testing.assert_allclose(mean_prediction(NUMBERS), NUMBERS.mean(axis=1), atol=1e-15)
    np.testing.assert_allclose(mean_prediction(NUMBERS, WEIGHTS), np.average(NUMBERS, axis=1, weights=WEIGHTS), atol=1e-15)
    np.testing.assert_array_equal(median_prediction(NUMBERS), np.median(NUMBERS, axis=1))
    np.testing.assert_array_equal(median_prediction(NUMBERS[:, :4]), np.median(NUMBERS[:, :4], axis=1))
    for trim in (0.0, 0.1, 0.2, 0.4):
        np.testing.assert_allclose(trimmed_prediction(NUMBERS, trim), trim_mean(NUMBERS, trim, axis=1), atol=1e-15)
    np.testing.assert_allclose(geometric_prediction(np.exp(NUMBERS), WEIGHTS), np.exp(mean_prediction(NUMBERS, WEIGHTS)))


def test_the_weighted_median_is_where_half_of_the_weight_is_reached():
    predictions = np.array([[3.0, 1.0, 2.0]])
    assert weighted_median_prediction(predictions, [1, 1, 1]).tolist() == [2.0]
    assert weighted_median_prediction(predictions, [5, 1, 1]).tolist() == [3.0]
    assert weighted_median_prediction(predictions, [1, 2, 1]).tolist() == [1.0]
    assert weighted_median_prediction(predictions, [1, 2, 1], midpoint=True).tolist() == [1.5]
    assert weighted_median_prediction(predictions, [[0, 0, 1]]).tolist() == [2.0]


@given(arrays(np.float64, (8, 6), elements=st.integers(-3, 3).map(float)), arrays(np.int64, 6, elements=st.integers(0, 3)))
def test_a_weighted_median_is_the_median_of_numbers_given_as_often(predictions, times):
    if times.sum() == 0:
        return
    repeated = np.repeat(predictions, times, axis=1)
    np.testing.assert_array_equal(weighted_median_prediction(predictions, times, midpoint=True), np.median(repeated, axis=1))
    lower = np.sort(repeated, axis=1)[:, (times.sum() - 1) // 2]
    np.testing.assert_array_equal(weighted_median_prediction(predictions, times), lower)


@pytest.mark.parametrize("function", OF_REGRESSION)
def test_weights_of_numbers_count_by_their_ratios(function):
    np.testing.assert_allclose(function(NUMBERS, weights=WEIGHTS), function(NUMBERS, weights=4.3 * WEIGHTS), rtol=1e-12, atol=1e-15)
    by_row = np.tile(WEIGHTS, (50, 1))
    np.testing.assert_allclose(function(NUMBERS, weights=by_row), function(NUMBERS, weights=WEIGHTS), rtol=1e-12, atol=1e-15)


def test_a_weighted_trimmed_mean_cuts_weight():
    predictions = np.array([[1.0, 2.0, 3.0, 4.0]])
    assert trimmed_prediction(predictions, 0.25, [1, 1, 1, 1]).tolist() == [2.5]
    assert trimmed_prediction(predictions, 0.25, [2, 1, 1, 0]).tolist() == [1.5]  # half a one, a two: weights 1 and 1
    np.testing.assert_allclose(trimmed_prediction(predictions, 0.1, [1, 1, 1, 7]), [(0.0 * 1 + 2.0 + 3.0 + 6.0 * 4.0) / 8])


BAD = [
    (lambda: majority(np.zeros(3, int), 2), DataError, "its shape is \\(3,\\)"),
    (lambda: majority(np.full((2, 2), 2), 2), DataError, "numbers of classes, 0 to 1, but there is 2 and 2"),
    (lambda: majority(np.array([["a"]]), 2), DataError, "of type <U1"),
    (lambda: mean_probabilities(NUMBERS), DataError, "rows, members, classes"),
    (lambda: mean_prediction(SHARES), DataError, "rows, members"),
    (lambda: mean_prediction(NUMBERS, [1, 2]), WeightError, "one for each of 7 members"),
    (lambda: mean_prediction(NUMBERS, np.zeros(7)), WeightError, "must not all be zero"),
    (lambda: mean_prediction(NUMBERS, -np.ones(7)), WeightError, "not negative"),
    (lambda: trimmed_prediction(NUMBERS, 0.5), ParameterError, "trim must be at least 0 and below 0.5"),
    (lambda: geometric_prediction(np.array([[1.0, -2.0]])), DataError, "member 1 says -2 of row 0"),
]


@pytest.mark.parametrize(("call", "kind", "predicted"), BAD, ids=[predicted for _, _, predicted in BAD])
def test_what_cannot_be_combined_is_said(call, kind, predicted):
    with pytest.raises(kind, match=predicted):
        call()
