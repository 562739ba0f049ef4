"""Slow, obvious twins of `kernels/losses/derivatives.py`: one row at a time, formulas as in the papers."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from reference.naive_exponential import exp, expit
from woodwind.kernels.losses.derivatives import (
    ABSOLUTE,
    EXPONENTIAL,
    GAMMA,
    HUBER,
    LOGISTIC,
    POISSON,
    QUANTILE,
    SQUARED,
    TWEEDIE,
    Formula,
)

LARGEST = 2**30

# Each takes the target y, the raw score f and the number a of the formula.
LOSSES: dict[int, Callable[[float, float, float], float]] = {
    SQUARED: lambda y, f, _: 0.5 * (y - f) ** 2,
    ABSOLUTE: lambda y, f, _: abs(y - f),
    HUBER: lambda y, f, a: 0.5 * (y - f) ** 2 if abs(y - f) <= a else a * (abs(y - f) - 0.5 * a),
    QUANTILE: lambda y, f, a: a * (y - f) if y >= f else (1.0 - a) * (f - y),
    POISSON: lambda y, f, _: exp(f) - y * f,
    GAMMA: lambda y, f, _: f + y * exp(-f),
    TWEEDIE: lambda y, f, a: exp((2.0 - a) * f) / (2.0 - a) - y * exp((1.0 - a) * f) / (1.0 - a),
    LOGISTIC: lambda y, f, _: math.log1p(exp(-abs(f))) + max(f, 0.0) - y * f,
    EXPONENTIAL: lambda y, f, _: exp(-(2.0 * y - 1.0) * f),
}

DERIVATIVES: dict[int, Callable[[float, float, float], tuple[float, float]]] = {
    SQUARED: lambda y, f, _: (f - y, 1.0),
    ABSOLUTE: lambda y, f, _: (1.0 if f > y else -1.0, 1.0),
    HUBER: lambda y, f, a: (min(max(f - y, -a), a), 1.0),
    QUANTILE: lambda y, f, a: (1.0 - a if f > y else -a, 1.0),
    POISSON: lambda y, f, _: (exp(f) - y, exp(f)),
    GAMMA: lambda y, f, _: (1.0 - y * exp(-f), y * exp(-f)),
    TWEEDIE: lambda y, f, a: (
        exp((2.0 - a) * f) - y * exp((1.0 - a) * f),
        (2.0 - a) * exp((2.0 - a) * f) - (1.0 - a) * y * exp((1.0 - a) * f),
    ),
    LOGISTIC: lambda y, f, _: ((1.0 - y) * expit(f) - y * expit(-f), expit(f) * expit(-f)),
    EXPONENTIAL: lambda y, f, _: (-(2.0 * y - 1.0) * exp(-(2.0 * y - 1.0) * f), exp(-(2.0 * y - 1.0) * f)),
}


def losses(formula: Formula, y: Sequence[float], raw: Sequence[float], weight: Sequence[float] | None) -> list[float]:
    """Loss of every row, times its weight."""
    of_row = LOSSES[formula.switch]
    return [of_row(t, f, formula.number) * w for t, f, w in zip(y, raw, _weights(weight, y), strict=True)]


def derivatives(
    formula: Formula, y: Sequence[float], raw: Sequence[float], weight: Sequence[float] | None
) -> tuple[list[float], list[float]]:
    """Gradient and hessian of every row, times its weight."""
    of_row = DERIVATIVES[formula.switch]
    pairs = [of_row(t, f, formula.number) for t, f in zip(y, raw, strict=True)]
    weights = _weights(weight, y)
    return [g * w for (g, _), w in zip(pairs, weights, strict=True)], [h * w for (_, h), w in zip(pairs, weights, strict=True)]


def pack(gradient: Sequence[float], hessian: Sequence[float], scales: Sequence[float]) -> list[int]:
    """Integers: gradient in the upper half of a word, hessian in the lower. Python rounds halves to even, as rint does."""
    return [
        (round(min(max(g * scales[0], -LARGEST), LARGEST)) << 32) + round(min(max(h * scales[1], 0), LARGEST))
        for g, h in zip(gradient, hessian, strict=True)
    ]


def add_leaf_values(raw: Any, leaf: Sequence[int], values: Any) -> Any:
    """Scores after a tree whose rows are in these leaves; for one value per leaf, or K."""
    return [row + values[position] for row, position in zip(raw, leaf, strict=True)]


def _weights(weight: Sequence[float] | None, y: Sequence[float]) -> Sequence[float]:
    return [1.0] * len(y) if weight is None else weight
