"""Target statistics: how large the target is, on average, in rows of the same category, and how many rows there are.

A column of thousands of categories says little to a tree that parts sets of them, but much by what is known of the target at each. The
danger is a row that finds its own target in its number. So rows that are trained on stand in a drawn order, and each is given the mean of
those before it (ordered target statistics: Prokhorenkova et al. 2018, "CatBoost: unbiased boosting with categorical features", eq. 5);
all other rows are given the mean of all rows that were learned from, as rows to come will be. docs/algorithms/ordered-target-statistics.md
has a case by hand.

Sums are of integers, so that those of all rows do not depend on their order, and every number is the same for any number of threads.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import exact_mean, exact_sum, largest_of, sum_scale
from woodwind.base.random_streams import key, permutation
from woodwind.base.validate import require, require_array
from woodwind.data.tables.table import Reader
from woodwind.kernels.binning.target_statistics import Smoothing, add_totals, ordered_statistics

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Missing values are a category of their own, and those that training never saw are another, of which nothing is known: their numbers,
# -1 and -2, are positions counted from the end.
MORE = 2

# Bits of a sum: a float64 of it is then rounded once.
SUM_BITS = 62


@dataclass(frozen=True, eq=False)
class StatisticsTarget:
    """What statistics are taken of: numbers; of two classes whether a row is of the second; of several, whether it is of each."""

    y: NDArray[Any]  # (n,) numbers, or numbers of classes; (n, width) several numbers
    rows: Integers  # those that are learned from; of the others nothing is looked at
    weight: Floats | None = None  # (n,) None for one each
    classes: tuple[int, ...] = ()  # the classes whose shares are taken; none for numbers

    @property
    def width(self) -> int:
        """Statistics of a row."""
        return self.y.shape[1] if self.y.ndim == 2 else max(len(self.classes), 1)

    def numbers(self, position: int) -> Floats:
        """(n,) what the mean of a statistic is taken of."""
        if self.y.ndim == 2:
            return np.array(self.y[:, position], np.float64)
        return np.asarray(self.y == self.classes[position] if self.classes else self.y, np.float64)

    @cached_property
    def weights(self) -> tuple[Integers | None, float]:
        """Weights as integers, and their unit."""
        return (None, 1.0) if self.weight is None else _as_integers(self.weight)

    @cached_property
    def amounts(self) -> tuple[tuple[Integers, float], ...]:
        """Of each statistic the targets times their weights as integers, and their unit."""
        every = (self.numbers(position) for position in range(self.width))
        return tuple(_as_integers(numbers if self.weight is None else numbers * self.weight) for numbers in every)

    @cached_property
    def moments(self) -> tuple[tuple[float, float], ...]:
        """Of each statistic the mean over the rows, and the sum of squares around it."""
        weight, found = None if self.weight is None else self.weight[self.rows], []
        for position in range(self.width):
            numbers = self.numbers(position)[self.rows]
            mean = exact_mean(numbers, weight)
            numbers -= mean
            found.append((mean, exact_sum(np.square(numbers, out=numbers), weight)))
        return tuple(found)

    def totals(self, categories: NDArray[np.int32], size: int, rows: Integers) -> Integers:
        """(width, 2, size) sums and weights of each category over some rows, as integers."""
        out: Integers = np.zeros((self.width, 2, size), np.int64)
        for (amounts, _), totals in zip(self.amounts, out, strict=True):
            add_totals(categories, rows, amounts, self.weights[0], totals)
        return out

    def in_numbers(self, totals: Integers) -> tuple[Floats, Floats]:
        """(width, size) sums and (size,) weights of such totals."""
        units = np.array([unit for _, unit in self.amounts])
        return totals[:, 0] * units[:, None], totals[0, 1] * self.weights[1]

    def order(self, seed: int, number: int = 0) -> Integers:
        """The rows in a drawn order: `number` is which of several."""
        return self.rows[permutation(key(seed, "statistics", number), len(self.rows))]


def _as_integers(values: Floats) -> tuple[Integers, float]:
    """Values as integers whose sums fit, and the unit that they are in: a power of two."""
    scale = sum_scale(largest_of(values), len(values), SUM_BITS)
    return np.rint(values * scale).astype(np.int64), 1.0 / scale


@dataclass(frozen=True, eq=False)
class TargetStatistics:
    """What all rows that were learned from say of the categories of one column."""

    sums: Floats  # (width, categories + 2) of the target; the last but one is for categories never seen, the last for missing values
    counts: Floats  # (categories + 2,) rows, as they weigh
    prior: Floats  # (width,) the mean where nothing is known
    strength: Floats  # (width,) rows that the prior counts as

    def check(self) -> "TargetStatistics":
        """Raise DataError where something does not fit; returns self."""
        width, size = self.prior.size, self.counts.size
        require(size >= MORE and width >= 1, "statistics are of no categories, or of nothing")
        require_array(self.counts, (size,), "the rows of categories")
        require_array(self.sums, (width, size), "the sums of categories")
        require_array(self.prior, (width,), "the priors of categories")
        require_array(self.strength, (width,), "the strengths of priors")
        for numbers in (self.sums, self.counts, self.prior, self.strength):
            require(np.isfinite(numbers), "a statistic of a category is not finite")
        require(self.counts >= 0.0, "a category has an impossible number of rows")
        require(self.strength >= 0.0, "a prior has an impossible strength")
        require(np.isfinite(self.means), "the mean of a category is not finite")
        require(self.counts[-MORE] == 0.0 and not self.sums[:, -MORE].any(), "categories that were never seen have rows")
        return self

    @classmethod
    def learn(
        cls,
        target: StatisticsTarget,
        categories: NDArray[np.int32],
        n_categories: int,
        prior: float | None = None,
        strength: float | None = None,
    ) -> "TargetStatistics":
        """From the rows of the target. Without a prior it is their mean; without a strength, it is estimated: see `prior_strength`."""
        sums, counts = target.in_numbers(target.totals(categories, n_categories + MORE, target.rows))
        # Nothing is learned of categories that are not known, whatever rows have them.
        sums[:, -MORE], counts[-MORE] = 0.0, 0.0
        priors = [mean if prior is None else prior for mean, _ in target.moments]
        own = zip(sums, target.moments, strict=True)
        strengths = [prior_strength(total, counts, *moments) if strength is None else strength for total, moments in own]
        return cls(sums, counts, np.array(priors, np.float64), np.array(strengths, np.float64))

    @cached_property
    def means(self) -> Floats:
        """(width, categories + 2) the smoothed mean of each category; the prior where there are no rows."""
        return self._smoothed(self.sums, self.counts)

    def _smoothed(self, sums: Floats, counts: Floats) -> Floats:
        known = counts > 0.0
        below = np.where(known, counts, 1.0) + self.strength[:, None]
        return np.where(known, (sums + (self.prior * self.strength)[:, None]) / below, self.prior[:, None])

    def ordered(self, target: StatisticsTarget, categories: NDArray[np.int32], order: Integers) -> tuple[Floats, Floats]:
        """What is known of each row: means (width, n), and counts (n,).

        Rows of the order know the rows before them there; all others know all rows that were learned from. Priors and strengths are
        those of these statistics.
        """
        n = len(categories)
        means, counts = np.empty((target.width, n)), np.empty(n)
        if len(order) < n:
            np.take(self.means, categories, axis=1, out=means, mode="wrap")
            np.take(self.counts, categories, out=counts, mode="wrap")
        weights, weight_unit = target.weights
        for position, (amounts, unit) in enumerate(target.amounts):
            smoothing = Smoothing(float(self.prior[position]), float(self.strength[position]), unit, weight_unit)
            totals = np.zeros((2, self.counts.size), np.int64)
            ordered_statistics(categories, order, amounts, weights, smoothing, totals, means[position], counts)
        return means, counts

    def out_of_fold(self, target: StatisticsTarget, categories: NDArray[np.int32], folds: Integers) -> tuple[Floats, Floats]:
        """What is known of each row from the rows of all other folds: means (width, n), and counts (n,).

        `folds` are the numbers of folds, -1 for rows that are not learned from: those know all that are. Priors and strengths are those of
        these statistics.
        """
        means, counts = np.take(self.means, categories, axis=1, mode="wrap"), np.take(self.counts, categories, mode="wrap")
        size, of_row = self.counts.size, folds[target.rows]
        every = target.totals(categories, size, target.rows)
        for fold in np.unique(of_row).tolist():
            rows = target.rows[of_row == fold]
            sums, known = target.in_numbers(every - target.totals(categories, size, rows))
            means[:, rows] = self._smoothed(sums, known)[:, categories[rows]]
            counts[rows] = known[categories[rows]]
        return means, counts


@dataclass(frozen=True)
class StatisticsReader:
    """Reads categories as a statistic of each."""

    numbers: Reader  # of the categories
    means: Floats  # (categories + 2,)

    def __call__(self, begin: int, end: int) -> Floats:
        """Rows begin to end."""
        return np.asarray(self.means[self.numbers(begin, end)])


def prior_strength(sums: Floats, counts: Floats, mean: float, squares: float) -> float:
    """The number of rows that the prior should count as: the variance inside categories over that of their true means.

    Then the smoothed mean of any number of rows is the best guess of the mean of a category (empirical Bayes), so that a mean of few
    earlier rows in training and one of all rows later say the same thing. Both variances are estimated as in an analysis of variance, from
    sums and counts of categories, and from the mean of all rows and their sum of squares around it; one row of the variance of all rows is
    added to those inside categories, of which there may be very few. It is at most the number of rows.
    """
    present = counts > 0.0
    sums, counts = sums[present], counts[present]
    total, groups = float(counts.sum()), int(present.sum())
    if groups < 2 or total <= groups:
        return max(total, 1.0)
    between = float((counts * (sums / counts - mean) ** 2).sum())
    inside = (max(squares - between, 0.0) + squares / total) / (total - groups + 1.0)
    size = (total - float((counts**2).sum()) / total) / (groups - 1)  # of a category, on average
    spread = (between / (groups - 1) - inside) / size
    return min(inside / spread, total) if spread > 0.0 else total
