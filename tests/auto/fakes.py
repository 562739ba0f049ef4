"""Honest fakes for the job: families whose members are real, small and quick, or fail in a chosen way; a clock that is told the time."""

import numpy as np

from woodwind.auto.training.recipe import ALL_ROWS, TrainedFold, TrainedMember, gathered


class ConstantColumn:
    """A member that says a line of the first column of the matrix."""

    def __init__(self, slope, middle, width):
        self.slope, self.middle, self.width = slope, middle, width

    def scores(self, view, threads=1):
        return np.repeat(self.slope * view.matrix[:, :1] + self.middle, self.width, axis=1)


class Line:
    """The family of least squares on one column, which is chosen by the settings of a recipe."""

    gives_scores = True
    can_hurry = False

    def needs_all_rows(self, training_set):
        return False

    def __init__(self, fail_in=None, error=None, cost=0.0, tick=None):
        self.fail_in, self.error, self.cost, self.tick = fail_in, error or ValueError("it will not"), cost, tick
        self.trained = []

    def fits(self, training_set, recipe, clock, have):
        there = {fit.fold for fit in have}
        for fold in range(training_set.n_folds):
            if fold in there:
                continue
            if clock.left_for_training <= 0:
                return
            if self.tick is not None:
                self.tick(self.cost)
            if fold == self.fail_in:
                raise self.error
            self.trained.append((recipe.name, fold))
            rows, held = training_set.train_rows(fold), training_set.held(fold)
            column = recipe.settings.get("column", 0)
            x, y = training_set.view.matrix[:, column], np.asarray(training_set.y, float)
            slope = np.cov(x[rows], y[rows])[0, 1] / max(x[rows].var(), 1e-12) * recipe.settings.get("factor", 1.0)
            middle = y[rows].mean() - slope * x[rows].mean()
            yield TrainedFold(fold, (slope * x[held] + middle)[:, None], {"slope": float(slope), "middle": float(middle)}, self.cost)

    def train_without(self, training_set, recipe, like, clock, until):
        (fit,) = self.fits(training_set, recipe, clock, [])
        return fit.predicted

    def finish(self, training_set, recipe, fits):
        slope = np.mean([fit.model["slope"] for fit in fits])
        middle = np.mean([fit.model["middle"] for fit in fits])
        return TrainedMember(ConstantColumn(slope, middle, training_set.width), gathered(training_set, fits))


class Nan(Line):
    """Says what is no number."""

    def finish(self, training_set, recipe, fits):
        member, scores = super().finish(training_set, recipe, fits)
        return TrainedMember(member, scores * np.nan)


class Time:
    """A time that passes when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def pass_by(self, seconds):
        self.now += seconds


__all__ = ["ALL_ROWS", "ConstantColumn", "Line", "Nan", "Time"]
