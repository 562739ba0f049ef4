"""Slow and obvious versions of the kernels in `woodwind/kernels/encode.py`."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def distinct_keys(keys: Iterable[int]) -> tuple[list[int], list[int]]:
    """Sorted distinct keys and how often each occurs."""
    counts = Counter(int(key) for key in keys)
    return sorted(counts), [counts[key] for key in sorted(counts)]


def shrink(keys: Sequence[int], counts: Sequence[int], shift: int) -> tuple[list[int], list[int]]:
    """The keys without their low bits, and the sums of the counts of those that are then equal."""
    sums: Counter[int] = Counter()
    for key, count in zip(keys, counts, strict=True):
        sums[int(key) >> shift] += int(count)
    return sorted(sums), [sums[key] for key in sorted(sums)]


def merge_counts(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
    """Two summaries added."""
    return {key: a.get(key, 0) + b.get(key, 0) for key in sorted({*a, *b})}


def place_cuts(counts: Sequence[int], max_bins: int) -> list[int]:
    """The cells after which a bin ends, in exact fractions of the total."""
    total = sum(counts)
    heavy = [count * max_bins >= total for count in counts]
    rest = sum(count for count, is_heavy in zip(counts, heavy, strict=True) if not is_heavy)
    bins = max_bins - sum(heavy)
    cuts: list[int] = []
    cell = []
    for i in range(len(counts) - 1):
        if len(cuts) == max_bins - 1:
            break
        cell.append(i)
        current = sum(counts[k] for k in cell)
        if heavy[i + 1]:
            full = 2 * current * bins >= rest
        else:
            full = (2 * current + counts[i + 1]) * bins >= 2 * rest
        if heavy[i] or (full and bins > 0):
            cuts.append(i)
            rest -= sum(counts[k] for k in cell if not heavy[k])
            bins -= 0 if heavy[i] else 1
            cell = []
    return cuts


def encode(values: Iterable[float], edges: Sequence[float], missing: int) -> list[int]:
    """The number of edges below each value; `missing` for NaN."""
    return [missing if value != value else sum(edge < value for edge in edges) for value in values]  # noqa: PLR0124


def rows_from_columns(by_column: NDArray[np.uint8], stride: int) -> NDArray[np.uint8]:
    """Codes by row, padded with zeros."""
    n_features, n = by_column.shape
    out = np.zeros((n, stride), np.uint8)
    for feature in range(n_features):
        for row in range(n):
            out[row, feature] = by_column[feature, row]
    return out
