"""Distributions of counts: Poisson, negative binomial, zero-inflated Poisson."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.interpolate import RectBivariateSpline

from woodwind.distributions.base import Distribution, Floats, differences, exp, fitted_constant, mean_of, std_of

# To be in this list is to be public, a name that estimators take, and a kind of the model file.
__all__ = ["NegativeBinomialDistribution", "PoissonDistribution", "ZeroInflatedPoissonDistribution"]

# The least mean of a count whose rows are all zero.
LEAST_MEAN = 1e-9
# A negative binomial of size beyond e**9 is a Poisson distribution, and one below e**-6 is almost always zero.
SMALLEST_SIZE, LARGEST_SIZE = -6.0, 9.0
# Counts that the metric of a CRPS is summed over.
METRIC_COUNTS = 64
# Terms of a sum that are added one by one; later ones are an integral.
SUMMED = 64


@dataclass(frozen=True)
class CountDistribution(Distribution):
    """A distribution of whole numbers from zero on."""

    support: ClassVar[str] = "whole numbers from zero on"
    discrete: ClassVar[bool] = True

    def outside(self, y: Floats) -> NDArray[np.bool_]:
        """Below zero, and what is not whole."""
        values = np.asarray(y, np.float64)
        return np.asarray(~((values >= 0.0) & (values == np.floor(values))))

    def _smallest(self, guess: Floats, level: Any, raw: Floats) -> Floats:
        """The smallest whole number whose probability so far reaches the level, from a guess that is off by one at most."""
        level = np.asarray(level, np.float64)
        with np.errstate(invalid="ignore"):
            near = np.maximum(np.ceil(guess), 0.0)
        near = np.where(np.isfinite(near), near, 0.0)
        slack = level * (1.0 - 4e-16)
        near = np.where((near > 0.0) & (self.cdf(near - 1.0, raw) >= slack), near - 1.0, near)
        near = np.where(self.cdf(near, raw) < slack, near + 1.0, near)
        return np.where(level >= 1.0, np.inf, np.where(level <= 0.0, -1.0, near))

    def crps_metric(self, raw: Floats) -> Floats:
        """Twice the sum of F' F'^T over counts; over some of them, each for those around it, where they are many."""
        least, most = self.quantile(5e-4, raw), self.quantile(1.0 - 5e-4, raw)
        step = np.maximum((most - least) / (METRIC_COUNTS - 1), 1.0)
        out = np.zeros((len(raw), self.width, self.width))
        for number in range(METRIC_COUNTS):
            count = np.round(least + number * step)
            by_score = differences(lambda some, at=count: self.cdf(at, some), raw)
            out += np.where(count <= most, step, 0.0)[:, None, None] * by_score[:, :, None] * by_score[:, None, :]
        return 2.0 * out


@dataclass(frozen=True)
class PoissonDistribution(CountDistribution):
    """The Poisson distribution, by the logarithm of its mean."""

    name: ClassVar[str] = "poisson"
    parameters: ClassVar[tuple[str, ...]] = ("log mean",)

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The mean."""
        return np.array([math.log(max(mean_of(y, weight), LEAST_MEAN))])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """y log m - m - log y!."""
        score = np.clip(raw[:, 0], -300.0, 300.0)
        with np.errstate(invalid="ignore"):
            found = y * score - np.exp(score) - special.gammaln(np.maximum(y, 0.0) + 1.0)
        return np.where(self.outside(y), -np.inf, found)

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """m - y."""
        return np.asarray(exp(raw[:, 0]) - y)[:, None]

    def information(self, raw: Floats) -> Floats:
        """m."""
        return exp(raw)

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """(y - m) (2 F(y) - 1) + 2 m times the probability of y, less half the mean distance of two draws."""
        m = exp(raw[:, 0])
        apart = m * (special.i0e(2.0 * m) + special.i1e(2.0 * m))
        return np.asarray((y - m) * (2.0 * self.cdf(y, raw) - 1.0) + 2.0 * m * np.exp(self.log_density(y, raw)) - apart)

    def crps_gradient(self, y: Floats, raw: Floats) -> Floats:
        """m (1 - 2 F(y - 1) - P(two draws are equal))."""
        m = exp(raw[:, 0])
        return np.asarray(m * (1.0 - 2.0 * self.cdf(y - 1.0, raw) - special.i0e(2.0 * m)))[:, None]

    def crps_metric(self, raw: Floats) -> Floats:
        """2 m**2 times the probability that two draws are equal."""
        m = exp(raw)
        return np.asarray(2.0 * m * m * special.i0e(2.0 * m))

    def mean(self, raw: Floats) -> Floats:
        """The mean."""
        return exp(raw[:, 0])

    def std(self, raw: Floats) -> Floats:
        """Its root."""
        return np.sqrt(exp(raw[:, 0]))

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """The regularised incomplete gamma function."""
        whole = np.floor(np.asarray(y, np.float64))
        return np.where(whole < 0.0, 0.0, special.gammaincc(np.maximum(whole, 0.0) + 1.0, exp(raw[:, 0])))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """The smallest count that reaches the level."""
        return self._smallest(special.pdtrik(np.clip(level, 1e-300, 1.0 - 1e-16), exp(raw[:, 0])), level, raw)


