"""Blenders as estimators."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from woodwind import DataError, LogisticBlender, NonNegativeBlender, ParameterError
from woodwind.estimators.stacking.blenders import member_columns


def predicted(seed=0, n=300, members=4, n_classes=2):
    """Members that agree too much with each other, and are too sure."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    common = rng.normal(size=(n, 1, n_classes)) + 1.0 * np.eye(n_classes)[truth][:, None, :]
    raised = np.exp(1.5 * (common + 0.2 * rng.normal(size=(n, members, n_classes))))
    probabilities = raised / raised.sum(axis=2, keepdims=True)
    labels = np.array(["elm", "fig", "oak"])[truth]
    return (probabilities[:, :, 1] if n_classes == 2 else probabilities.reshape(n, -1)), labels


@pytest.mark.parametrize("n_classes", [2, 3])
def test_members_that_say_the_same_share_their_weight_and_probabilities_stay_sound(n_classes):
    X, y = predicted(n_classes=n_classes)
    new, truth = predicted(seed=1, n=3000, n_classes=n_classes)
    blender = LogisticBlender().fit(X, y)
    assert blender.weights_.shape == (4,)
    assert blender.weights_.min() >= 0.0
    assert blender.weights_.max() < 0.45
    assert blender.weights_.sum() < 0.9  # members are too sure
    assert log_loss(truth, blender.predict_proba(new)) <= log_loss(truth, LogisticRegression().fit(X, y).predict_proba(new)) + 2e-3
    assert blender.classes_.tolist() == sorted(set(y))
    assert blender.penalty_ == min(blender.losses_, key=blender.losses_.get)
    score = blender.decision_function(new)
    assert np.array_equal(blender.classes_[(score > 0).astype(int) if n_classes == 2 else score.argmax(axis=1)], blender.predict(new))
    np.testing.assert_allclose(np.exp(blender.predict_log_proba(new)), blender.predict_proba(new))


def test_columns_of_members_are_found_by_what_they_hold():
    X, _ = predicted(n_classes=3)
    more = np.column_stack([np.full(len(X), 7.0), X, np.linspace(0, 1, len(X))])
    assert member_columns(more, 3, "auto", "B").tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]
    assert member_columns(more[:, 1:], 3, 2, "B").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert member_columns(np.array([[0.2, 3.0, 1.0]]), 2, "auto", "B").tolist() == [[0], [2]]
    with pytest.raises(ParameterError, match="n_members=9 of 3 classes have 27 columns, and X has 14"):
        LogisticBlender(n_members=9).fit(more, np.arange(len(X)) % 3)


def test_the_penalty_is_chosen_in_the_folds_that_are_given():
    X, y = predicted()
    splits = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    by_list = LogisticBlender(cv=splits).fit(X, y)
    by_splitter = LogisticBlender(cv=StratifiedKFold(3, shuffle=True, random_state=1)).fit(X, y)
    assert by_list.losses_ == by_splitter.losses_
    assert LogisticBlender(penalty=3.0).fit(X, y).penalty_ == 3.0
    with pytest.raises(ParameterError, match="cv must be"):
        LogisticBlender(cv=1).fit(X, y)


def test_few_rows_are_no_reason_to_doubt_equal_weights():
    blender = LogisticBlender().fit([[0.9, 0.8], [0.2, 0.3], [0.1, 0.4]], ["a", "b", "b"])
    np.testing.assert_allclose(blender.weights_, blender.weights_.mean(), atol=1e-4)
    assert blender.losses_ == {}


def numbers(seed=0, n=200):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n) * 2.0
    common = rng.normal(size=(n, 1))
    return truth[:, None] + common + 0.3 * rng.normal(size=(n, 4)), truth


@pytest.mark.parametrize("weights", ["shrunk", "free", "simplex"])
def test_no_weight_is_below_zero(weights):
    X, y = numbers()
    blender = NonNegativeBlender(weights=weights).fit(X, y)
    assert blender.weights_.min() >= 0.0
    if weights == "simplex":
        assert blender.weights_.sum() == pytest.approx(1.0)
        assert blender.intercept_ == 0.0
    new, truth = numbers(1, 2000)
    best = np.sqrt(((new - truth[:, None]) ** 2).mean(axis=0)).min()
    assert np.sqrt(((blender.predict(new) - truth) ** 2).mean()) < best


def test_what_is_passed_through_may_count_against():
    X, y = numbers()
    column = np.random.default_rng(5).normal(size=(len(y), 1)) + 40.0
    blender = NonNegativeBlender(n_members=4).fit(np.hstack([X, column]), y - 3.0 * column[:, 0])
    assert blender.coef_[0] < -2.0
    assert blender.weights_.min() >= 0.0


@pytest.mark.parametrize("blender", [LogisticBlender(), NonNegativeBlender()], ids=str)
def test_a_matrix_must_be_whole_and_of_as_many_rows_as_the_target(blender):
    with pytest.raises(DataError, match="X has 3 rows, y has 2 values"):
        blender.fit(np.ones((3, 2)), [0, 1])
    with pytest.raises(ValueError, match="NaN"):
        blender.fit([[0.1], [np.nan]], [0, 1])
