"""Slow, obvious twins of `kernels/losses/exponential.py`, from the standard library."""

import math
from collections.abc import Sequence


def exp(x: float) -> float:
    """Exponential, saturated where a float64 would leave the normal numbers."""
    return math.exp(min(max(x, -708.0), 708.0))


def expit(x: float) -> float:
    """1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + exp(-x)) if x >= 0.0 else exp(x) / (1.0 + exp(x))


def softmax(scores: Sequence[float]) -> list[float]:
    """Probabilities of the classes."""
    top = max(scores)
    parts = [exp(score - top) for score in scores]
    return [part / math.fsum(parts) for part in parts]
