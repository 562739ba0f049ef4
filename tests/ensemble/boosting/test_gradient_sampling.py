"""Gradient-based sampling: sums are right on average, the right rows are certain, and where all are drawn nothing changes."""

from itertools import product

import numpy as np
import pytest

import woodwind
from reference import naive_gradient_sampling as naive
from woodwind.base import pool
from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import key
from woodwind.data.tables.queries import QueryRows
from woodwind.distributions import NormalDistribution
from woodwind.ensemble.boosting.gradient_sampling import LEAST_PROBABILITY, GradientSampling, size_reached_by, step_ratio
from woodwind.kernels.runtime.gradient_sampling import draw_by_size, gradient_sizes
from woodwind.losses.distribution_score import DistributionScore
from woodwind.losses.distribution_stages import LocationScore, SpreadScore
from woodwind.losses.first_order import FirstOrder
from woodwind.losses.ranking import LambdaMART

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=1500)
QUICK = {"n_estimators": 25, "learning_rate": 0.2, "early_stopping": False, "random_state": 0}
SIZES = {
    "uniform": RNG.random(5000),
    "long tails": np.exp(3.0 * RNG.normal(size=5000)),
    "equal": np.full(5000, 0.25),
    "two sizes": np.where(np.arange(5000) % 10 == 0, 10.0, 1.0),
    "one that counts": np.where(np.arange(5000) == 7, 1.0, 1e-12),
    "nearly all are nothing": np.where(np.arange(5000) % 100 == 0, 1.0, 0.0),
}


# ---------------------------------------------------------------------------------------------------- kernels


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_sizes_are_those_of_the_twin(n_outputs):
    gradient, hessian = RNG.normal(size=(50, n_outputs)), RNG.random((50, n_outputs))
    out = np.empty(50, np.float32)
    gradient_sizes(gradient, hessian, 0.7, 0, 50, out)
    np.testing.assert_allclose(out, naive.gradient_sizes(gradient.tolist(), hessian.tolist(), 0.7), rtol=1e-6)


@pytest.mark.parametrize(("certain", "slope", "least"), [(0.8, 0.0, 0.25), (0.9, 1 / 0.9, 1 / 16), (np.inf, 0.0, 0.5), (0.0, 0.0, 1.0)])
def test_rows_are_drawn_as_the_twin_draws_them(certain, slope, least):
    size = RNG.random(1300).astype(np.float32)
    rows, factor = np.empty(1300, np.int32), np.empty(1300)
    count = draw_by_size(key(3), size, (certain, slope, least), 0, 1300, rows, factor)
    assert rows[:count].tolist() == naive.draw_by_size(key(3), size.tolist(), certain, slope, least)
    assert (1.0 / factor).tolist() == pytest.approx([naive.probability(float(one), certain, slope, least) for one in size])


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("count", [0, 1, 17, 2500, 5000])
def test_the_size_that_so_many_reach_is_found_without_sorting(sizes, count):
    size = SIZES[sizes].astype(np.float32)
    assert size_reached_by(size, count, 1) == naive.size_reached_by(size.tolist(), count)


# ---------------------------------------------------------------------------------------------------- expectations


def test_goss_of_six_rows_is_right_on_average_over_all_that_can_be_drawn():
    gradient = np.array([4.0, -3.0, 1.0, -0.5, 0.25, 0.125])
    sampling = GradientSampling("goss", top_rate=1 / 3, other_rate=1 / 3)
    chances = sampling.goss(np.abs(gradient).astype(np.float32), 1)
    chance = [naive.probability(abs(one), *chances) for one in gradient]
    assert chance == pytest.approx([1.0, 1.0, 0.5, 0.5, 0.5, 0.5])  # two of six for certain; two of the other four, which count twice
    expected = 0.0
    for drawn in product([False, True], repeat=6):
        likely = np.prod([p if is_drawn else 1.0 - p for p, is_drawn in zip(chance, drawn, strict=True)])
        expected += likely * sum(g / p for g, p, is_drawn in zip(gradient, chance, drawn, strict=True) if is_drawn)
    assert expected == pytest.approx(gradient.sum(), abs=1e-12)


