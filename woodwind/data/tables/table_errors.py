"""What is said when a table cannot be used: what is wrong and where, why it matters, and what to do about it.

Every message begins with a code that never changes its meaning; numbers are only ever appended.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from woodwind.base.errors import ColumnTypeError, DataError, TableError, TargetError

MEANINGS = {
    "D001": "the input is of no type that can be read as a table",
    "D002": "the input has one dimension",
    "D003": "the input has no dimension, or more than two",
    "D004": "the table has no rows",
    "D005": "the table has no columns",
    "D006": "column names are repeated",
    "D007": "a column holds complex numbers",
    "D008": "a structured array was given",
    "D009": "rows of a nested list differ in length",
    "D010": "a column mixes kinds of values",
    "D011": "a column is of a type that no feature can be made of",
    "D012": "a column of the training table is missing",
    "D013": "the number of columns differs from training",
    "D014": "a column is of another kind than in training and cannot be converted",
    "D015": "a lazy frame was given",
    "D016": "categorical_features does not fit the table",
    "D017": "a column could not be read",
    "F001": "there is no such file",
    "F002": "a file cannot be opened",
    "F003": "a file is of a kind that is not read",
    "F004": "a file is empty",
    "F005": "a file is damaged or incomplete",
    "F006": "a line has more or fewer cells than the first",
    "F007": "a quote is never closed",
    "F008": "column names are repeated in a file",
    "F009": "a text file holds NUL bytes",
    "F010": "files of one table differ in their columns",
    "F011": "a file lacks a column that was asked for",
    "F012": "a written schema is not what it should be",
    "F013": "a column is not what the schema says",
    "F014": "a file has columns and no rows",
    "F015": "a text file is not in the encoding that it begins with",
    "F016": "what was given is no place of a file",
    "F017": "a record is too long",
    "F018": "a column has different types in files of one table",
    "F019": "the name of a file does not say what to write",
    "F020": "a file cannot be written",
    "F021": "columns to be written differ in length",
    "T001": "the target is missing in some rows, or in all",
    "T002": "the target is the same in every row",
    "T003": "the target does not fit the task",
    "T004": "the target is infinite in some rows",
    "T005": "the target has nearly as many classes as rows",
    "T006": "the task is not known",
    "T007": "a column that was named is not there",
    "T008": "no column is left to learn from",
    "T009": "the table has no names of columns",
    "T010": "a group, a query or a time is missing in some rows",
    "T011": "the time column has no order",
    "T012": "the weight of some rows, or of all, is no number that a row can count by",
    "T013": "the target has labels that the model does not know",
    "T014": "the target is no relevance of documents",
    "T015": "the query column leaves nothing to rank",
}


# Why a column of lists or of other objects is refused, and what to do about it.
NO_FEATURE = "A feature is made of numbers, text, dates or truth values: each argument must be a string or a number."
LEAVE_OUT = (
    "take the parts that matter out into columns of their own, or drop the column; "
    "woodwind.fit leaves out what ignore=[...] names (--ignore)."
)


def table_error(code: str, what: str, why: str, fix: str) -> DataError:
    """The error with this code: one sentence each for what, why and fix."""
    if code.startswith("T"):
        return TargetError(f"WW-{code}: {what}\n{why}\nFix: {fix}")
    kind = ColumnTypeError if code == "D011" else TableError
    return kind(f"WW-{code}: {what}\n{why}\nFix: {fix}")


def listed(items: Iterable[Any], most: int = 3) -> str:
    """Some of the items, quoted, and how many more there are."""
    kept = [repr(item) if isinstance(item, str) else str(item) for item in items]
    more = f" and {len(kept) - most:,} more" if len(kept) > most else ""
    return ", ".join(_cut(item) for item in kept[:most]) + more


def repeated_names(names: Sequence[str]) -> list[str]:
    """The names that are there more than once, in the order of the alphabet."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _cut(text: str, most: int = 60) -> str:
    """A long value shortened: a message must stay readable whatever stands in a cell."""
    return text if len(text) <= most else text[: most - 3] + "..."
