"""Several trees in a round for the same scores: a boosted random forest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_friedman1

import woodwind
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from woodwind.base.random_streams import key, seed_of, share_threshold
from woodwind.kernels.runtime.keys import draw_share

PLAIN = {"n_estimators": 6, "learning_rate": 0.5, "max_leaf_nodes": 8, "min_samples_leaf": 2, "early_stopping": False, "random_state": 0}


def numbers(n=300, seed=0):
    return make_friedman1(n, n_features=6, noise=0.5, random_state=seed)


def classes(n=400, k=3, seed=0):
    return make_classification(n, n_features=8, n_informative=5, n_classes=k, random_state=seed)


def test_each_tree_has_rows_of_its_own_and_the_mean_is_added():
    """One round: a leaf is a quarter of the mean residual of the rows that were drawn for its tree."""
    X, y = numbers()
    options = {**PLAIN, "n_estimators": 1, "learning_rate": 1.0, "l2_regularization": 0.0}
    model = GradientBoostingRegressor(n_parallel_trees=4, subsample=0.5, **options).fit(X, y)
    assert model.n_trees_per_iteration_ == model.forest_.n_trees == 4
    leaves, forest = model.apply(X), model.forest_
    total = np.zeros(len(y))
    for tree in range(4):
        drawn = np.empty(len(y), np.int32)
        drawn = drawn[: draw_share(key(seed_of(0), "rows", 0, tree), len(y), share_threshold(0.5), drawn)]
        leaf = leaves[:, tree]
        for one in np.unique(leaf):
            rows = drawn[leaf[drawn] == one]
            value = forest.value[forest.roots[tree] + one, 0]
            assert value == pytest.approx((y[rows] - y.mean()).mean() / 4, abs=1e-7)
            total[leaf == one] += value
    assert_allclose(model.predict(X), y.mean() + total, rtol=1e-12)


def test_without_a_draw_parallel_trees_are_one_tree():
    X, y = numbers()
    one, three = (GradientBoostingRegressor(n_parallel_trees=k, subsample=1.0, **PLAIN).fit(X, y) for k in (1, 3))
    assert three.forest_.n_trees == 3 * one.forest_.n_trees
    assert_allclose(three.predict(X), one.predict(X), rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
@pytest.mark.parametrize("early", [False, True, "auto"])
def test_leaves_are_learned_again_round_by_round(loss, early):
    """On the rows of the training, what refit_leaves finds is what was trained: all trees of a round start from the same scores."""
    X, y = numbers()
    options = {**PLAIN, "early_stopping": early, "subsample": 0.7 if early else 1.0, "max_features": 0.5}
    model = GradientBoostingRegressor(loss=loss, n_parallel_trees=3, **options).fit(X, y)
    assert model.n_trees_per_iteration_ % 3 == 0
    assert_allclose(model.refit_leaves(X, y).predict(X), model.predict(X), rtol=1e-6)


@pytest.mark.parametrize("multiclass", ["vector", "one_per_class"])
def test_several_classes_and_the_first_rounds(multiclass):
    X, y = classes()
    model = GradientBoostingClassifier(n_parallel_trees=2, subsample=0.5, multiclass=multiclass, **PLAIN).fit(X, y)
    assert model.n_trees_per_iteration_ == (2 if multiclass == "vector" else 6)
    staged = list(model.staged_decision_function(X))
    assert len(staged) == 6
    for rounds in (1, 4):
        fewer = GradientBoostingClassifier(n_parallel_trees=2, subsample=0.5, multiclass=multiclass, **{**PLAIN, "n_estimators": rounds})
        assert_array_equal(fewer.fit(X, y).decision_function(X), staged[rounds - 1])


def test_in_two_parts_as_in_one_and_through_a_file(tmp_path):
    X, y = numbers()
    options = {**PLAIN, "n_parallel_trees": 2, "subsample": 0.5}
    whole = GradientBoostingRegressor(**options).fit(X, y)
    parts = GradientBoostingRegressor(**{**options, "n_estimators": 2}, warm_start=True).fit(X, y)
    parts.save(tmp_path / "model.ww")
    parts = woodwind.load(tmp_path / "model.ww").set_params(n_estimators=6).fit(X, y)
    assert_array_equal(parts.predict(X), whole.predict(X))
    with pytest.raises(ParameterError, match="a round would have 3 trees, but warm_start=True goes on from rounds of 2"):
        parts.set_params(n_estimators=8, n_parallel_trees=3).fit(X, y)


def test_going_on_with_another_number_of_trees_in_a_round_is_refused():
    X, y = classes()
    model = GradientBoostingClassifier(warm_start=True, **PLAIN).fit(X, y)
    with pytest.raises(ParameterError, match="a round would have 3 trees, but warm_start=True goes on from rounds of 1"):
        model.set_params(n_estimators=8, multiclass="one_per_class").fit(X, y)
    with pytest.raises(ParameterError, match="what holds leaf values back"):
        model.set_params(n_estimators=8, multiclass="vector", max_delta_step=1.0).fit(X, y)


def test_dropout_leaves_out_whole_rounds():
    X, y = numbers()
    options = {**PLAIN, "boosting": "dart", "drop_rate": 1.0, "skip_drop": 0.0, "subsample": 1.0}
    one, two = (GradientBoostingRegressor(n_parallel_trees=k, **options).fit(X, y) for k in (1, 2))
    assert_allclose(two.predict(X), one.predict(X), rtol=1e-9)


def test_a_boosted_forest_varies_less_than_one_tree_of_the_same_draw():
    X, y = numbers(600)
    held = np.arange(len(y)) % 3 == 0
    errors = []
    for k in (1, 20):
        options = {**PLAIN, "n_estimators": 3, "learning_rate": 1.0, "max_leaf_nodes": 60, "subsample": 0.5, "max_features": 0.5}
        model = GradientBoostingRegressor(n_parallel_trees=k, **options).fit(X[~held], y[~held])
        errors.append(np.mean((model.predict(X[held]) - y[held]) ** 2))
    assert errors[1] < 0.6 * errors[0]


def test_no_tree_in_a_round_is_refused():
    with pytest.raises(ParameterError, match="n_parallel_trees"):
        GradientBoostingRegressor(n_parallel_trees=0).fit(*numbers(40))
