"""What a column of text really holds: numbers, truth values, dates, times of day, or text.

Blocks of a file arrive one after another, and the last of them may change the answer. So a column is numbers for as long as every block
of it is; once one block is not, the column is text, and its first blocks are read again as text. The rest is decided when all is there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from woodwind.data.tables.text_dates import as_moments, order_of

# What stands for "nothing" among numbers, dates and truth values. In a column of text each of these is text: a category of its own loses
# nothing, and NA may be Namibia, None a kind of fence.
_WORDS = ("na", "n/a", "nan", "-nan", "+nan", "null", "none", "nil", "nat", "missing", "#n/a", "#na", "<na>", "(null)", "\\n")
_SIGNS = ("", "?", "-", "--", "---", ".", "..", "…", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!")


@lru_cache(maxsize=1)
def marks() -> pa.Array:
    """What stands for a missing value. Made when it is first asked for: pyarrow imports pandas for its first array."""
    words = dict.fromkeys(form(word) for word in _WORDS for form in (str.lower, str.upper, str.capitalize))
    return pa.array([*_SIGNS, *words, "NaN", "NaT"])


# Rows of a column by which it is seen that it holds no dates.
_LOOK = 1000

_BEGINS = np.zeros(256, np.bool_)  # bytes that a number or a mark may begin with
_BEGINS[list(b"0123456789+-.iInNmM?#<(\\ \t\xe2\xc2")] = True
_BLANK = np.zeros(256, np.bool_)
_BLANK[list(b" \t\xa0\xc2")] = True
_DIGIT = np.zeros(256, np.bool_)
_DIGIT[list(b"0123456789")] = True
_WORDY = np.zeros(256, np.bool_)  # bytes that only marks begin with, and infinity
_WORDY[list(b"nNmM?#<(\\\xe2")] = True
_WHOLE = _DIGIT.copy()  # bytes of whole numbers
_WHOLE[list(b"+-")] = True
_INSIDE = _DIGIT.copy()  # what may follow the sign of a number
_INSIDE[list(b".iI")] = True
_CODE = _DIGIT.copy()  # what follows a leading nought in something that is no number
_CODE[list(b"xX")] = True


@dataclass
class GrowingColumn:
    """A column of a text file, block by block."""

    blocks: list[pa.Array] = field(default_factory=list)  # numbers or text
    kinds: set[pa.DataType] = field(default_factory=set)  # of the numbers so far: once one has a fraction, no block needs to be whole
    is_text: bool = False
    lost: bool = False  # blocks have become numbers in a column that turned out to be text

    def add(self, block: pa.Array) -> None:
        """The next block, as text with nulls for empty cells."""
        if not self.is_text:
            numbers = as_numbers(block, whole=pa.float64() not in self.kinds)
            if numbers is not None:
                self.take_numbers(numbers)
                return
            self.is_text = True
            self.lost = not all(pa.types.is_null(one.type) for one in self.blocks)
            self.blocks = [] if self.lost else [pa.nulls(len(one), pa.string()) for one in self.blocks]
        if not self.lost:
            self.blocks.append(block)

    def take_numbers(self, numbers: pa.Array) -> None:
        """The next block, which is numbers already."""
        self.blocks.append(numbers)
        self.kinds.add(numbers.type)

    def numbers(self) -> pa.ChunkedArray:
        """All blocks as one type of number: whole if all are; nothing at all if all are empty."""
        kinds = {block.type for block in self.blocks if block.null_count < len(block)}
        kind = pa.null() if not kinds else pa.float64() if pa.float64() in kinds else pa.int64()
        return pa.chunked_array([_as_kind(block, kind) for block in self.blocks], kind)

    def text(self) -> pa.ChunkedArray:
        """All blocks as they were written."""
        return pa.chunked_array(self.blocks, pa.string())


def add_together(columns: Sequence[GrowingColumn], blocks: Sequence[pa.Array]) -> None:
    """The next block of each of several columns, all of the same number of rows, as `GrowingColumn.add` would take them one by one.

    Of wide tables, whose blocks have few rows, many columns are looked at in one go: 1,000 x 50,000 take a third of the time.
    """
    rows = len(blocks[0])
    numeric = [position for position, one in enumerate(columns) if not one.is_text and blocks[position].null_count < rows]
    found = _numbers_of([blocks[position] for position in numeric], [pa.float64() in columns[position].kinds for position in numeric])
    together = dict(zip(numeric, found, strict=True))
    for position, one in enumerate(columns):
        numbers = together.get(position)
        if numbers is None:
            one.add(blocks[position])
        else:
            one.take_numbers(numbers)


def _numbers_of(blocks: Sequence[pa.Array], fractions: Sequence[bool]) -> list[pa.Array | None]:
    """Blocks of text of equal length as numbers, whole unless `fractions` says that their column has others; None for those that must be
    looked at one by one.
    """
    none: list[pa.Array | None] = [None] * len(blocks)
    if len(blocks) < 2:
        return none
    joined = pa.concat_arrays(blocks)
    seen = _Looked(joined)
    if not seen.may_be_numbers or seen.has_blanks or seen.has_codes or seen.has_marks or seen.has_plus:
        return none
    begin, end, data = text_buffers(joined)
    rows = len(blocks[0])
    # No block is empty, so that each has bytes of its own.
    whole = np.logical_and.reduceat(_WHOLE[data[begin[0] : end[-1]]], begin[::rows] - begin[0])
    whole &= ~np.array(fractions)
    for kind, chosen in ((pa.int64(), np.flatnonzero(whole).tolist()), (pa.float64(), np.flatnonzero(~whole).tolist())):
        if not chosen:
            continue
        numbers = _tried(joined if len(chosen) == len(blocks) else pa.concat_arrays([blocks[position] for position in chosen]), kind)
        if numbers is None or (kind == pa.float64() and pc.any(_beyond_integers(numbers)).as_py()):
            continue
        for nth, position in enumerate(chosen):
            none[position] = numbers[nth * rows : (nth + 1) * rows]
    return none


def _as_kind(block: pa.Array, kind: pa.DataType) -> pa.Array:
    if block.type == kind:
        return block
    return pa.nulls(len(block), kind) if block.null_count == len(block) else block.cast(kind, safe=False)


def as_numbers(block: pa.Array, whole: bool = True) -> pa.Array | None:
    """A block of text as whole numbers, if asked and possible, else as numbers; None when some of it is neither number nor mark of absence.

    Codes with leading noughts are no numbers, nor are whole numbers of more digits than 64 bits hold.
    """
    if block.null_count == len(block):
        return pa.nulls(len(block))
    seen = _Looked(block)
    if not seen.may_be_numbers:
        return None
    if seen.has_blanks:
        block = pc.utf8_trim_whitespace(block)
        block = _without(block, pc.equal(block, ""))
        seen = _Looked(block)
    if seen.has_codes:
        return None
    if seen.has_marks:
        block = _without(block, pc.is_in(block, value_set=marks()))
    if block.null_count == len(block):
        return pa.nulls(len(block), pa.int64())  # of a type that remembers that something was written
    return _cast(block, seen.has_plus, whole)


def _without(block: pa.Array, out: pa.Array) -> pa.Array:
    """The block with nulls where `out` is true."""
    return pc.if_else(pc.fill_null(out, False), pa.scalar(None, block.type), block)


def _cast(block: pa.Array, has_plus: bool, whole: bool) -> pa.Array | None:
    """The block as int64, else as float64, else None."""
    plain = pc.utf8_ltrim(block, characters="+") if has_plus else block
    found = _tried(plain, pa.int64()) if whole else None
    if found is not None:
        return found
    numbers = _tried(block, pa.float64())
    if numbers is None:
        return None
    large = _beyond_integers(numbers)
    if pc.any(large).as_py() and pc.any(pc.match_substring_regex(block.filter(large), r"^[+-]?\d+$")).as_py():
        return None  # identifiers of twenty digits: as numbers, neighbours would be equal
    return numbers


def _beyond_integers(numbers: pa.Array) -> pa.Array:
    """Which numbers are too large for 64 bits."""
    return pc.greater_equal(pc.abs(numbers), 2.0**63)


def _tried(block: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """The block as numbers; None if it is none. A few cells first: each that fails costs as much as fifty that do not."""
    try:
        block[:3].cast(kind)
        block[:200].cast(kind)
        return block.cast(kind)
    except pa.ArrowInvalid:
        return None


class _Looked:
    """What the first and the last bytes of the cells say: far cheaper than a pattern."""

    def __init__(self, block: pa.Array) -> None:
        begin, end, data = text_buffers(block)
        filled = end > begin
        if not filled.all():
            begin, end = begin[filled], end[filled]
        first = data[begin]
        self.may_be_numbers = bool(_BEGINS[first].all())
        self.has_blanks = self.has_marks = self.has_codes = self.has_plus = False
        if not self.may_be_numbers or not len(first):
            return
        self.has_blanks = bool(_BLANK[first].any() or _BLANK[data[end - 1]].any())
        second = data[np.minimum(begin + 1, end - 1)]
        signed = np.flatnonzero(~_DIGIT[first])  # or a mark, or a point
        behind = second[signed]
        odd = ~np.where(first[signed] == ord("."), _DIGIT[behind], _INSIDE[behind])
        self.has_marks = bool((_WORDY[first[signed]] | odd | (end[signed] - begin[signed] < 2)).any())
        plus = first[signed] == ord("+")
        self.has_plus = bool(plus.any() and _DIGIT[behind[plus]].all())
        noughts = signed[(behind == ord("0")) & (first[signed] != ord("."))]
        third = data[np.minimum(begin[noughts] + 2, end[noughts] - 1)]
        bare = (first == ord("0")) & _CODE[second] & (end - begin > 1)
        self.has_codes = bool(bare.any() or (_CODE[third] & (end[noughts] - begin[noughts] > 2)).any())


def text_buffers(block: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Where each cell begins and ends, and the bytes of all cells."""
    _, offsets, data = block.buffers()
    ends = np.frombuffer(offsets, np.int32)[block.offset : block.offset + len(block) + 1].astype(np.int64)
    raw = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    return ends[:-1], ends[1:], raw


