"""Gradient boosting as a user meets it."""

import copy
import io
import os
import pickle
import signal
import sys
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, GradientBoostingSurvivalAnalysis, ParameterError, losses
from woodwind.base.errors import InterruptWarning, TableError, TargetError, UnseenCategoryWarning
from woodwind.ensemble.boosting import auto_defaults

QUICK = {"n_estimators": 12, "learning_rate": 0.3, "max_leaf_nodes": 8, "min_samples_leaf": 5, "random_state": 0}


def numbers(n=300, seed=0):
    return make_friedman1(n, n_features=6, noise=0.5, random_state=seed)


def classes(n=300, k=2, seed=0):
    X, y = make_classification(n, n_features=8, n_informative=5, n_classes=k, random_state=seed)
    return X, np.array(["ash", "birch", "cedar", "dogwood"])[y]


def digest(model):
    return model.forest_.digest()


@pytest.fixture(scope="module")
def two():
    X, y = classes()
    return GradientBoostingClassifier(early_stopping=False, **QUICK).fit(X, y), X, y


@pytest.fixture(scope="module")
def three():
    X, y = classes(k=3)
    return GradientBoostingClassifier(early_stopping=False, **QUICK).fit(X, y), X, y


@pytest.fixture(scope="module")
def regressor():
    X, y = numbers()
    return GradientBoostingRegressor(early_stopping=False, **QUICK).fit(X, y), X, y


# ----------------------------------------------------------------------------------------------------------- answers


def test_two_classes(two):
    model, X, y = two
    assert model.classes_.tolist() == ["ash", "birch"]
    share = model.predict_proba(X)
    assert share.shape == (300, 2)
    assert np.allclose(share.sum(axis=1), 1.0)
    assert model.decision_function(X).shape == (300,)
    assert (model.predict(X) == np.where(model.decision_function(X) > 0, "birch", "ash")).all()
    assert np.allclose(model.predict_log_proba(X), np.log(share))
    assert model.score(X, y) > 0.9


def test_three_classes(three):
    model, X, y = three
    share = model.predict_proba(X)
    assert share.shape == model.decision_function(X).shape == (300, 3)
    assert (model.predict(X) == model.classes_[share.argmax(axis=1)]).all()
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(("multiclass", "trees"), [("vector", 12), ("one_per_class", 36)])
def test_trees_of_a_round(multiclass, trees):
    X, y = classes(k=3)
    model = GradientBoostingClassifier(early_stopping=False, multiclass=multiclass, **QUICK).fit(X, y)
    assert model.forest_.n_trees == trees == model.n_iter_ * model.n_trees_per_iteration_
    assert model.score(X, y) > 0.8
    assert len(list(model.staged_predict_proba(X))) == 12


def test_regression(regressor):
    model, X, y = regressor
    assert model.score(X, y) > 0.8
    assert model.predict(X).shape == (300,)
    assert model.n_iter_ == model.best_iteration_ == 12


def test_stages_end_with_the_prediction(two, three, regressor):
    for model, X, _ in (two, three):
        stages = list(model.staged_predict_proba(X))
        assert len(stages) == 12
        assert np.array_equal(stages[-1], model.predict_proba(X))
        assert np.array_equal(list(model.staged_decision_function(X))[-1], model.decision_function(X))
        assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    model, X, _ = regressor
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))


def test_apply_names_leaves(two):
    model, X, _ = two
    leaves = model.apply(X)
    assert leaves.shape == (300, 12)
    assert (model.forest_.feature[model.forest_.roots[:-1] + leaves] == -1).all()


