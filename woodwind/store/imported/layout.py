"""Trees of any numbering as a Forest; thresholds that another library compares in 32 bits as thresholds of 64.

Other libraries number the nodes of a tree as they grew. A Forest has them level by level, a right child just after the left one: all trees
are walked from their roots at once, and a node that is met twice, or lies outside of its tree, is found on the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.tree.layout import LEFT
from woodwind.store.imported.contents import demand
from woodwind.tree.forest import Forest
from woodwind.tree.linear_leaves import LinearLeaves

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Words of all sets of categories together, 256 MB: a file that names ever other categories in ever other splits would ask for more.
MOST_WORDS = 1 << 25


@dataclass(frozen=True, eq=False)
class ParsedTree:
    """One tree of n nodes, the root first; other nodes in any order, and some of them perhaps unused."""

    left: Integers  # (n,) -1 at a leaf
    right: Integers  # (n,)
    feature: Integers  # (n,)
    threshold: Floats  # (n,) left where x <= threshold
    missing: NDArray[np.uint8]  # (n,) LEFT or RIGHT
    value: Floats  # (n, L)
    cover: Floats  # (n,)
    gain: Floats  # (n,)
    sets: dict[int, "CategorySplit"] = field(default_factory=dict)  # by node
    linear: "tuple[Integers, Integers, Floats, Floats] | None" = None  # node of each term, its feature, coefficient; constants (n,)


@dataclass(frozen=True, eq=False)
class CategorySplit:
    """The codes of some categories, and the side to which they go; all other codes go to the other side, but for `others`."""

    codes: Integers
    side: int
    others: int | None = None  # where categories that training never saw go, if not with those that are not in the set


def assemble_forest(trees: Sequence[ParsedTree], n_codes: Integers, output: Sequence[int], start: Floats) -> Forest:
    """The trees as one Forest, validated.

    n_codes (F,): codes of each feature, the last for categories never seen; 0 for numbers. output: for each tree the score that it adds to,
    or -1 for all of them.
    """
    set_words = (-(-n_codes // 64)).astype(np.int32)
    if not trees:
        return Forest.empty(set_words, start).check()
    sizes = np.array([len(tree.left) for tree in trees])
    begins = np.concatenate([[0], np.cumsum(sizes)])
    left, right = (np.concatenate([getattr(tree, name) for tree in trees]) for name in ("left", "right"))
    split = left >= 0
    demand((split | (left == -1)).all() and np.array_equal(split, right >= 0), "a node has one child alone")
    end = np.repeat(sizes, sizes)
    demand((left < end).all() and (right < end).all(), "a child lies outside of its tree")
    base = np.repeat(begins[:-1], sizes)
    order, roots = _level_order(left + base, right + base, split, begins)
    position = np.zeros(begins[-1], np.int64)
    position[order] = np.arange(order.size)
    inner = split[order]
    tree_of = np.repeat(np.arange(len(trees)), np.diff(roots))
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(tree, name) for tree in trees])[order]
        for name in ("feature", "threshold", "missing", "value", "gain")
    }
    cover = np.concatenate([tree.cover for tree in trees])[order]
    child = np.where(inner, position[(left + base)[order]] - roots[tree_of], 0)
    demand(
        (arrays["feature"][inner] >= 0).all() and (arrays["feature"][inner] < n_codes.size).all(), "a split uses a column that there is not"
    )
    feature = np.where(inner, arrays["feature"], -1)
    sets, words = _sets(trees, begins, position, order.size, feature, n_codes)
    forest = Forest(
        roots=roots, feature=feature, threshold=np.where(inner & (sets < 0), arrays["threshold"], 0.0), child=child,
        missing=np.where(inner, arrays["missing"], LEFT), sets=sets, words=words, set_words=set_words, value=arrays["value"], cover=cover,
        gain=np.where(inner, np.nan_to_num(arrays["gain"]), 0.0), output=np.asarray(output), n_outputs=start.size, start=start,
    )  # fmt: skip
    forest = replace(forest.check().with_node_values(), linear=_linear(trees, begins, position, order.size, n_codes.size, feature))
    return forest.check()


def _level_order(left: Integers, right: Integers, split: NDArray[np.bool_], begins: Integers) -> tuple[Integers, Integers]:
    """The nodes that are reached, tree by tree and level by level, and where each tree begins among them."""
    level = begins[:-1]
    owner = np.arange(level.size)
    found, owners, count = [level], [owner], level.size
    while (inner := split[level]).any():
        above, owner = level[inner], np.repeat(owner[inner], 2)
        level = np.stack([left[above], right[above]], axis=1).reshape(-1)
        count += level.size
        demand(count <= split.size, "a node has two parents")
        found.append(level)
        owners.append(owner)
    order, owner = np.concatenate(found), np.concatenate(owners)
    demand(np.unique(order).size == order.size, "a node has two parents")
    order = order[np.argsort(owner, kind="stable")]
    return order, np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=begins.size - 1))])


def _sets(
    trees: Sequence[ParsedTree], begins: Integers, position: Integers, n_nodes: int, feature: NDArray[Any], n_codes: Integers
) -> tuple[Integers, NDArray[np.uint64]]:
    """Where the sets of each category split begin, and their words: what goes left, then what goes right."""
    sets = np.full(n_nodes, -1)
    splits = [(int(position[begin + node]), one) for tree, begin in zip(trees, begins, strict=False) for node, one in tree.sets.items()]
    splits = [(node, one) for node, one in splits if feature[node] >= 0]
    sizes = np.array([2 * -(-int(n_codes[feature[node]]) // 64) for node, _ in splits], np.int64)
    demand(sizes.sum() <= MOST_WORDS, f"its sets of categories would take more than {8 * MOST_WORDS >> 20} MB")
    words = np.zeros(int(sizes.sum()), "<u8")
    for (node, one), begin, size in zip(splits, np.cumsum(sizes) - sizes, sizes, strict=True):
        count = int(n_codes[feature[node]])
        demand(count > 0 and ((one.codes >= 0) & (one.codes < count)).all(), "a split names a category that its column has not")
        goes = np.zeros(32 * size, np.bool_)
        goes[one.codes] = True
        rest = ~goes
        rest[count:] = False
        if one.others is not None:
            goes[count - 1], rest[count - 1] = one.others == one.side, one.others != one.side
        sides = (goes, rest) if one.side == LEFT else (rest, goes)
        words[begin : begin + size] = np.packbits(np.concatenate(sides), bitorder="little").view("<u8")
        sets[node] = begin
    return sets, words.astype(np.uint64)


def _linear(
    trees: Sequence[ParsedTree], begins: Integers, position: Integers, n_nodes: int, n_features: int, feature: NDArray[Any]
) -> LinearLeaves | None:
    """The linear parts of leaves. Nothing tells what training rows got, so that no leaf is held within bounds."""
    if all(tree.linear is None for tree in trees):
        return None
    nodes: list[Any] = []
    terms: list[Any] = []
    coefficients: list[Any] = []
    constant = np.zeros(n_nodes)
    for tree, begin in zip(trees, begins, strict=False):
        if tree.linear is None:
            continue
        node, term, coefficient, constants = tree.linear
        nodes.append(position[begin + node])
        terms.append(term)
        coefficients.append(coefficient)
        constant[position[begin : begin + len(tree.left)]] = constants
    node = np.concatenate(nodes)
    order = np.argsort(node, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=n_nodes))])
    bound = np.where((np.diff(first) > 0) & (feature < 0), np.finfo(np.float64).max, 0.0)
    return LinearLeaves(
        first=first,
        feature=np.concatenate(terms)[order].astype(np.int32),
        coefficient=np.concatenate(coefficients)[order],
        constant=np.where(feature < 0, constant, 0.0),
        low=-bound,
        high=bound,
        scale=np.ones(n_features),
    ).check()


# ----------------------------------------------------------------------------------------------------
# Thresholds. Another library turns a value into 32 bits before it compares; here values of 64 bits are compared as they are.


def next_float32(values: Any, towards: float) -> NDArray[np.float32]:
    """The next float32 above or below each; beyond the largest is infinity."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.nextafter(np.asarray(values, np.float32), np.float32(towards)))


