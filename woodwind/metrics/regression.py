"""Metrics of regression."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import TargetError
from woodwind.metrics.metric import REGRESSION, Floats, Measure, Metric, mean, spread_of_mean

Rows = Callable[[Floats, Floats], Floats]
# The smallest size that an error is set against, as in scikit-learn.
SMALLEST = float(np.finfo(np.float64).eps)
# A target below this share of the usual one is as good as zero where errors are shares of it.
NEXT_TO_ZERO = 1e-6
# Standard errors on both sides between which the ends of an interval for a median are looked for.
REACH = 1.959963984540054


def squared(y: Floats, predicted: Floats) -> Floats:
    """Squared errors."""
    return (y - predicted) ** 2


def absolute(y: Floats, predicted: Floats) -> Floats:
    """Absolute errors."""
    return np.abs(y - predicted)


def relative(y: Floats, predicted: Floats) -> Floats:
    """Absolute errors as shares of the target."""
    return np.abs(y - predicted) / np.maximum(np.abs(y), SMALLEST)


def has_negatives(y: NDArray[Any], _: int = 0) -> str:
    """Why the logarithm of one plus the target cannot be had."""
    negative = y < 0
    return f"the target is negative {_in_rows(negative)} (down to {y.min():g}), and has no logarithm" if negative.any() else ""


def has_zeros(y: NDArray[Any], _: int = 0) -> str:
    """Why errors as shares of the target say nothing: any error is infinitely many times nothing, and that of one row all there is."""
    size = np.abs(y.astype(np.float64))
    if not size.all():
        return f"the target is zero {_in_rows(size == 0.0)}, and no error is a share of that"
    usual = float(np.median(size))
    tiny = size < NEXT_TO_ZERO * usual
    if not tiny.any():
        return ""
    return f"the target is next to zero {_in_rows(tiny)} ({size.min():g} where {usual:g} is usual), and their shares would drown all others"


def is_constant(y: NDArray[Any], _: int = 0) -> str:
    """Why there is neither a variance nor an order of the target."""
    return "the target is the same in every row" if (y == y[0]).all() else ""


def _in_rows(such: NDArray[np.bool_]) -> str:
    return f"in {int(such.sum()):,} of {such.size:,} rows"


def squared_logs(y: Floats, predicted: Floats) -> Floats:
    """Squared errors of log(1 + target); predictions below zero count as zero."""
    if why := has_negatives(y):
        raise TargetError(f"rmsle cannot be had: {why}. Choose another, such as 'rmse'.")
    return (np.log1p(y) - np.log1p(np.maximum(predicted, 0.0))) ** 2


def mean_of(rows: Rows, y: Floats, predicted: Floats, weight: Floats | None) -> float:
    """Mean over rows."""
    return mean(rows(y, predicted), weight)


def mean_spread(rows: Rows, y: Floats, predicted: Floats, weight: Floats | None) -> float:
    """Its standard error."""
    return spread_of_mean(rows(y, predicted), weight)


def root_of(rows: Rows, y: Floats, predicted: Floats, weight: Floats | None) -> float:
    """Root of the mean over rows."""
    return float(np.sqrt(mean(rows(y, predicted), weight)))


def root_spread(rows: Rows, y: Floats, predicted: Floats, weight: Floats | None) -> float:
    """Its standard error: the slope of the root is one over twice the root."""
    losses = rows(y, predicted)
    root = float(np.sqrt(mean(losses, weight)))
    return spread_of_mean(losses, weight) / (2.0 * root) if root > 0.0 else 0.0


def r2(y: Floats, predicted: Floats, weight: Floats | None) -> float:
    """One minus the squared error over that of the mean; of a constant target one where it is met exactly, else zero."""
    error, variance = mean(squared(y, predicted), weight), mean((y - mean(y, weight)) ** 2, weight)
    if variance > 0.0:
        return 1.0 - error / variance
    return 1.0 if error == 0.0 else 0.0


def r2_spread(y: Floats, predicted: Floats, weight: Floats | None) -> float:
    """Its standard error. The mean of the target is where the squared error is least, and so adds nothing to first order."""
    errors, squares = squared(y, predicted), (y - mean(y, weight)) ** 2
    variance = mean(squares, weight)
    if variance <= 0.0:
        return 0.0
    return spread_of_mean((errors - mean(errors, weight) / variance * squares) / variance, weight)


def median_absolute(y: Floats, predicted: Floats, weight: Floats | None) -> float:
    """Median of the absolute errors."""
    errors = absolute(y, predicted)
    return float(np.median(errors)) if weight is None else quantile(errors, weight, 0.5)


def median_absolute_spread(y: Floats, predicted: Floats, weight: Floats | None) -> float:
    """Its standard error: the width of an interval of quantiles, over that of the interval in standard errors (Woodruff 1952)."""
    heavy = np.ones(len(y)) if weight is None else weight
    reach = REACH * 0.5 * float(np.sqrt((heavy**2).sum())) / float(heavy.sum())
    errors = absolute(y, predicted)
    order = np.argsort(errors)
    low, high = (quantile(errors[order], heavy[order], share, True) for share in (max(0.5 - reach, 0.0), min(0.5 + reach, 1.0)))
    return (high - low) / (2.0 * REACH)


def quantile(values: Floats, weight: Floats, share: float, ordered: bool = False) -> float:
    """The value below which a share of the weight lies; the mean of two where it is reached exactly between them."""
    if not ordered:
        order = np.argsort(values)
        values, weight = values[order], weight[order]
    total = np.cumsum(weight)
    wanted = share * total[-1]
    first = min(int(np.searchsorted(total, wanted, side="left")), len(values) - 1)
    level = abs(total[first] - wanted) <= 1e-12 * total[-1]
    return float(0.5 * (values[first] + values[first + 1]) if level and first + 1 < len(values) else values[first])


def spearman(y: Floats, predicted: Floats, weight: Floats | None) -> float:
    """Correlation of the ranks; zero where one side is constant."""
    one, two = ranks(y, weight), ranks(predicted, weight)
    one, two = one - mean(one, weight), two - mean(two, weight)
    scale = np.sqrt(mean(one * one, weight) * mean(two * two, weight))
    return float(mean(one * two, weight) / scale) if scale > 0.0 else 0.0


def spearman_spread(y: Floats, predicted: Floats, weight: Floats | None) -> float:
    """Its standard error, by Fisher's transformation with the variance of Bonett & Wright (2000)."""
    heavy = np.ones(len(y)) if weight is None else weight
    rows = float(heavy.sum() ** 2 / (heavy**2).sum())  # rows of equal weight that are worth as much
    value = spearman(y, predicted, weight)
    return (1.0 - value**2) * float(np.sqrt((1.0 + 0.5 * value**2) / max(rows - 3.0, 1.0)))


