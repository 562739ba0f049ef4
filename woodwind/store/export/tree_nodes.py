"""Trees in the form of the operator TreeEnsemble of ONNX (ai.onnx.ml 5), in which every test has two ends.

A split of ours has three: left, right, and the node itself, where a row stops that has a category which training never saw there, or no
value where training met none. So a test stands before such a split that leads to a leaf with the value of the node: `x <= infinity` holds
for every number and for no missing one. What a row has shown on its way down is remembered, so that nothing is asked twice. Categories are
positions of bits: 1 for those never seen, 2 for missing ones, and the code plus 3 for others; onnxruntime tells sets of numbers from 1 to
64 by one look at a word, and larger ones by one comparison for each category.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP
from woodwind.store.export.graph import TreeSum

# What is added to the code of a category; the codes of categories never seen and of missing ones are -2 and -1.
CODE_SHIFT = 3
LESS_OR_EQUAL, MEMBER = 0, 6


@dataclass(eq=False)
class EnsembleNodes:
    """The lists of attributes of a TreeEnsemble, as they grow."""

    roots: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    mode: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    missing_is_true: list[int] = field(default_factory=list)
    ends: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))  # of a test that holds, and of one that does not
    are_leaves: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    members: list[float] = field(default_factory=list)  # of all sets, with NaN behind each
    leaf_node: list[int] = field(default_factory=list)  # the node of the forest whose value a leaf has
    leaf_target: list[int] = field(default_factory=list)

    def test(self, feature: int, mode: int, threshold: float, missing_is_true: bool = False) -> int:
        """A new test, whose ends are not known yet."""
        self.feature.append(feature)
        self.mode.append(mode)
        self.threshold.append(threshold)
        self.missing_is_true.append(int(missing_is_true))
        for side in (0, 1):
            self.ends[side].append(0)
            self.are_leaves[side].append(0)
        return len(self.feature) - 1

    def leaf(self, node: int, target: int) -> int:
        """A new leaf."""
        self.leaf_node.append(node)
        self.leaf_target.append(target)
        return len(self.leaf_node) - 1

    def connect(self, from_test: int, holds: bool, end: int, is_leaf: bool) -> None:
        """Where a test leads."""
        side = 0 if holds else 1
        self.ends[side][from_test], self.are_leaves[side][from_test] = end, int(is_leaf)


class Pending(NamedTuple):
    """A node of the forest that is still to be written: where it hangs, and what is known of a row that comes to it."""

    node: int
    above: int  # the test; -1 at the root
    holds: bool
    known: dict[int, Any]  # of features: True for a number that is there, a set of bits for the categories that are possible


class TreeWriter:
    """Writes trees of a forest, one after another, into the lists of one TreeEnsemble."""

    def __init__(self, trees: TreeSum) -> None:
        forest = trees.forest
        self.lists, self.forest = EnsembleNodes(), forest
        self.every = [(1 << (int(count) + CODE_SHIFT)) - 2 for count in trees.n_codes]  # bit 0 stands for nothing
        self.nodes = list(
            zip(*(getattr(forest, name).tolist() for name in ("feature", "threshold", "child", "missing", "sets")), strict=True)
        )
        self.target, self.root = 0, 0

    def add_constant(self, leaf_node: int, target: int) -> None:
        """A tree of one leaf."""
        self.lists.roots.append(len(self.lists.feature))
        self._test_nothing(leaf_node, target)

    def add(self, tree: int, target: int) -> None:
        """One tree of the forest, whose leaves are of this target."""
        self.root, self.target = int(self.forest.roots[tree]), target
        if self.nodes[self.root][0] < 0:
            self.add_constant(self.root, target)
            return
        self.lists.roots.append(len(self.lists.feature))
        stack = [Pending(self.root, -1, True, {})]
        while stack:
            self._write(stack.pop(), stack)

    def _write(self, at: Pending, stack: list[Pending]) -> None:
        feature, threshold, child, missing, sets = self.nodes[at.node]
        if feature < 0:
            self._end(at)
            return
        left = self.root + child
        if sets >= 0:
            self._write_categories(at, feature, left, missing, sets, stack)
            return
        known = at.known
        if missing == STOP and feature not in known:
            test = self._test(at, feature, LESS_OR_EQUAL, np.inf)
            known = known | {feature: True}
            self._end(Pending(at.node, test, False, {}))
            at = Pending(at.node, test, True, known)
        test = self._test(at, feature, LESS_OR_EQUAL, threshold, missing == LEFT)
        there = known | {feature: True}
        stack.append(Pending(left + 1, test, False, known if missing == RIGHT else there))
        stack.append(Pending(left, test, True, known if missing == LEFT else there))

    def _write_categories(self, at: Pending, feature: int, left: int, missing: int, sets: int, stack: list[Pending]) -> None:
        """Up to three ends by up to two tests: those of the smaller sets come first, and the largest is what is left."""
        possible = at.known.get(feature, self.every[feature])
        size = int(self.forest.set_words[feature])
        to_left, to_right = (self._bits(sets + side * size, size) | (4 if missing == end else 0) for side, end in enumerate((LEFT, RIGHT)))
        to_left, to_right = to_left & possible, to_right & possible
        ends = [(to_left, left), (to_right, left + 1), (possible & ~to_left & ~to_right, at.node)]
        ends = sorted((end for end in ends if end[0]), key=lambda end: end[0].bit_count())
        for position, (bits, node) in enumerate(ends):
            to = at
            if position < len(ends) - 1:
                test = self._test(at, feature, MEMBER, 0.0)
                self.lists.members += [*map(float, positions_of(bits)), np.nan]
                to, at = Pending(node, test, True, at.known), Pending(at.node, test, False, at.known)
            if node == at.node:
                self._end(Pending(node, to.above, to.holds, {}))
            else:
                stack.append(Pending(node, to.above, to.holds, at.known | {feature: bits}))

    def _bits(self, first: int, size: int) -> int:
        """A set of categories as bits."""
        return int.from_bytes(self.forest.words[first : first + size].astype("<u8").tobytes(), "little") << CODE_SHIFT

    def _test(self, at: Pending, feature: int, mode: int, threshold: float, missing_is_true: bool = False) -> int:
        test = self.lists.test(feature, mode, threshold, missing_is_true)
        if at.above >= 0:
            self.lists.connect(at.above, at.holds, test, False)
        return test

    def _end(self, at: Pending) -> None:
        if at.above < 0:
            self._test_nothing(at.node, self.target)  # all rows end at the root
        else:
            self.lists.connect(at.above, at.holds, self.lists.leaf(at.node, self.target), True)

    def _test_nothing(self, node: int, target: int) -> None:
        """A test whose two leaves say the same. With one leaf for both ends, onnxruntime 1.31 adds a leaf of another tree to every row."""
        test = self.lists.test(0, LESS_OR_EQUAL, 0.0)
        for holds in (True, False):
            self.lists.connect(test, holds, self.lists.leaf(node, target), True)


def positions_of(bits: int) -> list[int]:
    """The positions of the bits that are set, ascending."""
    return [position for position in range(bits.bit_length()) if bits >> position & 1]


def shift_of(n_codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """What is added to each feature so that codes of categories are positions of bits."""
    return np.where(n_codes > 0, float(CODE_SHIFT), 0.0)
