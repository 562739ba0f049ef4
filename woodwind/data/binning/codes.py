"""Codes: a table as small integers, one byte each, row after row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

# Rows are padded to whole 64-bit words: a histogram reads eight codes at a time.
WORD = 8
CACHE_LINE = 64  # bytes
FEW_BINS = 16  # a feature of no more may share a byte with others: see tree/code_layouts.py


@dataclass(frozen=True, eq=False)
class Codes:
    """The codes of a table.

    Ordinary codes of feature f are 0 to n_bins[f] - 1. Whatever its number of bins, every feature has the same code
    for a missing value, and category features the same one for a category that training never saw, so that a kernel
    needs no table of them.
    What stands in a row behind its codes is no part of the table: growing trees writes there.
    """

    by_row: NDArray[np.uint8]  # (n, stride), C order
    n_bins: NDArray[np.int32]  # (F,)
    width: int  # codes are below it; a power of two from 4 to 256
    is_category: NDArray[np.bool_]  # (F,)
    places: NDArray[np.int64]  # (F,) where in a row the code of each feature stands

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.by_row.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_bins)

    @property
    def by_column(self) -> NDArray[np.uint8]:
        """(F, n) the codes of every feature: a copy of the table."""
        return np.ascontiguousarray(self.by_row.T[self.places])

    def column(self, feature: int) -> NDArray[np.uint8]:
        """(n,) the codes of one feature, a view: they are as far apart as rows are."""
        return self.by_row[:, self.places[feature]]

    @property
    def missing(self) -> int:
        """The code of a missing value, in every feature."""
        return self.width - 1

    @property
    def unseen(self) -> int:
        """The code of a category that training never saw, in category features."""
        return self.width - 2

    @property
    def has_unseen(self) -> bool:
        """Whether some row has a category that training never saw."""
        return any(bool((self.column(feature) == self.unseen).any()) for feature in np.flatnonzero(self.is_category).tolist())

    def take(self, rows: NDArray[np.int64]) -> "Codes":
        """Some of the rows, each as often as it is named."""
        if len(rows) and not (-self.n_rows <= rows.min() and rows.max() < self.n_rows):
            raise IndexError(f"there are {self.n_rows} rows, and of these some were asked for that are not there")
        by_row = aligned_rows(len(rows), self.by_row.shape[1])
        np.take(self.by_row, rows, axis=0, out=by_row, mode="wrap")  # without the copy that mode="raise" makes
        return replace(self, by_row=by_row)

    def with_columns(self, columns: Iterable[tuple[int, NDArray[np.int64]]]) -> "Codes":
        """A copy in which some features have other codes (n,)."""
        own = self.take(np.arange(self.n_rows))
        for feature, codes in columns:
            own.column(feature)[:] = codes
        return own


def row_stride(n_features: int) -> int:
    """Bytes of one row of codes: the number of features, rounded up to whole words."""
    return -(-n_features // WORD) * WORD


def byte_groups(sizes: Sequence[int]) -> list[list[int]]:
    """Columns of so many values each, by number, put together while a byte can tell all their combinations apart: fewest values first.

    None is alone.
    """
    groups: list[list[int]] = [[]]
    combinations = 1
    for number in sorted(range(len(sizes)), key=lambda number: sizes[number]):
        if combinations * sizes[number] > 1 << 8:
            groups.append([])
            combinations = 1
        groups[-1].append(number)
        combinations *= sizes[number]
    return [group for group in groups if len(group) > 1]


def shared_stride(n_bins: NDArray[np.int32]) -> int:
    """Bytes of one row of codes with room for the bytes that features of few bins share.

    Padding mostly is room enough. Otherwise words are added for them where it is little to the row or does for many features.
    """
    n_features, few = len(n_bins), n_bins[n_bins <= FEW_BINS].tolist()
    stride = row_stride(n_features)
    wanted = row_stride(n_features + len(byte_groups(few))) - stride
    return stride + min(wanted, WORD * max(n_features // WORD**2, len(few) // (2 * WORD)))


def positions_in_row(n_bins: NDArray[np.int32], stride: int) -> NDArray[np.int64]:
    """Where codes stand in a row: those of features of few bins last, where there is room for bytes that they share.

    Eight codes of other features then make a word, which is added as a whole.
    """
    places, few = np.arange(len(n_bins)), n_bins <= FEW_BINS
    if len(n_bins) < stride and few.sum() > 1:
        places[np.argsort(few, kind="stable")] = np.arange(len(n_bins))
    return places


def aligned_rows(n: int, stride: int) -> NDArray[np.uint8]:
    """Room for n rows of codes that begins where a line of the cache does.

    Rows of 8, 16, 32 or 64 bytes then never lie on two lines. Large arrays of NumPy begin 16 bytes behind one, where every second row
    of 32 bytes does: half as many lines again to fetch.
    """
    room = np.empty(n * stride + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    return room[start : start + n * stride].reshape(n, stride)


def width_for(n_bins: NDArray[np.int32], is_category: NDArray[np.bool_]) -> int:
    """The smallest power of two, at least 4, with room for all bins, the missing code and the unseen code."""
    needed = int((n_bins + 1 + is_category).max(initial=4))
    return 1 << (needed - 1).bit_length()
