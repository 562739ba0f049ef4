"""Switches and sizes of the forest engine, and the words of a finished node, shared by its kernels and the Python around them.

Numbers here are baked into compiled code and into files: append, never renumber.
"""

# How a split is scored.
MOMENTS = 0  # squared error of a number; the Gini index of two classes orders splits the same way
CLASSES = 1  # by a criterion of classes, see `score.CRITERIA`
MEDIANS = 2  # absolute error of a number, see `medians`
SEVERAL = 3  # several targets at once, see `several`

# Codes of a missing value: the largest of its kind, so that it comes last.
COARSE_MISSING = 255
MISSING_CODE = 0x7FFFFFFF
LOW_HALF = 0xFFFFFFFF

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
# In nodes of at most so many rows every threshold is considered, in larger ones bins (two classes: in `LANES` rows, see
# `split_64_rows`); in all nodes of tables that are as small as this.
FEW_ROWS = 32
SMALL_TABLE = 1024
# Columns of an arena are so much further apart: at a distance of a power of two they would evict each other from the cache.
APART = 16
