"""How the codes of a table are laid out for growing trees: rows as lists of their uncommon cells, columns in one piece, shared bytes.

Each is made where it saves time, and changes no tree.
"""

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import TableError
from woodwind.base.pool import run_ranges
from woodwind.data.binning.bundles import BundledCodes
from woodwind.data.binning.codes import FEW_BINS, WORD, Codes, aligned_rows, byte_groups, row_stride
from woodwind.data.binning.sparse_codes import SparseCodes, within
from woodwind.kernels.binning.bundles import write_bundles
from woodwind.kernels.histogram.build_histograms import S_COLUMNS, note_codes, write_shared
from woodwind.kernels.histogram.memory import STEP_CELL, STEP_COUNT, STEP_SHARED, STEP_SHIFT, STEP_WIDTH
from woodwind.kernels.histogram.sparse_rows import (
    LENGTH_BITS,
    SHORT_CELLS,
    columns_from_rows,
    count_codes,
    count_fours,
    reorder,
    sort_rows,
    write_entries,
    write_stored,
)

# ----------------------------------------------------------------------------------------------------
# The rows of a coded table as lists of their uncommon cells, where that is less to add than whole rows.

# Adding a listed cell costs half as much again as adding one of a whole row.
MOST_LISTED = 0.4
LEAST_LISTED = 20_000
# Rows, from all over the table, that tell how long lists might be and which codes are the commonest.
SAMPLE = 50_000
# Rows among which those with equally long lists stand together; among all of them, their statistics would be fetched from far away.
STRETCH = 16384


