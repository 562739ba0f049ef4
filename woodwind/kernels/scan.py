"""Statistics of the bins of a node to its best split.

Plain loops one after another instead of one clever one, because LLVM turns them into vector code: the occupied bins,
their running sums, the gain after each, the largest of them and its place.
Gains are float64 functions of exact integers; ties go to the lowest feature, then the lowest threshold.
"""

from typing import Any

import numpy as np

from woodwind.kernels.growing import BINS, CURVE_BITS, CURVES, IS_CATEGORY, N_BINS
from woodwind.kernels.intrinsics import floats, int_list, ints
from woodwind.kernels.jit import inner
from woodwind.kernels.layout import LEFT, PACKED2, PACKED3, RIGHT, WIDE2

U = np.uint64

# Rows of the float scratch of a thread: running sums of gradient, hessian and count after each occupied bin; gains; keys.
S_GRADIENT = 0
S_HESSIAN = 1
S_COUNT = 2
S_GAIN = 3
S_KEY = 4
CURVE_ROWS = 8

# Rows of the integer scratch of a thread: packed statistics of an occupied bin (two where they are wide), count, code, and scratch.
B_CELL = 0
B_HESSIAN = 1
B_COUNT = 2
B_CODE = 3
B_PLACE = 4
B_RUN = 5  # packed running sums
B_SPARE = 6
BIN_ROWS = 10

UNKNOWN = 1e18  # rows of a node whose cells hold no counts
CROWDED = 160  # rows from which on it is faster to judge all bins than to pick out the occupied ones first

NO_SPLIT = -np.inf
NO_SCORE = -1.0  # scores are not negative


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
def occupied_wide(cells: Any, plane: Any, start: Any, n_bins: Any, bins: Any, first: Any, k: Any) -> Any:
    """As `occupied_bins`, for a wide table."""
    for b in range(n_bins):
        bins[B_CELL, k] = cells[start + b]
        bins[B_HESSIAN, k] = cells[plane + start + b]
        bins[B_CODE, k] = first + b
        k += np.int64((bins[B_CELL, k] != 0) or (bins[B_HESSIAN, k] != 0))
    return k


@inner
def running_sums(cells: Any, k: Any, out: Any) -> Any:
    """Running sums of packed cells, which are packed themselves; returns the last."""
    run = np.int64(0)
    for j in range(U(k)):
        run += cells[j]
        out[j] = run
    return run


@inner
def unpack_sums(runs: Any, k: Any, layout: Any, curves: Any) -> None:
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
def gains_packed(out: Any, k: Any, runs: Any, layout: Any, total: Any, extra: Any, rule: Any, l2: Any) -> None:
    """Score of both sides for a cut after each of the first k bins, `extra` (missing values) being added to the left.

    One division for both terms: a/b + c/d = (a d + c b) / (b d). Every field fits into an int32, and only those become
    floats in vector code without AVX-512.
    """
    G, H, C, gradient_unit, hessian_unit = total
    least = rule.min_rows
    most = C - least
    least_h = rule.min_hessian
    if layout == PACKED3:
        # The gradient is in the upper 28 bits: taken as 32 with the lowest 4 cleared, it needs no arithmetic shift of 64 bits.
        sixteenth = gradient_unit / 16.0
        for j in range(U(k)):
            run = runs[j] + extra
            a = np.float64(np.int32(run >> 32) & -16) * sixteenth
            p = np.float64(np.int32((run >> 12) & 0xFFFFFF)) * hessian_unit
            n = np.float64(np.int32(run & 0xFFF))
            b = G - a
            q = H - p
            below = p + l2
            above = q + l2
            product = below * above
            score = (a * a * above + b * b * below) / product
            fits = (n >= least) & (n <= most) & (p >= least_h) & (q >= least_h) & (product > 0.0)
            out[j] = score if fits else NO_SCORE
    else:
        if rule.constant_hessian:
            least_h = max(least_h, least * rule.row_hessian * hessian_unit)
        for j in range(U(k)):
            run = runs[j] + extra
            a = np.float64(np.int32(run >> 32)) * gradient_unit
            p = np.float64(np.int32(run & 0xFFFFFFFF)) * hessian_unit
            b = G - a
            q = H - p
            below = p + l2
            above = q + l2
            product = below * above
            score = (a * a * above + b * b * below) / product
            fits = (p >= least_h) & (q >= least_h) & (product > 0.0)
            out[j] = score if fits else NO_SCORE


