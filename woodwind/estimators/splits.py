"""Splits of rows into those that are learnt and those that are held out: read from anything that scikit-learn takes, and checked."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from woodwind.base.errors import DataError, FoldWarning, ParameterError
from woodwind.base.notice import notice
from woodwind.base.streams import key
from woodwind.estimators.target import Target

Integers = NDArray[np.int64]
Fold = tuple[Integers, Integers]
DEFAULT_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Asking:
    """Who asks for splits of which rows."""

    owner: str
    target: Target
    groups: Integers | None
    seed: int  # of the shuffling, where the number of folds is all that is given
    what: str = "cv"  # the parameter


def read_folds(cv: Any, X: Any, asking: Asking) -> tuple[Fold, ...]:
    """(training rows, held-out rows) of every fold: no row is in both, and no group if there are groups."""
    n_rows = asking.target.n_rows
    if isinstance(cv, bool | str) or (isinstance(cv, int | np.integer) and cv < 2):
        raise ParameterError(
            f"{asking.owner}: {asking.what} must be an integer of at least 2, a splitter of scikit-learn or an iterable of splits, "
            f"not {cv!r}."
        )
    cv = DEFAULT_FOLDS if cv is None else cv
    if isinstance(cv, int | np.integer):
        cv = _by_number(int(cv), asking)
    if hasattr(cv, "split"):
        name = type(cv).__name__
        try:
            with warnings.catch_warnings():
                # Of rare classes we speak ourselves, and by name.
                warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
                # Groups that a splitter tears apart are an error below.
                warnings.filterwarnings("ignore", message="The groups parameter is ignored", category=UserWarning)
                given = list(cv.split(X, asking.target.labels(), asking.groups))
        except ValueError as error:
            raise DataError(f"{asking.owner}: the {n_rows:,} rows cannot be split by {asking.what}, a {name}: {error}") from error
    elif isinstance(cv, Iterable):
        name, given = "list of splits", list(cv)
    else:
        raise ParameterError(
            f"{asking.owner}: {asking.what} must be an integer, a splitter with split(), or an iterable of splits, not {cv!r}."
        )
    folds = tuple(_read_fold(number, one, n_rows, asking) for number, one in enumerate(given))
    if not folds:
        raise ParameterError(f"{asking.owner}: {asking.what} is a {name} without any split. Give at least one.")
    for number, (learnt, held) in enumerate(folds):
        check_apart(number, learnt, held, asking.groups, asking.owner)
    return folds


def _by_number(count: int, asking: Asking) -> Any:
    """So many folds of shuffled rows, in which each class has its share; groups stay together.

    Rows come in some order, often that of time, and folds of neighbours would judge members by what they have never seen the like of.
    """
    n_rows, target = asking.target.n_rows, asking.target
    available = n_rows if asking.groups is None else len(np.unique(asking.groups))
    what = "rows" if asking.groups is None else "groups"
    if target.classes is not None and asking.groups is None:
        available, what = int(np.bincount(target.y).max()), "rows of the largest class"
    if count > available:
        raise DataError(
            f"{asking.owner}: {asking.what}={count} folds are more than there are {what}: {available}. Give fewer folds, or a splitter."
        )
    if asking.groups is not None:
        return GroupKFold(count) if target.classes is None else StratifiedGroupKFold(count)
    shuffled: dict[str, Any] = {"shuffle": True, "random_state": key(asking.seed, "shuffle") % (1 << 31)}
    return KFold(count, **shuffled) if target.classes is None else StratifiedKFold(count, **shuffled)


def _read_fold(number: int, given: Any, n_rows: int, asking: Asking) -> Fold:
    """One split as two arrays of row numbers; masks are allowed."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ParameterError(f"{asking.owner}: split {number} of {asking.what} is no pair (training rows, held-out rows): {given!r}.")
    learnt, held = (_read_rows(number, one, n_rows, asking) for one in given)
    if len(learnt) == 0 or len(held) == 0:
        which = "training" if len(learnt) == 0 else "held-out"
        raise ParameterError(f"{asking.owner}: split {number} of {asking.what} has no {which} rows.")
    if len(np.unique(held)) < len(held):
        raise ParameterError(f"{asking.owner}: split {number} of {asking.what} holds a row out twice. Name each held-out row once.")
    return learnt, held


