"""Averages over linear regressions on subsets of columns."""

from pathlib import Path

import numpy as np
import pytest

from reference.naive_subsets import naive_subsets
from woodwind.ensemble.subsets import (
    RegressionMoments,
    averaged,
    chain,
    error_variance,
    every_model,
    every_subset,
    log_evidence,
    log_model_prior,
    unexplained,
    unexplained_of_every,
    within_window,
)

HALD = np.array([
    [7, 26, 6, 60, 78.5], [1, 29, 15, 52, 74.3], [11, 56, 8, 20, 104.3], [11, 31, 8, 47, 87.6], [7, 52, 6, 33, 95.9],
    [11, 55, 9, 22, 109.2], [3, 71, 17, 6, 102.7], [1, 31, 22, 44, 72.5], [2, 54, 18, 22, 93.1], [21, 47, 4, 26, 115.9],
    [1, 40, 23, 34, 83.8], [11, 66, 9, 12, 113.3], [10, 68, 8, 12, 109.4],
])  # fmt: skip


def scored(moments, evidence="bic", g=1.0, prior="uniform"):
    def score(left, size):
        return log_evidence(left, size, moments.n, evidence, g) + log_model_prior(size, moments.n_columns, prior)

    return score


def crime():
    table = np.genfromtxt(Path(__file__).parents[1] / "data" / "bayes" / "uscrime.csv", delimiter=",", skip_header=1)
    X = table[:, :15].copy()
    others = np.arange(15) != 1
    X[:, others] = np.log(X[:, others])
    return X, table[:, 15]


def inclusion(models):
    return models.probability @ models.included


# Against published figures (tests/data/bayes/README.md).


def test_inclusion_of_columns_in_the_crime_data_by_bic_is_that_of_blma():
    moments = RegressionMoments.of(*crime())
    uniform = [
        0.7086661153970550, 0.1906278707126815, 0.9207138264989706, 0.7253039423829655, 0.3701199526247380,
        0.1582273002726970, 0.2705746685548234, 0.6064309892368921, 0.3692402458531630, 0.2192145020585733,
        0.5583788608712796, 0.1738658933193491, 0.9992269387743786, 0.9027057249464372, 0.1763387397295991,
    ]  # fmt: skip
    np.testing.assert_allclose(inclusion(every_model(moments, scored(moments))), uniform, rtol=0, atol=1e-10)
    beta_binomial = [
        0.28382041872785302, 0.05401025213196230, 0.52472573681024470, 0.67899545738306066, 0.34415858271523636,
        0.05257683401220613, 0.31709892405155543, 0.32163128053123047, 0.09511945604467670, 0.04703321836137517,
        0.13984669234378327, 0.05271970967353467, 0.99021404499476029, 0.54819562466110150, 0.06534213149560644,
    ]  # fmt: skip
    models = every_model(moments, scored(moments, prior=(1.0, 15.0)))
    np.testing.assert_allclose(inclusion(models), beta_binomial, rtol=0, atol=1e-10)


def test_occams_window_on_the_logged_crime_data_is_that_of_bicreg():
    X, y = crime()
    moments = RegressionMoments.of(X, np.log(y))
    models = within_window(every_model(moments, scored(moments)), 20.0)
    assert len(models.probability) == 115
    percent = [97.3, 11.7, 100.0, 72.2, 32.0, 6.0, 7.0, 30.1, 88.0, 15.1, 80.7, 31.9, 100.0, 99.2, 43.7]
    np.testing.assert_allclose(100 * inclusion(models), percent, rtol=0, atol=0.051)
    mean = [1.38103, 0.01398, 2.12101, 0.64849, 0.24735, 0.01834, -0.06285, -0.01862, 0.08894, -0.03282, 0.26761, 0.18726, 1.38180,
            -0.24962, -0.12463]  # fmt: skip
    spread = [0.53531, 0.05640, 0.52527, 0.46544, 0.43829, 0.16242, 0.46566, 0.03626, 0.05089, 0.14586, 0.19882, 0.34986, 0.33460,
              0.09999, 0.17627]  # fmt: skip
    found = averaged(moments, models, "bic", 1.0)
    np.testing.assert_allclose(found.coef, mean, rtol=0, atol=5e-5)
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), spread, rtol=0, atol=5e-5)


