"""Columns of many categories in boosting: read as statistics of the target, and attributed to their columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import roc_auc_score

import woodwind
from woodwind import BaggingRegressor, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError, StackingClassifier
from woodwind.base.errors import ManyCategoriesWarning, UnseenCategoryWarning
from woodwind.data.tables.fields import CategoryField, StatisticsField
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.target_statistics import StatisticsTarget, TargetStatistics
from woodwind.ensemble.boosting import auto_defaults
from woodwind.estimators.base.category_statistics import KnownTarget, StatisticsTable, with_statistics
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import Weighing

FEW = {"n_estimators": 30, "random_state": 0}


def table(n_categories=500, each=6, seed=0):
    """Each category has an effect of its own; another column has a small one; a third has three categories."""
    rng = np.random.default_rng(seed)
    n = 2 * n_categories * each
    which = rng.integers(0, n_categories, n)
    effect = rng.normal(size=n_categories)
    X = pd.DataFrame({"shop": [f"s{k}" for k in which], "size": rng.normal(size=n), "wood": rng.choice(["oak", "elm", "ash"], n)})
    X.loc[rng.random(n) < 0.02, "shop"] = None
    y = effect[which] + 0.3 * X["size"].to_numpy() + 0.5 * (X["wood"] == "oak").to_numpy() + 0.5 * rng.normal(size=n)
    half = n // 2
    return X[:half], y[:half], X[half:].reset_index(drop=True), y[half:]


def test_many_categories_are_learned_and_none_is_merged():
    X, y, later, truth = table()
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    with pytest.warns(ManyCategoriesWarning):
        merged = GradientBoostingRegressor(random_state=0, categorical_encoding="sets").fit(X, y)
    with pytest.warns(UnseenCategoryWarning) if set(later["shop"].dropna()) - set(X["shop"].dropna()) else _nothing():
        assert model.score(later, truth) > merged.score(later, truth) + 0.2
    assert model.schema_.feature_names == ("shop:mean", "size", "wood")
    assert model.feature_importances_.argmax() == 0


class _nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


@pytest.mark.parametrize("encoding", ["ordered", "out_of_fold"])
def test_random_labels_on_an_all_unique_column_are_not_learned(encoding):
    y = np.random.default_rng(1).integers(0, 2, 3000)
    X = pd.DataFrame({"id": [f"id{k}" for k in range(3000)]})
    model = GradientBoostingClassifier(categorical_encoding=encoding, n_estimators=50, early_stopping=False, random_state=0).fit(X, y)
    assert roc_auc_score(y, model.predict_proba(X)[:, 1]) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("encoding", ["ordered", "out_of_fold"])
def test_random_labels_of_rare_categories_are_not_learned(encoding):
    """Four rows each: what others say of a category must not tell what the row itself says."""
    rng = np.random.default_rng(2)
    y, which = rng.integers(0, 2, 8000), rng.integers(0, 2000, 8000)
    X = pd.DataFrame({"shop": [f"s{k}" for k in which], "size": rng.normal(size=8000)})
    model = GradientBoostingClassifier(categorical_encoding=encoding, random_state=0).fit(X[:4000], y[:4000])
    with pytest.warns(UnseenCategoryWarning, match="Nothing is known of them, and each such row counts as one of all"):
        chance = model.predict_proba(X[4000:])
    assert -np.log(chance[np.arange(4000), y[4000:]]).mean() < np.log(2) + 0.01


@pytest.mark.parametrize(
    "settings", [{}, {"categorical_encoding": "ordered"}, {"max_bins": None, "n_estimators": 5}, {"growth": "symmetric"}]
)
def test_any_number_of_threads_gives_the_same_bits(settings, monkeypatch):
    monkeypatch.setattr("woodwind.estimators.base.category_statistics.LEAST_WORK", 1)
    X, y, later, _ = table(300, 4)
    X, later = X.assign(again=X["shop"]), later.assign(again=later["shop"]).fillna({"shop": "s0", "again": "s0"})
    models = [GradientBoostingRegressor(**(FEW | settings), n_jobs=jobs).fit(X, y) for jobs in (1, 2, 3)]
    one, two, three = (model.predict(X) for model in models)
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)


def test_held_out_rows_are_told_of_training_rows_only():
    X, y, *_ = table(100, 4)
    target = Target(y)
    known = KnownTarget.of(target, Weighing.of(None), None, "out_of_fold", 7, 1)
    schema, read = Schema.learn(X)
    schema, read = with_statistics(schema, read, [0], known)
    statistics = StatisticsTable(schema, read, known)
    learn, held = np.arange(0, 300), np.arange(300, len(y))
    before = statistics.for_training(learn, 1).columns[0].block(0, len(y))
    other = y.copy()
    other[held] *= -1.0  # nothing changes by what they are
    known = KnownTarget.of(Target(other), Weighing.of(None), None, "out_of_fold", 7, 1)
    after = StatisticsTable(schema, read, known).for_training(learn, 1).columns[0].block(0, len(y))
    assert np.array_equal(before, after)
    numbers = read.columns[0].category_numbers(0, len(y))
    statistics = TargetStatistics.learn(StatisticsTarget(y, learn), numbers, len(schema.fields[0].categories.values))
    prior, strength = statistics.prior[0], statistics.strength[0]
    assert prior == pytest.approx(y[learn].mean())
    row = held[0]
    own = y[learn][numbers[learn] == numbers[row]]
    assert before[row] == pytest.approx((own.sum() + prior * strength) / (len(own) + strength))


def test_what_is_explained_is_the_column_and_its_category():
    X, y, *_ = table(300, 4)
    model = GradientBoostingRegressor(**FEW).fit(X, y)
    explanation = model.explain(X[:50])
    assert explanation.names == ("shop", "size", "wood")
    assert explanation.values.sum(axis=1) + explanation.base == pytest.approx(explanation.scores)
    assert explanation.scores[:, 0] == pytest.approx(model.predict(X[:50]))
    present = int(np.flatnonzero(X["shop"][:50].notna())[0])
    assert f"shop = {X['shop'][present]}" in explanation.to_text(present)
    assert model.apply(X[:50]).shape == (50, model.forest_.n_trees)
    assert "shop:mean" in model.export_text()


def test_the_model_file_and_the_predictor_say_the_same(tmp_path):
    X, y, *_ = table(300, 4)
    labels = np.where(y > 0.6, "high", np.where(y < -0.6, "low", "middle"))
    model = GradientBoostingClassifier(**FEW, warm_start=True).fit(X, labels)
    assert model.schema_.feature_names[:3] == ("shop:high", "shop:low", "shop:middle")
    model.save(tmp_path / "model.ww")
    back = woodwind.load(tmp_path / "model.ww")
    assert np.array_equal(back.predict_proba(X), model.predict_proba(X))
    again = Schema.from_dict(model.schema_.to_dict())
    assert np.array_equal(again.read(X).columns[1].block(0, len(X)), model.schema_.read(X).columns[1].block(0, len(X)))
    predict, expected = model.predictor(), model.predict_proba(X[:20])
    for row in range(20):
        values = {name: None if pd.isna(value) else value for name, value in X.iloc[row].items()}
        assert np.array_equal(predict(values), expected[row])
        assert np.array_equal(predict(tuple(values.values())), expected[row])
    known = model.schema_.read(X[:20])
    numbers = np.column_stack([column.block(0, 20) for column in known.columns]).astype(float)
    assert np.array_equal(predict(numbers), expected)
    assert np.isfinite(predict({"shop": "never seen", "size": 0.0, "wood": "oak"})).all()


def test_warm_start_goes_on_as_if_it_had_not_stopped():
    X, y, *_ = table(300, 4)
    settings = {"random_state": 0, "early_stopping": False}
    whole = GradientBoostingRegressor(n_estimators=20, **settings).fit(X, y)
    parts = GradientBoostingRegressor(n_estimators=8, warm_start=True, **settings).fit(X, y)
    parts.set_params(n_estimators=20).fit(X, y)
    assert np.array_equal(parts.predict(X), whole.predict(X))


def test_validation_rows_from_outside_and_scorers_work():
    X, y, later, truth = table(200, 20)
    model = GradientBoostingRegressor(random_state=0, n_estimators=100).fit(X, y, eval_set=(later, truth))
    loss = np.mean((model.predict(later) - truth) ** 2)
    assert model.validation_score_[model.best_iteration_] == pytest.approx(loss / 2, rel=1e-6) or model.validation_score_.min() > 0
    scored = GradientBoostingRegressor(random_state=0, n_estimators=20, early_stopping=True, scoring="r2").fit(X, y)
    assert scored.score(later, truth) > 0.3


def test_weights_count_and_copies_of_a_row_do_not_tell_each_other():
    X, y, *_ = table(300, 4)
    weight = 1.0 + np.arange(len(y)) % 3
    whole = GradientBoostingRegressor(**FEW, early_stopping=False).fit(X, y, sample_weight=weight)
    field = whole.schema_.fields[0]
    shop = X["shop"].dropna().iloc[0]
    position = field.categories.values.tolist().index(shop)
    assert field.statistics.counts[position] == weight[(X["shop"] == shop).to_numpy()].sum()
    fractions = GradientBoostingRegressor(**FEW, early_stopping=False).fit(X, y, sample_weight=weight + 0.5)
    assert np.corrcoef(whole.predict(X), fractions.predict(X))[0, 1] > 0.9
    # With a copy of every row, random labels of an all-unique column would be known by heart if one told the other.
    rng = np.random.default_rng(3)
    ids, labels = pd.DataFrame({"id": [f"i{k}" for k in range(1000)]}), rng.integers(0, 2, 1000)
    twice = GradientBoostingClassifier(n_estimators=20, early_stopping=False).fit(ids, labels, sample_weight=np.full(1000, 2.0))
    assert roc_auc_score(labels, twice.predict_proba(ids)[:, 1]) == pytest.approx(0.5, abs=0.03)


def test_dependence_and_permutation_importance_work():
    X, y, *_ = table(60, 20)
    X = X.fillna({"shop": "s0"})
    model = GradientBoostingRegressor(**FEW).fit(X, y)
    assert isinstance(model.schema_.fields[0], StatisticsField)
    found = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert found.importances_mean.argmax() == 0
    assert np.isfinite(partial_dependence(model, X, ["size"])["average"]).all()


def test_the_rule_goes_by_categories_and_rows():
    assert not auto_defaults.reads_means(32, 100)
    assert auto_defaults.reads_means(33, 100)
    assert auto_defaults.reads_means(200, 50_000)
    assert not auto_defaults.reads_means(200, 50_001)
    assert auto_defaults.reads_means(254, 10**9)
    X, y, *_ = table(32, 20)
    assert isinstance(GradientBoostingRegressor(n_estimators=2).fit(X, y).schema_.fields[0], CategoryField)
    assert isinstance(
        GradientBoostingRegressor(n_estimators=2, categorical_encoding="ordered").fit(X, y).schema_.fields[2], StatisticsField
    )


def test_a_category_has_no_direction_and_a_wrong_encoding_is_refused():
    X, y, *_ = table(60, 4)
    with pytest.raises(ParameterError, match="is a category, which has no order"):
        GradientBoostingRegressor(monotonic_cst={"shop": 1}).fit(X, y)
    with pytest.raises(ParameterError, match="categorical_encoding"):
        GradientBoostingRegressor(categorical_encoding="hash").fit(X, y)


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
def test_members_of_pools_take_statistics_of_their_own_rows():
    X, y, later, truth = table(100, 10)
    bag = BaggingRegressor(GradientBoostingRegressor(n_estimators=20), n_estimators=3, random_state=0).fit(X, y)
    assert bag.score(later, truth) > 0.3
    members = [("boosting", GradientBoostingClassifier(n_estimators=20))]
    stack = StackingClassifier(estimators=members, cv=2, random_state=0).fit(X, y > 0)
    assert stack.score(later, truth > 0) > 0.6


def test_groups_keep_together_in_statistics():
    """One group for each category: no row knows anything of its category, so that nothing is learned of it."""
    rng = np.random.default_rng(4)
    which = rng.integers(0, 400, 4000)
    X = pd.DataFrame({"shop": [f"s{k}" for k in which], "size": rng.normal(size=4000)})
    y = rng.normal(size=400)[which]
    model = GradientBoostingRegressor(**FEW, early_stopping=False).fit(X, y, groups=which)
    assert model.feature_importances_[0] == 0.0
