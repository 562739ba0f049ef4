"""Steps of any training as they come: a line about how far it has come, callbacks that may end it, and what an interrupt leaves."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Protocol, TextIO, TypeVar

from woodwind.base.errors import InterruptWarning
from woodwind.base.notice import notice

# A terminal's line is rewritten this often; elsewhere, where every line stays, lines are rarer.
TERMINAL_SECONDS = 0.1
PLAIN_SECONDS = 5.0


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


S = TypeVar("S", bound=Countable)


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
