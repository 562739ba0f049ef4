"""DistributionBoostingRegressor: what it learns, what it refuses, and what it equals."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

import woodwind
from woodwind import DistributionBoostingRegressor, GradientBoostingRegressor
from woodwind.base.errors import ParameterError, TargetError
from woodwind.distributions import Distribution, GammaDistribution, NormalDistribution, PredictedDistribution, StudentTDistribution
from woodwind.distributions.named import NAMED
from woodwind.distributions.natural import natural_gradient
from woodwind.losses.distribution_score import DistributionScore

EXACT = {
    "max_bins": None, "growth": "level", "max_depth": 3, "max_leaf_nodes": None, "min_samples_leaf": 1, "min_hessian_leaf": 0.0,
    "l2_regularization": 0.0, "subsample": 1.0, "early_stopping": False, "multi_output": "one_per_parameter",
}  # fmt: skip


def uneven_noise(n_rows: int = 1500, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows whose mean is by the first column and whose spread is by the second: X, y, mean, standard deviation."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 3))
    mean, std = 10.0 * X[:, 0], np.where(X[:, 1] > 0.5, 2.0, 0.3)
    return X, mean + std * rng.normal(size=n_rows), mean, std


def targets_of(name: str, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Targets in the support of a distribution."""
    mean = np.exp(X[:, 0])
    if name in ("poisson", "negative_binomial", "zero_inflated_poisson"):
        return rng.poisson(mean * rng.gamma(3.0, 1.0 / 3.0, len(X))).astype(np.float64)
    if name == "beta":
        return rng.beta(2.0 * mean, 3.0)
    if name in ("exponential", "gamma", "weibull", "lognormal"):
        return mean * rng.gamma(3.0, 1.0 / 3.0, len(X))
    return mean + 0.3 * rng.standard_t(5, len(X))


@pytest.mark.parametrize("name", list(NAMED))
@pytest.mark.parametrize("multi_output", ["vector", "one_per_parameter"])
def test_every_distribution_is_better_than_its_start_and_survives_a_file(name, multi_output, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = targets_of(name, X, rng)
    model = DistributionBoostingRegressor(
        distribution=name, multi_output=multi_output, n_estimators=30, early_stopping=False, random_state=0
    ).fit(X, y)
    predicted = model.predict_distribution(X)
    assert isinstance(predicted, PredictedDistribution)
    assert len(predicted) == 300
    start = PredictedDistribution(predicted.distribution, np.tile(model.forest_.start, (300, 1)))
    assert predicted.logpdf(y).mean() > start.logpdf(y).mean() + 0.01
    np.testing.assert_array_equal(predicted.mean(), model.predict(X))
    model.save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww")
    np.testing.assert_array_equal(loaded.predict_distribution(X).raw, predicted.raw)
    assert loaded.distribution_ == model.distribution_


@pytest.mark.parametrize("spread", ["joint", "held_out"])
@pytest.mark.parametrize("distribution", ["normal", "laplace", StudentTDistribution(df=5)], ids=str)
def test_the_spread_follows_the_noise_and_intervals_cover_what_they_say(distribution, spread):
    X, y, _, _ = uneven_noise(800)
    new, drawn, mean, _ = uneven_noise(2000, 1)
    model = DistributionBoostingRegressor(distribution=distribution, spread=spread, random_state=0, n_estimators=150).fit(X, y)
    predicted = model.predict_distribution(new)
    assert np.sqrt(np.mean((predicted.mean() - mean) ** 2)) < 0.6
    noisy = new[:, 1] > 0.5
    assert np.median(predicted.std()[noisy]) > 3.0 * np.median(predicted.std()[~noisy])
    low, high = predicted.interval(0.9)
    # Learned together on few rows, the spread is too small: that is the paper's way.
    assert (0.86 if spread == "held_out" else 0.8) < np.mean((low <= drawn) & (drawn <= high)) < 0.96


def test_a_spread_learned_from_rows_held_out_is_not_too_small():
    """On few rows the joint training is over-confident; the other is not."""
    rng = np.random.default_rng(3)
    X = rng.random((1200, 5))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=1200)
    covered = {}
    for spread in ("joint", "held_out"):
        model = DistributionBoostingRegressor(spread=spread, random_state=0).fit(X[:200], y[:200])
        predicted = model.predict_distribution(X[200:])
        low, high = predicted.interval(0.9)
        covered[spread] = np.mean((low <= y[200:]) & (y[200:] <= high)), -predicted.logpdf(y[200:]).mean()
    assert 0.86 < covered["held_out"][0] < 0.96
    assert covered["held_out"][1] < covered["joint"][1]


