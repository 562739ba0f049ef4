"""One training: boost, stop where it is best, and learn the leaves once more from all rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import InterruptWarning, ParameterError, PrecisionWarning
from woodwind.base.fixed import exact_mean, largest_of
from woodwind.base.notice import notice
from woodwind.base.pool import side_by_side
from woodwind.base.random_streams import choose, hashes, key
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.ranks import Ranks
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.ensemble.boosting import precompile
from woodwind.ensemble.boosting.boost import Booster, BoostingRound, BoostPlan, TreeLearner, hessian_factors
from woodwind.ensemble.boosting.early_stopping import (
    Callback,
    Evaluator,
    RoundWatcher,
    TrainingStep,
    WatchedInside,
    WatchedOutside,
    add_trees,
    best_of,
    gather_until_interrupted,
    largest_step,
    scored,
    until_no_better,
    until_no_split,
    until_requested,
    with_progress,
)
from woodwind.ensemble.boosting.exact_learner import ExactLearner, summed_by_leaf
from woodwind.ensemble.boosting.histogram_learner import HistogramLearner
from woodwind.ensemble.boosting.ordered_boosting import OrderedBooster, OrderedOrigin
from woodwind.losses.base import Loss, RowsByLeaf
from woodwind.losses.integers import is_uneven
from woodwind.shards.shards import Shards
from woodwind.tree.forest import Forest, tree_of
from woodwind.tree.grown_tree import ValuedTree, covers_below, newton_values, rows_by_leaf, smoothed_steps
from woodwind.tree.linear_leaves import LinearInputs, LinearLeaves, LinearPlan, fitted_terms, joined_linear, number_matrix

# ----------------------------------------------------------------------------------------------------
# Boosting in folds: several boosters in step, each blind to its own fold, so that every row is scored by one that never saw it.


def rounds_in_step(
    boosters: Sequence[Booster],
    held: Sequence[NDArray[np.int64]],
    count: int,
    threads: int = 1,
    is_time: Callable[[], bool] = lambda: True,
) -> Iterator[BoostingRound]:
    """Rounds of all boosters together: the trees of the first, then of the second, and so on.

    The scores are those that each row has from the booster that does not learn from it. `held` are the rows of each
    booster's fold. It ends with the first booster that ends; and in the middle of a round, which is lost, where there is no time.
    """
    pooled = boosters[0].raw.copy()
    for rounds in in_step([booster.rounds(count) for booster in boosters], threads, is_time):
        for rows, finished in zip(held, rounds, strict=True):
            pooled[rows] = finished.raw[rows]
        yield BoostingRound(rounds[0].number, tuple(tree for finished in rounds for tree in finished.trees), pooled)


def in_step(
    running: Sequence[Iterator[BoostingRound]], threads: int, is_time: Callable[[], bool] = lambda: True
) -> Iterator[list[BoostingRound]]:
    """The next round of each, until one has none. A booster is on one thread: a small tree is not worth two."""
    while True:
        found = side_by_side(lambda _side, rounds: next(rounds, None) if is_time() else None, running, min(threads, len(running)))
        rounds = [finished for finished in found if finished is not None]
        if len(rounds) < len(running):
            return
        yield rounds


def trees_of_mean(trees: Iterable[ValuedTree], members: int) -> tuple[ValuedTree, ...]:
    """Trees of one of several models whose scores are averaged: each adds its part of the mean."""
    # A tree without linear leaves is divided, not multiplied by the inverse: models have the bits that they always had.
    parts = (replace(tree, value=tree.value / members, low=tree.low / members, high=tree.high / members) for tree in trees)
    return tuple(part if part.linear is None else replace(part, linear=part.linear.scaled(1.0 / members)) for part in parts)


Floats = NDArray[np.float64]

# So many training rows are looked at in every round, to compare with those held out.
TRAIN_ROWS_WATCHED = 10_000

UNEVEN = (
    "more than a tenth of the rows weigh less than a thousandth of the heaviest one, which a tree for all classes has no room for: "
    "one tree is grown for each class instead. Set multiclass='one_per_class' to say so, or give weights that differ less."
)


# No larger number of rows is a whole one.
MOST_COUNTED = 2.0**53


def in_rows(weight: Floats | None) -> Floats | None:
    """Weights in which a row counts as one row on average, where the given ones are below that, or are no numbers of rows at all.

    Penalties and the smallest leaves are in rows: with a weight of 0.001 for all of them, nothing would be learned. Larger weights stay, so
    that a weight of 20 is as good as 20 rows.
    """
    if weight is None:
        return None
    heaviest = largest_of(weight)
    mean = exact_mean(weight[weight > 0.0] / heaviest)
    if 1.0 - 1e-9 <= mean * heaviest <= MOST_COUNTED:
        return weight
    return np.asarray(weight / heaviest / mean)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows of a training: codes, target, weights, and scores to start from (None: the best constant)."""

    codes: Codes | SparseCodes | Ranks | Shards
    y: NDArray[Any]
    weight: Floats | None
    offset: Floats | None
    # Codes for a training on some of the rows, with a number of its own, where codes know something of targets.
    codes_for: Callable[[NDArray[np.int32], int], Codes | SparseCodes | Ranks] | None = None
    # Codes for a training on some of the rows in a given order, where a row knows the targets of those before it.
    codes_in: Callable[[NDArray[np.int32]], Codes | SparseCodes | Ranks] | None = None
    constant: float | None = None  # the score to start from, where it is given and the same for all rows
    inputs: LinearInputs | None = None  # the numbers of the rows, where leaves are linear

    @property
    def numbers(self) -> Floats | None:
        """The numbers of the rows (n, F), where leaves are linear."""
        return None if self.inputs is None else self.inputs.values

    def learned_from(self, rows: NDArray[np.int32] | None, number: int = 0) -> "TrainingRows":
        """The same rows as a booster sees them that is trained on some of them."""
        return self if self.codes_for is None or rows is None else replace(self, codes=self.codes_for(rows, number), codes_for=None)

    def start(self, loss: Loss, rows: NDArray[np.int32] | None) -> Floats:
        """Score before the first tree, from some of the rows."""
        if self.offset is not None or self.constant is not None:
            return np.full(loss.width, self.constant or 0.0)
        if rows is None:
            return loss.start(self.y, self.weight)
        return loss.start(self.y[rows], None if self.weight is None else self.weight[rows])

    def booster(
        self,
        plan: BoostPlan,
        raw: Floats,
        learn: NDArray[np.int32] | None = None,
        done: Sequence[tuple[ValuedTree, ...]] = (),
        start: Floats | None = None,
    ) -> Booster:
        """Boosting from these scores, with the learner that the rows are coded for; `learn` as `rows` of `Booster`.

        `start` is the score before the rounds that are done.
        """
        weight = in_rows(self.weight)
        learner = self._learner(self.codes, plan, weight, learn)
        if not plan.permutations:
            return Booster(learner, self.y, plan, raw, weight, learn, done, self.inputs)
        codes_in = self.codes_in
        learner_in = None if codes_in is None else lambda order: self._learner(codes_in(order), plan, weight, learn)
        given = None if self.constant is None else self.raw(np.full(plan.loss.width, self.constant))
        origin = OrderedOrigin(raw if start is None else self.raw(start), given if self.offset is None else self.offset, learner_in)
        return OrderedBooster(learner, self.y, plan, raw, weight, learn, done, origin)

    def _learner(
        self, codes: Codes | SparseCodes | Ranks | Shards, plan: BoostPlan, weight: Floats | None, learn: NDArray[np.int32] | None
    ) -> TreeLearner:
        if isinstance(codes, Ranks):
            return ExactLearner(codes, self.y, plan)
        # The lanes of a tree for all classes have no room for weights of very different sizes.
        outputs = plan.loss.width if not plan.one_per_class and not is_uneven(weight) else 1
        capacity = codes.n_rows if learn is None else len(learn)
        return HistogramLearner(codes, self.y, weight, plan, capacity, outputs, precompile.wait)

    def raw(self, start: Floats) -> Floats:
        """Scores of all rows before the first tree: (n,), or (n, K) for K scores per row."""
        n = self.codes.n_rows
        raw = np.full(n, start[0]) if len(start) == 1 else np.tile(start, (n, 1))
        if self.offset is not None:
            raw += self.offset
        return raw


