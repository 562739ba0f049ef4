"""Bayesian model averaging: every model counts by how probable it is, given the rows.

J. A. Hoeting, D. Madigan, A. E. Raftery & C. T. Volinsky, "Bayesian model averaging: a tutorial", Statistical Science 14 (1999).
The page: docs/algorithms/bayesian-averaging.md.

Prediction matrices are rows first, members second, classes third. Weights of rows are repetitions: a row of weight two counts as two.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, gammaln, logsumexp

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import key, uniform

Floats = NDArray[np.float64]
Criterion = Literal["bic", "aic", "aicc"]

# A probability of zero for what came true would rule a model out for ever: the smallest step of a double is what is left of it.
LEAST_SHARE = float(np.finfo(np.float64).eps)
# A model without any error would be infinitely likely: this share of the variance of the target is the least that is believed.
LEAST_VARIANCE = 1e-12


def as_counts(weight: Floats | None) -> Floats | None:
    """Weights of rows as numbers of rows.

    Whole ones are that. Others say what rows count beside each other, and are scaled to add up to how many rows there are.
    """
    if weight is None or (weight == np.floor(weight)).all():
        return weight
    return np.asarray(weight * (np.count_nonzero(weight) / weight.sum()))


# How likely the rows are under each model.


def gaussian_log_likelihood(truth: Floats, predictions: Floats, weight: Floats | None = None) -> tuple[Floats, Floats]:
    """The log-likelihood (m,) of numbers with normal errors, and the error variance (m,) that makes it largest, of each member.

    With the mean squared error v as variance, the sum of squares over v is n: what is left is -n/2 (log 2 pi v + 1).
    """
    truth, predictions = np.asarray(truth, np.float64), _matrix(predictions, "numbers", 2)
    _same_rows(truth, predictions)
    total, row_weight = _total(weight, len(truth))
    error = (row_weight @ (truth[:, None] - predictions) ** 2) / total
    variance = np.maximum(error, least_variance(truth, weight))
    return -0.5 * total * (np.log(2.0 * np.pi * variance) + error / variance), variance


def least_variance(truth: Floats, weight: Floats | None = None) -> float:
    """The smallest error variance that is believed of numbers such as these."""
    spread = _variance(truth, weight)
    return LEAST_VARIANCE * spread if spread > 0.0 else LEAST_VARIANCE


def categorical_log_likelihood(truth: NDArray[np.integer], probabilities: Floats, weight: Floats | None = None) -> Floats:
    """The log-likelihood (m,) of classes under the probabilities (n, m, K) of each member."""
    _, row_weight = _total(weight, len(truth))
    return np.asarray(row_weight @ np.log(np.maximum(probabilities_of_truth(truth, probabilities), LEAST_SHARE)))


def probabilities_of_truth(truth: NDArray[np.integer], probabilities: Floats) -> Floats:
    """The probability (n, m) that each member gives to the class that came true."""
    probabilities = _matrix(probabilities, "probabilities", 3)
    _same_rows(truth, probabilities)
    return np.asarray(np.take_along_axis(probabilities, np.asarray(truth, np.int64)[:, None, None], axis=2)[:, :, 0])


# From likelihoods to weights.


def information_criterion(log_likelihood: Floats, parameters: Floats, n_rows: float, kind: Criterion = "bic") -> Floats:
    """BIC (Schwarz 1978), AIC (Akaike 1973) or AICc (Hurvich & Tsai 1989) of models with so many free parameters: small is good."""
    deviance = -2.0 * np.asarray(log_likelihood, np.float64)
    parameters = np.asarray(parameters, np.float64)
    if kind == "bic":
        return np.asarray(deviance + parameters * np.log(n_rows))
    if kind == "aic":
        return np.asarray(deviance + 2.0 * parameters)
    if kind != "aicc":
        raise ParameterError(f"A criterion is 'bic', 'aic' or 'aicc', not {kind!r}.")
    left = n_rows - parameters - 1.0
    with np.errstate(divide="ignore"):
        return np.where(left > 0.0, deviance + 2.0 * parameters * n_rows / np.where(left > 0.0, left, 1.0), np.inf)


def posterior(log_evidence: Floats, prior: Floats | None = None) -> Floats:
    """Probabilities (m,) proportional to prior x exp(log evidence). Only differences count, so that nothing under- or overflows."""
    logs = np.array(log_evidence, np.float64)
    if prior is not None:
        with np.errstate(divide="ignore"):
            logs += np.log(np.asarray(prior, np.float64))
    largest = logs.max(initial=-np.inf)
    if np.isnan(logs).any() or not np.isfinite(largest):
        raise DataError(
            "No model can be weighed: the evidence of all is nil, or not a number, where the prior allows them. Look at what they predict."
        )
    weights = np.exp(logs - largest)
    return np.asarray(weights / weights.sum())


def criterion_weights(criterion: Floats, prior: Floats | None = None) -> Floats:
    """Weights (m,) proportional to prior x exp(-criterion / 2): the criterion is minus twice an approximate log evidence."""
    return posterior(-0.5 * np.asarray(criterion, np.float64), prior)


# What models say together.


class AveragedModel(NamedTuple):
    """A mean over regression models, and the variance around it."""

    mean: Floats  # (n,)
    within: Floats  # (n,) the mean error variance of the models
    between: Floats  # (n,) how far apart they are

    @property
    def variance(self) -> Floats:
        """Of a new number: the law of total variance."""
        return self.within + self.between


def blended(predictions: Floats, weights: Floats, noise: Floats) -> AveragedModel:
    """The predictive mean and variance of numbers (n, m) from models of such weights (m,) and error variances (m,) or (n, m)."""
    predictions = _matrix(predictions, "numbers", 2)
    mean = predictions @ weights
    within = np.broadcast_to(np.asarray(noise, np.float64), predictions.shape) @ weights
    return AveragedModel(mean, within, (predictions - mean[:, None]) ** 2 @ weights)


def _total(weight: Floats | None, n_rows: int) -> tuple[float, Floats]:
    if weight is None:
        return float(n_rows), np.ones(n_rows)
    if len(weight) != n_rows:
        raise DataError(f"There are {len(weight)} weights for {n_rows} rows.")
    return float(np.sum(weight)), np.asarray(weight, np.float64)


def _variance(values: Floats, weight: Floats | None) -> float:
    total, row_weight = _total(weight, len(values))
    return float(row_weight @ (values - row_weight @ values / total) ** 2 / total)


def _matrix(values: Floats, name: str, dimensions: int) -> Floats:
    array = np.asarray(values, np.float64)
    if array.ndim != dimensions:
        shape = "(rows, members)" if dimensions == 2 else "(rows, members, classes)"
        raise DataError(f"{name} must have the shape {shape}, and this has the shape {array.shape}.")
    return array


def _same_rows(truth: NDArray, matrix: Floats) -> None:
    if len(truth) != len(matrix):
        raise DataError(f"The truth has {len(truth)} rows, and the predictions have {len(matrix)}.")


# ----------------------------------------------------------------------------------------------------
# Bayesian model combination: a posterior over weighted combinations of members, not over the members.
#
# K. Monteith, J. L. Carroll, K. Seppi & T. Martinez, "Turning Bayesian model averaging into Bayesian model combination", IJCNN (2011). The
# page: docs/algorithms/bayesian-combination.md.
#
# Averaging supposes that one member is the truth, and finds out which. Here each draw of weights from a Dirichlet distribution is a model,
# and draws count by how likely the rows are under them. Draws come in rounds: the first from the prior, each later one from a Dirichlet
# distribution that is fitted to what the draws so far say. What counts of a draw is likelihood x prior / density of being drawn (importance
# sampling with the mixture of all rounds as density), so that the result is the posterior itself, wherever the rounds have looked.


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


def gaussian_likelihood(truth: Floats, predictions: Floats, weight: Floats | None = None) -> tuple[Likelihood, Callable[[Floats], Floats]]:
    """Of numbers with normal errors of the variance that fits best, where members say (n, m); and that variance of combinations.

    Weights add up to one, so that the error of a combination is the combination of errors, and its mean square a quadratic form
    in their second moments: rows are looked at once, not for every draw.
    """
    error = truth[:, None] - predictions
    row_weight = np.ones(len(truth)) if weight is None else weight
    total = float(row_weight.sum())
    moments = (error * row_weight[:, None]).T @ error / total
    least = least_variance(truth, weight)

    def variance(weights: Floats) -> Floats:
        return np.asarray(np.maximum(np.einsum("sm,mk,sk->s", weights, moments, weights), least))

    def log_likelihood(weights: Floats) -> Floats:
        return -0.5 * total * (np.log(2.0 * np.pi * variance(weights)) + 1.0)

    return log_likelihood, variance
