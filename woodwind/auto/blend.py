"""How members are weighed: some ways are tried, and the one is taken that is best where its weights have not looked.

The ways: the best member alone; greedy selection with replacement (Caruana et al. 2004); the weights with the smallest loss, which add up
to one; stacking, a regularised pool whose weights need not add up to one and which may shift scores; and guessing, the same score for every
row, where columns say nothing about the target. Members that rank are on scales of their own: their scores over their spread within queries
have equal weights or are selected, and the best member and guessing are the other ways. Each is nested: the rows of a fold are scored by
weights that were found without it. What that says of the chosen way is the honest score of the ensemble. In time order weights come from
earlier blocks; for the earliest there are none, so that nothing is said of it, and all ways are compared by the blocks after it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.scorer import BlendScorer
from woodwind.base.random_streams import choose, key, permutation
from woodwind.data.tables.queries import QueryRows
from woodwind.ensemble.blend import ClassificationEvidence, RegressionEvidence, fit_log_pool, fit_nonnegative
from woodwind.ensemble.member_weights import loss_weights
from woodwind.ensemble.rank_fusion import spread_within
from woodwind.losses.base import Loss
from woodwind.losses.named import classification_loss, regression_loss
from woodwind.selection.greedy import greedy
from woodwind.selection.objectives import MetricObjective

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The names of the ways that ask one member, that add a shift, and that ask nobody.
ALONE, STACKING, GUESSING = "best member", "stacking", "guessing"
# The way that needs no rows: where there are too few of them to find weights from some and to score others.
EQUAL = "equal weights"

GREEDY_STEPS = 30
# Scores of a member that weights are found from, and rows at least: a dozen weights need no more, and they are found for every part of the
# rows. The same rows however many members there are, so that blends can be compared.
MOST_SCORES, ENOUGH_ROWS = 12_000, 3_000
# Folds are put together to so many parts where weights are scored by rows that they were not found from.
PARTS = 4
# The price of weights that differ, in rows: members are alike, and what little tells them apart is mostly luck.
POOL_PENALTY = 5.0
# A way must be this much better, as a share of the loss, than those before it in the list. One member alone must be better by far: a blend
# is the safer choice, and which of them looks best is often luck.
CLEARLY, FAR_BETTER = 0.001, 0.01
# A member with a smaller share of the weight is left out, and the others share it: it would cost more time than it brings.
SMALLEST_SHARE = 0.01


class BlendWeights(NamedTuple):
    """How members are added up."""

    weights: Floats  # (M,)
    shift: Floats  # (width,)

    def of(self, scores: Floats) -> Floats:
        """The blend (n, width) of members' scores (n, M, width)."""
        return np.asarray(np.einsum("nmk,m->nk", scores, self.weights) + self.shift)


@dataclass(frozen=True, eq=False)
class BlendEvidence:
    """What weights are found from: members' scores out of fold."""

    scores: Floats  # (n, M, width)
    scorer: BlendScorer
    fold: Integers  # (n,)
    ordered: bool  # folds follow each other in time
    n_classes: int
    seed: int

    @property
    def width(self) -> int:
        """Scores of a row."""
        return int(self.scores.shape[2])

    def at(self, rows: NDArray[Any]) -> "BlendEvidence":
        """The same for some of the rows."""
        return BlendEvidence(self.scores[rows], self.scorer.at(rows), self.fold[rows], self.ordered, self.n_classes, self.seed)

    @property
    def queries(self) -> Integers | None:
        """The number of the query of each row, where rows are ranked."""
        return self.scorer.queries

    def some(self) -> "BlendEvidence":
        """No more rows than are needed; of rankings whole queries."""
        n, _, width = self.scores.shape
        rows = max(MOST_SCORES // width, ENOUGH_ROWS)
        if n <= rows:
            return self
        if self.queries is None:
            return self.at(choose(key(self.seed, "blend"), n, rows))
        return self.at(np.flatnonzero(some_queries(self.queries, rows, key(self.seed, "blend"))))

    def parts(self) -> Integers:
        """The part of each row."""
        return parts_of(self.fold, self.queries)

    def others(self, part: int) -> NDArray[np.bool_]:
        """(n,) The rows that weights for a part are found from."""
        return others_of(self.fold, self.ordered, part, self.queries)

    @property
    def estimated(self) -> NDArray[np.bool_]:
        """(n,) Rows for which a blend can be estimated."""
        return estimated(self.fold, self.ordered)


def some_queries(queries: Integers, most: int, seed: int) -> NDArray[np.bool_]:
    """(n,) The rows of some whole queries, drawn by key: no more than so many rows, or the rows of one query."""
    present, number, sizes = np.unique(queries, return_inverse=True, return_counts=True)
    order = permutation(seed, len(present))
    kept = np.zeros(len(present), np.bool_)
    kept[order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), most, "right")))]] = True
    return np.asarray(kept[number])


