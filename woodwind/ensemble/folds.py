"""Boosting in folds: several boosters in step, each blind to its own fold, so that every row is judged by one that never saw it."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from woodwind.ensemble.boost import Booster, Round


def rounds_in_step(boosters: Sequence[Booster], held: Sequence[NDArray[np.int64]], count: int) -> Iterator[Round]:
    """Rounds without trees, whose scores are those that each row has from the booster that does not learn from it.

    `held` are the rows of each booster's fold. It ends with the first booster that ends.
    """
    pooled = boosters[0].raw.copy()
    for rounds in zip(*(booster.rounds(count) for booster in boosters), strict=False):
        for rows, finished in zip(held, rounds, strict=True):
            pooled[rows] = finished.raw[rows]
        yield Round(rounds[0].number, (), pooled)
