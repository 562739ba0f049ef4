"""Conformal prediction: intervals and sets of labels that hold the truth as often as they say (Vovk, Gammerman & Shafer 2005).

How far the models of folds are off is known by the conformity scores of rows that they have not seen; a new row is taken to be one of them.
Split conformal prediction is the case of one fold (Papadopoulos et al. 2002), CV+ that of several (Barber et al. 2021).
The page is docs/algorithms/conformal-prediction.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import FoldWarning, ParameterError
from woodwind.base.notice import notice
from woodwind.base.validate import require

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Halvings of the bracket in which a bound lies: as many as a float64 has digits, and some.
HALVINGS = 60
# Numbers of new rows times scores that are held at once.
MOST_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class ConformityScores:
    """Scores of held-out rows, fold by fold, ascending in each: how far the truth was outside of what was predicted."""

    scores: Floats  # (n,)
    weights: Floats  # (n,): rows that each stands for
    begins: Integers  # (n_folds + 1,): fold k has the scores begins[k] to begins[k + 1]

    @classmethod
    def of(cls, parts: list[tuple[Floats, Floats]]) -> "ConformityScores":
        """Scores and weights of each fold."""
        orders = [np.argsort(scores, kind="stable") for scores, _ in parts]
        scores, weights = (np.concatenate([part[k][order] for part, order in zip(parts, orders, strict=True)]) for k in range(2))
        return cls(scores, weights, np.concatenate([[0], np.cumsum([len(order) for order in orders])]).astype(np.int64))

    def check(self) -> "ConformityScores":
        """Scores are numbers in order, and each counts; returns self, or raises DataError."""
        require(self.scores.shape == self.weights.shape and self.scores.ndim == 1, "conformity scores and weights are not as many")
        require(self.begins.ndim == 1 and len(self.begins) >= 2 and self.begins[0] == 0, "conformity scores are of no fold")
        require(self.begins[-1] == len(self.scores) and (np.diff(self.begins) >= 0).all(), "conformity scores are of other folds")
        require(bool(np.isfinite(self.scores).all()) and bool(np.isfinite(self.weights).all()), "conformity scores are not finite")
        require(bool((self.weights > 0.0).all()) and np.isfinite(self.weights.sum()), "a conformity score counts for nothing")
        require(all((np.diff(scores) >= 0.0).all() for scores, _ in self.folds()), "conformity scores are not in order")
        return self

    @property
    def n_folds(self) -> int:
        """Folds, each with a model of its own."""
        return len(self.begins) - 1

    def folds(self) -> Iterator[tuple[Floats, Floats]]:
        """Of each fold the scores, and before each of them, and after the last, the weight so far."""
        for begin, end in zip(self.begins[:-1], self.begins[1:], strict=True):
            yield self.scores[begin:end], np.concatenate([[0.0], np.cumsum(self.weights[begin:end])])

    def needed(self, coverage: float) -> float:
        """The weight of the scores that must not be above that of a new row; infinite where all together are too few."""
        total = float(self.weights.sum())
        wanted = coverage * (total + 1.0)
        # What is a whole number but for rounding is that number.
        wanted = float(np.rint(wanted)) if abs(wanted - np.rint(wanted)) < 1e-9 * total else wanted
        return wanted if wanted <= total else np.inf

    def thinned(self, most: int) -> "ConformityScores":
        """No more than about so many scores, of one fold, in which no bound is nearer than in all of them: each that stays stands for some
        before it as well. The largest half stays as it is, for coverages near 1.
        """
        n = len(self.scores)
        if self.n_folds != 1 or n <= most:
            return self
        each = -(-(n - most // 2) // (most - most // 2))
        last = np.concatenate([np.arange(each - 1, n - most // 2, each), np.arange(n - most // 2 - 1, n)])
        last = np.unique(last)
        total = np.concatenate([[0.0], np.cumsum(self.weights)])[np.concatenate([[0], last + 1])]
        return ConformityScores(self.scores[last], np.diff(total), np.array([0, len(last)], np.int64))


def checked_coverage(coverage: Any, known: ConformityScores, owner: str) -> float:
    """The share that is asked for. Raises ParameterError where it is none; says so where too few rows were held out for it."""
    if isinstance(coverage, bool) or not isinstance(coverage, int | float | np.number) or not 0.0 < coverage < 1.0:
        raise ParameterError(f"{owner}: coverage must be a number between 0 and 1, but it is {coverage!r}.")
    asked = float(coverage)
    if not np.isfinite(known.needed(asked)):
        least = int(np.ceil(asked / (1.0 - asked) * (1.0 - 1e-9)))
        notice(
            f"{owner}: a coverage of {asked:g} needs at least {least:,} rows that are held out, and there are "
            f"{known.weights.sum():,.0f}. Everything is inside.",
            FoldWarning,
        )
    return asked


def upper_bounds(center: Floats, scale: Floats, known: ConformityScores, coverage: float) -> Floats:
    """The smallest number at or below which enough of center[k] + scale[k] * score lie, over the scores of all folds k: (n,).

    `center` and `scale` are (n_folds, n), of the models of the folds. Found by bisection, from above, so that coverage is never less.
    """
    wanted = known.needed(coverage)
    if not np.isfinite(wanted):
        return np.full(center.shape[1], np.inf)
    folds = list(known.folds())
    ends = [(center[k] + scale[k] * one[0], center[k] + scale[k] * one[-1]) for k, (one, _) in enumerate(folds) if len(one)]
    low, high = np.min([first for first, _ in ends], axis=0), np.max([last for _, last in ends], axis=0)
    low = low - np.maximum(np.abs(low), 1.0) * 1e-12
    if known.n_folds == 1:
        scores, below = folds[0]
        position = int(np.searchsorted(below[1:], wanted * (1.0 - 1e-15)))
        return np.asarray(center[0] + scale[0] * scores[min(position, len(scores) - 1)])
    for _ in range(HALVINGS):
        middle = 0.5 * low + 0.5 * high
        enough = sum(below[np.searchsorted(scores, (middle - center[k]) / scale[k], "right")] for k, (scores, below) in enumerate(folds))
        enough = enough >= wanted * (1.0 - 1e-15)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.asarray(high)


def interval(low: Floats, high: Floats, scale: Floats, known: ConformityScores, coverage: float) -> tuple[Floats, Floats]:
    """Bounds of each new row, (n,) each, from what the models of the folds predict, (n_folds, n) each."""
    return in_order(-upper_bounds(-low, scale, known, coverage), upper_bounds(high, scale, known, coverage))


def in_order(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The same bounds; where the lower one is above the upper one, both are in the middle between them."""
    crossed = low > high
    middle = 0.5 * low[crossed] + 0.5 * high[crossed]
    low, high = low.copy(), high.copy()
    low[crossed] = high[crossed] = middle
    return low, high


