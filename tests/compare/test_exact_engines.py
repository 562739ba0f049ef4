"""The exact engine in float64 against scikit-learn's gradient boosting, to 1e-12, and against a single tree of XGBoost, in its singles.

Equality is fair for training rows of continuous features: no two candidates tie in large nodes, and in small ones those that tie part the
rows alike. Once this engine is equal, the others of Woodwind are compared with it.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import GradientBoostingClassifier as TheirClassifier
from sklearn.ensemble import GradientBoostingRegressor as TheirRegressor

from woodwind import DecisionTreeRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.data.binning.ranks import Ranks
from woodwind.data.tables.schema import Schema
from woodwind.kernels.tree.layout import LEFT
from woodwind.losses import Absolute, Huber, Quantile
from woodwind.tree.exact_grower import ExactGrower, thresholds
from woodwind.tree.grown_tree import newton_values, within_bounds
from woodwind.tree.settings import TreeSettings

ROUNDS, RATE = 30, 0.1
EQUAL = {"rtol": 0, "atol": 1e-12}


def table(seed, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=n)


def boosted(X, y, start, residual_of, leaf_of, weight=None, **limits):
    """Boosting by hand: a tree on residuals, then a value for each leaf from the rows in it."""
    raw = np.full(len(y), start)
    stages = []
    for _ in range(ROUNDS):
        tree = DecisionTreeRegressor(**limits).fit(X, residual_of(y, raw), weight)
        leaves = tree.apply(X)
        values = {leaf: leaf_of(y, raw, leaves == leaf) for leaf in np.unique(leaves)}
        raw = raw + RATE * np.array([values[leaf] for leaf in leaves])
        stages.append(raw)
    return stages


def theirs(X, y, loss, model=TheirRegressor, weight=None, **limits):
    with warnings.catch_warnings():
        # Comparing needs squared errors, the default here before they were the default there.
        warnings.simplefilter("ignore", FutureWarning)
        model = model(loss=loss, n_estimators=ROUNDS, learning_rate=RATE, criterion="squared_error", random_state=0, **limits)
        return model.fit(X, y, weight)


LIMITS = [{"max_depth": 3}, {"max_leaf_nodes": 8, "max_depth": None}, {"max_depth": 4, "min_samples_leaf": 7}]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_boosting_squared_errors_by_hand_equals_scikit_learn(seed, limits):
    X, y = table(seed)
    ours = boosted(X, y, y.mean(), lambda y, raw: y - raw, lambda y, raw, here: (y[here] - raw[here]).mean(), **limits)
    other = theirs(X, y, "squared_error", **limits)
    for mine, stage in zip(ours, other.staged_predict(X), strict=True):
        assert_allclose(mine, stage, **EQUAL)


LOSSES = [
    (Absolute(), "absolute_error", {}),
    (Quantile(0.8), "quantile", {"alpha": 0.8}),
    (Huber(quantile=0.9), "huber", {"alpha": 0.9}),
]


@pytest.mark.parametrize(("loss", "name", "options"), LOSSES, ids=str)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_boosting_with_refitted_leaves_equals_scikit_learn(seed, loss, name, options):
    """With weights: residuals of absolute and quantile loss have two values only, and splits of rows that weigh the same would tie.

    Shallow, and with seeds to suit: scikit-learn takes the rounding errors of nodes in which all residuals are equal for variance,
    and splits them.
    """
    X, y = table(seed)
    weight = np.random.default_rng(seed).integers(500, 2000, len(y)) / 1024

    def residual_of(y, raw):
        return -loss.resolved(y, raw, weight).derivatives(y, raw)[0]

    def leaf_of(y, raw, here):
        rows = np.flatnonzero(here).astype(np.int32)
        return loss.resolved(y, raw, weight).refits[0].values(rows, np.array([0]), np.array([len(rows)]), y - raw, weight)[0]

    ours = boosted(X, y, loss.start(y, weight)[0], residual_of, leaf_of, weight, max_depth=2)
    other = theirs(X, y, name, weight=weight, max_depth=2, **options)
    for mine, stage in zip(ours, other.staged_predict(X), strict=True):
        assert_allclose(mine, stage, **EQUAL)


@pytest.mark.parametrize("seed", [0, 1])
def test_boosting_two_classes_with_newton_leaves_equals_scikit_learn(seed):
    X, y = table(seed)
    y = (y > 0.3).astype(np.float64)

    def share(raw):
        return 1.0 / (1.0 + np.exp(-raw))

    def leaf_of(y, raw, here):
        p = share(raw[here])
        return (y[here] - p).sum() / (p * (1.0 - p)).sum()

    ours = boosted(X, y, np.log(y.mean() / (1 - y.mean())), lambda y, raw: y - share(raw), leaf_of, max_depth=3)
    other = theirs(X, y, "log_loss", TheirClassifier, max_depth=3)
    for mine, stage in zip(ours, other.staged_decision_function(X), strict=True):
        assert_allclose(mine, stage[:, 0], **EQUAL)


# What makes our boosting the same as theirs: no penalty, no limit of ours, every row.
PLAIN = {
    "max_bins": None, "n_estimators": ROUNDS, "learning_rate": RATE, "l2_regularization": 0.0, "min_hessian_leaf": 0.0,
    "min_samples_leaf": 1, "max_leaf_nodes": None, "growth": "level", "subsample": 1.0, "early_stopping": False,
}  # fmt: skip


@pytest.mark.parametrize("limits", [*LIMITS, {"max_depth": 3, "min_samples_leaf": 20}], ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_regressor_without_bins_equals_scikit_learn(seed, limits):
    X, y = table(seed)
    growth = "best_first" if "max_leaf_nodes" in limits else "level"
    ours = GradientBoostingRegressor(**{**PLAIN, **limits, "growth": growth}).fit(X, y)
    other = theirs(X, y, "squared_error", **limits)
    for mine, stage in zip(ours.staged_predict(X), other.staged_predict(X), strict=True):
        assert_allclose(mine, stage, **EQUAL)
    if limits.get("min_samples_leaf") == 20:
        # Where leaves are large, nothing ties, and rows that training never saw are also predicted alike.
        fresh = table(seed + 50)[0]
        assert_allclose(ours.predict(fresh), other.predict(fresh), **EQUAL)


@pytest.mark.parametrize(("loss", "name", "options"), LOSSES, ids=str)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_regressor_without_bins_refits_its_leaves_as_scikit_learn(seed, loss, name, options):
    X, y = table(seed)
    weight = np.random.default_rng(seed).integers(500, 2000, len(y)) / 1024
    ours = GradientBoostingRegressor(**PLAIN, max_depth=2, loss=loss).fit(X, y, weight)
    other = theirs(X, y, name, weight=weight, max_depth=2, **options)
    for mine, stage in zip(ours.staged_predict(X), other.staged_predict(X), strict=True):
        assert_allclose(mine, stage, **EQUAL)


@pytest.mark.parametrize("n", [399, 400])
@pytest.mark.parametrize(("loss", "name", "options"), [LOSSES[0], LOSSES[2]], ids=str)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_stumps_without_bins_and_without_weights_equal_scikit_learn(seed, loss, name, options, n):
    """Also for an even number of rows, whose median lies between two. Stumps: splits of deeper trees on residuals of two values tie."""
    X, y = table(seed, n)
    ours = GradientBoostingRegressor(**PLAIN, max_depth=1, loss=loss).fit(X, y)
    other = theirs(X, y, name, max_depth=1, **options)
    for mine, stage in zip(ours.staged_predict(X), other.staged_predict(X), strict=True):
        assert_allclose(mine, stage, **EQUAL)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_first_round_of_the_classifier_without_bins_equals_scikit_learn(seed, n_classes):
    """Later rounds differ: scikit-learn scores splits by gradients alone, and we by hessians also, which are equal at the start only."""
    X, y = table(seed)
    y = np.digitize(y, [0.3] if n_classes == 2 else [-0.5, 0.7])
    ours = GradientBoostingClassifier(**{**PLAIN, "n_estimators": 1}, max_depth=3, multiclass="one_per_class").fit(X, y)
    other = theirs(X, y, "log_loss", TheirClassifier, max_depth=3)
    assert_allclose(ours.predict_proba(X), next(other.staged_predict_proba(X)), **EQUAL)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_classifier_without_bins_agrees_with_exact_xgboost(missing):
    """Ten rounds of second order; XGBoost computes in singles."""
    xgboost = pytest.importorskip("xgboost")
    X, y = table(5)
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    y = (y > 0.3).astype(int)
    options = {**PLAIN, "n_estimators": 10, "max_depth": 3, "l2_regularization": 1.0, "min_samples_leaf": 1}
    ours = GradientBoostingClassifier(**options).fit(X, y)
    start = {"base_score": float(y.mean()), "objective": "binary:logistic"}
    plain = {"tree_method": "exact", "max_depth": 3, "eta": RATE, "nthread": 1, "lambda": 1.0, "min_child_weight": 0.0}
    data = xgboost.DMatrix(X, y)
    other = xgboost.train({**plain, **start}, data, 10)
    assert_allclose(ours.decision_function(X), other.predict(data, output_margin=True), rtol=0, atol=1e-5)


def single_tree(X, gradient, hessian, **options):
    ranks = Ranks.of(Schema.learn(X)[1])
    free = {"growth": "level", "max_leaves": 1 << 40, "min_rows": 1, "min_hessian": 0.0, "l2": 1.0}
    settings = TreeSettings(**{**free, "max_depth": 3, **options})
    tree = ExactGrower(ranks, settings).grow_from(gradient, hessian, 0)
    return tree, thresholds(tree, ranks)


@pytest.mark.parametrize("options", [{}, {"l2": 5.0}, {"min_hessian": 10.0}, {"monotonic": np.array([1, -1, 0, 0])}], ids=str)
@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_single_tree_has_the_leaves_and_gains_of_xgboost(missing, logistic, options):
    """Leaf -eta G / (H + lambda) and gain without the factor 1/2; XGBoost computes in singles."""
    xgboost = pytest.importorskip("xgboost")
    X, y = table(3)
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    y = (y > 0.3).astype(np.float64) if logistic else y.astype(np.float32).astype(np.float64)
    gradient, hessian = (0.5 - y, np.full(len(y), 0.25)) if logistic else (-y, np.ones(len(y)))
    tree, cut = single_tree(X, gradient, hessian, **options)
    l2 = options.get("l2", 1.0)
    plain = {"tree_method": "exact", "max_depth": 3, "eta": 1.0, "nthread": 1, "lambda": l2}
    plain["objective"], plain["base_score"] = ("binary:logistic", 0.5) if logistic else ("reg:squarederror", 0.0)
    plain["min_child_weight"] = options.get("min_hessian", 0.0)
    plain["monotone_constraints"] = tuple(options.get("monotonic", np.zeros(4, np.int64)).tolist())
    data = xgboost.DMatrix(X, y)
    model = xgboost.train(plain, data, 1)
    values = within_bounds(tree, newton_values(tree.gradient, tree.hessian, 0.0, l2))
    assert_allclose(values[tree.leaf_of_row], model.predict(data, output_margin=True), rtol=0, atol=3e-6)
    frame = model.trees_to_dataframe()
    inner = frame[frame.Feature != "Leaf"]
    assert len(inner) == (tree.feature >= 0).sum()
    assert_allclose(np.sort(tree.gain[tree.feature >= 0]), np.sort(inner.Gain), rtol=2e-5, atol=1e-4)
    root = inner[inner.Node == 0].iloc[0]
    assert root.Feature == f"f{tree.feature[0]}"
    assert cut[0] == pytest.approx(root.Split, abs=1e-6)
    if missing > 0.0:
        assert (root.Missing == root.Yes) == (tree.missing[0] == LEFT)


def test_the_l1_penalty_of_leaves_is_that_of_xgboost():
    """In XGBoost's own leaves: there the gains of splits leave the penalty itself out, so that other splits may be chosen."""
    xgboost = pytest.importorskip("xgboost")
    X, y = table(4)
    data = xgboost.DMatrix(X, y)
    options = {"tree_method": "exact", "max_depth": 3, "eta": 1.0, "nthread": 1, "lambda": 2.0, "alpha": 3.0, "base_score": 0.0}
    model = xgboost.train(options, data, 1)
    leaves = model.predict(data, pred_leaf=True).astype(int)
    gradient = np.bincount(leaves, -y)
    values = newton_values(gradient, np.bincount(leaves).astype(np.float64), 3.0, 2.0)
    assert_allclose(values[leaves], model.predict(data, output_margin=True), rtol=0, atol=3e-6)
