"""The best split of a node by one feature after another: numbers, sets of levels, random cuts."""

from typing import Any

import numpy as np

from woodwind.kernels.grove_layout import (
    B_BIN,
    B_FEATURE,
    B_HIGH,
    B_IS_SET,
    B_LOW,
    B_MISSING,
    BEST,
    BEST_F,
    BEST_SET,
    BF_CUT,
    BF_SCORE,
    C_FIRST,
    C_LAST,
    CATEGORY,
    CELLS,
    COARSE_MISSING,
    CONTROL,
    CURVE,
    ITEMS,
    LEVEL_KEYS,
    LEVEL_ORDER,
    LOGS,
    LOW_HALF,
    MISSING_CODE,
    MOMENTS,
    R_CRITERION,
    R_MIN_ROWS,
    R_MIN_WEIGHT,
    R_MOST,
    R_N_CLASSES,
    R_RANDOM_CUTS,
    SIDES,
    SPAN,
    VALUES,
    VALUES_AT,
)
from woodwind.kernels.grove_order import fill_cells, gather_bins, gather_numbers, gather_sorted
from woodwind.kernels.grove_score import allowed, class_score, moment_score, scan_items, worth
from woodwind.kernels.intrinsics import floats, int_list, ints, words_in
from woodwind.kernels.jit import inlined, inner
from woodwind.kernels.keys import hashed
from woodwind.kernels.layout import LEFT, RIGHT, STOP
from woodwind.kernels.scan import NO_SPLIT

U = np.uint64


@inlined
def note(growing: Any, score: Any, feature: Any, span: Any, missing: Any, is_set: Any, bin_: Any, cut: Any) -> None:
    """Keep a split that is better than those before; span: the codes on both sides of the cut."""
    best = int_list(growing, BEST)
    low, high = span
    best[B_HIGH] = high
    best[B_FEATURE] = feature
    best[B_LOW] = low
    best[B_MISSING] = missing
    best[B_IS_SET] = is_set
    best[B_BIN] = bin_
    floats(growing, BEST_F)[0, BF_SCORE] = score
    floats(growing, BEST_F)[0, BF_CUT] = cut


@inner
def midway(low: Any, high: Any) -> Any:
    """A threshold between two numbers: not below the lower one, and below the higher one."""
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low


@inlined
def judge_numbers(growing: Any, feature: Any, begin: Any, end: Any, total: Any) -> None:
    """The best threshold of a feature, missing values tried on both sides."""
    control = int_list(growing, CONTROL)
    codes = int_list(growing, ITEMS)
    inside = end <= control[C_LAST] and begin >= control[C_FIRST]
    n = gather_sorted(growing, feature, begin, end) if inside else gather_bins(growing, feature, begin, end)
    if codes[0] == codes[n - 1]:
        return
    stop = n
    while codes[stop - 1] == MISSING_CODE:
        stop -= 1
    score, where = scan_items(growing, n - 1 if stop == n else stop, 0, 0, total)
    missing = STOP if stop == n else RIGHT
    if stop < n:
        other, place = scan_items(growing, stop - 1, stop, n, total)
        if other > score:
            score = other
            where = place
            missing = LEFT
    if where < 0 or not score > floats(growing, BEST_F)[0, BF_SCORE]:
        return
    bin_ = np.int64(-1) if inside else codes[where]
    note(growing, score, feature, (codes[where], codes[where + 1]), missing, 0, bin_, 0.0)


@inner
def settle_cut(growing: Any) -> None:
    """Turn the codes on both sides of the best cut into ranks, and those into a threshold."""
    best = int_list(growing, BEST)
    feature = best[B_FEATURE]
    if best[B_BIN] >= 0:
        span = ints(growing, SPAN)
        best[B_LOW] = span[2 * feature + 1, best[B_LOW]]
        if best[B_HIGH] != MISSING_CODE:
            best[B_HIGH] = span[2 * feature, best[B_HIGH]]
    cut = np.inf
    if best[B_HIGH] != MISSING_CODE:
        first = int_list(growing, VALUES_AT)[feature]
        values = floats(growing, VALUES)
        cut = midway(values[0, first + best[B_LOW]], values[0, first + best[B_HIGH]])
    floats(growing, BEST_F)[0, BF_CUT] = cut


# Random cuts.


