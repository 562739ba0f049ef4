"""Columns of few values that share a byte: one addition sums all of them.

Two columns of three values have nine pairs of values between them. A byte that says which pair a row has is summed like a column, and
the sums of the single columns follow from those of the pairs: see `tree/code_layouts.py` for who shares, and where the bytes stand.
Columns of few values are also the slowest to add one by one: rows that follow each other add to the same cell, and wait for it.
Twins: `tests/reference/naive_shared_bytes.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.runtime.records import Ints, Tree

U = np.uint64

# Columns of SHARERS.
S_AT = 0  # where the cells of its byte begin
S_SIZE = 1  # how many of them are used
S_START = 2  # where the cells of the column begin in a histogram
S_COLUMNS = 3


@kernel
def note_codes(by_row: Any, features: Any, begin: int, end: int, out: Any) -> None:
    """Mark the codes that rows begin to end have in some features: by_row uint8[n, stride], features int64[k], out uint8[k, 256]."""
    for i in range(U(begin), U(end)):
        for k in range(len(features)):
            out[k, by_row[i, features[k]]] = 1


@kernel
def write_shared(by_row: Any, features: Any, parts: Any, place: Any, begin: int, end: int) -> None:
    """Write the byte that some features share into rows begin to end of by_row uint8[n, stride], at `place`.

    parts uint8[k, 256]: what each code of each of the features adds to the byte.
    """
    for i in range(U(begin), U(end)):
        byte = np.uint8(0)
        for k in range(len(features)):
            byte += parts[k, by_row[i, features[k]]]
        by_row[i, place] = byte


@inner
def spread(tree: Tree, shared: Any, table: Ints) -> None:
    """Add the sums of shared bytes to the cells of the columns that share them."""
    sharers = memory.sharers(tree)
    codes = memory.sharer_codes(tree)
    for s in range(len(sharers)):
        start = sharers[s, S_START]
        at = sharers[s, S_AT]
        for i in range(sharers[s, S_SIZE]):
            table[U(start + np.int64(codes[s, i]))] += shared[U(at + i)]
