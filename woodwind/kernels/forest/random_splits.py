"""One random threshold between the least and the largest number of a node (Geurts, Ernst & Wehenkel 2006)."""

from typing import Any

import numpy as np

from woodwind.kernels.forest import best, memory
from woodwind.kernels.forest.best import note
from woodwind.kernels.forest.layout import LOW_HALF, MEDIANS, MISSING_CODE, MOMENTS, SEVERAL
from woodwind.kernels.forest.medians import LEFT_SIDE, clear_left, score_of_sides
from woodwind.kernels.forest.order import columns_of, fetch, is_inside, pack, unpack
from woodwind.kernels.forest.score import allowed, class_score, sum_score, worth
from woodwind.kernels.forest.several import add_row, clear_sums, several_score
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.keys import hashed
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree.layout import LEFT, NO_SPLIT, RIGHT, STOP

U = np.uint64


@inlined
def score_sides(tree: Tree, left: Any, total: Any) -> Any:
    """Score of one cut: (sum, both) of the left side, its classes in class_weights_of(tree, 1)."""
    s, both = left
    total_s, total_both = total
    if not allowed(both, total_both, memory.min_rows(tree), memory.min_weight(tree)):
        return NO_SPLIT
    if memory.criterion(tree) == MOMENTS:
        return sum_score(tree, s, both, total_s, total_both)
    if memory.criterion(tree) == MEDIANS:
        return score_of_sides(tree, both & LOW_HALF, total_both & LOW_HALF)
    if memory.criterion(tree) == SEVERAL:
        return several_score(tree, both, total_both)
    sides = memory.class_weights(tree)
    A = np.int64(0)
    B = np.int64(0)
    logs = memory.logs(tree)
    for k in range(memory.n_classes(tree)):
        A += worth(sides[1, k], logs)
        B += worth(sides[0, k] - sides[1, k], logs)
    p = both & LOW_HALF
    return class_score(A, p, B, (total_both & LOW_HALF) - p, logs)


@inlined
def add_side(tree: Tree, found: Any, size: Any, limit: Any, beyond: Any, start: Any) -> Any:
    """Sum of the rows up to the limit, or of those beyond it, on top of start; their classes are added to class_weights_of(tree, 1)."""
    sums = memory.node_sums_row(tree, 0)
    boths = memory.node_sums_row(tree, 1)
    s, both = start
    if memory.is_packed(tree) != 0:
        # Masks instead of choices: which side a row is on cannot be foreseen, and of few rows LLVM would branch.
        word = pack(s, both)
        for j in range(U(size)):
            word += sums[j] & -np.int64((found[j] <= limit) != beyond)
        return unpack(word)
    if memory.criterion(tree) == MOMENTS:
        for j in range(U(size)):
            here = (found[j] <= limit) != beyond
            s += sums[j] if here else np.int64(0)
            both += boths[j] if here else np.int64(0)
        return s, both
    if memory.criterion(tree) == MEDIANS:
        by_target = memory.target_sums_of(tree, LEFT_SIDE)
        position = memory.target_position(tree)
        for j in range(U(size)):
            if (found[j] <= limit) != beyond:
                both += boths[j]
                by_target[position[U(sums[j])]] += boths[j] & LOW_HALF
        return s, both
    left = memory.class_weights_of(tree, 1)
    if memory.criterion(tree) == SEVERAL:
        for j in range(U(size)):
            if (found[j] <= limit) != beyond:
                both += boths[j]
                add_row(tree, sums[j], boths[j], left, np.int64(0))
        return s, both
    for j in range(U(size)):
        if (found[j] <= limit) != beyond:
            both += boths[j]
            left[U(sums[j])] += boths[j] & LOW_HALF
    return s, both


@inlined
def keep_better(tree: Tree, found: Any, size: Any, feature: Any, limits: Any, lost: Any, total: Any) -> Any:
    """Note the cut that sends rows up to limits[0] to the left if it is the best so far.

    Missing values are what is beyond limits[1]; they go to the side where they do better, if the other side is not left empty.
    """
    left = memory.class_weights_of(tree, 1)
    for k in range(memory.n_classes(tree)):
        left[k] = 0
    if memory.criterion(tree) == MEDIANS:
        clear_left(tree)
    if memory.criterion(tree) == SEVERAL:
        clear_sums(tree, 1)
    sums = add_side(tree, found, size, limits[0], False, (np.int64(0), np.int64(0)))
    score = score_sides(tree, sums, total)
    missing = STOP if lost == 0 else RIGHT
    if lost > 0 and limits[0] < limits[1]:
        more = add_side(tree, found, size, limits[1], True, sums)
        other = score_sides(tree, more, total)
        if other > score:
            score = other
            sums = more
            missing = LEFT
    if not score > best.score(tree):
        return False
    note(tree, score, feature, missing, sums)
    return True


@inlined
def between(share: Any, least: Any, most: Any, some: Any) -> Any:
    """A threshold between two numbers; where rounding or an infinity leaves none, some number of the node."""
    cut = least + share * (most - least)
    if not cut < most:
        cut = some
    return cut if cut < most else least


@inlined
def by_random_number(tree: Tree, feature: Any, begin: Any, end: Any, total: Any, share: Any) -> None:
    """In an arena: by the numbers themselves."""
    fetch(tree, feature, 0, memory.numbers_by_row(tree), memory.arena_numbers(tree), columns_of(tree))
    raw = memory.arena_numbers(tree)
    start = U(feature * memory.room(tree))
    places = memory.places(tree)
    numbers = memory.curve(tree, 0)
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
    if keep_better(tree, numbers, size, feature, (cut, np.inf), lost, total):
        best.set_threshold(tree, cut)


@inner
def last_not_above(values: Any, first: int, low: Any, high: Any, cut: Any) -> Any:
    """The last code from low whose value is not above the cut, where that of high is."""
    while high - low > 1:
        middle = (low + high) // 2
        if values[first + middle] <= cut:
            low = middle
        else:
            high = middle
    return low


@inlined
def by_random_code(tree: Tree, feature: Any, begin: Any, end: Any, total: Any, share: Any) -> None:
    """In a large node: by codes, which take half of the memory of numbers."""
    column = memory.codes_by_column(tree)
    start = U(feature * memory.n_rows(tree))
    rows = memory.rows(tree)
    codes = memory.spare(tree)
    values = memory.numbers(tree)
    first = memory.numbers_begin(tree, feature)
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
    if keep_better(tree, codes, size, feature, (np.int32(low), np.int32(MISSING_CODE - 1)), lost, total):
        best.set_low(tree, low)
        best.set_threshold(tree, cut)


@inlined
def by_random_threshold(tree: Tree, feature: Any, begin: Any, end: Any, total: Any, key: Any) -> None:
    """One random threshold of a feature, missing values tried on both sides."""
    share = np.float64(hashed(key, 0) >> 10) * 2.0**-53
    if is_inside(tree, begin, end):
        by_random_number(tree, feature, begin, end, total, share)
    else:
        by_random_code(tree, feature, begin, end, total, share)