@dataclass(frozen=True, eq=False)
class WatchedRows:
    """Which rows are watched: some of those of the training, or others; and how they are scored."""

    # Of some rows of the training, by a loss that is resolved; whether they are held out.
    evaluate_inside: Callable[[NDArray[np.int64], Loss, bool], Evaluator]
    held: NDArray[np.bool_] | None = None  # rows of the training that are held out
    folds: NDArray[np.int64] | None = None  # in which fold each row of the training is held out; -1 for none
    outside: Sequence[tuple[TrainingRows, Callable[[Loss], Evaluator]]] = ()  # tables from outside, the last of which decides
    queries: NDArray[np.int64] | None = None  # number of the query of each row of the training, where rows are scored by whole queries

    @property
    def has_validation(self) -> bool:
        """Whether there are rows to stop by: those of the training say nothing about that."""
        return self.held is not None or self.folds is not None or len(self.outside) > 0


@dataclass(frozen=True)
class StoppingRule:
    """When a training ends."""

    count: int  # most rounds
    split_patience: int
    early: bool
    patience: int
    tol: float
    refit: bool
    average: float | None  # in folds: rounds of the mean of their models, of what was best for each; None: train one on all rows
    callbacks: Sequence[Callback]
    verbose: bool


@dataclass(frozen=True, eq=False)
class TrainedBoosting:
    """What comes out of a training."""

    rounds: tuple[tuple[ValuedTree, ...], ...]  # as boosting has made them, for going on from
    first: Floats  # the score that these rounds began with
    trees: tuple[ValuedTree, ...]  # of the model
    start: Floats  # of the model
    train: tuple[float, ...] = ()  # losses before the first round and after each
    valid: tuple[float, ...] = ()

    @property
    def best(self) -> int:
        """Number of the round with the smallest validation loss; of the last one where there is none."""
        if len(self.valid) < 2:
            return len(self.rounds)
        # A training that goes on from one that was not watched has losses of its own rounds only.
        unwatched = max(len(self.rounds) + 1 - len(self.valid), 0)
        return unwatched + best_of(self.valid[1:]) + 1


