"""A trained dynamic selection: who is asked for each row of a table, and what they predict together, block by block."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import side_by_side
from woodwind.base.validate import require, require_array, require_finite
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.pool import Pool
from woodwind.selection.choice_diverse import Clusters, learn_clusters
from woodwind.selection.combination import as_probabilities, class_totals, probability_totals, weighted_mean
from woodwind.selection.competence import class_counts, hardness
from woodwind.selection.competence_confidence import ConfidenceModel, learn_weights_and_size
from woodwind.selection.competence_meta import MetaModel, train_meta_model
from woodwind.selection.facts import Floats, Integers, Queries, Region, RegressionFacts, SelectionFacts
from woodwind.selection.methods import CompetenceWeights, Method, Mode, Options, competence_weights, rehearse_small
from woodwind.selection.regions import ClusterSearch, profiles

# Numbers that members say at a time: 256 MB. Members are asked about so many rows at once.
BLOCK_ANSWERS = 1 << 25
# Queries that are answered at a time, by one thread; fewer where regions are all selection rows. Half as many take 6 % longer.
CHUNK, CHUNK_DISTANCES = 4096, 1 << 21

Mask = NDArray[np.bool_]
# The region of methods that look at none.
NOWHERE = Region(np.zeros((1, 0), np.int64), np.zeros((1, 0)))


class RegionSearch(Protocol):
    """Whatever finds the region of a query."""

    @property
    def n_rows(self) -> int:
        """Rows that it looks among."""

    @property
    def width(self) -> int:
        """Columns of a query."""

    def near(self, queries: Floats, k: int | None, threads: int = 1) -> Region:
        """Regions of k rows, or of all."""


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """Where distances are measured."""

    form: MatrixForm
    turn: Floats | None  # (d, d) what makes Mahalanobis distances of Euclidean ones; None otherwise

    def check(self) -> "FeatureSpace":
        """The turn is one of the columns; returns self, or raises DataError."""
        if self.turn is not None:
            require_array(self.turn, (self.form.width, self.form.width), "the turn of a space")
        return self

    def of(self, X: Any, owner: str) -> Floats:
        """The rows of a table as points."""
        points = self.form.of(X, owner)
        return points if self.turn is None else points @ self.turn


@dataclass(frozen=True, eq=False)
class Selector:
    """How members are scored and chosen."""

    method: Method
    mode: Mode
    options: Options
    k: int | None  # rows in a region; None for all
    n_similar: int | None  # rows with similar output profiles; None where they are of no use
    prune: bool = False
    safe_k: int | None = None  # neighbours that tell whether a query is easy; None where nobody asks
    ih_rate: float = 0.0


class QueryBlock(NamedTuple):
    """Some rows of a table: what members predict for them, and where they are."""

    begin: int
    votes: NDArray[Any]  # (n, m); of numbers what members predict
    probabilities: Floats | None  # (n, m, K)
    points: Floats  # (n, d)


@dataclass(frozen=True, eq=False)
class DynamicModel:
    """Members, selection rows and a manner of choosing."""

    pool: Pool
    space: FeatureSpace
    search: RegionSearch
    similar: RegionSearch | None  # among output profiles
    facts: SelectionFacts | RegressionFacts
    rows: Integers  # (r,) which row of the table that was trained on each selection row is
    selector: Selector

    def check(self) -> "DynamicModel":
        """All parts speak of the same selection rows and members: kernels look them up. Returns self, or raises DataError."""
        facts, selector, search, similar = self.facts, self.selector, self.search, self.similar
        require(facts.n_members == len(self.pool), "the facts are of other members")
        require(isinstance(facts, RegressionFacts) == (self.pool.classes is None), "the facts are of another task")
        require(isinstance(facts, RegressionFacts) or facts.n_classes == self.n_classes, "the facts are of other classes")
        require_array(self.rows, (facts.n_rows,), "the numbers of selection rows")
        clusters = isinstance(search, ClusterSearch)
        require(clusters == (selector.method.clusters is not None), "the method looks for neighbours in another way")
        require(clusters or search.n_rows == facts.n_rows, "neighbours are looked for among other rows")
        require(similar is None or similar.n_rows == facts.n_rows, "similar rows are looked for among other rows")
        for count in (selector.k, selector.n_similar, selector.safe_k):
            require(count is None or 1 <= count <= facts.n_rows, "a region has more rows than there are")
        require(search.width == self.space.form.width, "neighbours are looked for among other columns")
        require((similar is None) == (selector.method.similar is None), "similar rows are looked for where nobody asks, or are not")
        if isinstance(facts, SelectionFacts):
            width = 1 if facts.n_classes == 2 else facts.n_classes
            require(similar is None or similar.width == facts.n_members * width, "similar rows are looked for among other columns")
            self._check_facts(facts)
        with np.errstate(all="ignore"):
            rehearse_small(selector.method, facts.n_members, self.n_classes, selector.options)
        return self

    def _check_facts(self, facts: SelectionFacts) -> None:
        """What the method has learned of the selection rows is of these, and of these members."""
        trained, learn = facts.trained, self.selector.method.learn
        if learn is None:
            require(trained is None, "something is learned where nothing is to be")
            return
        wanted = {train_meta_model: MetaModel, learn_clusters: Clusters, learn_weights_and_size: ConfidenceModel}.get(learn, np.ndarray)
        require(isinstance(trained, wanted), "what was learned of the selection rows is of another method")
        if isinstance(trained, MetaModel):
            require_array(trained.codes, (facts.n_rows, facts.n_members), "what is known of members and rows")
        elif isinstance(trained, Clusters):
            require_array(trained.accuracy, (self.search.n_rows, facts.n_members), "what is known of members and clusters")
        elif isinstance(trained, ConfidenceModel):
            require_array(trained.weights, (facts.n_members,), "the weights of members")
        else:
            require_array(trained, (facts.n_rows, facts.n_members), "what members were worth at rows")
            require(trained.dtype == np.float64, "what members were worth at rows is of another type")

    @property
    def n_classes(self) -> int:
        """Classes; 0 for numbers."""
        return self.pool.n_classes

    # Rows in parts, and parts in chunks.

    def parts(self, X: Any, soft: bool, owner: str, threads: int) -> Iterator[QueryBlock]:
        """What members predict for the rows of a table, so many at a time that memory is bounded."""
        table = AnyTable.of(X, self.pool.header, owner)
        width = len(self.pool) * (self.n_classes if soft else 1)
        step = max(CHUNK, BLOCK_ANSWERS // width)
        for begin in range(0, table.n_rows, step):
            end = min(begin + step, table.n_rows)
            some = table
            if end - begin < table.n_rows:
                some = AnyTable(table.take(None, np.arange(begin, end)), table.header, end - begin)
            yield QueryBlock(begin, *predicted(self.pool, some, soft, owner, threads), self.space.of(some.X, owner))

    def chunked(self, n: int, call: Callable[[slice], Any], threads: int) -> list[Any]:
        """`call` for ranges of queries that cover 0 .. n, on threads."""
        size = CHUNK if self.selector.k is not None else max(16, min(CHUNK, CHUNK_DISTANCES // self.facts.n_rows))
        # As many for every thread: none waits for another that has a whole one more.
        count = -(-n // (size * threads)) * threads
        edges = [n * number // count for number in range(count + 1)] if n > size else [0, n]
        ranges = [slice(*ends) for ends in pairwise(edges) if ends[0] < ends[1]]
        return side_by_side(lambda _side, some: call(some), ranges, min(threads, len(ranges)))

    def queries(self, points: Floats, votes: NDArray[Any], probabilities: Floats | None) -> Queries:
        """Rows with their regions."""
        region = self.search.near(points, self.selector.k) if self.selector.method.local else NOWHERE.at(np.zeros(len(points), np.int64))
        similar = None
        if self.similar is not None and probabilities is not None:
            similar = self.similar.near(profiles(probabilities), self.selector.n_similar)
        return Queries(votes, probabilities, region, similar)

    def competence_weights(self, queries: Queries) -> CompetenceWeights:
        """Who is asked, and how much each one counts."""
        selector = self.selector
        return competence_weights(selector.method, selector.mode, self.facts, queries, selector.options, selector.prune)

    # Classes.

    def class_probabilities(self, X: Any, soft: bool, owner: str, threads: int) -> Iterator[tuple[QueryBlock, Floats]]:
        """Class probabilities (n, K), part by part; the largest is the prediction, of equals the first."""
        for part in self.parts(X, soft or self.selector.method.needs_probabilities, owner, threads):
            out = np.empty((len(part.votes), self.n_classes))
            split = unanimous(part.votes)
            agreed = np.flatnonzero(split)
            if soft and part.probabilities is not None:
                out[agreed] = part.probabilities[agreed].mean(axis=1)
            else:
                out[agreed] = np.arange(self.n_classes) == part.votes[agreed, :1]
            open_rows = np.flatnonzero(~split)

            def answer(some: slice, part: QueryBlock = part, open_rows: Integers = open_rows, out: Floats = out) -> None:
                rows = as_range(open_rows[some])
                probabilities = None if part.probabilities is None else part.probabilities[rows]
                votes = np.ascontiguousarray(part.votes[rows])
                out[rows] = self.answered(self.queries(part.points[rows], votes, probabilities), soft)

            self.chunked(len(open_rows), answer, threads)
            yield part, require_finite(out, owner)

    def answered(self, queries: Queries, soft: bool) -> Floats:
        """Class probabilities for queries about which members do not agree (q, K)."""
        easy, counts = self.easy(queries.region)
        out = np.empty((len(queries), self.n_classes))
        out[easy] = counts[easy] / counts[easy].sum(axis=1, keepdims=True)
        hard = np.flatnonzero(~easy)
        if hard.size:
            left = queries.at(hard) if easy.any() else queries
            weights = self.competence_weights(left).weights
            by_proba = soft and left.probabilities is not None
            totals = probability_totals(left.probabilities, weights) if by_proba else class_totals(left.votes, weights, self.n_classes)  # type: ignore[arg-type]
            out[hard] = as_probabilities(totals)
        return out

    def easy(self, region: Region) -> tuple[Mask, Integers]:
        """Queries that their neighbours answer (q,), and how many of these are of each class (q, K)."""
        if self.selector.safe_k is None:
            return np.zeros(len(region), np.bool_), np.zeros((len(region), self.n_classes), np.int64)
        counts = class_counts(self.facts.truth.astype(np.int64), region.rows()[:, : self.selector.safe_k], self.n_classes)
        return hardness(counts) < self.selector.ih_rate, counts

    # Numbers.

    def numbers(self, X: Any, owner: str, threads: int) -> Floats:
        """What the members that are asked predict together (n,)."""
        found = []
        for part in self.parts(X, False, owner, threads):
            out = np.empty(len(part.votes))

            def answer(some: slice, part: QueryBlock = part, out: Floats = out) -> None:
                queries = self.queries(part.points[some], part.votes[some], None)
                out[some] = weighted_mean(queries.votes, fair(self.competence_weights(queries).weights))

            self.chunked(len(out), answer, threads)
            found.append(out)
        return require_finite(np.concatenate(found), owner)


def predicted(pool: Pool, table: AnyTable, soft: bool, owner: str, threads: int) -> tuple[NDArray[Any], Floats | None]:
    """Votes (n, m), and probabilities (n, m, K) if they are asked for, whose largest are then the votes; else what members predict."""
    if pool.classes is None:
        return pool.numbers(table, owner, threads), None
    if not soft:
        return pool.votes(table, owner, threads), None
    probabilities = np.ascontiguousarray(pool.probabilities(table, owner, threads, hard_where_needed=True))
    return probabilities.argmax(axis=2), probabilities


def as_range(rows: Integers) -> Integers | slice:
    """Ascending numbers of rows; where none is left out between the first and the last, the range, which takes rows without a copy."""
    whole = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1
    return slice(int(rows[0]), int(rows[-1]) + 1) if whole else rows


def unanimous(votes: NDArray[Any]) -> Mask:
    """Whether all members vote alike (n,)."""
    return np.asarray((votes == votes[:, :1]).all(axis=1))


def fair(weights: Floats) -> Floats:
    """Weights of which none is below zero, and not all of a row are zero."""
    positive = np.maximum(weights, 0.0)
    return np.where((positive > 0.0).any(axis=1, keepdims=True), positive, 1.0)
