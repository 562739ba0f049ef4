"""Gradient-based sampling: rows with large derivatives are drawn always or more often, and others count for those that were not drawn.

A row that is drawn with the probability p counts 1 / p times, so that sums of gradients and hessians are right on average.

    goss   Ke et al. 2017 (LightGBM): all of the `top_rate` with the largest gradients, and of the rest as many as make `other_rate` of all
           rows. The first 1 / learning_rate rounds see all rows.
    mvs    Ibragimov & Gusev 2019 (CatBoost): p = min(1, size / level), where size**2 = gradient**2 + ratio * hessian**2 and the level is
           such that a share of the rows is drawn: the smallest variance of the gain of a split that so many rows can have.

The page is docs/algorithms/gradient-sampling.md.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.kernels.runtime.gradient_sampling import LOWER, UPPER, count_lower, count_upper, draw_by_size, gradient_sizes

Floats = NDArray[np.float64]
Sizes = NDArray[np.float32]
Rows = NDArray[np.int32]

# Additions that a row is worth, for the threads.
WORK = 4
# No row is drawn less often than this: it would count so much that the others lose their bits to it.
LEAST_PROBABILITY = 1.0 / 16.0


class SamplingProbabilities(NamedTuple):
    """How likely a row is drawn: always if it is at least as large as `certain`, else max(slope * size, least)."""

    certain: float
    slope: float
    least: float


@dataclass(frozen=True)
class GradientSampling:
    """Which rows of a round are drawn, from their derivatives."""

    method: str  # "goss" or "mvs"
    share: float = 1.0  # of the rows that mvs draws
    top_rate: float = 0.2
    other_rate: float = 0.1

    def begins(self, number: int, learning_rate: float) -> bool:
        """Whether rows are drawn in the round of this number."""
        return self.method != "goss" or number >= int(1.0 / learning_rate)

    def draw(self, key: int, gradient: Floats, hessian: Floats, threads: int) -> tuple[Rows, Floats]:
        """Rows, ascending, and one over the probability of every row, from derivatives (n,) or (n, K) for K outputs."""
        n_rows = len(gradient)
        gradient, hessian = gradient.reshape(n_rows, -1), hessian.reshape(n_rows, -1)
        size = np.empty(n_rows, np.float32)
        ratio = 0.0 if self.method == "goss" else step_ratio(gradient, hessian)
        run_ranges(lambda begin, end: gradient_sizes(gradient, hessian, ratio, begin, end, size), n_rows, threads, WORK)
        probabilities = self.goss(size, threads) if self.method == "goss" else self.mvs(size, threads)
        rows, factor = np.empty(n_rows, np.int32), np.empty(n_rows)
        parts: list[tuple[int, int]] = []

        def part(begin: int, end: int) -> None:
            parts.append((begin, draw_by_size(key, size, tuple(probabilities), begin, end, rows, factor)))

        run_ranges(part, n_rows, threads, WORK)
        drawn = np.concatenate([rows[begin : begin + count] for begin, count in sorted(parts)]) if len(parts) > 1 else rows[: parts[0][1]]
        return drawn, factor

    def goss(self, size: Sizes, threads: int) -> SamplingProbabilities:
        """All rows from the size on that a share of them reach, and a share of the others."""
        top = round(self.top_rate * len(size))
        least = 1.0 if self.top_rate + self.other_rate >= 1.0 else self.other_rate / (1.0 - self.top_rate)
        return SamplingProbabilities(size_reached_by(size, top, threads), 0.0, least)

    def mvs(self, size: Sizes, threads: int) -> SamplingProbabilities:
        """The level at which probabilities add up to the share of the rows, as near as counts by 16 bits can tell."""
        wanted = self.share * len(size)
        counts = counted(size, threads)
        used = np.flatnonzero(counts)
        rows, middles = counts[used].astype(np.float64), (used << 16 | 1 << 15).astype(np.int32).view(np.float32).astype(np.float64)
        # With the level at a bucket, those up to it are drawn by their size, and all beyond it: the level is below the first bucket where
        # these are no more than wanted, and rows from there on are certain.
        below, beyond = np.cumsum(rows * middles), rows.sum() - np.cumsum(rows)
        few = np.flatnonzero(below / middles + beyond <= wanted)
        position = int(few[0]) if len(few) else len(used)
        if position == 0 or used[-1] == 0:
            return SamplingProbabilities(0.0, 0.0, 1.0)
        level = float(below[position - 1] / (wanted - beyond[position - 1]))
        return SamplingProbabilities(level, 1.0 / level, min(LEAST_PROBABILITY, self.share))


def step_ratio(gradient: Floats, hessian: Floats) -> float:
    """What a squared hessian is worth in squared gradients: the square of the step that a leaf of all rows with equal signs would take."""
    total = float(hessian.sum())
    return (float(np.abs(gradient).sum()) / total) ** 2 if total > 0.0 else 0.0


def counted(size: Sizes, threads: int) -> NDArray[np.int64]:
    """How many sizes have the same upper 16 bits."""
    bits, found = size.view(np.int32), []

    def part(begin: int, end: int) -> None:
        out = np.zeros(UPPER, np.int64)
        count_upper(bits, begin, end, out)
        found.append(out)

    run_ranges(part, len(size), threads, WORK)
    return np.asarray(np.sum(found, axis=0))


def size_reached_by(size: Sizes, count: int, threads: int) -> float:
    """The size that so many rows reach, and more only where some are equal; infinite for none."""
    if count <= 0:
        return float("inf")
    counts = counted(size, threads)
    reaching = np.cumsum(counts[::-1])[::-1]
    upper = int(np.flatnonzero(reaching >= count)[-1])
    out = np.zeros(LOWER, np.int64)
    count_lower(size.view(np.int32), upper, 0, len(size), out)
    beyond = int(reaching[upper + 1]) if upper + 1 < UPPER else 0
    reaching = np.cumsum(out[::-1])[::-1] + beyond
    lower = int(np.flatnonzero(reaching >= count)[-1])
    return float(np.array([upper << 16 | lower], np.int32).view(np.float32)[0])
