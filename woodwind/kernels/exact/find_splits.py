"""The best split of a node by one feature, from the list of its rows in the order of that feature.

    ranks   3  3  7  7  7  8 | -  -        rows of one value, one after another; missing values last
    cuts         ^        ^  ^             between two values, and before the missing values

Sums are integers, so a cut has the same score wherever it stands; ties go to missing values on the right, then to the lowest
threshold. The slow twin is `tests/reference/naive_tree.py`.
"""

import math
from typing import Any

import numpy as np

from woodwind.kernels.binning.candidates import end_of_part, part_of
from woodwind.kernels.exact import memory
from woodwind.kernels.exact.memory import (
    BLOCK,
    MISSING_RANK,
    PLACE_ROWS,
    ROW_MASK,
    T_CLASSES,
    T_CODE,
    T_COUNT,
    T_GRADIENT,
    T_HESSIAN,
    ExactRule,
)
from woodwind.kernels.exact.score import GAIN_RATIO, GINI, NEWTON, VECTOR, cut_score, real_bits, two_sides, vector_score, x_log_x
from woodwind.kernels.runtime.intrinsics import prefetch_far
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.records import Ints, Tree, Words
from woodwind.kernels.tree import constraints, nodes
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.category_sets import argsort
from woodwind.kernels.tree.layout import LEFT, NO_SPLIT, NOTHING, RIGHT, STOP
from woodwind.kernels.tree.leaves import leaf_value, smoothed_value

U = np.uint64
NOWHERE = np.int64(-1)
AHEAD = 24  # places whose statistics are asked for before they are summed: rows stand anywhere


# Cuts behind one of the places `first` to `last` of a list: score and place of the best. Each scan begins with the sums that
# `left` has already, those of the missing values or none, and leaves others behind.
# listed = (the list, statistics of its rows, gradients of several outputs).


@inner
def scan_sums(tree: Tree, rule: ExactRule, thread: int, listed: Any, first: int, last: Any, total: Ints, left: Ints) -> Any:
    """Cuts by gradients, without bounds and L1 penalty.

    By blocks: the sums at the cuts, then their scores, then the best, because LLVM makes vector code of the second loop.
    """
    pairs, stats, _gradients = listed
    place = memory.block_places(tree, PLACE_ROWS * thread)
    sum_g = memory.block_places(tree, PLACE_ROWS * thread + 1)
    sum_h = memory.block_places(tree, PLACE_ROWS * thread + 2)
    sum_c = memory.block_places(tree, PLACE_ROWS * thread + 3)
    scores = memory.scores(tree, thread)
    g = left[T_GRADIENT]
    h = left[T_HESSIAN]
    c = left[T_COUNT]
    G = total[T_GRADIENT]
    H = total[T_HESSIAN]
    C = total[T_COUNT]
    best = NO_SPLIT
    where = NOWHERE
    while first < last:
        stop = min(first + BLOCK, last)
        k = U(0)
        pair = pairs[first]
        for j in range(U(first), U(stop)):
            at = U((pair & ROW_MASK) << 2)
            following = pairs[j + U(1)]
            prefetch_far(stats, U((pairs[min(j + U(AHEAD), U(last))] & ROW_MASK) << 2))
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
            p = np.float64(sum_h[t]) * rule.hessian_unit
            q = np.float64(H - sum_h[t]) * rule.hessian_unit
            below = p + rule.l2
            above = q + rule.l2
            score = (a * a * above + b * b * below) / (below * above)
            fits = (sum_c[t] >= rule.min_rows) & (C - sum_c[t] >= rule.min_rows) & (below * above > 0.0)
            scores[t] = score if fits & (p >= rule.min_hessian) & (q >= rule.min_hessian) else NO_SPLIT
        for t in range(k):
            if scores[t] > best:
                best = scores[t]
                where = place[t]
        first = stop
    return best * (rule.gradient_unit * rule.gradient_unit), where


