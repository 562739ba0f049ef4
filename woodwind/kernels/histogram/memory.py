"""The memory that a tree is grown in by the histogram engine: every array, and the functions by which kernels reach it.

Python makes the arrays (`woodwind/tree/workspace.py`) and hands kernels one array of addresses, which they call `tree`:
see `woodwind/kernels/runtime/records.py`. Nodes, the queue and constraints stand in `woodwind/kernels/tree`.
"""

import numpy as np

from woodwind.kernels.runtime.records import Layout
from woodwind.kernels.tree import nodes
from woodwind.kernels.tree.memory import COMMON, CONTROL

LAYOUT = Layout(COMMON)

# The table (woodwind.data.binning.codes.Codes) and its limits.
row_words = LAYOUT.array("by_row", np.uint64)  # uint64[n * words]: eight codes to a word
row_codes = LAYOUT.array("row_codes", np.uint8)  # uint8[n * 8 * words]: the same memory
columns, column = LAYOUT.matrix("by_column", np.uint8)  # uint8[k, n]: columns that are kept in one piece
_, column_position = LAYOUT.list("column_at", np.int64)  # int64[F]: position of a column among these; -1: it is read from the rows
code_positions, code_position = LAYOUT.list("code_positions", np.int64)  # int64[F]: where in a row the code of each feature stands
all_n_bins, n_bins = LAYOUT.list("n_bins", np.int64)  # int64[F]
_, is_allowed = LAYOUT.list("allowed", np.int64)  # int64[F]: 1 for features drawn for this tree
# A feature's cells begin at its start, a code at start + code; its last cell is that of missing values.
starts, start = LAYOUT.list("starts", np.int64)  # int64[F + 1]

# Rows.
# Two buffers of rows, each row with its coarse statistics: see `build_histograms`.
rows, rows_of_buffer = LAYOUT.parts("rows", np.int64)  # int64[2 * n]; (tree, buffer, capacity)
# Where no row comes twice, statistics are needed in one piece only until the rows are in the first buffer: they may stand in the second.
# What a row then loses of them stands in `leaf_of_row` until its leaf is known.
# int64[n]: (g << 32) + h of every row, in 31-bit fixed point; where rows are not rounded int64[2 * n]: all g, then all h
row_stats = LAYOUT.array("stats", np.int64)
leaf_of_row = LAYOUT.array("leaf_of_row", np.int32)  # int32[n]
# int64[2, n]: gradients and hessians as histograms sum them, in the order of the table, where rows are not rounded
_, unrounded = LAYOUT.matrix("unrounded", np.int64)
rows_going_left = LAYOUT.array("rows_going_left", np.uint8)  # uint8[capacity]: in large nodes, 1 for each row that goes left

# Rows as lists, where most codes are their column's commonest one: see `sparse_rows`.
entries_at = LAYOUT.array("entries_at", np.int64)  # int64[n]: where the list of each row begins and how long it is
entry_cells = LAYOUT.array("entry_cells", np.int32)  # int32 or uint16: its cells
short_entry_cells = LAYOUT.seen_as("entry_cells", np.uint16)[0]
commonest_cells = LAYOUT.array("commonest", np.int64)  # int64[F]: the cell of the commonest code of each column
row_numbers = LAYOUT.array("row_numbers", np.int32)  # int32[n]: the number that callers know each row by

# The stored cells of a sparse table by column: see `partition_rows`.
_, stored_at = LAYOUT.list("stored_at", np.int64)  # int64[F + 1]: where the cells of each column begin
stored_rows = LAYOUT.array("stored_rows", np.int32)  # int32[m]: their rows, ascending
stored_codes = LAYOUT.array("stored_codes", np.uint8)  # uint8[m]: and their codes
_, absent_code = LAYOUT.list("absent_codes", np.uint8)  # uint8[F]: the code of all other cells of a column
_, column_room = LAYOUT.matrix("column_room", np.uint8)  # uint8[threads, n]: the codes of the rows of one node in one column

# Several outputs: see `multi_output`.
lane_rows = LAYOUT.matrix("lanes", np.int32)[0]  # int32[n, lanes]: statistics of every row
flat_lanes = LAYOUT.array("lane_list", np.int32)  # int32[n * lanes]: the same memory
_, block_lanes = LAYOUT.matrix("lane_values", np.int32)  # int32[threads, BLOCK_ROWS * lanes]: those of a block of rows

