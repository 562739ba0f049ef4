"""A pool: trained members of any kind that are asked together. What they say is one array: rows first, members second, classes third."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import MemberError, ParameterError
from woodwind.base.sound import sound, sound_labels
from woodwind.data.header import Header
from woodwind.ensemble.bag import Trained
from woodwind.ensemble.progress import with_progress
from woodwind.estimators.fitting import Lesson, Taught, check_weights_are_taken, named_fault, teach
from woodwind.estimators.members import FEW_ANSWERS, TableOfAny, where_worthwhile
from woodwind.estimators.model_checks import require_model
from woodwind.estimators.roster import Named, are_fitted, default_pool, named_members, pairs_of
from woodwind.estimators.skin import check_lengths
from woodwind.estimators.target import Target

__all__ = [
    "Named",
    "Pool",
    "Saying",
    "are_fitted",
    "default_pool",
    "header_for",
    "header_of",
    "joint_classes",
    "named_members",
    "open_table_of",
    "pairs_of",
    "told_of",
    "trained_pool",
    "without_probabilities",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
T = TypeVar("T")
# What members are asked for. Probabilities are (n, K), votes and numbers (n, 1), scores (n, 1) for two classes and else (n, K).
Saying = Literal["probabilities", "votes", "numbers", "scores"]


def open_table_of(X: Any, header: Header | None, owner: str) -> TableOfAny:
    """Any table, of which members take rows and columns; with the header of the training table its columns are found by name."""
    return TableOfAny.of(X, header, owner)


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
        """Members are models, each with a name and the columns that it sees; gives itself, or raises DataError."""
        lengths = {len(each) for each in (self.names, self.columns, self.labels, self.bare)}
        sound(lengths == {len(self.members)} and len(self.members) > 0, "members have not one name each")
        sound(len(set(self.names)) == len(self.names), "two members have one name")
        if self.classes is not None:
            sound_labels(self.classes, "a pool")
        n_columns = None if self.header is None else self.header.n_columns
        for name, member, columns, labels in zip(self.names, self.members, self.columns, self.labels, strict=True):
            what, known = f"member {name!r}", self.classes
            if columns is not None:
                inside = columns.ndim == 1 and columns.size > 0 and (columns >= 0).all()
                sound(inside and (n_columns is None or (columns < n_columns).all()), f"{what} sees a column that is not there")
            if labels is not None:
                sound_labels(labels, what)
                sound(known is not None and set(labels.tolist()) <= set(known.tolist()), f"{what} has labels that the others do not know")
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
    def of_fitted(cls, named: Sequence[Named], header: Header | None, classes: NDArray[Any] | None, owner: str) -> "Pool":
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
        for place in range(len(pool) if classes is not None else 0):
            pool.class_places(place, owner)
        return pool

    def only(self, places: Iterable[int]) -> "Pool":
        """Some of the members, in the order that is given."""
        chosen = [int(place) for place in places]

        def some(all_of: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(all_of[place] for place in chosen)

        of_each = some(self.names), some(self.members), some(self.columns)
        return Pool(*of_each, self.header, self.classes, some(self.labels), some(self.bare))

    def named(self) -> list[Named]:
        """The members with their names."""
        return [Named(*one) for one in zip(self.names, self.members, self.columns, self.labels, strict=True)]

    # What members say, (n, m, ...).

    def votes(self, X: Any, owner: str, threads: int = 1) -> NDArray[Any]:
        """The numbers of the classes that members predict, (n, m): short ones where they suffice, which is a quarter of the memory."""
        kind = np.int16 if self.n_classes <= np.iinfo(np.int16).max else np.int64
        return self._gathered(X, "votes", owner, threads, kind)[:, :, 0]

    def probabilities(self, X: Any, owner: str, threads: int = 1, hard_where_needed: bool = False) -> Floats:
        """Probabilities of all classes, (n, m, K); a class that a member has never seen has none.

        A member without predict_proba is an error, or says 1 for the class that it predicts if this is `hard_where_needed`.
        """
        return self.said(X, "probabilities", owner, threads, hard_where_needed)

    def scores(self, X: Any, owner: str, threads: int = 1) -> Floats:
        """What decision functions say, (n, m, K); (n, m, 1) for two classes."""
        return self.said(X, "scores", owner, threads)

    def numbers(self, X: Any, owner: str, threads: int = 1) -> Floats:
        """The numbers that members predict, (n, m)."""
        return np.asarray(self.said(X, "numbers", owner, threads)[:, :, 0])

    def width(self, saying: Saying) -> int:
        """Numbers that a member says of a row."""
        if saying == "probabilities" or (saying == "scores" and self.n_classes > 2):
            return self.n_classes
        return 1

    def said(self, X: Any, saying: Saying, owner: str, threads: int = 1, hard_where_needed: bool = False) -> Floats:
        """What all members say of the rows of a table, (n, m, width)."""
        if saying == "probabilities" and not hard_where_needed:
            self.check_soft(owner)
        return self._gathered(X, saying, owner, threads, np.float64)

    def _gathered(self, X: Any, saying: Saying, owner: str, threads: int, kind: type) -> NDArray[Any]:
        """What all members say, as numbers of a kind."""
        table = X if isinstance(X, TableOfAny) else open_table_of(X, self.header, owner)
        out: NDArray[Any] = np.empty((len(self), table.n_rows, self.width(saying)), kind)

        def ask(place: int) -> NDArray[Any]:
            return self.answer(place, table, saying, owner)

        few = table.n_rows * len(self) < FEW_ANSWERS
        for place, answer in enumerate(where_worthwhile(ask, ask, range(len(self)), 1 if few else threads, "threads")):
            out[place] = answer
        return out.transpose(1, 0, 2)

    def check_soft(self, owner: str) -> None:
        """Raise unless every member gives probabilities."""
        for name, member in zip(self.names, self.members, strict=True):
            if not hasattr(member, "predict_proba"):
                raise ParameterError(without_probabilities(name, member, owner))

    def answer(self, place: int, table: TableOfAny, saying: Saying, owner: str, rows: Integers | None = None) -> NDArray[Any]:
        """What one member says of some rows, or of all, (n, width): votes as integers, all else as floats.

        Of a member without probabilities these are its votes, 1 for a class and 0 for others.
        """
        member = Named(self.names[place], self.members[place], self.columns[place], self.labels[place])
        answer = named_fault(owner, member, lambda: self._answer(place, member, table, saying, rows), "could not be asked")
        if saying != "votes" and not np.isfinite(answer).all():
            odd = np.flatnonzero(~np.isfinite(answer).all(axis=1))
            raise MemberError(
                f"{owner}: member {member.name!r} ({type(member.estimator).__name__}) says NaN or infinity of {len(odd):,} rows, first of "
                f"row {odd[0]}. Leave it out, or look at what it was trained on."
            )
        return answer

    def _answer(self, place: int, member: Named, table: TableOfAny, saying: Saying, rows: Integers | None) -> NDArray[Any]:
        estimator, X = member.estimator, table.take(member.columns, rows)
        X = np.asarray(X) if self.bare[place] and table.header.names is not None else X
        n_rows = table.n_rows if rows is None else len(rows)
        if saying == "numbers":
            said = np.asarray(estimator.predict(X), np.float64)
            if said.size != n_rows:
                raise ValueError(f"it predicts an array of shape {said.shape} for {n_rows} rows, and one number for each is needed")
            return said.reshape(n_rows, 1)
        if saying == "scores":
            # One that was trained on a single class has nothing to decide.
            decides = hasattr(estimator, "decision_function") or len(self.class_places(place)) > 1
            said = np.asarray(estimator.decision_function(X), np.float64) if decides else np.zeros((n_rows, 1))
            return self._scores(place, said, n_rows)
        if saying == "probabilities" and hasattr(estimator, "predict_proba"):
            said = np.asarray(estimator.predict_proba(X), np.float64)
            places = self.class_places(place)
            if said.shape != (n_rows, len(places)):
                raise ValueError(f"its probabilities have the shape {said.shape}, where {(n_rows, len(places))} was expected")
            if np.array_equal(places, np.arange(self.n_classes)):
                return said
            out = np.zeros((n_rows, self.n_classes))
            out[:, places] = said
            return out
        votes = self._numbers_of(place, np.asarray(estimator.predict(X)))
        return np.eye(self.n_classes)[votes] if saying == "probabilities" else votes.reshape(-1, 1)

    def _scores(self, place: int, said: Floats, n_rows: int) -> Floats:
        """Scores of all classes; a class that a member has never seen has the smallest of the others."""
        places = self.class_places(place)
        columns = np.column_stack([-said, said]) if said.ndim == 1 else said
        if columns.shape != (n_rows, len(places)):
            raise ValueError(
                f"its decision function has the shape {said.shape}, and one score for each of {len(places)} classes is needed; "
                "support vector machines give that with decision_function_shape='ovr'"
            )
        out = np.repeat(columns.min(axis=1, keepdims=True), self.n_classes, axis=1)
        out[:, places] = columns
        if self.n_classes > 2:
            return out
        return out[:, 1:] if len(places) == 2 else out[:, 1:] - out[:, :1]

    def class_places(self, place: int, owner: str = "Pool") -> Integers:
        """The numbers of the classes that a member knows, in its order."""
        own = getattr(self.members[place], "classes_", None)
        known = np.asarray(self.classes) if own is None else np.asarray(own)
        if known.ndim != 1 or isinstance(own, list):
            raise MemberError(f"{owner}: member {self.names[place]!r} has several targets, and one is needed.")
        return self._numbers_of(place, known, owner)

    def _numbers_of(self, place: int, labels: NDArray[Any], owner: str = "Pool") -> Integers:
        """The numbers of classes from labels as a member speaks of them."""
        own, classes = self.labels[place], np.asarray(self.classes)
        if own is not None:
            labels = own[labels.astype(np.int64)]
        if are_numbers(labels, classes):
            return labels.reshape(-1).astype(np.int64, copy=False)
        where = class_numbers(labels.reshape(-1), classes)
        if where.min(initial=0) < 0:
            new = labels.reshape(-1)[where < 0].tolist()[0]
            raise MemberError(
                f"{owner}: member {self.names[place]!r} ({type(self.members[place]).__name__}) knows the class {new!r}, "
                f"which is not among the classes {classes.tolist()[:10]}. Train all members on labels of the same kind."
            )
        return where


def are_numbers(labels: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Whether labels are places among the classes as they are, as in the whole numbers from 0 on."""
    if labels.dtype.kind not in "iu" or classes.dtype.kind not in "iu" or not np.array_equal(classes, np.arange(len(classes))):
        return False
    # One look at each label: as a number without a sign, one below zero is above all.
    return bool(labels.view(labels.dtype.str.replace("i", "u")).max(initial=0) < len(classes))