def test_a_normal_of_fixed_variance_is_squared_loss_boosting():
    """The natural gradient of the mean is the residual, whatever the variance is: same trees, same leaves."""
    X, y = load_diabetes(return_X_y=True)
    same = {"n_estimators": 20, "early_stopping": False, "random_state": 0, "learning_rate": 0.1, "l2_regularization": 0.0}
    ours = DistributionBoostingRegressor(**same, multi_output="one_per_parameter").fit(X, y)
    squared = GradientBoostingRegressor(**same).fit(X, y)
    by_score = {tree: ours.forest_.feature[slice(*ours.forest_.roots[tree : tree + 2])].tolist() for tree in range(0, 40, 2)}
    assert set(ours.forest_.output[::2].tolist()) == {0}
    splits = [squared.forest_.feature[slice(*squared.forest_.roots[tree : tree + 2])].tolist() for tree in range(20)]
    # Draws of a tree are by its output too, but nothing is drawn here.
    assert splits == list(by_score.values())
    np.testing.assert_allclose(ours.predict(X), squared.predict(X), rtol=1e-4)


@pytest.mark.parametrize("natural", [True, False])
def test_rounds_are_those_of_the_paper_written_down_naively(natural):
    """Algorithm 1 without a line search, with trees of scikit-learn: for gradients, that is ordinary boosting on two parameters."""
    X, y, _, _ = uneven_noise(250)
    model = DistributionBoostingRegressor(
        **EXACT | {"min_samples_leaf": 20}, natural_gradient=natural, n_estimators=10, learning_rate=0.1, random_state=0
    ).fit(X, y)
    family = NormalDistribution()
    raw = np.tile(family.start(y), (len(y), 1))
    for _ in range(10):
        slope = family.gradient(y, raw)
        if natural:
            slope = natural_gradient(slope, family.information(raw))
        step = [DecisionTreeRegressor(max_depth=3, min_samples_leaf=20, random_state=0).fit(X, slope[:, k]).predict(X) for k in range(2)]
        raw = raw - 0.1 * np.stack(step, axis=1)
    np.testing.assert_allclose(model.predict_distribution(X).raw, raw, rtol=1e-8, atol=1e-8)


def test_a_weight_of_two_is_a_row_given_twice():
    X, y, _, _ = uneven_noise(200)
    often = np.random.default_rng(0).integers(1, 4, 200)
    settings = {"n_estimators": 20, "early_stopping": False, "subsample": 1.0, "random_state": 0}
    by_weight = DistributionBoostingRegressor(**settings).fit(X, y, sample_weight=often)
    by_rows = DistributionBoostingRegressor(**settings, max_leaf_nodes=8, min_samples_leaf=5).fit(
        np.repeat(X, often, axis=0), np.repeat(y, often)
    )
    by_weight = DistributionBoostingRegressor(**settings, max_leaf_nodes=8, min_samples_leaf=5).fit(X, y, sample_weight=often)
    np.testing.assert_allclose(by_weight.predict_distribution(X).raw, by_rows.predict_distribution(X).raw, rtol=1e-5, atol=1e-5)


def test_the_model_is_the_same_for_any_number_of_threads():
    X, y, _, _ = uneven_noise(700)
    raws = [
        DistributionBoostingRegressor(random_state=0, n_estimators=40, n_jobs=n_jobs).fit(X, y).predict_distribution(X).raw
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*raws)


