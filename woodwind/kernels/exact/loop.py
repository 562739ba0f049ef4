"""A whole tree in one compiled call, every threshold considered: CART (Breiman, Friedman, Olshen & Stone 1984).

Each feature has a list of the rows in its order. A node owns the same places in all lists; splitting it divides them, and order
is kept within both parts, so nothing is ever sorted again: a level of the tree costs one pass over the lists.

    list of a feature   | rows of node 1 by rank | rows of node 2 by rank | ...

Lists are filled, searched for splits and partitioned one by one, by several threads where a node is large (`runtime/team`): they do
not touch each other. Between these phases one thread, the leader, takes every decision: `next_phase` looks at what the last phase has done
and says what the next one is. The slow twin is `tests/reference/naive_tree.py`.
"""

import math
from typing import Any

import numpy as np

from woodwind.kernels.exact import memory
from woodwind.kernels.exact.find_splits import find_split, goes_left
from woodwind.kernels.exact.memory import MISSING_RANK, ROW_MASK, ExactRule
from woodwind.kernels.exact.nodes import accept, draw_slots, make_children, pick, take_total
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.runtime.records import Bytes, Ints, Tree
from woodwind.kernels.runtime.team import KIND, end_call, finish_task, kind_of, open_phase, take_task, wait_for_all, wait_for_work
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree import nodes, queue
from woodwind.kernels.tree.layout import NOTHING

U = np.uint64

# Kinds of phase: one task for each list.
FILL = 1
PARTITION = 2
FIND = 3

# Places of lists that are worth a phase of several threads: it costs about a microsecond, or as much as some hundred of them.
PHASE_PLACES = 8192

# States: what was done last.
FRESH = 0
BORN = 1  # nodes that may be split
LISTED = 2  # and have their places in all lists
FOUND = 3
NEXT = 4


# Tasks.


@inner
def fill_list(tree: Tree, rule: ExactRule, slot: int) -> None:
    """Write the rows that are in the tree by rank, with their ranks, to the list of a slot."""
    start = memory.feature_of(tree, slot) * rule.n_rows
    order = memory.order(tree)
    ranks = memory.ranks(tree)
    stats = memory.row_stats(tree)
    pairs = memory.sorted_rows(tree, slot)
    size = U(0)
    for j in range(U(start), U(start + rule.n_rows)):
        row = np.int64(order[j])
        rank = np.int64(ranks[U(start + row)])
        if rank < 0:
            rank = np.int64(MISSING_RANK)
        pairs[size] = (rank << 32) + row
        size += U(stats[U(4 * row + 2)] > 0)


@inner
def divide(pairs: Ints, goes: Bytes, spare: Ints, begin: Any, end: Any) -> None:
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
def do_tasks(tree: Tree, rule: ExactRule, begin: Any, end: Any, thread: int) -> None:
    """Do some tasks of the present phase."""
    kind = kind_of(common.control(tree))
    n_first = memory.drawn_to(tree, 0) - memory.drawn_from(tree, 0)
    for task in range(begin, end):
        if kind == FILL:
            fill_list(tree, rule, task)
        elif kind == PARTITION:
            node = memory.divided(tree)
            spare = memory.spare(tree, thread)
            divide(memory.sorted_rows(tree, task), memory.goes_left(tree), spare, nodes.begin(tree, node), nodes.end(tree, node))
        else:
            side = np.int64(task >= n_first)
            slot = memory.drawn_slot(tree, side, memory.drawn_from(tree, side) + task - side * n_first)
            find_split(tree, rule, memory.side_node(tree, side), side, slot, thread)


# The leader.


