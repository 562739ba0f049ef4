"""How many there are of what, while a tree grows."""

from woodwind.kernels.tree import memory

COUNTERS = memory.CONTROL

n_nodes, set_n_nodes = COUNTERS.counter("n_nodes")
n_waiting, set_n_waiting = COUNTERS.counter("n_waiting")  # nodes in the queue
n_leaves, set_n_leaves = COUNTERS.counter("n_leaves")
n_sets, set_n_sets = COUNTERS.counter("n_sets")  # sets of categories
