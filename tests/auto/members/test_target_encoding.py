"""Levels as numbers: the means that each row may know, no target found in its own row or fold, and a member like any other."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import woodwind
from woodwind.auto.clock import Clock
from woodwind.auto.members.target_encoding import SMOOTHING, EncodedMember, before_it, encodable, encoded, learn_encodings
from woodwind.auto.members.view import View
from woodwind.auto.model import AutoModel
from woodwind.auto.portfolio import Portfolio
from woodwind.auto.shap import explain_model
from woodwind.auto.training import boosting
from woodwind.auto.training.boosting import BoostingFamily
from woodwind.auto.training.recipe import Recipe
from woodwind.auto.training.splits import fold_of_rows
from woodwind.auto.training.training_set import TrainingSet
from woodwind.base.errors import DataError, UnseenCategoryWarning
from woodwind.base.random_streams import key, permutation
from woodwind.data.tables.schema import Schema
from woodwind.store import load, save

RECIPE = Recipe("boosting-encoded", "boosting", {"encode_from": 3, "max_leaves": 4, "rate": 4.0})


def table_of(n=400, categories=60, seed=0):
    """A column of many categories that decide the target, one of two levels, a number, and holes."""
    rng = np.random.default_rng(seed)
    category = rng.integers(0, categories, n)
    effect = rng.normal(size=categories)
    side = np.where(rng.random(n) < 0.5, "left", "right")
    frame = pd.DataFrame({"who": [f"w{i:03d}" for i in category], "side": side, "x": rng.normal(size=n)})
    frame.loc[rng.random(n) < 0.05, "who"] = None
    y = effect[category] + 0.5 * frame["x"].to_numpy() + 0.2 * rng.normal(size=n)
    return frame, y


def training_set(n_classes=0, seed=0, y=None, threads=1, moments=None, n=400, **more):
    frame, target = table_of(n, seed=seed)
    y = target if y is None else y
    if n_classes:
        y = (y > np.median(y)).astype(np.int32)
    fold = fold_of_rows(seed, n, y.astype(np.int64) if n_classes else None, None, moments)
    schema, table = Schema.learn(frame)
    return TrainingSet(schema, table, y, more.get("weight"), n_classes, fold, 7, threads, ordered=moments is not None)


def fitted(given, recipe=RECIPE):
    family = BoostingFamily()
    fits = list(family.fits(given, recipe, Clock(), []))
    return fits, family.finish(given, recipe, fits)


def test_sums_of_earlier_rows_of_the_same_level():
    rng = np.random.default_rng(1)
    categories, amounts = rng.integers(0, 9, 200), rng.normal(size=(2, 200))
    plain = [[sum(some[j] for j in range(i) if categories[j] == categories[i]) for i in range(200)] for some in amounts]
    np.testing.assert_allclose(before_it(categories, amounts), plain, atol=1e-12)
    assert before_it(np.zeros(0, np.int64), np.zeros((2, 0))).shape == (2, 0)


def test_a_row_that_is_learnt_has_the_mean_of_those_before_it_and_another_that_of_all():
    # Three rows of a, two of b and a hole are learned; one of a and one of c are not.
    frame = pd.DataFrame({"who": ["a", "b", "a", None, "a", "b", "a", "c"]})
    y = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    rows, weight = np.arange(6), np.array([1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0])
    schema, table = Schema.learn(frame)
    (one,), made = learn_encodings(schema, table, np.array([0]), y, weight, rows, 5)
    middle = (1 + 0 + 0 + 1 + 3 + 1) / 9
    totals, sizes = np.array([4.0, 1.0, 0.0, 1.0]), np.array([5.0, 3.0, 0.0, 1.0])  # of a, b, c and holes
    means = (totals + SMOOTHING * middle) / (sizes + SMOOTHING)
    np.testing.assert_allclose(one.values, means, rtol=1e-14)
    found = made.columns[0].block(0, 8)
    np.testing.assert_allclose(found[6:], [means[0], middle], rtol=1e-14)
    order = permutation(key(5, "encoding", 0), 6).tolist()
    names = frame["who"].fillna("?").tolist()
    for at, row in enumerate(order):
        before = [other for other in order[:at] if names[other] == names[row]]
        expected = (sum(weight[before] * y[before]) + SMOOTHING * middle) / (sum(weight[before]) + SMOOTHING)
        assert found[row] == pytest.approx(expected, rel=1e-14)
    # Rows to come: known categories, a hole, and a category that training never saw, which has no number.
    with pytest.warns(UnseenCategoryWarning):
        new = schema.read(pd.DataFrame({"who": ["b", None, "new"]}))
    np.testing.assert_allclose(encoded(new, (one,)).columns[0].block(0, 3), [means[1], means[3], np.nan], rtol=1e-14)


def test_only_columns_of_many_levels_are_encoded():
    schema, _ = Schema.learn(table_of()[0])
    assert encodable(schema, 3).tolist() == [0]
    assert encodable(schema, 2).tolist() == [0, 1]
    assert encodable(schema, 0).tolist() == [0, 1]
    assert encodable(schema, 100).tolist() == []


@pytest.mark.parametrize("n_classes", [0, 2])
def test_many_levels_are_known_better_than_as_sets(n_classes):
    given = training_set(n_classes, n=1500)
    truth = given.y
    sets = replace(RECIPE, settings={"max_leaves": 4, "rate": 4.0})
    by_number, by_set = (fitted(given, recipe)[1].scores[:, 0] for recipe in (RECIPE, sets))
    assert np.corrcoef(by_number, truth)[0, 1] > np.corrcoef(by_set, truth)[0, 1] - 0.02
    assert np.corrcoef(by_number, truth)[0, 1] > 0.6


@pytest.mark.parametrize("n_classes", [0, 2])
def test_on_noise_nothing_is_found(n_classes):
    # Two or three rows of a level: whoever finds a row's own target in its number does so here.
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"who": [f"w{i}" for i in rng.integers(0, 400, 1000)]})
    y = rng.normal(size=1000) if n_classes == 0 else rng.integers(0, 2, 1000).astype(np.int32)
    schema, table = Schema.learn(frame)
    given = TrainingSet(
        schema, table, y, None, n_classes, fold_of_rows(0, 1000, y.astype(np.int64) if n_classes else None, None, None), 7, 1
    )
    assert abs(np.corrcoef(fitted(given)[1].scores[:, 0], y)[0, 1]) < 0.08


@pytest.fixture
def three_rounds(monkeypatch):
    """The number of rounds is the one thing that boosting finds from all folds together; of three rounds the last is always the best."""
    monkeypatch.setattr(boosting, "MOST_ROUNDS", 3)


@pytest.mark.usefixtures("three_rounds")
def test_the_truth_of_a_fold_does_not_change_what_is_said_of_it():
    plain = training_set()
    y = plain.y.copy()
    y[plain.held(3)] += 0.2 * np.sin(np.arange(len(plain.held(3))))
    before, after = (fitted(given)[0] for given in (plain, training_set(y=y)))
    for one, two in zip(before, after, strict=True):
        assert np.array_equal(one.predicted, two.predicted) == (one.fold == 3)


@pytest.mark.usefixtures("three_rounds")
def test_in_time_order_later_rows_teach_nothing_about_earlier_ones():
    moments = np.arange(400.0)
    plain = training_set(moments=moments)
    y = plain.y.copy()
    y[plain.fold == 2] += 0.2
    before, after = (fitted(given)[0] for given in (plain, training_set(moments=moments, y=y)))
    for one, two in zip(before, after, strict=True):
        if one.predicted is not None:
            assert np.array_equal(one.predicted, two.predicted) == (one.fold <= 2)


def test_the_same_bits_for_any_number_of_threads():
    found = [fitted(training_set(2, threads=threads))[1] for threads in (1, 2, 3)]
    for other in found[1:]:
        assert np.array_equal(found[0].scores, other.scores)
        assert np.array_equal(found[0].member.scores(training_set(2).view), other.member.scores(training_set(2).view))


def model_of(given, member):
    return AutoModel(
        task="binary" if given.n_classes else "regression", target="y", classes=(0, 1) if given.n_classes else (), schema=given.schema,
        form=given.form, names=("boosting-encoded",), members=(member,), weights=np.ones(1), shift=np.zeros(1), metric="rmse", facts={},
    )  # fmt: skip


@pytest.mark.parametrize("n_classes", [0, 2])
def test_a_model_is_kept_and_explained(n_classes, tmp_path):
    given = training_set(n_classes)
    model = model_of(given, fitted(given)[1].member)
    save(tmp_path / "model.ww", model.check())
    again = load(tmp_path / "model.ww")
    frame = table_of(50, seed=9)[0]
    frame.loc[3, "who"] = "nobody knows"
    with pytest.warns(UnseenCategoryWarning):
        scores = model.scores(frame)
    with pytest.warns(UnseenCategoryWarning):
        assert np.array_equal(again.scores(frame), scores)
    with pytest.warns(UnseenCategoryWarning):
        explained = explain_model(model, frame)
    np.testing.assert_allclose(explained.values.sum(axis=1) + explained.base, scores, atol=1e-9)
    assert explained.exact_share == 1.0
    assert np.abs(explained.values[:, 0]).mean() > np.abs(explained.values[:, 1]).mean()


def test_what_does_not_fit_the_schema_is_refused():
    given = training_set()
    first: EncodedMember = fitted(given)[1].member.members[0]
    model_of(given, first).check()
    (one,) = first.encodings
    for wrong, words in [
        (replace(first, encodings=(replace(one, values=one.values[:-1]),)), "another number of values"),
        (replace(first, encodings=()), "part categories"),
        (replace(first, encodings=(replace(one, position=2),)), "part categories"),
    ]:
        with pytest.raises(DataError, match=words):
            model_of(given, wrong).check()
    for wrong, words in [
        (replace(first, encodings=(one, one)), "two encodings"),
        (replace(first, encodings=(replace(one, position=9),)), "not there"),
        (replace(first, encodings=(replace(one, position=1),)), "parted as categories"),
    ]:
        with pytest.raises(DataError, match=words):
            wrong.check()
    with pytest.raises(DataError, match="not finite"):
        replace(one, values=np.full(3, np.nan)).check()
    with pytest.raises(DataError, match="has no categories"):
        View(encoded(given.table, (replace(one, position=2),)), given.form)


def test_a_table_of_few_levels_has_no_such_member():
    frame, y = table_of(300)
    frame["y"] = y
    names = [entry.name for entry in woodwind.fit(frame, "y", models=2, seed=1).leaderboard_]
    assert "boosting-encoded" in names
    names = [entry.name for entry in woodwind.fit(frame.drop(columns="who"), "y", models=2, seed=1).leaderboard_]
    assert "boosting-encoded" not in names
    assert len(names) == 3  # the ensemble and two members
    assert any(recipe.least_categories for recipe in Portfolio(2).listed)
