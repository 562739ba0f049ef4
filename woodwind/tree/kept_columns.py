"""The columns of a coded table that are kept in one piece: those by which rows are split most.

Splitting a node reads one code of each of its rows. In rows of codes, each of these is on a line of the cache of its own; in a column,
64 of them share one. But all columns would be the table once more. Few columns do most of the work: of a large table, half of them are
kept, and whenever another has become worth reading the table for, it takes the place of the one that is used least.
Which columns are kept changes no tree, only the time that it takes.
"""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.codes import Codes
from woodwind.kernels.binning.encode import columns_from_rows
from woodwind.tree.row_lists import RowLists

WHOLE_BYTES = 1 << 23  # of a table of no more codes all columns are kept
SHARE = 0.5  # of the columns of a larger one
MEMORY = 0.9  # how much the use of columns by earlier trees counts at the next one


class KeptColumns:
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
