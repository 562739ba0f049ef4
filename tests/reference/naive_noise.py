"""Slow, obvious twins of `kernels/histogram/gradient_noise.py`, in Python integers, row by row."""

from collections.abc import Sequence

from reference.naive_draw import hash_item


def noise_of(key: int, item: int, factor: int) -> int:
    """The four pieces of a hash, added, around zero, times the factor, rounded."""
    word = hash_item(key, item)
    pieces = sum((word >> shift) & 0xFFFF for shift in (0, 16, 32, 48))
    return ((pieces - 131070) * factor + 32768) // 65536


def gradient_in(word: int) -> int:
    """The gradient that a row carries."""
    field = (word >> 16) & 0xFFFF
    return field - 65536 if field >= 32768 else field


def square_rows(words: Sequence[int]) -> int:
    """Sum of the squares of gradients."""
    return sum(gradient_in(word) ** 2 for word in words)


def disturb_rows(words: Sequence[int], order: Sequence[int] | None, key: int, factor: int) -> list[int]:
    """The same rows with other gradients."""
    out = []
    for word in words:
        row = word >> 32
        wanted = gradient_in(word) + noise_of(key, row if order is None else order[row], factor)
        gradient = sorted((-32767, wanted, 32767))[1]
        out.append(row * 2**32 + gradient % 65536 * 2**16 + word % 65536)
    return out


def square_lanes(lanes: Sequence[Sequence[int]], rows: Sequence[int], outputs: int) -> list[int]:
    """Sums of the squares of each gradient, a row as often as it is given."""
    return [sum(lanes[row][k] ** 2 for row in rows) for k in range(outputs)]


def disturb_lanes(
    lanes: Sequence[Sequence[int]], order: Sequence[int] | None, key: int, factors: Sequence[int], most: int
) -> list[list[int]]:
    """The same lanes with other gradients; what comes behind them stays."""
    out = [list(row) for row in lanes]
    for i, row in enumerate(out):
        name = i if order is None else order[i]
        for k, factor in enumerate(factors):
            wanted = row[k] + noise_of(key, name * len(factors) + k, factor)
            row[k] = sorted((-most, wanted, most))[1]
    return out
