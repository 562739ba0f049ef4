"""Linear regression over all subsets of columns: how probable each subset is, and the coefficients averaged over them.

A. E. Raftery, D. Madigan & J. A. Hoeting, "Bayesian model averaging for linear regression models", JASA 92 (1997); F. Liang, R. Paulo,
G. Molina, M. A. Clyde & J. O. Berger, "Mixtures of g priors for Bayesian variable selection", JASA 103 (2008), Eq. 6; D. Madigan &
J. York, "Bayesian graphical models for discrete data", International Statistical Review 63 (1995): the chain MC3. The page:
docs/algorithms/bayesian-averaging.md.

Everything is computed from what the rows come to after one orthogonal turn (`RegressionMoments`): rows are looked at once. An intercept is
in every model. A subset with columns that depend on each other linearly, or with so many that no error is left, is no model of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from woodwind.base.random_streams import integers, key, uniform
from woodwind.base.validate import require, require_array
from woodwind.ensemble.bayesian_averaging import LEAST_VARIANCE, posterior

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Evidence = Literal["bic", "aic", "aicc", "g"]

# A column of which others explain all but this share adds nothing but rounding.
DEPENDENT = 1e-8
# Subsets are solved in stacks of at most so many numbers.
STACK = 1 << 22
# The least probable subsets that together have no more than this are left out of averages of coefficients.
TAIL = 1e-12


@dataclass(frozen=True, eq=False)
class RegressionMoments:
    """What a linear regression needs to know of the rows. Columns and target are measured in their standard deviations."""

    n: float  # rows: the sum of their weights
    center: Floats  # (p,) means of the columns
    scale: Floats  # (p,) their standard deviations; 1 for a constant column
    mean: float  # of the target
    spread: float  # its standard deviation; 1 if it is constant
    root: Floats  # (r, p + 1) columns and target turned so that r <= p + 1 rows are left; the products of its columns are correlations
    total: float  # the variance of the target: 1, or 0 if it is constant
    largest: int  # most columns of a model

    @classmethod
    def of(cls, X: Floats, y: Floats, weight: Floats | None = None) -> "RegressionMoments":
        """Of a matrix (n, p) and a target (n,)."""
        w = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
        n = float(w.sum())
        center, mean = w @ X / n, float(w @ y / n)
        apart, residual = X - center, y - mean
        scale, spread = np.sqrt(w @ apart**2 / n), float(np.sqrt(w @ residual**2 / n))
        # What is left of a constant column after its mean is taken away is rounding.
        scale[scale <= 1e-12 * np.abs(center)] = 0.0
        spread = 0.0 if spread <= 1e-12 * abs(mean) else spread
        apart = np.where(scale > 0.0, apart / np.where(scale > 0.0, scale, 1.0), 0.0)
        residual = residual / spread if spread > 0.0 else np.zeros(len(y))
        root: Floats = np.asarray(np.linalg.qr(np.sqrt(w / n)[:, None] * np.column_stack([apart, residual]), mode="r"))
        return cls(n, center, np.where(scale > 0.0, scale, 1.0), mean, spread or 1.0, root, float(spread > 0.0), _most_columns(root, n))

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.root.shape[1]) - 1


def _most_columns(root: Floats, n: float) -> int:
    """Most columns of a model, so that a degree of freedom is left for the error."""
    p = int(root.shape[1]) - 1
    most = min(p, int(np.ceil(n)) - 2)
    left, sizes, _ = np.linalg.svd(root[:, :-1], full_matrices=False)
    rank = int((sizes > np.sqrt(DEPENDENT) * sizes.max(initial=0.0)).sum())
    rest = root[:, -1] - left[:, :rank] @ (left[:, :rank].T @ root[:, -1])
    # With more columns than different rows, as many of them as there are dimensions fit anything.
    if rank < p and float(rest @ rest) <= DEPENDENT:
        most = min(most, rank - 1)
    return max(most, 0)


# How well each subset fits.


def every_subset(p: int) -> Flags:
    """All subsets (2^p, p) of p columns: row number r has the columns whose bits are set in r, the first column in the highest bit."""
    return _bits(np.arange(1 << p), p)


def _bits(numbers: NDArray[np.int64], p: int) -> Flags:
    return np.asarray((numbers[:, None] >> np.arange(p - 1, -1, -1)) & 1 == 1)


def unexplained_of_every(moments: RegressionMoments) -> Floats:
    """The share of the target's variance that each of the 2^p subsets leaves unexplained, in the order of `every_subset`; NaN: no model.

    A column is either left out of the matrix of products, or taken into the model: the others are then freed from what it explains
    (Schur complement), which is what elimination does. So each subset costs one division beyond those that it shares with others
    (Furnival & Wilson 1974).
    """
    stack, count = (moments.root.T @ moments.root)[None], np.zeros(1, np.int64)
    for _ in range(moments.n_columns):
        pivot, row, rest = stack[:, :1, :1], stack[:, :1, 1:], stack[:, 1:, 1:]
        fine = pivot > DEPENDENT
        freed = rest - np.where(fine, row.transpose(0, 2, 1) * row / np.where(fine, pivot, 1.0), np.nan)
        stack = np.stack([rest, freed], axis=1).reshape(-1, *rest.shape[1:])
        count = np.stack([count, count + 1], axis=1).reshape(-1)
    left = np.maximum(stack[:, 0, 0], 0.0)
    left[count > moments.largest] = np.nan
    return np.asarray(left)


def unexplained(moments: RegressionMoments, included: Flags) -> float:
    """The same for one subset (p,)."""
    chosen = np.flatnonzero(included)
    if len(chosen) > moments.largest:
        return np.nan
    pivots = np.diagonal(np.linalg.qr(moments.root[:, [*chosen, -1]], mode="r")) ** 2
    if not (pivots[: len(chosen)] > DEPENDENT).all():
        return np.nan
    return float(pivots[-1]) if len(pivots) > len(chosen) else 0.0


# How probable each subset is.


def log_evidence(left: Floats, size: NDArray, n: float, evidence: Evidence, g: float) -> Floats:
    """The log of how probable the rows are under subsets of `size` columns that leave such a share unexplained, up to a constant.

    By a criterion it is -criterion / 2, in which the log-likelihood is -n/2 log(unexplained) up to what all subsets have in common,
    and the intercept and the variance are two more parameters. Under the g prior it is Eq. 6 of Liang et al. (2008):
    (1 + g)^((n - 1 - k) / 2) / (1 + g (1 - R^2))^((n - 1) / 2).
    """
    least = np.maximum(left, LEAST_VARIANCE)
    if evidence == "g":
        return np.asarray(0.5 * (n - 1.0 - size) * np.log1p(g) - 0.5 * (n - 1.0) * np.log1p(g * left))
    fit, parameters = -0.5 * n * np.log(least), size + 2.0
    if evidence == "bic":
        return np.asarray(fit - 0.5 * size * np.log(n))
    if evidence == "aic":
        return np.asarray(fit - size)
    room = n - parameters - 1.0
    return np.where(room > 0.0, fit - parameters * n / np.where(room > 0.0, room, 1.0), -np.inf)


def log_model_prior(size: NDArray, p: int, prior: "str | float | tuple[float, float]") -> Floats:
    """The log prior of a subset of so many of p columns.

    'uniform': all subsets alike; a number: each column is in with that probability; 'beta_binomial': the share of columns that are in
    is unknown, all shares alike (Scott & Berger 2010), or after a beta distribution of two parameters (a, b).
    """
    size = np.asarray(size, np.float64)
    if prior == "uniform":
        return np.zeros_like(size)
    if isinstance(prior, float):
        with np.errstate(divide="ignore", invalid="ignore"):
            into, out = np.log(prior), np.log1p(-prior)
            return np.where(size > 0, size * into, 0.0) + np.where(size < p, (p - size) * out, 0.0)
    a, b = (1.0, 1.0) if isinstance(prior, str) else prior
    return np.asarray(betaln(a + size, b + p - size) - betaln(a, b))


class SubsetModels(NamedTuple):
    """Subsets, the most probable first."""

    included: Flags  # (M, p)
    left: Floats  # (M,) the share of the variance of the target that each leaves unexplained
    log_evidence: Floats  # (M,)
    probability: Floats  # (M,)

    def check(self) -> "SubsetModels":
        """All have the same length, and probabilities are such; returns self, or raises DataError."""
        require(self.included.ndim == 2, "subsets have the wrong number of dimensions")
        for name in ("left", "log_evidence", "probability"):
            require_array(getattr(self, name), (len(self.included),), f"{name} of subsets")
        require((self.probability >= 0.0) & (self.probability <= 1.0 + 1e-9), "a probability is none")
        return self

    def first(self, count: int) -> "SubsetModels":
        """The most probable ones."""
        return SubsetModels(self.included[:count], self.left[:count], self.log_evidence[:count], self.probability[:count])


Score = Callable[[Floats, NDArray], Floats]  # the unexplained shares and the sizes of subsets -> log prior + log evidence


def every_model(moments: RegressionMoments, score: Score) -> SubsetModels:
    """All 2^p subsets that are models."""
    left = unexplained_of_every(moments)
    there = np.flatnonzero(~np.isnan(left))
    return ordered(_bits(there, moments.n_columns), left[there], score)


def ordered(included: Flags, left: Floats, score: Score) -> SubsetModels:
    """Models by their probability among themselves, of equals those with fewer columns first; what the prior rules out is none."""
    logs = score(left, included.sum(axis=1))
    allowed = logs > -np.inf
    if allowed.any():
        included, left, logs = included[allowed], left[allowed], logs[allowed]
    probability = posterior(logs)
    order = np.lexsort((included.sum(axis=1), -probability))
    return SubsetModels(included[order], left[order], logs[order], probability[order])


def within_window(models: SubsetModels, ratio: float | None) -> SubsetModels:
    """Occam's window (Madigan & Raftery 1994): models less probable than the best by more than a factor are discarded."""
    if ratio is None:
        return models
    kept = models.probability * ratio >= models.probability.max()
    probability = models.probability[kept]
    return SubsetModels(models.included[kept], models.left[kept], models.log_evidence[kept], probability / probability.sum())