@pytest.mark.parametrize("method", ["goss", "mvs"])
def test_sums_of_drawn_rows_are_those_of_all_on_average(method):
    gradient, hessian = RNG.normal(size=400), RNG.random(400)
    sampling, sums = GradientSampling(method, 0.3), []
    for seed in range(2000):
        rows, factor = sampling.draw(key(seed), gradient, hessian, 1)
        sums.append([(gradient[rows] * factor[rows]).sum(), (hessian[rows] * factor[rows]).sum(), len(rows)])
    means, errors = np.mean(sums, axis=0), np.std(sums, axis=0) / np.sqrt(len(sums))
    assert abs(means[0] - gradient.sum()) < 4.0 * errors[0]
    assert abs(means[1] - hessian.sum()) < 4.0 * errors[1]
    assert means[2] == pytest.approx(120, abs=4)


def test_mvs_knows_sums_better_than_as_many_rows_that_are_drawn_alike():
    gradient, hessian = np.exp(2.0 * RNG.normal(size=600)) * RNG.choice([-1.0, 1.0], 600), np.ones(600)
    sampling, spread = GradientSampling("mvs", 0.3), {"mvs": [], "alike": []}
    for seed in range(500):
        rows, factor = sampling.draw(key(seed), gradient, hessian, 1)
        alike = np.random.default_rng(seed).random(600) < 0.3
        spread["mvs"].append((gradient[rows] * factor[rows]).sum())
        spread["alike"].append(gradient[alike].sum() / 0.3)
    assert np.std(spread["mvs"]) < 0.5 * np.std(spread["alike"])


