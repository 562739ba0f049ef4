"""Sizes as people read them, and anything as JSON has it."""

import dataclasses
import json
import math
from typing import Any


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


def json_line(content: Any) -> str:
    """A value of `plain` as a line of JSON, in signs that every terminal shows: json escapes all others but DEL."""
    return json.dumps(content, allow_nan=False).replace("\x7f", "\\u007f")
