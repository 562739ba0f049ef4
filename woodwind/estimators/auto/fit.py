"""`woodwind.fit`: a table with its target in it, or a file of one, to a trained ensemble."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from woodwind.auto.checkpoint import Checkpoint
from woodwind.auto.clock import SUSPICION_SHARE, Clock
from woodwind.auto.events import Event, JobBegan, Message
from woodwind.auto.table_rows import WRITTEN
from woodwind.auto.training.affordable import affordable_columns
from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import JobError, ParameterError
from woodwind.base.formatting import counted
from woodwind.base.pool import usable_threads
from woodwind.data.blocks.block_table import BlockTable
from woodwind.data.quality.suspicions import Suspicion, suspicions
from woodwind.data.reading.files import is_path, read_table
from woodwind.data.reading.written_schema import GROUP, QUERY, TIME, WEIGHT, WrittenSchema
from woodwind.data.tables.frames import as_arrow
from woodwind.data.tables.roles import (
    Roles,
    frame_of,
    group_numbers,
    is_columns,
    query_numbers,
    some_columns,
    split_roles,
    table_of_columns,
)
from woodwind.data.tables.target_column import TargetColumn, read_target
from woodwind.estimators.auto.auto_ensemble import (
    AutoEnsembleClassifier,
    AutoEnsembleRegressor,
    check_checkpoint,
    check_for_target,
    clock_of,
)
from woodwind.estimators.auto.auto_ranker import AutoEnsembleRanker, query_notes
from woodwind.estimators.auto.several_targets import SeveralTargetsEnsemble
from woodwind.estimators.base.target import Target
from woodwind.params.auto import AutoParams, TableParams
from woodwind.params.check import check
from woodwind.params.describe import declared, entries
from woodwind.params.unknown import unknown_options

Fitted: TypeAlias = AutoEnsembleClassifier | AutoEnsembleRegressor | AutoEnsembleRanker
HELD_OUT = {
    "time": "Rows are held out in the order of {!r}: what is learned is earlier than what is scored.",
    "group": "Rows of one {!r} are held out together.",
    "query": "Rows of one {!r} are ranked, and held out together.",
}
OF_BLOCKS = (
    "The table is in blocks on disk: boosting alone is trained, columns of many categories are parted by sets, and nothing is looked for "
    "that may be odd about the data."
)
KINDS: dict[str, type[Fitted]] = {"regression": AutoEnsembleRegressor, "ranking": AutoEnsembleRanker}  # all others are of classes


@fill_docstring(parameters=entries(TableParams))
def fit(  # noqa: PLR0913  the names are the user's: there is no object to put them in
    table: Any,
    target: Any,
    *,
    task: str = "auto",
    group: str | None = None,
    query: str | None = None,
    time_column: str | None = None,
    weight: str | None = None,
    ignore: Any = (),
    schema: Any = None,
    drop_missing_target: bool = False,
    **options: Any,
) -> Fitted | SeveralTargetsEnsemble:
    """Train the best ensemble that a given time allows, from a table that holds its target.

    Parameters
    ----------
    {parameters}
    **options
        Those of `AutoEnsembleClassifier`: `time`, `models`, `metric`, `also`, `positive`, `threshold`, `max_size`, `exclude`,
        `checkpoint`, `resume`, `listener`, and `seed` and `threads`, which are the `random_state` and `n_jobs` of other estimators.

    Returns
    -------
    AutoEnsembleClassifier, AutoEnsembleRegressor or, with `query`, AutoEnsembleRanker; with several targets a SeveralTargetsEnsemble

    Examples
    --------
    >>> import woodwind
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True).frame
    >>> model = woodwind.fit(iris, "target", models=2)
    >>> model.predict(iris.head(2)).tolist()
    [0, 0]
    """
    targets = _names_of(target)
    model_options = _estimator_options(options)
    clock = clock_of({"time": 60.0, "models": None} | model_options)
    if isinstance(table, BlockTable):
        _check_blocks(table, targets, (weight, group or query), (time_column, list(ignore), schema, drop_missing_target))
        return _fit_blocks(table, targets[0], task, query, model_options, clock)
    check_checkpoint(model_options if len(targets) == 1 else {})
    table, known = _read(table, schema, clock)
    targets = _separated(targets, table)
    checkpoints = _checkpoints(model_options, len(targets))
    group, query, time_column, weight = _roles_of(known, {GROUP: group, QUERY: query, TIME: time_column, WEIGHT: weight})
    named = {"group": group, "query": query, "time_column": time_column, "weight": weight}
    ignored = [ignore] if isinstance(ignore, str) else list(ignore)
    _check_several(targets, named, ignored)
    jobs = []
    for name, checkpoint in zip(targets, checkpoints, strict=True):
        without = [*ignored, *(other for other in targets if other != name)]
        roles = split_roles(table, name, task=task, drop_missing_target=drop_missing_target, ignore=without, **named)
        jobs.append(_TargetJob.of(name, roles, model_options | checkpoint, len(targets) > 1))
    split = {role: str(name) for role, name in (("time", time_column), ("group", group), ("query", query)) if name is not None}
    found = _trained(jobs, clock, split, known)
    _remove_own(checkpoints, model_options)
    return found


def _remove_own(checkpoints: Sequence[dict[str, Any]], options: dict[str, Any]) -> None:
    """Remove the folders that several targets have beside the one that was given, which its owner removes."""
    if len(checkpoints) > 1 and isinstance(options.get("checkpoint"), Checkpoint):
        for one in checkpoints:
            one["checkpoint"].remove()


@dataclass(eq=False)
class _TargetJob:
    """One target, and what is known of it before its ensemble is trained."""

    target: str
    model: Any
    values: dict[str, Any]
    roles: Roles
    truth: Target
    clock_stopped: bool = False

    @classmethod
    def of(cls, target: str, roles: Roles, options: dict[str, Any], several: bool) -> "_TargetJob":
        """What is asked of a target, checked."""
        values = check(model := KINDS.get(roles.target.task, AutoEnsembleClassifier)(**options))
        truth = _truth(roles.target)
        with _naming(target if several else ""):
            check_for_target(values, truth, roles.queries is not None, model._owner)
        return cls(target, model, values, roles, truth)

    def train(self, clock: Clock, split: dict[str, str], columns: "_Columns", known: WrittenSchema | None) -> None:
        """Train the ensemble of this target."""
        roles = self.roles
        X = roles.X if columns.chosen is None else some_columns(roles.X, columns.chosen)
        self.model._train(
            self.values, clock, X, self.truth, moments=roles.moments, groups=roles.groups, queries=roles.queries, target=self.target,
            notes=(*_notes(roles, split), *columns.note), weight=roles.weight, beside=(*roles.beside, *columns.without),
            split_columns=split, suspicions=_suspected(roles, self.target, clock),
        )  # fmt: skip
        self.model.facts_.update(_written_facts(known, roles.orders))

    def train_beside(self, clock: Clock, left: int, split: dict[str, str], columns: "_Columns", known: WrittenSchema | None) -> None:
        """Train it in its part of the time that is left for so many targets."""
        own = Clock(None if clock.budget is None else clock.left / left)
        before, listener = clock.spent, self.values["listener"]

        def told(event: Event) -> None:
            event = replace(event, seconds=event.seconds + before)
            if isinstance(event, JobBegan):
                budget = None if event.budget_seconds is None else event.budget_seconds + before
                event = replace(event, target=self.target, budget_seconds=budget)
            if listener is not None:
                listener(event)

        self.values = self.values | {"listener": told}
        self.train(own, split, columns, known)
        self.clock_stopped = own.stopped


def _trained(jobs: list[_TargetJob], clock: Clock, split: dict[str, str], known: WrittenSchema | None) -> Fitted | SeveralTargetsEnsemble:
    """The ensemble of the target; of several, one for each, one after another."""
    columns = _affordable(jobs[0].roles.X, jobs[0].values, clock)
    if len(jobs) == 1:
        jobs[0].train(clock, split, columns, known)
        only: Fitted = jobs[0].model
        return only
    for number, job in enumerate(jobs):
        words = f"Target {job.target!r}, {number + 1} of {len(jobs)}."
        job.model._warn(Message(seconds=clock.spent, words=words), job.values)
        job.train_beside(clock, len(jobs) - number, split, columns, known)
        if job.clock_stopped and number + 1 < len(jobs):
            raise JobError(f"The job was ended after {number + 1} of {len(jobs)} targets: a model needs all of them.")
    return SeveralTargetsEnsemble([job.model for job in jobs])


def _truth(read: TargetColumn) -> Target:
    """A column that was read as a target, as estimators have it."""
    return Target(read.y, np.array(read.classes) if read.classes else None)


def _check_blocks(blocks: BlockTable, targets: Sequence[str], asked: Sequence[str | None], decided: Sequence[Any]) -> None:
    """Refuse what was decided in another way when blocks were written."""
    if len(targets) > 1:
        raise ParameterError(f"fit: a table in blocks has one target, and {len(targets)} are given. Train a model for each of them.")
    for name, value in zip(("time_column", "ignore", "schema", "drop_missing_target"), decided, strict=True):
        if value:
            raise ParameterError(
                f"fit: {name} is decided when blocks are written. Give it to BlockTable.write if it has it, and leave it out."
            )
    for role, column in zip(("target", "weight", "group"), (targets[0], *asked), strict=True):
        there = blocks.roles.get(role)
        if column is not None and column != there:
            told = "no column" if there is None else f"the column {there!r}"
            raise ParameterError(f"fit: the blocks were written with {told} as {role}, not {column!r}. Write them again, or leave it out.")


def _fit_blocks(blocks: BlockTable, target: str, task: str, query: str | None, options: dict[str, Any], clock: Clock) -> Fitted:
    """Train on blocks: boosting alone, and what is left out is said."""
    check_checkpoint(options)
    read = read_target(blocks.column("target"), task if query is None else "ranking", target)
    group, column = blocks.roles.get("group"), blocks.column("group")
    queries = query_numbers(column, query, read.y) if query is not None and column is not None else None
    groups = queries if query is not None or group is None or column is None else group_numbers(column, group)
    values = check(model := KINDS.get(read.task, AutoEnsembleClassifier)(**options))
    if values["categorical_features"] is not None:
        raise ParameterError(
            "fit: categorical_features is decided when blocks are written. Give it to BlockTable.write, and leave it out here."
        )
    split = {role: name for role, name in (("group", group if query is None else None), ("query", query)) if name is not None}
    model._train(
        values, clock, blocks, _truth(read), groups=groups, queries=queries, target=target, weight=blocks.weight,
        notes=(read.why, *read.notes, *(HELD_OUT[role].format(name) for role, name in split.items()), OF_BLOCKS),
        beside=(*blocks.roles.values(), *blocks.ignored), split_columns=split,
    )  # fmt: skip
    return model


def _roles_of(known: WrittenSchema | None, given: dict[str, str | None]) -> tuple[str | None, ...]:
    """The columns of some roles: what is said in the call counts more than what is written."""
    return tuple(name if name or known is None else known.role(role) for role, name in given.items())


def _suspected(roles: Roles, target: str, clock: Clock) -> tuple[Suspicion, ...]:
    """What is suspicious about the columns, as far as there is time to look."""
    read = roles.target
    return suspicions(
        as_arrow(roles.X), target, read.y, bool(read.classes), roles.groups, ordered=roles.moments is not None,
        classes=read.classes or (), is_time=clock.is_time(SUSPICION_SHARE),
    )  # fmt: skip


def _notes(roles: Roles, split: dict[str, str]) -> tuple[str, ...]:
    """How the target was read, how rows are held out where that was said, and which were left out."""
    left_out = [f"{counted(roles.dropped, 'row')} without a target left out."] if roles.dropped else []
    queries = () if roles.queries is None else query_notes(roles.queries, roles.target.y)
    return (roles.target.why, *roles.target.notes, *queries, *(HELD_OUT[role].format(name) for role, name in split.items()), *left_out)


def _written_facts(schema: WrittenSchema | None, orders: dict[str, str]) -> dict[str, Any]:
    """What a model keeps of how its columns are written, so that new rows are read alike."""
    written = (schema or WrittenSchema(())).with_orders(orders)
    return {WRITTEN: written.to_dict()} if written.columns else {}


def _names_of(target: Any) -> tuple[str, ...]:
    """The targets: names, not the values."""
    names = tuple(target) if isinstance(target, list | tuple) else (target,)
    wrong = next((name for name in names if not isinstance(name, str | int)), None)
    if wrong is not None or not names:
        came = "an empty list" if not names else type(wrong).__name__
        raise ParameterError(
            f"The target of woodwind.fit is the name of a column of the table, or a list of names, and {came} came. Put the target into "
            "the table; or call AutoEnsembleClassifier().fit(X, y) or AutoEnsembleRegressor().fit(X, y), which take it alone."
        )
    return names


def _separated(targets: tuple[str, ...], table: Any) -> tuple[str, ...]:
    """Names of columns: `a,b` is two of them where the table has both, and no column of that name."""
    there = set(frame_of(table).columns)

    def parts(name: Any) -> list[Any]:
        found = [part.strip() for part in name.split(",")] if isinstance(name, str) and name not in there else [name]
        return found if set(found) <= there else [name]

    return tuple(part for name in targets for part in parts(name))


def _check_several(targets: tuple[str, ...], named: dict[str, str | None], ignored: list[str]) -> None:
    """Raise where several targets are asked for what is for one, or a column is to be two things."""
    if len(targets) == 1:
        return
    twice = next((name for name in targets if targets.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"woodwind.fit: target names {twice!r} twice. Give every target once.")
    if named["query"] is not None:
        raise ParameterError("woodwind.fit: query ranks rows by one target, and several came. Give one target, or leave query out.")
    for role, name in (*named.items(), *(("ignore", name) for name in ignored)):
        if name in targets:
            raise ParameterError(f"woodwind.fit: {name!r} is a target, and {role} names it too. Give another column.")


def _checkpoints(options: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The option of checkpoints for each target: of several, every one has a folder of its own, with its number behind the name."""
    given = options.get("checkpoint")
    if count == 1 or given is None:
        check_checkpoint(options)
        return [{} for _ in range(count)]
    if isinstance(given, list):
        return [{"checkpoint": folder} for folder in given]
    folders = [f"{os.fsdecode(given)}-{number}" for number in range(1, count + 1)]
    for folder in folders:
        check_checkpoint(options | {"checkpoint": folder})
    # Who has claimed a folder for one target has these removed in the end, as that one.
    return [{"checkpoint": Checkpoint.claim(folder) if isinstance(given, Checkpoint) else folder} for folder in folders]


