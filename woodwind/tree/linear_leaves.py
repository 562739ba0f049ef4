"""Leaves that are linear in the numbers of their path: docs/algorithms/linear-leaves.md.

A leaf adds constant + sum of coefficient * number to the score of a row, held within what its training rows got. A row that has no number
for one of them has the constant value of the leaf, and so has a row that stops at an inner node.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.base.validate import require, require_array
from woodwind.kernels.runtime.jit import read_only
from woodwind.kernels.tree.linear import LARGEST, LinearTerms, add_linear_leaves, fit_linear_leaves

Floats = NDArray[np.float64]

DTYPES = {
    "first": np.int64, "feature": np.int32, "coefficient": np.float64, "constant": np.float64, "low": np.float64, "high": np.float64,
    "scale": np.float64,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class LinearLeaves:
    """The linear parts of N nodes, C terms in all. Nodes without terms have their value alone, as all inner nodes."""

    first: NDArray[np.int64]  # (N + 1,) where the terms of each node begin, then C
    feature: NDArray[np.int32]  # (C,)
    coefficient: Floats  # (C,) times the learning rate, like all that follows
    constant: Floats  # (N,) where all numbers are zero
    low: Floats  # (N,) least and largest of what the training rows of the leaf got
    high: Floats  # (N,)
    scale: Floats  # (F,) standard deviation of each number in the training table, 0 for what is no term

    def __post_init__(self) -> None:
        for name, dtype in DTYPES.items():
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype))

    @classmethod
    def none(cls, n_nodes: int, scale: Floats) -> "LinearLeaves":
        """No node has terms."""
        zero = np.zeros(n_nodes)
        return cls(np.zeros(n_nodes + 1, np.int64), np.zeros(0, np.int32), np.zeros(0), zero, zero, zero, scale)

    @property
    def terms(self) -> LinearTerms:
        """As kernels take them."""
        return LinearTerms(self.first, self.feature, self.coefficient, self.constant, self.low, self.high)

    @property
    def largest(self) -> Floats:
        """Largest size of what each node can add (N,)."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def check(self) -> "LinearLeaves":
        """All numbers are finite, and terms are where `first` says; returns self, or raises DataError. Then ask `check_for`."""
        require_array(self.first, (None,), "first terms")
        whole = self.first.size > 0 and self.first[0] == 0 and self.first[-1] == self.feature.size
        require(whole, "terms of leaves are not where they begin")
        require(self.first[1:] >= self.first[:-1], "terms of leaves end before they begin")
        for name in ("coefficient", "constant", "low", "high", "scale"):
            size = {"coefficient": self.feature.size, "scale": None}.get(name, self.first.size - 1)
            require_array(getattr(self, name), (size,), f"{name} of linear leaves")
            require(np.isfinite(getattr(self, name)), f"{name} of linear leaves is not finite")
        require_array(self.feature, (None,), "features of linear leaves")
        require((self.feature >= 0) & (self.feature < self.scale.size), "a linear leaf uses a feature that does not exist")
        require(self.low <= self.high, "a linear leaf has no values")
        require(self.scale >= 0.0, "a scale is below zero")
        return self

    def check_for(self, feature: NDArray[np.int32], n_features: int) -> None:
        """These are the linear parts of nodes that split by `feature` (N,), on so many features; or DataError."""
        require(self.first.size == feature.size + 1, "there are linear parts of other nodes")
        require(self.scale.size == n_features, "linear leaves are of other features")
        require((np.diff(self.first) == 0) | (feature < 0), "an inner node has a linear part")

    def part(self, begin: int, end: int) -> "LinearLeaves":
        """Those of nodes begin to end."""
        first, past = int(self.first[begin]), int(self.first[end])
        return LinearLeaves(
            self.first[begin : end + 1] - first, self.feature[first:past], self.coefficient[first:past], self.constant[begin:end],
            self.low[begin:end], self.high[begin:end], self.scale,
        )  # fmt: skip

    def scaled(self, share: float) -> "LinearLeaves":
        """A multiple of each."""
        ends = share * self.low, share * self.high
        low, high = ends if share >= 0.0 else ends[::-1]
        return replace(self, coefficient=share * self.coefficient, constant=share * self.constant, low=low, high=high)

    def mixed(self, share: float, other: "LinearLeaves") -> "LinearLeaves":
        """`share` of these and the rest of others of the same terms."""
        mine, rest = self.scaled(share), other.scaled(1.0 - share)
        names = ("coefficient", "constant", "low", "high")
        return replace(self, **{name: getattr(mine, name) + getattr(rest, name) for name in names})

    def on_features(self, position: NDArray[np.int32], features: NDArray[np.int64]) -> "LinearLeaves":
        """The same on a table that has only these features, which stand at `position` there."""
        return replace(self, feature=position[self.feature], scale=self.scale[features])


def linear_digest(linear: LinearLeaves) -> bytes:
    """Every bit of them, in the same order on any machine."""
    arrays = ((field.name, getattr(linear, field.name)) for field in fields(linear))
    return b"".join(f"{name}{a.shape}".encode() + a.astype(np.dtype(DTYPES[name]).newbyteorder("<")).tobytes() for name, a in arrays)


