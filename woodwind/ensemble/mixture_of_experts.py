"""Mixture of experts: rows belong to experts in parts, which a gate foresees; fitted by expectation and maximisation.

M. I. Jordan & R. A. Jacobs, "Hierarchical mixtures of experts and the EM algorithm", Neural Computation 6 (1994); S. E. Yuksel,
J. N. Wilson & P. D. Gader, "Twenty years of mixture of experts", IEEE Transactions on Neural Networks and Learning Systems 23 (2012).
The page: docs/algorithms/mixture-of-experts.md.

A row x has the density sum over k of gate_k(x) f_k(y | x). A round asks how much of each row belongs to each expert (expectation), and
trains experts and gate with these shares as weights (maximisation). Where both are trained exactly, the log-likelihood cannot fall.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from woodwind.base.random_streams import key, uniform
from woodwind.base.validate import require, require_array
from woodwind.ensemble.bayesian_averaging import LEAST_SHARE

Floats = NDArray[np.float64]

# The share of its row that a part of the table has at the start; the rest is spread over all experts, so that none is shut out.
AT_START = 0.9
# An expert that has less than this share of all rows is not trained again.
STARVED = 1e-8


class Mixture(Protocol):
    """A gate and experts that can be trained on shares of rows."""

    def train(self, responsibilities: Floats) -> None:
        """Maximisation: train gate and experts, row i belonging to expert k by shares[i, k]."""

    def log_joint(self) -> Floats:
        """For each row and expert (n, K) the log of gate x density."""

    def penalty(self) -> float:
        """What is taken from the log-likelihood to keep coefficients small."""


class MixtureRound(NamedTuple):
    """The state after a round."""

    log_likelihood: float  # less the penalty
    responsibilities: Floats  # (n, K) responsibilities


def rounds(mixture: Mixture, responsibilities: Floats, weight: Floats) -> Iterator[MixtureRound]:
    """Rounds of maximisation and expectation, without end."""
    while True:
        mixture.train(responsibilities)
        likelihood, responsibilities = expectation(mixture.log_joint(), weight)
        yield MixtureRound(likelihood - mixture.penalty(), responsibilities)


def expectation(log_joint: Floats, weight: Floats) -> tuple[float, Floats]:
    """The log-likelihood, and how much of each row belongs to each expert: Jordan & Jacobs (1994), Eq. 4."""
    largest = log_joint.max(axis=1, keepdims=True)
    responsibilities = np.exp(log_joint - largest)
    total = responsibilities.sum(axis=1, keepdims=True)
    return float(weight @ (largest + np.log(total))[:, 0]), responsibilities / total


@dataclass(frozen=True, eq=False)
class MixtureHistory:
    """How the training went."""

    log_likelihood: Floats  # (rounds,)
    responsibilities: Floats  # (n, K) at the end
    converged: bool

    @property
    def best(self) -> float:
        """The largest log-likelihood."""
        return float(self.log_likelihood.max())


def train(
    mixture: Mixture, responsibilities: Floats, weight: Floats, max_iter: int, tol: float, keep: Callable[[], None] | None = None
) -> MixtureHistory:
    """Rounds until the log-likelihood rises by no more than tol for a row. `keep` is called after each round that is the best so far."""
    course: list[float] = []
    least, best, converged = tol * float(weight.sum()), -np.inf, False
    for state in rounds(mixture, responsibilities, weight):
        course.append(state.log_likelihood)
        if keep is not None and state.log_likelihood > best:
            keep()
        best = max(best, state.log_likelihood)
        responsibilities = state.responsibilities
        if len(course) > 1 and abs(course[-1] - course[-2]) <= least:
            converged = True
        if converged or len(course) >= max_iter:
            break
    return MixtureHistory(np.array(course), responsibilities, converged)


# Where to begin.


def sliced(points: Floats, weight: Floats, n_slices: int, name: int) -> NDArray[np.int64]:
    """The table cut into slices of about equal weight along a direction that is drawn by key: the number of the slice of each row.

    What is drawn does not depend on the rows, so that a row of weight two is a row given twice.
    """
    if points.shape[1] == 0:
        return np.zeros(len(points), np.int64)
    direction = ndtri(np.clip(uniform(name, points.shape[1]), 1e-12, 1.0 - 1e-12))
    along = points @ (direction / np.linalg.norm(direction))
    order = np.argsort(along, kind="stable")
    reached = np.cumsum(weight[order]) / weight.sum()
    positions = np.searchsorted(reached, np.arange(1, n_slices) / n_slices - 1e-9)
    # Halfway to the next row, so that rounding does not decide on which side a row is.
    sorted_along = along[order]
    cuts = sorted_along[np.minimum(positions, len(order) - 1)]
    gap = 1e-9 * max(float(np.ptp(along)), np.finfo(np.float64).tiny)
    return np.asarray((along[:, None] > cuts[None, :] + gap).sum(axis=1), np.int64)


def starting_responsibilities(slices: NDArray[np.int64], n_experts: int) -> Floats:
    """Most of each row to the expert of its slice, and some to all."""
    responsibilities = np.full((len(slices), n_experts), (1.0 - AT_START) / n_experts)
    responsibilities[np.arange(len(slices)), slices] += AT_START
    return responsibilities


def start(points: Floats, y: Floats, weight: Floats, n_experts: int, seed: int, number: int) -> Floats:
    """The shares that start number 0, 1, ... begins with: slices of the columns, and every second time of columns and target together."""
    with_target = number % 2 == 1
    seen = np.column_stack([points, y]) if with_target or points.shape[1] == 0 else points
    return starting_responsibilities(sliced(seen, weight, n_experts, key(seed, "start", number)), n_experts)


# Densities.


def gaussian_log_density(y: Floats, numbers: Floats, variance: Floats) -> Floats:
    """The log density (n, K) of numbers about what experts predict (n, K), with the error variance (K,) of each."""
    return np.asarray(-0.5 * (np.log(2.0 * np.pi * variance) + (y[:, None] - numbers) ** 2 / variance))


def error_variances(y: Floats, numbers: Floats, responsibilities: Floats, weight: Floats, least: float) -> Floats:
    """The error variance (K,) of each expert on what belongs to it, not less than what is believed."""
    mass = weight[:, None] * responsibilities
    total = np.maximum(mass.sum(axis=0), np.finfo(np.float64).tiny)
    return np.asarray(np.maximum((mass * (y[:, None] - numbers) ** 2).sum(axis=0) / total, least))


def categorical_log_density(y: NDArray[np.integer], responsibilities: Floats) -> Floats:
    """The log-probability (n, K) of the classes that came true, by experts that say (n, K, classes)."""
    return np.asarray(np.log(np.maximum(np.take_along_axis(responsibilities, y[:, None, None], axis=2)[:, :, 0], LEAST_SHARE)))


# What a mixture of normal distributions says.


def mixture_moments(gate: Floats, numbers: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """The mean (n,) and the variance (n,) of a mixture with weights (n, K), means (n, K) and variances (K,)."""
    mean = (gate * numbers).sum(axis=1)
    return np.asarray(mean), np.asarray((gate * (variance + (numbers - mean[:, None]) ** 2)).sum(axis=1))


def mixture_quantiles(gate: Floats, numbers: Floats, variance: Floats, quantiles: Floats) -> Floats:
    """Quantiles (n, q) of such a mixture, by halving the interval between the smallest and the largest of its parts."""
    scale = np.sqrt(variance)
    of_parts = numbers[:, :, None] + scale[:, None] * ndtri(quantiles)
    low, high = of_parts.min(axis=1), of_parts.max(axis=1)
    if not np.isfinite(of_parts).all():  # quantiles 0 and 1 are infinite
        finite = np.isfinite(low) & np.isfinite(high)
        low, high = np.where(finite, low, 0.0), np.where(finite, high, 0.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = np.einsum("nk,nkq->nq", gate, ndtr((middle[:, None, :] - numbers[:, :, None]) / scale[:, None])) < quantiles
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    middle = 0.5 * (low + high)
    return np.where(quantiles <= 0.0, -np.inf, np.where(quantiles >= 1.0, np.inf, middle))


# ----------------------------------------------------------------------------------------------------
# The gate of a mixture of experts: which expert is to be asked of a row, by softmax regression on shares.
#
# R. A. Jacobs, M. I. Jordan, S. J. Nowlan & G. E. Hinton, "Adaptive mixtures of local experts", Neural Computation 3 (1991); M. I. Jordan &
# R. A. Jacobs, "Hierarchical mixtures of experts and the EM algorithm", Neural Computation 6 (1994): Newton's steps (IRLS) on
# responsibilities. The page: docs/algorithms/mixture-of-experts.md.
#
# All classes have coefficients, which are shrunk by a small ridge: so the result does not depend on how experts are numbered, and stays
# finite where a plane separates them.

# With more coefficients than this in all, a bound stands for the matrix of second derivatives (Böhning 1992).
MOST_FOR_NEWTON = 400
STEPS = 50
HALVINGS = 30


def log_softmax(scores: Floats) -> Floats:
    """The logarithms of probabilities (n, K) that are proportional to exp(score). SciPy's takes three times as long for few rows."""
    apart = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(apart - np.log(np.exp(apart).sum(axis=1, keepdims=True)))


