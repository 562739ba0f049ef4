"""How much each member of a stack is believed: a logistic pool of probabilities, and sums of numbers that nobody counts against.

The logistic pool (Genest & Zidek 1986, "Combining probability distributions: a critique and an annotated bibliography", section 4) adds
up log-odds. Every member has one weight for all classes, every class an intercept, and what is passed through has a coefficient for
every class. Weights are drawn to a prior, others to zero, by the square of the distance. See docs/algorithms/stacking.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Floats = NDArray[np.float64]

# Newton's method ends when a step would change the loss by less than this share of it.
SMALLEST_GAIN = 1e-13
MOST_STEPS = 100
# The penalty of an intercept, of the size of one row: what a class has in advance is known from all rows, and need not be shrunk.
INTERCEPT_PENALTY = 1.0


class Evidence(NamedTuple):
    """What a pool is learnt from."""

    logs: Floats  # (n, m, K) log-ratios of what members say
    others: Floats  # (n, c) other columns, centred and scaled
    truth: NDArray[np.int64]  # (n,) class numbers
    weight: Floats  # (n,)

    def of(self, rows: NDArray[np.int64]) -> "Evidence":
        """The same of some rows."""
        return Evidence(self.logs[rows], self.others[rows], self.truth[rows], self.weight[rows])


@dataclass(frozen=True, eq=False)
class LogPool:
    """A logistic pool."""

    weights: Floats  # (m,)
    intercepts: Floats  # (K,)
    coefficients: Floats  # (c, K)

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


def fit_log_pool(seen: Evidence, prior: Floats, penalty: float) -> LogPool:
    """The pool with the least sum of log-losses plus penalty / 2 times the squared distance of its weights from the prior.

    Newton's method; each step is found by conjugate gradients, from products with the second derivatives alone.
    """
    n_members, n_classes, n_others = seen.logs.shape[1], seen.logs.shape[2], seen.others.shape[1]
    centre = LogPool(prior, np.zeros(n_classes), np.zeros((n_others, n_classes))).packed()
    price = np.full(len(centre), penalty)
    price[n_members : n_members + n_classes] = INTERCEPT_PENALTY
    indicator = np.asarray(seen.truth[:, None] == np.arange(n_classes), np.float64)

    def scores_of(numbers: Floats) -> Floats:
        return LogPool.unpacked(numbers, n_members, n_classes).scores(seen.logs, seen.others)

    def back(values: Floats) -> Floats:
        """The transpose of `scores_of`: from one number for each score (n, K) to one for each parameter."""
        by_member = np.einsum("nmk,nk->m", seen.logs, values)
        return np.concatenate([by_member, values.sum(axis=0), (seen.others.T @ values).ravel()])

    def objective(numbers: Floats) -> float:
        return log_loss(scores_of(numbers), seen.truth, seen.weight) + 0.5 * float(price @ (numbers - centre) ** 2)

    now, value = centre, objective(centre)
    for _ in range(MOST_STEPS):
        share = softmax(scores_of(now))
        slope = back(seen.weight[:, None] * (share - indicator)) + price * (now - centre)

        def curved(direction: Floats, share: Floats = share) -> Floats:
            moved = share * scores_of(direction)
            moved -= share * moved.sum(axis=1, keepdims=True)
            return back(seen.weight[:, None] * moved) + price * direction

        step = conjugate_gradients(curved, slope)
        if not np.isfinite(step).all() or float(step @ slope) <= SMALLEST_GAIN * max(abs(value), 1e-300):
            break
        now, value = _walked(objective, now, step, value)
    return LogPool.unpacked(now, n_members, n_classes)


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


class NumberEvidence(NamedTuple):
    """What a sum of numbers is learnt from."""

    numbers: Floats  # (n, m) what members say
    others: Floats  # (n, c) other columns, centred and scaled
    truth: Floats  # (n,)
    weight: Floats  # (n,)

    def of(self, rows: NDArray[np.int64]) -> "NumberEvidence":
        """The same of some rows."""
        return NumberEvidence(self.numbers[rows], self.others[rows], self.truth[rows], self.weight[rows])


class LinearPool(NamedTuple):
    """A weighted sum of numbers."""

    weights: Floats  # (m,)
    intercept: float
    coefficients: Floats  # (c,)

    def sums(self, numbers: Floats, others: Floats) -> Floats:
        """The sums (n,)."""
        return np.asarray(numbers @ self.weights + self.intercept + others @ self.coefficients)


def fit_nonnegative(seen: NumberEvidence, *, intercept: bool, penalty: float = 0.0, shrink: bool = False) -> LinearPool:
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


def fit_simplex(seen: NumberEvidence, penalty: float = 0.0) -> LinearPool:
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
