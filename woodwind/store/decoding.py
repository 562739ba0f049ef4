"""JSON and arrays as values again: what `codec.py` writes, and nothing else."""

import datetime as dt
import decimal
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.store.codec import DEEPEST, LARGEST_WHOLE, MOST_DIGITS, MOST_NESTED, SMALL, Json
from woodwind.store.container import DTYPES, LAST_POINT, MOST_DIMENSIONS, Damage, require, required, validated
from woodwind.store.kinds import KINDS, shown_of, whole_of

# Items of an array that stands in the header, which could not be longer.
MOST_ITEMS = 1 << 28
# Things, each counted as often as it will be asked: so many times those that there are, and so many more. A thousand bytes could otherwise
# name a model that takes for ever to ask. Where fitted models are members of each other, each is there twice: that is 14 in each other.
MOST_TIMES, MOST_MORE = 64, 1 << 14
# Kinds that ask their parts more than once: scikit-learn's pipeline asks a step that is its first and its last three times what it takes.
ASKS = {"sklearn.Pipeline": 3}


class ValueDecoder:
    """Turns JSON back into values, given the arrays of the file."""

    def __init__(self, arrays: list[NDArray[Any]], things: Json, only: set[int] | None = None) -> None:
        """`only` names the things that are to be made; all of them where it is None."""
        self._arrays = arrays
        self._unused = set(range(len(arrays)))
        self._things: list[Any] = []
        self._asked: set[int] = set()
        self._sizes: list[int] = []  # things of which each consists, with repetition
        self._depths: list[int] = []  # things in things
        require(type(things) is list, "its list of things is none")
        self._most = MOST_TIMES * len(things) + MOST_MORE
        for number, given in enumerate(things):
            if only is None or number in only:
                self._add(given)
            else:
                self._sizes.append(0)
                self._depths.append(0)
                self._things.append(None)

    def part(self, number: int) -> Any:
        """One thing, where the whole is not asked for."""
        return self._things[number]

    def finished(self, given: Json) -> Any:
        """The value of the whole file, of which every thing and every array is a part."""
        made = self.value(given)
        require(not self._unused, "there are arrays that nothing uses")
        require(len(self._asked) == len(self._things), "there are things that nothing uses")
        return made

    def _add(self, given: Json) -> None:
        require(type(given) is dict and given.keys() == {"kind", "parts"}, "a thing is described in other words than it should be")
        name, parts = required(given, "kind", str), required(given, "parts", dict)
        require(name in KINDS, f"it holds a {name[:60]!r}, which this version of Woodwind does not know")
        self._size, self._depth, made, shown = 1, 0, {}, shown_of(name)
        for part, value in parts.items():
            before = self._size
            made[part] = self.value(value)
            self._size = before if part in shown else self._size
        self._size = 1 + ASKS.get(name, 1) * (self._size - 1)
        require(self._size <= self._most, "its things are part of each other too often")
        require(self._depth < MOST_NESTED, f"its things are nested more than {MOST_NESTED} deep")
        self._sizes.append(self._size)
        self._depths.append(self._depth + 1)
        self._things.append(whole_of(name, made))

    def value(self, given: Json, depth: int = 0) -> Any:
        """The value that was written as this JSON."""
        require(depth <= DEEPEST, f"lists are nested more than {DEEPEST} deep")
        if type(given) is list:
            return [self.value(item, depth + 1) for item in given]
        if type(given) is not dict:
            require(type(given) is not int or abs(given) <= LARGEST_WHOLE, "a whole number is larger than it should be")
            return given
        require(len(given) == 1, "a value has other words than one tag")
        ((tag, inside),) = given.items()
        if tag in TEXTS:
            return _read(inside, TEXTS[tag])
        require(tag in self.TAGS, f"a value is a {tag[:60]!r}, which this version of Woodwind does not know")
        return self.TAGS[tag](self, inside, depth + 1)

    def _items(self, given: Json, depth: int) -> list[Any]:
        require(type(given) is list, "a list is none")
        return [self.value(item, depth + 1) for item in given]

    def _dict(self, given: Json, depth: int) -> dict[str, Any]:
        require(type(given) is dict, "a dictionary is none")
        return {key: self.value(item, depth + 1) for key, item in given.items()}

    def _pairs(self, given: Json, depth: int) -> dict[Any, Any]:
        pairs = self._items(given, depth)
        require(all(type(pair) is list and len(pair) == 2 for pair in pairs), "a dictionary is none")
        return dict(_hashable(pairs))

    def _thing(self, given: Json, _depth: int) -> Any:
        require(type(given) is int and 0 <= given < len(self._things), "a thing is named that is not there")
        self._asked.add(given)
        self._size += self._sizes[given]
        self._depth = max(self._depth, self._depths[given])
        return self._things[given]

    def _array(self, given: Json, _depth: int) -> NDArray[Any]:
        require(type(given) is int and given in self._unused, "an array is named that is not there, or twice")
        self._unused.remove(given)
        return self._arrays[given]

    def _turned(self, given: Json, depth: int) -> NDArray[Any]:
        return self._array(given, depth).T

    def _objects(self, given: Json, depth: int, dtype: Any = object) -> NDArray[Any]:
        require(type(given) is list and len(given) == 2, "an array is described in other words than it should be")
        shape, items = _shape(given[0]), self._items(given[1], depth)
        require(math.prod(shape) == len(items), "an array has another number of items than its shape says")
        require(dtype is object or all(type(item) is str for item in items), "an array of text holds something else")
        made = np.empty(len(items), dtype)
        for place, item in enumerate(items):
            made[place] = item
        return made.reshape(shape)

    def _texts(self, given: Json, depth: int) -> NDArray[Any]:
        return self._objects(given, depth, np.dtypes.StringDType())

    def _tuple(self, given: Json, depth: int) -> tuple[Any, ...]:
        return tuple(self._items(given, depth))

    def _set(self, given: Json, depth: int) -> set[Any]:
        return {item for item, _ in _hashable([[item, None] for item in self._items(given, depth)])}

    def _frozenset(self, given: Json, depth: int) -> frozenset[Any]:
        return frozenset(self._set(given, depth))

    def _numpy_text(self, given: Json, depth: int) -> np.str_:
        text = self.value(given, depth)
        require(type(text) is str, "a text is none")
        return np.str_(text)

    TAGS: ClassVar[dict[str, Callable[..., Any]]] = {
        "dict": _dict,
        "pairs": _pairs,
        "tuple": _tuple,
        "set": _set,
        "frozenset": _frozenset,
        "array": _array,
        "turned": _turned,
        "objects": _objects,
        "texts": _texts,
        "thing": _thing,
        "small": lambda _decoder, given, _depth: _read_small(given),
        "scalar": lambda _decoder, given, _depth: _read_scalar(given),
        "text": _numpy_text,
        "str": lambda _decoder, given, _depth: _read_points(given),
    }


