"""woodwind.translate: a whole dictionary of another library's parameters."""

import numpy as np
import pytest

import woodwind
from tests.params.test_aliases import DOCUMENTED
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError, losses, translate
from woodwind.params.aliases import index
from woodwind.params.check import check

KINDS = {"classification": GradientBoostingClassifier, "regression": GradientBoostingRegressor}

CASES = [
    ("lightgbm", {"num_leaves": 63}, {"max_leaf_nodes": 63}),
    ("lightgbm", {"max_depth": -1}, {"max_depth": None}),
    ("xgboost", {"max_depth": 0, "max_leaves": 0}, {"max_depth": None, "max_leaf_nodes": None}),
    ("lightgbm", {"scale_pos_weight": 3}, {"class_weight": {0: 1, 1: 3}}),
    ("xgboost", {"scale_pos_weight": 1}, {"class_weight": None}),
    ("catboost", {"class_weights": [1, 4]}, {"class_weight": {0: 1, 1: 4}}),
    ("catboost", {"auto_class_weights": "Balanced"}, {"class_weight": "balanced"}),
    ("xgboost", {"early_stopping_rounds": 50}, {"early_stopping": True, "n_iter_no_change": 50}),
    ("xgboost", {"early_stopping_rounds": None}, {"early_stopping": False}),
    ("catboost", {"od_type": "Iter", "od_wait": 20}, {"early_stopping": True, "n_iter_no_change": 20}),
    ("sklearn", {"early_stopping": False, "n_iter_no_change": 10}, {"early_stopping": False, "n_iter_no_change": 10}),
    ("sklearn", {"n_estimators": 9, "n_iter_no_change": 5}, {"n_estimators": 9, "n_iter_no_change": 5, "early_stopping": True}),
    ("sklearn", {"max_iter": 200, "scoring": "loss"}, {"n_estimators": 200, "scoring": None}),
    ("lightgbm", {"bagging_fraction": 0.5, "bagging_freq": 1}, {"subsample": 0.5}),
    ("lightgbm", {"bagging_fraction": 0.5}, {"subsample": 1.0}),
    ("xgboost", {"subsample": 0.5, "colsample_bytree": 1}, {"subsample": 0.5, "max_features_tree": 1.0}),
    ("xgboost", {"tree_method": "exact"}, {"max_bins": None}),
    ("xgboost", {"tree_method": "approx", "sketch_eps": 0.03}, {"candidates": "global", "sketch_eps": 0.03}),
    ("xgboost", {"tree_method": "hist", "max_bin": 256}, {"max_bins": 255}),
    ("catboost", {"border_count": 32}, {"max_bins": 33}),
    ("catboost", {"grow_policy": "SymmetricTree", "depth": 6}, {"growth": "symmetric", "max_depth": 6}),
    ("xgboost", {"max_depth": 6}, {"max_depth": 6, "max_leaf_nodes": None}),
    ("xgboost", {"max_depth": 6, "max_leaves": 20}, {"max_depth": 6, "max_leaf_nodes": 20}),
    ("lightgbm", {"max_depth": 6}, {"max_depth": 6}),
    ("xgboost", {"grow_policy": "lossguide"}, {"growth": "best_first"}),
    ("xgboost", {"alpha": 0.5, "lambda": 2}, {"l1_regularization": 0.5, "l2_regularization": 2}),
    ("lightgbm", {"objective": "quantile", "alpha": 0.2}, {"loss": losses.Quantile(0.2)}),
    ("lightgbm", {"objective": "quantile"}, {"loss": losses.Quantile(0.9)}),
    ("lightgbm", {"objective": "huber"}, {"loss": losses.Huber(delta=0.9)}),
    ("catboost", {"loss_function": "Quantile:alpha=0.3"}, {"loss": losses.Quantile(0.3)}),
    ("catboost", {"loss_function": "Tweedie:variance_power=1.2"}, {"loss": losses.Tweedie(1.2)}),
    ("xgboost", {"objective": "reg:quantileerror", "quantile_alpha": 0.7}, {"loss": losses.Quantile(0.7)}),
    ("xgboost", {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.9]}, {"loss": losses.Quantiles((0.1, 0.9))}),
    ("catboost", {"loss_function": "MultiQuantile:alpha=0.1,0.9"}, {"loss": losses.Quantiles((0.1, 0.9))}),
    ("xgboost", {"objective": "reg:tweedie", "tweedie_variance_power": 1.3}, {"loss": losses.Tweedie(1.3)}),
    ("sklearn", {"loss": "huber", "alpha": 0.8}, {"loss": losses.Huber(quantile=0.8)}),
    (
        "xgboost",
        {"objective": "multi:softprob", "eval_metric": ["merror", "mlogloss"]},
        {"loss": "log_loss", "scoring": ["log_loss", "error_rate"]},
    ),
    ("lightgbm", {"metric": "auc,binary_logloss"}, {"scoring": ["auc", "log_loss"]}),
    ("xgboost", {"monotone_constraints": "(1,-1,0)"}, {"monotonic_cst": [1, -1, 0]}),
    ("catboost", {"monotone_constraints": "a:1,b:-1"}, {"monotonic_cst": {"a": 1, "b": -1}}),
    ("xgboost", {"interaction_constraints": "[[0, 1], [2]]"}, {"interaction_cst": [[0, 1], [2]]}),
    ("lightgbm", {"interaction_constraints": "[0,1],[2]"}, {"interaction_cst": [[0, 1], [2]]}),
    ("lightgbm", {"categorical_feature": "name:a,b"}, {"categorical_features": ["a", "b"]}),
    ("lightgbm", {"verbosity": -1, "n_jobs": 0}, {"verbose": 0, "n_jobs": None}),
    ("catboost", {"boosting_type": "Ordered"}, {"boosting": "ordered"}),
    ("xgboost", {"verbosity": 1, "nthread": 2}, {"verbose": 0, "n_jobs": 2}),
]


