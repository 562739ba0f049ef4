"""Slow twin of `kernels/tree/linear.py`: the normal equations of a leaf with its constant, by a general solver."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def ridge_leaf(x: Floats, gradient: Floats, hessian: Floats, spread: Floats, l2: float) -> tuple[float, Floats]:
    """Constant c and coefficients w of the least sum of g f + h f**2 / 2, f = c + w.x, plus penalties of w and the value at the mean."""
    mean = (hessian[:, None] * x).sum(axis=0) / hessian.sum()
    u, middle = np.column_stack([x, np.ones(len(x))]), np.append(mean, 1.0)
    A = (u * hessian[:, None]).T @ u + np.diag(np.append(spread, 0.0)) + l2 * np.outer(middle, middle)
    found = np.linalg.solve(A, -(u * gradient[:, None]).sum(axis=0))
    return float(found[-1]), found[:-1]
