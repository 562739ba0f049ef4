"""Names beside what they name: where they stand, so that none covers another, and what is done with long ones."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from woodwind.plots.style import SMALL, TINY, Floats, PlotStyle, adjust_layout

# Points between a mark and its name.
BESIDE = 5.0
# Names of points that are written out; of more points only the outstanding ones are named.
MANY_NAMES = 12
LONGEST_NAME, SHORTEST_NAME = 28, 6
# A name beside a line has at most this share of the width.
WIDEST_NAME = 0.45
LINE_NAME = "woodwind: name of a line"
POSITIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.75, 0.75), (-0.75, 0.75), (0.75, -0.75), (-0.75, -0.75))


def shortened(name: Any, longest: int = LONGEST_NAME) -> str:
    """A name that is not too long: of a long one the beginning and the end."""
    text = str(name)
    if len(text) <= longest:
        return text
    end = (longest - 1) // 3
    return f"{text[: longest - 1 - end]}…{text[-end:]}"


def apart(wanted: Floats, gap: float, low: float, high: float) -> Floats:
    """Positions as near to those wanted as can be, in their order, no two nearer than the gap, between low and high while there is room."""
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    # Without the gaps they need only be in order: neighbours that are not are put together at their mean.
    blocks: list[list[float]] = []
    for value in wanted[order] - steps:
        blocks.append([value, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, count = blocks.pop()
            before, n_before = blocks.pop()
            blocks.append([(mean * count + before * n_before) / (count + n_before), count + n_before])
    positioned = np.repeat([mean for mean, _ in blocks], [int(count) for _, count in blocks])
    positioned = np.clip(positioned, low, max(high - steps[-1], low)) + steps
    out = np.empty(len(wanted))
    out[order] = positioned
    return out


def name_lines(ax: Axes, ends: Sequence[tuple[float, float]], names: Sequence[str], colours: Sequence[Any]) -> list[Any]:
    """Write names to the right of where lines end, apart from each other, and make room for them inside the axes."""
    adjust_layout(ax)
    earlier = [text for text in ax.texts if text.get_gid() == LINE_NAME]  # of lines that were drawn here before
    texts = []
    for name, end, colour in zip(names, ends, colours, strict=True):
        text = ax.annotate(name, end, (BESIDE, 0.0), textcoords="offset points", color=colour, fontsize=SMALL, va="center", ha="left")
        text.set(gid=LINE_NAME, in_layout=False, annotation_clip=False)
        texts.append(text)
    point, frame = ax.figure.dpi / 72.0, ax.get_window_extent()
    fit(texts, WIDEST_NAME * frame.width)
    together = earlier + texts
    boxes = [text.get_window_extent() for text in together]
    for text, box in zip(together, boxes, strict=True):
        reach(ax, text.xy[0], (box.width + 2.0 * BESIDE * point) / frame.width)
    at = ax.transData.transform([text.xy for text in together])[:, 1]
    half = 0.5 * max(box.height for box in boxes)
    positioned = apart(at, 2.04 * half, frame.y0 + half, frame.y1 - half)
    for text, shift in zip(together, positioned - at, strict=True):
        text.set_position((BESIDE, float(shift) / point))
    return texts


def fit(texts: Sequence[Any], width: float) -> None:
    """Break texts that are wider than so many pixels after a colon, and shorten what is too long still."""
    for text in texts:
        if text.get_window_extent().width > width:
            text.set_text(text.get_text().replace(": ", ":\n"))
        lines = text.get_text().split("\n")
        wide = text.get_window_extent().width / max(len(line) for line in lines)
        longest = max(min(LONGEST_NAME, int(width / wide)), SHORTEST_NAME)
        text.set_text("\n".join(shortened(line, longest) for line in lines))


def reach(ax: Axes, end: float, share: float) -> None:
    """Extend the x axis so that what ends at `end` leaves such a share of the width free to its right."""
    low, high = ax.get_xlim()
    if ax.get_xscale() == "log":
        low, high, end = np.log10([low, high, end])
    wanted = low + (end - low) / (1.0 - share)
    wanted = max(high, wanted)
    ax.set_xlim(right=float(10.0**wanted) if ax.get_xscale() == "log" else float(wanted))


def fit_rows(ax: Axes, names: Sequence[str]) -> None:
    """Write names at 0, 1, ... along the y axis, each in at most a third of the width of the figure."""
    ax.set_yticks(np.arange(len(names)), names)
    widest = ax.figure.get_window_extent().width / 3.0
    boxes = [label.get_window_extent().width for label in ax.get_yticklabels()]
    fitting = [
        shortened(name, min(LONGEST_NAME, int(len(name) * min(1.0, widest / max(box, 1.0)))))
        for name, box in zip(names, boxes, strict=True)
    ]
    ax.set_yticks(np.arange(len(names)), fitting)


def name_over(ax: Axes, point: tuple[float, float], name: str, look: PlotStyle) -> Any:
    """Write a name beside a point, over whatever is there."""
    halo = [withStroke(linewidth=3.0, foreground=look.paper)]
    text = ax.annotate(shortened(name), point, (BESIDE + 2.0, 0.0), textcoords="offset points", fontsize=SMALL, color=look.ink, va="center")
    text.set(in_layout=False, path_effects=halo, zorder=5)
    return text


def name_points(
    ax: Axes, points: Floats, names: Sequence[str], which: Sequence[int], look: PlotStyle, already: Sequence[Any] = ()
) -> list[Any]:
    """Write the names of some points beside them, where they cover neither points nor each other; one without such a place is left out.

    already : texts that are there.
    """
    adjust_layout(ax)
    point = ax.figure.dpi / 72.0
    at = ax.transData.transform(points)
    frame, texts = ax.get_window_extent(), []
    taken = [box_of(text) for text in already]
    for number in which:
        text = ax.annotate(
            shortened(names[number]), points[number], (0.0, 0.0), textcoords="offset points", fontsize=TINY, color=look.ink, zorder=4
        )
        text.set_in_layout(False)
        box = text.get_window_extent()
        for side, up in POSITIONS:
            x = at[number, 0] + side * (BESIDE + 1.0) * point - box.width * (0.5 - 0.5 * np.sign(side))
            y = at[number, 1] + up * (BESIDE + 2.0) * point - box.height * (0.5 - 0.5 * np.sign(up))
            corner = np.array([x, y, x + box.width, y + box.height])
            inside = corner[0] >= frame.x0 and corner[1] >= frame.y0 and corner[2] <= frame.x1 and corner[3] <= frame.y1
            if inside and not covers(corner, at, 2.0 * point) and not any(meet(corner, other) for other in taken):
                taken.append(corner)
                text.set_position(((x - at[number, 0]) / point, (y - at[number, 1]) / point))
                texts.append(text)
                break
        else:
            text.remove()
    return texts


def covers(box: Floats, points: Floats, spare: float) -> bool:
    """Whether a box of two corners has any of the points in it or near it."""
    x, y = points[:, 0], points[:, 1]
    return bool(((x > box[0] - spare) & (x < box[2] + spare) & (y > box[1] - spare) & (y < box[3] + spare)).any())


def meet(one: Floats, other: Floats) -> bool:
    """Whether two boxes have anything in common."""
    return bool(one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3])


def outstanding(points: Floats, most: int = MANY_NAMES) -> list[int]:
    """Points to name first: all of a few; of many the outermost in each direction. Those at the edge come first."""
    centre, spread = points.mean(axis=0), points.std(axis=0)
    scaled = (points - centre) / np.where(spread > 0.0, spread, 1.0)
    far = np.argsort(-np.hypot(scaled[:, 0], scaled[:, 1]), kind="stable")
    if len(points) <= most:
        return [int(number) for number in far]
    edges = [points[:, axis].argmin() for axis in (0, 1)] + [points[:, axis].argmax() for axis in (0, 1)]
    return list(dict.fromkeys(int(number) for number in edges))


def name_curves(ax: Axes, lines: Sequence[Any], names: Sequence[str], others: Sequence[Any] = ()) -> list[Any]:
    """Write names beside curves, where they cover no curve and no other name; one without such a place goes into a legend."""
    adjust_layout(ax)
    point, frame = ax.figure.dpi / 72.0, ax.get_window_extent()
    curves = [dense_path(ax, line) for line in (*lines, *others)]
    everything = np.concatenate(curves)
    texts, taken, homeless = [], [box_of(text) for text in ax.texts], []
    shares = [*np.linspace(0.5, 0.05, 19), *np.linspace(0.55, 0.95, 9)]  # of the way along a curve, the middle first
    for name, line, curve in zip(names, lines, curves, strict=False):
        text = ax.text(0.0, 0.0, shortened(name), transform=None, color=line.get_color(), fontsize=SMALL)
        width, height = text.get_window_extent().width, text.get_window_extent().height
        for share, (side, up) in product(shares, ((1, -1), (-1, 1), (1, 0), (-1, 0))):
            x, y = curve[int(share * len(curve))]
            left = x + side * BESIDE * point - width * (side < 0)
            low = y + up * 0.6 * height - 0.5 * height
            corner = np.array([left, low, left + width, low + height])
            inside = corner[0] >= frame.x0 and corner[1] >= frame.y0 and corner[2] <= frame.x1 and corner[3] <= frame.y1
            if inside and not covers(corner, everything, 1.5 * point) and not any(meet(corner, other) for other in taken):
                taken.append(corner)
                anchor = ax.transData.inverted().transform((left, low))
                text.remove()
                texts.append(ax.text(*anchor, text.get_text(), color=line.get_color(), fontsize=SMALL, in_layout=False))
                break
        else:
            text.remove()
            homeless.append((line, shortened(name)))
    if homeless:
        ax.legend(*zip(*homeless, strict=True), frameon=False, fontsize=SMALL)
    return texts


def dense_path(ax: Axes, line: Any) -> Floats:
    """Points along a line in pixels, close to each other."""
    path = ax.transData.transform(line.get_path().vertices)
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    at = np.linspace(0.0, length[-1], 400)
    return np.column_stack([np.interp(at, length, path[:, 0]), np.interp(at, length, path[:, 1])])


def box_of(text: Any) -> Floats:
    """The corners of a text."""
    box = text.get_window_extent()
    return np.array([box.x0, box.y0, box.x1, box.y1])


def key_above(ax: Axes, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Which mark is what, above the axes: in as few lines as fit."""
    adjust_layout(ax)
    how = {"frameon": False, "fontsize": SMALL, "handlelength": 1.2, "handletextpad": 0.4, "columnspacing": 1.2, "borderaxespad": 0.2}
    columns, room = len(names), ax.get_window_extent().width
    while True:
        key = ax.legend(handles, names, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, **how)
        fits = key.get_window_extent().width <= room
        # A key that is wider than the axes would press them together.
        key.set_in_layout(fits)
        if fits or columns == 1:
            return
        columns = -(-columns // 2)
