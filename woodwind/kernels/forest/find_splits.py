"""The best split of a node by one feature after another: numbers, sets of categories, random cuts."""

from typing import Any

import numpy as np

from woodwind.kernels.forest import best, memory
from woodwind.kernels.forest.best import note
from woodwind.kernels.forest.layout import COARSE_MISSING, LOW_HALF, MEDIANS, MISSING_CODE, MOMENTS, SEVERAL
from woodwind.kernels.forest.medians import rows_by_category, scan_medians, set_median_keys
from woodwind.kernels.forest.order import columns_of, fetch, fill_cells, gather_bins, gather_sorted
from woodwind.kernels.forest.random_splits import by_random_threshold
from woodwind.kernels.forest.score import scan_items
from woodwind.kernels.forest.several import (
    MOST_ORDERS,
    categories_met,
    fill_several_cells,
    gather_several_bins,
    items_of_cells,
    scan_several,
    set_mean_keys,
)
from woodwind.kernels.forest.split_64_rows import by_threshold_in_lanes
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.keys import hashed
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP

U = np.uint64


@inlined
def sum_items(tree: Tree, begin: Any, end: Any, start: Any) -> Any:
    """(sum, both) of some items, on top of start."""
    items = memory.items(tree)
    most = U(memory.most_items(tree))
    s, both = start
    for j in range(U(begin), U(end)):
        s += items[most + j]
        both += items[most + most + j]
    return s, both


@inlined
def scan(tree: Tree, last: Any, from_item: Any, to_item: Any, total: Any) -> Any:
    """Best cut after one of the items 0..last, if the items from_item..to_item go left in any case: score and item; total = (sum, both)."""
    if memory.criterion(tree) == MEDIANS:
        return scan_medians(tree, last, from_item, to_item, total[1])
    if memory.criterion(tree) == SEVERAL:
        return scan_several(tree, last, from_item, to_item, total[1])
    return scan_items(tree, last, from_item, to_item, total)


@inlined
def by_threshold(tree: Tree, feature: Any, begin: Any, end: Any, total: Any, in_lanes: Any) -> None:
    """The best threshold of a feature, missing values tried on both sides; `in_lanes`: rows are few, and `note_words` has noted them."""
    if in_lanes and by_threshold_in_lanes(tree, feature, begin, end, total):
        return
    codes = memory.items(tree)
    exact = end - begin <= memory.exact_rows(tree)
    if exact:
        n = gather_sorted(tree, feature, begin, end)
    elif memory.criterion(tree) == SEVERAL:
        n = gather_several_bins(tree, feature, begin, end)
    else:
        n = gather_bins(tree, feature, begin, end)
    memory.set_items_are_cells(tree, np.int64(not exact))
    if n == 0 or codes[0] == codes[n - 1]:
        return
    stop = n
    while codes[stop - 1] == MISSING_CODE:
        stop -= 1
    score, where = scan(tree, n - 1 if stop == n else stop, 0, 0, total)
    missing = STOP if stop == n else RIGHT
    if stop < n:
        other, place = scan(tree, stop - 1, stop, n, total)
        if other > score:
            score = other
            where = place
            missing = LEFT
    if where < 0 or not score > best.score(tree):
        return
    left = sum_items(tree, 0, where + 1, (np.int64(0), np.int64(0)))
    note(tree, score, feature, missing, sum_items(tree, stop, n, left) if missing == LEFT else left)
    best.set_low(tree, codes[where])
    best.set_high(tree, codes[where + 1])
    best.set_bin(tree, np.int64(-1) if exact else codes[where])


# Sets of categories.


