"""How what members predict becomes one answer: votes are counted, probabilities and numbers averaged, each in several ways.

Rows come first, members second, classes third: votes (n, m) are numbers of classes; probabilities are (n, m, K),
predictions of regressors (n, m).
Weights are of members (m,), or (n, m) where they differ by row. Only their ratios count. Members are added in their order, so that the
bits do not depend on how the arrays lie in memory.
The page is docs/algorithms/voting.md.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError, WeightError
from woodwind.base.random_streams import key, uniform

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A probability below this is taken as this where logarithms are needed: no member can rule a class out alone.
LEAST_SHARE = 1e-15
# Rows times members that are sorted together: a block of shares is then 16 MB.
BLOCK = 1 << 21


# Votes.


def vote_counts(votes: NDArray[Any], n_classes: int, weights: Any = None) -> Floats:
    """The number, or the weight, of the votes for each class, (n, K)."""
    votes = read_votes(votes, n_classes)
    weights = read_weights(weights, votes.shape)
    out = np.zeros((len(votes), n_classes))
    rows = np.arange(len(votes))
    for member in range(votes.shape[1]):
        out[rows, votes[:, member]] += _of(weights, member)
    return out


def vote_fractions(votes: NDArray[Any], n_classes: int, weights: Any = None) -> Floats:
    """The share of the votes that each class has, (n, K)."""
    counts = vote_counts(votes, n_classes, weights)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def majority(votes: NDArray[Any], n_classes: int, weights: Any = None) -> Integers:
    """The class with the most votes, or the largest weight of votes; of equals the first, (n,)."""
    return np.asarray(vote_counts(votes, n_classes, weights).argmax(axis=1), np.int64)


# Probabilities.


def mean_probabilities(probabilities: NDArray[Any], weights: Any = None) -> Floats:
    """The mean of the probabilities, (n, K)."""
    probabilities = read_probabilities(probabilities)
    weights = read_weights(weights, probabilities.shape[:2])
    return np.asarray(_weighted_sum(probabilities, weights) / _column(_total(weights, probabilities.shape[1])))


def median_probabilities(probabilities: NDArray[Any], weights: Any = None) -> Floats:
    """The median of the probabilities of each class, divided by their sum, (n, K). If all medians are zero, the mean decides."""
    probabilities = read_probabilities(probabilities)
    weights = read_weights(weights, probabilities.shape[:2])
    found = np.empty((len(probabilities), probabilities.shape[2]))
    for position in range(probabilities.shape[2]):
        one = probabilities[:, :, position]
        found[:, position] = median_prediction(one) if weights is None else weighted_median_prediction(one, weights, midpoint=True)
    return _summing_to_one(found, probabilities, weights)


def trimmed_probabilities(probabilities: NDArray[Any], trim: float = 0.1, weights: Any = None) -> Floats:
    """The mean of the probabilities of each class without the smallest and the largest `trim` of the members, divided by their sum."""
    probabilities = read_probabilities(probabilities)
    weights = read_weights(weights, probabilities.shape[:2])
    found = np.empty((len(probabilities), probabilities.shape[2]))
    for position in range(probabilities.shape[2]):
        found[:, position] = trimmed_prediction(probabilities[:, :, position], trim, weights)
    return _summing_to_one(found, probabilities, weights)


def geometric_probabilities(probabilities: NDArray[Any], weights: Any = None) -> Floats:
    """The geometric mean of the probabilities, divided by their sum, (n, K): products, as of independent witnesses."""
    probabilities = read_probabilities(probabilities)
    weights = read_weights(weights, probabilities.shape[:2])
    mean = _weighted_sum(probabilities, weights, np.log, LEAST_SHARE) / _column(_total(weights, probabilities.shape[1]))
    out = np.exp(mean - mean.max(axis=1, keepdims=True))
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def ranked_probabilities(probabilities: NDArray[Any], weights: Any = None) -> Floats:
    """Borda's count: a class gets a point for each class that a member finds less likely, and half a point for each just as likely.

    Points are divided by their sum, (n, K). With two classes it is the vote by the larger probability.
    """
    probabilities = read_probabilities(probabilities)
    weights = read_weights(weights, probabilities.shape[:2])
    n_rows, n_members, n_classes = probabilities.shape
    points = np.zeros((n_rows, n_classes))
    for member in range(n_members):
        points += _column(_of(weights, member)) * borda_points(probabilities[:, member])
    total = _total(weights, n_members) * (n_classes * (n_classes - 1) / 2.0)
    return points / _column(total) if n_classes > 1 else np.ones((n_rows, 1))


def borda_points(probabilities: Floats) -> Floats:
    """The points of the classes by one member, (n, K): those below it, and half of its equals."""
    order = np.argsort(probabilities, axis=1, kind="stable")
    ordered = np.take_along_axis(probabilities, order, axis=1)
    n_rows, n_classes = probabilities.shape
    position = np.arange(n_classes, dtype=np.float64)
    new = np.ones((n_rows, n_classes), np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    last = np.ones((n_rows, n_classes), np.bool_)
    last[:, :-1] = new[:, 1:]
    # Of a run of equals, from position a to position b, all get (a + b) / 2.
    begin = np.maximum.accumulate(np.where(new, position, 0.0), axis=1)
    end = np.minimum.accumulate(np.where(last, position, n_classes)[:, ::-1], axis=1)[:, ::-1]
    points = np.empty((n_rows, n_classes))
    np.put_along_axis(points, order, (begin + end) / 2.0, axis=1)
    return points


# Numbers.


def mean_prediction(predictions: NDArray[Any], weights: Any = None) -> Floats:
    """The mean, (n,)."""
    predictions = read_predictions(predictions)
    weights = read_weights(weights, predictions.shape)
    return np.asarray(_weighted_sum(predictions, weights) / _total(weights, predictions.shape[1]))


def median_prediction(predictions: NDArray[Any]) -> Floats:
    """The median, (n,): of an even number of members midway between the two in the middle."""
    predictions = read_predictions(predictions)
    out = np.empty(len(predictions))
    for begin, end in _blocks(predictions.shape):
        out[begin:end] = np.median(predictions[begin:end], axis=1)
    return out


def weighted_median_prediction(predictions: NDArray[Any], weights: Any, midpoint: bool = False) -> Floats:
    """The smallest number of a member such that half of the weight is on numbers that are not larger, (n,).

    With `midpoint`, where exactly half of the weight is there, it lies midway to the next number, so that equal weights give the median.
    """
    predictions = read_predictions(predictions)
    weights = read_weights(weights, predictions.shape)
    if weights is None:
        weights = np.ones(predictions.shape[1])
    out = np.empty(len(predictions))
    for begin, end in _blocks(predictions.shape):
        part = predictions[begin:end]
        order = np.argsort(part, axis=1, kind="stable")
        ordered = np.take_along_axis(part, order, axis=1)
        mass = np.cumsum(weights[order] if weights.ndim == 1 else np.take_along_axis(weights[begin:end], order, axis=1), axis=1)
        half = mass[:, -1:] / 2.0
        rows = np.arange(len(part))
        out[begin:end] = ordered[rows, (mass >= half).argmax(axis=1)]
        if midpoint:
            out[begin:end] = (out[begin:end] + ordered[rows, (mass > half).argmax(axis=1)]) / 2.0
    return out


def trimmed_prediction(predictions: NDArray[Any], trim: float = 0.1, weights: Any = None) -> Floats:
    """The mean without the smallest and the largest, (n,): floor(trim * m) members on either side; with weights, `trim` of the weight."""
    predictions = read_predictions(predictions)
    weights = read_weights(weights, predictions.shape)
    if not 0.0 <= trim < 0.5:
        raise ParameterError(f"trim must be at least 0 and below 0.5, so that something is left in the middle, but it is {trim!r}.")
    out = np.empty(len(predictions))
    count = predictions.shape[1]
    cut = int(np.floor(trim * count + 1e-9))
    for begin, end in _blocks(predictions.shape):
        part = predictions[begin:end]
        if weights is None:
            # Where the first `cut` are and where the last, matters; their order does not.
            ordered = np.partition(part, sorted({cut, count - 1 - cut}), axis=1) if cut else part
            out[begin:end] = ordered[:, cut : count - cut].mean(axis=1)
            continue
        order = np.argsort(part, axis=1, kind="stable")
        own = weights[order] if weights.ndim == 1 else np.take_along_axis(weights[begin:end], order, axis=1)
        mass = np.cumsum(own, axis=1)
        low, high = trim * mass[:, -1:], (1.0 - trim) * mass[:, -1:]
        kept = np.maximum(np.minimum(mass, high) - np.maximum(mass - own, low), 0.0)
        out[begin:end] = (kept * np.take_along_axis(part, order, axis=1)).sum(axis=1) / kept.sum(axis=1)
    return out


def geometric_prediction(predictions: NDArray[Any], weights: Any = None) -> Floats:
    """The geometric mean of numbers above zero, (n,)."""
    predictions = read_predictions(predictions)
    weights = read_weights(weights, predictions.shape)
    low = np.argwhere(~(predictions > 0.0))
    if len(low):
        row, member = low[0]
        raise DataError(
            f"A geometric mean is of numbers above zero, but member {member} says {predictions[row, member]:g} of row {row}. Take the mean "
            "or "
            "the median."
        )
    return np.asarray(np.exp(_weighted_sum(predictions, weights, np.log) / _total(weights, predictions.shape[1])))


# What all have in common.


def _weighted_sum(predicted: Floats, weights: Floats | None, function: Any = None, least: float | None = None) -> Floats:
    """The sum over members, in their order, of what they predict times their weights; of a function of what they predict, if there is
    one."""
    total: Any = 0.0
    for member in range(predicted.shape[1]):
        one = predicted[:, member] if least is None else np.maximum(predicted[:, member], least)
        one = one if function is None else function(one)
        if weights is not None:
            weight = _of(weights, member)
            one = one * (_column(weight) if one.ndim == 2 else weight)
        total = total + one
    return np.asarray(total)


def _of(weights: Floats | None, member: int) -> Any:
    """The weight of a member: one number, or one for each row."""
    return 1.0 if weights is None else weights[..., member]


def _total(weights: Floats | None, members: int) -> Any:
    return float(members) if weights is None else weights.sum(axis=-1)


def _column(weight: Any) -> Any:
    return weight[:, None] if np.ndim(weight) == 1 else weight


def _summing_to_one(found: Floats, probabilities: Floats, weights: Floats | None) -> Floats:
    total = found.sum(axis=1)
    lost = np.flatnonzero(total <= 0.0)
    if lost.size:
        found[lost] = mean_probabilities(probabilities[lost], weights if weights is None or weights.ndim == 1 else weights[lost])
        total[lost] = found[lost].sum(axis=1)
    return found / np.where(total > 0.0, total, 1.0)[:, None]


def _blocks(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    step = max(1, BLOCK // max(1, shape[1]))
    return [(begin, min(begin + step, shape[0])) for begin in range(0, shape[0], step)]


def read_votes(votes: NDArray[Any], n_classes: int) -> Integers:
    """Votes (n, m) as numbers of classes, checked."""
    array = np.asarray(votes)
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(f"votes must be an array (rows, members) with at least one member, but its shape is {array.shape}.")
    if array.dtype.kind not in "iub":
        raise DataError(f"votes must be numbers of classes, 0 to {n_classes - 1}, but they are of type {array.dtype}.")
    if array.size and (array.min() < 0 or array.max() >= n_classes):
        raise DataError(f"votes must be numbers of classes, 0 to {n_classes - 1}, but there is {array.min()} and {array.max()}.")
    return array.astype(np.int64, copy=False)


def read_probabilities(probabilities: NDArray[Any]) -> Floats:
    """Probabilities (n, m, K), checked."""
    array = np.asarray(probabilities, np.float64)
    if array.ndim != 3 or 0 in array.shape[1:]:
        raise DataError(f"probabilities must be an array (rows, members, classes), but its shape is {array.shape}.")
    return array


def read_predictions(predictions: NDArray[Any]) -> Floats:
    """Numbers (n, m), checked."""
    array = np.asarray(predictions, np.float64)
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(f"predictions must be an array (rows, members) with at least one member, but its shape is {array.shape}.")
    return array


def read_weights(weights: Any, shape: tuple[int, ...]) -> Floats | None:
    """Weights of members (m,), or by row (n, m), checked; None for equal ones."""
    if weights is None:
        return None
    array = np.asarray(weights, np.float64)
    if array.shape not in ((shape[1],), tuple(shape)):
        of = f"one for each of {shape[1]} members, or for each row and member"
        raise WeightError(f"weights must be {of}, but their shape is {array.shape}.")
    with np.errstate(over="ignore"):
        total = array.sum(axis=-1)
    if not np.isfinite(total).all() or (array < 0.0).any():
        raise WeightError("weights of members must be finite, as is their sum, and not negative.")
    if (total <= 0.0).any():
        raise WeightError("weights of members must not all be zero: nobody would be asked.")
    return array


# ----------------------------------------------------------------------------------------------------
# Votes of members for classes, and how ties are broken: at random, by key, and the same for the same votes.
#
# A ballot is a row of K + 1 numbers: one for the class voted for, zero for others, and last the luck that this member gives to this class,
# a number in [0, 1) drawn by key. Ballots add up. The sum of the luck depends on who voted for what, and on nothing else: neither on where
# the row stands nor on the other rows. Its fraction picks one of the classes that have the most votes.


def tie_keys(seed: int, member: int, n_classes: int) -> Floats:
    """What a member gives to each class (K,)."""
    return uniform(key(seed, "ties", member), n_classes)


def ballots(classes: NDArray[np.integer], given: Floats) -> Floats:
    """The ballots (n, K + 1) of votes for classes, by a member that gives such luck."""
    out = np.zeros((len(classes), len(given) + 1))
    out[np.arange(len(classes)), classes] = 1.0
    out[:, -1] = given[classes]
    return out


def winners(total: Floats) -> NDArray[np.int64]:
    """The class with the most votes in each row of summed ballots; of equals the one that the luck picks."""
    votes = total[:, :-1]
    leads = votes == votes.max(axis=1, keepdims=True)
    n_leads = leads.sum(axis=1)
    fraction = total[:, -1] % 1.0
    which = np.minimum((fraction * n_leads).astype(np.int64), n_leads - 1)
    return np.asarray((leads & (np.cumsum(leads, axis=1) == which[:, None] + 1)).argmax(axis=1))


def counted_ballots(votes: NDArray[Any], n_classes: int, seed: int, weights: Any = None) -> Floats:
    """Summed ballots (n, K + 1) of votes (n, m), in which members weigh something."""
    luck = [tie_keys(seed, member, n_classes)[votes[:, member]] for member in range(votes.shape[1])]
    return np.column_stack([vote_counts(votes, n_classes, weights), np.sum(luck, axis=0)])


def ballot_fractions(total: Floats, members: NDArray[np.integer] | int) -> Floats:
    """The share of the votes that each class has (n, K). Of equals, the winner has more than the others by the smallest step there is."""
    out = np.asarray(total[:, :-1] / np.reshape(members, (-1, 1)))
    best = winners(total)
    tied = np.flatnonzero((out == out.max(axis=1, keepdims=True)).sum(axis=1) > 1)
    out[tied, best[tied]] = np.nextafter(out[tied, best[tied]], 2.0)
    return out
