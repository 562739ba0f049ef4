"""Measures of pairs: formulas counted by hand, other libraries, limits, weights, and what nought divided by nought is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from woodwind.base.errors import UndefinedMeasureWarning
from woodwind.diversity import (
    agreement,
    correlation,
    disagreement,
    double_fault,
    hits_of,
    kappa,
    mean_of_pairs,
    pairwise,
    q_statistic,
    ratio_of_errors,
)
from woodwind.diversity import counts as counting

MEASURES = {
    "q_statistic": q_statistic,
    "correlation": correlation,
    "disagreement": disagreement,
    "agreement": agreement,
    "double_fault": double_fault,
    "ratio_of_errors": ratio_of_errors,
}


def by_counting(hits, i, j, weight=None):
    """The shares of the four cases of a pair, row by row."""
    cases = {(a, b): 0.0 for a in (True, False) for b in (True, False)}
    weight = np.ones(len(hits)) if weight is None else weight
    for row, one in zip(hits.tolist(), weight, strict=True):
        cases[row[i], row[j]] += one / np.sum(weight)
    return cases[True, True], cases[True, False], cases[False, True], cases[False, False]


def slowly(hits, weight=None):
    """All measures by their formulas, pair by pair, where they are defined."""
    m = hits.shape[1]
    out = {name: np.full((m, m), np.nan) for name in MEASURES}
    for i in range(m):
        for j in range(m):
            n11, n10, n01, n00 = by_counting(hits, i, j, weight)
            out["disagreement"][i, j] = n10 + n01
            out["agreement"][i, j] = n11 + n00
            out["double_fault"][i, j] = n00
            if n11 * n00 + n01 * n10 > 0:
                out["q_statistic"][i, j] = (n11 * n00 - n01 * n10) / (n11 * n00 + n01 * n10)
            if (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00) > 0:
                below = ((n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00)) ** 0.5
                out["correlation"][i, j] = (n11 * n00 - n01 * n10) / below
            if n00 > 0:
                out["ratio_of_errors"][i, j] = (n01 + n10) / n00
    return out


@pytest.fixture
def pool():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    labels = np.where(rng.random((200, 7)) < np.linspace(0.5, 0.8, 7), truth[:, None], rng.integers(0, 3, (200, 7)))
    return truth, labels


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_are_what_counting_finds(pool, weighted):
    hits = hits_of(*pool)
    weight = np.random.default_rng(1).integers(0, 4, 200) if weighted else None
    expected = slowly(hits, weight)
    for name, measure in MEASURES.items():
        np.testing.assert_allclose(measure(hits, sample_weight=weight), expected[name], rtol=0, atol=1e-12)


def test_all_at_once_are_the_same_as_one_by_one(pool):
    hits = hits_of(*pool)
    found = pairwise(hits, pool[1])
    for name, measure in MEASURES.items():
        assert np.array_equal(getattr(found, name), measure(hits))
        assert found.means[name] == mean_of_pairs(measure(hits))
    assert np.array_equal(found.kappa, kappa(pool[1]))
    assert pairwise(hits).kappa is None
    assert "kappa" not in pairwise(hits).means
    assert "disagreement" in repr(found)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_kappa_is_that_of_scikit_learn(n_classes, weighted):
    rng = np.random.default_rng(n_classes)
    votes = rng.integers(0, n_classes, (150, 4))
    votes[:, 1] = np.where(rng.random(150) < 0.6, votes[:, 0], votes[:, 1])
    weight = rng.random(150) if weighted else None
    expected = [[cohen_kappa_score(a, b, sample_weight=weight) for b in votes.T] for a in votes.T]
    np.testing.assert_allclose(kappa(votes, sample_weight=weight), expected, rtol=0, atol=1e-12)


def test_correlation_is_that_of_matthews(pool):
    hits = hits_of(*pool)
    expected = [[matthews_corrcoef(a, b) for b in hits.T] for a in hits.T]
    np.testing.assert_allclose(correlation(hits), expected, rtol=0, atol=1e-12)


def test_identical_members_agree_in_everything():
    hits = np.repeat([[True], [False], [True]], 3, axis=1)
    found = pairwise(hits, hits)
    for matrix in (found.q_statistic, found.correlation, found.agreement, found.kappa):
        assert (matrix == 1.0).all()
    assert (found.disagreement == 0.0).all()


def test_a_complementary_pair_is_at_the_other_end():
    hits = np.array([[True, False], [False, True], [True, False]])
    found = pairwise(hits, hits)
    for matrix in (found.q_statistic, found.correlation):
        assert matrix[0, 1] == -1.0
    assert found.disagreement[0, 1] == 1.0
    assert found.double_fault[0, 1] == 0.0
    assert found.ratio_of_errors[0, 1] == np.inf
    assert found.kappa[0, 1] == pytest.approx(-0.8)  # agreement 0, and 4/9 by chance


def test_independent_members_have_no_association():
    hits = np.array([[True, True], [True, False], [False, True], [False, False]])
    assert q_statistic(hits)[0, 1] == 0.0
    assert correlation(hits)[0, 1] == 0.0
    assert kappa(hits)[0, 1] == 0.0


def test_a_member_that_is_always_right_has_no_association_and_a_warning_says_so():
    hits = np.array([[True, True, False, True], [True, False, False, True], [True, True, False, True]])
    for measure in (q_statistic, correlation):
        with pytest.warns(UndefinedMeasureWarning, match=r"3 of 4 members .* \(0, 2, 3\)"):
            found = measure(hits)
        assert found.tolist() == [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]]
    with pytest.warns(UndefinedMeasureWarning, match="never wrong"):
        ratio = ratio_of_errors(hits)
    assert ratio[0, 3] == 0.0
    assert ratio[0, 1] == np.inf
    assert ratio[1, 2] == 2.0


def test_two_members_that_name_one_class_agree_and_a_warning_says_so():
    with pytest.warns(UndefinedMeasureWarning, match="one and the same class"):
        assert kappa([[1, 1], [1, 1]]).tolist() == [[1, 1], [1, 1]]


def test_a_member_that_names_one_class_alone_needs_no_warning():
    assert kappa([[1, 0], [1, 1]]).tolist() == [[1, 0], [0, 1]]


def test_rows_of_no_weight_are_not_there_not_even_for_warnings():
    hits = np.array([[True, True], [False, True], [True, False], [False, False], [True, True]])
    weight = np.array([0.3, 0.0, 0.0, 0.7, 0.3])
    found = pairwise(hits, hits, sample_weight=weight)
    assert (found.q_statistic == 1.0).all()
    assert (found.kappa == 1.0).all()
    assert found.disagreement[0, 1] == 0.0
    with pytest.warns(UndefinedMeasureWarning):
        q_statistic(hits, sample_weight=[1.0, 0.0, 1.0, 0.0, 0.0])  # the first is always right where there is a row


@pytest.mark.parametrize("seed", range(7, 12))
def test_rounded_weights_make_nothing_of_cases_without_a_row(seed):
    """Sums of weights are rounded, in one order or another: what no row is in must still be nothing."""
    rng = np.random.default_rng(seed)
    hits = rng.random((300, 4)) < 0.5
    hits[:, 1] = hits[:, 0]
    hits[:, 2] |= hits[:, 0]
    hits[:, 3] |= ~hits[:, 0]
    against = np.array([[True, False, False, False], [False, True, True, False]])  # rows of no weight that say otherwise
    weight = np.concatenate([rng.random(300) * 0.1, [0.0, 0.0]])
    found = pairwise(np.concatenate([hits, against]), np.concatenate([hits, against]), sample_weight=weight)
    assert found.disagreement[0, 1] == 0.0
    assert found.kappa[0, 1] == 1.0
    assert found.correlation[0, 1] == 1.0
    assert found.q_statistic[0].tolist() == [1.0, 1.0, 1.0, -1.0]
    assert found.double_fault[0, 3] == 0.0
    assert found.ratio_of_errors[0, 3] == np.inf
    assert found.correlation[0, 2] < 1.0


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_weights_are_repetitions_and_order_does_not_matter(n, m, seed):
    rng = np.random.default_rng(seed)
    hits, times = rng.random((n, m)) < 0.6, rng.integers(0, 3, n)
    times[0] = 2
    repeated = np.repeat(hits, times, axis=0)[::-1]
    for measure in (disagreement, agreement, double_fault):
        np.testing.assert_allclose(measure(hits, sample_weight=times), measure(repeated), rtol=0, atol=1e-12)
        found = measure(hits)
        assert np.array_equal(found, found.T)
        assert ((found >= 0) & (found <= 1)).all()
    assert np.array_equal(disagreement(hits)[::-1, ::-1], disagreement(hits[:, ::-1]))


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 30), st.integers(0, 2**32 - 1))
def test_correlation_is_never_larger_than_q(n, seed):
    rng = np.random.default_rng(seed)
    hits = np.concatenate([rng.random((n, 4)) < 0.6, [[True] * 4, [False] * 4]])
    q, rho = q_statistic(hits), correlation(hits)
    assert (np.abs(rho) <= np.abs(q) + 1e-12).all()
    assert (np.sign(q) == np.sign(rho)).all()


def test_blocks_of_rows_add_up(monkeypatch, pool):
    hits = hits_of(*pool)
    whole, votes, weight = pairwise(hits, pool[1]), kappa(pool[1]), np.linspace(0, 1, 200)
    weighed = pairwise(hits, sample_weight=weight)
    monkeypatch.setattr(counting, "BLOCK", 7 * 11)
    assert np.array_equal(pairwise(hits, pool[1]).q_statistic, whole.q_statistic)
    assert np.array_equal(kappa(pool[1]), votes)
    np.testing.assert_allclose(pairwise(hits, sample_weight=weight).q_statistic, weighed.q_statistic, rtol=0, atol=1e-12)


def test_memory_order_does_not_matter(pool):
    hits = hits_of(*pool)
    assert np.array_equal(q_statistic(np.asfortranarray(hits)), q_statistic(hits))
