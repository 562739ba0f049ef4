"""The leaderboard as text."""

import sys
from collections.abc import Sequence
from math import isnan, nan

from woodwind.auto.leaderboard import further
from woodwind.auto.outcome import ENSEMBLE, Entry
from woodwind.base.formatting import figure
from woodwind.cli.console import in_options
from woodwind.cli.terminal import TextColumn, can_show, show_grid

COLUMNS = (
    TextColumn("member", left=True),
    TextColumn("score"),
    TextColumn("+-", rank=1),
    TextColumn("weight", rank=1),
    TextColumn("seconds", rank=2),
    TextColumn("us/row", rank=4),
    TextColumn("folds", rank=5),
    TextColumn("family", left=True, rank=6),
    TextColumn("note", left=True, rank=3),
)


def show_leaderboard(leaderboard: Sequence[Entry]) -> None:
    """Write the leaderboard to standard output."""
    with_notes = any(entry.note for entry in leaderboard)
    plus_minus = "±" if can_show("±", sys.stdout) else "+-"
    also = further(leaderboard)
    all_columns = (*COLUMNS[:3], *(TextColumn(name, rank=1) for name in also), *COLUMNS[3:])
    shown = all_columns if with_notes else all_columns[:-1]
    columns = [TextColumn(plus_minus, rank=column.rank) if column.title == "+-" else column for column in shown]
    rows = [row_of(entry, also)[: len(columns)] for entry in leaderboard]
    styles = ["bold" if entry.name == ENSEMBLE else "" if entry.weight > 0 else "dim" for entry in leaderboard]
    show_grid(columns, rows, styles)


def row_of(entry: Entry, also: Sequence[str] = ()) -> tuple[str, ...]:
    """The cells of an entry."""
    weight = "" if entry.name == ENSEMBLE or entry.weight == 0 else f"{entry.weight:.2f}"
    speed = "-" if isnan(entry.row_microseconds) else f"{entry.row_microseconds:,.{0 if entry.row_microseconds >= 100 else 1}f}"
    more = [figure((entry.also or {}).get(name, nan)) for name in also]
    return (
        entry.name, figure(entry.score), figure(entry.standard_error), *more, weight, f"{entry.seconds:.1f}", speed, str(entry.folds),
        entry.family, in_options(entry.note),
    )  # fmt: skip
