"""The best split of a node by one feature after another: numbers, sets of levels, random cuts."""

from typing import Any

import numpy as np

from woodwind.kernels.forest.best import note
from woodwind.kernels.forest.memory import (
    B_BIN,
    B_HIGH,
    B_IS_SET,
    B_LOW,
    BEST,
    BEST_F,
    BEST_SET,
    BF_SCORE,
    CATEGORY,
    CELLS,
    COARSE_MISSING,
    ITEMS,
    LEVEL_KEYS,
    LEVEL_ORDER,
    LOW_HALF,
    MISSING_CODE,
    MOMENTS,
    R_CRITERION,
    R_EXACT,
    R_MOST,
    R_N_CLASSES,
    R_RANDOM_CUTS,
)
from woodwind.kernels.forest.order import fill_cells, gather_bins, gather_sorted
from woodwind.kernels.forest.random_splits import judge_random
from woodwind.kernels.forest.score import scan_items
from woodwind.kernels.forest.split_64_rows import judge_in_lanes
from woodwind.kernels.runtime.intrinsics import floats, int_list, ints, words_in
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.keys import hashed
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP

U = np.uint64


@inlined
def sum_items(growing: Any, begin: Any, end: Any, start: Any) -> Any:
    """(sum, both) of some items, on top of start."""
    items = int_list(growing, ITEMS)
    most = U(growing[R_MOST])
    s, both = start
    for j in range(U(begin), U(end)):
        s += items[most + j]
        both += items[most + most + j]
    return s, both


@inlined
def judge_numbers(growing: Any, feature: Any, begin: Any, end: Any, total: Any, in_lanes: Any) -> None:
    """The best threshold of a feature, missing values tried on both sides; `in_lanes`: rows are few, and `note_words` has noted them."""
    if in_lanes and judge_in_lanes(growing, feature, begin, end, total):
        return
    codes = int_list(growing, ITEMS)
    exact = end - begin <= growing[R_EXACT]
    n = gather_sorted(growing, feature, begin, end) if exact else gather_bins(growing, feature, begin, end)
    if n == 0 or codes[0] == codes[n - 1]:
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
    left = sum_items(growing, 0, where + 1, (np.int64(0), np.int64(0)))
    note(growing, score, feature, missing, sum_items(growing, stop, n, left) if missing == LEFT else left)
    best = int_list(growing, BEST)
    best[B_LOW] = codes[where]
    best[B_HIGH] = codes[where + 1]
    best[B_BIN] = np.int64(-1) if exact else codes[where]


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
            note(growing, score, feature, missing, sum_items(growing, 0, where + 1, (np.int64(0), np.int64(0))))
            int_list(growing, BEST)[B_IS_SET] = 1


@inlined
def judge(growing: Any, feature: Any, begin: Any, end: Any, total: Any, key: Any, in_lanes: Any) -> None:
    """The best split of the rows begin..end by a feature, noted if it is better than what is there."""
    if int_list(growing, CATEGORY)[feature] != 0:
        judge_levels(growing, feature, begin, end, total, hashed(key, feature))
    elif growing[R_RANDOM_CUTS] != 0:
        judge_random(growing, feature, begin, end, total, hashed(key, feature))
    else:
        judge_numbers(growing, feature, begin, end, total, in_lanes)
