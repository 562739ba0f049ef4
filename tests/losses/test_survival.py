"""Losses of survival times: values, derivatives, what is at risk, scales."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from reference.naive_survival import STANDARD, cox_loss
from woodwind.base.errors import ParameterError, TargetError
from woodwind.losses import AcceleratedFailureTime, CoxPartialLikelihood
from woodwind.losses.survival import survival_loss

INF = math.inf


def rows(n=60, seed=7):
    """Sixty rows with tied times, and one column: those by which scikit-survival and lifelines gave the numbers below."""
    rng = np.random.default_rng(seed)
    time = np.ceil(rng.exponential(6, n))
    event = rng.random(n) < 0.65
    rng.normal(size=n)
    np.ceil(rng.exponential(6, n)), rng.random(n)
    return np.column_stack([time, np.where(event, time, INF)]), rng.normal(size=(n, 1))[:, 0], event


@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_partial_likelihood_and_its_slopes(ties, weighted):
    y, x, event = rows()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(x)) if weighted else None
    loss = CoxPartialLikelihood(ties)
    value, events = loss.total(y, x, weight)
    ones = np.ones(len(x)) if weight is None else weight
    assert_allclose(value, cox_loss(y[:, 0], event, x, ones, ties), rtol=1e-12)
    assert_allclose(events, ones[event].sum())
    gradient, hessian = loss.derivatives(y, x, weight)
    for row in range(len(x)):
        step = np.zeros(len(x))
        step[row] = 1e-4
        up, down = (loss.total(y, x + sign * step, weight)[0] for sign in (1, -1))
        assert_allclose(gradient[row], (up - down) / 2e-4, atol=1e-7)
        if weight is None:
            assert_allclose(hessian[row], (up - 2 * value + down) / 1e-8, atol=1e-5)
    assert_allclose(gradient.sum(), 0.0, atol=1e-12)


def test_the_partial_likelihood_is_that_of_lifelines():
    """CoxPHFitter of lifelines 0.30.3: its largest log likelihood, at this coefficient (Efron)."""
    y, x, _ = rows()
    assert_allclose(CoxPartialLikelihood("efron").total(y, 0.22245615072034175 * x)[0], 121.02287098304276, rtol=1e-12)


@pytest.mark.parametrize(("ties", "coefficient"), [("breslow", 0.2178768891234835), ("efron", 0.22245614670774425)])
def test_the_coefficient_of_scikit_survival_has_no_slope(ties, coefficient):
    """CoxPHSurvivalAnalysis of scikit-survival 0.28.0."""
    y, x, _ = rows()
    gradient, _ = CoxPartialLikelihood(ties).derivatives(y, coefficient * x)
    assert_allclose((gradient * x).sum(), 0.0, atol=1e-6)


def test_the_baseline_is_breslows_as_in_scikit_survival():
    """cum_baseline_hazard_ of CoxPHSurvivalAnalysis(ties='breslow'), at the times of events."""
    y, x, _ = rows()
    times, hazard = CoxPartialLikelihood("breslow").baseline(y, 0.2178768891234835 * x)
    assert_array_equal(times, [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 17, 19, 23])
    theirs = [0.09696957924029768, 0.2088231769901952, 0.25341940090310455, 0.32752392369748196, 0.4465352698964891, 0.5521738115456954,
              0.6915558274967022, 0.8638383515227652, 1.0122125461914946, 1.1147876517524986, 1.3709462239781525, 1.5307501739920628,
              1.7673755466084282, 2.8111699852747356]  # fmt: skip
    assert_allclose(hazard, theirs, rtol=1e-9)


def test_rows_that_are_held_out_are_at_risk_of_nothing():
    y, x, _ = rows()
    kept = np.arange(len(x)) % 3 > 0
    for ties in ("breslow", "efron"):
        loss = CoxPartialLikelihood(ties).bound(y).resolved(y, x, kept.astype(float))
        alone = CoxPartialLikelihood(ties).derivatives(y[kept], x[kept])
        for found, expected in zip(loss.derivatives(y, x), alone, strict=True):
            assert_allclose(found[kept], expected, rtol=1e-12, atol=1e-14)


def test_factors_of_drawn_rows_change_who_counts_and_not_who_is_at_risk():
    y, x, _ = rows()
    drawn = np.random.default_rng(0).uniform(0.0, 3.0, len(x))
    loss = CoxPartialLikelihood().bound(y).resolved(y, x, None)
    plain = CoxPartialLikelihood().derivatives(y, x)
    for found, expected in zip(loss.derivatives(y, x, drawn), plain, strict=True):
        assert_allclose(found, expected * drawn, rtol=1e-12)


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_a_constant_is_divided_out_and_any_number_of_threads_gives_the_same_bits(ties):
    rng = np.random.default_rng(0)
    time = rng.exponential(size=50_000)
    y = np.column_stack([time, np.where(rng.random(50_000) < 0.5, time, INF)])
    raw = rng.normal(size=50_000)
    loss = CoxPartialLikelihood(ties).bound(y)
    one, three = loss.derivatives(y, raw, None, 1), loss.derivatives(y, raw, None, 3)
    assert_array_equal(one, three)
    assert_allclose(loss.total(y, raw)[0], loss.total(y, raw + 50.0)[0], rtol=1e-12)


def test_without_events_there_is_nothing_to_lose():
    y = np.array([[1.0, INF], [2.0, INF]])
    assert CoxPartialLikelihood().total(y, np.zeros(2)) == (0.0, 1.0)
    gradient, hessian = CoxPartialLikelihood().derivatives(y, np.zeros(2))
    assert not gradient.any()
    assert not hessian.any()


def test_the_case_of_the_page():
    """docs/algorithms/survival.md, by hand: events at 1, 2 and 4, one row censored at 3, all scores 0."""
    y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, INF], [4.0, 4.0]])
    gradient, hessian = CoxPartialLikelihood("breslow").derivatives(y, np.zeros(4))
    assert_allclose(gradient, [1 / 4 - 1, 1 / 4 + 1 / 3 - 1, 1 / 4 + 1 / 3, 1 / 4 + 1 / 3 + 1 - 1])
    assert_allclose(hessian, [3 / 16, 3 / 16 + 2 / 9, 3 / 16 + 2 / 9, 3 / 16 + 2 / 9])
    leaves = [-gradient[part].sum() / (hessian[part].sum() + 1.0) for part in (slice(0, 2), slice(2, 4))]
    assert_allclose(leaves, [0.73043, -0.64122], atol=1e-5)  # XGBoost's, with lambda 1 and eta 1
    assert_allclose(CoxPartialLikelihood().total(y, np.zeros(4))[0], math.log(4) + math.log(3))
    tied = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, INF]])
    assert_allclose(CoxPartialLikelihood("breslow").total(tied, np.zeros(3))[0], 2 * math.log(3))
    assert_allclose(CoxPartialLikelihood("efron").total(tied, np.zeros(3))[0], math.log(3) + math.log(2))
    censored = np.array([[math.e, math.e], [math.e, INF], [0.0, math.e], [1.0, math.e]])
    z, found = 1.0, AcceleratedFailureTime("logistic", 1.0)
    losses = [found.total(censored[row : row + 1], np.zeros(1))[0] for row in range(4)]
    above, half = 1 / (1 + math.e), 0.5
    assert_allclose(losses, [-math.log(above * (1 - above)) + z, -math.log(above), -math.log(1 - above), -math.log(half - above)])


@pytest.mark.parametrize("distribution", STANDARD)
def test_start_and_scale_are_those_of_the_largest_likelihood(distribution):
    rng = np.random.default_rng(0)
    time = np.exp(1.0 + 0.5 * STANDARD[distribution].rvs(size=300, random_state=1))
    end = rng.exponential(6.0, 300)
    y = np.column_stack([np.minimum(time, end), np.where(time <= end, time, INF)])
    y[:20, 0] = 0.0  # these came before somebody looked
    y[:20, 1] = time[:20] * 1.5
    loss = AcceleratedFailureTime(distribution)
    start = loss.start(y)[0]

    def value(point):
        return AcceleratedFailureTime(distribution, math.exp(point[1])).value(y, np.full(300, point[0]))

    best = minimize(value, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-13}).x
    assert_allclose(start, best[0], atol=2e-4)
    assert_allclose(loss.fitted_scale(y, np.full(300, best[0])), math.exp(best[1]), rtol=1e-5)
    weight = np.repeat([1.0, 2.0], 150)
    twice = np.concatenate([y, y[150:]])
    assert_allclose(loss.start(y, weight), loss.start(twice), atol=1e-9)


def test_predictions_are_medians():
    for distribution, standard in STANDARD.items():
        loss = AcceleratedFailureTime(distribution, 0.8)
        assert_allclose(loss.predict(np.array([0.3])), np.exp(0.3 + 0.8 * standard.median()))


@pytest.mark.parametrize(
    ("loss", "y", "words"),
    [
        (CoxPartialLikelihood(), [[1.0, INF], [2.0, INF]], "no event in any row"),
        (CoxPartialLikelihood(), [[1.0, 1.0], [2.0, 3.0]], "known within bounds, first in row 1, from 2 to 3"),
        (AcceleratedFailureTime(), [[1.0, INF], [2.0, INF]], "no event in any row"),
        (AcceleratedFailureTime(), [[1.0, 1.0], [0.0, 0.0]], "1 rows have their event at 0, first row 1"),
    ],
)
def test_targets_that_tell_nothing_are_refused(loss, y, words):
    with pytest.raises(TargetError, match=words):
        loss.check_target(np.array(y))


@pytest.mark.parametrize("name", ["cox", "coxph", "survival:cox", "Cox"])
def test_cox_goes_by_other_names(name):
    assert survival_loss(name, "breslow", "normal", None) == CoxPartialLikelihood("breslow")


@pytest.mark.parametrize(("name", "distribution"), [("aft", "extreme"), ("survival:aft", "Weibull"), ("SurvivalAft", "extreme_value")])
def test_accelerated_failure_time_goes_by_other_names(name, distribution):
    assert survival_loss(name, "breslow", distribution, 2.0) == AcceleratedFailureTime("extreme", 2.0)


def test_a_loss_that_is_given_is_checked_and_has_the_names_of_here():
    assert survival_loss(AcceleratedFailureTime("weibull", 2.0), "efron", "normal", None) == AcceleratedFailureTime("extreme", 2.0)
    with pytest.raises(ParameterError, match="ties must be"):
        survival_loss(CoxPartialLikelihood("exact"), "efron", "normal", None)
    with pytest.raises(ParameterError, match="scale must be"):
        survival_loss(AcceleratedFailureTime("normal", 0.0), "efron", "normal", None)


def test_other_losses_and_distributions_are_refused():
    with pytest.raises(ParameterError, match="loss must be 'cox' or 'aft'"):
        survival_loss("squared_error", "efron", "normal", None)
    with pytest.raises(ParameterError, match="distribution must be one of 'normal'"):
        survival_loss("aft", "efron", "poisson", None)
    with pytest.raises(ParameterError, match="ties must be"):
        CoxPartialLikelihood("exact").check()
    with pytest.raises(ParameterError, match="scale must be"):
        AcceleratedFailureTime("normal", -1.0).check()
