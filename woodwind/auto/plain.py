"""Members that learn from a matrix of numbers, fold by fold: linear models, neighbours, nets. Who trains them is given from outside."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import Clock
from woodwind.auto.countdown import OutOfTimeError
from woodwind.auto.lesson import Lesson
from woodwind.auto.members import MeanMember, Member
from woodwind.auto.recipe import ALL_ROWS, Fit, Recipe, Taught, gathered
from woodwind.base.streams import key
from woodwind.ensemble.bag import in_order

Floats = NDArray[np.float64]

# What a member may take of the time that is left when it begins.
MOST_OF_THE_REST = 0.35
# Seconds for a value of the matrix before anything is learnt from it: it is made once, and copied for every fold.
PER_VALUE = 1e-7


class Trainer(Protocol):
    """Trains a member on a matrix; it keeps within the seconds that are left, and raises OutOfTimeError where they are too few."""

    def __call__(
        self, matrix: Floats, y: NDArray[Any], weight: Floats | None, task: str, n_classes: int, seed: int, deadline: Any
    ) -> Member:
        """The member."""


class Plain:
    """A family of members on a matrix.

    The member is the mean of those of all folds; or, where it is little more than its rows, one of all rows.
    """

    says_scores = True

    def __init__(self, trainer: Trainer, is_its_rows: bool = False) -> None:
        self.trainer, self.is_its_rows = trainer, is_its_rows

    def needs_all_rows(self, lesson: Lesson) -> bool:
        """Where it is little more than its rows; and in time order, where no fold has learnt the latest ones."""
        return self.is_its_rows or lesson.ordered

    def fits(self, lesson: Lesson, recipe: Recipe, clock: Clock, have: Sequence[Fit]) -> Iterator[Fit]:
        """Some folds side by side, handed on in their order."""
        end = clock.spent + MOST_OF_THE_REST * clock.left_for_training
        wanted = (*range(lesson.n_folds), *([ALL_ROWS] if self.needs_all_rows(lesson) else []))
        missing = [fold for fold in wanted if not _is_there(fold, have)]
        sides = min(lesson.threads, len(missing))
        if PER_VALUE * lesson.n_rows * lesson.form.width > end - clock.spent:
            return
        _ = lesson.view.matrix  # made once, before others ask for it

        def fit(place: int) -> Fit | None:
            if clock.left_for_training <= 0.0 or clock.spent >= end:
                return None
            # Each of those to come has the same share of what is left.
            turns = -(-(len(missing) - place) // sides)
            try:
                return self._fit(lesson, recipe, clock, missing[place], clock.spent + (end - clock.spent) / turns)
            except OutOfTimeError:
                return None

        for found in in_order(fit, range(len(missing)), sides):
            if found is None:
                return
            yield found

    def _fit(self, lesson: Lesson, recipe: Recipe, clock: Clock, fold: int, until: float) -> Fit:
        began = time.perf_counter()
        rows = np.arange(lesson.n_rows) if fold == ALL_ROWS else lesson.learnt(fold)
        weight = None if lesson.weight is None else lesson.weight[rows]
        task = "regression" if lesson.n_classes == 0 else "binary" if lesson.n_classes == 2 else "multiclass"
        seed = key(lesson.seed, "member", recipe.name, recipe.seed, fold) % (1 << 31)

        def left() -> float:
            return 0.0 if clock.stopped else until - clock.spent

        member = self.trainer(lesson.view.matrix[rows], lesson.y[rows], weight, task, lesson.n_classes, seed, left)
        said = None if fold == ALL_ROWS else member.scores(lesson.matrix_rows(lesson.held(fold)), lesson.threads)
        kept = None if self.needs_all_rows(lesson) and fold != ALL_ROWS else member
        return Fit(fold, said, kept, time.perf_counter() - began)

    def finish(self, lesson: Lesson, recipe: Recipe, fits: Sequence[Fit]) -> Taught:
        """The mean of the folds, or the one of all rows."""
        members = tuple(fit.model for fit in fits if fit.model is not None)
        member = members[0] if len(members) == 1 else MeanMember(members)
        return Taught(member, gathered(lesson, fits))


def _is_there(fold: int, have: Sequence[Fit]) -> bool:
    return any(fit.fold == fold for fit in have)