def train(
    rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows | None, earlier: TrainedBoosting | None, owner: str
) -> TrainedBoosting:
    """Boost, going on from an earlier training if there is one."""
    if plan.loss.width > 1 and not plan.one_per_class and is_uneven(rows.weight):
        notice(f"{owner}: {UNEVEN}", PrecisionWarning)
        plan = replace(plan, one_per_class=True)
    if earlier is not None and earlier.rounds:
        check_trees_per_round(len(earlier.rounds[0]), rows, plan, owner)
    if watched is not None and watched.folds is not None:
        folds = BoostingFolds.of(rows, plan, watched.folds)
        if stop.average is not None and earlier is None:
            return averaged(rows, plan, stop, stop.average, watched, folds, owner)
        before, steps, _ = rounds_by_folds(rows, plan, stop, watched, folds, owner)
        losses = _history((), before[1], steps, "valid")
        there = 0 if earlier is None else len(earlier.rounds)
        count = max(best_of(losses[1:]) + 1, there) if len(losses) > 1 else there
        quiet = replace(stop, count=count, early=False, callbacks=(), verbose=False)
        return replace(train(rows, plan, quiet, replace(watched, folds=None), earlier, owner), valid=losses)
    held = None if watched is None else watched.held
    learn = None if held is None else np.flatnonzero(~held).astype(np.int32)
    start = rows.start(plan.loss, learn) if earlier is None else earlier.first
    done = () if earlier is None else earlier.rounds
    if plan.dropout is not None:
        done = tuple(tuple(replace(tree) for tree in trees) for trees in done)  # they shrink, and the earlier model keeps its own
    raw = rows.raw(start)
    loss = resolved(plan.loss, rows, raw, learn)
    seen = rows.learned_from(learn)
    add_trees(raw, (tree for trees in done for tree in trees), seen.codes, plan.threads, rows.numbers)
    watcher = None if watched is None else make_watcher(watched, rows, plan, loss, start, done)
    before = (None, None) if watcher is None else watcher(BoostingRound(len(done) - 1, (), raw))

    booster = seen.booster(plan, raw, learn, done, start)
    steps, interrupted = run(booster, stop, watcher, done, owner)
    rounds = done + tuple(step.round.trees for step in steps)
    losses = _history(() if earlier is None else earlier.train, before[0], steps, "train")
    held_losses = _history(() if earlier is None else earlier.valid, before[1], steps, "valid")
    if stop.early and len(held_losses) == len(rounds) + 1 > 1:
        rounds = rounds[: best_of(held_losses[1:]) + 1]
    trees = tuple(tree for group in rounds for tree in group)
    result = TrainedBoosting(rounds, start, trees, start, losses, held_losses)
    if learn is None or not stop.refit or interrupted:
        return result
    del booster, seen, raw, steps
    return refitted(rows, plan, result, owner)


