"""Slow, obvious twins of the small kernels that growing from histograms consists of: rounding, sums, rows, draws, scores."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reference.naive_draw import hash_item
from woodwind.kernels.histogram.layout import PACKED2, PACKED3, WIDE2

Ints = NDArray[np.int64]


def coarse(stats: Ints) -> tuple[Ints, Ints]:
    """Gradient and hessian of rows in the upper 15 bits, rounded; the gradient fits into 16 bits with its sign."""
    return np.minimum(((stats >> 32) + 16384) >> 15, 32767), ((stats & 0xFFFFFFFF) + 16384) >> 15


def histogram(by_column: NDArray[np.uint8], width: int, rows: Sequence[int], stats: Ints, layout: int) -> list[int]:
    """The table of a node: packed cells feature by feature; a wide one has all gradients, then all hessians."""
    gradient, hessian = coarse(stats)
    cells = by_column.shape[0] * width
    table = [0] * (2 * cells if layout == WIDE2 else cells)
    for f, column in enumerate(by_column):
        for row in rows:
            cell, g, h = f * width + int(column[row]), int(gradient[row]), int(hessian[row])
            if layout == PACKED3:
                table[cell] += (g << 36) + ((h + 4 >> 3) << 12) + 1
            elif layout == PACKED2:
                table[cell] += (g << 32) + h
            else:
                table[cell] += g
                table[cells + cell] += h
    return table


def split_rows(codes: Sequence[int], goes_left: Sequence[int], rows: Sequence[int]) -> tuple[list[int], int, set[int]]:
    """Rows that go left in order, then the others in reverse order; how many go left; the codes met."""
    left = [row for row in rows if goes_left[codes[row]]]
    right = [row for row in rows if not goes_left[codes[row]]]
    return left + right[::-1], len(left), {codes[row] for row in rows}


def hashed(key: int, item: int) -> int:
    """Hash of an item of a key: 63 random bits."""
    return hash_item(key, item) >> 1


def keep_some(items: Sequence[int], most: int, key: int) -> list[int]:
    """Draw `most` items without replacement: the first steps of a shuffle (Fisher & Yates 1938), in the order drawn."""
    rest, kept = list(items), []
    if most >= len(rest):
        return rest
    for k in range(most):
        position = hashed(key, k) % len(rest)
        kept.append(rest[position])
        rest[position] = rest[0]  # the place of the one drawn is taken by the first of the rest
        rest.pop(0)
    return kept


def shrunk(g: float, l1: float) -> float:
    """What an L1 penalty leaves of a gradient sum."""
    return g - l1 if g > l1 else g + l1 if g < -l1 else 0.0


def leaf_value(g: float, h: float, l1: float, l2: float, low: float = -math.inf, high: float = math.inf) -> float:
    """Best value of a leaf within its bounds."""
    if h + l2 <= 0.0:
        return min(max(0.0, low), high)
    return min(max(-shrunk(g, l1) / (h + l2), low), high)


def smoothed_value(value: float, rows: float, smooth: float, above: float, low: float, high: float) -> float:
    """A value drawn towards that of the node above."""
    return value if smooth == 0.0 else min(max((rows * value + smooth * above) / (rows + smooth), low), high)


def score_of(g: float, h: float, value: float, l1: float, l2: float) -> float:
    """Twice the drop in loss that a leaf of this value brings."""
    return -(2.0 * g * value + (h + l2) * value * value + 2.0 * l1 * abs(value))
