"""Trees with several outputs: one structure whose leaves hold a value for each.

A row has `lanes` int32 statistics: K gradients, one hessian that all outputs share, the count 1, and zeros up to a multiple
of four. A cell of a histogram has as many, so that a row is added to it by a few vector instructions.
The gain is the sum over the outputs of the gain of each, with the shared hessian (docs/algorithms/gradient-boosting.md).

Everything else is as for one output: kernels/histogram/loop.py plans, kernels/histogram/tasks.py splits and collects.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.build_histograms import BLOCK_ROWS, BLOCK_WORDS
from woodwind.kernels.histogram.candidates import draw_features
from woodwind.kernels.histogram.loop import next_task
from woodwind.kernels.histogram.memory import (
    BINS,
    BY_ROW,
    CONTROL,
    CURVE_BITS,
    CURVES,
    DRAWN,
    FOUND_F,
    FOUND_I,
    FOUND_SETS,
    IS_CATEGORY,
    ITEMS,
    LANE_LIST,
    LANE_VALUES,
    LANES,
    N_BINS,
    NODE_I,
    PARTS,
    PLACES,
    ROWS,
    STARTS,
    TABLES,
    TASKS,
    WORDS,
)
from woodwind.kernels.histogram.scan import (
    B_CODE,
    B_PLACE,
    BIN_ROWS,
    CURVE_ROWS,
    NO_SCORE,
    NO_SPLIT,
    S_COUNT,
    S_GAIN,
    S_GRADIENT,
    S_HESSIAN,
    S_KEY,
    largest,
    sort_places,
)
from woodwind.kernels.histogram.sparse_rows import accumulate_lane_lists
from woodwind.kernels.histogram.tasks import (
    I_LARGE,
    I_N_PARTS,
    I_PARENT,
    I_PARTS,
    I_SMALL,
    JUDGE,
    PLACE,
    SPLIT,
    SUM,
    T_BEGIN,
    T_END,
    T_OUT,
    T_WHAT,
    can_split,
    do_collect,
    do_split,
)
from woodwind.kernels.runtime.intrinsics import (
    add_four,
    floats,
    get_listed,
    int_list,
    int_part,
    ints,
    lanes_in,
    prefetch,
    row_list,
    word_list,
    words_in,
)
from woodwind.kernels.runtime.jit import inlined, inner, kernel
from woodwind.kernels.runtime.team import KIND, finish_task
from woodwind.kernels.tree.layout import LEFT, N_BUFFER, N_SLOT, RIGHT

U = np.uint64
AHEAD = 24  # rows between asking for one and its use
S_RIGHT = 5  # row of the float scratch: squared gradients to the right, summed over the outputs
S_LEFT = 6  # and to the left


@kernel
def fill_lanes(gradients: Any, order: Any, shift: Any, begin: Any, end: Any, out: Any) -> None:
    """Statistics of rows begin to end: the upper bits of gradients int32[n, K + 1], rounded, and the count; order as in `fill_rows`."""
    width = gradients.shape[1]
    half = np.int64(1) << (shift - 1)
    for i in range(begin, end):
        row = i if order is None else order[i]
        for k in range(width):
            out[i, k] = (gradients[row, k] + half) >> shift
        out[i, width] = 1
        for k in range(width + 1, out.shape[1]):
            out[i, k] = 0


@kernel
def sum_leaves(leaf: Any, gradients: Any, hessians: Any, rows: Any, out: Any) -> None:
    """Add the unrounded gradients int32[n, K + 1] and hessians int32[n, K] of each row to its node in out int64[N, 2 K]."""
    width = hessians.shape[1]
    n = len(leaf) if rows is None else len(rows)
    for i in range(n):
        row = i if rows is None else rows[i]
        node = leaf[row]
        for k in range(width):
            out[node, k] += gradients[row, k]
            out[node, width + k] += hessians[row, k]


@inner
def bring_lanes(growing: Any, rule: Any, begin: Any, end: Any, rows: Any, words: Any, values: Any) -> None:
    """Copy the codes and statistics of rows[begin:end] to `words` (position by position) and `values` (row by row)."""
    by_row = word_list(growing, BY_ROW)
    stats = lanes_in(growing, LANES)
    last = U(end - 1)
    size = U(rule.n_words)
    lanes = U(rule.lanes)
    m = U(end - begin)
    for i in range(m):
        prefetch(by_row, U(rows[min(U(begin) + i + U(AHEAD), last)] >> 32) * size)
        row = U(rows[U(begin) + i] >> 32)
        for w in range(size):
            words[w * m + i] = by_row[row * size + w]
        for k in range(lanes):
            values[i * lanes + k] = stats[row, k]


@inner
def add_lanes(growing: Any, words: Any, values: Any, m: Any, table: Any, rule: Any) -> None:
    """Add a block of m rows to a table of lanes."""
    lanes = U(rule.lanes)
    fours = lanes // U(4)
    four = U(4)
    starts = int_list(growing, STARTS)
    places = int_list(growing, PLACES)
    for f in range(rule.n_features):
        at, shift = U(places[f] // 8) * U(m), U(8 * (places[f] % 8))
        base = U(starts[f]) * lanes
        for i in range(U(m)):
            cell = base + ((words[at + i] >> shift) & U(255)) * lanes
            row = i * lanes
            for _k in range(fours):
                add_four(table, cell, values, row)
                cell += four
                row += four


@inner
def sum_lanes(growing: Any, rule: Any, task: Any, thread: Any) -> None:
    """SUM: the histogram of a node, or of a part of its rows."""
    what = ints(growing, TASKS)[task]
    node = ints(growing, NODE_I)[what[T_WHAT]]
    table = lanes_in(growing, TABLES)[node[N_SLOT]]
    if what[T_OUT] >= 0:
        table = lanes_in(growing, PARTS)[what[T_OUT]]
    for i in range(U(rule.n_cells * rule.lanes)):
        table[i] = 0
    rows = int_part(growing, ROWS, node[N_BUFFER], rule.capacity)
    words = words_in(growing, WORDS)[thread]
    values = lanes_in(growing, LANE_VALUES)[thread]
    if rule.sparse:
        totals = values[: rule.lanes]
        for k in range(rule.lanes):
            totals[k] = 0
        stats = row_list(growing, LANE_LIST)
        accumulate_lane_lists(growing, rule, what[T_BEGIN], what[T_END], rows, stats, table, totals)
        return
    step = max(64, min(BLOCK_ROWS, BLOCK_WORDS // rule.n_words))
    for first in range(what[T_BEGIN], what[T_END], step):
        past = min(first + step, what[T_END])
        bring_lanes(growing, rule, first, past, rows, words, values)
        add_lanes(growing, words, values, past - first, table, rule)


@inner
def complete_lanes(growing: Any, rule: Any, item: Any, first: Any, past: Any) -> None:
    """Add up the parts of the smaller node and find the larger one by difference, for features first to past."""
    begin = U(get_listed(growing, STARTS, first) * rule.lanes)
    end = U(get_listed(growing, STARTS, past) * rule.lanes)
    tables = lanes_in(growing, TABLES)
    table = tables[ints(growing, NODE_I)[item[I_SMALL], N_SLOT]]
    for part in range(item[I_N_PARTS]):
        other = lanes_in(growing, PARTS)[item[I_PARTS] + part]
        for i in range(begin, end):
            table[i] = other[i] if part == 0 else table[i] + other[i]
    if item[I_LARGE] >= 0:
        parent = tables[item[I_PARENT]]
        for i in range(begin, end):
            parent[i] -= table[i]


@inner
def order_by_class(table: Any, start: Any, size: Any, rule: Any, codes: Any, places: Any, keys: Any) -> None:
    """Sort the levels codes[:size] by the mean gradient of the output that tells them apart best."""
    lanes = rule.lanes
    outputs = rule.outputs
    best = 0
    widest = -1.0
    for k in range(outputs):
        spread = 0.0
        for j in range(size):
            cell = start + codes[j] * lanes
            g = table[cell + k] * rule.gradient_unit
            spread += g * g / (table[cell + outputs] * rule.hessian_unit + rule.category_smooth)
        if spread > widest:
            widest = spread
            best = k
    for j in range(size):
        cell = start + codes[j] * lanes
        keys[j] = table[cell + best] * rule.gradient_unit / (table[cell + outputs] * rule.hessian_unit + rule.category_smooth)
    sort_places(keys, size, places)
    for j in range(size):
        keys[j] = codes[places[j]]
    for j in range(size):
        codes[j] = np.int64(keys[j])


@inlined
def missing_place(growing: Any, feature: Any) -> Any:
    """Where missing values are among the cells of a feature: they are the last."""
    return get_listed(growing, STARTS, feature + 1) - get_listed(growing, STARTS, feature) - 1


@inlined
def level_order(growing: Any, rule: Any, table: Any, feature: Any, thread: Any) -> Any:
    """Codes of the occupied bins of a feature, in the order in which they may be cut; how many, and how many not missing."""
    bins = ints(growing, BINS)[BIN_ROWS * thread : BIN_ROWS * thread + BIN_ROWS]
    codes = bins[B_CODE]
    lanes = rule.lanes
    start = get_listed(growing, STARTS, feature) * lanes
    missing = missing_place(growing, feature)
    count = rule.outputs + 1
    k = np.int64(0)
    for b in range(int_list(growing, N_BINS)[feature]):
        codes[k] = b
        k += np.int64(table[start + b * lanes + count] != 0)
    codes[k] = missing
    size = k + np.int64(table[start + missing * lanes + count] != 0)
    if int_list(growing, IS_CATEGORY)[feature]:
        keys = floats(growing, CURVES)[CURVE_ROWS * thread + S_KEY]
        order_by_class(table, start, size, rule, codes, bins[B_PLACE], keys)
    return size, k


@inlined
def fill_curves(table: Any, rule: Any, start: Any, found: Any, codes: Any, last: Any, curves: Any) -> Any:
    """Running hessians and counts, and squared gradients to the left and right of each cut, summed over the outputs.

    found = (size, present, whether missing values are counted to the left); returns the squared gradient of the node.
    """
    size, present, missing_left = found
    lanes = rule.lanes
    left = curves[S_LEFT]
    right = curves[S_RIGHT]
    for j in range(size):
        left[j] = 0.0
        right[j] = 0.0
    own = 0.0
    for k in range(rule.outputs + 2):
        run = np.int64(0)
        if missing_left:
            run = np.int64(table[start + codes[present] * lanes + k])
        target = curves[S_GRADIENT if k < rule.outputs else (S_HESSIAN if k == rule.outputs else S_COUNT)]
        for j in range(size):
            if j < present or not missing_left:
                run += table[start + codes[j] * lanes + k]
            target[j] = run
        if k < rule.outputs:
            total = target[size - 1]
            own += total * total
            for j in range(U(last)):
                a = target[j]
                left[j] += a * a
                right[j] += (total - a) * (total - a)
    return own


@inlined
def gains_lanes(rule: Any, l2: Any, size: Any, last: Any, curves: Any) -> None:
    """Score of both sides for each cut, from what `fill_curves` has left."""
    square = rule.gradient_unit * rule.gradient_unit
    total_h = curves[S_HESSIAN, size - 1] * rule.hessian_unit
    rows = curves[S_COUNT, size - 1]
    for j in range(last):
        p = curves[S_HESSIAN, j] * rule.hessian_unit
        n = curves[S_COUNT, j]
        q = total_h - p
        fits = (n >= rule.min_rows) & (rows - n >= rule.min_rows) & (p >= rule.min_hessian) & (q >= rule.min_hessian)
        fits &= (p + l2 > 0.0) & (q + l2 > 0.0)
        curves[S_GAIN, j] = (curves[S_LEFT, j] / (p + l2) + curves[S_RIGHT, j] / (q + l2)) * square if fits else NO_SCORE


@inlined
def scan_lanes(growing: Any, rule: Any, table: Any, feature: Any, thread: Any) -> Any:
    """Best split of a node by one feature: gain, bin, side of missing values."""
    size, present = level_order(growing, rule, table, feature, thread)
    codes = ints(growing, BINS)[BIN_ROWS * thread + B_CODE]
    curves = floats(growing, CURVES)[CURVE_ROWS * thread : CURVE_ROWS * thread + CURVE_ROWS]
    bits = ints(growing, CURVE_BITS)[CURVE_ROWS * thread + S_GAIN]
    category = int_list(growing, IS_CATEGORY)[feature] != 0
    l2 = rule.l2 + (rule.category_l2 if category else 0.0)
    start = get_listed(growing, STARTS, feature) * rule.lanes
    best = NO_SCORE
    best_j = -1
    side = RIGHT
    own = 0.0
    for turn in range(1 if size == present or present < 2 or category else 2):
        last = size - 1 if turn == 0 else present - 1
        own = fill_curves(table, rule, start, (size, present, turn == 1), codes, last, curves)
        gains_lanes(rule, l2, size, last, curves)
        j = largest(bits, last)
        if j >= 0 and curves[S_GAIN, j] > best:
            best = curves[S_GAIN, j]
            best_j = j
            side = RIGHT if turn == 0 else LEFT
    if best_j < 0:
        return NO_SPLIT, -1, RIGHT
    total_h = curves[S_HESSIAN, size - 1] * rule.hessian_unit + rule.l2
    own = own * rule.gradient_unit * rule.gradient_unit / total_h if total_h > 0.0 else 0.0
    where = best_j
    if not category:
        where = int_list(growing, N_BINS)[feature] - 1
        if best_j + 1 < present:
            where = (codes[best_j] + codes[best_j + 1] - 1) // 2
    return best - own, where, side


@inner
def judge_lanes(growing: Any, rule: Any, node: Any, first: Any, past: Any, thread: Any, out: Any) -> None:
    """Best split of a node among features first to past; written to row `out` of the findings."""
    table = lanes_in(growing, TABLES)[ints(growing, NODE_I)[node, N_SLOT]]
    drawn = ints(growing, DRAWN)[thread]
    found_f = floats(growing, FOUND_F)[out]
    found_i = ints(growing, FOUND_I)[out]
    found_f[0] = NO_SPLIT
    found_f[1] = 0.0
    found_f[2] = 0.0
    for k in range(draw_features(growing, rule, node, drawn)):
        f = drawn[k]
        if first <= f < past:
            gain, where, side = scan_lanes(growing, rule, table, f, thread)
            if gain > found_f[0]:
                found_f[0] = gain
                found_i[0] = f
                found_i[1] = where
                found_i[2] = side
    f = found_i[0]
    if f >= 0 and int_list(growing, IS_CATEGORY)[f]:
        found_set = words_in(growing, FOUND_SETS)[out]
        size, _present = level_order(growing, rule, table, f, thread)
        codes = ints(growing, BINS)[BIN_ROWS * thread + B_CODE]
        found_i[2] = RIGHT
        for word in range(4):
            found_set[word] = 0
        for j in range(min(found_i[1] + 1, size)):
            if codes[j] == missing_place(growing, f):
                found_i[2] = LEFT
            else:
                found_set[codes[j] >> 6] |= U(1) << U(codes[j] & 63)


@kernel
def take_part_lanes(growing: Any, rule: Any, n_rows: Any, thread: Any, threads: Any) -> None:
    """Grow one tree of several outputs: as the leader if `thread` is 0, otherwise as a helper."""
    while True:
        task = next_task(growing, rule, n_rows, thread, threads, None)
        if task < 0:
            return
        kind = get_listed(growing, CONTROL, KIND)
        if kind == SPLIT or kind == PLACE:
            do_split(growing, rule, task, kind == PLACE)
        elif kind == SUM:
            sum_lanes(growing, rule, task, thread)
        elif kind == JUDGE:
            what = ints(growing, TASKS)[task]
            item = ints(growing, ITEMS)[what[T_WHAT]]
            complete_lanes(growing, rule, item, what[T_BEGIN], what[T_END])
            for which in range(2):
                ints(growing, FOUND_I)[2 * task + which, 0] = -1
                if item[which] >= 0 and can_split(growing, rule, item[which]):
                    judge_lanes(growing, rule, item[which], what[T_BEGIN], what[T_END], thread, 2 * task + which)
        else:
            do_collect(growing, rule, task)
        finish_task(int_list(growing, CONTROL))
