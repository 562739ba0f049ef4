"""Weights of members: from how good each is alone, or such that all together lose least.

Rows that members are scored by must be rows that they have not been trained on: out of fold, or new. Arrays are (rows, members, classes),
as in `ensemble/combine.py`. Weights are not negative and sum to one. The page is docs/algorithms/voting.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.ensemble.combine import LEAST_SHARE, read_predictions, read_probabilities
from woodwind.ensemble.simplex import Integers, Optimum, quadratic_on_simplex, smallest_on_simplex
from woodwind.losses.base import Loss
from woodwind.losses.classification import Multinomial
from woodwind.losses.regression import Absolute, Quantile

Floats = NDArray[np.float64]

# Losses with a kink are made smooth on ever smaller stretches about it, each this share of the one before.
SHRINKING = 0.2
# Rows times members times classes that are multiplied together: blocks of 64 MB.
BLOCK = 1 << 23


# From how good each is alone.


def accuracy_weights(hits: NDArray[np.bool_], n_classes: int, weight: Floats | None = None) -> Floats:
    """Weights by log odds: log((K - 1) p / (1 - p)) for a member that is right with the probability p, and zero for one that guesses worse.

    Of members that err independently of each other this is the best vote there is (Nitzan & Paroush 1982; for K classes Zhu et al. 2009).
    Half a row is added to the right and to the wrong ones, so that p is never 0 or 1.
    """
    counts = _row_weights(weight, len(hits), sum_to_one=False)
    right, total = counts @ np.asarray(hits, np.float64), counts.sum()
    odds = np.log((max(n_classes, 2) - 1) * (right + 0.5) / (total - right + 0.5))
    return _normalised(np.maximum(odds, 0.0))


def precision_weights(predictions: NDArray[Any], truth: NDArray[Any], weight: Floats | None = None) -> Floats:
    """Weights by one over the mean squared error: the best mean of members that err independently (Bates & Granger 1969)."""
    predictions = read_predictions(predictions)
    errors = _row_weights(weight, len(predictions)) @ (predictions - np.asarray(truth, np.float64)[:, None]) ** 2
    perfect = errors == 0.0
    return _normalised(perfect.astype(np.float64) if perfect.any() else errors.min() / errors)


def _normalised(weights: Floats) -> Floats:
    total = weights.sum()
    return np.asarray(weights / total) if total > 0.0 else np.full(len(weights), 1.0 / len(weights))


# Such that all together lose least.


def log_loss_weights(probabilities: NDArray[Any], truth: NDArray[Any], weight: Floats | None = None) -> Optimum:
    """Weights with the smallest log loss of the mean of the probabilities; truth are numbers of classes (n,)."""
    probabilities = read_probabilities(probabilities)
    of_truth = probabilities[np.arange(len(probabilities)), :, np.asarray(truth, np.int64)]
    return smallest_on_simplex(LogOfMean.of(of_truth, _row_weights(weight, len(probabilities))))


def brier_weights(probabilities: NDArray[Any], truth: NDArray[Any], weight: Floats | None = None) -> Optimum:
    """Weights with the smallest squared error of the mean of the probabilities, or of shares of votes, from the truth."""
    probabilities = read_probabilities(probabilities)
    truth = np.asarray(truth, np.int64)
    count = _row_weights(weight, len(probabilities))
    gram = np.zeros((probabilities.shape[1], probabilities.shape[1]))
    for position in range(probabilities.shape[2]):
        gram += _products(probabilities[:, :, position], (truth == position).astype(np.float64), count)
    return _smallest_square(gram)


def squared_weights(predictions: NDArray[Any], truth: NDArray[Any], weight: Floats | None = None) -> Optimum:
    """Weights with the smallest squared error of the mean of the numbers."""
    predictions = read_predictions(predictions)
    return _smallest_square(_products(predictions, np.asarray(truth, np.float64), _row_weights(weight, len(predictions))))


def loss_weights(raw: NDArray[Any], truth: NDArray[Any], loss: Loss, weight: Floats | None = None) -> Optimum:
    """Weights with the smallest loss of the weighted mean of raw scores, (n, m) or (n, m, K): any loss of `woodwind.losses`.

    Raw scores are what the link of the loss turns into predictions: numbers themselves for squared, absolute and quantile loss, their
    logarithms for Poisson, gamma and Tweedie, log odds or logarithms of probabilities for classes.
    """
    predicted = np.asarray(raw, np.float64)
    if predicted.ndim != (3 if loss.width > 1 else 2) or predicted.shape[1] == 0 or (loss.width > 1 and predicted.shape[2] != loss.width):
        shape = f"(rows, members, {loss.width})" if loss.width > 1 else "(rows, members)"
        raise DataError(f"raw scores for {loss.name or type(loss).__name__} must be an array {shape}, but its shape is {predicted.shape}.")
    count = _row_weights(weight, len(predicted))
    loss.check_target(np.asarray(truth))
    truth = loss.as_target(np.asarray(truth))
    if isinstance(loss, Absolute | Quantile):
        level, factor = (0.5, 2.0) if isinstance(loss, Absolute) else (loss.level, 1.0)
        return _smallest_pinball(predicted, np.asarray(truth, np.float64), count, level, factor)
    # What a loss takes from the residuals, it takes once: it would be another function in each step.
    fixed = loss.resolved(truth, predicted.mean(axis=1), count)
    return smallest_on_simplex(MeanLoss(np.moveaxis(predicted, 1, -1).copy(), truth, fixed, count))


def _row_weights(weight: Floats | None, n_rows: int, sum_to_one: bool = True) -> Floats:
    count = np.ones(n_rows) if weight is None else np.asarray(weight, np.float64)
    return np.asarray(count / count.sum()) if sum_to_one else count


def _products(predictions: Floats, truth: Floats, count: Floats) -> Floats:
    """The mean products of the errors of members, (m, m)."""
    members = predictions.shape[1]
    out = np.zeros((members, members))
    step = max(1, BLOCK // members)
    for begin in range(0, len(predictions), step):
        end = begin + step
        errors = (predictions[begin:end] - truth[begin:end, None]) * np.sqrt(count[begin:end])[:, None]
        out += errors.T @ errors
    return out


def _smallest_square(gram: Floats) -> Optimum:
    """The weights with the smallest w·G w. Because they sum to one, the error of the mean is the mean of the errors."""
    weights = quadratic_on_simplex(2.0 * gram, np.zeros(len(gram)))
    gradients = 2.0 * gram @ weights
    return Optimum(weights, float(weights @ gram @ weights), max(float(gradients @ weights - gradients.min()), 0.0))


@dataclass(frozen=True, eq=False)
class LogOfMean:
    """Minus the mean logarithm of a mean of probabilities of the truth."""

    probabilities: Floats  # (n, m)
    count: Floats  # (n,), sums to one

    @classmethod
    def of(cls, of_truth: Floats, count: Floats) -> "LogOfMean":
        """From what members give to the true class."""
        return cls(np.maximum(of_truth, LEAST_SHARE), count)

    @property
    def n_members(self) -> int:
        """Members."""
        return int(self.probabilities.shape[1])

    def combined(self, weights: Floats, some: Integers | None = None) -> Floats:
        """The mean."""
        return np.asarray((self.probabilities if some is None else self.probabilities[:, some]) @ weights)

    def value(self, combined: Floats) -> float:
        """Log loss; infinite where a step would leave the probabilities."""
        return float(-self.count @ np.log(combined)) if combined.min() > 0.0 else np.inf

    def gradients(self, combined: Floats, some: Integers | None = None) -> Floats:
        """Gradient."""
        part = self.probabilities if some is None else self.probabilities[:, some]
        return np.asarray(-(part.T @ (self.count / combined)))

    def hessian(self, combined: Floats, some: Integers) -> Floats:
        """Second derivatives."""
        part = self.probabilities[:, some] * (np.sqrt(self.count) / combined)[:, None]
        return np.asarray(part.T @ part)


@dataclass(frozen=True, eq=False)
class MeanLoss:
    """The mean loss of a mean of raw scores."""

    raw: Floats  # (n, m), or (n, K, m)
    truth: NDArray[Any]
    loss: Loss
    count: Floats  # (n,), sums to one

    @property
    def n_members(self) -> int:
        """Members."""
        return int(self.raw.shape[-1])

    def combined(self, weights: Floats, some: Integers | None = None) -> Floats:
        """The mean."""
        return np.asarray((self.raw if some is None else self.raw[..., some]) @ weights)

    def value(self, combined: Floats) -> float:
        """Mean loss."""
        return float(self.loss.value(self.truth, combined, self.count))

    def gradients(self, combined: Floats, some: Integers | None = None) -> Floats:
        """Gradient."""
        gradient, _ = self.loss.derivatives(self.truth, combined, self.count)
        part = self.raw if some is None else self.raw[..., some]
        return np.asarray(np.tensordot(gradient, part, gradient.ndim))

    def hessian(self, combined: Floats, some: Integers) -> Floats:
        """Second derivatives; of several scores that the classes share one probability."""
        part = self.raw[..., some]
        if isinstance(self.loss, Multinomial):
            probabilities = self.loss.predict(combined)
            scaled = part * np.sqrt(probabilities * self.count[:, None])[:, :, None]
            mean = np.einsum("nk,nkm->nm", probabilities, part) * np.sqrt(self.count)[:, None]
            flat = scaled.reshape(-1, len(some))
            return np.asarray(flat.T @ flat - mean.T @ mean)
        _, hessian = self.loss.derivatives(self.truth, combined, self.count)
        scaled = (part * np.sqrt(np.maximum(hessian, 0.0))[..., None]).reshape(-1, len(some))
        return np.asarray(scaled.T @ scaled)


@dataclass(frozen=True, eq=False)
class SmoothPinball:
    """The pinball loss of a mean of numbers, a parabola where it is within `width` of its kink; above the true one by width / 4 at most."""

    predictions: Floats  # (n, m)
    truth: Floats
    count: Floats  # (n,), sums to one
    level: float
    width: float

    @property
    def n_members(self) -> int:
        """Members."""
        return int(self.predictions.shape[1])

    def combined(self, weights: Floats, some: Integers | None = None) -> Floats:
        """The mean."""
        return np.asarray((self.predictions if some is None else self.predictions[:, some]) @ weights)

    def value(self, combined: Floats) -> float:
        """Mean loss."""
        r = self.truth - combined
        parabola = r**2 / (4.0 * self.width) + (self.level - 0.5) * r + self.width / 4.0
        return float(self.count @ np.where(np.abs(r) <= self.width, parabola, _pinball(r, self.level)))

    def gradients(self, combined: Floats, some: Integers | None = None) -> Floats:
        """Gradient."""
        r = self.truth - combined
        by_row = -(np.clip(r / (2.0 * self.width), -0.5, 0.5) + self.level - 0.5)
        part = self.predictions if some is None else self.predictions[:, some]
        return np.asarray(part.T @ (self.count * by_row))

    def hessian(self, combined: Floats, some: Integers) -> Floats:
        """Second derivatives."""
        near = np.abs(self.truth - combined) <= self.width
        part = self.predictions[np.ix_(near, some)] * np.sqrt(self.count[near] / (2.0 * self.width))[:, None]
        return np.asarray(part.T @ part)


def _pinball(r: Floats, level: float) -> Floats:
    return np.maximum(level * r, (level - 1.0) * r)


def _smallest_pinball(predictions: Floats, truth: Floats, count: Floats, level: float, factor: float) -> Optimum:
    """The weights with the smallest pinball loss: of smoother and smoother ones less smooth, each from where the last has ended."""
    spread = float(np.abs(truth[:, None] - predictions).mean())
    if spread == 0.0:
        return Optimum(np.full(predictions.shape[1], 1.0 / predictions.shape[1]), 0.0, 0.0)
    width, found, weights, value, bound = spread, None, np.zeros(0), np.inf, -np.inf
    while width > 1e-8 * spread:  # below that, rounding decides where a row lies
        width *= SHRINKING
        goal = SmoothPinball(predictions, truth, count, level, width)
        # On the way it is enough to come near.
        found = smallest_on_simplex(goal, 1e-9 if width < 1e-6 * spread else 1e-4, None if found is None else found.weights)
        # The smooth loss is above the true one, by a quarter of the width at most: so is its smallest value.
        bound = max(bound, found.value - found.gap - width / 4.0)
        now = float(count @ _pinball(truth - predictions @ found.weights, level))
        if now < value:
            weights, value = found.weights, now
    return Optimum(weights, factor * value, factor * max(value - bound, 0.0))
