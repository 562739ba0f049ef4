"""AdaBoost that goes on from where it was, and that stops by rows held out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import woodwind
from woodwind import AdaBoostClassifier, AdaBoostRegressor, ParameterError


def labels(seed=0, n=300, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def numbers(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=n) / 2


CLASSIFIERS = [
    {"algorithm": "samme"},
    {"algorithm": "samme", "max_depth": 2},
    {"algorithm": "samme", "max_depth": 2, "bootstrap": True},
    {"algorithm": "samme.r", "max_depth": 2, "learning_rate": 0.1},
    {"algorithm": "m2", "max_depth": 2},
    {"algorithm": "mh"},
    {"estimator": LogisticRegression()},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", CLASSIFIERS, ids=str)
def test_going_on_is_training_in_one_go(options, weighted):
    X, y = labels()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    whole = AdaBoostClassifier(n_estimators=9, random_state=3, **options).fit(X, y, weight)
    parts = AdaBoostClassifier(n_estimators=4, random_state=3, warm_start=True, **options).fit(X, y, weight)
    parts.set_params(n_estimators=9).fit(X, y, weight)
    for name in ("estimator_weights_", "estimator_errors_", "training_bound_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    assert len(list(parts.staged_predict(X))) == len(whole.estimator_weights_)


@pytest.mark.parametrize("options", [{}, {"bootstrap": False}, {"loss": "square", "estimator": Ridge()}], ids=str)
def test_going_on_with_numbers_is_training_in_one_go(options):
    X, y = numbers()
    whole = AdaBoostRegressor(n_estimators=8, random_state=3, **options).fit(X, y)
    parts = AdaBoostRegressor(n_estimators=3, random_state=3, warm_start=True, **options).fit(X, y)
    parts.set_params(n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(parts.estimator_weights_, whole.estimator_weights_)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


def test_a_seed_that_was_drawn_is_gone_on_with():
    X, y = numbers()
    model = AdaBoostRegressor(n_estimators=3, warm_start=True, random_state=np.random.default_rng(5)).fit(X, y)
    first = model.predict(X)
    model.set_params(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(list(model.staged_predict(X))[2], first)


def test_nothing_is_added_where_boosting_has_ended():
    X, y = np.arange(20.0)[:, None], (np.arange(20) >= 10).astype(int)
    model = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X, y)
    assert len(model.estimator_weights_) == 1
    assert len(model.set_params(n_estimators=9).fit(X, y).estimator_weights_) == 1


def test_going_on_needs_the_same_rows_and_their_weights(tmp_path):
    X, y = labels(n_classes=2)
    model = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(ParameterError, match="other rows"):
        model.set_params(n_estimators=5).fit(X[:-1], y[:-1])
    with pytest.raises(ParameterError, match="Raise n_estimators"):
        model.set_params(n_estimators=2).fit(X, y)
    assert len(model.estimator_weights_) == 3
    with pytest.raises(ParameterError, match="not kept"):
        AdaBoostClassifier(n_estimators=3).fit(X, y).set_params(n_estimators=5, warm_start=True).fit(X, y)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_a_model_from_a_file_goes_on(kind, tmp_path):
    X, y = labels(n_classes=2) if kind is AdaBoostClassifier else numbers()
    kind(n_estimators=3, random_state=3, warm_start=True).fit(X, y).save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww").set_params(n_estimators=7).fit(X, y)
    np.testing.assert_array_equal(loaded.predict(X), kind(n_estimators=7, random_state=3).fit(X, y).predict(X))


def test_several_models_have_no_rounds_in_common():
    X, y = labels()
    for options in ({"early_stopping": True}, {"warm_start": True}):
        with pytest.raises(ParameterError, match="multiclass='output_code'"):
            AdaBoostClassifier(multiclass="output_code", **options).fit(X, y)


# Early stopping.


@pytest.mark.parametrize("options", CLASSIFIERS, ids=str)
def test_rounds_are_scored_as_the_stages_of_the_model(options):
    X, y = labels(1)
    X_valid, y_valid = labels(2)
    model = AdaBoostClassifier(n_estimators=7, random_state=0, scoring=["accuracy", "log_loss"], **options)
    model.fit(X, y, eval_set={"other": (X_valid, y_valid)})
    stages = [float((one == y_valid).mean()) for one in model.staged_predict(X_valid)]
    assert len(stages) == len(model.estimator_weights_)  # watched, but not stopped by
    np.testing.assert_allclose(model.evals_result_["other"]["accuracy"], stages)
    assert model.evals_result_["other"]["log_loss"].shape == (len(stages),)


@pytest.mark.parametrize("options", [{}, {"estimator": Ridge()}], ids=str)
def test_rounds_of_numbers_are_scored_as_the_stages_of_the_model(options):
    X, y = numbers(1)
    X_valid, y_valid = numbers(2)
    model = AdaBoostRegressor(n_estimators=7, random_state=0, **options).fit(X, y, eval_set=(X_valid, y_valid))
    stages = [np.sqrt(np.mean((one - y_valid) ** 2)) for one in model.staged_predict(X_valid)]
    np.testing.assert_allclose(model.evals_result_["validation_0"]["rmse"], stages)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_it_stops_at_the_best_round_of_the_rows_held_out(kind):
    X, y = labels(3, 200, 2) if kind is AdaBoostClassifier else numbers(3, 200)
    model = kind(n_estimators=200, max_depth=4, early_stopping=True, n_iter_no_change=5, validation_fraction=0.3, random_state=0).fit(X, y)
    (curve,) = model.evals_result_["validation_0"].values()
    best = int(np.argmax(curve) if kind is AdaBoostClassifier else np.argmin(curve)) + 1
    assert len(model.estimator_weights_) == best < len(curve) < 200
    assert len(curve) <= best + 5


def test_rows_held_out_are_not_learned():
    X, y = labels(4, 200, 2)
    options = {"n_estimators": 10, "early_stopping": True, "n_iter_no_change": 10, "random_state": 0}
    model = AdaBoostClassifier(**options).fit(X, y)
    frame = pd.DataFrame(X)
    again = AdaBoostClassifier(**options).fit(frame, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(frame))
    # Of the rows trained on alone, with bins of all rows, the model is the same.
    other = AdaBoostClassifier(estimator=LogisticRegression(), **options).fit(X, y)
    assert other.n_features_in_ == 4


def test_after_stopping_early_it_goes_on_from_the_best_round():
    X, y = labels(5, 200, 2)
    options = {"early_stopping": True, "n_iter_no_change": 3, "validation_fraction": 0.3, "random_state": 0, "max_depth": 3}
    model = AdaBoostClassifier(n_estimators=60, warm_start=True, **options).fit(X, y)
    kept = len(model.estimator_weights_)
    more = AdaBoostClassifier(n_estimators=kept + 2, random_state=0, max_depth=3, warm_start=True, early_stopping=True, n_iter_no_change=60)
    more.set_params(validation_fraction=0.3).fit(X, y)
    model.set_params(n_estimators=kept + 2, n_iter_no_change=60).fit(X, y)
    np.testing.assert_array_equal(model.estimator_weights_[:kept], more.estimator_weights_[:kept])


def test_the_curves_are_in_the_file(tmp_path):
    X, y = labels(6, 200, 2)
    model = AdaBoostClassifier(n_estimators=5, early_stopping=True, random_state=0).fit(X, y)
    model.save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww")
    np.testing.assert_array_equal(loaded.evals_result_["validation_0"]["accuracy"], model.evals_result_["validation_0"]["accuracy"])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert not hasattr(AdaBoostClassifier(n_estimators=5).fit(X, y), "evals_result_")
