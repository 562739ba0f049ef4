"""Values, derivatives, starts and leaves equal scikit-learn's, where it has the same loss.

Equality is fair because the formulas are the same, dropped constants included. Medians of starts are those of scikit-learn without
weights: of an even number of rows the mean of the two in the middle. Other quantiles are the same where weights are given to
scikit-learn: without weights its losses interpolate between two targets. Leaves of its boosting are lower quantiles always.
"""

import numpy as np
import pytest
from sklearn._loss import loss as theirs
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.utils.stats import _weighted_percentile

from woodwind.losses import (
    Absolute,
    Exponential,
    Gamma,
    Huber,
    LogLoss,
    Multinomial,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
)
from woodwind.losses.refit import middle_quantile, weighted_quantile

PAIRS = [
    (Squared(), theirs.HalfSquaredError()),
    (Absolute(), theirs.AbsoluteError()),
    (Quantile(0.8), theirs.PinballLoss(quantile=0.8)),
    (Huber(delta=0.7), theirs.HuberLoss(delta=0.7)),
    (Poisson(), theirs.HalfPoissonLoss()),
    (Gamma(), theirs.HalfGammaLoss()),
    (Tweedie(1.3), theirs.HalfTweedieLoss(power=1.3)),
    (LogLoss(), theirs.HalfBinomialLoss()),
    (Exponential(), theirs.ExponentialLoss()),
    (Multinomial(4), theirs.HalfMultinomialLoss(n_classes=4)),
]
every_pair = pytest.mark.parametrize(("ours", "their"), PAIRS, ids=[repr(ours) for ours, _ in PAIRS])


def sample(loss, n=500):
    rng = np.random.default_rng(0)
    if isinstance(loss, Multinomial):
        y = rng.integers(0, 4, n).astype(np.float64)
    elif isinstance(loss, (LogLoss, Exponential)):
        y = rng.integers(0, 2, n).astype(np.float64)
    else:
        y = rng.gamma(1.5, size=n) + 0.1
    return y, rng.normal(size=n if loss.width == 1 else (n, loss.width)), rng.exponential(size=n)


@every_pair
def test_mean_loss_is_equal(ours, their):
    y, raw, weight = sample(ours)
    assert ours.value(y, raw) == pytest.approx(their(y, raw), rel=1e-13)
    assert ours.value(y, raw, weight) == pytest.approx(their(y, raw, weight), rel=1e-13)


@every_pair
def test_derivatives_are_equal(ours, their):
    y, raw, weight = sample(ours)
    for w in (None, weight):
        gradient, hessian = ours.derivatives(y, raw, w)
        their_gradient, their_hessian = their.gradient_hessian(y, raw, w)
        np.testing.assert_allclose(gradient, their_gradient, rtol=1e-12, atol=1e-14)
        if not isinstance(ours, Huber):  # theirs is 0 in the linear parts
            np.testing.assert_allclose(hessian, np.broadcast_to(their_hessian, hessian.shape), rtol=1e-12, atol=1e-15)


@every_pair
def test_start_is_equal(ours, their):
    y, _, weight = sample(ours)
    if isinstance(ours, Huber):
        # Their boosting starts Huber at the median as well; only the loss by itself adds a step.
        their = theirs.AbsoluteError()
    np.testing.assert_allclose(ours.start(y, weight), np.atleast_1d(their.fit_intercept_only(y, weight)), rtol=1e-13, atol=1e-15)
    for n in (len(y), len(y) - 1):
        plain = _weighted_percentile(y[:n], np.ones(n), 80, average=True) if isinstance(ours, Quantile) else their.fit_intercept_only(y[:n])
        np.testing.assert_allclose(ours.start(y[:n]), np.atleast_1d(plain), rtol=1e-13, atol=1e-15)


@every_pair
def test_predictions_are_equal(ours, their):
    _, raw, _ = sample(ours)
    their_predictions = their.predict_proba(raw) if hasattr(their, "predict_proba") else their.link.inverse(raw)
    np.testing.assert_allclose(ours.predict(raw), their_predictions, rtol=1e-13)


