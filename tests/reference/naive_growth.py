"""Slow, obvious twins of how a tree is grown from histograms: `kernels/histogram/loop.py` with all that it calls.

`Growth` has sets of rows where the kernels have buffers, and sums every node anew where they subtract. The rounding of statistics
and the formulas of scores are those of the kernels, operation by operation, so that trees are equal in every bit.

Which kernel each of them is the twin of; files are those of `kernels/histogram` unless they have a folder:

    twin                            kernel                                        file
    Growth.take                     with_stats, fill_in_order, fill_rows          layout, build_histograms
    Growth.layout                   schedule_alone, schedule_pair                 schedule
    Growth.units                    field_units                                   scan
    Growth.cells                    accumulate, complete                          build_histograms, verbs
    Growth.features                 draw_features, keep_candidates                find_splits, kernels/tree/constraints
    Growth.sort_categories          order_categories                              scan
    Growth.score                    exact_score, gains_in_float64                 scan
    Growth.plain                    is_free                                       find_splits
    Growth.own_score                leaf_value, score_of                          kernels/tree/leaves
    Growth.values                   search_cuts, smoothed_value                   find_splits, kernels/tree/leaves
    Growth.own_value                search_cuts                                   find_splits
    Growth.gain                     search_packed, search_cuts                    find_splits
    Growth.scan                     scan_feature, node_bins, code_of_cut          find_splits
    Growth.find_split               find_split, accept                            verbs, schedule
    Growth.goes_left                split_rows, count_left, schedule_partition    partition_rows, schedule
    Growth.open                     can_split, do_find, schedule_children         verbs, loop
    Growth.divide                   make_children, add_children, hand_down        schedule, kernels/tree/nodes, kernels/tree/constraints
    Growth.grow                     grow, next_phase, commit, choose_batch        loop, frontier
    VectorGrowth.take               fill_lanes                                    multi_output
    VectorGrowth.cells              do_build_lanes, complete_lanes                multi_output
    VectorGrowth.sort_categories    order_by_output                               multi_output
    VectorGrowth.score              fill_sums, fill_curves, gains_lanes           multi_output
    VectorGrowth.gain               scan_numbers, scan_categories                 multi_output
    SymmetricGrowth.score_alone     score                                         symmetric
    SymmetricGrowth.gain_of_level   add_gains                                     symmetric
    SymmetricGrowth.sort_level      level_order                                   symmetric
    SymmetricGrowth.split_of_level  do_find_level                                 symmetric
    SymmetricGrowth.grow            schedule_level, accept_level                  loop, symmetric
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reference.naive_histograms import Ints, coarse, hashed, keep_some, leaf_value, score_of, shrunk, smoothed_value
from woodwind.base.random_streams import choose, key
from woodwind.data.binning.codes import Codes
from woodwind.kernels.histogram.layout import PACKED2, PACKED3, ROWS_PACKED2, ROWS_PACKED3, WIDE2
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP
from woodwind.tree.settings import TreeSettings

Cell = tuple[int, ...]  # integer sums: gradients, hessian, number of rows
DEEPEST_SYMMETRIC = 6
FIRST_LEVEL = 2  # items 0 and 1 of a tree's key name the children of the root, the following its levels


@dataclass
class Split:
    """The best split of a node."""

    gain: float
    feature: int
    bin: int  # number split: left when code <= bin
    side: int  # of missing values
    categories: list[int] | None  # category split: codes that go left
    values: tuple[float, float] = (0.0, 0.0)  # of the children, if they were leaves


@dataclass
class Node:
    """A node, with its rows (a row as often as it was given)."""

    rows: Ints
    depth: int
    key: int
    layout: int
    groups: set[int] | None = None  # interaction groups still possible; None: everything is
    low: float = -math.inf
    high: float = math.inf
    value: float = math.nan  # if it were a leaf, as its parent's split has it; the root has none
    split: Split | None = None
    child: int = 0
    missing: int = STOP
    left: set[int] = field(default_factory=set)  # category split: levels that go left, levels that go right
    right: set[int] = field(default_factory=set)


class Growth:
    """One tree of one output."""

    def __init__(
        self, codes: Codes, settings: TreeSettings, scales: Sequence[float], tree_key: int, constant_hessian: bool = False
    ) -> None:
        self.codes, self.settings, self.tree_key, self.constant = codes, settings, tree_key, constant_hessian
        self.scales = [float(scale) for scale in scales]
        self.outputs = 1
        self.recounted = 0
        largest_g, largest_h = (2.0**30 / scale for scale in self.scales)
        noise = settings.growing_gain * (largest_g * largest_g / largest_h)
        self.min_gain = noise if settings.prune else max(settings.min_gain, noise)
        self.bounded = settings.holds_values
        every = range(codes.n_features)
        self.group_of: list[set[int]] = [set() for _ in every]
        if settings.groups is not None:
            alone = [(f,) for f in every if not any(f in group for group in settings.groups)]
            for number, group in enumerate([*settings.groups, *alone]):
                for f in group:
                    self.group_of[f].add(number)
        drawn = settings.features_per_tree
        self.allowed = list(every)
        if drawn is not None and drawn < len(every):
            self.allowed = choose(key(tree_key, "tree features"), len(every), drawn).tolist()

    # Statistics.

    def take(self, stats: Ints) -> None:
        """Take the statistics of all rows."""
        self.stats = stats
        self.gradient, self.hessian = coarse(stats)

    def layout(self, n_rows: int, parent: Node | None) -> int:
        """How the sums of a node are rounded: children of large nodes are differences, so they are rounded as those are."""
        if parent is not None and parent.layout != PACKED3 and len(parent.rows) > ROWS_PACKED3:
            return PACKED2 if n_rows <= ROWS_PACKED2 else WIDE2
        return PACKED3 if n_rows <= ROWS_PACKED3 else PACKED2 if n_rows <= ROWS_PACKED2 else WIDE2

    def units(self, node: Node) -> tuple[float, float]:
        """Real gradient and hessian of one unit of a sum."""
        return 32768.0 / self.scales[0], (262144.0 if node.layout == PACKED3 else 32768.0) / self.scales[1]

    def cells(self, node: Node, feature: int) -> dict[int, Cell]:
        """Sums of the rows of a node for each code of a feature. Where they are not counted, a sum of zeros is no row."""
        codes = self.codes.by_column[feature][node.rows]
        found: dict[int, Cell] = {}
        for code in sorted(set(codes.tolist())):
            rows = node.rows[codes == code]
            hessian = (self.hessian[rows] + 4) >> 3 if node.layout == PACKED3 else self.hessian[rows]
            cell = int(self.gradient[rows].sum()), int(hessian.sum()), len(rows)
            if node.layout == PACKED3 or cell[:2] != (0, 0):
                found[code] = cell
        return found

    # Scoring.

    def features(self, node: Node) -> list[int]:
        """Features that a node may be split by: of the tree, of the level, of the groups, of the node."""
        settings, every = self.settings, self.codes.n_features
        drawn = keep_some(self.allowed, settings.features_per_level or every, hashed(self.tree_key, FIRST_LEVEL + node.depth))
        if node.groups is not None:
            drawn = [f for f in drawn if self.group_of[f] & node.groups]
        return sorted(keep_some(drawn, settings.features_per_node or every, node.key))

    def sort_categories(self, node: Node, cells: dict[int, Cell]) -> list[int]:
        """Codes by smoothed mean gradient, equal ones by code."""
        one_g, one_h = self.units(node)
        smooth = self.settings.category_smooth
        return sorted(cells, key=lambda code: (cells[code][0] * one_g / (cells[code][1] * one_h + smooth), code))

    def score(self, node: Node, left: Cell, total: Cell, l2: float, direction: int, counted: bool) -> float:
        """Score of both sides together; with bounds or an L1 penalty the gain over no split; below zero if the split is not allowed."""
        settings = self.settings
        one_g, one_h = self.units(node)
        a, p, b, q = left[0] * one_g, left[1] * one_h, (total[0] - left[0]) * one_g, (total[1] - left[1]) * one_h
        known = node.layout == PACKED3 or counted or self.constant
        if known and min(left[2], total[2] - left[2]) < settings.min_rows:
            return -1.0
        if min(p, q) < settings.min_hessian or p + l2 <= 0.0 or q + l2 <= 0.0:
            return -1.0
        if self.plain(node, counted):
            return (a * a * (q + l2) + b * b * (p + l2)) / ((p + l2) * (q + l2))
        values = self.values(node, left, total, l2, counted)
        if direction * (values[1] - values[0]) < 0.0:
            return -1.0
        both = score_of(a, p, values[0], settings.l1, l2) + score_of(b, q, values[1], settings.l1, l2)
        gain = both - self.own_score(node, total)
        return gain if gain > 0.0 else -1.0

    def values(self, node: Node, left: Cell, total: Cell, l2: float, counted: bool) -> tuple[float, float]:
        """Values of both sides, drawn towards that of the node. Rows that are not counted are as many as their share of the hessian."""
        one_g, one_h = self.units(node)
        settings, G, H = self.settings, total[0] * one_g, total[-2] * one_h
        a, p = left[0] * one_g, left[-2] * one_h
        known = node.layout == PACKED3 or counted or self.constant or H <= 0.0
        density = 0.0 if known else len(node.rows) / H
        found = []
        for g, h, rows in ((a, p, left[-1]), (G - a, H - p, total[-1] - left[-1])):
            value = leaf_value(g, h, settings.l1, l2, node.low, node.high)
            above = self.own_value(node, total)
            found.append(smoothed_value(value, rows if known else h * density, settings.path_smooth, above, node.low, node.high))
        return found[0], found[1]

    def own_value(self, node: Node, total: Cell) -> float:
        """Value of the node as a leaf: as its parent's split has it where values are smoothed."""
        one_g, one_h = self.units(node)
        if self.settings.path_smooth > 0.0 and not math.isnan(node.value):
            return node.value
        return leaf_value(total[0] * one_g, total[-2] * one_h, self.settings.l1, self.settings.l2, node.low, node.high)

    def plain(self, node: Node, counted: bool) -> bool:
        """Whether scores are computed in the short way."""
        return self.settings.l1 == 0.0 and not self.bounded and node.layout != WIDE2 and not counted

    def own_score(self, node: Node, total: Cell) -> float:
        """Score of the node as a leaf."""
        one_g, one_h = self.units(node)
        g, h, settings = total[0] * one_g, total[1] * one_h, self.settings
        return score_of(g, h, self.own_value(node, total), settings.l1, settings.l2)

    def gain(self, node: Node, best: float, total: Cell, counted: bool) -> float:
        """The gain over no split from the best score."""
        return best - self.own_score(node, total) if self.plain(node, counted) else best

    def scan(self, node: Node, f: int, counted: bool) -> Split | None:
        """Best split by one feature: the first of equal ones, missing values to the right before those to the left."""
        category, missing = bool(self.codes.is_category[f]), self.codes.missing
        cells = self.cells(node, f)
        order = self.sort_categories(node, cells) if category else sorted(cells)  # a missing number has the highest code
        numbers = [code for code in order if code != missing]
        total = add([cells[code] for code in order])
        l2 = self.settings.l2 + (self.settings.category_l2 if category else 0.0)
        direction = 0 if self.settings.monotonic is None else int(self.settings.monotonic[f])
        lists = [(RIGHT, order[: j + 1]) for j in range(len(order) - 1)]
        if not category and missing in cells:
            lists += [(LEFT, [*numbers[: j + 1], missing]) for j in range(len(numbers) - 1)]
        best, found = -1.0, None
        for side, codes in lists:
            left = add([cells[code] for code in codes])
            score = self.score(node, left, total, l2, direction, counted)
            if score >= 0.0 and score > best:
                best, found = score, (side, codes, left)
        if found is None:
            return None
        side, codes, left = found
        values = self.values(node, left, total, l2, counted)
        where = 0
        if category:
            side = LEFT if missing in codes else RIGHT
        else:
            last = len([code for code in codes if code != missing])
            # Halfway to the next number; all numbers left if only missing values go right.
            where = (numbers[last - 1] + numbers[last] - 1) // 2 if last < len(numbers) else int(self.codes.n_bins[f]) - 1
        gain = self.gain(node, best, total, counted)
        return Split(gain, f, where, side, codes if category else None, values)

    def find_split(self, node: Node, counted: bool = False) -> Split | None:
        """Best split of a node by any feature, lower features first; None if the gain is not enough."""
        best = None
        for f in self.features(node):
            split = self.scan(node, f, counted)
            if split is not None and (best is None or split.gain > best.gain):
                best = split
        return best if best is not None and best.gain > self.min_gain else None

    # Growth.

    def goes_left(self, split: Split, rows: Ints) -> NDArray[np.bool_]:
        """Which rows go left."""
        codes = self.codes.by_column[split.feature][rows]
        if split.categories is not None:
            return np.isin(codes, split.categories)
        return np.where(codes == self.codes.missing, split.side == LEFT, codes <= split.bin)

    def open(self, node: Node) -> None:
        """Find the split of a node. Large ones are not counted at first, and scored again if too few rows are on one side."""
        settings = self.settings
        deep = settings.max_depth is not None and node.depth >= settings.max_depth
        if deep or len(node.rows) < max(2.0 * settings.min_rows, settings.min_split):
            return
        node.split = self.find_split(node)
        if node.split is not None:
            left = int(self.goes_left(node.split, node.rows).sum())
            if min(left, len(node.rows) - left) < settings.min_rows:
                self.recounted += 1
                node.split = self.find_split(node, counted=True)

    def divide(self, node: Node) -> list[Node]:
        """The children of a node; what its split has met is noted."""
        split = node.split
        assert split is not None
        met, missing = set(self.codes.by_column[split.feature][node.rows].tolist()), self.codes.missing
        node.missing = split.side if missing in met else STOP
        if split.categories is not None:
            node.left = set(split.categories) - {missing}
            node.right = met - node.left - {missing}
        left = self.goes_left(split, node.rows)
        children = []
        for side, rows in enumerate((node.rows[left], node.rows[~left])):
            groups = None if node.groups is None else node.groups & self.group_of[split.feature]
            bounds = node.low, node.high, split.values[side]
            new = Node(rows, node.depth + 1, hashed(node.key, side), self.layout(len(rows), node), groups, *bounds)
            children.append(new)
        direction = 0 if self.settings.monotonic is None else int(self.settings.monotonic[split.feature])
        if direction != 0:
            middle = (split.values[0] + split.values[1]) / 2.0
            children[0 if direction > 0 else 1].high = middle
            children[1 if direction > 0 else 0].low = middle
        return children

    def grow(self, rows: Sequence[int] | None = None) -> list[Node]:
        """The nodes of the finished tree, in its order: of all leaves that can be split the best (or highest) one is, then again."""
        settings, n = self.settings, self.codes.n_rows
        given: Ints = np.arange(n) if rows is None else np.asarray(rows, np.int64)
        groups = None if settings.groups is None else set().union(*self.group_of)
        tree = [Node(given, 0, self.tree_key, self.layout(len(given), None), groups, -settings.longest_step, settings.longest_step)]
        self.open(tree[0])
        leaves = 1
        while leaves < settings.max_leaves:
            waiting = [i for i, node in enumerate(tree) if node.split is not None and node.child == 0]
            if not waiting:
                break
            best_first = settings.growth == "best_first"
            number = min(waiting, key=lambda i: (-gain_of(tree[i]) if best_first else tree[i].depth, i))
            tree[number].child = len(tree)
            for child in self.divide(tree[number]):
                self.open(child)
                tree.append(child)
            leaves += 1
        return tree


