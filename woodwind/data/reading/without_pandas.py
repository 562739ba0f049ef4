"""Keeping pandas out of processes that have no use for it.

pyarrow looks for pandas the first time that it turns anything into an array, and imports it if it is installed: half a second, and a
hundred megabytes on disk to read. It looks once, and remembers that there was nothing.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

import pyarrow as pa


class _NoPandas(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Raise for pandas; nothing is known about anything else."""
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def keep_pandas_out() -> None:
    """Let pyarrow look for pandas while it cannot be found, unless it has been imported already.

    For processes of our own, such as the command line, at their very start: afterwards pyarrow can neither take nor make frames of pandas.
    Never in a library call: the process belongs to the caller there.
    """
    if "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
