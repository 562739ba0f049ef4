"""Spread by rows held out: in two stages, both in folds, locations first and then the spread around them; or a shift of a spread.

The residuals that the spread is learned from are those of rows that their model has not seen, so that they are as large as those that the
model will meet. Each stage stops where its own score is best: a location is worth many more rounds than a spread.
Larger tables hold a share of their rows out, once: there all scores are learned together, and then the spread of all rows is shifted.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.distributions.natural import diagonal
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.early_stopping import Evaluator
from woodwind.ensemble.boosting.training import StoppingRule, TrainedBoosting, WatchedRows, train
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.losses.base import Loss
from woodwind.losses.distribution_score import DistributionScore
from woodwind.losses.distribution_stages import LocationScore, ScoreStage, SpreadScore
from woodwind.losses.regression import Squared
from woodwind.tree.grown_tree import ValuedTree
from woodwind.tree.settings import TreeSettings

Floats = NDArray[np.float64]

# A squared residual says far less about a spread than a target says about a location: trees of few and large leaves, which are shrunk more.
# On tables of 300 to 1,000 rows, rows held out were scored alike by 2 to 13 leaves of 5 to 30 rows; but one row far off, which a small leaf
# had not met, cost that leaf hundreds.
LEAVES_DIVIDED, LEAST_LEAVES, LEAF_ROWS, L2_FACTOR = 4, 4, 30, 10.0
# The mean of the models of all folds, with leaves from all rows, is closer to new targets than the one model that a row held out was
# predicted by: its root mean squared error was less by 2 to 15 % on five tables and by half on a sixth. Scales are less by so much.
NARROWER = 0.03
# Steps of Fisher scoring to the spread that suits rows held out, and a step that is none.
SHIFT_STEPS, SHORTEST_SHIFT = 50, 1e-6


class BestScores:
    """The scores of rows held out in the round in which they were best."""

    def __init__(self) -> None:
        self.positions: NDArray[np.int64] = np.zeros(0, np.int64)
        self.raw: Floats = np.zeros(0)
        self._loss = np.inf

    def watching(self, evaluate: Evaluator, positions: NDArray[np.int64]) -> Evaluator:
        """The same evaluator; what is best is written down."""
        self.positions, self._loss = positions, np.inf

        def evaluated(raw: Floats) -> float:
            loss = evaluate(raw)
            if loss < self._loss or not self.raw.size:
                self._loss, self.raw = loss, raw.copy()
            return loss

        return evaluated


def watched_stage(watched: WatchedRows, stage: ScoreStage, y: NDArray[Any], best: BestScores) -> WatchedRows:
    """Rows of a stage are scored as all scores of a row together are, which is what the caller's evaluators know."""

    def evaluate_inside(positions: NDArray[np.int64], _: Loss, is_held: bool) -> Evaluator:
        evaluate = watched.evaluate_inside(positions, stage.score, is_held)

        def of_stage(raw: Floats) -> float:
            return evaluate(stage.full(y[positions], raw)[1])

        return best.watching(of_stage, positions) if is_held else of_stage

    return replace(watched, evaluate_inside=evaluate_inside, outside=())


