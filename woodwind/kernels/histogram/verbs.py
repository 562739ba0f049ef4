"""The verbs that growing a tree consists of: build histograms, subtract, find splits, partition rows, collect leaves.

Any thread may do any task. Who asks for which is in `loop`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.build_histograms import accumulate, count_rows, fill_in_order, subtract
from woodwind.kernels.histogram.find_splits import draw_features, left_categories, scan_feature
from woodwind.kernels.histogram.layout import WIDE2, Rule, whole_gradient, whole_hessian
from woodwind.kernels.histogram.partition_rows import AHEAD, count_left, fill_codes, place_rows, split_rows
from woodwind.kernels.histogram.scan import least_fields
from woodwind.kernels.runtime.intrinsics import prefetch_far
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Ints, Tree
from woodwind.kernels.tree import constraints, nodes
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import NO_SPLIT, NOTHING, SYMMETRIC


@inner
def can_split(tree: Tree, rule: Rule, node: int) -> Any:
    """Whether a node is large and shallow enough to be split at all."""
    n_rows = nodes.n_rows(tree, node)
    enough = rule.order == SYMMETRIC or (n_rows >= 2.0 * rule.min_rows and n_rows >= rule.min_split)
    return nodes.depth(tree, node) < rule.max_depth and enough


@inlined
def pair_node(tree: Tree, pair: int, which: int) -> Any:
    """The smaller (0) or the larger (1) node of a pair."""
    return memory.pair_small(tree, pair) if which == 0 else memory.pair_large(tree, pair)


@inner
def do_partition(tree: Tree, rule: Rule, task: int, thread: int, placing: Any) -> None:
    """PARTITION: partition the rows of a small node, or count those of one block of a large one. PLACE: bring those where they belong."""
    node = memory.batch_node(tree, memory.task_position(tree, task))
    begin = memory.task_begin(tree, task)
    end = memory.task_end(tree, task)
    source = memory.rows_of_buffer(tree, memory.buffer(tree, node), rule.capacity)
    target = memory.rows_of_buffer(tree, 1 - memory.buffer(tree, node), rule.capacity)
    rows_going_left = memory.rows_going_left(tree)
    if placing:
        place_rows(rows_going_left, source, begin, end, target, memory.task_left_at(tree, task), memory.task_right_at(tree, task))
        return
    feature = nodes.feature(tree, node)
    position = memory.column_position(tree, feature)
    column = memory.row_codes(tree)[memory.code_position(tree, feature) :]
    if position >= 0:
        column = memory.column(tree, position)
    elif rule.stored:
        column = memory.column_room(tree, thread)
        cells = (memory.stored_rows(tree), memory.stored_codes(tree), memory.stored_at(tree, feature), memory.stored_at(tree, feature + 1))
        fill_codes(cells, memory.absent_code(tree, feature), source, begin, end, column)
    codes = (column, np.uint64(1 if position >= 0 or rule.stored else 8 * rule.n_words))
    goes_left = memory.all_goes_left(tree)[memory.task_position(tree, task)]
    seen = memory.all_seen(tree)[task]
    seen[:] = 0
    if memory.task_is_whole(tree, task) != 0:
        memory.set_task_n_left(tree, task, split_rows(codes, goes_left, source, begin, end, target, seen))
    else:
        memory.set_task_n_left(tree, task, count_left(codes, goes_left, source, begin, end, rows_going_left, seen))


@inner
def do_build(tree: Tree, rule: Rule, task: int, thread: int) -> None:
    """BUILD: the histogram of a node, or of a part of its rows."""
    node = memory.task_node(tree, task)
    begin = memory.task_begin(tree, task)
    end = memory.task_end(tree, task)
    layout = memory.layout(tree, node)
    table = memory.histogram_in(tree, layout == WIDE2, memory.slot(tree, node))
    if memory.task_part(tree, task) >= 0:
        table = memory.partial_histogram(tree, memory.task_part(tree, task))
    table[: 2 * rule.n_cells if layout == WIDE2 else rule.n_cells] = 0
    if rule.in_order and memory.batch_size(tree) == 0:
        fill_in_order(tree, begin, end)  # this is the root, and no row has been moved yet
    rows = memory.rows_of_buffer(tree, memory.buffer(tree, node), rule.capacity)
    accumulate(tree, rule, begin, end, rows, layout, table, thread)


@inner
def complete(tree: Tree, rule: Rule, pair: int, first: int, past: int) -> None:
    """Add up the parts of the smaller node's histogram and find the larger one's by difference, for features first to past."""
    small = memory.pair_small(tree, pair)
    large = memory.pair_large(tree, pair)
    cells = rule.n_cells
    begin = memory.start(tree, first)
    end = memory.start(tree, past)
    wide = memory.layout(tree, small) == WIDE2
    table = memory.histogram_in(tree, wide, memory.slot(tree, small))
    for part in range(memory.pair_n_parts(tree, pair)):
        other = memory.partial_histogram(tree, memory.pair_first_part(tree, pair) + part)
        for plane in range(2 if wide else 1):
            for i in range(np.uint64(plane * cells + begin), np.uint64(plane * cells + end)):
                table[i] = other[i] if part == 0 else table[i] + other[i]
    if large >= 0:
        layout = memory.pair_parent_layout(tree, pair)
        parent = memory.histogram_in(tree, layout == WIDE2, memory.pair_parent_slot(tree, pair))
        if layout == WIDE2:
            out = memory.histogram_in(tree, memory.layout(tree, large) == WIDE2, memory.slot(tree, large))
            subtract(parent, table, wide, out, memory.layout(tree, large) == WIDE2, begin, end, cells)
        else:
            for i in range(np.uint64(begin), np.uint64(end)):
                parent[i] -= table[i]  # the parent becomes the larger child


@inner
def find_split(tree: Tree, rule: Rule, node: int, first: Any, past: int, counts: Ints, thread: int, out: Any) -> None:
    """Best split of a node among features first to past; written to row `out` of the findings."""
    layout = memory.layout(tree, node)
    table = memory.histogram_in(tree, layout == WIDE2, memory.slot(tree, node))
    histogram = (table, layout, counts, least_fields(rule, layout))
    drawn = memory.all_drawn(tree)[thread]
    low = constraints.low(tree, node)
    high = constraints.high(tree, node)
    value = constraints.value(tree, node)
    n_rows = np.float64(nodes.n_rows(tree, node))
    common.set_split_gain(tree, out, NO_SPLIT)
    for k in range(draw_features(tree, rule, node, drawn)):
        f = memory.drawn(tree, thread, k)
        if first <= f < past:
            bounds = (low, high, np.float64(common.direction_of(tree, f)), value, n_rows)
            best = common.split_gain(tree, out)
            gain, where, side, left, right = scan_feature(tree, rule, f, histogram, bounds, thread, best)
            if gain > best:
                common.set_split_gain(tree, out, gain)
                common.set_split_left_value(tree, out, left)
                common.set_split_right_value(tree, out, right)
                common.set_split_feature(tree, out, f)
                common.set_split_bin(tree, out, where)
                common.set_split_missing(tree, out, side)
    f = common.split_feature(tree, out)
    if f >= 0 and common.is_category_of(tree, f):
        goes_left = common.split_sets(tree)[out]
        common.set_split_missing(tree, out, left_categories(tree, rule, f, histogram, common.split_bin(tree, out), thread, goes_left))


@inner
def do_find(tree: Tree, rule: Rule, task: int, thread: int, counting: Any) -> None:
    """FIND: complete the histograms of a pair for some features and find their best splits.

    RECOUNT: find the split of one node again with its rows counted, because the one found without counts leaves too few on one side.
    """
    begin = memory.task_begin(tree, task)
    end = memory.task_end(tree, task)
    second = NOTHING
    counts = memory.spare(tree, thread)[:0]
    common.set_split_feature(tree, 2 * task, NOTHING)
    common.set_split_feature(tree, 2 * task + 1, NOTHING)
    if counting:
        first = memory.task_node(tree, task)
        counts = memory.partial_histogram(tree, memory.task_part(tree, task))[: rule.n_cells]
        counts[:] = 0
        rows = memory.rows_of_buffer(tree, memory.buffer(tree, first), rule.capacity)
        count_rows(tree, rule, nodes.begin(tree, first), nodes.end(tree, first), rows, counts)
    else:
        pair = memory.task_pair(tree, task)
        complete(tree, rule, pair, begin, end)
        first = memory.pair_small(tree, pair)
        second = memory.pair_large(tree, pair)
    out = 2 * task
    for node in (first, second):
        if node >= 0 and can_split(tree, rule, node) and rule.order != SYMMETRIC:
            find_split(tree, rule, node, begin, end, counts, thread, out)
        out += 1


@inner
def collect(tree: Tree, rule: Rule, rows: Any, numbers: Any, stats: Any, task: int) -> None:
    """Note the leaf of the rows of a task, bring their numbers to the first buffer if they are kept, and sum all bits of their statistics.

    Leaf values are made of these sums. `stats` is None where no row comes twice: the low bits that were rounded off then stand in
    `leaf_of_row` until the leaf is known.
    """
    first_buffer = memory.rows(tree)
    leaf_of_row = memory.leaf_of_row(tree)
    leaf = memory.task_leaf(tree, task)
    gradient = np.int64(0)
    hessian = np.int64(0)
    last = np.uint64(memory.task_end(tree, task) - 1)
    half = np.uint64(0 if stats is None else len(stats) // 2)
    for i in range(np.uint64(memory.task_begin(tree, task)), np.uint64(memory.task_end(tree, task))):
        ahead = np.uint64(rows[min(i + np.uint64(AHEAD), last)] >> 32)
        row = np.uint64(rows[i] >> 32)
        if numbers is not None:
            ahead = np.uint64(numbers[ahead])
            row = np.uint64(numbers[row])
        prefetch_far(leaf_of_row, ahead)
        if stats is None:
            gradient += whole_gradient(rows[i], leaf_of_row[row])
            hessian += whole_hessian(rows[i], leaf_of_row[row])
        elif rule.unrounded:
            gradient += stats[row]
            hessian += stats[half + row]
        else:
            prefetch_far(stats, ahead)
            gradient += stats[row] >> 32
            hessian += stats[row] & 0xFFFFFFFF
        leaf_of_row[row] = leaf
        if rule.keep_rows:
            first_buffer[i] = row
    memory.set_task_gradient(tree, task, gradient)
    memory.set_task_hessian(tree, task, hessian)


@inner
def do_collect(tree: Tree, rule: Rule, task: int) -> None:
    """COLLECT: the rows of a leaf, or of a part of it, by the numbers that callers know them by."""
    rows = memory.rows_of_buffer(tree, memory.buffer(tree, memory.task_node(tree, task)), rule.capacity)
    if rule.reordered:
        collect(tree, rule, rows, memory.row_numbers(tree), memory.row_stats(tree), task)
    elif rule.once:
        collect(tree, rule, rows, None, None, task)
    else:
        collect(tree, rule, rows, None, memory.row_stats(tree), task)
