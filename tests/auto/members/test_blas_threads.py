"""BLAS is held to one thread by whoever asks, on any thread, until the last has let go."""

import threading

import numpy as np
from threadpoolctl import ThreadpoolController

from woodwind.auto.members.blas_threads import one_blas_thread


def now():
    return [library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers]


def on_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join(timeout=30)


def test_it_holds_on_other_threads_too_and_is_undone_by_whoever_is_last():
    np.eye(2) @ np.eye(2)
    before, seen = now(), []
    with one_blas_thread():
        assert set(now()) <= {1}

    def alone():
        with one_blas_thread():
            seen.extend(now())

    on_thread(alone)
    assert set(seen) <= {1}
    assert now() == before

    first, second = threading.Event(), threading.Event()

    def last():
        with one_blas_thread():
            first.set()
            second.wait(timeout=30)

    thread = threading.Thread(target=last)
    with one_blas_thread():
        thread.start()
        first.wait(timeout=30)
    assert set(now()) <= {1}
    second.set()
    thread.join(timeout=30)
    assert now() == before
