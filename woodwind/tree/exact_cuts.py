"""Ranks to thresholds, and exact trees to the form that forests are assembled from.

While a tree is on ranks, the `bin` of a number split holds two of them: (of the next value in the node above the cut << 32) + of the
last one below.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from woodwind.data.codes import Codes
from woodwind.data.cuts import Cuts
from woodwind.data.ranks import Ranks
from woodwind.data.sketch import midpoints
from woodwind.kernels.exact_layout import MISSING_RANK, ROW_MASK
from woodwind.tree.assemble import ValuedTree
from woodwind.tree.grow import GrownTree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def ranks_of_codes(codes: Codes) -> Ranks:
    """The codes of bins as ranks: trees then consider the edges of the bins only."""
    by_column = codes.by_column.astype(np.int32)
    by_column[by_column >= codes.width - 1] = -1
    order = np.empty_like(by_column)
    for feature, column in enumerate(codes.by_column):
        order[feature] = np.argsort(column, kind="stable")  # the code of a missing value is the largest
    return Ranks(by_column, order, (np.empty(0),) * len(by_column), codes.n_bins, codes.is_category)


def thresholds(tree: GrownTree | ValuedTree, ranks: Ranks, cuts: Cuts | None = None) -> Floats:
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


def last_ranks(tree: GrownTree | ValuedTree, ranks: Ranks) -> Integers:
    """The last rank that goes left at each number split, whether or not the node has seen it."""
    cut = thresholds(tree, ranks)
    out = np.zeros(len(cut), np.int64)
    for feature in np.unique(tree.feature[(tree.feature >= 0) & (tree.set < 0)]):
        here = tree.feature == feature
        out[here] = np.searchsorted(ranks.values[feature], cut[here], side="right") - 1
    return out


def indexed(trees: Sequence[ValuedTree], ranks: Ranks, cuts: Cuts | None = None) -> tuple[list[ValuedTree], Cuts]:
    """The trees as `assemble` takes them: each `bin` is the place of its threshold among the edges of the cuts that come with them."""
    found = [thresholds(tree, ranks, cuts) for tree in trees]
    used: list[Floats] = [np.empty(0)] * ranks.n_features
    for feature in np.flatnonzero(~ranks.is_category):
        parts = [cut[tree.feature == feature] for tree, cut in zip(trees, found, strict=True)]
        used[feature] = np.unique(np.concatenate([*parts, np.empty(0)]))
    out = []
    for tree, cut in zip(trees, found, strict=True):
        place = np.zeros(len(cut), np.int64)
        for feature in np.unique(tree.feature[(tree.feature >= 0) & (tree.set < 0)]):
            here = tree.feature == feature
            place[here] = np.searchsorted(used[feature], cut[here])
        out.append(replace(tree, bin=place))
    return out, Cuts(tuple(used), ranks.is_category, ranks.n_codes, 256)
