"""A table in blocks in the place of `X`: what `fit` takes from it, and what it refuses."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.notice import write_error_stream
from woodwind.data.binning.codes import width_for
from woodwind.data.binning.cuts import Cuts
from woodwind.data.blocks.block_columns import table_of_blocks
from woodwind.data.blocks.block_table import BlockTable
from woodwind.data.tables.fields import CategoryField, StatisticsField
from woodwind.estimators.base.category_statistics import KnownTarget, StatisticsTable, has_statistics, statistics_columns, with_statistics
from woodwind.estimators.boosting.encoded_table import EncodedTable
from woodwind.estimators.boosting.init_scores import is_model
from woodwind.estimators.boosting.plan import Values
from woodwind.estimators.boosting.warm_start import WarmStartState
from woodwind.shards.cluster import advice, as_cluster
from woodwind.shards.cluster_shards import ClusterShards
from woodwind.shards.disk_shards import DiskShards
from woodwind.shards.overlaid_shards import OverlaidShards
from woodwind.shards.shards import Shards


def opened_input(X: Any, y: Any, sample_weight: Any, groups: Any, values: Values, owner: str) -> tuple[Any, Any, Any, Any]:
    """The arguments of `fit`; of a table in blocks, what stands beside it, where nothing else is given."""
    if not isinstance(X, BlockTable):
        check_no_cluster(values, owner)
        return X, y, sample_weight, groups
    check_blocks(X, values, owner)
    y = X.target if y is None else y
    sample_weight = X.weight if sample_weight is None else sample_weight
    groups = X.groups if groups is None and "group" in X.roles else groups
    return X, y, sample_weight, groups


def shards_of(X: BlockTable, values: Values, owner: str) -> Shards:
    """The rows of a table in blocks: on the disk of this machine, or where the workers of a cluster read them."""
    given = values.get("cluster")
    votes = values.get("parallelism") == "voting"
    if given is None:
        if votes:
            raise ParameterError(f"{owner}: parallelism='voting' is for a cluster. Give cluster, or set parallelism='data'.")
        return DiskShards(X)
    cluster = as_cluster(given, owner)
    shards = ClusterShards(X, cluster.transport, votes=votes)
    if not cluster.has_advised:
        write_error_stream(advice(X, owner))
        cluster.has_advised = True
    return shards


def check_no_cluster(values: Values, owner: str) -> None:
    """Refuse a cluster for a table that its workers cannot read."""
    if values.get("cluster") is not None:
        raise ParameterError(
            f"{owner}: cluster is for a table in blocks, in a folder that all workers see. Write one with "
            "woodwind.BlockTable.write(folder, source, target=...), which reads files and frames a batch at a time; or "
            "leave cluster out: a table that fits into memory is trained faster there."
        )


def check_blocks(X: BlockTable, values: Values, owner: str) -> None:
    """Refuse what cannot be trained from blocks, and what was decided when they were written."""
    refused = {
        "linear_leaves": (values["linear_leaves"], "linear leaves need the numbers of all rows in memory"),
        "candidates": (values["candidates"] is not None, "proposed thresholds need the order of all values in memory"),
        "init": (is_model(values["init"]), "a model as init reads the whole table"),
    }
    for name, (is_set, why) in refused.items():
        if is_set:
            raise ParameterError(f"{owner}: {name} cannot be used with a table in blocks: {why}. Leave it out, or train from memory.")
    if values["max_bins"] != X.max_bins:
        raise ParameterError(
            f"{owner}: max_bins={values['max_bins']}, but the blocks were cut into at most {X.max_bins} bins. Set max_bins={X.max_bins}, "
            "or write them again with BlockTable.write(..., max_bins=...)."
        )
    if values["categorical_features"] not in (None, "from_dtype"):
        raise ParameterError(
            f"{owner}: categorical_features is decided when blocks are written. Give it to BlockTable.write, and leave it out here."
        )


def encoded_blocks(
    X: BlockTable,
    values: Values,
    weight: NDArray[np.float64] | None,
    threads: int,
    owner: str,
    known: KnownTarget,
    earlier: WarmStartState | None,
) -> EncodedTable:
    """The codes of a table in blocks, with statistics of the target for columns of many categories, as `EncodedTable.of` has them."""
    columns = statistics_columns(X.schema, values["categorical_encoding"], X.n_rows) if earlier is None else []
    schema, table = X.schema, table_of_blocks(X, threads)
    if earlier is not None:
        check_same_cuts(X, earlier, owner)
        columns = [column for column, field in enumerate(earlier.schema.fields) if isinstance(field, StatisticsField)]
    if columns:
        schema, table = with_statistics(schema, table, columns, known)
    schema = schema if earlier is None else earlier.schema
    schema.warn_merged(owner)
    if not has_statistics(schema):
        return EncodedTable(schema, X.cuts, shards_of(X, values, owner))
    if values.get("cluster") is not None:
        name = schema.fields[columns[0]].name
        raise ParameterError(
            f"{owner}: column {name!r} would be read as means of the target (categorical_encoding={values['categorical_encoding']!r}), "
            "which workers of a cluster do not have. Set categorical_encoding='sets', or leave cluster out."
        )
    statistics = StatisticsTable(schema, table, known)
    read = statistics.for_training()
    made = np.array([isinstance(schema.fields[column], StatisticsField) for column in schema.source.tolist()])
    features = np.flatnonzero(made)
    kept = np.full(len(made), -1, np.int64)
    kept[~made] = np.concatenate(
        [list(X.schema.features_of(column)) for column in range(X.schema.n_inputs) if column not in columns] or [[]]
    )
    cuts = (
        earlier.cuts
        if earlier is not None
        else joined_cuts(X.cuts, kept, Cuts.fit(read.only(features), values["max_bins"], weight, threads))
    )
    assert isinstance(cuts, Cuts)  # blocks have bins
    codes = {
        feature: np.searchsorted(cuts.edges[feature], read.columns[feature].block(0, X.n_rows)).astype(np.uint8)
        for feature in features.tolist()
    }
    return EncodedTable(schema, cuts, OverlaidShards(DiskShards(X), cuts, kept, codes), statistics)


def joined_cuts(cuts: Cuts, kept: NDArray[np.int64], others: Cuts) -> Cuts:
    """The cuts of features that are kept, and of others in the places where none is."""
    rest = iter(range(len(others.edges)))
    chosen = [(cuts, int(feature)) if feature >= 0 else (others, next(rest)) for feature in kept]
    edges = tuple(of.edges[feature] for of, feature in chosen)
    is_category = np.array([of.is_category[feature] for of, feature in chosen], np.bool_)
    n_bins = np.array([of.n_bins[feature] for of, feature in chosen], np.int32)
    return Cuts(edges, is_category, n_bins, width_for(n_bins, is_category))


def check_same_cuts(X: BlockTable, earlier: WarmStartState, owner: str) -> None:
    """Refuse to go on from trees that were grown on other bins, or on columns of other categories."""
    cuts, schema = earlier.cuts, earlier.schema
    same = isinstance(cuts, Cuts) and schema.names == X.schema.names
    for column, (field, other) in enumerate(zip(schema.fields, X.schema.fields, strict=False)):
        if isinstance(field, StatisticsField):
            same = same and isinstance(other, CategoryField) and field.categories.to_dict() == other.categories.to_dict()
            continue
        same = same and field.to_dict() == other.to_dict()
        if same:
            own, written = schema.features_of(column), X.schema.features_of(column)
            same = all(np.array_equal(cuts.edges[one], X.cuts.edges[two]) for one, two in zip(own, written, strict=True))  # type: ignore[union-attr]
    if not same:
        raise ParameterError(
            f"{owner}: warm_start=True goes on from trees of other bins or categories than those of the blocks. Give the blocks that it "
            "was trained on, or set warm_start=False."
        )