@pytest.mark.parametrize("sizes", ["uniform", "long tails", "equal", "two sizes"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def test_mvs_draws_the_share_that_it_is_asked_for(sizes, share):
    size = SIZES[sizes].astype(np.float32)
    chances = GradientSampling("mvs", share).mvs(size, 1)
    expected = np.mean([naive.probability(float(one), *chances) for one in size])
    assert share - 0.01 <= expected <= share + LEAST_PROBABILITY


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("method", ["goss", "mvs"])
def test_no_row_counts_more_than_it_may(method, sizes):
    rows, factor = GradientSampling(method, 0.2).draw(key(1), SIZES[sizes], np.ones(5000), 1)
    assert np.isfinite(factor).all()
    assert 1.0 <= factor.min() <= factor.max() <= max(1.0 / LEAST_PROBABILITY, 8.0)
    assert 0 < len(rows) <= 5000
    assert (np.diff(rows) > 0).all()


def test_rows_without_derivatives_are_all_drawn():
    rows, factor = GradientSampling("mvs", 0.2).draw(key(1), np.zeros(100), np.zeros(100), 1)
    assert len(rows) == 100
    assert (factor == 1.0).all()
    assert step_ratio(np.ones((2, 1)), np.zeros((2, 1))) == 0.0


# ---------------------------------------------------------------------------------------------------- models


def digest(**given):
    return woodwind.GradientBoostingRegressor(**QUICK | given).fit(X, Y).forest_.digest()


@pytest.mark.parametrize("growth", ["best_first", "level", "symmetric"])
def test_rates_that_add_up_to_one_are_no_sampling(growth):
    alike = digest(growth=growth, subsample=1.0)
    assert digest(growth=growth, sampling="goss", top_rate=0.3, other_rate=0.7) == alike
    assert digest(growth=growth, sampling="goss", top_rate=1.0, other_rate=0.0) == alike
    assert digest(growth=growth, sampling="mvs", subsample=1.0) == alike
    assert digest(growth=growth, sampling="goss") != alike


def test_goss_begins_after_as_many_rounds_as_one_over_the_learning_rate():
    models = [woodwind.GradientBoostingRegressor(**QUICK | given).fit(X, Y) for given in ({"sampling": "goss"}, {"subsample": 1.0})]
    staged = [list(model.staged_predict(X)) for model in models]
    same = [np.array_equal(one, other) for one, other in zip(*staged, strict=True)]
    assert same[:5] == [True] * 5
    assert not any(same[5:])


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson"])
@pytest.mark.parametrize("sampling", ["goss", "mvs"])
def test_every_loss_learns_from_drawn_rows(loss, sampling):
    y = np.round(np.exp(Y / 2)) if loss == "poisson" else Y
    scores = [
        woodwind.GradientBoostingRegressor(loss=loss, **QUICK | given).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
        for given in ({"sampling": sampling}, {"subsample": 1.0})
    ]
    assert scores[0] > scores[1] - 0.1


@pytest.mark.parametrize("given", [{}, {"multiclass": "one_per_class"}, {"max_bins": None, "multiclass": "one_per_class"}])
def test_classes_learn_from_drawn_rows(given):
    labels = np.digitize(Y, [-1.0, 1.0])
    for sampling in ("goss", "mvs"):
        model = woodwind.GradientBoostingClassifier(sampling=sampling, **QUICK | given).fit(X[:1000], labels[:1000])
        assert model.score(X[1000:], labels[1000:]) > 0.6


@pytest.mark.parametrize("sampling", ["goss", "mvs"])
@pytest.mark.parametrize("given", [{}, {"max_bins": None}, {"growth": "symmetric"}, {"early_stopping": True}, {"gradient_noise": 0.5}])
def test_the_same_bits_for_any_number_of_threads(monkeypatch, sampling, given):
    monkeypatch.setattr(pool, "LEAST_WORK", 1)
    weight = RNG.uniform(0.2, 3.0, len(Y))
    found = {
        woodwind.GradientBoostingRegressor(sampling=sampling, n_jobs=threads, **QUICK | given)
        .fit(X, Y, sample_weight=weight)
        .forest_.digest()
        for threads in (1, 2, 3)
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sampling": "gos"}, "sampling"),
        ({"sampling": "goss", "bootstrap": True}, "bootstrap=False"),
        ({"sampling": "goss", "subsample": 0.5}, "top_rate and other_rate"),
        ({"sampling": "goss", "top_rate": 0.8, "other_rate": 0.3}, "at most 1"),
        ({"sampling": "goss", "top_rate": 0.0, "other_rate": 0.0}, "more than 0"),
        ({"top_rate": 1.5}, "top_rate"),
    ],
)
def test_settings_that_do_not_fit_are_refused(given, words):
    with pytest.raises(ParameterError, match=words):
        woodwind.GradientBoostingRegressor(**QUICK | given).fit(X, Y)


# ---------------------------------------------------------------------------------------------------- derivatives that take long

QUERIES = np.repeat(np.arange(150), 10)
RELEVANCE = np.digitize(Y, [-1.0, 0.0, 1.0]).astype(float)


def losses_that_take_long():
    bound = LambdaMART().bound(QueryRows.of(QUERIES), RELEVANCE)
    score = DistributionScore(NormalDistribution())
    yield "ranking", bound, RELEVANCE, RNG.normal(size=1500)
    yield "gradients of a ranking", FirstOrder(bound), RELEVANCE, RNG.normal(size=1500)
    raw = 0.3 * RNG.normal(size=(1500, 2))
    yield "distribution", score.resolved(Y, raw), Y, raw
    yield "location", LocationScore(score).resolved(Y, raw[:, 0]), Y, raw[:, 0]
    target = np.column_stack([Y, X[:, 0]])
    yield "spread", SpreadScore(score).resolved(target, raw[:, 1]), target, raw[:, 1]


@pytest.mark.parametrize(("loss", "y", "raw"), [pytest.param(*case, id=name) for name, *case in losses_that_take_long()])
def test_known_derivatives_times_a_weight_are_the_derivatives_to_the_bit(loss, y, raw):
    known = loss.with_known(y, raw)
    for weight in (None, 3.0 * RNG.random(1500)):
        for found, wanted in zip(known.derivatives(y, np.zeros_like(raw), weight), loss.derivatives(y, raw, weight), strict=True):
            np.testing.assert_array_equal(found, wanted)
            assert found.shape == raw.shape


def test_pairs_of_documents_are_compared_once_in_a_round_in_which_rows_are_drawn(monkeypatch):
    calls, fill = [], LambdaMART.fill
    monkeypatch.setattr(LambdaMART, "fill", lambda self, *given: calls.append(1) or fill(self, *given))
    model = woodwind.GradientBoostingRanker(**{**QUICK, "n_estimators": 4}, sampling="mvs", n_jobs=1)
    model.fit(X, RELEVANCE, group=QUERIES)
    assert len(calls) == 4
