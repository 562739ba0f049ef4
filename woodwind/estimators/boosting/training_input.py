"""What `fit` was given, read and checked: rows to train on, rows that are held out, and rows to be scored while it trains."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.estimators.base.scoring import rows_of_table
from woodwind.estimators.base.several_targets import SeveralTargets
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import Weighing

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """Rows that are watched: as losses take them, and as scorers do, made when one asks."""

    y: NDArray[Any]
    weight: Floats | None
    table: Callable[[], Any]
    labels: Callable[[], NDArray[Any]]
    groups: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class BoostingInput:
    """What fit was given, read and checked."""

    X: Any
    target: Target | SeveralTargets
    weighing: Weighing
    groups: NDArray[np.int64] | None
    positions: NDArray[np.int64] | None = None  # the number of the position where each row was shown, of rankings

    @property
    def n_rows(self) -> int:
        """Rows that are trained on."""
        return self.target.n_rows if self.weighing.take is None else len(self.weighing.take)

    def evaluated(self, rows: TrainingRows, positions: NDArray[np.int64]) -> EvaluatedRows:
        """Some of the rows that are trained on."""
        in_table = positions if self.weighing.take is None else self.weighing.take[positions]
        return EvaluatedRows(
            rows.y[positions],
            None if rows.weight is None else rows.weight[positions],
            lambda: rows_of_table(self.X, in_table),
            lambda: self.target.at(in_table).labels(),
            None if self.groups is None else self.groups[in_table],
        )


@dataclass(frozen=True, eq=False)
class ValidationSplit:
    """Which rows of the table are held out: a share of them, or each in its fold; none where both are None."""

    held: NDArray[np.bool_] | None = None
    folds: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class ValidationSet:
    """Validation data that the caller gives: as they came, and as the engine wants them."""

    name: str
    X: Any
    labels: NDArray[Any]
    rows: TrainingRows
    groups: NDArray[np.int64] | None = None

    @property
    def evaluated(self) -> EvaluatedRows:
        """All of its rows."""
        return EvaluatedRows(self.rows.y, self.rows.weight, lambda: self.X, lambda: self.labels, self.groups)
