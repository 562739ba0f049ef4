"""The style sheet: text that can be read, in light and in dark, and classes that exist."""

import re
from importlib import resources
from itertools import product

import pytest

STYLE = resources.files("woodwind.report").joinpath("templates/style.css").read_text(encoding="utf-8")
LIGHT, DARK = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2])


def luminance(colour):
    parts = [int(colour[position : position + 2], 16) / 255.0 for position in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Of the Web Content Accessibility Guidelines 2, 1.4.3."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_a_contrast_of_four_and_a_half_on_whatever_is_behind_it(theme):
    inks = ("ink", "soft", "one", "two", "three", "four")
    for ink, paper in [
        *product(inks, ("paper", "card")),
        ("ink", "wash"),
        ("ink", "heat"),
        ("ink", "heat-empty"),
        ("ink", "warn-wash"),
        ("ink", "bad-wash"),
        ("warn", "warn-wash"),
        ("bad", "bad-wash"),
        ("soft", "wash"),
    ]:
        assert contrast(theme[ink], theme[paper]) >= 4.5, (ink, paper)


def test_both_themes_have_the_same_colours():
    assert set(LIGHT) == set(DARK)
    used = set(re.findall(r"var\(--([\w-]+)\)", STYLE))
    assert used <= set(LIGHT)


def test_braces_match_and_nothing_is_loaded():
    assert STYLE.count("{") == STYLE.count("}")
    assert not re.search(r"url\(|@import|@font-face|https?:", STYLE)


def test_templates_are_in_the_package():
    names = {one.name for one in resources.files("woodwind.report").joinpath("templates").iterdir()}
    assert {"page.html", "style.css", "sort.js", "macros.html", "summary.html", "leaderboard.html"} <= names
