"""Explanations of forests and compact forests: what coalitions say, sums, shapes, threads, and what must be nothing."""

from dataclasses import replace
from math import lgamma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_shap as naive
from reference.forests import random_forest, random_rows
from woodwind import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from woodwind.base.errors import TableError
from woodwind.tree import shap as room
from woodwind.tree.compact_forest_parts import quick_form
from woodwind.tree.forest import STOP, Forest, joined
from woodwind.tree.shap import explain, explain_interactions, quadrature

SEEDS = st.integers(0, 2**32)
OUTPUTS = st.sampled_from([(1, False), (3, False), (3, True)])


def by_hand():
    """Rooms, then a garden or not: the tree of docs/algorithms/tree-shap.md."""
    return Forest(
        roots=np.array([0, 5]), feature=np.array([0, -1, 1, -1, -1]), threshold=np.array([3.5, 0, 0.5, 0, 0]),
        child=np.array([1, 0, 3, 0, 0]),
        missing=np.full(5, STOP), sets=np.full(5, -1), words=np.zeros(0, np.uint64), set_words=np.zeros(2),
        value=np.array([[0.0], [100.0], [0.0], [200.0], [300.0]]), cover=np.array([10.0, 6, 4, 3, 1]), gain=np.zeros(5), output=np.zeros(1),
        n_outputs=1, start=np.zeros(1),
    ).with_node_values().check()  # fmt: skip


def test_the_case_worked_by_hand():
    forest = by_hand()
    values, base = explain(forest, np.array([[4.0, 1.0], [2.0, 1.0], [4.0, np.nan], [np.nan, 1.0]]))
    assert base.tolist() == [150.0]
    np.testing.assert_allclose(values[:, :, 0], [[97.5, 52.5], [-65.0, 15.0], [75.0, 0.0], [-15.0, 15.0]], rtol=0.0, atol=1e-12)


