"""Laws that all distributions obey: derivatives, Fisher information, CRPS, moments and quantiles; and what SciPy says of them."""

import numpy as np
import pytest
from scipy import stats

from woodwind.base.errors import ParameterError
from woodwind.distributions import (
    BetaDistribution,
    CategoricalDistribution,
    Distribution,
    ExponentialDistribution,
    GammaDistribution,
    LaplaceDistribution,
    LogisticDistribution,
    LogNormalDistribution,
    NegativeBinomialDistribution,
    NormalDistribution,
    PoissonDistribution,
    StudentTDistribution,
    WeibullDistribution,
    ZeroInflatedPoissonDistribution,
)
from woodwind.distributions.base import differences
from woodwind.distributions.counts import size_information
from woodwind.distributions.named import NAMED, distribution_for
from woodwind.distributions.natural import natural_gradient

# A few members of each, as scores.
MEMBERS = {
    NormalDistribution(): [[0.0, 0.0], [3.0, -2.0], [-1.0, 1.5]],
    LogNormalDistribution(): [[0.0, 0.0], [1.0, -1.0], [-0.5, 0.3]],
    LaplaceDistribution(): [[0.0, 0.0], [3.0, -2.0], [-1.0, 1.5]],
    LogisticDistribution(): [[0.0, 0.0], [3.0, -2.0], [-1.0, 1.5]],
    StudentTDistribution(): [[0.0, 0.0, 1.0], [3.0, -2.0, 0.0], [-1.0, 1.5, 3.0]],
    StudentTDistribution(5.0): [[0.0, 0.0], [3.0, -2.0], [-1.0, 1.5]],
    ExponentialDistribution(): [[0.0], [2.0], [-1.0]],
    GammaDistribution(): [[0.0, 0.0], [2.0, 1.5], [-1.0, -0.7]],
    WeibullDistribution(): [[0.0, 0.0], [2.0, 1.0], [-1.0, -0.5]],
    BetaDistribution(): [[0.0, 1.0], [1.0, 2.0], [-2.0, 0.5]],
    PoissonDistribution(): [[0.0], [2.5], [-1.5]],
    NegativeBinomialDistribution(): [[1.0, 0.5], [3.0, 1.5], [0.0, -1.0]],
    ZeroInflatedPoissonDistribution(): [[1.0, 0.0], [2.0, -1.0], [0.3, 1.0]],
    CategoricalDistribution(): [[0.0], [2.0], [-1.0]],
    CategoricalDistribution(4): [[0.0, 0.5, -1.0], [2.0, 1.0, 0.0], [-1.0, -1.0, -0.5]],
}
CASES = [pytest.param(family, np.array(raw), id=repr(family).replace("Distribution", "")) for family, raw in MEMBERS.items()]


def scipy_twins(family: Distribution, raw: np.ndarray) -> object:
    """The same distributions in SciPy; None for what it does not have."""
    first, second = raw[:, 0], raw[:, min(1, raw.shape[1] - 1)]
    e1, e2 = np.exp(first), np.exp(second)
    share = 1.0 / (1.0 + np.exp(-first))
    twins = {
        "normal": lambda: stats.norm(first, e2),
        "lognormal": lambda: stats.lognorm(s=e2, scale=e1),
        "laplace": lambda: stats.laplace(first, e2),
        "logistic": lambda: stats.logistic(first, e2),
        "student_t": lambda: stats.t(family.freedom(raw), first, e2),
        "exponential": lambda: stats.expon(scale=e1),
        "gamma": lambda: stats.gamma(a=e2, scale=e1 / e2),
        "weibull": lambda: stats.weibull_min(c=e2, scale=e1),
        "beta": lambda: stats.beta(share * e2, (1.0 - share) * e2),
        "poisson": lambda: stats.poisson(e1),
        "negative_binomial": lambda: stats.nbinom(e2, e2 / (e2 + e1)),
    }
    return twins[family.name]() if family.name in twins else None


def test_every_name_has_its_distribution() -> None:
    assert len(NAMED) == 12
    for name in NAMED:
        assert distribution_for(name).name == name
    assert distribution_for("Gaussian") == NormalDistribution()
    with pytest.raises(ParameterError, match="Did you mean 'normal'"):
        distribution_for("normla")
    with pytest.raises(ParameterError, match="give an instance"):
        distribution_for(NormalDistribution)


