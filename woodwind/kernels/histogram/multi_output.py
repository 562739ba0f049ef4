"""Trees with several outputs: one structure whose leaves hold a value for each.

A row has `lanes` int32 statistics: K gradients, one hessian that all outputs share, the count 1, and zeros up to a multiple
of four. A cell of a histogram has as many, so that a row is added to it by a few vector instructions.
The gain is the sum over the outputs of the gain of each, with the shared hessian (docs/algorithms/gradient-boosting.md).

Everything else is as for one output: the same loop, the same schedule, the same partition of rows.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory, scan
from woodwind.kernels.histogram.build_histograms import BLOCK_ROWS, BLOCK_WORDS
from woodwind.kernels.histogram.find_splits import draw_features
from woodwind.kernels.histogram.layout import Rule
from woodwind.kernels.histogram.sparse_rows import accumulate_lane_lists
from woodwind.kernels.histogram.verbs import can_split, pair_node
from woodwind.kernels.runtime.intrinsics import add_four, prefetch
from woodwind.kernels.runtime.jit import inlined, inner, kernel
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import category_sets
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import LEFT, NO_SPLIT, NOTHING, RIGHT

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
def bring_lanes(tree: Tree, rule: Rule, begin: Any, end: Any, rows: Any, words: Any, values: Any) -> None:
    """Copy the codes and statistics of rows[begin:end] to `words` (position by position) and `values` (row by row)."""
    by_row = memory.row_words(tree)
    stats = memory.lane_rows(tree)
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
def add_lanes(tree: Tree, words: Any, values: Any, m: Any, table: Any, rule: Rule) -> None:
    """Add a block of m rows to a table of lanes."""
    lanes = U(rule.lanes)
    fours = lanes // U(4)
    four = U(4)
    starts = memory.starts(tree)
    positions = memory.code_positions(tree)
    for f in range(rule.n_features):
        at, shift = U(positions[f] // 8) * U(m), U(8 * (positions[f] % 8))
        base = U(starts[f]) * lanes
        for i in range(U(m)):
            cell = base + ((words[at + i] >> shift) & U(255)) * lanes
            row = i * lanes
            for _k in range(fours):
                add_four(table, cell, values, row)
                cell += four
                row += four


@inner
def do_build_lanes(tree: Tree, rule: Rule, task: int, thread: int) -> None:
    """BUILD: the histogram of a node, or of a part of its rows."""
    node = memory.task_node(tree, task)
    begin = memory.task_begin(tree, task)
    end = memory.task_end(tree, task)
    table = memory.lane_histogram(tree, memory.slot(tree, node))
    if memory.task_part(tree, task) >= 0:
        table = memory.partial_lane_histogram(tree, memory.task_part(tree, task))
    for i in range(U(rule.n_cells * rule.lanes)):
        table[i] = 0
    rows = memory.rows_of_buffer(tree, memory.buffer(tree, node), rule.capacity)
    words = memory.block_words(tree, thread)
    values = memory.block_lanes(tree, thread)
    if rule.sparse:
        totals = values[: rule.lanes]
        for k in range(rule.lanes):
            totals[k] = 0
        accumulate_lane_lists(tree, rule, begin, end, rows, memory.flat_lanes(tree), table, totals)
        return
    step = max(64, min(BLOCK_ROWS, BLOCK_WORDS // rule.n_words))
    for first in range(begin, end, step):
        past = min(first + step, end)
        bring_lanes(tree, rule, first, past, rows, words, values)
        add_lanes(tree, words, values, past - first, table, rule)


@inner
def complete_lanes(tree: Tree, rule: Rule, pair: int, first: int, past: int) -> None:
    """Add up the parts of the smaller node's histogram and find the larger one's by difference, for features first to past."""
    begin = U(memory.start(tree, first) * rule.lanes)
    end = U(memory.start(tree, past) * rule.lanes)
    table = memory.lane_histogram(tree, memory.slot(tree, memory.pair_small(tree, pair)))
    for part in range(memory.pair_n_parts(tree, pair)):
        other = memory.partial_lane_histogram(tree, memory.pair_first_part(tree, pair) + part)
        for i in range(begin, end):
            table[i] = other[i] if part == 0 else table[i] + other[i]
    if memory.pair_large(tree, pair) >= 0:
        parent = memory.lane_histogram(tree, memory.pair_parent_slot(tree, pair))
        for i in range(begin, end):
            parent[i] -= table[i]


@inner
def order_by_output(table: Any, start: Any, size: Any, rule: Rule, codes: Any, order: Any, keys: Any) -> None:
    """Sort the categories codes[:size] by the mean gradient of the output that tells them apart best."""
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
    category_sets.argsort(keys, size, order)
    for j in range(size):
        keys[j] = codes[order[j]]
    for j in range(size):
        codes[j] = np.int64(keys[j])


@inlined
def missing_position(tree: Tree, feature: int) -> Any:
    """Where missing values are among the cells of a feature: they are the last."""
    return memory.start(tree, feature + 1) - memory.start(tree, feature) - 1


@inlined
def bins_in_order(tree: Tree, rule: Rule, table: Any, feature: int, thread: int) -> Any:
    """Codes of the occupied bins of a feature, in the order in which they may be cut; how many, and how many not missing."""
    bins = memory.all_bins(tree)[scan.BIN_ROWS * thread : scan.BIN_ROWS * thread + scan.BIN_ROWS]
    codes = bins[scan.B_CODE]
    lanes = rule.lanes
    start = memory.start(tree, feature) * lanes
    missing = missing_position(tree, feature)
    count = rule.outputs + 1
    k = np.int64(0)
    for b in range(memory.all_n_bins(tree)[feature]):
        codes[k] = b
        k += np.int64(table[start + b * lanes + count] != 0)
    codes[k] = missing
    size = k + np.int64(table[start + missing * lanes + count] != 0)
    if common.is_category(tree)[feature]:
        keys = memory.all_curves(tree)[scan.CURVE_ROWS * thread + scan.S_KEY]
        order_by_output(table, start, size, rule, codes, bins[scan.B_ORDER], keys)
    return size, k


@inlined
def fill_curves(table: Any, rule: Rule, start: Any, occupied: Any, codes: Any, last: Any, curves: Any) -> Any:
    """Running hessians and counts, and squared gradients to the left and right of each cut, summed over the outputs.

    occupied = (size, present, whether missing values are counted to the left); returns the squared gradient of the node.
    """
    size, present, missing_left = occupied
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
        target = curves[scan.S_GRADIENT if k < rule.outputs else (scan.S_HESSIAN if k == rule.outputs else scan.S_COUNT)]
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
def gains_lanes(rule: Rule, l2: Any, size: Any, last: Any, curves: Any) -> None:
    """Score of both sides for each cut, from what `fill_curves` has left."""
    square = rule.gradient_unit * rule.gradient_unit
    total_h = curves[scan.S_HESSIAN, size - 1] * rule.hessian_unit
    rows = curves[scan.S_COUNT, size - 1]
    for j in range(last):
        p = curves[scan.S_HESSIAN, j] * rule.hessian_unit
        n = curves[scan.S_COUNT, j]
        q = total_h - p
        fits = (n >= rule.min_rows) & (rows - n >= rule.min_rows) & (p >= rule.min_hessian) & (q >= rule.min_hessian)
        fits &= (p + l2 > 0.0) & (q + l2 > 0.0)
        curves[scan.S_GAIN, j] = (curves[S_LEFT, j] / (p + l2) + curves[S_RIGHT, j] / (q + l2)) * square if fits else scan.NO_SCORE


@inlined
def scan_lanes(tree: Tree, rule: Rule, table: Any, feature: int, thread: int) -> Any:
    """Best split of a node by one feature: gain, bin, side of missing values."""
    size, present = bins_in_order(tree, rule, table, feature, thread)
    if size < 2:  # none where all rows of the node have categories that the schema does not know
        return NO_SPLIT, -1, RIGHT
    codes = memory.all_bins(tree)[scan.BIN_ROWS * thread + scan.B_CODE]
    curves = memory.all_curves(tree)[scan.CURVE_ROWS * thread : scan.CURVE_ROWS * thread + scan.CURVE_ROWS]
    bits = memory.curve_bits(tree, scan.CURVE_ROWS * thread + scan.S_GAIN)
    category = common.is_category(tree)[feature] != 0
    l2 = rule.l2 + (rule.category_l2 if category else 0.0)
    start = memory.start(tree, feature) * rule.lanes
    best = scan.NO_SCORE
    best_j = -1
    side = RIGHT
    own = 0.0
    for turn in range(1 if size == present or present < 2 or category else 2):
        last = size - 1 if turn == 0 else present - 1
        own = fill_curves(table, rule, start, (size, present, turn == 1), codes, last, curves)
        gains_lanes(rule, l2, size, last, curves)
        j = scan.argmax(bits, last)
        if j >= 0 and curves[scan.S_GAIN, j] > best:
            best = curves[scan.S_GAIN, j]
            best_j = j
            side = RIGHT if turn == 0 else LEFT
    if best_j < 0:
        return NO_SPLIT, -1, RIGHT
    total_h = curves[scan.S_HESSIAN, size - 1] * rule.hessian_unit + rule.l2
    own = own * rule.gradient_unit * rule.gradient_unit / total_h if total_h > 0.0 else 0.0
    where = best_j
    if not category:
        where = memory.all_n_bins(tree)[feature] - 1
        if best_j + 1 < present:
            where = (codes[best_j] + codes[best_j + 1] - 1) // 2
    return best - own, where, side


@inner
def find_split_lanes(tree: Tree, rule: Rule, node: int, first: int, past: int, thread: int, out: Any) -> None:
    """Best split of a node among features first to past; written to row `out` of the findings."""
    table = memory.lane_histogram(tree, memory.slot(tree, node))
    drawn = memory.all_drawn(tree)[thread]
    common.set_split_gain(tree, out, NO_SPLIT)
    common.set_split_left_value(tree, out, 0.0)
    common.set_split_right_value(tree, out, 0.0)
    for k in range(draw_features(tree, rule, node, drawn)):
        f = drawn[k]
        if first <= f < past:
            gain, where, side = scan_lanes(tree, rule, table, f, thread)
            if gain > common.split_gain(tree, out):
                common.set_split_gain(tree, out, gain)
                common.set_split_feature(tree, out, f)
                common.set_split_bin(tree, out, where)
                common.set_split_missing(tree, out, side)
    f = common.split_feature(tree, out)
    if f >= 0 and common.is_category(tree)[f]:
        goes_left = common.split_sets(tree)[out]
        size, _present = bins_in_order(tree, rule, table, f, thread)
        codes = memory.all_bins(tree)[scan.BIN_ROWS * thread + scan.B_CODE]
        first = min(common.split_bin(tree, out) + 1, size)
        common.set_split_missing(tree, out, category_sets.write_first(codes, first, missing_position(tree, f), goes_left))


@inner
def do_find_lanes(tree: Tree, rule: Rule, task: int, thread: int) -> None:
    """FIND: complete the histograms of a pair for some features and find their best splits."""
    pair = memory.task_pair(tree, task)
    begin = memory.task_begin(tree, task)
    end = memory.task_end(tree, task)
    complete_lanes(tree, rule, pair, begin, end)
    for which in range(2):
        node = pair_node(tree, pair, which)
        common.set_split_feature(tree, 2 * task + which, NOTHING)
        if node >= 0 and can_split(tree, rule, node):
            find_split_lanes(tree, rule, node, begin, end, thread, 2 * task + which)
