"""Grown trees to a forest: codes become thresholds, categories become sets."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from woodwind.base.validate import require
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking
from woodwind.tree.forest import Forest
from woodwind.tree.grown_tree import ValuedTree
from woodwind.tree.linear_leaves import joined_linear


def check_tree_for(tree: ValuedTree, cuts: Cuts | Ranking) -> None:
    """The tree splits features that are there, numbers and categories; or DataError."""
    categories = cuts.n_categories
    require(tree.feature < categories.size, "a split uses a feature that does not exist")
    split = tree.feature >= 0
    require((tree.set[split] >= 0) == (categories[tree.feature[split]] > 0), "a number is split by categories, or categories by a number")
    require(tree.bin[split] >= 0, "a bin is not there")
    require(tree.threshold is not None or isinstance(cuts, Cuts), "a tree without bins has no thresholds")
    if tree.linear is not None:
        tree.linear.check_for(tree.feature, categories.size)
        require(categories[tree.linear.feature] == 0, "a linear leaf uses a category")


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
        linear=joined_linear([(tree.linear, len(tree.feature)) for tree in trees]),
    )
    return forest.with_node_values()
