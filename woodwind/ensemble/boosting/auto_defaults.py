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
# A tree of more than two classes serves them all, so that each gets a part of it: small steps would not be done in a thousand rounds.
CLASSES_STEP = 0.1

# Of a small table, a share held out is too few rows to tell progress from noise: there the number of rounds is found in folds,
# by which every row is held out once, at the cost of so many trainings. Of very few rows not even that says much.
LEAST_ROWS_TO_STOP, LEAST_ROWS_TO_HOLD_OUT = 50, 5_000
FOLDS = 5
# Of rankings, what is held out is whole queries.
LEAST_QUERIES_TO_STOP = 10
# Between the first and the last of these numbers of rows it is a matter of time: folds where one training has few values to look at,
# rows times features times scores.
LEAST_ROWS_TO_MIND_TIME, MOST_VALUES_IN_FOLDS = 1_000, 400_000

# The trainings in folds are not thrown away: the model is their mean, which has less variance than one training on all rows.
# It can take more rounds than are best for one of them. Of 1, 1.3 and, within the patience, more: 1.3 was best.
MEAN_ROUNDS = 1.3

# Trees of a wide table see a share of its features, the cube root of this by their number: trees that differ say more
# together, and cost less. Of few features, a tree without one that matters is lost; and of very many, one alone may matter.
FEATURES_SEEN = 16

# Every row for small tables: there a weight of two is then exactly a row given twice. Larger tables gain from drawing rows:
# trees differ more, and are grown in less time.
LEAST_ROWS_TO_DRAW = 1_000
DRAWN_SHARE = 0.75

# What can be told about a leaf depends on how many rows there are to share: half the square root of the rows is the number of leaves,
# 8 of 250 rows and 63 of 16,000. Classes stop at fewer, and at larger leaves: a leaf must hold enough rows of every class to say something
# about their odds. A quantile far out depends on few of the rows of a leaf, and its leaves are larger and fewer by that share
# (benchmarks/results/quantiles.md).
LEAVES_PER_ROOT = 0.5
LEAST_LEAVES, CLASS_LEAVES, REGRESSION_LEAVES = 8, 31, 63
CLASS_LEAF_ROWS, REGRESSION_LEAF_ROWS = 20, 5
ROWS_PER_LEAF_ROW, ROWS_PER_TAIL_ROW = 10, 40
# Of 8, 16, 31 and 63 leaves, 16 were best for the NDCG of all three tables that were tried, of 3,000 to 45,000 documents.
RANKING_LEAVES = 16

# Categories of a category are put in order by what their rows say, and the more rows, the more categories there are to find chance among:
# the penalty of such a split is the square root of the rows, and a third of it draws rare categories to the middle.
LEAST_CATEGORY_L2, CATEGORY_SMOOTHING = 10.0, 1 / 3

# From so many categories on, a column is read as means of the target: a tree that parts sets of them finds chance among them, and beyond
# the codes of a byte it cannot even tell them apart. With many rows sets find more than means: of 225 categories, means were better up to
# 40,000 rows and worse with 80,000, of 104 they were better with 80,000 still. Of 11 to 25 categories neither was better throughout.
LEAST_CATEGORIES_FOR_MEANS, MOST_CATEGORIES_IN_SETS = 33, 253
MOST_ROWS_TIMES_CATEGORIES = 10_000_000
# Rows are divided into so many folds, and each row has the mean of the others; of so many classes at most each has a mean of its own.
STATISTICS_FOLDS, MOST_CLASS_STATISTICS = 5, 16
# There folds are worth their time for larger tables too: each has means of its own, whose noise is averaged.
LEAST_ROWS_TO_HOLD_OUT_OF_MEANS = 20_000

# Rounds without improvement, times the step: a smaller step needs more rounds to show that there is nothing left.
STEPS_OF_PATIENCE = 5.0

# Levels of a tree that is grown by whole levels, where neither depth nor leaves are given.
LEVELS = 6