@inlined
def score_sides(growing: Any, s: Any, both: Any, total: Any) -> Any:
    """Score of one cut: s and both of the left side, its classes in SIDES[1]."""
    total_s, total_both = total
    if not allowed(both, total_both, growing[R_MIN_ROWS], growing[R_MIN_WEIGHT]):
        return NO_SPLIT
    if growing[R_CRITERION] == MOMENTS:
        return moment_score(s, both, total_s, total_both)
    sides = ints(growing, SIDES)
    A = np.int64(0)
    B = np.int64(0)
    logs = int_list(growing, LOGS)
    for k in range(growing[R_N_CLASSES]):
        A += worth(sides[1, k], logs)
        B += worth(sides[0, k] - sides[1, k], logs)
    p = both & LOW_HALF
    return class_score(A, p, B, (total_both & LOW_HALF) - p, logs)


@inlined
def add_side(growing: Any, size: Any, cut: Any, missing: Any) -> Any:
    """Sum of the rows with numbers up to the cut, or of those that miss one; their classes are added to SIDES[1]."""
    numbers = floats(growing, CURVE)[0]
    sums = int_list(growing, ITEMS)[growing[R_MOST] : 2 * growing[R_MOST]]
    boths = int_list(growing, ITEMS)[2 * growing[R_MOST] :]
    s = np.int64(0)
    both = np.int64(0)
    moments = growing[R_CRITERION] == MOMENTS
    if moments and not missing:
        for j in range(U(size)):
            here = numbers[j] <= cut
            s += sums[j] if here else np.int64(0)
            both += boths[j] if here else np.int64(0)
        return s, both
    left = ints(growing, SIDES)[1]
    for j in range(U(size)):
        if (numbers[j] != numbers[j]) if missing else (numbers[j] <= cut):
            both += boths[j]
            if moments:
                s += sums[j]
            else:
                left[sums[j]] += boths[j] & LOW_HALF
    return s, both


@inlined
def judge_random(growing: Any, feature: Any, begin: Any, end: Any, total: Any, key: Any) -> None:
    """One random threshold between the least and the largest number of the node (Geurts, Ernst & Wehenkel 2006)."""
    gather_numbers(growing, feature, begin, end)
    numbers = floats(growing, CURVE)[0]
    size = end - begin
    least = np.inf
    most = -np.inf
    lost = np.int64(0)
    for j in range(U(size)):
        number = numbers[j]
        least = number if number < least else least
        most = number if number > most else most
        lost += np.int64(number != number)
    if lost == size or (least >= most and lost == 0):
        return
    share = np.float64(hashed(key, 0) >> 10) * 2.0**-53
    cut = np.inf  # numbers on one side, missing values on the other
    if least < most:
        cut = least + share * (most - least)
        if not cut < most:
            # Rounding, or an infinity, between which nothing is uniform: a number of the node.
            cut = numbers[np.int64(share * np.float64(size))]
        if not cut < most:
            cut = least
    left = ints(growing, SIDES)[1]
    for k in range(growing[R_N_CLASSES]):
        left[k] = 0
    s, both = add_side(growing, size, cut, False)
    score = score_sides(growing, s, both, total)
    missing = STOP if lost == 0 else RIGHT
    if lost > 0 and least < most:
        more_s, more = add_side(growing, size, cut, True)
        other = score_sides(growing, s + more_s, both + more, total)
        if other > score:
            score = other
            missing = LEFT
    if score > floats(growing, BEST_F)[0, BF_SCORE]:
        note(growing, score, feature, (np.int64(0), np.int64(0)), missing, 0, np.int64(-1), cut)


# Sets of levels.


@inner
def level_keys(growing: Any, n: Any, turn: Any, key: Any) -> None:
    """What the n levels of LEVEL_ORDER[0] are put in order by: their mean, their share of a class, or at random one of two sides."""
    levels = ints(growing, LEVEL_ORDER)[0]
    cells = int_list(growing, CELLS)
    at_random = growing[R_RANDOM_CUTS] != 0
    keys = floats(growing, LEVEL_KEYS)[0]
    width = max(growing[R_N_CLASSES], 2)
    ones = np.int64(0)
    for j in range(n):
        cell = levels[j] * width
        if at_random:
            keys[j] = np.float64(hashed(key, levels[j]) & 1)
            ones += np.int64(keys[j] > 0.0)
        elif growing[R_CRITERION] == MOMENTS:
            keys[j] = np.float64(cells[cell]) / np.float64(cells[cell + 1] & LOW_HALF)
        else:
            weight = np.int64(0)
            for k in range(growing[R_N_CLASSES]):
                weight += cells[cell + k] & LOW_HALF
            keys[j] = np.float64(cells[cell + (turn if growing[R_N_CLASSES] > 2 else 1)] & LOW_HALF) / np.float64(weight)
    if at_random and (ones == 0 or ones == n):
        # A level of its own for one side, at random.
        some = ((hashed(key, 256) >> 31) * n) >> 32
        keys[some] = 1.0 - keys[some]


