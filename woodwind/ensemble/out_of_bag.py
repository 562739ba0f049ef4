"""Out of the bag: what the members of an ensemble say of rows that they have not seen (Breiman 1996, "Out-of-bag estimation")."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """What the members that have not seen a row say of it."""

    total: Floats  # (n, ...) sum of what they say
    voters: Integers  # (n,) how many they are

    @classmethod
    def nobody(cls, n_rows: int, width: int) -> "OutOfBag":
        """Before the first member, of which each says so many numbers of a row."""
        return cls(np.zeros((n_rows, width)), np.zeros(n_rows, np.int64))

    @property
    def silent(self) -> Integers:
        """Rows that every member has seen."""
        return np.flatnonzero(self.voters == 0)

    def mean(self) -> Floats:
        """The mean of what they say (n, ...); NaN for rows that every member has seen."""
        out = self.total / np.maximum(self.voters, 1)[:, None]
        out[self.silent] = np.nan
        return out


def out_of_bag(answers: Iterable[tuple[Integers, Floats]], n_rows: int, width: int) -> OutOfBag:
    """Add up answers: for each member the rows that it has not seen, and what it says of them (rows, width)."""
    found = OutOfBag.nobody(n_rows, width)
    for rows, answer in answers:
        found.total[rows] += answer
        found.voters[rows] += 1
    return found
