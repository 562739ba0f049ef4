"""Members that are forests: trees of all folds are grown in turn, and as many on all rows, which make the member."""

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.calibration import Calibration, calibrate
from woodwind.auto.clock import Clock
from woodwind.auto.compiling import is_time_to_compile
from woodwind.auto.lesson import Lesson
from woodwind.auto.members import GroveMember, scaled_shares
from woodwind.auto.recipe import ALL_ROWS, OUT_OF_TIME, Fit, Recipe, Taught, gathered
from woodwind.auto.size import COMPACT_LEAF, most_leaves
from woodwind.base.streams import key
from woodwind.ensemble.bag import in_order
from woodwind.ensemble.drawing import Drawing
from woodwind.ensemble.forest import Growing, class_rows, matrix_of, number_rows
from woodwind.tree.grove import Grove
from woodwind.tree.grove_grower import GroveRows, GroveSettings, GroveTree

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
# Rows that a calibration is learnt from: it has two numbers, or one more than classes.
ROWS_TO_CALIBRATE = 20_000


class Forests:
    """The family of random forests and extra-trees."""

    says_scores = False

    def needs_all_rows(self, _lesson: Lesson) -> bool:
        """Always: it is the member."""
        return True

    def fits(self, lesson: Lesson, recipe: Recipe, clock: Clock, have: Sequence[Fit]) -> Iterator[Fit]:
        """All folds and all rows together, a tree of each in turn."""
        ordering = PER_VALUE * lesson.n_rows * len(lesson.table.columns)
        if not is_time_to_compile("grow_forest_tree", clock) or clock.left_for_training < ordering:
            return
        began = time.perf_counter()
        end = clock.spent + MOST_OF_THE_REST * clock.left_for_training
        sides = [ALL_ROWS, *range(lesson.n_folds)]
        _ = lesson.grades  # made once, before others ask for it
        if clock.spent > end:
            return
        rows = _rows(lesson)
        growing = {fold: _growing(lesson, recipe, rows, fold) for fold in sides}
        wanted = _n_trees(lesson, recipe)
        order = [(tree, fold) for tree in range(wanted) for fold in sides]
        trees: dict[int, list[GroveTree]] = {fold: [] for fold in sides}
        note, first = "", clock.spent
        grown = in_order(lambda place: growing[order[place][1]].tree(order[place][0]), range(len(order)), lesson.threads)
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
        x = matrix_of(lesson.table)
        for fold in sides:
            grove = Grove.of(trees.pop(fold), lesson.grades.n_levels, rows.n_classes)
            seconds = (time.perf_counter() - began) / len(sides)
            if fold == ALL_ROWS:
                yield Fit(fold, None, grove, seconds, note=note)
            else:
                yield Fit(fold, grove.mean(x[lesson.held(fold)], lesson.threads), None, seconds, note=note)

    def finish(self, lesson: Lesson, recipe: Recipe, fits: Sequence[Fit]) -> Taught:
        """The forest of all rows; what is out of fold is calibrated by the other folds."""
        grove: Grove = next(fit.model for fit in fits if fit.fold == ALL_ROWS)
        mean = gathered(lesson, fits)
        if lesson.n_classes == 0:
            return Taught(GroveMember(grove, 1.0, np.zeros(1)), mean)
        shares = mean[:, 1:] if lesson.n_classes == 2 else mean
        scores = np.full_like(shares, np.nan)
        several = lesson.n_folds > 1
        for fold in range(lesson.n_folds):
            # With one fold only there are no others: two numbers learnt from it flatter nobody.
            others = np.flatnonzero(lesson.judged & (lesson.fold != fold)) if several else lesson.held(fold)
            held = lesson.held(fold)
            scores[held] = scaled_shares(shares[held], *_calibrated(lesson, shares, others))
        slope, shift = _calibrated(lesson, shares, np.flatnonzero(lesson.judged))
        return Taught(GroveMember(grove, slope, shift), scores)


def _calibrated(lesson: Lesson, shares: Floats, rows: NDArray[np.int64]) -> Calibration:
    """Slope and shift from some rows out of fold, or from an even part of them."""
    rows = rows[:: -(-len(rows) // ROWS_TO_CALIBRATE)]
    return calibrate(shares[rows], lesson.y[rows], None if lesson.weight is None else lesson.weight[rows])


def _rows(lesson: Lesson) -> GroveRows:
    """The target as trees learn it."""
    if lesson.n_classes:
        return class_rows(lesson.y, lesson.n_classes, lesson.weight)
    return number_rows(np.asarray(lesson.y, np.float64), lesson.weight)


def _leaves_of_all(lesson: Lesson) -> float:
    """Leaves that all trees of a forest may have together."""
    return most_leaves(lesson.member_bytes, COMPACT_LEAF, max(lesson.n_classes, 1))


def _min_rows(lesson: Lesson, recipe: Recipe, n_draws: int) -> int:
    """Fewest rows of a leaf."""
    usual = int(recipe.settings.get("min_rows", 1))
    if lesson.n_folds == 1:
        usual = max(usual, ROWS_OF_LARGE)
    return max(usual, math.ceil(LEAVES_PER_ROW * n_draws * TREES_OF_SMALL / max(_leaves_of_all(lesson), 1.0)))


def _n_trees(lesson: Lesson, recipe: Recipe) -> int:
    """How many trees are grown, where there is time for them."""
    usual = int(recipe.settings.get("n_trees", MOST_TREES if lesson.n_folds > 1 else TREES_OF_LARGE))
    n_draws = min(lesson.n_rows, MOST_DRAWN)
    leaves = LEAVES_PER_ROW * n_draws / _min_rows(lesson, recipe, n_draws)
    return max(min(usual, TREES_OF_SMALL), int(min(usual, _leaves_of_all(lesson) / leaves)))


def _growing(lesson: Lesson, recipe: Recipe, rows: GroveRows, fold: int) -> Growing:
    """How the trees of a fold are grown: rows that it does not learn are never drawn."""
    given = recipe.settings
    learnt = np.zeros(lesson.n_rows, np.int64)
    learnt[lesson.learnt(fold) if fold != ALL_ROWS else slice(None)] = 1
    random_cuts = bool(given.get("random_cuts", False))
    name = key(lesson.seed, "member", recipe.name, recipe.seed, fold)
    n_draws = min(int(learnt.sum()), MOST_DRAWN)
    drawing = Drawing(name, lesson.n_rows, n_draws, bool(given.get("bootstrap", not random_cuts)), units=learnt)
    n_features = lesson.grades.n_features
    share = given.get("max_features", "sqrt")
    count = np.sqrt(n_features) if share == "sqrt" else share * n_features
    min_rows = _min_rows(lesson, recipe, n_draws)
    settings = GroveSettings(
        criterion=given.get("criterion", "gini" if lesson.n_classes else "squared_error"),
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
    return Growing(lesson.grades, rows, settings, drawing)
