"""What members predict for selection rows, which they have not been trained on: trained members as they are, on rows held out, or out of
fold."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import key
from woodwind.ensemble.held_out import hold_out
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import Weighing
from woodwind.estimators.dynamic.dynamic_model import predicted
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.out_of_fold import out_of_fold
from woodwind.estimators.pools.pool import NamedMember, Pool, joint_classes, trained_pool

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HoldoutTask:
    """Members that are to be scored, and the rows for it."""

    named: list[NamedMember]
    table: AnyTable
    target: Target
    weight: Floats | None
    groups: Integers | None  # rows of one group are held out together
    soft: bool  # whether members are scored by probabilities
    how: dict[str, Any]  # how members are trained: seed, threads, owner, verbose

    @property
    def owner(self) -> str:
        """Whose members they are."""
        return str(self.how["owner"])

    @property
    def threads(self) -> int:
        """Threads to use."""
        return int(self.how["threads"])


class HoldoutPredictions(NamedTuple):
    """Trained members, and what was predicted for selection rows without having learned them."""

    pool: Pool
    target: Target  # of all rows
    rows: Integers  # (r,) the selection rows
    votes: NDArray[Any]  # (r, m)
    probabilities: Floats | None  # (r, m, K)

    def repeated(self, weighing: Weighing) -> "HoldoutPredictions":
        """Rows as often as their weights say: whole weights are repetitions, a row of weight zero is absent."""
        if weighing.given is None:
            return self
        counts, _ = weighing.of_rows(self.target.n_rows)
        times = (weighing.given > 0.0).astype(np.int64) if counts is None else counts
        positions = np.repeat(np.arange(len(self.rows)), times[self.rows])
        probabilities = None if self.probabilities is None else self.probabilities[positions]
        return HoldoutPredictions(self.pool, self.target, self.rows[positions], self.votes[positions], probabilities)


def as_they_are(trial: HoldoutTask) -> HoldoutPredictions:
    """Trained members, scored on all rows."""
    table, target = trial.table, trial.target
    if target.classes is not None:
        classes = joint_classes(trial.named, target.classes)
        position = {label: number for number, label in enumerate(classes.tolist())}
        target = target.renumbered([position[label] for label in target.classes.tolist()], classes)
    pool = Pool.of_fitted(trial.named, table.header, target.classes, trial.owner)
    if trial.soft:
        pool.check_soft(trial.owner)
    return HoldoutPredictions(pool, target, np.arange(table.n_rows), *predicted(pool, table, trial.soft, trial.owner, trial.threads))


def held_out(trial: HoldoutTask, share: float) -> HoldoutPredictions:
    """Members trained on a part of the rows, scored on the others."""
    table, target, weight = trial.table, trial.target, trial.weight
    present = np.arange(table.n_rows) if weight is None else np.flatnonzero(weight)
    if len(present) < 2:
        raise DataError(f"{trial.owner}: n_samples=1: members cannot be scored on the row that they learn. Give more rows.")
    classes = None if target.classes is None else target.y[present]
    groups = None if trial.groups is None else trial.groups[present]
    held = hold_out(key(trial.how["seed"], "selection"), len(present), share, classes, groups, owner=trial.owner)
    train_rows, scored = present[~held], present[held]
    train_weight = None if weight is None else weight[train_rows]
    pool = trained_pool(trial.named, rows_of(table, train_rows), target.at(train_rows), train_weight, **trial.how)
    return HoldoutPredictions(pool, target, scored, *predicted(pool, rows_of(table, scored), trial.soft, trial.owner, trial.threads))


def scored_out_of_fold(trial: HoldoutTask, cv: Any) -> HoldoutPredictions:
    """Members trained on all rows, scored by copies that have not been trained on the row."""
    numbers = trial.target.classes is None
    kind: Any = "numbers" if numbers else "probabilities" if trial.soft else "votes"
    found = out_of_fold(trial.named, trial.table, trial.target, cv=cv, groups=trial.groups, weight=trial.weight, kind=kind, **trial.how)
    rows = np.flatnonzero(found.scored)
    answers = np.ascontiguousarray(found.predicted[rows])
    pool = trained_pool(trial.named, trial.table, trial.target, trial.weight, **trial.how)
    if trial.soft:
        return HoldoutPredictions(pool, trial.target, rows, answers.argmax(axis=2), answers)
    return HoldoutPredictions(pool, trial.target, rows, answers[:, :, 0] if numbers else answers[:, :, 0].astype(np.int64), None)


def rows_of(table: AnyTable, rows: Integers) -> AnyTable:
    """Some rows of a table."""
    return AnyTable(table.take(None, rows), table.header, len(rows))


def check_probabilities(named: list[NamedMember], method: Any, owner: str) -> None:
    """Raise unless members that are still to be trained will give probabilities."""
    for member in named:
        if not hasattr(member.estimator, "predict_proba"):
            kind = type(member.estimator).__name__
            raise ParameterError(
                f"{owner}: method={method!r} scores members by probabilities, and member {member.name!r} ({kind}) has no predict_proba. "
                "Leave it out, wrap it in sklearn.calibration.CalibratedClassifierCV, or take another method."
            )