def test_a_target_in_other_units_gives_the_same_distribution_in_those_units():
    X, y, _, _ = uneven_noise(400)
    one, other = (
        DistributionBoostingRegressor(random_state=0, n_estimators=50).fit(X, factor * y).predict_distribution(X)
        for factor in (1.0, 1024.0)
    )
    np.testing.assert_allclose(other.mean(), 1024.0 * one.mean(), rtol=1e-9)
    np.testing.assert_allclose(other.std(), 1024.0 * one.std(), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "wrong"), [("gamma", -1.0), ("lognormal", 0.0), ("poisson", 2.5), ("beta", 1.0), ("exponential", -0.1), ("weibull", 0.0)]
)
def test_targets_outside_of_the_support_are_refused_with_the_first_rows(name, wrong):
    X = np.arange(20.0)[:, None]
    y = np.full(20, 0.5) if name == "beta" else np.arange(1.0, 21.0)
    y[[4, 7]] = wrong
    with pytest.raises(TargetError, match=r"y\[4\] = .*y\[7\]"):
        DistributionBoostingRegressor(distribution=name).fit(X, y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"distribution": StudentTDistribution(1.0), "scoring_rule": "crps"}, "scoring_rule='crps' is not for"),
        ({"distribution": "cauchy"}, "is not known"),
        ({"monotonic_cst": [1, 0, 0]}, "monotonic_cst is for distributions of one parameter"),
        ({"init": DecisionTreeRegressor()}, "init must be an array"),
        ({"line_search": True, "boosting": "dart"}, "line_search"),
        ({"boosting": "ordered"}, "boosting='ordered' is not for distributions"),
        ({"linear_leaves": True}, "linear_leaves=True is not for parameters"),
        ({"path_smooth": 1.0}, "path_smooth=1.0 is not for parameters"),
        ({"spread": "held_out", "warm_start": True}, "warm_start"),
        ({"spread": "held_out", "distribution": "poisson"}, "spread='held_out'"),
        ({"spread": "held_out", "early_stopping": False}, "spread='held_out'"),
    ],
)
def test_what_does_not_go_together_is_refused_in_words(options, words):
    X, y, _, _ = uneven_noise(60)
    if options.get("distribution") in ("weibull", "poisson"):
        y = np.round(np.abs(y)) + 1.0
    with pytest.raises(ParameterError, match=words.replace("(", r"\(")):
        DistributionBoostingRegressor(**options).fit(X, y)


@pytest.mark.parametrize("name", NAMED)
def test_the_crps_is_learned(name):
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = targets_of(name, X, rng)
    model = DistributionBoostingRegressor(
        distribution=name, scoring_rule="crps", n_estimators=40, early_stopping=False, random_state=0
    ).fit(X, y)
    predicted = model.predict_distribution(X)
    start = PredictedDistribution(predicted.distribution, np.tile(model.forest_.start, (300, 1)))
    assert predicted.crps(y).mean() < 0.97 * start.crps(y).mean()


def test_a_line_search_makes_long_steps_that_improve():
    X, y, _, _ = uneven_noise(300)
    settings = {"n_estimators": 15, "early_stopping": False, "random_state": 0, "learning_rate": 0.05}
    plain = DistributionBoostingRegressor(**settings).fit(X, y)
    searched = DistributionBoostingRegressor(**settings, line_search=True).fit(X, y)
    score = DistributionScore(NormalDistribution())
    losses = [score.value(y, predicted.raw) for predicted in searched.staged_predict_distribution(X)]
    assert (np.diff(losses) < 0.0).all()
    assert losses[-1] < score.value(y, plain.predict_distribution(X).raw)


