"""Losses of survival times: Cox's partial likelihood and accelerated failure time.

A target is what is known of the time of each row's event, (n, 2): lower and upper bound, as `data/tables/survival_times.py` has them.
Cox's likelihood compares each row that has its event with all that are at risk then, so the loss takes all rows together: `bound` puts them
in the order of time once, and `resolved` notes which of them are trained on. The page is docs/algorithms/survival.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from woodwind.base.did_you_mean import did_you_mean, spelling
from woodwind.base.errors import DataError, ParameterError, TargetError
from woodwind.base.fixed import exact_mean, exact_sum
from woodwind.base.pool import run_ranges
from woodwind.data.tables.survival_times import check_right_censored, is_event
from woodwind.distributions.survival_functions import AFT_DISTRIBUTIONS, aft_distribution, aft_median
from woodwind.kernels.losses import cox, failure_times
from woodwind.kernels.losses.cox import RiskSets, RiskSums
from woodwind.kernels.losses.failure_times import FailureRule
from woodwind.losses.base import Derivatives, Loss, one_score, plain_weight, times_weight, weight_sum
from woodwind.losses.links import Floats

# The losses of this file, in the order in which texts name them. To be in this list is to be a kind of the model file.
__all__ = ["CoxPartialLikelihood", "AcceleratedFailureTime"]  # noqa: RUF022

TIES = ("efron", "breslow")
# The work of a row, as `run_ranges` counts.
COX_WORK, AFT_WORK = 6, 20
# In every round the scale is found anew, from so many rows, spread over all of them, and so exactly; and once more in the end.
ROUND_ROWS, ROUND_STEP = 1_000, 1e-4
LAST_ROWS, LAST_STEP = 100_000, 1e-9
# The logarithm of the scale is looked for so far away from where the search begins.
FURTHEST_SCALE = 12.0
START_STEPS = 30


@dataclass(frozen=True)
class SurvivalLoss(Loss):
    """What losses of survival times share."""

    task: ClassVar[str] = "survival"

    def as_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Bounds (n, 2), as they are."""
        return np.ascontiguousarray(y, np.float64)

    def bound(self, y: Floats) -> "SurvivalLoss":
        """The loss as it is trained with on these rows."""
        return self

    def evaluator(self, y: Floats, weight: Floats | None, threads: int) -> Callable[[Floats], float]:
        """The mean loss of these rows, as a function of their scores."""
        return lambda raw: self.value(y, raw, weight, threads)


