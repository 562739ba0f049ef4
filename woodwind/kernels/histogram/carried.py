"""Statistics of rows as they are sent to another process: what histograms take of them, four bytes for each row."""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.layout import with_stats
from woodwind.kernels.runtime.jit import kernel


@kernel
def carry(stats: Any, out: Any) -> None:
    """What rows carry of their statistics while a tree grows: stats int64[n], out int32[n]."""
    for row in range(len(stats)):
        out[row] = np.int32(with_stats(0, stats[row]))


@kernel
def uncarry(words: Any, out: Any) -> None:
    """Statistics that rows carry the same of: words int32[n], out int64[n]."""
    for row in range(len(words)):
        word = np.int64(words[row])
        out[row] = ((word >> 16) << 47) + ((word & 0xFFFF) << 15)
