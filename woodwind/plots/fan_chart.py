"""The fan chart: what is predicted over one column, with bands for several shares of the rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.plots.style import TINY, PlotStyle, axes_for, finish, point_style, write_axes

Floats = NDArray[np.float64]

LEVELS = (0.5, 0.8, 0.95)


class FanChartDisplay:
    """Bands between quantiles over one number, the median, and what was true where that is known.

    Make it with `from_estimator` or `from_predictions`. Bands of rows that differ in other columns are jagged: give rows that differ in the
    one that is drawn alone, or a series in the order of time.

    Parameters
    ----------
    x : array of shape (n_rows,)
        What is drawn from left to right.
    median : array of shape (n_rows,)
        The line in the middle.
    bands : dict from share to (low, high)
        Bounds of each band, (n_rows,) each.
    y_true : array of shape (n_rows,), default=None
        Points.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    bands_, line_, scatter_, texts_
        The bands, the widest first; the median; the points, if any; and the names of the bands.
    """

    def __init__(self, x: Any, median: Any, bands: dict[float, Any], y_true: Any = None) -> None:
        owner = type(self).__name__
        order = np.argsort(np.asarray(x), kind="stable")
        self.x, self.median = np.asarray(x)[order], np.asarray(median, np.float64)[order]
        self.bands = {float(level): tuple(np.asarray(one, np.float64)[order] for one in both) for level, both in sorted(bands.items())}
        self.y_true = None if y_true is None else np.asarray(y_true, np.float64)[order]
        arrays = [self.median, *(one for both in self.bands.values() for one in both), *([] if self.y_true is None else [self.y_true])]
        if not self.bands or len(self.x) < 2 or any(one.shape != self.x.shape for one in arrays):
            raise DataError(f"{owner}: there must be two rows at least, and for each the median, the bounds of every band, and x.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, x: Any, y: Any = None, *, levels: Sequence[float] = LEVELS, ax: Axes | None = None
    ) -> "FanChartDisplay":
        """Ask a fitted model for the distribution of each row, or for its intervals.

        Parameters
        ----------
        estimator : fitted regressor
            With `predict_distribution`, or with `predict` and `predict_interval`.
        X : table
        x : array of shape (n_rows,)
            What is drawn from left to right, such as one of the columns.
        y : numbers, default=None
            What is true, if it is known.
        levels : shares, default=(0.5, 0.8, 0.95)
            How much each band is to hold.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        if hasattr(estimator, "predict_distribution"):
            found = estimator.predict_distribution(X)
            return cls(x, found.median(), {level: found.interval(level) for level in levels}, y).plot(ax=ax)
        if hasattr(estimator, "predict_interval"):
            return cls(x, estimator.predict(X), {level: estimator.predict_interval(X, level) for level in levels}, y).plot(ax=ax)
        kind = type(estimator).__name__
        raise ParameterError(
            f"{cls.__name__}: {kind} has neither predict_distribution nor predict_interval. Put it into ConformalRegressor."
        )

    @classmethod
    def from_predictions(
        cls, x: Any, median: Any, bands: dict[float, Any], y_true: Any = None, *, ax: Axes | None = None
    ) -> "FanChartDisplay":
        """The same from the median and the bounds of bands."""
        return cls(x, median, bands, y_true).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "FanChartDisplay":
        """Draw the bands, the widest first, the line and the points."""
        self.ax_ = axes_for(ax)
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        self.bands_, self.texts_ = [], []
        shades = np.linspace(0.16, 0.42, len(self.bands))
        for shade, (level, (low, high)) in zip(shades, reversed(self.bands.items()), strict=True):
            self.bands_.append(self.ax_.fill_between(self.x, low, high, color=look.mixed(look.colour(0), shade), linewidth=0.0))
            text = {"fontsize": TINY, "color": look.faint, "va": "center", "ha": "left", "annotation_clip": False, "xytext": (4, 0)}
            self.texts_.append(self.ax_.annotate(f"{level:.0%}", (self.x[-1], high[-1]), textcoords="offset points", **text))
        (self.line_,) = self.ax_.plot(self.x, self.median, **look.line(0))
        self.scatter_ = None
        if self.y_true is not None:
            self.scatter_ = self.ax_.scatter(self.x, self.y_true, zorder=3, **point_style(look, 1, len(self.x)))
        write_axes(self.ax_, "x", "Median, and bands that hold a share of the rows")
        finish(self.ax_, look)
        return self
