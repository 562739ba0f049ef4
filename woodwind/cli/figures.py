"""Numbers and times as people read them, and anything as JSON has it."""

import dataclasses
import math
from typing import Any


def figure(number: float) -> str:
    """A score: four digits behind the point, fewer where it is large."""
    if not math.isfinite(number):
        return "-"
    size = abs(number)
    digits = 4 if size < 10 else 3 if size < 100 else 2 if size < 1000 else 0
    # A tiny number must not look like nothing.
    return f"{number:.3g}" if 0 < size < 0.001 else f"{number:,.{digits}f}"


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def size_of(n_bytes: int) -> str:
    """A size in the unit that suits it."""
    size, unit = float(n_bytes), "bytes"
    for larger in ("kB", "MB", "GB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"


def plain(value: Any) -> Any:
    """The same in what JSON has: records become objects, and what is not a finite number becomes null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # an array, or a number of one
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
