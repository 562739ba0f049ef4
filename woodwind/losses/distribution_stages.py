"""The score of a distribution in two stages: first its location, with one spread for all rows; then the spread around given locations.

Residuals of rows that a model has learned from are smaller than those that it will meet, and a spread learned from them is too small.
So the second stage is given locations that were predicted for rows held out (ensemble/boosting/held_out_spread.py).
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import exact_mean
from woodwind.distributions.natural import diagonal, natural_gradient
from woodwind.kernels.losses.natural_gradients import LONGEST
from woodwind.losses.base import Derivatives, Loss, one_score, plain_weight, times_weight
from woodwind.losses.distribution_score import DistributionScore
from woodwind.losses.links import Floats


@dataclass(frozen=True)
class ScoreStage(Loss):
    """What both stages share: some of the scores of a row are learned, and the others are known."""

    score: DistributionScore
    _units: tuple[float, ...] = ()
    _known: Derivatives | None = field(default=None, compare=False, repr=False)  # see `with_known`

    constant_hessian: ClassVar[bool] = True
    exact_hessian: ClassVar[bool] = False

    @property
    def learned(self) -> slice:
        """Which of the scores are learned."""
        raise NotImplementedError

    def full(self, y: NDArray[Any], raw: Floats) -> tuple[Floats, Floats]:
        """Targets, and all scores of the rows, (n, K)."""
        raise NotImplementedError

    def resolved(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None) -> Self:
        """With units in which the information about each score that is learned is 1 on average."""
        found = diagonal(self.score.metric(self.full(y, raw)[1]))[:, self.learned]
        means = [exact_mean(np.ascontiguousarray(column), plain_weight(weight)) for column in found.T]
        return replace(self, _units=tuple(math.sqrt(mean) if mean > 0.0 else 1.0 for mean in means))

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Natural gradients in units of the scores, times the weight; and the weight."""
        if self._known is not None:
            return times_weight(self._known, weight)
        target, scores = self.full(y, raw)
        learned = self.learned
        gradient, metric = self.score.gradient(target, scores)[:, learned], self.score.metric(scores)
        gradient = natural_gradient(gradient, metric[:, learned] if metric.ndim == 2 else metric[:, learned, learned])
        gradient = self.score.held_up(gradient, scores, learned)
        if self._units:
            gradient = np.clip(gradient * np.array(self._units), -LONGEST, LONGEST)
        return times_weight((gradient.reshape(raw.shape), np.ones(raw.shape)), weight)

    def with_known(self, y: NDArray[Any], raw: Floats, threads: int = 1) -> Self:
        """With its derivatives at these scores in memory: densities take long."""
        return replace(self, _known=self.derivatives(y, raw, None, threads))

    def rescaled_steps(self, steps: Floats, output: int) -> Floats:
        """Steps of leaves in the units of scores, and no longer than the distribution allows."""
        at = slice(None) if output < 0 else output
        units = np.array(self._units)[at] if self._units else 1.0
        return self.score.shortened(steps / units, self.score.distribution.longest_steps[self.learned], at)

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Of the whole score."""
        target, scores = self.full(y, raw)
        return self.score.total(target, scores, weight, threads)


@dataclass(frozen=True)
class LocationScore(ScoreStage):
    """The first stage: the location of each row, and the spread that fits all of them."""

    _spread: tuple[float, ...] = ()

    name: ClassVar[str] = "location_score"

    @classmethod
    def initial(cls, score: DistributionScore, y: NDArray[Any], weight: Floats | None) -> "LocationScore":
        """With the spread before the first round."""
        return cls(score, (), tuple(score.start(y, weight)[1:].tolist()))

    @property
    def learned(self) -> slice:
        """The first score."""
        return slice(0, 1)

    def full(self, y: NDArray[Any], raw: Floats) -> tuple[Floats, Floats]:
        """Every row has the spread of all."""
        y = one_score(y)
        spread = self._spread or tuple(self.score.distribution.start(y)[1:].tolist())
        return y, np.column_stack([np.asarray(raw).reshape(-1), np.tile(spread, (len(y), 1))])

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """The best constant."""
        return self.score.start(y, weight)[:1]

    def resolved(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None) -> Self:
        """With the spread around the locations of a round."""
        weight = plain_weight(weight)
        spread = self.score.distribution.spread_around(one_score(y), np.asarray(raw).reshape(-1), weight)
        lowest = np.array(self.score.lowest[1:]) if self.score.lowest else -np.inf
        now = replace(self, _spread=tuple(np.maximum(spread, lowest).tolist()))
        return super(LocationScore, now).resolved(y, raw, weight)


@dataclass(frozen=True)
class SpreadScore(ScoreStage):
    """The second stage: all scores but the first. A target is two numbers, (n, 2): what came, and the location that was predicted."""

    name: ClassVar[str] = "spread_score"

    @property
    def width(self) -> int:
        """All but one."""
        return self.score.width - 1

    @property
    def learned(self) -> slice:
        """All scores but the first."""
        return slice(1, None)

    def as_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """As it is."""
        return y

    def full(self, y: NDArray[Any], raw: Floats) -> tuple[Floats, Floats]:
        """Targets, and the location before what is learned."""
        return np.ascontiguousarray(y[:, 0]), np.column_stack([y[:, 1], np.asarray(raw).reshape(len(y), -1)])

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """The spread that fits all rows."""
        weight = plain_weight(weight)
        if weight is not None and not weight.all():
            y, weight = y[weight > 0.0], weight[weight > 0.0]
        found = self.score.distribution.spread_around(np.ascontiguousarray(y[:, 0]), np.ascontiguousarray(y[:, 1]), weight)
        return np.maximum(found, np.array(self.score.lowest[1:])) if self.score.lowest else found
