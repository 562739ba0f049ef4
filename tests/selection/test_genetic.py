"""The genetic search."""

import numpy as np
import pytest

from woodwind.base.errors import ParameterError
from woodwind.selection.exhaustive import exhaustive
from woodwind.selection.genetic import GeneticSettings, _Search, genetic
from woodwind.selection.member_selection import score_of, single_scores
from woodwind.selection.objectives import objective_of

SHORT = GeneticSettings(generations=12, population=12)


def case(seed=0, n=80, m=10, k=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    predicted = rng.random((n, m, k)) + np.eye(k)[truth][:, None, :] * rng.random((m, 1))
    return predicted / predicted.sum(axis=2, keepdims=True), truth


@pytest.mark.parametrize("genes", ["choices", "weights"])
@pytest.mark.parametrize("metric", ["log_loss", "accuracy"])
def test_never_worse_than_the_best_member_and_never_getting_worse(metric, genes):
    for seed in range(4):
        objective = objective_of(*case(seed), metric)
        found = genetic(objective, seed, GeneticSettings(generations=6, population=8, genes=genes))
        assert found.score >= single_scores(objective).max()
        assert (np.diff(found.path) >= 0.0).all()
        assert len(found.path) == 7
        assert found.path[-1] == found.score == pytest.approx(score_of(objective, found.counts))
        assert set(np.unique(found.counts)) <= {0.0, 1.0}


def test_one_good_member_among_copies_of_a_bad_one_is_found():
    truth = np.arange(40) % 2
    good, bad = np.eye(2)[truth], np.eye(2)[1 - truth]
    found = genetic(objective_of(np.stack([bad, bad, bad, good, bad], axis=1), truth, "log_loss"), 0, SHORT)
    assert found.order.tolist() == [3]


@pytest.mark.parametrize("genes", ["choices", "weights"])
def test_given_time_it_finds_the_best_of_all(genes):
    objective = objective_of(*case(m=8), "log_loss")
    assert genetic(objective, 0, GeneticSettings(generations=40, population=30, genes=genes)).score == pytest.approx(
        exhaustive(objective).score
    )


def test_weights_stand_for_the_members_above_their_mean():
    search = _Search(objective_of(*case(m=4), "log_loss"), 0, GeneticSettings(genes="weights"), None)
    assert search._choice(np.array([0.1, 0.9, 0.6, 0.4])).tolist() == [0, 1, 1, 0]
    assert search._choice(np.zeros(4)).tolist() == search.best.tolist()


def test_the_seed_decides():
    objective = objective_of(*case(m=30), "log_loss")
    one, again, other = (genetic(objective, seed, SHORT) for seed in (1, 1, 2))
    assert np.array_equal(one.counts, again.counts)
    assert np.array_equal(one.path, again.path)
    assert not np.array_equal(one.path, other.path)


@pytest.mark.parametrize("genes", ["choices", "weights"])
def test_no_more_members_than_asked_for(genes):
    objective = objective_of(*case(), "log_loss")
    for most in (1, 3):
        assert len(genetic(objective, 0, GeneticSettings(generations=5, population=8, genes=genes), most).members) <= most


def test_a_pool_of_one():
    assert genetic(objective_of(*case(m=1), "log_loss"), 0, SHORT).order.tolist() == [0]


def test_an_elite_as_large_as_the_population_is_refused():
    with pytest.raises(ParameterError, match="an elite of at least 1 and less than the population"):
        GeneticSettings(population=4, elite=4)
