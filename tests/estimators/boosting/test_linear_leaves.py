"""Linear leaves through the estimators: docs/algorithms/linear-leaves.md."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_friedman1

import woodwind
from woodwind import BaggingRegressor, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError, StackingRegressor
from woodwind.base import pool
from woodwind.base.errors import NotStorableError, UnseenCategoryWarning
from woodwind.tree import histogram_grower

PLAIN = {"n_estimators": 8, "learning_rate": 0.4, "max_leaf_nodes": 6, "min_samples_leaf": 8, "early_stopping": False, "random_state": 0}
LINEAR = {**PLAIN, "linear_leaves": True, "linear_l2": 1.0}
WAYS = ({}, {"growth": "level"}, {"growth": "symmetric", "max_depth": 3}, {"max_bins": None}, {"subsample": 0.6}, {"n_parallel_trees": 2})


def numbers(n=300, seed=0):
    return make_friedman1(n, n_features=6, noise=0.5, random_state=seed)


def classes(n=400, k=3, seed=0):
    return make_classification(n, n_features=8, n_informative=5, n_classes=k, random_state=seed)


def test_one_tree_by_hand():
    """Four rows on each side: y = x on the left and 10 - x on the right of 4.5; coefficients 1 and -1, penalised by nothing."""
    X, y = [[1], [2], [3], [4], [5], [6], [7], [8]], [1, 2, 3, 4, 25, 24, 23, 22]
    options = {"n_estimators": 1, "learning_rate": 1.0, "max_leaf_nodes": 2, "min_samples_leaf": 2, "l2_regularization": 0.0}
    model = GradientBoostingRegressor(linear_leaves=True, linear_l2=0.0, subsample=1.0, early_stopping=False, **options).fit(X, y)
    assert_allclose(model.predict([[1], [2.5], [4], [5], [8]]), [1, 2.5, 4, 25, 22], rtol=1e-9)
    assert_allclose(model.predict([[-100], [100]]), [1, 22], rtol=1e-9)  # not beyond what the rows of the leaf got
    assert_allclose(model.predict([[np.nan]]), np.mean(y))  # no split has met a missing value: it stops at the root


@pytest.mark.parametrize("way", WAYS)
def test_scores_of_the_training_are_those_of_the_model(way):
    X, y = numbers()
    model = GradientBoostingRegressor(**{**LINEAR, **way}, callbacks=[lambda _: False]).fit(X, y, eval_set=[(X[:99], y[:99]), (X, y)])
    assert model.forest_.linear.feature.size > 20
    for values, rounds in zip(model.staged_predict(X), range(1, 9), strict=True):
        assert model.loss_.value(y, values) == next(iter(model.evals_result_["validation_1"].values()))[rounds - 1]
        assert_array_equal(model.predict(X, n_rounds=rounds), values)
    assert model.loss_.value(y, model.predict(X)) == model.train_score_[-1]
    assert model.loss_.value(y, model.predict(X)) < model.loss_.value(y, GradientBoostingRegressor(**{**PLAIN, **way}).fit(X, y).predict(X))


@pytest.mark.parametrize("way", WAYS)
def test_much_penalty_leaves_constants(way):
    X, y = numbers()
    constant = GradientBoostingRegressor(**{**PLAIN, **way}).fit(X, y)
    stiff = GradientBoostingRegressor(**{**LINEAR, **way, "linear_l2": 1e15}).fit(X, y)
    assert_allclose(stiff.predict(X), constant.predict(X), rtol=1e-7)


def test_units_of_columns_do_not_matter():
    X, y = numbers()
    model = GradientBoostingRegressor(**LINEAR).fit(X, y)
    scaled = GradientBoostingRegressor(**LINEAR).fit(X * [1024.0, 2.0**-20, 1, 1, 1, 1], y)
    assert_allclose(scaled.predict(X * [1024.0, 2.0**-20, 1, 1, 1, 1]), model.predict(X), rtol=1e-9)
    far = X + 1e6  # means of numbers are taken out before anything is squared
    assert_allclose(GradientBoostingRegressor(**LINEAR).fit(far, y).predict(far), model.predict(X), rtol=1e-5)


def test_missing_and_infinite_numbers_have_constant_leaves():
    X, y = numbers(600)
    X[np.random.default_rng(0).random(X.shape) < 0.15] = np.nan
    X[:20, 0], X[20:40, 1] = np.inf, -np.inf
    model = GradientBoostingRegressor(**LINEAR).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    forest, tree = model.forest_, 0
    leaf = model.apply(X)[:, tree]
    first = model.predict(X, n_rounds=1) - forest.start[0]
    for row in range(0, len(X), 7):
        at = slice(*forest.linear.first[leaf[row] : leaf[row] + 2])
        x = X[row, forest.linear.feature[at]]
        expected = forest.value[leaf[row], 0]
        if len(x) and np.isfinite(x).all():
            expected = forest.linear.constant[leaf[row]] + x @ forest.linear.coefficient[at]
        assert first[row] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("early", [False, True, "auto"])
def test_classes(k, early):
    X, y = classes(k=k)
    model = GradientBoostingClassifier(**{**LINEAR, "early_stopping": early}).fit(X, y)
    assert set(model.forest_.output.tolist()) == set(range(k if k > 2 else 1))
    assert model.score(X, y) > 0.8
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert_allclose(model.refit_leaves(X, y).decision_function(X), model.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("way", [*WAYS, {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0}, {"early_stopping": "auto"}])
def test_through_a_file_and_in_two_parts(way, tmp_path):
    X, y = numbers()
    options = {**LINEAR, **way}
    whole = GradientBoostingRegressor(**options).fit(X, y)
    whole.save(tmp_path / "whole.ww")
    loaded = woodwind.load(tmp_path / "whole.ww")
    assert_array_equal(loaded.predict(X), whole.predict(X))
    assert_array_equal(pickle.loads(pickle.dumps(whole)).predict(X), whole.predict(X))
    assert loaded.forest_.digest() == whole.forest_.digest()
    if "early_stopping" not in way:
        parts = GradientBoostingRegressor(**{**options, "n_estimators": 3}, warm_start=True).fit(X, y)
        parts.save(tmp_path / "part.ww")
        parts = woodwind.load(tmp_path / "part.ww").set_params(n_estimators=8).fit(X, y)
        assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-12)


def test_linear_leaves_go_on_only_with_their_numbers():
    X, y = numbers()
    constant = GradientBoostingRegressor(**PLAIN, warm_start=True).fit(X, y)
    assert np.isfinite(constant.set_params(n_estimators=9, linear_leaves=True).fit(X, y).predict(X)).all()
    linear = GradientBoostingRegressor(**LINEAR, warm_start=True).fit(X, y)
    with pytest.raises(ParameterError, match="goes on from linear leaves"):
        linear.set_params(n_estimators=9, linear_leaves=False).fit(X, y)


def test_a_damaged_linear_part_is_refused(tmp_path):
    X, y = numbers()
    model = GradientBoostingRegressor(**LINEAR).fit(X, y)
    linear = model.forest_.linear
    for name, value in (("feature", 6), ("feature", -1), ("coefficient", np.nan), ("constant", np.inf), ("first", 10**6), ("low", 1e9)):
        array = np.array(getattr(linear, name))
        array[len(array) // 2] = value
        object.__setattr__(linear, name, array)
        with pytest.raises(NotStorableError, match="damaged"):  # what is written is opened before
            model.save(tmp_path / "damaged.ww")
        array[:] = getattr(GradientBoostingRegressor(**LINEAR).fit(X, y).forest_.linear, name)


def test_leaves_are_learned_again():
    X, y = numbers()
    model = GradientBoostingRegressor(n_parallel_trees=2, **{**LINEAR, "subsample": 1.0}).fit(X, y)
    assert_allclose(model.refit_leaves(X, y).predict(X), model.predict(X), rtol=1e-6)
    others = numbers(400, 5)
    new, old = (model.refit_leaves(*others, decay_rate=decay).predict(others[0]) for decay in (0.0, 1.0))
    assert model.loss_.value(others[1], new) < 0.7 * model.loss_.value(others[1], model.predict(others[0]))
    assert_allclose(old - others[1].mean(), model.predict(others[0]) - y.mean(), rtol=1e-9)


def test_folds_are_refitted():
    X, y = numbers()
    model = GradientBoostingRegressor(n_estimators=30, learning_rate=0.3, linear_leaves=True, random_state=0).fit(X, y)
    assert model.n_trees_per_iteration_ > 1
    assert_allclose(model.refit_leaves(X, y).predict(X), model.predict(X), rtol=1e-6)
    assert model.score(X, y) > 0.9


def test_the_bits_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(pool, "LEAST_WORK", 1)
    monkeypatch.setattr(histogram_grower, "LEAST_WORK", 0)
    X, y = numbers(900)
    for way in WAYS:
        models = [GradientBoostingRegressor(n_jobs=jobs, **{**LINEAR, **way}).fit(X, y) for jobs in (1, 2, 5)]
        assert len({model.forest_.digest() for model in models}) == 1
        assert_array_equal(models[0].predict(X), models[2].predict(X))
    X, y = classes()
    models = [GradientBoostingClassifier(n_jobs=jobs, **LINEAR).fit(X, y) for jobs in (1, 3)]
    assert models[0].forest_.digest() == models[1].forest_.digest()


def test_a_weight_of_two_is_a_row_given_twice():
    X, y = numbers()
    times = np.random.default_rng(0).integers(1, 4, len(y))
    options = {**LINEAR, "min_samples_leaf": 1, "min_hessian_leaf": 20.0, "subsample": 1.0}
    weighted = GradientBoostingRegressor(**options).fit(X, y, sample_weight=times)
    repeated = GradientBoostingRegressor(**options).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)


def test_rows_one_by_one_and_tables_of_all_kinds():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["kind"] = np.where(X[:, 0] > 0.5, "x", "y")
    frame["many"] = [f"level {k}" for k in np.random.default_rng(0).integers(0, 100, len(y))]
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(X[:, 3] * 1000, unit="h")
    for encoding in ("sets", "ordered"):
        model = GradientBoostingRegressor(categorical_encoding=encoding, **LINEAR).fit(frame, y + (frame["kind"] == "x"))
        used = {model.schema_.feature_names[f] for f in model.forest_.linear.feature.tolist()}
        assert {"a", "b", "d"} & used
        assert not {name for name in used if name.startswith(("kind", "many"))}
        with pytest.warns(UnseenCategoryWarning):
            assert np.isfinite(model.predict(frame.assign(kind="new", many=None))).all()
    model = GradientBoostingRegressor(**LINEAR).fit(X.astype(np.float32), y)
    one = model.predictor()
    assert_array_equal(one(X[:50].astype(np.float32)), model.predict(X[:50].astype(np.float32)))
    assert one(X[3].astype(np.float32)) == model.predict(X[3:4].astype(np.float32))[0]
    many = np.tile(X, (20, 1)).astype(np.float32)  # beyond what walks
    assert_array_equal(model.predict(many)[: len(X)], model.predict(X.astype(np.float32)))


def test_trees_for_readers_and_programs():
    X, y = numbers()
    model = GradientBoostingRegressor(**{**LINEAR, "n_estimators": 1}).fit(X, y)
    text = model.export_text()
    assert "with all numbers:" in text
    assert "* x" in text
    node = next(node for node in json.loads(model.trees_to_json())["trees"][0]["nodes"] if "linear" in node)
    frame = model.trees_to_dataframe()
    row = frame[frame["linear_features"].notna()].iloc[0]
    assert {"feature", "coefficient"} == set(node["linear"]["terms"][0])
    assert len(row["linear_features"]) == len(row["linear_coefficients"])
    assert np.isfinite(row["linear_constant"])
    assert "linear_features" not in GradientBoostingRegressor(**PLAIN).fit(X, y).trees_to_dataframe()


def test_linear_leaves_are_not_explained_and_say_why():
    X, y = numbers()
    with pytest.raises(ParameterError, match="a linear leaf has another value for every row"):
        GradientBoostingRegressor(**LINEAR).fit(X, y).explain(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"monotonic_cst": {0: 1}}, "monotonic_cst holds the values of leaves"),
        ({"max_delta_step": 1.0}, "max_delta_step holds the values of leaves"),
        ({"path_smooth": 1.0}, "path_smooth holds the values of leaves"),
        ({"loss": "absolute_error"}, "with loss='absolute_error' they are found from medians"),
        ({"loss": "huber"}, "Set leaf_estimation='gradient' or linear_leaves=False"),
        ({"boosting": "ordered"}, "linear_leaves=True is not for boosting='ordered'"),
        ({"linear_l2": -1.0}, "linear_l2"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    X, y = numbers(60)
    with pytest.raises(ParameterError, match=message):
        GradientBoostingRegressor(linear_leaves=True, **options).fit(X, y)


def test_steps_of_the_first_order_have_slopes_too():
    X, y = numbers()
    model = GradientBoostingRegressor(loss="absolute_error", leaf_estimation="gradient", **LINEAR).fit(X, y)
    assert (model.forest_.linear.coefficient != 0.0).any()


def test_members_of_ensembles_may_have_linear_leaves():
    X, y = numbers(200)
    base = GradientBoostingRegressor(**{**LINEAR, "n_estimators": 3})
    assert BaggingRegressor(base, n_estimators=2, random_state=0).fit(X, y).score(X, y) > 0.5
    assert StackingRegressor([("linear", base), ("plain", GradientBoostingRegressor(**PLAIN))]).fit(X, y).score(X, y) > 0.5


def test_a_line_needs_few_leaves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (2000, 3))
    y = np.where(X[:, 0] > 0, 3 * X[:, 1], -2 * X[:, 1]) + 0.05 * rng.normal(size=2000)
    errors = {}
    for linear in (False, True):
        options = {**LINEAR, "n_estimators": 30, "linear_leaves": linear}
        model = GradientBoostingRegressor(**options).fit(X[:1000], y[:1000])
        errors[linear] = np.sqrt(np.mean((model.predict(X[1000:]) - y[1000:]) ** 2))
    assert errors[True] < 0.7 * errors[False]
