"""A table in blocks in the place of `X`: what `fit` takes from it, and what it refuses."""

from typing import Any

from woodwind.base.errors import ParameterError
from woodwind.base.notice import write_error_stream
from woodwind.data.blocks.block_table import BlockTable
from woodwind.estimators.base.category_statistics import statistics_columns
from woodwind.estimators.boosting.encoded_table import EncodedTable
from woodwind.estimators.boosting.init_scores import is_model
from woodwind.estimators.boosting.plan import Values
from woodwind.shards.cluster import advice, as_cluster
from woodwind.shards.cluster_shards import ClusterShards
from woodwind.shards.disk_shards import DiskShards
from woodwind.shards.shards import Shards


def opened_input(X: Any, y: Any, sample_weight: Any, groups: Any, values: Values, owner: str) -> tuple[Any, Any, Any, Any]:
    """The arguments of `fit`; of a table in blocks, the coded table and what stands beside it, where nothing else is given."""
    if not isinstance(X, BlockTable):
        check_no_cluster(values, owner)
        return X, y, sample_weight, groups
    check_blocks(X, values, owner)
    y = X.target if y is None else y
    sample_weight = X.weight if sample_weight is None else sample_weight
    groups = X.groups if groups is None and "group" in X.roles else groups
    return EncodedTable(X.schema, X.cuts, shards_of(X, values, owner)), y, sample_weight, groups


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
        "linear_leaves": (values["linear_leaves"], "linear leaves need the numbers of rows, and blocks have their bins"),
        "candidates": (values["candidates"] is not None, "proposed thresholds need the order of all values, and blocks have their bins"),
        "warm_start": (values["warm_start"], "a training on blocks cannot be gone on with yet"),
        "init": (is_model(values["init"]), "a model as init reads the table, and blocks have its bins"),
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
    columns = statistics_columns(X.schema, values["categorical_encoding"], X.n_rows)
    if columns:
        name = X.schema.fields[columns[0]].name
        raise ParameterError(
            f"{owner}: column {name!r} would be read as means of the target (categorical_encoding={values['categorical_encoding']!r}), "
            "which blocks have no room for. Set categorical_encoding='sets', or leave the column out: BlockTable.write(..., ignore=[...])."
        )
    X.schema.warn_merged(owner)