def test_outliers_and_a_constant_target_do_no_harm():
    X, y, _, _ = uneven_noise(300)
    y[5] = 1e6
    model = DistributionBoostingRegressor(random_state=0, n_estimators=100).fit(X, y)
    assert np.isfinite(model.predict_distribution(X).std()).all()
    with pytest.warns(UserWarning, match="nothing to learn"):
        model = DistributionBoostingRegressor(random_state=0, n_estimators=100).fit(X, np.full(300, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0, rtol=1e-6)
    assert (model.predict_distribution(X).std() < 1e-3).all()


def test_explanations_are_of_the_location_and_of_the_spread():
    X, y, _, _ = uneven_noise(600)
    model = DistributionBoostingRegressor(random_state=0, n_estimators=100).fit(X, y)
    explanation = model.explain(X[:50])
    assert explanation.outputs == ("location", "log scale")
    np.testing.assert_allclose(explanation.base + explanation.values.sum(axis=1), model.predict_distribution(X[:50]).raw, rtol=1e-6)
    importance = explanation.importance()
    assert importance[:, 0].argmax() == 0
    assert importance[:, 1].argmax() == 1
    assert explanation.to_text(0).startswith("value of location: ")


def test_distributions_have_the_shapes_of_scipy():
    X, y, _, _ = uneven_noise(100)
    predicted = DistributionBoostingRegressor(random_state=0, n_estimators=5).fit(X, y).predict_distribution(X[:7])
    assert predicted.mean().shape == predicted.std().shape == predicted.median().shape == predicted.quantile(0.3).shape == (7,)
    assert predicted.quantile([[0.1], [0.5], [0.9]]).shape == (3, 7)
    assert predicted.cdf(y[:7]).shape == predicted.pdf(0.0).shape == predicted.logpdf(y[:7]).shape == (7,)
    assert predicted.sample().shape == (7,)
    assert predicted.sample(4, random_state=0).shape == (4, 7)
    assert predicted.sample((2, 3), random_state=0).shape == (2, 3, 7)
    np.testing.assert_array_equal(predicted.sample(4, random_state=0), predicted.sample(4, random_state=0))
    assert len(predicted[2:5]) == 3
    assert len(predicted[2]) == 1
    low, high = predicted.interval(0.8)
    np.testing.assert_allclose(predicted.cdf(high) - predicted.cdf(low), 0.8)
    assert set(predicted.parameters) == {"location", "log scale"}
    with pytest.raises(ParameterError, match=r"\[:, None\]"):
        predicted.quantile([0.1, 0.5, 0.9])
    with pytest.raises(ParameterError, match="from 0 to 1"):
        predicted.quantile(1.5)
    with pytest.raises(ParameterError, match="pdf"):
        predicted.pmf(1.0)


class Doubled(Distribution):
    """A distribution of one's own: an exponential one of twice the mean, by defaults as far as there are any."""

    parameters = ("log mean",)
    support = "above zero"

    def outside(self, y):
        return ~(np.asarray(y) > 0.0)

    def start(self, y, weight=None):
        return np.array([np.log(np.average(y, weights=weight))])

    def log_density(self, y, raw):
        return -y / np.exp(raw[:, 0]) - raw[:, 0]

    def mean(self, raw):
        return np.exp(raw[:, 0])

    def cdf(self, y, raw):
        return 1.0 - np.exp(-y / np.exp(raw[:, 0]))

    def quantile(self, level, raw):
        return -np.exp(raw[:, 0]) * np.log1p(-np.asarray(level))


def test_a_distribution_of_ones_own_is_learned_as_a_named_one_is():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = rng.exponential(np.exp(2.0 * X[:, 0]))
    settings = {"n_estimators": 20, "early_stopping": False, "random_state": 0, "max_leaf_nodes": 4}
    own = DistributionBoostingRegressor(distribution=Doubled(), **settings).fit(X, y)
    named = DistributionBoostingRegressor(distribution="exponential", **settings).fit(X, y)
    np.testing.assert_allclose(own.predict(X), named.predict(X), rtol=0.03)
    with pytest.raises(TargetError, match="above zero"):
        DistributionBoostingRegressor(distribution=Doubled()).fit(X, y - 10.0)


def test_degrees_of_freedom_and_other_numbers_come_with_an_object():
    X, y, _, _ = uneven_noise(150)
    model = DistributionBoostingRegressor(distribution=StudentTDistribution(df=4), random_state=0, n_estimators=20).fit(X, y)
    assert model.distribution_.df == 4
    assert model.predict_distribution(X).raw.shape == (150, 2)
    gamma = DistributionBoostingRegressor(distribution=GammaDistribution(), random_state=0, n_estimators=20).fit(X, np.abs(y) + 0.1)
    assert (gamma.predict_distribution(X).interval(0.9)[0] > 0.0).all()


def test_rounds_can_be_cut_short_and_followed():
    X, y, _, _ = uneven_noise(300)
    model = DistributionBoostingRegressor(random_state=0, n_estimators=60).fit(X, y)
    staged = list(model.staged_predict_distribution(X))
    assert len(staged) == model.n_iter_
    np.testing.assert_allclose(staged[-1].raw, model.predict_distribution(X).raw)
    np.testing.assert_allclose(staged[9].raw, model.predict_distribution(X, n_rounds=10).raw)


def test_leaves_are_learned_again_where_all_parameters_were_learned_together():
    X, y, _, _ = uneven_noise(300)
    joint = DistributionBoostingRegressor(random_state=0, n_estimators=30, early_stopping=False).fit(X, y)
    assert joint.spread_ == "joint"
    other = joint.refit_leaves(X, y + 100.0)
    np.testing.assert_allclose(other.predict(X), joint.predict(X) + 100.0, rtol=0.02)
    staged = DistributionBoostingRegressor(random_state=0, n_estimators=30).fit(X, y)
    assert staged.spread_ == "held_out"
    with pytest.raises(ParameterError, match="spread='joint'"):
        staged.refit_leaves(X, y)


def test_a_large_table_shifts_its_spread_by_the_rows_held_out():
    X, y, _, _ = uneven_noise(3000)
    settings = {"random_state": 0, "n_estimators": 60, "early_stopping": True}
    shifted, joint = (DistributionBoostingRegressor(spread=spread, **settings).fit(X, y) for spread in ("auto", "joint"))
    assert (shifted.spread_, joint.spread_) == ("shifted", "joint")
    difference = shifted.predict_distribution(X).raw - joint.predict_distribution(X).raw
    np.testing.assert_allclose(difference[:, 0], 0.0, atol=1e-9)
    assert np.ptp(difference[:, 1]) < 1e-9
    assert abs(difference[0, 1]) > 0.0
