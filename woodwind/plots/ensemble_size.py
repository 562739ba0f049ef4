"""The error of an ensemble by the number of its members."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.estimators.diagnostics.staged import leaves_rows_out, staged_out_of_bag, staged_predictions
from woodwind.plots.labels import name_lines
from woodwind.plots.style import PlotStyle, axes_for, finish, write_axes

Floats = NDArray[np.float64]
Measure = Callable[[NDArray[Any], NDArray[Any]], float]

WRONG, ROOT = "Error (share of rows)", "Root mean squared error (units of y)"
GIVEN, TRAINED, UNSEEN = "given rows", "training rows", "out of bag"


def share_wrong(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The share of rows whose label is wrong."""
    return float(np.mean(truth != predicted))


def root_mean_square(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The root of the mean squared error, in the units of the target."""
    return float(np.sqrt(np.mean((np.asarray(truth, np.float64) - predicted) ** 2)))


class EnsembleSizeDisplay:
    """Error by number of members, for as many curves as there are sets of rows.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    errors : dict of arrays
        For each curve its name, and the error with one member, two, and so on.
    error_name : str
        What the error is, for the axis.
    name : str or None
        Name of the ensemble, written before the names of its curves.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    lines_, texts_ : lists
        The curves, and the names beside them.
    """

    def __init__(self, errors: Mapping[str, Any], *, error_name: str = "Error", name: str | None = None) -> None:
        self.errors = {str(curve): np.asarray(list(values), np.float64) for curve, values in errors.items()}
        self.error_name, self.name = error_name, name
        if not self.errors or any(values.ndim != 1 or not len(values) for values in self.errors.values()):
            raise DataError(f"{type(self).__name__}: errors must have at least one curve, each a list of numbers that is not empty.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        training: tuple[Any, Any] | None = None,
        error: Measure | None = None,
        error_name: str | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> "EnsembleSizeDisplay":
        """Ask a trained ensemble what it predicts with fewer members, and draw the errors.

        Parameters
        ----------
        estimator : fitted ensemble
            One with `staged_predict` (boosting, AdaBoost, bagging), a forest, or another whose prediction is the mean of `estimators_`.
        X, y : table and target, default=None
            Rows that the ensemble has not seen.
        training : (X, y), default=None
            The rows of the training: adds the curve of the error on these and, for forests and bags whose members leave rows out, of
            the error out of the bag.
        error : callable, default=None
            error(truth, predictions) -> float; None for the share of wrong labels, or the root of the mean squared error.
        error_name : str, default=None
            What to write on the axis for it.
        name : str, default=None
            Name of the ensemble, to tell curves of several on the same axes.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        """
        rows = {GIVEN: (X, y), TRAINED: training or (None, None)}
        if all(table is None for table, _ in rows.values()):
            raise ParameterError(f"{cls.__name__}: there are no rows to measure the error on. Give X and y, or training=(X, y).")
        classifies = hasattr(estimator, "classes_")
        measure = error or (share_wrong if classifies else root_mean_square)
        told = error_name or ("Error" if error else WRONG if classifies else ROOT)
        errors = {}
        for curve, (table, target) in rows.items():
            if table is not None:
                truth = np.asarray(target)
                errors[curve] = [measure(truth, predicted) for predicted in staged_predictions(estimator, table)]
        if training is not None and leaves_rows_out(estimator):
            truth = np.asarray(training[1])
            stages = staged_out_of_bag(estimator, training[0])
            errors[UNSEEN] = [measure(truth[rows], predicted) if len(rows) else np.nan for rows, predicted in stages]
        return cls(errors, error_name=told, name=name).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        staged: Iterable[Any] | Mapping[str, Iterable[Any]],
        *,
        error: Measure | None = None,
        error_name: str | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> "EnsembleSizeDisplay":
        """The same from predictions that are there: those of one member, of two, and so on; or a dict of such, for several curves.

        Predictions are labels where `y_true` are labels, and numbers where they are numbers with a fraction.
        """
        truth = np.asarray(y_true)
        measure = error or (root_mean_square if truth.dtype.kind == "f" else share_wrong)
        told = error_name or ("Error" if error else WRONG if measure is share_wrong else ROOT)
        curves = staged if isinstance(staged, Mapping) else {GIVEN: staged}
        errors: dict[str, list[float]] = {}
        for curve, stages in curves.items():
            errors[curve] = []
            for predicted in stages:
                if np.shape(predicted) != truth.shape:
                    raise DataError(
                        f"{cls.__name__}: predictions of a stage must be as many as the {len(truth):,} rows of y_true, "
                        f"but stage {len(errors[curve]) + 1} of '{curve}' has the shape {np.shape(predicted)}."
                    )
                errors[curve].append(measure(truth, np.asarray(predicted)))
        return cls(errors, error_name=told, name=name).plot(ax=ax)

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> "EnsembleSizeDisplay":
        """Draw the curves; on axes that have some already, in the next colours."""
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        look, before = PlotStyle.of(self.ax_), len(self.ax_.lines)
        named = name or self.name
        self.lines_, ends = [], []
        for number, values in enumerate(self.errors.values()):
            sizes = np.arange(1, len(values) + 1)
            alone = {"marker": "o", "markersize": 4} if len(values) < 12 else {}
            (line,) = self.ax_.plot(sizes, values, **look.line(before + number), **alone)
            self.lines_.append(line)
            there = np.flatnonzero(np.isfinite(values))
            ends.append((float(sizes[-1]), float(values[there[-1]]) if len(there) else 0.0))
        write_axes(self.ax_, "Number of members", self.error_name)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        finish(self.ax_, look)
        curves = [f"{named}: {curve}" if named else curve for curve in self.errors]
        self.texts_ = name_lines(self.ax_, ends, curves, [line.get_color() for line in self.lines_])
        return self
