"""Columns of few values that share a byte of the rows of codes, and the steps in which codes are added to histograms.

A row of codes is padded to whole words. The padding, to which a wide table adds a little, has room for bytes that say what several columns
of few values have together: four columns of three values are one of 81. Summing a large node then takes one addition for all of them, and
the sums of each follow (`kernels/shared_bytes.py`). The columns themselves stay in the row as well. Who shares changes no tree, only the
time that it takes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.codes import FEW_BINS, WORD, Codes, byte_groups
from woodwind.kernels.growing import STEP_WIDTH
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


class SharedBytes:
    """Who shares bytes, which are written behind the codes of each row.

    `steps`, `steps_at`, `sharers` and `sharer_codes` are what kernels need, `rows` is how many are worth it.

    `start` is where the cells of each feature begin; a table whose rows are lists has no bytes to share.
    """

    def __init__(self, codes: Codes, start: Integers, listed: bool, threads: int) -> None:
        found = [] if listed or codes.n_rows < FEWEST_ROWS else sharing(codes, threads)
        self.n_bytes = 1 + max((one.byte for one in found), default=-1)
        sizes = np.ones(self.n_bytes, np.int64)
        for one in found:
            sizes[one.byte] *= len(one.codes)
        self.sharers: Integers = np.array([(BYTE * one.byte, sizes[one.byte], start[one.feature]) for one in found], np.int64).reshape(
            -1, S_COLUMNS
        )
        self.sharer_codes = np.zeros((max(len(found), 1), BYTE), np.uint8)
        for number, one in enumerate(found):
            values = np.arange(sizes[one.byte])
            self.sharer_codes[number, : len(values)] = one.codes[values // one.factor % len(one.codes)]
        # Spreading takes some two additions for each value of a byte and each of its columns; a row is spared one for each column less.
        self.rows = 2 * int(self.sharers[:, 1].sum()) // (len(found) - self.n_bytes) if found else NEVER
        for byte in range(self.n_bytes):
            _write(codes, [one for one in found if one.byte == byte], codes.n_features + byte, threads)
        shared = {one.feature for one in found}
        alone = [(place // WORD, 0, place % WORD, int(start[feature])) for feature, place in enumerate(codes.places.tolist())]
        behind = range(codes.n_features, codes.n_features + self.n_bytes)
        bytes_too = [(place // WORD, 1, place % WORD, BYTE * byte) for byte, place in enumerate(behind)]
        n_words = codes.by_row.shape[1] // WORD
        plain = _steps(alone, n_words)
        joined = _steps([one for feature, one in enumerate(alone) if feature not in shared] + bytes_too, n_words)
        self.steps: Integers = np.array([step for word in plain + joined for step in word], np.int64).reshape(-1, STEP_WIDTH)
        ends = np.cumsum([0, *(len(word) for word in plain + joined)])
        self.steps_at: Integers = np.stack([ends[: n_words + 1], ends[n_words:]]).astype(np.int64)


def sharing(codes: Codes, threads: int) -> list[Sharer]:
    """The columns that share, those of fewest values first, as many as there is padding for."""
    room = codes.by_row.shape[1] - codes.n_features
    few = np.flatnonzero(codes.n_bins <= FEW_BINS)
    if room == 0 or len(few) < 2:
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


def _steps(added: list[tuple[int, int, int, int]], n_words: int) -> list[list[list[int]]]:
    """The steps of each word: added are (word, 1 for a shared byte, place in the word, first cell)."""
    out: list[list[list[int]]] = [[] for _ in range(n_words)]
    for word in range(n_words):
        for shared in (0, 1):
            left = sorted((CODE_BITS * place, start) for where, kind, place, start in added if (where, kind) == (word, shared))
            for size in AT_ONCE:
                while len(left) >= size:
                    now, left = left[:size], left[size:]
                    first = [number for pair in now[:4] for number in pair]
                    numbers = [size, shared, *first, *(start for _, start in now[4:])]
                    out[word].append(numbers + [0] * (STEP_WIDTH - len(numbers)))
    return out
