"""Grown trees to a forest: codes become thresholds, categories become sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.base.validate import require, require_array
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking
from woodwind.kernels.histogram.leaves import add_leaf_column, add_leaf_values, add_leaf_vectors
from woodwind.kernels.predict.walk import node_means
from woodwind.tree.forest import STOP, Forest
from woodwind.tree.grown_tree import GrownTree

# Words of the two sets of a category split.
SET_WORDS = 8


@dataclass(eq=False, slots=True)  # not frozen: that triples the time of making one
class ValuedTree:
    """A grown tree with its values: (N, L); an inner node has the mean of the leaves below it, for rows that stop there."""

    feature: NDArray[np.int32]
    bin: NDArray[np.int64]
    child: NDArray[np.int32]
    missing: NDArray[np.uint8]
    set: NDArray[np.int64]
    sets: NDArray[np.uint64]
    gain: NDArray[np.float64]
    cover: NDArray[np.float64]
    low: NDArray[np.float64]  # bounds of the value, times the learning rate
    high: NDArray[np.float64]
    value: NDArray[np.float64]
    output: int  # column of the score that it adds to; -1 for all
    threshold: NDArray[np.float64] | None = None  # (N,) where number splits cut; None: at the edge of their `bin`

    @classmethod
    def of(
        cls, tree: GrownTree, value: NDArray[np.float64], output: int, rate: float, threshold: NDArray[np.float64] | None = None
    ) -> "ValuedTree":
        """Keep what a model needs of a grown tree; `value` and the bounds are times the learning rate."""
        return cls(
            feature=tree.feature,
            bin=tree.bin,
            child=tree.child,
            missing=tree.missing,
            set=tree.set,
            sets=tree.sets,
            gain=tree.gain,
            cover=tree.count.astype(np.float64),
            low=tree.low * rate,
            high=tree.high * rate,
            value=value.reshape(len(tree.feature), -1),
            output=output,
            threshold=threshold,
        )

    def check(self) -> "ValuedTree":
        """Prove that no walk can leave the arrays or go on for ever; gives the tree, or raises DataError. Then ask `check_for`."""
        n_nodes = len(self.feature)
        require_array(self.feature, (None,), "features of a tree")
        require(n_nodes > 0, "a tree has no nodes")
        for name in ("bin", "child", "missing", "set"):
            require_array(getattr(self, name), (n_nodes,), f"{name} of a tree")
        for name in ("gain", "cover", "low", "high"):
            require(getattr(self, name).shape == (n_nodes,) and not np.isnan(getattr(self, name)).any(), f"{name} of a tree is no number")
        require_array(self.value, (n_nodes, None), "values of a tree")
        require_array(self.sets, (None, SET_WORDS), "sets of a tree")
        right = self.threshold is None or (self.threshold.shape == (n_nodes,) and not np.isnan(self.threshold).any())
        require(right, "a threshold is not a number")
        split, child = self.feature >= 0, self.child.astype(np.int64)
        require(self.feature >= -1, "a split uses a feature that does not exist")
        require(np.where(split, (child > np.arange(n_nodes)) & (child + 1 < n_nodes), child == 0), "a child is not behind its parent")
        parents = np.bincount(np.concatenate([child[split], child[split] + 1]), minlength=n_nodes)
        require(parents == (np.arange(n_nodes) > 0), "a node has no parent, or two")
        require((self.set >= -1) & (self.set < len(self.sets)) & (self.missing <= STOP), "a set is not there, or missing values go nowhere")
        goes_left, goes_right = self.sets[:, : SET_WORDS // 2], self.sets[:, SET_WORDS // 2 :]
        require((goes_left & goes_right) == 0, "a category goes left and right")  # a walk would go back
        return self

    def check_for(self, cuts: Cuts | Ranking) -> None:
        """The tree splits features that are there, numbers and levels; or DataError."""
        categories = cuts.n_categories
        require(self.feature < categories.size, "a split uses a feature that does not exist")
        split = self.feature >= 0
        require((self.set[split] >= 0) == (categories[self.feature[split]] > 0), "a number is split by levels, or levels by a number")
        require(self.bin[split] >= 0, "a bin is not there")
        require(self.threshold is not None or isinstance(cuts, Cuts), "a tree without bins has no thresholds")

    def with_values(self, value: NDArray[np.float64], cover: NDArray[np.float64]) -> "ValuedTree":
        """The same splits with other leaf values."""
        return replace(self, value=value.reshape(len(self.feature), -1), cover=covers_below(self.feature, self.child, cover))


def covers_below(feature: NDArray[np.int32], child: NDArray[np.int32], cover: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covers of the nodes of a tree, from those of the rows that end at each."""
    covers = cover.copy()
    for node in range(len(covers) - 1, -1, -1):
        if feature[node] >= 0:
            covers[node] += covers[child[node]] + covers[child[node] + 1]
    return covers


