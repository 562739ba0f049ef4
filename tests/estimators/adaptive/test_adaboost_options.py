"""AdaBoost by resampling, with negative weights, its two bounds, as a linear classifier; LogitBoost and Gentle AdaBoost by name."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.tree import DecisionTreeRegressor as TheirRegressionTree

import woodwind
from woodwind import AdaBoostClassifier, AdditiveClassifier, GentleAdaBoostClassifier, LogitBoostClassifier, ParameterError
from woodwind.diversity import edges


def blobs(seed=0, n=300, n_classes=2, columns=4):
    rng = np.random.default_rng(seed)
    centres = 0.6 * rng.normal(size=(n_classes, columns))
    y = rng.integers(0, n_classes, n)
    return centres[y] + rng.normal(size=(n, columns)), y


class Contrary(ClassifierMixin, BaseEstimator):
    """A tree that says the opposite of what it has learned."""

    def __init__(self, max_depth=1):
        self.max_depth = max_depth

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.tree_ = TheirTree(max_depth=self.max_depth, random_state=0).fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return self.classes_[1 - np.searchsorted(self.classes_, self.tree_.predict(X))]


# Resampling.


@pytest.mark.filterwarnings("ignore:SAMME.R has gone astray")
@pytest.mark.parametrize("estimator", [None, TheirTree(max_depth=1)], ids=["own", "theirs"])
@pytest.mark.parametrize("algorithm", ["samme", "samme.r", "m2", "mh"])
def test_rows_can_be_drawn_for_learners_that_take_weights(estimator, algorithm, tmp_path):
    X, y = blobs()
    drawn = AdaBoostClassifier(estimator=estimator, algorithm=algorithm, bootstrap=True, n_estimators=20, random_state=0).fit(X, y)
    again = AdaBoostClassifier(estimator=estimator, algorithm=algorithm, bootstrap=True, n_estimators=20, random_state=0).fit(X, y)
    weighed = AdaBoostClassifier(estimator=estimator, algorithm=algorithm, n_estimators=20, random_state=0).fit(X, y)
    assert_array_equal(drawn.decision_function(X), again.decision_function(X))
    assert not np.array_equal(drawn.decision_function(X), weighed.decision_function(X))
    assert algorithm == "samme.r" or drawn.score(X, y) > 0.65  # one sure leaf of SAMME.R outvotes many
    if estimator is None:
        drawn.save(tmp_path / "model.ww")
        assert_array_equal(woodwind.load(tmp_path / "model.ww").decision_function(X), drawn.decision_function(X))


def test_drawn_rows_lead_to_the_weights_of_their_learner_on_all_rows():
    """The error is that on the weighted rows, whatever was drawn: weights are replayed from the votes of the learners."""
    X, y = blobs()
    model = AdaBoostClassifier(bootstrap=True, n_estimators=10, random_state=1).fit(X, y)
    weight = np.full(len(y), 1 / len(y))
    for learner, error, alpha in zip(model.estimators_, model.estimator_errors_, model.estimator_weights_, strict=True):
        wrong = learner.predict(X) != y
        assert_allclose(weight @ wrong, error, rtol=1e-10)
        assert_allclose(alpha, np.log((1 - error) / error))
        weight = weight * np.exp(alpha * wrong)
        weight /= weight.sum()


def test_the_error_of_resampling_is_that_of_weights_in_the_mean():
    X, y = blobs(n=500)
    first = AdaBoostClassifier(n_estimators=1).fit(X, y).estimator_errors_[0]
    drawn = [AdaBoostClassifier(n_estimators=1, bootstrap=True, random_state=seed).fit(X, y).estimator_errors_[0] for seed in range(20)]
    assert min(drawn) >= first - 0.02  # the stump of all rows is about the best on them
    assert np.mean(drawn) < first + 0.05


# Negative weights.


@pytest.mark.parametrize("algorithm", ["samme", "discrete"])
def test_a_learner_that_is_always_contrary_is_turned_round(algorithm):
    X, y = blobs()
    options = {"algorithm": algorithm, "n_estimators": 15, "random_state": 0}
    turned = AdaBoostClassifier(estimator=Contrary(), negative_weights=True, **options).fit(X, y)
    plain = AdaBoostClassifier(estimator=TheirTree(max_depth=1, random_state=0), **options).fit(X, y)
    assert (turned.estimator_weights_ < 0).all()
    assert_allclose(turned.estimator_weights_, -plain.estimator_weights_, rtol=1e-9)
    assert_allclose(turned.decision_function(X), plain.decision_function(X), atol=1e-9)
    assert_allclose(turned.training_bound_, plain.training_bound_, rtol=1e-9)
    assert np.mean(turned.predict(X) != y) <= turned.training_bound_[-1]


def test_without_the_option_a_contrary_learner_is_refused():
    X, y = blobs()
    with pytest.raises(woodwind.DataError, match="no better than chance"):
        AdaBoostClassifier(estimator=Contrary()).fit(X, y)


def test_a_learner_that_is_always_wrong_decides_alone():
    X = np.arange(10.0)[:, None]
    y = (X[:, 0] > 4).astype(int)
    model = AdaBoostClassifier(estimator=Contrary(), negative_weights=True).fit(X, y)
    assert model.estimator_weights_.tolist() == [-1.0]
    assert_array_equal(model.predict(X), y)


def test_negative_weights_are_for_votes():
    with pytest.raises(ParameterError, match="negative_weights=True is for votes, and algorithm='m2' has none"):
        AdaBoostClassifier(algorithm="m2", negative_weights=True).fit(*blobs())


def test_learners_better_than_chance_are_the_same_with_the_option():
    X, y = blobs(n_classes=3)
    one, two = (AdaBoostClassifier(n_estimators=20, negative_weights=turned).fit(X, y) for turned in (False, True))
    assert_array_equal(one.decision_function(X), two.decision_function(X))


# Bounds and edges.


def test_both_bounds_are_above_the_error_and_in_their_order():
    X, y = blobs()
    model = AdaBoostClassifier(n_estimators=40).fit(X, y)
    e = model.estimator_errors_
    assert_allclose(model.training_bound_, np.cumprod(2 * np.sqrt(e * (1 - e))))
    assert_allclose(model.exponential_bound_, np.exp(-2 * np.cumsum((0.5 - e) ** 2)))
    wrong = np.array([np.mean(stage != y) for stage in model.staged_predict(X)])
    assert (wrong <= model.training_bound_).all()
    assert (model.training_bound_ <= model.exponential_bound_ + 1e-15).all()
    assert np.isnan(AdaBoostClassifier(n_estimators=2).fit(*blobs(n_classes=3)).exponential_bound_).all()


def test_there_is_one_definition_of_edge():
    X, y = blobs()
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)
    hits = (model.estimators_[0].predict(X) == y)[:, None]
    assert_allclose(edges(hits), model.estimator_edges_)
    assert_allclose(model.estimator_edges_, 0.5 - model.estimator_errors_)


# A linear classifier.


@pytest.mark.parametrize("algorithm", ["samme", "samme.r", "m2", "mh"])
def test_stumps_on_zeros_and_ones_are_a_linear_classifier(algorithm, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 6)).astype(float)
    y = np.where(X @ [2, -1, 1, 0, 0.5, -0.5] + 0.5 * rng.normal(size=400) > 0.7, "yes", "no")
    model = AdaBoostClassifier(algorithm=algorithm, n_estimators=30).fit(X, y)
    assert (model.coef_.shape, model.intercept_.shape) == ((1, 6), (1,))
    assert_allclose((X @ model.coef_.T + model.intercept_).ravel(), model.decision_function(X), atol=1e-12)
    model.save(tmp_path / "model.ww")
    assert_array_equal(woodwind.load(tmp_path / "model.ww").coef_, model.coef_)


@pytest.mark.parametrize("why", ["numbers", "deep", "three classes", "missing", "estimators"])
def test_other_models_have_no_coefficients(why):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 4)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=200) > 2).astype(int)
    options = {"n_estimators": 3}
    if why == "numbers":
        X = X + 0.5
    elif why == "deep":
        options["max_depth"] = 2
    elif why == "three classes":
        y = y + (X[:, 0] > 0)
    elif why == "missing":
        X[0, 0] = np.nan
    else:
        options["estimator"] = TheirTree(max_depth=1)
    model = AdaBoostClassifier(**options).fit(X, y)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "intercept_")


# Additive models by name.


def gentle_by_hand(X, y, rounds):
    """Friedman, Hastie & Tibshirani 2000, algorithm 4, with stumps of scikit-learn."""
    score, weight = np.zeros(len(y)), np.full(len(y), 1 / len(y))
    for _ in range(rounds):
        stump = TheirRegressionTree(max_depth=1).fit(X, y, weight)
        step = stump.predict(X)
        score += step
        weight = weight * np.exp(-y * step)
        weight /= weight.sum()
    return score


def logit_by_hand(X, y, rounds):
    """The same, algorithm 3; F is half of the log-odds."""
    F, p = np.zeros(len(y)), np.full(len(y), 0.5)
    for _ in range(rounds):
        weight = p * (1 - p)
        F = F + 0.5 * TheirRegressionTree(max_depth=1).fit(X, (y - p) / weight, weight).predict(X)
        p = 1 / (1 + np.exp(-2 * F))
    return 2 * F


def test_gentle_adaboost_is_that_of_the_paper():
    X, y = blobs()
    model = GentleAdaBoostClassifier(n_estimators=8, max_bins=None).fit(X, y)
    assert_allclose(model.decision_function(X), gentle_by_hand(X, 2 * y - 1.0, 8), atol=1e-9)


def test_logitboost_is_that_of_the_paper():
    X, y = blobs()
    model = LogitBoostClassifier(n_estimators=8, max_bins=None).fit(X, y)
    assert_allclose(model.decision_function(X), logit_by_hand(X, y.astype(float), 8), atol=1e-9)


def test_named_models_are_additive_models_with_other_defaults(tmp_path):
    X, y = blobs()
    named = LogitBoostClassifier(estimator=LinearRegression(), n_estimators=5).fit(X, y)
    options = {"loss": "log_loss", "residuals": "newton", "step": "fixed", "learning_rate": 1.0, "init": "zero"}
    same = AdditiveClassifier(estimator=LinearRegression(), n_estimators=5, **options).fit(X, y)
    assert_array_equal(named.decision_function(X), same.decision_function(X))
    LogitBoostClassifier(n_estimators=3).fit(X, y).save(tmp_path / "model.ww")
    assert type(woodwind.load(tmp_path / "model.ww")) is LogitBoostClassifier


# A classifier as the learner of the additive model.


@pytest.mark.parametrize("estimator", [TheirTree(max_depth=1, random_state=0), GaussianNB()], ids=["stump", "bayes"])
def test_a_classifier_with_exponential_loss_is_adaboost(estimator):
    X, y = blobs()
    options = {"estimator": estimator, "n_estimators": 10, "random_state": 0}
    additive = AdditiveClassifier(loss="exponential", residuals="newton", learning_rate=1.0, init="zero", **options).fit(X, y)
    adaboost = AdaBoostClassifier(algorithm="discrete", **options).fit(X, y)
    n = min(len(additive.steps_), len(adaboost.estimator_weights_))
    assert n >= 2
    assert_allclose(2 * additive.steps_[:n], adaboost.estimator_weights_[:n], rtol=1e-6)
    for mine, other in zip(list(additive.staged_predict(X))[:n], list(adaboost.staged_predict(X))[:n], strict=True):
        assert np.mean(mine != other) < 0.01


@pytest.mark.parametrize("options", [{"loss": "log_loss"}, {"residuals": "gradient"}, {"step": "leaf"}], ids=str)
def test_a_classifier_with_anything_else_is_refused(options):
    given = {"loss": "exponential", "residuals": "newton", **options}
    with pytest.raises(ParameterError, match="is a classifier, and learners are fitted to numbers"):
        AdditiveClassifier(estimator=TheirTree(max_depth=1), **given).fit(*blobs())