def test_importances_belong_to_input_columns():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.insert(1, "day", pd.date_range("2024-01-01", periods=300, freq="31h"))
    model = GradientBoostingRegressor(early_stopping=False, **QUICK).fit(frame, y)
    assert model.feature_importances_.shape == (7,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[[0, 2, 4]].min() > model.feature_importances_[[1, 6]].max()
    assert model.feature_names_in_.tolist() == ["a", "day", "b", "c", "d", "e", "f"]


def test_a_tree_as_text_names_columns_levels_and_classes():
    frame = pd.DataFrame({"wood": ["oak", "elm", "fig"] * 40, "size": np.arange(120.0)})
    y = np.where(frame["wood"] == "oak", "hard", "soft")
    model = GradientBoostingClassifier(early_stopping=False, **QUICK).fit(frame, y)
    assert "wood in {oak}" in model.export_text()


def test_the_predictor_agrees_with_the_model_bit_for_bit(two, three, regressor):
    for model, X, _ in (two, three):
        predictor = model.predictor()
        assert np.array_equal(predictor(X), model.predict_proba(X))
        assert all(np.array_equal(predictor(list(row)), share) for row, share in zip(X[:20], model.predict_proba(X[:20]), strict=True))
    model, X, _ = regressor
    assert np.array_equal(model.predictor()(X), model.predict(X))
    assert model.predictor()(X[0]) == model.predict(X[:1])[0]
    assert model.predictor().feature_names == ("x0", "x1", "x2", "x3", "x4", "x5")


NAMES = ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"]


@pytest.mark.parametrize("loss", [*NAMES, losses.Quantile(0.8), losses.Huber(delta=0.1)])
def test_every_loss_of_regression_falls(loss):
    X, y = numbers()
    y = np.exp(y / 10)
    model = GradientBoostingRegressor(loss=loss, early_stopping=False, **QUICK).fit(X, y)
    constant = np.full(300, model.forest_.start[0])
    plain = model.loss_.resolved(y, constant)
    best = plain.value(y, model.loss_.link.to_score(y))  # what a perfect prediction costs: not always zero
    left = plain.value(y, model.loss_.link.to_score(model.predict(X))) - best
    assert 0.0 < left < 0.6 * (plain.value(y, constant) - best)


def test_a_quantile_has_its_share_below():
    X, y = numbers(600)
    low = GradientBoostingRegressor(loss=losses.Quantile(0.1), early_stopping=False, **QUICK).fit(X, y).predict(X)
    high = GradientBoostingRegressor(loss=losses.Quantile(0.9), early_stopping=False, **QUICK).fit(X, y).predict(X)
    assert 0.05 < np.mean(y < low) < 0.2
    assert 0.8 < np.mean(y < high) < 0.95


def test_exponential_loss_is_for_two_classes():
    X, y = classes()
    model = GradientBoostingClassifier(loss="exponential", early_stopping=False, **QUICK).fit(X, y)
    assert model.score(X, y) > 0.9
    X, y = classes(k=3)
    with pytest.raises(ParameterError, match=r"Only binary classification is supported with loss='exponential'.*Use loss='log_loss'"):
        GradientBoostingClassifier(loss="exponential").fit(X, y)


class LogCosh:
    def start(self, y, weight):
        return np.median(y)

    def derivatives(self, y, raw, weight):
        slope = np.tanh(raw - y)
        w = 1.0 if weight is None else weight
        return w * slope, w * (1.0 - slope * slope) + 1e-3

    def value(self, y, raw, weight):
        return np.average(np.log(np.cosh(raw - y)), weights=weight)


def test_a_loss_of_your_own():
    X, y = numbers(400)
    model = GradientBoostingRegressor(loss=LogCosh(), early_stopping=True, validation_fraction=0.2, **QUICK).fit(X, y)
    assert model.score(X, y) > 0.7
    assert model.validation_score_[-1] < model.validation_score_[0]


class Logistic:
    def start(self, y, weight):
        return 0.0

    def derivatives(self, y, raw, weight):
        share = 1.0 / (1.0 + np.exp(-raw))
        return share - y, share * (1.0 - share)

    def value(self, y, raw, weight):
        return float(np.mean(np.logaddexp(0.0, raw) - y * raw))


def test_a_loss_of_your_own_for_classes():
    X, y = classes()
    model = GradientBoostingClassifier(loss=Logistic(), early_stopping=False, **QUICK).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("loss", [losses.Squared(), losses.Multinomial(3), LogCosh, "hinge"])
def test_a_loss_that_is_not_for_two_classes(loss):
    X, y = classes()
    with pytest.raises(ParameterError, match="loss"):
        GradientBoostingClassifier(loss=loss).fit(X, y)


@pytest.mark.parametrize("loss", [losses.LogLoss(), losses.Multinomial(3), "log_loss", 3])
def test_a_loss_that_is_not_for_numbers(loss):
    X, y = numbers()
    with pytest.raises(ParameterError, match=r"[Ll]oss"):
        GradientBoostingRegressor(loss=loss).fit(X, y)


# ------------------------------------------------------------------------------------------------------------- sameness


@pytest.mark.parametrize("options", [{}, {"subsample": 0.5}, {"max_features": 0.5}, {"bootstrap": True}, {"early_stopping": True}])
def test_the_same_bits_for_any_number_of_threads(options):
    X, y = classes(3000, k=3)
    options = {"early_stopping": False, **QUICK, "n_estimators": 5, **options}
    assert len({digest(GradientBoostingClassifier(n_jobs=jobs, **options).fit(X, y)) for jobs in (1, 2, 3)}) == 1


def test_an_integer_seed_repeats_the_model_and_another_changes_it():
    X, y = numbers()
    options = {**QUICK, "subsample": 0.5, "early_stopping": False}
    first, second, third = (GradientBoostingRegressor(**{**options, "random_state": seed}).fit(X, y) for seed in (0, 0, 1))
    assert digest(first) == digest(second) != digest(third)


def test_a_pickled_or_copied_model_gives_the_same_predictions(two):
    model, X, _ = two
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.predict_proba(X), model.predict_proba(X))


