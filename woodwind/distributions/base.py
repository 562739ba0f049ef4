"""Distribution: a family of distributions, one member for each row, by the K scores of that row.

Scores are any numbers, (n, K); a link makes parameters of them, mostly an exponential. What is minimised for a row is minus the log
density, or the CRPS. Derivatives are by scores, not parameters. The first score is the location: the mean, or what comes nearest to it;
those after it tell the spread and the shape.

A distribution of your own is a class derived from `Distribution` with `parameters`, `outside`, `start`, `log_density`, `mean`, `cdf` and
`quantile`: what else is needed has a default here, by finite differences and by averages over quantiles, which are slower.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import exact_mean, largest_of
from woodwind.distributions.natural import diagonal, natural_gradient

Floats = NDArray[np.float64]

# Quantiles that an expectation is averaged over, where a distribution has no formula for it.
LEVELS = (np.arange(400) + 0.5) / 400
# Quantiles that the metric of a CRPS is averaged over, where it has no formula.
METRIC_LEVELS = (np.arange(50) + 0.5) / 50
# Steps of Fisher scoring to the constant that fits best.
START_STEPS = 100
# No score of a logarithm leaves these bounds: exp(300) squared is a float64.
LARGEST_LOG = 300.0
# Leaves change a logarithm by this much at most in one step, before the learning rate.
LONGEST_STEP = 2.0
# The least spread of a target that does not vary, as a share of its size.
LEAST_SPREAD = 1e-6


@dataclass(frozen=True)
class Distribution(ABC):
    """A family of distributions; see the top of this file. `raw` are scores (n, K), `y` numbers that broadcast with (n,)."""

    name: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    # What each score is called, and what it is: "log scale" is the logarithm of the scale.
    parameters: ClassVar[tuple[str, ...]] = ()
    # The target in words, after "must be".
    support: ClassVar[str] = "finite numbers"
    discrete: ClassVar[bool] = False
    # Whether later scores are the spread around the first one, so that they may be learned when it is there.
    has_spread: ClassVar[bool] = False
    # Whether the second score is the logarithm of a scale.
    has_scale: ClassVar[bool] = False
    # False where the CRPS is infinite.
    has_crps: ClassVar[bool] = True
    # True where the natural gradient of the location is its distance from `location_target(y)`, whatever the spread is.
    squared_location: ClassVar[bool] = False

    @property
    def width(self) -> int:
        """Scores of a row."""
        return len(self.parameters)

    @property
    def longest_steps(self) -> tuple[float, ...]:
        """The longest step of a leaf for each score, before the learning rate: natural gradients are tangents, and a logarithm is bent."""
        return (LONGEST_STEP,) * self.width

    @abstractmethod
    def outside(self, y: Floats) -> NDArray[np.bool_]:
        """Which targets the distribution gives no density to, (n,)."""

    @abstractmethod
    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Scores of the member that fits all rows best, or nearly so, (K,)."""

    @abstractmethod
    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """Logarithm of the density, or of the probability of a count."""

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """Derivatives of minus the log density by the scores, (n, K)."""
        return differences(lambda some: -self.log_density(y, some), raw)

    def information(self, raw: Floats) -> Floats:
        """Fisher information by the scores: (n, K, K), or (n, K) where it is diagonal."""
        total = np.zeros((len(raw), self.width, self.width))
        for level in LEVELS:
            slope = self.gradient(self.quantile(level, raw), raw)
            total += slope[:, :, None] * slope[:, None, :]
        return total / len(LEVELS)

    def information_diagonal(self, raw: Floats) -> Floats:
        """The diagonal of the Fisher information, (n, K)."""
        return diagonal(self.information(raw))

    def natural_gradient(self, gradient: Floats, raw: Floats) -> Floats:
        """Natural gradients of the log score, (n, K), from gradients."""
        return natural_gradient(gradient, self.information(raw))

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Continuous ranked probability score: the integral of (F(x) - [y <= x])**2; by quantiles where no formula is.

        Twice the mean pinball loss over all levels.
        """
        total = 0.0
        for level in LEVELS:
            away = y - self.quantile(level, raw)
            total = total + np.maximum(level * away, (level - 1.0) * away)
        return np.asarray(2.0 * total / len(LEVELS))

    def crps_gradient(self, y: Floats, raw: Floats) -> Floats:
        """Derivatives of the CRPS by the scores, (n, K)."""
        return differences(lambda some: self.crps(y, some), raw)

    def crps_metric(self, raw: Floats) -> Floats:
        """The metric of the CRPS, 2 * integral of F' F'^T by the scores: (n, K, K), or (n, K) where it is diagonal.

        Twice the mean of F' F'^T / density over quantiles, where no formula is.
        """
        out = np.zeros((len(raw), self.width, self.width))
        for level in METRIC_LEVELS:
            y = self.quantile(level, raw)
            density = np.maximum(np.exp(self.log_density(y, raw)), 1e-300)
            by_score = differences(lambda some, at=y: self.cdf(at, some), raw)
            out += by_score[:, :, None] * (by_score / density[:, None])[:, None, :]
        return 2.0 * out / len(METRIC_LEVELS)

    @abstractmethod
    def mean(self, raw: Floats) -> Floats:
        """Means, (n,)."""

    def std(self, raw: Floats) -> Floats:
        """Standard deviations, (n,)."""
        values = np.stack([self.quantile(level, raw) for level in LEVELS])
        return np.asarray(values.std(axis=0))

    @abstractmethod
    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """Probabilities of values up to y."""

    def sf(self, y: Floats, raw: Floats) -> Floats:
        """Probabilities of values above y."""
        return np.asarray(1.0 - self.cdf(y, raw))

    def as_target(self, y: NDArray[Any]) -> Floats:
        """Targets as the methods here take them: (n,)."""
        return np.ascontiguousarray(y, np.float64).reshape(-1)

    @abstractmethod
    def quantile(self, level: Any, raw: Floats) -> Floats:
        """The smallest values whose probability so far reaches the level."""

    def sample(self, shape: tuple[int, ...], raw: Floats, rng: np.random.Generator) -> Floats:
        """Draws, of the shape given with (n,) after it."""
        return self.quantile(rng.random((*shape, len(raw))), raw)

    def spread_around(self, y: Floats, location: Floats, weight: Floats | None = None) -> Floats:
        """All scores but the first, (K - 1,), that fit rows of these locations (n,) about best; for distributions that have a spread."""
        raise NotImplementedError(f"{type(self).__name__} has no spread around a location")

    def location_target(self, y: Floats) -> Floats:
        """What the location is the mean of: the target, or its logarithm."""
        return y

    def lowest(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Scores that training does not go below, (K,): -inf for none."""
        return np.full(self.width, -np.inf)

    @property
    def title(self) -> str:
        """The name, for texts."""
        return f"distribution={self.name!r}" if self.name else type(self).__name__


