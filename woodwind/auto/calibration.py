"""How likely a share of trees is: slope and shift that turn the shares of classes into scores, by maximum likelihood (Platt 1999)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.link import log_losses, probabilities

Floats = NDArray[np.float64]

MOST_STEPS = 50
# Newton's method ends when a step would change the mean loss by less than this.
SMALLEST_GAIN = 1e-10
# A weak pull to slope 5 and no shift: shares that part the classes without error have no best slope.
PULL, PULLED_TO = 0.01, 5.0


class Calibration(NamedTuple):
    """A line from shares to scores."""

    slope: float
    shift: Floats  # (width,)


def calibrate(shares: Floats, truth: NDArray[np.integer], weight: Floats | None) -> Calibration:
    """The best line for rows whose shares (n, width) and classes are known; width 1 means two classes, and their second."""
    n, width = shares.shape
    weight = np.ones(n) if weight is None else weight
    target = (truth == 1)[:, None] if width == 1 else truth[:, None] == np.arange(width)
    away = np.concatenate([[PULLED_TO], np.zeros(width)])
    numbers = away.copy()
    loss = _objective(numbers, away, shares, truth, weight)
    for _ in range(MOST_STEPS):
        chance = probabilities(numbers[0] * shares + numbers[1:])
        chance = chance[:, 1:] if width == 1 else chance
        error = weight[:, None] * (chance - target)
        gradient = np.concatenate([[(error * shares).sum()], error.sum(axis=0)]) + PULL * (numbers - away)
        step = np.linalg.solve(_bends(shares, chance, weight), gradient)
        promised = float(gradient @ step)
        size = 1.0
        while size > 1e-6:
            tried = numbers - size * step
            new = _objective(tried, away, shares, truth, weight)
            if new <= loss - 1e-4 * size * promised:
                numbers, loss = tried, new
                break
            size /= 2.0
        if promised <= SMALLEST_GAIN * n or size <= 1e-6:
            break
    return Calibration(float(numbers[0]), numbers[1:])


def _objective(numbers: Floats, away: Floats, shares: Floats, truth: NDArray[np.integer], weight: Floats) -> float:
    """The log loss of all rows, and the pull."""
    losses = log_losses(numbers[0] * shares + numbers[1:], truth)
    return float(weight @ losses + PULL * ((numbers - away) ** 2).sum() / 2.0)


def _bends(shares: Floats, chance: Floats, weight: Floats) -> Floats:
    """Second derivatives, by slope and shifts."""
    n, width = shares.shape
    out = np.zeros((width + 1, width + 1))
    weighed = weight[:, None] * chance
    if width == 1:
        bend = (weighed * (1.0 - chance))[:, 0]
        rows = np.column_stack([shares[:, 0], np.ones(n)])
        out = (rows * bend[:, None]).T @ rows
    else:
        # The score of class k is a * s_k + b_k, and the second derivative by scores is p_k (1 if same) - p_k p_l.
        mean = (chance * shares).sum(axis=1)
        out[0, 0] = (weighed * (shares - mean[:, None]) ** 2).sum()
        out[0, 1:] = out[1:, 0] = (weighed * (shares - mean[:, None])).sum(axis=0)
        out[1:, 1:] = np.diag(weighed.sum(axis=0)) - weighed.T @ chance
    return np.asarray(out + PULL * np.eye(width + 1))
