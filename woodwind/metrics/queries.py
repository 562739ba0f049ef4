"""Metrics of rankings: NDCG, mean average precision and mean reciprocal rank, of each query and as a mean over queries.

Documents with the same score are in any order as likely, and a metric is its mean over those orders (McSherry & Najork 2008): so it does
not depend on the order of the rows. Without equal scores that changes nothing. NDCG with linear gains equals `ndcg_score` of scikit-learn.

A query in which nothing is relevant says nothing about a ranking. It counts 0 here, as in scikit-learn, which never flatters; LightGBM
and XGBoost count 1 (`without_relevant=1.0`), and None leaves such queries out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.did_you_mean import did_you_mean, spelling
from woodwind.base.errors import DataError, ParameterError, TargetError
from woodwind.base.pool import run_ranges
from woodwind.data.tables.queries import QueryRows, gains
from woodwind.kernels.losses import ranking as kernels
from woodwind.metrics.metric import Metric, from_shares

Floats = NDArray[np.float64]

SWITCHES = {"ndcg": kernels.NDCG, "map": kernels.AVERAGE_PRECISION, "mrr": kernels.RECIPROCAL_RANK}
SYNONYMS = {"mean_average_precision": "map", "average_precision": "map", "mean_reciprocal_rank": "mrr", "lambdarank": "ndcg"}
TITLES = {"ndcg": "NDCG", "map": "Mean average precision", "mrr": "Mean reciprocal rank"}
# A sort of the documents of a query, by documents, as `run_ranges` counts.
WORK = 20


@dataclass(frozen=True)
class QueryMetric:
    """A metric of rankings; larger is better, and 1 is best."""

    kind: str = "ndcg"  # or "map", "mrr"
    cutoff: int | None = None  # ranks that count; None for all
    gain: str = "exponential"  # of NDCG: 2 ** relevance - 1, or "linear", the relevance
    without_relevant: float | None = 0.0  # value of a query in which nothing is relevant; None to leave such queries out

    @property
    def name(self) -> str:
        """As people write it, such as 'ndcg@10'."""
        return self.kind if self.cutoff is None else f"{self.kind}@{self.cutoff}"

    def by_query(self, y: Any, scores: Any, queries: QueryRows, threads: int = 1) -> Floats:
        """The value of each query: (n_queries,). Not a number for those that are left out.

        `y` is the relevance of each row: for MAP and MRR a document is relevant if it is above zero.
        """
        return self.prepared(y, queries, threads)(read_scores(scores, queries, self.name))

    def prepared(self, y: Any, queries: QueryRows, threads: int = 1) -> Callable[[Floats], Floats]:
        """A function from scores (n_rows,) to values (n_queries,): what depends on the relevance alone is done once."""
        relevance = read_relevance(y, queries, self.name)
        n_queries, longest = queries.n_queries, int(queries.sizes.max(initial=1))
        cutoff = longest if self.cutoff is None else self.cutoff
        gain = gains(relevance, self.gain) if self.kind == "ndcg" else (relevance > 0.0).astype(np.float64)
        best = np.ones(n_queries)
        relevant = np.add.reduceat((relevance[queries.order] > 0.0).astype(np.float64), queries.begin[:-1])
        if self.kind == "ndcg":
            kernels.ideal_gains(queries.documents(gain, best), cutoff, 0, n_queries, best)
        elif self.kind == "map":
            best = np.minimum(relevant, cutoff)
        empty = relevant == 0.0
        documents = queries.documents(gain, np.divide(1.0, best, out=np.zeros(n_queries), where=~empty))

        def evaluate(scores: Floats) -> Floats:
            out = np.empty(n_queries)

            def part(begin: int, end: int) -> None:
                kernels.query_metrics(SWITCHES[self.kind], documents, scores, cutoff, begin, end, out)

            run_ranges(part, n_queries, threads, WORK * max(queries.n_rows // n_queries, 1))
            out[empty] = np.nan if self.without_relevant is None else self.without_relevant
            return out

        return evaluate

    def value(self, y: Any, scores: Any, queries: QueryRows, query_weight: Floats | None = None, threads: int = 1) -> float:
        """The mean over queries, by their weights; not a number where all are left out."""
        return mean_over_queries(self.by_query(y, scores, queries, threads), query_weight)[0]

    def standard_error(self, y: Any, scores: Any, queries: QueryRows, query_weight: Floats | None = None, threads: int = 1) -> float:
        """The standard error of that mean: queries are independent of each other, documents of one query are not."""
        return mean_over_queries(self.by_query(y, scores, queries, threads), query_weight)[1]


def mean_over_queries(values: Floats, query_weight: Floats | None = None) -> tuple[float, float]:
    """The mean of values of queries by weight, and its standard error; values that are no numbers are left out."""
    there = ~np.isnan(values) if query_weight is None else ~np.isnan(values) & (query_weight > 0.0)
    values = values[there]
    if not len(values):
        return float("nan"), float("nan")
    weight = np.full(len(values), 1.0 / len(values)) if query_weight is None else query_weight[there] / query_weight[there].sum()
    mean = float((values * weight).sum())
    return mean, from_shares((values - mean) * weight) if len(values) > 1 else float("nan")


def query_metric(name: str, gain: str = "exponential", without_relevant: float | None = 0.0) -> QueryMetric:
    """The metric of a name: 'ndcg', 'map' or 'mrr', with the number of ranks that count behind an @, as in 'ndcg@10'."""
    plain, _, cutoff = spelling(name).partition("@")
    kind = SYNONYMS.get(plain, plain)
    if kind not in SWITCHES:
        known = "'ndcg', 'map' or 'mrr', with a number of ranks as in 'ndcg@10' or without"
        raise ParameterError(f"A metric of rankings is {known}, not {name!r}. {did_you_mean(plain, tuple(SWITCHES))}".rstrip())
    if cutoff and (not cutoff.isdecimal() or int(cutoff) < 1):
        raise ParameterError(f"The number of ranks of {name!r} must be an integer of at least 1, as in '{kind}@10'.")
    return QueryMetric(kind, int(cutoff) if cutoff else None, gain, without_relevant)


def read_relevance(y: Any, queries: QueryRows, name: str) -> Floats:
    """The relevance of each row, checked."""
    relevance = np.asarray(y, np.float64)
    if relevance.shape != (queries.n_rows,):
        raise DataError(f"{name} needs a relevance for each of {queries.n_rows:,} rows, but there are {relevance.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(relevance) & (relevance >= 0.0)))
    if wrong.size:
        raise TargetError(f"{name}: a relevance must be a finite number that is not negative, but y[{wrong[0]}] = {relevance[wrong[0]]:g}.")
    return relevance


def read_scores(scores: Any, queries: QueryRows, name: str) -> Floats:
    """Scores of the rows, checked."""
    read = np.ascontiguousarray(scores, np.float64)
    if read.shape != (queries.n_rows,) or not np.isfinite(read).all():
        raise DataError(f"{name} needs a finite score for each of {queries.n_rows:,} rows, but they are {read.shape}.")
    return read


def bound(metric: Metric, y: Any, number: NDArray[Any], threads: int = 1) -> Metric:
    """A named metric of rankings for rows of this relevance (n,) and these queries (n,), which are always all rows that it is asked about.

    A query counts by the mean weight of its rows.
    """
    queries = QueryRows.of(number)
    evaluate = query_metric(metric.name).prepared(y, queries, threads)

    def found(scores: NDArray[Any], weight: Floats | None) -> tuple[float, float]:
        values = evaluate(read_scores(scores, queries, metric.name))
        return mean_over_queries(values, None if weight is None else queries.means(weight))

    return replace(metric, measure=lambda _y, scores, weight: found(scores, weight)[0], spread=lambda _y, s, w: found(s, w)[1])
