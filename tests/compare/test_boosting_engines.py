"""The histogram engine against other libraries, where equality is fair.

Every column has fewer distinct values than bins, so that all libraries see the same candidates; features are continuous, so that no two
splits are equally good; predictions are those of the training rows, since thresholds between the same two values differ.
Gains are computed from 15 bits of a gradient: two splits that are closer than that may change positions, which happens in one of some ten
trainings like these. The seeds are such that it does not. Then leaves come from sums of 30 bits, and differ from the other library's by
its own rounding: XGBoost computes in float32, LightGBM and scikit-learn's histograms keep derivatives in float32.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference.boosted import boosted
from woodwind.data.binning.quantile_sketch import QuantileSketch
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.kernels.tree.layout import STOP
from woodwind.losses.classification import LogLoss, Multinomial
from woodwind.losses.regression import Poisson, Squared
from woodwind.tree.settings import TreeSettings

ROUNDS, RATE = 30, 0.1
EXACT = TreeSettings(max_leaves=8, max_depth=3, min_rows=1, min_hessian=0.0, l2=0.0)
SEEDS = [0, 2, 5]
SINGLE = 1e-6  # scores of about 3 in float32, over 30 rounds
DOUBLE = 1e-7  # derivatives in float32, sums in float64


def table(seed, missing=0.0):
    """250 rows of singles, and a target that is a single too."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(250, 4)).astype(np.float32)
    y = x[:, 0] + np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 3] + 0.3 * rng.normal(size=250)
    x[rng.random(x.shape) < missing] = np.nan
    return x, y.astype(np.float32).astype(np.float64)


def classes(y):
    return (y > 0.3).astype(np.float64)


def ours(x, y, loss, rate=RATE, rounds=ROUNDS, weight=None, one_per_class=False, **options):
    return boosted(x, y, BoostPlan(loss, replace(EXACT, **options), rate, one_per_class=one_per_class), rounds, weight)


def xgboost_of(x, y, rounds=ROUNDS, weight=None, **options):
    """A model of XGBoost that searches every split, and its scores."""
    xgboost = pytest.importorskip("xgboost")
    data = xgboost.DMatrix(x, y, weight=weight)
    plain = {"max_depth": 3, "eta": RATE, "lambda": 0, "min_child_weight": 0, "tree_method": "exact", "nthread": 1}
    model = xgboost.train({**plain, **options}, data, rounds)
    return model, model.predict(data, output_margin=True)


