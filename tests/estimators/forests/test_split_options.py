"""Random splits in single trees; absolute error and Poisson deviance in trees and forests."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesRegressor as TheirExtraTrees
from sklearn.ensemble import RandomForestRegressor as TheirForest
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

import woodwind
from woodwind import (
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    ParameterError,
    RandomForestRegressor,
)
from woodwind.base.errors import TargetError

CRITERIA = ["absolute_error", "poisson"]


def rows(seed, criterion="absolute_error", n=300):
    """Numbers without ties that both libraries see alike, and weights that add up exactly in doubles."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    y = 3 * X[:, 0] + np.sin(4 * X[:, 1]) * X[:, 2] + rng.normal(size=n)
    y = rng.poisson(np.exp(y / 3)).astype(float) if criterion == "poisson" else y
    return X, y, rng.integers(500, 2000, n) / 1024


def mixed(seed, n=400):
    """Numbers with gaps and words."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n).round(1)})
    frame.loc[rng.random(n) < 0.2, "a"] = np.nan
    frame["town"] = rng.choice(["ulm", "bonn", "kiel", "jena", None], n)
    y = frame["b"].to_numpy() + (frame["town"] == "ulm") + rng.normal(size=n) / 4
    return frame, np.abs(y)


# Random splits.


@pytest.mark.parametrize("kinds", [(DecisionTreeClassifier, ExtraTreesClassifier), (DecisionTreeRegressor, ExtraTreesRegressor)])
@pytest.mark.parametrize("limits", [{}, {"max_depth": 4}, {"max_leaf_nodes": 9}, {"min_samples_leaf": 5, "max_features": 2}], ids=str)
def test_a_tree_of_random_splits_is_the_first_of_extra_trees(kinds, limits):
    frame, y = mixed(1)
    tree_class, forest_class = kinds
    y = y if tree_class is DecisionTreeRegressor else np.digitize(y, [0.5, 1.0])
    limits = {"max_features": None, **limits}
    tree = tree_class(splitter="random", random_state=7, **limits).fit(frame, y)
    first = forest_class(1, random_state=7, **limits).fit(frame, y).estimators_[0]
    for name in ("feature", "threshold", "child", "value", "missing", "words"):
        np.testing.assert_array_equal(getattr(tree.forest_, name), getattr(first.forest_, name))


def test_thresholds_are_drawn_evenly_between_the_least_and_the_largest_number():
    X, y = np.array([[0.0], [1.0], [10.0]]), [0.0, 1.0, 2.0]
    cuts = [DecisionTreeRegressor(max_depth=1, splitter="random", random_state=seed).fit(X, y).forest_.threshold[0] for seed in range(400)]
    assert abs(np.mean(cuts) - 5.0) < 0.6
    assert abs(np.std(cuts) - 10 / np.sqrt(12)) < 0.4
    theirs = [TheirRegressor(max_depth=1, splitter="random", random_state=seed).fit(X, y).tree_.threshold[0] for seed in range(400)]
    assert abs(np.mean(cuts) - np.mean(theirs)) < 0.8


def test_random_splits_are_about_as_good_as_those_of_scikit_learn():
    X, y, _ = rows(2)
    labels = (y > 0).astype(int)
    ours = np.mean(
        [DecisionTreeClassifier(max_depth=5, splitter="random", random_state=s).fit(X, labels).score(X, labels) for s in range(30)]
    )
    theirs = np.mean([TheirClassifier(max_depth=5, splitter="random", random_state=s).fit(X, labels).score(X, labels) for s in range(30)])
    assert abs(ours - theirs) < 0.03
    best = DecisionTreeClassifier(max_depth=5).fit(X, labels).score(X, labels)
    assert ours < best


def test_gains_of_random_splits_are_the_impurity_that_they_remove():
    X, y, weight = rows(3)
    tree = DecisionTreeRegressor(max_depth=3, splitter="random", random_state=1).fit(X, y, weight)
    forest, leaf = tree.forest_, tree.apply(X)
    mean = np.average(y, weights=weight)
    left = sum(weight[leaf == k] @ (y[leaf == k] - np.average(y[leaf == k], weights=weight[leaf == k])) ** 2 for k in np.unique(leaf))
    np.testing.assert_allclose(forest.gain.sum(), weight @ (y - mean) ** 2 - left, rtol=1e-6)
    path = DecisionTreeRegressor(splitter="random", random_state=1).cost_complexity_pruning_path(X, y, weight)
    assert abs(path.impurities[0]) < 1e-6
    np.testing.assert_allclose(path.impurities[-1], np.average((y - mean) ** 2, weights=weight), rtol=1e-6)


@pytest.mark.parametrize("wrong", [{"max_bins": 16}, {"monotonic_cst": {0: 1}}, {"criterion": "gain_ratio"}], ids=str)
def test_random_splits_refuse_what_they_cannot_keep(wrong):
    X, y, _ = rows(4)
    with pytest.raises(ParameterError, match="splitter='random'"):
        DecisionTreeClassifier(splitter="random", **wrong).fit(X, y > 0)


# Criteria.

LIMITS = [{"max_depth": 3}, {"max_leaf_nodes": 12}, {"min_samples_leaf": 5}, {"min_weight_fraction_leaf": 0.03}, {}]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_a_tree_predicts_its_training_rows_as_scikit_learn_does(criterion, limits):
    """With weights, because sums of whole numbers tie often, and ties are broken at random there."""
    X, y, weight = rows(5, criterion)
    ours = DecisionTreeRegressor(criterion=criterion, **limits).fit(X, y, weight)
    theirs = TheirRegressor(criterion=criterion, random_state=0, **limits).fit(X, y, weight)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-12)
    if limits == {"max_depth": 3}:
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_missing_values_go_where_scikit_learn_sends_them_or_where_the_error_is_smaller(criterion):
    """scikit-learn has no missing values under absolute error: there a stump is compared with all that it could be."""
    X, y, weight = rows(6, criterion)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    ours = DecisionTreeRegressor(criterion=criterion, max_depth=3 if criterion == "poisson" else 1).fit(X, y, weight)
    if criterion == "poisson":
        theirs = TheirRegressor(criterion=criterion, max_depth=3, random_state=0).fit(X, y, weight)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-12)
        return

    def error(side):
        order = np.argsort(y[side])
        running = np.cumsum(weight[side][order])
        median = y[side][order][np.searchsorted(2 * running, running[-1])]
        return weight[side] @ np.abs(y[side] - median)

    best = np.inf
    for column in X.T:
        lost = np.isnan(column)
        for cut in np.unique(column[~lost])[:-1]:
            for left in (column <= cut, (column <= cut) | lost):
                best = min(best, error(left) + error(~left))
        best = min(best, error(lost) + error(~lost))
    np.testing.assert_allclose(weight @ np.abs(y - ours.predict(X)), best, rtol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_pruning_is_that_of_scikit_learn(criterion):
    X, y, weight = rows(7, criterion, 120)
    ours = DecisionTreeRegressor(criterion=criterion, max_depth=4).cost_complexity_pruning_path(X, y, weight)
    theirs = TheirRegressor(criterion=criterion, max_depth=4, random_state=0).cost_complexity_pruning_path(X, y, weight)
    np.testing.assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, rtol=0, atol=1e-7)
    np.testing.assert_allclose(ours.impurities, theirs.impurities, rtol=0, atol=1e-7)
    alpha = float(ours.ccp_alphas[len(ours.ccp_alphas) // 2]) * 1.01
    pruned = DecisionTreeRegressor(criterion=criterion, max_depth=4, ccp_alpha=alpha).fit(X, y, weight)
    other = TheirRegressor(criterion=criterion, max_depth=4, ccp_alpha=alpha, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(pruned.predict(X), other.predict(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor, ExtraTreesRegressor])
def test_a_weight_of_two_is_a_row_given_twice(criterion, kind):
    X, y, _ = rows(8, criterion, 120)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    options = {} if kind is DecisionTreeRegressor else {"bootstrap": False, "n_estimators": 3, "random_state": 1}
    weighted = kind(criterion=criterion, max_depth=5, **options).fit(X, y, weight)
    repeated = kind(criterion=criterion, max_depth=5, **options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kinds", [(RandomForestRegressor, TheirForest), (ExtraTreesRegressor, TheirExtraTrees)])
def test_forests_are_about_as_good_as_those_of_scikit_learn(criterion, kinds):
    X, y, _ = rows(9, criterion, 600)
    errors = []
    for kind in kinds:
        model = kind(n_estimators=40, criterion=criterion, min_samples_leaf=3, random_state=0).fit(X[:400], y[:400])
        errors.append(np.abs(model.predict(X[400:]) - y[400:]).mean())
    assert abs(errors[0] - errors[1]) < 0.06 * errors[1]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_threads_files_and_two_goes_change_nothing(criterion, kind, tmp_path):
    frame, y = mixed(10)
    one = kind(6, criterion=criterion, random_state=3, n_jobs=1, bootstrap=True).fit(frame, y)
    two = kind(6, criterion=criterion, random_state=3, n_jobs=3, bootstrap=True).fit(frame, y)
    np.testing.assert_array_equal(one.predict(frame), two.predict(frame))
    grown = kind(2, criterion=criterion, random_state=3, warm_start=True, bootstrap=True).fit(frame, y).set_params(n_estimators=6)
    np.testing.assert_array_equal(grown.fit(frame, y).predict(frame), one.predict(frame))
    one.save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww")
    assert loaded.criterion == criterion
    np.testing.assert_array_equal(loaded.predict(frame), one.predict(frame))
    assert one.feature_importances_.sum() == pytest.approx(1.0)


def test_the_median_of_a_leaf_does_not_move_with_an_outlier():
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] < 20, 1.0, 3.0)
    y[[3, 30]] = 1e6, -1e6
    tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y)
    assert tree.predict([[0.0], [39.0]]).tolist() == [1.0, 3.0]
    assert tree.forest_.threshold[0] == 19.5


@pytest.mark.parametrize("scale", [1e-280, 1e-9, 1e9, 1e280])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_tree_does_not_depend_on_the_units_of_the_target(criterion, scale):
    X, y, _ = rows(11, criterion, 100)
    y = np.round(y * 64) / 64
    plain = DecisionTreeRegressor(max_depth=4, criterion=criterion).fit(X, y)
    other = DecisionTreeRegressor(max_depth=4, criterion=criterion).fit(X, y * scale)
    np.testing.assert_array_equal(other.forest_.feature, plain.forest_.feature)
    np.testing.assert_allclose(other.predict(X), plain.predict(X) * scale, rtol=1e-12)


def test_bags_take_trees_of_the_other_engine():
    X, y, _ = rows(12)
    for tree in (DecisionTreeRegressor(criterion="absolute_error"), DecisionTreeRegressor(splitter="random")):
        bag = BaggingRegressor(tree, n_estimators=5, max_features=2, random_state=0).fit(X, y)
        assert bag.score(X, y) > 0.3
        assert bag.estimators_[0].get_params()["splitter"] == tree.splitter


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor, ExtraTreesRegressor])
def test_poisson_deviance_refuses_targets_that_it_is_not_for(kind):
    X, y, _ = rows(13)
    with pytest.raises(TargetError, match="negative"):
        kind(criterion="poisson").fit(X, y)
    with pytest.raises(TargetError, match="all zeros"):
        kind(criterion="poisson").fit(X, np.zeros(len(X)))


@pytest.mark.parametrize("wrong", [{"max_bins": 16}, {"monotonic_cst": {0: 1}}], ids=str)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_single_trees_refuse_what_a_criterion_cannot_keep(criterion, wrong):
    X, y, _ = rows(14, criterion)
    with pytest.raises(ParameterError, match=f"criterion='{criterion}'"):
        DecisionTreeRegressor(criterion=criterion, **wrong).fit(X, y)