def joined_linear(parts: Sequence[tuple[LinearLeaves | None, int]]) -> LinearLeaves | None:
    """The linear parts of several trees or forests, one after another; each with its number of nodes. None where none has any."""
    known = [linear for linear, _ in parts if linear is not None]
    if not known:
        return None
    every = [LinearLeaves.none(n_nodes, known[0].scale) if linear is None else linear for linear, n_nodes in parts]
    starts = np.cumsum([0, *(linear.feature.size for linear in every)])
    first = [linear.first[:-1] + start for linear, start in zip(every, starts, strict=False)]
    names = ("feature", "coefficient", "constant", "low", "high")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(linear, name) for linear in every]) for name in names}
    return LinearLeaves(first=np.concatenate([*first, starts[-1:]]), scale=known[0].scale, **arrays)


@dataclass(frozen=True, eq=False)
class LinearInputs:
    """The numbers of a table, and which of them may be terms of a leaf."""

    values: Floats  # (n, F)
    scale: Floats  # (F,) standard deviation; 0 for what is no term: a category, a statistic of the target, a constant

    @classmethod
    def of(cls, values: Floats, is_term: NDArray[np.bool_], weight: Floats | None) -> "LinearInputs":
        """From the numbers of a table; deviations are of those that are there, by weight."""
        scale = np.zeros(len(is_term))
        for feature in np.flatnonzero(is_term):
            column = values[:, feature]
            there = np.abs(column) <= LARGEST
            counts = there.astype(np.float64) if weight is None else np.where(there, weight, 0.0)
            total, known = counts.sum(), np.where(there, column, 0.0)
            if total > 0.0:
                mean = (counts * known).sum() / total
                scale[feature] = np.sqrt((counts * np.where(there, known - mean, 0.0) ** 2).sum() / total)
        return cls(values, np.where(np.isfinite(scale), scale, 0.0))

    def take(self, rows: NDArray[np.int64]) -> "LinearInputs":
        """Some of the rows, each as often as it is named."""
        return replace(self, values=self.values[rows])


def path_terms(feature: NDArray[np.int32], child: NDArray[np.int32], value: Floats, scale: Floats) -> LinearLeaves:
    """The terms of a tree of these values (N,): for each leaf the numbers that its path asks for, ascending; coefficients are zero."""
    n_nodes = len(feature)
    above: list[tuple[int, ...]] = [()] * n_nodes
    for node in range(n_nodes):
        if feature[node] >= 0:
            own = int(feature[node])
            known = above[node] if scale[own] == 0.0 or own in above[node] else tuple(sorted((*above[node], own)))
            above[child[node]] = above[child[node] + 1] = known
            above[node] = ()
    terms = [one for path in above for one in path]
    first = np.concatenate([[0], np.cumsum([len(path) for path in above])])
    return LinearLeaves(first, np.array(terms, np.int32), np.zeros(len(terms)), value, value, value, scale)


@dataclass(frozen=True)
class LinearPlan:
    """How the linear parts of leaves are learned."""

    l2: float  # of coefficients, for numbers of unit variance
    penalties: tuple[float, float, float]  # L1 and L2 of constant values, and the learning rate


def fitted_terms(
    linear: LinearLeaves,
    values: Floats,
    derivatives: tuple[Floats, Floats],
    by_leaf: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]],
    value: Floats,
    plan: LinearPlan,
    threads: int,
) -> LinearLeaves:
    """The same terms with coefficients from rows: values (n, F), derivatives (n,) each, rows of each node, constant values (N,).

    A node without rows has the coefficients that it had. Leaves are apart, and rows are summed in their order: the bits do not depend on
    the threads.
    """
    names = ("coefficient", "constant", "low", "high")
    linear = replace(linear, **{name: np.array(getattr(linear, name)) for name in names})
    terms, spread = linear.terms, plan.l2 * linear.scale**2
    widest = int(np.diff(linear.first).max(initial=0))
    value = np.ascontiguousarray(value)

    def part(begin: int, end: int) -> None:
        scratch = np.empty((3 + widest, max(widest, 1)))
        fit_linear_leaves((values, *derivatives), by_leaf, terms, value, (*plan.penalties, spread), begin, end, scratch)

    if widest:
        rows_of_leaf = max(1, len(by_leaf[0]) // max(len(value), 1))
        run_ranges(part, len(value), threads, rows_of_leaf * (widest + 2) ** 2)
    return linear


def add_linear(
    out: Floats, columns: Any, leaf: NDArray[np.int32], roots: Any, value: Floats, linear: LinearLeaves, numbers: NDArray[Any], threads: int
) -> None:
    """Add the leaves of some trees to the scores out (n, K) of rows: see the kernel."""
    columns, roots = np.asarray(columns, np.int64), np.asarray(roots, np.int64)
    # Arrays that are only read are so for the compiler, too: one signature serves the trees of a training and those of a model.
    leaf, value, numbers = read_only(np.ascontiguousarray(leaf)), read_only(np.ascontiguousarray(value)), read_only(numbers)
    trees = (columns, roots, value, linear.terms)

    def part(begin: int, end: int) -> None:
        add_linear_leaves(out, trees, leaf, numbers, begin, end)

    run_ranges(part, len(out), threads, 8 * leaf.shape[1])
