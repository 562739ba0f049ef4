"""Losses for regression: squared, absolute, quantile, Huber; Poisson, Gamma and Tweedie with a log link."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError, TargetError
from woodwind.base.fixed import exact_mean
from woodwind.kernels.losses import derivatives as switches
from woodwind.losses.base import Loss, RowLoss, check_finite, one_score, one_target, plain_weight, refuse_rows
from woodwind.losses.links import Floats, Link, Log
from woodwind.losses.refit import HuberRefit, QuantileRefit, middle_quantile, weighted_quantile

# The losses of this file, in the order in which texts name them. To be in this list is to be public, and a kind of the model file.
__all__ = ["Squared", "Absolute", "Huber", "Quantile", "Quantiles", "Poisson", "Gamma", "Tweedie"]  # noqa: RUF022


@dataclass(frozen=True)
class Squared(RowLoss):
    """Half the squared error.

    Domain: y any number.
    Link: prediction = raw.
    Formula: (y - raw)**2 / 2.
    Remarks: with the half, the hessian is 1. Starts at the mean.
    """

    name: ClassVar[str] = "squared_error"
    # The root has its minimum where the mean has, and objectives of that name have the derivatives of the square.
    aliases: ClassVar[tuple[str, ...]] = (
        "l2", "mse", "rmse", "l2_root", "regression", "regression_l2", "mean_squared_error", "root_mean_squared_error", "reg:squarederror",
        "reg:linear", "squared_loss", "ls",
    )  # fmt: skip
    switch: ClassVar[int] = switches.SQUARED
    constant_hessian: ClassVar[bool] = True

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Mean of the target."""
        return np.array([exact_mean(one_score(y), plain_weight(weight))])