def _read_rows(number: int, given: Any, n_rows: int, asking: Asking) -> Integers:
    rows = np.asarray(given)
    if rows.dtype.kind == "b" and rows.shape == (n_rows,):
        return np.flatnonzero(rows).astype(np.int64)
    if rows.ndim != 1 or (rows.dtype.kind not in "iu" and rows.size):
        raise ParameterError(
            f"{asking.owner}: split {number} of {asking.what} must name rows by whole numbers or by a mask of {n_rows:,} truth values, "
            f"not by an array of type {rows.dtype} and shape {rows.shape}."
        )
    rows = rows.astype(np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= n_rows):
        odd = rows[(rows < 0) | (rows >= n_rows)][0]
        raise ParameterError(f"{asking.owner}: split {number} of {asking.what} names row {odd}, and there are rows 0 to {n_rows - 1}.")
    return rows


def check_apart(number: int, learnt: Integers, held: Integers, groups: Integers | None, owner: str) -> None:
    """Raise where a fold learns a row that it holds out, or another row of the same group."""
    largest = int(max(learnt.max(), held.max())) + 1
    seen = np.zeros(largest, np.bool_)
    seen[learnt] = True
    both = held[seen[held]]
    if both.size:
        raise DataError(
            f"{owner}: fold {number} learns {both.size:,} of the rows that it holds out, first row {both.min()}: they would look too easy. "
            "Hold out rows that are not learnt."
        )
    if groups is None:
        return
    learnt_groups = np.zeros(int(groups.max()) + 1, np.bool_)
    learnt_groups[groups[learnt]] = True
    torn = held[learnt_groups[groups[held]]]
    if torn.size:
        raise DataError(
            f"{owner}: fold {number} holds out row {torn.min()} and learns other rows of its group. Give a splitter that keeps groups "
            "together, such as GroupKFold, or an integer; or leave groups out."
        )


def tell_of_unjudged(judged: NDArray[np.bool_], owner: str) -> None:
    """Say how many rows no fold holds out."""
    silent = np.flatnonzero(~judged)
    if silent.size:
        notice(
            f"{owner}: {silent.size:,} of {len(judged):,} rows are held out by no fold, as the first ones are in time order, from row "
            f"{silent[0]} on. Of these there are no out-of-fold predictions.",
            FoldWarning,
        )


def tell_of_absent_classes(folds: tuple[Fold, ...], target: Target, weight: NDArray[np.float64] | None, owner: str) -> None:
    """Say which classes are absent from what a fold learns."""
    if target.classes is None:
        return
    absent: dict[int, list[int]] = {}
    for number, (learnt, _) in enumerate(folds):
        present = learnt if weight is None else learnt[weight[learnt] > 0.0]
        counts = np.bincount(target.y[present], minlength=target.n_classes)
        for place in np.flatnonzero(counts == 0):
            absent.setdefault(int(place), []).append(number)
    if absent:
        labels = target.classes.tolist()
        shown = "; ".join(f"{labels[place]!r} in {_listed(numbers)}" for place, numbers in list(absent.items())[:3])
        more = f"; and {len(absent) - 3} more" if len(absent) > 3 else ""
        notice(
            f"{owner}: classes are absent from what some of the {len(folds)} folds learn: {shown}{more}. There they have the "
            "probability 0. Give fewer folds, or more rows of these classes.",
            FoldWarning,
        )


def _listed(numbers: list[int]) -> str:
    return ("fold " if len(numbers) == 1 else "folds ") + ", ".join(map(str, numbers[:5])) + (" ..." if len(numbers) > 5 else "")
