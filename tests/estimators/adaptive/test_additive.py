"""Additive models: gradient boosting and AdaBoost come out of them, with any learner and any loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1
from sklearn.ensemble import GradientBoostingClassifier as TheirClassifier
from sklearn.ensemble import GradientBoostingRegressor as TheirRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier as TheirClassTree
from sklearn.tree import DecisionTreeRegressor as TheirTree

from woodwind import AdaBoostClassifier, AdditiveClassifier, AdditiveRegressor, ParameterError
from woodwind.losses import Absolute, Huber, Quantile

OURS, ANY = {"max_bins": None}, {"estimator": TheirTree(max_depth=3)}


def friedman(n=400):
    return make_friedman1(n, noise=1.0, random_state=0)


def two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    return X + 1e-3 * np.random.default_rng(0).normal(size=X.shape), y  # no two splits tie


def noisy_classes(n_classes):
    """A fifth of the labels are wrong, so that no node is pure and no two splits tie: scikit-learn would draw one of them."""
    X, y = friedman(1500)
    label = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    rng = np.random.default_rng(0)
    wrong = rng.random(len(y)) < 0.2
    label[wrong] = rng.integers(0, n_classes, wrong.sum())
    return X, label


# Gradient boosting.


@pytest.mark.parametrize("learner", [OURS, ANY], ids=["ours", "any"])
@pytest.mark.parametrize("step", ["fixed", "line_search", "leaf"])
def test_with_squared_loss_it_is_the_gradient_boosting_of_scikit_learn(learner, step):
    X, y = friedman()
    theirs = TheirRegressor(n_estimators=30, random_state=0).fit(X, y)
    ours = AdditiveRegressor(n_estimators=30, step=step, random_state=0, **learner).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-12)
    assert_allclose(2.0 * ours.train_score_, theirs.train_score_, rtol=1e-12)  # ours is half the squared error
    if learner is OURS:  # in small nodes features tie, and scikit-learn draws one; it also weighs trees in its own way from outside
        assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-3)
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        assert_allclose(mine, other, atol=1e-12)


@pytest.mark.parametrize("learner", [OURS, ANY], ids=["ours", "any"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_log_loss_and_steps_for_leaves_it_is_the_gradient_boosting_of_scikit_learn(learner, n_classes):
    X, y = noisy_classes(n_classes)
    theirs = TheirClassifier(n_estimators=10, random_state=0).fit(X, y)
    ours = AdditiveClassifier(n_estimators=10, step="leaf", random_state=0, **learner).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-11)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize(
    ("loss", "options"), [(Absolute(), {"loss": "absolute_error"}), (Quantile(0.9), {"loss": "quantile"}), (Huber(), {"loss": "huber"})]
)
def test_leaves_of_other_losses_are_those_of_scikit_learn(loss, options):
    """One round: gradients of few values make splits tie in later ones, and scikit-learn draws among them.

    With 2,001 rows the median and the quantile to start from are rows, and nothing is interpolated.
    """
    X, y = friedman(2001)
    theirs = TheirRegressor(n_estimators=1, max_depth=2, random_state=0, **options).fit(X, y)
    ours = AdditiveRegressor(estimator=TheirTree(max_depth=2), loss=loss, n_estimators=1, step="leaf", random_state=0).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-12)


def test_a_share_of_the_rows_leaves_others_to_judge_by():
    X, y = friedman()
    model = AdditiveRegressor(n_estimators=20, subsample=0.5, random_state=0).fit(X, y)
    assert model.oob_improvement_.shape == (20,)
    assert model.oob_improvement_[0] > 0.0
    again = AdditiveRegressor(n_estimators=20, subsample=0.5, random_state=0).fit(X, y)
    assert_array_equal(model.predict(X), again.predict(X))


# AdaBoost.


class SignOf(RegressorMixin, BaseEstimator):
    """A classifier of signs in the clothes of a regressor: what AdaBoost adds up."""

    def fit(self, X, y, sample_weight=None):
        self.tree_ = TheirClassTree(max_depth=1, random_state=0).fit(X, np.sign(y), sample_weight=sample_weight)
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def test_with_exponential_loss_and_signs_it_is_adaboost():
    """Friedman, Hastie & Tibshirani 2000; the score is half of AdaBoost's, as its weights are here without the factor one half."""
    X, y = two_classes()
    additive = AdditiveClassifier(
        estimator=SignOf(), loss="exponential", residuals="newton", learning_rate=1.0, init="zero", n_estimators=15
    ).fit(X, y)  # of its draws nothing depends: the learner has a seed of its own
    adaptive = AdaBoostClassifier(estimator=TheirClassTree(max_depth=1), algorithm="discrete", n_estimators=15, random_state=0).fit(X, y)
    assert_allclose(2.0 * additive.steps_, adaptive.estimator_weights_, rtol=1e-9)
    # Its decision function goes from -2 to 2, over the sum of the weights.
    score = 0.5 * adaptive.decision_function(X) * adaptive.estimator_weights_.sum()
    assert_allclose(2.0 * additive.decision_function(X), score, rtol=1e-8, atol=1e-8)


# Any learner, any loss.


def test_one_step_of_linear_regression_is_least_squares():
    X, y = load_diabetes(return_X_y=True)
    model = AdditiveRegressor(estimator=LinearRegression(), learning_rate=1.0, n_estimators=1).fit(X, y)
    assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-10)
    assert_allclose(model.steps_, [1.0], atol=1e-12)


