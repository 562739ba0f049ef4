"""The best split of a node by one feature: bins to running sums to gains to the best cut."""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory, scan
from woodwind.kernels.histogram.layout import PACKED3, WIDE2, Rule
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.keys import keep_some, put_in_order
from woodwind.kernels.runtime.records import Floats, Ints, Tree
from woodwind.kernels.tree import category_sets, nodes
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.constraints import keep_candidates
from woodwind.kernels.tree.layout import LEFT, NO_SPLIT, RIGHT
from woodwind.kernels.tree.leaves import leaf_value, score_of, smoothed_value

ALMOST = 1.0 - 1e-12  # a score is found from a gain but for rounding


@inner
def draw_features(tree: Tree, rule: Rule, node: int, out: Any) -> Any:
    """Write the features that a node may be split by to out, ascending; returns how many.

    First those of the tree, then a draw for the level, then those that interaction constraints leave, then a draw for the node.
    """
    count = 0
    for f in range(rule.n_features):
        if memory.is_allowed(tree, f):
            out[count] = f
            count += 1
    if rule.n_candidates == rule.n_features and rule.level_candidates == rule.n_features and not rule.grouped:
        return count
    count = keep_candidates(tree, rule, node, out, count, None)
    count = keep_some(out, count, rule.n_candidates, nodes.key(tree, node))
    put_in_order(out, 0, count)
    return count


@inlined
def is_free(rule: Rule, layout: int, counts: Ints) -> Any:
    """Whether a split is found from packed sums alone: nothing holds the values back, and nothing has to be counted beside them."""
    return rule.l1 == 0.0 and not rule.bounded and layout != WIDE2 and (layout == PACKED3 or len(counts) == 0)


@inlined
def takes_whole(tree: Tree, rule: Rule, layout: int, counts: Ints, feature: int) -> Any:
    """Whether all bins of a feature are taken: picking out the occupied ones would cost more than scoring the others."""
    return is_free(rule, layout, counts) and common.is_category(tree)[feature] == 0


@inlined
def node_bins(tree: Tree, rule: Rule, feature: int, histogram: Any, thread: int) -> Any:
    """Occupied bins of a feature in running sums, categories in the order of their means; histogram as in `scan_feature`.

    Returns the number of bins, the number that hold no missing value, and the totals of the node.
    A missing number comes last; a missing value counts as one more category.
    """
    table, layout, counts, _limits = histogram
    bins = memory.all_bins(tree)[scan.BIN_ROWS * thread : scan.BIN_ROWS * thread + scan.BIN_ROWS]
    curves = memory.all_curves(tree)[scan.CURVE_ROWS * thread : scan.CURVE_ROWS * thread + scan.CURVE_ROWS]
    start = memory.start(tree, feature)
    plane = rule.n_cells
    gradient_unit, hessian_unit = scan.field_units(rule, layout)
    n_bins = memory.all_n_bins(tree)[feature]
    missing = memory.start(tree, feature + 1) - 1
    whole = takes_whole(tree, rule, layout, counts, feature)
    if whole:
        k = n_bins
        size = k + np.int64(table[missing] != 0)
    elif layout == WIDE2:
        k = scan.occupied_wide(table, plane, start, n_bins, bins, 0, 0)
        size = scan.occupied_wide(table, plane, missing, 1, bins, rule.n_codes - 1, k)
    else:
        k = scan.occupied_bins(table, start, n_bins, bins[scan.B_CELL], bins[scan.B_CODE], 0, 0)
        size = scan.occupied_bins(table, missing, 1, bins[scan.B_CELL], bins[scan.B_CODE], rule.n_codes - 1, k)
    if common.is_category(tree)[feature]:
        scan.order_categories(bins, size, layout, (gradient_unit, hessian_unit), rule.category_smooth, curves[scan.S_KEY])
    n = scan.UNKNOWN
    g = np.int64(0)
    h = np.int64(0)
    if layout == WIDE2:
        for j in range(size):
            g += bins[scan.B_CELL, j]
            h += bins[scan.B_HESSIAN, j]
            curves[scan.S_GRADIENT, j] = g
            curves[scan.S_HESSIAN, j] = h
    else:
        if whole:
            run = scan.running_sums(table[start:], k, bins[scan.B_RUN]) + table[missing]
            bins[scan.B_RUN, k] = run
        else:
            run = scan.running_sums(bins[scan.B_CELL], size, bins[scan.B_RUN])
        if layout == PACKED3:
            g = run >> 36
            h = (run >> 12) & 0xFFFFFF
            n = np.float64(run & 0xFFF)
        else:
            g = run >> 32
            h = run & 0xFFFFFFFF
    if layout != PACKED3 and len(counts) > 0:
        c = np.int64(0)
        for j in range(size):
            c += counts[min(start + bins[scan.B_CODE, j], missing)]
            curves[scan.S_COUNT, j] = c
        n = np.float64(c)
    return size, k, (g * gradient_unit, h * hessian_unit, n, gradient_unit, hessian_unit)


