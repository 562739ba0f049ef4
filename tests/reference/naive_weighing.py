"""Slow, obvious twins of the search for weights on the simplex."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mixture_weights(of_truth: Floats, count: Floats, steps: int = 20_000) -> Floats:
    """Weights with the smallest log loss by expectation and maximisation: each member gets the share of the rows that it explains."""
    weights = np.full(of_truth.shape[1], 1.0 / of_truth.shape[1])
    for _ in range(steps):
        explained = of_truth * weights / (of_truth @ weights)[:, None]
        weights = count @ explained / count.sum()
    return np.asarray(weights)


def square_weights(gram: Floats) -> Floats:
    """Weights with the smallest w·G w by trying all sets of members, each solved as if weights could be negative."""
    best = np.full(len(gram), 1.0 / len(gram))
    lowest = np.inf
    for size in range(1, len(gram) + 1):
        for chosen in combinations(range(len(gram)), size):
            part = gram[np.ix_(chosen, chosen)]
            raw = np.linalg.lstsq(part, np.ones(size), rcond=None)[0]
            weights = np.zeros(len(gram))
            weights[list(chosen)] = raw / raw.sum() if abs(raw.sum()) > 1e-300 else 1.0 / size
            value = float(weights @ gram @ weights)
            if (weights >= -1e-12).all() and value < lowest:
                best, lowest = weights, value
    return best


def descended_weights(value: Callable[[Floats], float], gradient: Callable[[Floats], Floats], members: int, steps: int = 5_000) -> Floats:
    """Weights with the smallest value of any smooth function, by steps down the gradient that are brought back to the simplex."""
    weights, step = np.full(members, 1.0 / members), 1.0
    for _ in range(steps):
        now, downhill = value(weights), gradient(weights)
        step *= 2.0
        while step > 1e-18:
            there = nearest_on_simplex(weights - step * downhill)
            if value(there) <= now + downhill @ (there - weights) + ((there - weights) ** 2).sum() / (2.0 * step):
                break
            step /= 2.0
        weights = there
    return weights


def nearest_on_simplex(point: Floats) -> Floats:
    """The nearest point whose coordinates are not negative and sum to one."""
    ordered = np.sort(point)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(point) + 1)
    return np.asarray(np.maximum(point - excess[ordered > excess][-1], 0.0))
