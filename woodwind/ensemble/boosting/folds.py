"""Boosting in folds: several boosters in step, each blind to its own fold, so that every row is scored by one that never saw it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import side_by_side
from woodwind.base.random_streams import key
from woodwind.ensemble.boosting.boost import Booster, BoostingRound
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.tree.grown_tree import ValuedTree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoostingFolds:
    """Boosters that are each blind to one fold."""

    held: list[NDArray[np.int64]]
    starts: list[Floats]
    boosters: list[Booster]

    @classmethod
    def of(
        cls, rows: TrainingRows | Sequence[TrainingRows], plan: BoostPlan, folds: NDArray[np.int64], ordered: bool = False
    ) -> "BoostingFolds":
        """One booster for each fold, with draws of its own; where folds are ordered, it learns from those before its own only.

        `rows` are those of all folds, or for each fold the same rows as its booster sees them.
        """
        numbers = np.unique(folds[folds >= 0]).tolist()
        learn = [np.flatnonzero(folds < fold if ordered else folds != fold).astype(np.int32) for fold in numbers]
        if isinstance(rows, TrainingRows):
            seen: Sequence[TrainingRows] = [rows.learned_from(some, number + 1) for number, some in enumerate(learn)]
        else:
            seen = rows
        starts = [own.start(plan.loss, some) for own, some in zip(seen, learn, strict=True)]
        # Several are side by side, on a thread each.
        threads = plan.threads if len(numbers) == 1 else 1
        plans = [replace(plan, seed=key(plan.seed, "fold", fold), threads=threads) for fold in numbers]
        boosters = [view.booster(own, view.raw(start), some) for view, own, start, some in zip(seen, plans, starts, learn, strict=True)]
        return cls([np.flatnonzero(folds == fold) for fold in numbers], starts, boosters)

    def mean(self, rows: NDArray[np.int64]) -> Floats:
        """Mean of the scores that all boosters give to some rows."""
        return sum((booster.raw[rows] for booster in self.boosters[1:]), self.boosters[0].raw[rows]) / len(self.boosters)


def rounds_in_step(
    boosters: Sequence[Booster],
    held: Sequence[NDArray[np.int64]],
    count: int,
    threads: int = 1,
    is_time: Callable[[], bool] = lambda: True,
) -> Iterator[BoostingRound]:
    """Rounds of all boosters together: the trees of the first, then of the second, and so on.

    The scores are those that each row has from the booster that does not learn from it. `held` are the rows of each
    booster's fold. It ends with the first booster that ends; and in the middle of a round, which is lost, where there is no time.
    """
    pooled = boosters[0].raw.copy()
    for rounds in in_step([booster.rounds(count) for booster in boosters], threads, is_time):
        for rows, finished in zip(held, rounds, strict=True):
            pooled[rows] = finished.raw[rows]
        yield BoostingRound(rounds[0].number, tuple(tree for finished in rounds for tree in finished.trees), pooled)


def in_step(
    running: Sequence[Iterator[BoostingRound]], threads: int, is_time: Callable[[], bool] = lambda: True
) -> Iterator[list[BoostingRound]]:
    """The next round of each, until one has none. A booster is on one thread: a small tree is not worth two."""
    while True:
        found = side_by_side(lambda _side, rounds: next(rounds, None) if is_time() else None, running, min(threads, len(running)))
        rounds = [finished for finished in found if finished is not None]
        if len(rounds) < len(running):
            return
        yield rounds


def trees_of_mean(trees: Iterable[ValuedTree], members: int) -> tuple[ValuedTree, ...]:
    """Trees of one of several models whose scores are averaged: each adds its part of the mean."""
    # A tree without linear leaves is divided, not multiplied by the inverse: models have the bits that they always had.
    parts = (replace(tree, value=tree.value / members, low=tree.low / members, high=tree.high / members) for tree in trees)
    return tuple(part if part.linear is None else replace(part, linear=part.linear.scaled(1.0 / members)) for part in parts)
