"""One enormous target or weight does not keep a model from learning all other rows; what cannot be learned from is refused in words."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score

from woodwind import (
    AdaBoostRegressor,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from woodwind.base.errors import PrecisionWarning, TargetError
from woodwind.ensemble.boosting.histogram_learner import HistogramLearner
from woodwind.losses.base import in_rows
from woodwind.losses.integers import is_uneven

N = 3000
SAME = {"learning_rate": 0.1, "max_leaf_nodes": 15, "min_samples_leaf": 20, "early_stopping": False, "l2_regularization": 0.0}
OURS = {"n_estimators": 40, "subsample": 1.0, "max_features_tree": 1.0, "random_state": 0, "n_jobs": 1}


def data(n=N, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    clean = 2.0 * np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + (X[:, 3] > 0.0)
    return X, clean + noise * rng.normal(size=n), clean


X, Y, _ = data()
X_NEW, _, CLEAN = data(1000, 0.0, 1)


def log_uniform(power):
    return 10.0 ** np.random.default_rng(2).uniform(0.0, power, N)


def outlier(size):
    y = Y.copy()
    y[100] = size
    return y


def median_error(model, y, weight=None):
    return np.median(np.abs(model.fit(X, y, sample_weight=weight).predict(X_NEW) - CLEAN))


CASES = {
    "one outlier of 1e4": (outlier(1e4), None),
    "one outlier of 1e6": (outlier(1e6), None),
    "Cauchy": (Y + 0.3 * np.random.default_rng(3).standard_cauchy(N), None),
    "lognormal": (Y + 0.01 * np.exp(3.0 * np.random.default_rng(4).normal(size=N)), None),
    "weights to 1e3": (Y, log_uniform(3)),
    "weights to 1e6": (Y, log_uniform(6)),
    "weights to 1e9": (Y, log_uniform(9)),
    "few weights of 1e6": (Y, np.where(np.arange(N) < 15, 1e6, 1.0)),
    "few weights of 1e9": (Y, np.where(np.arange(N) < 15, 1e9, 1.0)),
    "small weights": (Y, np.full(N, 1e-3)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_error_is_not_behind_that_of_sums_of_floats(case):
    """One draw of one table is worth a tenth more or less; what rounding had cost were factors from 2 to 400."""
    y, weight = CASES[case]
    theirs = median_error(HistGradientBoostingRegressor(max_iter=40, **SAME), y, weight)
    assert median_error(GradientBoostingRegressor(**OURS, **SAME), y, weight) < 1.15 * theirs


@pytest.mark.parametrize("heavy", [1e2, 1e4, 1e5, 1e7, 1e9])
@pytest.mark.parametrize("subsample", [1.0, 0.7])
def test_a_rare_class_may_weigh_as_much_as_one_likes(heavy, subsample):
    rare = np.quantile(Y, 0.95)
    weight = np.where(rare < Y, heavy, 1.0)
    theirs = HistGradientBoostingClassifier(max_iter=40, **SAME).fit(X, rare < Y, sample_weight=weight)
    ours = GradientBoostingClassifier(**{**OURS, "subsample": subsample}, **SAME).fit(X, rare < Y, sample_weight=weight)
    scores = [roc_auc_score(rare < CLEAN, model.predict_proba(X_NEW)[:, 1]) for model in (ours, theirs)]
    assert scores[0] > scores[1] - 0.01
    assert scores[0] > 0.95


def test_rows_of_several_classes_that_weigh_little_are_learnt_from_too():
    classes = np.digitize(Y, np.quantile(Y, [0.05, 0.5]))
    weight = np.where(classes == 0, 1e6, 1.0)
    with pytest.warns(PrecisionWarning, match="one tree is grown for each class instead"):
        model = GradientBoostingClassifier(**OURS, **SAME).fit(X, classes, sample_weight=weight)
    other = GradientBoostingClassifier(**OURS, **SAME, multiclass="one_per_class").fit(X, classes, sample_weight=weight)
    np.testing.assert_array_equal(model.predict_proba(X_NEW), other.predict_proba(X_NEW))
    assert roc_auc_score(np.digitize(CLEAN, np.quantile(Y, [0.05, 0.5])) == 2, model.predict_proba(X_NEW)[:, 2]) > 0.95


@pytest.mark.parametrize("options", [
    {}, {"growth": "symmetric", "max_depth": 4}, {"growth": "level"}, {"subsample": 0.5}, {"bootstrap": True},
    {"monotonic_cst": [0, 0, 0, 1]}, {"loss": "poisson"}, {"gradient_noise": 0.3}, {"prune": True}, {"early_stopping": True},
], ids=str)  # fmt: skip
def test_the_same_bits_for_any_number_of_threads(options):
    y = np.exp(3.0 * np.abs(Y))
    found = [
        GradientBoostingRegressor(**{**OURS, **SAME, "n_estimators": 8, **options, "n_jobs": threads}).fit(X, y).predict(X_NEW)
        for threads in (1, 2, 3)
    ]
    assert found[0].std() > 0.0
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


@pytest.mark.parametrize("factor", [1e-300, 1e-3, 1e30, 1e300])
@pytest.mark.parametrize("estimator", [
    GradientBoostingRegressor(**OURS, **SAME), GradientBoostingRegressor(**OURS, max_bins=None, early_stopping=False),
    RandomForestRegressor(n_estimators=5, random_state=0), ExtraTreesRegressor(n_estimators=5, random_state=0),
    DecisionTreeRegressor(max_depth=6), AdaBoostRegressor(n_estimators=5, random_state=0),
], ids=lambda estimator: type(estimator).__name__)  # fmt: skip
def test_equal_weights_are_no_weights_whatever_their_size(estimator, factor):
    """Up to the last bits, where a mean of weights is not a power of two."""
    found = estimator.fit(X, Y, sample_weight=np.full(N, factor)).predict(X_NEW)
    np.testing.assert_allclose(found, estimator.fit(X, Y).predict(X_NEW), rtol=1e-6)


@pytest.mark.parametrize("estimator", [
    RandomForestClassifier(n_estimators=5, random_state=0), GradientBoostingClassifier(**OURS, **SAME),
], ids=lambda estimator: type(estimator).__name__)  # fmt: skip
def test_the_unit_of_weights_does_not_matter_to_classes(estimator):
    weight = np.random.default_rng(5).random(N)
    found = [estimator.fit(X, Y > 1.0, sample_weight=weight * factor).predict_proba(X_NEW) for factor in (1e-5, 1e-290)]
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_weights_that_are_numbers_of_rows_stay():
    for weight in (None, np.array([1.0, 1.0]), np.array([20.0, 30.0]), np.array([0.5, 1.5]), np.array([0.0, 1.0])):
        assert in_rows(weight) is weight
    np.testing.assert_allclose(in_rows(np.array([0.0, 1e-3, 3e-3])), [0.0, 0.5, 1.5])
    np.testing.assert_allclose(in_rows(np.array([1e300, 3e300])), [0.5, 1.5])


def test_a_few_light_rows_are_no_reason_to_sum_twice_the_bits():
    assert not is_uneven(None)
    assert not is_uneven(np.array([1.0] * 95 + [1e-9] * 5))
    assert not is_uneven(np.array([1.0] * 50 + [0.0] * 50))  # absent
    assert not is_uneven(np.array([1.0] * 50 + [0.001] * 50))
    assert is_uneven(np.array([1.0] * 50 + [0.0009] * 50))
    assert is_uneven(np.array([1e6] + [1.0] * 99))


@pytest.mark.parametrize(
    ("y", "expected"), [(Y, False), (outlier(30.0), False), (outlier(1e6), True), (Y**2, False), (np.exp(2.0 * Y), True)]
)
def test_only_long_tails_are_summed_with_all_bits(y, expected, monkeypatch):
    seen = []
    set_derivatives = HistogramLearner.set_derivatives
    monkeypatch.setattr(
        HistogramLearner, "set_derivatives", lambda self, *given: (set_derivatives(self, *given), seen.append(self._unrounded))[0]
    )
    GradientBoostingRegressor(**OURS, **SAME).fit(X, y)
    assert seen[0] == expected
    assert expected or not any(seen)


def test_rows_that_vanish_all_the_same_are_told_of():
    with pytest.warns(PrecisionWarning, match="most gradients vanish beside the largest"):
        GradientBoostingRegressor(**OURS, **SAME).fit(X, outlier(1e25))


@pytest.mark.parametrize("size", [1e120, 1e-120, 1e200, 1.7e308])
def test_targets_beyond_squaring_are_refused_by_boosting(size):
    with pytest.raises(TargetError, match=r"(Divide|divide|multiply) the target by a constant"):
        GradientBoostingRegressor(**OURS).fit(X, np.where(Y > 0.0, size, -size))


@pytest.mark.parametrize("Estimator", [RandomForestRegressor, ExtraTreesRegressor, AdaBoostRegressor])
def test_targets_whose_sums_overflow_are_refused_by_ensembles(Estimator):
    with pytest.raises(TargetError, match="Divide the target by a constant"):
        Estimator().fit(X, np.where(Y > 0.0, 1.7e308, 0.0))
    with pytest.raises(TargetError, match="infinity"):
        Estimator().fit(X, np.array([10**400] * N, dtype=object))
