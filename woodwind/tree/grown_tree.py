"""A tree as it was grown, what remains when some of its splits are taken away, and the tree with the values of its leaves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.base.validate import require, require_array, require_children
from woodwind.kernels.tree.layout import SET_WORDS, STOP
from woodwind.kernels.tree.leaves import add_leaf_column, add_leaf_values, add_leaf_vectors, newton_steps, node_means
from woodwind.tree.linear_leaves import LinearLeaves, add_linear


@dataclass(eq=False, slots=True)  # not frozen: that triples the time of making one
class GrownTree:
    """A finished tree on codes, its leaves still without values. The root is node 0, parents come before children.

    Leaf j has the rows `rows[begin[j]:end[j]]`, if they were asked for; its sums are of all bits of the statistics.
    """

    feature: NDArray[np.int32]  # (N,) -1 at a leaf
    bin: NDArray[np.int64]  # (N,) number split: left when code <= bin
    child: NDArray[np.int32]  # (N,) left child; the right one follows; 0 at a leaf
    missing: NDArray[np.uint8]  # (N,)
    set: NDArray[np.int64]  # (N,) row of `sets`; -1 otherwise
    sets: NDArray[np.uint64]  # (S, 8) categories that go left, categories that go right
    gain: NDArray[np.float64]  # (N,)
    gradient: NDArray[np.float64]  # (N,) sums of all nodes
    hessian: NDArray[np.float64]  # (N,)
    count: NDArray[np.int64]  # (N,)
    low: NDArray[np.float64]  # (N,) bounds of the value
    high: NDArray[np.float64]  # (N,)
    begin: NDArray[np.int64]  # (N,)
    end: NDArray[np.int64]  # (N,)
    rows: NDArray[np.int64]  # rows of the tree, leaf by leaf; none where they were not asked for
    leaf_of_row: NDArray[np.int32]  # (n,) only rows that the tree was grown from
    threshold: NDArray[np.float64] | None = None  # (N,) where number splits cut; None: at the edge of their `bin`

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.feature)

    @property
    def leaves(self) -> NDArray[np.int64]:
        """Numbers of the leaves."""
        return np.flatnonzero(self.feature < 0)


def forget_category(tree: GrownTree, code: int) -> None:
    """Take the code of categories that the schema does not know out of all sets: growth takes it for one, but no model can name it."""
    if len(tree.sets):
        tree.sets[:, [code >> 6, SET_WORDS + (code >> 6)]] &= ~(np.uint64(1) << np.uint64(code & 63))


def pruned(tree: GrownTree, min_gain: float) -> GrownTree:
    """Remove splits below `min_gain` from the leaves upwards: a split stays if its gain or that of one below it is enough."""
    feature = tree.feature.copy()
    for node in np.flatnonzero(feature >= 0)[::-1]:
        left = tree.child[node]
        if feature[left] < 0 and feature[left + 1] < 0 and tree.gain[node] < min_gain:
            feature[node] = -1
    return without(tree, feature)


def without(tree: GrownTree, feature: NDArray[np.int32]) -> GrownTree:
    """The tree in which nodes that have lost their feature are leaves; nodes below them are gone."""
    if np.array_equal(feature, tree.feature):
        return tree
    number = np.full(tree.n_nodes, -1, np.int64)
    number[0] = 0
    kept = [0]
    owner = np.arange(tree.n_nodes)
    for node in range(tree.n_nodes):
        if tree.feature[node] < 0:
            continue
        left = int(tree.child[node])
        if number[node] >= 0 and feature[node] >= 0:
            for side in (left, left + 1):
                number[side] = len(kept)
                kept.append(side)
        else:
            owner[left] = owner[left + 1] = owner[node]
    nodes = np.array(kept)
    inner = feature[nodes] >= 0
    if len(tree.rows) == 0:
        raise ValueError("nodes can be taken away only from a tree that has kept its rows")
    leaf_of_row = tree.leaf_of_row.copy()
    leaf_of_row[tree.rows] = number[owner[tree.leaf_of_row[tree.rows]]]
    child = np.where(inner, number[np.where(inner, tree.child[nodes], 0)], 0).astype(np.int32)
    return replace(
        tree,
        feature=feature[nodes],
        bin=tree.bin[nodes],
        child=child,
        missing=np.where(inner, tree.missing[nodes], STOP).astype(np.uint8),
        set=np.where(inner, tree.set[nodes], -1),
        gain=np.where(inner, tree.gain[nodes], 0.0),
        gradient=tree.gradient[nodes],
        hessian=tree.hessian[nodes],
        count=tree.count[nodes],
        low=tree.low[nodes],
        high=tree.high[nodes],
        begin=tree.begin[nodes],
        end=tree.end[nodes],
        leaf_of_row=leaf_of_row,
        threshold=None if tree.threshold is None else tree.threshold[nodes],
    )


# ----------------------------------------------------------------------------------------------------
# Values of leaves.


Floats = NDArray[np.float64]


def newton_values(gradient: Floats, hessian: Floats, l1: float, l2: float) -> Floats:
    """The value that minimises the second-order loss of a leaf: Chen & Guestrin 2016, Eq. 5, with an L1 penalty."""
    pull = gradient if l1 == 0.0 else np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0)
    below = hessian + l2
    return np.divide(0.0 - pull, below, out=np.zeros_like(below), where=below > 0.0)


def newton_tree(tree: GrownTree, hessian: Floats, penalties: tuple[float, float, float]) -> Floats:
    """Newton steps of all nodes of a grown tree with one output, within their bounds.

    penalties = (L1, L2, path smoothing). Without smoothing the same as `fill_empty(tree, within_bounds(tree, newton_values(...)))`,
    in one compiled call: a tree on a small table is grown in less time than those three take.
    """
    out = np.empty(tree.n_nodes)
    newton_steps((tree.feature, tree.child, tree.count), (tree.gradient, hessian), (tree.low, tree.high), penalties, out)
    return out


def leaf_steps(
    feature: NDArray[np.int32],
    child: NDArray[np.int32],
    counts: NDArray[Any],
    sums: tuple[Floats, Floats],
    penalties: tuple[float, float, float],
    longest: float,
) -> Floats:
    """Newton steps of all nodes, from counts and sums of the rows that end at each.

    penalties = (L1, L2, path smoothing). With smoothing a step is drawn towards that of the node above, and none is longer than `longest`.
    """
    if penalties[2] == 0.0:
        return newton_values(*sums, *penalties[:2])
    count, gradient, hessian = (covers_below(feature, child, part) for part in (counts, *sums))
    bound = np.full(len(feature), longest)
    out = np.empty(len(feature))
    newton_steps((feature, child, count.astype(np.int64)), (gradient, hessian), (-bound, bound), penalties, out)
    return out


def within_bounds(tree: GrownTree, values: Floats) -> Floats:
    """Values held within what monotonic constraints allow each node."""
    return np.minimum(np.maximum(values, tree.low), tree.high)


def fill_empty(tree: GrownTree, values: Floats) -> Floats:
    """Give a leaf without rows (a symmetric tree may have some) the value of the node above it."""
    if tree.count.all():
        return values
    for node in np.flatnonzero(tree.feature >= 0):
        left = tree.child[node]
        for child in (left, left + 1):
            if tree.count[child] == 0:
                values[child] = values[node]
    return values


def rows_by_leaf(
    leaf: NDArray[np.int32], rows: NDArray[np.int32] | None, n_nodes: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Rows in the order of their leaves, and where each leaf begins and ends."""
    of_row = leaf if rows is None else leaf[rows]
    # Short integers are counted, not compared: a sixth of the time.
    order = np.argsort(of_row.astype(np.uint16) if n_nodes <= 1 << 16 else of_row, kind="stable").astype(np.int32)
    sizes = np.bincount(of_row, minlength=n_nodes)
    ends = np.cumsum(sizes)
    return (order if rows is None else rows[order]), ends - sizes, ends


