"""One split for a whole level: Kulkarni & Bhatt's oblivious trees, as CatBoost grows them.

The gain of a split is the sum of its gains in all nodes of the level; a node that it leaves whole adds nothing.
Scores accumulate over the nodes, then the best is taken; the number of rows in a node does not count.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.candidates import draw_features
from woodwind.kernels.histogram.frontier import C_NODES, C_SETS, open_node
from woodwind.kernels.histogram.layout import PACKED2, PACKED3
from woodwind.kernels.histogram.memory import (
    BINS,
    CONTROL,
    CURVES,
    DRAWN,
    FOUND_F,
    FOUND_I,
    FOUND_SETS,
    IS_CATEGORY,
    N_BINS,
    NODE_F,
    NODE_I,
    SETS,
    STARTS,
    TASKS,
)
from woodwind.kernels.histogram.scan import (
    B_CODE,
    B_PLACE,
    BIN_ROWS,
    CURVE_ROWS,
    NO_SPLIT,
    S_GRADIENT,
    S_HESSIAN,
    S_KEY,
    field_units,
    shrunk,
    sort_places,
)
from woodwind.kernels.histogram.slots import forget_histogram
from woodwind.kernels.histogram.tasks import T_BEGIN, T_END, tables_of
from woodwind.kernels.runtime.intrinsics import (
    floats,
    get_float,
    get_int,
    get_listed,
    get_word,
    int_row,
    ints,
    put_float,
    put_int,
    put_listed,
    put_word,
)
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.tree.layout import F_GAIN, LEFT, N_BIN, N_CHILD, N_DEPTH, N_FEATURE, N_LAYOUT, N_MISSING, N_SET, N_SLOT, RIGHT

U = np.uint64
S_MISSING_RIGHT = 2  # rows of the float scratch: gains with missing values to the right ...
S_MISSING_LEFT = 3  # ... and to the left


@inner
def level_of(growing: Any) -> Any:
    """Depth of the newest node: that of the level which is judged."""
    return get_int(growing, NODE_I, get_listed(growing, CONTROL, C_NODES) - 1, N_DEPTH)


@inner
def cell_of(growing: Any, feature: Any, code: Any) -> Any:
    """Where a code of a feature is summed."""
    return min(get_listed(growing, STARTS, feature) + code, get_listed(growing, STARTS, feature + 1) - 1)


@inner
def cell_sums(growing: Any, rule: Any, node: Any, cell: Any) -> Any:
    """Gradient and hessian of one cell of a node's histogram."""
    layout = get_int(growing, NODE_I, node, N_LAYOUT)
    table = int_row(growing, tables_of(layout), get_int(growing, NODE_I, node, N_SLOT))
    value = table[cell]
    gradient_unit, hessian_unit = field_units(rule, layout)
    if layout == PACKED3:
        return (value >> 36) * gradient_unit, ((value >> 12) & 0xFFFFFF) * hessian_unit
    if layout == PACKED2:
        return (value >> 32) * gradient_unit, (value & 0xFFFFFFFF) * hessian_unit
    return value * gradient_unit, table[rule.n_cells + cell] * hessian_unit


@inner
def score(G: Any, H: Any, l1: Any, l2: Any) -> Any:
    """Twice the drop in loss that a leaf with these sums brings."""
    if H + l2 <= 0.0:
        return 0.0
    kept = shrunk(G, l1)
    return kept * kept / (H + l2)


