"""Trees in the dictionary format that shap.TreeExplainer of the shap library reads. Nothing here imports shap.

Its trees have tests `x <= threshold` and nothing else. A node where rows can stop gets a test before it that leads to a leaf of its value,
with so little cover that nothing is averaged over it. A set of categories is taken apart into runs of codes, one after another, each
of which leads to a copy of the branch with its part of the cover: the values stay the same, and trees grow.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import NotExportableError
from woodwind.data.tables.table import UNSEEN
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP
from woodwind.tree.forest import Forest

# Share of the cover of a node that the leaf of rows which stop there has: shap wants more than none.
TINY = 1e-30
# A test that no row passes, for branches that no row with this way behind it can reach: coalitions without the feature can.
NO_CODE = -1e300
# Copies of branches make trees large; beyond this nobody would wait for shap.
MOST_NODES = 1_000_000


class Branch(NamedTuple):
    """A branch that is still to be written: where it hangs, the node of the forest, its share of the cover, what is known of a row."""

    above: int
    side: str
    node: int
    share: float
    known: dict[int, Any]  # of features: True for a number that is there, or the set of codes that are possible


class ShapTree:
    """One tree, as it grows."""

    def __init__(self, forest: Forest, tree: int, n_codes: NDArray[np.int64], owner: str) -> None:
        self.forest, self.root, self.n_codes, self.owner = forest, int(forest.roots[tree]), n_codes, owner
        self.lists: dict[str, list[Any]] = {
            name: [] for name in ("children_left", "children_right", "missing_left", "features", "thresholds", "node", "cover")
        }
        stack = [Branch(-1, "", self.root, 1.0, {})]
        while stack:
            self._write(stack.pop(), stack)

    def arrays(self, output: int) -> dict[str, Any]:
        """What shap reads, for a tree that adds to this output, or to all of them (-1)."""
        value = self.forest.value[self.lists["node"]]
        if output >= 0 and self.forest.n_outputs > 1:
            wide = np.zeros((len(value), self.forest.n_outputs))
            wide[:, output] = value[:, 0]
            value = wide
        left, right, feature, default = (
            np.array(self.lists[name], np.int32) for name in ("children_left", "children_right", "features", "missing_left")
        )
        return {
            "children_left": left, "children_right": right, "children_default": np.where(default != 0, left, right), "features": feature,
            "thresholds": np.array(self.lists["thresholds"], np.float64), "values": value,
            "node_sample_weight": np.maximum(np.array(self.lists["cover"], np.float64), np.finfo(np.float64).tiny),
        }  # fmt: skip

    def _add(self, at: Branch, feature: int, threshold: float, cover: float, missing_left: bool = False) -> int:
        number = len(self.lists["node"])
        if number >= MOST_NODES:
            raise NotExportableError(
                f"{self.owner}: its category splits would make trees of more than {MOST_NODES:,} nodes in the format of shap, which has "
                "tests of numbers alone. Use explain(), which knows categories, and to_shap() of what it gives."
            )
        for name, value in zip(self.lists, (-1, -1, int(missing_left), feature, threshold, at.node, cover), strict=True):
            self.lists[name].append(value)
        if at.above >= 0:
            self.lists[f"children_{at.side}"][at.above] = number
        return number

    def _write(self, at: Branch, stack: list[Branch]) -> None:
        forest, node = self.forest, at.node
        feature, cover = int(forest.feature[node]), float(forest.cover[node]) * at.share
        if feature < 0:
            self._add(at, -1, 0.0, cover)
            return
        left = self.root + int(forest.child[node])
        if forest.sets[node] >= 0:
            self._write_categories(at, feature, left, stack)
            return
        known, missing = at.known, int(forest.missing[node])
        if missing == STOP and feature not in known:
            test = self._add(at, feature, np.inf, cover * (1.0 + TINY))
            known = known | {feature: True}
            self._add(Branch(test, "right", node, 0.0, {}), -1, 0.0, cover * TINY)
            at = Branch(test, "left", node, at.share, known)
        test = self._add(at, feature, float(forest.threshold[node]), cover, missing == LEFT)
        there = known | {feature: True}
        stack.append(Branch(test, "right", left + 1, at.share, known if missing == RIGHT else there))
        stack.append(Branch(test, "left", left, at.share, known if missing == LEFT else there))

    def _write_categories(self, at: Branch, feature: int, left: int, stack: list[Branch]) -> None:
        node = at.node
        possible = at.known.get(feature, range(UNSEEN, int(self.n_codes[feature])))
        runs: list[tuple[int, float, list[int]]] = []  # where a run of codes leads, the last of it as a threshold, and all of them
        for code in possible:
            to = self._way(node, feature, left, code)
            if runs and runs[-1][0] == to:
                runs[-1] = (to, code + 0.5, [*runs[-1][2], code])
            else:
                runs.append((to, code + 0.5, [code]))
        found = [to for to, _, _ in runs]
        runs = [(child, NO_CODE, []) for child in (left, left + 1) if child not in found] + runs
        for position, (to, threshold, codes) in enumerate(runs):
            times = max(found.count(to), 1)
            share = at.share / times
            above, side = at.above, at.side
            if position < len(runs) - 1:
                covers = sum(self._cover(at, one, max(found.count(one), 1)) for one, _, _ in runs[position:])
                above, side = self._add(at, feature, threshold, covers), "left"
                at = Branch(above, "right", node, at.share, at.known)
            branch = Branch(above, side, to, share, at.known | {feature: codes})
            if to == node:
                self._add(branch, -1, 0.0, self._cover(at, node, times))
            else:
                stack.append(branch)

    def _cover(self, at: Branch, to: int, times: int) -> float:
        share = TINY if to == at.node else 1.0
        return float(self.forest.cover[to]) * share * at.share / times

    def _way(self, node: int, feature: int, left: int, code: int) -> int:
        """Where a code leads: to a child, or to the node itself."""
        forest = self.forest
        if code == -1:
            return {LEFT: left, RIGHT: left + 1}.get(int(forest.missing[node]), node)
        if code < 0:
            return node
        size = int(forest.set_words[feature])
        for side in (0, 1):
            word = int(forest.words[int(forest.sets[node]) + side * size + code // 64])
            if word >> (code % 64) & 1:
                return left + side
        return node


def shap_trees(forest: Forest, n_codes: NDArray[np.int64], owner: str) -> dict[str, Any]:
    """A forest as shap.TreeExplainer reads it."""
    if forest.linear is not None:
        raise NotExportableError(f"{owner}: shap knows no trees with linear leaves. Train with linear_leaves=False.")
    trees = [ShapTree(forest, number, n_codes, owner).arrays(output) for number, output in enumerate(forest.output.tolist())]
    offset = float(forest.start[0]) if forest.n_outputs == 1 else forest.start.copy()
    return {"trees": trees, "base_offset": offset, "tree_output": "raw_value", "internal_dtype": np.float64, "input_dtype": np.float64}
