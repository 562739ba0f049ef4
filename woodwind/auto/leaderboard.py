"""Leaderboard: the ensemble and its members as a table that people can read, in a terminal and in a notebook."""

import html
import math
from collections.abc import Sequence
from dataclasses import fields
from math import nan
from typing import Any

from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import ENSEMBLE, Entry
from woodwind.base.errors import ModelFileError
from woodwind.base.formatting import figure, printable

TITLES = ("member", "score", "±", "weight", "seconds", "us/row", "note")


class Leaderboard(tuple[Entry, ...]):
    """The entries, the ensemble first. It is a tuple that shows itself as a table."""

    __slots__ = ()

    @property
    def _titles(self) -> tuple[str, ...]:
        """Further metrics stand behind the score and its error."""
        return (*TITLES[:3], *further(self), *TITLES[3:])

    def __repr__(self) -> str:
        rows = [self._titles, *(cells(entry, further(self)) for entry in self)]
        columns = []
        for position, column in enumerate(zip(*rows, strict=True)):
            width, is_text = max(map(len, column)), position in (0, len(rows[0]) - 1)
            columns.append([cell.ljust(width) if is_text else cell.rjust(width) for cell in column])
        return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in self._titles)
        shown = [cells(entry, further(self)) for entry in self]
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in shown)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def further(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The names of the further metrics that entries have."""
    return tuple((entries[0].also or {}) if entries else ())


def cells(entry: Entry, also: Sequence[str] = ()) -> tuple[str, ...]:
    """What is shown of an entry."""
    weight = "" if entry.name == ENSEMBLE or entry.weight == 0.0 else f"{entry.weight:.2f}"
    speed = "-" if math.isnan(entry.row_microseconds) else f"{entry.row_microseconds:,.1f}"
    more = [figure((entry.also or {}).get(name, math.nan)) for name in also]
    numbers = figure(entry.score), figure(entry.standard_error), *more, weight, f"{entry.seconds:.1f}", speed
    return printable(entry.name), *numbers, printable(entry.note)


# ----------------------------------------------------------------------------------------------------
# The leaderboard that was stored with a model.


def stored_entries(model: AutoModel) -> tuple[Entry, ...]:
    """The entries; none where a model was made by hand."""
    kept = model.facts.get("leaderboard")
    return tuple(entry_of(entry) for entry in kept) if isinstance(kept, list | tuple) else ()


def entry_of(kept: Any) -> Entry:
    """An entry from what was persisted of it; what is not a finite number is not kept, as JSON has none."""
    values: dict[str, Any] = {}
    for field in fields(Entry):
        value = kept.get(field.name) if isinstance(kept, dict) else None
        if field.name == "also" and isinstance(value, dict):
            values["also"] = {str(name): nan if one is None else one for name, one in value.items() if isinstance(one, int | float | None)}
            continue
        wanted = str if field.type is str else int | float | None
        if not isinstance(value, wanted):
            raise ModelFileError(f"The leaderboard of the model is damaged: {field.name} of an entry is {value!r}. Train it once more.")
        values[field.name] = nan if value is None and field.name != "also" else value
    return Entry(**values)
