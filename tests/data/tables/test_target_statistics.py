"""Target statistics: earlier rows only in training, all rows afterwards."""

import numpy as np
import pytest

from woodwind.base.errors import DataError
from woodwind.data.tables.table import MISSING, UNSEEN
from woodwind.data.tables.target_statistics import StatisticsTarget, TargetStatistics, prior_strength


def of(y, weight=None, classes=()):
    return StatisticsTarget(np.asarray(y), np.arange(len(y)), weight, classes)


def learned(target, categories, n_categories, **how):
    return TargetStatistics.learn(target, np.array(categories, np.int32), n_categories, **how)


def ordered(target, statistics, categories, order):
    return statistics.ordered(target, np.array(categories, np.int32), np.array(order))


def test_a_row_knows_the_earlier_rows_of_its_category_only():
    """Rows in the order 3, 0, 1, 2, 4: category 0 has the targets 1 (row 3), 0 (row 0) and 1 (row 2), category 1 those of rows 1 and 4."""
    target = of([0, 1, 1, 1, 0], classes=(1,))
    categories = [0, 1, 0, 0, 1]
    statistics = learned(target, categories, 2, prior=0.5, strength=1.0)
    means, counts = ordered(target, statistics, categories, [3, 0, 1, 2, 4])
    assert means[0].tolist() == [(1 + 0.5) / 2, 0.5, (1 + 0.5) / 3, 0.5, (1 + 0.5) / 2]
    assert counts.tolist() == [1, 0, 2, 0, 1]


def test_a_statistic_does_not_depend_on_its_own_target_nor_on_those_of_later_rows():
    rng = np.random.default_rng(0)
    y, categories, order = rng.normal(size=200), rng.integers(0, 9, 200).astype(np.int32), rng.permutation(200)
    target = of(y)
    statistics = learned(target, categories, 9)
    means, _ = ordered(target, statistics, categories, order)
    later = y.copy()
    later[order[100:]] = rng.normal(size=100)
    other, _ = ordered(of(later), statistics, categories, order)
    assert np.array_equal(means[0, order[:101]], other[0, order[:101]])
    assert not np.array_equal(means[0, order[101:]], other[0, order[101:]])


def test_the_table_of_later_rows_is_that_of_a_group_by():
    """As in a saved model of CatBoost: counts by category, and (positives + prior) / (total + 1) for a prior of one half."""
    rng = np.random.default_rng(1)
    categories, y = rng.integers(0, 20, 500), rng.integers(0, 2, 500)
    statistics = learned(of(y, classes=(1,)), categories, 20, prior=0.5, strength=1.0)
    assert np.array_equal(statistics.counts[:20], np.bincount(categories, minlength=20))
    assert np.array_equal(statistics.sums[0, :20], np.bincount(categories, y, minlength=20))
    assert np.array_equal(statistics.means[0, :20], (statistics.sums[0, :20] + 0.5) / (statistics.counts[:20] + 1))


def test_a_category_that_was_never_seen_has_the_prior_and_missing_is_a_category():
    categories = np.array([0, 0, MISSING, MISSING, MISSING], np.int32)
    statistics = learned(of(np.array([1.0, 3.0, 5.0, 6.0, 10.0])), categories, 1, strength=1.0)
    assert statistics.prior.tolist() == [5.0]
    assert statistics.means[0, [0, MISSING, UNSEEN]].tolist() == [(4 + 5) / 3, (21 + 5) / 4, 5.0]
    assert statistics.counts[[0, MISSING, UNSEEN]].tolist() == [2, 3, 0]


def test_rows_outside_of_the_order_know_all_rows_that_were_learned_from():
    y, categories = np.arange(6.0), np.array([0, 1, 0, 1, 0, UNSEEN], np.int32)
    rows = np.array([0, 1, 2, 3])
    target = StatisticsTarget(y, rows)
    statistics = TargetStatistics.learn(target, categories, 2, strength=1.0)
    means, counts = statistics.ordered(target, categories, rows)
    assert means[0].tolist() == [1.5, 1.5, (0 + 1.5) / 2, (1 + 1.5) / 2, (0 + 2 + 1.5) / 3, 1.5]
    assert counts.tolist() == [0, 0, 1, 1, 2, 0]


