"""What a value may be, and how to say so in words."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np


class Bound:
    """A limit on the numbers that a parameter may take; other kinds pass."""

    def allows(self, value: Any) -> bool:
        """Whether the value is within the limit, or of a kind that has none."""
        return not is_number(value) or self.holds(value)

    def holds(self, number: float) -> bool:
        """Whether the number is within the limit."""
        raise NotImplementedError

    def words(self, noun: str) -> str:
        """The limit as it follows a noun: 'an integer' becomes 'an integer of at least 1'."""
        raise NotImplementedError


@dataclass(frozen=True)
class Range(Bound):
    """Numbers from `low` to `high`; either end may be missing, or be itself outside."""

    low: float = -math.inf
    high: float = math.inf
    low_is_in: bool = True
    high_is_in: bool = True

    def holds(self, number: float) -> bool:
        """Whether the number is in the range."""
        above = number >= self.low if self.low_is_in else number > self.low
        below = number <= self.high if self.high_is_in else number < self.high
        return above and below

    def words(self, noun: str) -> str:
        """As in 'a number above 0 and at most 1'."""
        low = f"of at least {self.low:g}" if self.low_is_in else f"above {self.low:g}"
        high = f"at most {self.high:g}" if self.high_is_in else f"below {self.high:g}"
        if math.isinf(self.high):
            return f"{noun} {low}"
        return f"{noun} from {self.low:g} to {self.high:g}" if self.low_is_in and self.high_is_in else f"{noun} {low} and {high}"


@dataclass(frozen=True)
class CountOrShare(Bound):
    """A count as an integer, or a share of all as a fraction."""

    def holds(self, number: float) -> bool:
        """An integer counts, a fraction is a share."""
        return number >= 1 if isinstance(number, int) else 0.0 < number <= 1.0

    def words(self, noun: str) -> str:
        """Each kind of number has its own limit."""
        return f"{noun} of at least 1 (a count)" if noun == "an integer" else f"{noun} above 0 and at most 1 (a share)"


@dataclass(frozen=True)
class NotZero(Bound):
    """Any number but zero."""

    def holds(self, number: float) -> bool:
        """Whether it is not zero."""
        return number != 0

    def words(self, noun: str) -> str:
        """As in 'an integer other than 0'."""
        return f"{noun} other than 0"


@dataclass(frozen=True)
class OneOf:
    """Strings from a list."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Spelled:
    """Words for a kind that the type alone does not describe."""

    text: str


@dataclass(frozen=True)
class First:
    """May be given without its name."""


def is_number(value: Any) -> bool:
    """True and False are not numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def plain(value: Any) -> Any:
    """NumPy scalars as the Python kinds that they count as: kernels compile once for each kind."""
    return value.item() if isinstance(value, np.bool_ | np.integer | np.floating | np.str_) else value


def alternatives(kind: Any) -> tuple[Any, ...]:
    """The members of a union, or the kind alone."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def fits(value: Any, part: Any) -> bool:
    """Whether a plain value is of one kind. A number is finite, and a string is not a sequence."""
    origin = get_origin(part) or part
    if origin is Any:
        return True
    if origin is Literal:
        return isinstance(value, str) and value in get_args(part)
    if origin is int:
        return is_number(value) and isinstance(value, int)
    if origin is float:
        return is_number(value) and math.isfinite(value)
    return isinstance(value, origin) and not (origin is Sequence and isinstance(value, str | bytes))


def noun(part: Any) -> str:
    """One kind in words."""
    origin = get_origin(part) or part
    names: dict[Any, str] = {int: "an integer", float: "a number", str: "a string", NoneType: "None"}
    names |= {Callable: "a function", Sequence: "a sequence", dict: "a dict", Any: "anything"}
    return names.get(origin) or f"an instance of {origin.__name__}"
