"""Forests of random structure."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification, make_friedman1

from woodwind import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    ParameterError,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomStructureForestClassifier,
    RandomStructureForestRegressor,
)


def test_the_structure_does_not_depend_on_the_target():
    X, y = make_friedman1(200, random_state=0)
    one = RandomStructureForestRegressor(n_estimators=5, random_state=1).fit(X, y)
    other = RandomStructureForestRegressor(n_estimators=5, random_state=1).fit(X, np.random.default_rng(0).permutation(y))
    np.testing.assert_array_equal(one.compact_forest_.nodes, other.compact_forest_.nodes)
    assert not np.array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("n_jobs", [2, 3, 8])
def test_threads_change_nothing(n_jobs):
    X, y = make_classification(300, 6, random_state=0)
    one, more = (RandomStructureForestClassifier(n_estimators=9, random_state=1, n_jobs=jobs).fit(X, y) for jobs in (1, n_jobs))
    np.testing.assert_array_equal(one.predict_proba(X), more.predict_proba(X))


def test_leaves_say_what_their_rows_say_and_empty_ones_what_is_around_them():
    X, y = make_friedman1(50, random_state=0)
    model = RandomStructureForestRegressor(n_estimators=1, max_depth=3, random_state=4).fit(X, y)
    ends = model.apply(X)[:, 0]
    for leaf in np.unique(ends):
        np.testing.assert_allclose(model.predict(X[ends == leaf]), y[ends == leaf].mean())
    assert np.isfinite(model.predict(np.random.default_rng(0).normal(size=(500, X.shape[1])) * 10)).all()
    deep = RandomStructureForestRegressor(n_estimators=3, max_depth=12, random_state=4).fit(X, y)
    assert np.isfinite(deep.predict(np.random.default_rng(0).random((500, X.shape[1])))).all()


def test_it_learns():
    X, y = load_iris(return_X_y=True)
    assert RandomStructureForestClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.88


def test_the_general_model_says_the_same():
    X, y = load_iris(return_X_y=True)
    model = RandomStructureForestClassifier(n_estimators=4, max_depth=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.forest_.check().raw(X), model.predict_proba(X), atol=1e-12)


def test_what_a_forest_of_random_structure_cannot_do_is_answered_by_advice_that_can_be_followed():
    X = np.random.default_rng(0).normal(size=(60, 3))
    number = RandomStructureForestRegressor(n_estimators=2).fit(X, X[:, 0])
    classes = RandomStructureForestClassifier(n_estimators=2).fit(X, X[:, 0] > 0)
    for ask in (
        lambda: number.predict_quantiles(X),
        lambda: number.permutation_importance_oob(X, X[:, 0]),
        lambda: classes.unbiased_importance_oob(X, X[:, 0] > 0),
    ):
        with pytest.raises(ParameterError) as told:
            ask()
        assert not {"bootstrap", "max_samples", "Fit with"} & set(str(told.value).replace("=", " ").split())
        assert "RandomForestRegressor" in str(told.value) or "sklearn.inspection" in str(told.value)


def test_trees_of_random_cuts_have_no_bins_to_be_given():
    for extra in (ExtraTreesClassifier, ExtraTreesRegressor):
        assert "max_bins" not in extra().get_params()
    assert RandomForestClassifier().max_bins == RandomForestRegressor().max_bins == 255
