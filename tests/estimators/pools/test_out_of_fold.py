"""Predictions of rows by models that have not seen them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
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

import woodwind
from woodwind import DataError, ParameterError, out_of_fold_predictions
from woodwind.base.errors import FoldWarning, MemberError
from woodwind.estimators.base.splits import SplitRequest, read_folds
from woodwind.estimators.base.target import read_labels, read_regression_target
from woodwind.estimators.boosting import encoded_table
from woodwind.estimators.pools.out_of_fold import OutOfFold, out_of_fold
from woodwind.estimators.pools.pool import named_members

IRIS, SPECIES = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
MEMBERS = [
    make_pipeline(StandardScaler(), LogisticRegression()),
    GaussianNB(),
    KNeighborsClassifier(3),
    DecisionTreeClassifier(max_depth=3, random_state=0),
]
SPLITTERS = [StratifiedKFold(4), KFold(3, shuffle=True, random_state=1), StratifiedKFold(5, shuffle=True, random_state=2)]


def found(members, X, y, **more):
    how = {"cv": 5, "groups": None, "weight": None, "kind": "probabilities", "seed": 0, "threads": 1, "owner": "Test"} | more
    return out_of_fold(named_members(members, "Test", True), X, read_labels(y, "Test"), **how)


# Against scikit-learn.


@pytest.mark.parametrize("cv", SPLITTERS, ids=str)
@pytest.mark.parametrize("method", ["predict_proba", "predict"])
def test_answers_are_those_of_cross_val_predict_bit_for_bit(cv, method):
    X, y = IRIS[::6], LABELS[::6]
    predicted = out_of_fold_predictions(MEMBERS, X, y, cv=cv, method=method)
    for position, member in enumerate(MEMBERS):
        np.testing.assert_array_equal(predicted[:, position], cross_val_predict(member, X, y, cv=cv, method=method))


def test_decisions_and_numbers_are_those_of_cross_val_predict_too():
    two = SPECIES > 0
    for y in (two, LABELS):
        members = [MEMBERS[0], LinearSVC(random_state=0)]
        predicted = out_of_fold_predictions(members, IRIS, y, method="decision_function", cv=StratifiedKFold(3))
        for position, member in enumerate(members):
            np.testing.assert_array_equal(predicted[:, position], cross_val_predict(member, IRIS, y, method="decision_function", cv=3))
    members = [Ridge(), KNeighborsRegressor(2), DecisionTreeRegressor(random_state=0)]
    predicted = out_of_fold_predictions(dict(zip("abc", members, strict=True)), IRIS[:, :3], IRIS[:, 3], cv=KFold(7))
    for position, member in enumerate(members):
        np.testing.assert_array_equal(predicted[:, position], cross_val_predict(member, IRIS[:, :3], IRIS[:, 3], cv=7))


def test_one_estimator_alone_answers_without_the_axis_of_members():
    predicted = out_of_fold_predictions(GaussianNB(), IRIS, LABELS, cv=StratifiedKFold(5))
    np.testing.assert_array_equal(predicted, cross_val_predict(GaussianNB(), IRIS, LABELS, method="predict_proba"))
    assert out_of_fold_predictions(LinearSVC(), IRIS, LABELS).dtype == LABELS.dtype
    assert out_of_fold_predictions(GaussianNB(), pd.DataFrame(IRIS), pd.Series(LABELS, dtype="category")).shape == (150, 3)


# Nobody scores what it has learned.


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the rows that it was trained on, by their first column, and gives itself away if it is asked about one of them."""

    trainings = 0

    def fit(self, X, y, sample_weight=None):
        type(self).trainings += 1
        self.classes_ = np.unique(y)
        self.seen_ = set(np.asarray(X)[:, 0].astype(int).tolist())
        return self

    def predict_proba(self, X):
        asked = np.asarray(X)[:, 0].astype(int)
        out = np.zeros((len(asked), len(self.classes_)))
        out[np.arange(len(asked)), [int(row in self.seen_) for row in asked.tolist()]] = 1.0
        return out

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


