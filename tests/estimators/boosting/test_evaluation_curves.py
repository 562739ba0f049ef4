"""Several validation tables and several metrics: all curves are there, one of them decides."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.metrics import log_loss, make_scorer, mean_absolute_error, roc_auc_score, root_mean_squared_error

import woodwind
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError

QUICK = {"n_estimators": 30, "learning_rate": 0.3, "max_leaf_nodes": 8, "min_samples_leaf": 5, "random_state": 0}


def three_parts(n=600, seed=0):
    X, y = make_friedman1(n, n_features=6, noise=1.0, random_state=seed)
    return (X[:300], y[:300]), (X[300:450], y[300:450]), (X[450:], y[450:])


def test_every_table_has_a_curve_of_every_metric():
    train, one, two = three_parts()
    model = GradientBoostingRegressor(scoring=["rmse", "mae", None], early_stopping=False, **QUICK).fit(*train, eval_set=[one, two])
    assert list(model.evals_result_) == ["training", "validation_0", "validation_1"]
    for name, (X, y) in zip(model.evals_result_, (train, one, two), strict=True):
        curves = model.evals_result_[name]
        assert list(curves) == ["rmse", "mae", "squared_error"]
        stages = list(model.staged_predict(X))
        np.testing.assert_allclose(curves["rmse"], [root_mean_squared_error(y, stage) for stage in stages])
        np.testing.assert_allclose(curves["mae"], [mean_absolute_error(y, stage) for stage in stages])
        np.testing.assert_allclose(curves["rmse"] ** 2, curves["squared_error"] * (curves["rmse"][0] ** 2 / curves["squared_error"][0]))


def test_the_last_table_and_the_first_metric_are_stopped_by():
    train, one, two = three_parts()
    patient = {**QUICK, "n_estimators": 300, "n_iter_no_change": 5, "refit": False}
    model = GradientBoostingRegressor(scoring=["mae", "rmse"], **patient).fit(*train, eval_set=[one, two])
    curve = model.evals_result_["validation_1"]["mae"]
    assert model.best_iteration_ == model.n_iter_ == np.argmin(curve) + 1
    assert len(curve) == model.n_iter_ + 5
    alone = GradientBoostingRegressor(scoring="mae", **patient).fit(*train, eval_set=two)
    assert alone.forest_.digest() == model.forest_.digest()
    np.testing.assert_array_equal(-alone.validation_score_[1:], curve)


def test_scorers_of_ones_own_have_the_names_of_their_functions():
    train, one, _ = three_parts()
    scorers = [make_scorer(mean_absolute_error, greater_is_better=False), make_scorer(root_mean_squared_error, greater_is_better=False)]
    model = GradientBoostingRegressor(scoring=scorers, **QUICK).fit(*train, eval_set=one)
    assert list(model.evals_result_["training"]) == ["mean_absolute_error", "root_mean_squared_error"]


def test_what_is_watched_does_not_change_the_model():
    train, one, two = three_parts()
    alone = GradientBoostingRegressor(**QUICK).fit(*train, eval_set=one)
    watched = GradientBoostingRegressor(scoring=[None, "mae", "r2"], **QUICK).fit(*train, eval_set={"before": two, "after": one})
    assert alone.forest_.digest() == watched.forest_.digest()
    assert list(watched.evals_result_) == ["training", "before", "after"]


@pytest.mark.parametrize("rows", [300, 2000])
def test_rows_held_out_inside_have_curves_of_all_metrics(rows):
    """In folds where rows are few, as a share where they are many."""
    X, y = make_classification(rows, n_features=6, n_informative=4, random_state=0)
    model = GradientBoostingClassifier(scoring=["auc", "log_loss"], **QUICK).fit(X, y)
    plain = GradientBoostingClassifier(scoring="auc", **QUICK).fit(X, y)
    assert plain.forest_.digest() == model.forest_.digest()
    np.testing.assert_array_equal(model.evals_result_["validation_0"]["auc"], model.validation_score_[1:])
    np.testing.assert_array_equal(model.evals_result_["training"]["auc"], model.train_score_[1:])
    assert (model.evals_result_["validation_0"]["log_loss"] > 0).all()
    assert len(model.evals_result_["validation_0"]["log_loss"]) == len(model.validation_score_) - 1


def test_metrics_have_their_own_sign_and_functions_their_name():
    X, y = make_classification(600, n_features=6, n_informative=4, random_state=0)

    def worst(estimator, X, y):
        return -float(np.abs(estimator.predict_proba(X)[:, 1] - y).max())

    scoring = ["log_loss", "neg_log_loss", "auc", worst]
    model = GradientBoostingClassifier(scoring=scoring, early_stopping=False, **QUICK).fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
    curves = model.evals_result_["validation_0"]
    stages = list(model.staged_predict_proba(X[300:]))
    np.testing.assert_allclose(curves["log_loss"], [log_loss(y[300:], stage) for stage in stages])
    np.testing.assert_allclose(curves["neg_log_loss"], -curves["log_loss"])
    np.testing.assert_allclose(curves["auc"], [roc_auc_score(y[300:], stage[:, 1]) for stage in stages])
    assert (curves["worst"] < 0).all()


def test_a_warm_start_goes_on_with_the_curves():
    train, one, two = three_parts()
    whole = GradientBoostingRegressor(warm_start=True, early_stopping=False, scoring=["mae", "rmse"], **QUICK)
    whole.fit(*train, eval_set=[one, two])
    parts = GradientBoostingRegressor(warm_start=True, early_stopping=False, scoring=["mae", "rmse"], **{**QUICK, "n_estimators": 10})
    parts.fit(*train, eval_set=[one, two]).set_params(n_estimators=30).fit(*train, eval_set=[one, two])
    for table, curves in whole.evals_result_.items():
        for metric, curve in curves.items():
            np.testing.assert_array_equal(parts.evals_result_[table][metric], curve)


def test_curves_are_in_the_model_file(tmp_path):
    train, one, two = three_parts()
    model = GradientBoostingRegressor(scoring=["rmse", "mae"], **QUICK).fit(*train, eval_set=[one, two])
    model.save(tmp_path / "model.ww")
    again = woodwind.load(tmp_path / "model.ww")
    for table, curves in model.evals_result_.items():
        for metric, curve in curves.items():
            np.testing.assert_array_equal(again.evals_result_[table][metric], curve)


def test_a_metric_of_the_other_task_is_refused_by_name():
    train, *_ = three_parts()
    with pytest.raises(ParameterError, match="scoring='auc' is for classes"):
        GradientBoostingRegressor(scoring=["rmse", "auc"], **QUICK).fit(*train)
