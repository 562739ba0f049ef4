"""Single trees: classification and regression trees of their own (Breiman, Friedman, Olshen & Stone 1984), exact or on bins.

A weight of two equals a row given twice, bit for bit: values are turned into integers first and multiplied by whole weights then.
The page is docs/algorithms/decision-tree.md.
"""

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import exact_sum, largest_of, sum_scale
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranks
from woodwind.kernels.exact import memory as at
from woodwind.kernels.exact.score import CRITERIA
from woodwind.tree.assemble import assemble
from woodwind.tree.exact_grower import SUM_BITS, ExactGrower, RowStats, SplitCriterion, class_weights, thresholds
from woodwind.tree.forest import Forest
from woodwind.tree.grown_tree import GrownTree, ValuedTree, newton_values, within_bounds
from woodwind.tree.settings import TreeSettings

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Weights that are whole numbers after doubling them this often are kept as they are.
MOST_DOUBLINGS = 16
# Sums of whole weights up to this leave 40 bits to the values that they multiply.
MOST_WHOLE = 1 << 22


class WeightedRows(Protocol):
    """Rows of a table, and how much each counts."""

    @property
    def count(self) -> Integers:
        """(n,) how many rows each stands for; 0: absent."""

    @property
    def total(self) -> Floats:
        """(n,) weight of each row of the table."""


@dataclass(frozen=True, eq=False)
class CartData:
    """What plain trees are grown from."""

    ranks: Ranks
    cuts: Cuts | None  # the edges, if the ranks are codes of bins
    count: Integers  # (n,) how many rows each stands for; 0: absent
    weight: Floats | None  # (n,) of each of these; None for one

    @property
    def total(self) -> Floats:
        """Weight of each row of the table."""
        return self.count.astype(np.float64) if self.weight is None else self.count * self.weight


@dataclass(frozen=True)
class CartPlan:
    """How a plain tree is grown."""

    settings: TreeSettings
    criterion: str
    min_split: int
    name: int  # key of all that is drawn
    threads: int
    features: Integers | None = None  # those that the tree may use, ascending; None for all
    random_splits: bool = False  # one random threshold of each feature, instead of the best


@dataclass(frozen=True)
class TargetUnit:
    """Targets y are grown from as (y - centre) / 2**exponent: no precision is lost on what they have in common, and nothing overflows."""

    centre: float = 0.0
    exponent: int = 0
    power: int = 2  # gains are in units of the target to this power

    @classmethod
    def of(cls, y: Floats) -> "TargetUnit":
        """A centre on a grid as coarse as the spread of the targets, so that subtracting it is exact for ordinary numbers."""
        low, high = float(y.min()), float(y.max())
        spread = high / 2 - low / 2
        if spread == 0.0:
            return cls(low, 0)
        step = math.ldexp(1.0, min(math.frexp(spread)[1] + 1, 1023))
        centre = round((low / 2 + high / 2) / step) * step
        return cls(centre, math.frexp(max(high - centre, centre - low))[1])

    @classmethod
    def by(cls, criterion: str, y: Floats) -> "TargetUnit":
        """The unit for a criterion of regression: Poisson deviance keeps its zero, and only squared errors are squared."""
        if criterion == "poisson":
            return cls(0.0, math.frexp(float(y.max()))[1], 1)
        return replace(cls.of(y), power=2 if criterion == "squared_error" else 1)

    def scaled(self, y: Floats) -> Floats:
        """Targets as they are grown from: between -1 and 1."""
        return np.ldexp(y - self.centre, -self.exponent)

    def unscaled(self, values: Floats) -> Floats:
        """Values of leaves, in the units of the targets."""
        return np.ldexp(values, self.exponent) + self.centre

    def back_gain(self, gain: Floats) -> Floats:
        """Gains, in squared units of the targets, or in whatever the power says."""
        with np.errstate(over="ignore"):
            return np.minimum(np.ldexp(gain, self.power * self.exponent), np.finfo(np.float64).max)

    def away_gain(self, gain: float) -> float:
        """A gain in the units that the tree is grown in."""
        return float(np.ldexp(np.float64(gain), -self.power * self.exponent))


def whole_weights(data: CartData) -> tuple[Integers, float] | None:
    """Weights as integers, and what one of them is worth, if they are whole numbers or halves, quarters ... of them; else None."""
    if data.weight is None:
        return data.count, 1.0
    total = data.total
    for doublings in range(MOST_DOUBLINGS):
        scaled = np.ldexp(total, doublings)
        if scaled.sum() > MOST_WHOLE:
            return None
        if (scaled == np.floor(scaled)).all():
            return scaled.astype(np.int64), math.ldexp(1.0, -doublings)
    return None


def wide_weights(data: CartData) -> tuple[Integers, float]:
    """Any weights as integers, as wide as their sum allows."""
    assert data.weight is not None
    scale = sum_scale(largest_of(data.weight[data.count > 0]), int(data.count.sum()), SUM_BITS)
    return data.count * np.rint(np.where(data.count > 0, data.weight, 0.0) * scale).astype(np.int64), 1.0 / scale


def class_stats(data: CartData, classes: NDArray[np.integer]) -> RowStats:
    """Class and weight of every row."""
    rows = np.empty((len(classes), at.STATS_WIDTH), np.int64)
    rows[:, at.X_GRADIENT] = rows[:, at.X_LABEL] = classes
    rows[:, at.X_HESSIAN], unit = whole_weights(data) or wide_weights(data)
    rows[:, at.X_COUNT] = data.count
    return RowStats(rows, 1.0, unit)


