"""Metrics of survival times against numbers of lifelines and scikit-survival, and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from woodwind.base.errors import DataError, ParameterError, TargetError
from woodwind.metrics.survival import (
    brier_score,
    concordance_index,
    concordance_index_ipcw,
    integrated_brier_score,
    kaplan_meier_curve,
)

RECORD = [("event", bool), ("time", float)]


def rows(n=60, seed=7):
    """Sixty rows with tied times and tied risks, and sixty others: those by which the numbers below were had."""
    rng = np.random.default_rng(seed)
    time, event = np.ceil(rng.exponential(6, n)), rng.random(n) < 0.65
    risk = np.round(rng.normal(size=n) - 0.1 * time, 1)
    other, seen = np.ceil(rng.exponential(6, n)), rng.random(n) < 0.65
    other[0], seen[0] = 40, False
    return surv(event, time), risk, surv(seen, other)


def surv(event, time):
    return np.array(list(zip(event, time, strict=True)), RECORD)


TIMES = np.array([2.0, 4.0, 7.0, 10.0])


def test_the_concordance_is_that_of_lifelines_and_of_scikit_survival():
    """concordance_index of lifelines 0.30.3 and concordance_index_censored of scikit-survival 0.28.0 give both this."""
    y, risk, _ = rows()
    assert_allclose(concordance_index(y, risk), 0.5755555555555556, rtol=1e-14)


def test_the_concordance_of_uno_is_that_of_scikit_survival():
    y, risk, train = rows()
    assert_allclose(concordance_index_ipcw(train, y, risk), 0.5943291417692843, rtol=1e-12)
    assert_allclose(concordance_index_ipcw(train, y, risk, tau=8.0), 0.5658184742261028, rtol=1e-12)


def test_brier_scores_are_those_of_scikit_survival():
    y, risk, train = rows()
    survival = np.exp(-TIMES * 0.1 * np.exp(risk)[:, None])
    theirs = [0.18884080521085583, 0.2299824869094975, 0.3258125219240432, 0.35193245778186916]
    assert_allclose(brier_score(train, y, survival, TIMES), theirs, rtol=1e-12)
    assert_allclose(integrated_brier_score(train, y, survival, TIMES), 0.28364165936619157, rtol=1e-12)
    assert_allclose(brier_score(train, y, lambda times: np.exp(-times * 0.1 * np.exp(risk)[:, None]), TIMES), theirs, rtol=1e-12)


def test_kaplan_and_meier_is_that_of_scikit_survival():
    y, _, _ = rows()
    times, share = kaplan_meier_curve(y)
    assert_allclose(times, [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 17, 19, 21, 23])
    theirs = [0.9, 0.7941176470588235, 0.7571819425444596, 0.6989371777333474, 0.614217519826275, 0.5484084998448885, 0.4736255225933128,
              0.3900445480180223, 0.3300376944767881, 0.3300376944767881, 0.2970339250291093, 0.22277544377183198, 0.18564620314319333,
              0.139234652357395, 0.139234652357395, 0.0]  # fmt: skip
    assert_allclose(share, theirs, rtol=1e-12, atol=1e-15)


def test_a_weight_of_two_is_a_row_given_twice_but_for_the_pair_with_itself():
    y, risk, _ = rows()
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    assert_allclose(concordance_index(y, risk, weight), concordance_index(y[again], risk[again]), rtol=1e-12)


def test_the_best_the_worst_and_no_order():
    y = surv([True, True, False, True], [1.0, 2.0, 3.0, 4.0])
    assert concordance_index(y, [4, 3, 2, 1]) == 1.0
    assert concordance_index(y, [1, 2, 3, 4]) == 0.0
    assert concordance_index(y, [1, 1, 1, 1]) == 0.5
    assert np.isnan(concordance_index(surv([False, False], [1.0, 2.0]), [1, 2]))


def test_times_within_bounds_are_pairs_where_they_do_not_overlap():
    """Row 0 came by 2, row 1 between 3 and 5, row 2 between 4 and 6, row 3 after 6: all pairs but that of rows 1 and 2 are known."""
    y = np.array([[0.0, 2.0], [3.0, 5.0], [4.0, 6.0], [6.0, np.inf]])
    assert concordance_index(y, [4, 2, 3, 1]) == 1.0
    assert concordance_index(y, [1, 4, 3, 2]) == pytest.approx(2 / 5)


def test_what_cannot_be_measured_is_refused():
    y, risk, train = rows()
    survival = np.full((60, 4), 0.5)
    with pytest.raises(DataError, match="a finite risk for each of 60 rows"):
        concordance_index(y, risk[:5])
    with pytest.raises(ParameterError, match="ascending"):
        brier_score(train, y, survival, TIMES[::-1])
    with pytest.raises(ParameterError, match="within those of y, from 1 to below 23"):
        brier_score(train, y, survival, TIMES + 20.0)
    with pytest.raises(DataError, match="a finite probability for each of 60 rows and 4 times"):
        brier_score(train, y, survival[:, :2], TIMES)
    with pytest.raises(DataError, match="every row of y_train is censored"):
        concordance_index_ipcw(surv([True, False], [1.0, 2.0]), y, risk)
    with pytest.raises(TargetError, match="known within bounds"):
        brier_score(train, np.array([[1.0, 3.0], [2.0, 2.0]]), survival[:2], [1.5])
    with pytest.raises(ParameterError, match="at least two times"):
        integrated_brier_score(train, y, survival[:, :1], [3.0])
