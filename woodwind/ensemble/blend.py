"""How much each member of a stack is believed: a logistic pool of probabilities, and sums of numbers; no member is counted against.

The logistic pool (Genest & Zidek 1986, "Combining probability distributions: a critique and an annotated bibliography", section 4) adds
up log-odds. Every member has one weight for all classes, of at least zero; every class has an intercept, and what is passed through a
coefficient for every class. See docs/algorithms/stacking.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from woodwind.base.validate import require_array

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Newton's method ends when a step would change the loss by less than this share of it.
SMALLEST_GAIN = 1e-13
MOST_STEPS = 100
# The price of an intercept, and of a sum of weights other than one: that of one row. How sure members are together, and how frequent
# classes are, is known from all rows; it is the differences between members that rows can say little about.
UNIT_PENALTY = 1.0


class ClassificationEvidence(NamedTuple):
    """What a pool is trained on."""

    logs: Floats  # (n, m, K) log-ratios of what members predict
    others: Floats  # (n, c) other columns, centred and scaled
    truth: NDArray[np.int64]  # (n,) class numbers
    weight: Floats  # (n,)

    def of(self, rows: NDArray[np.int64]) -> "ClassificationEvidence":
        """The same of some rows."""
        return ClassificationEvidence(self.logs[rows], self.others[rows], self.truth[rows], self.weight[rows])


@dataclass(frozen=True, eq=False)
class LogPool:
    """A logistic pool."""

    weights: Floats  # (m,)
    intercepts: Floats  # (K,)
    coefficients: Floats  # (c, K)

    def check(self) -> "LogPool":
        """Shapes agree, and all numbers are finite; returns self, or raises DataError."""
        require_array(self.weights, (None,), "the weights of a pool")
        require_array(self.intercepts, (None,), "the intercepts of a pool")
        require_array(self.coefficients, (None, self.intercepts.size), "the coefficients of a pool")
        return self

    def scores(self, logs: Floats, others: Floats) -> Floats:
        """The scores (n, K), whose softmax are the probabilities."""
        return np.asarray(np.einsum("nmk,m->nk", logs, self.weights) + self.intercepts + others @ self.coefficients)

    def packed(self) -> Floats:
        """All numbers in one row."""
        return np.concatenate([self.weights, self.intercepts, self.coefficients.ravel()])

    @classmethod
    def unpacked(cls, numbers: Floats, n_members: int, n_classes: int) -> "LogPool":
        """The same from such a row."""
        split = n_members + n_classes
        return cls(numbers[:n_members], numbers[n_members:split], numbers[split:].reshape(-1, n_classes))


def softmax(scores: Floats) -> Floats:
    """Probabilities (n, K) of scores."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def log_loss(scores: Floats, truth: NDArray[np.int64], weight: Floats) -> float:
    """The sum over rows of weight times minus the logarithm of the true class's probability."""
    top = scores.max(axis=1)
    total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return float(weight @ (total - scores[np.arange(len(truth)), truth]))


