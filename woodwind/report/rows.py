"""Marks in a row of a table: bars and points with whiskers on a scale that all rows share, as wide as the table leaves room for.

Positions are per cents of the width, so that the text around them keeps its size on any screen.
"""

from dataclasses import dataclass

from markupsafe import Markup

from woodwind.report.scales import Scale
from woodwind.report.svg import Element, add, markup, position, tip
from woodwind.report.text import shown

HEIGHT = 22.0


@dataclass(frozen=True)
class Track:
    """The scale that rows share: numbers from low to high over the width, with a small margin on both sides."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """The position of a number, in per cent of the width."""
        scale = Scale(self.low, self.high, 2.0, 98.0)
        return position(scale.inside(value)) + "%"

    def wide(self, begin: float, end: float) -> str:
        """The distance between two numbers, in per cent of the width."""
        scale = Scale(self.low, self.high, 2.0, 98.0)
        return position(abs(scale.inside(end) - scale.inside(begin))) + "%"


def _row(label: str) -> Element:
    root = Element("svg", {"class": "row", "role": "img", "aria-label": shown(label, 200), "height": position(HEIGHT), "width": "100%"})
    tip(root, label)
    return root


def point_row(track: Track, value: float, error: float, label: str, *, kind: str = "one", level: float | None = None) -> Markup:
    """A point with whiskers, and a thin line at the level to compare with."""
    root, middle = _row(label), HEIGHT / 2.0
    if level is not None:
        add(root, "line", class_="level", x1=track.at(level), x2=track.at(level), y1=0.0, y2=HEIGHT)
    if error > 0.0:
        add(root, "line", class_=f"whisker {kind}", x1=track.at(value - error), x2=track.at(value + error), y1=middle, y2=middle)
    if not min(track.low, track.high) <= value <= max(track.low, track.high):
        # Beyond the scale: an arrow at its end.
        add(root, "text", "›", class_="beyond", x=track.at(value), y=middle + 6.0)
        return markup(root)
    add(root, "circle", class_=f"dot {kind}", cx=track.at(value), cy=middle, r=4.5)
    return markup(root)


def bar_row(track: Track, value: float, error: float, label: str, *, kind: str = "one") -> Markup:
    """A bar from nought, with whiskers at its end."""
    root, middle = _row(label), HEIGHT / 2.0
    begin = min(value, 0.0)
    if track.low < 0.0:
        add(root, "line", class_="level", x1=track.at(0.0), x2=track.at(0.0), y1=0.0, y2=HEIGHT)
    add(root, "rect", class_=f"bar {kind}", x=track.at(begin), width=track.wide(0.0, value), y=middle - 6.0, height=12.0, rx=1.5)
    if error > 0.0:
        for kind_of_line in ("halo", "whisker"):  # the first keeps the second apart from the bar
            add(root, "line", class_=kind_of_line, x1=track.at(value - error), x2=track.at(value + error), y1=middle, y2=middle)
    return markup(root)
