"""`woodwind.fit`: a table with its target in it, or a file of one, to a trained ensemble."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from woodwind.auto.clock import SUSPICION_SHARE, Clock
from woodwind.auto.table_rows import WRITTEN
from woodwind.auto.training.affordable import affordable_columns
from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import ParameterError
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
from woodwind.estimators.auto.auto_ensemble import AutoEnsembleClassifier, AutoEnsembleRegressor, check_checkpoint, clock_of
from woodwind.estimators.auto.auto_ranker import AutoEnsembleRanker, query_notes
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
    target: str,
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
) -> Fitted:
    """Train the best ensemble that a given time allows, from a table that holds its target.

    Parameters
    ----------
    {parameters}
    **options
        Those of `AutoEnsembleClassifier`: `time`, `models`, `metric`, `also`, `positive`, `threshold`, `max_size`, `exclude`,
        `checkpoint`, `resume`, `listener`, and `seed` and `threads`, which are the `random_state` and `n_jobs` of other estimators.

    Returns
    -------
    AutoEnsembleClassifier, AutoEnsembleRegressor or, with `query`, AutoEnsembleRanker

    Examples
    --------
    >>> import woodwind
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True).frame
    >>> model = woodwind.fit(iris, "target", models=2)
    >>> model.predict(iris.head(2)).tolist()
    [0, 0]
    """
    _check_target(target)
    model_options = _estimator_options(options)
    clock = clock_of({"time": 60.0, "models": None} | model_options)
    check_checkpoint(model_options)
    if isinstance(table, BlockTable):
        _check_blocks(table, (target, weight, group or query), (time_column, list(ignore), schema, drop_missing_target))
        return _fit_blocks(table, target, task, query, model_options, clock)
    table, known = _read(table, schema, clock)
    group, query, time_column, weight = _roles_of(known, {GROUP: group, QUERY: query, TIME: time_column, WEIGHT: weight})
    roles = split_roles(
        table, target, task=task, group=group, query=query, time_column=time_column, weight=weight, drop_missing_target=drop_missing_target,
        ignore=[ignore] if isinstance(ignore, str) else list(ignore),
    )  # fmt: skip
    read = roles.target
    values = check(model := KINDS.get(read.task, AutoEnsembleClassifier)(**model_options))
    split = {role: str(name) for role, name in (("time", time_column), ("group", group), ("query", query)) if name is not None}
    X, without, note = _affordable(roles.X, values, clock)
    model._train(
        values, clock, X, _truth(read), moments=roles.moments, groups=roles.groups, queries=roles.queries, target=target,
        notes=(*_notes(roles, split), *note), weight=roles.weight, beside=(*roles.beside, *without), split_columns=split,
        suspicions=_suspected(roles, target, clock),
    )  # fmt: skip
    model.facts_.update(_written_facts(known, roles.orders))
    return model


def _truth(read: TargetColumn) -> Target:
    """A column that was read as a target, as estimators have it."""
    return Target(read.y, np.array(read.classes) if read.classes else None)


def _check_blocks(blocks: BlockTable, asked: Sequence[str | None], decided: Sequence[Any]) -> None:
    """Refuse what was decided in another way when blocks were written."""
    for name, value in zip(("time_column", "ignore", "schema", "drop_missing_target"), decided, strict=True):
        if value:
            raise ParameterError(
                f"fit: {name} is decided when blocks are written. Give it to BlockTable.write if it has it, and leave it out."
            )
    for role, column in zip(("target", "weight", "group"), asked, strict=True):
        there = blocks.roles.get(role)
        if column is not None and column != there:
            told = "no column" if there is None else f"the column {there!r}"
            raise ParameterError(f"fit: the blocks were written with {told} as {role}, not {column!r}. Write them again, or leave it out.")


def _fit_blocks(blocks: BlockTable, target: str, task: str, query: str | None, options: dict[str, Any], clock: Clock) -> Fitted:
    """Train on blocks: boosting alone, and what is left out is said."""
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


def _check_target(target: Any) -> None:
    """It is a name, not the values."""
    if not isinstance(target, str | int):
        raise ParameterError(
            f"The target of woodwind.fit is the name of a column of the table, and {type(target).__name__} came. Put the target into the "
            "table; or call AutoEnsembleClassifier().fit(X, y) or AutoEnsembleRegressor().fit(X, y), which take it alone."
        )


def _affordable(X: Any, values: dict[str, Any], clock: Clock) -> tuple[Any, tuple[str, ...], tuple[str, ...]]:
    """The table with the columns that there is time for, the names of the others, and what is to be said of it."""
    names = frame_of(X).columns
    if values["categorical_features"] is not None:  # which may name any of them
        return X, (), ()
    chosen = affordable_columns(names, lambda some: some_columns(X, some), clock, usable_threads(values["n_jobs"]))
    if len(chosen) == len(names):
        return X, (), ()
    there = set(chosen)
    note = (
        f"There is time for {len(chosen):,} of {len(names):,} columns, which were drawn by chance; the model does not know the others. "
        "Give more time for all of them."
    )
    return some_columns(X, chosen), tuple(name for name in names if name not in there), (note,)


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