@pytest.mark.parametrize("level", [0.05, 0.5, 0.9])
def test_quantile_equals_their_weighted_percentile(level):
    rng = np.random.default_rng(1)
    for n in (1, 2, 10, 501):
        values = np.round(rng.normal(size=n), 1)
        for weight in (rng.exponential(size=n), rng.integers(1, 4, n).astype(np.float64), np.ones(n)):
            assert weighted_quantile(values, weight, level) == _weighted_percentile(values, weight, 100 * level)
        assert weighted_quantile(values, None, level) == _weighted_percentile(values, np.ones(n), 100 * level)


@pytest.mark.parametrize("level", [0.05, 0.25, 0.5, 0.9])
def test_the_start_is_the_mean_of_two_values_where_the_weight_falls_between_them(level):
    rng = np.random.default_rng(1)
    for n in (1, 2, 10, 20, 501):
        values = np.round(rng.normal(size=n), 1)
        times = rng.integers(0, 4, n)
        times[0] = 1
        for weight in (rng.exponential(size=n), times.astype(np.float64), np.ones(n)):
            assert middle_quantile(values, weight, level) == pytest.approx(_weighted_percentile(values, weight, 100 * level, average=True))
        # A weight of two is a row given twice, a weight of zero a row left out.
        assert middle_quantile(np.repeat(values, times), None, level) == middle_quantile(values, times.astype(np.float64), level)
    assert middle_quantile(np.array([1.7e308, -1.7e308, 1.7e308, -1.7e308]), None, 0.5) == 0.0


def leaf_rows(leaf):
    """Rows sorted by leaf, and where each leaf begins and ends."""
    rows = np.argsort(leaf, kind="stable").astype(np.int32)
    names, begins = np.unique(leaf[rows], return_index=True)
    return names, rows, begins.astype(np.int64), np.append(begins[1:], leaf.shape[0]).astype(np.int64)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("loss", "name", "alpha"),
    [(Absolute(), "absolute_error", 0.9), (Quantile(0.8), "quantile", 0.8), (Huber(quantile=0.75), "huber", 0.75)],
    ids=["absolute", "quantile", "huber"],
)
def test_refitted_leaves_equal_those_of_their_boosting_over_ten_rounds(loss, name, alpha, weighted):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 4)).astype(np.float32)
    y = X[:, 0] * 3 + np.abs(X[:, 1]) + rng.standard_t(2, size=600)
    weight = rng.exponential(size=600) if weighted else np.ones(600)
    model = GradientBoostingRegressor(loss=name, alpha=alpha, n_estimators=10, max_depth=4, random_state=0)
    our_weight = weight if weighted else None
    model.fit(X, y, sample_weight=our_weight)
    raw = np.full(600, model.init_.predict(X[:1])[0])
    if weighted or not isinstance(loss, Quantile):
        assert loss.start(y, our_weight)[0] == pytest.approx(raw[0], rel=1e-15)
    for tree in model.estimators_[:, 0]:
        resolved = loss.resolved(y, raw, our_weight)
        names, rows, begins, ends = leaf_rows(tree.apply(X))
        values = resolved.refits[0].values(rows, begins, ends, y - raw, our_weight, threads=2)
        np.testing.assert_allclose(values, tree.tree_.value[names, 0, 0], rtol=1e-12, atol=1e-12)
        raw += 0.1 * tree.tree_.value[:, 0, 0][tree.apply(X)]


@pytest.mark.parametrize("name", ["log_loss", "exponential"])
def test_newton_leaves_equal_those_of_their_boosting(name):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=500) > 0.3).astype(np.float64)
    loss = LogLoss() if name == "log_loss" else Exponential()
    model = GradientBoostingClassifier(loss=name, n_estimators=1, max_depth=3, random_state=0).fit(X, y)
    raw = np.full(500, loss.start(y)[0])
    gradient, hessian = loss.derivatives(y, raw)
    tree = model.estimators_[0, 0]
    leaf = tree.apply(X)
    for node in np.unique(leaf):
        newton = -gradient[leaf == node].sum() / hessian[leaf == node].sum()
        assert newton == pytest.approx(tree.tree_.value[node, 0, 0], rel=1e-12)
    raw += 0.1 * tree.tree_.value[:, 0, 0][leaf]
    np.testing.assert_allclose(loss.predict(raw), model.predict_proba(X), rtol=1e-12)
