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
from woodwind.kernels.runtime.intrinsics import add_four, copy_four, prefetch
from woodwind.kernels.runtime.jit import inlined, inner, kernel
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import category_sets
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import LEFT, NO_SPLIT, NOTHING, RIGHT

U = np.uint64
FOUR = U(4)
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
    stats = memory.flat_lanes(tree)
    last = U(end - 1)
    size = U(rule.n_words)
    lanes = U(rule.lanes)
    m = U(end - begin)
    for i in range(m):
        prefetch(by_row, U(rows[min(U(begin) + i + U(AHEAD), last)] >> 32) * size)
        row = U(rows[U(begin) + i] >> 32)
        for w in range(size):
            words[w * m + i] = by_row[row * size + w]
    target = U(0)
    for i in range(m):
        source = U(rows[U(begin) + i] >> 32) * lanes
        for _k in range(lanes // FOUR):
            copy_four(values, target, stats, source)
            source += FOUR
            target += FOUR


@inner
def add_lanes(tree: Tree, words: Any, values: Any, m: Any, table: Any, rule: Rule) -> None:
    """Add a block of m rows to a table of lanes."""
    lanes = U(rule.lanes)
    fours = lanes // FOUR
    starts = memory.starts(tree)
    positions = memory.code_positions(tree)
    for f in range(rule.n_features):
        at, shift = U(positions[f] // 8) * U(m), U(8 * (positions[f] % 8))
        base = U(starts[f]) * lanes
        if lanes == FOUR:  # two outputs: no loop within the loop
            for i in range(U(m)):
                add_four(table, base + ((words[at + i] >> shift) & U(255)) * FOUR, values, i * FOUR)
            continue
        for i in range(U(m)):
            cell = base + ((words[at + i] >> shift) & U(255)) * lanes
            row = i * lanes
            for _k in range(fours):
                add_four(table, cell, values, row)
                cell += FOUR
                row += FOUR


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
    """Codes of the categories of a feature that rows have, missing values among them, in the order in which they may be cut; how many."""
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
    keys = memory.all_curves(tree)[scan.CURVE_ROWS * thread + scan.S_KEY]
    order_by_output(table, start, size, rule, codes, bins[scan.B_ORDER], keys)
    return size


@inlined
def fill_curves(table: Any, rule: Rule, start: Any, size: Any, codes: Any, curves: Any) -> Any:
    """Running hessians and counts of categories in their order, and squared gradients to the left and right of each cut, summed over the
    outputs; returns the squared gradient of the node.
    """
    lanes = rule.lanes
    left = curves[S_LEFT]
    right = curves[S_RIGHT]
    for j in range(size):
        left[j] = 0.0
        right[j] = 0.0
    own = 0.0
    for k in range(rule.outputs + 2):
        run = np.int64(0)
        target = curves[scan.S_GRADIENT if k < rule.outputs else (scan.S_HESSIAN if k == rule.outputs else scan.S_COUNT)]
        for j in range(size):
            run += table[start + codes[j] * lanes + k]
            target[j] = run
        if k < rule.outputs:
            total = target[size - 1]
            own += total * total
            for j in range(U(size - 1)):
                a = target[j]
                left[j] += a * a
                right[j] += (total - a) * (total - a)
    return own


@inlined
def gains_lanes(rule: Rule, l2: Any, whole_h: Any, rows: Any, last: Any, curves: Any) -> None:
    """Score of both sides for each of `last` cuts, from running sums and squares; whole_h and rows are of the node."""
    square = rule.gradient_unit * rule.gradient_unit
    total_h = whole_h * rule.hessian_unit
    hessian = curves[scan.S_HESSIAN]
    count = curves[scan.S_COUNT]
    left = curves[S_LEFT]
    right = curves[S_RIGHT]
    gain = curves[scan.S_GAIN]
    for j in range(U(last)):
        p = hessian[j] * rule.hessian_unit
        n = count[j]
        q = total_h - p
        fits = (n >= rule.min_rows) & (rows - n >= rule.min_rows) & (p >= rule.min_hessian) & (q >= rule.min_hessian)
        fits &= (p + l2 > 0.0) & (q + l2 > 0.0) & (n > 0.0) & (rows > n)
        score = (left[j] / (p + l2) + right[j] / (q + l2)) * square
        gain[j] = score if fits else scan.NO_SCORE


@inlined
def occupied_range(tree: Tree, rule: Rule, table: Any, feature: int) -> Any:
    """First and last occupied bin of a feature of numbers, (1, 0) where there is none, and whether values are missing."""
    lanes = U(rule.lanes)
    start = U(memory.start(tree, feature)) * lanes + U(rule.outputs + 1)
    n_bins = U(memory.all_n_bins(tree)[feature])
    low = U(0)
    while low < n_bins and table[start + low * lanes] == 0:
        low += U(1)
    has_missing = table[start + U(missing_position(tree, feature)) * lanes] != 0
    if low == n_bins:
        return U(1), U(0), has_missing
    high = n_bins - U(1)
    while table[start + high * lanes] == 0:
        high -= U(1)
    return low, high, has_missing


@inlined
def fill_sums(table: Any, rule: Rule, start: Any, missing: Any, size: Any, missing_left: Any, curves: Any) -> Any:
    """Running sums of `size` bins from `start` on, empty ones included, and squared gradients to the left and right of each, summed over
    the outputs; `missing` is the cell of missing values, which are to the left of all bins or not counted.

    Returns the squared gradient of the node. Two outputs, as most distributions have, are read bin by bin.
    """
    lanes = U(rule.lanes)
    outputs = U(rule.outputs)
    left = curves[S_LEFT]
    right = curves[S_RIGHT]
    if rule.outputs == 2:
        first = curves[scan.S_GRADIENT]
        second = curves[scan.S_KEY]
        hessian = curves[scan.S_HESSIAN]
        count = curves[scan.S_COUNT]
        a = np.int64(table[missing]) if missing_left else np.int64(0)
        b = np.int64(table[missing + U(1)]) if missing_left else np.int64(0)
        h = np.int64(table[missing + U(2)]) if missing_left else np.int64(0)
        n = np.int64(table[missing + U(3)]) if missing_left else np.int64(0)
        at = start
        for j in range(size):
            a += table[at]
            b += table[at + U(1)]
            h += table[at + U(2)]
            n += table[at + U(3)]
            first[j] = a
            second[j] = b
            hessian[j] = h
            count[j] = n
            at += lanes
        whole_a = np.float64(a if missing_left else a + table[missing])
        whole_b = np.float64(b if missing_left else b + table[missing + U(1)])
        for j in range(size):
            x = first[j]
            y = second[j]
            left[j] = x * x + y * y
            right[j] = (whole_a - x) * (whole_a - x) + (whole_b - y) * (whole_b - y)
        return whole_a * whole_a + whole_b * whole_b
    for j in range(size):
        left[j] = 0.0
        right[j] = 0.0
    own = 0.0
    for k in range(outputs + U(2)):
        run = np.int64(table[missing + k]) if missing_left else np.int64(0)
        target = curves[scan.S_GRADIENT if k < outputs else (scan.S_HESSIAN if k == outputs else scan.S_COUNT)]
        at = start + k
        for j in range(size):
            run += table[at]
            target[j] = run
            at += lanes
        if k < outputs:
            total = np.float64(run if missing_left else run + table[missing + k])
            own += total * total
            for j in range(size):
                a_sum = target[j]
                left[j] += a_sum * a_sum
                right[j] += (total - a_sum) * (total - a_sum)
    return own


@inlined
def scan_numbers(tree: Tree, rule: Rule, table: Any, feature: int, thread: int) -> Any:
    """Best split of a node by a feature of numbers: gain, bin, side of missing values.

    Empty bins are scored as well, because vector code does that sooner than it leaves them out; the first of equal scores is that of the
    occupied bin before them.
    """
    low, high, has_missing = occupied_range(tree, rule, table, feature)
    if low > high or (low == high and not has_missing):
        return NO_SPLIT, -1, RIGHT
    lanes = U(rule.lanes)
    cells = U(memory.start(tree, feature)) * lanes
    start = cells + low * lanes
    missing = cells + U(missing_position(tree, feature)) * lanes
    size = high - low + U(1)
    curves = memory.all_curves(tree)[scan.CURVE_ROWS * thread : scan.CURVE_ROWS * thread + scan.CURVE_ROWS]
    bits = memory.curve_bits(tree, scan.CURVE_ROWS * thread + scan.S_GAIN)
    outputs = U(rule.outputs)
    best = scan.NO_SCORE
    best_j = np.int64(-1)
    side = RIGHT
    own = 0.0
    whole_h = 0.0
    for turn in range(2 if has_missing and low < high else 1):
        own = fill_sums(table, rule, start, missing, size, turn == 1, curves)
        whole_h = curves[scan.S_HESSIAN, size - U(1)]
        rows = curves[scan.S_COUNT, size - U(1)]
        if turn == 0:
            whole_h += table[missing + outputs]
            rows += table[missing + outputs + U(1)]
        # After the last bin there are missing values alone, if those are on the right.
        last = size if turn == 0 and has_missing else size - U(1)
        gains_lanes(rule, rule.l2, whole_h, rows, last, curves)
        j = scan.argmax(bits, last)
        if j >= 0 and curves[scan.S_GAIN, j] > best:
            best = curves[scan.S_GAIN, j]
            best_j = j
            side = RIGHT if turn == 0 else LEFT
    if best_j < 0:
        return NO_SPLIT, -1, RIGHT
    total_h = whole_h * rule.hessian_unit + rule.l2
    own = own * rule.gradient_unit * rule.gradient_unit / total_h if total_h > 0.0 else 0.0
    where = np.int64(memory.all_n_bins(tree)[feature] - 1)
    bin_left = low + U(best_j)
    if bin_left < high:
        following = bin_left + U(1)
        while table[cells + following * lanes + outputs + U(1)] == 0:
            following += U(1)
        where = np.int64((bin_left + following - U(1)) // U(2))
    return best - own, where, side


@inlined
def scan_categories(tree: Tree, rule: Rule, table: Any, feature: int, thread: int) -> Any:
    """Best split of a node by a feature of categories: gain, how many of them in their order go left."""
    size = bins_in_order(tree, rule, table, feature, thread)
    if size < 2:  # none where all rows of the node have categories that the schema does not know
        return NO_SPLIT, -1, RIGHT
    codes = memory.all_bins(tree)[scan.BIN_ROWS * thread + scan.B_CODE]
    curves = memory.all_curves(tree)[scan.CURVE_ROWS * thread : scan.CURVE_ROWS * thread + scan.CURVE_ROWS]
    bits = memory.curve_bits(tree, scan.CURVE_ROWS * thread + scan.S_GAIN)
    start = memory.start(tree, feature) * rule.lanes
    last = size - 1
    own = fill_curves(table, rule, start, size, codes, curves)
    gains_lanes(rule, rule.l2 + rule.category_l2, curves[scan.S_HESSIAN, last], curves[scan.S_COUNT, last], last, curves)
    j = scan.argmax(bits, last)
    if j < 0:
        return NO_SPLIT, -1, RIGHT
    total_h = curves[scan.S_HESSIAN, last] * rule.hessian_unit + rule.l2
    own = own * rule.gradient_unit * rule.gradient_unit / total_h if total_h > 0.0 else 0.0
    return curves[scan.S_GAIN, j] - own, j, RIGHT


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
            if common.is_category(tree)[f]:
                gain, where, side = scan_categories(tree, rule, table, f, thread)
            else:
                gain, where, side = scan_numbers(tree, rule, table, f, thread)
            if gain > common.split_gain(tree, out):
                common.set_split_gain(tree, out, gain)
                common.set_split_feature(tree, out, f)
                common.set_split_bin(tree, out, where)
                common.set_split_missing(tree, out, side)
    f = common.split_feature(tree, out)
    if f >= 0 and common.is_category(tree)[f]:
        goes_left = common.split_sets(tree)[out]
        size = bins_in_order(tree, rule, table, f, thread)
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
