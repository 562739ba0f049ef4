"""Categories of a category column and their codes.

A byte has room for 253 categories beside the codes for missing and unseen. With more, the 252 most frequent keep codes of
their own and all others share the last one: they were seen in training, each too rarely to be told apart there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.base.validate import require
from woodwind.data.tables.raw import Coded, are_beyond_doubles
from woodwind.data.tables.table import MISSING, UNSEEN

MOST_CODES = 253

# What stands in the list of categories for all those that share the last code.
RARE = "(rare categories)"


@dataclass(frozen=True, eq=False)
class CodeReader:
    """Reads the codes of a column of positions; a missing one, -1, finds the last entry of the table."""

    positions: NDArray[Any]
    codes: NDArray[np.int32]

    def __call__(self, begin: int, end: int) -> NDArray[np.int32]:
        """Rows begin to end."""
        return np.asarray(self.codes[self.positions[begin:end]])


@dataclass(frozen=True, eq=False)
class Categories:
    """The categories that training saw, in order, and the code of each."""

    values: pa.Array | NDArray[np.float64]  # text or numbers, distinct
    codes: NDArray[np.int32]  # one for each category; equal for those that share the last code

    @classmethod
    def learn(cls, coded: Coded, weight: NDArray[np.int64] | None = None) -> "Categories":
        """The categories that occur; text in the order of its characters, unless the user gave an order.

        The order of rows has no influence. A category all of whose rows have weight zero does not occur.
        """
        size = len(coded.dictionary)
        present = coded.positions >= 0
        positions = coded.positions[present]
        # Sums of whole numbers below 2**53 are exact in floating point, in any order.
        weights = None if weight is None else weight[present].astype(np.float64)
        counts = np.bincount(positions, weights, minlength=size)[:size]
        seen = np.flatnonzero(counts)
        values = take(coded.dictionary, seen)
        if not coded.ordered:
            order = np.argsort(values) if isinstance(values, np.ndarray) else pc.array_sort_indices(values).to_numpy()
            seen, values = seen[order], take(values, order)
        return cls(values, _codes_by_frequency(counts[seen]))

    def check(self) -> "Categories":
        """The categories are distinct, and codes are as `learn` gives them: kernels look them up. Returns self, or raises DataError."""
        size = len(self.values)
        require(self.codes.dtype == np.int32 and self.codes.shape == (size,), "categories have not one code each")
        require_distinct(self.values)
        own = self.codes if size <= MOST_CODES else self.codes[self.codes != MOST_CODES - 1]
        require(own.size == (size if size <= MOST_CODES else MOST_CODES - 1), "a code is that of no category")
        require(own == np.arange(own.size), "codes are not in the order of the categories")
        return self

    @property
    def is_text(self) -> bool:
        """Whether the categories are text; they are numbers otherwise."""
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

    def label(self, number: int) -> str:
        """A category in words."""
        name = take(self.values, np.array([number])).tolist()[0]
        return str(int(name) if isinstance(name, float) and name.is_integer() else name)

    def find(self, dictionary: "pa.Array | NDArray[np.float64]") -> NDArray[np.int32]:
        """The number of the category that each entry is, or UNSEEN; both must be text, or both numbers."""
        if isinstance(self.values, np.ndarray):
            if self.values.size == 0:
                return np.full(len(dictionary), UNSEEN, np.int32)
            order = np.argsort(self.values)
            position = np.searchsorted(self.values, dictionary, sorter=order)
            near = order[np.minimum(position, self.values.size - 1)]
            return np.where(self.values[near] == dictionary, near, UNSEEN).astype(np.int32)
        found = pc.index_in(dictionary, value_set=self.values)
        return np.asarray(found.fill_null(UNSEEN).to_numpy(zero_copy_only=False), np.int32)

    def readers(self, coded: Coded) -> tuple[CodeReader, CodeReader, NDArray[np.int32]]:
        """Readers of the codes and of the numbers of the categories, and what `find` found for the dictionary."""
        found = self.find(coded.dictionary)
        numbers = np.append(found, np.int32(MISSING))
        codes = np.where(numbers >= 0, np.append(self.codes, np.int32(MISSING))[numbers], numbers)
        return CodeReader(coded.positions, codes.astype(np.int32)), CodeReader(coded.positions, numbers), found

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold."""
        shared = self.n_codes < len(self.codes)
        values = self.values.tolist()
        if not self.is_text:  # JSON has no infinities
            values = [value if math.isfinite(value) else str(value) for value in values]
        return {"values": values, "text": self.is_text, "codes": self.codes.tolist() if shared else None}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Categories":
        """The inverse of `to_dict`; codes that kernels could not look up are refused."""
        values = given["values"]
        values = pa.array(values, pa.large_string()) if given["text"] else np.array([float(value) for value in values])
        codes = np.asarray(np.arange(len(values)) if given["codes"] is None else given["codes"], np.int64)
        if codes.shape != (len(values),) or (codes.size and not 0 <= codes.min() <= codes.max() < MOST_CODES):
            raise DataError(f"The codes of {len(values)} categories must be as many numbers from 0 to {MOST_CODES - 1}.")
        return cls(values, codes.astype(np.int32))


