"""Baseline: the same score for every row, from the target alone. It is tried where there was no time for any other member."""

import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import Clock
from woodwind.auto.lesson import Lesson
from woodwind.auto.plain_linear import LinearMember
from woodwind.auto.recipe import Fit, Recipe, Taught, gathered
from woodwind.losses.named import classification_loss, regression_loss

Floats = NDArray[np.float64]

BASELINE = Recipe("baseline", "baseline")


class Baseline:
    """The family of a constant: the mean, or the shares of the classes."""

    says_scores = True

    def needs_all_rows(self, _lesson: Lesson) -> bool:
        """The member is found from all rows when it is finished."""
        return False

    def fits(self, lesson: Lesson, recipe: Recipe, clock: Clock, have: Sequence[Fit]) -> Iterator[Fit]:
        """Each fold by the rows of the others; it takes no time that is worth a look at the clock."""
        for fold in range(lesson.n_folds):
            began = time.perf_counter()
            said = np.tile(_constant(lesson, lesson.learnt(fold)), (len(lesson.held(fold)), 1))
            yield Fit(fold, said, None, time.perf_counter() - began)

    def finish(self, lesson: Lesson, recipe: Recipe, fits: Sequence[Fit]) -> Taught:
        """A linear member without slopes."""
        start = _constant(lesson, np.arange(lesson.n_rows))
        member = LinearMember(np.zeros((lesson.form.width, lesson.width)), start, float(start.min()), float(start.max()))
        return Taught(member, gathered(lesson, fits))


def _constant(lesson: Lesson, rows: NDArray[np.int64]) -> Floats:
    """The score (width,) with the smallest loss on some rows."""
    y, weight = lesson.y[rows], None if lesson.weight is None else lesson.weight[rows]
    if lesson.n_classes == 0:
        return np.asarray(regression_loss("squared_error").start(np.asarray(y, np.float64), weight), np.float64)
    loss = classification_loss("log_loss", lesson.n_classes)
    return np.asarray(loss.start(y if lesson.width > 1 else y.astype(np.float64), weight), np.float64)
