"""Mixtures of experts as estimators."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.tree import DecisionTreeRegressor as TheirRegressionTree

from reference.naive_experts import naive_mixture
from woodwind import DecisionTreeRegressor, MixtureOfExpertsClassifier, MixtureOfExpertsRegressor, ParameterError
from woodwind.base.errors import TargetError
from woodwind.estimators.mixture import mixture_of_experts


def kinked(n=200, seed=0, noise=0.2):
    x = np.linspace(0, 10, n)
    return x[:, None], np.where(x < 4, 2 * x, 8 - (x - 4)) + noise * np.random.default_rng(seed).normal(size=n)


def checkered(n=300, seed=0):
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


def crossing(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x, side = rng.uniform(0, 10, n), rng.random(n) < 0.4
    return x[:, None], np.where(side, 1 + 2 * x, 15 - x) + rng.normal(size=n)


# What is learned.


def test_two_lines_recover_a_kink():
    X, y = kinked()
    model = MixtureOfExpertsRegressor(random_state=0).fit(X, y)
    lines = sorted((float(expert.coef_[0]), float(expert.intercept_)) for expert in model.experts_)
    np.testing.assert_allclose(lines, [(-1, 12), (2, 0)], atol=0.15)
    slope, level = np.diff(model.gate_coef_[:, 0])[0], np.diff(model.gate_intercept_)[0]
    assert -level / slope == pytest.approx(4.0, abs=0.15)
    np.testing.assert_allclose(model.error_variances_, 0.04, rtol=0.35)
    assert model.score(X, y) > 0.98


def test_one_expert_is_plain_regression():
    X, y = load_diabetes(return_X_y=True)
    model = MixtureOfExpertsRegressor(n_experts=1).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=0, atol=1e-10)
    of_classes = MixtureOfExpertsClassifier(n_experts=1).fit(X, y > 140)
    scaled = StandardScaler().fit_transform(X)
    plain = LogisticRegression(tol=1e-10, max_iter=10_000).fit(scaled, y > 140)
    np.testing.assert_allclose(of_classes.predict_proba(X), plain.predict_proba(scaled), atol=1e-6)


def test_no_line_separates_a_checkered_board_but_a_gate_and_two_lines_do():
    X, y = checkered()
    model = MixtureOfExpertsClassifier(random_state=0).fit(X, y)
    assert LogisticRegression().fit(X, y).score(X, y) < 0.7
    assert model.score(*checkered(seed=1)) > 0.95
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("gate", ["softmax", "constant"])
@pytest.mark.parametrize("n_experts", [2, 4])
def test_the_log_likelihood_never_falls(n_experts, gate):
    for model, data in ((MixtureOfExpertsRegressor, crossing()), (MixtureOfExpertsClassifier, checkered(150))):
        course = model(n_experts=n_experts, gate=gate, n_init=2, max_iter=2000, tol=1e-5, random_state=0).fit(*data).log_likelihood_
        assert len(course) > 2
        assert np.diff(course).min() >= -1e-9 * np.abs(course).max()


def test_a_constant_gate_makes_a_mixture_of_regressions():
    X, y = crossing()
    model = MixtureOfExpertsRegressor(gate="constant", random_state=0, tol=1e-9, max_iter=2000).fit(X, y)
    course, lines = naive_mixture(X[:, 0], y, model.responsibilities_, 20)
    assert model.log_likelihood_[-1] == pytest.approx(course[-1], rel=1e-7)
    found = np.array([(e.intercept_, e.coef_[0], np.sqrt(v)) for e, v in zip(model.experts_, model.error_variances_, strict=True)])
    np.testing.assert_allclose(found, [line[1:] for line in lines], rtol=1e-3)
    np.testing.assert_allclose(model.gate_proba(X[:1])[0], [line[0] for line in lines], rtol=1e-3)
    assert sorted(np.round(found[:, 1])) == [-1, 2]


def test_bic_chooses_how_many_experts_there_are():
    X, y = kinked(120)
    model = MixtureOfExpertsRegressor(n_experts="auto", max_experts=3, n_init=2, random_state=0).fit(X, y)
    assert model.n_experts_ == 2
    assert set(model.bic_) == {1, 2, 3}
    straight = MixtureOfExpertsRegressor(n_experts="auto", max_experts=2, n_init=2, random_state=0).fit(X, 3 * X[:, 0] + np.sin(50 * y))
    assert straight.n_experts_ == 1
    likelihood, parameters = model.log_likelihood_[-1], 2 * 2 + 2 + 2
    assert model.bic_[2] == pytest.approx(-2 * likelihood + parameters * np.log(120))


# What can be asked.


def test_responsibilities_correct_the_gate_by_the_target():
    X, y = crossing()
    model = MixtureOfExpertsRegressor(gate="constant", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.responsibilities(X), model.gate_proba(X))
    probabilities = model.responsibilities(X, y)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(probabilities, model.responsibilities_, atol=0.02)
    assert (probabilities.max(axis=1) > 0.9).mean() > 0.6
    of_classes = MixtureOfExpertsClassifier(random_state=0, n_init=1).fit(*checkered(100))
    assert of_classes.responsibilities(*checkered(100)).shape == (100, 2)
    with pytest.raises(TargetError, match="not among the classes"):
        of_classes.responsibilities(checkered(100)[0], ["new"] * 100)


def test_quantiles_and_standard_deviations_are_those_of_the_mixture():
    X, y = crossing(400)
    model = MixtureOfExpertsRegressor(gate="constant", random_state=0).fit(X, y)
    new, truth = crossing(2000, seed=1)
    quantiles = model.predict_quantiles(new, (0.1, 0.5, 0.9))
    assert (np.diff(quantiles, axis=1) > 0).all()
    np.testing.assert_allclose((truth[:, None] < quantiles).mean(axis=0), [0.1, 0.5, 0.9], atol=0.05)
    mean, std = model.predict(new, return_std=True)
    gate, numbers = model.gate_proba(new), np.column_stack([expert.predict(new) for expert in model.experts_])
    np.testing.assert_allclose(mean, (gate * numbers).sum(axis=1))
    np.testing.assert_allclose(std**2, (gate * (model.error_variances_ + numbers**2)).sum(axis=1) - mean**2, rtol=1e-7)
    with pytest.raises(ParameterError, match="quantiles must be numbers from 0 to 1"):
        model.predict_quantiles(new, [2.0])


# Experts and gates of any kind.


def test_experts_may_be_of_different_kinds_and_the_gate_any_classifier():
    X, y = kinked()
    model = MixtureOfExpertsRegressor(
        experts=[Ridge(), TheirRegressionTree(max_depth=2)], gate=TheirTree(max_depth=2), n_init=2, max_iter=50, tol=1e-4, random_state=0
    ).fit(X, y)
    assert [type(expert) for expert in model.experts_] == [Ridge, TheirRegressionTree]
    assert isinstance(model.gate_, TheirTree)
    assert not hasattr(model, "gate_coef_")
    assert model.score(X, y) > 0.95
    X, y = checkered()
    of_classes = MixtureOfExpertsClassifier(experts=LogisticRegression(), gate=GaussianNB(), n_experts=3, n_init=1, tol=0.05)
    assert of_classes.set_params(random_state=0).fit(X, y).predict_proba(X).shape == (300, 2)


def test_any_table_is_taken():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 240), "wood": rng.choice(["oak", "elm"], 240)})
    y = np.where(frame["wood"] == "oak", 2 * frame["x"], 30 - frame["x"]) + 0.1 * rng.normal(size=240)
    model = MixtureOfExpertsRegressor(random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.999
    holes = frame.copy()
    holes.loc[::9, "x"] = np.nan
    holes.loc[::11, "wood"] = None
    for table in (holes, pl.from_pandas(holes)):
        assert np.isfinite(MixtureOfExpertsRegressor(n_init=1, random_state=0).fit(table, y).predict(table)).all()
    np.testing.assert_array_equal(model.predict(frame[["wood", "x"]]), model.predict(frame))
    trees = MixtureOfExpertsRegressor(experts=DecisionTreeRegressor(max_depth=2), n_init=1, tol=0.1).fit(holes, y)
    assert trees.predict(holes).shape == (240,)
    labels = MixtureOfExpertsClassifier(n_init=1, random_state=0).fit(holes, np.where(y > 15, "much", "little"))
    assert labels.classes_.tolist() == ["little", "much"]


# Citizenship.


def test_a_weight_of_two_is_a_row_given_twice():
    X, y = crossing(120)
    count = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = MixtureOfExpertsRegressor(n_init=2, random_state=0).fit(X, y, count)
    repeated = MixtureOfExpertsRegressor(n_init=2, random_state=0).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)
    assert np.isnan(weighted.responsibilities_[count == 0]).all()


def test_threads_change_nothing_and_a_seed_makes_it_repeatable(monkeypatch):
    monkeypatch.setattr(mixture_of_experts, "WORTH_THREADS", 0.0)
    X, y = kinked(100)
    given = {"experts": TheirRegressionTree(max_depth=2), "n_init": 3, "max_iter": 10, "tol": 1e-2, "random_state": 5}
    predicted = [MixtureOfExpertsRegressor(**given, n_jobs=jobs).fit(X, y).predict(X) for jobs in (1, 2)]
    np.testing.assert_array_equal(predicted[0], predicted[1])


def test_it_can_be_searched_cloned_and_stored():
    X, y = kinked(80)
    model = MixtureOfExpertsRegressor(experts=Ridge(), n_init=1, random_state=0, tol=1e-4)
    search = GridSearchCV(model, {"experts__alpha": [0.1, 10]}, cv=2).fit(X, y)
    kept = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(kept.predict(X), search.predict(X))
    assert clone(MixtureOfExpertsRegressor(experts=[Ridge(), Ridge(2)])).get_params()["experts"][1].alpha == 2


def test_training_that_did_not_end_says_what_to_do():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 rounds.*log-likelihood by.*Raise max_iter or tol"):
        model = MixtureOfExpertsRegressor(max_iter=2, n_init=1, tol=0, random_state=0).fit(*crossing())
    assert not model.converged_
    assert model.n_iter_ == 2


def test_what_cannot_be_done_is_said_before_any_work():
    X, y = kinked(40)
    labels = np.where(y > 3, "high", "low")
    cases = [
        (MixtureOfExpertsRegressor(experts=KNeighborsRegressor()), y, "experts must take sample_weight.*KNeighborsRegressor takes none"),
        (MixtureOfExpertsRegressor(experts=[Ridge(), LogisticRegression()]), y, r"experts\[1\] must be a regressor"),
        (MixtureOfExpertsRegressor(experts=Ridge), y, r"experts is the class Ridge.*experts=Ridge\(\)"),
        (MixtureOfExpertsRegressor(experts=[]), y, "empty list"),
        (MixtureOfExpertsRegressor(experts=[Ridge()], n_experts=2), y, "n_experts=2, but experts is a list of 1"),
        (MixtureOfExpertsRegressor(gate="softmx"), y, "gate must be 'softmax', 'constant' or a classifier"),
        (MixtureOfExpertsRegressor(gate=Ridge()), y, "gate must be a classifier"),
        (MixtureOfExpertsRegressor(gate=KNeighborsClassifier()), y, "gate must take sample_weight"),
        (MixtureOfExpertsClassifier(experts=RidgeClassifier()), labels, "experts must give probabilities"),
        (MixtureOfExpertsClassifier(n_experts=0), labels, "n_experts must be"),
    ]
    for model, target, words in cases:
        with pytest.raises(ParameterError, match=words):
            model.fit(X, target)

    class Unknown(TheirRegressionTree):
        get_n_leaves = property()

    with pytest.raises(ParameterError, match=r"n_experts='auto' compares.*Unknown"):
        MixtureOfExpertsRegressor(experts=Unknown(max_depth=1), n_experts="auto", n_init=1, tol=1e-2).fit(X, y)