@inner
def scan_classes(tree: Tree, rule: ExactRule, listed: Any, first: int, last: Any, total: Ints, left: Ints) -> Any:
    """Cuts by classes: a row changes one class only, so the sums of squares or of logarithms, A and B, follow it in integers."""
    pairs, stats, _gradients = listed
    logs = memory.logs(tree)
    gini = rule.criterion == GINI
    least = np.int64(math.ceil(rule.min_hessian / rule.hessian_unit))
    w = left[T_HESSIAN]
    c = left[T_COUNT]
    W = total[T_HESSIAN]
    C = total[T_COUNT]
    A = np.int64(0)
    B = np.int64(0)
    for k in range(T_CLASSES, T_CLASSES + rule.n_classes):
        own = left[k]
        rest = total[k] - own
        A += own * own if gini else x_log_x(own, rule, logs)
        B += rest * rest if gini else x_log_x(rest, rule, logs)
    best = NO_SPLIT
    where = NOWHERE
    pair = pairs[first]
    for j in range(U(first), U(last)):
        at = U((pair & ROW_MASK) << 2)
        following = pairs[j + U(1)]
        one = stats[at + U(1)]
        of_class = U(T_CLASSES) + U(stats[at])
        own = left[of_class]
        rest = total[of_class] - own
        left[of_class] = own + one
        w += one
        c += stats[at + U(2)]
        if gini:
            A += one * (2 * own + one)
            B -= one * (2 * rest - one)
        else:
            A += x_log_x(own + one, rule, logs) - x_log_x(own, rule, logs)
            B += x_log_x(rest - one, rule, logs) - x_log_x(rest, rule, logs)
        if (pair ^ following) > ROW_MASK and c >= rule.min_rows and C - c >= rule.min_rows and w >= least and W - w >= least:
            if gini:
                score = two_sides(np.float64(A), np.float64(B), np.float64(w), np.float64(W - w))
            else:
                bits = total[T_GRADIENT] + A + B - x_log_x(w, rule, logs) - x_log_x(W - w, rule, logs)
                score = real_bits(bits, rule)
            if score > best:
                best = score
                where = np.int64(j)
        pair = following
    return best * rule.hessian_unit, where


@inner
def scan_vectors(rule: ExactRule, listed: Any, first: int, last: Any, total: Ints, left: Ints) -> Any:
    """Cuts by the gradients of several outputs."""
    pairs, stats, gradients = listed
    outputs = U(rule.n_classes)
    ahead = U(AHEAD)
    best = NO_SPLIT
    where = NOWHERE
    for j in range(U(first), U(last)):
        soon = U(pairs[min(j + ahead, U(last))] & ROW_MASK)
        prefetch_far(stats, soon << U(2))
        prefetch_far(gradients, soon * outputs)
        add_place(rule, (stats, gradients), pairs[j], left)
        if (pairs[j] ^ pairs[j + U(1)]) > ROW_MASK:
            p = np.float64(left[T_HESSIAN]) * rule.hessian_unit
            q = np.float64(total[T_HESSIAN] - left[T_HESSIAN]) * rule.hessian_unit
            fits = (left[T_COUNT] >= rule.min_rows) & (total[T_COUNT] - left[T_COUNT] >= rule.min_rows)
            if fits & (p >= rule.min_hessian) & (q >= rule.min_hessian) & ((p + rule.l2) * (q + rule.l2) > 0.0):
                score = vector_score(left, total, rule, rule.l2)
                if score > best:
                    best = score
                    where = np.int64(j)
    return best, where


@inner
def add_place(rule: ExactRule, of_rows: Any, pair: int, sums: Any) -> None:
    """Add the row of a place to a row of sums; of_rows = (statistics, gradients of several outputs)."""
    stats, gradients = of_rows
    at = (pair & ROW_MASK) << 2
    sums[T_HESSIAN] += stats[at + 1]
    sums[T_COUNT] += stats[at + 2]
    if rule.criterion == NEWTON:
        sums[T_GRADIENT] += stats[at]
    elif rule.criterion == VECTOR:
        first = U(pair & ROW_MASK) * U(rule.n_classes)
        for k in range(U(rule.n_classes)):
            sums[U(T_CLASSES) + k] += gradients[first + k]
    else:
        sums[T_CLASSES + stats[at]] += stats[at + 1]


@inner
def scan_any(tree: Tree, rule: ExactRule, listed: Any, first: int, last: Any, total: Ints, left: Ints, bounds: Any) -> Any:
    """Cuts by any criterion, with any limits."""
    pairs, stats, gradients = listed
    logs = memory.logs(tree)
    best = NO_SPLIT
    where = NOWHERE
    for j in range(first, last):
        add_place(rule, (stats, gradients), pairs[j], left)
        if (pairs[j] ^ pairs[j + 1]) > ROW_MASK:
            score = cut_score(left, total, rule, rule.l2, bounds, logs)
            if score > best:
                best = score
                where = np.int64(j)
    return best, where


@inner
def first_missing(pairs: Ints, begin: Any, end: Any) -> Any:
    """Where the missing values of a node begin in a list: its end, if there are none."""
    if pairs[end - 1] >> 32 != MISSING_RANK:
        return end
    high = end - 1
    while begin < high:
        middle = (begin + high) // 2
        if pairs[middle] >> 32 == MISSING_RANK:
            high = middle
        else:
            begin = middle + 1
    return begin