def resolve_type(column: pa.ChunkedArray, separator: str) -> tuple[pa.ChunkedArray, str]:
    """What a column of text holds, once all of it is there, and what the user should be told about it.

    Truth values, dates, times of day, and numbers with thousands or decimal commas are recognised when every cell is such, marks of
    absence aside. The distinct values are looked at, not the rows.
    """
    coded = pc.dictionary_encode(column).unify_dictionaries()
    categories = coded.chunk(0).dictionary if coded.num_chunks else pa.array([], pa.string())
    cleaned = _cleaned(categories)
    present = cleaned.drop_null()
    if not len(present):
        return pa.chunked_array([pa.nulls(len(column))]), ""
    attempts: tuple[Callable[[pa.Array, str], tuple[pa.Array | None, str]], ...] = (_as_truth, _as_moments, _with_commas)
    note = ""
    for attempt in attempts:
        few, doubt = attempt(present[:50], separator)
        found, predicted = attempt(cleaned, separator) if few is not None or doubt else (None, "")
        if found is not None:
            return pa.chunked_array([found.take(chunk.indices) for chunk in coded.chunks], found.type), predicted
        note = note or predicted
    return column, note


def written_moments(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray | None, str]:
    """Dates or times of day that a column of text is written in, if all of it is, marks of absence aside; and what is to be said of it.

    The rule is that of text files, so that a frame whose dates came as text holds the same dates as the file that it was read from.
    """
    few = _cleaned(pc.unique(column.slice(0, _LOOK)))
    if few.null_count < len(few) and as_moments(few) == (None, ""):
        return None, ""
    coded = pc.dictionary_encode(column).unify_dictionaries()
    cleaned = _cleaned(coded.chunk(0).dictionary if coded.num_chunks else pa.array([], pa.string()))
    if cleaned.null_count == len(cleaned):
        return None, ""
    found, predicted = as_moments(cleaned)
    if found is None:
        return None, predicted
    return pa.chunked_array([found.take(chunk.indices) for chunk in coded.chunks], found.type), predicted


