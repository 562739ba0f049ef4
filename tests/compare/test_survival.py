"""Survival boosting against XGBoost: the same trees by the same derivatives."""

import numpy as np
import pytest

from woodwind import GradientBoostingSurvivalAnalysis

xgboost = pytest.importorskip("xgboost")


def patients(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(np.float64)
    time = rng.weibull(1.5, n) * np.exp(1.0 - 0.8 * X[:, 0] + 0.4 * X[:, 1])
    end = rng.exponential(4.0, n)
    event = time <= end
    seen = np.minimum(time, end).astype(np.float32).astype(np.float64)
    return X, np.column_stack([seen, np.where(event, seen, np.inf)]), event


SETTINGS = {"eta": 0.3, "max_depth": 3, "tree_method": "exact", "nthread": 1, "min_child_weight": 0.0, "lambda": 1.0}


def agree(ours, theirs):
    """But for a row or two that stand next to a threshold, which XGBoost has in float32."""
    assert (np.abs(ours - theirs) < 1e-5).mean() > 0.99


def test_trees_of_cox_are_those_of_xgboost():
    X, y, event = patients()
    data = xgboost.DMatrix(X, np.where(event, y[:, 0], -y[:, 0]))
    theirs = xgboost.train({**SETTINGS, "objective": "survival:cox", "base_score": 1.0}, data, 5).predict(data, output_margin=True)
    ours = GradientBoostingSurvivalAnalysis.like("xgboost", objective="survival:cox", n_estimators=5, **SETTINGS).fit(X, y).predict(X)
    agree(ours - np.median(ours), theirs - np.median(theirs))


@pytest.mark.parametrize(("distribution", "rounds"), [("normal", 5), ("logistic", 5), ("extreme", 1)])
def test_trees_of_failure_times_are_those_of_xgboost(distribution, rounds):
    """XGBoost holds derivatives to 15, which no row of these times has in these rounds."""
    X, y, _ = patients()
    y /= 20.0 if distribution == "extreme" else 1.0
    y[:40, 0] = 0.0  # on the left
    y[:40, 1] = y[:40, 1].clip(max=10.0)
    y[40:60, 1] = y[40:60, 0] * 1.5
    data = xgboost.DMatrix(X)
    data.set_float_info("label_lower_bound", y[:, 0])
    data.set_float_info("label_upper_bound", y[:, 1])
    settings = {**SETTINGS, "objective": "survival:aft", "aft_loss_distribution": distribution, "aft_loss_distribution_scale": 0.8}
    theirs = xgboost.train({**settings, "base_score": 1.0}, data, rounds).predict(data, output_margin=True)
    ours = GradientBoostingSurvivalAnalysis.like("xgboost", n_estimators=rounds, base_score=1.0, **settings)
    found = ours.set_params(init=0.0).fit(X, y)._raw(X)
    agree(found, theirs)
