"""Members of a bag: what each of them is trained on, and members of any kind, each with a table of its own."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from woodwind.base.errors import MemberError, MemberTypeError
from woodwind.base.random_streams import key
from woodwind.base.validate import require, require_labels
from woodwind.data.tables.frames import open_table
from woodwind.data.tables.schema import Header
from woodwind.ensemble.bag import sum_of
from woodwind.ensemble.combine import ballots, tie_keys
from woodwind.ensemble.resampling import Resampling, class_probabilities, drawn_parameters, flipped, smeared_classes, smeared_targets
from woodwind.estimators.base.model_checks import ask_model, require_model
from woodwind.estimators.base.target import Target
from woodwind.estimators.boosting.encoded_table import EncodedTable
from woodwind.estimators.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.params.check import check

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
T = TypeVar("T")
# What members are asked for: numbers (n, 1); probabilities (n, K); ballots (n, K + 1); what their decision_function says.
Kind = Literal["numbers", "probabilities", "ballots", "decisions"]

# Estimators of these rooms of scikit-learn spend their time without the interpreter lock: threads share the table and need no copies.
WITHOUT_LOCK = ("woodwind.", "sklearn.tree.", "sklearn.ensemble.", "sklearn.svm.", "sklearn.neighbors.")
# Seconds of work that is left from which other threads or processes are worth being started: processes take about a second.
WORTH_THREADS, WORTH_PROCESSES = 0.05, 2.0
# Fewer rows times members than this are predicted by one thread.
FEW_ANSWERS = 20_000


@dataclass(frozen=True, eq=False)
class BagTask:
    """What is to be trained."""

    base: Any  # the estimator, not fitted
    resampling: Resampling
    target: Target
    weight: Floats | None  # (n,) of a row on top of how often it is drawn; None for one
    count: int  # members of the finished bag
    owner: str
    smear: float = 0.0
    flip_rate: float = 0.0
    distributions: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self, member: int) -> dict[str, Any]:
        """The parameters in which a member differs from the estimator that was given."""
        drawn = drawn_parameters(self.distributions, self.resampling.seed, member)
        # Where a part of the estimator is drawn, its parts are known only then.
        names = _member_seeds(clone(self.base).set_params(**drawn)) if any(map(is_estimator, drawn.values())) else self._seeds
        return drawn | {name: key(self.resampling.seed, "member", member, name) % (1 << 31) for name in names}

    @cached_property
    def _seeds(self) -> tuple[str, ...]:
        return _member_seeds(self.base)

    def estimator(self, member: int) -> Any:
        """A member before it is trained."""
        parameters = self.parameters(member)
        return clone(self.base).set_params(**parameters) if parameters else clone(self.base)

    def target_of(self, member: int) -> Target:
        """The target that a member learns: the true one, unless it is flipped or smeared."""
        if self.smear == 0.0 and self.flip_rate == 0.0:
            return self.target
        units, seed = self.resampling.units, self.resampling.seed
        # Rows that are not there take part in nothing.
        present = np.arange(self.target.n_rows) if units is None else np.flatnonzero(units)
        y, times = self.target.y[present], None if units is None else units[present].astype(np.float64)
        if self.target.classes is None:
            mean = np.average(y, weights=times)
            spread = float(np.sqrt(np.average((y - mean) ** 2, weights=times)))
            y = smeared_targets(y, spread, self.smear, seed, member)
        else:
            probabilities = class_probabilities(y, times, self.target.n_classes)
            y = smeared_classes(y, probabilities, self.smear, seed, member) if self.smear else y
            y = flipped(y, probabilities, self.flip_rate, seed, member) if self.flip_rate else y
        out = self.target.y.copy()
        out[present] = y
        return Target(out, self.target.classes)

    def named(self, member: int, call: Callable[[], T]) -> T:
        """What the call gives; an error in it names the member."""
        try:
            return call()
        except Exception as error:
            drawn, rows = drawn_parameters(self.distributions, self.resampling.seed, member), self.resampling.rows(member)
            labels = self.target_of(member).y[rows]
            alone = self.target.classes is not None and bool((labels == labels[0]).all())
            hint = " All rows that were drawn for it are of one class: raise max_samples." if alone else ""
            with_these = f" with {', '.join(f'{name}={value!r}' for name, value in drawn.items())}" if drawn else ""
            kind = MemberTypeError if isinstance(error, TypeError) else MemberError
            raise kind(
                f"{self.owner}: member {member} of {self.count} ({type(self.base).__name__}{with_these}) could not be trained. "
                f"{type(error).__name__}: {error}{hint}"
            ) from error


def is_estimator(value: Any) -> bool:
    """Whether it has parameters of its own."""
    return hasattr(value, "get_params")


def _member_seeds(estimator: Any) -> tuple[str, ...]:
    """The parameters of an estimator and of its parts that are seeds."""
    return tuple(name for name in estimator.get_params() if name == "random_state" or name.endswith("__random_state"))


class BaggedMembers(Protocol):
    """The trained members of a bag."""

    def __len__(self) -> int:
        """How many there are."""

    def estimators(self) -> list[Any]:
        """Each of them as an estimator of its own."""

    def total(self, X: Any, kind: Kind, owner: str, threads: int) -> Floats:
        """The sum of what all members predict for the rows of a table."""

    def staged(self, X: Any, kind: Kind, owner: str, threads: int) -> Iterator[Floats]:
        """The sums of what the first member, the first two, and so on say."""


def takes_weight(estimator: Any) -> bool:
    """Whether the estimator can be trained with weights of rows."""
    return bool(has_fit_parameter(estimator, "sample_weight"))


def as_table(X: Any) -> Any:
    """A table whose rows and columns can be taken: lists become arrays, and sparse matrices are stored by row."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    if isinstance(X, list | tuple):
        array = np.asarray(X)
        # NumPy turns numbers among strings into strings.
        return np.array(X, dtype=object) if array.dtype.kind in "US" else array
    is_frame = hasattr(X, "columns") or hasattr(X, "column_names")
    return np.asarray(X) if hasattr(X, "__array__") and not is_frame else X


