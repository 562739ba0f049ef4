"""How good a cut through items is: float64 functions of integer sums.

An item is (code, what, both): `both` is (rows << 32) + weight, and `what` is the sum of the targets, or the class. Items stand in the
order of their codes; a cut is possible where the code changes. Both sides enter every expression alike, so that a split and its mirror
image tie.
"""

import math
from typing import Any

import numpy as np

from woodwind.kernels.forest.memory import (
    CURVE,
    ITEMS,
    LOGS,
    LOW_HALF,
    MOMENTS,
    R_CRITERION,
    R_MIN_ROWS,
    R_MIN_WEIGHT,
    R_MOST,
    R_N_CLASSES,
    R_PLAIN,
    SIDES,
)
from woodwind.kernels.histogram.scan import NO_SPLIT
from woodwind.kernels.runtime.intrinsics import floats, int_list, ints
from woodwind.kernels.runtime.jit import inlined, inner

U = np.uint64


@inlined
def worth(x: Any, logs: Any) -> Any:
    """What a weight adds to the criterion: its square (Gini, without logarithms), or x log2 x in fixed point (entropy).

    logs[0] is the number of places of the fixed point; logs[x + 1] is for x.
    """
    if len(logs) == 0:
        return x * x
    if x + 1 < len(logs):
        return logs[U(x + 1)]
    return np.int64(np.rint(np.float64(x) * math.log2(np.float64(x)) * np.float64(np.int64(1) << logs[0])))


@inlined
def allowed(both: Any, total: Any, min_rows: Any, min_weight: Any) -> Any:
    """Whether the two sides of a cut have rows and weight enough."""
    rest = total - both
    return (both >> 32 >= min_rows) & (rest >> 32 >= min_rows) & (both & LOW_HALF >= min_weight) & (rest & LOW_HALF >= min_weight)


@inlined
def moment_score(s: Any, both: Any, total_s: Any, total: Any) -> Any:
    """Sum of squares over weight of both sides: what is left of the squared error is least where this is largest."""
    p = np.float64(both & LOW_HALF)
    q = np.float64((total - both) & LOW_HALF)
    a = np.float64(s)
    b = np.float64(total_s - s)
    return (a * a * q + b * b * p) / (p * q)


@inlined
def scan_moments(growing: Any, last: Any, start: Any, total: Any) -> Any:
    """Best cut after one of the items 0..last: score and item, start = (sum, both) that are left from the beginning.

    Three simple loops: the middle one, with the divisions, is vectorised.
    """
    items = int_list(growing, ITEMS)
    sums = U(growing[R_MOST])
    boths = sums + sums
    curve = floats(growing, CURVE)[0]
    left = floats(growing, CURVE)[1]
    weight = floats(growing, CURVE)[2]
    s, both = start
    total_s, total_both = total
    for j in range(U(last)):
        s += items[sums + j]
        both += items[boths + j]
        left[j] = np.float64(s)
        weight[j] = np.float64(both & LOW_HALF)
    S = np.float64(total_s)
    W = np.float64(total_both & LOW_HALF)
    for j in range(U(last)):
        p = weight[j]
        q = W - p
        a = left[j]
        b = S - a
        score = (a * a * q + b * b * p) / (p * q)
        curve[j] = score if items[j] != items[j + U(1)] else NO_SPLIT
    if growing[R_PLAIN] == 0:
        min_rows = growing[R_MIN_ROWS]
        min_weight = growing[R_MIN_WEIGHT]
        both = start[1]
        for j in range(U(last)):
            both += items[boths + j]
            if not allowed(both, total_both, min_rows, min_weight):
                curve[j] = NO_SPLIT
    best = NO_SPLIT
    where = np.int64(-1)
    for j in range(U(last)):
        if curve[j] > best:
            best = curve[j]
            where = np.int64(j)
    return best, where


@inner
def class_worth(growing: Any, side: Any) -> Any:
    """Sum of what the classes of a row of SIDES are worth."""
    weights = ints(growing, SIDES)[side]
    logs = int_list(growing, LOGS)
    out = np.int64(0)
    for k in range(growing[R_N_CLASSES]):
        out += worth(weights[k], logs)
    return out


@inlined
def purity(A: Any, p: Any, logs: Any) -> Any:
    """Score of one side with weight p whose classes are worth A: the sum of squares over the weight, or minus the bits."""
    if len(logs) == 0:
        return np.float64(A) / np.float64(p)
    return np.float64(A - worth(p, logs))


@inlined
def class_score(A: Any, p: Any, B: Any, q: Any, logs: Any) -> Any:
    """Score of two sides (Breiman et al. 1984; Quinlan 1986). Bits that rounding of a logarithm shows in count for nothing."""
    if len(logs) == 0:
        a = np.float64(p)
        b = np.float64(q)
        return (np.float64(A) * b + np.float64(B) * a) / (a * b)
    bits = A + B - worth(p, logs) - worth(q, logs)
    return np.float64((bits + 128) >> 8 << 8)


@inlined
def scan_classes(growing: Any, last: Any, start: Any, total: Any) -> Any:
    """The same for classes: SIDES[1] has the weights that are left from the beginning, SIDES[0] the total."""
    codes = int_list(growing, ITEMS)[: growing[R_MOST]]
    classes = int_list(growing, ITEMS)[growing[R_MOST] : 2 * growing[R_MOST]]
    boths = int_list(growing, ITEMS)[2 * growing[R_MOST] :]
    logs = int_list(growing, LOGS)
    whole = ints(growing, SIDES)[0]
    left = ints(growing, SIDES)[1]
    min_rows = growing[R_MIN_ROWS]
    min_weight = growing[R_MIN_WEIGHT]
    both = start
    A = np.int64(0)
    B = np.int64(0)
    for k in range(growing[R_N_CLASSES]):
        A += worth(left[k], logs)
        B += worth(whole[k] - left[k], logs)
    best = NO_SPLIT
    where = np.int64(-1)
    for j in range(U(last)):
        own = U(classes[j])
        w = boths[j] & LOW_HALF
        x = left[own]
        y = whole[own] - x
        A += worth(x + w, logs) - worth(x, logs)
        B += worth(y - w, logs) - worth(y, logs)
        left[own] = x + w
        both += boths[j]
        if codes[j] != codes[j + U(1)] and allowed(both, total, min_rows, min_weight):
            p = both & LOW_HALF
            score = class_score(A, p, B, (total & LOW_HALF) - p, logs)
            if score > best:
                best = score
                where = np.int64(j)
    return best, where


@inlined
def scan_items(growing: Any, last: Any, from_item: Any, to_item: Any, total: Any) -> Any:
    """Best cut after one of the items 0..last, if the items from_item..to_item go left in any case; total = (sum, both)."""
    sums = int_list(growing, ITEMS)[growing[R_MOST] : 2 * growing[R_MOST]]
    boths = int_list(growing, ITEMS)[2 * growing[R_MOST] :]
    total_s, total_both = total
    if growing[R_CRITERION] == MOMENTS:
        s = np.int64(0)
        both = np.int64(0)
        for j in range(from_item, to_item):
            s += sums[j]
            both += boths[j]
        return scan_moments(growing, last, (s, both), (total_s, total_both))
    left = ints(growing, SIDES)[1]
    for k in range(growing[R_N_CLASSES]):
        left[k] = 0
    both = np.int64(0)
    for j in range(from_item, to_item):
        left[sums[j]] += boths[j] & LOW_HALF
        both += boths[j]
    return scan_classes(growing, last, both, total_both)
