"""What is asked of a target column: which of two classes, which of several, or how much."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from woodwind.data.tables.convert import plain
from woodwind.data.tables.raw import SUBTRACT, are_beyond_doubles, warn_of_precision
from woodwind.data.tables.table_errors import listed, table_error
from woodwind.data.tables.text_types import marks

TASKS = ("auto", "classification", "binary", "multiclass", "regression", "ranking")
# Of gains of 2 ** relevance - 1: sums over the documents of a query stay exact.
HIGHEST_RELEVANCE = 31.0

# Whole numbers are labels when there are so few of them, and so many rows of each.
FEW, ROWS_OF_EACH = 10, 10
# Among more than five, a value as rare as this says that they count something.
SOME, RARE = 5, 0.002
# Up to so many whole numbers are labels when they are 0, 1, 2 ... or 1, 2, 3 ..., and no rarer than this share of an even one.
MANY, EVEN = 100, 0.2
# More labels than this, or than half of the rows, are no classes but names.
MOST_CLASSES = 1_000


@dataclass(frozen=True, eq=False)
class TargetColumn:
    """A target column, ready for training."""

    task: str  # "binary", "multiclass", "regression" or "ranking"
    y: NDArray[Any]  # class numbers as int32, or numbers as float64
    classes: tuple[Any, ...]  # the labels in the order of the class numbers; () for numbers
    why: str  # one sentence: what was decided, from what, and how to decide otherwise
    notes: tuple[str, ...] = ()  # what else should be known about the target


def missing_rows(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """The rows without a target: empty, or not a number."""
    column = plain(column)
    absent = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    return np.asarray(absent.to_numpy(), np.bool_)


def read_target(column: pa.ChunkedArray | pa.Array, task: str = "auto", name: str = "") -> TargetColumn:
    """Find out what is asked, and read labels or numbers.

    Text and truth values are classes. Numbers with a fraction are numbers. Whole numbers are classes when they are two, or at most ten
    with ten rows of each, or 0, 1, 2 and so on with about as many rows of each; else they are numbers. `task` overrides this.
    """
    if task not in TASKS:
        what = f"task={task!r} is not known; allowed are {listed(TASKS, 9)}."
        raise table_error("T006", what, "It says what is to be predicted.", 'say task="auto" to have it found out.')
    column = plain(column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column]))
    label = f"the target column {name!r}" if name else "the target"
    if len(column) == 0:
        raise table_error("T001", f"{label} has no rows.", "There is nothing to learn from.", "give a table with rows.")
    _refuse_missing(column, label)
    kind = column.type
    if task == "ranking":
        return _of_relevance(column, label)
    if pa.types.is_temporal(kind):
        raise table_error(
            "T003",
            f"{label} is of type {kind}.",
            "Woodwind predicts classes and numbers.",
            "make it a number first, such as days since a fixed date.",
        )
    if _is_number(kind):
        return _of_numbers(column, task, label)
    if not (pa.types.is_boolean(kind) or pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise table_error("T003", f"{label} is of type {kind}.", "Woodwind predicts classes and numbers.", "choose another column.")
    if task == "regression" and not pa.types.is_boolean(kind):
        few = pc.unique(column).to_pylist()
        raise table_error(
            "T003",
            f"{label} is text ({listed(few)}), and a regression needs numbers.",
            "Text has no order and no distance.",
            'leave task="regression" out, or mend the cells that are no numbers: one is enough to make a column text.',
        )
    if task == "regression":
        y = column.cast(pa.uint8()).to_numpy().astype(np.float64)
        return TargetColumn("regression", y, (), f"{label} is read as numbers, 0 for false and 1 for true, as asked.")
    return _of_labels(column, task, label, f"{label} is {'true or false' if pa.types.is_boolean(kind) else 'text'}")


def read_truth(column: pa.ChunkedArray, classes: tuple[Any, ...], name: str) -> NDArray[Any]:
    """The target of a table that a model is tried on: numbers of its classes, or numbers where it has none."""
    column = plain(column)
    label = f"the target column {name!r}"
    _refuse_missing(column, label)
    if classes:
        return _known_labels(column, classes, label)
    if not (_is_number(column.type) or pa.types.is_boolean(column.type)):
        fix = "mend the cells that are no numbers: one is enough to make a column text."
        raise table_error("T003", f"{label} is of type {column.type}.", "The model predicts numbers.", fix)
    numbers = np.asarray((column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else column).cast(pa.float64()).to_numpy())
    _refuse_infinite(numbers, label)
    return numbers


def _of_relevance(column: pa.ChunkedArray, label: str) -> TargetColumn:
    """The relevance of documents: numbers that are not negative, some of them above zero."""
    kind = column.type
    fix = "give 0 for a document that does not matter, and more for one that matters more, such as 0 to 4."
    if not (_is_number(kind) or pa.types.is_boolean(kind)):
        raise table_error("T014", f"{label} is of type {kind}.", "With a query it is the relevance of documents, a number.", fix)
    numbers = np.asarray((column.cast(pa.uint8()) if pa.types.is_boolean(kind) else column).cast(pa.float64()).to_numpy())
    _refuse_infinite(numbers, label)
    for wrong, what in ((numbers < 0.0, "negative"), (numbers > HIGHEST_RELEVANCE, f"above {HIGHEST_RELEVANCE:g}")):
        rows = np.flatnonzero(wrong)
        if rows.size:
            told = f"{label} is {what} in {rows.size:,} of {numbers.size:,} rows (rows {listed(rows + 1)})."
            raise table_error("T014", told, "It is a relevance, which is worth 2 ** relevance - 1 in NDCG.", fix)
    if not (numbers > 0.0).any():
        raise table_error("T014", f"{label} is 0 in every row.", "No query has a relevant document: there is nothing to rank by.", fix)
    return TargetColumn("ranking", numbers, (), f"{label} is read as the relevance of documents, from 0 to {numbers.max():g}.")


def _known_labels(column: pa.ChunkedArray, classes: tuple[Any, ...], label: str) -> NDArray[np.int64]:
    """Positions of labels among the classes of a model; 1, 1.0 and "1" are the same label."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    coded = column.combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    there = coded.dictionary.to_pylist()
    position = {_spelled(one): number for number, one in enumerate(classes)}
    unknown = [one for one in there if _spelled(one) not in position]
    if unknown:
        raise table_error(
            "T013",
            f"{label} has {'a label' if len(unknown) == 1 else 'labels'} that the model does not know: {listed(unknown, 5)}.",
            f"It was trained with {listed(classes, 10)}.",
            "leave such rows out, mend their labels, or train with rows of them.",
        )
    numbers = np.array([position[_spelled(one)] for one in there], np.int64)
    return np.asarray(numbers[coded.indices.to_numpy(zero_copy_only=False)], np.int64)