@inner
def shared_order(growing: Any, rule: Any, feature: Any, level: Any, thread: Any) -> Any:
    """Codes of a feature in the order in which they may be cut, the same for every node of the level; how many."""
    n_bins = get_listed(growing, N_BINS, feature)
    for b in range(n_bins):
        put_int(growing, BINS, BIN_ROWS * thread + B_CODE, b, b)
    if not get_listed(growing, IS_CATEGORY, feature):
        return n_bins
    put_int(growing, BINS, BIN_ROWS * thread + B_CODE, n_bins, rule.width - 1)
    keys = floats(growing, CURVES)[CURVE_ROWS * thread + S_KEY]
    for b in range(n_bins + 1):
        g = 0.0
        h = 0.0
        for node in range(get_listed(growing, CONTROL, C_NODES)):
            if get_int(growing, NODE_I, node, N_DEPTH) == level:
                code = get_int(growing, BINS, BIN_ROWS * thread + B_CODE, b)
                one_g, one_h = cell_sums(growing, rule, node, cell_of(growing, feature, code))
                g += one_g
                h += one_h
        put_float(growing, CURVES, CURVE_ROWS * thread + S_KEY, b, g / (h + rule.category_smooth))
    places = ints(growing, BINS)[BIN_ROWS * thread + B_PLACE]
    sort_places(keys, n_bins + 1, places)
    for b in range(n_bins + 1):
        put_int(
            growing,
            BINS,
            BIN_ROWS * thread + B_CODE,
            b,
            rule.width - 1
            if get_int(growing, BINS, BIN_ROWS * thread + B_PLACE, b) == n_bins
            else get_int(growing, BINS, BIN_ROWS * thread + B_PLACE, b),
        )
    return n_bins + 1


@inner
def add_node(growing: Any, rule: Any, feature: Any, node: Any, size: Any, l2: Any, thread: Any) -> None:
    """Add the gains of one node to those of the level."""
    curves = floats(growing, CURVES)[CURVE_ROWS * thread : CURVE_ROWS * thread + CURVE_ROWS]
    g = 0.0
    h = 0.0
    for b in range(size):
        one_g, one_h = cell_sums(growing, rule, node, cell_of(growing, feature, get_int(growing, BINS, BIN_ROWS * thread + B_CODE, b)))
        g += one_g
        h += one_h
        curves[S_GRADIENT, b] = g
        curves[S_HESSIAN, b] = h
    lost_g = 0.0
    lost_h = 0.0
    if not get_listed(growing, IS_CATEGORY, feature):
        lost_g, lost_h = cell_sums(growing, rule, node, cell_of(growing, feature, rule.width - 1))
    g += lost_g
    h += lost_h
    own = score(g, h, rule.l1, rule.l2)
    for b in range(size):
        a = curves[S_GRADIENT, b]
        p = curves[S_HESSIAN, b]
        curves[S_MISSING_RIGHT, b] += score(a, p, rule.l1, l2) + score(g - a, h - p, rule.l1, l2) - own
        a += lost_g
        p += lost_h
        curves[S_MISSING_LEFT, b] += score(a, p, rule.l1, l2) + score(g - a, h - p, rule.l1, l2) - own


@inner
def do_share(growing: Any, rule: Any, task: Any, thread: Any) -> None:
    """SHARE: best split of the level among some features; written to row `task` of the findings."""
    n_nodes = get_listed(growing, CONTROL, C_NODES)
    level = level_of(growing)
    curves = floats(growing, CURVES)[CURVE_ROWS * thread : CURVE_ROWS * thread + CURVE_ROWS]
    drawn = ints(growing, DRAWN)[thread]
    put_float(growing, FOUND_F, task, 0, NO_SPLIT)
    put_int(growing, FOUND_I, task, 0, -1)
    begin = get_int(growing, TASKS, task, T_BEGIN)
    end = get_int(growing, TASKS, task, T_END)
    for k in range(draw_features(growing, rule, n_nodes - 1, drawn)):
        f = get_int(growing, DRAWN, thread, k)
        if not begin <= f < end:
            continue
        category = get_listed(growing, IS_CATEGORY, f) != 0
        l2 = rule.l2 + (rule.category_l2 if category else 0.0)
        size = shared_order(growing, rule, f, level, thread)
        for b in range(size):
            curves[S_MISSING_RIGHT, b] = 0.0
            curves[S_MISSING_LEFT, b] = 0.0
        for node in range(n_nodes):
            if get_int(growing, NODE_I, node, N_DEPTH) == level:
                add_node(growing, rule, f, node, size, l2, thread)
        for b in range(size - 1 if category else size):
            for side in range(1 if category else 2):
                gain = curves[S_MISSING_RIGHT if side == 0 else S_MISSING_LEFT, b]
                if gain > get_float(growing, FOUND_F, task, 0):
                    put_float(growing, FOUND_F, task, 0, gain)
                    put_int(growing, FOUND_I, task, 0, f)
                    put_int(growing, FOUND_I, task, 1, b)
                    put_int(growing, FOUND_I, task, 2, RIGHT if side == 0 else LEFT)
                    if category:
                        write_set(growing, rule, b, thread, task)