class AllCategories(Categories):
    """Categories that all have a code of their own, however many there are: of models that come from other libraries."""

    def check(self) -> "AllCategories":
        """The categories are distinct, and codes are their positions; returns self, or raises DataError."""
        require_distinct(self.values)
        size = len(self.values)
        require(self.codes.dtype == np.int32 and self.codes.shape == (size,), "categories have not one code each")
        require(self.codes == np.arange(size), "codes are not in the order of the categories")
        return self

    @classmethod
    def of(cls, values: Sequence[Any]) -> "AllCategories":
        """These texts, or these numbers."""
        is_text = len(values) > 0 and isinstance(values[0], str)
        codes = np.arange(len(values), dtype=np.int32)
        return cls(text_values(values) if is_text else np.array(values, np.float64), codes).check()


def require_distinct(values: "pa.Array | NDArray[np.float64]") -> None:
    """Categories are texts or numbers, none of them twice; or DataError."""
    if isinstance(values, np.ndarray):
        require(values.dtype == np.float64 and values.ndim == 1 and not np.isnan(values).any(), "a category is no number")
        require(np.unique(values).size == len(values), "a category comes twice")
    else:
        require(values.type == pa.large_string() and values.null_count == 0, "a category is no text")
        require(len(values.unique()) == len(values), "a category comes twice")


class CategoriesPersister:
    """Categories as arrays, for the model file: numbers, or text as the bytes of all categories and where each begins."""

    @staticmethod
    def parts(categories: Categories) -> dict[str, Any]:
        """The arrays."""
        if isinstance(categories.values, np.ndarray):
            return {"numbers": categories.values, "codes": categories.codes}
        begins: NDArray[np.int64] = np.zeros(1, np.int64)
        text: NDArray[np.uint8] = np.zeros(0, np.uint8)
        if len(categories.values):
            _, positions, data = categories.values.buffers()
            begins = np.frombuffer(positions, np.int64)[categories.values.offset :][: len(categories.values) + 1]
            text = text if data is None else np.frombuffer(data, np.uint8)[begins[0] : begins[-1]]
        return {"text": text, "begins": begins - begins[0], "codes": categories.codes}

    @staticmethod
    def whole(kind: type[Categories], parts: dict[str, Any]) -> Categories:
        """Categories of such arrays; others are refused."""
        is_text = parts.keys() == {"text", "begins", "codes"}
        require(is_text or parts.keys() == {"numbers", "codes"}, "categories have other parts than they should")
        require(all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts.values()), "categories are no arrays")
        if not is_text:
            return kind(parts["numbers"], parts["codes"]).check()
        text, begins = parts["text"], parts["begins"]
        require(text.dtype == np.uint8 and begins.dtype == np.int64 and begins.size > 0, "categories are no text")
        require(begins[0] == 0 and begins[-1] == text.size and (begins[1:] >= begins[:-1]).all(), "categories are not one after another")
        buffers = [None, pa.py_buffer(np.ascontiguousarray(begins)), pa.py_buffer(np.ascontiguousarray(text))]
        values = pa.Array.from_buffers(pa.large_string(), begins.size - 1, buffers)
        values.validate(full=True)
        return kind(values, parts["codes"]).check()