def _spelled(label: Any) -> str:
    """A label as text: a whole number without a point, truth values as they are written in files."""
    if isinstance(label, bool):
        return str(label).lower()
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _refuse_missing(column: pa.ChunkedArray, label: str) -> None:
    rows = np.flatnonzero(missing_rows(column))
    if rows.size == len(column):
        raise table_error("T001", f"{label} is empty in every row.", "There is nothing to learn from.", "choose another column.")
    if rows.size:
        share = 100 * rows.size / len(column)
        raise table_error(
            "T001",
            f"{label} is missing in {rows.size:,} of {len(column):,} rows ({share:.2g} %; rows {listed(rows + 1)}).",
            "A model cannot learn from rows without a target.",
            "leave them out with drop_missing_target=True (--drop-missing-target), or choose another target.",
        )


def _refuse_infinite(numbers: NDArray[Any], label: str) -> None:
    wrong = np.flatnonzero(~np.isfinite(numbers)) if numbers.dtype.kind == "f" else np.zeros(0, np.int64)
    if wrong.size:
        raise table_error(
            "T004",
            f"{label} is infinite in {wrong.size:,} of {numbers.size:,} rows (rows {listed(wrong + 1)}).",
            "No mean and no loss can be computed of such.",
            "leave these rows out, or write what they stand for.",
        )


def _of_numbers(column: pa.ChunkedArray, task: str, label: str) -> TargetColumn:
    """A target of numbers: as numbers, or as labels if it looks like these."""
    beyond = are_beyond_doubles(column)
    if beyond and pa.types.is_decimal(column.type):
        column = _as_whole(column)
    numbers = np.asarray((column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column).to_numpy())
    _refuse_infinite(numbers, label)
    if task == "auto":
        is_class, why = _looks_like_labels(numbers, label)
    else:
        is_class, why = task != "regression", f"{label} is read as {'numbers' if task == 'regression' else 'classes'}, as asked"
    if is_class:
        return _of_labels(column, task, label, why)
    if beyond:
        warn_of_precision([label], f'If they are labels, say task="classification"; {SUBTRACT}')
    notes = ("it is the same in every row: there is nothing to learn",) if (numbers == numbers[0]).all() else ()
    how = '; say task="classification" for classes.' if task == "auto" and "fraction" not in why else "."
    return TargetColumn("regression", numbers.astype(np.float64), (), why + how, notes)


