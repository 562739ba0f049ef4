"""A metric: what it is called, what it needs, its value, how far chance may have moved the value, and the loss to be made small.

A standard error is that of the delta method: each row's first-order share in the value, squared and added up. With weights a row stays one
observation, however much it counts: a weight of two gives the value of a row that is there twice, but not its standard error.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, TargetError, WeightError

Floats = NDArray[np.float64]
# (truth, prediction, weight of rows or None) -> a number.
Measure = Callable[[NDArray[Any], NDArray[Any], Floats | None], float]

# Spreads below this share of the values that they are of are the traces of rounding.
ROUNDING = 1e-14

TWO, SEVERAL, REGRESSION, RANKING = "binary", "multiclass", "regression", "ranking"
CLASSES = (TWO, SEVERAL)


@dataclass(frozen=True)
class Metric:
    """A named metric. Truth is class numbers (n,) or numbers (n,); rows of weight zero are not looked at."""

    name: str
    words: str  # one line of help
    tasks: tuple[str, ...]  # of "binary", "multiclass", "regression", "ranking"
    larger_is_better: bool
    # What predictions are: "proba" (n, K), or (n,) of the second of two classes; "label" (n,) class numbers, or (n, K) of which the
    # largest is taken; "number" (n,); "rank" (n,) scores that rank the rows of a query, whose truth is a relevance.
    needs: str
    measure: Measure = field(compare=False)
    spread: Measure = field(compare=False)
    # From the truth and the number of classes: why it says nothing of such rows, whatever is predicted; "" where it says something.
    refuses: Callable[[NDArray[Any], int], str] | None = field(default=None, compare=False)
    of_positive: bool = False  # of two classes it is of the positive one, which is the second unless `for_positive` says otherwise
    absolute: bool = False  # of numbers: errors count by their size, not by its square
    smooth: bool = False  # a smooth function of what is predicted: what the mean of several models gains can be reckoned
    root: bool = False  # its square is a mean over rows
    title: str = ""  # as it stands above a column or in a sentence; its name where there is none
    # Names of exactly this metric elsewhere, spelled small and with _ for hyphens and spaces: of scikit-learn and its scorers, of XGBoost,
    # LightGBM and CatBoost, which writes words together.
    aliases: tuple[str, ...] = ()

    def for_positive(self, positive: int) -> "Metric":
        """The same metric of two classes with this one (0 or 1) as the positive class; itself where that makes no difference."""
        if not self.of_positive or positive == 1:
            return self
        refuses = self.refuses

        def measure(y: NDArray[Any], prediction: NDArray[Any], weight: Floats | None) -> float:
            return self.measure(1 - y, swapped(prediction), weight)

        def spread(y: NDArray[Any], prediction: NDArray[Any], weight: Floats | None) -> float:
            return self.spread(1 - y, swapped(prediction), weight)

        def refused(y: NDArray[Any], n_classes: int) -> str:
            return "" if refuses is None else refuses(1 - y.astype(np.int64), n_classes)

        return replace(self, measure=measure, spread=spread, refuses=refused)

    @property
    def of_numbers(self) -> bool:
        """Whether truth and predictions are numbers, not classes."""
        return self.needs in ("number", "rank")

    def check(self, y: Any) -> "Metric":
        """It can be had for this target, whatever is predicted: to be asked before any work. Gives itself, or raises TargetError."""
        truth = np.asarray(y)
        if self.of_numbers and truth.dtype.kind not in "iufb":
            raise TargetError(f"metric {self.name!r} is for numbers, and the target is {truth.dtype}.")
        if not self.of_numbers and (truth.dtype.kind not in "iub" or (truth.size and truth.min() < 0)):
            raise TargetError(f"metric {self.name!r} is for classes, and the target is {truth.dtype}.")
        if why := self.undefined(truth):
            if self.needs == "rank":
                raise TargetError(f"metric {self.name!r} cannot be had for this target: {why}. Give rows some of which are relevant.")
            other = "rmse" if self.needs == "number" else "log_loss"
            raise TargetError(f"metric {self.name!r} cannot be had for this target: {why}. Choose another, such as {other!r}.")
        return self

    def undefined(self, y: Any, n_classes: int | None = None) -> str:
        """Why it says nothing of rows with this target, as a clause; "" where it says something."""
        truth = np.asarray(y)
        if self.refuses is None or not truth.size:
            return ""
        return self.refuses(truth, 0 if self.of_numbers else n_classes or max(2, int(truth.max()) + 1))

    def value(self, y: Any, prediction: Any, weight: Any = None) -> float:
        """The metric as people know it. Not a number where the rows say nothing about it."""
        return float(self.measure(*self._read(y, prediction, weight)))

    def standard_error(self, y: Any, prediction: Any, weight: Any = None, clusters: NDArray[np.int64] | None = None) -> float:
        """The standard error of the value; not a number for fewer than two rows. What rounding leaves of nothing is nothing.

        With clusters (n,) rows are independent of each other only if they are of two of them.
        """
        if clusters is not None and (clusters != clusters[0]).any():
            return self._cluster_error(np.asarray(y), np.asarray(prediction), weight, clusters)
        y, prediction, weight = self._read(y, prediction, weight)
        spread = float(self.spread(y, prediction, weight)) if len(y) > 1 else float("nan")
        # Metrics of classes are about one in size, whatever the table is; those of numbers look after themselves.
        return 0.0 if not self.of_numbers and spread < ROUNDING else spread

    def _cluster_error(self, y: NDArray[Any], prediction: NDArray[Any], weight: Any, clusters: NDArray[np.int64]) -> float:
        """By the jackknife: whole clusters are left out in turn (Quenouille 1956, Tukey 1958)."""
        heavy = read_weight(weight, len(y))
        values = []
        for number in np.unique(clusters):
            rows = clusters != number
            here = None if heavy is None else heavy[rows]
            if (here is None or here.any()) and not self.undefined(y[rows]):
                values.append(self.value(y[rows], prediction[rows], here))
        return float(np.sqrt((len(values) - 1) * np.var(values))) if len(values) > 1 else float("nan")

    def loss(self, y: Any, prediction: Any, weight: Any = None) -> float:
        """Smaller is better: the value, or what it lacks to one where larger is better."""
        return self.loss_of(self.value(y, prediction, weight))

    def loss_of(self, value: float) -> float:
        """The loss of a value."""
        return 1.0 - value if self.larger_is_better else value

    def _read(self, y: Any, prediction: Any, weight: Any) -> tuple[NDArray[Any], NDArray[Any], Floats | None]:
        y, prediction = np.asarray(y), np.asarray(prediction)
        if y.ndim != 1 or len(y) == 0 or prediction.shape[:1] != y.shape:
            raise DataError(
                f"{self.name} needs one prediction for each of at least one row, but truth is {y.shape} and they are {prediction.shape}."
            )
        weight = read_weight(weight, len(y))
        if self.of_numbers:
            y, prediction = self._read_numbers(y, prediction)
        else:
            y, prediction = self._read_classes(y, prediction)
        if weight is None or (weight > 0.0).all():
            return y, prediction, weight
        there = weight > 0.0
        return y[there], prediction[there], weight[there]

    def _read_numbers(self, y: NDArray[Any], prediction: NDArray[Any]) -> tuple[Floats, Floats]:
        y, prediction = y.astype(np.float64), prediction.astype(np.float64)
        if prediction.ndim == 2 and prediction.shape[1] == 1:
            prediction = prediction[:, 0]
        if prediction.ndim != 1:
            raise DataError(f"{self.name} needs one number for each row, but predictions are {prediction.shape}.")
        self._check_finite(y, prediction)
        return y, prediction

    def _read_classes(self, y: NDArray[Any], prediction: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
        if y.dtype.kind not in "iub" or y.min() < 0:
            raise TargetError(f"{self.name} needs truth as class numbers from 0 on, but it is {y.dtype}, its least value {y.min()!r}.")
        y = y.astype(np.int64, copy=False)
        if prediction.ndim == 1 and self.needs == "label":
            if prediction.dtype.kind not in "iub" or prediction.min() < 0:
                raise DataError(f"{self.name} needs class numbers or probabilities (n, K), but predictions are {prediction.dtype}.")
            return y, prediction.astype(np.int64, copy=False)
        prediction = prediction.astype(np.float64, copy=False)
        if prediction.ndim == 1 or (prediction.ndim == 2 and prediction.shape[1] == 1):
            prediction = np.column_stack([1.0 - prediction.reshape(-1), prediction.reshape(-1)])
        if prediction.ndim != 2 or prediction.shape[1] <= y.max():
            raise DataError(
                f"{self.name} needs a probability for each class, {y.max() + 1} at least, but predictions are {prediction.shape}."
            )
        self._check_finite(prediction)
        return (y, prediction.argmax(axis=1)) if self.needs == "label" else (y, prediction)

    def _check_finite(self, *arrays: Floats) -> None:
        for array in arrays:
            if not np.isfinite(array).all():
                row = int(np.flatnonzero(~np.isfinite(array).reshape(len(array), -1).all(axis=1))[0])
                raise DataError(f"{self.name} needs finite numbers, but there is {array[row]} in row {row}.")


def read_weight(weight: Any, n: int) -> Floats | None:
    """Weights of rows, checked."""
    if weight is None:
        return None
    read: Floats = np.asarray(weight, np.float64)
    if read.shape != (n,) or not np.isfinite(read).all() or (read < 0.0).any() or not read.any():
        raise WeightError(f"Weights must be {n:,} finite numbers, one for each row, not negative and not all zero.")
    return read


def mean(values: Floats, weight: Floats | None) -> float:
    """Mean by weight. Sums of NumPy, not of BLAS, which adds up differently on other numbers of threads."""
    if weight is None:
        return float(values.mean())
    return float((values * weight).sum() / weight.sum())


def spread_of_mean(values: Floats, weight: Floats | None) -> float:
    """The standard error of a mean by weight."""
    off = values - mean(values, weight)
    shares = off / len(values) if weight is None else off * (weight / weight.sum())
    spread = from_shares(shares)
    return 0.0 if spread < ROUNDING * float(np.abs(values).max()) else spread


def from_shares(shares: Floats) -> float:
    """The standard error of a value in which each row has such a share, the shares adding up to zero."""
    n = len(shares)
    return float(np.sqrt((shares * shares).sum() * (n / (n - 1.0))))


def is_one_class(y: NDArray[Any], _: int) -> str:
    """Why rows say nothing of telling classes apart."""
    return "all rows are of one class" if (y == y[0]).all() else ""


def has_no_second_class(y: NDArray[Any], n_classes: int) -> str:
    """Why rows say nothing of finding the positive one of two classes, the second."""
    return "no row is of the positive class" if n_classes == 2 and not (y == 1).any() else ""


def swapped(prediction: NDArray[Any]) -> NDArray[Any]:
    """Class numbers (n,), or probabilities (n, 2), of two classes that change positions."""
    return 1 - prediction if prediction.ndim == 1 else prediction[:, ::-1]
