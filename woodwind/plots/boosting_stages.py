"""Boosting on one feature, stage by stage: what the model predicts so far, and what the newest learner adds to it."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.estimators.diagnostics.staged import staged_predictions, start_of
from woodwind.plots.rows import NumericRows
from woodwind.plots.style import SMALL, PlotStyle, finish, grid_of_axes

Floats = NDArray[np.float64]

GRID = 400  # points of a curve
SOME = 3  # stages that are shown if nobody says which


def read_stages(stages: int | Sequence[int], n_stages: int, owner: str) -> list[int]:
    """Which stages to show, counted from one: so many of the first, or those that are named."""
    shown = list(range(1, min(stages, n_stages) + 1)) if isinstance(stages, int | np.integer) else [int(stage) for stage in stages]
    wrong = [stage for stage in shown if not 1 <= stage <= n_stages]
    if not shown or wrong:
        raise ParameterError(
            f"{owner}: stages must be a number of stages of at least 1, or a list of them from 1 to {n_stages}, but is {stages!r}."
        )
    return shown


class BoostingStagesDisplay:
    """A row of two pictures for each stage: the data with the sum so far, and the residuals before it with what the newest learner adds.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    x, y : arrays (n,)
        The rows.
    grid : array (g,)
        Where the curves are drawn, in order.
    on_rows, on_grid : arrays (n_stages + 1, n) and (n_stages + 1, g)
        What the model predicts before the first stage, after it, and so on.
    stages : sequence of int
        Which stages to show, counted from one.
    feature_name, target_name : str
        For the axes.

    Attributes
    ----------
    axes_ : array of axes (n_stages_shown, 2)
    figure_
        The figure of the picture.
    sums_, steps_ : lists
        The lines of the sums and of the newest learners.
    points_ : list of lists
        For each stage the rows and the residuals.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        *,
        grid: Any,
        on_rows: Any,
        on_grid: Any,
        stages: int | Sequence[int] = SOME,
        feature_name: str = "feature 0",
        target_name: str = "y",
    ) -> None:
        self.x, self.y, self.grid = (np.asarray(values, np.float64) for values in (x, y, grid))
        self.on_rows, self.on_grid = np.asarray(on_rows, np.float64), np.asarray(on_grid, np.float64)
        self.feature_name, self.target_name = feature_name, target_name
        owner = type(self).__name__
        n_stages = len(self.on_rows) - 1
        if self.x.shape != self.y.shape or self.on_rows.shape != (n_stages + 1, *self.y.shape):
            raise DataError(
                f"{owner}: x and y must be as long as each other, and on_rows must have as many numbers for every stage, but their "
                f"shapes are {self.x.shape}, {self.y.shape} and {self.on_rows.shape}."
            )
        if self.on_grid.shape != (n_stages + 1, *self.grid.shape):
            raise DataError(f"{owner}: on_grid must be of shape {(n_stages + 1, *self.grid.shape)}, but is of shape {self.on_grid.shape}.")
        self.stages = read_stages(stages, n_stages, owner)

    @property
    def residuals(self) -> Floats:
        """Before each of the stages shown, what the model so far leaves of the target, (n_stages_shown, n)."""
        return np.asarray(self.y - self.on_rows[[stage - 1 for stage in self.stages]])

    @property
    def added(self) -> Floats:
        """What the learner of each of the stages shown adds, on the grid."""
        return np.asarray(self.on_grid[self.stages] - self.on_grid[[stage - 1 for stage in self.stages]])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        stages: int | Sequence[int] = SOME,
        target_name: str = "y",
        ax: Any = None,
    ) -> "BoostingStagesDisplay":
        """Ask a boosted regressor for its stages.

        Parameters
        ----------
        estimator : fitted regressor with `staged_predict`
            Of Woodwind, scikit-learn or others, trained on one column.
        X : table of one column
        y : sequence of numbers
        stages : int or sequence of int, default=3
            How many of the first stages to show, or which, counted from one.
        target_name : str, default='y'
            For the axes.
        ax : axes, array of axes, default=None
            Where to draw: axes that are divided, or an array of two for each stage; None for a new figure.
        """
        if hasattr(estimator, "classes_"):
            raise ParameterError(
                f"{cls.__name__}: these are pictures of regression, but {type(estimator).__name__} is a classifier. "
                "BoostingRegionsDisplay shows stages of classifiers on two columns."
            )
        rows = NumericRows.of(X, 1, cls.__name__)
        x = rows.values[:, 0]
        grid = np.linspace(x.min(), x.max(), GRID)
        start = start_of(estimator)
        on_rows, on_grid = (
            np.stack([np.full(len(table), start), *staged_predictions(estimator, rows.like(table))])
            for table in (rows.values, grid[:, None])
        )
        shown = cls(x, y, grid=grid, on_rows=on_rows, on_grid=on_grid, stages=stages, feature_name=rows.name(0), target_name=target_name)
        return shown.plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        x: Any,
        y_true: Any,
        staged: Iterable[Any],
        *,
        start: float = 0.0,
        stages: int | Sequence[int] = SOME,
        names: tuple[str, str] = ("feature 0", "y"),
        ax: Any = None,
    ) -> "BoostingStagesDisplay":
        """The same from predictions of the rows after every stage, and `start` before the first; curves are drawn from row to row."""
        x, y = np.asarray(x, np.float64).reshape(-1), np.asarray(y_true, np.float64)
        on_rows = np.stack([np.full(len(x), start), *(np.asarray(predicted, np.float64).reshape(-1) for predicted in staged)])
        if len(on_rows) < 2 or on_rows.shape[1] != len(y):
            raise DataError(f"{cls.__name__}: staged must have at least one stage, each with a prediction for each of the {len(y):,} rows.")
        grid, first = np.unique(x, return_index=True)
        feature, target = names
        shown = cls(x, y, grid=grid, on_rows=on_rows, on_grid=on_rows[:, first], stages=stages, feature_name=feature, target_name=target)
        return shown.plot(ax=ax)

    def plot(self, ax: Any = None) -> "BoostingStagesDisplay":
        """Draw."""
        self.axes_ = grid_of_axes(ax, len(self.stages), 2, (3.4, 2.1), sharex=True, sharey=False)
        self.figure_ = self.axes_[0, 0].figure
        self.sums_, self.steps_, self.points_ = [], [], []
        for row, stage in enumerate(self.stages):
            left, right = self.axes_[row]
            look = PlotStyle.of(left)
            dots: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 3.2, "markeredgewidth": 0}
            dots |= {"color": look.faint, "alpha": dense(len(self.x))}
            data, left_over = left.plot(self.x, self.y, **dots)[0], right.plot(self.x, self.residuals[row], **dots)[0]
            right.axhline(0.0, color=look.faint, linewidth=0.8)
            self.sums_ += left.plot(self.grid, self.on_grid[stage], **look.line(0))
            self.steps_ += right.plot(self.grid, self.added[row], **(look.line(1) | {"linestyle": "-"}))
            self.points_.append([data, left_over])
            self._finish(row, stage, look)
        limits = [np.inf, -np.inf]
        for one in self.axes_[:, 1]:
            low, high = one.get_ylim()
            limits = [min(limits[0], low), max(limits[1], high)]
        for one in self.axes_[:, 1]:
            one.set_ylim(*limits)  # one scale, so that residuals are seen to shrink
        return self

    def _finish(self, row: int, stage: int, look: PlotStyle) -> None:
        left, right = self.axes_[row]
        for ax, title, colour in (
            (left, f"Model after stage {stage}", look.colour(0)),
            (right, "Residuals before it, and what it adds", look.colour(1)),
        ):
            finish(ax, look)
            ax.set_title(title, fontsize=SMALL, color=colour, loc="left")
            ax.yaxis.set_major_locator(MaxNLocator(5))
            if row == len(self.stages) - 1:
                ax.set_xlabel(self.feature_name)
        left.set_ylabel(self.target_name)


def dense(count: int) -> float:
    """How opaque points are: the more, the less."""
    return float(np.clip(12.0 / np.sqrt(max(count, 1)), 0.25, 0.85))
