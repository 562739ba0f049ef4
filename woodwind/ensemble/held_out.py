"""Which rows are held out: a share of them to stop by, or each once, in folds. Drawn by key, classes in their shares, groups whole."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.base.random_streams import choose, hashes, key, uniform

Mask = NDArray[np.bool_]


def hold_out(
    seed: int,
    n_rows: int,
    share: float,
    classes: NDArray[Any] | None = None,
    groups: NDArray[np.int64] | None = None,
    owner: str = "Woodwind",
) -> Mask:
    """Which rows are held out: about `share` of them, at least one, and never all of a class.

    With classes (numbers of classes) each is held out in its share. With groups, whole groups are held out.
    """
    name = key(seed, "validation")
    if n_rows < 2:
        raise DataError(f"{owner}: early stopping needs at least two rows, and there is one. Set early_stopping=False.")
    if groups is not None:
        return _whole_groups(name, share, groups, classes, owner)
    held = np.zeros(n_rows, np.bool_)
    if classes is None:
        held[choose(name, n_rows, min(max(1, round(share * n_rows)), n_rows - 1))] = True
        return held
    # In the order of classes, and within a class of hashes, every so-many-th row is held out: each class in its share,
    # and rare classes together in theirs.
    rank = hashes(name, n_rows)
    order = np.lexsort((rank, classes))
    steps = np.floor(np.arange(n_rows + 1) * share + uniform(key(name, "offset"), 1)[0])
    held[order[np.diff(steps) > 0]] = True
    _spare_classes(held, classes, rank)
    if not held.any():
        common = np.flatnonzero(classes == np.bincount(classes).argmax())
        held[common[np.argmin(rank[common])]] = len(common) > 1
    if not held.any():
        raise DataError(f"{owner}: every class has one row only, so that none can be held out. Set early_stopping=False.")
    return held


def fold_numbers(
    seed: int, n_rows: int, count: int, classes: NDArray[Any] | None = None, groups: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The fold, 0 to count - 1, in which each row is held out, -1 for rows that are not: those of which a class cannot do without.

    With classes (numbers of classes) each is spread over all folds. Rows of one group are in one fold.
    """
    name = key(seed, "folds")
    if groups is not None:
        present, groups = np.unique(groups, return_inverse=True)
        sizes = np.bincount(groups)
        of_group, filled = np.zeros(len(present), np.int64), np.zeros(min(count, len(present)))
        for group in np.argsort(hashes(name, len(present))):
            of_group[group] = np.argmin(filled)
            filled[of_group[group]] += sizes[group]
        fold = of_group[groups]
    else:
        fold = np.empty(n_rows, np.int64)
        rank = hashes(name, n_rows)
        fold[np.argsort(rank) if classes is None else np.lexsort((rank, classes))] = np.arange(n_rows) % count
    if classes is not None:
        together = np.bincount(classes.astype(np.int64) * count + fold, minlength=(int(classes.max()) + 1) * count).reshape(-1, count)
        alone = together == together.sum(axis=1, keepdims=True)
        fold = np.where(alone[classes, fold], -1, fold)
    return fold


def _spare_classes(held: Mask, classes: NDArray[Any], rank: NDArray[np.uint64]) -> None:
    """Give one row of each class that was held out as a whole back to training."""
    left = np.bincount(classes[~held], minlength=int(classes.max()) + 1)
    for lost in np.flatnonzero((left == 0) & (np.bincount(classes, minlength=len(left)) > 0)):
        rows = np.flatnonzero(classes == lost)
        held[rows[np.argmin(rank[rows])]] = False


def _whole_groups(name: int, share: float, groups: NDArray[np.int64], classes: NDArray[Any] | None, owner: str) -> Mask:
    """Groups in a drawn order are held out until their rows are the share; a group that training cannot do without stays."""
    present, groups = np.unique(groups, return_inverse=True)
    n_groups = len(present)
    if n_groups < 2:
        raise DataError(f"{owner}: groups has one group only, so that none can be held out. Set early_stopping=False or give eval_set.")
    labels = np.zeros(len(groups), np.int64) if classes is None else classes
    left = np.bincount(labels)
    sizes = np.bincount(groups)
    rows = np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes)[:-1])
    chosen: list[int] = []
    wanted, so_far = share * len(groups), 0
    for group in np.argsort(hashes(name, n_groups)):
        own = np.bincount(labels[rows[group]], minlength=len(left))
        # A group that would overshoot the share by more than it now falls short of it waits for a smaller one.
        if np.all((left - own > 0) | (own == 0)) and (not chosen or so_far + sizes[group] / 2 <= wanted):
            chosen.append(int(group))
            left, so_far = left - own, so_far + int(sizes[group])
    if not chosen:
        raise DataError(f"{owner}: no group can be held out without losing a class. Set early_stopping=False or give eval_set.")
    return np.isin(groups, chosen)
