import numpy as np
import pytest
from scipy.spatial.distance import cdist

from woodwind.base.errors import DataError, ParameterError
from woodwind.selection.combination import as_probabilities, class_totals, or_alike
from woodwind.selection.competence import behaviour_accuracy, class_counts, frienemy_mask, hardness, minority_accuracy
from woodwind.selection.facts import Region, SelectionFacts
from woodwind.selection.neighbours import Search
from woodwind.selection.regions import BalancedSearch, FastSearch, centres_of, profiles, without_itself

RNG = np.random.default_rng(0)
TABLE, QUERIES = RNG.normal(size=(90, 3)), RNG.normal(size=(20, 3))


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev", "cosine"])
def test_other_distances_are_those_of_scipy(metric):
    found = Search(TABLE, metric).near(QUERIES, 5)
    far = cdist(QUERIES, TABLE, metric)
    np.testing.assert_array_equal(found.neighbours, np.argsort(far, axis=1, kind="stable")[:, :5])
    np.testing.assert_allclose(found.distances, np.sort(far, axis=1)[:, :5])


def test_the_region_of_all_rows_has_their_distances_in_their_order():
    found = Search(TABLE).near(QUERIES, None)
    assert found.neighbours is None
    np.testing.assert_allclose(found.distances, cdist(QUERIES, TABLE))
    np.testing.assert_array_equal(found.rows()[3], np.arange(90))


def test_more_neighbours_than_rows_or_other_columns_are_refused():
    with pytest.raises(ParameterError, match="k must be from 1 to that, not 91"):
        Search(TABLE).near(QUERIES, 91)
    with pytest.raises(DataError, match="must have 3 columns"):
        Search(TABLE).near(QUERIES[:, :2], 3)


def test_every_class_has_its_part_and_the_rest_goes_to_the_nearest():
    truth = np.arange(90) % 3
    found = BalancedSearch(TABLE, truth).near(QUERIES, 8)
    far = cdist(QUERIES, TABLE)
    for query, rows in enumerate(found.neighbours):
        nearest = [sorted(np.flatnonzero(truth == label), key=lambda row: far[query, row]) for label in range(3)]
        first = sorted((row for own in nearest for row in own[:2]), key=lambda row: far[query, row])
        more = sorted((own[2] for own in nearest), key=lambda row: far[query, row])[:2]
        assert rows.tolist() == first + more


def test_a_class_with_too_few_rows_gives_what_it_has():
    found = BalancedSearch(TABLE, (np.arange(90) == 4).astype(int)).near(QUERIES, 6)
    assert found.k == 4
    assert (found.neighbours == 4).sum() == 20


def test_rows_are_not_their_own_neighbours_also_where_there_are_copies():
    table = np.repeat(TABLE[:10], 2, axis=0)
    region = without_itself(Search(table).near(table, 4))
    assert region.k == 3
    assert not (region.neighbours == np.arange(20)[:, None]).any()
    assert (region.neighbours[:, 0] == np.arange(20) ^ 1).all()


def test_centres_are_means_of_their_rows_and_the_same_for_the_same_seed():
    table = np.vstack([TABLE, TABLE + 20])
    centres = centres_of(table, 2, 5)
    np.testing.assert_allclose(np.sort(centres, axis=0), np.stack([TABLE.mean(axis=0), TABLE.mean(axis=0) + 20]))
    np.testing.assert_array_equal(centres, centres_of(table, 2, 5))
    assert len(centres_of(np.ones((5, 2)), 3, 0)) == 1


def test_a_fast_search_in_few_clusters_is_exact():
    found, exact = FastSearch.of(TABLE, 0).near(QUERIES, 7), Search(TABLE).near(QUERIES, 7)
    np.testing.assert_array_equal(found.neighbours, exact.neighbours)


def test_output_profiles_of_two_classes_have_one_number_for_each_member():
    probabilities = RNG.dirichlet([1, 1], (4, 3))
    np.testing.assert_array_equal(profiles(probabilities), probabilities[:, :, 0])
    assert profiles(RNG.dirichlet([1, 1, 1], (4, 3))).shape == (4, 9)


def test_frienemies_are_members_that_are_right_about_two_classes():
    """Rows 0 and 1 are of class 0, rows 2 and 3 of class 1. The first member knows class 0, the second a row of each, the third none."""
    votes = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 0], [0, 0, 0]])
    facts = SelectionFacts.of(votes, [0, 0, 1, 1], 2)
    region = Region(np.array([[0, 1, 2], [0, 1, 0], [1, 3, 3]]), np.ones((3, 3)))
    assert frienemy_mask(facts, region).tolist() == [[False, True, False], [True] * 3, [True] * 3]


def test_a_query_is_as_hard_as_its_neighbours_are_mixed():
    counts = class_counts(np.array([0, 0, 1, 2]), np.array([[0, 1, 2], [0, 1, 1], [1, 2, 3]]), 3)
    assert counts.tolist() == [[2, 1, 0], [3, 0, 0], [1, 1, 1]]
    np.testing.assert_allclose(hardness(counts), [1 / 3, 0, 2 / 3])


def test_rare_classes_weigh_more_also_where_exponentials_vanish():
    truth = np.array([0] * 2000 + [1] * 1000)
    votes = np.zeros((3000, 2), int)
    votes[:, 1] = 1
    region = Region(np.array([[0, 1, 2500]]), np.ones((1, 3)))
    assert minority_accuracy(SelectionFacts.of(votes, truth, 2), region).tolist() == [[0.0, 1.0]]


def test_behaviour_looks_at_rows_with_like_votes_and_at_all_where_there_are_none():
    facts = SelectionFacts.of([[0, 0], [1, 1], [0, 1]], [0, 0, 1], 2)
    region = Region(np.array([[0, 1, 2], [0, 1, 2]]), np.ones((2, 3)))
    scores = behaviour_accuracy(facts, region, np.array([[0, 0], [1, 0]]))
    np.testing.assert_allclose(scores, [[1.0, 1.0], [1 / 3, 2 / 3]])


def test_totals_of_many_classes_are_those_of_few_and_nothing_becomes_no_number():
    votes, weights = RNG.integers(0, 12, (30, 9)), RNG.normal(size=(30, 9))
    totals = class_totals(votes, weights, 12)
    expected = np.stack([np.where(votes == label, weights, 0).sum(axis=1) for label in range(12)], axis=1)
    np.testing.assert_allclose(totals, expected, atol=1e-12)
    few = np.stack([np.where(votes % 3 == label, weights, 0).sum(axis=1) for label in range(3)], axis=1)
    np.testing.assert_allclose(class_totals(votes % 3, weights, 3), few, atol=1e-12)
    assert as_probabilities(np.array([[0.0, -1.0], [0.0, 0.0], [-3.0, -1.0], [1.0, 3.0]])).tolist() == [
        [1, 0],
        [1, 0],
        [0, 1],
        [0.25, 0.75],
    ]
    assert or_alike(np.array([[0.0, 0.0], [0.0, 2.0]])).tolist() == [[1, 1], [0, 2]]
