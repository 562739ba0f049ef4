"""Rows to leaves in one tree of a training, on the rows as they are coded."""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranks
from woodwind.data.binning.sketch import midpoints
from woodwind.data.tables.table import MISSING, Table
from woodwind.kernels.exact.memory import MISSING_RANK, ROW_MASK
from woodwind.kernels.predict.walk_codes import CodeTree, walk_codes
from woodwind.kernels.predict.walk_ranks import RankTree, walk_ranks
from woodwind.tree.assemble import ValuedTree
from woodwind.tree.forest import LEFT, RIGHT, Forest
from woodwind.tree.grown_tree import GrownTree

# ----------------------------------------------------------------------------------------------------
# Rows to leaves in one tree, for so few rows that a compiled plan of the tree would take longer than the walk itself.

# Up to so many rows a walk node by node is quicker: the plan of a tree takes some 2 ms.
FEW_ROWS = 20_000


class SmallWalk:
    """Walks the rows of one table; columns are read when a tree first asks for them."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._columns: dict[int, NDArray[np.generic]] = {}

    def leaves(self, forest: Forest, threads: int = 1) -> NDArray[np.int32]:
        """The node where each row ends in a forest of one tree; as `Forest.leaves` has it."""
        if self.table.n_rows > FEW_ROWS:
            return forest.leaves(self.table, threads)[:, 0]
        node = np.zeros(self.table.n_rows, np.int32)
        for position in np.flatnonzero(forest.feature >= 0):
            rows = np.flatnonzero(node == position)
            if rows.size:
                left, right = self._sides(forest, int(position), rows)
                child = forest.child[position]
                node[rows[left]] = child
                node[rows[right]] = child + 1
        return node

    def _sides(self, forest: Forest, position: int, rows: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows of a node go left and which right; others stop there."""
        feature = int(forest.feature[position])
        if feature not in self._columns:
            self._columns[feature] = self.table.columns[feature].block(0, self.table.n_rows)
        values = self._columns[feature][rows]
        words = int(forest.set_words[feature])
        if words == 0:
            left = np.asarray(values <= forest.threshold[position])
            lost = np.isnan(values)
            right = ~left & ~lost
        else:
            lost = values == MISSING
            left, right = (
                self._in_set(values, forest.words[begin : begin + words])
                for begin in (forest.sets[position], forest.sets[position] + words)
            )
        if forest.missing[position] == LEFT:
            left = left | lost
        elif forest.missing[position] == RIGHT:
            right = right | lost
        return left, right

    def _in_set(self, categories: NDArray[np.generic], words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether each level is in a set of bits; what is no level is in none."""
        known = np.asarray(categories, np.int64)
        position = np.maximum(known, 0)
        bit = (words[np.minimum(position >> 6, len(words) - 1)] >> (position & 63).astype(np.uint64)) & np.uint64(1)
        return np.asarray((bit == 1) & (known >= 0) & (position < 64 * len(words)))


# ----------------------------------------------------------------------------------------------------
# Ranks to thresholds, and thresholds to ranks.
#
# While a tree is on ranks, the `bin` of a number split holds two of them: (of the next value in the node above the cut << 32) + of the last
# one below.


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def ranks_of_codes(codes: Codes) -> Ranks:
    """The codes of bins as ranks: trees then consider the edges of the bins only."""
    by_column = codes.by_column.astype(np.int32, order="C")
    by_column[by_column >= codes.width - 1] = -1
    order = np.empty_like(by_column)
    for feature, column in enumerate(codes.by_column):
        order[feature] = np.argsort(column, kind="stable")  # the code of a missing value is the largest
    return Ranks(by_column, order, (np.empty(0),) * len(by_column), codes.n_bins, codes.is_category)


def thresholds(tree: GrownTree, ranks: Ranks, cuts: Cuts | None = None) -> Floats:
    """Where each number split cuts: midway between the neighbours in the node, or, with cuts, at the middle edge between them.

    A split that parts all numbers from missing values cuts at infinity.
    """
    out = np.zeros(len(tree.feature))
    below, above = tree.bin & ROW_MASK, tree.bin >> 32
    for feature in np.unique(tree.feature[(tree.feature >= 0) & (tree.set < 0)]):
        here = np.flatnonzero(tree.feature == feature)
        low, high = below[here], above[here]
        if cuts is None:
            values = ranks.values[feature]
            found = midpoints(values[low], values[np.minimum(high, len(values) - 1)])
        else:
            edges = np.append(cuts.edges[feature], np.inf)
            found = edges[np.minimum((low + high - 1) // 2, len(edges) - 1)]
        out[here] = np.where(high == MISSING_RANK, np.inf, found)
    return out


def last_ranks(tree: ValuedTree, ranks: Ranks) -> Integers:
    """The last rank of this table that goes left at each number split, whether or not the node has seen it."""
    assert tree.threshold is not None
    out = np.zeros(len(tree.feature), np.int64)
    for feature in np.unique(tree.feature[(tree.feature >= 0) & (tree.set < 0)]):
        here = tree.feature == feature
        out[here] = np.searchsorted(ranks.values[feature], tree.threshold[here], side="right") - 1
    return out


def walk_tree(tree: ValuedTree, rows: Codes | Ranks, out: NDArray[np.int32], threads: int = 1) -> None:
    """Write the node where each row ends to `out`."""
    if isinstance(rows, Codes):
        walk_on_codes(tree, rows, out, threads)
    else:
        walk_on_ranks(tree, rows, out, threads)


def walk_on_codes(tree: ValuedTree, codes: Codes, out: NDArray[np.int32], threads: int) -> None:
    """Rows as codes of bins."""
    code_tree = CodeTree(
        np.where(tree.feature < 0, -1, codes.places[tree.feature]).astype(np.int32),
        tree.bin.astype(np.uint8),
        tree.child,
        tree.missing,
        tree.set.astype(np.int32),
        tree.sets,
        codes.missing,
    )
    flat, steps = codes.by_row.reshape(-1), (codes.by_row.shape[1], 1)
    run_ranges(lambda begin, end: walk_codes(flat, steps, None, begin, end, code_tree, out), codes.n_rows, threads, 8)


def walk_on_ranks(tree: ValuedTree, ranks: Ranks, out: NDArray[np.int32], threads: int) -> None:
    """Rows as ranks, of the table that the tree was grown on or of another."""
    rank_tree = RankTree(tree.feature, last_ranks(tree, ranks), tree.child, tree.missing, tree.set, tree.sets)
    flat = ranks.by_column.reshape(-1)
    run_ranges(lambda begin, end: walk_ranks(flat, rank_tree, begin, end, out), ranks.n_rows, threads, 8)
