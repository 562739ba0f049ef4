"""What `predict_survival_function` gives: for each row the probability that its event has not come by a time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from woodwind.base.did_you_mean import did_you_mean, spelling
from woodwind.base.errors import ParameterError
from woodwind.data.tables.survival_times import at_times
from woodwind.distributions.base import exp

Floats = NDArray[np.float64]

# Standard distributions of accelerated failure time, in the order of the switches of kernels/losses/failure_times.py.
AFT_DISTRIBUTIONS = ("normal", "logistic", "extreme")
SYNONYMS = {"lognormal": "normal", "log_normal": "normal", "gaussian": "normal", "loglogistic": "logistic", "log_logistic": "logistic"}
SYNONYMS |= {"weibull": "extreme", "extreme_value": "extreme", "gumbel": "extreme"}


def aft_distribution(name: Any) -> str:
    """Our name of a standard distribution of log times, or of the distribution of times that it makes."""
    plain = spelling(name) if isinstance(name, str) else ""
    found = SYNONYMS.get(plain, plain)
    if found not in AFT_DISTRIBUTIONS:
        known = ", ".join(map(repr, AFT_DISTRIBUTIONS))
        raise ParameterError(f"distribution must be one of {known}, not {name!r}. {did_you_mean(plain, AFT_DISTRIBUTIONS)}".rstrip())
    return found


def aft_survival(distribution: str, z: Floats) -> Floats:
    """The probability above z of a standard distribution."""
    if distribution == "normal":
        return np.asarray(special.ndtr(-z))
    if distribution == "logistic":
        return np.asarray(special.expit(-z))
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-np.exp(z)))


def aft_cumulative_hazard(distribution: str, z: Floats) -> Floats:
    """Minus the logarithm of the probability above z."""
    if distribution == "normal":
        return np.asarray(-special.log_ndtr(-z))
    if distribution == "logistic":
        return np.asarray(np.logaddexp(0.0, z))
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(z))


def aft_quantile(distribution: str, level: Floats) -> Floats:
    """The point below which a standard distribution has this probability."""
    with np.errstate(divide="ignore"):
        if distribution == "normal":
            return np.asarray(special.ndtri(level))
        if distribution == "logistic":
            return np.asarray(special.logit(level))
        return np.asarray(np.log(-np.log1p(-level)))


def aft_median(distribution: str, score: Floats, scale: float) -> Floats:
    """Median times of scores."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(score + scale * float(aft_quantile(distribution, np.array(0.5)))))


