"""Distributions of a location and a scale: normal, log-normal, Laplace, logistic, Student's t."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from woodwind.base.errors import ParameterError
from woodwind.base.fixed import largest_of
from woodwind.distributions.base import (
    LONGEST_STEP,
    Distribution,
    Floats,
    exp,
    fitted_constant,
    least_spread,
    mean_of,
    median_of,
    std_of,
)

# To be in this list is to be public, a name that estimators take, and a kind of the model file.
__all__ = ["LaplaceDistribution", "LogNormalDistribution", "LogisticDistribution", "NormalDistribution", "StudentTDistribution"]

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
ROOT_PI = math.sqrt(math.pi)
# Degrees of freedom that are learned stay between these: below 2 there is no variance, and beyond 200 it is a normal distribution.
LEAST_FREEDOM, MOST_FREEDOM = 2.0, 200.0
STARTING_FREEDOM = 6.0


def normal_density(z: Floats) -> Floats:
    """Density of the standard normal distribution."""
    return np.asarray(np.exp(-0.5 * z * z - HALF_LOG_TWO_PI))


@dataclass(frozen=True)
class LocationScale(Distribution):
    """A distribution that is moved by its first score and stretched by the exponential of its second."""

    parameters: ClassVar[tuple[str, ...]] = ("location", "log scale")
    has_spread: ClassVar[bool] = True
    has_scale: ClassVar[bool] = True

    def outside(self, y: Floats) -> NDArray[np.bool_]:
        """None: any number will do."""
        return np.zeros(np.shape(y), np.bool_)

    @property
    def longest_steps(self) -> tuple[float, ...]:
        """The location goes as far as it likes."""
        return (math.inf, *super().longest_steps[1:])

    def standard(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Distances from the location in scales, and the scales."""
        scale = exp(raw[:, 1])
        return (y - raw[:, 0]) / scale, scale

    def spread_around(self, y: Floats, location: Floats, weight: Floats | None = None) -> Floats:
        """The scale of which this is the mean distance from the location."""
        return np.array([math.log(max(mean_of(np.abs(y - location), weight) / self.mean_distance, least_spread(y)))])

    @property
    def mean_distance(self) -> float:
        """Mean distance from the location, in scales."""
        raise NotImplementedError

    def sf(self, y: Floats, raw: Floats) -> Floats:
        """As much as is below on the other side of the location, which all of these are symmetric around."""
        return self.cdf(2.0 * raw[:, 0] - y, raw)

    def lowest(self, y: Floats, weight: Floats | None = None) -> Floats:
        """No scale that is a millionth of the target's own."""
        spread = std_of(y, weight)
        return np.array([-np.inf, math.log(max(spread * 1e-6, least_spread(y) * 1e-3))] + [-np.inf] * (self.width - 2))

    def mean(self, raw: Floats) -> Floats:
        """The location."""
        return np.array(raw[:, 0])


@dataclass(frozen=True)
class NormalDistribution(LocationScale):
    """The normal distribution, by its mean and the logarithm of its standard deviation."""

    name: ClassVar[str] = "normal"
    aliases: ClassVar[tuple[str, ...]] = ("gaussian", "gauss", "norm", "rmsewithuncertainty")
    squared_location: ClassVar[bool] = True

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Mean and standard deviation."""
        return np.array([mean_of(y, weight), math.log(std_of(y, weight))])

    def spread_around(self, y: Floats, location: Floats, weight: Floats | None = None) -> Floats:
        """The root mean square distance."""
        away = y - location
        unit = largest_of(away)
        spread = unit * math.sqrt(mean_of((away / unit) ** 2, weight)) if unit > 0.0 else 0.0
        return np.array([math.log(max(spread, least_spread(y)))])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """Minus half the squared distance, less the logarithm of the scale."""
        z, _ = self.standard(y, raw)
        return np.asarray(-0.5 * z * z - raw[:, 1] - HALF_LOG_TWO_PI)

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """-z / scale and 1 - z**2."""
        z, scale = self.standard(y, raw)
        return np.stack([-z / scale, 1.0 - z * z], axis=1)

    def information(self, raw: Floats) -> Floats:
        """1 / scale**2 and 2: diagonal."""
        out = np.empty((len(raw), 2))
        out[:, 0], out[:, 1] = exp(-2.0 * raw[:, 1]), 2.0
        return out

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Gneiting & Raftery 2007, Eq. 21."""
        z, scale = self.standard(y, raw)
        return np.asarray(scale * (z * (2.0 * special.ndtr(z) - 1.0) + 2.0 * normal_density(z) - 1.0 / ROOT_PI))

    def crps_gradient(self, y: Floats, raw: Floats) -> Floats:
        """1 - 2 F, and scale times (2 density - 1 / root of pi)."""
        z, scale = self.standard(y, raw)
        return np.stack([1.0 - 2.0 * special.ndtr(z), scale * (2.0 * normal_density(z) - 1.0 / ROOT_PI)], axis=1)

    def crps_metric(self, raw: Floats) -> Floats:
        """1 / (scale * root of pi) and scale / (2 root of pi): diagonal."""
        scale = exp(raw[:, 1])
        return np.stack([1.0 / (scale * ROOT_PI), scale / (2.0 * ROOT_PI)], axis=1)

    def std(self, raw: Floats) -> Floats:
        """The scale."""
        return exp(raw[:, 1])

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """Of the standard normal distribution at z."""
        return np.asarray(special.ndtr(self.standard(y, raw)[0]))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """Location plus scale times the normal quantile."""
        return np.asarray(raw[:, 0] + exp(raw[:, 1]) * special.ndtri(level))


