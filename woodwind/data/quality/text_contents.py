"""What text really holds: numbers with units, or dates. To a model of categories each of these is a word of its own."""

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from woodwind.data.tables.text_dates import DAY_FIRST, MONTH_FIRST, as_moments, order_told
from woodwind.data.tables.text_types import marks

NUMBERS, UNITS, DATES = "numbers", "units", "dates"

# Shares of the filled rows that must be dates, or numbers with a unit, and the least numbers of different ones.
MOST, NEARLY_ALL = 0.9, 0.95
FEW, SOME = 5, 10
MOST_UNITS = 3

_PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
# A sign of money or of comparison before the number; a letter there makes a code of it, such as c17. Behind it, anything short.
_MONEY = r"[A-Z]{0,2}\p{Sc}|[<>≤≥~≈]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|CAD|AUD|NZD|BRL|ZAR)|Rs\.?|kr\.?"
_AMOUNT = r"^\(?[+-]?(?P<before>(?:" + _MONEY + r")?)\s?[+-]?\d[\d.,'’]*\s?(?P<behind>[^\d\s()]{0,5})\)?$"
_GROUPED = r"^[+-]?\d{1,3}([,'’]\d{3})+(\.\d+)?$"

_CLOCK = r"([ T]+\d{1,2}:\d{2}.*)?$"
# Dates as people write them, and how a schema says so; of those with two numbers in front, either may be the month.
_SHAPES = {
    r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}" + _CLOCK: "",
    r"^\d{1,2}[-/.]\d{1,2}[-/.]\d{4}" + _CLOCK: "%Y",
    r"^\d{1,2}[-/.]\d{1,2}[-/.]\d{2}" + _CLOCK: "%y",
    r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$": "%Y%m%d",
    r"^(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2},? (\d{4}|\d{2})" + _CLOCK: "name",
    r"^\d{1,2}[- ](?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[- ,]\s?(\d{4}|\d{2})" + _CLOCK: "name",
}

# Day and month in their order, as a schema writes them.
_SIGNS = {DAY_FIRST: ("%d", "%m"), MONTH_FIRST: ("%m", "%d")}


@dataclass(frozen=True, eq=False)
class TextContents:
    """What the categories of a column of text are."""

    what: str  # NUMBERS, UNITS or DATES
    fits: NDArray[np.bool_]  # which categories are such
    units: tuple[str, ...] = ()
    # How a schema writes the dates: not at all where it need not say, twice where day and month cannot be told apart; None if it cannot.
    layouts: tuple[str, ...] | None = ()


def held(categories: pa.Array, counts: NDArray[np.int64]) -> TextContents | None:
    """What text holds, by all its categories and the rows of each; None where it is words."""
    plain = pc.utf8_trim_whitespace(categories)
    return _dates(plain, counts) or _numbers(plain, counts)


def _dates(plain: pa.Array, counts: NDArray[np.int64]) -> TextContents | None:
    empty = _true(pc.is_in(plain, value_set=marks().cast(plain.type)))
    for shape, year in _SHAPES.items():
        fits = _matches(plain, shape)
        if fits.sum() < FEW or counts[fits].sum() < NEARLY_ALL * counts[~empty].sum():
            continue
        some = plain.filter(pa.array(fits))
        return TextContents(DATES, fits | empty, layouts=_layouts(some, year))
    return None


def _layouts(dates: pa.Array, year: str) -> tuple[str, ...] | None:
    """How a schema writes such dates."""
    if year in ("", "name"):
        return () if as_moments(dates)[0] is not None else None
    if year == "%Y%m%d":
        return (year,)
    parts = pc.extract_regex(dates, r"^(?P<one>\d{1,2})(?P<sign>[-/.])(?P<two>\d{1,2})")
    if year == "%Y" and as_moments(dates)[0] is not None:
        return ()
    sign = pc.struct_field(parts, "sign")[0].as_py()
    order = order_told(*(pc.struct_field(parts, name).cast(pa.int64()) for name in ("one", "two")))
    if order is None and sign == ".":  # as it is where dots are written
        order = DAY_FIRST
    return tuple(sign.join((*signs, year)) for each, signs in _SIGNS.items() if order in (None, each))


def _numbers(plain: pa.Array, counts: NDArray[np.int64]) -> TextContents | None:
    numeric = _matches(plain, _PLAIN)
    share = counts[numeric].sum() / max(int(counts.sum()), 1)
    codes = _matches(plain, r"^[+-]?0\d")
    if share == 1.0:
        return TextContents(NUMBERS, numeric) if numeric.size >= FEW and not codes.any() else None
    parts = pc.extract_regex(plain, _AMOUNT)
    fits = _true(pc.is_valid(parts))
    if share >= 0.5 or fits.sum() < SOME or counts[fits].sum() < MOST * counts.sum():
        return None
    found = parts.filter(pc.is_valid(parts))
    before, behind = (pc.struct_field(found, name) for name in ("before", "behind"))
    units = pc.unique(pc.binary_join_element_wise(before, behind, pa.scalar("", before.type))).to_pylist()
    if len(units) > MOST_UNITS:
        return None
    if any(units) or _matches(plain, _GROUPED).any():
        return TextContents(UNITS, fits, tuple(units))
    return None


def looks_like_days(values: NDArray[np.float64]) -> bool:
    """Whether whole numbers are days written as 20240131."""
    if values.size < FEW or not np.isfinite(values).all() or values.min() < 18000101 or values.max() > 21001231:
        return False
    whole = values.astype(np.int64)
    month, day = whole // 100 % 100, whole % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def is_bare(unit: str) -> bool:
    """Whether a unit is none."""
    return re.sub(r"[.,]", "", unit).strip() == ""


def _matches(text: pa.Array, pattern: str) -> NDArray[np.bool_]:
    return _true(pc.match_substring_regex(text, pattern))


def _true(answers: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(answers.to_numpy(zero_copy_only=False), np.bool_)