def test_the_g_prior_on_cement_is_that_of_bas():
    X, y = HALD[:, :4], HALD[:, 4]
    moments = RegressionMoments.of(X, y)
    models = every_model(moments, scored(moments, "g", 13.0, "beta_binomial"))
    np.testing.assert_allclose(inclusion(models), [0.9019245, 0.6895830, 0.4652762, 0.6329266], rtol=0, atol=6e-8)
    assert models.included[:5].astype(int).tolist() == [[1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    evidence = log_evidence(models.left, models.included.sum(axis=1), moments.n, "g", 13.0)
    np.testing.assert_allclose(evidence[:5], [11.72735, 11.3597547, 9.31845348, 10.6354335, 10.6322138], rtol=0, atol=6e-6)
    np.testing.assert_allclose(averaged(moments, models, "g", 13.0).coef, [1.2150, 0.2756, -0.1271, -0.3269], rtol=0, atol=6e-5)


def test_predictions_of_one_model_of_cement_under_the_g_prior_vary_as_in_bas():
    X, y = HALD[:, :4], HALD[:, 4]
    moments = RegressionMoments.of(X, y)
    models = every_model(moments, scored(moments, "g", 13.0))
    best = type(models)(*(part[:1] for part in models))._replace(probability=np.ones(1))
    found = averaged(moments, best, "g", 13.0)
    apart = X - moments.center
    fit = found.mean_variance + np.einsum("np,pq,nq->n", apart, found.covariance, apart)
    # BAS gives the scale of a t distribution of 12 degrees of freedom, whose variance is 12 / 10 of its square.
    wider = np.sqrt(12 / 10)
    np.testing.assert_allclose(np.sqrt(fit[:3]), wider * np.array([2.220164, 2.265862, 1.546911]), rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(fit + found.noise)[:3], wider * np.array([5.057182, 5.077410, 4.799885]), rtol=1e-6)


# Against the slow twin.


@pytest.mark.parametrize("g", [None, 3.0, 40.0])
def test_averages_are_those_of_one_fit_after_another(g):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 6)) * [1, 10, 0.1, 1, 1, 3] + [0, 5, 0, -100, 0, 0]
    y = X[:, 0] + 0.05 * X[:, 1] + rng.normal(size=40)
    slow = naive_subsets(X, y, g)
    moments = RegressionMoments.of(X, y)
    evidence, g = ("bic", 1.0) if g is None else ("g", g)
    models = every_model(moments, scored(moments, evidence, g))
    found = averaged(moments, models, evidence, g)
    np.testing.assert_allclose(inclusion(models), slow["inclusion"], rtol=1e-9)
    np.testing.assert_allclose(found.coef, slow["coef"], rtol=1e-8)
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), slow["std"], rtol=1e-8)


def test_one_subset_alone_leaves_as_much_unexplained_as_among_all():
    rng = np.random.default_rng(1)
    moments = RegressionMoments.of(rng.normal(size=(20, 5)), rng.normal(size=20))
    alone = [unexplained(moments, included) for included in every_subset(5)]
    np.testing.assert_allclose(unexplained_of_every(moments), alone, rtol=1e-10)


def test_weights_of_rows_are_repetitions():
    rng = np.random.default_rng(2)
    X, y, weight = rng.normal(size=(30, 4)), rng.normal(size=30), rng.integers(0, 4, 30)
    weighted, repeated = (
        RegressionMoments.of(X, y, weight.astype(float)),
        RegressionMoments.of(np.repeat(X, weight, axis=0), np.repeat(y, weight)),
    )
    assert weighted.n == repeated.n
    np.testing.assert_allclose(unexplained_of_every(weighted), unexplained_of_every(repeated), rtol=1e-10)


