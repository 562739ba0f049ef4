"""Scores of several things, each taken several times."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RepeatedScores:
    """A score of each name in every repeat or fold."""

    names: tuple[str, ...]
    scores: Floats  # (repeats, names)

    @property
    def mean(self) -> Floats:
        """The mean over repeats, in the order of `names`."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def standard_error(self) -> Floats:
        """The standard error of the mean: the standard deviation of the repeats over the square root of their number."""
        return np.asarray(self.scores.std(axis=0, ddof=1) / np.sqrt(len(self.scores)))
