"""Boosted members: the folds are boosted in step, and all of them end where the rows held out are best.

One number, the count of rounds, is found by looking at the rows held out, all of them together; a fold is scored by the count that the
other folds would have chosen. Since folds advance together, a member whose time is up is whole all the same, only with fewer rounds.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import LATE, Clock
from woodwind.auto.members.target_encoding import EncodedMember, Encoding, encodable, learn_encodings
from woodwind.auto.members.tree_members import ForestMember, MeanMember
from woodwind.auto.size import BOOSTED_LEAF, most_leaves
from woodwind.auto.training.affordable import is_time_to_compile
from woodwind.auto.training.recipe import ALL_ROWS, OUT_OF_TIME, Recipe, TrainedFold, TrainedMember, gathered
from woodwind.auto.training.training_set import TrainingSet
from woodwind.base.formatting import counted
from woodwind.base.random_streams import key
from woodwind.data.binning.cuts import Cuts
from woodwind.data.tables.queries import QueryRows
from woodwind.ensemble.boosting import auto_defaults
from woodwind.ensemble.boosting.boost import Booster, BoostingRound
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.early_stopping import TrainingStep, scored, until_no_better, until_no_split
from woodwind.ensemble.boosting.folds import BoostingFolds, rounds_in_step, trees_of_mean
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.kernels.histogram.loop import take_part
from woodwind.losses.base import Loss
from woodwind.losses.named import classification_loss, regression_loss
from woodwind.losses.ranking import RANKING, BoundRankingLoss
from woodwind.tree.assemble import assemble
from woodwind.tree.forest import Forest
from woodwind.tree.grown_tree import ValuedTree
from woodwind.tree.settings import TreeSettings

Floats = NDArray[np.float64]

MOST_ROUNDS = 2000
# Rounds that together bring less than this share of the loss in the beginning, within the patience, are not worth their trees: rows that
# are easily told apart would be boosted for ever.
LEAST_GAIN = 2e-4
# Of numbers with little noise nearly all of the loss in the beginning is gone soon, and what is left counts: this share of it is a gain
# as well. On UCI's energy table it takes an eighth of the error of symmetric trees.
LEAST_SHARE_OF_THE_REST = 1e-3
# What comes after the folds, as a share of the time that they took: learning leaves once more, or a training on all rows.
REPLAY_SHARE, ONCE_MORE_SHARE = 0.4, 1.0
# What a member may take of the time that is left when it begins: others should have a chance. Of a large table, which is not divided into
# folds, one member that is finished is worth more than two that are not: it may take all.
MOST_OF_THE_REST = 0.5
# The pace of a training is that of its first rounds. A member wants so many rounds at a learning rate of one, 300 at 0.1; where there is
# time for fewer, the learning rate is larger, up to so many times. Of 2.4 million flights and 200 rounds of 774 leaves, 0.2 in place of 0.1
# takes 1.5 % of the RMSE; 0.3 and 1,600 leaves are 1.8 % worse than 0.1.
PILOT_ROUNDS, ROUNDS_TIMES_RATE, MOST_TIMES_RATE, CLEARLY_LARGER = 4, 30.0, 2.0, 1.25
# Rows for a leaf, where trees of the usual size are too small for the table. Of 2.4 million flights, 100 rounds of 2,047 leaves take 16 s
# and leave an RMSE of 26.4; 300 of 63 leaves take 20 s and leave 28.5. Of 262,000, 400 rounds of 774 leaves leave 37.0, 1,000 of 63 37.6.
ROWS_PER_LEAF, MOST_LEAVES = 1_300, 2_047
LEAST_LEAVES = 4
# Of more features than this, all members see the same share for each tree: of 1,000 x 50,000 a round with four tenths of them at each node
# took all of the time and of the memory that there was.
VERY_WIDE = 2000


class BoostingFamily:
    """The family of boosted trees."""

    gives_scores = True
    can_hurry = True  # by a larger learning rate

    def needs_all_rows(self, training_set: TrainingSet) -> bool:
        """In time order no fold has learned the latest rows, which are most like those to come."""
        return training_set.ordered

    def fits(self, training_set: TrainingSet, recipe: Recipe, clock: Clock, have: Sequence[TrainedFold]) -> Iterator[TrainedFold]:
        """All folds together."""
        # Symmetric trees are a variant of the kernel that grows all trees of one score.
        if recipe.settings.get("growth") == "symmetric" and not is_time_to_compile(take_part, clock, variants=2):
            return
        began = time.perf_counter()
        plan = boost_plan(training_set, recipe)
        forms = _forms(training_set, recipe, plan.loss, range(training_set.n_folds), clock)
        if not forms:
            return
        usual = plan.learning_rate
        plan, most = _within_size(training_set, plan)
        run = self._run(training_set, forms, plan, most, clock)
        after = ONCE_MORE_SHARE if training_set.ordered else REPLAY_SHARE
        first = list(islice(run.steps, PILOT_ROUNDS))
        pace = _pace(first) * (1.0 + after)
        end = clock.spent + _share(training_set, plan, pace, clock) * clock.left_for_training
        hurried = _with_rate(plan, _rate(usual, (end - clock.spent) / pace if pace else math.inf))
        is_hurried = hurried is not plan
        if is_hurried:
            plan = hurried
            run, first = self._run(training_set, forms, plan, most, clock), []

        def out_of_time(step: TrainingStep) -> bool:
            return clock.left_for_training <= 0.0 or clock.spent + after * step.seconds > end

        steps, in_time = _until(chain(first, run.steps), out_of_time)
        if not steps and clock.left_for_training <= 0.0:
            return
        folds, watch = run.folds, run.watch
        more = auto_defaults.MEAN_ROUNDS if training_set.n_folds > 1 else 1.0
        count = max(1, min(round((watch.best + 1) * more), len(steps))) if steps else 0
        faster = f"learning rate {plan.learning_rate:.2g} to be done in time" if is_hurried else ""
        note = faster if in_time else f"{OUT_OF_TIME} after {counted(len(steps), 'round')}"
        curve = {"train": [], "valid": watch.losses}
        predicted = [watch.best_raw[held].reshape(len(held), -1) for held in folds.held]
        if training_set.ordered:
            model = _once_more(_forms(training_set, recipe, plan.loss, [ALL_ROWS], clock)[0], plan, watch.best + 1)
            seconds = (time.perf_counter() - began) / (training_set.n_folds + 1)
            yield from (TrainedFold(fold, one, None, seconds, curve, note) for fold, one in enumerate(predicted))
            yield TrainedFold(ALL_ROWS, None, model, seconds, curve, note)
            return
        for fold, model in enumerate(_models(forms, plan, [step.round for step in steps[:count]])):
            seconds = (time.perf_counter() - began) / training_set.n_folds
            yield TrainedFold(fold, predicted[fold], model, seconds, curve, note, plan.learning_rate)

    def _run(self, training_set: TrainingSet, forms: "Sequence[_Form]", plan: BoostPlan, most: int, clock: Clock) -> "_Run":
        """Rounds of all folds, so many at most, until the rows held out are no longer better."""
        folds = BoostingFolds.of([form.rows for form in forms], plan, training_set.fold, training_set.ordered)
        watch = _Watch(training_set, plan.loss, folds)

        def is_time() -> bool:
            # The first round is worth being late for: without it there is no member.
            return clock.left_for_training > 0.0 if watch.losses else clock.left > -LATE / 2.0

        rounds = rounds_in_step(folds.boosters, folds.held, most, plan.threads, is_time)
        patience = auto_defaults.split_patience(plan.tree, plan.subsample, plan.bootstrap)
        steps = scored(until_no_split(rounds, patience), watch, clock.now)
        share = None if training_set.n_classes or training_set.queries is not None else LEAST_SHARE_OF_THE_REST
        return _Run(folds, watch, until_no_better(steps, auto_defaults.patience(plan.learning_rate), LEAST_GAIN * watch.before, share))

    def finish(self, training_set: TrainingSet, recipe: Recipe, fits: Sequence[TrainedFold]) -> TrainedMember:
        """The mean of the models of all folds, each with its leaves fitted once more from all rows; or the one of all rows."""
        models = [fit.model for fit in sorted(fits, key=lambda fit: fit.fold) if fit.model is not None]
        if isinstance(models[0], EncodedMember):
            return TrainedMember(MeanMember(tuple(models)), gathered(training_set, fits))
        whole: Forest = models[0]
        for forest in models[1:]:
            whole = whole.join(forest)
        return TrainedMember(ForestMember(whole), gathered(training_set, fits))

    def train_without(self, training_set: TrainingSet, recipe: Recipe, like: TrainedFold, clock: Clock, until: float) -> Floats | None:
        """What one more model predicts for the rows of the only fold, after as many rounds as were best."""
        losses = like.curve.get("valid", ())
        if self.needs_all_rows(training_set) or like.learning_rate is None or not losses:
            return None
        plan = replace(_within_size(training_set, boost_plan(training_set, recipe))[0], learning_rate=like.learning_rate)
        form = _forms(training_set, recipe, plan.loss, [0], clock)[0]
        folds = BoostingFolds.of([form.rows], plan, training_set.fold)
        booster, held = folds.boosters[0], folds.held[0]
        for _ in booster.rounds(int(np.argmin(losses)) + 1):
            if clock.spent >= until:
                return None
        return booster.raw[held].reshape(len(held), -1)


@dataclass(frozen=True, eq=False)
class _Form:
    """What boosters read: the table in bins, with numbers for the categories of some features."""

    rows: TrainingRows
    cuts: Cuts
    encodings: tuple[Encoding, ...] = ()

    def forest(self, trees: Sequence[ValuedTree], start: Floats) -> Forest:
        """A forest over the features as they are here."""
        return assemble(trees, self.cuts, start, trees[0].value.shape[1] if trees else 1)


def _forms(training_set: TrainingSet, recipe: Recipe, loss: Loss, folds: Sequence[int], clock: Clock) -> list[_Form]:
    """One for each of these folds; they differ where categories are numbers, which each fold learns from its own rows. None where the first
    says that there is no time for all.
    """
    y, least = loss.as_target(training_set.y), recipe.settings.get("encode_from")
    if least is None:
        return [_Form(TrainingRows(training_set.codes, y, training_set.weight, None), training_set.cuts)] * len(folds)
    positions = encodable(training_set.schema, least)
    forms: list[_Form] = []
    began = clock.spent
    for fold in folds:
        if forms and (clock.spent - began) / len(forms) * (len(folds) - len(forms)) > MOST_OF_THE_REST * clock.left_for_training:
            return []
        train_rows = np.arange(training_set.n_rows) if fold == ALL_ROWS else training_set.train_rows(fold)
        seed = key(training_set.seed, "levels", recipe.name, recipe.seed, fold)
        encodings, table = learn_encodings(training_set.schema, training_set.table, positions, y, training_set.weight, train_rows, seed)
        alone = Cuts.fit(table.only(positions), weight=training_set.weight, threads=training_set.threads)
        edges = list(training_set.cuts.edges)
        for position, edge in zip(positions.tolist(), alone.edges, strict=True):
            edges[position] = edge
        cuts = Cuts.of(edges, table.columns)
        forms.append(_Form(TrainingRows(cuts.encode(table, training_set.threads), y, training_set.weight, None), cuts, encodings))
    return forms


class _Watch:
    """Scores the rows held out after every round, and keeps what was predicted for them in the best one.

    The count of rounds of the model is the one that is best for all rows held out. What is predicted for a fold, and scored later, is of
    the round that is best for the rows of all other folds: on small tables even one number that a fold has helped to find would flatter it.
    """

    def __init__(self, training_set: TrainingSet, loss: Loss, folds: BoostingFolds) -> None:
        y, weight = loss.as_target(training_set.y), training_set.weight
        self.threads, self.held = training_set.threads, folds.held
        self.of_fold = [_of_rows(loss, training_set, held) for held in folds.held]
        self.truths = [(y[held], None if weight is None else weight[held]) for held in folds.held]
        self.losses: list[float] = []
        self.best = 0  # the number of the best round
        self.best_raw = folds.boosters[0].raw.copy()
        for held, booster in zip(folds.held, folds.boosters, strict=True):
            self.best_raw[held] = booster.raw[held]
        totals, weights = self._totals(self.best_raw)
        self.weights = float(weights.sum())
        self.before = float(totals.sum()) / self.weights  # of the first round
        self.least = self._others(totals)  # for each fold, the loss of the others in the round that was best for them

    def _totals(self, raw: Floats) -> tuple[Floats, Floats]:
        """Losses and weights of the rows of each fold."""
        parts = zip(self.of_fold, self.held, self.truths, strict=True)
        found = [loss.total(y, raw[held], weight, self.threads) for loss, held, (y, weight) in parts]
        return np.array([loss for loss, _ in found]), np.array([weight for _, weight in found])

    def _others(self, totals: Floats) -> Floats:
        """For each fold the loss of the rows of all others; a fold that is alone has none but its own."""
        return totals.sum() - totals if len(totals) > 1 else totals

    def __call__(self, finished: BoostingRound) -> tuple[float | None, float | None]:
        """The loss of the rows held out."""
        totals, _ = self._totals(finished.raw)
        loss = float(totals.sum()) / self.weights
        if not self.losses or loss < self.losses[self.best]:
            self.best = len(self.losses)
        self.losses.append(loss)
        others = self._others(totals)
        for fold in np.flatnonzero(others < self.least):
            self.best_raw[self.held[fold]] = finished.raw[self.held[fold]]
        self.least = np.minimum(self.least, others)
        return None, loss


def _of_rows(loss: Loss, training_set: TrainingSet, rows: NDArray[np.int64]) -> Loss:
    """The loss of some of the rows: that of a ranking is bound to their queries."""
    if not isinstance(loss, BoundRankingLoss) or training_set.queries is None:
        return loss
    return loss.loss.bound(QueryRows.of(training_set.queries[rows]), training_set.y[rows])


class _Run(NamedTuple):
    """A training of all folds that has begun."""

    folds: BoostingFolds
    watch: _Watch
    steps: Iterator[TrainingStep]


def _pace(first: Sequence[TrainingStep]) -> float:
    """Seconds of a round, without the first one, in which memory is made; 0 where a training has ended before."""
    return (first[-1].seconds - first[0].seconds) / (PILOT_ROUNDS - 1) if len(first) == PILOT_ROUNDS else 0.0


def _share(training_set: TrainingSet, plan: BoostPlan, pace: float, clock: Clock) -> float:
    """What a member may take of the time that is left: all of it, where a table is large and half of it would not do."""
    enough = pace * ROUNDS_TIMES_RATE / plan.learning_rate
    return 1.0 if training_set.n_folds == 1 and enough > MOST_OF_THE_REST * clock.left_for_training else MOST_OF_THE_REST


def _rate(usual: float, rounds: float) -> float:
    """The learning rate for so many rounds: the usual one, or a larger one where they are too few for it."""
    return min(max(ROUNDS_TIMES_RATE / max(rounds, 1e-9), usual), MOST_TIMES_RATE * usual)


def _with_rate(plan: BoostPlan, rate: float) -> BoostPlan:
    """The plan with this learning rate; the same one where it is hardly larger."""
    return replace(plan, learning_rate=round(rate, 4)) if rate > CLEARLY_LARGER * plan.learning_rate else plan


def _within_size(training_set: TrainingSet, plan: BoostPlan) -> tuple[BoostPlan, int]:
    """The plan, and how many rounds it may have: where a member may store few leaves, learning rates are larger, then trees smaller."""
    models = 1 if training_set.ordered else training_set.n_folds
    each = models * (plan.loss.width if plan.one_per_class else 1)  # trees of a round
    all_leaves = most_leaves(training_set.member_bytes, BOOSTED_LEAF, 1 if plan.one_per_class else plan.loss.width)
    rounds = all_leaves / each / plan.tree.max_leaves
    rate = _rate(plan.learning_rate, rounds)
    plan = _with_rate(plan, rate)
    if plan.tree.growth == "best_first" and rounds * rate < ROUNDS_TIMES_RATE:
        leaves = max(LEAST_LEAVES, int(plan.tree.max_leaves * rounds * rate / ROUNDS_TIMES_RATE))
        plan, rounds = replace(plan, tree=replace(plan.tree, max_leaves=leaves)), all_leaves / each / leaves
    return plan, int(min(MOST_ROUNDS, max(rounds, 1.0)))


def _until(steps: Iterator[TrainingStep], told: Callable[[TrainingStep], bool]) -> tuple[list[TrainingStep], bool]:
    """Steps until one for which this is true; and whether they have ended by themselves."""
    found: list[TrainingStep] = []
    for step in steps:
        found.append(step)
        if told(step):
            return found, False
    return found, True


def _models(forms: Sequence[_Form], plan: BoostPlan, rounds: list[BoostingRound]) -> Iterator[Forest | EncodedMember]:
    """The model of each fold, with leaves learned from all rows: a forest is its part of their mean, what reads other numbers is whole."""
    members = len(forms)
    for fold, form in enumerate(forms):
        trees: list[ValuedTree] = []
        for finished in rounds:
            size = len(finished.trees) // members
            trees += finished.trees[fold * size : (fold + 1) * size]
        start = form.rows.start(plan.loss, None)
        again = tuple(_booster(form, plan, start).replay(trees))
        if form.encodings:
            yield EncodedMember(form.forest(again, start), form.encodings)
        else:
            yield form.forest(trees_of_mean(again, members), start / members)


def _once_more(form: _Form, plan: BoostPlan, count: int) -> Forest | EncodedMember:
    """So many rounds on all rows."""
    start = form.rows.start(plan.loss, None)
    forest = form.forest([tree for finished in _booster(form, plan, start).rounds(count) for tree in finished.trees], start)
    return EncodedMember(forest, form.encodings) if form.encodings else forest


def _booster(form: _Form, plan: BoostPlan, start: Floats) -> Booster:
    """One that learns all rows."""
    return form.rows.booster(plan, form.rows.raw(start))


def boost_plan(training_set: TrainingSet, recipe: Recipe) -> BoostPlan:
    """Settings of a recipe, and the rules for what it leaves open."""
    given = {name: value for name, value in recipe.settings.items() if name != "encode_from"}
    name = given.pop("loss", "squared_error")
    ranks = name in RANKING
    is_class = training_set.n_classes > 0 or ranks
    n, n_features = training_set.n_rows, training_set.codes.n_features
    loss = _ranking_loss(name, training_set) if ranks else _loss(name, training_set.n_classes)
    growth = given.pop("growth", "best_first")
    depth = given.pop("max_depth", None)
    rate, share = given.pop("rate", 1.0), given.pop("subsample", None)
    per_tree, per_node = (given.pop(name, None) for name in ("features_per_tree", "features_per_node"))
    if n_features > VERY_WIDE or (per_tree is None and per_node is None):
        per_tree, per_node = auto_defaults.feature_share(n_features), None
    tree = TreeSettings(
        growth=growth,
        max_leaves=_leaves(given.pop("max_leaves", None) or _usual_leaves(ranks, is_class, n, growth, depth), n, growth),
        max_depth=depth,
        min_rows=float(given.pop("min_rows", None) or auto_defaults.min_rows(is_class, n)),
        category_l2=auto_defaults.category_l2(n),
        category_smooth=auto_defaults.category_smooth(n),
        features_per_tree=_count(per_tree, n_features),
        features_per_node=_count(per_node, n_features),
    )
    return BoostPlan(
        loss=loss,
        tree=replace(tree, **given),
        learning_rate=rate * auto_defaults.learning_rate(n, loss.width),  # of several kinds of trees some want smaller steps than the rule
        subsample=auto_defaults.subsample(n) if share is None else share,
        one_per_class=growth == "symmetric",
        seed=key(training_set.seed, "member", recipe.name, recipe.seed),
        threads=training_set.threads,
    )


def _loss(name: str, n_classes: int) -> Loss:
    """The loss of classes, or of numbers."""
    return classification_loss("log_loss", n_classes) if n_classes else regression_loss(name)


def _ranking_loss(name: str, training_set: TrainingSet) -> Loss:
    """A loss of rankings, bound to the queries of all rows."""
    assert training_set.queries is not None
    return RANKING[name]().bound(QueryRows.of(training_set.queries), training_set.y)


def _usual_leaves(ranks: bool, is_class: bool, n_rows: int, growth: str, depth: int | None) -> int:
    """Leaves of a tree where a recipe does not say."""
    if ranks and growth == "best_first":
        return auto_defaults.max_leaves_of_rankings(n_rows)
    return auto_defaults.max_leaves(is_class, n_rows, growth, depth)


def _leaves(usual: int, n_rows: int, growth: str) -> int:
    """Leaves of a tree: of large tables more than usual, in the same proportion for all recipes."""
    if growth != "best_first":
        return usual
    many = n_rows / ROWS_PER_LEAF / auto_defaults.REGRESSION_LEAVES
    return max(usual, min(round(usual * many), MOST_LEAVES))


def _count(share: float | None, n_features: int) -> int | None:
    """Features that are drawn; None for all."""
    count = n_features if share is None else max(1, round(share * n_features))
    return count if count < n_features else None
