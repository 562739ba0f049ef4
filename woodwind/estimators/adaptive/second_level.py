"""A second level over models of two classes: a classifier that learns from what they predict, together with the features.

What they say about a row is said by models that have not been trained on it, in folds: else the second level would trust them too much.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from woodwind.base.random_streams import key
from woodwind.base.validate import require
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.held_out import fold_numbers
from woodwind.estimators.adaptive.adaboost_base import AdaptiveModel, LearnerSource, one_margin
from woodwind.estimators.base.base_learner import check_estimator
from woodwind.estimators.base.target import Target
from woodwind.estimators.boosting.gradient_boosting import GradientBoostingClassifier

Floats = NDArray[np.float64]

FOLDS = 5


@dataclass(frozen=True, eq=False)
class SecondLevel:
    """A classifier of margins and features."""

    final: Any
    schema: Schema | None  # how tables are read, where the learners take them as they are
    positions: NDArray[np.int64]  # of the classes that it knows among all

    def check(self) -> "SecondLevel":
        """The last model is one; returns self, or raises DataError."""
        require(hasattr(self.final, "predict_proba"), "the second level is no classifier")
        different = np.unique(self.positions).size == self.positions.size
        require(self.positions.ndim == 1 and (self.positions >= 0).all() and different, "a class is not there")
        return self

    def _rows(self, models: list[AdaptiveModel], X: Any, threads: int) -> Floats:
        margins = np.stack([one_margin(model.scores(X, threads)) for model in models], axis=1)
        table = X if self.schema is None else self.schema.read(X)
        return np.column_stack([margins, features(table)])

    def probabilities(self, models: list[AdaptiveModel], X: Any, threads: int) -> Floats:
        """Probabilities of the classes, (n, K)."""
        given = np.asarray(self.final.predict_proba(self._rows(models, X, threads)), np.float64)
        out = np.zeros((len(given), len(models)))
        out[:, self.positions] = given
        return out

    def scores(self, models: list[AdaptiveModel], X: Any, threads: int) -> Floats:
        """The same, as scores: the largest is that of the class that is predicted."""
        return self.probabilities(models, X, threads)


def check_final(final: Any, owner: str) -> None:
    """Refuse a second level that cannot be one."""
    check_estimator(final, owner, classifies=True, soft=True, name="final_estimator")


def features(table: Table) -> Floats:
    """The features of a table as numbers; categories by their number, NaN for what is missing or was never seen."""
    columns = []
    for column in table.columns:
        block = np.asarray(column.block(0, table.n_rows), np.float64)
        columns.append(np.where(block < 0, np.nan, block) if column.category else block)
    return np.column_stack(columns)


def train_second_level(
    source: LearnerSource,
    target: Target,
    models: Callable[[LearnerSource, NDArray[np.int64], int], list[AdaptiveModel]],
    final: Any,
    seed: int,
    threads: int,
) -> tuple[list[AdaptiveModel], SecondLevel]:
    """Models of all rows, and a second level that has been trained on those of folds. `models` trains one for each class on some rows."""
    n_classes = target.n_classes
    present = np.arange(source.n_rows) if source.count is None else np.flatnonzero(source.count)
    labels = target.y[present].astype(np.int64)
    folds = fold_numbers(key(seed, "second"), len(present), FOLDS, labels)
    whole = models(source, np.arange(source.n_rows), FOLDS)
    margins = np.stack([one_margin(model.scores(source.X, threads)) for model in whole], axis=1)
    for fold in np.unique(folds[folds >= 0]):
        part, rows = source.part(present[folds != fold])
        held = present[folds == fold]
        for k, model in enumerate(models(part, rows, int(fold))):
            margins[held, k] = one_margin(model.scores(source.X, threads))[held]
    schema, table = (None, source.X) if source.trees is not None else Schema.learn(source.X)
    matrix = np.column_stack([margins, features(table)])
    if final is None:
        marked = np.concatenate([np.zeros(n_classes, np.bool_), [column.category for column in table.columns]])
        final = GradientBoostingClassifier(categorical_features=marked, random_state=key(seed, "final") % (1 << 31))
    fitted = fit_final(final, matrix[present], target.labels()[present], source, present)
    number = {label: position for position, label in enumerate(np.asarray(target.classes).tolist())}
    return whole, SecondLevel(fitted, schema, np.array([number[label] for label in fitted.classes_.tolist()]))


def fit_final(final: Any, X: Floats, y: NDArray[Any], source: LearnerSource, present: NDArray[np.int64]) -> Any:
    """Train a copy of the second level, by the weights of the rows where it takes them."""
    if (source.count is None and source.weight is None) or not has_fit_parameter(final, "sample_weight"):
        return clone(final).fit(X, y)
    weight = np.ones(source.n_rows) if source.weight is None else source.weight
    total = weight if source.count is None else weight * source.count
    return clone(final).fit(X, y, sample_weight=total[present])
