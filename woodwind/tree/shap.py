"""What each feature brings to the score of each row: exact Shapley values of forests, docs/algorithms/tree-shap.md.

Features that are not known are averaged over the training rows that came to a node, which a tree knows by its covers: no other data are
needed. The values of a row and the base add up to its score.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.pool import run_ranges
from woodwind.kernels.predict.shap import Desk, Paths, Points, explain_lanes, find_paths
from woodwind.kernels.tree.leaves import node_means
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.compact_forest_parts import quick_form
from woodwind.tree.forest import Forest, n_rows
from woodwind.tree.predictor import rows_of

Floats = NDArray[np.float64]

# Rows that are explained side by side: 64 take 1.4 times as long for each row as 128, and 256 take as long, if what they need stays in the
# cache of a core.
MOST_LANES = 128
LEAST_LANES = 8
CACHE_BYTES = 1 << 19
# Products that one call of the kernel makes, some 30 ms: an interrupt waits for no longer, unless a single tree takes more.
CALL_PRODUCTS = 30_000_000
# Nodes of a CompactForest that are turned into the general form at a time, some 100 MB.
FOREST_NODES = 1 << 20
# So many points are within 4e-15 of the integral of any product of so many factors (docs/algorithms/tree-shap.md).
POINTS_BY_ROOT = 2.8
# No feature is held in all coalitions, or out of them: see Points.
NONE_HELD = (-1, 0.0)


def explain(model: Forest | CompactForest, x: Any, threads: int = 1) -> tuple[Floats, Floats]:
    """Shapley values (n, F, n_outputs) of the rows of a table or matrix, and the base (n_outputs,): the mean of the training rows.

    Values of a row and the base add up to its score: `raw` of a forest, `mean` of a CompactForest. The bits depend on neither the threads
    nor the other rows.
    """
    if isinstance(model, CompactForest):
        return explain_compact_forest(model, x, threads)
    _check_constant_leaves(model)
    values = np.zeros((n_rows(x), model.n_features, model.n_outputs))
    return values, model.start + ShapExplainer.of(model).add(x, values, threads)


def _check_constant_leaves(forest: Forest) -> None:
    if forest.linear is not None:
        raise ParameterError(
            "explain() divides the values of leaves among the splits that lead to them, and a linear leaf has another value for every row. "
            "Train with linear_leaves=False to use it, or ask scikit-learn's permutation_importance."
        )


def explain_interactions(model: Forest | CompactForest, x: Any, threads: int = 1) -> Floats:
    """Shapley interaction values (n, F, F, n_outputs) of the rows of a table or matrix: symmetric, and adding up to the Shapley values.

    Of two features it is half of the Shapley interaction index (Grabisch & Roubens 1999; Lundberg, Erion & Lee 2018): the other half stands
    on the other side of the diagonal. What is left of the Shapley value of a feature stands on the diagonal.
    """
    forest = model.forest() if isinstance(model, CompactForest) else model
    _check_constant_leaves(forest)
    explainer = ShapExplainer.of(forest)
    alone = np.zeros((n_rows(x), forest.n_features, forest.n_outputs))
    explainer.add(x, alone, threads)
    out = np.zeros((n_rows(x), forest.n_features, forest.n_features, forest.n_outputs))
    explainer.add_interactions(x, out, threads)
    place = np.arange(forest.n_features)
    out[:, place, place] = alone - out.sum(axis=2)
    return out


def explain_compact_forest(compact: CompactForest, x: Any, threads: int = 1) -> tuple[Floats, Floats]:
    """The same for a CompactForest, some trees at a time. Class probabilities add up to one, so what one of them gets is what the others
    lose."""
    classes = compact.n_classes >= 2
    n_explained = compact.n_outputs - classes
    values = np.zeros((n_rows(x), len(compact.n_categories), n_explained))
    base = np.zeros(n_explained)
    for part in parts_of(compact):
        forest = quick_form(part, compact.n_trees)
        if classes:
            output = np.full(part.n_trees, -1 if n_explained > 1 else 0)
            forest = replace(forest, value=forest.value[:, 1:], output=output, n_outputs=n_explained, start=np.zeros(n_explained))
        base += ShapExplainer.of(forest).add(x, values, threads)
    if classes:
        values = np.concatenate([-values.sum(axis=2, keepdims=True), values], axis=2)
        base = np.concatenate([[float(compact.n_trees > 0) - base.sum()], base])
    return values, base


def parts_of(compact: CompactForest) -> Iterator[CompactForest]:
    """The trees of a CompactForest in order, some of them at a time: views of its arrays."""
    ends = compact.roots.sum(axis=1)
    begin = 0
    while begin < compact.n_trees:
        end = max(begin + 1, int(np.searchsorted(ends, ends[begin] + FOREST_NODES, side="right")) - 1)
        (inner, leaf), (last_inner, last_leaf) = compact.roots[begin], compact.roots[end]
        yield replace(
            compact, nodes=compact.nodes[2 * inner : 2 * last_inner], roots=compact.roots[begin : end + 1] - compact.roots[begin],
            leaf=None if compact.leaf is None else compact.leaf[leaf:last_leaf], cover=compact.cover[leaf:last_leaf],
            mixed=compact.mixed[leaf:last_leaf] if compact.leaf is None else compact.mixed, _stops=[],
        )  # fmt: skip
        begin = end


@dataclass(frozen=True, eq=False)
class ShapExplainer:
    """A forest in the form in which it is explained: made once, for any number of rows."""

    forest: Forest
    used: NDArray[np.int64]  # (C,) the features that trees ask for
    paths: Paths
    points: Points
    means: Floats  # (n_outputs,) sum of the means of the trees

    @classmethod
    def of(cls, forest: Forest) -> "ShapExplainer":
        """Look at every path of the trees."""
        n = forest.n_nodes
        split = forest.feature >= 0
        used = np.flatnonzero(np.bincount(forest.feature[split], minlength=forest.n_features))
        column = np.full(n, -1, np.int32)
        column[split] = np.searchsorted(used, forest.feature[split])
        paths = Paths(column, np.zeros(n, np.int32), np.zeros(n), np.zeros(n), np.zeros(forest.n_trees, np.int32))
        find_paths(forest.roots, forest.feature, forest.child, forest.cover, paths, np.zeros((n, 3), np.int64))
        return cls(forest, used, paths, quadrature(int(paths.distinct.max(initial=0))), mean_score(forest))

    def trees_of(self, column: int) -> list[tuple[int, int]]:
        """The trees that ask for a feature, as runs of trees that stand side by side: first, and behind the last."""
        tree = np.searchsorted(self.forest.roots, np.flatnonzero(self.paths.column == column), side="right") - 1
        return [(one, one + 1) for one in np.unique(tree).tolist()]

    def add_interactions(self, x: Any, out: Floats, threads: int = 1) -> None:
        """Add the interactions of different features of the rows of x to out (n, F, F, n_outputs)."""
        n, blocks = rows_of(x, self.forest.n_features)
        runs = [self.trees_of(column) for column in range(len(self.used))]

        def work(begin: int, end: int) -> None:
            table = ShapWorkspace.of(self, end - begin)
            for first, block in blocks(begin, end):
                for at in range(0, len(block), table.lanes):
                    rows = block[at : at + table.lanes]
                    ends = slice(first + at, first + at + len(rows))
                    for column in range(1, len(self.used)):
                        within = table.explain(rows, (column, 1.0), runs[column]).copy()
                        found = 0.5 * (within - table.explain(rows, (column, 0.0), runs[column]))[:, :column]
                        out[ends, self.used[:column], self.used[column]] += found
                        out[ends, self.used[column], self.used[:column]] += found

        if n and len(self.used) > 1:
            run_ranges(work, n, threads, 2 * len(self.used) * self.forest.n_nodes * self.points.at.shape[1])

    def add(self, x: Any, out: Floats, threads: int = 1) -> Floats:
        """Add the values of the rows of x to out (n, F, n_outputs); the base (n_outputs,) without the start of the forest."""
        n, blocks = rows_of(x, self.forest.n_features)

        def work(begin: int, end: int) -> None:
            table = ShapWorkspace.of(self, end - begin)
            for first, block in blocks(begin, end):
                for at in range(0, len(block), table.lanes):
                    rows = block[at : at + table.lanes]
                    out[first + at : first + at + len(rows), self.used] += table.explain(rows)

        if n and len(self.used):
            run_ranges(work, n, threads, self.forest.n_nodes * self.points.at.shape[1])
        return self.means


@dataclass(frozen=True, eq=False)
class ShapWorkspace:
    """Where one thread explains, some rows at a time."""

    explainer: ShapExplainer
    lanes: int
    desk: Desk
    columns: Floats  # (C, B)
    found: Floats  # (C, n_outputs, B)
    steps: list[int]  # trees of one call of the kernel are from one to the next

    @classmethod
    def of(cls, explainer: ShapExplainer, n_rows: int) -> "ShapWorkspace":
        """For so many rows."""
        forest, most, c = explainer.forest, explainer.points.at.shape[1], len(explainer.used)
        depth, width = int(forest.depth.max(initial=0)), forest.value.shape[1]
        places = 2 * depth + 2
        numbers = places * (most * (1 + width) + 1) + depth + 1 + c * (1 + forest.n_outputs)
        lanes = max(min(MOST_LANES, n_rows, max(CACHE_BYTES // (8 * numbers), LEAST_LANES)), 1)
        desk = Desk(
            above=np.empty(places * most * lanes), below=np.empty(places * width * most * lanes), goes=np.empty(places * lanes),
            stops=np.empty((depth + 1) * lanes), total=np.empty(2 * lanes), way=np.empty((depth + 1, 4), np.int64),
        )  # fmt: skip
        at_once = max(CALL_PRODUCTS // (most * width * lanes), 1)
        return cls(explainer, lanes, desk, np.empty((c, lanes)), np.empty((c, forest.n_outputs, lanes)), [*steps_of(forest.roots, at_once)])

    def explain(self, rows: NDArray[Any], held: tuple[int, float] = NONE_HELD, trees: Sequence[tuple[int, int]] | None = None) -> Floats:
        """Values (n, C, n_outputs) of some rows (n, F), at most as many as there are lanes; good until the next call.

        held: a column, and 1.0 if its feature is always known, 0.0 if it never is; trees: those that are explained, None for all.
        """
        own, n = self.explainer, len(rows)
        self.columns[:, :n] = rows[:, own.used].T
        gaps = np.isnan(self.columns[:, :n]).any(axis=1).astype(np.uint8)
        self.found[:] = 0.0
        sizes = (n, self.lanes, own.points.at.shape[1], own.forest.n_outputs)
        x, out = (self.columns.reshape(-1), gaps), self.found.reshape(-1)
        for some in pairwise(self.steps) if trees is None else trees:
            explain_lanes(x, sizes, some, own.forest.batch_predictor.walk, own.paths, own.points._replace(held=held), self.desk, out)
        return self.found[:, :, :n].transpose(2, 0, 1)


def steps_of(roots: NDArray[np.int64], nodes: int) -> Iterator[int]:
    """Numbers of trees from 0 to the last, between which there are at most so many nodes, or one tree."""
    tree = 0
    yield tree
    while tree < len(roots) - 1:
        tree = max(tree + 1, int(np.searchsorted(roots, roots[tree] + nodes, side="right")) - 1)
        yield tree


def quadrature(most_features: int) -> Points:
    """Points and weights of Gauss and Legendre on (0, 1) for trees with up to so many features on a way.

    m points are exact for polynomials of a degree below 2 m, which d factors have, one of them left out, for m = d / 2. Beyond 31 features
    fewer points are as good.
    """
    count = [max(1, min(ceil(d / 2), ceil(POINTS_BY_ROOT * sqrt(d)))) for d in range(most_features + 1)]
    most = max(count)
    at, weight = np.zeros((most + 1, most)), np.zeros((most + 1, most))
    for m in set(count):
        t, w = np.polynomial.legendre.leggauss(m)
        at[m, :m], weight[m, :m] = (t + 1.0) / 2.0, w / 2.0
    return Points(np.array(count, np.int32), at, weight)


def mean_score(forest: Forest) -> Floats:
    """Sum of the means of all trees (n_outputs,), each that of its leaves by cover."""
    value = forest.value.copy()
    node_means(forest.feature, forest.child, forest.cover, forest.roots, value)
    out = np.zeros(forest.n_outputs)
    for root, column in zip(forest.roots[:-1], forest.output, strict=True):
        if column >= 0:
            out[column] += value[root, 0]
        else:
            out += value[root]
    return out
