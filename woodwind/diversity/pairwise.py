"""How much two members differ: measures for every pair of a pool, as (m, m) matrices.

Of a pair (i, j) four shares of the rows are counted: n11 where both are right, n10 where i alone is, n01 where j alone is, and n00 where
neither is. All measures but Cohen's kappa follow from them. They are one matrix product of the hits with themselves: whole counts, exact
in single precision. See docs/algorithms/diversity.md.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import UndefinedMeasureWarning
from woodwind.base.notice import notice
from woodwind.diversity.counts import Pairs, pairs_of, rates_of_agreement
from woodwind.diversity.matrices import Floats, check_rows, read_hits, read_raw_weight, read_votes
from woodwind.diversity.words import HITS, VOTES, WEIGHT


@dataclass(frozen=True, eq=False)
class PairwiseDiversity:
    """All measures of a pool, each an (m, m) matrix; `kappa` is None where only hits were given."""

    q_statistic: Floats
    correlation: Floats
    disagreement: Floats
    agreement: Floats
    double_fault: Floats
    ratio_of_errors: Floats
    kappa: Floats | None

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure over the m (m - 1) / 2 pairs."""
        matrices = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: mean_of_pairs(matrix) for name, matrix in matrices.items() if matrix is not None}

    def __repr__(self) -> str:
        m = len(self.disagreement)
        lines = [f"  {name:16} {mean:9.4f}" for name, mean in self.means.items()]
        return "\n".join([f"{m} members, means of {m * (m - 1) // 2} pairs", *lines])


@fill_docstring(hits=HITS)
def pairwise(hits: Any, votes: Any = None, *, sample_weight: Any = None) -> PairwiseDiversity:
    """All pairwise measures at once.

    Parameters
    ----------
    {hits}
    votes : sequence of labels, (n, m), default=None
        What members predict, for Cohen's kappa; without them there is none.
    sample_weight : sequence of numbers, (n,), default=None
        A row of weight two counts as a row given twice.

    Returns
    -------
    PairwiseDiversity
        A matrix for each measure, and their `means`.

    Examples
    --------
    >>> from woodwind.diversity import hits_of, pairwise
    >>> truth, labels = [0, 0, 1, 1], [[0, 0], [0, 1], [1, 1], [0, 0]]
    >>> found = pairwise(hits_of(truth, labels), labels)
    >>> found.disagreement.tolist()
    [[0.0, 0.25], [0.25, 0.0]]
    >>> found.means["q_statistic"], found.means["kappa"]
    (1.0, 0.5)
    """
    right = read_hits(hits, "pairwise")
    pairs = pairs_of(right, sample_weight, "pairwise")
    _warn_constant(pairs, "pairwise")
    kappas = None
    if votes is not None:
        check_rows(len(right), len(np.asarray(votes)), "pairwise", "hits", "votes")
        kappas = _kappa(votes, sample_weight, "pairwise")
    return PairwiseDiversity(
        q_statistic=_q_statistic(pairs),
        correlation=_correlation(pairs),
        disagreement=pairs.n10 + pairs.n01,
        agreement=pairs.n11 + pairs.n00,
        double_fault=pairs.n00,
        ratio_of_errors=_ratio_of_errors(pairs, "pairwise"),
        kappa=kappas,
    )


@fill_docstring(hits=HITS, weight=WEIGHT)
def q_statistic(hits: Any, *, sample_weight: Any = None) -> Floats:
    """Yule's Q: (n11 n00 - n01 n10) / (n11 n00 + n01 n10), from -1 to 1; Kuncheva & Whitaker (2003).

    0 for independent members, 1 if they are right on the same rows, -1 if one is always right where the other is wrong. A member that is
    always right or always wrong tells nothing of others: 0 / 0 is then 0, or 1 between members that are never told apart; a warning says
    so.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import q_statistic
    >>> q_statistic([[True, False], [False, True], [True, True], [False, False], [True, True]]).tolist()
    [[1.0, 0.3333333333333333], [0.3333333333333333, 1.0]]
    """
    pairs = pairs_of(read_hits(hits, "q_statistic"), sample_weight, "q_statistic")
    _warn_constant(pairs, "q_statistic")
    return _q_statistic(pairs)


@fill_docstring(hits=HITS, weight=WEIGHT)
def correlation(hits: Any, *, sample_weight: Any = None) -> Floats:
    """Correlation of being right: (n11 n00 - n01 n10) / sqrt(product of the four margins); Kuncheva & Whitaker (2003).

    Its sign is that of Q, and its size is at most that of Q. Where Q is 0 / 0 so is this one, and has the same value.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import correlation
    >>> correlation([[True, False], [False, True], [True, True], [False, False]]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    pairs = pairs_of(read_hits(hits, "correlation"), sample_weight, "correlation")
    _warn_constant(pairs, "correlation")
    return _correlation(pairs)


@fill_docstring(hits=HITS, weight=WEIGHT)
def disagreement(hits: Any, *, sample_weight: Any = None) -> Floats:
    """Share of rows on which exactly one of two is right: n01 + n10; Skalak (1996), Ho (1998).

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import disagreement
    >>> disagreement([[True, False], [False, True], [True, True], [False, False]]).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    pairs = pairs_of(read_hits(hits, "disagreement"), sample_weight, "disagreement")
    return pairs.n10 + pairs.n01


