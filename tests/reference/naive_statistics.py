"""Slow and obvious versions of the kernels in `woodwind/kernels/binning/target_statistics.py`."""

from collections.abc import Sequence
from fractions import Fraction


def add_totals(
    categories: Sequence[int], rows: Sequence[int], amounts: Sequence[int], weights: Sequence[int]
) -> dict[int, tuple[int, int]]:
    """Sum and weight of every category that some row has."""
    return {
        category: (
            sum(amounts[row] for row in rows if categories[row] == category),
            sum(weights[row] for row in rows if categories[row] == category),
        )
        for category in {categories[row] for row in rows}
    }


def ordered_statistics(
    categories: Sequence[int], order: Sequence[int], amounts: Sequence[int], weights: Sequence[int], prior: Fraction, strength: Fraction
) -> dict[int, tuple[Fraction, int]]:
    """For each row of the order the smoothed mean of the rows before it, and their weight."""
    found = {}
    for position, row in enumerate(order):
        before = [other for other in order[:position] if categories[other] == categories[row]]
        weight = sum(weights[other] for other in before)
        total = sum(amounts[other] for other in before)
        found[row] = ((total + prior * strength) / (weight + strength) if weight else prior, weight)
    return found
