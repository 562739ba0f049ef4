"""Shapley values in pictures: all rows (beeswarm), one row (waterfall), one column (dependence). After Lundberg & Lee 2017."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.plots.labels import fit_rows, shortened
from woodwind.plots.style import SMALL, TINY, PlotStyle, axes_for, finish, point_style, write_axes
from woodwind.tree.shap_result import Explanation, rounded

Floats = NDArray[np.float64]

# Layers of points that a swarm has, and the height that they fill, in rows of the picture.
LAYERS, HEIGHT = 100, 0.38


class ShapBeeswarmDisplay:
    """For each column a point for each row: what the column brought to its score, in the colour of what the row has there.

    Make it with `from_estimator` or `from_explanation`.

    Parameters
    ----------
    explanation : Explanation
        Of some rows.
    output : int, label or None
        Which score; None for the last, which is the second of two classes.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    scatters_ : list
        The points of each column, the most important first.
    columns_ : list of int
        Which columns these are.
    """

    def __init__(self, explanation: Explanation, output: Any = None) -> None:
        self.explanation, self.output = explanation, output_of(explanation, output, type(self).__name__)
        if not len(explanation):
            raise DataError(f"{type(self).__name__}: there are no rows.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, output: Any = None, max_display: int = 12, ax: Axes | None = None
    ) -> "ShapBeeswarmDisplay":
        """Explain rows of a table, and draw.

        Parameters
        ----------
        estimator : fitted model with `explain`
        X : table
            Rows to explain; some hundred are enough for a picture.
        output : int or label, default=None
            Which score, such as the class; None for the last, which is the second of two classes.
        max_display : int, default=12
            Columns that are drawn; the others are added up.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        return cls.from_explanation(estimator.explain(X), output=output, max_display=max_display, ax=ax)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, output: Any = None, max_display: int = 12, ax: Axes | None = None
    ) -> "ShapBeeswarmDisplay":
        """The same from an explanation that is there."""
        return cls(explanation, output).plot(ax=ax, max_display=max_display)

    def plot(self, ax: Axes | None = None, *, max_display: int = 12) -> "ShapBeeswarmDisplay":
        """Draw the points."""
        values, told = self.explanation.values[:, :, self.output], self.explanation
        order = np.argsort(-np.abs(values).mean(axis=0), kind="stable")
        shown, rest = order[:max_display], order[max_display:]
        names = [told.names[column] for column in shown] + ([f"{len(rest)} other columns"] if len(rest) else [])
        self.ax_ = axes_for(ax, (7.2, max(1.8, 1.0 + 0.36 * len(names))))
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        self.ax_.axvline(0.0, color=look.faint, linewidth=0.9)
        colours, style = look.two_sided_ink(), point_style(look, 0, len(values))
        style = {"s": max(style["s"], 9.0), "linewidths": 0.0, "rasterized": style["rasterized"], "alpha": 0.85}
        self.scatters_, self.columns_ = [], shown.tolist()
        whole = float(np.abs(values).max()) or 1.0
        for row, column in enumerate(shown):
            heights = swarm(values[:, column], whole)
            shade = None if told.cells is None else told.cells.numbers(column)
            # Categories have no order, and missing values no place in it.
            paint: Any = [look.faint] * len(values) if shade is None else [look.faint if np.isnan(s) else colours(s) for s in ranked(shade)]
            self.scatters_.append(self.ax_.scatter(values[:, column], row + heights, c=paint, zorder=2, **style))
        if len(rest):
            summed = values[:, rest].sum(axis=1)
            self.scatters_.append(self.ax_.scatter(summed, len(shown) + swarm(summed, whole), c=[look.faint], zorder=2, **style))
        fit_rows(self.ax_, names)
        self.ax_.set(ylim=(len(names) - 0.4, -0.6))
        write_axes(self.ax_, f"SHAP value: what the column adds to the {told.title(self.output)}", "")
        finish(self.ax_, look, grid="x")
        if any(told.cells is not None and told.cells.numbers(column) is not None for column in shown):
            where: dict[str, Any] = {"transform": self.ax_.transAxes, "fontsize": TINY, "va": "bottom"}
            self.ax_.text(0.86, 1.005, "low ●", color=colours(0.0), ha="right", **where)
            self.ax_.text(0.87, 1.005, "● high value", color=colours(1.0), ha="left", **where)
        return self


