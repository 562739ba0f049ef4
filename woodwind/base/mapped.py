"""Mapped arrays: in a file without a name, which the system keeps in memory as far as there is room, and which is gone with the process.

Nobody else can open such a file, so that nobody can cut it: pages of a named file that somebody cuts end the process that has mapped them.
Its room on the disk is taken before it is used. A disk that is full is an error then, where it would end the process later.
"""

import errno
import math
import mmap
import os
import tempfile
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError


class MappedRoom:
    """Room for arrays on the disk of a folder."""

    def __init__(self, folder: str | os.PathLike[str], owner: str) -> None:
        self._folder, self._owner = os.fspath(folder), owner
        self._mapped: list[weakref.ref[mmap.mmap]] = []

    def empty(self, shape: Sequence[int], kind: Any) -> NDArray[Any]:
        """An array of zeros, of which no more is in memory than the system likes; its room on the disk is free again when it is gone."""
        dtype = np.dtype(kind)
        size = math.prod(shape) * dtype.itemsize
        if size == 0 or not hasattr(os, "posix_fallocate"):
            return np.zeros(tuple(shape), dtype)
        try:
            descriptor, path = tempfile.mkstemp(prefix=".woodwind-", dir=self._folder)
            try:
                os.unlink(path)
                os.posix_fallocate(descriptor, 0, size)
                mapped = mmap.mmap(descriptor, size)
            finally:
                os.close(descriptor)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            remedy = "Make room there, or give a folder on a larger disk." if full else "Give a folder that can be written to."
            raise DataError(
                f"{self._owner}: {size / 1e6:,.0f} MB for codes cannot be had in {self._folder!r}: {error.strerror or error}. {remedy}"
            ) from error
        self._mapped.append(weakref.ref(mapped))
        return np.frombuffer(mapped, dtype).reshape(tuple(shape))

    def let_go(self) -> None:
        """Nobody needs the arrays just now: the process has none of their pages, and the system may keep them or not."""
        for reference in self._mapped:
            mapped = reference()
            if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)  # of a shared file nothing is lost by it
