"""The memory that a tree is grown in by the exact engine: switches, arrays and the functions by which kernels reach them, and the rule.

Python makes the arrays (`woodwind/tree/exact_grower.py`) and hands kernels one array of addresses, which they call `tree`:
see `woodwind/kernels/runtime/records.py`. Nodes, the queue and constraints stand in `woodwind/kernels/tree`.
"""

from typing import NamedTuple

import numpy as np

from woodwind.kernels.runtime.records import Layout
from woodwind.kernels.tree import constraints, nodes
from woodwind.kernels.tree.memory import COMMON, CONTROL, SPLIT_VALUES, SPLITS

# A list holds (rank << 32) + row. Missing values have the largest rank, so that they come last.
ROW_MASK = 0xFFFFFFFF
MISSING_RANK = 0x7FFFFFFF

# Statistics of a row: four integers, half a line of the cache.
STATS_WIDTH = 4
X_GRADIENT = 0  # or its class
X_HESSIAN = 1  # or its weight
X_COUNT = 2  # how many rows it stands for; 0: not in the tree
X_LABEL = 3  # equal in all rows of a node: there is nothing to split

LAYOUT = Layout(COMMON)

# The table (woodwind.data.binning.ranks.Ranks).
ranks = LAYOUT.array("ranks", np.int32)  # int32[F * n]
order = LAYOUT.array("order", np.int32)  # int32[F * n]
features, feature_of = LAYOUT.list("features", np.int64)  # int64[slots]: the features of this tree, ascending

# Rows.
row_stats = LAYOUT.array("stats", np.int64)  # int64[n * 4]
gradients = LAYOUT.array("gradients", np.int64)  # int64[n * K]: where a tree has K outputs, the gradients of each row
_, sorted_rows = LAYOUT.matrix("lists", np.int64)  # int64[F, n]: for each slot, rows of every node by rank, with their ranks
rows = LAYOUT.array("rows", np.int64)  # int64[n]: rows of every node, ascending
goes_left = LAYOUT.array("goes", np.uint8)  # uint8[n]: 1 for rows that go left
_, spare = LAYOUT.matrix("spare", np.int64)  # int64[threads, n]

# Nodes: columns behind those of all engines.
_NODES = nodes.COLUMNS.going_on()
slot, set_slot = _NODES.column("slot")  # the list of its split's feature
cut, set_cut = _NODES.column("cut")  # the last place of that list that goes left
NODE_INTEGERS = _NODES.width
_NODE_VALUES = constraints.VALUES.going_on()
own_score, set_own_score = _NODE_VALUES.column("own_score")  # of the node as one leaf
NODE_VALUES = _NODE_VALUES.width

# Two nodes whose splits are looked for at the same time: the children of a node, or the root and none.
_SIBLINGS = LAYOUT.table("siblings", np.int64)  # int64[2, 4]
side_node, set_side_node = _SIBLINGS.column("node")  # -1 for none
drawn_from, set_drawn_from = _SIBLINGS.column("drawn_from")  # which of the drawn slots are looked at
drawn_to, set_drawn_to = _SIBLINGS.column("drawn_to")
n_drawn, set_n_drawn = _SIBLINGS.column("n_drawn")
_, totals = LAYOUT.matrix("totals", np.int64)  # int64[2 + threads, 4 + K]: sums of the two, and of a cut by each thread
all_drawn, drawn_slot, _ = LAYOUT.cells("drawn", np.int64)  # int64[2, slots]: the slots that each of the two may be split by

# Splits that were found: columns behind those of all engines, for 2 * slots of them.
_SPLITS = SPLITS.going_on()
split_cut, set_split_cut = _SPLITS.column("cut")  # last place of the list that goes left; for a category how many categories
SPLIT_INTEGERS = _SPLITS.width
_SPLIT_VALUES = SPLIT_VALUES.going_on()
split_ratio, set_split_ratio = _SPLIT_VALUES.column("ratio")  # gain over the information in the split itself
SPLIT_VALUES_WIDTH = _SPLIT_VALUES.width

# Scratch, for each thread.
_, scores = LAYOUT.matrix("curves", np.float64)  # float64[threads, BLOCK]
_, block_places = LAYOUT.matrix("places", np.int64)  # int64[threads * PLACE_ROWS, BLOCK]
levels = LAYOUT.matrix("levels", np.int64)[0]  # int64[threads * 256, 4 + K]: statistics of each category
_, bin_places = LAYOUT.matrix("bin_places", np.int64)  # int64[threads * 2, bins + 1]: a list of bins, and the last place of each
_, bin_stats = LAYOUT.matrix("bin_stats", np.int64)  # int64[threads, (bins + 1) * 4]: statistics of bins, as of rows
_, bin_gradients = LAYOUT.matrix("bin_gradients", np.int64)  # int64[threads, (bins + 1) * K]
logs = LAYOUT.array("logs", np.int64)  # int64[m]: x log2 x in fixed point, for whole x below m

# Counters behind those of all engines.
_COUNTERS = CONTROL.going_on()
state, set_state = _COUNTERS.counter("state")  # what was done last: see `loop`
divided, set_divided = _COUNTERS.counter("divided")  # the node whose rows are partitioned

# Columns of `totals` and `levels`: sums of gradient, hessian and count; then the weight of each class, or the gradient of each output.
T_GRADIENT = 0  # for entropy: bits that name the classes
T_HESSIAN = 1
T_COUNT = 2
T_CODE = 3  # `levels`: the category
T_CLASSES = 4

# Rows that are scored together: five arrays of so many numbers stay in the first cache.
BLOCK = 256
PLACE_ROWS = 4


class ExactRule(NamedTuple):
    """The numbers that score a split and end the growth."""

    n_rows: int  # of the table
    criterion: int  # the switch of one of `score.CRITERIA`
    n_classes: int  # or outputs; 0 for the gradient of one
    order: int
    max_leaves: int
    max_depth: int
    min_split: int
    min_rows: int
    min_hessian: float
    min_gain: float
    thorough: bool  # a gain of min_gain is enough; otherwise it must be more
    any_gain: bool  # rows of different labels are split even where nothing is gained by it
    plain: bool  # no L1 penalty, and nothing holds values back
    narrow: bool  # classes: `scan_classes` follows the criterion, and what it adds up fits into 64 bits
    log_scale: float  # of the fixed point of x log2 x: a power of two
    l1: float
    l2: float
    category_l2: float
    category_smooth: float
    path_smooth: float  # rows by which a value is drawn towards that of the node above; 0 for none
    gradient_unit: float  # real gradient of one unit
    hessian_unit: float  # real hessian, or weight, of one unit
    n_candidates: int  # features drawn per node
    level_candidates: int  # features drawn per level before that
    candidate_bins: int  # thresholds of a node are between so many quantiles of its hessians at most; 0: every threshold
    patient: bool  # go on drawing until a split is found
    seed: int
    bounded: bool  # values are held back: by monotonic constraints, by a largest size, or by the node above
    grouped: bool  # interaction constraints are given
