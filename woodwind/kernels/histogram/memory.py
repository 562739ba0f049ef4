"""The memory that a tree is grown in, as kernels see it: one array of addresses.

A tree needs some thirty arrays while it grows. Handed from kernel to kernel one by one or as a tuple, they made the
compiler spend two minutes on passing arguments, and every call count thirty references. So Python keeps the arrays
(woodwind/tree/workspace.py) and hands over a directory, `growing`: address, rows and columns of each.
A kernel looks up what it needs: `nodes = ints(growing, NODE_I)`.
"""

FIELDS = 3  # address, rows, columns

# The table (woodwind.data.codes.Codes) and its limits.
BY_ROW = 0  # uint64[n * words], flat: eight codes to a word
BY_COLUMN = 1  # uint8[k, n]: columns that are kept in one piece
N_BINS = 2  # int64[F], flat
IS_CATEGORY = 3  # int64[F], flat
ALLOWED = 4  # int64[F], flat: 1 for features drawn for this tree
MONOTONIC = 5  # int64[F], flat: 1 increasing, -1 decreasing, 0 free
MEMBER = 6  # uint64[F, G]: interaction groups of a feature, as bits

# Rows.
ROWS = 7  # int64[2 * n], flat: two buffers of rows, each with its coarse statistics: see kernels/histogram/build_histograms.py
# Where no row comes twice, statistics are needed in one piece only until the rows are in the first buffer: they may stand in the second.
# What a row then loses of them stands in LEAF_OF_ROW until its leaf is known.
STATS = 8  # int64[n], flat: (g << 32) + h of every row, in 31-bit fixed point; where rows are not rounded int64[2 * n]: all g, then all h
LEAF_OF_ROW = 9  # int32[n], flat

# What the threads tell one another.
CONTROL = 10  # int64[64], flat
TASKS = 11  # int64[tasks, 6]: the work of one phase
ITEMS = 12  # int64[pairs, 6]: nodes to be judged, alone or as a pair of siblings
FOUND_F = 13  # float64[2 * tasks, 4]: outcome of judging: gain, value left, value right
FOUND_I = 14  # int64[2 * tasks, 4]: feature, bin, side of missing values
FOUND_SETS = 15  # uint64[2 * tasks, 4]: levels that go left

# Nodes.
NODE_I = 16  # int64[nodes, N_INTEGERS]
NODE_F = 17  # float64[nodes, N_FLOATS]
GROUPS = 18  # uint64[nodes, G]: interaction groups still possible below a node
SETS = 19  # uint64[nodes, 8]: levels that go left (4 words) and right (4 words)
HEAP = 20  # int64[nodes], flat: committed leaves that can be split, best first
OPENED = 21  # int64[nodes], flat: nodes that have a split and no children yet
BATCH = 22  # int64[batch], flat: nodes being split
GOES = 23  # uint8[batch, 256]: 1 for the codes that go left, for each node of the batch
CODES_MET = 24  # uint8[batch, 256]: codes that the rows of the node have
SEEN = 25  # uint8[tasks, 256]: the same for each block of rows
SUMS = 26  # int64[nodes, 3]: gradient, hessian and rows of each node of the finished tree, unrounded

# Histograms.
TABLES = 27  # int64[slots, cells]: packed
WIDE = 28  # int64[wide slots, 2 * cells]
PARTS = 29  # int64[parts, (2 *) cells]: histograms of parts of a node's rows
FREE = 30  # int64[slots + wide slots], flat: unused ones

# Scratch, for each thread.
SPARE = 31  # int64[threads, cells]
WORDS = 32  # uint64[threads, block]: codes brought together
VALUES = 33  # int64[threads, BLOCK_ROWS]: and their packed statistics
BINS = 34  # int64[threads * 8, 256]: occupied bins of a feature: see kernels/histogram/scan.py
CURVES = 35  # float64[threads * 8, 256]: running sums and gains after each bin
DRAWN = 36  # int64[threads, 2 * F]: features that a node may be split by

# The finished tree, in the order of its own numbers: parents before children.
TREE_I = 37  # int64[nodes, 8]: see kernels/histogram/loop.py
TREE_F = 38  # float64[nodes, 3]: gain, bounds of the value
CURVE_BITS = 39  # int64[threads * 8, 256]: the same memory as CURVES, as integers
LANES = 40  # int32[n, lanes]: statistics of every row where a tree has several outputs: see kernels/histogram/multi_output.py
LANE_VALUES = 41  # int32[threads, BLOCK_ROWS * lanes]: those of a block of rows

# Rows as lists, where most codes are their column's commonest one: see kernels/histogram/sparse_rows.py.
ENTRIES_AT = 42  # int64[n], flat: where the list of each row begins and how long it is
ENTRY_CELLS = 43  # uint16 or int32, flat: its cells
COMMONEST = 44  # int64[F], flat: the cell of the commonest code of each column
LANE_LIST = 45  # int32[n * lanes], flat: the same memory as LANES
QUICK_I = 46  # int32[threads * 3, 320]: cuts in 32 bits: see kernels/histogram/scan_float32.py
QUICK_F = 47  # float32[threads * 3, 320]: the same memory
# A feature's cells begin at its start, a code at start + code; its last cell is that of missing values.
STARTS = 48  # int64[F + 1], flat
ROW_NAMES = 49  # int32[n], flat: the number of each row outside, where rows are lists; see tree/row_lists.py
COLUMN_AT = 50  # int64[F], flat: where a column stands in BY_COLUMN; -1: it is read from the rows
ROW_CODES = 51  # uint8[n * 8 * words], flat: the same memory as BY_ROW
SIDES = 52  # uint8[capacity], flat: for each place of a row in a large node, 1 if it goes left
# How the codes of a row are added: see kernels/histogram/build_histograms.py and tree/shared_bytes.py.
STEPS = 53  # int64[steps, STEP_WIDTH]
STEPS_AT = 54  # int64[2, words + 1]: the steps of each word, column by column, and where bytes are shared
SHARED = 55  # int64[threads, shared bytes * 256]: their sums
SHARERS = 56  # int64[columns, 3]: see kernels/histogram/shared_bytes.py
SHARER_CODES = 57  # uint8[columns, 256]: the code that a column has for each value of its byte
PLACES = 58  # int64[F], flat: where in a row the code of each feature stands
UNROUNDED = 59  # int64[2, n]: gradients and hessians as histograms sum them, in the order of the table, where rows are not rounded
ENTRIES = 60

# Columns of STEPS.
STEP_COUNT = 0  # codes at a time: 8, 4, 2 or 1
STEP_SHARED = 1  # 1: they are shared bytes
STEP_SHIFT = 2  # where each of up to four stands in the word, in bits; eight are all of it
STEP_CELL = 6  # the first cell of each of up to eight
STEP_WIDTH = 14

# Columns of TREE_I and TREE_F.
TREE_FEATURE = 0  # -1 at a leaf
TREE_BIN = 1
TREE_CHILD = 2  # left child; 0 at a leaf
TREE_MISSING = 3
TREE_SET = 4
TREE_BEGIN = 5
TREE_END = 6
TREE_WIDTH = 7
TREE_GAIN = 0
TREE_LOW = 1
TREE_HIGH = 2
