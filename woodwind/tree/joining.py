"""Forests side by side: many into one, and one on fewer features."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.tree.forest import Forest

PER_NODE = ("feature", "threshold", "child", "missing", "words", "value", "cover", "gain", "output")


def joined(forests: Sequence[Forest]) -> Forest:
    """The sum of some forests of the same features and outputs: all their trees in order, and the sum of their starting scores.

    One after the other with `Forest.join` would copy the first tree as often as there are others.
    """
    first = forests[0]
    shape = (first.n_outputs, first.value.shape[1])
    for other in forests[1:]:
        if (other.n_outputs, other.value.shape[1]) != shape or not np.array_equal(other.set_words, first.set_words):
            raise DataError("only forests of the same features, the same outputs and the same width of values can be joined")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(forest, name) for forest in forests]) for name in PER_NODE}
    nodes = np.cumsum([0, *(forest.n_nodes for forest in forests)])
    words = np.cumsum([0, *(forest.words.size for forest in forests)])
    return replace(
        first,
        **arrays,
        roots=np.concatenate([[0], *(forest.roots[1:] + at for forest, at in zip(forests, nodes, strict=False))]),
        sets=np.concatenate([np.where(forest.sets >= 0, forest.sets + at, -1) for forest, at in zip(forests, words, strict=False)]),
        start=np.sum([forest.start for forest in forests], axis=0),
    )


def with_scores(forest: Forest, values: Sequence[NDArray[np.float64]], output: Sequence[int], n_outputs: int) -> Forest:
    """The same trees with other values at their nodes, tree by tree, for the columns `output`; they start from zero.

    Inner nodes take the mean of the leaves below them.
    """
    return replace(
        forest, value=np.concatenate(values), output=np.array(output), n_outputs=n_outputs, start=np.zeros(n_outputs)
    ).with_node_values()


def tree_of(forest: Forest, number: int) -> Forest:
    """One tree, starting from zero: views of the arrays of the forest."""
    return forest.first(number + 1).rest(number)


def on_features(forest: Forest, features: NDArray[np.int64]) -> Forest:
    """The same trees on a table that has only these features; no tree may use another."""
    place = np.full(forest.n_features + 1, -1, np.int32)  # the last for leaves, whose feature is -1
    place[features] = np.arange(len(features))
    return replace(forest, feature=place[forest.feature], set_words=forest.set_words[features])
