"""A whole tree in one compiled call, by any number of threads.

    root: build the histogram, find the split
    then: choose a batch, partition its rows, build the histograms of the children, find their splits, commit what is certain;
    until the tree is finished

Each of these is a phase of tasks that all threads share (`runtime/team`); what a task does is in `verbs`. Between phases one thread, the
leader, takes every decision from finished sums: `next_phase` looks at what the last phase has done and writes the tasks of the next
(`schedule`).
Sums are integers and splits are committed in exact order (`frontier`), so the tree has the same bits for any number of threads.
"""

from typing import Any

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.build_histograms import fill_in_order
from woodwind.kernels.histogram.frontier import become_leaf, choose_batch, commit, free_all_slots
from woodwind.kernels.histogram.layout import Rule
from woodwind.kernels.histogram.multi_output import do_build_lanes, do_find_lanes
from woodwind.kernels.histogram.schedule import (
    accept,
    accept_splits,
    make_children,
    release_parents,
    schedule_alone,
    schedule_building,
    schedule_finding,
    schedule_pair,
    schedule_partition,
    schedule_placing,
    write_task,
)
from woodwind.kernels.histogram.symmetric import accept_level, do_find_level, level_of
from woodwind.kernels.histogram.verbs import can_split, do_build, do_collect, do_find, do_partition
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.runtime.team import end_call, finish_task, kind_of, open_phase, take_task, wait_for_all, wait_for_work
from woodwind.kernels.tree import constraints, nodes, queue
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import BEST_FIRST, NOTHING, STOP, SYMMETRIC

COLLECT_ROWS = 16384

# Kinds of phase: what its tasks do.
PARTITION = 1  # partition the rows of a small node, or count those of a block of a large one
PLACE = 2  # bring the rows of that block to where they belong
BUILD = 3  # build a histogram
FIND = 4  # find the best splits of one node or two
RECOUNT = 5  # find them again, with rows counted
COLLECT = 6  # note the leaf of every row
FIND_LEVEL = 7  # find one split for a whole level

# States: what was done last.
FRESH = 0
BUILT = 1
FOUND = 2
PARTITIONED = 3
PLACED = 4
RECOUNTED = 5
COLLECTED = 6
FOUND_LEVEL = 7


@inner
def begin_tree(tree: Tree, rule: Rule, n_rows: int) -> None:
    """One node with all rows in the first buffer; every slot free."""
    common.control(tree)[32:] = 0
    free_all_slots(tree)
    common.set_n_leaves(tree, 1)
    root = nodes.add_node(tree, 0, 0, n_rows, rule.seed)
    nodes.set_number(tree, root, NOTHING)
    memory.set_parent(tree, root, NOTHING)
    memory.set_buffer(tree, root, 0)
    memory.set_slot(tree, root, NOTHING)
    constraints.free_root(tree, rule.max_step)


@inner
def schedule_children(tree: Tree, rule: Rule, size: Any) -> Any:
    """Children for the nodes of the batch whose split leaves enough rows on both sides; the splits of the others are looked for again.

    Histograms of large nodes hold no counts (`build_histograms`), so a split may turn out to leave too few rows on one side.
    Returns the number of tasks that count the rows of such nodes.
    """
    memory.set_n_pairs(tree, 0)
    memory.set_n_recounted(tree, 0)
    for position in range(size):
        node = memory.batch_node(tree, position)
        left = memory.rows_left(tree, position)
        if rule.order == SYMMETRIC or min(left, nodes.n_rows(tree, node) - left) >= rule.min_rows:
            make_children(tree, rule, position)
            schedule_pair(tree, rule, node)
            continue
        memory.set_n_prepared(tree, memory.n_prepared(tree) - 1)
        again = memory.n_recounted(tree)
        if again == len(memory.partial_histograms(tree)) or memory.slot(tree, node) < 0:
            # No room to count in now, or its histogram is gone: it is built again, with those of its neighbours.
            nodes.set_feature(tree, node, NOTHING)
            schedule_alone(tree, rule, node)
            continue
        write_task(tree, again, node, 0, rule.n_features)
        memory.set_task_part(tree, again, again)
        memory.set_n_recounted(tree, memory.n_recounted(tree) + 1)
    return memory.n_recounted(tree)