def ranks(values: Floats, weight: Floats | None) -> Floats:
    """Weight below each value, plus half of that of equal values."""
    order = np.argsort(values)
    ordered = values[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    heavy = np.ones(len(values)) if weight is None else weight[order]
    step = np.cumsum(new) - 1
    sums = np.bincount(step, heavy)
    out = np.empty(len(values))
    out[order] = (np.cumsum(sums) - 0.5 * sums)[step]
    return out


def means(rows: Rows) -> tuple[Measure, Measure]:
    """What a mean over rows is made of."""
    return partial(mean_of, rows), partial(mean_spread, rows)


def roots(rows: Rows) -> tuple[Measure, Measure]:
    """What a root of a mean over rows is made of."""
    return partial(root_of, rows), partial(root_spread, rows)


ONLY = (REGRESSION,)
METRICS = (
    Metric(
        "rmse",
        "root of the mean squared error",
        ONLY,
        False,
        "number",
        *roots(squared),
        smooth=True,
        root=True,
        title="RMSE",
        aliases=("neg_root_mean_squared_error", "root_mean_squared_error", "l2_root"),
    ),
    Metric(
        "mse",
        "mean squared error",
        ONLY,
        False,
        "number",
        *means(squared),
        smooth=True,
        title="Mean squared error",
        aliases=("neg_mean_squared_error", "mean_squared_error", "squared_error", "l2", "regression", "regression_l2"),
    ),
    Metric(
        "mae",
        "mean absolute error",
        ONLY,
        False,
        "number",
        *means(absolute),
        absolute=True,
        smooth=True,
        title="Mean absolute error",
        aliases=("neg_mean_absolute_error", "mean_absolute_error", "absolute_error", "l1", "regression_l1"),
    ),
    Metric(
        "median_absolute_error",
        "median of the absolute errors",
        ONLY,
        False,
        "number",
        median_absolute,
        median_absolute_spread,
        absolute=True,
        title="Median absolute error",
        aliases=("neg_median_absolute_error", "medianabsoluteerror"),
    ),
    Metric(
        "r2",
        "share of the variance that is explained",
        ONLY,
        True,
        "number",
        r2,
        r2_spread,
        is_constant,
        smooth=True,
        title="R²",
        aliases=("r2_score",),
    ),
    Metric(
        "mape",
        "mean of absolute errors as shares of the target",
        ONLY,
        False,
        "number",
        *means(relative),
        has_zeros,
        absolute=True,
        smooth=True,
        title="Mean absolute percentage error",
        aliases=("neg_mean_absolute_percentage_error", "mean_absolute_percentage_error"),
    ),
    Metric(
        "rmsle",
        "rmse of log(1 + target), which must not be negative",
        ONLY,
        False,
        "number",
        *roots(squared_logs),
        has_negatives,
        smooth=True,
        root=True,
        title="RMSLE",
        aliases=("neg_root_mean_squared_log_error", "root_mean_squared_log_error"),
    ),
    Metric(
        "spearman",
        "correlation of the ranks of truth and prediction",
        ONLY,
        True,
        "number",
        spearman,
        spearman_spread,
        is_constant,
        title="Rank correlation",
        aliases=("spearmanr",),
    ),
)