class SoftmaxGate(NamedTuple):
    """Log-odds of K classes that are linear in p columns."""

    coef: Floats  # (K, p)
    intercept: Floats  # (K,) they add up to zero

    def check(self) -> "SoftmaxGate":
        """Shapes agree, and all numbers are finite; returns self, or raises DataError."""
        require_array(self.intercept, (None,), "the intercepts")
        require_array(self.coef, (self.intercept.size, None), "the coefficients")
        return self

    def log_probabilities(self, X: Floats) -> Floats:
        """The logarithms (n, K) of the probabilities."""
        return log_softmax(X @ self.coef.T + self.intercept)

    def penalty(self, ridge: float) -> float:
        """What the ridge takes from the log-likelihood."""
        return 0.5 * ridge * float(np.sum(self.coef**2))

    @property
    def n_experts(self) -> int:
        """Experts that it chooses among."""
        return len(self.intercept)

    @property
    def n_columns(self) -> int:
        """Columns that it reads."""
        return int(self.coef.shape[1])

    @property
    def n_parameters(self) -> int:
        """Free parameters: those of one expert follow from the others."""
        return (self.n_experts - 1) * (self.n_columns + 1)


@dataclass(frozen=True, eq=False)
class GateTree:
    """Gates in a tree: each foresees which of its branches is right, and the last ones which expert (Jordan & Jacobs 1994).

    Gates stand level by level, the root first; experts below one gate stand side by side. With one level it is a `SoftmaxGate`.
    """

    gates: tuple[SoftmaxGate, ...]
    branching: int  # branches of each gate
    depth: int  # levels of gates

    def check(self) -> "GateTree":
        """Gates are as many as the tree has, and alike; returns self, or raises DataError."""
        require(self.branching >= 1 and 1 <= self.depth <= MOST_LEVELS, "a tree of gates has no branches, or no levels")
        require(len(self.gates) == n_gates(self.branching, self.depth), "a tree of gates has other gates than its levels ask for")
        for gate in self.gates:
            gate.check()
            require(gate.n_experts == self.branching and gate.n_columns == self.n_columns, "gates of a tree are not alike")
        return self

    def log_probabilities(self, X: Floats) -> Floats:
        """The logarithms (n, K) of the probabilities of experts: the sums along the paths to them."""
        out, first = np.zeros((len(X), 1)), 0
        for level in range(self.depth):
            many = self.branching**level
            own = np.concatenate([gate.log_probabilities(X) for gate in self.gates[first : first + many]], axis=1)
            out, first = np.repeat(out, self.branching, axis=1) + own, first + many
        return out

    def penalty(self, ridge: float) -> float:
        """What the ridge takes from the log-likelihood."""
        return sum(gate.penalty(ridge) for gate in self.gates)

    @property
    def n_experts(self) -> int:
        """Experts that it chooses among."""
        return int(self.branching**self.depth)

    @property
    def n_columns(self) -> int:
        """Columns that its gates read."""
        return self.gates[0].n_columns

    @property
    def n_parameters(self) -> int:
        """Free parameters of all gates."""
        return sum(gate.n_parameters for gate in self.gates)


