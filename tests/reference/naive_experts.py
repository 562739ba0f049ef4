"""A mixture of linear regressions with fixed shares, row by row: the slow twin of ensemble/mixture_of_experts.py."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def naive_mixture(
    x: Floats, y: Floats, responsibilities: Floats, n_rounds: int
) -> tuple[list[float], list[tuple[float, float, float, float]]]:
    """The log-likelihood after each round, and (share, intercept, slope, standard deviation) of each line at the end."""
    n, lines = len(x), responsibilities.shape[1]
    course: list[float] = []
    found: list[tuple[float, float, float, float]] = []
    for _ in range(n_rounds):
        found = []
        for k in range(lines):
            total = sum(responsibilities[i, k] for i in range(n))
            mean_x = sum(responsibilities[i, k] * x[i] for i in range(n)) / total
            mean_y = sum(responsibilities[i, k] * y[i] for i in range(n)) / total
            sxx = sum(responsibilities[i, k] * (x[i] - mean_x) ** 2 for i in range(n))
            sxy = sum(responsibilities[i, k] * (x[i] - mean_x) * (y[i] - mean_y) for i in range(n))
            slope = sxy / sxx
            intercept = mean_y - slope * mean_x
            error = sum(responsibilities[i, k] * (y[i] - intercept - slope * x[i]) ** 2 for i in range(n)) / total
            found.append((total / n, intercept, slope, math.sqrt(error)))
        responsibilities = np.zeros((n, lines))
        likelihood = 0.0
        for i in range(n):
            for k, (share, intercept, slope, deviation) in enumerate(found):
                z = (y[i] - intercept - slope * x[i]) / deviation
                responsibilities[i, k] = share * math.exp(-0.5 * z * z) / (deviation * math.sqrt(2.0 * math.pi))
            density = responsibilities[i].sum()
            responsibilities[i] /= density
            likelihood += math.log(density)
        course.append(likelihood)
    return course, found
