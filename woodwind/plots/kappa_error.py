"""The kappa-error diagram: how alike two members are, and how good (Margineantu & Dietterich 1997)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from woodwind.base.errors import DataError, ParameterError
from woodwind.diversity import kappa
from woodwind.plots.labels import name_over, name_points, outstanding, shortened
from woodwind.plots.members import Floats, MemberPredictions, holds_classifiers
from woodwind.plots.style import MARKS, PlotStyle, adjust_layout, axes_for, finish, point_style, write_axes

CLOUD = "woodwind: pairs"


class KappaErrorDisplay:
    """A point for each pair of members: their kappa, and the mean of their errors. Good ensembles lie low and to the left.

    Make it with `from_estimator` or `from_predictions`; several ensembles may be drawn on the same axes.

    Parameters
    ----------
    kappa, error : arrays (p,)
        Of every pair.
    names : sequence of str, (p,)
        Of the pairs.
    name : str or None
        Of the ensemble, written beside the mean of its pairs.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    scatter_ : collection
        The pairs.
    centre_ : line
        The mean of the pairs.
    texts_ : list
        The names that were written.
    """

    def __init__(self, kappa: Any, error: Any, *, names: Sequence[str] | None = None, name: str | None = None) -> None:
        self.kappa, self.error = np.asarray(kappa, np.float64), np.asarray(error, np.float64)
        if self.kappa.ndim != 1 or self.kappa.shape != self.error.shape or not len(self.kappa):
            shapes = f"{self.kappa.shape} and {self.error.shape}"
            raise DataError(f"KappaErrorDisplay: kappa and error must have one number for each pair, but are of shapes {shapes}.")
        self.names, self.name = None if names is None else [str(one) for one in names], name

    @classmethod
    def from_estimator(cls, estimators: Any, X: Any, y: Any, *, name: str | None = None, ax: Axes | None = None) -> "KappaErrorDisplay":
        """Ask the members of a trained ensemble, or of a list or dict of trained classifiers.

        Parameters
        ----------
        estimators : fitted ensemble with `estimators_`, list of classifiers, list of (name, classifier), or dict
        X, y : table and labels
            Rows that the members have not seen: of rows that they were trained on they are all too sure.
        name : str, default=None
            Of the ensemble.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        if not holds_classifiers(estimators):
            raise ParameterError(
                f"{cls.__name__}: kappa is a measure of labels, and the members are no trained classifiers. MemberCorrelationDisplay shows "
                "how alike the errors of regressors are."
            )
        predicted = MemberPredictions.by(estimators, X, y, cls.__name__)
        return cls._of(predicted, name, ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, member_names: Sequence[str] | None = None, name: str | None = None, ax: Axes | None = None
    ) -> "KappaErrorDisplay":
        """The same from labels that members predict, (n, m), or a dict of them by name."""
        predicted = MemberPredictions.of(y_true, y_pred, member_names, cls.__name__)
        fractions = predicted.predicted.dtype.kind == "f" and bool((predicted.predicted != np.rint(predicted.predicted)).any())
        if fractions:
            raise DataError(
                f"{cls.__name__}: kappa is a measure of labels, and y_pred has numbers with a fraction. MemberCorrelationDisplay shows how "
                "alike the errors of regressors are; of probabilities take the most probable label."
            )
        return cls._of(predicted, name, ax)

    @classmethod
    def _of(cls, predicted: MemberPredictions, name: str | None, ax: Axes | None) -> "KappaErrorDisplay":
        errors = 1.0 - predicted.hits.mean(axis=0)
        first, second = np.triu_indices(len(errors), 1)
        alike = kappa(predicted.predicted)[first, second]
        names = [f"{shortened(predicted.names[i], 12)} – {shortened(predicted.names[j], 12)}" for i, j in zip(first, second, strict=True)]
        return cls(alike, 0.5 * (errors[first] + errors[second]), names=names, name=name).plot(ax=ax)

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> "KappaErrorDisplay":
        """Draw the pairs; on axes that have some already, in the next colour."""
        self.ax_ = axes_for(ax)
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        number = sum(one.get_gid() == CLOUD for one in self.ax_.collections)
        points: Floats = np.column_stack([self.kappa, self.error])
        self.scatter_ = self.ax_.scatter(self.kappa, self.error, gid=CLOUD, **point_style(look, number, len(points)))
        centre = points.mean(axis=0)
        (self.centre_,) = self.ax_.plot(
            *centre, marker=MARKS[number % len(MARKS)], markersize=9, color=look.colour(number), markeredgecolor=look.ink, zorder=3
        )
        write_axes(self.ax_, "Kappa of two members (1: they always say the same)", "Mean error of the two (share of rows)")
        finish(self.ax_, look)
        named = name or self.name
        adjust_layout(self.ax_)
        self.texts_ = [name_over(self.ax_, tuple(centre), named or "mean of pairs", look)]
        if self.names is not None and not named:
            self.texts_ += name_points(self.ax_, points, self.names, outstanding(points), look, self.texts_)
        return self
