"""When to stop: consumers of the rounds of a training, composed as iterators are.

    rounds = until_no_split(booster.rounds(1000))
    watched = until_no_better(scored(rounds, watch), patience=50)
    steps, interrupted = gather_until_interrupted(watched, 1000)

The generator of rounds knows nothing of all this; a consumer knows nothing of the others.
"""

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import InterruptWarning
from woodwind.base.notice import notice
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


Callback = Callable[[TrainingStep], object]
S = TypeVar("S", bound=Countable)


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


def until_requested(steps: Iterable[S], callbacks: Sequence[Callable[[S], object]]) -> Iterator[S]:
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
        return self.evaluate(finished.raw[self.rows])


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
    """Add what trees say about the rows of `codes` to their scores, in the order of the trees."""
    leaf: NDArray[np.int32] = np.empty(codes.n_rows, np.int32)
    for tree in trees:
        if isinstance(codes, Ranks):
            walk_ranks(tree, codes, leaf, threads)
        else:
            walk_rows(tree, codes, leaf, threads)
        add_tree_scores(raw, tree, leaf, threads, numbers)


# ----------------------------------------------------------------------------------------------------
# A line about how far a training has come, on standard error.

# A terminal's line is rewritten this often; elsewhere, where every line stays, lines are rarer.
TERMINAL_SECONDS = 0.1
PLAIN_SECONDS = 5.0


def with_progress(
    steps: Iterable[S],
    count: int,
    owner: str,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.perf_counter,
    noun: str = "round",
) -> Iterator[S]:
    """Pass the steps on; say after the first, after the last and now and then in between how far they have come.

    `count` is the number of the last round if nothing ends the training sooner. `noun` is what is counted.
    """
    out = sys.stderr if stream is None else stream
    if out is None or out.closed:
        yield from steps
        return
    rewritten = out.isatty()
    pause = TERMINAL_SECONDS if rewritten else PLAIN_SECONDS
    began, told, best = clock(), -pause, float("inf")
    first = step = None
    try:
        for step in steps:
            first = step.number if first is None else first
            best = best if step.valid is None else min(best, step.valid)
            if clock() - began - told >= pause:
                told = clock() - began
                _write(out, _line(f"{owner}: {noun}", step, first, count, best, told), "\r" if rewritten else "\n")
            yield step
    finally:
        if step is not None:
            _write(out, _line(f"{owner}: {noun}", step, first or 1, count, best, clock() - began, ended=True), "\n")


def _line(what: str, step: Countable, first: int, count: int, best: float, seconds: float, ended: bool = False) -> str:
    parts = [f"{what} {step.number:,} of {count:,}"]
    if step.valid is not None:
        parts.append(f"validation loss {step.valid:.5g} (best {best:.5g})")
    elif step.train is not None:
        parts.append(f"training loss {step.train:.5g}")
    parts.append(in_words(seconds))
    if not ended:
        done = step.number - first + 1
        parts.append(f"at most {in_words(seconds / done * (count - step.number))} left" if step.number < count else "done")
    return ", ".join(parts)


def in_words(seconds: float) -> str:
    """A duration to about two digits.

    >>> in_words(0.314), in_words(75.0), in_words(7500.0)
    ('0.3 s', '1 min 15 s', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _write(out: TextIO, line: str, end: str) -> None:
    """Put a line where the last one stood, or below it. One that is full, or that nobody reads, is no reason to end a training."""
    with suppress(OSError, ValueError):
        out.write(f"{line:<100}{end}" if end == "\r" or out.isatty() else line + end)
        out.flush()
