"""Targets that are known within bounds only, for any distribution: the likelihood of (lower, upper] is the probability between them.

The score of a row whose bounds are the same is that of the distribution itself. That of others is minus log(F(upper) - F(lower)), and its
derivatives are finite differences. The metric of natural gradients is that of targets which are known: it does not depend on the bounds.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import TargetError
from woodwind.distributions.base import Distribution, Floats, differences, fitted_constant

# Probabilities below this are taken as this: their rows are so far away that they tell nothing but a direction.
LEAST = 1e-290
# The start is found from so many rows, spread over all of them.
START_ROWS = 20_000


@dataclass(frozen=True)
class CensoredDistribution(Distribution):
    """Another distribution, for targets (n, 2): lower and upper bounds, the same for a target that is known."""

    of: Distribution

    has_crps: ClassVar[bool] = False

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of the other."""
        return self.of.parameters

    @property
    def longest_steps(self) -> tuple[float, ...]:
        """Those of the other."""
        return self.of.longest_steps

    @property
    def title(self) -> str:
        """That of the other."""
        return self.of.title

    def as_target(self, y: NDArray[Any]) -> Floats:
        """Bounds (n, 2)."""
        return np.ascontiguousarray(y, np.float64)

    def check_bounds(self, y: Floats) -> None:
        """Refuse targets that the distribution gives no probability, and those of which none is known or bounded on both sides."""
        known = y[:, 0] == y[:, 1]
        rows = np.flatnonzero(known & self.outside(y))
        if rows.size:
            shown = ", ".join(f"y[{row}] = {y[row, 0]:g}" for row in rows[:3])
            raise TargetError(f"The target must be {self.of.support}, but {shown}. Choose another distribution, or take those rows out.")
        if not np.isfinite(y).all(axis=1).any():
            raise TargetError("The target is known in no row: all are censored, and nothing can be learned without some that are not.")

    def outside(self, y: Floats) -> NDArray[np.bool_]:
        """Targets that are known and of no density."""
        return self.of.outside(self.middle(y))

    @staticmethod
    def middle(y: Floats) -> Floats:
        """One number for each row: the target, the middle of bounds, or the one bound that there is; zero where there is none."""
        low, high = np.where(np.isfinite(y[:, 0]), y[:, 0], y[:, 1]), np.where(np.isfinite(y[:, 1]), y[:, 1], y[:, 0])
        return np.where(np.isfinite(low), 0.5 * low + 0.5 * high, 0.0)

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The member of the largest likelihood, from that of the middles of bounds."""
        some = slice(None, None, -(-len(y) // START_ROWS))
        y, weight = y[some], None if weight is None else weight[some]
        middle = self.middle(y)
        inside = ~self.of.outside(middle)
        first = self.of.start(middle[inside], None if weight is None else weight[inside])
        return fitted_constant(self, y, weight, first)

    def lowest(self, y: Floats, weight: Floats | None = None) -> Floats:
        """Those of the middles of bounds."""
        middle = self.middle(y)
        inside = ~self.of.outside(middle)
        return self.of.lowest(middle[inside], None if weight is None else weight[inside])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """Logarithm of the density, or of the probability between bounds."""
        out, known = np.empty(len(y)), y[:, 0] == y[:, 1]
        out[known] = self.of.log_density(y[known, 0], raw[known])
        out[~known] = self.log_probability(y[~known], raw[~known])
        return out

    def log_probability(self, y: Floats, raw: Floats) -> Floats:
        """Logarithm of the probability between bounds, by the nearer of the two tails."""
        low, high = y[:, 0], y[:, 1]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            below = np.where(np.isfinite(low), self.of.cdf(np.where(np.isfinite(low), low, 0.0), raw), 0.0)
            above = np.where(np.isfinite(high), self.of.sf(np.where(np.isfinite(high), high, 0.0), raw), 0.0)
            up_to = np.where(np.isfinite(high), self.of.cdf(np.where(np.isfinite(high), high, 0.0), raw), 1.0)
            beyond = np.where(np.isfinite(low), self.of.sf(np.where(np.isfinite(low), low, 0.0), raw), 1.0)
        return np.asarray(np.log(np.maximum(np.where(below > 0.5, beyond - above, up_to - below), LEAST)))

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """Derivatives of minus the log density by the scores, (n, K)."""
        out, known = np.empty((len(y), self.width)), y[:, 0] == y[:, 1]
        out[known] = self.of.gradient(y[known, 0], raw[known])
        within = y[~known]
        out[~known] = differences(lambda some: -self.log_probability(within, some), raw[~known])
        return out

    def information(self, raw: Floats) -> Floats:
        """That of targets which are known."""
        return self.of.information(raw)

    def information_diagonal(self, raw: Floats) -> Floats:
        """That of targets which are known."""
        return self.of.information_diagonal(raw)

    def natural_gradient(self, gradient: Floats, raw: Floats) -> Floats:
        """By the metric of targets which are known."""
        return self.of.natural_gradient(gradient, raw)

    def mean(self, raw: Floats) -> Floats:
        """Means, (n,)."""
        return self.of.mean(raw)

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """Probabilities of values up to y."""
        return self.of.cdf(y, raw)

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """Quantiles of the other."""
        return self.of.quantile(level, raw)
