"""The weighted quantile sketch of XGBoost (Chen & Guestrin 2016, appendix A): bounds on the weighted ranks of some values of a column.

Sketches of parts of a column are merged and pruned in any pattern, and their bounds hold throughout: merging adds the errors of both,
pruning to b + 1 values adds a b-th of the weight. For columns whose rows are not in one place, in blocks on disk or on several machines;
where they are, weights of presorted values are summed exactly (`kernels/binning/candidates.py`), which needs no bounds.
Weights are integers, so that merging commutes to the bit.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class QuantileSketch:
    """Some values of a column in order, and what is known of the weight before and up to each."""

    values: Floats  # (k,) ascending
    low: Integers  # (k,) the weight of smaller values is at least this
    high: Integers  # (k,) the weight of values that are not larger is at most this
    own: Integers  # (k,) the weight of the value itself is at least this
    total: int

    @classmethod
    def of(cls, values: NDArray[np.floating], weight: Integers) -> "QuantileSketch":
        """The exact sketch of a part of a column: missing values, and those of weight zero, are absent."""
        present = ~np.isnan(values) & (weight > 0)
        found, inverse = np.unique(values[present].astype(np.float64), return_inverse=True)
        own = np.zeros(len(found), np.int64)
        np.add.at(own, inverse, weight[present])
        high = np.cumsum(own)
        return cls(found, high - own, high, own, int(own.sum()))

    @property
    def error(self) -> int:
        """Largest doubt about a rank: the weight that may lie between two neighbouring values, or at one beyond what is known of it."""
        if len(self.values) == 0:
            return 0
        at = int((self.high - self.low - self.own).max())
        between = (self.high - self.own)[1:] - (self.low + self.own)[:-1]
        return max(at, int(between.max(initial=0)))

    def bounds(self, values: Floats) -> tuple[Integers, Integers, Integers]:
        """Of any values: least weight before each, largest weight up to each, least weight of each itself."""
        if len(self.values) == 0:
            none = np.zeros(len(values), np.int64)
            return none, none, none
        after = np.searchsorted(self.values, values, side="left")
        here = np.minimum(after, len(self.values) - 1)
        is_known = self.values[here] == values
        low = np.where(after > 0, (self.low + self.own)[after - 1], 0)
        high = np.where(after < len(self.values), (self.high - self.own)[here], self.total)
        return np.where(is_known, self.low[here], low), np.where(is_known, self.high[here], high), np.where(is_known, self.own[here], 0)

    def merge(self, other: "QuantileSketch") -> "QuantileSketch":
        """The sketch of both parts together, with the values of both; its error is at most the sum of theirs."""
        values = np.union1d(self.values, other.values)
        low, high, own = (mine + theirs for mine, theirs in zip(self.bounds(values), other.bounds(values), strict=True))
        return QuantileSketch(values, low, high, own, self.total + other.total)

    def prune(self, size: int) -> "QuantileSketch":
        """At most size + 1 of the values, those nearest to equal steps of rank: at most a `size`-th of the weight more of error."""
        if len(self.values) <= size + 1:
            return self
        wanted = np.arange(size + 1) * (self.total / size)
        middle = 0.5 * (self.low + self.high)
        at = np.clip(np.searchsorted(middle, wanted, side="right") - 1, 0, len(middle) - 2)
        # Of the values on both sides of a rank, the one whose edge is nearer.
        edge = 0.5 * ((self.low + self.own)[at] + (self.high - self.own)[at + 1])
        kept = np.unique(np.where((wanted < edge) | (wanted < middle[0]), at, at + 1)[1:-1])
        kept = np.union1d(kept, [0, len(middle) - 1])
        return QuantileSketch(self.values[kept], self.low[kept], self.high[kept], self.own[kept], self.total)

    def candidates(self, eps: float) -> Floats:
        """Thresholds, each a value that goes left, by the middles of ranks: those of values in one bin differ by less than eps.

        With the exact sketch the bins are those of `bins_of_values` in `kernels/binning/candidates.py`.
        """
        n_bins = math.ceil(1.0 / eps - 1e-9)
        if len(self.values) <= n_bins:
            return self.values[:-1]
        before = 0.5 * (self.low + (self.high - self.own)).astype(np.float64)
        bins = np.minimum(((before + 0.5 * self.own) * n_bins / self.total).astype(np.int64), n_bins - 1)
        return self.values[:-1][bins[1:] > bins[:-1]]


def merged_sketches(parts: Iterable[QuantileSketch], eps: float) -> QuantileSketch:
    """One sketch of all parts, with an error of at most eps of the whole weight beyond those of the parts.

    Parts are put in an order of their own and merged in pairs, level by level: the result does not depend on the order in which they come.
    """
    level = sorted(parts, key=lambda part: (part.total, part.values.tobytes(), part.low.tobytes(), part.own.tobytes()))
    if not level:
        return QuantileSketch.of(np.empty(0), np.empty(0, np.int64))
    size = math.ceil(max((len(level) - 1).bit_length(), 1) / eps)
    while len(level) > 1:
        pairs = [level[k].merge(level[k + 1]) for k in range(0, len(level) - 1, 2)]
        level = [pair.prune(size) for pair in pairs] + level[len(level) - len(level) % 2 :]
    return level[0]
