"""Rounds that are written down as they come, so that a training that was killed goes on where it was.

The rounds that are there are not grown again: their trees are added to the scores, which gives the same bits. Whoever consumes rounds
(early stopping, watched rows, progress, callbacks) sees all of them, as if nothing had happened, and so ends where it would have ended.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from woodwind.ensemble.boosting.boost import Booster, BoostingRound
from woodwind.ensemble.boosting.early_stopping import add_trees
from woodwind.ensemble.boosting.histogram_learner import HistogramLearner
from woodwind.tree.grown_tree import ValuedTree

Rounds = tuple[tuple[ValuedTree, ...], ...]

SECONDS = 30.0  # between two writings


@dataclass(eq=False)
class RoundRecord:
    """Rounds that are there already, and who is told of all rounds now and then."""

    known: Rounds
    keep: Callable[[Rounds], None]
    seconds: float = field(default_factory=lambda: SECONDS)

    def rounds(self, booster: Booster, count: int) -> Iterator[BoostingRound]:
        """The first `count` rounds of a booster."""
        learner, done = booster.learner, list(self.known[:count])
        assert isinstance(learner, HistogramLearner)  # rows are in blocks
        for number, trees in enumerate(done):
            add_trees(booster.raw, trees, learner.codes, booster.plan.threads)
            yield BoostingRound(number, trees, booster.raw)
        kept, when = len(done), time.monotonic()
        try:
            for finished in booster.rounds(count - len(done), len(done)):
                done.append(finished.trees)
                if time.monotonic() - when >= self.seconds:
                    self.keep(tuple(done))
                    kept, when = len(done), time.monotonic()
                yield finished
        except KeyboardInterrupt:
            if len(done) > kept:
                self.keep(tuple(done))
            raise
