"""Levels of a category column and their codes.

A byte has room for 253 levels beside the codes for missing and unseen. With more, the 252 most frequent keep codes of
their own and all others share the last one: they were seen in training, each too rarely to be told apart there.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.base.sound import sound
from woodwind.data.raw import Coded
from woodwind.data.table import MISSING, UNSEEN
from woodwind.data.whole_numbers import are_beyond_doubles

MOST_CODES = 253

# What stands in the list of levels for all those that share the last code.
RARE = "(rare levels)"


@dataclass(frozen=True, eq=False)
class CodeReader:
    """Reads the codes of a column of places; a missing place, -1, finds the last entry of the table."""

    places: NDArray[Any]
    codes: NDArray[np.int32]

    def __call__(self, begin: int, end: int) -> NDArray[np.int32]:
        """Rows begin to end."""
        return np.asarray(self.codes[self.places[begin:end]])


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels that training saw, in order, and the code of each."""

    values: pa.Array | NDArray[np.float64]  # text or numbers, distinct
    codes: NDArray[np.int32]  # one for each level; equal for those that share the last code

    @classmethod
    def learn(cls, coded: Coded, weight: NDArray[np.int64] | None = None) -> "Levels":
        """The levels that occur; text in the order of its characters, unless the user gave an order.

        The order of rows has no influence. A level all of whose rows have weight zero does not occur.
        """
        size = len(coded.dictionary)
        present = coded.places >= 0
        places = coded.places[present]
        # Sums of whole numbers below 2**53 are exact in floating point, in any order.
        weights = None if weight is None else weight[present].astype(np.float64)
        counts = np.bincount(places, weights, minlength=size)[:size]
        seen = np.flatnonzero(counts)
        values = take(coded.dictionary, seen)
        if not coded.ordered:
            order = np.argsort(values) if isinstance(values, np.ndarray) else pc.array_sort_indices(values).to_numpy()
            seen, values = seen[order], take(values, order)
        return cls(values, _codes_by_frequency(counts[seen]))

    def check(self) -> "Levels":
        """The levels are distinct, and codes are as `learn` gives them: kernels look them up. Gives itself, or raises DataError."""
        size = len(self.values)
        sound(self.codes.dtype == np.int32 and self.codes.shape == (size,), "levels have not one code each")
        if isinstance(self.values, np.ndarray):
            sound(self.values.dtype == np.float64 and self.values.ndim == 1 and not np.isnan(self.values).any(), "a level is no number")
            sound(np.unique(self.values).size == size, "a level comes twice")
        else:
            sound(self.values.type == pa.large_string() and self.values.null_count == 0, "a level is no text")
            sound(len(self.values.unique()) == size, "a level comes twice")
        own = self.codes if size <= MOST_CODES else self.codes[self.codes != MOST_CODES - 1]
        sound(own.size == (size if size <= MOST_CODES else MOST_CODES - 1), "a code is that of no level")
        sound(own == np.arange(own.size), "codes are not in the order of the levels")
        return self

    @property
    def is_text(self) -> bool:
        """Whether the levels are text; they are numbers otherwise."""
        return not isinstance(self.values, np.ndarray)

    @property
    def n_codes(self) -> int:
        """Number of different codes."""
        return int(self.codes.max(initial=-1)) + 1

    @cached_property
    def names(self) -> tuple[Any, ...]:
        """What each code stands for."""
        shared = self.n_codes < len(self.codes)
        own = np.flatnonzero(self.codes < MOST_CODES - 1) if shared else np.arange(len(self.codes))
        kept = take(self.values, own).tolist()
        names = [int(name) if isinstance(name, float) and name.is_integer() else name for name in kept]
        return (*names, RARE) if shared else tuple(names)

    def find(self, dictionary: "pa.Array | NDArray[np.float64]") -> NDArray[np.int32]:
        """The number of the level that each entry is, or UNSEEN; both must be text, or both numbers."""
        if isinstance(self.values, np.ndarray):
            if self.values.size == 0:
                return np.full(len(dictionary), UNSEEN, np.int32)
            order = np.argsort(self.values)
            place = np.searchsorted(self.values, dictionary, sorter=order)
            near = order[np.minimum(place, self.values.size - 1)]
            return np.where(self.values[near] == dictionary, near, UNSEEN).astype(np.int32)
        found = pc.index_in(dictionary, value_set=self.values)
        return np.asarray(found.fill_null(UNSEEN).to_numpy(zero_copy_only=False), np.int32)

    def readers(self, coded: Coded) -> tuple[CodeReader, CodeReader, NDArray[np.int32]]:
        """Readers of the codes and of the numbers of the levels, and what `find` found for the dictionary."""
        found = self.find(coded.dictionary)
        numbers = np.append(found, np.int32(MISSING))
        codes = np.where(numbers >= 0, np.append(self.codes, np.int32(MISSING))[numbers], numbers)
        return CodeReader(coded.places, codes.astype(np.int32)), CodeReader(coded.places, numbers), found

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold."""
        shared = self.n_codes < len(self.codes)
        values = self.values.tolist()
        if not self.is_text:  # JSON has no infinities
            values = [value if math.isfinite(value) else str(value) for value in values]
        return {"values": values, "text": self.is_text, "codes": self.codes.tolist() if shared else None}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Levels":
        """The inverse of `to_dict`; codes that kernels could not look up are refused."""
        values = given["values"]
        values = pa.array(values, pa.large_string()) if given["text"] else np.array([float(value) for value in values])
        codes = np.asarray(np.arange(len(values)) if given["codes"] is None else given["codes"], np.int64)
        if codes.shape != (len(values),) or (codes.size and not 0 <= codes.min() <= codes.max() < MOST_CODES):
            raise DataError(f"The codes of {len(values)} levels must be as many numbers from 0 to {MOST_CODES - 1}.")
        return cls(values, codes.astype(np.int32))


class LevelsKeeper:
    """Levels as arrays, for the model file: numbers, or text as the bytes of all levels and where each begins."""

    @staticmethod
    def parts(levels: Levels) -> dict[str, Any]:
        """The arrays."""
        if isinstance(levels.values, np.ndarray):
            return {"numbers": levels.values, "codes": levels.codes}
        begins: NDArray[np.int64] = np.zeros(1, np.int64)
        text: NDArray[np.uint8] = np.zeros(0, np.uint8)
        if len(levels.values):
            _, places, data = levels.values.buffers()
            begins = np.frombuffer(places, np.int64)[levels.values.offset :][: len(levels.values) + 1]
            text = text if data is None else np.frombuffer(data, np.uint8)[begins[0] : begins[-1]]
        return {"text": text, "begins": begins - begins[0], "codes": levels.codes}

    @staticmethod
    def whole(kind: type[Levels], parts: dict[str, Any]) -> Levels:
        """Levels of such arrays; others are refused."""
        is_text = parts.keys() == {"text", "begins", "codes"}
        sound(is_text or parts.keys() == {"numbers", "codes"}, "levels have other parts than they should")
        sound(all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts.values()), "levels are no arrays")
        if not is_text:
            return kind(parts["numbers"], parts["codes"]).check()
        text, begins = parts["text"], parts["begins"]
        sound(text.dtype == np.uint8 and begins.dtype == np.int64 and begins.size > 0, "levels are no text")
        sound(begins[0] == 0 and begins[-1] == text.size and (begins[1:] >= begins[:-1]).all(), "levels are not one after another")
        buffers = [None, pa.py_buffer(np.ascontiguousarray(begins)), pa.py_buffer(np.ascontiguousarray(text))]
        values = pa.Array.from_buffers(pa.large_string(), begins.size - 1, buffers)
        values.validate(full=True)
        return kind(values, parts["codes"]).check()


def take(values: "pa.Array | NDArray[np.float64]", places: NDArray[Any]) -> Any:
    """Some of the values; Arrow wants its own kind of places, which it would import pandas to make."""
    if isinstance(values, np.ndarray):
        return values[places]
    buffer = pa.py_buffer(np.ascontiguousarray(places, np.int64))
    return values.take(pa.Array.from_buffers(pa.int64(), len(places), [None, buffer]))


def _codes_by_frequency(counts: NDArray[Any]) -> NDArray[np.int32]:
    """Codes in the order of the levels; beyond the most frequent, and in ties the first, all share the last."""
    if counts.size <= MOST_CODES:
        return np.arange(counts.size, dtype=np.int32)
    own = np.sort(np.argsort(-counts, kind="stable")[: MOST_CODES - 1])
    codes = np.full(counts.size, MOST_CODES - 1, np.int32)
    codes[own] = np.arange(MOST_CODES - 1)
    return codes


def code_numbers(values: NDArray[Any]) -> Coded:
    """A column of numbers as places in the list of its distinct numbers; NaN is missing."""
    wide = values.astype(np.float64, copy=False) + 0.0
    dictionary, places = np.unique(wide, return_inverse=True, equal_nan=True)
    if dictionary.size and np.isnan(dictionary[-1]):
        dictionary = dictionary[:-1]
        places = np.where(places == dictionary.size, MISSING, places)
    return Coded(_narrow(places, dictionary.size), dictionary, ordered=False)


def code_text(values: pa.ChunkedArray) -> Coded:
    """A column of text, or of places in a dictionary of any kind, as places in a dictionary of text or numbers.

    So is a column of whole numbers beyond doubles, each of which is a text.
    """
    whole = values.combine_chunks()
    whole = whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    dictionary = whole.dictionary
    places = whole.indices.cast(pa.int64()).fill_null(MISSING).to_numpy(zero_copy_only=False)
    return coded_by_dictionary(_narrow(places, len(dictionary)), dictionary, whole.type.ordered)


def coded_by_dictionary(places: NDArray[Any], dictionary: pa.Array, ordered: bool) -> Coded:
    """The same with entries of the dictionary made text or numbers; missing and repeated entries are taken out."""
    kind = dictionary.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)
    # Numbers that no double can tell apart are told apart as text.
    if is_number and not are_beyond_doubles(dictionary):
        plain = dictionary.cast(pa.uint8()) if pa.types.is_boolean(kind) else dictionary
        numbers = code_numbers(plain.cast(pa.float64()).to_numpy(zero_copy_only=False))
        back = np.append(numbers.places, MISSING)
        return Coded(back[places], numbers.dictionary, ordered=False)
    text = dictionary.cast(pa.large_string())
    unique = text.drop_null().unique()
    if len(unique) < len(text):
        back = pc.index_in(text, value_set=unique).fill_null(MISSING).to_numpy(zero_copy_only=False)
        return Coded(np.append(back, MISSING)[places], unique, ordered)
    return Coded(places, text, ordered)


def _narrow(places: NDArray[Any], size: int) -> NDArray[Any]:
    """Places in the smallest integers that hold them: two bytes a row do for most columns."""
    return places.astype(np.int16 if size < 2**15 else np.int32, copy=False)
