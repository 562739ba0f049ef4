"""The best split of a node so far, and its threshold."""

from typing import Any

import numpy as np

from woodwind.kernels.forest import memory
from woodwind.kernels.forest.layout import MISSING_CODE
from woodwind.kernels.runtime.intrinsics import prefetch
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree import nodes
from woodwind.kernels.tree.layout import NOTHING

feature, set_feature = memory.BEST.counter("feature")  # -1: there is none
low, set_low = memory.BEST.counter("low")  # last rank, or bin, that goes left
high, set_high = memory.BEST.counter("high")  # first one that goes right; MISSING_CODE for none
missing, set_missing = memory.BEST.counter("missing")
is_set, set_is_set = memory.BEST.counter("is_set")
bin, set_bin = memory.BEST.counter("bin")  # noqa: A001  -1 where the split was found among ranks
left_total, set_left_total = memory.BEST.counter("left_total")  # of the rows that go left
left_both, set_left_both = memory.BEST.counter("left_both")

score, set_score = memory.BEST_VALUES.counter("score")
threshold, set_threshold = memory.BEST_VALUES.counter("threshold")
min_gain, _ = memory.BEST_VALUES.counter("min_gain")  # of a split, in units of the criterion; set before
MIN_GAIN = memory.BEST_VALUES.at["min_gain"]

# Nodes whose numbers are asked for ahead.
AHEAD = 12


@inlined
def note(tree: Tree, new_score: Any, of_feature: Any, side: int, left: Any) -> None:
    """Keep a split that is better than those before; left: (sum, both) of the rows that go left."""
    set_feature(tree, of_feature)
    set_missing(tree, side)
    set_is_set(tree, 0)
    set_bin(tree, NOTHING)
    set_left_total(tree, left[0])
    set_left_both(tree, left[1])
    set_score(tree, new_score)


@inner
def midway(below: Any, above: Any) -> Any:
    """A threshold between two numbers: not below the lower one, and below the higher one."""
    middle = below / 2.0 + above / 2.0
    return middle if below <= middle < above else below


@inner
def bins_to_ranks(tree: Tree) -> None:
    """Turn the codes on both sides of the best cut into ranks, where they are bins."""
    if bin(tree) >= 0:
        span = memory.spans(tree)
        set_low(tree, span[2 * feature(tree) + 1, low(tree)])
        if high(tree) != MISSING_CODE:
            set_high(tree, span[2 * feature(tree), high(tree)])


@inlined
def has_threshold(tree: Tree, node: int) -> Any:
    """Whether a node is split by a threshold."""
    return nodes.feature(tree, node) >= 0 and nodes.category_set(tree, node) < 0


@inner
def ranks_to_thresholds(tree: Tree) -> None:
    """Turn the ranks on both sides of every cut of a tree into a threshold.

    The numbers that ranks stand for are as many as the table has: each is waited for, unless it was asked for some nodes before. While
    the split of a node is looked for nobody needs its threshold.
    """
    numbers = memory.numbers(tree)
    n_nodes = common.n_nodes(tree)
    for node in range(n_nodes):
        coming = min(node + AHEAD, n_nodes - 1)
        if has_threshold(tree, coming):
            first = memory.numbers_begin(tree, nodes.feature(tree, coming))
            prefetch(numbers, first + memory.low(tree, coming))
            prefetch(numbers, first + memory.high(tree, coming))
        if has_threshold(tree, node):
            first = memory.numbers_begin(tree, nodes.feature(tree, node))
            cut = np.inf
            if memory.high(tree, node) != MISSING_CODE:
                cut = midway(numbers[first + memory.low(tree, node)], numbers[first + memory.high(tree, node)])
            memory.set_threshold(tree, node, cut)
