"""How good a cut through items is: float64 functions of integer sums.

An item is (code, what, both): `both` is (rows << 32) + weight, and `what` is the sum of the targets, or the class. Items stand in the
order of their codes; a cut is possible where the code changes. Both sides enter every expression alike, so that a split and its mirror
image tie.

All that is known of a criterion of classes stands here: its row in CRITERIA and its formula in `worth`, `purity` and `class_score`. Names
that estimators take follow from the table (docs/contributing/add-a-split-criterion.md).
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.forest import memory
from woodwind.kernels.forest.layout import LOW_HALF, MOMENTS
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Ints, Tree
from woodwind.kernels.tree.layout import NO_SPLIT

U = np.uint64
# Weights up to this sum look their logarithms up: 8 MB.
MOST_LOGS = 1 << 20


class ForestCriterion(NamedTuple):
    """What Python must know of a criterion."""

    purity: Callable[[Any], Any]  # (n,) of the values of leaves (n, K): how pure each is
    table: Callable[[int], Any]  # int64[m] from the weight of all rows: what `worth` looks up, and tells criteria apart by
    scale: Callable[[Any], float]  # how many units of the score, by its table, are worth one unit of weight


def sums_of_squares(values: Any) -> Any:
    """Purity by the Gini index, and of numbers by the squared error."""
    return (values * values).sum(axis=1)


def sums_of_logs(values: Any) -> Any:
    """Purity by entropy."""
    return np.where(values > 0.0, values * np.log(np.where(values > 0.0, values, 1.0)), 0.0).sum(axis=1)


def no_table(_total: int) -> Any:
    """Nothing is looked up."""
    return np.zeros(0, np.int64)


def log_table(total: int) -> Any:
    """The number of places of the fixed point, then x log2 x for whole x from 0 on: that of the whole weight takes at most 60 bits."""
    x = np.arange(1, min(total, MOST_LOGS) + 1, dtype=np.float64)
    places = 60 - math.ceil(math.log2(max(total, 2) * math.log2(max(total, 2))))
    return np.concatenate([[places, 0], np.rint(x * np.log2(x) * 2.0**places)]).astype(np.int64)


def unit_scale(_table: Any) -> float:
    """The score is in units of weight."""
    return 1.0


def log_scale(table: Any) -> float:
    """Of the fixed point."""
    return float(2.0 ** float(table[0]))


ENTROPY = ForestCriterion(sums_of_logs, log_table, log_scale)
CRITERIA = {
    "squared_error": ForestCriterion(sums_of_squares, no_table, unit_scale),
    # Medians do not tell the absolute error of their rows: the squared error that they remove stands for it.
    "absolute_error": ForestCriterion(sums_of_squares, no_table, unit_scale),
    "poisson": ForestCriterion(sums_of_logs, no_table, unit_scale),
    "gini": ForestCriterion(sums_of_squares, no_table, unit_scale),
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
}
REGRESSION_CRITERIA = ("squared_error", "absolute_error", "poisson")
CLASS_CRITERIA = tuple(name for name in CRITERIA if name not in REGRESSION_CRITERIA)


@inlined
def worth(x: Any, logs: Ints) -> Any:
    """What a weight adds to the criterion: its square (Gini, without logarithms), or x log2 x in fixed point (entropy).

    logs[0] is the number of places of the fixed point; logs[x + 1] is for x. A criterion with another table has a number below 0 there.
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
def deviance_score(a: Any, p: Any, b: Any, q: Any) -> Any:
    """Half of the Poisson deviance that a cut removes: sum of y log(mean of its side / mean of both). A side of zeros has no logarithm.

    Bits that rounding of a logarithm shows in count for nothing, so that cuts which remove as much tie.
    """
    if not (a > 0.0 and b > 0.0):
        return NO_SPLIT
    mean = (a + b) / (p + q)
    unit = (a + b) * 2.0**-42
    return np.rint((a * math.log(a / p / mean) + b * math.log(b / q / mean)) / unit) * unit


