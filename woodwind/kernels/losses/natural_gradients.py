"""Natural gradients of the log score of distributions, and the information about their first score.

A distribution is a `ScoreFormula`: a switch and at most one number. Rows are worked on sideways, LANES at a time, so that a vector holds
one score of many rows; `fill_block` holds the switch. What a score tells of itself does not depend on the row for any score but the first
(or not at all), so that is the only one whose information is computed for every row.
Twins: `gradient` and `information` of woodwind/distributions, in NumPy.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.losses.exponential import LANES, exp, log
from woodwind.kernels.runtime.jit import inner, kernel

# Switches are baked into compiled kernels. Model files do not hold them.
NORMAL, LOG_NORMAL, LAPLACE, LOGISTIC, STUDENT_T, WEIBULL, EXPONENTIAL, POISSON = range(8)
# Scores that are logarithms are held to this size, as everywhere: exp(300) squared is a float64.
LARGEST_LOG = 300.0
# The natural gradient of a row ends here, in units in which its information is 1.
LONGEST = 100.0

# Below this a float has fewer bits; times the factor it is a normal one again.
LEAST_NORMAL, FACTOR, LOG_FACTOR = 2.2250738585072014e-308, 2.0**54, 37.42994775023705

# Fisher information about the logarithm of a logistic scale; and, for Weibull's distribution, 1 - Euler's constant and pi**2 / 6.
LOGISTIC_SCALE = 1.4299560445654842
WEIBULL_TURN, WEIBULL_REST = 0.42278433509846713, 1.6449340668482264
LEAST_SHAPE, MOST_SHAPE = -6.907755278982137, 13.815510557964274  # logarithms of 0.001 and 1e6


class ScoreFormula(NamedTuple):
    """Which distribution, and its number: degrees of freedom; else 0."""

    switch: int
    number: float


@inner
def held(score: Any, least: Any, most: Any) -> Any:
    """A score within bounds; one that is no number stays none."""
    score = most if score > most else score
    return least if score < least else score


@inner
def log_of_target(y: Any) -> Any:
    """Logarithm of any number above zero."""
    small = y < LEAST_NORMAL
    found = log(y * FACTOR if small else y)
    return found - LOG_FACTOR if small else found


@inner
def fill_normal(y: Any, location: Any, scale: Any, first: Any, second: Any) -> None:
    """f - y, and (1 - z**2) / 2; `scale` has exp(-log scale)."""
    for i in range(first.shape[0]):
        z = (y[i] - location[i]) * scale[i]
        first[i] = location[i] - y[i]
        second[i] = 0.5 * (1.0 - z * z)


@inner
def fill_laplace(y: Any, location: Any, scale: Any, first: Any, second: Any) -> None:
    """-sign(z) times the scale, and 1 - |z|."""
    for i in range(first.shape[0]):
        away = y[i] - location[i]
        sign = 1.0 if away > 0.0 else (-1.0 if away < 0.0 else 0.0)
        first[i] = -sign / scale[i]
        second[i] = 1.0 - abs(away * scale[i])


@inner
def fill_logistic(y: Any, location: Any, scale: Any, first: Any, second: Any) -> None:
    """-3 tanh(z / 2) times the scale, and (1 - z tanh(z / 2)) over the information."""
    for i in range(first.shape[0]):
        first[i] = (y[i] - location[i]) * scale[i]
        second[i] = exp(-abs(first[i]))
    for i in range(first.shape[0]):
        z = first[i]
        tanh = (1.0 - second[i]) / (1.0 + second[i])
        tanh = tanh if z >= 0.0 else -tanh
        first[i] = -3.0 * tanh / scale[i]
        second[i] = (1.0 - z * tanh) / LOGISTIC_SCALE


@inner
def fill_student_t(y: Any, location: Any, scale: Any, df: Any, first: Any, second: Any) -> None:
    """Pulls of outliers fade as 1 / z."""
    for i in range(first.shape[0]):
        z = (y[i] - location[i]) * scale[i]
        pull = z / (df + z * z)
        first[i] = -(df + 3.0) * pull / scale[i]
        second[i] = (1.0 - (df + 1.0) * z * pull) * ((df + 3.0) / (2.0 * df))


@inner
def fill_weibull(y: Any, location: Any, log_shape: Any, first: Any, second: Any) -> None:
    """The gradient -k (z - 1), (z - 1) log z - 1 by the inverse of the information; y has logarithms."""
    for i in range(first.shape[0]):
        first[i] = exp(held(log_shape[i], LEAST_SHAPE, MOST_SHAPE))
    for i in range(first.shape[0]):
        log_z = held(first[i] * (y[i] - location[i]), -700.0, 700.0)
        second[i] = exp(log_z) - 1.0
    for i in range(first.shape[0]):
        shape = first[i]
        log_z = held(shape * (y[i] - location[i]), -700.0, 700.0)
        by_shape = second[i] * log_z - 1.0
        whole = WEIBULL_TURN * WEIBULL_TURN + WEIBULL_REST
        first[i] = (WEIBULL_TURN * by_shape - whole * second[i]) / (shape * WEIBULL_REST)
        second[i] = (by_shape - WEIBULL_TURN * second[i]) / WEIBULL_REST


@inner
def fill_block(formula: Any, y: Any, location: Any, spread: Any, first: Any, second: Any) -> None:
    """Natural gradients by both scores, for a block of rows; y, location and spread may be written over."""
    n_rows = first.shape[0]
    switch = formula.switch
    if switch == LOG_NORMAL or switch == WEIBULL:
        for i in range(n_rows):
            y[i] = log_of_target(y[i])
    if switch == EXPONENTIAL or switch == POISSON:  # 1 - y / mean for both
        for i in range(n_rows):
            first[i] = 1.0 - y[i] * exp(-held(location[i], -LARGEST_LOG, LARGEST_LOG))
        return
    if switch == WEIBULL:
        fill_weibull(y, location, spread, first, second)
        return
    for i in range(n_rows):
        spread[i] = exp(-held(spread[i], -LARGEST_LOG, LARGEST_LOG))
    if switch == NORMAL or switch == LOG_NORMAL:
        fill_normal(y, location, spread, first, second)
    elif switch == LAPLACE:
        fill_laplace(y, location, spread, first, second)
    elif switch == LOGISTIC:
        fill_logistic(y, location, spread, first, second)
    else:
        fill_student_t(y, location, spread, formula.number, first, second)


@kernel
def natural_gradients(formula: Any, y: Any, raw: Any, lowest: Any, units: Any, begin: int, end: int, out: Any) -> None:
    """Natural gradients of rows begin to end: y float64[n]; raw, out float64[n, K]; lowest float64[K] or None, scores that none is led
    below; units float64[K] or None, in which gradients are given, and beyond LONGEST of which they end.
    """
    width = raw.shape[1]
    block, found, copy = np.empty((3, LANES)), np.empty((2, LANES)), np.empty((2, LANES))
    for at in range(begin, end, LANES):
        n_rows = min(LANES, end - at)
        target, given, scores = y[at : at + n_rows], raw[at : at + n_rows], out[at : at + n_rows]
        y_block = block[0]
        for i in range(n_rows):
            y_block[i] = target[i]
        for k in range(width):
            column, own = block[1 + k], copy[k]
            for i in range(n_rows):
                column[i] = given[i, k]
                own[i] = column[i]
        fill_block(formula, block[0, :n_rows], block[1, :n_rows], block[2, :n_rows], found[0, :n_rows], found[1, :n_rows])
        for k in range(width):
            column, own = found[k], copy[k]
            least = -np.inf if lowest is None else lowest[k]
            for i in range(n_rows):  # no branches: which way one goes, nobody could foresee
                g = column[i]
                column[i] = 0.0 if (g > 0.0) & (own[i] <= least) else g
            if units is not None:
                for i in range(n_rows):
                    column[i] = held(column[i] * units[k], -LONGEST, LONGEST)
            for i in range(n_rows):
                scores[i, k] = column[i]


@kernel
def first_information(formula: Any, raw: Any, weight: Any, begin: int, end: int, out: Any) -> Any:
    """Fisher information about the first score of rows begin to end, times the weight: raw float64[n, K], out float64[n].

    Returns the bits of the largest, which are in the order of the numbers, and above all of them for one that is none.
    """
    switch, df = formula.switch, formula.number
    top = np.int64(0)
    for at in range(begin, end, LANES):
        n_rows = min(LANES, end - at)
        given, found = raw[at : at + n_rows], out[at : at + n_rows]
        column = 0 if switch == POISSON else raw.shape[1] - 1
        factor = 1.0 if switch == POISSON else (2.0 if switch == WEIBULL else (0.0 if switch == EXPONENTIAL else -2.0))
        share = 1.0 / 3.0 if switch == LOGISTIC else ((df + 1.0) / (df + 3.0) if switch == STUDENT_T else 1.0)
        least, most = (LEAST_SHAPE, MOST_SHAPE) if switch == WEIBULL else (-np.inf, np.inf)
        for i in range(n_rows):
            found[i] = held(factor * held(given[i, column], least, most), -LARGEST_LOG, LARGEST_LOG)
        for i in range(n_rows):
            found[i] = share * exp(found[i])
        if weight is not None:
            weights = weight[at : at + n_rows]
            for i in range(n_rows):
                found[i] *= weights[i]
        for i in range(n_rows):
            top = max(top, np.float64(found[i]).view(np.int64))
    return top


@kernel
def digit_sums(values: Any, scale: float, begin: int, end: int, out: Any) -> None:
    """The two digits of a sum as `woodwind.base.fixed.partial_sum` has them, of rows begin to end: values float64[n], out int64[2]."""
    values = values[begin:end]
    high = np.int64(0)
    low = np.int64(0)
    for i in range(values.shape[0]):
        units = values[i] * scale
        digit = np.rint(units)
        high += np.int64(digit)
        low += np.int64(np.rint((units - digit) * 4294967296.0))
    out[0] = high
    out[1] = low
