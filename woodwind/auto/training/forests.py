"""Members that are forests: trees of all folds are grown in turn, and as many on all rows, which make the member."""

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import Clock
from woodwind.auto.members.link import ScoreCalibration, calibrate
from woodwind.auto.members.tree_members import CompactForestMember, calibrated_scores
from woodwind.auto.size import COMPACT_LEAF, most_leaves
from woodwind.auto.training.affordable import is_time_to_compile
from woodwind.auto.training.recipe import ALL_ROWS, OUT_OF_TIME, Recipe, TrainedFold, TrainedMember, gathered
from woodwind.auto.training.training_set import TrainingSet
from woodwind.base.random_streams import key
from woodwind.ensemble.bag import in_order
from woodwind.ensemble.forest import ForestGrowth, classification_rows, matrix_of, regression_rows
from woodwind.ensemble.resampling import Resampling
from woodwind.kernels.forest.loop import grow_forest_tree
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.compact_forest_grower import CompactForestRows, CompactForestSettings, CompactTree

Floats = NDArray[np.float64]

MOST_TREES = 200
LEAST_TREES = 10
# Of a large table trees are smaller and fewer: of 262,000 flights, leaves of five rows take 0.4 of the room of leaves of two, and 0.4 of
# the time, and RMSE grows by 0.3 % (extra-trees) or not at all (random forest). A forest of 200 trees would have 300 MB.
ROWS_OF_LARGE, TREES_OF_LARGE = 5, 100
# Leaves of a tree for each row drawn, times the smallest number of rows; and trees that a forest should have, where there is little room.
LEAVES_PER_ROW, TREES_OF_SMALL = 1.2, 50
# Seconds for a value of the table before the first tree: all columns are put in order.
PER_VALUE = 5e-7
# Rows that a tree is grown from at most: of more rows, more trees say more than larger ones in the same time.
MOST_DRAWN = 100_000
# What a forest may take of the time that is left when it begins.
MOST_OF_THE_REST = 0.35
# Rows that a calibration is trained on: it has two numbers, or one more than classes.
ROWS_TO_CALIBRATE = 20_000


class ForestFamily:
    """The family of random forests and extra-trees."""

    gives_scores = False
    can_hurry = False

    def needs_all_rows(self, _training_set: TrainingSet) -> bool:
        """Always: it is the member."""
        return True

    def fits(self, training_set: TrainingSet, recipe: Recipe, clock: Clock, have: Sequence[TrainedFold]) -> Iterator[TrainedFold]:
        """All folds and all rows together, a tree of each in turn."""
        ordering = PER_VALUE * training_set.n_rows * len(training_set.table.columns)
        if not is_time_to_compile(grow_forest_tree, clock) or clock.left_for_training < ordering:
            return
        began = time.perf_counter()
        end = clock.spent + MOST_OF_THE_REST * clock.left_for_training
        sides = [ALL_ROWS, *range(training_set.n_folds)]
        _ = training_set.forest_codes  # made once, before others ask for it
        if clock.spent > end:
            return
        rows = _rows(training_set)
        growing = {fold: _growing(training_set, recipe, rows, fold) for fold in sides}
        wanted = _n_trees(training_set, recipe)
        order = [(tree, fold) for tree in range(wanted) for fold in sides]
        trees: dict[int, list[CompactTree]] = {fold: [] for fold in sides}
        note, first = "", clock.spent
        grown = in_order(lambda position: growing[order[position][1]].tree(order[position][0]), range(len(order)), training_set.threads)
        for (number, fold), tree in zip(order, grown, strict=False):
            trees[fold].append(tree)
            whole = number + (fold == sides[-1])  # trees of every fold
            # The first two trees of every fold tell whether there is time for as many as it takes.
            hopeless = (number, fold) == (1, sides[-1]) and LEAST_TREES / 2 * (clock.spent - first) > clock.left_for_training
            if whole < wanted and (hopeless or clock.left_for_training <= 0.0 or (clock.spent > end and fold == sides[-1])):
                note = f"{OUT_OF_TIME} after {whole:,} trees"
                grown.close()
                break
        if note:
            trees = {fold: grown_so_far[:whole] for fold, grown_so_far in trees.items()}
            if whole < LEAST_TREES:
                return
        x = matrix_of(training_set.table)
        for fold in sides:
            compact_forest = CompactForest.of(trees.pop(fold), training_set.forest_codes.n_categories, rows.n_classes)
            seconds = (time.perf_counter() - began) / len(sides)
            if fold == ALL_ROWS:
                yield TrainedFold(fold, None, compact_forest, seconds, note=note)
            else:
                yield TrainedFold(fold, compact_forest.mean(x[training_set.held(fold)], training_set.threads), None, seconds, note=note)

    def finish(self, training_set: TrainingSet, recipe: Recipe, fits: Sequence[TrainedFold]) -> TrainedMember:
        """The forest of all rows; what is out of fold is calibrated by the other folds."""
        compact_forest: CompactForest = next(fit.model for fit in fits if fit.fold == ALL_ROWS)
        mean = gathered(training_set, fits)
        if training_set.n_classes == 0:
            return TrainedMember(CompactForestMember(compact_forest, 1.0, np.zeros(1)), mean)
        probabilities = mean[:, 1:] if training_set.n_classes == 2 else mean
        scores = np.full_like(probabilities, np.nan)
        several = training_set.n_folds > 1
        for fold in range(training_set.n_folds):
            # With one fold only there are no others: two numbers learned from it flatter nobody.
            others = np.flatnonzero(training_set.scored & (training_set.fold != fold)) if several else training_set.held(fold)
            held = training_set.held(fold)
            scores[held] = calibrated_scores(probabilities[held], *_calibrated(training_set, probabilities, others))
        slope, shift = _calibrated(training_set, probabilities, np.flatnonzero(training_set.scored))
        return TrainedMember(CompactForestMember(compact_forest, slope, shift), scores)

    def train_without(self, training_set: TrainingSet, recipe: Recipe, like: TrainedFold, clock: Clock, until: float) -> None:
        """The member is no mean of folds."""


