"""Bars of importance: how much a model relies on each column."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from woodwind.base.errors import DataError, ParameterError
from woodwind.plots.labels import fit_rows
from woodwind.plots.style import TINY, PlotStyle, axes_for, finish, write_axes

KINDS = {
    "gain": "Gain (sum over splits)",
    "split": "Splits",
    "cover": "Cover (weight of the rows that met splits)",
    "mean_gain": "Gain (mean over splits)",
    "mean_cover": "Cover (mean over splits)",
    "share": "Share of the total gain",
    "shap": "Mean size of the SHAP values",
}


class ImportanceDisplay:
    """A bar for each column, the most important at the top.

    Make it with `from_estimator` or `from_explanation`.

    Parameters
    ----------
    names : list of str
        The columns.
    values : array
        Their importance.
    kind : str
        What it is, for the axis.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    bars_ : container
        The bars, the most important first.
    """

    def __init__(self, names: Any, values: Any, kind: str = "Importance") -> None:
        self.names, self.values, self.kind = [str(name) for name in names], np.asarray(values, np.float64), kind
        if self.values.shape != (len(self.names),) or not self.names:
            raise DataError(f"{type(self).__name__}: there must be one value for each name, and at least one.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, importance_type: str = "share", max_display: int = 20, ax: Axes | None = None
    ) -> "ImportanceDisplay":
        """Ask a trained model.

        Parameters
        ----------
        estimator : fitted model
            One with `feature_importances_`; other kinds than 'share' are of Woodwind's trees.
        X : table, default=None
            Rows to explain, for 'shap'.
        importance_type : {'share', 'gain', 'split', 'cover', 'mean_gain', 'mean_cover', 'shap'}, default='share'
            'share' is `feature_importances_`, 'shap' the mean size of the Shapley values of the rows of X; the others are those of
            `feature_importance`.
        max_display : int, default=20
            Columns that are drawn at most.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        if importance_type not in KINDS:
            raise ParameterError(f"{cls.__name__}: importance_type must be one of {', '.join(KINDS)}, but it is {importance_type!r}.")
        if importance_type == "shap":
            if X is None:
                raise ParameterError(f"{cls.__name__}: importance_type='shap' explains rows. Give them as X.")
            return cls.from_explanation(estimator.explain(X), max_display=max_display, ax=ax)
        if importance_type == "share":
            values = estimator.feature_importances_
        elif hasattr(estimator, "feature_importance"):
            values = estimator.feature_importance(importance_type)
        else:
            raise ParameterError(f"{cls.__name__}: {type(estimator).__name__} has no importance of this kind. Set importance_type='share'.")
        names = getattr(estimator, "feature_names_in_", [f"feature {column}" for column in range(len(values))])
        return cls(names, values, KINDS[importance_type]).plot(ax=ax, max_display=max_display)

    @classmethod
    def from_explanation(cls, explanation: Any, *, max_display: int = 20, ax: Axes | None = None) -> "ImportanceDisplay":
        """The mean size of the Shapley values of an `Explanation`; of several scores, their mean."""
        return cls(explanation.names, explanation.importance().mean(axis=1), KINDS["shap"]).plot(ax=ax, max_display=max_display)

    def plot(self, ax: Axes | None = None, *, max_display: int = 20) -> "ImportanceDisplay":
        """Draw the bars."""
        order = np.argsort(-self.values, kind="stable")[:max_display]
        self.ax_ = axes_for(ax, (6.4, max(1.4, 0.8 + 0.27 * len(order))))
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        rows = np.arange(len(order))
        self.bars_ = self.ax_.barh(rows, self.values[order], height=0.7, color=look.mixed(look.colour(0), 0.75))
        fit_rows(self.ax_, [self.names[column] for column in order])
        self.ax_.set(ylim=(len(order) - 0.4, -0.6))
        for row, value in zip(rows, self.values[order], strict=True):
            self.ax_.annotate(
                f"{value:.3g}", (value, row), (3, 0), textcoords="offset points", fontsize=TINY, color=look.faint, va="center"
            )
        self.ax_.margins(x=0.12)
        left_out = len(self.values) - len(order)
        write_axes(self.ax_, self.kind + (f"; {left_out} columns of less are left out" if left_out else ""), "")
        finish(self.ax_, look, grid="x")
        return self


def plot_importance(estimator: Any, X: Any = None, **options: Any) -> ImportanceDisplay:
    """Draw how much a trained model relies on each column: `ImportanceDisplay.from_estimator` with the same arguments."""
    return ImportanceDisplay.from_estimator(estimator, X, **options)