@inner
def gains_bounded(out: Any, k: Any, curves: Any, total: Any, extra: Any, rule: Any, l2: Any, bounds: Any) -> None:
    """The gain of a cut after each of the first k bins, for sums as floats, with an L1 penalty and values held within bounds.

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
def order_levels(bins: Any, k: Any, layout: Any, units: Any, smooth: Any, keys: Any) -> None:
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
        for s in range(4):
            bins[B_SPARE + s, j] = bins[s, j]
    sort_places(keys, k, bins[B_PLACE])
    for j in range(k):
        for s in range(4):
            bins[s, j] = bins[B_SPARE + s, bins[B_PLACE, j]]


@inner
def takes_whole(growing: Any, layout: Any, counts: Any, crowded: Any, feature: Any) -> Any:
    """Whether all bins of a feature are taken, without picking out the occupied ones."""
    return crowded and layout != WIDE2 and len(counts) == 0 and int_list(growing, IS_CATEGORY)[feature] == 0


@inner
def node_bins(growing: Any, rule: Any, feature: Any, place: Any, thread: Any) -> Any:
    """Occupied bins of a feature in running sums, levels in the order of their means; place = (table, layout, counts, crowded).

    In a crowded node, where most bins are occupied, all bins of a number are taken as they are. Returns the number of bins, the number that hold no missing value, and the totals of the node.
    A missing number comes last; a missing category is a level like any other.
    """
    table, layout, counts, crowded = place
    bins = ints(growing, BINS)[BIN_ROWS * thread : BIN_ROWS * thread + BIN_ROWS]
    curves = floats(growing, CURVES)[CURVE_ROWS * thread : CURVE_ROWS * thread + CURVE_ROWS]
    width = rule.width
    start = feature * width
    plane = rule.n_features * width
    gradient_unit = rule.gradient_unit * 32768.0
    hessian_unit = rule.hessian_unit * (262144.0 if layout == PACKED3 else 32768.0)
    n_bins = int_list(growing, N_BINS)[feature]
    missing = start + width - 1
    whole = takes_whole(growing, layout, counts, crowded, feature)
    if whole:
        k = n_bins
        size = k + np.int64(table[missing] != 0)
    elif layout == WIDE2:
        k = occupied_wide(table, plane, start, n_bins, bins, 0, 0)
        size = occupied_wide(table, plane, missing, 1, bins, width - 1, k)
    else:
        k = occupied_bins(table, start, n_bins, bins[B_CELL], bins[B_CODE], 0, 0)
        size = occupied_bins(table, missing, 1, bins[B_CELL], bins[B_CODE], width - 1, k)
    if int_list(growing, IS_CATEGORY)[feature]:
        order_levels(bins, size, layout, (gradient_unit, hessian_unit), rule.category_smooth, curves[S_KEY])
    n = UNKNOWN
    g = np.int64(0)
    h = np.int64(0)
    if layout == WIDE2:
        for j in range(size):
            g += bins[B_CELL, j]
            h += bins[B_HESSIAN, j]
            curves[S_GRADIENT, j] = g
            curves[S_HESSIAN, j] = h
    else:
        if whole:
            run = running_sums(table[start:], k, bins[B_RUN]) + table[missing]
            bins[B_RUN, k] = run
        else:
            run = running_sums(bins[B_CELL], size, bins[B_RUN])
        if layout == PACKED3:
            g = run >> 36
            h = (run >> 12) & 0xFFFFFF
            n = np.float64(run & 0xFFF)
        else:
            g = run >> 32
            h = run & 0xFFFFFFFF
    if layout != PACKED3 and len(counts) > 0:
        c = np.int64(0)
        for j in range(size):
            c += counts[start + bins[B_CODE, j]]
            curves[S_COUNT, j] = c
        n = np.float64(c)
    return size, k, (g * gradient_unit, h * hessian_unit, n, gradient_unit, hessian_unit)


@inner
def float_sums(rule: Any, layout: Any, counted: Any, size: Any, runs: Any, curves: Any) -> None:
    """Running sums as floats, where the packed ones do not do; without counts nothing is refused for want of rows:
    the winner is counted when its rows are split."""
    if layout != WIDE2:
        unpack_sums(runs, size, layout, curves)
    if layout != PACKED3 and not counted:
        for j in range(size):
            curves[S_COUNT, j] = curves[S_HESSIAN, j] / rule.row_hessian if rule.constant_hessian else 0.5 * UNKNOWN


@inner
def scan_feature(growing: Any, rule: Any, feature: Any, place: Any, bounds: Any, thread: Any) -> Any:
    """Best split of a node by one feature: gain, bin, side of missing values, values left and right."""
    size, present, total = node_bins(growing, rule, feature, place, thread)
    layout = place[1]
    counted = len(place[2]) > 0
    codes = ints(growing, BINS)[BIN_ROWS * thread + B_CODE]
    runs = ints(growing, BINS)[BIN_ROWS * thread + B_RUN]
    curves = floats(growing, CURVES)[CURVE_ROWS * thread : CURVE_ROWS * thread + CURVE_ROWS]
    bits = ints(growing, CURVE_BITS)[CURVE_ROWS * thread + S_GAIN]
    curve = curves[S_GAIN]
    category = int_list(growing, IS_CATEGORY)[feature] != 0
    l2 = rule.l2 + (rule.category_l2 if category else 0.0)
    fast = (rule.l1 == 0.0) and not rule.bounded and layout != WIDE2 and not (counted and layout != PACKED3)
    low, high, direction = bounds
    own = score_of(total[0], total[1], leaf_value(total[0], total[1], rule.l1, rule.l2, low, high), rule.l1, rule.l2)
    if not fast:
        float_sums(rule, layout, counted, size, runs, curves)
        if layout != PACKED3 and not counted and rule.constant_hessian:
            total = (total[0], total[1], total[1] / total[4] / rule.row_hessian, total[3], total[4])
    best = NO_SCORE
    best_j = -1
    side = RIGHT
    last = size - 1  # the last place to cut: missing values to the right, or, once more, to the left
    cell = np.int64(0)
    extra = (0.0, 0.0, 0.0)
    for turn in range(2):
        if turn == 1:
            if size == present or present < 2 or category:
                break
            last = present - 1
            if fast:
                cell = runs[size - 1] - runs[size - 2]
            else:
                extra = (
                    curves[S_GRADIENT, size - 1] - curves[S_GRADIENT, size - 2],
                    curves[S_HESSIAN, size - 1] - curves[S_HESSIAN, size - 2],
                    curves[S_COUNT, size - 1] - curves[S_COUNT, size - 2],
                )
        if fast:
            gains_packed(curve, last, runs, layout, total, cell, rule, l2)
        else:
            gains_bounded(curve, last, curves, total, extra, rule, l2, (low, high, direction, own))
        j = largest(bits, last)
        if j >= 0 and curve[j] > best:
            best = curve[j]
            best_j = j
            side = RIGHT if turn == 0 else LEFT
    if best_j < 0:
        return NO_SPLIT, -1, RIGHT, 0.0, 0.0
    if fast:
        unpack_sums(runs[best_j:], 1, layout, curves)
        a = curves[S_GRADIENT, 0]
        p = curves[S_HESSIAN, 0]
        if side == LEFT:
            runs[best_j] = cell
            unpack_sums(runs[best_j:], 1, layout, curves)
            a += curves[S_GRADIENT, 0]
            p += curves[S_HESSIAN, 0]
    else:
        a = curves[S_GRADIENT, best_j]
        p = curves[S_HESSIAN, best_j]
        if side == LEFT:
            a += extra[0]
            p += extra[1]
    a *= total[3]
    p *= total[4]
    left = leaf_value(a, p, rule.l1, l2, low, high)
    right = leaf_value(total[0] - a, total[1] - p, rule.l1, l2, low, high)
    where = best_j
    if not category:
        # Any code between two occupied bins makes the same split here: the middle one is fairest to new rows.
        # Behind the last bin numbers part from missing values: all numbers, also larger ones than were met here.
        where = int_list(growing, N_BINS)[feature] - 1
        if takes_whole(growing, layout, place[2], place[3], feature):
            following = best_j + 1
            while following < present and place[0][feature * rule.width + following] == 0:
                following += 1
            if following < present:
                where = (best_j + following - 1) // 2
        elif best_j + 1 < present:
            where = (codes[best_j] + codes[best_j + 1] - 1) // 2
    return best - own if fast else best, where, side, left, right


@inner
def left_levels(growing: Any, rule: Any, feature: Any, place: Any, count: Any, thread: Any, out: Any) -> Any:
    """Set the bits of the first count + 1 levels of the node's order in out (4 words); says on which side missing is."""
    size, _present, _total = node_bins(growing, rule, feature, place, thread)
    codes = ints(growing, BINS)[BIN_ROWS * thread + B_CODE]
    side = RIGHT
    for word in range(4):
        out[word] = 0
    for j in range(min(count + 1, size)):
        code = codes[j]
        if code == rule.width - 1:
            side = LEFT
        else:
            out[code >> 6] |= U(1) << U(code & 63)
    return side
