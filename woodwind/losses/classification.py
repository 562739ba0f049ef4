"""Losses for classification: log loss of two or of many, exponential loss."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.fixed import exact_mean
from woodwind.base.pool import run_ranges
from woodwind.kernels.losses import derivatives as switches
from woodwind.kernels.losses.derivatives import SUM_BLOCK
from woodwind.kernels.losses.multinomial import multi_derivatives, multi_loss_sums
from woodwind.losses.base import (
    WORK,
    Loss,
    RowLoss,
    check_finite,
    class_indices,
    finish_blocks,
    one_score,
    one_target,
    plain_numbers,
    plain_weight,
    refuse_rows,
    weight_sum,
)
from woodwind.losses.links import Floats, Link, Logit, Softmax

# The losses of this file, in the order in which texts name them. To be in this list is to be public, and a kind of the model file.
__all__ = ["LogLoss", "Exponential", "Multinomial"]  # noqa: RUF022

# Shares of a class are kept this far from 0 and 1 in the start: a class without rows must have a finite score.
MARGIN = float(np.finfo(np.float64).eps)

# In log-odds. Where a row that weighs 100,000 is taken for the wrong class with certainty, its hessian is 0 and Newton's step has no end.
# LogitBoost holds the same quotient to 2 to 4, in half log-odds (Friedman, Hastie & Tibshirani 2000, section 4.2).
LONGEST_STEP = 20.0


# Other names of the log loss. Of labels, the cross entropy is the same.
ANY_NUMBER_OF_CLASSES = ("logloss", "cross_entropy", "crossentropy", "deviance")


@dataclass(frozen=True)
class TwoClasses(RowLoss):
    """What losses of two classes share: y is the share of the second class, and predictions are two probabilities."""

    task: ClassVar[str] = "classification"

    def as_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Class numbers in bytes, which kernels read as they are; shares as float64."""
        given = np.asarray(y)
        return one_target(given.astype(np.uint8, copy=False) if given.dtype.kind in "iu" else given)

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Score of the share of the second class."""
        share = min(max(exact_mean(one_target(y), plain_weight(weight)), MARGIN), 1.0 - MARGIN)
        return self.link.to_score(np.array([share]))

    def predict(self, raw: Floats, threads: int = 1) -> Floats:
        """Probabilities of both classes: (n, 2)."""
        # Each from its own score, so that neither loses its digits near 0.
        score = one_score(raw)
        return np.stack([self.link.to_mean(-score, threads), self.link.to_mean(score, threads)], axis=1)


@dataclass(frozen=True)
class LogLoss(TwoClasses):
    """Log loss of two classes: minus the logarithm of the probability of what came.

    Domain: y from 0 to 1; 0 and 1 for classes, in between for shares.
    Link: probability of class 1 = 1 / (1 + exp(-raw)).
    Formula: log(1 + exp(raw)) - y * raw.
    Remarks: half the binomial deviance. Starts at the log odds of the mean. A leaf is a Newton step.
    """

    name: ClassVar[str] = "log_loss"
    aliases: ClassVar[tuple[str, ...]] = (*ANY_NUMBER_OF_CLASSES, "binary:logistic", "binary", "binary_logloss", "binomial_deviance")
    switch: ClassVar[int] = switches.LOGISTIC
    link: ClassVar[Link] = Logit()
    longest_step: ClassVar[float | None] = LONGEST_STEP

    def bounds(self) -> tuple[float, float]:
        """|p - y| <= 1 and p (1 - p) <= 1/4."""
        return 1.0, 0.25

    def check_target(self, y: NDArray[Any]) -> None:
        """Targets are shares."""
        check_finite(y)
        values = plain_numbers(y)
        refuse_rows((values < 0.0) | (values > 1.0), values, f"of loss '{self.name}' must lie between 0 and 1")


@dataclass(frozen=True)
class Exponential(TwoClasses):
    """Exponential loss of two classes, which AdaBoost minimises: Friedman, Hastie & Tibshirani 2000.

    Domain: y is 0 or 1.
    Link: probability of class 1 = 1 / (1 + exp(-2 * raw)).
    Formula: exp(-(2 * y - 1) * raw).
    Remarks: starts at half the log odds of the mean. A row that is far on the wrong side weighs exponentially much, so
    wrong labels hurt: prefer log loss unless AdaBoost is meant.
    """

    name: ClassVar[str] = "exponential"
    switch: ClassVar[int] = switches.EXPONENTIAL
    link: ClassVar[Link] = Logit(2.0)

    def check_target(self, y: NDArray[Any]) -> None:
        """Targets are 0 or 1."""
        check_finite(y)
        values = plain_numbers(y)
        refuse_rows((values != 0.0) & (values != 1.0), values, f"of loss '{self.name}' must be 0 or 1")


@dataclass(frozen=True)
class Multinomial(Loss):
    """Log loss of K classes, with K scores per row.

    Domain: y is the number of the class, 0 .. K - 1.
    Link: probability of class k = exp(raw[k]) / sum over j of exp(raw[j]).
    Formula: log(sum over j of exp(raw[j])) - raw[y].
    Remarks: the gradient of class k is p[k] - [y = k]. The hessian given is the diagonal, p[k] * (1 - p[k]), the textbook's; a tree that
    serves all classes at once uses half its sum, which for two classes is that of `LogLoss`.
    Starts at the logarithms of the shares, centred.
    """

    n_classes: int

    name: ClassVar[str] = "log_loss"
    task: ClassVar[str] = "classification"
    aliases: ClassVar[tuple[str, ...]] = (
        *ANY_NUMBER_OF_CLASSES, "multi:softprob", "multi:softmax", "multiclass", "multi_logloss", "mlogloss", "softmax",
    )  # fmt: skip
    link: ClassVar[Link] = Softmax()
    softmax: ClassVar[bool] = True
    longest_step: ClassVar[float | None] = LONGEST_STEP

    def __post_init__(self) -> None:
        if self.n_classes < 2:
            raise ParameterError(f"n_classes of Multinomial must be at least 2, not {self.n_classes}.")

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Few classes and more."""
        return (cls(3), cls(7))

    @property
    def width(self) -> int:
        """One score per class."""
        return self.n_classes

    @property
    def redundant_scores(self) -> bool:
        """Probabilities stay the same where one number is added to all scores."""
        return True

    def bounds(self) -> tuple[float, float]:
        """|p - [y = k]| <= 1, and half of the sum of p (1 - p) is below 1/2."""
        return 1.0, 0.5

    def check_target(self, y: NDArray[Any]) -> None:
        """Targets are numbers of classes."""
        check_finite(y)
        values = plain_numbers(y)
        wrong = (values < 0) | (values >= self.n_classes)
        if values.dtype.kind == "f":
            wrong |= values != np.floor(values)
        refuse_rows(wrong, values, f"of loss '{self.name}' must be whole numbers from 0 to {self.n_classes - 1}")

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Scores of the class probabilities, centred."""
        classes, weight = class_indices(y), plain_weight(weight)
        probabilities = [exact_mean((classes == k).view(np.uint8), weight) for k in range(self.n_classes)]
        return self.link.to_score(np.clip(probabilities, MARGIN, 1.0 - MARGIN))

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Gradient and diagonal of the hessian, times the weight: float64[n, K] each."""
        classes, raw, weight = class_indices(y), np.ascontiguousarray(raw, np.float64), plain_weight(weight)
        gradient, hessian = np.empty_like(raw), np.empty_like(raw)

        def part(begin: int, end: int) -> None:
            multi_derivatives(classes, raw, weight, begin, end, gradient, hessian)

        run_ranges(part, raw.shape[0], threads, WORK * self.n_classes)
        return gradient, hessian

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Sum of the losses by weight, through fixed blocks of rows, and sum of the weights."""
        classes, raw, weight = class_indices(y), np.ascontiguousarray(raw, np.float64), plain_weight(weight)
        n_rows = raw.shape[0]
        sums = np.empty(-(-n_rows // SUM_BLOCK))

        def part(begin: int, end: int) -> None:
            multi_loss_sums(classes, raw, weight, begin * SUM_BLOCK, min(end * SUM_BLOCK, n_rows), sums)

        run_ranges(part, sums.shape[0], threads, WORK * self.n_classes * SUM_BLOCK)
        return finish_blocks(sums), weight_sum(weight, n_rows)

    def predict(self, raw: Floats, threads: int = 1) -> Floats:
        """Probabilities of the classes: (n, K)."""
        return self.link.to_mean(raw, threads)