@dataclass(frozen=True)
class NegativeBinomialDistribution(CountDistribution):
    """The negative binomial distribution, by the logarithms of its mean and of its size: its variance is mean + mean**2 / size."""

    name: ClassVar[str] = "negative_binomial"
    aliases: ClassVar[tuple[str, ...]] = ("nbinom", "negativebinomial", "nb")
    parameters: ClassVar[tuple[str, ...]] = ("log mean", "log size")
    has_spread: ClassVar[bool] = True

    def parts(self, raw: Floats) -> tuple[Floats, Floats]:
        """Mean and size."""
        return exp(raw[:, 0]), exp(np.clip(raw[:, 1], SMALLEST_SIZE, LARGEST_SIZE))

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The best fit, from mean and variance."""
        mean = max(mean_of(y, weight), LEAST_MEAN)
        more = max(std_of(y, weight) ** 2 - mean, 1e-3 * mean)
        first = np.array([math.log(mean), min(max(math.log(mean * mean / more), SMALLEST_SIZE), LARGEST_SIZE)])
        return fitted_constant(self, y, weight, first)

    def spread_around(self, y: Floats, location: Floats, weight: Floats | None = None) -> Floats:
        """The size that belongs to the mean square distance."""
        mean = exp(location)
        more = mean_of((y - mean) ** 2 - mean, weight)
        size = mean_of(mean * mean, weight) / more if more > 0.0 else math.inf
        return np.array([min(max(math.log(size), SMALLEST_SIZE), LARGEST_SIZE)])

    def lowest(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Sizes within their bounds."""
        return np.array([-np.inf, SMALLEST_SIZE])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """log C(y + r - 1, y) + r log(r / (r + m)) + y log(m / (r + m))."""
        m, r = self.parts(raw)
        count = np.maximum(y, 0.0)
        found = special.gammaln(count + r) - special.gammaln(r) - special.gammaln(count + 1.0)
        found = found - r * np.log1p(m / r) + special.xlogy(count, m / (r + m))
        return np.where(self.outside(y), -np.inf, found)

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """r (m - y) / (r + m), and r times the derivative by the size."""
        m, r = self.parts(raw)
        by_size = special.digamma(r) - special.digamma(y + r) + np.log1p(m / r) - 1.0 + (y + r) / (m + r)
        return np.stack([r * (m - y) / (r + m), r * by_size], axis=1)

    def information(self, raw: Floats) -> Floats:
        """m r / (m + r), and by the size from a table of the sum that it is: diagonal."""
        m, r = self.parts(raw)
        size = np.exp(_size_information_table().ev(np.clip(np.log(m), *MEANS_TABLED), np.log(r)))
        return np.stack([m * r / (m + r), size], axis=1)

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Wei & Held 2014: mean distance from y, less half that of two draws."""
        m, r = self.parts(raw)
        before = np.where(np.asarray(y) < 1.0, 0.0, special.betainc(r + 1.0, np.maximum(y, 1.0), r / (r + m)))
        # 2F1(r + 1, 1/2; 2; -x) for x = 4 m (m + r) / r**2, by Pfaff's transformation, whose argument is below one.
        over = (r / (r + 2.0 * m)) ** 2
        apart = np.sqrt(over) * special.hyp2f1(1.0 - r, 0.5, 2.0, 1.0 - over)
        return np.asarray(y * (2.0 * self.cdf(y, raw) - 1.0) - m * (2.0 * before - 1.0) - m * (r + m) / r * apart)

    def mean(self, raw: Floats) -> Floats:
        """The mean."""
        return exp(raw[:, 0])

    def std(self, raw: Floats) -> Floats:
        """Root of mean + mean**2 / size."""
        m, r = self.parts(raw)
        return np.asarray(np.sqrt(m + m * m / r))

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """The regularised incomplete beta function."""
        m, r = self.parts(raw)
        whole = np.floor(np.asarray(y, np.float64))
        return np.where(whole < 0.0, 0.0, special.betainc(r, np.maximum(whole, 0.0) + 1.0, r / (r + m)))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """The smallest count that reaches the level."""
        m, _ = self.parts(raw)
        # By bisection: what SciPy has for it fails for large sizes.
        level = np.asarray(level, np.float64)
        shape = np.broadcast_shapes(level.shape, m.shape)
        low, high = np.full(shape, -1.0), np.broadcast_to(np.ceil(4.0 * m + 10.0), shape).copy()
        inside = (level > 0.0) & (level < 1.0)
        for _ in range(200):
            short = inside & (self.cdf(high, raw) < level)
            if not short.any():
                break
            high = np.where(short, 2.0 * high, high)
        while (high - low > 1.0).any():
            middle = np.floor(0.5 * (low + high))
            reached = self.cdf(middle, raw) >= level * (1.0 - 4e-16)
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return np.where(level >= 1.0, np.inf, np.where(level <= 0.0, -1.0, high))


# Logarithms of means that the table goes over; beyond them the information hardly changes, or is almost nothing.
MEANS_TABLED = (-9.0, 14.0)


@lru_cache(maxsize=1)
def _size_information_table() -> RectBivariateSpline:
    """Logarithm of the information about the logarithm of the size, over logarithms of mean and size."""
    means, sizes = np.linspace(*MEANS_TABLED, 70), np.linspace(SMALLEST_SIZE, LARGEST_SIZE, 46)
    grid = np.array([[size_information(math.exp(mean), math.exp(size)) for size in sizes] for mean in means])
    return RectBivariateSpline(means, sizes, np.log(np.maximum(grid, 1e-30)))


def size_information(m: float, r: float) -> float:
    """Fisher information about log r: r**2 times (sum over j of P(Y > j) / (r + j)**2, less m / (r (m + r)))."""
    p = m / (m + r)

    # The two parts are almost equal for large sizes. Both are sums over j, of which the second has E[min(Y, ...)] in closed form;
    # so the difference is summed term by term: the second is the sum over j of P(Y > j) / (r (m + r)), since E[Y] = m.
    def terms(j: Floats) -> Floats:
        return np.asarray(special.betainc(j + 1.0, r, p) * (1.0 / (r + j) ** 2 - 1.0 / (r * (m + r))))

    total = float(terms(np.arange(float(SUMMED))).sum())
    # Midpoints of steps that grow by 2 %, up to where hardly any probability is left.
    last = (m + 12.0 * math.sqrt(m + m * m / r) + 40.0) * 3.0
    if last > SUMMED:
        edges = np.geomspace(SUMMED - 0.5, last, max(int(math.log(last / SUMMED) / 0.02), 8))
        nodes, weights = np.polynomial.legendre.leggauss(4)
        middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
        for node, weight in zip(nodes, weights, strict=True):
            total += float((weight * half * terms(middle + half * node)).sum())
    return max(total, 0.0) * r * r


@dataclass(frozen=True)
class ZeroInflatedPoissonDistribution(CountDistribution):
    """A Poisson distribution of this logarithm of the mean, or a zero with these log-odds."""

    name: ClassVar[str] = "zero_inflated_poisson"
    aliases: ClassVar[tuple[str, ...]] = ("zip", "zeroinflatedpoisson")
    parameters: ClassVar[tuple[str, ...]] = ("log mean of the counts", "log-odds of a sure zero")

    def parts(self, raw: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Mean of the counts, chance of a sure zero, probability of zero, and of zero among counts."""
        m = exp(np.clip(raw[:, 0], -20.0, 300.0))
        sure = special.expit(np.clip(raw[:, 1], -20.0, 20.0))
        empty = np.exp(-m)
        return m, sure, sure + (1.0 - sure) * empty, empty

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The best fit, from the share of zeros and the mean."""
        mean, zeros = max(mean_of(y, weight), LEAST_MEAN), mean_of((np.asarray(y) == 0.0).astype(np.float64), weight)
        sure = min(max(zeros - math.exp(-mean), 0.02), 0.95)
        return fitted_constant(self, y, weight, np.array([math.log(mean / (1.0 - sure)), math.log(sure / (1.0 - sure))]))

    def lowest(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Log-odds of a sure zero from -8 on: below, hardly anything changes."""
        return np.array([-np.inf, -8.0])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """Of zero, both ways; of counts, Poisson's times the chance of one."""
        m, sure, zero, _ = self.parts(raw)
        count = np.maximum(y, 0.0)
        with np.errstate(divide="ignore"):
            found = np.log1p(-sure) + special.xlogy(count, m) - m - special.gammaln(count + 1.0)
        return np.where(self.outside(y), -np.inf, np.where(count == 0.0, np.log(zero), found))

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """Of a zero, its parts by how it came about."""
        m, sure, zero, empty = self.parts(raw)
        is_zero = np.asarray(y) == 0.0
        by_mean = np.where(is_zero, (1.0 - sure) * empty * m / zero, m - y)
        by_zero = np.where(is_zero, -sure * (1.0 - sure) * (1.0 - empty) / zero, sure)
        return np.stack([by_mean, by_zero], axis=1)

    def information(self, raw: Floats) -> Floats:
        """Sums over zero and over counts, in closed form."""
        m, sure, zero, empty = self.parts(raw)
        at_zero = np.stack([(1.0 - sure) * empty * m / zero, -sure * (1.0 - sure) * (1.0 - empty) / zero], axis=1)
        out = zero[:, None, None] * at_zero[:, :, None] * at_zero[:, None, :]
        out[:, 0, 0] += (1.0 - sure) * (m - m * m * empty)
        out[:, 1, 1] += (1.0 - zero) * sure * sure
        between = -(1.0 - sure) * sure * m * empty
        out[:, 0, 1] += between
        out[:, 1, 0] += between
        return out

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Mean distance from y, less half that of two draws, each of which is a sure zero or one of Poisson's."""
        m, sure, _, _ = self.parts(raw)
        poisson, scores = PoissonDistribution(), np.log(m)[:, None]
        apart = m * (special.i0e(2.0 * m) + special.i1e(2.0 * m))
        away = poisson.crps(y, scores) + apart
        return np.asarray(sure * y + (1.0 - sure) * away - sure * (1.0 - sure) * m - (1.0 - sure) ** 2 * apart)

    def mean(self, raw: Floats) -> Floats:
        """(1 - sure) m."""
        m, sure, _, _ = self.parts(raw)
        return np.asarray((1.0 - sure) * m)

    def std(self, raw: Floats) -> Floats:
        """Root of (1 - sure) m (1 + sure m)."""
        m, sure, _, _ = self.parts(raw)
        return np.asarray(np.sqrt((1.0 - sure) * m * (1.0 + sure * m)))

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """Sure zeros and Poisson's."""
        m, sure, _, _ = self.parts(raw)
        whole = np.floor(np.asarray(y, np.float64))
        return np.where(whole < 0.0, 0.0, sure + (1.0 - sure) * special.gammaincc(np.maximum(whole, 0.0) + 1.0, m))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """Poisson's of what is left of the level beyond sure zeros."""
        m, sure, _, _ = self.parts(raw)
        level = np.asarray(level, np.float64)
        rest = np.clip((level - sure) / (1.0 - sure), 1e-300, 1.0 - 1e-16)
        return self._smallest(np.where(level <= sure, 0.0, special.pdtrik(rest, m)), level, raw)
