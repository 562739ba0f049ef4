"""Gradient boosting of several targets: y of shape (n, k), numbers or labels. docs/algorithms/several-targets.md."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.tree import DecisionTreeRegressor

import woodwind
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.base.errors import ConstantTargetWarning, ParameterError, ParameterNameError, TargetError
from woodwind.losses import LogLoss, Multinomial, Poisson, Squared
from woodwind.losses.several_targets import SeveralTargetsLoss

# Nothing is drawn or held out.
PLAIN = {"early_stopping": False, "subsample": 1.0, "max_features_tree": None, "learning_rate": 0.2, "n_estimators": 15}
FEW = {"n_estimators": 10, "random_state": 0}


def numbers(n=300, seed=0):
    """Targets that depend on other columns, in very different units."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    clean = np.column_stack([X[:, 0] + 2 * np.abs(X[:, 1]), X[:, 2] * X[:, 0], np.sin(2 * X[:, 3])])
    return X, (clean + 0.2 * rng.normal(size=clean.shape)) * [1.0, 1e7, 1e-5]


def labels(n=300, seed=0):
    """Two, four and two classes."""
    X, y = numbers(n, seed)
    return X, np.column_stack([y[:, 0] > 1, np.digitize(y[:, 1], [-1e7, 0, 1e7]), y[:, 2] > 0]).astype(int)


def several_for(model, n=300, seed=0):
    return labels(n, seed) if isinstance(model, GradientBoostingClassifier) else numbers(n, seed)


def predictions(model, X):
    """What is predicted, side by side; numbers in their own units."""
    return np.hstack(model.predict_proba(X)) if isinstance(model, GradientBoostingClassifier) else model.predict(X) / [1.0, 1e7, 1e-5]


MODELS = [
    GradientBoostingRegressor(**FEW),
    GradientBoostingRegressor(multi_output="one_per_target", **FEW),
    GradientBoostingRegressor(loss="absolute_error", **FEW),
    GradientBoostingClassifier(**FEW),
    GradientBoostingClassifier(multiclass="one_per_class", **FEW),
]


def test_the_case_by_hand():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [[0.0, 0.0], [0.0, 4.0], [2.0, 4.0], [2.0, 10.0]]
    model = GradientBoostingRegressor(
        n_estimators=1, learning_rate=1.0, max_depth=1, min_samples_leaf=1, l2_regularization=0.0, early_stopping=False
    ).fit(X, y)
    assert model.forest_.start.tolist() == [1.0, 4.5]
    # In standard deviations, whose squares are 1 and 12.75: 8/3 + 24/12.75 is left at 0.5, 26/12.75 at 1.5, 8/3 + 32/38.25 at 2.5.
    np.testing.assert_allclose(model.predict(X), [[0, 2], [0, 2], [2, 7], [2, 7]], rtol=1e-6)
    assert model.train_score_[0] == pytest.approx(0.5)
    assert model.train_score_[1] == pytest.approx((0 + 26 / 12.75) / 2 / 2 / 4, rel=1e-6)


def test_the_first_tree_is_that_of_scikit_learn_in_standard_deviations():
    X, y = numbers(200)
    X = np.round(X, 1).astype(np.float32)  # fewer values than bins
    standard = (y - y.mean(axis=0)) / y.std(axis=0)
    other = DecisionTreeRegressor(max_leaf_nodes=9, min_samples_leaf=8, random_state=0).fit(X, standard)
    options = {"max_leaf_nodes": 9, "min_samples_leaf": 8, "l2_regularization": 0.0, "min_hessian_leaf": 0.0}
    own = GradientBoostingRegressor(**{**PLAIN, "n_estimators": 1, "learning_rate": 1.0}, **options).fit(X, y)
    np.testing.assert_allclose((own.predict(X) - y.mean(axis=0)) / y.std(axis=0), other.predict(X), atol=1e-6)


