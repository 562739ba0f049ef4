"""Boosting in folds: several boosters in step, each blind to its own fold, so that every row is judged by one that never saw it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import side_by_side
from woodwind.ensemble.boost import Booster, Round
from woodwind.tree.assemble import ValuedTree


def rounds_in_step(
    boosters: Sequence[Booster],
    held: Sequence[NDArray[np.int64]],
    count: int,
    threads: int = 1,
    is_time: Callable[[], bool] = lambda: True,
) -> Iterator[Round]:
    """Rounds of all boosters together: the trees of the first, then of the second, and so on.

    The scores are those that each row has from the booster that does not learn from it. `held` are the rows of each
    booster's fold. It ends with the first booster that ends; and in the middle of a round, which is lost, where there is no time.
    """
    pooled = boosters[0].raw.copy()
    for rounds in in_step([booster.rounds(count) for booster in boosters], threads, is_time):
        for rows, finished in zip(held, rounds, strict=True):
            pooled[rows] = finished.raw[rows]
        yield Round(rounds[0].number, tuple(tree for finished in rounds for tree in finished.trees), pooled)


def in_step(running: Sequence[Iterator[Round]], threads: int, is_time: Callable[[], bool] = lambda: True) -> Iterator[list[Round]]:
    """The next round of each, until one has none. A booster is on one thread: a small tree is not worth two."""
    while True:
        found = side_by_side(lambda _side, rounds: next(rounds, None) if is_time() else None, running, min(threads, len(running)))
        rounds = [finished for finished in found if finished is not None]
        if len(rounds) < len(running):
            return
        yield rounds


def shares_of_mean(trees: Iterable[ValuedTree], members: int) -> tuple[ValuedTree, ...]:
    """Trees of one of several models whose scores are averaged: each adds its part of the mean."""
    return tuple(
        replace(tree, value=tree.value / members, low=tree.low / members, high=tree.high / members) for tree in trees
    )