def chain(moments: RegressionMoments, score: Score, steps: int, burn: int, seed: int) -> tuple[SubsetModels, Floats]:
    """Models found by a Markov chain (MC3), weighed by what is known of each, and the share of its steps that had each column in.

    A step turns one column on or off, chosen at random, or exchanges one that is in for one that is out, and is taken with the
    probability min(1, posterior ratio). Both kinds of step are as likely back as forth. Each subset is solved once and remembered.
    """
    p = moments.n_columns
    known: dict[bytes, tuple[float, float]] = {}

    def scored(included: Flags) -> tuple[float, float]:
        name = np.packbits(included).tobytes()
        if name not in known:
            left = unexplained(moments, included)
            logs = -np.inf if np.isnan(left) else float(score(np.array([left]), np.array([included.sum()]))[0])
            known[name] = (left, logs)
        return known[name]

    now = np.zeros(p, np.bool_)
    at = scored(now)[1]
    often, steady = np.zeros(p), 0
    draws, first = uniform(key(seed, "accept"), steps + burn), integers(key(seed, "column"), p, steps + burn)
    second, kind = uniform(key(seed, "partner"), steps + burn), uniform(key(seed, "kind"), steps + burn)
    for step in range(steps + burn):
        then = now.copy()
        then[first[step]] = not then[first[step]]
        others = np.flatnonzero(now != now[first[step]])
        if kind[step] < 0.5 and len(others):  # an exchange: the number of such pairs is the same in the subset it leads to
            other = others[int(second[step] * len(others))]
            then[other] = not then[other]
        there = scored(then)[1]
        if there >= at or draws[step] < np.exp(there - at):
            now, at = then, there
        if step >= burn:
            often += now
            steady += 1
    found = [(name, left) for name, (left, logs) in known.items() if np.isfinite(logs)]
    included = np.array([np.unpackbits(np.frombuffer(name, np.uint8), count=p) for name, _ in found], np.bool_).reshape(len(found), p)
    return ordered(included, np.array([left for _, left in found]), score), often / steady