@inner
def float_sums(rule: Rule, layout: int, counted: Any, size: Any, runs: Any, curves: Floats) -> None:
    """Running sums as floats, where the packed ones do not do; without counts nothing is refused for want of rows:
    the winner is counted when its rows are split."""
    if layout != WIDE2:
        scan.unpack_sums(runs, size, layout, curves)
    if layout != PACKED3 and not counted:
        for j in range(size):
            curves[scan.S_COUNT, j] = curves[scan.S_HESSIAN, j] / rule.row_hessian if rule.constant_hessian else 0.5 * scan.UNKNOWN


@inlined
def search_packed(tree: Tree, rule: Rule, histogram: Any, occupied: Any, l2: Any, thread: int, least: Any) -> Any:
    """As `search_cuts`, for free values and packed sums; nothing is found unless its gain is above `least`."""
    size, present, total = occupied
    layout = histogram[1]
    # A side without hessian has no value unless L2 gives it one.
    limits = (histogram[3][0], max(histogram[3][1], 0 if l2 > 0.0 else 1))
    runs = memory.all_bins(tree)[scan.BIN_ROWS * thread + scan.B_RUN]
    whole = runs[size - 1]
    own = score_of(total[0], total[1], leaf_value(total[0], total[1], 0.0, rule.l2, -np.inf, np.inf), 0.0, rule.l2)
    best, best_j = scan.best_cut(tree, thread, layout, size - 1, (whole, 0, total), limits, l2, (least + own) * ALMOST)
    side = RIGHT
    if size != present and present >= 2:
        missing = whole - runs[size - 2]
        best, j = scan.best_cut(tree, thread, layout, present - 1, (whole, missing, total), limits, l2, best)
        if j >= 0:
            best_j, side = j, LEFT
    if best_j < 0:
        return NO_SPLIT, -1, RIGHT, 0.0, 0.0
    return best - own, best_j, side, 0.0, 0.0  # values of the sides matter only where something holds them back


@inner
def search_cuts(histogram: Any, rule: Rule, occupied: Any, bounds: Any, l2: Any, bins: Ints, curves: Floats, bits: Any) -> Any:
    """Best cut of a feature, with missing values to the right and, once more, to the left; occupied = (size, present, total).

    Returns the gain, the position of the cut, the side of missing values, the sums to its left, and the values of both sides.
    """
    size, present, total = occupied
    layout = histogram[1]
    counted = len(histogram[2]) > 0
    low, high, direction, value, n_rows = bounds
    if rule.path_smooth == 0.0 or np.isnan(value):
        value = leaf_value(total[0], total[1], rule.l1, rule.l2, low, high)
    curve = curves[scan.S_GAIN]
    float_sums(rule, layout, counted, size, bins[scan.B_RUN], curves)
    if layout != PACKED3 and not counted and rule.constant_hessian:
        total = (total[0], total[1], total[1] / total[4] / rule.row_hessian, total[3], total[4])
    # Rows that are not counted are as many as their share of the hessian, which is what LightGBM takes in all nodes.
    known = layout == PACKED3 or counted or rule.constant_hessian or total[1] <= 0.0
    density = 0.0 if known else n_rows / total[1]
    best = scan.NO_SCORE
    best_j = -1
    side = RIGHT
    last = size - 1
    extra = (0.0, 0.0, 0.0)
    for turn in range(1 if size == present or present < 2 else 2):
        if turn == 1:
            last = present - 1
            extra = (
                curves[scan.S_GRADIENT, size - 1] - curves[scan.S_GRADIENT, size - 2],
                curves[scan.S_HESSIAN, size - 1] - curves[scan.S_HESSIAN, size - 2],
                curves[scan.S_COUNT, size - 1] - curves[scan.S_COUNT, size - 2],
            )
        scan.gains_in_float64(curve, last, curves, total, extra, rule, l2, (low, high, direction, value, density))
        j = scan.argmax(bits, last)
        if j >= 0 and curve[j] > best:
            best = curve[j]
            best_j = j
            side = RIGHT if turn == 0 else LEFT
    if best_j < 0:
        return NO_SPLIT, -1, RIGHT, 0.0, 0.0
    a = (curves[scan.S_GRADIENT, best_j] + (extra[0] if side == LEFT else 0.0)) * total[3]
    p = (curves[scan.S_HESSIAN, best_j] + (extra[1] if side == LEFT else 0.0)) * total[4]
    n = curves[scan.S_COUNT, best_j] + (extra[2] if side == LEFT else 0.0)
    left = leaf_value(a, p, rule.l1, l2, low, high)
    right = leaf_value(total[0] - a, total[1] - p, rule.l1, l2, low, high)
    if rule.path_smooth > 0.0:
        left = smoothed_value(left, n if known else p * density, rule.path_smooth, value, low, high)
        right = smoothed_value(right, total[2] - n if known else (total[1] - p) * density, rule.path_smooth, value, low, high)
    return best, best_j, side, left, right


