"""Charts of the report: lines, points, histograms, heat maps and strips of points, each one function of plain numbers.

Colours are classes (`one`, `two`, `three`, `four`, `faint`), which the page's style sheet gives their light and dark values; colour never
stands alone: lines differ in their dashes too, and names stand beside what they name. Every chart has a title and a description
for those who cannot see it, and its marks say their numbers when the pointer rests on them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from woodwind.base.random_streams import key, uniform
from woodwind.report.chart import LETTER, NAME_LETTER, RIGHT, SMALL_LETTER, WIDTH, Axis, Chart, in_percent
from woodwind.report.scales import widened
from woodwind.report.svg import add, box, drawing, markup, path, tip
from woodwind.report.text import THIN, count, number, percent, shown

Box = tuple[float, float, float, float]  # left, top, right, bottom

KINDS = ("one", "two", "three", "four")


@dataclass(frozen=True)
class ChartLine:
    """A line of a chart, with an optional band around it, dots on it, and a name."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    kind: str = "one"
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    dots: bool = False
    sizes: Sequence[float] | None = None  # of the dots, as counts: areas go with them
    tips: Sequence[str] | None = None


def lines(
    title: str, description: str, across: Axis, up: Axis, drawn: Sequence[ChartLine], *, reference: ChartLine | None = None
) -> Markup:
    """Lines over common axes. Up to three short names stand at the ends of their lines, else there is a key."""
    named = [line for line in drawn if line.name]
    beside = 0 < len(named) <= 3 and all(len(line.name) <= 9 for line in named) and all(line.x[-1] >= across.high - 1e-9 for line in named)
    right = 12.0 + LETTER * max(len(line.name) for line in named) if beside else RIGHT
    chart = Chart(title, description, across, up, () if beside else [(line.name, line.kind) for line in named], right=right)
    if reference is not None:
        chart.line(reference.x, reference.y, "faint")
    for line in drawn:
        if line.low is not None and line.high is not None:
            chart.area(line.x, line.low, line.high, line.kind)
    for line in drawn:
        if len(line.x) > 1:
            chart.line(line.x, line.y, line.kind)
        if line.dots:
            _dots(chart, line)
    if beside:
        heights = apart([chart.y.inside(line.y[-1]) + 4.0 for line in named], 15.0, chart.y.end + 8.0, chart.y.begin)
        for line, height in zip(named, heights, strict=True):
            chart.name(line.name, chart.x.end + 6.0, height, line.kind)
    return markup(chart.root)


def _dots(chart: Chart, line: ChartLine) -> None:
    largest = max(line.sizes, default=1.0) if line.sizes is not None else 1.0
    for position, (x, y) in enumerate(zip(line.x, line.y, strict=True)):
        radius = 3.5 if line.sizes is None else max(2.0, 7.0 * (line.sizes[position] / max(largest, 1e-300)) ** 0.5)
        cx, cy = chart.point(x, y)
        dot = add(chart.marks, "circle", class_=f"dot {line.kind}", cx=cx, cy=cy, r=radius)
        tip(dot, line.tips[position] if line.tips is not None else f"{number(x)}, {number(y)}")


