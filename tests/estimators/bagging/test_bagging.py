"""Bagging as estimators."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.ensemble._bagging as theirs
from scipy.sparse import csc_array
from scipy.stats import randint
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_friedman1
from sklearn.ensemble import BaggingClassifier as TheirClassifier
from sklearn.ensemble import BaggingRegressor as TheirRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, make_scorer, mean_absolute_error, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.tree import DecisionTreeRegressor as TheirRegressionTree

from woodwind import BaggingClassifier, BaggingRegressor, DataError, DecisionTreeClassifier, DecisionTreeRegressor, ParameterError
from woodwind.base.errors import InterruptWarning, MemberError, OutOfBagWarning

KINDS = [
    {},
    {"bootstrap": False, "max_samples": 0.6},
    {"max_features": 0.5},
    {"max_samples": 40, "max_features": 3, "bootstrap_features": True},
    {"bootstrap": False, "max_features": 2},
]


def numbers(seed=0, n=160):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    return X, 3 * X[:, 0] + np.sin(4 * X[:, 1]) * X[:, 2] + rng.normal(size=n)


def classes(seed=0, n=160):
    X, y = numbers(seed, n)
    return X, np.array(["elm", "fig", "oak"])[np.digitize(y, [-1.5, 1.5])]


# Against scikit-learn.


@pytest.mark.parametrize("more", KINDS, ids=str)
def test_members_are_the_trees_of_scikit_learn_on_the_same_rows_and_columns(more):
    X, y = numbers()
    bag = BaggingRegressor(n_estimators=6, random_state=1, **more).fit(X, y)
    for member, rows, columns in zip(bag.estimators_, bag.estimators_samples_, bag.estimators_features_, strict=True):
        other = TheirRegressionTree(random_state=0).fit(X[rows][:, columns], y[rows])
        seen = X[np.unique(rows)][:, columns]  # new rows may fall between two values, where float32 thresholds differ
        np.testing.assert_allclose(member.predict(seen), other.predict(seen), rtol=0, atol=1e-12)


OTHERS = [GaussianNB(), KNeighborsClassifier(3), LogisticRegression(max_iter=1000), RidgeClassifier(), TheirTree(max_depth=2)]


# More than half of the rows, so that all are given with weights, as there.
DRAWS = [{}, {"bootstrap": False, "max_samples": 0.6}, {"max_features": 0.5}, {"max_samples": 140, "max_features": 3}]


@pytest.mark.parametrize("more", DRAWS, ids=str)
@pytest.mark.parametrize("estimator", OTHERS, ids=str)
def test_with_the_same_draws_probabilities_are_those_of_scikit_learn_bit_for_bit(estimator, more, monkeypatch):
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape) * 1e-3
    ours = BaggingClassifier(estimator=estimator, n_estimators=7, random_state=2, **more).fit(X, y)
    draws = iter(zip(ours.estimators_features_, ours.estimators_samples_, strict=True))
    monkeypatch.setattr(theirs, "_generate_bagging_indices", lambda *_: next(draws))
    other = TheirClassifier(estimator, n_estimators=7, random_state=2, **more).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-16)  # a step where votes tie
    if isinstance(estimator, LogisticRegression):
        np.testing.assert_array_equal(ours.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("estimator", [LinearRegression(), KNeighborsRegressor(3)], ids=str)
def test_with_the_same_draws_numbers_are_those_of_scikit_learn(estimator, monkeypatch):
    X, y = numbers()
    X = X.astype(np.float64)
    ours = BaggingRegressor(estimator=estimator, n_estimators=7, max_features=0.6, random_state=2).fit(X, y)
    draws = iter(zip(ours.estimators_features_, ours.estimators_samples_, strict=True))
    monkeypatch.setattr(theirs, "_generate_bagging_indices", lambda *_: next(draws))
    other = TheirRegressor(estimator, n_estimators=7, random_state=2, max_features=0.6).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=1e-12)  # columns are laid out otherwise for BLAS


@pytest.mark.parametrize("bag", [BaggingClassifier, BaggingRegressor])
def test_all_rows_and_columns_without_replacement_are_the_single_tree(bag):
    X, y = numbers() if bag is BaggingRegressor else classes()
    tree = (DecisionTreeRegressor if bag is BaggingRegressor else DecisionTreeClassifier)().fit(X, y)
    one = bag(bootstrap=False, n_estimators=1).fit(X, y)
    assert one.estimators_[0].forest_.digest() == tree.forest_.digest()
    assert np.array_equal(bag(bootstrap=False, n_estimators=4).fit(X, y).predict(X), tree.predict(X))


def test_the_case_worked_by_hand():
    """docs/algorithms/bagging.md: each member learns four rows, and is scored by those that it left out."""
    X, y = [[0], [1], [4], [5]], [1, 3, 10, 12]
    bag = BaggingRegressor(estimator=DecisionTreeRegressor(max_depth=1), n_estimators=3, oob_score=True, random_state=0).fit(X, y)
    assert [rows.tolist() for rows in bag.estimators_samples_] == [[0, 1, 2, 2], [0, 0, 2, 3], [1, 1, 3, 3]]
    assert bag.predict(X).tolist() == [2.0, 2.0, 11.0, 11.0]
    assert bag.oob_prediction_.tolist() == [3.0, 1.0, 12.0, 10.0]
    assert bag.oob_score_ == pytest.approx(1 - 16 / 85)


# Same bits.


DRAWN = {"max_bins": [None, 8], "max_depth": randint(1, 9)}


@pytest.mark.parametrize("more", [{}, {"max_features": 2}, {"param_distributions": DRAWN}], ids=["rows", "columns", "parameters"])
def test_the_number_of_threads_changes_nothing(more):
    X, y = classes(n=400)
    bags = [BaggingClassifier(n_estimators=30, random_state=3, n_jobs=jobs, oob_score=True, **more).fit(X, y) for jobs in (1, 2, 5)]
    assert len({bag._members.forest.digest() for bag in bags}) == 1
    assert len({bag.oob_decision_function_.tobytes() for bag in bags}) == 1
    assert len({bag.predict_proba(X).tobytes() for bag in bags}) == 1


@pytest.mark.parametrize("estimator", [TheirTree(max_depth=5, max_features=1), LogisticRegression()], ids=str)
def test_nor_does_it_for_members_of_other_kinds(estimator, monkeypatch):
    monkeypatch.setattr("woodwind.estimators.pools.members.WORTH_THREADS", 0.0)
    monkeypatch.setattr("woodwind.estimators.pools.members.WORTH_PROCESSES", 0.0)
    X, y = classes()
    bags = [BaggingClassifier(estimator=estimator, n_estimators=5, random_state=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    assert bags[0].predict_proba(X).tobytes() == bags[1].predict_proba(X).tobytes()


def test_a_member_depends_on_its_number_alone():
    X, y = numbers()
    few, many = (BaggingRegressor(n_estimators=count, random_state=4).fit(X, y) for count in (3, 9))
    assert [one.forest_.digest() for one in few.estimators_] == [one.forest_.digest() for one in many.estimators_[:3]]
    other = BaggingRegressor(n_estimators=3, random_state=5).fit(X, y)
    assert other.estimators_[0].forest_.digest() != few.estimators_[0].forest_.digest()


@pytest.mark.parametrize("estimator", [None, KNeighborsRegressor(2)], ids=str)
def test_warm_start_adds_what_would_have_been_there(estimator):
    X, y = numbers()
    grown = BaggingRegressor(estimator=estimator, n_estimators=4, random_state=4, warm_start=True, oob_score=False).fit(X, y)
    grown.set_params(n_estimators=15, oob_score=True).fit(X, y)
    at_once = BaggingRegressor(estimator=estimator, n_estimators=15, random_state=4, oob_score=True).fit(X, y)
    assert np.array_equal(grown.predict(X), at_once.predict(X))
    assert grown.oob_score_ == at_once.oob_score_
    assert np.array_equal(grown.fit(X, y).predict(X), at_once.predict(X))
    with pytest.raises(ParameterError, match="n_estimators=3 is less than the 15 members"):
        grown.set_params(n_estimators=3).fit(X, y)
    with pytest.raises(DataError, match="n_rows was 160 and is 100"):
        grown.set_params(n_estimators=20).fit(X[:100], y[:100])
    with pytest.raises(ParameterError, match="Give the same estimator"):
        grown.set_params(estimator=LinearRegression()).fit(X, y)
    assert len(grown.estimators_) == 15


# Tables.


def test_any_table_gives_the_same_model():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcde"))
    plain = BaggingRegressor(n_estimators=4, max_features=0.6, random_state=0).fit(X, y).predict(X)
    for table in (frame, pl.DataFrame(frame), pa.Table.from_pandas(frame), csc_array(X), X.tolist()):
        assert np.array_equal(BaggingRegressor(n_estimators=4, max_features=0.6, random_state=0).fit(table, y).predict(table), plain)


@pytest.mark.parametrize("estimator", [LinearRegression(), KNeighborsRegressor()], ids=str)
def test_any_table_for_any_estimator(estimator):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcde"))
    plain = BaggingRegressor(estimator=estimator, n_estimators=3, max_features=0.6, random_state=0)
    wanted = clone(plain).fit(X, y).predict(X)
    for table in (frame, pl.DataFrame(frame), pa.Table.from_pandas(frame), csc_array(X), X.tolist()):
        np.testing.assert_allclose(clone(plain).fit(table, y).predict(table), wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("estimator", [None, DecisionTreeRegressor(max_bins=16), LinearRegression()], ids=str)
def test_columns_are_matched_by_name(estimator):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcde"))
    bag = BaggingRegressor(estimator=estimator, n_estimators=3, max_features=3, random_state=0).fit(frame, y)
    assert bag.feature_names_in_.tolist() == list("abcde")
    assert np.array_equal(bag.predict(frame[list("edcba")]), bag.predict(frame))
    with pytest.raises(DataError, match="'c'"):
        bag.predict(frame.drop(columns="c"))


def test_text_categories_dates_and_missing_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "wood": rng.choice(["oak", "elm", None], 200),
            "when": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, 200), unit="D"),
            "x": np.where(rng.random(200) < 0.2, np.nan, rng.normal(size=200)),
        }
    )
    y = np.where((frame["wood"] == "oak") | (frame["x"] > 1), "yes", "no")
    bag = BaggingClassifier(oob_score=True, max_features=2, random_state=0).fit(frame, y)
    assert bag.oob_score_ > 0.9
    assert bag.feature_importances_.shape == (3,)
    member, columns = bag.estimators_[0], bag.estimators_features_[0]
    assert member.feature_names_in_.tolist() == frame.columns[columns].tolist()
    assert member.predict(frame.iloc[:, columns]).shape == (200,)


def test_a_member_answers_for_the_columns_that_it_has_seen():
    X, y = classes()
    for more in ({"max_features": 3}, {"bootstrap_features": True}):
        bag = BaggingClassifier(n_estimators=5, random_state=1, **more).fit(X, y)
        pairs = list(zip(bag.estimators_, bag.estimators_features_, strict=True))
        mean = sum(member.predict_proba(X[:, columns]) for member, columns in pairs) / 5
        assert np.array_equal(bag.predict_proba(X), mean)
        importances = np.zeros(5)
        for member, columns in pairs:
            np.add.at(importances, columns, member.feature_importances_ / 5)
        assert bag.feature_importances_ == pytest.approx(importances)


# Out of bag.


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=3), GaussianNB(), KNeighborsClassifier(1)], ids=str)
def test_out_of_bag_is_what_the_members_say_that_have_not_seen_a_row(estimator, voting):
    X, y = classes()
    bag = BaggingClassifier(estimator=estimator, n_estimators=40, oob_score=True, voting=voting, max_features=0.8, random_state=0).fit(X, y)
    total, voters = np.zeros((len(X), 3)), np.zeros(len(X))
    for member, rows, columns in zip(bag.estimators_, bag.estimators_samples_, bag.estimators_features_, strict=True):
        out = np.setdiff1d(np.arange(len(X)), rows)
        predicted = member.predict_proba(X[out][:, columns])
        if voting == "hard":
            predicted = np.eye(3)[np.searchsorted(bag.classes_, member.predict(X[out][:, columns]))]
        total[out] += predicted
        voters[out] += 1
    np.testing.assert_allclose(bag.oob_decision_function_, total / voters[:, None], rtol=0, atol=1e-15)
    assert np.array_equal(bag.oob_prediction_, bag.classes_[bag.oob_decision_function_.argmax(axis=1)])
    assert bag.oob_score_ == (bag.oob_prediction_ == y).mean()


def test_out_of_bag_numbers():
    X, y = numbers()
    bag = BaggingRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    total, voters = np.zeros(len(X)), np.zeros(len(X))
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(X)), rows)
        total[out] += member.predict(X[out])
        voters[out] += 1
    assert np.array_equal(bag.oob_prediction_, total / voters)


def test_out_of_bag_error_is_that_of_new_rows():
    X, y = make_friedman1(3000, random_state=0, noise=1.0)
    X, new, y, target = train_test_split(X, y, test_size=2000, random_state=0)
    bag = BaggingRegressor(n_estimators=100, oob_score=True, random_state=0).fit(X, y)
    inside, outside = (bag.oob_prediction_ - y) ** 2, (bag.predict(new) - target) ** 2
    error = np.hypot(inside.std() / len(inside) ** 0.5, outside.std() / len(outside) ** 0.5)
    assert abs(inside.mean() - outside.mean()) < 2 * error


SCORES = [
    ("roc_auc_ovr", lambda y, probabilities, _: roc_auc_score(y, probabilities, multi_class="ovr")),
    ("balanced_accuracy", lambda y, _, predicted: balanced_accuracy_score(y, predicted)),
    (balanced_accuracy_score, lambda y, _, predicted: balanced_accuracy_score(y, predicted)),
    (make_scorer(balanced_accuracy_score), lambda y, _, predicted: balanced_accuracy_score(y, predicted)),
    (lambda estimator, X, y: (estimator.predict(X) == y).mean() + 1, lambda y, _, predicted: (y == predicted).mean() + 1),
]


@pytest.mark.parametrize(("score", "wanted"), SCORES)
def test_any_metric_judges_out_of_bag(score, wanted):
    X, y = classes()
    bag = BaggingClassifier(oob_score=score, random_state=0).fit(X, y)
    assert bag.oob_score_ == pytest.approx(wanted(y, bag.oob_decision_function_, bag.oob_prediction_))
    X, y = numbers()
    number = BaggingRegressor(oob_score=mean_absolute_error, random_state=0).fit(X, y)
    assert number.oob_score_ == mean_absolute_error(y, number.oob_prediction_)


@pytest.mark.parametrize("estimator", [None, GaussianNB()], ids=str)
def test_rows_that_every_member_has_seen_are_named(estimator):
    X, y = classes()
    with pytest.warns(OutOfBagWarning, match=r"of 160 rows have no out-of-bag prediction.*rows \d+, .*Raise n_estimators"):
        bag = BaggingClassifier(estimator=estimator, n_estimators=2, oob_score=True, random_state=0).fit(X, y)
    silent = np.isnan(bag.oob_decision_function_).all(axis=1)
    assert 40 < silent.sum() < 90
    assert bag.oob_score_ == (bag.oob_prediction_ == y)[~silent].mean()


def test_nothing_is_left_of_an_earlier_fit():
    X, y = classes()
    bag = BaggingClassifier(oob_score=True, random_state=0).fit(pd.DataFrame(X, columns=list("abcde")), y)
    bag.set_params(oob_score=False).fit(X, y)
    assert not any(hasattr(bag, name) for name in ("oob_score_", "oob_prediction_", "oob_decision_function_", "feature_names_in_"))


def test_pasting_a_part_leaves_rows_out_as_well():
    X, y = numbers()
    assert 0.3 < BaggingRegressor(bootstrap=False, max_samples=0.5, oob_score=True, random_state=0).fit(X, y).oob_score_ < 1


# Voting.


def test_voters_are_counted_and_ties_are_broken_alike_for_equal_rows():
    X, y = classes()
    bag = BaggingClassifier(n_estimators=4, voting="hard", random_state=0).fit(X, y)
    votes = np.array([member.predict(X) for member in bag.estimators_])
    counts = np.array([(votes == label).sum(axis=0) for label in bag.classes_]).T
    assert bag.predict_proba(X) == pytest.approx(counts / 4)
    assert np.array_equal(bag.predict(X), bag.classes_[bag.predict_proba(X).argmax(axis=1)])
    leads = counts == counts.max(axis=1, keepdims=True)
    assert leads[np.arange(len(X)), np.searchsorted(bag.classes_, bag.predict(X))].all()
    assert (leads.sum(axis=1) > 1).any()
    assert np.array_equal(bag.predict(X[::-1]), bag.predict(X)[::-1])


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("estimator", [None, KNeighborsClassifier(2)], ids=str)
def test_stages_are_smaller_bags(estimator, voting):
    X, y = classes()
    bag = BaggingClassifier(estimator=estimator, n_estimators=6, voting=voting, random_state=0).fit(X, y)
    small = BaggingClassifier(estimator=estimator, n_estimators=4, voting=voting, random_state=0).fit(X, y)
    probabilities, labels = list(bag.staged_predict_proba(X)), list(bag.staged_predict(X))
    assert len(probabilities) == len(labels) == 6
    assert np.array_equal(probabilities[3], small.predict_proba(X))
    assert np.array_equal(labels[3], small.predict(X))
    assert np.array_equal(labels[5], bag.predict(X))
    X, y = numbers()
    stages = list(BaggingRegressor(n_estimators=3, random_state=0).fit(X, y).staged_predict(X))
    assert np.array_equal(stages[1], BaggingRegressor(n_estimators=2, random_state=0).fit(X, y).predict(X))


# Diversity.


def test_flipped_labels_make_other_members():
    X, y = load_breast_cancer(return_X_y=True)
    plain = BaggingClassifier(bootstrap=False, n_estimators=5, random_state=0).fit(X, y)
    assert plain.score(X, y) == 1.0
    bag = BaggingClassifier(bootstrap=False, n_estimators=101, flip_rate=0.2, random_state=0).fit(X, y)
    wrong = np.mean([(member.predict(X) != y).mean() for member in bag.estimators_[:20]])
    assert wrong == pytest.approx(0.2, abs=0.02)  # full trees learn every label that is flipped
    assert bag.score(X, y) > 0.99


def test_smeared_outputs():
    X, y = numbers()
    bag = BaggingRegressor(bootstrap=False, n_estimators=60, smear=0.5, random_state=0).fit(X, y)
    noise = np.array([member.predict(X) - y for member in bag.estimators_])
    assert noise.std() == pytest.approx(0.5 * y.std(), rel=0.05)
    X, y = classes()
    smeared = BaggingClassifier(bootstrap=False, n_estimators=60, smear=0.8, random_state=0).fit(X, y)
    assert 0.02 < np.mean([(member.predict(X) != y).mean() for member in smeared.estimators_]) < 0.5
    assert smeared.score(X, y) > 0.95


@pytest.mark.parametrize("estimator", [None, make_pipeline(StandardScaler(), KNeighborsClassifier())], ids=["tree", "pipeline"])
def test_parameters_are_drawn_for_each_member(estimator):
    X, y = classes()
    name = "max_depth" if estimator is None else "kneighborsclassifier__n_neighbors"
    bag = BaggingClassifier(estimator=estimator, n_estimators=12, param_distributions={name: [1, 2, 3]}, random_state=0).fit(X, y)
    drawn = [member.get_params()[name] for member in bag.estimators_]
    assert set(drawn) == {1, 2, 3}
    if estimator is None:
        assert [member.get_depth() for member in bag.estimators_] == drawn


# Weights of classes.


def test_balanced_classes_are_drawn_alike():
    X, y = numbers(n=400)
    rare = y > np.quantile(y, 0.9)
    bag = BaggingClassifier(class_weight="balanced", random_state=0).fit(X, rare)
    probabilities = [rare[rows].mean() for rows in bag.estimators_samples_]
    assert np.mean(probabilities) == pytest.approx(0.5, abs=0.02)
    plain = BaggingClassifier(random_state=0).fit(X, rare)
    assert bag.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()


@pytest.mark.parametrize("more", [{}, {"bootstrap": False, "max_samples": 0.7}, {"estimator": KNeighborsClassifier()}], ids=str)
def test_a_class_without_weight_is_absent(more):
    X, y = classes()
    bag = BaggingClassifier(class_weight={"fig": 0}, n_estimators=5, random_state=0, **more).fit(X, y)
    assert bag.classes_.tolist() == ["elm", "oak"]
    assert all((y[rows] != "fig").all() for rows in bag.estimators_samples_)


# Errors and interrupts.


class Moody(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        if len(np.unique(sample_weight)) and sample_weight[0] == 2:
            raise ValueError("not today")
        return super().fit(X, y, sample_weight)


def test_a_member_that_fails_is_named():
    X, y = classes()
    with pytest.raises(MemberError, match=r"BaggingClassifier: member \d+ of 50 \(Moody with var_smoothing=0.5\).*ValueError: not today"):
        BaggingClassifier(estimator=Moody(), param_distributions={"var_smoothing": [0.5]}, random_state=0).fit(X, y)


def test_rows_of_one_class_are_told():
    X, y = classes()
    with pytest.raises(MemberError, match=r"member 0 of 50 \(LogisticRegression\).*one class: raise max_samples"):
        BaggingClassifier(estimator=LogisticRegression(), max_samples=1, random_state=0).fit(X, y)
    assert BaggingClassifier(max_samples=1, random_state=0).fit(X, y).predict(X).shape == (160,)


def test_what_becomes_of_the_estimator_later_does_not_matter():
    X, y = classes()
    tree = DecisionTreeClassifier(max_depth=2)
    bag = BaggingClassifier(estimator=tree, n_estimators=3, random_state=0).fit(X, y)
    tree.max_depth = 9
    assert bag.estimators_[0].max_depth == bag.estimator_.max_depth == 2
    assert not hasattr(tree, "forest_")


def test_an_interrupt_keeps_what_is_finished():
    X, y = classes()

    def press(step):
        if step.number == 3:
            raise KeyboardInterrupt

    bag = BaggingClassifier(random_state=0, callbacks=[press])
    with pytest.warns(InterruptWarning, match="after 3 of 50 members"):
        bag.fit(X, y)
    assert len(bag.estimators_) == len(bag.estimators_samples_) == 3
    assert np.array_equal(bag.predict_proba(X), BaggingClassifier(n_estimators=3, random_state=0).fit(X, y).predict_proba(X))


WRONG = [
    ({"estimator": TheirTree}, "estimator is the class DecisionTreeClassifier. Give an instance"),
    ({"estimator": 3}, "int has no fit"),
    ({"estimator": LinearRegression()}, "estimator must be a classifier, and LinearRegression is none.*BaggingRegressor"),
    ({"max_samples": 200, "bootstrap": False}, "max_samples=200, but there are 160 rows"),
    ({"max_samples": 1.5}, "max_samples must be"),
    ({"max_features": 9}, "max_features=9, but the table has 5 features"),
    ({"oob_score": True, "bootstrap": False}, "needs rows that a member has not seen"),
    ({"oob_score": "loudness"}, "oob_score='loudness' is no scorer"),
    ({"param_distributions": {"depth": [1]}}, "names 'depth', which is no parameter of DecisionTreeClassifier"),
    ({"param_distributions": {"max_depth": []}}, r"param_distributions\['max_depth'\] must be a list"),
    ({"param_distributions": {"random_state": [1]}}, "must not name 'random_state'"),
    ({"flip_rate": 0.9}, "flip_rate=0.9 is too much"),
    ({"smear": -1}, "smear must be"),
    ({"voting": "loud"}, "voting must be"),
    ({"estimator": DecisionTreeClassifier(max_depth=0)}, "DecisionTreeClassifier: max_depth must be"),
]


@pytest.mark.parametrize(("more", "message"), WRONG, ids=str)
def test_what_is_wrong_is_said_before_any_work(more, message, monkeypatch):
    def work(*_):
        raise AssertionError("work was done")

    monkeypatch.setattr("woodwind.estimators.bagging.tree_members.SharedTable.grow", work)
    monkeypatch.setattr("woodwind.estimators.pools.members.train_one", work)
    X, y = classes()
    bag = BaggingClassifier(**more)
    with pytest.raises(ParameterError, match=message):
        bag.fit(X, y)
    assert not hasattr(bag, "estimators_")


def test_rows_of_weight_zero_may_be_left_out_of_pasting():
    X, y = classes()
    weight = np.arange(len(X)) % 2
    bag = BaggingClassifier(bootstrap=False, n_estimators=3, random_state=0).fit(X, y, sample_weight=weight)
    assert all(np.array_equal(rows, np.flatnonzero(weight)) for rows in bag.estimators_samples_)


@pytest.mark.parametrize("estimator", [None, GaussianNB()], ids=str)
def test_a_pickled_bag_says_the_same(estimator):
    X, y = classes()
    bag = BaggingClassifier(estimator=estimator, n_estimators=5, max_features=0.6, voting="hard", random_state=0).fit(X, y)
    bag.estimators_, bag.predict(X)  # what is kept for later is not pickled
    again = pickle.loads(pickle.dumps(bag))
    assert np.array_equal(again.predict_proba(X), bag.predict_proba(X))
    assert all(map(np.array_equal, again.estimators_samples_, bag.estimators_samples_))
