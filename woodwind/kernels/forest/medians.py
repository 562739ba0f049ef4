"""Absolute error: what is left of it on both sides of a cut, each side about its weighted median.

Distinct targets of a node have positions in their order, and weights are counted there. A Fenwick tree (Fenwick 1994) over the positions
adds a row, and finds the median of what it holds with the sums on both sides of it, in as many steps as the number of positions has bits:
all cuts of a feature take n log n. Everything is summed in integers.

    target_sums   0   weight at each position            1   the target there, in fixed point
                  2   weight of the node, as a Fenwick tree, from 1 on        3   weight times target
                  4 5 the same of the left side          6 7 and of the right one
                  4   without a tree: weight of the left side at each position, where there is but one cut
"""

from typing import Any

import numpy as np

from woodwind.kernels.forest import memory
from woodwind.kernels.forest.layout import LOW_HALF
from woodwind.kernels.forest.order import is_inside
from woodwind.kernels.forest.score import allowed
from woodwind.kernels.forest.sort import sort_keys
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree.layout import NO_SPLIT

U = np.uint64
ONE = np.uint64(1)

WEIGHT, VALUE, NODE, LEFT_SIDE, RIGHT_SIDE = 0, 1, 2, 4, 6


@inner
def sort_targets(tree: Tree, begin: Any, end: Any, targets: Any, places: Any) -> None:
    """Put the ranks of the targets of some rows in order: `keys` has (rank << 32) + number of the row from `begin` on."""
    keys = memory.keys(tree)
    low = np.int64(LOW_HALF)
    high = np.int64(0)
    for j in range(U(end - begin)):
        rank = targets[U(2) * U(places[U(begin) + j])]
        keys[0, j] = (rank << 32) + np.int64(j)
        low = min(low, rank)
        high = max(high, rank)
    sort_keys(keys[0], keys[1], U(end - begin), low, high, memory.counts(tree))


@inner
def count_targets(tree: Tree, begin: Any, end: Any) -> Any:
    """Count the weights of a node by target; returns minus its absolute error."""
    inside = is_inside(tree, begin, end)
    places = memory.places(tree) if inside else memory.rows(tree)
    pair = memory.arena_sums(tree) if inside else memory.row_sums(tree)
    sort_targets(tree, begin, end, pair, places)
    keys = memory.keys(tree)
    position = memory.target_position(tree)
    sums = memory.target_sums(tree)
    order = memory.target_order(tree)
    n = np.int64(0)
    before = np.int64(-1)
    for j in range(U(end - begin)):
        rank = keys[0, j] >> 32
        row = keys[0, j] & LOW_HALF
        if rank != before:
            position[rank] = n
            sums[WEIGHT, n] = 0
            sums[VALUE, n] = memory.target_values(tree)[rank]
            before = rank
            n += 1
        sums[WEIGHT, n - 1] += pair[U(2) * U(places[begin + row]) + ONE] & LOW_HALF
        order[j] = row
    memory.set_n_targets(tree, n)
    weight = np.int64(0)
    total = np.int64(0)
    for i in range(1, n + 1):
        own = sums[WEIGHT, i - 1]
        weight += own
        total += own * sums[VALUE, i - 1]
        sums[NODE, i] = own
        sums[NODE + 1, i] = own * sums[VALUE, i - 1]
    for i in range(1, n + 1):
        above = i + (i & -i)
        if above <= n:
            sums[NODE, above] += sums[NODE, i]
            sums[NODE + 1, above] += sums[NODE + 1, i]
    memory.set_target_total(tree, total)
    return -np.float64(error_of(sums, NODE, n, weight, total))


@inner
def error_of(sums: Any, side: int, n: Any, weight: Any, total: Any) -> Any:
    """Absolute error about the weighted median of what a Fenwick tree holds: weight, and weight times target, in all."""
    step = np.int64(1)
    while 2 * step <= n:
        step *= 2
    at = np.int64(0)
    below = np.int64(0)
    sum_below = np.int64(0)
    while step > 0:
        i = at + step
        if i <= n and 2 * (below + sums[side, i]) < weight:
            at = i
            below += sums[side, i]
            sum_below += sums[side + 1, i]
        step //= 2
    median = sums[VALUE, at]
    return (median * below - sum_below) + ((total - sum_below) - median * (weight - below))


@inner
def change(sums: Any, side: int, n: Any, position: Any, weight: Any) -> None:
    """Add a weight at a position to a Fenwick tree; take it away, if it is negative."""
    value = weight * sums[VALUE, position]
    i = np.int64(position) + 1
    while i <= n:
        sums[side, i] += weight
        sums[side + 1, i] += value
        i += i & -i