# ----------------------------------------------------------------------------------------------------
# A tree with its values: means at inner nodes, and scores of the rows.

# Rows to which all trees of a round are added before the next ones: their scores stay in the second-level cache.
ADD_ROWS = 4096


@dataclass(eq=False, slots=True)  # not frozen: that triples the time of making one
class ValuedTree:
    """A grown tree with its values: (N, L); an inner node has the mean of the leaves below it, for rows that stop there."""

    feature: NDArray[np.int32]
    bin: NDArray[np.int64]
    child: NDArray[np.int32]
    missing: NDArray[np.uint8]
    set: NDArray[np.int64]
    sets: NDArray[np.uint64]
    gain: NDArray[np.float64]
    cover: NDArray[np.float64]
    low: NDArray[np.float64]  # bounds of the value, times the learning rate
    high: NDArray[np.float64]
    value: NDArray[np.float64]
    output: int  # column of the score that it adds to; -1 for all
    threshold: NDArray[np.float64] | None = None  # (N,) where number splits cut; None: at the edge of their `bin`
    linear: LinearLeaves | None = None  # what leaves add to their value; None where all are constant

    YOUNGER: ClassVar[tuple[str, ...]] = ("linear",)

    @classmethod
    def of(
        cls, tree: GrownTree, value: NDArray[np.float64], output: int, rate: float, threshold: NDArray[np.float64] | None = None
    ) -> "ValuedTree":
        """Keep what a model needs of a grown tree; `value` and the bounds are times the learning rate."""
        return cls(
            feature=tree.feature,
            bin=tree.bin,
            child=tree.child,
            missing=tree.missing,
            set=tree.set,
            sets=tree.sets,
            gain=tree.gain,
            cover=tree.count.astype(np.float64),
            low=tree.low * rate,
            high=tree.high * rate,
            value=value.reshape(len(tree.feature), -1),
            output=output,
            threshold=threshold,
        )

    def check(self) -> "ValuedTree":
        """Prove that no walk can leave the arrays or go on for ever; gives the tree, or raises DataError. Then ask `check_tree_for`."""
        n_nodes = len(self.feature)
        require_array(self.feature, (None,), "features of a tree")
        require(n_nodes > 0, "a tree has no nodes")
        for name in ("bin", "child", "missing", "set"):
            require_array(getattr(self, name), (n_nodes,), f"{name} of a tree")
        for name in ("gain", "cover", "low", "high"):
            require(getattr(self, name).shape == (n_nodes,) and not np.isnan(getattr(self, name)).any(), f"{name} of a tree is no number")
        require_array(self.value, (n_nodes, None), "values of a tree")
        require_array(self.sets, (None, 2 * SET_WORDS), "sets of a tree")
        right = self.threshold is None or (self.threshold.shape == (n_nodes,) and not np.isnan(self.threshold).any())
        require(right, "a threshold is not a number")
        split, child = self.feature >= 0, self.child.astype(np.int64)
        require(self.feature >= -1, "a split uses a feature that does not exist")
        require(split | (child == 0), "a leaf has children")
        require_children(split, child[split], child[split] + 1, np.full(int(split.sum()), n_nodes), np.array([0]))
        require((self.set >= -1) & (self.set < len(self.sets)) & (self.missing <= STOP), "a set is not there, or missing values go nowhere")
        goes_left, goes_right = self.sets[:, :SET_WORDS], self.sets[:, SET_WORDS:]
        require((goes_left & goes_right) == 0, "a category goes left and right")  # a walk would go back
        if self.linear is not None:
            self.linear.check_for(self.feature, self.linear.scale.size)
            require(self.output >= 0 and self.value.shape[1] == 1, "a tree with linear leaves adds to all outputs")
        return self

    def scaled(self, share: float) -> "ValuedTree":
        """The tree with a multiple of its values; bounds stay."""
        return replace(self, value=share * self.value, linear=None if self.linear is None else self.linear.scaled(share))

    def shrink(self, factor: float) -> None:
        """Multiply values and bounds in place."""
        self.linear = None if self.linear is None else self.linear.scaled(factor)
        self.value, self.low, self.high = self.value * factor, self.low * factor, self.high * factor

    def with_values(self, value: NDArray[np.float64], cover: NDArray[np.float64]) -> "ValuedTree":
        """The same splits with other leaf values."""
        return replace(self, value=value.reshape(len(self.feature), -1), cover=covers_below(self.feature, self.child, cover))


