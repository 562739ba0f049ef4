"""The model: trees as frozen flat arrays that predict, slice, join and validate themselves.

What training never saw falls back to what the node knows: every inner node keeps the cover-weighted mean of the leaves
below it, and a walk that cannot go on (a new category, or a missing value where training met none) ends there.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.base.validate import require_children
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP
from woodwind.kernels.tree.leaves import node_means
from woodwind.tree.linear_leaves import LinearLeaves, add_linear, joined_linear, linear_digest
from woodwind.tree.predictor import Arrays, BatchPredictor, Predictor, rows_of

__all__ = ["LEFT", "RIGHT", "STOP", "Forest"]

# Types of the arrays; what is built with others is converted.
DTYPES = {
    "roots": np.int64, "feature": np.int32, "threshold": np.float64, "child": np.int32, "missing": np.uint8,
    "sets": np.int64, "words": np.uint64, "set_words": np.int32, "value": np.float64, "cover": np.float64,
    "gain": np.float64, "output": np.int32, "start": np.float64,
}  # fmt: skip

# Trees whose leaves are found together before the stages of a prediction are added up one by one.
STAGES_TOGETHER = 16
# What adding up the probabilities of a node may lose.
NEARLY = 1e-6


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees one after another in flat arrays: T trees, N nodes, F features, values of L numbers.

    A tree's nodes are contiguous, its root first, parents before their children, a right child just after the left one.
    """

    roots: NDArray[np.int64]  # (T + 1,) first node of each tree, then N
    feature: NDArray[np.int32]  # (N,) -1 at a leaf
    threshold: NDArray[np.float64]  # (N,) number split: left when x <= threshold
    child: NDArray[np.int32]  # (N,) left child, counted from the tree's first node; 0 at a leaf
    missing: NDArray[np.uint8]  # (N,) where a missing value goes: LEFT, RIGHT or STOP
    sets: NDArray[np.int64]  # (N,) category split: position of its sets in `words`; -1 otherwise
    words: NDArray[np.uint64]  # (W,) for each category split the categories that go left as bits, then those that go right
    set_words: NDArray[np.int32]  # (F,) words of one set; 0 for a number
    value: NDArray[np.float64]  # (N, L) of a leaf; of an inner node the cover-weighted mean of the leaves below
    cover: NDArray[np.float64]  # (N,) weight of the training rows
    gain: NDArray[np.float64]  # (N,) of the split; 0 at a leaf
    output: NDArray[np.int32]  # (T,) column of the score that a tree adds to; -1: its value is the whole row of scores
    n_outputs: int
    start: NDArray[np.float64]  # (n_outputs,) score before the first tree
    linear: LinearLeaves | None = None  # what leaves add to their value; None where all are constant

    YOUNGER: ClassVar[tuple[str, ...]] = ("linear",)

    def __post_init__(self) -> None:
        for name, dtype in DTYPES.items():
            array = np.ascontiguousarray(getattr(self, name), dtype).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "n_outputs", int(self.n_outputs))

    def __reduce__(self) -> tuple[Any, ...]:
        return Forest, tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def empty(cls, set_words: Any, start: Any, width: int = 1) -> "Forest":
        """A forest without trees, for features with these words to a set, starting from these scores."""
        none: NDArray[Any] = np.zeros(0)
        start = np.atleast_1d(np.asarray(start, np.float64))
        return cls(
            roots=np.zeros(1, np.int64), feature=none, threshold=none, child=none, missing=none, sets=none, words=none,
            set_words=set_words, value=np.zeros((0, width)), cover=none, gain=none, output=none, n_outputs=start.size, start=start,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------------- facts

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.roots.size - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return self.feature.size

    @property
    def n_features(self) -> int:
        """Number of features of the engine."""
        return self.set_words.size

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """Splits between the root of its tree and each node (N,)."""
        depth = np.zeros(self.n_nodes, np.int32)
        base = self._tree_begin()
        level = self.roots[:-1]
        while (level := level[self.feature[level] >= 0]).size:
            left = base[level] + self.child[level]
            depth[left] = depth[left + 1] = depth[level] + 1
            level = np.concatenate([left, left + 1])
        return depth

    def largest_scores(self) -> NDArray[np.float64]:
        """What no score is above or below, with either sign (n_outputs,): infinite where sums could leave the numbers that there are."""
        out = np.abs(self.start)
        if self.n_trees:
            sizes = np.abs(self.value) if self.linear is None else np.maximum(np.abs(self.value), self.linear.largest[:, None])
            most = np.maximum.reduceat(sizes, self.roots[:-1], axis=0)
            whole = self.output == -1
            with np.errstate(over="ignore"):
                out = out + most[whole].sum(axis=0) if whole.any() else out
                np.add.at(out, self.output[~whole], most[~whole, 0])
        return out

    def digest(self) -> str:
        """A fingerprint of every bit of the model: equal forests have equal digests, on any machine."""
        total = hashlib.sha256(f"{self.n_outputs}".encode())
        for name, dtype in DTYPES.items():
            array = getattr(self, name)
            total.update(f"{name}{array.shape}".encode())
            total.update(array.astype(np.dtype(dtype).newbyteorder("<")).tobytes())
        if self.linear is not None:
            total.update(linear_digest(self.linear))
        return total.hexdigest()

    def check(self) -> "Forest":
        """Prove that no walk can leave the arrays or go on for ever; returns the forest, or raises DataError."""
        check_shapes(self)
        check_trees(self)
        check_nodes(self)
        check_sets(self)
        check_linear(self)
        return self

    # -------------------------------------------------------------------------------------------------- prediction

    @cached_property
    def batch_predictor(self) -> BatchPredictor:
        """The forest in the forms that kernels want."""
        return BatchPredictor(Arrays(*(getattr(self, name) for name in Arrays._fields)))

    def raw(self, x: Any, threads: int = 1, n_trees: int | None = None) -> NDArray[np.float64]:
        """Scores (n, n_outputs) of a table or of a matrix (n, F), by all trees or by the first `n_trees`.

        In a matrix, categories are numbers from 0 on; NaN is missing, -2 a category that training never saw.
        Each row adds its trees in order, so that the bits depend on neither the threads nor the other rows.
        """
        return self._add(x, (0, self.n_trees if n_trees is None else n_trees), threads)

    def staged_raw(self, x: Any, threads: int = 1, every: int = 1) -> Iterator[NDArray[np.float64]]:
        """The scores after every tree, or after every so many; each array is new. The last equals `raw`."""
        out = self._add(x, (0, 0), threads)
        for tree, leaf in self.staged_leaves(x, threads):
            self.add_leaves(x, (tree, tree + 1), leaf[:, None], out, threads)
            if (tree + 1) % every == 0 or tree + 1 == self.n_trees:
                yield out.copy()

    def staged_leaves(self, x: Any, threads: int = 1) -> Iterator[tuple[int, NDArray[np.int32]]]:
        """The number of each tree, in order, and the node where each row ends in it (n,), without the leaves of all trees at once."""
        for first in range(0, self.n_trees, STAGES_TOGETHER):
            last = min(first + STAGES_TOGETHER, self.n_trees)
            leaves = self._leaves(x, (first, last), threads)
            yield from ((tree, leaves[:, tree - first]) for tree in range(first, last))

    def leaves(self, x: Any, threads: int = 1) -> NDArray[np.int32]:
        """The node where each row ends in each tree (n, T), counted from the tree's root."""
        return self._leaves(x, (0, self.n_trees), threads)

    def predictor(self) -> "Predictor | LinearPredictor":
        """A callable that scores one row or a block of rows with as little overhead as possible."""
        return Predictor(self.batch_predictor, self.start) if self.linear is None else LinearPredictor(self)

    def _add(self, x: Any, trees: tuple[int, int], threads: int) -> NDArray[np.float64]:
        out = np.tile(self.start, (n_rows(x), 1))
        if self.linear is None:
            self.batch_predictor.run(x, trees, out, None, threads)
            return out
        for first in range(*trees, STAGES_TOGETHER):
            together = (first, min(first + STAGES_TOGETHER, trees[1]))
            self.add_leaves(x, together, self._leaves(x, together, threads), out, threads)
        return out

    def add_leaves(self, x: Any, trees: tuple[int, int], leaf: NDArray[np.int32], out: NDArray[np.float64], threads: int) -> None:
        """Add what some trees predict to out (n, n_outputs), where leaf (n, trees) has the nodes where rows end."""
        if self.linear is not None:
            columns, roots = self.output[slice(*trees)], self.roots[slice(*trees)]
            n, blocks = rows_of(x, self.n_features)
            for first, block in blocks(0, n):
                at = slice(first, first + len(block))
                add_linear(out[at], columns, leaf[at], roots, self.value[:, 0], self.linear, block, threads)
            return
        for tree, ends in zip(range(*trees), leaf.T, strict=True):
            step = self.value[self.roots[tree] + ends]
            if self.output[tree] >= 0:
                out[:, self.output[tree]] += step[:, 0]
            else:
                out += step

    def _leaves(self, x: Any, trees: tuple[int, int], threads: int) -> NDArray[np.int32]:
        leaf = np.zeros((n_rows(x), trees[1] - trees[0]), np.int32)
        self.batch_predictor.run(x, trees, None, leaf, threads)
        return leaf

    # ---------------------------------------------------------------------------------------------- parts and sums

    def first(self, k: int) -> "Forest":
        """The first k trees."""
        return self._part(0, min(max(k, 0), self.n_trees), self.start)

    def rest(self, k: int) -> "Forest":
        """What comes after the first k trees, starting from zero: `first(k).join(rest(k))` is the forest itself."""
        return self._part(min(max(k, 0), self.n_trees), self.n_trees, np.zeros_like(self.start))

    def _part(self, begin: int, end: int, start: NDArray[np.float64]) -> "Forest":
        nodes = slice(self.roots[begin], self.roots[end])
        sets = self.sets[nodes]
        used = sets >= 0
        words, low = self.words[:0], 0
        if used.any():
            low = int(sets[used].min())
            words = self.words[low : int((sets[used] + 2 * self.set_words[self.feature[nodes][used]]).max())]
        names = ("feature", "threshold", "child", "missing", "value", "cover", "gain")
        per_node: dict[str, Any] = {name: getattr(self, name)[nodes] for name in names}
        return replace(
            self, **per_node, roots=self.roots[begin : end + 1] - self.roots[begin], sets=np.where(used, sets - low, -1), words=words,
            output=self.output[begin:end], start=start, linear=None if self.linear is None else self.linear.part(nodes.start, nodes.stop),
        )  # fmt: skip

    def join(self, other: "Forest") -> "Forest":
        """The sum of two forests: the trees of both, this one's first, and the sum of their starting scores."""
        same = self.n_outputs == other.n_outputs and self.value.shape[1] == other.value.shape[1]
        if not same or not np.array_equal(self.set_words, other.set_words):
            raise DataError("only forests of the same features, the same outputs and the same width of values can be joined")
        names = ("feature", "threshold", "child", "missing", "words", "value", "cover", "gain", "output")
        both: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return replace(
            self, **both, roots=np.concatenate([self.roots, self.roots[-1] + other.roots[1:]]),
            sets=np.concatenate([self.sets, np.where(other.sets >= 0, other.sets + self.words.size, -1)]),
            start=self.start + other.start, linear=joined_linear([(self.linear, self.n_nodes), (other.linear, other.n_nodes)]),
        )  # fmt: skip

    def with_node_values(self) -> "Forest":
        """The same forest, with the value of every inner node the cover-weighted mean of the leaves below it."""
        value = self.value.copy()
        node_means(self.feature, self.child, self.cover, self.roots, value)
        return replace(self, value=value)

    def _tree_begin(self) -> NDArray[np.int64]:
        """The first node of its tree, for each node."""
        return np.repeat(self.roots[:-1], np.diff(self.roots))


@dataclass(frozen=True, eq=False)
class LinearPredictor:
    """What `Predictor` is to other forests: raw scores of one row or of a block of rows, given as numbers."""

    forest: Forest

    def __call__(self, rows: Any) -> NDArray[np.float64]:
        """The raw score of each row."""
        x = np.asarray(rows)
        x = x if x.dtype == np.float32 else x.astype(np.float64)
        out = self.forest.raw(np.atleast_2d(x))
        return out if x.ndim > 1 else np.asarray(out[0])


def n_rows(x: Any) -> int:
    """Rows of a matrix or of a table."""
    return int(x.shape[0]) if isinstance(x, np.ndarray) else int(x.n_rows)


# ------------------------------------------------------------------------------------------------------------ soundness


def demand(holds: Any, what: str) -> None:
    """Raise DataError unless the statement holds, everywhere if it is an array."""
    if not np.all(holds):
        raise DataError(f"the forest is damaged: {what}")


def check_shapes(forest: Forest) -> None:
    """Every array has its type and the length that the others ask for."""
    for field in fields(Forest):
        if field.name in DTYPES:
            array = getattr(forest, field.name)
            demand(isinstance(array, np.ndarray) and array.dtype == DTYPES[field.name], f"{field.name} has the wrong type")
            demand(array.ndim == (2 if field.name == "value" else 1), f"{field.name} has the wrong number of dimensions")
    demand(forest.roots.size >= 1, "roots is empty")
    for name in ("threshold", "child", "missing", "sets", "value", "cover", "gain"):
        demand(getattr(forest, name).shape[0] == forest.n_nodes, f"{name} has not one entry for each node")
    demand(forest.output.size == forest.n_trees, "output has not one entry for each tree")
    demand(forest.n_outputs >= 1, "there is no output")
    demand(forest.start.size == forest.n_outputs, "start has not one entry for each output")
    demand(forest.value.shape[1] >= 1, "values have no numbers")


def check_trees(forest: Forest) -> None:
    """Trees cover the nodes in order, and each adds to outputs that exist."""
    demand(forest.roots[0] == 0, "the first tree does not begin at the first node")
    demand(forest.roots[-1] == forest.n_nodes, "the last tree does not end at the last node")
    # Two of these say the same unless a difference wraps around.
    demand((np.diff(forest.roots) > 0) & (forest.roots[1:] > forest.roots[:-1]), "a tree has no nodes")
    whole = forest.output == -1
    demand(whole | ((forest.output >= 0) & (forest.output < forest.n_outputs)), "a tree adds to an output that does not exist")
    if forest.n_trees:
        width = forest.value.shape[1]
        demand(~whole | (width == forest.n_outputs), "a tree adds to all outputs, but its values have another width")
        demand(whole | (width == 1), "a tree adds to one output, but its values have more than one number")


def check_nodes(forest: Forest) -> None:
    """Children come after their parents and inside the tree, each node but the root has one parent, and numbers are numbers."""
    if forest.n_nodes == 0:
        return
    split = forest.feature >= 0
    begin = forest._tree_begin()
    end = np.repeat(forest.roots[1:], np.diff(forest.roots))
    demand((forest.feature >= -1) & (forest.feature < forest.n_features), "a split uses a feature that does not exist")
    demand(split | (forest.child == 0), "a leaf has children")
    left = (begin + forest.child)[split]
    require_children(split, left, left + 1, end[split], forest.roots[:-1])
    demand(forest.missing <= STOP, "missing values go nowhere")
    demand(~np.isnan(forest.threshold), "a threshold is not a number")
    demand(np.isfinite(forest.value), "a value is not finite")
    demand(np.isfinite(forest.cover) & (forest.cover >= 0), "a cover is not a finite weight")
    demand(~np.isnan(forest.gain), "a gain is not a number")
    demand(np.isfinite(forest.start), "a starting score is not finite")


def check_probabilities(forest: Forest) -> None:
    """Where rows end, the values are the probabilities of classes: whoever asks for their logarithms expects no other."""
    demand(forest.start == 0.0, "probabilities do not start from zero")
    demand(are_probabilities(forest.value), "a value is no probability, or those of a node do not add up to one")


def are_probabilities(values: NDArray[np.float64]) -> bool:
    """Whether none is below zero, and those of the last axis add up to one."""
    return bool((values >= 0.0).all() and (np.abs(values.sum(axis=-1) - 1.0) < NEARLY).all())


def check_sets(forest: Forest) -> None:
    """Category splits have sets inside `words`, no category goes both ways, and nothing else has sets."""
    demand(forest.set_words >= 0, "a feature has a negative number of set words")
    if forest.n_nodes == 0:
        return
    size = np.where(forest.feature >= 0, forest.set_words[forest.feature] if forest.n_features else 0, 0).astype(np.int64)
    category = size > 0
    demand((forest.sets >= -1) & (category == (forest.sets >= 0)), "a set is missing, or belongs to no category split")
    # Compared without adding, so that nothing can wrap around.
    demand(forest.sets <= forest.words.size - 2 * size, "a set reaches beyond the words")
    for k in range(int(size.max(initial=0))):
        at = forest.sets[size > k]
        demand((forest.words[at + k] & forest.words[at + size[size > k] + k]) == 0, "a category goes both ways")


def check_linear(forest: Forest) -> None:
    """Linear parts are of leaves of trees for one output, and of numbers."""
    linear = forest.linear
    if linear is not None:
        linear.check_for(forest.feature, forest.n_features)
        demand(forest.output >= 0, "a tree with linear leaves adds to all outputs")
        demand(forest.set_words[linear.feature] == 0, "a linear leaf uses a category")


# ----------------------------------------------------------------------------------------------------
# How much a forest relies on each feature, read from its arrays alone.


Kind = Literal["gain", "cover", "splits"]


def importance(forest: Forest, kind: Kind = "gain", normalise: bool = False) -> NDArray[np.float64]:
    """One number for each feature of the engine (F,).

    gain    the sum of the gains of its splits
    cover   the sum of the weight of training rows that met its splits
    splits  how many splits use it
    Normalised, the numbers add up to one; where nothing is split, all are zero.
    """
    split = forest.feature >= 0
    weights = {"gain": forest.gain, "cover": forest.cover, "splits": np.ones(forest.n_nodes)}[kind]
    total = np.bincount(forest.feature[split], weights=weights[split], minlength=forest.n_features).astype(np.float64)
    whole = total.sum()
    return total / whole if normalise and whole > 0 else total


# ----------------------------------------------------------------------------------------------------
# Joining forests: many into one, and one on fewer features.


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
        linear=joined_linear([(forest.linear, forest.n_nodes) for forest in forests]),
    )


def with_scores(forest: Forest, values: Sequence[NDArray[np.float64]], output: Sequence[int], n_outputs: int) -> Forest:
    """The same trees with other values at their nodes, tree by tree, for the columns `output`; they start from zero.

    Inner nodes take the mean of the leaves below them.
    """
    return replace(
        forest, value=np.concatenate(values), output=np.array(output), n_outputs=n_outputs, start=np.zeros(n_outputs), linear=None
    ).with_node_values()


def tree_of(forest: Forest, number: int) -> Forest:
    """One tree, starting from zero: views of the arrays of the forest."""
    return forest.first(number + 1).rest(number)


def on_features(forest: Forest, features: NDArray[np.int64]) -> Forest:
    """The same trees on a table that has only these features; no tree may use another."""
    position = np.full(forest.n_features + 1, -1, np.int32)  # the last for leaves, whose feature is -1
    position[features] = np.arange(len(features))
    linear = None if forest.linear is None else forest.linear.on_features(position, features)
    return replace(forest, feature=position[forest.feature], set_words=forest.set_words[features], linear=linear)
