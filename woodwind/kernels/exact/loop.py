"""A whole tree in one compiled call, every threshold considered: CART (Breiman, Friedman, Olshen & Stone 1984).

Each feature has a list of the rows in its order. A node owns the same places in all lists; splitting it divides them, and order
is kept within both parts, so nothing is ever sorted again: a level of the tree costs one pass over the lists.

    list of a feature   | rows of node 1 by rank | rows of node 2 by rank | ...

Lists are filled, judged and divided one by one, by several threads where a node is large (kernels/runtime/team.py): they do not touch
each other. Between these phases one thread, the leader, takes every decision: `plan` looks at what the last phase has done and
says what the next one is. The slow twin is `woodwind/testing/naive_tree.py`.
"""

import math
from typing import Any

import numpy as np

from woodwind.kernels.exact.find_splits import goes_left, scan_slot
from woodwind.kernels.exact.memory import (
    CONTROL,
    DRAWN,
    FEATURES,
    GOES,
    LISTS,
    LOGS,
    MISSING_RANK,
    NODE_I,
    ORDER,
    RANKS,
    ROW_MASK,
    ROWS,
    SETS,
    SPARE,
    STATS,
)
from woodwind.kernels.exact.nodes import C_HEAP, C_LEAVES, NOTHING, accept, draw_slots, make_children, pick, pop, take_total
from woodwind.kernels.runtime.intrinsics import bytes_in, int_list, ints, row_list, words_in
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.runtime.team import KIND, end_call, finish_task, open_phase, take_task, wait_for_all, wait_for_work
from woodwind.kernels.tree.layout import N_BEGIN, N_END, N_FINAL, N_MISSING, N_SET, N_SLOT

U = np.uint64

# Kinds of phase: one task for each list.
FILL = 1
DIVIDE = 2
JUDGE = 3

# Places of lists that are worth a phase of several threads: it costs about a microsecond, or as much as some hundred of them.
PHASE_PLACES = 8192

# More of the control array: what the leader remembers between phases.
C_STATE = 36
C_NODE = 37  # the node that is divided
C_JUDGED = 38  # the two nodes that are judged, -1 for none
C_FROM = 40  # which of the drawn slots of each are judged
C_TO = 42
C_ALL = 44

# States: what was done last.
FRESH = 0
BORN = 1  # nodes that may be judged
LISTED = 2  # and have their places in all lists
JUDGED = 3
NEXT = 4


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
    of_first = control[C_TO] - control[C_FROM]
    for task in range(begin, end):
        if kind == FILL:
            fill_list(growing, rule, task)
        elif kind == DIVIDE:
            what = ints(growing, NODE_I)[control[C_NODE]]
            divide(ints(growing, LISTS)[task], bytes_in(growing, GOES)[0], ints(growing, SPARE)[thread], what[N_BEGIN], what[N_END])
        else:
            side = np.int64(task >= of_first)
            slot = ints(growing, DRAWN)[side, control[C_FROM + side] + task - side * of_first]
            scan_slot(growing, rule, control[C_JUDGED + side], side, slot, thread)


# The leader.


@inner
def split_rows(growing: Any, node: Any) -> Any:
    """Note in GOES which rows of a node go left, and divide its rows; returns where the left ones end."""
    what = ints(growing, NODE_I)[node]
    pairs = ints(growing, LISTS)[what[N_SLOT]]
    goes = bytes_in(growing, GOES)[0]
    sets = words_in(growing, SETS)[max(what[N_SET], 0)]
    if what[N_SET] < 0:
        sets = sets[:0]
    middle = what[N_BEGIN]
    for j in range(what[N_BEGIN], what[N_END]):
        way = goes_left(pairs[j], j <= what[N_FINAL], what[N_MISSING], sets)
        goes[pairs[j] & ROW_MASK] = way
        middle += way
    divide(int_list(growing, ROWS), goes, ints(growing, SPARE)[0], what[N_BEGIN], what[N_END])
    return middle


