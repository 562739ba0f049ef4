"""Suspicions about columns and rows, whatever the target: each kind is a function of what is seen."""

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from woodwind.data.quality.text_contents import DATES, NUMBERS, UNITS, is_bare, looks_like_days
from woodwind.data.quality.view import DATE, NUMBER, TEXT, ColumnView, Suspicion, TableView
from woodwind.data.tables.categories import MOST_CODES
from woodwind.data.tables.table_errors import listed

# Names that say what a column is for.
_IDENTIFIER = re.compile(r"(^|[_\W])(ids?|uuid|guid|key|index|idx|nr|no|number|serial|row|rownum|rowid|unnamed: 0)$")
_GROUP = re.compile(
    r"(^|[_\W])(patient|subject|customer|client|user|person|member|session|device|machine|sensor|account|household|family|school|store|shop|"
    r"participant|group|batch|experiment|query|qid)([_\W]?(id|no|nr|key|number|code))?$|(^|[_\W])id$"
)
_TIME = re.compile(r"(^|[_\W])(date|time|timestamp|datetime|day|month|year|week)$")

NEARLY_ALL = 0.95
NEARLY_CONSTANT = 0.995
# Fewer rows than these say nothing about a column.
ENOUGH = 20
LONG_TEXT = 40
# From so many columns on, what is predicted for each of them is said once; and so many of them are named.
SEVERAL, MOST_NAMED = 3, 5


def identifiers(seen: TableView) -> Iterator[Suspicion]:
    """Columns that name the row rather than describe it."""
    if seen.n < ENOUGH:
        return
    for column in seen.each_column():
        why = _identifies(column, seen.n)
        if why:
            words = f"{column.name!r} looks like an identifier: {why}{seen.sampled}. It says nothing about new rows."
            yield Suspicion("identifier", (column.name,), f"{words} Leave it out with ignore={column.name!r}.", "warning")
        elif _is_prose(column, seen.n):
            words = f"{column.name!r} holds sentences, nearly every one different{seen.sampled}: to a model of categories they say nothing."
            advice = f"Make numbers of it first, or leave it out with ignore={column.name!r}."
            yield Suspicion("free text", (column.name,), f"{words} {advice}", "warning")


def is_identifier(column: ColumnView, n: int) -> bool:
    """Whether a column names the rows, or holds sentences."""
    return n >= ENOUGH and bool(_identifies(column, n) or _is_prose(column, n))


def _identifies(column: ColumnView, n: int) -> str:
    """Why a column is an identifier; nothing if it is none."""
    present = n - column.n_missing
    if column.n_categories < NEARLY_ALL * max(present, 1) or present < n / 2:
        return ""
    if column.kind == TEXT and column.held is None and not _is_prose(column, n):
        return "nearly every row has a text of its own"
    values = column.category_sizes  # in the order of the rows, because all differ
    if values is None or column.n_categories < present or not (values == np.round(values)).all() or _tells_time(column, values):
        return ""
    steps = np.diff(values)
    if bool((steps > 0).all()) or bool((steps < 0).all()):
        return "its whole numbers only ever go up or down from row to row" if n >= 2 * ENOUGH or (np.abs(steps) == 1).all() else ""
    if values.max() - values.min() < 1.5 * values.size:
        return "every row has a whole number of its own, with hardly a gap between them"
    return "its name says so, and every row has a number of its own" if _IDENTIFIER.search(_spaced(column.name)) else ""


def _tells_time(column: ColumnView, values: NDArray[np.float64]) -> bool:
    """Whether whole numbers say when, not which: years, or days such as 20240131."""
    return bool(_TIME.search(_spaced(column.name))) or looks_like_days(values)


def _is_prose(column: ColumnView, n: int) -> bool:
    if column.kind != TEXT or column.n_categories < 0.5 * n:
        return False
    head = column.categories[:1000]
    spaces = pc.mean(pc.count_substring(head, " ")).as_py()
    return bool(pc.mean(pc.utf8_length(head)).as_py() > LONG_TEXT and spaces >= 4)


