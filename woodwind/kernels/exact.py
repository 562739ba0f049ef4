"""A whole tree in one compiled call, every threshold considered: CART (Breiman, Friedman, Olshen & Stone 1984).

Each feature has a list of the rows in its order. A node owns the same places in all lists; splitting it divides them, and order
is kept within both parts, so nothing is ever sorted again: a level of the tree costs one pass over the lists.

    list of a feature   | rows of node 1 by rank | rows of node 2 by rank | ...

Lists are judged and divided one by one, by several threads where a node is large (kernels/team.py): they do not touch each
other, and one thread takes all decisions. The slow twin is `woodwind/testing/naive_tree.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.exact_layout import (
    CATEGORY,
    CONTROL,
    DRAWN,
    FEATURES,
    FOUND_BIN,
    FOUND_F,
    FOUND_I,
    FOUND_LEFT,
    FOUND_MISSING,
    FOUND_PLACE,
    FOUND_RIGHT,
    FOUND_SCORE,
    FOUND_SETS,
    GOES,
    GROUPS,
    LISTS,
    MEMBER,
    MISSING_RANK,
    MONOTONIC,
    NODE_F,
    NODE_I,
    ORDER,
    RANKS,
    ROW_MASK,
    ROWS,
    SETS,
    SPARE,
    STATS,
)
from woodwind.kernels.exact_nodes import (
    C_FIRST,
    C_HEAP,
    C_LEAVES,
    C_NODE,
    C_SETS,
    C_SIDE,
    NOTHING,
    begin_tree,
    draw_slots,
    new_node,
    note_leaves,
    number_nodes,
    pick,
    pop,
    push,
    take_total,
)
from woodwind.kernels.exact_scan import scan_slot
from woodwind.kernels.intrinsics import bytes_in, floats, int_list, ints, row_list, words_in
from woodwind.kernels.jit import inner, kernel
from woodwind.kernels.keys import hashed
from woodwind.kernels.layout import (
    F_GAIN,
    F_HIGH,
    F_LEFT,
    F_LOW,
    F_RIGHT,
    LEFT,
    N_BEGIN,
    N_BIN,
    N_CHILD,
    N_END,
    N_FEATURE,
    N_FINAL,
    N_KEY,
    N_MISSING,
    N_SET,
    N_SLOT,
)
from woodwind.kernels.team import KIND, end_call, finish_task, open_phase, take_task, wait_for_all, wait_for_work

U = np.uint64

# Kinds of phase: one task for each list.
FILL = 1
JUDGE = 2
DIVIDE = 3

# Places of lists that are worth a phase: it costs about a microsecond, or as much as some hundred of them.
PHASE_PLACES = 8192


# Tasks.


@inner
def fill_list(growing: Any, rule: Any, slot: Any) -> None:
    """Write the rows that are in the tree by rank, with their ranks, to the list of a slot."""
    start = int_list(growing, FEATURES)[slot] * rule.n_rows
    order = row_list(growing, ORDER)
    ranks = row_list(growing, RANKS)
    stats = int_list(growing, STATS)
    pairs = ints(growing, LISTS)[slot]
    size = U(0)
    for j in range(U(start), U(start + rule.n_rows)):
        row = np.int64(order[j])
        rank = np.int64(ranks[U(start + row)])
        if rank < 0:
            rank = np.int64(MISSING_RANK)
        pairs[size] = (rank << 32) + row
        size += U(stats[U(4 * row + 2)] > 0)


@inner
def divide(pairs: Any, goes: Any, spare: Any, begin: Any, end: Any) -> None:
    """Bring the places of rows that go left to the front, in order; the others follow, in order.

    Without a branch that nobody could predict: every place is written to both parts, and one of them moves on.
    """
    left = U(begin)
    right = U(0)
    for j in range(U(begin), U(end)):
        pair = pairs[j]
        way = U(goes[U(pair & ROW_MASK)])
        pairs[left] = pair
        spare[right] = pair
        left += way
        right += U(1) - way
    for j in range(right):
        pairs[left + j] = spare[j]


@inner
def do_tasks(growing: Any, rule: Any, begin: Any, end: Any, thread: Any) -> None:
    """Do some tasks of the present phase."""
    control = int_list(growing, CONTROL)
    kind = control[KIND]
    node = control[C_NODE]
    for task in range(begin, end):
        if kind == FILL:
            fill_list(growing, rule, task)
        elif kind == JUDGE:
            slot = int_list(growing, DRAWN)[control[C_FIRST] + task]
            scan_slot(growing, rule, node, control[C_SIDE], slot, thread)
        else:
            what = ints(growing, NODE_I)[node]
            divide(ints(growing, LISTS)[task], bytes_in(growing, GOES)[0], ints(growing, SPARE)[thread], what[N_BEGIN], what[N_END])


@inner
def run_phase(growing: Any, rule: Any, kind: Any, n_tasks: Any, rows: Any, threads: Any) -> None:
    """Do the tasks of a phase, together with the helpers if it is large."""
    control = int_list(growing, CONTROL)
    if threads == 1 or n_tasks * rows < PHASE_PLACES or n_tasks < 2:
        control[KIND] = kind
        do_tasks(growing, rule, 0, n_tasks, 0)
        return
    open_phase(control, kind, n_tasks)
    while True:
        task = take_task(control)
        if task < 0:
            break
        do_tasks(growing, rule, task, task + 1, 0)
        finish_task(control)
    wait_for_all(control, n_tasks)


# Judging a node.


@inner
def judge(growing: Any, rule: Any, node: Any, side: Any, threads: Any) -> None:
    """Give a node its best split, if there is one, and let it wait for its turn."""
    control = int_list(growing, CONTROL)
    what = ints(growing, NODE_I)[node]
    first, count = draw_slots(growing, rule, node)
    control[C_NODE] = node
    control[C_SIDE] = side
    begin = 0
    end = first
    slot = NOTHING
    while begin < end:
        control[C_FIRST] = begin
        run_phase(growing, rule, JUDGE, end - begin, what[N_END] - what[N_BEGIN], threads)
        slot = pick(growing, rule, begin, end)
        if slot >= 0:
            break
        begin = end
        end = min(end + 1, count)
    if slot < 0:
        return
    found_i = ints(growing, FOUND_I)[slot]
    found_f = floats(growing, FOUND_F)[slot]
    gain = found_f[FOUND_SCORE]
    if not (gain > rule.min_gain or (rule.lenient and (gain >= rule.min_gain or rule.min_gain == 0.0))):
        return
    real = floats(growing, NODE_F)[node]
    real[F_GAIN] = max(gain, 0.0)
    real[F_LEFT] = found_f[FOUND_LEFT]
    real[F_RIGHT] = found_f[FOUND_RIGHT]
    what[N_SLOT] = slot
    what[N_FEATURE] = int_list(growing, FEATURES)[slot]
    what[N_BIN] = found_i[FOUND_BIN]
    what[N_MISSING] = found_i[FOUND_MISSING]
    what[N_FINAL] = found_i[FOUND_PLACE]  # until it is split; then its number in the finished tree
    if int_list(growing, CATEGORY)[what[N_FEATURE]]:
        what[N_SET] = control[C_SETS]
        control[C_SETS] += 1
        for word in range(8):
            words_in(growing, SETS)[what[N_SET], word] = words_in(growing, FOUND_SETS)[slot, word]
    push(growing, rule, node)


# Splitting a node.


@inner
def mark_rows(growing: Any, node: Any) -> Any:
    """Note in GOES which rows of a node go left; how many they are."""
    what = ints(growing, NODE_I)[node]
    pairs = ints(growing, LISTS)[what[N_SLOT]]
    goes = bytes_in(growing, GOES)[0]
    missing_left = np.int64(what[N_MISSING] == LEFT)
    count = np.int64(0)
    for j in range(what[N_BEGIN], what[N_END]):
        rank = pairs[j] >> 32
        way = np.int64(j <= what[N_FINAL])
        if rank == MISSING_RANK:
            way = missing_left
        elif what[N_SET] >= 0:
            way = np.int64((words_in(growing, SETS)[what[N_SET], rank >> 6] >> U(rank & 63)) & U(1))
        goes[pairs[j] & ROW_MASK] = way
        count += way
    return count


@inner
def bound_children(growing: Any, node: Any, left: Any) -> None:
    """Hand keys, bounds of values and interaction groups down."""
    what = ints(growing, NODE_I)[node]
    real = floats(growing, NODE_F)
    groups = words_in(growing, GROUPS)
    feature = what[N_FEATURE]
    for side in range(2):
        child = left + side
        ints(growing, NODE_I)[child, N_KEY] = hashed(what[N_KEY], side)
        real[child, F_LOW] = real[node, F_LOW]
        real[child, F_HIGH] = real[node, F_HIGH]
        for g in range(groups.shape[1]):
            groups[child, g] = groups[node, g] & words_in(growing, MEMBER)[feature, g]
    direction = int_list(growing, MONOTONIC)[feature]
    if direction != 0:
        # Neither side may cross the middle, now or further down.
        middle = (real[node, F_LEFT] + real[node, F_RIGHT]) / 2.0
        real[left if direction > 0 else left + 1, F_HIGH] = middle
        real[left + 1 if direction > 0 else left, F_LOW] = middle


@inner
def split(growing: Any, rule: Any, node: Any, threads: Any) -> None:
    """Give a node its children, and judge them."""
    control = int_list(growing, CONTROL)
    what = ints(growing, NODE_I)[node]
    begin = what[N_BEGIN]
    end = what[N_END]
    middle = begin + mark_rows(growing, node)
    divide(int_list(growing, ROWS), bytes_in(growing, GOES)[0], ints(growing, SPARE)[0], begin, end)
    left = new_node(growing, node, begin, middle)
    right = new_node(growing, node, middle, end)
    what[N_CHILD] = left
    control[C_LEAVES] += 1
    bound_children(growing, node, left)
    if control[C_LEAVES] >= rule.max_leaves:
        return
    left_splits = take_total(growing, rule, left, 0)
    right_splits = take_total(growing, rule, right, 1)
    if not (left_splits or right_splits):
        return
    control[C_NODE] = node
    run_phase(growing, rule, DIVIDE, len(int_list(growing, FEATURES)), end - begin, threads)
    if left_splits:
        judge(growing, rule, left, 0, threads)
    if right_splits:
        judge(growing, rule, right, 1, threads)


@kernel
def grow_exact(growing: Any, rule: Any, thread: Any, threads: Any) -> None:
    """Grow one tree: as the leader if `thread` is 0, otherwise as a helper."""
    control = int_list(growing, CONTROL)
    if thread > 0:
        while True:
            task = wait_for_work(control)
            if task < 0:
                return
            do_tasks(growing, rule, task, task + 1, thread)
            finish_task(control)
    begin_tree(growing, rule)
    if take_total(growing, rule, 0, 0) and rule.max_leaves > 1:
        run_phase(growing, rule, FILL, len(int_list(growing, FEATURES)), rule.n_rows, threads)
        judge(growing, rule, 0, 0, threads)
    while control[C_HEAP] > 0 and control[C_LEAVES] < rule.max_leaves:
        split(growing, rule, pop(growing), threads)
    number_nodes(growing, rule)
    note_leaves(growing)
    end_call(control)
