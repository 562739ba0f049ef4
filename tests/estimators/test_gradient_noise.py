"""Noise on gradients as a user meets it: other trees, the same values for their leaves, and less over-fitting."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification, make_friedman1
from sklearn.metrics import log_loss

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from woodwind.tree import code_layouts as listing

QUICK = {"n_estimators": 6, "learning_rate": 0.3, "max_leaf_nodes": 8, "min_samples_leaf": 5, "early_stopping": False, "random_state": 0}
ONE_TREE = {**QUICK, "n_estimators": 1, "subsample": 1.0, "l2_regularization": 1.0, "max_features_tree": None}
ONE_PER_CLASS = {"multiclass": "one_per_class"}


def numbers(n=400, seed=0):
    return make_friedman1(n, n_features=6, noise=0.5, random_state=seed)


def classes(n=400, k=2, seed=0):
    return make_classification(n, n_features=8, n_informative=5, n_classes=k, random_state=seed)


def digest(model):
    return model.forest_.digest()


def leaf_steps(gradient, hessian, leaf, n_nodes):
    """-G / (H + 1), times the rate, of every node that rows end in."""
    sums = [np.bincount(leaf, values, n_nodes) for values in (gradient, hessian)]
    return -sums[0] / (sums[1] + 1.0) * QUICK["learning_rate"]


@pytest.mark.parametrize("options", [{}, {"growth": "level"}, {"growth": "symmetric", "max_depth": 4}, {"prune": True, "min_gain": 0.5}])
def test_leaves_are_exact_and_splits_are_not_those_without_noise(options):
    X, y = classes()
    model, plain = (GradientBoostingClassifier(**{**ONE_TREE, **options}, gradient_noise=share).fit(X, y) for share in (0.7, 0.0))
    assert digest(model) != digest(plain)
    p = y.mean()
    start = np.log(p / (1.0 - p))
    assert_steps(model.decision_function(X) - start, model.apply(X), p - y, np.full(len(y), p * (1.0 - p)))


def test_leaves_of_squared_error_and_of_weights_are_exact():
    X, y = numbers()
    weight = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    model = GradientBoostingRegressor(**ONE_TREE, gradient_noise=0.7).fit(X, y, sample_weight=weight)
    start = np.average(y, weights=weight)
    assert_steps(model.predict(X) - start, model.apply(X), weight * (start - y), weight)


def assert_steps(steps, leaf, gradient, hessian):
    """Every row has moved by the Newton step of its leaf, computed in floats."""
    leaf = np.asarray(leaf).reshape(-1)
    assert len(np.unique(leaf)) > 3
    wanted = leaf_steps(gradient, hessian, leaf, leaf.max() + 1)[leaf]
    np.testing.assert_allclose(steps, wanted, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("options", [{}, ONE_PER_CLASS], ids=["vector", "one per class"])
def test_leaves_of_several_classes_are_exact(options):
    X, y = classes(k=3)
    model, plain = (GradientBoostingClassifier(**ONE_TREE, **options, gradient_noise=share).fit(X, y) for share in (0.7, 0.0))
    assert digest(model) != digest(plain)
    p = np.bincount(y) / len(y)
    start, leaves = np.log(p) - np.log(p).mean(), np.asarray(model.apply(X)).reshape(len(y), -1)
    steps = model.decision_function(X) - start
    for k in range(3):
        # A step of one class alone is too long by K / (K - 1).
        hessian = np.full(len(y), p[k] * (1.0 - p[k]) * 1.5)
        leaf = leaves[:, k if options else 0]
        wanted = leaf_steps(p[k] - (y == k), hessian, leaf, leaf.max() + 1)[leaf]
        difference = steps[:, k] - wanted
        np.testing.assert_allclose(difference, difference[0], atol=1e-6)  # up to where the start has its middle
        assert steps[:, k].std() > 0.05


def test_leaves_of_absolute_error_are_medians():
    X, y = numbers()
    model = GradientBoostingRegressor(**ONE_TREE, loss="absolute_error", gradient_noise=0.7).fit(X, y)
    leaf, steps = np.asarray(model.apply(X)).reshape(-1), model.predict(X)
    start = np.median(y)
    for node in np.unique(leaf):
        own = np.sort(y[leaf == node] - start)
        np.testing.assert_allclose(steps[leaf == node], start + 0.3 * own[(len(own) - 1) // 2], rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "data", "options"),
    [
        (GradientBoostingClassifier, classes(60_000), {}),
        (GradientBoostingClassifier, classes(20_000, k=3), {}),
        (GradientBoostingClassifier, classes(20_000, k=3), ONE_PER_CLASS),
        (GradientBoostingRegressor, numbers(70_000), {"subsample": 0.5}),
    ],
    ids=["two classes", "three classes", "a tree for each class", "numbers"],
)
def test_the_same_bits_for_any_number_of_threads(kind, data, options):
    options = {**QUICK, "n_estimators": 4, "gradient_noise": 0.5, **options}
    assert len({digest(kind(n_jobs=jobs, **options).fit(*data)) for jobs in (1, 2, 3)}) == 1


def test_a_seed_repeats_the_noise_and_another_changes_it():
    X, y = classes()
    options = {**QUICK, "subsample": 1.0, "gradient_noise": 0.5}
    first, second, third = (GradientBoostingClassifier(**{**options, "random_state": seed}).fit(X, y) for seed in (0, 0, 1))
    assert digest(first) == digest(second) != digest(third)
    # Without noise nothing is drawn here, and the seed does not matter.
    plain = [GradientBoostingClassifier(**{**options, "gradient_noise": 0.0, "random_state": seed}).fit(X, y) for seed in (0, 1)]
    assert digest(plain[0]) == digest(plain[1])


@pytest.mark.parametrize("k", [2, 3])
def test_none_is_as_if_it_were_not_there(k):
    X, y = classes(k=k)
    models = [GradientBoostingClassifier(**QUICK, **given).fit(X, y) for given in ({}, {"gradient_noise": 0.0}, {"gradient_noise": 0})]
    assert len({digest(model) for model in models}) == 1


@pytest.mark.parametrize("options", [{}, {"subsample": 0.6}, {"bootstrap": True}])
@pytest.mark.parametrize("k", [2, 3])
def test_rows_as_lists_whole_rows_and_sparse_tables_give_one_model(monkeypatch, k, options):
    rng = np.random.default_rng(k)
    X = np.where(rng.random((1500, 20)) < 0.85, 0.0, rng.integers(1, 9, (1500, 20)))
    y = np.digitize(X[:, :4].sum(axis=1) + rng.normal(size=1500), [2.0, 4.0][: k - 1])
    found = set()
    for most in (0.4, -1.0):
        monkeypatch.setattr(listing, "MOST_LISTED", most)
        monkeypatch.setattr(listing, "_made", {})
        for given in (X, sparse.csr_array(X)):
            found.add(digest(GradientBoostingClassifier(**QUICK, gradient_noise=0.5, **options).fit(given, y)))
    assert len(found) == 1


def test_going_on_is_one_run():
    X, y = numbers()
    options = {**QUICK, "gradient_noise": 0.5}
    whole = GradientBoostingRegressor(**options).fit(X, y)
    parts = GradientBoostingRegressor(**{**options, "n_estimators": 3}, warm_start=True).fit(X, y)
    assert digest(parts.set_params(n_estimators=6).fit(X, y)) == digest(whole)


def test_constraints_hold():
    X, y = numbers()
    model = GradientBoostingRegressor(**{**QUICK, "n_estimators": 30}, gradient_noise=1.0, monotonic_cst=[0, 0, 0, 1, 0, -1]).fit(X, y)
    grid = np.linspace(0, 1, 40)
    for row in range(20):
        line = np.repeat(X[[row]], 40, axis=0)
        for column, sign in ((3, 1), (5, -1)):
            moved = line.copy()
            moved[:, column] = grid
            assert (sign * np.diff(model.predict(moved)) >= 0.0).all()


@pytest.mark.parametrize("share", [-0.1, float("nan"), float("inf"), 11.0, "0.5", None])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(ParameterError, match="gradient_noise must be"):
        GradientBoostingClassifier(gradient_noise=share).fit(*classes())


def test_without_bins_it_is_refused():
    with pytest.raises(ParameterError, match=r"gradient_noise=0.5 needs bins.*Set max_bins=255 or gradient_noise=0"):
        GradientBoostingRegressor(gradient_noise=0.5, max_bins=None).fit(*numbers())
    GradientBoostingRegressor(**QUICK, gradient_noise=0.0, max_bins=None).fit(*numbers())


def test_it_keeps_large_trees_on_few_rows_from_over_fitting():
    options = {"n_estimators": 60, "learning_rate": 0.1, "max_leaf_nodes": 31, "min_samples_leaf": 1, "min_hessian_leaf": 1.0}
    better = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(4000, 10))
        score = X[:, 0] + X[:, 1] * X[:, 2] + (X[:, 3] > 0.5) - 0.7 * abs(X[:, 4]) + 0.8 * rng.logistic(size=4000)
        y = score > np.median(score)
        losses = []
        for share in (0.0, 0.5):
            model = GradientBoostingClassifier(**options, subsample=1.0, early_stopping=False, random_state=seed, gradient_noise=share)
            losses.append(log_loss(y[800:], model.fit(X[:800], y[:800]).predict_proba(X[800:])))
        better.append(losses[0] - losses[1])
    assert min(better) > 0.0
    assert np.mean(better) > 0.01
