"""Rows to leaves in one tree of a training, on the rows as they are coded."""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.codes import Codes
from woodwind.data.ranks import Ranks
from woodwind.kernels.predict.walk_codes import CodeTree, walk_codes
from woodwind.kernels.predict.walk_ranks import RankTree, walk_ranks
from woodwind.tree.assemble import ValuedTree
from woodwind.tree.exact_cuts import last_ranks


def walk_tree(tree: ValuedTree, rows: Codes | Ranks, out: NDArray[np.int32], threads: int = 1) -> None:
    """Write the node where each row ends to `out`."""
    if isinstance(rows, Codes):
        walk_on_codes(tree, rows, out, threads)
    else:
        walk_on_ranks(tree, rows, out, threads)


def walk_on_codes(tree: ValuedTree, codes: Codes, out: NDArray[np.int32], threads: int) -> None:
    """Rows as codes of bins."""
    code_tree = CodeTree(
        np.where(tree.feature < 0, -1, codes.places[tree.feature]).astype(np.int32),
        tree.bin.astype(np.uint8),
        tree.child,
        tree.missing,
        tree.set.astype(np.int32),
        tree.sets,
        codes.missing,
    )
    flat, steps = codes.by_row.reshape(-1), (codes.by_row.shape[1], 1)
    run_ranges(lambda begin, end: walk_codes(flat, steps, None, begin, end, code_tree, out), codes.n_rows, threads, 8)


def walk_on_ranks(tree: ValuedTree, ranks: Ranks, out: NDArray[np.int32], threads: int) -> None:
    """Rows as ranks, of the table that the tree was grown on or of another."""
    rank_tree = RankTree(tree.feature, last_ranks(tree, ranks), tree.child, tree.missing, tree.set, tree.sets)
    flat = ranks.by_column.reshape(-1)
    run_ranges(lambda begin, end: walk_ranks(flat, rank_tree, begin, end, out), ranks.n_rows, threads, 8)