def thresholds(trees: Sequence[ValuedTree], cuts: Cuts | Ranking) -> NDArray[np.float64]:
    """Edge of every number split: left when x <= edge. A split after the last bin parts numbers from missing values."""
    if not isinstance(cuts, Cuts):
        return np.concatenate([tree.threshold for tree in trees if tree.threshold is not None])
    feature = np.concatenate([tree.feature for tree in trees])
    where = np.concatenate([tree.bin for tree in trees])
    out = np.zeros(len(feature))
    for f in np.unique(feature[feature >= 0]):
        if not cuts.is_category[f]:
            edges = np.append(cuts.edges[f], np.inf)
            here = feature == f
            out[here] = edges[np.minimum(where[here], len(edges) - 1)]
    return out


def assemble(trees: Sequence[ValuedTree], cuts: Cuts | Ranking, start: NDArray[np.float64], width: int) -> Forest:
    """One forest of all trees."""
    set_words = (-(-cuts.n_categories // 64)).astype(np.int32)
    if not trees:
        return Forest.empty(set_words, start, width)
    sets, words = [], []
    at = 0
    for tree in trees:
        places = np.full(len(tree.feature), -1, np.int64)
        for node in np.flatnonzero(tree.set >= 0):
            m = int(set_words[tree.feature[node]])
            row = tree.sets[tree.set[node]]
            words.append(np.concatenate([row[:m], row[4 : 4 + m]]))
            places[node] = at
            at += 2 * m
        sets.append(places)
    forest = Forest(
        roots=np.concatenate([[0], np.cumsum([len(tree.feature) for tree in trees])]),
        feature=np.concatenate([tree.feature for tree in trees]),
        threshold=thresholds(trees, cuts),
        child=np.concatenate([tree.child for tree in trees]),
        missing=np.concatenate([tree.missing for tree in trees]),
        sets=np.concatenate(sets),
        words=np.concatenate(words) if words else np.zeros(0, np.uint64),
        set_words=set_words,
        value=np.concatenate([tree.value for tree in trees]),
        cover=np.concatenate([tree.cover for tree in trees]),
        gain=np.concatenate([tree.gain for tree in trees]),
        output=np.array([tree.output for tree in trees]),
        n_outputs=len(start),
        start=start,
    )
    return forest.with_node_values()


# ----------------------------------------------------------------------------------------------------
# Finishing a tree: means at inner nodes, and scores of the rows.

# Rows to which all trees of a round are added before the next ones: their scores stay in the second-level cache.
ADD_ROWS = 4096
TreeWithLeaves = tuple[ValuedTree, NDArray[np.int32]]  # a tree, and the node where each row of the table ends


def with_means(tree: ValuedTree) -> ValuedTree:
    """Inner nodes get the cover-weighted mean of the leaves below: what a walk that ends there takes."""
    roots: NDArray[np.int64] = np.array([0, len(tree.feature)])
    node_means(tree.feature, tree.child, tree.cover, roots, tree.value)
    return tree


def add_leaf_scores(raw: NDArray[np.float64], positioned: Sequence[TreeWithLeaves], threads: int) -> None:
    """Add the values of trees to the scores of all rows."""

    def part(begin: int, end: int) -> None:
        step = end - begin if len(positioned) == 1 else ADD_ROWS
        for first in range(begin, end, step):
            for tree, leaf in positioned:
                values, past = np.ascontiguousarray(tree.value), min(first + step, end)
                if tree.output < 0:
                    add_leaf_vectors(raw, leaf, values, first, past)
                elif raw.ndim == 1:
                    add_leaf_values(raw, leaf, values[:, 0], first, past)
                else:
                    add_leaf_column(raw, tree.output, leaf, values[:, 0], first, past)

    run_ranges(part, len(raw), threads, len(positioned))