def exp(score: Floats) -> Floats:
    """A parameter from its logarithm, finite and above zero."""
    return np.exp(np.clip(score, -LARGEST_LOG, LARGEST_LOG))


def differences(function: Any, raw: Floats) -> Floats:
    """Derivatives (n, K) of a function of scores by central differences."""
    out = np.empty_like(raw, np.float64)
    for k in range(raw.shape[1]):
        step = np.zeros(raw.shape[1])
        step[k] = 6e-6
        width = 6e-6 * np.maximum(1.0, np.abs(raw[:, k]))
        out[:, k] = (function(raw + width[:, None] * (step / 6e-6)) - function(raw - width[:, None] * (step / 6e-6))) / (2.0 * width)
    return out


def mean_of(y: Floats, weight: Floats | None) -> float:
    """Mean by weight, the same for rows in any order."""
    return exact_mean(np.ascontiguousarray(y, np.float64), weight)


def std_of(y: Floats, weight: Floats | None) -> float:
    """Standard deviation by weight, at least a small share of the largest value."""
    middle = mean_of(y, weight)
    unit = largest_of(y - middle)
    spread = unit * np.sqrt(mean_of(((y - middle) / unit) ** 2, weight)) if unit > 0.0 else 0.0
    return float(max(spread, least_spread(y)))


def least_spread(y: Floats) -> float:
    """The smallest spread that numbers of this size may have."""
    return max(LEAST_SPREAD * largest_of(y), 1e-140) if largest_of(y) > 0.0 else LEAST_SPREAD


def median_of(y: Floats, weight: Floats | None) -> float:
    """Median by weight: the mean of the two in the middle, where there are two."""
    order = np.argsort(y, kind="stable")
    counts = np.ones(len(y)) if weight is None else np.asarray(weight)[order]
    so_far = np.cumsum(counts)
    half = 0.5 * so_far[-1]
    low = int(np.searchsorted(so_far, half, side="left"))
    high = int(np.searchsorted(so_far, half, side="right"))
    return float(0.5 * y[order[low]] + 0.5 * y[order[min(high, len(y) - 1)]])


def fitted_constant(distribution: Distribution, y: Floats, weight: Floats | None, first: Floats) -> Floats:
    """Scores that fit all rows best, by Fisher scoring from a first guess; steps that do not improve are halved."""

    def loss_of(scores: Floats) -> float:
        with np.errstate(all="ignore"):
            found = -distribution.log_density(y, np.tile(scores, (len(y), 1)))
        return mean_of(found, weight) if np.isfinite(found).all() else np.inf

    scores, loss = np.asarray(first, np.float64), loss_of(np.asarray(first, np.float64))
    for _ in range(START_STEPS):
        raw = np.tile(scores, (len(y), 1))
        slope = np.array([mean_of(column, weight) for column in distribution.gradient(y, raw).T])
        metric = distribution.information(raw[:1])[0]
        step = slope / metric if metric.ndim == 1 else np.linalg.lstsq(metric, slope, rcond=1e-10)[0]
        step = np.clip(step, -2.0, 2.0) if not distribution.has_spread else step
        share = 1.0
        while share > 1e-6 and not loss_of(scores - share * step) < loss:
            share *= 0.5
        if share <= 1e-6:
            break
        scores = scores - share * step
        before, loss = loss, loss_of(scores)
        if before - loss < 1e-12 * max(abs(loss), 1.0):
            break
    return scores
