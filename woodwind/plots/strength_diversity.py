"""Strength and diversity of members: how good each is, and how different from the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from woodwind.base.errors import DataError, ParameterError
from woodwind.diversity import ambiguity_decomposition, error_correlation, good_and_bad_diversity, pairwise, probability_correlation
from woodwind.plots.labels import name_points, outstanding
from woodwind.plots.members import Floats, MemberPredictions
from woodwind.plots.style import SMALL, PlotStyle, adjust_layout, axes_for, finish, point_style, write_axes

MEASURES = {
    "disagreement": "Mean disagreement with the others (share of rows)",
    "q_statistic": "Mean Q with the others (less is more diverse)",
    "correlation": "Mean correlation with the others (less is more diverse)",
    "double_fault": "Mean share of rows wrong together with another",
    "kappa": "Mean kappa with the others (less is more diverse)",
    "probability_correlation": "Mean correlation of class probabilities with the others (less is more diverse)",
}


@dataclass(frozen=True)
class AxisLabels:
    """What is written on the axes."""

    diversity: str = MEASURES["disagreement"]
    strength: str = "Accuracy (share of rows)"


class StrengthDiversityDisplay:
    """A point for each member: how much it differs from the others, and how good it is; a line for all of them together.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    diversity, strength : arrays (m,)
        Of every member.
    together : float or None
        What the vote, or the mean, of all members reaches.
    names : sequence of str, (m,)
    axis : Axis
        What is written on the axes.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    scatter_ : collection
        The members.
    line_ : line or None
        That of all together.
    texts_ : list
        The names that were written.
    """

    def __init__(
        self,
        diversity: Any,
        strength: Any,
        *,
        together: float | None = None,
        names: Sequence[str] | None = None,
        axis: AxisLabels | None = None,
    ) -> None:
        self.diversity, self.strength = np.asarray(diversity, np.float64), np.asarray(strength, np.float64)
        if self.diversity.ndim != 1 or self.diversity.shape != self.strength.shape or not len(self.strength):
            raise DataError(
                "StrengthDiversityDisplay: diversity and strength must have one number for each member, "
                f"but are {self.diversity.shape}, {self.strength.shape}."
            )
        self.together, self.axis = together, axis or AxisLabels()
        self.names = None if names is None else [str(one) for one in names]

    @classmethod
    def from_estimator(
        cls, estimators: Any, X: Any, y: Any, *, measure: str = "disagreement", ax: Axes | None = None
    ) -> "StrengthDiversityDisplay":
        """Ask the members of a trained ensemble, or of a list or dict of trained models.

        Parameters
        ----------
        estimators : fitted ensemble with `estimators_`, list of models, list of (name, model), or dict
        X, y : table and target
            Rows that the members have not seen.
        measure : {'disagreement', 'q_statistic', 'correlation', 'double_fault', 'kappa', 'probability_correlation'}, default='disagreement'
            Of classifiers, what is averaged over the other members; the last one is of the probabilities that they predict, not of their
            votes. Of regressors it is the correlation of errors.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        return cls._of(MemberPredictions.by(estimators, X, y, cls.__name__, soft=measure == "probability_correlation"), measure, ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, member_names: Sequence[str] | None = None, measure: str = "disagreement", ax: Axes | None = None
    ) -> "StrengthDiversityDisplay":
        """The same from what members predict, (n, m), or a dict of it by name: labels, or numbers where `y_true` has a fraction."""
        return cls._of(MemberPredictions.of(y_true, y_pred, member_names, cls.__name__), measure, ax)

    @classmethod
    def _of(cls, predicted: MemberPredictions, measure: str, ax: Axes | None) -> "StrengthDiversityDisplay":
        if measure not in MEASURES:
            raise ParameterError(f"{cls.__name__}: measure must be one of {', '.join(map(repr, MEASURES))}, but is {measure!r}.")
        if predicted.are_numbers:
            parts = ambiguity_decomposition(predicted.truth, predicted.predicted)
            others = mean_of_others(error_correlation(predicted.truth, predicted.predicted))
            axis = AxisLabels("Mean correlation of errors with the others", "Root mean squared error (units of y)")
            return cls(others, np.sqrt(parts.member_errors), together=parts.ensemble_error**0.5, names=predicted.names, axis=axis).plot(
                ax=ax
            )
        if measure == "probability_correlation":
            if predicted.probabilities is None:
                raise ParameterError(
                    f"{cls.__name__}: measure='probability_correlation' is of probabilities, which from_estimator asks for."
                )
            matrix = probability_correlation(predicted.probabilities)
        else:
            matrix = getattr(pairwise(predicted.hits, predicted.predicted if measure == "kappa" else None), measure)
        vote = 1.0 - good_and_bad_diversity(predicted.truth, predicted.predicted).vote_error
        axis = AxisLabels(MEASURES[measure])
        return cls(mean_of_others(matrix), predicted.hits.mean(axis=0), together=vote, names=predicted.names, axis=axis).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "StrengthDiversityDisplay":
        """Draw the members."""
        self.ax_ = axes_for(ax)
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        points: Floats = np.column_stack([self.diversity, self.strength])
        self.scatter_ = self.ax_.scatter(self.diversity, self.strength, **point_style(look, 0, len(points)))
        self.ax_.margins(0.12)
        self.line_, self.texts_ = None, []
        write_axes(self.ax_, self.axis.diversity, self.axis.strength)
        finish(self.ax_, look)
        if self.together is not None:
            self.line_ = self.ax_.axhline(self.together, **look.line(1))
            adjust_layout(self.ax_)
            where = {"xy": (1.0, self.together), "xycoords": ("axes fraction", "data"), "xytext": (-2.0, 3.0)}
            self.texts_.append(
                self.ax_.annotate(
                    f"all together: {self.together:.3g}",
                    **where,
                    textcoords="offset points",
                    ha="right",
                    va="bottom",
                    color=look.colour(1),
                    fontsize=SMALL,
                )
            )
        if self.names is not None:
            # No name stands on the line of all together.
            line = np.zeros((0, 2)) if self.together is None else np.column_stack([grid_between(self.ax_), np.full(200, self.together)])
            everything = np.concatenate([points, line])
            self.texts_ += name_points(self.ax_, everything, self.names, outstanding(points), look, self.texts_)
        return self


def grid_between(ax: Axes) -> Floats:
    """Positions along the x axis."""
    low, high = ax.get_xlim()
    return np.linspace(low, high, 200)


def mean_of_others(matrix: Floats) -> Floats:
    """Of a measure of pairs (m, m) the mean over the other members, (m,)."""
    return np.asarray((matrix.sum(axis=1) - np.diagonal(matrix)) / (len(matrix) - 1))
