"""Which rows are held out: each once, groups whole, later rows never learned from."""

import numpy as np
import pytest

from woodwind.auto.training.splits import BLOCKS, LARGE_HELD_SHARE, fold_of_rows, folds_for
from woodwind.base.errors import DataError


def test_small_tables_hold_every_row_out_once():
    fold = fold_of_rows(0, 1000, None, None, None)
    assert np.bincount(fold).tolist() == [125] * 8


def test_larger_tables_have_fewer_folds():
    counts = [folds_for(n) for n in (10, 3_000, 10_000, 50_000, 100_000)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1


def test_classes_keep_their_shares():
    classes = np.repeat([0, 1], [900, 100])
    fold = fold_of_rows(0, 1000, classes, None, None)
    assert np.ptp(np.bincount(fold[classes == 1])) <= 1


def test_of_a_large_table_one_part_is_held_out():
    fold = fold_of_rows(0, 400_000, None, None, None)
    assert set(np.unique(fold)) == {-1, 0}
    assert (fold == 0).mean() == pytest.approx(LARGE_HELD_SHARE, abs=0.01)


def test_groups_stay_together():
    groups = np.random.default_rng(0).integers(0, 40, 2000)
    fold = fold_of_rows(3, 2000, None, groups, None)
    assert all(len(set(fold[groups == group])) == 1 for group in range(40))
    assert set(np.unique(fold)) == set(range(folds_for(2000)))


def test_few_groups_make_few_folds_without_gaps():
    groups = np.arange(300) % 3
    fold = fold_of_rows(0, 300, None, groups, None)
    assert sorted(set(fold)) == [0, 1, 2]


def test_blocks_of_time_follow_each_other():
    moments = np.random.default_rng(0).permutation(1000).astype(float)
    fold = fold_of_rows(0, 1000, None, None, moments)
    assert sorted(set(fold)) == list(range(-1, BLOCKS))
    for later in range(BLOCKS):
        assert moments[fold < later].max() < moments[fold == later].min()


def test_of_a_large_table_the_last_rows_in_time_are_held_out():
    moments = np.random.default_rng(0).permutation(400_000).astype(float)
    fold = fold_of_rows(0, 400_000, None, None, moments)
    assert set(np.unique(fold)) == {-1, 0}
    assert (fold == 0).mean() == pytest.approx(LARGE_HELD_SHARE, abs=0.01)
    assert moments[fold < 0].max() < moments[fold == 0].min()


@pytest.mark.parametrize("n", [1_000, 100_000])
def test_of_few_moments_the_last_is_held_out(n):
    moments = np.where(np.arange(n) < 0.4 * n, 2023.0, 2024.0)
    fold = fold_of_rows(0, n, None, None, moments)
    assert np.array_equal(fold, np.where(moments == 2024.0, 0, -1))


def test_rows_of_one_moment_stay_together():
    moments = np.repeat(np.arange(20.0), 50)
    fold = fold_of_rows(0, 1000, None, None, moments)
    assert all(len(set(fold[moments == moment])) == 1 for moment in range(20))


@pytest.mark.parametrize(
    ("n", "classes", "groups", "moments", "words"),
    [
        (100, None, np.zeros(100, np.int64), None, "too few groups"),
        (100, None, None, np.zeros(100), "too few different values"),
        (2, np.array([0, 1]), None, None, "Nothing can be held out"),
    ],
)
def test_what_cannot_be_split_is_refused(n, classes, groups, moments, words):
    with pytest.raises(DataError, match=words):
        fold_of_rows(0, n, classes, groups, moments)