@dataclass(frozen=True)
class CoxPartialLikelihood(SurvivalLoss):
    """Minus the logarithm of Cox's partial likelihood: each event was that of one of the rows at risk, by their exp(score).

    Domain: events and rows censored on the right, times of at least 0.
    Link: none; a score is the logarithm of a hazard, but for a constant that all rows share.
    Formula: the sum over events of log(sum of exp(score) over the rows at risk) - score; `ties` is how events of one time are counted:
    'breslow' has all of them at risk to the last, 'efron' lets them leave one after the other, on average over all orders.
    Remarks: the hessian of a row is that of its own score; those between two scores are left out, as XGBoost does.
    """

    ties: str = "efron"
    # For training alone: how much each row counts in the sets at risk, 0 for one that is held out, None for one each; () is not said.
    _counts: Any = field(default=(), compare=False, repr=False)
    _sets: Any = field(default=None, compare=False, repr=False)
    _known: Derivatives | None = field(default=None, compare=False, repr=False)  # see `with_known`

    name: ClassVar[str] = "cox"
    aliases: ClassVar[tuple[str, ...]] = ("survival:cox", "coxph", "cox_ph", "cox_nloglik")

    def check(self) -> "CoxPartialLikelihood":
        """The ties are counted in a way that there is; returns self, or raises."""
        if self.ties not in TIES:
            raise ParameterError(f"ties must be 'efron' or 'breslow', not {self.ties!r}.")
        return self

    def check_target(self, y: NDArray[Any]) -> None:
        """Some row has an event, and no time is known within bounds only."""
        check_right_censored(y, "The target", "loss='cox'")
        if not is_event(y).any():
            raise TargetError("The target has no event in any row: all are censored, and a hazard cannot be learned without events.")

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Zero: a constant is divided out."""
        return np.zeros(1)

    def bound(self, y: Floats) -> "CoxPartialLikelihood":
        """The loss of these rows, put in the order of time once for all rounds."""
        return replace(self, _sets=risk_sets(y))

    @property
    def is_resolved(self) -> bool:
        """No: which rows are at risk depends on which are trained on."""
        return False

    def resolved(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None) -> Self:
        """The loss of rows that count as much as these weights say, in the sets at risk."""
        return replace(self, _counts=plain_weight(weight))

    def with_known(self, y: NDArray[Any], raw: Floats, threads: int = 1) -> Self:
        """With its derivatives at these scores in memory."""
        return replace(self, _known=self.derivatives(y, raw, None, threads))

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Gradient and hessian of every row, times its weight."""
        if self._known is not None:
            return times_weight(self._known, weight)
        raw, weight = one_score(raw), plain_weight(weight)
        sets = risk_sets(y) if self._sets is None else self._sets
        if len(raw) != len(sets.group):
            raise DataError(f"Cox's likelihood of {len(sets.group):,} rows was asked about {len(raw):,}: it takes all rows together.")
        relative, _ = relative_risks(raw, threads)
        hazards = np.empty((4, len(sets.begin) - 1))
        counts = weight if isinstance(self._counts, tuple) else self._counts
        cox.hazard_sums(summed(sets, relative, counts), self.ties == "efron", hazards)
        gradient, hessian = np.empty_like(raw), np.empty_like(raw)

        def part(begin: int, end: int) -> None:
            cox.cox_rows(sets, hazards, relative, begin, end, gradient, hessian)

        run_ranges(part, len(raw), threads, COX_WORK)
        if counts is not weight and counts is not None:  # a row that is held out has no part in the scale of the integers either
            gradient[counts == 0.0] = hessian[counts == 0.0] = 0.0
        return times_weight((gradient, hessian), weight)

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Sum over the events among these rows, with these rows at risk, and the weight of the events; (0, 1) where there is none."""
        return self._total(risk_sets(y), one_score(raw), plain_weight(weight), threads)

    def _total(self, sets: RiskSets, raw: Floats, weight: Floats | None, threads: int) -> tuple[float, float]:
        relative, top = relative_risks(raw, threads)
        sums = summed(sets, relative, weight)
        found = np.empty(len(sets.begin) - 1)
        cox.log_risks(sums, self.ties == "efron", found)
        happened = sets.event.astype(np.float64) if weight is None else sets.event * weight
        events = exact_sum(happened)
        return (exact_sum(found) - exact_sum(raw - top, happened), events) if events > 0.0 else (0.0, 1.0)

    def evaluator(self, y: Floats, weight: Floats | None, threads: int) -> Callable[[Floats], float]:
        """The mean loss of an event, as a function of scores: rows are put in the order of time once."""
        sets, weight = risk_sets(y), plain_weight(weight)

        def evaluate(raw: Floats) -> float:
            losses, events = self._total(sets, one_score(raw), weight, threads)
            return losses / events

        return evaluate

    def baseline(self, y: Floats, raw: Floats, weight: Floats | None = None) -> tuple[Floats, Floats]:
        """Breslow's estimate, however ties are counted: times of events, and the cumulative hazard from each on of a row of score 0."""
        sets, raw = risk_sets(y), one_score(raw)
        relative, top = relative_risks(raw, 1)
        sums, hazards = summed(sets, relative, plain_weight(weight)), np.empty((4, len(sets.begin) - 1))
        cox.hazard_sums(sums, False, hazards)
        times = y[sets.order[sets.begin[:-1]], 0]
        happened = sums.count > 0
        return times[happened], hazards[0][happened] * float(np.exp(-top))


def risk_sets(y: Floats) -> RiskSets:
    """The rows in the order of time."""
    times = np.ascontiguousarray(y[:, 0])
    order = np.argsort(times, kind="stable").astype(np.int32)
    begins = np.flatnonzero(np.diff(times[order], prepend=-1.0) != 0.0)
    group = np.empty(len(times), np.int32)
    group[order] = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(times)))
    return RiskSets(order, np.append(begins, len(times)).astype(np.int64), group, is_event(y).astype(np.uint8))


def relative_risks(raw: Floats, threads: int) -> tuple[Floats, float]:
    """exp(score - largest score) of each row, and that largest score."""
    out, top = np.empty_like(raw), float(raw.max(initial=-np.inf))
    run_ranges(lambda begin, end: cox.relative_risks(raw, top, begin, end, out), len(raw), threads, COX_WORK)
    return out, top


