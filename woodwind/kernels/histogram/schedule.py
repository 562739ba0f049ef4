"""What the leader decides between phases: how the work of a phase is cut into tasks, and what is made of the outcome.

Of two children the histogram of the smaller is built, and that of the larger is the parent's minus it. Rows of large nodes are partitioned
in blocks: they are counted first, then every block knows where its rows go.
"""

from typing import Any

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.frontier import add_open_node, release_histogram, release_slot, take_slot
from woodwind.kernels.histogram.layout import PACKED2, PACKED3, ROWS_PACKED2, ROWS_PACKED3, WIDE2, Rule
from woodwind.kernels.histogram.verbs import can_split, pair_node
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import category_sets, constraints, nodes
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import LEFT, NOTHING, STOP, SYMMETRIC

SPLIT_ROWS = 16384  # rows of one task of splitting, where a node has so many that it is split in blocks
LEAST_PIECE = 2048  # rows that are worth a task of their own when summing, where histograms are small beside them


@inner
def accept(tree: Tree, rule: Rule, node: int, which: int) -> None:
    """Give a node what was found for it, if the gain is enough: then it is open."""
    feature = common.split_feature(tree, which)
    nodes.set_feature(tree, node, NOTHING)
    if feature < 0 or not common.split_gain(tree, which) > rule.min_gain:
        release_histogram(tree, node)
        return
    nodes.set_feature(tree, node, feature)
    nodes.set_bin(tree, node, common.split_bin(tree, which))
    nodes.set_missing(tree, node, common.split_missing(tree, which))
    nodes.set_gain(tree, node, common.split_gain(tree, which))
    constraints.set_left_value(tree, node, common.split_left_value(tree, which))
    constraints.set_right_value(tree, node, common.split_right_value(tree, which))
    row = nodes.category_set(tree, node)  # of an earlier split: used again, since a node may get many
    nodes.set_category_set(tree, node, NOTHING)
    if common.is_category_of(tree, feature):
        if row < 0:
            row = category_sets.new_set(tree)
        nodes.set_category_set(tree, node, row)
        category_sets.take_split_set(tree, row, which)
    add_open_node(tree, rule, node)


@inlined
def write_task(tree: Tree, task: Any, what: Any, begin: Any, end: Any) -> None:
    """A task of the next phase: what it is about, and which rows or features."""
    memory.set_task_what(tree, task, what)
    memory.set_task_begin(tree, task, begin)
    memory.set_task_end(tree, task, end)


@inner
def add_pair(tree: Tree, small: int, large: int, parent_slot: int, parent_layout: int) -> None:
    """Two siblings, or one node, whose splits are to be looked for."""
    pair = memory.n_pairs(tree)
    memory.set_pair_small(tree, pair, small)
    memory.set_pair_large(tree, pair, large)
    memory.set_pair_parent_slot(tree, pair, parent_slot)
    memory.set_pair_parent_layout(tree, pair, parent_layout)
    memory.set_pair_n_parts(tree, pair, 0)
    memory.set_n_pairs(tree, pair + 1)


@inner
def schedule_alone(tree: Tree, rule: Rule, node: int) -> None:
    """One node alone, whose histogram is built from its rows."""
    n_rows = nodes.n_rows(tree, node)
    parent = memory.parent(tree, node)
    # Differences from a large node have its layout: a child that is summed for want of one is rounded in the same way.
    of_large = parent >= 0 and nodes.n_rows(tree, parent) > ROWS_PACKED3
    layout = WIDE2
    if rule.lanes > 0 or (n_rows <= ROWS_PACKED3 and not of_large and not rule.unrounded):
        layout = PACKED3  # several outputs have one layout, with counts, for any number of rows
    elif n_rows <= ROWS_PACKED2 and not rule.unrounded:
        layout = PACKED2
    release_histogram(tree, node)
    memory.set_layout(tree, node, layout)
    memory.set_slot(tree, node, take_slot(tree, layout))
    add_pair(tree, node, NOTHING, NOTHING, NOTHING)


