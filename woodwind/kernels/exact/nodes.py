"""Nodes of a tree that grows with every threshold considered: their sums, their features, their splits, their turn."""

from typing import Any

import numpy as np

from woodwind.kernels.exact.memory import (
    CATEGORY,
    CONTROL,
    DEEP_FIRST,
    DRAWN,
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
    FOUND_SETS,
    GAIN_RATIO,
    GROUPS,
    HEAP,
    LOGS,
    MEMBER,
    MONOTONIC,
    NEWTON,
    NODE_F,
    NODE_I,
    ROWS,
    SETS,
    STATS,
    T_CLASSES,
    T_COUNT,
    T_GRADIENT,
    T_HESSIAN,
    TOTALS,
    X_OWN,
)
from woodwind.kernels.exact.score import bits_of, own_score
from woodwind.kernels.runtime.intrinsics import floats, int_list, ints, words_in
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.keys import FIRST_LEVEL, hashed, keep_some
from woodwind.kernels.tree.layout import (
    BEST_FIRST,
    F_GAIN,
    F_HIGH,
    F_LEFT,
    F_LOW,
    F_PRIORITY,
    F_RIGHT,
    N_BEGIN,
    N_BIN,
    N_CHILD,
    N_DEPTH,
    N_END,
    N_FEATURE,
    N_FINAL,
    N_KEY,
    N_MISSING,
    N_PARENT,
    N_SET,
    N_SLOT,
    STOP,
)

U = np.uint64
NOTHING = -1

# Counters in the control array, behind what the team uses.
C_NODES = 32
C_HEAP = 33
C_LEAVES = 34
C_SETS = 35


@inner
def make_children(growing: Any, node: Any, middle: Any) -> Any:
    """Give a node two children that meet at a place; keys, bounds of values and interaction groups are handed down."""
    control = int_list(growing, CONTROL)
    nodes = ints(growing, NODE_I)
    real = floats(growing, NODE_F)
    groups = words_in(growing, GROUPS)
    left = control[C_NODES]
    control[C_NODES] += 2
    control[C_LEAVES] += 1
    feature = nodes[node, N_FEATURE]
    nodes[node, N_CHILD] = left
    for side in range(2):
        child = left + side
        for k in range(nodes.shape[1]):
            nodes[child, k] = NOTHING
        nodes[child, N_PARENT] = node
        nodes[child, N_DEPTH] = nodes[node, N_DEPTH] + 1
        nodes[child, N_BEGIN] = nodes[node, N_BEGIN] if side == 0 else middle
        nodes[child, N_END] = nodes[node, N_END] if side == 1 else middle
        nodes[child, N_MISSING] = STOP
        nodes[child, N_KEY] = hashed(nodes[node, N_KEY], side)
        for k in range(real.shape[1]):
            real[child, k] = 0.0
        real[child, F_LOW] = real[node, F_LOW]
        real[child, F_HIGH] = real[node, F_HIGH]
        for g in range(groups.shape[1]):
            groups[child, g] = groups[node, g] & words_in(growing, MEMBER)[feature, g]
    direction = int_list(growing, MONOTONIC)[feature]
    if direction != 0:
        # Neither side may cross the middle, now or further down.
        value = (real[node, F_LEFT] + real[node, F_RIGHT]) / 2.0
        real[left if direction > 0 else left + 1, F_HIGH] = value
        real[left + 1 if direction > 0 else left, F_LOW] = value
    return left


@inner
def take_total(growing: Any, rule: Any, node: Any, side: Any) -> Any:
    """Sum the rows of a node to its side of TOTALS; says whether it may be split."""
    what = ints(growing, NODE_I)[node]
    total = ints(growing, TOTALS)[side]
    rows = int_list(growing, ROWS)
    stats = int_list(growing, STATS)
    for k in range(len(total)):
        total[k] = 0
    first = stats[4 * rows[what[N_BEGIN]] + 3]
    mixed = np.int64(0)
    gradient = np.int64(0)
    hessian = np.int64(0)
    count = np.int64(0)
    for j in range(U(what[N_BEGIN]), U(what[N_END])):
        at = U(rows[j] << 2)
        hessian += stats[at + U(1)]
        count += stats[at + U(2)]
        mixed |= stats[at + U(3)] ^ first
        if rule.criterion == NEWTON:
            gradient += stats[at]
        else:
            total[U(T_CLASSES) + U(stats[at])] += stats[at + U(1)]
    total[T_GRADIENT] = gradient
    total[T_HESSIAN] = hessian
    total[T_COUNT] = count
    if rule.criterion >= ENTROPY:
        total[T_GRADIENT] = bits_of(total, rule, int_list(growing, LOGS))
    real = floats(growing, NODE_F)[node]
    real[X_OWN] = own_score(total, rule, real[F_LOW], real[F_HIGH])
    if mixed == 0:
        return False
    return what[N_DEPTH] < rule.max_depth and count >= rule.min_split and count >= 2 * rule.min_rows


# Which features, and which of their splits.


