"""Stacking as estimators: equal to scikit-learn where they overlap, and what is its own."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import StackingClassifier as TheirClassifier
from sklearn.ensemble import StackingRegressor as TheirRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from woodwind import DataError, GradientBoostingClassifier, LogisticBlender, ParameterError, StackingClassifier, StackingRegressor
from woodwind.base.errors import MemberError

TWO = [("tree", DecisionTreeClassifier(max_depth=3, random_state=0)), ("bayes", GaussianNB())]
THREE = [*TWO, ("machine", LinearSVC(random_state=0))]
NUMBERS = [("tree", DecisionTreeRegressor(max_depth=3, random_state=0)), ("line", Ridge()), ("near", KNeighborsRegressor(7))]
LOGISTIC = LogisticRegression(tol=1e-2, max_iter=1000)


def binary(n=200):
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    return X[rows][:, :6], np.array(["good", "bad"])[y[rows]]


def three(n=150):
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    return X[rows], y[rows]


def numbers(n=200):
    X, y = load_diabetes(return_X_y=True)
    return X[:n], y[:n]


def frame(n=160, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"size": rng.normal(size=n), "wood": rng.choice(["oak", "elm", None], n), "age": rng.integers(0, 9, n) * 1.0})
    table.loc[::7, "age"] = np.nan
    return table, np.where(table["size"] + (table["wood"] == "oak") + 0.5 * rng.normal(size=n) > 0.4, "yes", "no")


# Against scikit-learn.


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("data", [binary, three], ids=["binary", "three"])
def test_it_is_the_stack_of_scikit_learn_bit_for_bit(data, passthrough):
    X, y = data()
    cv = StratifiedKFold(3, shuffle=True, random_state=1) if passthrough else StratifiedKFold(5)
    ours = StackingClassifier(estimators=THREE, final_estimator=LOGISTIC, cv=cv, passthrough=passthrough).fit(X, y)
    other = TheirClassifier(THREE, LOGISTIC, cv=cv, passthrough=passthrough).fit(X, y)
    assert np.array_equal(ours.final_estimator_.coef_, other.final_estimator_.coef_)
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        assert np.array_equal(getattr(ours, method)(X), getattr(other, method)(X)), method
    assert ours.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    assert ours.stack_method_ == other.stack_method_ == ["predict_proba", "predict_proba", "decision_function"]


@pytest.mark.parametrize("passthrough", [False, True])
def test_so_it_is_for_numbers(passthrough):
    X, y = numbers()
    ours = StackingRegressor(estimators=NUMBERS, final_estimator=LinearRegression(), cv=KFold(5), passthrough=passthrough).fit(X, y)
    other = TheirRegressor(NUMBERS, LinearRegression(), passthrough=passthrough).fit(X, y)
    assert np.array_equal(ours.final_estimator_.coef_, other.final_estimator_.coef_)
    assert np.array_equal(ours.predict(X), other.predict(X))
    assert ours.weights_.shape == (3 + 10 * passthrough,)


@pytest.mark.parametrize("data", [binary, three], ids=["binary", "three"])
def test_what_is_passed_on_is_what_cross_val_predict_says(data):
    X, y = data()
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    stack = StackingClassifier(estimators=TWO, cv=folds, oof_score=True, nested_folds=False).fit(X, y)
    predicted = [cross_val_predict(one, X, y, cv=folds, method="predict_proba") for _, one in TWO]
    wanted = np.hstack([one[:, 1:] if one.shape[1] == 2 else one for one in predicted])
    assert np.array_equal(stack.oof_predictions_[0], wanted)


def test_members_that_are_trained_already_are_taken_as_they_are():
    X, y = three()
    members = [(name, clone(one).fit(X[:70], y[:70])) for name, one in THREE]
    ours = StackingClassifier(estimators=members, final_estimator=LOGISTIC, cv="prefit").fit(X[70:], y[70:])
    other = TheirClassifier(members, LOGISTIC, cv="prefit").fit(X[70:], y[70:])
    assert np.array_equal(ours.predict_proba(X), other.predict_proba(X))
    assert ours.estimators_[0] is members[0][1]
    assert clone(ours).estimators[0][1] is members[0][1]  # a clone would have to be trained
    layers = StackingClassifier(estimators=members, cv="prefit", layers=[TWO], oof_score=True).fit(X[70:], y[70:])
    assert layers.score(X, y) > 0.9
    with pytest.raises(MemberError, match=r"'bayes'.*not fitted"):
        StackingClassifier(estimators=[members[0], ("bayes", GaussianNB())], cv="prefit").fit(X, y)


@pytest.mark.parametrize("passthrough", [False, True])
def test_two_layers_are_a_stack_within_a_stack_of_scikit_learn(passthrough):
    X, y = three()
    second = [("line", LOGISTIC), ("near", KNeighborsClassifier(9))]
    ours = StackingClassifier(
        estimators=TWO,
        layers=[second],
        final_estimator=LOGISTIC,
        cv=StratifiedKFold(5),
        nested_folds=False,
        passthrough=passthrough,
        link="identity",
    ).fit(X, y)
    # There the table is passed to the second layer, but only what that says to the blender: ours gets both.
    inner = TheirClassifier(second, LOGISTIC)
    other = TheirClassifier(TWO, inner, passthrough=passthrough).fit(X, y)
    if not passthrough:
        assert np.array_equal(ours.predict_proba(X), other.predict_proba(X))
        assert np.array_equal(ours.final_estimator_.coef_, other.final_estimator_.final_estimator_.coef_)
    members = other.final_estimator_.estimators_
    assert np.array_equal(ours.layers_[1][0].coef_, members[0].coef_)


def test_two_nested_layers_are_what_nested_stacks_say_by_hand():
    """Without fold g, a stack of the first layer is trained on the rest by scikit-learn; what its second layer predicts for g is passed
    on."""
    X, y = three()
    second = [("line", LOGISTIC), ("bayes", GaussianNB())]
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    stack = StackingClassifier(estimators=TWO, layers=[second], cv=folds, oof_score=True).fit(X, y)
    for trained, held in folds:
        inner = [(np.searchsorted(trained, np.intersect1d(a, trained)), np.searchsorted(trained, b)) for a, b in folds if b[0] != held[0]]
        predicted = []
        for _, one in second:
            below = TheirClassifier(TWO, clone(one), cv=inner).fit(X[trained], y[trained])
            predicted.append(below.predict_proba(X[held]))
        np.testing.assert_allclose(stack.oof_predictions_[1][held], np.hstack(predicted), rtol=0, atol=1e-12)


# Which rows are learned and asked.


class Witness(LogisticRegression):
    """Says of a row whether it has seen it; the number of the row is the last column."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = set(np.asarray(X)[:, -1].tolist())
        return super().fit(np.asarray(X)[:, :-1], y)

    def predict_proba(self, X):
        saw = np.array([row in self.seen_ for row in np.asarray(X)[:, -1].tolist()], float)
        return np.column_stack([1.0 - saw, saw])


