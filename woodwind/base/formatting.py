"""Numbers, times and texts as people read them."""

import math
import unicodedata

# Characters that nobody sees and that steer what shows them, or change what is around them: controls, marks of direction, lone halves of
# pairs, characters that mean nothing, ends of lines and of paragraphs.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = {"\u200c", "\u200d"}  # needed to write Persian, Hindi and some signs


def figure(number: float) -> str:
    """A score: four digits behind the point, fewer where it is large."""
    if not math.isfinite(number):
        return "-"
    size = abs(number)
    digits = 4 if size < 10 else 3 if size < 100 else 2 if size < 1000 else 0
    # A tiny number must not look like nothing.
    return f"{number:.3g}" if 0 < size < 0.001 else f"{number:,.{digits}f}"


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def counted(number: int, noun: str) -> str:
    """So many of something.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    several = f"{noun[:-1]}ies" if noun.endswith("ory") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"


def one_line(text: object) -> str:
    """A text without its line breaks."""
    return " ".join(str(text).split())


def is_hidden(sign: str) -> bool:
    """Whether a character is not seen itself but changes what is around it."""
    return unicodedata.category(sign) in _HIDDEN and sign not in _JOINERS


def printable(text: object, keep: str = "") -> str:
    """A text in one line that steers no terminal: hidden characters are written as their escapes, but for those to `keep`.

    >>> print(printable("a name\\x1b[2J\\n"))
    a name\\x1b[2J\\n
    """
    words = str(text)
    if words.isprintable():
        return words
    return "".join(sign.encode("unicode_escape").decode() if is_hidden(sign) and sign not in keep else sign for sign in words)
