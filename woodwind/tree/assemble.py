"""Grown trees to a forest: codes become thresholds, levels become sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from woodwind.data.cuts import Cuts
from woodwind.data.ranks import Ranking
from woodwind.tree.forest import Forest
from woodwind.tree.grow import GrownTree


@dataclass(eq=False, slots=True)  # not frozen: that triples the time of making one
class ValuedTree:
    """A grown tree with the values of its leaves: (N, L), inner nodes ignored."""

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

    def with_values(self, value: NDArray[np.float64], cover: NDArray[np.float64]) -> "ValuedTree":
        """The same splits with other leaf values."""
        covers = cover.copy()
        for node in range(len(covers) - 1, -1, -1):
            if self.feature[node] >= 0:
                covers[node] += covers[self.child[node]] + covers[self.child[node] + 1]
        return replace(self, value=value.reshape(len(self.feature), -1), cover=covers)


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
    set_words = (-(-cuts.n_levels // 64)).astype(np.int32)
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
