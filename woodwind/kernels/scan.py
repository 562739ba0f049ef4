"""Statistics of the bins of a node to its best split.

Three plain loops per feature instead of one clever one, because LLVM turns them into vector code:
the occupied bins with their running sums, the gain after each, the place of the largest.
Gains are float64 functions of exact integers; ties go to the lowest feature, then the lowest threshold.
"""

from typing import Any

import numpy as np

from woodwind.kernels.growing import IS_CATEGORY, N_BINS
from woodwind.kernels.intrinsics import int_list
from woodwind.kernels.jit import inner
from woodwind.kernels.layout import LEFT, PACKED2, PACKED3, RIGHT

# Rows of the float scratch: running sums of gradient, hessian and count after each occupied bin; gains.
S_GRADIENT = 0
S_HESSIAN = 1
S_COUNT = 2
S_GAIN = 3
S_KEY = 4

NO_SPLIT = -np.inf


@inner
def shrunk(G: Any, l1: Any) -> Any:
    """Soft threshold of a gradient sum: what an L1 penalty on the leaf value leaves of it."""
    if G > l1:
        return G - l1
    return G + l1 if G < -l1 else 0.0


@inner
def leaf_value(G: Any, H: Any, l1: Any, l2: Any, low: Any, high: Any) -> Any:
    """The value that minimises the second-order loss of a leaf (Chen & Guestrin 2016, Eq. 5), within its bounds."""
    if H + l2 <= 0.0:
        return min(max(0.0, low), high)
    return min(max(-shrunk(G, l1) / (H + l2), low), high)


@inner
def score_of(G: Any, H: Any, value: Any, l1: Any, l2: Any) -> Any:
    """Twice the drop in loss that a leaf of this value brings; G^2 / (H + l2) where the value is free."""
    return -(2.0 * G * value + (H + l2) * value * value + 2.0 * l1 * abs(value))


@inner
def occupied_bins(table: Any, layout: Any, counts: Any, start: Any, n_bins: Any, cells: Any, out: Any, k: Any) -> Any:
    """Write gradient, hessian, count and code of every bin that is not empty to out[0..3] from place k; returns the next place."""
    counted = len(counts) > 0
    for b in range(n_bins):
        cell = table[start + b]
        c = np.int64(0)
        full = cell != 0
        if layout == PACKED3:
            g = cell >> 36
            h = (cell >> 12) & 0xFFFFFF
            c = cell & 0xFFF
        elif layout == PACKED2:
            g = cell >> 32
            h = cell & 0xFFFFFFFF
        else:
            g = cell
            h = table[cells + start + b]
            full |= h != 0
        if counted:
            c = counts[start + b]
            full = c > 0
        out[0, k] = g
        out[1, k] = h
        out[2, k] = c
        out[3, k] = b
        k += np.int64(full)
    return k


@inner
def gains(sums: Any, k: Any, total: Any, extra: Any, rule: Any, l2: Any) -> None:
    """Score of both sides for a cut after each of the first k bins, `extra` being added to the left (missing values).

    One division for both terms: a/b + c/d = (a d + c b) / (b d).
    """
    G, H, C = total
    extra_g, extra_h, extra_c = extra
    least = rule.min_rows
    least_h = rule.min_hessian
    for j in range(k):
        a = sums[S_GRADIENT, j] + extra_g
        p = sums[S_HESSIAN, j] + extra_h
        n = sums[S_COUNT, j] + extra_c
        b = G - a
        q = H - p
        below = p + l2
        above = q + l2
        product = below * above
        score = (a * a * above + b * b * below) / product
        fits = (n >= least) & (C - n >= least) & (p >= least_h) & (q >= least_h) & (product > 0.0)
        sums[S_GAIN, j] = score if fits else NO_SPLIT


@inner
def gains_bounded(sums: Any, k: Any, total: Any, extra: Any, rule: Any, l2: Any, bounds: Any) -> None:
    """As `gains`, with an L1 penalty and with values held within bounds = (low, high, direction)."""
    G, H, C = total
    extra_g, extra_h, extra_c = extra
    low, high, direction = bounds
    for j in range(k):
        a = sums[S_GRADIENT, j] + extra_g
        p = sums[S_HESSIAN, j] + extra_h
        n = sums[S_COUNT, j] + extra_c
        left = leaf_value(a, p, rule.l1, l2, low, high)
        right = leaf_value(G - a, H - p, rule.l1, l2, low, high)
        fits = (n >= rule.min_rows) & (C - n >= rule.min_rows) & (p >= rule.min_hessian) & (H - p >= rule.min_hessian)
        fits &= (p + l2 > 0.0) & (H - p + l2 > 0.0) & (direction * (right - left) >= 0.0)
        score = score_of(a, p, left, rule.l1, l2) + score_of(G - a, H - p, right, rule.l1, l2)
        sums[S_GAIN, j] = score if fits else NO_SPLIT


@inner
def largest(values: Any, k: Any) -> Any:
    """Place of the first largest of the first k values; -1 if there is none."""
    best = NO_SPLIT
    place = -1
    for j in range(k):
        if values[j] > best:
            best = values[j]
            place = j
    return place


@inner
def sort_places(keys: Any, k: Any, places: Any) -> None:
    """Fill places[:k] with 0 .. k-1 in ascending order of keys, equal keys by place (Shell 1959: k is at most 256)."""
    for j in range(k):
        places[j] = j
    for gap in (121, 40, 13, 4, 1):
        for j in range(gap, k):
            moved = places[j]
            i = j
            while i >= gap:
                other = places[i - gap]
                if keys[other] < keys[moved] or (keys[other] == keys[moved] and other < moved):
                    break
                places[i] = other
                i -= gap
            places[i] = moved


