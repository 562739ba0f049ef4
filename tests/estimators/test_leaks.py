"""Noise stays noise: in every layer of a stack, for the probe, and for the nested estimate of error."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

from woodwind import ParameterError, StackingClassifier, StackingRegressor, leak_probe
from woodwind.estimators.stacking.leak_probe import shuffled_target

N = 120


class Small(ClassifierMixin, BaseEstimator):
    """A classifier of two classes that is trained in no time: a leak shows in the mean of many stacks."""

    def predict_proba(self, X):
        second = self.second(np.asarray(X))
        return np.column_stack([1.0 - second, second])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Cells(Small):
    """The share of the second class in each of some cells."""

    def cell(self, X):
        return (X[:, :3] > self.middle_[:3]) @ np.array([1, 2, 4])[: X.shape[1]]

    def fit(self, X, y):
        self.classes_, number = np.unique(y, return_inverse=True)
        self.middle_ = np.median(X, axis=0)
        cell = self.cell(X)
        self.share_ = (np.bincount(cell, number, 8) + 0.5) / (np.bincount(cell, minlength=8) + 1.0)
        return self

    def second(self, X):
        return self.share_[self.cell(X)]


class Direction(Small):
    """How far a row lies from one mean to the other."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        one, other = (X[y == label].mean(axis=0) for label in self.classes_)
        self.middle_, self.way_ = (one + other) / 2, (other - one) / (X.var(axis=0) + 1e-9)
        return self

    def second(self, X):
        return 1.0 / (1.0 + np.exp(-np.clip((X - self.middle_) @ self.way_, -30, 30)))


MEMBERS = [("cells", Cells()), ("direction", Direction())]


def noise(seed=0, n=N):
    return np.random.default_rng(seed).normal(size=(n, 4)), np.arange(n) % 2


def stack(**more):
    members = more.pop("estimators", MEMBERS)
    return StackingClassifier(estimators=members, final_estimator=LogisticRegression(), n_jobs=1, **more)


def away(report):
    """Distances of the means from nothing, in standard errors."""
    return (report.mean - report.nothing) / report.standard_error


def test_a_shuffled_target_has_an_auc_of_a_half_in_every_layer():
    X, y = noise()
    report = leak_probe(stack(layers=3, cv=StratifiedKFold(5, shuffle=True, random_state=0)), X, y, repeats=16, random_state=0)
    assert report.names == ("layer 1", "layer 2", "layer 3", "blender")
    assert np.abs(away(report)).max() < 2.0
    assert not report.leaks.any()
    assert report.scores.std() > 0.02  # there is something to be within


def test_layers_that_are_not_nested_leak_and_the_test_can_tell():
    X, y = noise()
    loose = stack(layers=3, cv=StratifiedKFold(5, shuffle=True, random_state=0), nested_folds=False)
    report = leak_probe(loose, X, y, repeats=15, random_state=0)
    assert abs(away(report)[0]) < 2.5  # one layer has nothing to leak
    assert away(report)[1:].max() > 3.0
    assert report.leaks.any()
    assert "leaks" in str(report)


class Remembers(ClassifierMixin, BaseEstimator):
    """Keeps all that any copy of it has ever seen, as a cache on disk would."""

    known: ClassVar = {}

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.known |= dict(zip(map(bytes, np.asarray(X)), y, strict=True))
        return self

    def predict_proba(self, X):
        one = np.array([self.known.get(bytes(row), self.classes_[0]) == self.classes_[1] for row in np.asarray(X)], float)
        return np.column_stack([1.0 - one, one])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_a_member_that_remembers_other_folds_is_found():
    X, y = noise()
    report = leak_probe(stack(estimators=[("memory", Remembers())]), X, y, repeats=3, random_state=0)
    assert report.leaks.all()
    assert report.mean[0] > 0.8


def test_rows_that_belong_together_are_found_where_they_are_torn_apart():
    X, y = noise()
    X, groups = np.repeat(X[:40], 3, axis=0), np.repeat(np.arange(40), 3)
    near = [("near", KNeighborsClassifier(1))]
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    torn = leak_probe(stack(estimators=near, cv=folds), X, y, groups=groups, repeats=3, random_state=0)
    assert torn.leaks.all()
    kept = leak_probe(stack(estimators=near, cv=GroupKFold(4)), X, y, groups=groups, repeats=10, random_state=0)
    assert not kept.leaks.any()


def test_the_target_is_shuffled_by_rows_or_by_groups():
    y = np.array([5, 5, 7, 7, 7, 9])
    assert sorted(shuffled_target(y, None, 1)) == sorted(y)
    groups = np.array([0, 0, 1, 1, 1, 2])
    shuffled = shuffled_target(y, groups, 2)
    assert all(len(set(shuffled[groups == group])) == 1 for group in range(3))
    assert set(shuffled) == {5, 7, 9}


def test_a_probe_of_numbers_reports_how_much_is_explained():
    X, _ = noise()
    numbers = StackingRegressor(estimators=[Ridge(), DecisionTreeRegressor(max_depth=2, random_state=0)], n_jobs=1)
    report = leak_probe(numbers, X, X[:, 0], repeats=5, random_state=0)
    assert report.measure == "R2"
    assert report.mean.max() < 0.05
    assert not report.leaks.any()


def test_what_cannot_be_probed_is_refused():
    X, y = noise()
    with pytest.raises(ParameterError, match="stack must be a StackingClassifier"):
        leak_probe(GaussianNB(), X, y)
    with pytest.raises(ParameterError, match="members untrained"):
        leak_probe(stack(cv="prefit"), X, y)
    with pytest.raises(ParameterError, match="at least 2"):
        leak_probe(stack(), X, y, repeats=1)


# The nested estimate.


def test_the_nested_estimate_is_honest_on_noise():
    found = []
    for seed in range(8):
        X, y = noise(seed, 80)
        folds = StratifiedKFold(3, shuffle=True, random_state=seed)
        found.append(stack(cv=folds, scoring="roc_auc", random_state=seed).estimate_error(X, y).mean)
    found = np.array(found)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (found.mean(axis=0) - 0.5 < 2.5 * error).all()
    # A class that is more frequent in training is less so among the rows held out: on noise that pulls small tables below a half.
    assert (found.mean(axis=0) > 0.35).all()


def test_the_nested_estimate_is_that_of_new_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=2000)
    numbers = StackingRegressor(estimators={"line": Ridge(), "tree": DecisionTreeRegressor(max_depth=5, random_state=0)}, layers=2)
    found = numbers.estimate_error(X[:400], y[:400], cv=4)
    assert found.names == ("layer 1: line", "layer 1: tree", "layer 1", "layer 2: line", "layer 2: tree", "layer 2", "stack")
    assert found.scores.shape == (4, 7)
    fitted = numbers.fit(X[:400], y[:400])
    true = -np.sqrt(((fitted.predict(X[400:]) - y[400:]) ** 2).mean())
    mean, error = found["stack"]
    assert abs(mean - true) < 3.0 * error + 0.05
    assert "stack" in str(found)
    with pytest.raises(ParameterError, match="list of splits of one table"):
        StackingRegressor(estimators=[Ridge()], cv=[([0, 1], [2, 3])]).estimate_error(X, y)
    with pytest.raises(ParameterError, match="at least two outer folds"):
        numbers.estimate_error(X, y, cv=[(np.arange(1000), np.arange(1000, 2000))])
