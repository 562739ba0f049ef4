"""The kernels that count by cells, against their slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import naive_encode
from reference import naive_tally as slow
from woodwind.kernels.binning import counting_sketch as fast

SLOT_BITS = 9
few = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1.5, np.inf, -np.inf, np.nan, 2.5, 3.0])
singles = st.floats(width=32)
doubles = st.floats(width=64)
grains = st.sampled_from([(0, 0), (0, 10), (1, 2), (13, 0), (29, 4), (40, 8), (40, 0), (48, 2), (48, 0)])


def counted(values, weight, begin, grain, room):
    """What the kernel makes of rows from `begin` on: where it stopped, the counters by page, and what it saw."""
    shift, page_bits = grain
    slots, seen = np.zeros(2 << SLOT_BITS, np.uint64), np.zeros(2, np.uint64)
    counts = np.zeros(room << page_bits, np.int32 if weight is None else np.int64)
    given_grain = fast.Grain(np.uint64(shift), np.uint64(page_bits), np.uint64(SLOT_BITS))
    stop = fast.tally(values, weight, begin, given_grain, slots, seen, counts)
    taken = [(int(page) - 1, int(number)) for page, number in slots.reshape(-1, 2) if page > 0]
    assert sorted(number for _, number in taken) == list(range(int(seen[0])))
    pages = counts.reshape(-1, 1 << page_bits)
    assert (pages[int(seen[0]) :] == 0).all()
    return stop, {page: pages[number].tolist() for page, number in taken}, seen


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_every_value_is_counted_in_its_cell(dtype, data):
    values = data.draw(st.lists(st.one_of(few, singles if dtype == np.float32 else doubles), min_size=1, max_size=300))
    grain = data.draw(grains)
    begin = data.draw(st.integers(0, len(values) - 1))
    weight = data.draw(st.one_of(st.none(), st.lists(st.integers(0, 2**40), min_size=len(values), max_size=len(values))))
    array = np.array(values, dtype)
    pairs = list(zip(array.tolist(), weight or [1] * len(values), strict=True))[begin:]
    stop, pages, seen = counted(array, None if weight is None else np.array(weight, np.int64), begin, grain, len(values) + 1)
    assert stop == len(values)
    missing = int(fast.NO_NUMBER) >> sum(grain)
    expected, missing_weight, finer = slow.tally(pairs, *grain)
    assert sum(pages.pop(missing)) == missing_weight
    assert pages == expected
    assert int(seen[1]) == finer


@given(st.lists(st.one_of(few, doubles), min_size=1, max_size=300), st.integers(1, 5), grains)
def test_a_row_without_room_for_its_page_is_where_counting_stops(values, room, grain):
    array = np.array(values)
    stop, pages, seen = counted(array, None, 0, grain, room)
    pages.pop(int(fast.NO_NUMBER) >> sum(grain))
    assert pages == slow.tally([(value, 1) for value in values[:stop]], *grain)[0]
    if stop < len(values):
        assert int(seen[0]) == room
        assert naive_encode.key_of(values[stop]) >> sum(grain) not in pages


def test_counting_goes_on_where_it_stopped():
    values = np.random.default_rng(0).normal(size=700).round(1)
    grain = fast.Grain(np.uint64(0), np.uint64(0), np.uint64(SLOT_BITS))
    slots, seen, counts = np.zeros(2 << SLOT_BITS, np.uint64), np.zeros(2, np.uint64), np.zeros(100, np.int32)
    for begin in (0, 300, 699):
        assert fast.tally(values[: begin + 1], None, begin, grain, slots, seen, counts) == begin + 1
    assert counts.sum() == 3


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@given(pages=st.dictionaries(st.integers(0, 2**40), st.lists(st.integers(0, 5), min_size=8, max_size=8), max_size=30))
def test_pages_are_read_in_order_without_their_empty_cells(dtype, pages):
    order = sorted(pages)
    numbers = np.arange(len(order), dtype=np.int64)[::-1].copy()  # the first page in order has the last counters
    counts = np.array([pages[page] for page in reversed(order)], dtype).reshape(-1)
    expected = slow.read_pages(pages, 3)
    keys, sums = np.empty(len(expected) + 1, np.uint64), np.empty(len(expected) + 1, np.int64)
    n = fast.read_pages(np.array(order, np.uint64), numbers, np.uint64(3), counts, keys, sums)
    assert list(zip(keys[:n].tolist(), sums[:n].tolist(), strict=True)) == list(expected.items())
