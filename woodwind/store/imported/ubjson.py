"""UBJSON, the binary form of JSON that XGBoost writes: https://ubjson.org, draft 12.

Lists of numbers of one type come out as arrays, anything else as in JSON. Every count is compared with the bytes that are left before
anything is made of that size, and nesting has an end.
"""

from typing import Any

import numpy as np

from woodwind.store.imported.contents import Unreadable, demand

NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
WHOLE = (b"i", b"U", b"I", b"l", b"L")
CONSTANTS: dict[bytes, Any] = {b"Z": None, b"T": True, b"F": False}
DEEPEST = 64


def parsed_ubjson(data: bytes) -> Any:
    """The value that a file holds."""
    reader = _Reader(data)
    value = reader.value(reader.marker(), 0)
    demand(reader.at == len(data), "something stands behind its end")
    return value


class _Reader:
    """A position in the bytes."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        """The next bytes."""
        demand(0 <= size <= len(self.data) - self.at, "it ends before it should")
        self.at += size
        return self.data[self.at - size : self.at]

    def marker(self) -> bytes:
        """The type of the next value; what says nothing is skipped."""
        found = self.take(1)
        while found == b"N":
            found = self.take(1)
        return found

    def number(self, marker: bytes) -> Any:
        """A number of the type of a marker."""
        dtype = np.dtype(NUMBERS[marker])
        return np.frombuffer(self.take(dtype.itemsize), dtype)[0].item()

    def size(self) -> int:
        """A length."""
        marker = self.marker()
        demand(marker in WHOLE, "a length is no whole number")
        found = int(self.number(marker))
        demand(0 <= found <= len(self.data) - self.at, "a length is beyond the end of the file")
        return found

    def text(self) -> str:
        """A text, its length first."""
        return self.take(self.size()).decode("utf-8", "strict")

    def value(self, marker: bytes, depth: int) -> Any:
        """The value of a marker that has been read."""
        demand(depth < DEEPEST, "it is nested too deeply")
        if marker in NUMBERS:
            return self.number(marker)
        if marker in CONSTANTS:
            return CONSTANTS[marker]
        if marker == b"S":
            return self.text()
        if marker == b"C":
            return self.take(1).decode("latin-1")
        if marker == b"[":
            return self.array(depth)
        if marker == b"{":
            return self.object(depth)
        raise Unreadable(f"it has a value of the unknown type {marker!r}")

    def head(self) -> tuple[bytes, int | None]:
        """The type of all values of a container, if it is told, and how many there are."""
        kind = b""
        if self.data[self.at : self.at + 1] == b"$":
            self.take(1)
            kind = self.take(1)
        if self.data[self.at : self.at + 1] != b"#":
            demand(not kind, "a list of one type has no length")
            return kind, None
        self.take(1)
        return kind, self.size()

    def array(self, depth: int) -> Any:
        """A list; an array, if all are numbers of one type."""
        kind, count = self.head()
        if kind:
            demand(kind in NUMBERS, "a list of one type is of no numbers")
            assert count is not None
            dtype = np.dtype(NUMBERS[kind])
            return np.frombuffer(self.take(count * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))
        if count is not None:
            return [self.value(self.marker(), depth + 1) for _ in range(count)]
        found = []
        while (marker := self.marker()) != b"]":
            found.append(self.value(marker, depth + 1))
        return found

    def object(self, depth: int) -> dict[str, Any]:
        """Values by their keys; a key has no marker of its own."""
        kind, count = self.head()
        demand(not kind, "an object has values of one type")
        found: dict[str, Any] = {}
        while len(found) != count if count is not None else self._goes_on():
            key = self.text()
            demand(key not in found, f"the key {key!r} comes twice")
            found[key] = self.value(self.marker(), depth + 1)
        return found

    def _goes_on(self) -> bool:
        if self.marker() == b"}":
            return False
        self.at -= 1
        return True


def is_ubjson(data: bytes) -> bool:
    """Whether the first bytes are those of a UBJSON object, which begins with the length of a key, or with its own size."""
    return data[:1] == b"{" and data[1:2] in (*WHOLE, b"$", b"#")
