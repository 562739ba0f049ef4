"""The memory that a tree is grown in by the forest engine: every array, and the functions by which kernels reach it.

Python makes the arrays (`woodwind/tree/compact_forest_grower.py`) and hands kernels one array of addresses, which they call `tree`:
see `woodwind/kernels/runtime/records.py`. Nodes and the queue stand in `woodwind/kernels/tree`.
"""

import numpy as np

from woodwind.kernels.runtime.records import Layout
from woodwind.kernels.tree import nodes
from woodwind.kernels.tree.memory import COMMON, CONTROL

LAYOUT = Layout(COMMON)

# The table (woodwind.data.binning.forest_codes.ForestCodes).
_, bins_of_feature = LAYOUT.matrix("coarse", np.uint8)  # uint8[F, n]: bins
codes_by_row = LAYOUT.array("fine", np.int32)  # int32[n * stride]: ranks or categories, row after row
spans = LAYOUT.matrix("span", np.int64)[0]  # int64[2 F, 256]: first and last rank of every bin
numbers = LAYOUT.array("values", np.float64)  # float64[all]: the numbers that ranks stand for, feature after feature
_, numbers_begin = LAYOUT.list("values_at", np.int64)  # int64[F + 1]
bins_by_row = LAYOUT.array("coarse_rows", np.uint8)  # uint8[n * stride]: bins, row after row
numbers_by_row = LAYOUT.array(
    "raw_rows", np.float64
)  # float64[n * stride]: the numbers themselves, NaN for missing ones; for random splits only
codes_by_column = LAYOUT.array("code_columns", np.int32)  # int32[F * n]: codes, column after column; for random splits only

# Rows: of the table ...
targets = LAYOUT.array("target", np.int64)  # int64[n]: fixed-point target times the weight of one row; or the class
weights = LAYOUT.array("weight", np.int64)  # int64[n]: weight of one row
real_rows = LAYOUT.matrix("real", np.float64)[0]  # float64[2, n]: target and weight as they came, for the values of leaves
# Several targets: k of them, and the s sums that are made of them, one for each number, or for each class of each target.
target_columns = LAYOUT.array("target_columns", np.int64)  # int64[n * k]: fixed-point target times weight; or which sum its class is
real_columns = LAYOUT.array("real_columns", np.float64)  # float64[n * k]: targets as they came; for numbers only
_, sum_factor = LAYOUT.list("sum_factors", np.float64)  # float64[s]: what the square of a sum counts; for numbers only
_, first_sum = LAYOUT.list("first_sums", np.int64)  # int64[k + 1]: where the sums of a target begin
# ... and of the tree.
times = LAYOUT.array("times", np.int32)  # int32[n]: how often a row is in the tree
row_sums = LAYOUT.array("pair", np.int64)  # int64[2 n]: times * target, or the class; then (times << 32) + times * weight, or `both`
rows = LAYOUT.array("rows", np.int32)  # int32[n]: rows of every node, ascending
places = LAYOUT.array("places", np.int32)  # int32[n]: the same as places of the arena, where a node is in it
spare = LAYOUT.array("spare", np.int32)  # int32[n]

# The arena: the rows of one subtree, numbered from 0, column after column. Room for A rows.
arena_codes = LAYOUT.array("a_code", np.int32)  # int32[F * A]: codes of the places, by `along` and `across`
arena_numbers = LAYOUT.array("a_raw", np.float64)  # float64[F * A]: numbers of the places, for random splits
arena_bins = LAYOUT.array("a_coarse", np.uint8)  # uint8[F * A]: bins of the places
arena_sums = LAYOUT.array("a_pair", np.int64)  # int64[2 A]: `row_sums` of the places
_, fetched = LAYOUT.matrix(
    "fetched", np.int64
)  # int64[2, F / LINE + 1]: number of the arena that codes or numbers, and bins, were copied for
keys = LAYOUT.matrix("keys", np.int64)[0]  # int64[2, A]: rows of a node that are put in order
counts = LAYOUT.array("counts", np.int32)  # int32[max(A, 256) + 1]: how many of them there are of a kind
node_sums, node_sums_row = LAYOUT.matrix(
    "node_pair", np.int64
)  # int64[2, n]: `row_sums` of the rows of a node in the order in which they stand
goes_left = LAYOUT.array("ways", np.uint8)  # uint8[n]: 1 for rows of a node that go left

# Splits.
items = LAYOUT.array("items", np.int64)  # int64[3 * most]: code, sum or class, and both, in the order of codes
cells = LAYOUT.array("cells", np.int64)  # int64[256 * max(K, 2)]: sums of bins or categories: (sum, both), or both for each class
category_order = LAYOUT.array("category_order", np.int64)  # int64[256]
category_keys = LAYOUT.array("category_keys", np.float64)  # float64[256]
class_weights, class_weights_of = LAYOUT.matrix("class_weights", np.int64)  # int64[2, K]: of the node and of the left side
logs = LAYOUT.array("logs", np.int64)  # int64[m]: the table of the criterion, see `score.worth`; empty for Gini
target_values = LAYOUT.array("target_values", np.int64)  # int64[D]: fixed point of the distinct targets, ascending; for medians only
target_position = LAYOUT.array("target_position", np.int32)  # int32[D]: which of the distinct targets of the node
target_sums, target_sums_of = LAYOUT.matrix("target_sums", np.int64)  # int64[8, A + 2]: see `medians`
target_order = LAYOUT.array("target_order", np.int32)  # int32[A]: rows of the node by target, numbered from 0
drawn = LAYOUT.array("drawn", np.int32)  # int32[3 F]: features, what was swapped, and the features of the node, ascending
BEST = LAYOUT.counters("best")  # int64[8]: see `best`
BEST_VALUES = LAYOUT.counters("best_f", dtype=np.float64)  # float64[3]
best_sets = LAYOUT.matrix("best_set", np.uint64)[0]  # uint64[2, 8]: categories that go left and right: of the candidate, and of the best
_, curve = LAYOUT.matrix("curve", np.float64)  # float64[3, most]: scores of cuts, or the numbers of a node
curve_bits = LAYOUT.seen_as("curve", np.int64)[1]
lane_rows = LAYOUT.array("lane_rows", np.int32)  # int32[3 * 64]: codes of few rows, (second class << 16) + times of each, and sums of these

