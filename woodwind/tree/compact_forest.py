"""The model of a forest: trees in as few bytes as they need, in the form in which they are walked.

An inner node takes 16 bytes, a leaf of rows that agree 8; the library's general `Forest` takes 41 and more for either. What training never
saw falls back to what the node knows, as everywhere: the mean of the leaves below is made when it is first asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.base.random_streams import hashes, key
from woodwind.base.validate import require, require_array, require_children
from woodwind.kernels.forest.layout import (
    CATEGORY_SHIFT,
    FEATURE_MASK,
    FEATURE_SHIFT,
    LEFT_LEAF_SHIFT,
    LOW_HALF,
    MISSING_SHIFT,
    RIGHT_LEAF_SHIFT,
)
from woodwind.kernels.predict.forest_partitioned import predict_partitioned
from woodwind.kernels.predict.forest_walk import CompactLeaves, CompactWalk, find_leaves, inner_means, predict_compact_forest
from woodwind.kernels.runtime.jit import read_only
from woodwind.kernels.tree.layout import SET_WORDS, STOP
from woodwind.tree.compact_forest_grower import CompactTree
from woodwind.tree.forest import Forest, tree_of
from woodwind.tree.predictor import rows_of

# ----------------------------------------------------------------------------------------------------
# Is a CompactForest sound? No walk can leave its arrays or go on for ever, and what it finds at the end are shares or finite numbers.


U = np.uint64
# Categories that a set of a category split has room for; states of a walk have so many bits for a number.
SET_CATEGORIES, MOST_NODES = 64 * SET_WORDS, 1 << 30
LARGEST_SQUARED = 2.0**480
# What adding up weights may lose.
NEARLY = 1e-6


def check_compact_forest(compact: Any) -> None:
    """Raise DataError, with what is wrong, unless the CompactForest is valid."""
    check_shapes(compact)
    check_nodes(compact)
    check_children(compact)
    check_leaves(compact)


def check_shapes(compact: Any) -> None:
    """Every array has its type and the length that the others ask for."""
    types = {"nodes": "u8", "words": "u8", "roots": "i8", "mixed": "f8", "importance": "f8", "n_categories": "i4"}
    for name, code in types.items():
        require(getattr(compact, name).dtype == np.dtype(code), f"{name} of the trees has the wrong type")
    require(compact.cover.dtype in (np.float32, np.float64), "cover of the trees has the wrong type")
    require_array(compact.nodes, (None,), "nodes of the trees")
    require_array(compact.words, (None,), "words of the trees")
    require_array(compact.n_categories, (None,), "n_categories of the trees")
    require_array(compact.importance, (compact.n_categories.size,), "importance of the features")
    require_array(compact.roots, (None, 2), "roots of the trees")
    require((compact.n_categories >= 0) & (compact.n_categories <= SET_CATEGORIES), "a feature has an impossible number of categories")
    require(compact.n_classes >= 0 and compact.n_categories.size <= FEATURE_MASK, "there are too many features")
    require(compact.nodes.size % 2 == 0 and len(compact.roots) >= 1, "a node is half there")
    n_inner, n_leaves = compact.nodes.size // 2, compact.cover.size
    require(n_inner < MOST_NODES, "there are too many nodes")
    require((compact.roots[0] == 0).all() and (compact.roots[-1] == (n_inner, n_leaves)).all(), "the trees do not cover the nodes")
    require((compact.roots[1:] >= compact.roots[:-1]).all(), "a tree ends before it begins")
    inner, leaves = np.diff(compact.roots, axis=0).T
    require(leaves == inner + 1, "a tree has another number of leaves than its splits make")


def check_nodes(compact: Any) -> None:
    """Splits ask features that are there, by thresholds that are numbers or by sets that are there."""
    word, second = compact.nodes[::2], compact.nodes[1::2]
    feature = ((word >> U(FEATURE_SHIFT)) & U(FEATURE_MASK)).astype(np.int64)
    require(feature < compact.n_categories.size, "a split uses a feature that does not exist")
    require((word >> U(RIGHT_LEAF_SHIFT + 1)) == 0, "a node says more than is known")
    require(((word >> U(MISSING_SHIFT)) & U(3)) <= STOP, "missing values go nowhere")
    category = (word >> U(CATEGORY_SHIFT)) & U(1) == 1
    require(category == (compact.n_categories[feature] > 0), "a number is split by categories, or categories by a number")
    require(~np.isnan(np.ascontiguousarray(second[~category]).view(np.float64)), "a threshold is not a number")
    sets = second[category]
    require(compact.words.size >= 2 * SET_WORDS or sets.size == 0, "a set is not there")
    # Compared without adding, so that nothing can wrap around.
    require(sets <= U(max(compact.words.size - 2 * SET_WORDS, 0)), "a set reaches beyond the words")
    for k in range(SET_WORDS):
        at = sets.astype(np.int64) + k
        require(compact.words[at] & compact.words[at + SET_WORDS] == 0, "a category goes both ways")


def check_children(compact: Any) -> None:
    """Children come after their parents in the same tree, and every node but the root and every leaf has one parent."""
    word = compact.nodes[::2]
    # As if the leaves of a tree stood behind its inner nodes.
    n_inner, begins = np.diff(compact.roots[:, 0]), compact.roots.sum(axis=1)
    begin, own_size = np.repeat(begins[:-1], n_inner), np.repeat(n_inner, n_inner)
    here = np.arange(word.size) - np.repeat(compact.roots[:-1, 0], n_inner)
    left_leaf, right_leaf = ((word >> U(shift)) & U(1) == 1 for shift in (LEFT_LEAF_SHIFT, RIGHT_LEAF_SHIFT))
    refers = (word & U(LOW_HALF)).astype(np.int64)
    left = np.where(left_leaf, refers, here + 1)
    right = np.where(right_leaf, refers + left_leaf, np.where(left_leaf, here + 1, refers))
    for child, is_leaf in ((left, left_leaf), (right, right_leaf)):
        require(is_leaf | (child < own_size), "a child is not behind its parent in the same tree")
        child += begin + own_size * is_leaf
    split = np.zeros(begins[-1], np.bool_)
    split[begin + here] = True
    require_children(split, left, right, begin + 2 * own_size + 1, begins[:-1])


def check_leaves(compact: Any) -> None:
    """Leaves hold classes that are there, weights that are shares of their cover, or finite numbers."""
    cover: NDArray[np.float64] = compact.cover.astype(np.float64)
    require_array(cover, (None,), "cover of the leaves")
    require(cover > 0.0, "a leaf covers nothing")
    require(compact.importance >= 0.0, "an importance is below zero")
    require((compact.leaf is None) == (compact.n_classes == 0), "leaves for classification and regression are mixed up")
    if compact.leaf is None:
        require_array(compact.mixed, (cover.size, None), "values of the leaves")
        require(compact.mixed.shape[1] >= 1, "leaves have no values")
        return
    require(compact.leaf.dtype == np.int32, "leaf of the trees has the wrong type")
    require_array(compact.leaf, (cover.size,), "classes of the leaves")
    require_array(compact.mixed, (None, compact.n_classes - 1), "weights of the leaves")
    require((compact.leaf < compact.n_classes) & (compact.leaf >= -len(compact.mixed)), "a leaf is of a class that does not exist")
    some = np.flatnonzero(compact.leaf < 0)
    weights = compact.mixed[-1 - compact.leaf[some].astype(np.int64)]
    require(weights >= 0.0, "a weight is below zero")
    require(weights.sum(axis=1) <= cover[some] * (1.0 + NEARLY), "a leaf has more weight than it covers")


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What a row costs in one tree, in the units of the pool.
WORK_PER_TREE = 20
# So many rows are parted together at every node, if the columns that are made of them serve some trees; others walk.
MANY_ROWS = 512
SEVERAL_TREES = 4


@dataclass(frozen=True, eq=False)
class CompactForest:
    """T trees of I inner nodes and L leaves in all, for F features; K classes, or none for numbers."""

    nodes: NDArray[np.uint64]  # (2 I,) see `kernels/forest/emit.py`
    words: NDArray[np.uint64]  # (W,) sets of categories, 8 words each: left, then right
    roots: Integers  # (T + 1, 2) first inner node and first leaf of each tree
    leaf: NDArray[np.int32] | None  # (L,) the class of all rows, or -1 - row of `mixed`; None for numbers
    mixed: Floats  # (D, K - 1) weight of every class but the first, where rows do not agree; numbers: (L, 1) their mean, or (L, s)
    cover: NDArray[Any]  # (L,) weight of the training rows; float32 where that is exact
    importance: Floats  # (F,) shares of the impurity removed, added up over trees
    n_categories: NDArray[np.int32]  # (F,) 0 for numbers
    n_classes: int
    _stops: list[Floats] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        for name in ("nodes", "words", "roots", "leaf", "mixed", "cover", "importance", "n_categories"):
            array = getattr(self, name)
            if array is not None:
                view = np.ascontiguousarray(array).view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def __reduce__(self) -> tuple[Any, ...]:
        # What was made from the arrays can be made again.
        return CompactForest, tuple(getattr(self, part.name) for part in fields(self) if part.init and part.name != "_stops")

    @classmethod
    def of(cls, trees: Sequence[CompactTree], n_categories: NDArray[np.int32], n_classes: int) -> "CompactForest":
        """All trees together."""
        sizes = np.array([(tree.n_inner, len(tree.cover)) for tree in trees], np.int64).reshape(-1, 2)
        roots = np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(sizes, axis=0)])
        word = 0
        nodes, importance = [], np.zeros(len(n_categories))
        for tree in trees:
            own = tree.nodes
            if word and tree.words.size:
                own = own.copy()
                category = np.flatnonzero(own[::2] >> U(CATEGORY_SHIFT) & U(1))
                own[2 * category + 1] += U(word)
            word += tree.words.size
            nodes.append(own)
            importance += importance_of(tree, len(n_categories))
        leaf, mixed = pack_leaves(trees, n_classes)
        cover = np.concatenate([tree.cover for tree in trees]) if trees else np.zeros(0)
        small = cover.astype(np.float32)
        return cls(
            nodes=np.concatenate(nodes) if nodes else np.zeros(0, np.uint64),
            words=np.concatenate([tree.words for tree in trees] + [np.zeros(0, np.uint64)]),
            roots=roots,
            leaf=leaf,
            mixed=mixed,
            cover=small if np.array_equal(small, cover) else cover,
            importance=importance,
            n_categories=n_categories,
            n_classes=n_classes,
        )

    def check(self) -> "CompactForest":
        """Prove that no walk can leave the arrays or go on for ever; returns the CompactForest, or raises DataError."""
        check_compact_forest(self)
        return self

    # Facts.

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots) - 1

    @property
    def n_outputs(self) -> int:
        """Numbers that a row gets."""
        return self.n_classes or self.mixed.shape[1]

    @property
    def nbytes(self) -> int:
        """Memory of all arrays."""
        return sum(getattr(self, part.name).nbytes for part in fields(self) if isinstance(getattr(self, part.name), np.ndarray))

    @property
    def walk(self) -> CompactWalk:
        """The trees as kernels take them."""
        return CompactWalk(self.nodes, self.words, self.roots)

    def _leaves(self, stops: Floats | None = None) -> CompactLeaves:
        leaf = read_only(np.zeros(0, np.int32)) if self.leaf is None else self.leaf
        return CompactLeaves(leaf, self.mixed, self.cover, np.zeros((0, self.n_outputs)) if stops is None else stops)

    def stops(self) -> Floats:
        """What is known at every inner node: class probabilities, or the mean, of the leaves below by cover; kept."""
        if not self._stops:
            out, cover = self._means()
            self._stops.extend([out, cover])
        return self._stops[0]

    def _means(self) -> tuple[Floats, Floats]:
        n_inner = len(self.nodes) // 2
        out, cover = np.empty((n_inner, self.n_outputs)), np.empty(n_inner)
        inner_means(self.walk, self._leaves(), out, cover)
        return out, cover

    # Prediction.

    def mean(self, x: Any, threads: int = 1) -> Floats:
        """Mean over the trees (n, K or 1) of what they say about the rows of a table or matrix."""
        return self.total(x, threads) / max(self.n_trees, 1)

    def total(self, x: Any, threads: int = 1) -> Floats:
        """Sum over the trees, in their order, whatever the threads."""
        n, blocks = rows_of(x, len(self.n_categories))
        out = np.zeros((n, self.n_outputs))

        def work(begin: int, end: int) -> None:
            for first, block in blocks(begin, end):
                self.add(block, None, (0, self.n_trees), out[first : first + len(block)])

        run_ranges(work, n, threads, WORK_PER_TREE * self.n_trees)
        return out

    def add(self, x: NDArray[Any], rows: NDArray[np.int32] | None, trees: tuple[int, int], out: Floats) -> None:
        """Add what some trees say about rows of a C-ordered float array to the same rows of out."""
        flat = read_only(x.reshape(-1))
        shape = (len(x) if rows is None else len(rows), x.shape[1])
        together = shape[0] >= MANY_ROWS and trees[1] - trees[0] >= SEVERAL_TREES
        predict = predict_partitioned if together else predict_compact_forest
        known = self._stops[0] if self._stops else None
        touched: Any = slice(None) if rows is None else rows
        before = None if known is not None else np.array(out[touched])
        if predict(flat, shape, rows, trees, self.walk, self._leaves(known), out):
            # Some walk has stopped at an inner node for the first time: once more, now that it is known what those say.
            out[touched] = before
            predict(flat, shape, rows, trees, self.walk, self._leaves(self.stops()), out)

    def ends(self, x: Any, threads: int = 1) -> NDArray[np.int32]:
        """Where rows end (n, T): a leaf of its tree, or -1 - the inner node where the walk stopped."""
        n, blocks = rows_of(x, len(self.n_categories))
        out = np.empty((n, self.n_trees), np.int32)

        def work(begin: int, end: int) -> None:
            for first, block in blocks(begin, end):
                find_leaves(read_only(block.reshape(-1)), block.shape, None, (0, self.n_trees), self.walk, out[first : first + len(block)])

        run_ranges(work, n, threads, WORK_PER_TREE * self.n_trees)
        return out

    def predictor(self) -> Callable[[NDArray[Any], Floats], None]:
        """Adds the trees of one row, float64 in the order of features, to (1, K): with as little overhead as possible."""
        walk, trees, width = self.walk, (0, self.n_trees), len(self.n_categories)

        def add(row: NDArray[Any], out: Floats) -> None:
            leaves = self._leaves(self._stops[0] if self._stops else None)
            if predict_compact_forest(row, (1, width), None, trees, walk, leaves, out):
                out[:] = 0.0
                predict_compact_forest(row, (1, width), None, trees, walk, self._leaves(self.stops()), out)

        return add

    def voting(self, seed: int, first: int = 0) -> "CompactForest":
        """The same trees, each of which votes for its most frequent class; of equals one is drawn by key, the same in every call.

        first: number of the first tree in its forest, so that a part of the forest votes as the whole does.
        """
        assert self.leaf is not None
        vote = self.leaf.copy()
        some = np.flatnonzero(vote < 0)
        weights = self.mixed[-1 - vote[some]]
        weights = np.column_stack([self.cover[some] - weights.sum(axis=1), weights])
        # A hash for every leaf and class: the largest of those with the largest weight wins.
        sizes = np.diff(self.roots[:, 1])
        tie_key_blocks = [hashes(key(seed, "votes", first + tree), int(size) * self.n_classes) for tree, size in enumerate(sizes)]
        tie_keys = np.concatenate([np.zeros(0, U), *tie_key_blocks]).reshape(len(vote), -1)[some] >> U(12)
        vote[some] = np.where(weights == weights.max(axis=1, keepdims=True), tie_keys + U(1), U(0)).argmax(axis=1)
        return replace(self, leaf=vote, mixed=np.zeros((0, self.n_classes - 1)), _stops=[])

    # Parts and other forms.

    def join(self, other: "CompactForest") -> "CompactForest":
        """The trees of both, this one's first."""
        own = other.nodes.copy()
        category = np.flatnonzero(own[::2] >> U(CATEGORY_SHIFT) & U(1))
        own[2 * category + 1] += U(self.words.size)
        leaf = self.leaf
        if leaf is not None and other.leaf is not None:
            leaf = np.concatenate([leaf, np.where(other.leaf < 0, other.leaf - len(self.mixed), other.leaf)]).astype(np.int32)
        return replace(
            self, nodes=np.concatenate([self.nodes, own]), words=np.concatenate([self.words, other.words]),
            roots=np.concatenate([self.roots, self.roots[-1] + other.roots[1:]]), leaf=leaf,
            mixed=np.concatenate([self.mixed, other.mixed]), cover=np.concatenate([self.cover, other.cover]),
            importance=self.importance + other.importance, _stops=[],
        )  # fmt: skip

    def children(self, tree: int) -> tuple[Integers, Integers]:
        """Left and right child of every inner node of a tree; leaves are numbered behind inner nodes."""
        (begin, _), (end, _) = self.roots[tree], self.roots[tree + 1]
        word = self.nodes[2 * begin : 2 * end : 2]
        size = int(end - begin)
        left_leaf, right_leaf = ((word >> U(shift)) & U(1) == 1 for shift in (LEFT_LEAF_SHIFT, RIGHT_LEAF_SHIFT))
        refers = (word & U(LOW_HALF)).astype(np.int64)
        after = np.arange(1, size + 1)
        left = np.where(left_leaf, size + refers, after)
        right = np.where(right_leaf, size + refers + left_leaf, np.where(left_leaf, after, refers))
        return left, right

    def level_order(self, tree: int) -> Integers:
        """The nodes of a tree level by level, a right child just after the left one; leaves are numbered behind inner nodes."""
        left, right = self.children(tree)
        order = [np.zeros(1, np.int64)]
        while (level := order[-1][order[-1] < len(left)]).size:
            order.append(np.stack([left[level], right[level]], axis=1).reshape(-1))
        return np.concatenate(order)

    def leaf_values(self) -> Floats:
        """Class probabilities, or the mean, of every leaf (L, K or 1)."""
        if self.leaf is None:
            return np.asarray(self.mixed)
        value = np.zeros((len(self.leaf), self.n_classes))
        pure = np.flatnonzero(self.leaf >= 0)
        value[pure, self.leaf[pure]] = 1.0
        some = np.flatnonzero(self.leaf < 0)
        weights = self.mixed[-1 - self.leaf[some]]
        cover = self.cover[some].astype(np.float64)
        rest = cover.copy()
        for k in range(weights.shape[1]):  # one after another, as the kernels take them away
            rest -= weights[:, k]
        value[some] = np.column_stack([rest, weights]) / cover[:, None]
        return value

    def forest(self) -> Forest:
        """The same trees as the library's general model, whose scores are sums: values are divided by the number of trees.

        Gains are the Gini index, or the squared error, that splits remove, times the weight.
        """
        return self._general(self.n_trees)

    def undivided(self) -> Forest:
        """The same trees, whose values are not divided: `total` is the sum of these, bit for bit."""
        return self._general(1)

    def separate(self) -> list[Forest]:
        """Each tree as a general model of its own: views of the arrays of one, whose values are not divided."""
        together = self._general(1)
        return [tree_of(together, number) for number in range(self.n_trees)]

    def _general(self, divisor: int) -> Forest:
        inner, inner_cover = self._means() if self.n_trees else (np.zeros((0, self.n_outputs)), np.zeros(0))
        return forest_of(self, inner, inner_cover, divisor)