# Nodes: columns behind those of all engines.
_NODES = nodes.COLUMNS.going_on()
parent, set_parent = _NODES.column("parent")
buffer, set_buffer = _NODES.column("buffer")  # its rows are rows_of_buffer(tree, buffer, capacity)[begin:end]
slot, set_slot = _NODES.column("slot")  # of its histogram, -1 for none
layout, set_layout = _NODES.column("layout")  # of its histogram
NODE_INTEGERS = _NODES.width
SLOT, LAYOUT_OF_NODE = _NODES.at["slot"], _NODES.at["layout"]  # for Python
_, open_node, set_open_node = LAYOUT.items("opened", np.int64)  # int64[nodes]: nodes that have a split and no children yet

# The batch: nodes whose rows are being partitioned.
batch, batch_node, set_batch_node = LAYOUT.items("batch", np.int64)  # int64[batch]
_, rows_left, set_rows_left = LAYOUT.items("rows_left", np.int64)  # int64[batch]: how many rows go left
all_goes_left, goes_left, set_goes_left = LAYOUT.cells("goes", np.uint8)  # uint8[batch, 256]: 1 for the codes that go left
all_codes_met, is_met, set_is_met = LAYOUT.cells("codes_met", np.uint8)  # uint8[batch, 256]: 1 for codes that the rows have
all_seen, is_seen, _ = LAYOUT.cells("seen", np.uint8)  # uint8[tasks, 256]: the same for each block of rows

# Histograms.
histograms = LAYOUT.matrix("tables", np.int64)[0]  # int64[slots, cells]: packed
lane_histogram = LAYOUT.seen_as("tables", np.int32)[1]  # int32[slots, cells * lanes]
wide_histograms = LAYOUT.matrix("wide", np.int64)[0]  # int64[wide slots, 2 * cells]
histogram_in = LAYOUT.row_of_either("tables", "wide", np.int64)  # (tree, whether it is wide, slot)
partial_histograms, partial_histogram = LAYOUT.matrix("parts", np.int64)  # int64[parts, (2 *) cells]: of parts of a node's rows
partial_lane_histogram = LAYOUT.seen_as("parts", np.int32)[1]
_, free_slot, set_free_slot = LAYOUT.items("free", np.int64)  # int64[slots + wide slots]

# How the codes of a row are added: see `build_histograms` and woodwind/tree/code_layouts.py.
steps = LAYOUT.matrix("steps", np.int64)[0]  # int64[steps, STEP_WIDTH]
# int64[2, words + 1]: the steps of each word, column by column, and where bytes are shared
steps_at = LAYOUT.matrix("steps_at", np.int64)[0]
_, shared_sums = LAYOUT.matrix("shared", np.int64)  # int64[threads, shared bytes * 256]: their sums
sharers = LAYOUT.matrix("sharers", np.int64)[0]  # int64[columns, 3]: see `S_AT` in `build_histograms`
bundle_cells = LAYOUT.array("bundle_cells", np.int64)  # int64[256 * bundles]: the cell that each value of a bundle stands for, or -1
sharer_codes = LAYOUT.matrix("sharer_codes", np.uint8)[0]  # uint8[columns, 256]: the code that a column has for each value of its byte

# Scratch, for each thread.
_, spare = LAYOUT.matrix("spare", np.int64)  # int64[threads, cells]
_, block_words = LAYOUT.matrix("words", np.uint64)  # uint64[threads, block]: codes brought together
_, block_values = LAYOUT.matrix("values", np.int64)  # int64[threads, BLOCK_ROWS]: and their packed statistics
all_bins, bins_cell, set_bins_cell = LAYOUT.cells("bins", np.int64)  # int64[threads * 8, 256]: occupied bins of a feature: see `scan`
all_curves, _, set_curves_cell = LAYOUT.cells("curves", np.float64)  # float64[threads * 8, 256]: running sums and gains after each bin
_, curve_bits = LAYOUT.matrix("curve_bits", np.int64)  # the same memory, as integers
_, quick_integers = LAYOUT.matrix("quick_i", np.int32)  # int32[threads * 3, 320]: cuts in 32 bits: see `scan`
_, quick_floats = LAYOUT.matrix("quick_f", np.float32)  # the same memory
all_drawn, drawn, _ = LAYOUT.cells("drawn", np.int64)  # int64[threads, 2 * F]: features that a node may be split by

