"""A trained model as a graph of operations on the rows of a table, which `onnx_writer.py` and `c_writer.py` write down.

Every operation gives a matrix of float64, one row for each row of the table, `width` columns. The operations, with a and b their inputs:

    number                  a column of the table that holds numbers; data: the Input
    category                a row of a table of numbers for each category; data: a CategoryTable
    constant                the same row for all; data: the row (width,)
    trees                   scores of the trees of a Forest on the features a, added up in the order of the trees; data: a TreeSum
    tree_values             the value of every tree of a Forest by itself; data: a TreeSum
    add sub mul div         arithmetic of a and b, column by column; an input of one column serves all columns of the other
    max min                 the larger and the smaller of a and b
    greater greater_equal   1 where it holds, else 0
    is_missing              1 where a is NaN, else 0
    where                   b where a is not 0, else c
    neg exp log expit sqrt  of a; exp, log and expit are those of `kernels/losses/exponential.py`
    library_exp library_log those of the platform, for what NumPy computes
    softmax                 over the columns of a, with exp
    concat                  columns side by side
    take                    some columns of a; data: their positions
    matmul                  a times a constant matrix; data: the matrix
    row_sum row_max row_min over the columns of a: one column
    argmax                  the number of the first column of a that is the largest
    sort                    the columns of each row in ascending order
    weighted_median         the weighted median of the columns of a; data: the weights
    nearest                 the rows of a constant table that are nearest to a: their numbers, then their distances; data: NearestRows
    lookup                  a number of a constant table for each number in a; data: the table (r,)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import NotExportableError
from woodwind.data.tables.fields import TimeField
from woodwind.data.tables.schema import Header
from woodwind.tree.forest import Forest

Floats = NDArray[np.float64]

NUMBER, TEXT = "number", "text"


class Input(NamedTuple):
    """A column that an exported model reads: one of the training table, or a feature of a date of it."""

    position: int  # of the column in the training table
    part: int  # of a date, the feature; else 0
    name: str
    moment: TimeField | None = None  # how a date becomes numbers


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation: see the top of this file."""

    op: str
    inputs: tuple["Operation", ...]
    width: int
    data: Any = None


class CategoryTable(NamedTuple):
    """Numbers of categories."""

    column: Input
    keys: tuple[Any, ...]  # text or numbers
    rows: Floats  # (len(keys) + 2, width): of each key, of categories that training never saw, of missing values


class TreeSum(NamedTuple):
    """Trees, and the number of codes of each of their features, 0 for numbers."""

    forest: Forest
    n_codes: NDArray[np.int64]


class NearestRows(NamedTuple):
    """Rows among which neighbours are looked for, and how many."""

    rows: Floats  # (r, c)
    k: int


class Output(NamedTuple):
    """What an exported model gives: numbers, or the label whose number is given."""

    name: str
    operation: Operation
    labels: NDArray[Any] | None = None


@dataclass(eq=False)
class InputColumns:
    """The columns of the training table, from which operations are made; one operation for each use of a column, however often."""

    header: Header
    owner: str
    _numbers: dict[tuple[int, int], Operation] = field(default_factory=dict)
    _kinds: dict[int, str] = field(default_factory=dict)
    moments: dict[int, TimeField] = field(default_factory=dict)

    def name(self, position: int) -> str:
        """What a column is called."""
        return f"x{position}" if self.header.names is None else self.header.names[position]

    def _use(self, position: int, kind: str) -> None:
        if self._kinds.setdefault(position, kind) != kind:
            raise NotExportableError(
                f"{self.owner}: one member reads the column {self.name(position)!r} as numbers and another as text. Train all members on "
                "one table in which the column has one type."
            )

    def number(self, position: int, moment: TimeField | None = None, part: int = 0) -> Operation:
        """The numbers of a column, or of a feature of a date."""
        self._use(position, NUMBER)
        if moment is not None:
            self.moments[position] = moment
        name = self.name(position) if moment is None else moment.features[part]
        made = Operation("number", (), 1, Input(position, part, name, moment))
        return self._numbers.setdefault((position, part), made)

    def category(self, position: int, keys: Sequence[Any], rows: Floats, is_text: bool) -> Operation:
        """A row of numbers for each category of a column."""
        self._use(position, TEXT if is_text else NUMBER)
        rows = np.asarray(rows, np.float64).reshape(len(keys) + 2, -1)
        return Operation("category", (), rows.shape[1], CategoryTable(Input(position, 0, self.name(position)), tuple(keys), rows))

    def kind(self, position: int) -> str | None:
        """Whether a column holds numbers or text; None where nothing reads it."""
        return self._kinds.get(position)


# A column that a member reads: its position in the training table, or something that was computed.
Column = int | Operation