def importance_of(tree: CompactTree, n_features: int) -> Floats:
    """Share of the impurity that each feature removes in a tree."""
    feature = (tree.nodes[::2] >> U(FEATURE_SHIFT)) & U(FEATURE_MASK)
    gain = np.bincount(feature.astype(np.int64), weights=tree.gain, minlength=n_features).astype(np.float64)
    total = gain.sum()
    return gain / total if total > 0.0 else gain


def pack_leaves(trees: Sequence[CompactTree], n_classes: int) -> tuple[NDArray[np.int32] | None, Floats]:
    """Leaves as they are kept."""
    if n_classes == 0:
        return None, np.concatenate([tree.value for tree in trees]) if trees else np.zeros((0, 1))
    entries, mixed, size = [], [], 0
    for tree in trees:
        if n_classes == 2:  # ten times as fast
            one, other = tree.value.T
            top, most = (other > one).astype(np.int32), np.maximum(one, other)
        else:
            top, most = tree.value.argmax(axis=1).astype(np.int32), tree.value.max(axis=1)
        some = np.flatnonzero(most != tree.cover)
        top[some] = -1 - size - np.arange(some.size)
        size += some.size
        entries.append(top)
        mixed.append(tree.value[some, 1:])
    if not trees:
        return np.zeros(0, np.int32), np.zeros((0, n_classes - 1))
    return np.concatenate(entries), np.concatenate(mixed)


