"""The tasks that growing a tree consists of; any thread may do any of them. Who asks for which is in kernels/histogram/loop.py."""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.build_histograms import accumulate, count_rows, fill_in_order, subtract
from woodwind.kernels.histogram.candidates import draw_features
from woodwind.kernels.histogram.find_splits import left_levels, scan_feature
from woodwind.kernels.histogram.frontier import C_BATCH
from woodwind.kernels.histogram.layout import WIDE2
from woodwind.kernels.histogram.memory import (
    BATCH,
    BY_COLUMN,
    COLUMN_AT,
    CONTROL,
    DRAWN,
    FOUND_F,
    FOUND_I,
    FOUND_SETS,
    GOES,
    IS_CATEGORY,
    ITEMS,
    LEAF_OF_ROW,
    MONOTONIC,
    NODE_F,
    NODE_I,
    PARTS,
    PLACES,
    ROW_CODES,
    ROW_NAMES,
    ROWS,
    SEEN,
    SIDES,
    SPARE,
    STARTS,
    STATS,
    TABLES,
    TASKS,
    WIDE,
)
from woodwind.kernels.histogram.packed_row import whole_gradient, whole_hessian
from woodwind.kernels.histogram.partition_rows import AHEAD, count_left, place_rows, split_rows
from woodwind.kernels.histogram.scan import NO_SPLIT
from woodwind.kernels.histogram.scan_float32 import least_fields
from woodwind.kernels.runtime.intrinsics import (
    byte_list,
    bytes_in,
    get_float,
    get_int,
    get_listed,
    int_list,
    int_part,
    int_row,
    ints,
    prefetch_far,
    put_float,
    put_int,
    row_list,
    words_in,
)
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.tree.layout import F_HIGH, F_LOW, N_BEGIN, N_BUFFER, N_DEPTH, N_END, N_FEATURE, N_LAYOUT, N_SLOT, SYMMETRIC

# Kinds of phase.
SPLIT = 1
PLACE = 2
SUM = 3
JUDGE = 4
RECOUNT = 5
COLLECT = 6
SHARE = 7

# Columns of a task.
T_WHAT = 0  # node, place in the batch, or item
T_BEGIN = 1
T_END = 2
T_OUT = 3  # where the outcome goes, or the outcome itself
T_LOW = 4
T_HIGH = 5

# Columns of an item: one node, or two siblings of which the smaller is summed and the larger is the parent minus it.
I_SMALL = 0
I_LARGE = 1  # -1 for none
I_PARENT = 2  # slot of the parent's histogram
I_LAYOUT = 3  # its layout
I_PARTS = 4  # first part of the smaller one's histogram, if it was summed in parts
I_N_PARTS = 5


@inner
def tables_of(layout: Any) -> Any:
    """Where histograms of a layout are: their number in the directory."""
    return WIDE if layout == WIDE2 else TABLES


@inner
def can_split(growing: Any, rule: Any, node: Any) -> Any:
    """Whether a node is large and shallow enough to be judged at all."""
    enough = (
        rule.order == SYMMETRIC or get_int(growing, NODE_I, node, N_END) - get_int(growing, NODE_I, node, N_BEGIN) >= 2.0 * rule.min_rows
    )
    return get_int(growing, NODE_I, node, N_DEPTH) < rule.max_depth and enough


@inner
def do_split(growing: Any, rule: Any, task: Any, placing: Any) -> None:
    """SPLIT: split the rows of a small node, or count those of one block of a large one. PLACE: bring those to their places."""
    buffer = get_int(growing, NODE_I, get_listed(growing, BATCH, get_int(growing, TASKS, task, T_WHAT)), N_BUFFER)
    source = int_part(growing, ROWS, buffer, rule.capacity)
    target = int_part(growing, ROWS, 1 - buffer, rule.capacity)
    sides = byte_list(growing, SIDES)
    if placing:
        place_rows(
            sides,
            source,
            get_int(growing, TASKS, task, T_BEGIN),
            get_int(growing, TASKS, task, T_END),
            target,
            get_int(growing, TASKS, task, T_LOW),
            get_int(growing, TASKS, task, T_HIGH),
        )
        return
    feature = get_int(growing, NODE_I, get_listed(growing, BATCH, get_int(growing, TASKS, task, T_WHAT)), N_FEATURE)
    place = get_listed(growing, COLUMN_AT, feature)
    column = bytes_in(growing, BY_COLUMN)[place] if place >= 0 else byte_list(growing, ROW_CODES)[get_listed(growing, PLACES, feature) :]
    codes = (column, np.uint64(1 if place >= 0 else 8 * rule.n_words))
    goes = bytes_in(growing, GOES)[get_int(growing, TASKS, task, T_WHAT)]
    seen = bytes_in(growing, SEEN)[task]
    seen[:] = 0
    if get_int(growing, TASKS, task, T_LOW) != 0:
        put_int(
            growing,
            TASKS,
            task,
            T_OUT,
            split_rows(codes, goes, source, get_int(growing, TASKS, task, T_BEGIN), get_int(growing, TASKS, task, T_END), target, seen),
        )
    else:
        put_int(
            growing,
            TASKS,
            task,
            T_OUT,
            count_left(codes, goes, source, get_int(growing, TASKS, task, T_BEGIN), get_int(growing, TASKS, task, T_END), sides, seen),
        )


