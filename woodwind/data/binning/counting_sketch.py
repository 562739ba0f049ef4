"""Columns of many rows are summarised by counting: bit for bit what `Sketch.of` and `merge` give, without a sort.

A sample tells at which shift a column has somewhat more cells than a summary may have. Cells are counted at that shift
and shrunk at the end. If there were more than `MOST_CELLS`, no smaller shift would have done; if no number has a bit
below the shift, the summary is exact. Otherwise nothing is proven, and the column is counted again from shift zero.
A table of counters that is full is added to the summary and another begun, so that no forecast has to be right.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.scratch import Scratch
from woodwind.data.binning import sketch
from woodwind.data.binning.sketch import Sketch, keys_of
from woodwind.data.tables.table import Table, for_kernel
from woodwind.kernels.binning.counting_sketch import Grain, read_pages, tally
from woodwind.kernels.binning.encode import count_distinct, sort_pairs

# Rows that are counted at a time: eight columns of them stay in the second cache while they are brought together.
_BLOCK_ROWS = 2**14

# Cells that a forecast asks for, in units of MOST_CELLS. For smooth columns it is within 3 percent of the truth.
_MARGIN = 1.25

# No shift is larger: the sixteen bits that are left make no more than 65,536 cells. A page may leave out no bit that tells
# infinity from NaN.
_MOST_SHIFT, _MOST_PAGE_SHIFT = 48, 51

# Sizes of pages that are tried, in bits, and what a page costs beside its counters, in bytes: the lines of the cache to find it.
_PAGE_BITS = (0, 2, 4, 6, 8, 10)
_PAGE_COST = 256

# Limits of one table: 2 MB to find pages of one counter, 1.5 MB of counters (3 MB where weights are added).
_LEAST_PAGES, _MOST_PAGES, _MOST_SLOT_BITS, _MOST_COUNTERS = 2**7, 3 * 2**15, 17, 3 * 2**17

# Rows for each page from which on counting is faster than sorting, which has a faster way with weights.
_ROWS_PER_PAGE, _WEIGHTED_ROWS_PER_PAGE = 8, 32

# A sample is so many runs of rows, spread over the table, and is looked at in so many intervals.
_RUNS, _RUN_ROWS, _INTERVALS = 32, 128, 256


class CellForecast:
    """How many cells a column will have at any shift, from a sample of it."""

    def __init__(self, sample: NDArray[Any], n_rows: int) -> None:
        numbers = sample[~np.isnan(sample)].astype(np.float64) + 0.0
        values, counts = np.unique(numbers, return_counts=True)
        bits = int(np.bitwise_or.reduce(numbers.view(np.int64), initial=0))
        self._unused_bits = min((bits & -bits).bit_length() - 1, _MOST_SHIFT) if bits else _MOST_SHIFT
        once = counts == 1
        n_once, n_twice = np.count_nonzero(once), np.count_nonzero(counts == 2)
        self._repeated = values.size - n_once
        # A value that came once stands for others that did not come: for as many as there are rows, or, where some came
        # twice, for as many as there can then be values (the estimate of Chao).
        each = min(n_rows / max(sample.size, 1), 1 + (n_once - 1) / (2 * (n_twice + 1)))
        ends = np.unique(np.linspace(0, values.size - 1, _INTERVALS + 1).astype(np.int64)) if values.size else np.empty(0, np.int64)
        self._borders = keys_of(values[ends])
        self._inside = each * np.add.reduceat(once, ends[:-1], dtype=np.float64) if ends.size > 1 else np.empty(0)

    def cells(self, shift: int) -> float:
        """Cells at a shift: values fall evenly on those between the borders of their interval, and some share one.

        An interval around zero has a thousand binades, of which the values reach some sixteen.
        """
        between = np.diff(self._borders >> np.uint64(shift)).astype(np.float64)
        between = np.clip(between, 1e-9, 16 * 2.0 ** (52 - shift))
        return 1 + self._repeated - float((between * np.expm1(-self._inside / between)).sum())

    def shift(self) -> int:
        """The largest shift with cells enough to prove it; where there is none, that of the last bit in use."""
        low, high = self._unused_bits, _MOST_SHIFT
        while low < high:
            middle = (low + high + 1) // 2
            if self.cells(middle) >= _MARGIN * sketch.MOST_CELLS:
                low = middle
            else:
                high = middle - 1
        return low

    def pages(self, shift: int) -> tuple[int, float]:
        """The size of pages to count with, in bits, and how many there will be."""
        return _best_size(shift, lambda bits: self.cells(shift + bits))


def _best_size(shift: int, pages_of: Callable[[int], float]) -> tuple[int, float]:
    """The size of pages that needs the least memory, and their number, which `pages_of` tells of each size.

    Sizes of which a table holds all pages and some more come first: a table that is soon full again is read in vain.
    """
    sizes = [(bits, pages_of(bits)) for bits in _PAGE_BITS if shift + bits <= _MOST_PAGE_SHIFT]
    return min(sizes, key=lambda size: (1.25 * size[1] > _most_pages(size[0]), size[1] * (_PAGE_COST + (4 << size[0]))))


def _most_pages(bits: int) -> int:
    """How many pages of a size a table may have."""
    return min(_MOST_PAGES, _MOST_COUNTERS >> bits)


class CountingSketch:
    """One column while it is counted, from a shift on."""

    def __init__(self, shift: int, bits: int, pages: float, kind: type[np.signedinteger[Any]], scratch: Scratch | None = None) -> None:
        """`bits` and `pages` as a forecast has them; counters are of the given kind, next to those of other columns in the scratch."""
        self._start, self._kind, self._scratch = shift, kind, scratch or Scratch()
        self._total = Sketch.empty()
        self._seen = np.zeros(2, np.uint64)
        self._begin(shift, bits, pages, _LEAST_PAGES)

    def _begin(self, shift: int, bits: int, pages: float, least: int) -> None:
        """An empty table for so many pages and half as many more."""
        self._room = min(max(int(1.5 * pages), least), _most_pages(bits))
        # A third of the slots or fewer are taken, so that a page is where it is looked for first.
        slot_bits = min((4 * self._room).bit_length(), _MOST_SLOT_BITS)
        self._grain = Grain(np.uint64(shift), np.uint64(bits), np.uint64(slot_bits))
        self._slots = self._scratch.zeros(2 << slot_bits, np.uint64)
        self._counts = self._scratch.zeros(self._room << bits, self._kind)
        self._seen[0] = 0

    def add(self, values: NDArray[Any], weight: NDArray[np.int64] | None) -> None:
        """Count some more rows."""
        values, weight = for_kernel(values), None if weight is None else for_kernel(weight)
        done = tally(values, weight, 0, self._grain, self._slots, self._seen, self._counts)
        while done < values.size:
            self._renew()
            done = tally(values, weight, done, self._grain, self._slots, self._seen, self._counts)

    def _renew(self) -> None:
        """Add the table to the summary, and begin another that is larger or coarser."""
        self._total = self._total.merge(self._read())
        keys, shift = self._total.keys, min(self._total.shift, _MOST_SHIFT)
        self._begin(shift, *_best_size(shift, lambda bits: count_distinct(keys, np.uint64(bits))), 2 * self._room)

    def _read(self) -> Sketch:
        """The summary of what is in the table."""
        shift, bits, scratch = int(self._grain.shift), int(self._grain.page_bits), Scratch()
        slots = self._slots.reshape(-1, 2)
        slots = slots[slots[:, 0] > 0]
        pages, numbers = slots[:, 0] - np.uint64(1), slots[:, 1].astype(np.int64)
        spare_pages, spare_numbers = np.empty_like(pages), np.empty_like(numbers)
        if sort_pairs(pages, numbers, spare_pages, spare_numbers):
            pages, numbers = spare_pages, spare_numbers
        # The page of missing values has the first counters, and is the last in order.
        counts = self._counts[: int(self._seen[0]) << bits]
        n = int(np.count_nonzero(counts[1 << bits :]))
        while bits and n > sketch.MOST_CELLS:
            counts = np.add(counts[0::2], counts[1::2], out=scratch.zeros(counts.size // 2, self._kind))
            shift, bits = shift + 1, bits - 1
            n = int(np.count_nonzero(counts[1 << bits :]))
        keys, sums = scratch.zeros(n + 1, np.uint64), scratch.zeros(n + 1, np.int64)
        read_pages(pages[:-1], numbers[:-1], np.uint64(bits), counts, keys, sums)
        return Sketch(keys[:n], sums[:n], shift).shrunk()

    def sketch(self) -> Sketch | None:
        """The summary, or None where a smaller shift may have been enough."""
        total, start = self._total.merge(self._read()), self._start
        if start == 0 or total.shift > start:
            return total
        if self._seen[1]:
            return None
        # No number has a bit below the shift. The keys of negative ones have them all: there, bits are turned.
        keys, tail = total.keys << np.uint64(start), np.uint64((1 << start) - 1)
        return Sketch(np.where(keys >> np.uint64(63), keys, keys | tail), total.counts, 0)


def counted(table: Table, features: NDArray[np.int64], weight: NDArray[np.int64] | None) -> Iterator[tuple[int, Sketch]]:
    """Number columns with their summaries, in any order; those that are sorted faster are left out."""
    n_rows = table.n_rows if weight is None else int(np.count_nonzero(weight))
    kind = np.int32 if weight is None and n_rows < 2**31 else np.int64
    per_page = _ROWS_PER_PAGE if weight is None else _WEIGHTED_ROWS_PER_PAGE
    forecasts = [CellForecast(sample, n_rows) for sample in _samples(table, features)]
    shifts = {position: forecast.shift() for position, forecast in enumerate(forecasts)}
    while shifts:
        plans = {position: (shift, *forecasts[position].pages(shift)) for position, shift in shifts.items()}
        places = [position for position, (_, _, pages) in plans.items() if per_page * pages <= n_rows]
        if not places:
            return
        scratch = Scratch()
        tallies = [CountingSketch(*plans[position], kind, scratch) for position in places]
        room = scratch.zeros(len(places) * _BLOCK_ROWS, np.float64)
        for begin in range(0, table.n_rows, _BLOCK_ROWS):
            end = min(begin + _BLOCK_ROWS, table.n_rows)
            for one, values in zip(tallies, table.gather(features[places], begin, end, room), strict=True):
                one.add(values, None if weight is None else weight[begin:end])
        shifts = {}
        for position in places:
            found = tallies.pop(0).sketch()  # the counters of a column are given up before the next is read
            if found is None:
                shifts[position] = 0
            else:
                yield int(features[position]), found
                del found  # before the next is read


def _samples(table: Table, features: NDArray[np.int64]) -> list[NDArray[Any]]:
    """Some rows of each column, from all over the table."""
    ends = np.linspace(0, table.n_rows, _RUNS + 1).astype(np.int64).tolist()
    runs = [list(table.gather(features, begin, min(begin + _RUN_ROWS, end))) for begin, end in pairwise(ends)]
    return [np.concatenate(parts) for parts in zip(*runs, strict=True)]
