"""Several targets: one split for all of them, which is as good as it is for them on average.

An item is a row, or a bin or category with the sums of its rows in `cells`; `what` says which one. Numbers have a sum of fixed-point
targets for each target, labels the weight of each class of each target. The sums of a node and of its left side stand where those of
classes do.

    cells   for each bin or category: both, then its sums
"""

from typing import Any

import numpy as np

from woodwind.kernels.forest import memory
from woodwind.kernels.forest.layout import COARSE_MISSING, LOW_HALF, MISSING_CODE
from woodwind.kernels.forest.order import columns_of, fetch, is_inside
from woodwind.kernels.forest.score import allowed, class_score, purity, worth
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree.layout import NO_SPLIT

U = np.uint64

# Categories are put in order by so many of the sums at most, one order after another.
MOST_ORDERS = 16


@inner
def row_at(tree: Tree, j: Any, inside: Any) -> Any:
    """The row of the table that stands at place j of a node."""
    rows = memory.rows(tree)
    return np.int64(rows[memory.arena_begin(tree) + memory.places(tree)[j]] if inside else rows[j])


@inner
def add_row(tree: Tree, row: Any, both: Any, sums: Any, start: Any) -> None:
    """Add the targets of a row, as often as it is in the tree, to sums[start:]."""
    columns = memory.target_columns(tree)
    k = memory.n_outputs(tree)
    first = row * k
    if memory.is_labels(tree) != 0:
        for output in range(k):
            sums[start + columns[first + output]] += both & LOW_HALF
    else:
        for output in range(k):
            sums[start + output] += (both >> 32) * columns[first + output]


@inner
def add_item(tree: Tree, what: Any, both: Any) -> None:
    """Add an item to the left side."""
    left = memory.class_weights_of(tree, 1)
    if memory.items_are_cells(tree) == 0:
        add_row(tree, what, both, left, np.int64(0))
        return
    cells = memory.cells(tree)
    n_sums = memory.n_sums(tree)
    first = what * (n_sums + 1) + 1
    for c in range(n_sums):
        left[c] += cells[first + c]


@inner
def clear_sums(tree: Tree, side: Any) -> None:
    """Nothing is in the node (side 0), or on its left side (1)."""
    sums = memory.class_weights_of(tree, side)
    for c in range(memory.n_sums(tree)):
        sums[c] = 0


@inner
def sum_node(tree: Tree, begin: Any, end: Any, both: Any) -> Any:
    """Sum the targets of a node; returns its score as one leaf."""
    inside = is_inside(tree, begin, end)
    pair = memory.row_sums(tree)
    whole = memory.class_weights_of(tree, 0)
    clear_sums(tree, 0)
    for j in range(begin, end):
        row = row_at(tree, j, inside)
        add_row(tree, row, pair[2 * row + 1], whole, np.int64(0))
    own = 0.0
    p = both & LOW_HALF
    if memory.is_labels(tree) != 0:
        logs = memory.logs(tree)
        for output in range(memory.n_outputs(tree)):
            A = np.int64(0)
            for c in range(memory.first_sum(tree, output), memory.first_sum(tree, output + 1)):
                A += worth(whole[c], logs)
            own += purity(A, p, logs)
        return own
    for c in range(memory.n_sums(tree)):
        own += memory.sum_factor(tree, c) * (np.float64(whole[c]) * np.float64(whole[c]))
    return own / np.float64(p)


@inner
def agree(tree: Tree, begin: Any, end: Any) -> Any:
    """Whether all rows of a node have the same targets."""
    inside = is_inside(tree, begin, end)
    k = memory.n_outputs(tree)
    labels = memory.is_labels(tree) != 0
    columns = memory.target_columns(tree)
    real = memory.real_columns(tree)
    first = row_at(tree, begin, inside) * k
    for j in range(begin + 1, end):
        at = row_at(tree, j, inside) * k
        for output in range(k):
            if labels:
                if columns[at + output] != columns[first + output]:
                    return False
            elif real[at + output] != real[first + output]:
                return False
    return True


@inner
def several_score(tree: Tree, both: Any, total: Any) -> Any:
    """The score of both sides, added up over the targets."""
    whole = memory.class_weights_of(tree, 0)
    left = memory.class_weights_of(tree, 1)
    p = both & LOW_HALF
    q = (total - both) & LOW_HALF
    if memory.is_labels(tree) != 0:
        logs = memory.logs(tree)
        score = 0.0
        for output in range(memory.n_outputs(tree)):
            A = np.int64(0)
            B = np.int64(0)
            for c in range(memory.first_sum(tree, output), memory.first_sum(tree, output + 1)):
                A += worth(left[c], logs)
                B += worth(whole[c] - left[c], logs)
            score += class_score(A, p, B, q, logs)
        return score
    below = 0.0
    above = 0.0
    for c in range(memory.n_sums(tree)):
        a = np.float64(left[c])
        b = np.float64(whole[c] - left[c])
        below += memory.sum_factor(tree, c) * (a * a)
        above += memory.sum_factor(tree, c) * (b * b)
    u = np.float64(p)
    v = np.float64(q)
    return (below * v + above * u) / (u * v)