@inlined
def code_of_cut(tree: Tree, rule: Rule, feature: int, histogram: Any, j: Any, present: Any, codes: Any) -> Any:
    """The code that a cut after occupied bin j of a number is made at.

    Any code between two occupied bins makes the same split here: the middle one is fairest to new rows.
    Behind the last bin numbers part from missing values: all numbers, also larger ones than were met here.
    """
    table, layout, counts, _limits = histogram
    if takes_whole(tree, rule, layout, counts, feature):
        following = j + 1
        start = memory.start(tree, feature)
        while following < present and table[start + following] == 0:
            following += 1
        if following < present:
            return (j + following - 1) // 2
    elif j + 1 < present:
        return (codes[j] + codes[j + 1] - 1) // 2
    return memory.all_n_bins(tree)[feature] - 1


@inlined
def scan_feature(tree: Tree, rule: Rule, feature: int, histogram: Any, bounds: Any, thread: int, least: Any) -> Any:
    """Best split of a node by one feature: gain, bin, side of missing values, values left and right.

    histogram = (table, layout, counts, limits of packed fields); what does not gain more than `least` counts for nothing.
    """
    size, present, total = node_bins(tree, rule, feature, histogram, thread)
    if size < 2:  # none where all rows of the node have categories that the schema does not know, as training that goes on may meet them
        return NO_SPLIT, -1, RIGHT, 0.0, 0.0
    bins = memory.all_bins(tree)[scan.BIN_ROWS * thread : scan.BIN_ROWS * thread + scan.BIN_ROWS]
    curves = memory.all_curves(tree)[scan.CURVE_ROWS * thread : scan.CURVE_ROWS * thread + scan.CURVE_ROWS]
    bits = memory.curve_bits(tree, scan.CURVE_ROWS * thread + scan.S_GAIN)
    category = common.is_category(tree)[feature] != 0
    l2 = rule.l2 + (rule.category_l2 if category else 0.0)
    # A missing value counts as one more category: there is no other side to try.
    occupied = (size, size if category else present, total)
    if is_free(rule, histogram[1], histogram[2]):
        gain, j, side, left, right = search_packed(tree, rule, histogram, occupied, l2, thread, least)
    else:
        gain, j, side, left, right = search_cuts(histogram, rule, occupied, bounds, l2, bins, curves, bits)
    if not gain > least:
        return NO_SPLIT, -1, RIGHT, 0.0, 0.0
    where = j if category else code_of_cut(tree, rule, feature, histogram, j, present, bins[scan.B_CODE])
    return gain, where, side, left, right


@inner
def left_categories(tree: Tree, rule: Rule, feature: int, histogram: Any, count: Any, thread: int, out: Any) -> Any:
    """Set the bits of the first count + 1 categories of the node's order in out; says on which side missing is."""
    size, _present, _total = node_bins(tree, rule, feature, histogram, thread)
    codes = memory.all_bins(tree)[scan.BIN_ROWS * thread + scan.B_CODE]
    return category_sets.write_first(codes, min(count + 1, size), rule.n_codes - 1, out)
