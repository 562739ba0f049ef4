"""Forests against scikit-learn: equal where nothing but rows is drawn, alike in distribution elsewhere."""

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import ExtraTreesClassifier as TheirExtraTrees
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from woodwind import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from woodwind.ensemble.resampling import Resampling


def bag(X, y, resampling, tree):
    """The rows of a tree. A row drawn twice counts twice in a leaf here, and once for scikit-learn: there it is given twice."""
    rows = np.repeat(np.arange(len(y)), resampling.counts(tree))
    return X[rows], y[rows]


def one_tree(model, tree, X):
    """What one tree says."""
    trees = model.forest_
    return model.compact_forest_.n_trees * (trees.first(tree + 1).raw(X) - trees.first(tree).raw(X))


# Rows of the training are compared: two features may part them alike, and other rows not. Features are continuous and leaves have some
# rows, so that no two splits tie by chance: those that do are broken differently. Values are single precision, in which scikit-learn
# computes. With all features every tree is the CART tree of its bootstrap.
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("max_bins", [None, 255])
def test_with_all_features_each_tree_is_the_exact_tree_of_its_bootstrap(criterion, n_classes, max_bins):
    X, y = make_classification(400, 6, n_informative=4, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.2, random_state=0)
    X = X.astype(np.float32)
    # Counts of classes tie often; weights hardly ever.
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    resampling = Resampling(seed=7, n_rows=len(y), n_draws=len(y), replace=True)
    model = RandomForestClassifier(
        n_estimators=8, max_features=None, criterion=criterion, max_bins=max_bins, min_samples_leaf=25, random_state=7
    ).fit(X, y, weight)
    single = DecisionTreeClassifier(criterion=criterion, min_samples_leaf=25, random_state=0)
    trees = [clone(single).fit(*bag(X, y, resampling, tree), bag(X, weight, resampling, tree)[1]) for tree in range(8)]
    for tree, other in enumerate(trees):
        seen = resampling.counts(tree) > 0
        np.testing.assert_allclose(one_tree(model, tree, X[seen]), other.predict_proba(X[seen]), atol=1e-12)


def test_regression_trees_are_the_exact_trees_of_their_bootstraps():
    X, y = make_friedman1(500, random_state=0)
    X = X.astype(np.float32)
    model = RandomForestRegressor(n_estimators=8, min_samples_leaf=5, random_state=1).fit(X, y)
    resampling = Resampling(seed=1, n_rows=len(y), n_draws=len(y), replace=True)
    single = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    trees = [clone(single).fit(*bag(X, y, resampling, tree)) for tree in range(8)]
    for tree, other in enumerate(trees):
        seen = resampling.counts(tree) > 0
        np.testing.assert_allclose(one_tree(model, tree, X[seen])[:, 0], other.predict(X[seen]), rtol=1e-9)


def test_importance_is_that_of_the_same_tree():
    X, y = make_friedman1(500, random_state=0)
    model = RandomForestRegressor(n_estimators=1, bootstrap=False, max_depth=4, random_state=1).fit(X.astype(np.float32), y)
    other = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(model.feature_importances_, other.feature_importances_, atol=1e-9)


@pytest.mark.parametrize(("own", "other"), [(RandomForestClassifier, TheirForest), (ExtraTreesClassifier, TheirExtraTrees)])
def test_drawing_features_is_as_accurate(own, other):
    X, y = make_classification(1200, 12, n_informative=6, flip_y=0.1, random_state=3)
    scores = [
        [kind(n_estimators=30, random_state=seed, n_jobs=1).fit(X[:600], y[:600]).score(X[600:], y[600:]) for seed in range(20)]
        for kind in (own, other)
    ]
    error = np.sqrt((np.var(scores[0]) + np.var(scores[1])) / 20)
    assert abs(np.mean(scores[0]) - np.mean(scores[1])) < 2.5 * error


def test_random_thresholds_are_uniform_between_the_least_and_the_largest_number():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.exponential(size=300), rng.normal(size=300)])
    y = rng.normal(size=300)
    trees = ExtraTreesRegressor(n_estimators=400, max_features=1, max_depth=1, random_state=0).fit(X, y).forest_
    roots = trees.roots[:-1]
    for feature in range(2):
        cuts = trees.threshold[roots][trees.feature[roots] == feature]
        low, high = X[:, feature].min(), X[:, feature].max()
        assert kstest((cuts - low) / (high - low), "uniform").pvalue > 0.001
        assert 150 < len(cuts) < 250