class VectorGrowth(Growth):
    """One tree of several outputs, with statistics in so many bits that no sum of `capacity` rows has more than 31."""

    def __init__(
        self, codes: Codes, settings: TreeSettings, scales: Sequence[float], tree_key: int, outputs: int, capacity: int = 0
    ) -> None:
        super().__init__(codes, settings, scales, tree_key)
        self.outputs = outputs
        self.shift = 30 - min(15, 31 - max(capacity, codes.n_rows).bit_length())

    def take(self, stats: Ints) -> None:
        """Take the statistics of all rows: (n, K + 1), gradients and the hessian that they share."""
        self.lanes = (stats + (1 << (self.shift - 1))) >> self.shift

    def layout(self, n_rows: int, parent: Node | None) -> int:
        """Rows are counted in nodes of any size."""
        return PACKED3

    def units(self, node: Node) -> tuple[float, float]:
        """Real gradient and hessian of one unit of a sum."""
        return 2.0**self.shift / self.scales[0], 2.0**self.shift / self.scales[1]

    def cells(self, node: Node, feature: int) -> dict[int, Cell]:
        """Sums of the rows of a node for each code of a feature."""
        codes = self.codes.by_column[feature][node.rows]
        met = sorted(set(codes.tolist()))
        return {code: (*self.lanes[node.rows[codes == code]].sum(axis=0).tolist(), int((codes == code).sum())) for code in met}

    def sort_categories(self, node: Node, cells: dict[int, Cell]) -> list[int]:
        """Codes by the smoothed mean gradient of the output that spreads them most, the first of equal ones."""
        one_g, one_h = self.units(node)
        below = {code: cell[-2] * one_h + self.settings.category_smooth for code, cell in cells.items()}
        spread = [0.0] * self.outputs
        for k in range(self.outputs):
            for code, cell in cells.items():
                g = cell[k] * one_g
                spread[k] += g * g / below[code]
        widest = spread.index(max(spread))
        return sorted(cells, key=lambda code: (cells[code][widest] * one_g / below[code], code))

    def score(self, node: Node, left: Cell, total: Cell, l2: float, direction: int, counted: bool) -> float:
        """Sum over the outputs of the score of both sides."""
        settings = self.settings
        one_g, one_h = self.units(node)
        p, q = left[-2] * one_h, (total[-2] - left[-2]) * one_h
        if min(left[-1], total[-1] - left[-1]) < settings.min_rows or min(p, q) < settings.min_hessian or p + l2 <= 0.0 or q + l2 <= 0.0:
            return -1.0
        square_left = square_right = 0.0
        for k in range(self.outputs):
            square_left += float(left[k]) * float(left[k])
            square_right += float(total[k] - left[k]) * float(total[k] - left[k])
        return (square_left / (p + l2) + square_right / (q + l2)) * (one_g * one_g)

    def gain(self, node: Node, best: float, total: Cell, counted: bool) -> float:
        """The gain over no split."""
        one_g, one_h = self.units(node)
        below = total[-2] * one_h + self.settings.l2
        squares = sum(float(total[k]) * float(total[k]) for k in range(self.outputs))
        return best - (squares * (one_g * one_g) / below if below > 0.0 else 0.0)


