"""The best split of a node by one feature, from the list of its rows in the order of that feature.

    ranks   3  3  7  7  7  8 | -  -        rows of one value, one after another; missing values last
    cuts         ^        ^  ^             between two values, and before the missing values

Sums are integers, so a cut has the same score wherever it stands; scores are float64 functions of them.
Both sides are scored by the same expressions, so that a split and its mirror image tie.
Ties go to missing values on the right, then to the lowest threshold.
The slow twin is `woodwind/testing/naive_tree.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.exact_layout import (
    BLOCK,
    CATEGORY,
    COUNTS,
    CURVE_ROWS,
    CURVES,
    ENTROPY,
    FEATURES,
    FOUND_BIN,
    FOUND_F,
    FOUND_I,
    FOUND_LEFT,
    FOUND_MISSING,
    FOUND_PLACE,
    FOUND_RATIO,
    FOUND_RIGHT,
    FOUND_SCORE,
    GINI,
    LISTS,
    LOGS,
    MISSING_RANK,
    MONOTONIC,
    NEWTON,
    NODE_F,
    NODE_I,
    PLACE_ROWS,
    PLACES,
    ROW_MASK,
    STATS,
    T_CLASSES,
    T_COUNT,
    T_GRADIENT,
    T_HESSIAN,
    TOTALS,
    X_OWN,
)
from woodwind.kernels.exact_levels import scan_levels, sum_missing
from woodwind.kernels.exact_score import allowed_classes, class_score, newton_score, two_sides, x_log_x
from woodwind.kernels.intrinsics import floats, int_list, ints
from woodwind.kernels.jit import inner
from woodwind.kernels.layout import F_HIGH, F_LOW, LEFT, N_BEGIN, N_END, RIGHT, STOP
from woodwind.kernels.scan import NO_SPLIT, leaf_value

U = np.uint64
NOT_A_PLACE = np.int64(-1)


@inner
def scan_sums(growing: Any, rule: Any, thread: Any, slot: Any, span: Any, start: Any, total: Any, l2: Any) -> Any:
    """Best cut behind one of the places span = (first, last): score, place, gradient and hessian on the left.

    By blocks: the sums at the cuts, then their scores, then the best, because LLVM makes vector code of the second loop.
    """
    first, last = span
    g, h, c = start
    G, H, C = total
    pairs = ints(growing, LISTS)[slot]
    stats = int_list(growing, STATS)
    sums = ints(growing, PLACES)
    place, sum_g, sum_h, sum_c = (
        sums[PLACE_ROWS * thread], sums[PLACE_ROWS * thread + 1], sums[PLACE_ROWS * thread + 2], sums[PLACE_ROWS * thread + 3],
    )  # fmt: skip
    scores = floats(growing, CURVES)[CURVE_ROWS * thread]
    least = rule.min_rows
    least_h = rule.min_hessian
    unit = rule.hessian_unit
    best = NO_SPLIT
    where = NOT_A_PLACE
    best_g = g
    best_h = h
    while first < last:
        stop = min(first + BLOCK, last)
        k = U(0)
        pair = pairs[first]
        for j in range(U(first), U(stop)):
            at = U((pair & ROW_MASK) << 2)
            following = pairs[j + U(1)]
            g += stats[at]
            h += stats[at + U(1)]
            c += stats[at + U(2)]
            place[k] = j
            sum_g[k] = g
            sum_h[k] = h
            sum_c[k] = c
            k += U((pair ^ following) > ROW_MASK)
            pair = following
        for t in range(k):
            a = np.float64(sum_g[t])
            b = np.float64(G - sum_g[t])
            p = np.float64(sum_h[t]) * unit
            q = np.float64(H - sum_h[t]) * unit
            below = p + l2
            above = q + l2
            score = (a * a * above + b * b * below) / (below * above)
            fits = (sum_c[t] >= least) & (C - sum_c[t] >= least) & (p >= least_h) & (q >= least_h) & (below * above > 0.0)
            scores[t] = score if fits else NO_SPLIT
        for t in range(k):
            if scores[t] > best:
                best = scores[t]
                where = place[t]
                best_g = sum_g[t]
                best_h = sum_h[t]
        first = stop
    return best * (rule.gradient_unit * rule.gradient_unit), where, best_g, best_h


@inner
def scan_bounded(growing: Any, rule: Any, slot: Any, span: Any, start: Any, total: Any, l2: Any, bounds: Any) -> Any:
    """As `scan_sums`, with an L1 penalty and with bounds."""
    g, h, c = start
    pairs = ints(growing, LISTS)[slot]
    stats = int_list(growing, STATS)
    best = NO_SPLIT
    where = NOT_A_PLACE
    best_g = g
    best_h = h
    for j in range(span[0], span[1]):
        at = (pairs[j] & ROW_MASK) << 2
        g += stats[at]
        h += stats[at + 1]
        c += stats[at + 2]
        if (pairs[j] ^ pairs[j + 1]) > ROW_MASK:
            score = newton_score((g, h, c), total, rule, l2, bounds)
            if score > best:
                best = score
                where = np.int64(j)
                best_g = g
                best_h = h
    return best, where, best_g, best_h


@inner
def scan_classes(growing: Any, rule: Any, slot: Any, span: Any, start: Any, left: Any, total: Any, bounds: Any) -> Any:
    """As `scan_sums` for classes; `left` has the weight of each class, start = (their sum, rows); gives the second class and the sum.

    A step changes one class only: where the squares fit into 64 bits, their sums follow it.
    """
    w, c = start
    W = total[T_HESSIAN]
    C = total[T_COUNT]
    pairs = ints(growing, LISTS)[slot]
    stats = int_list(growing, STATS)
    logs = int_list(growing, LOGS)
    follow = rule.criterion == GINI and rule.narrow
    A = np.int64(0)
    B = np.int64(0)
    if follow:
        for k in range(rule.n_classes):
            rest = total[T_CLASSES + k] - left[k]
            A += left[k] * left[k]
            B += rest * rest
    best = NO_SPLIT
    where = NOT_A_PLACE
    best_1 = w
    best_w = w
    pair = pairs[span[0]]
    for j in range(U(span[0]), U(span[1])):
        at = U((pair & ROW_MASK) << 2)
        following = pairs[j + U(1)]
        one = stats[at + U(1)]
        k = U(stats[at])
        own = left[k]
        if follow:
            A += one * (2 * own + one)
            B -= one * (2 * (total[U(T_CLASSES) + k] - own) - one)
        left[k] = own + one
        w += one
        c += stats[at + U(2)]
        if (pair ^ following) > ROW_MASK and c >= rule.min_rows and C - c >= rule.min_rows:
            if follow:
                score = two_sides(np.float64(A), np.float64(B), np.float64(w), np.float64(W - w))
            else:
                score = class_score(left, w, total, rule, logs)
            if score > best and (not rule.bounded or allowed_classes(left, w, total, bounds)):
                best = score
                where = np.int64(j)
                best_1 = left[U(1)]
                best_w = w
        pair = following
    return best * rule.hessian_unit, where, best_1, best_w


@inner
def first_missing(pairs: Any, begin: Any, end: Any) -> Any:
    """Place of the first missing value of a node in a list; end if there is none."""
    if pairs[end - 1] >> 32 != MISSING_RANK:
        return end
    low = begin
    high = end - 1
    while low < high:
        middle = (low + high) // 2
        if pairs[middle] >> 32 == MISSING_RANK:
            high = middle
        else:
            low = middle + 1
    return low


@inner
def scan_numbers(growing: Any, rule: Any, node: Any, side: Any, slot: Any, thread: Any, bounds: Any) -> Any:
    """Best cut of a node by a number: score, place, two sums of the left; what was found is written to FOUND_I."""
    begin = ints(growing, NODE_I)[node, N_BEGIN]
    end = ints(growing, NODE_I)[node, N_END]
    pairs = ints(growing, LISTS)[slot]
    total = ints(growing, TOTALS)[side]
    left = ints(growing, COUNTS)[thread]
    found = ints(growing, FOUND_I)[slot]
    best = NO_SPLIT
    where = NOT_A_PLACE
    sum_a = np.int64(0)
    sum_p = np.int64(0)
    stop = first_missing(pairs, begin, end)
    found[FOUND_MISSING] = STOP if stop == end else RIGHT
    for turn in range(2):
        # First missing values go right, and the last cut is before them; then they go left.
        last = stop - 1 if turn == 1 or stop == end else stop
        if last <= begin or (turn == 1 and stop == end):
            break
        g, h, c = sum_missing(growing, rule, slot, stop, end if turn == 1 else stop, left)
        if rule.criterion != NEWTON:
            score, place, a, p = scan_classes(growing, rule, slot, (begin, last), (h, c), left, total, bounds)
        else:
            sums = (total[T_GRADIENT], total[T_HESSIAN], total[T_COUNT])
            if rule.plain:
                score, place, a, p = scan_sums(growing, rule, thread, slot, (begin, last), (g, h, c), sums, rule.l2)
            else:
                score, place, a, p = scan_bounded(growing, rule, slot, (begin, last), (g, h, c), sums, rule.l2, bounds)
        if place >= 0 and score > best:
            best = score
            where = place
            sum_a = a
            sum_p = p
            if turn == 1:
                found[FOUND_MISSING] = LEFT
    found[FOUND_PLACE] = where
    if where >= 0:
        found[FOUND_BIN] = (pairs[where + 1] >> 32 << 32) + (pairs[where] >> 32)
    return best, where, sum_a, sum_p


@inner
def scan_slot(growing: Any, rule: Any, node: Any, side: Any, slot: Any, thread: Any) -> None:
    """Best split of a node by the feature of a slot: written to FOUND_I, FOUND_F and FOUND_SETS."""
    what = ints(growing, NODE_I)[node]
    real = floats(growing, NODE_F)[node]
    pairs = ints(growing, LISTS)[slot]
    found_f = floats(growing, FOUND_F)[slot]
    ints(growing, FOUND_I)[slot, FOUND_PLACE] = NOT_A_PLACE
    if pairs[what[N_BEGIN]] >> 32 == pairs[what[N_END] - 1] >> 32:
        return
    feature = int_list(growing, FEATURES)[slot]
    category = int_list(growing, CATEGORY)[feature] != 0
    low = real[F_LOW]
    high = real[F_HIGH]
    bounds = (low, high, np.float64(int_list(growing, MONOTONIC)[feature]))
    if category:
        score, place, a, p = scan_levels(growing, rule, node, side, slot, thread, bounds)
    else:
        score, place, a, p = scan_numbers(growing, rule, node, side, slot, thread, bounds)
    if place < 0:
        return
    found_f[FOUND_SCORE] = score - real[X_OWN]
    total = ints(growing, TOTALS)[side]
    rest = total[T_HESSIAN] - p
    if rule.criterion == NEWTON:
        l2 = rule.l2 + (rule.category_l2 if category else 0.0)
        unit = rule.hessian_unit
        found_f[FOUND_LEFT] = leaf_value(np.float64(a) * rule.gradient_unit, np.float64(p) * unit, rule.l1, l2, low, high)
        b = np.float64(total[T_GRADIENT] - a) * rule.gradient_unit
        found_f[FOUND_RIGHT] = leaf_value(b, np.float64(rest) * unit, rule.l1, l2, low, high)
        return
    if rule.bounded:
        found_f[FOUND_LEFT] = np.float64(a) / np.float64(p)
        found_f[FOUND_RIGHT] = np.float64(total[T_CLASSES + 1] - a) / np.float64(rest)
    if rule.criterion > ENTROPY:
        # Quinlan 1993: a split pays for the bits that name its sides.
        logs = int_list(growing, LOGS)
        bits = x_log_x(total[T_HESSIAN], rule, logs) - x_log_x(p, rule, logs) - x_log_x(rest, rule, logs)
        found_f[FOUND_RATIO] = found_f[FOUND_SCORE] / (np.float64(bits) / rule.log_scale * rule.hessian_unit)
