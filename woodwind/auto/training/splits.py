"""Which rows are held out, by the size of the table, by groups, and by time."""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.ensemble.held_out import fold_numbers, hold_out

Integers = NDArray[np.int64]

# Folds cost as many trainings: a small table can pay for more of them, and needs them more. Even numbers keep two processors busy. Of a
# large table one part held out says enough.
FOLDS = ((3_000, 8), (20_000, 6), (80_000, 4))
HELD_SHARE, LARGE_HELD_SHARE, LARGE = 0.2, 0.1, 300_000
# Blocks of time that are held out, one after another; of a large table only the last. What comes before the first of them is only learned:
# members that have seen less would be another matter than the one that learns all rows.
BLOCKS, FIRST_SHARE = 4, 0.5


def folds_for(n_rows: int) -> int:
    """How many folds a table is divided into; 1 where one part of it is held out."""
    return next((folds for most, folds in FOLDS if n_rows <= most), 1)


def fold_of_rows(
    seed: int, n_rows: int, classes: Integers | None, groups: Integers | None, moments: NDArray[np.float64] | None
) -> Integers:
    """The fold in which each row is held out, from 0 on; -1 for rows that are never held out.

    Groups stay together, classes keep their shares; with moments, folds are blocks of time, and rows of the same moment stay together.
    """
    count = folds_for(n_rows)
    share = HELD_SHARE if n_rows <= LARGE else LARGE_HELD_SHARE
    if moments is not None:
        return _blocks(moments, groups, BLOCKS, 1.0 - FIRST_SHARE) if count > 1 else _blocks(moments, groups, 1, share)
    if count > 1:
        fold = fold_numbers(seed, n_rows, count, classes, groups)
        present = np.unique(fold[fold >= 0])
        if len(present) >= 2:
            # Few groups may leave folds empty: those that are not have numbers without gaps.
            return np.where(fold >= 0, np.searchsorted(present, fold), -1)
        if groups is not None:
            raise DataError(
                "The group column has too few groups to hold one out without losing a class. Leave the group out, or collect more groups."
            )
        raise DataError(f"Nothing can be held out of a table with n_samples = {n_rows}. Give more rows, at least two of each class.")
    held = hold_out(seed, n_rows, share, classes, groups)
    return np.where(held, 0, -1)


def _blocks(moments: NDArray[np.float64], groups: Integers | None, count: int, share: float) -> Integers:
    """So many blocks of time of about equal size, the last share of all rows. With groups, one counts from its first moment on."""
    if groups is not None:
        first = np.full(int(groups.max()) + 1, np.inf)
        np.minimum.at(first, groups, moments)
        moments = first[groups]
    rank = np.searchsorted(np.sort(moments), moments)
    block = np.floor((rank / len(moments) - (1.0 - share)) / share * count).clip(-1, count - 1).astype(np.int64)
    present = np.unique(block)
    if len(present) < 2 and moments.min() < moments.max():
        block, present = np.where(moments == moments.max(), 0, -1), np.array([-1, 0])  # the last moment has more rows than that
    if len(present) < 2:
        raise DataError("The time column has too few different values to hold later rows out. Leave it out, or use another column.")
    return np.searchsorted(present, block) - 1
