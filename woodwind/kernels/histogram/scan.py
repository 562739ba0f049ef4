"""Statistics of the bins of a node to its best split.

Plain loops one after another instead of one clever one, because LLVM turns them into vector code: the occupied bins,
their running sums, the gain after each, the largest of them and its place.
Gains are float64 functions of exact integers; ties go to the lowest feature, then the lowest threshold.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.layout import GRADIENT_SHIFT, HESSIAN_SHIFT, HESSIAN_SHIFT_PACKED3, PACKED2, PACKED3, Rule
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Floats, Ints
from woodwind.kernels.tree.category_sets import sort_places
from woodwind.kernels.tree.leaves import leaf_value, score_of

U = np.uint64

# Rows of the float scratch of a thread: running sums of gradient, hessian and count after each occupied bin; gains; keys.
S_GRADIENT = 0
S_HESSIAN = 1
S_COUNT = 2
S_GAIN = 3
S_KEY = 4
CURVE_ROWS = 8

# Rows of the integer scratch of a thread: packed statistics of an occupied bin (two where they are wide), code, and scratch.
B_CELL = 0
B_HESSIAN = 1
B_CODE = 2
B_PLACE = 3
B_RUN = 4  # packed running sums
B_SPARE = 5
BIN_ROWS = 8

UNKNOWN = 1e18  # rows of a node whose cells hold no counts

NO_SCORE = -1.0  # scores are not negative


@inlined
def field_units(rule: Rule, layout: Any) -> Any:
    """Real gradient and hessian of one unit of the fields of a histogram cell."""
    shift = HESSIAN_SHIFT_PACKED3 if layout == PACKED3 else HESSIAN_SHIFT
    return rule.gradient_unit * np.float64(1 << GRADIENT_SHIFT), rule.hessian_unit * np.float64(1 << shift)


@inner
def occupied_bins(cells: Any, start: Any, n_bins: Any, out_cell: Any, out_code: Any, first: Any, k: Any) -> Any:
    """Append the packed cells that are not empty, with their codes (from `first` on), at place k; returns the next place."""
    place = U(k)
    begin = U(start)
    for b in range(U(n_bins)):
        cell = cells[begin + b]
        out_cell[place] = cell
        out_code[place] = first + b
        place += U(cell != 0)
    return np.int64(place)


@inner
def occupied_wide(cells: Any, plane: Any, start: Any, n_bins: Any, bins: Ints, first: Any, k: Any) -> Any:
    """As `occupied_bins`, for a wide table."""
    for b in range(n_bins):
        bins[B_CELL, k] = cells[start + b]
        bins[B_HESSIAN, k] = cells[plane + start + b]
        bins[B_CODE, k] = first + b
        k += np.int64((bins[B_CELL, k] != 0) or (bins[B_HESSIAN, k] != 0))
    return k


@inlined
def running_sums(cells: Any, k: Any, out: Any) -> Any:
    """Running sums of packed cells, which are packed themselves; returns the last."""
    run = np.int64(0)
    for j in range(U(k)):
        run += cells[j]
        out[j] = run
    return run


@inner
def unpack_sums(runs: Any, k: Any, layout: Any, curves: Floats) -> None:
    """Gradient, hessian and count of packed running sums as floats; PACKED2 has no count."""
    for j in range(k):
        run = runs[j]
        if layout == PACKED3:
            curves[S_GRADIENT, j] = run >> 36
            curves[S_HESSIAN, j] = (run >> 12) & 0xFFFFFF
            curves[S_COUNT, j] = run & 0xFFF
        else:
            curves[S_GRADIENT, j] = run >> 32
            curves[S_HESSIAN, j] = run & 0xFFFFFFFF


@inner
def gains_in_float64(out: Any, k: Any, curves: Floats, total: Any, extra: Any, rule: Rule, l2: Any, bounds: Any) -> None:
    """The gain of a cut after each of the first k bins, for sums as floats.

    Used for nodes of more than 65,535 rows, where rows were counted, with an L1 penalty, and where values are held within bounds.

    bounds = (low, high, direction, score of the node as a leaf). Scores may be negative where values are held back from what
    the rows want, so that only the gain tells whether a split is worth anything.
    """
    G, H, C, gradient_unit, hessian_unit = total
    low, high, direction, own = bounds
    for j in range(k):
        a = (curves[S_GRADIENT, j] + extra[0]) * gradient_unit
        p = (curves[S_HESSIAN, j] + extra[1]) * hessian_unit
        n = curves[S_COUNT, j] + extra[2]
        left = leaf_value(a, p, rule.l1, l2, low, high)
        right = leaf_value(G - a, H - p, rule.l1, l2, low, high)
        fits = (n >= rule.min_rows) & (C - n >= rule.min_rows) & (p >= rule.min_hessian) & (H - p >= rule.min_hessian)
        fits &= (p + l2 > 0.0) & (H - p + l2 > 0.0) & (direction * (right - left) >= 0.0)
        gain = score_of(a, p, left, rule.l1, l2) + score_of(G - a, H - p, right, rule.l1, l2) - own
        out[j] = gain if fits and gain > 0.0 else NO_SCORE


@inner
def largest(bits: Any, k: Any) -> Any:
    """Place of the first largest of k scores, given as the bits of the floats; -1 if there is none.

    Scores are not negative, so their bits are in the same order as they are; integers are compared in vector code.
    """
    best = np.int64(-1)
    for j in range(U(k)):
        best = max(best, bits[j])
    if best < 0:
        return -1
    place = U(0)
    while place + U(4) <= U(k):
        here = (bits[place] == best) | (bits[place + U(1)] == best)
        if here | (bits[place + U(2)] == best) | (bits[place + U(3)] == best):
            break
        place += U(4)
    while bits[place] != best:
        place += U(1)
    return np.int64(place)


@inner
def order_categories(bins: Ints, k: Any, layout: Any, units: Any, smooth: Any, keys: Any) -> None:
    """Sort k levels by mean gradient, smoothed; for one gradient the best set is then a prefix (Fisher 1958)."""
    for j in range(k):
        cell = bins[B_CELL, j]
        g = cell
        h = bins[B_HESSIAN, j]
        if layout == PACKED3:
            g = cell >> 36
            h = (cell >> 12) & 0xFFFFFF
        elif layout == PACKED2:
            g = cell >> 32
            h = cell & 0xFFFFFFFF
        keys[j] = g * units[0] / (h * units[1] + smooth)
        for s in range(3):
            bins[B_SPARE + s, j] = bins[s, j]
    sort_places(keys, k, bins[B_PLACE])
    for j in range(k):
        for s in range(3):
            bins[s, j] = bins[B_SPARE + s, bins[B_PLACE, j]]
