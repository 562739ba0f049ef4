"""What adaptive boosting of classes has trained: learners, their weights, and the scores that they add up to."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import InterruptWarning
from woodwind.base.notice import notice
from woodwind.base.sound import sound, sound_array, sound_labels
from woodwind.ensemble.adaptive import AdaptivePlan, AdaptiveRound, AdaptiveRows, adaptive_rounds, scores_of
from woodwind.ensemble.adaptive_numbers import NumberRound
from woodwind.ensemble.learner import ClassLearner, Floats, Learnt
from woodwind.ensemble.progress import with_progress
from woodwind.ensemble.stopping import Step
from woodwind.estimators.base_learner import class_answers
from woodwind.tree.forest import Forest
from woodwind.tree.joining import joined, with_scores

R = TypeVar("R", AdaptiveRound, NumberRound)

# Algorithms that ask learners for probabilities.
SOFT = ("samme.r", "m2")
ALGORITHMS = ("discrete", "samme", "mh", *SOFT)


@dataclass(frozen=True, eq=False)
class AdaptiveModel:
    """Rounds of one adaptive boosting of `n_labels` labels; learners are trees in a forest, or estimators."""

    algorithm: str
    n_labels: int
    weights: Floats
    errors: Floats
    edges: Floats
    bounds: Floats
    forest: Forest | None
    shares: Floats | None  # of the nodes of the forest
    estimators: tuple[Any, ...]
    labels: NDArray[Any]  # as the estimators know them

    def check(self) -> "AdaptiveModel":
        """Learners are as many as their weights, and know the labels; gives itself, or raises DataError."""
        sound(self.algorithm in ALGORITHMS, "an algorithm is not known")
        sound(self.n_labels >= 2 and self.weights.size >= 1, "there are no labels, or no learners")
        sound_array(self.weights, (None,), "the weights of learners")
        sound((self.weights >= 0.0).all() and 0.0 < self.weights[0] <= self.weights.sum() < np.inf, "learners have no weight")
        sound_labels(self.labels, "learners")
        sound(len(self.labels) == (2 if self.algorithm == "mh" else self.n_labels), "learners know other labels than they vote for")
        sound((self.forest is None) == (self.shares is None), "trees have no shares of classes")
        if self.forest is not None and self.shares is not None:
            sound(self.forest.n_outputs == self.n_labels, "the trees have other scores than there are labels")
            sound(self.forest.n_trees == self.weights.size * self.per_round, "there are more weights than trees, or fewer")
            sound_array(self.shares, (self.forest.n_nodes, len(self.labels)), "the shares of classes")
            sound(not self.estimators, "there are trees and other learners")
        else:
            sound(len(self.estimators) == self.weights.size * self.per_round, "there are more weights than learners, or fewer")
            sound(all(hasattr(one, "predict") for one in self.estimators), "a learner is no model")
        return self

    @property
    def is_soft(self) -> bool:
        """Whether learners are asked for probabilities."""
        return self.algorithm in SOFT

    @property
    def per_round(self) -> int:
        """Learners of a round."""
        return self.n_labels if self.algorithm == "mh" else 1

    def staged(self, X: Any, threads: int) -> Iterator[Floats]:
        """Scores of the labels after every round, (n, K), over the weights of the learners so far; `X` is a table as learners take it."""
        so_far = np.cumsum(self.weights)
        sums = self._forest_sums(X, threads) if self.forest is not None else self._estimator_sums(X)
        for number, total in enumerate(sums):
            yield total / so_far[number]

    def scores(self, X: Any, threads: int) -> Floats:
        """The same after the last round."""
        if self.forest is not None:
            return np.asarray(self.forest.raw(X, threads) / self.weights.sum())
        return deque(self.staged(X, threads), maxlen=1)[0]

    def _forest_sums(self, X: Any, threads: int) -> Iterator[Floats]:
        assert self.forest is not None
        return self.forest.staged_raw(X, threads, self.per_round)

    def _estimator_sums(self, X: Any) -> Iterator[Floats]:
        total = np.zeros(0)
        for number, weight in enumerate(self.weights):
            members = self.estimators[number * self.per_round : (number + 1) * self.per_round]
            answers = [class_answers(member, X, self.labels, self.algorithm in SOFT) for member in members]
            scores = np.concatenate([scores_of(self.algorithm, said, float(weight)) for said in answers], axis=1)
            total = scores if number == 0 else total + scores
            yield total


def one_margin(scores: Floats) -> Floats:
    """The score of the second of two labels over that of the first."""
    return np.asarray(scores[:, 1] - scores[:, 0])


def train_model(
    rows: AdaptiveRows, learner: ClassLearner, plan: AdaptivePlan, count: int, labels: NDArray[Any], progress: tuple[str, bool]
) -> AdaptiveModel | None:
    """Boost; None where not even the first learner is better than chance. `progress` is the owner, and whether to show a line."""
    owner, verbose = progress
    rounds = adaptive_rounds(rows, learner, plan, count)
    done = gathered(rounds, count, owner, verbose)
    return None if not done else model_of(done, plan, labels)


def gathered(rounds: Iterable[R], count: int, owner: str, verbose: bool) -> list[R]:
    """All rounds; an interrupt ends them with a warning, unless it comes before the end of the first."""
    began = time.perf_counter()
    steps: Iterable[Step] = (Step(one, one.error, None, time.perf_counter() - began) for one in rounds)
    done: list[Any] = []
    try:
        for step in with_progress(steps, count, owner) if verbose else steps:
            done.append(step.round)  # noqa: PERF401  (an interrupt must not lose those before it)
    except KeyboardInterrupt:
        if not done:
            raise
        notice(
            f"{owner} was interrupted after {len(done):,} of {count:,} rounds: the model of the rounds that were finished is kept.",
            InterruptWarning,
        )
    return done


def model_of(rounds: list[AdaptiveRound], plan: AdaptivePlan, labels: NDArray[Any]) -> AdaptiveModel:
    """The model of finished rounds."""
    learnt: list[tuple[Learnt, float]] = [(one, finished.weight) for finished in rounds for one in finished.learnt]
    forest, shares, estimators = None, None, ()
    if isinstance(learnt[0][0].member, Forest):
        values = [scores_of(plan.algorithm, one.nodes, weight) for one, weight in learnt]
        output = [place % plan.n_labels if plan.algorithm == "mh" else -1 for place in range(len(learnt))]
        forest = with_scores(joined([one.member for one, _ in learnt]), values, output, plan.n_labels)
        shares = np.concatenate([one.member.value for one, _ in learnt])
    else:
        estimators = tuple(one.member for one, _ in learnt)
    return AdaptiveModel(
        algorithm=plan.algorithm,
        n_labels=plan.n_labels,
        weights=np.array([one.weight for one in rounds]),
        errors=np.array([one.error for one in rounds]),
        edges=np.array([one.edge for one in rounds]),
        bounds=np.array([one.bound for one in rounds]),
        forest=forest,
        shares=shares,
        estimators=estimators,
        labels=labels,
    )


def tree_of(model: AdaptiveModel, number: int) -> Forest:
    """One tree of the model, with the shares of classes as its values."""
    assert model.forest is not None
    assert model.shares is not None
    one = model.forest.first(number + 1).rest(number)
    begin, end = model.forest.roots[number], model.forest.roots[number + 1]
    value = model.shares[begin:end]
    return replace(one, value=value, output=np.array([-1]), n_outputs=value.shape[1], start=np.zeros(value.shape[1]))
