import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import BaggingClassifier as TheirBagging
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from woodwind import BaggingClassifier, DataError, DynamicSelectionClassifier, DynamicSelectionRegressor, ParameterError, WoodwindError
from woodwind.estimators.dynamic import dynamic_model
from woodwind.selection.competence import count_of_hits
from woodwind.selection.methods import METHODS, REGRESSION_METHODS, Method

X, NUMBERS = make_classification(360, 6, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, flip_y=0.1, random_state=1)
Y = np.array(["ash", "beech", "cedar"])[NUMBERS]
TRAIN, SELECT, TEST = slice(0, 120), slice(120, 240), slice(240, None)
TREES = [DecisionTreeClassifier(max_depth=2, max_features=2, random_state=seed).fit(X[TRAIN], Y[TRAIN]) for seed in range(6)]
POOL = [*((f"tree{seed}", tree) for seed, tree in enumerate(TREES)), ("bayes", GaussianNB().fit(X[TRAIN], Y[TRAIN]))]
NEW = [("tree", DecisionTreeClassifier(max_depth=3, random_state=0)), ("bayes", GaussianNB())]
X_NUMBERS, Y_NUMBERS = make_regression(240, 4, noise=20.0, random_state=0)
Y_NUMBERS = Y_NUMBERS + 80.0 * (X_NUMBERS[:, 0] > 0)
NEW_NUMBERS = [("tree", DecisionTreeRegressor(max_depth=4, random_state=0)), ("line", LinearRegression())]


def fitted(method="knora_e", **more):
    return DynamicSelectionClassifier(estimators=POOL, method=method, random_state=0, **more).fit(X[SELECT], Y[SELECT])


class Says(ClassifierMixin, BaseEstimator):
    """A trained member that says what a column of the table says."""

    classes_, n_features_in_ = np.array([0, 1]), 3

    def __init__(self, column):
        self.column = column

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column].astype(int)

    def __sklearn_is_fitted__(self):
        return True


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_with_labels_and_shares_and_the_oracle_is_not_beaten(method):
    model = fitted(method)
    labels, probabilities = model.predict(X[TEST]), model.predict_proba(X[TEST])
    assert set(labels) <= set(Y)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (probabilities >= 0).all()
    assert np.mean(labels == Y[TEST]) <= model.oracle_score(X[TEST], Y[TEST])
    assert np.mean(labels == Y[TEST]) > 0.45
    if not method.startswith("a_") and method != "mcb":
        np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], labels)


@pytest.mark.parametrize("method", METHODS)
def test_answers_depend_neither_on_threads_nor_on_blocks_nor_on_the_other_rows(method, monkeypatch):
    whole = fitted(method, n_jobs=1).predict(X[TEST])
    monkeypatch.setattr(dynamic_model, "CHUNK", 7)
    monkeypatch.setattr(dynamic_model, "CHUNK_DISTANCES", 7 * 120)
    monkeypatch.setattr(dynamic_model, "BLOCK_ANSWERS", 50 * len(POOL))
    model = fitted(method, n_jobs=2)
    np.testing.assert_array_equal(model.predict(X[TEST]), whole)
    np.testing.assert_array_equal(model.predict(X[TEST][::-1])[::-1], whole)
    np.testing.assert_array_equal(model.predict(X[TEST][:1]), whole[:1])


@pytest.mark.parametrize("method", METHODS)
def test_copies_of_one_member_say_what_it_says(method):
    member = POOL[0][1]
    model = DynamicSelectionClassifier(estimators=[member, member, member, member], method=method).fit(X[SELECT], Y[SELECT])
    np.testing.assert_array_equal(model.predict(X[TEST]), member.predict(X[TEST]))


