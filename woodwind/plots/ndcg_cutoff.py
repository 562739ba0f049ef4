"""NDCG by cut-off: how good the first ranks of a ranking are."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.data.tables.queries import QueryRows
from woodwind.estimators.boosting.queries import read_queries
from woodwind.metrics.queries import QueryMetric, mean_over_queries
from woodwind.plots.labels import name_curves
from woodwind.plots.style import PlotStyle, axes_for, finish, write_axes

Floats = NDArray[np.float64]

CUTOFFS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50)
CURVE = "woodwind: ndcg"


class NDCGDisplay:
    """For each ranker the mean NDCG over queries by cut-off.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curves : dict from name to (cutoffs, values, errors)
        For each ranker the cut-offs, the mean NDCG at each, and its standard error over queries.

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
            raise DataError(f"{type(self).__name__}: each ranker needs as many values and errors as cut-offs.")

    @classmethod
    def from_estimator(
        cls,
        estimators: Any,
        X: Any,
        y: Any,
        *,
        group: Any,
        cutoffs: Sequence[int] = CUTOFFS,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> "NDCGDisplay":
        """Ask a fitted ranker for scores, or several; regressors of the relevance will do.

        Parameters
        ----------
        estimators : fitted ranker, or dict of them by name
        X, y : table and relevance
        group : sequence
            Which rows are of one query: a label for each row, or the sizes of queries.
        cutoffs : sequence of int, default=(1, 2, 3, ..., 50)
            How many places count. Those beyond the longest query are left out.
        name : str, default=None
            Of the ranker, if it is one.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        several = estimators if isinstance(estimators, Mapping) else {name or type(estimators).__name__: estimators}
        return cls.from_predictions(y, {called: one.predict(X) for called, one in several.items()}, group=group, cutoffs=cutoffs, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, scores: Any, *, group: Any, cutoffs: Sequence[int] = CUTOFFS, name: str = "ranker", ax: Axes | None = None
    ) -> "NDCGDisplay":
        """The same from scores, (n_rows,), or a dict of such by ranker."""
        owner, y = cls.__name__, np.asarray(y_true, np.float64)
        if not len(cutoffs) or any(isinstance(one, bool) or not isinstance(one, int | np.integer) or one < 1 for one in cutoffs):
            raise ParameterError(f"{owner}: cutoffs must be integers of at least 1, but they are {cutoffs!r}.")
        queries = QueryRows.of(read_queries(group, len(y), owner).number)
        longest = int(queries.sizes.max())
        places = sorted({min(int(one), longest) for one in cutoffs})
        several = scores if isinstance(scores, Mapping) else {name: scores}
        return cls({called: _curve(y, one, queries, places) for called, one in several.items()}).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "NDCGDisplay":
        """Draw the curves with bands of two standard errors; on axes that have some already, in the next colours."""
        self.ax_ = axes_for(ax)
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        before = [line for line in self.ax_.lines if line.get_gid() == CURVE]
        self.lines_ = []
        for number, (places, values, errors) in enumerate(self.curves.values(), len(before)):
            spread = 2.0 * np.nan_to_num(errors)
            band = {"color": look.mixed(look.colour(number), 0.3), "alpha": 0.4, "linewidth": 0.0}
            self.ax_.fill_between(places, np.maximum(values - spread, 0.0), np.minimum(values + spread, 1.0), **band)
            (line,) = self.ax_.plot(places, values, gid=CURVE, marker="o", markersize=3.5, **look.line(number))
            self.lines_.append(line)
        write_axes(self.ax_, "Cut-off", "NDCG, mean over queries")
        finish(self.ax_, look)
        self.texts_ = name_curves(self.ax_, self.lines_, list(self.curves), before)
        return self


def _curve(y: Floats, scores: Any, queries: QueryRows, places: list[int]) -> tuple[Floats, Floats, Floats]:
    """Cut-offs, and NDCG at each with its standard error."""
    found = [mean_over_queries(QueryMetric("ndcg", place).by_query(y, scores, queries)) for place in places]
    values, errors = np.array(found, np.float64).T
    return np.array(places, np.float64), values, errors
