"""How good predictions are, row by row, so that a difference can be set against its noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The peers predict in single precision: a probability of exactly 0 or 1 there is no claim of certainty.
CLIP = 1e-7


def log_losses(truth: NDArray[np.int64], probability: NDArray[np.floating]) -> Floats:
    """Minus the log of the probability given to the true class; one column means the probability of class 1."""
    p = np.asarray(probability, dtype=np.float64)
    if p.ndim == 1:
        p = np.column_stack([1.0 - p, p])
    p = np.clip(p, CLIP, 1.0 - CLIP)
    p /= p.sum(axis=1, keepdims=True)
    loss: Floats = -np.log(p[np.arange(len(p)), truth])
    return loss


def row_losses(task: str, truth: NDArray, prediction: NDArray) -> Floats:
    """The loss of each row: squared error, or log loss."""
    if task == "regression":
        errors: Floats = (np.asarray(truth, np.float64) - np.asarray(prediction, np.float64).ravel()) ** 2
        return errors
    return log_losses(np.asarray(truth, np.int64), prediction)


def summary(task: str, losses: Floats) -> float:
    """Root mean squared error, or mean log loss."""
    mean = float(losses.mean())
    return mean**0.5 if task == "regression" else mean


def auc(truth: NDArray[np.int64], score: NDArray[np.floating]) -> float:
    """Area under the ROC curve, ties counting one half."""
    score = np.asarray(score, np.float64)
    score = score[:, 1] if score.ndim == 2 else score
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(counts) - (counts - 1) / 2.0
    positive = np.asarray(truth) == 1
    n1 = int(positive.sum())
    n0 = len(positive) - n1
    return float((mean_rank[inverse][positive].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


def in_standard_errors(losses: Floats, others: Floats) -> float:
    """How much worse the first is than the second, in standard errors of the paired difference (negative: better)."""
    difference = losses - others
    spread = float(difference.std(ddof=1)) / len(difference) ** 0.5
    return float(difference.mean()) / spread if spread > 0 else 0.0