class SymmetricGrowth(Growth):
    """One tree of one output in which all nodes of a level have the same split; rows and hessians are not asked for."""

    def score_alone(self, g: float, h: float, l2: float) -> float:
        """Score of a leaf with these sums."""
        pull, longest = shrunk(g, self.settings.l1), self.settings.longest_step
        if h + l2 > 0.0 and math.isfinite(longest):
            return score_of(g, h, leaf_value(g, h, self.settings.l1, l2, -longest, longest), self.settings.l1, l2)
        return pull * pull / (h + l2) if h + l2 > 0.0 else 0.0

    def gain_of_level(self, level: Sequence[Node], f: int, codes: Sequence[int], l2: float) -> float:
        """What a split that sends these codes left gains in all nodes of a level."""
        total = 0.0
        for node in level:
            one_g, one_h = self.units(node)
            sums = [(0, 0), (0, 0)]
            for code, cell in self.cells(node, f).items():
                side = 0 if code in codes else 1
                sums[side] = sums[side][0] + cell[0], sums[side][1] + cell[1]
            own = self.score_alone((sums[0][0] + sums[1][0]) * one_g, (sums[0][1] + sums[1][1]) * one_h, self.settings.l2)
            both = [self.score_alone(g * one_g, h * one_h, l2) for g, h in sums]
            total += both[0] + both[1] - own
        return total

    def sort_level(self, level: Sequence[Node], f: int) -> list[int]:
        """All categories of a category, and missing, by the smoothed mean gradient of all rows."""
        sums = dict.fromkeys([*range(int(self.codes.n_bins[f])), self.codes.missing], (0.0, 0.0))
        for node in level:
            one_g, one_h = self.units(node)
            for code, cell in self.cells(node, f).items():
                sums[code] = sums[code][0] + cell[0] * one_g, sums[code][1] + cell[1] * one_h
        return sorted(sums, key=lambda code: (sums[code][0] / (sums[code][1] + self.settings.category_smooth), code))

    def split_of_level(self, level: Sequence[Node]) -> Split | None:
        """The best split of a level."""
        best, missing = None, self.codes.missing
        for f in self.features(level[-1]):
            category = bool(self.codes.is_category[f])
            l2 = self.settings.l2 + (self.settings.category_l2 if category else 0.0)
            order = self.sort_level(level, f) if category else list(range(int(self.codes.n_bins[f])))
            lists = [(b, order[: b + 1]) for b in range(len(order) - category)]
            if not category:
                lists = [(b, codes) for b, left in lists for codes in (left, [*left, missing])]
            for b, codes in lists:
                gain = self.gain_of_level(level, f, codes, l2)
                if best is None or gain > best.gain:
                    best = Split(gain, f, 0 if category else b, LEFT if missing in codes else RIGHT, codes if category else None)
        return best if best is not None and best.gain > self.min_gain else None

    def grow(self, rows: Sequence[int] | None = None) -> list[Node]:
        """The nodes of the finished tree, level by level."""
        given: Ints = np.arange(self.codes.n_rows) if rows is None else np.asarray(rows, np.int64)
        groups = None if self.settings.groups is None else set().union(*self.group_of)
        longest = self.settings.longest_step
        tree = [Node(given, 0, self.tree_key, self.layout(len(given), None), groups, -longest, longest)]
        level = [tree[0]]
        for _depth in range(self.settings.max_depth or DEEPEST_SYMMETRIC):
            split = self.split_of_level(level)
            if split is None:
                break
            below = []
            for node in level:
                node.split = replace(split, gain=split.gain / len(level))
                node.child = len(tree)
                tree += self.divide(node)
                below += tree[-2:]
            level = below
        return tree


def gain_of(node: Node) -> float:
    """Gain of the split of a node."""
    return 0.0 if node.split is None else node.split.gain


def add(cells: Sequence[Cell]) -> Cell:
    """Sum of cells."""
    return tuple(sum(column) for column in zip(*cells, strict=True))
