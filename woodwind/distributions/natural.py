"""The natural gradient: the gradient of a score by the metric that belongs to it (Amari 1998; Duan et al. 2020, section 3.2)."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The share of the trace that the smallest eigenvalue of a metric is held to: where a parameter says nothing, its step would be infinite.
LEAST_SHARE = 1e-8


def natural_gradient(gradient: Floats, metric: Floats) -> Floats:
    """The solution of metric * x = gradient for every row: (n, K) of (n, K) and (n, K, K), or (n, K) for a diagonal metric."""
    if metric.ndim == 2:
        return gradient / metric
    if gradient.shape[1] == 2:
        a, b, c = metric[:, 0, 0], metric[:, 0, 1], metric[:, 1, 1]
        determinant = np.maximum(a * c - b * b, LEAST_SHARE * a * c)
        first = (c * gradient[:, 0] - b * gradient[:, 1]) / determinant
        second = (a * gradient[:, 1] - b * gradient[:, 0]) / determinant
        return np.stack([first, second], axis=1)
    size = np.sqrt(np.einsum("nkk->nk", metric))
    scaled = metric / (size[:, :, None] * size[:, None, :])
    scaled = scaled + LEAST_SHARE * np.eye(metric.shape[1])
    return np.asarray(np.linalg.solve(scaled, (gradient / size)[:, :, None])[:, :, 0] / size)


def diagonal(metric: Floats) -> Floats:
    """The diagonal of a metric, (n, K)."""
    return metric if metric.ndim == 2 else np.einsum("nkk->nk", metric)
