"""The best split of a node so far, and its threshold."""

from typing import Any

import numpy as np

from woodwind.kernels.grove_layout import (
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
    BF_CUT,
    BF_SCORE,
    MISSING_CODE,
    SPAN,
    VALUES,
    VALUES_AT,
)
from woodwind.kernels.intrinsics import floats, int_list, ints
from woodwind.kernels.jit import inlined, inner


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
def settle_cut(growing: Any) -> None:
    """Turn the codes on both sides of the best cut into ranks, and those into a threshold."""
    best = int_list(growing, BEST)
    feature = best[B_FEATURE]
    if best[B_BIN] >= 0:
        span = ints(growing, SPAN)
        best[B_LOW] = span[2 * feature + 1, best[B_LOW]]
        if best[B_HIGH] != MISSING_CODE:
            best[B_HIGH] = span[2 * feature, best[B_HIGH]]
    cut = np.inf
    if best[B_HIGH] != MISSING_CODE:
        first = int_list(growing, VALUES_AT)[feature]
        values = floats(growing, VALUES)
        cut = midway(values[0, first + best[B_LOW]], values[0, first + best[B_HIGH]])
    floats(growing, BEST_F)[0, BF_CUT] = cut