def reached(number: int, things: Json) -> set[int]:
    """The things of which a thing consists, itself included."""
    found: set[int] = set()
    waiting: list[Any] = [{"thing": number}]
    while waiting:
        given = waiting.pop()
        if type(given) is list:
            waiting += given
        elif type(given) is dict:
            place = given.get("thing")
            if len(given) == 1 and type(place) is int and 0 <= place < len(things) and place not in found:
                found.add(place)
                waiting.append(things[place])
            waiting += [value for value in given.values() if type(value) in (dict, list)]
    return found


def _hashable(pairs: list[Any]) -> list[Any]:
    """Pairs whose first items can be keys, none of which comes twice."""
    try:
        require(len({item for item, _ in pairs}) == len(pairs), "a key comes twice")
    except TypeError:
        require(False, "a key is of a type that no key can be")
    return pairs


def _shape(given: Json) -> tuple[int, ...]:
    right = type(given) is list and len(given) <= MOST_DIMENSIONS and all(type(n) is int and 0 <= n <= MOST_ITEMS for n in given)
    right = right and math.prod(n or 1 for n in given) <= MOST_ITEMS
    require(right, "an array has an impossible shape")
    return tuple(given)


def _read(given: Json, read: Callable[[str], Any]) -> Any:
    """A value from its text, which must be one."""
    require(type(given) is str and given.isascii(), "a value is not the text that it should be")
    try:
        return read(given)
    except (ValueError, ArithmeticError):
        require(False, "a value cannot be read from its text")


def _read_whole(given: str) -> int:
    require(len(given) <= MOST_DIGITS + 1, "a whole number is longer than it should be")
    return int(given, 16)


def _read_float(given: str) -> float:
    require(given in ("nan", "inf", "-inf"), "a number is written as only those are that JSON has not")
    return float(given)


def _read_moment(given: str) -> dt.datetime:
    text, _, fold = given.partition(";")
    return dt.datetime.fromisoformat(text).replace(fold=1 if fold else 0)


def _read_points(given: Json) -> str:
    require(type(given) is list and all(type(n) is int and 0 <= n <= LAST_POINT for n in given), "a text has characters that do not exist")
    return "".join(map(chr, given))


def _read_small(given: Json) -> NDArray[Any]:
    require(type(given) is list and len(given) == 3, "a short array is described in other words than it should be")
    code, shape, text = given
    require(type(code) is str and DTYPES.fullmatch(code), "an array is of a type that no model file holds")
    data = np.frombuffer(bytearray(_read(text, bytes.fromhex)), np.uint8)
    require(data.size <= SMALL, "a short array is long")
    try:
        dtype = np.dtype(code)
        size = math.prod(_shape(shape)) * dtype.itemsize
        require(size == data.size, "a short array has another size than its shape says")
        return validated(data, dtype).reshape(shape) if size else np.zeros(shape, dtype.newbyteorder("="))
    except (TypeError, ValueError):
        raise Damage("the file is damaged: a short array is of a type or shape that NumPy does not know.") from None


def _read_scalar(given: Json) -> Any:
    require(type(given) is list and len(given) == 2, "a number is described in other words than it should be")
    return _read_small([given[0], [], given[1]])[()]


# What is kept as text.
TEXTS: dict[str, Callable[[str], Any]] = {
    "int": _read_whole,
    "float": _read_float,
    "bytes": bytes.fromhex,
    "decimal": decimal.Decimal,
    "date": dt.date.fromisoformat,
    "datetime": _read_moment,
}
