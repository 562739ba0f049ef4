"""Slow and obvious versions of the kernels in `woodwind/kernels/predict/shap.py`: Shapley values by all coalitions there are."""

from collections.abc import Sequence
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.naive_traverse import turn
from woodwind.kernels.tree.layout import STOP

Floats = NDArray[np.float64]


def worth(forest: Any, tree: int, node: int, row: Sequence[float], coalition: frozenset[int]) -> Floats:
    """What is expected below a node (L,) when only the values of some features are known.

    A known feature leads on, or ends the walk here; of an unknown one both ways count by their cover.
    """
    root = int(forest.roots[tree])
    feature, left = int(forest.feature[root + node]), int(forest.child[root + node])
    if feature < 0:
        return np.array(forest.value[root + node])
    if feature in coalition:
        way = turn(forest, root + node, float(row[feature]))
        return np.array(forest.value[root + node]) if way == STOP else worth(forest, tree, left + way, row, coalition)
    cover = forest.cover[root + left], forest.cover[root + left + 1]
    share = cover[1] / (cover[0] + cover[1]) if cover[0] + cover[1] > 0.0 else 0.5
    sides = [worth(forest, tree, left + side, row, coalition) for side in (0, 1)]
    return np.asarray((1.0 - share) * sides[0] + share * sides[1])


def forest_worth(forest: Any, row: Sequence[float], coalition: frozenset[int]) -> Floats:
    """The expected score (n_outputs,) when only the values of some features are known."""
    out = np.array(forest.start)
    for tree in range(forest.n_trees):
        value = worth(forest, tree, 0, row, coalition)
        if forest.output[tree] >= 0:
            out[forest.output[tree]] += value[0]
        else:
            out += value
    return out


def shapley(forest: Any, row: Sequence[float]) -> Floats:
    """The Shapley value of each feature for each output (F, n_outputs): the mean gain of its joining, over all orders of joining."""
    count = forest.n_features
    known = {s: forest_worth(forest, row, s) for size in range(count + 1) for s in map(frozenset, combinations(range(count), size))}
    out = np.zeros((count, forest.n_outputs))
    for coalition, value in known.items():
        for feature in set(range(count)) - coalition:
            orders = factorial(len(coalition)) * factorial(count - len(coalition) - 1) / factorial(count)
            out[feature] += orders * (known[coalition | {feature}] - value)
    return out


def interactions(forest: Any, row: Sequence[float]) -> Floats:
    """The Shapley interaction values (F, F, n_outputs): half of the mean gain of two features' joining beyond that of each, over all
    orders in which the two join together; on the diagonal what is left of the Shapley values."""
    count = forest.n_features
    known = {s: forest_worth(forest, row, s) for size in range(count + 1) for s in map(frozenset, combinations(range(count), size))}
    out = np.zeros((count, count, forest.n_outputs))
    for coalition, value in known.items():
        for one, other in combinations(sorted(set(range(count)) - coalition), 2):
            orders = factorial(len(coalition)) * factorial(count - len(coalition) - 2) / factorial(count - 1)
            both = known[coalition | {one, other}] - known[coalition | {one}] - known[coalition | {other}] + value
            out[one, other] += 0.5 * orders * both
            out[other, one] += 0.5 * orders * both
    place = np.arange(count)
    out[place, place] = shapley(forest, row) - out.sum(axis=1)
    return out


def explained(forest: Any, rows: NDArray[Any]) -> Floats:
    """The same for many rows (n, F, n_outputs)."""
    return np.array([shapley(forest, row.tolist()) for row in rows]).reshape(len(rows), forest.n_features, forest.n_outputs)


def ways(forest: Any, tree: int) -> dict[int, list[tuple[int, int]]]:
    """For each node of a tree, counted from its root, the nodes above it from the top down, each with the side that leads on."""
    root, size = int(forest.roots[tree]), int(forest.roots[tree + 1] - forest.roots[tree])
    found: dict[int, list[tuple[int, int]]] = {0: []}
    for node in range(size):
        if forest.feature[root + node] >= 0:
            left = int(forest.child[root + node])
            found |= {left + side: [*found[node], (node, side)] for side in (0, 1)}
    return found


def path_facts(forest: Any, tree: int, node: int) -> tuple[int, float, float]:
    """Of a split: the place of the last child above by the same feature or 0, the share going left, the cover let through above."""
    root = int(forest.roots[tree])

    def share(of: int, side: int) -> float:
        cover = [float(forest.cover[root + forest.child[root + of] + s]) for s in (0, 1)]
        return cover[side] / sum(cover) if sum(cover) > 0.0 else 0.5

    before, reach = 0, 1.0
    for depth, (above, side) in enumerate(ways(forest, tree)[node]):
        if forest.feature[root + above] == forest.feature[root + node]:
            before, reach = 2 * (depth + 1) + side, reach * share(above, side)
    return before, share(node, 0), reach
