"""Targets as losses take them."""

import numpy as np
import pytest

from woodwind import DataError
from woodwind.base.errors import TargetError
from woodwind.estimators.target import missing_places, one_dimension, read_labels, read_numbers


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
        classes, places = np.unique(array[:40], return_inverse=True)
        assert target.classes.dtype == classes.dtype
        assert np.array_equal(target.classes, classes)
        assert np.array_equal(target.y, places)


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
        assert read_numbers(given, "Oboe").y.dtype == np.float64
    assert read_numbers([1, 2], "Oboe").classes is None


def test_the_target_of_the_caller_is_not_shared():
    y = np.arange(3.0)
    assert not np.shares_memory(read_numbers(y, "Oboe").y, y)


def test_missing_values_of_every_kind():
    array = np.array([None, float("nan"), "a", 1, np.datetime64("NaT")], object)
    assert missing_places(array)[:4].tolist() == [True, True, False, False]
    assert missing_places(np.array(["2024", "NaT"], "M8[D]")).tolist() == [False, True]
    assert not missing_places(np.arange(3)).any()


def test_one_dimension_names_what_it_reads():
    with pytest.raises(DataError, match="Oboe: groups should be a 1d array"):
        one_dimension("abc", "Oboe", "groups")
