"""Survival curves by group: what was observed (Kaplan & Meier 1958), and what was predicted on average."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.data.tables.survival_times import check_right_censored, kaplan_meier, read_survival_times
from woodwind.plots.labels import name_curves
from woodwind.plots.style import TINY, PlotStyle, axes_for, finish, write_axes

Floats = NDArray[np.float64]
Curves = Mapping[str, tuple[Any, Any]]

CURVE = "woodwind: survival"
MOST_GROUPS = 6  # colours
RISKS = ("low risk", "middle risk", "high risk")
TIMES = 100  # at which predictions are drawn


class SurvivalCurvesDisplay:
    """For each group of rows the share without an event so far: steps as observed, and a thin line as predicted on average.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    observed : dict of (times, shares)
        For each group its name, times, and the share that survives each.
    predicted : dict of (times, shares), default=None
        The same as it was predicted, for the same groups.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    lines_, predicted_lines_, texts_ : lists
        The curves that were observed, those that were predicted, and the names beside the first.
    """

    def __init__(self, observed: Curves, predicted: Curves | None = None) -> None:
        self.observed = {str(name): _curve(curve) for name, curve in observed.items()}
        self.predicted = {str(name): _curve(curve) for name, curve in (predicted or {}).items()}
        if not self.observed:
            raise DataError("SurvivalCurvesDisplay: observed must have at least one group.")
        strange = [name for name in self.predicted if name not in self.observed]
        if strange:
            raise DataError(f"SurvivalCurvesDisplay: predicted has the group {strange[0]!r}, which was not observed.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, groups: Any = None, times: Any = None, ax: Axes | None = None
    ) -> "SurvivalCurvesDisplay":
        """Ask a trained survival model.

        Parameters
        ----------
        estimator : fitted model with predict_survival_function
        X, y : table and survival times
        groups : sequence of labels, one for each row, default=None
            At most six of them; None for thirds by the survival that is predicted.
        times : sequence of numbers, default=None
            Where predictions are drawn; None for a hundred times up to the last one of `y`.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        if not hasattr(estimator, "predict_survival_function"):
            kind = type(estimator).__name__
            raise ParameterError(f"{cls.__name__}: {kind} has no predict_survival_function. Give curves to from_predictions.")
        return cls.from_predictions(y, estimator.predict_survival_function(X), groups=groups, times=times, ax=ax)

    @classmethod
    def from_predictions(
        cls, y: Any, survival: Any, *, groups: Any = None, times: Any = None, ax: Axes | None = None
    ) -> "SurvivalCurvesDisplay":
        """The same from survival functions, as `predict_survival_function` gives them, or from an array (n_rows, n_times) and `times`."""
        bounds = read_survival_times(y, cls.__name__)[0]
        check_right_censored(bounds, cls.__name__, "Kaplan and Meier's curve")
        if times is None and not callable(survival):
            raise ParameterError(f"{cls.__name__}: an array of survival needs the times of its columns. Give times.")
        asked = np.linspace(0.0, bounds[:, 0].max(), TIMES) if times is None else np.asarray(times, np.float64)
        values = np.asarray(survival(asked) if callable(survival) else survival, np.float64)
        if values.shape != (len(bounds), len(asked)):
            raise DataError(f"{cls.__name__}: survival must be of {len(bounds)} rows and {len(asked)} times, but it is {values.shape}.")
        of_row, names = _groups(groups, values, cls.__name__)
        observed = {name: kaplan_meier(bounds[of_row == number]) for number, name in enumerate(names)}
        predicted = {name: (asked, values[of_row == number].mean(axis=0)) for number, name in enumerate(names)}
        return cls(observed, predicted).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "SurvivalCurvesDisplay":
        """Draw the curves; on axes that have some already, in the next colours."""
        self.ax_ = axes_for(ax)
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        before = [line for line in self.ax_.lines if line.get_gid() == CURVE]
        self.lines_, self.predicted_lines_ = [], []
        for number, (name, (times, shares)) in enumerate(self.observed.items(), len(before)):
            x, y = np.concatenate([[0.0], times]), np.concatenate([[1.0], shares])
            (line,) = self.ax_.step(x, y, where="post", gid=CURVE, **look.line(number))
            self.lines_.append(line)
            if name in self.predicted:
                (thin,) = self.ax_.plot(*self.predicted[name], color=look.colour(number), linewidth=0.9, zorder=1.5)
                self.predicted_lines_.append(thin)
        if self.predicted and not before:
            where = {"transform": self.ax_.transAxes, "ha": "right", "va": "top", "fontsize": TINY, "color": look.faint}
            self.ax_.text(0.99, 0.99, "steps: observed (Kaplan-Meier); thin lines: predicted", **where)
        self.ax_.set(ylim=(0.0, 1.04))
        self.ax_.set_xlim(left=0.0)
        write_axes(self.ax_, "Time", "Share without an event so far")
        finish(self.ax_, look)
        self.texts_ = name_curves(self.ax_, self.lines_, list(self.observed), before)
        return self


def _curve(curve: tuple[Any, Any]) -> tuple[Floats, Floats]:
    times, shares = (np.asarray(part, np.float64) for part in curve)
    if times.ndim != 1 or times.shape != shares.shape or not len(times):
        raise DataError("SurvivalCurvesDisplay: a curve is times and as many shares, one dimension each.")
    return times, shares


def _groups(groups: Any, survival: Floats, owner: str) -> tuple[NDArray[np.int64], list[str]]:
    """The number of the group of each row, and the names of the groups."""
    if groups is None:
        third = np.argsort(np.argsort(-survival.mean(axis=1), kind="stable"), kind="stable") * 3 // len(survival)
        present = np.unique(third)
        return np.searchsorted(present, third), [RISKS[number] for number in present]
    labels = np.asarray(groups)
    if labels.shape != (len(survival),):
        raise DataError(f"{owner}: groups must have one label for each of {len(survival)} rows, but they are {labels.shape}.")
    present, number = np.unique(labels.astype(str) if labels.dtype.kind == "O" else labels, return_inverse=True)
    if len(present) > MOST_GROUPS:
        raise ParameterError(f"{owner}: groups has {len(present)} labels, and {MOST_GROUPS} curves can be told apart. Join some.")
    return number.reshape(-1), [str(name) for name in present]
