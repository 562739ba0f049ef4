"""Strength and correlation of a forest, and what they predict for its error: Breiman (2001), "Random forests", Machine Learning 45.

See docs/algorithms/crowds.md.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import UndefinedMeasureWarning
from woodwind.base.notice import notice
from woodwind.diversity.groups import vote_fractions
from woodwind.diversity.matrices import numbered, read_weight
from woodwind.diversity.words import WEIGHT


class ForestStrength(NamedTuple):
    """Strength and correlation of a forest, Breiman's bound on its error, and the error itself on these rows."""

    strength: float
    correlation: float
    bound: float
    error: float


@fill_docstring(weight=WEIGHT)
def strength_and_correlation(truth: Any, labels: Any, *, sample_weight: Any = None) -> ForestStrength:
    """Strength s and correlation of a forest, and its bound on the error: correlation (1 - s^2) / s^2; Breiman (2001), Theorem 2.3,
    Appendix II.

    s is the mean margin. The correlation is the variance of the margin, divided by the squared mean of the standard deviations of the
    members' raw margins, I(vote is right) - I(vote is for the best other class). The bound holds for these rows too, as arithmetic; it is
    infinite unless s > 0.

    Parameters
    ----------
    truth : sequence of labels, (n,)
    labels : sequence of labels, (n, m)
        What members vote for; rows should be ones that they have not seen.
    {weight}

    Returns
    -------
    ForestStrength
        strength, correlation, bound, error (share of rows with a margin below 0).

    Examples
    --------
    >>> from woodwind.diversity import strength_and_correlation
    >>> found = strength_and_correlation([0, 0, 1, 1], [[0, 0, 0], [0, 0, 1], [1, 1, 1], [0, 1, 1]])
    >>> round(found.strength, 6), round(found.correlation, 6), round(found.bound, 6)
    (0.666667, 0.333333, 0.416667)
    """
    owner = "strength_and_correlation"
    true, votes, classes = numbered(truth, labels, owner)
    n, m = votes.shape
    weight = read_weight(sample_weight, n, owner)
    probabilities = vote_fractions(votes, max(len(classes), 2), np.full(m, 1.0 / m))
    each = np.arange(n)
    right = probabilities[each, true]
    probabilities[each, true] = -1.0
    other = probabilities.argmax(axis=1)
    margin = right - probabilities[each, other]
    raw = (votes == true[:, None]).astype(np.float64) - (votes == other[:, None])
    s = float(weight @ margin)
    variance = float(weight @ (margin - s) ** 2)
    spread = float(np.sqrt(weight @ (raw - weight @ raw) ** 2).mean())
    if spread == 0.0:
        notice(f"{owner}: the margins of all members are constant: 0 / 0 is taken as 0. Give more rows.", UndefinedMeasureWarning)
    correlation = variance / spread**2 if spread > 0.0 else 0.0
    bound = correlation * (1.0 - s**2) / s**2 if s > 0.0 else np.inf
    return ForestStrength(s, correlation, float(bound), float(weight @ (margin < 0.0)))
