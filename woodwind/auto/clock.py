"""The clock of a job: how much time is left, and whether somebody wants it to end."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

# Of the time that is given, this share and so many seconds are kept for what comes after the last training: blending, facts, the file.
KEPT_SHARE, KEPT_SECONDS = 0.12, 1.0


@dataclass(eq=False)
class Clock:
    """Counts down from a budget of seconds; without one there is always time."""

    budget: float | None = None
    now: Callable[[], float] = time.perf_counter
    started: float | None = None  # by `now`; None: when the clock is made
    stopped: bool = field(default=False, init=False)  # somebody has asked for the end

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
        return math.inf if self.budget is None else self.left - KEPT_SHARE * self.budget - KEPT_SECONDS

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