@dataclass(frozen=True)
class Quantile(RowLoss):
    """Pinball loss, whose best constant is a quantile: Koenker & Bassett 1978.

    Domain: y any number; level between 0 and 1.
    Link: prediction = raw.
    Formula: level * (y - raw) where y >= raw, else (1 - level) * (raw - y).
    Remarks: the second derivative is 0, so trees are grown on gradients with the weight as hessian, and leaves are refitted
    to the quantile of the residuals. The quantile is the smallest value at which the weight so far reaches level * total weight,
    with weights and without: a weight of two equals a row given twice. Starts at the quantile of the target; where the weight reaches
    level * total exactly, at the mean of that value and the next.
    """

    level: float = 0.5

    name: ClassVar[str] = "quantile"
    aliases: ClassVar[tuple[str, ...]] = ("pinball", "pinball_loss")
    switch: ClassVar[int] = switches.QUANTILE
    constant_hessian: ClassVar[bool] = True
    exact_hessian: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_between("Quantile", "level", self.level, 0.0, 1.0)

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """The median, and a level of one side."""
        return (cls(0.5), cls(0.9))

    @property
    def number(self) -> float:
        """The level."""
        return self.level

    @property
    def tail(self) -> float:
        """The smaller of the two sides of the level."""
        return min(self.level, 1.0 - self.level)

    @property
    def refits(self) -> tuple[QuantileRefit, ...]:
        """Leaves are quantiles of residuals."""
        return (QuantileRefit(self.level),)

    def bounds(self) -> tuple[float, float]:
        """The steeper slope, and 1."""
        return max(self.level, 1.0 - self.level), 1.0

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Quantile of the target."""
        return np.array([middle_quantile(one_score(y), weight, self.level)])


@dataclass(frozen=True)
class Quantiles(Loss):
    """Several quantiles at once: the sum of their pinball losses, with a score for each level.

    Domain: y any number; levels between 0 and 1, each once, in any order.
    Link: prediction = the scores of a row, put in the order of the levels. So no quantile is above one of a higher level, and the sum of
    the pinball losses is never larger than that of the scores as they are: Chernozhukov, Fernandez-Val & Galichon 2010.
    Formula: the sum over all levels of that of `Quantile`.
    Remarks: one tree serves all levels, and every leaf has for each the quantile of the residuals of its rows.
    """

    levels: tuple[float, ...] = (0.05, 0.5, 0.95)

    name: ClassVar[str] = "quantile"
    aliases: ClassVar[tuple[str, ...]] = ("multiquantile",)
    exact_hessian: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.levels:
            raise ParameterError("Quantiles needs at least one level between 0 and 1.")
        object.__setattr__(self, "levels", tuple(float(level) for level in self.levels))
        for level in self.levels:
            check_between("Quantiles", "level", level, 0.0, 1.0)
        if len(set(self.levels)) < len(self.levels):
            raise ParameterError(f"The levels of Quantiles must differ, not {self.levels}.")

    @property
    def width(self) -> int:
        """One score per level."""
        return len(self.levels)

    @property
    def each(self) -> tuple[Quantile, ...]:
        """The loss of each level."""
        return tuple(Quantile(level) for level in self.levels)

    @property
    def tail(self) -> float:
        """That of the outermost level."""
        return min(one.tail for one in self.each)

    @property
    def refits(self) -> tuple[QuantileRefit, ...]:
        """Leaves are quantiles of residuals."""
        return tuple(QuantileRefit(level) for level in self.levels)

    def as_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Bytes as they are, and anything else as float64."""
        return one_target(y)

    def bounds(self) -> tuple[float, float]:
        """The steepest slope, and half of the sum of the hessians, which a tree for all levels has."""
        return max(one.bounds()[0] for one in self.each), max(1.0, 0.5 * self.width)

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Quantiles of the target."""
        return np.concatenate([one.start(y, weight) for one in self.each])

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Gradient and hessian of every row and level, times the weight of the row, in the shape of raw."""
        pairs = [one.derivatives(y, scores, weight, threads) for one, scores in zip(self.each, self._by_level(raw), strict=True)]
        gradient, hessian = (np.stack(part, axis=1).reshape(np.shape(raw)) for part in zip(*pairs, strict=True))
        return gradient, hessian

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Sum of the losses of all levels by weight, and sum of the weights."""
        totals = [one.total(y, scores, weight, threads) for one, scores in zip(self.each, self._by_level(raw), strict=True)]
        return math.fsum(loss for loss, _ in totals), totals[0][1]

    def predict(self, raw: Floats, threads: int = 1) -> Floats:
        """The quantiles of each row, (n, width), in the order in which the levels were given; none crosses another."""
        scores = self._by_level(raw).T
        found = np.empty(scores.shape)
        found[:, np.argsort(self.levels)] = np.sort(scores, axis=1)
        return found

    def _by_level(self, raw: Floats) -> Floats:
        """Scores (width, n); those of one level may come as (n,)."""
        return np.asarray(raw).reshape(-1, self.width).T


@dataclass(frozen=True)
class Absolute(RowLoss):
    """Absolute error, whose best constant is the median.

    Domain: y any number.
    Link: prediction = raw.
    Formula: |y - raw|.
    Remarks: twice the pinball loss at level 1/2, and grown and refitted like it, to the lower median of the residuals, as scikit-learn's
    boosting does. Starts at the median: of an even number of rows the mean of the two in the middle.
    """

    name: ClassVar[str] = "absolute_error"
    aliases: ClassVar[tuple[str, ...]] = (
        "l1", "mae", "regression_l1", "mean_absolute_error", "reg:absoluteerror", "lad",
    )  # fmt: skip
    switch: ClassVar[int] = switches.ABSOLUTE
    constant_hessian: ClassVar[bool] = True
    exact_hessian: ClassVar[bool] = False

    @property
    def refits(self) -> tuple[QuantileRefit, ...]:
        """Leaves are medians of residuals."""
        return (QuantileRefit(0.5),)

    def bounds(self) -> tuple[float, float]:
        """Both derivatives are 1."""
        return 1.0, 1.0

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Median of the target."""
        return np.array([middle_quantile(one_score(y), weight, 0.5)])


@dataclass(frozen=True)
class Huber(RowLoss):
    """Squared error for small residuals, absolute error for large ones: Huber 1964; in boosting, Friedman 2001, section 4.4.

    Domain: y any number; quantile between 0 and 1; delta positive, or None.
    Link: prediction = raw.
    Formula: (y - raw)**2 / 2 where |y - raw| <= delta, else delta * (|y - raw| - delta / 2).
    Remarks: without a delta, `resolved` takes the given quantile of |y - raw|, anew in every round. The hessian is the weight also in
    the linear parts, where the true one is 0; leaves are refitted to the median of the residuals plus the clipped mean of
    the distances to it. Starts at the median: delta comes from the residuals around the start, so the start cannot come from delta.
    """

    quantile: float = 0.9
    delta: float | None = None

    name: ClassVar[str] = "huber"
    switch: ClassVar[int] = switches.HUBER
    constant_hessian: ClassVar[bool] = True
    exact_hessian: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_between("Huber", "quantile", self.quantile, 0.0, 1.0)
        if self.delta is not None and not (math.isfinite(self.delta) and self.delta >= 0.0):
            raise ParameterError(f"delta of Huber must be None or a number that is not negative, not {self.delta!r}.")

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """With a delta from the residuals, and with one that is given."""
        return (cls(), cls(delta=0.7))

    @property
    def number(self) -> float:
        """Delta, once it is known."""
        if self.delta is None:
            raise ParameterError("Huber without a delta has no formula yet: call resolved(y, raw, weight) first.")
        return self.delta

    @property
    def refits(self) -> tuple[HuberRefit, ...]:
        """Leaves are Huber steps."""
        return (HuberRefit(self.number),)

    def bounds(self) -> tuple[float, float] | None:
        """Delta and 1, once delta is known."""
        return None if self.delta is None else (self.delta, 1.0)

    @property
    def is_resolved(self) -> bool:
        """Where delta was given."""
        return self.delta is not None

    def resolved(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None) -> Self:
        """Fix delta at the quantile of the absolute residuals, where it was not given."""
        if self.delta is not None:
            return self
        size = np.abs(one_score(y) - one_score(raw))
        return replace(self, delta=weighted_quantile(size, weight, self.quantile))

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Median of the target."""
        return np.array([middle_quantile(one_score(y), weight, 0.5)])


@dataclass(frozen=True)
class LogMean(RowLoss):
    """What Poisson, Gamma and Tweedie share: the score is the logarithm of the mean."""

    link: ClassVar[Link] = Log()

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Logarithm of the mean of the target."""
        mean = exact_mean(one_score(y), plain_weight(weight))
        if mean <= 0.0:
            raise TargetError(f"Loss '{self.name}' needs a target with a positive mean, but it is {mean:g}.")
        return self.link.to_score(np.array([mean]))


