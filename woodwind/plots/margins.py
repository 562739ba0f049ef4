"""The distribution of margins: how sure ensembles are of what is true (Schapire, Freund, Bartlett & Lee 1998)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from woodwind.base.errors import DataError, ParameterError
from woodwind.diversity import margin_distribution, probability_margins, vote_margins
from woodwind.estimators.diagnostics.staged import has_row_weights, learners_of
from woodwind.plots.labels import name_curves
from woodwind.plots.style import TINY, PlotStyle, axes_for, finish, write_axes

CURVE = "woodwind: margins"


class MarginDisplay:
    """For each ensemble the share of rows with at most such a margin: left of 0 it is wrong, and at 1 all members agree on what is true.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    margins : dict of arrays
        For each ensemble its name and the margins of the rows, from -1 to 1.

    Attributes
    ----------
    distributions_ : dict of MarginDistribution
        What is drawn.
    ax_, figure_
        Axes and figure of the picture.
    lines_, texts_ : lists
        The curves, and the names beside them.
    """

    def __init__(self, margins: Mapping[str, Any]) -> None:
        self.margins = {str(name): np.asarray(values, np.float64) for name, values in margins.items()}
        if not self.margins:
            raise DataError("MarginDisplay: margins must have at least one ensemble.")
        self.distributions_ = {name: margin_distribution(values) for name, values in self.margins.items()}

    @classmethod
    def from_estimator(cls, estimators: Any, X: Any, y: Any, *, name: str | None = None, ax: Axes | None = None) -> "MarginDisplay":
        """Ask a trained ensemble of classifiers for its margins, or several.

        Parameters
        ----------
        estimators : fitted classifier, or dict of them by name
            Of AdaBoost, margins are of the weighted votes; of others, of the probabilities that they predict.
        X, y : table and labels
        name : str, default=None
            Of the ensemble, if it is one.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        several = estimators if isinstance(estimators, Mapping) else {name or type(estimators).__name__: estimators}
        return cls({called: margins_of(one, X, y, cls.__name__) for called, one in several.items()}).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, weights: Any = None, name: str = "vote", ax: Axes | None = None
    ) -> "MarginDisplay":
        """The same from the labels that members vote for, (n, m), with the weights of their votes; or a dict of such by ensemble."""
        several = y_pred if isinstance(y_pred, Mapping) else {name: y_pred}
        if isinstance(y_pred, Mapping) and weights is not None:
            raise ParameterError(f"{cls.__name__}: weights are those of one ensemble, but there are several. Draw each by itself.")
        return cls({called: vote_margins(y_true, votes, weights) for called, votes in several.items()}).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "MarginDisplay":
        """Draw the curves; on axes that have some already, in the next colours."""
        self.ax_ = axes_for(ax)
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        before = [line for line in self.ax_.lines if line.get_gid() == CURVE]
        if not before:
            self.ax_.axvline(0.0, color=look.faint, linewidth=0.9)
            for side, word in ((-1, "wrong "), (1, " right")):
                where = {"ha": "right" if side < 0 else "left", "va": "top", "fontsize": TINY, "color": look.faint}
                self.ax_.text(0.0, 0.995, word, transform=self.ax_.get_xaxis_transform(), **where)
        self.lines_ = []
        for number, found in enumerate(self.distributions_.values(), len(before)):
            x, y = np.concatenate([[-1.02], found.values, [1.02]]), np.concatenate([[0.0], found.cumulative, [1.0]])
            (line,) = self.ax_.step(x, y, where="post", gid=CURVE, **look.line(number))
            self.lines_.append(line)
        self.ax_.set(xlim=(-1.02, 1.02), ylim=(0.0, 1.04))
        write_axes(self.ax_, "Margin (votes for the truth less those for the best other class)", "Share of rows with at most this margin")
        finish(self.ax_, look)
        self.texts_ = name_curves(self.ax_, self.lines_, list(self.margins), before)
        return self


def margins_of(ensemble: Any, X: Any, y: Any, owner: str) -> Any:
    """The margins of one ensemble."""
    if not hasattr(ensemble, "classes_"):
        kind = type(ensemble).__name__
        raise ParameterError(f"{owner}: {kind} has no predict_proba and no classes_. StrengthDiversityDisplay is for numbers.")
    if has_row_weights(ensemble) and str(getattr(ensemble, "algorithm", "samme")).lower() != "samme.r":
        learners, classes = learners_of(ensemble), np.asarray(ensemble.classes_)
        weights = np.asarray(ensemble.estimator_weights_)[: len(learners)]
        return vote_margins(y, classes[learners.votes(X, owner)], weights)
    if not hasattr(ensemble, "predict_proba"):
        kind = type(ensemble).__name__
        raise ParameterError(f"{owner}: {kind} has no predict_proba. Give what its members vote for to from_predictions.")
    return probability_margins(y, ensemble.predict_proba(X), classes=ensemble.classes_)