def jackknife_after_bootstrap(
    predicted: Floats, out_of_bag: NDArray[np.bool_], residuals: ConformityScores, coverage: float
) -> tuple[Floats, Floats]:
    """Bounds of each new row, (n,) each: jackknife+ after bootstrap (Kim, Xu & Barber 2020).

    `predicted` (m, n_new) of the members, `out_of_bag` (n, m) which member has not seen which row; each row has such a member.
    """
    wanted, distance = residuals.needed(coverage), residuals.scores[:, None]
    n_new = predicted.shape[1]
    if not np.isfinite(wanted):
        return np.full(n_new, -np.inf), np.full(n_new, np.inf)
    share = out_of_bag / out_of_bag.sum(axis=1, keepdims=True)
    low, high = np.empty(n_new), np.empty(n_new)
    step = max(1, MOST_AT_ONCE // len(distance))
    for begin in range(0, n_new, step):
        part = slice(begin, begin + step)
        without = share @ predicted[:, part]  # (n, rows): the means of the members that have not seen each row
        high[part] = _reached(without + distance, residuals.weights, wanted)
        low[part] = -_reached(distance - without, residuals.weights, wanted)
    return in_order(low, high)


def _reached(values: Floats, weights: Floats, wanted: float) -> Floats:
    """In each column the smallest value at which the weight of all up to it is enough."""
    order = np.argsort(values, axis=0)
    position = (np.cumsum(weights[order], axis=0) < wanted * (1.0 - 1e-15)).sum(axis=0)
    return np.asarray(np.take_along_axis(values, np.take_along_axis(order, position[None], axis=0), axis=0)[0])


def label_sets(scores: NDArray[np.float64], known: ConformityScores, coverage: float) -> NDArray[np.bool_]:
    """Which labels a new row may have, (n, K), from their conformity scores by the models of the folds, (n_folds, n, K)."""
    wanted = known.needed(coverage)
    smaller = sum(below[np.searchsorted(one, scores[k], "left")] for k, (one, below) in enumerate(known.folds()))
    return np.asarray(smaller < wanted)


def least_ambiguous(probabilities: Floats) -> Floats:
    """Conformity scores of all labels, (n, K): what is missing to certainty (Sadinle, Lei & Wasserman 2019)."""
    return 1.0 - probabilities


def adaptive(probabilities: Floats) -> Floats:
    """Conformity scores of all labels, (n, K): the probability of all labels that are as probable or more (Romano, Sesia & Candes 2020)."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    total = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    out = np.empty_like(probabilities)
    np.put_along_axis(out, order, total, axis=1)
    return out
