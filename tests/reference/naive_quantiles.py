"""Slow, obvious twins of `kernels/losses/quantiles.py`: by sorting, with exact fractions."""

from collections.abc import Sequence
from fractions import Fraction


def quantile(values: Sequence[float], weight: Sequence[float] | None, level: float) -> float:
    """The smallest value at which the weight so far reaches level * total weight."""
    weights = [1.0] * len(values) if weight is None else weight
    pairs = sorted((v, Fraction(w)) for v, w in zip(values, weights, strict=True) if w > 0)
    if not pairs:
        return 0.0
    target = level * float(sum(w for _, w in pairs))
    so_far = Fraction(0)
    for value, w in pairs:
        so_far += w
        if so_far >= target:
            return value
    return pairs[-1][0]


def huber(values: Sequence[float], weight: Sequence[float] | None, delta: float) -> float:
    """Median plus the mean by weight of the distances to it, clipped at delta."""
    weights = [Fraction(1)] * len(values) if weight is None else [Fraction(w) for w in weight]
    median = quantile(values, weight, 0.5)
    if not sum(weights):
        return median
    steps = sum(w * Fraction(min(max(v - median, -delta), delta)) for v, w in zip(values, weights, strict=True))
    return median + float(steps / sum(weights))
