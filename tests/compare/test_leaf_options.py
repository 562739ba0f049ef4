"""Options of leaves and of rounds against the libraries that they come from, where equality is fair: see test_boosting_engines.py."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor

ROUNDS, RATE = 20, 0.3
SINGLE, DOUBLE = 2e-6, 2e-7  # XGBoost computes in float32; LightGBM has derivatives in float32 and sums in float64
PLAIN = {
    "n_estimators": ROUNDS,
    "learning_rate": RATE,
    "max_depth": 3,
    "max_leaf_nodes": None,
    "min_samples_leaf": 1,
    "min_hessian_leaf": 0.0,
    "subsample": 1.0,
    "early_stopping": False,
    "growth": "level",
}


def table(seed=0, n=250):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)).astype(np.float32)
    y = x[:, 0] + np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 3] + 0.3 * rng.normal(size=n)
    return x, y.astype(np.float32).astype(np.float64)


def xgboost_scores(x, y, rounds=ROUNDS, **options):
    xgboost = pytest.importorskip("xgboost")
    plain = {"max_depth": 3, "eta": RATE, "lambda": 1, "min_child_weight": 0, "tree_method": "exact", "nthread": 1}
    data = xgboost.DMatrix(x, y)
    return xgboost.train({**plain, **options}, data, rounds).predict(data, output_margin=True)


def lightgbm_model(x, y, rounds=ROUNDS, **options):
    lightgbm = pytest.importorskip("lightgbm")
    bins = {"max_bin": 1000, "min_data_in_bin": 1, "feature_pre_filter": False, "verbose": -1}
    limits = {"num_leaves": 8, "max_depth": 3, "learning_rate": RATE, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0, "lambda_l2": 1.0}
    options = {**bins, **limits, "num_threads": 1, "deterministic": True, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own arguments
        linear = {"linear_tree": True} if options.get("linear_tree") else {}
        return lightgbm.train(options, lightgbm.Dataset(x, y, params={**bins, **linear}), rounds)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("bins", [255, None])
def test_a_largest_step_is_that_of_xgboost(seed, bins):
    x, y = table(seed)
    ours = GradientBoostingRegressor(max_delta_step=0.4, max_bins=bins, **PLAIN).fit(x, y)
    theirs = xgboost_scores(x, y, max_delta_step=0.4, objective="reg:squarederror", base_score=float(y.mean()))
    assert_allclose(ours.predict(x), theirs, atol=SINGLE)
    of_class = y > 0.3
    ours = GradientBoostingClassifier(max_delta_step=0.7, max_bins=bins, **PLAIN).fit(x, of_class)
    theirs = xgboost_scores(x, of_class, max_delta_step=0.7, objective="binary:logistic", base_score=float(of_class.mean()))
    assert_allclose(ours.decision_function(x), theirs, atol=2 * SINGLE)


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_a_largest_step_is_that_of_lightgbm(seed):
    x, y = table(seed)
    ours = GradientBoostingRegressor(max_delta_step=0.4, **PLAIN).fit(x, y)
    assert_allclose(ours.predict(x), lightgbm_model(x, y, max_delta_step=0.4).predict(x), atol=DOUBLE)


@pytest.mark.parametrize(("seed", "smooth"), [(0, 1.0), (2, 1.0), (3, 1.0), (0, 15.0), (1, 15.0), (4, 15.0)])
def test_path_smoothing_is_that_of_lightgbm(seed, smooth):
    """Values are. Its gains are a little less than ours, since it smooths the value of the node itself once more, so that it leaves away
    some splits of the least gain: three rounds, and tables without such splits.
    """
    x, y = table(seed)
    ours = GradientBoostingRegressor(path_smooth=smooth, **{**PLAIN, "n_estimators": 3, "min_samples_leaf": 2}).fit(x, y)
    theirs = lightgbm_model(x, y, 3, path_smooth=smooth, min_data_in_leaf=2)  # the fewest with which it smooths
    assert_allclose(ours.predict(x), theirs.predict(x), atol=DOUBLE)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_parallel_trees_are_those_of_xgboost(seed):
    """Of all rows and features, where the trees of a round are alike; what is drawn differs by library."""
    x, y = table(seed)
    ours = GradientBoostingRegressor(n_parallel_trees=3, max_bins=None, **PLAIN).fit(x, y)
    theirs = xgboost_scores(x, y, num_parallel_tree=3, objective="reg:squarederror", base_score=float(y.mean()))
    assert_allclose(ours.predict(x), theirs, atol=SINGLE)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_rows_of_a_split_are_those_of_scikit_learn(seed):
    ensemble = pytest.importorskip("sklearn.ensemble")
    x, y = table(seed)
    theirs = ensemble.GradientBoostingRegressor(n_estimators=ROUNDS, learning_rate=RATE, max_depth=5, min_samples_split=40, random_state=0)
    ours = GradientBoostingRegressor(min_samples_split=40, **{**PLAIN, "max_depth": 5, "l2_regularization": 0.0, "max_bins": None})
    assert_allclose(ours.fit(x, y).predict(x), theirs.fit(x, y).predict(x), atol=1e-9)


def catboost_scores(x, y, kind, rounds=ROUNDS, depth=3, **options):
    catboost = pytest.importorskip("catboost")
    plain = {"bootstrap_type": "No", "random_strength": 0, "score_function": "L2", "leaf_estimation_iterations": 1, "border_count": 254}
    plain |= {"feature_border_type": "Median", "boosting_type": "Plain", "l2_leaf_reg": 1.0, "thread_count": 1, "verbose": False}
    plain |= {"allow_writing_files": False, "learning_rate": RATE, "iterations": rounds, "depth": depth, "boost_from_average": True}
    return getattr(catboost, kind)(**{**plain, **options}).fit(x, y).predict(x, prediction_type="RawFormulaVal")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_leaves_of_symmetric_trees_are_those_of_catboost(seed):
    """A leaf is lr * sum(residuals) / (rows + l2), for squared error and, by first derivatives alone, for log loss."""
    x, y = table(seed)
    symmetric = {**PLAIN, "growth": "symmetric"}
    ours = GradientBoostingRegressor(**symmetric).fit(x, y)
    assert_allclose(ours.predict(x), catboost_scores(x, y, "CatBoostRegressor"), atol=1e-7)
    of_class = y > 0.3
    ours = GradientBoostingClassifier(leaf_estimation="gradient", **symmetric).fit(x, of_class)
    theirs = catboost_scores(x, of_class, "CatBoostClassifier", leaf_estimation_method="Gradient")
    assert_allclose(ours.decision_function(x), theirs, atol=1e-7)


# -------------------------------------------------------------------------------------------------------------------- linear leaves


def linear_boosting(x, y, rounds, **options):
    """The first round has constant leaves, as in LightGBM, and the others linear ones."""
    model = GradientBoostingRegressor(warm_start=True, l2_regularization=0.0, **{**PLAIN, "n_estimators": 1, **options}).fit(x, y)
    return model.set_params(n_estimators=rounds, linear_leaves=True).fit(x, y)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_linear_leaves_are_those_of_lightgbm(seed, penalty):
    """Numbers have unit variance, so that the penalty of coefficients is the same; predictions are those of the training rows."""
    x, y = table(seed)
    x = x.astype(np.float64)
    x = ((x - x.mean(axis=0)) / x.std(axis=0)).astype(np.float32)
    x /= x.astype(np.float64).std(axis=0)
    ours = linear_boosting(x, y, 8, min_samples_leaf=12, linear_l2=penalty)
    theirs = lightgbm_model(x, y, 8, linear_tree=True, linear_lambda=penalty, lambda_l2=0.0, min_data_in_leaf=12)
    assert_allclose(ours.predict(x), theirs.predict(x), atol=2e-6)  # LightGBM has numbers and derivatives in float32


def test_missing_numbers_have_the_constant_value_as_in_lightgbm():
    x, y = table(5)
    x = x / x.astype(np.float64).std(axis=0)
    x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan
    ours = linear_boosting(x, y, 2, min_samples_leaf=25, linear_l2=0.0)
    theirs = lightgbm_model(x, y, 2, linear_tree=True, linear_lambda=0.0, lambda_l2=0.0, min_data_in_leaf=25)
    assert_allclose(ours.predict(x), theirs.predict(x), atol=2e-6)
