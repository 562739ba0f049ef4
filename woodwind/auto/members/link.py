"""From scores to what users see, and to the losses that members are compared by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Scores beyond this size are certain to any double.
LARGEST = 700.0


def probabilities(scores: Floats) -> Floats:
    """The probability of each class, (n, K): of two classes from the log-odds (n, 1) of the second, else by softmax."""
    if scores.shape[1] == 1:
        second = 1.0 / (1.0 + np.exp(-np.clip(scores[:, 0], -LARGEST, LARGEST)))
        return np.column_stack([1.0 - second, second])
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def log_losses(scores: Floats, truth: NDArray[np.integer]) -> Floats:
    """Minus the logarithm of the probability of the true class, of each row; exact for scores of any size."""
    if scores.shape[1] == 1:
        away = np.where(truth == 1, -scores[:, 0], scores[:, 0])
        return np.asarray(np.maximum(away, 0.0) + np.log1p(np.exp(-np.abs(away))))
    top = scores.max(axis=1)
    total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return np.asarray(total - scores[np.arange(len(truth)), truth])


# ----------------------------------------------------------------------------------------------------
# How likely a class is with such a fraction of the votes: slope and shift that turn fractions into scores, by maximum likelihood
# (Platt 1999).


MOST_STEPS = 50
# Newton's method ends when a step would change the mean loss by less than this.
SMALLEST_GAIN = 1e-10
# A weak pull to slope 5 and no shift: vote fractions that part the classes without error have no best slope.
PULL, PULLED_TO = 0.01, 5.0


class ScoreCalibration(NamedTuple):
    """A line from vote fractions to scores."""

    slope: float
    shift: Floats  # (width,)


def calibrate(vote_fractions: Floats, truth: NDArray[np.integer], weight: Floats | None) -> ScoreCalibration:
    """The best line for rows whose vote fractions (n, width) and classes are known; width 1 means two classes, and their second."""
    n, width = vote_fractions.shape
    weight = np.ones(n) if weight is None else weight
    target = (truth == 1)[:, None] if width == 1 else truth[:, None] == np.arange(width)
    away = np.concatenate([[PULLED_TO], np.zeros(width)])
    numbers = away.copy()
    loss = _objective(numbers, away, vote_fractions, truth, weight)
    for _ in range(MOST_STEPS):
        probability = probabilities(numbers[0] * vote_fractions + numbers[1:])
        probability = probability[:, 1:] if width == 1 else probability
        error = weight[:, None] * (probability - target)
        gradient = np.concatenate([[(error * vote_fractions).sum()], error.sum(axis=0)]) + PULL * (numbers - away)
        step = np.linalg.solve(_hessian(vote_fractions, probability, weight), gradient)
        promised = float(gradient @ step)
        size = 1.0
        while size > 1e-6:
            tried = numbers - size * step
            new = _objective(tried, away, vote_fractions, truth, weight)
            if new <= loss - 1e-4 * size * promised:
                numbers, loss = tried, new
                break
            size /= 2.0
        if promised <= SMALLEST_GAIN * n or size <= 1e-6:
            break
    return ScoreCalibration(float(numbers[0]), numbers[1:])


def _objective(numbers: Floats, away: Floats, vote_fractions: Floats, truth: NDArray[np.integer], weight: Floats) -> float:
    """The log loss of all rows, and the pull."""
    losses = log_losses(numbers[0] * vote_fractions + numbers[1:], truth)
    return float(weight @ losses + PULL * ((numbers - away) ** 2).sum() / 2.0)


def _hessian(vote_fractions: Floats, probability: Floats, weight: Floats) -> Floats:
    """Second derivatives, by slope and shifts."""
    n, width = vote_fractions.shape
    out = np.zeros((width + 1, width + 1))
    weighed = weight[:, None] * probability
    if width == 1:
        hessian = (weighed * (1.0 - probability))[:, 0]
        rows = np.column_stack([vote_fractions[:, 0], np.ones(n)])
        out = (rows * hessian[:, None]).T @ rows
    else:
        # The score of class k is a * s_k + b_k, and the second derivative by scores is p_k (1 if same) - p_k p_l.
        mean = (probability * vote_fractions).sum(axis=1)
        out[0, 0] = (weighed * (vote_fractions - mean[:, None]) ** 2).sum()
        out[0, 1:] = out[1:, 0] = (weighed * (vote_fractions - mean[:, None])).sum(axis=0)
        out[1:, 1:] = np.diag(weighed.sum(axis=0)) - weighed.T @ probability
    return np.asarray(out + PULL * np.eye(width + 1))
