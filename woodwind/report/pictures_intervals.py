"""Pictures of how sure a model is: how often its intervals, or its sets of labels, hold the truth, and how large they are."""

from typing import Any

from woodwind.report.chart import Axis, in_percent, share_axis
from woodwind.report.figures import ChartLine, lines
from woodwind.report.pictures import columns_of, figure
from woodwind.report.rows import Track, bar_row
from woodwind.report.scales import span
from woodwind.report.text import count, fixed, number, percent, shown

Facts = dict[str, Any]

TWICE = 2.0  # standard errors of a whisker


def intervals(facts: Facts) -> Facts | None:
    """Coverage by level as a table and a picture, then by parts of the rows; None where the facts are not there."""
    found = facts.get("intervals")
    if not found or not found.get("levels"):
        return None
    classifies = bool(facts["classes"])
    figures = [coverage_figure(found["levels"], classifies)]
    if found.get("deciles"):
        figures.append(decile_figure(found["deciles"], found["shown"]))
    if found.get("sizes"):
        figures.append(width_figure(found["sizes"], found["shown"]))
    file = facts.get("file", "model.ww")
    return {
        "what": "labels" if classifies else "interval",
        "rows": [_level_row(one) for one in found["levels"]],
        "caption": f"Bounds and sets of each of {count(found['rows'])} rows held out come from other rows held out. {found['promise']}",
        "figures": figures,
        "classes": [_class_row(one) for one in found.get("classes", ())],
        "shown": percent(found["shown"], 0),
        "groups": _groups(found.get("groups"), found["shown"]),
        "command": f"woodwind predict {file} new.csv --interval 0.9",
    }


def _level_row(one: Facts) -> Facts:
    """A row of the table of levels."""
    error = one["standard_error"]
    return {
        "level": _share(one["level"]), "value": one["level"], "coverage_value": one["coverage"],
        "coverage": percent(one["coverage"]) + ("" if error is None else f" ± {fixed(100.0 * error, 1)}"),
        "size_value": "" if one["size"] is None else one["size"], "size": number(one["size"]), "median": number(one["median"]),
        "single": percent(one["single"]) if one.get("single") is not None else "",
    }  # fmt: skip


def _share(level: float) -> str:
    """A level in per cent, with the digits that it has."""
    return percent(level, 0 if abs(100.0 * level - round(100.0 * level)) < 1e-9 else 1)


def _class_row(one: Facts) -> Facts:
    """A row of the table of classes."""
    name, half = shown(one["name"]), max(one["high"] - one["coverage"], one["coverage"] - one["low"])
    drawing = bar_row(Track(0.0, 1.0), one["coverage"], half, f"{name}: {percent(one['coverage'])} inside")
    return {
        "name": name, "count": one["count"], "rows": count(one["count"]), "coverage": percent(one["coverage"]),
        "coverage_value": one["coverage"], "drawing": drawing, "size": number(one["size"]), "size_value": one["size"],
    }  # fmt: skip


def _groups(found: Facts | None, level: float) -> str:
    """How much groups differ, in words."""
    if not found or not found.get("large"):
        return ""
    middle = f"in the middle one {percent(found['median'], 0)} of the rows are inside, in the lowest {percent(found['least'], 0)}"
    few = f"in one of ten less than {percent(found['tenth'], 0)}"
    return f"Of {count(found['large'])} groups with 20 rows or more, asked for {_share(level)}: {middle}, {few}."


def coverage_figure(levels: list[Facts], classifies: bool) -> Facts:
    """Coverage that was found over the coverage that was asked for."""
    x, y = [one["level"] for one in levels], [one["coverage"] for one in levels]
    halves = [TWICE * (one["standard_error"] or 0.0) for one in levels]
    line = ChartLine(
        "", x, y, dots=True,
        low=[max(value - half, 0.0) for value, half in zip(y, halves, strict=True)],
        high=[min(value + half, 1.0) for value, half in zip(y, halves, strict=True)],
        tips=[f"asked for {_share(a)}, found {percent(b)}" for a, b in zip(x, y, strict=True)],
    )  # fmt: skip
    drawn = lines(
        "Coverage",
        "Share of rows held out whose truth was inside over the share that was asked for.",
        share_axis("Nominal coverage"),
        share_axis("Coverage (truth inside)"),
        [line],
        reference=ChartLine("", (0.0, 1.0), (0.0, 1.0)),
    )
    why = " Above it where the most probable label alone is right more often." if classifies else ""
    words = f"On the dashed line coverage is as asked for; bands of two standard errors.{why}"
    return figure("Coverage", words, drawn, "Do they keep what they say?", columns_of(levels, ("level", "coverage", "standard_error")))


def decile_figure(parts: list[Facts], level: float) -> Facts:
    """Coverage by size of the prediction."""
    x = [one["predicted"] for one in parts]
    low = min(0.5, *(one["low"] for one in parts), level - 0.05)
    line = ChartLine(
        "", x, [one["coverage"] for one in parts], dots=True, low=[one["low"] for one in parts], high=[one["high"] for one in parts],
        tips=[f"{number(one['from'])} to {number(one['to'])}: {percent(one['coverage'])} of {count(one['count'])} rows" for one in parts],
    )  # fmt: skip
    left, right = span(x, 0.02)
    drawn = lines(
        "Coverage by predicted value",
        f"Share of rows inside intervals of {_share(level)} over the predicted number, with 95 per cent intervals.",
        Axis("Predicted", left, right),
        in_percent(Axis("Coverage (truth inside)", low, 1.0)),
        [line],
        reference=ChartLine("", (left, right), (level, level)),
    )
    words = f"Parts of {count(parts[0]['count'])} rows each, with 95\u202f% intervals; the dashed line is {_share(level)}."
    numbers = columns_of(parts, ("from", "to", "coverage", "low", "high", "count"))
    return figure("Coverage by predicted value", words, drawn, "Are they right everywhere?", numbers)


def width_figure(sizes: list[float], level: float) -> Facts:
    """Widths of intervals, sorted."""
    share = [position / (len(sizes) - 1) for position in range(len(sizes))]
    drawn = lines(
        "Widths of intervals",
        f"Widths of intervals of {_share(level)}, from the narrowest to the widest.",
        share_axis("Rows, by width"),
        Axis("Width of the interval", *span([0.0, *sizes], 0.02)),
        [ChartLine("", share, sizes)],
    )
    middle = number(sizes[len(sizes) // 2])
    words = f"From {number(sizes[0])} for the surest row to {number(sizes[-1])}; half of them are narrower than {middle}."
    return figure("Width of intervals", words, drawn, "How wide are they?", {"share_of_rows": share, "width": sizes})
