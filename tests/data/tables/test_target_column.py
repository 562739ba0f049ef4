"""What is asked of a target."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from woodwind.base.errors import TargetError
from woodwind.data.tables.target_column import missing_rows, read_target, read_truth

RNG = np.random.default_rng(0)


def target(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        (["no", "yes", "no"], "binary", ("no", "yes")),
        (["c", "a", "b"], "multiclass", ("a", "b", "c")),
        ([True, False, True], "binary", (False, True)),
        ([1, 0, 1], "binary", (0, 1)),
        ([-1, 1, 1], "binary", (-1, 1)),
        ([0.0, 1.0, 1.0], "binary", (0.0, 1.0)),
        (np.repeat([1, 2, 3], 50), "multiclass", (1, 2, 3)),
        (np.repeat([1, 2, 3, 5, 6, 7], 36), "multiclass", (1, 2, 3, 5, 6, 7)),
        (RNG.integers(1, 6, 1_000), "multiclass", (1, 2, 3, 4, 5)),
        (RNG.integers(0, 26, 5_000), "multiclass", tuple(range(26))),
        ([1, 2, 3], "regression", ()),
        (np.minimum(RNG.poisson(1.0, 10_000), 8), "regression", ()),
        (RNG.integers(1990, 2021, 5_000), "regression", ()),
        (RNG.integers(0, 10_000, 5_000), "regression", ()),
        ([0.5, 1.5, 0.5], "regression", ()),
        (RNG.normal(size=100), "regression", ()),
    ],
)
def test_the_task_follows_from_the_values(values, task, classes):
    read = read_target(target(values))
    assert (read.task, read.classes) == (task, classes)
    assert read.y.dtype == (np.float64 if task == "regression" else np.int32)
    expected = list(values) if task == "regression" else [classes.index(value) for value in values]
    assert read.y.tolist() == expected
    assert read.why.endswith(".")


def test_whole_numbers_say_how_to_decide_otherwise():
    assert 'task="regression"' in read_target(target([1, 0, 1])).why
    assert 'task="classification"' in read_target(target(range(100))).why
    assert "task" not in read_target(target(["a", "b"])).why


def test_the_task_can_be_said():
    assert read_target(target([1, 0, 1]), "regression").task == "regression"
    assert read_target(target(range(30)), "multiclass").classes == tuple(range(30))
    assert read_target(target([True, False]), "regression").y.tolist() == [1.0, 0.0]
    assert read_target(target(["b", "a"]), "classification").task == "binary"
    assert read_target(pa.array([1, 2]), "binary").y.tolist() == [0, 1]


@pytest.mark.parametrize("kind", [pa.dictionary(pa.int8(), pa.string()), pa.large_string(), pa.string()])
def test_labels_are_in_order_whatever_the_type(kind):
    column = pa.chunked_array([pa.array(["b", "a"]).cast(kind), pa.array(["c", "b"]).cast(kind)])
    read = read_target(column)
    assert read.classes == ("a", "b", "c")
    assert read.y.tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize(
    ("values", "task", "predicted"),
    [
        ([1.0, None, 2.0], "auto", "WW-T001: the target column 'y' is missing in 1 of 3 rows"),
        ([1.0, float("nan"), 2.0], "auto", "WW-T001: .*rows 2"),
        ([None, None], "auto", "WW-T001: .*every row"),
        ([], "auto", "WW-T001: .*no rows"),
        (["a", "a"], "auto", "WW-T002: .*'a' in every row"),
        ([1, 1], "auto", "WW-T002"),
        (["a", "b"], "regression", "WW-T003: .*text"),
        (["a", "b", "c"], "binary", "WW-T003: .*3 classes"),
        ([dt.date(2026, 1, 1)], "auto", "WW-T003: .*date32"),
        ([[1], [2]], "auto", "WW-T003: .*list"),
        ([1.5, float("inf")], "auto", "WW-T004: .*rows 2"),
        ([f"name {i}" for i in range(100)], "auto", "WW-T005: .*100 different"),
        ([1, 2], "survival", "WW-T006: .*'survival'"),
    ],
)
def test_targets_that_cannot_be_learnt(values, task, predicted):
    with pytest.raises(TargetError, match=predicted):
        read_target(target(values), task, "y")


def test_what_else_should_be_known():
    assert "single row" in read_target(target(["a", "a", "b"])).notes[0]
    assert "'?'" in read_target(target(["?", "a", "b", "?", "a", "b"])).notes[0]
    assert "same in every row" in read_target(target([0.5, 0.5])).notes[0]
    assert read_target(target(["a", "b"] * 5)).notes == ()


def test_missing_rows_are_found():
    assert missing_rows(target([1.0, None, float("nan")])).tolist() == [False, True, True]
    assert missing_rows(target(["a", None])).tolist() == [False, True]


@pytest.mark.parametrize(
    ("values", "classes", "numbers"),
    [
        (["no", "yes", "no"], ("no", "yes"), [0, 1, 0]),
        ([3, 1, 3], (1, 2, 3), [2, 0, 2]),
        ([1.0, 0.0], (0, 1), [1, 0]),
        (["1", "0"], (0, 1), [1, 0]),
        ([True, False], (False, True), [1, 0]),
        (pa.array(["b", "a"]).dictionary_encode(), ("a", "b"), [1, 0]),
        ([1, 2.5], (), [1.0, 2.5]),
        ([True, False], (), [1.0, 0.0]),
    ],
)
def test_the_truth_is_read_by_the_classes_of_a_model(values, classes, numbers):
    column = pa.chunked_array([values]) if isinstance(values, pa.Array) else target(values)
    assert read_truth(column, classes, "y").tolist() == numbers


@pytest.mark.parametrize(
    ("values", "classes", "words"),
    [
        (["no", "maybe"], ("no", "yes"), "T013: the target column 'y' has a label that the model does not know: 'maybe'"),
        (["a", "b"], (), "T003: the target column 'y' is of type string"),
        ([1.0, None], (), "T001: the target column 'y' is missing in 1 of 2 rows"),
        ([1.0, np.inf], (), "T004: the target column 'y' is infinite"),
    ],
)
def test_a_truth_that_a_model_cannot_be_judged_by_is_refused(values, classes, words):
    with pytest.raises(TargetError, match=words):
        read_truth(target(values), classes, "y")