def test_one_tree_for_each_target_is_one_model_for_each():
    X, y = numbers()
    options = {**PLAIN, "max_bins": None}
    own = GradientBoostingRegressor(multi_output="one_per_target", **options).fit(X, y)
    other = MultiOutputRegressor(GradientBoostingRegressor(**options)).fit(X, y)
    np.testing.assert_allclose(own.predict(X), other.predict(X), rtol=1e-9)
    X, y = labels()
    own = GradientBoostingClassifier(multiclass="one_per_class", **options).fit(X, y[:, [0, 2]])
    other = MultiOutputClassifier(GradientBoostingClassifier(**options)).fit(X, y[:, [0, 2]])
    for one, two in zip(own.predict_proba(X), other.predict_proba(X), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9)
    assert own.n_trees_per_iteration_ == 2


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"multi_output": "one_per_target"},
        {"growth": "symmetric"},
        {"loss": "absolute_error"},
        {"loss": "huber"},
        {"loss": "quantile", "quantile": 0.5},
        {"boosting": "dart"},
        {"sampling": "goss"},
        {"sampling": "mvs"},
        {"leaf_estimation": "gradient"},
        {"path_smooth": 2.0},
        {"scoring": "rmse"},
        {"scoring": ["r2", "mae"]},
        {"early_stopping": True, "refit": False},
        {"n_parallel_trees": 2, "bootstrap": True},
    ],
    ids=str,
)
def test_every_target_is_learned_whatever_its_unit(options):
    X, y = numbers(900)
    model = GradientBoostingRegressor(**{"n_estimators": 60, "learning_rate": 0.2, "random_state": 0} | options).fit(X[:600], y[:600])
    assert r2_score(y[600:], model.predict(X[600:]), multioutput="raw_values").min() > 0.55


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_losses_with_a_logarithm(loss):
    rng = np.random.default_rng(0)
    X = rng.random((600, 3))
    y = rng.poisson(np.column_stack([5 * X[:, 0], 20 * X[:, 1]])) + (loss == "gamma")
    model = GradientBoostingRegressor(loss=loss, n_estimators=60, random_state=0).fit(X[:400], y[:400])
    assert model.predict(X).shape == (600, 2)
    assert (model.predict(X) > 0).all()
    assert r2_score(y[400:], model.predict(X[400:]), multioutput="raw_values").min() > 0.1
    y[3, 1] = -1
    with pytest.raises(TargetError, match="Column 1 of y: The target of loss"):
        GradientBoostingRegressor(loss=loss).fit(X, y)


def test_labels_of_several_targets():
    X, y = labels(900)
    named = np.array(["a", "b", "c", "d"])[y]
    model = GradientBoostingClassifier(n_estimators=60, random_state=0).fit(X[:600], named[:600])
    assert [labels.tolist() for labels in model.classes_] == [["a", "b"], ["a", "b", "c", "d"], ["a", "b"]]
    assert isinstance(model.loss_, SeveralTargetsLoss)
    assert [type(one) for one in model.loss_.each] == [LogLoss, Multinomial, LogLoss]
    predicted = model.predict(X[600:])
    assert (predicted == named[600:]).mean(axis=0).min() > 0.6
    assert model.score(X[600:], named[600:]) == pytest.approx((predicted == named[600:]).all(axis=1).mean())
    found = model.predict_proba(X)
    assert [one.shape for one in found] == [(900, 2), (900, 4), (900, 2)]
    assert all(np.allclose(one.sum(axis=1), 1.0) for one in found)
    assert [np.allclose(np.exp(log), one) for log, one in zip(model.predict_log_proba(X), found, strict=True)] == [True] * 3
    assert not hasattr(model, "decision_function")  # as in scikit-learn, where `classes_` is a list
    assert model.explain(X[:3]).scores.shape == (3, 6)
    assert len(list(model.staged_predict_proba(X[:2]))) == model.n_iter_
    assert list(model.staged_predict(X[:2]))[-1].shape == (2, 3)


