"""What a choice of members is scored by: the score of their weighted mean. Larger is better.

Every search of this package is a function of an objective. A choice is `counts` (m,), how often each member is in it, or any weights; its
`total` is the sum of the members' `vectors` so many times. What the vectors are is the objective's own affair: the log loss needs only
what members give to the true class, and the squared error only the products of their errors. See docs/algorithms/ensemble-selection.md.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError, WeightError
from woodwind.base.pool import run_ranges
from woodwind.kernels.losses.ensemble_sums import N_BUCKETS, hit_sums, log_sums, pair_bounds, pair_sums

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# (truth, weighted mean of the members, weight of rows or None) -> score, larger is better.
Metric = Callable[[NDArray[Any], Floats, Floats | None], float]

# The smallest probability that a logarithm is taken of, as in scikit-learn.
SMALLEST = float(np.finfo(np.float64).eps)
# Fewer numbers than this are left to NumPy: nothing need be compiled for them.
MANY = 1 << 18
# Rows of which products of errors are summed at a time.
ROWS = 8192


class Objective(Protocol):
    """Scores choices of members."""

    vectors: Floats  # (m, L)

    def score(self, counts: Floats, total: Floats) -> float:
        """The score of a choice; total (L,) = counts @ vectors."""

    def score_each(self, counts: Floats, total: Floats, among: Integers, best_only: bool = False) -> Floats:
        """The scores of the choice with one more of each of the members `among`.

        With `best_only` the scores of those that cannot be the best may be too low.
        """


class MetricObjective:
    """Any metric of the weighted mean of what members predict."""

    def __init__(self, vectors: Floats, shape: tuple[int, ...], truth: NDArray[Any], weight: Floats | None, metric: Metric) -> None:
        self.vectors, self.shape, self.truth, self.weight, self.metric = vectors, shape, truth, weight, metric

    def score(self, counts: Floats, total: Floats) -> float:
        """The metric of the mean."""
        score = self.metric(self.truth, (total / counts.sum()).reshape(self.shape), self.weight)
        if not np.ndim(score) == 0 or np.isnan(score):
            raise DataError(f"A metric must return one number, but it returned {score!r}.")
        return float(score)

    def score_each(self, counts: Floats, total: Floats, among: Integers, best_only: bool = False) -> Floats:
        """One after the other."""
        more = counts.copy()
        found = np.empty(len(among))
        for position, member in enumerate(among):
            more[member] += 1.0
            found[position] = self.score(more, total + self.vectors[member])
            more[member] -= 1.0
        return found


class LogLossObjective:
    """Minus the log loss: the mean logarithm of what is given to the true class. The vectors are what each member gives it, (m, n)."""

    def __init__(self, probabilities: Floats, truth: Integers, weight: Floats | None, threads: int = 1) -> None:
        # Rows of the same weight stand together, so that the kernel may multiply them before it takes a logarithm.
        order = np.arange(len(truth)) if weight is None else np.argsort(weight, kind="stable")
        self.vectors = given_to(probabilities, order, truth[order])
        self.weight = None if weight is None else np.ascontiguousarray(weight[order])
        self.whole = len(truth) if weight is None else float(weight.sum())
        self.threads = threads

    def score(self, counts: Floats, total: Floats) -> float:
        """The mean logarithm."""
        return float(self._means(np.log(np.maximum(total / counts.sum(), SMALLEST))))

    def _means(self, logs: Floats) -> Any:
        return (logs.sum(axis=-1) if self.weight is None else logs @ self.weight) / self.whole

    def score_each(self, counts: Floats, total: Floats, among: Integers, best_only: bool = False) -> Floats:
        """All together."""
        size = counts.sum() + 1.0
        if len(among) * len(total) < MANY:
            return np.asarray(self._means(np.log(np.maximum((self.vectors[among] + total) / size, SMALLEST))))
        out = np.empty(len(among))

        def work(begin: int, end: int) -> None:
            log_sums(self.vectors, among, total, self.weight, SMALLEST * size, begin, end, out)

        run_ranges(work, len(among), self.threads, len(total))
        return np.asarray(out / self.whole - np.log(size))


class SquaredErrorObjective:
    """Minus the squared error of numbers, or of probabilities (Brier).

    The mean of the members is off by the mean of their errors: with the products of errors C (m, m) the loss is c'Cc over the square of the
    sum of c (Perrone & Cooper 1993). The vectors are the rows of C, and rows of the table are needed no more.
    """

    def __init__(self, errors: Callable[[int, int], Floats], n_rows: int, weight: Floats | None) -> None:
        """`errors(begin, end)`: what members are off by in some rows, (m, any)."""
        products: Any = 0.0
        for begin in range(0, n_rows, ROWS):
            end = min(begin + ROWS, n_rows)
            part = errors(begin, end)
            if weight is not None:
                part = part * np.repeat(np.sqrt(weight[begin:end]), part.shape[1] // (end - begin))
            products = products + part @ part.T
        self.vectors: Floats = products / (n_rows if weight is None else weight.sum())

    def score(self, counts: Floats, total: Floats) -> float:
        """Minus the squared error."""
        return float(-(counts @ total) / counts.sum() ** 2)

    def score_each(self, counts: Floats, total: Floats, among: Integers, best_only: bool = False) -> Floats:
        """All together: one more member adds its own product, and twice those with the others."""
        return np.asarray(-(counts @ total + 2.0 * total[among] + self.vectors[among, among]) / (counts.sum() + 1.0) ** 2)


class AccuracyObjective:
    """The share of rows in which the true class has the largest mean; of equals the first class counts.

    The vectors are (m, K, n), flat: first what the true class has, then the others in their order, so that no row need look up its own.
    """

    def __init__(self, probabilities: Floats, truth: Integers, weight: Floats | None, threads: int = 1) -> None:
        n, m, n_classes = probabilities.shape
        vectors = np.empty((m, n_classes, n))
        for slot in range(n_classes):
            position = truth if slot == 0 else np.where(slot <= truth, slot - 1, slot)
            vectors[:, slot] = given_to(probabilities, np.arange(n), position)
        self.vectors, self.n_classes, self.threads = vectors.reshape(m, -1), n_classes, threads
        self.truth, self.weight = truth.astype(np.int64), weight
        self.whole = n if weight is None else float(weight.sum())

    def _hits(self, sums: Floats) -> Any:
        """Whether the true class leads in sums (..., K, n)."""
        own, others = sums[..., :1, :], sums[..., 1:, :]
        behind = self.truth <= np.arange(self.n_classes - 1)[:, None]
        return ((own > others) | ((own == others) & behind)).all(axis=-2)

    def score(self, counts: Floats, total: Floats) -> float:
        """The share of hits."""
        return float(self._share(self._hits(total.reshape(self.n_classes, -1))))

    def _share(self, hits: Any) -> Any:
        return (hits.sum(axis=-1) if self.weight is None else hits @ self.weight) / self.whole

    def score_each(self, counts: Floats, total: Floats, among: Integers, best_only: bool = False) -> Floats:
        """All together."""
        if len(among) * len(total) < MANY:
            return np.asarray(self._share(self._hits((self.vectors[among] + total).reshape(len(among), self.n_classes, -1))))
        out = np.empty(len(among))
        vectors, sums = self.vectors.reshape(len(self.vectors), self.n_classes, -1), total.reshape(self.n_classes, -1)

        def work(begin: int, end: int) -> None:
            hit_sums(vectors, among, sums, self.truth, self.weight, begin, end, out)

        run_ranges(work, len(among), self.threads, len(total))
        return out / self.whole


class AucObjective:
    """The area under the ROC curve of two classes: the share of pairs of one row of each that are in order. The vectors are the
    probabilities of the second class, (m, n).
    """

    def __init__(self, probabilities: Floats, truth: Integers, weight: Floats | None, threads: int = 1) -> None:
        self.vectors = np.ascontiguousarray(probabilities[:, :, 1].T)
        heavy = np.ones(len(truth)) if weight is None else weight
        self.gain = np.stack([np.where(truth == 0, heavy, 0.0), np.where(truth == 1, heavy, 0.0)])
        self.pairs = float(self.gain[0].sum() * self.gain[1].sum())
        self.threads = threads
        if self.pairs == 0.0:
            raise DataError("The area under the ROC curve needs rows of both classes, and there are rows of one only.")
        if (self.vectors < 0.0).any():
            raise DataError("Probabilities must not be negative, and there are some.")

    def score(self, counts: Floats, total: Floats) -> float:
        """The area."""
        order = np.argsort(total, kind="stable")
        begins = np.flatnonzero(np.diff(total[order], prepend=-1.0))
        down, up = (np.add.reduceat(side[order], begins) for side in self.gain)
        below = np.cumsum(down) - down
        return float(up @ (below + 0.5 * down) / self.pairs)

    def score_each(self, counts: Floats, total: Floats, among: Integers, best_only: bool = False) -> Floats:
        """Many by kernels; those that cannot be the best only by bounds."""
        if len(among) * len(total) < MANY:
            return np.array([self.score(counts, total + self.vectors[member]) for member in among])
        if not best_only:
            return self._exact(total, among)
        bounds = np.empty((2, len(among)))
        scale = N_BUCKETS / (total.max() + 1.0)

        def work(begin: int, end: int) -> None:
            pair_bounds(self.vectors, among, total, self.gain, scale, begin, end, bounds)

        run_ranges(work, len(among), self.threads, len(total))
        # A bound is a sum in floating point, and may be off by some last bits.
        rivals = np.flatnonzero(bounds[1] >= bounds[0].max() * (1.0 - 1e-9))
        found: Floats = bounds[0] / self.pairs
        found[rivals] = self._exact(total, among[rivals])
        return found

    def _exact(self, total: Floats, among: Integers) -> Floats:
        out = np.empty(len(among))

        def work(begin: int, end: int) -> None:
            pair_sums(self.vectors, among, total, self.gain, begin, end, out)

        run_ranges(work, len(among), self.threads, len(total))
        return out / self.pairs


class DiversityObjective:
    """Another objective, plus a reward for diversity: error - strength * diversity, to be made small (Li, Yu & Zhou 2012).

    The diversity of a weighted choice is the mean squared distance of its members from their mean, the ambiguity of Krogh & Vedelsby
    (1995): half of c'Dc over the square of the sum of c, where D (m, m) are mean squared distances of pairs. For votes it is the variance
    of Kohavi & Wolpert (1996).
    """

    def __init__(self, plain: Objective, distances: Floats, strength: float) -> None:
        self.plain, self.distances, self.strength = plain, distances, strength
        self.vectors = plain.vectors

    def score(self, counts: Floats, total: Floats) -> float:
        """Both together."""
        ambiguity = 0.5 * float(counts @ self.distances @ counts) / counts.sum() ** 2
        return float(self.plain.score(counts, total) + self.strength * ambiguity)

    def score_each(self, counts: Floats, total: Floats, among: Integers, best_only: bool = False) -> Floats:
        """Both together, for each."""
        apart = counts @ self.distances
        ambiguity = 0.5 * (counts @ apart + 2.0 * apart[among]) / (counts.sum() + 1.0) ** 2
        return np.asarray(self.plain.score_each(counts, total, among) + self.strength * ambiguity)


# ------------------------------------------------------------------------------------------------------- from matrices


def objective_of(predicted: Any, truth: Any, metric: str | Metric, weight: Any = None, threads: int = 1) -> Objective:
    """The objective of a metric for what members predict for rows.

    predicted: probabilities (n, m, K) with truth (n,) of class numbers, or numbers (n, m) with truth (n,) of numbers. Votes are
    probabilities of zero and one: see `ballots_of`. metric: 'log_loss', 'brier', 'accuracy' or 'roc_auc' (two classes), 'squared_error' or
    'absolute_error' for numbers, or a function (truth, mean, weight) -> score; the losses are scored by minus their value.
    """
    predicted, truth, weight = read_matrix(predicted, truth, weight)
    made = (
        _of_probabilities(predicted, truth, metric, weight, threads)
        if predicted.ndim == 3
        else _of_numbers(predicted, truth, metric, weight)
    )
    if made is None:
        kind = "probabilities" if predicted.ndim == 3 else "numbers"
        names = ("log_loss", "brier", "accuracy", "roc_auc") if predicted.ndim == 3 else ("squared_error", "absolute_error")
        raise ParameterError(f"For {kind} a metric is one of {', '.join(map(repr, names))} or a function, but it is {metric!r}.")
    return made


def _of_probabilities(predicted: Floats, truth: Integers, metric: Any, weight: Floats | None, threads: int) -> Objective | None:
    n, m, n_classes = predicted.shape
    if callable(metric):
        return MetricObjective(members_first(predicted), (n, n_classes), truth, weight, metric)
    if metric == "brier":
        # Of two classes the error of one says all: the other's is its opposite.
        first = 1 if n_classes == 2 else 0
        indicator = (truth[:, None] == np.arange(first, n_classes)).astype(np.float64)[:, None, :]

        def errors(begin: int, end: int) -> Floats:
            return np.ascontiguousarray((predicted[begin:end, :, first:] - indicator[begin:end]).transpose(1, 0, 2)).reshape(m, -1)

        return SquaredErrorObjective(errors, n, weight)
    if metric == "roc_auc" and n_classes != 2:
        raise ParameterError(f"'roc_auc' is for two classes, and there are {n_classes}. Give a function of (truth, mean, weight) instead.")
    kinds: dict[Any, Any] = {"log_loss": LogLossObjective, "accuracy": AccuracyObjective, "roc_auc": AucObjective}
    made: Objective | None = kinds[metric](predicted, truth, weight, threads) if metric in kinds else None
    return made


def _of_numbers(predicted: Floats, truth: Floats, metric: Any, weight: Floats | None) -> Objective | None:
    if metric == "squared_error":
        return SquaredErrorObjective(
            lambda begin, end: np.ascontiguousarray((predicted[begin:end] - truth[begin:end, None]).T), len(truth), weight
        )
    metric = absolute_error if metric == "absolute_error" else metric
    return MetricObjective(members_first(predicted), (len(truth),), truth, weight, metric) if callable(metric) else None


def absolute_error(truth: Floats, mean: Floats, weight: Floats | None) -> float:
    """Minus the mean absolute error."""
    return -float(np.average(np.abs(truth - mean), weights=weight))


def with_diversity(objective: Objective, predicted: Any, strength: float, weight: Any = None) -> Objective:
    """The objective with a reward for diversity among the members whose probabilities (n, m, K) or numbers (n, m) these are."""
    return objective if strength == 0.0 else DiversityObjective(objective, squared_distances(predicted, weight), strength)


def squared_distances(predicted: Any, weight: Any = None) -> Floats:
    """Mean squared distance of every two members (m, m); of probabilities half of it, which for votes is how often two disagree."""
    predicted = np.asarray(predicted, np.float64)
    n, m = predicted.shape[:2]
    centre = predicted.mean(axis=1, keepdims=True)  # about which products lose the fewest digits

    def off(begin: int, end: int) -> Floats:
        return np.ascontiguousarray((predicted[begin:end] - centre[begin:end]).swapaxes(0, 1)).reshape(m, -1)

    products = SquaredErrorObjective(off, n, None if weight is None else np.asarray(weight, np.float64)).vectors
    own = np.diag(products)
    distances = np.maximum(own[:, None] + own[None, :] - 2.0 * products, 0.0)
    np.fill_diagonal(distances, 0.0)
    return distances * (0.5 if predicted.ndim == 3 else 1.0)


def ballots_of(votes: Any, n_classes: int) -> Floats:
    """Votes (n, m) as probabilities of zero and one (n, m, K)."""
    votes = np.asarray(votes)
    if votes.ndim != 2 or votes.dtype.kind not in "iub" or (votes.size and not 0 <= votes.min() <= votes.max() < n_classes):
        raise DataError(f"Votes must be numbers of classes from 0 to {n_classes - 1} in a matrix (rows, members).")
    return np.asarray(votes[:, :, None] == np.arange(n_classes), np.float64)


def given_to(probabilities: Floats, rows: Integers, classes: Integers) -> Floats:
    """What each member gives to one class of each of some rows, (m, n): member by member, as probabilities mostly lie in memory."""
    m, n_classes = probabilities.shape[1:]
    positions = rows * n_classes + classes
    out = np.empty((m, len(rows)))
    for member in range(m):
        np.take(np.ascontiguousarray(probabilities[:, member]).reshape(-1), positions, out=out[member])
    return out


def members_first(predicted: Floats) -> Floats:
    """What each member predicts, one after another: (m, n) or (m, n K)."""
    return np.ascontiguousarray(predicted.swapaxes(0, 1)).reshape(predicted.shape[1], -1)


def read_matrix(predicted: Any, truth: Any, weight: Any) -> tuple[Floats, NDArray[Any], Floats | None]:
    """What members predict, the truth and the weights, checked; rows of weight zero are left out."""
    predicted, truth = np.asarray(predicted, np.float64), np.asarray(truth)
    if predicted.ndim not in (2, 3) or 0 in predicted.shape:
        raise DataError(
            f"What members predict must be (rows, members) or (rows, members, classes), none of them zero, not {predicted.shape}."
        )
    if truth.shape != predicted.shape[:1]:
        raise DataError(f"There are {predicted.shape[0]:,} rows, but truth has the shape {truth.shape}. Give one value for each row.")
    if not np.isfinite(predicted).all():
        rows = np.flatnonzero(~np.isfinite(predicted).reshape(len(predicted), -1).all(axis=1))
        raise DataError(f"What members predict must be finite, but it is not in {len(rows):,} rows, the first of them row {rows[0]}.")
    if predicted.ndim == 3:
        if truth.dtype.kind not in "iub" or truth.min() < 0 or truth.max() >= predicted.shape[2]:
            raise DataError(
                f"truth must be numbers of classes from 0 to {predicted.shape[2] - 1}, as there are {predicted.shape[2]} classes."
            )
        truth = truth.astype(np.int64)
    elif truth.dtype.kind not in "iubf" or not np.isfinite(truth).all():
        raise DataError("truth must be finite numbers.")
    if weight is None:
        return predicted, truth, None
    weight = np.asarray(weight, np.float64)
    if weight.shape != truth.shape or not np.isfinite(weight).all() or (weight < 0.0).any() or not weight.any():
        raise WeightError("Weights must be one finite number for each row, not negative, and not all zero.")
    there = weight > 0.0
    return (predicted, truth, weight) if there.all() else (predicted[there], truth[there], weight[there])
