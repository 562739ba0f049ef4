"""Recipe: a member that may be trained, by name; and Family: those who can train such members."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import Clock
from woodwind.auto.members.tree_members import Member
from woodwind.auto.training.training_set import TrainingSet

Floats = NDArray[np.float64]

# The number of what is trained on all rows, where folds have numbers from 0 on.
ALL_ROWS = -1
# How the note of a fit begins that the clock has ended before its time.
OUT_OF_TIME = "out of time"


@dataclass(frozen=True)
class Recipe:
    """One member of a portfolio."""

    name: str
    family: str
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0  # tells apart members that differ in nothing else
    # It is for tables whose column of most categories has so many, and passed over for others.
    least_categories: int = 0
    most_categories: float = math.inf

    def is_for(self, categories: int) -> bool:
        """Whether it is for a table whose column of most categories has so many."""
        return self.least_categories <= categories <= self.most_categories


@dataclass(frozen=True, eq=False)
class TrainedFold:
    """What one fold of a member has given."""

    fold: int  # or ALL_ROWS
    predicted: Floats | None  # (rows of the fold, any): of rows that it has not been trained on
    model: Any  # what the member is made of; anything that the model file can hold
    seconds: float
    curve: dict[str, list[float]] = field(default_factory=dict)  # losses by round
    note: str = ""
    learning_rate: float | None = None  # of boosting, where it may be another than that of the recipe


class TrainedMember(NamedTuple):
    """A finished member."""

    member: Member
    scores: Floats  # (n, width) out of fold; NaN for rows that are never held out


class Family(Protocol):
    """Trains members of one kind."""

    gives_scores: bool  # whether folds say scores; else `finish` makes them of what they say
    can_hurry: bool  # whether a member of a table without folds is trained in a part of the usual time where there is no more

    def needs_all_rows(self, training_set: TrainingSet) -> bool:
        """Whether one more is trained, on all rows."""

    def fits(self, training_set: TrainingSet, recipe: Recipe, clock: Clock, have: Sequence[TrainedFold]) -> Iterator[TrainedFold]:
        """Fits of the folds that are not there yet, as they are done; it may end early when the clock has run out."""

    def finish(self, training_set: TrainingSet, recipe: Recipe, fits: Sequence[TrainedFold]) -> TrainedMember:
        """The member of all its fits."""

    def train_without(self, training_set: TrainingSet, recipe: Recipe, like: TrainedFold, clock: Clock, until: float) -> Floats | None:
        """What one more model, trained as `like` was, predicts for the rows of the only fold; None where it is not done until then, or
        where the member is not the mean of the models of folds.
        """


def is_whole(fits: Sequence[TrainedFold], training_set: TrainingSet) -> bool:
    """Whether every fold was asked about its rows."""
    return {fit.fold for fit in fits if fit.predicted is not None} == set(range(training_set.n_folds))


def gathered(training_set: TrainingSet, fits: Sequence[TrainedFold]) -> Floats:
    """What was predicted for the rows out of fold, (n, any); NaN for rows that were never held out."""
    predicted = [fit for fit in fits if fit.predicted is not None]
    assert predicted[0].predicted is not None
    out = np.full((training_set.n_rows, predicted[0].predicted.shape[1]), np.nan)
    for fit in predicted:
        out[training_set.held(fit.fold)] = fit.predicted
    return out
