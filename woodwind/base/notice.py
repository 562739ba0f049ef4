"""Warnings that point at the line of the user, however deep in the package they arise."""

import os
import sys
import warnings
from pathlib import Path

PACKAGE = str(Path(__file__).parent.parent) + os.sep


def notice(message: str, category: type[Warning]) -> None:
    """Warn at the first caller outside of the package: a user cannot do anything about a line of ours."""
    level = 1
    frame = sys._getframe()
    while frame.f_code.co_filename.startswith(PACKAGE) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
