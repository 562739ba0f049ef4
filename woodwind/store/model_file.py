"""Saving and loading whatever a model file can hold."""

import importlib
import os
from typing import Any

from woodwind.base.errors import ModelFileError
from woodwind.store import container
from woodwind.store.codec import Decoder, Encoder


def save(path: str | os.PathLike[str], thing: Any) -> None:
    """Write a value as a model file: plain values, arrays, and things of the kinds in `kinds.py`."""
    encoder = Encoder()
    value = encoder.value(thing, type(thing).__name__)
    writer = f"woodwind {importlib.import_module('woodwind').__version__}"
    container.write(path, {"writer": writer, "value": value, "things": encoder.things}, encoder.arrays)


def load(path: str | os.PathLike[str], expect: type | tuple[type, ...] | None = None) -> Any:
    """The value of a model file, proved sound; `expect` is what it should be."""
    contents, arrays = container.read(path)
    try:
        made = Decoder(arrays, contents["things"]).finished(contents["value"])
    except container.Damage as damage:
        raise ModelFileError(f"{os.fspath(path)}: {damage}") from damage.__cause__
    if expect is not None and not isinstance(made, expect):
        wanted = " or ".join(one.__name__ for one in (expect if isinstance(expect, tuple) else (expect,)))
        raise ModelFileError(f"{os.fspath(path)}: it holds a {type(made).__name__}, not a {wanted}.")
    return made
