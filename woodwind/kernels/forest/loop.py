"""A whole tree of a forest in one compiled call.

Nodes of many rows are judged by bins, those of at most `growing[R_EXACT]` by every threshold; a subtree of at most `growing[R_LIMIT]` rows
works on a copy of its own (see `grove_order.py`). Trees are grown by different threads, each tree by one.
The slow twin is `woodwind/testing/naive_grove.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.forest.best import settle_cuts, settle_ranks
from woodwind.kernels.forest.emit import emit_tree
from woodwind.kernels.forest.find_splits import judge
from woodwind.kernels.forest.memory import (
    A_PAIR,
    B_BIN,
    B_BOTH,
    B_FEATURE,
    B_HIGH,
    B_IS_SET,
    B_LOW,
    B_MISSING,
    B_SUM,
    BEGIN,
    BEST,
    BEST_F,
    BEST_SET,
    BF_CUT,
    BF_MIN_GAIN,
    BF_SCORE,
    BIN,
    BOTH,
    C_SETS,
    CONTROL,
    CUT,
    DEPTH,
    DRAWN,
    END,
    FEATURE,
    GAIN,
    HEAP,
    HIGH,
    KEY,
    LEFT_BOTH,
    LEFT_SUM,
    LOGS,
    LOW,
    LOW_HALF,
    MISSING,
    MOMENTS,
    NODE_F,
    NODE_I,
    PAIR,
    PLACES,
    R_BEST_FIRST,
    R_CRITERION,
    R_EXACT,
    R_LEVELS,
    R_LIMIT,
    R_MAX_DEPTH,
    R_MAX_LEAVES,
    R_MIN_ROWS,
    R_MIN_SPLIT,
    R_N_CANDIDATES,
    R_N_CLASSES,
    R_N_FEATURES,
    R_PACKED,
    R_RANDOM_CUTS,
    R_TOGETHER,
    ROWS,
    SET,
    SETS,
    SIDES,
    SUM,
)
from woodwind.kernels.forest.nodes import close_arena, is_pure, make_children, plant, pop, push
from woodwind.kernels.forest.order import copy_rows, is_inside, open_arena
from woodwind.kernels.forest.score import class_worth, purity
from woodwind.kernels.forest.split_64_rows import note_words
from woodwind.kernels.forest.split_few_rows import MOST_ROWS, judge_few
from woodwind.kernels.histogram.scan import NO_SPLIT
from woodwind.kernels.runtime.intrinsics import floats, int_list, ints, row_list, words_in
from woodwind.kernels.runtime.jit import inlined, inner, kernel
from woodwind.kernels.runtime.keys import hashed, put_in_order
from woodwind.kernels.runtime.simd import LANES

U = np.uint64

# Items of a node's key: 0 and 1 name its children.
CUTS_ITEM = 2
DRAW_ITEM = 3


@inlined
def count_classes(growing: Any, begin: Any, end: Any) -> Any:
    """Weight of each class of a node, in SIDES[0]; returns how many classes there are."""
    inside = is_inside(growing, begin, end)
    places = row_list(growing, PLACES if inside else ROWS)
    pair = int_list(growing, A_PAIR if inside else PAIR)
    whole = ints(growing, SIDES)[0]
    for k in range(growing[R_N_CLASSES]):
        whole[k] = 0
    for j in range(U(begin), U(end)):
        place = U(places[j])
        whole[U(pair[place + place])] += pair[place + place + U(1)] & LOW_HALF
    found = np.int64(0)
    for k in range(growing[R_N_CLASSES]):
        found += np.int64(whole[k] > 0)
    return found


@inlined
def draw(growing: Any, key: Any, k: Any) -> Any:
    """Draw feature number k of a node: one step of a shuffle, remembered so that it can be undone."""
    drawn = row_list(growing, DRAWN)
    other = k + (((hashed(key, k) >> 31) * (growing[R_N_FEATURES] - k)) >> 32)
    drawn[growing[R_N_FEATURES] + k] = other
    drawn[k], drawn[other] = drawn[other], drawn[k]
    return drawn[k]


@inlined
def find_split(growing: Any, node: Any, total: Any, perfect: Any) -> None:
    """Judge the features that are drawn for a node, the lowest first; draw on while none of them can split it."""
    what = ints(growing, NODE_I)[node]
    begin = what[BEGIN]
    end = what[END]
    drawn = row_list(growing, DRAWN)
    score = floats(growing, BEST_F)
    n_features = growing[R_N_FEATURES]
    n_candidates = min(growing[R_N_CANDIDATES], n_features)
    in_lanes = growing[R_PACKED] != 0 and growing[R_RANDOM_CUTS] == 0 and end - begin <= min(growing[R_EXACT], LANES)
    in_lanes = in_lanes and note_words(growing, begin, end, total)
    cuts = hashed(what[KEY], CUTS_ITEM)
    draws = hashed(what[KEY], DRAW_ITEM)
    count = np.int64(0)
    if n_candidates < n_features:
        while count < n_candidates:
            drawn[2 * n_features + count] = draw(growing, draws, count)
            count += 1
        put_in_order(drawn, 2 * n_features, count)
    k = np.int64(0)
    while k < n_features and (k < n_candidates or score[0, BF_SCORE] == NO_SPLIT):
        feature = k
        if k >= n_candidates:
            feature = np.int64(draw(growing, draws, k))
            count += 1
        elif n_candidates < n_features:
            feature = np.int64(drawn[2 * n_features + k])
        judge_and_keep(growing, feature, begin, end, total, cuts, in_lanes)
        if score[0, BF_SCORE] >= perfect:
            break
        k += 1
    for i in range(count - 1, -1, -1):
        other = drawn[n_features + i]
        drawn[i], drawn[other] = drawn[other], drawn[i]


@inlined
def judge_and_keep(growing: Any, feature: Any, begin: Any, end: Any, total: Any, key: Any, in_lanes: Any) -> None:
    """Judge one feature; the set of a split that is the best so far is kept apart from that of the next candidate."""
    judge(growing, feature, begin, end, total, key, in_lanes)
    best = int_list(growing, BEST)
    if best[B_FEATURE] == feature and best[B_IS_SET] != 0:
        sets = words_in(growing, BEST_SET)
        for w in range(8):
            sets[1, w] = sets[0, w]


@inlined
def has_one_target(growing: Any, begin: Any, end: Any, s: Any, both: Any) -> Any:
    """Whether there is nothing to tell apart; otherwise the weights of more classes than two are counted."""
    if growing[R_CRITERION] != MOMENTS:
        return count_classes(growing, begin, end) < 2
    if growing[R_N_CLASSES] == 2:
        return s == 0 or s == both & LOW_HALF
    return is_pure(growing, begin, end)


@inner
def evaluate(growing: Any, node: Any) -> Any:
    """Give a node its split; False if it stays a leaf."""
    control = int_list(growing, CONTROL)
    what = ints(growing, NODE_I)[node]
    begin = what[BEGIN]
    end = what[END]
    s = what[SUM]
    both = what[BOTH]
    if what[DEPTH] >= growing[R_MAX_DEPTH] or end - begin < 2:
        return False
    if both >> 32 < growing[R_MIN_SPLIT] or both >> 32 < 2 * growing[R_MIN_ROWS] or has_one_target(growing, begin, end, s, both):
        return False
    if end - begin <= growing[R_LIMIT] and not is_inside(growing, begin, end):
        close_arena(growing)
        open_arena(growing, begin, end)
    if end - begin > growing[R_EXACT] or growing[R_LEVELS] != 0:
        copy_rows(growing, begin, end)
    perfect = np.inf
    if growing[R_CRITERION] == MOMENTS:
        own = np.float64(s) * np.float64(s) / np.float64(both & LOW_HALF)
        if growing[R_N_CLASSES] == 2:
            perfect = np.float64(s)
    else:
        own = purity(class_worth(growing, 0), both & LOW_HALF, int_list(growing, LOGS))
    if end - begin == 2:
        perfect = -np.finfo(np.float64).max  # there is but one way to part two rows
    score = floats(growing, BEST_F)
    score[0, BF_SCORE] = NO_SPLIT
    int_list(growing, BEST)[B_FEATURE] = -1
    few = growing[R_TOGETHER] != 0 and 2 < end - begin <= MOST_ROWS
    if not few or not judge_few(growing, begin, end, (s, both)):
        find_split(growing, node, (s, both), perfect)
    best = int_list(growing, BEST)
    gain = score[0, BF_SCORE] - own
    if best[B_FEATURE] < 0 or gain < score[0, BF_MIN_GAIN]:
        return False
    if best[B_IS_SET] == 0 and growing[R_RANDOM_CUTS] == 0:
        settle_ranks(growing)
    what[FEATURE] = best[B_FEATURE]
    what[LOW] = best[B_LOW]
    what[HIGH] = best[B_HIGH]
    what[MISSING] = best[B_MISSING]
    what[BIN] = best[B_BIN]
    what[LEFT_SUM] = best[B_SUM]
    what[LEFT_BOTH] = best[B_BOTH]
    if best[B_IS_SET] != 0:
        what[SET] = control[C_SETS]
        control[C_SETS] += 1
        for w in range(8):
            words_in(growing, SETS)[what[SET], w] = words_in(growing, BEST_SET)[1, w]
    floats(growing, NODE_F)[node, GAIN] = max(gain, 0.0)
    floats(growing, NODE_F)[node, CUT] = score[0, BF_CUT]
    return True


@kernel
def grow_grove_tree(growing: Any) -> None:
    """Grow one tree from the rows that TIMES names, and write it to the OUT arrays; CONTROL says how large it is."""
    plant(growing)
    stack = int_list(growing, HEAP)
    size = np.int64(0)
    if growing[R_BEST_FIRST] != 0:
        leaves = 1
        if evaluate(growing, 0):
            push(growing, size, 0)
            size += 1
        while size > 0 and leaves < growing[R_MAX_LEAVES]:
            left = make_children(growing, pop(growing, size))
            size -= 1
            leaves += 1
            for child in range(left, left + 2):
                if evaluate(growing, child):
                    push(growing, size, child)
                    size += 1
        # What was not split after all is a leaf.
        for j in range(size):
            ints(growing, NODE_I)[stack[j], FEATURE] = -1
    else:
        stack[0] = 0
        size += 1
        while size > 0:
            size -= 1
            node = stack[size]
            if evaluate(growing, node):
                left = make_children(growing, node)
                stack[size] = left + 1
                stack[size + 1] = left
                size += 2
    close_arena(growing)
    if growing[R_RANDOM_CUTS] == 0:
        settle_cuts(growing)
    emit_tree(growing)
