"""Members of any kind, trained or taken as they are, and asked together."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.ensemble import VotingClassifier as TheirVoting
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import woodwind
from woodwind import ParameterError
from woodwind.base.errors import MemberError, MemberTypeError
from woodwind.data.tables.schema import Header
from woodwind.estimators.base.target import read_labels, read_regression_target
from woodwind.estimators.pools.fitting import weight_name
from woodwind.estimators.pools.pool import (
    Pool,
    are_fitted,
    are_numbers,
    class_indices,
    default_pool,
    header_of,
    joint_classes,
    named_members,
    trained_pool,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
Y = np.array(["elm", "fig", "oak"])[np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.6, 0.6])]
Z = X[:, 0] - 2 * X[:, 2]
OWNER = "Voting"


def named(*estimators, classifies=True):
    return named_members(list(estimators), OWNER, classifies)


def pool_of(*estimators, table=X, y=Y, weight=None, seed=0, threads=1):
    return trained_pool(named(*estimators), table, read_labels(y, OWNER), weight, seed=seed, threads=threads, owner=OWNER)


# Who is a member, and how members are called.


def test_members_without_names_are_called_by_their_types():
    found = named(GaussianNB(), LogisticRegression(), LogisticRegression(C=2), ("mine", GaussianNB()))
    assert [member.name for member in found] == ["gaussiannb", "logisticregression-1", "logisticregression-2", "mine"]


def test_a_dict_names_members_and_drop_leaves_one_out():
    found = named_members({"a": GaussianNB(), "b": "drop", "c": LogisticRegression()}, OWNER, True)
    assert [member.name for member in found] == ["a", "c"]


@pytest.mark.parametrize(
    ("given", "predicted"),
    [
        ([], "non-empty list"),
        ({}, "non-empty list"),
        ("forest", "must be a list of estimators, not 'forest'"),
        (GaussianNB(), "one estimator that has no estimators_"),
        ([("a", "drop")], "every member of estimators is 'drop'"),
        ([("a", GaussianNB), ("b", GaussianNB())], "is the class GaussianNB. Give an instance"),
        ([("a", GaussianNB()), ("a", GaussianNB())], "not unique: several members are called 'a'"),
        ([("a__b", GaussianNB())], "must not contain __"),
        ([("estimators", GaussianNB())], "conflict with constructor arguments: 'estimators'"),
        ([("a", 3)], "must be an estimator of scikit-learn's kind"),
        ([("a", None)], "must be an estimator of scikit-learn's kind"),
        ([("a", LinearRegression())], "must be a classifier, and LinearRegression is none"),
        ({3: GaussianNB()}, "must be text, but 3 is a int"),
        (GradientBoostingClassifier(n_estimators=2).fit(X, Y), "no models of their own"),
        (OneVsRestClassifier(LogisticRegression()).fit(X, Y), "no models of their own"),
    ],
    ids=str,
)
def test_what_is_no_pool_is_said_so(given, predicted):
    with pytest.raises(ParameterError) as caught:
        named_members(given, OWNER, True, reserved=["estimators"])
    assert predicted in str(caught.value)
    assert str(caught.value).startswith("Voting: ")


@pytest.mark.parametrize("classifies", [True, False])
def test_the_default_pool_is_made_of_different_models_of_the_right_kind(classifies):
    found = named_members(None, OWNER, classifies)
    assert [name for name, _ in default_pool(classifies)] == [member.name for member in found]
    assert len({type(member.estimator) for member in found}) == len(found) == 4


@pytest.mark.parametrize("classifies", [True, False])
def test_the_linear_member_of_the_default_pool_takes_any_table(classifies):
    table = frame().assign(day=pd.date_range("2020-01-01", periods=90), gap=np.where(X[:, 0] > 0, X[:, 1], np.nan))
    table.loc[3, "wood"] = None
    linear = named_members(None, OWNER, classifies)[-1:]
    target = read_labels(Y, OWNER) if classifies else read_regression_target(X[:, 0] - X[:, 1], OWNER)
    pool = trained_pool(linear, table, target, np.arange(90.0), seed=0, threads=1, owner=OWNER)
    predicted = pool.predicted(table[::-1], "votes" if classifies else "numbers", OWNER)[::-1, 0, 0]
    assert np.corrcoef(predicted, target.y)[0, 1] > 0.6
    assert clone(linear[0].estimator).fit(table, target.labels())[:-1].get_feature_names_out()[:2].tolist() == ["number", "wood=ash"]


# Training.


def test_members_are_copies_that_learn_labels_of_any_kind():
    own = GaussianNB()
    pool = pool_of(own, LogisticRegression())
    assert not are_fitted(named(own))
    assert [list(member.classes_) for member in pool.members] == [["elm", "fig", "oak"]] * 2
    votes, probabilities = pool.votes(X, OWNER), pool.probabilities(X, OWNER)
    assert (votes.shape, votes.dtype, probabilities.shape) == ((90, 2), np.int16, (90, 2, 3))
    for position, member in enumerate(pool.members):
        np.testing.assert_array_equal(pool.classes[votes[:, position]], member.predict(X))
        np.testing.assert_array_equal(probabilities[:, position], member.predict_proba(X))


def test_open_seeds_are_named_by_seed_and_member_and_given_ones_are_kept():
    forest = TheirForest(n_estimators=3)
    pool = pool_of(("a", forest), ("b", clone(forest).set_params(random_state=7)), ("c", make_pipeline(StandardScaler(), forest)))
    again = pool_of(("c", make_pipeline(StandardScaler(), forest)), ("a", forest))
    assert pool.members[1].random_state == 7
    seeds = [pool.members[0].random_state, pool.members[2].steps[1][1].random_state]
    assert None not in seeds
    assert len({*seeds, 7}) == 3
    assert [again.members[1].random_state, again.members[0].steps[1][1].random_state] == seeds
    assert pool_of(("a", forest), seed=1).members[0].random_state != seeds[0]


def test_the_model_does_not_depend_on_threads():
    members = [("forest", TheirForest(n_estimators=3)), ("ours", woodwind.RandomForestClassifier(n_estimators=5)), ("nb", GaussianNB())]
    one, many = pool_of(*members, threads=1), pool_of(*members, threads=3)
    np.testing.assert_array_equal(one.probabilities(X, OWNER, 1), many.probabilities(X, OWNER, 3))


class Sleeper(ClassifierMixin, BaseEstimator):
    """Takes long enough for others to be started beside it, or fails."""

    def __init__(self, fails=False):
        self.fails = fails

    def fit(self, X, y):
        if self.fails:
            raise self.fails("these reeds are broken")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize(("kind", "raised"), [(ValueError, MemberError), (TypeError, MemberTypeError), (RuntimeError, MemberError)])
def test_a_member_that_fails_is_named(kind, raised):
    with pytest.raises(raised, match=rf"member 'second' \(Sleeper\) could not be trained. {kind.__name__}: these reeds are broken"):
        pool_of(("first", GaussianNB()), ("second", Sleeper(kind)))


def test_weights_go_to_members_and_rows_of_no_weight_are_absent():
    weight = RNG.integers(0, 3, len(X)).astype(float)
    pool = pool_of(GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression()), weight=weight)
    present = weight > 0
    direct = GaussianNB().fit(X[present], Y[present], sample_weight=weight[present])
    np.testing.assert_array_equal(pool.probabilities(X, OWNER)[:, 0], direct.predict_proba(X))
    piped = make_pipeline(StandardScaler(), LogisticRegression()).fit(
        X[present], Y[present], logisticregression__sample_weight=weight[present]
    )
    np.testing.assert_array_equal(pool.probabilities(X, OWNER)[:, 1], piped.predict_proba(X))
    search = GridSearchCV(LogisticRegression(), {"C": [1]})
    assert [weight_name(one) for one in (search, KNeighborsClassifier())] == ["sample_weight", None]


def test_weights_that_a_member_cannot_take_are_an_error_before_any_work():
    with pytest.raises(MemberTypeError, match="KNeighborsClassifier does not support sample weights: member 'near'"):
        pool_of(GaussianNB(var_smoothing="never looked at"), ("near", KNeighborsClassifier()), weight=np.ones(90))


class OnlyNumbers(GaussianNB):
    """Like some boosting libraries, it learns nothing but the class numbers 0, 1, 2 ..., each of which must be there."""

    def fit(self, X, y):
        if not np.array_equal(np.unique(y), np.arange(len(np.unique(y)))):
            raise ValueError("Invalid classes inferred from unique values of `y`")
        return super().fit(X, y)


def test_members_that_learn_only_class_numbers_are_given_them():
    pool = pool_of(OnlyNumbers(), GaussianNB())
    assert list(pool.members[0].classes_) == [0, 1, 2]
    for predicted in (pool.votes(X, OWNER), pool.probabilities(X, OWNER)):
        np.testing.assert_array_equal(predicted[:, 0], predicted[:, 1])
    some = np.flatnonzero(Y != "fig")
    part = trained_pool(named(OnlyNumbers()), X[some], read_labels(Y, OWNER).at(some), None, seed=0, threads=1, owner=OWNER)
    assert (part.probabilities(X, OWNER)[:, 0, 1] == 0.0).all()
    assert set(part.votes(X, OWNER).ravel()) == {0, 2}


# Tables.


def frame(n=90):
    rng = np.random.default_rng(1)
    return pd.DataFrame({"number": X[:n, 0], "wood": rng.choice(["ash", "yew"], n), "more": X[:n, 1]})


TABLES = {
    "pandas": lambda table: table,
    "polars": lambda table: pl.DataFrame(table.to_dict("list")),
    "arrow": lambda table: pa.table(table.to_dict("list")),
    "rows": lambda table: table.to_numpy().tolist(),
}


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_pipelines_that_name_columns_work_on_frames_in_any_order(kind):
    table = TABLES[kind](frame())
    piped = make_pipeline(make_column_transformer((OneHotEncoder(), ["wood"]), ("passthrough", ["number", "more"])), LogisticRegression())
    pool = pool_of(piped, woodwind.DecisionTreeClassifier(), table=table)
    predicted = pool.probabilities(table, OWNER)
    turned = table[["more", "wood", "number"]]
    np.testing.assert_array_equal(pool.probabilities(turned, OWNER), predicted)
    assert pool.header == Header(("number", "wood", "more"), 3)


@pytest.mark.parametrize("kind", TABLES)
def test_our_members_take_any_table(kind):
    table = TABLES[kind](frame())
    pool = pool_of(woodwind.DecisionTreeClassifier(), table=table)
    np.testing.assert_array_equal(pool.votes(table, OWNER), pool_of(woodwind.DecisionTreeClassifier(), table=frame()).votes(frame(), OWNER))


def test_sparse_tables_stay_sparse():
    pool = pool_of(LogisticRegression(), table=csr_array(X))
    np.testing.assert_allclose(pool.probabilities(csr_array(X), OWNER), pool_of(LogisticRegression()).probabilities(X, OWNER), rtol=1e-6)


# Asking.


def test_a_class_that_a_member_never_saw_has_no_probability():
    two = LogisticRegression().fit(X[Y != "fig"], Y[Y != "fig"])
    members = named(two, LogisticRegression().fit(X, Y))
    pool = Pool.of_fitted(members, None, joint_classes(members), OWNER)
    assert list(pool.classes) == ["elm", "fig", "oak"]
    probabilities = pool.probabilities(X, OWNER)
    assert (probabilities[:, 0, 1] == 0.0).all()
    np.testing.assert_array_equal(probabilities[:, 0, [0, 2]], two.predict_proba(X))
    np.testing.assert_array_equal(pool.classes[pool.votes(X, OWNER)[:, 0]], two.predict(X))
    scores = pool.scores(X, OWNER)
    np.testing.assert_array_equal(scores[:, 0, 2], two.decision_function(X))
    assert (scores[:, 0].argmax(axis=1) == pool.votes(X, OWNER)[:, 0]).all()
    np.testing.assert_array_equal(scores[:, 1], members[1].estimator.decision_function(X))


def test_scores_of_two_classes_are_one_column():
    y = (X[:, 0] > 0).astype(int)
    pool = pool_of(LogisticRegression(), LinearSVC(), y=y)
    scores = pool.scores(X, OWNER)
    assert scores.shape == (90, 2, 1)
    np.testing.assert_array_equal(scores[:, 1, 0], pool.members[1].decision_function(X))
    with pytest.raises(MemberError, match=r"member 'svc' .* decision_function_shape='ovr'"):
        pool_of(SVC(decision_function_shape="ovo"), y=X[:, 0].round().astype(int) % 4).scores(X, OWNER)


def test_members_without_probabilities_are_named_or_vote():
    pool = pool_of(GaussianNB(), ("svm", LinearSVC()))
    with pytest.raises(ParameterError, match=r"member 'svm' \(LinearSVC\) has no predict_proba"):
        pool.probabilities(X, OWNER)
    probabilities = pool.probabilities(X, OWNER, hard_where_needed=True)
    np.testing.assert_array_equal(probabilities[:, 1], np.eye(3)[pool.votes(X, OWNER)[:, 1]])


class Doubtful(GaussianNB):
    def predict_proba(self, X):
        out = super().predict_proba(X)
        out[3] = np.nan
        return out


def test_a_member_that_says_nan_is_named():
    with pytest.raises(MemberError, match=r"member 'doubtful' \(Doubtful\) says NaN or infinity of 1 rows, first of row 3"):
        pool_of(GaussianNB(), Doubtful()).probabilities(X, OWNER)


def test_numbers_and_parts_of_a_pool():
    members = named(Ridge(), DecisionTreeRegressor(max_depth=2), LinearRegression(), classifies=False)
    pool = trained_pool(members, X, read_regression_target(Z, OWNER), None, seed=0, threads=2, owner=OWNER)
    predicted = pool.numbers(X, OWNER)
    np.testing.assert_array_equal(predicted, np.column_stack([member.predict(X) for member in pool.members]))
    some = pool.only([2, 0])
    assert (some.names, len(some)) == (("linearregression", "ridge"), 2)
    np.testing.assert_array_equal(some.numbers(X, OWNER), predicted[:, [2, 0]])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pool)).numbers(X, OWNER), predicted)


# Ensembles that somebody has trained.


ENSEMBLES = [
    TheirForest(n_estimators=4, random_state=0),
    BaggingClassifier(LogisticRegression(), n_estimators=4, max_features=2, random_state=0),
    TheirVoting([("nb", GaussianNB()), ("linear", LogisticRegression())]),
    woodwind.BaggingClassifier(n_estimators=4, max_features=2, random_state=0),
    woodwind.BaggingClassifier(estimator=GaussianNB(), n_estimators=4, max_features=0.5, random_state=0),
    woodwind.RandomForestClassifier(n_estimators=4, random_state=0),
]


@pytest.mark.parametrize("labels", [Y, np.searchsorted(["elm", "fig", "oak"], Y) + 1], ids=["text", "numbers"])
@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda one: f"{type(one).__module__}.{type(one).__name__}")
def test_members_of_a_fitted_ensemble_speak_its_labels_and_see_its_columns(ensemble, labels):
    fitted = clone(ensemble).fit(X, labels)
    members = named_members(fitted, OWNER, True)
    pool = Pool.of_fitted(members, None, fitted.classes_, OWNER)
    direct = clone(ensemble).fit(X, labels)
    mean = pool.probabilities(X, OWNER).mean(axis=1)
    if isinstance(ensemble, TheirVoting):
        direct.voting = "soft"
        assert pool.names == ("nb", "linear")
    np.testing.assert_allclose(mean, direct.predict_proba(X), atol=1e-12)
    assert (pool.classes[pool.votes(X, OWNER)] == labels[:, None]).mean() > 0.6


@pytest.mark.filterwarnings("error")
def test_members_trained_without_names_are_asked_without_them():
    table = pd.DataFrame(X, columns=list("abcd"))
    fitted = TheirForest(n_estimators=2, random_state=0).fit(table, Y)
    pool = Pool.of_fitted(named_members(fitted, OWNER, True), Header(tuple("abcd"), 4), fitted.classes_, OWNER)
    np.testing.assert_allclose(pool.probabilities(table[list("dcba")], OWNER).mean(axis=1), fitted.predict_proba(table))


def test_trained_members_find_their_own_columns_by_name():
    table = pd.DataFrame(X, columns=list("abcd"))
    members = named(GaussianNB().fit(table[["c", "a"]], Y), GaussianNB().fit(table[["d", "b"]], Y))
    assert header_of(members) == Header(tuple("cadb"), 4)
    for header in (None, Header(tuple("abcd"), 4)):
        probabilities = Pool.of_fitted(members, header, np.unique(Y), OWNER).probabilities(table, OWNER)
        np.testing.assert_array_equal(probabilities[:, 0], members[0].estimator.predict_proba(table[["c", "a"]]))
        np.testing.assert_array_equal(probabilities[:, 1], members[1].estimator.predict_proba(table[["d", "b"]]))
    with pytest.raises(MemberError, match=r"member 'gaussiannb-2' \(GaussianNB\) was trained with the column 'd', which the table"):
        Pool.of_fitted(members, Header(tuple("abc"), 3), np.unique(Y), OWNER)


def test_members_that_are_not_fitted_or_know_other_classes_are_named():
    with pytest.raises(MemberError, match=r"member 'gaussiannb' \(GaussianNB\) is not fitted yet"):
        Pool.of_fitted(named(GaussianNB()), None, np.unique(Y), OWNER)
    with pytest.raises(MemberError, match=r"member 'decisiontreeclassifier' .* knows the class 'ash'"):
        Pool.of_fitted(named(DecisionTreeClassifier().fit([[0], [1]], ["ash", "elm"])), None, np.unique(Y), OWNER)
    with pytest.raises(ParameterError, match="labels of kinds that cannot be compared"):
        joint_classes(named(GaussianNB().fit(X, Y)), np.array([1, 2]))


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8, np.uint64])
def test_labels_that_are_numbers_are_told_from_others(kind):
    known = np.arange(3)
    assert are_numbers(np.array([0, 2, 1], kind), known)
    assert are_numbers(np.array([], kind), known)
    assert not are_numbers(np.array([0, 3], kind), known)
    assert not are_numbers(np.array([0, 1], kind), np.array([1, 2]))
    assert not are_numbers(np.array([0.0, 1.0]), known)
    odd = np.array([0, -1, 3]).astype(kind)
    assert not are_numbers(odd, known)
    assert class_indices(odd, known).tolist() == [0, -1, -1]


# Members are printed.


def test_members_in_members_are_printed_as_scikit_learn_prints_them():
    boosted = woodwind.GradientBoostingRegressor(learning_rate=0.05, max_depth=6)
    inner = woodwind.VotingRegressor([("boosted", boosted)], weights=[1.0])
    expected = """VotingRegressor(estimators=[('linear', Ridge(alpha=2.0)),
                            ('inner',
                             VotingRegressor(estimators=[('boosted',
                                                          GradientBoostingRegressor(learning_rate=0.05,
                                                                                    max_depth=6))],
                                             weights=[1.0]))])"""
    assert repr(woodwind.VotingRegressor([("linear", Ridge(alpha=2.0)), ("inner", inner)])) == expected
    assert repr(woodwind.VotingRegressor()) == "VotingRegressor()"


class Counted(Ridge):
    """Counts how often it is looked at."""

    times = 0

    def get_params(self, deep=True):
        type(self).times += 1
        assert Counted.times < 5000
        return super().get_params(deep)


@pytest.mark.parametrize(("piped", "depth"), [(False, 8), (True, 4)])
def test_members_in_members_are_not_printed_again_and_again(piped, depth):
    model, Counted.times = Counted(), 0
    for _ in range(depth):
        model = woodwind.VotingRegressor([("one", make_pipeline(model) if piped else model)])
    assert repr(model).startswith("VotingRegressor(estimators=[('one',")