@pytest.mark.parametrize(("family", "raw"), CASES)
def test_densities_probabilities_quantiles_and_moments_are_scipys(family: Distribution, raw: np.ndarray) -> None:
    twin = scipy_twins(family, raw)
    if twin is None:
        pytest.skip("SciPy has none")
    levels = np.array([1e-4, 0.03, 0.4, 0.5, 0.77, 0.999])[:, None]
    y = family.quantile(levels, raw)
    np.testing.assert_allclose(y, twin.ppf(levels), rtol=1e-9)
    density = twin.logpmf(y) if family.discrete else twin.logpdf(y)
    np.testing.assert_allclose(family.log_density(y, raw), density, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(family.cdf(y, raw), twin.cdf(y), rtol=1e-9)
    np.testing.assert_allclose(family.mean(raw), twin.mean(), rtol=1e-10)
    np.testing.assert_allclose(family.std(raw), twin.std(), rtol=1e-10)


@pytest.mark.parametrize(("family", "raw"), CASES)
def test_gradients_are_the_derivatives_of_the_log_score(family: Distribution, raw: np.ndarray) -> None:
    for level in (0.02, 0.3, 0.8, 0.995):
        y = family.quantile(level, raw)
        slow = differences(lambda some, at=y: -family.log_density(at, some), raw)
        np.testing.assert_allclose(family.gradient(y, raw), slow, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("family", "raw"), CASES)
def test_the_fisher_information_is_the_mean_square_of_the_gradient(family: Distribution, raw: np.ndarray) -> None:
    """By Monte Carlo: 200,000 draws of each member; the mean gradient is zero."""
    rng = np.random.default_rng(0)
    found = family.information(raw)
    for row in range(len(raw)):
        many = np.tile(raw[row], (200_000, 1))
        y = family.sample((), many, rng)
        slope = family.gradient(y, many)
        outer = slope[:, :, None] * slope[:, None, :]
        error = outer.std(axis=0) / np.sqrt(len(y))
        assert (np.abs(slope.mean(axis=0)) < 5.0 * slope.std(axis=0) / np.sqrt(len(y))).all()
        full = np.diag(found[row]) if found.ndim == 2 else found[row]
        assert (np.abs(outer.mean(axis=0) - full) < 5.0 * error + 1e-9).all()


@pytest.mark.parametrize(("family", "raw"), CASES)
def test_the_crps_is_the_integral_of_the_squared_distance_of_distribution_functions(family: Distribution, raw: np.ndarray) -> None:
    levels = np.linspace(1e-9, 1.0 - 1e-9, 20_001)[:, None]
    for level in (0.05, 0.5, 0.97):
        y = family.quantile(level, raw)
        found = family.crps(y, raw)
        for row in range(len(raw)):
            one = raw[row : row + 1]
            middle = family.quantile(levels, one)[:, 0]
            grid = np.arange(3_000.0) if family.discrete else np.sort(np.append(middle, np.linspace(middle[0], middle[-1], 20_001)))
            square = (family.cdf(grid, np.tile(one, (len(grid), 1))) - (grid >= y[row])) ** 2
            slow = square.sum() if family.discrete else np.trapezoid(square, grid)
            np.testing.assert_allclose(found[row], slow, rtol=1e-9 if family.discrete else 3e-3)
        # As it is for a distribution of one's own: by quantiles.
        np.testing.assert_allclose(Distribution.crps(family, y, raw), found, rtol=0.05)


@pytest.mark.parametrize(("family", "raw"), CASES)
def test_crps_gradients_are_derivatives_and_their_metric_is_the_squared_derivative_of_the_cdf(
    family: Distribution, raw: np.ndarray
) -> None:
    for level in (0.05, 0.35, 0.6, 0.97):
        y = family.quantile(level, raw)
        slow = differences(lambda some, at=y: family.crps(at, some), raw)
        np.testing.assert_allclose(family.crps_gradient(y, raw), slow, rtol=1e-4, atol=1e-6)
    metric = family.crps_metric(raw)
    for row in range(len(raw)):
        one = raw[row : row + 1]
        if family.discrete:
            grid, width = np.arange(0.0, 200.0), 1.0
        else:
            grid = np.linspace(float(family.quantile(1e-9, one)[0]), float(family.quantile(1.0 - 1e-9, one)[0]), 200_001)
            width = grid[1] - grid[0]
        many = np.tile(one, (len(grid), 1))
        slope = differences(lambda some, at=grid: family.cdf(at, some), many)
        slow = 2.0 * width * slope.T @ slope
        full = np.diag(metric[row]) if metric.ndim == 2 else metric[row]
        size = np.sqrt(np.outer(np.diag(slow), np.diag(slow)))
        assert (np.abs(full - slow) < 0.06 * size).all(), (full, slow)


def test_the_information_about_the_size_of_a_negative_binomial_is_that_of_its_table() -> None:
    family = NegativeBinomialDistribution()
    for mean, size in [(0.0, 0.0), (1.3, -1.1), (4.2, 2.7), (7.0, 5.5), (-3.1, 1.0)]:
        table = family.information(np.array([[mean, size]]))[0, 1]
        assert table == pytest.approx(size_information(np.exp(mean), np.exp(size)), rel=2e-3)


@pytest.mark.parametrize(("family", "raw"), CASES)
def test_the_start_fits_all_rows_best(family: Distribution, raw: np.ndarray) -> None:
    """Draws of one member give its scores back; no step away from the start is better; a weight of two is a row given twice."""
    rng = np.random.default_rng(1)
    y = family.sample((), np.tile(raw[0], (4000, 1)), rng)
    start = family.start(y)
    if isinstance(family, StudentTDistribution):
        start = start[:2]
        family = StudentTDistribution(family.df or 6.0)
    at = lambda scores: -family.log_density(y, np.tile(scores, (len(y), 1))).mean()  # noqa: E731
    for k in range(len(start)):
        step = 0.03 * np.eye(len(start))[k]
        assert at(start) <= min(at(start + step), at(start - step)) + 1e-9
    weight = rng.integers(1, 4, len(y)).astype(np.float64)
    np.testing.assert_allclose(family.start(y, weight), family.start(np.repeat(y, weight.astype(int))), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("family", "raw"), CASES)
def test_samples_have_the_mean_and_the_quantiles_of_their_distribution(family: Distribution, raw: np.ndarray) -> None:
    draws = family.sample((20_000,), raw, np.random.default_rng(2))
    assert draws.shape == (20_000, len(raw))
    assert not family.outside(draws).any()
    for level in (0.1, 0.5, 0.9):
        share = (draws <= family.quantile(level, raw)).mean(axis=0)
        assert (share > level - 0.02).all()
        assert (share < family.cdf(family.quantile(level, raw), raw) + 0.02).all()


def test_natural_gradients_solve_the_metric() -> None:
    rng = np.random.default_rng(3)
    for k in (2, 3):
        root = rng.normal(size=(7, k, k))
        metric = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(k)
        slope = rng.normal(size=(7, k))
        np.testing.assert_allclose(np.einsum("nij,nj->ni", metric, natural_gradient(slope, metric)), slope, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(natural_gradient(slope, np.einsum("nkk->nk", metric)), slope / np.einsum("nkk->nk", metric))


def test_degrees_of_freedom_must_be_a_number_above_zero() -> None:
    for wrong in (0.0, -1.0, float("nan"), True, "3"):
        with pytest.raises(ParameterError, match="df must be"):
            StudentTDistribution(wrong)


class Gumbel(Distribution):
    """The least that a distribution of one's own has."""

    parameters = ("location", "log scale")

    def outside(self, y: np.ndarray) -> np.ndarray:
        return np.zeros(np.shape(y), bool)

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        spread = y.std() * np.sqrt(6.0) / np.pi
        return np.array([y.mean() - 0.5772 * spread, np.log(spread)])

    def log_density(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        z = (y - raw[:, 0]) / np.exp(raw[:, 1])
        return -z - np.exp(-z) - raw[:, 1]

    def mean(self, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0] + 0.5772156649 * np.exp(raw[:, 1])

    def cdf(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        return np.exp(-np.exp(-(y - raw[:, 0]) / np.exp(raw[:, 1])))

    def quantile(self, level: np.ndarray, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0] - np.exp(raw[:, 1]) * np.log(-np.log(level))


def test_a_distribution_of_ones_own_has_derivatives_and_information_by_default() -> None:
    family, raw = Gumbel(), np.array([[1.0, 0.5], [0.0, 0.0]])
    y = family.quantile(0.7, raw)
    z = (y - raw[:, 0]) / np.exp(raw[:, 1])
    exact = np.stack([(np.exp(-z) - 1.0) / np.exp(raw[:, 1]), 1.0 - z + z * np.exp(-z)], axis=1)
    np.testing.assert_allclose(family.gradient(y, raw), exact, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(family.information(raw)[:, 0, 0], np.exp(-2.0 * raw[:, 1]), rtol=0.02)
    np.testing.assert_allclose(family.std(raw), np.pi / np.sqrt(6.0) * np.exp(raw[:, 1]), rtol=0.02)
