"""Drawings as SVG inside a page: elements that escape themselves, with a title and a description for those who cannot see them."""

import math
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from markupsafe import Markup

from woodwind.report.text import shown

Element = ET.Element


def position(value: float) -> str:
    """A coordinate: two digits after the point are finer than any screen."""
    if not math.isfinite(value):
        raise ValueError("a coordinate must be finite")
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def drawing(title: str, description: str, width: float, height: float, kind: str = "chart") -> Element:
    """An empty drawing that fills the width it is given. Its title and description are read aloud."""
    root = Element(
        "svg", {"class": kind, "viewBox": f"0 0 {position(width)} {position(height)}", "role": "img", "aria-label": shown(title, 200)}
    )
    add(root, "title", title, most=200)
    add(root, "desc", description, most=600)
    return root


def add(parent: Element, tag: str, text: str | None = None, most: int = 80, **attributes: str | float) -> Element:
    """Add an element; numbers are coordinates, other underscores than that of `class_` are hyphens. Foreign text goes into `text` alone."""
    clean = {name.rstrip("_").replace("_", "-"): value if isinstance(value, str) else position(value) for name, value in attributes.items()}
    element = ET.SubElement(parent, tag, clean)
    if text is not None:
        element.text = shown(text, most)
    return element


def box(parent: Element, kind: str, corner: tuple[float, float], size: tuple[float, float], **attributes: float) -> Element:
    """Add a rectangle by its upper left corner, its width and its height."""
    there = {"x": corner[0], "y": corner[1], "width": size[0], "height": size[1], **attributes}
    return ET.SubElement(parent, "rect", {"class": kind, **{name.replace("_", "-"): position(value) for name, value in there.items()}})


def tip(element: Element, text: str) -> None:
    """Words that appear over a mark."""
    add(element, "title", text, most=200)


def path(points: Iterable[tuple[float, float]], *, closed: bool = False) -> str:
    """The path through points."""
    steps = [f"{position(x)},{position(y)}" for x, y in points]
    return "M" + "L".join(steps) + ("Z" if closed else "")


def markup(root: Element) -> Markup:
    """The drawing as text that may stand in a page: everything in it is escaped."""
    return Markup(ET.tostring(root, encoding="unicode"))