def check_trees_per_round(there: int, rows: TrainingRows, plan: BoostPlan, owner: str) -> None:
    """Refuse to go on from rounds that have another number of trees."""
    of_each = plan.loss.width if plan.one_per_class or isinstance(rows.codes, Ranks) else 1
    if there != of_each * plan.parallel_trees:
        raise ParameterError(
            f"{owner}: a round would have {of_each * plan.parallel_trees} trees, but warm_start=True goes on from rounds of {there}. Set "
            "n_parallel_trees, and with several classes multiclass and what holds leaf values back, as they were, or warm_start=False."
        )


@dataclass(frozen=True, eq=False)
class BoostingFolds:
    """Boosters that are each blind to one fold."""

    held: list[NDArray[np.int64]]
    starts: list[Floats]
    boosters: list[Booster]

    @classmethod
    def of(
        cls, rows: TrainingRows | Sequence[TrainingRows], plan: BoostPlan, folds: NDArray[np.int64], ordered: bool = False
    ) -> "BoostingFolds":
        """One booster for each fold, with draws of its own; where folds are ordered, it learns from those before its own only.

        `rows` are those of all folds, or for each fold the same rows as its booster sees them.
        """
        numbers = np.unique(folds[folds >= 0]).tolist()
        learn = [np.flatnonzero(folds < fold if ordered else folds != fold).astype(np.int32) for fold in numbers]
        if isinstance(rows, TrainingRows):
            seen: Sequence[TrainingRows] = [rows.learned_from(some, number + 1) for number, some in enumerate(learn)]
        else:
            seen = rows
        starts = [own.start(plan.loss, some) for own, some in zip(seen, learn, strict=True)]
        # Several are side by side, on a thread each.
        threads = plan.threads if len(numbers) == 1 else 1
        plans = [replace(plan, seed=key(plan.seed, "fold", fold), threads=threads) for fold in numbers]
        boosters = [view.booster(own, view.raw(start), some) for view, own, start, some in zip(seen, plans, starts, learn, strict=True)]
        return cls([np.flatnonzero(folds == fold) for fold in numbers], starts, boosters)

    def mean(self, rows: NDArray[np.int64]) -> Floats:
        """Mean of the scores that all boosters give to some rows."""
        return sum((booster.raw[rows] for booster in self.boosters[1:]), self.boosters[0].raw[rows]) / len(self.boosters)


def rounds_by_folds(
    rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows, folds: BoostingFolds, owner: str
) -> tuple[tuple[float | None, float | None], list[TrainingStep], bool]:
    """Losses before the first round; rounds of all folds until rows held out are no longer better; whether it was an interrupt."""
    start = rows.start(plan.loss, None)
    scored = np.sort(np.concatenate(folds.held))
    pooled = rows.raw(start)
    for some, booster in zip(folds.held, folds.boosters, strict=True):
        pooled[some] = booster.raw[some]
    loss = resolved(plan.loss, rows, rows.raw(start), None)
    seen = watched_rows(np.arange(rows.codes.n_rows), plan, watched.queries)
    evaluate_seen = watched.evaluate_inside(seen, loss, False)
    watcher = RoundWatcher(lambda _: evaluate_seen(folds.mean(seen)), WatchedInside(scored, watched.evaluate_inside(scored, loss, True)))
    before = watcher(BoostingRound(-1, (), pooled))
    return before, *consumed(rounds_in_step(folds.boosters, folds.held, stop.count, plan.threads), stop, watcher, owner)


