"""The arrays that every engine has while a tree grows.

Engines declare their own behind these. The names are those by which Python puts the arrays in (`woodwind.kernels.runtime.records.Memory`).
"""

import numpy as np

from woodwind.kernels.runtime.records import Layout

SHARED = Layout()

# What threads tell one another, and counters behind that: see `counters`.
CONTROL = SHARED.counters("control", first=32)  # int64[64]
control = CONTROL.all

# Nodes: see `nodes`. A node's row has the columns of all engines, then those of one.
NODES = SHARED.table("node_i", np.int64)
NODE_VALUES = SHARED.table("node_f", np.float64)
heap, waiting, set_waiting = SHARED.items("heap", np.int64)  # int64[nodes]: see `queue`

# Categories.
is_category, is_category_of = SHARED.list("is_category", np.int64)  # int64[F]
category_sets, set_word, put_set_word = SHARED.cells("sets", np.uint64)  # uint64[sets, 8]: categories that go left (4 words) and right (4)

# Constraints: see `constraints`.
directions, direction_of = SHARED.list("monotonic", np.int64)  # int64[F]: 1 increasing, -1 decreasing, 0 free
feature_groups, feature_group_word, _ = SHARED.cells("member", np.uint64)  # uint64[F, G]: interaction groups of a feature, as bits
node_groups, node_group_word, put_node_group_word = SHARED.cells("groups", np.uint64)  # uint64[nodes, G]: those still possible below a node

# What was found for a node by some features: see `found`.
FOUND = SHARED.table("found_i", np.int64)
FOUND_VALUES = SHARED.table("found_f", np.float64)
found_sets, found_set_word, put_found_set_word = SHARED.cells(
    "found_sets", np.uint64
)  # categories that go left, and right in the exact engine
