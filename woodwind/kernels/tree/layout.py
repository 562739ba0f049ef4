"""Shapes and switches shared by the kernels and the Python around them.

Numbers here are baked into compiled code and, later, into files: append, never renumber.
"""

# Where a missing value goes at a split; STOP: the split met none in training, the walk ends there.
LEFT = 0
RIGHT = 1
STOP = 2

NOTHING = -1  # no node, no feature, no set
NO_SPLIT = float("-inf")  # the gain of none

# A category split has two sets of bits, the categories that go left and those that go right: so many words of 64 bits each.
SET_WORDS = 4

# Order of growth.
BEST_FIRST = 0
LEVEL = 1
SYMMETRIC = 2
DEEP_FIRST = 3  # for trees without a limit of leaves, where the order changes nothing but speed
