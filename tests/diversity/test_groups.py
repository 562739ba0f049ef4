"""Measures of whole ensembles: a case by hand, identities between them, limits, and what nought divided by nought is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from woodwind import DataError, ParameterError
from woodwind.base.errors import UndefinedMeasureWarning
from woodwind.diversity import (
    ambiguity,
    coincident_failure_diversity,
    difficulty,
    disagreement,
    diversity_report,
    double_fault,
    entropy,
    generalised_diversity,
    good_and_bad_diversity,
    hit_margins,
    hits_of,
    interrater_kappa,
    kohavi_wolpert_variance,
    mean_of_pairs,
    q_statistic,
    regression_report,
    vote_entropy,
)

# Three members, four rows, in the manner of Kuncheva & Whitaker (2003): 3, 2, 1 and 0 members are right.
HITS = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]], bool)
BY_HAND = {
    entropy: 1 / 2,  # (0 + 1 + 1 + 0) / 4
    kohavi_wolpert_variance: 1 / 9,  # (0 + 2 + 2 + 0) / 4 / 9
    interrater_kappa: 1 / 3,  # 1 - (4 / 3) / (4 * 2 * 1 / 4)
    difficulty: 5 / 36,  # variance of 1, 2/3, 1/3, 0
    generalised_diversity: 1 / 3,  # p(1) = 6 / 12, p(2) = 8 / 24
    coincident_failure_diversity: 1 / 2,  # (1 + 1/2 + 0) / 3
}
# What members have that are right on the same rows.
IDENTICAL = {
    entropy: 0,
    kohavi_wolpert_variance: 0,
    interrater_kappa: 1,
    difficulty: 0.25,
    generalised_diversity: 0,
    coincident_failure_diversity: 0,
}


def pool(seed, n=200, m=7, n_classes=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    return truth, np.where(rng.random((n, m)) < rng.uniform(0.3, 0.9, m), truth[:, None], rng.integers(0, n_classes, (n, m)))


@pytest.mark.parametrize("measure", BY_HAND, ids=lambda measure: measure.__name__)
def test_a_case_by_hand(measure):
    assert measure(HITS) == pytest.approx(BY_HAND[measure], abs=1e-15)
    assert measure(HITS, sample_weight=[2, 2, 2, 2]) == pytest.approx(BY_HAND[measure], abs=1e-15)
    assert measure(HITS[:, ::-1][::-1]) == pytest.approx(BY_HAND[measure], abs=1e-15)


def test_the_same_case_by_pairs():
    assert mean_of_pairs(disagreement(HITS)) == pytest.approx(1 / 3)
    assert mean_of_pairs(double_fault(HITS)) == pytest.approx(1 / 3)
    assert mean_of_pairs(q_statistic(HITS)) == 1.0
    assert vote_entropy(HITS) == pytest.approx((np.log2(3) - 2 / 3) / 2)  # twice the entropy of 1/3, of four rows


@pytest.mark.parametrize("measure", IDENTICAL, ids=lambda measure: measure.__name__)
def test_identical_members(measure):
    assert measure(np.repeat([[True], [False]], 5, axis=1)) == pytest.approx(IDENTICAL[measure], abs=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_identities_of_kuncheva_and_whitaker(seed):
    hits = hits_of(*pool(seed, m=6 + seed % 2))
    weight = None if seed < 2 else np.random.default_rng(seed).random(200)
    L, p = hits.shape[1], np.average(hits, axis=0, weights=weight).mean()
    KW = kohavi_wolpert_variance(hits, sample_weight=weight)
    assert pytest.approx((L - 1) / (2 * L) * mean_of_pairs(disagreement(hits, sample_weight=weight)), abs=1e-12) == KW
    assert interrater_kappa(hits, sample_weight=weight) == pytest.approx(1 - L / ((L - 1) * p * (1 - p)) * KW, abs=1e-12)
    # The variance of the share that is right: that of all hits, less the mean variance within rows.
    assert difficulty(hits, sample_weight=weight) == pytest.approx(p * (1 - p) - KW, abs=1e-12)
    # Two failures of members drawn at random are a double fault.
    assert generalised_diversity(hits, sample_weight=weight) == pytest.approx(
        1 - mean_of_pairs(double_fault(hits, sample_weight=weight)) / (1 - p), abs=1e-12
    )
    # Tang, Suganthan & Yao (2006): disagreement is what margins lack.
    squares = np.average(hit_margins(hits) ** 2, weights=weight)
    assert mean_of_pairs(disagreement(hits, sample_weight=weight)) == pytest.approx(L / (2 * (L - 1)) * (1 - squares), abs=1e-12)


def slow_coincident_failure(hits):
    """By the definition, with the share of rows on which exactly i members are wrong."""
    L, wrong = hits.shape[1], (~hits).sum(axis=1)
    p = [np.mean(wrong == i) for i in range(L + 1)]
    return 0.0 if p[0] == 1 else sum((L - i) / (L - 1) * p[i] for i in range(1, L + 1)) / (1 - p[0])


def slow_generalised(hits):
    L, wrong = hits.shape[1], (~hits).sum(axis=1)
    p = [np.mean(wrong == i) for i in range(L + 1)]
    return 1 - sum(i / L * (i - 1) / (L - 1) * p[i] for i in range(L + 1)) / sum(i / L * p[i] for i in range(L + 1))


def slow_vote_entropy(votes):
    rows = []
    for row in votes:
        probabilities = [np.mean(row == label) for label in set(row.tolist())]
        rows.append(-sum(share * np.log2(share) for share in probabilities))
    return np.mean(rows)


@pytest.mark.parametrize("seed", range(3))
def test_what_slow_twins_find(seed):
    truth, votes = pool(seed, n=40, m=5)
    hits = hits_of(truth, votes)
    assert coincident_failure_diversity(hits) == pytest.approx(slow_coincident_failure(hits), abs=1e-12)
    assert generalised_diversity(hits) == pytest.approx(slow_generalised(hits), abs=1e-12)
    assert vote_entropy(votes) == pytest.approx(slow_vote_entropy(votes), abs=1e-12)
    assert vote_entropy(votes, base=4) == pytest.approx(slow_vote_entropy(votes) / 2, abs=1e-12)


def test_splits_in_halves_are_the_most_that_there_is():
    for m in (2, 3, 4, 5):
        hits = np.arange(m) < m // 2
        assert entropy([hits, ~hits]) == 1.0


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_weights_are_repetitions(n, m, seed):
    rng = np.random.default_rng(seed)
    hits, times = rng.random((n, m)) < 0.6, rng.integers(0, 3, n)
    hits[0], times[0] = np.arange(m) < 1, 1  # a row with a hit and a miss, so that everything is defined
    repeated = np.repeat(hits, times, axis=0)
    for measure in BY_HAND:
        assert measure(hits, sample_weight=times) == pytest.approx(measure(repeated), abs=1e-12)
    assert vote_entropy(hits, sample_weight=times) == pytest.approx(vote_entropy(repeated), abs=1e-12)
    assert ambiguity(hits, sample_weight=times) == pytest.approx(ambiguity(repeated), abs=1e-12)


def test_if_nobody_is_ever_wrong_values_are_those_of_identical_members_and_a_warning_says_so():
    for hits in (np.ones((4, 3), bool), np.zeros((4, 3), bool)):
        with pytest.warns(UndefinedMeasureWarning, match="taken as 1"):
            assert interrater_kappa(hits) == 1.0
    with pytest.warns(UndefinedMeasureWarning, match="no member is ever wrong"):
        assert generalised_diversity(np.ones((4, 3), bool)) == 0.0
    assert generalised_diversity(np.zeros((4, 3), bool)) == 0.0
    assert coincident_failure_diversity(np.ones((4, 3), bool)) == 0.0  # by definition


def test_weights_of_members_change_who_contradicts_the_ensemble():
    votes = [["a", "b", "b"]]
    assert ambiguity(votes) == pytest.approx(1 / 3)
    assert ambiguity(votes, weights=[3, 1, 1]) == pytest.approx(2 / 5)


@pytest.mark.parametrize("seed", range(3))
def test_good_and_bad_diversity_add_up_to_the_error_of_the_vote(seed):
    truth, votes = pool(seed, m=6, n_classes=4)
    weight = np.random.default_rng(seed).random(len(truth))
    found = good_and_bad_diversity(truth, votes, sample_weight=weight)
    winner = np.array([np.bincount(row, minlength=4).argmax() for row in votes])
    assert found.vote_error == pytest.approx(np.average(winner != truth, weights=weight), abs=1e-12)
    assert found.vote_error == pytest.approx(found.mean_error - found.good + found.bad, abs=1e-12)


def test_a_report_has_all_of_it():
    truth, votes = pool(0)
    hits, report = hits_of(truth, votes), diversity_report(truth, votes, names=list("abcdefg"))
    for measure in BY_HAND:
        assert report[measure.__name__] == measure(hits)
    assert report["disagreement"] == mean_of_pairs(disagreement(hits))
    assert report["mean_accuracy"] == pytest.approx(hits.mean())
    assert report.accuracies == pytest.approx(hits.mean(axis=0))
    assert report["vote_accuracy"] == pytest.approx(np.mean([np.bincount(row).argmax() for row in votes] == truth))
    assert report["oracle_accuracy"] == pytest.approx(hits.any(axis=1).mean())
    assert report.names == tuple("abcdefg")
    lines = str(report).splitlines()
    assert len(lines) == 1 + len(report.measures)
    assert next(line for line in lines if line.startswith("entropy")).split()[2] == "↑"
    assert np.array_equal(report.pairs.disagreement, disagreement(hits))
    with pytest.raises(DataError, match="names has 2 names for 7 members"):
        diversity_report(truth, votes, names=["a", "b"])


def test_a_report_of_numbers_has_all_of_it():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=30)
    report = regression_report(truth, truth[:, None] + rng.normal(size=(30, 4)))
    assert report["error_of_mean"] == pytest.approx(report["mean_of_errors"] - report["ambiguity"], abs=1e-12)
    assert report["best_error"] == report.errors.min()
    assert len(str(report).splitlines()) == 1 + len(report.measures)


def test_a_logarithm_needs_a_base():
    with pytest.raises(ParameterError, match="base must be a number above 1"):
        vote_entropy([[0, 1]], base=1.0)
