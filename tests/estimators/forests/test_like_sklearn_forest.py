"""Forests by the name of scikit-learn: its defaults, its names, and its trees where nothing is drawn."""

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_iris

import woodwind
from woodwind.base.errors import ParameterError, ParameterNameError

NAMES = ["RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"]


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_those_of_scikit_learn(name):
    ours, theirs = getattr(woodwind, name).like("scikit-learn").get_params(), getattr(ensemble, name)().get_params()
    same = set(ours) & set(theirs)
    assert {name: ours[name] for name in same} == {name: theirs[name] for name in same}
    assert set(theirs) - same <= {"ccp_alpha", "monotonic_cst"}


def test_trees_are_those_of_scikit_learn_where_nothing_is_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=300)
    given = {"n_estimators": 1, "bootstrap": False, "max_features": None, "min_samples_leaf": 8, "ccp_alpha": 0.0, "random_state": 0}
    ours = woodwind.RandomForestRegressor.like("sklearn", **given).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), ensemble.RandomForestRegressor(**given).fit(X, y).predict(X), rtol=1e-6)
    X, y = load_iris(return_X_y=True)
    given |= {"criterion": "log_loss", "max_depth": 2}
    ours = woodwind.RandomForestClassifier.like("scikit-learn", **given).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), ensemble.RandomForestClassifier(**given).fit(X, y).predict_proba(X), rtol=1e-6)


def test_what_has_no_counterpart_is_refused_by_name():
    like = woodwind.RandomForestClassifier.like
    with pytest.raises(ParameterNameError, match=r"ccp_alpha of scikit-learn has no counterpart. Trees of a forest are not pruned"):
        like("scikit-learn", ccp_alpha=0.1)
    with pytest.raises(ParameterNameError, match="Did you mean 'max_depth'"):
        like("scikit-learn", max_depht=3)
    with pytest.raises(ParameterNameError, match="no parameter 'max_bins'"):
        like("scikit-learn", max_bins=3)
    with pytest.raises(ParameterError, match=r"library must be 'scikit-learn' for forests.*n_parallel_trees"):
        like("xgboost")