def test_a_clone_trains_the_same_model(two):
    model, X, y = two
    assert digest(clone(model).fit(X, y)) == digest(model)


def test_fitting_again_forgets_the_names_of_columns():
    X, y = numbers()
    model = GradientBoostingRegressor(early_stopping=False, **QUICK).fit(pd.DataFrame(X, columns=list("abcdef")), y)
    assert not hasattr(model.fit(X[:, :3], y), "feature_names_in_")
    assert model.n_features_in_ == 3


def test_an_unfitted_model_says_so():
    for method in ("predict", "predict_proba", "apply", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(GradientBoostingClassifier(), method)([[1.0]])
    for name in ("predictor", "export_text"):
        with pytest.raises(NotFittedError):
            getattr(GradientBoostingRegressor(), name)()
    with pytest.raises(NotFittedError):
        GradientBoostingRegressor().feature_importances_  # noqa: B018


# ------------------------------------------------------------------------------------------------------- warm start


@pytest.mark.parametrize("options", [{}, {"subsample": 0.6, "max_features": 0.5}, {"loss": "huber"}])
def test_fifty_rounds_and_fifty_more_are_a_hundred(options):
    X, y = numbers()
    options = {**QUICK, "early_stopping": False, "learning_rate": 0.1, **options}
    whole = GradientBoostingRegressor(**{**options, "n_estimators": 100}).fit(X, y)
    parts = GradientBoostingRegressor(**{**options, "n_estimators": 50}, warm_start=True).fit(X, y)
    assert parts.n_iter_ == 50
    parts.set_params(n_estimators=100).fit(X, y)
    assert parts.n_iter_ == 100
    assert digest(parts) == digest(whole)
    assert digest(parts.fit(X, y)) == digest(whole)


@pytest.mark.parametrize("multiclass", ["vector", "one_per_class"])
def test_going_on_works_for_classes(multiclass):
    X, y = classes(k=3)
    options = {**QUICK, "early_stopping": False, "multiclass": multiclass}
    whole = GradientBoostingClassifier(**options).fit(X, y)
    parts = GradientBoostingClassifier(**{**options, "n_estimators": 5}, warm_start=True).fit(X, y)
    assert digest(parts.set_params(n_estimators=12).fit(X, y)) == digest(whole)


def test_going_on_with_early_stopping_is_the_same_as_one_run():
    X, y = numbers(500)
    options = {**QUICK, "early_stopping": True, "n_iter_no_change": 50, "n_estimators": 10}
    whole = GradientBoostingRegressor(**{**options, "n_estimators": 20}).fit(X, y)
    parts = GradientBoostingRegressor(**options, warm_start=True).fit(X, y).set_params(n_estimators=20).fit(X, y)
    if parts.n_iter_ == 20:
        assert digest(parts) == digest(whole)
    assert len(parts.validation_score_) == 21


def test_going_on_in_folds_adds_rounds_only():
    X, y = numbers(200)
    model = GradientBoostingRegressor(warm_start=True, **{**QUICK, "n_estimators": 4}).fit(X, y)
    first = model.forest_
    model.set_params(n_estimators=12).fit(X, y)
    assert 4 <= model.n_iter_ <= 12
    assert model.forest_.first(4).digest() == first.digest()


def test_going_on_with_other_rows_keeps_the_trees():
    X, y = classes(400)
    model = GradientBoostingClassifier(early_stopping=False, warm_start=True, **QUICK).fit(X[:200], y[:200])
    first = model.forest_
    model.set_params(n_estimators=20).fit(X[200:], y[200:], eval_set=(X[:200], y[:200]))
    assert model.forest_.first(12).digest() == first.digest()
    assert model.n_iter_ == 20
    assert len(model.validation_score_) == 9
    assert model.best_iteration_ == 12 + np.argmin(model.validation_score_[1:]) + 1
    with pytest.raises(TargetError, match="not among the classes"):
        model.fit(X, np.where(y == "ash", "oak", y))


def test_going_on_with_a_random_seed_keeps_it():
    X, y = numbers()
    options = {**QUICK, "early_stopping": False, "subsample": 0.5, "random_state": None, "warm_start": True}
    model = GradientBoostingRegressor(**options).fit(X, y)
    first = digest(model)
    assert model.set_params(n_estimators=15).fit(X, y).forest_.first(12).digest() == first


def test_fewer_rounds_than_there_are_is_an_error():
    X, y = numbers()
    model = GradientBoostingRegressor(early_stopping=False, warm_start=True, **QUICK).fit(X, y)
    with pytest.raises(ParameterError, match=r"n_estimators=5 is less than the 12 rounds .* Raise n_estimators"):
        model.set_params(n_estimators=5).fit(X, y)


# ------------------------------------------------------------------------------------------------------------- start


def test_starting_scores_are_added_only_when_given():
    X, y = numbers()
    base = 3.0 * X[:, 0]
    model = GradientBoostingRegressor(init=base, early_stopping=False, **QUICK).fit(X, y)
    assert np.allclose(model.predict(X, init=base) - model.predict(X), base)
    assert np.mean((y - model.predict(X, init=base)) ** 2) < 0.3 * np.var(y)


def test_starting_scores_of_classes():
    X, y = classes(k=3)
    base = np.zeros((300, 3))
    model = GradientBoostingClassifier(init=base, early_stopping=False, **QUICK).fit(X, y)
    assert np.array_equal(model.forest_.start, np.zeros(3))
    assert model.score(X, y) > 0.8
    assert model.predict_proba(X, init=base + [5.0, 0.0, 0.0])[:, 0].mean() > model.predict_proba(X)[:, 0].mean()


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("early", [False, True])
def test_another_regressor_to_start_from(fitted, early):
    X, y = numbers(400)
    line = LinearRegression()
    model = GradientBoostingRegressor(init=line.fit(X, y) if fitted else line, **{**QUICK, "early_stopping": early}).fit(X, y)
    assert model.score(X, y) > line.fit(X, y).score(X, y)
    assert fitted == (model.init_ is line)
    stages = list(model.staged_predict(X))
    assert np.allclose(stages[-1], model.predict(X))
    with pytest.raises(ParameterError, match="predictor"):
        model.predictor()


@pytest.mark.parametrize("k", [2, 3])
def test_another_classifier_to_start_from(k):
    X, y = classes(k=k)
    model = GradientBoostingClassifier(init=LogisticRegression(), early_stopping=False, **QUICK).fit(X, y)
    assert model.score(X, y) > LogisticRegression().fit(X, y).score(X, y)
    prior = GradientBoostingClassifier(init=DummyClassifier(), early_stopping=False, **QUICK).fit(X, y)
    plain = GradientBoostingClassifier(early_stopping=False, **QUICK).fit(X, y)
    assert np.allclose(prior.predict_proba(X), plain.predict_proba(X), atol=1e-3)


def test_a_function_to_start_from():
    X, y = numbers()
    model = GradientBoostingRegressor(init=lambda table: 10.0 * table[:, 3], early_stopping=False, **QUICK).fit(X, y)
    assert model.score(X, y) > 0.9


# --------------------------------------------------------------------------------------------------- early stopping


def test_stopping_by_a_share_of_the_rows():
    X, y = numbers(600)
    model = GradientBoostingRegressor(early_stopping=True, learning_rate=0.3, n_iter_no_change=5, random_state=0).fit(X, y)
    assert model.n_iter_ == model.best_iteration_ < 1000
    assert len(model.train_score_) == len(model.validation_score_) <= model.n_iter_ + 6
    assert np.argmin(model.validation_score_[1:]) + 1 == model.n_iter_
    assert model.train_score_[-1] < model.train_score_[0]


def test_without_refit_the_rows_held_out_are_never_seen():
    X, y = numbers(600)
    options = {"early_stopping": True, "learning_rate": 0.3, "n_iter_no_change": 5, "random_state": 0}
    kept = GradientBoostingRegressor(refit=False, **options).fit(X, y)
    again = GradientBoostingRegressor(refit=True, **options).fit(X, y)
    assert kept.n_iter_ == again.n_iter_
    assert np.array_equal(kept.forest_.threshold, again.forest_.threshold)
    assert kept.forest_.cover[0] == 540
    assert again.forest_.cover[0] == 600


def test_stopping_by_data_that_are_given():
    X, y = numbers(600)
    model = GradientBoostingRegressor(learning_rate=0.3, n_iter_no_change=5, random_state=0)
    model.fit(X[:400], y[:400], eval_set=(X[400:], y[400:]))
    assert model.forest_.cover[0] == 400
    best = model.validation_score_[model.best_iteration_]
    assert best == pytest.approx(0.5 * np.mean((y[400:] - model.predict(X[400:])) ** 2))
    weighted = GradientBoostingRegressor(learning_rate=0.3, n_iter_no_change=5, random_state=0)
    weighted.fit(X[:400], y[:400], eval_set=(X[400:], y[400:], np.ones(200)))
    assert digest(weighted) == digest(model)


def test_data_that_are_given_are_watched_even_if_they_do_not_stop():
    X, y = classes(400, k=3)
    model = GradientBoostingClassifier(early_stopping=False, **QUICK).fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])])
    assert model.n_iter_ == 12
    assert len(model.validation_score_) == 13


