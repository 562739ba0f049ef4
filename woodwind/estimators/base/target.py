"""Targets of any kind: labels become numbers of classes, numbers are checked. An error names the first rows that are wrong."""

import decimal
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from woodwind.base.errors import ConstantTargetWarning, TargetError, WoodwindWarning
from woodwind.base.notice import notice
from woodwind.base.validate import require, require_labels
from woodwind.data.tables.raw import EXACT, SUBTRACT, are_beyond_doubles, warn_of_precision

# Whole labels within such a distance of each other are counted, not sorted, so many rows at a time.
MOST_COUNTED = 1 << 16
BLOCK = 1 << 16

# With fewer rows than this, many classes may well be what somebody wants to try.
FEW_ROWS = 50

LARGEST = 1e290  # of a number to predict: a sum of ten to the eighteenth of them is finite


@dataclass(frozen=True, eq=False)
class Target:
    """A target as losses take it: class numbers, or numbers; `classes` are the labels in order, None for numbers.

    Class numbers are of the type `class_type`, a byte for up to 256 classes: what adds or multiplies them takes a wider one first.
    """

    y: NDArray[Any]
    classes: NDArray[Any] | None = None

    def check(self) -> "Target":
        """Numbers of classes are of some that are there; returns self, or raises DataError."""
        require(self.y.ndim == 1 and self.y.dtype.kind in "iuf", "a target is no list of numbers")
        if self.classes is not None:
            require_labels(self.classes, "a target")
            inside = self.y.dtype.kind in "iu" and (self.y.size == 0 or (self.y.min() >= 0 and self.y.max() < len(self.classes)))
            require(inside, "a target has a class that is not there")
        return self

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for numbers."""
        return 0 if self.classes is None else len(self.classes)

    def at(self, rows: NDArray[Any] | None) -> "Target":
        """The target of some rows."""
        return self if rows is None else Target(self.y[rows], self.classes)

    def renumbered(self, numbers: Any, classes: NDArray[Any]) -> "Target":
        """The same rows among other classes: `numbers` has the new number of each class that there was."""
        return Target(np.asarray(numbers).astype(class_type(len(classes)))[self.y], classes)

    def labels(self) -> NDArray[Any]:
        """What the user gave, as an array."""
        return self.y if self.classes is None else self.classes[self.y]


def class_type(n_classes: int) -> type[np.uint8] | type[np.int32]:
    """The type of class numbers: the target of a million rows is kept for the whole of a training, and has mostly two classes."""
    return np.uint8 if n_classes <= 1 << 8 else np.int32


def read_regression_target(y: Any, owner: str, largest: float = LARGEST) -> Target:
    """A target of numbers, all finite and none beyond `largest`."""
    array = one_dimension(y, owner)
    if array.dtype.kind not in "biufO":
        what = "Complex data not supported: " if array.dtype.kind == "c" else ""
        raise TargetError(f"{owner}: {what}y is of type {array.dtype}, and a regression needs real numbers. {_advice(array)}")
    values = _numbers_of(array, owner) if array.dtype.kind == "O" else array.astype(np.float64)
    _refuse(np.isnan(values), values, owner, "Input y contains NaN", "Drop those rows: nothing can be learned from a row without a target.")
    advice = "Drop those rows, or replace infinity by the largest number that makes sense."
    _refuse(np.isinf(values), values, owner, "Input y contains infinity", advice)
    advice = "Divide the target by a constant."
    _refuse(np.abs(values) > largest, values, owner, f"Input y contains numbers beyond {largest:g}, whose sums overflow,", advice)
    if are_beyond_doubles(array) or (array.dtype.kind == "O" and any(isinstance(one, int) and abs(one) > EXACT for one in array)):
        warn_of_precision([f"{owner}: y"], f"If they are labels, use a classifier; {SUBTRACT}")
    return Target(values)


def check_poisson(target: Target, criterion: str, owner: str) -> Target:
    """The target, if the criterion can be asked of it: Poisson deviance needs numbers that are not negative, and some above zero."""
    if criterion == "poisson":
        advice = "Use criterion='squared_error' or 'absolute_error' for such a target."
        _refuse(target.y < 0.0, target.y, owner, "criterion='poisson' needs counts or amounts, but y contains negative numbers", advice)
        if not (target.y > 0.0).any():
            raise TargetError(f"{owner}: criterion='poisson' needs a target above zero in some row, but y is all zeros. {advice}")
    return target


def read_labels(y: Any, owner: str, known: NDArray[Any] | None = None) -> Target:
    """A target of labels of any kind that can be put in order; with `known` classes, no others are allowed."""
    array = one_dimension(y, owner)
    missing = missing_positions(array)
    _refuse(missing, array, owner, "Input y contains NaN or None", "Drop those rows, or give missing labels a name of their own.")
    if array.dtype.kind == "O":
        array = _plain_objects(array, owner)
    if array.dtype.kind in "cV":
        what = "Complex data not supported" if array.dtype.kind == "c" else "Unknown label type"
        raise TargetError(f"{owner}: {what}: y is of type {array.dtype}. Labels are text, whole numbers or truth values: convert them.")
    if array.dtype.kind == "f":
        _refuse_continuous(array, owner)
    classes, positions = _unique(array, owner)
    if known is not None:
        return _among(Target(positions, classes), known, owner)
    if len(array) >= FEW_ROWS and 2 * len(classes) > len(array):
        notice(
            f"{owner}: y has {len(classes):,} different classes in {len(array):,} rows. If it is a quantity, use a regressor.",
            WoodwindWarning,
        )
    return Target(positions, classes)


def one_dimension(y: Any, owner: str, what: str = "y") -> NDArray[Any]:
    """Anything that is a sequence of values as an array (n,), numbers and text kept apart."""
    if y is None:
        raise TargetError(f"{owner} requires {what} to be passed, but the target {what} is None. Call fit(X, y).")
    if hasattr(y, "tocsc") or isinstance(y, str | bytes | dict | set | frozenset) or callable(y):
        kind = "sparse matrix" if hasattr(y, "tocsc") else type(y).__name__
        raise TargetError(f"{owner}: {what} should be a 1d array, got a {kind} instead. Give a list, an array or a column of a frame.")
    if isinstance(y, np.ma.MaskedArray):
        plain = np.asarray(y.data).astype(object)
        plain[np.ma.getmaskarray(y)] = None
        y = plain
    try:
        array = np.asarray(y)
        if isinstance(y, list | tuple) and array.dtype.kind in "US":
            array = np.array(y, dtype=object)  # NumPy has turned the numbers among the strings into strings
    except (ValueError, TypeError) as error:
        raise TargetError(f"{owner}: {what} should be a 1d array, and this is none: {error}. Give one value for each row.") from error
    if array.ndim == 2 and array.shape[1] == 1:
        notice(
            f"A column-vector {what} was passed when a 1d array was expected. Please change the shape of {what} to (n_samples,), "
            "for example using ravel().",
            DataConversionWarning,
        )
        array = array.reshape(-1)
    if array.ndim > 2:
        raise TargetError(
            f"{owner}: {what} should be a 1d array, got an array of shape {array.shape} instead. It has {array.ndim} axes: one value for "
            "each row is (n_rows,), and several targets are columns, (n_rows, n_targets), where an estimator takes them."
        )
    if array.ndim != 1:
        raise TargetError(
            f"{owner}: {what} should be a 1d array, got an array of shape {array.shape} instead. "
            f"Give one value for each row; for several targets fit one model for each column."
        )
    if array.size == 0:
        raise TargetError(f"{owner}: {what} is empty. Give one value for each row of X.")
    return array


def missing_positions(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Where values are missing: NaN, NaT, None, pandas.NA."""
    if array.dtype.kind in "fc":
        return np.asarray(np.isnan(array))
    if array.dtype.kind in "mM":
        return np.asarray(np.isnat(array))
    # Only of some types of objects need each be looked at, and text is not among them.
    if array.dtype.kind != "O" or not any(_may_be_missing(kind) for kind in set(map(type, array.tolist()))):
        return np.zeros(array.shape, np.bool_)
    return np.fromiter((_is_missing(value) for value in array), np.bool_, array.size)