@inner
def scan_medians(tree: Tree, last: Any, from_item: Any, to_item: Any, total: Any) -> Any:
    """Best cut after one of the items 0..last, as `score.scan_moments`; an item is a row, and its sum the rank of its target."""
    codes = memory.items(tree)[: memory.most_items(tree)]
    ranks = memory.items(tree)[memory.most_items(tree) : 2 * memory.most_items(tree)]
    boths = memory.items(tree)[2 * memory.most_items(tree) :]
    position = memory.target_position(tree)
    sums = memory.target_sums(tree)
    n = memory.n_targets(tree)
    for i in range(n + 1):
        sums[LEFT_SIDE, i] = 0
        sums[LEFT_SIDE + 1, i] = 0
        sums[RIGHT_SIDE, i] = sums[NODE, i]
        sums[RIGHT_SIDE + 1, i] = sums[NODE + 1, i]
    both = np.int64(0)
    left = np.int64(0)
    best = NO_SPLIT
    where = np.int64(-1)
    start = to_item - from_item
    for k in range(start + last):
        j = from_item + k if k < start else k - start
        weight = boths[j] & LOW_HALF
        at = position[ranks[j]]
        change(sums, LEFT_SIDE, n, at, weight)
        change(sums, RIGHT_SIDE, n, at, -weight)
        left += weight * sums[VALUE, at]
        both += boths[j]
        if k < start or codes[j] == codes[j + 1] or not allowed(both, total, memory.min_rows(tree), memory.min_weight(tree)):
            continue
        error = error_of(sums, LEFT_SIDE, n, both & LOW_HALF, left)
        error += error_of(sums, RIGHT_SIDE, n, (total - both) & LOW_HALF, memory.target_total(tree) - left)
        if -np.float64(error) > best:
            best = -np.float64(error)
            where = np.int64(j)
    return best, where


# One cut, without a tree.


@inner
def clear_left(tree: Tree) -> None:
    """Nothing is on the left side."""
    left = memory.target_sums_of(tree, LEFT_SIDE)
    for i in range(memory.n_targets(tree)):
        left[i] = 0


@inner
def score_of_sides(tree: Tree, weight: Any, total: Any) -> Any:
    """Minus the absolute error of both sides; weight: of the left side, and of the node."""
    sums = memory.target_sums(tree)
    n = memory.n_targets(tree)
    error = np.int64(0)
    for side in range(2):
        whole = total - weight if side else weight
        below = np.int64(0)
        at = np.int64(-1)
        while 2 * below < whole:
            at += 1
            below += sums[WEIGHT, at] - sums[LEFT_SIDE, at] if side else sums[LEFT_SIDE, at]
        for i in range(n):
            own = sums[WEIGHT, i] - sums[LEFT_SIDE, i] if side else sums[LEFT_SIDE, i]
            error += own * abs(sums[VALUE, i] - sums[VALUE, at])
    return -np.float64(error)


# Categories.


@inner
def set_median_keys(tree: Tree, n: Any, codes: Any, start: Any, begin: Any, end: Any) -> None:
    """What the n categories of `category_order` are put in order by: the weighted median of their targets.

    Cells have the weight of each category, (weight met so far, both); codes[start + place] is the category of a row.
    """
    categories = memory.category_order(tree)
    keys = memory.category_keys(tree)
    cells = memory.cells(tree)
    places = memory.places(tree)
    order = memory.target_order(tree)
    ranks = memory.node_sums_row(tree, 0)
    boths = memory.node_sums_row(tree, 1)
    slot = memory.counts(tree)
    for j in range(n):
        slot[categories[j]] = j
        cells[2 * categories[j]] = 0
    for k in range(U(end - begin)):
        row = U(order[k])
        category = np.int64(codes[start + U(places[U(begin) + row])])
        weight = cells[2 * category + 1] & LOW_HALF
        before = cells[2 * category]
        cells[2 * category] += boths[row] & LOW_HALF
        if 2 * before < weight and 2 * cells[2 * category] >= weight:
            keys[slot[category]] = np.float64(memory.target_values(tree)[ranks[row]])


@inner
def rows_by_category(tree: Tree, n: Any, codes: Any, start: Any, begin: Any, end: Any) -> None:
    """Rows of a node as items, in the order of their categories; the code of a category is its position, or at random one of two sides."""
    categories = memory.category_order(tree)
    keys = memory.category_keys(tree)
    cells = memory.cells(tree)
    places = memory.places(tree)
    items = memory.items(tree)
    most = memory.most_items(tree)
    ranks = memory.node_sums_row(tree, 0)
    boths = memory.node_sums_row(tree, 1)
    slot = memory.counts(tree)
    for j in range(n):
        slot[categories[j]] = j
        cells[2 * j] = 0
    for row in range(U(end - begin)):
        cells[2 * np.int64(slot[np.int64(codes[start + U(places[U(begin) + row])])])] += 1
    first = np.int64(0)
    for j in range(n):
        size = cells[2 * j]
        cells[2 * j] = first
        first += size
    for row in range(U(end - begin)):
        own = np.int64(slot[np.int64(codes[start + U(places[U(begin) + row])])])
        item = cells[2 * own]
        cells[2 * own] += 1
        items[item] = np.int64(keys[own]) if memory.random_splits(tree) != 0 else own
        items[most + item] = ranks[row]
        items[2 * most + item] = boths[row]


# Leaves.


@inner
def median_of_rows(tree: Tree, begin: Any, end: Any) -> Any:
    """Weighted median of the targets of some rows; midway between two where half of the weight is on either side."""
    rows = memory.rows(tree)
    times = memory.times(tree)
    real = memory.real_rows(tree)
    sort_targets(tree, begin, end, memory.row_sums(tree), rows)
    keys = memory.keys(tree)
    whole = 0.0
    for j in range(end - begin):
        row = rows[begin + (keys[0, j] & LOW_HALF)]
        whole += np.float64(times[row]) * real[1, row]
    below = 0.0
    for j in range(end - begin):
        row = rows[begin + (keys[0, j] & LOW_HALF)]
        below += np.float64(times[row]) * real[1, row]
        if 2.0 * below >= whole:
            if 2.0 * below > whole or j == end - begin - 1:
                return real[0, row]
            return real[0, row] / 2.0 + real[0, rows[begin + (keys[0, j + 1] & LOW_HALF)]] / 2.0
    return real[0, rows[begin + (keys[0, end - begin - 1] & LOW_HALF)]]
