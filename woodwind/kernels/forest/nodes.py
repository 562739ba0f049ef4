"""Nodes of a tree that grows: their rows and their children."""

from typing import Any

import numpy as np

from woodwind.kernels.forest import memory
from woodwind.kernels.forest.layout import COARSE_MISSING, MISSING_CODE, MOMENTS
from woodwind.kernels.forest.order import is_inside
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree import nodes
from woodwind.kernels.tree.layout import LEFT

U = np.uint64


@inner
def close_arena(tree: Tree) -> None:
    """Put the rows of the arena into the order that its nodes have brought its places into."""
    first = memory.arena_begin(tree)
    last = memory.arena_end(tree)
    rows = memory.rows(tree)
    places = memory.places(tree)
    spare = memory.spare(tree)
    for j in range(first, last):
        spare[j - first] = rows[first + places[j]]
    for j in range(first, last):
        rows[j] = spare[j - first]
    memory.set_arena_begin(tree, 0)
    memory.set_arena_end(tree, 0)


@inlined
def is_pure(tree: Tree, begin: Any, end: Any) -> Any:
    """Whether all rows have one target."""
    rows = memory.rows(tree)
    places = memory.places(tree)
    real = memory.real_rows(tree)[0]
    first = memory.arena_begin(tree)
    inside = is_inside(tree, begin, end)
    y = real[rows[first + places[begin]] if inside else rows[begin]]
    for j in range(begin + 1, end):
        if real[rows[first + places[j]] if inside else rows[j]] != y:
            return False
    return True


@inlined
def note_sides(tree: Tree, node: int, inside: Any) -> None:
    """Note which rows of a node go left, in the order in which they stand."""
    feature = nodes.feature(tree, node)
    begin = U(nodes.begin(tree, node))
    size = U(nodes.end(tree, node)) - begin
    places = memory.places(tree) if inside else memory.rows(tree)
    ways = memory.goes_left(tree)
    lost = np.uint8(nodes.missing(tree, node) == LEFT)
    start = U(feature * memory.room(tree))
    if nodes.category_set(tree, node) >= 0 or nodes.bin(tree, node) >= 0:
        coarse = memory.arena_bins(tree) if inside else memory.bins_of_feature(tree, feature)
        start = start if inside else U(0)
        sets = common.category_sets(tree)[max(nodes.category_set(tree, node), 0)]
        low = nodes.bin(tree, node)
        for j in range(size):
            code = np.int64(coarse[start + U(places[begin + j])])
            way = np.uint8(code <= low)
            if low < 0:
                way = np.uint8((sets[U(code >> 6)] >> U(code & 63)) & U(1))
            ways[j] = lost if code == COARSE_MISSING else way
    elif memory.random_splits(tree) != 0 and inside:
        cut = memory.threshold(tree, node)
        raw = memory.arena_numbers(tree)
        for j in range(size):
            number = raw[start + U(places[begin + j])]
            ways[j] = np.uint8(number <= cut) if number == number else lost
    else:
        codes = memory.arena_codes(tree) if inside else memory.codes_by_column(tree)
        start = U(feature * (memory.across(tree) if inside else memory.n_rows(tree)))
        step = U(memory.along(tree)) if inside else U(1)
        low = memory.low(tree, node)
        for j in range(size):
            code = np.int64(codes[start + step * U(places[begin + j])])
            ways[j] = lost if code == MISSING_CODE else np.uint8(code <= low)


@inlined
def partition_rows(tree: Tree, node: int) -> Any:
    """Bring the rows of a node that go left to the front, in order; returns where the others begin."""
    inside = is_inside(tree, nodes.begin(tree, node), nodes.end(tree, node))
    note_sides(tree, node, inside)
    places = memory.places(tree) if inside else memory.rows(tree)
    spare = memory.spare(tree)
    ways = memory.goes_left(tree)
    begin = U(nodes.begin(tree, node))
    left = begin
    right = U(0)
    for j in range(U(nodes.end(tree, node)) - begin):
        place = places[begin + j]
        way = U(ways[j])
        places[left] = place
        spare[right] = place
        left += way
        right += U(1) - way
    for j in range(right):
        places[left + j] = spare[j]
    return np.int64(left)


@inlined
def make_children(tree: Tree, node: int) -> Any:
    """Partition the rows of a node between two children; returns the left one."""
    left = nodes.add_children(tree, node, partition_rows(tree, node))
    nodes.set_number(tree, left, left)
    nodes.set_number(tree, left + 1, left + 1)
    memory.set_total(tree, left, memory.left_total(tree, node))
    memory.set_both(tree, left, memory.left_both(tree, node))
    memory.set_total(tree, left + 1, memory.total(tree, node) - memory.left_total(tree, node))
    memory.set_both(tree, left + 1, memory.both(tree, node) - memory.left_both(tree, node))
    return left


@inner
def begin_tree(tree: Tree) -> None:
    """The rows of the tree, and a root that has all of them."""
    times = memory.times(tree)
    weight = memory.weights(tree)
    target = memory.targets(tree)
    sums = memory.row_sums(tree)
    rows = memory.rows(tree)
    size = np.int64(0)
    total = np.int64(0)
    both = np.int64(0)
    moments = memory.criterion(tree) == MOMENTS
    for row in range(memory.n_rows(tree)):
        count = np.int64(times[row])
        sums[2 * row] = target[row] * (count if moments else np.int64(1))
        sums[2 * row + 1] = (count << 32) + count * weight[row]
        total += sums[2 * row]
        both += sums[2 * row + 1]
        rows[size] = row
        size += np.int64(count > 0)
    drawn = memory.drawn(tree)
    for k in range(memory.n_features(tree)):
        drawn[k] = k
    common.set_n_nodes(tree, 0)
    common.set_n_waiting(tree, 0)
    common.set_n_sets(tree, 0)
    root = nodes.add_node(tree, 0, 0, size, memory.key(tree))
    nodes.set_number(tree, root, root)
    memory.set_total(tree, root, total)
    memory.set_both(tree, root, both)
    memory.set_n_tree_rows(tree, size)
    memory.set_arena_begin(tree, 0)
    memory.set_arena_end(tree, 0)
