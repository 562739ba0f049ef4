"""Charts: well-formed, told in words, and every mark where its number says."""

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from woodwind.report.chart import Axis, Chart, in_percent, share_axis
from woodwind.report.figures import (
    BinCounts,
    ChartBand,
    ChartLine,
    PointGroup,
    ScatterPoints,
    apart,
    columns,
    heat,
    histogram,
    levels,
    lines,
    overlap,
    scatter,
    spark,
    strips,
)
from woodwind.report.rows import Track, bar_row, point_row

EVIL = "<b>\"'&\u202e\x00"


def read(drawing):
    """The chart as XML, as strict as can be."""
    return ET.fromstring(str(drawing))


def marks(root, tag, kind):
    return [one for one in root.iter(tag) if kind in one.get("class", "").split()]


def numbers(element, *names):
    return tuple(float(element.get(name)) for name in names)


def points_of(path):
    return [tuple(float(one) for one in point.split(",")) for point in path.get("d").lstrip("M").rstrip("Z").split("L")]


def ticks_of(root):
    """Positions of the numbers on the axes: a scale to check marks against."""
    return {one.text: numbers(one, "x", "y") for one in root.iter("text") if "tick" in one.get("class", "")}


def unit_axes():
    return Axis("across", 0.0, 10.0, at=(0.0, 10.0), written=("x0", "x10")), Axis("up", 0.0, 4.0, at=(0.0, 4.0), written=("y0", "y4"))


def position(root, x, y):
    """Where a pair of numbers must be, by the ticks of `unit_axes`."""
    found = ticks_of(root)
    xs = [numbers(one, "x1")[0] for one in root.iter("line") if one.get("class") == "axis" and one.get("x1") == one.get("x2")]
    low, high = found["y0"][1] - 4.0, found["y4"][1] - 4.0
    return xs[0] + (xs[1] - xs[0]) * x / 10.0, low + (high - low) * y / 4.0


def test_a_line_goes_through_its_points():
    root = read(lines("t", "d", *unit_axes(), [ChartLine("", [0.0, 5.0, 10.0], [0.0, 1.0, 4.0])]))
    (path,) = marks(root, "path", "line")
    for found, (x, y) in zip(points_of(path), [(0, 0), (5, 1), (10, 4)], strict=True):
        assert found == pytest.approx(position(root, x, y), abs=0.02)


def test_a_band_is_around_its_line():
    line = ChartLine("", [0.0, 10.0], [1.0, 2.0], low=[0.5, 1.0], high=[2.0, 4.0])
    root = read(lines("t", "d", *unit_axes(), [line]))
    (area,) = marks(root, "path", "area")
    wanted = [(0, 2.0), (10, 4.0), (10, 1.0), (0, 0.5)]
    for found, pair in zip(points_of(area), wanted, strict=True):
        assert found == pytest.approx(position(root, *pair), abs=0.02)


def test_points_stand_where_they_are_and_on_the_edge_if_they_are_beyond():
    root = read(scatter("t", "d", *unit_axes(), [ScatterPoints([2.0, 99.0], [1.0, 2.0], tips=["one", "two"])]))
    first, second = marks(root, "circle", "dot")
    assert numbers(first, "cx", "cy") == pytest.approx(position(root, 2.0, 1.0), abs=0.02)
    assert numbers(second, "cx", "cy") == pytest.approx(position(root, 10.0, 2.0), abs=0.02)
    assert first.find("title").text == "one"


def test_names_of_points_do_not_cover_each_other():
    names = [f"member {position}" for position in range(12)]
    crowd = ScatterPoints([5.0 + 0.01 * position for position in range(12)], [2.0] * 12, names=names)
    root = read(scatter("t", "d", *unit_axes(), [crowd], reference=ChartLine("all", (0.0, 10.0), (2.0, 2.0), "two")))
    boxes = []
    for one in root.iter("text"):
        if one.text in names:
            x, y = numbers(one, "x", "y")
            boxes.append((x, y - 10.0, x + 5.0 * len(one.text), y + 2.0))
    assert boxes
    assert not any(overlap(one, other) for position, one in enumerate(boxes) for other in boxes[:position])