def _may_be_missing(kind: type) -> bool:
    return kind is type(None) or kind.__name__ in ("NAType", "NaTType") or issubclass(kind, float | np.floating | decimal.Decimal)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | decimal.Decimal) and bool(value != value)  # noqa: PLR0124


def _refuse(wrong: NDArray[np.bool_], values: NDArray[Any], owner: str, what: str, advice: str) -> None:
    positions = np.flatnonzero(wrong)
    if positions.size:
        shown = ", ".join(f"y[{position}] = {values[position]}" for position in positions[:3])
        more = f" and {positions.size - 3:,} more" if positions.size > 3 else ""
        raise TargetError(f"{owner}: {what} in {positions.size:,} of {len(values):,} rows: {shown}{more}. {advice}")


def _refuse_continuous(array: NDArray[Any], owner: str) -> None:
    wrong = ~np.isfinite(array) | (array != np.floor(array))
    advice = "A classifier expects classes: use a regressor for quantities, or cut y into classes."
    _refuse(wrong, array, owner, "Unknown label type: continuous. There are numbers that are not whole", advice)


def _plain_objects(array: NDArray[Any], owner: str) -> NDArray[Any]:
    """Objects that are all truth values, or all numbers, in NumPy's own type; text and the rest as it is."""
    kinds = set(map(type, array.tolist()))
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return array.astype(np.bool_)
    is_number = {kind: issubclass(kind, numbers.Real | decimal.Decimal) and not issubclass(kind, bool | np.bool_) for kind in kinds}
    if all(is_number.values()):
        try:
            return array.astype(np.int64 if all(issubclass(kind, numbers.Integral) for kind in kinds) else np.float64)
        except OverflowError:
            return array
    if any(is_number.values()) or (len(kinds) > 1 and any(issubclass(kind, str) for kind in kinds)):
        raise _mixture(array, owner)
    return array