GROUPS = np.repeat(np.arange(20), 3)
KINDS = [
    {},
    {"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)},
    {"cv": GroupKFold(4), "groups": GROUPS},
    {"cv": 4, "groups": GROUPS},
    {"cv": TimeSeriesSplit(5)},
    {"cv": ShuffleSplit(2, test_size=0.3, random_state=0)},
    {"cv": [(np.arange(30), np.arange(30, 60)), (np.arange(60) >= 30, np.arange(60) < 30)]},
    {"weight": np.tile([0.0, 1.0, 2.0], 20)},
]


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.FoldWarning")
@pytest.mark.parametrize("more", KINDS, ids=["stratified", "repeated", "groups", "group_number", "time", "shuffled", "lists", "weights"])
@pytest.mark.parametrize("threads", [1, 3])
def test_no_row_is_judged_by_a_model_that_saw_it(more, threads):
    X = np.column_stack([np.arange(60), np.ones(60)])
    y = np.tile([0, 1], 30)
    Recorder.trainings = 0
    predicted = found([("a", Recorder()), ("b", Recorder())], X, y, threads=threads, keep=True, **more)
    assert (predicted.predicted[predicted.scored][:, :, 0] == 1.0).all()  # the first class means: never seen
    assert np.isnan(predicted.predicted[~predicted.scored]).all()
    assert Recorder.trainings == 2 * len(predicted.folds)  # nothing is trained twice
    for pool, (trained, held) in zip(predicted.pools, predicted.folds, strict=True):
        for member in pool.members:
            weight = more.get("weight", np.ones(60))
            assert member.seen_ == set(trained[weight[trained] > 0].tolist())
            assert not member.seen_ & set(held.tolist())
            if "groups" in more:
                assert not {GROUPS[row] for row in member.seen_} & set(GROUPS[held].tolist())
    predicted.audit()


def test_the_audit_finds_a_row_that_was_learnt_and_one_that_nobody_judged():
    predicted = found([GaussianNB()], IRIS, LABELS)
    first = predicted.fold_results[0]
    leaky = first._replace(train_rows=np.append(first.train_rows, first.asked[0]))
    with pytest.raises(DataError, match=r"member 'gaussiannb': fold 0 learns 1 of the rows that it holds out, first row 0"):
        OutOfFold(predicted.predicted, predicted.scored, predicted.folds, (leaky, *predicted.fold_results[1:])).audit()
    with pytest.raises(DataError, match="not the rows that have answers"):
        OutOfFold(predicted.predicted, predicted.scored, predicted.folds, predicted.fold_results[1:]).audit()
    with pytest.raises(DataError, match="fold 0 holds out row 0 and learns other rows of its group"):
        OutOfFold(predicted.predicted, predicted.scored, predicted.folds, predicted.fold_results, groups=np.zeros(150, np.int64)).audit()


# Splits.


def test_repeated_folds_give_the_mean_of_repeats_and_votes_the_majority():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=3, random_state=0)
    once = [
        cross_val_predict(GaussianNB(), IRIS, LABELS, cv=list(cv.split(IRIS, LABELS))[3 * part : 3 * part + 3], method="predict_proba")
        for part in range(3)
    ]
    np.testing.assert_allclose(out_of_fold_predictions(GaussianNB(), IRIS, LABELS, cv=cv), np.mean(once, axis=0), rtol=1e-14)
    votes = np.array([predicted.argmax(axis=1) for predicted in once])
    most = [np.bincount(row).argmax() for row in votes.T]
    np.testing.assert_array_equal(out_of_fold_predictions(GaussianNB(), IRIS, SPECIES, cv=cv, method="predict"), most)


def test_in_time_order_the_first_rows_are_nan_and_it_is_said():
    X, y = IRIS[::-1, :3].copy(), IRIS[::-1, 3]
    with pytest.warns(FoldWarning, match="25 of 150 rows are held out by no fold, .* from row 0 on"):
        predicted = out_of_fold_predictions(Ridge(), X, y, cv=TimeSeriesSplit(5))
    assert np.isnan(predicted[:25]).all()
    np.testing.assert_allclose(predicted[25:50], Ridge().fit(X[:25], y[:25]).predict(X[25:50]), rtol=1e-12)
    shuffled = np.random.default_rng(0).permutation(150)
    with pytest.warns(FoldWarning, match="held out by no fold"):
        labels = out_of_fold_predictions(GaussianNB(), IRIS[shuffled], LABELS[shuffled], cv=TimeSeriesSplit(3), method="predict")
    assert labels[:39].tolist() == [None] * 39
    assert None not in labels[39:]


