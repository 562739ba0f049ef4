"""Loss: what a booster needs to know about its goal.

The life of a loss, in the order of a training:

1. `check_target(y)` refuses targets outside of its domain, in words. `as_target(y)` is the target in the type that boosting keeps
   and hands to all that follows.
2. `start(y, weight)` is the constant score that fits best. Its sums are exact, so it is the same for any split into parts.
3. Each round, `resolved(y, raw, weight)` fixes what the loss takes from the residuals (Huber's delta), and gives itself else.
4. `derivatives`, or in the fast path the kernels that read `formula`, give the gradient and hessian of every row.
   `bounds()` tells how large they can be, where that is known beforehand; `with_known` remembers those that take long.
5. Where a leaf is not a Newton step, `refits` say how its value is found from the residuals; `rescaled_steps` are Newton steps where
   derivatives have units of their own.
6. `total` gives the sum of the losses and the sum of the weights. Both add over parts; `value` is their ratio.
7. `predict(raw)` turns scores into what users see, through `link`.

A loss is a frozen dataclass of its own parameters: equal, hashable, printable, storable by name and numbers.
A built-in loss is a class of `regression.py` or `classification.py` that is in its `__all__`: all lists of losses, the texts that name
them and the kinds of the model file follow from that (docs/contributing/add-a-loss.md). The laws that losses obey are in
tests/laws/test_losses.py.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import TargetError, WeightError
from woodwind.base.fixed import exact_mean, exact_sum, largest_of
from woodwind.base.pool import run_ranges
from woodwind.kernels.losses.derivatives import SUM_BLOCK, Formula, derivatives, loss_sums
from woodwind.losses.links import Floats, Identity, Link

Rows = NDArray[np.int32]
Derivatives = tuple[Floats, Floats]  # gradient and hessian of every row: (n,), or (n, K) for K scores
Positions = NDArray[np.int64]

# A derivative is worth about this many histogram updates, by which `run_ranges` counts.
WORK = 4

# No larger number of rows is a whole one.
MOST_COUNTED = 2.0**53
# Gains are squares of sums of targets, and those of a million rows of this size are still finite.
LARGEST_TARGET = 1e100


class LeafRefit(Protocol):
    """How the values of leaves are found from the residuals y - raw of their rows."""

    def values(self, rows: Rows, begins: Positions, ends: Positions, residual: Floats, weight: Floats | None, threads: int = 1) -> Floats:
        """Value of each leaf; leaf j has the rows `rows[begins[j]:ends[j]]`."""


class RowsByLeaf(NamedTuple):
    """The rows of leaves: leaf j has the rows `rows[begins[j]:ends[j]]`."""

    rows: Rows
    begins: Positions
    ends: Positions


@dataclass(frozen=True)
class Loss(ABC):
    """A loss of a target y and a raw score; see the top of this file for its life."""

    name: ClassVar[str] = ""
    # What other libraries call exactly this loss, spelled small and with _ for hyphens and spaces.
    aliases: ClassVar[tuple[str, ...]] = ()
    task: ClassVar[str] = "regression"  # or "classification"
    link: ClassVar[Link] = Identity()
    # True where the hessian of every row is its weight: then it need not be stored for rows without weights.
    constant_hessian: ClassVar[bool] = False
    # False where the hessian is a stand-in for a true second derivative that is zero.
    exact_hessian: ClassVar[bool] = True
    # True where a row has a score for each class, and kernels/losses/multinomial.py computes the derivatives.
    softmax: ClassVar[bool] = False
    # Newton's step of one row, gradient over hessian, is held to this where the weights of rows differ by thousands; None for no limit.
    longest_step: ClassVar[float | None] = None
    # True where small derivatives are those of rows that are fitted well, though the largest are not known beforehand.
    small_is_fitted: ClassVar[bool] = False

    @classmethod
    def examples(cls) -> tuple["Loss", ...]:
        """Losses of this class for the list of all, over which the laws are tested: one, unless its numbers make a difference."""
        return (cls(),)

    @property
    def width(self) -> int:
        """Scores per row."""
        return 1

    @property
    def redundant_scores(self) -> bool:
        """Whether the scores of a row say the same where one number is added to all of them, as those of classes do."""
        return False

    @property
    def tail(self) -> float:
        """Share of the rows of a leaf that its value depends on: 0.5, unless a quantile is looked for that lies further out."""
        return 0.5

    @property
    def formula(self) -> Formula | None:
        """What the kernels of one score per row need to know; None for several scores and for a user's own loss."""
        return None

    @property
    def refits(self) -> tuple[LeafRefit, ...]:
        """How leaves are refitted, for each score of a row; empty where they are Newton steps."""
        return ()

    def refitted(self, output: int, leaves: RowsByLeaf, y: NDArray[Any], raw: Floats, weight: Floats | None, threads: int = 1) -> Floats:
        """Values of leaves from the residuals of their rows: (L,) of one score, or (L, width) of all of them where `output` is -1."""
        if output >= 0:
            residual = y - (raw if self.width == 1 else raw[:, output])
            return self.refits[output].values(*leaves, residual, weight, threads)
        found = [refit.values(*leaves, y - raw[:, k], weight, threads) for k, refit in enumerate(self.refits)]
        return np.stack(found, axis=1)

    def rescaled_steps(self, steps: Floats, output: int) -> Floats:
        """Newton steps of leaves, (L,) of one score or (L, width) of all where `output` is -1, in the units of raw scores: as they are,
        unless the derivatives of each score are in units of its own.
        """
        return steps

    def bounds(self) -> tuple[float, float] | None:
        """Largest |gradient| and largest hessian of a row of weight one, where they are known beforehand."""
        return None

    @property
    def is_resolved(self) -> bool:
        """Whether `resolved` gives the loss itself, whatever the scores are: so where a loss has no `resolved` of its own."""
        return type(self).resolved is Loss.resolved

    def resolved(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None) -> Self:
        """The loss as it stands in a round that begins with these scores."""
        return self

    def with_known(self, y: NDArray[Any], raw: Floats, threads: int = 1) -> "Loss":
        """The loss with its derivatives at these scores in memory, so that other weights are a product; itself where they are quick."""
        return self

    def as_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """The target in the type that the loss works with, without a copy where it is that already: class numbers where a row has
        several scores, else numbers that can be added and multiplied.
        """
        if self.width == 1:
            return one_score(y)
        return class_indices(y) if np.asarray(y).dtype.kind in "iu" else np.asarray(y)

    def check_target(self, y: NDArray[Any]) -> None:
        """Raise TargetError where the target is outside of the domain."""
        check_finite(y)

    @abstractmethod
    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Best constant score: float64[width]."""

    @abstractmethod
    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Gradient and hessian of every row, times its weight, in the shape of raw: (n,), or (n, K) for K scores."""

    @abstractmethod
    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Sum of the losses by weight, and sum of the weights."""

    def value(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> float:
        """Mean loss by weight."""
        losses, weights = self.total(y, raw, weight, threads)
        if weights <= 0.0:
            raise WeightError("The mean of a loss needs at least one row with a weight above zero.")
        return losses / weights

    def predict(self, raw: Floats, threads: int = 1) -> Floats:
        """What users see for raw scores (n,) or (n, width): means (n,) here; classifiers give probabilities (n, classes)."""
        return self.link.to_mean(one_score(raw), threads)


@dataclass(frozen=True)
class RowLoss(Loss):
    """A loss with one score per row, whose formula is in `kernels/losses/derivatives.py`."""

    switch: ClassVar[int] = -1

    @property
    def number(self) -> float:
        """The number of the formula; 0 where it has none."""
        return 0.0

    @property
    def formula(self) -> Formula:
        """Switch and number, as the kernels take them."""
        return Formula(self.switch, float(self.number))

    def as_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Bytes as they are, since kernels read them as well, and anything else as float64."""
        return one_target(y)

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Gradient and hessian of every row, times its weight: float64[n] each."""
        y, raw, weight = one_target(y), one_score(raw), plain_weight(weight)
        formula = self.resolved(y, raw, weight).formula
        gradient, hessian = np.empty_like(raw), np.empty_like(raw)

        def part(begin: int, end: int) -> None:
            derivatives(formula, y, raw, weight, begin, end, gradient, hessian)

        run_ranges(part, raw.shape[0], threads, WORK)
        return gradient, hessian

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Sum of the losses by weight, through fixed blocks of rows, and sum of the weights."""
        y, raw, weight = one_target(y), one_score(raw), plain_weight(weight)
        formula = self.resolved(y, raw, weight).formula
        n_rows = raw.shape[0]
        sums = np.empty(-(-n_rows // SUM_BLOCK))

        def part(begin: int, end: int) -> None:
            loss_sums(formula, y, raw, weight, begin * SUM_BLOCK, min(end * SUM_BLOCK, n_rows), sums)

        run_ranges(part, sums.shape[0], threads, WORK * SUM_BLOCK)
        return finish_blocks(sums), weight_sum(weight, n_rows)


def times_weight(derivatives: Derivatives, weight: Floats | None) -> Derivatives:
    """Gradient and hessian of every row, times its weight."""
    if weight is None:
        return derivatives
    gradient, hessian = derivatives
    weight = weight if gradient.ndim == 1 else weight[:, None]
    return gradient * weight, hessian * weight


def finish_blocks(sums: Floats) -> float:
    """Add up block sums with one rounding, so that their order does not matter."""
    return math.fsum(sums) if np.isfinite(sums).all() else float(sums.sum())


def weight_sum(weight: Floats | None, n_rows: int) -> float:
    """Sum of the weights, exact; the number of rows where there are none."""
    return float(n_rows) if weight is None else exact_sum(weight)


def one_score(raw: NDArray[Any]) -> Floats:
    """A column (n, 1) or a vector (n,) as a contiguous float64 vector (n,), without a copy where it is one already."""
    return np.ascontiguousarray(raw, np.float64).reshape(-1)


def one_target(y: NDArray[Any]) -> NDArray[np.uint8] | Floats:
    """A target of one score per row as the kernels take it: contiguous (n,), bytes as they are and anything else as float64."""
    given = np.asarray(y)
    return np.ascontiguousarray(given).reshape(-1) if given.dtype == np.uint8 else one_score(given)


def class_indices(y: NDArray[Any]) -> NDArray[np.int32]:
    """Numbers of classes as the kernels of several scores per row take them, without a copy where they are that already."""
    return np.ascontiguousarray(y, np.int32).reshape(-1)


def plain_weight(weight: NDArray[Any] | None) -> Floats | None:
    """Weights as the kernels take them, without a copy where they are that already; None for none."""
    return None if weight is None else np.ascontiguousarray(weight, np.float64)


def in_rows(weight: Floats | None) -> Floats | None:
    """Weights in which a row counts as one row on average, where the given ones are below that, or are no numbers of rows at all.

    Penalties and the smallest leaves are in rows: with a weight of 0.001 for all of them, nothing would be learned. Larger weights stay, so
    that a weight of 20 is as good as 20 rows.
    """
    if weight is None:
        return None
    heaviest = largest_of(weight)
    mean = exact_mean(weight[weight > 0.0] / heaviest)
    if 1.0 - 1e-9 <= mean * heaviest <= MOST_COUNTED:
        return weight
    return np.asarray(weight / heaviest / mean)


def check_finite(y: NDArray[Any]) -> None:
    """Raise TargetError where a target is missing, infinite, or of a size whose square is no longer a float64."""
    values = plain_numbers(y)
    if values.dtype.kind == "f" and values.size:
        refuse_rows(~np.isfinite(values), values, "must be finite numbers")
        largest = largest_of(values)
        if largest > LARGEST_TARGET:
            advice = "Squares of such numbers overflow: divide the target by a constant."
            refuse_rows(np.abs(values) > LARGEST_TARGET, values, f"must not be larger than {LARGEST_TARGET:g}", advice)
        if 0.0 < largest < 1.0 / LARGEST_TARGET:
            advice = "Squares of such numbers vanish: multiply the target by a constant."
            refuse_rows(np.abs(values) == largest, values, f"must reach {1.0 / LARGEST_TARGET:g} in size", advice)


def plain_numbers(y: NDArray[Any]) -> NDArray[Any]:
    """A target to be compared with numbers: whole numbers as they are, which are always finite, and anything else as float64."""
    values = np.asarray(y)
    return values if values.dtype.kind in "iu" else values.astype(np.float64, copy=False)


def refuse_rows(wrong: NDArray[np.bool_], y: NDArray[Any], demand: str, advice: str = "") -> None:
    """Raise TargetError naming the demand and the first rows that fail it, if there are any."""
    positions = np.flatnonzero(wrong)
    if positions.size == 0:
        return
    shown = ", ".join(f"y[{position}] = {np.ravel(y)[position]:g}" for position in positions[:3])
    more = f" and {positions.size - 3} more" if positions.size > 3 else ""
    raise TargetError(f"The target {demand}, but {shown}{more}." + (f" {advice}" if advice else ""))
