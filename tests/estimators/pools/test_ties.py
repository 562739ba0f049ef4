"""Ties of votes are broken at random, by key, where that is asked for."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import woodwind
from woodwind import DecisionTreeClassifier, ParameterError, VotingClassifier


class Column(ClassifierMixin, BaseEstimator):
    """Predicts what stands in one column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column].astype(int)


def members(count):
    return [(f"m{column}", Column(column)) for column in range(count)]


def votes(n=3000, m=4, k=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, k, (n, m)).astype(float)
    return X, np.arange(n) % k


def test_the_first_class_wins_by_default_and_each_as_often_at_random():
    X, y = votes(m=4)
    tied = X.sum(axis=1) == 2
    assert (VotingClassifier(estimators=members(4), voting="hard").fit(X, y).predict(X[tied]) == 0).all()
    shares = [
        VotingClassifier(estimators=members(4), voting="hard", ties="random", random_state=seed).fit(X, y).predict(X[tied]).mean()
        for seed in range(40)
    ]
    assert np.mean(shares) == pytest.approx(0.5, abs=0.08)


def test_rows_that_are_not_tied_are_decided_as_before_and_ties_among_those_that_lead():
    X, y = votes(m=4, k=3)
    first = VotingClassifier(estimators=members(4), voting="hard").fit(X, y)
    drawn = VotingClassifier(estimators=members(4), voting="hard", ties="random", random_state=1).fit(X, y)
    shares = first.predict_proba(X)
    leads = shares == shares.max(axis=1, keepdims=True)
    alone = leads.sum(axis=1) == 1
    np.testing.assert_array_equal(first.predict(X)[alone], drawn.predict(X)[alone])
    assert leads[np.arange(len(X)), drawn.predict(X)].all()
    np.testing.assert_array_equal(drawn.predict_proba(X).argmax(axis=1), drawn.predict(X))
    np.testing.assert_allclose(drawn.predict_proba(X), shares, atol=1e-15)


def test_the_same_votes_have_the_same_winner_in_any_company_and_after_loading(tmp_path):
    X, y = votes(m=2, k=3)
    trees = [(f"t{depth}", DecisionTreeClassifier(max_depth=depth)) for depth in (1, 2)]
    model = VotingClassifier(estimators=trees, voting="hard", ties="random", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X)[::7], model.predict(X[::7]))
    model.save(tmp_path / "model.ww")
    np.testing.assert_array_equal(woodwind.load(tmp_path / "model.ww").predict(X), model.predict(X))


def test_weights_count_before_luck():
    X, y = votes(m=2)
    model = VotingClassifier(estimators=members(2), voting="hard", ties="random", weights=[2, 1], random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), X[:, 0])


def test_it_is_for_votes():
    with pytest.raises(ParameterError, match="ties='random' is for votes that are counted, and voting='soft' has none"):
        VotingClassifier(estimators=[("t", DecisionTreeClassifier())], ties="random").fit(*votes(50))
