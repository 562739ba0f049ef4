"""Whose splits are looked for: two siblings, or one node.

Of siblings the histogram of the smaller is summed, and that of the larger is the parent's minus it.
"""

from typing import Any

from woodwind.kernels.histogram.memory import PAIRS
from woodwind.kernels.runtime.jit import inlined
from woodwind.kernels.runtime.records import Tree

small, set_small = PAIRS.column("small")
large, set_large = PAIRS.column("large")  # -1 for none
parent_slot, set_parent_slot = PAIRS.column("parent_slot")  # of the parent's histogram
parent_layout, set_parent_layout = PAIRS.column("parent_layout")
first_part, set_first_part = PAIRS.column("first_part")  # of the smaller one's histogram, if it was summed in parts
n_parts, set_n_parts = PAIRS.column("n_parts")

WIDTH = PAIRS.width


@inlined
def node(tree: Tree, pair: int, which: int) -> Any:
    """The smaller (0) or the larger (1)."""
    return small(tree, pair) if which == 0 else large(tree, pair)
