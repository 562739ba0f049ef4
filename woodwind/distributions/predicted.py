"""What `predict_distribution` gives: one distribution for each row, with the shapes that SciPy's distributions have."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.distributions.base import Distribution, Floats


@dataclass(frozen=True, eq=False)
class PredictedDistribution:
    """A distribution for each of n rows.

    Shapes are those of SciPy: what is given broadcasts with (n,). A number gives an answer of shape (n,), n numbers one for each row, and
    several levels for all rows are given as a column, `quantile([[0.1], [0.9]])`, for an answer of shape (2, n).

    Examples
    --------
    >>> import numpy as np
    >>> from woodwind.distributions import NormalDistribution, PredictedDistribution
    >>> predicted = PredictedDistribution(NormalDistribution(), np.array([[0.0, 0.0], [5.0, 1.0]]))
    >>> predicted.mean(), predicted.std().round(3)
    (array([0., 5.]), array([1.   , 2.718]))
    >>> predicted.interval(0.9)[0].round(3)
    array([-1.645,  0.529])
    """

    distribution: Distribution
    raw: Floats  # (n, K) scores

    def __len__(self) -> int:
        return len(self.raw)

    def __getitem__(self, rows: Any) -> "PredictedDistribution":
        """The distributions of some rows."""
        return PredictedDistribution(self.distribution, np.atleast_2d(self.raw[rows]))

    @property
    def parameters(self) -> dict[str, Floats]:
        """What was learned of each row, by name, (n,) each: in the form that the name says, such as "log scale"."""
        return {name: np.array(self.raw[:, k]) for k, name in enumerate(self.distribution.parameters)}

    def mean(self) -> Floats:
        """Means, (n,)."""
        return self.distribution.mean(self.raw)

    def std(self) -> Floats:
        """Standard deviations, (n,)."""
        return self.distribution.std(self.raw)

    def var(self) -> Floats:
        """Variances, (n,)."""
        return self.std() ** 2

    def median(self) -> Floats:
        """Medians, (n,)."""
        return self.quantile(0.5)

    def quantile(self, q: Any) -> Floats:
        """The values that are not exceeded with probability `q`; of a count, the smallest such value."""
        levels = self._beside(q, "q")
        if not ((levels >= 0.0) & (levels <= 1.0)).all():
            raise ParameterError("quantile: q must be probabilities from 0 to 1.")
        return self.distribution.quantile(levels, self.raw)

    def interval(self, confidence: Any = 0.95) -> tuple[Floats, Floats]:
        """Ends of the interval around the median that holds `confidence` of the probability: as much is left out on either side."""
        share = self._beside(confidence, "confidence")
        if not ((share >= 0.0) & (share <= 1.0)).all():
            raise ParameterError("interval: confidence must be a probability from 0 to 1, such as 0.9.")
        return self.quantile(0.5 - 0.5 * share), self.quantile(0.5 + 0.5 * share)

    def cdf(self, x: Any) -> Floats:
        """Probabilities of values up to x."""
        return self.distribution.cdf(self._beside(x, "x"), self.raw)

    def sf(self, x: Any) -> Floats:
        """Probabilities of values above x."""
        return np.asarray(1.0 - self.cdf(x))

    def logpdf(self, x: Any) -> Floats:
        """Logarithm of the density; of a count, of its probability. -inf outside of the support."""
        return self.distribution.log_density(self._beside(x, "x"), self.raw)

    def pdf(self, x: Any) -> Floats:
        """Density; of a count, its probability."""
        return np.exp(self.logpdf(x))

    def logpmf(self, x: Any) -> Floats:
        """Logarithm of the probability of a count."""
        self._require_counts("logpmf")
        return self.logpdf(x)

    def pmf(self, x: Any) -> Floats:
        """Probability of a count."""
        self._require_counts("pmf")
        return self.pdf(x)

    def crps(self, y: Any) -> Floats:
        """Continuous ranked probability scores of what came; less is better."""
        return self.distribution.crps(self._beside(y, "y"), self.raw)

    def sample(self, shape: int | tuple[int, ...] = (), random_state: Any = None) -> Floats:
        """Draws: (n,), or of the shape given with (n,) after it.

        Parameters
        ----------
        shape : int or tuple of ints, default=()
            How many draws of every row.
        random_state : int, numpy.random.Generator or None, default=None
            Seed of the draws.
        """
        before = (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)
        rng = random_state if isinstance(random_state, np.random.Generator) else np.random.default_rng(random_state)
        return self.distribution.sample(before, self.raw, rng)

    def _require_counts(self, method: str) -> None:
        if not self.distribution.discrete:
            raise ParameterError(
                f"{method} is for distributions of counts, and {self.distribution.title} has a density. Use pdf or logpdf."
            )

    def _beside(self, given: Any, name: str) -> NDArray[np.float64]:
        """Numbers that broadcast with the rows."""
        values = np.asarray(given, np.float64)
        if values.ndim and values.shape[-1] not in (1, len(self)):
            raise ParameterError(
                f"{name} has the shape {values.shape}, and there are {len(self)} rows: give one number, one for each row, or several for "
                f"all rows as a column, numpy.array({name})[:, None]."
            )
        return values
