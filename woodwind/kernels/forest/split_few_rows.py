"""A few rows judged by all features at once, side by side, without putting them in order.

Half of the nodes of a full tree have three to eight rows. Each row is a candidate for the last one that goes left, and what goes left with
it is summed by comparing it with all others: n * n comparisons, but of eight features to an instruction.
"""

from typing import Any

import numpy as np

from woodwind.kernels.forest.best import note
from woodwind.kernels.forest.memory import (
    A_PAIR,
    B_HIGH,
    B_LOW,
    BEST,
    C_FIRST,
    CONTROL,
    CURVE,
    FINE,
    ITEMS,
    LOW_HALF,
    MISSING_CODE,
    PLACES,
    R_MOST,
    R_N_FEATURES,
    R_STRIDE,
    ROWS,
)
from woodwind.kernels.forest.order import fetch_codes
from woodwind.kernels.histogram.scan import NO_SPLIT
from woodwind.kernels.runtime.intrinsics import floats, int_list, row_list
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.tree.layout import STOP

U = np.uint64
ONE = np.uint64(1)

# Rows that are judged in this way.
MOST_ROWS = 8


@inlined
def line_of(growing: Any, j: Any) -> Any:
    """Where the codes of a row of the arena begin in FINE."""
    first = U(int_list(growing, CONTROL)[C_FIRST])
    place = U(row_list(growing, PLACES)[j])
    return U(row_list(growing, ROWS)[first + place]) * U(growing[R_STRIDE])


@inlined
def misses_some(growing: Any, begin: Any, end: Any) -> Any:
    """Whether any of the rows misses any value."""
    fine = row_list(growing, FINE)
    missing = False
    for j in range(begin, end):
        line = line_of(growing, j)
        for f in range(U(growing[R_N_FEATURES])):
            missing |= fine[line + f] == MISSING_CODE
    return missing


@inlined
def sum_up_to(growing: Any, own: Any, begin: Any, end: Any) -> None:
    """For each feature, sum the rows with no higher code than the row at `own` into ITEMS: (sum, both)."""
    fine = row_list(growing, FINE)
    a_pair = int_list(growing, A_PAIR)
    items = int_list(growing, ITEMS)
    most = U(growing[R_MOST])
    width = U(growing[R_N_FEATURES])
    for f in range(width):
        items[f] = 0
        items[most + f] = 0
    for j in range(begin, end):
        line = line_of(growing, j)
        place = U(row_list(growing, PLACES)[j])
        s = a_pair[place + place]
        both = a_pair[place + place + ONE]
        for f in range(width):
            here = fine[line + f] <= fine[own + f]
            items[f] += s if here else np.int64(0)
            items[most + f] += both if here else np.int64(0)


@inlined
def keep_scores(growing: Any, own: Any, candidate: Any, total: Any) -> None:
    """Score what was summed, and keep the candidate where it is the best so far, of equals the lowest code: CURVE[0] and ITEMS."""
    fine = row_list(growing, FINE)
    items = int_list(growing, ITEMS)
    most = U(growing[R_MOST])
    best = floats(growing, CURVE)[0]
    codes = items[most + most :]
    S = np.float64(total[0])
    W = np.float64(total[1] & LOW_HALF)
    for f in range(U(growing[R_N_FEATURES])):
        p = np.float64(items[most + f] & LOW_HALF)
        q = W - p
        a = np.float64(items[f])
        b = S - a
        score = (a * a * q + b * b * p) / (p * q)
        code = (np.int64(fine[own + f]) << 32) + candidate
        # Where all rows go left, the score is not a number.
        better = (score > best[f]) | ((score == best[f]) & (code < codes[f]))
        best[f] = score if better else best[f]
        codes[f] = code if better else codes[f]


@inner
def judge_few(growing: Any, begin: Any, end: Any, total: Any) -> Any:
    """Note the best split of three to eight rows by all features, all of them numbers; False, and nothing done, if a value is missing."""
    begin, end = U(begin), U(end)
    if misses_some(growing, begin, end):
        return False
    best = floats(growing, CURVE)[0]
    width = U(growing[R_N_FEATURES])
    most = U(growing[R_MOST])
    for f in range(width):
        best[f] = NO_SPLIT
    for j in range(begin, end):
        own = line_of(growing, j)
        sum_up_to(growing, own, begin, end)
        keep_scores(growing, own, np.int64(j), total)
    chosen = np.int64(-1)
    score = NO_SPLIT
    for f in range(width):
        if best[f] > score:
            score = best[f]
            chosen = np.int64(f)
    if chosen < 0:
        return True
    fine = row_list(growing, FINE)
    items = int_list(growing, ITEMS)
    own = line_of(growing, U(items[most + most + U(chosen)] & LOW_HALF))
    sum_up_to(growing, own, begin, end)
    note(growing, score, chosen, STOP, (items[U(chosen)], items[most + U(chosen)]))
    low = fine[own + U(chosen)]
    high = np.int32(MISSING_CODE)
    for j in range(begin, end):
        code = fine[line_of(growing, j) + U(chosen)]
        high = min(high, code if code > low else high)
    int_list(growing, BEST)[B_LOW] = low
    int_list(growing, BEST)[B_HIGH] = high
    # The rows are parted by the codes of the arena.
    fetch_codes(growing, chosen)
    return True
