"""Countdown: how much time is left, for work that goes on in equal parts."""

import time


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
