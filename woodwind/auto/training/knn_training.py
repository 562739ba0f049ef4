"""Training of neighbour members: which columns count, how many neighbours, and how they count, all scored on held-out rows."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import OutOfTimeError
from woodwind.auto.members.knn_member import KnnMember
from woodwind.auto.members.linear_member import REACH
from woodwind.auto.training.inner_validation import held_out, inner_loss, some_rows
from woodwind.base.random_streams import key

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rows that are trained on at most, and rows that score.
MOST_ROWS, FEWEST_ROWS, VALIDATION_ROWS = 50_000, 500, 2000
# Columns that are compared; neighbours and rows of everybody that are tried; pieces that relevance is measured in.
MOST_COLUMNS, COUNTS, BINS = 64, (3, 5, 10, 20, 40, 80), 20
STRENGTHS = {True: (0.5, 2.0, 8.0), False: (0.01, 1.0)}
# Columns that are measured between two looks at the clock.
STRIDE = 128
# Numbers that are compared in a second, and how many rows will be asked about within the time left.
COMPARISONS, ASKED = 1.5e9, 20_000


@dataclass(frozen=True, eq=False)
class KnnRows:
    """Rows of numbers, cut off where distances would be of one column only, and what they had."""

    matrix: Floats
    y: NDArray
    counts: Floats  # one in the mean
    n_classes: int  # 0 for numbers

    @property
    def prior(self) -> Floats:
        """The mean of the numbers, or the class probabilities, one more row in each."""
        if not self.n_classes:
            return np.array([(self.y * self.counts).mean()])
        probabilities = np.bincount(self.y, self.counts, minlength=self.n_classes) + 1.0
        return np.asarray(probabilities / probabilities.sum())

    def member(self, rows: Integers, columns: Integers, scale: Floats, k: int, by_distance: bool, strength: float) -> KnnMember:
        """A member of some of the rows."""
        near = np.ascontiguousarray(self.matrix[np.ix_(rows, columns)] * scale)
        target, k = self.y[rows].astype(np.float64), min(k, len(rows))
        return KnnMember(
            near, columns, scale, target, self.counts[rows], self.prior, self.matrix.shape[1], k, by_distance, strength
        ).check()


def train_knn(matrix: Floats, y: NDArray, weight: Floats | None, n_classes: int, seed: int, deadline: Callable[[], float]) -> KnnMember:
    """A neighbour member of rows: y of class numbers, or of numbers where there are no classes."""
    # Whoever asks later waits for comparisons with all rows: as many as time can be had for.
    compared = min(MOST_COLUMNS, matrix.shape[1]) + 4
    most = int(np.clip(max(deadline(), 0.0) * COMPARISONS / ASKED / compared, FEWEST_ROWS, MOST_ROWS))
    matrix, y, weight = some_rows(matrix, y, weight, most, key(seed, "neighbours", "rows"))
    counts = np.ones(len(y)) if weight is None else weight / weight.mean()
    rows = KnnRows(np.clip(matrix, -REACH, REACH), y, counts, n_classes)
    share = relevance(rows, deadline)
    columns = np.sort(np.argsort(-share, kind="stable")[:MOST_COLUMNS])
    same, scaled = np.ones(len(columns)), np.sqrt(share[columns] / max(float(share.max(initial=0.0)), 1e-12))
    scales = [scaled, same] if scaled.any() else [same]
    chosen = search(rows, columns, scales, seed, deadline)
    return rows.member(np.arange(len(y)), columns, *chosen)


def search(
    rows: KnnRows, columns: Integers, scales: list[Floats], seed: int, deadline: Callable[[], float]
) -> tuple[Floats, int, bool, float]:
    """The scale of the columns, the number of neighbours, whether they count by distance, and how many rows everybody is worth."""
    is_class = rows.n_classes > 0
    train_rows, held = held_out(rows.y, is_class, key(seed, "neighbours"), MOST_ROWS, VALIDATION_ROWS)
    best, chosen = np.inf, (scales[0], 20, True, STRENGTHS[is_class][1])
    if not len(held) or not len(train_rows):
        return chosen
    for scale in scales:
        began = perf_counter()
        widest = rows.member(train_rows, columns, scale, max(COUNTS), True, 1.0)
        near, distances = widest.find(rows.matrix[held])
        kinds = product(sorted({min(k, near.shape[1]) for k in COUNTS}), (True, False), STRENGTHS[is_class])
        for k, by_distance, strength in kinds:
            predicted = widest.vote(near[:, :k], distances[:, :k], by_distance, strength)
            loss = inner_loss(predicted, rows.y[held], rows.counts[held], is_class)
            if loss < best:
                best, chosen = loss, (scale, k, by_distance, strength)
        if deadline() < 2.0 * (perf_counter() - began):
            break
    return chosen


def relevance(rows: KnnRows, deadline: Callable[[], float]) -> Floats:
    """For each column the share of the target's variance that lies between pieces of the column, less what chance gives (d,).

    OutOfTimeError where there is no time for all.
    """
    n, d = rows.matrix.shape
    total = float(rows.counts.sum())
    # The variance of classes is the sum of those of their indicators.
    target = rows.y[:, None] == np.arange(rows.n_classes) if rows.n_classes else rows.y[:, None]
    target = target - (target * rows.counts[:, None]).sum(axis=0) / total
    whole = float((rows.counts[:, None] * target**2).sum())
    found = np.zeros(d)
    if whole <= 0.0:
        return found
    for column in range(d):
        if column % STRIDE == STRIDE - 1 and deadline() <= 0.0:
            raise OutOfTimeError
        values = rows.matrix[:, column]
        knots = np.unique(np.quantile(values, np.linspace(0.0, 1.0, BINS + 1)[1:-1]))
        position = np.searchsorted(knots, values, side="left")
        size = np.bincount(position, rows.counts, minlength=len(knots) + 1)
        pieces = size > 0.0
        between = sum(
            float((np.bincount(position, rows.counts * one, minlength=len(size))[pieces] ** 2 / size[pieces]).sum()) for one in target.T
        )
        found[column] = max(0.0, between / whole - (int(pieces.sum()) - 1) / max(n - 1, 1))
    return found