def lightgbm_of(x, y, rounds=ROUNDS, **options):
    """A model of LightGBM that has a bin for every value, and its scores."""
    lightgbm = pytest.importorskip("lightgbm")
    bins = {"max_bin": 1000, "min_data_in_bin": 1, "feature_pre_filter": False, "verbose": -1}
    limits = {"num_leaves": 8, "max_depth": 3, "learning_rate": RATE, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0}
    options = {**bins, **limits, "num_threads": 1, "deterministic": True, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own arguments
        model = lightgbm.train(options, lightgbm.Dataset(x, y, params=bins), rounds)
        return model, model.predict(x, raw_score=True)


def histogram_boosting(kind, **options):
    """A model of scikit-learn's histogram boosting without any limit but depth."""
    ensemble = pytest.importorskip("sklearn.ensemble")
    limits = {"max_depth": 3, "max_leaf_nodes": None, "min_samples_leaf": 1}
    plain = {"learning_rate": RATE, "max_iter": ROUNDS, "early_stopping": False, **limits}
    return getattr(ensemble, f"HistGradientBoosting{kind}")(**{**plain, **options})


# ------------------------------------------------------------------------------------------------- one set of splits, five engines


@pytest.mark.parametrize("seed", SEEDS)
def test_squared_error_agrees_with_gradient_boosting_of_scikit_learn(seed):
    ensemble = pytest.importorskip("sklearn.ensemble")
    x, y = table(seed)
    model = ensemble.GradientBoostingRegressor(learning_rate=RATE, max_depth=3, n_estimators=ROUNDS, random_state=0).fit(x, y)
    # Exact splits in float64. Our gradients are integers in steps of max|g| * 2**-30: the mean of a leaf is off by at most half
    # a step, about 2e-9 at first and less as residuals shrink; 30 rounds of a tenth add up to less than 1e-8.
    assert_allclose(ours(x, y, Squared()).booster.raw, model.predict(x), atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_squared_error_agrees_with_xgboost(seed):
    x, y = table(seed)
    scores = ours(x, y, Squared()).booster.raw
    for method in ("exact", "hist", "approx"):
        _model, theirs = xgboost_of(x, y, objective="reg:squarederror", base_score=float(y.mean()), tree_method=method, max_bin=1000)
        assert_allclose(scores, theirs, atol=SINGLE)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("candidates", ["global", "local"])
def test_candidates_of_all_values_agree_with_xgboost(candidates, seed):
    x, y = table(seed, 0.1)
    tree = replace(EXACT, candidates=candidates, candidate_bins=255)
    done = boosted(x, classes(y), BoostPlan(LogLoss(), tree, RATE), ROUNDS, max_bins=None)
    share = float(classes(y).mean())
    _model, theirs = xgboost_of(x, classes(y), objective="binary:logistic", base_score=share, tree_method="approx", max_bin=1000)
    assert_allclose(done.booster.raw, theirs, atol=SINGLE)


def test_gaps_between_candidates_are_no_wider_than_those_of_xgboost():
    """Its sketch of 300 rows for 16 bins leaves up to 0.07 of the weight between two cuts, and a sixteenth is 0.0625."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(300, 3)), rng.integers(1, 20, 300)
    data = xgboost.QuantileDMatrix(x, rng.random(300), weight=weight, max_bin=16)
    starts, cuts = data.get_quantile_cut()
    for feature in range(3):

        def widest(ends, feature=feature):
            inside = np.searchsorted(np.sort(ends), x[:, feature], side="left")
            return np.bincount(inside, weight).max() / weight.sum()

        theirs = widest(cuts[starts[feature] : starts[feature + 1]].astype(np.float64))
        mine = widest(QuantileSketch.of(x[:, feature], weight).candidates(1 / 16))
        assert mine <= 1 / 16 + weight.max() / weight.sum()
        assert mine <= theirs + weight.max() / weight.sum()


@pytest.mark.parametrize("seed", SEEDS)
def test_squared_error_agrees_with_lightgbm_and_histogram_boosting(seed):
    x, y = table(seed)
    scores = ours(x, y, Squared()).booster.raw
    assert_allclose(scores, lightgbm_of(x, y, objective="regression")[1], atol=DOUBLE)
    assert_allclose(scores, histogram_boosting("Regressor").fit(x, y).predict(x), atol=DOUBLE)


@pytest.mark.parametrize("seed", SEEDS)
def test_leaf_by_leaf_growth_agrees(seed):
    x, y = table(seed)
    scores = ours(x, y, Squared(), max_leaves=12, max_depth=None).booster.raw
    assert_allclose(scores, lightgbm_of(x, y, objective="regression", num_leaves=12, max_depth=-1)[1], atol=DOUBLE)
    assert_allclose(scores, histogram_boosting("Regressor", max_leaf_nodes=12, max_depth=None).fit(x, y).predict(x), atol=DOUBLE)


@pytest.mark.parametrize("seed", SEEDS)
def test_log_loss_agrees(seed):
    x, y = table(seed)
    y = classes(y)
    scores = ours(x, y, LogLoss()).booster.raw
    assert_allclose(scores, xgboost_of(x, y, objective="binary:logistic", base_score=float(y.mean()))[1], atol=2 * SINGLE)
    assert_allclose(scores, histogram_boosting("Classifier").fit(x, y).decision_function(x), atol=DOUBLE)
    # LightGBM guesses the rows of a bin from its hessian, so that leaves of few rows differ: both ask for a hessian instead.
    limited = ours(x, y, LogLoss(), min_hessian=4.0).booster.raw
    assert_allclose(limited, lightgbm_of(x, y, objective="binary", min_data_in_leaf=0, min_sum_hessian_in_leaf=4.0)[1], atol=DOUBLE)


@pytest.mark.parametrize("seed", [2, 4, 5])
def test_poisson_loss_agrees_with_histogram_boosting(seed):
    x, y = table(seed)
    y = np.floor(np.exp(y / 2))
    theirs = histogram_boosting("Regressor", loss="poisson", min_samples_leaf=5).fit(x, y).predict(x)
    assert_allclose(ours(x, y, Poisson(), min_rows=5).booster.raw, np.log(theirs), atol=DOUBLE)


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_agree(seed):
    ensemble = pytest.importorskip("sklearn.ensemble")
    x, y = table(seed)
    weight = np.random.default_rng(seed).uniform(0.2, 2.0, 250)
    scores = ours(x, y, Squared(), weight=weight).booster.raw
    model = ensemble.GradientBoostingRegressor(learning_rate=RATE, max_depth=3, n_estimators=ROUNDS, random_state=0)
    assert_allclose(scores, model.fit(x, y, weight).predict(x), atol=1e-8)
    assert_allclose(scores, histogram_boosting("Regressor").fit(x, y, weight).predict(x), atol=2 * DOUBLE)


# ----------------------------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize("seed", SEEDS)
def test_missing_values_take_the_better_side(seed):
    x, y = table(seed, missing=0.15)
    scores = ours(x, y, Squared()).booster.raw
    assert_allclose(scores, xgboost_of(x, y, objective="reg:squarederror", base_score=float(y.mean()))[1], atol=SINGLE)
    assert_allclose(scores, lightgbm_of(x, y, objective="regression")[1], atol=DOUBLE)
    assert_allclose(scores, histogram_boosting("Regressor").fit(x, y).predict(x), atol=DOUBLE)


def test_the_side_of_missing_values_is_that_of_xgboost_and_an_empty_column_is_never_chosen():
    x, y = table(0, missing=0.3)
    x[:, 3] = np.nan
    done = ours(x, y, Squared(), rounds=1, max_depth=2)
    frame = xgboost_of(x, y, 1, objective="reg:squarederror", base_score=float(y.mean()), max_depth=2)[0].trees_to_dataframe()
    tree, inner = done.trees[0], frame[frame.Feature != "Leaf"]
    order = np.flatnonzero(tree.feature >= 0)
    assert 3 not in tree.feature
    assert_array_equal(tree.feature[order], [int(name[1:]) for name in inner.Feature])
    met = tree.missing[order] != STOP  # a split that met none has no side here
    assert met.sum() >= 2
    assert_array_equal(tree.missing[order][met], (inner.Missing == inner.No)[met].astype(int))


@pytest.mark.parametrize("seed", [0, 3, 4, 5])
def test_l1_and_l2_agree(seed):
    x, y = table(seed)
    scores = ours(x, y, Squared(), l1=1.5, l2=2.0).booster.raw
    options = {"objective": "reg:squarederror", "base_score": float(y.mean()), "alpha": 1.5, "lambda": 2.0}
    assert_allclose(scores, xgboost_of(x, y, **options)[1], atol=SINGLE)
    assert_allclose(scores, lightgbm_of(x, y, objective="regression", lambda_l1=1.5, lambda_l2=2.0)[1], atol=DOUBLE)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_least_hessian_is_min_child_weight(seed):
    x, y = table(seed)
    y = classes(y)
    options = {"objective": "binary:logistic", "base_score": float(y.mean()), "min_child_weight": 3.0, "lambda": 1.0}
    assert_allclose(ours(x, y, LogLoss(), min_hessian=3.0, l2=1.0).booster.raw, xgboost_of(x, y, **options)[1], atol=SINGLE)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gamma", [2.0, 5.0])
def test_pruning_by_the_least_gain_is_gamma(seed, gamma):
    """On the gain without the factor 1/2: the sizes of the trees tell."""
    x, y = table(seed)
    done = ours(x, y, Squared(), prune=True, min_gain=gamma)
    model, theirs = xgboost_of(x, y, objective="reg:squarederror", base_score=float(y.mean()), gamma=gamma)
    assert_allclose(done.booster.raw, theirs, atol=SINGLE)
    sizes = model.trees_to_dataframe().groupby("Tree").size()
    assert_array_equal([len(tree.feature) for tree in done.trees], sizes)
    assert sizes.min() < 15


@pytest.mark.parametrize("seed", SEEDS)
def test_monotonic_constraints_agree_with_xgboost(seed):
    x, y = table(seed)
    scores = ours(x, y, Squared(), monotonic=np.array([1, -1, 0, 1])).booster.raw
    options = {"objective": "reg:squarederror", "base_score": float(y.mean()), "monotone_constraints": "(1,-1,0,1)"}
    # Bounds of values are kept in float32 there, and from 15 bits here.
    assert_allclose(scores, xgboost_of(x, y, **options)[1], atol=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_interaction_constraints_agree(seed):
    x, y = table(seed)
    scores = ours(x, y, Squared(), groups=((0, 1), (1, 2, 3))).booster.raw
    options = {"objective": "reg:squarederror", "base_score": float(y.mean()), "interaction_constraints": "[[0,1],[1,2,3]]"}
    assert_allclose(scores, xgboost_of(x, y, **options)[1], atol=SINGLE)
    assert_allclose(scores, histogram_boosting("Regressor", interaction_cst=[{0, 1}, {1, 2, 3}]).fit(x, y).predict(x), atol=DOUBLE)


# -------------------------------------------------------------------------------------------------------------------- single trees


@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_the_first_tree_has_the_gains_covers_and_leaves_of_xgboost(l2):
    """Gain without 1/2, cover the sum of hessians, leaf -eta G / (H + lambda)."""
    x, y = table(1)
    y = classes(y)
    done = ours(x, y, LogLoss(), rounds=1, l2=l2)
    model = xgboost_of(x, y, 1, objective="binary:logistic", base_score=float(y.mean()), **{"lambda": l2})[0]
    frame = model.trees_to_dataframe()
    theirs_inner, theirs_leaves = frame[frame.Feature != "Leaf"], frame[frame.Feature == "Leaf"]
    tree, p = done.trees[0], y.mean()
    inner, leaf = tree.feature >= 0, done.booster.leaf_of(tree)
    # Ours are computed from 15 bits of a gradient and 12 of a hessian.
    assert_allclose(np.sort(tree.gain[inner]), np.sort(theirs_inner.Gain), rtol=1e-3)
    assert_allclose(np.sort(tree.cover[~inner] * p * (1 - p)), np.sort(theirs_leaves.Cover), rtol=1e-6)
    assert_allclose(np.sort(tree.value[~inner, 0]), np.sort(theirs_leaves.Gain), atol=1e-7)
    for node in np.flatnonzero(~inner):
        rows = leaf == node
        expected = -RATE * (p - y[rows]).sum() / (p * (1 - p) * rows.sum() + l2)
        assert tree.value[node, 0] == pytest.approx(expected, abs=1e-8)


def test_leaves_are_split_in_the_order_of_lightgbm():
    x, y = table(1)
    tree = ours(x, y, Squared(), rounds=1, max_leaves=15, max_depth=None).trees[0]
    frame = lightgbm_of(x, y, 1, objective="regression", num_leaves=15, max_depth=-1)[0].trees_to_dataframe()
    inner = frame[frame.split_feature.notna()]
    numbers = inner.node_index.str.extract(r"S(\d+)")[0].astype(int).to_numpy()
    theirs = inner.split_gain.to_numpy()[np.argsort(numbers)]
    nodes = np.flatnonzero(tree.feature >= 0)
    assert_allclose(tree.gain[nodes[np.argsort(tree.child[nodes])]], theirs, rtol=1e-3)


# ------------------------------------------------------------------------------------------------------------------------- softmax


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_the_step_of_a_class_follows_friedman(seed):
    """One tree per class: ours and LightGBM's hessian is K / (K - 1) p (1 - p), XGBoost's 2 p (1 - p), scikit-learn's p (1 - p).

    Without a penalty they are steps of different lengths in the same trees: the learning rate makes them equal.
    """
    x, y = table(seed)
    y = np.digitize(y, [-0.5, 0.8]).astype(np.int32)
    limits = {"one_per_class": True, "min_hessian": 2.0, "max_depth": 2}

    def centred(scores):
        return scores - scores.mean(axis=1, keepdims=True)

    # LightGBM's least hessian is of its own hessian.
    scores = centred(ours(x, y, Multinomial(3), **limits).booster.raw)
    options = {"objective": "multiclass", "num_class": 3, "max_depth": 2, "min_data_in_leaf": 0, "min_sum_hessian_in_leaf": 3.0}
    assert_allclose(scores, centred(lightgbm_of(x, y, **options)[1]), atol=DOUBLE)
    scores = centred(ours(x, y, Multinomial(3), RATE * 1.5, **{**limits, "min_hessian": 0.0, "min_rows": 12}).booster.raw)
    model = histogram_boosting("Classifier", max_depth=2, min_samples_leaf=12).fit(x, y)
    assert_allclose(scores, centred(np.log(model.predict_proba(x))), atol=10 * DOUBLE)


def test_the_first_step_of_xgboosts_softmax_is_three_quarters_of_ours():
    x, y = table(0)
    y = np.digitize(y, [-0.5, 0.8]).astype(np.int32)
    loss = Multinomial(3)
    done = ours(x, y, loss, rounds=0, one_per_class=True, max_depth=2, min_rows=9)
    done.booster.raw[:] = 0.0  # as XGBoost begins
    next(iter(done.booster.rounds(1)))
    # Nine rows of a hessian of 4/9 each.
    options = {"objective": "multi:softprob", "num_class": 3, "base_score": 0.5, "max_depth": 2, "min_child_weight": 3.99}
    theirs = xgboost_of(x, y, 1, **options)[1] - 0.5
    assert_allclose(0.75 * done.booster.raw, theirs, atol=SINGLE)
