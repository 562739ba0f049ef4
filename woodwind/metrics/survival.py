"""Metrics of survival times: concordance, and the Brier score of survival functions.

Times `y` are given as to a survival estimator: a structured array or a frame of event and time, or bounds (n, 2). Censoring is taken
account of in the Brier score and in Uno's concordance by weighing with one over the probability of not having been censored by then, which
is estimated by Kaplan and Meier from the rows of `y_train`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.data.tables.survival_times import at_times, check_right_censored, is_event, kaplan_meier, read_survival_times
from woodwind.kernels.losses.concordance import OrderedTimes, count_pairs
from woodwind.metrics.metric import read_weight

__all__ = ["brier_score", "concordance_index", "concordance_index_ipcw", "integrated_brier_score"]

Floats = NDArray[np.float64]

NAME = "concordance_index"
SYNONYMS = ("concordance", "c_index", "cindex", "c_statistic", "harrell_c", "concordance_index_censored")


def concordance_index(y: Any, risk: Any, sample_weight: Any = None) -> float:
    """Harrell's concordance: of the pairs of which it is known whose event came first, the share in which that row has the higher risk.

    Pairs of the same risk count one half. Rows whose events came at the same time are no pair; a row censored at the time of an event
    outlived it. Times within bounds are a pair where the bounds do not overlap.

    Parameters
    ----------
    y : survival times
    risk : sequence of numbers, one for each row
        The higher, the earlier the event is expected: as `predict` of Cox models gives; minus a predicted time.
    sample_weight : sequence of numbers, one for each row, default=None
        A pair counts by the product of the weights of its rows.

    Returns
    -------
    float
        From 0 to 1, with 0.5 for chance; not a number where there is no pair.
    """
    bounds = read_survival_times(y, NAME)[0]
    return concordance(bounds, read_risk(risk, len(bounds), NAME), read_weight(sample_weight, len(bounds)))


def concordance_index_ipcw(y_train: Any, y: Any, risk: Any, tau: float | None = None) -> float:
    """Uno's concordance (2011): pairs are weighed by the probability that neither was censored, so that censoring does not matter.

    Parameters
    ----------
    y_train : survival times
        Rows from which censoring is learned.
    y : survival times
        Events, and rows censored on the right.
    risk : sequence of numbers, one for each row
        The higher, the earlier the event is expected.
    tau : float, default=None
        Pairs count whose earlier event comes before this time; None for all.

    Returns
    -------
    float
    """
    owner = "concordance_index_ipcw"
    bounds, kept = _right_censored(y, owner), censoring(_right_censored(y_train, owner))
    counted = is_event(bounds) & (bounds[:, 0] < (np.inf if tau is None else tau))
    stayed = _probability_of_staying(kept, bounds[:, 0], counted, owner)
    first = np.where(counted, 1.0 / stayed**2, 0.0)
    return concordance(bounds, read_risk(risk, len(bounds), owner), None, first)


def brier_score(y_train: Any, y: Any, survival: Any, times: Any) -> Floats:
    """The mean squared error of predicted survival at each time, by Graf et al. 1999: 0 is best, and 0.25 what one half for all gets.

    Parameters
    ----------
    y_train : survival times
        Rows from which censoring is learned.
    y : survival times
        Events, and rows censored on the right.
    survival : array (n, T), or survival functions
        Predicted probabilities that the event of each row comes after each time; or what `predict_survival_function` gives.
    times : sequence of T numbers
        Ascending, and within the times that rows were followed.

    Returns
    -------
    array of shape (T,)
    """
    owner = "brier_score"
    bounds, kept = _right_censored(y, owner), censoring(_right_censored(y_train, owner))
    asked = _read_times(times, bounds, owner)
    predicted = np.asarray(survival(asked) if callable(survival) else survival, np.float64)
    if predicted.shape != (len(bounds), len(asked)) or not np.isfinite(predicted).all():
        raise DataError(f"{owner} needs a finite probability for each of {len(bounds)} rows and {len(asked)} times, not {predicted.shape}.")
    when, happened = bounds[:, 0], is_event(bounds)
    by_event = _probability_of_staying(kept, when, happened & (when <= asked[-1]), owner)[:, None]
    by_time = _probability_of_staying(kept, asked, asked < when.max(), owner)[None, :]
    gone = (when[:, None] <= asked) & happened[:, None]
    there = when[:, None] > asked
    return np.asarray((predicted**2 * gone / by_event + (1.0 - predicted) ** 2 * there / by_time).mean(axis=0))


def integrated_brier_score(y_train: Any, y: Any, survival: Any, times: Any) -> float:
    """The mean of the Brier score over the span of the times, by the trapezoidal rule; parameters as for `brier_score`.

    Returns
    -------
    float
    """
    asked = np.asarray(times, np.float64)
    if asked.ndim != 1 or len(asked) < 2:
        raise ParameterError("integrated_brier_score needs at least two times.")
    scores = brier_score(y_train, y, survival, asked)
    return float((np.diff(asked) * 0.5 * (scores[1:] + scores[:-1])).sum() / (asked[-1] - asked[0]))


def concordance(bounds: Floats, risk: Floats, weight: Floats | None = None, first: Floats | None = None) -> float:
    """The concordance of rows with bounds (n, 2); `first` is what a row counts as the earlier one of a pair, where it is not its weight."""
    return Concordance(bounds, weight, first)(risk)


class Concordance:
    """Rows in the order of time, ready to be asked how well risks order them."""

    def __init__(self, bounds: Floats, weight: Floats | None = None, first: Floats | None = None) -> None:
        lower, upper = np.ascontiguousarray(bounds[:, 0]), np.ascontiguousarray(bounds[:, 1])
        ones = np.ones(len(lower)) if weight is None else weight
        ended = np.flatnonzero(np.isfinite(upper))
        by_upper = ended[np.argsort(upper[ended], kind="stable")]
        self.times = OrderedTimes(lower, upper, np.lexsort((upper > lower, lower)), by_upper, ones if first is None else first, ones)

    def __call__(self, risk: Floats) -> float:
        """The share of pairs in the right order, those of equal risk counted half; not a number where there is no pair."""
        values, rank = np.unique(risk, return_inverse=True)
        found = np.zeros(3)
        count_pairs(self.times, rank.reshape(-1).astype(np.int64) + 1, np.zeros(len(values) + 1), found)
        pairs = float(found.sum())
        return float(found[0] + 0.5 * found[2]) / pairs if pairs > 0.0 else float("nan")


def censoring(bounds: Floats) -> tuple[Floats, Floats]:
    """Times, and the probability of not having been censored up to and at each: Kaplan and Meier, with events and censoring exchanged.

    Of rows with one time, those with an event leave before others are censored.
    """
    when, happened = bounds[:, 0], is_event(bounds)
    times, group = np.unique(when, return_inverse=True)
    gone, died = np.bincount(group), np.bincount(group, happened)
    at_risk = np.cumsum(gone[::-1])[::-1] - died
    left = np.divide(gone - died, at_risk, out=np.zeros(len(times)), where=at_risk > 0)
    return times, np.cumprod(1.0 - left)


def kaplan_meier_curve(y: Any, sample_weight: Any = None) -> tuple[Floats, Floats]:
    """Times at which something happened, and the share that survives each, by Kaplan and Meier (1958)."""
    owner = "kaplan_meier_curve"
    bounds = _right_censored(y, owner)
    return kaplan_meier(bounds, read_weight(sample_weight, len(bounds)))


def _probability_of_staying(kept: tuple[Floats, Floats], times: Floats, needed: NDArray[np.bool_], owner: str) -> Floats:
    """The probability of not being censored by these times; one where it is not needed."""
    found = at_times(*kept, times, 1.0)
    if (found[needed] <= 0.0).any():
        raise DataError(
            f"{owner}: by time {times[needed][found[needed] <= 0.0].min():g} every row of y_train is censored, so that censoring cannot be "
            "weighed there. Ask about earlier times, or set tau."
        )
    return np.where(needed, found, 1.0)


def _right_censored(y: Any, owner: str) -> Floats:
    bounds = read_survival_times(y, owner)[0]
    check_right_censored(bounds, owner, "It")
    return bounds


def _read_times(times: Any, bounds: Floats, owner: str) -> Floats:
    asked = np.atleast_1d(np.asarray(times, np.float64))
    if asked.ndim != 1 or not np.isfinite(asked).all() or (np.diff(asked) <= 0.0).any() or not len(asked):
        raise ParameterError(f"{owner}: times must be a list of finite numbers in ascending order.")
    if asked[0] < bounds[:, 0].min() or asked[-1] >= bounds[:, 0].max():
        raise ParameterError(
            f"{owner}: times must be within those of y, from {bounds[:, 0].min():g} to below {bounds[:, 0].max():g}, where rows are."
        )
    return asked


def read_risk(risk: Any, n_rows: int, owner: str) -> Floats:
    """Risks of the rows, checked."""
    read: Floats = np.ascontiguousarray(risk, np.float64)
    if read.shape != (n_rows,) or not np.isfinite(read).all():
        raise DataError(f"{owner} needs a finite risk for each of {n_rows:,} rows, but they are {read.shape}.")
    return read
