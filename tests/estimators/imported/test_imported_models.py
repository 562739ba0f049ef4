"""Models of other libraries, taken over: predictions are the same, and what estimators can do they can."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from threadpoolctl import threadpool_limits

import woodwind
from reference.foreign_models import MAKERS, classes, difference, edges, table, target
from woodwind import ModelFileError, ParameterError

READERS = {name: getattr(woodwind, f"from_{name}") for name in MAKERS}
DRAW = np.random.default_rng(3)
X = table(DRAW, 300, True)
Y = target(DRAW, X)
ASKED = edges(X, DRAW)


@pytest.fixture(autouse=True)
def one_thread_for_others():
    with threadpool_limits(1):
        yield


def made(library, seed):
    pytest.importorskip(library)
    foreign = MAKERS[library](seed, 300)
    return foreign, READERS[library](foreign.model)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("library", MAKERS)
def test_predictions_are_those_of_the_library(library, seed, tmp_path):
    foreign, ours = made(library, seed)
    assert difference(ours, foreign) < (1e-6 if library == "xgboost" else 1e-12), foreign.words
    ours.save(tmp_path / "model.ww")
    again = woodwind.load(tmp_path / "model.ww")
    assert type(again) is type(ours)
    assert np.array_equal(again.predict(foreign.X), ours.predict(foreign.X))


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_every_row_ends_in_the_leaf_of_xgboost(seed):
    """Added up in 32 bits, as XGBoost does, values of leaves give its scores to the last bit, and so all leaves are right."""
    foreign, ours = made("xgboost", seed)
    forest, leaves = ours.forest_, ours.apply(foreign.X)
    raw = np.tile(forest.start.astype(np.float32), (len(foreign.X), 1))
    for tree in range(forest.n_trees):
        raw[:, forest.output[tree]] += forest.value[forest.roots[tree] + leaves[:, tree], 0].astype(np.float32)
    theirs = foreign.model.predict(foreign.X, output_margin=True)
    assert np.abs(raw.reshape(theirs.shape) - theirs).max() <= 4 * np.spacing(np.abs(theirs).max())


@pytest.mark.parametrize("library", MAKERS)
def test_shapley_values_add_up(library):
    for seed in (0, 3):
        foreign, ours = made(library, seed)
        found = ours.explain(foreign.X[:30])
        assert np.allclose(found.values.sum(axis=1) + found.base, found.scores, atol=1e-9)


def test_shapley_values_are_those_of_xgboost_and_lightgbm():
    xgb = pytest.importorskip("xgboost")
    foreign, ours = made("xgboost", 0)
    data = xgb.DMatrix(foreign.X[:40], enable_categorical=True)
    theirs = foreign.model.get_booster().predict(data, pred_contribs=True)
    found = ours.explain(foreign.X[:40])
    assert np.abs(found.values[:, :, 0] - theirs[:, :-1]).max() < 1e-5
    foreign, ours = made("lightgbm", 9)
    theirs = foreign.model.predict(foreign.X[:40], pred_contrib=True)
    assert np.abs(ours.explain(foreign.X[:40]).values[:, :, 0] - theirs[:, :-1]).max() < 1e-9


def test_categories_that_training_never_saw_go_where_the_library_sends_them():
    """As numbers, where the library takes any: XGBoost sends them to the left, LightGBM to the right, CatBoost away from the hash."""
    lgb, cb, xgb = pytest.importorskip("lightgbm"), pytest.importorskip("catboost"), pytest.importorskip("xgboost")
    numbers = np.column_stack([DRAW.integers(0, 30, 500), DRAW.normal(size=500)]).astype(float)
    y = np.isin(numbers[:, 0] % 7, [1, 2, 5]) + 0.3 * numbers[:, 1]
    asked = numbers.copy()
    asked[::3, 0] = DRAW.choice([31.0, 77.0, 1000.0, np.nan], len(asked[::3]))
    theirs = lgb.LGBMRegressor(n_estimators=8, verbose=-1, n_jobs=1, min_data_per_group=5).fit(numbers, y, categorical_feature=[0])
    assert np.array_equal(woodwind.from_lightgbm(theirs).predict(asked), theirs.predict(asked))
    booster = xgb.train(
        {"nthread": 1, "max_cat_to_onehot": 1}, xgb.DMatrix(numbers, y, feature_types=["c", "q"], enable_categorical=True), 8
    )
    expected = booster.predict(xgb.DMatrix(asked, feature_types=["c", "q"], enable_categorical=True))
    assert np.abs(woodwind.from_xgboost(booster).predict(asked) - expected).max() < 1e-6
    text = pd.DataFrame({"c": [f"kind {value:g}" for value in numbers[:, 0]], "x": numbers[:, 1]})
    new = text.assign(c=["kind 99" if k % 4 == 0 else value for k, value in enumerate(text["c"])])
    theirs = cb.CatBoostRegressor(iterations=8, cat_features=["c"], one_hot_max_size=255, verbose=0, allow_writing_files=False).fit(text, y)
    assert np.abs(woodwind.from_catboost(theirs).predict(new) - theirs.predict(new)).max() < 1e-12


def test_more_categories_than_trees_here_tell_apart_are_told_apart():
    lgb = pytest.importorskip("lightgbm")
    draw = np.random.default_rng(4)
    X = pd.DataFrame({"c": pd.Categorical(np.arange(4000) % 600), "x": draw.normal(size=4000)})
    y = np.sin(X["c"].astype(int)) + X["x"]
    theirs = lgb.LGBMRegressor(n_estimators=10, verbose=-1, n_jobs=1, min_data_per_group=2, cat_smooth=0.1).fit(X, y)
    ours = woodwind.from_lightgbm(theirs)
    assert len(ours.schema_.categories[0]) == 601
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.allclose(ours.explain(X[:20]).values.sum(axis=1) + ours.explain(X[:20]).base, ours.predict(X[:20])[:, None])


def test_the_best_iteration_is_where_predictions_end():
    xgb, lgb = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    numbers, y = X[["a", "b", "c", "d"]], classes(Y, 2)
    theirs = xgb.XGBClassifier(n_estimators=60, early_stopping_rounds=3, n_jobs=1, learning_rate=0.8).fit(
        numbers[:200], y[:200], eval_set=[(numbers[200:], y[200:])], verbose=False
    )
    ours = woodwind.from_xgboost(theirs)
    assert ours.n_iter_ == theirs.best_iteration + 1 < theirs.get_booster().num_boosted_rounds()
    assert np.abs(ours.predict_proba(numbers) - theirs.predict_proba(numbers)).max() < 1e-6
    booster = theirs.get_booster()
    assert woodwind.from_xgboost(booster).n_iter_ == booster.num_boosted_rounds()
    assert woodwind.from_xgboost(theirs, n_rounds=1).n_iter_ == 1
    theirs = lgb.LGBMClassifier(n_estimators=60, n_jobs=1, verbose=-1, learning_rate=0.8).fit(
        numbers[:200], y[:200], eval_X=numbers[200:], eval_y=y[200:], callbacks=[lgb.early_stopping(3, verbose=False)]
    )
    ours = woodwind.from_lightgbm(theirs)
    assert ours.n_iter_ == theirs.best_iteration_ < 60
    assert np.abs(ours.predict_proba(numbers) - theirs.predict_proba(numbers)).max() < 1e-12


def test_a_softmax_of_two_classes_is_a_logistic_function():
    xgb = pytest.importorskip("xgboost")
    numbers, y = X[["a", "b"]], classes(Y, 2)
    for objective in ("multi:softprob", "multi:softmax"):
        booster = xgb.train({"objective": objective, "num_class": 2, "nthread": 1}, xgb.DMatrix(numbers, y), 5)
        ours = woodwind.from_xgboost(booster)
        margin = booster.predict(xgb.DMatrix(numbers), output_margin=True)
        assert np.abs(ours.decision_function(numbers) - (margin[:, 1] - margin[:, 0])).max() < 1e-6
        assert ours.forest_.n_outputs == 1


def test_several_targets_of_labels():
    xgb = pytest.importorskip("xgboost")
    numbers, y = X[["a", "b"]], np.c_[Y > 1, Y > 2, Y < 0].astype(int)
    theirs = xgb.XGBClassifier(n_estimators=5, n_jobs=1).fit(numbers, y)
    ours = woodwind.from_xgboost(theirs)
    found = np.stack([part[:, 1] for part in ours.predict_proba(numbers)], axis=1)
    assert np.abs(found - theirs.predict_proba(numbers)).max() < 1e-6
    assert np.array_equal(ours.predict(numbers), theirs.predict(numbers))


def test_labels_of_the_object_are_those_of_the_model():
    cb, lgb = pytest.importorskip("catboost"), pytest.importorskip("lightgbm")
    numbers, y = X[["b", "d"]], np.array(["yes", "no", "maybe"])[classes(Y, 3)]
    for theirs, read in (
        (lgb.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1), woodwind.from_lightgbm),
        (cb.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False), woodwind.from_catboost),
        (
            cb.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False, class_names=["yes", "no", "maybe"]),
            woodwind.from_catboost,
        ),
    ):
        theirs.fit(numbers, y)
        ours = read(theirs)
        assert ours.classes_.tolist() == ["maybe", "no", "yes"]
        assert np.array_equal(ours.predict(numbers), np.asarray(theirs.predict(numbers)).reshape(-1))


def test_a_column_may_have_any_gap_that_the_library_takes():
    foreign, ours = made("lightgbm", 4)  # zero counts as missing
    row = foreign.X.iloc[:1]
    as_zero, as_gap = row.assign(b=0.0), row.assign(b=np.nan)
    assert ours.predict(as_zero) == ours.predict(as_gap) == foreign.model.predict(as_gap)
    predict = ours.predictor()
    values = {name: None if pd.isna(value) else value for name, value in as_zero.iloc[0].to_dict().items()}
    assert predict(values) == ours.predict(as_zero)[0]
    assert predict(values | {"t": "a place never seen"}) == ours.predict(as_zero.assign(t="a place never seen"))[0]


def test_members_of_ensembles():
    """Taken over as they are, they vote, are stacked and are selected."""
    pytest.importorskip("lightgbm")
    numbers, y = X[["b", "d"]].to_numpy(), classes(Y, 2)
    members = [
        ("boosting", woodwind.from_sklearn(GradientBoostingClassifier(n_estimators=5, random_state=0).fit(numbers[:100], y[:100]))),
        ("forest", woodwind.from_sklearn(RandomForestClassifier(n_estimators=5, random_state=0).fit(numbers[:100], y[:100]))),
    ]
    vote = woodwind.VotingClassifier(members, prefit=True, voting="soft").fit(numbers[100:], y[100:])
    mean = np.mean([member.predict_proba(numbers) for _, member in members], axis=0)
    assert np.allclose(vote.predict_proba(numbers), mean, atol=1e-9)
    stack = woodwind.StackingClassifier(members, final_estimator=LogisticRegression(), cv="prefit").fit(numbers[100:], y[100:])
    assert stack.score(numbers, y) > 0.6
    chosen = woodwind.DynamicSelectionClassifier(members, prefit=True).fit(numbers[100:], y[100:])
    assert chosen.score(numbers, y) > 0.6


def test_leaves_can_be_learned_anew():
    foreign, ours = made("lightgbm", 9)
    numbers = foreign.X.dropna()
    other = ours.refit_leaves(numbers, np.arange(len(numbers)) % 7, decay_rate=0.5)
    assert np.array_equal(other.forest_.threshold, ours.forest_.threshold)
    assert not np.array_equal(other.predict(numbers), ours.predict(numbers))


def test_what_cannot_be_taken_over_is_said():
    with pytest.raises(ParameterError, match="RandomForest"):
        woodwind.from_sklearn(LinearRegression())
    with pytest.raises(ParameterError, match="not trained"):
        woodwind.from_sklearn(RandomForestClassifier())
    other = GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2).fit(X[["b", "d"]], classes(Y, 2))
    with pytest.raises(ModelFileError, match="LogisticRegression"):
        woodwind.from_sklearn(other)
    cb, xgb = pytest.importorskip("catboost"), pytest.importorskip("xgboost")
    frame = pd.DataFrame({"c": DRAW.choice(list("abcdefgh"), 300), "x": DRAW.normal(size=300)})
    theirs = cb.CatBoostRegressor(iterations=8, cat_features=["c"], one_hot_max_size=2, verbose=0, allow_writing_files=False).fit(frame, Y)
    with pytest.raises(ModelFileError, match="one_hot_max_size"):
        woodwind.from_catboost(theirs)
    linear = xgb.train({"booster": "gblinear", "nthread": 1}, xgb.DMatrix(X[["b", "d"]], Y), 2)
    with pytest.raises(ModelFileError, match="gblinear"):
        woodwind.from_xgboost(linear)
    with pytest.raises(ModelFileError, match="trained"):
        woodwind.from_xgboost(xgb.XGBRegressor())
    named = pd.DataFrame({"c": pd.Categorical(DRAW.choice(["à", "b"], 300)), "x": DRAW.normal(size=300)})
    with pytest.raises(ModelFileError, match="ASCII"):
        woodwind.from_xgboost(xgb.XGBRegressor(n_estimators=2, enable_categorical=True, n_jobs=1).fit(named, Y))


def test_an_estimator_of_them_can_be_cloned_and_trained():
    _, ours = made("lightgbm", 0)
    fresh = clone(ours)
    assert not hasattr(fresh, "forest_")
    fresh.fit(X[["a", "b"]], classes(Y, 2))
    assert fresh.score(X[["a", "b"]], classes(Y, 2)) > 0.6
