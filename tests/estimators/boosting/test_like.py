"""`like`: defaults and conventions of other libraries by name. tests/compare/test_like.py compares with the libraries themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import woodwind
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from woodwind.ensemble.boosting.boost_plan import hessian_factors
from woodwind.estimators.boosting.like import CLASSIC, DEFAULTS
from woodwind.estimators.boosting.translate import names_of
from woodwind.losses.classification import LogLoss, Multinomial
from woodwind.params.describe import declared

X = np.array([[0.0, 3.0], [1.0, 1.0], [2.0, 4.0], [3.0, 1.5], [4.0, 5.0], [5.0, 9.0], [6.0, 2.0], [7.0, 6.0]])
NUMBERS = np.array([1.0, 2.0, 1.5, 4.0, 3.0, 7.0, 6.5, 8.0])
TWO = np.array([0, 0, 1, 0, 1, 1, 0, 1])
THREE = np.array([0, 0, 1, 0, 1, 2, 2, 2])


def test_the_names_that_are_translated_to_are_those_of_the_estimators():
    for task, kind in (("classification", GradientBoostingClassifier), ("regression", GradientBoostingRegressor)):
        assert set(names_of(task)) == {knob.name for knob in declared(kind)}
        for defaults in (*DEFAULTS.values(), CLASSIC):
            assert set(defaults) <= {*names_of("classification"), *names_of("regression")}


XGBOOST = {"n_estimators": 10, "min_child_weight": 0.2}
LIGHTGBM = {"n_estimators": 10, "min_child_samples": 0, "min_child_weight": 0.5, "min_data_in_bin": 1, "lambda_l2": 0.5}
HISTOGRAM = {"max_iter": 10, "min_samples_leaf": 2}
TARGETS = {"regression": NUMBERS, "two classes": TWO, "three classes": THREE}
# What the libraries predict for the eight rows: numbers, or the probability of the second class.
FROZEN = [
    ("xgboost", "regression", XGBOOST, [1.5687592, 2.0956392, 1.6490614, 3.9984362, 3.0894921, 6.7989316, 6.4034057, 7.2610507]),
    ("lightgbm", "regression", LIGHTGBM | {"min_child_samples": 2},
     [2.5678899, 2.6547674, 2.5678899, 3.7764055, 3.689528, 5.9252117, 5.9252117, 5.9252117]),
    ("scikit-learn", "regression", HISTOGRAM, [2.4065503, 2.593609, 2.4065503, 3.73102, 3.5439612, 6.1061031, 6.1061031, 6.1061031]),
    ("xgboost", "two classes", XGBOOST, [0.133705, 0.133705, 0.866295, 0.133705, 0.866295, 0.866295, 0.133705, 0.866295]),
    ("lightgbm", "two classes", LIGHTGBM, [0.2584983, 0.2584983, 0.7415017, 0.2584983, 0.7415017, 0.7415017, 0.2584983, 0.7415017]),
    ("scikit-learn", "two classes", HISTOGRAM, [0.1792692, 0.1792692, 0.8207308, 0.1792692, 0.8207308, 0.8207308, 0.1792692, 0.8207308]),
    ("xgboost", "three classes", XGBOOST, [0.0652791, 0.0652791, 0.7950237, 0.0652791, 0.8057069, 0.0782233, 0.0598322, 0.0782233]),
    ("lightgbm", "three classes", LIGHTGBM, [0.157048, 0.126943, 0.5396338, 0.1570514, 0.5724568, 0.1919142, 0.1040959, 0.1919142]),
    ("scikit-learn", "three classes", HISTOGRAM, [0.0652479, 0.036849, 0.83328, 0.0661162, 0.8893301, 0.0388518, 0.0361416, 0.0388518]),
    ("scikit-learn", "regression", {"n_estimators": 10},
     [2.1423961, 2.6888105, 2.4146361, 4.0435848, 3.3922632, 5.9975495, 5.6718887, 6.648871]),
    ("catboost", "regression", {"iterations": 10, "depth": 2, "learning_rate": 0.3, "bootstrap_type": "No"},
     [1.9918225, 2.2667466, 1.9918225, 3.6452294, 3.3703054, 6.5867054, 6.4634041, 6.5867054]),
]  # fmt: skip


@pytest.mark.parametrize(("library", "target", "given", "figures"), FROZEN, ids=[f"{one[0]}-{one[1]}" for one in FROZEN])
def test_predictions_are_those_that_the_library_gave(library, target, given, figures):
    """XGBoost 3.2.0, LightGBM 4.7.0, CatBoost 1.2.10 and scikit-learn 1.9.1 with the same names, on the eight rows above."""
    kind = GradientBoostingRegressor if target == "regression" else GradientBoostingClassifier
    model = kind.like(library, **given).fit(X, TARGETS[target])
    assert_allclose(model.predict(X) if target == "regression" else model.predict_proba(X)[:, 1], figures, atol=2e-6)


def test_defaults_are_theirs_and_what_is_given_comes_first():
    model = GradientBoostingClassifier.like("xgboost")
    assert (model.n_estimators, model.learning_rate, model.max_depth, model.min_hessian_leaf) == (100, 0.3, 6, 1.0)
    assert (model.early_stopping, model.subsample, model.softmax_hessian) == (False, 1.0, "xgboost")
    model = GradientBoostingClassifier.like("LightGBM", num_leaves=63, eta=0.2, feature_fraction=0.5)
    assert (model.max_leaf_nodes, model.learning_rate, model.max_features_tree, model.min_samples_leaf) == (63, 0.2, 0.5, 20)
    model = GradientBoostingRegressor.like("catboost", boosting_type="Ordered", depth=4)
    assert (model.growth, model.max_depth, model.boosting, model.init) == ("symmetric", 4, "ordered", None)
    assert GradientBoostingClassifier.like("catboost").init == 0.0
    assert GradientBoostingRegressor.like("catboost", loss_function="Poisson").init == 0.0
    assert GradientBoostingRegressor.like("catboost", bootstrap_type="No").sampling == "uniform"
    assert GradientBoostingRegressor.like("xgboost", tree_method="exact", gamma=1.0).prune
    approximate = GradientBoostingRegressor.like("xgboost", tree_method="approx", max_bin=64, gamma=1.0)
    assert (approximate.candidates, approximate.max_bins, approximate.prune) == ("global", 64, False)
    assert GradientBoostingRegressor.like("xgboost", grow_policy="lossguide", max_leaves=9).max_depth == 6
    assert not hasattr(GradientBoostingRegressor.like("xgboost"), "softmax_hessian")


def test_of_scikit_learn_a_parameter_says_which_boosting():
    assert GradientBoostingRegressor.like("scikit-learn").max_leaf_nodes == 31
    assert GradientBoostingRegressor.like("sklearn", max_iter=30).max_bins == 255
    model = GradientBoostingRegressor.like("scikit-learn", n_estimators=30)
    assert (model.max_depth, model.max_bins, model.l2_regularization) == (3, None, 0.0)


def test_an_estimator_made_so_is_one_like_others(tmp_path):
    model = GradientBoostingClassifier.like("lightgbm", n_estimators=5, min_child_samples=1, random_state=0)
    assert clone(model).get_params() == model.get_params()
    model.fit(X, TWO).save(tmp_path / "model.ww")
    assert_array_equal(woodwind.load(tmp_path / "model.ww").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("library", "given", "words"),
    [
        ("xgboost", {"device": "cuda"}, "device of XGBoost has no counterpart. Woodwind works on the CPU."),
        ("xgboost", {"max_dept": 3}, "Did you mean 'max_depth'?"),
        ("xgboost", {"objective": "rank:ndcg"}, "objective of XGBoost has no counterpart. There is no loss like 'rank:ndcg'"),
        ("lightgbm", {"extra_trees": True}, "ExtraTreesClassifier"),
        ("catboost", {"random_strength": 1}, "gradient_noise"),
        ("catboost", {"boosting_type": "Weird"}, "'plain', 'dart' or 'ordered'"),
        ("scikit-learn", {"criterion": "squared_error", "nothing": 1}, "nothing of scikit-learn has no counterpart"),
        ("xgboost", {"base_score": 1.5}, "no prediction of this loss"),
    ],
)
def test_what_has_no_counterpart_is_named_with_the_nearest(library, given, words):
    with pytest.raises(ParameterError) as caught:
        GradientBoostingClassifier.like(library, **given)
    assert words in str(caught.value)
    assert str(caught.value).startswith("GradientBoostingClassifier.like: ")


def test_a_library_that_nobody_knows_and_settings_of_the_other_task():
    with pytest.raises(ParameterError, match="library must be one of"):
        GradientBoostingClassifier.like("xgbost")
    with pytest.raises(ParameterError, match="library must be one of"):
        GradientBoostingClassifier.like(3)
    with pytest.raises(ParameterError, match="has no class_weight"):
        GradientBoostingRegressor.like("xgboost", scale_pos_weight=3)


def test_what_is_about_storage_or_found_in_the_data_changes_nothing():
    given = {"num_class": 3, "nthread": 1, "enable_categorical": True, "device": "cpu", "missing": np.nan, "verbosity": 0}
    plain = GradientBoostingClassifier.like("xgboost", n_estimators=3).fit(X, THREE)
    assert_array_equal(
        GradientBoostingClassifier.like("xgboost", n_estimators=3, **given).fit(X, THREE).predict_proba(X), plain.predict_proba(X)
    )


# ------------------------------------------------------------------------------------------------- starting from one number


def test_a_number_as_init_is_the_score_that_all_rows_start_from():
    options = {"n_estimators": 3, "min_samples_leaf": 1, "random_state": 0}
    model = GradientBoostingRegressor(init=2.0, **options).fit(X, NUMBERS)
    given = GradientBoostingRegressor(init=np.full(8, 2.0), **options).fit(X, NUMBERS)
    assert_array_equal(model.forest_.start, [2.0])
    assert_allclose(model.predict(X), given.predict(X, init=np.full(8, 2.0)), atol=1e-12)
    classes = GradientBoostingClassifier(init=0.0, **options).fit(X, THREE)
    assert_array_equal(classes.forest_.start, np.zeros(3))


def test_a_number_as_init_goes_with_everything_else(tmp_path):
    options = {"init": -1.0, "n_estimators": 4, "min_samples_leaf": 1, "random_state": 0}
    for more in ({}, {"boosting": "ordered"}, {"boosting": "dart"}, {"warm_start": True}, {"early_stopping": True}):
        model = GradientBoostingRegressor(**options, **more).fit(X, NUMBERS, eval_set=(X, NUMBERS))
        assert model.forest_.start[0] == -1.0
        model.save(tmp_path / "model.ww")
        assert_array_equal(woodwind.load(tmp_path / "model.ww").predict(X), model.predict(X))
    again = GradientBoostingRegressor(**options).fit(X, NUMBERS)
    assert_allclose(again.refit_leaves(X, NUMBERS).predict(X), again.predict(X), atol=1e-9)
    whole = GradientBoostingRegressor(**options).fit(X, NUMBERS)
    half = GradientBoostingRegressor(**{**options, "n_estimators": 2, "warm_start": True}).fit(X, NUMBERS).set_params(n_estimators=4)
    assert half.fit(X, NUMBERS).forest_.digest() == whole.forest_.digest()


@pytest.mark.parametrize("init", [np.nan, np.inf])
def test_a_number_that_is_none_is_refused(init):
    with pytest.raises(ParameterError, match="init must be finite"):
        GradientBoostingRegressor(init=init).fit(X, NUMBERS)


# ------------------------------------------------------------------------------------------------- hessians of classes


def test_factors_of_hessians():
    assert hessian_factors(Multinomial(3), "friedman") == (1.0, 1.5)
    assert hessian_factors(Multinomial(3), "lightgbm") == (1.5, 1.5)
    assert hessian_factors(Multinomial(5), "xgboost") == (2.0, 2.0)
    assert hessian_factors(Multinomial(5), "sklearn") == (1.0, 1.0)
    assert {hessian_factors(LogLoss(), name) for name in ("friedman", "xgboost", "lightgbm", "sklearn")} == {(1.0, 1.0)}


@pytest.mark.parametrize("options", [{}, {"multiclass": "one_per_class"}, {"multiclass": "one_per_class", "max_bins": None}], ids=str)
@pytest.mark.parametrize(("name", "factor"), [("friedman", 1.5), ("xgboost", 2.0), ("lightgbm", 1.5), ("sklearn", 1.0)])
def test_a_step_is_minus_gradient_over_hessian_times_factor(name, factor, options):
    """One round without splits that differ: the first leaf is the first three rows."""
    given = {"n_estimators": 1, "learning_rate": 1.0, "l2_regularization": 2.0, "min_samples_leaf": 1, "init": 0.0, "min_hessian_leaf": 0.0}
    given |= {"max_leaf_nodes": 2, "subsample": 1.0, "early_stopping": False}
    x, y = np.arange(9.0)[:, None], np.repeat([0, 1, 2], 3)
    model = GradientBoostingClassifier(softmax_hessian=name, **given, **options).fit(x, y)
    leaf = model.decision_function(x)[0]
    gradient, hessian = 3 * (1 / 3 - 1), 3 * (1 / 3) * (2 / 3) * factor
    assert leaf[0] == pytest.approx(-gradient / (hessian + 2.0), abs=1e-7)
    assert model.refit_leaves(x, y).decision_function(x)[0] == pytest.approx(leaf, abs=1e-7)
    ordered = GradientBoostingClassifier(softmax_hessian=name, boosting="ordered", **given, **options).fit(x, y)
    assert np.isfinite(ordered.decision_function(x)).all()