@inner
def set_category_keys(tree: Tree, n: Any, turn: Any, key: Any) -> None:
    """What the n categories of `category_order` are put in order by: their mean, their share of a class, or at random one of two sides."""
    categories = memory.category_order(tree)
    cells = memory.cells(tree)
    at_random = memory.random_splits(tree) != 0
    keys = memory.category_keys(tree)
    width = max(memory.n_classes(tree), 2)
    ones = np.int64(0)
    for j in range(n):
        cell = categories[j] * width
        if at_random:
            keys[j] = np.float64(hashed(key, categories[j]) & 1)
            ones += np.int64(keys[j] > 0.0)
        elif memory.criterion(tree) == MOMENTS:
            keys[j] = np.float64(cells[cell]) / np.float64(cells[cell + 1] & LOW_HALF)
        else:
            weight = np.int64(0)
            for k in range(memory.n_classes(tree)):
                weight += cells[cell + k] & LOW_HALF
            keys[j] = np.float64(cells[cell + (turn if memory.n_classes(tree) > 2 else 1)] & LOW_HALF) / np.float64(weight)
    if at_random and (ones == 0 or ones == n):
        # A category of its own for one side, at random.
        some = ((hashed(key, 256) >> 31) * n) >> 32
        keys[some] = 1.0 - keys[some]


@inner
def sort_categories(tree: Tree, n: Any) -> None:
    """Put n categories in the order of their keys, of equals the lower one first."""
    categories = memory.category_order(tree)
    keys = memory.category_keys(tree)
    for j in range(1, n):
        moved = keys[j]
        category = categories[j]
        i = j
        while i > 0 and keys[i - 1] > moved:
            keys[i] = keys[i - 1]
            categories[i] = categories[i - 1]
            i -= 1
        keys[i] = moved
        categories[i] = category


@inner
def items_of_categories(tree: Tree, n: Any) -> Any:
    """Put n categories in the order of their keys, and their sums into items; returns how many."""
    categories = memory.category_order(tree)
    keys = memory.category_keys(tree)
    cells = memory.cells(tree)
    items = memory.items(tree)
    width = max(memory.n_classes(tree), 2)
    sort_categories(tree, n)
    found = np.int64(0)
    for j in range(n):
        cell = categories[j] * width
        code = np.int64(keys[j]) if memory.random_splits(tree) != 0 else np.int64(j)
        for k in range(1 if memory.criterion(tree) == MOMENTS else memory.n_classes(tree)):
            items[found] = code
            items[memory.most_items(tree) + found] = cells[cell] if memory.criterion(tree) == MOMENTS else k
            items[2 * memory.most_items(tree) + found] = cells[cell + 1] if memory.criterion(tree) == MOMENTS else cells[cell + k]
            found += np.int64(items[2 * memory.most_items(tree) + found] > 0)
    return found


@inner
def keep_set(tree: Tree, n: Any, last: Any) -> Any:
    """Write the categories whose items have codes up to `last` to the left set, the others to the right; says where missing values go."""
    categories = memory.category_order(tree)
    keys = memory.category_keys(tree)
    sets = memory.best_sets(tree)[0]
    missing = np.int64(STOP)
    for w in range(8):
        sets[w] = U(0)
    for j in range(n):
        right = np.int64((keys[j] if memory.random_splits(tree) != 0 else np.float64(j)) > np.float64(last))
        if categories[j] == COARSE_MISSING:
            missing = LEFT + right
        else:
            sets[4 * right + (categories[j] >> 6)] |= U(1) << U(categories[j] & 63)
    return missing


@inner
def by_categories(tree: Tree, feature: Any, begin: Any, end: Any, total: Any, key: Any) -> None:
    """The best set of categories; missing values are one more category.

    With one number for each category the best set is a prefix of their order (Fisher 1958). With more classes than two, orders by the share
    of each class are tried. Categories that the node has not met go to neither side.
    """
    fill_cells(tree, feature, begin, end)
    cells = memory.cells(tree)
    categories = memory.category_order(tree)
    width = max(memory.n_classes(tree), 2)
    several = memory.criterion(tree) != MOMENTS and memory.n_classes(tree) > 2 and memory.random_splits(tree) == 0
    for turn in range(memory.n_classes(tree) if several else 1):
        n = np.int64(0)
        for code in range(256):
            rows = cells[code * width + 1]
            if memory.criterion(tree) != MOMENTS:
                for k in range(memory.n_classes(tree)):
                    rows |= cells[code * width + k]
            categories[n] = code
            n += np.int64(rows > 0)
        if n < 2:
            return
        set_category_keys(tree, n, turn, key)
        keep_categories(tree, feature, n, items_of_categories(tree, n), total)


