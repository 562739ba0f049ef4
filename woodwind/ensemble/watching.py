"""Looking at rows while a model is trained: those held out, and some of those trained on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.data.codes import Codes
from woodwind.data.ranks import Ranks
from woodwind.ensemble.boost import Round
from woodwind.tree.assemble import ValuedTree
from woodwind.tree.walk import walk_tree

Floats = NDArray[np.float64]
Judge = Callable[[Floats], float]  # scores of some rows to a loss


@dataclass(frozen=True, eq=False)
class Inside:
    """Rows of the table that the booster has: their scores are among its own."""

    rows: NDArray[np.int64]
    judge: Judge

    def __call__(self, finished: Round) -> float:
        """Loss of the rows."""
        return self.judge(finished.raw[self.rows])


@dataclass(frozen=True, eq=False)
class Outside:
    """Rows of another table: trees are added to their scores as they come."""

    codes: Codes | Ranks
    raw: Floats
    judge: Judge
    threads: int = 1

    def __call__(self, finished: Round) -> float:
        """Loss of the rows, with the trees of the round."""
        add_trees(self.raw, finished.trees, self.codes, self.threads)
        return self.judge(self.raw)


@dataclass(frozen=True, eq=False)
class Watcher:
    """What is watched in every round."""

    train: Callable[[Round], float] | None = None
    valid: Callable[[Round], float] | None = None

    def __call__(self, finished: Round) -> tuple[float | None, float | None]:
        """Loss of training rows and of validation rows."""
        return self.train and self.train(finished), self.valid and self.valid(finished)


def add_trees(raw: Floats, trees: Iterable[ValuedTree], codes: Codes | Ranks, threads: int = 1) -> None:
    """Add what trees say about the rows of `codes` to their scores, in the order of the trees."""
    leaf: NDArray[np.int32] = np.empty(codes.n_rows, np.int32)
    for tree in trees:
        walk_tree(tree, codes, leaf, threads)
        if raw.ndim == 1:
            raw += tree.value[leaf, 0]
        elif tree.output >= 0:
            raw[:, tree.output] += tree.value[leaf, 0]
        else:
            raw += tree.value[leaf]
