"""Scales of charts: from numbers to positions, and the round numbers that are written beside them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from woodwind.report.text import MINUS, THIN, fixed

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """Numbers from low to high stand at positions from begin to end, evenly; high may be the smaller one, for scales that go down."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        """The position of a number."""
        return self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin)

    def inside(self, value: float) -> float:
        """The position of a number, or of the nearest one that the scale has."""
        least, most = min(self.low, self.high), max(self.low, self.high)
        return self.at(min(max(value, least), most))


def span(values: Sequence[float], margin: float = 0.05, least: float = 0.0) -> tuple[float, float]:
    """The smallest and the largest of finite numbers, with some room around them; never the same twice."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    room = (high - low) * margin
    if high - low <= max(least, 1e-12 * max(abs(low), abs(high))):
        room = max(least, abs(low) * 0.05, 1e-12) if low else max(least, 0.5)
    return low - room, high + room


def ticks(low: float, high: float, about: int = 5, *, whole: bool = False) -> list[float]:
    """Round numbers between two numbers, some `about` of them: the step is 1, 2, 2.5 or 5 times a power of ten; a whole one if need be."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    rough = (high - low) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    candidates = [step * power for step in STEPS]
    if whole:
        candidates = [step for step in candidates if step >= 1.0 and step == round(step)] or [1.0]
    step = min(candidates, key=lambda one: abs((high - low) / one - about))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(position * step, 12 - math.floor(math.log10(step))) + 0.0 for position in range(first, last + 1)]


def widened(low: float, high: float, about: int = 5) -> tuple[float, float]:
    """The same ends, moved outwards to the next round numbers."""
    found = ticks(low, high, about)
    step = found[1] - found[0] if len(found) > 1 else high - low
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def labels(values: Sequence[float]) -> list[str]:
    """What is written beside ticks: all with as many digits after the point, large ones shortened (k, M, G)."""
    largest = max((abs(value) for value in values), default=0.0)
    if largest == 0.0:
        return ["0"] * len(values)
    step = min((abs(b - a) for a, b in pairwise(values)), default=largest)
    if largest >= 1e13 or largest < 1e-5:
        return [f"{value:.3g}".replace("-", MINUS) for value in values]
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        unit = 1000.0 if sign == "k" else size
        # A short unit is no gain where it needs more digits than it saves.
        if largest >= size and (_after(step / unit) <= 1 or largest >= 1e7):
            return ["0" if value == 0.0 else fixed(value / unit, _after(step / unit)) + THIN + sign for value in values]
    return [fixed(value, _after(step)) for value in values]


def _after(step: float) -> int:
    """Digits after the point that tell numbers apart that lie so far from each other."""
    for after in range(8):
        if abs(step * 10**after - round(step * 10**after)) < 1e-6 * max(step * 10**after, 1.0):
            return after
    return 8