@pytest.mark.parametrize("method", ["ola", "rank", "knora_e", "lca", "mla"])
def test_the_one_member_that_is_right_about_the_region_is_asked(method):
    """The first column is the truth on the left, the second on the right, and the opposite elsewhere."""
    position = np.linspace(-1, 1, 60)
    truth = np.arange(60) % 2
    table = np.column_stack([np.where(position < 0, truth, 1 - truth), np.where(position < 0, 1 - truth, truth), 100 * position])
    model = DynamicSelectionClassifier(estimators=[Says(0), Says(1)], method=method, k=3, standardize=False).fit(table, truth)
    explained = model.explain_selection(table)
    far = np.abs(position) > 0.1
    assert all(explained.asked(row) == [model._model.pool.names[int(position[row] > 0)]] for row in np.flatnonzero(far))
    np.testing.assert_array_equal(model.predict(table)[far], truth[far])


def test_knora_e_is_what_a_loop_over_rows_finds():
    model = fitted("knora_e", standardize=False)
    votes = np.column_stack([member.predict(X[TEST]) for _, member in POOL])
    hits = np.column_stack([member.predict(X[SELECT]) for _, member in POOL]) == Y[SELECT][:, None]
    for row, label in enumerate(model.predict(X[TEST])):
        near = np.argsort(((X[SELECT] - X[TEST][row]) ** 2).sum(axis=1))[:7]
        for size in range(7, 0, -1):
            right = hits[near[:size]].all(axis=0)
            if right.any():
                break
        asked = votes[row][right if right.any() else slice(None)]
        names, counts = np.unique(asked, return_counts=True)
        assert label == names[counts.argmax()]


@pytest.mark.parametrize("more", [{"selection_size": 0.4}, {"cv": StratifiedKFold(3)}, {}], ids=["held out", "folds", "default"])
def test_members_that_are_not_fitted_are_trained_and_judged_on_other_rows(more):
    model = DynamicSelectionClassifier(estimators=NEW, random_state=0, **more).fit(X[:240], Y[:240])
    assert model.score(X[TEST], Y[TEST]) > 0.7
    assert list(model.named_estimators_) == ["tree", "bayes"]
    held = len(model.selection_rows_)
    assert held == (96 if "selection_size" in more else 240)
    assert not hasattr(NEW[1][1], "theta_")


def test_frames_with_text_and_gaps_and_columns_by_name():
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(kind=np.where(X[:, 0] > 0, "p", "q"))
    frame.loc[::7, "b"] = np.nan
    frame["kind"] = frame["kind"].where(frame.index % 11 != 0)
    model = DynamicSelectionClassifier(
        estimators=[BaggingClassifier(n_estimators=2, random_state=0), BaggingClassifier(n_estimators=3, random_state=1)],
        cv=2,
    ).fit(frame[:240], Y[:240])
    expected = model.predict(frame[240:])
    np.testing.assert_array_equal(model.predict(frame[240:][frame.columns[::-1]]), expected)
    assert np.mean(expected == Y[TEST]) > 0.6
    with pytest.raises(WoodwindError, match="'kind'"):
        model.predict(frame[240:].drop(columns="kind"))


@pytest.mark.parametrize(
    "ensemble",
    [
        TheirForest(8, random_state=0),
        TheirBagging(n_estimators=5, max_features=3, random_state=0),
        BaggingClassifier(n_estimators=5, random_state=0),
    ],
    ids=["forest", "columns", "ours"],
)
def test_a_fitted_ensemble_is_a_pool_also_where_members_see_different_columns(ensemble):
    ensemble.fit(X[TRAIN], Y[TRAIN])
    model = DynamicSelectionClassifier(estimators=ensemble, method="knora_u", voting="soft").fit(X[SELECT], Y[SELECT])
    assert len(model.estimators_) == len(ensemble.estimators_)
    assert model.score(X[TEST], Y[TEST]) > 0.6
    np.testing.assert_array_equal(clone(model).fit(X[SELECT], Y[SELECT]).predict(X[TEST]), model.predict(X[TEST]))


