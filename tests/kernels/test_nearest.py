"""The nearest rows: the compiled search against a loop over all pairs."""

import numpy as np
import pytest

from woodwind.select.euclidean import EuclideanRows
from woodwind.select.neighbours import Search
from woodwind.testing import naive_nearest as naive


def both(queries, table, k, threads=1):
    found = EuclideanRows.of(table).near(queries, k, threads)
    return (found.neighbours, found.distances), naive.nearest(queries, table, k)


@pytest.mark.parametrize(("n_rows", "n_columns", "k"), [(1, 1, 1), (5, 3, 5), (40, 2, 7), (600, 4, 3), (520, 5, 40), (70, 60, 6)])
def test_the_nearest_rows_are_those_of_a_loop(n_rows, n_columns, k):
    rng = np.random.default_rng(n_rows)
    found, expected = both(rng.normal(size=(19, n_columns)), rng.normal(size=(n_rows, n_columns)), k)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


@pytest.mark.parametrize("n_columns", [2, 50])
def test_of_rows_that_are_equally_far_the_first_come_first(n_columns):
    """More ties than are measured once more: the second search has to settle them."""
    rng = np.random.default_rng(0)
    found, expected = both(rng.integers(0, 2, (21, n_columns)) * 1.0, rng.integers(0, 2, (700, 2)).repeat(n_columns // 2, 1) * 1.0, 9)
    np.testing.assert_array_equal(found[0], expected[0])


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_far_from_zero_and_of_any_size_they_are_still_found(scale):
    """Half a squared distance is the difference of large numbers here: float32 proves nothing, and float64 little."""
    rng = np.random.default_rng(1)
    table, queries = (1e4 + rng.normal(size=(300, 3))) * scale, (1e4 + rng.normal(size=(12, 3))) * scale
    found, expected = both(queries, table, 5)
    np.testing.assert_array_equal(found[0], expected[0])


def test_one_far_row_does_not_spoil_the_search():
    rng = np.random.default_rng(2)
    table = rng.normal(size=(400, 3))
    table[17] = 1e6
    found, expected = both(rng.normal(size=(9, 3)), table, 4)
    np.testing.assert_array_equal(found[0], expected[0])


@pytest.mark.compiled
def test_the_search_does_not_depend_on_threads_or_on_the_other_queries():
    rng = np.random.default_rng(3)
    table, queries = rng.normal(size=(9000, 6)), rng.normal(size=(400, 6))  # more rows than are looked through together
    found = np.argsort(((queries[:, None] - table) ** 2).sum(axis=2), axis=1)[:, :7]
    np.testing.assert_array_equal(Search(table).near(queries, 7).neighbours, found)
    whole = Search(table).near(queries, 7, 2)
    parts = [Search(table).near(queries[begin : begin + 33], 7) for begin in range(0, 400, 33)]
    np.testing.assert_array_equal(whole.neighbours, np.vstack([part.neighbours for part in parts]))
    np.testing.assert_array_equal(whole.distances, np.vstack([part.distances for part in parts]))
