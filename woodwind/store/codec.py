"""Values as JSON and arrays; the way back is in `decoding.py`.

None, truth values, whole numbers below 2**53, finite floats, text and lists are themselves in JSON. Everything else is an object with one
key, its tag:

    dict, pairs            a dictionary; with keys that are not all text, a list of pairs
    tuple, set, frozenset  a list of their items
    int, float, str        what JSON cannot say: large numbers in hexadecimals, nan and infinities, text with lone surrogates as code points
    bytes, decimal, date, datetime
    array, turned          the number of an array of the file; a turned one is in Fortran order
    small, scalar, text    a short array (type, shape, bytes), a number of NumPy (type, bytes), a text of NumPy
    objects, texts         an array of plain values, an array of NumPy's text of any length (shape, items)
    thing                  the number of a thing in the list of things, which are of the classes in `kinds.py`

Things stand before those that they are part of, so that no thing can be part of itself; every array belongs to one place.
"""

import datetime as dt
import decimal
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import NotStorableError
from woodwind.store.container import MOST_DIMENSIONS, little, raw, storable_dtype
from woodwind.store.kinds import kind_of, parts_of

# Beyond these JSON's readers in other languages would round.
LARGEST_WHOLE = 2**53
# Arrays of no more bytes stand in the header: a place of its own takes some two hundred.
SMALL = 64
# Lists in lists; what training makes has five or six.
DEEPEST = 60
# Things in things; a voting of votings has two for each.
MOST_NESTED = 64
# Hexadecimals of the largest whole number: Python writes no more than 4300 decimals of one.
MOST_DIGITS = 3500

Json = Any


