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

from woodwind.base.streams import key, uniform
from woodwind.ensemble.averaging import LEAST_SHARE

Floats = NDArray[np.float64]

# The share of its row that a part of the table has at the start; the rest is spread over all experts, so that none is shut out.
AT_START = 0.9
# An expert that has less than this share of all rows is not trained again.
STARVED = 1e-8


class Mixture(Protocol):
    """A gate and experts that can be trained on shares of rows."""

    def train(self, shares: Floats) -> None:
        """Maximisation: train gate and experts, row i belonging to expert k by shares[i, k]."""

    def log_joint(self) -> Floats:
        """For each row and expert (n, K) the log of gate x density."""

    def penalty(self) -> float:
        """What is taken from the log-likelihood to keep coefficients small."""


class Round(NamedTuple):
    """The state after a round."""

    log_likelihood: float  # less the penalty
    shares: Floats  # (n, K) responsibilities


def rounds(mixture: Mixture, shares: Floats, weight: Floats) -> Iterator[Round]:
    """Rounds of maximisation and expectation, without end."""
    while True:
        mixture.train(shares)
        likelihood, shares = expectation(mixture.log_joint(), weight)
        yield Round(likelihood - mixture.penalty(), shares)


def expectation(log_joint: Floats, weight: Floats) -> tuple[float, Floats]:
    """The log-likelihood, and how much of each row belongs to each expert: Jordan & Jacobs (1994), Eq. 4."""
    largest = log_joint.max(axis=1, keepdims=True)
    shares = np.exp(log_joint - largest)
    total = shares.sum(axis=1, keepdims=True)
    return float(weight @ (largest + np.log(total))[:, 0]), shares / total


@dataclass(frozen=True, eq=False)
class Course:
    """How the training went."""

    log_likelihood: Floats  # (rounds,)
    shares: Floats  # (n, K) at the end
    converged: bool

    @property
    def best(self) -> float:
        """The largest log-likelihood."""
        return float(self.log_likelihood.max())


def train(
    mixture: Mixture, shares: Floats, weight: Floats, max_iter: int, tol: float, keep: Callable[[], None] | None = None
) -> Course:
    """Rounds until the log-likelihood rises by no more than tol for a row. `keep` is called after each round that is the best so far."""
    course: list[float] = []
    least, best, converged = tol * float(weight.sum()), -np.inf, False
    for state in rounds(mixture, shares, weight):
        course.append(state.log_likelihood)
        if keep is not None and state.log_likelihood > best:
            keep()
        best = max(best, state.log_likelihood)
        shares = state.shares
        if len(course) > 1 and abs(course[-1] - course[-2]) <= least:
            converged = True
        if converged or len(course) >= max_iter:
            break
    return Course(np.array(course), shares, converged)


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
    places = np.searchsorted(reached, np.arange(1, n_slices) / n_slices - 1e-9)
    # Halfway to the next row, so that rounding does not decide on which side a row is.
    sorted_along = along[order]
    cuts = sorted_along[np.minimum(places, len(order) - 1)]
    gap = 1e-9 * max(float(np.ptp(along)), np.finfo(np.float64).tiny)
    return np.asarray((along[:, None] > cuts[None, :] + gap).sum(axis=1), np.int64)


def starting_shares(slices: NDArray[np.int64], n_experts: int) -> Floats:
    """Most of each row to the expert of its slice, and some to all."""
    shares = np.full((len(slices), n_experts), (1.0 - AT_START) / n_experts)
    shares[np.arange(len(slices)), slices] += AT_START
    return shares


def start(points: Floats, y: Floats, weight: Floats, n_experts: int, seed: int, number: int) -> Floats:
    """The shares that start number 0, 1, ... begins with: slices of the columns, and every second time of columns and target together."""
    with_target = number % 2 == 1
    seen = np.column_stack([points, y]) if with_target or points.shape[1] == 0 else points
    return starting_shares(sliced(seen, weight, n_experts, key(seed, "start", number)), n_experts)


# Densities.


def gaussian_log_density(y: Floats, numbers: Floats, variance: Floats) -> Floats:
    """The log density (n, K) of numbers about what experts say (n, K), with the error variance (K,) of each."""
    return np.asarray(-0.5 * (np.log(2.0 * np.pi * variance) + (y[:, None] - numbers) ** 2 / variance))


def error_variances(y: Floats, numbers: Floats, shares: Floats, weight: Floats, least: float) -> Floats:
    """The error variance (K,) of each expert on what belongs to it, not less than what is believed."""
    mass = weight[:, None] * shares
    total = np.maximum(mass.sum(axis=0), np.finfo(np.float64).tiny)
    return np.asarray(np.maximum((mass * (y[:, None] - numbers) ** 2).sum(axis=0) / total, least))


def categorical_log_density(y: NDArray[np.integer], shares: Floats) -> Floats:
    """The log-probability (n, K) of the classes that came true, by experts that say (n, K, classes)."""
    return np.asarray(np.log(np.maximum(np.take_along_axis(shares, y[:, None, None], axis=2)[:, :, 0], LEAST_SHARE)))


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
