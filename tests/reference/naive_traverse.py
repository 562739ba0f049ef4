"""Slow and obvious versions of the kernels in `woodwind/kernels/predict` that send rows through trees:
`walk.py`, `questions.py` with `question_plan.py`, and `walk_codes.py`.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.tree.layout import STOP


def has_category(words: Sequence[int], level: int) -> bool:
    """Whether a set of categories, 64 to a word, contains a level."""
    return 0 <= level < 64 * len(words) and bool(int(words[level // 64]) >> (level % 64) & 1)


def turn(forest: Any, node: int, x: float) -> int:
    """LEFT, RIGHT or STOP at an inner node, for one value."""
    category = forest.sets[node] >= 0
    if math.isnan(x) or (category and x == -1):
        return int(forest.missing[node])
    if not category:
        return int(x > forest.threshold[node])
    size = int(forest.set_words[forest.feature[node]])
    words = forest.words[forest.sets[node] : forest.sets[node] + 2 * size]
    level = -2 if math.isinf(x) or x < 0 else int(x)
    if has_category(words[:size], level):
        return 0
    return 1 if has_category(words[size:], level) else STOP


def leaf(forest: Any, tree: int, row: Sequence[float]) -> int:
    """The node where a row ends, counted from the root of the tree."""
    root, node = int(forest.roots[tree]), 0
    while forest.feature[root + node] >= 0:
        way = turn(forest, root + node, float(row[forest.feature[root + node]]))
        if way == STOP:
            break
        node = int(forest.child[root + node]) + way
    return node


def leaves(forest: Any, x: NDArray[Any]) -> NDArray[np.int32]:
    """The node of every row in every tree."""
    found = [[leaf(forest, tree, row) for tree in range(forest.n_trees)] for row in x]
    return np.array(found, np.int32).reshape(len(x), forest.n_trees)


def raw(forest: Any, x: NDArray[Any]) -> NDArray[np.float64]:
    """The scores of every row, trees added in order."""
    out = np.tile(forest.start, (len(x), 1))
    for i, row in enumerate(x):
        for tree in range(forest.n_trees):
            value = forest.value[forest.roots[tree] + leaf(forest, tree, row)]
            if forest.output[tree] >= 0:
                out[i, forest.output[tree]] += value[0]
            else:
                out[i] += value
    return out


def node_means(forest: Any) -> NDArray[np.float64]:
    """The value of every node from the leaves below it, each weighted by its cover."""
    value = np.array(forest.value)

    def below(base: int, node: int) -> list[int]:
        if forest.feature[base + node] < 0:
            return [base + node]
        left = int(forest.child[base + node])
        return below(base, left) + below(base, left + 1)

    for base, end in zip(forest.roots[:-1].tolist(), forest.roots[1:].tolist(), strict=True):
        for node in range(end - base):
            ends = below(base, node)
            value[base + node] = np.average(forest.value[ends], axis=0, weights=forest.cover[ends])
    return value


def position_of(questions: Sequence[tuple[int, int, int, int]], codes: Sequence[int]) -> int:
    """Where a row ends that is asked questions (column, bound, source, target) one after another."""
    position = 0
    for column, bound, source, target in questions:
        if position == source and codes[column] > bound:
            position = target
    return position


def walk_codes(codes: NDArray[np.uint8], tree: Any) -> list[int]:
    """The node of every row of codes (n, F) in a tree over codes."""
    found = []
    for row in codes:
        node = 0
        while tree.feature[node] >= 0:
            code = int(row[tree.feature[node]])
            if code == tree.missing_code:
                way = int(tree.missing[node])
            elif tree.set_index[node] < 0:
                way = int(code > tree.bin[node])
            else:
                words = tree.sets[tree.set_index[node]]
                way = 0 if has_category(words[:4], code) else 1 if has_category(words[4:], code) else STOP
            if way == STOP:
                break
            node = int(tree.child[node]) + way
        found.append(node)
    return found
