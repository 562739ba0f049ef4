"""Natural-gradient boosting against ngboost, the reference implementation of Duan et al. 2020."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from woodwind import DistributionBoostingRegressor
from woodwind.distributions import (
    ExponentialDistribution,
    GammaDistribution,
    LaplaceDistribution,
    LogNormalDistribution,
    NormalDistribution,
    PoissonDistribution,
    WeibullDistribution,
)
from woodwind.distributions.natural import natural_gradient

ngboost = pytest.importorskip("ngboost")
distns = ngboost.distns

# Ours, theirs, and their scores from ours.
SAME = [
    (NormalDistribution(), distns.Normal, lambda raw: raw),
    (LogNormalDistribution(), distns.LogNormal, lambda raw: raw),
    (LaplaceDistribution(), distns.Laplace, lambda raw: raw),
    (ExponentialDistribution(), distns.Exponential, lambda raw: raw),
    (PoissonDistribution(), distns.Poisson, lambda raw: raw),
    # Theirs are log alpha and log beta, where the mean is alpha / beta.
    (GammaDistribution(), distns.Gamma, lambda raw: np.stack([raw[:, 1], raw[:, 1] - raw[:, 0]], axis=1)),
    # Theirs are log shape and log scale.
    (WeibullDistribution(), distns.Weibull, lambda raw: raw[:, ::-1]),
]


def theirs_of(kind, rule, raw, y):
    """Natural gradients of ngboost, (n, K)."""
    if hasattr(kind, "censored_scores"):
        kind = kind.uncensor(rule)
    return ngboost.manifold.manifold(rule, kind)(raw.T).grad(y, natural=True)


@pytest.mark.parametrize(("ours", "kind", "turned"), SAME, ids=lambda one: getattr(one, "__name__", repr(one)))
def test_natural_gradients_are_those_of_ngboost(ours, kind, turned):
    rng = np.random.default_rng(0)
    raw = rng.normal(0.0, 0.7, (200, ours.width))
    y = ours.sample((), raw, rng)
    found = natural_gradient(ours.gradient(y, raw), ours.information(raw))
    theirs = theirs_of(kind, ngboost.scores.LogScore, turned(raw), y)
    if kind is distns.Gamma:
        found = np.stack([found[:, 1], found[:, 1] - found[:, 0]], axis=1)
    if kind is distns.Weibull:
        found = found[:, ::-1]
    # ngboost adds 1e-5 to the metric of the log-normal distribution, and 1e-10 or so to logarithms of the gamma and the Weibull ones.
    digits = {distns.LogNormal: 1e-2, distns.Gamma: 1e-4, distns.Weibull: 1e-9}.get(kind, 1e-12)
    np.testing.assert_allclose(found, theirs, rtol=digits, atol=digits)


def test_natural_gradients_of_the_crps_are_those_of_ngboost_times_the_scale():
    """Its metric of the normal CRPS is the scale times that of the paper, 2 * integral of F' F'^T."""
    rng = np.random.default_rng(1)
    raw = rng.normal(0.0, 0.7, (100, 2))
    ours = NormalDistribution()
    y = ours.sample((), raw, rng)
    found = natural_gradient(ours.crps_gradient(y, raw), ours.crps_metric(raw))
    theirs = theirs_of(distns.Normal, ngboost.scores.CRPScore, raw, y)
    np.testing.assert_allclose(found, np.exp(raw[:, 1:]) * theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("natural", [True, False])
@pytest.mark.parametrize("name", ["normal", "laplace", "poisson"])
def test_twenty_rounds_with_the_same_trees_are_those_of_ngboost(name, natural):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + np.exp(0.4 * X[:, 1]) * rng.normal(size=300)
    if name == "poisson":
        y = rng.poisson(np.exp(0.5 * X[:, 0] + 1.0)).astype(np.float64)
    kind = {"normal": distns.Normal, "laplace": distns.Laplace, "poisson": distns.Poisson}[name]
    theirs = ngboost.NGBRegressor(
        Dist=kind, Base=DecisionTreeRegressor(max_depth=3), n_estimators=20, learning_rate=0.05, natural_gradient=natural, verbose=False
    ).fit(X, y)
    ours = DistributionBoostingRegressor(
        distribution=name, natural_gradient=natural, multi_output="one_per_parameter", n_estimators=20, learning_rate=0.05,
        line_search=True, max_bins=None, growth="level", max_depth=3, max_leaf_nodes=None, min_samples_leaf=1, min_hessian_leaf=0.0,
        l2_regularization=0.0, subsample=1.0, early_stopping=False, random_state=0,
    ).fit(X, y)  # fmt: skip
    # The starts differ in the last digits: ngboost asks SciPy's optimiser for some.
    found, expected = ours.predict_distribution(X).raw, theirs.pred_param(X)
    digits = 1e-7 if name == "poisson" else 1e-8
    np.testing.assert_allclose(found, expected, rtol=digits, atol=digits)
