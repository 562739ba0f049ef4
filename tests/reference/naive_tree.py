"""A tree that considers every threshold, written to be read: the slow twin of `kernels/exact/loop.py` and its neighbours.

Rows are lists of Python numbers and sums are taken anew for every candidate. Gains closer than a billionth count as equal, and
then the first candidate stays: the lowest feature, missing values on the right before the left, the lowest threshold.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

LEFT, RIGHT, STOP = 0, 1, 2
SAME = 1e-9


@dataclass(frozen=True)
class Limits:
    """How the tree is grown; the names are those of `TreeSettings` in `tree/settings.py` and `SplitCriterion` in `tree/exact_grower.py`."""

    criterion: str = "newton"
    best_first: bool = False
    max_leaves: float = math.inf
    max_depth: float = math.inf
    min_split: int = 2
    min_rows: int = 1
    min_hessian: float = 0.0
    min_gain: float = 0.0
    thorough: bool = True
    l1: float = 0.0
    l2: float = 0.0
    category_l2: float = 0.0
    category_smooth: float = 0.0
    max_step: float = math.inf
    path_smooth: float = 0.0
    monotonic: Sequence[int] | None = None
    groups: Sequence[Sequence[int]] | None = None


@dataclass(frozen=True)
class Split:
    """A split that was found: which rows go left, by what question."""

    gain: float
    ratio: float
    feature: int
    left: list[int]
    right: list[int]
    below: float | None  # number split: the neighbours of the cut; None above a cut before the missing values
    above: float | None
    categories: tuple[frozenset[int], frozenset[int]] | None  # category split
    missing: int


@dataclass
class Node:
    """A node, and its split once it has one."""

    rows: list[int]
    depth: int = 0
    low: float = -math.inf
    high: float = math.inf
    own: float | None = None  # its value as a leaf, where values are drawn towards that of the node above; the root has none
    groups: list[frozenset[int]] | None = None
    found: Split | None = None
    child: int = 0  # the left child; 0 at a leaf


@dataclass
class NaiveTree:
    """Grows a tree from columns of numbers (NaN: missing) or of categories (-1: missing) and from statistics of the rows.

    A row of `stats` is (gradient, hessian, count) or (class, weight, count).
    """

    columns: Sequence[Sequence[float]]
    is_category: Sequence[bool]
    stats: Sequence[tuple[float, float, int]]
    labels: Sequence[Any]  # rows of equal labels are not worth a split
    limits: Limits = field(default_factory=Limits)
    nodes: list[Node] = field(default_factory=list)

    def grow(self) -> list[Node]:
        """All nodes in order of birth; children are neighbours."""
        limits = self.limits
        rows = [row for row in range(len(self.stats)) if self.stats[row][2] > 0]
        root = Node(rows, 0, -self.limits.max_step, self.limits.max_step)
        if limits.groups is not None:
            named = {feature for group in limits.groups for feature in group}
            alone = [frozenset({feature}) for feature in range(len(self.columns)) if feature not in named]
            root.groups = [*map(frozenset, limits.groups), *alone]
        self.nodes = [root]
        self.find_split(root)
        while self.n_leaves() < limits.max_leaves:
            waiting = [n for n, node in enumerate(self.nodes) if node.found and not node.child]
            if not waiting:
                break
            if limits.best_first:
                best = max(self.gain(n) for n in waiting)
                chosen = next(n for n in waiting if self.gain(n) >= best - SAME * max(1.0, best))
            else:
                chosen = waiting[0]
            self.split(self.nodes[chosen])
        return self.nodes

    def n_leaves(self) -> int:
        """Nodes without children."""
        return sum(not node.child for node in self.nodes)

    def gain(self, number: int) -> float:
        """The gain of the split that a node has."""
        found = self.nodes[number].found
        return found.gain if found else -math.inf

    def split(self, node: Node) -> None:
        """Make the split of a node."""
        found = node.found
        if found is None:
            return
        node.child = len(self.nodes)
        groups = None if node.groups is None else [group for group in node.groups if found.feature in group]
        sides = found.left, found.right
        own = [self.value(rows, node, 0.0) if self.limits.path_smooth > 0.0 else None for rows in sides]
        left, right = (Node(rows, node.depth + 1, node.low, node.high, of, groups) for rows, of in zip(sides, own, strict=True))
        direction = self.direction(found.feature)
        if direction:
            middle = (self.value(found.left, node, 0.0) + self.value(found.right, node, 0.0)) / 2
            lower, upper = (left, right) if direction > 0 else (right, left)
            lower.high = upper.low = middle
        self.nodes += [left, right]
        for child in (left, right):
            self.find_split(child)

    def find_split(self, node: Node) -> None:
        """Find the best split of a node, if it may have one."""
        limits = self.limits
        count = sum(self.stats[row][2] for row in node.rows)
        if node.depth >= limits.max_depth or count < limits.min_split or count < 2 * limits.min_rows:
            return
        if len({self.labels[row] for row in node.rows}) == 1:
            return
        found = [split for feature in range(len(self.columns)) if (split := self.best_of(node, feature)) is not None]
        best = None
        mean = sum(split.gain for split in found) / max(len(found), 1)
        for split in found:
            if limits.criterion == "gain_ratio":
                if split.gain >= mean - SAME and (best is None or split.ratio > best.ratio + SAME):
                    best = split
            elif best is None or split.gain > best.gain + SAME * max(1.0, best.gain):
                best = split
        held = any(limits.monotonic or ()) or limits.max_step < math.inf or limits.path_smooth > 0.0
        free = limits.thorough and limits.min_gain == 0.0 and limits.l1 == 0.0 and not held
        if best is not None and (free or best.gain > limits.min_gain + (-SAME if limits.thorough and limits.min_gain > 0 else SAME)):
            node.found = best

    def best_of(self, node: Node, feature: int) -> Split | None:
        """The best split by one feature."""
        if node.groups is not None and not any(feature in group for group in node.groups):
            return None
        candidates = self.sets(node, feature) if self.is_category[feature] else self.cuts(node, feature)
        best = None
        for left, right, question in candidates:
            gain = self.gain_of(node, left, right, feature)
            if gain is not None and (best is None or gain > best.gain + SAME * max(1.0, best.gain)):
                best = Split(gain, gain / max(self.bits(left, right), 1e-300), feature, left, right, **question)
        return best

    # Candidates.

    def cuts(self, node: Node, feature: int) -> Iterator[tuple[list[int], list[int], dict[str, Any]]]:
        """All cuts between neighbouring values, missing values on the right; then once more with them on the left."""
        column = self.columns[feature]
        missing = [row for row in node.rows if math.isnan(column[row])]
        values = sorted({column[row] for row in node.rows if not math.isnan(column[row])})
        for side in (RIGHT, LEFT):
            for position, below in enumerate(values):
                last = position + 1 == len(values)
                if last and (side == LEFT or not missing):
                    break
                above = None if last else values[position + 1]
                left = [row for row in node.rows if column[row] <= below or (side == LEFT and row in missing)]
                right = [row for row in node.rows if row not in left]
                yield left, right, {"below": below, "above": above, "categories": None, "missing": side if missing else STOP}
            if not missing:
                break

    def sets(self, node: Node, feature: int) -> Iterator[tuple[list[int], list[int], dict[str, Any]]]:
        """Prefixes of the levels in the order of their means; with more than two classes, of the shares of each class in turn."""
        column = self.columns[feature]
        met = {int(column[row]) for row in node.rows}
        categories = sorted(met - {-1}) + ([-1] if -1 in met else [])
        for order in self.orders(node, column, categories):
            for size in range(1, len(order)):
                sides = frozenset(order[:size]), frozenset(order[size:])
                left, right = ([row for row in node.rows if int(column[row]) in side] for side in sides)
                way = STOP if -1 not in met else LEFT if -1 in sides[0] else RIGHT
                yield left, right, {"below": None, "above": None, "categories": (sides[0] - {-1}, sides[1] - {-1}), "missing": way}

    def orders(self, node: Node, column: Sequence[float], categories: list[int]) -> Iterator[list[int]]:
        """The orders in which levels are tried; equal levels stay in the order of their codes, missing last."""
        rows = {level: [row for row in node.rows if int(column[row]) == level] for level in categories}
        if self.limits.criterion == "newton":
            smooth = self.limits.category_smooth
            mean = {
                v: self.total(rows[v], 0) / (self.total(rows[v], 1) + smooth) if self.total(rows[v], 1) + smooth else 0 for v in categories
            }
            yield sorted(categories, key=mean.__getitem__)
            return
        for k in range(self.n_classes) if self.n_classes > 2 else [1]:
            share = {v: self.weights(rows[v])[k] / sum(self.weights(rows[v])) for v in categories}
            yield sorted(categories, key=share.__getitem__)

    # Scores.

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return 1 + max(int(stat[0]) for stat in self.stats)

    def total(self, rows: list[int], column: int) -> float:
        """Sum of a statistic."""
        return math.fsum(self.stats[row][column] for row in rows)

    def weights(self, rows: list[int]) -> list[float]:
        """Weight of each class."""
        return [math.fsum(self.stats[row][1] for row in rows if self.stats[row][0] == k) for k in range(self.n_classes)]

    def direction(self, feature: int) -> int:
        """Monotonic constraint of a feature."""
        return 0 if self.limits.monotonic is None else self.limits.monotonic[feature]

    def value(self, rows: list[int], node: Node, extra: float) -> float:
        """What a leaf of these rows would say, within the bounds of the node."""
        if self.limits.criterion != "newton":
            return self.weights(rows)[1] / sum(self.weights(rows))
        G, H = self.total(rows, 0), self.total(rows, 1) + self.limits.l2 + extra
        pull = math.copysign(max(abs(G) - self.limits.l1, 0.0), G)
        value = min(max(-pull / H if H > 0 else 0.0, node.low), node.high)
        smooth, count = self.limits.path_smooth, self.total(rows, 2)
        if smooth == 0.0 or rows is node.rows:
            return value if smooth == 0.0 or node.own is None else node.own
        above = self.value(node.rows, node, 0.0)
        return min(max((count * value + smooth * above) / (count + smooth), node.low), node.high)

    def score(self, rows: list[int], node: Node, extra: float) -> float:
        """How well one leaf fits these rows."""
        if self.limits.criterion == "newton":
            G, H, v = self.total(rows, 0), self.total(rows, 1) + self.limits.l2 + extra, self.value(rows, node, extra)
            return -(2 * G * v + H * v * v + 2 * self.limits.l1 * abs(v))
        weights = self.weights(rows)
        W = sum(weights)
        if self.limits.criterion == "gini":
            return sum(w * w for w in weights) / W
        return sum(w * math.log2(w / W) for w in weights if w > 0)

    def gain_of(self, node: Node, left: list[int], right: list[int], feature: int) -> float | None:
        """What a split gains; None if it may not be made."""
        limits = self.limits
        extra = limits.category_l2 if self.is_category[feature] else 0.0
        for rows in (left, right):
            if self.total(rows, 2) < limits.min_rows:
                return None
            hessian = self.total(rows, 1)
            if hessian < limits.min_hessian or (limits.criterion == "newton" and not hessian + limits.l2 + extra > 0):
                return None
        if limits.monotonic is not None and any(limits.monotonic):
            below, above = (self.value(rows, node, extra) for rows in (left, right))
            if self.direction(feature) * (above - below) < 0:
                return None
            within = node.low <= min(below, above) and max(below, above) <= node.high
            if limits.criterion != "newton" and self.direction(feature) and not within:
                return None
        return self.score(left, node, extra) + self.score(right, node, extra) - self.score(node.rows, node, 0.0)

    def bits(self, left: list[int], right: list[int]) -> float:
        """Bits that name the sides of a split."""
        p, q = self.total(left, 1), self.total(right, 1)
        return -sum(w * math.log2(w / (p + q)) for w in (p, q) if w > 0)