@inner
def do_sum(growing: Any, rule: Any, task: Any, thread: Any) -> None:
    """SUM: the histogram of a node, or of a part of its rows."""
    layout = get_int(growing, NODE_I, get_int(growing, TASKS, task, T_WHAT), N_LAYOUT)
    cells = rule.n_cells
    table = int_row(growing, tables_of(layout), get_int(growing, NODE_I, get_int(growing, TASKS, task, T_WHAT), N_SLOT))
    if get_int(growing, TASKS, task, T_OUT) >= 0:
        table = ints(growing, PARTS)[get_int(growing, TASKS, task, T_OUT)]
    table[: 2 * cells if layout == WIDE2 else cells] = 0
    rows = int_part(growing, ROWS, get_int(growing, NODE_I, get_int(growing, TASKS, task, T_WHAT), N_BUFFER), rule.capacity)
    begin = get_int(growing, TASKS, task, T_BEGIN)
    end = get_int(growing, TASKS, task, T_END)
    if rule.in_order and get_listed(growing, CONTROL, C_BATCH) == 0:
        fill_in_order(growing, begin, end)  # this is the root, and no row has been moved yet
    accumulate(growing, rule, begin, end, rows, layout, table, thread)


@inner
def complete(growing: Any, rule: Any, item: Any, first: Any, past: Any) -> None:
    """Add up the parts of the smaller node and find the larger one by difference, for features first to past."""
    nodes = ints(growing, NODE_I)
    small = nodes[item[I_SMALL]]
    large = item[I_LARGE]
    cells = rule.n_cells
    begin = get_listed(growing, STARTS, first)
    end = get_listed(growing, STARTS, past)
    wide = small[N_LAYOUT] == WIDE2
    table = int_row(growing, tables_of(small[N_LAYOUT]), small[N_SLOT])
    for part in range(item[I_N_PARTS]):
        other = ints(growing, PARTS)[item[I_PARTS] + part]
        for plane in range(2 if wide else 1):
            for i in range(np.uint64(plane * cells + begin), np.uint64(plane * cells + end)):
                table[i] = other[i] if part == 0 else table[i] + other[i]
    if large >= 0:
        parent = int_row(growing, tables_of(item[I_LAYOUT]), item[I_PARENT])
        if item[I_LAYOUT] == WIDE2:
            layout = nodes[large, N_LAYOUT]
            out = int_row(growing, tables_of(layout), nodes[large, N_SLOT])
            subtract(parent, table, wide, out, layout == WIDE2, begin, end, cells)
        else:
            for i in range(np.uint64(begin), np.uint64(end)):
                parent[i] -= table[i]  # the parent becomes the larger child


