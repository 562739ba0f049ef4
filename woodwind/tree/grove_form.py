"""A grove in the general form with as little work as can be: every array of all trees at once, and no order but what kernels need.

`Grove.forest` numbers nodes level by level and tells what splits gain, tree by tree. Explaining needs neither, and for a few rows in a
large forest the form would take as long as the explanation.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.forest.layout import (
    CATEGORY_SHIFT,
    FEATURE_MASK,
    FEATURE_SHIFT,
    LEFT_LEAF_SHIFT,
    LOW_HALF,
    MISSING_SHIFT,
    RIGHT_LEAF_SHIFT,
)
from woodwind.tree.forest import STOP, Forest
from woodwind.tree.grove import Grove

Integers = NDArray[np.int64]
U = np.uint64

# Words of one of the two sets of a category split of a grove.
SET_WORDS = 4


def quick_form(grove: Grove, divisor: int) -> Forest:
    """The trees of a grove as a Forest, their values divided; gains are left out."""
    word, second = grove.nodes[::2], grove.nodes[1::2]
    (inner, leaf), sizes = places_of(grove), np.diff(grove.roots, axis=0)
    rank = np.arange(len(word)) - np.repeat(grove.roots[:-1, 0], sizes[:, 0])
    n = len(inner) + len(leaf)
    category = (word >> U(CATEGORY_SHIFT)) & U(1) == 1

    # Sets stand in the order of the trees: of those of all trees, the ones that these use.
    used = second[category].astype(np.int64)
    low, high = (int(used.min()), int(used.max()) + 2 * SET_WORDS) if used.size else (0, 0)
    sets = np.full(len(word), -1)
    sets[category] = used - low

    def spread(values: NDArray[Any], at_leaves: float) -> NDArray[Any]:
        out = np.full(n, at_leaves, values.dtype)
        out[inner] = values
        return out

    means, covers = grove._means()
    value, cover = np.empty((n, grove.n_outputs)), np.empty(n)
    value[inner], value[leaf] = means / divisor, grove.leaf_values() / divisor
    cover[inner], cover[leaf] = covers, grove.cover
    return Forest(
        roots=grove.roots.sum(axis=1),
        feature=spread(((word >> U(FEATURE_SHIFT)) & U(FEATURE_MASK)).astype(np.int32), -1),
        threshold=spread(np.where(category, 0.0, np.ascontiguousarray(second).view(np.float64)), 0.0),
        child=spread((1 + 2 * rank).astype(np.int32), 0),
        missing=spread(((word >> U(MISSING_SHIFT)) & U(3)).astype(np.uint8), STOP),
        sets=spread(sets, -1),
        words=grove.words[low:high],
        set_words=np.where(grove.n_levels > 0, SET_WORDS, 0),
        value=value,
        cover=cover,
        gain=np.zeros(n),
        output=np.full(grove.n_trees, -1 if grove.n_outputs > 1 else 0),
        n_outputs=grove.n_outputs,
        start=np.zeros(grove.n_outputs),
    )


def places_of(grove: Grove) -> tuple[Integers, Integers]:
    """The place of every inner node and of every leaf: in each tree the root, then the children of its inner nodes in their order.

    A split has a smaller rank than those below it, and so children stand behind their parents.
    """
    word, sizes = grove.nodes[::2], np.diff(grove.roots, axis=0)
    begin, first_leaf = (np.repeat(part, sizes[:, 0]) for part in (grove.roots[:-1].sum(axis=1), grove.roots[:-1, 1]))
    first_inner = np.repeat(grove.roots[:-1, 0], sizes[:, 0])
    own = np.arange(len(word))
    left = begin + 1 + 2 * (own - first_inner)
    left_leaf, right_leaf = ((word >> U(shift)) & U(1) == 1 for shift in (LEFT_LEAF_SHIFT, RIGHT_LEAF_SHIFT))
    refers = (word & U(LOW_HALF)).astype(np.int64)
    inner, leaf = np.empty(len(word), np.int64), np.empty(len(grove.cover), np.int64)
    grows = sizes[:, 0] > 0
    inner[grove.roots[:-1, 0][grows]] = grove.roots[:-1].sum(axis=1)[grows]
    leaf[grove.roots[:-1, 1][~grows]] = grove.roots[:-1].sum(axis=1)[~grows]
    inner[own[~left_leaf] + 1] = left[~left_leaf]
    leaf[(first_leaf + refers)[left_leaf]] = left[left_leaf]
    inner[np.where(left_leaf, own + 1, first_inner + refers)[~right_leaf]] = left[~right_leaf] + 1
    leaf[(first_leaf + refers + left_leaf)[right_leaf]] = left[right_leaf] + 1
    return inner, leaf
