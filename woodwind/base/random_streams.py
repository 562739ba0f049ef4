"""Randomness by key: every draw is a hash of (seed, what it is for, item number), and no stream is advanced in order of arrival.

So a draw does not depend on the number of threads, on the order of the rows or on what was drawn before.
The hash is SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators", with the
multipliers of Stafford's variant 13): item i of a key is the finaliser of `key + (i + 1) * GOLDEN`. The finaliser is a bijection
and GOLDEN is odd, so the hashes of different items of one key are never equal, and orders by hash have no ties.
`kernels/runtime/keys.py` is the same arithmetic, compiled.
"""

import hashlib
import math
import operator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError

GOLDEN = 0x9E3779B97F4A7C15
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB
WORD = (1 << 64) - 1

# A uniform number is made of the upper 53 bits of a hash: all that a float64 holds.
UNIFORM_BITS = 53


def mix(word: int) -> int:
    """Finaliser of SplitMix64: a bijection of 64-bit words in which every bit depends on every other."""
    word = ((word ^ (word >> 30)) * FIRST_FACTOR) & WORD
    word = ((word ^ (word >> 27)) * SECOND_FACTOR) & WORD
    return word ^ (word >> 31)


def key(seed: int, *parts: int | str) -> int:
    """Key of a stream, for example `key(seed, "rows", tree)`: any integers and words, of which the order matters.

    It has 63 bits, so that it is an int64 wherever it goes: kernels then compile for one type only.
    """
    return _extended(_state(seed, *parts[:-1]), parts[-1]) >> 1 if parts else _state(seed) >> 1


def _extended(state: int, part: int | str) -> int:
    """Mix one more part into a state."""
    return mix(((state ^ mix((_word(part) + GOLDEN) & WORD)) + GOLDEN) & WORD)


@lru_cache(maxsize=1024, typed=True)
def _state(*parts: int | str) -> int:
    """Mix parts in their order. Kept, because all but the last of them are the same in every round of a training."""
    state = 0
    for part in parts:
        state = _extended(state, part)
    return state


def _word(part: int | str) -> int:
    """Give the 64-bit word of a part: the integer itself where it fits, else a digest of how it is written."""
    if not isinstance(part, str):
        whole = operator.index(part)
        if -(1 << 63) <= whole <= WORD:
            return whole & WORD
        part = str(whole)
    return int.from_bytes(hashlib.blake2b(part.encode(), digest_size=8).digest(), "little")


# Items that are hashed together where few of many are chosen.
AT_ONCE = 1 << 20


def hashes(key: int, count: int, first: int = 0) -> NDArray[np.uint64]:
    """Hash the items first .. first + count of a key: 64 random bits each."""
    words = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    words *= np.uint64(GOLDEN)
    words += np.uint64(key)
    words ^= words >> np.uint64(30)
    words *= np.uint64(FIRST_FACTOR)
    words ^= words >> np.uint64(27)
    words *= np.uint64(SECOND_FACTOR)
    words ^= words >> np.uint64(31)
    return words


def uniform(key: int, count: int, first: int = 0) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1), one per item."""
    words = hashes(key, count, first) >> np.uint64(64 - UNIFORM_BITS)
    numbers: NDArray[np.float64] = words.astype(np.float64) * 2.0**-UNIFORM_BITS
    return numbers


def share_threshold(share: float) -> int:
    """Give the threshold t such that `hash >> 11 < t` says the same as `uniform < share`, for the kernels that draw a share."""
    return math.ceil(min(max(share, 0.0), 1.0) * 2.0**UNIFORM_BITS)


def integers(key: int, bound: int, count: int, first: int = 0) -> NDArray[np.int64]:
    """Whole numbers in 0 .. bound - 1, one per item, as floor(hash * bound / 2**64); the bound is at most 2**32.

    The product has 96 bits: it is taken in two halves. No number is likelier than another by more than bound / 2**64.
    """
    if not 1 <= bound <= 1 << 32:
        raise ParameterError(f"The bound of a draw must be in 1 .. 2**32, not {bound}.")
    words = hashes(key, count, first)
    low = (words & np.uint64(0xFFFFFFFF)) * np.uint64(bound) >> np.uint64(32)
    words >>= np.uint64(32)
    words *= np.uint64(bound)
    words += low
    words >>= np.uint64(32)
    return words.astype(np.int64)


def permutation(key: int, n: int) -> NDArray[np.int64]:
    """Order 0 .. n - 1 by hash."""
    return np.argsort(hashes(key, n)).astype(np.int64)


def choose(key: int, n: int, m: int) -> NDArray[np.int64]:
    """Choose m of 0 .. n - 1 without replacement, ascending: those with the smallest hashes."""
    if not 0 <= m <= n:
        raise ParameterError(f"Cannot choose {m} of {n} without replacement.")
    if m in (0, n):
        return np.arange(m, dtype=np.int64)
    if m > AT_ONCE:
        return np.sort(np.argpartition(hashes(key, n), m - 1)[:m].astype(np.int64))
    # A part at a time: of twenty million items, all hashes and their order would take 300 MB. No two items have the same hash.
    words, chosen = np.empty(0, np.uint64), np.empty(0, np.int64)
    for first in range(0, n, AT_ONCE):
        count = min(AT_ONCE, n - first)
        words = np.concatenate([words, hashes(key, count, first)])
        chosen = np.concatenate([chosen, np.arange(first, first + count)])
        if len(words) > m:
            smallest = np.argpartition(words, m - 1)[:m]
            words, chosen = words[smallest], chosen[smallest]
    return np.sort(chosen)


def seed_of(random_state: object) -> int:
    """Turn what users give as `random_state` into a seed: a whole number, a NumPy generator of either kind, or None.

    A generator is advanced by one draw. None draws from NumPy's global state, as scikit-learn does,
    so that `numpy.random.seed` is honoured.
    """
    if random_state is None:
        return int(np.random.randint(1 << 31))
    for method in ("integers", "randint"):
        draw = getattr(random_state, method, None)
        if callable(draw):
            return int(draw(1 << 31))
    try:
        seed = operator.index(random_state)  # type: ignore[arg-type]
    except TypeError:
        seed = -1
    if seed < 0:
        raise ParameterError(
            "random_state must be None, a whole number that is not negative, a numpy.random.Generator or a "
            f"numpy.random.RandomState, not {random_state!r}."
        )
    return seed
