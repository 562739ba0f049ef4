"""Did you mean: the names that may have been meant by one that is not there."""

import difflib
from collections.abc import Iterable

# Share of letters that agree, in order: below this, what is offered surprises more often than it helps.
ALIKE = 0.5


def spelling(name: object) -> str:
    """A name as it is compared: small letters, with _ in the place of hyphens and spaces."""
    return str(name).strip().lower().replace("-", "_").replace(" ", "_")


def nearest(name: object, there: Iterable[str], most: int = 1, alike: float = ALIKE) -> list[str]:
    """Up to so many of the names that are there, the most alike first; capitals, hyphens and spaces do not count."""
    by_spelling: dict[str, str] = {}
    for one in there:
        by_spelling.setdefault(spelling(one), one)
    return [by_spelling[one] for one in difflib.get_close_matches(spelling(name), by_spelling, n=most, cutoff=alike)]


def did_you_mean(name: object, there: Iterable[str], most: int = 1, alike: float = ALIKE) -> str:
    """The question, or nothing where no name is near."""
    near = nearest(name, there, most, alike)
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
