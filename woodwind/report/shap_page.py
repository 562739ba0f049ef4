"""Explanations to be read and looked at: text for a terminal, and one page of HTML with a picture of every row, which loads nothing."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from woodwind.base.formatting import counted, printable
from woodwind.base.random_streams import choose, key
from woodwind.report.chart import SMALL_LETTER, thinned
from woodwind.report.page import policy
from woodwind.report.scales import Scale, labels, span, ticks
from woodwind.report.svg import Element, add, box, drawing, markup, position, tip
from woodwind.report.text import MINUS, count, fixed, number, percent, shown
from woodwind.tree.shap_result import LOG_ODDS, SCORE, Contribution, Explanation, rounded

# Columns of a picture or a text, rows that are told one by one, and points of a strip.
MOST_COLUMNS = 10
MOST_ROWS = 12
MOST_POINTS = 200
LONGEST_LINE = 300
# From so many rows on, there is a picture of all of them; and of so many scores.
MANY_ROWS = 5
# Of more rows than that, a text tells so many.
FEW_ROWS = 3
MOST_OUTPUTS = 4

WIDTH = 440.0
LINE = 42.0  # height of a column: a line of text, and its bar or strip below
BAR = 12.0
RADIUS = 2.2
SHADES = 5


def as_text(explanation: Explanation, rows: Sequence[int] | None = None, most: int = MOST_COLUMNS, first: int = 0) -> str:
    """Some rows in words, one after another. Of many rows, what columns bring on average, and then the first few.

    Parameters
    ----------
    explanation : Explanation
        What `explain` gives.
    rows : numbers of rows, default=None
        None for all, if they are few, else for the first three.
    most : int, default=10
        Columns that are named; what the others bring is added up.
    first : int, default=0
        What the first row is called; 1 for people who count from one.
    """
    wording = range(shown_rows(len(explanation))) if rows is None else rows
    parts = [_summary_text(explanation, most)] if len(explanation) >= MANY_ROWS and rows is None else []
    title = "" if len(explanation) == 1 else "row {}: "
    parts += [title.format(first + row) + explanation.to_text(row, most=most) for row in wording]
    if rows is None and len(explanation) > len(wording):
        parts.append(f"... and {counted(len(explanation) - len(wording), 'more row')}\n")
    return "".join(f"{shown(line, LONGEST_LINE)}\n" for line in "\n".join(parts).split("\n")[:-1])


def shown_rows(n: int) -> int:
    """How many of so many rows a text tells one by one: those of a screen, so that what is predicted for all of them stays on it."""
    return n if n <= MANY_ROWS else FEW_ROWS


def _summary_text(explanation: Explanation, most: int) -> str:
    """What columns bring to all rows, by mean size."""
    size = explanation.importance().mean(axis=1)
    order = [c for c in np.argsort(-size, kind="stable")[:most].tolist() if size[c] > 0.0]
    lines = [f"mean size of what a column brings, over {len(explanation):,} rows:"]
    return "\n".join(lines + [f"  {rounded(float(size[c])):<9} {printable(explanation.names[c])}" for c in order]) + "\n"


def as_html(explanation: Explanation, title: str = "What each column brings", rows: Sequence[int] | None = None, first: int = 0) -> str:
    """A page with a picture of each of some rows, and one of all rows where there are many. It needs nothing else.

    Parameters
    ----------
    explanation : Explanation
        What `explain` gives.
    title : str
        Above the page.
    rows : numbers of rows, default=None
        Rows that get a picture; None for the first dozen.
    first : int, default=0
        What the first row is called; 1 for people who count from one.
    """
    wording = range(min(len(explanation), MOST_ROWS)) if rows is None else rows
    sections = []
    if len(explanation) >= MANY_ROWS:
        lead = (
            "Each point is a row: to the right where the column raises the score, to the left where it lowers it. Blue points have high "
            "values of the column, orange ones low values; grey where values have no order, or none is there."
        )
        many = min(explanation.scores.shape[1], MOST_OUTPUTS)
        sections.append({"title": "All rows", "lead": lead, "figures": [_swarm_figure(explanation, k) for k in range(many)]})
    lead = "From the mean of the training rows at the top to the score of the row at the bottom, column by column."
    figures = [_row_figure(explanation, row, first + row) for row in wording]
    sections.append({"title": "Row by row" if len(figures) > 1 else "The row", "lead": lead, "figures": figures})
    style = _source("style.css") + "\n" + _source("explanation.css")
    text: str = _environment().get_template("explanation.html").render(
        title=shown(title, 100), under=_under(explanation), sections=sections, style=Markup(style), policy=policy(style, ""),
        footer="Made by Woodwind. This page loads nothing from anywhere.",
    )  # fmt: skip
    return text


def _under(explanation: Explanation) -> str:
    rows = f"{count(len(explanation))} row{'s' if len(explanation) != 1 else ''}, {count(len(explanation.names))} columns. "
    exact = "Shapley values, exact: those of a row add up to its score."
    if explanation.exact:
        return rows + exact
    share = percent(explanation.exact_share, 0)
    return f"{rows}Shapley values: exact for {share} of the weight of the model, by sampled orders of the columns for the rest."


# One row: from the base to the score.


def _row_figure(explanation: Explanation, row: int, called: int) -> dict[str, Any]:
    k = explanation.highest(row)
    probability, usual = explanation.probability(explanation.scores[row], k), explanation.probability(explanation.base, k)
    score = f"{titled(explanation, k)}: {number(float(explanation.scores[row, k]))}"
    words = f"{number(float(explanation.base[k]))} on average"
    if probability is not None and usual is not None:
        score, words = f"{score}, a probability of {percent(probability)}", f"{words}, a probability of {percent(usual)}"
    title = f"Row {called}" if len(explanation) > 1 else "What brings it there"
    return {"title": title, "words": f"{score} ({words}).", "drawing": waterfall(explanation, row, k)}


def waterfall(explanation: Explanation, row: int, output: int) -> Markup:
    """Bars from the base to the score, the largest first; what smaller ones bring is one bar."""
    brought = [one for one in explanation.contributions(row, output) if one.value != 0.0]
    bars = brought[:MOST_COLUMNS]
    if len(brought) > MOST_COLUMNS:
        rest = brought[MOST_COLUMNS:]
        bars.append(Contribution(f"{len(rest)} other columns", "", sum(one.value for one in rest)))
    base, score = float(explanation.base[output]), float(explanation.scores[row, output])
    after = label_positions([one.value for one in bars])
    edges = base + np.cumsum([0.0, *(one.value for one in bars)])
    height = LINE * (len(bars) + 2) + 30.0
    words = "; ".join(f"{shown(one.name, 30)} {signed(one.value, after)}" for one in bars)
    root = drawing(f"From {fixed(base, after)} to {fixed(score, after)}", f"What each column brings: {words}", WIDTH, height)
    x = _axis(root, [*edges.tolist(), score], height)
    _end(root, x, 0, "on average", (base, after))
    for line, (one, begin, end) in enumerate(zip(bars, edges[:-1], edges[1:], strict=True), start=1):
        _bar(root, x, line, one, (float(begin), float(end), after))
    _end(root, x, len(bars) + 1, "this row", (score, after))
    return markup(root)


def _axis(root: Element, values: Sequence[float], height: float) -> Scale:
    """A scale below the picture, with lines upwards."""
    low, high = span(values, 0.06)
    x = Scale(low, high, 4.0, WIDTH - 4.0)
    at = ticks(low, high, 5)
    for value, text in thinned(list(zip(at, labels(at), strict=True)), x):
        across = x.at(value)
        add(root, "line", class_="grid", x1=across, x2=across, y1=0.0, y2=height - 22.0)
        half = SMALL_LETTER * len(text) / 2.0
        add(root, "text", text, class_="tick middle", x=min(max(across, half), WIDTH - half), y=height - 6.0)
    return x


def _end(root: Element, x: Scale, line: int, name: str, written: tuple[float, int]) -> None:
    """The base, or the score: a line across, and its number with so many digits after the point."""
    top, across = LINE * line, x.at(written[0])
    add(root, "text", name, class_="label", x=0.0, y=top + 13.0)
    add(root, "text", fixed(*written), class_="label end value", x=WIDTH, y=top + 13.0)
    box(root, "bar base", (across - 2.0, top + 19.0), (4.0, BAR), rx=2.0)


def _bar(root: Element, x: Scale, line: int, one: Contribution, edges: tuple[float, float, int]) -> None:
    """What one column brings, from where the last one has ended; and the digits that numbers have after the point."""
    top, (begin, end, after) = LINE * line, edges
    kind = "up" if one.value > 0.0 else "down"
    room = int((WIDTH - 90.0) / SMALL_LETTER)
    written = signed(one.value, after)
    name = shown(one.name, room)
    cell = shown(one.cell, max(room - len(name) - 3, 8)) if one.cell else ""
    add(root, "text", f"{name} = {cell}" if cell else name, class_="label", x=0.0, y=top + 13.0)
    add(root, "text", written, class_=f"end value {kind}", x=WIDTH, y=top + 13.0)
    left, right = sorted((x.at(begin), x.at(end)))
    drawn = box(root, f"bar {kind}", (left, top + 19.0), (max(right - left, 1.0), BAR), rx=2.0)
    tip(drawn, f"{name}: {written}, from {fixed(begin, after)} to {fixed(end, after)}")
    add(root, "line", class_="joint", x1=x.at(begin), x2=x.at(begin), y1=top - LINE + 19.0 + BAR, y2=top + 19.0)


def titled(explanation: Explanation, output: int) -> str:
    """What a score is, as a sentence begins; the name of a column stays as it is."""
    text = explanation.title(output)
    ours = explanation.scale in (LOG_ODDS, SCORE)
    return shown(text[:1].upper() + text[1:] if ours else text, 60)


def signed(value: float, after: int | None = None) -> str:
    """A number with its sign; with so many digits after the point, if that is said."""
    written = number(value) if after is None else fixed(value, after)
    return written if written.startswith(MINUS) else f"+{written}"


def label_positions(values: Sequence[float]) -> int:
    """Digits after the point for numbers that stand below each other: as many as give the largest three that count."""
    largest = max((abs(value) for value in values), default=0.0)
    return min(max(2 - math.floor(math.log10(largest)), 0), 12) if largest > 0.0 else 3


# All rows: a strip of points for each column.


def _swarm_figure(explanation: Explanation, output: int) -> dict[str, Any]:
    size = explanation.importance()[:, output]
    order = [c for c in np.argsort(-size, kind="stable")[:MOST_COLUMNS].tolist() if size[c] > 0.0]
    words = "The columns that bring most, by the mean size of what they bring." if order else "No column brings anything."
    return {"title": titled(explanation, output), "words": words, "drawing": swarm(explanation, output, order)}


def swarm(explanation: Explanation, output: int, columns: Sequence[int]) -> Markup:
    """For each of some columns a strip with a point for every row: at what it brings, in the shade of its value."""
    n = len(explanation)
    rows = np.arange(n) if n <= MOST_POINTS else np.sort(choose(key(0, "swarm"), n, MOST_POINTS))
    values = explanation.values[rows][:, list(columns), output]
    height = LINE * len(columns) + 30.0
    size = explanation.importance()[:, output]
    words = "; ".join(f"{shown(explanation.names[c], 30)} {number(float(size[c]))}" for c in columns)
    root = drawing(f"What columns bring to {shown(explanation.title(output), 80)}", f"Mean sizes: {words}", WIDTH, height)
    x = _axis(root, [0.0, *values.reshape(-1).tolist()], height)
    add(root, "line", class_="axis", x1=x.at(0.0), x2=x.at(0.0), y1=0.0, y2=height - 22.0)
    for line, column in enumerate(columns):
        top = LINE * line
        add(root, "text", shown(explanation.names[column], 40), class_="label", x=0.0, y=top + 12.0)
        add(root, "text", f"± {number(float(size[column]))}", class_="end", x=WIDTH, y=top + 12.0)
        across = np.array([x.at(value) for value in values[:, line].tolist()])
        for (cx, cy), shade in zip(_stacked(across, top + 27.0), _shades(explanation, column, rows), strict=True):
            # Without the usual helper: there are thousands.
            root.append(
                Element("circle", {"class": f"swarm {shade}".strip(), "cx": position(cx), "cy": position(cy), "r": position(RADIUS)})
            )
    return markup(root)


def _stacked(across: NDArray[np.float64], middle: float) -> list[tuple[float, float]]:
    """Points that would hide each other, moved up and down in turn, within their strip."""
    taken: dict[int, int] = {}
    found = [(0.0, 0.0)] * len(across)
    for point in np.argsort(across, kind="stable").tolist():
        cell = int(across[point] / RADIUS)
        depth = taken.get(cell, 0)
        taken[cell] = depth + 1
        steps = (depth + 1) // 2 * (1 if depth % 2 else -1)
        found[point] = (float(across[point]), middle + min(max(steps * 1.6, -9.0), 9.0))
    return found


def _shades(explanation: Explanation, column: int, rows: NDArray[np.int64]) -> list[str]:
    """The class of each point: its rank among the values of the column, in fifths; none for categories and gaps."""
    held = None if explanation.cells is None else explanation.cells.numbers(column)
    if held is None:
        return [""] * len(rows)
    cuts = np.nanquantile(held, np.arange(1, SHADES) / SHADES) if not np.isnan(held).all() else np.zeros(SHADES - 1)
    return ["" if np.isnan(value) else f"v{np.searchsorted(cuts, value, side='right')}" for value in held[rows].tolist()]


@cache
def _environment() -> Environment:
    loader = PackageLoader("woodwind.report")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@cache
def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    text: str = loader.get_source(_environment(), name)[0]
    return text
