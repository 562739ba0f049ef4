"""Roles: a table with everything in it, divided into what is trained on, what is predicted, and what rows belong together."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from woodwind.base.did_you_mean import nearest
from woodwind.data.tables.convert import plain
from woodwind.data.tables.table_errors import listed, table_error
from woodwind.data.tables.target_column import TargetColumn, missing_rows, read_target
from woodwind.data.tables.text_dates import order_in
from woodwind.data.tables.text_types import written_moments, written_order


@dataclass(frozen=True, eq=False)
class Roles:
    """The parts of a table."""

    X: Any  # a frame of the kind that came, without the columns that have another role
    target: TargetColumn
    groups: NDArray[np.int64] | None  # which rows belong together
    queries: NDArray[np.int64] | None  # which rows are the documents of one query
    moments: NDArray[np.float64] | None  # when rows happened
    weight: NDArray[np.float64] | None  # how much rows count; all above zero
    dropped: int  # rows without a target that were left out
    beside: tuple[str, ...]  # columns that are not trained on
    orders: dict[str, str]  # of columns of dates such as 3/4/2026: what comes first


def split_roles(  # noqa: PLR0913  a role each
    table: Any,
    target: str,
    *,
    task: str = "auto",
    group: str | None = None,
    query: str | None = None,
    time_column: str | None = None,
    weight: str | None = None,
    ignore: Sequence[str] = (),
    drop_missing_target: bool = False,
) -> Roles:
    """Divide a frame by the roles of its columns.

    A group is not trained on, nor is a weight, nor a time column of numbers, which only says what came first. One of dates is: it has
    months and days. Rows of weight zero are absent. With a query the task is to rank, and documents of a query belong together.
    """
    _check_query(task, query)
    task = task if query is None else "ranking"
    frame = frame_of(table)
    _check_names(frame, (target, *(name for name in (group, query, time_column, weight) if name is not None), *ignore))
    frame, orders = _with_dates(frame, {target, group, query, weight, *ignore})
    missing = missing_rows(_arrow(frame[target]))
    weights = None if weight is None else read_weights(_arrow(frame[weight]), weight)
    is_dropped = missing if drop_missing_target and not missing.all() else np.zeros(len(missing), np.bool_)
    kept = ~is_dropped if weights is None else ~is_dropped & (weights > 0.0)
    if not kept.all():
        if not kept.any():
            raise _weighs_nothing(str(weight), len(missing))
        frame = frame.filter(nw.new_series("kept", kept.tolist(), nw.Boolean, backend=frame.implementation))
    gone = [target, *(name for name in (group, query, weight) if name is not None), *ignore]
    if time_column is not None and not pa.types.is_temporal(_arrow(frame[time_column]).type):
        gone.append(time_column)
    others = set(gone)
    left = [name for name in frame.columns if name not in others]
    if not left:
        raise table_error(
            "T008", "no column is left to learn from.", f"{listed(gone)} have other roles.", "give a table with more columns."
        )
    read = read_target(_arrow(frame[target]), task, target)
    queries = None if query is None else query_numbers(_arrow(frame[query]), query, read.y)
    groups = queries if group is None else group_numbers(_arrow(frame[group]), group)
    if queries is not None and groups is not None and group is not None:
        _check_undivided(queries, groups, str(query), group)
    return Roles(
        X=frame.select(left).to_native(),
        target=read,
        groups=groups,
        queries=queries,
        moments=None if time_column is None else moments_of(_arrow(frame[time_column]), time_column),
        weight=None if weights is None else weights[kept],
        dropped=int(is_dropped.sum()),
        beside=tuple(gone),
        orders={name: order for name, order in orders.items() if name not in others},
    )


def _check_query(task: str, query: str | None) -> None:
    """A query is for rankings, and for nothing else."""
    if query is None and task == "ranking":
        what, fix = 'task="ranking" needs to know which rows are of one query.', "name the column that says so: query=... (--query)."
        raise table_error("T006", what, "Only rows of one query are compared.", fix)
    if query is not None and task not in ("auto", "ranking"):
        fix = "leave one of the two out; rows are kept together by group=... (--group)."
        raise table_error("T006", f"query={query!r} is for rankings, and task={task!r}.", "Rows of a query are ranked.", fix)


def _check_undivided(queries: NDArray[np.int64], groups: NDArray[np.int64], query: str, group: str) -> None:
    """All documents of a query are of one group: else it would be held out in pieces."""
    first = np.empty(int(queries.max()) + 1, np.int64)
    first[queries[::-1]] = groups[::-1]
    rows = np.flatnonzero(groups != first[queries])
    if rows.size:
        what = f"a query of {query!r} has rows of several groups of {group!r} (row {rows[0] + 1:,} and {rows.size - 1:,} more)."
        why = "Groups are held out as a whole, and so are queries: this one would be divided."
        raise table_error("T006", what, why, "give a group that whole queries belong to, such as the user who asked.")


def query_numbers(column: pa.ChunkedArray, name: str, relevance: NDArray[Any] | None = None) -> NDArray[np.int64]:
    """Numbers of queries, in the order of their first rows; with a relevance of rows there is something to rank in them."""
    numbers = group_numbers(column, name, "query")
    if relevance is None:
        return numbers
    label, sizes = f"the query column {name!r}", np.bincount(numbers)
    fix = "name the column that says which rows are ranked together."
    if len(sizes) == 1 and len(numbers) > 1:
        raise table_error("T015", f"{label} is the same in all rows.", "Of one query nothing can be held out.", fix)
    if sizes.max() == 1:
        raise table_error("T015", f"{label} is different in every row.", "There is nothing to rank in a query of one document.", fix)
    relevant = np.bincount(numbers, relevance > 0.0)
    if not ((relevant > 0.0) & (sizes > 1)).any():
        why = "All relevant documents are alone in their queries: there is nothing to rank."
        raise table_error("T015", f"{label} has no query of several documents with a relevant one.", why, fix)
    return numbers


def _check_names(frame: "nw.DataFrame[Any]", names: Sequence[str]) -> None:
    """Every name is that of a column, or the one that was meant is told."""
    there = set(frame.columns)
    for name in names:
        if name not in there:
            raise no_column(name, frame.columns)


def no_column(name: str, there: Sequence[str]) -> Exception:
    """The error for a column that was named and is not there."""
    near = nearest_name(name, there)
    return table_error(
        "T007",
        f"the table has no column {name!r}.{'' if near is None else f' Did you mean {near!r}?'}",
        f"Its columns are {listed(there, 10)}.",
        "give the name of a column as the table spells it.",
    )


def nearest_name(name: str, there: Sequence[str]) -> str | None:
    """The name that may have been meant, whatever its capitals; None where none is near."""
    return next(iter(nearest(name, there, alike=0.6)), None)


def read_weights(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """Weights of rows: finite numbers, none below zero and some above."""
    label, fix = f"the weight column {name!r}", "give each row a number of at least 0; 0 leaves a row out."
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind)):
        raise table_error("T012", f"{label} is of type {kind}.", "A weight says how much a row counts, in numbers.", fix)
    numbers = column.cast(pa.uint8()) if pa.types.is_boolean(kind) else column
    weights = np.asarray(numbers.cast(pa.float64()).to_numpy(), np.float64)
    for wrong, what in ((np.isnan(weights), "missing"), (np.isinf(weights), "infinite"), (weights < 0.0, "negative")):
        rows = np.flatnonzero(wrong)
        if rows.size:
            told = f"{label} is {what} in {rows.size:,} of {weights.size:,} rows (rows {listed(rows + 1)})."
            raise table_error("T012", told, "Nobody knows how much these rows count.", fix)
    if not weights.any():
        raise _weighs_nothing(name, len(weights))
    return weights


def _weighs_nothing(name: str, n_rows: int) -> Exception:
    told = f"the weight column {name!r} is zero in all {n_rows:,} rows that have a target."
    return table_error(
        "T012", told, "A row of weight zero is absent: nothing is left to learn from.", "give some rows a weight above zero."
    )


def is_columns(table: Any) -> bool:
    """Whether something is a dictionary of columns by their names; a sparse matrix, which has a shape, may be one of cells."""
    return isinstance(table, dict) and not hasattr(table, "shape")


def table_of_columns(columns: dict[str, Any]) -> pa.Table:
    """A dictionary of columns as a table."""
    try:
        return pa.table(columns)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise table_error(
            "D017",
            f"a dictionary of columns cannot be read: {error}.",
            "Each of its values is a column.",
            "give lists of equal length, such as {'age': [30, 41], 'plan': ['a', 'b']}.",
        ) from error


def frame_of(table: Any) -> "nw.DataFrame[Any]":
    """Any frame with named columns."""
    if is_columns(table):
        table = table_of_columns(table)
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame) and hasattr(table, "__arrow_c_stream__"):
        frame = nw.from_native(pa.table(table), eager_only=True)
    if not isinstance(frame, nw.DataFrame) or not all(isinstance(name, str) for name in frame.columns):
        raise table_error(
            "T009",
            f"a {type(table).__name__} was given, and the target is found by its name.",
            "A table needs a name for each column.",
            "give a file, or a frame of pandas, polars or Arrow; for arrays there is AutoEnsembleClassifier().fit(X, y).",
        )
    return frame


def some_columns(table: Any, names: Sequence[str]) -> Any:
    """A frame of the same kind with these columns."""
    return frame_of(table).select(list(names)).to_native()


def _with_dates(frame: "nw.DataFrame[Any]", beside: Collection[str | None]) -> "tuple[nw.DataFrame[Any], dict[str, str]]":
    """A frame of pandas or polars, of which text that is dates in every row has become dates, as it would in a file; and what comes first
    in which of them, the day or the month.

    Their readers of CSV leave dates as text. Tables of Arrow say themselves what is text: files were looked at when they were read, and
    what a schema calls a category stays one.
    """
    if frame.implementation.is_pyarrow():
        return frame, {field.name: order for field in frame.to_native().schema if (order := order_in(field)) is not None}
    found: dict[str, pa.ChunkedArray] = {}
    orders: dict[str, str] = {}
    for name, kind in frame.schema.items():
        if kind != nw.String or name in beside:
            continue
        text = plain(_arrow(frame[name]))
        moments, _ = written_moments(text)
        if moments is not None:
            order = written_order(text)
            orders |= {} if order is None else {name: order}
            # A day is a moment to pandas, which has no type for days.
            found[name] = moments.cast(pa.timestamp("us")) if pa.types.is_date(moments.type) else moments
    if not found:
        return frame, {}
    return frame.with_columns(*nw.from_arrow(pa.table(found), backend=frame.implementation).iter_columns()), orders


def _arrow(series: "nw.Series[Any]") -> pa.ChunkedArray:
    column = series.to_arrow()
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _refuse_gaps(column: pa.ChunkedArray, name: str, what: str, fix: str) -> None:
    rows = np.flatnonzero(missing_rows(column))
    if rows.size:
        raise table_error(
            "T010",
            f"the {what} column {name!r} is missing in {rows.size:,} of {len(column):,} rows (rows {listed(rows + 1)}).",
            "Nobody knows where these rows belong.",
            fix,
        )


def group_numbers(column: pa.ChunkedArray, name: str, what: str = "group") -> NDArray[np.int64]:
    """Numbers of groups, in the order of their first rows."""
    _refuse_gaps(column, name, what, f"give each row a {what}, or leave such rows out.")
    column = plain(column)
    flat = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    coded = flat.combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), np.int64)


def moments_of(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """When rows happened, as numbers: only their order counts."""
    _refuse_gaps(column, name, "time", "give each row a time, or leave such rows out.")
    kind = column.type
    if pa.types.is_temporal(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        order = pc.rank(column.combine_chunks(), tiebreaker="min")
        return np.asarray(order.to_numpy(zero_copy_only=False), np.float64)
    raise table_error(
        "T011",
        f"the time column {name!r} is of type {kind}.",
        "Its rows must have an order in time.",
        "give a column of dates, times or numbers; dates are best written as 2026-01-31.",
    )
