"""How one member of a pool is trained: a copy with a seed, on some rows of a shared table, with weights; what fails is named."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from woodwind.base.errors import MemberError, MemberTypeError, ParameterError, WoodwindError
from woodwind.base.random_streams import key
from woodwind.estimators.base.base_learner import with_open_seeds
from woodwind.estimators.base.target import Target
from woodwind.estimators.boosting.encoded_table import EncodedTable
from woodwind.estimators.pools.member_list import NamedMember
from woodwind.estimators.pools.members import AnyTable, on_threads_of, takes_weight

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
T = TypeVar("T")


class FittedMember(NamedTuple):
    """A trained member, and the labels whose numbers it speaks of; None where it speaks of labels."""

    estimator: Any
    labels: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class MemberTask:
    """What members are trained on: some rows of a table, or all, with a target and weights for every row of the table."""

    table: AnyTable
    target: Target
    weight: Floats | None
    owner: str
    rows: Integers | None = None
    encoded: EncodedTable | None = None  # the codes of these rows, for a member that is trained from codes

    def present(self) -> Integers | None:
        """The rows that weigh anything; None for all of the table."""
        if self.weight is None or self.weight.all():
            return self.rows
        rows = np.arange(len(self.weight)) if self.rows is None else self.rows
        return rows[self.weight[rows] > 0.0]


def weight_name(estimator: Any) -> str | None:
    """The argument of `fit` by which an estimator takes weights of rows; a pipeline takes them for its last step. None: it takes none."""
    if takes_weight(estimator):
        return "sample_weight"
    if isinstance(estimator, Pipeline) and estimator.steps:
        name, last = estimator.steps[-1]
        inner = weight_name(last)
        return None if inner is None else f"{name}__{inner}"
    if isinstance(estimator, BaseSearchCV):
        return weight_name(estimator.estimator)
    return None


def check_weights_are_taken(members: Sequence[NamedMember], weight: Floats | None, owner: str) -> None:
    """Raise where rows have weights and a member takes none."""
    for member in members if weight is not None else ():
        if weight_name(member.estimator) is None:
            raise MemberTypeError(
                f"{owner}: Underlying estimator {type(member.estimator).__name__} does not support sample weights: member "
                f"{member.name!r} would treat all rows alike. Leave it out, or train without sample_weight."
            )


def named_error(owner: str, member: NamedMember, call: Callable[[], T], what: str = "could not be trained") -> T:
    """What the call gives; an error in it names the member."""
    try:
        return call()
    except Exception as error:
        kind = MemberTypeError if isinstance(error, TypeError) else MemberError
        predicted = f"{owner}: member {member.name!r} ({type(member.estimator).__name__}) {what}."
        raise kind(f"{predicted} {type(error).__name__}: {error}") from error


def fit_member(member: NamedMember, task: MemberTask, seed: int, threads: int) -> FittedMember:
    """Train a copy of a member; open seeds are named by the seed and by its name."""
    return named_error(task.owner, member, lambda: _fitted(member, task, seed, threads))


def _fitted(member: NamedMember, task: MemberTask, seed: int, threads: int) -> FittedMember:
    rows, target = task.present(), task.target
    X = task.table.take(member.columns, rows) if task.encoded is None else task.encoded
    y = target.y if rows is None else target.y[rows]
    more = {}
    if task.weight is not None:
        name = weight_name(member.estimator)
        if name is None:
            raise ParameterError("it takes no sample_weight")
        more = {name: task.weight if rows is None else task.weight[rows]}

    def copy_trained_on(labels: NDArray[Any]) -> Any:
        copy = with_open_seeds(member.estimator, key(seed, "member", member.name))
        return on_threads_of(threads, copy, X, labels, **more)

    if target.classes is None:
        return FittedMember(copy_trained_on(y), None)
    labels = target.classes[y]
    if (y == y[0]).all():
        # The other classes are in other folds; few classifiers learn a single one.
        return FittedMember(DummyClassifier(strategy="most_frequent").fit(np.zeros((len(y), 1)), labels), None)
    try:
        return FittedMember(copy_trained_on(labels), None)
    except WoodwindError:
        raise
    except (ValueError, TypeError):
        # Some classifiers learn nothing but the numbers 0, 1, 2 ... of classes, each of which must be there.
        present, numbers = np.unique(y, return_inverse=True)
        numbered = target.classes[present]
        if np.array_equal(numbered, np.arange(len(present))):
            raise
        try:
            return FittedMember(copy_trained_on(numbers.reshape(-1).astype(np.int64)), numbered)
        except Exception:  # noqa: BLE001
            pass  # it was not that: the first error tells more
        raise
