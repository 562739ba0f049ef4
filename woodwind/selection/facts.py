"""What dynamic selection knows: of the rows that members are scored by, and of the queries that they are asked.

Members are scored on selection rows, which they have not been trained on: r rows, m members, K classes. Queries are rows to be answered: q
of them. The region of a query is the selection rows that tell how good members are there.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.base.validate import require, require_array

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SelectionFacts:
    """What members predict for the selection rows, and what is true there."""

    hits: Mask  # (r, m) whether a member is right
    votes: Integers  # (r, m) numbers of classes
    probabilities: Floats | None  # (r, m, K) probabilities; None where members were not asked for any
    truth: Integers  # (r,) numbers of classes
    n_classes: int
    trained: Any = None  # what a method has been trained on these rows before any query came

    @classmethod
    def of(cls, votes: Any, truth: Any, n_classes: int, probabilities: Any = None) -> "SelectionFacts":
        """Facts from votes and the truth; shapes and numbers of classes are checked."""
        votes, truth = np.asarray(votes, np.int64), np.asarray(truth, np.int64)
        if votes.ndim != 2 or truth.shape != votes.shape[:1]:
            raise DataError(f"votes must be (rows, members) and truth (rows,), but their shapes are {votes.shape} and {truth.shape}.")
        if votes.size == 0:
            raise DataError(f"There must be at least one row and one member, but votes has the shape {votes.shape}.")
        for name, values in (("votes", votes), ("truth", truth)):
            if values.min() < 0 or values.max() >= n_classes:
                found = f"they go from {values.min()} to {values.max()}"
                raise DataError(f"{name} must be numbers of classes from 0 to {n_classes - 1}, but {found}.")
        if probabilities is not None:
            probabilities = np.asarray(probabilities, np.float64)
            if probabilities.shape != (*votes.shape, n_classes):
                raise DataError(
                    f"probabilities must be (rows, members, classes) = {(*votes.shape, n_classes)}, but its shape is {probabilities.shape}."
                )
        return cls(votes == truth[:, None], votes, probabilities, truth, n_classes)

    def check(self) -> "SelectionFacts":
        """As `of` makes them; returns self, or raises DataError."""
        known = SelectionFacts.of(self.votes, self.truth, self.n_classes, self.probabilities)
        require(self.hits.shape == known.hits.shape and (self.hits == known.hits).all(), "hits are not where votes are true")
        require(self.probabilities is None or np.isfinite(self.probabilities).all(), "probabilities are not finite")
        return self

    @property
    def n_rows(self) -> int:
        """Selection rows."""
        return int(self.hits.shape[0])

    @property
    def n_members(self) -> int:
        """Members."""
        return int(self.hits.shape[1])

    @cached_property
    def true_class_probabilities(self) -> Floats:
        """What members give to the true class (r, m)."""
        if self.probabilities is None:
            raise DataError("This method needs probabilities of all members, and there are votes only.")
        return np.ascontiguousarray(np.take_along_axis(self.probabilities, self.truth[:, None, None], axis=2)[:, :, 0])

    def learning(self, trained: Any) -> "SelectionFacts":
        """The same facts with what a method has been trained on them."""
        return replace(self, trained=trained)


@dataclass(frozen=True, eq=False)
class RegressionFacts:
    """The same for regressors."""

    predictions: Floats  # (r, m) what members predict
    truth: Floats  # (r,)

    def check(self) -> "RegressionFacts":
        """There are as many numbers as truths; returns self, or raises DataError."""
        require_array(self.truth, (None,), "the truth of selection rows")
        require_array(self.predictions, (self.truth.size, None), "what members predict for selection rows")
        require(self.predictions.size > 0, "there are no selection rows")
        return self

    @property
    def n_rows(self) -> int:
        """Selection rows."""
        return int(self.predictions.shape[0])

    @property
    def n_members(self) -> int:
        """Members."""
        return int(self.predictions.shape[1])

    @cached_property
    def errors(self) -> Floats:
        """Absolute errors (r, m)."""
        return np.abs(self.predictions - self.truth[:, None])


@dataclass(frozen=True, eq=False)
class Region:
    """Selection rows around each query, the nearest first.

    `neighbours` is None where all selection rows belong to each region, in the order of their numbers; distances are then (q, r).
    """

    neighbours: Integers | None  # (q, k) numbers of selection rows
    distances: Floats  # (q, k)

    def __len__(self) -> int:
        return len(self.distances)

    @property
    def k(self) -> int:
        """Rows in each region."""
        return int(self.distances.shape[1])

    def rows(self) -> Integers:
        """Numbers of the rows (q, k), also where all belong to it."""
        if self.neighbours is None:
            return np.broadcast_to(np.arange(self.k), self.distances.shape)
        return self.neighbours

    def at(self, queries: NDArray[Any] | slice) -> "Region":
        """The regions of some queries."""
        return Region(None if self.neighbours is None else self.neighbours[queries], self.distances[queries])


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows to be answered: what members predict for them, and which selection rows are like them."""

    votes: NDArray[Any]  # (q, m) numbers of classes; of members that are regressors, what they predict
    probabilities: Floats | None  # (q, m, K)
    region: Region  # by distance between rows
    similar: Region | None = None  # by distance between what members predict: output profiles

    def __len__(self) -> int:
        return len(self.votes)

    def at(self, queries: NDArray[Any] | slice) -> "Queries":
        """Some of the queries."""
        return Queries(
            self.votes[queries],
            None if self.probabilities is None else self.probabilities[queries],
            self.region.at(queries),
            None if self.similar is None else self.similar.at(queries),
        )
