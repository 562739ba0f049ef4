"""Queries: which rows are the documents of one query, for whoever ranks them."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.losses.ranking import QueryDocuments

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class QueryRows:
    """Rows by query. A query has at least one row; rows of a query are in the order of the table, wherever they stand in it."""

    number: Integers  # of the query of each row: (n_rows,), from 0 on
    order: NDArray[np.int32]  # rows, those of a query side by side: (n_rows,)
    begin: Integers  # where each query begins in `order`, and the end: (n_queries + 1,)

    @classmethod
    def of(cls, number: NDArray[Any]) -> "QueryRows":
        """Rows by the number of their query; numbers that no row has are left out."""
        present, plain = np.unique(number, return_inverse=True)
        plain = plain.reshape(-1).astype(np.int64)
        order = np.argsort(plain, kind="stable").astype(np.int32)
        return cls(plain, order, np.concatenate([[0], np.cumsum(np.bincount(plain, minlength=len(present)))]).astype(np.int64))

    @property
    def n_rows(self) -> int:
        """Documents of all queries."""
        return len(self.order)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.begin) - 1

    @cached_property
    def sizes(self) -> Integers:
        """Documents of each query: (n_queries,)."""
        return np.diff(self.begin)

    def means(self, values: Floats) -> Floats:
        """The mean of a number of each row over the rows of each query: (n_queries,)."""
        return np.asarray(np.add.reduceat(values[self.order], self.begin[:-1]) / self.sizes)

    def is_constant(self, values: NDArray[Any]) -> bool:
        """Whether all rows of each query have the same value."""
        return bool((values == values[self.order[self.begin[:-1]]][self.number]).all())

    def documents(self, gain: Floats, scale: Floats) -> QueryDocuments:
        """The rows as kernels take them, with the gain of each row (n_rows,) and a factor of each query (n_queries,)."""
        return QueryDocuments(self.order, self.begin, gain[self.order], discounts(int(self.sizes.max(initial=1))), scale)


def discounts(count: int) -> Floats:
    """What the first so many ranks are worth: 1 / log2(1 + rank), ranks counted from one."""
    return np.array([1.0 / math.log2(1.0 + rank) for rank in range(1, count + 1)])


def gains(relevance: Floats, kind: str) -> Floats:
    """What documents are worth where they are found: 2 ** relevance - 1 if that is "exponential", or the relevance if it is "linear"."""
    if kind == "linear":
        return np.asarray(relevance, np.float64)
    # By the few values that there are: powers of NumPy differ in the last bit between machines.
    values, position = np.unique(relevance, return_inverse=True)
    return np.array([math.pow(2.0, value) - 1.0 for value in values.tolist()])[position.reshape(-1)]
