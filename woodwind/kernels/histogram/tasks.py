"""The tasks of a phase: what threads take from each other's hands. Any thread may do any of them."""

from woodwind.kernels.histogram.memory import TASKS

# Kinds of phase.
PARTITION = 1  # partition the rows of a small node, or count those of a block of a large one
PLACE = 2  # bring the rows of that block to their places
BUILD = 3  # build a histogram
FIND = 4  # find the best splits of one node or two
RECOUNT = 5  # find them again, with rows counted
COLLECT = 6  # note the leaf of every row
FIND_SHARED = 7  # find one split for a whole level

what, set_what = TASKS.column("what")  # node, place in the batch, or pair
begin, set_begin = TASKS.column("begin")  # rows or features from here ...
end, set_end = TASKS.column("end")  # ... to here
out, set_out = TASKS.column("out")  # where the outcome goes, or the outcome itself
# No bounds. PARTITION: low is 1 where one task has the whole node, 0 for a block that is only counted. PLACE: the first places of rows that
# go left (low) and right (high). COLLECT: sums of gradient (low) and hessian (high).
low, set_low = TASKS.column("low")
high, set_high = TASKS.column("high")

row = TASKS.row
WIDTH = TASKS.width