@inner
def scan_numbers(tree: Tree, rule: ExactRule, thread: int, listed: Any, span: Any, total: Ints, left: Ints, bounds: Any) -> Any:
    """Best cut between the places of a node, span = (begin, end): score, place, and where missing values go."""
    begin, end = span
    pairs, stats, gradients = listed
    stop = first_missing(pairs, begin, end)
    best = NO_SPLIT
    where = NOWHERE
    side = STOP if stop == end else RIGHT
    for turn in range(2):
        # First missing values go right, and the last cut is before them; then they go left.
        last = stop - 1 if turn == 1 or stop == end else stop
        if last <= begin or (turn == 1 and stop == end):
            break
        for k in range(len(left)):
            left[k] = 0
        if turn == 1:
            for j in range(stop, end):
                add_place(rule, (stats, gradients), pairs[j], left)
        if rule.criterion == NEWTON and rule.plain:
            score, place = scan_sums(tree, rule, thread, listed, begin, last, total, left)
        elif rule.criterion == VECTOR:
            score, place = scan_vectors(rule, listed, begin, last, total, left)
        elif rule.criterion != NEWTON and rule.narrow and not rule.bounded:
            score, place = scan_classes(tree, rule, listed, begin, last, total, left)
        else:
            score, place = scan_any(tree, rule, listed, begin, last, total, left, bounds)
        if score > best:
            best = score
            where = place
            if turn == 1:
                side = LEFT
    return best, where, side


@inner
def has_more_values(pairs: Ints, begin: Any, stop: Any, number: Any) -> Any:
    """Whether there are more values than so many at the places begin to stop of a list."""
    values = np.int64(0)
    for j in range(begin, stop):
        values += np.int64(j == begin or (pairs[j] ^ pairs[j - 1]) > ROW_MASK)
        if values > number:
            return True
    return False


@inner
def sum_value(pairs: Ints, stats: Ints, first: Any, end: Any) -> Any:
    """Gradient, hessian and count of the rows from a place on that have the same value, and the place behind them."""
    g = np.int64(0)
    h = np.int64(0)
    c = np.int64(0)
    past = first
    more = True
    while more:
        prefetch_far(stats, U((pairs[min(past + AHEAD, end - 1)] & ROW_MASK) << 2))
        at = U((pairs[past] & ROW_MASK) << 2)
        g += stats[at]
        h += stats[at + U(1)]
        c += stats[at + U(2)]
        past += 1
        more = past < end and (pairs[past] ^ pairs[first]) <= ROW_MASK
    return g, h, c, past


@inner
def add_outputs(pairs: Ints, span: Any, gradients: Ints, outputs: Any, out: Any) -> None:
    """Add the gradients of several outputs of the rows of some places, span = (first, past), to out[:outputs]."""
    first, past = span
    for j in range(first, past):
        at = (pairs[j] & ROW_MASK) * outputs
        for k in range(outputs):
            out[k] += gradients[at + k]


@inner
def propose_candidates(tree: Tree, rule: ExactRule, thread: int, pairs: Ints, span: Any, total: Ints) -> Any:
    """Sum the rows of a node by bins, quantiles of its hessians as in `kernels/binning/candidates.py`: a list with a place for each bin.

    Missing values are the last of them. Returns how many there are; none, where the node has no more values than bins may be.
    """
    begin, end = span
    stats = memory.row_stats(tree)
    stop = first_missing(pairs, begin, end)
    if not has_more_values(pairs, begin, stop, rule.candidate_bins):
        return 0
    bins = memory.bin_places(tree, 2 * thread)
    last_places = memory.bin_places(tree, 2 * thread + 1)
    sums = memory.bin_stats(tree, thread)
    of_bins = memory.bin_gradients(tree, thread)
    gradients = memory.gradients(tree)
    outputs = rule.n_classes if rule.criterion == VECTOR else 0
    whole = total[T_HESSIAN]
    for j in range(stop, end):
        whole -= stats[((pairs[j] & ROW_MASK) << 2) + 1]
    weight = np.int64(0)
    size = 0
    here = NOWHERE
    border = 0.0
    first = begin
    while first < end:
        g, h, c, past = sum_value(pairs, stats, first, end)
        middle = np.float64(weight) + 0.5 * np.float64(h)
        last = here
        if first >= stop:
            here = np.int64(MISSING_RANK)
        elif middle >= border:
            here = part_of(middle, whole, rule.candidate_bins)
            border = end_of_part(here, whole, rule.candidate_bins)
        if here != last:
            bins[size] = (here << 32) + size
            for k in range(4):
                sums[4 * size + k] = 0
            for k in range(outputs):
                of_bins[outputs * size + k] = 0
            size += 1
        sums[4 * size - 4] += g
        sums[4 * size - 3] += h
        sums[4 * size - 2] += c
        if outputs > 0:
            add_outputs(pairs, (first, past), gradients, outputs, of_bins[outputs * (size - 1) :])
        last_places[size - 1] = past - 1
        weight += h
        first = past
    return size


