"""predict_distribution of forests: the targets in the leaves as a distribution."""

import numpy as np
import pytest

from woodwind import ExtraTreesRegressor, RandomForestRegressor
from woodwind.base.errors import ParameterError


def rows(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 3))
    return X, X[:, 0] * 10.0 + np.where(X[:, 1] > 0.5, 2.0, 0.5) * rng.normal(size=n_rows)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_the_distribution_of_a_forest_covers_what_it_says(kind):
    X, y = rows(1000, 0)
    new, drawn = rows(1000, 1)
    model = kind(n_estimators=60, quantiles=True, bootstrap=True, random_state=0).fit(X, y)
    predicted = model.predict_distribution(new)
    low, high = predicted.interval(0.9)
    assert 0.85 < np.mean((low <= drawn) & (drawn <= high)) < 0.95
    np.testing.assert_allclose(predicted.median(), model.predict_quantiles(new, 0.5)[:, 0], atol=0.2)
    assert np.corrcoef(predicted.mean(), model.predict(new))[0, 1] > 0.99
    noisy = new[:, 1] > 0.5
    assert np.median(predicted.std()[noisy]) > 1.5 * np.median(predicted.std()[~noisy])
    assert predicted.cdf(drawn).shape == (1000,)
    assert predicted.sample(3, random_state=0).shape == (3, 1000)
    assert predicted.crps(drawn).mean() < 1.0
    with pytest.raises(ParameterError, match="no density"):
        predicted.logpdf(drawn)


def test_quantiles_of_an_empirical_distribution_are_its_values():
    X, y = rows(200, 2)
    predicted = RandomForestRegressor(n_estimators=20, quantiles=True, random_state=0).fit(X, y).predict_distribution(X[:5])
    assert (np.diff(predicted.raw, axis=1) >= 0.0).all()
    np.testing.assert_array_equal(predicted.quantile([[0.25], [0.75]]), predicted.raw[:, [49, 149]].T)
    assert (predicted.cdf(predicted.quantile(0.3)) >= 0.3).all()


def test_a_forest_without_the_rows_of_its_leaves_says_what_to_do():
    X, y = rows(100, 3)
    with pytest.raises(ParameterError, match="quantiles=True"):
        RandomForestRegressor(n_estimators=5, random_state=0).fit(X, y).predict_distribution(X)
