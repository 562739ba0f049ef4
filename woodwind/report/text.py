"""Text as a page may show it: foreign names made harmless to read, and numbers with as many digits as they deserve."""

import math
from collections.abc import Sequence
from typing import Any

from woodwind.base.formatting import is_hidden

LONGEST = 60  # characters of a name or a value that are shown
ELLIPSIS = "…"
MINUS = "−"
THIN = "\u202f"  # a narrow space that does not break: between a number and its per cent sign, and between thousands
UNSEEABLE = "�"


def shown(value: Any, most: int = LONGEST) -> str:
    """A name or a value of a table as it may stand on a page: one line of so many characters, and nothing that hides or turns text."""
    text = str(value)
    cut = text[: most + 1]
    if len(text) > most:
        cut = cut[: most - 1] + ELLIPSIS
    return "".join(_visible(sign) for sign in cut)


def cleaned(value: Any, most: int = 2000) -> Any:
    """Plain values with all their text as it may be shown."""
    if isinstance(value, dict):
        return {shown(name, most): cleaned(one, most) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(one, most) for one in value]
    return shown(value, most) if isinstance(value, str) else value


def _visible(sign: str) -> str:
    if sign in "\t\n\r\x0b\x0c\u2028\u2029\x85":
        return " "
    return UNSEEABLE if is_hidden(sign) else sign


def called(target: str, label: Any, most: int = LONGEST) -> str:
    """A class in a sentence: a mere number, yes or no says nothing without the name of the target."""
    text = shown(label, most)
    bare = text.lower() in ("true", "false", "yes", "no", "y", "n", "t", "f") or text.lstrip("-").replace(".", "", 1).isdigit()
    return f"{shown(target, max(most - len(text) - 3, 4))}\u00a0=\u00a0{text}" if bare and target else text


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many digits that count, at least all those before the point; thousands apart."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return f"{MINUS if value < 0 else ''}∞"
    if value == 0.0:
        return "0"
    size = abs(value)
    if size >= 1e7 or size < 1e-4:
        mantissa, exponent = f"{size:.{digits - 1}e}".split("e")
        return f"{MINUS if value < 0 else ''}{mantissa} × 10{_raised(int(exponent))}"
    after = max(0, digits - 1 - math.floor(math.log10(size)))
    return fixed(value, after)


def trimmed(value: float | None, digits: int = 3) -> str:
    """The same without noughts at its end: for values of a table, not for measurements."""
    text = number(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text and "×" not in text else text


def fixed(value: float, after: int) -> str:
    """A number with so many digits after the point; thousands apart from five digits on, so that years stay what they are."""
    if not math.isfinite(value):
        return number(value)
    text = _apart(f"{abs(value):,.{after}f}")
    is_zero = not text.strip("0." + THIN)
    return f"{MINUS if value < 0 and not is_zero else ''}{text}"


def _raised(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def count(value: int) -> str:
    """A whole number, thousands apart from five digits on."""
    return _apart(f"{value:,}")


def _apart(text: str) -> str:
    """Digits with commas between thousands as a page has them: narrow spaces, and none among four digits."""
    whole = text.partition(".")[0].lstrip("-")
    return text.replace(",", THIN if len(whole) > len("9,999") else "")


def percent(share: float | None, after: int | None = None) -> str:
    """A share in per cent: one digit after the point, and two near nought and near one, where they matter."""
    if share is None or not math.isfinite(share):
        return "–"
    edge = min(abs(share), abs(1.0 - share)) * 100.0
    if after is None:
        after = 1 if edge >= 0.095 else 2 if edge > 0.0 else 0
    return f"{fixed(100.0 * share, after)}{THIN}%"


def decimals_for(error: float) -> int:
    """Digits after the point that a value with such an error deserves: two of the error's own."""
    if not math.isfinite(error) or error <= 0.0:
        return 4
    return min(max(0, 1 - math.floor(math.log10(error))), 8)


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 0.1:
        return f"{number(1000.0 * seconds, 2)} ms"
    if seconds < 9.95:
        return f"{fixed(seconds, 1)} s"
    if seconds < 120.0:
        return f"{fixed(seconds, 0)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def listing(words: Sequence[str], most: int = 5) -> str:
    """Words as a list in a sentence, cut where there are too many."""
    kept = list(words[:most])
    if len(words) > most:
        return f"{', '.join(kept)} and {len(words) - most} more"
    return kept[0] if len(kept) == 1 else f"{', '.join(kept[:-1])} and {kept[-1]}" if kept else ""