def covers_below(feature: NDArray[np.int32], child: NDArray[np.int32], cover: NDArray[Any]) -> NDArray[Any]:
    """Covers of the nodes of a tree, or other sums, from those of the rows that end at each."""
    covers = cover.copy()
    for node in range(len(covers) - 1, -1, -1):
        if feature[node] >= 0:
            covers[node] += covers[child[node]] + covers[child[node] + 1]
    return covers


TreeWithLeaves = tuple[ValuedTree, NDArray[np.int32]]  # a tree, and the node where each row of the table ends


def with_means(tree: ValuedTree) -> ValuedTree:
    """Inner nodes get the cover-weighted mean of the leaves below: what a walk that ends there takes."""
    roots: NDArray[np.int64] = np.array([0, len(tree.feature)])
    node_means(tree.feature, tree.child, tree.cover, roots, tree.value)
    return tree


def add_leaf_scores(raw: NDArray[np.float64], with_leaves: Sequence[TreeWithLeaves], threads: int, numbers: Floats | None = None) -> None:
    """Add the values of trees to the scores of all rows; `numbers` (n, F) are those of the rows, where leaves are linear."""
    if any(tree.linear is not None for tree, _leaf in with_leaves):
        for tree, leaf in with_leaves:
            add_tree_scores(raw, tree, leaf, threads, numbers)
        return

    def part(begin: int, end: int) -> None:
        step = end - begin if len(with_leaves) == 1 else ADD_ROWS
        for first in range(begin, end, step):
            for tree, leaf in with_leaves:
                values, past = np.ascontiguousarray(tree.value), min(first + step, end)
                if tree.output < 0:
                    add_leaf_vectors(raw, leaf, values, first, past)
                elif raw.ndim == 1:
                    add_leaf_values(raw, leaf, values[:, 0], first, past)
                else:
                    add_leaf_column(raw, tree.output, leaf, values[:, 0], first, past)

    run_ranges(part, len(raw), threads, len(with_leaves))


def add_tree_scores(raw: NDArray[np.float64], tree: ValuedTree, leaf: NDArray[np.int32], threads: int, numbers: Floats | None) -> None:
    """Add the values of one tree to the scores of all rows."""
    if tree.linear is not None:
        assert numbers is not None  # whoever trains linear leaves has them
        out = raw.reshape(len(raw), -1)
        add_linear(out, [tree.output], leaf[:, None], [0], tree.value[:, 0], tree.linear, numbers, threads)
    elif raw.ndim == 1:
        raw += tree.value[leaf, 0]
    elif tree.output >= 0:
        raw[:, tree.output] += tree.value[leaf, 0]
    else:
        raw += tree.value[leaf]
