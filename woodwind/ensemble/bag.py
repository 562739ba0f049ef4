"""Bagging: members that know nothing of each other, trained side by side and handed on in their order (Breiman 1996).

What is drawn for a member is in `ensemble/resampling.py`, how members vote in `ensemble/combine.py`, what
those say of a row that have not seen it in `ensemble/resampling.py`. The page is docs/algorithms/bagging.md.
"""

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from threading import Condition
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import submit
from woodwind.ensemble.progress import gather_until_interrupted, until_requested, with_progress

# ----------------------------------------------------------------------------------------------------
# Ordered map: work of many pieces that threads share, whose outcomes are asked for in order.
#
# Each thread takes the next piece when it is done with one, the caller's own too. To hand over every piece would cost some 50 microseconds,
# a fifth of a small tree.


M = TypeVar("M")


class OrderedMap(Generic[M]):
    """`call(number)` for each number; at most `ahead` of them are begun before the first of them is asked for."""

    def __init__(self, call: Callable[[int], M], numbers: Sequence[int], ahead: int) -> None:
        self._call, self._numbers, self._ahead = call, numbers, ahead
        self._begun = self._asked = 0
        self._end = len(numbers)  # none is begun from here on
        self._found: dict[int, tuple[M | None, BaseException | None]] = {}
        self._changed = Condition()

    def outcome(self, position: int) -> M:
        """What comes of the number at a position, raised if it is an error. The caller works as well until it is there."""
        while True:
            with self._changed:
                if self._asked < position:
                    self._asked = position
                    self._changed.notify_all()
                if position in self._found:
                    break
                if self._begun == self._last:
                    self._changed.wait()
                    continue
                own = self._take()
            self._do(own)
        outcome, error = self._found.pop(position)
        if error is not None:
            raise error
        return outcome  # type: ignore[return-value]

    def help(self) -> None:
        """Work until nothing is left to begin."""
        while True:
            with self._changed:
                while self._begun == self._last < self._end:
                    self._changed.wait()
                if self._begun >= self._end:
                    return
                own = self._take()
            self._do(own)

    def stop(self) -> None:
        """Begin nothing more."""
        with self._changed:
            self._end = self._begun
            self._changed.notify_all()

    @property
    def _last(self) -> int:
        """Pieces that may be begun by now."""
        return min(self._asked + self._ahead, self._end)

    def _take(self) -> int:
        self._begun += 1
        return self._begun - 1

    def _do(self, position: int) -> None:
        outcome = error = None
        try:
            outcome = self._call(self._numbers[position])
        except BaseException as caught:  # noqa: BLE001  (an interrupt waits for its turn too: those before it are kept)
            error = caught
        with self._changed:
            self._found[position] = outcome, error
            if error is not None:
                self._end = self._begun
            if error is not None or position == self._asked:
                self._changed.notify_all()


Floats = NDArray[np.float64]

# So many members are begun for each thread before the first of them is asked for: no thread waits for a slow neighbour.
AHEAD = 3


@dataclass(frozen=True, eq=False)
class BaggedMember(Generic[M]):
    """A finished member."""

    number: int  # members finished, counted from the first of the model
    member: M
    seconds: float  # since the first of this training began
    train: float | None = None
    valid: float | None = None

    def __repr__(self) -> str:
        """A line, without what the member has learned."""
        return f"Trained(number={self.number}, member={type(self.member).__name__}, seconds={self.seconds:.3g})"


def in_order(call: Callable[[int], M], numbers: Sequence[int], sides: int) -> Generator[M, None, None]:
    """`call(number)` for each number, on so many threads at once, in the order of the numbers.

    Whoever stops asking stops the work: what has not begun never does, and what has is waited for.
    """
    if sides <= 1:
        yield from map(call, numbers)
        return
    turns = OrderedMap(call, numbers, AHEAD * sides)
    others = [submit(turns.help, sides - 1) for _ in range(sides - 1)]
    try:
        for position in range(len(numbers)):
            yield turns.outcome(position)
    finally:
        turns.stop()
        for other in others:
            if not other.cancel():
                other.result()


def gathered(
    members: Iterable[M],
    first: int,
    count: int,
    owner: str,
    verbose: bool = False,
    callbacks: Sequence[Callable[[Any], object]] = (),
    noun: str = "member",
) -> list[M]:
    """The members, with a line of progress; after an interrupt those that were finished, with a warning. `noun` is what they are."""
    began = time.perf_counter()
    steps: Iterable[BaggedMember[M]] = (
        BaggedMember(number, member, time.perf_counter() - began) for number, member in enumerate(members, first + 1)
    )
    if callbacks:
        steps = until_requested(steps, callbacks)
    if verbose:
        steps = with_progress(steps, count, owner, noun=noun)
    done, _ = gather_until_interrupted(steps, count, owner, noun=noun)
    return [step.member for step in done]


def sum_of(answers: Iterable[Floats]) -> Floats:
    """The sum of what members predict, added in their order, so that the bits do not depend on who was first."""
    total: Any = None
    for answer in answers:
        total = answer.astype(np.float64) if total is None else np.add(total, answer, out=total)
    return np.asarray(total)
