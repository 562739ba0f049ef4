"""Slow, obvious twins of what `kernels/histogram/build_histograms.py` does with shared bytes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def note_codes(by_row: NDArray[np.uint8], places: Sequence[int]) -> list[set[int]]:
    """The codes that occur at some positions of the rows."""
    return [{int(row[position]) for row in by_row} for position in places]


def shared_byte(codes: Sequence[int], occur: Sequence[Sequence[int]]) -> int:
    """The number of a combination of codes, the first one counted fastest, of those that occur in each column."""
    byte, factor = 0, 1
    for code, known in zip(codes, occur, strict=True):
        byte += factor * list(known).index(code)
        factor *= len(known)
    return byte


def spread(sums: Sequence[int], occur: Sequence[Sequence[int]]) -> list[dict[int, int]]:
    """Of the sums of all combinations, those of each code of each column."""
    out: list[dict[int, int]] = []
    factor = 1
    for known in occur:
        total = dict.fromkeys(known, 0)
        for byte, value in enumerate(sums):
            total[known[byte // factor % len(known)]] += value
        out.append(total)
        factor *= len(known)
    return out
