"""How clearly an ensemble decides: margins of rows, their distribution, and what they promise for new rows.

The margin of a row is the weight of the votes for its true class less that of the votes for the best other class, between -1 and 1:
positive where the ensemble is right, and close to 1 where it is sure. Schapire, Freund, Bartlett & Lee (1998), "Boosting the margin: a
new explanation for the effectiveness of voting methods", The Annals of Statistics 26. See docs/algorithms/margins.md.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, ParameterError
from woodwind.diversity.groups import vote_fractions
from woodwind.diversity.matrices import (
    Floats,
    Integers,
    check_rows,
    numbered,
    read_hits,
    read_predictions,
    read_weight,
    read_weights_by_row,
)
from woodwind.diversity.words import HITS, WEIGHT


class MarginBound(NamedTuple):
    """A bound on the error of new rows: the share of margins up to theta, plus what the size of the class of members adds."""

    bound: float
    share: float
    complexity: float
    averaged: int


@dataclass(frozen=True, eq=False)
class MarginDistribution:
    """Margins in ascending order, each once, and the share of rows with at most that margin."""

    values: Floats
    cumulative: Floats
    mean: float
    variance: float

    @property
    def smallest(self) -> float:
        """The smallest margin: that of the row that the ensemble is worst at."""
        return float(self.values[0])

    def share_below(self, theta: Any) -> Any:
        """Share of rows with a margin of at most theta: a number, or an array for many thetas."""
        position = np.searchsorted(self.values, np.asarray(theta, np.float64), side="right")
        share = np.concatenate([[0.0], self.cumulative])[position]
        return float(share) if np.ndim(theta) == 0 else share

    def quantile(self, share: float) -> float:
        """The smallest margin that at least such a share of the rows does not exceed."""
        if not 0.0 <= share <= 1.0:
            raise ParameterError(f"MarginDistribution.quantile: share must be from 0 to 1, but it is {share!r}.")
        # The sum of shares is rounded: what reaches a share but for that reaches it.
        return float(self.values[min(int(np.searchsorted(self.cumulative, share - 1e-12)), len(self.values) - 1)])


@fill_docstring(hits=HITS)
def hit_margins(hits: Any, weights: Any = None) -> Floats:
    """Weight of the members that are right less that of those that are wrong: sum over j of w_j O_ij with O = +1 or -1.

    For two classes this is the margin. For more it is a lower bound of it, since wrong votes may be spread over several classes.

    Parameters
    ----------
    {hits}
    weights : array (m,) or (n, m), default=None
        Weights of the members' votes, for all rows or for each, none negative; they are divided by their sum.

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> from woodwind.diversity import hit_margins
    >>> hit_margins([[True, False, True, True], [False, True, True, False]]).tolist()
    [0.5, 0.0]
    """
    right = read_hits(hits, "hit_margins", least=1)
    share = read_weights_by_row(weights, right.shape, "hit_margins")
    signs = np.where(right, 1.0, -1.0)
    return np.asarray(signs @ share if share.ndim == 1 else (signs * share).sum(axis=1))


def vote_margins(truth: Any, labels: Any, weights: Any = None) -> Floats:
    """Weight of the votes for the true class less that of the votes for the best other class; Schapire et al. (1998), Section 2.

    Parameters
    ----------
    truth : sequence of labels, (n,)
    labels : sequence of labels, (n, m)
        What members vote for: labels of any kind.
    weights : array (m,) or (n, m), default=None
        Weights of the members' votes, for all rows or for each, none negative; they are divided by their sum.

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> from woodwind.diversity import vote_margins
    >>> vote_margins(["a", "a"], [["a", "b", "c", "a"], ["b", "b", "c", "a"]]).tolist()
    [0.25, -0.25]
    """
    true, votes, classes = numbered(truth, labels, "vote_margins")
    return _true_less_best_other(true, vote_fractions(votes, len(classes), read_weights_by_row(weights, votes.shape, "vote_margins")))


def probability_margins(truth: Any, probabilities: Any, weights: Any = None, *, classes: Any = None) -> Floats:
    """Probability of the true class less that of the likeliest other class.

    Parameters
    ----------
    truth : sequence of labels, (n,)
        Numbers of classes 0 .. K - 1, or labels among `classes`.
    probabilities : array (n, m, K) or (n, K)
        Probabilities that members, or an ensemble, give to each class.
    weights : array (m,) or (n, m), default=None
        Weights of members, for all rows or for each, none negative; they are divided by their sum.
    classes : sequence of labels, (K,), default=None
        The labels in the order of the last axis of `probabilities`, such as `classes_` of an estimator.

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> from woodwind.diversity import probability_margins
    >>> probability_margins(["bad", "good"], [[0.75, 0.25], [0.625, 0.375]], classes=["bad", "good"]).tolist()
    [0.5, -0.25]
    """
    given = np.asarray(probabilities)
    predicted = read_predictions(given, "probability_margins", "probabilities", 2 if given.ndim == 2 else 3)
    if predicted.ndim == 3:
        share = read_weights_by_row(weights, predicted.shape[:2], "probability_margins")
        predicted = np.einsum("nmk,m->nk" if share.ndim == 1 else "nmk,nm->nk", predicted, share)
    elif weights is not None:
        raise ParameterError(
            "probability_margins: weights are for members, and probabilities (n, K) have none. Give them (n, m, K), or no weights."
        )
    if predicted.shape[1] < 2:
        raise DataError("probability_margins: probabilities must have a column for each class, at least two.")
    true = _positions_among(truth, classes, predicted.shape[1])
    check_rows(len(true), len(predicted), "probability_margins", "truth", "probabilities")
    return _true_less_best_other(true, predicted)


@fill_docstring(weight=WEIGHT)
def margin_distribution(margins: Any, *, sample_weight: Any = None) -> MarginDistribution:
    """The distribution of margins over rows: what Schapire et al. (1998) draw for bagging and boosting.

    Parameters
    ----------
    margins : sequence of numbers, (n,)
    {weight}

    Returns
    -------
    MarginDistribution
        values, cumulative, mean, variance, smallest; `share_below(theta)`, `quantile(share)`.

    Examples
    --------
    >>> from woodwind.diversity import margin_distribution
    >>> found = margin_distribution([0.5, 0.0, 0.5, 1.0])
    >>> found.values.tolist(), found.cumulative.tolist()
    ([0.0, 0.5, 1.0], [0.25, 0.75, 1.0])
    >>> found.share_below(0.4), found.mean, found.smallest
    (0.25, 0.5, 0.0)
    """
    given = read_predictions(margins, "margin_distribution", "margins", 1)
    weight = read_weight(sample_weight, len(given), "margin_distribution")
    there = weight > 0.0
    values, positions = np.unique(given[there], return_inverse=True)
    cumulative: Floats = np.cumsum(np.bincount(positions, weight[there])).astype(np.float64)
    cumulative[-1] = 1.0
    mean = float(weight @ given)
    return MarginDistribution(values, cumulative, mean, float(weight @ (given - mean) ** 2))


def margin_bound(margins: Any, theta: float, n_hypotheses: float, *, delta: float = 0.05) -> MarginBound:
    """A bound on the error of new rows that follows from margins of training rows; Schapire et al. (1998), Theorem 1 and its proof.

    With probability 1 - delta the share of new rows with a margin of at most 0 is at most P[margin <= theta] + 2 exp(-N theta^2 / 8) +
    sqrt(ln(N (N + 1)^2 H^N / delta) / (2 n)), for all theta > 0 and all N at once; the best N is taken. It does not depend on the number
    of members, and it is far above 1 unless there are very many rows: it explains, it does not estimate.

    Parameters
    ----------
    margins : sequence of numbers, (n,)
        Margins of the rows that the members were trained on, for two classes.
    theta : float
        Above 0, at most 1.
    n_hypotheses : float
        H, the number of different members that the learner can make: for stumps on F features of n values, 2 F n.
    delta : float, default=0.05
        The probability that the bound does not hold, between 0 and 1.

    Returns
    -------
    MarginBound
        bound, share (of margins up to theta), complexity (the rest), averaged (N).

    Examples
    --------
    >>> from woodwind.diversity import margin_bound
    >>> found = margin_bound([0.2, 0.6, 0.8, 1.0], theta=0.5, n_hypotheses=2)
    >>> found.share, found.bound == found.share + found.complexity
    (0.25, True)
    """
    given = read_predictions(margins, "margin_bound", "margins", 1)
    for name, value, fits in (
        ("theta", theta, 0.0 < theta <= 1.0),
        ("n_hypotheses", n_hypotheses, n_hypotheses >= 1.0),
        ("delta", delta, 0.0 < delta < 1.0),
    ):
        if not fits:
            raise ParameterError(f"margin_bound: {name}={value!r} is not allowed: theta in (0, 1], n_hypotheses from 1, delta in (0, 1).")
    n = len(given)
    # Beyond this the first term is below 1 / n, and the second only grows.
    N = np.arange(1, int(np.ceil(8.0 * np.log(2.0 * n + 1.0) / theta**2)) + 2, dtype=np.float64)
    tail = 2.0 * np.exp(-N * theta**2 / 8.0)
    size = np.sqrt((np.log(N) + 2.0 * np.log(N + 1.0) + N * np.log(n_hypotheses) - np.log(delta)) / (2.0 * n))
    best = int(np.argmin(tail + size))
    share, complexity = float((given <= theta).mean()), float(tail[best] + size[best])
    return MarginBound(share + complexity, share, complexity, best + 1)


def adaboost_margin_bound(errors: Any, theta: float = 0.0) -> float:
    """Bound on the share of training rows with a margin of at most theta, from the weighted errors of AdaBoost's rounds.

    The product over rounds of 2 sqrt(e^(1 - theta) (1 - e)^(1 + theta)): Schapire et al. (1998), Theorem 5. With theta = 0 it is the
    bound on the training error. If all errors are at most 1/2 - g, it goes to zero with the rounds for every theta below g.

    Parameters
    ----------
    errors : sequence of numbers, (T,)
        Weighted errors of the rounds, each between 0 and 1: `estimator_errors_` of AdaBoostClassifier for two classes.
    theta : float, default=0
        From -1 to 1.

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import adaboost_margin_bound
    >>> adaboost_margin_bound([0.2]), round(adaboost_margin_bound([0.2, 0.2]), 12)
    (0.8, 0.64)
    """
    e = read_predictions(errors, "adaboost_margin_bound", "errors", 1)
    if (e < 0.0).any() or (e > 1.0).any() or not -1.0 <= theta <= 1.0:
        raise ParameterError("adaboost_margin_bound: errors must be from 0 to 1, and theta from -1 to 1.")
    return float(np.prod(2.0 * np.sqrt(e ** (1.0 - theta) * (1.0 - e) ** (1.0 + theta))))


@fill_docstring(hits=HITS)
def edges(hits: Any, *, sample_weight: Any = None) -> Floats:
    """The edge of each member: by how much its error is below one half, 1/2 - error.

    That of Freund & Schapire (1997), and of `estimator_edges_` for two classes. Some texts have twice this number. Twice the smallest
    largest edge over weights of rows is the largest smallest margin over weights of members (von Neumann's theorem on games; Breiman 1999,
    "Prediction games and arcing algorithms").

    Parameters
    ----------
    {hits}
    sample_weight : sequence of numbers, (n,), default=None
        Weights of rows, such as those of a round of boosting.

    Returns
    -------
    array (m,)

    Examples
    --------
    >>> from woodwind.diversity import edges
    >>> edges([[True, False], [True, True], [False, False], [True, True]]).tolist()
    [0.25, 0.0]
    """
    right = read_hits(hits, "edges", least=1)
    return np.asarray(read_weight(sample_weight, len(right), "edges") @ np.where(right, 0.5, -0.5))


def _true_less_best_other(truth: Integers, probabilities: Floats) -> Floats:
    rows = np.arange(len(truth))
    others = probabilities.copy()
    others[rows, truth] = -np.inf
    best = others.max(axis=1) if probabilities.shape[1] > 1 else np.zeros(len(truth))
    return np.asarray(probabilities[rows, truth] - best)


def _positions_among(truth: Any, classes: Any, n_classes: int) -> Integers:
    """Numbers of the classes of the truth, by labels if there are any."""
    labels: NDArray[Any] = np.arange(n_classes) if classes is None else np.asarray(classes)
    if labels.shape != (n_classes,):
        raise DataError(f"probability_margins: probabilities have {n_classes} classes, but classes has the shape {labels.shape}.")
    true, named, found = numbered(truth, np.broadcast_to(labels, (len(np.asarray(truth)), n_classes)), "probability_margins")
    position = np.full(len(found), -1)
    position[named[0]] = np.arange(n_classes)
    if (position[true] < 0).any():
        row = int(np.flatnonzero(position[true] < 0)[0])
        what = f"{found[true[row]]!r} in row {row}, which is none of the classes {labels.tolist()[:10]}"
        raise DataError(f"probability_margins: truth has {what}.")
    return np.asarray(position[true])
