"""The three verbs for a block of rows, each callable alone from Python, row by row.

Only tests call them: what the driver over shards calls is in `shards`.

    build_histograms   sum the statistics of the rows of some nodes; histograms of blocks add up to those of all rows
    find_splits        find the best split of each of these nodes from its histogram
    partition_rows     send the rows of the block to the children

The numbers are those of the engine in memory, bit for bit: rows are rounded by the same functions, and splits are found by the same one.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.layout import WIDE2, Rule, added_value, with_stats
from woodwind.kernels.histogram.verbs import find_split
from woodwind.kernels.runtime.jit import kernel
from woodwind.kernels.runtime.records import Bytes, Tree
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import NOTHING


@kernel
def build_histograms(codes: Any, positions: Any, starts: Any, stats: Any, slots: Any, layouts: Any, out: Any) -> None:
    """Add the rows of a block to the histograms of their nodes: out int64[slots, 2 * cells], of which packed layouts take the first half.

    codes uint8[n, stride], the code of feature f at positions[f]; starts int64[F + 1]: the first cell of each feature; stats int64[n]:
    (g << 32) + h; slots int32[n]: the histogram of each row, -1 for none; layouts int64[slots].
    """
    n_features = len(positions)
    cells = starts[n_features]
    for row in range(len(slots)):
        slot = slots[row]
        if slot < 0:
            continue
        table = out[slot]
        packed_row = with_stats(row, stats[row])
        gradient = (packed_row << 32) >> 48
        hessian = packed_row & 0xFFFF
        for f in range(n_features):
            cell = min(starts[f] + np.int64(codes[row, positions[f]]), starts[f + 1] - 1)
            if layouts[slot] == WIDE2:
                table[cell] += gradient
                table[cells + cell] += hessian
            else:
                table[cell] += added_value(packed_row, layouts[slot], stats)


@kernel
def find_splits(tree: Tree, rule: Rule, nodes: Any) -> None:
    """Find the best split of each of the nodes int64[m]; that of nodes[k] is written to row k of what was found.

    The nodes and their histograms stand in the memory of the tree.
    """
    for k in range(len(nodes)):
        common.set_split_feature(tree, k, NOTHING)
        find_split(tree, rule, nodes[k], 0, rule.n_features, memory.spare(tree, 0)[:0], 0, k)


@kernel
def partition_rows(codes: Any, positions: Any, features: Any, goes_left: Bytes, children: Any, nodes: Any) -> None:
    """Send the rows of a block to the children of their nodes: nodes int32[n] is overwritten.

    codes and positions as above; of each node, features int32[m]: what it is split by, -1 for a leaf; goes_left uint8[m, 256]: 1 for the
    codes that go left; children int32[m]: the left child, the right one follows.
    """
    for row in range(len(nodes)):
        node = nodes[row]
        if node >= 0 and features[node] >= 0:
            code = codes[row, positions[features[node]]]
            nodes[row] = children[node] + 1 - np.int32(goes_left[node, code])