class PoolProblem:
    """What a logistic pool minimises, over its packed numbers: log-loss plus half of

    penalty * (|w - mean of w|^2 + |coefficients|^2) + (sum of w - 1)^2 + |intercepts|^2.
    """

    def __init__(self, seen: ClassificationEvidence, penalty: float) -> None:
        self.seen, self.penalty = seen, penalty
        self.n_members, self.n_classes = seen.logs.shape[1:]
        # A matrix (n K, m), so that sums over members are products of a matrix and a vector.
        self.matrix = np.ascontiguousarray(seen.logs.transpose(0, 2, 1)).reshape(len(seen.logs) * self.n_classes, self.n_members)
        self.indicator = np.asarray(seen.truth[:, None] == np.arange(self.n_classes), np.float64)
        equal = np.full(self.n_members, 1.0 / max(self.n_members, 1))
        self.centre = np.concatenate([equal, np.zeros(self.n_classes * (1 + seen.others.shape[1]))])

    def scores(self, numbers: Floats) -> Floats:
        """The scores (n, K)."""
        pool = LogPool.unpacked(numbers, self.n_members, self.n_classes)
        by_member = (self.matrix @ pool.weights).reshape(-1, self.n_classes)
        return np.asarray(by_member + pool.intercepts + self.seen.others @ pool.coefficients)

    def unscaled(self, values: Floats) -> Floats:
        """The transpose of `scores`: from a number for each score (n, K) to one for each parameter."""
        values = self.seen.weight[:, None] * values
        return np.concatenate([self.matrix.T @ values.ravel(), values.sum(axis=0), (self.seen.others.T @ values).ravel()])

    def priced(self, scaled: Floats) -> Floats:
        """The derivative of the penalties, at such a distance from equal weights."""
        out = self.penalty * scaled
        weights, split = scaled[: self.n_members], self.n_members + self.n_classes
        if self.n_members:
            out[: self.n_members] = self.penalty * (weights - weights.mean()) + UNIT_PENALTY * weights.sum()
        out[self.n_members : split] = UNIT_PENALTY * scaled[self.n_members : split]
        return out

    def value(self, numbers: Floats) -> float:
        """What is minimised."""
        scaled = numbers - self.centre
        return log_loss(self.scores(numbers), self.seen.truth, self.seen.weight) + 0.5 * float(scaled @ self.priced(scaled))

    def slope(self, numbers: Floats, share: Floats) -> Floats:
        """Its first derivatives, where the probabilities are `share`."""
        return self.unscaled(share - self.indicator) + self.priced(numbers - self.centre)

    def curved(self, direction: Floats, share: Floats) -> Floats:
        """The product of its second derivatives with a direction."""
        moved = share * self.scores(direction)
        moved -= share * moved.sum(axis=1, keepdims=True)
        return self.unscaled(moved) + self.priced(direction)

    def least(self, start: Floats, free: Mask) -> Floats:
        """The minimum over the numbers that are free, by Newton's method; each step is found by conjugate gradients."""
        now, value = start, self.value(start)
        for _ in range(MOST_STEPS):
            share = softmax(self.scores(now))
            slope = self.slope(now, share) * free
            step = conjugate_gradients(lambda direction, share=share: self.curved(direction, share) * free, slope)  # type: ignore[misc]
            if not float(step @ slope) > SMALLEST_GAIN * max(abs(value), 1e-300):
                break
            now, value = _walked(self.value, now, step, value)
        return now


def fit_log_pool(seen: ClassificationEvidence, penalty: float, start: LogPool | None = None) -> LogPool:
    """The pool of weights that are not negative. `start` is where to begin: the pool of nearly the same problem.

    Weights at zero are set free, and others stopped there, one at a time, as in the least squares of Lawson & Hanson (1974).
    """
    problem = PoolProblem(seen, penalty)
    n_members = problem.n_members
    now = problem.centre if start is None else start.packed()
    free = np.ones(len(now), np.bool_)
    free[:n_members] = now[:n_members] > 0.0
    for _ in range(10 * (n_members + 1)):
        there = problem.least(now, free)
        below = np.flatnonzero(there[:n_members] < 0.0)
        if below.size:
            # As far as the first weight that reaches zero, which stays there.
            room = now[below] / (now[below] - there[below])
            first = below[np.argmin(room)]
            now = now + room.min() * (there - now)
            now[first], free[first] = 0.0, False
            continue
        now = there
        wanted = -problem.slope(now, softmax(problem.scores(now)))[:n_members] * ~free[:n_members]
        if not n_members or wanted.max() <= 1e-9 * max(float(seen.weight.sum()), 1.0):
            break
        free[np.argmax(wanted)] = True
    return LogPool.unpacked(now, n_members, problem.n_classes)


def _walked(objective: Callable[[Floats], float], now: Floats, step: Floats, value: float) -> tuple[Floats, float]:
    """A step of Newton's method, halved until the objective falls."""
    size = 1.0
    while size > 1e-8:
        there = now - size * step
        found = objective(there)
        if found < value:
            return there, found
        size /= 2.0
    return now, value


def conjugate_gradients(product: Callable[[Floats], Floats], right: Floats) -> Floats:
    """Solve A x = right for a positive definite A that is known by its products (Hestenes & Stiefel 1952)."""
    x, rest = np.zeros_like(right), right.copy()
    direction, size = rest.copy(), float(rest @ rest)
    goal = 1e-24 * size
    for _ in range(2 * len(right)):
        if size <= goal:
            break
        image = product(direction)
        far = size / float(direction @ image)
        x += far * direction
        rest -= far * image
        before, size = size, float(rest @ rest)
        direction = rest + (size / before) * direction
    return x


