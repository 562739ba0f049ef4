"""The score of a predictive distribution as a loss: K scores per row, and the natural gradient in the place of the gradient.

Trees are fitted to natural gradients by least squares (Duan et al. 2020, algorithm 1): the hessian of every row is its weight, so that the
value of a leaf is the mean of the natural gradients of its rows. One tree that serves all parameters has to weigh them against each other;
and all of them are turned into integers by one scale. So each is measured in units of its own, in which its information is 1 on average,
and the values of leaves are given back in the units of the scores (`rescaled_steps`).
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import FIRST_BITS, exact_mean, finish_mean, scale_for
from woodwind.base.pool import run_ranges
from woodwind.distributions.base import Distribution
from woodwind.distributions.censored import CensoredDistribution
from woodwind.distributions.counts import PoissonDistribution
from woodwind.distributions.location_scale import (
    LaplaceDistribution,
    LogisticDistribution,
    LogNormalDistribution,
    NormalDistribution,
    StudentTDistribution,
)
from woodwind.distributions.natural import diagonal, natural_gradient
from woodwind.distributions.positive import ExponentialDistribution, WeibullDistribution
from woodwind.kernels.losses import natural_gradients as kernels
from woodwind.kernels.losses.natural_gradients import LONGEST, ScoreFormula
from woodwind.losses.base import (
    WORK,
    Derivatives,
    Loss,
    check_finite,
    finish_blocks,
    one_score,
    plain_weight,
    refuse_rows,
    times_weight,
    weight_sum,
)
from woodwind.losses.links import Floats

# Distributions whose natural gradients by the log score a kernel computes, row by row; classes derived from these are others.
FORMULAS: dict[type[Distribution], int] = {
    NormalDistribution: kernels.NORMAL,
    LogNormalDistribution: kernels.LOG_NORMAL,
    LaplaceDistribution: kernels.LAPLACE,
    LogisticDistribution: kernels.LOGISTIC,
    StudentTDistribution: kernels.STUDENT_T,
    WeibullDistribution: kernels.WEIBULL,
    ExponentialDistribution: kernels.EXPONENTIAL,
    PoissonDistribution: kernels.POISSON,
}
# Rows whose losses are added up at once.
BLOCK = 4096
# Rows whose derivatives are computed at once: with fewer, threads wait for each other's Python (10 % of a training of 50,000 rows).
DERIVATIVES_BLOCK = 16_384

ScoringRule = Literal["log_score", "crps"]


@dataclass(frozen=True)
class DistributionScore(Loss):
    """Minus the log density, or the CRPS, of a distribution whose parameters are the scores of a row.

    Domain: the support of the distribution.
    Link: of the distribution; predictions are means.
    Formula: of the distribution.
    Remarks: `derivatives` gives natural gradients, with weights as hessians; gradients where `natural` is False.
    """

    distribution: Distribution
    rule: ScoringRule = "log_score"
    natural: bool = True
    # For training alone: scores that it does not go below, and the units of the scores in a round.
    _lowest: tuple[float, ...] = ()
    _units: tuple[float, ...] = ()
    _known: Derivatives | None = field(default=None, compare=False, repr=False)  # see `with_known`

    name: ClassVar[str] = "distribution_score"
    constant_hessian: ClassVar[bool] = True
    exact_hessian: ClassVar[bool] = False

    @property
    def width(self) -> int:
        """Parameters of the distribution."""
        return self.distribution.width

    def with_known(self, y: NDArray[Any], raw: Floats, threads: int = 1) -> Self:
        """With its derivatives at these scores in memory: densities take long."""
        return replace(self, _known=self.derivatives(y, raw, None, threads))

    def rescaled_steps(self, steps: Floats, output: int) -> Floats:
        """Steps of leaves in the units of scores, and no longer than the distribution allows."""
        if not self._units:
            return steps
        at = slice(None) if output < 0 else output
        steps = steps / np.array(self._units)[at]
        return self.shortened(steps, self.distribution.longest_steps, at)

    def shortened(self, steps: Floats, longest: tuple[float, ...], at: slice | int) -> Floats:
        """Steps that are no longer than these; as they are where a line search finds their lengths."""
        if not self._lowest:
            return steps
        most = np.array(longest)[at]
        return np.asarray(np.clip(steps, -most, most))

    @property
    def lowest(self) -> tuple[float, ...]:
        """Scores that training does not go below; empty for no bounds."""
        return self._lowest

    def as_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """As the distribution takes it."""
        return self.distribution.as_target(y)

    def check_target(self, y: NDArray[Any]) -> None:
        """Every target must be in the support."""
        if isinstance(self.distribution, CensoredDistribution):
            self.distribution.check_bounds(self.as_target(y))
            return
        check_finite(y)
        wrong = self.distribution.outside(one_score(y))
        advice = f"{self.distribution.title} gives others no probability: take those rows out, or choose another distribution."
        refuse_rows(wrong, y, f"must be {self.distribution.support}", advice)

    def for_target(self, y: NDArray[Any], weight: Floats | None) -> Self:
        """The loss with the bounds that training on these rows stays within."""
        return replace(self, _lowest=tuple(self.distribution.lowest(self.as_target(y), plain_weight(weight)).tolist()))

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """The distribution that fits all rows best."""
        y, weight = self._present(y, weight)
        return self.distribution.start(y, weight)

    def _present(self, y: NDArray[Any], weight: Floats | None) -> tuple[Floats, Floats | None]:
        y, weight = self.as_target(y), plain_weight(weight)
        if weight is not None and not weight.all():
            y, weight = y[weight > 0.0], weight[weight > 0.0]
        return y, weight

    def resolved(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None) -> Self:
        """The loss with the units of a round that begins with these scores: roots of the mean information about each."""
        if not self.natural:
            return self
        scores, family = self._scores(raw), self.distribution
        formula = self._kernel_formula
        if formula is not None:
            means = mean_information(formula, family, scores, plain_weight(weight))
            return replace(self, _units=tuple(math.sqrt(mean) if mean > 0.0 else 1.0 for mean in means))
        found = family.information_diagonal(scores) if self.rule == "log_score" else diagonal(family.crps_metric(scores))
        means = [exact_mean(np.ascontiguousarray(column), plain_weight(weight)) for column in found.T]
        return replace(self, _units=tuple(math.sqrt(mean) if mean > 0.0 else 1.0 for mean in means))

    @property
    def _kernel_formula(self) -> ScoreFormula | None:
        """The distribution as the kernels know it; None where NumPy computes the derivatives."""
        switch = FORMULAS.get(type(self.distribution)) if self.natural and self.rule == "log_score" else None
        if switch is None or self.width > 2:  # degrees of freedom that are learned
            return None
        return ScoreFormula(switch, float(getattr(self.distribution, "df", 0.0)))

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Natural gradients in units of the scores, or gradients, times the weight; and the weight, for every score."""
        if self._known is not None:
            return times_weight(self._known, weight)
        scores, y = self._scores(raw), self.as_target(y)
        gradient, hessian = np.empty_like(scores), np.ones_like(scores)
        formula = self._kernel_formula
        if formula is not None:
            lowest, units = (np.array(some) if some else None for some in (self._lowest, self._units))

            def rows(begin: int, end: int) -> None:
                kernels.natural_gradients(formula, y, scores, lowest, units, begin, end, gradient)

            run_ranges(rows, len(scores), threads, WORK * self.width)
            return times_weight((gradient.reshape(raw.shape), hessian.reshape(raw.shape)), weight)

        def part(begin: int, end: int) -> None:
            # In blocks whose intermediate results stay in the cache of a processor.
            for first in range(begin, end, DERIVATIVES_BLOCK):
                rows = slice(first, min(first + DERIVATIVES_BLOCK, end))
                gradient[rows] = self._directions(y[rows], scores[rows])

        run_ranges(part, len(scores), threads, WORK * WORK * self.width)
        return times_weight((gradient.reshape(raw.shape), hessian.reshape(raw.shape)), weight)

    def _directions(self, y: Floats, scores: Floats) -> Floats:
        """Natural gradients in units of the scores, or gradients, (n, K)."""
        gradient = self.gradient(y, scores)
        if self.natural:
            by_log_score = self.rule == "log_score"
            gradient = (
                self.distribution.natural_gradient(gradient, scores) if by_log_score else natural_gradient(gradient, self.metric(scores))
            )
        gradient = self.held_up(gradient, scores, slice(None))
        if self._units:
            gradient = np.clip(gradient * np.array(self._units), -LONGEST, LONGEST)
        return gradient

    def held_up(self, gradient: Floats, scores: Floats, learned: slice) -> Floats:
        """Gradients by some of the scores that lead none of them below the lowest one."""
        if not self.lowest:
            return gradient
        low = scores[:, learned] <= np.array(self.lowest)[learned]
        return np.where(low, np.minimum(gradient, 0.0), gradient) if low.any() else gradient

    def gradient(self, y: Floats, scores: Floats) -> Floats:
        """Gradients of the score by the parameters' scores, (n, K)."""
        family = self.distribution
        return family.gradient(y, scores) if self.rule == "log_score" else family.crps_gradient(y, scores)

    def metric(self, scores: Floats) -> Floats:
        """Fisher information by the scores, or the metric of the CRPS."""
        family = self.distribution
        return family.information(scores) if self.rule == "log_score" else family.crps_metric(scores)

    def losses(self, y: Floats, scores: Floats) -> Floats:
        """The score of every row: less is better."""
        family = self.distribution
        return -family.log_density(y, scores) if self.rule == "log_score" else family.crps(y, scores)

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Sum of the scores by weight, through fixed blocks of rows, and sum of the weights."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.losses(self.as_target(y), self._scores(raw))
        if weight is not None:
            found = np.where(weight > 0.0, found * weight, 0.0)
        sums = np.array([found[first : first + BLOCK].sum() for first in range(0, len(found), BLOCK)])
        return finish_blocks(sums), weight_sum(plain_weight(weight), len(found))

    def predict(self, raw: Floats, threads: int = 1) -> Floats:
        """Means, (n,)."""
        return self.distribution.mean(self._scores(raw))

    def _scores(self, raw: Floats) -> Floats:
        return np.asarray(raw, np.float64).reshape(-1, self.width)


def mean_information(formula: ScoreFormula, family: Distribution, scores: Floats, weight: Floats | None) -> list[float]:
    """Mean Fisher information about each score, by weight, the same for rows in any order; about all but the first it has no rows."""
    values, digits = np.empty(len(scores)), np.empty(2, np.int64)
    top = kernels.first_information(formula, scores, weight, 0, len(scores), values)
    scale = scale_for(float(np.int64(top).view(np.float64)), FIRST_BITS)
    kernels.digit_sums(values, scale, 0, len(scores), digits)
    first = finish_mean((int(digits[0]) << 32) + int(digits[1]), scale, len(scores), weight)
    return [first, *family.information_diagonal(scores[:1])[0, 1:].tolist()]
