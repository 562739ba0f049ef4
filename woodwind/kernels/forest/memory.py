"""What the kernels that grow forests share with the Python around them: switches, the directory of arrays, and the rule.

As in `growing.py`, kernels are handed one array of addresses. Numbers here are baked into compiled code: append, never renumber.
"""

# How a split is judged.
MOMENTS = 0  # squared error of a number; the Gini index of two classes orders splits the same way
GINI = 1
ENTROPY = 2

# Codes of a missing value: the largest of its kind, so that it comes last.
COARSE_MISSING = 255
MISSING_CODE = 0x7FFFFFFF
LOW_HALF = 0xFFFFFFFF

# The table (woodwind.data.grades.Grades).
COARSE = 0  # uint8[F, n]: bins
FINE = 1  # int32[n * stride], flat: ranks or levels, row after row
CATEGORY = 2  # int64[F], flat: 1 for categories
SPAN = 3  # int64[2 F, 256]: first and last rank of every bin
VALUES = 4  # float64[1, all]: the numbers that ranks stand for, feature after feature
VALUES_AT = 5  # int64[F + 1], flat

# Rows: of the table ...
TARGET = 6  # int64[n], flat: fixed-point target times the weight of one row; or the class
WEIGHT = 7  # int64[n], flat: weight of one row
REAL = 8  # float64[2, n]: target and weight as they came, for the values of leaves
# ... and of the tree.
TIMES = 9  # int32[n], flat: how often a row is in the tree
PAIR = 10  # int64[2 n], flat: times * target, or the class; then (times << 32) + times * weight
CODE_COLUMNS = 11  # int32[F * n], flat: FINE, column after column; for random cuts only
ROWS = 12  # int32[n], flat: rows of every node, ascending
PLACES = 13  # int32[n], flat: the same as places of the arena, where a node is in it
SPARE = 14  # int32[n], flat

# The arena: the rows of one subtree, numbered from 0, column after column. Room for A rows.
A_CODE = 15  # int32[F * A], flat: codes of the places, by R_ALONG and R_ACROSS
A_RAW = 16  # float64[1, F * A]: numbers of the places, for random cuts
A_PAIR = 17  # int64[2 A], flat
FETCHED = 18  # int64[2, F / LINE + 1]: number of the arena that codes or numbers, and bins, were copied for
KEYS = 19  # int64[2, A]: rows of a node that are put in order
COUNTS = 20  # int32[max(A, 256) + 1], flat: how many of them there are of a kind
NODE_PAIR = 21  # int64[2, n]: the two numbers of PAIR, for the rows of a node in the order in which they stand
RAW_ROWS = 22  # float64[1, n * stride]: the numbers themselves, NaN for missing ones; for random cuts only
WAYS = 23  # uint8[1, n]: 1 for rows of a node that go left

# Judging.
ITEMS = 24  # int64[3 * most], flat: code, sum or class, and both, in the order of codes
CELLS = 25  # int64[256 * max(K, 2)], flat: sums of bins or levels: (sum, both), or both for each class
LEVEL_ORDER = 26  # int64[1, 256]
LEVEL_KEYS = 27  # float64[1, 256]
SIDES = 28  # int64[2, K]: weights of the classes, of the node and of the left side
LOGS = 29  # int64[m], flat: x log2 x in fixed point, see `grove_score.worth`; empty for other criteria
DRAWN = 30  # int32[3 F], flat: features, what was swapped, and the features of the node, ascending
BEST = 31  # int64[8], flat
BEST_F = 32  # float64[1, 4]
BEST_SET = 33  # uint64[2, 8]: levels that go left and right: of the candidate, and of the best
CONTROL = 34  # int64[16], flat

# Nodes while they grow.
NODE_I = 35  # int64[nodes, 16]
NODE_F = 36  # float64[nodes, 2]
SETS = 37  # uint64[nodes, 8]
HEAP = 38  # int64[2 nodes], flat

# The finished tree (woodwind.tree.grove.Grove).
OUT_NODES = 39  # uint64[2 nodes], flat
CURVE = 40  # float64[3, most]: scores of cuts, or the numbers of a node
OUT_GAIN = 41  # float64[1, nodes]
OUT_VALUE = 42  # float64[leaves, L]: mean of the targets, or weight of each class
OUT_COVER = 43  # float64[1, leaves]
OUT_SPAN = 44  # int64[leaves + 1], flat: where the rows of a leaf begin in ROWS
COARSE_ROWS = 45  # uint8[1, n * stride]: COARSE, row after row
A_COARSE = 46  # uint8[1, F * A]: bins of the places
LANE_ROWS = 47  # int32[3 * 64], flat: codes of the rows of a small node, (second class << 16) + times of each, and sums of these
ENTRIES = 48

