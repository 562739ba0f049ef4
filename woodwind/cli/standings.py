"""The leaderboard as text."""

import sys
from collections.abc import Sequence
from math import isnan, nan

from woodwind.auto.leaderboard import further
from woodwind.auto.outcome import ENSEMBLE, Entry
from woodwind.base.figures import figure
from woodwind.cli.spoken import in_options
from woodwind.cli.terminal import Column, can_show, show_grid

COLUMNS = (
    Column("member", left=True),
    Column("score"),
    Column("+-", rank=1),
    Column("weight", rank=1),
    Column("seconds", rank=2),
    Column("us/row", rank=4),
    Column("folds", rank=5),
    Column("family", left=True, rank=6),
    Column("note", left=True, rank=3),
)


def show_leaderboard(leaderboard: Sequence[Entry]) -> None:
    """Write the leaderboard to standard output."""
    with_notes = any(entry.note for entry in leaderboard)
    plus_minus = "±" if can_show("±", sys.stdout) else "+-"
    also = further(leaderboard)
    all_columns = (*COLUMNS[:3], *(Column(name, rank=1) for name in also), *COLUMNS[3:])
    shown = all_columns if with_notes else all_columns[:-1]
    columns = [Column(plus_minus, rank=column.rank) if column.title == "+-" else column for column in shown]
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
