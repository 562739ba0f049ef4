"""Sample weights and class weights: what they mean for the rows that are trained on.

A row of weight zero is absent. Whole weights are repetitions: a row of weight two is a row given twice, exactly. Other weights multiply the
loss of their row; the row counts once towards `min_samples_leaf`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError, TargetError, WeightError
from woodwind.base.fixed import exact_sum
from woodwind.estimators.base.target import Target, missing_positions, one_dimension

Floats = NDArray[np.float64]

# Whole weights become repetitions as long as these do not fill the memory: on average eight rows for one, and 2**24 rows.
MOST_REPEATS = 8
MOST_ROWS = 1 << 24
MOST_EXPONENT = 300  # 2**300 is 2e90


@dataclass(frozen=True, eq=False)
class Weighing:
    """Which rows of the table are trained on, how often, and with which weight."""

    given: Floats | None  # how much every row of the table counts for bins and categories; None for one each
    take: NDArray[np.int64] | None  # rows of the table that are trained on, repeated ones several times; None for each once
    weight: Floats | None  # of the rows trained on; None for one each

    @classmethod
    def of(cls, weight: Floats | None, factor: Floats | None = None) -> "Weighing":
        """What weights of rows mean, and factors by which the classes of rows weigh on top of that."""
        total = weight if factor is None else factor if weight is None else weight * factor
        if total is None or (total == 1.0).all():
            return cls(None, None, None)
        if _are_counts(total):
            return cls(total, np.repeat(np.arange(len(total)), total.astype(np.int64)), None)
        if factor is not None and weight is not None and _are_counts(weight):
            # Whole weights are repetitions also where their classes weigh something else.
            counts = np.where(factor > 0.0, weight, 0.0)
            take = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
            return cls(counts, take, factor[take])
        if total.all():
            return cls(total, None, total)
        present = np.flatnonzero(total)
        return cls(total, present, total[present])

    def of_rows(self, n_rows: int) -> "tuple[NDArray[np.int64] | None, Floats | None]":
        """How many rows each row of the table stands for, and the weight of each of these (0 where there are none); None for one."""
        if self.take is None:
            return None, self.weight
        count = np.bincount(self.take, minlength=n_rows).astype(np.int64)
        if self.weight is None:
            return count, None
        weight = np.zeros(n_rows)
        weight[self.take] = self.weight
        return count, weight

    def at(self, values: NDArray[Any]) -> NDArray[Any]:
        """What belongs to the rows of the table, for the rows trained on."""
        return values if self.take is None else values[self.take]


def _are_counts(weight: Floats) -> bool:
    """Whether weights are whole numbers, few enough to repeat rows by."""
    return bool((weight == np.floor(weight)).all() and weight.sum() <= min(MOST_REPEATS * len(weight), MOST_ROWS))


def read_weight(sample_weight: Any, n_rows: int, owner: str, what: str = "sample_weight") -> Floats | None:
    """Weights as float64 (n,); None for none. Negative, missing, infinite and all-zero weights are refused."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, int | float | np.number):
        sample_weight = np.full(n_rows, sample_weight)
    shape = getattr(sample_weight, "shape", (0,))
    if len(shape) != 1:
        raise WeightError(f"{owner}: Sample weights must be 1D array or scalar, but {what} has the shape {shape}. Give one for each row.")
    array = one_dimension(sample_weight, owner, what)
    if array.size != n_rows:
        raise WeightError(f"{owner}: {what}.shape == {array.shape}, expected ({n_rows},)! Give one weight for each row.")
    if array.dtype.kind == "O":
        array = np.where(missing_positions(array), np.nan, array)
    try:
        weight = np.array(array, np.float64) if array.dtype.kind in "biufO" else None
    except (ValueError, TypeError):
        weight = None
    if weight is None:
        raise WeightError(f"{owner}: {what} must hold numbers, not values of type {array.dtype} such as {array[0]!r}. Convert it first.")
    refuse(~np.isfinite(weight), weight, owner, what, "must be finite", "Set unknown weights to 1, or drop those rows.")
    refuse(weight < 0.0, weight, owner, what, "must not be negative", "Give 0 to rows that are to be left out.")
    if not weight.any():
        raise WeightError(f"{owner}: {what} is zero in every row, so that nothing is left to learn from. Give some rows a positive weight.")
    exponent = math.frexp(float(weight.max()))[1]
    if abs(exponent) > MOST_EXPONENT:  # only what rows weigh beside each other can be meant, and sums stay finite
        weight = np.ldexp(weight, -exponent)
    return weight


def refuse(wrong: NDArray[np.bool_], weight: Floats, owner: str, what: str, demand: str, advice: str) -> None:
    """Raise WeightError naming the first rows, if there are any."""
    positions = np.flatnonzero(wrong)
    if positions.size:
        shown = ", ".join(f"{what}[{position}] = {weight[position]:g}" for position in positions[:3])
        raise WeightError(f"{owner}: {what} {demand}, but it is in {positions.size:,} of {weight.size:,} rows: {shown}. {advice}")


def class_factors(class_weight: Any, weight: Floats | None, target: Target, owner: str) -> Floats | None:
    """The weight of the class of every row; None where all classes weigh one."""
    if class_weight is None or target.classes is None:
        return None
    by_class = _balanced(weight, target) if class_weight == "balanced" else _given(class_weight, target.classes, owner)
    of_row: Floats = by_class[target.y]
    return of_row


def weighed_classes(target: Target, weight: Floats | None, class_weight: Any, owner: str) -> tuple[Target, Weighing]:
    """Class weights count with those of rows; classes of which all rows weigh nothing are absent from the target."""
    weighing = Weighing.of(weight, class_factors(class_weight, weight, target, owner))
    classes = np.asarray(target.classes)
    present = np.unique(weighing.at(target.y))
    if len(present) < 2:
        among = "" if weighing.given is None else " with a weight above zero"
        found = f"every row{among} is of class {classes.tolist()[present[0]]!r}" if len(present) else f"there is no row{among}"
        raise TargetError(
            f"{owner}: y has one class only: {found}, and a classifier needs at least 2 classes. "
            "Look at how the rows and their weights were chosen."
        )
    if len(present) < len(classes):
        number = np.zeros(len(classes), np.int64)
        number[present] = np.arange(len(present))
        target = target.renumbered(number, classes[present])
    return target, weighing


def _balanced(weight: Floats | None, target: Target) -> Floats:
    """Weights that give all classes the same total: the total of all, over the number of classes and the total of the class."""
    ones = np.ones(target.n_rows) if weight is None else weight
    totals = np.array([exact_sum(ones[target.y == k]) if (target.y == k).any() else 0.0 for k in range(target.n_classes)])
    present = totals > 0.0
    return np.where(present, totals.sum() / (present.sum() * np.where(present, totals, 1.0)), 0.0)


def _given(class_weight: dict[Any, Any], classes: NDArray[Any], owner: str) -> Floats:
    """The weights of a dict; a class that it does not name weighs one."""
    number = {label: position for position, label in enumerate(classes.tolist())}
    weights = np.ones(len(classes))
    for label, value in class_weight.items():
        plain = label.item() if isinstance(label, np.generic) else label
        if plain not in number:
            raise ParameterError(f"{owner}: class_weight names the class {label!r}, but the classes of y are {classes.tolist()[:10]}.")
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or not 0.0 <= value < np.inf:
            raise ParameterError(f"{owner}: class_weight[{label!r}] must be a number of at least 0, but it is {value!r}.")
        weights[number[plain]] = value
    return weights