def _as_whole(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimals without a fraction as whole numbers, where they have at most 64 bits."""
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def _looks_like_labels(numbers: NDArray[Any], label: str) -> tuple[bool, str]:
    """Whether numbers are labels, and why."""
    if numbers.dtype.kind == "f" and not (numbers == np.round(numbers)).all():
        return False, f"{label} has numbers with a fraction and is read as numbers"
    values, counts = np.unique(numbers, return_counts=True)
    shown = f"{label} has {values.size:,} different whole numbers in {numbers.size:,} rows"
    if values.size <= 2:
        return True, f"{shown} and is read as classes"
    rarest = int(counts.min())
    if values.size <= FEW and numbers.size >= ROWS_OF_EACH * values.size:
        if values.size > SOME and rarest < max(2.0, RARE * numbers.size):
            return False, f"{shown}, of which the rarest is in {rarest:,}, as when something is counted: it is read as numbers"
        return True, f"{shown} and is read as classes"
    in_turn = values[0] in (0, 1) and bool((np.diff(values) == 1).all())
    if values.size <= MANY and in_turn and rarest >= max(ROWS_OF_EACH, EVEN * numbers.size / values.size):
        return True, f"{shown}, from {int(values[0])} to {int(values[-1])} without a gap and about as often each: it is read as classes"
    return False, f"{shown} and is read as numbers"


def _of_labels(column: pa.ChunkedArray, task: str, label: str, why: str) -> TargetColumn:
    """A target of labels: numbered in the order of the labels."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    coded = column.combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    order = np.asarray(pc.sort_indices(coded.dictionary.cast(pa.uint8()) if pa.types.is_boolean(column.type) else coded.dictionary))
    numbers = np.empty(order.size, np.int32)
    numbers[order] = np.arange(order.size, dtype=np.int32)
    y = numbers[coded.indices.to_numpy(zero_copy_only=False)]
    classes = tuple(coded.dictionary.take(pa.array(order)).to_pylist())
    _check_classes(classes, y.size, task, label)
    found = "binary" if len(classes) == 2 else "multiclass"
    shown = f"{why}: {len(classes):,} classes ({listed(classes)})"
    can_be_numbers = task == "auto" and _is_number(column.type)
    ending = '; say task="regression" for numbers.' if can_be_numbers else "."
    return TargetColumn(found, y, classes, shown + ending, tuple(_class_notes(classes, np.bincount(y))))


def _check_classes(classes: tuple[Any, ...], n: int, task: str, label: str) -> None:
    if len(classes) == 1:
        raise table_error(
            "T002",
            f"{label} is {classes[0]!r} in every row.",
            "Where there is one class, there is nothing to tell apart.",
            "choose another target, or add rows of the other classes.",
        )
    if task == "binary" and len(classes) != 2:
        raise table_error(
            "T003",
            f'{label} has {len(classes):,} classes ({listed(classes, 5)}), and task="binary" needs two.',
            "A question with two answers was asked.",
            'say task="multiclass", or mend labels that are spelt in several ways.',
        )
    if task == "auto" and len(classes) > min(MOST_CLASSES, max(n / 2, 20)):
        raise table_error(
            "T005",
            f"{label} has {len(classes):,} different texts in {n:,} rows ({listed(classes)}).",
            "That is a name or an identifier rather than a class.",
            'choose another target; if these are classes, say task="multiclass"; if they should be numbers, mend the cells that are none.',
        )


def _class_notes(classes: tuple[Any, ...], counts: NDArray[Any]) -> list[str]:
    notes = []
    single = [classes[position] for position in np.flatnonzero(counts == 1)]
    if single:
        verb = "occurs" if len(single) == 1 else "occur"
        notes.append(f"{listed(single)} {verb} in a single row: nothing can be checked about such a class")
    there = [item for item in classes if isinstance(item, str) and item.strip() in set(marks().to_pylist())]
    if there:
        notes.append(f"{listed(there)} is taken as a class; if it stands for a missing target, leave those rows out")
    return notes
