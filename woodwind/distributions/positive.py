"""Distributions of positive numbers: exponential, gamma, Weibull; and of numbers between zero and one: beta."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from woodwind.distributions.base import Distribution, Floats, exp, fitted_constant, mean_of, std_of

# To be in this list is to be public, a name that estimators take, and a kind of the model file.
__all__ = ["BetaDistribution", "ExponentialDistribution", "GammaDistribution", "WeibullDistribution"]

EULER = 0.5772156649015329
# Shapes beyond these would be spikes, or have all their weight at zero.
LARGEST_SHAPE, SMALLEST_SHAPE = math.log(1e8), math.log(1e-3)


def log_of(y: Floats) -> Floats:
    """Logarithm; -inf for zero and below."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(y, 0.0)))


@dataclass(frozen=True)
class PositiveDistribution(Distribution):
    """A distribution of numbers above zero."""

    support: ClassVar[str] = "above zero"

    def outside(self, y: Floats) -> NDArray[np.bool_]:
        """Zero and below."""
        return ~(np.asarray(y) > 0.0)


@dataclass(frozen=True)
class ExponentialDistribution(PositiveDistribution):
    """The exponential distribution, by the logarithm of its mean."""

    name: ClassVar[str] = "exponential"
    aliases: ClassVar[tuple[str, ...]] = ("expon",)
    parameters: ClassVar[tuple[str, ...]] = ("log mean",)
    support: ClassVar[str] = "zero or above"

    def outside(self, y: Floats) -> NDArray[np.bool_]:
        """Below zero."""
        return ~(np.asarray(y) >= 0.0)

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The mean."""
        return np.array([math.log(max(mean_of(y, weight), 1e-140))])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """-y / mean - log mean."""
        return np.where(np.asarray(y) >= 0.0, -y * exp(-raw[:, 0]) - raw[:, 0], -np.inf)

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """1 - y / mean."""
        return np.asarray(1.0 - y * exp(-raw[:, 0]))[:, None]

    def information(self, raw: Floats) -> Floats:
        """1."""
        return np.ones((len(raw), 1))

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """y + mean (2 exp(-y / mean) - 3/2)."""
        mean = exp(raw[:, 0])
        return np.asarray(y + mean * (2.0 * np.exp(-y / mean) - 1.5))

    def crps_gradient(self, y: Floats, raw: Floats) -> Floats:
        """2 exp(-y / mean) (mean + y) - 3/2 mean."""
        mean = exp(raw[:, 0])
        return np.asarray(2.0 * np.exp(-y / mean) * (mean + y) - 1.5 * mean)[:, None]

    def crps_metric(self, raw: Floats) -> Floats:
        """Half the mean."""
        return 0.5 * exp(raw)

    def mean(self, raw: Floats) -> Floats:
        """The mean."""
        return exp(raw[:, 0])

    def std(self, raw: Floats) -> Floats:
        """The mean too."""
        return exp(raw[:, 0])

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """1 - exp(-y / mean)."""
        return np.asarray(-np.expm1(-np.maximum(y, 0.0) * exp(-raw[:, 0])))

    def sf(self, y: Floats, raw: Floats) -> Floats:
        """exp(-y / mean)."""
        return np.asarray(np.exp(-np.maximum(y, 0.0) * exp(-raw[:, 0])))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """-mean log(1 - level)."""
        with np.errstate(divide="ignore"):
            return np.asarray(-exp(raw[:, 0]) * np.log1p(-np.asarray(level, np.float64)))


@dataclass(frozen=True)
class GammaDistribution(PositiveDistribution):
    """The gamma distribution, by the logarithms of its mean and of its shape, which are independent: its variance is mean**2 / shape."""

    name: ClassVar[str] = "gamma"
    parameters: ClassVar[tuple[str, ...]] = ("log mean", "log shape")
    has_spread: ClassVar[bool] = True

    def parts(self, raw: Floats) -> tuple[Floats, Floats]:
        """Mean and shape."""
        return exp(raw[:, 0]), exp(np.clip(raw[:, 1], SMALLEST_SHAPE, LARGEST_SHAPE))

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The best fit, from mean and standard deviation."""
        mean = mean_of(y, weight)
        shape = min(max((mean / std_of(y, weight)) ** 2, 1e-2), 1e7)
        return fitted_constant(self, y, weight, np.array([math.log(mean), math.log(shape)]))

    def spread_around(self, y: Floats, location: Floats, weight: Floats | None = None) -> Floats:
        """The shape that belongs to the mean deviance, in the approximation of Minka 2002."""
        share = y * exp(-location)
        deviance = max(mean_of(share - 1.0 - np.log(share), weight), 1e-8)
        shape = (3.0 - deviance + math.sqrt((deviance - 3.0) ** 2 + 24.0 * deviance)) / (12.0 * deviance)
        return np.array([math.log(min(max(shape, 1e-2), 1e7))])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """k log(k / m) + (k - 1) log y - k y / m - log gamma(k)."""
        m, k = self.parts(raw)
        with np.errstate(invalid="ignore"):
            found = special.xlogy(k, k * np.asarray(y) / m) - log_of(y) - k * y / m - special.gammaln(k)
        return np.where(np.asarray(y) > 0.0, found, -np.inf)

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """k (1 - y / m), and k (digamma(k) - log(k y / m) - 1 + y / m)."""
        m, k = self.parts(raw)
        share = np.asarray(y / m)
        return np.stack([k * (1.0 - share), k * (special.digamma(k) - np.log(k) - log_of(share) - 1.0 + share)], axis=1)

    def information(self, raw: Floats) -> Floats:
        """k and k**2 (trigamma(k) - 1 / k): diagonal."""
        _, k = self.parts(raw)
        # Beyond 1e3 the difference loses its digits; its series begins with 1 / (2 k**2).
        shape = np.where(k > 1e3, 0.5 + 1.0 / (6.0 * k), k * k * special.polygamma(1, np.minimum(k, 1e3)) - k)
        return np.stack([k, shape], axis=1)

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Scheuerer & Moeller 2015, Eq. 10."""
        m, k = self.parts(raw)
        scaled = k * np.maximum(y, 0.0) / m
        return np.asarray(
            y * (2.0 * special.gammainc(k, scaled) - 1.0)
            - m * (2.0 * special.gammainc(k + 1.0, scaled) - 1.0)
            - m / k / special.beta(0.5, k)
        )

    def mean(self, raw: Floats) -> Floats:
        """The mean."""
        return exp(raw[:, 0])

    def std(self, raw: Floats) -> Floats:
        """The mean over the root of the shape."""
        m, k = self.parts(raw)
        return np.asarray(m / np.sqrt(k))

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """The regularised incomplete gamma function."""
        m, k = self.parts(raw)
        return np.asarray(special.gammainc(k, k * np.maximum(y, 0.0) / m))

    def sf(self, y: Floats, raw: Floats) -> Floats:
        """Its complement."""
        m, k = self.parts(raw)
        return np.asarray(special.gammaincc(k, k * np.maximum(y, 0.0) / m))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """Its inverse."""
        m, k = self.parts(raw)
        return np.asarray(special.gammaincinv(k, np.asarray(level, np.float64)) * m / k)

    def lowest(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Shapes within their bounds."""
        return np.array([-np.inf, SMALLEST_SHAPE])

    def crps_gradient(self, y: Floats, raw: Floats) -> Floats:
        """By the mean exactly; by the shape, whose incomplete gamma functions have no simple derivative, by central differences."""
        m, k = self.parts(raw)
        scaled = k * np.maximum(y, 0.0) / m
        by_mean = -m * (2.0 * special.gammainc(k + 1.0, scaled) - 1.0) - m / k / special.beta(0.5, k)
        return np.stack([by_mean, self._by_shape(lambda some: self.crps(y, some), raw)], axis=1)

    @staticmethod
    def _by_shape(function: Any, raw: Floats) -> Floats:
        step = np.array([0.0, 1e-5])
        return np.asarray((function(raw + step) - function(raw - step)) / 2e-5)


