"""The best cut of a node by one feature, from packed running sums: scores in 32 bits point to the few cuts worth 64.

Half the width is twice the cuts in one vector instruction. The sums themselves are integers and are subtracted as such,
so that a score in float32 is wrong by a few roundings at most; every cut that might still be the best is scored again in
float64, and the outcome is the same as if all of them had been.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.layout import PACKED3, Rule
from woodwind.kernels.histogram.scan import B_RUN, BIN_ROWS, field_units
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Tree

U = np.uint64
I4 = np.int32
F4 = np.float32
EIGHT = U(8)  # lanes of a vector
# Vector code takes four vectors at a time and does the rest one by one, which is slow: so there is none.
BLOCK = U(32)

# Rows of the scratch of a thread.
Q_GRADIENT = 0
Q_HESSIAN = 1
Q_SCORE = 2
QUICK_ROWS = 3

# Fewer than eighteen roundings of 2**-24 are behind a score, and as many behind the one that it is compared with: 2.2e-6 of it.
# So many of the smallest steps of a float32 are at least 3.8e-6 of it, and MARGIN is more than that.
STEPS = 64
MARGIN = 1.0 + 1e-5

# L2 in units of the hessians, which have 32 bits: more would overflow, and changes no order.
MOST_L2 = 2.0**60
LEAST_L2 = 1e-30


@inlined
def gradient_of(run: Any, layout: Any) -> Any:
    """The gradient in a packed sum."""
    return run >> 36 if layout == PACKED3 else run >> 32


@inlined
def hessian_of(run: Any, layout: Any) -> Any:
    """The hessian in a packed sum."""
    return (run >> 12) & 0xFFFFFF if layout == PACKED3 else run & 0xFFFFFFFF


@inner
def least_fields(rule: Rule, layout: Any) -> Any:
    """Fewest rows and least hessian of a side, in the units of the fields; without a count in the fields no limit of rows."""
    _, unit = field_units(rule, layout)
    hessian = rule.min_hessian
    rows = rule.min_rows
    if layout != PACKED3:
        rows = 0.0
        if rule.constant_hessian:
            hessian = max(hessian, rule.min_rows * rule.row_hessian * unit)
    least = min(np.ceil(hessian / unit), 2.0**40)
    return np.int64(np.ceil(rows)), np.int64(least)


@inlined
def suffices(run: Any, layout: Any, limits: Any) -> Any:
    """Whether one side of a cut has enough rows and hessian."""
    count = run & 0xFFF if layout == PACKED3 else np.int64(0)
    return (count >= limits[0]) & (hessian_of(run, layout) >= limits[1])


@inlined
def cut_range(runs: Any, k: Any, layout: Any, total: Any, extra: Any, limits: Any) -> Any:
    """First and past the last of the cuts after the first k bins that leave enough on both sides.

    Sums only grow from bin to bin, so that what fits is one stretch.
    """
    low = U(0)
    high = U(k)
    rest = total - extra
    while low + EIGHT <= high and not suffices(runs[low + EIGHT - U(1)] + extra, layout, limits):
        low += EIGHT
    while low < high and not suffices(runs[low] + extra, layout, limits):
        low += U(1)
    while high >= low + EIGHT and not suffices(rest - runs[high - EIGHT], layout, limits):
        high -= EIGHT
    while high > low and not suffices(rest - runs[high - U(1)], layout, limits):
        high -= U(1)
    return low, high


@inlined
def fill_fields(runs: Any, low: Any, blocks: Any, layout: Any, extra: Any, gradients: Any, hessians: Any) -> None:
    """Gradients and hessians to the left of the cuts from `low` on, as int32."""
    if layout == PACKED3:
        for j in range(low, low + BLOCK * blocks):
            run = runs[j] + extra
            gradients[j] = I4(run >> 32) >> 4  # half as wide a shift, which vector code has
            hessians[j] = (run >> 12) & 0xFFFFFF
    else:
        for j in range(low, low + BLOCK * blocks):
            run = runs[j] + extra
            gradients[j] = run >> 32
            hessians[j] = run & 0xFFFFFFFF


@inlined
def fill_scores(gradients: Any, hessians: Any, low: Any, blocks: Any, totals: Any, l2: Any, scores: Any) -> None:
    """Scores of cuts in float32, in the units of the fields: a/b + c/d as (a d + c b) / (b d), one division for both sides."""
    G, H = totals
    rest = F4(min(max(l2, LEAST_L2), MOST_L2)) if l2 > 0.0 else F4(0.0)
    for j in range(low, low + BLOCK * blocks):
        g = gradients[j]
        h = hessians[j]
        a = F4(g)
        b = F4(I4(G - g))
        p = F4(h) + rest
        q = F4(I4(H - h)) + rest
        scores[j] = (a * a * q + b * b * p) / (p * q)


@inlined
def top_score(bits: Any, low: Any, blocks: Any) -> Any:
    """The largest of scores that are not negative, by their bits: integers are compared in vector code."""
    best = I4(-1)
    for j in range(low, low + BLOCK * blocks):
        best = max(best, bits[j])
    return best


@inlined
def next_above(bits: Any, place: Any, high: Any, least: Any) -> Any:
    """The first place from `place` on whose score is at least `least`; `high` if there is none."""
    here = place
    while here + EIGHT <= high:
        found = bits[here] >= least
        for k in range(U(1), EIGHT):
            found |= bits[here + k] >= least
        if found:
            break
        here += EIGHT
    while here < high and bits[here] < least:
        here += U(1)
    return here


@inlined
def exact_score(run: Any, layout: Any, total: Any, l2: Any) -> Any:
    """The score of a cut in float64; total = (gradient, hessian, rows, unit of gradients, unit of hessians)."""
    a = np.float64(gradient_of(run, layout)) * total[3]
    p = np.float64(hessian_of(run, layout)) * total[4]
    b = total[0] - a
    below = p + l2
    above = total[1] - p + l2
    return (a * a * above + b * b * below) / (below * above)


@inlined
def best_cut(tree: Tree, thread: Any, layout: Any, k: Any, sums: Any, limits: Any, l2: Any, best: Any) -> Any:
    """Score and place of the best cut after the first k bins if it is above `best`, else `best` and -1.

    sums = (packed total, packed extra on the left, total as floats with its units). The first of equals wins.
    """
    whole, extra, total = sums
    runs = memory.all_bins(tree)[BIN_ROWS * thread + B_RUN]
    low, high = cut_range(runs, k, layout, whole, extra, limits)
    if low >= high:
        return best, -1
    gradients = memory.quick_integers(tree, QUICK_ROWS * thread + Q_GRADIENT)
    hessians = memory.quick_integers(tree, QUICK_ROWS * thread + Q_HESSIAN)
    bits = memory.quick_integers(tree, QUICK_ROWS * thread + Q_SCORE)
    scores = memory.quick_floats(tree, QUICK_ROWS * thread + Q_SCORE)
    blocks = (high - low + BLOCK - U(1)) // BLOCK
    fill_fields(runs, low, blocks, layout, extra, gradients, hessians)
    totals = (I4(gradient_of(whole, layout)), I4(hessian_of(whole, layout)))
    fill_scores(gradients, hessians, low, blocks, totals, l2 / total[4], scores)
    for behind in range(BLOCK):  # what is behind the last cut counts for nothing
        bits[high + behind] = -1
    top = top_score(bits, low, blocks)
    bits[high] = top
    if np.float64(scores[high]) * MARGIN * (total[3] * total[3] / total[4]) < best:
        return best, -1
    least = I4(max(top - STEPS, 0))
    best_j = np.int64(-1)
    j = next_above(bits, low, high, least)
    while j < high:
        run = runs[j]
        score = exact_score(run + extra, layout, total, l2)
        if score > best:
            best = score
            best_j = np.int64(j)
        j = next_above(bits, j + U(1), high, least)
        while j < high and runs[j] == run:  # an empty bin changes nothing
            j = next_above(bits, j + U(1), high, least)
    return best, best_j
