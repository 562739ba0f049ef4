"""How regressors differ: covariance of their errors, and what averaging makes of it.

Krogh & Vedelsby (1995), "Neural network ensembles, cross validation, and active learning"; Ueda & Nakano (1996), "Generalization error of
ensemble estimators"; Perrone & Cooper (1993), "When networks disagree". See docs/algorithms/diversity.md.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, UndefinedMeasureWarning
from woodwind.base.notice import notice
from woodwind.diversity.matrices import Floats, check_rows, read_member_weights, read_predictions, read_weight
from woodwind.diversity.words import PREDICTIONS, WEIGHT


class AmbiguityDecomposition(NamedTuple):
    """ensemble_error = mean_error - ambiguity; the errors and ambiguities of members (m,), whose weighted means these are."""

    ensemble_error: float
    mean_error: float
    ambiguity: float
    member_errors: Floats
    member_ambiguities: Floats


class BiasVarianceCovariance(NamedTuple):
    """loss = bias + variance / m + (1 - 1 / m) covariance, with a squared bias."""

    loss: float
    bias: float
    variance: float
    covariance: float
    n_members: int


@fill_docstring(weight=WEIGHT, numbers=PREDICTIONS)
def prediction_correlation(numbers: Any, *, sample_weight: Any = None) -> Floats:
    """Correlation of what members predict: of probabilities for one class, or of numbers.

    A member that says the same of all rows has none: 0 / 0 is taken as 0, as 1 with itself, and a warning says so.

    Parameters
    ----------
    {numbers}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import prediction_correlation
    >>> prediction_correlation([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]).round(12).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    predicted = _two_members(read_predictions(numbers, "prediction_correlation"), "prediction_correlation")
    return _correlation(predicted, read_weight(sample_weight, len(predicted), "prediction_correlation"), "prediction_correlation")


@fill_docstring(weight=WEIGHT, numbers=PREDICTIONS)
def error_products(truth: Any, numbers: Any, *, sample_weight: Any = None) -> Floats:
    """Mean products of errors, C_ij = E[(f_i - y) (f_j - y)]; Perrone & Cooper (1993).

    The squared error of a mean with weights w is w' C w, exactly; the diagonal has the errors of the members.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    {numbers}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import error_products
    >>> error_products([0.0, 0.0], [[1.0, 2.0], [3.0, 0.0]]).tolist()
    [[5.0, 1.0], [1.0, 2.0]]
    """
    errors, weight = _errors(truth, numbers, sample_weight, "error_products")
    return _weighted_products(errors, weight)