def test_a_class_that_a_fold_cannot_learn_has_no_probability_and_it_is_said():
    y = np.array(["a"] * 20 + ["b"] * 19 + ["c"])
    X = np.arange(40.0)[:, None]
    with pytest.warns(FoldWarning, match=r"absent from what some of the 5 folds learn: 'c' in fold 4\."):
        predicted = out_of_fold_predictions([LogisticRegression(), woodwind.DecisionTreeClassifier(), GaussianNB()], X, y)
    assert (predicted[39, :, 2] == 0.0).all()
    np.testing.assert_allclose(predicted.sum(axis=2), 1.0)


def test_a_fold_of_one_class_says_that_class():
    X, y = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1]
    halves = [(np.arange(4), np.arange(4, 8)), (np.arange(4, 8), np.arange(4))]
    for method, right in (("predict_proba", [[1, 0]] * 4 + [[0, 1]] * 4), ("decision_function", [0] * 8), ("predict", [0] * 4 + [1] * 4)):
        with pytest.warns(FoldWarning):
            predicted = out_of_fold_predictions(LogisticRegression(), X, y, cv=halves, method=method)
        assert predicted.tolist() == right[4:] + right[:4]


BAD = [
    ({"cv": 1}, ParameterError, "cv must be an integer of at least 2"),
    ({"cv": "five"}, ParameterError, "not 'five'"),
    ({"cv": 3.5}, ParameterError, "not 3.5"),
    ({"cv": []}, ParameterError, "without any split"),
    ({"cv": 60}, DataError, "cv=60 folds are more than there are rows of the largest class: 50"),
    ({"cv": KFold(200)}, DataError, "the 150 rows cannot be split by cv, a KFold"),
    ({"cv": GroupKFold(3)}, DataError, "The 'groups' parameter should not be None"),
    ({"cv": 3, "groups": np.arange(150) % 2}, DataError, "cv=3 folds are more than there are groups: 2"),
    ({"cv": KFold(3), "groups": np.arange(150) % 7}, DataError, "learns other rows of its group. Give a splitter that keeps groups"),
    ({"cv": [([0, 1], [1, 2])]}, DataError, "fold 0 learns 1 of the rows that it holds out, first row 1"),
    ({"cv": [([0, 1], [2, 2])]}, ParameterError, "holds a row out twice"),
    ({"cv": [([0, 1], [150])]}, ParameterError, "names row 150, and there are rows 0 to 149"),
    ({"cv": [([0, 1], [])]}, ParameterError, "split 0 of cv has no held-out rows"),
    ({"cv": [([0.5], [1])]}, ParameterError, "by whole numbers or by a mask"),
    ({"cv": [3]}, ParameterError, "is no pair"),
    ({"groups": [1, 2]}, DataError, "groups has 2 values"),
    ({"method": "oracle"}, ParameterError, "method must be 'auto', 'predict', 'predict_proba' or 'decision_function'"),
    ({"method": "decision_function"}, ParameterError, r"member 'gaussiannb' \(GaussianNB\) has no decision_function"),
    ({"sample_weight": [1, 2]}, DataError, "sample_weight"),
]


@pytest.mark.parametrize(("more", "kind", "predicted"), BAD, ids=[predicted for _, _, predicted in BAD])
def test_what_cannot_be_is_said(more, kind, predicted):
    with pytest.raises(kind, match=predicted):
        out_of_fold_predictions([GaussianNB()], IRIS, LABELS, **more)


def test_members_of_other_kinds_are_refused():
    with pytest.raises(ParameterError, match="has classifiers and regressors"):
        out_of_fold_predictions([GaussianNB(), Ridge()], IRIS, SPECIES)
    with pytest.raises(ParameterError, match="method='predict_proba' is for classifiers"):
        out_of_fold_predictions(Ridge(), IRIS, SPECIES, method="predict_proba")
    with pytest.raises(ParameterError, match=r"member 'linearsvc' \(LinearSVC\) has no predict_proba"):
        out_of_fold_predictions(LinearSVC(), IRIS, SPECIES, method="predict_proba")
    with pytest.raises(ParameterError, match="estimators is None"):
        out_of_fold_predictions(None, IRIS, SPECIES)
    with pytest.raises(MemberError, match=r"member 'knn' .* could not be trained. .*n_neighbors"):
        out_of_fold_predictions([("nb", GaussianNB()), ("knn", KNeighborsClassifier(-1))], IRIS, SPECIES)
    with pytest.raises(MemberError, match=r"member 'ours' .* could not be trained. ParameterError: .*n_estimators must be an integer"):
        out_of_fold_predictions([("ours", woodwind.GradientBoostingClassifier(n_estimators=0))], IRIS, SPECIES)


