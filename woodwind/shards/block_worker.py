"""What one thread does with the blocks of a pass: apply splits, then sum statistics."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.codes import Codes
from woodwind.kernels.histogram.build_histograms import BLOCK_ROWS, BLOCK_WORDS
from woodwind.kernels.histogram.memory import LAYOUT
from woodwind.kernels.histogram.multi_output import fill_lanes
from woodwind.kernels.histogram.shards import COARSE, add_sorted, add_sorted_lanes, apply_splits, finish_sums, sort_rows
from woodwind.kernels.runtime.records import Memory
from woodwind.shards.requests import ShardRequest, ShardResult, TreeRows
from woodwind.tree.code_layouts import SharedBytes


class BlockWorker:
    """Memory of one thread, used again for every block."""

    def __init__(self, layout: Codes, starts: NDArray[np.int64], lanes: int) -> None:
        """`layout` has the columns of the codes and no rows; `starts` is where the cells of each begin in a histogram."""
        n_words = layout.by_row.shape[1] // 8
        steps = SharedBytes(layout, starts, [], 1)
        none: NDArray[np.int64] = np.zeros(1, np.int64)
        self._lanes, self._cells = lanes, int(starts[-1])
        self._rows: NDArray[np.int64] = np.empty(0, np.int64)
        self._lane_rows: NDArray[np.int32] = np.empty((0, max(lanes, 1)), np.int32)
        self._space = Memory(
            LAYOUT,
            rows=self._rows,
            code_positions=layout.places,
            starts=starts,
            steps=steps.steps,
            steps_at=steps.steps_at,
            sharers=steps.sharers,
            sharer_codes=steps.sharer_codes,
            shared=np.empty((1, 256), np.int64),
            words=np.empty((1, max(BLOCK_WORDS, 64 * n_words)), np.uint64),
            values=np.empty((1, BLOCK_ROWS), np.int64),
            lane_values=np.empty((1, BLOCK_ROWS * max(lanes, 1)), np.int32),
            unrounded=np.zeros((2, 1), np.int64),
            bundle_cells=none,
        )
        self._packed: NDArray[Any] = np.empty((0, 0), np.int64)
        self._wide: NDArray[np.int64] = np.empty((0, 0), np.int64)

    def begin(self, request: ShardRequest) -> None:
        """Begin a pass: all sums are zero."""
        self._request = request
        size = request.n_sums
        coarse = request.sums is not None and bool((request.sums.forms == COARSE).any())
        self._left = np.zeros(request.n_splits, np.int64)
        self._met = np.zeros((request.n_splits, 256), np.uint8)
        self._packed = np.zeros((size, self._cells * max(self._lanes, 1)), np.int32 if self._lanes else np.int64)
        self._wide = np.zeros((size if coarse else 0, 2 * self._cells), np.int64)
        self._waiting = np.zeros(size, np.int64)
        self._ends = np.zeros(size + 2, np.int64)  # rows that are not summed have the last slot
        if request.sums is not None:
            slots = np.where(request.sums.slot_of < 0, np.int32(size), request.sums.slot_of)
            self._slot_of = np.concatenate([np.array([size], np.int32), slots])

    def block(self, codes: NDArray[np.uint8], rows: TreeRows) -> None:
        """One block: its codes (n, stride), and what belongs to its rows."""
        request = self._request
        if request.splits is not None:
            apply_splits(codes, rows.places, rows.times, request.splits, self._left, self._met)
        if request.sums is None:
            return
        size = len(codes) if rows.times is None else int(rows.times.sum())
        if len(self._rows) < size:
            self._rows = np.empty(size, np.int64)
            self._space.put("rows", self._rows)
        carried = None if self._lanes or rows.rule.unrounded else rows.statistics
        sort_rows(rows.places, rows.times, carried, self._slot_of, self._ends, self._rows)
        if self._ends[-2] == 0:
            return
        flat = codes.reshape(-1)
        self._space.put("row_codes", flat)
        self._space.put("by_row", flat.view(np.uint64))
        if self._lanes:
            self._put_lanes(rows)
            add_sorted_lanes(self._space.directory, rows.rule, self._ends, self._packed)
            return
        if rows.rule.unrounded:
            self._space.put("unrounded", rows.statistics)
        add_sorted(self._space.directory, rows.rule, self._ends, request.sums.forms, self._packed, self._wide, self._waiting)

    def _put_lanes(self, rows: TreeRows) -> None:
        """The statistics of several outputs where kernels find them."""
        lanes: NDArray[np.int32] = rows.statistics
        if not rows.lanes_ready:
            if len(self._lane_rows) < len(rows.places):
                self._lane_rows = np.empty((len(rows.places), self._lanes), np.int32)
            lanes = self._lane_rows
            fill_lanes(rows.statistics, None, rows.lane_shift, 0, len(rows.places), lanes)
        self._space.put("lanes", lanes)
        self._space.put("lane_list", lanes.reshape(-1))

    def result(self) -> ShardResult:
        """What the blocks of this pass have given."""
        if len(self._wide) and self._request.sums is not None:
            finish_sums(self._request.sums.forms, self._packed, self._wide, self._waiting)
        found = ShardResult(self._left, self._met, self._packed, self._wide)
        self._packed, self._wide = self._packed[:0].copy(), self._wide[:0].copy()  # so that they are gone before the next pass begins
        return found
