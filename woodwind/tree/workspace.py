"""The memory that trees are grown in: made once per training, used again for every tree."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.codes import WORD, Codes
from woodwind.data.binning.sparse_codes import CodedCells, SparseCodes
from woodwind.kernels.histogram.build_histograms import BLOCK_ROWS, BLOCK_WORDS
from woodwind.kernels.histogram.layout import ROWS_PACKED2
from woodwind.kernels.histogram.loop import COLLECT_ROWS
from woodwind.kernels.histogram.memory import FINISHED, FINISHED_VALUES, LAYOUT, NODE_INTEGERS, PAIRS, TASKS
from woodwind.kernels.histogram.scan import BIN_ROWS, CURVE_ROWS, QUICK_ROWS
from woodwind.kernels.histogram.schedule import SPLIT_ROWS
from woodwind.kernels.runtime.records import Memory
from woodwind.kernels.tree import constraints
from woodwind.kernels.tree import memory as common
from woodwind.tree.code_layouts import BundledRows, RowLists

MOST_HISTOGRAM_BYTES = 256 << 20  # beyond this, histograms of unpromising nodes are dropped and summed again if needed
LEVEL_BATCH = 64  # nodes of a level that are prepared together, at most


class ListedCodes(NamedTuple):
    """A coded table, and its rows as lists where those are shorter."""

    codes: Codes | SparseCodes
    lists: RowLists | None
    bundles: BundledRows | None = None

    @property
    def by_row(self) -> NDArray[np.uint8]:
        """Rows of codes, (n, stride), or of bundles; one that nobody reads where cells are stored apart."""
        if self.bundles is not None:
            return self.bundles.by_row
        return np.zeros((1, WORD), np.uint8) if isinstance(self.codes, SparseCodes) else self.codes.by_row

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the cells of each feature begin."""
        if self.lists is not None:
            return self.lists.starts
        return np.arange(self.codes.n_features + 1, dtype=np.int64) * self.codes.width

    @property
    def n_cells(self) -> int:
        """Cells of a histogram; where rows are lists, one more than features have."""
        return int(self.starts[-1]) + (self.lists is not None)


def table_memory(table: ListedCodes, n_groups: int) -> dict[str, NDArray[Any]]:
    """The coded table, as rows of words, as rows of bytes and as lists, and what its features may do."""
    codes, by_row = table.codes, table.by_row.reshape(-1)
    n_features = codes.n_features
    none: NDArray[np.int64] = np.zeros(1, np.int64)
    short: NDArray[np.int32] = np.zeros(1, np.int32)
    lists = table.lists or RowLists(none, short, None, None, none, none)
    stored, absent = CodedCells(none, short, np.zeros(1, np.uint8)), np.zeros(1, np.uint8)
    places = none
    if isinstance(codes, SparseCodes):
        stored, absent, places = codes.by_column, codes.absent, np.zeros(n_features, np.int64)
    else:
        places = codes.places
    return {
        "by_row": by_row.view(np.uint64),
        "row_codes": by_row,
        "stored_at": stored.starts,
        "stored_rows": stored.at,
        "stored_codes": stored.codes,
        "absent_codes": absent,
        "bundle_cells": none if table.bundles is None else table.bundles.cells,
        "n_bins": codes.n_bins.astype(np.int64),
        "is_category": codes.is_category.astype(np.int64),
        "allowed": np.ones(n_features, np.int64),
        "monotonic": np.zeros(n_features, np.int64),
        "member": np.zeros((n_features, n_groups), np.uint64),
        "entries_at": lists.at,
        "entry_cells": lists.cells,
        "commonest": lists.commonest,
        "row_numbers": short if lists.order is None else lists.order,
        "starts": table.starts,
        "code_positions": places,
        "leaf_of_row": np.empty(codes.n_rows, np.int32),
    }


def node_memory(nodes: int, n_groups: int, sets: int) -> dict[str, NDArray[Any]]:
    """Nodes while a tree grows, and the finished tree."""
    return {
        "node_i": np.empty((nodes, NODE_INTEGERS), np.int64),
        "node_f": np.empty((nodes, constraints.VALUES.width), np.float64),
        "groups": np.empty((nodes, n_groups), np.uint64),
        "sets": np.empty((sets, 8), np.uint64),
        "heap": np.empty(nodes, np.int64),
        "opened": np.empty(nodes, np.int64),
        "sums": np.empty((nodes, 3), np.int64),
        "finished_i": np.empty((nodes, FINISHED.width), np.int64),
        "finished_f": np.empty((nodes, FINISHED_VALUES.width), np.float64),
    }


def work_memory(n_tasks: int, blocks: int, batch: int, most: int = LEVEL_BATCH) -> dict[str, NDArray[Any]]:
    """What the threads tell one another; `most` nodes are prepared together at most."""
    return {
        "control": np.zeros(64, np.int64),
        "tasks": np.empty((n_tasks, TASKS.width), np.int64),
        "pairs": np.empty((2 * most + 2, PAIRS.width), np.int64),
        "split_f": np.empty((2 * n_tasks, common.SPLIT_VALUES.width), np.float64),
        "split_i": np.empty((2 * n_tasks, common.SPLITS.width), np.int64),
        "split_sets": np.empty((2 * n_tasks, 4), np.uint64),
        "batch": np.empty(batch, np.int64),
        "rows_left": np.empty(most, np.int64),
        "goes": np.empty((most, 256), np.uint8),
        "codes_met": np.empty((most, 256), np.uint8),
        "seen": np.empty((blocks, 256), np.uint8),
    }