@inner
def schedule_finding_level(tree: Tree, rule: Rule, threads: int) -> Any:
    """Tasks that find one split for a whole level, in blocks of features."""
    blocks = max(1, min(4 * threads, rule.n_features)) if threads > 1 else 1
    for b in range(blocks):
        write_task(tree, b, NOTHING, rule.n_features * b // blocks, rule.n_features * (b + 1) // blocks)
    return blocks


@inner
def schedule_batch(tree: Tree, rule: Rule, threads: int) -> Any:
    """Commit what is certain; then partition the rows of the next batch, or collect the leaves of the finished tree."""
    if memory.n_committed(tree) == 0:
        become_leaf(tree, rule, 0)
    if commit(tree, rule):
        memory.set_state(tree, COLLECTED)
        return COLLECT, schedule_collecting(tree)
    # Best first, preparing many at a time prepares many in vain.
    most = len(memory.batch(tree))
    if rule.order == BEST_FIRST:
        most = 1 if threads == 1 else 2 * threads
    size = choose_batch(tree, rule, most)
    memory.set_batch_size(tree, size)
    memory.set_state(tree, PARTITIONED)
    return PARTITION, schedule_partition(tree, rule, size)


@inner
def schedule_level(tree: Tree, rule: Rule, threads: int) -> Any:
    """The split of a level is looked for when all of its nodes have their histograms: until then, go on splitting the level above."""
    release_parents(tree)
    if memory.n_open(tree) > 0:
        size = choose_batch(tree, rule, len(memory.batch(tree)))
        memory.set_batch_size(tree, size)
        memory.set_state(tree, PARTITIONED)
        return PARTITION, schedule_partition(tree, rule, size)
    memory.set_state(tree, FOUND_LEVEL)
    return FIND_LEVEL, schedule_finding_level(tree, rule, threads) if level_of(tree) < rule.max_depth else 0


@inner
def schedule_collecting(tree: Tree) -> Any:
    """Tasks that note the leaf of every row. Nodes prepared in vain belong to the leaf that they are part of."""
    n_tasks = 0
    for node in range(common.n_nodes(tree)):
        if nodes.child(tree, node) >= 0:
            continue
        owner = node
        while nodes.number(tree, owner) < 0:
            owner = memory.parent(tree, owner)
        for first in range(nodes.begin(tree, node), nodes.end(tree, node), COLLECT_ROWS):
            write_task(tree, n_tasks, node, first, min(first + COLLECT_ROWS, nodes.end(tree, node)))
            memory.set_task_leaf(tree, n_tasks, nodes.number(tree, owner))
            n_tasks += 1
    return n_tasks


@inner
def write_finished(tree: Tree, n_tasks: int) -> None:
    """Write the finished tree: its nodes by number, and the unrounded sums of all of them."""
    size = memory.n_committed(tree)
    for node in range(common.n_nodes(tree)):
        number = nodes.number(tree, node)
        if number < 0:
            continue
        child = nodes.child(tree, node)
        split = child >= 0 and nodes.number(tree, child) >= 0
        memory.set_finished_feature(tree, number, nodes.feature(tree, node) if split else NOTHING)
        memory.set_finished_bin(tree, number, nodes.bin(tree, node) if split else 0)
        memory.set_finished_child(tree, number, nodes.number(tree, child) if split else 0)
        memory.set_finished_missing(tree, number, nodes.missing(tree, node) if split else STOP)
        memory.set_finished_set(tree, number, nodes.category_set(tree, node) if split else NOTHING)
        memory.set_finished_begin(tree, number, nodes.begin(tree, node))
        memory.set_finished_end(tree, number, nodes.end(tree, node))
        memory.set_finished_gain(tree, number, nodes.gain(tree, node) if split else 0.0)
        memory.set_finished_low(tree, number, constraints.low(tree, node))
        memory.set_finished_high(tree, number, constraints.high(tree, node))
        for k in range(3):
            memory.set_sum_of(tree, number, k, 0)
    for t in range(n_tasks):
        leaf = memory.task_leaf(tree, t)
        memory.set_sum_of(tree, leaf, 0, memory.sum_of(tree, leaf, 0) + memory.task_gradient(tree, t))
        memory.set_sum_of(tree, leaf, 1, memory.sum_of(tree, leaf, 1) + memory.task_hessian(tree, t))
        memory.set_sum_of(tree, leaf, 2, memory.sum_of(tree, leaf, 2) + memory.task_end(tree, t) - memory.task_begin(tree, t))
    for number in range(size - 1, -1, -1):
        child = memory.finished_child(tree, number)
        if child > 0:
            for k in range(3):
                memory.set_sum_of(tree, number, k, memory.sum_of(tree, child, k) + memory.sum_of(tree, child + 1, k))


@inner
def next_phase(tree: Tree, rule: Rule, n_rows: int, threads: int, symmetric: Any) -> Any:
    """Take what the last phase has done, and write the tasks of the next; returns its kind and their number.

    `symmetric` is None where every node has a split of its own: what levels with one split need is then not compiled.
    """
    while True:
        state = memory.state(tree)
        n_tasks = 0
        kind = 0
        if state == FRESH:
            begin_tree(tree, rule, n_rows)
            if can_split(tree, rule, 0):
                schedule_alone(tree, rule, 0)
            elif rule.in_order:
                fill_in_order(tree, 0, n_rows)  # what would have been done when it is summed
            kind = BUILD
            n_tasks = schedule_building(tree, rule, threads)
            memory.set_state(tree, BUILT)
        elif state == BUILT:
            kind = FIND
            n_tasks = schedule_finding(tree, rule, threads)
            memory.set_state(tree, FOUND)
        elif state == FOUND and rule.order == SYMMETRIC:
            if symmetric is not None:
                kind, n_tasks = schedule_level(tree, rule, threads)
        elif state == FOUND:
            accept_splits(tree, rule)
            kind, n_tasks = schedule_batch(tree, rule, threads)
        elif state == FOUND_LEVEL:
            if symmetric is not None:
                accept_level(tree, rule, memory.n_tasks(tree))
                kind, n_tasks = schedule_batch(tree, rule, threads)
        elif state == PARTITIONED:
            kind = PLACE
            n_tasks = schedule_placing(tree, rule, memory.batch_size(tree), memory.n_tasks(tree))
            memory.set_state(tree, PLACED)
        elif state == PLACED:
            kind = RECOUNT
            n_tasks = schedule_children(tree, rule, memory.batch_size(tree))
            memory.set_state(tree, RECOUNTED)
        elif state == RECOUNTED:
            for t in range(memory.n_recounted(tree)):
                accept(tree, rule, memory.task_node(tree, t), 2 * t)
            if memory.n_recounted(tree) > 0:
                queue.rebuild(tree)
            kind = BUILD
            n_tasks = schedule_building(tree, rule, threads)
            memory.set_state(tree, BUILT)
        else:
            write_finished(tree, memory.n_tasks(tree))
            return 0, 0
        memory.set_n_tasks(tree, n_tasks)
        if n_tasks > 0:
            return kind, n_tasks


@inner
def next_task(tree: Tree, rule: Rule, n_rows: int, thread: int, threads: int, symmetric: Any) -> Any:
    """Number of a task of the present phase, -1 when the tree is finished. The leader, thread 0, opens phase after phase."""
    control = common.control(tree)
    if thread != 0:
        return wait_for_work(control)
    while True:
        task = take_task(control)
        if task >= 0:
            return task
        wait_for_all(control, memory.n_tasks(tree))
        kind, n_tasks = next_phase(tree, rule, n_rows, threads, symmetric)
        if n_tasks == 0:
            end_call(control)
            return -1
        open_phase(control, kind, n_tasks)


@inner
def grow(tree: Tree, rule: Rule, n_rows: int, thread: int, threads: int, symmetric: Any, several: Any) -> None:
    """The loop: take a task, do it, until the tree is finished.

    `symmetric` is None unless a level has one split, `several` unless leaves have several outputs: what is not needed is not compiled.
    """
    while True:
        task = next_task(tree, rule, n_rows, thread, threads, symmetric)
        if task < 0:
            return
        kind = kind_of(common.control(tree))
        if kind == PARTITION or kind == PLACE:
            do_partition(tree, rule, task, thread, kind == PLACE)
        elif kind == BUILD:
            if several is None:
                do_build(tree, rule, task, thread)
            else:
                do_build_lanes(tree, rule, task, thread)
        elif kind == FIND or kind == RECOUNT:
            if several is None:
                do_find(tree, rule, task, thread, kind == RECOUNT)
            else:
                do_find_lanes(tree, rule, task, thread)
        elif kind == FIND_LEVEL:
            if symmetric is not None:
                do_find_level(tree, rule, task, thread)
        else:
            do_collect(tree, rule, task)
        finish_task(common.control(tree))


@kernel
def take_part(tree: Tree, rule: Rule, n_rows: int, thread: int, threads: int, symmetric: Any) -> None:
    """Grow one tree from the rows in the first buffer: as the leader if `thread` is 0, otherwise as a helper.

    `symmetric` is None unless a level has one split.
    """
    grow(tree, rule, n_rows, thread, threads, symmetric, None)


@kernel
def take_part_lanes(tree: Tree, rule: Rule, n_rows: int, thread: int, threads: int) -> None:
    """As `take_part`, for a tree of several outputs."""
    grow(tree, rule, n_rows, thread, threads, None, True)


@kernel
def copy_tree(tree: Tree, scales: Any, short: Any, missing: Any, whole: Any, real: Any) -> None:
    """Copy the finished tree out of the workspace: short int32[2, N], missing uint8[N], whole int64[5, N], real float64[5, N].

    short: feature, left child. whole: bin, set, begin, end, rows. real: gain, gradient, hessian, bounds of the value.
    """
    for node in range(len(missing)):
        short[0, node] = memory.finished_feature(tree, node)
        short[1, node] = memory.finished_child(tree, node)
        missing[node] = memory.finished_missing(tree, node)
        whole[0, node] = memory.finished_bin(tree, node)
        whole[1, node] = memory.finished_set(tree, node)
        whole[2, node] = memory.finished_begin(tree, node)
        whole[3, node] = memory.finished_end(tree, node)
        whole[4, node] = memory.sum_of(tree, node, 2)
        real[0, node] = memory.finished_gain(tree, node)
        real[1, node] = memory.sum_of(tree, node, 0) / scales[0]
        real[2, node] = memory.sum_of(tree, node, 1) / scales[1]
        real[3, node] = memory.finished_low(tree, node)
        real[4, node] = memory.finished_high(tree, node)
