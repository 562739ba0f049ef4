"""Soundness: what a model must hold to before anybody walks through it. Models that come from files are asked; trained ones need not be."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError


def sound(holds: Any, what: str) -> None:
    """Raise DataError unless the statement holds, everywhere if it is an array."""
    if not np.all(holds):
        raise DataError(f"what is there is damaged: {what}")


def sound_array(array: NDArray[Any], shape: tuple[int | None, ...], what: str) -> None:
    """The array has this shape; None stands for any length. Floats in it are finite."""
    right = array.ndim == len(shape) and all(wanted is None or wanted == given for wanted, given in zip(shape, array.shape, strict=True))
    sound(right, f"{what} has the shape {array.shape}")
    if array.dtype.kind == "f":
        sound(np.isfinite(array), f"{what} is not finite")
