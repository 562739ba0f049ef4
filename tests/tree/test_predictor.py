"""Every way to a score gives the same bits as the slow and obvious one."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_traverse as naive
from reference.forests import random_forest, random_rows
from woodwind.base.errors import TableError
from woodwind.kernels.predict.question_plan import BY_LEVEL, PLACES
from woodwind.tree.forest import Forest
from woodwind.tree.predictor import CHUNK, LEAST_ASKED, LEAST_PLANNED

KINDS = st.tuples(
    st.integers(0, 2**32),  # seed
    st.lists(st.sampled_from([0, 0, 0, 1, 5, 64, 65, 190, 254, 256, 400]), min_size=1, max_size=6).map(tuple),  # categories of each feature
    st.integers(0, 5),  # trees
    st.sampled_from([1, 2, 9, 40]),  # leaves
    st.sampled_from([(1, False), (3, False), (3, True), (1, True)]),  # outputs, vector
)


def draw(kind: Any, **more: Any) -> tuple[Forest, tuple[int, ...]]:
    seed, categories, n_trees, max_leaves, (n_outputs, vector) = kind
    return random_forest(seed, categories, n_trees, max_leaves, n_outputs, vector, **more), categories


@dataclass
class Column:
    values: np.ndarray
    category: bool

    def block(self, begin: int, end: int) -> np.ndarray:
        return self.values[begin:end]


@dataclass
class Table:
    """As little of a table as prediction needs."""

    columns: list[Column]
    n_rows: int
    matrix: np.ndarray | None = None


def table_of(rows: np.ndarray, categories: tuple[int, ...], dtype: Any = np.float64) -> Table:
    columns = []
    for f, count in enumerate(categories):
        values = np.where(np.isnan(rows[:, f]), -1, rows[:, f]).astype(np.int32) if count else rows[:, f].astype(dtype)
        columns.append(Column(values, count > 0))
    return Table(columns, len(rows))


@settings(max_examples=60, deadline=None)
@given(KINDS, st.sampled_from([np.float32, np.float64]), st.sampled_from([0.0, 0.3]))
def test_walk_and_sweep_equal_the_naive_walk(kind, dtype, missing):
    forest, categories = draw(kind)
    rows = random_rows(kind[0], categories, LEAST_ASKED + 3, dtype, missing)
    expected, nodes = naive.raw(forest, rows), naive.leaves(forest, rows)
    np.testing.assert_array_equal(forest.raw(rows), expected)  # few rows so far: they walk
    assert not forest.batch_predictor._question_plans
    forest.batch_predictor.question_plan(dtype)
    np.testing.assert_array_equal(forest.raw(rows), expected)
    np.testing.assert_array_equal(forest.leaves(rows), nodes)
    few = LEAST_ASKED - 1
    np.testing.assert_array_equal(forest.raw(rows[:few]), expected[:few])
    np.testing.assert_array_equal(forest.leaves(rows[:few]), nodes[:few])
    np.testing.assert_array_equal(forest.raw(rows[:3]), expected[:3])


def test_a_forest_is_planned_when_it_has_seen_enough_rows():
    forest = random_forest(3, (0, 0, 20), n_trees=4)
    rows = random_rows(4, (0, 0, 20), LEAST_PLANNED // 2, np.float64, 0.1)
    first = forest.raw(rows)
    assert not forest.batch_predictor._question_plans
    np.testing.assert_array_equal(forest.raw(rows), first)
    assert forest.batch_predictor._question_plans
    several = random_forest(3, (0, 0, 20), n_trees=4)
    ask = several.predictor()
    np.testing.assert_array_equal(np.concatenate([ask(part) for part in np.array_split(rows, 8)]), first)
    assert not several.batch_predictor._question_plans
    np.testing.assert_array_equal(ask(rows), first)
    assert several.batch_predictor._question_plans


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("categories", [(0, 0, 0), (0, 20, 0, 200), (30, 30)])
@pytest.mark.parametrize("max_leaves", [400, 1200])
def test_places_of_two_bytes_and_trees_too_large_for_a_plan(dtype, missing, categories, max_leaves):
    forest = random_forest(3, categories, n_trees=4, max_leaves=max_leaves, wide=True)
    at = forest.batch_predictor.question_plan(dtype).program.at
    assert (np.diff(at[:5, 1]) > PLACES).any() or any(categories)  # many tables of categories end a plan early
    assert at[:, 3].any() or max_leaves == 400
    rows = random_rows(4, categories, 700, dtype, missing)
    expected = np.concatenate([forest.raw(part) for part in np.array_split(rows, 700 // 20)])
    np.testing.assert_array_equal(forest.raw(rows), expected)
    np.testing.assert_array_equal(forest.raw(rows)[::50], naive.raw(forest, rows[::50]))
    np.testing.assert_array_equal(forest.leaves(rows)[::50], naive.leaves(forest, rows[::50]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("outputs", [(1, False), (3, True)])
@pytest.mark.parametrize("categories", [(0, 0, 0), (0, 20, 0)])
def test_symmetric_trees_are_asked_level_by_level(dtype, missing, outputs, categories):
    forest = random_forest(11, categories, 24, 511, *outputs, symmetric=True)
    program = forest.batch_predictor.question_plan(dtype).program
    special = program.at.reshape(2, -1, 4)[:, :-1, 3]
    assert (special[0, 1::2] == BY_LEVEL).all()  # all depths up to nine; without missing values, all of them
    assert (special[1, 1::2] == BY_LEVEL).sum() > 0  # otherwise those that stop nobody
    assert not (special[:, ::2] == BY_LEVEL).all()
    rows = random_rows(12, categories, 700, dtype, missing)
    np.testing.assert_array_equal(forest.raw(rows)[::30], naive.raw(forest, rows[::30]))
    np.testing.assert_array_equal(forest.leaves(rows)[::30], naive.leaves(forest, rows[::30]))


def test_a_tree_that_is_not_quite_symmetric_is_asked_node_by_node():
    forest = random_forest(13, (0, 0), 2, 255, symmetric=True)
    assert forest.batch_predictor.question_plan(np.float64).program.at[1, 3] == BY_LEVEL
    node = forest.roots[1] + 2
    for name, value in (("feature", 1 - forest.feature[node]), ("threshold", 0.5)):
        changed = getattr(forest, name).copy()
        changed[node] = value
        other = replace(forest, **{name: changed}).check()
        assert other.batch_predictor.question_plan(np.float64).program.at[1, 3] != BY_LEVEL
        rows = random_rows(14, (0, 0), 300)
        np.testing.assert_array_equal(other.raw(rows)[::20], naive.raw(other, rows[::20]))


def test_symmetric_trees_with_nodes_that_no_row_reached_are_asked_level_by_level_too():
    forest = random_forest(13, (0, 0), 2, 255, symmetric=True)
    begin = int(forest.roots[1])
    cover = forest.cover.copy()
    for node in (begin + 2, begin + 5, begin + 6):
        cover[node] = 0.0
    forest = replace(forest, cover=cover).check()
    assert forest.batch_predictor.question_plan(np.float64).program.at[1, 3] == BY_LEVEL
    rows = random_rows(14, (0, 0), 300, missing=0.0)
    np.testing.assert_array_equal(forest.raw(rows)[::20], naive.raw(forest, rows[::20]))
    np.testing.assert_array_equal(forest.leaves(rows)[::20], naive.leaves(forest, rows[::20]))


def test_more_thresholds_than_codes_are_walked():
    forest = random_forest(5, (0,), n_trees=40, max_leaves=60, wide=True)
    assert np.unique(forest.threshold[forest.feature == 0]).size > 300
    rows = random_rows(6, (0,), 200)
    np.testing.assert_array_equal(forest.raw(rows), naive.raw(forest, rows))


@pytest.mark.parametrize("scale", [1.0, 1e-45, 1e-310, 1e30, 1e306])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thresholds_of_any_size_and_skew_are_told_apart(scale, dtype):
    forest = random_forest(7, (0, 0), n_trees=12, max_leaves=30, wide=True)
    with np.errstate(over="ignore"):
        skewed = np.sign(forest.threshold) * np.exp(5 * np.abs(forest.threshold)) * scale
    forest = Forest(**{**vars(forest), "threshold": np.clip(skewed, -1e308, 1e308)} | {"n_outputs": 1}).check()
    rng = np.random.default_rng(0)
    rows = rng.choice(forest.threshold[forest.feature >= 0], (300, 2))
    rows = np.nextafter(rows, rng.choice([-np.inf, 0, np.inf], rows.shape))
    with np.errstate(over="ignore"):
        rows = rows.astype(dtype)
    np.testing.assert_array_equal(forest.raw(rows), naive.raw(forest, rows))


@settings(max_examples=25, deadline=None)
@given(KINDS, st.integers(1, 1500), st.integers(1, 3))
def test_bits_do_not_depend_on_threads_or_on_other_rows(kind, n, threads):
    forest, categories = draw(kind)
    rows = random_rows(1, categories, n, np.float32, 0.01)
    together = forest.raw(rows, threads=threads)
    np.testing.assert_array_equal(together, forest.raw(rows, threads=1))
    cut = n // 3
    np.testing.assert_array_equal(together, np.concatenate([forest.raw(rows[:cut]), forest.raw(rows[cut:])]))


def test_threads_share_a_large_table():
    forest = random_forest(2, (0, 0, 3), n_trees=20, max_leaves=20)
    rows = random_rows(2, (0, 0, 3), 9000)
    np.testing.assert_array_equal(forest.raw(rows, threads=4), forest.raw(rows))
    np.testing.assert_array_equal(forest.leaves(rows, threads=4), forest.leaves(rows))


@settings(max_examples=30, deadline=None)
@given(KINDS)
def test_predictor_of_one_row_and_of_a_block_equals_raw(kind):
    forest, categories = draw(kind)
    rows = random_rows(1, categories, 40)
    predict = forest.predictor()
    expected = forest.raw(rows)
    np.testing.assert_array_equal(predict(rows), expected)
    np.testing.assert_array_equal(predict(rows[:5]), expected[:5])
    np.testing.assert_array_equal(predict(rows[0]), expected[0])
    np.testing.assert_array_equal(predict(rows[0].tolist()), expected[0])
    np.testing.assert_array_equal(predict(np.asfortranarray(rows)[1]), expected[1])
    with np.errstate(over="ignore"):  # what is beyond its range is infinite
        single = rows[:1].astype(np.float32)
    np.testing.assert_array_equal(predict(single[0]), forest.raw(single)[0])


def test_predictor_adds_to_nothing_that_it_keeps():
    forest = random_forest(1)
    predict, row = forest.predictor(), np.zeros(3)
    np.testing.assert_array_equal(predict(row), predict(row))


def test_predictor_survives_pickling_and_threads():
    forest = random_forest(1, n_trees=30, n_outputs=2)
    rows = random_rows(1, (0, 0, 5), 50)
    predict = forest.predictor()
    expected = predict(rows)
    with ThreadPoolExecutor(4) as pool:
        np.testing.assert_array_equal(list(pool.map(pickle.loads(pickle.dumps(predict)), rows)), expected)


def test_predictor_reads_numbers_of_any_kind():
    forest = random_forest(1, (0, 0))
    predict, expected = forest.predictor(), forest.raw(np.array([[1.0, 2.0]]))[0]
    unaligned = np.frombuffer(b"." + np.array([1.0, 2.0]).tobytes(), np.uint8)[1:].view(np.float64)
    assert not unaligned.flags.aligned
    for row in ([1, 2], (1.0, 2.0), np.array([1, 2], np.int8), np.array([1, 2], ">f8"), np.array([1, 9, 2, 9.0])[::2], unaligned):
        np.testing.assert_array_equal(predict(row), expected)
    np.testing.assert_array_equal(predict([[1, 2]]), [expected])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_table_of_columns_equals_its_matrix(dtype):
    categories = (0, 12, 0, 3)
    forest = random_forest(8, categories, n_trees=5, max_leaves=20)
    rows = random_rows(9, categories, CHUNK + 50, dtype)
    expected = forest.raw(rows)
    np.testing.assert_array_equal(forest.raw(table_of(rows, categories, dtype)), expected)
    np.testing.assert_array_equal(forest.raw(Table([], len(rows), rows)), expected)


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda rows: rows[::2],
        lambda rows: rows.astype(">f8"),
        lambda rows: np.pad(rows, ((0, 0), (0, 2)))[:, :2],
        lambda rows: np.clip(np.nan_to_num(rows), -9, 9).astype(np.int16),
        lambda rows: rows > 0,
    ],
)
def test_any_layout_and_type_of_matrix_is_read(change):
    forest = random_forest(8, (0, 0), n_trees=5, max_leaves=20)
    rows = change(random_rows(9, (0, 0), 300))
    np.testing.assert_array_equal(forest.raw(rows), naive.raw(forest, rows))


def test_rows_that_must_not_be_written_to_are_read():
    forest = random_forest(8, (0, 0))
    rows = random_rows(9, (0, 0), 100)
    expected = forest.raw(rows)
    rows.flags.writeable = False
    np.testing.assert_array_equal(forest.raw(rows), expected)
    np.testing.assert_array_equal(forest.predictor()(rows[0]), expected[0])
    assert not rows.flags.writeable


def test_reading_leaves_rows_writeable():
    forest = random_forest(8, (0, 0))
    rows = random_rows(9, (0, 0), 100)
    forest.raw(rows)
    forest.predictor()(rows)
    forest.predictor()(rows[0])
    assert rows.flags.writeable


def test_wrong_shapes_are_refused_by_name():
    forest = random_forest(8, (0, 0))
    with pytest.raises(TableError, match=r"\(n, 2\), not \(4, 3\)"):
        forest.raw(np.zeros((4, 3)))
    with pytest.raises(TableError, match=r"not \(4,\)"):
        forest.raw(np.zeros(4))
    with pytest.raises(TableError, match="numbers"):
        forest.raw(np.zeros((4, 2), "U3"))
    with pytest.raises(TableError, match="2 features, not 3"):
        forest.predictor()([1, 2, 3])
    with pytest.raises(TableError, match="2 features, the table has 1"):
        forest.raw(table_of(np.zeros((3, 1)), (0,)))


def test_no_rows_give_no_scores():
    forest = random_forest(8, (0, 0), n_outputs=3)
    assert forest.raw(np.zeros((0, 2))).shape == (0, 3)
    assert forest.leaves(np.zeros((0, 2))).shape == (0, 3)
