"""Metrics of predicted classes. All are functions of the confusion matrix C (K, K), rows the truth, and of its shares only.

The slope of such a function at each cell is what one more unit of weight there would change: the standard error follows from the
derivatives.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from woodwind.metrics.metric import CLASSES, Floats, Measure, Metric, has_no_second_class, is_one_class

Integers = NDArray[np.int64]
# C -> its value and the derivatives (K, K).
ConfusionMeasure = Callable[[Floats], tuple[float, Floats]]


def confusion(y: Integers, label: Integers, weight: Floats | None, n_classes: int) -> Floats:
    """Weight of rows by truth and prediction (K, K)."""
    return np.bincount(y * n_classes + label, weight, minlength=n_classes**2).reshape(n_classes, n_classes).astype(np.float64)


def value_of(measure: ConfusionMeasure, y: Integers, label: Integers, weight: Floats | None) -> float:
    """The value for the rows."""
    return measure(confusion(y, label, weight, count(y, label)))[0]


def spread_of(measure: ConfusionMeasure, y: Integers, label: Integers, weight: Floats | None) -> float:
    """Its standard error."""
    n_classes, n = count(y, label), len(y)
    slope = measure(confusion(y, label, weight, n_classes))[1]
    squares = confusion(y, label, None if weight is None else weight**2, n_classes)
    return float(np.sqrt((squares * slope**2).sum() * (n / (n - 1.0))))


def count(y: Integers, label: Integers) -> int:
    """How many classes there are: two at least."""
    return max(2, int(y.max()) + 1, int(label.max()) + 1)


def accuracy(C: Floats) -> tuple[float, Floats]:
    """Share of hits."""
    total = C.sum()
    value = np.trace(C) / total
    return float(value), (np.eye(len(C)) - value) / total


def error_rate(C: Floats) -> tuple[float, Floats]:
    """Share of mistakes."""
    total = C.sum()
    value = (total - np.trace(C)) / total
    return float(value), (1.0 - np.eye(len(C)) - value) / total


def balanced_accuracy(C: Floats) -> tuple[float, Floats]:
    """Mean over the classes that have rows of the share of hits among their rows."""
    true = C.sum(axis=1)
    there = true > 0.0
    size = np.where(there, true, 1.0)
    recall = np.diag(C) / size
    slope = np.where(there, 1.0 / size, 0.0)[:, None] * (np.eye(len(C)) - recall[:, None])
    return float(recall[there].mean()), slope / there.sum()


def f1(C: Floats) -> tuple[float, Floats]:
    """Harmonic mean of precision and recall: of the second of two classes, of several their mean."""
    return f1_of(C, np.array([1])) if len(C) == 2 else f1_macro(C)


def f1_macro(C: Floats) -> tuple[float, Floats]:
    """Mean over the classes that rows have or are given of the harmonic mean of precision and recall."""
    return f1_of(C, np.flatnonzero(C.sum(axis=1) + C.sum(axis=0)))


def f1_of(C: Floats, labels: Integers) -> tuple[float, Floats]:
    """Mean of F1 over some classes; zero for a class that is neither there nor predicted."""
    whole = C.sum(axis=1) + C.sum(axis=0)
    size = np.where(whole > 0.0, whole, 1.0)
    value = 2.0 * np.diag(C) / size
    chosen = np.zeros(len(C))
    chosen[labels] = 1.0 / len(labels)
    down = chosen * value / size
    slope = np.diag(2.0 * chosen / size) - down[:, None] - down[None, :]
    return float((value * chosen).sum()), slope


def mcc(C: Floats) -> tuple[float, Floats]:
    """Correlation of truth and prediction: Matthews (1975), for several classes Gorodkin (2004). Zero where one of them is constant."""
    total, hits, true, predicted = C.sum(), np.trace(C), C.sum(axis=1), C.sum(axis=0)
    both = hits * total - (true * predicted).sum()
    apart_true, apart_predicted = total**2 - (true**2).sum(), total**2 - (predicted**2).sum()
    scale = apart_true * apart_predicted
    if scale <= 0.0:
        return 0.0, np.zeros_like(C)
    value = both / np.sqrt(scale)
    of_both = np.eye(len(C)) * total + hits - predicted[:, None] - true[None, :]
    of_scale = (total - true)[:, None] / apart_true + (total - predicted)[None, :] / apart_predicted
    return float(value), of_both / np.sqrt(scale) - value * of_scale


def cohen_kappa(C: Floats) -> tuple[float, Floats]:
    """Agreement beyond that of chance: Cohen (1960). Zero where chance alone agrees always."""
    total, true, predicted = C.sum(), C.sum(axis=1), C.sum(axis=0)
    seen, chance = np.trace(C) / total, (true * predicted).sum() / total**2
    if chance >= 1.0:
        return 0.0, np.zeros_like(C)
    value = (seen - chance) / (1.0 - chance)
    of_seen = (np.eye(len(C)) - seen) / total
    of_chance = (predicted[:, None] + true[None, :]) / total**2 - 2.0 * chance / total
    return float(value), (of_seen - (1.0 - value) * of_chance) / (1.0 - chance)


def both_of(measure: ConfusionMeasure) -> tuple[Measure, Measure]:
    """What a metric is made of."""
    return partial(value_of, measure), partial(spread_of, measure)


METRICS = (
    Metric(
        "accuracy",
        "share of rows whose class is predicted right",
        CLASSES,
        True,
        "label",
        *both_of(accuracy),
        title="Accuracy",
        aliases=("accuracy_score", "acc"),
    ),
    Metric(
        "error_rate",
        "share of rows whose class is predicted wrong",
        CLASSES,
        False,
        "label",
        *both_of(error_rate),
        title="Error rate",
        aliases=("error", "zero_one_loss", "merror", "binary_error", "multi_error", "zerooneloss"),
    ),
    Metric(
        "balanced_accuracy",
        "share of rows predicted right, each class counting the same",
        CLASSES,
        True,
        "label",
        *both_of(balanced_accuracy),
        title="Balanced accuracy",
        aliases=("balanced_accuracy_score", "balancedaccuracy"),
    ),
    Metric(
        "f1",
        "harmonic mean of precision and recall: of the positive class, of several their mean",
        CLASSES,
        True,
        "label",
        *both_of(f1),
        has_no_second_class,
        of_positive=True,
        title="F1",
        aliases=("f1_score",),
    ),
    Metric(
        "f1_macro",
        "harmonic mean of precision and recall, mean over the classes",
        CLASSES,
        True,
        "label",
        *both_of(f1_macro),
        title="F1, mean of classes",
        aliases=("macro_f1",),
    ),
    Metric(
        "mcc",
        "correlation of true and predicted class (Matthews)",
        CLASSES,
        True,
        "label",
        *both_of(mcc),
        is_one_class,
        title="Matthews correlation",
        aliases=("matthews_corrcoef",),
    ),
    Metric(
        "cohen_kappa",
        "agreement of true and predicted class beyond that of chance",
        CLASSES,
        True,
        "label",
        *both_of(cohen_kappa),
        is_one_class,
        title="Cohen’s kappa",
        aliases=("cohen_kappa_score", "kappa"),
    ),
)
