"""When to stop: consumers of the rounds of a training, composed as iterators are.

    rounds = until_no_split(booster.rounds(1000))
    watched = until_no_better(scored(rounds, watch), patience=50)
    steps, interrupted = gather_until_interrupted(watched, 1000)

The generator of rounds knows nothing of all this; a consumer knows nothing of the others.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.codes import Codes
from woodwind.data.binning.ranks import Ranks
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.ensemble.boosting.boost import BoostingRound
from woodwind.kernels.tree.leaves import largest_size
from woodwind.shards.shards import Shards, walk_rows
from woodwind.tree.exact_grower import walk_ranks
from woodwind.tree.grown_tree import ValuedTree, add_tree_scores

# A step this much smaller than the largest one so far is what rounding leaves: a training that fits its rows perfectly goes
# on for ever with such steps.
NEGLIGIBLE = 2.0**-36


class Watch(Protocol):
    """Looks at each finished round; both numbers are losses, of which less is better."""

    def __call__(self, finished: BoostingRound) -> tuple[float | None, float | None]:
        """Loss of training rows and of validation rows; None for what is not watched."""


@dataclass(frozen=True, eq=False)
class TrainingStep:
    """A finished round and what is known about it: what consumers and callbacks are given."""

    round: BoostingRound
    train: float | None  # loss of rows that were trained on
    valid: float | None  # loss of rows that were held out
    seconds: float  # since the first round began

    @property
    def number(self) -> int:
        """Rounds finished, counted from the first of the model."""
        return self.round.number + 1

    def __repr__(self) -> str:
        """A line, without trees and scores: callbacks=[print] prints one for every round."""
        losses = "".join(f", {name}={loss:.6g}" for name, loss in (("train", self.train), ("valid", self.valid)) if loss is not None)
        return f"TrainingStep(number={self.number}{losses}, seconds={self.seconds:.3g})"


Callback = Callable[[TrainingStep], object]


def until_no_split(rounds: Iterable[BoostingRound], patience: int = 1, largest: float = 0.0) -> Iterator[BoostingRound]:
    """End once so many rounds in a row are idle: no tree has a split, or no score moves any more. Those are not passed on.

    Where rows or features are drawn, one such round may be bad luck: then a patience above one is due.
    `largest` is the largest step of the rounds before these.
    """
    waiting: list[BoostingRound] = []
    for finished in rounds:
        step = largest_step(finished.trees)
        largest = max(largest, step)
        if step <= NEGLIGIBLE * largest or all(len(tree.feature) == 1 for tree in finished.trees):
            waiting.append(finished)
            if len(waiting) >= patience:
                return
            continue
        yield from waiting
        waiting.clear()
        yield finished


def largest_step(trees: Sequence[ValuedTree]) -> float:
    """The largest value of some trees, in size."""
    sizes = (largest_size(tree.value) for tree in trees)
    linear = (float(tree.linear.largest.max()) for tree in trees if tree.linear is not None)
    return max((*sizes, *linear), default=0.0)


def scored(
    rounds: Iterable[BoostingRound], watch: Watch | None = None, clock: Callable[[], float] = time.perf_counter
) -> Iterator[TrainingStep]:
    """Each round with its losses and the time that has passed."""
    began = clock()
    for finished in rounds:
        train, valid = (None, None) if watch is None else watch(finished)
        yield TrainingStep(finished, train, valid, clock() - began)


def until_no_better(steps: Iterable[TrainingStep], patience: int, tol: float = 0.0, share: float | None = None) -> Iterator[TrainingStep]:
    """End after `patience` steps in a row whose validation loss is no more than `tol` below the best before them.

    With a `share`, a step by that share of the best loss is progress as well, where it is less than `tol`.
    """
    best, waited = math.inf, 0
    for step in steps:
        yield step
        loss = math.inf if step.valid is None else step.valid
        if loss < best - (tol if share is None else min(tol, share * abs(best))):
            best, waited = loss, 0
        else:
            waited += 1
        if waited >= patience:
            return


def best_of(losses: Sequence[float]) -> int:
    """Position of the smallest loss, the first of equals; a loss that is no number is never the best."""
    return min(range(len(losses)), key=lambda position: (losses[position] != losses[position], losses[position]))


# ----------------------------------------------------------------------------------------------------
# Looking at rows while a model is trained: those held out, and some of those trained on.


Floats = NDArray[np.float64]
Evaluator = Callable[[Floats], float]  # scores of some rows to a loss


@dataclass(frozen=True, eq=False)
class WatchedInside:
    """Rows of the table that the booster has: their scores are among its own."""

    rows: NDArray[np.int64]
    evaluate: Evaluator

    def __call__(self, finished: BoostingRound) -> float:
        """Loss of the rows."""
        return self.evaluate(np.take(finished.raw, self.rows, axis=0))  # ten times as fast as finished.raw[self.rows] where a row has two


@dataclass(frozen=True, eq=False)
class WatchedOutside:
    """Rows of another table: trees are added to their scores as they come."""

    codes: Codes | SparseCodes | Ranks | Shards
    raw: Floats
    evaluate: Evaluator
    threads: int = 1
    numbers: Floats | None = None  # (n, F) of the rows, where leaves are linear

    def __call__(self, finished: BoostingRound) -> float:
        """Loss of the rows, with the trees of the round."""
        add_trees(self.raw, finished.added, self.codes, self.threads, self.numbers)
        return self.evaluate(self.raw)


@dataclass(frozen=True, eq=False)
class RoundWatcher:
    """What is watched in every round."""

    train: Callable[[BoostingRound], float] | None = None
    valid: Callable[[BoostingRound], float] | None = None
    also: Sequence[Callable[[BoostingRound], float]] = ()  # looked at, and nothing more

    def __call__(self, finished: BoostingRound) -> tuple[float | None, float | None]:
        """Loss of training rows and of validation rows."""
        for look in self.also:
            look(finished)
        return self.train and self.train(finished), self.valid and self.valid(finished)


def add_trees(
    raw: Floats, trees: Iterable[ValuedTree], codes: Codes | SparseCodes | Ranks | Shards, threads: int = 1, numbers: Floats | None = None
) -> None:
    """Add what trees predict for the rows of `codes` to their scores, in the order of the trees."""
    leaf: NDArray[np.int32] = np.empty(codes.n_rows, np.int32)
    for tree in trees:
        if isinstance(codes, Ranks):
            walk_ranks(tree, codes, leaf, threads)
        else:
            walk_rows(tree, codes, leaf, threads)
        add_tree_scores(raw, tree, leaf, threads, numbers)
