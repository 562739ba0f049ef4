"""Numbers of figures and tables as CSV, inside the page: a link that saves them, without a script and without a network."""

import base64
import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would reckon text that begins so


def csv_link(title: str, columns: Mapping[str, Sequence[Any]]) -> Markup:
    """A link that saves the columns, all of the same length, under a name made of the title."""
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "numbers"
    encoded = base64.b64encode(csv_text(columns).encode()).decode()
    words = '<a class="csv" download="{0}.csv" href="data:text/csv;charset=utf-8;base64,{1}" title="Save the numbers of: {2}">CSV</a>'
    return Markup(words).format(name, encoded, title)


def csv_text(columns: Mapping[str, Sequence[Any]]) -> str:
    """Names, then a line for each row; text that a spreadsheet would take for a formula has an apostrophe before it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(name) for name in columns])
    writer.writerows([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    return out.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value
