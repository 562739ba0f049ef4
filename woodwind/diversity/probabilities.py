"""How the class probabilities of classifiers differ: their correlation, that of their errors, and what averaging them makes of it.

The same measures as of regressors (`regression`), of the probabilities of all classes at once: products of what two members predict
for a class are added up over the classes. With two classes these are the measures of the probability of one of them.
See docs/algorithms/diversity.md.
"""

from typing import Any

import numpy as np

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError
from woodwind.diversity.matrices import Floats, Integers, check_rows, read_member_weights, read_predictions, read_weight
from woodwind.diversity.regression import AmbiguityDecomposition, pooled_correlation, pooled_decomposition
from woodwind.diversity.words import PROBABILITIES, WEIGHT


@fill_docstring(weight=WEIGHT, probabilities=PROBABILITIES)
def probability_correlation(probabilities: Any, *, sample_weight: Any = None) -> Floats:
    """Correlation of the class probabilities that members predict: the forecast correlation of classifiers.

    A member that says the same of all rows has none: 0 / 0 is taken as 0, as 1 with itself, and a warning says so.

    Parameters
    ----------
    {probabilities}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import probability_correlation
    >>> first, second = [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], [[0.3, 0.7], [0.2, 0.8], [0.1, 0.9]]
    >>> probability_correlation([[a, b] for a, b in zip(first, second)]).round(12).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    owner = "probability_correlation"
    predicted = read_probabilities(probabilities, owner)
    return pooled_correlation(predicted, read_weight(sample_weight, len(predicted), owner), owner)


@fill_docstring(weight=WEIGHT, probabilities=PROBABILITIES)
def probability_error_correlation(truth: Any, probabilities: Any, *, sample_weight: Any = None) -> Floats:
    """Correlation of the errors of class probabilities: of p_k less 1 for the class that came true and 0 for the others.

    Parameters
    ----------
    truth : sequence of numbers of classes, (n,)
        0 to K - 1, as the last axis of probabilities has them.
    {probabilities}
    {weight}

    Returns
    -------
    array (m, m)

    Examples
    --------
    >>> from woodwind.diversity import probability_error_correlation
    >>> probability_error_correlation([0, 1], [[[0.8, 0.2], [0.6, 0.4]], [[0.2, 0.8], [0.4, 0.6]]]).round(12).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    owner = "probability_error_correlation"
    errors, weight = _errors(truth, probabilities, sample_weight, owner)
    return pooled_correlation(errors, weight, owner)


@fill_docstring(weight=WEIGHT, probabilities=PROBABILITIES)
def brier_decomposition(truth: Any, probabilities: Any, weights: Any = None, *, sample_weight: Any = None) -> AmbiguityDecomposition:
    """The Brier score of the mean of probabilities is the mean score of the members less their ambiguity, exactly.

    Krogh & Vedelsby (1995), of the vectors of probabilities. The Brier score (Brier 1950) is the mean over rows of the sum over classes of
    the squared errors; ambiguity is the same sum of squared differences between members and their mean, and needs no truth.

    Parameters
    ----------
    truth : sequence of numbers of classes, (n,)
        0 to K - 1, as the last axis of probabilities has them.
    {probabilities}
    weights : sequence of numbers, (m,), default=None
        Weights of members in the mean, none negative; they are divided by their sum.
    {weight}

    Returns
    -------
    AmbiguityDecomposition
        ensemble_error, mean_error, ambiguity, member_errors (m,), member_ambiguities (m,).

    Examples
    --------
    >>> from woodwind.diversity import brier_decomposition
    >>> found = brier_decomposition([0], [[[1.0, 0.0], [0.5, 0.5]]])
    >>> found.mean_error, found.ambiguity, found.ensemble_error
    (0.25, 0.125, 0.125)
    """
    owner = "brier_decomposition"
    errors, weight = _errors(truth, probabilities, sample_weight, owner)
    return pooled_decomposition(errors, read_member_weights(weights, errors.shape[1], owner), weight)


def read_probabilities(probabilities: Any, owner: str) -> Floats:
    """Class probabilities (n, m, K) of at least two members and two classes."""
    predicted = read_predictions(probabilities, owner, "probabilities", 3)
    if predicted.shape[1] < 2 or predicted.shape[2] < 2:
        raise DataError(f"{owner}: probabilities must be of at least two members and two classes, (n, m, K), but are {predicted.shape}.")
    return predicted


def _errors(truth: Any, probabilities: Any, sample_weight: Any, owner: str) -> tuple[Floats, Floats]:
    predicted = read_probabilities(probabilities, owner)
    true = np.asarray(truth)
    check_rows(len(true), len(predicted), owner, "truth", "probabilities")
    n_classes = predicted.shape[2]
    if true.ndim != 1 or true.dtype.kind not in "iub" or (true.size and (true.min() < 0 or true.max() >= n_classes)):
        raise DataError(
            f"{owner}: truth must have the number of the class of each row, 0 to {n_classes - 1}; class_indices makes them of labels."
        )
    whole: Integers = true.astype(np.int64)
    return predicted - np.eye(n_classes)[whole][:, None], read_weight(sample_weight, len(true), owner)