# Counters behind those of all engines.
_COUNTERS = CONTROL.going_on()
n_open, set_n_open = _COUNTERS.counter("n_open")  # open nodes
n_free, set_n_free = _COUNTERS.counter("n_free")  # free slots ...
n_free_wide, set_n_free_wide = _COUNTERS.counter("n_free_wide")  # ... of wide histograms
n_committed, set_n_committed = _COUNTERS.counter("n_committed")  # nodes of the committed tree
n_prepared, set_n_prepared = _COUNTERS.counter("n_prepared")  # nodes prepared but not committed so far
state, set_state = _COUNTERS.counter("state")  # what was done last: see `loop`
batch_size, set_batch_size = _COUNTERS.counter("batch_size")
n_pairs, set_n_pairs = _COUNTERS.counter("n_pairs")
n_blocks, set_n_blocks = _COUNTERS.counter("n_blocks")  # blocks of features that the splits of a pair are found in
n_tasks, set_n_tasks = _COUNTERS.counter("n_tasks")
n_recounted, set_n_recounted = _COUNTERS.counter("n_recounted")
COMMITTED = _COUNTERS.at["n_committed"]

# Columns of `steps`.
STEP_COUNT = 0  # codes at a time: 8, 4, 2 or 1
STEP_SHARED = 1  # 1: they are shared bytes
STEP_SHIFT = 2  # where each of up to four stands in the word, in bits; eight are all of it
STEP_CELL = 6  # the first cell of each of up to eight
STEP_WIDTH = 14

# The tasks of a phase: what threads take from each other's hands. Any thread may do any of them. Four of the six columns mean something
# else in every kind of phase (`loop` has the kinds), and have a name for each meaning.
TASKS = LAYOUT.table("tasks", np.int64)
task_what, set_task_what = TASKS.column("what")
task_node = task_what  # BUILD, RECOUNT, COLLECT: a node
task_position = task_what  # PARTITION, PLACE: the position of a node in the batch
task_pair = task_what  # FIND: a pair
task_begin, set_task_begin = TASKS.column("begin")  # rows, or in FIND, RECOUNT and FIND_LEVEL features, from here ...
task_end, set_task_end = TASKS.column("end")  # ... to here
task_out, set_task_out = TASKS.column("out")
task_part, set_task_part = task_out, set_task_out  # BUILD, RECOUNT: the partial histogram that is filled; -1: that of the node
task_n_left, set_task_n_left = task_out, set_task_out  # PARTITION: how many of the rows go left
task_leaf, set_task_leaf = task_out, set_task_out  # COLLECT: the number of the leaf in the finished tree
task_low, set_task_low = TASKS.column("low")
task_is_whole, set_task_is_whole = task_low, set_task_low  # PARTITION: 1 where one task has the whole node, 0 for a block, only counted
task_left_at, set_task_left_at = task_low, set_task_low  # PLACE: where the rows of the block go that belong left ...
task_gradient, set_task_gradient = task_low, set_task_low  # COLLECT: sum of the gradients ...
task_high, set_task_high = TASKS.column("high")
task_right_at, set_task_right_at = task_high, set_task_high  # PLACE: ... and those that belong right
task_hessian, set_task_hessian = task_high, set_task_high  # COLLECT: ... and of the hessians

# Whose splits are looked for: two siblings, or one node. Of siblings the histogram of the smaller is summed, and that of the larger is the
# parent's minus it.
PAIRS = LAYOUT.table("pairs", np.int64)
pair_small, set_pair_small = PAIRS.column("small")
pair_large, set_pair_large = PAIRS.column("large")  # -1 for none
pair_parent_slot, set_pair_parent_slot = PAIRS.column("parent_slot")  # of the parent's histogram
pair_parent_layout, set_pair_parent_layout = PAIRS.column("parent_layout")
pair_first_part, set_pair_first_part = PAIRS.column("first_part")  # of the smaller one's histogram, if it was summed in parts
pair_n_parts, set_pair_n_parts = PAIRS.column("n_parts")

# The finished tree, in the order of its own numbers: parents before children.
FINISHED = LAYOUT.table("finished_i", np.int64)
finished_feature, set_finished_feature = FINISHED.column("feature")  # -1 at a leaf
finished_bin, set_finished_bin = FINISHED.column("bin")
finished_child, set_finished_child = FINISHED.column("child")  # the left one; 0 at a leaf
finished_missing, set_finished_missing = FINISHED.column("missing")
finished_set, set_finished_set = FINISHED.column("category_set")
finished_begin, set_finished_begin = FINISHED.column("begin")
finished_end, set_finished_end = FINISHED.column("end")
FINISHED_VALUES = LAYOUT.table("finished_f", np.float64)
finished_gain, set_finished_gain = FINISHED_VALUES.column("gain")
finished_low, set_finished_low = FINISHED_VALUES.column("low")  # bounds of the value
finished_high, set_finished_high = FINISHED_VALUES.column("high")
_, sum_of, set_sum_of = LAYOUT.cells("sums", np.int64)  # int64[nodes, 3]: gradient, hessian and rows of each finished node, unrounded