def _mixture(array: NDArray[Any], owner: str) -> TargetError:
    first: dict[type, int] = {}
    for position, value in enumerate(array):
        first.setdefault(type(value), position)
    shown = ", ".join(f"y[{position}] = {array[position]!r} ({kind.__name__})" for kind, position in list(first.items())[:3])
    return TargetError(
        f"{owner}: Unknown label type: y mixes {shown}. Labels must be of one type, so that they can be put in order: "
        "convert them, for example with [str(label) for label in y]."
    )


def _unique(array: NDArray[Any], owner: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Classes in order, and every row's class by its number, without a sort of all rows where that can be."""
    if array.dtype.kind in "biuf":
        low, high = array.min(), array.max()
        if float(high) - float(low) < MOST_COUNTED:
            return _counted(array, low, int(high) - int(low) + 1)
    if array.dtype.kind not in "OUT":
        classes, positions = np.unique(array, return_inverse=True)
        return classes, positions.reshape(-1).astype(class_type(len(classes)))
    values = array.tolist()
    try:
        ordered = sorted(set(values))
        number = {label: position for position, label in enumerate(ordered)}
        positions = np.fromiter((number[label] for label in values), class_type(len(ordered)), array.size)
    except TypeError:
        raise _mixture(array, owner) from None
    classes = np.empty(len(ordered), array.dtype)
    classes[:] = ordered
    return classes, positions


def _counted(array: NDArray[Any], low: Any, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same for `count` whole numbers from `low` on, of which some may be absent: a tenth of the time of sorting."""

    def offset(begin: int) -> NDArray[np.int64]:
        part = array[begin : begin + BLOCK]
        # Small types could overflow where they are subtracted, and large unsigned ones and floats where they are converted first.
        if part.dtype.kind == "f":
            part = part.astype(np.promote_types(part.dtype, np.float64), copy=False)
        return (part - low).astype(np.int64) if part.dtype.kind in "uf" else part.astype(np.int64) - int(low)

    first = np.full(count, len(array))  # the first row of each number; from the last block to the first, and so in each of them
    for begin in reversed(range(0, len(array), BLOCK)):
        of_block = offset(begin)
        first[of_block[::-1]] = np.arange(begin, begin + len(of_block))[::-1]
    present = first < len(array)
    number = (np.cumsum(present) - 1).astype(class_type(int(present.sum())))
    positions = np.empty(len(array), number.dtype)
    for begin in range(0, len(array), BLOCK):
        positions[begin : begin + BLOCK] = number[offset(begin)]
    return array[first[present]], positions


def _among(target: Target, known: NDArray[Any], owner: str) -> Target:
    """A target by classes that are known already."""
    number = {label: position for position, label in enumerate(known.tolist())}
    labels = np.asarray(target.classes).tolist()
    new = [label for label in labels if label not in number]
    if new:
        raise TargetError(f"{owner}: the labels {new[:3]} are not among the classes of the training data, which are {known.tolist()[:10]}.")
    return target.renumbered([number[label] for label in labels], known)


def _numbers_of(array: NDArray[Any], owner: str) -> NDArray[np.float64]:
    """Objects as numbers; missing ones as NaN, so that they are counted with the others."""
    missing = missing_positions(array)
    values = np.full(array.size, np.nan)
    for position in np.flatnonzero(~missing):
        value = array[position]
        if not isinstance(value, numbers.Real | decimal.Decimal | np.bool_):
            raise TargetError(
                f"{owner}: y must hold numbers, but y[{position}] = {value!r} is of type {type(value).__name__}. {_advice(array)}"
            )
        try:
            values[position] = value
        except OverflowError:  # a whole number beyond all floats
            values[position] = np.inf
    return values


def _advice(array: NDArray[Any]) -> str:
    if array.dtype.kind in "mM":
        return "Turn dates into a number first, for example days since the first of them."
    return "Convert it with .astype(float); for labels use a classifier."


def warn_constant(y: NDArray[np.float64], owner: str) -> None:
    """Warn of numbers that are the same in every row."""
    if len(y) > 1 and (y == y[0]).all():
        predicted = f"{owner}: y is {y[0]:g} in every row, so that there is nothing to learn: the model predicts this number."
        notice(predicted, ConstantTargetWarning)
