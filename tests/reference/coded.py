"""Coded tables and integer statistics drawn at random, and a comparison of grown trees with their slow twins."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from reference.naive_growth import Node
from woodwind.data.binning.codes import Codes, row_stride, width_for
from woodwind.tree.grown_tree import GrownTree

Ints = NDArray[np.int64]
SCALES = np.array([2.0**30, 2.0**32])  # of a gradient of at most 1 and a hessian of at most 1/4
EVEN_SCALES = np.array([2.0**30, 2.0**30])  # and of hessians that are all 1


def random_codes(
    seed: int, n: int, categories: Sequence[int] = (0, 0, 5), bins: int = 8, missing: float = 0.1, common: float = 0.0
) -> Codes:
    """Codes of numbers (level count 0) and categories; `common` is the share of cells that hold the first code."""
    rng = np.random.default_rng(seed)
    n_bins = np.array([count or bins for count in categories], np.int32)
    is_category = np.array([count > 0 for count in categories])
    width = width_for(n_bins, is_category)
    by_column = np.stack([rng.integers(0, size, n) for size in n_bins]).astype(np.uint8)
    by_column[rng.random(by_column.shape) < common] = 0
    by_column[rng.random(by_column.shape) < missing] = width - 1
    return coded(by_column, n_bins, is_category)


def coded(by_column: NDArray[np.uint8], n_bins: NDArray[np.int32], is_category: NDArray[np.bool_]) -> Codes:
    """Codes from those of the columns, which stand in their rows in an order that nothing may rely on."""
    n_features, n = by_column.shape
    places = np.random.default_rng(n).permutation(n_features)
    by_row = np.zeros((n, row_stride(n_features)), np.uint8)
    by_row[:, places] = by_column.T
    return Codes(by_row, n_bins, width_for(n_bins, is_category), is_category, places)


def packed(gradient: NDArray[Any], hessian: NDArray[Any], scales: NDArray[np.float64] = SCALES) -> Ints:
    """Statistics of rows as a tree takes them."""
    g, h = np.rint(gradient * scales[0]).astype(np.int64), np.rint(hessian * scales[1]).astype(np.int64)
    words: Ints = (g << 32) + h
    return words


def random_stats(seed: int, codes: Codes, even: bool = False) -> Ints:
    """Derivatives of a logistic loss for a target that depends on the codes; `even`: all hessians are equal."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(size=(codes.n_features, codes.width))
    score = np.sum([effects[f][codes.by_column[f]] for f in range(codes.n_features)], axis=0)
    p = 1.0 / (1.0 + np.exp(-rng.normal(size=codes.n_rows) * 2.0))
    y = rng.random(codes.n_rows) < 1.0 / (1.0 + np.exp(-score))
    return packed(p - y, np.ones(codes.n_rows), EVEN_SCALES) if even else packed(p - y, p * (1.0 - p))


def assert_same_tree(tree: GrownTree, twin: Sequence[Node], rtol: float = 0.0) -> None:
    """A grown tree equals the nodes of its twin in everything but its sums."""
    inner = np.array([node.child > 0 for node in twin])
    splits = [node.split for node in twin if node.child > 0 and node.split is not None]
    assert_array_equal(tree.feature >= 0, inner)
    assert_array_equal(tree.feature[inner], [split.feature for split in splits])
    assert_array_equal(tree.child, [node.child for node in twin])
    assert_array_equal(tree.missing, [node.missing for node in twin])
    assert_array_equal(tree.count, [len(node.rows) for node in twin])
    assert_allclose(tree.gain[inner], [split.gain for split in splits], rtol=rtol)
    assert_array_equal(tree.low, [node.low for node in twin])
    assert_array_equal(tree.high, [node.high for node in twin])
    assert not tree.gain[~inner].any()
    for number in np.flatnonzero(inner).tolist():
        split = twin[number].split
        if split is not None and split.categories is None:
            assert (tree.set[number], tree.bin[number]) == (-1, split.bin)
        else:
            words = tree.sets[tree.set[number]]
            assert categories_in(words[:4]) == twin[number].left
            assert categories_in(words[4:]) == twin[number].right
    for number, node in enumerate(twin):
        assert sorted(tree.rows[tree.begin[number] : tree.end[number]].tolist()) == sorted(node.rows.tolist())
        if not inner[number]:
            assert_array_equal(tree.leaf_of_row[node.rows], number)


def assert_same_sums(tree: GrownTree, twin: Sequence[Node], stats: Ints, scales: NDArray[np.float64]) -> None:
    """The sums of every node are those of the unrounded statistics."""
    for number, node in enumerate(twin):
        assert tree.gradient[number] * scales[0] == (stats[node.rows] >> 32).sum()
        assert tree.hessian[number] * scales[1] == (stats[node.rows] & 0xFFFFFFFF).sum()


def categories_in(words: NDArray[np.uint64]) -> set[int]:
    """The levels of a set of bits."""
    return {level for level in range(64 * len(words)) if int(words[level // 64]) >> (level % 64) & 1}
