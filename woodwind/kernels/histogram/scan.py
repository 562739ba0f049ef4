"""Statistics of the bins of a node to its best cut.

Plain loops one after another instead of one clever one, because LLVM turns them into vector code: the occupied bins,
their running sums, the gain after each, the largest of them and its position.
Gains are float64 functions of exact integers; ties go to the lowest feature, then the lowest threshold.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.layout import GRADIENT_SHIFT, HESSIAN_SHIFT, HESSIAN_SHIFT_PACKED3, PACKED2, PACKED3, Rule
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Floats, Ints, Tree
from woodwind.kernels.tree.category_sets import argsort
from woodwind.kernels.tree.leaves import leaf_value, score_of, smoothed_value

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
B_ORDER = 3
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
    """Append the packed cells that are not empty, with their codes (from `first` on), at position k; returns the next position."""
    position = U(k)
    begin = U(start)
    for b in range(U(n_bins)):
        cell = cells[begin + b]
        out_cell[position] = cell
        out_code[position] = first + b
        position += U(cell != 0)
    return np.int64(position)


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

    Used for nodes of more than 65,535 rows, where rows were counted, with an L1 penalty, and where values are held back.

    bounds = (low, high, direction, value of the node as a leaf, rows for a hessian of one where they were not counted, else 0). Scores may
    be negative where values are held back from what the rows want, so that only the gain tells whether a split is worth anything.
    """
    G, H, C, gradient_unit, hessian_unit = total
    low, high, direction, value, density = bounds
    own = score_of(G, H, value, rule.l1, rule.l2)
    for j in range(k):
        a = (curves[S_GRADIENT, j] + extra[0]) * gradient_unit
        p = (curves[S_HESSIAN, j] + extra[1]) * hessian_unit
        n = curves[S_COUNT, j] + extra[2]
        left = leaf_value(a, p, rule.l1, l2, low, high)
        right = leaf_value(G - a, H - p, rule.l1, l2, low, high)
        if rule.path_smooth > 0.0:
            left = smoothed_value(left, n if density == 0.0 else p * density, rule.path_smooth, value, low, high)
            right = smoothed_value(right, C - n if density == 0.0 else (H - p) * density, rule.path_smooth, value, low, high)
        fits = (n >= rule.min_rows) & (C - n >= rule.min_rows) & (p >= rule.min_hessian) & (H - p >= rule.min_hessian)
        fits &= (p + l2 > 0.0) & (H - p + l2 > 0.0) & (direction * (right - left) >= 0.0)
        gain = score_of(a, p, left, rule.l1, l2) + score_of(G - a, H - p, right, rule.l1, l2) - own
        out[j] = gain if fits and gain > 0.0 else NO_SCORE


@inner
def argmax(bits: Any, k: Any) -> Any:
    """Position of the first largest of k scores, given as the bits of the floats; -1 if there is none.

    Scores are not negative, so their bits are in the same order as they are; integers are compared in vector code.
    """
    best = np.int64(-1)
    for j in range(U(k)):
        best = max(best, bits[j])
    if best < 0:
        return -1
    position = U(0)
    while position + U(4) <= U(k):
        here = (bits[position] == best) | (bits[position + U(1)] == best)
        if here | (bits[position + U(2)] == best) | (bits[position + U(3)] == best):
            break
        position += U(4)
    while bits[position] != best:
        position += U(1)
    return np.int64(position)


@inner
def order_categories(bins: Ints, k: Any, layout: Any, units: Any, smooth: Any, keys: Any) -> None:
    """Sort k categories by mean gradient, smoothed; for one gradient the best set is then a prefix (Fisher 1958)."""
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
    argsort(keys, k, bins[B_ORDER])
    for j in range(k):
        for s in range(3):
            bins[s, j] = bins[B_SPARE + s, bins[B_ORDER, j]]