class PredictedTimes:
    """What is known of the times of n rows, or of one: survival and cumulative hazard at any time, and quantiles."""

    def survival(self, times: Floats) -> Floats:
        """Probability of no event up to each time: (n, *shape of times), or the shape of times for one row."""
        raise NotImplementedError

    def cumulative_hazard(self, times: Floats) -> Floats:
        """Minus the logarithm of that."""
        raise NotImplementedError

    def quantile(self, level: float) -> Floats:
        """Times by which this share has had its event, (n,)."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, rows: Any) -> "PredictedTimes":
        raise NotImplementedError


def _across(values: Floats, times: Floats) -> Floats:
    """Numbers of rows with room for times behind them."""
    return values.reshape(values.shape + (1,) * times.ndim)


@dataclass(frozen=True, eq=False)
class ProportionalHazards(PredictedTimes):
    """A baseline that all rows share, times the risk of each: steps at the times of events."""

    times: Floats  # (T,), of events
    baseline: Floats  # (T,), cumulative hazard from each time on, of a row whose score is 0
    score: Floats  # (n,), logarithms of the risk; () for one row

    def __len__(self) -> int:
        return len(self.score)

    def __getitem__(self, rows: Any) -> "ProportionalHazards":
        return ProportionalHazards(self.times, self.baseline, np.asarray(self.score[rows]))

    def cumulative_hazard(self, times: Floats) -> Floats:
        """The baseline times exp(score), which is finite: before the first event no risk makes a hazard."""
        return np.asarray(at_times(self.times, self.baseline, times, 0.0) * _across(exp(self.score), times))

    def survival(self, times: Floats) -> Floats:
        """exp(-cumulative hazard)."""
        return np.exp(-self.cumulative_hazard(times))

    def quantile(self, level: float) -> Floats:
        """The first event time whose survival is at most 1 - level; infinite where it never comes so far."""
        needed = -np.log1p(-level) * exp(-self.score)
        place = np.searchsorted(self.baseline * (1.0 + 1e-12), needed, side="left")
        return np.asarray(np.append(self.times, np.inf)[place])


@dataclass(frozen=True, eq=False)
class FailureTimes(PredictedTimes):
    """Times whose logarithm is the score of a row plus `scale` times a draw of a standard distribution."""

    distribution: str
    scale: float
    score: Floats  # (n,); () for one row

    def __len__(self) -> int:
        return len(self.score)

    def __getitem__(self, rows: Any) -> "FailureTimes":
        return FailureTimes(self.distribution, self.scale, np.asarray(self.score[rows]))

    def _standard(self, times: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray((np.log(times) - _across(self.score, times)) / self.scale)

    def survival(self, times: Floats) -> Floats:
        """In closed form."""
        return aft_survival(self.distribution, self._standard(times))

    def cumulative_hazard(self, times: Floats) -> Floats:
        """In closed form."""
        return aft_cumulative_hazard(self.distribution, self._standard(times))

    def quantile(self, level: float) -> Floats:
        """In closed form."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.score + self.scale * aft_quantile(self.distribution, np.array(level))))


@dataclass(frozen=True, eq=False)
class SurvivalFunctions:
    """Survival functions of n rows: call it with times.

    A time gives (n,), times (T,) give (n, T); `functions[i]` is that of one row, which gives one number for each time.

    Examples
    --------
    >>> import numpy as np
    >>> from woodwind.distributions import FailureTimes, SurvivalFunctions
    >>> survival = SurvivalFunctions(FailureTimes("logistic", 1.0, np.log([2.0, 4.0])))
    >>> survival([2.0, 4.0]).round(3)
    array([[0.5  , 0.333],
           [0.667, 0.5  ]])
    >>> survival[1](4.0).round(3), survival.median()
    (np.float64(0.5), array([2., 4.]))
    """

    predicted: PredictedTimes

    def __call__(self, times: Any) -> Floats:
        """The functions at these times."""
        return self._values(read_times(times))

    def _values(self, times: Floats) -> Floats:
        return self.predicted.survival(times)[()]

    def __len__(self) -> int:
        return len(self.predicted)

    def __getitem__(self, rows: Any) -> Any:
        """The functions of some rows, or of one."""
        return type(self)(self.predicted[rows])

    def quantile(self, level: float = 0.5) -> Floats:
        """Times by which a share `level` of rows like these has had its event; infinite where the function does not come so far."""
        if isinstance(level, bool) or not isinstance(level, int | float | np.number) or not 0.0 <= level < 1.0:
            raise ParameterError(f"quantile: level must be a number from 0 to below 1, but it is {level!r}.")
        return self.predicted.quantile(float(level))[()]

    def median(self) -> Floats:
        """Median survival times; infinite where survival does not fall to a half."""
        return self.quantile(0.5)


@dataclass(frozen=True, eq=False)
class CumulativeHazardFunctions(SurvivalFunctions):
    """Cumulative hazards of n rows, minus the logarithms of their survival functions: call it with times, as those."""

    def _values(self, times: Floats) -> Floats:
        return self.predicted.cumulative_hazard(times)[()]


def read_times(times: Any) -> Floats:
    """Times at which a function is asked for, checked."""
    read = np.asarray(times, np.float64)
    if read.ndim > 1 or np.isnan(read).any() or (read < 0.0).any():
        raise ParameterError("times must be a number, or a list of numbers, that are not negative and not missing.")
    return read
