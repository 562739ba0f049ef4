"""Rows to leaves in one tree of a forest, for so few rows that a compiled plan of the tree would take longer than the walk itself."""

import numpy as np
from numpy.typing import NDArray

from woodwind.data.tables.table import MISSING, Table
from woodwind.kernels.tree.layout import LEFT, RIGHT
from woodwind.tree.forest import Forest

# Up to so many rows a walk node by node is quicker: the plan of a tree takes some 2 ms.
FEW_ROWS = 20_000


class SmallTableWalk:
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
        """Whether each category is in a set of bits; what is no category is in none."""
        known = np.asarray(categories, np.int64)
        position = np.maximum(known, 0)
        bit = (words[np.minimum(position >> 6, len(words) - 1)] >> (position & 63).astype(np.uint64)) & np.uint64(1)
        return np.asarray((bit == 1) & (known >= 0) & (position < 64 * len(words)))
