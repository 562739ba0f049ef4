"""Rows drawn by the size of their derivatives: how large each is, how many are larger than what, and who is drawn.

Sizes are float32 and not negative, so that their bits, taken as integers, have the same order: counting by bits finds the size that a
given number of rows exceed, without sorting. Counts are integers, and a row is drawn by the hash of its number alone: the same rows for any
number of threads. Twins: `tests/reference/naive_gradient_sampling.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import kernel
from woodwind.kernels.runtime.keys import BLOCK, S11, hash_block

# Sizes by their upper 16 bits, of which the first is the sign and always zero; then by the lower 16.
UPPER, LOWER = 1 << 15, 1 << 16
UNIT = 2.0**-53  # the upper 53 bits of a hash times this are a number from 0 to 1


@kernel
def gradient_sizes(gradient: Any, hessian: Any, ratio: float, begin: int, end: int, out: Any) -> None:
    """Root of the sum of gradient**2 + ratio * hessian**2 over the outputs of each row: float64[n, K] to out float32[n]."""
    for i in range(begin, end):
        total = 0.0
        for k in range(gradient.shape[1]):
            total += gradient[i, k] * gradient[i, k] + ratio * hessian[i, k] * hessian[i, k]
        out[i] = np.sqrt(total)


@kernel
def count_upper(bits: Any, begin: int, end: int, out: Any) -> None:
    """Count sizes by their upper 16 bits: bits int32[n], out int64[UPPER]."""
    for i in range(begin, end):
        out[bits[i] >> 16] += 1


@kernel
def count_lower(bits: Any, upper: int, begin: int, end: int, out: Any) -> None:
    """Count those with these upper bits by their lower 16: out int64[LOWER]."""
    for i in range(begin, end):
        if bits[i] >> 16 == upper:
            out[bits[i] & 0xFFFF] += 1


@kernel
def draw_by_size(key: int, size: Any, chances: Any, begin: int, end: int, out_rows: Any, out_factor: Any) -> int:
    """Draw rows of begin .. end and give their number. Chances are (certain, slope, least): a row of at least the size `certain` is drawn
    always, another with the probability max(slope * size, least).

    They stand in out_rows int32[n] from begin on; out_factor float64[n] is one over the probability of every row.
    """
    certain, slope, least = chances
    words = np.empty(BLOCK, np.uint64)
    drawn = begin
    for first in range(begin, end, BLOCK):
        n_rows = min(BLOCK, end - first)
        block = words[:n_rows]
        hash_block(key, first, block)
        for i in range(n_rows):
            row = first + i
            probability = 1.0 if size[row] >= certain else min(max(slope * size[row], least), 1.0)
            out_rows[drawn] = row
            out_factor[row] = 1.0 / probability
            drawn += 1 if np.float64(block[i] >> S11) * UNIT < probability else 0
    return drawn - begin
