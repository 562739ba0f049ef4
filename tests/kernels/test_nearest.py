"""The nearest rows: the compiled search against a loop over all pairs."""

import numpy as np
import pytest

from reference import naive_nearest as naive
from woodwind.kernels.neighbours.nearest import nearest, nearest_of_all
from woodwind.selection.neighbours import EuclideanRows, Search


def both(queries, table, k, threads=1):
    found = EuclideanRows.of(table).near(queries, k, threads)
    return (found.neighbours, found.distances), naive.nearest(queries, table, k)


def of_all_pairs(queries, table, k):
    """The twin for more rows: the same sums, column by column."""
    squares = np.zeros((len(queries), len(table)))
    for d in range(table.shape[1]):
        squares += (queries[:, d, None] - table[:, d]) ** 2
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    return order, np.sqrt(np.take_along_axis(squares, order, axis=1))


def proven(queries, table, k):
    """What float32 finds, and for which queries it says that nothing was missed."""
    rows = EuclideanRows.of(table)
    queries = queries / rows.unit
    found = np.empty((len(queries), k), np.int64), np.empty((len(queries), k)), np.empty(len(queries), np.bool_)
    nearest(queries, rows.table, rows.centre, rows.panels, rows.rounding, *found)
    return found[0], found[2]


def alike(rng, n):
    """Rows that are all as far from zero, but for some that float32 cannot tell from that."""
    around = rng.normal(size=(n, 3))
    return around / np.sqrt((around**2).sum(axis=1, keepdims=True)) * (1.0 + 1e-9 * rng.permutation(n)[:, None])


HARD = {
    "two values": lambda rng, n, d: rng.integers(0, 2, (n, d)) * 1.0,
    "tenths": lambda rng, n, d: np.round(rng.normal(size=(n, d)), 1),
    "rows given several times": lambda rng, n, d: rng.normal(size=(7, d))[rng.integers(0, 7, n)],
    "far from zero": lambda rng, n, d: 1e6 + 1e-3 * rng.normal(size=(n, d)),
    "one value": lambda rng, n, d: np.full((n, d), 0.3),
    "heavy tails": lambda rng, n, d: rng.standard_cauchy(size=(n, d)) ** 3,
}


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


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize(("n_rows", "n_columns", "k"), [(1, 1, 1), (65, 1, 3), (130, 2, 130), (300, 5, 7), (200, 3, 70)])
def test_ties_and_cancellation_change_nothing(name, n_rows, n_columns, k):
    """Bit by bit, and for the selection rows themselves as queries too."""
    rng = np.random.default_rng(n_rows)
    table = HARD[name](rng, n_rows, n_columns)
    queries = np.vstack([HARD[name](rng, 9, n_columns), table[: min(4, n_rows)]])
    found, expected = both(queries, table, k), of_all_pairs(queries, table, k)
    np.testing.assert_array_equal(found[0][0], expected[0])
    np.testing.assert_array_equal(found[0][1], expected[1])
    np.testing.assert_array_equal(found[1][0], expected[0])


def test_what_float32_cannot_tell_apart_it_does_not_claim_to_know():
    rng = np.random.default_rng(4)
    table, queries = alike(rng, 400), np.zeros((6, 3)) + 1e-12 * rng.normal(size=(6, 3))
    found, sure = proven(queries, table, 5)
    assert not sure.any()
    assert (found != of_all_pairs(queries, table, 5)[0]).any()
    np.testing.assert_array_equal(EuclideanRows.of(table).near(queries, 5, 1).neighbours, of_all_pairs(queries, table, 5)[0])


@pytest.mark.parametrize("name", ["plain", *HARD])
def test_what_float32_claims_to_know_is_so(name):
    rng = np.random.default_rng(5)
    table, queries = ((HARD[name](rng, n, 4) if name in HARD else rng.normal(size=(n, 4))) for n in (300, 40))
    found, sure = proven(queries, table, 6)
    np.testing.assert_array_equal(found[sure], of_all_pairs(queries, table, 6)[0][sure])
    if name == "plain":  # else every row is measured twice, and nobody would notice but by the clock
        assert sure.all()


def test_every_row_measured_gives_the_same():
    rng = np.random.default_rng(6)
    table, queries = rng.integers(0, 3, (530, 3)) * 0.1, rng.integers(0, 3, (7, 3)) * 0.1
    rows, distances = np.empty((7, 20), np.int64), np.empty((7, 20))
    nearest_of_all(queries, np.ascontiguousarray(table.T), rows, distances)
    expected = naive.nearest(queries, table, 20)
    np.testing.assert_array_equal(rows, expected[0])
    np.testing.assert_array_equal(distances, expected[1])


@pytest.mark.parametrize("k", [4, 50])
@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
def test_queries_beyond_all_measure_have_the_first_rows_or_none(k):
    table = np.random.default_rng(7).normal(size=(50, 3))
    queries = np.array([[1e20, 0.0, 0.0], [1e200, 1e200, 0.0], [np.inf, 0.0, 0.0], [0.0, -np.inf, np.inf], [0.0, np.nan, 0.0]])
    found = EuclideanRows.of(table).near(queries, k, 1)
    np.testing.assert_array_equal(found.neighbours, [range(k)] * 4 + [[0] * k])
    np.testing.assert_array_equal(found.distances, np.repeat([[1e20], [np.inf], [np.inf], [np.inf], [np.nan]], k, axis=1))


def test_more_rows_may_be_asked_for_than_there_are_groups():
    """A bound by the least of 64 groups says nothing of the hundredth row."""
    rng = np.random.default_rng(8)
    table, queries = rng.normal(size=(700, 2)), rng.normal(size=(5, 2))
    for k in (61, 62, 63, 100, 400, 700):
        np.testing.assert_array_equal(EuclideanRows.of(table).near(queries, k, 1).neighbours, of_all_pairs(queries, table, k)[0])


@pytest.mark.compiled
def test_random_searches_are_those_of_all_pairs():
    """Numbers of rows about the edges of panels, words and scans."""
    rng = np.random.default_rng(9)
    for n_rows in (15, 16, 17, 63, 64, 65, 511, 513, 3071, 3073, 4097, 9000):
        for n_columns in (1, 2, 3, 20, 130):
            k = int(rng.integers(1, min(n_rows, 80) + 1))
            table, queries = (np.round(rng.normal(size=(n, n_columns)), int(rng.integers(1, 9))) for n in (n_rows, 37))
            found, expected = EuclideanRows.of(table).near(queries, k, 2), of_all_pairs(queries, table, k)
            np.testing.assert_array_equal(found.neighbours, expected[0])
            np.testing.assert_array_equal(found.distances, expected[1])


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