def test_small_tables_stop_in_folds_and_train_on_all_rows():
    X, y = numbers(200)
    y = y + 5.0 * np.random.RandomState(0).normal(size=200)
    model = GradientBoostingRegressor(random_state=0, learning_rate=0.3).fit(X, y)
    assert 1 <= model.best_iteration_ <= model.n_iter_ < 100
    assert model.forest_.cover[0] == 200
    assert len(model.train_score_) == len(model.validation_score_) > model.n_iter_
    assert model.best_iteration_ == np.argmin(model.validation_score_[1:]) + 1


@pytest.mark.parametrize("k", [0, 2, 3])
def test_in_folds_the_model_is_the_mean_of_their_models(k):
    X, y = numbers(200) if k == 0 else classes(200, k=k)
    estimator = GradientBoostingClassifier if k else GradientBoostingRegressor
    model = estimator(**QUICK, refit=False).fit(X, y)
    assert model.n_trees_per_iteration_ == auto_defaults.FOLDS
    assert model.forest_.n_trees == auto_defaults.FOLDS * model.n_iter_
    # The scores that were watched while it was trained are those of the model.
    staged = list(model.staged_predict_proba(X) if k else model.staged_predict(X))
    assert len(staged) == model.n_iter_
    last = staged[-1]
    if k:
        loss = -np.mean(np.log(last[np.arange(200), np.searchsorted(model.classes_, y)]))
    else:
        loss = losses.Squared().value(y, last, None)
    assert model.train_score_[model.n_iter_] == pytest.approx(loss)