def averaged(
    rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, stretch: float, watched: WatchedRows, folds: BoostingFolds, owner: str
) -> TrainedBoosting:
    """The mean of the models of all folds, each with its leaves fitted once more from all rows.

    It takes `stretch` times the rounds that are best for rows held out: those have one model each, of fewer rows, and a mean
    of several learns less noise with every round.
    """
    before, steps, interrupted = rounds_by_folds(rows, plan, stop, watched, folds, owner)
    losses, held_losses = _history((), before[0], steps, "train"), _history((), before[1], steps, "valid")
    if stop.early:
        steps = steps[: max(1, round((best_of(held_losses[1:]) + 1) * stretch))]
    members = len(folds.boosters)
    size = len(steps[0].round.trees) // members
    models = []
    for member, start in enumerate(folds.starts):
        trees = tuple(tree for step in steps for tree in step.round.trees[member * size : (member + 1) * size])
        model = TrainedBoosting((), start, trees, start)
        again = refitted(rows, plan, model, owner) if stop.refit and not interrupted else model
        interrupted = again is model
        models.append(again)
    parts = [trees_of_mean(model.trees, members) for model in models]
    rounds = tuple(tuple(tree for part in parts for tree in part[at : at + size]) for at in range(0, len(parts[0]), size))
    start = np.mean([model.start for model in models], axis=0)
    return TrainedBoosting(rounds, start, tuple(tree for group in rounds for tree in group), start, losses, held_losses)


def resolved(loss: Loss, rows: TrainingRows, raw: Floats, learn: NDArray[np.int32] | None) -> Loss:
    """The loss that rounds are compared by: what it takes from residuals, it takes from those before the first tree."""
    if learn is None or loss.is_resolved:
        return loss.resolved(rows.y, raw, rows.weight)
    return loss.resolved(rows.y[learn], raw[learn], None if rows.weight is None else rows.weight[learn])


def run(
    booster: Booster, stop: StoppingRule, watcher: RoundWatcher | None, done: tuple[tuple[ValuedTree, ...], ...], owner: str
) -> tuple[list[TrainingStep], bool]:
    """The rounds of a training, from the first that is not there yet."""
    rounds = booster.rounds(max(stop.count - len(done), 0), len(done))
    if booster.plan.dropout is None:  # with dropout an idle round still shrinks earlier ones, and none may be left away
        rounds = until_no_split(rounds, stop.split_patience, max(map(largest_step, done), default=0.0))
    return consumed(rounds, stop, watcher, owner)


def consumed(
    rounds: Iterable[BoostingRound], stop: StoppingRule, watcher: RoundWatcher | None, owner: str
) -> tuple[list[TrainingStep], bool]:
    """Rounds, until somebody or something ends them; and whether it was an interrupt."""
    steps = scored(rounds, watcher)
    if stop.early:
        steps = until_no_better(steps, stop.patience, stop.tol)
    if stop.callbacks:
        steps = until_requested(steps, stop.callbacks)
    if stop.verbose:
        steps = with_progress(steps, stop.count, owner)
    return gather_until_interrupted(steps, stop.count, owner)


def make_watcher(
    watched: WatchedRows, rows: TrainingRows, plan: BoostPlan, loss: Loss, start: Floats, done: tuple[tuple[ValuedTree, ...], ...]
) -> RoundWatcher:
    """Watches the validation rows, and some of those that are trained on."""
    learn = np.arange(rows.codes.n_rows) if watched.held is None else np.flatnonzero(~watched.held)
    learn = watched_rows(learn, plan, watched.queries)
    inside = WatchedInside(learn, watched.evaluate_inside(learn, loss, False))
    if watched.held is not None:
        held = np.flatnonzero(watched.held)
        return RoundWatcher(inside, WatchedInside(held, watched.evaluate_inside(held, loss, True)))
    if not watched.outside:
        return RoundWatcher(inside)

    def outside(others: TrainingRows, evaluate: Callable[[Loss], Evaluator]) -> WatchedOutside:
        raw = others.raw(start)
        add_trees(raw, (tree for trees in done for tree in trees), others.codes, plan.threads, others.numbers)
        return WatchedOutside(others.codes, raw, evaluate(loss), plan.threads, others.numbers)

    *also, last = [outside(*others) for others in watched.outside]
    return RoundWatcher(inside, last, also)