def apart(wanted: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Heights near the wanted ones, so far from each other that names do not overlap, and within bounds where there is room."""
    order = sorted(range(len(wanted)), key=lambda position: wanted[position])
    found = [min(max(wanted[position], low), high) for position in order]
    for _ in range(len(found) * 4):
        for position in range(len(found) - 1):
            lack = least - (found[position + 1] - found[position])
            if lack > 1e-9:
                found[position] = max(found[position] - lack / 2.0, low)
                found[position + 1] = min(
                    max(found[position + 1] + lack / 2.0, found[position] + least), max(high, low + least * (position + 1))
                )
    out = [0.0] * len(found)
    for position, height in zip(order, found, strict=True):
        out[position] = height
    return out


@dataclass(frozen=True)
class ScatterPoints:
    """Points of a chart: their positions, sizes (areas go with them), names that are written, and words that appear over them."""

    x: Sequence[float]
    y: Sequence[float]
    kind: str = "one"
    name: str = ""  # for the key
    names: Sequence[str] = ()
    sizes: Sequence[float] = ()
    tips: Sequence[str] = ()
    radius: float = 2.6


def scatter(
    title: str, description: str, across: Axis, up: Axis, drawn: Sequence[ScatterPoints], *, reference: ChartLine | None = None
) -> Markup:
    """Points over two axes, with a line to compare them with."""
    named = [(points.name, f"dot {points.kind}") for points in drawn if points.name]
    chart = Chart(title, description, across, up, named)
    if reference is not None:
        chart.line(reference.x, reference.y, reference.kind)
    taken: list[Box] = []
    dots = [around(chart.point(x, y), points.radius + 1.0) for points in drawn for x, y in zip(points.x, points.y, strict=True)]
    if reference is not None and reference.name:
        taken.append(_name_level(chart, reference, dots))
        level = chart.y.inside(reference.y[-1])
        taken.append((chart.x.begin, level - 2.0, chart.x.end, level + 2.0))
    for points in drawn:
        _points(chart, points, taken, dots)
    return markup(chart.root)


def _name_level(chart: Chart, reference: ChartLine, dots: Sequence[Box]) -> Box:
    """Write the name of a level line above or below it, at the end where the fewest points are."""
    level, wide = chart.y.inside(reference.y[-1]), LETTER * len(reference.name)
    spots = [(left, base) for base in (level - 6.0, level + 15.0) for left in (chart.x.end - wide, chart.x.begin + 4.0)]
    boxes = [(left, base - 11.0, left + wide, base + 3.0) for left, base in spots if chart.y.end - 12.0 < base < chart.y.begin]
    best = min(boxes, key=lambda one: sum(overlap(one, dot) for dot in dots))
    chart.name(reference.name, best[0], best[3] - 3.0, reference.kind)
    return best


def around(centre: tuple[float, float], radius: float) -> Box:
    """The box around a circle."""
    return centre[0] - radius, centre[1] - radius, centre[0] + radius, centre[1] + radius


def _points(chart: Chart, points: ScatterPoints, taken: list[Box], dots: Sequence[Box]) -> None:
    """Draw points, then write names where no other name stands."""
    largest = max(points.sizes, default=0.0)
    radii = [max(2.5, 8.0 * (size / largest) ** 0.5) for size in points.sizes] if largest > 0.0 else [points.radius] * len(points.x)
    centres = [chart.point(x, y) for x, y in zip(points.x, points.y, strict=True)]
    faint = "" if points.names or len(centres) <= 60 else " many"
    for position, ((x, y), radius) in enumerate(zip(centres, radii, strict=True)):
        dot = add(chart.marks, "circle", class_=f"dot {points.kind}{faint}", cx=x, cy=y, r=radius)
        if points.tips:
            tip(dot, points.tips[position])
    for position, name in enumerate(points.names):
        text = shown(name, 24)
        if not text:
            continue
        (x, y), wide = centres[position], SMALL_LETTER * len(text)
        gap = radii[position] + 4.0
        spots = [(x + gap, y + 4.0), (x - gap - wide, y + 4.0), (x - wide / 2.0, y - gap), (x - wide / 2.0, y + gap + 9.0)]
        for left, base in spots:
            box = (left, base - 10.0, left + wide, base + 2.0)
            fits = left >= chart.x.begin - 4.0 and box[2] <= chart.size[0] and box[1] >= chart.y.end - 8.0 and base <= chart.y.begin
            if fits and not any(overlap(box, other) for other in [*taken, *dots]):
                add(chart.marks, "text", text, class_="tick ink", x=left, y=base)
                taken.append(box)
                break


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share a point."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@dataclass(frozen=True)
class BinCounts:
    """Counts between edges, of one kind of rows."""

    counts: Sequence[float]
    kind: str = "one"
    name: str = ""


def histogram(
    title: str,
    description: str,
    label: str,
    edges: Sequence[float],
    drawn: Sequence[BinCounts],
    *,
    zero: bool = False,
    things: str = "Rows",
) -> Markup:
    """Bars between edges; several kinds stand before each other, each as shares of its own rows. `zero` marks nought on the axis."""
    several = len(drawn) > 1
    shares = [[one / max(sum(each.counts), 1e-300) for one in each.counts] if several else list(each.counts) for each in drawn]
    top = max((value for each in shares for value in each), default=1.0) or 1.0
    up = Axis("Share of the rows of each" if several else things, 0.0, widened(0.0, top, 4)[1], 4)
    if several:
        up = in_percent(up)
    named = [(each.name, f"bar {each.kind}") for each in drawn if each.name]
    chart = Chart(title, description, Axis(label, edges[0], edges[-1]), up, named)
    for each, heights in zip(drawn, shares, strict=True):
        for position, height in enumerate(heights):
            if height <= 0.0:
                continue
            left, right, y = chart.x.at(edges[position]), chart.x.at(edges[position + 1]), chart.y.at(height)
            gap = 0.5 if right - left > 3.0 else 0.0
            kind = f"bar {each.kind}{' see' if several else ''}"
            bar = box(chart.marks, kind, (left + gap, y), (max(right - left - 2.0 * gap, 0.5), chart.y.begin - y))
            rows = count(round(each.counts[position]))
            tip(bar, f"{number(edges[position])} to {number(edges[position + 1])}: {rows} rows{' of ' + each.name if each.name else ''}")
    if zero and edges[0] < 0.0 < edges[-1]:
        x = chart.x.at(0.0)
        add(chart.marks, "line", class_="line faint", x1=x, x2=x, y1=chart.y.begin, y2=chart.y.end)
    return markup(chart.root)


@dataclass(frozen=True)
class ChartBand:
    """One category of a chart: a number, and words that appear over its mark; what is written at the end of its bar."""

    name: str
    value: float
    tip: str = ""
    written: str = ""


def levels(title: str, description: str, across: Axis, drawn: Sequence[ChartBand]) -> Markup:
    """A point for each category, in rows with their names: there is room for names of any length."""
    up = Axis("", len(drawn) - 0.5, -0.5, names=[level.name for level in drawn])
    chart = Chart(title, description, across, up, size=(WIDTH, 62.0 + 26.0 * max(len(drawn), 3)), kind="chart rows")
    for position, level in enumerate(drawn):
        x, y = chart.point(level.value, float(position))
        tip(add(chart.marks, "circle", class_="dot one", cx=x, cy=y, r=5.0), level.tip or f"{shown(level.name)}: {number(level.value)}")
    return markup(chart.root)


def columns(title: str, description: str, up: Axis, drawn: Sequence[ChartBand]) -> Markup:
    """An upright bar for each category, from nought; what is written stands over it where there is room."""
    chart = Chart(title, description, Axis("", -0.5, len(drawn) - 0.5, names=[level.name for level in drawn]), up)
    apart_by = chart.x.at(1.0) - chart.x.at(0.0)
    wide = min(0.72 * apart_by, 64.0)
    for position, level in enumerate(drawn):
        x, y = chart.point(float(position), level.value)
        bar = box(chart.marks, "bar one", (x - wide / 2.0, y), (wide, chart.y.begin - y))
        tip(bar, level.tip or f"{shown(level.name)}: {number(level.value)}")
        if level.written and SMALL_LETTER * len(level.written) < apart_by - 2.0:
            add(chart.marks, "text", level.written, class_="tick ink middle", x=x, y=y - 5.0)
    return markup(chart.root)


def heat(
    title: str,
    description: str,
    names: tuple[Sequence[str], Sequence[str]],
    shares: Sequence[Sequence[float]],
    written: Sequence[Sequence[str]],
    axes: tuple[str, str],
) -> Markup:
    """A table of shares as shades, with what is written in each cell; `names` are those of rows and columns, `axes` what they are."""
    (rows, across), cells = names, len(names[1])
    short = [[shown(name, 14) for name in rows], [shown(name, 14) for name in across]]
    left = max(12.0 + NAME_LETTER * max(len(name) for name in short[0]), 20.0 + LETTER * len(axes[0]))
    slanted = any(SMALL_LETTER * len(name) > (WIDTH - left) / cells - 4.0 for name in short[1])
    side = min((WIDTH - left - (44.0 if slanted else 0.0)) / cells, 110.0)
    high = min(max(side, 22.0), 52.0)
    top = 30.0 + (8.0 + SMALL_LETTER * 0.7 * max(len(name) for name in short[1]) if slanted else 18.0)
    root = drawing(title, description, WIDTH, top + high * len(rows) + 6.0)
    add(root, "text", axes[0], class_="label", x=0.0, y=top - 8.0)
    add(root, "text", axes[1], class_="label", x=left, y=12.0)
    for column, name in enumerate(short[1]):
        x = left + side * (column + 0.5)
        if slanted:
            add(root, "text", name, class_="tick", x=x, y=top - 6.0, transform=f"rotate(-42 {x:.1f} {top - 6.0:.1f})")
        else:
            add(root, "text", name, class_="tick middle", x=x, y=top - 8.0)
    for row, name in enumerate(short[0]):
        y = top + high * row
        add(root, "text", name, class_="tick end", x=left - 8.0, y=y + high / 2.0 + 4.0)
        for column in range(cells):
            x, share = left + side * column, min(max(shares[row][column], 0.0), 1.0)
            corner, size = (x + 1.0, y + 1.0), (side - 2.0, high - 2.0)
            box(root, "heat empty", corner, size, rx=2.0)
            cell = box(root, "heat", corner, size, rx=2.0, fill_opacity=share)
            tip(cell, f"{shown(rows[row])} / {shown(across[column])}: {written[row][column]} ({percent(shares[row][column])})")
            text = written[row][column]
            little = " little" if SMALL_LETTER * len(text) > side - 2.0 else ""
            text = text.replace(THIN, "") if little else text
            add(root, "text", text, class_=f"tick ink middle{little}", x=x + side / 2.0, y=y + high / 2.0 + 4.0)
    return markup(root)


@dataclass(frozen=True)
class PointGroup:
    """Points of one strip."""

    name: str
    values: Sequence[float]
    middle: float | None = None
    ranks: Sequence[float | None] = ()  # from 0 to 1, of what colours the points; None for none


def strips(
    title: str,
    description: str,
    across: Axis,
    groups: Sequence[PointGroup],
    *,
    seed: int = 0,
    key_names: Sequence[tuple[str, str]] = (),
) -> Markup:
    """A strip of points for each group: points that would lie on each other stand above and below the line, as a swarm of bees does."""
    names = [group.name for group in groups]
    up = Axis("", len(groups) - 0.5, -0.5, names=names, grid=False)
    chart = Chart(title, description, across, up, key_names, size=(420.0, 70.0 + max(26.0, min(56.0, 300.0 / len(groups))) * len(groups)))
    half = 0.42 * abs(chart.y.at(1.0) - chart.y.at(0.0))
    for row, group in enumerate(groups):
        middle = chart.y.at(float(row))
        jitter = uniform(key(seed, "strip", row), len(group.values))
        bins: dict[int, int] = {}
        centres = []
        for value, moved in zip(group.values, jitter, strict=True):
            x = chart.x.inside(value)
            bins[int(x // 4.0)] = bins.get(int(x // 4.0), 0) + 1
            centres.append((x, float(moved)))
        fullest = max(bins.values(), default=1)
        kinds = ["dot one many"] * len(centres)
        if group.ranks:
            kinds = ["dot faint many" if rank is None else f"dot rank-{round(4.0 * min(max(rank, 0.0), 1.0))}" for rank in group.ranks]
        for (x, moved), kind in zip(centres, kinds, strict=True):
            width = half * max(bins[int(x // 4.0)] / fullest, 0.12)
            add(chart.marks, "circle", class_=kind, cx=x, cy=middle + (2.0 * moved - 1.0) * width, r=2.2)
        if group.middle is not None:
            x = chart.x.inside(group.middle)
            line = add(chart.marks, "line", class_="middle-mark", x1=x, x2=x, y1=middle - half, y2=middle + half)
            tip(line, f"{shown(group.name)}: median {number(group.middle)}")
    return markup(chart.root)


def spark(title: str, counts: Sequence[float]) -> Markup:
    """A histogram as small as a word: for a cell of a table."""
    root = drawing(title, "", 96.0, 24.0, "spark")
    top, wide = max(counts, default=1.0) or 1.0, 96.0 / max(len(counts), 1)
    bars = []
    for position, value in enumerate(counts):
        if value > 0.0:
            left, right, high = wide * position, wide * position + max(wide - 1.0, 0.6), 23.0 - max(22.0 * value / top, 1.0)
            bars.append(path([(left, 23.0), (left, high), (right, high), (right, 23.0)], closed=True))
    # One path for all bars: a page may have hundreds of these.
    add(root, "path", class_="bar one", d="".join(bars))
    add(root, "path", class_="axis", d=path([(0.0, 23.5), (96.0, 23.5)]))
    return markup(root)