def _calibrated(training_set: TrainingSet, probabilities: Floats, rows: NDArray[np.int64]) -> ScoreCalibration:
    """Slope and shift from some rows out of fold, or from an even part of them."""
    rows = rows[:: -(-len(rows) // ROWS_TO_CALIBRATE)]
    return calibrate(probabilities[rows], training_set.y[rows], None if training_set.weight is None else training_set.weight[rows])


def _rows(training_set: TrainingSet) -> CompactForestRows:
    """The target as trees learn it."""
    if training_set.n_classes:
        return classification_rows(training_set.y, training_set.n_classes, training_set.weight)
    return regression_rows(np.asarray(training_set.y, np.float64), training_set.weight)


def _leaves_of_all(training_set: TrainingSet) -> float:
    """Leaves that all trees of a forest may have together."""
    return most_leaves(training_set.member_bytes, COMPACT_LEAF, max(training_set.n_classes, 1))


def _min_rows(training_set: TrainingSet, recipe: Recipe, n_draws: int) -> int:
    """Fewest rows of a leaf."""
    usual = int(recipe.settings.get("min_rows", 1))
    if training_set.n_folds == 1:
        usual = max(usual, ROWS_OF_LARGE)
    return max(usual, math.ceil(LEAVES_PER_ROW * n_draws * TREES_OF_SMALL / max(_leaves_of_all(training_set), 1.0)))


def _n_trees(training_set: TrainingSet, recipe: Recipe) -> int:
    """How many trees are grown, where there is time for them."""
    usual = int(recipe.settings.get("n_trees", MOST_TREES if training_set.n_folds > 1 else TREES_OF_LARGE))
    n_draws = min(training_set.n_rows, MOST_DRAWN)
    leaves = LEAVES_PER_ROW * n_draws / _min_rows(training_set, recipe, n_draws)
    return max(min(usual, TREES_OF_SMALL), int(min(usual, _leaves_of_all(training_set) / leaves)))


def _growing(training_set: TrainingSet, recipe: Recipe, rows: CompactForestRows, fold: int) -> ForestGrowth:
    """How the trees of a fold are grown: rows that it does not learn are never drawn."""
    given = recipe.settings
    train_rows = np.zeros(training_set.n_rows, np.int64)
    train_rows[training_set.train_rows(fold) if fold != ALL_ROWS else slice(None)] = 1
    random_cuts = bool(given.get("random_cuts", False))
    name = key(training_set.seed, "member", recipe.name, recipe.seed, fold)
    n_draws = min(int(train_rows.sum()), MOST_DRAWN)
    resampling = Resampling(name, training_set.n_rows, n_draws, bool(given.get("bootstrap", not random_cuts)), units=train_rows)
    n_features = training_set.forest_codes.n_features
    share = given.get("max_features", "sqrt")
    count = np.sqrt(n_features) if share == "sqrt" else share * n_features
    min_rows = _min_rows(training_set, recipe, n_draws)
    settings = CompactForestSettings(
        criterion=given.get("criterion", "gini" if training_set.n_classes else "squared_error"),
        random_cuts=random_cuts,
        exact=False,
        max_depth=None,
        max_leaves=given.get("max_leaves"),
        min_split=2,
        min_rows=min_rows,
        min_weight_share=0.0,
        min_decrease=0.0,
        n_candidates=min(max(1, round(float(count))), n_features),
    )
    return ForestGrowth(training_set.forest_codes, rows, settings, resampling)
