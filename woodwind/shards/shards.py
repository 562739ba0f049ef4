"""The seam: where the rows are.

Codes may be anywhere: in memory (`MemoryShards`), on disk (`DiskShards`), on other machines. What belongs to one row and changes while a
model is trained (scores, statistics, the place in the tree that grows) is some 20 bytes: it stays with whoever trains, and goes along with
every request (docs/decisions/0032-shards.md has the figures).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import on_threads
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.kernels.histogram.shards import places_to_leaves
from woodwind.shards.block_worker import BlockWorker
from woodwind.shards.requests import ShardRequest, ShardResult, TreeRows
from woodwind.tree.grown_tree import ValuedTree
from woodwind.tree.histogram_grower import walk_codes


class Shards:
    """Coded rows in blocks, each of which can be read again at any time. `layout` has the columns of the codes, and no rows."""

    layout: Codes
    has_unseen: bool
    has_votes = False  # whether features are voted for
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
        """Some of the rows, ascending, each as often as it is named."""
        return TakenShards(self, rows)

    def blocks(self, ahead: int) -> Iterator[tuple[int, Callable[[], NDArray[np.uint8]]]]:
        """The number of each block that has rows, and what gives its codes (n, stride), to be called once, by any thread.

        `ahead` is how many are in use at a time.
        """
        raise NotImplementedError

    def release(self, codes: NDArray[np.uint8]) -> None:
        """Nobody works on the codes of a block any more."""

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
                codes = load()
                call(side, int(self.ends[number]), int(self.ends[number + 1]), codes)
                self.release(codes)

        try:
            on_threads(part, max(1, min(threads, len(self.ends) - 1)))
        finally:
            close = getattr(upcoming, "close", None)
            if close is not None:
                close()

    def ask(self, request: ShardRequest, rows: TreeRows, workers: Sequence[BlockWorker]) -> ShardResult:
        """Apply splits, then sum, over all rows; the places of the rows are overwritten. Each worker has a thread."""
        workers = workers[: max(1, min(len(workers), len(self.ends) - 1))]
        for worker in workers:
            worker.begin(request)

        def block(side: int, begin: int, end: int, codes: NDArray[np.uint8]) -> None:
            workers[side].block(codes, rows.part(begin, end))

        self.on_blocks(block, len(workers))
        first, *others = [worker.result() for worker in workers]
        for other in others:
            first.add(other)
        return first

    def finish(self, rows: TreeRows, leaf_of: NDArray[np.int32]) -> None:
        """A tree has grown: overwrite the places of its rows by their leaves; leaf_of int32[places]."""
        places_to_leaves(rows.places, leaf_of, 0, len(rows.places))

    def walk(self, tree: ValuedTree, out: NDArray[np.int32], threads: int) -> None:
        """Write the node of the tree where each row ends to `out`."""
        layout = self.layout

        def part(_side: int, begin: int, end: int, codes: NDArray[np.uint8]) -> None:
            block = Codes(codes, layout.n_bins, layout.width, layout.is_category, layout.places)
            walk_codes(tree, block, out[begin:end], 1)

        self.on_blocks(part, threads)


class TakenShards(Shards):
    """Some rows of other shards, ascending, each as often as it is named: rows of weight zero are absent, whole weights repetitions."""

    def __init__(self, of: Shards, rows: NDArray[np.int64]) -> None:
        if len(rows) == 0 or bool((rows[1:] < rows[:-1]).any()) or rows[0] < 0 or rows[-1] >= of.n_rows:
            raise IndexError(f"there are {of.n_rows} rows, and some were asked for that are not there, or not in order")
        self._of, self._rows = of, rows
        self.layout, self.has_unseen = of.layout, of.has_unseen
        self.ends = np.searchsorted(rows, of.ends).tolist()

    def blocks(self, ahead: int) -> Iterator[tuple[int, Callable[[], NDArray[np.uint8]]]]:
        """Those that have rows."""
        for number, load in self._of.blocks(ahead):
            if self.ends[number] < self.ends[number + 1]:
                yield number, partial(self._taken, number, load)

    def _taken(self, number: int, load: Callable[[], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        some = self._rows[self.ends[number] : self.ends[number + 1]] - self._of.ends[number]
        codes = load()
        taken = np.take(codes, some, axis=0)
        self._of.release(codes)
        return taken


def walk_rows(tree: ValuedTree, codes: Codes | SparseCodes | Shards, out: NDArray[np.int32], threads: int) -> None:
    """Write the node of the tree where each row ends to `out`, wherever the rows are."""
    if isinstance(codes, Shards):
        codes.walk(tree, out, threads)
    else:
        walk_codes(tree, codes, out, threads)
