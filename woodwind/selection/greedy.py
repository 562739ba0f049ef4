"""Greedy forward selection: again and again the member is added that makes the mean of all chosen so far best.

R. Caruana, A. Niculescu-Mizil, G. Crew & A. Ksikes, "Ensemble selection from libraries of models", ICML 2004: with replacement (section
2.1), from the best members as a start (2.2), bagged (2.3). See docs/algorithms/ensemble-selection.md.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import choose, key
from woodwind.selection.member_selection import MemberSelection, first_best, leaders, prefix_scores, score_of, single_scores
from woodwind.selection.objectives import Objective

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# (scores of candidates, whether each is chosen already) -> the place of the one to take.
Pick = Callable[[Floats, NDArray[np.bool_]], int]


def prefer_chosen(scores: Floats, chosen: NDArray[np.bool_]) -> int:
    """The best; of equals one that is chosen already, which keeps the ensemble small, and of these the first."""
    best = leaders(scores)
    again = best[chosen[best]]
    return int(again[0] if again.size else best[0])


def greedy(
    objective: Objective,
    steps: int = 50,
    *,
    replace: bool = True,
    start: int | Literal["auto"] = 0,
    among: Integers | None = None,
    most: int | None = None,
    pick: Pick = prefer_chosen,
    whole: bool = False,
) -> MemberSelection:
    """Add one member in each of so many steps, and keep the steps up to the best score, or all of them if `whole`.

    replace: a member may come again, and so gets a weight. start: so many of the best members are taken before the first step, in the
    order of their own scores; 'auto' tries none, and as many as score best together, and keeps the better result. among: the members to
    choose from. most: never more different members than that. pick: which of the best scores wins.
    """
    m, width = objective.vectors.shape
    among = np.arange(m) if among is None else np.asarray(among, np.int64)
    _check(steps, start, most, among, m)
    best = _by_own_score(objective, among)[:most] if start else np.zeros(0, np.int64)
    if start == "auto":
        sizes = (0, first_best(prefix_scores(objective, best)) + 1)
        tries = [greedy(objective, steps, replace=replace, start=n, among=among, most=most, pick=pick, whole=whole) for n in sizes]
        return tries[int(leaders(np.array([one.score for one in tries]))[0])]
    order = best[:start].tolist()
    limit = len(order) + steps if replace else min(len(order) + steps, len(among))
    path = prefix_scores(objective, np.array(order, np.int64)).tolist()
    counts, total = np.bincount(order, minlength=m).astype(np.float64), np.zeros(width)
    for member in order:
        total += objective.vectors[member]
    while len(order) < limit:
        chosen = counts[among] > 0.0
        free = np.ones(len(among), np.bool_) if replace else ~chosen
        if most is not None and chosen.sum() >= most:
            free &= chosen
        candidates = among[free]
        if candidates.size == 0:
            break
        scores = objective.score_each(counts, total, candidates, best_only=True)
        position = pick(scores, chosen[free])
        member = int(candidates[position])
        order.append(member)
        path.append(float(scores[position]))
        counts[member] += 1.0
        total += objective.vectors[member]
    return _kept(np.array(order, np.int64), np.array(path), m, whole)


def bagged(objective: Objective, seed: int, bags: int = 20, share: float = 0.5, steps: int = 50, **options: object) -> MemberSelection:
    """The mean of greedy selections from random parts of the pool: a member that is good by luck is missing from some of them.

    share: of the pool that each selection may choose from, drawn by key. The path has the score of the first selection, of the first two
    together, and so on; the order is that of all of them. Unlike one selection from the whole pool, the mean of some may be worse
    than the best member.
    """
    m = len(objective.vectors)
    if bags < 1 or not 0.0 < share <= 1.0:
        raise ParameterError(f"Bagged selection needs at least one bag and a share above 0 and at most 1, not bags={bags}, share={share}.")
    drawn = max(1, math.ceil(share * m))
    weights, orders, path = np.zeros(m), [], []
    for bag in range(bags):
        found = greedy(objective, steps, among=choose(key(seed, "bag", bag), m, drawn), **options)  # type: ignore[arg-type]
        weights += found.weights
        orders.append(found.order)
        path.append(score_of(objective, weights))
    return MemberSelection(weights / bags, np.concatenate(orders), np.array(path), path[-1])


def _by_own_score(objective: Objective, among: Integers) -> Integers:
    """Members, the best alone first; of equals the first."""
    return np.asarray(among[np.argsort(-single_scores(objective)[among], kind="stable")])


def _kept(order: Integers, path: Floats, m: int, whole: bool) -> MemberSelection:
    size = len(order) if whole else first_best(path) + 1
    return MemberSelection(np.bincount(order[:size], minlength=m).astype(np.float64), order[:size], path, float(path[size - 1]))


def _check(steps: int, start: int | str, most: int | None, among: Integers, m: int) -> None:
    if steps < 1 or (most is not None and most < 1):
        raise ParameterError(f"A selection needs at least one step and one member, not steps={steps}, most={most}.")
    if start != "auto" and (isinstance(start, str) or start < 0):
        raise ParameterError(f"start must be 'auto' or a count of members from 0 on, not {start!r}.")
    if among.size == 0 or among.min() < 0 or among.max() >= m or len(np.unique(among)) < len(among):
        raise ParameterError(f"among must be different numbers of members from 0 to {m - 1}, at least one of them.")
