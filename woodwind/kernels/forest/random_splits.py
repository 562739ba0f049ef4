"""One random threshold between the least and the largest number of a node (Geurts, Ernst & Wehenkel 2006)."""

from typing import Any

import numpy as np

from woodwind.kernels.forest.best import note
from woodwind.kernels.forest.memory import (
    A_RAW,
    B_LOW,
    BEST,
    BEST_F,
    BF_CUT,
    BF_SCORE,
    CODE_COLUMNS,
    CURVE,
    LOGS,
    LOW_HALF,
    MISSING_CODE,
    MOMENTS,
    NODE_PAIR,
    PLACES,
    R_CRITERION,
    R_MIN_ROWS,
    R_MIN_WEIGHT,
    R_N_CLASSES,
    R_N_ROWS,
    R_PACKED,
    R_ROOM,
    RAW_ROWS,
    ROWS,
    SIDES,
    SPARE,
    VALUES,
    VALUES_AT,
)
from woodwind.kernels.forest.order import columns_of, fetch, is_inside, pack, unpack
from woodwind.kernels.forest.score import allowed, class_score, moment_score, worth
from woodwind.kernels.histogram.scan import NO_SPLIT
from woodwind.kernels.runtime.intrinsics import floats, int_list, ints, row_list
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.keys import hashed
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP

U = np.uint64


@inlined
def score_sides(growing: Any, left: Any, total: Any) -> Any:
    """Score of one cut: (sum, both) of the left side, its classes in SIDES[1]."""
    s, both = left
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
def add_side(growing: Any, found: Any, size: Any, limit: Any, beyond: Any, start: Any) -> Any:
    """Sum of the rows up to the limit, or of those beyond it, on top of start; their classes are added to SIDES[1]."""
    sums = ints(growing, NODE_PAIR)[0]
    boths = ints(growing, NODE_PAIR)[1]
    s, both = start
    if growing[R_PACKED] != 0:
        # Masks instead of choices: which side a row is on cannot be foreseen, and of few rows LLVM would branch.
        word = pack(s, both)
        for j in range(U(size)):
            word += sums[j] & -np.int64((found[j] <= limit) != beyond)
        return unpack(word)
    if growing[R_CRITERION] == MOMENTS:
        for j in range(U(size)):
            here = (found[j] <= limit) != beyond
            s += sums[j] if here else np.int64(0)
            both += boths[j] if here else np.int64(0)
        return s, both
    left = ints(growing, SIDES)[1]
    for j in range(U(size)):
        if (found[j] <= limit) != beyond:
            both += boths[j]
            left[U(sums[j])] += boths[j] & LOW_HALF
    return s, both


@inlined
def keep_better(growing: Any, found: Any, size: Any, feature: Any, limits: Any, lost: Any, total: Any) -> Any:
    """Note the cut that sends rows up to limits[0] to the left if it is the best so far.

    Missing values are what is beyond limits[1]; they go to the side where they do better, if the other side is not left empty.
    """
    left = ints(growing, SIDES)[1]
    for k in range(growing[R_N_CLASSES]):
        left[k] = 0
    sums = add_side(growing, found, size, limits[0], False, (np.int64(0), np.int64(0)))
    score = score_sides(growing, sums, total)
    missing = STOP if lost == 0 else RIGHT
    if lost > 0 and limits[0] < limits[1]:
        more = add_side(growing, found, size, limits[1], True, sums)
        other = score_sides(growing, more, total)
        if other > score:
            score = other
            sums = more
            missing = LEFT
    if not score > floats(growing, BEST_F)[0, BF_SCORE]:
        return False
    note(growing, score, feature, missing, sums)
    return True


@inlined
def between(share: Any, least: Any, most: Any, some: Any) -> Any:
    """A threshold between two numbers; where rounding or an infinity leaves none, some number of the node."""
    cut = least + share * (most - least)
    if not cut < most:
        cut = some
    return cut if cut < most else least


@inlined
def judge_numbers_at_random(growing: Any, feature: Any, begin: Any, end: Any, total: Any, share: Any) -> None:
    """In an arena: by the numbers themselves."""
    fetch(growing, feature, 0, floats(growing, RAW_ROWS)[0], floats(growing, A_RAW)[0], columns_of(growing))
    raw = floats(growing, A_RAW)[0]
    start = U(feature * growing[R_ROOM])
    places = row_list(growing, PLACES)
    numbers = floats(growing, CURVE)[0]
    size = end - begin
    least = np.inf
    most = -np.inf
    lost = np.int64(0)
    for j in range(U(size)):
        number = raw[start + U(places[U(begin) + j])]
        numbers[j] = number
        least = number if number < least else least
        most = number if number > most else most
        lost += np.int64(number != number)
    if lost == size or (least >= most and lost == 0):
        return
    cut = np.inf  # numbers on one side, missing values on the other
    if least < most:
        cut = between(share, least, most, numbers[np.int64(share * np.float64(size))])
    if keep_better(growing, numbers, size, feature, (cut, np.inf), lost, total):
        floats(growing, BEST_F)[0, BF_CUT] = cut


@inner
def last_not_above(values: Any, first: Any, low: Any, high: Any, cut: Any) -> Any:
    """The last code from low whose value is not above the cut, where that of high is."""
    while high - low > 1:
        middle = (low + high) // 2
        if values[first + middle] <= cut:
            low = middle
        else:
            high = middle
    return low


@inlined
def judge_codes_at_random(growing: Any, feature: Any, begin: Any, end: Any, total: Any, share: Any) -> None:
    """In a large node: by codes, which take half of the memory of numbers."""
    column = row_list(growing, CODE_COLUMNS)
    start = U(feature * growing[R_N_ROWS])
    rows = row_list(growing, ROWS)
    codes = row_list(growing, SPARE)
    values = floats(growing, VALUES)[0]
    first = int_list(growing, VALUES_AT)[feature]
    size = end - begin
    least = np.int32(MISSING_CODE)
    most = np.int32(-1)
    absent = np.int32(0)
    for j in range(U(size)):
        codes[j] = column[start + U(rows[U(begin) + j])]
    for j in range(U(size)):  # apart from fetching, so that many are looked at together
        code = codes[j]
        missing = code == MISSING_CODE
        absent += np.int32(missing)
        known = np.int32(-1) if missing else code
        most = known if known > most else most
        least = code if code < least else least
    lost = np.int64(absent)
    if lost == size or (least >= most and lost == 0):
        return
    cut = np.inf
    low = np.int64(MISSING_CODE) - 1
    if least < most:
        some = codes[np.int64(share * np.float64(size))]
        number = values[first + some] if some != MISSING_CODE else np.inf
        cut = between(share, values[first + least], values[first + most], number)
        low = last_not_above(values, first, np.int64(least), np.int64(most), cut)
    if keep_better(growing, codes, size, feature, (np.int32(low), np.int32(MISSING_CODE - 1)), lost, total):
        int_list(growing, BEST)[B_LOW] = low
        floats(growing, BEST_F)[0, BF_CUT] = cut


@inlined
def judge_random(growing: Any, feature: Any, begin: Any, end: Any, total: Any, key: Any) -> None:
    """One random threshold of a feature, missing values tried on both sides."""
    share = np.float64(hashed(key, 0) >> 10) * 2.0**-53
    if is_inside(growing, begin, end):
        judge_numbers_at_random(growing, feature, begin, end, total, share)
    else:
        judge_codes_at_random(growing, feature, begin, end, total, share)
