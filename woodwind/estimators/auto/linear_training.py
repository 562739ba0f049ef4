"""Training of linear members with scikit-learn: logistic and ridge regression, whose penalty is chosen on rows that are held out inside.

A member that runs out of time is given back as it is.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge

from woodwind.auto.members.blas_threads import one_blas_thread
from woodwind.auto.members.linear_member import REACH, LinearMember
from woodwind.auto.training.inner_validation import held_out, inner_loss, some_rows
from woodwind.base.random_streams import key

Floats = NDArray[np.float64]
Deadline = Callable[[], float]

# Rows that a search for a penalty learns, rows that score it, and rows that the model learns, at most.
MOST_SEARCHED, MOST_VALIDATION_ROWS, MOST_ROWS = 20_000, 10_000, 1_000_000
# Penalties, as shares of the total weight: from almost all to almost none.
PENALTIES = tuple(10.0**power for power in (0, -1, -2, -3, -4, -5, -6))
USUAL = 1e-3
# Iterations between two looks at the clock, and how many times; columns up to which Newton's method is quicker for two classes.
STRIDE, MOST_STRIDES, NEWTON_COLUMNS = 25, 8, 200
# Operations in a second that are counted on, of a matrix with a vector and with another matrix; the fewest iterations that are begun, those
# that Newton's method takes, and seconds that there always are.
BY_VECTOR, BY_MATRIX, FEWEST, OF_NEWTON, BRIEF = 2e9, 1e10, 2, 10, 0.25
# Ends of log-odds, and how far beyond the range of the target a sum may go, in ranges.
SURE, BEYOND = 30.0, 0.25

# Filters of warnings belong to the whole process: folds that are trained side by side would take them from each other.
_QUIET = Lock()


def train_linear(matrix: Floats, y: NDArray, weight: Floats | None, n_classes: int, seed: int, deadline: Deadline) -> LinearMember:
    """Logistic regression for classes, ridge regression for numbers; the penalty is chosen on held-out rows, then all rows are learned."""
    with one_blas_thread():
        return _linear(matrix, y, weight, n_classes, seed, deadline)


def _linear(matrix: Floats, y: NDArray, weight: Floats | None, n_classes: int, seed: int, deadline: Deadline) -> LinearMember:
    """Search, then learn."""
    matrix, y, weight = some_rows(matrix, y, weight, MOST_ROWS, key(seed, "linear", "rows"))
    matrix = np.clip(matrix, -REACH, REACH)
    outputs = 1 if n_classes == 2 else n_classes
    fit = partial(_ridge, deadline=deadline) if n_classes == 0 else partial(_logistic, n_outputs=outputs, deadline=deadline)
    train_rows, held = held_out(y, n_classes > 0, key(seed, "linear"), MOST_SEARCHED, MOST_VALIDATION_ROWS)
    began, best, chosen = perf_counter(), np.inf, USUAL
    counts = (None, None) if weight is None else (weight[train_rows], weight[held])
    if len(held) and len(train_rows) and deadline() > 0.0:
        for tried, (penalty, member) in enumerate(fit(matrix[train_rows], y[train_rows], counts[0], PENALTIES)):
            loss = inner_loss(member.scores_of(matrix[held]), y[held], counts[1], n_classes > 0)
            if loss < best:
                best, chosen = loss, penalty
            # A smaller penalty than the best gets no better again; and all rows take so many times as long as those of the search.
            each = (perf_counter() - began) / (tried + 1)
            if loss > best * 1.01 or deadline() < each * (2.0 * len(y) / len(train_rows) + 1.0):
                break
    return next(fit(matrix, y, weight, (chosen,)))[1].check()


def _logistic(
    matrix: Floats, y: NDArray, weight: Floats | None, penalties: tuple[float, ...], n_outputs: int, deadline: Deadline
) -> Iterator[tuple[float, LinearMember]]:
    """Members of one penalty after another, each trained on from the one before."""
    seen = np.unique(y)
    total = float(len(y) if weight is None else weight.sum())
    if len(seen) < 2:
        yield penalties[0], _constant_classes(matrix.shape[1], y, n_outputs)
        return
    newton = len(seen) == 2 and matrix.shape[1] <= NEWTON_COLUMNS and _is_time(OF_NEWTON * matrix.size * matrix.shape[1], deadline)
    each = 4.0 * matrix.size * (1 if len(seen) == 2 else len(seen))  # forth and back, for each output
    model = LogisticRegression(solver="newton-cholesky" if newton else "lbfgs", warm_start=True, tol=1e-5)
    for penalty in penalties:
        model.set_params(C=1.0 / (penalty * total))
        for _ in range(MOST_STRIDES):
            began = perf_counter()
            stride = STRIDE if newton else _stride(each, deadline)
            model.set_params(max_iter=stride)
            with _QUIET, warnings.catch_warnings():
                # Whether it has converged is looked at below; a matrix that Newton's method finds singular is left to the other method.
                warnings.simplefilter("ignore")
                model.fit(matrix, y, sample_weight=weight)
            if model.n_iter_.max() < stride or deadline() < perf_counter() - began:
                break
        yield penalty, _of_model(model, seen, n_outputs)


def _is_time(work: float, deadline: Deadline) -> bool:
    """Whether there is time for products of matrices of so many operations."""
    return work < BY_MATRIX * max(deadline(), BRIEF)


def _stride(work: float, deadline: Deadline) -> int:
    """How many iterations of so many operations each are begun: the usual number, or as many as there is time for."""
    return int(np.clip(BY_VECTOR * max(deadline(), BRIEF) / work, FEWEST, STRIDE))


def _of_model(model: LogisticRegression, seen: NDArray, n_outputs: int) -> LinearMember:
    """The arrays of a fitted model; classes that it never saw are as unlikely as scores can say."""
    coef, start = model.coef_.T.astype(np.float64), model.intercept_.astype(np.float64)
    if n_outputs == 1:
        return LinearMember(np.ascontiguousarray(coef), start, -SURE, SURE)
    if len(seen) == 2:
        coef, start = np.hstack([-0.5 * coef, 0.5 * coef]), np.append(-0.5 * start, 0.5 * start)
    whole, begin = np.zeros((len(coef), n_outputs)), np.full(n_outputs, -SURE)
    whole[:, seen], begin[seen] = coef, start
    return LinearMember(whole, begin, -SURE, SURE)


def _constant_classes(n_columns: int, y: NDArray, n_outputs: int) -> LinearMember:
    """All rows are of one class: that one, with the certainty of so many rows."""
    sure = float(np.log(len(y) + 1.0))
    start = np.array([sure if y[0] == 1 else -sure]) if n_outputs == 1 else np.where(np.arange(n_outputs) == y[0], sure, 0.0)
    return LinearMember(np.zeros((n_columns, n_outputs)), start, -SURE, SURE)


def _ridge(
    matrix: Floats, y: NDArray, weight: Floats | None, penalties: tuple[float, ...], deadline: Deadline
) -> Iterator[tuple[float, LinearMember]]:
    """Members of one penalty after another."""
    total = float(len(y) if weight is None else weight.sum())
    reach = BEYOND * float(y.max() - y.min())
    # Columns or rows, whichever are fewer, make the matrix that is inverted; where both are many, it is approached by steps.
    solver = "cholesky" if min(matrix.shape) <= 2000 and _is_time(float(matrix.size) * min(matrix.shape), deadline) else "lsqr"
    for penalty in penalties:
        most = MOST_STRIDES * _stride(4.0 * matrix.size, deadline)
        model = Ridge(alpha=penalty * total, solver=solver, max_iter=most).fit(matrix, y, sample_weight=weight)
        coef = np.asarray(model.coef_, np.float64).reshape(-1, 1)
        yield penalty, LinearMember(coef, np.atleast_1d(np.float64(model.intercept_)), float(y.min()) - reach, float(y.max()) + reach)
