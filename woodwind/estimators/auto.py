"""What "auto" means: rules that depend on the table, each with its reason. The one place where these numbers stand.

Rows are counted as they weigh: a row of weight two is two rows, where weights are whole numbers.
"""

import math
from typing import Literal

from woodwind.tree.settings import TreeSettings

# Few rows want small steps: the sum of many small trees averages their noise. Many rows can pay for larger steps,
# and their time grows with the number of rounds.
SMALL_STEP, LARGE_STEP = 0.05, 0.1
SMALL_TABLE, LARGE_TABLE = 20_000, 200_000

# Of a small table, a share held out is too few rows to tell progress from noise: there the number of rounds is found in folds,
# by which every row is held out once, at the cost of so many trainings. Of very few rows not even that says much.
LEAST_ROWS_TO_STOP, LEAST_ROWS_TO_HOLD_OUT = 50, 2_000
FOLDS = 5

# Every row for small tables: there a weight of two is then exactly a row given twice. Larger tables gain from drawing rows:
# trees differ more, and are grown in less time.
LEAST_ROWS_TO_DRAW = 1_000
DRAWN_SHARE = 0.75

# Regression profits from finer trees and smaller leaves than classification, where a leaf must hold enough rows of every
# class to say something about their odds.
CLASS_LEAVES, NUMBER_LEAVES = 31, 63
CLASS_LEAF_ROWS, NUMBER_LEAF_ROWS = 20, 5
ROWS_PER_LEAF_ROW = 40

# Rounds without improvement, times the step: a smaller step needs more rounds to show that there is nothing left.
STEPS_OF_PATIENCE = 5.0

# Levels of a tree that is grown by whole levels, where neither depth nor leaves are given.
LEVELS = 6


def learning_rate(n_rows: float) -> float:
    """From the small step to the large one, along the logarithm of the number of rows."""
    way = math.log(max(n_rows, 1) / SMALL_TABLE) / math.log(LARGE_TABLE / SMALL_TABLE)
    return round(SMALL_STEP * math.pow(LARGE_STEP / SMALL_STEP, min(max(way, 0.0), 1.0)), 4)


def early_stopping(n_rows: float) -> Literal["share", "folds", "none"]:
    """What is held out to stop by: a share of the rows, each row once in folds, or none."""
    if n_rows < LEAST_ROWS_TO_STOP:
        return "none"
    return "folds" if n_rows < LEAST_ROWS_TO_HOLD_OUT else "share"


def patience(rate: float) -> int:
    """Rounds without improvement before stopping."""
    return min(max(round(STEPS_OF_PATIENCE / rate), 20), 300)


def subsample(n_rows: float) -> float:
    """Share of rows for each tree."""
    return DRAWN_SHARE if n_rows >= LEAST_ROWS_TO_DRAW else 1.0


def max_leaves(is_class: bool, growth: str, max_depth: int | None) -> int:
    """Most leaves of a tree; one grown by whole levels has as many as its depth allows."""
    if growth != "best_first":
        return 1 << min(max_depth or LEVELS, 16)
    return CLASS_LEAVES if is_class else NUMBER_LEAVES


def min_rows(is_class: bool, n_rows: float) -> int:
    """Fewest rows of a leaf: less for small tables, which could hardly be split otherwise."""
    usual = CLASS_LEAF_ROWS if is_class else NUMBER_LEAF_ROWS
    return max(1, min(usual, int(n_rows // ROWS_PER_LEAF_ROW)))


def split_patience(settings: TreeSettings, subsample: float) -> int:
    """Rounds in a row without any split that end a training: one where nothing is drawn, since the next would be the same."""
    drawn = (settings.features_per_tree, settings.features_per_level, settings.features_per_node)
    return 1 if subsample == 1.0 and all(count is None for count in drawn) else 10