def test_a_column_of_one_class_is_sure_of_it():
    X, y = labels()
    y[:, 1] = 3
    model = GradientBoostingClassifier(**FEW).fit(X, y)
    assert [one.shape[1] for one in model.predict_proba(X)] == [2, 1, 2]
    assert (model.predict(X)[:, 1] == 3).all()


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_what_is_loaded_predicts_the_same_and_values_of_columns_add_up(model, tmp_path):
    X, y = several_for(model)
    model = clone(model).fit(X, pd.DataFrame(y, columns=["a", "b", "c"]))
    model.save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww")
    assert np.array_equal(predictions(loaded, X), predictions(model, X))
    assert loaded.target_names_ == ["a", "b", "c"]
    explanation = model.explain(X[:10])
    scores = explanation.scores
    np.testing.assert_allclose(explanation.values.sum(axis=1) + explanation.base, scores, rtol=1e-6, atol=1e-9 * np.abs(scores).max())
    if isinstance(model, GradientBoostingClassifier):
        assert explanation.outputs == ("a=1", "b=0", "b=1", "b=2", "b=3", "c=1")
        np.testing.assert_allclose(model.predictor()(X[:3]), predictions(model, X[:3]), rtol=1e-12)
    else:
        assert explanation.outputs == ("a", "b", "c")
        np.testing.assert_allclose(model.predictor()(X[:3]), model.predict(X[:3]), rtol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_bits_are_the_same_for_any_number_of_threads(model):
    X, y = several_for(model, 600)
    one, three = (clone(model).set_params(n_jobs=jobs).fit(X, y) for jobs in (1, 3))
    assert one.forest_.value.tobytes() == three.forest_.value.tobytes()
    assert one.forest_.threshold.tobytes() == three.forest_.threshold.tobytes()


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_weights_are_repetitions(model):
    X, y = several_for(model, 150)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighed = clone(model).set_params(**PLAIN).fit(X, y, times)
    repeated = clone(model).set_params(**PLAIN).fit(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))
    assert np.array_equal(predictions(weighed, X), predictions(repeated, X))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_training_goes_on_and_leaves_are_fitted_once_more(model):
    X, y = several_for(model)
    whole = clone(model).set_params(**{**PLAIN, "n_estimators": 8}).fit(X, y)
    grown = clone(model).set_params(**{**PLAIN, "n_estimators": 5}, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=8).fit(X, y)
    np.testing.assert_allclose(predictions(grown, X), predictions(whole, X), rtol=1e-9, atol=1e-9)
    with pytest.raises(TargetError, match=r"y has 1 targets, but|y has one target, unlike"):
        grown.set_params(n_estimators=9).fit(X, y[:, 0])
    again = whole.refit_leaves(X, y)
    np.testing.assert_allclose(predictions(again, X), predictions(whole, X), rtol=1e-4, atol=1e-5)


def test_rows_to_stop_by():
    X, y = numbers(500)
    model = GradientBoostingRegressor(n_estimators=200, learning_rate=0.3, random_state=0)
    model.fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
    assert model.n_iter_ < 200
    assert len(model.validation_score_) > model.n_iter_
    with pytest.raises(TargetError, match="eval_set: y has the shape"):
        model.fit(X[:300], y[:300], eval_set=(X[300:], y[300:, 0]))
    X, y = labels(500)
    model = GradientBoostingClassifier(n_estimators=40, scoring=["log_loss", "f1_macro"], random_state=0)
    model.fit(X[:300], y[:300][:, [0, 2]], eval_set=(X[300:], y[300:][:, [0, 2]]))
    assert set(model.evals_result_["validation_0"]) == {"log_loss", "f1_macro"}


def test_categories_missing_values_and_many_categories():
    rng = np.random.default_rng(0)
    town = rng.integers(0, 60, 1500)
    X = pd.DataFrame({"town": [f"t{k}" for k in town], "x": np.where(rng.random(1500) < 0.3, np.nan, rng.normal(size=1500))})
    y = np.column_stack([np.sin(town), np.cos(town) + X["x"].isna()]) + 0.1 * rng.normal(size=(1500, 2))
    for encoding in ("sets", "out_of_fold", "ordered"):
        model = GradientBoostingRegressor(n_estimators=100, categorical_encoding=encoding, random_state=0).fit(X[:1000], y[:1000])
        assert r2_score(y[1000:], model.predict(X[1000:]), multioutput="raw_values").min() > 0.5


def test_starting_scores_have_a_column_for_each_target():
    X, y = numbers()
    offset = y + 1.0
    model = GradientBoostingRegressor(init=offset, early_stopping=False, **FEW).fit(X, y)
    assert model.predict(X, init=offset).shape == y.shape


def test_a_constant_target_is_predicted_and_warned_of():
    X, y = numbers()
    y[:, 1] = 7.25
    with pytest.warns(ConstantTargetWarning, match="target 'y1': y is 7.25 in every row"):
        model = GradientBoostingRegressor(**FEW).fit(X, y)
    assert (model.predict(X)[:, 1] == 7.25).all()


