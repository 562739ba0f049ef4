"""Metrics of probabilities (n, K) that are means over rows."""

import numpy as np
from numpy.typing import NDArray

from woodwind.metrics.metric import CLASSES, Floats, Metric, mean, spread_of_mean

Integers = NDArray[np.int64]

# The smallest probability that a logarithm is taken of, as in scikit-learn.
SMALLEST = float(np.finfo(np.float64).eps)


def log_losses(y: Integers, probabilities: Floats) -> Floats:
    """Minus the logarithm of what each row gives to its true class."""
    given = probabilities[np.arange(len(y)), y]
    return -np.log(np.clip(given, SMALLEST, 1.0 - SMALLEST))


def brier_losses(y: Integers, probabilities: Floats) -> Floats:
    """The squared distance of each row's probabilities from the truth; of two classes half of it, as is the custom."""
    if probabilities.shape[1] == 2:
        # What both classes are off by, for probabilities that do not quite add up to one.
        return np.asarray(0.5 * ((probabilities[:, 0] - (y == 0)) ** 2 + (probabilities[:, 1] - (y == 1)) ** 2))
    given = probabilities[np.arange(len(y)), y]
    return np.asarray((probabilities * probabilities).sum(axis=1) - given * given + (1.0 - given) ** 2)


def log_loss(y: Integers, probabilities: Floats, weight: Floats | None) -> float:
    """Mean log loss."""
    return mean(log_losses(y, probabilities), weight)


def log_loss_spread(y: Integers, probabilities: Floats, weight: Floats | None) -> float:
    """Its standard error."""
    return spread_of_mean(log_losses(y, probabilities), weight)


def brier(y: Integers, probabilities: Floats, weight: Floats | None) -> float:
    """Mean Brier score."""
    return mean(brier_losses(y, probabilities), weight)


def brier_spread(y: Integers, probabilities: Floats, weight: Floats | None) -> float:
    """Its standard error."""
    return spread_of_mean(brier_losses(y, probabilities), weight)


METRICS = (
    Metric(
        "log_loss",
        "minus the mean logarithm of what is given to the true class",
        CLASSES,
        False,
        "proba",
        log_loss,
        log_loss_spread,
        smooth=True,
        title="Log loss",
        aliases=(
            "neg_log_loss",
            "logloss",
            "cross_entropy",
            "mlogloss",
            "binary_logloss",
            "binary",
            "multi_logloss",
            "multiclass",
            "softmax",
            "crossentropy",
        ),
    ),
    Metric(
        "brier",
        "mean squared distance of the probabilities from the truth",
        CLASSES,
        False,
        "proba",
        brier,
        brier_spread,
        smooth=True,
        title="Brier score",
        aliases=("neg_brier_score", "brier_score", "brier_score_loss", "brierscore"),
    ),
)