class ValueEncoder:
    """Turns one value into JSON; collects its arrays and things."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.things: list[Json] = []
        self._positions: dict[int, tuple[int, Any]] = {}  # by identity; the thing is kept, so that its identity stays its own
        self._inside = 0  # things that the one is part of that is being written

    def value(self, given: Any, where: str, depth: int = 0) -> Json:
        """The JSON of a value; `where` it stands is told if it cannot be stored."""
        if depth > DEEPEST:
            raise NotStorableError(f"{where[:200]}: lists are nested more than {DEEPEST} deep.")
        kind = type(given)
        if kind in PLAIN:
            return PLAIN[kind](given)
        if kind in (list, tuple, set, frozenset):
            return self._list(given, where, depth)
        if kind is dict:
            return self._dictionary(given, where, depth)
        if kind is np.ndarray:
            return self._array(given, where, depth)
        if isinstance(given, np.generic) and storable_dtype(given.dtype):
            return _scalar(given)
        return {"datetime": _moment(given, where)} if kind is dt.datetime else {"thing": self._thing(given, where)}

    def _list(self, given: Any, where: str, depth: int) -> Json:
        kind = type(given)
        step = 1 if kind is list else 2
        is_pair = kind is tuple and len(given) == 2 and type(given[0]) is str
        positions = [where, where] if is_pair else [f"{where}[{_named(item, place)}]" for place, item in enumerate(given)]
        items = [self.value(item, place, depth + step) for item, place in zip(given, positions, strict=True)]
        if kind in (set, frozenset):
            items.sort(key=repr)
        return items if kind is list else {kind.__name__: items}

    def _dictionary(self, given: dict[Any, Any], where: str, depth: int) -> Json:
        if all(type(key) is str and _is_utf8(key) for key in given):
            return {"dict": {key: self.value(item, f"{where}[{key!r}]", depth + 2) for key, item in given.items()}}
        pairs = [
            [self.value(key, f"a key of {where}", depth + 3), self.value(item, f"{where}[{key!r}]", depth + 3)]
            for key, item in given.items()
        ]
        return {"pairs": pairs}

    def _array(self, given: NDArray[Any], where: str, depth: int) -> Json:
        if given.ndim > MOST_DIMENSIONS:
            raise NotStorableError(f"{where} has {given.ndim} dimensions; a model file holds arrays of at most {MOST_DIMENSIONS}.")
        if given.dtype == np.dtype(object) or given.dtype.kind == "T":
            tag = "objects" if given.dtype.kind == "O" else "texts"
            items = [self.value(item, f"{where}[{place}]", depth + 2) for place, item in enumerate(given.reshape(-1).tolist())]
            return {tag: [list(given.shape), items]}
        if not storable_dtype(given.dtype):
            raise NotStorableError(f"{where} is an array of {given.dtype}; a model file holds numbers, truth values, text and dates.")
        turned = given.flags.f_contiguous and not given.flags.c_contiguous
        if given.nbytes <= SMALL and not turned:
            alone = little(given)
            return {"small": [alone.dtype.str, list(alone.shape), raw(alone).tobytes().hex()]}
        self.arrays.append(given.T if turned else given)
        return {"turned" if turned else "array": len(self.arrays) - 1}

    def _thing(self, given: Any, where: str) -> int:
        """The place of a thing in the list; a thing that is part of several others is there once."""
        if id(given) in self._positions:
            place = self._positions[id(given)][0]
            if place < 0:
                raise NotStorableError(f"{where} is a part of itself.")
            return place
        name = kind_of(given)
        if name is None:
            raise NotStorableError(f"{where} is {_described(given)}, which a model file cannot hold.")
        if self._inside >= MOST_NESTED:
            raise NotStorableError(f"{where[:200]} ...: models are nested more than {MOST_NESTED} deep, which no model file holds.")
        self._positions[id(given)] = (-1, given)
        self._inside += 1
        parts = {part: self.value(value, f"{where}.{part}") for part, value in parts_of(name, given).items()}
        self._inside -= 1
        self.things.append({"kind": name, "parts": parts})
        self._positions[id(given)] = (len(self.things) - 1, given)
        return len(self.things) - 1


def _named(item: Any, place: int) -> str:
    """How an item of a list is called: pairs of a name and a thing by their names."""
    return repr(item[0]) if type(item) is tuple and len(item) == 2 and type(item[0]) is str else str(place)


def _whole(given: int) -> Json:
    if abs(given) <= LARGEST_WHOLE:
        return given
    digits = f"{given:x}"
    if len(digits) > MOST_DIGITS:
        raise NotStorableError(f"a whole number of {len(digits):,} hexadecimals; a model file holds {MOST_DIGITS:,}.")
    return {"int": digits}


def _scalar(given: np.generic) -> Json:
    """A number or a text of NumPy; in an array a text would lose the noughts at its end."""
    if isinstance(given, np.str_):
        return {"text": _text(str(given))}
    alone = little(np.array(given))
    return {"scalar": [alone.dtype.str, raw(alone).tobytes().hex()]}


def _text(given: str) -> Json:
    return given if _is_utf8(given) else {"str": [ord(sign) for sign in given]}


def _is_utf8(text: str) -> bool:
    """Whether UTF-8 can hold a text; lone surrogates it cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _moment(given: dt.datetime, where: str) -> str:
    if given.tzinfo is not None and type(given.tzinfo) is not dt.timezone:
        raise NotStorableError(f"{where} has the time zone {given.tzinfo}; a model file holds dates in UTC, at a fixed offset, or without.")
    return given.isoformat() + (";1" if given.fold else "")


def _described(given: Any) -> str:
    cls = type(given)
    if isinstance(given, type) or callable(getattr(given, "__code__", None)) or hasattr(given, "__code__"):
        return f"the {'class' if isinstance(given, type) else 'function'} {getattr(given, '__name__', given)!r}"
    return f"a {cls.__qualname__} of {cls.__module__}"


PLAIN: dict[type, Callable[[Any], Json]] = {
    type(None): lambda _: None,
    bool: lambda given: given,
    int: _whole,
    float: lambda given: given if math.isfinite(given) else {"float": repr(given)},
    str: _text,
    bytes: lambda given: {"bytes": given.hex()},
    decimal.Decimal: lambda given: {"decimal": str(given)},
    dt.date: lambda given: {"date": given.isoformat()},
}
