"""Standard errors of rows that are not independent of each other."""

import numpy as np
import pytest

from woodwind.metrics.clusters import MOST, clusters_of_groups, clusters_of_time
from woodwind.metrics.named import METRICS

RNG = np.random.default_rng(0)


def test_groups_stay_together_and_are_not_too_many():
    groups = RNG.integers(0, 100, size=1000) * 7
    found = clusters_of_groups(groups)
    assert len(np.unique(found)) == MOST
    assert all(len(np.unique(found[groups == group])) == 1 for group in np.unique(groups))
    assert np.array_equal(clusters_of_groups(np.array([5, 2, 5])), [1, 0, 1])


def test_stretches_of_time_have_their_share_of_the_rows_that_are_scored():
    moments = RNG.permutation(1000).astype(float)
    found = clusters_of_time(moments)
    assert np.bincount(found).tolist() == [1000 // MOST] * MOST
    assert (np.diff(found[np.argsort(moments)]) >= 0).all()
    late = clusters_of_time(moments, moments >= 600.0)[moments >= 600.0]
    assert np.bincount(late).tolist() == [400 // MOST] * MOST
    same = clusters_of_time(np.repeat([1.0, 2.0], 50))
    assert len(np.unique(same)) == 2


def test_the_error_of_a_mean_is_that_of_the_means_of_clusters():
    y, clusters = RNG.normal(size=400), np.repeat(np.arange(10), 40)
    means = np.abs(y).reshape(10, 40).mean(axis=1)
    found = METRICS["mae"].standard_error(y, np.zeros(400), None, clusters)
    assert found == pytest.approx(means.std(ddof=1) / np.sqrt(10))


@pytest.mark.parametrize("name", ["rmse", "median_absolute_error", "r2"])
def test_a_row_that_is_there_four_times_is_one_row(name):
    rng = np.random.default_rng(1)
    y = rng.normal(size=2000)
    predicted = y + rng.normal(size=2000)
    metric, groups = METRICS[name], np.tile(np.arange(2000), 4)
    alone, all_rows = metric.standard_error(y, predicted), np.tile(y, 4)
    naive = metric.standard_error(all_rows, np.tile(predicted, 4))
    found = metric.standard_error(all_rows, np.tile(predicted, 4), None, clusters_of_groups(groups))
    assert naive == pytest.approx(alone / 2.0, rel=0.25)  # of a median it is found from spacings, which copies change
    assert found == pytest.approx(alone, rel=0.5)
    assert found > 1.3 * naive


def test_a_cluster_without_which_nothing_can_be_said_is_passed_over():
    y = np.array([1, 1, 0, 0, 0, 0, 0, 0])
    predicted = np.array([0.9, 0.4, 0.5, 0.3, 0.2, 0.6, 0.1, 0.3])
    clusters = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    assert METRICS["auc"].standard_error(y, predicted, None, clusters) >= 0.0
    assert np.isnan(METRICS["auc"].standard_error(y, predicted, None, (clusters > 0).astype(np.int64)))
    assert METRICS["log_loss"].standard_error(y, predicted, None, np.zeros(8, np.int64)) == METRICS["log_loss"].standard_error(y, predicted)