def text_values(values: Sequence[str]) -> pa.Array:
    """Texts as categories have them."""
    return pa.array(values, pa.large_string())


def take(values: "pa.Array | NDArray[np.float64]", positions: NDArray[Any]) -> Any:
    """Some of the values; Arrow wants its own kind of positions, which it would import pandas to make."""
    if isinstance(values, np.ndarray):
        return values[positions]
    buffer = pa.py_buffer(np.ascontiguousarray(positions, np.int64))
    return values.take(pa.Array.from_buffers(pa.int64(), len(positions), [None, buffer]))


def _codes_by_frequency(counts: NDArray[Any]) -> NDArray[np.int32]:
    """Codes in the order of the categories; beyond the most frequent, and in ties the first, all share the last."""
    if counts.size <= MOST_CODES:
        return np.arange(counts.size, dtype=np.int32)
    own = np.sort(np.argsort(-counts, kind="stable")[: MOST_CODES - 1])
    codes = np.full(counts.size, MOST_CODES - 1, np.int32)
    codes[own] = np.arange(MOST_CODES - 1)
    return codes


def code_numbers(values: NDArray[Any]) -> Coded:
    """A column of numbers as positions in the list of its distinct numbers; NaN is missing."""
    wide = values.astype(np.float64, copy=False) + 0.0
    dictionary, positions = np.unique(wide, return_inverse=True, equal_nan=True)
    if dictionary.size and np.isnan(dictionary[-1]):
        dictionary = dictionary[:-1]
        positions = np.where(positions == dictionary.size, MISSING, positions)
    return Coded(_narrow(positions, dictionary.size), dictionary, ordered=False)


def code_text(values: pa.ChunkedArray) -> Coded:
    """A column of text, or of positions in a dictionary of any kind, as positions in a dictionary of text or numbers.

    So is a column of whole numbers beyond doubles, each of which is a text.
    """
    whole = values.combine_chunks()
    whole = whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    dictionary = whole.dictionary
    positions = whole.indices.cast(pa.int64()).fill_null(MISSING).to_numpy(zero_copy_only=False)
    return coded_by_dictionary(_narrow(positions, len(dictionary)), dictionary, whole.type.ordered)


def coded_by_dictionary(positions: NDArray[Any], dictionary: pa.Array, ordered: bool) -> Coded:
    """The same with entries of the dictionary made text or numbers; missing and repeated entries are taken out."""
    kind = dictionary.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)
    # Numbers that no double can tell apart are told apart as text.
    if is_number and not are_beyond_doubles(dictionary):
        plain = dictionary.cast(pa.uint8()) if pa.types.is_boolean(kind) else dictionary
        numbers = code_numbers(plain.cast(pa.float64()).to_numpy(zero_copy_only=False))
        back = np.append(numbers.positions, MISSING)
        return Coded(back[positions], numbers.dictionary, ordered=False)
    text = dictionary.cast(pa.large_string())
    unique = text.drop_null().unique()
    if len(unique) < len(text):
        back = pc.index_in(text, value_set=unique).fill_null(MISSING).to_numpy(zero_copy_only=False)
        return Coded(np.append(back, MISSING)[positions], unique, ordered)
    return Coded(positions, text, ordered)


def _narrow(positions: NDArray[Any], size: int) -> NDArray[Any]:
    """Positions in the smallest integers that hold them: two bytes a row do for most columns."""
    return positions.astype(np.int16 if size < 2**15 else np.int32, copy=False)
