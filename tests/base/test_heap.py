"""Giving back memory changes nothing but the size of the process, and is no error where it cannot be done."""

import sys

import numpy as np
import pytest

from woodwind.base import heap


def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@pytest.mark.skipif(not sys.platform.startswith("linux") or heap._trim is None, reason="needs Linux and the GNU C library")
def test_memory_that_was_freed_goes_back():
    pieces = [np.ones(10_000) for _ in range(2_000)]  # 160 MB in pieces that are not mapped one by one
    pieces = pieces[-1:]  # what was made last is kept, so that the heap cannot shrink by itself
    heap.give_back()
    before = resident()
    more = [np.ones(10_000) for _ in range(2_000)]
    del more[:-1]
    heap.give_back()
    assert resident() - before < 20_000
    assert pieces[0].sum() == more[0].sum() == 10_000


def test_where_the_allocator_cannot_be_told_nothing_happens(monkeypatch):
    monkeypatch.setattr(heap, "_trim", None)
    heap.give_back()
