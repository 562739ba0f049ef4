"""A pool: trained members of any kind that are asked together. What they predict is one array: rows first, members second, classes
third."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import MemberError, ParameterError
from woodwind.base.validate import require, require_labels
from woodwind.data.tables.schema import Header
from woodwind.ensemble.bag import BaggedMember
from woodwind.ensemble.progress import with_progress
from woodwind.estimators.base.model import check_lengths
from woodwind.estimators.base.model_checks import require_model
from woodwind.estimators.base.target import Target
from woodwind.estimators.pools.fitting import FittedMember, MemberTask, check_weights_are_taken, fit_member, named_error
from woodwind.estimators.pools.member_list import NamedMember, are_fitted, default_pool, named_members, pairs_of
from woodwind.estimators.pools.members import FEW_ANSWERS, AnyTable, where_worthwhile

__all__ = [
    "NamedMember",
    "Pool",
    "Response",
    "are_fitted",
    "default_pool",
    "header_for",
    "header_of",
    "joint_classes",
    "named_members",
    "open_table_of",
    "pairs_of",
    "trained_pool",
    "with_progress_of",
    "without_probabilities",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
T = TypeVar("T")
# What members are asked for. Probabilities are (n, K), votes and numbers (n, 1), scores (n, 1) for two classes and else (n, K).
Response = Literal["probabilities", "votes", "numbers", "scores"]


def open_table_of(X: Any, header: Header | None, owner: str) -> AnyTable:
    """Any table, of which members take rows and columns; with the header of the training table its columns are found by name."""
    return AnyTable.of(X, header, owner)


@dataclass(frozen=True, eq=False)
class Pool:
    """Trained members, asked together."""

    names: tuple[str, ...]
    members: tuple[Any, ...]
    columns: tuple[Integers | None, ...]  # what each sees; None for all
    header: Header | None  # of the table that they were trained with; None where nobody knows
    classes: NDArray[Any] | None  # all labels in order; None for numbers
    labels: tuple[NDArray[Any] | None, ...]  # of a member that speaks of numbers of classes what they stand for; else None
    bare: tuple[bool, ...]  # whether a member was trained without names of columns, and wants none

    def check(self) -> "Pool":
        """Members are models, each with a name and the columns that it sees; returns self, or raises DataError."""
        lengths = {len(each) for each in (self.names, self.columns, self.labels, self.bare)}
        require(lengths == {len(self.members)} and len(self.members) > 0, "members have not one name each")
        require(len(set(self.names)) == len(self.names), "two members have one name")
        if self.classes is not None:
            require_labels(self.classes, "a pool")
        n_columns = None if self.header is None else self.header.n_columns
        for name, member, columns, labels in zip(self.names, self.members, self.columns, self.labels, strict=True):
            what, known = f"member {name!r}", self.classes
            if columns is not None:
                inside = columns.ndim == 1 and columns.size > 0 and (columns >= 0).all()
                require(inside and (n_columns is None or (columns < n_columns).all()), f"{what} sees a column that is not there")
            if labels is not None:
                require_labels(labels, what)
                require(known is not None and set(labels.tolist()) <= set(known.tolist()), f"{what} has labels that the others do not know")
                known = np.arange(len(labels))
            require_model(member, what, classes=known, n_columns=n_columns if columns is None else columns.size)
        return self

    def __len__(self) -> int:
        return len(self.members)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for numbers."""
        return 0 if self.classes is None else len(self.classes)

    @classmethod
    def of_fitted(cls, named: Sequence[NamedMember], header: Header | None, classes: NDArray[Any] | None, owner: str) -> "Pool":
        """Members that somebody has trained, asked about tables with such a header; without one, with all the columns that they know.

        Columns are found by name for each of them. Their classes are found by label among `classes`, which must have all of them.
        """
        for member in named:
            if not are_fitted([member]):
                what = f"member {member.name!r} ({type(member.estimator).__name__})"
                raise MemberError(f"{owner}: {what} is not fitted yet, but is to be taken as it is. Train it first.")
        header = header_of(named) if header is None else header
        names, members, _, labels = zip(*named, strict=True)
        columns = tuple(_columns_by_name(member, header, owner) for member in named)
        pool = cls(names, members, columns, header, classes, labels, tuple(map(_is_bare, members)))
        for position in range(len(pool) if classes is not None else 0):
            pool.class_positions(position, owner)
        return pool

    def only(self, positions: Iterable[int]) -> "Pool":
        """Some of the members, in the order that is given."""
        chosen = [int(position) for position in positions]

        def some(all_of: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(all_of[position] for position in chosen)

        of_each = some(self.names), some(self.members), some(self.columns)
        return Pool(*of_each, self.header, self.classes, some(self.labels), some(self.bare))

    def named(self) -> list[NamedMember]:
        """The members with their names."""
        return [NamedMember(*one) for one in zip(self.names, self.members, self.columns, self.labels, strict=True)]

    # What members predict, (n, m, ...).

    def votes(self, X: Any, owner: str, threads: int = 1) -> NDArray[Any]:
        """The numbers of the classes that members predict, (n, m): short ones where they suffice, which is a quarter of the memory."""
        kind = np.int16 if self.n_classes <= np.iinfo(np.int16).max else np.int64
        return self._gathered(X, "votes", owner, threads, kind)[:, :, 0]

    def probabilities(self, X: Any, owner: str, threads: int = 1, hard_where_needed: bool = False) -> Floats:
        """Probabilities of all classes, (n, m, K); a class that a member has never seen has none.

        A member without predict_proba is an error, or says 1 for the class that it predicts if this is `hard_where_needed`.
        """
        return self.predicted(X, "probabilities", owner, threads, hard_where_needed)

    def scores(self, X: Any, owner: str, threads: int = 1) -> Floats:
        """What decision functions say, (n, m, K); (n, m, 1) for two classes."""
        return self.predicted(X, "scores", owner, threads)

    def numbers(self, X: Any, owner: str, threads: int = 1) -> Floats:
        """The numbers that members predict, (n, m)."""
        return np.asarray(self.predicted(X, "numbers", owner, threads)[:, :, 0])

    def width(self, response: Response) -> int:
        """Numbers that a member predicts for a row."""
        if response == "probabilities" or (response == "scores" and self.n_classes > 2):
            return self.n_classes
        return 1

    def predicted(self, X: Any, response: Response, owner: str, threads: int = 1, hard_where_needed: bool = False) -> Floats:
        """What all members predict for the rows of a table, (n, m, width)."""
        if response == "probabilities" and not hard_where_needed:
            self.check_soft(owner)
        return self._gathered(X, response, owner, threads, np.float64)

    def _gathered(self, X: Any, response: Response, owner: str, threads: int, kind: type) -> NDArray[Any]:
        """What all members predict, as numbers of a kind."""
        table = X if isinstance(X, AnyTable) else open_table_of(X, self.header, owner)
        out: NDArray[Any] = np.empty((len(self), table.n_rows, self.width(response)), kind)

        def ask(position: int) -> NDArray[Any]:
            return self.answer(position, table, response, owner)

        few = table.n_rows * len(self) < FEW_ANSWERS
        for position, answer in enumerate(where_worthwhile(ask, ask, range(len(self)), 1 if few else threads, "threads")):
            out[position] = answer
        return out.transpose(1, 0, 2)

    def check_soft(self, owner: str) -> None:
        """Raise unless every member gives probabilities."""
        for name, member in zip(self.names, self.members, strict=True):
            if not hasattr(member, "predict_proba"):
                raise ParameterError(without_probabilities(name, member, owner))

    def answer(self, position: int, table: AnyTable, response: Response, owner: str, rows: Integers | None = None) -> NDArray[Any]:
        """What one member predicts for some rows, or of all, (n, width): votes as integers, all else as floats.

        Of a member without probabilities these are its votes, 1 for a class and 0 for others.
        """
        member = NamedMember(self.names[position], self.members[position], self.columns[position], self.labels[position])
        answer = named_error(owner, member, lambda: self._answer(position, member, table, response, rows), "could not be asked")
        if response != "votes" and not np.isfinite(answer).all():
            odd = np.flatnonzero(~np.isfinite(answer).all(axis=1))
            raise MemberError(
                f"{owner}: member {member.name!r} ({type(member.estimator).__name__}) says NaN or infinity of {len(odd):,} rows, first of "
                f"row {odd[0]}. Leave it out, or look at what it was trained on."
            )
        return answer

    def _answer(self, position: int, member: NamedMember, table: AnyTable, response: Response, rows: Integers | None) -> NDArray[Any]:
        estimator, X = member.estimator, table.take(member.columns, rows)
        X = np.asarray(X) if self.bare[position] and table.header.names is not None else X
        n_rows = table.n_rows if rows is None else len(rows)
        if response == "numbers":
            predicted = np.asarray(estimator.predict(X), np.float64)
            if predicted.size != n_rows:
                raise ValueError(f"it predicts an array of shape {predicted.shape} for {n_rows} rows, and one number for each is needed")
            return predicted.reshape(n_rows, 1)
        if response == "scores":
            # One that was trained on a single class has nothing to decide.
            decides = hasattr(estimator, "decision_function") or len(self.class_positions(position)) > 1
            predicted = np.asarray(estimator.decision_function(X), np.float64) if decides else np.zeros((n_rows, 1))
            return self._scores(position, predicted, n_rows)
        if response == "probabilities" and hasattr(estimator, "predict_proba"):
            predicted = np.asarray(estimator.predict_proba(X), np.float64)
            positions = self.class_positions(position)
            if predicted.shape != (n_rows, len(positions)):
                raise ValueError(f"its probabilities have the shape {predicted.shape}, where {(n_rows, len(positions))} was expected")
            if np.array_equal(positions, np.arange(self.n_classes)):
                return predicted
            out = np.zeros((n_rows, self.n_classes))
            out[:, positions] = predicted
            return out
        votes = self._numbers_of(position, np.asarray(estimator.predict(X)))
        return np.eye(self.n_classes)[votes] if response == "probabilities" else votes.reshape(-1, 1)

    def _scores(self, position: int, predicted: Floats, n_rows: int) -> Floats:
        """Scores of all classes; a class that a member has never seen has the smallest of the others."""
        positions = self.class_positions(position)
        columns = np.column_stack([-predicted, predicted]) if predicted.ndim == 1 else predicted
        if columns.shape != (n_rows, len(positions)):
            raise ValueError(
                f"its decision function has the shape {predicted.shape}, and one score for each of {len(positions)} classes is needed; "
                "support vector machines give that with decision_function_shape='ovr'"
            )
        out = np.repeat(columns.min(axis=1, keepdims=True), self.n_classes, axis=1)
        out[:, positions] = columns
        if self.n_classes > 2:
            return out
        return out[:, 1:] if len(positions) == 2 else out[:, 1:] - out[:, :1]

    def class_positions(self, position: int, owner: str = "Pool") -> Integers:
        """The numbers of the classes that a member knows, in its order."""
        own = getattr(self.members[position], "classes_", None)
        known = np.asarray(self.classes) if own is None else np.asarray(own)
        if known.ndim != 1 or isinstance(own, list):
            raise MemberError(f"{owner}: member {self.names[position]!r} has several targets, and one is needed.")
        return self._numbers_of(position, known, owner)

    def _numbers_of(self, position: int, labels: NDArray[Any], owner: str = "Pool") -> Integers:
        """The numbers of classes from labels as a member speaks of them."""
        own, classes = self.labels[position], np.asarray(self.classes)
        if own is not None:
            labels = own[labels.astype(np.int64)]
        if are_numbers(labels, classes):
            return labels.reshape(-1).astype(np.int64, copy=False)
        where = class_indices(labels.reshape(-1), classes)
        if where.min(initial=0) < 0:
            new = labels.reshape(-1)[where < 0].tolist()[0]
            raise MemberError(
                f"{owner}: member {self.names[position]!r} ({type(self.members[position]).__name__}) knows the class {new!r}, "
                f"which is not among the classes {classes.tolist()[:10]}. Train all members on labels of the same kind."
            )
        return where


def are_numbers(labels: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Whether labels are positions among the classes as they are, as in the whole numbers from 0 on."""
    if labels.dtype.kind not in "iu" or classes.dtype.kind not in "iu" or not np.array_equal(classes, np.arange(len(classes))):
        return False
    # One look at each label: as a number without a sign, one below zero is above all.
    return bool(labels.view(labels.dtype.str.replace("i", "u")).max(initial=0) < len(classes))


def class_indices(labels: NDArray[Any], classes: NDArray[Any]) -> Integers:
    """The place of each label among classes in order; -1 where it is none of them."""
    if labels.dtype.kind in "biuf" and classes.dtype.kind in "biuf":
        where = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        return np.where(classes[where] == labels, where, -1).astype(np.int64)
    number = {label: position for position, label in enumerate(classes.tolist())}
    return np.fromiter((number.get(label, -1) for label in labels.tolist()), np.int64, len(labels))


def joint_classes(named: Sequence[NamedMember], classes: NDArray[Any] | None = None) -> NDArray[Any]:
    """All labels that trained members know, and those that are given, in order."""
    known = set() if classes is None else set(np.asarray(classes).tolist())
    for member in named:
        own = np.asarray(getattr(member.estimator, "classes_", []))
        own = own if member.labels is None else member.labels[own.astype(np.int64)]
        known |= set(own.tolist())
    if classes is not None and len(known) == len(classes):
        return classes
    try:
        ordered = sorted(known)
    except TypeError:
        raise ParameterError(
            f"Members and y have labels of kinds that cannot be compared, such as {', '.join(map(repr, list(known)[:3]))}. "
            "Train all members on labels of the same kind."
        ) from None
    plain = np.array(ordered)
    return plain if plain.dtype.kind in "biufUS" and (classes is None or classes.dtype.kind != "O") else np.array(ordered, object)


def header_of(named: Sequence[NamedMember]) -> Header | None:
    """The columns that trained members know: all names that any of them was trained with, or else how many there were."""
    known = [member.estimator for member in named if member.columns is None]
    names = [str(name) for one in known for name in getattr(one, "feature_names_in_", ())]
    if names:
        distinct = tuple(dict.fromkeys(names))
        return Header(distinct, len(distinct))
    counts = [int(one.n_features_in_) for one in known if hasattr(one, "n_features_in_")]
    return Header(None, max(counts)) if counts else None


def header_for(estimators: Any, named: Sequence[NamedMember], given: Header) -> Header:
    """The columns that trained members are asked with, where a table with the header `given` is at hand.

    Members of an ensemble see positions of its columns, others find theirs by name.
    """
    if hasattr(estimators, "estimators_"):
        return header_of([NamedMember("", estimators)]) or given
    return given if given.names is not None else header_of(named) or given


def _columns_by_name(member: NamedMember, header: Header | None, owner: str) -> Integers | None:
    """Where a trained member finds its columns in a table with such a header; None where it sees all in their order."""
    own = getattr(member.estimator, "feature_names_in_", None)
    if member.columns is not None or own is None or header is None or header.names is None or tuple(own) == header.names:
        return member.columns
    where = {name: position for position, name in enumerate(header.names)}
    missing = [str(name) for name in own if str(name) not in where]
    if missing:
        raise MemberError(
            f"{owner}: member {member.name!r} ({type(member.estimator).__name__}) was trained with the column {missing[0]!r}, which the "
            f"table does not have. Its columns are {', '.join(map(repr, header.names[:10]))}."
        )
    return np.array([where[str(name)] for name in own], np.int64)


def _is_bare(estimator: Any) -> bool:
    """Whether an estimator was trained on a table without names."""
    return hasattr(estimator, "n_features_in_") and not hasattr(estimator, "feature_names_in_")


def without_probabilities(name: str, estimator: Any, owner: str) -> str:
    """What is predicted for a member that gives no probabilities where they are needed."""
    return (
        f"{owner}: member {name!r} ({type(estimator).__name__}) has no predict_proba, and probabilities are needed. Wrap it in "
        "sklearn.calibration.CalibratedClassifierCV, or let members vote by the classes that they predict."
    )


def trained_pool(
    named: Sequence[NamedMember],
    X: Any,
    target: Target,
    weight: Floats | None,
    *,
    seed: int,
    threads: int,
    owner: str,
    verbose: int | bool = 0,
) -> Pool:
    """Copies of the members, trained on a table: side by side where that is worth it, the same for any number of threads."""
    check_weights_are_taken(named, weight, owner)
    table = X if isinstance(X, AnyTable) else open_table_of(X, None, owner)
    check_lengths(owner, table.n_rows, target.n_rows)
    task = MemberTask(table, target, weight, owner)
    own_threads = max(1, threads // max(1, len(named)))

    def alone(position: int) -> FittedMember:
        return fit_member(named[position], task, seed, threads)

    def beside(position: int) -> FittedMember:
        return fit_member(named[position], task, seed, own_threads)

    fitted = where_worthwhile(alone, beside, range(len(named)), threads, "threads")
    return pool_of(named, list(with_progress_of(fitted, len(named), owner, verbose)), table.header, target.classes)


def with_progress_of(members: Iterable[T], count: int, owner: str, verbose: int | bool, noun: str = "member") -> Iterator[T]:
    """The same, with a line of progress if that is asked for."""
    if not verbose:
        yield from members
        return
    began = time.perf_counter()
    steps = (BaggedMember(number, member, time.perf_counter() - began) for number, member in enumerate(members, 1))
    yield from (step.member for step in with_progress(steps, count, owner, noun=noun))


def pool_of(named: Sequence[NamedMember], fitted: Sequence[FittedMember], header: Header, classes: NDArray[Any] | None) -> Pool:
    """Members that were trained here, as a pool."""
    return Pool(
        tuple(member.name for member in named),
        tuple(one.estimator for one in fitted),
        tuple(member.columns for member in named),
        header,
        classes,
        tuple(one.labels for one in fitted),
        (False,) * len(named),
    )
