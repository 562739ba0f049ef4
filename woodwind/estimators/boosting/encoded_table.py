"""A table as boosting trains on it: read, coded in bins or ranks, with statistics of the target for columns of many categories."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.bundles import bundled
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking, Ranks
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.data.tables.fields import StatisticsField
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.estimators.base.category_statistics import (
    KnownTarget,
    StatisticsTable,
    has_statistics,
    statistics_columns,
    with_statistics,
)
from woodwind.estimators.base.model import check_lengths
from woodwind.estimators.boosting.plan import Values, uses_ranks
from woodwind.tree.linear_leaves import LinearInputs

Floats = NDArray[np.float64]


def linear_inputs(table: Table, schema: Schema, weight: Floats | None, values: Values) -> LinearInputs | None:
    """The numbers of a table for linear leaves; None where leaves are constant.

    Statistics of the target are no terms: those of a row differ from one training to another.
    """
    if not values["linear_leaves"]:
        return None
    statistic = np.array([isinstance(field, StatisticsField) for field in schema.fields])[schema.source]
    category = np.array([column.category for column in table.columns], bool)
    return LinearInputs.of(table.float_matrix(), ~(statistic | category), weight)


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table that has been read and coded: several models can be trained from it, in the place of the table itself."""

    schema: Schema
    cuts: Cuts | Ranking
    codes: Any  # Codes, SparseCodes or Ranks; Shards where rows are in blocks
    statistics: StatisticsTable | None = None  # where some columns are read as statistics of the target
    inputs: LinearInputs | None = None  # the numbers of the table, where leaves are to be linear

    @classmethod
    def of(
        cls, X: Any, values: Values, weight: Floats | None, threads: int, owner: str, known: KnownTarget | None = None
    ) -> "EncodedTable | None":
        """Read a table, and code it as the parameters of boosting say; `weight` is how much each row counts for bins and categories.

        None where some columns are to be read as statistics of a target that is not given: then each model needs codes of its own.
        """
        absent = values["sparse_absent"]
        schema, table = Schema.learn(X, values["categorical_features"], weight=weight, owner=owner, sparse_absent=absent)
        statistics, columns = None, statistics_columns(schema, values["categorical_encoding"], table.n_rows)
        if columns:
            if known is None:
                return None
            check_lengths(owner, table.n_rows, len(known.target.y))
            schema, table = with_statistics(schema, table, columns, known)
            statistics = StatisticsTable(schema, table, known)
            table = statistics.for_training()
        schema.warn_merged(owner)
        cuts = Ranking.fit(table) if uses_ranks(values) else Cuts.fit(table, values["max_bins"], weight, threads)
        return cls(schema, cuts, coded(cuts, table, threads, values), statistics, linear_inputs(table, schema, weight, values))

    @classmethod
    def read_by(
        cls, X: Any, by: tuple[Schema, Cuts | Ranking], values: Values, weight: Floats | None, threads: int, owner: str, known: KnownTarget
    ) -> "EncodedTable":
        """Read another table by a schema and cuts that are there."""
        schema, cuts = by
        table, statistics = schema.read(X, owner=owner), None
        check_lengths(owner, table.n_rows, len(known.target.y))
        if has_statistics(schema):
            statistics = StatisticsTable(schema, table, known)
            table = statistics.for_training()
        return cls(schema, cuts, coded(cuts, table, threads, values), statistics, linear_inputs(table, schema, weight, values))

    def training_rows(
        self, take: NDArray[np.int64] | None, y: NDArray[Any], weight: Floats | None, offset: Floats | None, constant: float | None
    ) -> TrainingRows:
        """The rows that are trained on: these of the table, each as often as it is named, or all; the rest as `TrainingRows` has it."""
        return TrainingRows(
            codes=self.codes if take is None else self.codes.take(take),
            y=y,
            weight=weight,
            offset=offset,
            codes_for=self._codes_for(take),
            codes_in=self._codes_in(take),
            constant=constant,
            inputs=self.inputs if self.inputs is None or take is None else self.inputs.take(take),
        )

    def _codes_for(self, take: NDArray[np.int64] | None) -> Callable[[NDArray[np.int32], int], Codes | SparseCodes | Ranks] | None:
        """Codes of the rows that are trained on, for a training on some of them; None where they are the same for all trainings."""
        statistics = self.statistics
        if statistics is None:
            return None

        def codes_for(learn: NDArray[np.int32], number: int) -> Any:
            rows = learn.astype(np.int64) if take is None else np.unique(take[learn])
            codes = statistics.codes_for(self.cuts, self.codes, rows, number)
            return codes if take is None else codes.take(take)

        return codes_for

    def _codes_in(self, take: NDArray[np.int64] | None) -> Callable[[NDArray[np.int32]], Codes | SparseCodes | Ranks] | None:
        """Codes of the rows that are trained on, for a training on some of them in this order; None where no row knows those before it."""
        statistics = self.statistics
        if statistics is None or statistics.known.encoding != "ordered":
            return None

        def codes_in(order: NDArray[np.int32]) -> Any:
            rows = order.astype(np.int64) if take is None else take[order]
            rows = rows[np.sort(np.unique(rows, return_index=True)[1])]  # of copies of a row the first
            codes = statistics.codes_for(self.cuts, self.codes, np.sort(rows), 0, rows)
            return codes if take is None else codes.take(take)

        return codes_in


def coded(cuts: Cuts | Ranking, table: Table, threads: int, values: Values | None = None) -> Codes | SparseCodes | Ranks:
    """The codes of a table as boosting takes them; with parameters in bundles, if these say so, to be trained on."""
    if isinstance(cuts, Ranking):
        return cuts.encode(table, threads)
    codes = cuts.encode_stored(table, threads)
    if values is None or not values["feature_bundling"] or not isinstance(codes, SparseCodes):
        return codes
    return bundled(codes, values["max_conflict_rate"])