def test_in_folds_leaves_are_learnt_from_all_rows_unless_told_otherwise():
    X, y = numbers(200)
    assert set(GradientBoostingRegressor(**QUICK).fit(X, y).forest_.cover[[0]]) == {200.0}
    assert set(GradientBoostingRegressor(**QUICK, refit=False).fit(X, y).forest_.cover[[0]]) == {160.0}


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", lambda model, X, y: np.mean(model.predict(X) == y)])
def test_any_scorer_can_be_watched(scoring):
    X, y = classes(500)
    model = GradientBoostingClassifier(early_stopping=True, scoring=scoring, n_iter_no_change=3, **QUICK).fit(X, y)
    assert model.validation_score_[model.best_iteration_] == model.validation_score_[1:].max()
    given = GradientBoostingClassifier(scoring=scoring, n_iter_no_change=3, **QUICK).fit(X, y, eval_set=(X, y))
    assert given.validation_score_[given.best_iteration_] == given.validation_score_[1:].max()


def test_a_scorer_sees_what_the_model_would_say():
    X, y = classes(500, k=3)
    model = GradientBoostingClassifier(scoring="neg_log_loss", **QUICK).fit(X[:400], y[:400], eval_set=(X[400:], y[400:]))
    share = model.predict_proba(X[400:])
    expected = np.mean(np.log(share[np.arange(100), np.searchsorted(model.classes_, y[400:])]))
    assert model.validation_score_[model.best_iteration_] == pytest.approx(expected)


def test_groups_are_held_out_together():
    X, y = numbers(600)
    group = np.repeat(np.arange(60), 10)
    noisy = X.copy()
    noisy[:, 5] = group  # a column by which rows of one group recognise each other
    y = y + np.random.RandomState(0).normal(size=60)[group] * 5
    options = {**QUICK, "early_stopping": True, "n_estimators": 60, "n_iter_no_change": 60}
    apart = GradientBoostingRegressor(**options).fit(noisy, y)
    together = GradientBoostingRegressor(**options).fit(noisy, y, groups=[f"g{g}" for g in group])
    assert together.validation_score_.min() > apart.validation_score_.min()


