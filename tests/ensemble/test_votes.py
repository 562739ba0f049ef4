"""Votes, and ties among them."""

import numpy as np
import pytest

from woodwind.ensemble.combine import ballot_fractions, ballots, tie_keys, winners


def total(votes, seed=0, n_classes=3):
    """Ballots of votes (n, members), added up."""
    return sum(ballots(votes[:, member], tie_keys(seed, member, n_classes)) for member in range(votes.shape[1]))


def test_most_votes_win():
    votes = np.array([[0, 0, 1], [2, 1, 2], [1, 1, 1]])
    assert winners(total(votes)).tolist() == [0, 2, 1]
    assert ballot_fractions(total(votes), 3) == pytest.approx(np.array([[2, 1, 0], [0, 1, 2], [0, 3, 0]]) / 3)


def test_a_tie_is_broken_among_those_who_lead_and_each_has_the_same_chance():
    rng = np.random.default_rng(0)
    votes = np.array([rng.permutation([0] * 8 + [2] * 8 + [1]) for _ in range(20_000)])
    won = winners(total(votes))
    assert set(won) == {0, 2}
    assert (won == 0).mean() == pytest.approx(0.5, abs=0.02)


def test_the_largest_share_is_that_of_the_winner():
    votes = np.random.default_rng(3).integers(0, 3, (500, 4))
    assert np.array_equal(ballot_fractions(total(votes), 4).argmax(axis=1), winners(total(votes)))
    assert ballot_fractions(total(votes), 4).sum(axis=1) == pytest.approx(1.0, abs=1e-15)


def test_the_same_votes_give_the_same_winner_wherever_the_row_stands():
    rng = np.random.default_rng(1)
    votes = rng.integers(0, 3, (500, 4))
    order = rng.permutation(500)
    assert np.array_equal(winners(total(votes))[order], winners(total(votes[order])))
    assert np.array_equal(winners(total(votes)), winners(total(np.vstack([votes, votes])))[:500])


def test_another_seed_breaks_ties_otherwise_and_nothing_else():
    votes = np.random.default_rng(2).integers(0, 2, (400, 4))
    one, other = winners(total(votes, 0, 2)), winners(total(votes, 1, 2))
    tied = votes.sum(axis=1) == 2
    assert np.array_equal(one[~tied], other[~tied])
    assert 0 < (one != other)[tied].mean() < 1