def constants(seen: TableView) -> Iterator[Suspicion]:
    """Columns that predict the same in all rows, or nearly."""
    constant, nearly = [], []
    for column in seen.each_column():
        most = int(column.counts.max(initial=0))
        if most == seen.n:
            constant.append(column)
        elif most >= NEARLY_CONSTANT * seen.n and seen.n >= 10 * ENOUGH:
            nearly.append(column)
    if len(constant) >= SEVERAL:
        words = f"{_names(constant)} have one value each, the same in every row{seen.sampled}: they say nothing."
        yield Suspicion("constant", _columns_of(constant), words, "info")
    else:
        for column in constant:
            words = f"{column.name!r} is {_commonest(column)} in every row{seen.sampled}: it says nothing."
            yield Suspicion("constant", (column.name,), words, "info")
    others = [seen.n - int(column.counts.max()) for column in nearly]
    if len(nearly) >= SEVERAL:
        words = f"{_names(nearly)} have the same value in all but at most {max(others):,} of {seen.n:,} rows{seen.sampled}"
        yield Suspicion("nearly constant", _columns_of(nearly), f"{words}: they say hardly anything.", "info")
    else:
        for column, rows in zip(nearly, others, strict=True):
            words = f"{column.name!r} is {_commonest(column)} in all but {rows:,} of {seen.n:,} rows{seen.sampled}"
            yield Suspicion("nearly constant", (column.name,), f"{words}: it says hardly anything.", "info")


def nearly_missing(seen: TableView) -> Iterator[Suspicion]:
    """Columns that are missing nearly everywhere."""
    such = [column for column in seen.each_column() if column.n_missing >= NEARLY_ALL * seen.n and seen.n]
    if len(such) >= SEVERAL:
        least = min(column.n_missing for column in such)
        where = "in every row" if least == seen.n else f"in {_percent(least / seen.n)} of the rows or more"
        yield Suspicion("missing", _columns_of(such), f"{_names(such)} are missing {where}{seen.sampled}.", "info")
        return
    for column in such:
        where = "in every row" if column.n_missing == seen.n else f"in {_percent(column.n_missing / seen.n)} of the rows"
        yield Suspicion("missing", (column.name,), f"{column.name!r} is missing {where}{seen.sampled}.", "info")


def _commonest(column: ColumnView) -> str:
    return column.shown(int(column.counts.argmax()))


