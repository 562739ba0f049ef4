"""Slow and obvious versions of the kernels in `woodwind/kernels/binning/encode.py`."""

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby

import numpy as np
from numpy.typing import NDArray


def key_of(value: float) -> int:
    """An unsigned integer that keeps the order of the numbers, from the bits of the double; 0.0 and -0.0 share one."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", 0.0 if value == 0 else value))
    return int((1 << 64) - 1 - bits if bits >> 63 else bits | 1 << 63)


def summarise(values: Iterable[float], shift: int) -> dict[int, int]:
    """How many values are in each cell."""
    return weigh(((value, 1) for value in values), shift)


def weigh(pairs: Iterable[tuple[float, int]], shift: int) -> dict[int, int]:
    """The weight in each cell; missing values and rows of weight zero are absent."""
    sums: Counter[int] = Counter()
    for value, weight in pairs:
        if value == value and weight > 0:  # noqa: PLR0124
            sums[key_of(value) >> shift] += weight
    return dict(sorted(sums.items()))


def sort_pairs(keys: Sequence[int], payload: Sequence[int]) -> list[tuple[int, int]]:
    """Keys with their payload, by key; equal keys in the order in which they came."""
    return sorted(zip(keys, payload, strict=True), key=lambda pair: pair[0])


def count_distinct(keys: Iterable[int], shift: int) -> int:
    """How many different cells there are."""
    return len({key >> shift for key in keys})


def shrink(counts: Mapping[int, int], shift: int) -> dict[int, int]:
    """The keys without their low bits, and the sums of the counts of those that are then equal."""
    sums: Counter[int] = Counter()
    for key, count in counts.items():
        sums[key >> shift] += count
    return dict(sorted(sums.items()))


def merge_counts(a: Mapping[int, int], b: Mapping[int, int]) -> dict[int, int]:
    """Two summaries added."""
    return {key: a.get(key, 0) + b.get(key, 0) for key in sorted({*a, *b})}


def place_cuts(counts: Sequence[int], max_bins: int) -> list[int]:
    """The cells after which a bin ends: heavy cells alone where bins allow, the rest shared out evenly."""
    total = sum(counts)
    heavy = [count * max_bins >= total for count in counts]
    runs = [list(run) for is_heavy, run in groupby(range(len(counts)), key=heavy.__getitem__) if not is_heavy]
    rest = sum(counts[k] for run in runs for k in run)
    bins = max_bins - sum(heavy)
    alone = len(runs) <= bins
    cuts: list[int] = []
    inside: list[int] = []
    for i in range(len(counts) - 1):
        if len(cuts) == max_bins - 1:
            break
        inside.append(i)
        weight = sum(counts[k] for k in inside)
        unfinished = sum(run[-1] >= i for run in runs)
        if heavy[i]:
            full = True
        elif heavy[i + 1]:
            full = alone or (bins > 0 and Fraction(weight) >= Fraction(rest, 2 * bins))
        elif bins > (unfinished if alone else 0):
            share = Fraction(rest, bins)
            full = share - weight <= weight + counts[i + 1] - share
        else:
            full = False
        if full:
            cuts.append(i)
            rest -= sum(counts[k] for k in inside if not heavy[k])
            bins -= 0 if heavy[i] else 1
            inside = []
    return cuts


def encode_numbers(values: Iterable[float], edges: Sequence[float], missing: int) -> list[int]:
    """The number of edges below each value; `missing` for NaN."""
    return [missing if value != value else sum(edge < value for edge in edges) for value in values]  # noqa: PLR0124


def rows_from_columns(by_column: NDArray[np.uint8], order: Sequence[int], stride: int) -> NDArray[np.uint8]:
    """Codes by row, the features in the order given, padded with zeros."""
    n = by_column.shape[1]
    out = np.zeros((n, stride), np.uint8)
    for position, feature in enumerate(order):
        for row in range(n):
            out[row, position] = by_column[feature, row]
    return out


def columns_from_rows(
    by_row: NDArray[np.uint8], features: Sequence[int], places: Sequence[int], begin: int, end: int, out: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Some columns of codes by row, each written to its place from row begin to end."""
    for feature, position in zip(features, places, strict=True):
        for row in range(begin, end):
            out[position, row] = by_row[row, feature]
    return out