# Sets of levels.


@inner
def gather_categories(tree: Tree, rule: ExactRule, pairs: Ints, begin: Any, end: Any, levels: Ints) -> Any:
    """Sum the rows of each level that the node has, missing values last and like any other; how many there are."""
    of_rows = (memory.row_stats(tree), memory.gradients(tree))
    size = 0
    before = NOWHERE
    for j in range(begin, end):
        code = pairs[j] >> 32
        if code != before:
            for k in range(levels.shape[1]):
                levels[size, k] = 0
            levels[size, T_CODE] = code
            before = code
            size += 1
        add_place(rule, of_rows, pairs[j], levels[size - 1])
    return size


@inner
def widest_output(rule: ExactRule, levels: Ints, size: Any) -> Any:
    """The output whose mean gradients tell the levels apart best."""
    best = 0
    widest = -1.0
    for k in range(rule.n_classes):
        spread = 0.0
        for j in range(size):
            g = np.float64(levels[j, T_CLASSES + k]) * rule.gradient_unit
            below = np.float64(levels[j, T_HESSIAN]) * rule.hessian_unit + rule.category_smooth
            spread += g * g / below if below > 0.0 else 0.0
        if spread > widest:
            widest = spread
            best = k
    return best


@inner
def scan_categories(tree: Tree, rule: ExactRule, thread: int, which: int, size: Any, total: Ints, left: Ints, bounds: Any) -> Any:
    """Best set of levels: score, how many levels, where missing values go; the set is written to the found sets.

    With one number for each level, its mean gradient or its share of a class, the best set is a prefix in that order (Fisher 1958).
    With more than two classes no order is sure to have it; the orders by the share of each class are tried. With several outputs it is
    the order of the one that tells levels apart best.
    Levels that are not met go to neither side.
    """
    levels = memory.levels(tree)[256 * thread : 256 * thread + 256]
    places = memory.block_places(tree, PLACE_ROWS * thread)
    keys = memory.scores(tree, thread)
    sets = common.split_sets(tree)[which]
    best = NO_SPLIT
    count = NOWHERE
    side = STOP
    output = widest_output(rule, levels, size) if rule.criterion == VECTOR else 0
    for turn in range(rule.n_classes if rule.n_classes > 2 and rule.criterion != VECTOR else 1):
        for j in range(size):
            below = np.float64(levels[j, T_HESSIAN]) * rule.hessian_unit
            above = np.float64(levels[j, T_GRADIENT]) * rule.gradient_unit
            if rule.criterion == VECTOR:
                above = np.float64(levels[j, T_CLASSES + output]) * rule.gradient_unit
            if rule.criterion == NEWTON or rule.criterion == VECTOR:
                below += rule.category_smooth
            else:
                # With two classes one order is the other backwards.
                above = np.float64(levels[j, T_CLASSES + (turn if rule.n_classes > 2 else 1)]) * rule.hessian_unit
            keys[j] = above / below if below > 0.0 else 0.0
        argsort(keys, size, places)
        for k in range(len(left)):
            left[k] = 0
        better = NOWHERE
        for j in range(size - 1):
            for k in range(len(left)):
                left[k] += levels[places[j], k]
            score = cut_score(left, total, rule, rule.l2 + rule.category_l2, bounds, memory.logs(tree))
            if score > best:
                best = score
                better = np.int64(j)
        if better < 0:
            continue
        count = better + 1
        for word in range(8):
            sets[word] = 0
        for j in range(size):
            code = levels[places[j], T_CODE]
            if code == MISSING_RANK:
                side = RIGHT if j >= count else LEFT
            else:
                sets[4 * np.int64(j >= count) + (code >> 6)] |= U(1) << U(code & 63)
    return best, count, side


# Any feature.


@inner
def goes_left(pair: int, here: Any, side: int, sets: Words) -> Any:
    """1 if a place of a list goes left; `here`: whether it is before the cut, if there are no sets."""
    rank = pair >> 32
    if rank == MISSING_RANK:
        return np.int64(side == LEFT)
    if len(sets) > 0:
        return np.int64((sets[rank >> 6] >> U(rank & 63)) & U(1))
    return np.int64(here)


