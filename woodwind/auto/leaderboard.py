"""Leaderboard: the ensemble and its members as a table that people can read, in a terminal and in a notebook."""

import html
import math

from woodwind.auto.outcome import ENSEMBLE, Entry
from woodwind.base.figures import figure, printable

TITLES = ("member", "score", "±", "weight", "seconds", "us/row", "note")


class Leaderboard(tuple[Entry, ...]):
    """The entries, the ensemble first. It is a tuple that shows itself as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        rows = [TITLES, *(cells(entry) for entry in self)]
        columns = []
        for place, column in enumerate(zip(*rows, strict=True)):
            width, is_text = max(map(len, column)), place in (0, len(TITLES) - 1)
            columns.append([cell.ljust(width) if is_text else cell.rjust(width) for cell in column])
        return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in TITLES)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells(entry)) + "</tr>" for entry in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def cells(entry: Entry) -> tuple[str, ...]:
    """What is shown of an entry."""
    weight = "" if entry.name == ENSEMBLE or entry.weight == 0.0 else f"{entry.weight:.2f}"
    speed = "-" if math.isnan(entry.row_microseconds) else f"{entry.row_microseconds:,.1f}"
    numbers = figure(entry.score), figure(entry.standard_error), weight, f"{entry.seconds:.1f}", speed
    return printable(entry.name), *numbers, printable(entry.note)
