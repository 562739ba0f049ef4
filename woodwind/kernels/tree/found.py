"""The best split that some features have for a node, until it is compared with others and given to the node."""

from woodwind.kernels.tree import memory

COLUMNS, VALUES = memory.FOUND, memory.FOUND_VALUES

feature, set_feature = COLUMNS.column("feature")  # -1: there is none
bin, set_bin = COLUMNS.column("bin")  # noqa: A001
missing, set_missing = COLUMNS.column("missing")  # side of missing values

gain, set_gain = VALUES.column("gain")
left_value, set_left_value = VALUES.column("left_value")  # values of the children if they were leaves
right_value, set_right_value = VALUES.column("right_value")
