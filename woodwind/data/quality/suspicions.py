"""What is suspicious about a table: things that make a model look better than it is, or worse than it could be."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from woodwind.data.quality import column_checks, target_checks
from woodwind.data.quality.column_checks import MOST_NAMED, SEVERAL
from woodwind.data.quality.view import SEVERITIES, Suspicion, TableView, look
from woodwind.data.tables.table_errors import listed

__all__ = ["Suspicion", "suspicions"]

# More rows than these are not looked at, nor more values where columns are many: the answer hardly changes, and the time would. A million
# values take a third of a second.
MOST_ROWS, MOST_VALUES, LEAST_ROWS = 100_000, 4_000_000, 2_000

# What is looked for, the gravest first: there may be no time for all.
_KINDS: dict[str, Callable[[TableView], Iterator[Suspicion]]] = {
    "leaks": target_checks.leaks,
    "telling gaps": target_checks.telling_gaps,
    "identifiers": column_checks.identifiers,
    "groups": column_checks.groups,
    "time order": column_checks.time_order,
    "duplicate rows": column_checks.duplicate_rows,
    "mixed columns": column_checks.mixed_columns,
    "numbers as text": column_checks.numbers_as_text,
    "dates as text": column_checks.dates_as_text,
    "rare classes": target_checks.rare_classes,
    "heavy tails": target_checks.heavy_tails,
    "many categories": column_checks.many_categories,
    "duplicate columns": column_checks.duplicate_columns,
    "constants": column_checks.constants,
    "missing columns": column_checks.nearly_missing,
}


def suspicions(
    table: pa.Table,
    target: str | None,
    y: NDArray[Any],
    is_class: bool,
    groups: Any = None,
    *,
    ordered: bool = False,
    classes: Sequence[Any] = (),
    is_time: Callable[[], bool] = lambda: True,
) -> tuple[Suspicion, ...]:
    """Look for identifiers, leaks, copies, gaps and the like; the gravest come first.

    Parameters
    ----------
    table : pyarrow.Table
        The columns, with or without the target.
    target : str or None
        The name of the target column, which is left out where it is in the table.
    y : array of shape (n,)
        Class numbers from 0, or numbers; no missing values.
    is_class : bool
        Whether `y` holds class numbers.
    groups : array, optional
        Which rows belong together, if that is known: then nothing is said about columns that might tell.
    ordered : bool, default=False
        Whether the order of rows in time is known: then nothing is said about columns that tell it.
    classes : labels, optional
        Those of the class numbers: then labels that may be the same one are found.
    is_time : function, optional
        Whether there is time to go on. Where there is none, the last suspicion says what was not looked for.

    Returns
    -------
    tuple of Suspicion
    """
    y = np.asarray(y).astype(np.int64 if is_class else np.float64)
    if table.num_rows == 0 or y.shape != (table.num_rows,):
        return ()
    most_rows = min(MOST_ROWS, max(MOST_VALUES // max(table.num_columns, 1), LEAST_ROWS))
    seen = look(table, target, y, is_class, most_rows, (groups is not None, ordered), is_time)
    found, left_out = [*target_checks.labels_alike(classes, y)], {}
    for name, kind in _KINDS.items():
        seen.left_out = 0  # not all of them look at columns
        found += kind(seen)
        if seen.left_out:
            left_out[name] = seen.left_out
    found = sorted(_as_one(found), key=lambda suspicion: SEVERITIES.index(suspicion.severity))
    return (*found, *([_no_time(left_out, table.num_columns)] if left_out else []))


def _no_time(left_out: dict[str, int], n_columns: int) -> Suspicion:
    """What was not looked for, and in how many columns."""
    parts = [name if count == n_columns else f"{name} in {count:,} of {n_columns:,} columns" for name, count in left_out.items()]
    words = f"there was no time to look for {', '.join(parts)}. Give more time to know."
    return Suspicion("not looked for", (), words, "info")


def _as_one(found: Sequence[Suspicion]) -> list[Suspicion]:
    """The same, but one where words differ by the names of columns and by numbers alone: nobody reads the same sentence seven times.

    Those that are serious stay: each of them is to be looked at.
    """
    alike: dict[tuple[str, ...], list[Suspicion]] = {}
    for position, one in enumerate(found):
        alone = len(one.columns) != 1 or one.severity == SEVERITIES[0]
        words = str(position) if alone else re.sub(r"\d+", "#", one.words.replace(repr(one.columns[0]), "*"))
        alike.setdefault((one.kind, one.severity, words), []).append(one)
    out: list[Suspicion] = []
    for some in alike.values():
        if len(some) < SEVERAL:
            out += some
            continue
        names = tuple(name for one in some for name in one.columns)
        words = f"{some[0].words} Much the same goes for {listed(names[1:], MOST_NAMED - 1)}."
        out.append(replace(some[0], columns=names, words=words))
    return out
