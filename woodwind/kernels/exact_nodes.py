"""Nodes of a tree that grows with every threshold considered: their sums, their features, their turn and their number."""

from typing import Any

import numpy as np

from woodwind.kernels.exact_layout import (
    CONTROL,
    DEEP_FIRST,
    DRAWN,
    ENTROPY,
    FEATURES,
    FOUND_F,
    FOUND_I,
    FOUND_PLACE,
    FOUND_RATIO,
    FOUND_SCORE,
    GAIN_RATIO,
    GROUPS,
    HEAP,
    LEAF_OF_ROW,
    LOGS,
    MEMBER,
    NEWTON,
    NODE_F,
    NODE_I,
    ROWS,
    SEQUENCE,
    STATS,
    T_CLASSES,
    T_COUNT,
    T_GRADIENT,
    T_HESSIAN,
    TOTALS,
    X_OWN,
)
from woodwind.kernels.exact_score import bits_of, own_score
from woodwind.kernels.intrinsics import floats, int_list, ints, row_list, words_in
from woodwind.kernels.jit import inner
from woodwind.kernels.keys import hashed, keep_some
from woodwind.kernels.layout import (
    BEST_FIRST,
    F_GAIN,
    F_HIGH,
    F_LOW,
    F_PRIORITY,
    N_BEGIN,
    N_CHILD,
    N_DEPTH,
    N_END,
    N_FINAL,
    N_KEY,
    N_MISSING,
    N_PARENT,
    STOP,
)

U = np.uint64
NOTHING = -1

# Counters in the control array, behind what the team uses.
C_NODES = 32
C_HEAP = 33
C_LEAVES = 34
C_SETS = 35
C_NODE = 36  # the node that a phase is about
C_SIDE = 37  # and its row of TOTALS
C_FIRST = 38  # the first of the drawn slots that a phase is about


@inner
def new_node(growing: Any, parent: Any, begin: Any, end: Any) -> Any:
    """A node without split or children."""
    control = int_list(growing, CONTROL)
    node = control[C_NODES]
    control[C_NODES] += 1
    what = ints(growing, NODE_I)[node]
    for k in range(len(what)):
        what[k] = NOTHING
    what[N_PARENT] = parent
    what[N_DEPTH] = ints(growing, NODE_I)[parent, N_DEPTH] + 1 if parent >= 0 else 0
    what[N_BEGIN] = begin
    what[N_END] = end
    what[N_MISSING] = STOP
    real = floats(growing, NODE_F)[node]
    for k in range(len(real)):
        real[k] = 0.0
    real[F_LOW] = -np.inf
    real[F_HIGH] = np.inf
    return node


@inner
def begin_tree(growing: Any, rule: Any) -> None:
    """One node with all rows."""
    control = int_list(growing, CONTROL)
    stats = int_list(growing, STATS)
    rows = int_list(growing, ROWS)
    size = 0
    for row in range(rule.n_rows):
        if stats[4 * row + 2] > 0:
            rows[size] = row
            size += 1
    control[C_NODES] = 0
    control[C_HEAP] = 0
    control[C_SETS] = 0
    control[C_LEAVES] = 1
    root = new_node(growing, NOTHING, 0, size)
    ints(growing, NODE_I)[root, N_KEY] = rule.seed
    for g in range(words_in(growing, GROUPS).shape[1]):
        words_in(growing, GROUPS)[root, g] = ~U(0)


@inner
def take_total(growing: Any, rule: Any, node: Any, side: Any) -> Any:
    """Sum the rows of a node to its side of TOTALS; says whether it may be split."""
    what = ints(growing, NODE_I)[node]
    total = ints(growing, TOTALS)[side]
    rows = int_list(growing, ROWS)
    stats = int_list(growing, STATS)
    for k in range(T_CLASSES + rule.n_classes):
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
    if rule.lenient and mixed == 0:
        return False
    return what[N_DEPTH] < rule.max_depth and count >= rule.min_split and count >= 2 * rule.min_rows


# Which features.


