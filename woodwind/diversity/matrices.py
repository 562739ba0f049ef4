"""Validation of arguments: what may be given to the functions of this package, and what is wrong with what was given.

Rows come first, members second, classes third: labels and votes (n, m), probabilities (n, m, K), predictions of regressors (n, m),
hits (n, m). Weights of rows are (n,), of members (m,).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, WeightError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Hits = NDArray[np.bool_]

# Whole labels within such a distance of each other are numbered by counting from the smallest: sorting fifty million votes takes seconds.
MOST_COUNTED = 1 << 16

_KINDS = {**dict.fromkeys("biuf", "numbers"), "U": "text", "S": "bytes", "M": "dates", "m": "times", "O": "objects"}


class EncodedClasses(NamedTuple):
    """Labels as numbers 0 .. K - 1: of the truth (n,), of the votes (n, m), and the labels in this order (K,)."""

    truth: Integers
    votes: Integers
    classes: NDArray[Any]


def hits_of(truth: Any, labels: Any) -> Hits:
    """Where members are right: the oracle output of Kuncheva and Whitaker (2003), true for a hit.

    Parameters
    ----------
    truth : sequence of labels, (n,)
        Labels of any kind.
    labels : sequence of labels, (n, m)
        What each of m members predicts for each row; (n,) for a single one.

    Returns
    -------
    array of bool, (n, m)

    Examples
    --------
    >>> from woodwind.diversity import hits_of
    >>> hits_of(["good", "bad"], [["good", "good", "bad"], ["bad", "good", "bad"]]).tolist()
    [[True, True, False], [True, False, True]]
    """
    true, predicted = _truth_and_labels(truth, labels, "hits_of")
    return np.asarray(predicted == true[:, None], np.bool_)


def class_indices(truth: Any, labels: Any) -> EncodedClasses:
    """Labels of any kind as numbers of classes.

    Parameters
    ----------
    truth : sequence of labels, (n,)
    labels : sequence of labels, (n, m)

    Returns
    -------
    EncodedClasses
        truth (n,), votes (n, m) and classes (K,), the labels in order. Whole numbers are counted from the smallest, so there may be
        classes that nobody names.

    Examples
    --------
    >>> from woodwind.diversity import class_indices
    >>> truth, votes, classes = class_indices(["b", "a"], [["b", "c"], ["a", "a"]])
    >>> truth.tolist(), votes.tolist(), classes.tolist()
    ([1, 0], [[1, 2], [0, 0]], ['a', 'b', 'c'])
    """
    return numbered(truth, labels, "class_indices")


# What follows is for the functions of this package.


def numbered(truth: Any, labels: Any, owner: str) -> EncodedClasses:
    """`class_indices`, for an owner whom errors name."""
    true, predicted = _truth_and_labels(truth, labels, owner)
    within = _narrow(true, predicted)
    if within is not None:
        low, high = within
        return EncodedClasses(
            _counted(true, low), _counted(predicted, low), np.arange(low, high + 1).astype(np.result_type(true, predicted))
        )
    if true.dtype.kind != predicted.dtype.kind and "O" in (true.dtype.kind, predicted.dtype.kind):
        true, predicted = true.astype(object), predicted.astype(object)
    positions, classes = _positions(np.hstack([true[:, None], predicted]), owner)
    return EncodedClasses(positions[:, 0], positions[:, 1:], classes)


def read_votes(votes: Any, owner: str, least: int = 2) -> tuple[Integers, int]:
    """Votes (n, m) for labels of any kind as numbers of classes, and how many classes there are."""
    predicted = _two_dimensions(_labels(votes, "votes", owner), "votes", owner, least)
    positions, classes = _positions(predicted, owner)
    return positions, len(classes)


def read_hits(hits: Any, owner: str, least: int = 2) -> Hits:
    """Hits (n, m), which must be truth values: 0 and 1 may be votes for classes of these names."""
    array = np.asarray(hits)
    if array.dtype.kind != "b":
        raise DataError(
            f"{owner}: hits must be truth values (n, m), true where a member is right, but they are of type {array.dtype}. "
            "Give hits_of(truth, labels), or hits.astype(bool) if they are 0 and 1."
        )
    return _two_dimensions(array, "hits", owner, least)


def read_predictions(predictions: Any, owner: str, what: str = "predictions", ndim: int = 2) -> Floats:
    """Finite numbers with so many dimensions."""
    try:
        array = np.asarray(predictions, np.float64)
    except (ValueError, TypeError) as error:
        raise DataError(f"{owner}: {what} must be numbers with {ndim} dimensions: {error}.") from error
    if array.ndim != ndim or array.size == 0:
        raise DataError(f"{owner}: {what} must have {ndim} dimension{'s' * (ndim > 1)} and not be empty, but the shape is {array.shape}.")
    if not np.isfinite(array).all():
        position = tuple(int(one) for one in np.argwhere(~np.isfinite(array))[0])
        raise DataError(f"{owner}: {what} must be finite, but at {position} there is {array[position]}.")
    return array


def read_weight(weight: Any, n_rows: int, owner: str) -> Floats:
    """Weights of rows as shares of their sum (n,); without weights each row has 1 / n."""
    if weight is None:
        return np.full(n_rows, 1.0 / n_rows)
    raw = read_raw_weight(weight, n_rows, owner)
    return np.asarray(raw / raw.sum())


def read_raw_weight(weight: Any, n_rows: int, owner: str) -> Floats:
    """Weights of rows as they are: sums of whole ones are exact."""
    return _checked_weights(weight, n_rows, owner, "sample_weight", "row")


def read_member_weights(weights: Any, n_members: int, owner: str) -> Floats:
    """Weights of members as shares of their sum (m,); without weights each has 1 / m."""
    if weights is None:
        return np.full(n_members, 1.0 / n_members)
    raw = _checked_weights(weights, n_members, owner, "weights", "member")
    return np.asarray(raw / raw.sum())


def read_weights_by_row(weights: Any, shape: tuple[int, ...], owner: str) -> Floats:
    """Weights of members as shares, (m,), or (n, m) where they differ by row: a choice of members for each row is such a weight."""
    n_rows, n_members = shape
    if np.ndim(weights) != 2:
        return read_member_weights(weights, n_members, owner)
    raw = read_predictions(weights, owner, "weights")
    if raw.shape != (n_rows, n_members):
        raise WeightError(f"{owner}: weights must be ({n_members},), or ({n_rows}, {n_members}) if they differ by row, not {raw.shape}.")
    total = raw.sum(axis=1)
    if (raw < 0.0).any() or (total <= 0.0).any():
        raise WeightError(f"{owner}: no weight may be negative, and in each row some member must have one above zero.")
    return np.asarray(raw / total[:, None])


def check_rows(n_rows: int, n_other: int, owner: str, what: str, other: str) -> None:
    """Raise unless two things have as many rows."""
    if n_rows != n_other:
        raise DataError(f"{owner}: {what} has {n_rows:,} rows and {other} has {n_other:,}. Give one row of each for the same rows.")


def check_kinds(truth: NDArray[Any], labels: NDArray[Any], owner: str) -> None:
    """Raise if the truth is, say, text and what was predicted are numbers."""
    kinds = [_KINDS.get(array.dtype.kind, str(array.dtype)) for array in (truth, labels)]
    if kinds[0] != kinds[1] and "objects" not in kinds:
        raise DataError(
            f"{owner}: the truth is {kinds[0]} and what was predicted is {kinds[1]}: no label could ever be right. "
            "Give predictions in the form that the truth has."
        )


def _checked_weights(values: Any, count: int, owner: str, what: str, of_what: str) -> Floats:
    try:
        array = np.asarray(values, np.float64)
    except (ValueError, TypeError) as error:
        raise WeightError(f"{owner}: {what} must be numbers: {error}.") from error
    if array.shape != (count,):
        raise WeightError(f"{owner}: {what} must have one value for each {of_what}, ({count},), but its shape is {array.shape}.")
    total = array.sum()
    if not np.isfinite(array).all() or (array < 0.0).any() or total <= 0.0 or not np.isfinite(total):
        raise WeightError(
            f"{owner}: {what} must be finite, none negative, and not all zero. Give a weight of zero to leave out a {of_what}."
        )
    return array


def _truth_and_labels(truth: Any, labels: Any, owner: str) -> tuple[NDArray[Any], NDArray[Any]]:
    true, predicted = _labels(truth, "truth", owner), _labels(labels, "labels", owner)
    if true.ndim != 1 or true.size == 0:
        raise DataError(f"{owner}: truth must have one label for each row, (n,), but its shape is {true.shape}.")
    if predicted.ndim == 1:
        predicted = predicted[:, None]
    predicted = _two_dimensions(predicted, "labels", owner, 1)
    check_rows(len(true), len(predicted), owner, "truth", "labels")
    check_kinds(true, predicted, owner)
    return true, predicted


def _labels(values: Any, what: str, owner: str) -> NDArray[Any]:
    """Labels as an array in which none is missing."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "US" and isinstance(values, list | tuple):
            array = np.asarray(values, object)  # NumPy has turned the numbers among the strings into strings
    except (ValueError, TypeError) as error:
        raise DataError(f"{owner}: {what} must be an array of labels: {error}.") from error
    if array.dtype.kind not in _KINDS:
        raise DataError(f"{owner}: {what} must be labels (numbers, text, truth values, dates), but it is of type {array.dtype}.")
    missing = np.asarray(array != array, np.bool_) if array.dtype.kind in "fMmO" else np.zeros(1, np.bool_)  # noqa: PLR0124
    if array.dtype.kind == "O":
        missing |= np.asarray(array == np.array(None, object), np.bool_)
    if missing.any():
        position = tuple(int(one) for one in np.argwhere(missing)[0])
        raise DataError(f"{owner}: {what} has no label at {position}: {array[position]}. Leave out rows without one.")
    return array