def test_search_over_methods_cloning_and_pickling():
    choices = {"method": ["ola", "knora_u"], "k": [3, 9], "tree__max_depth": [2]}
    grid = GridSearchCV(DynamicSelectionClassifier(estimators=NEW, cv=2), choices, cv=2)
    model = grid.fit(X[:240], Y[:240]).best_estimator_
    assert model.estimators_[0].max_depth == 2
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X[TEST]), model.predict_proba(X[TEST]))


def test_easy_queries_are_answered_by_their_neighbours_and_the_explanation_says_so():
    model = fitted(with_ih=True, ih_rate=0.3, safe_k=5, dfp=True)
    explained = model.explain_selection(X[TEST])
    assert {"easy", "selected", "unanimous"} == set(explained.reason)
    easy = np.flatnonzero(explained.reason == "easy")
    for row in easy:
        names, counts = np.unique(Y[SELECT][explained.rows[row][:5]], return_counts=True)
        assert explained.prediction[row] == names[counts.argmax()]
        assert explained.asked(row) == []
    np.testing.assert_array_equal(explained.prediction, model.predict(X[TEST]))


def test_explanations_have_weights_that_add_up_and_can_be_read_in_several_forms():
    model = fitted("knora_u")
    explained = model.explain_selection(X[TEST][:20])
    np.testing.assert_allclose(explained.weights.sum(axis=1), 1.0)
    np.testing.assert_array_equal(explained.prediction, model.predict(X[TEST][:20]))
    row = int(np.flatnonzero(explained.reason == "selected")[0])
    first = explained.to_dict()[row]
    assert len(first["members"]) == len(POOL)
    assert first["members"][0]["weight"] == explained.weights[row].max()
    assert len(first["region"]) == 7
    frame = pd.DataFrame(explained.to_columns())
    assert len(frame) == 20 * len(POOL)
    assert f"query {row}" in explained.text(row)
    assert "KNORA-Union" in explained.text(row)
    assert sum(explained.counts().values()) == (explained.weights != 0).sum()
    assert "20 queries" in repr(explained)


@pytest.mark.parametrize("method", ["des_rrc", "des_clustering", "single_best", "knop"])
def test_what_has_no_neighbours_is_explained_in_other_words(method):
    assert "scored by" in str(fitted(method).explain_selection(X[TEST][:3]))


def test_a_users_competence_and_distance_are_used():
    def first_only(facts, region):
        return np.eye(1, facts.n_members).repeat(len(region), axis=0)

    model = fitted(first_only)
    np.testing.assert_array_equal(model.predict(X[TEST]), POOL[0][1].predict(X[TEST]))
    np.testing.assert_array_equal(fitted(Method("mine", "", first_only, mode="weighting")).predict(X[TEST]), POOL[0][1].predict(X[TEST]))
    own = fitted(metric=lambda a, b: np.abs(a - b).sum(), k=3).predict(X[TEST])
    np.testing.assert_array_equal(own, fitted(metric="manhattan", k=3).predict(X[TEST]))
    with pytest.raises(DataError, match="first_rows must give one number for each query and member"):
        fitted(first_rows).predict(X[TEST])


def first_rows(facts):
    return facts.hits[:3].astype(float)


def test_mahalanobis_distance_does_not_depend_on_units():
    turned = X @ np.diag([1, 100, 1, 0.01, 1, 5]) + X[:, ::-1]
    pool = [DecisionTreeClassifier(max_depth=2, random_state=seed).fit(turned[TRAIN], Y[TRAIN]) for seed in range(2)]
    model = DynamicSelectionClassifier(estimators=pool, metric="mahalanobis").fit(turned[SELECT], Y[SELECT])
    other = clone(model).set_params(standardize=False).fit(turned[SELECT], Y[SELECT])
    np.testing.assert_array_equal(model.explain_selection(turned[TEST]).rows, other.explain_selection(turned[TEST]).rows)


