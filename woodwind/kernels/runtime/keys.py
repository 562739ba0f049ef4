"""Randomness by key: the hash of `base/random_streams.py`, compiled, draws without replacement, and rows drawn. All give the same bits.

A row is drawn or not by the hash of its number alone, so a draw does not depend on threads, on the order of the rows or on where they are.
Twins: `tests/reference/naive_draw.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inner, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
FIRST_LEVEL = 2  # items of a tree's key: 0 and 1 name the children of the root, the following its levels


@inner
def hashed(key: Any, item: Any) -> Any:
    """Hash of an item of a key: 63 random bits."""
    word = np.uint64(key) + np.uint64(item + 1) * GOLDEN
    word = (word ^ (word >> np.uint64(30))) * FIRST_FACTOR
    word = (word ^ (word >> np.uint64(27))) * SECOND_FACTOR
    return np.int64((word ^ (word >> np.uint64(31))) >> np.uint64(1))


@inner
def keep_some(items: Any, count: Any, most: Any, key: Any) -> Any:
    """Bring `most` of items[:count], drawn without replacement, to the front; returns how many there are now."""
    if most >= count:
        return count
    for k in range(most):
        other = k + hashed(key, k) % (count - k)
        items[k], items[other] = items[other], items[k]
    return most


@inner
def put_in_order(items: Any, begin: Any, count: Any) -> None:
    """Put items[begin : begin + count] in ascending order: by insertion, of many at falling distances first (Shell 1959).

    Plain insertion moves each past half of those before it: of 8,000 features, that took ten times as long as to find their splits.
    """
    gap = 1
    while gap < count // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(begin + gap, begin + count):
            moved = items[k]
            i = k
            while i >= begin + gap and items[i - gap] > moved:
                items[i] = items[i - gap]
                i -= gap
            items[i] = moved
        gap //= 3


# ----------------------------------------------------------------------------------------------------
# Rows drawn by key.
#
# Arithmetic modulo 2**64 is done in halves that never overflow: then it is the same with the compiler off, where an overflow would be
# reported, and costs little (a multiplication of 64-bit integers is three of halves to a vector unit anyway).

S11, S27, S30, S31, S32 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)

# The constants of the hash, lower and upper half.
GOLDEN_HALVES = np.uint64(0x7F4A7C15), np.uint64(0x9E3779B9)
FIRST_HALVES = np.uint64(0x1CE4E5B9), np.uint64(0xBF58476D)
SECOND_HALVES = np.uint64(0x133111EB), np.uint64(0x94D049BB)

# Hashes that are made at once: 4 kB, in the first-level cache.
BLOCK = 512

# `last_hash` counts hashes by 16 of their bits at a time: the counts take 256 kB, and four rounds use up all 64 bits.
BUCKETS, S16, S48 = 1 << 16, np.uint64(16), np.uint64(48)
BUCKET = np.uint64(BUCKETS - 1)


@inner
def times(a: Any, b: Any) -> Any:
    """a * b modulo 2**64, for a uint64 and a constant in halves."""
    low = (a & LOW_HALF) * b[0]
    high = (low >> S32) + ((a >> S32) * b[0] & LOW_HALF) + ((a & LOW_HALF) * b[1] & LOW_HALF)
    return ((high & LOW_HALF) << S32) | (low & LOW_HALF)


@inner
def plus(a: Any, b: Any) -> Any:
    """a + b modulo 2**64, for two uint64."""
    low = (a & LOW_HALF) + (b & LOW_HALF)
    high = (a >> S32) + (b >> S32) + (low >> S32)
    return ((high & LOW_HALF) << S32) | (low & LOW_HALF)


@inner
def hash_item(key: Any, item: Any) -> Any:
    """Hash of an item of a key, both uint64: 64 random bits, as `random_streams.hashes`."""
    word = plus(times(item + np.uint64(1), GOLDEN_HALVES), key)
    word = times(word ^ (word >> S30), FIRST_HALVES)
    word = times(word ^ (word >> S27), SECOND_HALVES)
    return word ^ (word >> S31)


@inner
def hash_block(key: int, first: int, out: Any) -> None:
    """Hash the items first .. first + m of a key into out uint64[m]."""
    state, start = np.uint64(key), np.uint64(first)
    for i in range(out.shape[0]):
        out[i] = hash_item(state, start + np.uint64(i))


@inner
def draw_share_range(key: int, begin: int, end: int, threshold: int, out_rows: Any) -> int:
    """Draw the rows of begin .. end whose hash, without its lowest 11 bits, is below the threshold; gives their number.

    key int64; threshold from `random_streams.share_threshold`; out_rows int32[>= end - begin], ascending.
    """
    words, bound = np.empty(BLOCK, np.uint64), np.uint64(threshold)
    drawn = 0
    for first in range(begin, end, BLOCK):
        n_rows = min(BLOCK, end - first)
        block = words[:n_rows]
        hash_block(key, first, block)
        # Written always, kept when drawn: a branch would be guessed wrong for every other row.
        for i in range(n_rows):
            out_rows[drawn] = first + i
            drawn += 1 if block[i] >> S11 < bound else 0
    return drawn


@kernel
def draw_share(key: int, n: int, threshold: int, out_rows: Any) -> int:
    """Draw a share of the rows 0 .. n, see `draw_share_range`: out_rows int32[>= n]."""
    return draw_share_range(key, 0, n, threshold, out_rows)


@inner
def last_hash(key: int, n: int, m: int) -> Any:
    """A bound that exactly m of the hashes of rows 0 .. n do not exceed, 1 <= m <= n.

    The hashes are counted by their upper bits, then those of the bucket in which the bound lies by their next bits, until the bound
    is between two buckets: two or three rounds for a million rows. No two hashes are equal, so there is such a bound.
    """
    words, sizes = np.empty(BLOCK, np.uint64), np.empty(BUCKETS, np.int32)
    shift, prefix, below = S48, np.uint64(0), 0
    while True:
        for j in range(BUCKETS):
            sizes[j] = 0
        for first in range(0, n, BLOCK):
            block = words[: min(BLOCK, n - first)]
            hash_block(key, first, block)
            for i in range(block.shape[0]):
                digits = block[i] >> shift
                if digits >> S16 == prefix:
                    sizes[digits & BUCKET] += 1
        bucket = 0
        while below + sizes[bucket] < m:
            below += sizes[bucket]
            bucket += 1
        prefix = (prefix << S16) | np.uint64(bucket)
        if below + sizes[bucket] == m:
            return (prefix << shift) | ((np.uint64(1) << shift) - np.uint64(1))
        shift -= S16


@kernel
def draw_exact(key: int, n: int, m: int, out_rows: Any) -> int:
    """Draw exactly m of the rows 0 .. n without replacement, those with the smallest hashes: out_rows int32[>= m], ascending."""
    if m == 0:
        return 0
    words, last = np.empty(BLOCK, np.uint64), last_hash(key, n, m)
    drawn = 0
    for first in range(0, n, BLOCK):
        block = words[: min(BLOCK, n - first)]
        hash_block(key, first, block)
        for i in range(block.shape[0]):
            if block[i] <= last:
                out_rows[drawn] = first + i
                drawn += 1
    return drawn


@kernel
def count_bootstrap(key: int, n: int, m: int, out_counts: Any) -> None:
    """How often each of the rows 0 .. n is among m draws with replacement: out_counts int32[n], zeroed here.

    Draw j is floor(hash(key, j) * n / 2**64), the product taken in two halves; n is at most 2**31.
    """
    words, bound = np.empty(BLOCK, np.uint64), np.uint64(n)
    for i in range(n):
        out_counts[i] = 0
    for first in range(0, m, BLOCK):
        block = words[: min(BLOCK, m - first)]
        hash_block(key, first, block)
        for i in range(block.shape[0]):
            low = (block[i] & LOW_HALF) * bound >> S32
            out_counts[((block[i] >> S32) * bound + low) >> S32] += 1


@kernel
def draw_bootstrap(key: int, n: int, m: int, out_rows: Any) -> None:
    """Draw m of the rows 0 .. n with replacement: out_rows int32[m], ascending, a row as often as it was drawn."""
    counts = np.empty(n, np.int32)
    count_bootstrap(key, n, m, counts)
    place = 0
    for row in range(n):
        for _ in range(counts[row]):
            out_rows[place] = row
            place += 1
