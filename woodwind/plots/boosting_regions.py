"""Boosting of classes on two features, stage by stage: which class is predicted where, and which rows weigh most."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.estimators.diagnostics.staged import has_row_weights, learners_of, staged_predictions, staged_row_weights
from woodwind.plots.boosting_stages import SOME, read_stages
from woodwind.plots.labels import shortened
from woodwind.plots.rows import NumericRows
from woodwind.plots.style import MARKS, SIGNS, SMALL, PlotStyle, finish, grid_of_axes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SIDE = 160  # points along a side of the grid
MOST_COLUMNS = 3
MOST_CLASSES = len(MARKS)
AREA = 15.0  # of the mark of a row of mean weight, in square points
NAME_SHAPE = 3.0  # a name is so many times as wide as high
SMALLEST, LARGEST = 0.15, 20.0  # times that


class Regions(NamedTuple):
    """What is predicted at each point of a grid, as numbers of classes (n_stages, s, s): the second feature goes upwards."""

    stages: Sequence[int]  # which stages these are, counted from one
    predicted: NDArray[Any]  # after each of them
    extent: tuple[float, float, float, float]  # of the grid: left, right, bottom, top
    newest: NDArray[Any] | None = None  # by the learner of each of them alone


class BoostingRegionsDisplay:
    """A picture for each stage: the regions of the classes after it, and the rows, as large as they weighed when its learner was trained.

    A dashed line is where the learner of the stage itself changes its mind, where that is known. Make it with `from_estimator` or
    `from_predictions`.

    Parameters
    ----------
    points : array (n, 2)
        The rows.
    labels : array (n,)
        Their classes.
    classes : sequence of labels
        All of them, in order.
    regions : Regions
        Which stages to show, and the classes on a grid after each of them.
    weights : array (n_stages, n), default=None
        Of the rows, in each of these stages.
    feature_names : (str, str)
        For the axes.

    Attributes
    ----------
    axes_ : array of axes
    figure_
        The figure of the picture.
    images_, scatters_ : lists
        For each stage the regions, and the points of every class.
    texts_ : list
        The names of the classes.
    """

    def __init__(
        self,
        points: Any,
        labels: Any,
        *,
        classes: Any,
        regions: Regions,
        weights: Any = None,
        feature_names: tuple[str, str] = ("feature 0", "feature 1"),
    ) -> None:
        self.points, self.labels, self.classes = np.asarray(points, np.float64), np.asarray(labels), np.asarray(classes)
        self.stages, predicted, self.extent, newest = regions
        self.regions = np.asarray(predicted, np.int64)
        self.newest = None if newest is None else np.asarray(newest, np.int64)
        self.weights = None if weights is None else np.asarray(weights, np.float64)
        self.feature_names = feature_names
        owner = type(self).__name__
        if self.points.shape != (len(self.labels), 2) or len(self.regions) != len(self.stages) or self.regions.ndim != 3:
            raise DataError(
                f"{owner}: points must be (n, 2), labels (n,) and regions one grid for each of the {len(self.stages)} stages, "
                f"but they are {self.points.shape}, {self.labels.shape} and {self.regions.shape}."
            )
        if self.weights is not None and self.weights.shape != (len(self.stages), len(self.labels)):
            raise DataError(f"{owner}: weights must be {(len(self.stages), len(self.labels))}, but are {self.weights.shape}.")
        if len(self.classes) > MOST_CLASSES:
            raise DataError(f"{owner}: at most {MOST_CLASSES} classes can be told apart in one picture, but there are {len(self.classes)}.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, stages: int | Sequence[int] = SOME, sample_weight: Any = None, ax: Any = None
    ) -> "BoostingRegionsDisplay":
        """Ask a boosted classifier for its stages.

        Parameters
        ----------
        estimator : fitted classifier with `staged_predict`
            Trained on two columns. Weights of rows are shown of AdaBoost by votes and of SAMME.R.
        X : table of two columns
        y : sequence of labels
            The rows of the training.
        stages : int or sequence of int, default=3
            How many of the first stages to show, or which, counted from one.
        sample_weight : sequence of numbers, default=None
            As given to the training.
        ax : axes, array of axes, default=None
            Where to draw: axes that are divided, or one for each stage; None for a new figure.
        """
        if not hasattr(estimator, "classes_"):
            kind = type(estimator).__name__
            raise ParameterError(f"{cls.__name__}: {kind} is no trained classifier. BoostingStagesDisplay is for numbers.")
        rows, classes = NumericRows.of(X, 2, cls.__name__), np.asarray(estimator.classes_)
        extent, grid = grid_over(rows.values)
        asked = rows.like(grid)
        predicted = [class_grid(one, classes) for one in staged_predictions(estimator, asked)]
        shown = read_stages(stages, len(predicted), cls.__name__)
        weights = newest = None
        if has_row_weights(estimator):
            known = list(islice(staged_row_weights(estimator, X, y, sample_weight), max(shown)))
            weights = [known[stage - 1] for stage in shown]
            learners = learners_of(estimator).only([stage - 1 for stage in shown])
            newest = learners.votes(asked, cls.__name__).T.reshape(-1, SIDE, SIDE)
        regions = Regions(shown, np.stack([predicted[stage - 1] for stage in shown]), extent, newest)
        names = rows.name(0), rows.name(1)
        display = cls(rows.values, y, classes=classes, regions=regions, weights=weights, feature_names=names)
        return display.plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, points: Any, y_true: Any, staged: Any, *, extent: tuple[float, float, float, float], weights: Any = None, ax: Any = None
    ) -> "BoostingRegionsDisplay":
        """The same from labels on a grid, (n_stages, s, s), of which the first index goes upwards; all stages are shown."""
        predicted = np.asarray(staged)
        classes = np.unique(np.concatenate([predicted.reshape(-1), np.asarray(y_true)]))
        regions = Regions(range(1, len(predicted) + 1), np.searchsorted(classes, predicted), extent)
        return cls(points, y_true, classes=classes, regions=regions, weights=weights).plot(ax=ax)

    def plot(self, ax: Any = None) -> "BoostingRegionsDisplay":
        """Draw."""
        columns = 2 if len(self.stages) == 4 else min(len(self.stages), MOST_COLUMNS)
        n_rows = -(-len(self.stages) // columns)
        self.axes_ = grid_of_axes(ax, n_rows, columns, (3.1, 2.9), sharex=True, sharey=True)
        self.figure_ = self.axes_[0, 0].figure
        self.images_: list[Any] = []
        self.scatters_: list[list[Any]] = []
        for position, one in enumerate(self.axes_.reshape(-1)):
            if position >= len(self.stages):
                one.set_axis_off()
                continue
            look = PlotStyle.of(one)
            self._regions(one, position, look)
            self._rows(one, position, look)
            one.set_xlim(*self.extent[:2])
            one.set_ylim(*self.extent[2:])
            one.set_title(f"Stage {self.stages[position]}", fontsize=SMALL, loc="left")
            finish(one, look, grid="")
            if position + columns >= len(self.stages):
                one.set_xlabel(self.feature_names[0])
                one.tick_params(labelbottom=True)
            if position % columns == 0:
                one.set_ylabel(self.feature_names[1])
        self.texts_ = self._name_classes()
        return self

    def _regions(self, ax: Any, position: int, look: PlotStyle) -> None:
        tints = np.array([look.mixed(look.colour(number), 0.28) for number in range(len(self.classes))])
        image = ax.imshow(
            tints[self.regions[position]], extent=self.extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0
        )
        self.images_.append(image)
        if self.newest is not None:
            x, y = axis_points(self.extent, self.newest.shape[1:])
            for number in range(len(self.classes)):
                inside = (self.newest[position] == number).astype(np.float64)
                if 0.0 < inside.mean() < 1.0:
                    ax.contour(x, y, inside, levels=[0.5], colors=[look.ink], linewidths=0.9, linestyles=[(0, (4, 2))])

    def _rows(self, ax: Any, position: int, look: PlotStyle) -> None:
        times = np.ones(len(self.labels)) if self.weights is None else self.weights[position] / self.weights[position].mean()
        # Many rows are drawn smaller.
        area = AREA * np.clip(times, SMALLEST, LARGEST) * min(1.0, np.sqrt(300.0 / len(times)))
        self.scatters_.append(
            [
                ax.scatter(
                    *self.points[self.labels == label].T,
                    s=area[self.labels == label],
                    c=look.colour(number),
                    marker=MARKS[number],
                    linewidths=0.4,
                    edgecolors=[look.paper],
                    zorder=2,
                )
                for number, label in enumerate(self.classes)
            ]
        )

    def _name_classes(self) -> list[Any]:
        """Which mark and which region is which class: written once, into the first picture where the class has a region."""
        texts = []
        for number, label in enumerate(self.classes):
            for position, ax in enumerate(self.axes_.reshape(-1)[: len(self.stages)]):
                spot = free_spot(self.regions[position] == number, self.points, self.extent)
                if spot is not None:
                    look = PlotStyle.of(ax)
                    name = f"{SIGNS[number]} {shortened(label, 14)}"
                    text = ax.text(*spot, name, color=look.colour(number), fontsize=SMALL, fontweight="bold", ha="center", va="center")
                    text.set(in_layout=False, path_effects=[withStroke(linewidth=2.5, foreground=look.mixed(look.colour(number), 0.28))])
                    texts.append(text)
                    break
        return texts


def free_spot(region: NDArray[np.bool_], points: Floats, extent: tuple[float, float, float, float]) -> tuple[float, float] | None:
    """The position in a region that is farthest from its border and from points, a name being wider than high; None where there is none."""
    step = max(region.shape[0] // 32, 1)
    x, y = axis_points(extent, region.shape)
    rows, columns = np.nonzero(region[::step, ::step])
    if not len(rows):
        return None
    at = np.column_stack([columns, rows]) * step
    others = np.column_stack(np.nonzero(~region[::step, ::step]))[:, ::-1] * step
    size = np.array([region.shape[1], region.shape[0]])
    shown = (points - np.array([extent[0], extent[2]])) / np.array([extent[1] - extent[0], extent[3] - extent[2]])
    wide = np.array([1.0 / NAME_SHAPE, 1.0])
    near = [distances(at / size * wide, there * wide) for there in (shown, others / size)]
    edge = np.minimum(np.abs(at / size - 0.0), np.abs(1.0 - at / size)) * wide
    best = int(np.minimum(np.minimum(*near), edge.min(axis=1)).argmax())
    return float(x[at[best, 0]]), float(y[at[best, 1]])


def distances(positions: Floats, others: Floats) -> Floats:
    """From each place to the nearest of the others; infinite where there is none."""
    if not len(others):
        return np.full(len(positions), np.inf)
    return np.asarray(np.abs(positions[:, None] - others[None]).max(axis=2).min(axis=1))


def grid_over(points: Floats) -> tuple[tuple[float, float, float, float], Floats]:
    """A frame around points, with some room, and the points of a grid over it: the first feature goes fastest."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.06 * np.where(high > low, high - low, 1.0)
    extent = (float(low[0] - room[0]), float(high[0] + room[0]), float(low[1] - room[1]), float(high[1] + room[1]))
    x, y = np.meshgrid(*axis_points(extent, (SIDE, SIDE)))
    return extent, np.column_stack([x.reshape(-1), y.reshape(-1)])


def axis_points(extent: tuple[float, float, float, float], shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """The middles of the cells of a grid along both axes."""
    x = extent[0] + (extent[1] - extent[0]) * (np.arange(shape[1]) + 0.5) / shape[1]
    y = extent[2] + (extent[3] - extent[2]) * (np.arange(shape[0]) + 0.5) / shape[0]
    return x, y


def class_grid(predicted: Any, classes: NDArray[Any]) -> Integers:
    """Labels on the points of the grid as numbers of classes, in rows and columns."""
    return np.searchsorted(classes, np.asarray(predicted)).reshape(SIDE, SIDE)
