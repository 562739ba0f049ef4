"""Targets as losses take them."""

import numpy as np
import pytest

from woodwind import DataError
from woodwind.base.errors import TargetError
from woodwind.estimators.base.target import BLOCK, Target, missing_positions, one_dimension, read_labels, read_regression_target


def test_classes_are_in_order_and_rows_have_their_numbers():
    target = read_labels(["b", "a", "c", "a"], "Oboe")
    assert target.classes.tolist() == ["a", "b", "c"]
    assert target.y.tolist() == [1, 0, 2, 0]
    assert target.labels().tolist() == ["b", "a", "c", "a"]
    assert target.at(np.array([2, 2])).labels().tolist() == ["c", "c"]
    assert (target.n_rows, target.n_classes) == (4, 3)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float32", "float64", "U3", "S3", "object", "M8[D]"])
def test_labels_are_numbered_as_by_sorting_them(dtype):
    rng = np.random.default_rng(0)
    for high in (2, 7, 100_000):
        whole = rng.integers(0, high, 500) - (high // 2 if dtype in ("int64", "float32", "float64") else 0)
        array = whole.astype(dtype) if dtype != "object" else np.array([f"k{k}" for k in whole], object)
        array = array + np.uint64(2**63) if dtype == "uint64" else array
        target = read_labels(array[:40], "Oboe")
        classes, positions = np.unique(array[:40], return_inverse=True)
        assert target.classes.dtype == classes.dtype
        assert np.array_equal(target.classes, classes)
        assert np.array_equal(target.y, positions)


def test_known_classes_keep_their_numbers():
    known = np.array(["a", "b", "c"])
    assert read_labels(["c", "c"], "Oboe", known).y.tolist() == [2, 2]
    assert read_labels(np.array(["c", "b"], object), "Oboe", known).y.tolist() == [2, 1]
    with pytest.raises(TargetError, match=r"\['z'\] are not among"):
        read_labels(["c", "z"], "Oboe", known)


def test_objects_become_the_type_that_they_are():
    assert read_labels(np.array([1, 2, 1], object), "Oboe").classes.dtype == np.int64
    assert read_labels(np.array([True, False], object), "Oboe").classes.dtype == bool
    assert read_labels(np.array([1.0, 2], object), "Oboe").classes.dtype == np.float64
    assert read_labels(np.array([10**30, 1], object), "Oboe").classes.tolist() == [1, 10**30]
    assert read_labels([b"x", b"y"], "Oboe").classes.tolist() == [b"x", b"y"]


def test_numbers_are_doubles():
    for given in ([1, 2], np.array([True, False]), np.array([1, 2.5], object), np.float32([1, 2])):
        assert read_regression_target(given, "Oboe").y.dtype == np.float64
    assert read_regression_target([1, 2], "Oboe").classes is None


def test_the_target_of_the_caller_is_not_shared():
    y = np.arange(3.0)
    assert not np.shares_memory(read_regression_target(y, "Oboe").y, y)


def test_missing_values_of_every_kind():
    array = np.array([None, float("nan"), "a", 1, np.datetime64("NaT")], object)
    assert missing_positions(array)[:4].tolist() == [True, True, False, False]
    assert missing_positions(np.array(["2024", "NaT"], "M8[D]")).tolist() == [False, True]
    assert not missing_positions(np.arange(3)).any()


def test_one_dimension_names_what_it_reads():
    with pytest.raises(DataError, match="Oboe: groups should be a 1d array"):
        one_dimension("abc", "Oboe", "groups")


@pytest.mark.parametrize(("n_classes", "kind"), [(2, np.uint8), (256, np.uint8), (257, np.int32), (300, np.int32)])
@pytest.mark.parametrize("as_labels", [np.asarray, lambda k: k * 1000, lambda k: k.astype(str), lambda k: k.astype(object)])
def test_class_numbers_are_as_small_as_they_can_be(n_classes, kind, as_labels):
    numbers = np.random.default_rng(0).permutation(np.repeat(np.arange(n_classes), 3))
    target = read_labels(as_labels(numbers), "Oboe")
    assert target.y.dtype == kind
    assert np.array_equal(target.labels(), as_labels(numbers))
    assert read_labels(as_labels(numbers[:1]), "Oboe", target.classes).y.dtype == kind
    assert target.at(np.arange(2)).y.dtype == kind


def test_labels_are_counted_block_by_block():
    y = np.zeros(2 * BLOCK + 5)
    y[BLOCK + 1 :] = -0.0  # equal to those before, of which the first gives its name to the class
    y[-1], y[BLOCK - 1] = 7.0, -3.0
    target = read_labels(y, "Oboe")
    assert target.classes.tolist() == [-3.0, 0.0, 7.0]
    assert not np.signbit(target.classes[1])
    assert np.array_equal(target.y, np.searchsorted([-3.0, 0.0, 7.0], y))


def test_classes_that_leave_and_come_have_other_numbers():
    target = Target(np.array([0, 2, 1], np.uint8), np.array(["a", "b", "c"]))
    more = target.renumbered([0, 1, 299], np.arange(300).astype(str))
    assert (more.y.dtype, more.y.tolist()) == (np.int32, [0, 299, 1])
    less = more.renumbered(np.arange(300) // 200, np.array(["x", "y"]))
    assert (less.y.dtype, less.y.tolist()) == (np.uint8, [0, 1, 0])


@pytest.mark.parametrize("labels", [[2.0**63, 2.0**63 + 4096], [-(2.0**64), -(2.0**64) + 8192], [-3.0, 60000.0]])
def test_float_labels_of_any_size_are_told_apart(labels):
    kind = np.float16 if labels[1] < 65504 and labels[0] > -9 else np.float64
    target = read_labels(np.array([*labels, *labels[::-1]], kind), "x")
    assert target.classes.tolist() == labels
    assert target.y.tolist() == [0, 1, 1, 0]
