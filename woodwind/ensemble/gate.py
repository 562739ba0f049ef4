"""The gate of a mixture of experts: which expert is to be asked of a row, by softmax regression on shares.

R. A. Jacobs, M. I. Jordan, S. J. Nowlan & G. E. Hinton, "Adaptive mixtures of local experts", Neural Computation 3 (1991); M. I. Jordan &
R. A. Jacobs, "Hierarchical mixtures of experts and the EM algorithm", Neural Computation 6 (1994): Newton's steps (IRLS) on
responsibilities. The page: docs/algorithms/mixture-of-experts.md.

All classes have coefficients, which are shrunk by a small ridge: so the result does not depend on how experts are numbered, and stays
finite where a plane separates them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.sound import sound_array

Floats = NDArray[np.float64]

# With more coefficients than this in all, a bound stands for the matrix of second derivatives (Böhning 1992).
MOST_FOR_NEWTON = 400
STEPS = 50
HALVINGS = 30


def log_softmax(scores: Floats) -> Floats:
    """The logarithms of probabilities (n, K) that are proportional to exp(score). SciPy's takes three times as long for few rows."""
    apart = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(apart - np.log(np.exp(apart).sum(axis=1, keepdims=True)))


class Softmax(NamedTuple):
    """Log-odds of K classes that are linear in p columns."""

    coef: Floats  # (K, p)
    intercept: Floats  # (K,) they add up to zero

    def check(self) -> "Softmax":
        """Shapes agree, and all numbers are finite; gives itself, or raises DataError."""
        sound_array(self.intercept, (None,), "the intercepts")
        sound_array(self.coef, (self.intercept.size, None), "the coefficients")
        return self

    def log_shares(self, X: Floats) -> Floats:
        """The logarithms (n, K) of the probabilities."""
        return log_softmax(X @ self.coef.T + self.intercept)

    def penalty(self, ridge: float) -> float:
        """What the ridge takes from the log-likelihood."""
        return 0.5 * ridge * float(np.sum(self.coef**2))


def fit_softmax(
    X: Floats, shares: Floats, weight: Floats, ridge: float, start: Softmax | None = None, tol: float = 1e-10
) -> Softmax:
    """The softmax regression of shares (n, K) on columns (n, p), rows weighing (n,).

    It makes the sum of w r log p largest, less ridge / 2 times the squared coefficients. Newton's steps, each halved until that does not
    fall; done when it rises by less than tol of the weight of the rows.
    """
    n_classes = shares.shape[1]
    if X.shape[1] == 0 or n_classes == 1:
        return _constant(shares, weight, X.shape[1])
    design = np.column_stack([np.ones(len(X)), X])
    theta = np.zeros((n_classes, design.shape[1])) if start is None else np.column_stack([start.intercept, start.coef])
    shrink = np.full(design.shape[1], ridge)
    shrink[0] = 0.0
    target = shares * weight[:, None]
    least = tol * float(weight.sum())
    bound = _bound(design, weight, shrink) if theta.size > MOST_FOR_NEWTON else None
    logs, value = _objective(design, theta, target, shrink)
    for _ in range(STEPS):
        probability = np.exp(logs)
        slope = (target - target.sum(axis=1, keepdims=True) * probability).T @ design - shrink * theta
        step = _newton(design, probability, target.sum(axis=1), shrink, slope) if bound is None else slope @ bound
        before = value
        for _ in range(HALVINGS):
            logs, value = _objective(design, theta + step, target, shrink)
            if value >= before:
                break
            step = 0.5 * step
        else:
            break
        theta = theta + step
        if value - before <= least:
            break
    theta[:, 0] -= theta[:, 0].mean()
    return Softmax(theta[:, 1:].copy(), theta[:, 0].copy())


def _constant(shares: Floats, weight: Floats, n_columns: int) -> Softmax:
    """Without columns, the probabilities are the mean shares."""
    mean = np.maximum(weight @ shares / weight.sum(), np.finfo(np.float64).tiny)
    logs = np.log(mean)
    return Softmax(np.zeros((len(mean), n_columns)), logs - logs.mean())


def _objective(design: Floats, theta: Floats, target: Floats, shrink: Floats) -> tuple[Floats, float]:
    """The log-probabilities, and the penalised log-likelihood."""
    logs = log_softmax(design @ theta.T)
    return logs, float(np.sum(target * logs) - 0.5 * np.sum(shrink * theta**2))


def _newton(design: Floats, probability: Floats, weight: Floats, shrink: Floats, slope: Floats) -> Floats:
    """Newton's step: the slope over the second derivatives, block (k, l) being X' diag(w p_k (1[k = l] - p_l)) X."""
    n_classes, width = slope.shape
    hessian = np.zeros((n_classes, width, n_classes, width))
    for k in range(n_classes):
        for other in range(k, n_classes):
            curve = weight * probability[:, k] * (float(k == other) - probability[:, other])
            hessian[k, :, other] = (design * curve[:, None]).T @ design
            hessian[other, :, k] = hessian[k, :, other].T
    flat = hessian.reshape(n_classes * width, n_classes * width)
    # Adding the same to all intercepts changes nothing; a little on the diagonal makes the equations solvable, and the step no worse.
    flat[np.diag_indices_from(flat)] += np.tile(shrink, n_classes) + 1e-9 * float(weight.sum()) / len(flat)
    return np.asarray(np.linalg.solve(flat, slope.reshape(-1)).reshape(n_classes, width))


def _bound(design: Floats, weight: Floats, shrink: Floats) -> Floats:
    """The inverse of X' diag(w) X / 2, which is not less than any block of the second derivatives can be: steps by it never fall."""
    matrix = 0.5 * (design * weight[:, None]).T @ design
    matrix[np.diag_indices_from(matrix)] += shrink + 1e-9 * float(weight.sum()) / len(matrix)
    return np.asarray(np.linalg.inv(matrix))