def class_numbers(labels: NDArray[Any], classes: NDArray[Any]) -> Integers:
    """The place of each label among classes in order; -1 where it is none of them."""
    if labels.dtype.kind in "biuf" and classes.dtype.kind in "biuf":
        where = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        return np.where(classes[where] == labels, where, -1).astype(np.int64)
    number = {label: place for place, label in enumerate(classes.tolist())}
    return np.fromiter((number.get(label, -1) for label in labels.tolist()), np.int64, len(labels))


def joint_classes(named: Sequence[Named], classes: NDArray[Any] | None = None) -> NDArray[Any]:
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


def header_of(named: Sequence[Named]) -> Header | None:
    """The columns that trained members know: all names that any of them was trained with, or else how many there were."""
    known = [member.estimator for member in named if member.columns is None]
    names = [str(name) for one in known for name in getattr(one, "feature_names_in_", ())]
    if names:
        distinct = tuple(dict.fromkeys(names))
        return Header(distinct, len(distinct))
    counts = [int(one.n_features_in_) for one in known if hasattr(one, "n_features_in_")]
    return Header(None, max(counts)) if counts else None


def header_for(estimators: Any, named: Sequence[Named], given: Header) -> Header:
    """The columns that trained members are asked with, where a table with the header `given` is at hand.

    Members of an ensemble see places of its columns, others find theirs by name.
    """
    if hasattr(estimators, "estimators_"):
        return header_of([Named("", estimators)]) or given
    return given if given.names is not None else header_of(named) or given


