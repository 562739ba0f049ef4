"""Neighbour members: what the training rows that are most alike had."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.linear_member import REACH, check_columns, check_form
from woodwind.auto.members.view import View
from woodwind.base.errors import DataError
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema
from woodwind.selection.neighbours import EuclideanRows

Floats = NDArray[np.float64]

# A row that is asked about may be a training row: what counts as no distance, in units of the mean distance of the neighbours.
CLOSEST = 1e-3
# Rows that are asked about at a time.
QUERIES = 4096


@dataclass(frozen=True, eq=False)
class KnnMember:
    """The k nearest rows by scaled columns, each counting by its weight and, if said, by one over its distance.

    For classes: shares of the neighbours, as if `prior` of `strength` rows had been among them; scores are their logarithms.
    For numbers: the mean of the neighbours and `strength` rows of the value `prior`.
    """

    rows: Floats  # (r, c) columns that are compared, scaled
    column: NDArray[np.int64]  # (c,) which columns of the matrix these are
    scale: Floats  # (c,)
    target: Floats  # (r,) class numbers, or numbers
    weight: Floats  # (r,)
    prior: Floats  # (K,) class probabilities; (1,) mean of the numbers
    n_columns: int  # of the matrix
    k: int
    by_distance: bool
    strength: float

    @property
    def width(self) -> int:
        """Scores of a row."""
        return 1 if len(self.prior) <= 2 else len(self.prior)

    @cached_property
    def _search(self) -> EuclideanRows:
        return EuclideanRows.of(self.rows)

    def scores(self, view: View, threads: int = 1) -> Floats:
        """Scores (n, width)."""
        return self.scores_of(view.matrix, threads)

    def scores_of(self, matrix: Floats, threads: int = 1) -> Floats:
        """Scores (n, width) of rows as numbers."""
        check_columns(matrix, self.n_columns)
        out = np.empty((len(matrix), self.width))
        for begin in range(0, len(matrix), QUERIES):
            found = self.find(matrix[begin : begin + QUERIES], threads)
            out[begin : begin + QUERIES] = self.vote(*found, self.by_distance, self.strength)
        return out

    def find(self, matrix: Floats, threads: int = 1) -> tuple[NDArray[np.int64], Floats]:
        """The neighbours (n, k) of rows as numbers, and their distances."""
        queries = np.clip(matrix[:, self.column], -REACH, REACH) * self.scale
        found = self._search.near(queries, self.k, threads)
        return found.rows(), found.distances

    def vote(self, near: NDArray[np.int64], distances: Floats, by_distance: bool, strength: float) -> Floats:
        """Scores (n, width) from neighbours (n, k) and their distances."""
        heavy = self.weight[near] * closeness(distances) if by_distance else self.weight[near]
        if len(self.prior) == 1:
            total = (heavy * self.target[near]).sum(axis=1) + strength * self.prior
            return np.asarray(total / (heavy.sum(axis=1) + strength))[:, None]
        labels = self.target[near].astype(np.int64)
        probabilities = np.stack([np.where(labels == label, heavy, 0.0).sum(axis=1) for label in range(len(self.prior))], axis=1)
        logs = np.log((probabilities + strength * self.prior) / (heavy.sum(axis=1, keepdims=True) + strength))
        return np.asarray(logs[:, 1:] - logs[:, :1] if logs.shape[1] == 2 else logs)

    def check(self) -> "KnnMember":
        """Raise DataError where something does not fit."""
        r, c = self.rows.shape if self.rows.ndim == 2 else (0, 0)
        shapes = (self.column.shape, self.scale.shape, self.target.shape, self.weight.shape)
        if r < 1 or shapes != ((c,), (c,), (r,), (r,)) or self.prior.ndim != 1 or not len(self.prior):
            raise DataError("the rows of a neighbour member do not fit their columns or targets")
        if c and not (self.column.min() >= 0 and self.column.max() < self.n_columns):
            raise DataError("a neighbour member compares columns that there are not")
        if not 1 <= self.k <= r:
            raise DataError(f"a neighbour member looks for {self.k} of {r} rows")
        arrays = (self.rows, self.scale, self.target, self.weight, self.prior)
        if not all(np.isfinite(array).all() for array in arrays) or not 0.0 < self.strength < np.inf:
            raise DataError("the numbers of a neighbour member are not finite")
        if (self.weight <= 0.0).any():
            raise DataError("a row of a neighbour member has no weight")
        if len(self.prior) > 1 and ((self.prior <= 0.0).any() or not np.isin(self.target, np.arange(len(self.prior))).all()):
            raise DataError("the classes of a neighbour member do not fit its shares")
        return self

    def check_for(self, schema: Schema, form: MatrixForm) -> None:
        """Raise DataError unless the matrix has the columns that were learned."""
        del schema
        check_form(self.n_columns, form)


def closeness(distances: Floats) -> Floats:
    """One over each distance, in units of the mean distance of the row's neighbours."""
    middle = distances.mean(axis=1, keepdims=True)
    return np.asarray(1.0 / np.maximum(distances / np.where(middle > 0.0, middle, 1.0), CLOSEST))