@dataclass(frozen=True)
class Poisson(LogMean):
    """Half the Poisson deviance, for counts and rates.

    Domain: y >= 0, not all 0.
    Link: prediction = exp(raw).
    Formula: exp(raw) - y * raw.
    Remarks: without the constant y * log(y) - y. Starts at the logarithm of the mean.
    """

    name: ClassVar[str] = "poisson"
    aliases: ClassVar[tuple[str, ...]] = ("count:poisson", "mean_poisson_deviance")
    switch: ClassVar[int] = switches.POISSON

    def check_target(self, y: NDArray[Any]) -> None:
        """Targets are not negative, and not all zero."""
        check_not_negative(self.name, y)


@dataclass(frozen=True)
class Gamma(LogMean):
    """Half the Gamma deviance, for positive amounts whose spread grows with their mean.

    Domain: y > 0.
    Link: prediction = exp(raw).
    Formula: raw + y * exp(-raw).
    Remarks: without the constant -log(y) - 1. Starts at the logarithm of the mean.
    """

    name: ClassVar[str] = "gamma"
    aliases: ClassVar[tuple[str, ...]] = ("reg:gamma", "mean_gamma_deviance")
    switch: ClassVar[int] = switches.GAMMA

    def check_target(self, y: NDArray[Any]) -> None:
        """Targets are positive."""
        check_finite(y)
        values = np.asarray(y, np.float64)
        advice = "For amounts that may be zero use loss='tweedie', for counts loss='poisson'."
        refuse_rows(values <= 0.0, values, f"of loss '{self.name}' must be positive", advice)


@dataclass(frozen=True)
class Tweedie(LogMean):
    """Half the Tweedie deviance, for amounts that are often exactly zero, such as claims.

    Domain: y >= 0, not all 0; power between 1 (Poisson) and 2 (Gamma).
    Link: prediction = exp(raw).
    Formula: exp((2 - p) * raw) / (2 - p) - y * exp((1 - p) * raw) / (1 - p).
    Remarks: without the constant y**(2 - p) / ((1 - p) * (2 - p)). Starts at the logarithm of the mean.
    """

    power: float = 1.5

    name: ClassVar[str] = "tweedie"
    aliases: ClassVar[tuple[str, ...]] = ("reg:tweedie",)
    switch: ClassVar[int] = switches.TWEEDIE

    def __post_init__(self) -> None:
        advice = " At 1 use Poisson, at 2 use Gamma."
        check_between("Tweedie", "power", self.power, 1.0, 2.0, advice)

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Between Poisson and Gamma, and near to Poisson."""
        return (cls(1.5), cls(1.1))

    @property
    def number(self) -> float:
        """The power."""
        return self.power

    def check_target(self, y: NDArray[Any]) -> None:
        """Targets are not negative, and not all zero."""
        check_not_negative(self.name, y)


def check_between(owner: str, name: str, value: float, low: float, high: float, advice: str = "") -> None:
    """Raise ParameterError unless low < value < high."""
    if not low < value < high:
        raise ParameterError(f"{name} of {owner} must lie between {low:g} and {high:g}, both excluded, not {value!r}.{advice}")


def check_not_negative(name: str, y: NDArray[Any]) -> None:
    """Raise TargetError where a target is negative, or where all are zero."""
    check_finite(y)
    values = np.asarray(y, np.float64)
    advice = "For targets of either sign use loss='squared_error'."
    refuse_rows(values < 0.0, values, f"of loss '{name}' must not be negative", advice)
    if not values.any():
        raise TargetError(f"The target of loss '{name}' must not be zero in every row: the logarithm of its mean is the start.")