def parts_of(fold: Integers, queries: Integers | None = None) -> Integers:
    """The part of each row: folds, some of them together; a single fold is divided into two halves, and no query is."""
    n_folds = int(fold.max()) + 1
    if n_folds > 1:
        return fold * min(n_folds, PARTS) // n_folds
    return (np.arange(len(fold)) if queries is None else np.unique(queries, return_inverse=True)[1]) % 2


def others_of(fold: Integers, ordered: bool, part: int, queries: Integers | None = None) -> NDArray[np.bool_]:
    """The rows that weights for a part are found from: in time order those of earlier blocks, unless there is only one block."""
    number = parts_of(fold, queries)
    return number < part if ordered and int(fold.max()) > 0 else number != part


def estimated(fold: Integers, ordered: bool) -> NDArray[np.bool_]:
    """(n,) Rows for which a blend can be estimated, as weights can be found without them; all rows where that is none, see EQUAL."""
    number = parts_of(fold)
    there = np.isin(number, [part for part in np.unique(number).tolist() if others_of(fold, ordered, part).any()])
    return there if there.any() else ~there


Way = Callable[[BlendEvidence], BlendWeights]


class Blend(NamedTuple):
    """The weights of all rows, and what is honestly to be expected of them."""

    way: str
    final: BlendWeights
    nested: Floats  # (n, width): each row by weights that were found without its fold; NaN for rows that are not `estimated`
    losses: dict[str, float]  # of all ways


def best_alone(seen: BlendEvidence) -> BlendWeights:
    """All weight to the member with the smallest loss."""
    losses = [seen.scorer.loss(seen.scores[:, member]) for member in range(seen.scores.shape[1])]
    return _sum_to_one(np.eye(len(losses))[int(np.argmin(losses))], seen)


def by_selection(seen: BlendEvidence) -> BlendWeights:
    """Greedy selection: again and again the member whose addition makes the mean best."""
    n, m, width = seen.scores.shape
    spread = spreads(seen)
    vectors = np.ascontiguousarray(seen.scores.transpose(1, 0, 2)).reshape(m, n * width) / spread[:, None]

    def worth(_truth: Any, mean: Floats, _weight: Any) -> float:
        return -seen.scorer.loss(mean)

    chosen = greedy(MetricObjective(vectors, (n, width), seen.scorer.y, None, worth), GREEDY_STEPS)
    return _sum_to_one(chosen.weights / chosen.weights.sum() / spread, seen)


def spreads(seen: BlendEvidence) -> Floats:
    """(M,) The unit of the scores of each member: for rankings their spread within queries, else 1."""
    if seen.queries is None:
        return np.ones(seen.scores.shape[1])
    queries = QueryRows.of(seen.queries)
    return np.array([spread_within(seen.scores[:, member, 0], queries, seen.scorer.weight) for member in range(seen.scores.shape[1])])


