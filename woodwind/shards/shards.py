"""The seam: where the rows are, what is asked of them, and what they answer.

A driver that grows a tree asks two things: *apply these splits* and *sum these statistics over all rows of these nodes*. A question has both,
in this order, so that one pass over the rows is enough for a batch of nodes; either part may be empty. All that is answered is integers,
which add up to the same for any division of the rows.

Codes may be anywhere: in memory (`MemoryShards`), on disk (`DiskShards`), on other machines. What belongs to one row and changes while a
model is trained (scores, statistics, the place in the tree that grows) is some 20 bytes: it stays with whoever trains, and is handed over
when a tree begins (docs/decisions/0037-shards.md has the figures).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import on_threads
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.kernels.histogram.layout import Rule
from woodwind.kernels.histogram.shards import Splits
from woodwind.tree.grown_tree import ValuedTree
from woodwind.tree.histogram_grower import walk_codes


@dataclass(frozen=True, eq=False)
class Sums:
    """Which rows are summed, and how: (S,) sums are asked for."""

    slot_of: NDArray[np.int32]  # (places,) in which of the sums the rows of a place are, -1 for none
    forms: NDArray[np.int64]  # (S,) FINE, COARSE or COUNTS of woodwind/kernels/histogram/shards.py


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of all rows of a tree, in one pass; splits are applied first."""

    splits: Splits | None
    sums: Sums | None

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return 0 if self.splits is None else len(self.splits.at)

    @property
    def n_sums(self) -> int:
        """Number of sums."""
        return 0 if self.sums is None else len(self.sums.forms)


@dataclass(frozen=True, eq=False)
class Answer:
    """What the rows of some shards answer; answers add up."""

    left: NDArray[np.int64]  # (m,) how many rows of each split go left
    met: NDArray[np.uint8]  # (m, 256) 1 for codes that its rows have
    packed: NDArray[Any]  # (S, cells) int64: sums FINE and COUNTS; (S, cells * lanes) int32 where a tree has several outputs
    wide: NDArray[np.int64]  # (S, 2 * cells) sums COARSE: gradients, then hessians; no rows where none was asked for

    def table(self, number: int, coarse: bool) -> NDArray[Any]:
        """One of the sums, by whether it is COARSE."""
        found: NDArray[Any] = (self.wide if coarse else self.packed)[number]
        return found

    def add(self, other: "Answer") -> None:
        """Take another answer in."""
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


class Asked(Protocol):
    """The rows of one tree, while it grows."""

    def ask(self, question: Question) -> Answer:
        """Apply splits, then sum, over all rows; `places` of the rows are written."""


class Shards:
    """Coded rows in blocks, each of which can be read again at any time. `layout` has the columns of the codes, and no rows."""

    layout: Codes
    has_unseen: bool
    ends: Sequence[int]  # (blocks + 1,) which rows each block has

    @property
    def n_rows(self) -> int:
        """Number of rows of all blocks."""
        return int(self.ends[-1])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.layout.n_features

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """(F,) which features are categories."""
        return self.layout.is_category

    @property
    def unseen(self) -> int:
        """The code of a category that training never saw."""
        return self.layout.unseen

    def take(self, rows: NDArray[np.int64]) -> "Shards":
        """Some of the rows."""
        raise NotImplementedError

    def blocks(self, ahead: int) -> Iterator[tuple[int, Callable[[], NDArray[np.uint8]]]]:
        """The number of each block that has rows, and what gives its codes (n, stride), to be called once, by any thread.

        `ahead` is how many are in use at a time.
        """
        raise NotImplementedError

    def on_blocks(self, call: Callable[[int, int, int, NDArray[np.uint8]], None], threads: int) -> None:
        """`call(side, begin, end, codes)` for every block, on so many threads; each takes the next block when it is done with one."""
        lock, upcoming = Lock(), self.blocks(threads)

        def part(side: int) -> None:
            while True:
                with lock:
                    following = next(upcoming, None)
                if following is None:
                    return
                number, load = following
                call(side, int(self.ends[number]), int(self.ends[number + 1]), load())

        try:
            on_threads(part, max(1, min(threads, len(self.ends) - 1)))
        finally:
            close = getattr(upcoming, "close", None)
            if close is not None:
                close()

    def walk(self, tree: ValuedTree, out: NDArray[np.int32], threads: int) -> None:
        """Write the node of the tree where each row ends to `out`."""
        layout = self.layout

        def part(_side: int, begin: int, end: int, codes: NDArray[np.uint8]) -> None:
            block = Codes(codes, layout.n_bins, layout.width, layout.is_category, layout.places)
            walk_codes(tree, block, out[begin:end], 1)

        self.on_blocks(part, threads)


def walk_rows(tree: ValuedTree, codes: Codes | SparseCodes | Shards, out: NDArray[np.int32], threads: int) -> None:
    """Write the node of the tree where each row ends to `out`, wherever the rows are."""
    if isinstance(codes, Shards):
        codes.walk(tree, out, threads)
    else:
        walk_codes(tree, codes, out, threads)
