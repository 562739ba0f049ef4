"""Voting, bagging and stacking of several targets: one ensemble for each. docs/algorithms/several-targets.md."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import woodwind
from woodwind.base.errors import ParameterError, TargetError

REGRESSORS = [("line", Ridge()), ("near", KNeighborsRegressor(5))]
CLASSIFIERS = [("line", LogisticRegression()), ("near", KNeighborsClassifier(5))]
MODELS = [
    woodwind.VotingRegressor(REGRESSORS, weights="optimal", random_state=0),
    woodwind.BaggingRegressor(n_estimators=25, oob_score=True, random_state=0),
    woodwind.BaggingRegressor(woodwind.GradientBoostingRegressor(n_estimators=20), n_estimators=2, random_state=0),
    woodwind.StackingRegressor(REGRESSORS, cv=3, random_state=0),
    woodwind.VotingClassifier(CLASSIFIERS, random_state=0),
    woodwind.BaggingClassifier(n_estimators=5, voting="hard", random_state=0),
    woodwind.StackingClassifier(CLASSIFIERS, cv=3, random_state=0),
]


def several(model, n=150):
    """Numbers, or labels of two and three classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.column_stack([X[:, 0] + X[:, 1], 100 * X[:, 2] ** 2]) + 0.1 * rng.normal(size=(n, 2))
    return X, np.column_stack([y[:, 0] > 0, np.digitize(y[:, 1], [20, 100])]).astype(int) if hasattr(model, "predict_proba") else y


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_there_is_one_ensemble_for_each_target(model, tmp_path):
    X, y = several(model)
    fitted = clone(model).fit(X, pd.DataFrame(y, columns=["a", "b"]))
    alone = [clone(model).fit(X, column) for column in y.T]
    assert fitted.target_names_ == ["a", "b"]
    assert fitted.n_outputs_ == 2
    assert np.array_equal(fitted.predict(X), np.column_stack([one.predict(X) for one in alone]))
    assert fitted.score(X, y) > 0.5
    if hasattr(model, "predict_proba"):
        assert [labels.tolist() for labels in fitted.classes_] == [[0, 1], [0, 1, 2]]
        for one, other in zip(fitted.predict_proba(X), alone, strict=True):
            assert np.array_equal(one, other.predict_proba(X))
        assert [one.shape for one in fitted.predict_log_proba(X)] == [(150, 2), (150, 3)]
    fitted.save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww")
    assert np.array_equal(loaded.predict(X), fitted.predict(X))
    fitted.fit(X, y[:, 0])
    assert not hasattr(fitted, "target_ensembles_")
    assert fitted.predict(X).shape == (150,)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_bad_target_is_refused_by_name(model):
    X, y = several(model)
    frame = pd.DataFrame(y.astype(float), columns=["a", "b"])
    frame.loc[3, "b"] = np.nan
    with pytest.raises(TargetError, match=r"target 'b': .*y\[3\]"):
        clone(model).fit(X, frame)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_weights_are_handed_on(model):
    X, y = several(model)
    weight = 1.0 + np.arange(len(y)) % 3
    if isinstance(model, woodwind.VotingRegressor | woodwind.VotingClassifier | woodwind.StackingRegressor | woodwind.StackingClassifier):
        model = clone(model).set_params(near="drop")
    if isinstance(model, woodwind.BaggingRegressor):
        model = clone(model).set_params(oob_score=False)
    fitted = clone(model).fit(X, y, weight)
    assert np.array_equal(fitted.predict(X)[:, 1], clone(model).fit(X, y[:, 1], weight).predict(X))


def test_what_is_of_one_ensemble_says_so():
    for model in (MODELS[0], MODELS[3]):
        X, y = several(model)
        with pytest.raises(ParameterError, match="Ask one of target_ensembles_"):
            clone(model).fit(X, y).transform(X)
    X, y = several(MODELS[1])
    bag = clone(MODELS[1]).fit(X, y)
    with pytest.raises(ParameterError, match="Ask one of target_ensembles_"):
        list(bag.staged_predict(X))
    assert [one.oob_score_ > 0.5 for one in bag.target_ensembles_] == [True, True]
    with pytest.raises(ParameterError, match="warm_start=True is for one target"):
        clone(MODELS[1]).set_params(warm_start=True).fit(X, y)
    trained = [("line", Ridge().fit(X, y[:, 0]))]
    with pytest.raises(ParameterError, match="prefit=True is for one target"):
        woodwind.VotingRegressor(trained, prefit=True).fit(X, y)


def test_a_forged_file_with_other_ensembles_is_refused(tmp_path):
    X, y = several(MODELS[0])
    model = clone(MODELS[0]).fit(X, y)
    model.target_ensembles_ = model.target_ensembles_[:1]
    with pytest.raises(woodwind.WoodwindError, match="one ensemble for each target"):
        model.save(tmp_path / "model.ww")
