"""The one pool of threads: made on first use, dropped in a forked child.

Kernels release the interpreter lock, so threads are plain Python threads over row ranges.
A hand-over to another thread costs 50 to 80 microseconds: work under `LEAST_WORK` updates stays on the caller.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import TypeVar

LEAST_WORK = 200_000
# Work is cut into as many parts as there are threads, and a number from a file may be any.
MOST_THREADS = 1024

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

_lock = Lock()
_pool: ThreadPoolExecutor | None = None
_size = 0


def _forget() -> None:
    """In a forked child the inherited threads do not exist: begin anew, with a lock nobody holds."""
    global _pool, _size, _lock
    _pool, _size, _lock = None, 0, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def usable_threads(n_jobs: int | None) -> int:
    """Number of threads that `n_jobs` asks for: None or -1 for all that this process may use, -2 for all but one."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return available
    return max(1, available + 1 + n_jobs) if n_jobs < 0 else min(n_jobs, MOST_THREADS)


def submit(call: Callable[[], object], threads: int) -> "Future[object]":
    """Run `call` on another thread of a pool that has at least `threads` of them."""
    global _pool, _size
    with _lock:
        if _pool is None or _size < threads:
            old = _pool
            _pool, _size = ThreadPoolExecutor(threads, thread_name_prefix="woodwind"), threads
            if old is not None:
                old.shutdown(wait=False)
        return _pool.submit(call)


def on_threads(part: Callable[[int], object], count: int) -> None:
    """`part(0)` here and `part(1)`, `part(2)` and so on beside it: parts that share work, so that one which never begins is not missed.

    An exception in any of them is raised here. What is called must not hand work over to the pool itself: it would wait for its own thread.
    """
    others = [submit(partial(part, number), count - 1) for number in range(1, count)]
    try:
        part(0)
    finally:
        for other in others:
            if not other.cancel():
                other.result()


def side_by_side(call: Callable[[int, Item], Outcome], items: Sequence[Item], sides: int) -> list[Outcome]:
    """`call(side, item)` for every item, on so many threads at once; each takes the next item when it is done with one."""
    if sides <= 1:
        return [call(0, item) for item in items]
    found: list[Outcome | None] = [None] * len(items)
    positions = iter(range(len(items)))

    def part(side: int) -> None:
        for position in positions:
            found[position] = call(side, items[position])

    on_threads(part, sides)
    return found  # type: ignore[return-value]


def run_ranges(call: Callable[[int, int], object], n: int, threads: int, work_per_row: int = 1) -> None:
    """Call `call(begin, end)` over ranges that cover 0..n, on as many threads as the work is worth."""
    parts = min(threads, n * work_per_row // LEAST_WORK, n)
    if parts <= 1:
        call(0, n)
        return
    edges = [n * part // parts for part in range(parts + 1)]
    side_by_side(lambda _side, ends: call(*ends), list(pairwise(edges)), parts)
