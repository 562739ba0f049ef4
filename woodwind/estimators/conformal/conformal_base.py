"""What conformal prediction for regression and classification share: models of folds, and the conformity scores of rows held out."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import key, seed_of
from woodwind.base.validate import require, require_finite
from woodwind.ensemble.conformal import ConformityScores, checked_coverage
from woodwind.ensemble.held_out import hold_out
from woodwind.estimators.base.model import COLUMNS, BaseGroupedModel, check_lengths
from woodwind.estimators.base.splits import SplitRequest, read_folds, read_groups, warn_absent_classes, warn_unscored
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.pools.fitting import MemberTask, check_weights_are_taken, fit_member
from woodwind.estimators.pools.member_list import NamedMember, is_fitted, named_members
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.pool import Pool, pool_of
from woodwind.estimators.pools.pool_base import narrow_tags

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Values = dict[str, Any]

MODEL = """
estimators_ : list
    The trained models, one for each fold; one where there are no folds.
conformity_scores_ : array of shape (n_rows_held_out,)
    How far each row that was held out is off, ascending in each fold.
"""


def member_named(estimator: Any, owner: str, classifies: bool) -> NamedMember:
    """An estimator as a member that can be trained, checked."""
    return named_members([("estimator", estimator)], owner, classifies)[0]


class BaseConformal(BaseGroupedModel):
    """What both kinds share: models of folds, and the conformity scores of the rows that each has not seen."""

    _state: ClassVar[dict[str, Any]] = {"_pool": Pool, "_known": ConformityScores}
    _docstring_parts: ClassVar[dict[str, str]] = {"model": MODEL, "columns": COLUMNS}
    estimator: Any
    method: Any
    coverage: float
    _pool: Pool
    _known: ConformityScores
    _classifies: ClassVar[bool]

    # What each task does in its own way.

    def _read_target(self, y: Any) -> Target:
        raise NotImplementedError

    def _base(self) -> Any:
        """The estimator that is trained."""
        raise NotImplementedError

    def _scores(self, table: AnyTable, rows: Integers, fold: int, target: Target) -> Floats:
        """Conformity scores of held-out rows by the model of a fold."""
        raise NotImplementedError

    # Base class.

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        narrow_tags(tags, [self._base()])
        return tags

    def __sklearn_clone__(self) -> Any:
        copy = super().__sklearn_clone__()  # type: ignore[misc]
        if self.method == "prefit":
            copy.estimator = self.estimator  # a clone must not forget what it has learned
        return copy

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        target = self._read_target(y)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        rows_by_group = read_groups(groups, target.n_rows, self._owner)
        table = AnyTable.of(X, None, self._owner)
        check_lengths(self._owner, table.n_rows, target.n_rows)
        self._set_header(table.header)
        if values["method"] == "prefit":
            self._take(values, table, target, weight)
        else:
            self._train(values, table, target, weight, rows_by_group)

    def _take(self, values: Values, table: AnyTable, target: Target, weight: Floats | None) -> None:
        """A model that was trained elsewhere, and rows that it has not seen."""
        estimator = values["estimator"]
        if estimator is None or not is_fitted(estimator):
            what = "None" if estimator is None else f"a {type(estimator).__name__} that is not fitted yet"
            raise ParameterError(f"{self._owner}: method='prefit' takes the estimator as it is, and it is {what}. Give a trained one.")
        member = member_named(estimator, self._owner, self._classifies)
        self._pool = Pool.of_fitted([member], table.header, target.classes, self._owner)
        every = np.arange(target.n_rows)
        self._after_training(values, table, target, weight, [every[:0]])
        self._set_scores(table, target, weight, [every])

    def _train(self, values: Values, table: AnyTable, target: Target, weight: Floats | None, groups: Integers | None) -> None:
        seed = seed_of(values["random_state"])
        member = member_named(self._base(), self._owner, self._classifies)
        check_weights_are_taken([member], weight, self._owner)
        folds = self._folds(values, table, target, groups, seed)
        fitted = []
        for number, (learned, _) in enumerate(folds):
            task = MemberTask(table, target, weight, self._owner, learned)
            fitted.append(fit_member(member, task, key(seed, "fold", number), self._threads))
        models = [NamedMember(f"fold {number}", member.estimator, None, None) for number in range(len(folds))]
        self._pool = pool_of(models, fitted, table.header, target.classes)
        self._after_training(values, table, target, weight, [learned for learned, _ in folds])
        self._set_scores(table, target, weight, [held for _, held in folds])

    def _folds(
        self, values: Values, table: AnyTable, target: Target, groups: Integers | None, seed: int
    ) -> tuple[tuple[Integers, Integers], ...]:
        """(training rows, held-out rows) of every model."""
        if values["method"] == "split":
            if target.n_rows < 2:
                raise DataError(f"{self._owner}: of one row none can be held out. Give more rows, or set method='prefit'.")
            classes = target.y if target.classes is not None else None
            held = hold_out(seed, target.n_rows, values["validation_fraction"], classes, groups, self._owner)
            return ((np.flatnonzero(~held), np.flatnonzero(held)),)
        if target.n_rows < 2:
            raise DataError(f"{self._owner}: folds need at least two rows, and there is 1 sample. Give more rows.")
        cv = min(values["cv"], target.n_rows) if isinstance(values["cv"], int) and values["cv"] >= 2 else values["cv"]
        folds = read_folds(cv, table.X, SplitRequest(self._owner, target, groups, seed))
        warn_absent_classes(folds, target, None, self._owner)
        scored = np.zeros(target.n_rows, np.bool_)
        for _, rows in folds:
            scored[rows] = True
        warn_unscored(scored, self._owner)
        return folds

    def _after_training(self, values: Values, table: AnyTable, target: Target, weight: Floats | None, learned: list[Integers]) -> None:
        """What else is learned, from the rows that each model has learned."""

    def _set_scores(self, table: AnyTable, target: Target, weight: Floats | None, held: list[Integers]) -> None:
        parts = []
        for fold, rows in enumerate(held):
            present = rows if weight is None else rows[weight[rows] > 0.0]
            counts = np.ones(len(present)) if weight is None else weight[present]
            scores = self._scores(table, present, fold, target) if len(present) else np.empty(0)
            parts.append((require_finite(scores, self._owner), counts))
        self._known = ConformityScores.of(parts)
        if len(self._known.scores) == 0:
            raise DataError(f"{self._owner}: every row that is held out has a weight of zero. Give rows that count.")

    # What there is to ask.

    @property
    def estimators_(self) -> list[Any]:
        """The trained models."""
        check_is_fitted(self)
        return list(self._pool.members)

    @property
    def conformity_scores_(self) -> Floats:
        """How far each row that was held out is off."""
        check_is_fitted(self)
        return self._known.scores

    def _asked_coverage(self, coverage: float | None) -> float:
        return checked_coverage(self.coverage if coverage is None else coverage, self._known, self._owner)

    def _table(self, X: Any) -> AnyTable:
        check_is_fitted(self)
        return AnyTable.of(X, self._pool.header, self._owner)

    def _check_state(self) -> None:
        """There are scores for each model."""
        self._known.check()
        require(self._pool.header is not None and self._pool.header.n_columns == self.n_features_in_, "models have other columns")
        require(len(self._pool) == self._known.n_folds, "there are scores of other folds than there are models")
