"""Sources of competence, and how they come to the query. Against DESlib: test_against_deslib.py."""

import numpy as np
import pytest
from scipy import stats

from woodwind.base.errors import DataError
from woodwind.selection.competence_probabilistic import (
    by_potential,
    chance_of_reference,
    entropy_and_hit,
    exponential,
    least_lead,
    logarithmic,
    potential,
    signed_divergence,
)
from woodwind.selection.facts import Region, SelectionFacts

SOURCES = (chance_of_reference, entropy_and_hit, signed_divergence, logarithmic, exponential, least_lead)


def facts_of(probabilities, truth):
    probabilities = np.asarray(probabilities, float)
    return SelectionFacts.of(probabilities.argmax(axis=2), truth, probabilities.shape[2], probabilities)


def test_the_reference_is_right_as_often_as_in_a_game_of_chance():
    probabilities = np.array([0.5, 0.3, 0.2])
    rng = np.random.default_rng(0)
    drawn = np.stack([stats.beta(3 * s, 3 - 3 * s).rvs(200_000, random_state=rng) for s in probabilities], axis=1)
    played = (drawn.argmax(axis=1)[:, None] == np.arange(3)).mean(axis=0)
    found = chance_of_reference(facts_of([[probabilities]] * 3, [0, 1, 2]))[:, 0]
    assert found == pytest.approx(played, abs=0.01)  # an integral over 20 points
    assert found.sum() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_logarithmic_and_exponential_go_through_the_same_three_points(n_classes):
    ends = np.zeros((3, 1, n_classes))
    ends[0, 0, 1] = ends[2, 0, 0] = 1.0
    ends[1, 0] = 1.0 / n_classes
    for source in (logarithmic, exponential):
        assert source(facts_of(ends, [0, 0, 0]))[:, 0] == pytest.approx([-1.0, 0.0, 1.0], abs=1e-12)


def test_signs_say_who_is_right():
    rng = np.random.default_rng(0)
    facts = facts_of(rng.dirichlet([1.0, 1.0, 1.0], (50, 4)), rng.integers(0, 3, 50))
    for source in (entropy_and_hit, signed_divergence, least_lead):
        assert ((source(facts) > 0) == facts.hits).all()


def test_divergence_and_entropy_of_one_row_by_hand():
    facts = facts_of([[[0.75, 0.25], [0.25, 0.75]]], [0])
    entropy = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert entropy_and_hit(facts)[0] == pytest.approx([entropy + 1.0, entropy - 1.0])
    assert signed_divergence(facts)[0] == pytest.approx([1.0 - entropy, entropy - 1.0])
    assert least_lead(facts)[0] == pytest.approx([0.5, -0.5])


@pytest.mark.parametrize("source", SOURCES)
def test_one_class_is_always_right(source):
    assert (source(facts_of(np.ones((4, 2, 1)), [0, 0, 0, 0])) > 0).all()


@pytest.mark.parametrize("source", SOURCES)
def test_votes_alone_are_not_enough(source):
    with pytest.raises(DataError, match="probabilities"):
        source(SelectionFacts.of([[0, 1]], [0], 2))


def test_near_rows_count_more_and_far_ones_alike():
    facts = facts_of([[[0.9, 0.1]], [[0.4, 0.6]]], [0, 0]).learning(np.array([[1.0], [0.0]]))
    distances = np.array([[0.0, 1.0], [1.0, 0.0], [100.0, 200.0]])
    e = np.exp(-1.0)
    wanted = [1 / (1 + e), e / (1 + e), 0.5]
    assert by_potential(facts, Region(None, distances))[:, 0] == pytest.approx(wanted)
    assert by_potential(facts, Region(np.array([[0, 1]] * 3), distances))[:, 0] == pytest.approx(wanted)
    assert potential(distances).min() == 1e-20
