"""Counting over all pairs of members at once: rows on which both are right, and rows on which both predict the same.

Both are products of a matrix of marks with itself, which linear algebra is fastest at: whole counts, exact in single precision.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.diversity.matrices import Floats, Hits, Integers, read_raw_weight

# Numbers in one block of a product: 16 MB in single precision, which counts exactly up to 2**24 rows.
BLOCK, MOST_ROWS = 1 << 22, 1 << 24


class Pairs(NamedTuple):
    """Shares of the rows for every pair of members, each (m, m): both right, only the first, only the second, none."""

    n11: Floats
    n10: Floats
    n01: Floats
    n00: Floats


def pairs_of(hits: Hits, sample_weight: Any, owner: str) -> Pairs:
    """Count the four cases for every pair. With weights, cases that no row of any weight is in are exactly zero, as without."""
    if sample_weight is None:
        return _four_cases(_product(hits, None, None), float(len(hits)))
    weight = read_raw_weight(sample_weight, len(hits), owner)
    there = weight > 0.0
    hits, weight = hits[there], weight[there]
    counted = _four_cases(_product(hits, None, None), float(len(hits)))
    weighed = _four_cases(_product(hits, None, weight), float(weight.sum()))
    return Pairs(*(np.where(cases == 0.0, 0.0, np.maximum(sums, 0.0)) for cases, sums in zip(counted, weighed, strict=True)))


def _four_cases(both: Floats, total: float) -> Pairs:
    """The shares of the four cases, from the sums over the rows on which both are right."""
    right = np.diagonal(both)
    only = right[:, None] - both
    return Pairs(both / total, only / total, only.T / total, (total - right[:, None] - only.T) / total)


def _product(values: NDArray[Any], number: int | None, weight: Floats | None) -> Floats:
    """The sum over rows of marks times marks, for every pair of columns (m, m): exact for whole weights.

    Marks are the values themselves, truth values, or where they are this number.
    """
    n, m = values.shape
    out = np.zeros((m, m))
    step = min(max(BLOCK // m, 1), MOST_ROWS, n)
    room = np.empty((step, m), np.float32 if weight is None else np.float64)
    for begin in range(0, n, step):
        given = values[begin : begin + step]
        marks = room[: len(given)]
        if number is None:
            np.copyto(marks, given)
        else:
            np.equal(given, number, out=marks)
        out += marks.T @ marks if weight is None else marks.T @ (marks * weight[begin : begin + step, None])
    return out if weight is None else 0.5 * (out + out.T)  # sums in two orders: the same to the last bit


def rates_of_agreement(votes: Integers, n_classes: int, weight: Floats | None) -> tuple[Floats, Floats]:
    """Share of rows on which two say the same, and what it would be for independent members, both (m, m)."""
    m = votes.shape[1]
    agreed, probability = np.zeros((m, m)), np.zeros((m, m))
    total = float(len(votes)) if weight is None else float(weight.sum())
    for number in range(n_classes):
        both = _product(votes, number, weight)
        named = np.diagonal(both)
        agreed += both
        probability += np.outer(named, named)
        if n_classes == 2:  # of two classes one product tells all: what neither gives to the first, both give to the second
            others = total - named
            agreed += others[:, None] + both - named[None, :]
            probability += np.outer(others, others)
            break
    return agreed / total, probability / total**2
