"""Few or many rows in the order of a code. A key is (code << 32) + place.

Up to `FEW` rows: the place of each is the number of those before it, all counted at once. Some more: into as many buckets as there are
rows, then by insertion, which takes 6 ns a row as long as codes are spread evenly; where they are not, and for many rows, digit by digit.
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inlined, inner

U = np.uint64

# So few rows are put in order by counting: their number takes so many bits of a key.
FEW = 32
FEW_BITS = 5
LAST_KEY = 0x7FFFFFFF
# Codes of tables with fewer rows than this leave these bits free.
MOST_CODES = (1 << (31 - FEW_BITS)) - 1
# Buckets for more rows than this would not fit into the fastest cache.
MOST_BUCKETS = 4096
# So many steps of insertion for each row are taken before sorting goes on digit by digit.
PATIENCE = 8
DIGIT = 11


@inlined
def count_among(few: Any, own: Any, size: Any) -> Any:
    """How many of the first keys are smaller than one; with a size that the compiler knows it takes a handful of instructions."""
    smaller = np.int32(0)
    for j in range(size):
        smaller = np.int32(smaller + np.int32(few[j] < own))
    return smaller


@inlined
def count_smaller(few: Any, room: Any, i: Any) -> Any:
    """How many keys are smaller than key i, if there is room for 8, 16 or 32 of them; `LAST_KEY` stands where there are none."""
    own = few[i]
    if room <= U(8):
        return count_among(few, own, U(8))
    return count_among(few, own, U(16)) if room == U(16) else count_among(few, own, U(FEW))


@inner
def sort_by_digits(keys: Any, other: Any, size: Any, low: Any, high: Any, counts: Any) -> None:
    """Sort keys whose codes are low..high, from the lowest digit to the highest, with room for as many in `other`."""
    mask = U((1 << DIGIT) - 1)
    least = U(low) << U(32)
    shift = U(32)
    swapped = False
    while (U(high - low) >> (shift - U(32))) > U(0):
        source = other if swapped else keys
        out = keys if swapped else other
        for d in range(mask + U(1)):
            counts[d] = 0
        for i in range(size):
            counts[((U(source[i]) - least) >> shift) & mask] += np.int32(1)
        total = np.int32(0)
        for d in range(mask + U(1)):
            count = counts[d]
            counts[d] = total
            total += count
        for i in range(size):
            digit = ((U(source[i]) - least) >> shift) & mask
            out[U(np.int64(counts[digit]))] = source[i]
            counts[digit] += np.int32(1)
        swapped = not swapped
        shift += U(DIGIT)
    if swapped:
        for i in range(size):
            keys[i] = other[i]


@inlined
def sort_nearly(keys: Any, size: Any, most: Any) -> Any:
    """Insertion, for keys that are almost in order; False if it gave up after so many steps."""
    steps = np.int64(0)
    for j in range(U(1), size):
        moved = keys[j]
        i = U(j)
        while i > U(0) and keys[i - U(1)] > moved:
            keys[i] = keys[i - U(1)]
            i -= U(1)
        keys[i] = moved
        steps += np.int64(U(j) - i)
        if steps > most:
            return False
    return True


@inlined
def sort_keys(keys: Any, other: Any, size: Any, low: Any, high: Any, counts: Any) -> None:
    """Sort keys whose codes are low..high; `other` has room for as many, `counts` for one more, and for the values of a digit."""
    if size <= U(MOST_BUCKETS):
        factor = (np.int64(size) << 32) // (high - low + 1)
        for b in range(size):
            counts[b] = 0
        for i in range(size):
            counts[U((((keys[i] >> 32) - low) * factor) >> 32)] += np.int32(1)
        total = np.int32(0)
        for b in range(size):
            count = counts[b]
            counts[b] = total
            total += count
        for i in range(size):
            bucket = U((((keys[i] >> 32) - low) * factor) >> 32)
            other[U(np.int64(counts[bucket]))] = keys[i]
            counts[bucket] += np.int32(1)
        for i in range(size):
            keys[i] = other[i]
        if sort_nearly(keys, size, np.int64(PATIENCE) * np.int64(size)):
            return
    sort_by_digits(keys, other, size, low, high, counts)
