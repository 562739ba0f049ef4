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
LISTS = 7  # int64[F, n]: one for each slot; rows of every node by rank, with their ranks; nodes have the same places in all lists
ROWS = 8  # int64[n], flat: rows of every node, ascending
GOES = 9  # uint8[1, n]: 1 for rows that go left
SPARE = 10  # int64[threads, n]

# Nodes.
NODE_I = 11  # int64[nodes, N_INTEGERS]
NODE_F = 12  # float64[nodes, N_FLOATS]
GROUPS = 13  # uint64[nodes, G]: interaction groups still possible below a node
SETS = 14  # uint64[nodes, 8]: levels that go left (4 words) and right (4 words)
HEAP = 15  # int64[nodes], flat: leaves that can be split

# Judging.
CONTROL = 16  # int64[64], flat
TOTALS = 17  # int64[2 + threads, 4 + K]: sums of the two nodes that are judged together, and of a cut by each thread
DRAWN = 18  # int64[2, slots]: the features that each of the two may be split by
FOUND_I = 19  # int64[2 * slots, 4]
FOUND_F = 20  # float64[2 * slots, 4]
FOUND_SETS = 21  # uint64[2 * slots, 8]
CURVES = 22  # float64[threads, BLOCK]
PLACES = 23  # int64[threads * PLACE_ROWS, BLOCK]
LEVELS = 24  # int64[threads * 256, 4 + K]: statistics of each level
LOGS = 25  # int64[m], flat: x log2 x in fixed point, for whole x below m
ENTRIES = 26

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
    thorough: bool  # a gain of min_gain is enough; otherwise it must be more
    any_gain: bool  # rows of different labels are split even where nothing is gained by it
    plain: bool  # no L1 penalty and no bounds
    narrow: bool  # classes: what the criterion adds up fits into 64 bits (squares of large weights do not)
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
