"""Columns of more categories than trees tell apart are never merged silently."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import woodwind
from woodwind import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomStructureForestClassifier,
    StackingClassifier,
)
from woodwind.base.errors import ManyCategoriesWarning

FEW = {"n_estimators": 2}
OF_TREES = [
    GradientBoostingClassifier(**FEW, categorical_encoding="sets"),
    GradientBoostingRegressor(**FEW, categorical_encoding="sets", max_bins=None),
    RandomForestRegressor(**FEW, categorical_encoding="sets"),
    ExtraTreesClassifier(**FEW, categorical_encoding="sets"),
    RandomStructureForestClassifier(**FEW, categorical_encoding="sets"),
    DecisionTreeClassifier(max_depth=2, categorical_encoding="sets"),
    DecisionTreeRegressor(max_depth=2, max_bins=32, categorical_encoding="sets"),
    AdaBoostClassifier(**FEW),
    BaggingClassifier(DecisionTreeClassifier(categorical_encoding="sets"), **FEW),
    StackingClassifier(
        estimators=[DecisionTreeClassifier(max_depth=2, categorical_encoding="sets"), GradientBoostingClassifier(**FEW)], cv=2
    ),
]
OF_ANY_NUMBER = [
    RandomForestClassifier(**FEW),
    RandomForestRegressor(**FEW, categorical_encoding="ordered", criterion="absolute_error"),
    ExtraTreesClassifier(**FEW),
    ExtraTreesRegressor(**FEW, max_leaf_nodes=9),
    RandomStructureForestClassifier(**FEW, random_state=0),
    DecisionTreeClassifier(max_depth=4),
    DecisionTreeRegressor(max_depth=4, max_bins=32),
    DecisionTreeRegressor(max_depth=4, splitter="random", random_state=0),
    BaggingClassifier(**FEW),
]


def table(n_categories):
    position = np.arange(2 * n_categories) % n_categories
    return pd.DataFrame({"wood": [f"w{number}" for number in position], "size": position % 7}), (
        np.arange(2 * n_categories) % 3 == 0
    ).astype(int)


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
@pytest.mark.parametrize("estimator", OF_TREES, ids=lambda one: type(one).__name__)
def test_categories_that_are_merged_are_told_with_their_column_their_number_and_a_remedy(estimator):
    X, y = table(300)
    with pytest.warns(ManyCategoriesWarning, match=r"column 'wood' has 300 categories.* the other 48 are taken as one. Give means of the"):
        estimator.fit(X, y)


@pytest.mark.parametrize("settings", [{}, {"max_bins": None}])
def test_boosting_merges_none(settings):
    GradientBoostingClassifier(**FEW, **settings).fit(*table(300))
    GradientBoostingRegressor(**FEW, **settings).fit(*table(300))


@pytest.mark.parametrize("estimator", OF_TREES[:6], ids=lambda one: type(one).__name__)
def test_as_many_as_there_are_codes_are_no_news(estimator):
    estimator.fit(*table(253))


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
@pytest.mark.parametrize("estimator", OF_ANY_NUMBER, ids=lambda one: type(one).__name__)
def test_forests_and_trees_merge_none(estimator, tmp_path):
    X, y = table(300)
    model = clone(estimator).fit(X, y)
    model.save(tmp_path / "model.ww")
    np.testing.assert_array_equal(woodwind.load(tmp_path / "model.ww").predict(X), model.predict(X))


def many(n_categories, per_category, seed=0):
    """Every category has an effect of its own; the columns of a table, its target, and a table of other rows with theirs."""
    rng = np.random.default_rng(seed)
    effect = rng.normal(size=n_categories)

    def rows(n):
        category = rng.integers(0, n_categories, n)
        frame = pd.DataFrame({"shop": [f"s{number}" for number in category], "x": rng.normal(size=n)})
        return frame, effect[category] + 0.3 * frame["x"].to_numpy() + 0.5 * rng.normal(size=n)

    return *rows(n_categories * per_category), *rows(4000)


FORESTS = [RandomForestRegressor(30, random_state=0), ExtraTreesRegressor(30, random_state=0)]


@pytest.mark.parametrize("model", [*FORESTS, DecisionTreeRegressor(min_samples_leaf=20)], ids=lambda one: type(one).__name__)
def test_means_tell_what_sets_of_merged_categories_cannot(model):
    X, y, X_new, y_new = many(600, 20)
    means = clone(model).fit(X, y).score(X_new, y_new)
    with pytest.warns(ManyCategoriesWarning):
        sets = clone(model).set_params(categorical_encoding="sets").fit(X, y).score(X_new, y_new)
    assert means > 0.6
    assert means > sets + 0.15


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
@pytest.mark.parametrize("encoding", ["auto", "ordered"])
def test_a_column_of_labels_that_say_nothing_is_found_out_of_the_bag(kind, encoding):
    """Every row has a category of its own, or almost: whoever looks at its own target would seem to know it."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"name": [f"n{number}" for number in rng.integers(0, 700, 800)], "x": rng.normal(size=800)})
    y = rng.normal(size=800)
    model = kind(60, oob_score=True, bootstrap=True, categorical_encoding=encoding, random_state=0).fit(X, y)
    assert model.oob_score_ < 0.05
    assert abs(model.permutation_importance_oob(X, y)[0]) < 0.15


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
def test_statistics_are_the_same_for_any_number_of_threads_and_go_on():
    X, y, X_new, _ = many(400, 5)
    one = RandomForestRegressor(6, random_state=0, n_jobs=1).fit(X, y)
    two = RandomForestRegressor(6, random_state=0, n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(one.predict(X_new), two.predict(X_new))
    grown = RandomForestRegressor(2, random_state=0, warm_start=True).fit(X, y).set_params(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(grown.predict(X_new), one.predict(X_new))
    tree = DecisionTreeRegressor(max_depth=5)
    np.testing.assert_array_equal(tree.fit(X, y).predict(X_new), clone(tree).fit(X, y).predict(X_new))


def test_several_classes_have_a_mean_each():
    X, y, X_new, y_new = many(400, 15)
    labels, labels_new = (np.digitize(values, [-0.7, 0.7]) for values in (y, y_new))
    model = RandomForestClassifier(30, random_state=0).fit(X, labels)
    assert model.score(X_new, labels_new) > 0.6
    assert model.feature_importances_.shape == (2,)
    assert [name for name in model.schema_.feature_names if name.startswith("shop:")] == ["shop:0", "shop:1", "shop:2"]
