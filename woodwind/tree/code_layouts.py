"""The rows of a coded table as lists of their uncommon cells, where that is less to add than whole rows."""

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.binning.codes import Codes
from woodwind.kernels.binning.encode import columns_from_rows
from woodwind.kernels.histogram.sparse_rows import LENGTH_BITS, SHORT_CELLS, count_codes, count_fours, reorder, sort_rows, write_entries

# Adding a listed cell costs half as much again as adding one of a whole row.
MOST_LISTED = 0.4
LEAST_LISTED = 20_000
# Rows, from all over the table, that tell how long lists might be and which codes are the commonest.
SAMPLE = 50_000
# Rows among which those with equally long lists stand together; among all of them, their statistics would be fetched from far away.
STRETCH = 16384


class RowLists(NamedTuple):
    """Rows as lists of their uncommon cells, in an order of their own."""

    at: NDArray[np.int64]  # (n,) where the list of each row begins, and how many fours of cells it has: see `sparse_rows`
    cells: NDArray[Any]  # uint16, or int32 where there are many; lists are filled up to fours with the cell behind all others
    order: NDArray[np.int32]  # (n,) rows of the table in the order in which they stand here
    by_column: NDArray[np.uint8]  # (F, n) codes in that order
    commonest: NDArray[np.int64]  # (F,) cell of the commonest code of each column
    starts: NDArray[np.int64]  # (F + 1,) where the cells of each feature begin: one for each bin, one for missing values

    def places(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """Where rows of the table stand here, ascending."""
        out = np.empty(len(rows) + 1, np.int32)
        sort_rows(rows, self.order, np.zeros(len(self.order), np.int32), out)
        return out[:-1]


def by_length(fours: NDArray[np.uint16]) -> NDArray[np.int32]:
    """Rows by the length of their lists, within stretches of STRETCH rows.

    Where neighbours have lists of the same length, the processor foresees where they end: 0.55 ns per entry against 0.84.
    """
    order = np.empty(len(fours), np.int32)
    for first in range(0, len(fours), STRETCH):
        order[first : first + STRETCH] = first + np.argsort(fours[first : first + STRETCH], kind="stable")
    return order


# Growers of all folds ask about the same table.
_made: "WeakKeyDictionary[Codes, RowLists | None]" = WeakKeyDictionary()


def row_lists(codes: Codes) -> RowLists | None:
    """The lists, if they are so short that adding them is less work than adding whole rows; the same ones for whoever asks again."""
    if codes not in _made:
        _made[codes] = _row_lists(codes)
    return _made[codes]


def _row_lists(codes: Codes) -> RowLists | None:
    n, n_features = codes.n_rows, codes.n_features
    if n * n_features < LEAST_LISTED or n_features >= 4 << LENGTH_BITS:
        return None
    counts = np.zeros((n_features, 256), np.int64)
    count_codes(codes.by_row, max(n // SAMPLE, 1), counts)
    if 1.0 - counts.max(axis=1).sum() / counts.sum() > MOST_LISTED:
        return None
    usual, places = counts.argmax(axis=1), codes.places
    commonest = usual[places]
    # A few kilobytes that stay in the first-level cache, in place of `width` cells for every feature: 1.0 ns per entry against 1.6.
    starts = np.zeros(n_features + 1, np.int64)
    np.cumsum(codes.n_bins + 1, out=starts[1:])
    fours = np.empty(n, np.uint16)
    if count_fours(codes.by_row, usual.astype(np.uint8), fours) > MOST_LISTED * n * n_features:
        return None  # the sample was of rows unlike the others
    order = by_length(fours)
    at, by_column = np.empty(n, np.int64), np.empty((n_features, n), np.uint8)
    cells = np.empty(4 * int(fours.sum(dtype=np.int64)) + 4, np.uint16 if starts[-1] < SHORT_CELLS else np.int32)
    write_entries(codes.by_row, places, order, fours, commonest, starts, at, cells)
    reorder(codes.by_row, places, order, by_column)
    return RowLists(at, cells, order, by_column, np.minimum(starts[:-1] + commonest, starts[1:] - 1), starts)


# ----------------------------------------------------------------------------------------------------
# The columns of a coded table that are kept in one piece: those by which rows are split most.
#
# Splitting a node reads one code of each of its rows. In rows of codes, each of these is on a line of the cache of its own; in a column, 64
# of them share one. But all columns would be the table once more. Few columns do most of the work: of a large table, half of them are kept,
# and whenever another has become worth reading the table for, it takes the place of the one that is used least. Which columns are kept
# changes no tree, only the time that it takes.


WHOLE_BYTES = 1 << 23  # of a table of no more codes all columns are kept
SHARE = 0.5  # of the columns of a larger one
MEMORY = 0.9  # how much the use of columns by earlier trees counts at the next one


class ColumnCache:
    """Columns of a table in one piece, `by_column` uint8[k, n], and where each stands there, `at` int64[F]: -1 for nowhere.

    `whole` keeps all columns of a table of any size.
    """

    def __init__(self, codes: Codes, lists: RowLists | None, threads: int, whole: bool = False) -> None:
        n, n_features = codes.n_rows, codes.n_features
        self._codes, self._use = codes, np.zeros(n_features)
        self.all = whole or lists is not None or n * n_features <= WHOLE_BYTES
        self.at: NDArray[np.int64] = np.arange(n_features)
        if lists is not None:
            self.by_column = lists.by_column
            return
        self.by_column = np.empty((n_features if self.all else max(int(SHARE * n_features), 1), n), np.uint8)
        if self.all:
            self.bring_all(threads)
        else:
            self.at[:] = -1

    def bring_all(self, threads: int) -> None:
        """Copy all columns from the rows, where all are kept."""
        self._bring(self.at, self.at, threads)

    def note(self, feature: NDArray[np.int32], count: NDArray[np.int64]) -> None:
        """Take notice of how many rows a finished tree has split by which columns. Threads may do so at once: no tree depends on it."""
        if self.all:
            return
        split = feature >= 0
        self._use *= MEMORY
        self._use += np.bincount(feature[split], count[split], len(self._use))

    def renew(self, threads: int) -> None:
        """Bring columns in, in place of others, that have been used for as many rows more as the table has. Not while trees are grown."""
        if self.all:
            return
        kept = np.flatnonzero(self.at >= 0)
        free = np.setdiff1d(np.arange(len(self.by_column)), self.at[kept])
        wanted = np.flatnonzero((self.at < 0) & (self._use > self._codes.n_rows))
        wanted = wanted[np.argsort(-self._use[wanted], kind="stable")]
        idle = kept[np.argsort(self._use[kept], kind="stable")][: max(len(wanted) - len(free), 0)]
        better = self._use[wanted[len(free) :][: len(idle)]] > self._use[idle] + self._codes.n_rows
        idle = idle[better]
        wanted = wanted[: len(free) + len(idle)]
        places = np.concatenate([free, self.at[idle]])[: len(wanted)]
        if len(wanted):
            self.at[idle] = -1
            self.at[wanted] = places
            self._bring(wanted, places, threads)

    def _bring(self, features: NDArray[np.int64], targets: NDArray[np.int64], threads: int) -> None:
        """Copy columns from the rows to where they are to stand."""
        by_row, places = self._codes.by_row, self._codes.places[features]
        run_ranges(
            lambda begin, end: columns_from_rows(by_row, places, targets, begin, end, self.by_column),
            self._codes.n_rows, threads, len(features),
        )  # fmt: skip