def test_training_stops_when_there_is_nothing_left_to_split():
    X, y = numbers(40)
    model = GradientBoostingRegressor(learning_rate=1.0, min_samples_leaf=1, max_leaf_nodes=40, l2_regularization=0.0, early_stopping=False)
    assert model.fit(X, y).n_iter_ < 5
    assert np.allclose(model.predict(X), y)


def test_a_model_without_trees_predicts_the_constant():
    X = np.ones((30, 2))
    y = np.arange(30.0)
    model = GradientBoostingRegressor().fit(X, y)
    assert model.n_iter_ == 0
    assert np.allclose(model.predict(X), 14.5)
    assert model.apply(X).shape == (30, 0)
    assert model.feature_importances_.tolist() == [0.0, 0.0]
    labels = np.where(y > 9, "a", "b")
    assert GradientBoostingClassifier().fit(X, labels).predict_proba(X)[0] == pytest.approx([2 / 3, 1 / 3])
    assert list(model.staged_predict(X)) == []


# ----------------------------------------------------------------------------------- callbacks, progress, interrupts


def test_callbacks_see_every_round_and_may_end_the_training():
    X, y = numbers(400)
    seen = []
    model = GradientBoostingRegressor(early_stopping=False, callbacks=[seen.append, lambda step: step.number == 7], **QUICK).fit(X, y)
    assert [step.number for step in seen] == list(range(1, 8))
    assert model.n_iter_ == 7


def test_the_progress_line_goes_to_standard_error(monkeypatch):
    X, y = numbers(400)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    GradientBoostingRegressor(verbose=1, early_stopping=True, **QUICK).fit(X, y)
    assert "GradientBoostingRegressor: round 12 of 12, validation loss" in stream.getvalue()


def test_without_verbose_nothing_is_said(capfd):
    X, y = numbers()
    GradientBoostingRegressor(early_stopping=False, **QUICK).fit(X, y)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("early", [False, True])
def test_ctrl_c_keeps_the_rounds_that_were_finished(early):
    X, y = numbers(400)

    def interrupt(step):
        if step.number == 5:
            raise KeyboardInterrupt

    model = GradientBoostingRegressor(callbacks=[interrupt], **{**QUICK, "early_stopping": early})
    with pytest.warns(InterruptWarning, match="interrupted after 5 of 12 rounds"):
        model.fit(X, y)
    assert model.n_iter_ == 5
    assert model.score(X, y) > 0.5
    whole = GradientBoostingRegressor(**{**QUICK, "early_stopping": False}).fit(X, y)
    if not early:
        assert digest(model) == whole.forest_.first(5).digest()


