"""One split for a whole level: Kulkarni & Bhatt's oblivious trees, as CatBoost grows them.

The gain of a split is the sum of its gains in all nodes of the level; a node that it leaves whole adds nothing.
Scores accumulate over the nodes, then the best is taken; the number of rows in a node does not count.
"""

from typing import Any

from woodwind.kernels.histogram import memory, scan
from woodwind.kernels.histogram.find_splits import draw_features
from woodwind.kernels.histogram.layout import PACKED2, PACKED3, WIDE2, Rule
from woodwind.kernels.histogram.schedule import accept
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.records import Ints, Tree
from woodwind.kernels.tree import category_sets, nodes
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import LEFT, NO_SPLIT, NOTHING, RIGHT
from woodwind.kernels.tree.leaves import leaf_value, score_of, shrunk

S_MISSING_RIGHT = 2  # rows of the float scratch: gains with missing values to the right ...
S_MISSING_LEFT = 3  # ... and to the left


@inner
def level_of(tree: Tree) -> Any:
    """Depth of the newest node: that of the level whose split is looked for."""
    return nodes.depth(tree, common.n_nodes(tree) - 1)


@inner
def cell_of(tree: Tree, feature: int, code: Any) -> Any:
    """Where a code of a feature is summed."""
    return min(memory.start(tree, feature) + code, memory.start(tree, feature + 1) - 1)


@inner
def cell_sums(rule: Rule, table: Ints, layout: int, cell: Any) -> Any:
    """Gradient and hessian of one cell of a histogram."""
    value = table[cell]
    gradient_unit, hessian_unit = scan.field_units(rule, layout)
    if layout == PACKED3:
        return (value >> 36) * gradient_unit, ((value >> 12) & 0xFFFFFF) * hessian_unit
    if layout == PACKED2:
        return (value >> 32) * gradient_unit, (value & 0xFFFFFFFF) * hessian_unit
    return value * gradient_unit, table[rule.n_cells + cell] * hessian_unit


@inner
def score(G: Any, H: Any, rule: Rule, l2: Any) -> Any:
    """Twice the drop in loss that a leaf with these sums brings."""
    if H + l2 <= 0.0:
        return 0.0
    if rule.bounded:
        return score_of(G, H, leaf_value(G, H, rule.l1, l2, -rule.max_step, rule.max_step), rule.l1, l2)
    kept = shrunk(G, rule.l1)
    return kept * kept / (H + l2)


@inner
def level_order(tree: Tree, rule: Rule, feature: int, level: Any, thread: int) -> Any:
    """Codes of a feature in the order in which they may be cut, the same for every node of the level; how many."""
    n_bins = memory.n_bins(tree, feature)
    for b in range(n_bins):
        memory.set_bins_cell(tree, scan.BIN_ROWS * thread + scan.B_CODE, b, b)
    if not common.is_category_of(tree, feature):
        return n_bins
    memory.set_bins_cell(tree, scan.BIN_ROWS * thread + scan.B_CODE, n_bins, rule.n_codes - 1)
    keys = memory.all_curves(tree)[scan.CURVE_ROWS * thread + scan.S_KEY]
    for b in range(n_bins + 1):
        g = 0.0
        h = 0.0
        for node in range(common.n_nodes(tree)):
            if nodes.depth(tree, node) == level:
                layout = memory.layout(tree, node)
                table = memory.histogram_in(tree, layout == WIDE2, memory.slot(tree, node))
                code = memory.bins_cell(tree, scan.BIN_ROWS * thread + scan.B_CODE, b)
                one_g, one_h = cell_sums(rule, table, layout, cell_of(tree, feature, code))
                g += one_g
                h += one_h
        memory.set_curves_cell(tree, scan.CURVE_ROWS * thread + scan.S_KEY, b, g / (h + rule.category_smooth))
    category_sets.argsort(keys, n_bins + 1, memory.all_bins(tree)[scan.BIN_ROWS * thread + scan.B_ORDER])
    for b in range(n_bins + 1):
        code = memory.bins_cell(tree, scan.BIN_ROWS * thread + scan.B_ORDER, b)
        memory.set_bins_cell(tree, scan.BIN_ROWS * thread + scan.B_CODE, b, rule.n_codes - 1 if code == n_bins else code)
    return n_bins + 1


