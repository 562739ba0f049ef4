"""What members say of selection rows, which they have not learnt: trained members as they are, on rows held out, or out of fold."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.streams import key
from woodwind.ensemble.held_out import hold_out
from woodwind.estimators.dynamic_model import said
from woodwind.estimators.members import TableOfAny
from woodwind.estimators.out_of_fold import out_of_fold
from woodwind.estimators.pool import Named, Pool, joint_classes, trained_pool
from woodwind.estimators.target import Target
from woodwind.estimators.weights import Weighing

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trial:
    """Members that are to be judged, and the rows for it."""

    named: list[Named]
    table: TableOfAny
    target: Target
    weight: Floats | None
    groups: Integers | None  # rows of one group are held out together
    soft: bool  # whether members are judged by probabilities
    how: dict[str, Any]  # how members are trained: seed, threads, owner, verbose

    @property
    def owner(self) -> str:
        """Whose members they are."""
        return str(self.how["owner"])

    @property
    def threads(self) -> int:
        """Threads to use."""
        return int(self.how["threads"])


class Judged(NamedTuple):
    """Trained members, and what was said of selection rows without having learnt them."""

    pool: Pool
    target: Target  # of all rows
    rows: Integers  # (r,) the selection rows
    votes: NDArray[Any]  # (r, m)
    shares: Floats | None  # (r, m, K)

    def repeated(self, weighing: Weighing) -> "Judged":
        """Rows as often as their weights say: whole weights are repetitions, a row of weight zero is absent."""
        if weighing.given is None:
            return self
        counts, _ = weighing.of_rows(self.target.n_rows)
        times = (weighing.given > 0.0).astype(np.int64) if counts is None else counts
        places = np.repeat(np.arange(len(self.rows)), times[self.rows])
        shares = None if self.shares is None else self.shares[places]
        return Judged(self.pool, self.target, self.rows[places], self.votes[places], shares)


def as_they_are(trial: Trial) -> Judged:
    """Trained members, judged on all rows."""
    table, target = trial.table, trial.target
    if target.classes is not None:
        classes = joint_classes(trial.named, target.classes)
        place = {label: number for number, label in enumerate(classes.tolist())}
        target = target.renumbered([place[label] for label in target.classes.tolist()], classes)
    pool = Pool.of_fitted(trial.named, table.header, target.classes, trial.owner)
    if trial.soft:
        pool.check_soft(trial.owner)
    return Judged(pool, target, np.arange(table.n_rows), *said(pool, table, trial.soft, trial.owner, trial.threads))


def held_out(trial: Trial, share: float) -> Judged:
    """Members trained on a part of the rows, judged on the others."""
    table, target, weight = trial.table, trial.target, trial.weight
    present = np.arange(table.n_rows) if weight is None else np.flatnonzero(weight)
    if len(present) < 2:
        raise DataError(f"{trial.owner}: n_samples=1: members cannot be judged on the row that they learn. Give more rows.")
    classes = None if target.classes is None else target.y[present]
    groups = None if trial.groups is None else trial.groups[present]
    held = hold_out(key(trial.how["seed"], "selection"), len(present), share, classes, groups, owner=trial.owner)
    learnt, judged = present[~held], present[held]
    weight_learnt = None if weight is None else weight[learnt]
    pool = trained_pool(trial.named, rows_of(table, learnt), target.at(learnt), weight_learnt, **trial.how)
    return Judged(pool, target, judged, *said(pool, rows_of(table, judged), trial.soft, trial.owner, trial.threads))


def judged_out_of_fold(trial: Trial, cv: Any) -> Judged:
    """Members trained on all rows, judged by copies that have not learnt the row."""
    numbers = trial.target.classes is None
    kind: Any = "numbers" if numbers else "probabilities" if trial.soft else "votes"
    found = out_of_fold(trial.named, trial.table, trial.target, cv=cv, groups=trial.groups, weight=trial.weight, kind=kind, **trial.how)
    rows = np.flatnonzero(found.judged)
    answers = np.ascontiguousarray(found.said[rows])
    pool = trained_pool(trial.named, trial.table, trial.target, trial.weight, **trial.how)
    if trial.soft:
        return Judged(pool, trial.target, rows, answers.argmax(axis=2), answers)
    return Judged(pool, trial.target, rows, answers[:, :, 0] if numbers else answers[:, :, 0].astype(np.int64), None)


def rows_of(table: TableOfAny, rows: Integers) -> TableOfAny:
    """Some rows of a table."""
    return TableOfAny(table.take(None, rows), table.header, len(rows))


def check_probabilities(named: list[Named], method: Any, owner: str) -> None:
    """Raise unless members that are still to be trained will give probabilities."""
    for member in named:
        if not hasattr(member.estimator, "predict_proba"):
            kind = type(member.estimator).__name__
            raise ParameterError(
                f"{owner}: method={method!r} judges members by probabilities, and member {member.name!r} ({kind}) has no predict_proba. "
                "Leave it out, wrap it in sklearn.calibration.CalibratedClassifierCV, or take another method."
            )