@inner
def by_medians_of_categories(tree: Tree, feature: Any, begin: Any, end: Any, total: Any, key: Any) -> None:
    """The same by absolute error: categories in the order of their medians, of which no prefix is sure to be the best set; items are rows.

    All nodes are in arenas.
    """
    fetch(tree, feature, 1, memory.bins_by_row(tree), memory.arena_bins(tree), columns_of(tree))
    codes = memory.arena_bins(tree)
    start = U(feature * memory.room(tree))
    places = memory.places(tree)
    boths = memory.node_sums_row(tree, 1)
    cells = memory.cells(tree)
    categories = memory.category_order(tree)
    for j in range(2 * 256):
        cells[j] = 0
    for j in range(U(end - begin)):
        cells[U(2) * U(codes[start + U(places[U(begin) + j])]) + U(1)] += boths[j]
    n = np.int64(0)
    for code in range(256):
        categories[n] = code
        n += np.int64(cells[2 * code + 1] > 0)
    if n < 2:
        return
    if memory.random_splits(tree) != 0:
        set_category_keys(tree, n, 0, key)
    else:
        set_median_keys(tree, n, codes, start, begin, end)
    sort_categories(tree, n)
    rows_by_category(tree, n, codes, start, begin, end)
    keep_categories(tree, feature, n, end - begin, total)


@inner
def by_several_categories(tree: Tree, feature: Any, begin: Any, end: Any, total: Any, key: Any) -> None:
    """The same for several targets: categories in the order of their means of each of the sums, of some of them where there are many."""
    fill_several_cells(tree, feature, begin, end)
    memory.set_items_are_cells(tree, 1)
    at_random = memory.random_splits(tree) != 0
    for which in range(1 if at_random else min(memory.n_sums(tree), MOST_ORDERS)):
        n = categories_met(tree)
        if n < 2:
            return
        if at_random:
            set_category_keys(tree, n, 0, key)
        else:
            set_mean_keys(tree, n, which)
        sort_categories(tree, n)
        items_of_cells(tree, n)
        keep_categories(tree, feature, n, n, total)


@inner
def keep_categories(tree: Tree, feature: Any, n: Any, size: Any, total: Any) -> None:
    """Note the best cut through the items of n categories in their order, if it is the best split so far."""
    score, where = scan(tree, size - 1, 0, 0, total)
    if where >= 0 and score > best.score(tree):
        missing = keep_set(tree, n, memory.items(tree)[where])
        note(tree, score, feature, missing, sum_items(tree, 0, where + 1, (np.int64(0), np.int64(0))))
        best.set_is_set(tree, 1)


@inlined
def find_best_split(tree: Tree, feature: Any, begin: Any, end: Any, total: Any, key: Any, in_lanes: Any) -> None:
    """The best split of the rows begin..end by a feature, noted if it is better than what is there."""
    if common.is_category_of(tree, feature) != 0 and memory.criterion(tree) == MEDIANS:
        by_medians_of_categories(tree, feature, begin, end, total, hashed(key, feature))
    elif common.is_category_of(tree, feature) != 0 and memory.criterion(tree) == SEVERAL:
        by_several_categories(tree, feature, begin, end, total, hashed(key, feature))
    elif common.is_category_of(tree, feature) != 0:
        by_categories(tree, feature, begin, end, total, hashed(key, feature))
    elif memory.random_splits(tree) != 0:
        by_random_threshold(tree, feature, begin, end, total, hashed(key, feature))
    else:
        by_threshold(tree, feature, begin, end, total, in_lanes)