@inner
def scan_several(tree: Tree, last: Any, from_item: Any, to_item: Any, total: Any) -> Any:
    """Best cut after one of the items 0..last, if the items from_item..to_item go left in any case: score and item."""
    items = memory.items(tree)
    most = memory.most_items(tree)
    min_rows = memory.min_rows(tree)
    min_weight = memory.min_weight(tree)
    clear_sums(tree, 1)
    both = np.int64(0)
    for j in range(from_item, to_item):
        add_item(tree, items[most + j], items[2 * most + j])
        both += items[2 * most + j]
    best = NO_SPLIT
    where = np.int64(-1)
    for j in range(last):
        add_item(tree, items[most + j], items[2 * most + j])
        both += items[2 * most + j]
        if items[j] != items[j + 1] and allowed(both, total, min_rows, min_weight):
            score = several_score(tree, both, total)
            if score > best:
                best = score
                where = np.int64(j)
    return best, where


# Bins and categories.


@inner
def fill_several_cells(tree: Tree, feature: Any, begin: Any, end: Any) -> None:
    """Sum the rows of a node into the cells of bins or categories."""
    cells = memory.cells(tree)
    inside = is_inside(tree, begin, end)
    if inside:
        fetch(tree, feature, 1, memory.bins_by_row(tree), memory.arena_bins(tree), columns_of(tree))
    places = memory.places(tree) if inside else memory.rows(tree)
    codes = memory.arena_bins(tree) if inside else memory.bins_of_feature(tree, feature)
    start = U(feature * memory.room(tree)) if inside else U(0)
    rows = memory.node_sums_row(tree, 0)
    boths = memory.node_sums_row(tree, 1)
    width = memory.n_sums(tree) + 1
    for c in range(256 * width):
        cells[c] = 0
    for j in range(U(end - begin)):
        first = np.int64(codes[start + U(places[U(begin) + j])]) * width
        cells[first] += boths[j]
        add_row(tree, rows[j], boths[j], cells, first + 1)


@inner
def gather_several_bins(tree: Tree, feature: Any, begin: Any, end: Any) -> Any:
    """Rows of a large node as items, one for each bin, in order; returns how many."""
    fill_several_cells(tree, feature, begin, end)
    items = memory.items(tree)
    most = memory.most_items(tree)
    cells = memory.cells(tree)
    width = memory.n_sums(tree) + 1
    found = np.int64(0)
    for code in range(256):
        items[found] = MISSING_CODE if code == COARSE_MISSING else code
        items[most + found] = code
        items[2 * most + found] = cells[code * width]
        found += np.int64(cells[code * width] > 0)
    return found


@inner
def categories_met(tree: Tree) -> Any:
    """Write the categories that cells have rows of to `category_order`; returns how many there are."""
    categories = memory.category_order(tree)
    cells = memory.cells(tree)
    width = memory.n_sums(tree) + 1
    n = np.int64(0)
    for code in range(256):
        categories[n] = code
        n += np.int64(cells[code * width] > 0)
    return n


@inner
def set_mean_keys(tree: Tree, n: Any, which: Any) -> None:
    """What the n categories of `category_order` are put in order by: the mean of one of the sums."""
    categories = memory.category_order(tree)
    keys = memory.category_keys(tree)
    cells = memory.cells(tree)
    width = memory.n_sums(tree) + 1
    for j in range(n):
        first = categories[j] * width
        keys[j] = np.float64(cells[first + 1 + which]) / np.float64(cells[first] & LOW_HALF)


@inner
def items_of_cells(tree: Tree, n: Any) -> None:
    """The n categories of `category_order` as items, in this order."""
    categories = memory.category_order(tree)
    keys = memory.category_keys(tree)
    cells = memory.cells(tree)
    items = memory.items(tree)
    most = memory.most_items(tree)
    width = memory.n_sums(tree) + 1
    for j in range(n):
        items[j] = np.int64(keys[j]) if memory.random_splits(tree) != 0 else np.int64(j)
        items[most + j] = categories[j]
        items[2 * most + j] = cells[categories[j] * width]


# Leaves.


@inner
def value_several(tree: Tree, leaf: Any, begin: Any, end: Any) -> None:
    """The mean of each target among the rows of a leaf, or the probability of each class of each target: summed in the order of rows."""
    rows = memory.rows(tree)
    times = memory.times(tree)
    weights = memory.real_rows(tree)[1]
    columns = memory.target_columns(tree)
    real = memory.real_columns(tree)
    value = memory.out_value(tree, leaf)
    k = memory.n_outputs(tree)
    labels = memory.is_labels(tree) != 0
    for c in range(len(value)):
        value[c] = 0.0
    cover = 0.0
    for j in range(begin, end):
        row = np.int64(rows[j])
        weight = np.float64(times[row]) * weights[row]
        cover += weight
        for output in range(k):
            if labels:
                value[columns[row * k + output]] += weight
            else:
                value[output] += weight * real[row * k + output]
    for c in range(len(value)):
        value[c] /= cover
    if not labels:
        # Rows of one target say just that, without any rounding.
        first = np.int64(rows[begin]) * k
        for output in range(k):
            same = True
            for j in range(begin + 1, end):
                same = same and real[np.int64(rows[j]) * k + output] == real[first + output]
            if same:
                value[output] = real[first + output]
    memory.out_cover(tree)[leaf] = cover
    memory.out_span(tree)[leaf] = begin