# ----------------------------------------------------------------------------------------------------
# The best cut from packed running sums: scores in 32 bits point to the few cuts worth 64.
#
# Half the width is twice the cuts in one vector instruction. The sums themselves are integers and are subtracted as such, so that a score
# in float32 is wrong by a few roundings at most; every cut that might still be the best is scored again in float64, and the outcome is the
# same as if all of them had been.

I4 = np.int32
F4 = np.float32
EIGHT = U(8)  # lanes of a vector
# Vector code takes four vectors at a time and does the rest one by one, which is slow: so there is none.
BLOCK = U(32)

# Rows of the scratch of a thread.
Q_GRADIENT = 0
Q_HESSIAN = 1
Q_SCORE = 2
QUICK_ROWS = 3

# Fewer than eighteen roundings of 2**-24 are behind a score, and as many behind the one that it is compared with: 2.2e-6 of it.
# So many of the smallest steps of a float32 are at least 3.8e-6 of it, and MARGIN is more than that.
STEPS = 64
MARGIN = 1.0 + 1e-5

# L2 in units of the hessians, which have 32 bits: more would overflow, and changes no order.
MOST_L2 = 2.0**60
LEAST_L2 = 1e-30


@inlined
def gradient_of(run: Any, layout: Any) -> Any:
    """The gradient in a packed sum."""
    return run >> 36 if layout == PACKED3 else run >> 32


@inlined
def hessian_of(run: Any, layout: Any) -> Any:
    """The hessian in a packed sum."""
    return (run >> 12) & 0xFFFFFF if layout == PACKED3 else run & 0xFFFFFFFF


@inner
def least_fields(rule: Rule, layout: Any) -> Any:
    """Fewest rows and least hessian of a side, in the units of the fields; without a count in the fields no limit of rows."""
    _, unit = field_units(rule, layout)
    hessian = rule.min_hessian
    rows = rule.min_rows
    if layout != PACKED3:
        rows = 0.0
        if rule.constant_hessian:
            hessian = max(hessian, rule.min_rows * rule.row_hessian * unit)
    least = min(np.ceil(hessian / unit), 2.0**40)
    return np.int64(np.ceil(rows)), np.int64(least)


@inlined
def suffices(run: Any, layout: Any, limits: Any) -> Any:
    """Whether one side of a cut has enough rows and hessian."""
    count = run & 0xFFF if layout == PACKED3 else np.int64(0)
    return (count >= limits[0]) & (hessian_of(run, layout) >= limits[1])


@inlined
def cut_range(runs: Any, k: Any, layout: Any, total: Any, extra: Any, limits: Any) -> Any:
    """First and past the last of the cuts after the first k bins that leave enough on both sides.

    Sums only grow from bin to bin, so that what fits is one stretch.
    """
    low = U(0)
    high = U(k)
    rest = total - extra
    while low + EIGHT <= high and not suffices(runs[low + EIGHT - U(1)] + extra, layout, limits):
        low += EIGHT
    while low < high and not suffices(runs[low] + extra, layout, limits):
        low += U(1)
    while high >= low + EIGHT and not suffices(rest - runs[high - EIGHT], layout, limits):
        high -= EIGHT
    while high > low and not suffices(rest - runs[high - U(1)], layout, limits):
        high -= U(1)
    return low, high


@inlined
def fill_fields(runs: Any, low: Any, blocks: Any, layout: Any, extra: Any, gradients: Any, hessians: Any) -> None:
    """Gradients and hessians to the left of the cuts from `low` on, as int32."""
    if layout == PACKED3:
        for j in range(low, low + BLOCK * blocks):
            run = runs[j] + extra
            gradients[j] = I4(run >> 32) >> 4  # half as wide a shift, which vector code has
            hessians[j] = (run >> 12) & 0xFFFFFF
    else:
        for j in range(low, low + BLOCK * blocks):
            run = runs[j] + extra
            gradients[j] = run >> 32
            hessians[j] = run & 0xFFFFFFFF


