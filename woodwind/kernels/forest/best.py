"""The best split of a node so far, and its threshold."""

from typing import Any

import numpy as np

from woodwind.kernels.forest.memory import (
    B_BIN,
    B_BOTH,
    B_FEATURE,
    B_HIGH,
    B_IS_SET,
    B_LOW,
    B_MISSING,
    B_SUM,
    BEST,
    BEST_F,
    BF_SCORE,
    C_NODES,
    CONTROL,
    CUT,
    FEATURE,
    HIGH,
    LOW,
    MISSING_CODE,
    NODE_F,
    NODE_I,
    SET,
    SPAN,
    VALUES,
    VALUES_AT,
)
from woodwind.kernels.runtime.intrinsics import floats, int_list, ints, prefetch
from woodwind.kernels.runtime.jit import inlined, inner

# Nodes whose numbers are asked for ahead.
AHEAD = 12


@inlined
def note(growing: Any, score: Any, feature: Any, missing: Any, left: Any) -> None:
    """Keep a split that is better than those before; left: (sum, both) of the rows that go left."""
    best = int_list(growing, BEST)
    best[B_FEATURE] = feature
    best[B_MISSING] = missing
    best[B_IS_SET] = 0
    best[B_BIN] = -1
    best[B_SUM] = left[0]
    best[B_BOTH] = left[1]
    floats(growing, BEST_F)[0, BF_SCORE] = score


@inner
def midway(low: Any, high: Any) -> Any:
    """A threshold between two numbers: not below the lower one, and below the higher one."""
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low


@inner
def settle_ranks(growing: Any) -> None:
    """Turn the codes on both sides of the best cut into ranks, where they are bins."""
    best = int_list(growing, BEST)
    if best[B_BIN] >= 0:
        span = ints(growing, SPAN)
        best[B_LOW] = span[2 * best[B_FEATURE] + 1, best[B_LOW]]
        if best[B_HIGH] != MISSING_CODE:
            best[B_HIGH] = span[2 * best[B_FEATURE], best[B_HIGH]]


@inlined
def is_number(what: Any) -> Any:
    """Whether a node is split by a threshold."""
    return what[FEATURE] >= 0 and what[SET] < 0


@inner
def settle_cuts(growing: Any) -> None:
    """Turn the ranks on both sides of every cut of a tree into a threshold.

    The numbers that ranks stand for are as many as the table has: each is waited for, unless it was asked for some nodes before. While
    a node is judged nobody needs its threshold.
    """
    nodes = ints(growing, NODE_I)
    real = floats(growing, NODE_F)
    values = floats(growing, VALUES)[0]
    begins = int_list(growing, VALUES_AT)
    n_nodes = int_list(growing, CONTROL)[C_NODES]
    for node in range(n_nodes):
        coming = nodes[min(node + AHEAD, n_nodes - 1)]
        if is_number(coming):
            first = begins[coming[FEATURE]]
            prefetch(values, first + coming[LOW])
            prefetch(values, first + coming[HIGH])
        what = nodes[node]
        if is_number(what):
            first = begins[what[FEATURE]]
            cut = np.inf
            if what[HIGH] != MISSING_CODE:
                cut = midway(values[first + what[LOW]], values[first + what[HIGH]])
            real[node, CUT] = cut