@inner
def schedule_pair(tree: Tree, rule: Rule, node: int) -> None:
    """The children of a node: as a pair where its histogram helps, else each alone."""
    left = nodes.child(tree, node)
    right = left + 1
    # With one leaf to be had, one more split is all there will be.
    is_last = rule.order != SYMMETRIC and common.n_leaves(tree) + 1 >= rule.max_leaves
    if is_last or not (can_split(tree, rule, left) or can_split(tree, rule, right)):
        release_histogram(tree, node)
        return
    small = left if nodes.n_rows(tree, left) <= nodes.n_rows(tree, right) else right
    large = left + right - small
    slot = memory.slot(tree, node)
    layout = memory.layout(tree, node)
    if slot < 0 or (layout != PACKED3 and nodes.n_rows(tree, node) <= ROWS_PACKED3 and not rule.unrounded):
        release_histogram(tree, node)
        for child in (small, large):
            if can_split(tree, rule, child):
                schedule_alone(tree, rule, child)
        return
    memory.set_slot(tree, node, NOTHING)
    for child in (small, large):
        memory.set_layout(tree, child, PACKED3)
        if layout != PACKED3:
            packs = nodes.n_rows(tree, child) <= ROWS_PACKED2 and not rule.unrounded
            memory.set_layout(tree, child, PACKED2 if packs else WIDE2)
    memory.set_slot(tree, small, take_slot(tree, memory.layout(tree, small)))
    memory.set_slot(tree, large, slot if memory.layout(tree, large) == layout else take_slot(tree, memory.layout(tree, large)))
    add_pair(tree, small, large, slot, layout)


