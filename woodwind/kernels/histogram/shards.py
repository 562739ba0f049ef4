"""Growth for a driver whose rows are in shards: the decisions of the loop, phase by phase, and what a block of rows is asked.

The leader's decisions are those of `loop`, by the same functions. Instead of tasks over rows in memory, a driver is told which splits to
apply and which nodes to sum (`plan_batch`), asks its shards, and puts in what they answer (`put_partition`, `put_histogram`). Rows of nodes
exist as numbers only: how many there are, not which.

Where a row is, is a *place*: the driver gives numbers to the two sides of every split that it tries, before it knows whether the split will
stand. So one pass over the rows applies the splits of a batch and sums one child of each: the one that seems smaller by the histogram of
the node. If it was not, the other is the node minus it: sums are integers, so that either way gives the same bits.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.build_histograms import BLOCK_ROWS, BLOCK_WORDS, accumulate_words, count_rows
from woodwind.kernels.histogram.layout import (
    PACKED2,
    PACKED3,
    ROWS_PACKED2,
    ROWS_PACKED3,
    UNROUNDED_GRADIENT,
    UNROUNDED_HESSIAN,
    WIDE2,
    Rule,
    with_stats,
)
from woodwind.kernels.histogram.loop import FIND_LEVEL, next_phase
from woodwind.kernels.histogram.multi_output import add_lanes, bring_lanes, do_find_lanes
from woodwind.kernels.histogram.symmetric import do_find_level
from woodwind.kernels.histogram.verbs import can_split, do_find, find_split
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree import nodes
from woodwind.kernels.tree.layout import NOTHING, SYMMETRIC

# What is summed of the rows of a node, and in which form it comes.
FINE = 0  # small nodes: cells of PACKED3
COARSE = 1  # larger ones, and rows that are not rounded: gradients in one plane, hessians in another
COUNTS = 2  # how many rows there are in each cell

# Columns of a pair as `pairs_to_build` gives them.
P_SMALL, P_LARGE, P_COLUMNS = 0, 1, 2


# Decisions.


@kernel
def next_step(tree: Tree, rule: Rule, n_rows: int, ahead: int, symmetric: Any) -> Any:
    """Take what was put in, and write the tasks of the next phase: its kind (see `loop`) and their number, (0, 0) at the end.

    As many nodes are prepared at a time as `ahead` threads would ask for.
    """
    return next_phase(tree, rule, n_rows, ahead, symmetric)


@inner
def left_seems_smaller(tree: Tree, rule: Rule, node: int, position: int) -> Any:
    """Whether no more than half of a node goes left, by its histogram: of its rows, where those are counted, else of its hessian."""
    feature = nodes.feature(tree, node)
    layout = memory.layout(tree, node)
    slot = memory.slot(tree, node)
    start = memory.start(tree, feature)
    left = np.int64(0)
    total = np.int64(0)
    for code in range(rule.n_codes):
        cell = start + code
        if rule.lanes > 0:
            size = np.int64(memory.lane_histogram(tree, slot)[cell * rule.lanes + rule.outputs + 1])
        elif layout == WIDE2:
            size = memory.histogram_in(tree, True, slot)[rule.n_cells + cell]
        elif layout == PACKED2:
            size = memory.histogram_in(tree, False, slot)[cell] & 0xFFFFFFFF
        else:
            size = memory.histogram_in(tree, False, slot)[cell] & 0xFFF
        total += size
        left += size * memory.goes_left(tree, position, code)
    return 2 * left <= total


@kernel
def plan_batch(tree: Tree, rule: Rule, out_nodes: Any, out_at: Any, out_forms: Any) -> int:
    """What is asked next: for each node of the batch its number, where in a row its code stands, and in which form each child is summed.

    out_nodes, out_at int64[batch]; out_forms int64[batch, 2]: FINE, COARSE, or -1 where nothing need be summed. Returns the size.
    """
    size = memory.batch_size(tree)
    is_last = rule.order != SYMMETRIC and common.n_leaves(tree) + 1 >= rule.max_leaves
    for position in range(size):
        node = memory.batch_node(tree, position)
        n_rows = nodes.n_rows(tree, node)
        out_nodes[position] = node
        out_at[position] = memory.code_position(tree, nodes.feature(tree, node))
        out_forms[position, :] = -1
        if is_last or nodes.depth(tree, node) + 1 >= rule.max_depth:
            continue
        small = n_rows <= ROWS_PACKED3 and not rule.unrounded
        form = FINE if small or rule.lanes > 0 else COARSE
        alone = memory.slot(tree, node) < 0 or (memory.layout(tree, node) != PACKED3 and small)
        if alone:
            out_forms[position, :] = form
        else:
            out_forms[position, 0 if left_seems_smaller(tree, rule, node, position) else 1] = form
    return size


@kernel
def put_partition(tree: Tree, n_tasks: int, left: Any, met: Any) -> None:
    """Take how many rows of each node of the batch go left, int64[batch], and which codes its rows have, uint8[batch, 256]."""
    seen = memory.all_seen(tree)
    before = NOTHING
    for t in range(n_tasks):
        position = memory.task_what(tree, t)
        first = position != before
        before = position
        memory.set_task_out(tree, t, left[position] if first else 0)
        for code in range(256):
            seen[t, code] = met[position, code] if first else 0


@kernel
def children_of(tree: Tree, of_nodes: Any, out: Any) -> None:
    """The left child of each of these nodes, -1 for none: out int64[m]."""
    for k in range(len(of_nodes)):
        out[k] = nodes.child(tree, of_nodes[k])


@kernel
def pairs_to_build(tree: Tree, out: Any) -> int:
    """The pairs whose smaller node needs its histogram: out int64[pairs, P_COLUMNS], smaller and larger node, -1 for none; how many."""
    size = memory.n_pairs(tree)
    for pair in range(size):
        out[pair, P_SMALL] = memory.pair_small(tree, pair)
        out[pair, P_LARGE] = memory.pair_large(tree, pair)
        memory.set_pair_n_parts(tree, pair, 0)
    return size


@kernel
def form_of(tree: Tree, rule: Rule, node: int) -> int:
    """In which form the rows of a node are summed for its histogram."""
    return FINE if rule.lanes > 0 or memory.layout(tree, node) == PACKED3 else COARSE


@kernel
def put_histogram(tree: Tree, rule: Rule, pair: int, found: Any, of_sibling: bool) -> None:
    """Take the histogram of the smaller node of a pair, int64[cells] or int64[2 * cells] by its form; or that of its sibling."""
    node = memory.pair_small(tree, pair)
    layout = memory.layout(tree, node)
    out = memory.histogram_in(tree, layout == WIDE2, memory.slot(tree, node))
    cells = rule.n_cells
    if not of_sibling:
        for i in range(cells):
            if layout == PACKED3:
                out[i] = found[i]
            elif layout == PACKED2:
                out[i] = (found[i] << 32) + found[cells + i]
            else:
                out[i] = found[i]
                out[cells + i] = found[cells + i]
        return
    above = memory.pair_parent_layout(tree, pair)
    parent = memory.histogram_in(tree, above == WIDE2, memory.pair_parent_slot(tree, pair))
    for i in range(cells):
        if layout == PACKED3:
            out[i] = parent[i] - found[i]
            continue
        gradient = (parent[i] if above == WIDE2 else parent[i] >> 32) - found[i]
        hessian = (parent[cells + i] if above == WIDE2 else parent[i] & 0xFFFFFFFF) - found[cells + i]
        if layout == PACKED2:
            out[i] = (gradient << 32) + hessian
        else:
            out[i] = gradient
            out[cells + i] = hessian


@kernel
def put_lanes(tree: Tree, rule: Rule, pair: int, found: Any, of_sibling: bool) -> None:
    """As `put_histogram`, where a tree has several outputs: int32[cells * lanes]."""
    out = memory.lane_histogram(tree, memory.slot(tree, memory.pair_small(tree, pair)))
    if not of_sibling:
        for i in range(rule.n_cells * rule.lanes):
            out[i] = found[i]
        return
    parent = memory.lane_histogram(tree, memory.pair_parent_slot(tree, pair))
    for i in range(rule.n_cells * rule.lanes):
        out[i] = parent[i] - found[i]


@kernel
def find_tasks(tree: Tree, rule: Rule, kind: int, tasks: Any, thread: int, several: Any) -> None:
    """Find splits: tasks = (first, past, step) of a phase FIND or FIND_LEVEL. `several` is None unless leaves have several outputs."""
    first, past, step = tasks
    for task in range(first, past, step):
        if several is not None:
            do_find_lanes(tree, rule, task, thread)
        elif kind == FIND_LEVEL:
            do_find_level(tree, rule, task, thread)
        else:
            do_find(tree, rule, task, thread, False)


@kernel
def recounted_nodes(tree: Tree, n_tasks: int, out: Any) -> None:
    """The nodes whose rows are to be counted in every cell, one for each task of a phase RECOUNT: out int64[tasks]."""
    for task in range(n_tasks):
        out[task] = memory.task_what(tree, task)


@kernel
def find_counted(tree: Tree, rule: Rule, task: int, counts: Any, thread: int) -> None:
    """Find the split of one node again, with its rows counted: counts int64[cells]."""
    node = memory.task_what(tree, task)
    common.set_split_feature(tree, 2 * task, NOTHING)
    common.set_split_feature(tree, 2 * task + 1, NOTHING)
    if can_split(tree, rule, node) and rule.order != SYMMETRIC:
        find_split(tree, rule, node, memory.task_begin(tree, task), memory.task_end(tree, task), counts, thread, 2 * task)


@kernel
def numbers_of(tree: Tree, out: Any) -> int:
    """The number that each node has in the finished tree, or that of the leaf it is part of: out int64[nodes]; how many nodes."""
    size = common.n_nodes(tree)
    for node in range(size):
        owner = node
        while nodes.number(tree, owner) < 0:
            owner = memory.parent(tree, owner)
        out[node] = nodes.number(tree, owner)
    return size


@kernel
def put_sums(tree: Tree, n_tasks: int, totals: Any) -> None:
    """Take the sums of all bits of the statistics of each leaf: totals int64[numbers, > 2], which are set to zero when taken."""
    for t in range(n_tasks):
        number = memory.task_out(tree, t)
        memory.set_task_low(tree, t, totals[number, 0])
        memory.set_task_high(tree, t, totals[number, 1])
        totals[number, 0] = 0
        totals[number, 1] = 0


# What a block of rows is asked.


class Splits(NamedTuple):
    """The splits of some nodes, as a block of rows needs them."""

    of_place: Any  # int32[places]: the split that the rows of a place go by, -1 for none
    at: Any  # int64[m]: where in a row the code stands
    goes_left: Any  # uint8[m, 256]: 1 for the codes that go left
    places: Any  # int32[m]: the place of those that go left; those that go right have the next


@kernel
def apply_splits(codes: Any, places: Any, times: Any, splits: Any, left: Any, met: Any) -> None:
    """Send the rows of a block to the sides of their splits: codes uint8[n, stride]; places int32[n] is overwritten, -1 for no tree.

    times: how often each row is there, None for once. Adds to left int64[m] how many go left, and marks codes in met uint8[m, 256].
    """
    for row in range(len(places)):
        place = places[row]
        if place < 0:
            continue
        split = splits.of_place[place]
        if split < 0:
            continue
        code = codes[row, splits.at[split]]
        side = splits.goes_left[split, code]
        met[split, code] = 1
        left[split] += np.int64(side) * (1 if times is None else times[row])
        places[row] = splits.places[split] + 1 - np.int32(side)


@kernel
def sort_rows(places: Any, times: Any, stats: Any, slot_of: Any, ends: Any, out: Any) -> None:
    """Bring the rows of a block that are summed together, slot by slot: out int64[rows], each with what it carries of its statistics.

    slot_of int32[1 + places]: where rows of no tree and those of each place are summed; the last slot is for those that are not. That is
    half of them, and no branch would foresee which. ends int64[slots + 1]: where the rows of each slot begin and end.
    stats int64[n], None where rows carry their number only.
    """
    ends[:] = 0
    for row in range(len(places)):
        ends[slot_of[places[row] + 1]] += 1 if times is None else times[row]
    total = np.int64(0)
    for slot in range(len(ends)):
        size = ends[slot]
        ends[slot] = total
        total += size
    for row in range(len(places)):
        slot = slot_of[places[row] + 1]
        word = np.int64(row) << 32 if stats is None else with_stats(row, stats[row])
        if times is None:
            out[ends[slot]] = word
            ends[slot] += 1
        else:
            for _time in range(times[row]):
                out[ends[slot]] = word
                ends[slot] += 1
    # Each stands now where the next one begins.
    for slot in range(len(ends) - 1, 0, -1):
        ends[slot] = ends[slot - 1]
    ends[0] = 0


@inner
def widen(packed: Any, wide: Any, cells: Any) -> None:
    """Add a packed table to one of two planes, and clear it."""
    for i in range(np.uint64(cells)):
        wide[i] += packed[i] >> 32
        wide[np.uint64(cells) + i] += packed[i] & 0xFFFFFFFF
        packed[i] = 0


@kernel
def add_sorted(tree: Tree, rule: Rule, ends: Any, forms: Any, packed: Any, wide: Any, waiting: Any) -> None:
    """Add the sorted rows of a block to the tables of their slots.

    forms int64[slots]. FINE: packed int64[slots, cells] is the sum, COUNTS too. COARSE: it is in wide int64[slots, 2 * cells] and, of
    `waiting` int64[slots] rows that a packed cell has room for, in packed.
    """
    rows = memory.rows(tree)
    cells = rule.n_cells
    for slot in range(len(forms)):
        begin = ends[slot]
        end = ends[slot + 1]
        if begin == end:
            continue
        if forms[slot] == COUNTS:
            count_rows(tree, rule, begin, end, rows, packed[slot])
        elif forms[slot] == FINE:
            accumulate_words(tree, rule, begin, end, rows, PACKED3, packed[slot], 0)
        elif rule.unrounded:
            accumulate_words(tree, rule, begin, end, rows, UNROUNDED_GRADIENT, wide[slot, :cells], 0)
            accumulate_words(tree, rule, begin, end, rows, UNROUNDED_HESSIAN, wide[slot, cells:], 0)
        else:
            while begin < end:
                if waiting[slot] == ROWS_PACKED2:
                    widen(packed[slot], wide[slot], cells)
                    waiting[slot] = 0
                past = min(end, begin + ROWS_PACKED2 - waiting[slot])
                accumulate_words(tree, rule, begin, past, rows, PACKED2, packed[slot], 0)
                waiting[slot] += past - begin
                begin = past


@kernel
def finish_sums(forms: Any, packed: Any, wide: Any, waiting: Any) -> None:
    """Bring all of what `add_sorted` has summed in form COARSE to `wide`."""
    for slot in range(len(forms)):
        if forms[slot] == COARSE and waiting[slot] > 0:
            widen(packed[slot], wide[slot], packed.shape[1])
            waiting[slot] = 0


@kernel
def add_sorted_lanes(tree: Tree, rule: Rule, ends: Any, tables: Any) -> None:
    """As `add_sorted`, where a tree has several outputs: tables int32[slots, cells * lanes]."""
    rows = memory.rows(tree)
    words = memory.block_words(tree, 0)
    values = memory.block_lanes(tree, 0)
    step = max(64, min(BLOCK_ROWS, BLOCK_WORDS // rule.n_words))
    for slot in range(len(tables)):
        for first in range(ends[slot], ends[slot + 1], step):
            past = min(first + step, ends[slot + 1])
            bring_lanes(tree, rule, first, past, rows, words, values)
            add_lanes(tree, words, values, past - first, tables[slot], rule)


@kernel
def places_to_leaves(places: Any, leaf_of: Any, begin: int, end: int) -> None:
    """Overwrite the places of rows begin to end by their leaves: places int32[n], -1 stays; leaf_of int32[places]."""
    for row in range(begin, end):
        if places[row] >= 0:
            places[row] = leaf_of[places[row]]


@kernel
def rows_in_leaves(leaf: Any, rows: Any, begins: Any, out: Any) -> None:
    """Write the rows of a tree, leaf by leaf, to out int64[rows]: those of leaf j from begins[j] on, which moves on. None: all rows."""
    for i in range(len(leaf) if rows is None else len(rows)):
        row = i if rows is None else rows[i]
        out[begins[leaf[row]]] = row
        begins[leaf[row]] += 1
