"""Boosted members: the folds are boosted in step, and all of them end where the rows held out are best.

One number, the count of rounds, is found by looking at the rows held out, all of them together: too little to flatter a score. Since folds
advance together, a member whose time is up is whole all the same, only with fewer rounds.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import Clock
from woodwind.auto.compiling import is_time_to_compile
from woodwind.auto.lesson import Lesson
from woodwind.auto.members import ForestMember
from woodwind.auto.recipe import ALL_ROWS, Fit, Recipe, Taught, gathered
from woodwind.base.streams import key
from woodwind.ensemble import rules
from woodwind.ensemble.boost import Booster, BoostPlan, Round
from woodwind.ensemble.folds import rounds_in_step, shares_of_mean
from woodwind.ensemble.stopping import Step, scored, until_no_better, until_no_split
from woodwind.ensemble.training import Folds, Rows
from woodwind.losses.base import Loss
from woodwind.losses.named import classification_loss, regression_loss
from woodwind.tree.assemble import ValuedTree, assemble
from woodwind.tree.forest import Forest
from woodwind.tree.settings import TreeSettings

Floats = NDArray[np.float64]

MOST_ROUNDS = 2000
# Rounds that together bring less than this share of the loss in the beginning, within the patience, are not worth their trees: rows that
# are easily told apart would be boosted for ever.
LEAST_GAIN = 2e-4
# What comes after the folds, as a share of the time that they took: learning leaves once more, or a training on all rows.
REPLAY_SHARE, ONCE_MORE_SHARE = 0.4, 1.0
# What a member may take of the time that is left when it begins: others should have a chance. Of a large table, which is not divided into
# folds, one member that is finished is worth more than several that are not.
MOST_OF_THE_REST, OF_A_LARGE_TABLE = 0.5, 0.85


class Boosting:
    """The family of boosted trees."""

    says_scores = True

    def needs_all_rows(self, lesson: Lesson) -> bool:
        """In time order no fold has learnt the latest rows, which are most like those to come."""
        return lesson.ordered

    def fits(self, lesson: Lesson, recipe: Recipe, clock: Clock, have: Sequence[Fit]) -> Iterator[Fit]:
        """All folds together."""
        # Symmetric trees are a variant of the kernel that grows all trees of one score.
        if recipe.settings.get("growth") == "symmetric" and not is_time_to_compile("take_part", clock, variants=2):
            return
        began = time.perf_counter()
        plan = boost_plan(lesson, recipe)
        rows = Rows(lesson.codes, for_loss(lesson), lesson.weight, None)
        folds = Folds.of(rows, plan, lesson.fold, lesson.ordered)
        watch = _Watch(lesson, plan.loss, folds)
        share = MOST_OF_THE_REST if lesson.n_folds > 1 else OF_A_LARGE_TABLE
        end = clock.spent + share * clock.left_for_training

        after = ONCE_MORE_SHARE if lesson.ordered else REPLAY_SHARE

        def out_of_time(step: Step) -> bool:
            return clock.spent + after * step.seconds > end

        steps, in_time = _until(self._steps(folds, plan, watch), out_of_time)
        count = max(1, min(round((watch.best + 1) * rules.MEAN_ROUNDS), len(steps))) if steps else 0
        note = "" if in_time else f"out of time after {len(steps):,} rounds"
        curve = {"train": [], "valid": watch.losses}
        said = [watch.best_raw[held].reshape(len(held), -1) for held in folds.held]
        if lesson.ordered:
            forest = _once_more(lesson, rows, plan, watch.best + 1)
            seconds = (time.perf_counter() - began) / (lesson.n_folds + 1)
            yield from (Fit(fold, one, None, seconds, curve, note) for fold, one in enumerate(said))
            yield Fit(ALL_ROWS, None, forest, seconds, curve, note)
            return
        for fold, forest in enumerate(_forests(lesson, rows, plan, folds, [step.round for step in steps[:count]])):
            yield Fit(fold, said[fold], forest, (time.perf_counter() - began) / lesson.n_folds, curve, note)

    def _steps(self, folds: Folds, plan: BoostPlan, watch: "_Watch") -> Iterator[Step]:
        """Rounds of all folds until the rows held out are no longer better."""
        rounds = rounds_in_step(folds.boosters, folds.held, MOST_ROUNDS, plan.threads)
        patience = rules.split_patience(plan.tree, plan.subsample)
        steps = scored(until_no_split(rounds, patience), watch)
        return until_no_better(steps, rules.patience(plan.learning_rate), LEAST_GAIN * watch.before)

    def finish(self, lesson: Lesson, recipe: Recipe, fits: Sequence[Fit]) -> Taught:
        """The mean of the models of all folds, each with its leaves learnt once more from all rows; or the one of all rows."""
        forests: list[Forest] = [fit.model for fit in sorted(fits, key=lambda fit: fit.fold) if fit.model is not None]
        whole = forests[0]
        for forest in forests[1:]:
            whole = whole.join(forest)
        return Taught(ForestMember(whole), gathered(lesson, fits))


class _Watch:
    """Judges the rows held out after every round, and keeps the scores of the best one."""

    def __init__(self, lesson: Lesson, loss: Loss, folds: Folds) -> None:
        judged = lesson.judged
        self.rows = slice(None) if judged.all() else np.flatnonzero(judged)
        self.y = for_loss(lesson)[self.rows]
        self.weight = None if lesson.weight is None else lesson.weight[self.rows]
        self.loss, self.threads = loss, lesson.threads
        self.losses: list[float] = []
        self.best = 0  # the number of the best round
        self.best_raw = folds.boosters[0].raw.copy()
        for held, booster in zip(folds.held, folds.boosters, strict=True):
            self.best_raw[held] = booster.raw[held]
        self.before = self._loss(self.best_raw)  # of the first round

    def _loss(self, raw: Floats) -> float:
        return self.loss.value(self.y, raw[self.rows], self.weight, self.threads)

    def __call__(self, finished: Round) -> tuple[float | None, float | None]:
        """The loss of the rows held out."""
        loss = self._loss(finished.raw)
        if not self.losses or loss < self.losses[self.best]:
            self.best = len(self.losses)
            np.copyto(self.best_raw, finished.raw)
        self.losses.append(loss)
        return None, loss


def _until(steps: Iterator[Step], told: Callable[[Step], bool]) -> tuple[list[Step], bool]:
    """Steps until one for which this is true; and whether they have ended by themselves."""
    found: list[Step] = []
    for step in steps:
        found.append(step)
        if told(step):
            return found, False
    return found, True


def _forests(lesson: Lesson, rows: Rows, plan: BoostPlan, folds: Folds, rounds: list[Round]) -> Iterator[Forest]:
    """The model of each fold as its part of their mean, with leaves learnt from all rows."""
    members = len(folds.boosters)
    start = rows.start(plan.loss, None)
    for fold in range(members):
        trees: list[ValuedTree] = []
        for finished in rounds:
            size = len(finished.trees) // members
            trees += finished.trees[fold * size : (fold + 1) * size]
        booster = Booster(rows.codes, rows.y, plan, rows.raw(start), rows.weight, None)
        again = shares_of_mean(booster.replay(trees), members)
        width = 1 if not again else again[0].value.shape[1]
        yield assemble(again, lesson.cuts, start / members, width)


def _once_more(lesson: Lesson, rows: Rows, plan: BoostPlan, count: int) -> Forest:
    """So many rounds on all rows."""
    start = rows.start(plan.loss, None)
    booster = Booster(rows.codes, rows.y, plan, rows.raw(start), rows.weight, None)
    trees = [tree for finished in booster.rounds(count) for tree in finished.trees]
    width = 1 if not trees else trees[0].value.shape[1]
    return assemble(trees, lesson.cuts, start, width)


def for_loss(lesson: Lesson) -> NDArray[Any]:
    """The target as losses take it."""
    return lesson.y if lesson.n_classes > 2 else np.asarray(lesson.y, np.float64)


def boost_plan(lesson: Lesson, recipe: Recipe) -> BoostPlan:
    """Settings of a recipe, and the rules for what it leaves open."""
    given = dict(recipe.settings)
    is_class = lesson.n_classes > 0
    n, n_features = lesson.n_rows, lesson.codes.n_features
    loss = classification_loss("log_loss", lesson.n_classes) if is_class else regression_loss(given.pop("loss", "squared_error"))
    growth = given.pop("growth", "best_first")
    depth = given.pop("max_depth", None)
    rate, share = given.pop("rate", 1.0), given.pop("subsample", None)
    per_tree, per_node = (given.pop(name, None) for name in ("features_per_tree", "features_per_node"))
    if per_tree is None and per_node is None:
        per_tree = rules.feature_share(n_features)
    tree = TreeSettings(
        growth=growth,
        max_leaves=given.pop("max_leaves", None) or rules.max_leaves(is_class, n, growth, depth),
        max_depth=depth,
        min_rows=float(given.pop("min_rows", None) or rules.min_rows(is_class, n)),
        category_l2=rules.category_l2(n),
        category_smooth=rules.category_smooth(n),
        features_per_tree=_count(per_tree, n_features),
        features_per_node=_count(per_node, n_features),
    )
    return BoostPlan(
        loss=loss,
        tree=replace(tree, **given),
        learning_rate=rate * rules.learning_rate(n, loss.width),  # of several kinds of trees some want smaller steps than the rule
        subsample=rules.subsample(n) if share is None else share,
        one_per_class=growth == "symmetric",
        seed=key(lesson.seed, "member", recipe.name, recipe.seed),
        threads=lesson.threads,
    )


def _count(share: float | None, n_features: int) -> int | None:
    """Features that are drawn; None for all."""
    count = n_features if share is None else max(1, round(share * n_features))
    return count if count < n_features else None