def _columns_of(columns: list[ColumnView]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def _names(columns: list[ColumnView]) -> str:
    return listed(_columns_of(columns), MOST_NAMED)


def duplicate_columns(seen: TableView) -> Iterator[Suspicion]:
    """Columns that predict the same: equal, or each value of one goes with one value of the other."""
    groups: dict[bytes, list[ColumnView]] = {}
    for column in seen.each_column():
        if column.n_categories > 1:
            # Columns of which nearly all values differ go together by necessity: those must be equal, first in their first values.
            values = _written(column.categories[:20]) if column.n_categories > seen.n / 2 else b""
            groups.setdefault(np.ascontiguousarray(column.codes).tobytes() + values, []).append(column)
    for alike in (some for group in groups.values() if len(group) > 1 for some in _of_equal_values(group, seen.n)):
        equal = all(one.categories.equals(alike[0].categories) for one in alike)
        names = tuple(column.name for column in alike)
        how = "are equal in every row" if equal else "say the same in other words: each value of one goes with one value of the other"
        words = f"{listed(names, 5)} {how}{seen.sampled}. One of them is enough; importance is shared between them."
        yield Suspicion("duplicate columns", names, words, "info")


def _of_equal_values(alike: list[ColumnView], n: int) -> list[list[ColumnView]]:
    """Columns of the same codes, apart where nearly all values differ and they are not the same ones."""
    if alike[0].n_categories <= n / 2:
        return [alike]
    parts: dict[bytes, list[ColumnView]] = {}
    for column in alike:
        parts.setdefault(_written(column.categories), []).append(column)
    return [part for part in parts.values() if len(part) > 1]


def _written(categories: pa.Array) -> bytes:
    """Values as text: 1 and 1.0 are of different types, and written alike."""
    return "\0".join(categories.cast(pa.large_string()).to_pylist()).encode()


def duplicate_rows(seen: TableView) -> Iterator[Suspicion]:
    """Rows that are there more than once, where that cannot be chance; and whether their targets agree."""
    columns = [column for column in seen.each_column() if not is_identifier(column, seen.n)]
    if seen.n < ENOUGH or not columns or seen.left_out or _bits(columns, seen.n) < np.log2(seen.n) + 10:
        return  # few different rows are possible: of course some are alike; or they may differ in what was not looked at
    rows = np.zeros(seen.n, np.uint64)
    for column in columns:
        rows = (rows ^ (rows >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15) + (column.codes + 2).astype(np.uint64)
    _, first, group, counts = np.unique(rows, return_index=True, return_inverse=True, return_counts=True)
    copies = seen.n - counts.size
    if copies < max(2, 0.001 * seen.n):
        return
    differing = int(np.unique(group[seen.y != seen.y[first[group]]]).size)
    words = (
        f"{_percent(copies / seen.n)} of the rows ({copies:,}{seen.sampled}) are copies of others in all columns. Where a copy is in the "
        "training rows and another in the rows that score, the score is too good."
    )
    if differing:
        has = "has" if differing == 1 else "have"
        words += f" {differing:,} of those that are copied {has} different targets: no model can be right about all."
    yield Suspicion("duplicate rows", (), words, "warning")


def _bits(columns: list[ColumnView], n: int) -> float:
    """The sum of the entropies of the columns: how many bits it takes to tell rows apart, if columns were independent."""
    total = 0.0
    for column in columns:
        share = column.counts / max(n, 1)
        total -= float((share * np.log2(np.maximum(share, 1e-300))).sum())
    return total


def mixed_columns(seen: TableView) -> Iterator[Suspicion]:
    """Columns of text that are numbers but for some cells."""
    for column in seen.each_column():
        if column.kind != TEXT or column.n_categories < 5 or column.held is not None:
            continue
        plain = pc.utf8_trim_whitespace(column.categories)
        numeric = pc.match_substring_regex(plain, r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$").to_numpy(zero_copy_only=False).astype(bool)
        share = float(column.counts[numeric].sum() / max(column.counts.sum(), 1))
        if 0.5 <= share < 1.0 and numeric.sum() >= 5:
            words = (
                f"{column.name!r} is text because of {_odd_cells(column, ~numeric, seen)} that are no numbers; the other "
                f"{_percent(share)} are{seen.sampled}. If these stand for a missing value, name "
                'them in the schema ("missing": [...]), so that the column is read as numbers.'
            )
            yield Suspicion("mixed", (column.name,), words, "warning")


def _odd_cells(column: ColumnView, odd: NDArray[np.bool_], seen: TableView) -> str:
    """How many cells have such categories, some of these, and where the first is."""
    positions = np.flatnonzero(odd)
    rows = seen.rows[np.isin(column.codes, positions)]
    cells = listed(column.categories.take(pa.array(positions[:4])).to_pylist())
    return f"{rows.size:,} {'cell' if rows.size == 1 else 'cells'} such as {cells} (first in row {int(rows[0]) + 1:,})"


def numbers_as_text(seen: TableView) -> Iterator[Suspicion]:
    """Columns of text that are numbers: with a unit ($1,000 or 12 % or 5 kg), with commas, or as they are."""
    for column in seen.each_column():
        if column.held is None or is_identifier(column, seen.n):
            continue
        if column.held.what == UNITS:
            units = [unit for unit in column.held.units if not is_bare(unit)]
            what = f"numbers with a sign or unit ({listed(units)})" if units else "numbers with commas between thousands"
            fix = "the unit" if units else "the commas"
            words = f"{column.name!r} holds {what}, such as {column.shown(0)}; to a model they are words{seen.sampled}."
            yield Suspicion("numbers with units", (column.name,), f"{words} Take {fix} out of the cells.", "warning")
        elif column.held.what == NUMBERS:
            words = f"{column.name!r} is text, and all of it numbers, such as {column.shown(0)}{seen.sampled}; to a model they are words."
            yield Suspicion("numbers as text", (column.name,), f"{words} If they say how much, make numbers of them.", "info")


def dates_as_text(seen: TableView) -> Iterator[Suspicion]:
    """Columns of text, or of whole numbers such as 20240131, that look like dates."""
    for column in seen.each_column():
        if column.kind == NUMBER and column.is_whole and looks_like_days(column.category_numbers):
            words = f"{column.name!r} is whole numbers that look like dates, such as {column.shown(0)}{seen.sampled}: as numbers, the "
            words += "last day of a month is far from the next. "
            yield Suspicion("dates as numbers", (column.name,), words + _as_date(("%Y%m%d",)), "warning")
        elif column.held is not None and column.held.what == DATES:
            words = f"{column.name!r} is text that looks like dates, such as {column.shown(int(column.held.fits.argmax()))}{seen.sampled}"
            also = ""
            if not column.held.fits.all():
                words += f", but for {_odd_cells(column, ~column.held.fits, seen)}"
                also = ', "missing": [...]'
            words += "; to a model these are words, and new days are new words. "
            yield Suspicion("dates as text", (column.name,), words + _as_date(column.held.layouts, also), "warning")


def _as_date(layouts: tuple[str, ...] | None, also: str = "") -> str:
    """How text or numbers are made dates."""
    if layouts is None:
        return "Make dates of it first: 2024-01-31 is read everywhere."
    predicted = '"type": "date"' + (f', "format": "{layouts[0]}"' if layouts else "")
    other = f' (or "{layouts[1]}")' if len(layouts) > 1 else ""
    return f"Make dates of it first, or say so in a written schema (schema=...): {predicted}{other}{also}."


def time_order(seen: TableView) -> Iterator[Suspicion]:
    """Rows that are in the order of a date, where nobody has said so."""
    if seen.is_ordered:
        return
    for column in seen.each_column():
        named = column.kind == NUMBER and column.is_whole and bool(_TIME.search(_spaced(column.name)))
        if not (column.kind == DATE or named) or column.n_categories < ENOUGH:
            continue
        values = column.category_numbers[column.codes[column.codes >= 0]]
        steps = np.diff(values)
        back = min(float(steps[steps < 0].sum() * -1), float(steps[steps > 0].sum()))  # days of the month go back again and again
        if steps.size and back <= 0.02 * np.ptp(values):
            words = (
                f"the rows are in the order of {column.name!r}{seen.sampled}. If the model is to predict what comes later, it must be "
                f"scored by what came later: say time_column={column.name!r}."
            )
            yield Suspicion("time order", (column.name,), words, "warning")


def groups(seen: TableView) -> Iterator[Suspicion]:
    """Columns that say which rows belong together."""
    if seen.is_grouped:
        return
    for column in seen.each_column():
        if column.kind not in (TEXT, NUMBER) or (column.kind == NUMBER and not column.is_whole):
            continue
        if not 10 <= column.n_categories <= seen.n / 2 or column.n_missing > seen.n / 2:
            continue
        runs = int((np.diff(column.codes) != 0).sum()) + 1
        together = column.kind == TEXT and runs <= 1.02 * column.n_categories and column.n_categories >= ENOUGH
        if not (_GROUP.search(_spaced(column.name)) or together):
            continue
        each = seen.n / column.n_categories
        words = (
            f"{column.name!r} has {column.n_categories:,} values with {each:.3g} rows each{seen.sampled} and may say which rows belong "
            "together. If new rows will be of other groups, the model must be scored by groups that it has not seen: "
            f"say group={column.name!r}."
        )
        yield Suspicion("group", (column.name,), words, "warning")


def many_categories(seen: TableView) -> Iterator[Suspicion]:
    """Categories with so many categories that few rows are left for each, or that codes have no room for all."""
    for column in seen.each_column():
        if column.kind != TEXT or column.held is not None or is_identifier(column, seen.n):
            continue
        words = f"{column.name!r} has {column.n_categories:,} categories in {seen.n:,} rows{seen.sampled}:"
        if column.n_categories > MOST_CODES:
            merged = (
                f"trees that part sets of categories tell the {MOST_CODES - 1} most frequent apart and take the others as one. Only "
                "members "
                "that read categories as means of the target tell all apart."
            )
            yield Suspicion("many categories", (column.name,), f"{words} {merged}", "warning")
        elif column.n_categories > max(seen.n / 10, 50):
            yield Suspicion("many categories", (column.name,), f"{words} little can be learned about each.", "info")


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _spaced(name: str) -> str:
    """A name in small letters with a line between its words: customerId becomes customer_id."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
