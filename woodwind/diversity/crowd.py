"""Why crowds are wise: what theory says of votes and means of many members, as functions.

Condorcet (1785); Hansen & Salamon (1990), "Neural network ensembles"; Tumer & Ghosh (1996); Breiman (2001), "Random forests"; Kuncheva,
Whitaker, Shipp & Duin (2003), "Limits on the majority vote accuracy in classifier fusion". See docs/algorithms/crowds.md.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betaln, gammaln

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import ParameterError
from woodwind.diversity.matrices import Floats, read_predictions, read_weight
from woodwind.diversity.words import WEIGHT

Ties = Literal["half", "lost", "won"]


class MajorityLimits(NamedTuple):
    """The lowest and the highest accuracy that a majority vote can have."""

    lowest: float
    highest: float


def majority_probability(p: Any, n_members: int | None = None, *, ties: Ties = "half") -> float:
    """The probability that a majority of independent voters is right: Condorcet's jury theorem.

    Sum over k > m / 2 of C(m, k) p^k (1 - p)^(m - k). Voters with p > 1/2 together reach 1 as their number grows, those with p < 1/2
    reach 0.

    Parameters
    ----------
    p : float, or sequence of numbers (m,)
        The probability that a voter is right; one number for all, or one for each (then the number right is Poisson-binomial).
    n_members : int, default=None
        Number of voters, where p is one number.
    ties : {"half", "lost", "won"}, default="half"
        What half of an even number of votes is worth: a fair coin, nothing, or everything.

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import majority_probability
    >>> round(majority_probability(0.6, 3), 12), round(majority_probability([0.9, 0.6, 0.6]), 12)
    (0.648, 0.792)
    """
    if np.ndim(p) == 0:
        m = _members(n_members, "majority_probability")
        probability = _probabilities(p, "majority_probability", "p")[0]
        _check_ties(ties, "majority_probability")
        wrong = float(bdtr((m - 1) // 2 if m % 2 else m // 2 - 1, m, probability))  # fewer than half are right
        even = float(np.exp(_log_binomial(m, m // 2, probability))) if m % 2 == 0 else 0.0
        return _with_ties(1.0 - wrong - even, even, ties)
    return _majority(poisson_binomial(p), ties, "majority_probability")


def poisson_binomial(probabilities: Any) -> Floats:
    """The distribution of how many of m independent voters are right, when each has a probability of its own.

    Parameters
    ----------
    probabilities : sequence of numbers, (m,)

    Returns
    -------
    array (m + 1,)
        The probability that exactly 0, 1, ..., m are right.

    Examples
    --------
    >>> from woodwind.diversity import poisson_binomial
    >>> poisson_binomial([0.5, 0.25]).tolist()
    [0.375, 0.5, 0.125]
    """
    out = np.ones(1)
    for p in _probabilities(probabilities, "poisson_binomial", "probabilities"):
        out = np.convolve(out, [1.0 - p, p])
    return out


def correlated_majority_probability(p: float, n_members: int, rho: float, *, ties: Ties = "half") -> float:
    """The probability that a majority is right when any two voters have the correlation rho: voters of a beta-binomial crowd.

    Each row has its own probability, drawn from a beta distribution with mean p, with which all voters are right independently; then the
    correlation of any two of them is rho = 1 / (a + b + 1). With rho = 0 this is Condorcet's theorem; with rho = 1 all vote alike, and
    the crowd is worth p.

    Parameters
    ----------
    p : float
        The probability that a voter is right.
    n_members : int
        Number of voters.
    rho : float
        Correlation of being right, from 0 to 1.
    ties : {"half", "lost", "won"}, default="half"
        What half of an even number of votes is worth.

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import correlated_majority_probability
    >>> [round(correlated_majority_probability(0.6, 3, rho), 6) for rho in (0.0, 0.5, 1.0)]
    [0.648, 0.608, 0.6]
    """
    owner = "correlated_majority_probability"
    m, probability = _members(n_members, owner), _probabilities(p, owner, "p")[0]
    correlation = _probabilities(rho, owner, "rho")[0]
    if correlation == 0.0 or probability in (0.0, 1.0):
        return majority_probability(probability, m, ties=ties)
    if correlation == 1.0:
        _check_ties(ties, owner)
        return float(probability)
    a, b = (share * (1.0 - correlation) / correlation for share in (probability, 1.0 - probability))
    k = np.arange(m + 1)
    log_ways = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    return _majority(np.exp(log_ways + betaln(k + a, m - k + b) - betaln(a, b)), ties, owner)


def correlated_majority_bound(p: float, n_members: int, rho: float) -> float:
    """The least that a majority of voters with the mean correlation rho can be right, whatever their joint distribution: Cantelli's
    inequality.

    With v = p (1 - p) (rho + (1 - rho) / m), the variance of the share of right votes, at least (p - 1/2)^2 / (v + (p - 1/2)^2) for p >
    1/2: the argument of Ladha (1992), "The Condorcet jury theorem, free speech, and correlated votes". Nothing is promised for p <= 1/2:
    0.

    Parameters
    ----------
    p : float
        The mean probability that a voter is right.
    n_members : int
        Number of voters.
    rho : float
        Mean correlation of pairs of voters, at most 1.

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import correlated_majority_bound
    >>> round(correlated_majority_bound(0.7, 101, 0.0), 4), round(correlated_majority_bound(0.7, 101, 0.5), 4)
    (0.9506, 0.2739)
    """
    owner = "correlated_majority_bound"
    probability, m = _probabilities(p, owner, "p")[0], _members(n_members, owner)
    spread = variance_of_mean(probability * (1.0 - probability), rho, m)
    ahead = max(probability - 0.5, 0.0)
    return float(ahead**2 / (spread + ahead**2)) if ahead > 0.0 else 0.0


def majority_limits(p: Any, n_members: int | None = None) -> MajorityLimits:
    """The worst and the best that a majority vote can be, whatever the dependence of voters who are right with given probabilities.

    For an odd number L of equal voters these are the pattern of failure, max(0, ((2 p - 1) L + 1) / (L + 1)), and the pattern of success,
    min(1, 2 p L / (L + 1)): Kuncheva et al. (2003). In general: at least k of L are right with a probability of at most the least, over r <
    k, of the sum of the L - r smallest p, divided by k - r; and the same of being wrong (Matan 1996). A tie is no majority.

    Parameters
    ----------
    p : float, or sequence of numbers (m,)
        The probability that a voter is right; one number for all, or one for each.
    n_members : int, default=None
        Number of voters, where p is one number.

    Returns
    -------
    MajorityLimits
        lowest, highest.

    Examples
    --------
    >>> from woodwind.diversity import majority_limits
    >>> lowest, highest = majority_limits(0.6, 3)
    >>> round(lowest, 12), round(highest, 12)
    (0.4, 0.9)
    """
    owner = "majority_limits"
    probabilities = _probabilities(p, owner, "p")
    if np.ndim(p) == 0:
        probabilities = np.full(_members(n_members, owner), probabilities[0])
    L = len(probabilities)
    k = L // 2 + 1
    return MajorityLimits(1.0 - _most(1.0 - probabilities, L - k + 1), _most(probabilities, k))


@fill_docstring(weight=WEIGHT)
def ensemble_error(error: Any, n_members: int, *, sample_weight: Any = None) -> float:
    """The error of a vote of independent members that fail with a given rate; Hansen & Salamon (1990).

    With one rate, Condorcet's theorem the other way round. With a rate for each row, its difficulty, the mean over rows: rows that are
    hard for most members are lost, however many there are.

    Parameters
    ----------
    error : float, or sequence of numbers (n,)
        How often a member is wrong: one rate, or one for each row, such as the mean of misses over many members.
    n_members : int
        Number of members; a tie is decided by a fair coin.
    {weight}

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import ensemble_error
    >>> round(ensemble_error(0.4, 3), 12), round(ensemble_error([0.0, 0.0, 0.6], 3), 12)
    (0.352, 0.216)
    """
    rates = _probabilities(error, "ensemble_error", "error")
    weight = read_weight(sample_weight, len(rates), "ensemble_error")
    distinct, positions = np.unique(rates, return_inverse=True)
    lost = np.array([1.0 - majority_probability(1.0 - rate, n_members) for rate in distinct])
    return float(weight @ lost[positions])


def variance_of_mean(variance: float, rho: float, n_members: int) -> float:
    """The variance of a mean of m numbers with the same variance and the correlation rho: rho s^2 + (1 - rho) s^2 / m.

    More members only remove the second part: Hastie, Tibshirani & Friedman (2009), Eq. 15.1.

    Parameters
    ----------
    variance : float
        Of one member, not negative.
    rho : float
        Correlation of any two, from -1 / (m - 1) to 1.
    n_members : int

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import variance_of_mean
    >>> variance_of_mean(4.0, 0.25, 4), variance_of_mean(4.0, 0.0, 4), variance_of_mean(4.0, 1.0, 4)
    (1.75, 1.0, 4.0)
    """
    m = _members(n_members, "variance_of_mean")
    if not (np.isfinite(variance) and variance >= 0.0):
        raise ParameterError(f"variance_of_mean: variance must be a number of at least 0, but it is {variance!r}.")
    least = -1.0 / (m - 1) if m > 1 else -1.0
    if not least - 1e-12 <= rho <= 1.0:
        raise ParameterError(f"variance_of_mean: rho must be from {least:.6g} to 1 for {m} members, but it is {rho!r}.")
    return float(max(rho * variance + (1.0 - rho) / m * variance, 0.0))


def added_error(error: float, rho: float, n_members: int) -> float:
    """The error beyond Bayes' of a mean of m probabilities: error (1 + rho (m - 1)) / m; Tumer & Ghosh (1996).

    Parameters
    ----------
    error : float
        The error beyond Bayes' of one member.
    rho : float
        Mean correlation of the members' errors in probability.
    n_members : int

    Returns
    -------
    float

    Examples
    --------
    >>> from woodwind.diversity import added_error
    >>> added_error(0.5, 0.0, 5), added_error(0.5, 1.0, 5)
    (0.1, 0.5)
    """
    return variance_of_mean(error, rho, n_members)


def adaboost_bound(errors: Any) -> Floats:
    """The bound on AdaBoost's training error after each round: the product of Z_t = 2 sqrt(e_t (1 - e_t)); Freund & Schapire (1997),
    Theorem 6.

    It holds for two classes, and is at most exp(-2 sum (1/2 - e_t)^2). For the bound on margins see `adaboost_margin_bound`.

    Parameters
    ----------
    errors : sequence of numbers, (T,)
        Weighted errors of the rounds: `estimator_errors_` of AdaBoostClassifier.

    Returns
    -------
    array (T,)

    Examples
    --------
    >>> from woodwind.diversity import adaboost_bound
    >>> adaboost_bound([0.2, 0.5]).tolist()
    [0.8, 0.8]
    """
    e = _probabilities(errors, "adaboost_bound", "errors")
    return np.asarray(np.cumprod(2.0 * np.sqrt(e * (1.0 - e))), np.float64)


def _majority(probabilities: Floats, ties: Ties, owner: str) -> float:
    """The probability of more than half, from the probabilities of 0, 1, ..., m."""
    _check_ties(ties, owner)
    m = len(probabilities) - 1
    return _with_ties(float(probabilities[m // 2 + 1 :].sum()), float(probabilities[m // 2]) if m % 2 == 0 else 0.0, ties)


def _with_ties(more: float, even: float, ties: Ties) -> float:
    return min(max(more + {"half": 0.5, "lost": 0.0, "won": 1.0}[ties] * even, 0.0), 1.0)


def _most(probabilities: Floats, k: int) -> float:
    """The most that the probability of at least k of some events can be, given the probability of each."""
    below = np.cumsum(np.sort(probabilities))
    r = np.arange(k)
    return float(min(1.0, (below[len(probabilities) - 1 - r] / (k - r)).min()))


def _log_binomial(m: int, k: int, p: float) -> float:
    with np.errstate(divide="ignore"):
        return float(gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1) + k * np.log(p) + (m - k) * np.log1p(-p))


def _probabilities(values: Any, owner: str, what: str) -> NDArray[np.float64]:
    given = read_predictions(np.atleast_1d(np.asarray(values)), owner, what, 1)
    if (given < 0.0).any() or (given > 1.0).any():
        raise ParameterError(f"{owner}: {what} must be from 0 to 1, but there is {given[(given < 0.0) | (given > 1.0)][0]}.")
    return given


def _members(count: int | None, owner: str) -> int:
    if count is None or isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ParameterError(f"{owner}: n_members must be a whole number of at least 1, but it is {count!r}.")
    return int(count)


def _check_ties(ties: str, owner: str) -> None:
    if ties not in ("half", "lost", "won"):
        raise ParameterError(f"{owner}: ties must be 'half', 'lost' or 'won', but it is {ties!r}.")
