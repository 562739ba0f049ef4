"""Distributions of targets that are known within bounds: likelihoods, starts, models, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import woodwind
from woodwind import DistributionBoostingRegressor, GradientBoostingSurvivalAnalysis, ParameterError
from woodwind.base.errors import TargetError
from woodwind.distributions import NormalDistribution, WeibullDistribution
from woodwind.distributions.base import differences
from woodwind.distributions.censored import CensoredDistribution
from woodwind.distributions.named import NAMED

FIXED = {"n_estimators": 30, "learning_rate": 0.1, "max_leaf_nodes": 6, "min_samples_leaf": 10, "early_stopping": False, "random_state": 0}
INF = np.inf


def bounds_for(name, n=60):
    """Targets of every kind of knowledge, within the support of a distribution."""
    rng = np.random.default_rng(0)
    y = rng.uniform(0.2, 0.9, n) if name == "beta" else rng.integers(1, 6, n).astype(float)
    wide = 0.05 if name == "beta" else 1.0
    bounds = np.column_stack([y, y])
    bounds[::4, 1] = INF
    bounds[1::4, 0] = -INF
    bounds[2::4, 1] += wide
    return bounds


@pytest.mark.parametrize("name", NAMED)
def test_gradients_belong_to_likelihoods_and_the_start_has_none(name):
    family, y = CensoredDistribution(NAMED[name]()), bounds_for(name)
    raw = np.tile(family.of.start(family.middle(y)), (len(y), 1)) + 0.1
    assert_allclose(family.gradient(y, raw), differences(lambda some: -family.log_density(y, some), raw), rtol=1e-4, atol=1e-5)
    assert np.isfinite(family.log_density(y, raw)).all()
    start = family.start(y)
    at_start = family.gradient(y, np.tile(start, (len(y), 1))).mean(axis=0)
    bound = (np.abs(start) > 15.0) | (start <= family.lowest(y))  # a scale may run away where few rows tell it
    # Of Student's t the start has degrees of freedom at their upper end, where steps of all three no longer improve.
    assert (np.abs(at_start)[~bound] < (0.1 if name == "student_t" else 2e-3)).all()


@pytest.mark.parametrize("name", NAMED)
def test_what_is_above_and_what_is_below_make_one(name):
    family, y = NAMED[name](), bounds_for(name)
    y = y[np.isfinite(y).all(axis=1), 0]
    raw = np.tile(family.start(y), (len(y), 1))
    assert_allclose(family.cdf(y, raw) + family.sf(y, raw), 1.0, rtol=1e-12)


def test_a_case_by_hand():
    """Normal, mean 0 and deviation 1: known at 1; above 1; below 1; between 0 and 1."""
    y, raw = np.array([[1.0, 1.0], [1.0, INF], [-INF, 1.0], [0.0, 1.0]]), np.zeros((4, 2))
    expected = [stats.norm.logpdf(1.0), stats.norm.logsf(1.0), stats.norm.logcdf(1.0), np.log(stats.norm.cdf(1.0) - 0.5)]
    assert_allclose(CensoredDistribution(NormalDistribution()).log_density(y, raw), expected, rtol=1e-12)
    far = CensoredDistribution(NormalDistribution()).log_density(np.array([[20.0, INF], [20.0, 21.0]]), np.zeros((2, 2)))
    assert_allclose(far, [stats.norm.logsf(20.0)] * 2, rtol=1e-9)


def tobit(n=1500, seed=0):
    """A target that is not seen above 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=n)
    return X, y, np.column_stack([np.minimum(y, 1.0), np.where(y > 1.0, INF, y)])


def test_censored_targets_are_learned_beyond_where_they_end():
    X, y, bounds = tobit()
    new = X[:, 0] > 1.2
    naive = DistributionBoostingRegressor(**FIXED).fit(X, np.minimum(y, 1.0)).predict(X)
    found = DistributionBoostingRegressor(**FIXED).fit(X, bounds)
    assert naive[new].mean() < 1.0
    assert abs(found.predict(X)[new].mean() - y[new].mean()) < 0.35 * abs(naive[new].mean() - y[new].mean())
    assert found.distribution_ == NormalDistribution()
    assert 0.4 < np.median(found.predict_distribution(X).std()) < 0.65


def test_events_with_times_are_failure_times_of_weibull():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 2))
    time, end = rng.weibull(1.5, 1500) * np.exp(1.0 + X[:, 0]), rng.exponential(6.0, 1500)
    y = np.array(list(zip(time <= end, np.minimum(time, end), strict=True)), dtype=[("event", bool), ("time", float)])
    found = DistributionBoostingRegressor(distribution="weibull", **FIXED).fit(X, y)
    failure = GradientBoostingSurvivalAnalysis(loss="aft", distribution="extreme", **FIXED).fit(X, y)
    assert isinstance(found.distribution_, WeibullDistribution)
    ours, theirs = found.predict_distribution(X).median(), failure.predict(X)
    assert np.corrcoef(np.log(ours), np.log(theirs))[0, 1] > 0.97
    assert abs(np.log(ours / theirs).mean()) < 0.15


def test_bounds_that_are_the_same_are_plain_targets():
    X, y, _ = tobit(300)
    plain = DistributionBoostingRegressor(spread="joint", **FIXED).fit(X, y)
    same = DistributionBoostingRegressor(**FIXED).fit(X, np.column_stack([y, y]))
    assert_allclose(same.predict(X), plain.predict(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("early", [True, "auto"])
def test_stopping_files_weights_and_threads(early, tmp_path):
    X, _, bounds = tobit(600)
    settings = {**FIXED, "early_stopping": early, "n_estimators": 60}
    weight = np.random.default_rng(0).integers(0, 3, 600)
    found = DistributionBoostingRegressor(**settings, n_jobs=1).fit(X, bounds, sample_weight=weight)
    three = DistributionBoostingRegressor(**settings, n_jobs=3).fit(X, bounds, sample_weight=weight)
    assert_array_equal(found.predict(X), three.predict(X))
    found.save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww")
    assert_array_equal(loaded.predict_distribution(X).quantile(0.9), found.predict_distribution(X).quantile(0.9))
    assert found.spread_ == "joint"


@pytest.mark.parametrize(
    ("y", "more", "error", "words"),
    [
        ([[2.0, 1.5]] * 4, {}, TargetError, "must not be below the lower bound"),
        ([[np.nan, 0.5]] * 4, {}, TargetError, "must not be missing"),
        ([[1.0, INF]] * 4, {}, TargetError, "known in no row"),
        ([[-1.0, -1.0]] * 4, {"distribution": "gamma"}, TargetError, r"must be above zero, but y\[0\] = -1"),
        ([[1.0, 1.0], [2.0, 3.0]] * 2, {"scoring_rule": "crps"}, ParameterError, "scoring_rule='crps' is not for targets"),
        ([[1.0, 1.0], [2.0, 3.0]] * 2, {"spread": "held_out", "early_stopping": True}, ParameterError, "spread='held_out'"),
        ([[1.0, 1.0], [2.0, 3.0]] * 2, {"scoring": "rmse"}, ParameterError, "scoring='rmse' is not for targets"),
        (np.ones((4, 3)), {}, TargetError, "1d array"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(y, more, error, words):
    with pytest.raises(error, match=words) as caught:
        DistributionBoostingRegressor(**{**FIXED, **more}).fit(np.arange(4.0)[:, None], np.array(y))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("DistributionBoostingRegressor")
