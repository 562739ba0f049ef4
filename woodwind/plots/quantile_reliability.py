"""Reliability of quantiles: the share of rows below each quantile, over its level."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.plots.labels import name_curves
from woodwind.plots.style import PlotStyle, axes_for, finish, write_axes

Floats = NDArray[np.float64]

LEVELS = tuple(np.round(np.linspace(0.05, 0.95, 19), 2).tolist())
CURVE = "woodwind: quantile reliability"


class QuantileReliabilityDisplay:
    """For each model the share of rows whose truth is at or below its quantile, over the level of the quantile.

    On the diagonal it is right.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curves : dict from name to (levels, shares, errors)
        For each model the levels of its quantiles, the share of rows at or below each, and the standard errors of these.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    lines_, texts_ : lists
        The curves, and the names beside them.
    """

    def __init__(self, curves: Mapping[str, tuple[Any, Any, Any]]) -> None:
        self.curves = {str(name): tuple(np.asarray(one, np.float64) for one in curve) for name, curve in curves.items()}
        if not self.curves or any(len({one.shape for one in curve}) != 1 for curve in self.curves.values()):
            raise DataError(f"{type(self).__name__}: each model needs as many shares and errors as levels.")

    @classmethod
    def from_estimator(
        cls, estimators: Any, X: Any, y: Any, *, levels: Sequence[float] = LEVELS, name: str | None = None, ax: Axes | None = None
    ) -> "QuantileReliabilityDisplay":
        """Ask a fitted model for quantiles, or several.

        Parameters
        ----------
        estimators : fitted regressor, or dict of them by name
            With `predict_distribution`; or trained for several quantiles, as GradientBoostingRegressor(loss='quantile', quantile=[...]) is,
            whose own levels are drawn.
        X, y : table and numbers
        levels : sequence of levels, default=(0.05, 0.1, ..., 0.95)
        name : str, default=None
            Of the model, if it is one.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        several = estimators if isinstance(estimators, Mapping) else {name or type(estimators).__name__: estimators}
        found = {called: _quantiles(one, X, levels, cls.__name__) for called, one in several.items()}
        return cls({called: _reliability(y, *one, cls.__name__) for called, one in found.items()}).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, quantiles: Any, levels: Sequence[float], *, name: str = "model", ax: Axes | None = None
    ) -> "QuantileReliabilityDisplay":
        """The same from predicted quantiles, (n_rows, n_levels), or a dict of such by model."""
        several = quantiles if isinstance(quantiles, Mapping) else {name: quantiles}
        return cls({called: _reliability(y_true, levels, one, cls.__name__) for called, one in several.items()}).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "QuantileReliabilityDisplay":
        """Draw the diagonal, and the curves with bands of two standard errors; on axes that have some already, in the next colours."""
        self.ax_ = axes_for(ax, (5.2, 4.6))
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        before = [line for line in self.ax_.lines if line.get_gid() == CURVE]
        if not before:
            self.ax_.plot([0.0, 1.0], [0.0, 1.0], color=look.faint, linewidth=0.9, linestyle=(0, (5, 1.6)))
        self.lines_ = []
        for number, (levels, shares, errors) in enumerate(self.curves.values(), len(before)):
            band = {"color": look.mixed(look.colour(number), 0.3), "alpha": 0.5, "linewidth": 0.0}
            self.ax_.fill_between(levels, np.maximum(shares - 2.0 * errors, 0.0), np.minimum(shares + 2.0 * errors, 1.0), **band)
            (line,) = self.ax_.plot(levels, shares, gid=CURVE, marker="o", markersize=3.5, **look.line(number))
            self.lines_.append(line)
        self.ax_.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
        write_axes(self.ax_, "Level of the quantile", "Share of rows at or below it")
        finish(self.ax_, look)
        self.texts_ = name_curves(self.ax_, self.lines_, list(self.curves), before)
        return self


def _quantiles(estimator: Any, X: Any, levels: Sequence[float], owner: str) -> tuple[Floats, Floats]:
    """Levels, and the quantiles of each row, (n, n_levels)."""
    if hasattr(estimator, "predict_distribution"):
        asked = np.asarray(levels, np.float64)
        return asked, np.asarray(estimator.predict_distribution(X).quantile(asked[:, None])).T
    own = np.atleast_1d(np.asarray(getattr(estimator, "quantile", None), object))
    if getattr(estimator, "loss", None) == "quantile" and all(isinstance(one, int | float) for one in own):
        return own.astype(np.float64), np.asarray(estimator.predict(X), np.float64).reshape(-1, len(own))
    kind = type(estimator).__name__
    raise ParameterError(f"{owner}: {kind} predicts no quantiles. Give a model with predict_distribution, or with loss='quantile'.")


def _reliability(y_true: Any, levels: Any, quantiles: Any, owner: str) -> tuple[Floats, Floats, Floats]:
    """Levels in order, the share of rows at or below each quantile, and its standard error under the level."""
    y, asked, found = np.asarray(y_true, np.float64), np.asarray(levels, np.float64), np.asarray(quantiles, np.float64)
    if found.shape != (len(y), len(asked)) or not len(y):
        raise DataError(f"{owner}: quantiles must be of shape ({len(y)}, {len(asked)}), rows by levels, but they are {found.shape}.")
    if not ((asked > 0.0) & (asked < 1.0)).all():
        raise ParameterError(f"{owner}: levels must be between 0 and 1, but they are {asked.tolist()}.")
    order = np.argsort(asked, kind="stable")
    shares = (y[:, None] <= found).mean(axis=0)
    return asked[order], shares[order], np.sqrt(asked * (1.0 - asked) / len(y))[order]
