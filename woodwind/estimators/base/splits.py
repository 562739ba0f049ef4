"""Splits of rows into those that are learned and those that are held out: read from anything that scikit-learn takes, and checked."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from woodwind.base.errors import DataError, FoldWarning, ParameterError, SeenRowsWarning
from woodwind.base.notice import notice
from woodwind.base.random_streams import key
from woodwind.estimators.base.target import Target, missing_positions, one_dimension

Integers = NDArray[np.int64]
Fold = tuple[Integers, Integers]
# What the rows trained on and validation tables without names of their own are called where their scores are kept.
TRAINING, VALIDATION = "training", "validation"
DEFAULT_FOLDS = 5


@dataclass(frozen=True, eq=False)
class SplitRequest:
    """Who asks for splits of which rows."""

    owner: str
    target: Target
    groups: Integers | None
    seed: int  # of the shuffling, where the number of folds is all that is given
    what: str = "cv"  # the parameter


def read_folds(cv: Any, X: Any, request: SplitRequest) -> tuple[Fold, ...]:
    """(training rows, held-out rows) of every fold: no row is in both, and no group if there are groups."""
    n_rows = request.target.n_rows
    if isinstance(cv, bool | str) or (isinstance(cv, int | np.integer) and cv < 2):
        raise ParameterError(
            f"{request.owner}: {request.what} must be an integer of at least 2, a splitter of scikit-learn or an iterable of splits, "
            f"not {cv!r}."
        )
    cv = DEFAULT_FOLDS if cv is None else cv
    if isinstance(cv, int | np.integer):
        cv = _by_number(int(cv), request)
    if hasattr(cv, "split"):
        name = type(cv).__name__
        try:
            with warnings.catch_warnings():
                # Of rare classes we speak ourselves, and by name.
                warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
                # Groups that a splitter tears apart are an error below.
                warnings.filterwarnings("ignore", message="The groups parameter is ignored", category=UserWarning)
                given = list(cv.split(X, request.target.labels(), request.groups))
        except ValueError as error:
            raise DataError(f"{request.owner}: the {n_rows:,} rows cannot be split by {request.what}, a {name}: {error}") from error
    elif isinstance(cv, Iterable):
        name, given = "list of splits", list(cv)
    else:
        raise ParameterError(
            f"{request.owner}: {request.what} must be an integer, a splitter with split(), or an iterable of splits, not {cv!r}."
        )
    folds = tuple(_read_fold(number, one, n_rows, request) for number, one in enumerate(given))
    if not folds:
        raise ParameterError(f"{request.owner}: {request.what} is a {name} without any split. Give at least one.")
    for number, (train_rows, held) in enumerate(folds):
        check_apart(number, train_rows, held, request.groups, request.owner)
    return folds


def _by_number(count: int, request: SplitRequest) -> Any:
    """So many folds of shuffled rows, in which each class has its share; groups stay together.

    Rows come in some order, often that of time, and folds of neighbours would score members by what they have never seen the like of.
    """
    n_rows, target = request.target.n_rows, request.target
    available = n_rows if request.groups is None else len(np.unique(request.groups))
    what = "rows" if request.groups is None else "groups"
    if target.classes is not None and request.groups is None:
        available, what = int(np.bincount(target.y).max()), "rows of the largest class"
    if count > available:
        raise DataError(
            f"{request.owner}: {request.what}={count} folds are more than there are {what}: {available}. Give fewer folds, or a splitter."
        )
    if request.groups is not None:
        return GroupKFold(count) if target.classes is None else StratifiedGroupKFold(count)
    shuffled: dict[str, Any] = {"shuffle": True, "random_state": key(request.seed, "shuffle") % (1 << 31)}
    return KFold(count, **shuffled) if target.classes is None else StratifiedKFold(count, **shuffled)


def _read_fold(number: int, given: Any, n_rows: int, request: SplitRequest) -> Fold:
    """One split as two arrays of row numbers; masks are allowed."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ParameterError(f"{request.owner}: split {number} of {request.what} is no pair (training rows, held-out rows): {given!r}.")
    train_rows, held = (_read_rows(number, one, n_rows, request) for one in given)
    if len(train_rows) == 0 or len(held) == 0:
        which = "training" if len(train_rows) == 0 else "held-out"
        raise ParameterError(f"{request.owner}: split {number} of {request.what} has no {which} rows.")
    if len(np.unique(held)) < len(held):
        raise ParameterError(f"{request.owner}: split {number} of {request.what} holds a row out twice. Name each held-out row once.")
    return train_rows, held


