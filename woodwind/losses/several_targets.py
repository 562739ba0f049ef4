"""Several targets as one loss: that of each target, side by side, with the scores of all in one row.

One tree can serve all targets, and all derivatives become integers by one scale. Squared and Huber losses of targets in different units
would be those of the largest numbers alone; so each of these targets is measured in its own standard deviations, and the values of leaves
are given back in the units of the target (`rescaled_steps`). docs/algorithms/several-targets.md.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import TargetError
from woodwind.base.fixed import exact_mean
from woodwind.losses.base import LeafRefit, Loss, RowsByLeaf, one_score, plain_weight
from woodwind.losses.links import Floats
from woodwind.losses.regression import Huber, Squared


@dataclass(frozen=True)
class SeveralTargetsLoss(Loss):
    """The mean over several targets of the loss of each.

    Domain: that of each.
    Link: that of each; predictions stand side by side.
    Formula: the mean of those of the targets, each in units of its own.
    Remarks: a target is a column of y, (n, k). Starts where each starts.
    """

    each: tuple[Loss, ...]
    # For training alone: the unit of each target, in which its loss is measured; empty for one.
    _units: tuple[float, ...] = ()

    name: ClassVar[str] = "several_targets"
    exact_hessian: ClassVar[bool] = False

    @property
    def width(self) -> int:
        """Scores of all targets: one for numbers and for two classes, one for each of more classes."""
        return sum(one.width for one in self.each)

    @property
    def slices(self) -> tuple[slice, ...]:
        """Where the scores of each target stand."""
        ends = np.cumsum([one.width for one in self.each]).tolist()
        return tuple(slice(end - one.width, end) for one, end in zip(self.each, ends, strict=True))

    @property
    def longest_step(self) -> float | None:  # type: ignore[override]
        """The longest that all targets allow; None where one has no limit."""
        limits = [one.longest_step for one in self.each]
        return None if None in limits else max(limit for limit in limits if limit is not None)

    @property
    def tail(self) -> float:
        """That of the target whose leaves depend on the fewest rows."""
        return min(one.tail for one in self.each)

    @property
    def refits(self) -> tuple[LeafRefit, ...]:
        """How leaves are refitted, where all targets are."""
        every = [one.refits for one in self.each]
        return tuple(refit for refits in every for refit in refits) if all(every) else ()

    def refitted(self, output: int, leaves: RowsByLeaf, y: NDArray[Any], raw: Floats, weight: Floats | None, threads: int = 1) -> Floats:
        """Values of leaves from the residuals of their rows, in the units of the targets."""
        outputs = range(self.width) if output < 0 else (output,)
        found = [self.refits[k].values(*leaves, one_score(y[:, k]) - raw[:, k], weight, threads) for k in outputs]
        return found[0] if output >= 0 else np.stack(found, axis=1)

    def rescaled_steps(self, steps: Floats, output: int) -> Floats:
        """Steps of leaves in the units of the targets."""
        if not self._units:
            return steps
        return steps * (np.array(self._by_score) if output < 0 else self._by_score[output])

    @property
    def _by_score(self) -> tuple[float, ...]:
        """The unit of each score."""
        units = self._units or (1.0,) * len(self.each)
        return tuple(unit for one, unit in zip(self.each, units, strict=True) for _ in range(one.width))

    def bounds(self) -> tuple[float, float] | None:
        """The largest of all, and half of the sum of the hessians, which a tree for all targets has."""
        every = [one.bounds() for one in self.each]
        known = [bounds for bounds in every if bounds is not None]
        if len(known) < len(every) or self._units:
            return None
        half = 0.5 * sum(bounds[1] * one.width for bounds, one in zip(known, self.each, strict=True))
        return max(bounds[0] for bounds in known), max(half, *(bounds[1] for bounds in known))

    @property
    def is_resolved(self) -> bool:
        """Whether all are."""
        return all(one.is_resolved for one in self.each)

    def resolved(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None) -> Self:
        """Every loss as it stands in a round that begins with these scores."""
        if self.is_resolved:
            return self
        parts = zip(self.each, self.columns(y), self.slices, strict=True)
        return replace(self, each=tuple(one.resolved(column, self._scores(raw, part), weight) for one, column, part in parts))

    def for_target(self, y: NDArray[Any], weight: Floats | None) -> Self:
        """The loss in the units of these targets: their standard deviations, for losses that have the units of the target."""
        units = [
            spread(one_score(column), weight) if isinstance(one, Squared | Huber) else 1.0
            for one, column in zip(self.each, self.columns(y), strict=True)
        ]
        return replace(self, _units=tuple(units))

    def as_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """(n, k): class numbers as int32, anything else as float64."""
        given = np.asarray(y)
        return np.ascontiguousarray(given, np.int32 if given.dtype.kind in "iu" else np.float64)

    def columns(self, y: NDArray[Any]) -> list[NDArray[Any]]:
        """Each target as its loss takes it."""
        return [one.as_target(np.asarray(y)[:, k]) for k, one in enumerate(self.each)]

    def check_target(self, y: NDArray[Any]) -> None:
        """Every target must be in the domain of its loss."""
        for k, one in enumerate(self.each):
            try:
                one.check_target(np.asarray(y)[:, k])
            except TargetError as error:
                raise TargetError(f"Column {k} of y: {error}") from error

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Best constants of all targets."""
        return np.concatenate([one.start(column, weight) for one, column in zip(self.each, self.columns(y), strict=True)])

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Gradient and hessian of every row and score, in units of the targets, times the weight of the row: (n, width)."""
        gradient, hessian = np.empty(np.shape(raw)), np.empty(np.shape(raw))
        for one, column, part in zip(self.each, self.columns(y), self.slices, strict=True):
            found = one.derivatives(column, self._scores(raw, part), weight, threads)
            gradient[:, part], hessian[:, part] = (values.reshape(len(raw), -1) for values in found)
        if self._units:
            gradient /= np.array(self._by_score)
        return gradient, hessian

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Sum over the rows, by weight, of the mean of the losses of the targets, each in units of its own; and sum of the weights."""
        units = self._units or (1.0,) * len(self.each)
        parts = zip(self.each, self.columns(y), self.slices, strict=True)
        totals = [one.total(column, self._scores(raw, part), weight, threads) for one, column, part in parts]
        losses = [loss / unit**2 for (loss, _), unit in zip(totals, units, strict=True)]
        return math.fsum(losses) / len(losses), totals[0][1]

    def predict(self, raw: Floats, threads: int = 1) -> Floats:
        """What users see of each target, side by side: means (n, k), or the probabilities of the classes of each."""
        raw = np.asarray(raw, np.float64).reshape(-1, self.width)
        parts = [one.predict(self._scores(raw, part), threads) for one, part in zip(self.each, self.slices, strict=True)]
        return np.hstack([part.reshape(len(raw), -1) for part in parts])

    @staticmethod
    def _scores(raw: Floats, part: slice) -> Floats:
        """The scores of one target: (n,), or (n, K) for K of them."""
        return np.ascontiguousarray(raw[:, part.start] if part.stop - part.start == 1 else raw[:, part])


def spread(y: Floats, weight: Floats | None) -> float:
    """The standard deviation of a target; one where it is the same in every row."""
    weight = plain_weight(weight)
    largest = float(np.abs(y).max(initial=0.0)) or 1.0
    scaled = y / largest  # squares stay finite
    mean = exact_mean(scaled, weight)
    found = largest * math.sqrt(exact_mean((scaled - mean) ** 2, weight))
    return found if found > 0.0 and math.isfinite(found) else 1.0