def forest_of(compact: CompactForest, inner: Floats, inner_cover: Floats, divisor: int) -> Forest:
    """A CompactForest as a Forest, its values divided: nodes level by level, a right child just after the left one."""
    set_words = (-(-compact.n_categories // 64)).astype(np.int32)
    parts: dict[str, list[Any]] = {name: [] for name in ("feature", "threshold", "child", "missing", "sets", "value", "cover", "gain")}
    words: list[NDArray[np.uint64]] = []
    n_words = 0
    leaf_values = compact.leaf_values()
    # The square of a larger number would not be one; gains of such trees are in units of theirs.
    unit = 1.0 if np.abs(leaf_values).max(initial=0.0) < LARGEST_SQUARED else LARGEST_SQUARED
    for tree in range(compact.n_trees):
        (begin, first), (end, last) = compact.roots[tree], compact.roots[tree + 1]
        size = int(end - begin)
        left, right = compact.children(tree)
        sequence = compact.level_order(tree)
        number = np.empty(len(sequence), np.int64)
        number[sequence] = np.arange(len(sequence))
        split = sequence < size
        own = sequence[split]
        word, second = compact.nodes[2 * begin : 2 * end : 2][own], compact.nodes[2 * begin + 1 : 2 * end : 2][own]
        value = np.concatenate([inner[begin:end], leaf_values[first:last]])
        cover = np.concatenate([inner_cover[begin:end], compact.cover[first:last]]).astype(np.float64)
        purity = cover * (value / unit * (value / unit)).sum(axis=1)
        category = (word >> U(CATEGORY_SHIFT)) & U(1) == 1
        feature = ((word >> U(FEATURE_SHIFT)) & U(FEATURE_MASK)).astype(np.int64)
        sets = np.full(len(own), -1)
        for position in np.flatnonzero(category):
            m, at = int(set_words[feature[position]]), int(second[position])
            words.append(np.concatenate([compact.words[at : at + m], compact.words[at + 4 : at + 4 + m]]))
            sets[position] = n_words
            n_words += 2 * m
        filled = {
            "feature": (feature, -1), "threshold": (np.where(category, 0.0, np.ascontiguousarray(second).view(np.float64)), 0.0),
            "child": (number[left[own]], 0), "missing": ((word >> U(MISSING_SHIFT)) & U(3), 2), "sets": (sets, -1),
            "gain": (np.maximum(purity[left[own]] + purity[right[own]] - purity[own], 0.0), 0.0),
        }  # fmt: skip
        for name, (of_inner, otherwise) in filled.items():
            column = np.full(len(sequence), otherwise, np.float64 if name in ("threshold", "gain") else np.int64)
            column[split] = of_inner
            parts[name].append(column)
        parts["value"].append(value[sequence] / divisor)
        parts["cover"].append(cover[sequence])
    made: dict[str, Any] = {name: np.concatenate(part) if part else np.zeros(0) for name, part in parts.items()}
    made["value"] = made["value"].reshape(-1, compact.n_outputs)
    return Forest(
        roots=compact.roots.sum(axis=1), words=np.concatenate(words) if words else np.zeros(0, np.uint64), set_words=set_words,
        output=np.full(compact.n_trees, -1 if compact.n_outputs > 1 else 0), n_outputs=compact.n_outputs, start=np.zeros(compact.n_outputs),
        **made,
    )  # fmt: skip
