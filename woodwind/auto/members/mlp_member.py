"""Net members: small neural nets on numbers that are cut into pieces first.

A net of plain columns cannot bend sharply, as trees do. So each number is given to it twice: smoothly clipped, and as its position in each
of some intervals between quantiles, from 0 below the interval to 1 above it (Gorishniy, Rubachev & Babenko 2022). Several nets that held
out different rows are one member: the mean of their scores. Weights are kept in single precision, in which they were learned. Products are
of double precision, of blocks of rows of one size, each by one thread: a row then has the same bits in any company and on any number of
threads. In single precision BLAS adds up the rows of a block in different ways.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.blas_threads import one_blas_thread
from woodwind.auto.members.linear_member import blocks, check_columns, check_form
from woodwind.auto.members.view import View
from woodwind.base.errors import DataError
from woodwind.base.pool import run_ranges
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema

Floats = NDArray[np.float64]
Narrow = NDArray[np.float32]

# Where the smooth clip ends, in robust standard deviations, and the largest number that it is asked to clip.
CLIP, LARGEST = 3.0, 1e9


@dataclass(frozen=True, eq=False)
class PiecewiseInputs:
    """How rows of the matrix become inputs of a net: clipped columns, then intervals."""

    centre: Floats  # (d,)
    scale: Floats  # (d,)
    column: NDArray[np.int64]  # (p,) the column of each interval
    low: Floats  # (p,)
    inverse: Floats  # (p,) one over the width

    @property
    def n_inputs(self) -> int:
        """Inputs of the net."""
        return len(self.centre) + len(self.column)

    def of(self, rows: Floats) -> Floats:
        """Inputs (n, D)."""
        d = len(self.centre)
        out = np.empty((len(rows), self.n_inputs))
        bounded = np.clip(rows, -LARGEST, LARGEST)
        z = (bounded - self.centre) * self.scale
        np.divide(z, np.sqrt(1.0 + (z / CLIP) ** 2), out=out[:, :d])
        part = out[:, d:]
        np.subtract(np.take(bounded, self.column, axis=1), self.low, out=part)
        part *= self.inverse
        np.clip(part, 0.0, 1.0, out=part)
        part -= 0.5
        return out

    def check(self) -> "PiecewiseInputs":
        """Raise DataError where something does not fit."""
        d, p = self.centre.shape, self.column.shape
        if len(d) != 1 or len(p) != 1 or self.scale.shape != d or self.low.shape != p or self.inverse.shape != p:
            raise DataError("the pieces of a net do not fit each other")
        if p[0] and not (self.column.min() >= 0 and self.column.max() < d[0]):
            raise DataError("the pieces of a net are of columns that there are not")
        if not all(np.isfinite(array).all() for array in (self.centre, self.scale, self.low, self.inverse)):
            raise DataError("the pieces of a net are not finite")
        return self


@dataclass(frozen=True, eq=False)
class MlpMember:
    """E nets of L layers, all of the same shape: scale * output + shift, kept within what training saw."""

    pieces: PiecewiseInputs
    weights: tuple[Narrow, ...]  # L times (E, inputs, outputs)
    biases: tuple[Narrow, ...]  # L times (E, 1, outputs)
    scale: Floats  # (E,)
    shift: float
    low: float  # ends of the scores
    high: float

    @cached_property
    def _wide(self) -> tuple[tuple[Floats, Floats], ...]:
        return tuple((w.astype(np.float64), b.astype(np.float64)) for w, b in zip(self.weights, self.biases, strict=True))

    def scores(self, view: View, threads: int = 1) -> Floats:
        """Scores (n, width)."""
        return self.scores_of(view.matrix, threads)

    def scores_of(self, matrix: Floats, threads: int = 1) -> Floats:
        """Scores (n, width) of rows as numbers."""
        check_columns(matrix, self.n_columns)
        out = np.empty((len(matrix), self.width))
        parts = blocks(matrix)

        def work(begin: int, end: int) -> None:
            for first, count, rows in parts[begin:end]:
                out[first : first + count] = self._block(rows)[:count]

        with one_blas_thread():
            run_ranges(work, len(parts), threads, 1 << 20)
        return out

    def _block(self, rows: Floats) -> Floats:
        values = self.pieces.of(rows)[None]
        for number, (weight, bias) in enumerate(self._wide):
            values = np.matmul(values, weight)
            values += bias
            if number < len(self._wide) - 1:
                values *= sigmoid(values)
        return np.asarray(np.clip((values * self.scale[:, None, None]).mean(axis=0) + self.shift, self.low, self.high))

    @property
    def n_columns(self) -> int:
        """Columns of the matrix that it reads."""
        return len(self.pieces.centre)

    @property
    def width(self) -> int:
        """Scores of a row."""
        return int(self.weights[-1].shape[2])

    def check(self) -> "MlpMember":
        """Raise DataError where something does not fit."""
        self.pieces.check()
        if not self.weights or len(self.weights) != len(self.biases) or self.scale.ndim != 1 or not len(self.scale):
            raise DataError("a net has no layers, or more weights than biases")
        coming = self.pieces.n_inputs
        for weight, bias in zip(self.weights, self.biases, strict=True):
            if weight.ndim != 3 or weight.shape[:2] != (len(self.scale), coming) or bias.shape != (len(self.scale), 1, weight.shape[2]):
                raise DataError("the layers of a net do not fit each other")
            if weight.shape[2] < 1 or not (np.isfinite(weight).all() and np.isfinite(bias).all()):
                raise DataError("a layer of a net is empty or not finite")
            coming = weight.shape[2]
        if not (np.isfinite(self.scale).all() and np.isfinite([self.shift, self.low, self.high]).all()):
            raise DataError("the scale of a net is not finite")
        return self

    def check_for(self, schema: Schema, form: MatrixForm) -> None:
        """Raise DataError unless the matrix has the columns that were learned."""
        del schema
        check_form(self.n_columns, form)


def sigmoid(values: NDArray) -> NDArray:  # of either precision, which is kept
    """1 / (1 + exp(-value))."""
    # Beyond this the single precision is zero or one, and the exponential would overflow.
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -80.0, 80.0))))