def test_equal_parts_of_classes_in_a_region():
    rows = fitted(knne=True, k=7).explain_selection(X[TEST]).rows
    counts = np.stack([(Y[SELECT][rows] == label).sum(axis=1) for label in np.unique(Y)], axis=1)
    assert (counts.min(axis=1) >= 2).all()
    assert (counts.sum(axis=1) == 7).all()


def test_fast_search_finds_nearly_all_of_the_nearest():
    rng = np.random.default_rng(0)
    table, labels = rng.normal(size=(3000, 4)), rng.integers(0, 2, 3000)
    pool = [DecisionTreeClassifier(max_depth=2, random_state=seed).fit(table[:300], labels[:300]) for seed in range(2)]
    models = [DynamicSelectionClassifier(estimators=pool, search=search, random_state=0).fit(table, labels) for search in ("exact", "fast")]
    exact, fast = (model.explain_selection(table[:200] + 0.01).rows for model in models)
    shared = np.mean([len(set(a) & set(b)) / 7 for a, b in zip(exact, fast, strict=True)])
    assert shared > 0.9


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"method": "KNORA-E"}, "method must be one of 'ola'.*Did you mean 'knora_e'"),
        ({"method_options": {"alpha": 1}}, "'alpha', but the method 'knora_e' has no options"),
        ({"method": "ola", "method_options": {"selection_method": "worst"}}, "selection_method must be"),
        ({"method": "des_mi", "method_options": {"alpha": -1.0}}, "alpha must be above 0"),
        ({"metric": "manhatan"}, "metric='manhatan' does not measure"),
        ({"search": "fast", "metric": "cosine"}, "search='fast' goes by Euclidean"),
        ({"k": 5, "safe_k": 6}, "safe_k=6 is more than the k=5"),
        ({"method": "des_rrc", "with_ih": True}, "with_ih=True goes by the nearest rows"),
        ({"method": "des_clustering", "dfp": True}, "are clusters"),
        ({"k": 0}, "k must be"),
        ({"selection_size": 1.0}, "selection_size must be"),
        ({"method": "meta_des", "estimators": [LinearSVC(), GaussianNB()]}, "member 'linearsvc' .* has no predict_proba"),
        ({"estimators": [GaussianNB]}, "GaussianNB"),
        ({"estimators": []}, "estimators"),
    ],
)
def test_what_cannot_be_is_said_before_any_work_is_done(more, match):
    class Untouchable(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("trained")

    with pytest.raises(ParameterError, match=match) as caught:
        DynamicSelectionClassifier(**({"estimators": [Untouchable(), Untouchable()]} | more)).fit(X, Y)
    assert "DynamicSelectionClassifier" in str(caught.value)


def test_members_without_probabilities_vote_also_where_others_have_some():
    members = [LinearSVC(), GaussianNB(), LogisticRegression()]
    model = DynamicSelectionClassifier(estimators=members, voting="soft", cv=2).fit(X[:240], Y[:240])
    assert model.score(X[TEST], Y[TEST]) > 0.7


# Numbers.


@pytest.mark.parametrize("method", REGRESSION_METHODS)
def test_every_method_for_numbers_predicts_between_its_members_and_explains_it(method):
    model = DynamicSelectionRegressor(estimators=NEW_NUMBERS, method=method, random_state=0).fit(X_NUMBERS[:160], Y_NUMBERS[:160])
    found = model.predict(X_NUMBERS[160:])
    predicted = np.column_stack([member.predict(X_NUMBERS[160:]) for member in model.estimators_])
    assert (found >= predicted.min(axis=1) - 1e-9).all()
    assert (found <= predicted.max(axis=1) + 1e-9).all()
    assert model.score(X_NUMBERS[160:], Y_NUMBERS[160:]) > 0.6
    explained = model.explain_selection(X_NUMBERS[160:])
    np.testing.assert_allclose(explained.prediction, found)
    np.testing.assert_allclose(explained.weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(found[5:6], model.predict(X_NUMBERS[165:166]), rtol=1e-12)


@pytest.mark.parametrize("method", REGRESSION_METHODS)
def test_the_member_without_errors_near_a_row_is_asked_for_its_number(method):
    class Knows(LinearRegression):
        """Right on one side of zero, a thousand off on the other."""

        def predict(self, X):
            return np.asarray(X)[:, 0] + 1000.0 * (np.sign(np.asarray(X)[:, 0]) != self.side)

    table = np.linspace(-1, 1, 81)[:, None]
    members = [Knows().fit(table, table[:, 0]) for _ in range(2)]
    members[0].side, members[1].side = -1.0, 1.0
    model = DynamicSelectionRegressor(estimators=members, method=method, k=3, method_options=None).fit(table, table[:, 0])
    far = np.abs(table[:, 0]) > 0.2
    np.testing.assert_allclose(model.predict(table)[far], table[far, 0], atol=1e-4)


def test_a_choice_of_the_users_own_must_speak_of_all_members():
    def the_first(scores):
        return scores[:, :1] > 0.0

    method = Method("Whoever is first", "", count_of_hits, the_first)
    with pytest.raises(DataError, match=r"the_first must say for each query and member .* shape \(\d+, 1\) of bool came"):
        fitted(method).predict(X[TEST])


def test_a_trained_model_does_not_ask_members_for_their_tags():
    class Counts(DecisionTreeClassifier):
        asked = 0

        def __sklearn_tags__(self):
            Counts.asked += 1
            return super().__sklearn_tags__()

    model = DynamicSelectionClassifier(estimators=[("one", Counts(max_depth=1)), ("two", Counts(max_depth=2))], random_state=0)
    with pytest.raises(NotFittedError):
        model.predict(X[TEST])
    model.fit(X[SELECT], Y[SELECT])
    Counts.asked = 0
    assert len(model.estimators_) == 2
    assert Counts.asked == 0


def test_a_users_competence_for_numbers():
    def less_wrong(facts, region):
        return 1.0 / (1.0 + facts.errors[region.neighbours].mean(axis=1))

    model = DynamicSelectionRegressor(estimators=NEW_NUMBERS, method=less_wrong, mode="weighting", k=5, cv=3).fit(X_NUMBERS, Y_NUMBERS)
    assert model.score(X_NUMBERS, Y_NUMBERS) > 0.7


def test_whole_weights_are_rows_given_so_often():
    count = np.random.default_rng(0).integers(0, 3, 120)
    again = np.repeat(np.arange(120), count)
    weighed = DynamicSelectionClassifier(estimators=POOL).fit(X[SELECT], Y[SELECT], sample_weight=count)
    given = DynamicSelectionClassifier(estimators=POOL).fit(X[SELECT][again], Y[SELECT][again])
    np.testing.assert_array_equal(weighed.predict(X[TEST]), given.predict(X[TEST]))


@pytest.mark.parametrize("selection_size", [None, 0.4])
def test_rows_of_one_group_are_held_out_together(selection_size):
    """Copies of a row, learned by a nearest neighbour, would make it look perfect."""
    rng = np.random.default_rng(0)
    X, y, groups = np.repeat(rng.normal(size=(60, 4)), 4, axis=0), np.repeat(rng.integers(0, 2, 60), 4), np.repeat(np.arange(60), 4)
    pool = [("near", KNeighborsClassifier(1)), ("bayes", GaussianNB())]
    cv = 5 if selection_size else GroupKFold(5)
    model = DynamicSelectionClassifier(pool, method="ola", selection_size=selection_size, cv=cv, random_state=0).fit(X, y, groups=groups)
    facts = model._model.facts
    assert facts.hits[:, 0].mean() < 0.8
    if selection_size:
        assert (np.bincount(model.selection_rows_ // 4, minlength=60) % 4 == 0).all()
