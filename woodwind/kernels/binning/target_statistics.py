"""Target statistics of categories: sums over the rows of a category, and over those that came before each row.

Sums are integers, as everywhere: those of all rows do not depend on their order. The slow twins are in
`tests/reference/naive_statistics.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.runtime.jit import kernel


class Smoothing(NamedTuple):
    """What is known before the first row of a category, and what integers are multiplied by to be numbers again."""

    prior: float
    strength: float  # rows that the prior counts as
    unit: float  # of the sums
    weight_unit: float  # of the weights


@kernel
def add_totals(categories: Any, rows: Any, amounts: Any, weights: Any, out_totals: Any) -> None:
    """Add up the amounts and the weights of some rows by category.

    categories int32[n]: numbers, or -1 and -2, which are the last and the last but one of out_totals; rows int64[m]
    amounts, weights int64[n]; weights may be None, where each row weighs one; out_totals int64[2, c]: sums and weights, added to
    """
    size = out_totals.shape[1]
    for i in range(rows.shape[0]):
        row = rows[i]
        category = np.int64(categories[row])
        category += size if category < 0 else 0
        out_totals[0, category] += amounts[row]
        out_totals[1, category] += np.int64(1) if weights is None else weights[row]


@kernel
def ordered_statistics(
    categories: Any, order: Any, amounts: Any, weights: Any, smoothing: Any, totals: Any, out_means: Any, out_counts: Any
) -> None:
    """The smoothed mean of the amounts of EARLIER rows of the same category, for rows in their order; a row never sees its own amount.

    categories, amounts, weights as in `add_totals`; order int64[m]: rows, the first one first
    totals int64[2, c]: zeros; in the end those of all rows
    out_means, out_counts float64[n]: of each row of the order the mean, and the weight of the rows before it
    """
    size = totals.shape[1]
    prior, strength = smoothing.prior, smoothing.strength
    for i in range(order.shape[0]):
        row = order[i]
        category = np.int64(categories[row])
        category += size if category < 0 else 0
        weight = np.float64(totals[1, category]) * smoothing.weight_unit
        if weight > 0.0:
            out_means[row] = (np.float64(totals[0, category]) * smoothing.unit + prior * strength) / (weight + strength)
        else:
            out_means[row] = prior
        out_counts[row] = weight
        totals[0, category] += amounts[row]
        totals[1, category] += np.int64(1) if weights is None else weights[row]
