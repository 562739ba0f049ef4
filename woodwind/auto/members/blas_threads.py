"""Holding BLAS to one thread, for whoever multiplies many small matrices, on threads of their own or not.

A second thread of BLAS gains little there. Where something else runs it is waited for at every product, which made predictions eight times
slower; and how BLAS shares out a product is nothing that results should depend on.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_users = 0
_limit: Any = None


@lru_cache(maxsize=2)
def _libraries(_with_scipy: bool) -> Any:
    """The libraries that are loaded. They are looked for once more when SciPy has brought its own BLAS."""
    return ThreadpoolController()


def _take_control() -> None:
    """Be the thread that may set the limit: threadpoolctl lets the first one have it and ignores others, and we see to their turns."""
    for library in _libraries("scipy.linalg" in sys.modules).lib_controllers:
        clear = getattr(library, "clear_controlling_thread", None)  # from 3.7 on, of OpenBLAS
        if clear is not None:
            clear(force=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread until the last of those who asked for it is done: the limit is of the whole process."""
    global _users, _limit
    with _lock:
        _users += 1
        if _users == 1:
            _take_control()
            _limit = _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _take_control()
                _limit.restore_original_limits()
                _limit = None
