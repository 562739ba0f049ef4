"""Diversity of class probabilities, against hand and against the measures of one class."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import brier_score_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from woodwind import DataError, measure_diversity
from woodwind.diversity import (
    brier_decomposition,
    diversity_report,
    error_correlation,
    prediction_correlation,
    probability_correlation,
    probability_error_correlation,
)


def shares(seed=0, n=40, m=3, k=3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, k, n), rng.dirichlet(np.ones(k), (n, m)), rng.uniform(0.5, 2.0, n)


def test_with_two_classes_it_is_the_correlation_of_one_of_them():
    truth, given, weight = shares(k=2)
    for sample_weight in (None, weight):
        ours = probability_correlation(given, sample_weight=sample_weight)
        np.testing.assert_allclose(ours, prediction_correlation(given[:, :, 1], sample_weight=sample_weight), atol=1e-12)
        ours = probability_error_correlation(truth, given, sample_weight=sample_weight)
        np.testing.assert_allclose(ours, error_correlation(truth.astype(float), given[:, :, 1], sample_weight=sample_weight), atol=1e-12)


def test_with_more_classes_products_are_added_up():
    _, given, weight = shares()
    share = weight / weight.sum()
    away = given - np.einsum("n,nmk->mk", share, given)
    expected = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            products = [sum(share[n] * (away[n, a] @ away[n, b]) for n in range(40)) for a, b in ((i, j), (i, i), (j, j))]
            expected[i, j] = products[0] / np.sqrt(products[1] * products[2])
    np.testing.assert_allclose(probability_correlation(given, sample_weight=weight), expected, atol=1e-12)


def test_the_brier_score_of_the_mean_is_that_of_members_less_ambiguity():
    truth, given, weight = shares(1)
    for weights in (None, [3.0, 1.0, 0.0]):
        found = brier_decomposition(truth, given, weights, sample_weight=weight)
        assert found.ensemble_error == pytest.approx(found.mean_error - found.ambiguity, abs=1e-14)
        mean = np.average(given, axis=1, weights=weights)
        assert found.ensemble_error == pytest.approx(np.average(((mean - np.eye(3)[truth]) ** 2).sum(axis=1), weights=weight))


def test_the_score_of_members_is_that_of_scikit_learn():
    truth, given, _ = shares(2, k=2)
    found = brier_decomposition(truth, given)
    # Summed over both classes it is twice that of one.
    np.testing.assert_allclose(found.member_errors, [2 * brier_score_loss(truth, given[:, m, 1]) for m in range(3)], rtol=1e-12)


def test_the_report_of_trained_classifiers_has_both_kinds_of_measures():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=200), [-1, 1])]
    members = {"line": LogisticRegression(), "bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3, random_state=0)}
    fitted = {name: member.fit(X[:100], y[:100]) for name, member in members.items()}
    report = measure_diversity(fitted, X[100:], y[100:])
    given = np.stack([member.predict_proba(X[100:]) for member in fitted.values()], axis=1)
    truth = np.searchsorted(["a", "b", "c"], y[100:])
    np.testing.assert_allclose(report.probability_correlation, probability_correlation(given))
    assert report["brier_score_of_mean"] == pytest.approx(brier_decomposition(truth, given).ensemble_error)
    assert report["mean_brier_score"] - report["probability_ambiguity"] == pytest.approx(report["brier_score_of_mean"])
    assert "probability_error_correlation" in repr(report)
    labels_only = measure_diversity({**fitted, "ridge": RidgeClassifier().fit(X[:100], y[:100])}, X[100:], y[100:])
    assert "mean_brier_score" not in labels_only.as_dict()
    assert labels_only.probability_correlation is None


def test_what_cannot_be_measured_is_said():
    truth, given, _ = shares()
    with pytest.raises(DataError, match="0 to 2"):
        brier_decomposition(truth + 1, given)
    with pytest.raises(DataError, match="at least two members"):
        probability_correlation(given[:, :1])
    with pytest.raises(DataError, match="need classes"):
        diversity_report(truth, given.argmax(axis=2), probabilities=given)
    with pytest.raises(DataError, match="which is none of classes"):
        diversity_report(truth, given.argmax(axis=2), probabilities=given, classes=[1, 2, 3])