@dataclass(frozen=True)
class LogNormalDistribution(Distribution):
    """The log-normal distribution: the logarithm of the target is normal, with this mean and logarithm of the standard deviation."""

    name: ClassVar[str] = "lognormal"
    aliases: ClassVar[tuple[str, ...]] = ("log_normal",)
    parameters: ClassVar[tuple[str, ...]] = ("mean of the logarithm", "log scale")
    support: ClassVar[str] = "above zero"
    squared_location: ClassVar[bool] = True
    has_spread: ClassVar[bool] = True
    has_scale: ClassVar[bool] = True

    @property
    def longest_steps(self) -> tuple[float, ...]:
        """The location goes as far as it likes."""
        return math.inf, LONGEST_STEP

    def outside(self, y: Floats) -> NDArray[np.bool_]:
        """Zero and below."""
        return ~(np.asarray(y) > 0.0)

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Mean and standard deviation of the logarithm."""
        return NormalDistribution().start(np.log(y), weight)

    def spread_around(self, y: Floats, location: Floats, weight: Floats | None = None) -> Floats:
        """The root mean square distance of the logarithm."""
        return NormalDistribution().spread_around(np.log(y), location, weight)

    def location_target(self, y: Floats) -> Floats:
        """The logarithm."""
        return np.log(y)

    def sf(self, y: Floats, raw: Floats) -> Floats:
        """That of the logarithm."""
        with np.errstate(divide="ignore"):
            return NormalDistribution().sf(np.log(np.maximum(y, 0.0)), raw)

    def lowest(self, y: Floats, weight: Floats | None = None) -> Floats:
        """As for the normal distribution of the logarithm."""
        return NormalDistribution().lowest(np.log(y), weight)

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """The normal one of the logarithm, less the logarithm; -inf where there is none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            log = np.log(np.maximum(y, 0.0))
            found = NormalDistribution().log_density(log, raw) - log
        return np.where(np.asarray(y) > 0.0, found, -np.inf)

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """The normal one of the logarithm."""
        return NormalDistribution().gradient(np.log(y), raw)

    def information(self, raw: Floats) -> Floats:
        """The normal one."""
        return NormalDistribution().information(raw)

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Baran & Lerch 2015, Eq. 5."""
        scale, mean = exp(raw[:, 1]), self.mean(raw)
        z = (np.log(y) - raw[:, 0]) / scale
        inner = special.ndtr(z - scale) + special.ndtr(scale / math.sqrt(2.0)) - 1.0
        return np.asarray(y * (2.0 * special.ndtr(z) - 1.0) - 2.0 * mean * inner)

    def crps_gradient(self, y: Floats, raw: Floats) -> Floats:
        """By the chain rule; the densities at z and at z - scale cancel."""
        scale, mean = exp(raw[:, 1]), self.mean(raw)
        z = (np.log(y) - raw[:, 0]) / scale
        inner = special.ndtr(z - scale) + special.ndtr(scale / math.sqrt(2.0)) - 1.0
        by_scale = -2.0 * mean * scale * inner + 2.0 * mean * (
            normal_density(z - scale) - normal_density(scale / math.sqrt(2.0)) / math.sqrt(2.0)
        )
        return np.stack([-2.0 * mean * inner, scale * by_scale], axis=1)

    def crps_metric(self, raw: Floats) -> Floats:
        """2 * integral of the squared density of the logarithm, by a change of variables: not diagonal."""
        location, scale = raw[:, 0], exp(raw[:, 1])
        # The product of two normal densities and exp(u) is a normal density of variance 1/2 around scale / 2.
        first = np.exp(np.minimum(location + 0.25 * scale * scale, 2 * 300.0)) / (2.0 * ROOT_PI)
        out = np.empty((len(raw), 2, 2))
        out[:, 0, 0] = 2.0 * first / scale
        out[:, 0, 1] = out[:, 1, 0] = first * scale
        out[:, 1, 1] = 2.0 * first * scale * (0.5 + 0.25 * scale * scale)
        return out

    def mean(self, raw: Floats) -> Floats:
        """exp of the mean of the logarithm plus half its variance."""
        return np.asarray(np.exp(np.minimum(raw[:, 0] + 0.5 * exp(2.0 * raw[:, 1]), 709.0)))

    def std(self, raw: Floats) -> Floats:
        """The mean times the root of exp(variance of the logarithm) - 1."""
        with np.errstate(over="ignore"):
            return np.asarray(self.mean(raw) * np.sqrt(np.expm1(np.minimum(exp(2.0 * raw[:, 1]), 709.0))))

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """The normal one of the logarithm; 0 for zero and below."""
        with np.errstate(divide="ignore"):
            return NormalDistribution().cdf(np.log(np.maximum(y, 0.0)), raw)

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """exp of the normal one."""
        return np.asarray(np.exp(NormalDistribution().quantile(level, raw)))


@dataclass(frozen=True)
class LaplaceDistribution(LocationScale):
    """The Laplace distribution: exponential on both sides of its median."""

    name: ClassVar[str] = "laplace"

    @property
    def mean_distance(self) -> float:
        """The scale itself."""
        return 1.0

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Median, and mean distance from it."""
        middle = median_of(y, weight)
        return np.array([middle, math.log(max(mean_of(np.abs(y - middle), weight), least_spread(y)))])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """Minus the distance, less the logarithm of twice the scale."""
        return np.asarray(-np.abs(self.standard(y, raw)[0]) - raw[:, 1] - math.log(2.0))

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """-sign(z) / scale and 1 - |z|."""
        z, scale = self.standard(y, raw)
        return np.stack([-np.sign(z) / scale, 1.0 - np.abs(z)], axis=1)

    def information(self, raw: Floats) -> Floats:
        """1 / scale**2 and 1: diagonal."""
        return np.stack([exp(-2.0 * raw[:, 1]), np.ones(len(raw))], axis=1)

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Scale times (|z| + exp(-|z|) - 3/4)."""
        z, scale = self.standard(y, raw)
        return np.asarray(scale * (np.abs(z) + np.exp(-np.abs(z)) - 0.75))

    def crps_gradient(self, y: Floats, raw: Floats) -> Floats:
        """-sign(z) (1 - exp(-|z|)), and scale times (exp(-|z|) (1 + |z|) - 3/4)."""
        z, scale = self.standard(y, raw)
        fade = np.exp(-np.abs(z))
        return np.stack([-np.sign(z) * (1.0 - fade), scale * (fade * (1.0 + np.abs(z)) - 0.75)], axis=1)

    def crps_metric(self, raw: Floats) -> Floats:
        """1 / (2 scale) and scale / 4: diagonal."""
        scale = exp(raw[:, 1])
        return np.stack([0.5 / scale, 0.25 * scale], axis=1)

    def std(self, raw: Floats) -> Floats:
        """The root of two times the scale."""
        return math.sqrt(2.0) * exp(raw[:, 1])

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """Half an exponential on each side."""
        z, _ = self.standard(y, raw)
        half = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0.0, half, 1.0 - half)

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """The logarithm of twice the smaller side."""
        level = np.asarray(level, np.float64)
        with np.errstate(divide="ignore"):
            z = np.where(level < 0.5, np.log(2.0 * level), -np.log(2.0 * (1.0 - level)))
        return np.asarray(raw[:, 0] + exp(raw[:, 1]) * z)


@dataclass(frozen=True)
class LogisticDistribution(LocationScale):
    """The logistic distribution: like the normal one, with tails that are exponential."""

    name: ClassVar[str] = "logistic"

    @property
    def mean_distance(self) -> float:
        """2 log 2."""
        return 2.0 * math.log(2.0)

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The best fit, from mean and standard deviation."""
        spread = std_of(y, weight) * math.sqrt(3.0) / math.pi
        first = np.array([mean_of(y, weight), math.log(spread)])
        return fitted_constant(self, y, weight, first) if np.ptp(y) > 0.0 else first

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """-|z| - 2 log(1 + exp(-|z|)) - log scale."""
        z = np.abs(self.standard(y, raw)[0])
        return np.asarray(-z - 2.0 * np.log1p(np.exp(-z)) - raw[:, 1])

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """-tanh(z / 2) / scale and 1 - z tanh(z / 2)."""
        z, scale = self.standard(y, raw)
        slope = np.tanh(0.5 * z)
        return np.stack([-slope / scale, 1.0 - z * slope], axis=1)

    def information(self, raw: Floats) -> Floats:
        """1 / (3 scale**2) and (3 + pi**2) / 9: diagonal."""
        return np.stack([exp(-2.0 * raw[:, 1]) / 3.0, np.full(len(raw), (3.0 + math.pi**2) / 9.0)], axis=1)

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Scale times (z - 2 log F(z) - 1)."""
        z, scale = self.standard(y, raw)
        return np.asarray(scale * (np.abs(z) + 2.0 * np.log1p(np.exp(-np.abs(z))) - 1.0))

    def crps_gradient(self, y: Floats, raw: Floats) -> Floats:
        """-tanh(z / 2), and the CRPS plus z scale times it."""
        z, scale = self.standard(y, raw)
        slope = np.tanh(0.5 * z)
        return np.stack([-slope, self.crps(y, raw) - z * scale * slope], axis=1)

    def crps_metric(self, raw: Floats) -> Floats:
        """1 / (3 scale) and scale * (pi**2 - 6) / 9: diagonal."""
        scale = exp(raw[:, 1])
        return np.stack([1.0 / (3.0 * scale), scale * (math.pi**2 - 6.0) / 9.0], axis=1)

    def std(self, raw: Floats) -> Floats:
        """pi over the root of three times the scale."""
        return math.pi / math.sqrt(3.0) * exp(raw[:, 1])

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """1 / (1 + exp(-z))."""
        return np.asarray(special.expit(self.standard(y, raw)[0]))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """The log-odds of the level."""
        return np.asarray(raw[:, 0] + exp(raw[:, 1]) * special.logit(np.asarray(level, np.float64)))


@dataclass(frozen=True)
class StudentTDistribution(LocationScale):
    """Student's t distribution, for targets with outliers: degrees of freedom are given, or a third score is learned for them."""

    df: float | None = None

    name: ClassVar[str] = "student_t"
    aliases: ClassVar[tuple[str, ...]] = ("t", "studentt")

    def __post_init__(self) -> None:
        given = self.df is None or (isinstance(self.df, int | float) and not isinstance(self.df, bool))
        if not given or (self.df is not None and not 0.0 < self.df < 1e6):
            raise ParameterError(f"StudentTDistribution: df must be None or a number above 0 and below 1e6, but it is {self.df!r}.")

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """Location and scale, and degrees of freedom where they are learned."""
        both = ("location", "log scale")
        return both if self.df is not None else (*both, "log (degrees of freedom - 2)")

    @property
    def has_crps(self) -> bool:  # type: ignore[override]
        """With one degree of freedom or less the mean distance of two draws is infinite."""
        return self.df is None or self.df > 1.0

    @property
    def mean_distance(self) -> float:
        """By the degrees of freedom, six where they are learned; without a mean, the median distance, about."""
        v = STARTING_FREEDOM if self.df is None else self.df
        if v <= 1.0:
            return 1.0
        return float(2.0 * math.sqrt(v / math.pi) * math.exp(special.gammaln(0.5 * (v + 1.0)) - special.gammaln(0.5 * v)) / (v - 1.0))

    def spread_around(self, y: Floats, location: Floats, weight: Floats | None = None) -> Floats:
        """The scale by the mean distance; six degrees of freedom where they are learned."""
        found = super().spread_around(y, location, weight)
        return found if self.df is not None else np.append(found, math.log(STARTING_FREEDOM - LEAST_FREEDOM))

    def freedom(self, raw: Floats) -> Floats:
        """Degrees of freedom of each row: from 2 to 202 where they are learned."""
        if self.df is not None:
            return np.full(len(raw), float(self.df))
        return LEAST_FREEDOM + exp(np.clip(raw[:, 2], math.log(1e-3), math.log(MOST_FREEDOM)))

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The best location and scale, with six degrees of freedom where they are learned."""
        if self.df is None:
            return np.append(StudentTDistribution(STARTING_FREEDOM).start(y, weight), math.log(STARTING_FREEDOM - LEAST_FREEDOM))
        middle = median_of(y, weight)
        first = np.array([middle, math.log(max(mean_of(np.abs(y - middle), weight), least_spread(y)))])
        return fitted_constant(self, y, weight, first) if np.ptp(y) > 0.0 else first

    def lowest(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Scales as for all; degrees of freedom within their bounds."""
        found = super().lowest(y, weight)
        if self.df is None:
            found[2] = math.log(0.05)
        return found

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """Of the standard distribution at z, less the logarithm of the scale."""
        z, _ = self.standard(y, raw)
        v = self.freedom(raw)
        norm = special.gammaln(0.5 * (v + 1.0)) - special.gammaln(0.5 * v) - 0.5 * np.log(v * math.pi)
        return np.asarray(norm - 0.5 * (v + 1.0) * np.log1p(z * z / v) - raw[:, 1])

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """Pulls of outliers fade as 1 / z."""
        z, scale = self.standard(y, raw)
        v = self.freedom(raw)
        pull = (v + 1.0) * z / (v + z * z)
        columns = [-pull / scale, 1.0 - z * pull]
        if self.df is None:
            inner = special.digamma(0.5 * (v + 1.0)) - special.digamma(0.5 * v) - 1.0 / v - np.log1p(z * z / v) + z * pull / v
            columns.append(-0.5 * inner * (v - LEAST_FREEDOM))
        return np.stack(columns, axis=1)

    def information(self, raw: Floats) -> Floats:
        """(v + 1) / (v + 3) / scale**2 and 2 v / (v + 3); scale and degrees of freedom are not independent (Lange et al. 1989)."""
        v, first = self.freedom(raw), exp(-2.0 * raw[:, 1])
        diagonal = np.stack([(v + 1.0) / (v + 3.0) * first, 2.0 * v / (v + 3.0)], axis=1)
        if self.df is not None:
            return diagonal
        out, by = np.zeros((len(raw), 3, 3)), v - LEAST_FREEDOM
        out[:, 0, 0], out[:, 1, 1] = diagonal[:, 0], diagonal[:, 1]
        out[:, 1, 2] = out[:, 2, 1] = -2.0 * by / ((v + 1.0) * (v + 3.0))
        trigammas = special.polygamma(1, 0.5 * v) - special.polygamma(1, 0.5 * (v + 1.0))
        out[:, 2, 2] = np.maximum(0.25 * trigammas - 0.5 * (v + 5.0) / (v * (v + 1.0) * (v + 3.0)), 1e-300) * by * by
        return out

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Jordan, Krueger & Lerch 2019, appendix A."""
        z, scale = self.standard(y, raw)
        v = self.freedom(raw)
        density = np.exp(self.log_density(y, raw) + raw[:, 1])
        apart = 2.0 * np.sqrt(v) * np.exp(special.betaln(0.5, v - 0.5) - 2.0 * special.betaln(0.5, 0.5 * v))
        return np.asarray(scale * (z * (2.0 * special.stdtr(v, z) - 1.0) + (2.0 * density * (v + z * z) - apart) / (v - 1.0)))

    def std(self, raw: Floats) -> Floats:
        """Infinite with two degrees of freedom or less."""
        v = self.freedom(raw)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(v > 2.0, exp(raw[:, 1]) * np.sqrt(v / np.maximum(v - 2.0, 0.0)), np.inf)

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """Of the standard distribution at z."""
        return np.asarray(special.stdtr(self.freedom(raw), self.standard(y, raw)[0]))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """Location plus scale times the standard quantile."""
        return np.asarray(raw[:, 0] + exp(raw[:, 1]) * special.stdtrit(self.freedom(raw), np.asarray(level, np.float64)))
