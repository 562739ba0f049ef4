"""Intervals sorted by their width: where a model is sure, where it is not, and whether the truth is inside."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.plots.style import TINY, PlotStyle, axes_for, finish, write_axes

Floats = NDArray[np.float64]

# Intervals that are drawn: more would be a block of colour.
MOST_DRAWN = 200


class IntervalWidthDisplay:
    """Intervals around their middles, from the narrowest to the widest, and where the truth lies in them.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        What is true.
    low, high : arrays of shape (n_rows,)
        Bounds, all finite.
    coverage : float, default=None
        The share of rows that was asked for.

    Attributes
    ----------
    coverage_ : float
        The share of rows whose truth is inside, of all rows.
    width_ : float
        The mean width.
    ax_, figure_
        Axes and figure of the picture.
    bars_, inside_, outside_, text_
        The intervals, the points inside, those outside, and the line of text.
    """

    def __init__(self, y_true: Any, low: Any, high: Any, *, coverage: float | None = None) -> None:
        self.y_true, self.low, self.high = (np.asarray(one, np.float64).reshape(-1) for one in (y_true, low, high))
        n, owner = len(self.y_true), type(self).__name__
        if not n or len(self.low) != n or len(self.high) != n:
            raise DataError(
                f"{owner}: there must be a truth and two bounds for each row, but there are {n}, {len(self.low)} and {len(self.high)}."
            )
        if not all(np.isfinite(one).all() for one in (self.y_true, self.low, self.high)) or (self.low > self.high).any():
            raise DataError(f"{owner}: bounds must be finite, and the lower one not above the upper one. Ask for a smaller coverage.")
        self.coverage = coverage
        self.coverage_ = float(np.mean((self.low <= self.y_true) & (self.y_true <= self.high)))
        self.width_ = float(np.mean(self.high - self.low))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, coverage: float = 0.9, ax: Axes | None = None) -> "IntervalWidthDisplay":
        """Ask a fitted model for intervals.

        Parameters
        ----------
        estimator : fitted regressor
            One with `predict_interval`, such as ConformalRegressor or what `woodwind.fit` gives; or with `predict_distribution`.
        X, y : table and numbers
        coverage : float, default=0.9
            The share of rows whose truth shall be inside.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        if hasattr(estimator, "predict_interval"):
            low, high = estimator.predict_interval(X, coverage)
        elif hasattr(estimator, "predict_distribution"):
            low, high = estimator.predict_distribution(X).interval(coverage)
        else:
            kind = type(estimator).__name__
            raise ParameterError(
                f"{cls.__name__}: {kind} has neither predict_interval nor predict_distribution. Put it into ConformalRegressor."
            )
        return cls(y, low, high, coverage=coverage).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, low: Any, high: Any, *, coverage: float | None = None, ax: Axes | None = None
    ) -> "IntervalWidthDisplay":
        """The same from bounds, (n_rows,) each."""
        return cls(y_true, low, high, coverage=coverage).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "IntervalWidthDisplay":
        """Draw the intervals; of many rows some, at even distances in the order of their widths."""
        self.ax_ = axes_for(ax)
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        order = np.argsort(self.high - self.low, kind="stable")
        order = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_DRAWN)).round().astype(np.int64))]
        share = np.linspace(0.0, 100.0, len(order)) if len(order) > 1 else np.array([50.0])
        middle, half = 0.5 * (self.low + self.high)[order], 0.5 * (self.high - self.low)[order]
        off = self.y_true[order] - middle
        inside = np.abs(off) <= half * (1.0 + 1e-12)
        self.bars_ = self.ax_.vlines(share, -half, half, color=look.mixed(look.colour(0), 0.35), linewidth=max(0.8, 240.0 / len(order)))
        points = {"s": 9.0, "linewidths": 0.0}
        self.inside_ = self.ax_.scatter(share[inside], off[inside], color=look.colour(0), **points)
        self.outside_ = self.ax_.scatter(share[~inside], off[~inside], color=look.colour(1), marker="s", **points)
        asked = "" if self.coverage is None else f", {self.coverage:.0%} asked for"
        where = {"transform": self.ax_.transAxes, "va": "top", "fontsize": TINY, "color": look.faint}
        self.text_ = self.ax_.text(0.01, 0.99, f"truth inside: {self.coverage_:.1%} of {len(self.y_true):,} rows{asked}", **where)
        write_axes(self.ax_, "Rows by the width of their interval (%)", "Distance from the middle of the interval")
        finish(self.ax_, look, grid="y")
        return self
