"""What the kernels of exact growth share with the Python around them: switches, the rule, and the directory of arrays.

As in `growing.py`, kernels are handed one array of addresses. Nodes have the columns of `layout.py`.
Numbers here are baked into compiled code: append, never renumber.
"""

from typing import NamedTuple

# How a split is judged.
NEWTON = 0  # gradients and hessians; squared error is a case of it
GINI = 1
ENTROPY = 2
GAIN_RATIO = 3

# Order of growth, behind those of `layout.py`: for trees without a limit of leaves, where the order changes nothing but speed.
DEEP_FIRST = 3

# A list holds (rank << 32) + row. Missing values have the largest rank, so that they come last.
ROW_MASK = 0xFFFFFFFF
MISSING_RANK = 0x7FFFFFFF

# Statistics of a row: four integers, half a line of the cache.
STATS_WIDTH = 4
X_GRADIENT = 0  # or its class
X_HESSIAN = 1  # or its weight
X_COUNT = 2  # how many rows it stands for; 0: not in the tree
X_LABEL = 3  # equal in all rows of a node: there is nothing to split

# The table (woodwind.data.ranks.Ranks) and its limits.
RANKS = 0  # int32[F * n], flat
ORDER = 1  # int32[F * n], flat
FEATURES = 2  # int64[slots], flat: the features of this tree, ascending
CATEGORY = 3  # int64[F], flat: 1 for categories
MONOTONIC = 4  # int64[F], flat: 1 increasing, -1 decreasing, 0 free
MEMBER = 5  # uint64[F, G]: interaction groups of a feature, as bits

# Rows.
STATS = 6  # int64[n, 4]
LISTS = 7  # int64[slots, n]: rows of every node by rank, with their ranks; nodes have the same places in all lists
ROWS = 8  # int64[n], flat: rows of every node, ascending
GOES = 9  # uint8[1, n]: 1 for rows that go left
SPARE = 10  # int64[threads, n]
LEAF_OF_ROW = 11  # int32[n], flat

# Nodes.
NODE_I = 12  # int64[nodes, N_INTEGERS]
NODE_F = 13  # float64[nodes, N_FLOATS]
GROUPS = 14  # uint64[nodes, G]: interaction groups still possible below a node
SETS = 15  # uint64[nodes, 8]: levels that go left (4 words) and right (4 words)
HEAP = 16  # int64[nodes], flat: leaves that can be split
SEQUENCE = 17  # int64[nodes], flat: the nodes in the order of their final numbers

# Judging.
CONTROL = 18  # int64[64], flat
TOTALS = 19  # int64[2, 4 + K]: sums of the two nodes that are judged next
DRAWN = 20  # int64[slots], flat
FOUND_I = 21  # int64[slots, 4]
FOUND_F = 22  # float64[slots, 4]
FOUND_SETS = 23  # uint64[slots, 8]
COUNTS = 24  # int64[threads, K]: weight of each class to the left
CURVES = 25  # float64[threads * CURVE_ROWS, BLOCK]
PLACES = 26  # int64[threads * PLACE_ROWS, BLOCK]
LEVELS = 27  # int64[threads * 256, 4 + K]: statistics of each level
LOGS = 28  # int64[m], flat: x log2 x in fixed point, for whole x below m
ENTRIES = 29

# Columns of TOTALS and LEVELS: sums of gradient, hessian and count; then the weight of each class.
T_GRADIENT = 0  # for entropy: bits that name the classes
T_HESSIAN = 1
T_COUNT = 2
T_CODE = 3  # LEVELS: the level
T_CLASSES = 4

# A column of NODE_F behind those of `layout.py`: the score of the node as one leaf.
X_OWN = 6
EXACT_FLOATS = 7

# Columns of FOUND_I and FOUND_F.
FOUND_PLACE = 0  # last place of the list that goes left; for a category how many levels; -1: no split
FOUND_BIN = 1  # (rank above << 32) + rank below the cut
FOUND_MISSING = 2
FOUND_SCORE = 0  # gain
FOUND_RATIO = 1  # gain over the information in the split itself
FOUND_LEFT = 2  # values of the children, for monotonic constraints
FOUND_RIGHT = 3

# Rows that are scored together: five arrays of so many numbers stay in the first cache.
BLOCK = 256
CURVE_ROWS = 2
PLACE_ROWS = 4


class ExactRule(NamedTuple):
    """The numbers that judge a split and end the growth."""

    n_rows: int  # of the table
    criterion: int
    n_classes: int  # 0 for gradients
    order: int
    max_leaves: int
    max_depth: int
    min_split: int
    min_rows: int
    min_hessian: float
    min_gain: float
    lenient: bool  # any split of rows with different labels will do, if min_gain is 0; else only one with more gain than that
    plain: bool  # no L1 penalty and no bounds
    narrow: bool  # weights are so small that their squares add up in 64 bits
    log_scale: float  # of the fixed point of x log2 x: a power of two
    l1: float
    l2: float
    category_l2: float
    category_smooth: float
    gradient_unit: float  # real gradient of one unit
    hessian_unit: float  # real hessian, or weight, of one unit
    n_candidates: int  # features drawn per node
    level_candidates: int  # features drawn per level before that
    patient: bool  # go on drawing until a split is found
    seed: int
    bounded: bool  # some feature has a monotonic constraint
    grouped: bool  # interaction constraints are given
