"""Slow, obvious twins of `kernels/runtime/gradient_sampling.py`."""

import math

from reference.naive_draw import hash_item


def probability(size: float, certain: float, slope: float, least: float) -> float:
    """How likely a row of this size is drawn."""
    return 1.0 if size >= certain else min(max(slope * size, least), 1.0)


def draw_by_size(key: int, sizes: list[float], certain: float, slope: float, least: float) -> list[int]:
    """Rows whose uniform number is below their probability."""
    return [row for row, size in enumerate(sizes) if (hash_item(key, row) >> 11) / 2**53 < probability(size, certain, slope, least)]


def gradient_sizes(gradient: list[list[float]], hessian: list[list[float]], ratio: float) -> list[float]:
    """Root of the sum of gradient**2 + ratio * hessian**2 over the outputs of each row."""
    return [math.sqrt(sum(g * g + ratio * h * h for g, h in zip(gs, hs, strict=True))) for gs, hs in zip(gradient, hessian, strict=True)]


def size_reached_by(sizes: list[float], count: int) -> float:
    """The size of the row that is the last of so many largest."""
    return sorted(sizes, reverse=True)[count - 1] if count > 0 else math.inf
