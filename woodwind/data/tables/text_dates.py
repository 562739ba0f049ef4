"""Dates and times of day that are written as text."""

import pyarrow as pa
import pyarrow.compute as pc

# Patterns of dates, with groups for year, month and day, and how the groups come.
_NAMED = r"(?P<m>[A-Za-z]{3,9})\.?"
_CLOCK = r"(?:[ T]+(?P<clock>\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(?:\s*(?P<half>[AaPp]\.?[Mm]\.?))?)?"
_LAYOUTS = {
    "year first": r"^(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})" + _CLOCK + "$",
    "day first": r"^(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})" + _CLOCK + "$",
    "day and month": r"^(?P<d>\d{1,2})[-/](?P<m>\d{1,2})[-/](?P<y>\d{4})" + _CLOCK + "$",
    "day and name": r"^(?P<d>\d{1,2})[- ]" + _NAMED + r"[- ,]\s?(?P<y>\d{4})" + _CLOCK + "$",
    "name and day": "^" + _NAMED + r" (?P<d>\d{1,2}),? (?P<y>\d{4})" + _CLOCK + "$",
    "month only": r"^(?P<y>\d{4})-(?P<m>\d{2})(?P<d>)(?P<clock>)(?P<half>)$",
}
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
_TIME = r"^(?P<clock>\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)$"
_ZONED = r"(Z|[+-]\d{2}:?\d{2})$"

# What comes first in dates such as 3/4/2026. Of a whole column it is told by the first day above 12; a model remembers it.
DAY_FIRST, MONTH_FIRST = "day first", "month first"
ORDERS = (DAY_FIRST, MONTH_FIRST)
_REMEMBERED = b"woodwind.order"

AMBIGUOUS = (
    "looks like dates of which the day and the month cannot be told apart; it is taken as text. "
    f'Say which in a written schema: "format": "{DAY_FIRST}" or "{MONTH_FIRST}"'
)


def order_of(categories: pa.Array) -> str | None:
    """What comes first in dates of two numbers and a year: the day or the month; None for other text, and where it cannot be told."""
    present = categories.drop_null()
    pattern = _LAYOUTS["day and month"]
    if not len(present) or not all(pc.all(pc.match_substring_regex(some, pattern)).as_py() for some in (present[:20], present)):
        return None
    parts = pc.extract_regex(present, pattern)
    return order_told(pc.struct_field(parts, "d").cast(pa.int64()), pc.struct_field(parts, "m").cast(pa.int64()))


def with_order(field: pa.Field, order: str | None) -> pa.Field:
    """The field of a table, with what comes first in its dates; as it is where that needs no word."""
    return field if order is None else field.with_metadata({_REMEMBERED: order.encode()})


def order_in(field: pa.Field) -> str | None:
    """What `with_order` has put there."""
    found = (field.metadata or {}).get(_REMEMBERED, b"").decode(errors="replace")
    return found if found in ORDERS else None


def order_told(first: pa.Array, second: pa.Array) -> str | None:
    """Whichever is ever above 12 is the day."""
    if pc.max(first).as_py() > 12:
        return DAY_FIRST
    return MONTH_FIRST if pc.max(second).as_py() > 12 else None


def as_moments(categories: pa.Array, order: str | None = None) -> tuple[pa.Array | None, str]:
    """Dates, moments or times of day, whichever all the categories are; None where they are none of these, and what is to be said of it.

    `order` is what comes first in dates such as 3/4/2026, if it is known; else the categories must tell.
    """
    present = categories.drop_null()
    if not pc.all(pc.match_substring_regex(present[:20], r"\d")).as_py():
        return None, ""
    if not pa.types.is_string(categories.type):  # what is joined below is text of one type
        categories, present = categories.cast(pa.string()), present.cast(pa.string())
    iso = _iso(categories)
    if iso is not None:
        return iso, ""
    clock = _clock(categories)
    if clock is not None:
        return clock, ""
    for name, pattern in _LAYOUTS.items():
        if pc.all(pc.match_substring_regex(present, pattern)).as_py():
            return _laid_out(name, pc.extract_regex(categories, pattern), order)
    return None, ""


def _iso(categories: pa.Array) -> pa.Array | None:
    """ISO 8601: a date, with or without a time, with or without a zone."""
    for kind in (pa.date32(), pa.timestamp("us"), pa.timestamp("ns")):
        found = _tried(categories, kind)
        if found is not None:
            return found if _in_range(found) else None
    if pc.all(pc.match_substring_regex(categories.drop_null(), _ZONED)).as_py():
        return _tried(categories, pa.timestamp("us", "UTC"))
    return None


def _tried(categories: pa.Array, kind: pa.DataType) -> pa.Array | None:
    try:
        return categories.cast(kind)
    except pa.ArrowInvalid:
        return None


