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


@fill_docstring(weight=WEIGHT, predictions=PREDICTIONS)
def prediction_correlation(predictions: Any, *, sample_weight: Any = None) -> Floats:
    """Correlation of what members predict: of probabilities for one class, or of numbers.

    A member that says the same of all rows has none: 0 / 0 is taken as 0, as 1 with itself, and a warning says so.

    Parameters
    ----------
    {predictions}
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
    owner = "prediction_correlation"
    predicted = _two_members(read_predictions(predictions, owner), owner)
    return pooled_correlation(predicted[:, :, None], read_weight(sample_weight, len(predicted), owner), owner)


@fill_docstring(weight=WEIGHT, predictions=PREDICTIONS)
def error_products(truth: Any, predictions: Any, *, sample_weight: Any = None) -> Floats:
    """Mean products of errors, C_ij = E[(f_i - y) (f_j - y)]; Perrone & Cooper (1993).

    The squared error of a mean with weights w is w' C w, exactly; the diagonal has the errors of the members.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    {predictions}
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
    errors, weight = _errors(truth, predictions, sample_weight, "error_products")
    return _weighted_products(errors, weight)


@fill_docstring(weight=WEIGHT, predictions=PREDICTIONS)
def error_covariance(truth: Any, predictions: Any, *, sample_weight: Any = None) -> Floats:
    """Covariance of the errors of members over rows: mean products of errors less their means.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    {predictions}
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
    errors, weight = _errors(truth, predictions, sample_weight, "error_covariance")
    return _weighted_products(errors - weight @ errors, weight)


@fill_docstring(weight=WEIGHT, predictions=PREDICTIONS)
def error_correlation(truth: Any, predictions: Any, *, sample_weight: Any = None) -> Floats:
    """Correlation of the errors of members over rows: the strength-diversity trade-off of members that are regressors.

    A member whose error is the same on all rows has none: 0 / 0 is taken as 0, as 1 with itself, and a warning says so.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    {predictions}
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
    errors, weight = _errors(truth, predictions, sample_weight, "error_correlation")
    return pooled_correlation(errors[:, :, None], weight, "error_correlation")


@fill_docstring(weight=WEIGHT, predictions=PREDICTIONS)
def ambiguity_decomposition(truth: Any, predictions: Any, weights: Any = None, *, sample_weight: Any = None) -> AmbiguityDecomposition:
    """The squared error of a mean is the mean error of the members less their ambiguity, exactly; Krogh & Vedelsby (1995).

    Ambiguity is the mean squared difference between the members and their mean. It needs no truth, and is never negative: the mean is
    never worse than members are on average.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    {predictions}
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
    errors, weight = _errors(truth, predictions, sample_weight, owner, least=1)
    return pooled_decomposition(errors[:, :, None], read_member_weights(weights, errors.shape[1], owner), weight)


@fill_docstring(weight=WEIGHT)
def bias_variance_covariance(truth: Any, predictions: Any, *, sample_weight: Any = None) -> BiasVarianceCovariance:
    """The squared error of a mean of m members over training sets: bias + variance / m + (1 - 1 / m) covariance; Ueda & Nakano (1996).

    Bias is the squared mean bias of the members; variance and covariance are means over members and over pairs of members, all of them
    over training sets and then over rows.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    predictions : array (R, n, m)
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
    predicted, true = read_predictions(predictions, owner, "predictions", 3), read_predictions(truth, owner, "truth", 1)
    check_rows(len(true), predicted.shape[1], owner, "truth", "predictions (its second axis)")
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


def _errors(truth: Any, predictions: Any, sample_weight: Any, owner: str, least: int = 2) -> tuple[Floats, Floats]:
    predicted, true = read_predictions(predictions, owner), read_predictions(truth, owner, "truth", 1)
    check_rows(len(true), len(predicted), owner, "truth", "predictions")
    return _two_members(predicted, owner, least) - true[:, None], read_weight(sample_weight, len(true), owner)


def _two_members(predictions: Floats, owner: str, least: int = 2) -> Floats:
    if predictions.shape[1] < least:
        raise DataError(f"{owner}: predictions has {predictions.shape[1]} member, and differences need at least {least}.")
    return predictions


def _weighted_products(values: Floats, weight: Floats) -> Floats:
    products = values.T @ (values * weight[:, None])
    return np.asarray(0.5 * (products + products.T))  # sums in two orders: the same to the last bit


# Of K outputs at once, such as the probabilities of K classes; regressors have one.


def pooled_decomposition(errors: Floats, weights: Floats, weight: Floats) -> AmbiguityDecomposition:
    """The decomposition of squared errors (n, m, K), added up over the outputs, by weights of members (m,) and of rows (n,)."""
    mean = np.einsum("nmk,m->nk", errors, weights)
    member_errors = weight @ (errors**2).sum(axis=2)
    member_ambiguities = weight @ ((errors - mean[:, None]) ** 2).sum(axis=2)
    return AmbiguityDecomposition(
        float(weight @ (mean**2).sum(axis=1)),
        float(member_errors @ weights),
        float(member_ambiguities @ weights),
        member_errors,
        member_ambiguities,
    )


def pooled_correlation(values: Floats, weight: Floats, owner: str) -> Floats:
    """Correlation (m, m) of what members predict, (n, m, K): products are added up over the outputs, each about its mean."""
    n, m, n_outputs = values.shape
    away = values - np.einsum("n,nmk->mk", weight, values)
    rows = away.transpose(0, 2, 1).reshape(n * n_outputs, m)
    products = _weighted_products(rows, np.repeat(weight, n_outputs))
    # A spread that is none but for rounding, such as of probabilities that add up to one, is none.
    constant: NDArray[np.bool_] = np.ptp(values[weight > 0.0], axis=0).max(axis=1) == 0.0
    if constant.any():
        who = ", ".join(str(position) for position in np.flatnonzero(constant)[:5])
        notice(f"{owner}: members {who} do not vary over rows: 0 / 0 is taken as 0. Give more rows.", UndefinedMeasureWarning)
    spread = np.where(constant, 1.0, np.sqrt(np.diagonal(products)))
    out = np.clip(np.where(constant[:, None] | constant, 0.0, products / np.outer(spread, spread)), -1.0, 1.0)
    np.fill_diagonal(out, 1.0)
    return out