@inner
def judge(growing: Any, rule: Any, node: Any, first: Any, past: Any, counts: Any, thread: Any, out: Any) -> None:
    """Best split of a node among features first to past; written to row `out` of the findings."""
    layout = get_int(growing, NODE_I, node, N_LAYOUT)
    table = int_row(growing, tables_of(layout), get_int(growing, NODE_I, node, N_SLOT))
    place = (table, layout, counts, least_fields(rule, layout))
    drawn = ints(growing, DRAWN)[thread]
    low = get_float(growing, NODE_F, node, F_LOW)
    high = get_float(growing, NODE_F, node, F_HIGH)
    put_float(growing, FOUND_F, out, 0, NO_SPLIT)
    for k in range(draw_features(growing, rule, node, drawn)):
        f = get_int(growing, DRAWN, thread, k)
        if first <= f < past:
            bounds = (low, high, np.float64(get_listed(growing, MONOTONIC, f)))
            best = get_float(growing, FOUND_F, out, 0)
            gain, where, side, left, right = scan_feature(growing, rule, f, place, bounds, thread, best)
            if gain > best:
                put_float(growing, FOUND_F, out, 0, gain)
                put_float(growing, FOUND_F, out, 1, left)
                put_float(growing, FOUND_F, out, 2, right)
                put_int(growing, FOUND_I, out, 0, f)
                put_int(growing, FOUND_I, out, 1, where)
                put_int(growing, FOUND_I, out, 2, side)
    f = get_int(growing, FOUND_I, out, 0)
    if f >= 0 and get_listed(growing, IS_CATEGORY, f):
        found_set = words_in(growing, FOUND_SETS)[out]
        put_int(growing, FOUND_I, out, 2, left_levels(growing, rule, f, place, get_int(growing, FOUND_I, out, 1), thread, found_set))


@inner
def do_judge(growing: Any, rule: Any, task: Any, thread: Any, counting: Any) -> None:
    """JUDGE: complete the histograms of an item for some features and find their best splits.

    RECOUNT: judge one node again with its rows counted, because the split found without counts leaves too few on one side.
    """
    begin = get_int(growing, TASKS, task, T_BEGIN)
    end = get_int(growing, TASKS, task, T_END)
    first = get_int(growing, TASKS, task, T_WHAT)
    second = -1
    counts = ints(growing, SPARE)[thread, :0]
    put_int(growing, FOUND_I, 2 * task, 0, -1)
    put_int(growing, FOUND_I, 2 * task + 1, 0, -1)
    if counting:
        counts = ints(growing, PARTS)[get_int(growing, TASKS, task, T_OUT), : rule.n_cells]
        counts[:] = 0
        count_rows(
            growing,
            rule,
            get_int(growing, NODE_I, first, N_BEGIN),
            get_int(growing, NODE_I, first, N_END),
            int_part(growing, ROWS, get_int(growing, NODE_I, first, N_BUFFER), rule.capacity),
            counts,
        )
    else:
        item = ints(growing, ITEMS)[first]
        complete(growing, rule, item, begin, end)
        second = get_int(growing, ITEMS, first, I_LARGE)
        first = get_int(growing, ITEMS, first, I_SMALL)
    out = 2 * task
    for node_number in (first, second):
        if node_number >= 0 and can_split(growing, rule, node_number) and rule.order != SYMMETRIC:
            judge(growing, rule, node_number, begin, end, counts, thread, out)
        out += 1


@inner
def collect(growing: Any, rule: Any, rows: Any, names: Any, stats: Any, what: Any) -> None:
    """Note the leaf of the rows of a task, bring their numbers to the first buffer if they are kept, and sum the statistics unrounded.

    `stats` is None where no row comes twice: what rows have lost of their statistics then makes room for their leaves.
    """
    first_buffer = int_list(growing, ROWS)
    leaf_of_row = row_list(growing, LEAF_OF_ROW)
    leaf = what[T_OUT]
    gradient = np.int64(0)
    hessian = np.int64(0)
    last = np.uint64(what[T_END] - 1)
    half = np.uint64(0 if stats is None else len(stats) // 2)
    for i in range(np.uint64(what[T_BEGIN]), np.uint64(what[T_END])):
        ahead = np.uint64(rows[min(i + np.uint64(AHEAD), last)] >> 32)
        row = np.uint64(rows[i] >> 32)
        if names is not None:
            ahead = np.uint64(names[ahead])
            row = np.uint64(names[row])
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
    what[T_LOW] = gradient
    what[T_HIGH] = hessian


@inner
def do_collect(growing: Any, rule: Any, task: Any) -> None:
    """COLLECT: the rows of a leaf, or of a part of it, by the numbers that callers know them by."""
    what = ints(growing, TASKS)[task]
    rows = int_part(growing, ROWS, get_int(growing, NODE_I, what[T_WHAT], N_BUFFER), rule.capacity)
    if rule.sparse:
        collect(growing, rule, rows, row_list(growing, ROW_NAMES), int_list(growing, STATS), what)
    elif rule.once:
        collect(growing, rule, rows, None, None, what)
    else:
        collect(growing, rule, rows, None, int_list(growing, STATS), what)