@fill_docstring(weight=WEIGHT, numbers=PREDICTIONS)
def error_covariance(truth: Any, numbers: Any, *, sample_weight: Any = None) -> Floats:
    """Covariance of the errors of members over rows: mean products of errors less their means.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    {numbers}
    {weight}

    Returns
    -------
    array (m, m)
        Sums are divided by the number of rows, not by one less.

    Examples
    --------
    >>> from woodwind.diversity import error_covariance
    >>> error_covariance([0.0, 0.0], [[1.0, 2.0], [3.0, 0.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    errors, weight = _errors(truth, numbers, sample_weight, "error_covariance")
    return _weighted_products(errors - weight @ errors, weight)


@fill_docstring(weight=WEIGHT, numbers=PREDICTIONS)
def error_correlation(truth: Any, numbers: Any, *, sample_weight: Any = None) -> Floats:
    """Correlation of the errors of members over rows: the strength-diversity trade-off of members that are regressors.

    A member whose error is the same on all rows has none: 0 / 0 is taken as 0, as 1 with itself, and a warning says so.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    {numbers}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import error_correlation
    >>> error_correlation([0.0, 0.0], [[1.0, 2.0], [3.0, 0.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    errors, weight = _errors(truth, numbers, sample_weight, "error_correlation")
    return _correlation(errors, weight, "error_correlation")


@fill_docstring(weight=WEIGHT, numbers=PREDICTIONS)
def ambiguity_decomposition(truth: Any, numbers: Any, weights: Any = None, *, sample_weight: Any = None) -> AmbiguityDecomposition:
    """The squared error of a mean is the mean error of the members less their ambiguity, exactly; Krogh & Vedelsby (1995).

    Ambiguity is the mean squared difference between the members and their mean. It needs no truth, and is never negative: the mean is
    never worse than members are on average.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    {numbers}
    weights : sequence of numbers, (m,), default=None
        Weights of members in the mean, none negative; they are divided by their sum.
    {weight}

    Returns
    -------
    AmbiguityDecomposition
        ensemble_error, mean_error, ambiguity, member_errors (m,), member_ambiguities (m,).

    Examples
    --------
    >>> from woodwind.diversity import ambiguity_decomposition
    >>> ambiguity_decomposition([0.0, 0.0], [[1.0, 3.0], [-1.0, 1.0]])[:3]
    (2.0, 3.0, 1.0)
    """
    owner = "ambiguity_decomposition"
    errors, weight = _errors(truth, numbers, sample_weight, owner, least=1)
    share = read_member_weights(weights, errors.shape[1], owner)
    mean = errors @ share
    member_errors, member_ambiguities = weight @ errors**2, weight @ (errors - mean[:, None]) ** 2
    return AmbiguityDecomposition(
        float(weight @ mean**2), float(member_errors @ share), float(member_ambiguities @ share), member_errors, member_ambiguities
    )


@fill_docstring(weight=WEIGHT)
def bias_variance_covariance(truth: Any, numbers: Any, *, sample_weight: Any = None) -> BiasVarianceCovariance:
    """The squared error of a mean of m members over training sets: bias + variance / m + (1 - 1 / m) covariance; Ueda & Nakano (1996).

    Bias is the squared mean bias of the members; variance and covariance are means over members and over pairs of members, all of them
    over training sets and then over rows.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    numbers : array (R, n, m)
        What members predict in each of R rounds, in each of which all are trained anew.
    {weight}

    Returns
    -------
    BiasVarianceCovariance
        loss, bias, variance, covariance, n_members.

    Examples
    --------
    >>> from woodwind.diversity import bias_variance_covariance
    >>> bias_variance_covariance([0.0], [[[1.0, 3.0]], [[3.0, 1.0]]])
    BiasVarianceCovariance(loss=4.0, bias=4.0, variance=1.0, covariance=-1.0, n_members=2)
    """
    owner = "bias_variance_covariance"
    predicted, true = read_predictions(numbers, owner, "numbers", 3), read_predictions(truth, owner, "truth", 1)
    check_rows(len(true), predicted.shape[1], owner, "truth", "numbers (its second axis)")
    weight, m = read_weight(sample_weight, len(true), owner), predicted.shape[2]
    centre = predicted.mean(axis=0)
    away = predicted - centre
    variance = (away**2).mean(axis=(0, 2))
    # Products of different members: all products, less those of members with themselves.
    pairs = (away.sum(axis=2) ** 2).mean(axis=0) - m * variance
    covariance = pairs / (m * (m - 1)) if m > 1 else np.zeros(len(true))
    bias = (centre.mean(axis=1) - true) ** 2
    loss = ((predicted.mean(axis=2) - true) ** 2).mean(axis=0)
    return BiasVarianceCovariance(float(weight @ loss), float(weight @ bias), float(weight @ variance), float(weight @ covariance), m)


def _errors(truth: Any, numbers: Any, sample_weight: Any, owner: str, least: int = 2) -> tuple[Floats, Floats]:
    predicted, true = read_predictions(numbers, owner), read_predictions(truth, owner, "truth", 1)
    check_rows(len(true), len(predicted), owner, "truth", "numbers")
    return _two_members(predicted, owner, least) - true[:, None], read_weight(sample_weight, len(true), owner)


def _two_members(numbers: Floats, owner: str, least: int = 2) -> Floats:
    if numbers.shape[1] < least:
        raise DataError(f"{owner}: numbers has {numbers.shape[1]} member, and differences need at least {least}.")
    return numbers


def _weighted_products(values: Floats, weight: Floats) -> Floats:
    products = values.T @ (values * weight[:, None])
    return np.asarray(0.5 * (products + products.T))  # sums in two orders: the same to the last bit


def pooled_correlation(values: Floats, weight: Floats, owner: str) -> Floats:
    """Correlation (m, m) of what members say of K things at once, (n, m, K): products are added up over these, each about its mean."""
    n, m, n_things = values.shape
    away = values - np.einsum("n,nmk->mk", weight, values)
    rows = away.transpose(0, 2, 1).reshape(n * n_things, m)
    # A spread that is none but for rounding, such as of probabilities that add up to one, is none.
    constant: NDArray[np.bool_] = np.ptp(values[weight > 0.0], axis=0).max(axis=1) == 0.0
    return _of_products(_weighted_products(rows, np.repeat(weight, n_things)), constant, owner)


def _correlation(values: Floats, weight: Floats, owner: str) -> Floats:
    constant: NDArray[np.bool_] = np.ptp(values[weight > 0.0], axis=0) == 0.0
    return _of_products(_weighted_products(values - weight @ values, weight), constant, owner)


def _of_products(products: Floats, constant: NDArray[np.bool_], owner: str) -> Floats:
    """Correlations from mean products, and which members do not vary."""
    if constant.any():
        who = ", ".join(str(position) for position in np.flatnonzero(constant)[:5])
        notice(f"{owner}: members {who} do not vary over rows: 0 / 0 is taken as 0. Give more rows.", UndefinedMeasureWarning)
    spread = np.where(constant, 1.0, np.sqrt(np.diagonal(products)))
    out = np.clip(np.where(constant[:, None] | constant, 0.0, products / np.outer(spread, spread)), -1.0, 1.0)
    np.fill_diagonal(out, 1.0)
    return out
