"""Facts as JSON can hold them: plain numbers, short text, and nothing for what is not a number."""

import math
from typing import Any

import numpy as np

LONGEST = 200  # characters of a name or a value that are kept


def plain(value: Any) -> Any:
    """The same in plain values: arrays as lists, numbers of NumPy as numbers; NaN and infinities as None."""
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return [plain(one) for one in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str) or value is None else brief(value)


def brief(value: Any, most: int = LONGEST) -> str:
    """A name or a value as text of bounded length."""
    if isinstance(value, float):
        text = f"{value:.6g}"
    elif isinstance(value, bytes):
        text = value[:most].decode("utf-8", "replace")
    else:
        text = str(value)
    return text if len(text) <= most else text[: most - 1] + "…"
