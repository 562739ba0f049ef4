"""Members that are asked, and learners that are trained again and again: the functions of woodwind.diversity get what they predict."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import BaggingClassifier as OtherBagging
from sklearn.ensemble import RandomForestClassifier as OtherForest
from sklearn.ensemble import VotingClassifier as OtherVoting
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as OtherTree

import woodwind
from woodwind import ParameterError, bias_variance, measure_diversity
from woodwind.base.errors import MemberError, OutOfBagWarning
from woodwind.diversity import diversity_report, james_decomposition, regression_report, squared_decomposition, zero_one_decomposition

X, NUMBER = load_iris(return_X_y=True)
NAME = np.array(["setosa", "versicolor", "virginica"])[NUMBER]
TRAIN, TEST = np.arange(0, 150, 2), np.arange(1, 150, 2)
LINE, HEIGHT = load_diabetes(return_X_y=True)


def fitted_pool(y):
    members = [("tree", OtherTree(max_depth=2)), ("bayes", GaussianNB()), ("near", KNeighborsClassifier(3))]
    return [(name, member.fit(X[TRAIN], y[TRAIN])) for name, member in members]


@pytest.mark.parametrize("y", [NUMBER, NAME], ids=["numbers", "names"])
def test_a_pool_is_asked_about_rows(y):
    members = fitted_pool(y)
    report = measure_diversity(members, X[TEST], y[TEST])
    predicted = np.stack([member.predict(X[TEST]) for _, member in members], axis=1)
    of_labels = diversity_report(y[TEST], predicted).as_dict()
    assert {name: value for name, value in report.as_dict().items() if name in of_labels} == of_labels
    assert set(report.as_dict()) - set(of_labels)  # members that give probabilities are asked for them too
    assert report.names == ("tree", "bayes", "near")
    weight = np.arange(75)
    weighed = measure_diversity(dict(members), X[TEST], y[TEST], sample_weight=weight)
    of_labels = diversity_report(y[TEST], predicted, sample_weight=weight).as_dict()
    assert {name: value for name, value in weighed.as_dict().items() if name in of_labels} == of_labels


ENSEMBLES = [
    OtherForest(5, max_depth=2, random_state=0),
    OtherBagging(OtherTree(max_depth=2), 5, max_features=2, random_state=0),
    OtherVoting([("tree", OtherTree(max_depth=2)), ("bayes", GaussianNB())]),
    woodwind.BaggingClassifier(estimator=GaussianNB(), n_estimators=5, max_features=2, random_state=0),
    woodwind.RandomForestClassifier(n_estimators=5, max_depth=2, random_state=0),
]


@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda ensemble: f"{type(ensemble).__module__.split('.')[0]}-{type(ensemble).__name__}")
def test_a_trained_ensemble_is_a_pool(ensemble):
    ensemble.fit(X[TRAIN], NAME[TRAIN])
    report = measure_diversity(ensemble, X[TEST], NAME[TEST])
    assert report.n_members == len(ensemble.estimators_)
    assert 0.5 < report["mean_accuracy"] <= report["oracle_accuracy"] <= 1.0
    assert report["disagreement"] > 0.0


def test_trees_of_a_forest_are_estimators_that_say_what_the_forest_says():
    forest = woodwind.RandomForestClassifier(n_estimators=7, random_state=0).fit(X[TRAIN], NAME[TRAIN])
    predicted = np.stack([tree.predict_proba(X[TEST]) for tree in forest.estimators_])
    np.testing.assert_allclose(predicted.mean(axis=0), forest.predict_proba(X[TEST]), rtol=0, atol=1e-12)
    assert [list(tree.classes_) for tree in forest.estimators_] == [list(forest.classes_)] * 7
    numbers = woodwind.ExtraTreesRegressor(n_estimators=7, random_state=0).fit(LINE[::2], HEIGHT[::2])
    predicted = np.stack([tree.predict(LINE[1::2]) for tree in numbers.estimators_])
    np.testing.assert_allclose(predicted.mean(axis=0), numbers.predict(LINE[1::2]), rtol=1e-12)
    assert len({tree.forest_.n_trees for tree in numbers.estimators_}) == 1
    assert not hasattr(woodwind.RandomForestClassifier(), "estimators_")


def test_regressors_are_measured_by_numbers():
    members = [LinearRegression().fit(LINE[::2, :4], HEIGHT[::2]), DummyRegressor().fit(LINE[::2, :4], HEIGHT[::2])]
    members.append(woodwind.DecisionTreeRegressor(max_depth=2).fit(LINE[::2, :4], HEIGHT[::2]))
    predicted = np.stack([member.predict(LINE[1::2, :4]) for member in members], axis=1)
    with pytest.warns(woodwind.WoodwindWarning, match="do not vary"):
        report = measure_diversity(members, LINE[1::2, :4], HEIGHT[1::2])
    with pytest.warns(woodwind.WoodwindWarning, match="do not vary"):
        expected = regression_report(HEIGHT[1::2], predicted)
    assert report.as_dict() == pytest.approx(expected.as_dict())


def test_members_must_be_trained():
    with pytest.raises(MemberError, match=r"member 'gaussiannb' .* is not fitted yet"):
        measure_diversity([GaussianNB()], X, NUMBER)
    with pytest.raises(ParameterError, match="must be a list of estimators"):
        measure_diversity(7, X, NUMBER)
    with pytest.raises(ParameterError, match="Give an instance of it"):
        measure_diversity([GaussianNB, GaussianNB()], X, NUMBER)


@pytest.mark.parametrize("how", ["bootstrap", "subsample"])
@pytest.mark.parametrize("y", [NUMBER, NAME], ids=["numbers", "names"])
def test_parts_add_up_for_a_test_table(how, y):
    found = bias_variance(OtherTree(), X[TRAIN], y[TRAIN], X[TEST], y[TEST], n_rounds=12, how=how, random_state=0)
    assert found.n_rounds == 12
    assert found.loss == pytest.approx(found.noise + found.bias + found.variance, abs=1e-12)
    assert 0.0 < found.loss < 0.2
    assert set(found.main) <= set(y)


def test_rows_out_of_the_bag_are_judged_by_rounds_that_have_not_seen_them():
    # The nearest neighbour of a row that was seen is the row itself: nobody errs where rows score themselves.
    found = bias_variance(KNeighborsClassifier(1), X, NUMBER, n_rounds=30, random_state=0)
    assert found.loss > 0.02
    assert found.n_rounds < 25
    with pytest.warns(OutOfBagWarning, match="have no prediction"):
        bias_variance(KNeighborsClassifier(1), X, NUMBER, n_rounds=1, random_state=0)


def test_a_learner_that_ignores_rows_has_no_variance():
    found = bias_variance(DummyClassifier(strategy="constant", constant=1), X, NUMBER, X, NUMBER, n_rounds=5, random_state=0)
    assert (found.loss, found.bias, found.variance) == (pytest.approx(2 / 3), pytest.approx(2 / 3), 0.0)


def test_the_mean_of_repeated_samples_has_the_variance_of_a_mean():
    """Sets of 25 standard normal numbers: their mean varies by 1 / 25, that of a bootstrap of one set by the variance in it / 25."""

    def draw(seed):
        return np.zeros((25, 1)), np.random.default_rng(seed).normal(size=25)

    found = bias_variance(DummyRegressor(), None, None, [[0.0]], [0.5], how=draw, n_rounds=400, random_state=0, n_jobs=1)
    assert found.variance == pytest.approx(1 / 25, rel=0.25)  # standard error of a variance: sqrt(2 / 400) = 7 %
    assert found.bias == pytest.approx(0.25, abs=0.05)
    X_one, y_one = draw(1)
    again = bias_variance(DummyRegressor(), X_one, y_one, [[0.0]], [0.5], n_rounds=400, random_state=0, n_jobs=1)
    assert again.variance == pytest.approx(y_one.var() / 25, rel=0.25)


def test_the_same_seed_gives_the_same_rounds_for_any_number_of_threads():
    calls = [
        bias_variance(OtherTree(max_features=1), X[TRAIN], NAME[TRAIN], X[TEST], NAME[TEST], n_rounds=20, random_state=3, n_jobs=jobs)
        for jobs in (1, 2)
    ]
    assert np.array_equal(calls[0].rows, calls[1].rows)
    other = bias_variance(OtherTree(max_features=1), X[TRAIN], NAME[TRAIN], X[TEST], NAME[TEST], n_rounds=20, random_state=4)
    assert not np.array_equal(other.rows, calls[0].rows)


@pytest.mark.parametrize(("loss", "decompose"), [("zero_one", zero_one_decomposition), ("james", james_decomposition)])
def test_the_decomposition_is_that_of_the_predictions(loss, decompose):
    """The same rounds, trained here by hand on sets that a function makes."""

    def draw(seed):
        rows = np.random.default_rng(seed).integers(0, 75, 75)
        return X[TRAIN][rows], NAME[TRAIN][rows]

    seeds = []

    def noted(seed):
        seeds.append(seed)
        return draw(seed)

    found = bias_variance(GaussianNB(), X_test=X[TEST], y_test=NAME[TEST], loss=loss, how=noted, n_rounds=6, random_state=0, n_jobs=1)
    predicted = np.stack([GaussianNB().fit(*draw(seed)).predict(X[TEST]) for seed in seeds])
    expected = decompose(NAME[TEST], predicted)
    assert len(set(seeds)) == 6
    assert (found.loss, found.bias, found.variance) == (expected.loss, expected.bias, expected.variance)


def test_regression_adds_up_out_of_the_bag():
    found = bias_variance(LinearRegression(), LINE, HEIGHT, n_rounds=25, random_state=0)
    assert found.method == "squared loss"
    assert found.loss == pytest.approx(found.bias + found.variance, rel=1e-12)
    deep = bias_variance(woodwind.DecisionTreeRegressor(), LINE[:, :3], HEIGHT, n_rounds=15, random_state=0)
    assert deep.variance > 10 * found.variance  # deep trees vary, and a line does not
    assert isinstance(squared_decomposition([0.0], [[1.0]]), type(found))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bias_variance(GaussianNB(), X, NUMBER, loss="squared"), "loss must be 'auto', 'zero_one', .* but it is 'squared'"),
        (lambda: bias_variance(LinearRegression(), X, NUMBER, loss="zero_one"), "loss must be 'auto' or 'squared' for a regressor"),
        (lambda: bias_variance(GaussianNB(), X, NUMBER, how="jackknife"), "how must be 'bootstrap', 'subsample' or a function"),
        (lambda: bias_variance(GaussianNB(), X, NUMBER, n_rounds=0), "n_rounds must be a whole number of at least 1, but it is 0"),
        (lambda: bias_variance(GaussianNB()), "X_train and y_train are needed for how='bootstrap'"),
        (lambda: bias_variance(GaussianNB(), how=lambda seed: (X, NUMBER)), "X_test and y_test must be given"),
        (lambda: bias_variance(GaussianNB(), X, NUMBER, X), "both X_test and y_test must be given"),
        (lambda: bias_variance(GaussianNB, X, NUMBER), "Give an instance of it"),
        (lambda: bias_variance(GaussianNB(), X, NUMBER[:-1]), "X_train has 150 rows, y_train has 149 values"),
        (lambda: bias_variance(GaussianNB(), X, NUMBER, X, NUMBER[:-1]), "X_test has 150 rows, y_test has 149 values"),
        (lambda: bias_variance(LogisticRegression(C=-1), X, NUMBER), "could not be trained"),
    ],
)
def test_what_is_wrong_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
