"""Baseline: the same score for every row, from the target alone. It is tried where there was no time for any other member."""

import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import Clock
from woodwind.auto.members.linear_member import LinearMember
from woodwind.auto.training.recipe import Recipe, TrainedFold, TrainedMember, gathered
from woodwind.auto.training.training_set import TrainingSet
from woodwind.losses.named import classification_loss, regression_loss

Floats = NDArray[np.float64]

BASELINE = Recipe("baseline", "baseline")


class BaselineFamily:
    """The family of a constant: the mean, or the class probabilities."""

    gives_scores = True
    can_hurry = False

    def needs_all_rows(self, _training_set: TrainingSet) -> bool:
        """The member is found from all rows when it is finished."""
        return False

    def fits(self, training_set: TrainingSet, recipe: Recipe, clock: Clock, have: Sequence[TrainedFold]) -> Iterator[TrainedFold]:
        """Each fold by the rows of the others; it takes no time that is worth a look at the clock."""
        for fold in range(training_set.n_folds):
            began = time.perf_counter()
            predicted = np.tile(_constant(training_set, training_set.train_rows(fold)), (len(training_set.held(fold)), 1))
            yield TrainedFold(fold, predicted, None, time.perf_counter() - began)

    def finish(self, training_set: TrainingSet, recipe: Recipe, fits: Sequence[TrainedFold]) -> TrainedMember:
        """A linear member without coefficients."""
        start = _constant(training_set, np.arange(training_set.n_rows))
        member = LinearMember(np.zeros((training_set.form.width, training_set.width)), start, float(start.min()), float(start.max()))
        return TrainedMember(member, gathered(training_set, fits))

    def train_without(self, training_set: TrainingSet, recipe: Recipe, like: TrainedFold, clock: Clock, until: float) -> None:
        """The member is no mean of folds."""


def _constant(training_set: TrainingSet, rows: NDArray[np.int64]) -> Floats:
    """The score (width,) with the smallest loss on some rows."""
    y, weight = training_set.y[rows], None if training_set.weight is None else training_set.weight[rows]
    if training_set.n_classes == 0:
        return np.asarray(regression_loss("squared_error").start(np.asarray(y, np.float64), weight), np.float64)
    loss = classification_loss("log_loss", training_set.n_classes)
    return np.asarray(loss.start(y if training_set.width > 1 else y.astype(np.float64), weight), np.float64)