@inner
def items_of_levels(growing: Any, n: Any) -> Any:
    """Put n levels in the order of their keys, and their sums into items; returns how many."""
    levels = ints(growing, LEVEL_ORDER)[0]
    keys = floats(growing, LEVEL_KEYS)[0]
    cells = int_list(growing, CELLS)
    items = int_list(growing, ITEMS)
    width = max(growing[R_N_CLASSES], 2)
    for j in range(1, n):
        moved = keys[j]
        level = levels[j]
        i = j
        while i > 0 and keys[i - 1] > moved:
            keys[i] = keys[i - 1]
            levels[i] = levels[i - 1]
            i -= 1
        keys[i] = moved
        levels[i] = level
    found = np.int64(0)
    for j in range(n):
        cell = levels[j] * width
        code = np.int64(keys[j]) if growing[R_RANDOM_CUTS] != 0 else np.int64(j)
        for k in range(1 if growing[R_CRITERION] == MOMENTS else growing[R_N_CLASSES]):
            items[found] = code
            items[growing[R_MOST] + found] = cells[cell] if growing[R_CRITERION] == MOMENTS else k
            items[2 * growing[R_MOST] + found] = cells[cell + 1] if growing[R_CRITERION] == MOMENTS else cells[cell + k]
            found += np.int64(items[2 * growing[R_MOST] + found] > 0)
    return found


@inner
def keep_set(growing: Any, n: Any, last: Any) -> Any:
    """Write the levels whose items have codes up to `last` to the left set, the others to the right; says where missing values go."""
    levels = ints(growing, LEVEL_ORDER)[0]
    keys = floats(growing, LEVEL_KEYS)[0]
    sets = words_in(growing, BEST_SET)[0]
    missing = np.int64(STOP)
    for w in range(8):
        sets[w] = U(0)
    for j in range(n):
        right = np.int64((keys[j] if growing[R_RANDOM_CUTS] != 0 else np.float64(j)) > np.float64(last))
        if levels[j] == COARSE_MISSING:
            missing = LEFT + right
        else:
            sets[4 * right + (levels[j] >> 6)] |= U(1) << U(levels[j] & 63)
    return missing


@inner
def judge_levels(growing: Any, feature: Any, begin: Any, end: Any, total: Any, key: Any) -> None:
    """The best set of levels; missing values are a level like any other.

    With one number for each level the best set is a prefix of their order (Fisher 1958). With more classes than two, orders by the share
    of each class are tried. Levels that the node has not met go to neither side.
    """
    fill_cells(growing, feature, begin, end)
    cells = int_list(growing, CELLS)
    levels = ints(growing, LEVEL_ORDER)[0]
    width = max(growing[R_N_CLASSES], 2)
    several = growing[R_CRITERION] != MOMENTS and growing[R_N_CLASSES] > 2 and growing[R_RANDOM_CUTS] == 0
    for turn in range(growing[R_N_CLASSES] if several else 1):
        n = np.int64(0)
        for code in range(256):
            rows = cells[code * width + 1]
            if growing[R_CRITERION] != MOMENTS:
                for k in range(growing[R_N_CLASSES]):
                    rows |= cells[code * width + k]
            levels[n] = code
            n += np.int64(rows > 0)
        if n < 2:
            return
        level_keys(growing, n, turn, key)
        size = items_of_levels(growing, n)
        score, where = scan_items(growing, size - 1, 0, 0, total)
        if where >= 0 and score > floats(growing, BEST_F)[0, BF_SCORE]:
            missing = keep_set(growing, n, int_list(growing, ITEMS)[where])
            note(growing, score, feature, (np.int64(0), np.int64(0)), missing, 1, np.int64(-1), 0.0)


@inlined
def judge(growing: Any, feature: Any, begin: Any, end: Any, total: Any, key: Any) -> None:
    """The best split of the rows begin..end by a feature, noted if it is better than what is there."""
    if int_list(growing, CATEGORY)[feature] != 0:
        judge_levels(growing, feature, begin, end, total, hashed(key, feature))
    elif growing[R_RANDOM_CUTS] != 0:
        judge_random(growing, feature, begin, end, total, hashed(key, feature))
    else:
        judge_numbers(growing, feature, begin, end, total)
