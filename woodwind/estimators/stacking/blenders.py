"""Blenders: what a stack learns from what its members predict, made for members that predict almost the same. See
docs/algorithms/stacking.md."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from woodwind.base.errors import ParameterError, TableError
from woodwind.base.validate import require_array, require_finite
from woodwind.ensemble.blend import (
    ClassificationEvidence,
    LinearPool,
    LogPool,
    RegressionEvidence,
    fit_log_pool,
    fit_nonnegative,
    fit_simplex,
    log_loss,
    softmax,
)
from woodwind.ensemble.layers import log_ratios
from woodwind.estimators.base.model import COLUMNS, StorableMixin, all_or_nothing, check_lengths
from woodwind.estimators.base.target import read_labels, read_regression_target
from woodwind.estimators.base.weights import read_weight, weighed_classes
from woodwind.params.check import check
from woodwind.params.knobs import knobs
from woodwind.params.stacking import LogisticBlenderParams, NonNegativeBlenderParams
from woodwind.params.unknown import known_arguments

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Splits = list[tuple[Integers, Integers]]
Values = dict[str, Any]

# Penalties that are tried, in rows: a penalty of 100 counts against a shift of the weights as much as 100 rows can speak for it.
# The largest is as good as equal weights for any table that fits in memory.
PENALTIES = (1.0, 10.0, 100.0, 1e3, 1e4, 1e6)
# The same for sums of numbers, in units of the mean square of a column.
REGRESSION_PENALTIES = (0.1, 1.0, 10.0, 100.0, 1e3, 1e5)
FOLDS = 5
# Members that count votes say 0 and 1, whose logarithms are endless. Each is taken to know nothing with this probability, and then to say
# how frequent the classes are. Of shares from 0.003 to 0.04, tried on twelve tables, those from 0.01 to 0.02 had the least loss.
DOUBT = 0.01


@dataclass(frozen=True, eq=False)
class TargetScale:
    """Means and spreads of columns; a column that is constant is not scaled."""

    mean: Floats
    spread: Floats

    def check(self) -> "TargetScale":
        """All numbers are finite; returns self, or raises DataError."""
        require_array(self.mean, (None,), "the means of columns")
        require_array(self.spread, self.mean.shape, "the spreads of columns")
        return self

    @classmethod
    def of(cls, columns: Floats, weight: Floats | None) -> "TargetScale":
        """Of some columns (n, c)."""
        mean = np.average(columns, axis=0, weights=weight) if columns.shape[1] else np.zeros(0)
        spread = np.sqrt(np.average((columns - mean) ** 2, axis=0, weights=weight)) if columns.shape[1] else np.zeros(0)
        return cls(mean, np.where(spread > 0.0, spread, 1.0))

    def applied(self, columns: Floats) -> Floats:
        """The columns about their means, in units of their spreads."""
        return (columns - self.mean) / self.spread


class BaseBlender(StorableMixin):
    """What both blenders share."""

    _state: ClassVar[dict[str, Any]] = {
        "_pool": LogPool | LinearPool,
        "_positions": Integers,
        "_scale": TargetScale,
        "weights_": Floats | None,
        "intercept_": float | Floats,
        "coef_": Floats,
        "losses_": dict[float, float],
        "penalty_": float,
    }

    _docstring_parts: ClassVar[dict[str, str]] = {"columns": COLUMNS}
    _pool: Any  # LogPool or LinearPool
    _positions: Integers  # of the columns of members

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        raise NotImplementedError

    def _learn(self, values: Values, X: Any, y: Any, sample_weight: Any) -> Self:
        with all_or_nothing(self):
            self._fit(values, X, y, sample_weight)
        return self

    def fit_in_stack(self, X: Any, y: Any, sample_weight: Any, positions: Integers, folds: Any) -> Self:
        """Fit, told by a stack where what members predict stands, (m, width), and by which folds they were scored, unless that is given."""
        values = check(self)
        if values["n_members"] == "auto":
            values["n_members"] = positions
        if values["cv"] is None:
            values["cv"] = folds
        return self._learn(values, X, y, sample_weight)

    def _matrix(self, X: Any, reset: bool) -> Floats:
        """The columns as numbers, all finite."""
        try:
            found = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=reset)
        except ValueError as error:
            raise TableError(str(error)) from error
        return np.asarray(found.toarray() if hasattr(found, "toarray") else found)

    def _others(self, matrix: Floats) -> Floats:
        """The columns that are of no member."""
        return np.delete(matrix, self._positions.ravel(), axis=1)

    def _splits(self, cv: Any, n_rows: int, truth: NDArray[Any], weight: Floats | None, classifies: bool) -> Splits:
        """Folds to choose a penalty by, without rows that weigh nothing; none where rows are too few for that."""
        present = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
        if isinstance(cv, int | np.integer) and cv < 2:
            raise ParameterError(f"{type(self).__name__}: cv must be at least 2, or None for five folds, but it is {cv}.")
        if cv is None or isinstance(cv, int | np.integer):
            fewest = int(np.bincount(truth[present]).min()) if classifies else len(present)
            count = min(FOLDS if cv is None else cv, fewest)
            if count < 2:
                return []
            # Shuffled, as in a stack: rows may come in the order of time. A blender draws nothing else, and has no seed to be given.
            folds = (StratifiedKFold if classifies else KFold)(count, shuffle=True, random_state=0)
            found = folds.split(np.zeros((len(present), 1)), truth[present])
            return [(present[train], present[held]) for train, held in found]
        try:
            found = list(check_cv(cv, truth, classifier=classifies).split(np.zeros((n_rows, 1)), truth))
        except (ValueError, TypeError) as error:
            raise ParameterError(f"{type(self).__name__}: cv={cv!r} cannot split {n_rows} rows: {error}") from error
        there = np.isin(np.arange(n_rows), present)
        return [(train[there[train]], held[there[held]]) for train, held in map(_as_rows, found)]


def _as_rows(split: Sequence[Any]) -> tuple[Integers, Integers]:
    return np.asarray(split[0], np.int64), np.asarray(split[1], np.int64)


@knobs
class LogisticBlender(LogisticBlenderParams, BaseBlender, ClassifierMixin, BaseEstimator):
    """A blender for classes: weights for the log-odds of members, none below zero, drawn to each other.

    The scores of the classes are sums of log-odds, each member with one weight for all classes, plus a constant for each class.
    How strongly weights are drawn to each other is chosen by the log-loss in folds: members that predict almost the same get almost the
    same weight. Their sum is free: members that are too sure together are made less so. Other columns, such as those that a stack passes
    through, have a coefficient for each class that is drawn to zero.

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    weights_ : array of shape (n_members,)
        The weight of each member.
    intercept_ : array of shape (n_classes,)
        The constants.
    coef_ : array of shape (n_others, n_classes)
        The coefficients of columns that are of no member, in standard deviations.
    penalty_ : float
        The penalty that was taken.
    losses_ : dict
        The mean log-loss in folds for each penalty that was tried.
    {columns}

    Examples
    --------
    >>> from woodwind import LogisticBlender
    >>> predicted = [[0.9, 0.6], [0.8, 0.5], [0.2, 0.4], [0.1, 0.5], [0.3, 0.6], [0.7, 0.4]]
    >>> LogisticBlender(penalty=1.0).fit(predicted, ["yes", "yes", "no", "no", "no", "yes"]).predict([[0.6, 0.4]]).tolist()
    ['yes']
    """

    _state: ClassVar[dict[str, Any]] = {"_frequency": Floats}

    @known_arguments
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn weights.

        Parameters
        ----------
        X : matrix of shape (n_rows, n_columns)
            What members predict, member by member: of two classes the probability of the second, of K classes all K.
        y : sequence of labels
            The truth.
        sample_weight : sequence of numbers, one for each row, default=None
            A row of weight zero is absent, and one of weight two counts as a row given twice.
        """
        return self._learn(check(self), X, y, sample_weight)

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        owner = type(self).__name__
        matrix = self._matrix(X, reset=True)
        target = read_labels(y, owner)
        check_lengths(owner, len(matrix), target.n_rows)
        weight = read_weight(sample_weight, target.n_rows, owner)
        target, _ = weighed_classes(target, weight, None, owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        truth, n_classes = target.y.astype(np.int64), target.n_classes
        self._positions = member_columns(matrix, n_classes, values["n_members"], owner)
        self._scale = TargetScale.of(self._others(matrix), weight)
        self._frequency = np.bincount(truth, weight, n_classes) / (len(truth) if weight is None else weight.sum())
        logs, others = self._parts(matrix)
        seen = ClassificationEvidence(logs, others, truth, np.ones(len(truth)) if weight is None else weight)
        splits = self._splits(values["cv"], len(truth), truth, weight, True) if values["penalty"] == "auto" else []
        tried = PENALTIES if values["penalty"] == "auto" else (values["penalty"],)
        self.losses_ = _losses_in_folds(seen, splits, tried)
        # Without folds nothing speaks against equal weights.
        self.penalty_ = min(self.losses_, key=lambda penalty: (self.losses_[penalty], -penalty)) if self.losses_ else tried[-1]
        self._pool = fit_log_pool(seen, self.penalty_)
        self.weights_, self.intercept_, self.coef_ = self._pool.weights, self._pool.intercepts, self._pool.coefficients

    def _parts(self, matrix: Floats) -> tuple[Floats, Floats]:
        """Log-ratios (n, m, K) of what members predict, and the other columns, scaled."""
        predicted = matrix[:, self._positions]  # (n, m, K), or (n, m, 1) for two classes
        probabilities = np.clip(predicted if predicted.shape[2] > 1 else np.concatenate([1.0 - predicted, predicted], axis=2), 0.0, 1.0)
        return log_ratios((1.0 - DOUBT) * probabilities + DOUBT * self._frequency), self._scale.applied(self._others(matrix))

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        return require_finite(np.asarray(self._pool.scores(*self._parts(self._matrix(X, reset=False)))), type(self).__name__)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities (n_rows, n_classes), in the order of `classes_`."""
        return softmax(self._scores(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of these."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest probability."""
        scores = self._scores(X)
        labels: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return labels

    def decision_function(self, X: Any) -> Floats:
        """Scores: of two classes the log-odds of the second (n_rows,), else (n_rows, n_classes)."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def _losses_in_folds(seen: ClassificationEvidence, splits: Splits, tried: Sequence[float]) -> dict[float, float]:
    """The mean log-loss of rows that were held out, for each penalty; none without folds."""
    total = dict.fromkeys(tried, 0.0)
    for train, held in splits:
        part, pool = seen.of(train), None
        for penalty in reversed(tried):
            pool = fit_log_pool(part, penalty, pool)
            total[penalty] += log_loss(pool.scores(seen.logs[held], seen.others[held]), seen.truth[held], seen.weight[held])
    weight = float(sum(seen.weight[held].sum() for _, held in splits))
    return {penalty: loss / max(weight, 1e-300) for penalty, loss in total.items()} if splits else {}


def member_columns(matrix: Floats, n_classes: int, n_members: Any, owner: str) -> Integers:
    """The positions of the columns of members, (m, 1) for two classes and else (m, K)."""
    width = 1 if n_classes == 2 else n_classes
    if isinstance(n_members, np.ndarray):
        return n_members if n_members.shape[1] == width else np.zeros((0, width), np.int64)
    if isinstance(n_members, int):
        if n_members * width > matrix.shape[1]:
            raise ParameterError(
                f"{owner}: n_members={n_members} of {n_classes} classes have {n_members * width} columns, and X has {matrix.shape[1]}."
            )
        return np.arange(n_members * width).reshape(-1, width)
    within: NDArray[np.bool_] = np.all((matrix >= 0.0) & (matrix <= 1.0), axis=0)
    positions: list[list[int]] = []
    first = 0
    while first + width <= matrix.shape[1]:
        block = slice(first, first + width)
        found = within[block].all() and (width == 1 or bool(np.allclose(matrix[:, block].sum(axis=1), 1.0, rtol=0.0, atol=1e-6)))
        if found:
            positions.append(list(range(first, first + width)))
        first += width if found else 1
    return np.array(positions, np.int64).reshape(-1, width)


def number_columns(matrix: Floats, n_members: Any, owner: str) -> Integers:
    """The positions of the columns of members (m,), where each says a number."""
    if isinstance(n_members, np.ndarray):
        return n_members.ravel()
    if n_members == "auto":
        return np.arange(matrix.shape[1])
    if n_members > matrix.shape[1]:
        raise ParameterError(f"{owner}: n_members={n_members}, and X has {matrix.shape[1]} columns.")
    return np.arange(n_members)


@knobs
class NonNegativeBlender(NonNegativeBlenderParams, BaseBlender, RegressorMixin, BaseEstimator):
    """A blender for numbers: a sum of what members predict, with weights of which none is below zero.

    Members that predict almost the same would get large weights of opposite signs from least squares; without negative ones they share.
    Weights are also drawn to equal ones, as much as is best in folds. Other columns, such as those that a stack passes through, have
    coefficients of any sign, which are drawn to zero.

    {parameters}

    Attributes
    ----------
    weights_ : array of shape (n_members,)
        The weight of each member.
    intercept_ : float
        The constant.
    coef_ : array of shape (n_others,)
        The coefficients of columns that are of no member, in standard deviations.
    penalty_ : float
        The penalty that was taken; 0 where nothing is shrunk.
    losses_ : dict
        The mean squared error in folds for each penalty that was tried.
    {columns}

    Examples
    --------
    >>> from woodwind import NonNegativeBlender
    >>> predicted = [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 3.0]]
    >>> blender = NonNegativeBlender(weights="simplex").fit(predicted, [1.0, 2.0, 3.0, 4.0])
    >>> blender.weights_.round(9).tolist()
    [1.0, 0.0]
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # columns that count against the target are of no use to it
        return tags

    @known_arguments
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn weights.

        Parameters
        ----------
        X : matrix of shape (n_rows, n_columns)
            What members predict, one column each.
        y : sequence of numbers
            The truth.
        sample_weight : sequence of numbers, one for each row, default=None
            A row of weight zero is absent, and one of weight two counts as a row given twice.
        """
        return self._learn(check(self), X, y, sample_weight)

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        owner = type(self).__name__
        matrix = self._matrix(X, reset=True)
        target = read_regression_target(y, owner)
        check_lengths(owner, len(matrix), target.n_rows)
        given = read_weight(sample_weight, target.n_rows, owner)
        self._positions = number_columns(matrix, values["n_members"], owner)
        self._scale = TargetScale.of(self._others(matrix), given)
        others = self._scale.applied(self._others(matrix))
        seen = RegressionEvidence(matrix[:, self._positions], others, target.y, np.ones(target.n_rows) if given is None else given)
        chosen = values["weights"] == "shrunk" or others.shape[1] > 0
        splits = self._splits(values["cv"], target.n_rows, target.y, given, False) if chosen else []
        self.losses_ = {penalty: _squares_in_folds(values, seen, splits, penalty) for penalty in REGRESSION_PENALTIES} if splits else {}
        without = REGRESSION_PENALTIES[-1] if chosen else 0.0
        self.penalty_ = min(self.losses_, key=lambda penalty: (self.losses_[penalty], -penalty)) if self.losses_ else without
        self._pool = _fit_regression(values, seen, self.penalty_)
        self.weights_, self.intercept_, self.coef_ = self._pool

    def predict(self, X: Any) -> Floats:
        """The weighted sums."""
        check_is_fitted(self)
        matrix = self._matrix(X, reset=False)
        sums = self._pool.sums(matrix[:, self._positions], self._scale.applied(self._others(matrix)))
        return require_finite(np.asarray(sums), type(self).__name__)


def _fit_regression(values: dict[str, Any], seen: RegressionEvidence, penalty: float) -> LinearPool:
    if values["weights"] == "simplex":
        return fit_simplex(seen, penalty)
    return fit_nonnegative(seen, intercept=values["fit_intercept"], penalty=penalty, shrink=values["weights"] == "shrunk")


def _squares_in_folds(values: dict[str, Any], seen: RegressionEvidence, splits: Splits, penalty: float) -> float:
    """The mean squared error of rows that were held out."""
    total = weight = 0.0
    for train, held in splits:
        pool = _fit_regression(values, seen.of(train), penalty)
        error = pool.sums(seen.numbers[held], seen.others[held]) - seen.truth[held]
        total += float(seen.weight[held] @ error**2)
        weight += float(seen.weight[held].sum())
    return total / max(weight, 1e-300)
