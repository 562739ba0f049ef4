"""Softmax regression on shares."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from woodwind.ensemble import mixture_of_experts
from woodwind.ensemble.mixture_of_experts import fit_softmax


def rows(n=120, p=3, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.dirichlet(np.ones(k), n), rng.random(n)


def test_it_is_the_best_that_a_general_optimiser_finds():
    X, responsibilities, weight = rows()
    found = fit_softmax(X, responsibilities, weight, 0.7)

    def loss(theta):
        theta = theta.reshape(3, 4)
        logs = log_softmax(X @ theta[:, 1:].T + theta[:, 0], axis=1)
        return -np.sum(weight[:, None] * responsibilities * logs) + 0.35 * np.sum(theta[:, 1:] ** 2)

    best = minimize(loss, np.zeros(12), method="BFGS", options={"gtol": 1e-8}).x.reshape(3, 4)
    np.testing.assert_allclose(found.coef, best[:, 1:], atol=1e-5)
    np.testing.assert_allclose(found.intercept, best[:, 0] - best[:, 0].mean(), atol=1e-5)


def test_on_whole_labels_it_is_the_logistic_regression_of_scikit_learn():
    X, responsibilities, weight = rows()
    labels = responsibilities.argmax(axis=1)
    found = fit_softmax(X, np.eye(3)[labels], weight, 1.0)
    other = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(X, labels, sample_weight=weight)
    np.testing.assert_allclose(np.exp(found.log_probabilities(X)), other.predict_proba(X), atol=1e-6)


def test_the_bound_for_many_columns_leads_to_the_same_place(monkeypatch):
    X, responsibilities, weight = rows()
    newton = fit_softmax(X, responsibilities, weight, 0.7)
    monkeypatch.setattr(mixture_of_experts, "MOST_FOR_NEWTON", 0)
    monkeypatch.setattr(mixture_of_experts, "STEPS", 2000)
    np.testing.assert_allclose(fit_softmax(X, responsibilities, weight, 0.7, tol=1e-15).coef, newton.coef, atol=1e-5)


def test_a_plane_that_separates_leaves_coefficients_finite():
    X = np.linspace(-1, 1, 40)[:, None]
    found = fit_softmax(X, np.eye(2)[(X[:, 0] > 0.1).astype(int)], np.ones(40), 1e-3)
    assert np.isfinite(found.coef).all()
    assert ((found.log_probabilities(X).argmax(axis=1) == 1) == (X[:, 0] > 0.1)).all()


def test_experts_may_be_numbered_in_any_way():
    X, responsibilities, weight = rows()
    found, turned = fit_softmax(X, responsibilities, weight, 0.1), fit_softmax(X, responsibilities[:, [2, 0, 1]], weight, 0.1)
    np.testing.assert_allclose(turned.coef, found.coef[[2, 0, 1]], atol=1e-8)


def test_without_columns_it_says_the_mean_shares():
    X, responsibilities, weight = rows()
    found = fit_softmax(X[:, :0], responsibilities, weight, 0.1)
    np.testing.assert_allclose(np.exp(found.log_probabilities(X[:1, :0])[0]), weight @ responsibilities / weight.sum())


def test_weights_are_repetitions_and_a_start_changes_nothing():
    X, responsibilities, _ = rows()
    count = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = fit_softmax(X, responsibilities, count.astype(float), 0.1)
    repeated = fit_softmax(
        np.repeat(X, count, axis=0), np.repeat(responsibilities, count, axis=0), np.ones(count.sum()), 0.1, start=weighted
    )
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-7)


@pytest.mark.parametrize("k", [1, 2])
def test_one_expert_needs_no_gate_and_two_have_opposite_coefficients(k):
    X, responsibilities, weight = rows(k=k)
    found = fit_softmax(X, responsibilities, weight, 0.1)
    np.testing.assert_allclose(found.coef.sum(axis=0), 0.0, atol=1e-9)