# Columns of NODE_I.
BEGIN = 0
END = 1
DEPTH = 2
KEY = 3  # names the node by its path from the root
FEATURE = 4  # -1: a leaf
LOW = 5  # last rank of the node that goes left
MISSING = 6  # where missing values go: LEFT, RIGHT, or STOP if the node met none
SET = 7  # row of SETS; -1 for numbers
CHILD = 8  # the left one; the right one follows
BIN = 9  # last bin that goes left; -1 where the split was found among ranks
SELF = 10  # its own number
SUM = 11  # of its rows
BOTH = 12
LEFT_SUM = 13  # of those that go left
LEFT_BOTH = 14
HIGH = 15  # first rank that goes right; MISSING_CODE for none
NODE_INTEGERS = 16
# Columns of NODE_F.
GAIN = 0
CUT = 1  # threshold: left when x <= cut
NODE_FLOATS = 2

# BEST: the candidate found in one feature goes to BEST_F and BEST too.
B_FEATURE = 0
B_LOW = 1
B_MISSING = 2
B_IS_SET = 3
B_BIN = 4
B_HIGH = 5  # first rank that goes right; MISSING_CODE for none
B_SUM = 6  # of the rows that go left
B_BOTH = 7
# BEST_F.
BF_SCORE = 0
BF_CUT = 1
BF_MIN_GAIN = 2  # of a split, in units of the criterion; set before

# CONTROL.
C_NODES = 0
C_ARENA = 1  # number of the present arena
C_FIRST = 2  # its first and last place in ROWS
C_LAST = 3
C_INNER = 4  # of the finished tree
C_LEAVES = 5
C_SETS = 6
C_ROWS = 7  # different rows of the tree

# The first word of a finished node: a reference in the low 32 bits, the feature in the next 24, then flags.
FEATURE_SHIFT = 32
FEATURE_MASK = 0xFFFFFF
MISSING_SHIFT = 56  # two bits
CATEGORY_SHIFT = 58
LEFT_LEAF_SHIFT = 59
RIGHT_LEAF_SHIFT = 60

# Codes of a row that are fetched together: a line of the cache.
LINE = 16

# Subtrees of at most so many rows have a copy of their own, which fits into the cache of a core.
ARENA = 4096
# Nodes of at most so many rows are judged by every threshold, larger ones by bins (two classes: `LANES` rows, which
# `grove_lanes.py` judges); all nodes of tables that are as small as this.
FEW_ROWS = 32
SMALL_TABLE = 1024
# Columns of an arena are so much further apart: at a distance of a power of two they would evict each other from the cache.
APART = 16

# Behind the addresses: the numbers that judge a split and end the growth. They are read from memory where they are needed, because a
# tuple of so many would be copied in every call.
RULE = 3 * ENTRIES
R_N_ROWS = RULE + 0
R_N_FEATURES = RULE + 1
R_STRIDE = RULE + 2  # of FINE, RAW_ROWS and COARSE_ROWS
R_ROOM = RULE + 3  # A: rows of the largest arena, and what keeps columns apart
R_MOST = RULE + 4  # room for items
R_LIMIT = RULE + 5  # nodes of at most so many rows go to an arena
R_CRITERION = RULE + 6
R_N_CLASSES = RULE + 7  # 0 for numbers
R_RANDOM_CUTS = RULE + 8  # one random threshold for each feature, instead of the best
R_BEST_FIRST = RULE + 9
R_MAX_LEAVES = RULE + 10
R_MAX_DEPTH = RULE + 11
R_MIN_SPLIT = RULE + 12
R_MIN_ROWS = RULE + 13
R_MIN_WEIGHT = RULE + 14
R_PLAIN = RULE + 15  # no limits but one row, so that every cut is allowed
R_N_CANDIDATES = RULE + 16
R_KEY = RULE + 17
R_EXACT = RULE + 18  # nodes of at most so many rows, all of them in arenas, are judged by every threshold
R_LEVELS = RULE + 19  # there are categories
R_COUNTED = RULE + 20  # two classes, and every row weighs one: sums are counts
R_TOGETHER = RULE + 21  # few rows are judged by all features at once
R_PACKED = RULE + 22  # such rows, and no categories: a row is one word, see `grove_order.pack`
R_ALONG = RULE + 23  # A_CODE: from one place to the next, and from one feature to the next
R_ACROSS = RULE + 24
RULE_NUMBERS = 25
