"""Slow, obvious twins of `kernels/runtime/keys.py`, from the Python integers of `base/random_streams.py`."""

from woodwind.base.random_streams import GOLDEN, WORD, mix


def hash_item(key: int, item: int) -> int:
    """Hash of an item of a key: 64 random bits."""
    return mix((key + (item + 1) * GOLDEN) & WORD)


def draw_share(key: int, begin: int, end: int, threshold: int) -> list[int]:
    """Rows whose hash, without its lowest 11 bits, is below the threshold."""
    return [row for row in range(begin, end) if hash_item(key, row) >> 11 < threshold]


def draw_exact(key: int, n: int, m: int) -> list[int]:
    """The m rows with the smallest hashes, ascending."""
    return sorted(sorted(range(n), key=lambda row: hash_item(key, row))[:m])


def draw_bootstrap(key: int, n: int, m: int) -> list[int]:
    """Rows m times drawn with replacement, ascending."""
    return sorted(hash_item(key, draw) * n >> 64 for draw in range(m))
