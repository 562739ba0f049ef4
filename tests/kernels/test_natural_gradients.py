"""Natural gradients and information by the kernels, against the NumPy formulas of the distributions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_allclose, assert_array_equal

from woodwind.base.fixed import FIRST_BITS, exact_mean, partial_sum, scale_for
from woodwind.distributions import (
    ExponentialDistribution,
    LaplaceDistribution,
    LogisticDistribution,
    LogNormalDistribution,
    NormalDistribution,
    PoissonDistribution,
    StudentTDistribution,
    WeibullDistribution,
)
from woodwind.kernels.losses import multinomial
from woodwind.kernels.losses import natural_gradients as kernels
from woodwind.losses.distribution_score import FORMULAS, DistributionScore

# Exponents are shifted as integers on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")

N = 150 if config.DISABLE_JIT else 3000
FAMILIES = [
    NormalDistribution(),
    LogNormalDistribution(),
    LaplaceDistribution(),
    LogisticDistribution(),
    StudentTDistribution(4.5),
    WeibullDistribution(),
    ExponentialDistribution(),
    PoissonDistribution(),
]


def rows_of(family, seed=0):
    """Scores, and targets of other scores, so that some are far out."""
    rng = np.random.default_rng(seed)
    raw = rng.normal(size=(N, family.width))
    return raw, family.sample((), rng.normal(size=(N, family.width)), rng)


def test_every_formula_is_tried():
    assert {type(family) for family in FAMILIES} == set(FORMULAS)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("bounded", [False, True])
def test_natural_gradients_are_those_of_numpy(family, bounded):
    raw, y = rows_of(family)
    loss = DistributionScore(family)
    if bounded:
        lowest = tuple(np.quantile(raw, 0.4, axis=0))
        loss = replace(loss, _lowest=lowest).resolved(y, raw)
        assert len(loss._units) == family.width
    gradient, hessian = loss.derivatives(y, raw)
    slow = loss._directions(y, raw)
    assert_allclose(gradient, slow, rtol=1e-12, atol=1e-12)
    assert (hessian == 1.0).all()
    if bounded:
        assert (gradient[raw <= np.array(lowest)] <= 0.0).all()
        assert np.abs(gradient).max() <= kernels.LONGEST


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("weighted", [False, True])
def test_units_are_roots_of_the_mean_information(family, weighted):
    raw, y = rows_of(family, 1)
    weight = np.random.default_rng(2).integers(0, 4, N).astype(np.float64) if weighted else None
    found = DistributionScore(family).resolved(y, raw, weight)._units
    slow = [math.sqrt(exact_mean(np.ascontiguousarray(column), weight)) for column in family.information_diagonal(raw).T]
    assert_allclose(found, slow, rtol=1e-14)
    order = np.random.default_rng(3).permutation(N)
    turned = DistributionScore(family).resolved(y[order], raw[order], None if weight is None else weight[order])._units
    assert turned == found  # to the bit


def test_a_class_derived_from_a_named_distribution_is_computed_by_its_own_formulas():
    class Halved(NormalDistribution):
        def gradient(self, y, raw):
            return 0.5 * super().gradient(y, raw)

    raw, y = rows_of(NormalDistribution())
    own, _ = DistributionScore(Halved()).derivatives(y, raw)
    named, _ = DistributionScore(NormalDistribution()).derivatives(y, raw)
    assert_allclose(own, 0.5 * named, rtol=1e-12, atol=1e-12)


def test_the_smallest_targets_and_scores_near_all_bounds_are_served():
    y, raw = np.array([5e-324, 1e-310, 1e-300, 1e300]), np.array([[0.0, 0.0], [-700.0, 0.0], [1.0, -140.0], [0.0, 140.0]])
    for family, rows in ((LogNormalDistribution(), slice(None)), (WeibullDistribution(), slice(2))):
        loss = replace(DistributionScore(family), _units=(1.0, 1.0))
        assert_allclose(loss.derivatives(y, raw)[0][rows], loss._directions(y[rows], raw[rows]), rtol=1e-12)


def test_a_score_that_is_no_number_is_not_hidden():
    raw, y = rows_of(NormalDistribution())
    raw[7, 1] = np.nan
    loss = replace(DistributionScore(NormalDistribution()), _units=(1.0, 1.0))
    gradient, hessian = loss.derivatives(y, raw)
    assert np.isnan(gradient[7, 1])
    out = np.empty(3, np.int64)
    multinomial.multi_largest_given(gradient, hessian, 0, N, out)
    assert np.isnan(out[0].view(np.float64))


@pytest.mark.parametrize("outputs", [2, 3, 5])
def test_largest_derivatives_are_those_of_numpy(outputs):
    rng = np.random.default_rng(outputs)
    g, h = rng.normal(size=(N, outputs)), rng.random((N, outputs))
    out = np.empty(3, np.int64)
    multinomial.multi_largest_given(g, h, 0, N, out)
    assert_allclose(out.view(np.float64), [np.abs(g).max(), h.max(), h.sum(axis=1).max()], rtol=1e-15)
    multinomial.multi_largest_given(g, None, 0, N, out)
    assert_array_equal(out.view(np.float64), [np.abs(g).max(), 1.0, outputs])


def test_hessians_of_one_need_not_be_given():
    rng = np.random.default_rng(0)
    g, scales = rng.normal(size=(N, 3)), np.array([2.0**25, 2.0**29])
    ones = np.ones((N, 3))
    found = [(np.zeros((N, 4), np.int32), np.zeros((N, 3), np.int32)) for _ in range(2)]
    multinomial.multi_quantise_given(g, ones, None, scales, 0, N, *found[0])
    multinomial.multi_quantise_given(g, None, None, scales, 0, N, *found[1])
    for one, other in zip(*found, strict=True):
        assert_array_equal(one, other)


def test_digits_of_sums_are_those_of_base_fixed():
    values = np.random.default_rng(0).lognormal(size=N) * 1e7
    scale, digits = scale_for(float(values.max()), FIRST_BITS), np.empty((2, 2), np.int64)
    kernels.digit_sums(values, scale, 0, 40, digits[0])
    kernels.digit_sums(values, scale, 40, N, digits[1])
    high, low = (int(digit) for digit in digits.sum(axis=0))
    assert (high << 32) + low == partial_sum(values, scale)
