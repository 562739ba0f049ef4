"""A summary of one column from which its cuts are taken: it adds, and it does not depend on how the rows were split.

Every number becomes an unsigned integer key that keeps the order of the numbers. The summary counts the weight of each
distinct `key >> shift`, where the shift is the smallest that leaves at most `MOST_CELLS` of them. That shift is a
property of the whole set of values: more values never lower it, so that a part may be shrunk early without harm.
Up to `MOST_CELLS` distinct values the shift is zero and the summary is exact; beyond that a cell holds the numbers
that agree in sign, exponent and first bits.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.data.tables.table import for_kernel
from woodwind.kernels.binning.encode import SIGN, count_distinct, merge_counts, place_cuts, shrink, sort_pairs, summarise, weigh

# 65,536 cells are 1 MB per column while it is summarised, and more than 200 for each bin of 255.
MOST_CELLS = 2**16


_LARGEST = np.finfo(np.float64).max


def values_of(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers of the keys that `summarise` gives them."""
    bits = keys.view(np.int64)
    return (bits ^ (~(bits >> 63) | SIGN)).view(np.float64)


def keys_of(values: NDArray[np.floating]) -> NDArray[np.uint64]:
    """The keys of numbers."""
    bits = (values.astype(np.float64) + 0.0).view(np.int64)
    return (bits ^ ((bits >> 63) | SIGN)).view(np.uint64)


@dataclass(frozen=True, eq=False)
class Sketch:
    """Sorted distinct cells of a column and the weight in each."""

    keys: NDArray[np.uint64]  # sorted, distinct, at most MOST_CELLS
    counts: NDArray[np.int64]  # positive
    shift: int

    @classmethod
    def of(cls, values: NDArray[np.floating], weight: NDArray[np.int64] | None = None, shift: int = 0) -> "Sketch":
        """Summarise a block of numbers at `shift` or above; missing ones and those of weight zero are absent.

        Blocks of some 65,536 values sort inside the second cache: larger ones take longer for each value.
        """
        keys, counts = np.empty(values.size, np.uint64), np.empty(values.size, np.int64)
        if weight is None:
            ordered = np.sort(values)
            n = int(np.searchsorted(ordered, np.nan))  # NaN is last
            n = summarise(ordered[:n], np.uint64(shift), keys, counts)
        else:
            n = weigh(for_kernel(values), for_kernel(weight), np.uint64(shift), keys, counts)
            spare_keys, spare_counts = np.empty(n, np.uint64), np.empty(n, np.int64)
            if sort_pairs(keys[:n], counts[:n], spare_keys, spare_counts):
                keys, counts = spare_keys, spare_counts
            n = shrink(keys[:n], counts[:n], np.uint64(0), keys, counts)
        return cls(keys[:n], counts[:n], shift).shrunk()

    @classmethod
    def empty(cls) -> "Sketch":
        """The summary of no values at all."""
        return cls(np.empty(0, np.uint64), np.empty(0, np.int64), 0)

    def shrunk(self, shift: int = 0) -> "Sketch":
        """The same values at the smallest shift, at least `shift`, that leaves at most `MOST_CELLS` cells."""
        drop = max(shift - self.shift, 0)
        if drop or self.keys.size > MOST_CELLS:
            drop = self._smallest_drop(drop)
        if drop == 0:
            return self
        keys, counts = np.empty_like(self.keys), np.empty_like(self.counts)
        n = shrink(self.keys, self.counts, np.uint64(drop), keys, counts)
        return Sketch(keys[:n], counts[:n], self.shift + drop)

    def _smallest_drop(self, low: int) -> int:
        """Bisect: the number of cells falls as more bits are dropped. At most 63 - shift leave two cells."""
        high = max(63 - self.shift, low)
        while low < high:
            middle = (low + high) // 2
            if count_distinct(self.keys, np.uint64(middle)) <= MOST_CELLS:
                high = middle
            else:
                low = middle + 1
        return low

    def merge(self, other: "Sketch") -> "Sketch":
        """The summary of both sets of values together."""
        shift = max(self.shift, other.shift)
        a, b = self.shrunk(shift), other.shrunk(shift)
        if a.keys.size == 0 or b.keys.size == 0:
            return b if a.keys.size == 0 else a
        size = a.keys.size + b.keys.size
        keys, counts = np.empty(size, np.uint64), np.empty(size, np.int64)
        n = merge_counts(a.keys, a.counts, b.keys, b.counts, keys, counts)
        return Sketch(keys[:n], counts[:n], shift).shrunk()

    def edges(self, max_bins: int) -> NDArray[np.float64]:
        """Sorted borders of at most `max_bins` bins; a value belongs left of a border when it is not above it."""
        n = self.keys.size
        if n <= max_bins:
            cuts = np.arange(max(n - 1, 0))
        else:
            cuts = np.empty(max_bins, np.int64)
            cuts = cuts[: place_cuts(self.counts, max_bins, cuts)]
        shift = np.uint64(self.shift)
        tail = (np.uint64(1) << shift) - np.uint64(1)
        lower = values_of(((self.keys[cuts]) << shift) | tail)
        upper = values_of(self.keys[cuts + 1] << shift)
        return midpoints(lower, upper)


def midpoints(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Thresholds t with lower <= t < upper, half-way where a double lies there, finite wherever one fits."""
    a, b = np.clip(lower, -_LARGEST, _LARGEST), np.clip(upper, -_LARGEST, _LARGEST)
    with np.errstate(over="ignore"):
        middle = 0.5 * (a + b)
    middle = np.where(np.isfinite(middle), middle, 0.5 * a + 0.5 * b)
    # A midpoint of neighbouring doubles rounds to one of them, and from an infinite lower end it may fall on the upper.
    return np.where((middle >= lower) & (middle < upper), middle, lower)
