"""How much the members of a whole ensemble differ: one number for all of them together.

Kuncheva & Whitaker (2003), "Measures of diversity in classifier ensembles and their relationship with the ensemble accuracy", Machine
Learning 51. The letters of the paper: L members, l of them right on a row, p_i the share of rows on which i of them are
wrong. See docs/algorithms/diversity.md.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import ParameterError, UndefinedMeasureWarning
from woodwind.base.notice import notice
from woodwind.diversity.matrices import Floats, Integers, numbered, read_hits, read_member_weights, read_votes, read_weight
from woodwind.diversity.words import HITS, VOTES, WEIGHT

# Votes that are counted at once: two megabytes of positions.
BLOCK = 1 << 18


class GoodAndBad(NamedTuple):
    """The error of the vote is that of the mean member, less good diversity, plus bad diversity."""

    vote_error: float
    mean_error: float
    good: float
    bad: float


@fill_docstring(hits=HITS, weight=WEIGHT)
def entropy(hits: Any, *, sample_weight: Any = None) -> float:
    """Entropy measure E: mean over rows of min(l, L - l) / (L - ceil(L / 2)), from 0 to 1; Kuncheva & Whitaker (2003).

    1 where the members are split in halves on every row, 0 where they are always all right or all wrong.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import entropy
    >>> entropy([[True, True, False], [True, True, True]])
    0.5
    """
    right, L, weight = _right(hits, sample_weight, "entropy")
    return float(weight @ np.minimum(right, L - right) / (L - (L + 1) // 2))


@fill_docstring(weight=WEIGHT, votes=VOTES)
def vote_entropy(votes: Any, *, base: float = 2.0, sample_weight: Any = None) -> float:
    """Entropy of the votes: mean over rows of - sum over classes of P_k log P_k; Cunningham & Carney (2000).

    P_k is the share of members that vote for class k. Given hits in place of votes, it is the entropy of being right.

    Parameters
    ----------
    {votes}
    base : float, default=2
        Base of the logarithm, above 1. With the number of classes as base the largest value is 1.
    {weight}

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import vote_entropy
    >>> vote_entropy([["a", "b", "a", "b"], ["a", "a", "a", "a"]])
    0.5
    """
    if not base > 1.0:
        raise ParameterError(f"vote_entropy: base must be a number above 1, but it is {base!r}.")
    predicted, K = read_votes(votes, "vote_entropy")
    probabilities = vote_fractions(predicted, K, read_member_weights(None, predicted.shape[1], "vote_entropy"))
    rows = -(probabilities * np.log(np.where(probabilities > 0.0, probabilities, 1.0))).sum(axis=1) / np.log(base)
    return float(read_weight(sample_weight, len(predicted), "vote_entropy") @ rows) + 0.0


@fill_docstring(hits=HITS, weight=WEIGHT)
def kohavi_wolpert_variance(hits: Any, *, sample_weight: Any = None) -> float:
    """Variance of being right: mean over rows of l (L - l) / L^2, from 0 to 1/4; Kohavi & Wolpert (1996), Kuncheva & Whitaker (2003).

    It is (L - 1) / (2 L) times the mean disagreement of pairs.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import kohavi_wolpert_variance
    >>> kohavi_wolpert_variance([[True, False], [True, True]])
    0.125
    """
    right, L, weight = _right(hits, sample_weight, "kohavi_wolpert_variance")
    return float(weight @ (right * (L - right)) / L**2)


@fill_docstring(hits=HITS, weight=WEIGHT)
def interrater_kappa(hits: Any, *, sample_weight: Any = None) -> float:
    """Agreement of all members beyond chance: 1 - mean of l (L - l) / (L (L - 1) p (1 - p)), p the mean accuracy; Fleiss (1981).

    1 for members that are right on the same rows, 0 for independent ones. It is 1 - L / ((L - 1) p (1 - p)) times the variance of Kohavi
    and Wolpert. If nobody is ever wrong, or ever right, all agree, but 0 / 0 is not a number: it is taken as 1, and a warning says so.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import interrater_kappa
    >>> interrater_kappa([[True, True], [False, False]])
    1.0
    """
    right, L, weight = _right(hits, sample_weight, "interrater_kappa")
    there = right[weight > 0.0]
    if (there == 0).all() or (there == L).all():
        notice("interrater_kappa: all are right on all rows, or all wrong: 0 / 0 is taken as 1. Give more rows.", UndefinedMeasureWarning)
        return 1.0
    p = float(weight @ right) / L
    return 1.0 - float(weight @ (right * (L - right))) / (L * (L - 1) * p * (1.0 - p))


@fill_docstring(hits=HITS, weight=WEIGHT)
def difficulty(hits: Any, *, sample_weight: Any = None) -> float:
    """Measure of difficulty theta: the variance over rows of the share of members that are right; Hansen & Salamon (1990).

    Small where members fail on different rows; large where some rows are hard for all and others easy for all.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import difficulty
    >>> difficulty([[True, True], [False, False]]), difficulty([[True, False], [False, True]])
    (0.25, 0.0)
    """
    right, L, weight = _right(hits, sample_weight, "difficulty")
    share = right / L
    return float(weight @ (share - weight @ share) ** 2)


@fill_docstring(hits=HITS, weight=WEIGHT)
def generalised_diversity(hits: Any, *, sample_weight: Any = None) -> float:
    """Generalised diversity GD = 1 - p(2) / p(1), from 0 to 1; Partridge & Krzanowski (1997).

    p(1) is the probability that a member drawn at random fails on a row drawn at random, p(2) that two members do. 1 where a failure of one
    is always accompanied by a success of the other, 0 where all fail together. If nobody fails, 0 / 0 is taken as 0, and a warning says so.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import generalised_diversity
    >>> generalised_diversity([[True, False], [False, True], [True, True], [False, False]])
    0.5
    """
    right, L, weight = _right(hits, sample_weight, "generalised_diversity")
    wrong = L - right
    if not wrong[weight > 0.0].any():
        notice("generalised_diversity: no member is ever wrong: 0 / 0 is taken as 0. Give more rows.", UndefinedMeasureWarning)
        return 0.0
    p1, p2 = float(weight @ wrong) / L, float(weight @ (wrong * (wrong - 1))) / (L * (L - 1))
    return 1.0 - p2 / p1


@fill_docstring(hits=HITS, weight=WEIGHT)
def coincident_failure_diversity(hits: Any, *, sample_weight: Any = None) -> float:
    """Coincident failure diversity: sum over i >= 1 of (L - i) / (L - 1) p_i, divided by 1 - p_0; Partridge & Krzanowski (1997).

    1 where on every row with a failure only one member fails; 0 where all fail together, and by definition where nobody ever fails.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import coincident_failure_diversity
    >>> coincident_failure_diversity([[True, False, True], [False, True, False], [True, True, True]])
    0.75
    """
    right, L, weight = _right(hits, sample_weight, "coincident_failure_diversity")
    some = (right < L) & (weight > 0.0)
    if not some.any():
        return 0.0
    return float(weight[some] @ right[some] / (weight[some].sum() * (L - 1)))


@fill_docstring(weight=WEIGHT, votes=VOTES)
def ambiguity(votes: Any, weights: Any = None, *, sample_weight: Any = None) -> float:
    """Share of votes that contradict the ensemble, by weight of the members; Zenobi & Cunningham (2001).

    The ensemble says what most say; of equals the class that comes first. For numbers see `ambiguity_decomposition`.

    Parameters
    ----------
    {votes}
    weights : sequence of numbers, (m,), default=None
        Weights of the members' votes.
    {weight}

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import ambiguity
    >>> ambiguity([["a", "a", "b", "a"], ["b", "b", "b", "b"]])
    0.125
    """
    predicted, K = read_votes(votes, "ambiguity")
    probabilities = vote_fractions(predicted, K, read_member_weights(weights, predicted.shape[1], "ambiguity"))
    return float(read_weight(sample_weight, len(predicted), "ambiguity") @ (probabilities.sum(axis=1) - probabilities.max(axis=1)))


@fill_docstring(weight=WEIGHT)
def good_and_bad_diversity(truth: Any, labels: Any, *, sample_weight: Any = None) -> GoodAndBad:
    """Diversity that helps the vote and diversity that harms it; Brown & Kuncheva (2010), "Good and bad diversity in majority vote
    ensembles".

    Good diversity is wrong votes on rows that the vote has right: they were outvoted. Bad diversity is right votes on rows that it has
    wrong: they were wasted. The error of the vote is mean error - good + bad, exactly.

    Parameters
    ----------
    truth : sequence of labels, (n,)
    labels : sequence of labels, (n, m)
        What members predict; of classes with as many votes the one that comes first wins.
    {weight}

    Returns
    -------
    GoodAndBad
        vote_error, mean_error, good, bad.

    Examples
    --------
    >>> from woodwind.diversity import good_and_bad_diversity
    >>> good_and_bad_diversity([1, 1], [[1, 1, 0, 1], [0, 0, 0, 1]])
    GoodAndBad(vote_error=0.5, mean_error=0.5, good=0.125, bad=0.125)
    """
    true, votes, classes = numbered(truth, labels, "good_and_bad_diversity")
    weight = read_weight(sample_weight, len(true), "good_and_bad_diversity")
    m = votes.shape[1]
    winner = vote_fractions(votes, len(classes), np.full(m, 1.0)).argmax(axis=1)
    wrong, lost = (votes != true[:, None]).sum(axis=1) / m, winner != true
    return GoodAndBad(
        vote_error=float(weight @ lost),
        mean_error=float(weight @ wrong),
        good=float(weight @ np.where(lost, 0.0, wrong)),
        bad=float(weight @ np.where(lost, 1.0 - wrong, 0.0)),
    )


def vote_fractions(votes: Integers, n_classes: int, weights: Floats) -> Floats:
    """The weight of the members that vote for each class (n, K), by weights of members (m,), or (n, m)."""
    n, m = votes.shape
    step = min(max(BLOCK // m, 1), n)
    alike = weights.ndim == 1 and bool((weights == weights[0]).all())
    by_row = np.broadcast_to(weights, (n, m))
    first = np.arange(step)[:, None] * n_classes
    out = np.empty((n, n_classes))
    for begin in range(0, n, step):
        some = votes[begin : begin + step]
        positions = (some + first[: len(some)]).ravel()
        # Counts of votes are whole, and so ties are exact where all members weigh the same.
        counted = np.bincount(positions, None if alike else by_row[begin : begin + step].ravel(), len(some) * n_classes).reshape(
            -1, n_classes
        )
        out[begin : begin + step] = counted * weights[0] if alike else counted
    return out


def _right(hits: Any, sample_weight: Any, owner: str) -> tuple[Integers, int, Floats]:
    """How many members are right on each row, how many members there are, and shares of the rows."""
    right = read_hits(hits, owner)
    return right.sum(axis=1, dtype=np.int64), right.shape[1], read_weight(sample_weight, len(right), owner)
