"""Diversity from the side of the outputs: each member learns from a target of its own (Breiman 2000, "Randomizing outputs to increase
prediction accuracy"), or with parameters of its own. All of it is drawn by key (seed, member)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.random_streams import integers, key, uniform

Floats = NDArray[np.float64]
Classes = NDArray[np.int32]


def class_probabilities(classes: NDArray[Any], weight: Floats | None, n_classes: int) -> Floats:
    """The share of each class."""
    totals = np.bincount(classes, weights=weight, minlength=n_classes).astype(np.float64)
    return np.asarray(totals / totals.sum())


def flip_probabilities(frequencies: Floats, rate: float) -> Floats:
    """The probability (K, K) of a row of class i to become one of class j: w p_j, where w makes `rate` of all rows change their class.

    sum over i of p_i w p_j = w p_j (1 - p_j) for i other than j is also what class j loses, so the class probabilities are kept on
    average. At w = 1, which is a rate of 1 - sum p_j ** 2, labels no longer depend on the rows: there is no larger rate.
    """
    w = min(rate / largest_rate(frequencies), 1.0)
    probabilities = w * np.tile(frequencies, (len(frequencies), 1))
    np.fill_diagonal(probabilities, 1.0 - w * (1.0 - frequencies))
    return probabilities


def largest_rate(frequencies: Floats) -> float:
    """The share of rows that change their class when labels are dealt out anew."""
    return float(1.0 - (frequencies * frequencies).sum())


def flipped(classes: Classes, frequencies: Floats, rate: float, seed: int, member: int) -> Classes:
    """Labels of which about `rate` have become another class."""
    ends = np.cumsum(flip_probabilities(frequencies, rate), axis=1)
    return picked(ends[classes], uniform(key(seed, "flip", member), len(classes)))


def smeared_targets(y: Floats, spread: float, smear: float, seed: int, member: int) -> Floats:
    """Numbers with noise of a normal law, of `smear` times the standard deviation `spread`."""
    return y + smear * spread * normal(key(seed, "smear", member), len(y))


def smeared_classes(classes: Classes, frequencies: Floats, smear: float, seed: int, member: int) -> Classes:
    """Labels drawn from smeared indicators of the classes.

    Each class has a column that is one in its rows and zero in others, of standard deviation sqrt(p (1 - p)). To it comes noise of a
    normal law, of `smear` times that; what is below zero becomes zero, and the columns of a row are divided by their sum. These are
    the probabilities from which the label is drawn. A row without any chance keeps its label.
    """
    spread = np.sqrt(frequencies * (1.0 - frequencies))
    indicator = np.zeros((len(classes), len(frequencies)))
    indicator[np.arange(len(classes)), classes] = 1.0
    for k in range(len(frequencies)):
        indicator[:, k] += smear * spread[k] * normal(key(seed, "smear", member, k), len(classes))
    np.maximum(indicator, 0.0, out=indicator)
    ends = np.cumsum(indicator, axis=1)
    drawn = picked(ends, uniform(key(seed, "smeared label", member), len(classes)) * ends[:, -1])
    return np.where(ends[:, -1] > 0.0, drawn, classes).astype(np.int32)


def picked(ends: Floats, where: Floats) -> Classes:
    """The first place of each row whose running sum is above a number."""
    last = ends.shape[1] - 1
    return np.asarray(np.minimum((ends <= where[:, None]).sum(axis=1), last), np.int32)


def normal(name: int, count: int) -> Floats:
    """Numbers of the standard normal law, one per item, by Box & Muller 1958: two uniform numbers give one."""
    radius = np.sqrt(-2.0 * np.log1p(-uniform(key(name, "radius"), count)))
    return np.asarray(radius * np.cos(2.0 * np.pi * uniform(key(name, "angle"), count)))


def drawn_parameters(distributions: Mapping[str, Any], seed: int, member: int) -> dict[str, Any]:
    """Parameters of a member: one of a list, or what the `rvs` of a distribution gives."""
    return {name: _drawn(options, key(seed, "parameter", name, member)) for name, options in distributions.items()}


def _drawn(options: Any, name: int) -> Any:
    if hasattr(options, "rvs"):
        # Distributions of SciPy take a generator of NumPy: one that is made for this draw alone.
        value = options.rvs(random_state=np.random.RandomState(name % (1 << 32)))
        return value.item() if isinstance(value, np.generic) or getattr(value, "ndim", None) == 0 else value
    # A column of a table has labels of its own, by which it would be asked.
    value = getattr(options, "iloc", options)[int(integers(name, len(options), 1)[0])]
    return value.item() if isinstance(value, np.generic) else value
