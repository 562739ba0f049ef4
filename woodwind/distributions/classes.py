"""The distribution of a class: categorical, which is Bernoulli's for two classes."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from woodwind.base.errors import ParameterError
from woodwind.distributions.base import Distribution, Floats, mean_of

# To be in this list is to be public, and a kind of the model file.
__all__ = ["CategoricalDistribution"]

# The least share of a class to start from, where all of its rows weigh nothing.
LEAST_SHARE = 1e-9
# The least probability that a natural gradient is divided by.
LEAST_PROBABILITY = 1e-12


@dataclass(frozen=True)
class CategoricalDistribution(Distribution):
    """One of K classes, by the log-odds of each against the first: K - 1 scores. Targets are the numbers of classes, from zero on."""

    n_classes: int = 2

    name: ClassVar[str] = "categorical"
    aliases: ClassVar[tuple[str, ...]] = ("bernoulli", "k_categorical")
    discrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.n_classes, bool) or not isinstance(self.n_classes, int) or not 2 <= self.n_classes <= 1 << 20:
            raise ParameterError(f"CategoricalDistribution: n_classes must be a whole number from 2 on, but it is {self.n_classes!r}.")

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """The log-odds of every class but the first."""
        return tuple(f"log-odds of class {number} against class 0" for number in range(1, self.n_classes))

    @property
    def support(self) -> str:  # type: ignore[override]
        """The numbers of classes."""
        return f"whole numbers from 0 to {self.n_classes - 1}"

    def probabilities(self, raw: Floats) -> Floats:
        """Probabilities of all classes, (n, n_classes)."""
        return np.asarray(special.softmax(np.hstack([np.zeros((len(raw), 1)), raw]), axis=1))

    def outside(self, y: Floats) -> NDArray[np.bool_]:
        """What is no number of a class."""
        values = np.asarray(y, np.float64)
        return np.asarray(~((values >= 0.0) & (values < self.n_classes) & (values == np.floor(values))))

    def start(self, y: Floats, weight: Floats | None = None) -> Floats:
        """The log-odds of the shares of the classes."""
        shares = [max(mean_of((y == number).astype(np.float64), weight), LEAST_SHARE) for number in range(self.n_classes)]
        return np.array([math.log(share / shares[0]) for share in shares[1:]])

    def log_density(self, y: Floats, raw: Floats) -> Floats:
        """The logarithm of the probability of the class."""
        outside = self.outside(y)
        number = np.where(outside, 0.0, y).astype(np.intp)
        log = special.log_softmax(np.hstack([np.zeros((len(raw), 1)), raw]), axis=1)
        return np.where(outside, -np.inf, np.take_along_axis(log, np.broadcast_to(number, len(raw))[:, None], axis=1)[:, 0])

    def gradient(self, y: Floats, raw: Floats) -> Floats:
        """p_k less one for the class itself."""
        return np.asarray(self.probabilities(raw)[:, 1:] - (np.asarray(y)[..., None] == np.arange(1, self.n_classes)))

    def information(self, raw: Floats) -> Floats:
        """p_k on the diagonal, less p_j p_k."""
        p = self.probabilities(raw)[:, 1:]
        if self.n_classes == 2:
            return p * self.probabilities(raw)[:, :1]
        out = -p[:, :, None] * p[:, None, :]
        out[:, np.arange(self.width), np.arange(self.width)] += p
        return out

    def information_diagonal(self, raw: Floats) -> Floats:
        """p_k (1 - p_k)."""
        p = self.probabilities(raw)[:, 1:]
        return p * (1.0 - p)

    def natural_gradient(self, gradient: Floats, raw: Floats) -> Floats:
        """g_k / p_k plus the sum of all g over the first p: the inverse of the information, by Sherman & Morrison."""
        p = np.maximum(self.probabilities(raw), LEAST_PROBABILITY)
        return np.asarray(gradient / p[:, 1:] + gradient.sum(axis=1, keepdims=True) / p[:, :1])

    def crps(self, y: Floats, raw: Floats) -> Floats:
        """The ranked probability score, of classes in the order of their numbers; for two classes, that of Brier."""
        so_far = np.cumsum(self.probabilities(raw), axis=1)[:, :-1]
        return np.asarray(((so_far - (np.asarray(y)[..., None] <= np.arange(self.width))) ** 2).sum(axis=-1))

    def mean(self, raw: Floats) -> Floats:
        """The mean of the number of the class; for two classes, the probability of the second."""
        return np.asarray(self.probabilities(raw) @ np.arange(float(self.n_classes)))

    def cdf(self, y: Floats, raw: Floats) -> Floats:
        """Probabilities of the classes up to this number."""
        so_far = np.hstack([np.zeros((len(raw), 1)), np.cumsum(self.probabilities(raw), axis=1)])
        number = np.clip(np.floor(np.asarray(y, np.float64)) + 1.0, 0.0, self.n_classes).astype(np.intp)
        return np.asarray(np.minimum(so_far[np.arange(len(raw)), number], 1.0))

    def quantile(self, level: Any, raw: Floats) -> Floats:
        """The first class at which probabilities reach the level."""
        so_far = np.cumsum(self.probabilities(raw), axis=1)[:, :-1] * (1.0 + 4e-16)
        return np.asarray((np.asarray(level, np.float64)[..., None] > so_far).sum(axis=-1), np.float64)
