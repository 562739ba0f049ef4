"""The clock of a job: how much time is left, and whether somebody wants it to end.

Every phase of a job asks it. What no model can do without (reading the table, learning what its columns are) ends the job by an error once
the time is over; members are stopped where they are; what is good to know but not needed (suspicions, facts) has a share of the time, is
left out where that is used up, and says so.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from woodwind.base.errors import JobError

# Of the time that is given, this share and so many seconds are kept for what comes after the last training: blending, facts, the file.
# Of a few seconds it is no more than a third.
KEPT_SHARE, KEPT_SECONDS, MOST_KEPT = 0.12, 1.0, 0.35
# What the search for oddities in the data may take.
SUSPICION_SHARE = 0.08
# What no model can do without may be late by so many seconds and such a share: a model that is a little late is worth more than none.
LATE, LATE_SHARE = 1.0, 0.05


@dataclass(eq=False)
class Clock:
    """Counts down from a budget of seconds; without one there is always time."""

    budget: float | None = None
    now: Callable[[], float] = time.perf_counter
    started: float | None = None  # by `now`; None: when the clock is made
    stopped: bool = field(default=False, init=False)  # somebody has asked for the end
    reserved: float = field(default=0.0, init=False)  # seconds that are kept beyond the usual, for what is known to take long in the end
    estimating: float = field(default=0.0, init=False)  # seconds that are kept to estimate what the model of all members is worth

    def __post_init__(self) -> None:
        if self.started is None:
            self.started = self.now()

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        assert self.started is not None
        return self.now() - self.started

    @property
    def left(self) -> float:
        """Seconds until the very end; none once somebody has asked for it."""
        if self.stopped:
            return 0.0
        return math.inf if self.budget is None else self.budget - self.spent

    @property
    def left_for_training(self) -> float:
        """Seconds that members may use."""
        if self.stopped:
            return 0.0
        return math.inf if self.budget is None else self.left - self.kept - self.estimating

    @property
    def kept(self) -> float:
        """Seconds that are kept for what comes after the last training; none without a budget."""
        if self.budget is None:
            return 0.0
        return min(KEPT_SHARE * self.budget + KEPT_SECONDS, MOST_KEPT * self.budget) + self.reserved

    def is_time(self, share: float) -> Callable[[], bool]:
        """A function that says whether there is time left, for something that may take such a share of the whole time from now on."""
        end = math.inf if self.budget is None else self.spent + share * self.budget
        return lambda: self.spent < end and self.left > 0.0

    def require(self, doing: str) -> None:
        """Raise JobError if the time is over. `doing` says during what, in words such as "while the table was read"."""
        if self.budget is not None and self.left < -LATE - LATE_SHARE * self.budget:
            raise JobError(f"The time was over {doing}, before anything could be learned. Give more time, or fewer rows or columns.")

    def stop(self) -> None:
        """Let everybody come to an end."""
        self.stopped = True


@contextmanager
def ending_on_interrupt(clock: Clock) -> Iterator[None]:
    """The first Ctrl-C stops the clock, so that what is finished makes a model; the second one interrupts as usual.

    Only the main thread of a process can be told of it; elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def once(_number: int, _frame: Any) -> None:
        clock.stop()
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)

    signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)


# ----------------------------------------------------------------------------------------------------
# Countdown: how much time is left, for work that goes on in equal parts.


class OutOfTimeError(Exception):
    """There is no time for something: a part of the facts, or a fold of a member."""


class Countdown:
    """Seconds from now on."""

    def __init__(self, seconds: float) -> None:
        self.began = time.perf_counter()
        self.end = self.began + seconds

    @property
    def left(self) -> float:
        """Seconds that are left; negative when time is over."""
        return self.end - time.perf_counter()

    def over(self, done: int) -> bool:
        """Whether there is no time for another part, when so many parts of the same size are done."""
        now = time.perf_counter()
        return now + (now - self.began) / max(done, 1) * (done > 0) > self.end

    def share(self, part: float) -> "Countdown":
        """A clock for a part of the time that is left."""
        return Countdown(max(self.left, 0.0) * part)
