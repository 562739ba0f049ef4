"""The house style of the pictures: colours, marks, labels beside what they name, light grids; nothing global is changed.

Colours are those of Okabe and Ito (2008), which people with any colour vision tell apart; since several are alike in grey, colour never
stands alone: lines differ in their dashes as well, points in their shape, and names stand beside what they name. What is light and what is
dark is read from the axes themselves, so that pictures follow whatever style the user has chosen.
"""

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb, to_rgba
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError

Floats = NDArray[np.float64]

ON_LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
ON_DARK = ("#56B4E9", "#E69F00", "#3CCFA0", "#E6A5C9", "#F0E442", "#F0803C")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (6, 1.5, 1.2, 1.5)), (0, (9, 2)), (0, (3, 1.2, 1, 1.2, 1, 1.2)))
MARKS = ("o", "s", "^", "D", "v", "P")
SIGNS = "●■▲◆▼✚"  # the same, to be written

SMALL = "small"  # of text, against the user's own size
TINY = "x-small"


@dataclass(frozen=True)
class PlotStyle:
    """What there is to draw with on some axes."""

    ink: tuple[float, float, float]  # of text
    paper: tuple[float, float, float]  # behind everything
    colours: tuple[str, ...]

    @classmethod
    def of(cls, ax: Axes) -> "PlotStyle":
        """Read from the axes."""
        ink = to_rgb(ax.xaxis.label.get_color())
        behind = [to_rgba(ax.get_facecolor()), to_rgba(ax.figure.get_facecolor())]
        # Where nothing is behind the axes, they stand on whatever makes the ink readable.
        paper = next((colour[:3] for colour in behind if colour[3] > 0.5), (1.0,) * 3 if lightness(ink) < 0.5 else (0.0,) * 3)
        return cls(ink, paper, ON_LIGHT if lightness(paper) > 0.5 else ON_DARK)

    def colour(self, number: int) -> str:
        """The colour of the so-many-th thing."""
        return self.colours[number % len(self.colours)]

    def line(self, number: int) -> dict[str, Any]:
        """How the so-many-th line is drawn."""
        return {"color": self.colour(number), "linestyle": DASHES[number % len(DASHES)], "linewidth": 1.8}

    def mixed(self, colour: Any, share: float) -> tuple[float, float, float]:
        """So much of a colour on the paper."""
        parts = [share * one + (1.0 - share) * back for one, back in zip(to_rgb(colour), self.paper, strict=True)]
        return (parts[0], parts[1], parts[2])

    @property
    def faint(self) -> tuple[float, float, float]:
        """For lines that help the eye, and for text that matters less."""
        return self.mixed(self.ink, 0.6)

    def two_sided(self) -> LinearSegmentedColormap:
        """From the first colour over the paper to the second."""
        return LinearSegmentedColormap.from_list("woodwind", [self.colour(0), self.paper, self.colour(1)])

    def two_sided_ink(self) -> LinearSegmentedColormap:
        """From the first colour over one between to the second, all of which are seen on the paper: for points."""
        between = [0.5 * (one + other) for one, other in zip(to_rgb(self.colour(0)), to_rgb(self.colour(3)), strict=True)]
        return LinearSegmentedColormap.from_list("woodwind points", [self.colour(0), tuple(between), self.colour(1)])

    def one_sided(self) -> LinearSegmentedColormap:
        """From the paper to the first colour and beyond."""
        beyond = "#003A5D" if lightness(self.paper) > 0.5 else "#C8E8FF"
        return LinearSegmentedColormap.from_list("woodwind", [self.paper, self.colour(0), beyond])


def lightness(colour: Any) -> float:
    """How light a colour is to the eye, 0 to 1: the cube root of its luminance, as in the lightness of CIE 1976."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return float((0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]) ** (1.0 / 3.0))


# Axes.


def axes_for(ax: Axes | None, size: tuple[float, float] = (6.4, 4.2)) -> Axes:
    """The axes that were given, or those of one new figure."""
    if ax is not None:
        if not isinstance(ax, Axes):
            raise ParameterError(f"ax must be the axes of a matplotlib figure, but is of type {type(ax).__name__}.")
        return ax
    return plt.subplots(figsize=size, layout="constrained")[1]


def grid_of_axes(ax: Any, rows: int, columns: int, cell: tuple[float, float], **shared: Any) -> NDArray[Any]:
    """Axes in rows and columns: those given, parts of the one given, or those of one new figure with cells of so many inches."""
    if ax is None:
        size = (columns * cell[0], rows * cell[1])
        return np.asarray(plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **shared)[1])
    if isinstance(ax, Axes):
        ax.set_axis_off()
        inside = ax.get_subplotspec()
        # A figure that lays itself out keeps the parts apart; else there is room for their texts.
        apart = {} if ax.figure.get_layout_engine() is not None else {"hspace": 0.45, "wspace": 0.3}
        if inside is None:
            raise ParameterError("ax must be axes that subplots or add_subplot has made, so that it can be divided, or an array of axes.")
        return np.asarray(inside.subgridspec(rows, columns, **apart).subplots(squeeze=False, **shared))
    given = np.asarray(ax, object)
    if given.size != rows * columns or not all(isinstance(one, Axes) for one in given.reshape(-1)):
        raise ParameterError(f"ax must be one axes, or {rows * columns} of them ({rows} x {columns}), but there are {given.size}.")
    return given.reshape(rows, columns)


def finish(ax: Axes, look: PlotStyle, grid: str = "both") -> None:
    """A light grid behind everything, and no frame where nothing is to be read; grid: 'both', 'x', 'y' or ''."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(look.faint)
    ax.tick_params(labelsize=SMALL, color=look.faint)
    ax.grid(visible=False)
    if grid:
        ax.grid(visible=True, axis=grid, color=look.mixed(look.ink, 0.13), linewidth=0.7, linestyle="-")
    ax.set_axisbelow(True)


def write_axes(ax: Axes, x: str, y: str) -> None:
    """Name the axes, in several lines where one is too long for them."""
    ax.set_xlabel(x)
    adjust_layout(ax)
    fold(ax.xaxis.label, ax.get_window_extent().width)
    ax.set_ylabel(y)
    adjust_layout(ax)
    fold(ax.yaxis.label, ax.get_window_extent().height)


def fold(label: Any, room: float) -> None:
    """Break a text that is longer than so many pixels into lines."""
    box, text = label.get_window_extent(), label.get_text()
    lines = -(-max(box.width, box.height) // max(room, 1.0))
    if lines > 1:
        label.set(text="\n".join(wrap(text, max(int(1.15 * len(text) / lines), 8))), fontsize=SMALL)


def adjust_layout(ax: Axes) -> None:
    """Let a figure that lays itself out do so, so that lengths on it are known."""
    if ax.figure.get_figure(root=True).get_layout_engine() is not None:
        ax.figure.get_figure(root=True).draw_without_rendering()


def point_style(look: PlotStyle, number: int, count: int) -> dict[str, Any]:
    """How so many points of the so-many-th kind are drawn: the more, the smaller and the more transparent."""
    return {
        "s": float(np.clip(3000.0 / count, 6.0, 42.0)),
        "alpha": float(np.clip(9.0 / np.sqrt(count), 0.12, 0.9)),
        "color": look.colour(number),
        "marker": MARKS[number % len(MARKS)],
        "linewidths": 0.0,
        # Thousands of points would make a drawing of lines heavy.
        "rasterized": count > 2000,
    }
