"""Conformal prediction: the promised coverage, for every method and score; what is refused; what a file holds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor as TheirForest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

import woodwind
from woodwind import (
    BaggingRegressor,
    ConformalClassifier,
    ConformalRegressor,
    DistributionBoostingRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from woodwind.base.errors import FoldWarning, ParameterError

QUICK = {"n_estimators": 20, "learning_rate": 0.2, "early_stopping": False, "random_state": 0}


def noisy(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, 4.0 * X[:, 0] + (0.2 + 2.0 * X[:, 1]) * rng.normal(size=n)


def labels(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 2)) + 1.2 * np.stack([y == 1, y == 2], axis=1), np.array(["low", "middle", "high"])[y]


REGRESSORS = {
    "cv+": ConformalRegressor(Ridge(), random_state=0),
    "split": ConformalRegressor(Ridge(), method="split", random_state=0),
    "quantiles": ConformalRegressor(GradientBoostingRegressor(loss="quantile", quantile=[0.05, 0.95], **QUICK), random_state=0),
    "distribution": ConformalRegressor(DistributionBoostingRegressor(**QUICK), random_state=0),
    "normalized": ConformalRegressor(Ridge(), method="split", conformity_score="normalized", random_state=0),
    "forest": ConformalRegressor(RandomForestRegressor(30, random_state=0), method="jackknife_plus_after_bootstrap", random_state=0),
    "bag": ConformalRegressor(
        BaggingRegressor(Ridge(), n_estimators=30, random_state=0), method="jackknife_plus_after_bootstrap", random_state=0
    ),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_new_rows_lie_inside_as_often_as_is_said(name):
    X, y = noisy(600)
    new, truth = noisy(4000, seed=1)
    model = clone(REGRESSORS[name]).fit(X, y)
    for coverage in (0.6, 0.9):
        low, high = model.predict_interval(new, coverage)
        assert (low <= high).all()
        assert -0.045 < np.mean((low <= truth) & (truth <= high)) - coverage < 0.08  # models of folds that differ make CV+ wider


def test_split_intervals_cover_as_often_as_is_proved_on_average_over_tables():
    # Of n = 19 rows held out, 0.9 is the 18th of the scores: 18 / 20 of new rows are inside on average.
    inside = []
    for seed in range(300):
        X, y = noisy(76 + 50, seed)
        model = ConformalRegressor(LinearRegression(), method="split", random_state=seed).fit(X[:76], y[:76])
        assert len(model.conformity_scores_) == 19
        low, high = model.predict_interval(X[76:], 0.9)
        inside.append(np.mean((low <= y[76:]) & (y[76:] <= high)))
    assert np.mean(inside) == pytest.approx(0.9, abs=4 * np.std(inside) / np.sqrt(300))


@pytest.mark.parametrize("score", ["least_ambiguous", "adaptive"])
@pytest.mark.parametrize("method", ["cv_plus", "split"])
def test_sets_hold_the_label_as_often_as_is_said(score, method):
    X, y = labels(500)
    new, truth = labels(3000, seed=1)
    model = ConformalClassifier(GaussianNB(), method=method, conformity_score=score, random_state=0).fit(X, y)
    sets = model.predict_set(new, 0.9)
    assert sets.any(axis=1).all()
    right = sets[np.arange(len(sets)), np.searchsorted(model.classes_, truth)].mean()
    # A share of 125 rows held out has an error of 0.027; adaptive sets are too large where labels are few.
    assert 0.83 <= right <= (0.95 if score == "least_ambiguous" else 0.99)
    assert model.predict_set(new, 0.99).sum() > sets.sum()


def test_intervals_are_wider_where_there_is_more_noise_unless_the_distance_is_absolute():
    X, y = noisy(800)
    quiet, loud = np.array([[0.5, 0.05, 0.5]]), np.array([[0.5, 0.95, 0.5]])

    def width(model, row):
        low, high = model.predict_interval(row)
        return float(high[0] - low[0])

    for name in ("quantiles", "distribution", "normalized"):
        model = clone(REGRESSORS[name]).fit(X, y)
        assert width(model, loud) > 1.5 * width(model, quiet), name
    model = clone(REGRESSORS["cv+"]).fit(X, y)
    assert width(model, loud) == pytest.approx(width(model, quiet), rel=0.05)


def test_a_trained_model_is_taken_as_it_is():
    X, y = noisy(300)
    trained = Ridge().fit(X[:200], y[:200])
    model = ConformalRegressor(trained, method="prefit").fit(X[200:], y[200:])
    assert model.estimators_[0] is trained
    assert clone(model).estimator is trained
    np.testing.assert_array_equal(model.predict(X), trained.predict(X))
    np.testing.assert_allclose(model.conformity_scores_, np.sort(np.abs(y[200:] - trained.predict(X[200:]))))
    low, high = model.predict_interval(X, 0.8)
    np.testing.assert_allclose(high - low, 2.0 * model.conformity_scores_[80])


def test_with_one_row_in_a_fold_it_is_the_jackknife_plus():
    X, y = noisy(21)
    model = ConformalRegressor(LinearRegression(), cv=21, random_state=0).fit(X, y)
    new = noisy(5, seed=1)[0]
    low, high = model.predict_interval(new, 0.8)
    without = [LinearRegression().fit(np.delete(X, i, 0), np.delete(y, i)) for i in range(21)]
    residual = np.array([abs(y[i] - without[i].predict(X[i : i + 1])[0]) for i in range(21)])
    predicted = np.array([one.predict(new) for one in without])
    place = 18 - 1  # ceil(0.8 * 22) = 18
    np.testing.assert_allclose(high, np.sort(predicted + residual[:, None], axis=0)[place], atol=1e-9)
    np.testing.assert_allclose(low, -np.sort(residual[:, None] - predicted, axis=0)[place], atol=1e-9)


def test_the_bag_of_another_library_will_do():
    X, y = noisy(200)
    model = ConformalRegressor(TheirForest(20, random_state=0), method="jackknife_plus_after_bootstrap").fit(X, y)
    low, high = model.predict_interval(X[:10])
    assert (low < high).all()


def test_rows_of_a_group_stay_together():
    X, y = noisy(60)
    groups = np.repeat(np.arange(12), 5)
    model = ConformalRegressor(Ridge(), random_state=0).fit(X, y, groups=groups)
    by_splitter = ConformalRegressor(Ridge(), cv=GroupKFold(5), random_state=0).fit(X, y, groups=groups)
    np.testing.assert_array_equal(np.sort(model.conformity_scores_), np.sort(by_splitter.conformity_scores_))


def test_it_is_an_estimator_among_others():
    X, y = noisy(200)
    assert cross_val_score(ConformalRegressor(Ridge(), random_state=0), X, y, cv=3).mean() > 0.3
    X, y = labels(200)
    assert cross_val_score(ConformalClassifier(LogisticRegression(), random_state=0), X, y, cv=3).mean() > 0.5


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_file_holds_all_that_intervals_need(name, tmp_path):
    X, y = noisy(120)
    model = clone(REGRESSORS[name]).fit(X, y)
    model.save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww")
    for one, other in zip(model.predict_interval(X), loaded.predict_interval(X), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(model.predict(X), loaded.predict(X))


def test_too_few_rows_for_the_coverage_are_told_of():
    X, y = noisy(12)
    model = ConformalRegressor(Ridge(), random_state=0).fit(X, y)
    with pytest.warns(FoldWarning, match="needs at least 19 rows"):
        low, high = model.predict_interval(X, 0.95)
    assert np.isinf(low).all()
    assert np.isinf(high).all()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ConformalRegressor(Ridge(), method="prefit"), "not fitted yet"),
        (ConformalRegressor(method="prefit"), "it is None"),
        (ConformalRegressor(Ridge(), conformity_score="quantile"), "predicts one number for a row"),
        (ConformalRegressor(Ridge(), method="jackknife_plus_after_bootstrap"), "which rows its members have seen"),
        (ConformalRegressor(method="jackknife_plus_after_bootstrap", conformity_score="quantile"), "has conformity_score='absolute'"),
        (ConformalRegressor(LogisticRegression()), "regressor"),
    ],
)
def test_what_does_not_go_together_is_refused(model, words):
    X, y = noisy(40)
    with pytest.raises(ParameterError, match=words):
        model.fit(X, y)


@pytest.mark.parametrize("coverage", [0.0, 1.0, -1, True, "much"])
def test_a_coverage_is_between_zero_and_one(coverage):
    X, y = noisy(40)
    model = ConformalRegressor(Ridge(), random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        model.predict_interval(X, coverage)


def test_a_forest_without_the_rows_of_its_leaves_is_asked_for_numbers():
    """Only forests trained with quantiles=True can tell distributions: others failed when asked for them."""
    rng = np.random.default_rng(0)
    X = rng.random((80, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=80)
    forest = woodwind.RandomForestRegressor(n_estimators=5, random_state=0)
    assert woodwind.ConformalRegressor(forest, cv=2, random_state=0).fit(X, y).conformity_score_ == "absolute"
    forest.set_params(quantiles=True)
    assert woodwind.ConformalRegressor(forest, cv=2, random_state=0).fit(X, y).conformity_score_ == "normalized"
