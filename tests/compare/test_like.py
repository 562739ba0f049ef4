"""`like`: other libraries as they come, and ours by their names, give the same predictions where both can do the same.

Every column has fewer distinct values than bins, features are continuous, and predictions are those of the training rows: see
test_boosting_engines.py, also for why seeds matter. What is as far apart as float32 is told by SINGLE.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor

ROUNDS = 20
SINGLE, DOUBLE = 2e-6, 1e-7
SEEDS = [0, 2, 5]
# A bin for every value, which changes nothing here.
LIGHTGBM_BINS = {"min_data_in_bin": 1, "max_bin": 1000, "feature_pre_filter": False, "verbose": -1}


def table(seed):
    """250 rows of singles; numbers, two classes and three."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(250, 4)).astype(np.float32)
    y = x[:, 0] + np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 3] + 0.3 * rng.normal(size=250)
    y = y.astype(np.float32).astype(np.float64)
    return x, {"numbers": y, "two": (y > 0.3).astype(int), "three": np.digitize(y, [-0.5, 0.8])}


def both(library, kinds, target, x, y, given, quiet=None):
    """Predictions of ours and of theirs: numbers, or probabilities."""
    regression = target == "numbers"
    ours = (GradientBoostingRegressor if regression else GradientBoostingClassifier).like(library, **given).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about their own arguments
        theirs = kinds[0 if regression else 1](**given, **(quiet or {})).fit(x, y)
        return [model.predict(x) if regression else model.predict_proba(x) for model in (ours, theirs)]


XGBOOST = [
    ("numbers", {}),
    ("numbers", {"gamma": 0.5, "n_estimators": 10}),
    ("numbers", {"reg_lambda": 0, "min_child_weight": 0, "max_depth": 3, "learning_rate": 0.1}),
    ("numbers", {"grow_policy": "lossguide", "max_leaves": 9}),
    ("numbers", {"base_score": 0.7, "reg_alpha": 0.5, "max_depth": 3}),
    ("two", {}),
    ("two", {"base_score": 0.7, "max_depth": 3}),
    ("two", {"scale_pos_weight": 2.5, "max_depth": 3, "base_score": 0.5}),  # without, one step of Newton is where it starts
    ("two", {"grow_policy": "lossguide", "max_leaves": 9}),
    ("three", {"max_depth": 3, "reg_lambda": 0.5}),
    ("three", {"grow_policy": "lossguide", "max_leaves": 9}),
]


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize(("target", "given"), XGBOOST, ids=str)
def test_like_xgboost(target, given, seed):
    """Exact growth, where both look at every split with all bits."""
    xgboost = pytest.importorskip("xgboost")
    x, y = table(seed)
    given = {"n_estimators": ROUNDS, "tree_method": "exact" if "grow_policy" not in given else "hist", **given}
    ours, theirs = both("xgboost", (xgboost.XGBRegressor, xgboost.XGBClassifier), target, x, y[target], given, {"n_jobs": 1})
    assert_allclose(ours, theirs, atol=SINGLE)


@pytest.mark.parametrize("seed", SEEDS)
def test_like_xgboost_with_its_histograms(seed):
    xgboost = pytest.importorskip("xgboost")
    x, y = table(seed)
    ours, theirs = both("xgboost", (xgboost.XGBRegressor,), "numbers", x, y["numbers"], {"n_estimators": ROUNDS}, {"n_jobs": 1})
    assert_allclose(ours, theirs, atol=SINGLE)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("target", ["numbers", "two"])
def test_like_xgboost_with_candidates_for_each_tree(target, seed):
    """As many of them as there are values: with 255 for 250 values, XGBoost's models are others than with 1,000."""
    xgboost = pytest.importorskip("xgboost")
    x, y = table(seed)
    given = {"n_estimators": ROUNDS, "tree_method": "approx", "max_bin": 1000, "max_depth": 3}
    ours, theirs = both("xgboost", (xgboost.XGBRegressor, xgboost.XGBClassifier), target, x, y[target], given, {"n_jobs": 1})
    assert_allclose(ours, theirs, atol=SINGLE)