def by_loss(seen: BlendEvidence) -> BlendWeights:
    """Weights of at least zero that add up to one, with the smallest loss. Rankings have no loss of a row: they are selected."""
    scorer = seen.scorer
    if seen.queries is not None:
        return by_selection(seen)
    if seen.n_classes:
        loss = classification_loss("log_loss", seen.n_classes)
        raw, truth = (seen.scores if seen.width > 1 else seen.scores[:, :, 0]), scorer.y
        return _sum_to_one(loss_weights(raw, truth if seen.width > 1 else truth.astype(np.float64), loss, scorer.weight).weights, seen)
    return _sum_to_one(loss_weights(seen.scores[:, :, 0], scorer.y, _regression_loss(scorer), scorer.weight).weights, seen)


def by_stacking(seen: BlendEvidence) -> BlendWeights:
    """A regularised pool: weights of at least zero of any sum, and a shift."""
    scorer = seen.scorer
    n = len(seen.fold)
    weight = np.ones(n) if scorer.weight is None else scorer.weight
    none = np.zeros((n, 0))
    if not seen.n_classes:
        pool = fit_nonnegative(
            RegressionEvidence(seen.scores[:, :, 0], none, scorer.y, weight), intercept=True, penalty=POOL_PENALTY, shrink=True
        )
        return BlendWeights(pool.weights, np.array([pool.intercept]))
    # Two classes: half the log-odds for one, minus half for the other, whose difference are the log-odds.
    logs = seen.scores if seen.width > 1 else np.concatenate([-seen.scores, seen.scores], axis=2) / 2.0
    found = fit_log_pool(ClassificationEvidence(logs, none, scorer.y.astype(np.int64), weight), POOL_PENALTY)
    shift = found.intercepts if seen.width > 1 else np.array([found.intercepts[1] - found.intercepts[0]])
    return BlendWeights(found.weights, shift)


def by_guessing(seen: BlendEvidence) -> BlendWeights:
    """No weight to anybody: the constant that the loss wants."""
    scorer = seen.scorer
    if seen.queries is not None:
        return BlendWeights(np.zeros(seen.scores.shape[1]), np.zeros(1))
    if seen.n_classes:
        loss = classification_loss("log_loss", seen.n_classes)
        shift = loss.start(scorer.y if seen.width > 1 else scorer.y.astype(np.float64), scorer.weight)
    else:
        shift = _regression_loss(scorer).start(scorer.y, scorer.weight)
    return BlendWeights(np.zeros(seen.scores.shape[1]), np.asarray(shift, np.float64))


def _regression_loss(scorer: BlendScorer) -> Loss:
    """What is to be small where numbers are predicted."""
    return regression_loss("absolute_error" if scorer.metric.absolute else "squared_error")


WAYS: dict[str, Way] = {
    "greedy selection": by_selection,
    ALONE: best_alone,
    "smallest loss": by_loss,
    STACKING: by_stacking,
    GUESSING: by_guessing,
}


def by_equal_weights(seen: BlendEvidence) -> BlendWeights:
    """The same weight to every member, over the spread of its scores where it ranks."""
    m = seen.scores.shape[1]
    return _sum_to_one(np.full(m, 1.0 / m) / spreads(seen), seen)


# The ways for members that rank, which have no loss of a row: the safest first.
RANKING_WAYS: dict[str, Way] = {EQUAL: by_equal_weights, **{name: WAYS[name] for name in ("greedy selection", ALONE, GUESSING)}}


