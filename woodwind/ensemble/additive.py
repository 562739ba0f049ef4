"""Forward stagewise fitting of an additive model, as a generator of rounds: Friedman 2001, with any learner and any loss.

A round is: what the loss asks of every row; a learner of that, one for each score of a row; how far to go in the direction that it gives.
The page is docs/algorithms/additive-model.md.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import exact_sum
from woodwind.base.random_streams import choose, key
from woodwind.ensemble.boosting.boost import BoostingRound
from woodwind.ensemble.weak_learner import Floats, Integers
from woodwind.losses.base import Loss, RowsByLeaf
from woodwind.tree.grown_tree import newton_values, rows_by_leaf

# A line search ends where the slope has fallen to this share of what it was, or the step is known to so many digits.
FLAT = 1e-14
NARROW = 1e-14
# The longest step in powers of two: a loss that falls for ever is followed no further.
MOST_DOUBLINGS = 60
# Rounds in a row that may bring nothing where rows are drawn.
IDLE = 10


class DirectionLearner(Protocol):
    """Learns numbers, and knows the leaves of what it has learned if it has any."""

    def learn_numbers(self, y: Floats, weight: Floats | None, count: Integers | None, name: int) -> tuple[Any, Floats]:
        """What was learned, and what it says about every row, drawn or not."""

    def leaf_numbers(self, member: Any) -> NDArray[np.integer]:
        """The leaf of every row."""


@dataclass(frozen=True)
class AdditivePlan:
    """What a run does."""

    loss: Loss
    learning_rate: float
    residuals: str
    step: str
    subsample: float
    seed: int


@dataclass(frozen=True, eq=False)
class AdditiveRows:
    """The rows of a run: targets, weights, how many rows each stands for, and those that are trained on (None: all that stand for any)."""

    y: NDArray[Any]
    weight: Floats | None
    count: Integers | None
    learn: NDArray[np.bool_] | None = None

    @property
    def total(self) -> Floats | None:
        """How much each row counts in the loss; None for one each."""
        if self.count is None:
            return self.weight
        times = self.count.astype(np.float64)
        return times if self.weight is None else times * self.weight

    @property
    def positions(self) -> Integers:
        """Rows that may be learned from."""
        there = np.ones(len(self.y), np.bool_) if self.learn is None else self.learn
        return np.flatnonzero(there if self.count is None else there & (self.count > 0))


@dataclass(frozen=True, eq=False)
class AdditiveMember:
    """One learner: what it says is added `step` times, or, where its leaves have values of their own, these."""

    trained: Any
    step: float
    values: Floats | None = None


@dataclass(frozen=True, eq=False)
class AdditiveRound(BoostingRound):
    """One finished round: a learner for each score of a row; the loss of the rows drawn, and by how much it fell for the others."""

    members: tuple[AdditiveMember, ...]
    train: float
    out_of_bag: float  # NaN where all rows were drawn


def additive_rounds(
    rows: AdditiveRows, learner: DirectionLearner, plan: AdditivePlan, raw: Floats, count: int, first: int = 0
) -> Iterator[AdditiveRound]:
    """Go on from the scores `raw`, which are changed in place; `first` is the number of the first round, which names what it draws."""
    idle = 0
    every, total = rows.positions, rows.total
    for number in range(first, first + count):
        name = key(plan.seed, "additive", number)
        drawn = drawn_rows(every, plan.subsample, name)
        loss = plan.loss.resolved(rows.y[every], raw[every], None if total is None else total[every])
        members, change = one_round(rows, learner, plan, loss, raw, drawn, name)
        idle = idle + 1 if not change.any() else 0
        if idle > (IDLE if len(drawn) < len(every) else 0):
            return
        out = np.setdiff1d(every, drawn)
        before = mean_loss(loss, rows, raw, out)
        raw += change
        yield AdditiveRound(number, (), raw, members, mean_loss(loss, rows, raw, drawn), before - mean_loss(loss, rows, raw, out))


def drawn_rows(every: Integers, share: float, name: int) -> Integers:
    """The rows of a round."""
    if share >= 1.0:
        return every
    return np.asarray(every[choose(key(name, "rows"), len(every), max(1, int(share * len(every))))])


def mean_loss(loss: Loss, rows: AdditiveRows, raw: Floats, positions: Integers) -> float:
    """The loss of some rows; NaN of none."""
    if positions.size == 0:
        return math.nan
    total = rows.total
    return loss.value(rows.y[positions], raw[positions], None if total is None else total[positions])


def one_round(
    rows: AdditiveRows, learner: DirectionLearner, plan: AdditivePlan, loss: Loss, raw: Floats, drawn: Integers, name: int
) -> tuple[tuple[AdditiveMember, ...], Floats]:
    """The learners of a round, and what they add to all scores."""
    gradient, hessian = (part.reshape(len(raw), -1) for part in loss.derivatives(rows.y, raw, rows.weight))
    count = None
    if len(drawn) < len(raw):
        count = np.zeros(len(raw), np.int64)
        count[drawn] = 1 if rows.count is None else rows.count[drawn]
    trained, predicted = [], np.empty_like(gradient)
    for k in range(gradient.shape[1]):
        target, weight = residual_target(gradient[:, k], hessian[:, k], rows.weight, plan.residuals, rows.count)
        member, predicted[:, k] = learner.learn_numbers(target, weight, count if count is not None else rows.count, key(name, k))
        trained.append(member)
    if plan.step == "leaf":
        return leaf_steps(rows, learner, plan, loss, (gradient, hessian), trained, drawn, raw)
    direction = predicted.reshape(raw.shape)
    step = 1.0
    if plan.step == "line_search":
        total = rows.total
        step = line_search(loss, rows.y[drawn], raw[drawn], direction[drawn], None if total is None else total[drawn])
    step *= plan.learning_rate
    return tuple(AdditiveMember(one, step) for one in trained), step * direction


def residual_target(
    gradient: Floats, hessian: Floats, weight: Floats | None, residuals: str, count: Integers | None = None
) -> tuple[Floats, Floats | None]:
    """What a learner is to learn, and by which weights: minus the gradient (Friedman 2001), or Newton's step by the hessian.

    Derivatives come times the weight of their row; rows of which `count` is zero are absent, and no hessian of theirs is the largest.
    """
    if residuals == "gradient":
        return -gradient if weight is None else -gradient / weight, weight
    largest = hessian.max(initial=0.0) if count is None else hessian[count > 0].max(initial=0.0)
    least = np.finfo(np.float64).tiny + 1e-12 * largest
    return -gradient / np.maximum(hessian, least), np.maximum(hessian, least)


def line_search(loss: Loss, y: NDArray[Any], raw: Floats, direction: Floats, weight: Floats | None) -> float:
    """The step at which the loss, along the direction, is least; 0 where it rises from the beginning. For losses that are convex."""

    def slope(step: float) -> float:
        with np.errstate(over="ignore"):
            gradient = loss.derivatives(y, raw + step * direction, weight)[0] * direction
        return exact_sum(gradient.reshape(-1)) if np.isfinite(gradient).all() else math.inf

    first = slope(0.0)
    if not first < 0.0:
        return 0.0
    flat = FLAT * -first
    low, high, below = 0.0, 1.0, first
    above = slope(high)
    for _ in range(MOST_DOUBLINGS):
        if above >= -flat:
            break
        low, below, high = high, above, 2.0 * high
        above = slope(high)
    for turn in range(200):
        if abs(above) <= flat or above < 0.0:
            return high
        if high - low <= NARROW * high:
            break
        # Every second turn halves the bracket, whatever the shape of the slope; the others are exact where it is a line.
        secant = math.isfinite(above) and turn % 2 == 0
        step = low - below * (high - low) / (above - below) if secant else 0.5 * (low + high)
        if not low < step < high:
            step = 0.5 * (low + high)
        found = slope(step)
        if abs(found) <= flat:
            return step
        if found < 0.0:
            low, below = step, found
        else:
            high, above = step, found
    return 0.5 * (low + high)


def leaf_steps(
    rows: AdditiveRows,
    learner: DirectionLearner,
    plan: AdditivePlan,
    loss: Loss,
    derivatives: tuple[Floats, Floats],
    trained: list[Any],
    drawn: Integers,
    raw: Floats,
) -> tuple[tuple[AdditiveMember, ...], Floats]:
    """A step for every leaf: what the loss itself says about its residuals, or Newton's. Friedman 2001, algorithms 3 to 6."""
    gradient, hessian = derivatives
    change, members = np.zeros_like(gradient), []
    total, times = rows.total, rows.count
    for k, one in enumerate(trained):
        leaf = np.asarray(learner.leaf_numbers(one)).astype(np.int32)
        n_leaves = int(leaf.max()) + 1
        if loss.refits:
            order, begins, ends = rows_by_leaf(leaf, drawn.astype(np.int32), n_leaves)
            values, full = np.zeros(n_leaves), ends > begins
            values[full] = loss.refitted(k, RowsByLeaf(order, begins[full], ends[full]), rows.y, raw, total)
        else:
            often = np.ones(len(drawn)) if times is None else times[drawn].astype(np.float64)
            sums = [np.bincount(leaf[drawn], part[drawn, k] * often, n_leaves).astype(np.float64) for part in (gradient, hessian)]
            # Scores of classes move together, so that one class alone takes K / (K - 1) of its own.
            curvature = sums[1] * (loss.width / (loss.width - 1.0)) if loss.redundant_scores else sums[1]
            values = newton_values(sums[0], curvature, 0.0, 0.0)
        values = values * plan.learning_rate
        members.append(AdditiveMember(one, 0.0, values))
        change[:, k] = values[leaf]
    return tuple(members), change.reshape(raw.shape)
