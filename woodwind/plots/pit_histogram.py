"""Histogram of the probability integral transform: whether distributions are as wide as they should be (Dawid 1984)."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import key, uniform
from woodwind.plots.style import TINY, PlotStyle, axes_for, finish, write_axes

Floats = NDArray[np.float64]

BINS = 20


class PITDisplay:
    """How often the truth lies at each level of the distribution that was predicted for it: flat is right.

    A valley says that distributions are too narrow, a hill that they are too wide, a slope that they lie too low or too high. Make it with
    `from_estimator` or `from_predictions`.

    Parameters
    ----------
    levels : array of shape (n_rows,)
        The level of the truth in its distribution, F(y), from 0 to 1.
    bins : int, default=20
        Bars.

    Attributes
    ----------
    counts_ : array of shape (bins,)
        Rows in each bar.
    distance_ : float
        The mean distance of a bar from its share of the rows, over that share: 0 where all bars are alike.
    ax_, figure_
        Axes and figure of the picture.
    bars_, line_, text_
        The bars; the height that all would have; and the line of text.
    """

    def __init__(self, levels: Any, *, bins: int = BINS) -> None:
        self.levels = np.asarray(levels, np.float64).reshape(-1)
        if not len(self.levels) or not ((self.levels >= 0.0) & (self.levels <= 1.0)).all():
            raise DataError(f"{type(self).__name__}: levels must be numbers from 0 to 1, one for each row.")
        if isinstance(bins, bool) or not isinstance(bins, int) or bins < 2:
            raise ParameterError(f"{type(self).__name__}: bins must be an integer of at least 2, but it is {bins!r}.")
        self.bins = bins
        self.counts_ = np.histogram(self.levels, bins, (0.0, 1.0))[0]
        usual = len(self.levels) / bins
        self.distance_ = float(np.mean(np.abs(self.counts_ - usual)) / usual)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, bins: int = BINS, ax: Axes | None = None) -> "PITDisplay":
        """Ask a fitted model for the distribution of each row.

        Parameters
        ----------
        estimator : fitted regressor
            One with `predict_distribution`.
        X, y : table and numbers
        bins : int, default=20
            Bars.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        if not hasattr(estimator, "predict_distribution"):
            raise ParameterError(
                f"{cls.__name__}: {type(estimator).__name__} has no predict_distribution. Give DistributionBoostingRegressor."
            )
        return cls.from_predictions(estimator.predict_distribution(X), y, bins=bins, ax=ax)

    @classmethod
    def from_predictions(cls, distribution: Any, y_true: Any, *, bins: int = BINS, ax: Axes | None = None) -> "PITDisplay":
        """The same from what `predict_distribution` has given, or from the levels F(y) where `y_true` is None."""
        levels = distribution if y_true is None else pit_levels(distribution, y_true)
        return cls(levels, bins=bins).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "PITDisplay":
        """Draw the bars, the height that all should have, and twice the standard error around it."""
        self.ax_ = axes_for(ax)
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        n, share = len(self.levels), 1.0 / self.bins
        edges = np.linspace(0.0, 1.0, self.bins + 1)
        height, error = 1.0, 2.0 * float(np.sqrt((1.0 - share) / (share * n)))
        shade = look.mixed(look.colour(0), 0.6)
        self.bars_ = self.ax_.bar(
            edges[:-1], self.counts_ / (n * share), share, align="edge", color=shade, edgecolor=look.paper, linewidth=0.8
        )
        self.ax_.axhspan(height - error, height + error, color=look.mixed(look.ink, 0.35), alpha=0.3, linewidth=0.0)
        self.line_ = self.ax_.axhline(height, color=look.faint, linewidth=1.2, linestyle=(0, (5, 1.6)))
        where = {"transform": self.ax_.transAxes, "va": "top", "fontsize": TINY, "color": look.faint}
        self.text_ = self.ax_.text(0.01, 0.99, f"{n:,} rows; in the grey band 19 of 20 bars would be by chance", **where)
        self.ax_.set(xlim=(0.0, 1.0), ylim=(0.0, 1.12 * max(float((self.counts_ / (n * share)).max()), height + error)))
        write_axes(self.ax_, "Level of the truth in its distribution, F(y)", "Rows, over what a flat picture has")
        finish(self.ax_, look, grid="y")
        return self


def pit_levels(distribution: Any, y_true: Any) -> Floats:
    """The level of each truth, (n,), from 0 to 1; of counts a level of the step at it, drawn by key (Czado, Gneiting & Held 2009)."""
    y = np.asarray(y_true, np.float64)
    levels = np.asarray(distribution.cdf(y), np.float64)
    if getattr(getattr(distribution, "distribution", None), "discrete", False):
        levels = levels - (1.0 - uniform(key(0, "pit"), len(levels))) * np.asarray(distribution.pmf(y), np.float64)
    return np.clip(levels, 0.0, 1.0)
