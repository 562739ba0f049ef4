"""Partial dependence and individual conditional expectation: what is predicted if a column had one value in all rows, all else unchanged.

Friedman 2001, section 8.2; Goldstein, Kapelner, Bleich & Pitkin 2015. Values are those of rows of the table, so that nothing is predicted
for what no row has, and columns of every type stay as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import choose, key
from woodwind.data.tables.replace_column import ReplaceableTable

Floats = NDArray[np.float64]

# Values of a column at most, where it is asked alone and with another; categories beyond the most frequent are left out.
MOST_VALUES, MOST_VALUES_OF_TWO, MOST_CATEGORIES = 50, 20, 25


@dataclass(frozen=True, eq=False)
class GridOfColumn:
    """The values at which a column is asked."""

    name: str
    rows: NDArray[np.int64]  # (g,) a row that has each
    numbers: Floats | None  # (g,) ascending; None for categories
    words: tuple[str, ...]  # of categories, the most frequent first; none for numbers
    spread: Floats  # the tenths of the values of the column, for numbers

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class PartialDependence:
    """What is predicted on average, and for each row, over one column or over two."""

    columns: tuple[GridOfColumn, ...]
    average: Floats  # (g,) or (g1, g2)
    individual: Floats | None  # (g, n) of one column
    predicted: str  # what is predicted, in words


def partial_dependence(
    estimator: Any, X: Any, columns: Sequence[Any], *, target: Any = None, grid_size: int | None = None, max_rows: int = 500, seed: int = 0
) -> PartialDependence:
    """Ask a trained estimator about a table whose columns are set to one value after another.

    Parameters
    ----------
    estimator : fitted classifier or regressor
        Of any library; of a classifier the probability of a class is asked for.
    X : array or frame
        Rows to average over; of more than `max_rows`, so many are drawn.
    columns : one or two names or positions
    target : label, default=None
        The class; None for the second of two.
    grid_size : int, default=None
        Values at most; None for 50 of one column and 20 of each of two.
    max_rows : int, default=500
    seed : int, default=0
        For the draw of rows.

    Returns
    -------
    PartialDependence
    """
    owner = "partial_dependence"
    if not 1 <= len(columns) <= 2:
        raise ParameterError(f"{owner}: columns must be one or two, not {len(columns)}.")
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows == 0:
        raise DataError(f"{owner}: X has no rows.")
    rows = np.sort(choose(key(seed, owner), n_rows, max_rows)) if n_rows > max_rows else None
    table, whole = ReplaceableTable(X, owner, rows), ReplaceableTable(X, owner)
    ask, words = asked(estimator, target, owner)
    positions = [whole.position(column, owner) for column in columns]
    if len(set(positions)) < len(positions):
        raise ParameterError(f"{owner}: the two columns are the same.")
    size = grid_size or (MOST_VALUES if len(columns) == 1 else MOST_VALUES_OF_TWO)
    grids = tuple(grid_of(table, position, size, estimator) for position in positions)
    if len(grids) == 1:
        curves = np.stack([ask(table.with_rows({positions[0]: int(row)})) for row in grids[0].rows])
        return PartialDependence(grids, curves.mean(axis=1), curves, words)
    average = np.array(
        [[ask(table.with_rows({positions[0]: int(one), positions[1]: int(two)})).mean() for two in grids[1].rows] for one in grids[0].rows]
    )
    return PartialDependence(grids, average, None, words)


def asked(estimator: Any, target: Any, owner: str) -> tuple[Any, str]:
    """How rows become one number each, and what it is."""
    if not hasattr(estimator, "classes_") or not hasattr(estimator, "predict_proba"):
        if target is not None:
            raise ParameterError(f"{owner}: target is the class of a classifier that predicts probabilities, and this is none.")
        return lambda rows: np.asarray(estimator.predict(rows), np.float64).reshape(-1), "prediction"
    classes = np.asarray(estimator.classes_).tolist()
    if target is None:
        if len(classes) != 2:
            raise ParameterError(f"{owner}: give target, the class whose probability is asked for; the classes are {classes}.")
        target = classes[1]
    if target not in classes:
        raise ParameterError(f"{owner}: target must be one of the classes {classes}, but it is {target!r}.")
    position = classes.index(target)
    return lambda rows: np.asarray(estimator.predict_proba(rows))[:, position], f"probability of {target}"


def grid_of(table: ReplaceableTable, column: int, size: int, estimator: Any) -> GridOfColumn:
    """The values of a column to ask for: numbers at equal shares of the rows, or categories by their frequency."""
    name = table.names[column]
    label = name if isinstance(name, str) else f"feature {name}"
    numbers = None if is_category(estimator, column) else table.numbers(column)
    if numbers is not None:
        there = np.flatnonzero(np.isfinite(numbers))
        if there.size == 0:
            raise DataError(f"partial_dependence: column {label!r} has no numbers.")
        order = there[np.argsort(numbers[there], kind="stable")]
        chosen = order[np.unique(np.linspace(0, order.size - 1, min(size * 4, order.size)).astype(np.int64))]
        _, first = np.unique(numbers[chosen], return_index=True)
        kept = first[np.unique(np.linspace(0, first.size - 1, min(size, first.size)).astype(np.int64))]
        return GridOfColumn(label, chosen[kept], numbers[chosen[kept]], (), np.quantile(numbers[there], np.arange(1, 10) / 10.0))
    values = table.values(column)
    texts = np.array(["missing" if value is None or value != value else str(value) for value in values])  # noqa: PLR0124
    found, first, counts = np.unique(texts, return_index=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")[: min(MOST_CATEGORIES, size)]
    return GridOfColumn(label, first[order], None, tuple(found[order].tolist()), np.zeros(0))


def is_category(estimator: Any, column: int) -> bool:
    """Whether an estimator of ours reads a column as categories, although it may hold numbers."""
    schema = getattr(estimator, "schema_", None)
    if schema is None or column >= schema.n_inputs:
        return False
    features = schema.features_of(column)
    return len(features) == 1 and schema.categories[features[0]] is not None
