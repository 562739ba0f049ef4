"""How many values are in each cell, counted without a sort.

Counters stand in pages: a page holds the 2**page_bits neighbouring cells that share the higher bits, and a table with open
addressing finds it by those bits. Continuous values fill a few hundred pages of some hundred cells, values of few levels
are a page each. Page 0 is that of missing values. The slow twins are in `tests/reference/naive_tally.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.binning.encode import cells_of
from woodwind.kernels.runtime.intrinsics import prefetch
from woodwind.kernels.runtime.jit import inner, kernel

# Values that are looked up together, and whose counters are asked for, before any is counted: a column's counters were in
# the second cache when its last rows were counted, but those of other columns have been there since (3.1 ns a value, 4.2 without).
BLOCK = 256

# The key that missing values are given: above that of infinity, which ends in 52 zeros, and below what would overflow.
NO_NUMBER = np.uint64(2**64 - 2)

LOW_HALF, FACTOR = np.uint64(0xFFFFFFFF), np.uint64(0x9E3779B1)
NONE, ONE, TWO, S32 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(32)


class Grain(NamedTuple):
    """What a cell, a page and the table are, in bits."""

    shift: Any  # uint64: low bits of a key that a cell leaves out
    page_bits: Any  # uint64: low bits of a cell that tell its place in its page; with the shift, at most 51
    slot_bits: Any  # uint64: the table has two to this slots, more than there are pages


@inner
def slot_of(page: Any, grain: Any) -> Any:
    """Where the search for a page begins: neighbouring pages are spread evenly. No product exceeds 64 bits."""
    return ((((page ^ (page >> S32)) & LOW_HALF) * FACTOR) & LOW_HALF) >> (S32 - grain.slot_bits)


@inner
def find_counters(cells: Any, length: Any, grain: Any, out_slots: Any, out_seen: Any, counts: Any, out_places: Any) -> Any:
    """The counters of `length` cells, into out_places uint64[length]; returns how many have one, fewer if there is no room for a page."""
    last_slot, inside = (ONE << grain.slot_bits) - ONE, (ONE << grain.page_bits) - ONE
    used, room = out_seen[0], np.uint64(counts.shape[0]) >> grain.page_bits
    for i in range(length):
        out_places[i] = slot_of(cells[i] >> grain.page_bits, grain)
    for i in range(length):
        page, slot = (cells[i] >> grain.page_bits) + ONE, out_places[i]
        while out_slots[TWO * slot] != page:
            if out_slots[TWO * slot] != NONE:
                slot = (slot + ONE) & last_slot
                continue
            if used == room:
                out_seen[0] = used
                return i
            out_slots[TWO * slot], out_slots[TWO * slot + ONE] = page, used
            used += ONE
        out_places[i] = (out_slots[TWO * slot + ONE] << grain.page_bits) | (cells[i] & inside)
        prefetch(counts, out_places[i])
    out_seen[0] = used
    return length


@kernel
def tally(values: Any, weight: Any, begin: int, grain: Any, out_slots: Any, out_seen: Any, out_counts: Any) -> int:
    """Count rows from `begin` on into the pages; returns the first row that found no room for its page, or the number of rows.

    values     float32[n] or float64[n]
    weight     int64[n], or None for one each
    out_slots  uint64[2 * slots]: the high bits of a page plus one, and its number; zeros where there is none
    out_seen   uint64[2]: number of pages; all bits below the shift that a number had
    out_counts int32[c] or int64[c], c a multiple of the size of a page: the counters of page 0, of page 1, and so on
    """
    n, shift = np.uint64(values.shape[0]), grain.shift
    wide, cells, places = np.empty(BLOCK, np.float64), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    bits, below, finer, missing = wide.view(np.uint64), (ONE << shift) - ONE, out_seen[1], NO_NUMBER >> shift
    if out_seen[0] == NONE:
        page = missing >> grain.page_bits
        out_slots[TWO * slot_of(page, grain)] = page + ONE
        out_seen[0] = ONE
    first = np.uint64(begin)
    while first < n:
        length = min(np.uint64(BLOCK), n - first)
        cells_of(values, first, length, shift, wide, cells)
        for i in range(length):
            is_number = wide[i] == wide[i]
            cells[i] = cells[i] if is_number else missing
            finer |= (bits[i] & below) if is_number else NONE
        found = find_counters(cells, length, grain, out_slots, out_seen, out_counts, places)
        for i in range(found):
            out_counts[places[i]] += 1 if weight is None else weight[first + i]
        first += found
        if found < length:
            break
    out_seen[1] = finer
    return int(first)


@kernel
def read_pages(pages: Any, numbers: Any, page_bits: Any, counts: Any, out_keys: Any, out_counts: Any) -> int:
    """The cells that hold something and their counts, in the order of `pages`; the number of cells is returned.

    pages uint64[p]: their high bits; numbers int64[p]: which counters are theirs; counts as `out_counts` of `tally`;
    out_keys uint64 and out_counts int64 have one place more than there are cells.
    """
    place, size = np.uint64(0), ONE << page_bits
    for k in range(np.uint64(pages.shape[0])):
        key, source = pages[k] << page_bits, np.uint64(numbers[k]) << page_bits
        for i in range(size):
            count = counts[source + i]
            out_keys[place] = key + i
            out_counts[place] = count
            place += np.uint64(count > 0)
    return int(place)
