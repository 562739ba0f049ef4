"""From scores to what users see, and to the losses that members are compared by."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Scores beyond this size are certain to any double.
LARGEST = 700.0


def probabilities(scores: Floats) -> Floats:
    """The chance of each class, (n, K): of two classes from the log-odds (n, 1) of the second, else by softmax."""
    if scores.shape[1] == 1:
        second = 1.0 / (1.0 + np.exp(-np.clip(scores[:, 0], -LARGEST, LARGEST)))
        return np.column_stack([1.0 - second, second])
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def log_losses(scores: Floats, truth: NDArray[np.integer]) -> Floats:
    """Minus the logarithm of the chance of the true class, of each row; exact for scores of any size."""
    if scores.shape[1] == 1:
        away = np.where(truth == 1, -scores[:, 0], scores[:, 0])
        return np.asarray(np.maximum(away, 0.0) + np.log1p(np.exp(-np.abs(away))))
    top = scores.max(axis=1)
    total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return np.asarray(total - scores[np.arange(len(truth)), truth])