WAYS = [
    {},
    {"nested_folds": False},
    {"blending": "holdout", "validation_fraction": 0.5},
    {"blending": "bootstrap", "cv": 4},
    {"blending": "bootstrap", "cv": 1},
    {"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)},
    {"cv": TimeSeriesSplit(4)},
    {"cv": TimeSeriesSplit(4), "nested_folds": False},
    {"cv": ShuffleSplit(4, random_state=0)},
]


@pytest.mark.parametrize("more", WAYS, ids=str)
@pytest.mark.parametrize("refit", [True, False])
def test_no_row_is_judged_by_a_model_that_saw_it_in_any_layer(more, refit):
    n = 90
    X = np.column_stack([np.random.default_rng(0).normal(size=(n, 2)), np.arange(n)])
    stack = StackingClassifier(estimators=[("w", Witness())], layers=2, passthrough=True, oof_score=True, refit=refit, **more)
    stack.fit(X, np.arange(n) % 2)
    for predicted, folds in zip(stack.oof_predictions_, stack.folds_, strict=False):
        scored = ~np.isnan(predicted[:, 0])
        assert scored.any()
        assert predicted[scored, 0].max() == 0.0
        assert all(np.intersect1d(trained, held).size == 0 for trained, held in folds)
        assert np.array_equal(np.unique(np.concatenate([held for _, held in folds])), np.flatnonzero(scored))
    if isinstance(more.get("cv"), TimeSeriesSplit):
        assert all(trained.max() < held.min() for folds in stack.folds_ for trained, held in folds)


def test_the_audit_refuses_a_splitter_that_lets_members_see_what_they_judge():
    X, y = three()
    folds = [(np.arange(150), np.arange(0, 150, 2)), (np.arange(0, 150, 2), np.arange(1, 150, 2))]
    with pytest.raises(DataError, match="learns 75 of the rows that it holds out"):
        StackingClassifier(estimators=TWO, cv=folds).fit(X, y)


@pytest.mark.parametrize("more", [{}, {"blending": "holdout"}, {"blending": "bootstrap"}, {"layers": 2}], ids=str)
def test_groups_stay_together(more):
    X, y = three()
    groups = np.repeat([f"g{i}" for i in range(30)], 5)
    stack = StackingClassifier(estimators=TWO, **more).fit(X, y, groups=groups)
    for folds in stack.folds_:
        assert all(not set(groups[trained]) & set(groups[held]) for trained, held in folds)
    with pytest.raises(DataError, match="other rows of its group"):
        StackingClassifier(estimators=TWO, cv=KFold(5)).fit(X, y, groups=np.tile(groups[::5], 5))


def test_the_blender_learns_from_judged_rows_only():
    X, y = numbers()
    stack = StackingRegressor(estimators=NUMBERS, final_estimator=KNeighborsRegressor(1), cv=TimeSeriesSplit(4)).fit(X, y)
    assert stack.final_estimator_.n_samples_fit_ == 160
    held = StackingRegressor(estimators=NUMBERS, final_estimator=KNeighborsRegressor(1), blending="holdout").fit(X, y)
    assert held.final_estimator_.n_samples_fit_ == 50


# The same bits, weights.


@pytest.mark.parametrize("more", [{}, {"layers": 2, "refit": False, "oof_score": True}, {"blending": "bootstrap"}], ids=str)
def test_the_number_of_threads_changes_nothing(more, monkeypatch):
    monkeypatch.setattr("woodwind.estimators.pools.members.WORTH_THREADS", 0.0)
    X, y = three(90)
    members = [("tree", DecisionTreeClassifier(max_features=1)), ("bayes", GaussianNB())]
    predicted = [StackingClassifier(estimators=members, random_state=5, n_jobs=jobs, **more).fit(X, y).predict_proba(X) for jobs in (1, 3)]
    assert predicted[0].tobytes() == predicted[1].tobytes()
    other = StackingClassifier(estimators=members, random_state=6, **more).fit(X, y).predict_proba(X)
    assert not np.array_equal(other, predicted[0])


class Weighed(GaussianNB):
    """Keeps the weights that it was given."""

    def fit(self, X, y, sample_weight=None):
        self.given_ = sample_weight
        return super().fit(X, y, sample_weight)


def test_weights_reach_the_members_and_the_blender():
    X, y = three()
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    stack = StackingClassifier(estimators=[Weighed()], final_estimator=Weighed(), cv=3).fit(X, y, weight)
    assert np.array_equal(stack.estimators_[0].given_, weight)
    assert np.array_equal(stack.final_estimator_.given_, weight)
    default = StackingClassifier(estimators=TWO).fit(X, y, weight)
    assert not np.array_equal(default.weights_, StackingClassifier(estimators=TWO).fit(X, y).weights_)
    with pytest.raises(TypeError, match="'near' would treat all rows alike"):
        StackingClassifier(estimators=[("near", KNeighborsClassifier())]).fit(X, y, weight)
    with pytest.raises(TypeError, match="'final_estimator' would treat"):
        StackingClassifier(estimators=TWO, final_estimator=KNeighborsClassifier()).fit(X, y, weight)


@pytest.mark.parametrize("more", [{}, {"layers": 2, "passthrough": True}, {"blending": "holdout"}], ids=str)
def test_rows_without_weight_are_absent(more):
    X, y = binary(120)
    weight = (np.random.default_rng(1).random(len(y)) > 0.3) * 1.0
    there = weight > 0
    members = [("tree", make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2, random_state=0))), ("bayes", GaussianNB())]
    stack = StackingClassifier(estimators=members, random_state=0, oof_score=True, **more)
    absent, removed = clone(stack).fit(X, y, weight), clone(stack).fit(X[there], y[there], weight[there])
    np.testing.assert_allclose(absent.predict_proba(X), removed.predict_proba(X), rtol=1e-10)
    assert np.isnan(absent.oof_predictions_[0][~there]).all()


