"""Adaptive boosting of classifiers as a generator of rounds: AdaBoost.M1, SAMME, SAMME.R, AdaBoost.M2 and AdaBoost.MH.

A round is: a learner is trained on weighted rows; its error gives it a weight; rows that it gets wrong weigh more in the next round.
Weights of rows add up to one before every round. Weights of learners are without the factor one half that some texts have
(docs/algorithms/adaboost.md says where that matters, which is nowhere but in the numbers themselves).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import WoodwindWarning
from woodwind.base.fixed import exact_sum
from woodwind.base.notice import notice
from woodwind.base.random_streams import key
from woodwind.base.validate import require
from woodwind.ensemble.boosting.boost import BoostingRound
from woodwind.ensemble.weak_learner import (
    Floats,
    Integers,
    Labels,
    TrainedClassifier,
    WeakClassifier,
    WeakRegressor,
    WeakStumpLearner,
    draw_by_weight,
)
from woodwind.tree.stump import Stump

# A weight never falls below this: a row that is always right would otherwise leave the numbers that a float64 tells from zero.
LEAST_WEIGHT = float(np.finfo(np.float64).eps)
# A learning rate far above one could make weights infinite before they are scaled.
MOST_WEIGHT = 1e200
# Shares of zero have no logarithm.
LEAST_SHARE = float(np.finfo(np.float64).eps)
# An error that is so near to that of chance is no better and no worse.
NO_DIFFERENCE = 1e-9
# A learner that draws and is no better than chance may try again so often.
TRIES = 10
# What scikit-learn gives to a learner that makes no error, whose weight would be infinite.
WEIGHT_OF_PERFECT = 1.0

NO_TREES: tuple[()] = ()
NO_SCORES: Floats = np.zeros(0)


@dataclass(frozen=True, eq=False)
class AdaptiveRound(BoostingRound):
    """One finished round: its learners (one, or with MH one for each label), their weight and what is known about them."""

    trained: tuple[TrainedClassifier, ...]
    weight: float  # of the learners in the vote
    error: float  # by weight; of M2 the pseudo-loss, of MH the share of wrong answers over all labels
    edge: float  # by how much the error is below that of chance
    bound: float  # the error of the whole vote on the training rows is at most this


@dataclass(frozen=True)
class AdaptivePlan:
    """What an adaptive run does."""

    algorithm: str
    n_labels: int
    learning_rate: float
    seed: int
    negative_weights: bool = False  # keep learners that are worse than chance


@dataclass(frozen=True, eq=False)
class AdaptiveRows:
    """The rows of a run: labels, weights to begin with, and how many rows each stands for (0: absent), by which weights add up to one."""

    label: Labels
    weight: Floats
    count: Integers | None = None

    @classmethod
    def of(cls, label: NDArray[np.integer], weight: Floats | None, count: Integers | None) -> "AdaptiveRows":
        """Scale weights; None for one each. Labels of any whole type become that of the kernels."""
        times = None if count is None else count.astype(np.float64)
        plain = np.ones(len(label)) if weight is None else weight
        return cls(label.astype(np.int32, copy=False), plain / exact_sum(plain, times), count)

    def total(self, values: Floats) -> float:
        """The sum over all rows, each as often as it counts, whatever their order."""
        return exact_sum(values, None if self.count is None else self.count.astype(np.float64))


@dataclass(eq=False)
class AdaptiveState:
    """Where a run is, from which another one can go on: after so many rounds, the weights of rows, or of pairs of a row and a label."""

    number: int = 0
    weight: Floats | None = None  # None: those to begin with
    bound: float = math.nan
    ended: bool = False  # a learner was perfect, or no better than chance: there is nothing to go on with
    scores: Floats | None = None  # SAMME.R: of all learners together
    first: float = 1.0  # and the error of the first one

    def note(self, number: int, weight: Floats, bound: float = math.nan, ended: bool = False) -> None:
        """A round is finished."""
        self.number, self.weight, self.bound, self.ended = number + 1, weight, bound, ended

    def check(self) -> "AdaptiveState":
        """Weights are weights; returns self, or raises DataError."""
        require(self.number >= 0, "there are fewer rounds than none")
        for values in (self.weight, self.scores):
            require(values is None or (values.ndim in (1, 2) and bool(np.isfinite(values).all())), "weights of rows are not numbers")
        require(self.weight is None or (self.weight >= 0.0).all(), "a row has a weight below zero")
        return self

    def copy(self) -> "AdaptiveState":
        """The same in arrays of its own."""
        return replace(
            self, weight=None if self.weight is None else self.weight.copy(), scores=None if self.scores is None else self.scores.copy()
        )


def adaptive_rounds(
    rows: AdaptiveRows, learner: WeakClassifier, plan: AdaptivePlan, count: int, state: AdaptiveState | None = None
) -> Iterator[AdaptiveRound]:
    """Boost until there are `count` rounds; it ends sooner where a learner is perfect, or no better than chance.

    Goes on from `state`, which is that after the last round whenever one is finished.
    """
    state = AdaptiveState() if state is None else state
    if plan.algorithm in ("discrete", "samme"):
        return vote_rounds(rows, learner, plan, count, state)
    return {"samme.r": real_rounds, "m2": pseudo_rounds, "mh": label_rounds}[plan.algorithm](rows, learner, plan, count, state)


def chance_error(algorithm: str, n_labels: int) -> float:
    """The error of a learner that guesses, as each algorithm takes it."""
    return 1.0 - 1.0 / n_labels if algorithm in ("samme", "samme.r") else 0.5


def within(weight: Floats, parts: int = 1) -> Floats:
    """Weights between the least and one: those of rows that count for none could grow beyond what all others add up to."""
    return np.asarray(np.clip(weight, LEAST_WEIGHT / parts, 1.0))


def learner_weight(error: float, algorithm: str, n_labels: int, rate: float) -> float:
    """log((1 - e) / e), Freund & Schapire 1997; SAMME adds log(K - 1), Zhu, Zou, Rosset & Hastie 2009, equation (c) of algorithm 2."""
    if error <= 0.0 or error >= 1.0:
        return WEIGHT_OF_PERFECT if error <= 0.0 else -WEIGHT_OF_PERFECT
    more = math.log(n_labels - 1.0) if algorithm == "samme" else 0.0
    return rate * (math.log((1.0 - error) / error) + more)


# Votes: discrete AdaBoost and SAMME.


class Votes(Protocol):
    """Rows with weights that adapt to the votes of learners."""

    weight: Floats

    def learn(self, name: int) -> tuple[TrainedClassifier, float]:
        """What a learner has been trained on the present weights, and its error."""

    def reweigh(self, if_right: float, if_wrong: float) -> None:
        """Multiply the weights of rows by whether the last learner was right about them."""


class LearnerVotes:
    """Any learner."""

    def __init__(self, rows: AdaptiveRows, learner: WeakClassifier, n_labels: int) -> None:
        self.rows, self.learner, self.n_labels = rows, learner, n_labels
        self.weight = rows.weight
        self._wrong: NDArray[np.bool_] = np.zeros(0, np.bool_)

    def learn(self, name: int) -> tuple[TrainedClassifier, float]:
        """Train on the present weights."""
        trained = self.learner.learn(self.rows.label, self.n_labels, self.weight, name)
        self._wrong = trained.votes != self.rows.label
        return trained, self.rows.total(self.weight * self._wrong) / self.rows.total(self.weight)

    def reweigh(self, if_right: float, if_wrong: float) -> None:
        """Every row by itself."""
        self.weight = within(self.weight * np.where(self._wrong, if_wrong, if_right))


class StumpVotes:
    """Stumps: the error is read from the sums that they were found by, and weights are changed by the kernel."""

    def __init__(self, rows: AdaptiveRows, learner: WeakStumpLearner, n_labels: int) -> None:
        self.rows, self.learner, self.n_labels = rows, learner, n_labels
        self.weight = rows.weight.copy()
        self._whole = learner.stumps.whole(self.weight)
        self._stump: Stump

    def learn(self, name: int) -> tuple[TrainedClassifier, float]:
        """Find the best stump of the present weights."""
        stump = self.learner.stumps.best(self._whole, self.rows.label, self.n_labels)
        self._stump = stump
        most = stump.weights.max(axis=1)
        wrong = (stump.weights.sum(axis=1) - most).sum()
        probabilities = stump.probabilities
        return TrainedClassifier(stump.as_forest(self.learner.cuts, probabilities), probabilities), float(wrong / stump.weights.sum())

    def reweigh(self, if_right: float, if_wrong: float) -> None:
        """All rows in one pass."""
        self.learner.stumps.reweigh(self._stump, self.rows.label, (if_right, if_wrong), LEAST_WEIGHT, self.weight, self._whole)


def vote_rounds(
    rows: AdaptiveRows, learner: WeakClassifier, plan: AdaptivePlan, count: int, state: AdaptiveState
) -> Iterator[AdaptiveRound]:
    """AdaBoost.M1 and SAMME: learners vote, and rows that they get wrong weigh exp(weight of the learner) times more."""
    bound = 1.0
    if state.weight is not None:
        rows, bound = replace(rows, weight=state.weight), state.bound
    votes: Votes
    if isinstance(learner, WeakStumpLearner):
        votes = StumpVotes(rows, learner, plan.n_labels)
    else:
        votes = LearnerVotes(rows, learner, plan.n_labels)
    guess = chance_error(plan.algorithm, plan.n_labels)
    for number in range(state.number, count):
        tried = better_than_chance(votes.learn, learner.draws, plan.seed, number, guess, plan.negative_weights)
        if tried is None:
            state.ended = True
            return
        trained, error = tried
        weight = learner_weight(error, plan.algorithm, plan.n_labels, plan.learning_rate)
        total = (1.0 - error) + error * math.exp(weight)
        # Whoever the vote gets wrong was wrong by at least half of all weights: it weighs at least exp(weight / 2) times more. A learner of
        # two labels with a negative weight is its opposite with a positive one; of more labels, a vote against one is for no other.
        bound *= total * math.exp(-0.5 * weight) if weight >= 0.0 or plan.n_labels == 2 else math.nan
        ended = error <= 0.0 or error >= 1.0
        if not ended:
            votes.reweigh(1.0 / total, math.exp(weight) / total)
        state.note(number, votes.weight, bound, ended)
        yield AdaptiveRound(number, NO_TREES, NO_SCORES, (trained,), weight, error, guess - error, bound)
        if ended:
            return


def better_than_chance(
    learn: Callable[[int], tuple[TrainedClassifier, float]], draws: bool, seed: int, number: int, guess: float, or_worse: bool = False
) -> tuple[TrainedClassifier, float] | None:
    """What a learner has learned, and its error; None where it is no better than chance, however often it draws.

    With `or_worse`, one that is worse will do: what it says is turned round.
    """
    for trial in range(TRIES if draws else 1):
        trained, error = learn(key(seed, "learner", number, trial))
        if error < guess or (or_worse and error > guess + NO_DIFFERENCE):
            return trained, error
    return None


def exponential_bound(errors: Floats, algorithm: str, n_labels: int) -> Floats:
    """exp(-2 times the sum of the squared edges 1/2 - e) after every round: above the product of 2 sqrt(e (1 - e)), for two labels.

    Freund & Schapire 1997, theorem 6 and what follows from 1 - x <= exp(-x). NaN where votes are not of two labels.
    """
    if n_labels > 2 or algorithm not in ("discrete", "samme"):
        return np.full(len(errors), np.nan)
    return np.asarray(np.exp(-2.0 * np.cumsum((0.5 - errors) ** 2)))


# Shares: SAMME.R.


def centred_logs(probabilities: Floats) -> Floats:
    """(K - 1) (log p_k - mean over j of log p_j): what a learner adds to the scores. Zhu and others 2009, algorithm 4, step (c)."""
    logs = np.log(np.clip(probabilities, LEAST_SHARE, None))
    return np.asarray((probabilities.shape[1] - 1.0) * (logs - logs.mean(axis=1, keepdims=True)))


def real_rounds(
    rows: AdaptiveRows, learner: WeakClassifier, plan: AdaptivePlan, count: int, state: AdaptiveState
) -> Iterator[AdaptiveRound]:
    """SAMME.R: learners give class probabilities, and all have the weight one. A vote that is worse than its first learner is told of."""
    weight, n_labels = rows.weight, plan.n_labels
    position = np.arange(len(weight))
    if state.scores is None:
        state.scores = np.zeros((len(weight), n_labels))
    guess, bound = chance_error(plan.algorithm, n_labels), 1.0 if n_labels == 2 else math.nan
    if state.weight is not None:
        weight, bound = state.weight, state.bound
    for number in range(state.number, count):
        trained = learner.learn(rows.label, n_labels, weight, key(plan.seed, "learner", number, 0))
        error = rows.total(weight * (trained.votes != rows.label)) / rows.total(weight)
        # (K - 1) / K times the sum over classes of y_k log p_k, with y_k = 1 for the class and -1 / (K - 1) for others, is this:
        logs = centred_logs(trained.probabilities)
        state.scores += logs
        state.first = error if number == 0 else state.first
        fit = logs[position, rows.label] / (n_labels - 1.0)
        with np.errstate(over="ignore"):
            new = np.minimum(weight * np.exp(-plan.learning_rate * fit), MOST_WEIGHT)
        total = rows.total(new)
        if total <= 0.0:
            state.ended = True
            return
        bound *= total
        weight = within(new / total)
        state.note(number, weight, bound, error <= 0.0)
        yield AdaptiveRound(number, NO_TREES, NO_SCORES, (trained,), 1.0, error, guess - error, bound)
        if error <= 0.0:
            return
    last, first = rows.total(rows.weight * (state.scores.argmax(axis=1) != rows.label)), state.first
    if last > first:
        notice(
            f"SAMME.R has gone astray: together its learners err on {last:.1%} of the training rows, the first one alone on {first:.1%}. "
            "Leaves that are sure of a class outvote the others. Use algorithm='samme' or 'mh', a smaller learning_rate or deeper trees.",
            WoodwindWarning,
        )


# Pairs of a row and a wrong label: AdaBoost.M2.


def pseudo_rounds(
    rows: AdaptiveRows, learner: WeakClassifier, plan: AdaptivePlan, count: int, state: AdaptiveState
) -> Iterator[AdaptiveRound]:
    """AdaBoost.M2, Freund & Schapire 1997, figure 5: weights of pairs of a row and a wrong label."""
    label, n_labels = rows.label, plan.n_labels
    position = np.arange(len(label))
    pairs = np.repeat(rows.weight[:, None] / (n_labels - 1.0), n_labels, axis=1)
    pairs[position, label] = 0.0
    bound = n_labels - 1.0
    if state.weight is not None:
        pairs, bound = state.weight, state.bound
    for number in range(state.number, count):
        weight = pairs.sum(axis=1)

        def learn(name: int, pairs: Floats = pairs, weight: Floats = weight) -> tuple[TrainedClassifier, float]:
            trained = with_plausible_labels(learner.learn(label, n_labels, weight, name), rows, pairs, weight)
            return trained, pseudo_loss(trained.probabilities, rows, pairs)

        tried = better_than_chance(learn, learner.draws, plan.seed, number, 0.5)
        if tried is None:
            state.ended = True
            return
        trained, loss = tried
        alpha = learner_weight(loss, plan.algorithm, n_labels, plan.learning_rate)
        new = pairs * np.exp(-0.5 * alpha * (1.0 + lead(trained.probabilities, label)))
        total = rows.total(new.sum(axis=1))
        bound *= total * math.exp(0.5 * alpha)
        pairs = np.where(pairs > 0.0, within(new / total, n_labels), 0.0)
        state.note(number, pairs, bound, loss <= 0.0)
        yield AdaptiveRound(number, NO_TREES, NO_SCORES, (trained,), alpha, loss, 0.5 - loss, bound)
        if loss <= 0.0:
            return


def lead(probabilities: Floats, label: Labels) -> Floats:
    """How much more plausible the right label is than each other: h(x, y) - h(x, l)."""
    return np.asarray(probabilities[np.arange(len(label)), label][:, None] - probabilities)


def pseudo_loss(probabilities: Floats, rows: AdaptiveRows, pairs: Floats) -> float:
    """Half the mean, by the weights of pairs, of 1 - h(x, y) + h(x, l): one half for a learner that tells no labels apart."""
    return 0.5 * rows.total((pairs * (1.0 - lead(probabilities, rows.label))).sum(axis=1)) / rows.total(pairs.sum(axis=1))


def with_plausible_labels(trained: TrainedClassifier, rows: AdaptiveRows, pairs: Floats, weight: Floats) -> TrainedClassifier:
    """Leaves of a tree name the labels that are plausible there: those that are right by more weight than they are wrong.

    Of all answers in 0 .. 1 that these leaves can give, it has the least pseudo-loss. Other learners keep their shares.
    """
    if trained.leaf is None:
        return trained
    for_label = -pairs
    for_label[np.arange(len(weight)), rows.label] += weight
    if rows.count is not None:
        for_label *= rows.count[:, None]
    n_nodes = len(trained.nodes)
    sums = np.stack([np.bincount(trained.leaf, column, n_nodes) for column in for_label.T], axis=1)
    return TrainedClassifier(trained.member, (sums > 0.0).astype(np.float64), trained.leaf)


# Pairs of a row and any label: AdaBoost.MH.


def label_rounds(
    rows: AdaptiveRows, learner: WeakClassifier, plan: AdaptivePlan, count: int, state: AdaptiveState
) -> Iterator[AdaptiveRound]:
    """AdaBoost.MH, Schapire & Singer 1999: a learner for each label says whether a row has it, and all share one table of weights."""
    n_labels = plan.n_labels
    has = (rows.label[:, None] == np.arange(n_labels)).astype(np.int32)
    pairs = np.repeat(rows.weight[:, None] / n_labels, n_labels, axis=1)
    bound = 0.5 * n_labels
    if state.weight is not None:
        pairs, bound = state.weight, state.bound
    for number in range(state.number, count):
        tried = label_learners(rows, learner, has, pairs, key(plan.seed, "labels", number))
        if tried is None:
            state.ended = True
            return
        trained, wrong = tried
        error = rows.total((pairs * wrong).sum(axis=1)) / rows.total(pairs.sum(axis=1))
        alpha = learner_weight(error, plan.algorithm, n_labels, plan.learning_rate)
        total = (1.0 - error) * math.exp(-0.5 * alpha) + error * math.exp(0.5 * alpha)
        bound *= total
        new = pairs * np.where(wrong, math.exp(0.5 * alpha) / total, math.exp(-0.5 * alpha) / total)
        pairs = within(new, n_labels)
        state.note(number, pairs, bound, error <= 0.0)
        yield AdaptiveRound(number, NO_TREES, NO_SCORES, trained, alpha, error, 0.5 - error, bound)
        if error <= 0.0:
            return


def label_learners(
    rows: AdaptiveRows, learner: WeakClassifier, has: Labels, pairs: Floats, name: int
) -> tuple[tuple[TrainedClassifier, ...], NDArray[np.bool_]] | None:
    """A learner for each label, and where they are wrong, (n, K); None where together they are no better than chance."""
    for trial in range(TRIES if learner.draws else 1):
        trained, wrong = [], np.empty(pairs.shape, np.bool_)
        for label in range(pairs.shape[1]):
            weight = pairs[:, label]
            one = learner.learn(has[:, label].copy(), 2, weight / rows.total(weight), key(name, label, trial))
            trained.append(one)
            wrong[:, label] = one.votes != has[:, label]
        if rows.total((pairs * wrong).sum(axis=1)) < 0.5 * rows.total(pairs.sum(axis=1)):
            return tuple(trained), wrong
    return None


def scores_of(algorithm: str, nodes: Floats, weight: float) -> Floats:
    """What a learner adds to the scores of the labels where it gives these shares, (N, K); with MH to that of its own label, (N, 1)."""
    n_labels = nodes.shape[1]
    if algorithm == "samme.r":
        return centred_logs(nodes)
    if algorithm == "m2":
        return weight * nodes
    vote = nodes.argmax(axis=1)
    if algorithm == "mh":
        return np.where(vote == 1, weight, -weight)[:, None]
    return np.where(vote[:, None] == np.arange(n_labels), weight, -weight / (n_labels - 1.0))


# ----------------------------------------------------------------------------------------------------
# Adaptive boosting of regressors as a generator of rounds: AdaBoost.R2, Drucker 1997; and the weighted median of what they predict.


__all__ = ["LEAST_WEIGHT", "RegressionPlan", "RegressionRound", "regression_rounds", "row_losses", "weighted_median"]


@dataclass(frozen=True, eq=False)
class RegressionRound(BoostingRound):
    """One finished round: its learner, the weight of that, and its mean loss by the weights of the rows."""

    member: Any
    weight: float
    error: float


@dataclass(frozen=True)
class RegressionPlan:
    """What a run does."""

    loss: str
    learning_rate: float
    bootstrap: bool  # draw rows by weight; else weights are given to the learner
    seed: int
    draws: bool  # whether the learner itself draws


def regression_rounds(
    y: Floats, rows: AdaptiveRows, learner: WeakRegressor, plan: RegressionPlan, count: int, state: AdaptiveState | None = None
) -> Iterator[RegressionRound]:
    """Boost until there are `count` rounds; it ends sooner at a perfect learner, or where the mean loss is one half or more.

    The first learner is kept whatever its loss: a model must say something. Goes on from `state`, as `adaptive_rounds` does.
    """
    state = AdaptiveState() if state is None else state
    weight = rows.weight if state.weight is None else state.weight
    for number in range(state.number, count):
        for trial in range(TRIES if plan.draws or plan.bootstrap else 1):
            member, predicted = _trained(y, rows, weight, learner, plan, key(plan.seed, "learner", number, trial))
            losses = row_losses(np.abs(predicted - y), rows.count, plan.loss)
            error = rows.total(weight * losses) / rows.total(weight)
            if error < 0.5:
                break
        else:
            state.ended = True
            if number == 0:
                state.note(number, weight, ended=True)
                yield RegressionRound(number, NO_TREES, NO_SCORES, member, WEIGHT_OF_PERFECT, error)
            return
        if error <= 0.0:
            state.note(number, weight, ended=True)
            yield RegressionRound(number, NO_TREES, NO_SCORES, member, WEIGHT_OF_PERFECT, 0.0)
            return
        beta = error / (1.0 - error)
        new = weight * beta ** ((1.0 - losses) * plan.learning_rate)
        weight = within(new / rows.total(new))
        state.note(number, weight)
        yield RegressionRound(number, NO_TREES, NO_SCORES, member, plan.learning_rate * math.log(1.0 / beta), error)


def _trained(y: Floats, rows: AdaptiveRows, weight: Floats, learner: WeakRegressor, plan: RegressionPlan, name: int) -> tuple[Any, Floats]:
    """What a learner has been trained on the present weights, and what it says about all rows."""
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


def weighted_median(predicted: Floats, weights: Floats) -> Floats:
    """For each row of (n, T), the smallest number at which the weights of this and all smaller ones are half of all or more.

    >>> weighted_median(np.array([[1.0, 2.0, 9.0]]), np.array([1.0, 1.0, 3.0])).tolist()
    [9.0]
    """
    order = np.argsort(predicted, axis=1, kind="stable")
    so_far = np.cumsum(weights[order], axis=1)
    position = (so_far >= 0.5 * so_far[:, -1:]).argmax(axis=1)
    row = np.arange(len(predicted))
    return np.asarray(predicted[row, order[row, position]])
