"""A few rows split by all features at once, side by side, without putting them in order.

Half of the nodes of a full tree have three to eight rows. Each row is a candidate for the last one that goes left, and what goes left with
it is summed by comparing it with all others: n * n comparisons, but of eight features to an instruction.
"""

from typing import Any

import numpy as np

from woodwind.kernels.forest import best, memory
from woodwind.kernels.forest.best import note
from woodwind.kernels.forest.layout import LOW_HALF, MISSING_CODE
from woodwind.kernels.forest.order import fetch_codes
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree.layout import NO_SPLIT, STOP

U = np.uint64
ONE = np.uint64(1)

# Rows that are split in this way.
MOST_ROWS = 8


@inlined
def line_of(tree: Tree, j: Any) -> Any:
    """Where the codes of a row of the arena begin in `codes_by_row`."""
    first = U(memory.arena_begin(tree))
    place = U(memory.places(tree)[j])
    return U(memory.rows(tree)[first + place]) * U(memory.stride(tree))


@inlined
def misses_some(tree: Tree, begin: Any, end: Any) -> Any:
    """Whether any of the rows misses any value."""
    fine = memory.codes_by_row(tree)
    missing = False
    for j in range(begin, end):
        line = line_of(tree, j)
        for f in range(U(memory.n_features(tree))):
            missing |= fine[line + f] == MISSING_CODE
    return missing


@inlined
def sum_up_to(tree: Tree, own: Any, begin: Any, end: Any) -> None:
    """For each feature, sum the rows with no higher code than the row at `own` into items: (sum, both)."""
    fine = memory.codes_by_row(tree)
    a_pair = memory.arena_sums(tree)
    items = memory.items(tree)
    most = U(memory.most_items(tree))
    width = U(memory.n_features(tree))
    for f in range(width):
        items[f] = 0
        items[most + f] = 0
    for j in range(begin, end):
        line = line_of(tree, j)
        place = U(memory.places(tree)[j])
        s = a_pair[place + place]
        both = a_pair[place + place + ONE]
        for f in range(width):
            here = fine[line + f] <= fine[own + f]
            items[f] += s if here else np.int64(0)
            items[most + f] += both if here else np.int64(0)


@inlined
def keep_scores(tree: Tree, own: Any, candidate: Any, total: Any) -> None:
    """Score what was summed, and keep the candidate where it is the best so far, of equals the lowest code: curve 0 and items."""
    fine = memory.codes_by_row(tree)
    items = memory.items(tree)
    most = U(memory.most_items(tree))
    highest = memory.curve(tree, 0)
    codes = items[most + most :]
    S = np.float64(total[0])
    W = np.float64(total[1] & LOW_HALF)
    for f in range(U(memory.n_features(tree))):
        p = np.float64(items[most + f] & LOW_HALF)
        q = W - p
        a = np.float64(items[f])
        b = S - a
        score = (a * a * q + b * b * p) / (p * q)
        code = (np.int64(fine[own + f]) << 32) + candidate
        # Where all rows go left, the score is not a number.
        better = (score > highest[f]) | ((score == highest[f]) & (code < codes[f]))
        highest[f] = score if better else highest[f]
        codes[f] = code if better else codes[f]


@inner
def split_few_rows(tree: Tree, begin: Any, end: Any, total: Any) -> Any:
    """Note the best split of three to eight rows by all features, all of them numbers; False, and nothing done, if a value is missing."""
    begin, end = U(begin), U(end)
    if misses_some(tree, begin, end):
        return False
    highest = memory.curve(tree, 0)
    width = U(memory.n_features(tree))
    most = U(memory.most_items(tree))
    for f in range(width):
        highest[f] = NO_SPLIT
    for j in range(begin, end):
        own = line_of(tree, j)
        sum_up_to(tree, own, begin, end)
        keep_scores(tree, own, np.int64(j), total)
    chosen = np.int64(-1)
    score = NO_SPLIT
    for f in range(width):
        if highest[f] > score:
            score = highest[f]
            chosen = np.int64(f)
    if chosen < 0:
        return True
    fine = memory.codes_by_row(tree)
    items = memory.items(tree)
    own = line_of(tree, U(items[most + most + U(chosen)] & LOW_HALF))
    sum_up_to(tree, own, begin, end)
    note(tree, score, chosen, STOP, (items[U(chosen)], items[most + U(chosen)]))
    low = fine[own + U(chosen)]
    high = np.int32(MISSING_CODE)
    for j in range(begin, end):
        code = fine[line_of(tree, j) + U(chosen)]
        high = min(high, code if code > low else high)
    best.set_low(tree, low)
    best.set_high(tree, high)
    # The rows are parted by the codes of the arena.
    fetch_codes(tree, chosen)
    return True
