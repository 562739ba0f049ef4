"""AdaBoost.R2: as scikit-learn has it, and as the house has it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import AdaBoostRegressor as Theirs
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor as TheirTree

import woodwind.ensemble.adaboost as procedure
from woodwind import AdaBoostRegressor, ParameterError
from woodwind.ensemble.adaboost import row_losses, weighted_median

LOSSES = ("linear", "square", "exponential")


@pytest.fixture
def their_draws(monkeypatch):
    """Draw the rows that scikit-learn draws: it takes a number for the seed of the tree first."""

    def use(seed):
        stream = np.random.RandomState(seed)

        def draw(name, weight, count):
            stream.randint(np.iinfo(np.int32).max)
            return stream.choice(np.arange(count), size=count, replace=True, p=weight)

        monkeypatch.setattr(procedure, "draw_by_weight", draw)

    return use


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", [{"estimator": TheirTree(max_depth=3)}, {"max_bins": None}])
@pytest.mark.parametrize("rate", [1.0, 0.4])
def test_with_the_same_draws_it_is_that_of_scikit_learn(their_draws, loss, learner, rate):
    # Rows enough for no two splits to tie: scikit-learn would draw one of them.
    X, y = make_friedman1(1500, noise=1.0, random_state=0)
    theirs = Theirs(TheirTree(max_depth=3), n_estimators=8, loss=loss, learning_rate=rate, random_state=5).fit(X, y)
    their_draws(5)
    ours = AdaBoostRegressor(n_estimators=8, loss=loss, learning_rate=rate, **learner).fit(X, y)
    assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        assert_allclose(mine, other, rtol=1e-12)


def test_with_draws_of_its_own_it_is_as_good_as_that_of_scikit_learn():
    X, y = make_friedman1(1200, noise=1.0, random_state=0)
    scores = np.array(
        [
            [kind(n_estimators=20, random_state=seed).fit(X[:300], y[:300]).score(X[300:], y[300:]) for seed in range(12)]
            for kind in (AdaBoostRegressor, Theirs)
        ]
    )
    away = scores.mean(axis=1)
    assert abs(away[0] - away[1]) < 2 * np.sqrt((scores.var(axis=1, ddof=1) / 12).sum())


def test_the_median_is_by_weight():
    predicted = np.array([[1.0, 2.0, 3.0, 4.0]])
    assert weighted_median(predicted, np.ones(4)).tolist() == [2.0]
    assert weighted_median(predicted, np.array([0.1, 0.1, 0.1, 1.0])).tolist() == [4.0]
    assert weighted_median(predicted[:, ::-1], np.array([1.0, 0.1, 0.1, 0.1])).tolist() == [4.0]


def test_losses_are_shares_of_the_largest_error():
    error = np.array([0.0, 1.0, 2.0, 4.0])
    assert row_losses(error, None, "linear").tolist() == [0.0, 0.25, 0.5, 1.0]
    assert row_losses(error, None, "square").tolist() == [0.0, 0.0625, 0.25, 1.0]
    assert_allclose(row_losses(error, None, "exponential"), 1 - np.exp(-np.array([0.0, 0.25, 0.5, 1.0])))
    # The error of a row that counts for none does not set the scale.
    assert row_losses(error, np.array([1, 1, 1, 0]), "linear").tolist() == [0.0, 0.5, 1.0, 1.0]


def test_a_weight_of_two_is_a_row_given_twice_in_distribution():
    """Over seeds, the means of predictions agree within what the seeds allow."""
    X, y = make_friedman1(150, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    by_weight, repeated = (
        np.array([AdaBoostRegressor(n_estimators=5, max_depth=2, random_state=seed).fit(*given).predict(X) for seed in seeds])
        for given, seeds in (((X, y, weight), range(40)), ((X[twice], y[twice]), range(40, 80)))
    )
    error = np.sqrt((by_weight.var(axis=0, ddof=1) + repeated.var(axis=0, ddof=1)) / 40)
    z = (by_weight.mean(axis=0) - repeated.mean(axis=0)) / np.maximum(error, 1e-9)
    assert np.mean(np.abs(z) < 2) > 0.85
    assert np.abs(z).max() < 5


@pytest.mark.parametrize("options", [{}, {"estimator": TheirTree(max_depth=2, random_state=0)}])
def test_without_draws_a_weight_of_two_is_a_row_given_twice(options):
    X, y = make_friedman1(150, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    twice = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weight))
    model = AdaBoostRegressor(bootstrap=False, n_estimators=5, max_bins=None, random_state=0, **options)
    assert_allclose(model.fit(X, y, weight).predict(X), model.fit(X[twice], y[twice]).predict(X), rtol=1e-9)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_the_same_bits_for_any_number_of_threads(bootstrap):
    X, y = make_friedman1(20_000, random_state=0)
    fits = [AdaBoostRegressor(n_estimators=3, bootstrap=bootstrap, random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2, 3, 4, 8)]
    assert len({model.forest_.digest() for model in fits}) == 1


@pytest.mark.parametrize("base", [LinearRegression(), KNeighborsRegressor(3)])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_any_regressor_may_be_the_learner(base, bootstrap):
    X, y = load_diabetes(return_X_y=True)
    models = [AdaBoostRegressor(estimator=base, n_estimators=4, bootstrap=bootstrap, random_state=3).fit(X, y) for _ in range(2)]
    assert models[0].score(X, y) > 0.4
    assert_array_equal(models[0].predict(X), models[1].predict(X))


def test_trees_can_be_taken_out():
    X, y = make_friedman1(200, random_state=0)
    model = AdaBoostRegressor(n_estimators=6, random_state=0).fit(X, y)
    predicted = np.stack([tree.predict(X) for tree in model.estimators_], axis=1)
    assert_array_equal(weighted_median(predicted, model.estimator_weights_), model.predict(X))


def test_the_first_learner_is_kept_whatever_its_loss():
    X = np.zeros((12, 1))
    y = np.array([0.0, 1.0] * 6)
    model = AdaBoostRegressor(random_state=0, bootstrap=False).fit(X, y)
    assert len(model.estimator_weights_) == 1
    assert_allclose(model.predict(X), 0.5)


def test_what_is_wrong_is_said_before_any_work():
    X, y = make_friedman1(50, random_state=0)
    with pytest.raises(ParameterError, match="loss must be 'linear'"):
        AdaBoostRegressor(loss="huber").fit(X, y)
    with pytest.raises(ParameterError, match="must be a regressor"):
        AdaBoostRegressor(estimator=RidgeClassifier()).fit(X, y)
