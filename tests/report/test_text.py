"""Text as a page may show it."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from woodwind.report.text import called, cleaned, count, duration, fixed, listing, number, percent, shown, trimmed


@given(st.text(max_size=300), st.integers(2, 80))
def test_shown_text_is_one_short_line_without_hidden_signs(text, most):
    found = shown(text, most)
    assert len(found) <= most
    assert len((found + "x").splitlines()) == 1
    assert all(unicodedata.category(sign) not in ("Cc", "Cs", "Co", "Cn") for sign in found)
    assert not set(found) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\ufeff")
    found.encode("utf-8")


def test_ordinary_text_of_any_script_stays_as_it_is():
    for text in ("Straße & Co", "収入", "הכנסה", "می\u200cخواهم", "<b>"):
        assert shown(text) == text


def test_cleaned_reaches_keys_and_values():
    assert cleaned({"a\x00": ["b\u202e", 1.5, None, True]}) == {"a�": ["b�", 1.5, None, True]}


NUMBERS = {0.0: "0", 1234.5678: "1235", 0.012345: "0.0123", -2.5: "−2.50", 1e9: "1.00 × 10⁹", 2e-7: "2.00 × 10⁻⁷", None: "–"}


@pytest.mark.parametrize(("value", "written"), NUMBERS.items())
def test_numbers(value, written):
    assert number(value) == written


def test_noughts_at_the_end_are_trimmed_from_values_but_not_from_whole_numbers():
    assert [trimmed(one) for one in (41.0, 7.0, 100.0, 0.5, 1000.0, 1e9)] == ["41", "7", "100", "0.5", "1000", "1.00 × 10⁹"]


def test_a_rounded_nought_has_no_sign():
    assert fixed(-0.0001, 2) == "0.00"


SHARES = {0.5: "50.0\u202f%", 0.0: "0\u202f%", 1.0: "100\u202f%", 0.9996: "99.96\u202f%", None: "–", math.nan: "–"}
TIMES = {0.02: "20 ms", 1.25: "1.2 s", 61.0: "61 s", 150.0: "2 min 30 s", 7300.0: "2 h 1 min"}


@pytest.mark.parametrize(("share", "written"), SHARES.items())
def test_shares(share, written):
    assert percent(share) == written


@pytest.mark.parametrize(("seconds", "predicted"), TIMES.items())
def test_times(seconds, predicted):
    assert duration(seconds) == predicted


def test_a_bare_label_is_called_by_the_target():
    assert called("BAD", 1) == "BAD\u00a0=\u00a01"
    assert called("BAD", "yes") == "BAD\u00a0=\u00a0yes"
    assert called("colour", "red") == "red"
    assert called("", "1") == "1"


def test_lists_in_sentences():
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing(["a", "b", "c", "d"], 2) == "a, b and 2 more"
    assert (count(2015), count(-2015), count(12_345), fixed(2015.0, 0), fixed(-2015.5, 1)) == (
        "2015", "-2015", "12\u202f345", "2015", "−2015.5",
    )  # fmt: skip
    assert count(1234567) == "1\u202f234\u202f567"
