"""Columns of many categories in boosting, forests and trees: read as statistics of the target, of which a training row never finds its own.

Rows that are trained on know the rows of other folds, or earlier rows; rows that are held out, and rows to come, know all rows that are
trained on. The page is docs/algorithms/ordered-target-statistics.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import LEAST_WORK, side_by_side
from woodwind.base.random_streams import key
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking, Ranks
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.data.tables.categories import MOST_CODES
from woodwind.data.tables.fields import CategoryField, Field, StatisticsField
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import CachedReader, Column, Table
from woodwind.data.tables.target_statistics import StatisticsReader, StatisticsTarget, TargetStatistics
from woodwind.ensemble.boosting import auto_defaults
from woodwind.ensemble.held_out import fold_numbers
from woodwind.estimators.base.model import check_lengths, row_count
from woodwind.estimators.base.several_targets import SeveralTargets
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import Weighing
from woodwind.losses.base import in_rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def statistics_columns(schema: Schema, encoding: str, n_rows: int) -> list[int]:
    """Input columns whose categories are read as statistics of the target."""
    if encoding == "sets":
        return []
    sizes = {column: len(field.categories.values) for column, field in enumerate(schema.fields) if isinstance(field, CategoryField)}
    return [column for column, size in sizes.items() if encoding != "auto" or auto_defaults.reads_means(size, n_rows)]


def columns_of_many(schema: Schema, encoding: str) -> list[int]:
    """The same for forests and single trees, where 'auto' is sets as long as all categories are told apart, and statistics beyond."""
    if encoding != "auto":
        return statistics_columns(schema, encoding, 0)
    fields = enumerate(schema.fields)
    return [column for column, field in fields if isinstance(field, CategoryField) and len(field.categories.values) > MOST_CODES]


def read_with_statistics(  # noqa: PLR0913, PLR0917  what was read already stands beside how it would be read
    X: Any,
    values: dict[str, Any],
    target: Target | SeveralTargets,
    weighing: Weighing,
    seed: Callable[[], int],
    threads: int,
    owner: str,
    known: Schema | None = None,
    read: tuple[Schema, Table] | None = None,
) -> tuple[Schema, Table]:
    """A table to train a forest or a tree on, and how it is read: as `read_training`, with statistics for columns of many categories.

    `seed` is asked only where something is drawn; `known` is how an earlier training has read its own table; `read` is a table that was
    read already.
    """
    encoding = values["categorical_encoding"]
    if read is not None:
        schema, table = read
    elif known is None:
        if weighing.given is not None:
            check_lengths(owner, row_count(X), target.n_rows)
        schema, table = Schema.learn(X, values["categorical_features"], weight=weighing.given, owner=owner)
    else:
        schema, table = known, known.read(X, owner=owner)
    check_lengths(owner, table.n_rows, target.n_rows)
    columns = columns_of_many(schema, encoding) if known is None else []
    if columns or has_statistics(schema):
        told = KnownTarget.of(target, weighing, None, encoding, seed(), threads)
        if columns:
            schema, table = with_statistics(schema, table, columns, told)
        table = StatisticsTable(schema, table, told).for_training()
    if known is None:
        schema.warn_merged(owner)
    return schema, table


def has_statistics(schema: Schema) -> bool:
    """Whether some columns are read so."""
    return any(isinstance(field, StatisticsField) for field in schema.fields)


@dataclass(frozen=True, eq=False)
class KnownTarget:
    """The target that statistics are of: what rows of a table are learned from, and how they are divided or put in order."""

    target: StatisticsTarget
    labels: tuple[str, ...]
    groups: Integers | None
    encoding: str
    seed: int
    threads: int

    @classmethod
    def of(
        cls, target: Target | SeveralTargets, weighing: Weighing, groups: Integers | None, encoding: str, seed: int, threads: int
    ) -> "KnownTarget":
        """The target of a training; of very many classes the most frequent have statistics."""
        weight = in_rows(weighing.given)
        rows = np.arange(target.n_rows) if weight is None else np.flatnonzero(weight)
        if isinstance(target, SeveralTargets):
            numbers = target.indicators()[:, : auto_defaults.MOST_CLASS_STATISTICS]
            labels = tuple(f"mean {position}" for position in range(numbers.shape[1]))
            return cls(StatisticsTarget(numbers, rows, weight), labels, groups, encoding, seed, threads)
        classes: tuple[int, ...] = ()
        labels = ("mean",)
        if target.classes is not None:
            often = np.bincount(target.y[rows], minlength=target.n_classes)
            most = np.argsort(-often, kind="stable")[: auto_defaults.MOST_CLASS_STATISTICS]
            classes = (1,) if target.n_classes == 2 else tuple(np.sort(most).tolist())
            labels = tuple(str(target.classes[position]) for position in classes)
            labels = labels if len(set(labels)) == len(labels) else tuple(map(str, classes))
        return cls(StatisticsTarget(target.y, rows, weight, classes), labels, groups, encoding, seed, threads)

    def known(
        self, rows: Integers, number: int, columns: list[tuple[NDArray[np.int32], int]], order: Integers | None = None
    ) -> list[Floats]:
        """What every row may know in a training on some rows: means (width, n) of each column, given its categories and how many there are.

        `number` names what is drawn. Of other rows nothing is looked at, not even for the prior. `order` is the sequence of these rows in
        which each knows those before it, where it is given and not drawn.
        """
        target = replace(self.target, rows=rows)
        _ = target.amounts, target.weights, target.moments  # once, before threads share them
        name = key(self.seed, "statistics", number)
        if self.encoding == "ordered":
            drawn = target.order(name) if order is None else order
        else:
            drawn = np.full(len(target.y), -1)
            groups = None if self.groups is None else self.groups[rows]
            drawn[rows] = fold_numbers(name, len(rows), auto_defaults.STATISTICS_FOLDS, None, groups)

        def of_column(_: int, given: tuple[NDArray[np.int32], int]) -> Floats:
            numbers, count = given
            own = TargetStatistics.learn(target, numbers, count)
            means, _counts = (own.ordered if self.encoding == "ordered" else own.out_of_fold)(target, numbers, drawn)
            return means

        worth = len(target.y) * len(columns) * target.width >= LEAST_WORK
        return side_by_side(of_column, columns, min(self.threads, len(columns)) if worth else 1)


def with_statistics(schema: Schema, table: Table, columns: list[int], known: KnownTarget) -> tuple[Schema, Table]:
    """The schema and the table with statistics of all rows in the place of some columns."""
    fields: list[Field] = list(schema.fields)
    features: list[Column] = []
    positions: list[int] = []
    _ = known.target.moments
    for column, field in enumerate(schema.fields):
        old = schema.features_of(column)
        if column not in columns or not isinstance(field, CategoryField):
            features += [table.columns[feature] for feature in old]
            positions += table.matrix_column[old.start : old.stop].tolist()
            continue
        numbers = table.columns[old.start].category_numbers
        assert numbers is not None  # categories have numbers
        read = np.asarray(numbers(0, table.n_rows), np.int32)
        statistics = TargetStatistics.learn(known.target, read, len(field.categories.values))
        made = StatisticsField(field.name, field.categories, statistics, known.labels)
        fields[column] = made
        own = zip(made.features, statistics.means, strict=True)
        features += [Column(name, StatisticsReader(numbers, means), None, numbers) for name, means in own]
        positions += [-1] * len(made.features)
    return Schema(schema.names, tuple(fields), schema.sparse_absent), Table(
        tuple(features), table.n_rows, table.source, np.array(positions, np.int64)
    )


@dataclass(frozen=True, eq=False)
class StatisticsTable:
    """A training table some of whose columns are statistics: its codes for any training on some of its rows."""

    schema: Schema
    table: Table  # with the statistics of all rows
    known: KnownTarget

    def for_training(self, rows: Integers | None = None, number: int = 0, order: Integers | None = None) -> Table:
        """The table as a training on some rows, or on all, sees it."""
        columns = list(self.table.columns)
        for position, values in self._values(rows, number, order):
            columns[position] = Column(columns[position].name, CachedReader(values))
        return replace(self.table, columns=tuple(columns))

    def codes_for(self, cuts: Cuts | Ranking, codes: Any, rows: Integers, number: int, order: Integers | None = None) -> Any:
        """Codes for a training on some rows; `codes` are those of a training on all, in memory or in blocks."""
        if not isinstance(cuts, Cuts) or isinstance(codes, SparseCodes | Ranks):
            return cuts.encode(self.for_training(rows, number, order), self.known.threads)
        found = self._values(rows, number, order)
        return codes.with_columns((position, np.searchsorted(cuts.edges[position], values)) for position, values in found)

    def _values(self, rows: Integers | None, number: int, order: Integers | None = None) -> Iterator[tuple[int, Floats]]:
        """The statistics of every row, by feature."""
        fields = [(column, field) for column, field in enumerate(self.schema.fields) if isinstance(field, StatisticsField)]
        first = [self.schema.features_of(column).start for column, _ in fields]
        given: list[tuple[NDArray[np.int32], int]] = []
        for position, (_, field) in zip(first, fields, strict=True):
            read: Any = self.table.columns[position].category_numbers
            given.append((np.asarray(read(0, self.table.n_rows), np.int32), len(field.categories.values)))
        found = self.known.known(self.known.target.rows if rows is None else rows, number, given, order)
        for position, means in zip(first, found, strict=True):
            yield from enumerate(means, position)