@inlined
def fill_scores(gradients: Any, hessians: Any, low: Any, blocks: Any, totals: Any, l2: Any, scores: Any) -> None:
    """Scores of cuts in float32, in the units of the fields: a/b + c/d as (a d + c b) / (b d), one division for both sides."""
    G, H = totals
    rest = F4(min(max(l2, LEAST_L2), MOST_L2)) if l2 > 0.0 else F4(0.0)
    for j in range(low, low + BLOCK * blocks):
        g = gradients[j]
        h = hessians[j]
        a = F4(g)
        b = F4(I4(G - g))
        p = F4(h) + rest
        q = F4(I4(H - h)) + rest
        scores[j] = (a * a * q + b * b * p) / (p * q)


@inlined
def top_score(bits: Any, low: Any, blocks: Any) -> Any:
    """The largest of scores that are not negative, by their bits: integers are compared in vector code."""
    best = I4(-1)
    for j in range(low, low + BLOCK * blocks):
        best = max(best, bits[j])
    return best


@inlined
def next_above(bits: Any, begin: Any, high: Any, least: Any) -> Any:
    """The first position from `begin` on whose score is at least `least`; `high` if there is none."""
    here = begin
    while here + EIGHT <= high:
        enough = bits[here] >= least
        for k in range(U(1), EIGHT):
            enough |= bits[here + k] >= least
        if enough:
            break
        here += EIGHT
    while here < high and bits[here] < least:
        here += U(1)
    return here


@inlined
def exact_score(run: Any, layout: Any, total: Any, l2: Any) -> Any:
    """The score of a cut in float64; total = (gradient, hessian, rows, unit of gradients, unit of hessians)."""
    a = np.float64(gradient_of(run, layout)) * total[3]
    p = np.float64(hessian_of(run, layout)) * total[4]
    b = total[0] - a
    below = p + l2
    above = total[1] - p + l2
    return (a * a * above + b * b * below) / (below * above)


@inlined
def best_cut(tree: Tree, thread: Any, layout: Any, k: Any, sums: Any, limits: Any, l2: Any, best: Any) -> Any:
    """Score and position of the best cut after the first k bins if it is above `best`, else `best` and -1.

    sums = (packed total, packed extra on the left, total as floats with its units). The first of equals wins.
    """
    whole, extra, total = sums
    runs = memory.all_bins(tree)[BIN_ROWS * thread + B_RUN]
    low, high = cut_range(runs, k, layout, whole, extra, limits)
    if low >= high:
        return best, -1
    gradients = memory.quick_integers(tree, QUICK_ROWS * thread + Q_GRADIENT)
    hessians = memory.quick_integers(tree, QUICK_ROWS * thread + Q_HESSIAN)
    bits = memory.quick_integers(tree, QUICK_ROWS * thread + Q_SCORE)
    scores = memory.quick_floats(tree, QUICK_ROWS * thread + Q_SCORE)
    blocks = (high - low + BLOCK - U(1)) // BLOCK
    fill_fields(runs, low, blocks, layout, extra, gradients, hessians)
    totals = (I4(gradient_of(whole, layout)), I4(hessian_of(whole, layout)))
    fill_scores(gradients, hessians, low, blocks, totals, l2 / total[4], scores)
    for behind in range(BLOCK):  # what is behind the last cut counts for nothing
        bits[high + behind] = -1
    top = top_score(bits, low, blocks)
    bits[high] = top
    if np.float64(scores[high]) * MARGIN * (total[3] * total[3] / total[4]) < best:
        return best, -1
    least = I4(max(top - STEPS, 0))
    best_j = np.int64(-1)
    j = next_above(bits, low, high, least)
    while j < high:
        run = runs[j]
        score = exact_score(run + extra, layout, total, l2)
        if score > best:
            best = score
            best_j = np.int64(j)
        j = next_above(bits, j + U(1), high, least)
        while j < high and runs[j] == run:  # an empty bin changes nothing
            j = next_above(bits, j + U(1), high, least)
    return best, best_j
