"""Ranks to thresholds, and thresholds to ranks.

While a tree is on ranks, the `bin` of a number split holds two of them: (of the next value in the node above the cut << 32) + of the
last one below.
"""

import numpy as np
from numpy.typing import NDArray

from woodwind.data.codes import Codes
from woodwind.data.cuts import Cuts
from woodwind.data.ranks import Ranks
from woodwind.data.sketch import midpoints
from woodwind.kernels.exact.memory import MISSING_RANK, ROW_MASK
from woodwind.tree.assemble import ValuedTree
from woodwind.tree.grown_tree import GrownTree

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
