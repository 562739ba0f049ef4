"""Partial dependence: what is predicted on average if a column had one value in all rows; and the curves of single rows (ICE)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from woodwind.base.errors import ParameterError
from woodwind.estimators.diagnostics.partial_dependence import PartialDependence, partial_dependence
from woodwind.plots.labels import shortened
from woodwind.plots.style import PlotStyle, adjust_layout, axes_for, finish, grid_of_axes, write_axes

# Curves of rows that are drawn at most, and pictures side by side.
MOST_CURVES, MOST_BESIDE = 60, 3


class PartialDependenceDisplay:
    """One picture for each column or pair of columns: a curve over numbers, points over categories, a map over two.

    Make it with `from_estimator`.

    Parameters
    ----------
    results : list of PartialDependence
        What is drawn.
    kind : {'average', 'individual', 'both'}
        The mean, the curves of single rows, or both. Of two columns it is always the mean.
    centered : bool
        Curves begin at zero.

    Attributes
    ----------
    axes_ : array of axes
        Of all pictures.
    figure_
        The figure.
    lines_ : list of lists
        The curves of each picture, that of the mean last.
    """

    def __init__(self, results: Sequence[PartialDependence], kind: str = "average", centered: bool = False) -> None:
        if kind not in ("average", "individual", "both"):
            raise ParameterError(f"{type(self).__name__}: kind must be 'average', 'individual' or 'both', but it is {kind!r}.")
        if not results:
            raise ParameterError(f"{type(self).__name__}: there must be at least one column to draw.")
        self.results, self.kind, self.centered = list(results), kind, centered

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        features: Sequence[Any],
        *,
        target: Any = None,
        kind: str = "average",
        centered: bool = False,
        grid_resolution: int | None = None,
        ax: Any = None,
    ) -> "PartialDependenceDisplay":
        """Ask a trained estimator, and draw.

        Parameters
        ----------
        estimator : fitted classifier or regressor
            Of any library.
        X : array or frame
            Rows to average over; of more than 500, so many are drawn.
        features : list
            Names or positions of columns; a tuple of two for a map of both.
        target : label, default=None
            The class whose probability is drawn; None for the second of two.
        kind : {'average', 'individual', 'both'}, default='average'
            The mean over the rows, a curve for each of some rows (individual conditional expectation), or both.
        centered : bool, default=False
            Draw changes: all curves begin at zero.
        grid_resolution : int, default=None
            Values of a column at most; None for 50 of one and 20 of each of two.
        ax : matplotlib axes or array of them, default=None
            Where to draw; None for a new figure.
        """
        asked = [tuple(one) if isinstance(one, tuple | list) else (one,) for one in features]
        results = [partial_dependence(estimator, X, one, target=target, grid_size=grid_resolution) for one in asked]
        return cls(results, kind, centered).plot(ax=ax)

    def plot(self, ax: Any = None) -> "PartialDependenceDisplay":
        """Draw all pictures."""
        count = len(self.results)
        columns = min(count, MOST_BESIDE)
        rows = -(-count // columns)
        if count == 1 and (ax is None or isinstance(ax, Axes)):
            self.axes_ = np.array([axes_for(ax)])
        elif ax is not None and np.size(ax) == count > 1:
            self.axes_ = grid_of_axes(ax, 1, count, (4.0, 3.2)).reshape(-1)
        else:
            self.axes_ = grid_of_axes(ax, rows, columns, (4.0, 3.2)).reshape(-1)
        self.figure_, self.lines_ = self.axes_[0].figure, []
        for one, result in zip(self.axes_, self.results, strict=False):
            draw = self._map if len(result.columns) == 2 else self._points if result.columns[0].numbers is None else self._curve
            self.lines_.append(draw(one, result))
        for empty in self.axes_[count:]:
            empty.set_axis_off()
        return self

    def _shown(self, result: PartialDependence) -> tuple[Any, Any]:
        """Curves of rows (g, m) and their mean (g,), as they are drawn."""
        assert result.individual is not None
        step = max(result.individual.shape[1] // MOST_CURVES, 1)
        rows, mean = result.individual[:, ::step], result.average
        return (rows - rows[:1], mean - mean[0]) if self.centered else (rows, mean)

    def _worded(self, result: PartialDependence) -> str:
        words = ("Change of the " if self.centered else "") + result.predicted
        return words[:1].upper() + words[1:]

    def _curve(self, ax: Axes, result: PartialDependence) -> list[Any]:
        look, grid = PlotStyle.of(ax), result.columns[0]
        rows, mean = self._shown(result)
        lines: list[Any] = []
        if self.kind != "average":
            lines += ax.plot(grid.numbers, rows, color=look.mixed(look.colour(0), 0.35), linewidth=0.7, zorder=1)
        if self.kind != "individual":
            lines += ax.plot(grid.numbers, mean, color=look.colour(1 if self.kind == "both" else 0), linewidth=2.2, zorder=3)
        if grid.size < 12:
            lines[-1].set(marker="o", markersize=4)
        # Where the rows are: the tenths of the values.
        ax.plot(
            grid.spread, np.zeros_like(grid.spread), "|", color=look.faint, markersize=8, transform=ax.get_xaxis_transform(), clip_on=False
        )
        write_axes(ax, grid.name, self._worded(result))
        finish(ax, look)
        return lines

    def _points(self, ax: Axes, result: PartialDependence) -> list[Any]:
        look, grid = PlotStyle.of(ax), result.columns[0]
        rows, mean = self._shown(result)
        places, lines = np.arange(grid.size), []
        if self.kind != "average":
            lines += ax.plot(places, rows, color=look.mixed(look.colour(0), 0.3), linewidth=0.5, marker=".", markersize=3, zorder=1)
        if self.kind != "individual":
            style: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 7, "zorder": 3}
            lines += ax.plot(places, mean, color=look.colour(1 if self.kind == "both" else 0), **style)
            if self.kind == "average":
                ax.vlines(places, min(mean.min(), 0.0) if self.centered else ax.get_ylim()[0], mean, color=look.mixed(look.colour(0), 0.4))
        long = max(map(len, grid.words)) > 6 or grid.size > 8
        labels = [shortened(word, 18) for word in grid.words]
        ax.set_xticks(
            places, labels, rotation=40 if long else 0, ha="right" if long else "center", rotation_mode="anchor" if long else None
        )
        ax.set_xlim(-0.6, grid.size - 0.4)
        write_axes(ax, grid.name, self._worded(result))
        finish(ax, look, grid="y")
        return lines

    def _map(self, ax: Axes, result: PartialDependence) -> list[Any]:
        look, (one, two) = PlotStyle.of(ax), result.columns
        sides = [np.arange(grid.size, dtype=float) if grid.numbers is None else grid.numbers for grid in (one, two)]
        if one.numbers is None or two.numbers is None or min(one.size, two.size) < 3:
            shown: Any = ax.imshow(result.average.T, origin="lower", aspect="auto", cmap=look.one_sided())
            for axis, grid in ((ax.xaxis, one), (ax.yaxis, two)):
                every = max(grid.size // 8, 1)
                words = [shortened(word, 14) for word in grid.words] if grid.numbers is None else [f"{value:.3g}" for value in grid.numbers]
                axis.set_ticks(np.arange(grid.size)[::every], words[::every])
        else:
            shown = ax.contourf(*sides, result.average.T, levels=12, cmap=look.one_sided())
            ax.contour(*sides, result.average.T, levels=12, colors=[look.mixed(look.ink, 0.5)], linewidths=0.4)
        bar = ax.figure.colorbar(shown, ax=ax)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize="small", color=look.faint)
        bar.set_label(self._worded(result))
        write_axes(ax, one.name, two.name)
        finish(ax, look, grid="")
        adjust_layout(ax)
        return []


def plot_partial_dependence(estimator: Any, X: Any, features: Sequence[Any], **options: Any) -> PartialDependenceDisplay:
    """Draw partial dependence: `PartialDependenceDisplay.from_estimator` with the same arguments."""
    return PartialDependenceDisplay.from_estimator(estimator, X, features, **options)
