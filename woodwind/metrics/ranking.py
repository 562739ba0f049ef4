"""Metrics of the order in which probabilities put the rows: they are the same for any increasing function of the probabilities.

Of several classes each is set against all others; the area under the ROC curve is then the mean by the weight of the classes, the average
precision the plain mean over the classes that have rows.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import UndefinedMeasureWarning
from woodwind.metrics.metric import CLASSES, Floats, Metric, from_shares, has_no_second_class, is_one_class

Integers = NDArray[np.int64]
NAN = float("nan")


@dataclass(frozen=True, eq=False)
class Steps:
    """Rows by descending score, those of the same score together: weight of rows of the class and of others, down to each step."""

    position: Integers  # (n,) the step of each row
    up: Floats  # (s,) weight of rows of the class, all steps so far
    down: Floats  # (s,) weight of other rows, all steps so far

    @classmethod
    def of(cls, positive: NDArray[np.bool_], score: Floats, weight: Floats | None) -> "Steps":
        """Sort once. Equal scores may come in any order, and the sort need not be stable."""
        order = np.argsort(-score)
        ordered = score[order]
        new = np.empty(len(score), np.bool_)
        new[0] = False
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
        position = np.empty(len(score), np.int64)
        position[order] = np.cumsum(new)
        last = np.append(np.flatnonzero(new) - 1, len(score) - 1)
        heavy = np.ones(len(score)) if weight is None else weight[order]
        hit = positive[order]
        return cls(position, np.cumsum(np.where(hit, heavy, 0.0))[last], np.cumsum(np.where(hit, 0.0, heavy))[last])


def area(steps: Steps) -> float:
    """Area under the ROC curve, ties counting one half."""
    own = np.diff(steps.up, prepend=0.0)
    other = np.diff(steps.down, prepend=0.0)
    # A row of the class is ahead of all other rows further down, and level with those of its own step.
    behind = steps.down[-1] - steps.down + 0.5 * other
    return float((own * behind).sum() / (steps.up[-1] * steps.down[-1]))


def placements(steps: Steps, positive: NDArray[np.bool_]) -> Floats:
    """For each row the share of rows of the other side that it is in the right order with: DeLong, DeLong & Clarke-Pearson (1988)."""
    own = np.diff(steps.up, prepend=0.0)
    other = np.diff(steps.down, prepend=0.0)
    of_class = (steps.down[-1] - steps.down + 0.5 * other) / steps.down[-1]
    of_others = (steps.up - 0.5 * own) / steps.up[-1]
    return np.asarray(np.where(positive, of_class[steps.position], of_others[steps.position]))


def auc(y: Integers, probabilities: Floats, weight: Floats | None) -> float:
    """Area under the ROC curve."""
    return auc_parts(y, probabilities, weight, False)[0]


def auc_spread(y: Integers, probabilities: Floats, weight: Floats | None) -> float:
    """Its standard error."""
    return auc_parts(y, probabilities, weight, True)[1]


def auc_parts(y: Integers, probabilities: Floats, weight: Floats | None, spread: bool) -> tuple[float, float]:
    """The area and, where asked for, its standard error."""
    n_classes = probabilities.shape[1]
    heavy = np.bincount(y, weight, minlength=n_classes)
    if np.count_nonzero(heavy) < 2:
        _undefined("The area under the ROC curve", "all rows are of one class")
        return NAN, NAN
    if n_classes == 2:
        steps = Steps.of(y == 1, probabilities[:, 1], weight)
        return area(steps), _delong(steps, y == 1, weight) if spread else NAN
    total, parts = float(heavy.sum()), np.zeros(n_classes)
    own = np.zeros(len(y))
    weighed = (np.full(len(y), 1.0) if weight is None else weight) / total
    for label in np.flatnonzero(heavy):
        positive = y == label
        steps = Steps.of(positive, probabilities[:, label], weight)
        parts[label] = area(steps)
        if spread:
            # A class counts by its weight: what a row predicts for its area is over the weight of its side, and times that of the class.
            side = np.where(positive, 1.0, heavy[label] / (total - heavy[label]))
            own += weighed * side * (placements(steps, positive) - parts[label])
    value = float((parts * heavy).sum() / total)
    return value, from_shares(own + weighed * (parts[y] - value)) if spread else NAN


def _delong(steps: Steps, positive: NDArray[np.bool_], weight: Floats | None) -> float:
    """DeLong's standard error: the variances of the placements of both sides, each over its number of rows."""
    found, total = placements(steps, positive), 0.0
    for side in (positive, ~positive):
        n, values = int(side.sum()), found[side]
        heavy = np.full(n, 1.0 / n) if weight is None else weight[side] / weight[side].sum()
        if n < 2:
            return NAN
        total += from_shares(heavy * (values - (heavy * values).sum())) ** 2
    return float(np.sqrt(total))


def average_precision(y: Integers, probabilities: Floats, weight: Floats | None) -> float:
    """Mean precision at the rows of the class, from the best score down."""
    return precision_parts(y, probabilities, weight, False)[0]


def average_precision_spread(y: Integers, probabilities: Floats, weight: Floats | None) -> float:
    """Its standard error."""
    return precision_parts(y, probabilities, weight, True)[1]


def precision_parts(y: Integers, probabilities: Floats, weight: Floats | None, spread: bool) -> tuple[float, float]:
    """The average precision and, where asked for, its standard error."""
    n_classes = probabilities.shape[1]
    labels = np.array([1]) if n_classes == 2 else np.flatnonzero(np.bincount(y, minlength=n_classes))
    if n_classes == 2 and not (y == 1).any():
        _undefined("The average precision", "no row is of the positive class")
        return NAN, NAN
    values, own = [], np.zeros(len(y))
    for label in labels:
        positive = y == label
        steps = Steps.of(positive, probabilities[:, label], weight)
        precision = steps.up / (steps.up + steps.down)
        gain = np.diff(steps.up, prepend=0.0) / steps.up[-1]
        values.append(float((gain * precision).sum()))
        if spread:
            own += _precision_shares(steps, positive, precision, gain, values[-1])
    weighed = own if weight is None else own * weight
    return float(np.mean(values)), from_shares(weighed / len(labels)) if spread else NAN


def _precision_shares(steps: Steps, positive: NDArray[np.bool_], precision: Floats, gain: Floats, value: float) -> Floats:
    """First-order share of each row, by unit of weight: as a row of the class, and in the precision at all steps below it."""
    whole = steps.up + steps.down
    below = np.cumsum((gain * steps.down / whole**2)[::-1])[::-1]
    above = np.cumsum((gain * steps.up / whole**2)[::-1])[::-1]
    position = steps.position
    return np.where(positive, (precision[position] - value) / steps.up[-1] + below[position], -above[position])


def _undefined(what: str, why: str) -> None:
    warnings.warn(f"{what} is not a number here: {why}.", UndefinedMeasureWarning, stacklevel=5)


METRICS = (
    Metric(
        "auc",
        "area under the ROC curve; of several classes the mean by weight",
        CLASSES,
        True,
        "proba",
        auc,
        auc_spread,
        is_one_class,
        title="AUC",
        aliases=("roc_auc", "roc_auc_score", "roc_auc_ovr_weighted"),
    ),
    Metric(
        "average_precision",
        "area under the precision-recall curve as a step function: of the positive class, of several their mean",
        CLASSES,
        True,
        "proba",
        average_precision,
        average_precision_spread,
        has_no_second_class,
        of_positive=True,
        title="Average precision",
        aliases=("average_precision_score", "pr_auc"),
    ),
)