@dataclass(frozen=True, eq=False)
class AnyTable:
    """A table as it came, of which members take rows and columns."""

    X: Any
    header: Header
    n_rows: int
    encoded: EncodedTable | None = None  # its codes, where all members can be trained from these

    @classmethod
    def of(cls, X: Any, header: Header | None, owner: str) -> "AnyTable":
        """Look at a table; with the header of the training table its columns are found by name."""
        raw = open_table(X)
        table = as_table(X)
        if header is not None:
            positions = header.positions(raw, owner)
            if positions != list(range(raw.n_columns)):
                table = _safe_indexing(table, np.array(positions), axis=1)
        return cls(table, header or Header(raw.names, raw.n_columns), raw.n_rows)

    def take(self, columns: Integers | None, rows: Integers | None = None) -> Any:
        """Some columns, or all; of some rows, or of all."""
        X = self.X
        if columns is not None:
            # Columns that have names cannot be given twice.
            X = _safe_indexing(X, columns if self.header.names is None else list(dict.fromkeys(columns.tolist())), axis=1)
        return X if rows is None else _safe_indexing(X, rows)


@dataclass(frozen=True, eq=False)
class EstimatorMembers:
    """Members of any kind: estimators, each trained on its own."""

    header: Header
    resampling: Resampling
    classes: NDArray[Any] | None
    fitted: tuple[Any, ...]

    def check(self) -> "EstimatorMembers":
        """Members are models, and see columns that are there; returns self, or raises DataError."""
        require(len(self.fitted) > 0, "there are no members")
        require(self.resampling.n_columns == self.header.n_columns, "members see other columns than there are")
        if self.classes is not None:
            require_labels(self.classes, "a bag")
        for number, member in enumerate(self.fitted):
            # Columns that have names are not given twice.
            twice = self.resampling.replace_columns and self.header.names is not None
            seen = np.unique(self.resampling.columns(number)).size if twice else self.resampling.n_drawn_columns
            require_model(member, f"member {number}", classes=self.classes, n_columns=seen)
        return self

    def __len__(self) -> int:
        return len(self.fitted)

    def estimators(self) -> list[Any]:
        """Each of them."""
        return list(self.fitted)

    def columns(self, member: int) -> Integers | None:
        """The columns that a member sees; None for all."""
        return None if self.resampling.all_columns else self.resampling.columns(member)

    def answer(self, member: int, table: AnyTable, kind: Kind, rows: Integers | None = None) -> Floats:
        """What one member predicts for some rows, or of all."""
        estimator, X = self.fitted[member], table.take(self.columns(member), rows)
        return ask_model(estimator, lambda: self._answer(estimator, member, X, kind))

    def _answer(self, estimator: Any, member: int, X: Any, kind: Kind) -> Floats:
        if kind == "numbers":
            return np.asarray(estimator.predict(X), np.float64).reshape(-1, 1)
        if kind == "decisions":
            return np.asarray(estimator.decision_function(X), np.float64)
        classes = np.asarray(self.classes)
        if kind == "ballots":
            return ballots(np.searchsorted(classes, np.asarray(estimator.predict(X))), tie_keys(self.resampling.seed, member, len(classes)))
        predicted = np.asarray(estimator.predict_proba(X), np.float64)
        if len(estimator.classes_) == len(classes):
            return predicted
        out = np.zeros((len(predicted), len(classes)))
        out[:, np.searchsorted(classes, estimator.classes_)] = predicted
        return out

    def answers(self, table: AnyTable, kind: Kind, threads: int) -> Iterator[Floats]:
        """What each member predicts, in their order."""
        jobs = 1 if table.n_rows * len(self) < FEW_ANSWERS else min(threads, len(self))
        yield from in_parallel(lambda member: self.answer(member, table, kind), range(len(self)), jobs, "threads")

    def total(self, X: Any, kind: Kind, owner: str, threads: int) -> Floats:
        """The sum of what all members predict."""
        return sum_of(self.answers(AnyTable.of(X, self.header, owner), kind, threads))

    def staged(self, X: Any, kind: Kind, owner: str, threads: int) -> Iterator[Floats]:
        """The running sums."""
        total: Any = 0.0
        for answer in self.answers(AnyTable.of(X, self.header, owner), kind, threads):
            total = total + answer
            yield total

    def out_of_bag(self, table: AnyTable, kind: Kind, threads: int) -> Iterator[tuple[Integers, Floats]]:
        """For each member the rows that it has not seen, and what it predicts for them."""

        def of_member(member: int) -> tuple[Integers, Floats]:
            rows = np.flatnonzero(self.resampling.counts(member) == 0)
            return rows, self.answer(member, table, kind, rows) if rows.size else np.zeros((0, 1))

        return ((rows, answer) for rows, answer in in_parallel(of_member, range(len(self)), threads, "threads") if rows.size)