@dataclass(frozen=True)
class WeibullDistribution(PositiveDistribution):
    """The Weibull distribution, by the logarithms of its scale and of its shape: (y / scale)**shape is exponential."""

    name: ClassVar[str] = "weibull"
    aliases: ClassVar[tuple[str, ...]] = ("weibull_min",)
    parameters: ClassVar[tuple[str, ...]] = ("log scale", "log shape")
    has_spread: ClassVar[bool] = True

    def parts(self, raw: Floats) -> tuple[Floats, Floats]:
        """Scale and shape, the second within 0.001 and 1e6."""
        return exp(raw[:, 0]), exp(np.clip(raw[:, 1], SMALLEST_SHAPE, math.log(1e6)))

    def power(self, y: Floats, raw: Floats) -> Floats:
        """Logarithm of (y / scale)**shape, within what can be raised."""
        _, k = self.parts(raw)
        return np.clip(k * (log_of(y) - raw[:, 0]), -700.0, 700.0)

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The best fit, from mean and standard deviation of the logarithm."""
        log = np.log(y)
        shape = min(math.pi / math.sqrt(6.0) / std_of(log, weight), 1e5)
        return fitted_constant(self, y, weight, np.array([mean_of(log, weight) + EULER / shape, math.log(shape)]))

    def spread_around(self, y: Floats, location: Floats, weight: Floats | None = None) -> Floats:
        """The shape that belongs to the standard deviation of the logarithm."""
        return np.array([math.log(min(math.pi / math.sqrt(6.0) / std_of(np.log(y) - location, weight), 1e5))])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """log k + log z - log y - z, where z = (y / scale)**k."""
        _, k = self.parts(raw)
        log_z = self.power(y, raw)
        with np.errstate(over="ignore"):
            found = np.log(k) + log_z - log_of(np.maximum(y, 1e-300)) - np.exp(log_z)
        return np.where(np.asarray(y) > 0.0, found, -np.inf)

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """k (1 - z), and (z - 1) log z - 1."""
        _, k = self.parts(raw)
        log_z = self.power(y, raw)
        over = np.expm1(log_z)
        return np.stack([-k * over, over * log_z - 1.0], axis=1)

    def information(self, raw: Floats) -> Floats:
        """k**2, -k (1 - gamma) between them, and (1 - gamma)**2 + pi**2 / 6."""
        _, k = self.parts(raw)
        out = np.empty((len(raw), 2, 2))
        out[:, 0, 0], out[:, 1, 1] = k * k, (1.0 - EULER) ** 2 + math.pi**2 / 6.0
        out[:, 0, 1] = out[:, 1, 0] = -k * (1.0 - EULER)
        return out

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """y (2 F - 1) + mean (2**(-1/k) - 2 P(1 + 1/k, z)): mean distance from y, less half that of two draws."""
        _, k = self.parts(raw)
        with np.errstate(over="ignore"):
            z = np.exp(self.power(y, raw))
        below = special.gammainc(1.0 + 1.0 / k, z)
        return np.asarray(y * (2.0 * self.cdf(y, raw) - 1.0) + self.mean(raw) * (np.exp2(-1.0 / k) - 2.0 * below))

    def mean(self, raw: Floats) -> Floats:
        """Scale times gamma(1 + 1 / k)."""
        scale, k = self.parts(raw)
        return np.asarray(scale * special.gamma(1.0 + 1.0 / np.maximum(k, 1e-2)))

    def std(self, raw: Floats) -> Floats:
        """Scale times the root of gamma(1 + 2 / k) - gamma(1 + 1 / k)**2."""
        scale, k = self.parts(raw)
        k = np.maximum(k, 2e-2)
        first = special.gammaln(1.0 + 1.0 / k)
        return np.asarray(scale * np.exp(first) * np.sqrt(np.maximum(np.expm1(special.gammaln(1.0 + 2.0 / k) - 2.0 * first), 0.0)))

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """1 - exp(-z)."""
        with np.errstate(over="ignore"):
            return np.where(np.asarray(y) > 0.0, -np.expm1(-np.exp(self.power(y, raw))), 0.0)

    def sf(self, y: Floats, raw: Floats) -> Floats:
        """exp(-z)."""
        with np.errstate(over="ignore"):
            return np.where(np.asarray(y) > 0.0, np.exp(-np.exp(self.power(y, raw))), 1.0)

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """Scale times (-log(1 - level))**(1 / k)."""
        scale, k = self.parts(raw)
        with np.errstate(divide="ignore"):
            return np.asarray(scale * np.power(-np.log1p(-np.asarray(level, np.float64)), 1.0 / k))

    def lowest(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Shapes within their bounds."""
        return np.array([-np.inf, SMALLEST_SHAPE])


