"""What a row carries while a tree grows: its number and the upper bits of its statistics, in one word.

    row number 32 bits | g 16 bits | h 16 bits
"""

from typing import Any

import numpy as np

from woodwind.kernels.jit import inlined, inner
from woodwind.kernels.layout import PACKED3


@inner
def with_stats(row: Any, stat: Any) -> Any:
    """A row number with the upper 15 bits (and sign) of its gradient and of its hessian, rounded."""
    gradient = min(((stat >> 32) + 16384) >> 15, 32767)
    hessian = ((stat & 0xFFFFFFFF) + 16384) >> 15
    return (np.int64(row) << 32) | ((gradient & 0xFFFF) << 16) | hessian


@inlined
def packed_value(row: Any, layout: Any) -> Any:
    """What a row with its statistics adds to a packed cell: see kernels/accumulate.py for the layouts."""
    gradient = (row << 32) >> 48
    hessian = row & 0xFFFF
    if layout == PACKED3:
        return (gradient << 36) + (((hessian + 4) >> 3) << 12) + 1
    return (gradient << 32) + hessian
