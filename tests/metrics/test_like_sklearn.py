"""Every value equals scikit-learn's, with ties and with weights."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn import metrics as theirs

from woodwind.metrics.named import METRICS

CLASS = {
    "log_loss": lambda y, p, w: theirs.log_loss(y, p, sample_weight=w, labels=range(p.shape[1])),
    "brier": lambda y, p, w: theirs.brier_score_loss(y, p, sample_weight=w, labels=range(p.shape[1])),
    "auc": lambda y, p, w: (
        theirs.roc_auc_score(y, p[:, 1], sample_weight=w)
        if p.shape[1] == 2
        else theirs.roc_auc_score(y, p, sample_weight=w, multi_class="ovr", average="weighted")
    ),
    "average_precision": lambda y, p, w: theirs.average_precision_score(y, p[:, 1] if p.shape[1] == 2 else p, sample_weight=w),
    "accuracy": lambda y, p, w: theirs.accuracy_score(y, p.argmax(axis=1), sample_weight=w),
    "error_rate": lambda y, p, w: theirs.zero_one_loss(y, p.argmax(axis=1), sample_weight=w),
    "balanced_accuracy": lambda y, p, w: theirs.balanced_accuracy_score(y, p.argmax(axis=1), sample_weight=w),
    "f1": lambda y, p, w: theirs.f1_score(y, p.argmax(axis=1), sample_weight=w, average="binary" if p.shape[1] == 2 else "macro"),
    "f1_macro": lambda y, p, w: theirs.f1_score(y, p.argmax(axis=1), sample_weight=w, average="macro"),
    "mcc": lambda y, p, w: theirs.matthews_corrcoef(y, p.argmax(axis=1), sample_weight=w),
    "cohen_kappa": lambda y, p, w: theirs.cohen_kappa_score(y, p.argmax(axis=1), sample_weight=w),
}
NUMBER = {
    "rmse": lambda y, p, w: theirs.root_mean_squared_error(y, p, sample_weight=w),
    "mse": lambda y, p, w: theirs.mean_squared_error(y, p, sample_weight=w),
    "mae": lambda y, p, w: theirs.mean_absolute_error(y, p, sample_weight=w),
    "median_absolute_error": lambda y, p, w: theirs.median_absolute_error(y, p, sample_weight=w),
    "r2": lambda y, p, w: theirs.r2_score(y, p, sample_weight=w),
    "mape": lambda y, p, w: theirs.mean_absolute_percentage_error(y, p, sample_weight=w),
    "rmsle": lambda y, p, w: theirs.root_mean_squared_log_error(y, p, sample_weight=w),
    "spearman": lambda y, p, w: spearmanr(y, p).statistic if w is None else spearmanr(np.repeat(y, w), np.repeat(p, w)).statistic,
}


def test_every_metric_is_compared():
    """Those of rankings are compared in tests/auto/test_ranking.py and tests/compare/test_ranking.py."""
    assert {name for name, metric in METRICS.items() if metric.needs != "rank"} == set(CLASS) | set(NUMBER)


def classes(n, n_classes, tied, seed=0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    raw = rng.gamma(0.7, size=(n, n_classes)) + 0.8 * (np.arange(n_classes) == y[:, None])
    p = raw / raw.sum(axis=1, keepdims=True)
    if tied:
        # Sixteenths add up to one exactly.
        p = np.floor(p * 16) / 16
        p[:, 0] += 1.0 - p.sum(axis=1)
    return y, p


def weights(n, kind):
    rng = np.random.default_rng(5)
    return {"none": None, "counts": rng.integers(0, 4, n), "any": rng.gamma(1.0, size=n)}[kind]


@pytest.mark.parametrize("kind", ["none", "counts", "any"])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("name", CLASS)
def test_metrics_of_classes(name, n_classes, tied, kind):
    for n in (40, 701):
        y, p = classes(n, n_classes, tied)
        weight = weights(n, kind)
        if weight is not None:
            weight[:n_classes] += 1  # each class has a row that counts
        assert METRICS[name].value(y, p, weight) == pytest.approx(CLASS[name](y, p, weight), abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("kind", ["none", "counts", "any"])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", NUMBER)
def test_metrics_of_numbers(name, tied, kind):
    if name == "spearman" and kind == "any":
        pytest.skip("scipy has no weights: whole ones are given as copies")
    rng = np.random.default_rng(1)
    for n in (2, 51, 700):
        y = rng.gamma(2.0, size=n)
        p = np.maximum(y + rng.normal(size=n), 0.0)
        if tied:
            y, p = np.round(y), np.round(p)
        weight = weights(n, kind)
        if weight is not None:
            weight[:2] += 1
        if name == "spearman" and n == 2:
            continue
        assert METRICS[name].value(y, p, weight) == pytest.approx(NUMBER[name](y, p, weight), abs=1e-12, rel=1e-12)


def test_probabilities_of_zero_and_one_are_clipped_as_there():
    y, p = np.array([0, 1, 1, 0]), np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
    assert METRICS["log_loss"].value(y, p) == pytest.approx(theirs.log_loss(y, p), rel=1e-12)


def test_a_constant_target_has_the_r2_that_it_has_there():
    for predicted in (np.zeros(5), np.ones(5)):
        assert METRICS["r2"].value(np.zeros(5), predicted) == theirs.r2_score(np.zeros(5), predicted)
