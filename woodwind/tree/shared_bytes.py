"""Columns of few values that share a byte of the rows of codes, and the steps in which codes are added to histograms.

A row of codes is padded to whole words. The padding, to which a wide table adds a little, has room for bytes that say what several columns
of few values have together: four columns of three values are one of 81. Summing a large node then takes one addition for all of them, and
the sums of each follow (`kernels/shared_bytes.py`). The columns themselves stay in the row as well. Who shares changes no tree, only the
time that it takes.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.codes import FEW_BINS, WORD, Codes, byte_groups
from woodwind.kernels.growing import STEP_CELL, STEP_COUNT, STEP_SHARED, STEP_SHIFT, STEP_WIDTH
from woodwind.kernels.shared_bytes import S_COLUMNS, note_codes, write_shared

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


class Added(NamedTuple):
    """A byte of a row that is added to a histogram."""

    place: int  # in the row
    shared: int  # 1: several columns share it
    cell: int  # its first


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
        for byte in range(self.n_bytes):
            _write(codes, [one for one in found if one.byte == byte], codes.n_features + byte, threads)
        every = [Added(place, 0, cell) for place, cell in zip(codes.places.tolist(), start[:-1].tolist(), strict=True)]
        share = {one.feature for one in found}
        joined = [one for feature, one in enumerate(every) if feature not in share]
        joined += [Added(codes.n_features + byte, 1, BYTE * byte) for byte in range(self.n_bytes)]
        n_words = codes.by_row.shape[1] // WORD
        words = _steps(every, n_words) + _steps(joined, n_words)
        self.steps: Integers = np.array([step for word in words for step in word], np.int64).reshape(-1, STEP_WIDTH)
        ends = np.cumsum([0, *map(len, words)])
        self.steps_at: Integers = np.stack([ends[: n_words + 1], ends[n_words:]]).astype(np.int64)


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


def _steps(added: list[Added], n_words: int) -> list[list[Integers]]:
    """The steps in which each word of a row is added."""
    of_word: list[list[Added]] = [[] for _ in range(n_words)]
    for one in sorted(added):
        of_word[one.place // WORD].append(one)
    return [[step for kind in (0, 1) for step in _word_steps([one for one in word if one.shared == kind])] for word in of_word]


def _word_steps(left: list[Added]) -> Iterator[Integers]:
    """Steps for some bytes of a word, all of one kind: as many at a time as there can be."""
    for size in AT_ONCE:
        while len(left) >= size:
            now, left = left[:size], left[size:]
            step = np.zeros(STEP_WIDTH, np.int64)
            step[STEP_COUNT], step[STEP_SHARED] = size, now[0].shared
            step[STEP_CELL : STEP_CELL + size] = [one.cell for one in now]
            if size < WORD:
                step[STEP_SHIFT : STEP_SHIFT + size] = [CODE_BITS * (one.place % WORD) for one in now]
            yield step
