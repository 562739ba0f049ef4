"""A whole tree in one compiled call, by any number of threads.

    root: sum, judge
    then: choose a batch, split its rows, sum and judge the children, commit what is certain; until the tree is finished

Each of these is a phase of tasks (kernels/histogram/tasks.py) that all threads share (kernels/runtime/team.py). Between phases one thread,
the leader, takes every decision from finished sums: `plan` looks at what the last phase has done and writes the tasks of the next.
Sums are integers and splits are committed in exact order (kernels/histogram/frontier.py), so the tree has the same bits for any
number of threads.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.build_histograms import fill_in_order
from woodwind.kernels.histogram.frontier import (
    C_BATCH,
    C_COMMITTED,
    C_FREE,
    C_FREE_WIDE,
    C_ITEMS,
    C_LEAVES,
    C_NODES,
    C_OPEN,
    C_RECOUNTED,
    C_STATE,
    C_TASKS,
    C_WAITING,
    become_leaf,
    choose_batch,
    commit,
    rebuild,
)
from woodwind.kernels.histogram.memory import (
    BATCH,
    CONTROL,
    FREE,
    GROUPS,
    NODE_F,
    NODE_I,
    PARTS,
    SUMS,
    TABLES,
    TASKS,
    TREE_BEGIN,
    TREE_BIN,
    TREE_CHILD,
    TREE_END,
    TREE_F,
    TREE_FEATURE,
    TREE_GAIN,
    TREE_HIGH,
    TREE_I,
    TREE_LOW,
    TREE_MISSING,
    TREE_SET,
    WIDE,
)
from woodwind.kernels.histogram.schedule_histograms import (
    accept,
    plan_alone,
    plan_judging,
    plan_pair,
    plan_sums,
    release_parents,
    take_judgement,
)
from woodwind.kernels.histogram.schedule_partition import make_children, plan_places, plan_split
from woodwind.kernels.histogram.slots import NOTHING, new_node, rows_of
from woodwind.kernels.histogram.symmetric import do_share, level_of, take_share
from woodwind.kernels.histogram.tasks import (
    COLLECT,
    JUDGE,
    PLACE,
    RECOUNT,
    SHARE,
    SPLIT,
    SUM,
    T_BEGIN,
    T_END,
    T_HIGH,
    T_LOW,
    T_OUT,
    T_WHAT,
    can_split,
    do_collect,
    do_judge,
    do_split,
    do_sum,
)
from woodwind.kernels.runtime.intrinsics import (
    get_float,
    get_int,
    get_listed,
    int_list,
    ints,
    put_float,
    put_int,
    put_listed,
    words_in,
)
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.runtime.team import KIND, end_call, finish_task, open_phase, take_task, wait_for_all, wait_for_work
from woodwind.kernels.tree.layout import (
    BEST_FIRST,
    F_GAIN,
    F_HIGH,
    F_LOW,
    N_BEGIN,
    N_BIN,
    N_CHILD,
    N_END,
    N_FEATURE,
    N_FINAL,
    N_KEY,
    N_MISSING,
    N_PARENT,
    N_SET,
    N_SLOT,
    STOP,
    SYMMETRIC,
)

COLLECT_ROWS = 16384

# States: what was done last.
FRESH = 0
SUMMED = 1
JUDGED = 2
SPLIT_DONE = 3
PLACED = 4
RECOUNTED = 5
COLLECTED = 6
SHARED = 7


@inner
def begin_tree(growing: Any, rule: Any, n_rows: Any) -> None:
    """One node with all rows in the first buffer; every slot free."""
    control = int_list(growing, CONTROL)
    slots = len(ints(growing, TABLES))
    wide = len(ints(growing, WIDE))
    for k in range(slots):
        put_listed(growing, FREE, k, slots - 1 - k)
    for k in range(wide):
        put_listed(growing, FREE, slots + k, wide - 1 - k)
    control[32:] = 0
    put_listed(growing, CONTROL, C_FREE, slots)
    put_listed(growing, CONTROL, C_FREE_WIDE, wide)
    put_listed(growing, CONTROL, C_LEAVES, 1)
    root = new_node(growing, NOTHING, 0, n_rows, 0)
    put_int(growing, NODE_I, root, N_KEY, rule.seed)
    words_in(growing, GROUPS)[root, :] = ~np.uint64(0)


@inner
def plan_children(growing: Any, rule: Any, size: Any) -> Any:
    """Children for the nodes of the batch whose split leaves enough rows on both sides; the others are judged again.

    Histograms of large nodes hold no counts (`build_histograms`), so a split may turn out to leave too few rows on one side.
    Returns the number of tasks that count and judge such nodes.
    """
    put_listed(growing, CONTROL, C_ITEMS, 0)
    put_listed(growing, CONTROL, C_RECOUNTED, 0)
    for place in range(size):
        node = get_listed(growing, BATCH, place)
        left = get_int(growing, SUMS, place, 0)
        if rule.order == SYMMETRIC or min(left, rows_of(growing, node) - left) >= rule.min_rows:
            make_children(growing, rule, place)
            plan_pair(growing, rule, node)
            continue
        put_listed(growing, CONTROL, C_WAITING, get_listed(growing, CONTROL, C_WAITING) - 1)
        again = get_listed(growing, CONTROL, C_RECOUNTED)
        if again == len(ints(growing, PARTS)) or get_int(growing, NODE_I, node, N_SLOT) < 0:
            # No room to count in now, or its histogram is gone: it is summed again, then judged with its neighbours.
            put_int(growing, NODE_I, node, N_FEATURE, NOTHING)
            plan_alone(growing, rule, node)
            continue
        put_int(growing, TASKS, again, T_WHAT, node)
        put_int(growing, TASKS, again, T_BEGIN, 0)
        put_int(growing, TASKS, again, T_END, rule.n_features)
        put_int(growing, TASKS, again, T_OUT, again)
        put_listed(growing, CONTROL, C_RECOUNTED, get_listed(growing, CONTROL, C_RECOUNTED) + 1)
    return get_listed(growing, CONTROL, C_RECOUNTED)


@inner
def plan_sharing(growing: Any, rule: Any, threads: Any) -> Any:
    """Tasks that judge one split for a whole level, in blocks of features."""
    blocks = max(1, min(4 * threads, rule.n_features)) if threads > 1 else 1
    for b in range(blocks):
        put_int(growing, TASKS, b, T_BEGIN, rule.n_features * b // blocks)
        put_int(growing, TASKS, b, T_END, rule.n_features * (b + 1) // blocks)
    return blocks


@inner
def plan_batch(growing: Any, rule: Any, threads: Any) -> Any:
    """Commit what is certain; then split the rows of the next batch, or collect the leaves of the finished tree."""
    if get_listed(growing, CONTROL, C_COMMITTED) == 0:
        become_leaf(growing, rule, 0)
    if commit(growing, rule):
        put_listed(growing, CONTROL, C_STATE, COLLECTED)
        return COLLECT, plan_collecting(growing)
    # Best first, preparing many at a time prepares many in vain.
    most = len(int_list(growing, BATCH))
    if rule.order == BEST_FIRST:
        most = 1 if threads == 1 else 2 * threads
    size = choose_batch(growing, rule, most)
    put_listed(growing, CONTROL, C_BATCH, size)
    put_listed(growing, CONTROL, C_STATE, SPLIT_DONE)
    return SPLIT, plan_split(growing, rule, size)


@inner
def plan_level(growing: Any, rule: Any, threads: Any) -> Any:
    """A level is judged when all of its nodes have their histograms: until then, go on splitting the level above."""
    release_parents(growing)
    if get_listed(growing, CONTROL, C_OPEN) > 0:
        size = choose_batch(growing, rule, len(int_list(growing, BATCH)))
        put_listed(growing, CONTROL, C_BATCH, size)
        put_listed(growing, CONTROL, C_STATE, SPLIT_DONE)
        return SPLIT, plan_split(growing, rule, size)
    put_listed(growing, CONTROL, C_STATE, SHARED)
    return SHARE, plan_sharing(growing, rule, threads) if level_of(growing) < rule.max_depth else 0


@inner
def plan_collecting(growing: Any) -> Any:
    """Tasks that note the leaf of every row. Nodes prepared in vain belong to the leaf that they are part of."""
    n_tasks = 0
    for node in range(get_listed(growing, CONTROL, C_NODES)):
        if get_int(growing, NODE_I, node, N_CHILD) >= 0:
            continue
        owner = node
        while get_int(growing, NODE_I, owner, N_FINAL) < 0:
            owner = get_int(growing, NODE_I, owner, N_PARENT)
        for first in range(get_int(growing, NODE_I, node, N_BEGIN), get_int(growing, NODE_I, node, N_END), COLLECT_ROWS):
            put_int(growing, TASKS, n_tasks, T_WHAT, node)
            put_int(growing, TASKS, n_tasks, T_BEGIN, first)
            put_int(growing, TASKS, n_tasks, T_END, min(first + COLLECT_ROWS, get_int(growing, NODE_I, node, N_END)))
            put_int(growing, TASKS, n_tasks, T_OUT, get_int(growing, NODE_I, owner, N_FINAL))
            n_tasks += 1
    return n_tasks


@inner
def take_sums(growing: Any, n_tasks: Any) -> None:
    """Write the finished tree: its nodes by number, and the unrounded sums of all of them."""
    size = get_listed(growing, CONTROL, C_COMMITTED)
    for node in range(get_listed(growing, CONTROL, C_NODES)):
        number = get_int(growing, NODE_I, node, N_FINAL)
        if number < 0:
            continue
        child = get_int(growing, NODE_I, node, N_CHILD)
        split = child >= 0 and get_int(growing, NODE_I, child, N_FINAL) >= 0
        put_int(growing, TREE_I, number, TREE_FEATURE, get_int(growing, NODE_I, node, N_FEATURE) if split else NOTHING)
        put_int(growing, TREE_I, number, TREE_BIN, get_int(growing, NODE_I, node, N_BIN) if split else 0)
        put_int(growing, TREE_I, number, TREE_CHILD, get_int(growing, NODE_I, child, N_FINAL) if split else 0)
        put_int(growing, TREE_I, number, TREE_MISSING, get_int(growing, NODE_I, node, N_MISSING) if split else STOP)
        put_int(growing, TREE_I, number, TREE_SET, get_int(growing, NODE_I, node, N_SET) if split else NOTHING)
        put_int(growing, TREE_I, number, TREE_BEGIN, get_int(growing, NODE_I, node, N_BEGIN))
        put_int(growing, TREE_I, number, TREE_END, get_int(growing, NODE_I, node, N_END))
        put_float(growing, TREE_F, number, TREE_GAIN, get_float(growing, NODE_F, node, F_GAIN) if split else 0.0)
        put_float(growing, TREE_F, number, TREE_LOW, get_float(growing, NODE_F, node, F_LOW))
        put_float(growing, TREE_F, number, TREE_HIGH, get_float(growing, NODE_F, node, F_HIGH))
        for k in range(3):
            put_int(growing, SUMS, number, k, 0)
    for t in range(n_tasks):
        leaf = get_int(growing, TASKS, t, T_OUT)
        put_int(growing, SUMS, leaf, 0, get_int(growing, SUMS, leaf, 0) + get_int(growing, TASKS, t, T_LOW))
        put_int(growing, SUMS, leaf, 1, get_int(growing, SUMS, leaf, 1) + get_int(growing, TASKS, t, T_HIGH))
        put_int(
            growing,
            SUMS,
            leaf,
            2,
            get_int(growing, SUMS, leaf, 2) + get_int(growing, TASKS, t, T_END) - get_int(growing, TASKS, t, T_BEGIN),
        )
    for number in range(size - 1, -1, -1):
        child = get_int(growing, TREE_I, number, TREE_CHILD)
        if child > 0:
            for k in range(3):
                put_int(growing, SUMS, number, k, get_int(growing, SUMS, child, k) + get_int(growing, SUMS, child + 1, k))


@inner
def plan(growing: Any, rule: Any, n_rows: Any, threads: Any, shared: Any) -> Any:
    """Take what the last phase has done, and write the tasks of the next; returns its kind and their number.

    `shared` is None where every node has a split of its own: what levels with one split need is then not compiled.
    """
    while True:
        state = get_listed(growing, CONTROL, C_STATE)
        n_tasks = 0
        kind = 0
        if state == FRESH:
            begin_tree(growing, rule, n_rows)
            if can_split(growing, rule, 0):
                plan_alone(growing, rule, 0)
            elif rule.in_order:
                fill_in_order(growing, 0, n_rows)  # what would have been done when it is summed
            kind = SUM
            n_tasks = plan_sums(growing, threads)
            put_listed(growing, CONTROL, C_STATE, SUMMED)
        elif state == SUMMED:
            kind = JUDGE
            n_tasks = plan_judging(growing, rule, threads)
            put_listed(growing, CONTROL, C_STATE, JUDGED)
        elif state == JUDGED and rule.order == SYMMETRIC:
            if shared is not None:
                kind, n_tasks = plan_level(growing, rule, threads)
        elif state == JUDGED:
            take_judgement(growing, rule)
            kind, n_tasks = plan_batch(growing, rule, threads)
        elif state == SHARED:
            if shared is not None:
                take_share(growing, rule, get_listed(growing, CONTROL, C_TASKS))
                kind, n_tasks = plan_batch(growing, rule, threads)
        elif state == SPLIT_DONE:
            kind = PLACE
            n_tasks = plan_places(growing, rule, get_listed(growing, CONTROL, C_BATCH), get_listed(growing, CONTROL, C_TASKS))
            put_listed(growing, CONTROL, C_STATE, PLACED)
        elif state == PLACED:
            kind = RECOUNT
            n_tasks = plan_children(growing, rule, get_listed(growing, CONTROL, C_BATCH))
            put_listed(growing, CONTROL, C_STATE, RECOUNTED)
        elif state == RECOUNTED:
            for t in range(get_listed(growing, CONTROL, C_RECOUNTED)):
                accept(growing, rule, get_int(growing, TASKS, t, T_WHAT), 2 * t)
            if get_listed(growing, CONTROL, C_RECOUNTED) > 0:
                rebuild(growing, rule)
            kind = SUM
            n_tasks = plan_sums(growing, threads)
            put_listed(growing, CONTROL, C_STATE, SUMMED)
        else:
            take_sums(growing, get_listed(growing, CONTROL, C_TASKS))
            return 0, 0
        put_listed(growing, CONTROL, C_TASKS, n_tasks)
        if n_tasks > 0:
            return kind, n_tasks


@inner
def next_task(growing: Any, rule: Any, n_rows: Any, thread: Any, threads: Any, shared: Any) -> Any:
    """Number of a task of the present phase, -1 when the tree is finished. The leader, thread 0, opens phase after phase."""
    control = int_list(growing, CONTROL)
    if thread != 0:
        return wait_for_work(control)
    while True:
        task = take_task(control)
        if task >= 0:
            return task
        wait_for_all(control, get_listed(growing, CONTROL, C_TASKS))
        kind, n_tasks = plan(growing, rule, n_rows, threads, shared)
        if n_tasks == 0:
            end_call(control)
            return -1
        open_phase(control, kind, n_tasks)


@kernel
def take_part(growing: Any, rule: Any, n_rows: Any, thread: Any, threads: Any, shared: Any) -> None:
    """Grow one tree from the rows in the first buffer: as the leader if `thread` is 0, otherwise as a helper.

    `shared` is None unless a level has one split.
    """
    while True:
        task = next_task(growing, rule, n_rows, thread, threads, shared)
        if task < 0:
            return
        kind = get_listed(growing, CONTROL, KIND)
        if kind == SPLIT or kind == PLACE:
            do_split(growing, rule, task, kind == PLACE)
        elif kind == SUM:
            do_sum(growing, rule, task, thread)
        elif kind == JUDGE or kind == RECOUNT:
            do_judge(growing, rule, task, thread, kind == RECOUNT)
        elif kind == SHARE:
            if shared is not None:
                do_share(growing, rule, task, thread)
        else:
            do_collect(growing, rule, task)
        finish_task(int_list(growing, CONTROL))


@kernel
def copy_tree(growing: Any, scales: Any, short: Any, missing: Any, whole: Any, real: Any) -> None:
    """Copy the finished tree out of the workspace: short int32[2, N], missing uint8[N], whole int64[5, N], real float64[5, N].

    short: feature, left child. whole: bin, set, begin, end, rows. real: gain, gradient, hessian, bounds of the value.
    """
    for node in range(len(missing)):
        short[0, node] = get_int(growing, TREE_I, node, TREE_FEATURE)
        short[1, node] = get_int(growing, TREE_I, node, TREE_CHILD)
        missing[node] = get_int(growing, TREE_I, node, TREE_MISSING)
        whole[0, node] = get_int(growing, TREE_I, node, TREE_BIN)
        whole[1, node] = get_int(growing, TREE_I, node, TREE_SET)
        whole[2, node] = get_int(growing, TREE_I, node, TREE_BEGIN)
        whole[3, node] = get_int(growing, TREE_I, node, TREE_END)
        whole[4, node] = get_int(growing, SUMS, node, 2)
        real[0, node] = get_float(growing, TREE_F, node, TREE_GAIN)
        real[1, node] = get_int(growing, SUMS, node, 0) / scales[0]
        real[2, node] = get_int(growing, SUMS, node, 1) / scales[1]
        real[3, node] = get_float(growing, TREE_F, node, TREE_LOW)
        real[4, node] = get_float(growing, TREE_F, node, TREE_HIGH)
