"""Why a learner errs: noise, bias and variance of what it says when it is trained on other rows.

Everything here goes by a matrix of predictions (rounds, rows): round r is the same learner, trained on another sample.
`woodwind.bias_variance` makes such matrices. Every decomposition adds up: loss = noise + bias + variance, whatever the number of classes.
See docs/algorithms/bias-variance.md.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, OutOfBagWarning, ParameterError
from woodwind.base.notice import notice
from woodwind.diversity.matrices import Floats, Hits, check_kinds, check_rows, numbered, read_predictions, read_weight
from woodwind.diversity.words import WEIGHT


class RowParts(NamedTuple):
    """The parts of the loss of each row, each (n,); NaN for rows that no round has predicted."""

    loss: Floats
    noise: Floats
    bias: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class BiasVariance:
    """A decomposition: `loss` is `noise` + `bias` + `variance`.

    For Domingos' decomposition of 0-1 loss, `variance` is the net one, `variance_unbiased` - `variance_biased`, and `spread` is how often
    a prediction differs from the main one; in the others both are the variance. `main` is the main prediction of each row, `rows` has the
    parts of each.
    """

    method: str
    main: NDArray[Any]
    rows: RowParts
    n_rounds: int
    loss: float
    noise: float
    bias: float
    variance: float
    variance_unbiased: float
    variance_biased: float
    spread: float

    def __repr__(self) -> str:
        parts = [("loss", self.loss), ("  noise", self.noise), ("  bias", self.bias), ("  variance", self.variance)]
        if self.variance_biased:
            parts += [("    on unbiased rows", self.variance_unbiased), ("    on biased rows", -self.variance_biased)]
        lines = [f"{name:22} {value:11.6g}" for name, value in parts]
        return "\n".join([f"{self.method}, {self.n_rounds} rounds, {len(self.main):,} rows", *lines])


class _Shares(NamedTuple):
    """Shares of the predictions and of the truths that are each class, both (n, K); the labels; rows that were predicted; rounds of each
    row."""

    predicted: Floats
    true: Floats
    classes: NDArray[Any]
    there: Hits
    asked: Floats


@fill_docstring(weight=WEIGHT)
def zero_one_decomposition(truth: Any, predictions: Any, *, asked: Any = None, sample_weight: Any = None) -> BiasVariance:
    """Domingos' unified decomposition of 0-1 loss: loss = c1 N + B + c2 V for every row; Domingos (2000).

    The main prediction is the commonest one. B is 1 where it is not the best one, V how often a prediction is not the main one. c2 = 1 on
    unbiased rows; on biased rows it is minus the probability that a prediction which is not the main one is the best one, for two classes
    -1: there variance helps. Noise needs several truths of a row; c1 = P(y = y*) - P(y != y*) P(y = t | y != y*, t != y*).

    Parameters
    ----------
    truth : sequence of labels, (n,) or (n, T)
        The label of each row; or T labels that were seen for the same row, whose spread is the noise.
    predictions : sequence of labels, (R, n)
        What was predicted in each round.
    asked : array of bool, (R, n), default=None
        Where a prediction counts, such as rows out of the bag; by default everywhere. Rows without any are left out, and a warning says
        so.
    {weight}

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> from woodwind.diversity import zero_one_decomposition
    >>> found = zero_one_decomposition(["a", "a"], [["a", "b"], ["a", "b"], ["b", "a"], ["a", "b"]])
    >>> found.loss, found.bias, found.variance_unbiased, found.variance_biased
    (0.5, 0.5, 0.125, 0.125)
    """
    probabilities = _class_probabilities(truth, predictions, asked, "zero_one_decomposition")
    each, predicted, true = np.arange(len(probabilities.predicted)), probabilities.predicted, probabilities.true
    main, best = predicted.argmax(axis=1), true.argmax(axis=1)
    hit = predicted[each, best]
    biased = main != best
    N, V = 1.0 - true[each, best], 1.0 - predicted[each, main]
    together = (predicted * true).sum(axis=1)
    # c1 N, with the probability that both miss the best class and still agree.
    noise = N * hit - (together - hit * true[each, best])
    net = np.where(biased, -hit, V)
    parts = RowParts(1.0 - together, noise, biased.astype(np.float64), net)
    return _summed(
        "Domingos, 0-1 loss", parts, probabilities, probabilities.classes[main], sample_weight, (np.where(biased, 0.0, V), biased * hit, V)
    )


@fill_docstring(weight=WEIGHT)
def kohavi_wolpert_decomposition(
    truth: Any, predictions: Any, *, asked: Any = None, sample_weight: Any = None, unbiased: bool = False
) -> BiasVariance:
    """The decomposition of 0-1 loss by squared differences of shares; Kohavi & Wolpert (1996).

    With P_y and P_t the shares of predictions and truths of a row: bias is 1/2 sum (P_t - P_y)^2, variance 1/2 (1 - sum P_y^2), noise
    1/2 (1 - sum P_t^2). Unlike Domingos' bias, this one lies between 0 and 1 on a row, and variance is never negative.

    Parameters
    ----------
    truth : sequence of labels, (n,) or (n, T)
        The label of each row; or T labels that were seen for the same row, whose spread is the noise.
    predictions : sequence of labels, (R, n)
        What was predicted in each round.
    asked : array of bool, (R, n), default=None
        Where a prediction counts, such as rows out of the bag; by default everywhere.
    {weight}
    unbiased : bool, default=False
        Take from bias what a finite number of rounds adds to it, variance / (R - 1), and give it to variance: their Equation for finite
        samples.

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> from woodwind.diversity import kohavi_wolpert_decomposition
    >>> found = kohavi_wolpert_decomposition(["a", "a"], [["a", "b"], ["a", "b"], ["b", "a"], ["a", "b"]])
    >>> found.loss, found.bias, found.variance
    (0.5, 0.3125, 0.1875)
    """
    probabilities = _class_probabilities(truth, predictions, asked, "kohavi_wolpert_decomposition")
    predicted, true = probabilities.predicted, probabilities.true
    variance, noise = 0.5 * (1.0 - (predicted**2).sum(axis=1)), 0.5 * (1.0 - (true**2).sum(axis=1))
    bias = 0.5 * ((true - predicted) ** 2).sum(axis=1)
    if unbiased:
        if (probabilities.asked[probabilities.there] < 2).any():
            raise ParameterError("kohavi_wolpert_decomposition: unbiased=True needs two predictions of each row. Give more rounds.")
        moved = variance / np.maximum(probabilities.asked - 1.0, 1.0)
        bias, variance = bias - moved, variance + moved
    parts = RowParts(1.0 - (predicted * true).sum(axis=1), noise, bias, variance)
    nothing = np.zeros(len(variance))
    main = probabilities.classes[predicted.argmax(axis=1)]
    return _summed("Kohavi and Wolpert, 0-1 loss", parts, probabilities, main, sample_weight, (variance, nothing, variance))


@fill_docstring(weight=WEIGHT)
def james_decomposition(truth: Any, predictions: Any, *, asked: Any = None, sample_weight: Any = None) -> BiasVariance:
    """The decomposition of 0-1 loss by effects: how much the loss falls without noise, without bias, without variance; James (2003).

    Noise is the loss of the best class, the systematic effect is what the main prediction loses beyond it, and the variance effect what
    predictions lose beyond the main one: it is negative where variance helps. `bias` and `variance` are these effects.

    Parameters
    ----------
    truth : sequence of labels, (n,) or (n, T)
        The label of each row; or T labels that were seen for the same row, whose spread is the noise.
    predictions : sequence of labels, (R, n)
        What was predicted in each round.
    asked : array of bool, (R, n), default=None
        Where a prediction counts, such as rows out of the bag; by default everywhere.
    {weight}

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> from woodwind.diversity import james_decomposition
    >>> found = james_decomposition(["a", "a"], [["a", "b"], ["a", "b"], ["b", "a"], ["a", "b"]])
    >>> found.loss, found.bias, found.variance
    (0.5, 0.5, 0.0)
    """
    probabilities = _class_probabilities(truth, predictions, asked, "james_decomposition")
    each, predicted, true = np.arange(len(probabilities.predicted)), probabilities.predicted, probabilities.true
    main, best = predicted.argmax(axis=1), true.argmax(axis=1)
    loss = 1.0 - (predicted * true).sum(axis=1)
    of_main, of_best = 1.0 - true[each, main], 1.0 - true[each, best]
    effect, spread = loss - of_main, 1.0 - predicted[each, main]
    parts = RowParts(loss, of_best, of_main - of_best, effect)
    split = np.where(main == best, effect, 0.0), np.where(main == best, 0.0, -effect), spread
    return _summed("James, 0-1 loss", parts, probabilities, probabilities.classes[main], sample_weight, split)


@fill_docstring(weight=WEIGHT)
def squared_decomposition(truth: Any, predictions: Any, *, asked: Any = None, sample_weight: Any = None) -> BiasVariance:
    """Squared loss as noise + squared bias + variance, exactly; Geman, Bienenstock & Doursat (1992), Domingos (2000).

    The main prediction is the mean. Noise needs several truths of a row: their variance.

    Parameters
    ----------
    truth : sequence of numbers, (n,) or (n, T)
        The number of each row; or T numbers that were seen for the same row.
    predictions : array of numbers, (R, n)
        What was predicted in each round.
    asked : array of bool, (R, n), default=None
        Where a prediction counts, such as rows out of the bag; by default everywhere. Rows without any are left out, and a warning says
        so.
    {weight}

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> from woodwind.diversity import squared_decomposition
    >>> found = squared_decomposition([1.0, 4.0], [[0.0, 4.0], [4.0, 2.0]])
    >>> found.loss, found.bias, found.variance
    (3.5, 1.0, 2.5)
    """
    owner = "squared_decomposition"
    given = np.asarray(truth)
    true = read_predictions(given[:, None] if given.ndim == 1 else given, owner, "truth")
    counts, there = _asked(asked, np.shape(predictions), owner)
    predicted = read_predictions(np.where(counts, np.asarray(predictions, np.float64), 0.0), owner, "predictions")
    check_rows(len(true), predicted.shape[1], owner, "truth", "predictions (its columns)")
    asked_of = np.maximum(counts.sum(axis=0), 1)
    best, main = true.mean(axis=1), predicted.sum(axis=0) / asked_of
    noise = ((true - best[:, None]) ** 2).mean(axis=1)
    variance = (counts * (predicted - main) ** 2).sum(axis=0) / asked_of
    # The mean over all pairs of a truth and a prediction, not the sum of its parts.
    loss = sum((counts * (predicted - one) ** 2).sum(axis=0) / asked_of for one in true.T) / true.shape[1]
    parts = RowParts(loss, noise, (main - best) ** 2, variance)
    probabilities = _Shares(predicted, true, np.empty(0), there, asked_of.astype(np.float64))
    return _summed("squared loss", parts, probabilities, main, sample_weight, (variance, np.zeros(len(main)), variance))


def _class_probabilities(truth: Any, predictions: Any, asked: Any, owner: str) -> _Shares:
    """Shares of predictions and truths by class, from labels of any kind."""
    seen, predicted = np.asarray(truth), np.asarray(predictions)
    if predicted.ndim != 2 or seen.ndim not in (1, 2) or predicted.size == 0:
        raise DataError(
            f"{owner}: predictions must be (rounds, rows) and truth (rows,) or (rows, T), but the shapes are {predicted.shape}, "
            f"{seen.shape}."
        )
    check_kinds(seen, predicted, owner)
    seen = seen[:, None] if seen.ndim == 1 else seen
    check_rows(len(seen), predicted.shape[1], owner, "truth", "predictions (its columns)")
    counts, there = _asked(asked, predicted.shape, owner)
    # Predictions that do not count may be anything: a label of the truth stands in for them.
    predicted = np.where(counts, predicted, seen[:, 0]) if asked is not None else predicted
    first, others, classes = numbered(seen[:, 0], np.hstack([seen, predicted.T]), owner)
    truths, votes = others[:, : seen.shape[1]], others[:, seen.shape[1] :]
    K, rows = len(classes), len(first)
    each = np.arange(rows)[:, None] * K
    predicted_counts = np.bincount((each + votes).ravel(), counts.T.ravel().astype(np.float64), rows * K).reshape(rows, K)
    true_counts = np.bincount((each + truths).ravel(), minlength=rows * K).reshape(rows, K)
    asked_of = predicted_counts.sum(axis=1)
    return _Shares(predicted_counts / np.maximum(asked_of, 1.0)[:, None], true_counts / truths.shape[1], classes, there, asked_of)


def _asked(asked: Any, shape: tuple[int, ...], owner: str) -> tuple[Hits, Hits]:
    """Which predictions count (R, n), and which rows have any (n,)."""
    if len(shape) != 2:
        raise DataError(f"{owner}: predictions must be (rounds, rows), but the shape is {shape}.")
    counts = np.ones(shape, np.bool_) if asked is None else np.asarray(asked)
    if counts.dtype.kind != "b" or counts.shape != shape:
        raise DataError(f"{owner}: asked must be truth values in the shape of predictions, {shape}, not {counts.dtype} of {counts.shape}.")
    there: Hits = np.asarray(counts.any(axis=0), np.bool_)
    if not there.any():
        raise DataError(f"{owner}: asked is false everywhere: there are no predictions to score.")
    if not there.all():
        missing = np.flatnonzero(~there)
        told = f"{owner}: {len(missing):,} rows (first {missing[0]}) have no prediction and are left out. Give more rounds."
        notice(told, OutOfBagWarning)
    return np.asarray(counts, np.bool_), there


def _summed(
    method: str, parts: RowParts, probabilities: _Shares, main: NDArray[Any], sample_weight: Any, split: tuple[Floats, Floats, Floats]
) -> BiasVariance:
    """Weighted means over the rows that were predicted; `split` has unbiased variance, biased variance and spread."""
    there = probabilities.there
    weight = read_weight(sample_weight, len(there), method) * there
    if weight.sum() <= 0.0:
        raise DataError(f"{method}: no row with a weight has a prediction.")
    weight /= weight.sum()
    rows = RowParts(*(np.where(there, part, np.nan) for part in parts))
    return BiasVariance(method, main, rows, int(probabilities.asked.max()), *(float(weight @ part) for part in (*parts, *split)))