@contextmanager
def _naming(target: str) -> Iterator[None]:
    """Say which of several targets an error is about."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"target {target!r}: {error}" if target else str(error)) from None


class _Columns(NamedTuple):
    """Columns that there is time for: None for all; the names of the others; and what is to be said of it."""

    chosen: list[str] | None = None
    without: tuple[str, ...] = ()
    note: tuple[str, ...] = ()


def _affordable(X: Any, values: dict[str, Any], clock: Clock) -> _Columns:
    """The columns that there is time for."""
    names = frame_of(X).columns
    if values["categorical_features"] is not None:  # which may name any of them
        return _Columns()
    chosen = affordable_columns(names, lambda some: some_columns(X, some), clock, usable_threads(values["n_jobs"]))
    if len(chosen) == len(names):
        return _Columns()
    there = set(chosen)
    note = (
        f"There is time for {len(chosen):,} of {len(names):,} columns, which were drawn by chance; the model does not know the others. "
        "Give more time for all of them."
    )
    return _Columns(list(chosen), tuple(name for name in names if name not in there), (note,))


def _read(table: Any, given: Any, clock: Clock) -> tuple[Any, WrittenSchema | None]:
    """The table, of a file or in memory, as its schema says, and the schema."""
    schema = WrittenSchema.read(given) if is_path(given) else given
    if is_path(table):
        return read_table(table, schema=schema, watch=lambda: clock.require("while the table was read")), schema
    table = table_of_columns(table) if is_columns(table) else table
    return (table if schema is None else schema.apply(as_arrow(table))), schema


def _estimator_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options under the names that estimators have for them."""
    names = {"seed": "random_state", "threads": "n_jobs"}
    allowed = [knob.name for knob in declared(AutoParams)]
    unknown = {name: value for name, value in options.items() if names.get(name, name) not in allowed}
    if unknown:
        raise unknown_options("fit", unknown, [*(knob.name for knob in declared(TableParams)), *allowed, *names])
    return {names.get(name, name): value for name, value in options.items()}