def thread_memory(threads: int, n_words: int, n_features: int, lanes: int, column: int) -> dict[str, NDArray[Any]]:
    """Scratch of each thread; `column` is how many codes of one column it has room for."""
    curves = np.empty((threads * CURVE_ROWS, 260), np.float64)
    quick = np.zeros((threads * QUICK_ROWS, 320), np.int32)
    return {
        "words": np.empty((threads, max(BLOCK_WORDS, 64 * n_words)), np.uint64),
        "values": np.empty((threads, BLOCK_ROWS), np.int64),
        "lane_values": np.empty((threads, BLOCK_ROWS * max(lanes, 1)), np.int32),
        "bins": np.zeros((threads * BIN_ROWS, 296), np.int64),
        "curves": curves,
        "curve_bits": curves.view(np.int64),
        "quick_i": quick,
        "quick_f": quick.view(np.float32),
        "drawn": np.empty((threads, 2 * n_features), np.int64),
        "column_room": np.empty((threads, column), np.uint8),
    }


def histogram_memory(slots: int, cells: int, n: int, threads: int, lanes: int, unrounded: bool) -> dict[str, NDArray[Any]]:
    """Histograms of nodes and of parts of nodes; all are wide where rows are not rounded."""
    cell = np.int32 if lanes else np.int64
    large = (n > ROWS_PACKED2 or unrounded) and not lanes
    plane = 2 * cells if large else cells
    wide = slots if unrounded else n // ROWS_PACKED2 + 2 if large else 1
    slots = 1 if unrounded else slots
    return {
        "tables": np.empty((slots, cells), cell),
        "wide": np.empty((wide, plane), np.int64),
        "parts": np.empty((8 * threads, plane), cell),
        "free": np.empty(slots + wide, np.int64),
        "spare": np.empty((threads, 1 if lanes else cells), np.int64),
    }


def histograms_cached(growth: str, max_leaves: int, threads: int, bytes_each: int) -> tuple[int, int]:
    """How many histograms of nodes are kept at the same time, and how many nodes are split together at most.

    When there are more histograms, the least promising node loses its own. Best first, a node with as many better ones beside it as leaves
    are still to be had will never be split. So of n leaves, no more than n or max_leaves - n need their histograms: half of max_leaves, and
    those that are prepared at a time. Of a very wide table even those are too many: 102 MB each for 50,000 columns. There have to be as
    many as the nodes that are split together have children, so that fewer are.
    """
    affordable = MOST_HISTOGRAM_BYTES // bytes_each
    if growth == "best_first":  # kernels/histogram/loop.py: one node at a time, or two for each thread
        return min(max_leaves // 2 + 4 * threads + 8, max(4 * threads + 4, affordable)), LEVEL_BATCH
    level = max_leaves if growth == "symmetric" else 0  # which needs those of a whole level at once
    batch = max(1, min(LEVEL_BATCH, affordable // 4))
    return min(max_leaves + 2 * batch + 2, max(level + 2 * batch + 8, affordable)), batch


def workspace(
    table: ListedCodes, max_leaves: int, threads: int, n_groups: int, capacity: int, lanes: int, growth: str, unrounded: bool = False
) -> Memory:
    """Room for trees of at most `max_leaves` leaves on `capacity` rows of these codes; lanes > 0: of several outputs.

    Statistics and columns are put in by the grower; `unrounded` as there.
    """
    n, codes, stored = capacity, table.codes, isinstance(table.codes, SparseCodes)
    cells = table.n_cells * max(lanes, 1)
    nodes = 4 * max_leaves + 2 * LEVEL_BATCH + 16
    slots, batch = histograms_cached(growth, max_leaves, threads, (4 if lanes else 16 if unrounded else 8) * cells)
    blocks = 2 * (n // min(SPLIT_ROWS, COLLECT_ROWS)) + LEVEL_BATCH + 2
    lane_stats = np.empty((codes.n_rows if lanes else 1, max(lanes, 1)), np.int32)
    return Memory(
        LAYOUT,
        rows=np.empty(2 * n, np.int64),
        rows_going_left=np.empty(n, np.uint8),
        lanes=lane_stats,
        lane_list=lane_stats.reshape(-1),
        **table_memory(table, n_groups),
        **node_memory(nodes, n_groups, 2 * nodes if codes.is_category.any() else 1),
        **work_memory(blocks + nodes + 8 * LEVEL_BATCH * threads, blocks, batch),
        **thread_memory(threads, table.by_row.shape[1] // 8, codes.n_features, lanes, codes.n_rows if stored else 1),
        **histogram_memory(slots, cells, n, threads, lanes, unrounded),
    )