def _read_rows(number: int, given: Any, n_rows: int, request: SplitRequest) -> Integers:
    rows = np.asarray(given)
    if rows.dtype.kind == "b" and rows.shape == (n_rows,):
        return np.flatnonzero(rows).astype(np.int64)
    if rows.ndim != 1 or (rows.dtype.kind not in "iu" and rows.size):
        raise ParameterError(
            f"{request.owner}: split {number} of {request.what} must name rows by whole numbers or by a mask of {n_rows:,} truth values, "
            f"not by an array of type {rows.dtype} and shape {rows.shape}."
        )
    rows = rows.astype(np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= n_rows):
        odd = rows[(rows < 0) | (rows >= n_rows)][0]
        raise ParameterError(f"{request.owner}: split {number} of {request.what} names row {odd}, and there are rows 0 to {n_rows - 1}.")
    return rows


def check_apart(number: int, train_rows: Integers, held: Integers, groups: Integers | None, owner: str) -> None:
    """Raise where a fold learns a row that it holds out, or another row of the same group."""
    largest = int(max(train_rows.max(), held.max())) + 1
    seen = np.zeros(largest, np.bool_)
    seen[train_rows] = True
    both = held[seen[held]]
    if both.size:
        raise DataError(
            f"{owner}: fold {number} learns {both.size:,} of the rows that it holds out, first row {both.min()}: they would look too easy. "
            "Hold out rows that are not learned."
        )
    if groups is None:
        return
    train_groups = np.zeros(int(groups.max()) + 1, np.bool_)
    train_groups[groups[train_rows]] = True
    torn = held[train_groups[groups[held]]]
    if torn.size:
        raise DataError(
            f"{owner}: fold {number} holds out row {torn.min()} and learns other rows of its group. Give a splitter that keeps groups "
            "together, such as GroupKFold, or an integer; or leave groups out."
        )


def warn_unscored(scored: NDArray[np.bool_], owner: str) -> None:
    """Say how many rows no fold holds out."""
    silent = np.flatnonzero(~scored)
    if silent.size:
        notice(
            f"{owner}: {silent.size:,} of {len(scored):,} rows are held out by no fold, as the first ones are in time order, from row "
            f"{silent[0]} on. Of these there are no out-of-fold predictions.",
            FoldWarning,
        )


def warn_absent_classes(folds: tuple[Fold, ...], target: Target, weight: NDArray[np.float64] | None, owner: str) -> None:
    """Say which classes are absent from what a fold learns."""
    if target.classes is None:
        return
    absent: dict[int, list[int]] = {}
    for number, (train_rows, _) in enumerate(folds):
        present = train_rows if weight is None else train_rows[weight[train_rows] > 0.0]
        counts = np.bincount(target.y[present], minlength=target.n_classes)
        for position in np.flatnonzero(counts == 0):
            absent.setdefault(int(position), []).append(number)
    if absent:
        labels = target.classes.tolist()
        shown = "; ".join(f"{labels[position]!r} in {_listed(numbers)}" for position, numbers in list(absent.items())[:3])
        more = f"; and {len(absent) - 3} more" if len(absent) > 3 else ""
        notice(
            f"{owner}: classes are absent from what some of the {len(folds)} folds learn: {shown}{more}. There they have the "
            "probability 0. Give fewer folds, or more rows of these classes.",
            FoldWarning,
        )