class LogCosh:
    def start(self, y, weight):
        return np.average(y, weights=weight)

    def derivatives(self, y, raw, weight):
        t = np.tanh(raw - y)
        w = 1.0 if weight is None else weight
        return w * t, w * (1.0 - t * t)

    def value(self, y, raw, weight):
        return np.average(np.logaddexp(raw - y, y - raw) - np.log(2.0), weights=weight)


class WrongSign(LogCosh):
    def derivatives(self, y, raw, weight):
        gradient, hessian = super().derivatives(y, raw, weight)
        return -gradient, hessian


@pytest.mark.parametrize("base", [None, Ridge(), KNeighborsRegressor(5)])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile", LogCosh()])
def test_any_regressor_and_any_loss(base, loss):
    X, y = friedman(200)
    model = AdditiveRegressor(estimator=base, loss=loss, n_estimators=15).fit(X, y / 5, np.random.default_rng(0).random(200) + 0.5)
    assert (np.diff(model.train_score_) <= 1e-12).all()
    *_, last = model.staged_predict(X)
    assert_array_equal(last, model.predict(X))


def test_a_loss_that_contradicts_itself_is_refused_before_any_work():
    X, y = friedman(100)
    with pytest.raises(ParameterError, match=r"AdditiveRegressor: .*its sign is the wrong way round"):
        AdditiveRegressor(loss=WrongSign()).fit(X, y / 10)


@pytest.mark.parametrize("residuals", ["gradient", "newton"])
@pytest.mark.parametrize("step", ["fixed", "line_search", "leaf"])
def test_classes_are_learnt_every_way(residuals, step):
    X, y = load_iris(return_X_y=True)
    model = AdditiveClassifier(residuals=residuals, step=step, n_estimators=20, learning_rate=0.3).fit(X, y)
    assert model.score(X, y) > 0.95
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert len(model.estimators_) == model.n_iter_
    assert len(model.estimators_[0]) == 3


# Stopping, going on, weights, threads.


def test_it_stops_where_rows_held_out_are_best():
    X, y = friedman(300)
    model = AdditiveRegressor(n_estimators=500, learning_rate=0.5, n_iter_no_change=5, tol=0.0, random_state=0).fit(X, y)
    assert model.n_iter_ < 500
    assert model.validation_score_.argmin() == model.n_iter_ - 1 == len(model.validation_score_) - 1


@pytest.mark.parametrize("options", [{}, {"estimator": TheirTree(max_depth=2, random_state=0)}, {"subsample": 0.7}])
def test_ten_rounds_and_ten_more_are_twenty(options):
    X, y = friedman(200)
    whole = AdditiveRegressor(n_estimators=20, random_state=0, **options).fit(X, y)
    model = AdditiveRegressor(n_estimators=10, random_state=0, warm_start=True, **options).fit(X, y)
    model.set_params(n_estimators=20).fit(X, y)
    assert model.n_iter_ == 20 == len(model.train_score_)
    assert_allclose(model.predict(X), whole.predict(X), rtol=1e-9)
    with pytest.raises(ParameterError, match="less than the 20 rounds"):
        model.set_params(n_estimators=5).fit(X, y)


def test_going_on_reads_another_table_as_the_first_one():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"reed": rng.choice(["single", "double"], 100), "keys": rng.random(100)})
    y = table["keys"] + (table["reed"] == "double")
    model = AdditiveRegressor(n_estimators=5, warm_start=True, random_state=0).fit(table, y)
    model.set_params(n_estimators=10).fit(table[["keys", "reed"]].iloc[:50], y.iloc[:50])
    assert model.n_iter_ == 10
    assert model.feature_names_in_.tolist() == ["reed", "keys"]
    with pytest.raises(ParameterError, match="learners of one kind"):
        model.set_params(estimator=Ridge()).fit(table, y)


@pytest.mark.parametrize("step", ["line_search", "leaf"])
def test_a_weight_of_two_is_a_row_given_twice(step):
    X, y = friedman(150)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    twice = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weight))
    model = AdditiveRegressor(n_estimators=10, step=step, loss="huber")
    assert_allclose(model.fit(X, y, weight).predict(X), model.fit(X[twice], y[twice]).predict(X), rtol=1e-9)


def test_the_same_bits_for_any_number_of_threads():
    X, y = friedman(20_000)
    fits = [AdditiveRegressor(n_estimators=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2, 3, 4, 8)]
    assert len({model.forest_.digest() for model in fits}) == 1


def test_what_is_wrong_is_said_before_any_work():
    X, y = friedman(50)
    with pytest.raises(ParameterError, match="step='leaf' is for learners with leaves"):
        AdditiveRegressor(estimator=Ridge(), step="leaf").fit(X, y)
    with pytest.raises(ParameterError, match="must be a regressor"):
        AdditiveRegressor(estimator=TheirClassTree()).fit(X, y)
    with pytest.raises(ParameterError, match="loss must be one of"):
        AdditiveRegressor(loss="cubic").fit(X, y)
    with pytest.raises(ParameterError, match="Only binary classification"):
        AdditiveClassifier(loss="exponential").fit(*load_iris(return_X_y=True))


@pytest.mark.filterwarnings("ignore")
def test_without_any_round_no_column_has_a_share():
    """A target without spread leaves nothing to learn."""
    X = np.random.default_rng(0).random((20, 3))
    for model in (AdditiveRegressor(TheirTree(max_depth=2)), AdditiveRegressor()):
        model.fit(X, np.full(20, 2.0))
        assert model.n_iter_ == 0
        assert_array_equal(model.feature_importances_, np.zeros(3))
        assert_array_equal(model.predict(X), np.full(20, 2.0))
