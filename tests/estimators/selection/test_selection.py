"""Ensemble selection as estimators."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.ensemble import BaggingClassifier as TheirBagging
from sklearn.ensemble import ExtraTreesRegressor as TheirTrees
from sklearn.ensemble import GradientBoostingClassifier as TheirBoosting
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.tree import DecisionTreeRegressor as TheirRegressionTree

from woodwind import (
    BaggingClassifier,
    DataError,
    EnsembleSelection,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    ExtraTreesClassifier,
    ParameterError,
    RandomForestClassifier,
    RandomForestRegressor,
    losses,
)
from woodwind.base.errors import FoldWarning, MemberError, TableError
from woodwind.selection.ordering import order_names

METHODS = [
    {"method": "greedy"},
    {"method": "greedy", "with_replacement": False, "n_start": 2},
    {"method": "greedy", "n_bags": 4},
    {"method": "ordering", "order": "complementarity"},
    {"method": "clustering"},
    {"method": "clustering", "linkage": "kmeans", "n_selected": 2},
    {"method": "genetic", "n_generations": 4, "population": 8},
    {"method": "exhaustive"},
    {"method": "greedy", "diversity": 0.5},
]


def classes(n=240, seed=0):
    X, y = make_classification(n, 8, n_informative=5, n_classes=3, random_state=seed)
    return X, np.array(["elm", "fig", "oak"])[y]


def numbers(n=240, seed=0):
    return make_friedman1(n, noise=1.0, random_state=seed)


def class_pool():
    return [("tree", TheirTree(max_depth=4, random_state=0)), ("bayes", GaussianNB()), ("near", KNeighborsClassifier(5))]


def number_pool():
    return [("tree", TheirRegressionTree(max_depth=4, random_state=0)), ("line", LinearRegression()), ("near", KNeighborsRegressor(5))]


# What is chosen, and what it says.


def test_members_are_chosen_by_what_they_say_out_of_fold_and_trained_on_all_rows():
    X, y = classes()
    model = EnsembleSelectionClassifier(estimators=class_pool(), cv=StratifiedKFold(5)).fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    predicted = [cross_val_predict(one, X, y, cv=5, method="predict_proba") for _, one in class_pool()]
    assert model.scores_ == pytest.approx([-log_loss(y, one) for one in predicted])
    mean = sum(weight * one for weight, one in zip(model.weights_, predicted, strict=True))
    assert model.best_score_ == pytest.approx(-log_loss(codes, mean))
    assert model.best_score_ == model.path_.max() >= model.scores_.max()
    trained = [one.fit(X, y).predict_proba(X) for _, one in class_pool()]
    wanted = sum(weight * one for weight, one in zip(model.weights_, trained, strict=True))
    np.testing.assert_allclose(model.predict_proba(X), wanted, rtol=0, atol=1e-12)
    assert np.array_equal(model.predict(X), model.classes_[wanted.argmax(axis=1)])
    assert np.isclose(model.weights_.sum(), 1.0)
    assert model.member_names_ == ["tree", "bayes", "near"]
    assert list(model.named_estimators_) == [model.member_names_[member] for member in model.selected_]
    assert (np.diff(model.weights_[model.selected_]) <= 0.0).all()
    assert len(model.estimators_) == len(model.selected_) == (model.weights_ > 0).sum()


def test_numbers():
    X, y = numbers()
    model = EnsembleSelectionRegressor(estimators=number_pool(), cv=KFold(5)).fit(X, y)
    predicted = np.column_stack([cross_val_predict(one, X, y, cv=5) for _, one in number_pool()])
    assert model.scores_ == pytest.approx(-((predicted - y[:, None]) ** 2).mean(axis=0))
    assert model.best_score_ == pytest.approx(-((predicted @ model.weights_ - y) ** 2).mean())
    trained = np.column_stack([one.fit(X, y).predict(X) for _, one in number_pool()])
    np.testing.assert_allclose(model.predict(X), trained @ model.weights_, rtol=1e-12)


@pytest.mark.parametrize("more", METHODS, ids=str)
def test_every_method_keeps_members_of_both_kinds_and_says_their_mean(more):
    for model, (X, y), pool in (
        (EnsembleSelectionClassifier(**more, random_state=0), classes(), class_pool()),
        (EnsembleSelectionRegressor(**more, random_state=0), numbers(), number_pool()),
    ):
        fitted = [(name, one.fit(X[:120], y[:120])) for name, one in pool]
        model.set_params(estimators=fitted).fit(X[120:], y[120:])
        assert model.estimators_ == [fitted[member][1] for member in model.selected_]
        predicted = [getattr(one, "predict_proba", one.predict)(X) for _, one in fitted]
        wanted = sum(weight * one for weight, one in zip(model.weights_, predicted, strict=True))
        np.testing.assert_allclose(getattr(model, "predict_proba", model.predict)(X), wanted, rtol=1e-12, atol=1e-12)
        if more.get("n_bags", 1) == 1 and more["method"] != "clustering" and not more.get("diversity"):
            assert model.best_score_ >= model.scores_.max() or more["method"] == "ordering"


@pytest.mark.parametrize("order", order_names(True))
def test_all_members_in_any_order_are_the_whole_pool(order):
    X, y = classes()
    forest = TheirForest(8, random_state=0, max_depth=4).fit(X[:120], y[:120])
    model = EnsembleSelection(forest, method="ordering", order=order, n_selected=1.0).fit(X[120:], y[120:])
    np.testing.assert_allclose(model.predict_proba(X), forest.predict_proba(X), rtol=0, atol=1e-12)
    half = EnsembleSelection(forest, method="ordering", order=order, n_selected=0.5).fit(X[120:], y[120:])
    assert half.selected_.tolist() == sorted(model.order_[:4])
    assert len(half.path_) == 8


def test_votes_are_counted():
    X, y = classes()
    pool = [*class_pool(), ("svm", LinearSVC(random_state=0, max_iter=200, tol=0.1))]
    model = EnsembleSelectionClassifier(estimators=pool, voting="hard", method="ordering", n_selected=4).fit(X, y)
    votes = np.stack([one.predict(X) for one in model.estimators_])
    np.testing.assert_allclose(model.predict_proba(X), np.stack([(votes == label).mean(axis=0) for label in model.classes_], axis=1))
    # A member without probabilities votes among those that have some.
    soft = EnsembleSelectionClassifier(estimators=pool, method="ordering", n_selected=4).fit(X, y)
    *others, svm = soft.estimators_
    predicted = [*(one.predict_proba(X) for one in others), svm.predict(X)[:, None] == soft.classes_]
    np.testing.assert_allclose(soft.predict_proba(X), np.mean(predicted, axis=0), rtol=0, atol=1e-12)


# Scores.


def macro(truth, predicted):
    return f1_score(truth, predicted, average="macro")


def wrong_loss(truth, predicted):
    return 1.0 - balanced_accuracy_score(truth, predicted)


@pytest.mark.parametrize(
    ("scoring", "wanted"),
    [
        ("accuracy", lambda y, p, c: (c[p.argmax(1)] == y).mean()),
        ("neg_log_loss", lambda y, p, c: -log_loss(y, p)),
        ("balanced_accuracy", lambda y, p, c: balanced_accuracy_score(y, c[p.argmax(1)])),
        ("roc_auc_ovr", None),
        (macro, lambda y, p, c: macro(y, c[p.argmax(1)])),
        (make_scorer(balanced_accuracy_score), lambda y, p, c: balanced_accuracy_score(y, c[p.argmax(1)])),
        (wrong_loss, lambda y, p, c: balanced_accuracy_score(y, c[p.argmax(1)]) - 1.0),
        (losses.Multinomial(3), lambda y, p, c: -log_loss(y, p)),
        (lambda estimator, X, y: (estimator.predict(X) == y).mean(), lambda y, p, c: (c[p.argmax(1)] == y).mean()),
    ],
)
def test_any_score_of_classes(scoring, wanted):
    X, y = classes()
    fitted = [one.fit(X[:120], y[:120]) for _, one in class_pool()]
    model = EnsembleSelectionClassifier(estimators=fitted, scoring=scoring).fit(X[120:], y[120:])
    assert model.best_score_ >= model.scores_.max()
    if wanted is not None:
        assert model.best_score_ == pytest.approx(wanted(y[120:], model.predict_proba(X[120:]), model.classes_))


@pytest.mark.parametrize("scoring", ["r2", "absolute_error", "huber", "neg_max_error", losses.Quantile(0.5), mean_absolute_error])
def test_any_score_of_numbers(scoring):
    X, y = numbers()
    fitted = [one.fit(X[:120], y[:120]) for _, one in number_pool()]
    model = EnsembleSelectionRegressor(estimators=fitted, scoring=scoring).fit(X[120:], y[120:])
    assert model.best_score_ >= model.scores_.max()
    if scoring in ("absolute_error", mean_absolute_error):
        assert model.best_score_ == pytest.approx(-mean_absolute_error(y[120:], model.predict(X[120:])))


def test_the_area_under_the_curve_of_two_classes():
    X, y = classes()
    y = y == "oak"
    fitted = [one.fit(X[:120], y[:120]) for _, one in class_pool()]
    ours, slow = (EnsembleSelectionClassifier(estimators=fitted, scoring=one).fit(X[120:], y[120:]) for one in ("roc_auc", "roc_auc_ovr"))
    assert ours.path_ == pytest.approx(slow.path_)
    assert ours.order_.tolist() == slow.order_.tolist()


# Forests.


@pytest.mark.parametrize("more", [{}, {"voting": "hard", "criterion": "entropy", "min_samples_leaf": 4}])
def test_a_forest_is_pruned_to_a_forest(more):
    X, y = classes(400)
    forest = RandomForestClassifier(n_estimators=20, random_state=0, oob_score=True, **more).fit(X[:250], y[:250])
    model = EnsembleSelection(forest, n_selected=6).fit(X[250:], y[250:])
    small = model.pruned_ensemble()
    assert type(small) is RandomForestClassifier
    assert small.n_estimators == small.compact_forest_.n_trees == len(model.selected_) <= 6
    np.testing.assert_allclose(small.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-12)
    assert small.feature_importances_.sum() == pytest.approx(1.0)
    assert not hasattr(small, "oob_score_")
    assert hasattr(forest, "oob_score_")
    assert forest.compact_forest_.n_trees == 20
    with pytest.raises(ParameterError, match="importance out of the bag"):
        small.permutation_importance_oob(X[:250], y[:250])
    if not more:
        predicted = sum(weight * tree.predict_proba(X) for weight, tree in zip(model.weights_, forest.estimators_, strict=True))
        np.testing.assert_allclose(small.predict_proba(X), predicted, rtol=0, atol=1e-12)
        # The trees one by one are the same pool, of which those that help most come again.
        again = EnsembleSelection(forest, n_selected=6, with_replacement=True).fit(X[250:], y[250:])
        one_by_one = EnsembleSelectionClassifier(estimators=forest.estimators_, n_selected=6).fit(X[250:], y[250:])
        assert np.array_equal(one_by_one.weights_, again.weights_)
        assert one_by_one.member_names_ == again.member_names_
        assert len(set(again.weights_)) > 2
        np.testing.assert_allclose(again.pruned_ensemble().predict_proba(X), again.predict_proba(X), rtol=0, atol=1e-12)


def test_a_forest_of_numbers_keeps_its_quantiles():
    X, y = numbers()
    forest = RandomForestRegressor(n_estimators=12, random_state=0, quantiles=True).fit(X[:150], y[:150])
    whole = EnsembleSelection(forest, method="ordering", n_selected=1.0).fit(X[150:], y[150:]).pruned_ensemble()
    wanted = forest.predict_quantiles(X, calibrated=False)
    np.testing.assert_allclose(whole.predict_quantiles(X), wanted, rtol=1e-12)
    few = EnsembleSelection(forest, method="ordering", n_selected=5).fit(X[150:], y[150:])
    assert few.pruned_ensemble().predict_quantiles(X).shape == (240, 3)
    np.testing.assert_allclose(few.pruned_ensemble().predict(X), few.predict(X), rtol=1e-12)


def test_ensembles_of_scikit_learn():
    X, y = classes()
    bag = TheirBagging(TheirTree(max_depth=4), n_estimators=9, max_features=0.6, random_state=0).fit(X[:120], y[:120])
    for ensemble in (bag, TheirForest(9, random_state=0, max_depth=4).fit(X[:120], y[:120])):
        model = EnsembleSelection(ensemble).fit(X[120:], y[120:])
        small = model.pruned_ensemble()
        assert type(small) is type(ensemble)
        np.testing.assert_allclose(small.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-12)
    X, y = numbers()
    trees = TheirTrees(9, random_state=0, max_depth=4).fit(X[:120], y[:120])
    model = EnsembleSelection(trees).fit(X[120:], y[120:])
    np.testing.assert_allclose(model.pruned_ensemble().predict(X), model.predict(X), rtol=1e-12)


def test_our_bagging_with_columns_of_its_own():
    X, y = classes()
    bag = BaggingClassifier(n_estimators=9, max_features=0.6, random_state=0).fit(X[:120], y[:120])
    model = EnsembleSelection(bag, method="ordering", n_selected=9).fit(X[120:], y[120:])
    np.testing.assert_allclose(model.predict_proba(X), bag.predict_proba(X), rtol=0, atol=1e-12)
    with pytest.raises(ParameterError, match="estimators is a BaggingClassifier, of which no smaller copy"):
        model.pruned_ensemble()


# Tables, folds, weights.


def test_columns_are_matched_by_name():
    X, y = classes()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = EnsembleSelectionClassifier(estimators=class_pool(), cv=3).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    assert np.array_equal(model.predict_proba(frame[list("hgfedcba")]), model.predict_proba(frame))
    with pytest.raises(DataError, match="'c'"):
        model.predict(frame.drop(columns="c"))


def test_any_table_for_members_of_woodwind():
    X, y = classes(160)
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(wood=np.where(X[:, 0] > 0, "oak", None))
    pool = [RandomForestClassifier(n_estimators=5, random_state=0), ExtraTreesClassifier(n_estimators=5, random_state=0)]
    model = EnsembleSelectionClassifier(estimators=pool, cv=2).fit(frame, y)
    assert model.predict_proba(frame).shape == (160, 3)
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(frame[:80], y[:80])
    assert EnsembleSelection(forest).fit(frame[80:], y[80:]).predict(frame).shape == (160,)


def test_groups_and_time_order():
    X, y = classes(120)
    groups = np.arange(120) // 6
    model = EnsembleSelectionClassifier(estimators=class_pool(), cv=GroupKFold(4))
    model.fit(X, y, groups=groups)
    with pytest.warns(FoldWarning, match="held out by no fold"):
        EnsembleSelectionClassifier(estimators=class_pool(), cv=TimeSeriesSplit(3)).fit(X, y)
    with pytest.raises(DataError, match="learns other rows of its group"):
        EnsembleSelectionClassifier(estimators=class_pool(), cv=[(np.arange(60), np.arange(63, 120))]).fit(X, y, groups=np.zeros(120))


def test_a_weight_of_two_is_a_row_given_twice_for_members_that_are_trained():
    X, y = classes()
    fitted = [one.fit(X[:120], y[:120]) for _, one in class_pool()]
    times = np.random.default_rng(0).integers(0, 3, 120)
    for more in METHODS:
        weighted = EnsembleSelectionClassifier(estimators=fitted, random_state=0, **more).fit(X[120:], y[120:], sample_weight=times)
        repeated = EnsembleSelectionClassifier(estimators=fitted, random_state=0, **more)
        repeated.fit(np.repeat(X[120:], times, axis=0), np.repeat(y[120:], times))
        assert weighted.weights_ == pytest.approx(repeated.weights_)
        assert weighted.path_ == pytest.approx(repeated.path_)


def test_rows_of_weight_zero_are_absent_from_folds():
    X, y = classes()
    pool = [TheirTree(max_depth=4, random_state=0), GaussianNB()]
    there = np.random.default_rng(0).random(240) < 0.7
    one = EnsembleSelectionClassifier(estimators=pool, random_state=0).fit(X, y, sample_weight=there)
    other = EnsembleSelectionClassifier(estimators=pool, random_state=0).fit(X[there], y[there])
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_class_that_a_member_has_not_seen():
    X, y = load_iris(return_X_y=True)
    fitted = [GaussianNB().fit(X[:100], y[:100]), GaussianNB().fit(X[50:], y[50:])]  # one without class 2, one without class 0
    model = EnsembleSelectionClassifier(estimators=fitted, method="ordering", n_selected=2).fit(X, y)
    assert model.predict_proba(X).shape == (150, 3)
    assert model.predict_proba(X)[120, 0] <= 0.5


# Same bits.


@pytest.mark.parametrize("more", [{}, {"n_bags": 3}, {"method": "genetic", "n_generations": 3, "population": 6}], ids=str)
def test_the_number_of_threads_changes_nothing(more, monkeypatch):
    monkeypatch.setattr("woodwind.base.pool.LEAST_WORK", 100)
    monkeypatch.setattr("woodwind.selection.objectives.MANY", 0)
    X, y = classes()
    pool = [TheirTree(max_features=2, max_depth=depth) for depth in range(2, 6)]
    models = [EnsembleSelectionClassifier(estimators=pool, random_state=3, n_jobs=jobs, cv=2, **more).fit(X, y) for jobs in (1, 2, 5)]
    assert len({model.weights_.tobytes() for model in models}) == 1
    assert len({model.path_.tobytes() for model in models}) == 1
    assert len({model.predict_proba(X).tobytes() for model in models}) == 1


# A citizen.


def test_it_can_be_cloned_pickled_and_searched():
    X, y = classes(120)
    model = EnsembleSelectionClassifier(estimators=class_pool(), cv=2)
    grid = GridSearchCV(model, {"tree__max_depth": [1, 3], "method": ["greedy", "ordering"]}, cv=2).fit(X, y)
    again = pickle.loads(pickle.dumps(grid.best_estimator_))
    assert np.array_equal(again.predict_proba(X), grid.best_estimator_.predict_proba(X))
    fitted = [one.fit(X[:60], y[:60]) for _, one in class_pool()]
    kept = clone(EnsembleSelectionClassifier(estimators=fitted)).fit(X[60:], y[60:])
    assert kept.estimators_[0] in fitted
    forest = RandomForestClassifier(n_estimators=4, random_state=0).fit(X[:60], y[:60])
    assert clone(EnsembleSelection(forest)).fit(X[60:], y[60:]).predict(X).shape == (120,)
    assert EnsembleSelectionClassifier(estimators=fitted, prefit=False, cv=2).fit(X, y).estimators_[0] not in fitted


def test_the_kind_follows_from_the_members():
    assert type(EnsembleSelection([GaussianNB()])) is EnsembleSelectionClassifier
    assert type(EnsembleSelection({"a": Ridge(), "b": "drop"}, n_jobs=2)) is EnsembleSelectionRegressor
    assert type(EnsembleSelection(RandomForestRegressor())) is EnsembleSelectionRegressor
    with pytest.raises(ParameterError, match="classifiers and regressors"):
        EnsembleSelection([GaussianNB(), Ridge()])
    with pytest.raises(ParameterError, match="neither classifiers nor regressors"):
        EnsembleSelection([])


# What is refused.


@pytest.mark.parametrize(
    ("more", "error", "text"),
    [
        ({"method": "gredy"}, ParameterError, "Did you mean 'greedy'"),
        ({"n_selected": 4}, ParameterError, "n_selected=4, but there are 3 members"),
        ({"n_selected": 0}, ParameterError, "n_selected must be an integer of at least 1"),
        ({"scoring": "acuracy"}, ParameterError, "scoring='acuracy' is no scorer"),
        ({"scoring": 3}, ParameterError, "scoring must be None, the name of a scorer"),
        ({"scoring": losses.Poisson()}, ParameterError, "loss for another task"),
        ({"estimators": [GaussianNB(), Ridge()]}, ParameterError, "must be a classifier, and Ridge is none"),
        ({"estimators": []}, ParameterError, "non-empty list"),
        ({"estimators": [GaussianNB(), LogisticRegression()], "prefit": True}, MemberError, "'gaussiannb'.*is not fitted yet"),
        ({"cv": 1}, ParameterError, "cv must be an integer of at least 2"),
        ({"estimators": RandomForestClassifier()}, ParameterError, "RandomForestClassifier, one estimator"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(more, error, text):
    X, y = classes(60)
    with pytest.raises(error, match=text):
        EnsembleSelectionClassifier(**{"estimators": class_pool(), **more}).fit(X, y)


def test_more_of_what_is_refused():
    X, y = classes(90)
    boosting = TheirBoosting(n_estimators=2).fit(X, y)
    with pytest.raises(ParameterError, match="each learns a part of the answer"):
        EnsembleSelectionClassifier(estimators=boosting).fit(X, y)
    many = [TheirTree(max_depth=1) for _ in range(21)]
    with pytest.raises(ParameterError, match="at most 20 members, but there are 21"):
        EnsembleSelectionClassifier(estimators=many, method="exhaustive").fit(X, y)
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(X[y != "oak"], y[y != "oak"])
    with pytest.raises(ParameterError, match="y has the class 'oak', which the RandomForestClassifier has not been trained on"):
        EnsembleSelection(forest).fit(X, y)
    with pytest.raises(ParameterError, match="must be a regressor"):
        EnsembleSelectionRegressor(estimators=forest).fit(X, np.arange(90.0))
    model = EnsembleSelectionClassifier(estimators=class_pool(), cv=2).fit(X, y)
    with pytest.raises(TableError, match="contains NaN or infinity, which some members"):
        model.predict(np.full((1, 8), np.nan))
    with pytest.raises(ParameterError, match="estimators was no fitted ensemble"):
        model.pruned_ensemble()
    bagged = EnsembleSelection(TheirForest(9, random_state=0).fit(X, y), n_bags=3, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="no whole numbers"):
        bagged.pruned_ensemble()