# Blenders, layers, columns.


def test_several_blenders_are_combined():
    X, y = three()
    blenders = [("line", LOGISTIC), ("pool", LogisticBlender())]
    mean = StackingClassifier(estimators=TWO, final_estimator=blenders, random_state=0).fit(X, y)
    alone = [StackingClassifier(estimators=TWO, final_estimator=one, random_state=0).fit(X, y).predict_proba(X) for _, one in blenders]
    np.testing.assert_allclose(mean.predict_proba(X), np.mean(alone, axis=0), atol=5e-3)
    weighted = StackingClassifier(estimators=TWO, final_estimator=blenders, combine="weights").fit(X, y)
    assert weighted.final_estimator_.weights_.sum() == pytest.approx(1.0)
    changed = clone(mean).set_params(final_line__C=1e-6)
    assert changed.get_params()["final_line__C"] == 1e-6
    assert dict(mean.final_estimator)["line"].C == 1.0
    X, y = numbers()
    stack = StackingRegressor(estimators=NUMBERS, final_estimator=[Ridge(), LinearRegression()], combine="weights").fit(X, y)
    assert stack.score(X, y) > 0.3


def test_scores_labels_and_log_odds_may_be_passed_on():
    X, y = three()
    labels = StackingClassifier(estimators=TWO, stack_method="predict", final_estimator=LOGISTIC).fit(X, y)
    assert set(np.unique(labels.transform(X))) == {0.0, 1.0}
    assert labels.transform(X).shape == (150, 6)
    scores = StackingClassifier(estimators=[("machine", LinearSVC())], stack_method="decision_function").fit(X, y)
    assert scores.score(X, y) > 0.9
    odds = StackingClassifier(estimators=TWO, link="logit", final_estimator=LOGISTIC).fit(X, y)
    assert odds.transform(X).min() < -1.0
    with pytest.raises(ParameterError, match=r"machine .* does not implement the method predict_proba"):
        StackingClassifier(estimators=THREE, stack_method="predict_proba").fit(X, y)


