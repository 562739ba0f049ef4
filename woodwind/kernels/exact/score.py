"""How good a cut is: float64 functions of integer sums.

Sums of a node, or of the left side of a cut, are one row of integers: gradient, hessian, count, a spare one, the weight of each class.
For classes the hessian is the weight. Both sides enter every expression alike, so that a split and its mirror image tie.

All that is known of a criterion stands here: its row in CRITERIA and its formula in `class_score` and `own_score`. Names that estimators
take follow from the table (docs/contributing/add-a-split-criterion.md).
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.exact.memory import T_CLASSES, T_COUNT, T_GRADIENT, T_HESSIAN, ExactRule
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.records import Ints
from woodwind.kernels.tree.layout import NO_SPLIT
from woodwind.kernels.tree.leaves import leaf_value, score_of, smoothed_value

U = np.uint64

# Switches are baked into compiled kernels.
NEWTON = 0  # gradients and hessians; squared error is a case of it
GINI = 1
ENTROPY = 2
GAIN_RATIO = 3
VECTOR = 4  # gradients of several outputs, and the hessian that they share


class ExactCriterion(NamedTuple):
    """How a split is scored: the switch of kernels, and what Python must know."""

    switch: int
    impurity: Callable[[Any], float] | None = None  # of the probabilities of classes (K,); None for gradients
    uses_logs: bool = False  # x log2 x is looked up, and sums of a node have its bits
    follows_rows: bool = False  # `scan_classes` follows it row by row; otherwise `class_score` is asked at every cut


def gini_index(probabilities: Any) -> float:
    """The Gini index (Breiman et al. 1984)."""
    return float(1.0 - (probabilities * probabilities).sum())


def shannon_entropy(probabilities: Any) -> float:
    """Entropy in bits."""
    there = probabilities[probabilities > 0.0]
    return float(-(there * np.log2(there)).sum())


CRITERIA = {
    "newton": ExactCriterion(NEWTON),
    "vector": ExactCriterion(VECTOR),
    "gini": ExactCriterion(GINI, gini_index, follows_rows=True),
    "entropy": ExactCriterion(ENTROPY, shannon_entropy, uses_logs=True, follows_rows=True),
    "gain_ratio": ExactCriterion(GAIN_RATIO, shannon_entropy, uses_logs=True, follows_rows=True),
}
CLASS_CRITERIA = tuple(name for name, criterion in CRITERIA.items() if criterion.impurity is not None)


@inner
def has_bits(rule: ExactRule) -> Any:
    """Whether sums of a node have the bits that name its classes."""
    return rule.criterion == ENTROPY or rule.criterion == GAIN_RATIO


@inner
def two_sides(A: Any, B: Any, below: Any, above: Any) -> Any:
    """A / below + B / above, with one division."""
    return (A * above + B * below) / (below * above)


@inner
def x_log_x(x: Any, rule: ExactRule, logs: Ints) -> Any:
    """x log2 x of a whole number in fixed point, so that sums of it do not depend on the order of the classes; small ones are looked up."""
    if x < len(logs):
        return logs[U(x)]
    return np.int64(np.rint(np.float64(x) * math.log2(np.float64(x)) * rule.log_scale))


@inner
def bits_of(sums: Any, rule: ExactRule, logs: Ints) -> Any:
    """Bits that it takes to name the classes of all rows (Shannon 1948), in fixed point."""
    bits = x_log_x(sums[T_HESSIAN], rule, logs)
    for k in range(rule.n_classes):
        bits -= x_log_x(sums[T_CLASSES + k], rule, logs)
    return bits


@inner
def real_bits(bits: Any, rule: ExactRule) -> Any:
    """Bits in fixed point as a number; the last eight places, where the rounding of each logarithm shows, count for nothing."""
    return np.float64((bits + 128) >> 8 << 8) / rule.log_scale


@inner
def class_score(left: Ints, total: Ints, rule: ExactRule, logs: Ints) -> Any:
    """How pure two sides are, in units of weight.

    Gini: the sum of squares over the sum (Breiman et al. 1984). Entropy: how many bits less than in the node (Quinlan 1986).
    """
    w = left[T_HESSIAN]
    W = total[T_HESSIAN]
    if rule.criterion == GINI:
        A = 0.0
        B = 0.0
        for k in range(T_CLASSES, T_CLASSES + rule.n_classes):
            a = np.float64(left[k])
            b = np.float64(total[k] - left[k])
            A += a * a
            B += b * b
        return two_sides(A, B, np.float64(w), np.float64(W - w))
    bits = total[T_GRADIENT] - x_log_x(w, rule, logs) - x_log_x(W - w, rule, logs)
    for k in range(T_CLASSES, T_CLASSES + rule.n_classes):
        bits += x_log_x(left[k], rule, logs) + x_log_x(total[k] - left[k], rule, logs)
    return real_bits(bits, rule)


@inner
def vector_score(left: Any, total: Any, rule: ExactRule, l2: Any) -> Any:
    """Twice the drop in loss by two leaves, summed over outputs that share the hessian (docs/algorithms/gradient-boosting.md)."""
    A = 0.0
    B = 0.0
    for k in range(U(T_CLASSES), U(T_CLASSES + rule.n_classes)):
        a = np.float64(left[k])
        b = np.float64(total[k] - left[k])
        A += a * a
        B += b * b
    p = np.float64(left[T_HESSIAN]) * rule.hessian_unit
    q = np.float64(total[T_HESSIAN] - left[T_HESSIAN]) * rule.hessian_unit
    return two_sides(A, B, p + l2, q + l2) * (rule.gradient_unit * rule.gradient_unit)


@inner
def cut_score(left: Ints, total: Ints, rule: ExactRule, l2: Any, bounds: Any, logs: Ints) -> Any:
    """The score of a cut, or NO_SPLIT where it breaks a limit; bounds = (low, high, direction, value of the node).

    Gradients: twice the drop in loss by two leaves (Chen & Guestrin 2016, Eq. 7), whose values keep bounds and direction.
    Classes: how pure the two sides are; by a feature with a monotonic constraint, the share of the second class keeps both.
    """
    low, high, direction, value = bounds
    if left[T_COUNT] < rule.min_rows or total[T_COUNT] - left[T_COUNT] < rule.min_rows:
        return NO_SPLIT
    p = np.float64(left[T_HESSIAN]) * rule.hessian_unit
    q = np.float64(total[T_HESSIAN] - left[T_HESSIAN]) * rule.hessian_unit
    if p < rule.min_hessian or q < rule.min_hessian:
        return NO_SPLIT
    if rule.criterion == VECTOR:
        return vector_score(left, total, rule, l2) if (p + l2) * (q + l2) > 0.0 else NO_SPLIT
    if rule.criterion != NEWTON:
        if direction != 0.0:
            below = np.float64(left[T_CLASSES + 1]) * rule.hessian_unit / p
            above = np.float64(total[T_CLASSES + 1] - left[T_CLASSES + 1]) * rule.hessian_unit / q
            if direction * (above - below) < 0.0 or min(below, above) < low or max(below, above) > high:
                return NO_SPLIT
        return class_score(left, total, rule, logs) * rule.hessian_unit
    if not (p + l2) * (q + l2) > 0.0:
        return NO_SPLIT
    a = np.float64(left[T_GRADIENT])
    b = np.float64(total[T_GRADIENT] - left[T_GRADIENT])
    if rule.plain:
        return two_sides(a * a, b * b, p + l2, q + l2) * (rule.gradient_unit * rule.gradient_unit)
    a *= rule.gradient_unit
    b *= rule.gradient_unit
    below = leaf_value(a, p, rule.l1, l2, low, high)
    above = leaf_value(b, q, rule.l1, l2, low, high)
    if rule.path_smooth > 0.0:
        rows = left[T_COUNT]
        below = smoothed_value(below, rows, rule.path_smooth, value, low, high)
        above = smoothed_value(above, total[T_COUNT] - rows, rule.path_smooth, value, low, high)
    if direction * (above - below) < 0.0:
        return NO_SPLIT
    return score_of(a, p, below, rule.l1, l2) + score_of(b, q, above, rule.l1, l2)


@inner
def own_value(total: Ints, rule: ExactRule, low: Any, high: Any) -> Any:
    """The value of a node as one leaf that no other node draws to itself; of several outputs nothing is asked."""
    G = np.float64(total[T_GRADIENT]) * rule.gradient_unit
    H = np.float64(total[T_HESSIAN]) * rule.hessian_unit
    return leaf_value(G, H, rule.l1, rule.l2, low, high)


@inner
def own_score(total: Ints, rule: ExactRule, value: Any) -> Any:
    """The score of a node as one leaf of this value; entropy is counted from there, so that nothing is left of it here."""
    if rule.criterion == NEWTON:
        G = np.float64(total[T_GRADIENT]) * rule.gradient_unit
        H = np.float64(total[T_HESSIAN]) * rule.hessian_unit
        if rule.plain:
            return G * G / (H + rule.l2) if H + rule.l2 > 0.0 else 0.0
        return score_of(G, H, value, rule.l1, rule.l2)
    A = 0.0
    if rule.criterion == GINI or rule.criterion == VECTOR:
        for k in range(T_CLASSES, T_CLASSES + rule.n_classes):
            A += np.float64(total[k]) * np.float64(total[k])
    if rule.criterion == VECTOR:
        below = np.float64(total[T_HESSIAN]) * rule.hessian_unit + rule.l2
        return A * (rule.gradient_unit * rule.gradient_unit) / below if below > 0.0 else 0.0
    return A / np.float64(total[T_HESSIAN]) * rule.hessian_unit