@inner
def partition_rows(tree: Tree, node: int) -> Any:
    """Note which rows of a node go left, and partition its rows; returns where the left ones end."""
    begin = nodes.begin(tree, node)
    end = nodes.end(tree, node)
    cut = memory.cut(tree, node)
    missing = nodes.missing(tree, node)
    pairs = memory.sorted_rows(tree, memory.slot(tree, node))
    goes = memory.goes_left(tree)
    row = nodes.category_set(tree, node)
    sets = common.category_sets(tree)[max(row, 0)]
    if row < 0:
        sets = sets[:0]
    middle = begin
    for j in range(begin, end):
        way = goes_left(pairs[j], j <= cut, missing, sets)
        goes[pairs[j] & ROW_MASK] = way
        middle += way
    divide(memory.rows(tree), goes, memory.spare(tree, 0), begin, end)
    return middle


@inner
def accept_splits(tree: Tree, rule: ExactRule) -> Any:
    """Give both nodes what was found; returns how many slots are still to be looked at because none so far has a split."""
    more = 0
    for side in range(2):
        node = memory.side_node(tree, side)
        if node < 0:
            continue
        past = memory.drawn_to(tree, side)
        slot = pick(tree, rule, side, memory.drawn_from(tree, side), past)
        if slot >= 0:
            accept(tree, rule, node, side, slot)
        memory.set_drawn_from(tree, side, past)
        if slot < 0 and past < memory.n_drawn(tree, side):
            memory.set_drawn_to(tree, side, past + 1)
            more += 1
        else:
            memory.set_side_node(tree, side, NOTHING)
    return more


@inner
def next_phase(tree: Tree, rule: ExactRule) -> Any:
    """Take what the last phase has done, and say what the next is: kind, number of tasks, places of a task; no tasks at the end."""
    n_slots = len(memory.features(tree))
    kind = PARTITION
    while True:
        state = memory.state(tree)
        if state == FRESH:
            memory.set_state(tree, BORN if rule.max_leaves > 1 else NEXT)
            memory.set_side_node(tree, 0, 0)
            memory.set_side_node(tree, 1, NOTHING)
            kind = FILL
        elif state == BORN:
            some = False
            for side in range(2):
                node = memory.side_node(tree, side)
                if node >= 0 and take_total(tree, rule, node, side):
                    some = True
                else:
                    memory.set_side_node(tree, side, NOTHING)
            memory.set_state(tree, LISTED if some else NEXT)
            if some:
                return kind, n_slots, nodes.n_rows(tree, memory.divided(tree))
        elif state == LISTED:
            memory.set_state(tree, FOUND)
            for side in range(2):
                memory.set_drawn_from(tree, side, 0)
                memory.set_drawn_to(tree, side, 0)
                if memory.side_node(tree, side) >= 0:
                    first, count = draw_slots(tree, rule, memory.side_node(tree, side), memory.all_drawn(tree)[side])
                    memory.set_drawn_to(tree, side, first)
                    memory.set_n_drawn(tree, side, count)
            n_tasks = memory.drawn_to(tree, 0) + memory.drawn_to(tree, 1)
            if n_tasks > 0:
                return FIND, n_tasks, nodes.n_rows(tree, memory.divided(tree)) // 2
        elif state == FOUND:
            more = accept_splits(tree, rule)
            if more > 0:
                return FIND, more, 0
            memory.set_state(tree, NEXT)
        elif common.n_waiting(tree) == 0 or common.n_leaves(tree) >= rule.max_leaves:
            return kind, 0, 0
        else:
            node = queue.pop(tree)
            left = make_children(tree, node, partition_rows(tree, node))
            memory.set_divided(tree, node)
            kind = PARTITION
            if common.n_leaves(tree) < rule.max_leaves:
                memory.set_side_node(tree, 0, left)
                memory.set_side_node(tree, 1, left + 1)
                memory.set_state(tree, BORN)


@kernel
def grow_exact(tree: Tree, rule: ExactRule, thread: int, threads: int) -> None:
    """Grow one tree from the root that is there: as the leader if `thread` is 0, otherwise as a helper."""
    control = common.control(tree)
    logs = memory.logs(tree)
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
            kind, n_tasks, places = next_phase(tree, rule)
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
        do_tasks(tree, rule, begin, end, thread)
        if shared:
            finish_task(control)