class RegressionEvidence(NamedTuple):
    """What a sum of numbers is trained on."""

    numbers: Floats  # (n, m) what members predict
    others: Floats  # (n, c) other columns, centred and scaled
    truth: Floats  # (n,)
    weight: Floats  # (n,)

    def of(self, rows: NDArray[np.int64]) -> "RegressionEvidence":
        """The same of some rows."""
        return RegressionEvidence(self.numbers[rows], self.others[rows], self.truth[rows], self.weight[rows])


class LinearPool(NamedTuple):
    """A weighted sum of numbers."""

    weights: Floats  # (m,)
    intercept: float
    coefficients: Floats  # (c,)

    def check(self) -> "LinearPool":
        """All numbers are finite; returns self, or raises DataError."""
        require_array(self.weights, (None,), "the weights of a pool")
        require_array(np.array(self.intercept, np.float64), (), "the intercept of a pool")
        require_array(self.coefficients, (None,), "the coefficients of a pool")
        return self

    def sums(self, numbers: Floats, others: Floats) -> Floats:
        """The sums (n,)."""
        return np.asarray(numbers @ self.weights + self.intercept + others @ self.coefficients)


def fit_nonnegative(seen: RegressionEvidence, *, intercept: bool, penalty: float = 0.0, shrink: bool = False) -> LinearPool:
    """Weights of at least zero with the least sum of squares (Lawson & Hanson 1974; for stacks Breiman 1996, section 3).

    With `shrink`, penalty times the mean square of a column is the price of the squared distance from equal weights that add up to one.
    It is always the price of other columns' squared coefficients, which may have any sign.
    """
    n_members = seen.numbers.shape[1]
    total = max(float(seen.weight.sum()), 1e-300)
    centre = seen.weight @ seen.numbers / total if intercept else np.zeros(n_members)
    middle = float(seen.weight @ seen.truth) / total if intercept else 0.0
    root = np.sqrt(seen.weight)[:, None]
    members, right = root * (seen.numbers - centre), root[:, 0] * (seen.truth - middle)
    unit = float(np.sqrt(penalty * (members**2).sum() / (total * max(n_members, 1)))) if shrink else 0.0
    prior = np.full(n_members, 1.0 / max(n_members, 1))
    left = np.vstack([members, unit * np.eye(n_members)])
    weights, coefficients = _mixed_signs(left, root * seen.others, np.append(right, unit * prior), penalty)
    return LinearPool(weights, middle - float(centre @ weights), coefficients)


def fit_simplex(seen: RegressionEvidence, penalty: float = 0.0) -> LinearPool:
    """Weights of at least zero that add up to one, with the least sum of squares.

    A row that asks for a sum of one, at a price far above all others, makes it non-negative least squares; the sum is then made exact.
    """
    root = np.sqrt(seen.weight)[:, None]
    # Where weights add up to one, the error of the sum is the same sum of the members' errors.
    left = root * (seen.numbers - seen.truth[:, None])
    price = 1e5 * max(float(np.sqrt((left**2).sum())), 1e-300)
    left = np.vstack([left, np.full(left.shape[1], price)])
    weights, coefficients = _mixed_signs(left, root * seen.others, np.append(np.zeros(len(root)), price), penalty)
    return LinearPool(weights / weights.sum(), 0.0, coefficients)


def _mixed_signs(members: Floats, others: Floats, right: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Least squares in which coefficients of members are not negative, and those of others are: the difference of two that are not.

    There may be more rows of members than of others: these are about members alone.
    """
    size, n_others = members.shape[1], others.shape[1]
    more = np.vstack([others, np.zeros((len(members) - len(others), n_others))])
    left = np.hstack([members, more])
    if penalty > 0.0 and n_others:
        left = np.vstack([left, np.hstack([np.zeros((n_others, size)), np.sqrt(penalty) * np.eye(n_others)])])
        right = np.append(right, np.zeros(n_others))
    if len(left) > size + n_others + 1:
        # Turned by a rotation, which changes no sum of squares, there are as many rows as columns.
        triangle: Floats = np.asarray(np.linalg.qr(np.column_stack([left, right]), mode="r"))
        left, right = triangle[:, :-1], triangle[:, -1]
    found = nnls(np.hstack([left, -left[:, size:]]), right)[0]
    return found[:size], found[size : size + n_others] - found[size + n_others :]
