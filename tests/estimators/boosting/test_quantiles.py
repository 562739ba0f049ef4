"""Several quantiles by one model: they never cross, each is the quantile of its level, and the defaults suit levels far out."""

import numpy as np
import pytest
from sklearn.metrics import d2_pinball_score, mean_pinball_loss

import woodwind
from woodwind import GradientBoostingRegressor, losses
from woodwind.base.errors import ParameterError
from woodwind.ensemble.boosting import auto_defaults

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]


def noisy(n, seed=0):
    """A line whose noise grows with the second column; the true quantiles are known."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    return X, 5.0 * X[:, 0] + (0.5 + 3.0 * X[:, 1]) * rng.normal(size=n)


@pytest.fixture(scope="module")
def trained():
    X, y = noisy(3000)
    return GradientBoostingRegressor(loss="quantile", quantile=LEVELS, random_state=0).fit(X, y)


def test_quantiles_never_cross_wherever_one_looks(trained):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1_000_000, 4)) * 2.0
    X[rng.random(X.shape) < 0.01] = np.nan
    assert (np.diff(trained.predict(X), axis=1) >= 0.0).all()


def test_columns_are_in_the_order_in_which_levels_were_given():
    X, y = noisy(400)
    ordered = GradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.5, 0.9], n_estimators=20, random_state=0).fit(X, y)
    mixed = GradientBoostingRegressor(loss="quantile", quantile=(0.9, 0.1, 0.5), n_estimators=20, random_state=0).fit(X, y)
    assert ordered.predict(X).shape == (400, 3)
    np.testing.assert_allclose(mixed.predict(X), ordered.predict(X)[:, [2, 0, 1]], rtol=1e-12)


def test_as_many_rows_lie_below_each_quantile_as_its_level_says(trained):
    X, y = noisy(20_000, seed=2)
    below = (y[:, None] <= trained.predict(X)).mean(axis=0)
    np.testing.assert_allclose(below, LEVELS, atol=0.03)


def test_one_leaf_has_the_quantiles_of_its_rows():
    y = np.arange(1.0, 102.0)
    rows = np.zeros((101, 1))
    model = GradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.5], n_estimators=1).fit(rows, y)
    assert model.predict(rows[:1]).tolist() == [[11.0, 51.0]]


def test_a_single_tree_has_for_every_level_the_quantiles_of_its_leaves():
    X, y = noisy(500)
    quick = {"n_estimators": 1, "learning_rate": 1.0, "early_stopping": False, "subsample": 1.0, "max_leaf_nodes": 6, "random_state": 0}
    model = GradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.6], **quick).fit(X, y)
    leaf, predicted = model.apply(X)[:, 0], model.predict(X)
    for one in np.unique(leaf):
        inside = np.sort(y[leaf == one])
        wanted = [inside[int(np.ceil(level * len(inside))) - 1] for level in (0.1, 0.6)]
        np.testing.assert_allclose(predicted[leaf == one], np.tile(wanted, (len(inside), 1)), rtol=1e-12)


def test_one_level_in_a_list_is_a_column_and_a_number_is_none():
    X, y = noisy(300)
    several = GradientBoostingRegressor(loss="quantile", quantile=[0.8], n_estimators=10, random_state=0).fit(X, y).predict(X)
    alone = GradientBoostingRegressor(loss="quantile", quantile=0.8, n_estimators=10, random_state=0).fit(X, y).predict(X)
    by_loss = GradientBoostingRegressor(loss=losses.Quantile(0.8), n_estimators=10, random_state=0).fit(X, y).predict(X)
    assert several.shape == (300, 1)
    assert alone.shape == (300,)
    np.testing.assert_array_equal(alone, by_loss)


def test_the_score_is_the_share_of_the_pinball_loss_that_is_removed(trained):
    X, y = noisy(500, seed=3)
    predicted = trained.predict(X)
    left = sum(mean_pinball_loss(y, predicted[:, k], alpha=level) for k, level in enumerate(LEVELS))
    constant = sum(mean_pinball_loss(y, np.full(500, np.quantile(y, level)), alpha=level) for level in LEVELS)
    assert trained.score(X, y) == pytest.approx(1.0 - left / constant, abs=1e-3)
    alone = GradientBoostingRegressor(loss="quantile", quantile=[0.5], n_estimators=10, random_state=0).fit(X, y)
    assert alone.score(X, y) == pytest.approx(d2_pinball_score(y, alone.predict(X)[:, 0], alpha=0.5))


def test_the_file_and_the_explanation_know_the_levels(trained, tmp_path):
    X, _ = noisy(20, seed=4)
    trained.save(tmp_path / "quantiles.ww")
    np.testing.assert_array_equal(woodwind.load(tmp_path / "quantiles.ww").predict(X), trained.predict(X))
    explanation = trained.explain(X)
    assert explanation.outputs == tuple(f"quantile {level:g}" for level in LEVELS)
    np.testing.assert_allclose(explanation.base + explanation.values.sum(axis=1), explanation.scores)


def test_levels_far_out_get_larger_leaves():
    assert auto_defaults.min_rows(False, 100_000) == auto_defaults.min_rows(False, 100_000, 0.5) == 5
    assert auto_defaults.min_rows(False, 100_000, 0.05) == 95
    assert auto_defaults.min_rows(False, 1000, 0.05) == 25
    assert auto_defaults.min_rows(False, 60, 0.05) == 5
    assert auto_defaults.max_leaves(False, 8000, "best_first", None, 0.05) < auto_defaults.max_leaves(False, 8000, "best_first", None)


def test_rows_that_weigh_two_are_rows_given_twice():
    X, y = noisy(200)
    times = 1 + np.arange(200) % 2
    quick = {"loss": "quantile", "quantile": [0.2, 0.8], "n_estimators": 10, "early_stopping": False, "random_state": 0}
    weighed = GradientBoostingRegressor(**quick).fit(X, y, sample_weight=times)
    twice = GradientBoostingRegressor(**quick).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighed.predict(X), twice.predict(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "quantile", "quantile": []}, "at least one level"),
        ({"loss": "quantile", "quantile": [0.1, 0.1]}, "each once"),
        ({"loss": "quantile", "quantile": 1.5}, "between 0 and 1"),
        ({"loss": "quantile", "quantile": [0.5, True]}, "between 0 and 1"),
        ({"loss": "quantile", "quantile": "0.5"}, "between 0 and 1"),
        ({"quantile": 0.5}, "is for loss='quantile'"),
        ({"loss": losses.Quantile(0.3), "quantile": 0.5}, "is for loss='quantile'"),
    ],
)
def test_levels_that_make_no_sense_are_refused(options, words):
    X, y = noisy(60)
    with pytest.raises(ParameterError, match=words):
        GradientBoostingRegressor(**options).fit(X, y)
