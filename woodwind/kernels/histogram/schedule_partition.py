"""What the leader decides about rows: how a batch of nodes is split, and what its children are."""

from typing import Any

from woodwind.kernels.histogram import memory, tasks
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.tree import category_sets, constraints, nodes
from woodwind.kernels.tree.layout import LEFT, NOTHING, STOP

SPLIT_ROWS = 16384  # rows of one task of splitting, where a node has so many that it is split in blocks


@inner
def plan_split(tree: Any, rule: Any, size: Any) -> Any:
    """Tasks that split the rows of every node of the batch; large ones in blocks, which are only counted at first."""
    n_tasks = 0
    for place in range(size):
        node = memory.batch_node(tree, place)
        goes = memory.all_goes_left(tree)[place]
        row = nodes.category_set(tree, node)
        goes[:] = 0
        if row >= 0:
            for code in range(rule.width):
                memory.set_goes_left(tree, place, code, category_sets.is_left(tree, row, code))
        else:
            goes[: nodes.bin(tree, node) + 1] = 1
        memory.set_goes_left(tree, place, rule.width - 1, 1 if nodes.missing(tree, node) == LEFT else 0)
        begin = nodes.begin(tree, node)
        end = nodes.end(tree, node)
        step = SPLIT_ROWS if end - begin > 2 * SPLIT_ROWS else max(end - begin, 1)
        for first in range(begin, end, step):
            tasks.set_what(tree, n_tasks, place)
            tasks.set_begin(tree, n_tasks, first)
            tasks.set_end(tree, n_tasks, min(first + step, end))
            tasks.set_low(tree, n_tasks, 0 if end - begin > 2 * SPLIT_ROWS else 1)
            n_tasks += 1
    return n_tasks


@inner
def plan_places(tree: Any, rule: Any, size: Any, n_tasks: Any) -> Any:
    """Add up what the blocks counted, note which codes were met, and give every block of a large node its places."""
    met = memory.all_codes_met(tree)
    for place in range(size):
        memory.set_rows_left(tree, place, 0)
    met[:size, :] = 0
    for t in range(n_tasks):
        place = tasks.what(tree, t)
        memory.set_rows_left(tree, place, memory.rows_left(tree, place) + tasks.out(tree, t))
        for code in range(rule.width):
            memory.set_is_met(tree, place, code, memory.is_met(tree, place, code) | memory.is_seen(tree, t, code))
    placed = 0
    before = NOTHING
    low = 0
    high = 0
    for t in range(n_tasks):
        if tasks.low(tree, t) != 0:
            continue
        place = tasks.what(tree, t)
        if place != before:
            low = nodes.begin(tree, memory.batch_node(tree, place))
            high = low + memory.rows_left(tree, place)
            before = place
        left = tasks.out(tree, t)
        begin = tasks.begin(tree, t)
        end = tasks.end(tree, t)
        tasks.set_what(tree, placed, place)
        tasks.set_begin(tree, placed, begin)
        tasks.set_end(tree, placed, end)
        tasks.set_low(tree, placed, low)
        tasks.set_high(tree, placed, high)
        low += left
        high += end - begin - left
        placed += 1
    return placed


@inner
def make_children(tree: Any, rule: Any, place: Any) -> None:
    """Give a node whose rows are split its two children, and note what its split has met."""
    node = memory.batch_node(tree, place)
    if memory.is_met(tree, place, rule.width - 1) == 0:
        nodes.set_missing(tree, node, STOP)
    if nodes.category_set(tree, node) >= 0:
        for code in range(rule.width - 1):
            if memory.is_met(tree, place, code) and not memory.goes_left(tree, place, code):
                category_sets.put_right(tree, nodes.category_set(tree, node), code)
    left = nodes.add_children(tree, node, nodes.begin(tree, node) + memory.rows_left(tree, place))
    for child in range(left, left + 2):
        memory.set_parent(tree, child, node)
        memory.set_buffer(tree, child, 1 - memory.buffer(tree, node))
        memory.set_slot(tree, child, NOTHING)
        nodes.set_number(tree, child, NOTHING)
    constraints.hand_down(tree, node)
