"""Bagging: members that know nothing of each other, trained side by side and handed on in their order (Breiman 1996).

What is drawn for a member is in `ensemble/drawing.py` and `ensemble/noise.py`, how members vote in `ensemble/ballots.py`, what those
say of a row that have not seen it in `ensemble/out_of_bag.py`.
The page is docs/algorithms/bagging.md.
"""

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import submit
from woodwind.ensemble.progress import with_progress
from woodwind.ensemble.stopping import gather_until_interrupted, until_told
from woodwind.ensemble.turns import Turns

Floats = NDArray[np.float64]
M = TypeVar("M")

# So many members are begun for each thread before the first of them is asked for: no thread waits for a slow neighbour.
AHEAD = 3


@dataclass(frozen=True, eq=False)
class Trained(Generic[M]):
    """A finished member."""

    number: int  # members finished, counted from the first of the model
    member: M
    seconds: float  # since the first of this training began
    train: float | None = None
    valid: float | None = None

    def __repr__(self) -> str:
        """A line, without what the member has learnt."""
        return f"Trained(number={self.number}, member={type(self.member).__name__}, seconds={self.seconds:.3g})"


def in_order(call: Callable[[int], M], numbers: Sequence[int], sides: int) -> Generator[M, None, None]:
    """`call(number)` for each number, on so many threads at once, in the order of the numbers.

    Whoever stops asking stops the work: what has not begun never does, and what has is waited for.
    """
    if sides <= 1:
        yield from map(call, numbers)
        return
    turns = Turns(call, numbers, AHEAD * sides)
    others = [submit(turns.help, sides - 1) for _ in range(sides - 1)]
    try:
        for place in range(len(numbers)):
            yield turns.outcome(place)
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
    steps: Iterable[Trained[M]] = (
        Trained(number, member, time.perf_counter() - began) for number, member in enumerate(members, first + 1)
    )
    if callbacks:
        steps = until_told(steps, callbacks)
    if verbose:
        steps = with_progress(steps, count, owner, noun=noun)
    done, _ = gather_until_interrupted(steps, count, owner, noun=noun)
    return [step.member for step in done]


def sum_of(answers: Iterable[Floats]) -> Floats:
    """The sum of what members say, added in their order, so that the bits do not depend on who was first."""
    total: Any = None
    for answer in answers:
        total = answer.astype(np.float64) if total is None else np.add(total, answer, out=total)
    return np.asarray(total)