@inner
def write_set(growing: Any, rule: Any, count: Any, thread: Any, task: Any) -> None:
    """Set the bits of the first count + 1 codes of the order; note on which side missing values are."""
    for word in range(4):
        put_word(growing, FOUND_SETS, task, word, 0)
    put_int(growing, FOUND_I, task, 2, RIGHT)
    for j in range(count + 1):
        if get_int(growing, BINS, BIN_ROWS * thread + B_CODE, j) == rule.width - 1:
            put_int(growing, FOUND_I, task, 2, LEFT)
        else:
            put_word(
                growing,
                FOUND_SETS,
                task,
                get_int(growing, BINS, BIN_ROWS * thread + B_CODE, j) >> 6,
                get_word(growing, FOUND_SETS, task, get_int(growing, BINS, BIN_ROWS * thread + B_CODE, j) >> 6)
                | (U(1) << U(get_int(growing, BINS, BIN_ROWS * thread + B_CODE, j) & 63)),
            )


@inner
def take_share(growing: Any, rule: Any, n_tasks: Any) -> None:
    """Give every node of the level the split that was found for all of them, if its gain is enough."""
    best = 0
    for t in range(1, n_tasks):
        if get_int(growing, FOUND_I, t, 0) >= 0 and (
            get_int(growing, FOUND_I, best, 0) < 0 or get_float(growing, FOUND_F, t, 0) > get_float(growing, FOUND_F, best, 0)
        ):
            best = t
    level = level_of(growing)
    enough = n_tasks > 0 and get_int(growing, FOUND_I, best, 0) >= 0 and get_float(growing, FOUND_F, best, 0) > rule.min_gain
    width = 0
    for node in range(get_listed(growing, CONTROL, C_NODES)):
        width += get_int(growing, NODE_I, node, N_DEPTH) == level
    for node in range(get_listed(growing, CONTROL, C_NODES)):
        if get_int(growing, NODE_I, node, N_DEPTH) != level or get_int(growing, NODE_I, node, N_CHILD) >= 0:
            continue
        if not enough:
            forget_histogram(growing, node)
            continue
        put_int(growing, NODE_I, node, N_FEATURE, get_int(growing, FOUND_I, best, 0))
        put_int(growing, NODE_I, node, N_BIN, get_int(growing, FOUND_I, best, 1))
        put_int(growing, NODE_I, node, N_MISSING, get_int(growing, FOUND_I, best, 2))
        put_float(growing, NODE_F, node, F_GAIN, get_float(growing, FOUND_F, best, 0) / width)
        if get_listed(growing, IS_CATEGORY, get_int(growing, FOUND_I, best, 0)):
            row = get_listed(growing, CONTROL, C_SETS)
            put_listed(growing, CONTROL, C_SETS, get_listed(growing, CONTROL, C_SETS) + 1)
            put_int(growing, NODE_I, node, N_SET, row)
            for word in range(4):
                put_word(growing, SETS, row, word, get_word(growing, FOUND_SETS, best, word))
                put_word(growing, SETS, row, 4 + word, 0)
        open_node(growing, rule, node)
