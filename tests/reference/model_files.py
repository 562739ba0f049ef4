"""Model files taken apart and put together again with checksums that hold: what a forger would do, and not what a bad disk does."""

import hashlib
import json
import os
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from woodwind.store.codec import ValueEncoder
from woodwind.store.container import FIRST, MAGIC, START, VERSION, padded, write


@dataclass
class OpenFile:
    """The header of a model file, and the bytes of its arrays, free to be changed."""

    header: dict[str, Any]
    blocks: list[bytes]

    @classmethod
    def of(cls, data: bytes) -> "OpenFile":
        """Take a sound file apart."""
        length = FIRST.unpack_from(data)[3]
        header = json.loads(data[START : START + length])
        places = [*(block["at"] for block in header["blocks"]), len(data)]
        return cls(header, [data[begin:end] for begin, end in pairwise(places)])

    def replaced(self, number: int, data: bytes) -> None:
        """Other bytes for an array; its sum is made to hold when the file is put together."""
        self.blocks[number] = data

    def data(self, sums: bool = True, places: bool = True) -> bytes:
        """The file again; with the sums of its arrays and their positions made to hold, or as the header says."""
        text = json.dumps(self.header).encode()
        # Positions of arrays may take a few more digits than now.
        length = padded(len(text) + 16 * len(self.blocks))
        at = START + length
        for entry, block in zip(self.header["blocks"], self.blocks, strict=False):
            if places:
                entry["at"] = at
            if sums:
                entry["sha256"] = hashlib.sha256(block[: size_of(entry, block)]).hexdigest()
            at += padded(len(block))
        filled = [block.ljust(padded(len(block)), b"\0") for block in self.blocks]
        return put_together(json.dumps(self.header).encode().ljust(length), filled)


def save_unproved(path: str | os.PathLike[str], thing: Any) -> None:
    """Write what nobody would write: `store.save` refuses what could not be opened again."""
    encoder = ValueEncoder()
    value = encoder.value(thing, type(thing).__name__)
    write(path, {"writer": "nobody", "value": value, "things": encoder.things}, encoder.arrays)


def size_of(entry: dict[str, Any], block: bytes) -> int:
    """Bytes of an array without what fills it up, as its entry says; all where the entry says nonsense."""
    try:
        size = int(entry["dtype"].rpartition("[")[0][-1:] or 0) if "[" in entry["dtype"] else int(entry["dtype"][2:])
        size *= 4 if entry["dtype"][1] == "U" else 1
        for length in entry["shape"]:
            size *= length
    except (KeyError, IndexError, TypeError, ValueError):
        return len(block)
    return size


def put_together(header: bytes, blocks: list[bytes], version: int = VERSION) -> bytes:
    """A file of any header, with a checksum that holds."""
    header = header.ljust(padded(len(header)))
    first = FIRST.pack(MAGIC, version, 0, len(header), START + len(header) + sum(map(len, blocks)))
    return b"".join([first, hashlib.sha256(first + header).digest(), header, *blocks])