@inner
def add_gains(tree: Tree, rule: Rule, feature: int, node: int, size: Any, l2: Any, thread: int) -> None:
    """Add the gains of one node to those of the level."""
    curves = memory.all_curves(tree)[scan.CURVE_ROWS * thread : scan.CURVE_ROWS * thread + scan.CURVE_ROWS]
    layout = memory.layout(tree, node)
    table = memory.histogram_in(tree, layout == WIDE2, memory.slot(tree, node))
    g = 0.0
    h = 0.0
    for b in range(size):
        one_g, one_h = cell_sums(
            rule, table, layout, cell_of(tree, feature, memory.bins_cell(tree, scan.BIN_ROWS * thread + scan.B_CODE, b))
        )
        g += one_g
        h += one_h
        curves[scan.S_GRADIENT, b] = g
        curves[scan.S_HESSIAN, b] = h
    lost_g = 0.0
    lost_h = 0.0
    if not common.is_category_of(tree, feature):
        lost_g, lost_h = cell_sums(rule, table, layout, cell_of(tree, feature, rule.n_codes - 1))
    g += lost_g
    h += lost_h
    own = score(g, h, rule, rule.l2)
    for b in range(size):
        a = curves[scan.S_GRADIENT, b]
        p = curves[scan.S_HESSIAN, b]
        curves[S_MISSING_RIGHT, b] += score(a, p, rule, l2) + score(g - a, h - p, rule, l2) - own
        a += lost_g
        p += lost_h
        curves[S_MISSING_LEFT, b] += score(a, p, rule, l2) + score(g - a, h - p, rule, l2) - own


@inner
def do_find_level(tree: Tree, rule: Rule, task: int, thread: int) -> None:
    """FIND_LEVEL: best split of the level among some features; written to row `task` of the findings."""
    n_nodes = common.n_nodes(tree)
    level = level_of(tree)
    curves = memory.all_curves(tree)[scan.CURVE_ROWS * thread : scan.CURVE_ROWS * thread + scan.CURVE_ROWS]
    drawn = memory.all_drawn(tree)[thread]
    common.set_split_gain(tree, task, NO_SPLIT)
    common.set_split_feature(tree, task, NOTHING)
    common.set_split_left_value(tree, task, 0.0)
    common.set_split_right_value(tree, task, 0.0)
    begin = memory.task_begin(tree, task)
    end = memory.task_end(tree, task)
    for k in range(draw_features(tree, rule, n_nodes - 1, drawn)):
        f = memory.drawn(tree, thread, k)
        if not begin <= f < end:
            continue
        category = common.is_category_of(tree, f) != 0
        l2 = rule.l2 + (rule.category_l2 if category else 0.0)
        size = level_order(tree, rule, f, level, thread)
        for b in range(size):
            curves[S_MISSING_RIGHT, b] = 0.0
            curves[S_MISSING_LEFT, b] = 0.0
        for node in range(n_nodes):
            if nodes.depth(tree, node) == level:
                add_gains(tree, rule, f, node, size, l2, thread)
        for b in range(size - 1 if category else size):
            for side in range(1 if category else 2):
                gain = curves[S_MISSING_RIGHT if side == 0 else S_MISSING_LEFT, b]
                if gain > common.split_gain(tree, task):
                    common.set_split_gain(tree, task, gain)
                    common.set_split_feature(tree, task, f)
                    common.set_split_bin(tree, task, b)
                    common.set_split_missing(tree, task, RIGHT if side == 0 else LEFT)
                    if category:
                        codes = memory.all_bins(tree)[scan.BIN_ROWS * thread + scan.B_CODE]
                        goes_left = common.split_sets(tree)[task]
                        common.set_split_missing(tree, task, category_sets.write_first(codes, b + 1, rule.n_codes - 1, goes_left))


@inner
def accept_level(tree: Tree, rule: Rule, n_tasks: int) -> None:
    """Give every node of the level the split that was found for all of them, if its gain is enough."""
    best = 0
    for t in range(1, n_tasks):
        if common.split_feature(tree, t) >= 0 and (
            common.split_feature(tree, best) < 0 or common.split_gain(tree, t) > common.split_gain(tree, best)
        ):
            best = t
    if n_tasks == 0:  # the tree is as deep as it may be
        common.set_split_feature(tree, best, NOTHING)
    level = level_of(tree)
    n_in_level = 0
    for node in range(common.n_nodes(tree)):
        n_in_level += nodes.depth(tree, node) == level
    for node in range(common.n_nodes(tree)):
        if nodes.depth(tree, node) == level and nodes.child(tree, node) < 0:
            accept(tree, rule, node, best)
            nodes.set_gain(tree, node, nodes.gain(tree, node) / n_in_level)
