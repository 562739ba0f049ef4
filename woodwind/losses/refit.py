"""Leaf values from the residuals of the rows, for losses without a useful second derivative: Friedman 2001, section 4."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import FIRST_BITS, largest_of, scale_for, sum_scale
from woodwind.base.pool import run_ranges
from woodwind.kernels.losses.quantiles import leaf_hubers, leaf_quantiles, quantile_of
from woodwind.losses.base import Positions, Rows, plain_weight
from woodwind.losses.links import Floats

# Selecting a quantile costs about 15 ns per row, as much as this many histogram updates, by which `run_ranges` counts.
WORK = 30


@dataclass(frozen=True)
class QuantileRefit:
    """A leaf is the quantile of its residuals."""

    level: float

    def values(self, rows: Rows, begins: Positions, ends: Positions, residual: Floats, weight: Floats | None, threads: int = 1) -> Floats:
        """Quantile of each leaf by weight."""
        unit = count_unit(weight)
        out = np.empty(begins.shape[0])

        def part(first: int, last: int) -> None:
            leaf_quantiles(rows, begins[first:last], ends[first:last], residual, weight, self.level, unit, out[first:last])

        over_leaves(part, begins, ends, threads)
        return out


@dataclass(frozen=True)
class HuberRefit:
    """A leaf is the median of its residuals plus the mean of the distances to it, clipped at delta."""

    delta: float

    def values(self, rows: Rows, begins: Positions, ends: Positions, residual: Floats, weight: Floats | None, threads: int = 1) -> Floats:
        """Huber step of each leaf by weight."""
        largest = 1.0 if weight is None else largest_of(weight)
        units = np.array([count_unit(weight), scale_for(largest * self.delta, FIRST_BITS)])
        out = np.empty(begins.shape[0])

        def part(first: int, last: int) -> None:
            leaf_hubers(rows, begins[first:last], ends[first:last], residual, weight, self.delta, units, out[first:last])

        over_leaves(part, begins, ends, threads)
        return out


def weighted_quantile(values: Floats, weight: Floats | None, level: float) -> float:
    """The smallest value at which the weight so far reaches level * total weight; the same for rows in any order."""
    rows: NDArray[np.int32] = np.arange(values.shape[0], dtype=np.int32)
    weight = plain_weight(weight)
    return float(quantile_of(rows, values, weight, level, count_unit(weight)))


def middle_quantile(values: Floats, weight: Floats | None, level: float) -> float:
    """The quantile as `weighted_quantile` has it; where the weight so far is level * total weight exactly, the mean of it and the next.

    So the median of an even number of rows is the mean of the two in the middle, and a weight of two is a row given twice.
    """
    low, weight = weighted_quantile(values, weight, level), plain_weight(weight)
    counts = np.ones(values.shape[0], np.int64) if weight is None else np.rint(weight * count_unit(weight)).astype(np.int64)
    above = (values > low) & (counts > 0)
    total = int(counts.sum())
    if not above.any() or total - int(counts[above].sum()) > level * total:
        return low
    return 0.5 * low + 0.5 * float(values[above].min())


def count_unit(weight: Floats | None) -> float:
    """Power of two that turns weights into whole counts whose sum fits into 62 bits; 1 where there are no weights."""
    return 1.0 if weight is None else sum_scale(largest_of(weight), weight.shape[0])


def over_leaves(part: Callable[[int, int], None], begins: Positions, ends: Positions, threads: int) -> None:
    """Call `part` over ranges of leaves, on as many threads as their rows are worth."""
    n_rows = int((ends - begins).sum())
    run_ranges(part, begins.shape[0], threads, WORK * n_rows // max(begins.shape[0], 1))
