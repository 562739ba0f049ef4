"""What a row carries while a tree grows: its number and the upper bits of its statistics, in one word.

    row number 32 bits | g 16 bits | h 16 bits

What is rounded off, at most 17 bits of g and 15 of h, can be kept beside it: both together are the statistics, bit for bit.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.layout import PACKED3, UNROUNDED_GRADIENT
from woodwind.kernels.runtime.jit import inlined, inner


@inner
def with_stats(row: Any, stat: Any) -> Any:
    """A row number with the upper 15 bits (and sign) of its gradient and of its hessian, rounded."""
    gradient = min(((stat >> 32) + 16384) >> 15, 32767)
    hessian = ((stat & 0xFFFFFFFF) + 16384) >> 15
    return (np.int64(row) << 32) | ((gradient & 0xFFFF) << 16) | hessian


@inner
def rounded_off(row: Any, stat: Any) -> Any:
    """What a row with its statistics has lost of them: g 17 bits | h 15 bits, both with signs."""
    gradient = (stat >> 32) - (((row << 32) >> 48) << 15)
    hessian = (stat & 0xFFFFFFFF) - ((row & 0xFFFF) << 15)
    return np.int32((gradient << 15) | (hessian & 0x7FFF))


@inner
def whole_gradient(row: Any, rest: Any) -> Any:
    """The gradient of a row, nothing rounded off."""
    return (((row << 32) >> 48) << 15) + (np.int64(rest) >> 15)


@inner
def whole_hessian(row: Any, rest: Any) -> Any:
    """The hessian of a row, nothing rounded off."""
    return ((row & 0xFFFF) << 15) + ((np.int64(rest) << 49) >> 49)


@inlined
def added_value(row: Any, layout: int, unrounded: Any) -> Any:
    """What a row with its statistics adds to a cell: see `build_histograms` for the layouts; `unrounded` has those of all rows."""
    if layout >= UNROUNDED_GRADIENT:
        return unrounded[np.uint64(row >> 32)]
    gradient = (row << 32) >> 48
    hessian = row & 0xFFFF
    if layout == PACKED3:
        return (gradient << 36) + (((hessian + 4) >> 3) << 12) + 1
    return (gradient << 32) + hessian
