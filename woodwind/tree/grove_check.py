"""Is a grove sound? No walk can leave its arrays or go on for ever, and what it finds at the end are shares or finite numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.sound import sound, sound_array
from woodwind.kernels.forest.layout import (
    CATEGORY_SHIFT,
    FEATURE_MASK,
    FEATURE_SHIFT,
    LEFT_LEAF_SHIFT,
    LOW_HALF,
    MISSING_SHIFT,
    RIGHT_LEAF_SHIFT,
)
from woodwind.kernels.tree.layout import STOP

U = np.uint64
# Words of the two sets of a category split; levels that one of them has room for; states of a walk have so many bits for a number.
SET_WORDS, SET_LEVELS, MOST_NODES = 8, 256, 1 << 30
# What adding up weights may lose.
NEARLY = 1e-6


def check_grove(grove: Any) -> None:
    """Raise DataError, with what is wrong, unless the grove is sound."""
    check_shapes(grove)
    check_nodes(grove)
    check_children(grove)
    check_leaves(grove)


def check_shapes(grove: Any) -> None:
    """Every array has its type and the length that the others ask for."""
    types = {"nodes": "u8", "words": "u8", "roots": "i8", "mixed": "f8", "importance": "f8", "n_levels": "i4"}
    for name, code in types.items():
        sound(getattr(grove, name).dtype == np.dtype(code), f"{name} of the trees has the wrong type")
    sound(grove.cover.dtype in (np.float32, np.float64), "cover of the trees has the wrong type")
    sound_array(grove.nodes, (None,), "nodes of the trees")
    sound_array(grove.words, (None,), "words of the trees")
    sound_array(grove.n_levels, (None,), "n_levels of the trees")
    sound_array(grove.importance, (grove.n_levels.size,), "importance of the features")
    sound_array(grove.roots, (None, 2), "roots of the trees")
    sound((grove.n_levels >= 0) & (grove.n_levels <= SET_LEVELS), "a feature has an impossible number of levels")
    sound(grove.n_classes >= 0 and grove.n_levels.size <= FEATURE_MASK, "there are too many features")
    sound(grove.nodes.size % 2 == 0 and len(grove.roots) >= 1, "a node is half there")
    n_inner, n_leaves = grove.nodes.size // 2, grove.cover.size
    sound(n_inner < MOST_NODES, "there are too many nodes")
    sound((grove.roots[0] == 0).all() and (grove.roots[-1] == (n_inner, n_leaves)).all(), "the trees do not cover the nodes")
    sound((grove.roots[1:] >= grove.roots[:-1]).all(), "a tree ends before it begins")
    inner, leaves = np.diff(grove.roots, axis=0).T
    sound(leaves == inner + 1, "a tree has another number of leaves than its splits make")


def check_nodes(grove: Any) -> None:
    """Splits ask features that are there, by thresholds that are numbers or by sets that are there."""
    word, second = grove.nodes[::2], grove.nodes[1::2]
    feature = ((word >> U(FEATURE_SHIFT)) & U(FEATURE_MASK)).astype(np.int64)
    sound(feature < grove.n_levels.size, "a split uses a feature that does not exist")
    sound((word >> U(RIGHT_LEAF_SHIFT + 1)) == 0, "a node says more than is known")
    sound(((word >> U(MISSING_SHIFT)) & U(3)) <= STOP, "missing values go nowhere")
    category = (word >> U(CATEGORY_SHIFT)) & U(1) == 1
    sound(category == (grove.n_levels[feature] > 0), "a number is split by levels, or levels by a number")
    sound(~np.isnan(np.ascontiguousarray(second[~category]).view(np.float64)), "a threshold is not a number")
    sets = second[category]
    sound(grove.words.size >= SET_WORDS or sets.size == 0, "a set is not there")
    # Compared without adding, so that nothing can wrap around.
    sound(sets <= U(max(grove.words.size - SET_WORDS, 0)), "a set reaches beyond the words")
    for k in range(SET_WORDS // 2):
        at = sets.astype(np.int64) + k
        sound(grove.words[at] & grove.words[at + SET_WORDS // 2] == 0, "a level goes both ways")


def check_children(grove: Any) -> None:
    """Children come after their parents in the same tree, and every node but the root and every leaf has one parent."""
    word = grove.nodes[::2]
    if word.size == 0:
        return
    sizes = np.diff(grove.roots[:, 0])
    own_size = np.repeat(sizes, sizes)
    first_node, first_leaf = (np.repeat(grove.roots[:-1, side], sizes) for side in (0, 1))
    here = np.arange(word.size) - first_node
    left_leaf, right_leaf = ((word >> U(shift)) & U(1) == 1 for shift in (LEFT_LEAF_SHIFT, RIGHT_LEAF_SHIFT))
    refers = (word & U(LOW_HALF)).astype(np.int64)
    left = np.where(left_leaf, refers, here + 1)
    right = np.where(right_leaf, refers + left_leaf, np.where(left_leaf, here + 1, refers))
    nodes, leaves = [], []
    for child, is_leaf in ((left, left_leaf), (right, right_leaf)):
        inside = np.where(is_leaf, child <= own_size, (child > here) & (child < own_size))
        sound(inside, "a child is not behind its parent in the same tree")
        nodes.append((first_node + child)[~is_leaf])
        leaves.append((first_leaf + child)[is_leaf])
    parents = np.bincount(np.concatenate(nodes), minlength=word.size)
    sound(parents == (here > 0), "a node has no parent, or two")
    parents = np.bincount(np.concatenate(leaves), minlength=grove.cover.size)
    alone = np.zeros(grove.cover.size, np.bool_)
    alone[grove.roots[:-1, 1][sizes == 0]] = True
    sound(parents == ~alone, "a leaf has no parent, or two")


def check_leaves(grove: Any) -> None:
    """Leaves hold classes that are there, weights that are shares of their cover, or finite numbers."""
    cover: NDArray[np.float64] = grove.cover.astype(np.float64)
    sound_array(cover, (None,), "cover of the leaves")
    sound(cover > 0.0, "a leaf covers nothing")
    sound(grove.importance >= 0.0, "an importance is below zero")
    sound((grove.leaf is None) == (grove.n_classes == 0), "leaves of classes and of numbers are mixed up")
    if grove.leaf is None:
        sound_array(grove.mixed, (cover.size, 1), "values of the leaves")
        return
    sound(grove.leaf.dtype == np.int32, "leaf of the trees has the wrong type")
    sound_array(grove.leaf, (cover.size,), "classes of the leaves")
    sound_array(grove.mixed, (None, grove.n_classes - 1), "weights of the leaves")
    sound((grove.leaf < grove.n_classes) & (grove.leaf >= -len(grove.mixed)), "a leaf is of a class that does not exist")
    some = np.flatnonzero(grove.leaf < 0)
    weights = grove.mixed[-1 - grove.leaf[some].astype(np.int64)]
    sound(weights >= 0.0, "a weight is below zero")
    sound(weights.sum(axis=1) <= cover[some] * (1.0 + NEARLY), "a leaf has more weight than it covers")
