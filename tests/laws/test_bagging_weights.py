"""Where rows are drawn at random, a weight of two is a row given twice in distribution, and a weight of zero is a row that is not there.

These tests stand for the two common checks that compare weights with repetitions bit for bit.
"""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from woodwind import BaggingClassifier, BaggingRegressor, DecisionTreeClassifier, DecisionTreeRegressor

N, BAGS = 40, 150
NUMBERS = [DecisionTreeRegressor(max_depth=3), LinearRegression(), KNeighborsRegressor(3)]
CLASSES = [DecisionTreeClassifier(max_depth=3), KNeighborsClassifier(3)]


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    return X, X[:, 0] + 0.5 * rng.normal(size=N), rng.integers(0, 4, N)


def repeated(X, y, weight):
    rows = np.random.default_rng(7).permutation(np.repeat(np.arange(N), weight))
    return X[rows], y[rows]


def answers(bag, first, X, y, weight=None):
    """What many bags of one member predict for a few rows, (bags, rows): seeds differ between the two sides, as draws do."""
    predicted = []
    for seed in range(first, first + BAGS):
        made = bag.set_params(random_state=seed).fit(X, y, weight)
        predicted.append(made.predict_proba(data()[0][:6])[:, 1] if hasattr(made, "predict_proba") else made.predict(data()[0][:6]))
    return np.array(predicted)


def alike(one, other):
    """Whether two samples are of one law, row by row: their means within 3.5 standard errors, and Kolmogorov and Smirnov do not object."""
    error = np.sqrt(one.var(axis=0) / BAGS + other.var(axis=0) / BAGS) + 1e-12
    shift = np.abs(one.mean(axis=0) - other.mean(axis=0)) / error
    worst = min(ks_2samp(one[:, row], other[:, row], method="asymp").pvalue for row in range(one.shape[1]))
    return shift.max() < 3.5 and worst > 1e-3


@pytest.mark.parametrize("more", [{}, {"bootstrap": False, "max_samples": 0.5}, {"max_samples": 30}], ids=str)
@pytest.mark.parametrize("estimator", NUMBERS, ids=str)
def test_whole_weights_are_repetitions_in_distribution(estimator, more):
    X, y, weight = data()
    bag = BaggingRegressor(estimator=estimator, n_estimators=1, n_jobs=1, **more)
    assert alike(answers(bag, 0, X, y, weight), answers(bag, 10_000, *repeated(X, y, weight)))
    assert not alike(answers(bag, 0, X, y, weight), answers(bag, 10_000, X, y))  # the test can tell


@pytest.mark.parametrize("estimator", CLASSES, ids=str)
def test_for_classes_too(estimator):
    X, y, weight = data()
    bag = BaggingClassifier(estimator=estimator, n_estimators=1, n_jobs=1)
    assert alike(answers(bag, 0, X, y > 0, weight), answers(bag, 10_000, *repeated(X, y > 0, weight)))


@pytest.mark.parametrize("more", [{}, {"bootstrap": False, "max_samples": 0.5}, {"smear": 0.2}], ids=str)
@pytest.mark.parametrize("estimator", NUMBERS, ids=str)
def test_rows_without_weight_are_absent_bit_for_bit(estimator, more):
    X, y, weight = data()
    there = weight > 0
    bag = BaggingRegressor(estimator=estimator, n_estimators=5, random_state=0, **more)
    weighted = bag.fit(X, y, weight).predict(X)
    np.testing.assert_allclose(bag.fit(X[there], y[there], weight[there]).predict(X), weighted, rtol=1e-12)
    scaled = 0.3 * there
    np.testing.assert_allclose(bag.fit(X, y, scaled).predict(X), bag.fit(X[there], y[there], scaled[there]).predict(X), rtol=1e-12)


def test_repetitions_in_their_place_are_the_same_bag():
    X, y, weight = data()
    rows = np.repeat(np.arange(N), weight)
    one = BaggingRegressor(n_estimators=8, random_state=0).fit(X, y, weight)
    other = BaggingRegressor(n_estimators=8, random_state=0).fit(X[rows], y[rows])
    assert np.array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("estimator", NUMBERS, ids=str)
def test_other_weights_count_in_proportion(estimator):
    """A weighted mean of the target, on average: a constant learner would tell, and so does a tree that may not split."""
    X, y, _ = data()
    weight = np.random.default_rng(3).random(N) + 0.05
    constant = DecisionTreeRegressor(max_depth=1, min_samples_leaf=N)
    base = constant if estimator is NUMBERS[0] else KNeighborsRegressor(N)
    bag = BaggingRegressor(estimator=base, n_estimators=1500, random_state=0).fit(X, y, weight)
    assert bag.predict(X[:1])[0] == pytest.approx(np.average(y, weights=weight), abs=0.03)
    ones = BaggingRegressor(estimator=estimator, n_estimators=5, random_state=0).fit(X, y, np.ones(N))
    assert np.array_equal(ones.predict(X), BaggingRegressor(estimator=estimator, n_estimators=5, random_state=0).fit(X, y).predict(X))
