"""Bayesian averaging over subsets of columns, one least-squares fit after another: the slow twin of ensemble/subsets.py."""

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def naive_subsets(X: Floats, y: Floats, g: float | None = None) -> dict[str, Any]:
    """Inclusion probabilities, and coefficients with standard deviations, over all subsets of equal prior; by BIC, or under a g prior."""
    n, p = X.shape
    total = float(((y - y.mean()) ** 2).sum())
    found = []
    for chosen in itertools.chain.from_iterable(itertools.combinations(range(p), k) for k in range(p + 1)):
        k = len(chosen)
        design = np.column_stack([np.ones(n), X[:, list(chosen)] - X[:, list(chosen)].mean(axis=0)])
        beta = np.linalg.lstsq(design, y, rcond=None)[0]
        rss = float(((y - design @ beta) ** 2).sum())
        cover = np.linalg.inv(design.T @ design)
        if g is None:
            evidence = -0.5 * (n * math.log(rss / n) + k * math.log(n))
            shrunk, variance = 1.0, rss / (n - k - 1)
        else:
            evidence = 0.5 * (n - 1 - k) * math.log(1 + g) - 0.5 * (n - 1) * math.log(1 + g * rss / total)
            shrunk, variance = g / (1 + g), (rss + (total - rss) / (1 + g)) / (n - 3)
        coef, spread = np.zeros(p), np.zeros(p)
        coef[list(chosen)] = shrunk * beta[1:]
        spread[list(chosen)] = shrunk * variance * np.diag(cover)[1:]
        found.append((evidence, np.isin(np.arange(p), chosen), coef, spread))
    best = max(evidence for evidence, *_ in found)
    weight = np.array([math.exp(evidence - best) for evidence, *_ in found])
    weight /= weight.sum()
    coefs = np.array([coef for *_, coef, _ in found])
    mean = weight @ coefs
    variance_of = weight @ (np.array([spread for *_, spread in found]) + (coefs - mean) ** 2)
    return {"inclusion": weight @ np.array([included for _, included, *_ in found]), "coef": mean, "std": np.sqrt(variance_of)}
