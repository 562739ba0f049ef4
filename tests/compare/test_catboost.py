"""Symmetric trees against CatBoost, where equality is fair: columns of two values, so that there is one way to cut each.

Leaves are gradient steps there, sum of residuals over rows and penalty, which for squared error are Newton steps; nothing is drawn and no
noise is added to scores. With weights CatBoost scales the penalty by the mean weight. It keeps leaf values in float64.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from woodwind import GradientBoostingRegressor

catboost = pytest.importorskip("catboost")

CLOSE = 1e-7
ROUNDS = 5


def table(columns, seed=0, n=160):
    """Coins, and a target in which every coin and pairs of them have effects of their own size, so that no two splits are alike."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (n, columns)).astype(float)
    y = x @ (2.0 ** -np.arange(columns)) + 0.3 * x[:, 0] * x[:, -1] + 0.1 * rng.normal(size=n)
    return x, y


def theirs(x, y, depth, boosting, weight=None, rounds=ROUNDS):
    model = catboost.CatBoostRegressor(
        iterations=rounds, depth=depth, learning_rate=0.3, l2_leaf_reg=3.0, boosting_type=boosting, bootstrap_type="No", random_strength=0,
        leaf_estimation_method="Gradient", leaf_estimation_iterations=1, score_function="L2", thread_count=1, verbose=0,
        allow_writing_files=False, random_seed=0,
    )  # fmt: skip
    return model.fit(x, y, sample_weight=weight).predict(x)


def ours(x, y, depth, boosting, weight=None, l2=3.0, rounds=ROUNDS):
    model = GradientBoostingRegressor(
        n_estimators=rounds, max_depth=depth, learning_rate=0.3, l2_regularization=l2, growth="symmetric", min_samples_leaf=1,
        min_hessian_leaf=0.0, boosting=boosting, subsample=1.0, max_features_tree=None, early_stopping=False, random_state=0,
    )  # fmt: skip
    return model.fit(x, y, sample_weight=weight).predict(x)


@pytest.mark.parametrize(("boosting", "columns"), [("plain", 1), ("plain", 2), ("plain", 3), ("ordered", 1), ("ordered", 2)])
def test_leaf_values_are_those_of_catboost(boosting, columns):
    """As deep as there are columns: then every tree parts all of them, in whatever order, and only values can differ.

    Of three columns CatBoost's ordered boosting leaves one out now and then, whose split is worth nothing to rows that come later.
    """
    x, y = table(columns)
    assert_allclose(ours(x, y, columns, boosting), theirs(x, y, columns, boosting.title()), atol=CLOSE)


def test_weights_scale_the_penalty_there():
    x, y = table(2)
    weight = np.random.default_rng(1).uniform(0.5, 3.0, len(y))
    found = ours(x, y, 2, "plain", weight, l2=3.0 * weight.mean())
    assert_allclose(found, theirs(x, y, 2, "Plain", weight), atol=CLOSE)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_splits_are_those_of_catboost_too(seed):
    """Fewer levels than columns: which ones are chosen, and for which round, is by the gain of squared error."""
    x, y = table(5, seed)
    assert_allclose(ours(x, y, 2, "plain"), theirs(x, y, 2, "Plain"), atol=CLOSE)
