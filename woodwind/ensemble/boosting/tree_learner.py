"""What boosting asks of whatever grows its trees: `HistogramLearner` and `ExactLearner` are such."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.losses.base import Loss
from woodwind.tree.grown_tree import GrownTree, ValuedTree

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
# As losses take them: float64 in regression; two classes in bytes, several as int32.
Targets = NDArray[np.float64] | NDArray[np.uint8] | NDArray[np.int32]


class TreeLearner(Protocol):
    """Rows with a target and weights, ready to grow trees from.

    An `output` is the column of the score that a tree is for; -1 for one tree that serves all of them.
    As many trees as it has workers may be grown at the same time, each by one thread; a tree that is for no worker (None) is grown by all
    threads.
    """

    n_rows: int
    outputs: int  # scores that one tree serves
    n_workers: int
    has_unseen: bool  # whether some row has a category that no split can name, so that it ends higher up than growth took it for

    def set_derivatives(self, loss: Loss, raw: Floats, weight: Floats | None) -> None:
        """Take the derivatives of all rows at these scores, times their weights; trees and sums are made from them until the next call.

        Hessians of classes have their factor in gains: see `hessian_factors`.
        """

    def grow(self, tree_key: int, rows: Rows | None, output: int, worker: int | None = None) -> GrownTree:
        """Grow a tree from the rows given, a row as often as it is given, or from all; `tree_key` is the key of all that is drawn.

        Where each row ended is kept until the next tree for that output.
        """

    def sums(self, leaf: NDArray[np.int32], n_nodes: int, rows: Rows | None, output: int) -> tuple[Floats, Floats]:
        """Gradients and hessians of the rows given, summed by the node `leaf` of each: (N,), or (N, K) for all outputs.

        To be asked for before a tree of one output is grown, which may use up what they are summed from.
        """

    def walk(self, tree: ValuedTree, out: NDArray[np.int32], threads: int) -> None:
        """Write the node of the tree where each row ends to `out`."""