def learning_rate(n_rows: float, n_scores: int = 1) -> float:
    """From the small step to the large one, along the logarithm of the number of rows."""
    if n_scores > 1:
        return CLASSES_STEP
    way = math.log(max(n_rows, 1) / SMALL_TABLE) / math.log(LARGE_TABLE / SMALL_TABLE)
    return round(SMALL_STEP * math.pow(LARGE_STEP / SMALL_STEP, min(max(way, 0.0), 1.0)), 4)


def early_stopping(n_rows: float, n_features: int = 1, n_scores: int = 1, has_means: bool = False) -> Literal["share", "folds", "none"]:
    """What is held out to stop by: a share of the rows, each row once in folds, or none."""
    if n_rows < LEAST_ROWS_TO_STOP:
        return "none"
    if n_rows >= (LEAST_ROWS_TO_HOLD_OUT_OF_MEANS if has_means else LEAST_ROWS_TO_HOLD_OUT):
        return "share"
    few = n_rows < LEAST_ROWS_TO_MIND_TIME or n_rows * n_features * n_scores <= MOST_VALUES_IN_FOLDS
    return "folds" if few else "share"


def patience(rate: float) -> int:
    """Rounds without improvement before stopping."""
    return min(max(round(STEPS_OF_PATIENCE / rate), 20), 300)


def subsample(n_rows: float) -> float:
    """Share of rows for each tree."""
    return DRAWN_SHARE if n_rows >= LEAST_ROWS_TO_DRAW else 1.0


def feature_share(n_features: int) -> float:
    """Share of features for each tree."""
    return round(math.cbrt(min(1.0, FEATURES_SEEN / n_features)), 4)


def max_leaves(is_class: bool, n_rows: float, growth: str, max_depth: int | None, tail: float = 0.5) -> int:
    """Most leaves of a tree; one grown by whole levels has as many as its depth allows. `tail`: see `Loss.tail`."""
    if growth != "best_first":
        return 1 << min(max_depth or LEVELS, 16)
    most = CLASS_LEAVES if is_class else REGRESSION_LEAVES
    return min(max(round(LEAVES_PER_ROOT * math.sqrt(n_rows * 4.0 * tail * (1.0 - tail))), LEAST_LEAVES), most)


def max_leaves_of_rankings(n_rows: float) -> int:
    """Most leaves of a tree that ranks."""
    return min(max(round(LEAVES_PER_ROOT * math.sqrt(n_rows)), LEAST_LEAVES), RANKING_LEAVES)


def min_rows(is_class: bool, n_rows: float, tail: float = 0.5) -> int:
    """Fewest rows of a leaf: less for small tables, which could hardly be split otherwise. `tail`: see `Loss.tail`."""
    usual = CLASS_LEAF_ROWS if is_class else REGRESSION_LEAF_ROWS
    if tail < 0.5:
        usual = max(usual, min(math.ceil(usual * (1.0 - tail) / tail), int(n_rows // ROWS_PER_TAIL_ROW)))
    return max(1, min(usual, int(n_rows // ROWS_PER_LEAF_ROW)))


def category_l2(n_rows: float) -> float:
    """Penalty of the leaves of a split by category, while it is scored."""
    return max(LEAST_CATEGORY_L2, math.sqrt(n_rows))


def category_smooth(n_rows: float) -> float:
    """Weight by which a category is drawn to the middle before categories are put in order."""
    return max(LEAST_CATEGORY_L2, CATEGORY_SMOOTHING * math.sqrt(n_rows))


def reads_means(n_categories: int, n_rows: float) -> bool:
    """Whether a column of so many categories is read as means of the target."""
    few_rows = n_rows * n_categories <= MOST_ROWS_TIMES_CATEGORIES
    return n_categories > MOST_CATEGORIES_IN_SETS or (n_categories >= LEAST_CATEGORIES_FOR_MEANS and few_rows)


def split_patience(settings: TreeSettings, subsample: float, bootstrap: bool = False, permutations: int = 0) -> int:
    """Rounds in a row without any split that end a training: one where nothing is random, since the next would be the same."""
    drawn = (settings.features_per_tree, settings.features_per_level, settings.features_per_node)
    rows_differ = subsample < 1.0 or bootstrap or permutations > 0
    return 10 if rows_differ or settings.gradient_noise > 0.0 or any(count is not None for count in drawn) else 1
