"""The finished tree, in the order of its own numbers: parents before children."""

from woodwind.kernels.histogram.memory import FINISHED, FINISHED_VALUES

feature, set_feature = FINISHED.column("feature")  # -1 at a leaf
bin, set_bin = FINISHED.column("bin")  # noqa: A001
child, set_child = FINISHED.column("child")  # the left one; 0 at a leaf
missing, set_missing = FINISHED.column("missing")
category_set, set_category_set = FINISHED.column("category_set")
begin, set_begin = FINISHED.column("begin")
end, set_end = FINISHED.column("end")

gain, set_gain = FINISHED_VALUES.column("gain")
low, set_low = FINISHED_VALUES.column("low")  # bounds of the value
high, set_high = FINISHED_VALUES.column("high")

WIDTH = FINISHED.width
VALUES_WIDTH = FINISHED_VALUES.width