def _in_range(found: pa.Array) -> bool:
    """Whether the years are such as tables have: 0000-01-01 is no date that anything can be done with."""
    years = pc.min_max(pc.year(found)).as_py()
    return years["min"] is None or bool(years["min"] >= 1)


def _clock(categories: pa.Array) -> pa.Array | None:
    """Times of day: hours and minutes, with or without seconds and their fraction."""
    if not pc.all(pc.match_substring_regex(categories.drop_null(), _TIME)).as_py():
        return None
    micros = _micros(categories)
    if not pc.all(pc.less(micros, 86_400_000_000)).as_py():
        return None
    return micros.cast(pa.time64("us"))


def _micros(clock: pa.Array) -> pa.Array:
    """Microseconds since midnight; 2**62 where the minutes or the seconds are above 59."""
    parts = pc.extract_regex(clock, r"^(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2})(?P<f>\.\d{1,6})?)?$")

    def part(name: str) -> pa.Array:
        written = pc.struct_field(parts, name)
        return pc.if_else(pc.equal(written, ""), "0", written).cast(pa.int64())

    fraction = pc.struct_field(parts, "f")
    micros = pc.round(pc.multiply(pc.if_else(pc.equal(fraction, ""), "0", fraction).cast(pa.float64()), 1e6)).cast(pa.int64())
    seconds = pc.add(pc.add(pc.multiply(part("h"), 3600), pc.multiply(part("m"), 60)), part("s"))
    wrong = pc.or_(pc.greater(part("m"), 59), pc.greater(part("s"), 59))
    return pc.if_else(wrong, pa.scalar(2**62), pc.add(pc.multiply(seconds, 1_000_000), micros))


def _laid_out(name: str, parts: pa.Array, order: str | None) -> tuple[pa.Array | None, str]:
    """The dates of a layout, once it is known which number is the month."""
    years, months, days = pc.struct_field(parts, "y"), pc.struct_field(parts, "m"), pc.struct_field(parts, "d")
    if "name" in name:
        months = _month_numbers(months)
        if months is None:
            return None, ""
    if name == "day and month":
        one, other = days.cast(pa.int64()), months.cast(pa.int64())
        order = order or order_told(one, other)
        if order is None and not pc.all(pc.equal(one, other)).as_py():
            return None, AMBIGUOUS
        if order == MONTH_FIRST:
            days, months = months, days
    if name == "month only":
        days = pc.if_else(pc.is_valid(years), "01", None)
        if not _years_are_near(years):
            return None, ""
    padded = [pc.utf8_lpad(part.cast(pa.string()), 2, padding="0") for part in (months, days)]
    dates = _tried(pc.binary_join_element_wise(years, *padded, "-"), pa.date32())
    if dates is None or not _in_range(dates):
        return None, ""
    return _with_clock(dates, pc.struct_field(parts, "clock"), pc.struct_field(parts, "half")), ""


def _years_are_near(years: pa.Array) -> bool:
    """Whether all are years that somebody may have lived in: 4711-03 is a number of a part."""
    found = pc.min_max(years.cast(pa.int64())).as_py()
    return bool(found["min"] >= 1800 and found["max"] <= 2100)


def _month_numbers(names: pa.Array) -> pa.Array | None:
    """Months by their English names or the first three letters of these."""
    known = {form: str(position + 1) for position, month in enumerate(_MONTHS) for form in (month, month[:3])} | {"sept": "9"}
    positions = pc.index_in(pc.utf8_lower(names), value_set=pa.array(list(known)))
    if positions.null_count != names.null_count:
        return None
    return pa.array(list(known.values())).take(positions)


def _with_clock(dates: pa.Array, clock: pa.Array, half: pa.Array) -> pa.Array | None:
    """Dates with their times of day, if any has one."""
    if not pc.any(pc.not_equal(clock, "")).as_py():
        return dates
    micros = _micros(pc.if_else(pc.equal(clock, ""), "0:00", clock))
    hour = pc.divide(micros, 3_600_000_000)
    halved = pc.not_equal(half, "")
    late = pc.match_substring_regex(half, "^[Pp]")
    noon = pc.equal(hour, 12)
    shift = pc.if_else(pc.and_(late, pc.invert(noon)), 12, pc.if_else(pc.and_(pc.and_(halved, pc.invert(late)), noon), -12, 0))
    wrong = pc.or_(pc.greater_equal(micros, 86_400_000_000), pc.and_(halved, pc.greater(hour, 12)))
    if pc.any(wrong).as_py():
        return None
    total = pc.add(micros, pc.multiply(shift, 3_600_000_000))
    whole = pc.add(dates.cast(pa.timestamp("us")).cast(pa.int64()), total)
    return whole.cast(pa.timestamp("us"))