LIGHTGBM = [
    ("numbers", {}),
    ("numbers", {"num_leaves": 8, "max_depth": 3, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0}),
    # A feature without an allowed split is not tried again below in LightGBM, so that penalties go with small leaves here.
    ("numbers", {"boost_from_average": False, "lambda_l1": 1.0, "lambda_l2": 2.0, "max_depth": 3, "min_data_in_leaf": 1}),
    # It guesses the rows of a bin from hessians, so that leaves of few rows differ: both ask for a hessian instead.
    ("two", {"num_leaves": 8, "max_depth": 3, "min_data_in_leaf": 0, "min_sum_hessian_in_leaf": 4.0}),
    ("two", {"num_leaves": 8, "max_depth": 3, "min_data_in_leaf": 0, "min_sum_hessian_in_leaf": 4.0, "lambda_l2": 1.0}),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("target", "given"), LIGHTGBM, ids=str)
def test_like_lightgbm(target, given, seed):
    lightgbm = pytest.importorskip("lightgbm")
    x, y = table(seed)
    given = {"n_estimators": ROUNDS, **LIGHTGBM_BINS, **given}
    ours, theirs = both("lightgbm", (lightgbm.LGBMRegressor, lightgbm.LGBMClassifier), target, x, y[target], given, {"n_jobs": 1})
    assert_allclose(ours, theirs, atol=DOUBLE)


def test_like_lightgbm_with_several_classes():
    """Its hessian is K / (K - 1) p (1 - p), in gains and leaves: with a penalty no learning rate could make up for another one."""
    lightgbm = pytest.importorskip("lightgbm")
    x, y = table(2)
    limits = {"num_leaves": 8, "max_depth": 3, "min_data_in_leaf": 0, "min_sum_hessian_in_leaf": 4.0, "lambda_l2": 1.0}
    given = {"n_estimators": ROUNDS, **LIGHTGBM_BINS, **limits}
    ours, theirs = both("lightgbm", (None, lightgbm.LGBMClassifier), "three", x, y["three"], given, {"n_jobs": 1})
    assert_allclose(ours, theirs, atol=DOUBLE)


SKLEARN = [
    ("numbers", {}),
    ("numbers", {"max_depth": 3, "l2_regularization": 2.0, "min_samples_leaf": 5}),
    ("two", {}),
    ("two", {"max_depth": 3, "l2_regularization": 2.0, "min_samples_leaf": 5}),
    ("three", {"max_depth": 3, "l2_regularization": 2.0, "min_samples_leaf": 5}),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("target", "given"), SKLEARN, ids=str)
def test_like_the_histogram_boosting_of_scikit_learn(target, given, seed):
    ensemble = pytest.importorskip("sklearn.ensemble")
    x, y = table(seed)
    kinds = (ensemble.HistGradientBoostingRegressor, ensemble.HistGradientBoostingClassifier)
    ours, theirs = both("scikit-learn", kinds, target, x, y[target], {"max_iter": ROUNDS, **given})
    assert_allclose(ours, theirs, atol=DOUBLE)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("given", [{}, {"max_depth": 4, "min_samples_leaf": 3}, {"learning_rate": 0.5}], ids=str)
def test_like_the_classic_boosting_of_scikit_learn(given, seed):
    """Trees of every threshold, in float64."""
    ensemble = pytest.importorskip("sklearn.ensemble")
    x, y = table(seed)
    given = {"n_estimators": 30, **given}
    ours, theirs = both("sklearn", (ensemble.GradientBoostingRegressor,), "numbers", x, y["numbers"], given)
    assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("target", ["numbers", "two"])
def test_like_catboost(target):
    """One column of two values: then every tree parts them, and only values and starts can differ."""
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (160, 1)).astype(float)
    score = x[:, 0] + 0.5 * rng.normal(size=160)
    y = score if target == "numbers" else (score > 0.3).astype(int)
    given = {"iterations": ROUNDS, "depth": 1, "learning_rate": 0.3, "bootstrap_type": "No"}
    # What has no counterpart: noise of scores, several steps of a leaf, and another score of splits.
    quiet = {"random_strength": 0, "leaf_estimation_method": "Newton", "leaf_estimation_iterations": 1, "verbose": 0, "thread_count": 1}
    quiet |= {"score_function": "L2", "allow_writing_files": False}
    ours, theirs = both("catboost", (catboost.CatBoostRegressor, catboost.CatBoostClassifier), target, x, y, given, quiet)
    assert_allclose(ours, theirs, atol=SINGLE)