@inner
def draw_slots(growing: Any, rule: Any, node: Any) -> Any:
    """Write the slots that a node may be split by to DRAWN; returns how many come first, and how many there are.

    First those of the tree, then a draw for the level, then those that interaction constraints leave, then a draw for the node.
    """
    what = ints(growing, NODE_I)[node]
    out = int_list(growing, DRAWN)
    features = int_list(growing, FEATURES)
    count = len(features)
    for k in range(count):
        out[k] = k
    count = keep_some(out, count, rule.level_candidates, hashed(rule.seed, what[N_DEPTH]))
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
    first = keep_some(out, count, count - 1 if rule.patient else rule.n_candidates, what[N_KEY])
    return rule.n_candidates, count if rule.patient else first


@inner
def pick(growing: Any, rule: Any, begin: Any, end: Any) -> Any:
    """The best of the drawn slots begin to end; of equals the lowest. -1 if none has a split.

    Gain ratio: the best ratio among those whose gain is not below the mean (Quinlan 1993, section 2.2): it would otherwise favour
    splits that part a few rows from the rest, whatever they gain.
    """
    drawn = int_list(growing, DRAWN)
    found_i = ints(growing, FOUND_I)
    found_f = floats(growing, FOUND_F)
    column = FOUND_SCORE
    least = -np.inf
    if rule.criterion == GAIN_RATIO:
        column = FOUND_RATIO
        total = 0.0
        count = 0
        for k in range(begin, end):
            if found_i[drawn[k], FOUND_PLACE] >= 0:
                total += found_f[drawn[k], FOUND_SCORE]
                count += 1
        # The mean of equal gains may round to more than they are.
        least = total / max(count, 1) * (1.0 - 1e-12)
    best = NOTHING
    for k in range(begin, end):
        slot = drawn[k]
        if found_i[slot, FOUND_PLACE] < 0 or found_f[slot, FOUND_SCORE] < least:
            continue
        if best < 0 or found_f[slot, column] > found_f[best, column] or (found_f[slot, column] == found_f[best, column] and slot < best):
            best = slot
    return best


# Which node next: a heap by priority, equals by number.


@inner
def comes_before(growing: Any, a: Any, b: Any) -> Any:
    """Whether node a is split before node b."""
    first = floats(growing, NODE_F)[a, F_PRIORITY]
    second = floats(growing, NODE_F)[b, F_PRIORITY]
    return first > second or (first == second and a < b)


@inner
def push(growing: Any, rule: Any, node: Any) -> None:
    """Let a node wait for its turn."""
    priority = -np.float64(node)
    if rule.order == BEST_FIRST:
        priority = floats(growing, NODE_F)[node, F_GAIN]
    elif rule.order == DEEP_FIRST:
        priority = np.float64(node)
    floats(growing, NODE_F)[node, F_PRIORITY] = priority
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


# Finishing.


@inner
def number_nodes(growing: Any, rule: Any) -> None:
    """Final numbers: in order of birth, or level by level where the order of growth was chosen for speed alone."""
    nodes = ints(growing, NODE_I)
    sequence = int_list(growing, SEQUENCE)
    size = int_list(growing, CONTROL)[C_NODES]
    sequence[0] = 0
    known = 1
    for number in range(size):
        if rule.order != DEEP_FIRST:
            sequence[number] = number
        node = sequence[number]
        nodes[node, N_FINAL] = number
        if rule.order == DEEP_FIRST and nodes[node, N_CHILD] >= 0:
            sequence[known] = nodes[node, N_CHILD]
            sequence[known + 1] = nodes[node, N_CHILD] + 1
            known += 2


@inner
def note_leaves(growing: Any) -> None:
    """Write the leaf of every row."""
    nodes = ints(growing, NODE_I)
    rows = int_list(growing, ROWS)
    leaf_of_row = row_list(growing, LEAF_OF_ROW)
    for node in range(int_list(growing, CONTROL)[C_NODES]):
        if nodes[node, N_CHILD] < 0:
            for j in range(nodes[node, N_BEGIN], nodes[node, N_END]):
                leaf_of_row[rows[j]] = nodes[node, N_FINAL]
