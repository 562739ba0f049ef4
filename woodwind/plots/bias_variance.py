"""Bars of bias and variance: why learners err."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from woodwind.base.errors import DataError
from woodwind.diversity import BiasVariance, squared_decomposition, zero_one_decomposition
from woodwind.estimators.diagnostics.diversity_tools import bias_variance
from woodwind.plots.labels import fit_rows, key_above
from woodwind.plots.style import SMALL, PlotStyle, axes_for, finish, write_axes

HATCHES = ("", "////", "....", "xxxx")


class BiasVarianceDisplay:
    """A bar for each learner, as long as its parts: noise, bias and variance. The mark at its end is their sum, the loss.

    Of 0-1 loss, variance on rows where the main prediction is wrong helps: that part goes to the left of zero. Make it with
    `from_estimator` or `from_predictions`.

    Parameters
    ----------
    parts : dict of BiasVariance
        By name of the learner.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    bars_ : dict of containers
        The bars of each part.
    marks_ : line
        The losses.
    texts_ : list
        The numbers beside them.
    """

    def __init__(self, parts: Mapping[str, BiasVariance]) -> None:
        self.parts = {str(name): one for name, one in parts.items()}
        if not self.parts or not all(isinstance(one, BiasVariance) for one in self.parts.values()):
            raise DataError("BiasVarianceDisplay: parts must be a dict of results of woodwind.bias_variance or woodwind.diversity.")
        if len({one.method for one in self.parts.values()}) > 1:
            raise DataError("BiasVarianceDisplay: bars of different decompositions cannot be compared. Draw one picture for each.")

    @classmethod
    def from_estimator(
        cls,
        estimators: Any,
        X_train: Any,
        y_train: Any,
        X_test: Any = None,
        y_test: Any = None,
        *,
        n_rounds: int = 50,
        random_state: Any = None,
        ax: Axes | None = None,
    ) -> "BiasVarianceDisplay":
        """Train learners again and again on rows drawn with replacement, and draw why they err.

        Parameters
        ----------
        estimators : estimator, or dict of them by name
            Not trained.
        X_train, y_train : table and target
            Rows to draw from.
        X_test, y_test : table and target, default=None
            Rows to score by; None for the rows that were not drawn.
        n_rounds : int, default=50
            How often each is trained.
        random_state : None, int or generator, default=None
            The same seed gives the same rows.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        several = estimators if isinstance(estimators, Mapping) else {type(estimators).__name__: estimators}
        rows = X_train, y_train, X_test, y_test
        found = {name: bias_variance(one, *rows, n_rounds=n_rounds, random_state=random_state) for name, one in several.items()}
        return cls(found).plot(ax=ax)

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Mapping[str, Any] | Any, *, ax: Axes | None = None) -> "BiasVarianceDisplay":
        """Decompose predictions (rounds, n) of a learner that was trained on other rows in each round; or a dict of such by learner.

        0-1 loss by Domingos for labels, squared loss where `y_true` are numbers with a fraction.
        """
        truth = np.asarray(y_true)
        decompose = squared_decomposition if truth.dtype.kind == "f" else zero_one_decomposition
        several = y_pred if isinstance(y_pred, Mapping) else {"learner": y_pred}
        return cls({name: decompose(truth, predicted) for name, predicted in several.items()}).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "BiasVarianceDisplay":
        """Draw the bars, the first learner on top."""
        found, position = list(self.parts.values()), np.arange(len(self.parts))
        self.ax_ = axes_for(ax, (6.4, 1.5 + 0.42 * len(found)))
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        columns = {
            "noise": [one.noise for one in found],
            "bias": [one.bias for one in found],
            "variance": [one.variance_unbiased for one in found],
            "variance that helps": [-one.variance_biased for one in found],
        }
        so_far, self.bars_ = np.zeros(len(found)), {}
        for number, (part, values) in enumerate(columns.items()):
            width = np.asarray(values)
            if not np.any(width):
                continue
            negative = part == "variance that helps"
            style = {"color": look.mixed(look.colour((2, 0, 1, 1)[number]), 0.5 if negative else 0.9), "hatch": HATCHES[number]}
            start = np.zeros(len(found)) if negative else so_far
            self.bars_[part] = self.ax_.barh(position, width, left=start, height=0.62, edgecolor=look.paper, linewidth=0.6, **style)
            so_far = so_far if negative else so_far + width
        loss = [one.loss for one in found]
        (self.marks_,) = self.ax_.plot(loss, position, linestyle="", marker="D", markersize=6, color=look.ink, markeredgecolor=look.paper)
        self._write(look, so_far)
        return self

    def _write(self, look: PlotStyle, ends: Any) -> None:
        fit_rows(self.ax_, list(self.parts))
        self.ax_.set_ylim(len(self.parts) - 0.5, -0.5)
        self.ax_.axvline(0.0, color=look.faint, linewidth=0.9)
        squared = "squared" in next(iter(self.parts.values())).method
        self.ax_.margins(x=0.12)
        finish(self.ax_, look, grid="x")
        self.ax_.tick_params(axis="y", length=0)
        write_axes(self.ax_, "Mean squared error (units of y, squared)" if squared else "Error (share of rows)", "")
        style = {"textcoords": "offset points", "va": "center", "fontsize": SMALL, "color": look.ink}
        self.texts_ = [
            self.ax_.annotate(f"{one.loss:.3g}", (max(end, one.loss), position), (6.0, 0.0), **style)
            for position, (one, end) in enumerate(zip(self.parts.values(), ends, strict=True))
        ]
        key_above(self.ax_, [*self.bars_.values(), self.marks_], [*self.bars_, "their sum, the loss"])
