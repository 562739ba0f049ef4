"""Orders of members of which the first are kept: each member is where it helps most the members before it.

One function for each order, with its paper. Votes are (n, m) class numbers, hits (n, m) whether they are right, errors (n, m) what
members that are regressors are off by; weight (n,) of rows, or None. Of equal members the first is taken. See
docs/algorithms/ordered-pruning.md.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.selection.greedy import greedy
from woodwind.selection.member_selection import leaders
from woodwind.selection.objectives import Objective, read_matrix

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Where margin distance aims at: a small margin in every row (Martínez-Muñoz, Hernández-Lobato & Suárez 2009).
AIM = 0.075
# The part of margins, as against that of diversity, in the measure of Guo and others (2018).
MARGIN_PART = 0.2


def ordered(name: str, predicted: Any, truth: Any, objective: Objective, weight: Any = None) -> Integers:
    """The members in an order by name, from probabilities (n, m, K) or numbers (n, m). Only 'reduced_error' looks at the objective."""
    predicted, truth, weight = read_matrix(predicted, truth, weight)
    names = order_names(predicted.ndim == 3)
    if name not in names:
        kind = "classes" if predicted.ndim == 3 else "numbers"
        raise ParameterError(f"An order for members that predict {kind} is one of {', '.join(map(repr, names))}, but it is {name!r}.")
    if name == "reduced_error":
        return reduced_error(objective)
    if predicted.ndim == 2:
        return REGRESSION_ORDERS[name](predicted - truth[:, None], weight)
    return ORDERS[name](predicted.argmax(axis=2), truth, predicted.shape[2], weight)


def order_names(classifies: bool) -> tuple[str, ...]:
    """The orders that there are."""
    return ("reduced_error", *(ORDERS if classifies else REGRESSION_ORDERS))


def reduced_error(objective: Objective) -> Integers:
    """Each time the member with which those chosen are best: Margineantu & Dietterich 1997, "Pruning adaptive
    boosting", reduce-error pruning without back-fitting.

    For numbers: Hernández-Lobato, Martínez-Muñoz & Suárez 2006, "Pruning in ordered regression bagging ensembles". The first is the
    best member; none comes twice.
    """
    return greedy(objective, len(objective.vectors), replace=False, whole=True).order


# -------------------------------------------------------------------------------------------------------------- classes


def kappa_order(votes: Integers, n_classes: int, weight: Floats | None = None) -> Integers:
    """Pairs that agree least come first: Margineantu & Dietterich 1997, kappa pruning."""
    m = votes.shape[1]
    kappa = pairwise_kappa(votes, n_classes, weight)
    one, other = np.triu_indices(m, 1)
    pairs = np.argsort(np.round(kappa[one, other], 12), kind="stable")
    members = np.stack([one[pairs], other[pairs]], axis=1).reshape(-1)
    _, first = np.unique(members, return_index=True)
    return np.asarray(members[np.sort(first)] if m > 1 else np.zeros(1, np.int64), np.int64)


def pairwise_kappa(votes: Integers, n_classes: int, weight: Floats | None = None) -> Floats:
    """Agreement of every two members beyond that of chance (Cohen 1960), (m, m); 1 for members that always say the same one class."""
    row_fractions = _row_fractions(weight, len(votes))
    ballots = (votes.T[:, None, :] == np.arange(n_classes)[:, None]).astype(np.float64)  # (m, K, n)
    usual = ballots @ row_fractions  # (m, K) how often a member votes for a class
    flat = ballots.reshape(len(ballots), -1)
    agree = (flat * np.tile(row_fractions, n_classes)) @ flat.T
    by_chance = usual @ usual.T
    rest = 1.0 - by_chance
    return np.where(rest > 1e-12, (agree - by_chance) / np.where(rest > 1e-12, rest, 1.0), 1.0)


def complementarity(votes: Integers, truth: Integers, n_classes: int, weight: Floats | None = None) -> Integers:
    """Each time the member that is most often right where those chosen are wrong: Martínez-Muñoz & Suárez 2004, "Aggregation ordering
    in bagging".

    Those chosen vote, and of equal classes the first wins. Before there are any, all rows are wrong: the first is the most accurate.
    """
    hits = votes == truth[:, None]
    row_fractions, counts = _row_fractions(weight, len(votes)), np.zeros((len(votes), n_classes))
    wrong = np.ones(len(votes), np.bool_)

    def of_each(free: Integers) -> Floats:
        return np.asarray((row_fractions * wrong) @ hits[:, free])

    def take(member: int) -> None:
        counts[np.arange(len(votes)), votes[:, member]] += 1.0
        wrong[:] = counts.argmax(axis=1) != truth

    return _one_by_one(votes.shape[1], of_each, take)


def margin_distance(signature: Floats, weight: Floats | None = None, aim: float = AIM) -> Integers:
    """Each time the member that brings those chosen closest to a small margin in every row: the same paper.

    A signature (n, m) is 1 where a member is right and -1 where it is wrong. What is brought close is the sum of the signatures chosen over
    the number of all members.
    """
    m = signature.shape[1]
    row_fractions = _row_fractions(weight, len(signature))
    products = (signature * row_fractions[:, None]).T @ signature  # (m, m)
    toward = m * aim * (row_fractions @ signature)
    so_far = np.zeros(m)

    def of_each(free: Integers) -> Floats:
        # |aim - (sum + c) / m|^2, times m^2 and without what is the same for all c.
        return np.asarray(2.0 * toward[free] - 2.0 * so_far[free] - products[free, free])

    def take(member: int) -> None:
        so_far[:] += products[member]

    return _one_by_one(m, of_each, take)


def orientation_angles(signature: Floats, weight: Floats | None = None) -> Floats:
    """The angle (m,) of each member's signature to the direction that corrects the whole pool: Martínez-Muñoz & Suárez 2006, "Pruning in
    ordered bagging ensembles".

    That direction is the diagonal, where all rows are right, without its part along the signature of the pool. Where nothing remains of it,
    the diagonal itself.
    """
    row_fractions = _row_fractions(weight, len(signature))
    pool = signature.mean(axis=1)
    length = row_fractions @ pool**2
    reference = 1.0 - (row_fractions @ pool / length) * pool if length > 0.0 else np.ones(len(pool))
    if row_fractions @ reference**2 < 1e-12:
        reference = np.ones(len(pool))
    along = (row_fractions * reference) @ signature
    lengths = np.sqrt((row_fractions @ reference**2) * (row_fractions @ signature**2))
    return np.asarray(np.arccos(np.clip(along / np.where(lengths > 0.0, lengths, 1.0), -1.0, 1.0)))


def orientation(signature: Floats, weight: Floats | None = None) -> Integers:
    """Members by that angle, the smallest first; the paper keeps those below a right angle."""
    return np.argsort(np.round(orientation_angles(signature, weight), 12), kind="stable").astype(np.int64)


def boosting_order(hits: Mask, weight: Floats | None = None) -> Integers:
    """Each time the member with the smallest error by weights that AdaBoost gives: Martínez-Muñoz & Suárez 2007, "Using boosting to prune
    bagging ensembles".

    Weights begin anew where the smallest error is a half or more, and after a member without errors.
    """
    even = _row_fractions(weight, len(hits))
    now = even.copy()

    def of_each(free: Integers) -> Floats:
        scores = now @ hits[:, free]
        if scores.max() <= 0.5:
            now[:] = even
            scores = now @ hits[:, free]
        return np.asarray(scores)

    def take(member: int) -> None:
        error = float(now @ ~hits[:, member])
        if 1e-12 < error < 0.5:
            now[:] *= np.where(hits[:, member], 0.5 / (1.0 - error), 0.5 / error)
        else:
            now[:] = even

    return _one_by_one(hits.shape[1], of_each, take)


def margin_diversity(votes: Integers, truth: Integers, n_classes: int, weight: Floats | None = None, part: float = MARGIN_PART) -> Integers:
    """Members that are right where the vote of the pool is close, and where few are right: Guo, Liu, Li, Wu, Guo & Xu 2018, "Margin &
    diversity based ordering ensemble pruning".

    A row that a member gets right counts for it by `part` of -log |margin| and the rest of -log of the share that is right. Rows with a
    margin of zero count as if it were half a vote.
    """
    n, m = votes.shape
    counts = (votes[:, :, None] == np.arange(n_classes)).sum(axis=1)
    own = counts[np.arange(n), truth]
    counts[np.arange(n), truth] = -1
    margin = np.abs(own - counts.max(axis=1)) if n_classes > 1 else own
    worth = -part * np.log(np.maximum(margin, 0.5) / m) - (1.0 - part) * np.log(np.maximum(own, 1) / m)
    scores = (_row_fractions(weight, n) * worth) @ (votes == truth[:, None])
    return np.argsort(-np.round(scores, 12), kind="stable").astype(np.int64)


def signature_of(hits: Mask) -> Floats:
    """1 where members are right, -1 where they are wrong (n, m)."""
    return np.where(hits, 1.0, -1.0)


# -------------------------------------------------------------------------------------------------------------- numbers


def signature_of_errors(errors: Floats, weight: Floats | None = None) -> Floats:
    """How right members are that predict numbers, between 1 and -1 (n, m): (s - |e|) / (s + |e|), where s is the median of all |e|.

    It is 1 without an error, 0 for an error of the usual size, and nears -1 for large ones, so that orders made for hits and misses can be
    used. There is no paper on it.
    """
    sizes = np.abs(errors)
    order = np.argsort(sizes, axis=None, kind="stable")
    heavy = np.cumsum(np.repeat(_row_fractions(weight, len(errors)), errors.shape[1])[order])
    middle = sizes.reshape(-1)[order][np.searchsorted(heavy, 0.5 * heavy[-1])]
    whole = middle + sizes
    return np.where(whole > 0.0, (middle - sizes) / np.where(whole > 0.0, whole, 1.0), 1.0)


def complementarity_of_errors(errors: Floats, weight: Floats | None = None) -> Integers:
    """Each time the member with the smallest absolute error where rows count by how far the mean of those chosen is off.

    What complementarity is for votes, where a row counts if those chosen are wrong. The first has the smallest absolute error.
    """
    sizes, row_fractions = np.abs(errors), _row_fractions(weight, len(errors))
    off, total = np.ones(len(errors)), np.zeros(len(errors))

    def of_each(free: Integers) -> Floats:
        return np.asarray(-(row_fractions * off) @ sizes[:, free])

    def take(member: int) -> None:
        total[:] += errors[:, member]
        off[:] = np.abs(total)

    return _one_by_one(errors.shape[1], of_each, take)


def boosting_order_of_errors(errors: Floats, weight: Floats | None = None) -> Integers:
    """Each time the member with the smallest error by weights that AdaBoost.R2 gives (Drucker 1997, linear loss): Hernández-Lobato,
    Martínez-Muñoz & Suárez 2011, "Empirical analysis and evaluation of approximate techniques for pruning regression bagging ensembles".

    Weights begin anew where the smallest mean loss is a half or more, and after a member without errors.
    """
    even = _row_fractions(weight, len(errors))
    sizes, now = np.abs(errors), even.copy()

    def of_each(free: Integers) -> Floats:
        return np.asarray(-now @ sizes[:, free])

    def take(member: int) -> None:
        largest = sizes[:, member].max()
        loss = sizes[:, member] / largest if largest > 0.0 else sizes[:, member]
        mean = float(now @ loss)
        if 0.0 < mean < 0.5:
            now[:] *= (mean / (1.0 - mean)) ** (1.0 - loss)
            now[:] /= now.sum()
        else:
            now[:] = even

    return _one_by_one(errors.shape[1], of_each, take)


# ------------------------------------------------------------------------------------------------------------- the loop


def _row_fractions(weight: Floats | None, n_rows: int) -> Floats:
    """Weights of rows that add up to one."""
    return np.full(n_rows, 1.0 / n_rows) if weight is None else weight / weight.sum()


def _one_by_one(m: int, of_each: Callable[[Integers], Floats], take: Callable[[int], None]) -> Integers:
    """Take the best of those that are left until none is; of equals the first."""
    free, order = np.arange(m), []
    while free.size:
        member = int(free[leaders(of_each(free))[0]])
        order.append(member)
        take(member)
        free = free[free != member]
    return np.array(order, np.int64)


# Orders by name, but for 'reduced_error': functions of (votes, truth, n_classes, weight), or of (errors, weight).
ORDERS: dict[str, Callable[[Integers, Integers, int, Floats | None], Integers]] = {
    "kappa": lambda votes, _truth, n_classes, weight: kappa_order(votes, n_classes, weight),
    "complementarity": complementarity,
    "margin_distance": lambda votes, truth, _, weight: margin_distance(signature_of(votes == truth[:, None]), weight),
    "orientation": lambda votes, truth, _, weight: orientation(signature_of(votes == truth[:, None]), weight),
    "boosting": lambda votes, truth, _, weight: boosting_order(votes == truth[:, None], weight),
    "margin_diversity": margin_diversity,
}
REGRESSION_ORDERS: dict[str, Callable[[Floats, Floats | None], Integers]] = {
    "complementarity": complementarity_of_errors,
    "margin_distance": lambda errors, weight: margin_distance(signature_of_errors(errors, weight), weight),
    "orientation": lambda errors, weight: orientation(signature_of_errors(errors, weight), weight),
    "boosting": boosting_order_of_errors,
}
