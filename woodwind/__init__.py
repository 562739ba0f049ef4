"""Woodwind: ensemble learning on tables.

Importing this loads nothing heavy. A public name is looked up when it is first used, and its package is imported then. The names are listed
in `__init__.pyi`, beside this file.
"""

import ast
import gc
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

__version__ = "0.1.0.dev0"


def _listed() -> dict[str, str]:
    """Public names, and the modules that they are imported from."""
    text = __loader__.get_data(os.path.join(os.path.dirname(__file__), "__init__.pyi"))
    found = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in found for alias in node.names}


PUBLIC_HOMES = _listed()
# The package of the plots needs matplotlib, which may be absent, so it is not among the names for a star.
__all__ = sorted({*PUBLIC_HOMES, "__version__"} - {"plots"})  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in PUBLIC_HOMES:
        raise AttributeError(f"module 'woodwind' has no attribute {name!r}")
    home = PUBLIC_HOMES[name]
    with _without_collecting():
        # Packages that are public as a whole are imported from here.
        value: object = importlib.import_module(f"{home}.{name}") if home == __name__ else getattr(importlib.import_module(home), name)
    globals()[name] = value  # found once, an ordinary name from then on
    return value


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Importing makes half a million things and no garbage: looking for some takes a tenth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def __dir__() -> list[str]:
    return sorted(__all__)
