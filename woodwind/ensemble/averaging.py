"""Bayesian model averaging: every model counts by how probable it is, given the rows.

J. A. Hoeting, D. Madigan, A. E. Raftery & C. T. Volinsky, "Bayesian model averaging: a tutorial", Statistical Science 14 (1999).
The page: docs/algorithms/bayesian-averaging.md.

Prediction matrices are rows first, members second, classes third. Weights of rows are repetitions: a row of weight two counts as two.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError

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


def gaussian_log_likelihood(truth: Floats, numbers: Floats, weight: Floats | None = None) -> tuple[Floats, Floats]:
    """The log-likelihood (m,) of numbers with normal errors, and the error variance (m,) that makes it largest, of each member.

    With the mean squared error v as variance, the sum of squares over v is n: what is left is -n/2 (log 2 pi v + 1).
    """
    truth, numbers = np.asarray(truth, np.float64), _matrix(numbers, "numbers", 2)
    _same_rows(truth, numbers)
    total, row_weight = _total(weight, len(truth))
    error = (row_weight @ (truth[:, None] - numbers) ** 2) / total
    variance = np.maximum(error, least_variance(truth, weight))
    return -0.5 * total * (np.log(2.0 * np.pi * variance) + error / variance), variance


def least_variance(truth: Floats, weight: Floats | None = None) -> float:
    """The smallest error variance that is believed of numbers such as these."""
    spread = _variance(truth, weight)
    return LEAST_VARIANCE * spread if spread > 0.0 else LEAST_VARIANCE


def categorical_log_likelihood(truth: NDArray[np.integer], shares: Floats, weight: Floats | None = None) -> Floats:
    """The log-likelihood (m,) of classes under the probabilities (n, m, K) of each member."""
    _, row_weight = _total(weight, len(truth))
    return np.asarray(row_weight @ np.log(np.maximum(shares_of_truth(truth, shares), LEAST_SHARE)))


def shares_of_truth(truth: NDArray[np.integer], shares: Floats) -> Floats:
    """The probability (n, m) that each member gives to the class that came true."""
    shares = _matrix(shares, "shares", 3)
    _same_rows(truth, shares)
    return np.asarray(np.take_along_axis(shares, np.asarray(truth, np.int64)[:, None, None], axis=2)[:, :, 0])


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


class Blend(NamedTuple):
    """A mean over models of numbers, and the variance around it."""

    mean: Floats  # (n,)
    within: Floats  # (n,) the mean error variance of the models
    between: Floats  # (n,) how far apart they are

    @property
    def variance(self) -> Floats:
        """Of a new number: the law of total variance."""
        return self.within + self.between


def blended(numbers: Floats, weights: Floats, noise: Floats) -> Blend:
    """The predictive mean and variance of numbers (n, m) from models of such weights (m,) and error variances (m,) or (n, m)."""
    numbers = _matrix(numbers, "numbers", 2)
    mean = numbers @ weights
    within = np.broadcast_to(np.asarray(noise, np.float64), numbers.shape) @ weights
    return Blend(mean, within, (numbers - mean[:, None]) ** 2 @ weights)


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