def trained(task: BagTask, table: AnyTable, numbers: Sequence[int], threads: int) -> Iterator[Any]:
    """Train members one after another, or side by side where that is worth it."""

    def train(member: int) -> Any:
        return task.named(member, lambda: train_one(task, table, member))

    def train_beside(member: int) -> Any:
        return task.named(member, lambda: train_one(task, table, member, beside=True))

    name = f"{type(task.base).__module__}."
    prefer: Literal["threads", "processes"] = "threads" if name.startswith(WITHOUT_LOCK) else "processes"
    return where_worthwhile(train, train_beside, numbers, threads, prefer)


def where_worthwhile(
    alone: Callable[[int], T], beside: Callable[[int], T], numbers: Sequence[int], threads: int, prefer: Literal["threads", "processes"]
) -> Iterator[T]:
    """`alone(number)` for each number; as soon as the rest is worth it `beside(number)`, with others beside it. Both must give the same."""
    worth = WORTH_THREADS if prefer == "threads" else WORTH_PROCESSES
    # The first ones tell whether it is worth starting others.
    began, rest = time.perf_counter(), list(numbers)
    while rest:
        yield alone(rest.pop(0))
        each = (time.perf_counter() - began) / (len(numbers) - len(rest))
        if threads > 1 and each * len(rest) >= worth:
            yield from in_parallel(beside, rest, min(threads, len(rest)), prefer)
            return


