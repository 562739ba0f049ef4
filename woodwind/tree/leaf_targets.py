"""The training targets of the leaves of a forest, for quantiles of its predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.base.validate import require, require_array
from woodwind.kernels.predict.forest_quantiles import LeafTargets, quantiles_of_rows, shares_below
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.compact_forest_grower import CompactTree

Floats = NDArray[np.float64]

# What a row costs for each tree, in the units of the pool.
WORK_PER_TREE = 50
# Levels are kept for so many steps from 0 to 1, and learned from no fewer rows than these.
GRID = 200
LEAST_SCORED = 20


@dataclass(frozen=True, eq=False)
class LeafRows:
    """Which target of the training is in which leaf; see `kernels/predict/forest_quantiles.py` for the arrays."""

    rank: NDArray[np.int32]
    weight: NDArray[np.float32]
    span: NDArray[np.int64]
    values: Floats
    levels: Floats | None = None  # (GRID + 1,) what to ask for so that shares k / GRID of new targets are below; None where nothing tells

    @classmethod
    def of(cls, trees: Sequence[CompactTree], times: Sequence[NDArray[np.int32]], y: Floats, weight: Floats) -> "LeafRows":
        """Of trees that have kept their rows; `times`: how often each row was in each tree."""
        values, places = np.unique(y, return_inverse=True)
        ranks, weights, spans, before = [], [], [], 0
        for tree, count in zip(trees, times, strict=True):
            assert tree.rows is not None
            assert tree.span is not None
            ranks.append(places[tree.rows].astype(np.int32))
            weights.append((count[tree.rows] * weight[tree.rows]).astype(np.float32))
            spans.append(tree.span + before)
            before += len(tree.rows)
        return cls(np.concatenate(ranks), np.concatenate(weights), np.concatenate(spans), values)

    def check(self) -> "LeafRows":
        """Entries are inside of the arrays, leaf after leaf; returns self, or raises DataError. Then ask `check_for`."""
        for name in ("rank", "span", "values"):
            require_array(getattr(self, name), (None,), f"{name} of the leaves")
        require_array(self.weight, (self.rank.size,), "the weights of the leaves")
        require((self.rank >= 0) & (self.rank < self.values.size), "a target is not there")
        require(self.weight > 0.0, "a weight is not positive")
        require(self.values[1:] > self.values[:-1], "targets do not ascend")
        require(self.span.size > 0 and self.span[0] == 0 and self.span[-1] == self.rank.size, "leaves do not cover the targets")
        require(self.span[1:] >= self.span[:-1], "leaves are not one after another")
        if self.levels is not None:
            require_array(self.levels, (GRID + 1,), "the levels of quantiles")
            require((self.levels >= 0.0) & (self.levels <= 1.0), "a level is no share")
        return self

    def check_for(self, compact: CompactForest) -> None:
        """There are entries for every leaf of the CompactForest, and for no others; or DataError."""
        require(self.span.size == len(compact.cover) + compact.n_trees, "leaves have not one list of targets each")

    def join(self, other: "LeafRows") -> "LeafRows":
        """Those of more trees, grown from the same targets."""
        return LeafRows(
            np.concatenate([self.rank, other.rank]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.span, other.span + len(self.rank)]),
            self.values,
        )

    def calibrated(
        self, compact: CompactForest, x: Any, y: Floats, weight: Floats, unseen: NDArray[np.bool_], threads: int = 1
    ) -> "LeafRows":
        """The same with categories from the rows of the training, each scored by the trees (T, n) that have not seen it.

        If the targets in the leaves were spread as new targets are, those shares would be uniform. They are seldom: leaves of full trees
        are too wide where the target is nearly a function of the features, and too narrow at its edges.
        """
        own = np.searchsorted(self.values, y).astype(np.int32)
        shares = np.empty((2, len(y)))
        ends = compact.ends(x, threads)

        def work(begin: int, end: int) -> None:
            shares_below(ends, compact.walk, self._targets, own, unseen, begin, end, shares)

        run_ranges(work, len(y), threads, WORK_PER_TREE * max(compact.n_trees, 1))
        scored = ~np.isnan(shares[0]) & (weight > 0.0)
        below, equal = shares[:, scored]
        return replace(self, levels=levels_of(below, equal, weight[scored]) if len(below) >= LEAST_SCORED else None)

    @property
    def _targets(self) -> LeafTargets:
        return LeafTargets(self.rank, self.weight, self.span, self.values)

    def quantiles(self, compact: CompactForest, x: Any, wanted: Floats, threads: int = 1) -> Floats:
        """Quantiles (n, Q) for the rows of a table or matrix."""
        ends = compact.ends(x, threads)
        order = np.argsort(wanted, kind="stable")
        out = np.empty((len(ends), len(wanted)))

        def work(begin: int, end: int) -> None:
            quantiles_of_rows(ends, compact.walk, self._targets, wanted[order], begin, end, out)

        run_ranges(work, len(ends), threads, WORK_PER_TREE * max(compact.n_trees, 1))
        back = np.empty_like(out)
        back[:, order] = out
        return back


def levels_of(below: Floats, equal: Floats, weight: Floats) -> Floats:
    """For shares k / GRID: the level below which so many of the rows have theirs.

    Of targets that are equal to a row's own, those count as below it that make an interval with both its ends cover no more than it should:
    nearly all of them at the lower end, and hardly any at the upper one. Where targets are numbers without repetition there are none.
    """
    shares = np.arange(GRID + 1) / GRID
    if not equal.any():
        return quantiles_by_weight(below, weight, shares)
    levels = [quantiles_by_weight(below + (1.0 - share) * equal, weight, np.array([share])) for share in shares]
    return np.maximum.accumulate(np.concatenate(levels))


def quantiles_by_weight(values: Floats, weight: Floats, wanted: Floats) -> Floats:
    """Quantiles of numbers between 0 and 1, each of which stands for its weight."""
    order = np.argsort(values, kind="stable")
    mass = weight[order] / weight.sum()
    places = np.concatenate([[0.0], np.cumsum(mass) - mass / 2, [1.0]])
    return np.asarray(np.interp(wanted, places, np.concatenate([[0.0], values[order], [1.0]])))