@inner
def note_sides(tree: Tree, rule: ExactRule, which: int, left: Ints, total: Ints, bounds: Any) -> None:
    """Values of the two sides, and the gain in relation to the bits that name the sides (Quinlan 1993)."""
    low, high, _direction, value = bounds
    logs = memory.logs(tree)
    p = left[T_HESSIAN]
    q = total[T_HESSIAN] - p
    if rule.criterion == NEWTON:
        a = np.float64(left[T_GRADIENT]) * rule.gradient_unit
        b = np.float64(total[T_GRADIENT] - left[T_GRADIENT]) * rule.gradient_unit
        below = leaf_value(a, np.float64(p) * rule.hessian_unit, rule.l1, rule.l2, low, high)
        above = leaf_value(b, np.float64(q) * rule.hessian_unit, rule.l1, rule.l2, low, high)
        rows = left[T_COUNT]
        common.set_split_left_value(tree, which, smoothed_value(below, rows, rule.path_smooth, value, low, high))
        common.set_split_right_value(tree, which, smoothed_value(above, total[T_COUNT] - rows, rule.path_smooth, value, low, high))
        return
    common.set_split_left_value(tree, which, np.float64(left[T_CLASSES + 1]) / np.float64(p))
    common.set_split_right_value(tree, which, np.float64(total[T_CLASSES + 1] - left[T_CLASSES + 1]) / np.float64(q))
    if rule.criterion == GAIN_RATIO:
        bits = x_log_x(p + q, rule, logs) - x_log_x(p, rule, logs) - x_log_x(q, rule, logs)
        memory.set_split_ratio(tree, which, common.split_gain(tree, which) / (real_bits(bits, rule) * rule.hessian_unit))


@inner
def find_split(tree: Tree, rule: ExactRule, node: int, side: Any, slot: int, thread: int) -> None:
    """Best split of a node by the feature of a slot; written to row side * slots + slot of what was found."""
    begin = nodes.begin(tree, node)
    end = nodes.end(tree, node)
    pairs = memory.sorted_rows(tree, slot)
    total = memory.totals(tree, side)
    left = memory.totals(tree, 2 + thread)
    which = side * len(memory.features(tree)) + slot
    common.set_split_feature(tree, which, NOTHING)
    if pairs[begin] >> 32 == pairs[end - 1] >> 32:
        return
    feature = memory.feature_of(tree, slot)
    direction = np.float64(common.direction_of(tree, feature))
    bounds = (constraints.low(tree, node), constraints.high(tree, node), direction, constraints.value(tree, node))
    sets = common.split_sets(tree)[which]
    if common.is_category_of(tree, feature):
        size = gather_categories(tree, rule, pairs, begin, end, memory.levels(tree)[256 * thread : 256 * thread + 256])
        score, place, missing = scan_categories(tree, rule, thread, which, size, total, left, bounds)
        common.set_split_bin(tree, which, 0)
    else:
        sets = sets[:0]
        n_bins = propose_candidates(tree, rule, thread, pairs, (begin, end), total) if rule.candidate_bins > 0 else 0
        if n_bins > 0:
            listed = (memory.bin_places(tree, 2 * thread), memory.bin_stats(tree, thread), memory.bin_gradients(tree, thread))
            score, place, missing = scan_numbers(tree, rule, thread, listed, (0, n_bins), total, left, bounds)
            if place >= 0:
                place = memory.bin_places(tree, 2 * thread + 1)[place]
        else:
            listed = (pairs, memory.row_stats(tree), memory.gradients(tree))
            score, place, missing = scan_numbers(tree, rule, thread, listed, (begin, end), total, left, bounds)
        if place >= 0:
            common.set_split_bin(tree, which, (pairs[place + 1] >> 32 << 32) + (pairs[place] >> 32))
    if place < 0:
        return
    common.set_split_feature(tree, which, feature)
    common.set_split_missing(tree, which, missing)
    common.set_split_gain(tree, which, score - memory.own_score(tree, node))
    memory.set_split_cut(tree, which, place)
    if not (rule.bounded or rule.criterion == GAIN_RATIO):
        return
    for k in range(len(left)):
        left[k] = 0
    for j in range(begin, end):
        if goes_left(pairs[j], j <= place, missing, sets):
            add_place(rule, (memory.row_stats(tree), memory.gradients(tree)), pairs[j], left)
    note_sides(tree, rule, which, left, total, bounds)
