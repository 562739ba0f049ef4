"""Flipped labels, smeared outputs, drawn parameters."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest, loguniform, norm, randint

from woodwind.ensemble.resampling import (
    drawn_parameters,
    flip_probabilities,
    flipped,
    largest_rate,
    normal,
    smeared_classes,
    smeared_targets,
)

SHARES = np.array([0.5, 0.3, 0.2])


def labels(n=60_000):
    return np.random.default_rng(0).choice(3, n, p=SHARES).astype(np.int32)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.4, 0.62])
def test_flipping_changes_so_many_labels_and_keeps_the_shares_of_classes(rate):
    probabilities = flip_probabilities(SHARES, rate)
    assert probabilities.sum(axis=1) == pytest.approx(1.0)
    assert SHARES @ probabilities == pytest.approx(SHARES)
    assert SHARES @ (1 - np.diag(probabilities)) == pytest.approx(rate)
    y = labels()
    wrong = flipped(y, SHARES, rate, seed=1, member=2)
    assert (wrong != y).mean() == pytest.approx(rate, abs=0.01)
    assert np.bincount(wrong) / len(y) == pytest.approx(SHARES, abs=0.01)


def test_by_hand_two_classes():
    """Shares 3/4 and 1/4: sum of squares 10/16, at most 6/16 flipped. A rate of 3/16 is w = 1/2: probabilities 1/2 * 1/4 and 1/2 * 3/4."""
    probabilities = np.array([0.75, 0.25])
    assert largest_rate(probabilities) == 0.375
    assert flip_probabilities(probabilities, 0.1875).tolist() == [[0.875, 0.125], [0.375, 0.625]]


def test_numbers_are_smeared_in_units_of_their_spread():
    y = np.linspace(-5.0, 5.0, 40_000)
    noise = smeared_targets(y, 4.0, 0.5, seed=0, member=0) - y
    assert noise.mean() == pytest.approx(0.0, abs=0.05)
    assert noise.std() == pytest.approx(2.0, rel=0.02)


def test_noise_is_of_the_normal_law():
    drawn = normal(12345, 20_000)
    assert kstest(drawn, norm.cdf).pvalue > 0.01
    assert not np.array_equal(drawn, normal(12346, 20_000))


def test_smeared_classes():
    y = labels(20_000)
    assert np.array_equal(smeared_classes(y, SHARES, 0.0, 0, 0), y)
    changed = [(smeared_classes(y, SHARES, smear, 0, 0) != y).mean() for smear in (0.1, 0.5, 1.0, 3.0)]
    assert changed == sorted(changed)
    assert 0.0 < changed[0] < 0.15
    assert changed[-1] > 0.4


def test_parameters_are_drawn_by_member():
    options = {"depth": [1, 2, None], "rate": loguniform(0.01, 1.0), "leaves": randint(2, 9)}
    drawn = [drawn_parameters(options, 5, member) for member in range(60)]
    assert {one["depth"] for one in drawn} == {1, 2, None}
    assert {one["leaves"] for one in drawn} == set(range(2, 9))
    assert all(type(one["rate"]) is float and type(one["leaves"]) is int for one in drawn)
    assert drawn == [drawn_parameters(options, 5, member) for member in range(60)]
    assert drawn != [drawn_parameters(options, 6, member) for member in range(60)]
    assert drawn_parameters({"depth": np.array([4])}, 0, 0) == {"depth": 4}


def test_values_of_a_column_are_drawn_by_where_they_stand():
    """A series is asked by its labels, of which none need be the number that was drawn."""
    column = pd.Series([2, 3, 5], index=["a", "b", "c"])
    assert [drawn_parameters({"depth": column}, 0, m) for m in range(8)] == [drawn_parameters({"depth": [2, 3, 5]}, 0, m) for m in range(8)]
