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

from woodwind.kernels.encode import count_distinct, distinct_keys, merge_counts, place_cuts, shrink

# 65,536 cells are 1 MB per column while it is summarised, and more than 200 for each bin of 255.
MOST_CELLS = 2**16

# Integer weights of one column sum to less than this: see `place_cuts`.
MOST_WEIGHT = 2**52

_SIGN = np.int64(-(2**63))
_LARGEST = np.finfo(np.float64).max


def keys_of(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Keys in the order of the numbers: negative numbers have all their bits turned, others only the sign."""
    bits = (values + 0.0).view(np.int64)  # adding zero turns -0.0 into 0.0: they are equal and must share a key
    return (bits ^ ((bits >> 63) | _SIGN)).view(np.uint64)


def values_of(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers of the keys: the inverse of `keys_of`."""
    bits = keys.view(np.int64)
    return (bits ^ (~(bits >> 63) | _SIGN)).view(np.float64)


def integer_weights(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights as integers, by one power-of-two scale from the largest and the number of rows.

    Whole weights stay exact multiples of each other, so that a weight of two counts as two rows.
    A positive weight never becomes zero: such a row is light, but it is there.
    """
    largest = float(weight.max(initial=0.0))
    if largest == 0.0:
        return np.zeros(weight.shape[0], np.int64)
    room = np.floor(np.log2(MOST_WEIGHT / max(weight.shape[0], 1)))
    scale = int(room) - int(np.frexp(largest)[1])
    scaled = np.rint(np.ldexp(weight, scale)).astype(np.int64)
    return np.maximum(scaled, weight > 0)


@dataclass(frozen=True, eq=False)
class Sketch:
    """Sorted distinct cells of a column and the weight in each."""

    keys: NDArray[np.uint64]  # sorted, distinct, at most MOST_CELLS
    counts: NDArray[np.int64]  # positive
    shift: int

    @classmethod
    def of(cls, values: NDArray[np.floating], weight: NDArray[np.int64] | None = None) -> "Sketch":
        """Summarise a block of numbers; missing ones and those of weight zero are absent.

        Blocks of some 65,536 values sort inside the second cache: larger ones take longer for each value.
        """
        if weight is None:
            ordered = np.sort(values)  # NaN last
            ordered = ordered[: ordered.size - np.count_nonzero(np.isnan(ordered))]
            cumulated = None
        else:
            present = np.flatnonzero((weight > 0) & ~np.isnan(values))
            order = present[np.argsort(values[present])]
            ordered = values[order]
            cumulated = np.concatenate((np.zeros(1, np.int64), np.cumsum(weight[order])))
        keys, starts = np.empty(ordered.size + 1, np.uint64), np.empty(ordered.size + 1, np.int64)
        n = distinct_keys(keys_of(ordered.astype(np.float64)), keys, starts)
        ends = starts[: n + 1] if cumulated is None else cumulated[starts[: n + 1]]
        return cls(keys[:n], np.diff(ends), 0).shrunk()

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
