"""What each column brings to a blend: sums over members, exact where it can be, sampled where it must."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from tests.auto.fake_outcome import table_of
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from woodwind.auto import shap as room
from woodwind.auto.members.linear_member import LinearMember
from woodwind.auto.members.tree_members import CompactForestMember, ForestMember, MeanMember
from woodwind.auto.members.view import View
from woodwind.auto.model import AutoModel
from woodwind.auto.shap import MOST_ROWS, NAME, ORDERS, Background, background_facts, drawn_orders, explain_model, matrix_source, parts_of
from woodwind.auto.training.knn_training import train_knn
from woodwind.auto.training.mlp_training import train_mlp
from woodwind.base.errors import DataError
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema
from woodwind.estimators.auto.linear_training import train_linear
from woodwind.tree.shap import explain
from woodwind.tree.shap_result import by_column


@dataclass(frozen=True, eq=False)
class Bent:
    """A member that is neither a tree nor linear."""

    coef: np.ndarray  # (d, width)
    hessian: float = 0.3

    def scores_of(self, matrix, threads=1):
        straight = matrix @ self.coef
        return straight + self.hessian * straight**2

    def scores(self, view, threads=1):
        return self.scores_of(view.matrix)


@dataclass(frozen=True, eq=False)
class Silent:
    """A member that nothing is known of."""

    def scores(self, view, threads=1):
        return np.zeros((view.n_rows, 1))


def line(model, seed=0, ends=1e9, kind=LinearMember):
    coef = np.random.default_rng(seed).normal(size=(model.form.width, model.width))
    return LinearMember(coef, np.full(model.width, 0.5), -ends, ends) if kind is LinearMember else Bent(coef)


@cache
def blend(task):
    """Two boosters as the mean of folds, a forest, and the background of the table."""
    table, goal = table_of(200)
    classes = {"binary": (False, True), "multiclass": ("a", "b", "c"), "regression": ()}[task]
    y = np.asarray(goal) if task == "regression" else np.digitize(goal, np.quantile(goal, np.arange(1, len(classes)) / len(classes)))
    schema, read = Schema.learn(table)
    form = MatrixForm.of_table(schema, read)
    kinds = GradientBoostingClassifier, RandomForestClassifier
    if task == "regression":
        kinds = GradientBoostingRegressor, RandomForestRegressor
    common = {"n_estimators": 10, "max_leaf_nodes": 6, "early_stopping": False}
    boosted = [ForestMember(kinds[0](**common, random_state=seed, subsample=0.5).fit(table, y).forest_) for seed in (0, 1)]
    width = len(classes) if task == "multiclass" else 1
    compact_forest = CompactForestMember(kinds[1](n_estimators=5, random_state=0).fit(table, y).compact_forest_, 2.0, np.full(width, -0.25))
    model = AutoModel(
        task=task, target="goal", classes=classes, schema=schema, form=form, names=("boosting", "forest"),
        members=(MeanMember(tuple(boosted)), compact_forest), weights=np.array([0.5, 0.3]), shift=np.full(width, 0.125), metric="rmse",
        facts={NAME: Background.learn(View(read, form), 0).to_facts()},
    ).check()  # fmt: skip
    return model, table.slice(0, 6)


def with_member(model, member, weight=0.2):
    return replace(model, names=(*model.names, "more"), members=(*model.members, member), weights=np.append(model.weights, weight))


def check_sum(told, model, rows):
    np.testing.assert_allclose(told.scores, model.scores(rows), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(told.base + told.values.sum(axis=1), told.scores, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_a_blend_of_trees_is_exact_and_the_sum_of_its_trees(task):
    model, rows = blend(task)
    told = explain_model(model, rows, threads=2)
    check_sum(told, model, rows)
    assert told.exact
    assert told.names == tuple(rows.column_names)
    view = model.view(rows)
    values, base = np.zeros_like(told.values), np.array(model.shift)
    for _, weight, member in parts_of(model):
        found, mean = explain(member.forest if isinstance(member, ForestMember) else member.compact_forest, view.table)
        if isinstance(member, CompactForestMember):
            keep = slice(1, None) if task == "binary" else slice(None)
            found, mean = 2.0 * found[:, :, keep], 2.0 * mean[keep] - 0.25
        values += weight * by_column(found, model.schema)
        base += weight * mean
    np.testing.assert_allclose(told.values, values, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(told.base, base, rtol=0.0, atol=1e-12)


def test_the_words_name_what_is_explained():
    told = explain_model(*blend("binary"))
    assert told.outputs == ("True",)
    assert told.to_text(0).startswith("log-odds of True: ")
    assert explain_model(*blend("regression")).to_text(0).startswith("goal: ")
    assert explain_model(*blend("multiclass")).outputs == ("a", "b", "c")


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_a_linear_member_brings_its_slopes_times_the_distance_from_the_mean(task):
    model, rows = blend(task)
    member = line(model)
    both = with_member(model, member)
    told, without = explain_model(both, rows), explain_model(model, rows)
    check_sum(told, both, rows)
    assert told.exact
    mean = np.clip(Background.of(model.facts, model.form.width).mean, -10, 10)
    away = (np.clip(both.view(rows).matrix, -10, 10) - mean)[:, :, None] * member.coef
    wanted = np.stack([away[:, matrix_source(model) == column].sum(axis=1) for column in range(len(told.names))], axis=1)
    np.testing.assert_allclose(told.values - without.values, 0.2 * wanted, rtol=0.0, atol=1e-12)


def test_a_linear_member_at_its_ends_is_sampled_and_adds_up_all_the_same():
    model, rows = blend("regression")
    wide, without = explain_model(with_member(model, line(model)), rows), explain_model(model, rows)
    brought, base = (wide.values - without.values) / 0.2, (wide.base - without.base) / 0.2
    farthest = np.maximum(np.abs(base + np.maximum(brought, 0).sum(axis=1)), np.abs(base + np.minimum(brought, 0).sum(axis=1)))
    narrow = with_member(model, line(model, ends=float(np.median(farthest))))
    told = explain_model(narrow, rows)
    check_sum(told, narrow, rows)
    assert told.exact_share == pytest.approx(0.8)
    same = [np.allclose(told.values[row], wide.values[row], rtol=0.0, atol=1e-12) for row in range(len(told))]
    assert 0 < sum(same) < len(told)
    # Whatever the other rows are, a row gets the same.
    for row in range(len(told)):
        alone = explain_model(narrow, rows.slice(row, 1))
        np.testing.assert_allclose(alone.values[0], told.values[row], rtol=0.0, atol=1e-12)
        assert alone.exact == same[row]


def test_members_that_are_no_trees_add_up_as_they_are_trained():
    model, rows = blend("binary")
    table, goal = table_of(200)
    y, matrix = (np.asarray(goal) > np.median(goal)).astype(np.int32), model.view(table).matrix
    for train, share in ((train_linear, 1.0), (train_knn, 0.8), (train_mlp, 0.8)):
        both = with_member(model, train(matrix, y, None, 2, 0, lambda: 3.0))
        told = explain_model(both, rows)
        check_sum(told, both, rows)
        assert told.exact_share == pytest.approx(share)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_other_members_are_sampled_and_add_up(task, kept):
    model, rows = blend(task)
    if not kept:
        model = replace(model, facts={})
    both = with_member(model, MeanMember((line(model, kind=Bent), line(model, 1, kind=Bent))))
    told = explain_model(both, rows)
    check_sum(told, both, rows)
    assert not told.exact
    assert told.exact_share == pytest.approx(0.8)
    assert "80% of the weight" in told.to_text(0)
    np.testing.assert_array_equal(told.values, explain_model(both, rows).values)
    assert not np.array_equal(told.values, explain_model(both, rows, seed=1).values)
    # A row gets the same alone, and among so many others that fewer orders would be cheaper.
    many = pa.concat_tables([rows] * 150)
    np.testing.assert_allclose(explain_model(both, many).values[: len(rows)], told.values, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(explain_model(both, rows.slice(2, 1)).values[0], told.values[2], rtol=0.0, atol=1e-9)


def test_orders_do_not_matter_to_what_is_linear():
    model, rows = blend("regression")
    straight = Bent(line(model).coef, 0.0)
    told = explain_model(with_member(model, straight), rows).values - explain_model(model, rows).values
    away = (model.view(rows).matrix - Background.of(model.facts, model.form.width).rows.mean(axis=0))[:, :, None] * straight.coef
    wanted = np.stack([away[:, matrix_source(model) == column].sum(axis=1) for column in range(model.schema.n_inputs)], axis=1)
    np.testing.assert_allclose(told, 0.2 * wanted, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("n_background", [1, 3, 16])
def test_every_background_row_is_begun_from_as_often_and_in_both_directions(n_background):
    orders = drawn_orders(7, n_background, ORDERS, 0)
    half = len(orders) // 2
    assert half % n_background == 0
    assert 0.5 * ORDERS <= half <= 1.5 * ORDERS
    assert (np.sort(orders, axis=1) == np.arange(7)).all()
    np.testing.assert_array_equal(orders[half:], orders[:half, ::-1])


def test_of_many_columns_members_are_asked_no_more_questions_about_a_row(monkeypatch):
    model, rows = blend("regression")
    asked = []

    @dataclass(frozen=True, eq=False)
    class Counted(Bent):
        def scores_of(self, matrix, threads=1):
            asked.append(len(matrix))
            return super().scores_of(matrix)

    both = with_member(model, Counted(line(model).coef))
    for most in (10**6, 80, 1):
        asked.clear()
        monkeypatch.setattr(room, "MOST_QUESTIONS", most)
        told = explain_model(both, rows)
        # Beside those about the background, and for the score itself.
        pairs = min(ORDERS, max(most // (2 * 7), 1))
        assert sum(asked) == 2 * pairs * 7 * 6 + pairs + 6
        check_sum(told, both, rows)


def test_a_background_is_kept_in_facts_and_a_damaged_one_is_not_believed():
    model, _ = blend("regression")
    d = model.form.width
    kept = Background.of(model.facts, d)
    assert kept.rows.shape == (MOST_ROWS, d)
    mean, rows = kept.mean.tolist(), kept.rows.tolist()
    for broken in (None, 3, {}, {"mean": [0.0], "rows": [[0.0]]}, {"mean": [float("nan")] * d, "rows": rows}, {"mean": mean, "rows": 0.3}):
        nothing = Background.of({NAME: broken}, d)
        assert not nothing.mean.any()
        assert nothing.rows.shape == (1, d)


def test_a_model_keeps_a_background_only_if_it_has_use_for_one():
    model, rows = blend("regression")
    view = model.view(rows)
    assert background_facts(model.members, view, 0) == {}
    assert "matrix" not in vars(view)  # nor was a matrix made in vain
    assert set(background_facts((*model.members, MeanMember((line(model),))), view, 0)) == {NAME}


def test_a_member_that_nothing_is_known_of_is_named():
    model, rows = blend("regression")
    with pytest.raises(DataError, match="'more'"):
        explain_model(with_member(model, Silent()), rows)
