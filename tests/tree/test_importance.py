"""Importance is read from the arrays of a forest."""

import numpy as np
import pytest

from reference.forests import random_forest
from woodwind.tree.forest import Forest, importance


def small() -> Forest:
    """Two trees: feature 2, then 0 below it; and feature 2 alone."""
    return Forest(
        roots=[0, 5, 8], feature=[2, -1, 0, -1, -1, 2, -1, -1], threshold=np.zeros(8), child=[1, 0, 3, 0, 0, 1, 0, 0],
        missing=np.full(8, 2), sets=np.full(8, -1), words=[], set_words=[0, 0, 0], value=np.zeros((8, 1)),
        cover=[10, 4, 6, 3, 3, 10, 5, 5], gain=[5, 0, 2, 0, 0, 1, 0, 0], output=[0, 0], n_outputs=1, start=[0.0],
    ).check()  # fmt: skip


@pytest.mark.parametrize(("kind", "expected"), [("gain", [2, 0, 6]), ("cover", [6, 0, 20]), ("splits", [1, 0, 2])])
def test_importance_sums_over_splits(kind, expected):
    np.testing.assert_array_equal(importance(small(), kind), expected)
    np.testing.assert_allclose(importance(small(), kind, normalise=True), np.array(expected) / sum(expected))


def test_leaves_count_for_nothing():
    forest = random_forest(1, max_leaves=1)
    assert importance(forest).tolist() == [0.0, 0.0, 0.0]
    assert importance(forest, normalise=True).tolist() == [0.0, 0.0, 0.0]
    assert importance(forest.first(0), "splits").tolist() == [0.0, 0.0, 0.0]


def test_joined_forests_add_their_importance():
    forest = random_forest(4, n_trees=6)
    for kind in ("gain", "cover", "splits"):
        np.testing.assert_allclose(importance(forest.first(2), kind) + importance(forest.rest(2), kind), importance(forest, kind))