@inner
def schedule_building(tree: Tree, rule: Rule, threads: int) -> Any:
    """Tasks that build the histogram of the smaller node of every pair; one of many rows is built in parts by several threads."""
    n_items = memory.n_pairs(tree)
    total = 0
    for k in range(n_items):
        total += nodes.n_rows(tree, memory.pair_small(tree, k))
    piece = max(total // (3 * threads) + 1, rule.least_piece)
    n_tasks = 0
    part = 0
    for k in range(n_items):
        node = memory.pair_small(tree, k)
        begin = nodes.begin(tree, node)
        size = nodes.end(tree, node) - begin
        pieces = 1
        if threads > 1 and size > piece + piece // 2:
            pieces = max(1, min(size // piece + 1, len(memory.partial_histograms(tree)) - part))
        memory.set_pair_first_part(tree, k, part)
        memory.set_pair_n_parts(tree, k, pieces if pieces > 1 else 0)
        for p in range(pieces):
            write_task(tree, n_tasks, node, begin + size * p // pieces, begin + size * (p + 1) // pieces)
            memory.set_task_part(tree, n_tasks, part + p if pieces > 1 else NOTHING)
            n_tasks += 1
        if pieces > 1:
            part += pieces
    return n_tasks


@inner
def schedule_finding(tree: Tree, rule: Rule, threads: int) -> Any:
    """Tasks that find the splits of every pair, in blocks of features where pairs are few."""
    n_items = memory.n_pairs(tree)
    features = rule.n_features
    blocks = 1
    if threads > 1 and n_items > 0:
        blocks = max(1, min((4 * threads + n_items - 1) // n_items, (features + 7) // 8))
    memory.set_n_blocks(tree, blocks)
    for k in range(n_items):
        for b in range(blocks):
            write_task(tree, k * blocks + b, k, features * b // blocks, features * (b + 1) // blocks)
    return n_items * blocks


@inner
def accept_splits(tree: Tree, rule: Rule) -> None:
    """Give every node the best of what the blocks of features found."""
    blocks = memory.n_blocks(tree)
    for k in range(memory.n_pairs(tree)):
        for which in range(2):
            if pair_node(tree, k, which) < 0:
                continue
            best = 2 * (k * blocks) + which
            for b in range(1, blocks):
                other = 2 * (k * blocks + b) + which
                if common.split_feature(tree, other) >= 0 and (
                    common.split_feature(tree, best) < 0 or common.split_gain(tree, other) > common.split_gain(tree, best)
                ):
                    best = other
            accept(tree, rule, pair_node(tree, k, which), best)
    release_parents(tree)


@inner
def release_parents(tree: Tree) -> None:
    """Give back the histograms of parents that neither child has taken over."""
    for k in range(memory.n_pairs(tree)):
        large = memory.pair_large(tree, k)
        if large >= 0 and memory.pair_parent_layout(tree, k) == WIDE2 and memory.layout(tree, large) != WIDE2:
            release_slot(tree, memory.pair_parent_slot(tree, k), WIDE2)


# Rows.


@inner
def schedule_partition(tree: Tree, rule: Rule, size: Any) -> Any:
    """Tasks that partition the rows of every node of the batch; large ones in blocks, which are only counted at first."""
    n_tasks = 0
    for position in range(size):
        node = memory.batch_node(tree, position)
        goes = memory.all_goes_left(tree)[position]
        row = nodes.category_set(tree, node)
        goes[:] = 0
        if row >= 0:
            for code in range(rule.n_codes):
                memory.set_goes_left(tree, position, code, category_sets.is_left(tree, row, code))
        else:
            goes[: nodes.bin(tree, node) + 1] = 1
        memory.set_goes_left(tree, position, rule.n_codes - 1, 1 if nodes.missing(tree, node) == LEFT else 0)
        begin = nodes.begin(tree, node)
        end = nodes.end(tree, node)
        step = SPLIT_ROWS if end - begin > 2 * SPLIT_ROWS else max(end - begin, 1)
        for first in range(begin, end, step):
            write_task(tree, n_tasks, position, first, min(first + step, end))
            memory.set_task_is_whole(tree, n_tasks, 0 if end - begin > 2 * SPLIT_ROWS else 1)
            n_tasks += 1
    return n_tasks


@inner
def schedule_placing(tree: Tree, rule: Rule, size: Any, n_tasks: int) -> Any:
    """Add up what the blocks counted, note which codes were met, and tell every block of a large node where its rows go."""
    met = memory.all_codes_met(tree)
    for position in range(size):
        memory.set_rows_left(tree, position, 0)
    met[:size, :] = 0
    for t in range(n_tasks):
        position = memory.task_position(tree, t)
        memory.set_rows_left(tree, position, memory.rows_left(tree, position) + memory.task_n_left(tree, t))
        for code in range(rule.n_codes):
            memory.set_is_met(tree, position, code, memory.is_met(tree, position, code) | memory.is_seen(tree, t, code))
    placed = 0
    before = NOTHING
    low = 0
    high = 0
    for t in range(n_tasks):
        if memory.task_is_whole(tree, t) != 0:
            continue
        position = memory.task_position(tree, t)
        if position != before:
            low = nodes.begin(tree, memory.batch_node(tree, position))
            high = low + memory.rows_left(tree, position)
            before = position
        left = memory.task_n_left(tree, t)
        begin = memory.task_begin(tree, t)
        end = memory.task_end(tree, t)
        write_task(tree, placed, position, begin, end)
        memory.set_task_left_at(tree, placed, low)
        memory.set_task_right_at(tree, placed, high)
        low += left
        high += end - begin - left
        placed += 1
    return placed


@inner
def make_children(tree: Tree, rule: Rule, position: Any) -> None:
    """Give a node whose rows are partitioned its two children, and note what its split has met."""
    node = memory.batch_node(tree, position)
    if memory.is_met(tree, position, rule.n_codes - 1) == 0:
        nodes.set_missing(tree, node, STOP)
    if nodes.category_set(tree, node) >= 0:
        for code in range(rule.n_codes - 1):
            if memory.is_met(tree, position, code) and not memory.goes_left(tree, position, code):
                category_sets.put_right(tree, nodes.category_set(tree, node), code)
    left = nodes.add_children(tree, node, nodes.begin(tree, node) + memory.rows_left(tree, position))
    for child in range(left, left + 2):
        memory.set_parent(tree, child, node)
        memory.set_buffer(tree, child, 1 - memory.buffer(tree, node))
        memory.set_slot(tree, child, NOTHING)
        nodes.set_number(tree, child, NOTHING)
    constraints.hand_down(tree, node)