class ShapWaterfallDisplay:
    """One row: from the mean of the training rows, column by column, to its score.

    Make it with `from_estimator` or `from_explanation`.

    Parameters
    ----------
    explanation : Explanation
        Of some rows.
    row : int
        Which of them.
    output : int, label or None
        Which score; None for the highest of the row.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    bars_ : list
        The bars, the largest first.
    """

    def __init__(self, explanation: Explanation, row: int = 0, output: Any = None) -> None:
        explanation._check(row, None)
        highest = explanation.highest(row) if output is None else output
        self.explanation, self.row, self.output = explanation, row, output_of(explanation, highest, type(self).__name__)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, row: int = 0, output: Any = None, max_display: int = 10, ax: Axes | None = None
    ) -> "ShapWaterfallDisplay":
        """Explain a row of a table, and draw.

        Parameters
        ----------
        estimator : fitted model with `explain`
        X : table
        row : int, default=0
            Which row.
        output : int or label, default=None
            Which score; None for the highest of the row.
        max_display : int, default=10
            Columns that are drawn; the others are added up.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        return cls.from_explanation(estimator.explain(X), row=row, output=output, max_display=max_display, ax=ax)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, row: int = 0, output: Any = None, max_display: int = 10, ax: Axes | None = None
    ) -> "ShapWaterfallDisplay":
        """The same from an explanation that is there."""
        return cls(explanation, row, output).plot(ax=ax, max_display=max_display)

    def plot(self, ax: Axes | None = None, *, max_display: int = 10) -> "ShapWaterfallDisplay":
        """Draw the bars, from the score at the top down to the base."""
        told = self.explanation
        brought = told.contributions(self.row, self.output)
        steps = [(f"{one.name} = {shortened(one.cell, 16)}" if one.cell else one.name, one.value) for one in brought[:max_display]]
        if rest := brought[max_display:]:
            steps.append((f"{len(rest)} other columns", sum(one.value for one in rest)))
        self.ax_ = axes_for(ax, (7.2, max(1.8, 1.1 + 0.34 * len(steps))))
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        base, score = float(told.base[self.output]), float(told.scores[self.row, self.output])
        values = np.array([value for _, value in steps])
        # The last of the list stands at the bottom and begins at the base.
        begins = base + np.concatenate([np.cumsum(values[::-1])[::-1][1:], [0.0]])
        self.bars_ = []
        for number, (begin, value) in enumerate(zip(begins, values, strict=True)):
            self.bars_ += self.ax_.barh(number, value, left=begin, height=0.62, color=look.colour(1 if value >= 0 else 0), zorder=2)
            if number + 1 < len(values):
                self.ax_.plot([begin, begin], [number + 0.31, number + 0.69], color=look.faint, linewidth=0.8, zorder=1)
            end, side = begin + value, 1 if value >= 0 else -1
            place: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": SMALL, "color": look.ink}
            self.ax_.annotate(f"{value:+.3g}", (end, number), (4 * side, 0), ha="left" if side > 0 else "right", **place)
        for x, word, top in ((base, f"on average {rounded(base)}", False), (score, f"{told.title(self.output)} {rounded(score)}", True)):
            self.ax_.axvline(x, color=look.faint, linewidth=0.9, linestyle="-" if top else (0, (4, 3)), zorder=0)
            spot: dict[str, Any] = {"transform": self.ax_.get_xaxis_transform(), "fontsize": TINY, "color": look.ink, "ha": "center"}
            self.ax_.text(x, 1.01 if top else -0.02, word, va="bottom" if top else "top", **spot)
        fit_rows(self.ax_, [name for name, _ in steps])
        self.ax_.set(ylim=(len(steps) - 0.4, -0.6))
        ends = np.concatenate([begins, begins + values])
        room = 0.16 * max(float(np.ptp(ends)), 1e-12)
        self.ax_.set_xlim(float(ends.min()) - room, float(ends.max()) + room)
        self.ax_.tick_params(axis="x", pad=12)
        write_axes(self.ax_, told.title(self.output)[:1].upper() + told.title(self.output)[1:], "")
        finish(self.ax_, look, grid="x")
        return self


class ShapDependenceDisplay:
    """One column: what each row has there, and what that brought to its score.

    Make it with `from_estimator` or `from_explanation`.

    Parameters
    ----------
    explanation : Explanation
        Of some rows, with what they hold.
    column : str or int
        Name or position of the column.
    color : str, int or None
        A column of numbers by which points are coloured; None for one colour.
    output : int, label or None
        Which score; None for the last, which is the second of two classes.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    scatter_
        The points.
    """

    def __init__(self, explanation: Explanation, column: Any, color: Any = None, output: Any = None) -> None:
        owner = type(self).__name__
        if explanation.cells is None or not len(explanation):
            raise DataError(f"{owner}: the explanation has no rows, or does not know what they hold.")
        self.explanation, self.output = explanation, output_of(explanation, output, owner)
        self.column = column_of(explanation, column, owner)
        self.color = None if color is None else column_of(explanation, color, owner)
        if self.color is not None and explanation.cells.numbers(self.color) is None:
            raise ParameterError(f"{owner}: color must be a column of numbers, and {explanation.names[self.color]!r} has categories.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, column: Any, *, color: Any = None, output: Any = None, ax: Axes | None = None
    ) -> "ShapDependenceDisplay":
        """Explain rows of a table, and draw one column.

        Parameters
        ----------
        estimator : fitted model with `explain`
        X : table
            Rows to explain.
        column : str or int
            Name or position of the column.
        color : str or int, default=None
            A column of numbers by which points are coloured, to see what it changes; None for one colour.
        output : int or label, default=None
            Which score; None for the last, which is the second of two classes.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        return cls.from_explanation(estimator.explain(X), column, color=color, output=output, ax=ax)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, column: Any, *, color: Any = None, output: Any = None, ax: Axes | None = None
    ) -> "ShapDependenceDisplay":
        """The same from an explanation that is there."""
        return cls(explanation, column, color, output).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "ShapDependenceDisplay":
        """Draw the points; categories stand side by side, and missing values at the left edge."""
        self.ax_ = axes_for(ax)
        self.figure_, look, told = self.ax_.figure, PlotStyle.of(self.ax_), self.explanation
        assert told.cells is not None
        values, numbers = told.values[:, self.column, self.output], told.cells.numbers(self.column)
        style = point_style(look, 0, len(values))
        style |= {"s": max(style["s"], 14.0), "alpha": max(style["alpha"], 0.6)}
        self.ax_.axhline(0.0, color=look.faint, linewidth=0.9)
        if numbers is None:
            words = np.array(told.cells.words(self.column))
            found, position = np.unique(words, return_inverse=True)
            x = position + swarm_across(values, position)
            long = max(map(len, found)) > 6 or len(found) > 8
            self.ax_.set_xticks(np.arange(len(found)), [shortened(word, 18) for word in found], rotation=40 if long else 0)
            if long:
                for label in self.ax_.get_xticklabels():
                    label.set(ha="right", rotation_mode="anchor")
        else:
            there = numbers[np.isfinite(numbers)]
            span = float(np.ptp(there)) if there.size else 1.0
            low = float(there.min()) if there.size else 0.0
            x = np.where(np.isnan(numbers), low - 0.08 * (span or 1.0), numbers)
            if np.isnan(numbers).any():
                spot: dict[str, Any] = {"transform": self.ax_.get_xaxis_transform(), "fontsize": TINY, "color": look.faint, "ha": "center"}
                self.ax_.text(low - 0.08 * (span or 1.0), 1.01, "missing", va="bottom", **spot)
        if self.color is None:
            self.scatter_ = self.ax_.scatter(x, values, **style)
        else:
            shade = told.cells.numbers(self.color)
            style.pop("color")
            assert shade is not None  # see __init__
            there = shade[np.isfinite(shade)]
            limits = np.quantile(there, [0.02, 0.98]) if there.size else np.zeros(2)
            self.scatter_ = self.ax_.scatter(x, values, c=shade, cmap=look.two_sided_ink(), vmin=limits[0], vmax=limits[1], **style)
            bar = self.figure_.colorbar(self.scatter_, ax=self.ax_)
            bar.outline.set_visible(False)
            bar.ax.tick_params(labelsize="small", color=look.faint)
            bar.set_label(told.names[self.color])
            bar.solids.set_alpha(1.0)
        write_axes(self.ax_, told.names[self.column], f"SHAP value, added to the {told.title(self.output)}")
        finish(self.ax_, look, grid="both" if numbers is not None else "y")
        return self