@dataclass(frozen=True)
class BetaDistribution(Distribution):
    """The beta distribution, by the log-odds of its mean m and the logarithm of its precision p: its variance is m (1 - m) / (p + 1)."""

    name: ClassVar[str] = "beta"
    parameters: ClassVar[tuple[str, ...]] = ("log-odds of the mean", "log precision")
    support: ClassVar[str] = "above 0 and below 1"
    has_spread: ClassVar[bool] = True

    def outside(self, y: Floats) -> NDArray[np.bool_]:
        """Zero and below, one and above."""
        return ~((np.asarray(y) > 0.0) & (np.asarray(y) < 1.0))

    def parts(self, raw: Floats) -> tuple[Floats, Floats, Floats]:
        """Mean, and the two shapes, mean * precision and (1 - mean) * precision."""
        odds = np.clip(raw[:, 0], -30.0, 30.0)
        mean, precision = special.expit(odds), exp(np.clip(raw[:, 1], SMALLEST_SHAPE, LARGEST_SHAPE))
        return mean, mean * precision, special.expit(-odds) * precision

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The best fit, from mean and standard deviation."""
        mean = min(max(mean_of(y, weight), 1e-9), 1.0 - 1e-9)
        precision = min(max(mean * (1.0 - mean) / std_of(y, weight) ** 2 - 1.0, 1e-2), 1e6)
        return fitted_constant(self, y, weight, np.array([math.log(mean / (1.0 - mean)), math.log(precision)]))

    def spread_around(self, y: Floats, location: Floats, weight: Floats | None = None) -> Floats:
        """The precision that belongs to the mean square distance."""
        mean = special.expit(np.clip(location, -30.0, 30.0))
        square = max(mean_of((y - mean) ** 2, weight), 1e-300)
        precision = mean_of(mean * (1.0 - mean), weight) / square - 1.0
        return np.array([math.log(min(max(precision, 1e-2), 1e6))])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """(a - 1) log y + (b - 1) log(1 - y) - log beta(a, b)."""
        _, a, b = self.parts(raw)
        with np.errstate(invalid="ignore"):
            found = special.xlogy(a - 1.0, np.clip(y, 0.0, 1.0)) + special.xlog1py(b - 1.0, -np.clip(y, 0.0, 1.0)) - special.betaln(a, b)
        return np.where(self.outside(y), -np.inf, found)

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """By both shapes, then by the chain rule."""
        m, a, b = self.parts(raw)
        both = special.digamma(a + b)
        by_a = special.digamma(a) - both - log_of(y)
        by_b = special.digamma(b) - both - np.log1p(-np.asarray(y))
        return np.stack([m * b * (by_a - by_b), a * by_a + b * by_b], axis=1)

    def information(self, raw: Floats) -> Floats:
        """By both shapes, then by the chain rule."""
        m, a, b = self.parts(raw)
        one, two, both = (special.polygamma(1, part) for part in (a, b, a + b))
        turn = m * b  # of a with the log-odds; of b it is minus that
        out = np.empty((len(raw), 2, 2))
        out[:, 0, 0] = turn * turn * (one + two)
        out[:, 0, 1] = out[:, 1, 0] = turn * (a * one - b * two)
        out[:, 1, 1] = np.maximum(a * a * one + b * b * two - (a + b) ** 2 * both, 1e-300)
        return out

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Jordan, Krueger & Lerch 2019, appendix A: mean distance from y, less half that of two draws."""
        mean, a, b = self.parts(raw)
        apart = 2.0 / a * np.exp(special.betaln(2.0 * a, 2.0 * b) - 2.0 * special.betaln(a, b))
        below = special.betainc(a + 1.0, b, np.clip(y, 0.0, 1.0))
        return np.asarray(y * (2.0 * self.cdf(y, raw) - 1.0) + mean * (1.0 - 2.0 * below - apart))

    def mean(self, raw: Floats) -> Floats:
        """The mean."""
        return np.asarray(self.parts(raw)[0])

    def std(self, raw: Floats) -> Floats:
        """Root of m (1 - m) / (precision + 1)."""
        m, a, b = self.parts(raw)
        return np.asarray(np.sqrt(m * (1.0 - m) / (a + b + 1.0)))

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """The regularised incomplete beta function."""
        _, a, b = self.parts(raw)
        return np.asarray(special.betainc(a, b, np.clip(y, 0.0, 1.0)))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """Its inverse."""
        _, a, b = self.parts(raw)
        return np.asarray(special.betaincinv(a, b, np.asarray(level, np.float64)))

    def lowest(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Precisions within their bounds."""
        return np.array([-np.inf, SMALLEST_SHAPE])
