"""The map of members: which are alike, in an order that puts those side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from woodwind.base.errors import DataError, ParameterError
from woodwind.diversity import error_correlation, pairwise
from woodwind.plots.labels import shortened
from woodwind.plots.members import Floats, MemberPredictions
from woodwind.plots.style import SMALL, PlotStyle, adjust_layout, axes_for, finish, fold, lightness

# Measures of pairs, what they are called, and whether more of them is more alike.
MEASURES = {
    "correlation": ("Correlation of being right", True),
    "q_statistic": ("Q statistic", True),
    "kappa": ("Kappa", True),
    "disagreement": ("Disagreement (share of rows)", False),
    "double_fault": ("Wrong together (share of rows)", True),
}
FEW = 12  # members whose numbers are written into the map
SOME = 45  # members whose names stand beside it
SMALLEST_CELL, SMALLEST_NAME = 17.0, 5.5  # points that a number needs, and a name


def clustered_order(matrix: Any, alike: bool = True) -> NDArray[np.int64]:
    """An order that puts members side by side that are like each other: average linkage of their distances, best order of the leaves."""
    distance = matrix.max() - matrix if alike else np.array(matrix)
    distance = 0.5 * (distance + distance.T)
    np.fill_diagonal(distance, 0.0)
    between = squareform(np.maximum(distance, 0.0), checks=False)
    return np.asarray(leaves_list(optimal_leaf_ordering(linkage(between, "average"), between)), np.int64)


class MemberCorrelationDisplay:
    """A square for each pair of members; members that are alike stand side by side.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    matrix : array (m, m)
        A measure of every pair.
    names : sequence of str, (m,)
        Of the members.
    measure_name : str
        What it is.
    alike : bool
        Whether more of it is more alike.

    Attributes
    ----------
    order_ : array (m,)
        The members as they stand in the map, from the top.
    ax_, figure_, colorbar_
        Axes and figure of the picture, and the scale beside it; None where numbers are written.
    image_ : image
        The map.
    texts_ : list
        The numbers.
    """

    def __init__(self, matrix: Any, names: Sequence[str] | None = None, *, measure_name: str = "Correlation", alike: bool = True) -> None:
        self.matrix = np.asarray(matrix, np.float64)
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1] or len(self.matrix) < 2:
            raise DataError(f"MemberCorrelationDisplay: matrix must be square, with at least two members, but is {self.matrix.shape}.")
        self.names = [f"member {number}" for number in range(1, len(self.matrix) + 1)] if names is None else [str(one) for one in names]
        if len(self.names) != len(self.matrix):
            raise DataError(f"MemberCorrelationDisplay: there are {len(self.matrix)} members, but {len(self.names)} names.")
        self.measure_name, self.alike = measure_name, alike
        self.order_ = clustered_order(self.matrix, alike)

    @classmethod
    def from_estimator(
        cls, estimators: Any, X: Any, y: Any, *, measure: str = "correlation", ax: Axes | None = None
    ) -> "MemberCorrelationDisplay":
        """Ask the members of a trained ensemble, or of a list or dict of trained models.

        Parameters
        ----------
        estimators : fitted ensemble with `estimators_`, list of models, list of (name, model), or dict
        X, y : table and target
            Rows that the members have not seen.
        measure : {'correlation', 'q_statistic', 'kappa', 'disagreement', 'double_fault'}, default='correlation'
            Of classifiers; of regressors it is the correlation of errors.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        return cls._of(MemberPredictions.by(estimators, X, y, cls.__name__), measure, ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, member_names: Sequence[str] | None = None, measure: str = "correlation", ax: Axes | None = None
    ) -> "MemberCorrelationDisplay":
        """The same from what members predict, (n, m), or a dict of it by name: labels, or numbers where `y_true` has a fraction."""
        return cls._of(MemberPredictions.of(y_true, y_pred, member_names, cls.__name__), measure, ax)

    @classmethod
    def _of(cls, predicted: MemberPredictions, measure: str, ax: Axes | None) -> "MemberCorrelationDisplay":
        if measure not in MEASURES:
            raise ParameterError(f"{cls.__name__}: measure must be one of {', '.join(map(repr, MEASURES))}, but is {measure!r}.")
        if predicted.are_numbers:
            return cls(error_correlation(predicted.truth, predicted.predicted), predicted.names, measure_name="Correlation of errors").plot(
                ax=ax
            )
        matrix = getattr(pairwise(predicted.hits, predicted.predicted if measure == "kappa" else None), measure)
        name, alike = MEASURES[measure]
        return cls(matrix, predicted.names, measure_name=name, alike=alike).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "MemberCorrelationDisplay":
        """Draw the map."""
        count = len(self.matrix)
        side = float(np.clip(2.2 + 0.32 * count, 3.6, 6.4))
        self.ax_ = axes_for(ax, (side + 1.4, side))
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        shown: Floats = self.matrix[np.ix_(self.order_, self.order_)]
        np.fill_diagonal(shown, np.nan)  # a member with itself says nothing
        low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
        most, room = max(abs(low), abs(high)) or 1.0, 0.2 * (high - low)
        limits = (-most, most) if low < 0.0 else (low - room, high or 1.0)
        colours = (look.two_sided() if low < 0.0 else look.one_sided()).with_extremes(bad=look.mixed(look.ink, 0.06))
        self.image_ = self.ax_.imshow(shown, cmap=colours, vmin=limits[0], vmax=limits[1], interpolation="nearest")
        finish(self.ax_, look, grid="")
        for one in self.ax_.spines.values():
            one.set_visible(False)
        self.ax_.tick_params(length=0)
        self._name(count, self._cell())
        cell = self._cell()  # smaller, where names take room
        self.texts_ = self._numbers(shown, cell) if count <= FEW and cell >= SMALLEST_CELL else []
        self.colorbar_ = None
        if self.texts_:
            fold(self.ax_.set_title(self.measure_name, fontsize="medium", loc="left"), self.ax_.get_window_extent().width)
        else:
            self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.8, label=self.measure_name)
            self.colorbar_.outline.set_visible(False)
            self.colorbar_.ax.tick_params(labelsize=SMALL)
        return self

    def _cell(self) -> float:
        """The side of a square, in points."""
        adjust_layout(self.ax_)
        self.ax_.apply_aspect()
        return float(self.ax_.get_window_extent().width * 72.0 / self.ax_.figure.dpi / len(self.matrix))

    def _name(self, count: int, cell: float) -> None:
        size = float(np.clip(0.8 * cell, 5.0, 9.0))
        if count > SOME or cell < SMALLEST_NAME:
            self.ax_.set_xticks([])
            self.ax_.set_yticks([])
            self.ax_.set_xlabel(f"{count} members, those alike side by side", fontsize=SMALL)
            return
        names = [shortened(self.names[position], 24 if cell > 2.0 * SMALLEST_CELL else 16) for position in self.order_]
        self.ax_.set_yticks(np.arange(count), names, fontsize=size)
        slanted = {"rotation": 40, "ha": "right"} if count <= FEW else {"rotation": 90, "ha": "center"}
        self.ax_.set_xticks(np.arange(count), names, fontsize=size, **slanted)
        if count <= FEW:
            for label in self.ax_.get_xticklabels():
                label.set_rotation_mode("anchor")

    def _numbers(self, shown: Floats, cell: float) -> list[Any]:
        texts = []
        size = float(np.clip(0.32 * cell, 5.0, 9.0))
        for row, column in np.ndindex(shown.shape):
            if row != column:
                behind = self.image_.cmap(self.image_.norm(shown[row, column]))
                ink = "black" if lightness(behind) > 0.62 else "white"
                text = f"{shown[row, column]:.2f}".replace("-", "−")
                texts.append(self.ax_.text(column, row, text, ha="center", va="center", fontsize=size, color=ink))
        return texts