def output_of(explanation: Explanation, output: Any, owner: str) -> int:
    """The number of a score that is given by it or by its label."""
    count = len(explanation.outputs)
    if output is None:
        return count - 1
    if str(output) in explanation.outputs and not (isinstance(output, int) and 0 <= output < count):
        return explanation.outputs.index(str(output))
    if isinstance(output, int | np.integer) and 0 <= output < count:
        return int(output)
    raise ParameterError(f"{owner}: output must be a number below {count} or one of {explanation.outputs}, but it is {output!r}.")


def column_of(explanation: Explanation, column: Any, owner: str) -> int:
    """The position of a column that is given by it or by its name."""
    if isinstance(column, str) and column in explanation.names:
        return explanation.names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(explanation.names):
        return int(column)
    raise ParameterError(f"{owner}: there is no column {column!r}; the columns are {', '.join(explanation.names[:10])}.")


def ranked(values: Floats) -> Floats:
    """The share of rows with less, so that a few extreme values do not take all colours; NaN stays."""
    there = np.isfinite(values)
    out: Floats = np.full(len(values), np.nan)
    found, position, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - 0.5 * counts
    out[there] = 0.5 if found.size < 2 else ((below - below[0]) / (below[-1] - below[0]))[position]
    return out


def swarm(values: Floats, whole: float) -> Floats:
    """Heights of points that would cover each other: those of nearly one value are put over and under it in turn."""
    layer = np.round(values / whole * LAYERS).astype(np.int64)
    order = np.argsort(layer, kind="stable")
    number = np.arange(len(values)) - np.searchsorted(layer[order], layer[order])
    side = np.where(number % 2 == 0, 1, -1) * ((number + 1) // 2)
    heights: Floats = np.zeros(len(values))
    heights[order] = side
    most = float(np.abs(heights).max(initial=1.0))
    return heights * min(HEIGHT / max(most, 1.0), 0.06)


def swarm_across(values: Floats, position: NDArray[Any]) -> Floats:
    """The same sideways, for points of categories."""
    out: Floats = np.zeros(len(values))
    whole = float(np.abs(values).max()) or 1.0
    for category in np.unique(position):
        here = position == category
        out[here] = swarm(values[here], whole)
    return out