def _listed(numbers: list[int]) -> str:
    return ("fold " if len(numbers) == 1 else "folds ") + ", ".join(map(str, numbers[:5])) + (" ..." if len(numbers) > 5 else "")


# ----------------------------------------------------------------------------------------------------
# Rows to stop by that the caller gives, and groups of rows.


def read_groups(groups: Any, n_rows: int, owner: str) -> NDArray[np.int64] | None:
    """Groups of any labels as numbers (n,); None for none."""
    if groups is None:
        return None
    array = one_dimension(groups, owner, "groups")
    if array.size != n_rows:
        raise DataError(f"{owner}: groups has {array.size:,} values, and X has {n_rows:,} rows. Give one group for each row.")
    missing = np.flatnonzero(missing_positions(array))
    if missing.size:
        raise DataError(f"{owner}: groups is missing in {missing.size:,} rows, first in row {missing[0]}. Give each row a group.")
    if array.dtype.kind == "O":
        array = array.astype(str)
    return np.unique(array, return_inverse=True)[1].reshape(-1).astype(np.int64)


def read_eval_sets(eval_set: Any, owner: str) -> dict[str, tuple[Any, Any, Any]]:
    """Validation tables by name, each as (X, y, weight), the weight None where it is not given."""
    if isinstance(eval_set, dict):
        given = {str(name): one for name, one in eval_set.items()}
    elif isinstance(eval_set, tuple | list) and eval_set and all(isinstance(one, tuple) and len(one) in (2, 3) for one in eval_set):
        given = {f"{VALIDATION}_{position}": one for position, one in enumerate(eval_set)}
    else:
        given = {f"{VALIDATION}_0": eval_set}
    if not given or TRAINING in given:
        what = "it has none" if not given else f"the name {TRAINING!r} is that of the rows trained on"
        raise DataError(f"{owner}: eval_set must have at least one validation table, by names of your own, but {what}.")
    return {name: _validation_table(one, owner) for name, one in given.items()}


def _validation_table(given: Any, owner: str) -> tuple[Any, Any, Any]:
    if not isinstance(given, tuple | list) or len(given) not in (2, 3) or isinstance(given[0], tuple):
        came = f"{len(given)} values" if isinstance(given, tuple | list) else f"a value of type {type(given).__name__}"
        raise DataError(
            f"{owner}: eval_set must be (X, y) or (X, y, sample_weight) of one validation table, or several such tuples in a list, or in a "
            f"dict by name, but {came} came."
        )
    X, y, *weight = given
    return X, y, weight[0] if weight else None


# ----------------------------------------------------------------------------------------------------
# Members that are taken as they are may have learned the rows that they are to be scored by: a perfect record gives them away.

# With fewer rows than this, being right about all of them means little.
FEW_ROWS = 50
# Errors of numbers that are no larger than this share of their spread are none.
NO_ERROR = 1e-9


def warn_perfect(names: Sequence[str], predicted: NDArray[Any], truth: NDArray[Any], owner: str) -> None:
    """Warn of members that are right about every row: votes or numbers (n, m), or probabilities (n, m, K)."""
    if len(truth) < FEW_ROWS:
        return
    if predicted.ndim == 3 or predicted.dtype.kind in "iu":
        right = (predicted.argmax(axis=2) if predicted.ndim == 3 else predicted) == truth[:, None]
    else:
        right = np.abs(predicted - truth[:, None]) <= NO_ERROR * np.std(truth)
    perfect = [name for name, always in zip(names, right.all(axis=0), strict=True) if always]
    if perfect and np.ptp(truth) > 0:
        who = f"member {perfect[0]!r} is" if len(perfect) == 1 else f"members {', '.join(map(repr, perfect[:3]))} are"
        more = f" and {len(perfect) - 3} more" if len(perfect) > 3 else ""
        notice(
            f"{owner}: {who}{more} right about all {len(truth):,} rows. If they were trained on these rows, they cannot be scored by them: "
            "give rows that members have not seen, or set prefit=False to train copies of them. prefit=True says that all is well.",
            SeenRowsWarning,
        )