@inner
def take_judgement(growing: Any, rule: Any) -> Any:
    """Give the judged nodes their splits; returns how many slots are to be judged because none so far has a split."""
    control = int_list(growing, CONTROL)
    more = 0
    for side in range(2):
        node = control[C_JUDGED + side]
        if node < 0:
            continue
        slot = pick(growing, rule, side, control[C_FROM + side], control[C_TO + side])
        if slot >= 0:
            accept(growing, rule, node, side, slot)
        control[C_FROM + side] = control[C_TO + side]
        if slot < 0 and control[C_TO + side] < control[C_ALL + side]:
            control[C_TO + side] += 1
            more += 1
        else:
            control[C_JUDGED + side] = NOTHING
    return more


@inner
def plan(growing: Any, rule: Any) -> Any:
    """Take what the last phase has done, and say what the next is: kind, number of tasks, places of a task; no tasks at the end."""
    control = int_list(growing, CONTROL)
    nodes = ints(growing, NODE_I)
    n_slots = len(int_list(growing, FEATURES))
    kind = DIVIDE
    while True:
        state = control[C_STATE]
        if state == FRESH:
            control[C_STATE] = BORN if rule.max_leaves > 1 else NEXT
            control[C_JUDGED] = 0
            control[C_JUDGED + 1] = NOTHING
            kind = FILL
        elif state == BORN:
            most = 0
            for side in range(2):
                node = control[C_JUDGED + side]
                if node >= 0 and take_total(growing, rule, node, side):
                    most = 1
                else:
                    control[C_JUDGED + side] = NOTHING
            control[C_STATE] = LISTED if most > 0 else NEXT
            if most > 0:
                return kind, n_slots, nodes[control[C_NODE], N_END] - nodes[control[C_NODE], N_BEGIN]
        elif state == LISTED:
            control[C_STATE] = JUDGED
            for side in range(2):
                control[C_FROM + side] = 0
                control[C_TO + side] = 0
                if control[C_JUDGED + side] >= 0:
                    control[C_TO + side], control[C_ALL + side] = draw_slots(
                        growing, rule, control[C_JUDGED + side], ints(growing, DRAWN)[side]
                    )
            n_tasks = control[C_TO] + control[C_TO + 1]
            if n_tasks > 0:
                return JUDGE, n_tasks, (nodes[control[C_NODE], N_END] - nodes[control[C_NODE], N_BEGIN]) // 2
        elif state == JUDGED:
            more = take_judgement(growing, rule)
            if more > 0:
                return JUDGE, more, 0
            control[C_STATE] = NEXT
        elif control[C_HEAP] == 0 or control[C_LEAVES] >= rule.max_leaves:
            return kind, 0, 0
        else:
            node = pop(growing)
            left = make_children(growing, node, split_rows(growing, node))
            control[C_NODE] = node
            kind = DIVIDE
            if control[C_LEAVES] < rule.max_leaves:
                control[C_JUDGED] = left
                control[C_JUDGED + 1] = left + 1
                control[C_STATE] = BORN


@kernel
def grow_exact(growing: Any, rule: Any, thread: Any, threads: Any) -> None:
    """Grow one tree from the root that is there: as the leader if `thread` is 0, otherwise as a helper."""
    control = int_list(growing, CONTROL)
    logs = int_list(growing, LOGS)
    shared = thread > 0
    n_tasks = 0
    if not shared:
        for x in range(1, len(logs)):
            logs[x] = np.int64(np.rint(np.float64(x) * math.log2(np.float64(x)) * rule.log_scale))
    while True:
        if thread > 0:
            begin = wait_for_work(control)
            end = begin + 1
            if begin < 0:
                return
        elif shared:
            begin = take_task(control)
            end = begin + 1
            if begin < 0:
                wait_for_all(control, n_tasks)
                shared = False
                continue
        else:
            kind, n_tasks, places = plan(growing, rule)
            if n_tasks == 0:
                end_call(control)
                return
            if threads > 1 and n_tasks > 1 and n_tasks * places >= PHASE_PLACES:
                open_phase(control, kind, n_tasks)
                shared = True
                continue
            control[KIND] = kind
            begin = 0
            end = n_tasks
        do_tasks(growing, rule, begin, end, thread)
        if shared:
            finish_task(control)
