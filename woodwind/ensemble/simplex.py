"""The smallest value of a convex function of weights that are not negative and sum to one.

Newton steps on a working set: members that have weight, and some that would gain most by it. Each step solves a quadratic problem on the
simplex exactly, by an active set, and is shortened until the function falls. It ends by the gap of Frank & Wolfe (1956): with the gradient
g at w, no weights are better by more than g·w - min g. So whoever takes the result knows how far it is from the best at most.
The scheme follows Kim, Carbonetto, Stephens & Anitescu (2020), "A fast algorithm for maximum likelihood estimation of mixture proportions
using sequential quadratic programming". Slow twins are in tests/reference/naive_weighing.py.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Members without weight that join the working set at a time: more cost more in each step, fewer take more rounds.
NEWCOMERS = 20
# Rounds with all members, and Newton steps in each; some ten of either are usual.
MOST_ROUNDS, MOST_STEPS = 300, 20
# A step must bring this share of what its slope promises; a step this small brings nothing.
LEAST_DROP, LEAST_STEP = 1e-4, 1e-12
# What is added to the diagonal of a quadratic problem, of its mean: members that are copies share a weight.
RIDGE = 1e-13
# Members that share the weight in the beginning.
STARTERS = 10


class ConvexFunction(Protocol):
    """A convex function of what members predict together, which is linear in their weights: combined = matrix · weights."""

    @property
    def n_members(self) -> int:
        """Members."""

    def combined(self, weights: Floats, some: Integers | None = None) -> Floats:
        """What members, or some of them, say together with such weights."""

    def value(self, combined: Floats) -> float:
        """The function."""

    def gradients(self, combined: Floats, some: Integers | None = None) -> Floats:
        """Its gradient by the weights of all members, or of some."""

    def hessian(self, combined: Floats, some: Integers) -> Floats:
        """Its second derivatives by the weights of some members, (s, s)."""


class Optimum(NamedTuple):
    """Weights, the value that they reach, and by how much it is above the smallest value at most."""

    weights: Floats
    value: float
    gap: float


def smallest_on_simplex(goal: ConvexFunction, tolerance: float = 1e-10, start: Floats | None = None) -> Optimum:
    """The weights for which the function is smallest, to a share `tolerance` of what it is in the beginning."""
    weights = _start(goal) if start is None else start
    combined = goal.combined(weights)
    value = goal.value(combined)
    enough = tolerance * max(abs(value), np.finfo(np.float64).tiny)
    best = Optimum(weights, value, np.inf)
    for _ in range(MOST_ROUNDS):
        gradients = goal.gradients(combined)
        gap = float(gradients @ weights - gradients.min())
        best = Optimum(weights, value, max(gap, 0.0))
        if gap <= enough:
            break
        new = np.argsort(gradients, kind="stable")[:NEWCOMERS]
        some = np.union1d(np.flatnonzero(weights), new[gradients[new] < gradients @ weights])
        before = value
        weights, combined, value = _newton_steps(goal, weights, combined, some, max(enough, gap / 100.0))
        if not value < before:  # rounding is all that is left
            break
    return best


def _start(goal: ConvexFunction) -> Floats:
    """The same weight for each of the members that would gain most if all began with the same."""
    gradients = goal.gradients(goal.combined(np.full(goal.n_members, 1.0 / goal.n_members)))
    weights = np.zeros(goal.n_members)
    weights[np.argsort(gradients, kind="stable")[:STARTERS]] = 1.0 / min(STARTERS, goal.n_members)
    return weights


def _newton_steps(goal: ConvexFunction, weights: Floats, combined: Floats, some: Integers, enough: float) -> tuple[Floats, Floats, float]:
    """Go down among some members, until no more than `enough` can be gained there."""
    value = goal.value(combined)
    for _ in range(MOST_STEPS):
        own, gradients = weights[some], goal.gradients(combined, some)
        if gradients @ own - gradients.min() <= enough / 2.0:
            break
        hessian = goal.hessian(combined, some)
        way = quadratic_on_simplex(hessian, gradients - hessian @ own, own) - own
        promise = float(gradients @ way)
        if promise >= 0.0:
            break
        change, step = goal.combined(way, some), 1.0
        while (there := goal.value(combined + step * change)) > value + LEAST_DROP * step * promise and step > LEAST_STEP:
            step /= 2.0
        if not there < value:
            break
        weights = weights.copy()
        weights[some] = np.maximum(own + step * way, 0.0)
        weights /= weights.sum()
        # Sums of many steps would drift away from the weights.
        combined = goal.combined(weights[some], some)
        value = goal.value(combined)
    return weights, combined, value


def quadratic_on_simplex(hessian: Floats, gradients: Floats, start: Floats | None = None) -> Floats:
    """The x on the simplex with the smallest x·H x / 2 + c·x, for a matrix H that second derivatives nowhere downwards: by an active set.

    Beginning with a start on the simplex, or else the best corner, the coordinate with the steepest slope joins; the problem is solved for
    those that have joined as if they could be negative, and who would be leaves.
    """
    count = len(gradients)
    H = hessian + np.eye(count) * (RIDGE * max(np.trace(hessian) / count, np.finfo(np.float64).tiny))
    if start is None or not np.trace(hessian) > 0.0:  # what second derivatives nowhere is smallest in a corner
        free = [int(np.argmin(np.diag(H) / 2.0 + gradients))]
        x = np.zeros(count)
        x[free] = 1.0
    else:
        x, free = _solved(H, gradients, start / start.sum(), np.flatnonzero(start).tolist())
    for _ in range(20 * count + 50):
        gradient = H @ x + gradients
        newcomer = int(np.argmin(gradient))
        if newcomer in free or gradient[newcomer] >= gradient @ x - 1e-14 * np.abs(gradient).max():
            break
        free.append(newcomer)
        before = x.copy()
        x, free = _solved(H, gradients, x, free)
        if np.array_equal(before, x):
            break
    return x


def _solved(H: Floats, c: Floats, x: Floats, free: list[int]) -> tuple[Floats, list[int]]:
    """The best x with nothing but the free coordinates, of which those leave that would be negative."""
    while True:
        goal = _with_sum_one(H[np.ix_(free, free)], c[free])
        own = x[free]
        if (goal > 0.0).all():
            x = np.zeros(len(x))
            x[free] = goal
            return x, free
        down = goal <= 0.0
        # Up to the first that comes to zero on the way; it leaves.
        steps = np.where(down, own / np.maximum(own - goal, np.finfo(np.float64).tiny), np.inf)
        step = min(1.0, float(steps.min()))
        own = np.maximum(own + step * (goal - own), 0.0)
        own[int(np.argmin(steps))] = 0.0
        x = np.zeros(len(x))
        x[free] = own / own.sum()
        free = [position for position, weight in zip(free, own.tolist(), strict=True) if weight > 0.0]


def _with_sum_one(H: Floats, c: Floats) -> Floats:
    """The x with the smallest x·H x / 2 + c·x among those that sum to one."""
    count = len(c)
    scale = max(float(np.abs(H).max()), np.finfo(np.float64).tiny)
    system: Any = np.zeros((count + 1, count + 1))
    system[:count, :count] = H / scale
    system[:count, count] = system[count, :count] = 1.0
    right = np.append(-c / scale, 1.0)
    try:
        return np.asarray(np.linalg.solve(system, right)[:count])
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(system, right, rcond=None)[0][:count])
