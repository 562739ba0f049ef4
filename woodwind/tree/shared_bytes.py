"""Columns of few values that share a byte of the rows of codes, and the steps in which codes are added to histograms.

A row of codes is padded to whole words. The padding, to which a wide table adds a little, has room for bytes that say what several columns
of few values have together: four columns of three values are one of 81. Summing a large node then takes one addition for all of them, and
the sums of each follow (`kernels/histogram/shared_bytes.py`). The columns themselves stay in the row as well. Who shares changes no tree,
only the time that it takes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.binning.codes import FEW_BINS, WORD, Codes, byte_groups
from woodwind.kernels.histogram.memory import STEP_CELL, STEP_COUNT, STEP_SHARED, STEP_SHIFT, STEP_WIDTH
from woodwind.kernels.histogram.shared_bytes import S_COLUMNS, note_codes, write_shared

FEWEST_ROWS = 1 << 12  # a smaller table is trained on sooner than looked through
BYTE = 256
CODE_BITS = 8
AT_ONCE = (8, 4, 2, 1)  # codes of a word that are added in one step
NEVER = 1 << 62

Integers = NDArray[np.int64]


class Sharer(NamedTuple):
    """A column that shares a byte."""

    feature: int
    byte: int  # number of the byte
    codes: NDArray[np.intp]  # that occur
    factor: int  # its share of the byte is the rank of its code among these, times this


class SharedBytes:
    """The bytes that columns share, which are written behind the codes of each row; `start` is where the cells of each feature begin.

    `steps`, `steps_at`, `sharers` and `sharer_codes` are what kernels need; `rows` is from how many on sharing is worth it.
    """

    def __init__(self, codes: Codes, start: Integers, found: list[Sharer], threads: int) -> None:
        self.n_bytes = 1 + max((one.byte for one in found), default=-1)
        sizes = np.ones(self.n_bytes, np.int64)
        for one in found:
            sizes[one.byte] *= len(one.codes)
        sharers = [(BYTE * one.byte, sizes[one.byte], start[one.feature]) for one in found]
        self.sharers: Integers = np.array(sharers, np.int64).reshape(-1, S_COLUMNS)
        self.sharer_codes = np.zeros((max(len(found), 1), BYTE), np.uint8)
        for number, one in enumerate(found):
            values = np.arange(sizes[one.byte])
            self.sharer_codes[number, : len(values)] = one.codes[values // one.factor % len(one.codes)]
        # Spreading takes some two additions for each value of a byte and each of its columns; a row is spared one for each column less.
        self.rows = 2 * int(self.sharers[:, 1].sum()) // (len(found) - self.n_bytes) if found else NEVER
        by_byte: list[list[Sharer]] = [[] for _ in range(self.n_bytes)]
        for one in found:
            by_byte[one.byte].append(one)
        for byte, together in enumerate(by_byte):
            _write(codes, together, codes.n_features + byte, threads)
        alone = np.ones(codes.n_features, np.bool_)
        alone[[one.feature for one in found]] = False
        nobody, bytes_ = np.zeros(codes.n_features, np.int64), np.arange(self.n_bytes)
        every = _steps(codes.places, nobody, start[:-1], codes.by_row.shape[1] // WORD)
        joined = _steps(
            np.append(codes.places[alone], codes.n_features + bytes_), np.append(nobody[alone], np.ones_like(bytes_)),
            np.append(start[:-1][alone], BYTE * bytes_), codes.by_row.shape[1] // WORD,
        )  # fmt: skip
        self.steps: Integers = np.concatenate([every[0], joined[0]])
        self.steps_at: Integers = np.stack([every[1], every[1][-1] + joined[1]])


def sharing(codes: Codes, threads: int) -> list[Sharer]:
    """The columns that share, those of fewest values first, as many as there is padding for."""
    room = codes.by_row.shape[1] - codes.n_features
    few = np.flatnonzero(codes.n_bins <= FEW_BINS)
    if room == 0 or len(few) < 2 or codes.n_rows < FEWEST_ROWS:
        return []
    parts: list[NDArray[np.uint8]] = []
    places = codes.places[few]

    def part(begin: int, end: int) -> None:
        out = np.zeros((len(few), BYTE), np.uint8)
        note_codes(codes.by_row, places, begin, end, out)
        parts.append(out)

    run_ranges(part, codes.n_rows, threads, len(few))
    occurs = [np.flatnonzero(marks) for marks in np.max(parts, axis=0)]
    found = []
    for byte, group in enumerate(byte_groups([len(values) for values in occurs])[:room]):
        factor = 1
        for number in group:
            found.append(Sharer(int(few[number]), byte, occurs[number], factor))
            factor *= len(occurs[number])
    return found


def _write(codes: Codes, sharers: list[Sharer], place: int, threads: int) -> None:
    """Write the byte of these columns behind the codes of every row."""
    parts = np.zeros((len(sharers), BYTE), np.uint8)
    for number, one in enumerate(sharers):
        parts[number, one.codes] = one.factor * np.arange(len(one.codes))
    features = codes.places[[one.feature for one in sharers]]
    run_ranges(lambda begin, end: write_shared(codes.by_row, features, parts, place, begin, end), codes.n_rows, threads, len(features))


def _steps(place: Integers, shared: Integers, cell: Integers, n_words: int) -> tuple[Integers, Integers]:
    """The steps in which bytes of a row are added, and where those of each word begin and end: (steps, STEP_WIDTH) and (n_words + 1,).

    Of each byte: its position in the row, whether several columns share it, and its first cell. Those of one kind in a word are added
    together, as many at a time as there can be.
    """
    order = np.lexsort((place, shared, place // WORD))
    place, shared, cell = place[order], shared[order], cell[order]
    group = 2 * (place // WORD) + shared
    count = np.bincount(group, minlength=2 * n_words)
    ends = np.append(0, np.cumsum(_STEPS_OF[count]))
    nth = np.arange(len(place)) - np.append(0, np.cumsum(count))[group]
    row, slot = ends[group] + _STEP[count[group], nth], _SLOT[count[group], nth]
    steps = np.zeros((ends[-1], STEP_WIDTH), np.int64)
    np.add.at(steps[:, STEP_COUNT], row, 1)
    steps[row, STEP_SHARED] = shared
    steps[row, STEP_CELL + slot] = cell
    some = steps[row, STEP_COUNT] < WORD
    steps[row[some], STEP_SHIFT + slot[some]] = CODE_BITS * (place[some] % WORD)
    return steps, ends[::2]


def _divided() -> tuple[Integers, Integers, Integers]:
    """For each number of bytes up to WORD: how many steps they take; and for each of them, its step and its position in that step."""
    step, slot = np.zeros((WORD + 1, WORD), np.int64), np.zeros((WORD + 1, WORD), np.int64)
    steps = np.zeros(WORD + 1, np.int64)
    for count in range(WORD + 1):
        begin = 0
        for size in AT_ONCE:
            while count - begin >= size:
                step[count, begin : begin + size], slot[count, begin : begin + size] = steps[count], np.arange(size)
                begin, steps[count] = begin + size, steps[count] + 1
    return steps, step, slot


_STEPS_OF, _STEP, _SLOT = _divided()
