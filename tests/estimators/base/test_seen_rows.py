"""Fitted members that are scored by rows which they have learned."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from woodwind import DynamicSelectionClassifier, DynamicSelectionRegressor, EnsembleSelectionClassifier, EnsembleSelectionRegressor
from woodwind.base.errors import SeenRowsWarning

KINDS = [DynamicSelectionClassifier, DynamicSelectionRegressor, EnsembleSelectionClassifier, EnsembleSelectionRegressor]


def members(kind):
    if kind.__name__.endswith("Classifier"):
        X, y = make_classification(200, flip_y=0.2, random_state=0)
        return X, np.array(["no", "yes"])[y], [DecisionTreeClassifier(random_state=0), LogisticRegression()]
    X, y = make_regression(200, noise=30.0, random_state=0)
    return X, y, [DecisionTreeRegressor(random_state=0), Ridge()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_with_a_perfect_record_is_named(kind):
    X, y, pool = members(kind)
    pool = [member.fit(X, y) for member in pool]
    with pytest.warns(SeenRowsWarning, match="member 'decisiontree(classifier|regressor)' is right about all 200 rows"):
        kind(pool).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_members_have_not_seen_are_taken_in_silence(kind):
    X, y, pool = members(kind)
    pool = [member.fit(X[:100], y[:100]) for member in pool]
    kind(pool).fit(X[100:], y[100:])


@pytest.mark.parametrize("kind", KINDS)
def test_who_says_that_members_are_trained_is_believed(kind):
    X, y, pool = members(kind)
    pool = [member.fit(X, y) for member in pool]
    kind(pool, prefit=True).fit(X, y)
