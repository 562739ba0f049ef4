"""How good members that are regressors are near a query, and who of them is asked.

Rooney, Patterson, Anand & Tsymbal 2004, "Dynamic integration of regression models": dynamic selection, weighting, and weighting with
selection. Errors of nearer rows count more, by one over the distance.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.selection.competence import closeness, each_neighbour
from woodwind.selection.facts import Floats, Mask, Region, RegressionFacts

# The smallest error that an inverse is taken of, in units of the mean error of all members.
LEAST_ERROR = 1e-9


def local_error(facts: RegressionFacts, region: Region) -> Floats:
    """The mean absolute error of each member in the region, by one over the distance (q, m)."""
    near = closeness(region)
    near /= near.sum(axis=1, keepdims=True)
    total = np.zeros((len(region), facts.n_members))
    for position, errors in enumerate(each_neighbour(region, facts.errors)):
        total += near[:, position, None] * errors
    return total


def small_error(facts: RegressionFacts, region: Region) -> Floats:
    """The local error, negated: larger is better."""
    return -local_error(facts, region)


def inverse_error(facts: RegressionFacts, region: Region, *, power: float = 1.0) -> Floats:
    """One over a power of the local error, in units of the smallest: the best member has 1."""
    if power <= 0.0:
        raise ParameterError(f"power must be above 0, so that smaller errors weigh more, but it is {power}.")
    return np.asarray((_least(facts, region).min(axis=1, keepdims=True) / _least(facts, region)) ** power)


def softmax_of_error(facts: RegressionFacts, region: Region, *, temperature: float = 0.1) -> Floats:
    """exp(-error / scale) in units of the largest; the scale is the temperature times the mean local error of the members."""
    if temperature <= 0.0:
        raise ParameterError(f"temperature must be above 0, but it is {temperature}.")
    errors = _least(facts, region)
    scale = temperature * errors.mean(axis=1, keepdims=True)
    return np.asarray(np.exp((errors.min(axis=1, keepdims=True) - errors) / scale))


def _least(facts: RegressionFacts, region: Region) -> Floats:
    """Local errors, none of them zero."""
    unit = facts.errors.mean()
    return np.maximum(local_error(facts, region), LEAST_ERROR * unit if unit > 0.0 else 1.0)


def run_of_good(facts: RegressionFacts, region: Region, *, tolerance: float = 1.0) -> Floats:
    """How many of the nearest rows a member predicts well before the first that it does not: KNORA-Eliminate for numbers."""
    alive: Mask = np.ones((len(region), facts.n_members), np.bool_)
    count: NDArray[Any] = np.zeros(alive.shape)
    for good in each_neighbour(region, good_rows(facts, tolerance)):
        alive &= good
        count += alive
    return count


def count_of_good(facts: RegressionFacts, region: Region, *, tolerance: float = 1.0) -> Floats:
    """How many rows of the region a member predicts well: KNORA-Union for numbers."""
    count = np.zeros((len(region), facts.n_members))
    for good in each_neighbour(region, good_rows(facts, tolerance)):
        count += good
    return count


def good_rows(facts: RegressionFacts, tolerance: float) -> Mask:
    """Where the error is at most the tolerance times the mean error of all members on all selection rows (r, m)."""
    if tolerance <= 0.0:
        raise ParameterError(f"tolerance must be above 0, but it is {tolerance}.")
    return np.asarray(facts.errors <= tolerance * facts.errors.mean())


def better_half(facts: RegressionFacts, region: Region) -> Mask:
    """Members whose local error is not above the middle between the least and the largest: weighting with selection."""
    errors = local_error(facts, region)
    middle = (errors.min(axis=1, keepdims=True) + errors.max(axis=1, keepdims=True)) / 2.0
    return np.asarray(errors <= middle)