def train_one(task: BagTask, table: AnyTable, member: int, beside: bool = False) -> Any:
    """Train one member on what was drawn for it, on one thread if there are others beside it."""
    resampling, labels = task.resampling, task.target_of(member).labels()
    columns = None if resampling.all_columns else resampling.columns(member)
    estimator = task.estimator(member)
    fit = partial(on_one_thread, estimator) if beside else estimator.fit
    if not takes_weight(task.base):
        rows = resampling.rows(member)
        return fit(table.take(columns, rows), labels[rows])
    weight = resampling.counts(member).astype(np.float64)
    weight = weight if task.weight is None else weight * task.weight
    more = {} if (weight == 1.0).all() else {"sample_weight": weight}
    if table.encoded is not None:
        return fit(table.encoded, labels, **more)
    rows = np.flatnonzero(weight)
    # Without a copy rows that were not drawn are there with a weight of zero. They are left out where they are the larger part, or
    # where a class would be there without any weight, which not every estimator can bear.
    if len(rows) >= len(weight) / 2 and (task.target.classes is None or len(np.unique(labels[rows])) == task.target.n_classes):
        return fit(table.take(columns), labels, **more)
    return fit(table.take(columns, rows), labels[rows], sample_weight=weight[rows])


def on_one_thread(estimator: Any, *given: Any, **more: Any) -> Any:
    """Fit; an estimator of ours that would take all threads takes one, which does not change the model."""
    return on_threads_of(1, estimator, *given, **more)


def on_threads_of(threads: int, estimator: Any, *given: Any, **more: Any) -> Any:
    """Fit; an estimator of ours that would take all threads takes so many, which does not change the model."""
    open_ended = type(estimator).__module__.startswith("woodwind.") and getattr(estimator, "n_jobs", 1) is None
    if not open_ended:
        return estimator.fit(*given, **more)
    estimator.n_jobs = threads
    try:
        return estimator.fit(*given, **more)
    finally:
        estimator.n_jobs = None


def shared_codes(task: BagTask, X: Any, given: Floats | None, threads: int) -> EncodedTable | None:
    """The codes of the table for members that boost; None where they need the table itself, or are of other kinds."""
    base = task.base
    if type(base) not in (GradientBoostingClassifier, GradientBoostingRegressor) or not task.resampling.all_columns:
        return None
    # A model to start from, a scorer and linear leaves look at the table; bins and categories that are drawn differ by member.
    coding = {"max_bins", "candidates", "categorical_features", "categorical_encoding"}
    drawn = (coding | {"init", "scoring", "linear_leaves"}) & set(task.distributions)
    if drawn or base.init is not None or base.scoring is not None or base.linear_leaves:
        return None
    return EncodedTable.of(X, check(base), given, threads, task.owner)


def in_parallel(call: Callable[[int], T], numbers: Iterable[int], jobs: int, prefer: str) -> Iterator[T]:
    """`call(number)` for each number, in their order, by threads or processes of joblib; a `parallel_config` around it is heeded."""
    if jobs <= 1:
        yield from map(call, numbers)
        return
    yield from Parallel(n_jobs=jobs, prefer=prefer, return_as="generator")(delayed(call)(number) for number in numbers)
