"""The one decorator that compiles: `kernel`."""

from typing import Any, Callable, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers for this machine on first use."""
    compiled: F = numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    return compiled