def test_bars_of_a_histogram_are_as_high_as_their_counts():
    root = read(histogram("t", "d", "x", [0.0, 1.0, 2.0, 3.0], [BinCounts([10, 0, 30])]))
    bars = marks(root, "rect", "bar")
    heights = [numbers(one, "height")[0] for one in bars]
    assert len(bars) == 2
    assert heights[1] == pytest.approx(3.0 * heights[0], rel=0.01)
    assert numbers(bars[0], "x")[0] < numbers(bars[1], "x")[0]
    floor = {round(sum(numbers(one, "y", "height")), 1) for one in bars}
    assert len(floor) == 1


def test_two_histograms_are_shares_of_their_own_rows():
    root = read(histogram("t", "d", "x", [0.0, 1.0, 2.0], [BinCounts([5, 5], "one", "a"), BinCounts([500, 500], "two", "b")]))
    heights = {numbers(one, "height")[0] for one in marks(root, "rect", "see")}
    assert len(heights) == 1


def test_levels_stand_beside_their_names_in_order():
    root = read(levels("t", "d", Axis("x", 0.0, 1.0), [ChartBand("a", 0.2), ChartBand("b", 0.9), ChartBand("c", 0.5)]))
    dots, names = marks(root, "circle", "dot"), ticks_of(root)
    assert len(dots) == 3
    for dot, name in zip(dots, "abc", strict=True):
        assert numbers(dot, "cy")[0] == pytest.approx(names[name][1] - 4.0, abs=0.1)
    across = [numbers(dot, "cx")[0] for dot in dots]
    assert across[0] < across[2] < across[1]


def test_columns_are_as_high_as_their_values():
    root = read(columns("t", "d", Axis("Rows", 0.0, 100.0), [ChartBand("a", 80.0, written="80 %"), ChartBand("b", 20.0, written="20 %")]))
    heights = [numbers(one, "height")[0] for one in marks(root, "rect", "bar")]
    assert heights[0] == pytest.approx(4.0 * heights[1], rel=0.01)
    assert "80 %" in [one.text for one in root.iter("text")]


def test_shades_of_a_heat_map_are_the_shares():
    root = read(heat("t", "d", (["a", "b"], ["a", "b"]), [[1.0, 0.0], [0.25, 0.75]], [["4", "0"], ["1", "3"]], ("Truth", "Predicted")))
    cells = [one for one in root.iter("rect") if one.get("class") == "heat"]
    assert [float(one.get("fill-opacity")) for one in cells] == [1.0, 0.0, 0.25, 0.75]
    assert [one.text for one in root.iter("text") if "ink" in one.get("class")] == ["4", "0", "1", "3"]
    assert "25.0\u202f%" in cells[2].find("title").text


def test_strips_spread_points_around_their_row_and_mark_the_median():
    root = read(strips("t", "d", share_axis("chance"), [PointGroup("a", [0.5] * 30, 0.5), PointGroup("b", [0.1, 0.9], 0.5)]))
    dots, (first, second) = marks(root, "circle", "dot"), marks(root, "line", "middle-mark")
    names = ticks_of(root)
    assert len(dots) == 32
    middle = names["a"][1] - 4.0
    heights = [numbers(one, "cy")[0] for one in dots[:30]]
    assert max(heights) - min(heights) > 10.0
    assert all(abs(one - middle) < 30.0 for one in heights)
    assert first.get("x1") == second.get("x1") == dots[0].get("cx")


def test_the_same_strip_is_drawn_twice_the_same():
    groups = [PointGroup("a", [0.1, 0.2, 0.2], None)]
    assert strips("t", "d", share_axis("x"), groups, seed=3) == strips("t", "d", share_axis("x"), groups, seed=3)


