"""Inner validation of a member: rows that it is trained on, rows that score its choices, and the loss that they are scored by."""

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.link import log_losses
from woodwind.base.random_streams import choose, key, permutation

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# One row of so many scores a choice.
PARTS = 5


def some_rows(matrix: Floats, y: NDArray, weight: Floats | None, most: int, stream: int) -> tuple[Floats, NDArray, Floats | None]:
    """Rows that count, not more than so many: drawn by key."""
    rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0.0)
    if len(rows) > most:
        rows = rows[choose(stream, len(rows), most)]
    if len(rows) == len(y):
        return matrix, y, weight
    return matrix[rows], y[rows], None if weight is None else weight[rows]


def held_out(y: NDArray, is_class: bool, stream: int, most_trained: int, most_held: int) -> tuple[Integers, Integers]:
    """Rows that are trained on and rows that score: of each class its share, of which the first row is always learned."""
    order = permutation(stream, len(y))
    always = order[:0]
    if is_class:
        order = order[np.argsort(y[order], kind="stable")]
        first = np.append(True, np.diff(y[order]) != 0)
        order, always = order[~first], order[first]
    held_mask = np.arange(len(order)) % PARTS == PARTS - 1
    held, train_rows = order[held_mask], np.concatenate([always, order[~held_mask]])
    if len(held) > most_held:
        held = held[choose(key(stream, "held"), len(held), most_held)]
    if len(train_rows) > most_trained:
        train_rows = np.concatenate(
            [always, order[~held_mask][choose(key(stream, "learnt"), len(order) - int(held_mask.sum()), most_trained)]]
        )
    return np.sort(train_rows), np.sort(held)


def inner_loss(scores: Floats, y: NDArray, weight: Floats | None, is_class: bool) -> float:
    """Mean log loss, or mean squared error."""
    losses = log_losses(scores, y) if is_class else (scores[:, 0] - y) ** 2
    return float(losses.mean() if weight is None else (losses * weight).sum() / weight.sum())