def test_out_of_fold_a_row_knows_the_rows_of_the_other_folds():
    y, categories, folds = np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.array([0, 0, 0, 1, 0], np.int32), np.array([0, 1, 1, 0, -1])
    target = StatisticsTarget(y, np.arange(4))
    statistics = TargetStatistics.learn(target, categories, 2, prior=3.0, strength=1.0)
    means, counts = statistics.out_of_fold(target, categories, folds)
    assert means[0].tolist() == [(6 + 3) / 3, (1 + 3) / 2, (1 + 3) / 2, 3.0, (7 + 3) / 4]
    assert counts.tolist() == [2, 1, 1, 0, 3]


def test_a_weight_of_two_counts_as_two_rows_for_all_later_rows():
    """For the rows of the order themselves there is one statistic, which two copies of a row would not share: the second sees the first."""
    y, categories, weight = np.array([1.0, 2.0, 4.0, 8.0]), [0, 0, 1, 1], np.array([1.0, 2.0, 2.0, 1.0])
    twice = np.array([0, 1, 1, 2, 2, 3])
    one = learned(of(y, weight), categories, 2)
    other = learned(of(y[twice]), np.array(categories)[twice], 2)
    for name in ("sums", "counts", "prior", "strength"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    means, counts = ordered(of(y, weight), one, categories, [1, 0, 3, 2])
    assert counts.tolist() == [2, 0, 1, 0]
    assert means[0, 0] == (4 + one.prior[0] * one.strength[0]) / (2 + one.strength[0])


def test_the_order_of_rows_does_not_matter_to_the_table_of_later_rows():
    rng = np.random.default_rng(2)
    y, categories, weight = 1e6 * rng.normal(size=3000), rng.integers(0, 300, 3000), rng.random(3000)
    order = rng.permutation(3000)
    one, other = (learned(of(y[rows], weight[rows]), categories[rows], 300) for rows in (np.arange(3000), order))
    assert np.array_equal(one.sums, other.sums)
    assert np.array_equal(one.counts, other.counts)
    assert np.array_equal(one.means, other.means)


def test_several_classes_have_a_share_each():
    y, categories = np.array([0, 1, 2, 2, 1]), [0, 0, 0, 1, 1]
    statistics = learned(of(y, classes=(0, 1, 2)), categories, 2, strength=0.0)
    assert statistics.means[:, :2].T.tolist() == pytest.approx(np.array([[1 / 3, 1 / 3, 1 / 3], [0, 1 / 2, 1 / 2]]))
    assert statistics.means[:, UNSEEN] == pytest.approx([0.2, 0.4, 0.4])
    assert statistics.means.sum(axis=0) == pytest.approx(1.0)


def test_the_strength_of_the_prior_is_the_noise_over_the_spread_of_categories():
    rng = np.random.default_rng(0)
    categories = np.repeat(np.arange(2000), 10)
    y = rng.normal(size=2000)[categories] + 2.0 * rng.normal(size=20_000)
    assert learned(of(y), categories, 2000).strength[0] == pytest.approx(4.0, rel=0.1)
    # Where categories say nothing, or nothing can be known of them, the prior is as strong as all rows.
    assert learned(of(rng.normal(size=20_000)), categories, 2000).strength[0] > 100
    assert learned(of(y), np.arange(20_000), 20_000).strength[0] == 20_000
    assert prior_strength(np.array([4.0]), np.array([4.0]), 1.0, 0.0) == 4.0


def test_permutations_are_by_key_and_of_the_rows_given():
    rows = np.array([2, 3, 5, 7, 11, 13, 17])
    target = StatisticsTarget(np.arange(20.0), rows)
    assert sorted(target.order(1)) == rows.tolist()
    assert np.array_equal(target.order(1), target.order(1))
    assert not np.array_equal(target.order(1), target.order(1, 1))
    assert not np.array_equal(target.order(1), target.order(2))


def test_statistics_that_do_not_fit_together_are_refused():
    good = learned(of(np.arange(4.0)), [0, 0, 1, 1], 2)
    assert good.check() is good
    for sums, counts in ((good.sums[:, 1:], good.counts), (good.sums, -good.counts), (good.sums + np.inf, good.counts)):
        with pytest.raises(DataError):
            TargetStatistics(sums, counts, good.prior, good.strength).check()
    with pytest.raises(DataError, match="never seen"):
        TargetStatistics(good.sums + 1.0, good.counts, good.prior, good.strength).check()