# Coefficients.


class Averaged(NamedTuple):
    """Coefficients averaged over models, on the scale of the table."""

    coef: Floats  # (p,)
    covariance: Floats  # (p, p) within models plus between models
    noise: float  # the mean error variance
    mean_variance: float  # of the intercept at the means of the columns


def averaged(moments: RegressionMoments, models: SubsetModels, evidence: Evidence, g: float) -> Averaged:
    """Posterior means and covariances of the coefficients, over the models."""
    p, n = moments.n_columns, moments.n
    total, square, noise, of_mean = np.zeros(p), np.zeros((p, p)), 0.0, 0.0
    kept = _main_part(models.probability)
    size = models.included[kept].sum(axis=1)
    shrunk = g / (1.0 + g) if evidence == "g" else 1.0
    for k in np.unique(size):
        of_size = kept[size == k]
        for rows in np.array_split(of_size, max(1, int(len(of_size) * (k + 1) * len(moments.root) // STACK) + 1)):
            chosen = np.argsort(~models.included[rows], axis=1, kind="stable")[:, :k]
            turned, upper = np.linalg.qr(moments.root.T[chosen].transpose(0, 2, 1))
            back = np.linalg.inv(upper)
            inverse = back @ back.transpose(0, 2, 1)
            beta = shrunk * (back @ (turned.transpose(0, 2, 1) @ moments.root[:, -1])[:, :, None])[:, :, 0]
            error = error_variance(models.left[rows], k, n, evidence, g, moments.total)
            weight = models.probability[rows] / models.probability[kept].sum()
            np.add.at(total, chosen, weight[:, None] * beta)
            # Of coefficients about zero: the variance of each model, plus the square of its mean.
            spread = (shrunk * error / n)[:, None, None] * inverse + beta[:, :, None] * beta[:, None, :]
            np.add.at(square, (chosen[:, :, None], chosen[:, None, :]), weight[:, None, None] * spread)
            noise += float(weight @ error)
            of_mean += float(weight @ error) / n
    covariance = square - np.outer(total, total)
    unit = moments.spread / moments.scale
    return Averaged(total * unit, covariance * np.outer(unit, unit), noise * moments.spread**2, of_mean * moments.spread**2)


def error_variance(left: Floats, size: int, n: float, evidence: Evidence, g: float, total: float = 1.0) -> Floats:
    """The error variance of models, in variances of the target.

    By a criterion it is that of least squares: n unexplained / (n - k - 1). Under the g prior the variance has an inverse-gamma
    posterior of (n - 1) / 2 and n (unexplained + explained / (1 + g)) / 2, of which this is the mean, where there is one.
    """
    if evidence == "g":
        return np.asarray(n * (left + (total - left) / (1.0 + g)) / max(n - 3.0, 1.0))
    return np.asarray(n * left / max(n - size - 1.0, 1.0))


def _main_part(probability: Floats) -> NDArray[np.int64]:
    """The models that matter, of models ordered by probability."""
    rest = np.cumsum(probability[::-1])[::-1]  # what a model and all after it have
    return np.flatnonzero(rest > TAIL)
