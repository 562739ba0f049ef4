"""The bytes of a file of another library, and values out of nested JSON, each checked for its type before it is used."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ModelFileError, NotStorableError, WoodwindError

# A file that is larger is refused before it is read; nothing that is made of a file is much larger than the file.
MOST_BYTES = 1 << 30
# Columns and scores that a file may speak of: numbers that are stated and not written out could be anything.
MOST_COLUMNS = 1 << 20
MOST_OUTPUTS = 1 << 16


class Unreadable(Exception):
    """Why a file of another library cannot be read, before its name is known."""


def demand(holds: Any, why: str) -> None:
    """The file cannot be read unless this holds."""
    if not holds:
        raise Unreadable(why)


@contextmanager
def refusing(name: str, library: str) -> Iterator[None]:
    """Whatever is wrong with a file becomes a ModelFileError that names the file and its library."""
    try:
        with np.errstate(all="ignore"):  # sums of forged numbers may overflow on the way to their refusal
            yield
    except (ModelFileError, NotStorableError):
        raise
    except Unreadable as why:
        raise ModelFileError(f"{name}: this model of {library} cannot be read: {why}.") from None
    except WoodwindError as error:
        raise ModelFileError(f"{name}: this model of {library} cannot be read: {error}") from error
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        words = f"{type(error).__name__}: {str(error)[:300]}"
        raise ModelFileError(f"{name}: this model of {library} cannot be read, its parts do not fit each other ({words}).") from error


def bytes_of(source: Any, library: str) -> tuple[bytes, str]:
    """The contents of a file, given by its path or as bytes, and what it is called in messages."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), "the given bytes"
    name = os.fspath(source)
    try:
        size = os.path.getsize(name)
        if size > MOST_BYTES:
            raise ModelFileError(f"{name}: it has {size:,} bytes, and a model of {library} may have {MOST_BYTES:,}.")
        with open(name, "rb") as file:
            return file.read(MOST_BYTES + 1), str(name)
    except OSError as error:
        raise ModelFileError(f"{name}: the file cannot be read: {error.strerror or error}.") from error


def parsed_json(data: bytes) -> Any:
    """The values of a JSON text."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is no JSON ({error})") from None


# ----------------------------------------------------------------------------------------------------
# Values by their keys. Numbers stand in JSON as such or as text, and in UBJSON lists of them as arrays.


def child(given: Any, *keys: str) -> Any:
    """The value below some keys."""
    for key in keys:
        demand(isinstance(given, dict) and key in given, f"it has no {'.'.join(keys)!r}")
        given = given[key]
    return given


def integer(given: Any, key: str, low: int, high: int, default: int | None = None) -> int:
    """A whole number within bounds, as such or as text."""
    value = given.get(key, default) if isinstance(given, dict) else default
    try:
        number = int(value) if isinstance(value, int | str | np.integer) and not isinstance(value, bool) else None
    except ValueError:
        number = None
    demand(number is not None and low <= number <= high, f"{key!r} is no whole number from {low} to {high}")
    assert number is not None
    return number


def text(given: Any, key: str) -> str:
    """A text."""
    value = child(given, key)
    demand(isinstance(value, str), f"{key!r} is no text")
    return str(value)


def items(given: Any, *keys: str) -> list[Any]:
    """A list of anything."""
    value = child(given, *keys)
    if isinstance(value, np.ndarray):
        return list(value.tolist())
    demand(isinstance(value, list), f"{'.'.join(keys)!r} is no list")
    return list(value)


def texts(given: Any, *keys: str) -> list[str]:
    """A list of texts."""
    found = items(given, *keys)
    demand(all(isinstance(one, str) for one in found), f"{'.'.join(keys)!r} has something that is no text")
    return found


def numbers(given: Any, key: str, size: int | None = None) -> NDArray[np.float64]:
    """A list of numbers, of so many if that is known."""
    return _array(child(given, key), key, "biuf", np.float64, size)


def integers(given: Any, key: str, size: int | None = None) -> NDArray[np.int64]:
    """A list of whole numbers, of so many if that is known."""
    return _array(child(given, key), key, "biu", np.int64, size)


def _array(value: Any, key: str, kinds: str, dtype: Any, size: int | None) -> NDArray[Any]:
    demand(isinstance(value, list | np.ndarray), f"{key!r} is no list")
    array = np.asarray(value) if len(value) else np.zeros(0, dtype)
    demand(array.ndim == 1 and array.dtype.kind in kinds, f"{key!r} has something that is no {'whole ' if dtype is np.int64 else ''}number")
    demand(size is None or array.size == size, f"{key!r} has {array.size} entries where there should be {size}")
    if array.dtype.kind == "u":
        demand(dtype is np.float64 or array.max(initial=0) <= np.iinfo(np.int64).max, f"{key!r} has a number that is too large")
    return array.astype(dtype)