@settings(max_examples=40)
@given(SEEDS, st.sampled_from([(0, 4, 0, 0), (3, 70, 0), (0,)]), OUTPUTS)
def test_values_equal_those_of_all_coalitions(seed, categories, outputs):
    forest = random_forest(seed, categories, 4, 14, *outputs)
    rows = random_rows(seed, categories, 5)
    values, base = explain(forest, rows)
    np.testing.assert_allclose(values, naive.explained(forest, rows), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(base, naive.forest_worth(forest, rows[0].tolist(), frozenset()), rtol=0.0, atol=1e-9)


def test_the_interaction_of_the_case_worked_by_hand():
    # Of rooms and garden: v(both) - v(rooms) - v(garden) + v(none) = 300 - 225 - 180 + 150 = 45, and half of it stands on each side.
    found = explain_interactions(by_hand(), np.array([[4.0, 1.0]]))[0, :, :, 0]
    np.testing.assert_allclose(found, [[75.0, 22.5], [22.5, 30.0]], rtol=0.0, atol=1e-12)


@settings(max_examples=25)
@given(SEEDS, st.sampled_from([(0, 4, 0, 0), (3, 70, 0), (0,)]), OUTPUTS)
def test_interactions_equal_those_of_all_coalitions(seed, categories, outputs):
    forest = random_forest(seed, categories, 3, 12, *outputs)
    rows = random_rows(seed, categories, 4)
    wanted = np.array([naive.interactions(forest, row.tolist()) for row in rows])
    np.testing.assert_allclose(explain_interactions(forest, rows), wanted, rtol=0.0, atol=1e-9)


@settings(max_examples=10)
@given(SEEDS, OUTPUTS)
def test_interactions_are_symmetric_and_add_up_to_the_values(seed, outputs):
    categories = (0, 40, 0, 0, 6, 0, 0, 0)
    forest = random_forest(seed, categories, 8, 80, *outputs)
    rows = random_rows(seed, categories, 150)
    found, alone = explain_interactions(forest, rows), explain_interactions(forest, rows[7:8])
    assert np.array_equal(found, found.transpose(0, 2, 1, 3))
    assert np.array_equal(found[7], alone[0])
    assert np.array_equal(found, explain_interactions(forest, rows, threads=2))
    np.testing.assert_allclose(found.sum(axis=2), explain(forest, rows)[0], rtol=0.0, atol=1e-9)


@settings(max_examples=30)
@given(SEEDS, OUTPUTS, st.sampled_from([np.float32, np.float64]))
def test_values_and_base_add_up_to_the_score(seed, outputs, dtype):
    categories = (0, 40, 0, 0, 6, 0, 0, 0)
    forest = random_forest(seed, categories, 12, 200, *outputs)
    rows = random_rows(seed, categories, 300, dtype)
    values, base = explain(forest, rows)
    np.testing.assert_allclose(base + values.sum(axis=1), forest.raw(rows), rtol=0.0, atol=1e-9)


def test_each_stage_adds_up():
    forest, rows = random_forest(4, (0, 3, 0), 6, 20), random_rows(4, (0, 3, 0), 30)
    for k, score in enumerate(forest.staged_raw(rows)):
        values, base = explain(forest.first(k + 1), rows)
        np.testing.assert_allclose(base + values.sum(axis=1), score, rtol=0.0, atol=1e-12)


@settings(max_examples=10)
@given(SEEDS, st.integers(0, 6))
def test_a_sum_of_forests_is_explained_by_the_sum(seed, k):
    forest, rows = random_forest(seed, (0, 3, 0), 6, 20), random_rows(seed, (0, 3, 0), 20)
    whole, first, rest = (explain(part, rows) for part in (forest, forest.first(k), forest.rest(k)))
    for got, one, other in zip(whole, first, rest, strict=True):
        np.testing.assert_allclose(got, one + other, rtol=0.0, atol=1e-12)


def test_the_bits_depend_on_neither_threads_nor_other_rows_nor_blocks(monkeypatch):
    categories = (0, 5, 0, 0)
    forest = random_forest(1, categories, 30, 60, 2, True)
    rows = random_rows(1, categories, 1000)
    values, _ = explain(forest, rows)
    for threads in (2, 3):
        np.testing.assert_array_equal(explain(forest, rows, threads)[0], values)
    np.testing.assert_array_equal(explain(forest, rows[7:8])[0][0], values[7])
    np.testing.assert_array_equal(explain(forest, np.asfortranarray(rows))[0], values)
    monkeypatch.setattr(room, "CALL_PRODUCTS", 1)
    monkeypatch.setattr(room, "CACHE_BYTES", 1)
    np.testing.assert_array_equal(explain(forest, rows)[0], values)


@settings(max_examples=10)
@given(SEEDS)
def test_a_feature_that_no_tree_asks_for_gets_nothing(seed):
    forest, rows = random_forest(seed, (0, 0, 0), 4, 15), random_rows(seed, (0,) * 5, 10)
    wider = replace(forest, feature=np.where(forest.feature >= 0, 2 * forest.feature, -1), set_words=np.zeros(5))
    values, _ = explain(wider, rows)
    assert not values[:, [1, 3]].any()
    np.testing.assert_array_equal(values[:, ::2], explain(forest, np.ascontiguousarray(rows[:, ::2]))[0])


@settings(max_examples=10)
@given(SEEDS)
def test_features_that_do_the_same_get_the_same(seed):
    """Every tree stands there twice, the second with two features exchanged: a row with equal values of both cannot tell them apart."""
    forest, rows = random_forest(seed, (0, 0, 0), 3, 15, wide=True), random_rows(seed, (0, 0, 0), 10)
    both = joined([forest, replace(forest, feature=np.array([1, 0, 2, -1])[forest.feature])])
    rows[:, 1] = rows[:, 0]
    values, _ = explain(both, rows)
    np.testing.assert_allclose(values[:, 0], values[:, 1], rtol=0.0, atol=1e-13)


def test_more_weight_at_a_leaf_that_a_row_reaches_by_one_feature_raises_that_feature():
    forest, row = by_hand(), np.array([[4.0, 1.0]])
    value = forest.value.copy()
    value[4] += 100.0
    more = replace(forest, value=value).with_node_values()
    assert (explain(more, row)[0] > explain(forest, row)[0]).all()


@pytest.mark.parametrize("depth", [40, 300])
def test_deep_trees_add_up_and_stay_exact(depth):
    """A chain that asks for another feature at every node, in both of the two ways to be hard: all go on, and none does."""
    n = 2 * depth + 1
    feature, child = np.full(n, -1), np.zeros(n, int)
    feature[0 : n - 1 : 2], child[0 : n - 1 : 2] = np.arange(depth), np.arange(1, n, 2)
    cover = np.ones(n)
    for node in range(n - 3, -1, -2):
        cover[node] = cover[node + 1] + cover[node + 2]
    forest = Forest(
        roots=np.array([0, n]), feature=feature, threshold=np.zeros(n), child=child, missing=np.full(n, STOP), sets=np.full(n, -1),
        words=np.zeros(0, np.uint64), set_words=np.zeros(depth), value=np.where(feature < 0, np.arange(n), 0.0)[:, None] / n, cover=cover,
        gain=np.zeros(n), output=np.zeros(1), n_outputs=1, start=np.zeros(1),
    ).with_node_values().check()  # fmt: skip
    # A right child that is a split stands behind the left one: node 2 i has the leaf 2 i + 1 on its left.
    rows = np.array([[1.0] * depth, [-1.0] * depth, [1.0, -1.0] * (depth // 2), [np.nan] * depth])
    values, base = explain(forest, rows)
    np.testing.assert_allclose(base + values.sum(axis=1), forest.raw(rows), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("features", [7, 31, 40, 100, 400])
def test_the_points_integrate_every_product_of_factors(features):
    """A product of factors t or t + (1 - t) z or (1 - t) z is linear in each z: at its worst all z are 0 or 1, and it is t^a (1 - t)^b."""
    points = quadrature(features)
    m = points.count[features]
    t, w = points.at[m, :m], points.weight[m, :m]
    for a in {*range(0, features, max(1, features // 13)), features - 1}:
        for b in {*range(0, features - a, max(1, features // 13)), features - 1 - a}:
            beta = np.exp(lgamma(a + 1) + lgamma(b + 1) - lgamma(a + b + 2))
            assert abs((w * t**a * (1.0 - t) ** b).sum() - beta) < 4e-15 + 2e-13 * beta


@pytest.mark.parametrize(
    ("kind", "classes", "more"),
    [(RandomForestClassifier, 2, {}), (RandomForestClassifier, 4, {}), (RandomForestClassifier, 3, {"voting": "hard"}),
     (RandomForestRegressor, 0, {}), (ExtraTreesRegressor, 0, {})],
)  # fmt: skip
def test_a_compact_forest_is_explained_as_its_general_form_is(kind, classes, more, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 4] = rng.integers(0, 6, 300)
    score = np.nan_to_num(X[:, 0]) + X[:, 4] % 2
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)) if classes else score
    model = kind(n_estimators=6, random_state=1, categorical_features=[4], **more).fit(X, y)
    compact_forest = model._voting(model.compact_forest_)
    new = X[:40].copy()
    new[0, 4], new[1] = 99, np.nan
    x = np.ascontiguousarray(new)
    x[0, 4] = -2
    quick = quick_form(compact_forest, compact_forest.n_trees).check()
    np.testing.assert_allclose(quick.raw(x), compact_forest.mean(x), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(quick.with_node_values().value, quick.value, rtol=0.0, atol=1e-12)
    values, base = explain(compact_forest, x, 2)
    of_forest, forest_base = explain(compact_forest.forest(), x)
    np.testing.assert_allclose(values, of_forest, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(base, forest_base, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(base + values.sum(axis=1), compact_forest.mean(x), rtol=0.0, atol=1e-12)
    monkeypatch.setattr(room, "FOREST_NODES", 1)
    np.testing.assert_allclose(explain(compact_forest, x)[0], values, rtol=0.0, atol=1e-15)


def test_a_compact_forest_of_single_leaves_and_one_without_trees():
    X = np.arange(20.0).reshape(10, 2)
    compact_forest = RandomForestRegressor(n_estimators=3, random_state=0, min_samples_leaf=10).fit(X, X[:, 0]).compact_forest_
    values, base = explain(compact_forest, X)
    assert not values.any()
    np.testing.assert_allclose(base, compact_forest.mean(X[:1])[0], rtol=1e-12)
    none = replace(
        compact_forest,
        nodes=compact_forest.nodes[:0],
        roots=compact_forest.roots[:1],
        mixed=compact_forest.mixed[:0],
        cover=compact_forest.cover[:0],
    )
    values, base = explain(none, X)
    assert values.shape == (10, 2, 1)
    assert base.tolist() == [0.0]


def test_no_trees_no_rows_and_single_leaves():
    empty = Forest.empty([0, 0], [2.0, 3.0])
    values, base = explain(empty, np.zeros((3, 2)))
    assert values.shape == (3, 2, 2)
    assert not values.any()
    assert base.tolist() == [2.0, 3.0]
    forest = random_forest(0, (0, 0), 2, 9)
    assert explain(forest, np.zeros((0, 2)))[0].shape == (0, 2, 1)
    leaves = random_forest(0, (0, 0), 2, 1)
    values, base = explain(leaves, np.zeros((3, 2)))
    assert not values.any()
    np.testing.assert_allclose(base, leaves.raw(np.zeros((1, 2)))[0], rtol=1e-15)


def test_a_table_of_other_features_is_refused():
    with pytest.raises(TableError, match="shape"):
        explain(random_forest(0, (0, 0), 2, 9), np.zeros((3, 4)))
