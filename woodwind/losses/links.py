"""Links: from the raw score, which trees add up, to the mean that users see, and back.

They use the exponential and the logarithm of `kernels/losses/exponential.py`, so that predictions are the same bits on every machine.
Where a mean has no finite score (a rate of 0, a probability of 1) the score saturates.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.kernels.losses.exponential import exp_each, expit_each, log_each, softmax_each

Floats = NDArray[np.float64]

SMALLEST, LARGEST = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max)
# The probability nearest to 1: half a unit in the last place below it.
BELOW_ONE = 1.0 - 2.0**-53

# A logistic or softmax value is worth about this many histogram updates, by which `run_ranges` counts.
WORK = 4


class Link(Protocol):
    """A pair of inverse functions between scores and means."""

    def to_mean(self, score: Floats, threads: int = 1) -> Floats:
        """Mean of each score: (n,) or (n, K), as given."""

    def to_score(self, mean: Floats) -> Floats:
        """Score of each mean: (n,) or (n, K), as given."""


def log_of(values: Floats) -> Floats:
    """Logarithm of each value, of any shape, saturated at the smallest and largest normal float."""
    clipped = np.clip(np.ascontiguousarray(values, np.float64), SMALLEST, LARGEST).reshape(-1)
    out = np.empty_like(clipped)
    log_each(clipped, 0, clipped.shape[0], out)
    return out.reshape(np.shape(values))


@dataclass(frozen=True)
class Identity:
    """The score is the mean."""

    def to_mean(self, score: Floats, threads: int = 1) -> Floats:
        """Give the score itself."""
        return score

    def to_score(self, mean: Floats) -> Floats:
        """Give the mean itself."""
        return mean


@dataclass(frozen=True)
class Log:
    """mean = exp(score), for means that are positive."""

    def to_mean(self, score: Floats, threads: int = 1) -> Floats:
        """Exponential of each score."""
        flat = np.ascontiguousarray(score, np.float64).reshape(-1)
        out = np.empty_like(flat)
        run_ranges(lambda begin, end: exp_each(flat, begin, end, out), flat.shape[0], threads, WORK)
        return out.reshape(np.shape(score))

    def to_score(self, mean: Floats) -> Floats:
        """Logarithm of each mean."""
        return log_of(mean)


@dataclass(frozen=True)
class Logit:
    """mean = 1 / (1 + exp(-factor * score)), for probabilities; a factor of 2 belongs to the exponential loss."""

    factor: float = 1.0

    def to_mean(self, score: Floats, threads: int = 1) -> Floats:
        """Probability of each score."""
        flat = np.ascontiguousarray(score, np.float64).reshape(-1)
        out = np.empty_like(flat)
        run_ranges(lambda begin, end: expit_each(flat, self.factor, begin, end, out), flat.shape[0], threads, WORK)
        return out.reshape(np.shape(score))

    def to_score(self, mean: Floats) -> Floats:
        """Log odds of each probability, divided by the factor."""
        share = np.clip(np.asarray(mean, np.float64), SMALLEST, BELOW_ONE)
        return log_of(share / (1.0 - share)) / self.factor


@dataclass(frozen=True)
class Softmax:
    """mean[k] = exp(score[k]) / sum over j of exp(score[j]), for the probabilities of K classes.

    Scores are unique only up to a constant per row: `to_score` gives those whose mean over the classes is 0.
    """

    def to_mean(self, score: Floats, threads: int = 1) -> Floats:
        """Probabilities (n, K) of scores (n, K)."""
        score = np.ascontiguousarray(score, np.float64)
        out = np.empty_like(score)
        n_rows, n_classes = score.shape
        run_ranges(lambda begin, end: softmax_each(score, begin, end, out), n_rows, threads, WORK * n_classes)
        return out

    def to_score(self, mean: Floats) -> Floats:
        """Scores (n, K) of probabilities (n, K), centred."""
        logs = log_of(mean)
        # Added up from the first class to the last: NumPy's own mean takes an order that depends on the machine.
        total = np.zeros(logs.shape[:-1])
        for k in range(logs.shape[-1]):
            total += logs[..., k]
        centred: Floats = logs - (total / logs.shape[-1])[..., None]
        return centred
