"""The arrays that every engine has while a tree grows.

Engines declare their own behind these. The names are those by which Python puts the arrays in (`woodwind.kernels.runtime.records.Memory`).
"""

import numpy as np

from woodwind.kernels.runtime.records import Layout

COMMON = Layout()

# What threads tell one another, and behind that how many there are of what.
CONTROL = COMMON.counters("control", first=32)  # int64[64]
control = CONTROL.all
n_nodes, set_n_nodes = CONTROL.counter("n_nodes")
n_waiting, set_n_waiting = CONTROL.counter("n_waiting")  # nodes in the queue
n_leaves, set_n_leaves = CONTROL.counter("n_leaves")
n_sets, set_n_sets = CONTROL.counter("n_sets")  # sets of categories

# Nodes: see `nodes`. A node's row has the columns of all engines, then those of one.
NODES = COMMON.table("node_i", np.int64)
NODE_VALUES = COMMON.table("node_f", np.float64)
heap, waiting, set_waiting = COMMON.items("heap", np.int64)  # int64[nodes]: see `queue`

# Categories.
is_category, is_category_of = COMMON.list("is_category", np.int64)  # int64[F]
category_sets, set_word, put_set_word = COMMON.cells("sets", np.uint64)  # uint64[sets, 8]: categories that go left (4 words) and right (4)

# Constraints: see `constraints`.
_, direction_of = COMMON.list("monotonic", np.int64)  # int64[F]: 1 increasing, -1 decreasing, 0 free
_, feature_group_word, _ = COMMON.cells("member", np.uint64)  # uint64[F, G]: interaction groups of a feature, as bits
node_groups, node_group_word, put_node_group_word = COMMON.cells("groups", np.uint64)  # uint64[nodes, G]: those still possible below a node

# The best split that some features have for a node, until it is compared with others and given to the node: int64 and float64[splits].
SPLITS = COMMON.table("split_i", np.int64)
split_feature, set_split_feature = SPLITS.column("feature")  # -1: there is none
split_bin, set_split_bin = SPLITS.column("bin")
split_missing, set_split_missing = SPLITS.column("missing")  # side of missing values
SPLIT_VALUES = COMMON.table("split_f", np.float64)
split_gain, set_split_gain = SPLIT_VALUES.column("gain")
split_left_value, set_split_left_value = SPLIT_VALUES.column("left_value")  # values of the children if they were leaves
split_right_value, set_split_right_value = SPLIT_VALUES.column("right_value")
# uint64[splits, words]: categories that go left, and right in the exact engine
split_sets, split_set_word, _ = COMMON.cells("split_sets", np.uint64)
