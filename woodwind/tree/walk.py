"""Rows to leaves in one tree of a training, on the rows as they are coded."""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.binning.codes import Codes
from woodwind.kernels.predict import walk_codes as kernels
from woodwind.tree.grown_tree import ValuedTree


def walk_codes(tree: ValuedTree, codes: Codes, out: NDArray[np.int32], threads: int) -> None:
    """Write the node where each row ends to `out`."""
    code_tree = kernels.CodeTree(
        np.where(tree.feature < 0, -1, codes.places[tree.feature]).astype(np.int32),
        tree.bin.astype(np.uint8),
        tree.child,
        tree.missing,
        tree.set.astype(np.int32),
        tree.sets,
        codes.missing,
    )
    flat, steps = codes.by_row.reshape(-1), (codes.by_row.shape[1], 1)
    run_ranges(lambda begin, end: kernels.walk_codes(flat, steps, None, begin, end, code_tree, out), codes.n_rows, threads, 8)
