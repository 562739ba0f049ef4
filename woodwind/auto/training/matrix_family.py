"""Members that learn from a matrix of numbers, fold by fold: linear models, neighbours, nets. Who trains them is given from outside."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import Clock, OutOfTimeError
from woodwind.auto.members.tree_members import MeanMember, Member
from woodwind.auto.training.recipe import ALL_ROWS, Recipe, TrainedFold, TrainedMember, gathered
from woodwind.auto.training.training_set import TrainingSet
from woodwind.base.random_streams import key
from woodwind.ensemble.bag import in_order

Floats = NDArray[np.float64]

# What a member may take of the time that is left when it begins.
MOST_OF_THE_REST = 0.35
# Seconds for a value of the matrix before anything is trained on it: it is made once, and copied for every fold.
PER_VALUE = 1e-7


class MatrixTrainer(Protocol):
    """Trains a member on a matrix; it keeps within the seconds that are left, and raises OutOfTimeError where they are too few."""

    def __call__(self, matrix: Floats, y: NDArray[Any], weight: Floats | None, n_classes: int, seed: int, deadline: Any) -> Member:
        """The member; without classes it is for regression. `deadline()` gives the seconds that are left."""


class MatrixFamily:
    """A family of members on a matrix.

    The member is the mean of those of all folds; or, where it is little more than its rows, one of all rows.
    """

    gives_scores = True
    can_hurry = False

    def __init__(self, trainer: MatrixTrainer, is_its_rows: bool = False) -> None:
        self.trainer, self.is_its_rows = trainer, is_its_rows

    def needs_all_rows(self, training_set: TrainingSet) -> bool:
        """Where it is little more than its rows; and in time order, where no fold has learned the latest ones."""
        return self.is_its_rows or training_set.ordered

    def fits(self, training_set: TrainingSet, recipe: Recipe, clock: Clock, have: Sequence[TrainedFold]) -> Iterator[TrainedFold]:
        """Some folds side by side, handed on in their order."""
        end = clock.spent + MOST_OF_THE_REST * clock.left_for_training
        wanted = (*range(training_set.n_folds), *([ALL_ROWS] if self.needs_all_rows(training_set) else []))
        missing = [fold for fold in wanted if not _is_there(fold, have)]
        sides = min(training_set.threads, len(missing))
        if PER_VALUE * training_set.n_rows * training_set.form.width > end - clock.spent:
            return
        _ = training_set.view.matrix  # made once, before others ask for it

        def fit(position: int) -> TrainedFold | None:
            if clock.left_for_training <= 0.0 or clock.spent >= end:
                return None
            # Each of those to come has the same share of what is left.
            turns = -(-(len(missing) - position) // sides)
            try:
                return self._fit(training_set, recipe, clock, missing[position], clock.spent + (end - clock.spent) / turns)
            except OutOfTimeError:
                return None

        for found in in_order(fit, range(len(missing)), sides):
            if found is None:
                return
            yield found

    def _fit(self, training_set: TrainingSet, recipe: Recipe, clock: Clock, fold: int, until: float) -> TrainedFold:
        began = time.perf_counter()
        rows = np.arange(training_set.n_rows) if fold == ALL_ROWS else training_set.train_rows(fold)
        weight = None if training_set.weight is None else training_set.weight[rows]
        seed = key(training_set.seed, "member", recipe.name, recipe.seed, fold) % (1 << 31)

        def left() -> float:
            return 0.0 if clock.stopped else until - clock.spent

        member = self.trainer(training_set.view.matrix[rows], training_set.y[rows], weight, training_set.n_classes, seed, left)
        predicted = None if fold == ALL_ROWS else member.scores(training_set.matrix_rows(training_set.held(fold)), training_set.threads)
        kept = None if self.needs_all_rows(training_set) and fold != ALL_ROWS else member
        return TrainedFold(fold, predicted, kept, time.perf_counter() - began)

    def finish(self, training_set: TrainingSet, recipe: Recipe, fits: Sequence[TrainedFold]) -> TrainedMember:
        """The mean of the folds, or the one of all rows."""
        members = tuple(fit.model for fit in fits if fit.model is not None)
        member = members[0] if len(members) == 1 else MeanMember(members)
        return TrainedMember(member, gathered(training_set, fits))

    def train_without(self, training_set: TrainingSet, recipe: Recipe, like: TrainedFold, clock: Clock, until: float) -> Floats | None:
        """What one more model predicts for the rows of the only fold; one that the clock has cut short is none."""
        if self.needs_all_rows(training_set):
            return None
        try:
            found = self._fit(training_set, recipe, clock, 0, until).predicted
        except OutOfTimeError:
            return None
        return found if clock.spent < until else None


def _is_there(fold: int, have: Sequence[TrainedFold]) -> bool:
    return any(fit.fold == fold for fit in have)
