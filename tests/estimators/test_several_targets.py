"""Trees and forests of several targets: y of shape (n, k), numbers or labels. docs/algorithms/several-targets.md."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn import ensemble as theirs
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification, make_regression
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

import woodwind
from woodwind import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from woodwind.base.errors import ConstantTargetWarning, DataError, NotStorableError, ParameterError, TargetError
from woodwind.ensemble.resampling import Resampling

FORESTS = {"n_estimators": 5, "random_state": 0}
REGRESSORS = [DecisionTreeRegressor(), RandomForestRegressor(**FORESTS), ExtraTreesRegressor(**FORESTS)]
CLASSIFIERS = [
    DecisionTreeClassifier(),
    RandomForestClassifier(**FORESTS),
    ExtraTreesClassifier(**FORESTS),
    RandomForestClassifier(voting="hard", **FORESTS),
]
ALL = [*REGRESSORS, *CLASSIFIERS]


def numbers(n=400, k=3, seed=0):
    """Continuous columns in single precision, in which scikit-learn computes, and targets of different size."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    clean = np.column_stack([X[:, 0], 5.0 * X[:, 1] * X[:, 2], 0.3 * np.abs(X[:, 3]), X[:, 4] > 0])[:, :k]
    return X, clean + rng.normal(size=clean.shape) * 0.3


def labels(n=400, seed=0):
    """Two, four and three classes."""
    X, y = numbers(n, 3, seed)
    return X, np.column_stack([y[:, 0] > 0, np.digitize(y[:, 1], [-3, 0, 3]), np.digitize(y[:, 2], [0.2, 0.4])]).astype(int)


def targets_for(model, n=400, seed=0):
    return labels(n, seed) if hasattr(model, "predict_proba") else numbers(n, 3, seed)


def same(one, other):
    """Predictions, or lists of them, bit for bit."""
    pairs = zip(one, other, strict=True) if isinstance(one, list) else [(one, other)]
    return all(np.array_equal(a, b) for a, b in pairs)


