"""Shapes and switches shared by the kernels and the Python around them.

Numbers here are baked into compiled code and, later, into files: append, never renumber.
"""

# Where a missing value goes at a split; STOP: the split met none in training, the walk ends there.
LEFT = 0
RIGHT = 1
STOP = 2

# Order of growth.
BEST_FIRST = 0
LEVEL = 1
SYMMETRIC = 2

# Columns of the node table while a tree grows: integers ...
N_PARENT = 0
N_CHILD = 1  # the left child; the right one follows; -1 while there are none
N_DEPTH = 2
N_BEGIN = 3  # rows of the node: buffer[N_BUFFER][N_BEGIN:N_END]
N_END = 4
N_BUFFER = 5
N_SLOT = 6  # its histogram, -1 for none
N_LAYOUT = 7
N_FEATURE = 8  # its best split, -1 for none
N_BIN = 9  # number split: left when code <= bin; category split: how many levels of the order go left
N_MISSING = 10  # LEFT, RIGHT, and after the rows were split STOP if none was missing
N_SET = 11  # category split: row of the table of sets, -1 otherwise
N_FINAL = 12  # number in the finished tree, -1 while not committed
N_KEY = 13  # names the node by its path from the root: randomness does not depend on the order of work
N_INTEGERS = 14

# ... and floats.
F_GAIN = 0
F_PRIORITY = 1  # the least gain on the path from the committed tree: decides what is prepared next
F_LOW = 2  # bounds of the value, from monotonic constraints
F_HIGH = 3
F_LEFT = 4  # values of the children if they were leaves
F_RIGHT = 5
N_FLOATS = 6