class RowLists(NamedTuple):
    """Rows as lists of their uncommon cells, in an order of their own."""

    at: NDArray[np.int64]  # (n,) where the list of each row begins, and how many fours of cells it has: see `sparse_rows`
    cells: NDArray[Any]  # uint16, or int32 where there are many; lists are filled up to fours with the cell behind all others
    order: NDArray[np.int32] | None  # (n,) rows of the table in the order in which they stand here; None where that is their own
    by_column: NDArray[np.uint8] | None  # (F, n) codes in that order; None where only some cells of a table are stored
    commonest: NDArray[np.int64]  # (F,) cell of the commonest code of each column
    starts: NDArray[np.int64]  # (F + 1,) where the cells of each feature begin: one for each bin, one for missing values

    def positions(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """Where rows of the table stand here, ascending."""
        if self.order is None:
            return rows if (rows[1:] >= rows[:-1]).all() else np.sort(rows)
        out = np.empty(len(rows) + 1, np.int32)
        sort_rows(rows, self.order, np.zeros(len(self.order), np.int32), out)
        return out[:-1]


def by_length(fours: NDArray[np.uint16]) -> NDArray[np.int32]:
    """Rows by the length of their lists, within stretches of STRETCH rows.

    Where neighbours have lists of the same length, the processor foresees where they end: 0.55 ns per entry against 0.84.
    """
    order = np.empty(len(fours), np.int32)
    for first in range(0, len(fours), STRETCH):
        order[first : first + STRETCH] = first + np.argsort(fours[first : first + STRETCH], kind="stable")
    return order


# Growers of all folds ask about the same table.
_made: "WeakKeyDictionary[Codes | SparseCodes, RowLists | None]" = WeakKeyDictionary()


def row_lists(codes: Codes | SparseCodes) -> RowLists | None:
    """The lists, if they are so short that adding them is less work than adding whole rows; the same ones for whoever asks again."""
    if codes not in _made:
        _made[codes] = _stored_lists(codes) if isinstance(codes, SparseCodes) else _row_lists(codes)
    return _made[codes]


def _stored_lists(codes: SparseCodes) -> RowLists:
    """The lists of stored cells, in the order of the rows: what is not stored is the commonest."""
    by_row, starts = codes.by_row, first_cells(codes.n_bins)
    fours = (np.diff(by_row.starts) + 3) >> 2
    longest = int(fours.argmax())
    if fours[longest] >> LENGTH_BITS:
        raise TableError(
            f"Row {longest} of the sparse table stores {int(np.diff(by_row.starts)[longest]):,} cells that differ from an absent one, and "
            f"at most {4 * ((1 << LENGTH_BITS) - 1):,} of a row can be trained on. Leave columns out, such as those of few rows."
        )
    at = (np.cumsum(4 * fours) - 4 * fours) << LENGTH_BITS | fours
    cells = np.empty(4 * int(fours.sum()) + 4, np.uint16 if starts[-1] < SHORT_CELLS else np.int32)
    write_stored(*by_row, starts, at, cells)
    return RowLists(at, cells, None, None, np.minimum(starts[:-1] + codes.absent, starts[1:] - 1), starts)


class BundledRows(NamedTuple):
    """Rows as the bytes of their bundles."""

    by_row: NDArray[np.uint8]  # (n, stride)
    cells: NDArray[np.int64]  # (256 * bundles,) the cell of a histogram that each value of each bundle stands for; -1 for none
    lists: RowLists  # no lists, but where cells begin and which are the commonest


_bundled: "WeakKeyDictionary[BundledCodes, BundledRows]" = WeakKeyDictionary()


def bundled_rows(codes: BundledCodes) -> BundledRows:
    """The bytes of all rows; the same ones for whoever asks again."""
    if codes not in _bundled:
        own, starts = codes.bundles, first_cells(codes.n_bins)
        by_row = aligned_rows(codes.n_rows, row_stride(own.n_bundles))
        by_row[:] = 0
        write_bundles(tuple(codes.by_column), own.bundle, own.offset, own.firsts, own.sizes, own.values, by_row)
        feature, nth = np.repeat(np.arange(codes.n_features), own.sizes), within(own.sizes)
        cells: NDArray[np.int64] = np.full(BYTE * own.n_bundles, -1, np.int64)
        value = BYTE * own.bundle[feature] + own.offset[feature] + nth
        cells[value] = np.minimum(starts[feature] + own.values[own.firsts[feature] + nth], starts[feature + 1] - 1)
        none, commonest = np.zeros(1, np.int64), np.minimum(starts[:-1] + codes.absent, starts[1:] - 1)
        _bundled[codes] = BundledRows(by_row, cells, RowLists(none, np.zeros(1, np.int32), None, None, commonest, starts))
    return _bundled[codes]


class BundleBytes:
    """What kernels need to add the bytes of bundles, in the words of `SharedBytes`: all bytes of a row are shared."""

    def __init__(self, rows: BundledRows) -> None:
        self.n_bytes = len(rows.cells) // BYTE
        bytes_ = np.arange(self.n_bytes)
        self.sharers: NDArray[np.int64] = np.zeros((0, S_COLUMNS), np.int64)
        self.sharer_codes = np.zeros((1, BYTE), np.uint8)
        self.rows = 0  # any number of rows is added so
        self.steps, ends = _steps(bytes_, np.ones_like(bytes_), BYTE * bytes_, rows.by_row.shape[1] // WORD)
        self.steps_at: NDArray[np.int64] = np.stack([ends, ends])


def first_cells(n_bins: NDArray[np.int32]) -> NDArray[np.int64]:
    """Where the cells of each feature begin in a histogram that has one for each bin and one for missing values.

    A few kilobytes that stay in the first-level cache, in place of `width` cells for every feature: 1.0 ns per entry against 1.6.
    """
    starts = np.zeros(len(n_bins) + 1, np.int64)
    np.cumsum(n_bins + 1, out=starts[1:])
    return starts


def _row_lists(codes: Codes) -> RowLists | None:
    n, n_features = codes.n_rows, codes.n_features
    if n * n_features < LEAST_LISTED or n_features >= 4 << LENGTH_BITS:
        return None
    counts = np.zeros((n_features, 256), np.int64)
    count_codes(codes.by_row, max(n // SAMPLE, 1), counts)
    if 1.0 - counts.max(axis=1).sum() / counts.sum() > MOST_LISTED:
        return None
    usual, places = counts.argmax(axis=1), codes.places
    commonest = usual[places]
    starts = first_cells(codes.n_bins)
    fours = np.empty(n, np.uint16)
    if count_fours(codes.by_row, usual.astype(np.uint8), fours) > MOST_LISTED * n * n_features:
        return None  # the sample was of rows unlike the others
    order = by_length(fours)
    at, by_column = np.empty(n, np.int64), np.empty((n_features, n), np.uint8)
    cells = np.empty(4 * int(fours.sum(dtype=np.int64)) + 4, np.uint16 if starts[-1] < SHORT_CELLS else np.int32)
    write_entries(codes.by_row, places, order, fours, commonest, starts, at, cells)
    reorder(codes.by_row, places, order, by_column)
    return RowLists(at, cells, order, by_column, np.minimum(starts[:-1] + commonest, starts[1:] - 1), starts)


# ----------------------------------------------------------------------------------------------------
# The columns of a coded table that are kept in one piece: those by which rows are split most.
#
# Splitting a node reads one code of each of its rows. In rows of codes, each of these is on a line of the cache of its own; in a column, 64
# of them share one. But all columns would be the table once more. Few columns do most of the work: of a large table, half of them are kept,
# and whenever another has become worth reading the table for, it takes the place of the one that is used least. Which columns are kept
# changes no tree, only the time that it takes.


WHOLE_BYTES = 1 << 23  # of a table of no more codes all columns are kept
SHARE = 0.5  # of the columns of a larger one
MEMORY = 0.9  # how much the use of columns by earlier trees counts at the next one


class ColumnCache:
    """Columns of a table in one piece, `by_column` uint8[k, n], and where each stands there, `at` int64[F]: -1 for nowhere.

    `whole` keeps all columns of a table of any size.
    """

    def __init__(self, codes: Codes | SparseCodes, lists: RowLists | None, threads: int, whole: bool = False) -> None:
        n, n_features = codes.n_rows, codes.n_features
        self._use = np.zeros(n_features)
        self.at: NDArray[np.int64] = np.arange(n_features)
        if isinstance(codes, SparseCodes):
            self.all = True
            self.at, self.by_column = stored_columns(codes)
            return
        self._codes = codes
        self.all = whole or lists is not None or n * n_features <= WHOLE_BYTES
        if lists is not None and lists.by_column is not None:
            self.by_column = lists.by_column
            return
        self.by_column = np.empty((n_features if self.all else max(int(SHARE * n_features), 1), n), np.uint8)
        if self.all:
            self.bring_all(threads)
        else:
            self.at[:] = -1

    def bring_all(self, threads: int) -> None:
        """Copy all columns from the rows, where all are kept."""
        self._bring(self.at, self.at, threads)

    def note(self, feature: NDArray[np.int32], count: NDArray[np.int64]) -> None:
        """Take notice of how many rows a finished tree has split by which columns. Threads may do so at once: no tree depends on it."""
        if self.all:
            return
        split = feature >= 0
        self._use *= MEMORY
        self._use += np.bincount(feature[split], count[split], len(self._use))

    def renew(self, threads: int) -> None:
        """Bring columns in, in place of others, that have been used for as many rows more as the table has. Not while trees are grown."""
        if self.all:
            return
        kept = np.flatnonzero(self.at >= 0)
        free = np.setdiff1d(np.arange(len(self.by_column)), self.at[kept])
        wanted = np.flatnonzero((self.at < 0) & (self._use > self._codes.n_rows))
        wanted = wanted[np.argsort(-self._use[wanted], kind="stable")]
        idle = kept[np.argsort(self._use[kept], kind="stable")][: max(len(wanted) - len(free), 0)]
        better = self._use[wanted[len(free) :][: len(idle)]] > self._use[idle] + self._codes.n_rows
        idle = idle[better]
        wanted = wanted[: len(free) + len(idle)]
        places = np.concatenate([free, self.at[idle]])[: len(wanted)]
        if len(wanted):
            self.at[idle] = -1
            self.at[wanted] = places
            self._bring(wanted, places, threads)

    def _bring(self, features: NDArray[np.int64], targets: NDArray[np.int64], threads: int) -> None:
        """Copy columns from the rows to where they are to stand."""
        by_row, places = self._codes.by_row, self._codes.places[features]
        run_ranges(
            lambda begin, end: columns_from_rows(by_row, places, targets, begin, end, self.by_column),
            self._codes.n_rows, threads, len(features),
        )  # fmt: skip


# A column of more stored cells, of all rows, is kept in one piece: rows of a small node are found there without looking at its cells.
MANY_STORED = 0.125


def stored_columns(codes: SparseCodes) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Columns of many stored cells in one piece, as `ColumnCache` has them: where each stands, -1 for nowhere, and their codes.

    Others are filled in for the rows of a node when it is split by them (`kernels/histogram/partition_rows.py`).
    """
    many = np.flatnonzero(np.diff(codes.by_column.starts) > MANY_STORED * codes.n_rows)
    at = np.full(codes.n_features, -1, np.int64)
    at[many] = np.arange(len(many))
    by_column = np.empty((max(len(many), 1), codes.n_rows if len(many) else 1), np.uint8)
    for position, feature in enumerate(many.tolist()):
        by_column[position] = codes.column(feature)
    return at, by_column


# ----------------------------------------------------------------------------------------------------
# Columns of few values that share a byte of the rows of codes, and the steps in which codes are added to histograms.
#
# A row of codes is padded to whole words. The padding, to which a wide table adds a little, has room for bytes that say what several
# columns of few values have together: four columns of three values are one of 81. Summing a large node then takes one addition for all of
# them, and the sums of each follow (`kernels/histogram/build_histograms.py`). The columns themselves stay in the row as well.


FEWEST_ROWS = 1 << 12  # a smaller table is trained on sooner than looked through
BYTE = 256
CODE_BITS = 8
AT_ONCE = (8, 4, 2, 1)  # codes of a word that are added in one step
NEVER = 1 << 62

Integers = NDArray[np.int64]


class SharingColumn(NamedTuple):
    """A column that shares a byte."""

    feature: int
    byte: int  # number of the byte
    codes: NDArray[np.intp]  # that occur
    factor: int  # its share of the byte is the rank of its code among these, times this


class SharedBytes:
    """The bytes that columns share, which are written behind the codes of each row; `start` is where the cells of each feature begin.

    `steps`, `steps_at`, `sharers` and `sharer_codes` are what kernels need; `rows` is from how many on sharing is worth it.
    """

    def __init__(self, codes: Codes, start: Integers, found: list[SharingColumn], threads: int) -> None:
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
        by_byte: list[list[SharingColumn]] = [[] for _ in range(self.n_bytes)]
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


def no_codes() -> Codes:
    """A table without columns: what is added in steps where rows are lists of stored cells."""
    return Codes(np.zeros((0, WORD), np.uint8), np.zeros(0, np.int32), 4, np.zeros(0, np.bool_), np.zeros(0, np.int64))


def sharing(codes: Codes, threads: int) -> list[SharingColumn]:
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
            found.append(SharingColumn(int(few[number]), byte, occurs[number], factor))
            factor *= len(occurs[number])
    return found


def _write(codes: Codes, sharers: list[SharingColumn], place: int, threads: int) -> None:
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
