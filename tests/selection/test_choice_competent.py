from itertools import combinations

import numpy as np
import pytest

from woodwind.base.errors import ParameterError
from woodwind.selection.choice_competent import Neighbourhood, bounds_of, competence_of, competent_and_diverse, diversity_from
from woodwind.selection.competence_probabilistic import by_potential, chance_of_reference, potential
from woodwind.selection.facts import Region, SelectionFacts


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([1.0, 1.0], (40, 8))
    truth = rng.integers(0, 2, 40)
    facts = SelectionFacts.of(probabilities.argmax(axis=2), truth, 2, probabilities)
    facts = facts.learning(chance_of_reference(facts))
    region = Region(np.array([rng.permutation(40)[:9] for _ in range(25)]), np.sort(rng.uniform(0, 2, (25, 9)), axis=1))
    return facts, region, by_potential(facts, region)


def mean_pairs(facts, region, query, members):
    """By definition, row by row and pair by pair."""
    weight = potential(region.distances[query])
    right = facts.trained[region.neighbours[query]]
    pairs = [(right[:, i], right[:, j]) for i, j in combinations(members, 2)]
    return np.mean([np.average(a * (1 - b) + b * (1 - a), weights=weight) for a, b in pairs])


def test_diversity_is_the_chance_that_exactly_one_is_right(case):
    facts, region, scores = case
    weight = potential(region.distances)
    position = Neighbourhood(weight / weight.sum(axis=1, keepdims=True), facts.trained[region.neighbours])
    assert competence_of(position) == pytest.approx(scores)
    found = diversity_from(position, scores, np.full(25, 3))
    assert found[4, 6] == pytest.approx(mean_pairs(facts, region, 4, (3, 6)))
    able = scores > 0.45
    bounds = bounds_of(able, position, "competence", None)
    for query in (0, 7, 13):
        assert bounds[query] == pytest.approx(mean_pairs(facts, region, query, np.flatnonzero(able[query])))


@pytest.mark.parametrize("objective", ["competence", "diversity"])
def test_the_bound_is_kept_and_hardly_any_choice_is_better(case, objective):
    facts, region, scores = case
    mask = competent_and_diverse(scores, facts, region, objective=objective, pct_members=3 / 8)
    losses = []
    for query in range(len(region)):
        able = np.flatnonzero(scores[query] > 0.5)
        chosen = np.flatnonzero(mask[query])
        assert set(chosen) <= set(able) or not able.size
        if len(able) <= 3:
            assert able.size == 0 or set(chosen) == set(able)
            continue
        competence = {some: scores[query, list(some)].mean() for some in combinations(able, 3)}
        diversity = {some: mean_pairs(facts, region, query, some) for some in combinations(able, 3)}
        goal, limit = (competence, diversity) if objective == "competence" else (diversity, competence)
        bound = mean_pairs(facts, region, query, able) if objective == "competence" else scores[query, able].mean()
        best = max(goal[some] for some in goal if limit[some] >= bound - 1e-12)
        assert limit[tuple(chosen)] >= bound - 0.02  # a greedy choice may end just below
        losses.append(best - goal[tuple(chosen)])
    assert len(losses) > 3
    assert np.mean(losses) < 0.02


def test_a_bound_of_nothing_takes_the_most_competent(case):
    facts, region, scores = case
    mask = competent_and_diverse(scores, facts, region, bound=0.0, pct_members=0.25)
    for query in range(len(region)):
        able = (scores[query] > 0.5).sum() or 8
        best = np.argsort(-scores[query])[: min(2, able)]
        assert set(np.flatnonzero(mask[query])) == set(best)


def test_queries_do_not_depend_on_each_other(case, monkeypatch):
    facts, region, scores = case
    whole = competent_and_diverse(scores, facts, region)
    monkeypatch.setattr("woodwind.selection.choice_competent.BLOCK_CELLS", 8 * 9 * 4)
    assert (competent_and_diverse(scores, facts, region) == whole).all()


@pytest.mark.parametrize("wrong", [{"objective": "both"}, {"pct_members": 0.0}, {"pct_members": 1.5}])
def test_options_that_make_no_sense_are_refused(case, wrong):
    facts, region, scores = case
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        competent_and_diverse(scores, facts, region, **wrong)
