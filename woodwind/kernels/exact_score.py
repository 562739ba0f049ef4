"""How good a split is: float64 functions of integer sums.

Both sides enter every expression alike, so that a split and its mirror image tie. Where sums of squares or of logarithms could
depend on the order of the classes, they are integers too.
"""

import math
from typing import Any

import numpy as np

from woodwind.kernels.exact_layout import GINI, NEWTON, T_CLASSES, T_GRADIENT, T_HESSIAN
from woodwind.kernels.jit import inner, kernel
from woodwind.kernels.scan import NO_SPLIT, leaf_value, score_of

U = np.uint64


@inner
def two_sides(A: Any, B: Any, below: Any, above: Any) -> Any:
    """A / below + B / above, with one division; both sides enter alike."""
    return (A * above + B * below) / (below * above)


@inner
def newton_score(left: Any, total: Any, rule: Any, l2: Any, bounds: Any) -> Any:
    """Twice the drop in loss by two leaves (Chen & Guestrin 2016, Eq. 7), or NO_SPLIT; left and total = (gradient, hessian, count)."""
    g, h, c = left
    G, H, C = total
    p = np.float64(h) * rule.hessian_unit
    q = np.float64(H - h) * rule.hessian_unit
    if c < rule.min_rows or C - c < rule.min_rows or p < rule.min_hessian or q < rule.min_hessian or not (p + l2) * (q + l2) > 0.0:
        return NO_SPLIT
    a = np.float64(g)
    b = np.float64(G - g)
    if rule.plain:
        return two_sides(a * a, b * b, p + l2, q + l2) * (rule.gradient_unit * rule.gradient_unit)
    low, high, direction = bounds
    a *= rule.gradient_unit
    b *= rule.gradient_unit
    below = leaf_value(a, p, rule.l1, l2, low, high)
    above = leaf_value(b, q, rule.l1, l2, low, high)
    if direction * (above - below) < 0.0:
        return NO_SPLIT
    return score_of(a, p, below, rule.l1, l2) + score_of(b, q, above, rule.l1, l2)


@inner
def x_log_x(x: Any, rule: Any, logs: Any) -> Any:
    """x log2 x of a whole number in fixed point, so that sums of it do not depend on the order of the classes; small ones are looked up."""
    if x < len(logs):
        return logs[U(x)]
    return np.int64(np.rint(np.float64(x) * math.log2(np.float64(x)) * rule.log_scale))


@kernel
def fill_logs(scale: Any, out: Any) -> None:
    """The table of x log2 x, in fixed point, for whole x below its length: out int64[m]."""
    out[0] = 0
    for x in range(1, len(out)):
        out[x] = np.int64(np.rint(np.float64(x) * math.log2(np.float64(x)) * scale))


@inner
def class_score(left: Any, w: Any, total: Any, rule: Any, logs: Any) -> Any:
    """How pure two leaves are, in units of weight; `left` has the weight of each class and `w` their sum.

    Gini: the sum of squares over the sum (Breiman et al. 1984). Entropy: the bits that it takes less to name the classes than
    in the node itself (Quinlan 1986).
    """
    W = total[T_HESSIAN]
    if rule.criterion == GINI:
        A = 0.0
        B = 0.0
        for k in range(rule.n_classes):
            a = np.float64(left[k])
            b = np.float64(total[T_CLASSES + k] - left[k])
            A += a * a
            B += b * b
        return two_sides(A, B, np.float64(w), np.float64(W - w))
    bits = total[T_GRADIENT] - x_log_x(w, rule, logs) - x_log_x(W - w, rule, logs)
    for k in range(rule.n_classes):
        bits += x_log_x(left[k], rule, logs) + x_log_x(total[T_CLASSES + k] - left[k], rule, logs)
    return np.float64(bits) / rule.log_scale


@inner
def bits_of(total: Any, rule: Any, logs: Any) -> Any:
    """Bits that name the classes of the rows of a node, in fixed point."""
    bits = x_log_x(total[T_HESSIAN], rule, logs)
    for k in range(rule.n_classes):
        bits -= x_log_x(total[T_CLASSES + k], rule, logs)
    return bits


@inner
def allowed_classes(left: Any, w: Any, total: Any, bounds: Any) -> Any:
    """Whether the shares of the second class keep their bounds and their direction."""
    low, high, direction = bounds
    below = np.float64(left[1]) / np.float64(w)
    above = np.float64(total[T_CLASSES + 1] - left[1]) / np.float64(total[T_HESSIAN] - w)
    return direction * (above - below) >= 0.0 and min(below, above) >= low and max(below, above) <= high


@inner
def own_score(total: Any, rule: Any, low: Any, high: Any) -> Any:
    """The score of a node as one leaf; entropy is counted from there, so that nothing is left of it here."""
    if rule.criterion == NEWTON:
        G = np.float64(total[T_GRADIENT]) * rule.gradient_unit
        H = np.float64(total[T_HESSIAN]) * rule.hessian_unit
        if rule.plain:
            return G * G / (H + rule.l2) if H + rule.l2 > 0.0 else 0.0
        return score_of(G, H, leaf_value(G, H, rule.l1, rule.l2, low, high), rule.l1, rule.l2)
    if rule.criterion != GINI:
        return 0.0
    A = 0.0
    for k in range(rule.n_classes):
        A += np.float64(total[T_CLASSES + k]) * np.float64(total[T_CLASSES + k])
    return A / np.float64(total[T_HESSIAN]) * rule.hessian_unit