def largest_rounding_to(most: NDArray[np.float32]) -> Floats:
    """The largest double that becomes a float32 of at most this: halfway to the next, where ties go to the even one."""
    above = next_float32(most, np.inf)
    beyond = 2.0**128  # where the next one would be, if there were one

    def wide(values: NDArray[np.float32]) -> Floats:
        return np.clip(values.astype(np.float64), -beyond, beyond)

    middle = 0.5 * wide(most) + 0.5 * wide(above)
    even = np.ascontiguousarray(most).view(np.uint32) & np.uint32(1) == 0
    found = np.where(even, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isposinf(most), np.inf, found)


def below_float32(threshold: NDArray[np.float32]) -> Floats:
    """x <= the result where float32(x) < threshold."""
    return largest_rounding_to(next_float32(threshold, -np.inf))


def at_most_as_float32(threshold: Floats) -> Floats:
    """x <= the result where float32(x) <= threshold."""
    with np.errstate(over="ignore"):
        near = threshold.astype(np.float32)
    return largest_rounding_to(np.where(near > threshold, next_float32(near, -np.inf), near))


def rounding_to_float32(value: float) -> tuple[float, float]:
    """The least and the largest double that become this value in 32 bits."""
    both = np.array([next_float32(value, -np.inf), value], np.float32)
    below, largest = largest_rounding_to(both)
    return float(np.nextafter(below, np.inf)), float(largest)
