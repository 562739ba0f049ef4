"""Bayesian model combination: a posterior over weighted combinations of members, not over the members.

K. Monteith, J. L. Carroll, K. Seppi & T. Martinez, "Turning Bayesian model averaging into Bayesian model combination", IJCNN (2011).
The page: docs/algorithms/bayesian-combination.md.

Averaging supposes that one member is the truth, and finds out which. Here each draw of weights from a Dirichlet distribution is a model,
and draws count by how likely the rows are under them. Draws come in rounds: the first from the prior, each later one from a Dirichlet
distribution that is fitted to what the draws so far say. What counts of a draw is likelihood x prior / density of being drawn (importance
sampling with the mixture of all rounds as density), so that the result is the posterior itself, wherever the rounds have looked.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, gammaln, logsumexp

from woodwind.base.streams import key, uniform
from woodwind.ensemble.averaging import LEAST_SHARE, least_variance, posterior

Floats = NDArray[np.float64]
Likelihood = Callable[[Floats], Floats]  # weights (s, m) -> log-likelihoods (s,)

# Rows that are combined at a time, so that the table of rows by draws stays in the cache.
BLOCK = 4096
# A round is followed by one that is drawn from where at least this share of its draws would count.
ALIVE = 0.2
# No member is given up while there are rounds: the least parameter of a Dirichlet distribution that is drawn from.
LEAST_ALPHA = 0.02


class Combinations(NamedTuple):
    """Draws of weights and what each of them counts."""

    weights: Floats  # (s, m) each row adds up to one
    log_likelihood: Floats  # (s,)
    probability: Floats  # (s,) of each draw, given the rows

    @property
    def mean(self) -> Floats:
        """The posterior mean (m,) of the weights. Combinations are linear, so that these are the weights of the combination of all."""
        return np.asarray(self.probability @ self.weights)

    @property
    def effective_draws(self) -> float:
        """So many draws of equal probability would be as good."""
        return float(1.0 / np.sum(self.probability**2))


def dirichlet(name: int, count: int, alpha: Floats) -> Floats:
    """Draws (count, m) from a Dirichlet distribution, by key.

    A gamma variable of shape a is one of shape a + 1 times u^(1/a): as logarithms, nothing underflows for small a.
    """
    alpha = np.asarray(alpha, np.float64)
    size = count * len(alpha)
    large = uniform(key(name, "gamma"), size).reshape(count, -1)
    small = uniform(key(name, "power"), size).reshape(count, -1)
    tiny = np.finfo(np.float64).tiny
    logs = np.log(np.maximum(gammaincinv(alpha + 1.0, large), tiny)) + np.log(np.maximum(small, tiny)) / alpha
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def log_dirichlet(weights: Floats, alpha: Floats) -> Floats:
    """The log density (s,) of weights (s, m)."""
    alpha = np.asarray(alpha, np.float64)
    logs = np.log(np.maximum(weights, np.finfo(np.float64).tiny))
    return np.asarray(logs @ (alpha - 1.0) + gammaln(alpha.sum()) - gammaln(alpha).sum())


def combined(likelihood: Likelihood, members: int, draws: int, rounds: int, concentration: float, seed: int) -> Combinations:
    """The posterior over combinations: `draws` in so many rounds, the prior being a symmetric Dirichlet distribution."""
    if members == 1:
        alone = np.ones((1, 1))
        return Combinations(alone, likelihood(alone), np.ones(1))
    prior = np.full(members, concentration)
    each = max(draws // rounds, 2)
    drawn_from, weights, logs = [prior], np.zeros((0, members)), np.zeros(0)
    for number in range(rounds):
        new = dirichlet(key(seed, "round", number), each, drawn_from[-1])
        weights, logs = np.concatenate([weights, new]), np.concatenate([logs, likelihood(new)])
        offset = log_dirichlet(weights, prior) - _log_mixture(weights, drawn_from)
        if number + 1 < rounds:
            drawn_from.append(_fitted(weights, _tempered(logs, offset, ALIVE * each)))
    return Combinations(weights, logs, posterior(logs + offset))


def _log_mixture(weights: Floats, drawn_from: list[Floats]) -> Floats:
    """The log density of all rounds together, each of as many draws."""
    return np.asarray(logsumexp([log_dirichlet(weights, alpha) for alpha in drawn_from], axis=0) - np.log(len(drawn_from)))


def _tempered(logs: Floats, offset: Floats, wanted: float) -> Floats:
    """Probabilities of draws under the largest power of the likelihood, at most the first, under which enough of them count."""
    low, high = 0.0, 1.0
    probability = posterior(logs + offset)
    if 1.0 / np.sum(probability**2) >= wanted:
        return probability
    for _ in range(40):
        power = 0.5 * (low + high)
        probability = posterior(power * logs + offset)
        low, high = (power, high) if 1.0 / np.sum(probability**2) >= wanted else (low, power)
    return posterior(low * logs + offset)


def _fitted(weights: Floats, probability: Floats) -> Floats:
    """The Dirichlet distribution with the mean and, over all members, the variance of such draws."""
    mean = probability @ weights
    variance = probability @ (weights - mean) ** 2
    strength = max(float((mean * (1.0 - mean)).sum() / max(variance.sum(), 1e-12)) - 1.0, 1.0)
    return np.maximum(strength * mean, LEAST_ALPHA)


# How likely the rows are under combinations.


def categorical_likelihood(of_truth: Floats, weight: Floats | None = None) -> Likelihood:
    """Of classes, where members give such probabilities (n, m) to what came true."""

    def log_likelihood(weights: Floats) -> Floats:
        total = np.zeros(len(weights))
        for begin in range(0, len(of_truth), BLOCK):
            logs = np.log(np.maximum(of_truth[begin : begin + BLOCK] @ weights.T, LEAST_SHARE))
            total += logs.sum(axis=0) if weight is None else weight[begin : begin + BLOCK] @ logs
        return total

    return log_likelihood


def gaussian_likelihood(truth: Floats, numbers: Floats, weight: Floats | None = None) -> tuple[Likelihood, Callable[[Floats], Floats]]:
    """Of numbers with normal errors of the variance that fits best, where members say (n, m); and that variance of combinations.

    Weights add up to one, so that the error of a combination is the combination of errors, and its mean square a quadratic form
    in their second moments: rows are looked at once, not for every draw.
    """
    error = truth[:, None] - numbers
    row_weight = np.ones(len(truth)) if weight is None else weight
    total = float(row_weight.sum())
    moments = (error * row_weight[:, None]).T @ error / total
    least = least_variance(truth, weight)

    def variance(weights: Floats) -> Floats:
        return np.asarray(np.maximum(np.einsum("sm,mk,sk->s", weights, moments, weights), least))

    def log_likelihood(weights: Floats) -> Floats:
        return -0.5 * total * (np.log(2.0 * np.pi * variance(weights)) + 1.0)

    return log_likelihood, variance
