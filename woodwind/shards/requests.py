"""What is asked of rows that are in shards, and what they give back.

A driver that grows a tree asks two things: *apply these splits* and *sum these statistics over all rows of these nodes*. A request has
both, in this order, so that one pass over the rows is enough for a batch of nodes; either part may be empty. All that is given back is
integers, which add up to the same for any division of the rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.histogram.layout import Rule
from woodwind.kernels.histogram.shards import Splits


@dataclass(frozen=True, eq=False)
class SumRequest:
    """Which rows are summed, and how: (S,) sums are asked for."""

    slot_of: NDArray[np.int32]  # (places,) in which of the sums the rows of a place are, -1 for none
    forms: NDArray[np.int64]  # (S,) FINE, COARSE or COUNTS of woodwind/kernels/histogram/shards.py


@dataclass(frozen=True, eq=False)
class ShardRequest:
    """What is asked of all rows of a tree, in one pass; splits are applied first."""

    splits: Splits | None
    sums: SumRequest | None

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return 0 if self.splits is None else len(self.splits.at)

    @property
    def n_sums(self) -> int:
        """Number of sums."""
        return 0 if self.sums is None else len(self.sums.forms)


@dataclass(frozen=True, eq=False)
class ShardResult:
    """What the rows of some shards give back; results add up."""

    left: NDArray[np.int64]  # (m,) how many rows of each split go left
    met: NDArray[np.uint8]  # (m, 256) 1 for codes that its rows have
    packed: NDArray[Any]  # (S, cells) int64: sums FINE and COUNTS; (S, cells * lanes) int32 where a tree has several outputs
    wide: NDArray[np.int64]  # (S, 2 * cells) sums COARSE: gradients, then hessians; no rows where none was asked for

    def table(self, number: int, coarse: bool) -> NDArray[Any]:
        """One of the sums, by whether it is COARSE."""
        found: NDArray[Any] = (self.wide if coarse else self.packed)[number]
        return found

    def add(self, other: "ShardResult") -> None:
        """Take another result in."""
        self.left[:] += other.left
        np.maximum(self.met, other.met, out=self.met)
        self.packed[:] += other.packed
        self.wide[:] += other.wide


@dataclass(frozen=True, eq=False)
class TreeRows:
    """What a tree is grown from beside codes: of every row of the table, in order.

    `statistics` int64[n]: (g << 32) + h; unrounded int64[2, n]; several outputs: int32[n, K + 1] gradients and hessian, or int32[n, lanes]
    where `lanes_ready`.
    """

    places: NDArray[np.int32]  # (n,) where each row is in the tree that grows; -1 for rows that are not in it
    times: NDArray[np.int32] | None  # (n,) how often each row is in it; None for once
    statistics: NDArray[Any]
    rule: Rule
    lane_shift: int
    lanes_ready: bool = False

    def part(self, begin: int, end: int) -> "TreeRows":
        """The rows begin to end."""
        statistics = np.ascontiguousarray(self.statistics[:, begin:end]) if self.rule.unrounded else self.statistics[begin:end]
        times = None if self.times is None else self.times[begin:end]
        return TreeRows(self.places[begin:end], times, statistics, self.rule, self.lane_shift, self.lanes_ready)