@dataclass(frozen=True, eq=False)
class Graph:
    """An exported model."""

    columns: InputColumns
    outputs: tuple[Output, ...]
    about: dict[str, str]  # what the file says of itself

    @property
    def is_matrix(self) -> bool:
        """Whether the table is one matrix of numbers."""
        positions = range(self.columns.header.n_columns)
        return not self.columns.moments and all(self.columns.kind(position) in (NUMBER, None) for position in positions)

    @property
    def inputs(self) -> list[Input]:
        """What the model reads, in the order of the columns: all columns of a matrix, else those that are used."""
        found = []
        for position in range(self.columns.header.n_columns):
            moment = self.columns.moments.get(position)
            if moment is not None:
                found += [Input(position, part, name, moment) for part, name in enumerate(moment.features)]
            elif self.is_matrix or self.columns.kind(position) is not None:
                found.append(Input(position, 0, self.columns.name(position)))
        return found

    def operations(self) -> Iterator[Operation]:
        """All operations, each after its inputs and once."""
        seen: set[int] = set()
        stack = [(output.operation, False) for output in reversed(self.outputs)]
        while stack:
            operation, ready = stack.pop()
            if id(operation) in seen:
                continue
            if ready:
                seen.add(id(operation))
                yield operation
            else:
                stack.append((operation, True))
                stack.extend((one, False) for one in reversed(operation.inputs))

    def keys(self) -> dict[int, tuple[Any, ...]]:
        """The categories of each column that has any, in the order in which they are first met: all that any part of the model knows."""
        found: dict[int, dict[Any, None]] = {}
        for operation in self.operations():
            if operation.op == "category":
                found.setdefault(operation.data.column.position, {}).update(dict.fromkeys(operation.data.keys))
        return {position: tuple(keys) for position, keys in found.items()}


def category_rows(table: CategoryTable, keys: Sequence[Any]) -> Floats:
    """The rows of a table for other keys, among them its own: those that it does not know are such as training never saw."""
    number = {key: row for row, key in enumerate(table.keys)}
    unseen, missing = len(table.keys), len(table.keys) + 1
    return table.rows[[*(number.get(key, unseen) for key in keys), unseen, missing]]


# ---------------------------------------------------------------------------------------------------- making operations


def constant(values: Any) -> Operation:
    """A constant row."""
    row = np.atleast_1d(np.asarray(values, np.float64))
    return Operation("constant", (), row.size, row)


def each(op: str, *inputs: Any) -> Operation:
    """An operation column by column; numbers and arrays are constants."""
    nodes = tuple(one if isinstance(one, Operation) else constant(one) for one in inputs)
    return Operation(op, nodes, max(node.width for node in nodes))


def concat(parts: Sequence[Operation]) -> Operation:
    """Columns side by side."""
    return parts[0] if len(parts) == 1 else Operation("concat", tuple(parts), sum(part.width for part in parts))


def take(operation: Operation, positions: Sequence[int] | NDArray[np.integer]) -> Operation:
    """Some columns."""
    chosen = tuple(int(position) for position in positions)
    if chosen == tuple(range(operation.width)):
        return operation
    return Operation("take", (operation,), len(chosen), chosen)


def matmul(operation: Operation, matrix: Floats) -> Operation:
    """Times a constant matrix."""
    return Operation("matmul", (operation,), matrix.shape[1], np.asarray(matrix, np.float64))


def over_row(op: str, operation: Operation) -> Operation:
    """One column from all columns: a sum, the largest, the smallest, or the number of the largest."""
    return Operation(op, (operation,), 1)


def row_wise(op: str, operation: Operation) -> Operation:
    """As many columns, each from all columns: softmax or sort."""
    return Operation(op, (operation,), operation.width)


def trees(features: Operation, forest: Forest, n_codes: NDArray[np.int64]) -> Operation:
    """The scores of trees."""
    return Operation("trees", (features,), forest.n_outputs, TreeSum(forest, n_codes))


def nearest(queries: Operation, rows: Floats, k: int) -> tuple[Operation, Operation]:
    """The numbers of the nearest rows, and their Euclidean distances, (n, k) each; of equals the first rows."""
    found = Operation("nearest", (queries,), 2 * k, NearestRows(rows, k))
    return take(found, range(k)), take(found, range(k, 2 * k))


def lookup(numbers: Operation, table: Floats) -> Operation:
    """The entries of a table at these numbers."""
    return Operation("lookup", (numbers,), numbers.width, np.asarray(table, np.float64))


def clipped(operation: Operation, low: float, high: float) -> Operation:
    """Kept within two ends."""
    return each("min", each("max", operation, low), high)


def library_softmax(scores: Operation) -> Operation:
    """The softmax of scores, as NumPy computes it."""
    raised = each("library_exp", each("sub", scores, over_row("row_max", scores)))
    return each("div", raised, over_row("row_sum", raised))
