"""Slow and obvious versions of the kernels in `woodwind/kernels/binning/counting_sketch.py`."""

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from reference.naive_encode import key_of


def tally(pairs: Iterable[tuple[float, int]], shift: int, page_bits: int) -> tuple[dict[int, list[int]], int, int]:
    """The counters of each page by its high bits, the weight of the missing values, and all bits below the shift that came."""
    pages: dict[int, list[int]] = {}
    missing = finer = 0
    for value, weight in pairs:
        if value != value:  # noqa: PLR0124
            missing += weight
            continue
        cell = key_of(value) >> shift
        pages.setdefault(cell >> page_bits, [0] * (1 << page_bits))[cell % (1 << page_bits)] += weight
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        finer |= bits % (1 << shift)
    return pages, missing, finer


def read_pages(pages: Mapping[int, Sequence[int]], page_bits: int) -> dict[int, int]:
    """The cells that hold something, in order, and what they hold."""
    cells: Counter[int] = Counter()
    for page in sorted(pages):
        for position, count in enumerate(pages[page]):
            if count:
                cells[(page << page_bits) + position] = count
    return dict(cells)
