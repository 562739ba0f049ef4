"""Ground: what boosting grows its trees on. Derivatives of all rows go in; trees, and sums over the rows of their leaves, come out.

Boosting itself does not know how rows are coded or how derivatives become integers.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.losses.base import Loss
from woodwind.tree.grown_tree import GrownTree

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
# As losses take them: numbers; two classes in bytes, several as int32.
Targets = NDArray[np.float64] | NDArray[np.uint8] | NDArray[np.int32]


class Ground(Protocol):
    """Rows with a target and weights, ready to grow trees from.

    An `output` is the column of the score that a tree is for; -1 for one tree that serves all of them.
    As many trees as it has `sides` may be grown at the same time, each by one thread on a side of its own;
    a tree that is for no side (None) is grown by all threads.
    """

    sides: int

    def take_in(self, loss: Loss, raw: Floats) -> None:
        """Take the derivatives of all rows at these scores; trees and sums are made from them until the next call."""

    def grow(self, name: int, rows: Rows | None, output: int, side: int | None = None) -> GrownTree:
        """Grow a tree from the rows given, a row as often as it is given, or from all; `name` is the key of all that is drawn.

        Where each row ended is kept until the next tree for that output.
        """

    def sums(self, leaf: NDArray[np.int32], n_nodes: int, rows: Rows | None, output: int) -> tuple[Floats, Floats]:
        """Gradients and hessians of the rows given, summed by the node `leaf` of each: (N,), or (N, K) for all outputs.

        To be asked for before a tree of one output is grown, which may use up what they are summed from.
        """

    def thresholds(self, tree: GrownTree) -> Floats | None:
        """Where number splits cut; None where that is at the edges of bins."""


def forget_level(tree: GrownTree, unseen: int) -> None:
    """Take the code of levels that the schema does not know out of all sets: growth takes it for a level, but no model can name it."""
    if len(tree.sets):
        tree.sets[:, [unseen >> 6, 4 + (unseen >> 6)]] &= ~(np.uint64(1) << np.uint64(unseen & 63))
