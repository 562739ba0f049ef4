"""DES-KNN and DES-clustering. Against DESlib: test_against_deslib.py."""

import numpy as np
import pytest

from woodwind.base.errors import ParameterError
from woodwind.selection.choice_diverse import MEASURES, apartness, good_and_apart, hits_of_cluster, learn_clusters, numbers_of, two_cuts
from woodwind.selection.facts import Region, SelectionFacts


def naive(hits, measure):
    """Pair by pair and row by row."""
    k, m = hits.shape
    out = np.zeros(m)
    for i in range(m):
        for j in range(m):
            if i == j:
                continue
            counts = {(a, b): sum(hits[n, i] == a and hits[n, j] == b for n in range(k)) for a in (True, False) for b in (True, False)}
            both, neither, first, second = counts[True, True], counts[False, False], counts[True, False], counts[False, True]
            if measure == "double_fault":
                out[i] -= neither / k
            elif measure == "ratio_of_errors":
                out[i] += (first + second) / neither if neither else 1e12
            else:
                below = both * neither + first * second
                out[i] -= (both * neither - first * second) / below if below else 0.0
    return out


@pytest.mark.parametrize("measure", MEASURES)
def test_apartness_is_a_sum_over_pairs(measure):
    hits = np.random.default_rng(0).uniform(size=(5, 9, 6)) < 0.6
    found = apartness(hits, measure)
    for query in range(5):
        assert found[query] == pytest.approx(naive(hits[query], measure), rel=1e-9)


def test_two_cuts_take_the_best_and_of_these_the_most_diverse():
    scores = np.array([[0.9, 0.8, 0.8, 0.7, 0.1]])
    diverse = np.array([[1.0, 5.0, 2.0, 9.0, 9.0]])
    assert two_cuts(scores, diverse, 3, 2).tolist() == [[False, True, True, False, False]]
    assert two_cuts(scores, diverse, 2, 1).tolist() == [[False, True, False, False, False]]  # the more diverse of the equals passed
    assert two_cuts(scores, np.zeros((1, 5)), 2, 1).tolist() == [[True, False, False, False, False]]


def test_queries_do_not_depend_on_each_other(monkeypatch):
    rng = np.random.default_rng(0)
    facts = SelectionFacts.of(rng.integers(0, 2, (30, 10)), rng.integers(0, 2, 30), 2)
    region = Region(rng.integers(0, 30, (40, 7)), np.ones((40, 7)))
    scores = facts.hits[region.neighbours].mean(axis=1)
    whole = good_and_apart(scores, facts, region, diversity="q")
    assert (whole.sum(axis=1) == 3).all()
    monkeypatch.setattr("woodwind.selection.choice_diverse.BLOCK_CELLS", 700)
    assert (good_and_apart(scores, facts, region, diversity="q") == whole).all()


def test_a_cluster_without_rows_has_no_accuracy():
    facts = SelectionFacts.of([[0, 1], [0, 0], [1, 1]], [0, 1, 1], 2)
    facts = facts.learning(learn_clusters(facts, np.array([0, 0, 2])))
    assert facts.trained.accuracy.tolist() == [[0.5, 0.0], [0.0, 0.0], [1.0, 1.0]]
    assert facts.trained.diversity.tolist() == [[-0.5, -0.5], [0.0, 0.0], [0.0, 0.0]]
    assert hits_of_cluster(facts, Region(np.array([[2], [0]]), np.zeros((2, 1)))).tolist() == [[1.0, 1.0], [0.5, 0.0]]


def test_numbers_and_measures_that_make_no_sense_are_refused():
    assert numbers_of(10, 0.5, 0.33) == (5, 4)
    with pytest.raises(ParameterError, match=r"Of 3 members, pct_accuracy=0\.2 leaves 0"):
        numbers_of(3, 0.2, 0.1)
    with pytest.raises(ParameterError, match=r"pct_diversity=0\.5 takes 5"):
        numbers_of(10, 0.3, 0.5)
    facts = SelectionFacts.of([[0, 1]], [0], 2)
    with pytest.raises(ParameterError, match="'double_fault', 'q', 'ratio_of_errors'"):
        learn_clusters(facts, np.zeros(1, int), diversity="DF")