def written_order(column: pa.ChunkedArray) -> str | None:
    """What comes first in the dates that a column of text is written in, the day or the month, where that must be remembered."""
    return order_of(_cleaned(pc.unique(column)))


def _cleaned(categories: pa.Array) -> pa.Array:
    """Categories without blanks around them, and nulls for marks of absence."""
    trimmed = pc.utf8_trim_whitespace(categories)
    return _without(trimmed, pc.is_in(trimmed, value_set=marks().cast(trimmed.type)))


def _as_truth(categories: pa.Array, _: str) -> tuple[pa.Array | None, str]:
    """Truth values: true and false in any case; other pairs of words are categories, which are as good."""
    low = pc.utf8_lower(categories)
    if not pc.all(pc.is_in(low.drop_null(), value_set=pa.array(["true", "false"]))).as_py():
        return None, ""
    return pc.equal(low, "true"), ""


def _as_moments(categories: pa.Array, _: str) -> tuple[pa.Array | None, str]:
    return as_moments(categories)


def _with_commas(categories: pa.Array, separator: str) -> tuple[pa.Array | None, str]:
    """Numbers with decimal commas in files whose separator is not the comma; else with commas between thousands."""
    present = categories.drop_null()
    if separator == ",":
        pattern, plain = r"^[+-]?(\d{1,3}(,\d{3})+|[1-9]\d*|0)(\.\d+)?$", pc.replace_substring(categories, ",", "")
    else:
        pattern = r"^[+-]?((0|[1-9]\d*)(,\d+)?|\d{1,3}(\.\d{3})+(,\d+)?)([eE][+-]?\d+)?$"
        plain = pc.replace_substring(pc.replace_substring(categories, ".", ""), ",", ".")
    if not pc.all(pc.match_substring_regex(present, pattern)).as_py():
        return None, ""
    found = _cast(plain, bool(pc.any(pc.starts_with(present, "+")).as_py()), whole=True)
    predicted = "read with commas between thousands" if separator == "," else "read with decimal commas"
    return found, predicted if found is not None else ""
