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
from typing import Protocol, TypeVar

from woodwind.base.errors import InterruptWarning
from woodwind.base.notice import notice
from woodwind.ensemble.boost import Round
from woodwind.kernels.histogram.leaves import largest_size
from woodwind.tree.assemble import ValuedTree

# A step this much smaller than the largest one so far is what rounding leaves: a training that fits its rows perfectly goes
# on for ever with such steps.
NEGLIGIBLE = 2.0**-36


class Watch(Protocol):
    """Looks at each finished round; both numbers are losses, of which less is better."""

    def __call__(self, finished: Round) -> tuple[float | None, float | None]:
        """Loss of training rows and of validation rows; None for what is not watched."""


@dataclass(frozen=True, eq=False)
class Step:
    """A finished round and what is known about it: what consumers and callbacks are given."""

    round: Round
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
        return f"Step(number={self.number}{losses}, seconds={self.seconds:.3g})"


class Countable(Protocol):
    """What progress and interrupts need to know of a step: a round of boosting, or a member of a bag."""

    @property
    def number(self) -> int:
        """Steps finished, counted from the first of the model."""

    @property
    def train(self) -> float | None:
        """Loss of rows that were trained on, if it is known."""

    @property
    def valid(self) -> float | None:
        """Loss of rows that were held out, if it is known."""


Callback = Callable[[Step], object]
S = TypeVar("S", bound=Countable)


def until_no_split(rounds: Iterable[Round], patience: int = 1, largest: float = 0.0) -> Iterator[Round]:
    """End once so many rounds in a row are idle: no tree has a split, or no score moves any more. Those are not passed on.

    Where rows or features are drawn, one such round may be bad luck: then a patience above one is due.
    `largest` is the largest step of the rounds before these.
    """
    waiting: list[Round] = []
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


def largest_step(trees: Iterable[ValuedTree]) -> float:
    """The largest value of some trees, in size."""
    return max((largest_size(tree.value) for tree in trees), default=0.0)


def scored(rounds: Iterable[Round], watch: Watch | None = None, clock: Callable[[], float] = time.perf_counter) -> Iterator[Step]:
    """Each round with its losses and the time that has passed."""
    began = clock()
    for finished in rounds:
        train, valid = (None, None) if watch is None else watch(finished)
        yield Step(finished, train, valid, clock() - began)


def until_no_better(steps: Iterable[Step], patience: int, tol: float = 0.0, share: float | None = None) -> Iterator[Step]:
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


def until_told(steps: Iterable[S], callbacks: Sequence[Callable[[S], object]]) -> Iterator[S]:
    """Call each function with every step; end after a step for which one of them returns True."""
    for step in steps:
        yield step
        answers = [call(step) for call in callbacks]  # all are called, whatever the first of them says
        if True in answers:
            return


def gather_until_interrupted(steps: Iterable[S], count: int, owner: str = "Woodwind", noun: str = "round") -> tuple[list[S], bool]:
    """All steps, and whether Ctrl-C has ended them: then with a warning, so that the rounds finished make a model.

    An interrupt before the end of the first step goes on to the caller. `noun` is what is counted.
    """
    done: list[S] = []
    try:
        for step in steps:
            done.append(step)  # noqa: PERF402  (an interrupt must not lose those before it)
    except KeyboardInterrupt:
        if not done:
            raise
        notice(
            f"{owner} was interrupted after {done[-1].number:,} of {count:,} {noun}s: the model of the {noun}s that were finished is kept. "
            "With warm_start=True another fit would go on from there.",
            InterruptWarning,
        )
        return done, True
    return done, False


def best_of(losses: Sequence[float]) -> int:
    """Place of the smallest loss, the first of equals; a loss that is no number is never the best."""
    return min(range(len(losses)), key=lambda place: (losses[place] != losses[place], losses[place]))
