"""The house style: light and dark, near and far, short and long."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from woodwind.plots import EnsembleSizeDisplay, MemberCorrelationDisplay, StrengthDiversityDisplay
from woodwind.plots.labels import apart, shortened
from woodwind.plots.style import ON_DARK, ON_LIGHT, PlotStyle, lightness


def test_colours_follow_the_axes_and_not_the_settings():
    with plt.style.context("dark_background"):
        dark = plt.subplots()[1]
    light = plt.subplots()[1]
    assert PlotStyle.of(dark).colours == ON_DARK
    assert PlotStyle.of(light).colours == ON_LIGHT
    light.set_facecolor("none")
    light.figure.set_facecolor("none")
    assert PlotStyle.of(light).paper == (1.0, 1.0, 1.0)  # black ink stands on something light


@pytest.mark.parametrize(("colours", "paper"), [(ON_LIGHT, "white"), (ON_DARK, "black")])
def test_colours_can_be_told_from_the_paper_and_from_each_other(colours, paper):
    assert all(abs(lightness(colour) - lightness(paper)) > 0.18 for colour in colours)
    apart_by = [np.abs(np.subtract(to_rgb(one), to_rgb(other))).sum() for one in colours for other in colours if one != other]
    assert min(apart_by) > 0.3


def test_long_names_keep_their_beginning_and_their_end():
    assert shortened("forest") == "forest"
    assert shortened("a random forest of one hundred trees", 16) == "a random f…trees"
    assert len(shortened("x" * 200, 12)) == 12


def test_names_of_lines_are_moved_apart_no_more_than_needed():
    assert apart(np.array([0.0, 10.0, 20.0]), 5.0, 0.0, 30.0).tolist() == [0.0, 10.0, 20.0]
    assert apart(np.array([10.0, 10.0, 10.0]), 4.0, 0.0, 30.0).tolist() == [6.0, 10.0, 14.0]
    assert apart(np.array([29.0, 30.0]), 4.0, 0.0, 30.0).tolist() == [26.0, 30.0]


def boxes_of(figure, texts):
    figure.draw_without_rendering()
    return [text.get_window_extent() for text in texts]


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("size", [(3.2, 2.4), (9.0, 6.0)])
def test_names_neither_meet_nor_leave_the_picture(style, size):
    with plt.style.context(style):
        figure, ax = plt.subplots(figsize=size, layout="constrained")
    curves = {f"curve number {number} with a long name": 0.2 + 0.001 * number + 1.0 / np.arange(1, 30) for number in range(3)}
    texts = EnsembleSizeDisplay(curves).plot(ax).texts_
    boxes = boxes_of(figure, texts)
    assert not any(one.overlaps(other) for position, one in enumerate(boxes) for other in boxes[:position])
    frame = figure.get_window_extent()
    assert all(box.x0 >= frame.x0 and box.x1 <= frame.x1 + 1 for box in boxes)


def test_only_outstanding_ones_of_many_members_are_named():
    rng = np.random.default_rng(0)
    display = StrengthDiversityDisplay(rng.random(200), rng.random(200), names=[f"tree-{number}" for number in range(200)])
    assert 0 < len(display.plot().texts_) <= 4
    few = StrengthDiversityDisplay([0.1, 0.2, 0.4], [0.7, 0.9, 0.8], names=["a", "b", "c"]).plot()
    assert sorted(text.get_text() for text in few.texts_) == ["a", "b", "c"]


def test_a_map_of_few_members_has_numbers_and_one_of_many_a_scale():
    few = MemberCorrelationDisplay(np.full((3, 3), 0.5)).plot()
    assert len(few.texts_) == 6
    assert few.colorbar_ is None
    assert few.texts_[0].get_text() == "0.50"
    many = MemberCorrelationDisplay(np.corrcoef(np.random.default_rng(0).random((60, 20)))).plot()
    assert many.texts_ == []
    assert many.colorbar_ is not None
    assert "60 members" in many.ax_.get_xlabel()


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_pictures_are_drawn_by_other_backends(tmp_path, kind):
    display = StrengthDiversityDisplay([0.1, 0.2, 0.4], [0.7, 0.9, 0.8], names=["a", "b", "c"], together=0.85).plot()
    display.figure_.savefig(tmp_path / f"picture.{kind}")
    assert (tmp_path / f"picture.{kind}").stat().st_size > 1000