LinearGate = SoftmaxGate | GateTree
# A tree of more levels would have more gates than anybody waits for.
MOST_LEVELS = 16


def n_gates(branching: int, depth: int) -> int:
    """Gates of a tree of so many levels."""
    return sum(int(branching**level) for level in range(depth))


def fit_gate_tree(
    X: Floats, responsibilities: Floats, weight: Floats, ridge: float, branching: int, depth: int, start: GateTree | None = None
) -> GateTree:
    """The gates of a tree from the shares of experts (n, K): each learns how the rows that reach it are shared among its branches.

    Jordan & Jacobs (1994): a row weighs what of it belongs to all experts below the gate.
    """
    gates: list[SoftmaxGate] = []
    for level in range(depth):
        # Shares of the branches of this level, gate by gate.
        branches = responsibilities.reshape(len(X), branching ** (level + 1), -1).sum(axis=2)
        for number in range(branching**level):
            own = branches[:, number * branching : (number + 1) * branching]
            reached = own.sum(axis=1)
            before = None if start is None else start.gates[len(gates)]
            if before is not None and weight @ reached < STARVED * weight.sum():
                gates.append(before)  # nobody comes here
                continue
            shares = own / np.maximum(reached, np.finfo(np.float64).tiny)[:, None]
            gates.append(fit_softmax(X, shares, weight * reached, ridge, before))
    return GateTree(tuple(gates), branching, depth)


def fit_softmax(
    X: Floats, responsibilities: Floats, weight: Floats, ridge: float, start: SoftmaxGate | None = None, tol: float = 1e-10
) -> SoftmaxGate:
    """The softmax regression of shares (n, K) on columns (n, p), rows weighing (n,).

    It makes the sum of w r log p largest, less ridge / 2 times the squared coefficients. Newton's steps, each halved until that does not
    fall; done when it rises by less than tol of the weight of the rows.
    """
    n_classes = responsibilities.shape[1]
    if X.shape[1] == 0 or n_classes == 1:
        return _constant(responsibilities, weight, X.shape[1])
    design = np.column_stack([np.ones(len(X)), X])
    theta = np.zeros((n_classes, design.shape[1])) if start is None else np.column_stack([start.intercept, start.coef])
    shrink = np.full(design.shape[1], ridge)
    shrink[0] = 0.0
    target = responsibilities * weight[:, None]
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
    return SoftmaxGate(theta[:, 1:].copy(), theta[:, 0].copy())


def _constant(responsibilities: Floats, weight: Floats, n_columns: int) -> SoftmaxGate:
    """Without columns, the probabilities are the mean shares."""
    mean = np.maximum(weight @ responsibilities / weight.sum(), np.finfo(np.float64).tiny)
    logs = np.log(mean)
    return SoftmaxGate(np.zeros((len(mean), n_columns)), logs - logs.mean())


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
