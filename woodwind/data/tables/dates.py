"""Dates, times of day and durations as numbers.

All become seconds. A date also gives those of its parts that vary in training: a tree would need many splits of the
seconds to find what is special about Mondays.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_PARTS: dict[str, Callable[..., Any]] = {
    "month": pc.month,
    "weekday": pc.day_of_week,  # Monday is 0
    "day": pc.day,
    "day_of_year": pc.day_of_year,
    "hour": pc.hour,
    "minute": pc.minute,
}
PARTS = tuple(_PARTS)

_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}

# Rows that are looked at together when the parts that vary are found.
_ROWS = 2**17


def is_moment(kind: pa.DataType) -> bool:
    """Whether the type is a point in time."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def is_zone(name: str) -> bool:
    """Whether a time zone of this name is known."""
    try:
        pc.hour(pa.array([0]).cast(pa.timestamp("s", name)))
    except (pa.ArrowException, ValueError):
        return False
    return True


def seconds(values: pa.ChunkedArray) -> NDArray[np.float64]:
    """Seconds since 1970, since midnight, or of a duration; NaN where missing."""
    kind = values.type
    if pa.types.is_date(kind):
        values, per_second = values.cast(pa.timestamp("s")), 1.0
    else:
        per_second = _PER_SECOND[kind.unit]
    whole = values.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    # A timestamp in nanoseconds is above 2**53: whole seconds first would keep no more, for a double of seconds
    # since 1970 tells 0.2 microseconds apart, which no table needs better.
    return np.asarray(whole.to_numpy().astype(np.float64) / per_second)


def part(values: pa.ChunkedArray, name: str) -> NDArray[np.float32]:
    """One part of each date, in the time zone of the column; NaN where missing."""
    if pa.types.is_date(values.type) and name in ("hour", "minute"):
        return np.where(values.is_null().to_numpy(), np.nan, 0).astype(np.float32)
    return np.asarray(_PARTS[name](values).to_numpy().astype(np.float32))


def varying_parts(values: pa.ChunkedArray) -> tuple[str, ...]:
    """The parts that have two different values or more; the day of the year only where months vary, for else it is the day of the month."""
    found = {}
    for name in PARTS:
        low, high = np.inf, -np.inf
        for begin in range(0, len(values), _ROWS):
            block = part(values.slice(begin, _ROWS), name)
            block = block[~np.isnan(block)]
            low, high = min(low, block.min(initial=np.inf)), max(high, block.max(initial=-np.inf))
            if low < high:
                break
        found[name] = low < high
    return tuple(name for name in PARTS if found[name] and (name != "day_of_year" or found["month"]))


@dataclass(frozen=True, eq=False)
class SecondsReader:
    """Reads dates, times or durations as seconds."""

    values: pa.ChunkedArray

    def __call__(self, begin: int, end: int) -> NDArray[np.float64]:
        """Rows begin to end."""
        return seconds(self.values.slice(begin, end - begin))


@dataclass(frozen=True, eq=False)
class PartReader:
    """Reads one part of dates."""

    values: pa.ChunkedArray
    name: str

    def __call__(self, begin: int, end: int) -> NDArray[np.float32]:
        """Rows begin to end."""
        return part(self.values.slice(begin, end - begin), self.name)