def _two_dimensions(array: NDArray[Any], what: str, owner: str, least: int) -> NDArray[Any]:
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"{owner}: {what} must have a column for each member and be (n, m), not empty, but the shape is {array.shape}.")
    if array.shape[1] < least:
        raise DataError(f"{owner}: {what} has {array.shape[1]} member, and differences need at least {least}.")
    return array


def _positions(labels: NDArray[Any], owner: str) -> tuple[Integers, NDArray[Any]]:
    """The class number of each label, and the classes in order."""
    within = _narrow(labels)
    if within is not None:
        return _counted(labels, within[0]), np.arange(within[0], within[1] + 1).astype(labels.dtype)
    try:
        classes, found = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise DataError(f"{owner}: labels of several kinds have no order: {error}. Make all of them text, or all numbers.") from error
    return found.reshape(labels.shape).astype(np.int64), classes


def _narrow(*labels: NDArray[Any]) -> tuple[int, int] | None:
    """The smallest and the largest of whole labels that are not far apart; None for others."""
    if any(array.dtype.kind not in "biu" for array in labels):
        return None
    low, high = min(int(array.min()) for array in labels), max(int(array.max()) for array in labels)
    return (low, high) if high - low < MOST_COUNTED else None


def _counted(labels: NDArray[Any], low: int) -> Integers:
    """Whole labels counted from the smallest; no copy where that is what they are."""
    positions = labels.astype(np.int64, copy=False)
    return positions - low if low else positions
