"""Tables of text, as wide as there is room for."""

import io
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from woodwind.base.formatting import printable

WIDE = 160  # columns where nobody's screen sets a limit
SPACE = 2  # between two columns


@dataclass(frozen=True)
class TextColumn:
    """A column of a table to show."""

    title: str
    left: bool = False  # text stands at the left, numbers at the right
    rank: int = 0  # where there is no room, columns of the highest rank are left out first


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody looks at it, on something that can move its cursor."""
    return stream.isatty() and not Console(file=stream).is_dumb_terminal


def console_on(stream: TextIO) -> Console:
    """The console of a stream. NO_COLOR switches bold and dim off as well, which rich would keep."""
    return Console(file=stream, highlight=False, color_system=None if os.environ.get("NO_COLOR") else "auto")


def can_show(signs: str, stream: TextIO) -> bool:
    """Whether a stream has these signs."""
    try:
        signs.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def width_of(stream: TextIO) -> int:
    """Columns to write in."""
    return shutil.get_terminal_size().columns if stream.isatty() else WIDE


def grid(columns: Sequence[TextColumn], rows: Sequence[Sequence[str]], width: int, styles: Sequence[str] = ()) -> Table:
    """A table that fits into so many columns: it leaves some out where it must. Cells are text and nothing else, whatever is in them."""
    rows = [[printable(cell) for cell in row] for row in rows]
    shown = fitting(columns, rows, width)
    table = Table(box=None, pad_edge=False, padding=(0, SPACE, 0, 0), header_style="bold")
    for position in shown:
        column = columns[position]
        is_first = position == shown[0]
        table.add_column(
            column.title, justify="left" if column.left else "right", no_wrap=True, overflow="ellipsis", min_width=4 if is_first else None
        )
    for number, row in enumerate(rows):
        table.add_row(*(Text(row[position]) for position in shown), style=styles[number] if number < len(styles) else "")
    return table


def fitting(columns: Sequence[TextColumn], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Positions of the columns that fit; those of the highest rank go first, and the first always stays."""
    positions = list(range(len(columns)))

    def needed(position: int) -> int:
        return max([len(columns[position].title), *(cell_len(row[position]) for row in rows)]) + SPACE

    while len(positions) > 1 and sum(map(needed, positions)) > width:
        positions.remove(max(positions, key=lambda position: (columns[position].rank, position)))
    return positions


def text_of(what: Any, stream: TextIO | None = None) -> str:
    """Something of rich as text for a stream: with colours for a terminal, plain elsewhere, and no spaces at the end of a line."""
    stream = sys.stdout if stream is None else stream
    paper = io.StringIO()
    is_coloured = console_on(stream).color_system is not None
    console = Console(
        file=paper, width=width_of(stream), force_terminal=is_coloured, highlight=False, color_system="auto" if is_coloured else None
    )
    console.print(what)
    return "\n".join(line.rstrip() for line in paper.getvalue().splitlines())


def show_grid(columns: Sequence[TextColumn], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
    """Write a table to standard output."""
    click.echo(text_of(grid(columns, rows, width_of(sys.stdout), styles)))
