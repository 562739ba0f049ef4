"""What holds the values of leaves back, which nodes may be split, and steps of the first order: through the estimators."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_friedman1

import woodwind
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError

PLAIN = {"n_estimators": 8, "learning_rate": 0.5, "max_leaf_nodes": 8, "min_samples_leaf": 2, "subsample": 1.0, "early_stopping": False}
X6, Y6 = [[1], [2], [3], [4], [5], [6]], [1, 2, 3, 7, 8, 9]
STUMP = {"n_estimators": 1, "learning_rate": 0.5, "max_leaf_nodes": 2, "min_samples_leaf": 1, "subsample": 1.0, "early_stopping": False}
WAYS = ({}, {"growth": "level"}, {"max_bins": None}, {"l1_regularization": 0.5})


def numbers(n=300, seed=0):
    return make_friedman1(n, n_features=6, noise=0.5, random_state=seed)


def classes(n=400, k=3, seed=0):
    return make_classification(n, n_features=8, n_informative=5, n_classes=k, random_state=seed)


def steps(model):
    """The values of all leaves before the learning rate."""
    forest = model.forest_
    return forest.value[forest.feature < 0] / model.learning_rate_


# ------------------------------------------------------------------------------------------------------------------- max_delta_step


@pytest.mark.parametrize("way", [*WAYS[:3], {"growth": "symmetric", "max_leaf_nodes": None, "max_depth": 1}])
def test_a_step_is_cut_off_and_the_gain_is_that_of_the_shorter_one(way):
    """G = 9 and -9, H = 3, lambda = 1: steps of 9/4 become 1, and each side drops by 2 * 9 * 1 - 4 * 1."""
    model = GradientBoostingRegressor(max_delta_step=1.0, **{**STUMP, **way}).fit(X6, Y6)
    assert_array_equal(model.predict([[1], [6]]), [4.5, 5.5])
    assert model.forest_.gain.max() == pytest.approx(28.0, rel=1e-4)


@pytest.mark.parametrize("way", [*WAYS, {"growth": "symmetric"}, {"growth": "symmetric", "l1_regularization": 0.5}])
def test_no_step_is_longer_than_the_longest(way):
    X, y = numbers()
    model = GradientBoostingRegressor(max_delta_step=0.3, **{**PLAIN, **way}).fit(X, y)
    assert np.abs(steps(model)).max() == pytest.approx(0.3)
    assert np.abs(steps(model.refit_leaves(X, y))).max() == pytest.approx(0.3)


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "poisson"])
@pytest.mark.parametrize("early", [False, "auto", True])
def test_with_any_loss_and_after_leaves_are_learned_again(loss, early):
    X, y = numbers()
    model = GradientBoostingRegressor(loss=loss, max_delta_step=0.02, **{**PLAIN, "early_stopping": early}).fit(X, y)
    members = model.n_trees_per_iteration_
    assert 0.02 * 0.999 < np.abs(steps(model)).max() * members < 0.02 * 1.001


def test_several_classes_have_trees_of_their_own_where_steps_are_cut_off():
    X, y = classes()
    model = GradientBoostingClassifier(max_delta_step=0.5, **PLAIN).fit(X, y)
    assert set(model.forest_.output.tolist()) == {0, 1, 2}
    assert np.abs(steps(model)).max() == pytest.approx(0.5)


@pytest.mark.parametrize("way", WAYS)
def test_a_limit_that_no_step_reaches_changes_nothing(way):
    X, y = numbers()
    free, wide = (GradientBoostingRegressor(max_delta_step=d, **{**PLAIN, **way}).fit(X, y).predict(X) for d in (None, 1e6))
    assert_allclose(wide, free, rtol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------- path_smooth


def smoothed(model, X, y, smooth):
    """The values of all nodes of the first tree, before the learning rate, node by node from sums of rows."""
    forest = model.forest_
    rows = {0: np.arange(len(y))}
    gradient, out = y.mean() - y, np.zeros(forest.roots[1])
    for node in range(forest.roots[1]):
        value = -gradient[rows[node]].sum() / (len(rows[node]) + model.l2_regularization)
        parent = np.flatnonzero((forest.child == node) | (forest.child + 1 == node)) if node else []
        parent = [one for one in parent if forest.feature[one] >= 0]
        out[node] = (len(rows[node]) * value + smooth * out[parent[0]]) / (len(rows[node]) + smooth) if parent else value
        if forest.feature[node] >= 0:
            left = X[rows[node], forest.feature[node]] <= forest.threshold[node]
            rows[forest.child[node]], rows[forest.child[node] + 1] = rows[node][left], rows[node][~left]
    return out


@pytest.mark.parametrize("way", WAYS[:3])
@pytest.mark.parametrize("smooth", [0.5, 20.0])
def test_values_are_drawn_towards_those_of_the_node_above(way, smooth):
    X, y = numbers()
    model = GradientBoostingRegressor(path_smooth=smooth, **{**PLAIN, "n_estimators": 1, **way}).fit(X, y)
    leaf = model.forest_.feature < 0
    assert leaf.sum() == 8
    assert_allclose(steps(model)[:, 0], smoothed(model, X, y, smooth)[leaf], atol=1e-7)


def test_smoothing_by_hand():
    """The root is at 0 and sides have three rows: with smooth = 3 half of 9/4 stays, and each side drops by 18 * 1.125 - 4 * 1.125**2."""
    for bins in (255, None):
        model = GradientBoostingRegressor(path_smooth=3.0, max_bins=bins, **STUMP).fit(X6, Y6)
        assert_array_equal(model.predict([[1], [6]]), [5 - 0.5625, 5 + 0.5625])
        assert model.forest_.gain.max() == pytest.approx(2 * (18 * 1.125 - 4 * 1.125**2), rel=1e-4)


@pytest.mark.parametrize("early", [False, "auto", True])
def test_leaves_learned_again_are_smoothed_too(early):
    X, y = numbers()
    model = GradientBoostingRegressor(path_smooth=9.0, random_state=0, **{**PLAIN, "early_stopping": early}).fit(X, y)
    again = model.refit_leaves(X, y)
    assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)
    free = GradientBoostingRegressor(random_state=0, **{**PLAIN, "early_stopping": early}).fit(X, y)
    assert np.abs(again.predict(X) - free.predict(X)).max() > 0.1


def test_much_smoothing_leaves_the_start_alone():
    X, y = classes(k=2)
    model = GradientBoostingClassifier(path_smooth=1e9, **PLAIN).fit(X, y)
    assert np.ptp(model.decision_function(X)) < 1e-4


def test_smoothed_medians_are_refused():
    X, y = numbers()
    with pytest.raises(ParameterError, match=r"path_smooth=2.0 needs leaf values that are steps.*Set leaf_estimation='gradient'"):
        GradientBoostingRegressor(loss="absolute_error", path_smooth=2.0).fit(X, y)
    GradientBoostingRegressor(loss="absolute_error", leaf_estimation="gradient", path_smooth=2.0, **PLAIN).fit(X, y)


# ---------------------------------------------------------------------------------------------------------------- min_samples_split


@pytest.mark.parametrize("way", [*WAYS, {"multiclass": "vector"}])
def test_nodes_of_few_rows_are_not_split(way):
    X, y = classes() if "multiclass" in way else numbers()
    kind = GradientBoostingClassifier if "multiclass" in way else GradientBoostingRegressor
    options = {**PLAIN, "max_leaf_nodes": None, "min_samples_leaf": 1, "n_estimators": 3, **way}
    model = kind(min_samples_split=60, **options).fit(X, y)
    cover, split = model.forest_.cover, model.forest_.feature >= 0
    assert cover[split].min() >= 60
    assert cover[~split].min() < 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"growth": "symmetric", "min_samples_split": 5}, "min_samples_split=5 is not for growth='symmetric'"),
        ({"growth": "symmetric", "path_smooth": 5.0}, "path_smooth=5.0 is not for growth='symmetric'"),
        ({"min_samples_split": 1}, "min_samples_split"),
        ({"max_delta_step": 0.0}, "max_delta_step"),
        ({"max_delta_step": float("nan")}, "max_delta_step"),
        ({"path_smooth": -1.0}, "path_smooth"),
        ({"path_smooth": float("inf")}, "path_smooth"),
        ({"leaf_estimation": "exact"}, "leaf_estimation"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    X, y = numbers(40)
    with pytest.raises(ParameterError, match=message):
        GradientBoostingRegressor(**options).fit(X, y)


# ------------------------------------------------------------------------------------------------------------------ leaf_estimation


def test_first_order_leaves_by_hand():
    """p = 1/2: gradients are 1/2 and -1/2 in two rows each, and a leaf is 1 / (2 + 1), not 1 / (1/2 + 1)."""
    model = GradientBoostingClassifier(leaf_estimation="gradient", **STUMP).fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    assert_allclose(model.decision_function([[1], [4]]), [-1 / 6, 1 / 6], rtol=1e-9)
    assert model.forest_.gain.max() == pytest.approx(2 / 3, rel=1e-3)


@pytest.mark.parametrize("way", WAYS[:3])
def test_of_squared_error_both_orders_are_the_same(way):
    X, y = numbers()
    models = [GradientBoostingRegressor(leaf_estimation=how, **{**PLAIN, **way}).fit(X, y) for how in ("newton", "gradient")]
    assert_array_equal(models[0].predict(X), models[1].predict(X))


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "poisson", "quantile"])
def test_a_step_is_the_mean_of_the_gradients(loss):
    X, y = numbers()
    model = GradientBoostingRegressor(loss=loss, leaf_estimation="gradient", **{**PLAIN, "n_estimators": 1}).fit(X, y)
    raw = np.full(len(y), model.forest_.start[0])
    gradient, _ = model.loss_.derivatives(y, raw)
    leaf = model.apply(X).reshape(-1)
    for one in np.unique(leaf):
        rows = leaf == one
        expected = -gradient[rows].sum() / (rows.sum() + model.l2_regularization)
        assert model.forest_.value[one, 0] / 0.5 == pytest.approx(expected, abs=1e-7)
    assert_allclose(model.refit_leaves(X, y).predict(X), model.predict(X), rtol=1e-6)


@pytest.mark.parametrize("multiclass", ["vector", "one_per_class"])
def test_of_several_classes_too(multiclass):
    X, y = classes()
    model = GradientBoostingClassifier(leaf_estimation="gradient", multiclass=multiclass, **{**PLAIN, "n_estimators": 1}).fit(X, y)
    start = np.exp(model.forest_.start) / np.exp(model.forest_.start).sum()
    residual = np.eye(3)[y] - start
    leaf = model.apply(X).reshape(len(y), -1)
    for k in range(3):
        at = leaf[:, k if leaf.shape[1] > 1 else 0]
        for one in np.unique(at):
            found = model.forest_.value[model.forest_.roots[k] + one if leaf.shape[1] > 1 else one, 0 if leaf.shape[1] > 1 else k]
            rows = at == one
            assert found / 0.5 == pytest.approx(residual[rows, k].sum() / (rows.sum() + 1.0), abs=1e-6)


def test_a_weight_of_two_is_a_row_given_twice_for_steps_of_the_first_order():
    X, y = classes(k=2)
    times = np.random.default_rng(0).integers(1, 4, len(y))
    options = {**PLAIN, "min_samples_leaf": 1, "leaf_estimation": "gradient", "max_delta_step": 0.4}
    weighted = GradientBoostingClassifier(**options).fit(X, y, sample_weight=times)
    repeated = GradientBoostingClassifier(**options).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


# ------------------------------------------------------------------------------------------- monotonic constraints of several classes


@pytest.mark.parametrize("way", [{}, {"growth": "level"}, {"max_bins": None, "multiclass": "one_per_class"}])
def test_the_score_of_every_class_keeps_its_direction(way):
    """As in XGBoost: constraints hold for each score, before scores are compared."""
    X, y = classes(seed=1)
    model = GradientBoostingClassifier(monotonic_cst={0: 1, 3: -1}, **{**PLAIN, "n_estimators": 20, **way}).fit(X, y)
    for column, sign in ((0, 1), (3, -1)):
        grid = np.repeat(X[:50], 30, axis=0)
        grid[:, column] = np.tile(np.linspace(X[:, column].min(), X[:, column].max(), 30), 50)
        scores = model.decision_function(grid).reshape(50, 30, 3)
        assert (sign * np.diff(scores, axis=1) >= 0.0).all()
        assert np.ptp(scores, axis=1).max() > 0.1


def test_constraints_that_say_nothing_leave_one_tree_for_all_classes():
    X, y = classes()
    model = GradientBoostingClassifier(monotonic_cst=[0] * 8, **PLAIN).fit(X, y)
    assert set(model.forest_.output.tolist()) == {-1}


# --------------------------------------------------------------------------------------------------------------------------- files


def test_options_of_leaves_go_through_a_file(tmp_path):
    X, y = classes()
    options = {"max_delta_step": 0.4, "path_smooth": 3.0, "min_samples_split": 20, "leaf_estimation": "gradient"}
    model = GradientBoostingClassifier(warm_start=True, **options, **PLAIN).fit(X, y)
    model.save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww")
    assert {name: getattr(loaded, name) for name in options} == options
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    more = [one.set_params(n_estimators=12).fit(X, y).decision_function(X) for one in (loaded, model)]
    assert_array_equal(*more)


# ------------------------------------------------------------------------------------------------------------- rankers, distributions


@pytest.mark.parametrize(
    "option", [{"leaf_estimation": "gradient"}, {"linear_leaves": True}, {"n_parallel_trees": 2}, {"path_smooth": 4.0}]
)
def test_rankers_have_the_options_too_and_their_leaves_are_learned_again(option):
    X, _ = numbers(200)
    relevance = np.clip(np.round(4 * X[:, 0] + 2 * X[:, 1] - 1), 0, 4)
    group = np.repeat(np.arange(20), 10)
    model = woodwind.GradientBoostingRanker(random_state=0, **{**PLAIN, "min_samples_leaf": 5}, **option).fit(X, relevance, group=group)
    assert_allclose(model.refit_leaves(X, relevance, group=group).predict(X), model.predict(X), atol=1e-6)


@pytest.mark.parametrize(
    "option", [{"leaf_estimation": "gradient"}, {"linear_leaves": True}, {"max_delta_step": 1.0}, {"path_smooth": 4.0}]
)
def test_parameters_of_distributions_have_leaves_of_their_own(option):
    X, y = numbers(60)
    with pytest.raises(ParameterError, match="is not for parameters of distributions"):
        woodwind.DistributionBoostingRegressor(**option).fit(X, y)


@pytest.mark.parametrize("option", [{"linear_leaves": True}, {"n_parallel_trees": 2}, {"path_smooth": 4.0}])
def test_ordered_boosting_refuses_what_it_cannot_do(option):
    X, y = numbers(60)
    with pytest.raises(ParameterError, match=r"is not for boosting='ordered'. Set \w+="):
        GradientBoostingRegressor(boosting="ordered", **option).fit(X, y)