def predictions(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


# A case by hand, and scikit-learn's trees.


def test_the_case_by_hand():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [[0.0, 0.0], [0.0, 4.0], [2.0, 4.0], [2.0, 10.0]]
    tree = DecisionTreeRegressor(max_depth=1).fit(X, y)
    # Squared errors of both targets: 4 + 51 without a cut; 8/3 + 24 at 0.5, 0 + 26 at 1.5, 8/3 + 32/3 at 2.5.
    assert tree.forest_.threshold[0] == 2.5
    assert tree.forest_.gain[0] == pytest.approx((55 - 40 / 3) / 2, rel=1e-12)
    np.testing.assert_allclose(tree.predict(X), [[2 / 3, 8 / 3], [2 / 3, 8 / 3], [2 / 3, 8 / 3], [2, 10]], rtol=1e-15)
    # The first target alone is cut at 1.5.
    assert DecisionTreeRegressor(max_depth=1).fit(X, np.array(y)[:, 0]).forest_.threshold[0] == 1.5


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("options", [{"max_depth": 4}, {"min_samples_leaf": 5}, {"min_samples_leaf": 3, "max_leaf_nodes": 12}])
def test_regression_trees_are_those_of_scikit_learn(options, weighed):
    X, y = numbers()
    weight = np.random.default_rng(1).uniform(0.5, 1.5, len(y)) if weighed else None
    own = DecisionTreeRegressor(min_samples_split=10, **options).fit(X, y, weight)
    other = TheirRegressor(min_samples_split=10, random_state=0, **options).fit(X, y, weight)
    np.testing.assert_allclose(own.predict(X), other.predict(X), rtol=1e-12, atol=1e-12)
    # Weights are whole numbers of 26 bits here.
    np.testing.assert_allclose(own.feature_importances_, other.feature_importances_, rtol=0, atol=1e-6 if weighed else 1e-9)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_classification_trees_are_those_of_scikit_learn(criterion):
    X, y = labels()
    weight = np.random.default_rng(1).uniform(0.5, 1.5, len(y))  # counts of classes tie often; weights hardly ever
    own = DecisionTreeClassifier(criterion=criterion, min_samples_leaf=10).fit(X, y, weight)
    other = TheirClassifier(criterion=criterion, min_samples_leaf=10, random_state=0).fit(X, y, weight)
    for one, two in zip(own.predict_proba(X), other.predict_proba(X), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)
    assert np.array_equal(own.predict(X), other.predict(X))
    np.testing.assert_allclose(own.feature_importances_, other.feature_importances_, atol=1e-7)


def test_pruning_is_that_of_scikit_learn():
    X, y = numbers()
    ours = DecisionTreeRegressor(min_samples_leaf=5).cost_complexity_pruning_path(X, y)
    other = TheirRegressor(min_samples_leaf=5, random_state=0).cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(ours.ccp_alphas, other.ccp_alphas, atol=1e-12)
    np.testing.assert_allclose(ours.impurities, other.impurities, atol=1e-12)
    alpha = float(other.ccp_alphas[len(other.ccp_alphas) // 2]) * 1.0001
    own = DecisionTreeRegressor(min_samples_leaf=5, ccp_alpha=alpha).fit(X, y)
    np.testing.assert_allclose(own.predict(X), TheirRegressor(min_samples_leaf=5, ccp_alpha=alpha).fit(X, y).predict(X), atol=1e-12)


@pytest.mark.parametrize("max_bins", [None, 255])
@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_each_tree_of_a_forest_is_the_tree_of_its_bootstrap(kind, max_bins):
    X, y = numbers() if kind == "numbers" else labels()
    weight = np.random.default_rng(2).uniform(0.5, 1.5, len(y))
    forest, single = (RandomForestRegressor, TheirRegressor) if kind == "numbers" else (RandomForestClassifier, TheirClassifier)
    options = {"min_samples_leaf": 20}
    model = forest(n_estimators=4, max_features=None, max_bins=max_bins, random_state=7, **options).fit(X, y, weight)
    resampling = Resampling(seed=7, n_rows=len(y), n_draws=len(y), replace=True)
    for number, own in enumerate(model.estimators_):
        rows = np.repeat(np.arange(len(y)), resampling.counts(number))
        other = single(random_state=0, **options).fit(X[rows], y[rows], weight[rows])
        for one, two in zip(*(predictions(tree, X[rows]) for tree in (own, other)), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)


def test_bins_of_a_large_table_are_all_values_where_these_are_few():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (5000, 3)).astype(float)  # more rows than stand in a copy of their own
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.column_stack([np.nan_to_num(X[:, 0]) + rng.normal(size=5000), np.nan_to_num(X[:, 1] * 0.1) + rng.normal(size=5000)])
    options = {"n_estimators": 3, "random_state": 0, "max_features": None, "min_samples_leaf": 20}
    for target, kind in ((y, RandomForestRegressor), (np.digitize(y, [0, 2, 10]), RandomForestClassifier)):
        exact, binned = (kind(max_bins=bins, **options).fit(X, target) for bins in (None, 255))
        assert same(predictions(exact, X), predictions(binned, X))


def test_extra_trees_are_as_accurate_as_those_of_scikit_learn():
    X, y = make_regression(600, 8, n_informative=5, n_targets=3, noise=20.0, random_state=0)
    scores = [
        [kind(n_estimators=15, random_state=seed).fit(X[:300], y[:300]).score(X[300:], y[300:]) for seed in range(12)]
        for kind in (ExtraTreesRegressor, theirs.ExtraTreesRegressor)
    ]
    error = np.sqrt((np.var(scores[0]) + np.var(scores[1])) / 12)
    assert abs(np.mean(scores[0]) - np.mean(scores[1])) < 3.0 * error


def test_a_random_splitter_grows_the_first_of_the_extra_trees():
    X, y = numbers()
    tree = DecisionTreeRegressor(splitter="random", random_state=3).fit(X, y)
    forest = ExtraTreesRegressor(n_estimators=1, random_state=3).fit(X, y)
    np.testing.assert_allclose(tree.predict(X), forest.predict(X), rtol=1e-12)


def test_one_target_twice_is_that_target():
    X, y = numbers()
    one = DecisionTreeRegressor(min_samples_leaf=5).fit(X, y[:, 1])
    twice = DecisionTreeRegressor(min_samples_leaf=5).fit(X, y[:, [1, 1]])
    np.testing.assert_allclose(twice.predict(X), one.predict(X)[:, None].repeat(2, axis=1), rtol=1e-12)
    np.testing.assert_allclose(twice.forest_.gain, one.forest_.gain, rtol=1e-9)


# Conventions.


@pytest.mark.parametrize("kind", ["RandomForestClassifier", "ExtraTreesClassifier"])
def test_answers_have_the_shapes_of_scikit_learn(kind):
    X, y = labels()
    named = np.array(["a", "b", "c", "d"])[y]
    for target in (y, y[:, :1] * [1, 0] + [0, 1], named):
        own = getattr(woodwind, kind)(n_estimators=4, random_state=0).fit(X, target)
        other = getattr(theirs, kind)(n_estimators=4, random_state=0).fit(X, target)
        assert own.n_outputs_ == other.n_outputs_
        assert type(own.classes_) is list
        assert [labels.tolist() for labels in own.classes_] == [labels.tolist() for labels in other.classes_]
        answers, others = own.predict_proba(X), other.predict_proba(X)
        assert type(answers) is list
        assert [one.shape for one in answers] == [one.shape for one in others]
        assert own.predict(X).shape == other.predict(X).shape == target.shape
        assert own.predict(X).dtype.kind == other.predict(X).dtype.kind
        logs = own.predict_log_proba(X)
        assert [one.shape for one in logs] == [one.shape for one in answers]
        assert own.score(X, target) > 0.7


def test_labels_of_different_kinds_stand_side_by_side():
    X, y = labels()
    frame = pd.DataFrame({"sold": y[:, 0].astype(bool), "town": np.array(["x", "y", "z", "w"])[y[:, 1]], "rooms": y[:, 2]})
    model = DecisionTreeClassifier().fit(X, frame)
    assert model.target_names_ == ["sold", "town", "rooms"]
    predicted = model.predict(X)
    assert predicted.dtype == object
    assert (predicted == frame.to_numpy()).all()
    assert model.score(X, frame) == 1.0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_a_frame_name_the_targets(frame):
    X, y = numbers(k=2)
    model = DecisionTreeRegressor(max_depth=3).fit(X, frame({"height": y[:, 0], "weight": y[:, 1]}))
    assert model.target_names_ == ["height", "weight"]
    assert same(model.predict(X), DecisionTreeRegressor(max_depth=3).fit(X, y).predict(X))
    assert same(model.predict(X), DecisionTreeRegressor(max_depth=3).fit(X, y.tolist()).predict(X))
    assert model.explain(X[:2]).outputs == ("height", "weight")


@pytest.mark.parametrize("model", ALL, ids=str)
def test_one_column_is_one_target(model):
    X, y = targets_for(model)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        column = clone(model).fit(X, y[:, :1])
    assert column.n_outputs_ == 1
    assert not hasattr(column, "target_names_")
    assert same(predictions(column, X), predictions(clone(model).fit(X, y[:, 0]), X))


@pytest.mark.parametrize("model", ALL, ids=str)
def test_fitted_again_with_one_target_it_has_one(model):
    X, y = targets_for(model)
    model = clone(model).fit(X, y)
    assert model.n_outputs_ == 3
    model.fit(X, y[:, 0])
    assert model.n_outputs_ == 1
    assert model.predict(X).shape == (len(X),)


def test_grid_searches_and_validation_take_several_targets():
    X, y = numbers()
    assert cross_val_score(RandomForestRegressor(n_estimators=5, random_state=0), X, y, cv=3).min() > 0.2
    X, y = make_multilabel_classification(300, 8, n_classes=4, random_state=0)
    assert cross_val_score(RandomForestClassifier(n_estimators=5, random_state=0), X, y, cv=3).min() > 0.1


# What the rest of the library promises.


@pytest.mark.parametrize("model", ALL, ids=str)
def test_weights_are_repetitions(model):
    X, y = targets_for(model, 120)
    if getattr(model, "bootstrap", False):
        model = clone(model).set_params(bootstrap=False)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighed = clone(model).fit(X, y, times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))
    pairs = zip(*(predictions(one, X) for one in (weighed, repeated)), strict=True)
    assert all(np.allclose(one, other, rtol=0, atol=1e-12) for one, other in pairs)


@pytest.mark.parametrize("model", ALL[1:3] + ALL[4:], ids=str)
def test_the_bits_are_the_same_for_any_number_of_threads(model):
    X, y = targets_for(model, 1500)
    one, three = (clone(model).set_params(n_jobs=jobs).fit(X, y) for jobs in (1, 3))
    assert one.compact_forest_.nodes.tobytes() == three.compact_forest_.nodes.tobytes()
    assert one.compact_forest_.mixed.tobytes() == three.compact_forest_.mixed.tobytes()
    assert same(predictions(one, X), predictions(three, X))


@pytest.mark.parametrize("model", ALL, ids=str)
def test_what_is_loaded_predicts_the_same(model, tmp_path):
    X, y = targets_for(model)
    model = clone(model).fit(X, pd.DataFrame(y, columns=["a", "b", "c"]))
    model.save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww")
    assert same(predictions(loaded, X), predictions(model, X))
    assert loaded.target_names_ == ["a", "b", "c"]
    if hasattr(model, "compact_forest_"):
        found, predict = predictions(model, X[:3]), model.predictor()
        wanted = np.hstack(found) if isinstance(found, list) else found
        np.testing.assert_allclose(predict(np.asarray(X[:3], float)), wanted, rtol=1e-12)
        np.testing.assert_allclose(predict(np.asarray(X[0], float)), wanted[0], rtol=1e-12)


def test_a_file_in_which_probabilities_do_not_start_from_zero_is_refused(tmp_path):
    X, y = make_multilabel_classification(60, 4, random_state=0)
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    model.forest_ = replace(model.forest_, start=np.ones(model.forest_.n_outputs))
    with pytest.raises(NotStorableError, match="do not start from zero"):
        model.save(tmp_path / "m.ww")


@pytest.mark.parametrize("model", ALL, ids=str)
def test_values_of_columns_add_up_to_what_is_predicted(model):
    X, y = targets_for(model)
    model = clone(model).fit(X, y)
    explanation = model.explain(X[:20])
    np.testing.assert_allclose(explanation.values.sum(axis=1) + explanation.base, explanation.scores, atol=1e-9)
    found = predictions(model, X[:20])
    np.testing.assert_allclose(explanation.scores, np.hstack(found) if isinstance(found, list) else found, atol=1e-12)
    if isinstance(found, list):
        assert explanation.outputs == ("y0=0", "y0=1", "y1=0", "y1=1", "y1=2", "y1=3", "y2=0", "y2=1", "y2=2")
    assert "y1" in explanation.to_text(0, output=3 if isinstance(found, list) else 1)


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
@pytest.mark.parametrize("model", ALL, ids=str)
def test_categories_and_missing_values(model):
    rng = np.random.default_rng(0)
    towns = rng.choice(np.array(["a", "b", "c", "d", None], object), 300)
    gaps = np.where(rng.random(300) < 0.3, np.nan, rng.normal(size=300))
    X = pd.DataFrame({"town": towns, "gaps": gaps})
    y = np.column_stack([np.isin(towns, ["a", "c"]), np.isin(towns, ["a", "d"]), np.isnan(gaps)]).astype(int)
    model = clone(model).fit(X, y)
    assert (np.rint(model.predict(X)) == y).mean() > 0.98
    # A category that training never saw stops at the node, and takes what is known there.
    unseen = pd.DataFrame({"town": ["x"], "gaps": [0.5]})
    assert all(np.isfinite(part).all() for part in predictions(model, unseen))


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
def test_an_unseen_category_takes_the_means_of_the_node():
    X = pd.DataFrame({"town": ["a", "a", "b", "b"]})
    y = [[0.0, 1.0], [2.0, 1.0], [10.0, 3.0], [12.0, 5.0]]
    model = DecisionTreeRegressor().fit(X, y)
    np.testing.assert_allclose(model.predict(X), [[1, 1], [1, 1], [11, 4], [11, 4]])
    np.testing.assert_allclose(model.predict(pd.DataFrame({"town": ["x"]})), [[6.0, 2.5]])


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
@pytest.mark.parametrize("encoding", ["out_of_fold", "ordered", "auto"])
def test_columns_of_many_categories_are_read_as_means_of_each_target(encoding):
    rng = np.random.default_rng(0)
    town = rng.integers(0, 400, 2000)
    X = pd.DataFrame({"town": [f"t{k}" for k in town]})
    y = np.column_stack([np.sin(town), np.cos(town)]) + 0.1 * rng.normal(size=(2000, 2))
    for model, target in ((RandomForestRegressor(**FORESTS), y), (RandomForestClassifier(**FORESTS), (y > 0).astype(int))):
        fitted = clone(model).set_params(categorical_encoding=encoding).fit(X[:1500], target[:1500])
        assert fitted.score(X[1500:], target[1500:]) > 0.5


def test_out_of_the_bag():
    X, y = numbers()
    model = RandomForestRegressor(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_prediction_.shape == y.shape
    assert model.oob_score_ == pytest.approx(r2_score(y, model.oob_prediction_))
    X, y = labels()
    model = RandomForestClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, y[:, [0, 0]])
    assert [part.shape for part in model.oob_decision_function_] == [(400, 2), (400, 2)]
    assert 0.5 < model.oob_score_ <= 1.0
    auto = RandomForestRegressor(n_estimators="auto", random_state=0).fit(*numbers())
    assert auto.compact_forest_.n_trees >= 50


def test_a_forest_goes_on_with_more_trees():
    for model in (RandomForestRegressor(random_state=0), ExtraTreesClassifier(random_state=0)):
        X, y = targets_for(model)
        whole = clone(model).set_params(n_estimators=7).fit(X, y)
        grown = clone(model).set_params(n_estimators=4, warm_start=True).fit(X, y)
        grown.set_params(n_estimators=7).fit(X, y)
        assert same(predictions(grown, X), predictions(whole, X))
        with pytest.raises(TargetError, match="goes on with several targets"):
            grown.fit(X, y[:, 0])


def test_balanced_classes_weigh_as_in_scikit_learn():
    X, y = labels()
    own = DecisionTreeClassifier(class_weight="balanced", min_samples_leaf=10).fit(X, y)
    other = TheirClassifier(class_weight="balanced", min_samples_leaf=10, random_state=0).fit(X, y)
    for one, two in zip(own.predict_proba(X), other.predict_proba(X), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-9)


# Odd targets, and what is refused.


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_a_constant_target_is_predicted_and_warned_of(model):
    X, y = numbers()
    y[:, 1] = 7.25
    with pytest.warns(ConstantTargetWarning, match="target 'y1': y is 7.25 in every row"):
        predicted = clone(model).fit(X, y).predict(X)
    assert (predicted[:, 1] == 7.25).all()


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_a_column_of_one_class_is_allowed_unless_all_are(model):
    X, y = labels()
    y[:, 1] = 2
    fitted = clone(model).fit(X, y)
    assert [part.shape[1] for part in fitted.predict_proba(X)] == [2, 1, 3]
    assert (fitted.predict(X)[:, 1] == 2).all()
    with pytest.raises(TargetError, match="one class only in each of its 2 targets"):
        clone(model).fit(X, np.ones((len(X), 2), int))


def test_targets_of_very_different_size_do_not_overflow():
    X, y = numbers()
    sizes = np.array([1e-200, 1.0, 1e200])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in REGRESSORS:
            predicted = clone(model).fit(X, y * sizes).predict(X) / sizes
            assert np.isfinite(predicted).all()
            assert r2_score(y, predicted) > 0.2


@pytest.mark.parametrize("model", ALL, ids=str)
def test_bad_targets_are_refused_by_name(model):
    X, y = targets_for(model)
    frame = pd.DataFrame(y.astype(float), columns=["a", "b", "c"])
    frame.loc[5, "b"] = np.nan
    with pytest.raises(TargetError, match=r"target 'b': Input y contains NaN.*y\[5\]"):
        clone(model).fit(X, frame)
    masked = np.ma.array(y, mask=np.arange(y.size).reshape(y.shape) == 4)
    with pytest.raises(TargetError, match=r"target 'y1': Input y contains NaN.*y\[1\]"):
        clone(model).fit(X, masked)
    with pytest.raises(TargetError, match="sparse matrix"):
        clone(model).fit(X, csr_matrix(y))
    with pytest.raises(TargetError, match="different lengths"):
        clone(model).fit(X[:2], [[1, 2], [3, 4, 5]])
    with pytest.raises(DataError, match="inconsistent numbers of samples"):
        clone(model).fit(X, y[:-1])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DecisionTreeRegressor(criterion="absolute_error"), "criterion='absolute_error' is for one target. Give 'squared_error'"),
        (DecisionTreeRegressor(max_bins=32), "max_bins is for one target"),
        (DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0, 0]), "monotonic_cst is for one target"),
        (RandomForestRegressor(criterion="poisson"), "criterion='poisson' is for one target"),
        (RandomForestRegressor(quantiles=True), "quantiles=True is for one target"),
        (DecisionTreeClassifier(criterion="gain_ratio"), "criterion='gain_ratio' is for one target. Give 'gini' or 'entropy'"),
        (RandomForestClassifier(class_weight={0: 2.0}), "names classes of one target"),
        (woodwind.RandomStructureForestRegressor(), "is for one target"),
        (woodwind.AdaBoostRegressor(), "1d array"),
    ],
    ids=lambda one: str(one)[:60],
)
def test_what_is_for_one_target_says_so(model, message):
    X, y = targets_for(model)
    with pytest.raises((ParameterError, TargetError), match=message):
        model.fit(X, y)


