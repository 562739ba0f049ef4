"""The best cut of a node by one feature, from packed running sums: scores in 32 bits point to the few cuts worth 64.

Half the width is twice the cuts in one vector instruction. The sums themselves are integers and are subtracted as such,
so that a score in float32 is wrong by a few roundings at most; every cut that might still be the best is judged again in
float64, and the outcome is the same as if all of them had been.
"""

from typing import Any

import numpy as np

from woodwind.kernels.growing import BINS, QUICK_F, QUICK_I
from woodwind.kernels.intrinsics import halves_in, ints, lanes_in
from woodwind.kernels.jit import inner
from woodwind.kernels.layout import PACKED3
from woodwind.kernels.scan import B_RUN, BIN_ROWS, field_units

U = np.uint64
I4 = np.int32
F4 = np.float32

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


@inner
def gradient_of(run: Any, layout: Any) -> Any:
    """The gradient in a packed sum."""
    return run >> 36 if layout == PACKED3 else run >> 32


@inner
def hessian_of(run: Any, layout: Any) -> Any:
    """The hessian in a packed sum."""
    return (run >> 12) & 0xFFFFFF if layout == PACKED3 else run & 0xFFFFFFFF


@inner
def least_fields(rule: Any, layout: Any) -> Any:
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


@inner
def suffices(run: Any, layout: Any, limits: Any) -> Any:
    """Whether one side of a cut has enough rows and hessian."""
    count = run & 0xFFF if layout == PACKED3 else np.int64(0)
    return (count >= limits[0]) & (hessian_of(run, layout) >= limits[1])


@inner
def cut_range(runs: Any, k: Any, layout: Any, total: Any, extra: Any, limits: Any) -> Any:
    """First and past the last of the cuts after the first k bins that leave enough on both sides.

    Sums only grow from bin to bin, so that what fits is one stretch.
    """
    low = U(0)
    high = U(k)
    rest = total - extra
    while low + U(8) <= high and not suffices(runs[low + U(7)] + extra, layout, limits):
        low += U(8)
    while low < high and not suffices(runs[low] + extra, layout, limits):
        low += U(1)
    while high >= low + U(8) and not suffices(rest - runs[high - U(8)], layout, limits):
        high -= U(8)
    while high > low and not suffices(rest - runs[high - U(1)], layout, limits):
        high -= U(1)
    return low, high


@inner
def fill_fields(runs: Any, low: Any, high: Any, layout: Any, extra: Any, gradients: Any, hessians: Any) -> None:
    """Gradients and hessians to the left of each cut, as int32."""
    if layout == PACKED3:
        for j in range(U(low), U(high)):
            run = runs[j] + extra
            gradients[j] = I4(run >> 32) >> 4  # half as wide a shift, which vector code has
            hessians[j] = (run >> 12) & 0xFFFFFF
    else:
        for j in range(U(low), U(high)):
            run = runs[j] + extra
            gradients[j] = run >> 32
            hessians[j] = run & 0xFFFFFFFF


@inner
def fill_scores(gradients: Any, hessians: Any, low: Any, high: Any, totals: Any, l2: Any, scores: Any) -> None:
    """Scores of cuts in float32, in the units of the fields: a/b + c/d as (a d + c b) / (b d), one division for both sides."""
    G, H = totals
    rest = F4(min(max(l2, LEAST_L2), MOST_L2)) if l2 > 0.0 else F4(0.0)
    for j in range(U(low), U(high)):
        g = gradients[j]
        h = hessians[j]
        a = F4(g)
        b = F4(I4(G - g))
        p = F4(h) + rest
        q = F4(I4(H - h)) + rest
        scores[j] = (a * a * q + b * b * p) / (p * q)


@inner
def top_score(bits: Any, low: Any, high: Any) -> Any:
    """The largest of scores that are not negative, by their bits: integers are compared in vector code."""
    best = I4(-1)
    for j in range(U(low), U(high)):
        best = max(best, bits[j])
    return best


@inner
def next_above(bits: Any, place: Any, high: Any, least: Any) -> Any:
    """The first place from `place` on whose score is at least `least`; `high` if there is none."""
    here = U(place)
    past = U(high)
    while here + U(8) <= past:
        found = bits[here] >= least
        for k in range(U(1), U(8)):
            found |= bits[here + k] >= least
        if found:
            break
        here += U(8)
    while here < past and bits[here] < least:
        here += U(1)
    return np.int64(here)


@inner
def exact_score(run: Any, layout: Any, total: Any, l2: Any) -> Any:
    """The score of a cut in float64; total = (gradient, hessian, rows, unit of gradients, unit of hessians)."""
    a = np.float64(gradient_of(run, layout)) * total[3]
    p = np.float64(hessian_of(run, layout)) * total[4]
    b = total[0] - a
    below = p + l2
    above = total[1] - p + l2
    return (a * a * above + b * b * below) / (below * above)


@inner
def best_cut(growing: Any, thread: Any, layout: Any, k: Any, sums: Any, limits: Any, l2: Any, best: Any) -> Any:
    """Score and place of the best cut after the first k bins if it is above `best`, else `best` and -1.

    sums = (packed total, packed extra on the left, total as floats with its units). The first of equals wins.
    """
    whole, extra, total = sums
    runs = ints(growing, BINS)[BIN_ROWS * thread + B_RUN]
    low, high = cut_range(runs, k, layout, whole, extra, limits)
    if low >= high:
        return best, -1
    gradients = lanes_in(growing, QUICK_I)[QUICK_ROWS * thread + Q_GRADIENT]
    hessians = lanes_in(growing, QUICK_I)[QUICK_ROWS * thread + Q_HESSIAN]
    bits = lanes_in(growing, QUICK_I)[QUICK_ROWS * thread + Q_SCORE]
    scores = halves_in(growing, QUICK_F)[QUICK_ROWS * thread + Q_SCORE]
    fill_fields(runs, low, high, layout, extra, gradients, hessians)
    totals = (I4(gradient_of(whole, layout)), I4(hessian_of(whole, layout)))
    fill_scores(gradients, hessians, low, high, totals, l2 / total[4], scores)
    top = top_score(bits, low, high)
    bits[high] = top
    if np.float64(scores[high]) * MARGIN * (total[3] * total[3] / total[4]) < best:
        return best, -1
    least = I4(max(top - STEPS, 0))
    best_j = -1
    j = next_above(bits, low, high, least)
    while j < high:
        run = runs[j]
        score = exact_score(run + extra, layout, total, l2)
        if score > best:
            best = score
            best_j = j
        j = next_above(bits, j + 1, high, least)
        while j < high and runs[j] == run:  # an empty bin changes nothing
            j = next_above(bits, j + 1, high, least)
    return best, best_j
