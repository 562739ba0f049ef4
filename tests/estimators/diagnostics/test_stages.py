"""Predictions by stage end where the ensemble itself does, whatever it is."""

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression

import woodwind
from woodwind.base.errors import ParameterError
from woodwind.estimators.diagnostics.staged import leaves_rows_out, staged_out_of_bag, staged_predictions

CLASSIFIERS = [
    woodwind.RandomForestClassifier(n_estimators=7, oob_score=True, random_state=0),
    woodwind.RandomForestClassifier(n_estimators=7, voting="hard", oob_score=True, random_state=0),
    woodwind.BaggingClassifier(n_estimators=7, oob_score=True, random_state=0),
    woodwind.BaggingClassifier(n_estimators=7, voting="hard", oob_score=True, random_state=0),
    woodwind.BaggingClassifier(estimator=LogisticRegression(max_iter=500), n_estimators=7, max_features=2, oob_score=True, random_state=0),
    woodwind.AdaBoostClassifier(n_estimators=4),
    ensemble.RandomForestClassifier(7, oob_score=True, random_state=0),
    ensemble.BaggingClassifier(n_estimators=7, max_features=0.5, oob_score=True, random_state=0),
]
REGRESSORS = [
    woodwind.ExtraTreesRegressor(n_estimators=5, random_state=0),
    woodwind.RandomForestRegressor(n_estimators=7, oob_score=True, random_state=0),
    woodwind.BaggingRegressor(n_estimators=7, oob_score=True, random_state=0),
    woodwind.GradientBoostingRegressor(n_estimators=4),
    ensemble.RandomForestRegressor(7, oob_score=True, random_state=0),
]


def name_of(model):
    return f"{type(model).__module__.split('.')[0]}-{type(model).__name__}"


@pytest.mark.filterwarnings("ignore")  # of seven members some rows are seen by all, which every library tells in its own words
@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_stages_of_classifiers_end_with_the_prediction(model):
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    model.fit(X, y)
    *_, labels = staged_predictions(model, X)
    *_, probabilities = staged_predictions(model, X, probabilities=True)
    assert np.array_equal(labels, model.predict(X))
    assert np.allclose(probabilities, model.predict_proba(X))
    if leaves_rows_out(model):
        stages = list(staged_out_of_bag(model, X, probabilities=True))
        rows, predicted = stages[-1]
        assert len(stages) == 7
        assert len(stages[0][0]) < len(rows)
        assert np.allclose(predicted, model.oob_decision_function_[rows])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", REGRESSORS, ids=name_of)
def test_stages_of_regressors_end_with_the_prediction(model):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], y[:150]
    model.fit(X, y)
    *_, predicted = staged_predictions(model, X)
    assert np.allclose(predicted, model.predict(X))
    if leaves_rows_out(model):
        *_, (rows, unseen) = staged_out_of_bag(model, X)
        assert np.allclose(unseen, model.oob_prediction_[rows])


def test_what_has_no_stages_is_told():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="with fewer members is not known"):
        list(staged_predictions(LogisticRegression(max_iter=500).fit(X, y), X))
    members = [("a", LogisticRegression(max_iter=500)), ("b", ensemble.RandomForestClassifier(3))]
    weighted = ensemble.VotingClassifier(members, voting="soft", weights=[1, 5])
    with pytest.raises(ParameterError, match="not the mean"):
        list(staged_predictions(weighted.fit(X, y), X))


def test_rows_out_of_the_bag_are_those_of_the_training():
    X, y = load_iris(return_X_y=True)
    forest = woodwind.RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="which had 150, but 100 were given"):
        list(staged_out_of_bag(forest, X[:100]))
    with pytest.raises(ParameterError, match="every member has seen every row"):
        list(staged_out_of_bag(woodwind.ExtraTreesClassifier(n_estimators=3).fit(X, y), X))
