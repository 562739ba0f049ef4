"""The same splits, with leaf values from other rows."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1

import woodwind
from woodwind import DataError, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from woodwind.base.errors import TargetError

PLAIN = {"n_estimators": 12, "learning_rate": 0.3, "max_leaf_nodes": 8, "min_samples_leaf": 5, "random_state": 0, "early_stopping": False}


def numbers(n=300, seed=0):
    return make_friedman1(n, n_features=6, noise=0.5, random_state=seed)


def classes(n=300, k=3, seed=0):
    return make_classification(n, n_features=8, n_informative=5, n_classes=k, random_state=seed)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson"])
@pytest.mark.parametrize("max_bins", [255, None])
def test_on_the_rows_of_the_training_leaves_stay_as_they_are(loss, max_bins):
    X, y = numbers()
    y = np.abs(y)
    model = GradientBoostingRegressor(loss=loss, max_bins=max_bins, **PLAIN).fit(X, y)
    again = model.refit_leaves(X, y)
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)  # integers of 30 bits against 62
    np.testing.assert_array_equal(again.forest_.cover, model.forest_.cover)


@pytest.mark.parametrize("multiclass", ["vector", "one_per_class"])
@pytest.mark.parametrize("k", [2, 3])
def test_classes_stay_as_they_are_too(k, multiclass):
    X, y = classes(k=k)
    model = GradientBoostingClassifier(multiclass=multiclass, class_weight={0: 2.5, 1: 1.0}, **PLAIN).fit(X, y)
    np.testing.assert_allclose(model.refit_leaves(X, y).decision_function(X), model.decision_function(X), atol=1e-6)


def test_a_mean_of_the_models_of_folds_stays_one():
    X, y = numbers()
    model = GradientBoostingRegressor(n_estimators=30, learning_rate=0.3, random_state=0).fit(X, y)
    assert model.n_trees_per_iteration_ > 1
    np.testing.assert_allclose(model.refit_leaves(X, y).predict(X), model.predict(X), rtol=1e-6)


def test_one_tree_by_hand():
    """Leaves are the means of the new rows, shrunk by lambda, around their mean."""
    model = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0, max_leaf_nodes=2, min_samples_leaf=1, early_stopping=False)
    model.fit([[1], [2], [3], [4]], [0, 0, 10, 10])
    again = model.refit_leaves([[1], [4], [4]], [1, 3, 8])  # mean 4; residuals -3 | -1 and 4; lambda 1
    assert again.predict([[1], [4]]).tolist() == [4 - 3 / 2, 4 + 3 / 3]
    half = model.refit_leaves([[1], [4], [4]], [1, 3, 8], decay_rate=0.5)
    old = 10 / 3  # 2 rows of residual 5 over 2 + 1
    np.testing.assert_allclose(half.predict([[1], [4]]), [4 + (-old - 1.5) / 2, 4 + (old + 1.0) / 2])


def test_a_leaf_without_rows_keeps_its_value_and_the_model_stays_as_it_was():
    X, y = numbers()
    model = GradientBoostingRegressor(**PLAIN).fit(X, y)
    before = model.forest_.digest()
    again = model.refit_leaves(X[:1], y[:1])
    assert model.forest_.digest() == before
    assert type(again) is GradientBoostingRegressor
    unreached = np.ones(model.forest_.n_nodes, bool)
    unreached[model.forest_.roots[:-1] + model.apply(X[:1])[0]] = False
    leaves = (model.forest_.feature < 0) & unreached
    np.testing.assert_array_equal(again.forest_.value[leaves], model.forest_.value[leaves])
    np.testing.assert_allclose(again.predict(X[:1]), y[:1])


def test_a_weight_of_two_is_a_row_given_twice_and_of_zero_an_absent_one():
    X, y = numbers()
    model = GradientBoostingRegressor(**PLAIN).fit(*numbers(seed=1))
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    times = np.repeat(np.arange(len(y)), weight)
    weighted = model.refit_leaves(X, y, sample_weight=weight)
    np.testing.assert_allclose(weighted.forest_.value, model.refit_leaves(X[times], y[times]).forest_.value, rtol=1e-12)
    other = np.random.default_rng(1).permutation(len(times))
    np.testing.assert_allclose(weighted.forest_.value, model.refit_leaves(X[times[other]], y[times[other]]).forest_.value, rtol=1e-12)


def test_the_bits_are_the_same_for_any_number_of_threads():
    X, y = classes(3000)
    model = GradientBoostingClassifier(**PLAIN).fit(X, y)
    one, two = (model.set_params(n_jobs=jobs).refit_leaves(*classes(3000, seed=1)).forest_.digest() for jobs in (1, 2))
    assert one == two


def test_new_rows_are_predicted_better_than_by_old_leaves():
    X, y = numbers(600)
    Z, z = numbers(600, seed=3)
    model = GradientBoostingRegressor(**{**PLAIN, "n_estimators": 40}).fit(X, y)
    moved = 3.0 * z[:300] - 7.0
    again = model.refit_leaves(Z[:300], moved)
    truth = 3.0 * z[300:] - 7.0
    assert np.mean((again.predict(Z[300:]) - truth) ** 2) < np.mean((model.predict(Z[300:]) - truth) ** 2) / 4


def test_training_goes_on_from_refitted_leaves(tmp_path):
    X, y = numbers()
    Z, z = numbers(seed=1)
    model = GradientBoostingRegressor(warm_start=True, **PLAIN).fit(X, y).refit_leaves(Z, z)
    model.save(tmp_path / "model.ww")
    again = woodwind.load(tmp_path / "model.ww")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    again.set_params(n_estimators=14).fit(Z, z)
    np.testing.assert_array_equal(again.predict(X, n_rounds=12), model.predict(X))


def test_what_cannot_be_refitted_is_named():
    X, y = numbers()
    model = GradientBoostingRegressor(**PLAIN).fit(X, y)
    with pytest.raises(ParameterError, match="decay_rate must be a number from 0 to 1, but it is 2"):
        model.refit_leaves(X, y, decay_rate=2)
    with pytest.raises(ParameterError, match="refit_leaves cannot keep monotonic_cst"):
        GradientBoostingRegressor(monotonic_cst=[1, 0, 0, 0, 0, 0], **PLAIN).fit(X, y).refit_leaves(X, y)
    with pytest.raises(DataError, match="init had scores for the rows of the training"):
        GradientBoostingRegressor(init=np.zeros(300), **PLAIN).fit(X, y).refit_leaves(X, y)
    with pytest.raises(DataError, match="inconsistent numbers of samples"):
        model.refit_leaves(X, y[:5])
    C, c = classes()
    with pytest.raises(TargetError, match="there is none of 2"):
        GradientBoostingClassifier(**PLAIN).fit(C, c).refit_leaves(C[c < 2], c[c < 2])
