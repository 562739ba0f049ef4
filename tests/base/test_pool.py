"""Threads that share work: everything is done once, whoever does it, and errors come back."""

import threading

import pytest

from woodwind.base import pool
from woodwind.base.pool import on_threads, run_ranges, side_by_side


@pytest.mark.parametrize("sides", [1, 2, 3, 8])
def test_every_item_is_done_once_and_outcomes_keep_their_order(sides):
    seen = []

    def square(side, item):
        seen.append((side, item))
        return item * item

    assert side_by_side(square, range(50), sides) == [item * item for item in range(50)]
    assert sorted(item for _, item in seen) == list(range(50))
    assert {side for side, _ in seen} <= set(range(sides))


def test_several_threads_take_part():
    both = threading.Barrier(2, timeout=30)
    side_by_side(lambda _side, _item: both.wait(), [0, 1], 2)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 3, 1000])
def test_ranges_cover_all_rows_once(monkeypatch, n, threads):
    monkeypatch.setattr(pool, "LEAST_WORK", 1)
    done = []
    run_ranges(lambda begin, end: done.extend(range(begin, end)), n, threads)
    assert sorted(done) == list(range(n))


@pytest.mark.parametrize("where", [0, 1])
def test_an_error_on_any_thread_is_raised(where):
    ready = threading.Barrier(2, timeout=30)

    def part(number):
        ready.wait()
        if number == where:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        on_threads(part, 2)
