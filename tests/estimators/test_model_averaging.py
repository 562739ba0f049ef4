"""Bayesian averaging and combination of models of any kind."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor as TheirBoosting
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.tree import DecisionTreeRegressor as TheirRegressionTree

from woodwind import (
    BayesianLinearAveragingRegressor,
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    BayesianModelCombinationClassifier,
    BayesianModelCombinationRegressor,
    DataError,
    DecisionTreeClassifier,
    ParameterError,
    RandomForestRegressor,
    WoodwindWarning,
)
from woodwind.base.errors import MemberError
from woodwind.estimators.averaging.free_parameters import free_parameters

CLASSIFIERS = [("linear", LogisticRegression(max_iter=1000)), ("bayes", GaussianNB()), ("tree", TheirTree(max_depth=2, random_state=0))]
REGRESSORS = [("linear", LinearRegression()), ("tree", TheirRegressionTree(max_depth=3, random_state=0)), ("mean", DummyRegressor())]
BOTH = [
    (BayesianModelAveragingClassifier, BayesianModelAveragingRegressor),
    (BayesianModelCombinationClassifier, BayesianModelCombinationRegressor),
]


def iris(seed=0):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], np.array(["setosa", "versicolor", "virginica"])[y[order]]


def diabetes():
    return load_diabetes(return_X_y=True)


# Weights.


def test_weights_of_classifiers_are_likelihoods_out_of_fold():
    X, y = iris()
    cv = KFold(4)
    model = BayesianModelAveragingClassifier(estimators=CLASSIFIERS, cv=cv).fit(X, y)
    predicted = [cross_val_predict(member, X, y, cv=cv, method="predict_proba") for _, member in CLASSIFIERS]
    likelihood = np.array([-log_loss(y, probabilities, normalize=False) for probabilities in predicted])
    np.testing.assert_allclose(model.log_likelihood_, likelihood, rtol=1e-6)
    by_hand = np.exp(likelihood - likelihood.max())
    np.testing.assert_allclose(model.weights_, by_hand / by_hand.sum(), rtol=1e-4)
    mixed = sum(weight * member.predict_proba(X) for weight, member in zip(model.weights_, model.estimators_, strict=True))
    np.testing.assert_allclose(model.predict_proba(X), mixed)
    assert set(model.predict(X)) <= set(y)


def test_weights_by_bic_are_those_of_the_textbook():
    X, y = diabetes()
    members = {"all": LinearRegression(), "lasso": Lasso(alpha=1.0), "mean": DummyRegressor()}
    model = BayesianModelAveragingRegressor(estimators=members, evidence="bic").fit(X, y)
    n = len(y)
    bic = []
    for member in members.values():
        fitted = clone(member).fit(X, y)
        k = 1 + 1 + np.count_nonzero(getattr(fitted, "coef_", 0))
        bic.append(n * np.log(np.mean((y - fitted.predict(X)) ** 2)) + k * np.log(n))
    bic = np.array(bic) + n * (np.log(2 * np.pi) + 1)
    np.testing.assert_allclose(model.criterion_, bic)
    np.testing.assert_allclose(model.weights_, np.exp(-0.5 * (bic - bic.min())) / np.exp(-0.5 * (bic - bic.min())).sum())


def test_subsets_as_members_weigh_as_in_averaging_over_subsets():
    X, y = diabetes()
    X = X[:120, [2, 8]]
    y = y[:120]
    linear = BayesianLinearAveragingRegressor().fit(X, y)
    fitted = [LinearRegression().fit(X[:, columns], y) for columns in ([0], [1], [0, 1])]
    likelihood = np.array([len(y) * np.log(np.mean((y - model.predict(X[:, columns])) ** 2)) for model, columns in
                           zip(fitted, ([0], [1], [0, 1]), strict=True)])  # fmt: skip
    bic = np.append(likelihood + np.array([1, 1, 2]) * np.log(len(y)), len(y) * np.log(np.var(y)))
    weight = np.exp(-0.5 * (bic - bic.min()))
    weight /= weight.sum()
    np.testing.assert_allclose(linear.inclusion_probabilities_, [weight[0] + weight[2], weight[1] + weight[2]], rtol=1e-9)


def test_a_prior_multiplies_and_a_dropped_member_is_gone():
    X, y = iris()
    even = BayesianModelAveragingClassifier(estimators=CLASSIFIERS, cv=3, random_state=0).fit(X, y)
    bent = BayesianModelAveragingClassifier(estimators=CLASSIFIERS, cv=3, random_state=0, prior={"tree": 8, "bayes": 0}).fit(X, y)
    expected = even.weights_ * [1, 0, 8]
    np.testing.assert_allclose(bent.weights_, expected / expected.sum())
    dropped = clone(even).set_params(tree="drop").fit(X, y)
    np.testing.assert_allclose(dropped.weights_, even.weights_[:2] / even.weights_[:2].sum())


def test_members_that_are_trained_are_judged_by_the_rows_that_are_given():
    X, y = iris()
    fitted = [(name, clone(member).fit(X[:80], y[:80])) for name, member in CLASSIFIERS]
    model = BayesianModelAveragingClassifier(estimators=fitted, prefit=True).fit(X[80:], y[80:])
    likelihood = [-log_loss(y[80:], member.predict_proba(X[80:]), normalize=False) for _, member in fitted]
    np.testing.assert_allclose(model.log_likelihood_, likelihood, rtol=1e-6)
    assert model.estimators_[0] is fitted[0][1]
    assert clone(model).fit(X[80:], y[80:]).predict(X).shape == y.shape


def test_the_standard_deviation_holds_errors_and_disagreement():
    X, y = diabetes()
    model = BayesianModelAveragingRegressor(estimators=REGRESSORS[:2], cv=3, prior=[1, 1e9]).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    numbers = np.column_stack([member.predict(X) for member in model.estimators_])
    variance = model.weights_ @ model.error_variances_ + (numbers - mean[:, None]) ** 2 @ model.weights_
    np.testing.assert_allclose(std, np.sqrt(variance))
    np.testing.assert_array_equal(mean, model.predict(X))
    new = BayesianModelAveragingRegressor(estimators=REGRESSORS[:2]).fit(X[:300], y[:300])
    mean, std = new.predict(X[300:], return_std=True)
    assert 0.85 < np.mean(np.abs(y[300:] - mean) < 1.96 * std) <= 1.0


# Free parameters.


def test_free_parameters_are_counted_by_rule():
    X, y = iris()
    numbers = X @ [1.0, 2.0, 3.0, 4.0]
    assert free_parameters(LinearRegression().fit(X, numbers)) == 5
    assert free_parameters(LinearRegression(fit_intercept=False).fit(X, numbers)) == 4
    assert free_parameters(Lasso(alpha=10.0).fit(X, numbers)) == 1 + np.count_nonzero(Lasso(alpha=10.0).fit(X, numbers).coef_)
    assert free_parameters(LogisticRegression(max_iter=1000).fit(X, y)) == 2 * 5
    assert free_parameters(LogisticRegression(max_iter=1000).fit(X, y == "setosa")) == 5
    assert free_parameters(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)) == 2 * 5
    assert free_parameters(TheirTree(max_depth=1).fit(X, y)) == 2 * 2
    assert free_parameters(DecisionTreeClassifier(max_depth=1).fit(X, y)) == 2 * 2
    assert free_parameters(TheirRegressionTree(max_leaf_nodes=7).fit(X, numbers)) == 7
    assert free_parameters(GaussianNB().fit(X, y)) == 3 * 4 * 2 + 2
    assert free_parameters(DummyClassifier().fit(X, y)) == 2
    forest = TheirForest(5, max_depth=3, random_state=0).fit(X, y)
    assert free_parameters(forest) == np.mean([2 * tree.get_n_leaves() for tree in forest.estimators_])
    ours = RandomForestRegressor(n_estimators=3, max_leaf_nodes=6, random_state=0).fit(X, numbers)
    assert free_parameters(ours) == np.mean([tree.get_n_leaves() for tree in ours.estimators_])
    assert free_parameters(KNeighborsRegressor().fit(X, numbers)) is None


def test_free_parameters_may_be_given_in_three_ways():
    X, y = diabetes()
    members = [("linear", LinearRegression()), ("boosting", TheirBoosting(n_estimators=5, random_state=0))]
    with pytest.raises(ParameterError, match=r"member 'boosting' .* has.*n_parameters=\{'boosting': \.\.\.\}"):
        BayesianModelAveragingRegressor(estimators=members, evidence="bic").fit(X, y)
    given = BayesianModelAveragingRegressor(estimators=members, evidence="aic", n_parameters={"boosting": 30}).fit(X, y)
    assert given.member_parameters_.tolist() == [12, 31]
    listed = BayesianModelAveragingRegressor(estimators=members, evidence="aic", n_parameters=[11, 30]).fit(X, y)

    def counted(one):
        return 11 if hasattr(one, "coef_") else 30

    called = BayesianModelAveragingRegressor(estimators=members, evidence="aic", n_parameters=counted)
    np.testing.assert_array_equal(given.weights_, listed.weights_)
    np.testing.assert_array_equal(given.weights_, called.fit(X, y).weights_)

    class Knows(TheirBoosting):
        n_parameters_ = 30

    knows = BayesianModelAveragingRegressor(estimators=[members[0], ("boosting", Knows(n_estimators=5, random_state=0))], evidence="aic")
    np.testing.assert_array_equal(given.weights_, knows.fit(X, y).weights_)


def test_a_member_without_training_error_is_pointed_at():
    X, y = diabetes()
    members = [("linear", LinearRegression()), ("tree", TheirRegressionTree(random_state=0))]
    with pytest.warns(WoodwindWarning, match=r"member 'tree' fits the rows that it has learned without error.*out_of_fold"):
        BayesianModelAveragingRegressor(estimators=members, evidence="bic").fit(X, y)


# Combination.


def test_combination_beats_averaging_where_members_are_right_in_different_places():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    chance = 0.5 / (1 + np.exp(-3 * X[:, 0])) + 0.5 / (1 + np.exp(-3 * X[:, 1]))
    y = np.where(rng.random(3000) < chance, "yes", "no")

    class OneColumn(LogisticRegression):
        def __init__(self, column=0):
            super().__init__()
            self.column = column

        def fit(self, X, y, sample_weight=None):
            return super().fit(X[:, [self.column]], y, sample_weight)

        def predict_proba(self, X):
            return super().predict_proba(X[:, [self.column]])

    members = [("first", OneColumn(0)), ("second", OneColumn(1))]
    train, test = slice(0, 1500), slice(1500, None)
    averaging = BayesianModelAveragingClassifier(estimators=members, random_state=0).fit(X[train], y[train])
    combination = BayesianModelCombinationClassifier(estimators=members, random_state=0).fit(X[train], y[train])
    assert averaging.weights_.max() > 0.95
    assert combination.weights_.min() > 0.3
    losses = [log_loss(y[test], model.predict_proba(X[test])) for model in (averaging, combination)]
    assert losses[1] < losses[0] - 0.005


def test_combined_numbers_vary_by_errors_and_by_weights():
    X, y = diabetes()
    model = BayesianModelCombinationRegressor(estimators=REGRESSORS, cv=3, n_combinations=500, random_state=0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    numbers = np.column_stack([member.predict(X) for member in model.estimators_])
    of_each = numbers @ model.combinations_.T
    np.testing.assert_allclose(mean, of_each @ model.probabilities_)
    between = (of_each - mean[:, None]) ** 2 @ model.probabilities_
    np.testing.assert_allclose(std, np.sqrt(between + model.error_variance_))
    assert model.weights_.sum() == pytest.approx(1.0)


def test_too_few_combinations_are_spoken_of():
    X, y = diabetes()
    with pytest.warns(WoodwindWarning, match=r"combinations count.*Raise n_combinations"):
        BayesianModelCombinationRegressor(estimators=REGRESSORS, cv=3, n_combinations=20, n_rounds=1, random_state=0).fit(X, y)


# Citizenship.


@pytest.mark.parametrize("pair", BOTH, ids=["averaging", "combination"])
def test_any_table_and_any_labels_if_members_take_them(pair):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=90), "kind": rng.choice(["a", "b", None], 90), "far": rng.normal(size=90)})
    frame.loc[::7, "size"] = np.nan
    y = np.where(frame["kind"] == "a", "low", np.where(frame["far"] > 0, "middle", "high"))
    trees = [("small", DecisionTreeClassifier(max_depth=2)), ("large", DecisionTreeClassifier(max_depth=4))]
    model = pair[0](estimators=trees, cv=3, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(pl.from_pandas(frame)), model.predict_proba(frame))
    np.testing.assert_array_equal(model.predict_proba(frame[["far", "kind", "size"]]), model.predict_proba(frame))
    assert model.classes_.tolist() == ["high", "low", "middle"]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(frame), model.predict(frame))


@pytest.mark.parametrize("pair", BOTH, ids=["averaging", "combination"])
def test_members_can_be_searched_through_and_threads_change_nothing(pair):
    X, y = diabetes()
    search = GridSearchCV(pair[1](estimators=REGRESSORS[:2], cv=2, random_state=0), {"tree__max_depth": [1, 3]}, cv=2).fit(X, y)
    assert search.best_params_["tree__max_depth"] in (1, 3)
    models = [pair[1](estimators=REGRESSORS, cv=3, random_state=1, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    np.testing.assert_array_equal(models[0].weights_, models[1].weights_)


def test_groups_are_held_out_together_and_weights_of_any_size_mean_the_same():
    X, y = iris()
    groups = np.repeat(np.arange(50), 3)
    model = BayesianModelAveragingClassifier(estimators=CLASSIFIERS, cv=5).fit(X, y, groups=groups)
    assert model.weights_.sum() == pytest.approx(1.0)
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    averaging = BayesianModelAveragingClassifier(estimators=CLASSIFIERS, cv=5, random_state=0)
    small, large = (clone(averaging).fit(X, y, weight * unit) for unit in (0.001, 0.7))
    np.testing.assert_allclose(small.log_likelihood_[1:], large.log_likelihood_[1:], rtol=1e-6)


def test_what_cannot_be_done_is_said_before_any_work():
    X, y = iris()
    numbers = X[:, 0]
    for model in (BayesianModelAveragingClassifier, BayesianModelCombinationClassifier):
        with pytest.raises(ParameterError, match=r"member 'ridge' .* has no predict_proba"):
            model(estimators=[("ridge", RidgeClassifier()), CLASSIFIERS[0]]).fit(X, y)
        with pytest.raises(ParameterError, match="must be a classifier"):
            model(estimators=REGRESSORS).fit(X, y)
        with pytest.raises(MemberError, match="not fitted"):
            model(estimators=CLASSIFIERS, prefit=True).fit(X, y)
        with pytest.raises(DataError, match="one class only"):
            model(estimators=CLASSIFIERS).fit(X, np.zeros(len(y)))
    with pytest.raises(ParameterError, match="prior names the member 'oak', but members are linear, bayes, tree"):
        BayesianModelAveragingClassifier(estimators=CLASSIFIERS, prior={"oak": 1}).fit(X, y)
    with pytest.raises(ParameterError, match=r"prior must be one number for each member.*3, but it is"):
        BayesianModelAveragingClassifier(estimators=CLASSIFIERS, prior=[1, 2]).fit(X, y)
    with pytest.raises(ParameterError, match="at least 0"):
        BayesianModelAveragingClassifier(estimators=CLASSIFIERS, prior=[0, 0, 0]).fit(X, y)
    with pytest.raises(ParameterError, match="evidence must be"):
        BayesianModelAveragingClassifier(estimators=CLASSIFIERS, evidence="likelihood").fit(X, y)
    with pytest.raises(ParameterError, match="needs more rows than parameters"):
        BayesianModelAveragingRegressor(estimators=[LinearRegression()], evidence="aicc").fit(X[:5], numbers[:5])
    with pytest.raises(ParameterError, match="concentration must be a number above 0"):
        BayesianModelCombinationRegressor(estimators=REGRESSORS, concentration=0).fit(X, numbers)
    with pytest.raises(ParameterError, match="has no predict_proba"):
        BayesianModelAveragingClassifier(estimators=[SVC()]).fit(X, y)
