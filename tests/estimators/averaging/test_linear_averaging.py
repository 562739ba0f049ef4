"""Averages over linear regressions on subsets of columns, as an estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

from reference.naive_subsets import naive_subsets
from woodwind import BayesianLinearAveragingRegressor, ParameterError, WoodwindWarning


def rows(n=80, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, 2 * X[:, 0] - X[:, 1] + rng.normal(size=n)


@pytest.mark.parametrize("more", [{}, {"evidence": "g", "g": 25.0}], ids=str)
def test_it_is_the_average_of_one_fit_after_another(more):
    X, y = rows()
    slow = naive_subsets(X, y, more.get("g"))
    model = BayesianLinearAveragingRegressor(**more).fit(X, y)
    np.testing.assert_allclose(model.inclusion_probabilities_, slow["inclusion"], rtol=1e-8)
    np.testing.assert_allclose(model.coef_, slow["coef"], rtol=1e-7)
    np.testing.assert_allclose(model.coef_std_, slow["std"], rtol=1e-7)
    np.testing.assert_allclose(model.predict(X), y.mean() + (X - X.mean(axis=0)) @ slow["coef"], rtol=1e-9)


def test_certain_columns_alone_are_least_squares():
    X, y = rows()
    model = BayesianLinearAveragingRegressor(model_prior=1.0).fit(X, y)
    plain = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    assert model.intercept_ == pytest.approx(plain.intercept_)
    assert model.n_models_ == 1


def test_models_are_a_table_with_names():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = BayesianLinearAveragingRegressor().fit(X, y)
    table = pd.DataFrame(model.models_)
    assert len(table) == model.n_models_ == 1024
    assert table["probability"].is_monotonic_decreasing
    assert table["probability"].sum() == pytest.approx(1.0)
    with_bmi = table["columns"].map(lambda columns: "bmi" in columns)
    assert table["probability"][with_bmi].sum() == pytest.approx(model.inclusion_probabilities_[2])
    best = LinearRegression().fit(X[table["columns"][0]], y)
    assert table["r2"][0] == pytest.approx(best.score(X[table["columns"][0]], y))


def test_intervals_cover_what_they_say():
    covered = []
    for seed in range(20):
        X, y = rows(60, 8, seed)
        new, truth = rows(200, 8, 1000 + seed)
        mean, std = BayesianLinearAveragingRegressor(evidence="g").fit(X, y).predict(new, return_std=True)
        covered.append(np.mean(np.abs(truth - mean) < 1.96 * std))
    assert np.mean(covered) == pytest.approx(0.95, abs=0.02)


def test_more_columns_than_are_enumerated_are_searched_by_a_chain():
    X, y = rows(120, 9)
    every = BayesianLinearAveragingRegressor().fit(X, y)
    some = BayesianLinearAveragingRegressor(max_enumerated=5, n_steps=3000, random_state=0).fit(X, y)
    np.testing.assert_allclose(some.inclusion_probabilities_, every.inclusion_probabilities_, atol=0.02)
    np.testing.assert_allclose(some.visit_fractions_, every.inclusion_probabilities_, atol=0.1)
    again = BayesianLinearAveragingRegressor(max_enumerated=5, n_steps=3000, random_state=0).fit(X, y)
    np.testing.assert_array_equal(some.coef_, again.coef_)
    assert not hasattr(some.set_params(max_enumerated=15).fit(X, y), "visit_fractions_")


def test_a_chain_that_has_not_settled_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), rng.normal(size=60)
    with pytest.warns(WoodwindWarning, match="has not converged.*Raise n_steps"):
        BayesianLinearAveragingRegressor(n_steps=100, random_state=0, evidence="aic").fit(X, y)


def test_text_and_missing_numbers_become_columns_of_their_own():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"length": rng.normal(size=200), "wood": rng.choice(["oak", "elm", "fig"], 200)})
    y = frame["length"] + 3.0 * (frame["wood"] == "oak") + 0.3 * rng.normal(size=200)
    frame.loc[:9, "length"] = np.nan
    model = BayesianLinearAveragingRegressor().fit(frame, y)
    assert set(model.terms_) == {"length", "length:missing", "wood=oak", "wood=elm", "wood=fig"}
    chance = dict(zip(model.terms_, model.inclusion_probabilities_, strict=True))
    assert chance["length"] > 0.99
    assert chance["wood=oak"] > 0.5
    other = pd.DataFrame({"wood": ["oak", "elm"], "length": [0.0, 0.0]})
    assert np.diff(model.predict(other))[0] == pytest.approx(-3.0, abs=0.2)


def test_weights_are_repetitions_and_only_ratios_count_if_they_are_not_whole():
    X, y = rows()
    count = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = BayesianLinearAveragingRegressor().fit(X, y, count)
    repeated = BayesianLinearAveragingRegressor().fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.inclusion_probabilities_, repeated.inclusion_probabilities_, rtol=1e-9)
    probabilities = np.random.default_rng(0).random(len(y))
    small, large = (BayesianLinearAveragingRegressor().fit(X, y, probabilities * unit) for unit in (1e-4, 0.9))
    np.testing.assert_allclose(small.coef_, large.coef_, rtol=1e-9)


def test_a_window_leaves_out_what_is_improbable():
    X, y = rows()
    model = BayesianLinearAveragingRegressor(occam_window=20).fit(X, y)
    probability = np.array([one["probability"] for one in model.models_])
    assert probability.min() * 20 >= probability.max()
    assert model.n_models_ < 64


def test_it_can_be_searched_and_stored():
    X, y = rows()
    choices = {"evidence": ["bic", "g"], "model_prior": ["uniform", (1, 6)]}
    search = GridSearchCV(BayesianLinearAveragingRegressor(), choices, cv=3).fit(X, y)
    kept = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(kept.predict(X), search.predict(X))


@pytest.mark.parametrize("prior", ["flat", 2.0, (1, -1), True, [1, 2, 3]])
def test_a_prior_that_is_none_is_refused(prior):
    with pytest.raises(ParameterError, match="model_prior must be 'uniform'"):
        BayesianLinearAveragingRegressor(model_prior=prior).fit(*rows())