def spread_trees(tree: TreeSettings, leaves_are_auto: bool, rows_are_auto: bool, n_rows: int) -> TreeSettings:
    """Settings of the trees of the second stage, by those of the first: where nothing else was asked for, they are much smaller."""
    leaves = max(tree.max_leaves // LEAVES_DIVIDED, LEAST_LEAVES) if leaves_are_auto else tree.max_leaves
    rows = float(max(1, min(LEAF_ROWS, n_rows // 10))) if rows_are_auto else tree.min_rows
    return replace(tree, max_leaves=min(leaves, tree.max_leaves), min_rows=rows, l2=tree.l2 * L2_FACTOR)


def train_in_stages(
    rows: TrainingRows, plan: BoostPlan, trees: TreeSettings, stop: StoppingRule, watched: WatchedRows, owner: str
) -> TrainedBoosting:
    """Boost locations, then spreads with `trees`; rounds of the first stage come first, and then those of the second."""
    score = plan.loss
    assert isinstance(score, DistributionScore)
    best = BestScores()
    located = train(
        *_first_stage(rows, plan),
        stop,
        watched_stage(watched, LocationScore.initial(score, rows.y, rows.weight), rows.y, best),
        None,
        owner,
    )
    location = np.full(len(rows.y), np.nan)
    location[best.positions] = best.raw
    target = np.column_stack([rows.y, np.where(np.isfinite(location), location, located.start[0])])
    second = replace(rows, y=target)
    around = SpreadScore(score)
    spread = train(second, replace(plan, loss=around, tree=trees), stop, watched_stage(watched, around, target, BestScores()), None, owner)
    start = np.concatenate([located.start, spread.start])
    if score.distribution.has_scale and stop.average is not None and stop.refit:
        start[1] -= NARROWER
    rounds = tuple(tuple(_placed(tree, score.width, 0) for tree in trees) for trees in located.rounds)
    rounds += tuple(tuple(_placed(tree, score.width, 1) for tree in trees) for trees in spread.rounds)
    return TrainedBoosting(
        rounds,
        start,
        tuple(tree for trees in rounds for tree in trees),
        start,
        located.train + spread.train[1:],
        located.valid + spread.valid[1:],
    )


def train_calibrated(rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows, owner: str) -> TrainedBoosting:
    """Boost all scores together; then the spread of all rows is changed by what is best for the rows that were held out."""
    score, best = plan.loss, BestScores()
    assert isinstance(score, DistributionScore)

    def evaluate_inside(positions: NDArray[np.int64], loss: Loss, is_held: bool) -> Evaluator:
        evaluate = watched.evaluate_inside(positions, loss, is_held)
        return best.watching(evaluate, positions) if is_held else evaluate

    trained = train(rows, plan, stop, replace(watched, evaluate_inside=evaluate_inside), None, owner)
    weight = None if rows.weight is None else rows.weight[best.positions]
    return replace(trained, start=trained.start + spread_shift(score, rows.y[best.positions], best.raw, weight))


def spread_shift(score: DistributionScore, y: Floats, raw: Floats, weight: Floats | None) -> Floats:
    """What is best added to all scores but the first of these rows, (K,), by Fisher scoring."""
    shift: Floats = np.zeros(score.width)
    for _ in range(SHIFT_STEPS):
        now = raw + shift
        gradient = np.average(score.gradient(y, now), axis=0, weights=weight)
        metric = np.average(diagonal(score.metric(now)), axis=0, weights=weight)
        step = np.clip(gradient / metric, -1.0, 1.0)
        step[0] = 0.0
        while score.value(y, now - step, weight) > score.value(y, now, weight) and np.abs(step).max() > SHORTEST_SHIFT:
            step = 0.5 * step
        if np.abs(step).max() <= SHORTEST_SHIFT:
            break
        shift -= step
    return shift


def _first_stage(rows: TrainingRows, plan: BoostPlan) -> tuple[TrainingRows, BoostPlan]:
    """Rows and plan of the first stage. Where natural gradients are distances, that is boosting by squared errors, which has kernels."""
    score = plan.loss
    assert isinstance(score, DistributionScore)
    if not score.distribution.squared_location or score.rule != "log_score":
        return rows, replace(plan, loss=LocationScore(score))
    return replace(rows, y=score.distribution.location_target(rows.y)), replace(plan, loss=Squared())


def _placed(tree: ValuedTree, width: int, first: int) -> ValuedTree:
    """A tree of a stage, whose scores begin at column `first`, as one of all scores: for one of two, or with zeros for the others."""
    if width == 2:
        return replace(tree, output=first)
    value = np.zeros((len(tree.feature), width))
    columns = slice(first, first + tree.value.shape[1]) if tree.output < 0 else [first + tree.output]
    value[:, columns] = tree.value
    return replace(tree, value=value, output=-1)
