"""Roles: a table with everything in it, divided into what is learnt from, what is predicted, and what rows belong together."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from woodwind.data.faults import fault, listed
from woodwind.data.question import TargetRead, missing_rows, read_target


@dataclass(frozen=True, eq=False)
class Roles:
    """The parts of a table."""

    X: Any  # a frame of the kind that came, without the columns that have another role
    target: TargetRead
    groups: NDArray[np.int64] | None  # which rows belong together
    moments: NDArray[np.float64] | None  # when rows happened
    dropped: int  # rows without a target that were left out
    beside: tuple[str, ...]  # columns that are not learnt from


def split_roles(
    table: Any,
    target: str,
    *,
    task: str = "auto",
    group: str | None = None,
    time_column: str | None = None,
    ignore: Sequence[str] = (),
    drop_missing_target: bool = False,
) -> Roles:
    """Divide a frame by the roles of its columns.

    A group is not learnt from, nor is a time column of numbers, which only says what came first. One of dates is: it has months and days.
    """
    frame = _frame(table)
    for name in (target, *(name for name in (group, time_column) if name is not None), *ignore):
        if name not in frame.columns:
            near = difflib.get_close_matches(str(name), frame.columns, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise fault(
                "T007",
                f"the table has no column {name!r}.{hint}",
                f"Its columns are {listed(frame.columns, 10)}.",
                "give the name of a column as the table spells it.",
            )
    column = _arrow(frame[target])
    missing = missing_rows(column)
    dropped = 0
    if drop_missing_target and missing.any() and not missing.all():
        dropped = int(missing.sum())
        frame = frame.filter(nw.new_series("kept", (~missing).tolist(), nw.Boolean, backend=frame.implementation))
        column = _arrow(frame[target])
    gone = [target, *([group] if group is not None else []), *ignore]
    if time_column is not None and not pa.types.is_temporal(_arrow(frame[time_column]).type):
        gone.append(time_column)
    left = [name for name in frame.columns if name not in gone]
    if not left:
        raise fault("T008", "no column is left to learn from.", f"{listed(gone)} have other roles.", "give a table with more columns.")
    return Roles(
        X=frame.select(left).to_native(),
        target=read_target(column, task, target),
        groups=None if group is None else _groups(_arrow(frame[group]), group),
        moments=None if time_column is None else _moments(_arrow(frame[time_column]), time_column),
        dropped=dropped,
        beside=tuple(gone),
    )


def _frame(table: Any) -> "nw.DataFrame[Any]":
    """Any frame with named columns."""
    if isinstance(table, dict):
        table = pa.table(table)
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame) and hasattr(table, "__arrow_c_stream__"):
        frame = nw.from_native(pa.table(table), eager_only=True)
    if not isinstance(frame, nw.DataFrame) or not all(isinstance(name, str) for name in frame.columns):
        raise fault(
            "T009",
            f"a {type(table).__name__} was given, and the target is found by its name.",
            "A table needs a name for each column.",
            "give a file, or a frame of pandas, polars or Arrow; for arrays there is AutoEnsembleClassifier().fit(X, y).",
        )
    return frame


def _arrow(series: "nw.Series[Any]") -> pa.ChunkedArray:
    column = series.to_arrow()
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _refuse_gaps(column: pa.ChunkedArray, name: str, what: str, fix: str) -> None:
    rows = np.flatnonzero(missing_rows(column))
    if rows.size:
        raise fault(
            "T010",
            f"the {what} column {name!r} is missing in {rows.size:,} of {len(column):,} rows (rows {listed(rows + 1)}).",
            "Nobody knows where these rows belong.",
            fix,
        )


def _groups(column: pa.ChunkedArray, name: str) -> NDArray[np.int64]:
    """Numbers of groups, in the order of their first rows."""
    _refuse_gaps(column, name, "group", "give each row a group, or leave such rows out.")
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    coded = plain.combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), np.int64)


def _moments(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """When rows happened, as numbers: only their order counts."""
    _refuse_gaps(column, name, "time", "give each row a time, or leave such rows out.")
    kind = column.type
    if pa.types.is_temporal(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        order = pc.rank(column.combine_chunks(), tiebreaker="min")
        return np.asarray(order.to_numpy(zero_copy_only=False), np.float64)
    raise fault(
        "T011",
        f"the time column {name!r} is of type {kind}.",
        "Its rows must have an order in time.",
        "give a column of dates, times or numbers; dates are best written as 2026-01-31.",
    )
