"""Warnings that point at the line of the user, however deep in the package they arise; and lines on standard error."""

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from woodwind.base.formatting import printable

PACKAGE = str(Path(__file__).parent.parent) + os.sep

_silence = threading.local()


@contextmanager
def no_notices() -> Iterator[None]:
    """On this thread, nobody is warned: for whoever tells it otherwise. Filters of `warnings` are of the whole process."""
    before = getattr(_silence, "on", False)
    _silence.on = True
    try:
        yield
    finally:
        _silence.on = before


def notice(message: str, category: type[Warning]) -> None:
    """Warn at the first caller outside of the package: a user cannot do anything about a line of ours."""
    if getattr(_silence, "on", False):
        return
    level = 1
    frame = sys._getframe()
    while frame.f_code.co_filename.startswith(PACKAGE) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(printable(message), category, stacklevel=level)


def write_error_stream(text: str) -> None:
    """Write to standard error what a training predicts for itself. Nobody who has closed it, or does not read on, loses the training."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