def test_importance_out_of_the_bag_is_for_one_target():
    X, y = numbers()
    model = RandomForestRegressor(**FORESTS).fit(X, y)
    with pytest.raises(ParameterError, match="is for one target"):
        model.permutation_importance_oob(X, y)


def test_a_selection_of_trees_is_for_one_target():
    X, y = numbers()
    forest = RandomForestRegressor(oob_score=True, n_estimators=30, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="is for one target"):
        woodwind.EnsembleSelectionRegressor(forest).fit(X, y[:, 0])


@pytest.mark.parametrize("model", [DecisionTreeRegressor(max_depth=2), RandomForestClassifier(n_estimators=2, max_depth=2)], ids=str)
def test_trees_of_several_targets_can_be_read(model):
    X, y = targets_for(model)
    model = clone(model).fit(X, y)
    assert "y1" in model.export_text()
    assert any(name.startswith("value_y1") for name in model.trees_to_dataframe().columns)
    assert '"outputs"' in model.trees_to_json() or "y1" in model.trees_to_json()


def test_a_target_of_three_axes_is_refused_with_the_shapes_that_there_are():
    for model in (woodwind.DecisionTreeRegressor(), woodwind.GradientBoostingRegressor(), woodwind.RandomForestClassifier()):
        with pytest.raises(TargetError, match=r"It has 3 axes.*\(n_rows, n_targets\)"):
            model.fit(np.zeros((6, 2)), np.arange(24).reshape(6, 2, 2))
