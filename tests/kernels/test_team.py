"""A leader and helpers: every task is done once, whoever comes, and nobody is waited for who does not."""

import threading
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from woodwind.kernels.runtime.intrinsics import atomic_add, atomic_load
from woodwind.kernels.runtime.jit import kernel
from woodwind.kernels.runtime.team import (
    DONE,
    KIND,
    OVER,
    begin_call,
    end_call,
    finish_task,
    open_phase,
    take_task,
    wait_for_all,
    wait_for_work,
)


@kernel
def take_part(control: Any, sizes: Any, thread: Any, done: Any, sums: Any) -> None:
    """Phases of sizes[p] tasks; task t of phase p counts itself in done[p, t], and uses what the phase before has summed."""
    phase = 0
    n_tasks = 0
    while True:
        if thread == 0:
            task = take_task(control)
            if task < 0:
                wait_for_all(control, n_tasks)
                if phase == len(sizes):
                    end_call(control)
                    return
                n_tasks = sizes[phase]
                open_phase(control, phase, n_tasks)
                phase += 1
                continue
        else:
            task = wait_for_work(control)
            if task < 0:
                return
        kind = control[KIND]
        before = atomic_load(sums, kind - 1) if kind > 0 else 0
        done[kind, task] += 1
        atomic_add(sums, kind, task + before)
        finish_task(control)


def expected_sums(sizes):
    """What the phases sum up to: each depends on all tasks of the one before."""
    sums, before = [], 0
    for size in sizes:
        before = sum(range(size)) + size * before
        sums.append(before)
    return sums


def run(sizes, threads, arriving=None):
    """One call; `arriving` are the helpers that come."""
    sizes = np.array(sizes, np.int64)
    control, done, sums = np.zeros(64, np.int64), np.zeros((len(sizes), max(sizes)), np.int64), np.zeros(len(sizes), np.int64)
    begin_call(control)
    helpers = [
        threading.Thread(target=take_part, args=(control, sizes, k, done, sums))
        for k in range(1, threads)
        if arriving is None or k in arriving
    ]
    for helper in helpers:
        helper.start()
    take_part(control, sizes, 0, done, sums)
    for helper in helpers:
        helper.join(30)
        assert not helper.is_alive()
    assert control[OVER] == 1
    assert control[DONE] == sizes[-1]
    return done, sums


def check(sizes, done, sums):
    for size, counts in zip(sizes, done, strict=True):
        assert_array_equal(counts, np.arange(len(counts)) < size)
    assert_array_equal(sums, expected_sums(sizes))


def test_a_leader_alone_does_every_task():
    check([3, 1, 5], *run([3, 1, 5], 1))


def test_helpers_that_never_arrive_are_not_waited_for():
    check([4, 7], *run([4, 7], 4, arriving=()))


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_every_task_is_done_once_and_no_phase_begins_before_the_last_has_ended(threads):
    rng = np.random.default_rng(threads)
    for _call in range(20):
        sizes = rng.integers(1, 12, 15).tolist()
        check(sizes, *run(sizes, threads))


@pytest.mark.compiled
def test_a_helper_that_comes_late_goes_home():
    control, sizes = np.zeros(64, np.int64), np.array([2], np.int64)
    done, sums = np.zeros((1, 2), np.int64), np.zeros(1, np.int64)
    begin_call(control)
    take_part(control, sizes, 0, done, sums)
    take_part(control, sizes, 1, done, sums)
    assert_array_equal(done, 1)