def squared_stats(data: CartData, y: Floats) -> RowStats:
    """Minus the target by weight as gradient, and the weight as hessian: the Newton gain is then the squared error that is removed."""
    y = np.where(data.count > 0, y, 0.0)
    rows = np.empty((len(y), at.STATS_WIDTH), np.int64)
    whole = whole_weights(data)
    if whole is not None:
        weights, unit = whole
        scale = sum_scale(largest_of(y), int(weights.sum()), SUM_BITS)
        rows[:, at.X_GRADIENT] = weights * np.rint(-y * scale).astype(np.int64)
        scale /= unit
    else:
        weights, unit = wide_weights(data)
        product = -y * (data.weight if data.weight is not None else 1.0)
        scale = sum_scale(largest_of(product), int(data.count.sum()), SUM_BITS)
        rows[:, at.X_GRADIENT] = data.count * np.rint(product * scale).astype(np.int64)
    rows[:, at.X_HESSIAN] = weights
    rows[:, at.X_COUNT] = data.count
    rows[:, at.X_LABEL] = (y + 0.0).view(np.int64)  # minus zero is zero
    return RowStats(rows, 1.0 / scale, unit)


def classification_tree(data: CartData, classes: NDArray[np.integer], n_classes: int, plan: CartPlan) -> Forest:
    """Grow a tree whose leaves say how often each class is among their rows."""
    stats = class_stats(data, classes)
    split_criterion = SplitCriterion(plan.criterion, n_classes, plan.min_split, thorough=True)
    tree = ExactGrower(data.ranks, plan.settings, plan.threads, split_criterion).grow_stats(stats, plan.name, plan.features)
    weights = class_weights(tree, stats, n_classes)
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    if plan.settings.monotonic is not None:
        second = within_bounds(tree, probabilities[:, 1])
        probabilities = np.column_stack([np.where(second == probabilities[:, 1], probabilities[:, 0], 1.0 - second), second])
    return as_forest(tree, probabilities, data)


def regression_tree(data: CartData, y: Floats, plan: CartPlan) -> Forest:
    """Grow a tree whose leaves say the mean of their rows."""
    unit = TargetUnit.of(y[data.count > 0])
    settings = replace(plan.settings, min_gain=unit.away_gain(plan.settings.min_gain))
    split_criterion = SplitCriterion("newton", 0, plan.min_split, thorough=True)
    stats = squared_stats(data, unit.scaled(y))
    tree = ExactGrower(data.ranks, settings, plan.threads, split_criterion).grow_stats(stats, plan.name, plan.features)
    values = unit.unscaled(within_bounds(tree, newton_values(tree.gradient, tree.hessian, 0.0, 0.0)))
    pure = pure_leaves(tree, y)
    values[pure] = y[tree.rows[tree.begin[pure]]]
    return as_forest(replace(tree, gain=unit.back_gain(tree.gain)), values[:, None], data)


def weighted_median(y: Floats, weight: Floats) -> float:
    """The number with half of the weight on either side; midway between two where each has just half."""
    order = np.argsort(y, kind="stable")
    y, running = y[order], np.cumsum(weight[order])
    at = int(np.searchsorted(2.0 * running, running[-1]))
    midway = at + 1 < len(y) and 2.0 * running[at] == running[-1]
    return float(y[at] / 2.0 + y[at + 1] / 2.0 if midway else y[at])


def pure_leaves(tree: GrownTree, y: Floats) -> Integers:
    """Leaves whose rows have one target, within the bounds of the leaf: they say just that, without any rounding."""
    leaves = tree.leaves[np.argsort(tree.begin[tree.leaves])]
    ordered = y[tree.rows]
    lowest, highest = (ufunc.reduceat(ordered, tree.begin[leaves]) for ufunc in (np.minimum, np.maximum))
    free = np.isinf(tree.low[leaves]) & np.isinf(tree.high[leaves])
    pure: Integers = leaves[(lowest == highest) & free]
    return pure


def as_forest(tree: GrownTree, value: Floats, data: CartData) -> Forest:
    """The model of one tree; its covers are sums of weights."""
    output = -1 if value.shape[1] > 1 else 0
    valued = ValuedTree.of(tree, value, output, 1.0, thresholds(tree, data.ranks, data.cuts))
    return assemble([replace(valued, cover=tree.hessian)], data.ranks.ranking, np.zeros(value.shape[1]), value.shape[1])


def class_impurity(data: WeightedRows, classes: NDArray[np.integer], n_classes: int, criterion: str) -> float:
    """Impurity of all rows, such as the Gini index, or the entropy in bits."""
    weights = np.array([exact_sum(data.total[classes == k]) for k in range(n_classes)])
    probabilities = weights / weights.sum()
    impurity = CRITERIA[criterion].impurity
    assert impurity is not None, "a criterion of gradients has no impurity"
    return impurity(probabilities)


def regression_impurity(data: WeightedRows, y: Floats, criterion: str) -> float:
    """Mean error by weight: squared distance from the mean, absolute distance from the median, or half of the Poisson deviance."""
    present = data.count > 0
    y, total = y[present], data.total[present]
    unit = TargetUnit.by(criterion, y)
    scaled = unit.scaled(y)
    mean = exact_sum(scaled, total) / exact_sum(total)
    if criterion == "poisson":
        some = scaled > 0.0
        return float(unit.back_gain(np.array([exact_sum(scaled[some] * np.log(scaled[some] / mean), total[some]) / exact_sum(total)]))[0])
    if criterion == "absolute_error":
        error = np.abs(scaled - weighted_median(scaled, total))
        return float(unit.back_gain(np.array([exact_sum(error, total) / exact_sum(total)]))[0])
    return float(unit.back_gain(np.array([exact_sum((scaled - mean) ** 2, total) / exact_sum(total)]))[0])