@inner
def order_levels(bins: Any, k: Any, units: Any, smooth: Any, spare: Any, keys: Any) -> None:
    """Sort the k levels in `bins` by mean gradient, smoothed; for one gradient the best set is then a prefix (Fisher 1958)."""
    for j in range(k):
        keys[j] = bins[0, j] * units[0] / (bins[1, j] * units[1] + smooth)
        for s in range(4):
            spare[s, j] = bins[s, j]
    places = spare[0, 256:]
    sort_places(keys, k, places)
    for j in range(k):
        for s in range(4):
            bins[s, j] = spare[s, places[j]]


@inner
def node_bins(growing: Any, rule: Any, feature: Any, place: Any, bins: Any, sums: Any) -> Any:
    """Occupied bins of a feature in running sums, levels in the order of their means; place = (table, layout, counts).

    Returns the number of bins, the number that hold no missing value, and the totals of the node.
    A missing number comes last; a missing category is a level like any other.
    """
    table, layout, counts = place
    width = rule.width
    start = feature * width
    cells = rule.n_features * width
    gradient_unit = rule.gradient_unit * 32768.0
    hessian_unit = rule.hessian_unit * (262144.0 if layout == PACKED3 else 32768.0)
    k = occupied_bins(table, layout, counts, start, int_list(growing, N_BINS)[feature], cells, bins, 0)
    size = occupied_bins(table, layout, counts, start + width - 1, 1, cells, bins, k)
    bins[3, k] = width - 1
    if int_list(growing, IS_CATEGORY)[feature]:
        order_levels(bins, size, (gradient_unit, hessian_unit), rule.category_smooth, bins[:, 256:], sums[S_KEY])
    uncounted = layout != PACKED3 and len(counts) == 0
    g = np.int64(0)
    h = np.int64(0)
    c = np.int64(0)
    for j in range(size):
        g += bins[0, j]
        h += bins[1, j]
        c += (bins[1, j] >> 15) if uncounted else bins[2, j]
        sums[S_GRADIENT, j] = g * gradient_unit
        sums[S_HESSIAN, j] = h * hessian_unit
        sums[S_COUNT, j] = c
    n = np.float64(c)
    if uncounted and not rule.constant_hessian:
        # These cells hold no counts: nothing is refused here, the winner is counted when its rows are split.
        sums[S_COUNT, :size] = 0.5e18
        n = 1e18
    return size, k, (g * gradient_unit, h * hessian_unit, n)


@inner
def scan_feature(growing: Any, rule: Any, feature: Any, place: Any, bounds: Any, bins: Any, sums: Any) -> Any:
    """Best split of a node by one feature: gain, bin, side of missing values, values left and right."""
    size, present, total = node_bins(growing, rule, feature, place, bins, sums)
    category = int_list(growing, IS_CATEGORY)[feature] != 0
    l2 = rule.l2 + (rule.category_l2 if category else 0.0)
    plain = (rule.l1 == 0.0) and not rule.bounded
    low, high, _direction = bounds
    best = NO_SPLIT
    best_j = -1
    side = RIGHT
    extra = (0.0, 0.0, 0.0)
    last = size - 1  # the last place to cut: missing values to the right, or, once more, to the left
    for turn in range(2):
        if turn == 1:
            if size == present or present < 2 or category:
                break
            last = present - 1
            extra = (
                sums[S_GRADIENT, size - 1] - sums[S_GRADIENT, size - 2],
                sums[S_HESSIAN, size - 1] - sums[S_HESSIAN, size - 2],
                sums[S_COUNT, size - 1] - sums[S_COUNT, size - 2],
            )
        if plain:
            gains(sums, last, total, extra, rule, l2)
        else:
            gains_bounded(sums, last, total, extra, rule, l2, bounds)
        j = largest(sums[S_GAIN], last)
        if j >= 0 and sums[S_GAIN, j] > best:
            best = sums[S_GAIN, j]
            best_j = j
            side = RIGHT if turn == 0 else LEFT
    if best_j < 0:
        return NO_SPLIT, -1, RIGHT, 0.0, 0.0
    a = sums[S_GRADIENT, best_j]
    p = sums[S_HESSIAN, best_j]
    if side == LEFT:
        a += extra[0]
        p += extra[1]
    left = leaf_value(a, p, rule.l1, l2, low, high)
    right = leaf_value(total[0] - a, total[1] - p, rule.l1, l2, low, high)
    where = best_j if category else bins[3, best_j]
    if not category and best_j + 1 < present:
        # Any code between two occupied bins makes the same split here: the middle one is fairest to new rows.
        where = (bins[3, best_j] + bins[3, best_j + 1] - 1) // 2
    own = leaf_value(total[0], total[1], rule.l1, rule.l2, low, high)
    return best - score_of(total[0], total[1], own, rule.l1, rule.l2), where, side, left, right


@inner
def left_levels(growing: Any, rule: Any, feature: Any, place: Any, count: Any, bins: Any, sums: Any, out: Any) -> Any:
    """Set the bits of the first count + 1 levels of the node's order in out (4 words); says on which side missing is."""
    size, _present, _total = node_bins(growing, rule, feature, place, bins, sums)
    side = RIGHT
    out[:] = 0
    for j in range(min(count + 1, size)):
        code = bins[3, j]
        if code == rule.width - 1:
            side = LEFT
        else:
            out[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    return side
