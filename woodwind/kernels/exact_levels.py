"""The best set of levels of a node, from the list of its rows by level.

With one number for each level, a mean gradient or the share of a class, the best set is a prefix of the levels in that order.
With more than two classes no order is sure to hold the best set; the orders by the share of each class are tried.
"""

from typing import Any

import numpy as np

from woodwind.kernels.exact_layout import (
    COUNTS,
    CURVE_ROWS,
    CURVES,
    FOUND_BIN,
    FOUND_I,
    FOUND_MISSING,
    FOUND_PLACE,
    FOUND_SETS,
    LEVELS,
    LISTS,
    LOGS,
    MISSING_RANK,
    NEWTON,
    NODE_I,
    PLACE_ROWS,
    PLACES,
    ROW_MASK,
    STATS,
    T_CLASSES,
    T_CODE,
    T_COUNT,
    T_GRADIENT,
    T_HESSIAN,
    TOTALS,
)
from woodwind.kernels.exact_score import allowed_classes, class_score, newton_score
from woodwind.kernels.intrinsics import floats, int_list, ints, words_in
from woodwind.kernels.jit import inner
from woodwind.kernels.layout import LEFT, N_BEGIN, N_END, RIGHT, STOP
from woodwind.kernels.scan import NO_SPLIT, sort_places

U = np.uint64
NOT_A_PLACE = np.int64(-1)


@inner
def sum_missing(growing: Any, rule: Any, slot: Any, begin: Any, end: Any, left: Any) -> Any:
    """Sums over places of a list: gradient, hessian and count; the weight of each class is added to `left`."""
    pairs = ints(growing, LISTS)[slot]
    stats = int_list(growing, STATS)
    g = np.int64(0)
    h = np.int64(0)
    c = np.int64(0)
    for k in range(rule.n_classes):
        left[k] = 0
    for j in range(begin, end):
        at = (pairs[j] & ROW_MASK) << 2
        h += stats[at + 1]
        c += stats[at + 2]
        if rule.criterion == NEWTON:
            g += stats[at]
        else:
            left[stats[at]] += stats[at + 1]
    return g, h, c


@inner
def gather_levels(growing: Any, rule: Any, node: Any, slot: Any, thread: Any) -> Any:
    """Sum the rows of each level that the node has, missing values last and like any other; how many there are."""
    pairs = ints(growing, LISTS)[slot]
    stats = int_list(growing, STATS)
    levels = ints(growing, LEVELS)[256 * thread : 256 * thread + 256]
    size = 0
    before = NOT_A_PLACE
    for j in range(ints(growing, NODE_I)[node, N_BEGIN], ints(growing, NODE_I)[node, N_END]):
        code = pairs[j] >> 32
        at = (pairs[j] & ROW_MASK) << 2
        if code != before:
            for k in range(T_CLASSES + rule.n_classes):
                levels[size, k] = 0
            levels[size, T_CODE] = code
            before = code
            size += 1
        level = levels[size - 1]
        level[T_HESSIAN] += stats[at + 1]
        level[T_COUNT] += stats[at + 2]
        if rule.criterion == NEWTON:
            level[T_GRADIENT] += stats[at]
        else:
            level[T_CLASSES + stats[at]] += stats[at + 1]
    return size


@inner
def order_levels(levels: Any, size: Any, rule: Any, turn: Any, keys: Any, places: Any) -> None:
    """Sort levels by mean gradient or by the share of a class; for one number the best set is then a prefix (Fisher 1958)."""
    for j in range(size):
        if rule.criterion == NEWTON:
            below = np.float64(levels[j, T_HESSIAN]) * rule.hessian_unit + rule.category_smooth
            keys[j] = np.float64(levels[j, T_GRADIENT]) * rule.gradient_unit / below if below > 0.0 else 0.0
        else:
            keys[j] = np.float64(levels[j, T_CLASSES + turn]) / np.float64(levels[j, T_HESSIAN])
    sort_places(keys, size, places)


@inner
def write_sets(growing: Any, slot: Any, levels: Any, places: Any, count: Any, size: Any) -> None:
    """Note which levels go left and which go right; others were not met, and will stop here."""
    sets = words_in(growing, FOUND_SETS)[slot]
    way = STOP
    for word in range(8):
        sets[word] = 0
    for j in range(size):
        code = levels[places[j], T_CODE]
        right = np.int64(j >= count)
        if code == MISSING_RANK:
            way = RIGHT if j >= count else LEFT
        else:
            sets[4 * right + (code >> 6)] |= U(1) << U(code & 63)
    ints(growing, FOUND_I)[slot, FOUND_MISSING] = way


@inner
def scan_levels(growing: Any, rule: Any, node: Any, side: Any, slot: Any, thread: Any, bounds: Any) -> Any:
    """Best set of levels of a node: as `scan_numbers`. With more than two classes, the orders by the share of each are tried."""
    levels = ints(growing, LEVELS)[256 * thread : 256 * thread + 256]
    total = ints(growing, TOTALS)[side]
    left = ints(growing, COUNTS)[thread]
    places = ints(growing, PLACES)[PLACE_ROWS * thread]
    logs = int_list(growing, LOGS)
    size = gather_levels(growing, rule, node, slot, thread)
    best = NO_SPLIT
    sum_a = np.int64(0)
    sum_p = np.int64(0)
    count = NOT_A_PLACE
    for turn in range(rule.n_classes if rule.n_classes > 2 else 1):
        order_levels(levels, size, rule, min(turn + 1, rule.n_classes - 1) if rule.n_classes == 2 else turn,
                     floats(growing, CURVES)[CURVE_ROWS * thread], places)  # fmt: skip
        g, h, c = sum_missing(growing, rule, slot, 0, 0, left)
        better = NOT_A_PLACE
        for j in range(size - 1):
            level = levels[places[j]]
            g += level[T_GRADIENT]
            h += level[T_HESSIAN]
            c += level[T_COUNT]
            score = NO_SPLIT
            if rule.criterion == NEWTON:
                sums = (total[T_GRADIENT], total[T_HESSIAN], total[T_COUNT])
                score = newton_score((g, h, c), sums, rule, rule.l2 + rule.category_l2, bounds)
            else:
                for k in range(rule.n_classes):
                    left[k] += level[T_CLASSES + k]
                if c >= rule.min_rows and total[T_COUNT] - c >= rule.min_rows:
                    if not rule.bounded or allowed_classes(left, h, total, bounds):
                        score = class_score(left, h, total, rule, logs) * rule.hessian_unit
            if score > best:
                best = score
                better = np.int64(j)
                sum_a = g if rule.criterion == NEWTON else left[1]
                sum_p = h
        if better >= 0:
            count = better + 1
            write_sets(growing, slot, levels, places, count, size)
    ints(growing, FOUND_I)[slot, FOUND_PLACE] = count
    ints(growing, FOUND_I)[slot, FOUND_BIN] = 0
    return best, count, sum_a, sum_p
