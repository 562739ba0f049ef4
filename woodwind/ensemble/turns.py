"""Turns: work of many pieces that threads share, whose outcomes are asked for in order.

Each thread takes the next piece when it is done with one, the caller's own too. To hand over every piece would cost some 50
microseconds, a fifth of a small tree.
"""

from collections.abc import Callable, Sequence
from threading import Condition
from typing import Generic, TypeVar

M = TypeVar("M")


class Turns(Generic[M]):
    """`call(number)` for each number; at most `ahead` of them are begun before the first of them is asked for."""

    def __init__(self, call: Callable[[int], M], numbers: Sequence[int], ahead: int) -> None:
        self._call, self._numbers, self._ahead = call, numbers, ahead
        self._begun = self._asked = 0
        self._end = len(numbers)  # none is begun from here on
        self._found: dict[int, tuple[M | None, BaseException | None]] = {}
        self._changed = Condition()

    def outcome(self, place: int) -> M:
        """What comes of the number at a place, raised if it is an error. The caller works as well until it is there."""
        while True:
            with self._changed:
                if self._asked < place:
                    self._asked = place
                    self._changed.notify_all()
                if place in self._found:
                    break
                if self._begun == self._last:
                    self._changed.wait()
                    continue
                own = self._take()
            self._do(own)
        outcome, error = self._found.pop(place)
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

    def _do(self, place: int) -> None:
        outcome = error = None
        try:
            outcome = self._call(self._numbers[place])
        except BaseException as caught:  # noqa: BLE001  (an interrupt waits for its turn too: those before it are kept)
            error = caught
        with self._changed:
            self._found[place] = outcome, error
            if error is not None:
                self._end = self._begun
            if error is not None or place == self._asked:
                self._changed.notify_all()