# Our own members.


def test_boosting_reads_the_table_once_for_all_folds_and_threads_change_nothing(monkeypatch):
    calls = []
    learn = encoded_table.Schema.learn
    monkeypatch.setattr(encoded_table.Schema, "learn", lambda *given, **more: calls.append(1) or learn(*given, **more))
    members = [
        ("a", woodwind.GradientBoostingClassifier(n_estimators=5, learning_rate=0.5, max_bins=16)),
        ("b", woodwind.GradientBoostingClassifier(n_estimators=3, learning_rate=0.5, max_bins=16)),
    ]
    frame = pl.DataFrame({"text": LABELS.tolist(), **{f"x{position}": IRIS[:, position] for position in range(4)}})
    one = found(members, frame, SPECIES % 2, seed=3, cv=3)
    assert len(calls) == 1
    assert (one.predicted.argmax(axis=2) == SPECIES[:, None] % 2).mean() > 0.9
    np.testing.assert_array_equal(one.predicted, found(members, frame, SPECIES % 2, seed=3, cv=3, threads=3).predicted)
    direct = woodwind.GradientBoostingClassifier(n_estimators=5, learning_rate=0.5, max_bins=16).fit(frame, SPECIES % 2)
    np.testing.assert_allclose(one.predicted[:, 0].mean(axis=0), direct.predict_proba(frame).mean(axis=0), atol=0.1)


def test_open_seeds_make_it_repeatable_and_differ_between_folds():
    forest = [woodwind.RandomForestClassifier(n_estimators=4)]
    one, same = found(forest, IRIS, LABELS, keep=True, cv=3), found(forest, IRIS, LABELS, cv=3)
    np.testing.assert_array_equal(one.predicted, same.predicted)
    assert len({pool.members[0].random_state for pool in one.pools}) == 3
    assert (found(forest, IRIS, LABELS, seed=1, cv=3).predicted != one.predicted).any()


@pytest.mark.parametrize("classes", [True, False])
def test_folds_of_a_number_are_shuffled_by_the_seed_and_classes_keep_their_shares(classes):
    y = np.repeat([0, 1], 100) if classes else np.arange(200.0)

    def folds(seed):
        target = read_labels(y, "test") if classes else read_regression_target(y, "test")
        return read_folds(5, y[:, None], SplitRequest("test", target, None, seed))

    held = [rows for _, rows in folds(0)]
    assert sorted(np.concatenate(held).tolist()) == list(range(200))
    assert all(len(rows) == 40 and rows.max() - rows.min() > 100 and (np.diff(rows) == 1).sum() < 30 for rows in held)
    if classes:
        assert all(y[rows].sum() == 20 for rows in held)
    assert all(map(np.array_equal, held, [rows for _, rows in folds(0)]))
    assert not np.array_equal(held[0], folds(1)[0][1])


@pytest.mark.parametrize(
    "ensemble",
    [
        woodwind.StackingRegressor(random_state=0),
        woodwind.VotingRegressor(weights="optimal", random_state=0),
        woodwind.EnsembleSelectionRegressor(random_state=0),
        woodwind.BayesianModelAveragingRegressor(random_state=0),
        woodwind.DynamicSelectionRegressor(random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_rows_that_come_sorted_teach_an_ensemble_what_they_teach_in_any_order(ensemble):
    # In folds of neighbours, the nearest neighbour looks useless: it is asked for targets beyond all that it knows.
    X = np.sort(np.random.default_rng(0).uniform(0, 10, 300))[:, None]
    y = np.floor(X[:, 0])
    members = {"near": KNeighborsRegressor(1), "line": Ridge()}
    model = clone(ensemble).set_params(estimators=members).fit(X, y)
    assert np.abs(model.predict(X[::7] + 1e-3) - y[::7]).mean() < 0.1