def summed(sets: RiskSets, relative: Floats, weight: Floats | None) -> RiskSums:
    """Sums of each time."""
    sums = RiskSums(*np.zeros((4, len(sets.begin) - 1)))
    cox.risk_sums(sets, relative, weight, sums)
    return sums


@dataclass(frozen=True)
class AcceleratedFailureTime(SurvivalLoss):
    """Minus the log likelihood of times whose logarithm is the score plus `scale` times a draw of a standard distribution.

    Domain: events at times above 0, and bounds of times: (5, inf) is censored on the right, (0, 5) on the left, (3, 5) within.
    Link: predictions are medians.
    Formula: minus the log density of a time that is known, and minus the log probability between bounds.
    Remarks: a `scale` of None is fitted: in each round the one of the largest likelihood, given the scores.
    """

    distribution: str = "normal"
    scale: float | None = None

    name: ClassVar[str] = "aft"
    aliases: ClassVar[tuple[str, ...]] = ("survival:aft", "survivalaft", "accelerated_failure_time", "aft_nloglik")

    def check(self) -> "AcceleratedFailureTime":
        """There is such a distribution, and the scale is above zero; returns self, or raises."""
        if aft_distribution(self.distribution) != self.distribution:
            raise ParameterError(f"distribution is called {aft_distribution(self.distribution)!r} here, not {self.distribution!r}.")
        if self.scale is not None and not 0.0 < self.scale < 1e6:
            raise ParameterError(f"scale must be None or a number above 0 and below 1e6, not {self.scale!r}.")
        return self

    def rule(self, scale: float) -> FailureRule:
        """The distribution as kernels take it."""
        return FailureRule(AFT_DISTRIBUTIONS.index(self.distribution), float(scale))

    @property
    def _scale(self) -> float:
        return 1.0 if self.scale is None else self.scale

    def check_target(self, y: NDArray[Any]) -> None:
        """Events have times above zero, and not all rows are censored on the same side."""
        wrong = np.flatnonzero(y[:, 1] <= 0.0)
        if wrong.size:
            raise TargetError(
                f"The target must have events at times above 0 for loss='aft', which takes logarithms, but {wrong.size:,} rows have their "
                f"event at 0, first row {wrong[0]}. Add a small time to all, or use loss='cox'."
            )
        if not is_event(y).any():
            raise TargetError("The target has no event in any row: all are censored, and times cannot be learned without events.")

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """The score of the largest likelihood, with the scale that goes with it."""
        y, weight = np.ascontiguousarray(y, np.float64), plain_weight(weight)
        known = np.where(np.isfinite(y[:, 1]), y[:, 1], np.maximum(y[:, 0], 1e-100))
        used = known if weight is None else known[weight > 0.0]
        score = math.log(float(np.median(used[used > 0.0]))) if (used > 0.0).any() else 0.0
        now = self
        for _ in range(START_STEPS):
            raw = np.full(len(y), score)
            now = self if self.scale is not None else replace(self, scale=self.fitted_scale(y, raw, weight, LAST_ROWS, ROUND_STEP))
            gradient, hessian = now.derivatives(y, raw, weight)
            total = exact_sum(hessian)
            step = exact_sum(gradient) / total if total > 0.0 else 0.0
            score -= min(max(step, -2.0), 2.0)
            if abs(step) < 1e-7:
                break
        return np.array([score])

    @property
    def is_resolved(self) -> bool:
        """Whether the scale is known."""
        return self.scale is not None

    def resolved(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None) -> Self:
        """The loss with the scale of the largest likelihood, where none is given."""
        return self if self.scale is not None else replace(self, scale=self.fitted_scale(y, raw, weight, ROUND_ROWS, ROUND_STEP))

    def fitted_scale(
        self, y: Floats, raw: Floats, weight: Floats | None = None, most_rows: int = LAST_ROWS, step: float = LAST_STEP
    ) -> float:
        """The scale of the largest likelihood, given the scores; from some of the rows where there are more than `most_rows`.

        `step` is how far its logarithm may be off.
        """
        rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
        rows = rows[:: -(-len(rows) // most_rows)] if len(rows) > most_rows else rows
        some, scores = np.ascontiguousarray(y[rows]), np.ascontiguousarray(one_score(raw)[rows])
        own, out = None if weight is None else np.ascontiguousarray(weight[rows]), np.empty(len(rows))

        def gradient(log_scale: float) -> float:
            failure_times.log_scale_gradients(self.rule(math.exp(log_scale)), some, scores, 0, len(rows), out)
            return exact_sum(out, own)

        return math.exp(root_of(gradient, self._first_guess(some, scores, own), step))

    @staticmethod
    def _first_guess(y: Floats, raw: Floats, weight: Floats | None) -> float:
        """The logarithm of the root mean square distance of log times from their scores, of rows that have their event."""
        ended = is_event(y)
        away = np.log(y[ended, 1]) - raw[ended]
        if not len(away) or not away.any():
            return 0.0
        return 0.5 * math.log(exact_mean(away * away, None if weight is None else weight[ended]))

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Gradient and hessian of every row, times its weight."""
        y, raw, weight, rule = np.ascontiguousarray(y, np.float64), one_score(raw), plain_weight(weight), self.rule(self._scale)
        gradient, hessian = np.empty_like(raw), np.empty_like(raw)

        def part(begin: int, end: int) -> None:
            failure_times.failure_derivatives(rule, y, raw, weight, begin, end, gradient, hessian)

        run_ranges(part, len(raw), threads, AFT_WORK)
        return gradient, hessian

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Sum of the losses by weight, and sum of the weights."""
        y, raw, weight, rule = np.ascontiguousarray(y, np.float64), one_score(raw), plain_weight(weight), self.rule(self._scale)
        found = np.empty_like(raw)
        run_ranges(lambda begin, end: failure_times.failure_losses(rule, y, raw, begin, end, found), len(raw), threads, AFT_WORK)
        return exact_sum(found, weight), weight_sum(weight, len(found))

    def evaluator(self, y: Floats, weight: Floats | None, threads: int) -> Callable[[Floats], float]:
        """The mean loss of these rows, as a function of their scores; a scale that is fitted is the best one for them."""
        return lambda raw: self.resolved(y, raw, weight).value(y, raw, weight, threads)

    def predict(self, raw: Floats, threads: int = 1) -> Floats:
        """Median times, (n,)."""
        return aft_median(self.distribution, one_score(raw), self._scale)


def root_of(gradient: Callable[[float], float], begin: float, step: float) -> float:
    """Where an increasing function becomes zero, but for `step`: by false position (Illinois), within bounds that are looked for first."""
    low = high = begin
    at_low = at_high = gradient(begin)
    wide = 0.1
    while at_low > 0.0 and low > begin - FURTHEST_SCALE:
        high, at_high, low, wide = low, at_low, low - wide, 2.0 * wide
        at_low = gradient(low)
    while at_high < 0.0 and high < begin + FURTHEST_SCALE:
        low, at_low, high, wide = high, at_high, high + wide, 2.0 * wide
        at_high = gradient(high)
    if low == high:
        return begin
    if at_low >= 0.0 or at_high <= 0.0:  # the best lies beyond: at the end
        return low if at_low >= 0.0 else high
    kept = 0
    for _ in range(100):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        at_middle = gradient(middle)
        if at_middle == 0.0 or high - low < step:
            return middle
        if at_middle < 0.0:
            moved, low, at_low = middle - low, middle, at_middle
            at_high = at_high * 0.5 if kept < 0 else at_high
            kept = -1
        else:
            moved, high, at_high = high - middle, middle, at_middle
            at_low = at_low * 0.5 if kept > 0 else at_low
            kept = 1
        if moved < step:
            return middle
    return middle


SURVIVAL: dict[str, type[SurvivalLoss]] = {"cox": CoxPartialLikelihood, "aft": AcceleratedFailureTime}


def survival_loss(given: Any, ties: str, distribution: str, scale: float | None) -> SurvivalLoss:
    """The loss of a name, here or elsewhere, with what it takes of the numbers; or the one that is given."""
    if isinstance(given, CoxPartialLikelihood):
        return given.check()
    if isinstance(given, AcceleratedFailureTime):
        return replace(given, distribution=aft_distribution(given.distribution)).check()
    plain = spelling(given) if isinstance(given, str) else ""
    kind = next((kind for kind in SURVIVAL.values() if plain == kind.name or plain in kind.aliases), None)
    if kind is None:
        hint = did_you_mean(plain, tuple(SURVIVAL), alike=0.6) if plain else ""
        raise ParameterError(f"loss must be 'cox' or 'aft', or a survival loss of woodwind.losses, not {given!r}. {hint}".rstrip())
    if kind is CoxPartialLikelihood:
        return CoxPartialLikelihood(ties)
    return AcceleratedFailureTime(aft_distribution(distribution), scale)