@fill_docstring(hits=HITS, weight=WEIGHT)
def agreement(hits: Any, *, sample_weight: Any = None) -> Floats:
    """Share of rows on which two are both right or both wrong: n11 + n00, one less disagreement.

    Two members that are both wrong need not say the same: for that see `kappa`, which goes by what they predict.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import agreement
    >>> agreement([[True, False], [False, True], [True, True], [False, False]]).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    pairs = pairs_of(read_hits(hits, "agreement"), sample_weight, "agreement")
    return pairs.n11 + pairs.n00


@fill_docstring(hits=HITS, weight=WEIGHT)
def double_fault(hits: Any, *, sample_weight: Any = None) -> Floats:
    """Share of rows on which both are wrong: n00; Giacinto & Roli (2001). The diagonal is the error of each member.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import double_fault
    >>> double_fault([[True, False], [False, True], [True, True], [False, False]]).tolist()
    [[0.5, 0.25], [0.25, 0.5]]
    """
    return pairs_of(read_hits(hits, "double_fault"), sample_weight, "double_fault").n00


@fill_docstring(hits=HITS, weight=WEIGHT)
def ratio_of_errors(hits: Any, *, sample_weight: Any = None) -> Floats:
    """Errors of one alone for each error of both: (n01 + n10) / n00; Aksela (2003), as DESlib has it.

    Infinite for two members that are wrong, but never on the same row; 0 for two that are never wrong, of which a warning tells.

    Parameters
    ----------
    {hits}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import ratio_of_errors
    >>> ratio_of_errors([[True, False], [False, True], [True, True], [False, False]]).tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    return _ratio_of_errors(pairs_of(read_hits(hits, "ratio_of_errors"), sample_weight, "ratio_of_errors"), "ratio_of_errors")


@fill_docstring(weight=WEIGHT, votes=VOTES)
def kappa(votes: Any, *, sample_weight: Any = None) -> Floats:
    """Cohen's kappa between what two members say: (p_o - p_e) / (1 - p_e); Cohen (1960), Margineantu & Dietterich (1997).

    p_o is the share of rows on which both predict the same, p_e what it would be if they were independent: the sum over classes of the
    product of the shares that each gives to a class. 1 for members that always agree, 0 for independent ones. Two members that say one
    and the same class of every row agree, but 0 / 0 is not a number: it is taken as 1, and a warning says so.

    Parameters
    ----------
    {votes}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import kappa
    >>> kappa([["a", "a"], ["a", "b"], ["b", "b"], ["a", "a"]]).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    return _kappa(votes, sample_weight, "kappa")


def mean_of_pairs(matrix: Any) -> float:
    """The mean of a measure over all pairs of different members: what a pool has of it.

    Parameters
    ----------
    matrix : array (m, m)
        A symmetric matrix of a measure.

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import mean_of_pairs
    >>> mean_of_pairs([[0, 1, 2], [1, 0, 6], [2, 6, 0]])
    3.0
    """
    given = np.asarray(matrix, np.float64)
    return float(given[np.triu_indices(len(given), 1)].mean())


# The formulas.


def _q_statistic(pairs: Pairs) -> Floats:
    alike, unlike = pairs.n11 * pairs.n00, pairs.n01 * pairs.n10
    return _or_association(alike - unlike, alike + unlike, pairs)


def _correlation(pairs: Pairs) -> Floats:
    spread = np.sqrt(np.diagonal(pairs.n11) * np.diagonal(pairs.n00))
    return np.clip(_or_association(pairs.n11 * pairs.n00 - pairs.n01 * pairs.n10, np.outer(spread, spread), pairs), -1.0, 1.0)


def _or_association(above: Floats, below: Floats, pairs: Pairs) -> Floats:
    """A ratio that is 0 / 0 where one of two members is always right or always wrong: then 1 if they are never told apart, else 0."""
    same = pairs.n10 + pairs.n01 == 0.0
    undefined = below == 0.0
    return np.where(same, 1.0, np.where(undefined, 0.0, above / np.where(undefined, 1.0, below)))


def _warn_constant(pairs: Pairs, owner: str) -> None:
    constant = (np.diagonal(pairs.n11) == 0.0) | (np.diagonal(pairs.n00) == 0.0)
    if constant.any():
        who = ", ".join(str(position) for position in np.flatnonzero(constant)[:5]) + (", ..." if constant.sum() > 5 else "")
        notice(
            f"{owner}: {int(constant.sum())} of {len(constant)} members are always right or always wrong ({who}) and have no association "
            "with others: 0 / 0 is taken as 0, and as 1 between members with the same hits. Give more rows.",
            UndefinedMeasureWarning,
        )


def _ratio_of_errors(pairs: Pairs, owner: str) -> Floats:
    one, both = pairs.n01 + pairs.n10, pairs.n00
    nothing = (one == 0.0) & (both == 0.0)
    if nothing.any():
        notice(f"{owner}: members that are never wrong have no ratio: 0 / 0 is taken as 0. Give more rows.", UndefinedMeasureWarning)
    ratio = one / np.where(both > 0.0, both, 1.0)
    return np.where(both > 0.0, ratio, np.where(nothing, 0.0, np.inf))


def _kappa(votes: Any, sample_weight: Any, owner: str) -> Floats:
    predicted, n_classes = read_votes(votes, owner)
    weight = None if sample_weight is None else read_raw_weight(sample_weight, len(predicted), owner)
    if weight is not None:
        predicted, weight = predicted[weight > 0.0], weight[weight > 0.0]
    agreed, by_chance = rates_of_agreement(predicted, n_classes, None)
    same, alone = agreed == 1.0, by_chance == 1.0
    if weight is not None:
        agreed, by_chance = rates_of_agreement(predicted, n_classes, weight)
    if alone[~np.eye(len(alone), dtype=np.bool_)].any():
        notice(
            f"{owner}: two members say one and the same class of every row: 0 / 0 is taken as 1. Give rows of more classes.",
            UndefinedMeasureWarning,
        )
    return np.where(same, 1.0, (agreed - by_chance) / np.where(same, 1.0, 1.0 - by_chance))
