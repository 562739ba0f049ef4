"""Holding BLAS to one thread, for whoever multiplies many small matrices on threads of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import threadpool_limits

_lock = Lock()
_users = 0
_limits: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread until the last of those who asked for it is done: the limit is of the whole process."""
    global _users, _limits
    with _lock:
        _users += 1
        if _users == 1:
            _limits = threadpool_limits(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limits.restore_original_limits()
                _limits = None
