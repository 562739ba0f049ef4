"""An empirical distribution by its quantiles: what the training targets in the leaves of a forest say of a row."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.distributions.base import Distribution, Floats

# Levels of the quantiles that stand for a distribution: the middles of so many equal parts of its probability.
N_QUANTILES = 200
QUANTILE_LEVELS = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES


@dataclass(frozen=True)
class EmpiricalDistribution(Distribution):
    """Equal probability at each of 200 values, which ascend: `raw` (n, 200) are the values themselves."""

    name: ClassVar[str] = "empirical"
    parameters: ClassVar[tuple[str, ...]] = tuple(f"quantile {level:g}" for level in QUANTILE_LEVELS.tolist())

    def outside(self, y: Floats) -> NDArray[np.bool_]:
        """None."""
        return np.zeros(np.shape(y), np.bool_)

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Quantiles of all targets."""
        raise NotImplementedError("an empirical distribution is not boosted")

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """There is none."""
        raise ParameterError("An empirical distribution has no density. Use cdf, quantile, interval, crps or sample.")

    def mean(self, raw: Floats) -> Floats:
        """Mean of the values."""
        return np.asarray(raw.mean(axis=1))

    def std(self, raw: Floats) -> Floats:
        """Standard deviation of the values."""
        return np.asarray(raw.std(axis=1))

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """Share of the values up to y."""
        return np.asarray((raw <= np.asarray(y)[..., None]).mean(axis=-1))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """The smallest value up to which there are so many."""
        place = np.clip(np.ceil(np.asarray(level, np.float64) * N_QUANTILES - 1e-9).astype(np.int64) - 1, 0, N_QUANTILES - 1)
        return np.asarray(raw[np.arange(len(raw)), place])

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """Twice the mean pinball loss of the values."""
        away = np.asarray(y)[..., None] - raw
        return np.asarray(2.0 * np.maximum(QUANTILE_LEVELS * away, (QUANTILE_LEVELS - 1.0) * away).mean(axis=-1))
