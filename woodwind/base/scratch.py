"""Scratch: memory straight from the system for work that is soon over; the system has it back when the last array on it is gone."""

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Less than this is left to NumPy, which has it at hand.
LEAST_BYTES = 2**16

# What is asked of the system at a time. Pages that nothing is written to are never made.
PIECE_BYTES = 2**24

# Arrays begin where a line of the cache does, and the first one where a large page does.
LINE, LARGE_PAGE = 2**6, 2**21

# Where there are such flags, memory is shared with forked children unless one says otherwise.
_PRIVATE: dict[str, Any] = {"flags": mmap.MAP_PRIVATE} if hasattr(mmap, "MAP_PRIVATE") else {}
_ON_LARGE_PAGES: int | None = getattr(mmap, "MADV_HUGEPAGE", None)


class Scratch:
    """Zeros for the arrays of one piece of work, next to each other.

    The GNU C library keeps what a thread has freed at the end of its memory, up to 64 MB, and cannot be told to return it: tables of
    a megabyte that worker threads count in would stay resident for as long as the process lives. Together they are on large pages,
    where the system has them: a page of 4 kB takes a virtual machine 2 microseconds to make, 0.5 ms for every megabyte.
    """

    def __init__(self) -> None:
        self._left = np.empty(0, np.uint8)

    def zeros(self, count: int, kind: Any) -> NDArray[Any]:
        """So many zeros of a kind."""
        dtype = np.dtype(kind)
        n_bytes = count * dtype.itemsize
        if n_bytes < LEAST_BYTES:
            return np.zeros(count, dtype)
        room = -(-n_bytes // LINE) * LINE
        if room > self._left.size:
            self._left = piece(max(room, PIECE_BYTES))
        taken, self._left = self._left[:n_bytes], self._left[room:]
        return taken.view(dtype)


def piece(n_bytes: int) -> NDArray[np.uint8]:
    """So many bytes of zeros from the system, from the beginning of a large page on; from NumPy where the system refuses."""
    try:
        memory = mmap.mmap(-1, n_bytes + LARGE_PAGE, **_PRIVATE)
    except OSError:
        return np.zeros(n_bytes, np.uint8)
    if _ON_LARGE_PAGES is not None:
        with suppress(OSError):  # a system that has none
            memory.madvise(_ON_LARGE_PAGES)
    whole = np.frombuffer(memory, np.uint8)
    start = -whole.ctypes.data % LARGE_PAGE
    return whole[start : start + n_bytes]
