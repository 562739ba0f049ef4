"""Up to 64 rows of two classes that weigh one, split without putting them in order.

Each row is a candidate for the last one that goes left, and has a lane of its own, in which the rows are summed whose code is not above its
own: 64 sums go side by side, so that a row takes as long as one.
"""

from typing import Any

import numpy as np

from woodwind.kernels.forest import best, memory
from woodwind.kernels.forest.best import note
from woodwind.kernels.forest.layout import LOW_HALF, MISSING_CODE
from woodwind.kernels.forest.order import fetch_codes
from woodwind.kernels.forest.score import allowed
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.runtime.simd import LANES, sum_in_8_lanes, sum_in_16_lanes, sum_in_32_lanes, sum_in_64_lanes
from woodwind.kernels.tree.layout import NO_SPLIT, STOP

U = np.uint64
ONE = np.uint64(1)

# The sums of a lane have 16 bits each: so many rows in all.
MOST_DRAWN = (1 << 15) - 1


@inlined
def note_words(tree: Tree, begin: Any, end: Any, total: Any) -> Any:
    """Write down for each row of a node how often it was drawn, and as what; False if there are too many."""
    words = memory.lane_rows(tree)[LANES : 2 * LANES]
    places = memory.places(tree)
    a_pair = memory.arena_sums(tree)
    for j in range(U(end - begin)):
        place = U(places[U(begin) + j])
        words[j] = (a_pair[place + place] << 16) + (a_pair[place + place + ONE] & LOW_HALF)
    return total[1] & LOW_HALF <= MOST_DRAWN


@inlined
def sum_lanes(codes: Any, size: Any, room: Any) -> None:
    """What goes left with each row, in the last part of `lane_rows`."""
    words = codes[LANES : 2 * LANES]
    sums = codes[2 * LANES :]
    if room == U(8):
        sum_in_8_lanes(codes, words, size, sums)
    elif room == U(16):
        sum_in_16_lanes(codes, words, size, sums)
    elif room == U(32):
        sum_in_32_lanes(codes, words, size, sums)
    else:
        sum_in_64_lanes(codes, words, size, sums)


@inlined
def score_lanes(tree: Tree, room: Any, total: Any) -> None:
    """The score of each candidate, in curve 0."""
    sums = memory.lane_rows(tree)[2 * LANES :]
    curve = memory.curve(tree, 0)
    S = np.float64(total[0])
    W = np.float64(total[1] & LOW_HALF)
    for j in range(room):
        p = np.float64(sums[j] & np.int32(0xFFFF))
        q = W - p
        a = np.float64(sums[j] >> np.int32(16))
        b = S - a
        curve[j] = (a * a * q + b * b * p) / (p * q) if q > 0.0 else NO_SPLIT
    if memory.no_limits(tree) == 0:
        for j in range(room):
            rows = np.int64(sums[j] & np.int32(0xFFFF))
            if not allowed((rows << 32) + rows, total[1], memory.min_rows(tree), memory.min_weight(tree)):
                curve[j] = NO_SPLIT


@inlined
def best_code(tree: Tree, room: Any) -> Any:
    """The best score as an integer (scores are not negative: their bits are in the same order), and the lowest code that has it."""
    codes = memory.lane_rows(tree)
    keys = memory.curve_bits(tree, 0)
    best = np.int64(-1)
    for j in range(room):
        best = max(best, keys[j])
    low = np.int32(MISSING_CODE)
    for j in range(room):
        low = min(low, codes[j] if keys[j] == best else np.int32(MISSING_CODE))
    return best, low


@inner
def by_threshold_in_lanes(tree: Tree, feature: Any, begin: Any, end: Any, total: Any) -> Any:
    """Note the best threshold of a feature if it is better than what is there; False, and nothing done, if a value is missing."""
    start, step = fetch_codes(tree, feature)
    column = memory.arena_codes(tree)
    places = memory.places(tree)
    codes = memory.lane_rows(tree)
    size = U(end - begin)
    most = np.int32(-1)
    for j in range(size):
        code = column[start + step * U(places[U(begin) + j])]
        codes[j] = code
        most = max(most, code)
    if most == MISSING_CODE:
        return False
    room = U(8)
    while room < size:
        room <<= ONE
    for j in range(size, room):
        codes[j] = MISSING_CODE  # all rows are left of it, which is no split
    sum_lanes(codes, size, room)
    score_lanes(tree, room, total)
    key, low = best_code(tree, room)
    if key < 0:
        return True
    where = np.int64(0)
    high = np.int32(MISSING_CODE)
    for j in range(room):
        where = np.int64(j) if codes[j] == low else where
        high = min(high, codes[j] if codes[j] > low else np.int32(MISSING_CODE))
    score = memory.curve(tree, 0)[where]
    if not score > best.score(tree):
        return True
    left = np.int64(codes[U(2 * LANES) + U(where)])
    rows = left & 0xFFFF
    note(tree, score, feature, STOP, (left >> 16, (rows << 32) + rows))
    best.set_low(tree, low)
    best.set_high(tree, high)
    return True
