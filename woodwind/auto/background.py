"""Background: what rows of the training table are like on average, for explaining members that are no trees.

Trees know by their covers what is typical. Members that read a matrix do not, so that a model keeps the mean of the matrix and some of its
rows among its facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.encoding import EncodedMember
from woodwind.auto.members import ForestMember, GroveMember, MeanMember, Member
from woodwind.auto.view import View
from woodwind.base.errors import DataError
from woodwind.base.streams import choose, key

Floats = NDArray[np.float64]

NAME = "background"  # among the facts of a model
# Rows that are kept, and numbers in all of them: some 300 kB of JSON.
MOST_ROWS = 16
MOST_NUMBERS = 20_000
DIGITS = 6


@dataclass(frozen=True, eq=False)
class Background:
    """A row that stands for nothing known, and rows that do so together."""

    mean: Floats  # (d,)
    rows: Floats  # (b, d)

    @classmethod
    def learn(cls, view: View, seed: int) -> "Background":
        """The mean of the training rows, and some of them drawn by key."""
        n, d = view.matrix.shape
        count = min(n, MOST_ROWS, max(MOST_NUMBERS // max(d, 1), 1))
        return cls(view.matrix.mean(axis=0).round(DIGITS), view.matrix[choose(key(seed, NAME), n, count)].round(DIGITS))

    @classmethod
    def of(cls, facts: dict[str, Any], d: int) -> "Background":
        """What a model has kept; without that, the row of which all columns are zero: the mean of numbers, and none of the levels."""
        kept = facts.get(NAME)
        if isinstance(kept, dict):
            try:
                mean, rows = np.asarray(kept.get("mean", ()), np.float64), np.asarray(kept.get("rows", ()), np.float64)
            except (TypeError, ValueError) as error:
                raise DataError("The model cannot be explained: what it has kept of its training rows is damaged.") from error
            if mean.shape == (d,) and rows.shape == (max(len(rows), 1), d) and np.isfinite(rows).all() and np.isfinite(mean).all():
                return cls(mean, rows)
        return cls(np.zeros(d), np.zeros((1, d)))

    def to_facts(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"mean": self.mean.tolist(), "rows": self.rows.tolist()}


def background_facts(members: Sequence[Member], view: View, seed: int) -> dict[str, Any]:
    """What a model of these members keeps of its training rows among its facts: nothing, if all of them are trees."""
    return {NAME: Background.learn(view, seed).to_facts()} if any(reads_matrix(member) for member in members) else {}


def reads_matrix(member: Member) -> bool:
    """Whether a member, or one of those that it is the mean of, is no forest."""
    if isinstance(member, MeanMember):
        return any(reads_matrix(one) for one in member.members)
    return not isinstance(member, ForestMember | EncodedMember | GroveMember)