@pytest.fixture
def interruptible():
    """Ctrl-C as in a terminal: a process that a shell has started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="a process cannot send itself Ctrl-C there")
def test_a_signal_ends_the_training_with_a_model(interruptible):
    X, y = numbers(3000)
    model = GradientBoostingRegressor(n_estimators=1_000_000, early_stopping=False, n_jobs=2)
    assert model.fit(X[:50], y[:50]).n_iter_ < 10_000  # it ends when every row is fitted
    GradientBoostingRegressor(n_estimators=2, early_stopping=False, n_jobs=2).fit(X, y)  # compiles what many rows need
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.warns(InterruptWarning, match="GradientBoostingRegressor was interrupted after"):
        model.fit(X, y)
    timer.join()
    assert 0 < model.n_iter_ < 1_000_000
    assert model.score(X, y) > 0.0


# ---------------------------------------------------------------------------------------------------- constraints


def test_monotonic_columns_by_name_and_by_place():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    by_name = GradientBoostingRegressor(monotonic_cst={"d": 1, "e": -1}, early_stopping=False, **QUICK).fit(frame, y)
    by_position = GradientBoostingRegressor(monotonic_cst=[0, 0, 0, 1, -1, 0], early_stopping=False, **QUICK).fit(frame, y)
    assert digest(by_name) == digest(by_position)
    line = np.tile(X[:1], (50, 1))
    line[:, 3] = np.linspace(0, 1, 50)
    assert (np.diff(by_name.predict(pd.DataFrame(line, columns=frame.columns))) >= 0).all()
    line[:, 3], line[:, 4] = 0.5, np.linspace(0, 1, 50)
    assert (np.diff(by_name.predict(pd.DataFrame(line, columns=frame.columns))) <= 0).all()


@pytest.mark.parametrize("groups", [[{0, 1}, {2, 3, 4, 5}], [["a", "b"]], [[0, 1]]])
def test_interactions_stay_within_their_groups(groups):
    X, y = numbers()
    model = GradientBoostingRegressor(interaction_cst=groups, early_stopping=False, **QUICK)
    model.fit(pd.DataFrame(X, columns=list("abcdef")), y)
    forest = model.forest_
    for first, last in zip(forest.roots[:-1], forest.roots[1:], strict=True):
        used = set(forest.feature[first:last]) - {-1}
        root = forest.feature[first]
        assert used <= ({0, 1} if root in (0, 1) else {2, 3, 4, 5})


def test_no_interactions_makes_trees_of_one_column():
    X, y = numbers()
    model = GradientBoostingRegressor(interaction_cst="no_interactions", early_stopping=False, **QUICK).fit(X, y)
    forest = model.forest_
    assert all(len(set(forest.feature[a:b]) - {-1}) == 1 for a, b in zip(forest.roots[:-1], forest.roots[1:], strict=True))


# ------------------------------------------------------------------------------------------------- in scikit-learn


def test_early_stopping_works_in_a_pipeline_and_a_search():
    X, y = classes(400)
    pipe = make_pipeline(StandardScaler(), GradientBoostingClassifier(early_stopping=True, **QUICK))
    search = GridSearchCV(pipe, {"gradientboostingclassifier__max_leaf_nodes": [4, 8]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    assert cross_val_score(GradientBoostingClassifier(**QUICK), X, y, cv=3).mean() > 0.8


def test_a_name_in_the_pipeline_keeps_the_frame():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), GradientBoostingRegressor(early_stopping=False, **QUICK))
    pipe.fit(frame, y)
    assert pipe[-1].feature_names_in_.tolist() == list("abcdef")


def test_weights_and_groups_are_routed_through_a_search():
    X, y = numbers(300)
    weight, groups = np.arange(300) % 3 + 0.5, np.arange(300) // 10
    with sklearn.config_context(enable_metadata_routing=True):
        model = GradientBoostingRegressor(early_stopping=True, **QUICK)
        model.set_fit_request(sample_weight=True, groups=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"max_leaf_nodes": [8]}, cv=GroupKFold(3)).fit(X, y, sample_weight=weight, groups=groups)
    assert digest(search.best_estimator_) == digest(clone(model).fit(X, y, sample_weight=weight, groups=groups))


def test_parameters_show_in_the_signature_and_in_the_docstring():
    assert "max_leaf_nodes : " in GradientBoostingClassifier.__doc__
    assert GradientBoostingClassifier(n_estimators=7).get_params()["n_estimators"] == 7
    assert repr(GradientBoostingRegressor(max_depth=3)) == "GradientBoostingRegressor(max_depth=3)"


def test_nothing_is_warned_of_on_an_ordinary_table():
    X, y = classes(400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GradientBoostingClassifier(**QUICK).fit(X, y).predict(X)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_block_of_one_row_has_the_answer_of_that_row_in_a_larger_one(classes):
    X, y = numbers(300)
    kind, target = GradientBoostingRegressor, y
    if classes:
        kind, target = GradientBoostingClassifier, np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    predict = kind(early_stopping=False, **QUICK).fit(X, target).predictor()
    whole = predict(X)
    for kept in (X, X.astype(np.float64)):
        one = predict(kept[5:6])
        assert one.shape == whole[5:6].shape
        np.testing.assert_array_equal(one, whole[5:6])


@pytest.mark.parametrize("max_bins", [255, None])
def test_the_training_loss_of_every_round_is_there_without_rows_held_out(max_bins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300)
    weight = rng.integers(1, 3, 300).astype(float)
    steps = []
    model = GradientBoostingRegressor(n_estimators=7, max_bins=max_bins, early_stopping=False, callbacks=[steps.append]).fit(X, y, weight)
    losses = [np.average((y - predicted) ** 2, weights=weight) / 2 for predicted in model.staged_predict(X)]
    np.testing.assert_allclose(model.train_score_[1:], losses, rtol=1e-12)
    assert len(model.train_score_) == 8
    assert len(model.validation_score_) == 0
    assert model.best_iteration_ == model.n_iter_ == 7
    # A callback that prints what it gets prints a line.
    assert repr(steps[2]).startswith(f"TrainingStep(number=3, train={losses[2]:.6g}, seconds=")
    assert max(len(repr(step)) for step in steps) < 80
    model.set_params(n_estimators=9, warm_start=True).fit(X, y, weight)
    assert len(model.train_score_) == 10


def test_help_tells_the_signatures_of_a_loss_of_ones_own():
    for estimator in (GradientBoostingClassifier, GradientBoostingRegressor):
        told = " ".join(estimator.__doc__.split())
        for method in ("start(y, weight)", "derivatives(y, raw, weight)", "value(y, raw, weight)"):
            assert method in told


def test_the_predictor_reads_a_row_as_it_is():
    rng = np.random.default_rng(0)
    wood = rng.choice(["ash", "oak", "yew"], 200).astype(object)
    wood[::9] = None
    many = [f"m{number % 100}" for number in range(200)]
    X = pd.DataFrame({"size": rng.normal(size=200), "wood": wood, "many": many, "kind": rng.integers(3, 6, 200), "nothing": [None] * 200})
    y = X["size"] + (wood == "oak") + X["kind"]
    model = GradientBoostingRegressor(n_estimators=5, categorical_features=["kind"]).fit(X, y)
    predict, expected = model.predictor(), model.predict(X)
    for row, wanted in zip(X.to_dict("records")[:30], expected, strict=False):
        assert predict(row) == predict(tuple(row.values())) == wanted
    new = X.iloc[:1].assign(wood="elm", kind=9)
    with pytest.warns(UnseenCategoryWarning):
        assert model.predict(new)[0] == predict(new.to_dict("records")[0])
    with pytest.raises(TableError, match="no value for column 'kind'"):
        predict({"size": 1.0, "wood": "oak", "many": "m1", "nothing": None})
    with pytest.raises(TableError, match="column 'wood' cannot be 1: its categories are text"):
        predict((1.0, 1, "m1", 3, None))
    with pytest.raises(TableError, match="column 'size' cannot be 'large'"):
        predict(("large", "oak", "m1", 3, None))
    with pytest.raises(TableError, match="has 2 values, and the table has 5 columns"):
        predict((1.0, "oak"))


def test_the_first_rounds_are_the_stages_of_the_model():
    X, y = classes(k=3)
    model = GradientBoostingClassifier(n_estimators=6, random_state=0).fit(X, y)
    for k, (stage, scores) in enumerate(zip(model.staged_predict_proba(X), model.staged_decision_function(X), strict=True), start=1):
        np.testing.assert_array_equal(model.predict_proba(X, n_rounds=k), stage)
        np.testing.assert_array_equal(model.decision_function(X, n_rounds=k), scores)
        np.testing.assert_allclose(model.predict_log_proba(X, n_rounds=k), np.log(stage))
    np.testing.assert_array_equal(model.predict(X, n_rounds=np.int64(model.n_iter_)), model.predict(X))
    np.testing.assert_array_equal(model.decision_function(X, n_rounds=0), np.tile(model.forest_.start, (len(X), 1)))


@pytest.mark.parametrize("wrong", [-1, 7, 2.0, True, "3"])
def test_a_number_of_rounds_that_is_none_is_refused(wrong):
    model = GradientBoostingRegressor(n_estimators=6, early_stopping=False, min_samples_leaf=1).fit(
        np.arange(40.0)[:, None], np.arange(40.0)
    )
    with pytest.raises(ParameterError, match="n_rounds must be None or an integer from 0 to 6"):
        model.predict([[1.0]], n_rounds=wrong)


@pytest.mark.parametrize("kind", ["numbers", "classes", "survival"])
def test_training_goes_on_where_all_rows_of_a_node_have_categories_that_were_never_seen(kind):
    """Nothing is summed of such a node in their column: a loop over its cuts ran to the end of memory."""
    rng = np.random.default_rng(0)
    first = pd.DataFrame({"number": rng.random(80), "level": rng.choice(np.array(["a", "b", "c"], object), 80)})
    more = pd.DataFrame({"number": np.linspace(0.0, 1.0, 80), "level": np.where(np.arange(80) < 40, "new", first["level"]).astype(object)})
    options = {"n_estimators": 2, "warm_start": True, "n_jobs": 1, "min_samples_leaf": 2, "early_stopping": False, "random_state": 0}
    makers = {
        "numbers": GradientBoostingRegressor(loss="gamma", **options),
        "classes": GradientBoostingClassifier(**options),
        "survival": GradientBoostingSurvivalAnalysis(loss="aft", **options),
    }
    model = makers[kind]
    targets = [np.digitize(5.0 * X["number"] + 0.5 * rng.random(80), [1.0, 2.0, 3.0]) + 1 for X in (first, more)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(first, targets[0])
        model.set_params(n_estimators=6).fit(more, targets[1])
        assert np.isfinite(model.predict(more).astype(float)).all()
