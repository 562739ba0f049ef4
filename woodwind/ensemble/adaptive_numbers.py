"""Adaptive boosting of regressors as a generator of rounds: AdaBoost.R2, Drucker 1997; and the weighted median of what they say."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from woodwind.base.streams import key
from woodwind.ensemble.adaptive import LEAST_WEIGHT, NO_SCORES, NO_TREES, TRIES, WEIGHT_OF_PERFECT, AdaptiveRows, within
from woodwind.ensemble.boost import Round
from woodwind.ensemble.learner import Floats, Integers, NumberLearner, draw_by_weight

__all__ = ["LEAST_WEIGHT", "NumberPlan", "NumberRound", "number_rounds", "row_losses", "weighted_median"]


@dataclass(frozen=True, eq=False)
class NumberRound(Round):
    """One finished round: its learner, the weight of that, and its mean loss by the weights of the rows."""

    member: Any
    weight: float
    error: float


@dataclass(frozen=True)
class NumberPlan:
    """What a run does."""

    loss: str
    learning_rate: float
    bootstrap: bool  # draw rows by weight; else weights are given to the learner
    seed: int
    draws: bool  # whether the learner itself draws


def number_rounds(y: Floats, rows: AdaptiveRows, learner: NumberLearner, plan: NumberPlan, count: int) -> Iterator[NumberRound]:
    """Boost for at most `count` rounds; it ends sooner at a perfect learner, or where the mean loss is one half or more.

    The first learner is kept whatever its loss: a model must say something.
    """
    weight = rows.weight
    for number in range(count):
        for trial in range(TRIES if plan.draws or plan.bootstrap else 1):
            member, said = _learnt(y, rows, weight, learner, plan, key(plan.seed, "learner", number, trial))
            losses = row_losses(np.abs(said - y), rows.count, plan.loss)
            error = rows.total(weight * losses) / rows.total(weight)
            if error < 0.5:
                break
        else:
            if number == 0:
                yield NumberRound(number, NO_TREES, NO_SCORES, member, WEIGHT_OF_PERFECT, error)
            return
        if error <= 0.0:
            yield NumberRound(number, NO_TREES, NO_SCORES, member, WEIGHT_OF_PERFECT, 0.0)
            return
        beta = error / (1.0 - error)
        yield NumberRound(number, NO_TREES, NO_SCORES, member, plan.learning_rate * math.log(1.0 / beta), error)
        new = weight * beta ** ((1.0 - losses) * plan.learning_rate)
        weight = within(new / rows.total(new))


def _learnt(y: Floats, rows: AdaptiveRows, weight: Floats, learner: NumberLearner, plan: NumberPlan, name: int) -> tuple[Any, Floats]:
    """What a learner has learnt from the present weights, and what it says about all rows."""
    if not plan.bootstrap:
        return learner.learn_numbers(y, weight, None, name)
    total = weight if rows.count is None else weight * rows.count
    many = len(y) if rows.count is None else int(rows.count.sum())
    drawn = np.bincount(draw_by_weight(key(name, "drawn"), total, many), minlength=len(y))
    return learner.learn_numbers(y, None, drawn, name)


def row_losses(error: Floats, count: Integers | None, loss: str) -> Floats:
    """The loss of each row, from 0 to 1: its error over the largest of rows that count, as it is, squared, or 1 - exp(-error)."""
    largest = error.max() if count is None else error[count > 0].max()
    share = np.minimum(error / largest, 1.0) if largest > 0.0 else np.zeros_like(error)
    if loss == "square":
        return np.asarray(share**2)
    return np.asarray(1.0 - np.exp(-share)) if loss == "exponential" else share


def weighted_median(said: Floats, weights: Floats) -> Floats:
    """For each row of (n, T), the smallest number at which the weights of this and all smaller ones are half of all or more.

    >>> weighted_median(np.array([[1.0, 2.0, 9.0]]), np.array([1.0, 1.0, 3.0])).tolist()
    [9.0]
    """
    order = np.argsort(said, axis=1, kind="stable")
    so_far = np.cumsum(weights[order], axis=1)
    place = (so_far >= 0.5 * so_far[:, -1:]).argmax(axis=1)
    row = np.arange(len(said))
    return np.asarray(said[row, order[row, place]])