@inlined
def sum_score(tree: Tree, s: Any, both: Any, total_s: Any, total: Any) -> Any:
    """The score of two sides whose targets are summed, by the criterion."""
    if memory.is_poisson(tree) != 0:
        p = np.float64(both & LOW_HALF)
        return deviance_score(np.float64(s), p, np.float64(total_s - s), np.float64(total & LOW_HALF) - p)
    return moment_score(s, both, total_s, total)


@inlined
def scan_moments(tree: Tree, last: Any, start: Any, total: Any) -> Any:
    """Best cut after one of the items 0..last: score and item, start = (sum, both) that are left from the beginning.

    Three simple loops: the middle one, with the divisions, is vectorised.
    """
    items = memory.items(tree)
    sums = U(memory.most_items(tree))
    boths = sums + sums
    curve = memory.curve(tree, 0)
    left = memory.curve(tree, 1)
    weight = memory.curve(tree, 2)
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
    if memory.is_poisson(tree) != 0:
        for j in range(U(last)):
            if curve[j] != NO_SPLIT:
                curve[j] = deviance_score(left[j], weight[j], S - left[j], W - weight[j])
    if memory.no_limits(tree) == 0:
        min_rows = memory.min_rows(tree)
        min_weight = memory.min_weight(tree)
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
def class_worth(tree: Tree, side: Any) -> Any:
    """Sum of what the classes of one side are worth."""
    weights = memory.class_weights_of(tree, side)
    logs = memory.logs(tree)
    out = np.int64(0)
    for k in range(memory.n_classes(tree)):
        out += worth(weights[k], logs)
    return out


@inlined
def purity(A: Any, p: Any, logs: Ints) -> Any:
    """Score of one side with weight p whose classes are worth A: the sum of squares over the weight, or minus the bits."""
    if len(logs) == 0:
        return np.float64(A) / np.float64(p)
    return np.float64(A - worth(p, logs))


@inlined
def class_score(A: Any, p: Any, B: Any, q: Any, logs: Ints) -> Any:
    """Score of two sides (Breiman et al. 1984; Quinlan 1986). Bits that rounding of a logarithm shows in count for nothing."""
    if len(logs) == 0:
        a = np.float64(p)
        b = np.float64(q)
        return (np.float64(A) * b + np.float64(B) * a) / (a * b)
    bits = A + B - worth(p, logs) - worth(q, logs)
    return np.float64((bits + 128) >> 8 << 8)


@inlined
def scan_classes(tree: Tree, last: Any, start: Any, total: Any) -> Any:
    """The same for classes: of class weights, row 1 has those that are left from the beginning, row 0 the total."""
    codes = memory.items(tree)[: memory.most_items(tree)]
    classes = memory.items(tree)[memory.most_items(tree) : 2 * memory.most_items(tree)]
    boths = memory.items(tree)[2 * memory.most_items(tree) :]
    logs = memory.logs(tree)
    whole = memory.class_weights_of(tree, 0)
    left = memory.class_weights_of(tree, 1)
    min_rows = memory.min_rows(tree)
    min_weight = memory.min_weight(tree)
    both = start
    A = np.int64(0)
    B = np.int64(0)
    for k in range(memory.n_classes(tree)):
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
def scan_items(tree: Tree, last: Any, from_item: Any, to_item: Any, total: Any) -> Any:
    """Best cut after one of the items 0..last, if the items from_item..to_item go left in any case; total = (sum, both)."""
    sums = memory.items(tree)[memory.most_items(tree) : 2 * memory.most_items(tree)]
    boths = memory.items(tree)[2 * memory.most_items(tree) :]
    total_s, total_both = total
    if memory.criterion(tree) == MOMENTS:
        s = np.int64(0)
        both = np.int64(0)
        for j in range(from_item, to_item):
            s += sums[j]
            both += boths[j]
        return scan_moments(tree, last, (s, both), (total_s, total_both))
    left = memory.class_weights_of(tree, 1)
    for k in range(memory.n_classes(tree)):
        left[k] = 0
    both = np.int64(0)
    for j in range(from_item, to_item):
        left[sums[j]] += boths[j] & LOW_HALF
        both += boths[j]
    return scan_classes(tree, last, both, total_both)