def test_rows_share_a_scale():
    track = Track(0.0, 2.0)
    bar, half = read(bar_row(track, 2.0, 0.0, "two")), read(bar_row(track, 1.0, 0.25, "one"))
    wide = [float(marks(root, "rect", "bar")[0].get("width").rstrip("%")) for root in (bar, half)]
    assert wide[0] == pytest.approx(2.0 * wide[1], rel=0.01)
    whisker = marks(half, "line", "whisker")[0]
    ends = [float(whisker.get(end).rstrip("%")) for end in ("x1", "x2")]
    assert ends == pytest.approx([2.0 + 96.0 * 0.375, 2.0 + 96.0 * 0.625], abs=0.02)


def test_a_score_beyond_the_scale_is_an_arrow():
    assert not marks(read(point_row(Track(0.0, 1.0), 5.0, 0.1, "far")), "circle", "dot")
    assert marks(read(point_row(Track(0.0, 1.0), 0.5, 0.1, "here")), "circle", "dot")


def test_names_at_the_ends_of_lines_keep_apart():
    found = apart([10.0, 10.0, 11.0], 15.0, 0.0, 100.0)
    assert sorted(found) == sorted(set(found))
    ordered = sorted(found)
    assert all(b - a >= 14.9 for a, b in pairwise(ordered))
    assert all(0.0 <= one <= 100.0 for one in found)


ALL = [
    lambda text: lines(text, text, Axis(text, 0, 1), Axis(text, 0, 1), [ChartLine(text, [0, 1], [0, 1], dots=True)]),
    lambda text: scatter(
        text, text, Axis(text, 0, 1), Axis(text, 0, 1), [ScatterPoints([0.5], [0.5], names=[text], tips=[text], name=text)]
    ),
    lambda text: histogram(text, text, text, [0, 1], [BinCounts([1], "one", text), BinCounts([2], "two", text)]),
    lambda text: levels(text, text, Axis(text, 0, 1), [ChartBand(text, 0.5)]),
    lambda text: columns(text, text, Axis(text, 0, 1), [ChartBand(text, 0.5)]),
    lambda text: heat(text, text, ([text], [text]), [[0.5]], [[text]], (text, text)),
    lambda text: strips(text, text, Axis(text, 0, 1), [PointGroup(text, [0.5], 0.5)]),
    lambda text: spark(text, [1, 2, 3]),
    lambda text: bar_row(Track(0, 1), 0.5, 0.1, text),
    lambda text: point_row(Track(0, 1), 0.5, 0.1, text),
]


@pytest.mark.parametrize("draw", ALL)
@pytest.mark.parametrize("text", [EVIL, "y" * 100_000, "", "עברית"])
def test_any_text_gives_a_well_formed_drawing_of_bounded_size(draw, text):
    drawing = draw(text)
    root = read(drawing)
    assert root.get("role") == "img"
    assert root.find("title") is not None
    assert len(drawing) < 20_000
    assert "<b>" not in drawing


def test_a_number_that_is_not_finite_is_never_drawn():
    with pytest.raises(ValueError, match="finite"):
        lines("t", "d", *unit_axes(), [ChartLine("", [0.0, 1.0], [0.0, float("nan")])])


def test_ticks_in_percent_have_as_many_digits_as_they_need():
    assert [text for _, text in in_percent(Axis("x", 0.095, 0.11, 3)).marks] == ["9.5\u202f%", "10.0\u202f%", "10.5\u202f%", "11.0\u202f%"]


def test_ticks_without_room_are_left_out():
    names = [f"a rather long {position}" for position in range(20)]
    chart = Chart("t", "d", Axis("x", -0.5, 19.5, names=names), Axis("y", 0.0, 1.0))
    written = [one.text for one in chart.root.iter("text") if one.text in names]
    assert 1 <= len(written) < 6