def watched_rows(learn: NDArray[np.int64], plan: BoostPlan, queries: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Those training rows that are looked at in every round: whole queries, where there are any."""
    if len(learn) <= TRAIN_ROWS_WATCHED:
        return learn
    if queries is not None:
        sizes = np.bincount(queries[learn])
        drawn = np.argsort(hashes(key(plan.seed, "watched"), len(sizes)))
        chosen = drawn[np.cumsum(sizes[drawn]) <= max(TRAIN_ROWS_WATCHED, sizes[drawn[sizes[drawn] > 0][0]])]
        return learn[np.isin(queries[learn], chosen)]
    return learn[choose(key(plan.seed, "watched"), len(learn), TRAIN_ROWS_WATCHED)]


def refitted(rows: TrainingRows, plan: BoostPlan, result: TrainedBoosting, owner: str) -> TrainedBoosting:
    """The same splits, with a start and leaf values from all rows: as good as training anew, in a fraction of the time."""
    start = rows.start(plan.loss, None)
    booster = rows.booster(plan, rows.raw(start))
    try:
        return replace(result, trees=tuple(booster.replay(result.trees)), start=start)
    except KeyboardInterrupt:
        notice(
            f"{owner} was interrupted while it learned the leaves from all rows: those of the rows not held out are kept.",
            InterruptWarning,
        )
        return result


@dataclass(frozen=True, eq=False)
class RefitPlan:
    """How the leaves of a boosted forest are learned once more, from other rows."""

    loss: Loss
    penalties: tuple[float, float, float]  # L1, L2 and path smoothing
    longest_step: float  # largest size of a leaf value before the learning rate
    learning_rate: float
    members: int  # models whose mean the forest is
    trees_per_round: int  # of one of them
    parallel_trees: int  # of these, for the same scores
    constant: float | None = None  # the score to start from; None for the best one
    softmax_hessian: str = "friedman"
    linear_l2: float = 0.0  # of the slopes of linear leaves
    decay: float = 0.0  # share of the old value of a leaf that stays
    threads: int = 1


def refit_leaves(
    forest: Forest, x: tuple[Any, NDArray[np.int64]], y: NDArray[Any], weight: Floats | None, offset: Floats | None, plan: RefitPlan
) -> Forest:
    """The same splits with a start and leaf values from some rows of a table, which the trees need not have been grown from.

    A leaf that none of these rows reaches keeps what it had. `x` is the table and which of its rows count; `offset` are scores to start
    from; without them it is the best constant.
    """
    loss, weight = plan.loss, in_rows(weight)
    is_given = offset is not None or plan.constant is not None
    start = np.full(loss.width, plan.constant or 0.0) if is_given else loss.start(y, weight)
    first = np.full(len(y), start[0]) if loss.width == 1 else np.tile(start, (len(y), 1))
    raws = [first + (0.0 if offset is None else offset) for _ in range(plan.members)]
    values, covers = np.array(forest.value), np.array(forest.cover)
    gradient, hessian, now, before = np.zeros((0, 0)), np.zeros((0, 0)), loss, first
    rate = plan.learning_rate / plan.parallel_trees
    table, rows = x
    numbers = np.zeros((len(rows), 0)) if forest.linear is None else number_matrix(table)[rows]
    linear: list[LinearLeaves] = []
    for tree, ends in forest.staged_leaves(table, plan.threads):
        leaf = ends[rows]
        nodes, output = slice(forest.roots[tree], forest.roots[tree + 1]), int(forest.output[tree])
        raw = raws[tree // plan.trees_per_round % plan.members]
        if tree % plan.trees_per_round == 0:
            before = raw if plan.parallel_trees == 1 else raw.copy()
            now = loss if loss.is_resolved else loss.resolved(y, raw, weight)
            gradient, hessian = (part.reshape(len(y), -1) for part in now.derivatives(y, raw, weight, plan.threads))
        order, begin, end = rows_by_leaf(leaf, None, nodes.stop - nodes.start)
        splits = forest.feature[nodes], forest.child[nodes]
        if now.refits:
            found, full = np.zeros((len(begin), values.shape[1])), end > begin
            leaves = RowsByLeaf(order, begin[full], end[full])
            found[full] = now.refitted(output, leaves, y, before, weight, plan.threads).reshape(-1, found.shape[1])
        else:
            columns = range(loss.width) if output < 0 else range(output, output + 1)
            found = new_steps((gradient, hessian), columns, (order, begin, end), splits, plan, now)
        found = np.clip(found, -plan.longest_step, plan.longest_step)
        # Values of the forest are parts of the mean of all members.
        old = values[nodes] * plan.members
        new = np.where((end > begin)[:, None], plan.decay * old + (1.0 - plan.decay) * found * rate, old)
        cover = np.bincount(leaf, weight, minlength=len(new)).astype(np.float64)
        finished = replace(tree_of(forest, tree), value=new, cover=covers_below(*splits, cover)).with_node_values()
        values[nodes], covers[nodes] = finished.value / plan.members, finished.cover
        if finished.linear is not None:
            parts = gradient[:, output], hessian[:, output] * hessian_factors(loss, plan.softmax_hessian)[1]
            terms = new_terms(finished.linear, numbers, parts, (order, begin, end), found[:, 0] * rate, plan)
            finished = replace(finished, linear=terms)
            linear.append(terms)
        finished.add_leaves(numbers, (0, 1), leaf[:, None], raw.reshape(len(raw), -1), plan.threads)
    joined = joined_linear([(part, part.first.size - 1) for part in linear])
    return replace(forest, value=values, cover=covers, start=start, linear=None if joined is None else joined.scaled(1.0 / plan.members))


def new_steps(
    derivatives: tuple[Floats, Floats], columns: range, by_leaf: Any, splits: tuple[Any, Any], plan: RefitPlan, loss: Loss
) -> Floats:
    """Values of the nodes of a tree (N, L), before the learning rate, from the derivatives (n, K) of rows, for some of the K scores."""
    (gradient, hessian), (order, begin, end) = derivatives, by_leaf
    found = np.zeros((len(begin), len(columns)))
    for position, column in enumerate(columns):
        total = summed_by_leaf(gradient[order, column], hessian[order, column], begin, end)
        total = total[0], total[1] * hessian_factors(plan.loss, plan.softmax_hessian)[1]
        if plan.penalties[2] > 0.0:
            steps = smoothed_steps(*splits, end - begin, total, plan.penalties, plan.longest_step)
        else:
            steps = newton_values(*total, *plan.penalties[:2])
        found[:, position] = loss.in_scores(steps, column)
    return found


def new_terms(
    linear: LinearLeaves, numbers: Floats, derivatives: tuple[Floats, Floats], by_leaf: Any, value: Floats, plan: RefitPlan
) -> LinearLeaves:
    """The linear parts of a tree of a forest, learned once more from rows; `value` (N,) are the new constant values."""
    old = linear.scaled(plan.members)
    how = LinearPlan(plan.linear_l2, (*plan.penalties[:2], plan.learning_rate / plan.parallel_trees))
    gradient, hessian = (np.ascontiguousarray(part) for part in derivatives)
    new = fitted_terms(old, numbers, (gradient, hessian), by_leaf, value, how, plan.threads)
    return new if plan.decay == 0.0 else old.mixed(plan.decay, new)


def _history(earlier: tuple[float, ...], first: float | None, steps: Sequence[TrainingStep], name: str) -> tuple[float, ...]:
    """Losses so far: those of the earlier training, or the one before the first round, then one for each step."""
    if first is None:
        return ()
    before = earlier[: steps[0].number] if steps else earlier
    return (before or (first,)) + tuple(getattr(step, name) for step in steps)