# Nodes: columns behind those of all engines.
_NODES = nodes.COLUMNS.going_on()
low, set_low = _NODES.column("low")  # last rank of the node that goes left
high, set_high = _NODES.column("high")  # first rank that goes right; MISSING_CODE for none
total, set_total = _NODES.column("total")  # sum of its rows
both, set_both = _NODES.column("both")  # (rows << 32) + weight
left_total, set_left_total = _NODES.column("left_total")  # of those that go left
left_both, set_left_both = _NODES.column("left_both")
NODE_INTEGERS = _NODES.width
_NODE_VALUES = nodes.VALUES.going_on()
threshold, set_threshold = _NODE_VALUES.column("threshold")  # left when x <= threshold
NODE_VALUES = _NODE_VALUES.width

# The finished tree (woodwind.tree.compact_forest.CompactForest).
out_nodes = LAYOUT.array("out_nodes", np.uint64)  # uint64[2 nodes]
out_gain = LAYOUT.array("out_gain", np.float64)  # float64[nodes]
_, out_value = LAYOUT.matrix("out_value", np.float64)  # float64[leaves, L]: mean of the targets, or weight of each class
out_cover = LAYOUT.array("out_cover", np.float64)  # float64[leaves]
out_span = LAYOUT.array("out_span", np.int64)  # int64[leaves + 1]: where the rows of a leaf begin in `rows`

# Counters behind those of all engines.
COUNTERS = CONTROL.going_on()
arena, set_arena = COUNTERS.counter("arena")  # number of the present arena
arena_begin, set_arena_begin = COUNTERS.counter("arena_begin")  # its first and last place in `rows`
arena_end, set_arena_end = COUNTERS.counter("arena_end")
n_inner, set_n_inner = COUNTERS.counter("n_inner")  # inner nodes of the finished tree
n_targets, set_n_targets = COUNTERS.counter("n_targets")  # distinct targets of the node, and the sum of all; for medians
target_total, set_target_total = COUNTERS.counter("target_total")
n_tree_rows, set_n_tree_rows = COUNTERS.counter("n_tree_rows")  # different rows of the tree
items_are_cells, set_items_are_cells = COUNTERS.counter("items_are_cells")  # several targets: items are bins or categories, not rows

# The rule: numbers that score a split and end the growth. They are read from memory where they are needed, because a tuple of so many would
# be copied in every call.
n_rows = LAYOUT.number("n_rows")
n_features = LAYOUT.number("n_features")
stride = LAYOUT.number("stride")  # of arrays by row
room = LAYOUT.number("room")  # A: rows of the largest arena, and what keeps columns apart
most_items = LAYOUT.number("most_items")  # room for items
arena_limit = LAYOUT.number("arena_limit")  # nodes of at most so many rows go to an arena
criterion = LAYOUT.number("criterion")
is_poisson = LAYOUT.number("is_poisson")  # sums of numbers are scored by their Poisson deviance
n_classes = LAYOUT.number("n_classes")  # 0 for regression
n_outputs = LAYOUT.number("n_outputs")  # several targets: how many, how many sums are made of them ...
n_sums = LAYOUT.number("n_sums")
is_labels = LAYOUT.number("is_labels")  # ... and whether they are labels
random_splits = LAYOUT.number("random_splits")  # one random threshold for each feature, instead of the best
best_first = LAYOUT.number("best_first")
max_leaves = LAYOUT.number("max_leaves")
max_depth = LAYOUT.number("max_depth")
min_split = LAYOUT.number("min_split")
min_rows = LAYOUT.number("min_rows")
min_weight = LAYOUT.number("min_weight")
no_limits = LAYOUT.number("no_limits")  # but one row, so that every cut is allowed
n_candidates = LAYOUT.number("n_candidates")
key = LAYOUT.number("key")
exact_rows = LAYOUT.number("exact_rows")  # in nodes of at most so many rows, all of them in arenas, every threshold is considered
has_categories = LAYOUT.number("has_categories")
is_counted = LAYOUT.number("is_counted")  # two classes, and every row weighs one: sums are counts
all_at_once = LAYOUT.number("all_at_once")  # few rows are split by all features at once
is_packed = LAYOUT.number("is_packed")  # such rows, and no categories: a row is one word, see `order.pack`
along = LAYOUT.number("along")  # arena_codes: from one place to the next ...
across = LAYOUT.number("across")  # ... and from one feature to the next