@pytest.mark.parametrize(("library", "theirs", "ours"), CASES, ids=[f"{library}-{'-'.join(theirs)}" for library, theirs, _ in CASES])
def test_values_are_translated(library, theirs, ours):
    found = translate(library, theirs)
    assert found.params == ours
    assert [type(found.params[name]) for name in ours] == [type(value) for value in ours.values()]  # 1 is a count where 1.0 is a share
    task = "regression" if isinstance(found.params.get("loss"), losses.Loss) else "classification"
    check(KINDS[task](**found.params))


@pytest.mark.parametrize(
    ("library", "theirs", "words"),
    [
        ("xgboost", {"booster": "gblinear"}, "'plain', 'dart' or 'ordered' here"),
        ("xgboost", {"device": "cuda"}, "works on the CPU"),
        ("lightgbm", {"bagging_fraction": 0.5}, "Without bagging_freq LightGBM draws no rows"),
        ("catboost", {"random_strength": 1}, "gradient_noise"),
        ("xgboost", {"objective": "rank:ndcg"}, "no loss like 'rank:ndcg'"),
        ("xgboost", {"objective": "reg:quantileerror"}, "Give one level"),
        ("catboost", {"loss_function": "Quantile:alpha=7"}, "must lie between 0 and 1"),
        ("xgboost", {"eval_metric": "aucpr"}, "The nearest is 'average_precision'"),
        ("xgboost", {"quantile_alpha": 0.5}, "none was given"),
        ("xgboost", {"monotone_constraints": "(up)"}, "could not be read"),
        ("lightgbm", {"num_leafs": 3}, "no parameter of this name that is known here. Did you mean 'num_leaf'?"),
        ("lightgbm", {"objective": lambda y, p: p}, "an object with the methods"),
    ],
)
def test_what_has_no_counterpart_gets_a_note(library, theirs, words):
    found = translate(library, theirs)
    assert set(found.notes) == set(theirs)
    assert words in next(iter(found.notes.values()))


@pytest.mark.parametrize("theirs", [{"booster": "gbtree"}, {"device": "cpu"}, {"tree_method": "hist"}])
def test_what_is_done_anyway_needs_no_word(theirs):
    assert translate("xgboost", theirs) == ({}, {})


@pytest.mark.parametrize("library", DOCUMENTED)
def test_no_parameter_is_dropped_in_silence(library):
    """Each of them becomes one of ours, or has a note, for a value that is nobody's default."""
    for name in DOCUMENTED[library].split():
        found = translate(library, {name: 7, "objective": "quantile"} if name in ("alpha", "quantile") else {name: 7})
        assert found.params or found.notes or name in ("early_stopping", "multi_strategy", "tree_method"), name


def test_the_task_decides_what_is_left_out():
    theirs = {"objective": "mse", "scale_pos_weight": 2, "metric": "auc"}
    found = translate("lightgbm", theirs)
    assert found.params == {"loss": "squared_error"}
    assert found.notes["scale_pos_weight"] == "GradientBoostingRegressor has no class_weight: {0: 1, 1: 2} was left out."
    assert found.notes["metric"] == "'auc' is not for regression: it was left out."
    found = translate("lightgbm", theirs, task="binary")
    assert found.params == {"class_weight": {0: 1, 1: 2}, "scoring": "auc"}
    assert found.notes["objective"] == "'squared_error' is for regression, and the task is 'binary': it was left out."


def test_wrong_calls_are_answered():
    with pytest.raises(ParameterError, match=r"library must be one of 'xgboost', .*Did you mean 'lightgbm'\?"):
        translate("lightgmb", {})
    with pytest.raises(ParameterError, match="must be a dict of names and values, but list came"):
        translate("xgboost", [])
    with pytest.raises(ParameterError, match="task must be None or one of"):
        translate("xgboost", {}, task="ranking")


def test_a_translation_can_be_printed_and_used():
    found = woodwind.translate("LightGBM", {"num_leaves": 7, "n_estimators": 3, "gpu_use_dp": True})
    assert str(found) == "max_leaf_nodes=7\nn_estimators=3\n# gpu_use_dp: Woodwind works on the CPU."
    rows = np.random.default_rng(0).normal(size=(50, 2))
    assert GradientBoostingRegressor(**found.params).fit(rows, rows[:, 0]).n_iter_ <= 3
    assert found.params is found[0]
    assert "gpu_use_dp" in index()
