"""What is told of trees, and prediction by fewer rounds, against XGBoost and LightGBM, whose trees are the same here: squared error,
continuous features, fewer values than bins, no penalties (reference settings as in test_boosting_engines.py).
"""

import numpy as np
import pytest

from woodwind import GradientBoostingRegressor

ROUNDS = 20
SAME = {"n_estimators": ROUNDS, "learning_rate": 0.1, "max_depth": 3, "max_leaf_nodes": None, "l2_regularization": 0.0, "max_bins": None}
PLAIN = {"early_stopping": False, "subsample": 1.0, "min_samples_leaf": 1, "min_hessian_leaf": 0.0, "growth": "level"}


def table(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=n)


def ours(X, y, **more):
    return GradientBoostingRegressor(**{**SAME, **PLAIN, **more}).fit(X, y)


def xgboost_model(X, y):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRegressor(
        n_estimators=ROUNDS,
        learning_rate=0.1,
        max_depth=3,
        reg_lambda=0,
        min_child_weight=0,
        base_score=float(y.mean()),
        tree_method="exact",
    )
    return model.fit(X, y)


def lightgbm_model(X, y, least=1, **more):
    lightgbm = pytest.importorskip("lightgbm")
    params = {
        "num_leaves": 8, "max_depth": 3, "max_bin": 1000, "min_data_in_bin": 1, "min_data_in_leaf": least, "min_sum_hessian_in_leaf": 0,
        "feature_pre_filter": False, "lambda_l2": 0, "learning_rate": 0.1, "verbose": -1, "objective": "regression",
        **more,
    }  # fmt: skip
    return lightgbm.train(params, lightgbm.Dataset(X, y, params=params), ROUNDS)


def test_importance_is_that_of_xgboost():
    X, y = table()
    model, other = ours(X, y), xgboost_model(X, y).get_booster()
    words = {"split": "weight", "gain": "total_gain", "cover": "total_cover", "mean_gain": "gain", "mean_cover": "cover"}
    for kind, theirs in words.items():
        expected = [other.get_score(importance_type=theirs).get(f"f{column}", 0.0) for column in range(X.shape[1])]
        np.testing.assert_allclose(model.feature_importance(kind), expected, rtol=2e-5, err_msg=kind)  # XGBoost computes in singles


def test_importance_is_that_of_lightgbm():
    X, y = table()
    # In leaves of a few rows two features may part the rows alike, and who is first differs.
    model, other = ours(X, y, min_samples_leaf=10), lightgbm_model(X, y, least=10)
    np.testing.assert_array_equal(model.feature_importance("split"), other.feature_importance("split"))
    np.testing.assert_allclose(model.feature_importance("gain"), other.feature_importance("gain"), rtol=2e-5)


def test_the_table_of_nodes_is_that_of_xgboost():
    X, y = table()
    frame = ours(X, y).trees_to_dataframe()
    other = xgboost_model(X, y).get_booster().trees_to_dataframe()
    assert len(frame) == len(other)
    keys = ["tree_index", "split_feature", "split_gain"]
    mine = frame[frame.left_child >= 0].sort_values(keys)
    theirs = other[other.Feature != "Leaf"].assign(
        tree_index=lambda t: t.Tree, split_feature=lambda t: t.Feature, split_gain=lambda t: t.Gain
    )
    theirs = theirs.sort_values(keys)
    assert [name.replace("x", "f") for name in mine.split_feature] == theirs.Feature.tolist()
    np.testing.assert_allclose(mine.split_gain, theirs.Gain, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(mine.cover, theirs.Cover)


@pytest.mark.parametrize("k", [0, 1, 7, ROUNDS])
def test_the_first_rounds_predict_as_those_of_xgboost_and_lightgbm(k):
    X, y = table()
    model = ours(X, y)
    if k:
        theirs = xgboost_model(X, y).predict(X, iteration_range=(0, k))
        np.testing.assert_allclose(model.predict(X, n_rounds=k), theirs, atol=5e-6)
        np.testing.assert_allclose(model.predict(X, n_rounds=k), lightgbm_model(X, y).predict(X, num_iteration=k), atol=5e-6)
    else:
        np.testing.assert_allclose(model.predict(X, n_rounds=0), y.mean())


def test_the_curves_of_all_metrics_and_tables_are_those_of_xgboost():
    xgboost = pytest.importorskip("xgboost")
    (X, y), first, second = table(), table(seed=1), table(seed=2)
    model = GradientBoostingRegressor(**SAME, **PLAIN, scoring=["rmse", "mae"]).fit(X, y, eval_set=[first, second])
    other = xgboost.XGBRegressor(
        n_estimators=ROUNDS, learning_rate=0.1, max_depth=3, reg_lambda=0, min_child_weight=0, base_score=float(y.mean()),
        tree_method="exact", eval_metric=["rmse", "mae"],
    ).fit(X, y, eval_set=[first, second], verbose=False)  # fmt: skip
    for name, curves in other.evals_result().items():
        for metric, curve in curves.items():
            np.testing.assert_allclose(model.evals_result_[name][metric], curve, rtol=1e-4)  # thresholds are halfway in both


@pytest.mark.parametrize("decay", [0.0, 0.9])
def test_leaves_from_a_new_target_are_those_of_lightgbm(decay):
    """For the same rows, since the two cut at other places between them. LightGBM has the start in the leaves of its first tree, and refits
    it with them, unshrunk: here both start from zero.
    """
    (X, y), (_, noise) = table(), table(seed=3)
    new = np.exp(y / 2) + noise
    y, new = y - y.mean(), new - new.mean()
    model, other = ours(X, y, min_samples_leaf=10), lightgbm_model(X, y, least=10, boost_from_average=False)
    theirs = other.refit(X, new, decay_rate=decay).predict(X)
    np.testing.assert_allclose(model.refit_leaves(X, new, decay_rate=decay).predict(X), theirs, atol=2e-5)


def test_dart_that_leaves_all_rounds_out_is_that_of_lightgbm_and_xgboost():
    """What is left out is drawn in each library by itself; where it is everything, all agree: XGBoost with a learning rate of one."""
    xgboost = pytest.importorskip("xgboost")
    X, y = table()
    y = y - y.mean()  # LightGBM has the start in its first tree, which is left out like others
    everything = {"boosting": "dart", "drop_rate": 1.0, "skip_drop": 0.0, "max_drop": None}
    model = ours(X, y, min_samples_leaf=10, **everything)
    theirs = lightgbm_model(
        X, y, 10, boosting="dart", drop_rate=1.0, skip_drop=0.0, max_drop=-1, uniform_drop=True, boost_from_average=False
    )
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), atol=2e-5)
    other = xgboost.XGBRegressor(
        n_estimators=ROUNDS, learning_rate=1.0, max_depth=3, reg_lambda=0, min_child_weight=0, base_score=float(y.mean()),
        tree_method="exact", booster="dart", rate_drop=1.0, skip_drop=0.0,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(ours(X, y, learning_rate=1.0, **everything).predict(X), other.predict(X), atol=5e-6)
