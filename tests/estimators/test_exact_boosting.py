"""Boosting without bins: `max_bins=None` considers every threshold, and all else works as it does with bins."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mean_squared_error

from woodwind import DecisionTreeRegressor, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::woodwind.WoodwindWarning")


def frame(n=400, seed=0):
    """Numbers with gaps, and words with gaps."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    x[rng.random(x.shape) < 0.1] = np.nan
    table = pd.DataFrame(x, columns=list("abcd"))
    table["word"] = rng.choice(["red", "green", "blue", "grey", None], n)
    filled = np.nan_to_num(x)
    return table, filled[:, 0] + filled[:, 1] * filled[:, 2] + (table.word == "red") + 0.3 * rng.normal(size=n)


def regressor(**options):
    return GradientBoostingRegressor(**{"max_bins": None, "n_estimators": 12, "random_state": 0, **options})


def digest(model):
    return model.forest_.check().digest()


OPTIONS = {
    "plain": {},
    "held out": {"early_stopping": True},
    "held out, not refitted": {"early_stopping": True, "refit": False},
    "drawn rows": {"subsample": 0.5},
    "repeated rows": {"bootstrap": True, "loss": "absolute_error"},
    "drawn features": {"max_features": 0.5, "max_features_tree": 4},
    "huber": {"loss": "huber", "early_stopping": True},
    "rising": {"monotonic_cst": {"a": 1}},
    "apart": {"interaction_cst": [{"a", "b"}]},
    "pruned": {"prune": True, "min_gain": 3.0},
    "level by level": {"growth": "level", "max_depth": 3},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_model_without_bins_learns_and_is_whole(options):
    X, y = frame()
    model = regressor(**options).fit(X, y)
    assert digest(model) == digest(regressor(**options, n_jobs=2).fit(X, y))
    assert model.score(X, y) > 0.3
    *_, last = model.staged_predict(X)
    assert_array_equal(last, model.predict(X))
    assert model.apply(X).shape == (len(X), model.n_iter_ * model.n_trees_per_iteration_)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[0] > model.feature_importances_[3]
    numbers = X.assign(word=[np.nan if pd.isna(word) else model.schema_.categories[4].index(word) for word in X.word])
    assert_array_equal(model.predictor()(numbers.to_numpy(np.float64)), model.predict(X))


# Rows are drawn by their place, and folds are made of them: then a weight of two has another meaning.
UNDRAWN = [name for name, options in OPTIONS.items() if not {"subsample", "bootstrap", "early_stopping"} & options.keys()]


@pytest.mark.parametrize("name", UNDRAWN)
def test_a_weight_of_two_is_a_row_given_twice(name):
    options = {**OPTIONS[name], "early_stopping": False}
    X, y = frame(200)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = regressor(**options).fit(X, y, sample_weight=weight)
    assert digest(weighted) == digest(regressor(**options).fit(X.iloc[rows], y[rows]))


def test_thresholds_lie_midway_between_values_of_the_node_however_many_there_are():
    x = np.arange(1000.0)[:, None] ** 2
    y = (x[:, 0] > x[700, 0]).astype(float)
    model = regressor(n_estimators=1, max_leaf_nodes=2, subsample=1.0).fit(x, y)
    assert model.forest_.threshold[0] == (x[700, 0] + x[701, 0]) / 2


def test_one_round_at_full_rate_is_a_decision_tree():
    X, y = frame()
    X = X[list("abcd")]
    free = {"l2_regularization": 0.0, "min_hessian_leaf": 0.0, "max_leaf_nodes": None, "growth": "level", "early_stopping": False}
    model = regressor(n_estimators=1, learning_rate=1.0, subsample=1.0, max_depth=4, min_samples_leaf=5, **free).fit(X, y)
    tree = DecisionTreeRegressor(max_depth=4, min_samples_leaf=5).fit(X, y)
    assert_allclose(model.predict(X), tree.predict(X), rtol=0, atol=1e-12)


def test_columns_with_less_than_256_values_give_nearly_the_same_model_with_bins_and_without():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, (1500, 5)).astype(float)
    y = X[:, 0] + 0.01 * X[:, 1] * X[:, 2] + rng.normal(size=1500)
    with_bins, without = (regressor(max_bins=bins, n_estimators=40, subsample=1.0).fit(X, y).predict(X) for bins in (255, None))
    assert np.corrcoef(with_bins, without)[0, 1] > 0.9999


