"""A chart: a drawing with two axes, a key above it, and marks that are placed by numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from woodwind.report.scales import Scale, labels, ticks
from woodwind.report.svg import Element, add, drawing, path
from woodwind.report.text import THIN, percent, shown

WIDTH, HEIGHT = 420.0, 280.0
LETTER = 7.2  # mean width of a letter of 12 pixels, in the widest of the fonts that a system may have
SMALL_LETTER = 7.0
NAME_LETTER = 7.9  # of names at the left, which must fit on small screens too, where text is larger against the drawing
RIGHT = 16.0
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Axis:
    """One axis: what it is, its ends, and where it has ticks; categories have names at 0, 1, 2, ..."""

    label: str
    low: float
    high: float
    about: int = 5
    names: Sequence[str] = ()
    at: Sequence[float] = ()  # ticks of one's own
    written: Sequence[str] = ()  # beside them
    grid: bool = True
    whole: bool = False  # whether numbers between whole ones mean nothing

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Numbers with a tick, and what is written beside each."""
        if self.names:
            return [(float(number), shown(name, 18)) for number, name in enumerate(self.names)]
        positions = list(self.at) or ticks(self.low, self.high, self.about, whole=self.whole)
        return list(zip(positions, self.written or labels(positions), strict=True))


def share_axis(label: str) -> Axis:
    """An axis from 0 to 100 per cent."""
    return Axis(label, 0.0, 1.0, at=QUARTERS, written=[percent(share, 0) for share in QUARTERS])


def in_percent(axis: Axis) -> Axis:
    """The same axis with its ticks in per cent."""
    positions = [mark for mark, _ in axis.marks]
    written = [f"{text}{THIN}%" for text in labels([100.0 * mark for mark in positions])]
    return Axis(axis.label, axis.low, axis.high, at=positions, written=written)


@dataclass
class Chart:
    """A drawing in the making: `x` and `y` turn numbers into positions, `marks` is where marks belong."""

    title: str
    description: str
    across: Axis
    up: Axis
    key: Sequence[tuple[str, str]] = ()  # names and the classes of their marks: a row above the picture
    size: tuple[float, float] = (WIDTH, HEIGHT)
    right: float = RIGHT  # room at the right, for names of lines
    kind: str = "chart"
    x: Scale = field(init=False)
    y: Scale = field(init=False)
    root: Element = field(init=False)
    marks: Element = field(init=False)

    def __post_init__(self) -> None:
        width, height = self.size
        self.root = drawing(self.title, self.description, width, height, self.kind)
        left = 10.0 + (NAME_LETTER if self.up.names else SMALL_LETTER) * max((len(text) for _, text in self.up.marks), default=1)
        key_rows = self._key(left)
        top = (26.0 if self.up.label else 8.0) + 20.0 * key_rows
        self.x = Scale(self.across.low, self.across.high, left, width - self.right)
        self.y = Scale(self.up.low, self.up.high, height - (40.0 if self.across.label else 24.0), top)
        self._axes(width, height)
        self.marks = add(self.root, "g")

    def _key(self, left: float) -> int:
        """Names of the marks in rows, below the name of the upward axis."""
        position, row = left, 0
        for name, kind in self.key:
            text = shown(name, 36)
            wide = 30.0 + LETTER * len(text)
            if position + wide > self.size[0] and position > left:
                position, row = left, row + 1
            middle = 30.0 + 20.0 * row
            sample(self.root, kind, position, middle)
            add(self.root, "text", text, class_="tick", x=position + 22.0, y=middle + 4.0)
            position += wide + 8.0
        return row + 1 if self.key else 0

    def _axes(self, width: float, height: float) -> None:
        floor = self.y.begin
        for value, text in self.up.marks:
            y = self.y.at(value)
            if self.up.grid:
                add(self.root, "line", class_="grid", x1=self.x.begin, x2=self.x.end, y1=y, y2=y)
            add(self.root, "text", text, class_="tick end", x=self.x.begin - 6.0, y=y + 4.0)
        add(self.root, "line", class_="axis", x1=self.x.begin, x2=self.x.end, y1=floor, y2=floor)
        for value, text in thinned(self.across.marks, self.x):
            x = self.x.at(value)
            add(self.root, "line", class_="axis", x1=x, x2=x, y1=floor, y2=floor + 4.0)
            # The last numbers of an axis stay inside the drawing.
            half = SMALL_LETTER * len(text) / 2.0
            add(self.root, "text", text, class_="tick middle", x=min(max(x, half), width - half), y=floor + 17.0)
        add(self.root, "text", self.up.label, class_="label", x=0.0, y=12.0)
        add(self.root, "text", self.across.label, class_="label end", x=width - 2.0, y=height - 4.0)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """The position of a pair of numbers; what lies outside is put on the edge."""
        return self.x.inside(x), self.y.inside(y)

    def line(self, xs: Sequence[float], ys: Sequence[float], kind: str) -> Element:
        """A line through points."""
        return add(self.marks, "path", class_=f"line {kind}", d=path(self.point(x, y) for x, y in zip(xs, ys, strict=True)))

    def area(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float], kind: str) -> Element:
        """The area between two lines."""
        there = [self.point(x, y) for x, y in zip(xs, high, strict=True)]
        back = [self.point(x, y) for x, y in zip(xs, low, strict=True)][::-1]
        return add(self.marks, "path", class_=f"area {kind}", d=path([*there, *back], closed=True))

    def name(self, text: str, x: float, y: float, kind: str, anchor: str = "") -> Element:
        """A name at a position of the drawing, in the colour of what it names."""
        return add(self.marks, "text", shown(text, 40), class_=f"name {kind} {anchor}".strip(), x=x, y=y)


def sample(parent: Element, kind: str, x: float, y: float) -> None:
    """What a mark looks like, for the key: a line, or a dot or a square where the class says so."""
    if "dot" in kind:
        add(parent, "circle", class_=kind, cx=x + 8.0, cy=y, r=4.0)
    elif "bar" in kind:
        add(parent, "rect", class_=kind, x=x + 2.0, y=y - 5.0, width=12.0, height=10.0)
    else:
        add(parent, "line", class_=f"line {kind}", x1=x, x2=x + 18.0, y1=y, y2=y)


def thinned(marks: Sequence[tuple[float, str]], scale: Scale) -> list[tuple[float, str]]:
    """As many of the ticks as have room for what is written: every second, every third, ..."""
    for every in range(1, len(marks) + 1):
        kept = list(marks[::every])
        apart = min((abs(scale.at(b[0]) - scale.at(a[0])) for a, b in pairwise(kept)), default=1e9)
        if apart >= SMALL_LETTER * max(len(text) for _, text in kept) + 8.0:
            return kept
    return list(marks[:1])
