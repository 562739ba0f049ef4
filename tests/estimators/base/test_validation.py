"""Rows held out: by class, by group, by key."""

import numpy as np
import pytest

from woodwind import DataError
from woodwind.ensemble.held_out import fold_numbers, hold_out
from woodwind.estimators.base.splits import read_eval_sets, read_groups


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("n", [2, 3, 10, 1001])
def test_about_a_share_is_held_out_and_never_none_or_all(n, share):
    held = hold_out(0, n, share)
    assert 1 <= held.sum() <= n - 1
    assert abs(held.sum() - share * n) <= 1


def test_the_draw_is_by_seed():
    assert np.array_equal(hold_out(3, 500, 0.2), hold_out(3, 500, 0.2))
    assert not np.array_equal(hold_out(3, 500, 0.2), hold_out(4, 500, 0.2))


def test_every_class_is_held_out_in_its_share():
    classes = np.repeat([0, 1, 2], [700, 250, 50])
    held = hold_out(0, 1000, 0.1, classes)
    assert np.bincount(classes[held]).tolist() == pytest.approx([70, 25, 5], abs=1)


@pytest.mark.parametrize("seed", range(20))
def test_training_keeps_a_row_of_every_class(seed):
    classes = np.array([0] * 10 + [1] * 2 + [2] + [3] * 3)
    held = hold_out(seed, len(classes), 0.7, classes)
    assert set(classes[~held]) == {0, 1, 2, 3}
    assert held.any()


def test_with_very_few_rows_one_is_held_out():
    assert hold_out(0, 3, 0.01, np.array([0, 0, 1])).sum() == 1


def test_whole_groups_are_held_out():
    groups = np.random.default_rng(0).integers(0, 40, 1000)
    held = hold_out(0, 1000, 0.2, None, groups)
    assert all(len(set(held[groups == group])) == 1 for group in range(40))
    assert 0.1 < held.mean() < 0.3


def test_a_group_that_alone_has_a_class_stays():
    groups = np.repeat(np.arange(10), 10)
    classes = (groups == 3).astype(int)
    for seed in range(10):
        held = hold_out(seed, 100, 0.3, classes, groups)
        assert not held[groups == 3].any()
        assert held.any()


@pytest.mark.parametrize("count", [2, 5])
def test_folds_are_of_equal_size_and_cover_all_rows(count):
    sizes = np.bincount(fold_numbers(0, 103, count))
    assert sizes.sum() == 103
    assert sizes.max() - sizes.min() <= 1


def test_classes_are_spread_over_the_folds():
    classes = np.repeat([0, 1, 2], [60, 25, 15])
    folds = fold_numbers(0, 100, 5, classes)
    for fold in range(5):
        assert np.bincount(classes[folds == fold]).tolist() == pytest.approx([12, 5, 3], abs=1)


def test_a_class_of_one_row_is_never_held_out():
    classes = np.array([0] * 20 + [1] * 20 + [2])
    assert fold_numbers(0, 41, 5, classes)[-1] == -1


def test_groups_are_in_one_fold_each():
    groups = np.random.default_rng(0).integers(0, 17, 200)
    folds = fold_numbers(0, 200, 5, None, groups)
    assert all(len(set(folds[groups == group])) == 1 for group in range(17))
    assert set(folds) == set(range(5))
    assert set(fold_numbers(0, 200, 5, None, groups % 3)) == {0, 1, 2}


@pytest.mark.parametrize("groups", [["x", "y", "x"], [3, 9, 3], np.array([1.5, 2.5, 1.5]), ["é", "z", "é"]])
def test_groups_may_be_anything(groups):
    found = read_groups(groups, 3, "Oboe")
    assert found[0] == found[2] != found[1]


def test_no_groups_are_none():
    assert read_groups(None, 3, "Oboe") is None


def test_validation_data_in_every_form():
    assert read_eval_sets(("X", "y"), "Oboe") == {"validation_0": ("X", "y", None)}
    assert read_eval_sets(["X", "y", "w"], "Oboe") == {"validation_0": ("X", "y", "w")}
    assert read_eval_sets([("X", "y")], "Oboe") == {"validation_0": ("X", "y", None)}
    assert read_eval_sets([("X", "y"), ("Z", "y", "w")], "Oboe") == {"validation_0": ("X", "y", None), "validation_1": ("Z", "y", "w")}
    assert read_eval_sets({"june": ("X", "y"), "july": ("Z", "y")}, "Oboe") == {"june": ("X", "y", None), "july": ("Z", "y", None)}
    for wrong in ({}, [], {"training": ("X", "y")}, [("X", "y"), "y"], {"june": "X"}):
        with pytest.raises(DataError, match="Oboe: eval_set must"):
            read_eval_sets(wrong, "Oboe")
