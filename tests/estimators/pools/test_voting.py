"""Voting as estimators."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.stats import trim_mean
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import BaggingRegressor as TheirBagging
from sklearn.ensemble import VotingClassifier as TheirClassifier
from sklearn.ensemble import VotingRegressor as TheirRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import woodwind
from woodwind import DataError, ParameterError, VotingClassifier, VotingRegressor, losses, out_of_fold_predictions
from woodwind.base.errors import MemberError, MemberTypeError, NamelessTableWarning, TargetError
from woodwind.ensemble.member_weights import accuracy_weights, log_loss_weights, squared_weights

IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = IRIS[:, :2]  # hard enough for members to disagree
LABELS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
MEMBERS = [
    ("linear", make_pipeline(StandardScaler(), LogisticRegression())),
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("near", KNeighborsClassifier(5)),
]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Z = np.exp(X[:, 0] - 0.5 * X[:, 1] + 0.3 * RNG.normal(size=120))
REGRESSORS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)), ("near", KNeighborsRegressor(3))]


def shares_of(model, X=IRIS):
    return np.stack([member.predict_proba(X) for member in model.estimators_], axis=1)


# Against scikit-learn.


@pytest.mark.parametrize("weights", [None, [1, 1, 1, 1], [3, 1, 1, 1], [0.1, 0.2, 0.3, 0.4], [1, 0, 0, 1]], ids=str)
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_voting_of_classes_is_that_of_scikit_learn_with_all_ties(voting, weights):
    ours = VotingClassifier(estimators=MEMBERS, voting=voting, weights=weights).fit(IRIS, LABELS)
    other = TheirClassifier(MEMBERS, voting=voting, weights=weights).fit(IRIS, LABELS)
    # A fine grid: members disagree on a good part of it, and votes tie.
    grid = np.stack(np.meshgrid(np.linspace(4, 8, 60), np.linspace(2, 4.5, 40)), axis=-1).reshape(-1, 2)
    np.testing.assert_array_equal(ours.predict(grid), other.predict(grid))
    if voting == "soft":
        np.testing.assert_array_equal(ours.predict_proba(grid), other.predict_proba(grid))
    else:
        counts = np.apply_along_axis(np.bincount, 1, other.transform(grid), minlength=3)
        assert (np.sort(counts, axis=1)[:, 1] == np.sort(counts, axis=1)[:, 2]).sum() > 20  # there are ties
    np.testing.assert_array_equal(ours.transform(grid), other.transform(grid))
    assert ours.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()


@pytest.mark.parametrize("weights", [None, [1, 2, 0.5]], ids=str)
def test_voting_of_numbers_is_that_of_scikit_learn(weights):
    ours = VotingRegressor(estimators=REGRESSORS, weights=weights).fit(X, Z)
    other = TheirRegressor(REGRESSORS, weights=weights).fit(X, Z)
    np.testing.assert_array_equal(ours.predict(X), other.predict(X))
    np.testing.assert_array_equal(ours.transform(X), other.transform(X))
    assert ours.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()


def test_dropped_members_and_sample_weights_are_as_in_scikit_learn():
    weight = RNG.uniform(0.5, 2, 150)
    members = [*MEMBERS[1:3], ("gone", "drop")]
    ours = VotingClassifier(estimators=members, weights=[1, 2, 9]).fit(IRIS, LABELS, sample_weight=weight)
    other = TheirClassifier(members, voting="soft", weights=[1, 2, 9]).fit(IRIS, LABELS, sample_weight=weight)
    np.testing.assert_array_equal(ours.predict_proba(IRIS), other.predict_proba(IRIS))
    assert ours.named_estimators_["gone"] == "drop"
    assert len(ours.estimators_) == 2
    np.testing.assert_allclose(ours.weights_, [1 / 3, 2 / 3])
    cube = VotingClassifier(estimators=MEMBERS, flatten_transform=False).fit(IRIS, LABELS).transform(IRIS)
    np.testing.assert_array_equal(cube, TheirClassifier(MEMBERS, voting="soft", flatten_transform=False).fit(IRIS, LABELS).transform(IRIS))


# Other ways to average.


def test_averages_of_numbers_are_those_of_numpy():
    def model(**more):
        return VotingRegressor(estimators=REGRESSORS, **more).fit(X, np.exp(Z / 4))

    predicted = model().transform(X)
    np.testing.assert_array_equal(model(averaging="median").predict(X), np.median(predicted, axis=1))
    np.testing.assert_allclose(model(averaging="trimmed", trim=0.34).predict(X), trim_mean(predicted, 0.34, axis=1), rtol=1e-14)
    np.testing.assert_array_equal(model(averaging="trimmed", trim=0.3).predict(X), model().predict(X))
    np.testing.assert_array_equal(model(averaging="median", weights=[2, 2, 2]).predict(X), np.median(predicted, axis=1))
    positive = VotingRegressor(estimators=REGRESSORS[1:], averaging="geometric").fit(X, Z)
    np.testing.assert_allclose(positive.predict(X), np.sqrt(positive.transform(X).prod(axis=1)))
    with pytest.raises(DataError, match="A geometric mean is of numbers above zero, but member 0 says -"):
        VotingRegressor(estimators=REGRESSORS, averaging="geometric").fit(X, Z - 3).predict(X)


def test_averages_of_probabilities_sum_to_one_and_follow_their_definitions():
    def predicted(**more):
        return VotingClassifier(estimators=MEMBERS, **more).fit(IRIS, LABELS).predict_proba(IRIS)

    probabilities = shares_of(VotingClassifier(estimators=MEMBERS).fit(IRIS, LABELS))
    median = np.median(probabilities, axis=1)
    np.testing.assert_allclose(predicted(averaging="median"), median / median.sum(axis=1, keepdims=True))
    product = np.exp(np.log(np.maximum(probabilities, 1e-15)).mean(axis=1))
    np.testing.assert_allclose(predicted(averaging="geometric"), product / product.sum(axis=1, keepdims=True))
    trimmed = np.sort(probabilities, axis=1)[:, 1:-1].mean(axis=1)
    np.testing.assert_allclose(predicted(averaging="trimmed", trim=0.25), trimmed / trimmed.sum(axis=1, keepdims=True))
    ranks = (probabilities[:, :, :, None] > probabilities[:, :, None]).sum(axis=3) + (
        (probabilities[:, :, :, None] == probabilities[:, :, None]).sum(axis=3) - 1
    ) / 2
    np.testing.assert_allclose(predicted(voting="ranked"), ranks.mean(axis=1) / 3)
    votes = probabilities.argmax(axis=2)
    np.testing.assert_allclose(predicted(voting="hard"), np.stack([(votes == position).mean(axis=1) for position in range(3)], axis=1))


WAYS = [{}, {"voting": "hard"}, {"averaging": "median"}, {"averaging": "geometric"}, {"voting": "ranked"}]


@pytest.mark.parametrize("more", WAYS, ids=str)
def test_copies_are_the_single_model_and_weights_count_by_their_ratios(more):
    copies = VotingClassifier(estimators=[GaussianNB()] * 3, **more).fit(IRIS, LABELS)
    np.testing.assert_array_equal(copies.predict(IRIS), GaussianNB().fit(IRIS, LABELS).predict(IRIS))
    one = VotingClassifier(estimators=MEMBERS, weights=[1, 2, 3, 4], **more).fit(IRIS, LABELS)
    other = VotingClassifier(estimators=MEMBERS, weights=[0.7, 1.4, 2.1, 2.8], **more).fit(IRIS, LABELS)
    np.testing.assert_allclose(one.predict_proba(IRIS), other.predict_proba(IRIS), rtol=1e-12)
    np.testing.assert_allclose(one.weights_, other.weights_)


# Weights that are found.


def test_weights_are_found_on_rows_out_of_fold():
    predicted = out_of_fold_predictions(MEMBERS[:3], IRIS, LABELS, cv=StratifiedKFold(4))
    for how, expected in (
        ("score", accuracy_weights(predicted.argmax(axis=2) == SPECIES[:, None], 3)),
        ("optimal", log_loss_weights(predicted, SPECIES).weights),
    ):
        model = VotingClassifier(estimators=MEMBERS[:3], weights=how, cv=StratifiedKFold(4)).fit(IRIS, LABELS)
        np.testing.assert_allclose(model.weights_, expected, atol=1e-12)
        np.testing.assert_allclose(model.predict_proba(IRIS), np.einsum("nmk,m->nk", shares_of(model), expected), atol=1e-12)
    predicted = out_of_fold_predictions(REGRESSORS, X, Z, cv=KFold(3))
    model = VotingRegressor(estimators=REGRESSORS, weights="optimal", cv=KFold(3)).fit(X, Z)
    np.testing.assert_allclose(model.weights_, squared_weights(predicted, Z).weights, atol=1e-12)


@pytest.mark.parametrize("more", [{"voting": "hard"}, {"voting": "ranked"}, {"averaging": "geometric"}, {"averaging": "median"}], ids=str)
@pytest.mark.parametrize("weights", ["score", "optimal"])
def test_weights_are_found_for_every_way_to_vote_and_noise_gets_little(more, weights):
    noise = DecisionTreeClassifier(splitter="random", max_features=1, random_state=0)
    table = np.column_stack([IRIS, RNG.normal(size=(150, 30))])
    members = {"good": make_pipeline(StandardScaler(), LogisticRegression(C=0.3)), "noise": noise}
    model = VotingClassifier(estimators=members, weights=weights, cv=3, **more).fit(table, LABELS)
    assert model.weights_[0] > 0.6
    assert model.weights_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("loss", ["absolute_error", losses.Quantile(0.9), "huber"], ids=str)
def test_weights_of_numbers_can_be_found_for_any_loss(loss):
    model = VotingRegressor(estimators=REGRESSORS, weights="optimal", cv=KFold(3), loss=loss).fit(X, Z)
    predicted = out_of_fold_predictions(REGRESSORS, X, Z, cv=KFold(3))
    value = (losses.regression_loss(loss) if isinstance(loss, str) else loss).resolved(Z, predicted.mean(axis=1), None).value
    assert value(Z, predicted @ model.weights_) <= min(value(Z, predicted @ corner) for corner in [np.full(3, 1 / 3), *np.eye(3)]) + 1e-9


def test_products_can_be_weighed_by_losses_of_logarithms():
    model = VotingRegressor(estimators=REGRESSORS[1:], weights="optimal", cv=3, loss="poisson", averaging="geometric").fit(X, Z)
    assert model.weights_.sum() == pytest.approx(1.0)
    with pytest.raises(ParameterError, match="Set averaging='geometric', or another loss"):
        VotingRegressor(estimators=REGRESSORS, weights="optimal", loss="poisson").fit(X, Z)
    with pytest.raises(ParameterError, match="loss must be"):
        VotingRegressor(estimators=REGRESSORS, loss="sqared_error").fit(X, Z)


def test_groups_are_held_out_together():
    groups = np.arange(150) // 10
    model = VotingClassifier(estimators=MEMBERS[:2], weights="optimal", cv=3)
    predicted = out_of_fold_predictions(MEMBERS[:2], IRIS, LABELS, cv=3, groups=groups)
    np.testing.assert_allclose(model.fit(IRIS, LABELS, groups=groups).weights_, log_loss_weights(predicted, SPECIES).weights, atol=1e-12)


# Members as they are.


def test_trained_members_are_taken_as_they_are_and_weighed_on_new_rows():
    trained = [(name, clone(one).fit(IRIS[::2], LABELS[::2])) for name, one in MEMBERS]
    model = VotingClassifier(estimators=trained, prefit=True, weights="optimal").fit(IRIS[1::2], LABELS[1::2])
    assert all(mine is given for mine, (_, given) in zip(model.estimators_, trained, strict=True))
    probabilities = np.stack([one.predict_proba(IRIS[1::2]) for _, one in trained], axis=1)
    np.testing.assert_allclose(model.weights_, log_loss_weights(probabilities, SPECIES[1::2]).weights, atol=1e-12)
    again = clone(model).fit(IRIS[1::2], LABELS[1::2])  # a clone keeps them
    np.testing.assert_array_equal(again.predict_proba(IRIS), model.predict_proba(IRIS))
    with pytest.raises(MemberError, match=r"member 'linear' \(Pipeline\) is not fitted yet"):
        VotingClassifier(estimators=MEMBERS, prefit=True).fit(IRIS, LABELS)


def test_trained_members_may_know_other_classes_and_one_class_is_enough_to_look_at():
    two = GaussianNB().fit(IRIS[:100], LABELS[:100])
    other = GaussianNB().fit(IRIS[50:], LABELS[50:])
    model = VotingClassifier(estimators=[two, other], prefit=True).fit(IRIS[:50], LABELS[:50])
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    np.testing.assert_allclose(model.predict_proba(IRIS)[:, 0], two.predict_proba(IRIS)[:, 0] / 2)


def test_a_fitted_ensemble_is_a_pool():
    bag = TheirBagging(Ridge(), n_estimators=5, max_features=2, random_state=0)
    frame = pd.DataFrame(X, columns=list("abc"))
    bag.fit(frame, Z)
    model = VotingRegressor(estimators=bag, prefit=True).fit(frame[list("cab")], Z)
    np.testing.assert_allclose(model.predict(frame[list("bca")]), bag.predict(frame), rtol=1e-12)
    median = VotingRegressor(estimators=bag, prefit=True, averaging="median", weights="score").fit(frame, Z)
    assert len(median.named_estimators_) == len(median.weights_) == 5
    retrained = VotingRegressor(estimators=bag).fit(frame, Z)
    assert [len(member.coef_) for member in retrained.estimators_] == [2] * 5


# What a new user tries.


def test_the_default_pool_takes_a_table_as_it_comes():
    n = 120
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "amount": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "purpose": pd.Categorical(rng.choice(["car", "house", "study"], n)),
            "town": rng.choice(["Ulm", "Bonn", None], n),
            "since": pd.date_range("2020-01-01", periods=n),
        }
    )
    y = np.where(table["purpose"].to_numpy() == "car", "bad", "good")
    small = {"gradient_boosting__n_estimators": 20, "random_forest__n_estimators": 10, "extra_trees__n_estimators": 10}
    model = VotingClassifier(random_state=0).set_params(**small).fit(table, y, sample_weight=rng.uniform(1, 2, n))
    assert model.score(table, y) > 0.9
    assert model.feature_names_in_.tolist() == list(table.columns)
    turned = model.predict_proba(table[["since", "town", "amount", "purpose"]])
    np.testing.assert_array_equal(turned, model.predict_proba(table))
    assert model.fit(pl.from_pandas(table), y).score(pl.from_pandas(table), y) > 0.9


def test_parameters_of_members_can_be_searched():
    members = [("rf", woodwind.RandomForestClassifier(n_estimators=5, random_state=0)), ("bayes", GaussianNB())]
    grid = {"rf__max_depth": [1, 4], "weights": [None, [1, 3]], "bayes": [GaussianNB(), "drop"]}
    search = GridSearchCV(VotingClassifier(estimators=members), grid, cv=2, error_score="raise").fit(IRIS, LABELS)
    assert set(search.best_params_) == set(grid)
    assert members[0][1].max_depth is None  # what the user holds is not changed
    assert cross_val_score(make_pipeline(StandardScaler(), VotingClassifier(estimators=MEMBERS)), IRIS, LABELS, cv=3).mean() > 0.7


def test_pipelines_that_name_columns_are_members():
    frame = pd.DataFrame(IRIS, columns=["length", "width"]).assign(wood=RNG.choice(["ash", "yew"], 150))
    piped = make_pipeline(make_column_transformer((OneHotEncoder(), ["wood"]), remainder="passthrough"), LogisticRegression(max_iter=1000))
    model = VotingClassifier(estimators=[piped, woodwind.DecisionTreeClassifier(max_depth=3)]).fit(frame, LABELS)
    predicted = model.predict_proba(frame)
    np.testing.assert_array_equal(
        model.predict_proba(frame.assign(more=1)[["more", "wood", "width", "length"]].drop(columns="more")), predicted
    )
    with pytest.warns(NamelessTableWarning):
        model.named_estimators_["decisiontreeclassifier"].predict(frame.to_numpy())


def test_it_can_be_pickled_cloned_shown_and_asked_for_frames():
    model = VotingClassifier(estimators=MEMBERS, weights=[1, 2, 1, 1]).fit(pd.DataFrame(IRIS, columns=["length", "width"]), LABELS)
    frame = pd.DataFrame(IRIS, columns=["length", "width"])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(frame), model.predict_proba(frame))
    assert clone(model).get_params()["near__n_neighbors"] == 5
    assert not hasattr(clone(model), "estimators_")
    assert "('bayes', GaussianNB())" in repr(model)
    assert "bayes" in model._repr_html_()
    out = model.set_output(transform="pandas").transform(frame)
    assert list(out.columns)[:3] == ["votingclassifier_linear0", "votingclassifier_linear1", "votingclassifier_linear2"]
    assert model.named_estimators_.bayes is model.estimators_[1]
    numbers = VotingRegressor(estimators=REGRESSORS).set_output(transform="polars").fit(X, Z)
    assert numbers.transform(X).columns[0] == "votingregressor_ridge"


def test_the_model_is_the_same_for_any_number_of_jobs_and_repeatable():
    members = [("a", woodwind.RandomForestClassifier(n_estimators=4)), ("b", DecisionTreeClassifier(max_features=1)), *MEMBERS[1:2]]
    models = [
        VotingClassifier(estimators=members, weights="optimal", cv=3, n_jobs=jobs, random_state=5).fit(IRIS, LABELS) for jobs in (1, 3)
    ]
    np.testing.assert_array_equal(models[0].predict_proba(IRIS), models[1].predict_proba(IRIS))
    np.testing.assert_array_equal(models[0].weights_, models[1].weights_)
    sparse = VotingClassifier(estimators=MEMBERS[2:]).fit(csr_array(IRIS), LABELS)
    assert sparse.score(csr_array(IRIS), LABELS) > 0.7


@pytest.mark.parametrize("labels", [SPECIES == 0, pd.Series(LABELS, dtype="category"), SPECIES + 0.0, LABELS.astype(object)], ids=repr)
def test_labels_may_be_of_any_kind(labels):
    model = VotingClassifier(estimators=MEMBERS[1:3], voting="hard").fit(IRIS, labels)
    assert np.asarray(model.predict(IRIS)).dtype.kind == np.asarray(labels).dtype.kind
    assert model.score(IRIS, labels) > 0.7


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("out of reeds")

    def predict(self, X):
        return X


BAD = [
    ({"estimators": [GaussianNB(), ("svm", LinearSVC())]}, ParameterError, r"member 'svm' \(LinearSVC\) has no predict_proba.*'hard'"),
    ({"estimators": [("bad", Broken())], "voting": "hard"}, MemberError, r"member 'bad' \(Broken\) could not be trained. RuntimeError"),
    ({"estimators": []}, ParameterError, "non-empty list"),
    ({"estimators": [("voting", GaussianNB())]}, ParameterError, "'voting' is a parameter of VotingClassifier"),
    ({"estimators": [Ridge()]}, ParameterError, "must be a classifier, and Ridge is none"),
    ({"weights": [1, 2]}, ParameterError, "got 2 weights, 4 estimators: linear, bayes, tree, near"),
    ({"weights": [0, 0, 0, 0]}, ParameterError, "zero for every member"),
    ({"weights": [1, -1, 0, 0]}, ParameterError, "numbers of at least 0"),
    ({"weights": [1, np.nan, 0, 0]}, ParameterError, "numbers of at least 0"),
    ({"weights": "best"}, ParameterError, "weights must be None, one number for each member, 'score' or 'optimal', but it is 'best'"),
    ({"weights": 3}, ParameterError, "but it is 3"),
    ({"voting": "sof"}, ParameterError, "Did you mean 'soft'?"),
    ({"averaging": "harmonic"}, ParameterError, "averaging must be 'mean', 'median', 'trimmed' or 'geometric'"),
    ({"trim": 0.7}, ParameterError, "trim must be a number from 0 to 0.49"),
    ({"weights": "optimal", "cv": 1}, ParameterError, "cv must be an integer of at least 2"),
]


@pytest.mark.parametrize(("more", "kind", "predicted"), BAD, ids=[predicted for _, _, predicted in BAD])
def test_what_cannot_be_is_said_before_any_work(more, kind, predicted):
    with pytest.raises(kind, match=predicted) as caught:
        VotingClassifier(**{"estimators": MEMBERS} | more).fit(IRIS, LABELS)
    assert str(caught.value).startswith("VotingClassifier: ")


def test_what_is_wrong_with_the_data_is_said():
    model = VotingClassifier(estimators=MEMBERS[:2])
    with pytest.raises(TargetError, match="y has one class only: every row is of class 'setosa'"):
        model.fit(IRIS[:50], LABELS[:50])
    with pytest.raises(DataError, match="X has 150 rows, y has 149 values"):
        model.fit(IRIS, LABELS[1:])
    with pytest.raises(MemberTypeError, match="member 'near' would treat all rows alike"):
        VotingClassifier(estimators=MEMBERS).fit(IRIS, LABELS, sample_weight=np.ones(150))
    with pytest.raises(MemberError, match=r"member 'linear' \(Pipeline\) could not be trained. ValueError: Input X contains NaN"):
        model.fit(np.where(IRIS > 7, np.nan, IRIS), LABELS)
    with pytest.raises(DataError, match="X has 1 features, but VotingClassifier is expecting 2 features"):
        model.fit(IRIS, LABELS).predict(IRIS[:, :1])
    failed = VotingClassifier(estimators=MEMBERS[:2]).fit(IRIS, LABELS)
    before = failed.predict(IRIS)
    with pytest.raises(TargetError):
        failed.fit(IRIS[:50], LABELS[:50])
    np.testing.assert_array_equal(failed.predict(IRIS), before)  # what fails leaves the model as it was


def test_optimal_weights_are_not_worse_than_the_best_member_out_of_fold():
    table, y = load_breast_cancer(return_X_y=True)
    predicted = out_of_fold_predictions(MEMBERS[:3], table, y, cv=3)
    of_truth = np.maximum(predicted[np.arange(len(y)), :, y], 1e-15)
    weights = VotingClassifier(estimators=MEMBERS[:3], weights="optimal", cv=3).fit(table, y).weights_
    assert -np.log(of_truth @ weights).mean() <= -np.log(of_truth).mean(axis=0).min() + 1e-9
    numbers = VotingRegressor(estimators=[LinearRegression(), LinearRegression()], weights="optimal").fit(X, Z)
    np.testing.assert_allclose(numbers.predict(X), LinearRegression().fit(X, Z).predict(X))