def blend(seen: BlendEvidence, left: Callable[[], float] = lambda: math.inf) -> Blend:
    """Try the ways, and take the best by what they predict for rows that their weights have not seen.

    `left` gives the seconds that there are for it: the first way is always tried, and others where there seems to be time for them.
    """
    if seen.scores.shape[1] == 1 or left() <= 0.0:
        ways = {name: WAYS[name] for name in (ALONE, GUESSING)}
    else:
        # A shift that was right for the seasons seen carries their trend on into all seasons to come.
        all_ways = WAYS if seen.queries is None else RANKING_WAYS
        ways = {name: way for name, way in all_ways.items() if not (seen.ordered and name == STACKING)}
    some = seen.some()
    if len(np.unique(some.parts())) < 2:
        fixed = by_equal_weights(seen)
        scores = fixed.of(seen.scores)
        return Blend(EQUAL, fixed, scores, {EQUAL: seen.scorer.loss(scores)})
    parts: list[int] = np.unique(seen.parts()).tolist()
    nested: dict[str, dict[int, BlendWeights]] = {}
    for name, way in ways.items():
        found = _found_without(way, some, parts, left if nested else lambda: math.inf)
        if found is not None:
            nested[name] = found
    rows = np.flatnonzero(some.estimated)
    scorer = some.scorer.at(rows)
    losses = {name: scorer.loss(_scored(found, some)[rows]) for name, found in nested.items()}
    best = next(iter(nested))
    for name in nested:
        if losses[name] < losses[best] - (FAR_BETTER if name == ALONE else CLEARLY) * abs(losses[best]):
            best = name
    return Blend(best, _found(ways[best], some), _scored(nested[best], seen), losses)


def nested_scores(way: Way, seen: BlendEvidence) -> Floats:
    """The blend of every row by weights that were found without its fold, from no more rows than are needed; NaN where there are none."""
    found = _found_without(way, seen.some(), np.unique(seen.parts()).tolist(), lambda: math.inf)
    assert found is not None
    return _scored(found, seen)


def _found_without(way: Way, some: BlendEvidence, parts: Sequence[int], left: Callable[[], float]) -> dict[int, BlendWeights] | None:
    """For each part for which that is possible, weights that were found without its rows; None where there seems to be no time for all."""
    out: dict[int, BlendWeights] = {}
    for done, part in enumerate(parts, 1):
        began = perf_counter()
        if left() <= 0.0:
            return None
        others = np.flatnonzero(some.others(part))
        if others.size:
            out[part] = _found(way, some.at(others))
        # Weights from all rows come after those of the parts.
        if (perf_counter() - began) * (len(parts) - done + 1) > left():
            return None
    return out


def _scored(found: dict[int, BlendWeights], seen: BlendEvidence) -> Floats:
    """The blend (n, width) of rows by the weights that were found without their part; NaN where there are none."""
    out, number = np.full((len(seen.fold), seen.width), np.nan), seen.parts()
    for part, weights in found.items():
        here = number == part
        out[here] = weights.of(seen.scores[here])
    return out


def _found(way: Way, seen: BlendEvidence) -> BlendWeights:
    """Weights by a way.

    In time order they are the mean of those of each block: what was best in one season need not be in the next, and a hundred rows of one
    block say less about that than one row of each of a hundred.
    """
    if seen.queries is not None:  # which are on scales of their own: a small weight need not be a small share
        return way(seen)
    if not seen.ordered:
        return _without_crumbs(way(seen))
    blocks = [way(seen.at(np.flatnonzero(seen.fold == block))) for block in np.unique(seen.fold)]
    weights, shift = (np.mean([getattr(one, name) for one in blocks], axis=0) for name in ("weights", "shift"))
    return _without_crumbs(BlendWeights(weights, shift))


def _without_crumbs(found: BlendWeights) -> BlendWeights:
    """Without members of next to no weight; the sum stays."""
    total = found.weights.sum()
    kept = np.where(found.weights >= SMALLEST_SHARE * total, found.weights, 0.0)
    return BlendWeights(kept * (total / kept.sum()), found.shift) if kept.sum() > 0.0 else found


def _sum_to_one(weights: Floats, seen: BlendEvidence) -> BlendWeights:
    return BlendWeights(np.asarray(weights, np.float64), np.zeros(seen.width))