@pytest.mark.parametrize("k", [2, 4])
def test_classes(k):
    X, y = frame()
    labels = np.array([f"class {position}" for position in np.digitize(y, np.linspace(-1, 1, k - 1) if k > 2 else [0.3])])
    model = GradientBoostingClassifier(max_bins=None, multiclass="one_per_class", n_estimators=10, random_state=0).fit(X, labels)
    assert model.forest_.n_trees == model.n_iter_ * model.n_trees_per_iteration_
    assert model.n_trees_per_iteration_ % (1 if k == 2 else k) == 0
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert model.score(X, labels) > 0.7


def test_data_that_are_given_are_watched_by_what_the_model_says_of_them():
    """Also where they hold levels and values that training never saw."""
    X, y = frame()
    others, numbers = frame(150, 1)
    others.loc[:40, "word"] = "violet"
    model = regressor(early_stopping=True, n_iter_no_change=50, refit=False, subsample=0.5).fit(X, y, eval_set=(others, numbers))
    found = [mean_squared_error(numbers, stage) for stage in model.staged_predict(others)]
    half = found[0] / model.validation_score_[1]  # the loss is half the square
    assert half in (pytest.approx(1.0), pytest.approx(2.0))
    assert_allclose(np.array(found) / half, model.validation_score_[1 : len(found) + 1], rtol=1e-12)


@pytest.mark.parametrize("options", [{}, {"subsample": 0.6, "max_features": 0.5}, {"loss": "huber"}])
def test_six_rounds_and_six_more_are_twelve(options):
    X, y = frame()
    whole = regressor(early_stopping=False, **options).fit(X, y)
    model = regressor(early_stopping=False, **options, warm_start=True).set_params(n_estimators=6).fit(X, y)
    assert digest(model.set_params(n_estimators=12).fit(X, y)) == digest(whole)


@pytest.mark.parametrize("max_bins", [None, 255])
def test_going_on_with_rows_of_other_levels_keeps_the_scores_that_the_model_says(max_bins):
    X, y = frame()
    others, numbers = frame(300, 1)
    others.loc[:80, "word"] = "violet"
    kept = []
    model = regressor(max_bins=max_bins, warm_start=True, early_stopping=False, min_samples_leaf=5).fit(X, y)
    model.set_params(n_estimators=24, callbacks=[lambda step: kept.append(step.round.raw.copy())]).fit(others, numbers)
    assert_array_equal(kept[-1], model.predict(others))


@pytest.mark.parametrize(("first", "then"), [(None, 255), (255, None)])
def test_going_on_with_bins_from_trees_without_them_is_an_error(first, then):
    X, y = frame()
    model = regressor(max_bins=first, warm_start=True).fit(X, y)
    with pytest.raises(ParameterError, match=r"max_bins=.*warm_start=True goes on from trees.*Set max_bins and candidates as they were"):
        model.set_params(max_bins=then, n_estimators=20).fit(X, y)


def test_a_rising_column_rises():
    X, y = frame()
    model = regressor(monotonic_cst={"a": 1, "b": -1}, n_estimators=40, early_stopping=False).fit(X, y)
    grid = np.linspace(-3, 3, 50)
    for row in range(20):
        line = pd.concat([X.iloc[[row]]] * 50, ignore_index=True)
        assert (np.diff(model.predict(line.assign(a=grid))) >= 0.0).all()
        assert (np.diff(model.predict(line.assign(b=grid))) <= 0.0).all()


@pytest.mark.parametrize("max_bins", [None, 255])
def test_scores_that_run_away_are_an_error(max_bins):
    X, y = frame()
    with pytest.raises(ValueError, match=r"scores have run away.*smaller learning_rate"):
        regressor(loss="gamma", max_bins=max_bins, learning_rate=1e6, early_stopping=False).fit(X, np.exp(y))
