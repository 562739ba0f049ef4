"""Learning curves of boosting: what was watched after every round, for all tables, with the round that was kept."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from woodwind.base.errors import DataError, ParameterError
from woodwind.plots.labels import name_lines
from woodwind.plots.style import TINY, PlotStyle, axes_for, finish, write_axes


class LearningCurvesDisplay:
    """A curve for each table that was watched, such as the training rows and several validation sets.

    Make it with `from_estimator` or `from_results`.

    Parameters
    ----------
    curves : dict of arrays
        By table, the value after each round.
    metric : str
        What the values are, for the axis.
    best_iteration : int or None
        The round that was kept, which is marked.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    lines_, texts_ : lists
        The curves, and the names beside them.
    """

    def __init__(self, curves: Mapping[str, Any], metric: str = "Loss", best_iteration: int | None = None) -> None:
        self.curves = {str(name): np.asarray(values, np.float64) for name, values in curves.items()}
        self.metric, self.best_iteration = metric, best_iteration
        if not self.curves or any(values.ndim != 1 or not len(values) for values in self.curves.values()):
            raise DataError(f"{type(self).__name__}: there must be at least one curve, each a list of numbers that is not empty.")

    @classmethod
    def from_estimator(cls, estimator: Any, *, metric: str | None = None, ax: Axes | None = None) -> "LearningCurvesDisplay":
        """Draw what a trained model of gradient boosting has watched.

        Parameters
        ----------
        estimator : fitted model of gradient boosting
            Its `evals_result_` has the curves, which are of the training rows and of all tables of `eval_set`, or of the rows held out.
        metric : str, default=None
            Which metric, if several were watched; None for the first.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        results = getattr(estimator, "evals_result_", None)
        if not results:
            raise ParameterError(
                f"{cls.__name__}: {type(estimator).__name__} has watched no table: it has no evals_result_, or an empty one."
            )
        return cls.from_results(results, metric=metric, best_iteration=getattr(estimator, "best_iteration_", None), ax=ax)

    @classmethod
    def from_results(
        cls,
        results: Mapping[str, Mapping[str, Any]],
        *,
        metric: str | None = None,
        best_iteration: int | None = None,
        ax: Axes | None = None,
    ) -> "LearningCurvesDisplay":
        """The same from values by table and metric, as `evals_result_` here and in XGBoost and LightGBM has them."""
        known = list(dict.fromkeys(name for table in results.values() for name in table))
        chosen = known[0] if metric is None and known else metric
        if chosen not in known:
            raise ParameterError(f"{cls.__name__}: metric must be one of {', '.join(map(repr, known))}, but it is {metric!r}.")
        curves = {name: table[chosen] for name, table in results.items() if chosen in table}
        return cls(curves, str(chosen), best_iteration).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "LearningCurvesDisplay":
        """Draw the curves, and a line at the round that was kept."""
        self.ax_ = axes_for(ax)
        self.figure_, look, before = self.ax_.figure, PlotStyle.of(self.ax_), len(self.ax_.lines)
        self.lines_, ends = [], []
        for number, values in enumerate(self.curves.values()):
            rounds = np.arange(1, len(values) + 1)
            alone = {"marker": "o", "markersize": 4} if len(values) < 12 else {}
            (line,) = self.ax_.plot(rounds, values, **look.line(before + number), **alone)
            self.lines_.append(line)
            there = np.flatnonzero(np.isfinite(values))
            ends.append((float(rounds[-1]), float(values[there[-1]]) if len(there) else 0.0))
        longest = max(len(values) for values in self.curves.values())
        if self.best_iteration is not None and 0 < self.best_iteration < longest:
            self.ax_.axvline(self.best_iteration, color=look.faint, linewidth=0.9)
            where: dict[str, Any] = {"transform": self.ax_.get_xaxis_transform(), "fontsize": TINY, "color": look.faint, "va": "top"}
            self.ax_.text(self.best_iteration, 0.995, f" best: {self.best_iteration}", **where)
        write_axes(self.ax_, "Round", self.metric.replace("_", " "))
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        finish(self.ax_, look)
        self.texts_ = name_lines(self.ax_, ends, list(self.curves), [line.get_color() for line in self.lines_])
        return self