# What is no model.


def test_columns_that_depend_on_each_other_are_never_in_one_model():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 3))
    X = np.column_stack([X, 2 * X[:, 0] - 1.0, np.full(50, 7.0)])
    moments = RegressionMoments.of(X, X[:, 0] + rng.normal(size=50))
    models = every_model(moments, scored(moments))
    assert not (models.included[:, 0] & models.included[:, 3]).any()
    assert not models.included[:, 4].any()
    share = inclusion(models)
    assert share[0] == pytest.approx(share[3], rel=1e-6)
    assert share[0] + share[3] > 0.99


def test_with_few_rows_models_keep_a_degree_of_freedom_for_the_error():
    rng = np.random.default_rng(4)
    moments = RegressionMoments.of(rng.normal(size=(5, 8)), rng.normal(size=5))
    assert every_model(moments, scored(moments)).included.sum(axis=1).max() == 3


def test_a_constant_target_has_no_coefficients():
    moments = RegressionMoments.of(np.random.default_rng(0).normal(size=(20, 3)), np.full(20, 4.0))
    found = averaged(moments, every_model(moments, scored(moments)), "bic", 1.0)
    np.testing.assert_allclose(found.coef, 0.0, atol=1e-12)
    assert found.noise == 0.0


# Priors and the chain.


def test_priors_over_subsets_add_up_to_one():
    size = every_subset(6).sum(axis=1)
    for prior in ("beta_binomial", 0.3, (1.0, 6.0), 0.0, 1.0):
        assert np.exp(log_model_prior(size, 6, prior)).sum() == pytest.approx(1.0)


def test_a_beta_binomial_prior_has_all_sizes_alike():
    size = every_subset(6).sum(axis=1)
    of_size = np.bincount(size, np.exp(log_model_prior(size, 6, "beta_binomial")))
    np.testing.assert_allclose(of_size, 1 / 7)


def test_the_chain_finds_what_enumeration_finds_and_visits_it_as_often():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 7))
    y = X[:, 0] + 0.35 * X[:, 1] + 0.3 * X[:, 2] + rng.normal(size=60)
    moments = RegressionMoments.of(X, y)
    truth = inclusion(every_model(moments, scored(moments)))
    models, often = chain(moments, scored(moments), 4000, 200, 11)
    np.testing.assert_allclose(inclusion(models), truth, atol=0.01)
    np.testing.assert_allclose(often, truth, atol=0.06)


def test_the_chain_is_drawn_by_key():
    rng = np.random.default_rng(7)
    moments = RegressionMoments.of(rng.normal(size=(30, 5)), rng.normal(size=30))
    first, again, other = (chain(moments, scored(moments), 200, 10, seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_the_right_model_dominates_as_rows_grow():
    rng = np.random.default_rng(8)
    probabilities = []
    for n in (30, 300, 3000):
        X = rng.normal(size=(n, 4))
        moments = RegressionMoments.of(X, X[:, 0] - X[:, 2] + rng.normal(size=n))
        models = every_model(moments, scored(moments))
        right = (models.included == [True, False, True, False]).all(axis=1)
        probabilities.append(models.probability[right][0])
    assert probabilities[2] > 0.9
    assert probabilities[0] < probabilities[2]


def test_the_error_variance_under_the_g_prior_is_the_mean_of_its_posterior():
    # Inverse gamma of shape (n - 1) / 2 and scale n (left + (1 - left) / (1 + g)) / 2: mean = scale / (shape - 1).
    n, g, left = 21.0, 9.0, np.array([0.4])
    assert error_variance(left, 2, n, "g", g)[0] == pytest.approx((n * (0.4 + 0.6 / 10) / 2) / (10 - 1))
