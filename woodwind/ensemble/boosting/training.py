"""One training: boost, stop where it is best, and learn the leaves once more from all rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import InterruptWarning, ParameterError, PrecisionWarning
from woodwind.base.notice import notice
from woodwind.base.random_streams import choose, hashes, key
from woodwind.ensemble.boosting.boost import Booster, BoostingRound
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.early_stopping import (
    Callback,
    Evaluator,
    RoundWatcher,
    TrainingStep,
    WatchedInside,
    WatchedOutside,
    add_trees,
    best_of,
    largest_step,
    scored,
    until_no_better,
    until_no_split,
)
from woodwind.ensemble.boosting.folds import BoostingFolds, rounds_in_step, trees_of_mean
from woodwind.ensemble.boosting.recorded_rounds import RoundRecord
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.ensemble.progress import gather_until_interrupted, until_requested, with_progress
from woodwind.losses.base import Loss
from woodwind.losses.integers import is_uneven
from woodwind.tree.grown_tree import ValuedTree

Floats = NDArray[np.float64]

# So many training rows are looked at in every round, to compare with those held out.
TRAIN_ROWS_WATCHED = 10_000

UNEVEN = (
    "more than a tenth of the rows weigh less than a thousandth of the heaviest one, which a tree for all classes has no room for: "
    "one tree is grown for each class instead. Set multiclass='one_per_class' to say so, or give weights that differ less."
)


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
    record: RoundRecord | None = None  # where the rounds of one model are written, and read after a kill


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
    """Boost, going on from an earlier training if there is one: one model, or one for each fold."""
    if plan.loss.width > 1 and not plan.one_per_class and is_uneven(rows.weight):
        notice(f"{owner}: {UNEVEN}", PrecisionWarning)
        plan = replace(plan, one_per_class=True)
    if earlier is not None and earlier.rounds:
        check_rounds_go_on(earlier.rounds, plan, owner)
    if watched is None or watched.folds is None:
        return train_once(rows, plan, stop, watched, earlier, owner)
    folds = BoostingFolds.of(rows, plan, watched.folds)
    if stop.average is not None and earlier is None:
        return averaged(rows, plan, stop, stop.average, watched, folds, owner)
    before, steps, _ = rounds_by_folds(rows, plan, stop, watched, folds, owner)
    losses = _history((), before[1], steps, "valid")
    there = 0 if earlier is None else len(earlier.rounds)
    count = max(best_of(losses[1:]) + 1, there) if len(losses) > 1 else there
    quiet = replace(stop, count=count, early=False, callbacks=(), verbose=False)
    return replace(train_once(rows, plan, quiet, replace(watched, folds=None), earlier, owner), valid=losses)


def train_once(
    rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows | None, earlier: TrainedBoosting | None, owner: str
) -> TrainedBoosting:
    """Boost one model; what is held out to stop by is given back in the end."""
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


def check_rounds_go_on(rounds: Sequence[Sequence[ValuedTree]], plan: BoostPlan, owner: str) -> None:
    """Refuse to go on from rounds that have another number of trees, or linear leaves without the numbers that they need."""
    there, of_each = len(rounds[0]), plan.loss.width if plan.one_per_class else 1
    if there != of_each * plan.parallel_trees:
        raise ParameterError(
            f"{owner}: a round would have {of_each * plan.parallel_trees} trees, but warm_start=True goes on from rounds of {there}. Set "
            "n_parallel_trees, and with several classes multiclass and what holds leaf values back, as they were, or warm_start=False."
        )
    if plan.linear_l2 is None and any(tree.linear is not None for trees in rounds for tree in trees):
        raise ParameterError(f"{owner}: warm_start=True goes on from linear leaves. Set linear_leaves=True, or warm_start=False.")


def rounds_by_folds(
    rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows, folds: BoostingFolds, owner: str
) -> tuple[tuple[float | None, float | None], list[TrainingStep], bool]:
    """Losses before the first round; rounds of all folds until rows held out are no longer better; whether it was an interrupt."""
    start = rows.start(plan.loss, None)
    held = np.sort(np.concatenate(folds.held))
    pooled = rows.raw(start)
    for some, booster in zip(folds.held, folds.boosters, strict=True):
        pooled[some] = booster.raw[some]
    loss = resolved(plan.loss, rows, rows.raw(start), None)
    seen = watched_training_rows(np.arange(rows.codes.n_rows), plan, watched.queries)
    evaluate_seen = watched.evaluate_inside(seen, loss, False)
    watcher = RoundWatcher(lambda _: evaluate_seen(folds.mean(seen)), WatchedInside(held, watched.evaluate_inside(held, loss, True)))
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
    recorded = stop.record if not done else None
    rounds = booster.rounds(max(stop.count - len(done), 0), len(done)) if recorded is None else recorded.rounds(booster, stop.count)
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
    learn = watched_training_rows(learn, plan, watched.queries)
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


def watched_training_rows(learn: NDArray[np.int64], plan: BoostPlan, queries: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
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


def _history(earlier: tuple[float, ...], first: float | None, steps: Sequence[TrainingStep], name: str) -> tuple[float, ...]:
    """Losses so far: those of the earlier training, or the one before the first round, then one for each step."""
    if first is None:
        return ()
    before = earlier[: steps[0].number] if steps else earlier
    return (before or (first,)) + tuple(getattr(step, name) for step in steps)