def _columns_by_name(member: Named, header: Header | None, owner: str) -> Integers | None:
    """Where a trained member finds its columns in a table with such a header; None where it sees all in their order."""
    own = getattr(member.estimator, "feature_names_in_", None)
    if member.columns is not None or own is None or header is None or header.names is None or tuple(own) == header.names:
        return member.columns
    where = {name: place for place, name in enumerate(header.names)}
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
    """What is said of a member that gives no probabilities where they are needed."""
    return (
        f"{owner}: member {name!r} ({type(estimator).__name__}) has no predict_proba, and probabilities are needed. Wrap it in "
        "sklearn.calibration.CalibratedClassifierCV, or let members vote by the classes that they predict."
    )


def trained_pool(
    named: Sequence[Named],
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
    table = X if isinstance(X, TableOfAny) else open_table_of(X, None, owner)
    check_lengths(owner, table.n_rows, target.n_rows)
    lesson = Lesson(table, target, weight, owner)
    own_threads = max(1, threads // max(1, len(named)))

    def alone(place: int) -> Taught:
        return teach(named[place], lesson, seed, threads)

    def beside(place: int) -> Taught:
        return teach(named[place], lesson, seed, own_threads)

    taught = where_worthwhile(alone, beside, range(len(named)), threads, "threads")
    return pool_of(named, list(told_of(taught, len(named), owner, verbose)), table.header, target.classes)


def told_of(members: Iterable[T], count: int, owner: str, verbose: int | bool, noun: str = "member") -> Iterator[T]:
    """The same, with a line of progress if that is asked for."""
    if not verbose:
        yield from members
        return
    began = time.perf_counter()
    steps = (Trained(number, member, time.perf_counter() - began) for number, member in enumerate(members, 1))
    yield from (step.member for step in with_progress(steps, count, owner, noun=noun))


def pool_of(named: Sequence[Named], taught: Sequence[Taught], header: Header, classes: NDArray[Any] | None) -> Pool:
    """Members that were trained here, as a pool."""
    return Pool(
        tuple(member.name for member in named),
        tuple(one.estimator for one in taught),
        tuple(member.columns for member in named),
        header,
        classes,
        tuple(one.labels for one in taught),
        (False,) * len(named),
    )
