"""What rankers are given beside a table and its target: which rows are of one query, and how much each query counts."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, QueryWarning, WeightError
from woodwind.base.notice import notice
from woodwind.data.tables.queries import QueryRows
from woodwind.estimators.base.splits import read_eval_sets
from woodwind.estimators.base.target import missing_positions, one_dimension
from woodwind.estimators.base.weights import Weighing, read_weight

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

REMEDY = "Give one query label for each row, or the number of rows of each query"


@dataclass(frozen=True, eq=False)
class GivenQueries:
    """The query of each row, and what queries are called."""

    number: Integers  # (n_rows,)
    labels: list[Any]  # of each number

    def weights(self, given: Any, owner: str) -> Floats | None:
        """The weight of each query (n_queries,), from a dict by label, or a sequence in the order in which queries come."""
        if given is None:
            return None
        n_queries, what = len(self.labels), "query_weight"
        if isinstance(given, Mapping):
            known = {label: number for number, label in enumerate(self.labels)}
            # Rows may be some of a table of which all queries are named: those that are not there do not matter.
            absent = [label for label in known if label not in given]
            if absent:
                raise WeightError(f"{owner}: {what} has no weight of the query {absent[0]!r}. Give one for each query.")
            return read_weight([given[label] for label in self.labels], n_queries, owner, what)
        array = one_dimension(given, owner, what)
        if array.size != n_queries:
            raise WeightError(
                f"{owner}: {what} has {array.size:,} values, and there are {n_queries:,} queries. Give one for each, in the order in which "
                "they come, or a dict from query to weight."
            )
        weight = read_weight(array, n_queries, owner, what)
        assert weight is not None
        first = np.full(n_queries, len(self.number))
        np.minimum.at(first, self.number, np.arange(len(self.number)))
        in_order = np.empty(n_queries)
        in_order[np.argsort(first)] = weight
        return in_order


def read_queries(group: Any, n_rows: int, owner: str, what: str = "group") -> GivenQueries:
    """The query of each row, from labels of rows or from sizes of queries; all rows are one query where nothing is given."""
    if group is None:
        if n_rows > 1:
            notice(f"{owner}: no {what} was given, so that all {n_rows:,} rows are ranked as one query. {REMEDY}.", QueryWarning)
        return GivenQueries(np.zeros(n_rows, np.int64), [0])
    array = one_dimension(group, owner, what)
    if array.size == n_rows:
        return _by_label(array, owner, what)
    whole = array.dtype.kind in "iu" or (array.dtype.kind == "f" and bool((array == np.floor(array)).all()))
    if not whole:
        raise DataError(f"{owner}: {what} has {array.size:,} values, and there are {n_rows:,} rows. {REMEDY}.")
    if (array < 1).any():
        raise DataError(f"{owner}: {what} has a query of {array.min()} rows, and a query has at least one. {REMEDY}.")
    if array.sum() != n_rows:
        raise DataError(
            f"{owner}: the {array.size:,} sizes of {what} add up to {int(array.sum()):,}, and there are {n_rows:,} rows. {REMEDY}."
        )
    return GivenQueries(np.repeat(np.arange(array.size), array.astype(np.int64)), list(range(array.size)))


def read_positions(position: Any, n_rows: int, owner: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The number of the position of each row, and the positions in order."""
    array = one_dimension(position, owner, "position")
    if array.size != n_rows:
        raise DataError(f"{owner}: position has {array.size:,} values, and there are {n_rows:,} rows. Give a position for each row.")
    missing = np.flatnonzero(missing_positions(array))
    if missing.size:
        raise DataError(f"{owner}: position is missing in {missing.size:,} rows, first in row {missing[0]}. Give a position for each row.")
    there, number = np.unique(array.astype(str) if array.dtype.kind == "O" else array, return_inverse=True)
    if len(there) < 2:
        raise DataError(f"{owner}: position is the same for all rows, so that nothing can be learned of it. Leave it out.")
    if 2 * len(there) > n_rows:
        told = f"position has {len(there):,} different values in {n_rows:,} rows"
        raise DataError(f"{owner}: {told}, too many to learn a bias of each. Give the place on the page, such as 1 to 10.")
    return number.reshape(-1).astype(np.int64), there


def _by_label(array: NDArray[Any], owner: str, what: str) -> GivenQueries:
    missing = np.flatnonzero(missing_positions(array))
    if missing.size:
        raise DataError(f"{owner}: {what} is missing in {missing.size:,} rows, first in row {missing[0]}. Give each row a query.")
    if array.dtype.kind == "O":
        if any(not isinstance(label, Hashable) for label in array):
            raise DataError(f"{owner}: {what} has labels that cannot be told apart, such as {array[0]!r}. Give numbers or text.")
        array = array.astype(str)
    labels, number = np.unique(array, return_inverse=True)
    return GivenQueries(number.reshape(-1).astype(np.int64), labels.tolist())


def weighed_queries(given: GivenQueries, weight: Floats | None, query_weight: Floats | None) -> Weighing:
    """Which rows are trained on, how often, and with which weight.

    Weights of rows that are the same for all rows of a query are weights of queries. Others are repetitions where they are whole: a row of
    weight two is a document that is there twice. Weights of queries multiply derivatives, and a query of weight zero is absent.
    """
    factor = np.ones(len(given.number)) if query_weight is None else query_weight[given.number]
    rows = Weighing.of(None)
    if weight is not None:
        present = np.flatnonzero(weight)
        if QueryRows.of(given.number[present]).is_constant(weight[present]):
            factor = factor * weight
        else:
            rows = Weighing.of(weight)
    if (factor == 1.0).all():
        return rows
    take = np.arange(len(factor)) if rows.take is None else rows.take
    own = factor[take] if rows.weight is None else factor[take] * rows.weight
    kept = np.flatnonzero(own)
    count = factor if rows.given is None else factor * rows.given
    take, own = take[kept], own[kept]
    if not len(take):
        raise WeightError("Every row weighs nothing, so that nothing is left to learn from. Give some queries a positive weight.")
    return Weighing(count, None if len(take) == len(factor) and rows.take is None else take, own)


@dataclass(frozen=True, eq=False)
class GivenGroups:
    """`group`, `query_weight` and `position` of fit, as they came."""

    group: Any
    query_weight: Any
    position: Any = None


@dataclass(frozen=True, eq=False)
class GivenEvalSets:
    """`eval_set` and `eval_group` of fit, as they came."""

    eval_set: Any
    eval_group: Any

    def tables(self, owner: str) -> dict[str, tuple[Any, Any]]:
        """Validation tables by name, each as (X, y, weight) and its group."""
        sets = read_eval_sets(self.eval_set, owner)
        given, names = self.eval_group, list(sets)
        if isinstance(given, Mapping):
            absent = [name for name in names if name not in given]
            groups = [given.get(name) for name in names]
        elif len(names) == 1 and not _is_list_of_one(given):
            absent, groups = ([] if given is not None else names), [given]
        else:
            groups = list(given) if isinstance(given, list | tuple) else []
            absent = names[len(groups) :] if len(groups) <= len(names) else names[:1]
        if absent:
            raise DataError(
                f"{owner}: eval_group must tell the queries of every table of eval_set, as group does of X, but there is none for "
                f"{absent[0]!r}. Give one for each table, in a list or, by name, in a dict."
            )
        return {name: (sets[name], group) for name, group in zip(names, groups, strict=True)}


def _is_list_of_one(given: Any) -> bool:
    """Whether groups of one table came in a list, as those of several do."""
    return isinstance(given, list | tuple) and len(given) == 1 and (hasattr(given[0], "__len__") and not isinstance(given[0], str))
