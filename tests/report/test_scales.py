"""Scales: round ticks, and places that are where the numbers say."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from woodwind.report.scales import Scale, labels, span, ticks, widened

finite = st.floats(-1e9, 1e9, allow_nan=False)


@given(finite, st.floats(1e-6, 1e9), st.integers(2, 8))
def test_ticks_are_round_evenly_spaced_and_inside(low, width, about):
    high = low + max(width, 1e-6 * abs(low))
    found = ticks(low, high, about)
    room = 1e-6 * max(abs(low), abs(high), width)
    assert all(low - room <= one <= high + room for one in found)
    steps = [b - a for a, b in pairwise(found)]
    if steps:
        assert max(steps) - min(steps) <= 1e-6 * max(steps) + 1e-9 * max(abs(low), abs(high))
        lead = steps[0] / 10.0 ** math.floor(math.log10(steps[0]) + 1e-9)
        assert any(abs(lead - one) < 1e-3 for one in (1.0, 2.0, 2.5, 5.0, 10.0))


EXPECTED = [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (0, 100, [0, 20, 40, 60, 80, 100]), (-3, 3, [-3, -2, -1, 0, 1, 2, 3])]


@pytest.mark.parametrize(("low", "high", "found"), EXPECTED)
def test_ticks_that_a_reader_expects(low, high, found):
    assert ticks(low, high) == pytest.approx(found)


def test_whole_numbers_have_no_ticks_between_them():
    assert ticks(0, 3, whole=True) == [0, 1, 2, 3]
    assert all(one == round(one) for one in ticks(0, 13, whole=True))


def test_labels_tell_ticks_apart():
    assert labels([0.0, 0.25, 0.5]) == ["0.00", "0.25", "0.50"]
    assert labels([0.0, 50_000.0, 100_000.0]) == ["0", "50\u202fk", "100\u202fk"]
    assert labels([13100.0, 13150.0, 13200.0]) == ["13\u202f100", "13\u202f150", "13\u202f200"]
    assert labels([-2.0, 0.0, 2.0]) == ["−2", "0", "2"]


@given(st.lists(finite, min_size=1, max_size=6))
def test_a_span_has_a_width_and_holds_everything(values):
    low, high = span(values)
    assert low < high
    assert all(low <= one <= high for one in values)


def test_a_span_of_nothing_finite_is_a_span():
    assert span([float("nan"), float("inf")]) == (0.0, 1.0)


def test_ends_are_moved_outwards_to_round_numbers():
    low, high = widened(0.3, 9.7)
    assert low <= 0.3
    assert high >= 9.7
    assert (low, high) == (0.0, 10.0)


@given(finite, finite.filter(bool), finite)
def test_a_place_beyond_the_scale_is_at_its_edge_whichever_way_it_goes(low, width, value):
    scale = Scale(low, low + width, 10.0, 90.0)
    if scale.low == scale.high:
        return
    assert 10.0 - 1e-6 <= scale.inside(value) <= 90.0 + 1e-6
    assert scale.at(scale.low) == pytest.approx(10.0)
    assert scale.at(scale.high) == pytest.approx(90.0)