def test_numbers_that_are_no_targets_are_refused_by_name():
    X, y = numbers()
    frame = pd.DataFrame(y, columns=["a", "b", "c"])
    frame.loc[5, "b"] = np.nan
    with pytest.raises(TargetError, match=r"target 'b': Input y contains NaN.*y\[5\]"):
        GradientBoostingRegressor().fit(X, frame)


@pytest.mark.parametrize("multi_output", ["vector", "one_per_target"])
def test_trees_without_bins_split_as_those_with_a_bin_for_each_value_do(multi_output):
    X, y = numbers()
    X, y = X[:200], y[:200]
    settings = FEW | {"multi_output": multi_output, "early_stopping": False, "subsample": 1.0, "n_estimators": 5}
    known = GradientBoostingRegressor(**settings).fit(X, y)
    for more in ({"max_bins": None}, {"candidates": "global"}, {"candidates": "local"}):
        model = GradientBoostingRegressor(**settings | more).fit(X, y)
        assert model.n_trees_per_iteration_ == known.n_trees_per_iteration_
        np.testing.assert_allclose(model.predict(X), known.predict(X), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"monotonic_cst": [1, 0, 0, 0, 0]}, "monotonic_cst=.* is for one target"),
        ({"max_delta_step": 1.0}, "max_delta_step=1.0 is for one target"),
        ({"linear_leaves": True}, "linear_leaves=True is for one target"),
        ({"boosting": "ordered"}, "boosting='ordered' is for one target"),
        ({"loss": "quantile", "quantile": [0.1, 0.9]}, "several quantiles are for one target"),
        ({"init": Ridge()}, "a model as init is for one target"),
        ({"scoring": "explained_variance_of_nothing"}, "no scorer"),
    ],
    ids=str,
)
def test_what_is_for_one_target_says_so(options, message):
    X, y = numbers()
    with pytest.raises(ParameterError, match=message):
        GradientBoostingRegressor(**options).fit(X, y)


def test_a_metric_that_cannot_score_them_says_so():
    X, y = labels()
    with pytest.raises(ParameterError, match="scoring cannot score several targets"):
        GradientBoostingClassifier(scoring="roc_auc", **FEW).fit(X, y)


def test_rankings_and_distributions_are_of_one_target():
    X, y = numbers()
    with pytest.raises(TargetError, match="1d array"):
        woodwind.DistributionBoostingRegressor().fit(X, y)


def test_the_name_of_xgboost_is_understood():
    with pytest.raises(ParameterNameError, match="multi_output='one_per_target'"):
        GradientBoostingRegressor(multi_strategy="one_output_per_tree")
    with pytest.raises(ParameterNameError, match="multiclass='vector'"):
        GradientBoostingClassifier(multi_strategy="multi_output_tree")
    params = woodwind.translate("xgboost", {"multi_strategy": "one_output_per_tree"}, task="regression").params
    assert params["multi_output"] == "one_per_target"
    assert GradientBoostingRegressor.like("xgboost").multi_output == "one_per_target"
    assert GradientBoostingRegressor.like("xgboost", multi_strategy="multi_output_tree").multi_output == "vector"


def test_the_loss_of_several_targets_is_the_mean_of_their_losses():
    rng = np.random.default_rng(0)
    y, raw = rng.poisson(3, (50, 2)).astype(float), rng.normal(size=(50, 2))
    loss = SeveralTargetsLoss((Squared(), Poisson()))
    assert loss.value(y, raw) == pytest.approx((Squared().value(y[:, 0], raw[:, 0]) + Poisson().value(y[:, 1], raw[:, 1])) / 2)
    unit = loss.for_target(y, None)
    gradient, hessian = unit.derivatives(y, raw)
    np.testing.assert_allclose(gradient[:, 0], (raw[:, 0] - y[:, 0]) / y[:, 0].std())
    np.testing.assert_allclose(hessian[:, 0], 1.0)
    np.testing.assert_allclose(gradient[:, 1], Poisson().derivatives(y[:, 1], raw[:, 1])[0])
    np.testing.assert_allclose(unit.rescaled_steps(np.ones((4, 2)), -1), np.tile([y[:, 0].std(), 1.0], (4, 1)))
    assert loss.start(y).tolist() == [Squared().start(y[:, 0])[0], Poisson().start(y[:, 1])[0]]
