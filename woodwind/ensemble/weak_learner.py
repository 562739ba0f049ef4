"""Learners: what adaptive boosting asks of the models that it adds up, and trees of the engine in that role.

A learner is given labels, or numbers, and a weight for each row; it answers with what it has learned and what that says about the same
rows.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.random_streams import key, uniform
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranks
from woodwind.data.tables.table import Table
from woodwind.tree.cart import CartData, CartPlan, classification_tree, regression_tree
from woodwind.tree.exact_grower import ranks_of_codes
from woodwind.tree.forest import Forest
from woodwind.tree.settings import TreeSettings
from woodwind.tree.small_table_walk import SmallTableWalk
from woodwind.tree.stump import Stumps

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = NDArray[np.int32]

NO_LIMIT = 1 << 40
# Sums of one stump, for each thread: 256 MB.
MOST_CELLS = 1 << 25


@dataclass(frozen=True, eq=False)
class TrainedClassifier:
    """What was learned of classes.

    `nodes` are the class probabilities at the nodes where rows end, (N, K), and `leaf` is the node of every row; where a learner has no
    such nodes, every row is one of its own and `leaf` is None.
    """

    member: Any
    nodes: Floats
    leaf: NDArray[np.integer] | None = None

    @property
    def probabilities(self) -> Floats:
        """Class probabilities, for every row: (n, K)."""
        return self.nodes if self.leaf is None else self.nodes[self.leaf]

    @property
    def votes(self) -> Integers:
        """The class that every row is taken for; of equals the first."""
        votes = self.nodes.argmax(axis=1)
        return np.asarray(votes if self.leaf is None else votes[self.leaf])


class WeakClassifier(Protocol):
    """Learns labels 0 .. n_labels - 1 of the rows of a table, by weights that add up to one. `name` is the key of all that is drawn."""

    draws: bool  # whether another name may lead to something else

    def learn(self, label: Labels, n_labels: int, weight: Floats, name: int) -> TrainedClassifier:
        """Learn, and say what was learned."""


class WeakRegressor(Protocol):
    """Learns numbers. `count` is how often each row was drawn, None for once each; weights may be None."""

    def learn_numbers(self, y: Floats, weight: Floats | None, count: Integers | None, name: int) -> tuple[Any, Floats]:
        """What was learned, and what it says about every row, drawn or not."""


def draw_by_weight(name: int, weight: Floats, count: int) -> Integers:
    """So many rows, drawn with replacement, each as likely as it weighs."""
    edges = np.cumsum(weight)
    return np.asarray(np.minimum(np.searchsorted(edges, uniform(name, count) * edges[-1], side="right"), len(weight) - 1))


@dataclass(frozen=True, eq=False)
class WeakTreeRows:
    """The rows that trees learn from: a table, read once, in ranks or in bins."""

    table: Table
    cuts: Cuts | None  # None: every threshold is considered
    codes: Codes | None
    count: Integers | None  # how many rows each stands for; None for one each

    @classmethod
    def of(cls, table: Table, max_bins: int | None, given: Floats | None, count: Integers | None, threads: int) -> "WeakTreeRows":
        """Read a table; `given` are the weights that bins are made by."""
        if max_bins is None:
            return cls(table, None, None, count)
        cuts = Cuts.fit(table, max_bins, given, threads)
        return cls(table, cuts, cuts.encode(table, threads), count)

    def ranks(self, threads: int) -> Ranks:
        """The ranks that exact growth takes."""
        return Ranks.of(self.table, threads) if self.codes is None else ranks_of_codes(self.codes)


class WeakTreeLearner:
    """Trees of a given depth, of which the exact engine grows one in every round."""

    draws = False

    def __init__(self, rows: WeakTreeRows, max_depth: int | None, threads: int) -> None:
        self.rows, self.threads = rows, threads
        self._ranks, self._walk = rows.ranks(threads), SmallTableWalk(rows.table)
        self._count = np.ones(rows.table.n_rows, np.int64) if rows.count is None else rows.count
        settings = TreeSettings(
            growth="level", max_leaves=NO_LIMIT, max_depth=max_depth, min_rows=1.0, min_hessian=0.0, l2=0.0,
            category_smooth=0.0, category_l2=0.0,
        )  # fmt: skip
        self._plan = CartPlan(settings, "gini", 2, 0, threads)

    def learn(self, label: Labels, n_labels: int, weight: Floats, name: int) -> TrainedClassifier:
        """A classification tree; nothing is drawn."""
        data = CartData(self._ranks, self.rows.cuts, self._count, weight)
        forest = classification_tree(data, label, n_labels, self._plan)
        return TrainedClassifier(forest, forest.value, self.leaf_numbers(forest))

    def learn_numbers(self, y: Floats, weight: Floats | None, count: Integers | None, name: int) -> tuple[Forest, Floats]:
        """A regression tree; nothing is drawn."""
        data = CartData(self._ranks, self.rows.cuts, self._count if count is None else count, weight)
        forest = regression_tree(data, y, replace(self._plan, criterion="squared_error"))
        return forest, forest.value[self.leaf_numbers(forest), 0]

    def leaf_numbers(self, member: Forest) -> NDArray[np.integer]:
        """The leaf of every row in a tree."""
        return self._walk.leaves(member, self.threads)


class DrawnTreeLearner(WeakTreeLearner):
    """The same trees, on rows that are drawn by weight with replacement, as many as there are: boosting by resampling."""

    draws = True

    def learn(self, label: Labels, n_labels: int, weight: Floats, name: int) -> TrainedClassifier:
        """A classification tree of the rows drawn; what it says is about all rows."""
        drawn = draw_by_weight(key(name, "rows"), weight * self._count, int(self._count.sum()))
        data = CartData(self._ranks, self.rows.cuts, np.bincount(drawn, minlength=len(weight)), None)
        forest = classification_tree(data, label, n_labels, self._plan)
        return TrainedClassifier(forest, forest.value, self.leaf_numbers(forest))


class WeakStumpLearner:
    """Trees of one split on bins of numbers, found from one pass over all codes."""

    draws = False

    def __init__(self, rows: WeakTreeRows, threads: int) -> None:
        assert rows.codes is not None
        assert rows.cuts is not None
        self.codes, self.cuts, self.count = rows.codes, rows.cuts, rows.count
        self.stumps = Stumps(rows.codes, rows.count, threads)

    @classmethod
    def serves(cls, rows: WeakTreeRows, max_depth: int | None, n_labels: int) -> bool:
        """Whether stumps are all that is asked for. Sets of categories, and sums that fill the memory, are left to the exact engine."""
        codes = rows.codes
        if max_depth != 1 or codes is None or codes.is_category.any():
            return False
        return bool(codes.by_row.shape[1] * codes.width * n_labels <= MOST_CELLS)

    def learn(self, label: Labels, n_labels: int, weight: Floats, name: int) -> TrainedClassifier:
        """A stump; nothing is drawn."""
        stump = self.stumps.best(self.stumps.whole(weight), label, n_labels)
        return TrainedClassifier(stump.as_forest(self.cuts, stump.probabilities), stump.probabilities, stump.side(self.codes))


def weak_classifier(rows: WeakTreeRows, max_depth: int | None, n_labels: int, threads: int) -> WeakStumpLearner | WeakTreeLearner:
    """The learner of the engine for trees of this depth and at most so many labels."""
    return (
        WeakStumpLearner(rows, threads) if WeakStumpLearner.serves(rows, max_depth, n_labels) else WeakTreeLearner(rows, max_depth, threads)
    )