def test_columns_that_say_nothing_new_may_be_dropped():
    X, y = binary()
    twice = [("one", GaussianNB()), ("other", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]
    stack = StackingClassifier(estimators=twice, final_estimator=LOGISTIC, drop_redundant=True, layers=2).fit(X, y)
    assert stack.get_feature_names_out().tolist() == ["stackingclassifier_one", "stackingclassifier_tree"]
    assert stack.transform(X).shape == (200, 2)


def test_every_layer_can_be_asked():
    X, y = three()
    stack = StackingClassifier(estimators=TWO, layers=["same", [("bayes", GaussianNB())]], cv=4).fit(X, y)
    assert [len(layer) for layer in stack.layers_] == [2, 2, 1]
    predicted = list(stack.staged_predict_proba(X))
    np.testing.assert_allclose(predicted[0], np.mean([one.predict_proba(X) for one in stack.estimators_], axis=0))
    assert np.array_equal(predicted[-1], stack.predict_proba(X))
    assert [len(labels) for labels in stack.staged_predict(X)] == [150] * 4
    assert len(list(StackingRegressor(estimators=NUMBERS).fit(*numbers()).staged_predict(numbers()[0]))) == 2
    assert len(stack.member_scores_) == len(stack.layer_scores_) == 3
    assert set(stack.member_scores_[0]) == {"tree", "bayes"}


def test_members_of_the_folds_can_be_kept_in_the_place_of_new_ones():
    X, y = numbers()
    stack = StackingRegressor(estimators=NUMBERS, refit=False, cv=4).fit(X, y)
    assert len(stack.estimators_) == 12
    assert len(stack.named_estimators_["line"]) == 4
    wanted = np.mean([one.predict(X) for one in stack.named_estimators_["line"]], axis=0)
    np.testing.assert_allclose(stack.transform(X)[:, 1], wanted)


def test_a_score_may_be_named():
    X, y = three()
    stack = StackingClassifier(estimators=TWO, scoring="roc_auc_ovr", oof_score=True).fit(X, y)
    assert all(0.8 < score <= 1.0 for score in [*stack.layer_scores_, *stack.member_scores_[0].values()])
    with pytest.raises(ParameterError, match="scoring='loud' is no scorer"):
        StackingClassifier(estimators=TWO, scoring="loud").fit(X, y)


# As a new user would.


def test_frames_with_text_and_gaps_are_stacked_and_passed_through():
    X, y = frame()
    members = [("boosting", GradientBoostingClassifier(n_estimators=20)), ("forest", GradientBoostingClassifier(n_estimators=5))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stack = StackingClassifier(estimators=members, passthrough=True, random_state=0).fit(X, y)
    assert stack.score(X, y) > 0.8
    assert np.array_equal(stack.predict_proba(X), stack.predict_proba(X[["age", "size", "wood"]]))
    assert "wood=oak" in stack.get_feature_names_out()
    with pytest.raises(DataError, match="'wood'"):
        stack.predict(X.drop(columns="wood"))


def test_sparse_tables_are_passed_through_as_such():
    X, y = three()
    X, members = csr_array(X), [("line", RidgeClassifier())]
    stack = StackingClassifier(estimators=members, passthrough=True, final_estimator=LOGISTIC, cv=StratifiedKFold(5)).fit(X, y)
    assert hasattr(stack.transform(X), "tocsr")
    other = TheirClassifier(members, LOGISTIC, passthrough=True).fit(X, y)
    np.testing.assert_allclose(stack.predict_proba(X), other.predict_proba(X), rtol=1e-9)


def test_members_layers_and_blender_can_be_searched_over():
    X, y = three()
    stack = StackingClassifier(estimators=TWO, layers=[{"near": KNeighborsClassifier()}], final_estimator=LOGISTIC, nested_folds=False)
    grid = {"tree__max_depth": [1, 2], "layer2_near__n_neighbors": [3, 7], "final_estimator__C": [1.0], "bayes": ["drop", GaussianNB()]}
    found = GridSearchCV(stack, grid, cv=2).fit(X, y)
    assert set(found.best_params_) == set(grid)
    assert found.score(X, y) > 0.9
    assert stack.layers[0]["near"].n_neighbors == 5  # what the user holds is not changed


def test_it_can_be_cloned_pickled_and_shown():
    X, y = three()
    stack = StackingClassifier(estimators={"bayes": GaussianNB()}, layers=[{"line": LOGISTIC}, "same"], nested_folds=False).fit(X, y)
    again = pickle.loads(pickle.dumps(stack))
    assert np.array_equal(again.predict_proba(X), stack.predict_proba(X))
    copy = clone(stack)
    assert not hasattr(copy, "estimators_")
    assert not hasattr(copy.estimators["bayes"], "classes_")
    text = stack._repr_html_()
    assert text.count("GaussianNB") > 2
    assert "final_estimator" in text
    assert "StackingClassifier" in repr(stack)
    with pytest.raises(AttributeError):
        StackingClassifier(estimators=TWO, final_estimator=RidgeClassifier()).fit(X, y).predict_proba  # noqa: B018


FAULTS = [
    ({"estimators": []}, "non-empty list"),
    ({"estimators": [GaussianNB]}, "is the class GaussianNB"),
    ({"estimators": [Ridge()]}, "must be a classifier"),
    ({"final_estimator": Ridge()}, "final_estimator must be a classifier"),
    ({"final_estimator": []}, "final_estimator is an empty list"),
    ({"layers": 0}, "layers must be"),
    ({"layers": [TWO, "again"]}, "layer 3 of layers is 'again'"),
    ({"layers": [[("a", Ridge())]]}, "layer 2: member 'a'"),
    ({"blending": "fold"}, "Did you mean 'folds'"),
    ({"cv": "fit"}, "cv must be"),
    ({"cv": 1}, "cv must be an integer of at least 2"),
    ({"blending": "bootstrap", "cv": KFold(3)}, "cv is the number of samples"),
    ({"cv": 2, "layers": 2}, "too few"),
    ({"cv": 2, "oof_score": True}, "no fold is left"),
    ({"cv": "prefit", "blending": "holdout"}, "nothing to train"),
    ({"stack_method": "proba"}, "stack_method must be"),
]


@pytest.mark.parametrize(("more", "predicted"), FAULTS, ids=lambda fault: str(fault)[:40])
def test_what_cannot_be_is_said_before_anything_is_trained(more, predicted):
    X, y = three()
    with pytest.raises(DataError if "cv" in more and more["cv"] == 2 else ParameterError, match=predicted):
        StackingClassifier(**({"estimators": TWO} | more)).fit(X, y)


def test_a_member_that_fails_is_named():
    X, y = three()
    with pytest.raises(MemberError, match="member 'near'"):
        StackingClassifier(estimators=[*TWO, ("near", KNeighborsClassifier(500))]).fit(X, y)
    with pytest.raises(MemberError, match="final_estimator"):
        StackingClassifier(estimators=TWO, final_estimator=LogisticRegression(C=-1.0)).fit(X, y)