@inner
def draw_slots(growing: Any, rule: Any, node: Any, out: Any) -> Any:
    """Write the slots that a node may be split by to out; returns how many come first, and how many there are.

    First those of the tree, then a draw for the level, then those that interaction constraints leave, then a draw for the node.
    """
    features = int_list(growing, FEATURES)
    count = len(features)
    for k in range(count):
        out[k] = k
    count = keep_some(out, count, rule.level_candidates, hashed(rule.seed, FIRST_LEVEL + ints(growing, NODE_I)[node, N_DEPTH]))
    if rule.grouped:
        groups = words_in(growing, GROUPS)
        member = words_in(growing, MEMBER)
        kept = 0
        for k in range(count):
            together = U(0)
            for g in range(groups.shape[1]):
                together |= member[features[out[k]], g] & groups[node, g]
            if together != 0:
                out[kept] = out[k]
                kept += 1
        count = kept
    if rule.n_candidates >= count:
        return count, count
    keep_some(out, count, count - 1 if rule.patient else rule.n_candidates, ints(growing, NODE_I)[node, N_KEY])
    return rule.n_candidates, count if rule.patient else rule.n_candidates


@inner
def pick(growing: Any, rule: Any, side: Any, begin: Any, end: Any) -> Any:
    """The best of the drawn slots begin to end; of equals the lowest. -1 if none has a split.

    Gain ratio: the best ratio among those whose gain is not below the mean (Quinlan 1993, section 2.2): it would otherwise favour
    splits that part a few rows from the rest, whatever they gain.
    """
    drawn = ints(growing, DRAWN)[side]
    first = side * len(int_list(growing, FEATURES))
    places = ints(growing, FOUND_I)
    found = floats(growing, FOUND_F)
    column = FOUND_RATIO if rule.criterion == GAIN_RATIO else FOUND_SCORE
    total = 0.0
    count = 0
    for k in range(begin, end):
        if places[first + drawn[k], FOUND_PLACE] >= 0:
            total += found[first + drawn[k], FOUND_SCORE]
            count += 1
    # The mean of equal gains may round to more than they are.
    least = total / max(count, 1) * (1.0 - 1e-12) if rule.criterion == GAIN_RATIO else -np.inf
    best = NOTHING
    highest = -np.inf
    for k in range(begin, end):
        slot = drawn[k]
        score = found[first + slot, column]
        if places[first + slot, FOUND_PLACE] >= 0 and found[first + slot, FOUND_SCORE] >= least:
            if best < 0 or score > highest or (score == highest and slot < best):
                best = slot
                highest = score
    return best


@inner
def accept(growing: Any, rule: Any, node: Any, side: Any, slot: Any) -> None:
    """Give a node the split that was found, if the gain is enough, and let it wait for its turn."""
    control = int_list(growing, CONTROL)
    found = side * len(int_list(growing, FEATURES)) + slot
    outcome = floats(growing, FOUND_F)[found]
    gain = outcome[FOUND_SCORE]
    real = floats(growing, NODE_F)[node]
    # Where values are held by bounds, a split may gain nothing but rounding errors.
    least = rule.min_gain + (0.0 if rule.plain else 1e-15 * abs(real[X_OWN]))
    if not (gain > least or (rule.thorough and gain == least and gain > 0.0) or rule.any_gain):
        return
    real[F_GAIN] = max(gain, 0.0)
    real[F_LEFT] = outcome[FOUND_LEFT]
    real[F_RIGHT] = outcome[FOUND_RIGHT]
    what = ints(growing, NODE_I)[node]
    what[N_SLOT] = slot
    what[N_FEATURE] = int_list(growing, FEATURES)[slot]
    what[N_BIN] = ints(growing, FOUND_I)[found, FOUND_BIN]
    what[N_MISSING] = ints(growing, FOUND_I)[found, FOUND_MISSING]
    what[N_FINAL] = ints(growing, FOUND_I)[found, FOUND_PLACE]
    if int_list(growing, CATEGORY)[what[N_FEATURE]]:
        what[N_SET] = control[C_SETS]
        control[C_SETS] += 1
        for word in range(8):
            words_in(growing, SETS)[what[N_SET], word] = words_in(growing, FOUND_SETS)[found, word]
    real[F_PRIORITY] = -np.float64(node)
    if rule.order == BEST_FIRST:
        real[F_PRIORITY] = real[F_GAIN]
    elif rule.order == DEEP_FIRST:
        real[F_PRIORITY] = np.float64(node)
    push(growing, node)


# Which node next: a heap by priority, equals by number.


@inner
def comes_before(growing: Any, a: Any, b: Any) -> Any:
    """Whether node a is split before node b."""
    first = floats(growing, NODE_F)[a, F_PRIORITY]
    second = floats(growing, NODE_F)[b, F_PRIORITY]
    return first > second or (first == second and a < b)


@inner
def push(growing: Any, node: Any) -> None:
    """Let a node wait for its turn."""
    heap = int_list(growing, HEAP)
    place = int_list(growing, CONTROL)[C_HEAP]
    int_list(growing, CONTROL)[C_HEAP] += 1
    while place > 0:
        above = (place - 1) // 2
        if not comes_before(growing, node, heap[above]):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = node


@inner
def pop(growing: Any) -> Any:
    """The node whose turn it is."""
    heap = int_list(growing, HEAP)
    first = heap[0]
    last = int_list(growing, CONTROL)[C_HEAP] - 1
    int_list(growing, CONTROL)[C_HEAP] = last
    moved = heap[last]
    place = 0
    while 2 * place + 1 < last:
        below = 2 * place + 1
        if below + 1 < last and comes_before(growing, heap[below + 1], heap[below]):
            below += 1
        if not comes_before(growing, heap[below], moved):
            break
        heap[place] = heap[below]
        place = below
    heap[place] = moved
    return first
