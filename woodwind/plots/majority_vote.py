"""The curve of the majority vote: its error by the number of voters (Condorcet 1785)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from woodwind.base.errors import DataError, ParameterError
from woodwind.diversity import correlated_majority_probability, majority_probability
from woodwind.plots.labels import name_lines
from woodwind.plots.style import PlotStyle, axes_for, finish, write_axes


class MajorityVoteDisplay:
    """The error of a majority vote by the number of its voters, a curve for each accuracy of theirs: Condorcet's jury theorem.

    Voters that are right more often than not err less and less together, others more and more; voters that err together gain little.
    Make it with `from_accuracies`.

    Parameters
    ----------
    curves : dict of (sizes, errors)
        For each curve its name, the numbers of voters and the error of the vote of so many.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    lines_, texts_ : lists
        The curves, and the names beside them.

    Examples
    --------
    >>> from woodwind.plots import MajorityVoteDisplay
    >>> display = MajorityVoteDisplay.from_accuracies([0.6, 0.5], max_members=5)
    >>> display.curves["each right in 60 %"][1].round(3).tolist()
    [0.4, 0.352, 0.317]
    """

    def __init__(self, curves: Mapping[str, Any]) -> None:
        self.curves = {str(name): (np.asarray(sizes, np.int64), np.asarray(errors, np.float64)) for name, (sizes, errors) in curves.items()}
        if not self.curves or any(
            sizes.ndim != 1 or sizes.shape != errors.shape or not len(sizes) for sizes, errors in self.curves.values()
        ):
            raise DataError(f"{type(self).__name__}: curves must have at least one, each with as many errors as sizes.")

    @classmethod
    def from_accuracies(
        cls, accuracies: Any, *, max_members: int = 101, correlation: float = 0.0, ax: Axes | None = None
    ) -> "MajorityVoteDisplay":
        """Draw what theory says of voters with given accuracies.

        Parameters
        ----------
        accuracies : float, sequence of floats, or dict
            How often a voter is right: one number for each curve, all voters of which are equally good. A dict has the curves by name, each
            with one number, or with one for each voter; the vote of so many is then that of the first ones.
        max_members : int, default=101
            The largest number of equal voters. Odd numbers are drawn: one more voter than those changes nothing, since a tie is a coin.
        correlation : float, default=0.0
            Of being right, between any two of equal voters, as in `correlated_majority_probability`.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        owner = cls.__name__
        if not isinstance(max_members, int | np.integer) or max_members < 1:
            raise ParameterError(f"{owner}: max_members must be a whole number of at least 1, but is {max_members!r}.")
        given = accuracies
        if not isinstance(accuracies, Mapping):
            given = {f"each right in {100.0 * one:.3g} %": one for one in np.atleast_1d(np.asarray(accuracies, np.float64))}
        return cls({name: curve_of(one, max_members, correlation, owner) for name, one in given.items()}).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "MajorityVoteDisplay":
        """Draw the curves; on axes that have some already, in the next colours."""
        self.ax_ = axes_for(ax)
        self.figure_, look, before = self.ax_.figure, PlotStyle.of(self.ax_), len(self.ax_.lines)
        self.lines_, ends = [], []
        for number, (sizes, errors) in enumerate(self.curves.values(), before):
            alone = {"marker": "o", "markersize": 4} if len(sizes) < 12 else {}
            (line,) = self.ax_.plot(sizes, errors, **look.line(number), **alone)
            self.lines_.append(line)
            ends.append((float(sizes[-1]), float(errors[-1])))
        self.ax_.set_ylim(bottom=0.0)
        write_axes(self.ax_, "Number of voters", "Error of the majority vote (share of rows)")
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        finish(self.ax_, look)
        self.texts_ = name_lines(self.ax_, ends, list(self.curves), [line.get_color() for line in self.lines_])
        return self


def curve_of(accuracy: Any, max_members: int, correlation: float, owner: str) -> tuple[Any, Any]:
    """Numbers of voters, and the error of the vote of so many."""
    if np.ndim(accuracy) == 0:
        sizes = np.arange(1, max_members + 1, 2)
        if correlation == 0.0:
            return sizes, np.array([1.0 - majority_probability(float(accuracy), int(size)) for size in sizes])
        return sizes, np.array([1.0 - correlated_majority_probability(float(accuracy), int(size), correlation) for size in sizes])
    each = np.asarray(accuracy, np.float64)
    if correlation != 0.0:
        raise ParameterError(f"{owner}: correlation is for voters that are equally good. Give one accuracy for a curve, or correlation=0.")
    if each.ndim != 1 or not len(each):
        raise ParameterError(f"{owner}: the accuracies of the voters of a curve must be a list of numbers, but are of shape {each.shape}.")
    sizes = np.arange(1, len(each) + 1)
    return sizes, np.array([1.0 - majority_probability(each[:size]) for size in sizes])
