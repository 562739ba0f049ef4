"""How much gradients are disturbed while splits are looked for; kernels/histogram/gradient_noise.py does it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import exact_mean
from woodwind.base.pool import run_ranges
from woodwind.base.random_streams import key
from woodwind.kernels.histogram.gradient_noise import disturb_lanes, disturb_rows, draw_sums, square_lanes, square_rows
from woodwind.kernels.runtime.records import Memory

# Of the sum of four numbers, each drawn evenly from 0 .. 2**16 - 1.
DEVIATION = math.sqrt((2**32 - 1) / 3)
# Such a sum is never further than 3.4642 standard deviations from its mean.
FURTHEST = 3.5
# Hashing a number takes as long as so many updates of a histogram.
WORK = 8


def room_for(share: float) -> float:
    """By how much the largest gradient may grow when it is disturbed: scales leave room for that, so that no noise is cut off."""
    return 1.0 + FURTHEST * share


def factor_of(share: float, squares: int, count: int) -> int:
    """What kernels multiply noise by, in steps of 2**-16, for so many gradients with such a sum of squares."""
    return round(share * math.sqrt(squares / max(count, 1)) * 65536.0 / DEVIATION)


@dataclass(frozen=True, eq=False)
class GradientNoise:
    """Disturbs what a grower has put in for its next tree, by a share of the root mean square.

    That is taken over the rows which the tree is grown from: rows held out have no say in it.
    """

    space: Memory
    order: NDArray[np.int32] | None  # the numbers that callers know rows by, where the table has an order of its own
    share: float

    def add_to_rows(self, tree_key: int, n_rows: int, threads: int) -> None:
        """Disturb the gradients that the rows in the first buffer carry."""
        directory = self.space.directory
        found: list[int] = []
        run_ranges(lambda begin, end: found.append(int(square_rows(directory, begin, end))), n_rows, threads)
        own, factor = key(tree_key, "gradient noise"), factor_of(self.share, sum(found), n_rows)
        run_ranges(lambda begin, end: disturb_rows(directory, self.order, own, factor, begin, end), n_rows, threads, WORK)

    def add_to_unrounded(self, gradient: NDArray[np.int64], tree_key: int, rows: NDArray[np.int32] | None) -> None:
        """Disturb the gradients of all rows of the table, by their root mean square over the rows of the next tree."""
        seen = gradient.astype(np.float64) if rows is None else gradient[rows].astype(np.float64)
        drawn = np.empty(len(gradient))
        draw_sums(self.order, key(tree_key, "gradient noise"), drawn)
        drawn *= self.share * math.sqrt(exact_mean(seen * seen)) / DEVIATION
        gradient += np.rint(drawn).astype(np.int64)

    def add_to_lanes(self, tree_key: int, n_rows: int, outputs: int, most: int, threads: int) -> None:
        """Disturb the gradients in the lanes of all rows of the table, those of each output by their own root mean square."""
        lanes = self.space["lanes"]
        found: list[NDArray[np.int64]] = []

        def squares(begin: int, end: int) -> None:
            out = np.zeros(outputs, np.int64)
            square_lanes(self.space.directory, lanes, begin, end, out)
            found.append(out)

        run_ranges(squares, n_rows, threads, outputs)
        own = key(tree_key, "gradient noise")
        factors = np.array([factor_of(self.share, int(total), n_rows) for total in np.sum(found, axis=0)], np.int64)
        run_ranges(lambda begin, end: disturb_lanes(lanes, self.order, own, factors, most, begin, end), len(lanes), threads, WORK * outputs)
