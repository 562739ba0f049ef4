"""Losses of rankings: LambdaMART, pairwise logistic, listwise softmax.

Derivatives of a row depend on the other documents of its query, so a loss is bound to queries before it is trained with: `bound` gives
what boosting minimises, and the loss itself is what a model file holds. The page is docs/algorithms/learning-to-rank.md.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from woodwind.base.did_you_mean import did_you_mean, spelling
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.pool import run_ranges
from woodwind.data.tables.queries import QueryRows, gains
from woodwind.kernels.losses import ranking as kernels
from woodwind.kernels.losses.ranking import PairRule, QueryDocuments
from woodwind.losses.base import Derivatives, Loss, check_finite, finish_blocks, one_score, plain_numbers, refuse_rows, times_weight
from woodwind.losses.links import Floats

# The losses of this file, in the order in which texts name them. To be in this list is to be a kind of the model file.
__all__ = ["LambdaMART", "PairwiseLogistic", "ListwiseSoftmax"]  # noqa: RUF022

# Of exponential gains: sums of 2**relevance over the documents of a query stay exact.
HIGHEST_GRADE = 31.0
# The work of a document in a query, as `run_ranges` counts: a sort, and pairs with some thirty others.
WORK = 40
# Steps in which biases of positions are found; each halves what is left, or nearly.
BIAS_STEPS = 6
METRICS = {"ndcg": kernels.NDCG, "map": kernels.AVERAGE_PRECISION, "mrr": kernels.RECIPROCAL_RANK}


@dataclass(frozen=True)
class RankingLoss(Loss):
    """What losses of rankings share: y is the relevance of a document, not negative, and only the order of scores has a meaning."""

    task: ClassVar[str] = "ranking"
    small_is_fitted: ClassVar[bool] = True

    gain: str = "exponential"

    def check(self) -> "RankingLoss":
        """The gain is one that there is; returns self, or raises."""
        if self.gain not in ("exponential", "linear"):
            raise ParameterError(f"gain must be 'exponential' or 'linear', not {self.gain!r}.")
        return self

    def check_target(self, y: NDArray[Any]) -> None:
        """Refuse what is no relevance."""
        check_finite(y)
        values = plain_numbers(y)
        refuse_rows(values < 0.0, values, "is a relevance, which must not be negative", "0 is a document that does not matter.")
        if self.gain == "exponential":
            advice = "With gain='linear' it may be any number."
            refuse_rows(values > HIGHEST_GRADE, values, f"must be at most {HIGHEST_GRADE:g}, for gains of 2**relevance - 1", advice)

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Zero: a constant ranks nothing."""
        return np.zeros(1)

    def bound(self, queries: QueryRows, y: NDArray[Any], shown: "ShownPositions | None" = None) -> "BoundRankingLoss":
        """What boosting minimises, for these queries with the relevance y of each row, which may have been shown at some position."""
        gain = self.gains(one_score(y))
        return BoundRankingLoss(self, queries, queries.documents(gain, self.scales(queries, gain)), shown)

    def gains(self, relevance: Floats) -> Floats:
        """What each document is worth."""
        return gains(relevance, self.gain)

    @abstractmethod
    def scales(self, queries: QueryRows, gain: Floats) -> Floats:
        """The factor of each query."""

    @abstractmethod
    def fill(self, documents: QueryDocuments, raw: Floats, begin: int, end: int, gradient: Floats, hessian: Floats) -> None:
        """Write gradient and hessian of the rows of queries begin .. end."""

    @abstractmethod
    def losses(self, documents: QueryDocuments, raw: Floats, begin: int, end: int, out: Floats) -> None:
        """Write the loss of each of the queries begin .. end."""

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Those of rows that are the documents of one query."""
        return self.bound(QueryRows.of(np.zeros(len(one_score(raw)), np.int64)), y).derivatives(y, raw, weight, threads)

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """The loss of rows that are the documents of one query, and one."""
        return self.bound(QueryRows.of(np.zeros(len(one_score(raw)), np.int64)), y).total(y, raw, weight, threads)


@dataclass(frozen=True, eq=False)
class ShownPositions:
    """Where rows were shown when their relevance was seen, by clicks and the like: what stands at the top is looked at more."""

    number: NDArray[np.int64]  # of the position of each row: (n_rows,), from 0 on
    count: int  # of positions
    regularization: float = 0.0  # holds biases back, for each row


@dataclass(frozen=True, eq=False)
class BoundRankingLoss(Loss):
    """A loss of rankings with the queries of the rows that it is asked about, which are always all of them."""

    task: ClassVar[str] = "ranking"
    small_is_fitted: ClassVar[bool] = True

    loss: RankingLoss
    queries: QueryRows
    documents: QueryDocuments
    shown: ShownPositions | None = None  # where rows were shown, when their relevance was seen by clicks
    _known: Derivatives | None = None  # see `with_known`

    def with_known(self, y: NDArray[Any], raw: Floats, threads: int = 1) -> Self:
        """With its derivatives at these scores in memory: pairs of documents take long."""
        return replace(self, _known=self.derivatives(y, raw, None, threads))

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Zero."""
        return self.loss.start(y, weight)

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Gradient and hessian of every row, times its weight. Each query is the work of one thread, in one order."""
        if self._known is not None:
            return times_weight(self._known, weight)
        raw = one_score(raw)
        if len(raw) != self.queries.n_rows:
            raise DataError(f"A ranking loss of {self.queries.n_rows:,} documents was asked about {len(raw):,}: queries are whole.")
        if self.shown is not None:
            raw = raw + self.position_biases(raw, weight, threads)[self.shown.number]
        return times_weight(self._of_scores(raw, threads), weight)

    def position_biases(self, raw: Floats, weight: Floats | None = None, threads: int = 1) -> Floats:
        """What each position adds to the scores of rows that were shown there, (n_positions,), with a mean of zero over the rows.

        The biases with which the loss of raw + bias is smallest, where a penalty holds them back: by steps of half of Newton's, as both
        documents of a pair move. They follow from the scores alone, so that nothing is remembered from round to round.
        """
        assert self.shown is not None
        shown, one = self.shown, one_score(raw)
        counts = np.bincount(shown.number, weight, shown.count)
        bias = np.zeros(shown.count)
        for _ in range(BIAS_STEPS):
            gradient, hessian = times_weight(self._of_scores(one + bias[shown.number], threads), weight)
            slope = np.bincount(shown.number, gradient, shown.count) + shown.regularization * counts * bias
            bend = np.bincount(shown.number, hessian, shown.count) + shown.regularization * counts
            bias = bias - np.divide(0.5 * slope, bend, out=np.zeros_like(bias), where=bend > 0.0)
            bias -= float((bias * counts).sum() / counts.sum())
        return bias

    def _of_scores(self, raw: Floats, threads: int) -> Derivatives:
        """Gradient and hessian of every row at these scores."""
        gradient, hessian = np.empty_like(raw), np.empty_like(raw)

        def part(begin: int, end: int) -> None:
            self.loss.fill(self.documents, raw, begin, end, gradient, hessian)

        self._over_queries(part, threads)
        return gradient, hessian

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Sum of the losses of the queries, each by the mean weight of its rows, and sum of those weights."""
        raw, out = one_score(raw), np.empty(self.queries.n_queries)
        self._over_queries(lambda begin, end: self.loss.losses(self.documents, raw, begin, end, out), threads)
        by_query = np.ones(len(out)) if weight is None else self.queries.means(weight)
        return finish_blocks(out * by_query), float(by_query.sum())

    def _over_queries(self, call: Any, threads: int) -> None:
        queries = self.queries
        run_ranges(call, queries.n_queries, threads, WORK * max(queries.n_rows // queries.n_queries, 1))


@dataclass(frozen=True)
class LambdaMART(RankingLoss):
    """Pairs of documents count by how much a metric changes where the two are swapped: Burges 2010.

    The metric is 'ndcg', 'map' or 'mrr'; for the last two a document is relevant if its relevance is above zero. Of a pair at least one
    document is among the first `truncation`. With `normalize` queries and distances of scores are brought to one size, as LightGBM does.
    """

    name: ClassVar[str] = "lambdamart"
    aliases: ClassVar[tuple[str, ...]] = ("lambdarank", "rank:ndcg", "rank:map", "lambda_mart")
    exact_hessian: ClassVar[bool] = False

    metric: str = "ndcg"
    truncation: int = 30
    normalize: bool = False

    @property
    def rule(self) -> PairRule:
        """Which pairs count, and how much."""
        return PairRule(METRICS[self.metric], self.truncation, self.normalize)

    def gains(self, relevance: Floats) -> Floats:
        """Those of NDCG; else 1 for a document that is relevant."""
        return super().gains(relevance) if self.metric == "ndcg" else (relevance > 0.0).astype(np.float64)

    def scales(self, queries: QueryRows, gain: Floats) -> Floats:
        """One over the best that there can be; 0 for a query in which nothing is relevant, or all is alike."""
        if self.metric == "ndcg":
            best = np.empty(queries.n_queries)
            kernels.ideal_gains(queries.documents(gain, best), self.truncation, 0, queries.n_queries, best)
        else:
            best = np.add.reduceat(gain[queries.order], queries.begin[:-1])
            best = best if self.metric == "map" else np.minimum(best, 1.0)
        return np.divide(1.0, best, out=np.zeros_like(best), where=best > 0.0)

    def fill(self, documents: QueryDocuments, raw: Floats, begin: int, end: int, gradient: Floats, hessian: Floats) -> None:
        """Lambdas."""
        kernels.lambdas(self.rule, documents, raw, begin, end, gradient, hessian)

    def losses(self, documents: QueryDocuments, raw: Floats, begin: int, end: int, out: Floats) -> None:
        """What the metric lacks to one: there is no function that lambdas are the gradient of (Donmez, Svore & Burges 2009)."""
        kernels.query_metrics(METRICS[self.metric], documents, raw, self.truncation, begin, end, out)
        out[begin:end] = 1.0 - out[begin:end]


@dataclass(frozen=True)
class PairwiseLogistic(RankingLoss):
    """log(1 + exp(-(s_i - s_j))), summed over the pairs of a query in which i is more relevant and divided by their number: RankNet."""

    name: ClassVar[str] = "pairwise_logistic"
    aliases: ClassVar[tuple[str, ...]] = ("rank:pairwise", "pairlogit", "ranknet", "pairwise")
    # The hessian of a row is that of its own score; those between two scores are left out.

    def scales(self, queries: QueryRows, gain: Floats) -> Floats:
        """One over the number of pairs."""
        by_gain = np.lexsort((gain, queries.number))
        number, sorted_gain = queries.number[by_gain], gain[by_gain]
        begins = np.flatnonzero(np.concatenate([[True], (np.diff(number) != 0) | (np.diff(sorted_gain) != 0.0)]))
        alike = np.diff(begins, append=len(gain)).astype(np.float64)
        same = np.bincount(number[begins], alike**2, minlength=queries.n_queries)
        pairs = (queries.sizes.astype(np.float64) ** 2 - same) / 2.0
        return np.divide(1.0, pairs, out=np.zeros_like(pairs), where=pairs > 0.0)

    def fill(self, documents: QueryDocuments, raw: Floats, begin: int, end: int, gradient: Floats, hessian: Floats) -> None:
        """Of all pairs."""
        kernels.lambdas(PairRule(kernels.EVERY_PAIR, len(raw), False), documents, raw, begin, end, gradient, hessian)

    def losses(self, documents: QueryDocuments, raw: Floats, begin: int, end: int, out: Floats) -> None:
        """Mean over the pairs of each query."""
        kernels.pair_losses(documents, raw, begin, end, out)


@dataclass(frozen=True)
class ListwiseSoftmax(RankingLoss):
    """Cross-entropy between the gains of a query, over their sum, and the softmax of its scores: XE-NDCG, Bruch 2020.

    A document of gain g counts g + 1 - gamma. The paper draws gamma for every document and round; here it is a number, 0.5 being the mean.
    """

    name: ClassVar[str] = "listwise_softmax"
    aliases: ClassVar[tuple[str, ...]] = ("rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart", "querysoftmax", "listnet")

    gamma: float = 0.5

    def gains(self, relevance: Floats) -> Floats:
        """What the softmax is compared to."""
        return super().gains(relevance) + (1.0 - self.gamma)

    def scales(self, queries: QueryRows, gain: Floats) -> Floats:
        """One; 0 where all documents are alike."""
        ordered = gain[queries.order]
        differ = np.maximum.reduceat(ordered, queries.begin[:-1]) > np.minimum.reduceat(ordered, queries.begin[:-1])
        return differ.astype(np.float64)

    def fill(self, documents: QueryDocuments, raw: Floats, begin: int, end: int, gradient: Floats, hessian: Floats) -> None:
        """Of the softmax."""
        kernels.softmax_derivatives(documents, raw, begin, end, gradient, hessian)

    def losses(self, documents: QueryDocuments, raw: Floats, begin: int, end: int, out: Floats) -> None:
        """The cross-entropy of each query."""
        kernels.softmax_losses(documents, raw, begin, end, out)


RANKING: dict[str, type[RankingLoss]] = {kind.name: kind for kind in (LambdaMART, PairwiseLogistic, ListwiseSoftmax)}


def ranking_loss(given: Any, gain: str, metric: str, truncation: int, normalize: bool) -> RankingLoss:
    """The loss of a name, here or elsewhere, with what it takes of the numbers; or the one that is given."""
    if isinstance(given, RankingLoss):
        return given
    plain = spelling(given) if isinstance(given, str) else ""
    kind = next((kind for kind in RANKING.values() if plain == kind.name or plain in kind.aliases), None)
    if kind is None:
        hint = did_you_mean(plain, tuple(RANKING), alike=0.6) if plain else ""
        known = ", ".join(map(repr, RANKING))
        raise ParameterError(f"loss must be one of {known}, or a ranking loss of woodwind.losses, not {given!r}. {hint}".rstrip())
    if kind is not LambdaMART:
        return kind(gain)
    return LambdaMART(gain, "map" if plain == "rank:map" else metric, truncation, normalize)
