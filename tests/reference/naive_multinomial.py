"""Slow, obvious twins of `kernels/losses/multinomial.py`: one row at a time."""

import math
from collections.abc import Sequence

from reference.naive_exponential import softmax


def losses(y: Sequence[int], raw: Sequence[Sequence[float]]) -> list[float]:
    """Minus the logarithm of the probability of the row's class, without overflow."""
    return [math.log(math.fsum(math.exp(f - max(row)) for f in row)) + max(row) - row[own] for own, row in zip(y, raw, strict=True)]


def derivatives(y: Sequence[int], raw: Sequence[Sequence[float]]) -> tuple[list[list[float]], list[list[float]]]:
    """Gradients p - [y = k] and hessians p (1 - p) of every class."""
    shares = [softmax(row) for row in raw]
    gradient = [[p - (1.0 if k == own else 0.0) for k, p in enumerate(row)] for own, row in zip(y, shares, strict=True)]
    hessian = [[p * (1.0 - p) for p in row] for row in shares]
    return gradient, hessian


def quantise(
    y: Sequence[int], raw: Sequence[Sequence[float]], weight: Sequence[float], scales: Sequence[float]
) -> tuple[list[list[int]], list[list[int]]]:
    """Integers: the K gradients and half the sum of the hessians of every row, and the K hessians."""
    gradient, hessian = derivatives(y, raw)
    q = [
        [*(round(w * g * scales[0]) for g in row_g), round(0.5 * w * math.fsum(row_h) * scales[1])]
        for w, row_g, row_h in zip(weight, gradient, hessian, strict=True)
    ]
    return q, [[round(w * h * scales[1]) for h in row] for w, row in zip(weight, hessian, strict=True)]
